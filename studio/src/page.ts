// The studio: text on the left, what it means on the right, hands on everything.

import { debounced } from "./app/cell";
import { companions } from "./app/companions";
import { download, dropping, fileMenu, saving } from "./app/files";
import { Gallery } from "./app/gallery";
import { pack, type State } from "./app/link";
import { offline } from "./app/offline";
import { opening, type Opening } from "./app/opening";
import { Player } from "./app/player";
import { still, theme, toggleTheme } from "./app/theme";
import { LESSONS, Tour } from "./app/tour";
import { entered, first, session } from "./boot";
import type { Scene } from "./engine/protocol";
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

/** The file of the motion on the stage, and the time at which the next one is shown. */
let shownFile: string | null = null;
let wantedTime: number | null = null;

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
const files: HTMLButtonElement = button("Files", "file", () => menu(files, fileMenu(session, picture, () => plots.asked())), { text: true, class: "label-wide", "aria-haspopup": "menu", "aria-expanded": "false", title: "Files" });
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
  const { motion, columns } = shown.reply;
  // A motion without a picture is shown all the same: an empty stage, no curves, its records.
  const scene = shown.reply.scene ?? nothing();
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
  // After the frame that draws it, which has been asked for above.
  if (shown.serial === 1) requestAnimationFrame(() => performance.mark("first motion"));
  document.body.dataset["serial"] = String(shown.serial);
});
session.dragging.listen((on) => stage.hold(on));
session.progress.watch((part) => {
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
saving(session);

/** What is drawn of a motion that cannot be drawn. */
function nothing(): Scene {
  return { dimension: 0, time: new Float64Array(1), time_unit: "", columns: [], points: [], links: [], springs: [], traces: [], fills: [], surfaces: [], bounds: [], walls: [], jumps: [], total: 0, palette: { light: [], dark: [] }, speed: 1, speeds: [1] };
}

/** The stage as it is now, as a file. */
function picture(): void {
  const canvas = h("canvas", { width: 2 * stage.pixels.width, height: 2 * stage.pixels.height });
  const c = canvas.getContext("2d");
  if (!c) return;
  stage.draw(player.time.value, c, 2);
  c.globalCompositeOperation = "destination-over";
  c.setTransform(1, 0, 0, 1, 0, 0);
  c.fillStyle = stage.paper;
  c.fillRect(0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => { if (blob) download(`${session.document.value.file.replace(/\.toml$/, "")}.stage.png`, "image/png", blob); }, "image/png");
}

// ---- the address ------------------------------------------------------------------------------------------------
function state(): State {
  const { file, text, tables, crlf, disk } = session.document.value;
  const out: State = { file, text };
  if (crlf) out.crlf = true;
  if (disk !== undefined) out.disk = disk.version;
  if (disk !== undefined && disk.text !== text) out.typed = true;
  if (Object.keys(tables).length) out.tables = tables;
  if (Object.keys(session.values.value).length) out.values = session.values.value;
  if (session.until.value !== null) out.until = session.until.value;
  if (!player.playing.value && player.time.value !== 0) out.time = player.time.value;
  if (JSON.stringify(panes.layout.value) !== JSON.stringify(FIRST)) out.layout = panes.layout.value;
  if (plots.requests.value) out.plots = plots.requests.value;
  if (tour.at.value !== null) out.lesson = tour.at.value;
  if (player.chosen) out.speed = player.speed.value;
  if (stage.turned) out.turn = [stage.turn.about, stage.turn.above];
  if (plots.zoomed.value) out.zoom = plots.zoomed.value;
  if (beside.pinned.value) out.compare = beside.pinned.value.values;
  if (beside.ghost.value) out.ghost = true;
  if (beside.cloud.value) out.cloud = true;
  return out;
}

/** The address as this page opened or wrote it last. Any other was entered by someone: it is opened, never written over. */
let known = entered;
/** Counts addresses that were entered: of two, the later one is opened. */
let entries = 0;
async function address(): Promise<boolean> {
  const { text, whole } = await pack(state());
  if (location.hash === known) {
    known = `#s=${text}`;
    history.replaceState(null, "", known);
  }
  return whole;
}
function enter(): void {
  if (location.hash === known) return;
  known = location.hash;
  const entry = ++entries;
  opening(session, known).then((found) => { if (entry === entries) restore(found); }, failed);
}
const write = debounced(() => void address(), 400);
for (const cell of [session.document, session.values, session.until, panes.layout, plots.requests, plots.zoomed, player.playing, player.speed, stage.looks, beside.pinned, beside.ghost, beside.cloud, tour.at]) (cell as { listen(f: () => void): void }).listen(() => write.ask());
player.time.listen(() => { if (!player.playing.value) write.ask(); });
panes.onResize = () => write.ask();

async function share(): Promise<void> {
  const whole = await address();
  try {
    await navigator.clipboard.writeText(location.href);
    say(whole ? "Link copied: it holds the model and everything you changed" : "Link copied, without the tables: they are too long for a link; send their files along");
  } catch {
    say("The link is in the address bar");
  }
}

function restore({ document, state: from, said }: Opening): void {
  if (from.layout) panes.layout.value = from.layout;
  if (from.front) panes.front.value = from.front;
  plots.requests.value = from.plots ?? null;
  wantedTime = from.time ?? null;
  tour.at.value = from.lesson !== undefined && LESSONS[from.lesson] ? from.lesson : null;
  shownFile = null;
  if (from.speed !== undefined) player.chooseSpeed(from.speed);
  if (from.turn) stage.look(...from.turn);
  session.open(document, from.values ?? {}, from.until ?? null);
  beside.ghost.value = from.ghost ?? false;
  beside.cloud.value = from.cloud ?? false;
  // After the motion itself, which is what is waited for.
  const { compare, zoom } = from;
  if (compare || zoom) {
    const stop = session.shown.listen(() => {
      stop();
      if (zoom) plots.zoom(zoom);
      if (compare) void beside.pin(compare);
    });
  }
  if (said) say(said);
}

function failed(error: unknown): void {
  session.failure.value = error instanceof Error ? error.message : String(error);
}
addEventListener("hashchange", enter);
session.failure.listen((why) => { if (why) say(why); });
first.then((found) => { if (entries === 0) restore(found); }, failed);
enter();
offline();

/** For those who look behind the page, and for its tests. */
Object.assign(globalThis, { carom: { session, player, stage, plots, panes, editor, tour, beside } });
