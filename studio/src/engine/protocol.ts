// What the page asks the engine and what the engine answers.
//
//   page ── Request ──▶ Worker (the engine, compiled to WebAssembly) ── Reply ──▶ page
//
// The types are the contract; `client.ts` gives them a promise each. Every request carries the whole model text: an answer
// depends on nothing but its request (the Worker only remembers what it has already derived). Texts of answers are plain text
// unless a field says HTML; HTML comes from the engine's own writer, which escapes every name of the model.
//
// Positions in the model text: `line` and `column` count from 1, as messages do; `from` and `to` are UTF-16 offsets into the
// text, as editors count.

/** A model and what to change about it without touching its text. */
export interface ModelInput {
  /** The model file. */
  text: string;
  /** Its file name, for messages and exports; `model.toml` if absent. */
  file?: string;
  /** Tables the model reads, by the name the model has for them: `{ "u.csv": "t,u\n0,1\n…" }`. */
  tables?: Record<string, string>;
  /** Parameters and start values by name: `{ g: 1.62, "theta1'": 0.5 }`, in the units the model computes in (SI). */
  values?: Record<string, number>;
}

/** How long and how finely. What is absent is as the model says, within the limits. */
export interface RunInput extends ModelInput {
  until?: number;
  /** Evenly spaced samples, both ends included. */
  samples?: number;
  tolerance?: number;
  limits?: Partial<Limits>;
}

/** What ends a run early; ending early is a result (`stop.reason`), not an error. */
export interface Limits {
  /** Seconds of computing. */
  seconds: number;
  steps: number;
  impacts: number;
  samples: number;
}

/** The limits that hold unless a request asks for others; no request gets more than `MOST`. */
export const LIMITS: Limits = { seconds: 10, steps: 2_000_000, impacts: 20_000, samples: 20_001 };
export const MOST: Limits = { seconds: 120, steps: 100_000_000, impacts: 1_000_000, samples: 200_001 };
/** The longest model text, and the longest table, in UTF-16 units. */
export const MOST_TEXT = 1_000_000;
export const MOST_TABLE = 50_000_000;

export type Severity = "error" | "warning";

/** Something to tell the author of a model. */
export interface Diagnostic {
  severity: Severity;
  message: string;
  hint: string | null;
  /** Name of the table (or option) it stands in; null for the model text. Without a place all of the following are null. */
  origin: string | null;
  line: number | null;
  column: number | null;
  /** Column after the last character. */
  end: number | null;
  /** UTF-16 offsets into the model text; null without a place there. */
  from: number | null;
  to: number | null;
  /** A repair that one click does: replace `from`..`to` by `insert`. */
  fix: { label: string; from: number; to: number; insert: string } | null;
}

export interface CheckReply {
  /** Is there a model that can be simulated? */
  ok: boolean;
  /** The model's title, if there is a model. */
  name: string | null;
  diagnostics: Diagnostic[];
}

/** A formula in all forms one may want to copy. */
export interface Formula {
  /** MathML, one `<math>` element or several pieces that flow like text. */
  mathml: string;
  latex: string;
  /** Plain text with Unicode mathematics, as on a terminal. */
  text: string;
  /** SymPy code, where the formula is an expression of the model's names. */
  sympy: string | null;
}

export type Block =
  | { kind: "heading"; level: number; html: string; text: string }
  | { kind: "paragraph"; html: string }
  | { kind: "list"; items: string[] }
  | { kind: "table"; head: string[]; rows: string[][] }
  /** Aligned at their relations; the number the report refers to them by. `latex` is the whole display. */
  | { kind: "equations"; number: number | null; latex: string; text: string; rows: EquationRow[] };

/** `left relation right`; `left` holds the relation too and is empty when there is only a right side. */
export interface EquationRow {
  left: string;
  right: string;
  /** The row by itself. */
  formula: Formula;
}

/** A part of the derivation report. */
export interface Section {
  /** model, lagrangian, motion, constraints, driven, energy, hamiltonian, implicit, state, impacts, outputs */
  part: string;
  title: string;
  blocks: Block[];
}

export interface DeriveReply {
  ok: boolean;
  diagnostics: Diagnostic[];
  name: string | null;
  sections: Section[];
  seconds: number;
}

/** A column of numbers, one per sample. Names as in tables: time, x, x', p_x, hamiltonian, energy, mu.ROW, f.WALL, gap.WALL, … */
export interface Column {
  name: string;
  /** The unit in which it is read, and what its values are divided by for that: `values` themselves are in coherent units. */
  unit: string | null;
  factor: number;
  values: Float64Array;
}

export interface Stop {
  reason: string;
  time: number;
  detail: string | null;
}

/** By name: `{ theta1: 0.3 }`. */
export type ByName = Record<string, number | null>;

/** The records of `carom run --json`, with the same fields. */
export interface Impact {
  time: number;
  walls: string[];
  /** λ and the gap rates, one per wall of `walls`. */
  impulse: number[];
  reaction_impulse: ByName;
  driving_impulse: ByName;
  gap_rate_before: number[];
  gap_rate_after: number[];
  position: ByName;
  velocity_before: ByName;
  velocity_after: ByName;
  hamiltonian_before: number | null;
  hamiltonian_after: number | null;
}
export interface Contact {
  wall: string;
  from: number;
  /** Null: it still holds at the end. */
  to: number | null;
  zeno: boolean;
  force_at_start: number | null;
}
export interface Graze {
  time: number;
  wall: string;
}
export interface EventRecord {
  time: number;
  name: string;
  position: ByName;
  velocity: ByName;
}

export interface Audit {
  hamiltonian_drift: number | null;
  constraint_drift: number | null;
  impact_law_residual: number | null;
  deepest_penetration: number | null;
  /** "ok", or "drift" when the energy balance, a row or the impact law is off by more than the tolerance explains. */
  verdict: string;
  arithmetic: string;
  amplification: number | null;
  steps: number;
  derive_seconds: number;
  compile_seconds: number;
  simulate_seconds: number;
  [more: string]: unknown;
}

/** Everything of `carom run --json` but the samples, which are columns. */
export interface MotionRecords {
  model: string;
  stop: Stop;
  impacts: Impact[];
  contacts: Contact[];
  grazes: Graze[];
  events: EventRecord[];
  warnings: string[];
  audit: Audit;
  provenance: Record<string, unknown>;
}

/** A label in pieces: text, italic?, and shift (−1 subscript, 0, 1 superscript). */
export type Label = [text: string, italic: boolean, shift: number][];

/** What the stage draws, and the signals at its knots: the data of the animation page. A knot is a sample or one side of a jump;
 *  knots are in order of time, and the two sides of a jump have equal times. */
export interface Scene {
  /** 0: the model does not say where things are (plots only); 2; 3. */
  dimension: 0 | 2 | 3;
  time: Float64Array;
  time_unit: string;
  columns: { name: string; label: Label; unit: string; kind: "angle" | null; data: Float64Array }[];
  points: {
    name: string;
    role: "body" | "joint" | "pivot" | "unseen";
    /** Of its marker, in pixels. */
    radius: number;
    /** Index into the palette. */
    colour: number | null;
    /** One array per component, one value per knot; a point that never moves still has all. */
    data: Float32Array[];
    /** Orientation at each knot. */
    angle: Float32Array | null;
  }[];
  /** Pairs of indices into `points`. */
  links: [number, number][];
  springs: [number, number][];
  /** Indices into `points`. */
  traces: number[];
  fills: {
    point: number;
    body: boolean;
    form: "round" | "disc" | "box" | "corners" | "polygon";
    radius?: number;
    sides?: number[];
    points?: number[];
    corners?: [number, number][];
    turned: Float32Array[];
  }[];
  /** In space: sections of surfaces, xyz xyz … */
  surfaces: Float32Array[];
  /** Smallest and largest value of each component. */
  bounds: [number, number][];
  /** Curves per frame as xy xy …, free side to the left; one frame when it never moves, else one per entry of `times`. */
  walls: { name: string; times: Float64Array; behind: number | null; frames: Float32Array[][] }[];
  /** `knot` is the side after the jump; `points` flash, and `places` are where in the plane. */
  jumps: { knot: number; number: number; walls: string[]; points: number[]; places: number[][]; reset: boolean }[];
  /** Jumps of the motion, also those left out here. */
  total: number;
  palette: { light: string[]; dark: string[] };
  speed: number;
  speeds: number[];
  [more: string]: unknown;
}

export interface RunReply {
  /** False: nothing was simulated, see `diagnostics`; everything else is null then. */
  ok: boolean;
  diagnostics: Diagnostic[];
  motion: MotionRecords | null;
  /** The samples. */
  columns: Column[];
  scene: Scene | null;
  /** How numbers were computed: `plain` here, always (no fused multiply-add); `carom run --option arithmetic=plain` gives the same. */
  arithmetic: string;
  /** Seconds: derive and compile are 0 when they were known from the request before. */
  seconds: { derive: number; compile: number; simulate: number; scene: number };
}

/** A number with a slider. `min`…`max` is sensible, not a bound: typed values may lie outside. */
export interface Slider {
  name: string;
  kind: "parameter" | "position" | "velocity" | "momentum";
  /** What the model says, in the units it computes in, as are `min`, `max` and `step`; null: left open by the model (free ones
   *  start at 0). */
  value: number | null;
  /** The unit in which people read it, and what a value is divided by to be shown. */
  unit: string | null;
  factor: number;
  min: number;
  max: number;
  step: number;
  /** False where changing it makes no sense: a formula of other parameters, a driven or dependent coordinate. */
  free: boolean;
  /** Where its value stands in the text, to write it back; null where it does not. */
  from: number | null;
  to: number | null;
  /** The unit it stands there with (`"20 deg"`, in quotes), and its factor; null: a bare number in coherent units. */
  written: { unit: string; factor: number } | null;
}

export interface Outline {
  ok: boolean;
  diagnostics: Diagnostic[];
  name: string;
  sliders: Slider[];
  coordinates: { name: string; driven: boolean; momentum: string; unit: string | null }[];
  walls: { name: string; from: number; to: number }[];
  rows: string[];
  events: string[];
  outputs: string[];
  bodies: string[];
  /** Tables the model reads; `given` false: it waits for one. */
  tables: { file: string; given: boolean }[];
  /** Names for completion and highlighting. `from`..`to` is where it is made. */
  names: { name: string; kind: string; from: number; to: number; formula: boolean }[];
  run: { from: number; until: number; samples: number };
  hamiltonian: boolean;
}

export interface Completion {
  label: string;
  kind: "function" | "variable" | "table" | "key" | "unit" | "value" | "constant";
  detail: string;
}
/** Replace `from`..`to` by a label. */
export interface CompleteReply {
  from: number;
  to: number;
  items: Completion[];
}
/** Markdown about the name at an offset, and where that stands. */
export interface HoverReply {
  markdown: string | null;
  from: number | null;
  to: number | null;
}

/** Neighbours of a start: each free start value moved by at most `spread` (times its size, at least 1), the first unmoved. */
export interface SweepInput extends RunInput {
  count: number;
  /** 1e-3 if absent. */
  spread?: number;
  seed?: number;
  /** Only these start values or parameters; all free start values if absent. */
  vary?: string[];
}
export interface SweepReply {
  ok: boolean;
  diagnostics: Diagnostic[];
  /** Of `count`; fewer when the time was over. */
  done: number;
  time: Float64Array;
  /** Values at trajectory k, sample i: `values[k * time.length + i]`; NaN after its end. */
  columns: { name: string; values: Float64Array }[];
  /** Points of the scene that move, in its order: `data[(k * time.length + i) * dimension + c]`; NaN after the end. */
  points: { point: number; name: string; data: Float32Array }[];
  dimension: 0 | 2 | 3;
  /** Impacts of each trajectory. */
  impacts: number[];
  stop: string[];
  seconds: number;
}

/** Move a drawn point to a place by changing start positions: inverse kinematics with the model's constraints kept. */
export interface DragInput extends ModelInput {
  /** Index into `scene.points`. */
  point: number;
  target: number[];
}
export interface DragReply {
  ok: boolean;
  diagnostics: Diagnostic[];
  /** Start positions to use from now on (all free positions). */
  values: Record<string, number>;
  /** Where the point is then. */
  place: number[];
  /** Is that the target, within a thousandth of the picture? */
  reached: boolean;
}

export type ExportKind =
  | "page" | "svg" | "svg_dark" | "png" | "csv" | "records_csv" | "json" | "notebook" | "model"
  | "report_html" | "report_latex" | "report_markdown" | "report_text" | "sympy" | "rust" | "c";
export interface ExportInput extends RunInput {
  as: ExportKind;
  /** As `carom show --plot`, for page, svg and png. */
  plot?: string[];
  /** Steps and impacts of the motion, where it has been seen: pictures then know how many samples they need. */
  steps?: number;
  impacts?: number;
}
export interface ExportReply {
  ok: boolean;
  diagnostics: Diagnostic[];
  /** Suggested file name. */
  file: string;
  mime: string;
  bytes: Uint8Array;
}

/** What formulas are set in: an OpenType font with what derivations can need of New Computer Modern Math. */
export interface FontReply {
  bytes: Uint8Array;
}

export interface GalleryEntry {
  name: string;
  title: string;
  group: string;
  /** What it is and what to look at. */
  comment: string;
  text: string;
}

export interface SchemaKey {
  /** `""` is the top of the file, `wall.*` a table with a name of your own. */
  table: string;
  /** `*` stands for a name of your own. */
  key: string;
  /** What to write. */
  form: string;
  words: string[];
  meaning: string;
  default: string | null;
  required: boolean;
}
export interface SchemaReply {
  keys: SchemaKey[];
  functions: { name: string; arguments: string; meaning: string }[];
  units: string[];
}

export interface About {
  version: string;
  arithmetic: string;
  /** Bytes of linear memory in use by the instance (it grows, and is given back when the Worker is renewed). */
  memory: number;
}

/** Requests and their answers, by name. */
export interface Requests {
  about: { ask: Record<string, never>; answer: About };
  check: { ask: ModelInput; answer: CheckReply };
  derive: { ask: ModelInput; answer: DeriveReply };
  run: { ask: RunInput; answer: RunReply };
  outline: { ask: ModelInput; answer: Outline };
  complete: { ask: ModelInput & { at: number }; answer: CompleteReply };
  hover: { ask: ModelInput & { at: number }; answer: HoverReply };
  sweep: { ask: SweepInput; answer: SweepReply };
  drag: { ask: DragInput; answer: DragReply };
  export: { ask: ExportInput; answer: ExportReply };
  font: { ask: Record<string, never>; answer: FontReply };
  gallery: { ask: Record<string, never>; answer: GalleryEntry[] };
  schema: { ask: Record<string, never>; answer: SchemaReply };
}
export type Kind = keyof Requests;

/** How far a run or a sweep is. */
export interface Progress {
  from: number;
  time: number;
  until: number;
  steps: number;
  impacts: number;
  /** Part of the whole, 0…1. */
  part: number;
}

// Messages between `client.ts` and `worker.ts`.

export type ToWorker =
  | { kind: "module"; module: WebAssembly.Module }
  | { kind: "ask"; id: number; what: Kind; ask: unknown };

export type FromWorker =
  | { kind: "ready"; version: string }
  | { kind: "answer"; id: number; answer: unknown }
  | { kind: "progress"; id: number; progress: Progress }
  /** The request could not be answered; `fatal`: the instance is gone, the Worker must be renewed. */
  | { kind: "failed"; id: number; message: string; fatal: boolean };
