// Files: open and save model files, drop models and tables, export what is seen.

import type { ExportKind } from "../engine/protocol";
import { MOST_TABLE, MOST_TEXT } from "../engine/protocol";
import { Cancelled } from "../engine/client";
import { writeServed } from "../engine/served";
import { h, say } from "../layout/dom";
import type { Session } from "./session";

const EXPORTS: [name: string, as: ExportKind][] = [
  ["Animation page (HTML)", "page"],
  ["Picture (SVG)", "svg"],
  ["Picture (PNG)", "png"],
  ["Samples (CSV)", "csv"],
  ["Impacts and events (CSV)", "records_csv"],
  ["Everything (JSON)", "json"],
  ["Notebook (Jupyter)", "notebook"],
  ["Derivation (LaTeX)", "report_latex"],
  ["Derivation (HTML)", "report_html"],
  ["Equations (SymPy)", "sympy"],
  ["Equations (Rust)", "rust"],
  ["Equations (C)", "c"],
];

/** Hands bytes to the browser as a file. */
export function download(file: string, mime: string, bytes: BlobPart): void {
  const address = URL.createObjectURL(new Blob([bytes], { type: mime }));
  const link = h("a", { href: address, download: file });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Takes files that were chosen or dropped: a model replaces the model, tables go beside it. */
export async function take(session: Session, files: Iterable<File>): Promise<void> {
  for (const file of files) {
    const table = /\.(csv|tsv|txt)$/i.test(file.name);
    if (file.size > (table ? MOST_TABLE : MOST_TEXT)) {
      say(`${file.name} is too large for the studio; the command line takes it`);
      continue;
    }
    const text = await file.text();
    if (table) {
      session.table(file.name, text);
      say(`Table ${file.name} is at hand: u = { file = "${file.name}" }`);
    } else session.open({ file: file.name, text, tables: session.document.value.tables });
  }
}

/** Menu items for files. */
export function fileMenu(session: Session): ([string, () => void] | null)[] {
  const open = (accept: string): void => {
    const input = h("input", { type: "file", accept, multiple: true, hidden: true });
    input.addEventListener("change", () => void take(session, input.files ?? []));
    input.click();
  };
  const { file, text } = session.document.value;
  return [
    ["Open a model…", () => open(".toml")],
    ["Add a table (CSV)…", () => open(".csv,.tsv,.txt")],
    ...(session.writable.value ? [[`Write back to ${file}`, () => void writeBack(text)] as [string, () => void]] : []),
    [`Save ${file}`, () => download(file, "application/toml", text)],
    null,
    ...EXPORTS.map(([name, as]): [string, () => void] => [name, () => void exported(session, as)]),
  ];
}

/** Writes the model to its file, which `carom studio` reads from the disk. */
async function writeBack(text: string, force = false): Promise<void> {
  try {
    const outcome = await writeServed(text, force);
    if (outcome === "written") say("Written");
    else if (confirm("The file has changed on the disk since it was read. Write over it?")) await writeBack(text, true);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
  }
}

async function exported(session: Session, as: ExportKind): Promise<void> {
  try {
    const until = session.until.value;
    const reply = await session.engine.ask("export", { ...session.input(), as, ...(until === null ? {} : { until }) });
    if (!reply.ok) say(reply.diagnostics[0]?.message ?? "This cannot be exported");
    else {
      download(reply.file, reply.mime, reply.bytes as BlobPart);
      say(`Saved ${reply.file}`);
    }
  } catch (error) {
    if (!(error instanceof Cancelled)) say(error instanceof Error ? error.message : String(error));
  }
}

/** Files may be dropped anywhere. */
export function dropping(session: Session): void {
  const veil = h("div", { class: "drop", hidden: true }, "Drop a model file or a CSV table");
  document.body.append(veil);
  const files = (e: DragEvent): boolean => e.dataTransfer?.types.includes("Files") ?? false;
  addEventListener("dragover", (e) => {
    if (!files(e)) return;
    e.preventDefault();
    veil.hidden = false;
  });
  veil.addEventListener("dragleave", () => { veil.hidden = true; });
  addEventListener("drop", (e) => {
    veil.hidden = true;
    if (!files(e)) return;
    e.preventDefault();
    void take(session, e.dataTransfer?.files ?? []);
  });
}
