// What is drawn of a motion.
//
// A motion is a row of knots, samples and both sides of every jump, at times T[0] ≤ T[1] ≤ …; every drawn point, angle and
// signal has one number per knot. The engine sends what the animation pages of carom hold: doubles and floats in base64.
// Promise: numbers in columns are those of the motion, bit for bit; only places of drawn points are rounded to floats.

/** A label in runs of text: the text, whether it is italic, and whether it is raised (1), lowered (−1) or neither. */
export type Label = [text: string, italic: boolean, shift: number][];

/** The data of an animation page, as it is sent. */
export interface PageData {
  time: string;
  time_unit: string;
  dimension: number;
  columns: { name: string; label: Label; unit: string; kind: string | null; data: string }[];
  points: { name: string; role: string; radius: number; colour: number | null; data: string[]; angle: string | null }[];
  links: [number, number][];
  springs: [number, number][];
  traces: number[];
  fills: (FillForm & { point: number; body: boolean; turned: string[] })[];
  surfaces: string[];
  bounds: [number, number][];
  walls: { name: string; times: string; behind: number | null; frames: string[][] }[];
  jumps: Jump[];
  total: number;
  note: string;
  palette: { light: string[]; dark: string[] };
  speed: number;
  speeds: number[];
}

/** The shape of a filled body. */
export interface FillForm {
  form: "round" | "disc" | "box" | "corners" | "polygon";
  radius?: number;
  sides?: number[];
  points?: number[];
  corners?: [number, number][];
}

/** An impact or a reset, by the knot just after it. */
export interface Jump {
  knot: number;
  number: number;
  walls: string[];
  points: number[];
  places: number[][];
  reset: boolean;
}

/** A signal with one value per knot. */
export interface Column {
  name: string;
  label: Label;
  unit: string;
  angle: boolean;
  values: Float64Array;
}

/** A point that moves. */
export interface Point {
  name: string;
  role: string;
  radius: number;
  colour: number | null;
  at: Float32Array[];
  angle: Float32Array | null;
}

/** A body with a form. */
export interface Fill extends FillForm {
  point: number;
  body: boolean;
  turned: Float32Array[];
}

/** A wall as curves in the plane, at times of its own when it moves. */
export interface WallCurves {
  name: string;
  times: Float64Array;
  behind: number | null;
  frames: Float32Array[][];
}

/** A motion ready to be drawn. */
export interface Scene {
  times: Float64Array;
  timeUnit: string;
  /** 0 where the model does not say where things are. */
  dimension: 0 | 2 | 3;
  columns: Column[];
  points: Point[];
  links: [number, number][];
  springs: [number, number][];
  traces: number[];
  fills: Fill[];
  surfaces: Float32Array[];
  bounds: [number, number][];
  walls: WallCurves[];
  jumps: Jump[];
  /** All impacts, also those that are not drawn. */
  total: number;
  palette: { light: string[]; dark: string[] };
  speed: number;
  speeds: number[];
}

function bytes(text: string): ArrayBuffer {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out.buffer;
}

const doubles = (text: string): Float64Array => new Float64Array(bytes(text));
const floats = (text: string): Float32Array => new Float32Array(bytes(text));

/** The scene that page data describe. */
export function readScene(data: PageData): Scene {
  return {
    times: doubles(data.time),
    timeUnit: data.time_unit,
    dimension: data.dimension === 2 ? 2 : data.dimension === 3 ? 3 : 0,
    columns: data.columns.map((c) => ({ name: c.name, label: c.label, unit: c.unit, angle: c.kind === "angle", values: doubles(c.data) })),
    points: data.points.map((p) => ({ name: p.name, role: p.role, radius: p.radius, colour: p.colour, at: p.data.map(floats), angle: p.angle ? floats(p.angle) : null })),
    links: data.links,
    springs: data.springs,
    traces: data.traces,
    fills: data.fills.map((f) => ({ ...f, turned: f.turned.map(floats) })),
    surfaces: data.surfaces.map(floats),
    bounds: data.bounds,
    walls: data.walls.map((w) => ({ name: w.name, behind: w.behind, times: doubles(w.times), frames: w.frames.map((f) => f.map(floats)) })),
    jumps: data.jumps,
    total: data.total,
    palette: data.palette,
    speed: data.speed,
    speeds: data.speeds,
  };
}

/** The last index at or before a time. */
export function indexAt(times: Float64Array, t: number): number {
  let low = 0;
  let high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle]! <= t) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}

/** An instant of a motion: the knot at or before it, and how far it is to the next. */
export interface Instant {
  time: number;
  knot: number;
  next: number;
  part: number;
}

/** The instant at a time; across a jump nothing is interpolated, because both its sides have the same time. */
export function instant(scene: Scene, time: number): Instant {
  const T = scene.times;
  const knot = indexAt(T, time);
  const next = Math.min(T.length - 1, knot + 1);
  const span = T[next]! - T[knot]!;
  return { time, knot, next, part: span > 0 ? Math.min(1, Math.max(0, (time - T[knot]!) / span)) : 0 };
}

/** A number per knot, at an instant. */
export function valueAt(values: ArrayLike<number>, at: Instant): number {
  const a = values[at.knot] ?? NaN;
  return a + at.part * ((values[at.next] ?? a) - a);
}

/** Plain text of a label. */
export const plain = (label: Label): string => label.map((run) => run[0]).join("");
