// The pane of plots: a stack of plots that share their time, their zoom and their cursor.

import { Cell } from "../app/cell";
import type { Player } from "../app/player";
import type { Session, Shown } from "../app/session";
import type { Scene } from "../engine/protocol";
import { button, figure, h, labelled, menu } from "../layout/dom";
import { colour, readInk } from "../stage/ink";
import { indexAt, instant, jumpAt, span, valueAt } from "../stage/scene";
import { PlanePlot } from "./plane";
import { columnOf, defaults, groups, title, type Request } from "./signals";
import { TimePlot } from "./time";

/** Pixels at the sides of the list of plots. */
const MARGINS = 20;

/** One plot on the page. */
export interface Plot {
  element: HTMLElement;
  /** Shows a motion: its scene, its records, and a run to compare with. */
  show(scene: Scene, shown: Shown | null, ghost: Shown | null): void;
  mark(time: number): void;
  destroy(): void;
}

export class Plots {
  readonly element: HTMLElement;
  readonly requests = new Cell<Request[] | null>(null);
  /** The part of the time that is seen; null: all of it. */
  readonly zoomed = new Cell<[number, number] | null>(null);
  /** A run to compare with, drawn thin. */
  readonly ghost = new Cell<Shown | null>(null);
  private readonly list = h("div", { class: "plot-list" });
  private readonly readout = h("div", { class: "readout", "aria-live": "off" });
  private plots: Plot[] = [];
  private shape = "";
  private seen: [number, number] | null = null;
  /** The time under the pointer, if it is over a plot. */
  private pointed: number | null = null;

  constructor(private readonly session: Session, private readonly player: Player) {
    const add: HTMLButtonElement = button("Add a plot", null, () => menu(add, this.choices()), { class: "add", text: true, "aria-haspopup": "menu", "aria-expanded": "false" });
    const whole = button("Whole time", "zoom", () => this.zoom(null), { class: "whole" });
    this.list.addEventListener("keydown", (e) => this.key(e));
    this.zoomed.listen((range) => {
      for (const plot of this.plots) if (plot instanceof TimePlot) plot.zoom(range);
      this.element.classList.toggle("zoomed", range !== null);
      this.player.refresh();
    });
    this.element = h("div", { class: "plots" }, h("div", { class: "plot-tools" }, this.readout, whole, add), this.list);
    player.scene.listen(() => this.refresh());
    session.outline.listen(() => this.refresh());
    this.requests.listen(() => this.refresh());
    this.ghost.listen(() => this.refresh());
    player.onFrame((time) => {
      if (!this.element.offsetParent) return;
      for (const plot of this.plots) plot.mark(time);
      this.read(this.pointed ?? time);
    });
    new ResizeObserver(() => this.refresh()).observe(this.element);
  }

  recolour(): void {
    this.shape = "";
    this.refresh();
  }

  private coordinates(): string[] {
    return this.session.outline.value?.coordinates.map((c) => c.name) ?? [];
  }

  /** The plots that are wanted, of those that this motion can give. */
  private wanted(scene: Scene): Request[] {
    const has = (n: string): boolean => columnOf(scene, n) !== undefined;
    const asked = this.requests.value
      ?.map((r): Request => (r.kind === "time" ? { ...r, names: r.names.filter(has) } : r))
      .filter((r) => (r.kind === "time" ? r.names.length > 0 : has(r.x) && has(r.y)));
    return asked ?? defaults(scene, this.coordinates());
  }

  private refresh(): void {
    const scene = this.player.scene.value;
    if (!scene || !this.element.offsetParent) return;
    const wanted = this.wanted(scene);
    const width = this.list.clientWidth - MARGINS;
    const shape = JSON.stringify([wanted, width]);
    if (shape !== this.shape) {
      this.shape = shape;
      for (const plot of this.plots) plot.destroy();
      const columns = width > 760 ? 2 : 1;
      const each = Math.floor((width - 12 * (columns - 1)) / columns);
      this.plots = wanted.map((r, i) => this.make(r, i, each));
      this.list.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
      this.list.replaceChildren(...this.plots.map((p) => p.element));
    }
    const [from, to] = span(scene);
    // Another time has other parts.
    if (this.seen && (this.seen[0] !== from || this.seen[1] !== to)) this.zoomed.value = null;
    this.seen = [from, to];
    for (const plot of this.plots) {
      if (plot instanceof TimePlot) plot.zoom(this.zoomed.value);
      plot.show(scene, this.session.shown.value, this.ghost.value);
    }
    // Marks are placed with the next frame, when the plots know their scales.
    this.player.refresh();
  }

  private make(request: Request, index: number, width: number): Plot {
    const remove = (): void => {
      const scene = this.player.scene.value;
      if (scene) this.requests.value = this.wanted(scene).filter((_, i) => i !== index);
    };
    const seek = (t: number): void => { this.player.pause(); this.player.seek(t); };
    const point = (t: number | null): void => { this.pointed = t; this.player.refresh(); };
    if (request.kind === "time") return new TimePlot(request, width, { remove, seek, point, zoom: (range) => this.zoom(range) });
    const change = (other: Request): void => {
      const scene = this.player.scene.value;
      if (scene) this.requests.value = this.wanted(scene).map((r, i) => (i === index ? other : r));
    };
    return new PlanePlot(request, width, { remove, seek, point, change });
  }

  /** Shows a part of the time, within the whole; null: all of it. */
  zoom(range: [number, number] | null): void {
    const scene = this.player.scene.value;
    const [from, to] = scene ? span(scene) : [-Infinity, Infinity];
    const inside = range && ([Math.max(from, range[0]), Math.min(to, range[1])] as [number, number]);
    this.zoomed.value = inside && inside[0] < inside[1] && (inside[0] > from || inside[1] < to) ? inside : null;
  }

  /** Plus and minus look closer and wider around where the motion is; arrows move what is read, as everywhere. */
  private key(e: KeyboardEvent): void {
    const scene = this.player.scene.value;
    const by = { "+": 0.5, "=": 0.5, "-": 2 }[e.key];
    if (!scene || e.ctrlKey || e.metaKey || e.altKey || (e.target as HTMLElement).closest("select")) return;
    if (e.key === "0") this.zoom(null);
    else if (by) {
      const [from, to] = this.zoomed.value ?? span(scene);
      const now = Math.min(to, Math.max(from, this.player.time.value));
      this.zoom([now - (now - from) * by, now + (to - now) * by]);
    } else return;
    e.preventDefault();
  }

  /** What is seen, as `carom show --plot` says it; sections are of events there. */
  asked(): string[] {
    const scene = this.player.scene.value;
    const events = this.session.outline.value?.events ?? [];
    return (scene ? this.wanted(scene) : []).flatMap((r) => (r.kind === "time" ? [r.names.join(", ")] : r.kind === "plane" ? [`${r.y} vs ${r.x}`] : events.includes(r.event) ? [`${r.y} vs ${r.x} at ${r.event}`] : []));
  }

  /** Numbers at a time; at a jump, on both its sides. */
  private read(time: number): void {
    const scene = this.player.scene.value;
    if (!scene) return;
    const ink = readInkOnce();
    const at = instant(scene, time);
    const knot = indexAt(scene.time, time);
    const jump = scene.time[knot] === time ? jumpAt(scene, knot) : null;
    const cells: HTMLElement[] = [h("span", { class: "at" }, `t = ${figure(time, 6)}`)];
    const seen = new Set<string>();
    for (const plot of this.plots) {
      if (!(plot instanceof TimePlot)) continue;
      plot.request.names.forEach((name, i) => {
        const c = columnOf(scene, name);
        if (!c || seen.has(name) || cells.length > 8) return;
        seen.add(name);
        const value = jump ? `${figure(c.data[jump.knot - 1]!, 5)} → ${figure(c.data[jump.knot]!, 5)}` : figure(valueAt(c.data, at), 5);
        const name_ = labelled(c.label);
        name_.style.borderColor = colour(ink, i);
        cells.push(h("span", { title: title(c) }, name_, ` ${value}`));
      });
    }
    this.readout.replaceChildren(...cells);
  }

  private choices(): ([string, () => void] | null)[] {
    const scene = this.player.scene.value;
    if (!scene) return [];
    const add = (r: Request): void => { this.requests.value = [...this.wanted(scene), r]; };
    const out: ([string, () => void] | null)[] = [];
    const g = groups(scene, this.coordinates());
    for (const [name, names] of Object.entries(g)) if (names.length) out.push([name, () => add({ kind: "time", title: name, names: names.slice(0, 8) })]);
    out.push(null);
    for (const c of this.coordinates().slice(0, 6)) if (columnOf(scene, `${c}'`)) out.push([`Phase plane of ${c}`, () => add({ kind: "plane", x: c, y: `${c}'` })]);
    const [a, b] = this.coordinates();
    if (a && b) out.push([`${b} over ${a}`, () => add({ kind: "plane", x: a, y: b })]);
    const events = [...(this.session.outline.value?.events ?? []), ...(this.session.outline.value?.walls.map((w) => w.name) ?? [])];
    const first = this.coordinates()[0];
    if (first && events.length) out.push(null);
    for (const e of events.slice(0, 6)) if (first) out.push([`Poincaré section at ${e}`, () => add({ kind: "section", event: e, x: first, y: `${first}'` })]);
    out.push(null, ["Back to the first choice", () => { this.requests.value = null; }]);
    return out;
  }
}

let ink: ReturnType<typeof readInk> | null = null;
/** Colours are read once per theme; reading styles in every frame costs a layout. */
function readInkOnce(): ReturnType<typeof readInk> {
  if (!ink || ink.dark !== (document.documentElement.dataset["theme"] === "dark")) ink = readInk();
  return ink;
}
