// Bodies with a form: discs, boxes and polygons, turned by an angle in the plane and by a quaternion in space.

import type { Camera, Pixel } from "./camera";
import { colour, mixed, type Ink } from "./ink";
import { valueAt, type Fill, type Instant, type Scene } from "./scene";

/** Corners of the circle that a disc in space is drawn as. */
const AROUND = 48;

interface Face {
  light: number;
  corners: ArrayLike<number>[];
}

/** A vector in the axes of a body, turned by the quaternion w, x, y, z. */
function rotated(q: number[], v: number[]): number[] {
  const n = q.reduce((s, a) => s + a * a, 0);
  if (q.length !== 4 || !(n > 0)) return v;
  const [w, x, y, z] = q as [number, number, number, number];
  const row = (a: number, b: number, d: number): number => (a * v[0]! + b * v[1]! + d * v[2]!) / n;
  return [
    row(w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)),
    row(2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)),
    row(2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z),
  ];
}

/** The circle around `at` of a radius, in the plane whose normal is n. */
function circle(at: ArrayLike<number>, normal: number[], radius: number): number[][] {
  const l = Math.hypot(...normal);
  const n = l > 0 ? normal.map((v) => v / l) : [0, 0, 1];
  const least = [0, 1, 2].reduce((a, b) => (Math.abs(n[b]!) < Math.abs(n[a]!) ? b : a));
  const raw = [0, 1, 2].map((i) => (i === least ? 1 : 0) - n[least]! * n[i]!);
  const size = Math.hypot(...raw);
  const u = raw.map((v) => v / size);
  const v = [n[1]! * u[2]! - n[2]! * u[1]!, n[2]! * u[0]! - n[0]! * u[2]!, n[0]! * u[1]! - n[1]! * u[0]!];
  return Array.from({ length: AROUND }, (_, k) => {
    const a = (2 * Math.PI * k) / AROUND;
    return [0, 1, 2].map((i) => at[i]! + radius * (Math.cos(a) * u[i]! + Math.sin(a) * v[i]!));
  });
}

function boxFaces(at: ArrayLike<number>, sides: number[], q: number[]): Face[] {
  const faces: Face[] = [];
  for (let axis = 0; axis < 3; axis++)
    for (const sign of [-1, 1]) {
      const [b, c] = [(axis + 1) % 3, (axis + 2) % 3];
      const normal = [0, 0, 0];
      normal[axis] = sign;
      const n = rotated(q, normal);
      const corner = (sb: number, sc: number): number[] => {
        const own = [0, 0, 0];
        own[axis] = (sign * sides[axis]!) / 2;
        own[b] = (sb * sides[b]!) / 2;
        own[c] = (sc * sides[c]!) / 2;
        return rotated(q, own).map((v, i) => at[i]! + v);
      };
      // Light falls from above, from the left and from the front.
      faces.push({ light: 0.5 + 0.5 * (0.3 * n[0]! - 0.45 * n[1]! + 0.84 * n[2]!), corners: [corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)] });
    }
  return faces;
}

function faces(scene: Scene, f: Fill, world: number[][], now: Instant): Face[] {
  const at = world[f.point]!;
  const q = f.turned.map((d) => valueAt(d, now));
  if (f.form === "polygon") {
    const angle = scene.points[f.point]!.angle;
    const a = angle ? valueAt(angle, now) : 0;
    const [s, c] = [Math.sin(a), Math.cos(a)];
    return [{ light: 1, corners: (f.corners ?? []).map(([x, y]) => [at[0]! + c * x - s * y, at[1]! + s * x + c * y]) }];
  }
  if (f.form === "corners") return [{ light: 1, corners: (f.points ?? []).map((i) => world[i]!) }];
  if (f.form === "disc") return [{ light: 1, corners: circle(at, q, f.radius ?? 0) }];
  return boxFaces(at, f.sides ?? [0, 0, 0], q);
}

/** Draws a body with a form. */
export function drawFill(c: CanvasRenderingContext2D, scene: Scene, f: Fill, world: number[][], now: Instant, camera: Camera, ink: Ink): void {
  const own = f.body ? colour(ink, scene.points[f.point]!.colour) : ink.rule;
  c.strokeStyle = f.body ? mixed(own, ink.ink, 0.6) : ink.muted;
  c.lineWidth = 1.2;
  if (f.form === "round") {
    const [x, y] = camera.to(world[f.point]!);
    const r = Math.max(1, (f.radius ?? 0) * camera.scale);
    c.beginPath();
    c.arc(x, y, r, 0, 2 * Math.PI);
    c.fillStyle = own;
    c.fill();
    c.stroke();
    const angle = scene.points[f.point]!.angle;
    if (angle && scene.dimension === 2) {
      const a = valueAt(angle, now);
      c.strokeStyle = ink.paper;
      c.lineWidth = 2;
      c.beginPath();
      c.moveTo(x, y);
      c.lineTo(x + r * Math.cos(a), y - r * Math.sin(a));
      c.stroke();
    }
    return;
  }
  const all = faces(scene, f, world, now).map((face) => ({ light: face.light, corners: face.corners.map((p): Pixel => camera.to(p)) }));
  const depth = (corners: Pixel[]): number => corners.reduce((s, p) => s + p[2], 0) / corners.length;
  for (const face of all.sort((a, b) => depth(b.corners) - depth(a.corners))) {
    c.beginPath();
    face.corners.forEach((p, i) => (i ? c.lineTo(p[0], p[1]) : c.moveTo(p[0], p[1])));
    c.closePath();
    c.fillStyle = f.body ? mixed(own, ink.paper, 0.45 + 0.55 * face.light) : own;
    c.fill();
    c.stroke();
  }
}
