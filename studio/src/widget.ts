// The studio's stage, time controls and sliders in a notebook: the front of carom's Python widget (an anywidget module).
//
// Python → page, traits: `model_text`, `sliders` [{name, kind, value, min, max}], `scene` (the data of an animation page, as
// JSON text or object), `plots` (requests as for `carom show --plot`), `error`, and `answered`, which counts answers. Page → Python,
// a message {type: "set", values: {name: number}}; Python simulates and sets `scene` again. One answer is awaited before the next
// question: a trait that is set to what it was says nothing, so the count tells, and where there is none, a while without an
// answer does.

import { Cell } from "./app/cell";
import { Player } from "./app/player";
import { still } from "./app/theme";
import type { Outline, Scene, Slider } from "./engine/protocol";
import { h } from "./layout/dom";
import { curves, columnOf } from "./plots/signals";
import { colour, readInk } from "./stage/ink";
import { plain, readScene, span, type PageData } from "./stage/scene";
import { Stage } from "./stage/stage";
import pageStyle from "./style/page.css?inline";
import partsStyle from "./style/parts.css?inline";
import { controls } from "./values/controls";
import { sliders, type SliderHost } from "./values/sliders";

/** What anywidget gives. */
interface WidgetModel {
  get(name: string): unknown;
  on(event: string, act: () => void): void;
  off?(event: string, act: () => void): void;
  send(content: unknown): void;
}

/** Milliseconds after which an unanswered question no longer holds back the next. */
const PATIENCE = 2000;
const OWN = `
:host { display: block; }
.widget { display: grid; grid-template-columns: minmax(0, 1fr) minmax(220px, 300px); gap: 0 12px; background: var(--paper); color: var(--ink); border: 1px solid var(--rule); border-radius: 12px; overflow: hidden; font: 14px/1.45 var(--sans); }
.widget .motion-body { height: 380px; grid-column: 1; }
.widget .side { overflow: auto; max-height: 380px; padding: 0 12px; border-left: 1px solid var(--grid); }
.widget .panels { grid-column: 1 / -1; border-top: 1px solid var(--grid); }
.widget .panels canvas { display: block; width: 100%; height: 130px; }
.widget .error { grid-column: 1 / -1; margin: 0; padding: 8px 14px; background: var(--bad-fill); color: var(--bad); white-space: pre-wrap; font-family: var(--mono); font-size: 12.5px; }
@media (max-width: 640px) { .widget { grid-template-columns: minmax(0, 1fr); } .widget .side { border-left: 0; } }
`;

function parsed(value: unknown): Scene | null {
  if (!value) return null;
  const page = (typeof value === "string" ? JSON.parse(value) : value) as PageData;
  return readScene(page);
}

/** Pixels of a panel's height. */
const HEIGHT = 130;

/** The pixel of a time, from the left. */
const across = (width: number, from: number, to: number, time: number): number => 14 + ((width - 28) * (time - from)) / (to - from || 1);

/** Signals over time, small and still but for the line where the animation is. */
class Panels {
  readonly element = h("div", { class: "panels" });
  private scene: Scene | null = null;
  private requests: string[] = [];
  private pictures: (OffscreenCanvas | undefined)[] = [];
  constructor(private readonly host: Element) {}

  show(scene: Scene | null, requests: unknown): void {
    this.scene = scene;
    this.pictures = [];
    const asked = Array.isArray(requests) ? requests.filter((r): r is string => typeof r === "string" && !r.includes(" vs ") && !r.startsWith("view")) : [];
    this.requests = asked.length ? asked : scene ? [scene.columns.slice(0, 3).map((c) => c.name).join(",")] : [];
    const labels = this.requests.map((r) => `${r} over time`);
    if ([...this.element.children].map((c) => c.getAttribute("aria-label")).join() !== labels.join()) this.element.replaceChildren(...labels.map((l) => h("canvas", { role: "img", "aria-label": l })));
  }

  /** Colours changed. */
  recolour(): void {
    this.pictures = [];
  }

  mark(time: number): void {
    const { scene } = this;
    if (!scene) return;
    const [from, to] = span(scene);
    const flash = readInk(this.host).flash;
    [...this.element.children].forEach((child, n) => {
      const canvas = child as HTMLCanvasElement;
      const width = canvas.clientWidth;
      if (!width) return;
      if (this.pictures[n]?.width !== 2 * width) {
        this.pictures[n] = this.picture(scene, n, width);
        canvas.width = 2 * width;
        canvas.height = 2 * HEIGHT;
      }
      const c = canvas.getContext("2d");
      if (!c) return;
      c.clearRect(0, 0, canvas.width, canvas.height);
      c.drawImage(this.pictures[n]!, 0, 0);
      c.fillStyle = flash;
      c.fillRect(2 * across(width, from, to, time) - 1.5, 40, 3, 2 * HEIGHT - 52);
    });
  }

  /** The curves of one panel, drawn once: only the line moves with time. */
  private picture(scene: Scene, n: number, width: number): OffscreenCanvas {
    const canvas = new OffscreenCanvas(2 * width, 2 * HEIGHT);
    const c = canvas.getContext("2d") as unknown as CanvasRenderingContext2D;
    const ink = readInk(this.host);
    const [from, to] = span(scene);
    c.setTransform(2, 0, 0, 2, 0, 0);
    const names = this.requests[n]!.split(",").map((s) => s.trim()).filter((s) => columnOf(scene, s));
    const { times, rows, columns } = curves(scene, names);
    let [low, high] = [Infinity, -Infinity];
    for (const row of rows) for (const v of row) if (v !== null) [low, high] = [Math.min(low, v), Math.max(high, v)];
    const y = (v: number): number => HEIGHT - 12 - ((HEIGHT - 36) * (v - low)) / (high - low || 1);
    let at = 16;
    rows.forEach((row, i) => {
      c.strokeStyle = c.fillStyle = colour(ink, i);
      c.lineWidth = 1.4;
      c.beginPath();
      let open = false;
      row.forEach((v, k) => {
        if (v !== null && open) c.lineTo(across(width, from, to, times[k]!), y(v));
        else if (v !== null) c.moveTo(across(width, from, to, times[k]!), y(v));
        open = v !== null;
      });
      c.stroke();
      c.font = "italic 12px system-ui, sans-serif";
      const words = plain(columns[i]!.label);
      c.fillText(words, at, 15);
      at += c.measureText(words).width + 18;
    });
    return canvas;
  }
}

function render({ model, el }: { model: WidgetModel; el: HTMLElement }): () => void {
  const host = h("div", {});
  const root = host.attachShadow({ mode: "open" });
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const shade = (): void => { host.dataset["theme"] = el.closest("[data-jp-theme-light]")?.getAttribute("data-jp-theme-light") === "false" || document.body.dataset["jpThemeLight"] === "false" || (document.body.dataset["jpThemeLight"] === undefined && dark.matches) ? "dark" : "light"; };
  shade();
  const style = document.createElement("style");
  style.textContent = (pageStyle + partsStyle).replaceAll(':root[data-theme="dark"]', ':host([data-theme="dark"])').replaceAll(":root", ":host").replace(/html, body[^}]*}/, "").replace(/(^|\n)body \{[^}]*\}/, "") + OWN;
  el.append(host);
  root.append(style);

  const player = new Player();
  const stage = new Stage(player, host);
  const panels = new Panels(host);
  const outline = new Cell<Outline | null>(null);
  const values = new Cell<Record<string, number>>({});
  const dragging = new Cell(false);
  let asked = -Infinity;
  let waiting: Record<string, number> | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const send = (): void => {
    clearTimeout(timer);
    if (!waiting) return;
    const left = asked + PATIENCE - performance.now();
    if (left > 0) {
      timer = setTimeout(send, left + 1);
      return;
    }
    asked = performance.now();
    model.send({ type: "set", values: waiting });
    waiting = null;
  };
  const answered = (): void => {
    asked = -Infinity;
    send();
  };
  const side: SliderHost = {
    outline, values, dragging,
    set(changes) {
      const first = (outline.value?.sliders ?? []) as Slider[];
      const next = { ...values.value };
      const told: Record<string, number> = { ...(waiting ?? {}) };
      for (const [name, value] of Object.entries(changes)) {
        if (value === null) delete next[name];
        else next[name] = value;
        told[name] = value ?? first.find((s) => s.name === name)?.value ?? 0;
      }
      values.value = next;
      waiting = told;
      send();
    },
  };
  dragging.listen((on) => stage.hold(on));

  const error = h("pre", { class: "error", hidden: true, role: "alert" });
  root.append(h("div", { class: "widget" }, error, h("div", { class: "motion-body" }, stage.element, controls(player)), h("div", { class: "side" }, sliders(side)), panels.element));

  let first = true;
  const scene = (): void => {
    let shown: Scene | null = null;
    try {
      shown = parsed(model.get("scene"));
    } catch (e) {
      error.textContent = `the scene cannot be read: ${String(e)}`;
      error.hidden = false;
    }
    if (shown) {
      player.show(shown, first);
      panels.show(shown, model.get("plots"));
      if (first && !still()) player.play();
      first = false;
    }
    answered();
  };
  const knobs = (): void => {
    const all = (model.get("sliders") as Partial<Slider>[] | undefined) ?? [];
    const full = all.map((s): Slider => ({ name: s.name ?? "", kind: s.kind ?? "parameter", value: s.value ?? 0, unit: s.unit ?? null, factor: s.factor ?? 1, min: s.min ?? -1, max: s.max ?? 1, step: 0, free: true, from: null, to: null, written: null }));
    outline.value = { ok: true, diagnostics: [], name: "", sliders: full, coordinates: [], walls: [], rows: [], events: [], outputs: [], bodies: [], tables: [], names: [], run: { from: 0, until: 1, samples: 1 }, hamiltonian: false };
  };
  const trouble = (): void => {
    const why = model.get("error");
    error.textContent = typeof why === "string" ? why : "";
    error.hidden = !error.textContent;
    if (why) answered();
  };
  player.onFrame((time) => panels.mark(time));
  const heard: [string, () => void][] = [["change:scene", scene], ["change:plots", scene], ["change:sliders", knobs], ["change:error", trouble], ["change:answered", answered]];
  for (const [event, act] of heard) model.on(event, act);
  const recolour = (): void => {
    shade();
    panels.recolour();
    stage.recolour();
  };
  dark.addEventListener("change", recolour);
  // A notebook has a theme of its own, which can be changed while it is open.
  const themed = new MutationObserver(recolour);
  themed.observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
  knobs();
  trouble();
  scene();
  return () => {
    player.pause();
    clearTimeout(timer);
    for (const [event, act] of heard) model.off?.(event, act);
    dark.removeEventListener("change", recolour);
    themed.disconnect();
  };
}

export default { render };
