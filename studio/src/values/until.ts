// How long to simulate, and changed values written into the text.

import type { Session } from "../app/session";
import { Cancelled } from "../engine/client";
import { button, h, say } from "../layout/dom";
import type { TextEditor } from "../text/editor";

/** The field for the end of the motion. */
export function untilField(session: Session): HTMLElement {
  const typed = h("input", { type: "text", inputmode: "decimal", class: "typed", "aria-label": "Simulate until, typed", autocomplete: "off" });
  const reset = button("Reset the end of the motion", "reset", () => session.setUntil(null), { class: "reset" });
  const row = h("div", { class: "slider until" }, h("span", { class: "name" }, h("span", { class: "symbol" }, h("i", {}, "t"), h("sub", {}, "end"))), h("span", { class: "quiet" }, "simulate until"), typed, reset);
  const show = (): void => {
    const value = session.until.value ?? session.outline.value?.run.until;
    if (document.activeElement !== typed) typed.value = value === undefined ? "" : String(Number(value.toPrecision(6)));
    reset.disabled = session.until.value === null;
    row.classList.toggle("changed", session.until.value !== null);
  };
  const take = (): void => {
    const value = Number(typed.value.replace(",", "."));
    const ok = typed.value.trim() !== "" && Number.isFinite(value);
    typed.setAttribute("aria-invalid", String(!ok));
    if (ok && value !== (session.until.value ?? session.outline.value?.run.until)) session.setUntil(value);
  };
  typed.addEventListener("change", take);
  typed.addEventListener("blur", show);
  session.until.listen(show);
  session.outline.listen(show);
  return row;
}

/** The button that writes changed values where they stand in the text, so that they become the model's. */
export function writeValues(session: Session, editor: TextEditor): HTMLButtonElement {
  const write = async (): Promise<void> => {
    // Places are those of the text as it is now: what was read of it last may be a few letters old.
    const outline = await session.outlined();
    if (!outline) {
      say("The text is being changed or has mistakes; the values were not written");
      return;
    }
    const changed = Object.entries(session.values.value);
    const known = new Map(outline.sliders.map((s) => [s.name, s]));
    const edits = changed.flatMap(([name, value]) => {
      const s = known.get(name);
      if (!s || s.from === null || s.to === null) return [];
      // A value that stands there with a unit keeps it.
      const insert = s.written ? `"${Number((value / s.written.factor).toPrecision(15))} ${s.written.unit}"` : String(value);
      return [{ name, from: s.from, to: s.to, insert }];
    });
    editor.change(edits);
    session.set(Object.fromEntries(edits.map((e) => [e.name, null])));
    const left = changed.length - edits.length;
    say(left ? `${edits.length} written; ${left} have no place in the text` : `${edits.length} written`);
  };
  const b = button("Write changed values into the text", "check", () => void write().catch((error: unknown) => { if (!(error instanceof Cancelled)) say(String(error)); }));
  session.values.watch((values) => { b.disabled = Object.keys(values).length === 0; });
  return b;
}
