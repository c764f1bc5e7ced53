// Files: open and save model files, drop models and tables, export what is seen.

import type { ExportKind } from "../engine/protocol";
import { MOST_TABLE, MOST_TEXT } from "../engine/protocol";
import { Cancelled } from "../engine/client";
import { isServed, writeServed } from "../engine/served";
import { h, say } from "../layout/dom";
import { servedDocument } from "./opening";
import { fileText, type Session } from "./session";
// What `carom new` writes.
import template from "../../../crates/carom-cli/src/template.toml?raw";

const EXPORTS: [name: string, as: ExportKind][] = [
  ["Animation page (HTML)", "page"],
  ["Picture of the plots (SVG)", "svg"],
  ["Picture of the plots (PNG)", "png"],
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
    if (!table && !/\.toml$/i.test(file.name)) {
      say(`${file.name} is neither a model (.toml) nor a table (.csv, .tsv, .txt)`);
      continue;
    }
    if (file.size > (table ? MOST_TABLE : MOST_TEXT)) {
      say(`${file.name} is too large for the studio; the command line takes it`);
      continue;
    }
    const text = await file.text();
    if (text.includes("\0")) say(`${file.name} is no text`);
    else if (table) {
      session.table(file.name, text);
      say(`Table ${file.name} is at hand: u = { file = "${file.name}" }`);
    } else {
      instead(session, file.name, text);
    }
  }
}

/** Opens a model in place of the one that is there, and says how to get that back. */
function instead(session: Session, file: string, text: string): void {
  const { file: last, text: before, tables } = session.document.value;
  session.open({ file, text, tables });
  if (before && before !== session.document.value.text) say(`Opened ${file}; Ctrl-Z in the text goes back to ${last}`);
}

/** Menu items for files. */
export function fileMenu(session: Session, picture: () => void, plots: () => string[]): ([string, () => void] | null)[] {
  const open = (accept: string): void => {
    const input = h("input", { type: "file", accept, multiple: true, hidden: true });
    input.addEventListener("change", () => void take(session, input.files ?? []));
    input.click();
  };
  const { file, disk } = session.document.value;
  const served: [string, () => void][] = [];
  if (disk !== undefined) served.push([`Write back to ${file}`, () => void writeBack(session)]);
  if (isServed()) served.push(["Read the file from the disk again", () => void readAgain(session)]);
  return [
    ["New model", () => instead(session, "model.toml", template.replace("{title}", "My model"))],
    ["Open a model…", () => open(".toml")],
    ["Add a table (CSV)…", () => open(".csv,.tsv,.txt")],
    ...served,
    [`Save ${file}`, () => download(file, "application/toml", fileText(session.document.value))],
    null,
    ["Picture of the stage (PNG)", picture],
    ...EXPORTS.map(([name, as]): [string, () => void] => [name, () => void exported(session, as, plots())]),
  ];
}

/** Writes the model to its file, which `carom studio` reads from the disk; never a model that came from elsewhere. */
async function writeBack(session: Session, force = false): Promise<void> {
  const { file, text, disk } = session.document.value;
  if (disk === undefined) return;
  try {
    const version = await writeServed(fileText(session.document.value), disk.version, force);
    if (version !== null) {
      // Typing may have gone on meanwhile; another model may even have been opened.
      if (session.document.value.disk === disk) session.document.value = { ...session.document.value, disk: { text, version } };
      const open = Object.keys(session.values.value).length;
      say(open ? `Wrote ${file}; values changed by sliders are not in the text (the tick above them writes them into it)` : `Wrote ${file}`);
    } else if (confirm(`${file} has changed on the disk since it was read. Write over it?`)) await writeBack(session, true);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
  }
}

async function readAgain(session: Session): Promise<void> {
  try {
    const document = await servedDocument();
    if (!document) {
      say("carom studio was started without a model; open one here");
      return;
    }
    session.open(document);
    say(`Read ${document.file}`);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
  }
}

/** Ctrl-S does what people mean by it: to the file where there is one, else as a file of the browser. */
export function saving(session: Session): void {
  addEventListener("keydown", (e) => {
    if (e.key.toLowerCase() !== "s" || !(e.ctrlKey || e.metaKey) || e.altKey || e.shiftKey) return;
    e.preventDefault();
    const { file, disk } = session.document.value;
    if (disk !== undefined) void writeBack(session);
    else download(file, "application/toml", fileText(session.document.value));
  });
}

async function exported(session: Session, as: ExportKind, plot: string[]): Promise<void> {
  try {
    const until = session.until.value;
    const seen = session.stale.value ? undefined : session.shown.value?.reply.motion;
    const reply = await session.engine.ask("export", { ...session.input(), as, plot, ...(seen ? { steps: seen.audit.steps, impacts: seen.impacts.length } : {}), ...(until === null ? {} : { until }) });
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
