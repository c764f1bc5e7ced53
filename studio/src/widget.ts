// The studio's stage, time controls and sliders in a notebook: the front of carom's Python widget (an anywidget module).
//
// Python → page, traits: `model_text`, `sliders` [{name, kind, value, min, max}], `scene` (the data of an animation page, as
// JSON text or object), `plots` (requests as for `carom show --plot`), `error`. Page → Python, a message {type: "set",
// values: {name: number}}; Python simulates and sets `scene` again. One answer is awaited before the next question.

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

/** Signals over time, small and still but for the line where the animation is. */
class Panels {
  readonly element = h("div", { class: "panels" });
  private scene: Scene | null = null;
  private requests: string[] = [];
  constructor(private readonly host: Element) {}

  show(scene: Scene | null, requests: unknown): void {
    this.scene = scene;
    const asked = Array.isArray(requests) ? requests.filter((r): r is string => typeof r === "string" && !r.includes(" vs ") && !r.startsWith("view")) : [];
    this.requests = asked.length ? asked : scene ? [scene.columns.slice(0, 3).map((c) => c.name).join(",")] : [];
    this.element.replaceChildren(...this.requests.map((r) => h("canvas", { role: "img", "aria-label": `${r} over time` })));
  }

  mark(time: number): void {
    const { scene } = this;
    if (!scene) return;
    const ink = readInk(this.host);
    const [from, to] = span(scene);
    [...this.element.children].forEach((child, n) => {
      const canvas = child as HTMLCanvasElement;
      const width = canvas.clientWidth;
      const height = 130;
      canvas.width = width * 2;
      canvas.height = height * 2;
      const c = canvas.getContext("2d");
      if (!c) return;
      c.setTransform(2, 0, 0, 2, 0, 0);
      const names = this.requests[n]!.split(",").map((s) => s.trim()).filter((s) => columnOf(scene, s));
      const { times, rows, columns } = curves(scene, names);
      const all = rows.flat().filter((v): v is number => v !== null);
      const low = all.reduce((a, b) => Math.min(a, b), Infinity);
      const high = all.reduce((a, b) => Math.max(a, b), -Infinity);
      const x = (t: number): number => 14 + ((width - 28) * (t - from)) / (to - from || 1);
      const y = (v: number): number => height - 12 - ((height - 36) * (v - low)) / (high - low || 1);
      rows.forEach((row, i) => {
        c.strokeStyle = colour(ink, i);
        c.lineWidth = 1.4;
        c.beginPath();
        let open = false;
        row.forEach((v, k) => {
          if (v === null) open = false;
          else {
            if (open) c.lineTo(x(times[k]!), y(v));
            else c.moveTo(x(times[k]!), y(v));
            open = true;
          }
        });
        c.stroke();
        c.fillStyle = colour(ink, i);
        c.font = "italic 12px system-ui, sans-serif";
        c.fillText(plain(columns[i]!.label), 16 + 70 * i, 15);
      });
      c.fillStyle = ink.flash;
      c.fillRect(x(time) - 0.75, 20, 1.5, height - 26);
    });
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
  const send = (): void => {
    if (!waiting || performance.now() - asked < PATIENCE) return;
    asked = performance.now();
    model.send({ type: "set", values: waiting });
    waiting = null;
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
    asked = -Infinity;
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
    send();
  };
  const knobs = (): void => {
    const all = (model.get("sliders") as Partial<Slider>[] | undefined) ?? [];
    const full = all.map((s): Slider => ({ name: s.name ?? "", kind: s.kind ?? "parameter", value: s.value ?? 0, unit: s.unit ?? null, min: s.min ?? -1, max: s.max ?? 1, step: 0, free: true, from: null, to: null }));
    outline.value = { ok: true, diagnostics: [], name: "", sliders: full, coordinates: [], walls: [], rows: [], events: [], outputs: [], bodies: [], tables: [], names: [], run: { from: 0, until: 1, samples: 1 }, hamiltonian: false };
  };
  const trouble = (): void => {
    const why = model.get("error");
    error.textContent = typeof why === "string" ? why : "";
    error.hidden = !error.textContent;
    if (why) asked = -Infinity;
  };
  player.onFrame((time) => panels.mark(time));
  model.on("change:scene", scene);
  model.on("change:plots", scene);
  model.on("change:sliders", knobs);
  model.on("change:error", trouble);
  const recolour = (): void => {
    shade();
    stage.recolour();
  };
  dark.addEventListener("change", recolour);
  knobs();
  trouble();
  scene();
  return () => {
    player.pause();
    dark.removeEventListener("change", recolour);
  };
}

export default { render };
