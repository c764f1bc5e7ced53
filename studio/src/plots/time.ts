// Signals over time, by uPlot: drag to zoom, click to go there, a line where the animation is.

import uPlot from "uplot";
import type { Shown } from "../app/session";
import type { Scene } from "../engine/protocol";
import { button, h, labelled } from "../layout/dom";
import { colour, readInk } from "../stage/ink";
import { span } from "../stage/scene";
import type { Plot } from "./plots";
import { angleMarks, angleText, curves, roomy, title, type Curves, type Request } from "./signals";

interface Acts {
  remove(): void;
  seek(time: number): void;
  zoom(range: [number, number] | null): void;
  point(time: number | null): void;
}

/** Pixels within which the cursor is at a jump. */
const SNAP = 4;
const HEIGHT = 168;
const FONT = "11px system-ui, sans-serif";

/** A number as an axis shows it. */
export const axisText = (v: number): string => (Math.abs(v) >= 1e5 || (v !== 0 && Math.abs(v) < 1e-3) ? v.toExponential(1).replace(/\.0e/, "e") : String(Number(v.toPrecision(6)))).replace(/-/g, "−");

/** An axis in the page's colours; marks at parts of π where it shows angles. */
export function axis(angle: boolean, ink: ReturnType<typeof readInk>, size: number): uPlot.Axis {
  return {
    stroke: ink.muted,
    font: FONT,
    size,
    gap: 4,
    grid: { stroke: ink.grid, width: 1 },
    ticks: { stroke: ink.rule, width: 1, size: 4 },
    ...(angle ? { splits: (u: uPlot, i: number, low: number, high: number) => angleMarks(low, high) ?? (u.axes[i] ? plainMarks(low, high) : []), values: (_: uPlot, all: number[]) => all.map((v) => (Math.abs((4 * v) / Math.PI - Math.round((4 * v) / Math.PI)) < 1e-9 ? angleText(v) : axisText(v))) } : { values: (_: uPlot, all: number[]) => all.map((v) => (v === null ? "" : axisText(v))) }),
  };
}

function plainMarks(low: number, high: number): number[] {
  const raw = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) ?? raw;
  const out: number[] = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + 1e-9 * step && out.length < 50; n++) out.push(n * step);
  return out;
}

/** A curve that begins anew after each null: what uPlot's own paths join when the gap has no width. */
const broken: uPlot.Series.PathBuilder = (u, index, from, to) => {
  const path = new Path2D();
  const xs = u.data[0];
  const ys = u.data[index]!;
  let open = false;
  for (let i = Math.max(0, from - 1); i <= Math.min(xs.length - 1, to + 1); i++) {
    const y = ys[i];
    if (y === null || y === undefined) {
      open = false;
      continue;
    }
    const [px, py] = [u.valToPos(xs[i]!, "x", true), u.valToPos(y, "y", true)];
    if (open) path.lineTo(px, py);
    else path.moveTo(px, py);
    open = true;
  }
  return { stroke: path, fill: null, clip: null, band: null, gaps: null, flags: 1 } as unknown as uPlot.Series.Paths;
};

export class TimePlot implements Plot {
  readonly element: HTMLElement;
  private plot: uPlot | null = null;
  private readonly head: HTMLElement;
  private readonly box: HTMLElement;
  private readonly line = h("div", { class: "now-line" });
  private from = 0;
  private to = 1;
  private jumps: number[] = [];
  private zoomed: [number, number] | null = null;
  private key = "";
  /** The run it is compared with, if any. */
  private other: Curves | null = null;

  constructor(readonly request: Extract<Request, { kind: "time" }>, private readonly width: number, private readonly acts: Acts) {
    this.head = h("span", { class: "legend" });
    this.box = h("div", { class: "plot-canvas", role: "img", tabindex: 0, "aria-label": `${request.title} over time: ${request.names.join(", ")}` });
    this.element = h("figure", { class: "plot" }, h("figcaption", {}, h("b", {}, request.title), this.head, button(`Remove ${request.title}`, "close", acts.remove, { class: "remove" })), this.box);
  }

  show(scene: Scene, _: Shown | null, ghost: Shown | null): void {
    const own = curves(scene, this.request.names);
    const [from, to] = span(scene);
    [this.from, this.to] = [from, to];
    this.jumps = scene.jumps.map((j) => scene.time[j.knot]!);
    this.other = ghost?.reply.scene ? curves(ghost.reply.scene, this.request.names) : null;
    const data = [own.times, ...own.rows] as uPlot.AlignedData;
    const key = JSON.stringify(own.columns.map((c) => c.name));
    if (this.plot && key === this.key) {
      this.plot.setData(data, false);
      this.rescale();
      return;
    }
    this.key = key;
    this.plot?.destroy();
    const ink = readInk();
    this.head.replaceChildren(...own.columns.map((c, i) => {
      const s = h("span", { title: title(c) }, labelled(c.label), c.unit ? h("small", {}, ` ${c.unit}`) : null);
      s.style.borderColor = colour(ink, i);
      return s;
    }));
    const angle = own.columns.length > 0 && own.columns.every((c) => c.kind === "angle");
    const series: uPlot.Series[] = [{}];
    own.columns.forEach((_, i) => series.push({ stroke: colour(ink, i), width: 1.6, points: { show: false }, paths: broken }));
    this.plot = new uPlot({
      pxAlign: 0,
      width: this.width,
      height: HEIGHT,
      padding: [8, 14, 0, 0],
      legend: { show: false },
      cursor: { drag: { x: true, y: false, setScale: false }, sync: { key: "time" }, points: { size: 6 }, y: false },
      select: { show: true, left: 0, top: 0, width: 0, height: 0 },
      scales: { x: { time: false, range: (_, a, b) => roomy(a ?? 0, b ?? 1) }, y: { auto: true, range: (u, low, high) => this.withOther(u, low, high) } },
      axes: [axis(false, ink, 26), axis(angle, ink, 46)],
      series,
      hooks: {
        drawSeries: [(u, i) => { if (i === own.columns.length && this.other) this.paintOther(u, this.other, ink); }],
        setSelect: [(u) => {
          if (u.select.width < 5) return;
          this.acts.zoom([u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")]);
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        }],
        setCursor: [(u) => { if (u.cursor.event) this.acts.point(u.cursor.left === undefined || u.cursor.left < 0 ? null : this.timeAt(u, u.cursor.left)); }],
        ready: [(u) => {
          u.over.append(this.line);
          let down = 0;
          u.over.addEventListener("mousedown", (e) => (down = e.clientX));
          u.over.addEventListener("click", (e) => { if (Math.abs(e.clientX - down) < 4) this.acts.seek(this.timeAt(u, e.offsetX)); });
          u.over.addEventListener("dblclick", () => this.acts.zoom(null));
          u.over.addEventListener("mouseleave", () => this.acts.point(null));
          this.fingers(u);
        }],
      },
    }, data, this.box);
    this.rescale();
  }

  /** The time at a pixel; at a jump that is near, exactly its time, so that both its sides are read. */
  private timeAt(u: uPlot, x: number): number {
    let best = SNAP;
    let time = u.posToVal(x, "x");
    for (const t of this.jumps) {
      const distance = Math.abs(u.valToPos(t, "x") - x);
      if (distance < best) [best, time] = [distance, t];
    }
    return time;
  }

  /** One finger reads, two choose the part that is seen; up and down the page still scrolls. */
  private fingers(u: uPlot): void {
    const down = new Map<number, number>();
    let begun: { at: [number, number]; times: [number, number] } | null = null;
    const place = (e: PointerEvent): number => e.clientX - u.over.getBoundingClientRect().left;
    u.over.addEventListener("pointerdown", (e) => {
      if (e.pointerType !== "touch") return;
      down.set(e.pointerId, place(e));
      if (down.size !== 2) return;
      const [a, b] = [...down.values()].sort((p, q) => p - q) as [number, number];
      begun = { at: [a, b], times: [u.posToVal(a, "x"), u.posToVal(b, "x")] };
    });
    u.over.addEventListener("pointermove", (e) => {
      if (!down.has(e.pointerId)) return;
      down.set(e.pointerId, place(e));
      if (down.size === 1) {
        this.acts.point(this.timeAt(u, place(e)));
        return;
      }
      if (!begun || down.size !== 2) return;
      // The times that were under the fingers stay under them.
      const [a, b] = [...down.values()].sort((p, q) => p - q) as [number, number];
      const rate = (begun.times[1] - begun.times[0]) / Math.max(12, b - a);
      const from = begun.times[0] - a * rate;
      this.acts.zoom([from, from + u.over.clientWidth * rate]);
    });
    const up = (e: PointerEvent): void => {
      down.delete(e.pointerId);
      if (down.size < 2) begun = null;
      if (down.size === 0 && e.pointerType === "touch") this.acts.point(null);
    };
    u.over.addEventListener("pointerup", up);
    u.over.addEventListener("pointercancel", up);
  }

  /** A range that holds what is seen of both runs. */
  private withOther(u: uPlot, low: number | null, high: number | null): [number, number] {
    let [least, most] = [low ?? Infinity, high ?? -Infinity];
    const [from, to] = [u.scales["x"]?.min ?? -Infinity, u.scales["x"]?.max ?? Infinity];
    for (const row of this.other?.rows ?? [])
      row.forEach((v, k) => {
        if (v === null || this.other!.times[k]! < from || this.other!.times[k]! > to) return;
        least = Math.min(least, v);
        most = Math.max(most, v);
      });
    if (!(most >= least)) return [-1, 1];
    const [low_, high_] = roomy(least, most);
    const [a, b] = uPlot.rangeNum(low_, high_, 0.1, true);
    return roomy(a ?? low_, b ?? high_);
  }

  /** The other run, thin and dashed, with times of its own. */
  private paintOther(u: uPlot, other: Curves, ink: ReturnType<typeof readInk>): void {
    const c = u.ctx;
    c.save();
    c.beginPath();
    c.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    c.clip();
    c.lineWidth = devicePixelRatio;
    c.globalAlpha = 0.6;
    c.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
    other.rows.forEach((row, i) => {
      c.strokeStyle = colour(ink, i);
      c.beginPath();
      let open = false;
      row.forEach((v, k) => {
        if (v === null) {
          open = false;
          return;
        }
        const [x, y] = [u.valToPos(other.times[k]!, "x", true), u.valToPos(v, "y", true)];
        if (open) c.lineTo(x, y);
        else c.moveTo(x, y);
        open = true;
      });
      c.stroke();
    });
    c.restore();
  }

  /** The whole time. */
  get whole(): [number, number] {
    return [this.from, this.to];
  }

  zoom(range: [number, number] | null): void {
    this.zoomed = range;
    this.rescale();
  }

  private rescale(): void {
    const [min, max] = roomy(...(this.zoomed ?? [this.from, this.to]));
    this.plot?.setScale("x", { min, max });
  }

  mark(time: number): void {
    if (!this.plot) return;
    this.line.style.transform = `translateX(${this.plot.valToPos(time, "x")}px)`;
  }

  destroy(): void {
    this.plot?.destroy();
    this.plot = null;
  }
}
