// The derivation as a document: Lagrangian, equations, constraints, impact law, step by step. Every formula is copied as
// LaTeX, SymPy or text.

import type { Session } from "../app/session";
import type { Block, EquationRow, Section } from "../engine/protocol";
import { button, h, menu, say } from "../layout/dom";
import { trusted } from "./trusted";

/** Sections that are open at first. */
const OPEN = new Set(["lagrangian", "motion", "impacts", "constraints"]);
/** Letters of markup that are set at once; a long report shows the rest when its section is opened. */
const EAGER = 250_000;
/** Letters of markup of one formula, and of one section, that a page can set without standing still, about five times what
 *  the largest model of the gallery has; what is longer can be copied. */
const LONGEST = { formula: 25_000, section: 600_000 };

async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(`Copied as ${what}`);
  } catch {
    say("The browser did not allow copying");
  }
}

function copyMenu(title: string, forms: [name: string, text: string | null][]): HTMLElement {
  const b = button(title, "copy", () => menu(b, forms.filter(([, text]) => text).map(([name, text]) => [`Copy as ${name}`, () => void copyText(text!, name)])), { class: "copy", "aria-haspopup": "menu", "aria-expanded": "false" });
  return b;
}

/** How much markup may still be set. */
interface Room {
  left: number;
}

/** Markup as elements, or a sentence in its place where it is too long. */
function set(markup: string, room: Room): DocumentFragment | HTMLElement {
  room.left -= markup.length;
  return markup.length <= LONGEST.formula && room.left >= 0 ? trusted(markup) : tooLong();
}

const tooLong = (): HTMLElement => h("em", { class: "too-long" }, "too long to be shown here: copy it");

function equation(row: EquationRow, room: Room): HTMLElement {
  const { formula } = row;
  const long = row.left.length + row.right.length > LONGEST.formula;
  return h("div", { class: "equation" },
    h("span", { class: "left" }, long ? null : set(row.left, room)),
    h("span", { class: "right" }, long ? tooLong() : set(row.right, room)),
    copyMenu(`Copy ${formula.text.slice(0, 60)}`, [["LaTeX", formula.latex], ["SymPy", formula.sympy], ["text", formula.text]]));
}

function block(b: Block, room: Room): HTMLElement {
  switch (b.kind) {
    case "heading":
      return h(b.level <= 2 ? "h3" : "h4", {}, set(b.html, room));
    case "paragraph":
      return h("p", {}, set(b.html, room));
    case "list":
      return h("ul", {}, ...b.items.map((item) => h("li", {}, set(item, room))));
    case "table":
      return h("div", { class: "table-box", tabindex: 0, role: "group", "aria-label": "Table" }, h("table", {},
        h("thead", {}, h("tr", {}, ...b.head.map((c) => h("th", { scope: "col" }, set(c, room))))),
        h("tbody", {}, ...b.rows.map((r) => h("tr", {}, ...r.map((c) => h("td", {}, set(c, room))))))));
    case "equations":
      return h("div", { class: "display", role: "group", "aria-label": b.number === null ? "Formula" : `Formula ${b.number}`, tabindex: 0 },
        ...b.rows.map((row) => equation(row, room)),
        b.number === null ? null : h("span", { class: "count" }, `(${b.number})`));
  }
}

function section(s: Section, open: boolean): HTMLElement {
  const body = h("div", { class: "section-body" });
  let filled = false;
  const fill = (): void => {
    if (filled) return;
    filled = true;
    const room = { left: LONGEST.section };
    body.replaceChildren(...s.blocks.filter((b) => !(b.kind === "heading" && b.text === s.title)).map((b) => block(b, room)));
  };
  const details = h("details", { "data-part": s.part }, h("summary", {}, s.title), body);
  details.addEventListener("toggle", () => { if (details.open) fill(); });
  if (open) {
    fill();
    details.open = true;
  }
  return details;
}

/** The pane of the mathematics. */
export function report(session: Session): HTMLElement {
  const box = h("div", { class: "report", tabindex: 0, role: "region", "aria-label": "Derivation" });
  let seen = new Map<string, boolean>();
  let shown: Section[] | null = null;
  let made = new Map<string, HTMLElement>();
  const show = (sections: Section[]): void => {
    for (const d of box.querySelectorAll("details")) seen.set(d.dataset["part"]!, d.open);
    let letters = 0;
    const top = box.scrollTop;
    // Sections that say the same stay as they are: a slider changes a table, not every formula.
    const next = new Map<string, HTMLElement>();
    for (const s of sections) {
      const key = JSON.stringify(s);
      letters += key.length;
      next.set(key, made.get(key) ?? section(s, seen.get(s.part) ?? (OPEN.has(s.part) && letters <= EAGER)));
    }
    made = next;
    const all = [...next.values()];
    if (all.length !== box.children.length || all.some((e, i) => box.children[i] !== e)) box.replaceChildren(...all);
    box.scrollTop = top;
    shown = sections;
  };
  session.sections.listen((sections) => {
    if (box.isConnected && box.offsetParent !== null) show(sections);
    else shown = null;
  });
  // A hidden pane costs nothing until it is seen.
  new ResizeObserver(() => { if (shown !== session.sections.value && box.offsetParent !== null) show(session.sections.value); }).observe(box);
  session.document.listen((now, before) => { if (now.file !== before.file) seen = new Map(); });
  return box;
}
