// The studio: text on the left, what it means on the right, hands on everything.

import "uplot/dist/uPlot.min.css";
import "./style/page.css";
import "./style/parts.css";
import "./style/dialogs.css";
import { debounced } from "./app/cell";
import { companions } from "./app/companions";
import { dropping, fileMenu } from "./app/files";
import { Gallery } from "./app/gallery";
import { BadLink, pack, unpack, type State } from "./app/link";
import { offline } from "./app/offline";
import { Player } from "./app/player";
import { Session } from "./app/session";
import { still, theme, toggleTheme } from "./app/theme";
import { LESSONS, Tour } from "./app/tour";
import { engine } from "./engine/client";
import { isServed, readServed } from "./engine/served";
import { button, h, menu, say } from "./layout/dom";
import { FIRST, Panes } from "./layout/panes";
import { mathFont } from "./mathematics/font";
import { report } from "./mathematics/report";
import { Plots } from "./plots/plots";
import { Hands } from "./stage/hands";
import { Stage } from "./stage/stage";
import { problems, TextEditor } from "./text/editor";
import { auditChip } from "./values/audit";
import { controls, keys } from "./values/controls";
import { impactList } from "./values/impacts";
import { sliders } from "./values/sliders";
import { untilField, writeValues } from "./values/until";

/** The model that a first visit shows. */
const FIRST_MODEL = "double_pendulum_wall";

/** The file of the motion on the stage, and the time at which the next one is shown. */
let shownFile: string | null = null;
let wantedTime: number | null = null;

const session = new Session(engine());
const player = new Player();
const stage = new Stage(player);
const editor = new TextEditor(session);
const plots = new Plots(session, player);
const beside = companions(session, stage, plots);
new Hands(stage, session);

const resetAll = button("Reset all values", "reset", () => session.reset());
session.values.watch((values) => { resetAll.disabled = Object.keys(values).length === 0; });

const panes = new Panes({
  text: { body: h("div", { class: "text-body" }, editor.element, problems(session, editor)) },
  mathematics: { body: report(session) },
  motion: { body: h("div", { class: "motion-body" }, beside.bar, stage.element, controls(player)), tools: beside.tools },
  plots: { body: plots.element },
  values: { body: h("div", { class: "values", tabindex: 0, role: "group", "aria-label": "Values and impacts" }, sliders(session), untilField(session), impactList(session, player)), tools: [writeValues(session, editor), resetAll] },
});

const gallery = new Gallery(session, (entry) => {
  plots.requests.value = null;
  session.open({ file: `${entry.name}.toml`, text: entry.text, tables: {} });
});

const tour = new Tour(session, player, (file, text) => {
  plots.requests.value = null;
  shownFile = null;
  session.open({ file, text, tables: {} });
});

const title = h("h1", {}, "");
const files: HTMLButtonElement = button("Files", "file", () => menu(files, fileMenu(session)), { text: true, class: "label-wide", "aria-haspopup": "menu", "aria-expanded": "false", title: "Files" });
const top = h("header", { class: "top" },
  h("span", { class: "mark-link" }, mark(), h("span", {}, "carom studio")),
  title,
  h("span", { class: "spring" }),
  auditChip(session),
  button("Gallery", "gallery", () => void gallery.open(), { text: true, class: "label-wide", title: "Gallery" }),
  button("Tour", "tour", () => tour.toggle(), { text: true, class: "label-wide", title: "A tour in ten steps" }),
  files,
  button("Share", "share", () => void share(), { text: true, class: "label-wide", title: "Copy a link to exactly this" }),
  button("Light or dark", "theme", toggleTheme));
const bar = h("div", { class: "progress", hidden: true });
document.body.append(bar, top, panes.element, panes.tabs);

function mark(): SVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 64 64");
  svg.setAttribute("aria-hidden", "true");
  for (const [d, stroke] of [["M8 54h48", "var(--wall)"], ["M10 12L28 47 50 20", "var(--accent)"]] as const) {
    const path = document.createElementNS(svg.namespaceURI, "path");
    path.setAttribute("d", d);
    path.setAttribute("fill", "none");
    path.setAttribute("stroke", stroke);
    path.setAttribute("stroke-width", "5");
    path.setAttribute("stroke-linecap", "round");
    path.setAttribute("stroke-linejoin", "round");
    svg.append(path);
  }
  const ball = document.createElementNS(svg.namespaceURI, "circle");
  for (const [name, value] of Object.entries({ cx: 50, cy: 20, r: 8, fill: "var(--flash)" })) ball.setAttribute(name, String(value));
  svg.append(ball);
  return svg as SVGElement;
}

// ---- a new motion -----------------------------------------------------------------------------------------------
session.shown.listen((shown) => {
  if (!shown) return;
  const { scene, motion, columns } = shown.reply;
  if (!scene) return;
  const fresh = shownFile !== session.document.value.file;
  shownFile = session.document.value.file;
  if (fresh) stage.hold(false);
  const walls: Record<string, Float64Array> = {};
  let largest = 0;
  for (const c of columns) if (c.name.startsWith("f.")) {
    walls[c.name.slice(2)] = c.values;
    for (const v of c.values) if (v > largest) largest = v;
  }
  const times = columns.find((c) => c.name === "time")?.values;
  stage.forces.value = largest > 0 && times ? { times, walls, largest } : null;
  player.show(scene, fresh);
  title.textContent = motion.model;
  document.title = `${motion.model} · carom studio`;
  if (wantedTime !== null) {
    player.seek(wantedTime);
    wantedTime = null;
  } else if (fresh && !still()) player.play();
  if (shown.serial === 1) performance.mark("first motion");
  document.body.dataset["serial"] = String(shown.serial);
});
session.dragging.listen((on) => stage.hold(on));
session.progress.listen((part) => {
  bar.hidden = part === null;
  bar.style.width = `${100 * (part ?? 0)}%`;
});
theme.listen(() => {
  stage.recolour();
  plots.recolour();
});
keys(player);
mathFont(session);
dropping(session);

// ---- the address ------------------------------------------------------------------------------------------------
function state(): State {
  const { file, text, tables } = session.document.value;
  const out: State = { file, text };
  if (Object.keys(tables).length) out.tables = tables;
  if (Object.keys(session.values.value).length) out.values = session.values.value;
  if (session.until.value !== null) out.until = session.until.value;
  if (!player.playing.value && player.time.value !== 0) out.time = player.time.value;
  if (JSON.stringify(panes.layout.value) !== JSON.stringify(FIRST)) out.layout = panes.layout.value;
  if (plots.requests.value) out.plots = plots.requests.value;
  if (tour.at.value !== null) out.lesson = tour.at.value;
  return out;
}

let written = "";
const write = debounced(() => void (async () => {
  written = await pack(state());
  history.replaceState(null, "", `#s=${written}`);
})(), 400);
for (const cell of [session.document, session.values, session.until, panes.layout, plots.requests, player.playing, tour.at]) (cell as { listen(f: () => void): void }).listen(() => write.ask());
player.time.listen(() => { if (!player.playing.value) write.ask(); });
panes.onResize = () => write.ask();

async function share(): Promise<void> {
  written = await pack(state());
  history.replaceState(null, "", `#s=${written}`);
  try {
    await navigator.clipboard.writeText(location.href);
    say("Link copied: it holds the model and everything you changed");
  } catch {
    say("The link is in the address bar");
  }
}

function restore(from: State): void {
  if (from.layout) panes.layout.value = from.layout;
  if (from.front) panes.front.value = from.front;
  plots.requests.value = from.plots ?? null;
  wantedTime = from.time ?? null;
  tour.at.value = from.lesson !== undefined && LESSONS[from.lesson] ? from.lesson : null;
  shownFile = null;
  session.open({ file: from.file, text: from.text, tables: from.tables ?? {} }, from.values ?? {}, from.until ?? null);
}

async function begin(): Promise<void> {
  const packed = /^#s=([\w-]+)$/.exec(location.hash)?.[1];
  if (packed && packed === written) return;
  if (packed) {
    try {
      restore(await unpack(packed));
      return;
    } catch (error) {
      say(error instanceof BadLink ? error.message : "This link cannot be read");
    }
  }
  if (isServed()) {
    const model = await readServed();
    if (model.text !== null) {
      session.writable.value = model.writable;
      session.open({ file: model.file, text: model.text, tables: model.tables });
      return;
    }
  }
  const asked = /^#model=([\w-]+)$/.exec(location.hash)?.[1] ?? FIRST_MODEL;
  const entries = await session.engine.ask("gallery", {});
  const entry = entries.find((e) => e.name === asked) ?? entries.find((e) => e.name === FIRST_MODEL) ?? entries[0];
  if (entry) session.open({ file: `${entry.name}.toml`, text: entry.text, tables: {} });
}
addEventListener("hashchange", () => void begin());
session.failure.listen((why) => { if (why) say(why); });
void begin().catch((error: unknown) => { session.failure.value = error instanceof Error ? error.message : String(error); });
offline();

/** For those who look behind the page, and for its tests. */
Object.assign(globalThis, { carom: { session, player, stage, plots, panes, editor, tour } });
