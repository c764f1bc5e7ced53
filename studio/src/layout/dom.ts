// Elements in one line each. Text is always text: nothing that a model says is ever read as markup.

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: never) => void)>;

/** An element with attributes, listeners (`onclick`) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else if (name === "class") element.className = String(value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((c): c is Node | string => c !== null && c !== undefined && c !== false));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/** Strokes of the small pictures on buttons, in a square of 24. */
const ICONS = {
  play: "M8 5l11 7-11 7z",
  pause: "M8 5v14M16 5v14",
  next: "M5 6l8 6-8 6zM18 5v14",
  previous: "M19 6l-8 6 8 6zM6 5v14",
  start: "M18 6l-8 6 8 6zM6 6v12",
  share: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  gallery: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
  tour: "M4 6l8-3 8 3-8 3zM7 8v6c3 2 7 2 10 0V8M20 6v7",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  theme: "M12 4a8 8 0 1 0 8 8 6 6 0 0 1-8-8z",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  close: "M6 6l12 12M18 6L6 18",
  fold: "M6 9l6 6 6-6",
  unfold: "M6 15l6-6 6 6",
  reset: "M5 5v5h5M5.5 10A7 7 0 1 1 5 14",
  ghost: "M6 20V11a6 6 0 0 1 12 0v9l-3-2-3 2-3-2zM10 11h.01M14 11h.01",
  compare: "M12 4v16M5 8h4M5 12h4M5 16h4M15 8h4M15 12h4M15 16h4",
  cloud: "M6 8h.01M9 14h.01M12 6h.01M15 11h.01M18 16h.01M7 18h.01M13 17h.01M18 7h.01M11 10h.01",
  record: "M12 7a5 5 0 1 0 0 10 5 5 0 0 0 0-10z",
  zoom: "M11 5a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM16 16l4 4",
  copy: "M8 8h11v12H8zM5 16V4h10",
  check: "M5 13l4 4L19 7",
  warn: "M12 4l9 16H3zM12 10v5M12 17.5h.01",
  wide: "M4 9V4h5M20 15v5h-5M4 4l6 6M20 20l-6-6",
} as const;

export type Icon = keyof typeof ICONS;

/** A small picture that says nothing to a screen reader. */
export function icon(name: Icon): SVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", `icon icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/** A button with a picture and a name; the name is seen where `text` is set. */
export function button(name: string, picture: Icon | null, act: (event: MouseEvent) => void, attributes: Attributes & { text?: boolean } = {}): HTMLButtonElement {
  const { text, ...rest } = attributes;
  const b = h("button", { type: "button", title: text ? null : name, "aria-label": text ? null : name, ...rest }, picture && icon(picture), text || !picture ? h("span", {}, name) : null);
  b.addEventListener("click", act);
  return b;
}

/** Changes the picture and the name of a button. */
export function relabel(b: HTMLButtonElement, name: string, picture: Icon): void {
  b.replaceChildren(icon(picture));
  b.title = name;
  b.setAttribute("aria-label", name);
}

let spoken: HTMLElement | null = null;

/** Says a sentence to screen readers, and shows it for a moment. */
export function say(sentence: string): void {
  spoken ??= document.body.appendChild(h("div", { class: "toast", role: "status", "aria-live": "polite" }));
  spoken.textContent = sentence;
  spoken.classList.add("shown");
  const mine = spoken;
  clearTimeout(Number(mine.dataset["timer"]));
  mine.dataset["timer"] = String(setTimeout(() => mine.classList.remove("shown"), 2600));
}

/** A menu below a button: a list of actions, closed by Escape or by a click elsewhere. */
export function menu(anchor: HTMLElement, items: ([name: string, act: () => void] | null)[]): void {
  document.querySelector(".menu")?.remove();
  const list = h("div", { class: "menu", role: "menu" });
  const close = (): void => {
    list.remove();
    removeEventListener("pointerdown", outside, true);
    anchor.setAttribute("aria-expanded", "false");
  };
  const outside = (e: Event): void => {
    if (!list.contains(e.target as Node) && !anchor.contains(e.target as Node)) close();
  };
  for (const item of items) {
    if (!item) list.append(h("hr", { role: "separator" }));
    else list.append(h("button", { type: "button", role: "menuitem", onclick: () => { close(); anchor.focus(); item[1](); } }, item[0]));
  }
  list.addEventListener("keydown", (e) => {
    const all = [...list.querySelectorAll("button")];
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    if (e.key === "Escape") { close(); anchor.focus(); }
    else if (e.key === "ArrowDown") all[(at + 1) % all.length]?.focus();
    else if (e.key === "ArrowUp") all[(at - 1 + all.length) % all.length]?.focus();
    else if (e.key === "Tab") close();
    else return;
    if (e.key !== "Tab") e.preventDefault();
    e.stopPropagation();
  });
  // In the landmark of its button, where screen readers look for it.
  (anchor.closest("dialog, main, header.top") ?? document.body).append(list);
  anchor.setAttribute("aria-expanded", "true");
  const box = anchor.getBoundingClientRect();
  list.style.top = `${Math.min(box.bottom + 4, innerHeight - list.offsetHeight - 8)}px`;
  list.style.left = `${Math.max(8, Math.min(box.left, innerWidth - list.offsetWidth - 8))}px`;
  addEventListener("pointerdown", outside, true);
  list.querySelector("button")?.focus();
}

/** A label in runs (text, italic, shift: 1 above, −1 below the line) as elements. */
export function labelled(label: [text: string, italic: boolean, shift: number][]): HTMLElement {
  return h("span", { class: "label" }, ...label.map(([text, italic, shift]) => h(shift < 0 ? "sub" : shift > 0 ? "sup" : italic ? "i" : "span", {}, text)));
}

/** A number as people read it: a true minus sign, no more digits than asked. */
export function figure(value: number, digits = 6): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e6 || size < 1e-4 ? value.toExponential(Math.max(0, digits - 1)) : String(Number(value.toPrecision(digits)));
  return text.replace(/-/g, "−");
}
