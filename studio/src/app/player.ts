// The clock of the animation: what time is shown, and how it goes on.

import type { Scene } from "../engine/protocol";
import { Cell } from "./cell";
import { indexAt, span } from "../stage/scene";

/** Frames whose script time is remembered. */
const FRAMES = 600;

export class Player {
  readonly time = new Cell(0);
  readonly playing = new Cell(false);
  /** Units of the motion's time per second. */
  readonly speed = new Cell(1);
  readonly scene = new Cell<Scene | null>(null);
  /** Milliseconds of script that recent frames took, for those who measure. */
  readonly frames: number[] = [];

  private draws = new Set<(time: number) => void>();
  private wanted = false;
  private before = 0;
  private speedChosen = false;

  /** Draws with every frame in which something changed. */
  onFrame(draw: (time: number) => void): void {
    this.draws.add(draw);
  }

  /** Another motion: the time stays where it is, within the new one. */
  show(scene: Scene, fresh: boolean): void {
    const [from, to] = span(scene);
    this.scene.value = scene;
    if (fresh) {
      this.time.value = from;
      if (!this.speedChosen) this.speed.value = scene.speed;
    } else this.time.value = Math.min(to, Math.max(from, this.time.value));
    this.refresh();
  }

  /** Asks for a frame. */
  refresh(): void {
    if (this.wanted) return;
    this.wanted = true;
    requestAnimationFrame((at) => this.frame(at));
  }

  seek(time: number): void {
    const scene = this.scene.value;
    if (!scene) return;
    const [from, to] = span(scene);
    this.time.value = Math.min(to, Math.max(from, time));
    this.refresh();
  }

  play(): void {
    const scene = this.scene.value;
    if (!scene) return;
    if (this.time.value >= span(scene)[1]) this.time.value = span(scene)[0];
    this.before = performance.now();
    this.playing.value = true;
    this.refresh();
  }

  pause(): void {
    this.playing.value = false;
  }

  toggle(): void {
    if (this.playing.value) this.pause();
    else this.play();
  }

  /** Has someone chosen a speed? */
  get chosen(): boolean {
    return this.speedChosen;
  }

  chooseSpeed(speed: number): void {
    this.speedChosen = true;
    this.speed.value = speed;
  }

  /** Goes to the next (+1) or previous (−1) impact. */
  step(by: 1 | -1): void {
    const scene = this.scene.value;
    if (!scene) return;
    this.pause();
    const now = this.time.value;
    const times = scene.jumps.map((j) => scene.time[j.knot]!);
    const found = by > 0 ? times.find((t) => t > now) : times.findLast((t) => t < now);
    this.seek(found ?? (by > 0 ? span(scene)[1] : span(scene)[0]));
  }

  /** Moves by a part of the whole motion, at least to the next knot. */
  nudge(part: number): void {
    const scene = this.scene.value;
    if (!scene) return;
    this.pause();
    const [from, to] = span(scene);
    const wanted = this.time.value + part * (to - from);
    const knot = indexAt(scene.time, wanted);
    this.seek(scene.time[knot] ?? wanted);
  }

  private frame(at: number): void {
    this.wanted = false;
    const began = performance.now();
    if (this.playing.value && this.scene.value) {
      // A hidden tab must not jump ahead when it comes back.
      const passed = Math.min(0.1, Math.max(0, (at - this.before) / 1000));
      this.before = at;
      const [, to] = span(this.scene.value);
      this.time.value = Math.min(to, this.time.value + passed * this.speed.value);
      if (this.time.value >= to) this.pause();
    }
    for (const draw of this.draws) draw(this.time.value);
    this.frames.push(performance.now() - began);
    if (this.frames.length > FRAMES) this.frames.shift();
    if (this.playing.value) this.refresh();
  }
}
