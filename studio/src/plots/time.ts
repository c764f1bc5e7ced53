// Signals over time, by uPlot: drag to zoom, click to go there, a line where the animation is.

import uPlot from "uplot";
import type { Scene } from "../engine/protocol";
import { button, h, labelled } from "../layout/dom";
import { colour, readInk } from "../stage/ink";
import { span } from "../stage/scene";
import type { Plot } from "./plots";
import { angleMarks, angleText, curves, title, type Curves, type Request } from "./signals";

interface Acts {
  remove(): void;
  seek(time: number): void;
  zoom(range: [number, number] | null): void;
  point(time: number | null): void;
}

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
  private zoomed: [number, number] | null = null;
  private key = "";
  /** The run it is compared with, if any. */
  private other: Curves | null = null;

  constructor(readonly request: Extract<Request, { kind: "time" }>, private readonly width: number, private readonly acts: Acts) {
    this.head = h("span", { class: "legend" });
    this.box = h("div", { class: "plot-canvas", role: "img", "aria-label": `${request.title} over time: ${request.names.join(", ")}` });
    this.element = h("figure", { class: "plot" }, h("figcaption", {}, h("b", {}, request.title), this.head, button(`Remove ${request.title}`, "close", acts.remove, { class: "remove" })), this.box);
  }

  show(scene: Scene, ghost: Scene | null): void {
    const own = curves(scene, this.request.names);
    const [from, to] = span(scene);
    if (from !== this.from || to !== this.to) this.zoomed = null;
    [this.from, this.to] = [from, to];
    this.other = ghost ? curves(ghost, this.request.names) : null;
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
      scales: { x: { time: false }, y: { auto: true } },
      axes: [axis(false, ink, 26), axis(angle, ink, 46)],
      series,
      hooks: {
        drawSeries: [(u, i) => { if (i === own.columns.length && this.other) this.paintOther(u, this.other, ink); }],
        setSelect: [(u) => {
          if (u.select.width < 5) return;
          this.acts.zoom([u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")]);
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        }],
        setCursor: [(u) => { if (u.cursor.event) this.acts.point(u.cursor.left === undefined || u.cursor.left < 0 ? null : u.posToVal(u.cursor.left, "x")); }],
        ready: [(u) => {
          u.over.append(this.line);
          let down = 0;
          u.over.addEventListener("mousedown", (e) => (down = e.clientX));
          u.over.addEventListener("click", (e) => { if (Math.abs(e.clientX - down) < 4) this.acts.seek(u.posToVal(e.offsetX, "x")); });
          u.over.addEventListener("dblclick", () => this.acts.zoom(null));
          u.over.addEventListener("mouseleave", () => this.acts.point(null));
        }],
      },
    }, data, this.box);
    this.rescale();
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

  zoom(range: [number, number] | null): void {
    this.zoomed = range;
    this.rescale();
  }

  private rescale(): void {
    const [min, max] = this.zoomed ?? [this.from, this.to];
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
