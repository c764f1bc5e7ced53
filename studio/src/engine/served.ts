// The studio as `carom studio [MODEL]` serves it: a model of the user's disk, written back only when the user asks.
//
// The page is told by `<meta name="carom-served">`; its address ends in a secret, and `model` beside the page is the file:
//   GET model → ServedModel          PUT model { text, force? } → 200, or 409 when somebody else has changed the file

export interface ServedModel {
  /** Name of the file or of the gallery model; empty without one. */
  file: string;
  /** Null: none was named. */
  text: string | null;
  tables: Record<string, string>;
  /** Is there a file to write back to? */
  writable: boolean;
}

/** Does `carom studio` serve this page? */
export function isServed(): boolean {
  return document.querySelector('meta[name="carom-served"]') !== null;
}

/** The model as it is on the disk now. */
export async function readServed(): Promise<ServedModel> {
  const response = await fetch(new URL("model", document.baseURI), { cache: "no-store" });
  if (!response.ok) throw new Error((await response.text()).trim());
  return (await response.json()) as ServedModel;
}

/** Writes the model to its file; `"changed"`: somebody else has changed it, ask the user and then `force`. */
export async function writeServed(text: string, force = false): Promise<"written" | "changed"> {
  const body = JSON.stringify({ text, force });
  const response = await fetch(new URL("model", document.baseURI), { method: "PUT", body, headers: { "Content-Type": "application/json" } });
  if (response.status === 409) return "changed";
  if (!response.ok) throw new Error((await response.text()).trim());
  return "written";
}
