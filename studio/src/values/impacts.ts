// The list of impacts: when, on which wall, with which impulse. A row jumps the animation there and opens its numbers.

import type { Player } from "../app/player";
import type { Session } from "../app/session";
import type { ByName, Impact } from "../engine/protocol";
import { figure, h } from "../layout/dom";

/** Rows in the list; of more, later ones are counted. */
const MOST = 500;

/** A signal's unit, and what its records are divided by to be read in it. */
type Units = (name: string) => { unit: string; factor: number };

function numbers(impact: Impact, units: Units): HTMLElement {
  const rows: HTMLElement[] = [];
  const add = (name: string, ...cells: string[]): void => void rows.push(h("tr", {}, h("th", { scope: "row" }, name), ...cells.map((c) => h("td", {}, c))));
  impact.walls.forEach((wall, i) => {
    add(`impulse λ, ${wall}`, "", figure(impact.impulse[i]!, 8));
    const gap = units(`gap.${wall}`);
    add(`gap rate${gap.unit && ` [${gap.unit}/s]`}`, figure(impact.gap_rate_before[i]! / gap.factor, 8), figure(impact.gap_rate_after[i]! / gap.factor, 8));
  });
  for (const [name, before] of Object.entries(impact.velocity_before)) {
    const { unit, factor } = units(`${name}'`);
    add(`${name}′${unit && ` [${unit}]`}`, figure((before ?? NaN) / factor, 8), figure((impact.velocity_after[name] ?? NaN) / factor, 8));
  }
  for (const [name, value] of Object.entries(impact.reaction_impulse)) add(`reaction ${name}`, "", figure(value ?? NaN, 8));
  for (const [name, value] of Object.entries(impact.driving_impulse as ByName)) add(`driving ${name}`, "", figure(value ?? NaN, 8));
  if (impact.hamiltonian_before !== null && impact.hamiltonian_after !== null) {
    const { unit, factor } = units("hamiltonian");
    add(`H${unit && ` [${unit}]`}`, figure(impact.hamiltonian_before / factor, 8), figure(impact.hamiltonian_after / factor, 8));
  }
  return h("table", { class: "numbers" }, h("thead", {}, h("tr", {}, h("td", {}), h("th", { scope: "col" }, "before"), h("th", { scope: "col" }, "after"))), h("tbody", {}, ...rows));
}

/** The list. */
export function impactList(session: Session, player: Player): HTMLElement {
  const list = h("ol", { class: "impacts" });
  const note = h("p", { class: "quiet" });
  const head = h("h3", {}, "Impacts");
  let open = -1;
  let impacts: Impact[] = [];
  const units: Units = (name) => {
    const c = session.shown.value?.reply.columns.find((k) => k.name === name);
    return { unit: c?.unit ?? "", factor: c?.factor ?? 1 };
  };

  const select = (n: number): void => {
    open = n;
    [...list.children].forEach((item, i) => {
      const b = item.querySelector("button")!;
      b.setAttribute("aria-expanded", String(i === open));
      item.querySelector("table")?.remove();
      if (i === open) item.append(numbers(impacts[i]!, units));
    });
  };
  const row = (impact: Impact, i: number): HTMLElement => {
    const b = h("button", { type: "button", "aria-expanded": "false", "data-impact": i + 1 },
      h("span", { class: "number" }, String(i + 1)),
      h("span", { class: "time" }, figure(impact.time, 7)),
      h("span", { class: "wall" }, impact.walls.join(", ")),
      h("span", { class: "impulse", title: "impulse λ" }, impact.impulse.map((v) => figure(v, 5)).join(", ")));
    b.addEventListener("click", () => {
      player.pause();
      player.seek(impact.time);
      select(open === i ? -1 : i);
    });
    return h("li", {}, b);
  };
  session.shown.listen((shown) => {
    impacts = shown?.reply.motion.impacts ?? [];
    head.textContent = impacts.length === 1 ? "1 impact" : `${impacts.length} impacts`;
    list.replaceChildren(...impacts.slice(0, MOST).map(row));
    note.textContent = impacts.length > MOST ? `The first ${MOST} of ${impacts.length}; export the records for all.` : impacts.length ? "" : "No impact in this motion.";
    note.hidden = note.textContent === "";
    if (open >= 0 && open < Math.min(MOST, impacts.length)) select(open);
    else open = -1;
  });

  // The last impact that has happened is marked while time goes on.
  let marked = -2;
  player.onFrame((time) => {
    let n = -1;
    let [low, high] = [0, impacts.length];
    while (low < high) {
      const m = (low + high) >> 1;
      if (impacts[m]!.time <= time) low = m + 1;
      else high = m;
    }
    n = low - 1;
    if (n === marked) return;
    list.querySelector(".now")?.classList.remove("now");
    list.children[n]?.classList.add("now");
    marked = n;
  });
  session.shown.listen(() => (marked = -2));
  return h("section", { class: "impact-section", "aria-label": "Impacts" }, head, list, note);
}
