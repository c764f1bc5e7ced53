// The audit, always in sight: were the laws kept as well as the tolerance explains? Green, or red with the reason.

import type { Session, Shown } from "../app/session";
import type { Diagnostic } from "../engine/protocol";
import { figure, h, icon } from "../layout/dom";

const STOPS: Record<string, string> = { reached: "" };

/** What a motion's audit says: fine or not, in a few words and in full. */
export function verdict(shown: Shown): { good: boolean; short: string; reasons: string[] } {
  const { motion } = shown.reply;
  const good = motion.audit.verdict === "ok";
  const early = STOPS[motion.stop.reason] ?? motion.stop.reason.replaceAll("_", " ");
  const reasons = [...motion.warnings];
  if (early) reasons.unshift(`Stopped at t = ${figure(motion.stop.time)}: ${early}${motion.stop.detail ? `, ${motion.stop.detail}` : ""}.`);
  return { good, short: good ? (early ? `ended: ${early}` : reasons.length ? "laws kept, with a note" : "laws kept") : (motion.warnings[0] ?? "a law drifted"), reasons };
}

/** A message in one line, with its way out. */
const said = ({ message, hint }: Diagnostic): string => (hint ? `${message}: ${hint}` : message);

/** The button that says it; pressing it opens the numbers. */
export function auditChip(session: Session): HTMLElement {
  const mark = h("span", { class: "mark" });
  const words = h("span", { class: "words" }, "loading the engine…");
  const details = h("div", { class: "audit-details", role: "region", "aria-label": "Audit", hidden: true });
  const chip = h("button", { type: "button", class: "chip", "aria-expanded": "false", "aria-live": "polite" }, mark, words);
  const close = (): void => {
    details.hidden = true;
    chip.setAttribute("aria-expanded", "false");
  };
  chip.addEventListener("click", () => {
    details.hidden = !details.hidden;
    chip.setAttribute("aria-expanded", String(!details.hidden));
  });
  addEventListener("pointerdown", (e) => { if (!box.contains(e.target as Node)) close(); });
  addEventListener("keydown", (e) => { if (e.key === "Escape" && !details.hidden) { close(); chip.focus(); } });
  const box = h("div", { class: "audit" }, chip, details);

  const refresh = (): void => {
    const shown = session.shown.value;
    const failure = session.failure.value;
    if (failure) {
      set("bad", "warn", failure);
      return;
    }
    const errors = session.stale.value ? session.diagnostics.value.filter((d) => d.severity === "error") : [];
    if (!shown) {
      // The first text of a page may have mistakes, too: there is no motion to speak of.
      if (session.stale.value) set("stale", "warn", "the text has mistakes; no motion yet");
      details.replaceChildren(...errors.map((d) => h("p", {}, said(d))));
      return;
    }
    const v = verdict(shown);
    if (session.stale.value) {
      // A text that is understood by itself, or a mistake without a place in it: the sliders are at fault.
      const moved = Object.keys(session.values.value).length > 0 && !session.misread.value;
      const values = errors.length > 0 && (moved || errors.every((d) => d.from === null));
      set("stale", "warn", `${values ? errors[0]!.message : "the text has mistakes"}; this is the last motion`);
      v.reasons = errors.map(said);
    } else set(v.good ? (v.reasons.length ? "fair" : "good") : "bad", v.good ? "check" : "warn", v.short);
    const { audit } = shown.reply.motion;
    const row = (name: string, value: string): HTMLElement => h("div", {}, h("dt", {}, name), h("dd", {}, value));
    details.replaceChildren(
      ...v.reasons.map((r) => h("p", {}, r)),
      h("dl", {},
        row("energy (H) drift", figure(audit.hamiltonian_drift ?? NaN, 3)),
        row("constraint drift", figure(audit.constraint_drift ?? NaN, 3)),
        row("impact law residual", figure(audit.impact_law_residual ?? NaN, 3)),
        row("deepest penetration", figure(audit.deepest_penetration ?? NaN, 3)),
        ...(audit.amplification === null ? [] : [row("errors amplified by", figure(audit.amplification, 3))]),
        row("steps", String(audit.steps)),
        row("arithmetic", shown.reply.arithmetic),
        row("simulated in", `${figure(shown.reply.seconds.simulate * 1000, 3)} ms`)));
  };
  const set = (kind: string, picture: "check" | "warn", text: string): void => {
    box.dataset["verdict"] = kind;
    if (words.textContent !== text) words.textContent = text;
    mark.replaceChildren(icon(picture));
    chip.setAttribute("aria-label", `Audit: ${text}`);
  };
  for (const cell of [session.shown, session.stale, session.diagnostics, session.misread, session.failure]) (cell as { listen(f: () => void): void }).listen(refresh);
  return box;
}
