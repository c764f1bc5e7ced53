// Conditions of lessons: what the page checks of what a student did.
//
//   condition  = comparison { "and" comparison }
//   comparison = sum ( "<" | "<=" | ">" | ">=" ) sum
//   sum        = [ "abs" ] product { ("+" | "-") product }        (abs is of the whole sum)
//   product    = [ number ] fact | number
//
// Facts are numbers of the page by name: `impacts`, `value.g`, `max.y`. One that does not exist makes its comparison false.

import type { Player } from "./player";
import type { Slider } from "../engine/protocol";
import type { Session } from "./session";

export type Facts = (name: string) => number;

function term(text: string, facts: Facts): number {
  const m = /^\s*(?:(\d+(?:\.\d+)?(?:e-?\d+)?)\s*)?([\p{L}_][\p{L}\p{N}_.']*)?\s*$/u.exec(text);
  if (!m || (m[1] === undefined && m[2] === undefined)) return NaN;
  return (m[1] === undefined ? 1 : Number(m[1])) * (m[2] === undefined ? 1 : facts(m[2]));
}

function sum(text: string, facts: Facts): number {
  const m = /^\s*(abs\s+)?(.*)$/s.exec(text)!;
  const parts = m[2]!.split(/\s+([+-])\s+/);
  let total = term(parts[0]!, facts);
  for (let i = 1; i + 1 < parts.length; i += 2) total += (parts[i] === "-" ? -1 : 1) * term(parts[i + 1]!, facts);
  return m[1] ? Math.abs(total) : total;
}

/** Does a condition hold? */
export function holds(condition: string, facts: Facts): boolean {
  return condition.split(/\s+and\s+/).every((comparison) => {
    const m = /^(.*?)(<=|>=|<|>)(.*)$/s.exec(comparison);
    if (!m) return false;
    const [a, b] = [sum(m[1]!, facts), sum(m[3]!, facts)];
    return m[2] === "<" ? a < b : m[2] === "<=" ? a <= b : m[2] === ">" ? a > b : a >= b;
  });
}

/** The numbers of the page now. */
export function facts(session: Session, player: Player): Facts {
  const shown = session.shown.value;
  const outline = session.outline.value;
  const motion = session.stale.value ? null : shown?.reply.motion;
  const column = (name: string): Float64Array | null => shown?.reply.scene?.columns.find((c) => c.name === name)?.data ?? null;
  const slider = (name: string): Slider | undefined => outline?.sliders.find((s) => s.name === name);
  const zeno = motion?.contacts.filter((c) => c.zeno) ?? [];
  const simple: Record<string, () => number> = {
    impacts: () => motion?.impacts.length ?? NaN,
    contacts: () => motion?.contacts.length ?? NaN,
    events: () => motion?.events.length ?? NaN,
    zeno: () => zeno.length,
    rest: () => zeno[0]?.from ?? NaN,
    together: () => motion?.impacts.filter((i) => i.walls.length > 1).length ?? NaN,
    gained: () => motion?.impacts.filter((i) => (i.hamiltonian_after ?? 0) > (i.hamiltonian_before ?? 0) * (1 + 1e-9) + 1e-12).length ?? NaN,
    walls: () => (motion ? (outline?.walls.length ?? NaN) : NaN),
    coordinates: () => outline?.coordinates.length ?? NaN,
    time: () => player.time.value,
    end: () => motion?.stop.time ?? NaN,
    mistakes: () => session.diagnostics.value.filter((d) => d.severity === "error").length,
  };
  const dotted: Record<string, (rest: string) => number> = {
    // In the units of the sliders, which are those of the curves.
    value: (name) => (session.values.value[name] ?? slider(name)?.value ?? NaN) / (slider(name)?.factor ?? 1),
    model: (name) => (slider(name)?.value ?? NaN) / (slider(name)?.factor ?? 1),
    impact: (n) => motion?.impacts[Number(n) - 1]?.time ?? NaN,
    impulse: (n) => motion?.impacts[Number(n) - 1]?.impulse[0] ?? NaN,
    hamiltonian: (n) => (n === "0" ? column("hamiltonian")?.[0] : motion?.impacts[Number(n) - 1]?.hamiltonian_after) ?? NaN,
    first: (name) => column(name)?.[0] ?? NaN,
    last: (name) => column(name)?.at(-1) ?? NaN,
    max: (name) => column(name)?.reduce((a, b) => Math.max(a, b)) ?? NaN,
    min: (name) => column(name)?.reduce((a, b) => Math.min(a, b)) ?? NaN,
  };
  return (name) => {
    const at = name.indexOf(".");
    if (at < 0) return simple[name]?.() ?? NaN;
    return dotted[name.slice(0, at)]?.(name.slice(at + 1)) ?? NaN;
  };
}
