// Signals of a motion at its knots, with both sides of every jump.
//
// Curves over time are broken at jumps: a null between the two sides, which have the same time, keeps a line from being
// drawn where nothing moved through.

import type { Scene } from "../engine/protocol";
import { plain, type SceneColumn } from "../stage/scene";

/** What one plot shows. */
export type Request =
  | { kind: "time"; title: string; names: string[] }
  | { kind: "plane"; x: string; y: string }
  | { kind: "section"; event: string; x: string; y: string };

/** Rows for a plot over time: times, then one row per signal. */
export interface Curves {
  times: number[];
  rows: (number | null)[][];
  columns: SceneColumn[];
}

/** Most curves in one plot by default. */
const MOST = 6;

export const columnOf = (scene: Scene, name: string): SceneColumn | undefined => scene.columns.find((c) => c.name === name);

/** The signals of a scene by what they are. */
export function groups(scene: Scene, coordinates: string[]): Record<string, string[]> {
  const all = scene.columns.map((c) => c.name);
  const has = (names: string[]): string[] => names.filter((n) => all.includes(n));
  return {
    Positions: has(coordinates),
    Velocities: has(coordinates.map((c) => `${c}'`)),
    Energy: all.filter((n) => /^(kinetic|potential|energy|hamiltonian)$/.test(n)),
    Gaps: all.filter((n) => /^gap/.test(n)),
    Outputs: all.filter((n) => !coordinates.includes(n.replace(/'$/, "")) && !/^(kinetic|potential|energy|hamiltonian|gap.*)$/.test(n)),
  };
}

/** The plots a model starts with. */
export function defaults(scene: Scene, coordinates: string[]): Request[] {
  const g = groups(scene, coordinates);
  const out: Request[] = [];
  for (const title of ["Positions", "Velocities"]) if (g[title]!.length) out.push({ kind: "time", title, names: g[title]!.slice(0, MOST) });
  const first = coordinates.find((c) => columnOf(scene, c) && columnOf(scene, `${c}'`));
  if (first) out.push({ kind: "plane", x: first, y: `${first}'` });
  if (g["Energy"]!.length) out.push({ kind: "time", title: "Energy", names: g["Energy"]! });
  return out;
}

/** Rows over time of these signals. */
export function curves(scene: Scene, names: string[]): Curves {
  const columns = names.map((n) => columnOf(scene, n)).filter((c): c is SceneColumn => c !== undefined);
  const after = new Set(scene.jumps.map((j) => j.knot));
  const times: number[] = [];
  const rows: (number | null)[][] = columns.map(() => []);
  for (let k = 0; k < scene.time.length; k++) {
    const t = scene.time[k]!;
    if (after.has(k) && k > 0) {
      times.push(t);
      rows.forEach((row) => row.push(null));
    }
    times.push(t);
    columns.forEach((c, i) => {
      const v = c.data[k]!;
      rows[i]!.push(Number.isFinite(v) ? v : null);
    });
  }
  return { times, rows, columns };
}

/** A signal's name with its unit. */
export function title(c: SceneColumn): string {
  return c.unit ? `${plain(c.label)} [${c.unit}]` : plain(c.label);
}

/** Marks of an axis of angles: simple parts of π. */
export function angleMarks(low: number, high: number): number[] | null {
  const reach = high - low;
  if (reach < 0.75 * Math.PI || reach > 60 * Math.PI) return null;
  const step = [0.25, 0.5, 1, 2, 5, 10, 20].map((f) => f * Math.PI).find((s) => reach / s <= 5) ?? 20 * Math.PI;
  const out: number[] = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + 1e-9 * step && out.length < 50; n++) out.push(n * step);
  return out;
}

/** Part of its numbers that a range is wide at least: marks of an axis are numbers that differ, with room to count between them. */
const NARROWEST = 1e-12;
/** Larger numbers are not drawn. */
const LARGEST = 1e300;

/** A range that can be drawn: finite, and wide enough for marks. */
export function roomy(low: number, high: number): [number, number] {
  const clamp = (v: number): number => Math.min(LARGEST, Math.max(-LARGEST, Number.isNaN(v) ? 0 : v));
  const [a, b] = [clamp(Math.min(low, high)), clamp(Math.max(low, high))];
  const least = NARROWEST * Math.max(Math.abs(a), Math.abs(b), Number.MIN_VALUE / NARROWEST);
  if (b - a >= least) return [a, b];
  const middle = a / 2 + b / 2;
  return [middle - least / 2, middle + least / 2];
}

/** A multiple of π/4 as text. */
export function angleText(v: number): string {
  const quarters = Math.round((4 * v) / Math.PI);
  if (quarters === 0) return "0";
  const gcd = (a: number, b: number): number => (b ? gcd(b, a % b) : a);
  const g = gcd(Math.abs(quarters), 4);
  const [p, q] = [quarters / g, 4 / g];
  const whole = p === 1 ? "π" : p === -1 ? "−π" : `${p}π`.replace("-", "−");
  return q > 1 ? `${whole}/${q}` : whole;
}
