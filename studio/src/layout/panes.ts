// Five panes in columns: text, mathematics, motion, plots, values. Each can be resized, hidden, moved and seen alone.
//
// On a narrow screen one pane fills the page and a bar at the bottom chooses which.

import { Cell } from "../app/cell";
import { button, h, menu } from "./dom";

export const PANES = ["text", "mathematics", "motion", "plots", "values"] as const;
export type PaneName = (typeof PANES)[number];

/** Which pane is where and how large: columns from left to right, panes in each from top to bottom. */
export interface Layout {
  columns: { size: number; panes: { name: PaneName; size: number }[] }[];
  hidden: PaneName[];
}

const TITLES: Record<PaneName, string> = { text: "Text", mathematics: "Mathematics", motion: "Motion", plots: "Plots", values: "Values" };
/** Part of the page by which an arrow key moves a border. */
const STEP = 0.02;
/** No pane is dragged smaller than this part. */
const LEAST = 0.1;

/** Shares that sum to less than one would leave room empty; a hundred times as much never does. */
const grow = (size: number): string => String(100 * size);

export const FIRST: Layout = {
  columns: [
    { size: 0.34, panes: [{ name: "text", size: 0.55 }, { name: "mathematics", size: 0.45 }] },
    { size: 0.44, panes: [{ name: "motion", size: 0.56 }, { name: "plots", size: 0.44 }] },
    { size: 0.22, panes: [{ name: "values", size: 1 }] },
  ],
  hidden: [],
};

/** Is this a layout, with every pane once and one to be seen? Links may hold anything. */
export function isLayout(value: unknown): value is Layout {
  const v = value as Layout;
  if (!v || !Array.isArray(v.columns) || v.columns.length > 5 || !Array.isArray(v.hidden) || !v.hidden.every((n) => PANES.includes(n)) || new Set(v.hidden).size >= PANES.length) return false;
  const size = (n: unknown): boolean => typeof n === "number" && n >= 0.01 && n <= 1;
  const names = v.columns.flatMap((c) => (c && size(c.size) && Array.isArray(c.panes) ? c.panes : [])).map((p) => (p && size(p.size) ? p.name : ("" as PaneName)));
  return names.length === PANES.length && PANES.every((n) => names.includes(n));
}

export class Panes {
  readonly element = h("main", { class: "panes" });
  readonly tabs = h("nav", { class: "tabs", "aria-label": "Panes" });
  readonly layout = new Cell<Layout>(structuredClone(FIRST));
  /** The pane on a narrow screen. */
  readonly front = new Cell<PaneName>("motion");
  /** The pane that is seen alone on a wide one. */
  private readonly alone = new Cell<PaneName | null>(null);
  private readonly panes = new Map<PaneName, HTMLElement>();

  constructor(contents: Record<PaneName, { body: HTMLElement; tools?: HTMLElement[] }>) {
    for (const name of PANES) {
      const { body, tools = [] } = contents[name];
      const more: HTMLButtonElement = button(`Arrange ${TITLES[name]}`, "more", () => menu(more, this.choices(name)), { class: "more", "aria-haspopup": "menu", "aria-expanded": "false" });
      this.panes.set(name, h("section", { class: `pane pane-${name}`, "aria-label": TITLES[name], "data-pane": name }, h("header", {}, h("h2", {}, TITLES[name]), h("div", { class: "tools" }, ...tools, more)), h("div", { class: "body" }, body)));
      this.tabs.append(button(name === "mathematics" ? "Maths" : TITLES[name], null, () => { this.front.value = name; }, { "data-tab": name, text: true }));
    }
    this.layout.watch(() => this.arrange());
    this.alone.listen(() => this.arrange());
    this.front.watch((front) => {
      this.element.dataset["front"] = front;
      for (const tab of this.tabs.querySelectorAll("button")) tab.setAttribute("aria-pressed", String(tab.dataset["tab"] === front));
    });
  }

  hidden(name: PaneName): boolean {
    return this.layout.value.hidden.includes(name);
  }

  toggle(name: PaneName, shown = this.hidden(name)): void {
    const hidden = this.layout.value.hidden.filter((n) => n !== name);
    if (!shown) hidden.push(name);
    this.alone.value = null;
    this.layout.value = { ...this.layout.value, hidden };
  }

  private choices(name: PaneName): ([string, () => void] | null)[] {
    const { columns, hidden } = this.layout.value;
    const c = columns.findIndex((col) => col.panes.some((p) => p.name === name));
    const r = columns[c]!.panes.findIndex((p) => p.name === name);
    const out: ([string, () => void] | null)[] = [];
    if (this.alone.value) out.push(["Show all panes", () => { this.alone.value = null; }]);
    else out.push(["Show alone", () => { this.alone.value = name; }]);
    if (hidden.length < PANES.length - 1) out.push(["Hide", () => this.toggle(name, false)]);
    for (const other of hidden) out.push([`Show ${TITLES[other]}`, () => this.toggle(other, true)]);
    out.push(null);
    if (r > 0) out.push(["Move up", () => this.move(name, c, r - 1)]);
    if (r + 1 < columns[c]!.panes.length) out.push(["Move down", () => this.move(name, c, r + 1)]);
    if (c > 0) out.push(["Move left", () => this.move(name, c - 1, 0)]);
    if (c + 1 < columns.length || columns[c]!.panes.length > 1) out.push(["Move right", () => this.move(name, c + 1, 0)]);
    out.push(null, ["First arrangement", () => { this.alone.value = null; this.layout.value = structuredClone(FIRST); }]);
    return out;
  }

  private move(name: PaneName, column: number, row: number): void {
    const layout = structuredClone(this.layout.value);
    for (const c of layout.columns) c.panes = c.panes.filter((p) => p.name !== name);
    if (!layout.columns[column]) layout.columns.push({ size: 0.25, panes: [] });
    layout.columns[column]!.panes.splice(row, 0, { name, size: 0.5 });
    layout.columns = layout.columns.filter((c) => c.panes.length);
    this.layout.value = layout;
    this.panes.get(name)?.querySelector<HTMLElement>(".more")?.focus();
  }

  private arrange(): void {
    const { columns, hidden } = this.layout.value;
    const alone = this.alone.value;
    const seen = (name: PaneName): boolean => (alone ? name === alone : !hidden.includes(name));
    const made: HTMLElement[] = [];
    const kept = columns.map((c) => ({ column: c, panes: c.panes.filter((p) => seen(p.name)) })).filter((c) => c.panes.length);
    kept.forEach(({ column, panes }, i) => {
      const box = h("div", { class: "column" });
      box.style.flexGrow = grow(column.size);
      panes.forEach((p, k) => {
        const pane = this.panes.get(p.name)!;
        pane.style.flexGrow = grow(p.size);
        if (k) box.append(this.border("horizontal", panes[k - 1]!, p, box));
        box.append(pane);
      });
      if (i) made.push(this.border("vertical", kept[i - 1]!.column, column, this.element));
      made.push(box);
    });
    // Hidden panes stay in the page, so that on a phone the bar can still bring them to the front.
    const store = h("div", { class: "column store" }, ...PANES.filter((n) => !seen(n)).map((n) => this.panes.get(n)!));
    this.element.classList.toggle("alone", alone !== null);
    this.element.replaceChildren(...made, store);
  }

  /** What is dragged, or moved with arrow keys, to give one side more room. */
  private border(orientation: "vertical" | "horizontal", before: { size: number }, after: { size: number }, within: HTMLElement): HTMLElement {
    const bar = h("div", { class: `border ${orientation}`, role: "separator", tabindex: 0, "aria-orientation": orientation, "aria-label": orientation === "vertical" ? "Width of columns" : "Height of panes", "aria-valuemin": 0, "aria-valuemax": 100 });
    const both = before.size + after.size;
    const set = (part: number, keep: boolean): void => {
      const size = Math.min(1 - LEAST, Math.max(LEAST, part)) * both;
      before.size = size;
      after.size = both - size;
      bar.setAttribute("aria-valuenow", String(Math.round((100 * size) / both)));
      (bar.previousElementSibling as HTMLElement | null)?.style.setProperty("flex-grow", grow(before.size));
      (bar.nextElementSibling as HTMLElement | null)?.style.setProperty("flex-grow", grow(after.size));
      if (keep) this.onResize();
    };
    bar.setAttribute("aria-valuenow", String(Math.round((100 * before.size) / both)));
    bar.addEventListener("pointerdown", (e) => {
      bar.setPointerCapture(e.pointerId);
      e.preventDefault();
      bar.focus();
    });
    bar.addEventListener("pointermove", (e) => {
      if (!bar.hasPointerCapture(e.pointerId)) return;
      const a = (bar.previousElementSibling as HTMLElement).getBoundingClientRect();
      const b = (bar.nextElementSibling as HTMLElement).getBoundingClientRect();
      set(orientation === "vertical" ? (e.clientX - a.left) / (b.right - a.left) : (e.clientY - a.top) / (b.bottom - a.top), false);
    });
    bar.addEventListener("pointerup", () => this.onResize());
    bar.addEventListener("keydown", (e) => {
      const by = { ArrowLeft: -STEP, ArrowUp: -STEP, ArrowRight: STEP, ArrowDown: STEP }[e.key];
      if (!by) return;
      e.preventDefault();
      e.stopPropagation();
      set(before.size / both + (by * within.clientWidth) / Math.max(1, within.clientWidth), true);
    });
    return bar;
  }

  /** Called when a border has been moved. */
  onResize: () => void = () => {};
}
