// The stage: a canvas that shows the motion now, with the ghost of another run, a cloud of neighbours, and hands on it.

import { Cell } from "../app/cell";
import type { Player } from "../app/player";
import type { SweepReply } from "../engine/protocol";
import { h } from "../layout/dom";
import { camera, type Camera, type Turn } from "./camera";
import { drawFrame, type Forces } from "./draw";
import { readInk, type Ink } from "./ink";
import { indexAt, type Scene } from "./scene";

/** Seconds a flash is seen, whatever the speed. */
const FLASH = 0.33;
/** How space is looked at first. */
const FRONT: Turn = { about: -0.9, above: 0.35 };
/** Device pixels per pixel, at most: more cost time and show nothing. */
const SHARPEST = 2.5;

export class Stage {
  readonly element: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  readonly turn: Turn = { ...FRONT };
  /** Counts how often space has been turned, for those who remember it. */
  readonly looks = new Cell(0);
  /** A run drawn pale behind the motion. */
  readonly ghost = new Cell<Scene | null>(null);
  /** Neighbours of the start. */
  readonly cloud = new Cell<SweepReply | null>(null);
  readonly forces = new Cell<Forces | null>(null);
  /** Another run at the left half, the motion then at the right. */
  readonly beside = new Cell<Scene | null>(null);
  /** The picture keeps its frame while something is dragged. */
  private held: Scene["bounds"] | null = null;
  private ink: Ink;
  private readonly context: CanvasRenderingContext2D;
  private readonly words: HTMLElement;
  private size = { width: 1, height: 1, ratio: 1 };

  /** Colours come from `styled`: the page, or a part of one that has its own. */
  constructor(readonly player: Player, private readonly styled: Element = document.documentElement) {
    this.ink = readInk(styled);
    this.canvas = h("canvas", { class: "stage", tabindex: 0, role: "img", "aria-label": "Animation" });
    this.words = h("p", { class: "stage-words", hidden: true });
    this.element = h("div", { class: "stage-box" }, this.canvas, this.words);
    this.context = this.canvas.getContext("2d")!;
    new ResizeObserver(() => this.resize()).observe(this.element);
    player.onFrame((time) => this.draw(time));
    player.scene.listen((scene) => this.describe(scene));
    for (const cell of [this.ghost, this.cloud, this.forces, this.beside]) (cell as Cell<unknown>).listen(() => player.refresh());
  }

  /** Colours changed. */
  recolour(): void {
    this.ink = readInk(this.styled);
    this.player.refresh();
  }

  /** Looks at space from there. */
  look(about: number, above: number): void {
    this.turn.about = about;
    this.turn.above = Math.min(1.55, Math.max(-1.55, above));
    this.looks.value++;
    this.player.refresh();
  }

  /** Has space been turned? */
  get turned(): boolean {
    return this.turn.about !== FRONT.about || this.turn.above !== FRONT.above;
  }

  /** Keeps the frame of the picture, or lets it follow the motion again. */
  hold(on: boolean): void {
    const scene = this.player.scene.value;
    if (on) this.held ??= scene ? scene.bounds : null;
    else this.held = null;
    this.player.refresh();
  }

  /** Where the motion is drawn: all of the canvas, or its right half beside another run. */
  private part(): { left: number; width: number; height: number } {
    const { width, height } = this.size;
    return this.beside.value ? { left: width / 2, width: width / 2, height } : { left: 0, width, height };
  }

  /** The camera of the motion, in pixels of the whole canvas. */
  camera(): Camera | null {
    const scene = this.player.scene.value;
    if (!scene || scene.dimension === 0) return null;
    const { left, width, height } = this.part();
    const own = camera({ bounds: this.bounds(scene), dimension: scene.dimension }, width, height, this.turn);
    if (left === 0) return own;
    return {
      scale: own.scale,
      to: (p) => {
        const q = own.to(p);
        return [q[0] + left, q[1], q[2]];
      },
      from: (x, y, depth) => own.from(x - left, y, depth),
    };
  }

  private bounds(scene: Scene): Scene["bounds"] {
    return this.held?.length === scene.bounds.length ? this.held : scene.bounds;
  }

  /** Draws the picture at a time, also onto another canvas (films). */
  draw(time: number, c = this.context, ratio = this.size.ratio): void {
    const scene = this.player.scene.value;
    const { width, height } = this.size;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, width, height);
    const view = this.camera();
    if (!scene || !view) return;
    const options = { flash: FLASH * this.player.speed.value, traces: true, forces: this.forces.value, ghost: false, size: this.size };
    const clamped = (s: Scene): number => Math.min(time, s.time[s.time.length - 1]!);
    const beside = this.beside.value;
    if (beside && beside.dimension === scene.dimension && beside.time.length) {
      this.clip(c, 0, width / 2, () => drawFrame(c, beside, clamped(beside), camera({ bounds: this.bounds(scene), dimension: scene.dimension }, width / 2, height, this.turn), this.ink, { ...options, forces: null }));
      c.strokeStyle = this.ink.rule;
      c.lineWidth = 1;
      c.beginPath();
      c.moveTo(width / 2, 0);
      c.lineTo(width / 2, height);
      c.stroke();
    }
    this.clip(c, beside ? width / 2 : 0, width, () => {
      const ghost = this.ghost.value;
      if (ghost && ghost.dimension === scene.dimension && ghost.time.length) drawFrame(c, ghost, clamped(ghost), view, this.ink, { ...options, ghost: true });
      if (this.cloud.value) this.drawCloud(c, this.cloud.value, time, view);
      drawFrame(c, scene, time, view, this.ink, options);
    });
  }

  private clip(c: CanvasRenderingContext2D, from: number, to: number, draw: () => void): void {
    c.save();
    c.beginPath();
    c.rect(from, 0, to - from, this.size.height);
    c.clip();
    draw();
    c.restore();
  }

  /** Pixels of the picture on the page. */
  get pixels(): { width: number; height: number; ratio: number } {
    return this.size;
  }

  get paper(): string {
    return this.ink.paper;
  }

  /** Every neighbour as a dot at each moving point. */
  private drawCloud(c: CanvasRenderingContext2D, cloud: SweepReply, time: number, view: Camera): void {
    const d = cloud.dimension;
    const n = cloud.time.length;
    if (d === 0 || n === 0) return;
    const i = indexAt(cloud.time, time);
    const next = Math.min(n - 1, i + 1);
    const gap = cloud.time[next]! - cloud.time[i]!;
    const s = gap > 0 ? Math.min(1, (time - cloud.time[i]!) / gap) : 0;
    const scene = this.player.scene.value;
    c.globalAlpha = 0.45;
    for (const { point, data } of cloud.points) {
      const role = scene?.points[point]?.role;
      if (role !== "body" && role !== "joint") continue;
      c.fillStyle = this.ink.curves[(scene?.points[point]?.colour ?? 0) % this.ink.curves.length]!;
      c.beginPath();
      const p = [0, 0, 0];
      for (let k = 0; k < cloud.done; k++) {
        const a = (k * n + i) * d;
        const b = (k * n + next) * d;
        for (let m = 0; m < d; m++) p[m] = data[a + m]! + s * (data[b + m]! - data[a + m]!);
        if (!Number.isFinite(p[0])) continue;
        const [x, y] = view.to(p);
        c.moveTo(x + 2.2, y);
        c.arc(x, y, 2.2, 0, 2 * Math.PI);
      }
      c.fill();
    }
    c.globalAlpha = 1;
  }

  private describe(scene: Scene | null): void {
    const nothing = !scene || scene.dimension === 0;
    this.words.hidden = !nothing;
    this.words.textContent = scene ? "This model does not say where things are. A [view] table, bodies or walls with `draw` put them on the stage; plots and mathematics need none." : "";
    this.canvas.classList.toggle("space", scene?.dimension === 3);
    if (!scene) return;
    const bodies = scene.points.filter((p) => p.role === "body").length;
    const n = scene.total;
    this.canvas.setAttribute("aria-label", `Animation in ${scene.dimension === 3 ? "space" : "the plane"}: ${bodies} ${bodies === 1 ? "body" : "bodies"}, ${scene.walls.length} ${scene.walls.length === 1 ? "wall" : "walls"}, ${n} ${n === 1 ? "impact" : "impacts"}`);
  }

  private resize(): void {
    const width = this.element.clientWidth;
    const height = this.element.clientHeight;
    if (!width || !height) return;
    const ratio = Math.min(SHARPEST, devicePixelRatio || 1);
    this.size = { width, height, ratio };
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.draw(this.player.time.value);
  }
}
