// Two signals against each other: the phase plane, and the Poincaré section of an event or of a wall.
//
// A section takes the state at each occurrence: for an event the recorded state, for a wall the side after its impact.

import uPlot from "uplot";
import type { Session } from "../app/session";
import type { Scene } from "../engine/protocol";
import { button, h, labelled } from "../layout/dom";
import { colour, readInk } from "../stage/ink";
import { instant, valueAt } from "../stage/scene";
import type { Plot } from "./plots";
import { columnOf, title, type Request } from "./signals";
import { axis } from "./time";

interface Acts {
  remove(): void;
  seek(time: number): void;
}

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
  private readonly legend = h("span", { class: "legend" });
  private readonly dot = h("div", { class: "now-dot" });
  private points: Points = { x: [], y: [], t: [], broken: [] };
  private ghost: Points | null = null;
  private scene: Scene | null = null;

  constructor(readonly request: Plane, private readonly width: number, private readonly session: Session, private readonly acts: Acts) {
    const words = request.kind === "section" ? `Section at ${request.event}` : "Phase plane";
    this.box = h("div", { class: "plot-canvas", role: "img", "aria-label": `${words}: ${request.y} over ${request.x}` });
    this.element = h("figure", { class: "plot" }, h("figcaption", {}, h("b", {}, words), this.legend, button(`Remove ${words}`, "close", acts.remove, { class: "remove" })), this.box);
  }

  private collect(scene: Scene): Points {
    const { request } = this;
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
      const value = (e: { position: Record<string, number | null>; velocity: Record<string, number | null> }, name: string): number => (name.endsWith("'") ? e.velocity[name.slice(0, -1)] : e.position[name]) ?? NaN;
      for (const e of this.session.shown.value?.reply.motion.events ?? []) if (e.name === request.event) add(value(e, request.x), value(e, request.y), e.time, true);
      return out;
    }
    const after = new Set(scene.jumps.map((j) => j.knot));
    for (let k = 0; k < scene.time.length; k++) add(cx.data[k]!, cy.data[k]!, scene.time[k]!, after.has(k));
    return out;
  }

  show(scene: Scene, ghost: Scene | null): void {
    this.scene = scene;
    this.points = this.collect(scene);
    this.ghost = ghost ? this.collect(ghost) : null;
    const { x, y } = this.points;
    const data = [null, [x, y]] as unknown as uPlot.AlignedData;
    if (this.plot) {
      this.plot.setData(data);
      return;
    }
    const ink = readInk();
    const [cx, cy] = [columnOf(scene, this.request.x)!, columnOf(scene, this.request.y)!];
    this.legend.replaceChildren(h("span", {}, labelled(cy.label), " over ", labelled(cx.label)));
    const range = (which: "x" | "y") => (): [number, number] => {
      const all = this.ghost ? this.points[which].concat(this.ghost[which]) : this.points[which];
      let [low, high] = [Infinity, -Infinity];
      for (const v of all) {
        low = Math.min(low, v);
        high = Math.max(high, v);
      }
      if (!(high >= low)) return [-1, 1];
      const pad = 0.06 * (high - low) || Math.max(1e-9, 0.1 * Math.abs(high)) || 1;
      return [low - pad, high + pad];
    };
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
          u.over.append(this.dot);
          u.over.addEventListener("click", (e) => this.seekNear(u, e.offsetX, e.offsetY));
        }],
      },
    }, data, this.box);
  }

  private paint(u: uPlot, ink: ReturnType<typeof readInk>): null {
    const c = u.ctx;
    const draw = (p: Points, alpha: number, width: number): void => {
      c.save();
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

  private seekNear(u: uPlot, x: number, y: number): void {
    let best = Infinity;
    let time = 0;
    this.points.x.forEach((v, i) => {
      const d = (u.valToPos(v, "x") - x) ** 2 + (u.valToPos(this.points.y[i]!, "y") - y) ** 2;
      if (d < best) [best, time] = [d, this.points.t[i]!];
    });
    if (best < 40 ** 2) this.acts.seek(time);
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
