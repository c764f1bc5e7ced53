// One frame: walls, traces, springs, links, bodies, flashes where something hit, arrows where a wall pushes.
//
// Pure: a frame depends on what is handed in and on nothing else, so that films, small pictures and the stage agree.

import type { Camera, Pixel } from "./camera";
import { colour, type Ink } from "./ink";
import { indexAt, instant, valueAt, type Instant, type Scene } from "./scene";
import { drawFill } from "./solids";
import { behind, curvesAt, drawWall, nearest } from "./walls";

/** Forces of walls that hold: one row per wall, one value per sample of the motion. */
export interface Forces {
  times: Float64Array;
  walls: Record<string, ArrayLike<number>>;
  /** The largest of all, drawn as the longest arrow. */
  largest: number;
}

/** What a frame may leave out or add. */
export interface FrameOptions {
  /** How long flashes last, in units of the motion's time. */
  flash: number;
  traces: boolean;
  forces: Forces | null;
  /** Drawn pale and without walls, as the past or another run. */
  ghost: boolean;
  size: { width: number; height: number };
  /** Bodies smaller than usual, for small pictures. */
  small?: boolean;
}

/** Most corners of a trace. */
const TRACE = 3000;
/** The longest arrow of a force, in pixels. */
const ARROW = 56;

/** Where every point is. */
export function placesAt(scene: Scene, now: Instant): number[][] {
  return scene.points.map((p) => p.data.map((values) => valueAt(values, now)));
}

/** Draws the scene at a time. */
export function drawFrame(c: CanvasRenderingContext2D, scene: Scene, time: number, camera: Camera, ink: Ink, options: FrameOptions): void {
  const now = instant(scene, time);
  const world = placesAt(scene, now);
  const here = world.map((p) => camera.to(p));
  const flat = scene.dimension === 2;
  c.save();
  c.lineCap = c.lineJoin = "round";
  if (options.ghost) c.globalAlpha = 0.3;
  else {
    if (!flat) drawSurroundings(c, scene, camera, world, ink);
    else for (const f of scene.fills) if (!f.body) drawFill(c, scene, f, world, now, camera, ink);
    const pushing = options.forces ? pushingWalls(options.forces, time) : new Map<string, number>();
    for (const w of scene.walls) {
      const back = behind(scene, w, camera.scale) * (options.small ? 0.5 : 1);
      for (const curve of curvesAt(w, time)) drawWall(c, curve, camera, back, ink, pushing.has(w.name));
    }
    if (options.traces) drawTraces(c, scene, now, camera, here, ink);
  }
  drawLinks(c, scene, here, ink, options);
  const order = scene.points.map((_, i) => i).sort((a, b) => here[b]![2] - here[a]![2] || a - b);
  for (const i of order) drawPoint(c, scene, i, now, world, here[i]!, camera, ink, options);
  if (!options.ghost) {
    drawFlashes(c, scene, time, camera, ink, options.flash);
    if (options.forces) drawForces(c, scene, time, camera, here, ink, options.forces);
  }
  c.restore();
}

function drawTraces(c: CanvasRenderingContext2D, scene: Scene, now: Instant, camera: Camera, here: Pixel[], ink: Ink): void {
  const T = scene.time;
  const length = T[T.length - 1]! - T[0]!;
  scene.traces.forEach((i, n) => {
    const at = scene.points[i]!.data;
    const q = [0, 0, 0];
    const pass = (from: number, alpha: number, width: number): void => {
      const stride = Math.max(1, Math.ceil((now.knot - from) / TRACE));
      c.globalAlpha = alpha;
      c.lineWidth = width;
      c.beginPath();
      for (let k = from; k <= now.knot; k += stride) {
        for (let d = 0; d < at.length; d++) q[d] = at[d]![k]!;
        const p = camera.to(q);
        if (k === from) c.moveTo(p[0], p[1]);
        else c.lineTo(p[0], p[1]);
      }
      c.lineTo(here[i]![0], here[i]![1]);
      c.stroke();
    };
    c.strokeStyle = colour(ink, scene.points[i]!.colour ?? n);
    pass(0, 0.28, 1.2);
    pass(indexAt(T, Math.max(T[0]!, now.time - 0.06 * length)), 0.85, 1.9);
    c.globalAlpha = 1;
  });
}

function drawSpring(c: CanvasRenderingContext2D, a: Pixel, b: Pixel): void {
  const dx = b[0] - a[0];
  const dy = b[1] - a[1];
  const l = Math.hypot(dx, dy) || 1;
  const [ux, uy] = [dx / l, dy / l];
  const lead = Math.min(12, l * 0.15);
  const turns = 11;
  c.beginPath();
  c.moveTo(a[0], a[1]);
  c.lineTo(a[0] + ux * lead, a[1] + uy * lead);
  for (let i = 0; i <= 2 * turns; i++) {
    const s = lead + ((l - 2 * lead) * (i + 0.5)) / (2 * turns + 1);
    const w = i % 2 ? 6 : -6;
    c.lineTo(a[0] + ux * s - uy * w, a[1] + uy * s + ux * w);
  }
  c.lineTo(b[0] - ux * lead, b[1] - uy * lead);
  c.lineTo(b[0], b[1]);
  c.stroke();
}

function drawLinks(c: CanvasRenderingContext2D, scene: Scene, here: Pixel[], ink: Ink, options: FrameOptions): void {
  c.strokeStyle = ink.muted;
  c.lineWidth = 1.6;
  for (const [a, b] of scene.springs) drawSpring(c, here[a]!, here[b]!);
  c.strokeStyle = ink.ink;
  c.lineWidth = options.small ? 2 : 3;
  c.beginPath();
  for (const [a, b] of scene.links) {
    c.moveTo(here[a]![0], here[a]![1]);
    c.lineTo(here[b]![0], here[b]![1]);
  }
  c.stroke();
}

function drawPoint(c: CanvasRenderingContext2D, scene: Scene, i: number, now: Instant, world: number[][], at: Pixel, camera: Camera, ink: Ink, options: FrameOptions): void {
  const p = scene.points[i]!;
  const flat = scene.dimension === 2;
  for (const f of scene.fills) if (f.point === i && (f.body || !flat)) drawFill(c, scene, f, world, now, camera, ink);
  if (p.role === "unseen") return;
  const [x, y] = at;
  const radius = p.radius * (options.small ? 0.6 : 1);
  c.beginPath();
  c.arc(x, y, radius, 0, 2 * Math.PI);
  c.fillStyle = p.role === "body" ? colour(ink, p.colour) : p.role === "pivot" ? ink.paper : ink.ink;
  c.strokeStyle = p.role === "pivot" ? ink.muted : ink.paper;
  c.lineWidth = 1.5;
  c.fill();
  c.stroke();
  if (p.angle && flat) {
    const a = valueAt(p.angle, now);
    const r = radius + 9;
    c.strokeStyle = ink.ink;
    c.lineWidth = 2.5;
    c.beginPath();
    c.moveTo(x - r * Math.cos(a), y + r * Math.sin(a));
    c.lineTo(x + r * Math.cos(a), y - r * Math.sin(a));
    c.stroke();
  }
}

/** In space: the floor, axes, sections of surfaces, and where bodies are above the floor. */
function drawSurroundings(c: CanvasRenderingContext2D, scene: Scene, camera: Camera, world: number[][], ink: Ink): void {
  const [bx, by, bz] = scene.bounds as [[number, number], [number, number], [number, number]];
  const floor = bz[0];
  const lines = 6;
  const line = (p: number[], q: number[]): void => {
    const [a, b] = [camera.to(p), camera.to(q)];
    c.moveTo(a[0], a[1]);
    c.lineTo(b[0], b[1]);
  };
  c.strokeStyle = ink.grid;
  c.lineWidth = 1;
  c.beginPath();
  for (let i = 0; i <= lines; i++) {
    const x = bx[0] + ((bx[1] - bx[0]) * i) / lines;
    const y = by[0] + ((by[1] - by[0]) * i) / lines;
    line([x, by[0], floor], [x, by[1], floor]);
    line([bx[0], y, floor], [bx[1], y, floor]);
  }
  c.stroke();
  const corner = [bx[0], by[0], floor];
  const size = 0.22 * Math.max(...scene.bounds.map((r) => r[1] - r[0]));
  c.font = "italic 13px system-ui, sans-serif";
  c.fillStyle = c.strokeStyle = ink.muted;
  ["x", "y", "z"].forEach((name, i) => {
    const end = corner.slice();
    end[i]! += size;
    c.beginPath();
    line(corner, end);
    c.stroke();
    const q = camera.to(end);
    c.fillText(name, q[0] + 4, q[1] + 4);
  });
  c.strokeStyle = ink.muted;
  c.globalAlpha = 0.4;
  c.beginPath();
  for (const s of scene.surfaces)
    for (let i = 0; i < s.length; i += 3) {
      const p = camera.to(s.subarray(i, i + 3));
      if (i) c.lineTo(p[0], p[1]);
      else c.moveTo(p[0], p[1]);
    }
  c.stroke();
  c.globalAlpha = 1;
  c.fillStyle = ink.grid;
  scene.points.forEach((p, i) => {
    if (p.colour === null || (p.role === "unseen" && !scene.fills.some((f) => f.point === i))) return;
    const [x, y] = camera.to([world[i]![0]!, world[i]![1]!, floor]);
    c.beginPath();
    c.arc(x, y, 4, 0, 2 * Math.PI);
    c.fill();
  });
}

function drawFlashes(c: CanvasRenderingContext2D, scene: Scene, time: number, camera: Camera, ink: Ink, lasts: number): void {
  for (let n = scene.jumps.length - 1; n >= 0; n--) {
    const jump = scene.jumps[n]!;
    const age = (time - scene.time[jump.knot]!) / lasts;
    if (age < 0) continue;
    if (age >= 1) break;
    jump.points.forEach((point, m) => {
      const p = camera.to(jump.places[m]!);
      c.strokeStyle = ink.flash;
      c.globalAlpha = 1 - age;
      c.lineWidth = 3.5 - 2.5 * age;
      c.beginPath();
      c.arc(p[0], p[1], scene.points[point]!.radius + 3 + 22 * age, 0, 2 * Math.PI);
      c.stroke();
    });
    c.globalAlpha = 1;
  }
}

/** Walls that push at a time, with their force. */
export function pushingWalls(forces: Forces, time: number): Map<string, number> {
  const k = indexAt(forces.times, time);
  const found = new Map<string, number>();
  for (const [wall, values] of Object.entries(forces.walls)) if ((values[k] ?? 0) > 0) found.set(wall, values[k]!);
  return found;
}

/** Arrows at what a wall pushes: its points of the last impact there, else the body nearest to its curve. */
function drawForces(c: CanvasRenderingContext2D, scene: Scene, time: number, camera: Camera, here: Pixel[], ink: Ink, forces: Forces): void {
  for (const [name, force] of pushingWalls(forces, time)) {
    const wall = scene.walls.find((w) => w.name === name);
    if (!wall || scene.dimension !== 2) continue;
    const curves = curvesAt(wall, time);
    const back = behind(scene, wall, camera.scale);
    let points: number[] = [];
    for (const jump of scene.jumps) {
      if (scene.time[jump.knot]! > time) break;
      if (jump.walls.includes(name) && jump.points.length) points = jump.points;
    }
    if (!points.length) {
      const bodies = here.map((p, i) => ({ i, near: nearest(curves, camera, back, p[0], p[1]).distance })).filter(({ i }) => scene.points[i]!.role === "body");
      bodies.sort((a, b) => a.near - b.near);
      if (bodies[0]) points = [bodies[0].i];
    }
    for (const i of points) {
      const [x, y] = here[i]!;
      const near = nearest(curves, camera, back, x, y);
      const long = 14 + (ARROW - 14) * Math.min(1, force / (forces.largest || 1));
      arrow(c, x, y, x + near.nx * long, y + near.ny * long, ink.force);
    }
  }
}

/** An arrow between two pixels. */
export function arrow(c: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number, stroke: string): void {
  const a = Math.atan2(y1 - y0, x1 - x0);
  c.strokeStyle = c.fillStyle = stroke;
  c.lineWidth = 2.4;
  c.beginPath();
  c.moveTo(x0, y0);
  c.lineTo(x1 - 5 * Math.cos(a), y1 - 5 * Math.sin(a));
  c.stroke();
  c.beginPath();
  c.moveTo(x1, y1);
  c.lineTo(x1 - 10 * Math.cos(a - 0.42), y1 - 10 * Math.sin(a - 0.42));
  c.lineTo(x1 - 10 * Math.cos(a + 0.42), y1 - 10 * Math.sin(a + 0.42));
  c.closePath();
  c.fill();
}
