// Walls as curves with hatching on the side that is forbidden, one marker's radius behind their zero set, so that markers
// touch what they bounce off.

import type { Camera, Pixel } from "./camera";
import type { Ink } from "./ink";
import { indexAt, type Scene, type WallCurves } from "./scene";

/** Pixels between hatches, and how long they are. */
const HATCH = { apart: 9, long: 7 };
/** Hatches of one straight piece: more than the diagonal of any screen has. */
const MOST_HATCHES = 5000;

/** The curves of a wall at a time: flat rows x, y, x, y, … */
export function curvesAt(wall: WallCurves, time: number): Float32Array[] {
  const t = wall.times;
  if (t.length < 2) return wall.frames[0] ?? [];
  const low = indexAt(t, time);
  const next = Math.min(t.length - 1, low + 1);
  const a = wall.frames[low]!;
  const b = wall.frames[next]!;
  // Straight walls move smoothly between frames; curves that change their number of corners do not.
  if (a.length !== b.length || !a.every((c, i) => c.length === b[i]!.length && c.length === 4)) return a;
  const span = t[next]! - t[low]!;
  const s = span > 0 ? (time - t[low]!) / span : 0;
  return a.map((c, i) => c.map((v, j) => v + s * (b[i]![j]! - v)));
}

/** Pixels by which walls stand behind their zero set. */
export function behind(scene: Scene, wall: WallCurves, scale: number): number {
  if (wall.behind !== null) return wall.behind * scale;
  return scene.points.reduce((r, p) => (p.role === "body" ? Math.max(r, p.radius) : r), 0);
}

interface Corner {
  x: number;
  y: number;
  nx: number;
  ny: number;
}

function corners(curve: Float32Array, to: (p: number[]) => Pixel, back: number): Corner[] {
  const p: Pixel[] = [];
  for (let i = 0; i + 1 < curve.length; i += 2) p.push(to([curve[i]!, curve[i + 1]!, 0]));
  const n = p.length;
  const closed = n > 3 && Math.hypot(p[0]![0] - p[n - 1]![0], p[0]![1] - p[n - 1]![1]) < 1e-3;
  return p.map((q, i) => {
    const a = p[i > 0 ? i - 1 : closed ? n - 2 : 0]!;
    const b = p[i + 1 < n ? i + 1 : closed ? 1 : n - 1]!;
    const dx = b[0] - a[0];
    const dy = b[1] - a[1];
    const l = Math.hypot(dx, dy) || 1;
    return { x: q[0] - (dy / l) * back, y: q[1] + (dx / l) * back, nx: -dy / l, ny: dx / l };
  });
}

/** The part, in pixels from its beginning, of a piece of length l in the direction u that lies on the canvas. */
function seen(a: { x: number; y: number }, ux: number, uy: number, l: number, width: number, height: number): [number, number] {
  let [from, to] = [0, l];
  for (const [at, u, most] of [[a.x, ux, width], [a.y, uy, height]] as const) {
    const [p, q] = [(-20 - at) / u, (most + 20 - at) / u];
    if (Math.abs(u) > 1e-12) [from, to] = [Math.max(from, Math.min(p, q)), Math.min(to, Math.max(p, q))];
    else if (at < -20 || at > most + 20) return [0, 0];
  }
  return [from, to];
}

/** Draws one curve of a wall. */
export function drawWall(c: CanvasRenderingContext2D, curve: Float32Array, camera: Camera, back: number, ink: Ink, held: boolean): void {
  const out = corners(curve, camera.to, back);
  const { width, height } = c.canvas; // Device pixels: at least as many as are drawn on.
  c.strokeStyle = held ? ink.accent : ink.wall;
  c.lineWidth = held ? 3 : 2;
  c.beginPath();
  out.forEach((q, i) => (i ? c.lineTo(q.x, q.y) : c.moveTo(q.x, q.y)));
  c.stroke();
  c.lineWidth = 1;
  c.globalAlpha = 0.75;
  c.beginPath();
  let along = 0;
  for (let i = 1; i < out.length; i++) {
    const a = out[i - 1]!;
    const b = out[i]!;
    const l = Math.hypot(b.x - a.x, b.y - a.y);
    if (!(l > 0 && l < Infinity)) continue;
    const ux = (b.x - a.x) / l;
    const uy = (b.y - a.y) / l;
    // Only the part that is seen, however long the wall is; hatches stay where they would be on the whole of it.
    const [from, to] = seen(a, ux, uy, l, width, height);
    const first = along + HATCH.apart * Math.ceil(Math.max(0, from - along) / HATCH.apart);
    for (let s = first, n = 0; s < to && n < MOST_HATCHES; s += HATCH.apart, n++) {
      const x = a.x + ux * s;
      const y = a.y + uy * s;
      c.moveTo(x, y);
      c.lineTo(x + (a.nx - ux) * HATCH.long, y + (a.ny - uy) * HATCH.long);
    }
    along += HATCH.apart * Math.ceil(Math.max(0, l - along) / HATCH.apart) - l;
  }
  c.stroke();
  c.globalAlpha = 1;
}

/** Where a curve of walls is nearest to a pixel: how far, and the direction away from the wall there, in pixels. */
export function nearest(curves: Float32Array[], camera: Camera, back: number, x: number, y: number): { distance: number; nx: number; ny: number } {
  let best = { distance: Infinity, nx: 0, ny: -1 };
  for (const curve of curves) {
    const p = corners(curve, camera.to, back);
    for (let i = 1; i < p.length; i++) {
      const a = p[i - 1]!;
      const b = p[i]!;
      const dx = b.x - a.x;
      const dy = b.y - a.y;
      const l2 = dx * dx + dy * dy;
      const s = l2 > 0 ? Math.min(1, Math.max(0, ((x - a.x) * dx + (y - a.y) * dy) / l2)) : 0;
      const distance = Math.hypot(a.x + s * dx - x, a.y + s * dy - y);
      if (distance < best.distance) best = { distance, nx: -a.nx, ny: -a.ny };
    }
  }
  return best;
}
