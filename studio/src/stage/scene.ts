// What is drawn of a motion, at an instant.
//
// A motion is a row of knots, samples and both sides of every jump, at times T[0] ≤ T[1] ≤ …; every drawn point, angle and
// signal has one number per knot. Between knots values lie on the straight line; across a jump nothing is interpolated,
// because both its sides have the same time.
// Promise: numbers of columns are those of the motion, bit for bit; only places of drawn points are rounded to floats.

import type { Label, Scene } from "../engine/protocol";

export type { Label, Scene };
export type Point = Scene["points"][number];
export type Fill = Scene["fills"][number];
export type WallCurves = Scene["walls"][number];
export type Jump = Scene["jumps"][number];
export type SceneColumn = Scene["columns"][number];

/** The data of an animation page: a scene whose arrays are base64. */
export type PageData = { [K in keyof Scene]: unknown };

function bytes(text: string): ArrayBuffer {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out.buffer;
}

const doubles = (text: string): Float64Array => new Float64Array(bytes(text));
const floats = (text: string): Float32Array => new Float32Array(bytes(text));

/** The scene that the data of an animation page describe. */
export function readScene(page: PageData): Scene {
  // As sent, each array of numbers is a text.
  type Sent<T> = T extends Float64Array | Float32Array ? string : T extends (infer E)[] ? Sent<E>[] : T extends object ? { [K in keyof T]: Sent<T[K]> } : T;
  const data = page as unknown as { [K in "time" | "columns" | "points" | "fills" | "surfaces" | "walls"]: Sent<Scene[K]> };
  return {
    ...(page as unknown as Scene),
    time: doubles(data.time),
    columns: data.columns.map((c) => ({ ...c, label: c.label as Label, data: doubles(c.data) })) as SceneColumn[],
    points: data.points.map((p) => ({ ...p, data: p.data.map(floats), angle: p.angle ? floats(p.angle) : null })) as Point[],
    fills: data.fills.map((f) => ({ ...f, turned: f.turned.map(floats) })) as Fill[],
    surfaces: data.surfaces.map(floats),
    walls: data.walls.map((w) => ({ ...w, times: doubles(w.times), frames: w.frames.map((f) => f.map(floats)) })) as WallCurves[],
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

/** The instant at a time. */
export function instant(scene: Scene, time: number): Instant {
  const T = scene.time;
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

/** First and last time. */
export const span = (scene: Scene): [from: number, to: number] => [scene.time[0] ?? 0, scene.time[scene.time.length - 1] ?? 0];

/** The jump whose sides are at a knot, if there is one. */
export function jumpAt(scene: Scene, knot: number): Jump | null {
  const t = scene.time[knot];
  let low = 0;
  let high = scene.jumps.length;
  while (low < high) {
    const m = (low + high) >> 1;
    if (scene.time[scene.jumps[m]!.knot]! < t!) low = m + 1;
    else high = m;
  }
  const found = scene.jumps[low];
  return found && scene.time[found.knot] === t ? found : null;
}

/** Plain text of a label. */
export const plain = (label: Label): string => label.map((run) => run[0]).join("");
