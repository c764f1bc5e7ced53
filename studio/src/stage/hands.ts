// Hands on the stage: a body is dragged to its start, a wall to its place, space is turned.
//
// A body: the engine finds start positions that put the point under the pointer, constraints kept (inverse kinematics). In space
// the pointer moves it in the plane of the picture, at the depth it has.
// A wall: with g(p) the place of its curve under the pointer along its normal, the parameter p that moves this wall most and
// other things least is found by a small change of each; then p ← p + d/(∂g/∂p) for a pointer that has moved by d.

import { Cancelled } from "../engine/client";
import type { Session } from "../app/session";
import type { Scene } from "../engine/protocol";
import { say } from "../layout/dom";
import { span } from "./scene";
import type { Stage } from "./stage";
import { behind, curvesAt, nearest } from "./walls";

/** Pixels within which a body or a wall is taken. */
const REACH = { body: 22, wall: 10 };
/** Relative change of a parameter by which its effect on a wall is measured. */
const PROBE = 1e-3;

type Hold = { kind: "body"; point: number; depth: number } | { kind: "wall"; name: string; x: number; y: number; nx: number; ny: number; parameter: string; value: number; rate: number } | { kind: "turn"; x: number; y: number } | { kind: "wait" };

export class Hands {
  private hold: Hold | null = null;
  private busy = false;
  private next: [number, number] | null = null;

  constructor(private readonly stage: Stage, private readonly session: Session) {
    const { canvas } = stage;
    canvas.addEventListener("pointerdown", (e) => void this.down(e).catch((error: unknown) => {
      this.up();
      if (!(error instanceof Cancelled)) say(error instanceof Error ? error.message : String(error));
    }));
    canvas.addEventListener("pointermove", (e) => this.move(e));
    for (const end of ["pointerup", "pointercancel"] as const) canvas.addEventListener(end, () => this.up());
    canvas.addEventListener("keydown", (e) => this.key(e));
  }

  private get scene(): Scene | null {
    return this.stage.player.scene.value;
  }

  private over(x: number, y: number): { kind: "body"; point: number } | { kind: "wall"; name: string; nx: number; ny: number } | null {
    const scene = this.scene;
    const view = this.stage.camera();
    if (!scene || !view) return null;
    const { player } = this.stage;
    let best = { distance: REACH.body, point: -1 };
    const now = player.time.value;
    const k = Math.max(0, scene.time.findLastIndex((t) => t <= now));
    scene.points.forEach((p, i) => {
      const moves = p.data.some((d) => d[0] !== d[d.length - 1] || d[0] !== d[d.length >> 1]);
      if (p.role === "pivot" || (p.role === "unseen" && !scene.fills.some((f) => f.point === i && f.body)) || !moves) return;
      const q = view.to(p.data.map((d) => d[k]!));
      const round = scene.fills.find((f) => f.point === i && f.form === "round");
      const distance = Math.hypot(q[0] - x, q[1] - y) - (round ? (round.radius ?? 0) * view.scale : 0);
      if (distance < best.distance) best = { distance, point: i };
    });
    if (best.point >= 0) return { kind: "body", point: best.point };
    if (scene.dimension === 2) for (const wall of scene.walls) {
      const near = nearest(curvesAt(wall, now), view, behind(scene, wall, view.scale), x, y);
      if (near.distance < REACH.wall) return { kind: "wall", name: wall.name, nx: near.nx, ny: near.ny };
    }
    return null;
  }

  private async down(e: PointerEvent): Promise<void> {
    if (!e.isPrimary || e.button !== 0) return;
    const { canvas, player } = this.stage;
    const found = this.over(e.offsetX, e.offsetY);
    canvas.setPointerCapture(e.pointerId);
    if (!found) {
      if (this.scene?.dimension === 3) this.hold = { kind: "turn", x: e.clientX, y: e.clientY };
      return;
    }
    canvas.classList.add("held");
    player.pause();
    this.session.dragging.value = true;
    if (found.kind === "body") {
      const start = this.scene!.points[found.point]!.data.map((d) => d[0]!);
      this.hold = { ...found, depth: this.stage.camera()?.to(start)[2] ?? 0 };
      player.seek(span(this.scene!)[0]);
      return;
    }
    this.hold = { kind: "wait" };
    const { offsetX: x, offsetY: y } = e;
    const moved = await this.parameterOf(found.name, x, y, found.nx, found.ny);
    if (this.hold?.kind !== "wait") return;
    if (moved) this.hold = { ...moved, kind: "wall", name: found.name, x, y, nx: found.nx, ny: found.ny };
    else {
      this.up();
      say(`No parameter moves the wall ${found.name}; its gap is a formula of the text`);
    }
  }

  private move(e: PointerEvent): void {
    const { hold } = this;
    const { canvas, turn } = this.stage;
    if (!hold) {
      const found = e.pointerType === "mouse" ? this.over(e.offsetX, e.offsetY) : null;
      canvas.classList.toggle("body", found?.kind === "body");
      canvas.classList.toggle("wall", found?.kind === "wall");
      return;
    }
    if (hold.kind === "turn") {
      this.stage.look(turn.about + (e.clientX - hold.x) * 0.01, turn.above + (e.clientY - hold.y) * 0.01);
      [hold.x, hold.y] = [e.clientX, e.clientY];
      return;
    }
    this.next = [e.offsetX, e.offsetY];
    void this.follow();
  }

  private up(): void {
    this.hold = null;
    this.next = null;
    this.stage.canvas.classList.remove("held");
    this.session.dragging.value = false;
  }

  private key(e: KeyboardEvent): void {
    if (this.scene?.dimension !== 3 || e.shiftKey) return;
    const { turn } = this.stage;
    const by = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[e.key];
    if (!by) return;
    e.preventDefault();
    this.stage.look(turn.about + by[0]!, turn.above + by[1]!);
  }

  /** Follows the pointer, one answer of the engine at a time. */
  private async follow(): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    try {
      while (this.next && this.hold) {
        const [x, y] = this.next;
        this.next = null;
        const view = this.stage.camera();
        const { hold } = this;
        if (hold.kind === "body" && view) {
          const reply = await this.session.engine.ask("drag", { ...this.session.input(), point: hold.point, target: view.from(x, y, hold.depth) });
          if (reply.ok && this.hold === hold) this.session.set(reply.values);
        } else if (hold.kind === "wall" && view) {
          const along = ((x - hold.x) * hold.nx + (y - hold.y) * hold.ny) / view.scale;
          this.session.set({ [hold.parameter]: Number((hold.value + along / hold.rate).toPrecision(5)) });
        } else break;
      }
    } catch (error) {
      if (!(error instanceof Cancelled)) say(error instanceof Error ? error.message : String(error));
    } finally {
      this.busy = false;
    }
  }

  /** The parameter that moves a wall at a pixel, with how far it does per unit, in units of length along the normal. */
  private async parameterOf(name: string, x: number, y: number, nx: number, ny: number): Promise<{ parameter: string; value: number; rate: number } | null> {
    const outline = this.session.outline.value;
    const view = this.stage.camera();
    const scene = this.scene;
    if (!outline || !view || !scene) return null;
    const from = span(scene)[0];
    const reach = 1e-6 * Math.max(1, span(scene)[1] - from);
    const at = async (values: Record<string, number>): Promise<Scene | null> => (await this.session.engine.ask("run", { ...this.session.input(values), until: from + reach, samples: 2, limits: { seconds: 1 } }, { aside: true })).scene;
    const offset = (s: Scene): number => {
      const wall = s.walls.find((w) => w.name === name);
      if (!wall) return NaN;
      // Signed distance of the pixel from the curve along the normal, in units of length.
      const back = behind(s, wall, view.scale);
      const near = nearest(curvesAt(wall, from), view, back, x, y);
      return (near.distance * Math.sign(near.nx * nx + near.ny * ny || 1)) / view.scale;
    };
    let best: { parameter: string; value: number; rate: number; score: number } | null = null;
    try {
      for (const s of outline.sliders.filter((p) => p.kind === "parameter" && p.value !== null)) {
        const value = this.session.values.value[s.name] ?? s.value!;
        const step = PROBE * Math.max(0.1, Math.abs(value));
        // Both sides, so that the distance's kink at zero does not matter.
        const more = await at({ ...this.session.values.value, [s.name]: value + 40 * step });
        const most = await at({ ...this.session.values.value, [s.name]: value + 80 * step });
        if (!more || !most) continue;
        const wall = (s_: Scene): Float32Array | undefined => s_.walls.find((w) => w.name === name)?.frames[0]?.[0];
        const [a, b] = [wall(more), wall(most)];
        if (!a || !b) continue;
        const size = Math.abs(offset(most) - offset(more)) / (40 * step);
        if (!(size > 1e-6)) continue;
        // Which way: does the curve go along the normal (pixels have y downwards) or against it?
        const shift = (b[0]! - a[0]!) * nx - (b[1]! - a[1]!) * ny;
        const rate = shift < 0 ? -size : size;
        const others = most.points.filter((p, i) => p.data.some((d, k) => Math.abs(d[0]! - more.points[i]!.data[k]![0]!) > 1e-6 * Math.abs(size * step))).length + most.walls.filter((w) => w.name !== name && String(w.frames[0]?.[0]) !== String(more.walls.find((v) => v.name === w.name)?.frames[0]?.[0])).length;
        const score = 1 / (1 + others) + (s.free ? 0.01 : 0);
        if (!best || score > best.score) best = { parameter: s.name, value, rate, score };
      }
    } catch (error) {
      if (!(error instanceof Cancelled)) throw error;
    }
    return best;
  }
}
