// The studio as `carom studio [MODEL]` serves it: a model of the user's disk, written back only when the user asks.
//
// The page is told by `<meta name="carom-served">`; its address ends in a secret, and `model` beside the page is the file:
//   GET model → ServedModel          PUT model { text, base, force? } → 200, or 409 when the file is not what `base` marks

export interface ServedModel {
  /** Name of the file or of the gallery model; empty without one. */
  file: string;
  /** Null: none was named. */
  text: string | null;
  tables: Record<string, string>;
  /** The mark of the file as it was read, to be sent with what is written back; null: there is no file to write to. */
  version: string | null;
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

/** Writes the model to its file, which must still be what `base` marks; the mark of what was written, or null: somebody else has
 *  changed it, ask the user and then `force`. */
export async function writeServed(text: string, base: string, force = false): Promise<string | null> {
  const body = JSON.stringify({ text, base, force });
  const response = await fetch(new URL("model", document.baseURI), { method: "PUT", body, headers: { "Content-Type": "application/json" } });
  if (response.status === 409) return null;
  if (!response.ok) throw new Error((await response.text()).trim());
  return ((await response.json()) as { version: string }).version;
}
