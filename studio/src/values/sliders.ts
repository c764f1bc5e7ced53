// A slider and a typed value for every parameter and every start value; each change simulates at once.

import type { Session } from "../app/session";
import type { Outline, Slider } from "../engine/protocol";
import { button, figure, h } from "../layout/dom";

const TITLES: Record<Slider["kind"], string> = { parameter: "Parameters", position: "Start positions", velocity: "Start velocities", momentum: "Start momenta" };
/** Parts of its range by which an arrow key moves a slider. */
const STEPS = 200;

interface Row {
  slider: Slider;
  range: HTMLInputElement;
  typed: HTMLInputElement;
  reset: HTMLButtonElement;
  element: HTMLElement;
}

/** Nice bounds that contain the value. */
function widened(s: Slider, value: number): [number, number] {
  return [Math.min(s.min, value), Math.max(s.max, value)];
}

/** A value as its field shows it; what is typed is taken with all its digits. */
const written = (value: number): string => String(Number(value.toPrecision(5)));

/** What sliders need of the page: the studio's session, or a notebook's widget. */
export type SliderHost = Pick<Session, "outline" | "values" | "set" | "dragging">;

/** The list of sliders. */
export function sliders(session: SliderHost): HTMLElement {
  const box = h("div", { class: "sliders" });
  let rows: Row[] = [];
  let shape = "";

  // A formula of other parameters has a slider only once it has been changed (by a wall that was dragged), so that it can be given back.
  const listed = (s: Slider): boolean => s.free || session.values.value[s.name] !== undefined;
  const build = (outline: Outline): void => {
    rows = [];
    const groups: HTMLElement[] = [];
    for (const kind of Object.keys(TITLES) as Slider["kind"][]) {
      const mine = outline.sliders.filter((s) => s.kind === kind && listed(s));
      if (!mine.length) continue;
      const made = mine.map((s) => row(session, s));
      rows.push(...made);
      groups.push(h("fieldset", {}, h("legend", {}, TITLES[kind]), ...made.map((r) => r.element)));
    }
    box.replaceChildren(...groups);
    if (!groups.length) box.append(h("p", { class: "quiet" }, "Nothing to change: the model has no free numbers."));
  };

  const refresh = (): void => {
    for (const r of rows) show(r, session.values.value[r.slider.name]);
  };

  const arrange = (): void => {
    const outline = session.outline.value;
    if (!outline) return;
    const now = JSON.stringify(outline.sliders.filter(listed).map((s) => [s.name, s.kind, s.unit, s.factor]));
    if (now !== shape) {
      shape = now;
      build(outline);
    } else for (const r of rows) r.slider = outline.sliders.find((s) => s.name === r.slider.name && s.kind === r.slider.kind) ?? r.slider;
    refresh();
  };
  session.outline.listen(arrange);
  session.values.listen(arrange);
  return box;
}

/** What has the focus in the tree of an element, which may be a shadow root's. */
const active = (element: HTMLElement): Element | null => (element.getRootNode() as Document | ShadowRoot).activeElement ?? null;

function show(r: Row, changed: number | undefined): void {
  const { factor } = r.slider;
  const value = (changed ?? r.slider.value ?? 0) / factor;
  const [min, max] = widened(r.slider, value * factor).map((v) => v / factor) as [number, number];
  if (active(r.range) !== r.range || Number(r.range.value) !== value) {
    r.range.min = String(min);
    r.range.max = String(max);
    r.range.step = "any";
    r.range.value = String(value);
  }
  if (active(r.typed) !== r.typed) r.typed.value = written(value);
  r.reset.disabled = changed === undefined;
  r.element.classList.toggle("changed", changed !== undefined);
  r.range.setAttribute("aria-valuetext", `${figure(value)}${r.slider.unit ? ` ${r.slider.unit}` : ""}`);
  r.range.style.setProperty("--part", `${(100 * (value - min)) / (max - min || 1)}%`);
}

/** `theta1'` as people read it. */
function title(name: string): HTMLElement {
  const m = /^(p_[^'0-9_]+|[^'0-9_]+)_?([^']*)('*)$/u.exec(name);
  const greek: Record<string, string> = { alpha: "α", beta: "β", gamma: "γ", delta: "δ", epsilon: "ε", zeta: "ζ", eta: "η", theta: "θ", kappa: "κ", lambda: "λ", mu: "μ", nu: "ν", xi: "ξ", rho: "ρ", sigma: "σ", tau: "τ", phi: "φ", chi: "χ", psi: "ψ", omega: "ω", Omega: "Ω", Phi: "Φ", Delta: "Δ" };
  if (!m) return h("span", { class: "symbol" }, name);
  const letter = greek[m[1]!] ?? m[1]!.replace(/^p_(.*)$/, (_, c: string) => `p ${greek[c] ?? c}`);
  return h("span", { class: "symbol" }, h("i", { class: m[3] ? "dotted" : null }, letter), m[2] ? h("sub", {}, m[2]) : null);
}

function row(session: SliderHost, slider: Slider): Row {
  const { name } = slider;
  const range = h("input", { type: "range", step: "any", "aria-label": name });
  const typed = h("input", { type: "text", inputmode: "decimal", class: "typed", "aria-label": `${name}, typed`, autocomplete: "off", spellcheck: "false" });
  const reset = button(`Reset ${name}`, "reset", () => session.set({ [name]: null }), { class: "reset" });
  const element = h("div", { class: "slider", "data-name": name }, h("span", { class: "name", title: name }, title(name), slider.unit ? h("small", {}, ` ${slider.unit}`) : null), range, typed, reset);
  const made: Row = { slider, range, typed, reset, element };

  // Fields and sliders hold what people read; the session holds what the model computes in.
  const read = (): number => (session.values.value[name] ?? made.slider.value ?? NaN) / made.slider.factor;
  const change = (shown: number): void => session.set({ [name]: shown * made.slider.factor });
  range.addEventListener("input", () => change(Number(Number(range.value).toPrecision(5))));
  range.addEventListener("keydown", (e) => {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[e.key];
    if (!by) return;
    e.preventDefault();
    const step = (Number(range.max) - Number(range.min)) / STEPS;
    const value = Number(range.value) + by * step * (e.shiftKey ? 0.1 : 1);
    change(Number(Math.min(Number(range.max), Math.max(Number(range.min), value)).toPrecision(6)));
  });
  range.addEventListener("pointerdown", () => {
    session.dragging.value = true;
    const done = (): void => {
      session.dragging.value = false;
      removeEventListener("pointerup", done);
      removeEventListener("pointercancel", done);
    };
    addEventListener("pointerup", done);
    addEventListener("pointercancel", done);
  });
  const take = (): void => {
    const value = Number(typed.value.replace("−", "-").replace(",", "."));
    const ok = typed.value.trim() !== "" && Number.isFinite(value);
    typed.setAttribute("aria-invalid", String(!ok));
    if (ok && typed.value !== written(read())) change(value);
  };
  typed.addEventListener("change", take);
  typed.addEventListener("keydown", (e) => {
    if (e.key === "Enter") take();
    if (e.key === "Escape") {
      typed.value = written(read() || 0);
      typed.setAttribute("aria-invalid", "false");
    }
  });
  typed.addEventListener("blur", () => { take(); show(made, session.values.value[name]); });
  return made;
}
