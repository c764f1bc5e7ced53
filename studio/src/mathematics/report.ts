// The derivation as a document: Lagrangian, equations, constraints, impact law, step by step. Every formula is copied as
// LaTeX, SymPy or text.

import type { Session } from "../app/session";
import type { Block, EquationRow, Section } from "../engine/protocol";
import { button, h, menu, say } from "../layout/dom";
import { trusted } from "./trusted";

/** Sections that are open at first. */
const OPEN = new Set(["lagrangian", "motion", "impacts", "constraints"]);
/** Equations that are put on the page at once; a long report shows the rest when its section is opened. */
const EAGER = 60;

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

function equation(row: EquationRow): HTMLElement {
  const { formula } = row;
  return h("div", { class: "equation" },
    h("span", { class: "left" }, trusted(row.left)),
    h("span", { class: "right" }, trusted(row.right)),
    copyMenu(`Copy ${formula.text.slice(0, 60)}`, [["LaTeX", formula.latex], ["SymPy", formula.sympy], ["text", formula.text]]));
}

function block(b: Block): HTMLElement {
  switch (b.kind) {
    case "heading":
      return h(b.level <= 2 ? "h3" : "h4", {}, trusted(b.html));
    case "paragraph":
      return h("p", {}, trusted(b.html));
    case "list":
      return h("ul", {}, ...b.items.map((item) => h("li", {}, trusted(item))));
    case "table":
      return h("div", { class: "table-box", tabindex: 0, role: "group", "aria-label": "Table" }, h("table", {},
        h("thead", {}, h("tr", {}, ...b.head.map((c) => h("th", { scope: "col" }, trusted(c))))),
        h("tbody", {}, ...b.rows.map((r) => h("tr", {}, ...r.map((c) => h("td", {}, trusted(c))))))));
    case "equations":
      return h("div", { class: "display", role: "group", "aria-label": b.number === null ? "Formula" : `Formula ${b.number}`, tabindex: 0 },
        ...b.rows.map(equation),
        b.number === null ? null : h("span", { class: "count" }, `(${b.number})`));
  }
}

function section(s: Section, open: boolean): HTMLElement {
  const body = h("div", { class: "section-body" });
  let filled = false;
  const fill = (): void => {
    if (filled) return;
    filled = true;
    body.replaceChildren(...s.blocks.filter((b) => !(b.kind === "heading" && b.text === s.title)).map(block));
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
  const show = (sections: Section[]): void => {
    for (const d of box.querySelectorAll("details")) seen.set(d.dataset["part"]!, d.open);
    let equations = 0;
    const top = box.scrollTop;
    box.replaceChildren(...sections.map((s) => {
      equations += s.blocks.filter((b) => b.kind === "equations").length;
      return section(s, seen.get(s.part) ?? (OPEN.has(s.part) && equations <= EAGER));
    }));
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
