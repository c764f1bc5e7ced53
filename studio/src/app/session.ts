// From a text and its changed values to a motion, over and over.
//
//   text, tables ─▶ outline, derive        (what the text says, what follows from it)
//   text, tables, values ─▶ run            (the motion)
//
// Nobody presses "run": every change asks at once, and an answer that was overtaken is dropped. The last motion stays on
// the stage while a text has mistakes; `stale` says so.

import type { Engine } from "../engine/client";
import { Cancelled } from "../engine/client";
import type { Diagnostic, ModelInput, Outline, RunInput, RunReply, Section } from "../engine/protocol";
import { Cell, debounced } from "./cell";

/** A model as the page has it. */
export interface Document {
  file: string;
  /** With line ends \n, as the editor and the engine count. */
  text: string;
  tables: Record<string, string>;
  /** The lines of its file end in \r\n: so they do again when it is saved. */
  crlf?: boolean;
  /** The file on the disk that it came from and can be written back to (`carom studio FILE`): its text, and the mark of what was
   *  there when it was read or written here. */
  disk?: { text: string; version: string };
}

/** A document whose text counts as the editor counts: \r\n is one line end, and remembered. */
export function tidy<D extends Document>(document: D): D {
  if (!document.text.includes("\r")) return document;
  const wide = document.text.split("\r\n").length - 1;
  const all = document.text.split(/\r\n?|\n/).length - 1;
  return { ...document, text: document.text.replace(/\r\n?/g, "\n"), ...(2 * wide > all ? { crlf: true } : {}) };
}

/** The text as its file has it. */
export const fileText = ({ text, crlf }: Document): string => (crlf ? text.replaceAll("\n", "\r\n") : text);

/** Documents that were left and come back when the editor undoes the opening. */
const LEFT = 20;

/** Do both say the same model? What is on the disk does not matter. */
const same = (a: Document, b: Document): boolean => a.text === b.text && a.file === b.file && a.tables === b.tables;

/** A motion, and what was asked to get it. */
export interface Shown {
  reply: RunReply & { motion: NonNullable<RunReply["motion"]> };
  values: Record<string, number>;
  /** Counts motions, so that what depends on one knows it is new. */
  serial: number;
}

/** Samples of a motion: as many as a wide plot has pixels. */
const SAMPLES = 1201;
/** Seconds of computing that one motion may take here; typing must not feel heavy. */
const PATIENCE = 5;
/** Milliseconds of silence after which a typed text is read. */
const TYPING = 120;
/** Milliseconds of silence after which the mathematics shows changed values. */
const RENUMBER = 350;
/** Milliseconds for which the first motion of a page has the machine to itself. */
const AHEAD = 1500;

export class Session {
  readonly document = new Cell<Document>({ file: "model.toml", text: "", tables: {} });
  /** Parameters and start values that were changed, by name. */
  readonly values = new Cell<Record<string, number>>({});
  /** How long to simulate; null as the model says. */
  readonly until = new Cell<number | null>(null);
  readonly outline = new Cell<Outline | null>(null);
  readonly diagnostics = new Cell<Diagnostic[]>([]);
  readonly sections = new Cell<Section[]>([]);
  readonly shown = new Cell<Shown | null>(null);
  /** The motion on the stage is not that of the text: it has mistakes. */
  readonly stale = new Cell(false);
  /** The text itself has mistakes, whatever the values are. */
  readonly misread = new Cell(false);
  /** 0 … 1 while a long run goes on, else null. */
  readonly progress = new Cell<number | null>(null);
  /** What is wrong with the engine, if anything. */
  readonly failure = new Cell<string | null>(null);
  /** Is someone dragging a slider or a body? */
  readonly dragging = new Cell(false);

  private serial = 0;
  private asked = 0;
  /** A motion that was asked for before the page was there to show it. */
  private prepared: { key: string; reply: Promise<RunReply>; asked: number } | null = null;
  private readonly typed = debounced(() => void this.readText(), TYPING);
  /** The mathematics with other numbers: after the motion, which is what is looked at. */
  private readonly renumbered = debounced(() => void this.derive(), RENUMBER);
  private left: Document[] = [];

  constructor(readonly engine: Engine) {}

  input(values = this.values.value): ModelInput {
    const { file, text, tables } = this.document.value;
    return { file, text, tables, values };
  }

  /** Another model. */
  open(document: Document, values: Record<string, number> = {}, until: number | null = null): void {
    this.leave(this.document.value);
    this.outline.value = null;
    this.until.value = until;
    this.values.value = values;
    this.document.value = tidy(document);
    this.typed.now();
  }

  private leave(document: Document): void {
    if (!document.text) return;
    this.left = [...this.left.filter((d) => d.text !== document.text), document].slice(-LEFT);
  }

  /** The text as it is being typed. */
  type(text: string): void {
    const now = this.document.value;
    if (text === now.text) return;
    // An opening that is undone (or done again) brings back the whole document, not only its words.
    const back = this.left.find((d) => d.text === text);
    if (back && (back.file !== now.file || !back.disk !== !now.disk)) {
      this.leave(now);
      this.values.value = {};
      this.document.value = back;
    } else this.document.value = { ...now, text };
    this.typed.ask();
  }

  table(name: string, text: string): void {
    this.document.value = { ...this.document.value, tables: { ...this.document.value.tables, [name]: text } };
    this.typed.now();
  }

  /** Changes values; null gives one back to the model. */
  set(changes: Record<string, number | null>): void {
    const values = { ...this.values.value };
    for (const [name, value] of Object.entries(changes)) {
      if (value === null) delete values[name];
      else values[name] = value;
    }
    this.values.value = values;
    void this.run();
    this.renumbered.ask();
  }

  reset(): void {
    this.values.value = {};
    void this.run();
    this.renumbered.ask();
  }

  setUntil(until: number | null): void {
    this.until.value = until;
    void this.run();
  }

  /** Asks for the motion of a document that will be opened in a moment. */
  prepare(document: Document, values: Record<string, number> = {}, until: number | null = null): void {
    const ask = this.question(tidy(document), values, until);
    const prepared = { key: JSON.stringify(ask), asked: 0 };
    const reply = this.engine.ask("run", ask, { progress: (p) => { if (prepared.asked === 0 || prepared.asked === this.asked) this.progress.value = p.part; } });
    reply.catch(() => undefined);
    this.prepared = Object.assign(prepared, { reply });
  }

  /** What is asked for a motion. */
  question({ file, text, tables }: Document, values: Record<string, number>, until: number | null): RunInput {
    return { file, text, tables, values, samples: SAMPLES, limits: { seconds: PATIENCE }, ...(until === null ? {} : { until }) };
  }

  private async readText(): Promise<void> {
    const run = this.run();
    // The first motion comes first; a long one does not keep the text from being read.
    if (this.serial === 0) await Promise.race([run, new Promise((done) => setTimeout(done, AHEAD))]);
    void this.readOutline();
    void this.derive();
  }

  /** What the text says as it is now, for those who write into it; null: it has mistakes, or changed meanwhile. */
  async outlined(): Promise<Outline | null> {
    const document = this.document.value;
    const { file, text, tables } = document;
    const outline = await this.engine.ask("outline", { file, text, tables });
    return outline.ok && this.document.value.text === text ? outline : null;
  }

  private async readOutline(): Promise<void> {
    const document = this.document.value;
    await this.guarded(async () => {
      const { file, text, tables } = document;
      const outline = await this.engine.ask("outline", { file, text, tables });
      if (!same(document, this.document.value)) return;
      this.misread.value = !outline.ok;
      // A run says it too, and more (warnings, starts that break a row), but it may take a while.
      if (!outline.ok) {
        this.diagnostics.value = outline.diagnostics;
        return;
      }
      // Values of names that are gone would be mistakes of nobody.
      const known = new Set(outline.sliders.map((s) => s.name));
      const kept = Object.fromEntries(Object.entries(this.values.value).filter(([name]) => known.has(name)));
      const gone = Object.keys(kept).length < Object.keys(this.values.value).length;
      if (gone) this.values.value = kept;
      this.outline.value = outline;
      if (gone) {
        void this.run();
        void this.derive();
      }
    });
  }

  private async derive(): Promise<void> {
    const document = this.document.value;
    await this.guarded(async () => {
      const values = this.values.value;
      const reply = await this.engine.ask("derive", this.input(values));
      if (same(document, this.document.value) && values === this.values.value && reply.ok) this.sections.value = reply.sections;
    });
  }

  /** Simulates what is on the page now. */
  async run(): Promise<void> {
    const asked = ++this.asked;
    const values = this.values.value;
    const document = this.document.value;
    const until = this.until.value;
    await this.guarded(async () => {
      const ask = this.question(document, values, until);
      const early = this.prepared?.key === JSON.stringify(ask) ? this.prepared : null;
      if (early) early.asked = asked;
      this.prepared = null;
      let reply: RunReply;
      try {
        reply = await (early?.reply ?? this.engine.ask("run", ask, { progress: (p) => { if (asked === this.asked) this.progress.value = p.part; } }));
      } finally {
        if (asked === this.asked) this.progress.value = null;
      }
      if (!same(document, this.document.value)) return;
      this.stale.value = !reply.ok;
      this.diagnostics.value = reply.diagnostics;
      if (reply.ok && reply.motion) this.shown.value = { reply: reply as Shown["reply"], values, serial: ++this.serial };
    });
  }

  private async guarded(act: () => Promise<void>): Promise<void> {
    try {
      await act();
      this.failure.value = null;
    } catch (error) {
      if (error instanceof Cancelled) return;
      this.failure.value = error instanceof Error ? error.message : String(error);
    }
  }
}
