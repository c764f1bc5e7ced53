// Runs beside the run: the ghost of the previous one, another set of values to compare with, a cloud of neighbours.

import { Cancelled } from "../engine/client";
import type { Scene } from "../engine/protocol";
import { button, figure, h, menu, say } from "../layout/dom";
import type { Plots } from "../plots/plots";
import { recordGif, recordWebm } from "../stage/film";
import type { Stage } from "../stage/stage";
import { Cell, debounced } from "./cell";
import type { Session, Shown } from "./session";

/** Neighbours in the cloud, and samples of each. */
const NEIGHBOURS = 200;
const SAMPLES = 301;

/** Changed values in words, in the units of their sliders. */
function words(session: Session, values: Record<string, number>): string {
  const sliders = session.outline.value?.sliders ?? [];
  const all = Object.entries(values).map(([name, value]) => {
    const s = sliders.find((k) => k.name === name);
    return `${name} = ${figure(value / (s?.factor ?? 1), 4)}${s?.unit ? ` ${s.unit}` : ""}`;
  });
  return all.length ? all.join(", ") : "as the model says";
}

/** What stands beside the motion, for the address. */
export interface Beside {
  ghost: Cell<boolean>;
  cloud: Cell<boolean>;
  pinned: Cell<Shown | null>;
  /** Simulates these values aside and pins the run. */
  pin(values: Record<string, number>): Promise<void>;
}

/** Buttons for the stage, and the bar that says what is compared. */
export function companions(session: Session, stage: Stage, plots: Plots): Beside & { tools: HTMLElement[]; bar: HTMLElement } {
  const ghost = new Cell(false);
  const cloud = new Cell(false);
  const pinned = new Cell<Shown | null>(null);
  let previous: Scene | null = null;

  const pressed = (b: HTMLButtonElement, cell: Cell<boolean>): HTMLButtonElement => {
    cell.watch((on) => b.setAttribute("aria-pressed", String(on)));
    return b;
  };
  const ghostButton = pressed(button("Ghost of the previous run", "ghost", () => { ghost.value = !ghost.value; }), ghost);
  const cloudButton = pressed(button("Cloud of 200 neighbours", "cloud", () => { cloud.value = !cloud.value; }), cloud);
  const compareButton = button("Compare with this run", "compare", () => { pinned.value = pinned.value ? null : session.shown.value; });
  const record: HTMLButtonElement = button("Record", "record", () => menu(record, [["GIF", () => film(recordGif)], ["WebM", () => film(recordWebm)]]), { "aria-haspopup": "menu", "aria-expanded": "false" });
  const film = (make: typeof recordGif): void => void make(stage, session.document.value.file.replace(/\.toml$/, "")).catch((error: unknown) => say(`The film could not be made: ${error instanceof Error ? error.message : String(error)}`));

  // The ghost is the run before the hand was laid on, so that a long drag is seen against where it began.
  let before: Scene | null = null;
  const showGhost = (): void => { stage.ghost.value = ghost.value ? previous : null; };
  session.dragging.listen((on) => {
    if (on) before = session.shown.value?.reply.scene ?? null;
    else before = null;
    if (on) {
      previous = before;
      showGhost();
    }
  });
  session.shown.listen((_, last) => {
    if (!session.dragging.value) previous = last?.reply.scene ?? null;
    showGhost();
  });
  ghost.listen(showGhost);

  const bar = h("div", { class: "compare-bar", hidden: true });
  const refresh = (): void => {
    const a = pinned.value;
    const b = session.shown.value;
    compareButton.setAttribute("aria-pressed", String(a !== null));
    bar.hidden = !a;
    stage.beside.value = a?.reply.scene ?? null;
    plots.ghost.value = a;
    if (!a || !b) return;
    const summary = (s: Shown): string => `${s.reply.motion.impacts.length} impacts`;
    bar.replaceChildren(
      h("span", {}, h("b", {}, "Left: "), `${words(session, a.values)} · ${summary(a)}`),
      h("span", {}, h("b", {}, "Right: "), `${words(session, b.values)} · ${summary(b)}`),
      button("Stop comparing", null, () => { pinned.value = null; }, { text: true, class: "stop" }));
  };
  pinned.listen((a) => {
    refresh();
    if (a?.serial) say("Pinned. Change a value: the runs go side by side");
  });
  session.shown.listen(refresh);

  const sweep = debounced(() => void (async () => {
    if (!cloud.value) return;
    try {
      const until = session.until.value;
      const reply = await session.engine.ask("sweep", { ...session.input(), count: NEIGHBOURS, samples: SAMPLES, limits: { seconds: 8 }, ...(until === null ? {} : { until }) });
      if (!cloud.value) return;
      if (reply.ok) stage.cloud.value = reply;
      else say(reply.diagnostics[0]?.message ?? "No neighbours could be simulated");
    } catch (error) {
      if (!(error instanceof Cancelled)) say(error instanceof Error ? error.message : String(error));
    }
  })(), 200);
  cloud.listen((on) => {
    if (on) {
      say("200 starts within a thousandth of this one");
      sweep.now();
    } else {
      stage.cloud.value = null;
      session.engine.cancel("sweep");
    }
  });
  session.shown.listen(() => {
    stage.cloud.value = null;
    if (cloud.value) sweep.ask();
  });
  session.document.listen((now, last) => {
    if (now.file === last.file) return;
    pinned.value = null;
    previous = null;
  });
  const pin = async (values: Record<string, number>): Promise<void> => {
    const document = session.document.value;
    try {
      const reply = await session.engine.ask("run", session.question(document, values, session.until.value), { aside: true });
      if (reply.ok && reply.motion && session.document.value === document) pinned.value = { reply: reply as Shown["reply"], values, serial: 0 };
    } catch (error) {
      if (!(error instanceof Cancelled)) say(error instanceof Error ? error.message : String(error));
    }
  };
  return { tools: [ghostButton, compareButton, cloudButton, record], bar, ghost, cloud, pinned, pin };
}
