// From a text and its changed values to a motion, over and over.
//
//   text, tables ─▶ outline, derive        (what the text says, what follows from it)
//   text, tables, values ─▶ run            (the motion)
//
// Nobody presses "run": every change asks at once, and an answer that was overtaken is dropped. The last motion stays on
// the stage while a text has mistakes; `stale` says so.

import type { Engine } from "../engine/client";
import { Cancelled } from "../engine/client";
import type { Diagnostic, ModelInput, Outline, RunReply, Section } from "../engine/protocol";
import { Cell, debounced } from "./cell";

/** A model as the page has it. */
export interface Document {
  file: string;
  text: string;
  tables: Record<string, string>;
}

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
  /** 0 … 1 while a long run goes on, else null. */
  readonly progress = new Cell<number | null>(null);
  /** What is wrong with the engine, if anything. */
  readonly failure = new Cell<string | null>(null);
  /** Is the model a file on the disk that may be written back (`carom studio FILE`)? */
  readonly writable = new Cell(false);
  /** Is someone dragging a slider or a body? */
  readonly dragging = new Cell(false);

  private serial = 0;
  private asked = 0;
  private readonly typed = debounced(() => this.readText(), TYPING);

  constructor(readonly engine: Engine) {}

  input(values = this.values.value): ModelInput {
    const { file, text, tables } = this.document.value;
    return { file, text, tables, values };
  }

  /** Another model. */
  open(document: Document, values: Record<string, number> = {}, until: number | null = null): void {
    this.outline.value = null;
    this.until.value = until;
    this.values.value = values;
    this.document.value = document;
    this.typed.now();
  }

  /** The text as it is being typed. */
  type(text: string): void {
    if (text === this.document.value.text) return;
    this.document.value = { ...this.document.value, text };
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
  }

  reset(): void {
    this.values.value = {};
    void this.run();
  }

  setUntil(until: number | null): void {
    this.until.value = until;
    void this.run();
  }

  private readText(): void {
    void this.run();
    void this.readOutline();
    void this.derive();
  }

  private async readOutline(): Promise<void> {
    const document = this.document.value;
    await this.guarded(async () => {
      const { file, text, tables } = document;
      const outline = await this.engine.ask("outline", { file, text, tables });
      if (document !== this.document.value) return;
      this.diagnostics.value = outline.diagnostics;
      if (!outline.ok) return;
      // Values of names that are gone would be mistakes of nobody.
      const known = new Set(outline.sliders.map((s) => s.name));
      const kept = Object.fromEntries(Object.entries(this.values.value).filter(([name]) => known.has(name)));
      const gone = Object.keys(kept).length < Object.keys(this.values.value).length;
      if (gone) this.values.value = kept;
      this.outline.value = outline;
      if (gone) void this.run();
    });
  }

  private async derive(): Promise<void> {
    const document = this.document.value;
    await this.guarded(async () => {
      const reply = await this.engine.ask("derive", this.input({}));
      if (document === this.document.value && reply.ok) this.sections.value = reply.sections;
    });
  }

  /** Simulates what is on the page now. */
  async run(): Promise<void> {
    const asked = ++this.asked;
    const values = this.values.value;
    const document = this.document.value;
    const until = this.until.value;
    await this.guarded(async () => {
      const reply = await this.engine.ask(
        "run",
        { ...this.input(values), samples: SAMPLES, limits: { seconds: PATIENCE }, ...(until === null ? {} : { until }) },
        { progress: (p) => { if (asked === this.asked) this.progress.value = p.part; } },
      );
      if (document !== this.document.value) return;
      if (asked === this.asked) this.progress.value = null;
      this.stale.value = !reply.ok;
      if (reply.ok && reply.motion) this.shown.value = { reply: reply as Shown["reply"], values, serial: ++this.serial };
      else this.diagnostics.value = reply.diagnostics;
    });
  }

  private async guarded(act: () => Promise<void>): Promise<void> {
    try {
      await act();
      this.failure.value = null;
    } catch (error) {
      if (error instanceof Cancelled) return;
      this.progress.value = null;
      this.failure.value = error instanceof Error ? error.message : String(error);
    }
  }
}
