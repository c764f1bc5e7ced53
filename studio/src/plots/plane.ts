// Two signals against each other: the phase plane, and the Poincaré section of an event or of a wall.
//
// A section takes the state at each occurrence: for an event the recorded state, for a wall the side after its impact. Drag a
// box to look closer, double-click for the whole; the pointer on a curve reads its values.

import uPlot from "uplot";
import type { Shown } from "../app/session";
import type { EventRecord, Scene } from "../engine/protocol";
import { button, h } from "../layout/dom";
import { colour, readInk } from "../stage/ink";
import { instant, valueAt } from "../stage/scene";
import type { Plot } from "./plots";
import { columnOf, roomy, title, type Request } from "./signals";
import { axis } from "./time";

interface Acts {
  remove(): void;
  seek(time: number): void;
  /** The pointer is where the motion is at this time; null: nowhere. */
  point(time: number | null): void;
  /** Other axes. */
  change(request: Request): void;
}

type Range = [number, number];

type Plane = Extract<Request, { kind: "plane" | "section" }>;
interface Points {
  x: number[];
  y: number[];
  /** Time of each point. */
  t: number[];
  /** Does the curve begin anew at this point? */
  broken: boolean[];
}

const HEIGHT = 220;

export class PlanePlot implements Plot {
  readonly element: HTMLElement;
  private plot: uPlot | null = null;
  private readonly box: HTMLElement;
  private readonly axes: Record<"x" | "y", HTMLSelectElement>;
  private readonly chosen = h("div", { class: "chosen", hidden: true });
  private readonly dot = h("div", { class: "now-dot" });
  private points: Points = { x: [], y: [], t: [], broken: [] };
  private ghost: Points | null = null;
  private scene: Scene | null = null;
  private zoomed: { x: Range; y: Range } | null = null;

  constructor(readonly request: Plane, private readonly width: number, private readonly acts: Acts) {
    const words = request.kind === "section" ? `Section at ${request.event}` : request.y === `${request.x}'` ? "Phase plane" : "Plane";
    const select = (which: "x" | "y"): HTMLSelectElement => {
      const made = h("select", { class: "axis", "aria-label": `${words}: ${which === "x" ? "across" : "upwards"}` });
      made.addEventListener("change", () => acts.change({ ...request, [which]: made.value }));
      return made;
    };
    this.axes = { x: select("x"), y: select("y") };
    this.box = h("div", { class: "plot-canvas", role: "img", "aria-label": `${words}: ${request.y} over ${request.x}` });
    this.element = h("figure", { class: "plot" }, h("figcaption", {}, h("b", {}, words), h("span", { class: "legend axes" }, this.axes.y, h("span", {}, "over"), this.axes.x), button(`Remove ${words}`, "close", acts.remove, { class: "remove" })), this.box);
  }

  private collect(scene: Scene, shown: Shown | null): Points {
    const { request } = this;
    const events = shown?.reply.motion.events ?? [];
    const out: Points = { x: [], y: [], t: [], broken: [] };
    const [cx, cy] = [columnOf(scene, request.x), columnOf(scene, request.y)];
    if (!cx || !cy) return out;
    const add = (x: number, y: number, t: number, broken: boolean): void => {
      if (!Number.isFinite(x) || !Number.isFinite(y)) return;
      out.x.push(x);
      out.y.push(y);
      out.t.push(t);
      out.broken.push(broken);
    };
    if (request.kind === "section") {
      for (const j of scene.jumps) if (j.walls.includes(request.event)) add(cx.data[j.knot]!, cy.data[j.knot]!, scene.time[j.knot]!, true);
      // Records are in the units the model computes in, curves in those that people read.
      const factor = (name: string): number => shown?.reply.columns.find((c) => c.name === name)?.factor ?? 1;
      const value = (e: EventRecord, name: string): number => ((name.endsWith("'") ? e.velocity[name.slice(0, -1)] : e.position[name]) ?? NaN) / factor(name);
      for (const e of events) if (e.name === request.event) add(value(e, request.x), value(e, request.y), e.time, true);
      return out;
    }
    const after = new Set(scene.jumps.map((j) => j.knot));
    for (let k = 0; k < scene.time.length; k++) add(cx.data[k]!, cy.data[k]!, scene.time[k]!, after.has(k));
    return out;
  }

  show(scene: Scene, shown: Shown | null, ghost: Shown | null): void {
    this.scene = scene;
    this.points = this.collect(scene, shown);
    this.ghost = ghost?.reply.scene ? this.collect(ghost.reply.scene, ghost) : null;
    const { x, y } = this.points;
    const data = [null, [x, y]] as unknown as uPlot.AlignedData;
    if (this.plot) {
      this.plot.setData(data);
      return;
    }
    const ink = readInk();
    const [cx, cy] = [columnOf(scene, this.request.x)!, columnOf(scene, this.request.y)!];
    this.choices(scene, shown?.reply.motion.events ?? []);
    const range = (which: "x" | "y") => (): Range => roomy(...(this.zoomed?.[which] ?? this.whole(which)));
    this.plot = new uPlot({
      mode: 2,
      width: this.width,
      height: HEIGHT,
      padding: [8, 14, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { time: false, range: range("x") }, y: { range: range("y") } },
      axes: [{ ...axis(cx.kind === "angle", ink, 30), label: title(cx), labelSize: 16, labelFont: "12px system-ui, sans-serif", labelGap: 0 }, { ...axis(cy.kind === "angle", ink, 46), label: title(cy), labelSize: 16, labelFont: "12px system-ui, sans-serif", labelGap: 0 }],
      series: [{}, { facets: [{ scale: "x", auto: true }, { scale: "y", auto: true }], paths: (u: uPlot) => this.paint(u, ink) } as unknown as uPlot.Series],
      hooks: {
        ready: [(u) => {
          u.over.append(this.dot, this.chosen);
          this.listen(u);
        }],
      },
    }, data, this.box);
  }

  /** Signals for both axes; of an event only positions and velocities are recorded. */
  private choices(scene: Scene, events: EventRecord[]): void {
    const { request } = this;
    const event = request.kind === "section" ? events.find((e) => e.name === request.event) : undefined;
    const recorded = (name: string): boolean => !event || (name.endsWith("'") ? name.slice(0, -1) in event.velocity : name in event.position);
    for (const which of ["x", "y"] as const)
      this.axes[which].replaceChildren(...scene.columns.filter((c) => recorded(c.name) || c.name === request[which]).map((c) => new Option(title(c), c.name, false, c.name === request[which])));
  }

  /** A range that holds all points, with some room. */
  private whole(which: "x" | "y"): Range {
    let [low, high] = [Infinity, -Infinity];
    for (const values of [this.points[which], this.ghost?.[which] ?? []])
      for (const v of values) {
        low = Math.min(low, v);
        high = Math.max(high, v);
      }
    if (!(high >= low)) return [-1, 1];
    const pad = 0.06 * (high - low) || Math.max(1e-9, 0.1 * Math.abs(high)) || 1;
    return [low - pad, high + pad];
  }

  /** A box that is dragged is looked at closer; a click goes to the nearest point; the pointer reads it. */
  private listen(u: uPlot): void {
    const { over } = u;
    const { style } = this.chosen;
    let from: [number, number] | null = null;
    const place = (e: PointerEvent): [number, number] => {
      const box = over.getBoundingClientRect();
      return [Math.min(box.width, Math.max(0, e.clientX - box.left)), Math.min(box.height, Math.max(0, e.clientY - box.top))];
    };
    over.addEventListener("pointerdown", (e) => {
      if (!e.isPrimary || e.button !== 0 || e.pointerType === "touch") return;
      from = place(e);
      over.setPointerCapture(e.pointerId);
    });
    over.addEventListener("pointermove", (e) => {
      const [x, y] = place(e);
      if (!from) {
        this.acts.point(this.nearest(u, x, y));
        return;
      }
      this.chosen.hidden = false;
      style.left = `${Math.min(x, from[0])}px`;
      style.top = `${Math.min(y, from[1])}px`;
      style.width = `${Math.abs(x - from[0])}px`;
      style.height = `${Math.abs(y - from[1])}px`;
    });
    over.addEventListener("pointerup", (e) => {
      const [x, y] = place(e);
      const [x0, y0] = from ?? [x, y];
      from = null;
      this.chosen.hidden = true;
      if (Math.abs(x - x0) > 6 && Math.abs(y - y0) > 6) {
        const ends = (a: number, b: number, scale: "x" | "y"): Range => { const [p, q] = [u.posToVal(a, scale), u.posToVal(b, scale)]; return p < q ? [p, q] : [q, p]; };
        this.zoom({ x: ends(x0, x, "x"), y: ends(y0, y, "y") });
      } else if (Math.abs(x - x0) < 4 && Math.abs(y - y0) < 4) {
        const time = this.nearest(u, x, y);
        if (time !== null) this.acts.seek(time);
      }
    });
    over.addEventListener("pointercancel", () => { from = null; this.chosen.hidden = true; });
    over.addEventListener("pointerleave", () => this.acts.point(null));
    over.addEventListener("dblclick", () => this.zoom(null));
  }

  private zoom(range: { x: Range; y: Range } | null): void {
    this.zoomed = range;
    this.plot?.redraw(true, true);
    this.plot?.setData(this.plot.data);
    this.acts.point(null);
  }

  private paint(u: uPlot, ink: ReturnType<typeof readInk>): null {
    const c = u.ctx;
    const draw = (p: Points, alpha: number, width: number): void => {
      c.save();
      c.beginPath();
      c.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
      c.clip();
      c.globalAlpha = alpha;
      c.strokeStyle = c.fillStyle = colour(ink, 0);
      c.lineWidth = width * devicePixelRatio;
      c.lineJoin = "round";
      c.beginPath();
      for (let i = 0; i < p.x.length; i++) {
        const [x, y] = [u.valToPos(p.x[i]!, "x", true), u.valToPos(p.y[i]!, "y", true)];
        if (this.request.kind === "section") {
          c.moveTo(x + 2.5 * devicePixelRatio, y);
          c.arc(x, y, 2.5 * devicePixelRatio, 0, 2 * Math.PI);
        } else if (i === 0 || p.broken[i]) c.moveTo(x, y);
        else c.lineTo(x, y);
      }
      if (this.request.kind === "section") c.fill();
      else c.stroke();
      c.restore();
    };
    if (this.ghost) draw(this.ghost, 0.35, 1);
    draw(this.points, 0.9, 1.3);
    return null;
  }

  /** The time of the point that is nearest to a pixel, if one is near. */
  private nearest(u: uPlot, x: number, y: number): number | null {
    let best = 40 ** 2;
    let time: number | null = null;
    this.points.x.forEach((v, i) => {
      const d = (u.valToPos(v, "x") - x) ** 2 + (u.valToPos(this.points.y[i]!, "y") - y) ** 2;
      if (d < best) [best, time] = [d, this.points.t[i]!];
    });
    return time;
  }

  mark(time: number): void {
    const { plot, scene } = this;
    if (!plot || !scene || this.request.kind === "section") {
      this.dot.hidden = true;
      return;
    }
    const at = instant(scene, time);
    const x = plot.valToPos(valueAt(columnOf(scene, this.request.x)!.data, at), "x");
    const y = plot.valToPos(valueAt(columnOf(scene, this.request.y)!.data, at), "y");
    this.dot.style.transform = `translate(${x}px, ${y}px)`;
  }

  destroy(): void {
    this.plot?.destroy();
    this.plot = null;
  }
}
