// Plays a motion. Everything shown comes from the data block of this page; nothing is computed but pictures.
const $ = (id) => document.getElementById(id);
const D = JSON.parse($("motion").textContent);
const buffer = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
const T = new Float64Array(buffer(D.time));
const N = T.length;
const columns = D.columns.map((c) => ({ ...c, values: new Float64Array(buffer(c.data)) }));
const points = D.points.map((p) => ({
  ...p,
  at: p.data.map((d) => new Float32Array(buffer(d))),
  turn: p.angle ? new Float32Array(buffer(p.angle)) : null,
}));
const fills = D.fills.map((f) => ({ ...f, turned: f.turned.map((d) => new Float32Array(buffer(d))) }));
const surfaces = D.surfaces.map((s) => new Float32Array(buffer(s)));
const walls = D.walls.map((w) => ({
  ...w,
  times: new Float64Array(buffer(w.times)),
  frames: w.frames.map((f) => f.map((curve) => new Float32Array(buffer(curve)))),
}));
const first = T[0], last = T[N - 1], length = Math.max(last - first, 1e-12);
const stage = $("stage"), plots = $("plots"), scrub = $("scrub"), speed = $("speed");
const flat = D.dimension === 2, drawn = D.dimension > 0;
/** Curves of the plots: those of the motion shown, and of the motions it is compared with, which have times of their own. */
const series = D.series.map((s) => {
  const own = s.time !== undefined;
  return { ...s, times: own ? new Float64Array(buffer(s.time)) : T, values: own ? new Float64Array(buffer(s.data)) : columns[s.column].values, after: new Set(own ? s.after : D.jumps.map((j) => j.knot)) };
});
const quiet = matchMedia("(prefers-reduced-motion: reduce)").matches;

let now = first, knot = 0, playing = false, before = 0, stale = true;
let turn = { about: -0.9, above: 0.35 };

// ---- time ------------------------------------------------------------------------------------------------------
/** The last knot at or before a time. */
function knotAt(t) {
  let low = 0, high = N - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (T[middle] <= t) low = middle; else high = middle - 1;
  }
  return low;
}
function setTime(t) {
  now = Math.min(last, Math.max(first, t));
  knot = knotAt(now);
  stale = true;
}
/** Goes to a knot, where the numbers are exact. */
function seekKnot(k) {
  k = Math.min(N - 1, Math.max(0, k));
  now = T[k];
  knot = knotAt(now);
  stale = true;
  draw();
}
function seek(t) {
  const k = knotAt(t);
  seekKnot(k + 1 < N && T[k + 1] - t < t - T[k] ? k + 1 : k);
}
function impactAfter(t) { return D.jumps.find((j) => T[j.knot] > t); }
function impactBefore(t) { let found; for (const j of D.jumps) { if (T[j.knot] < t) found = j; else break; } return found; }
const toImpact = (j) => { pause(); if (j) seekKnot(j.knot); };
function play() { if (now >= last) setTime(first); playing = true; before = performance.now(); $("play").textContent = "❚❚"; $("play").setAttribute("aria-label", "Pause"); requestAnimationFrame(tick); }
function pause() { playing = false; $("play").textContent = "▶"; $("play").setAttribute("aria-label", "Play"); }
function tick(at) {
  if (!playing) return;
  // A hidden tab must not jump ahead when it comes back.
  const passed = Math.min(0.1, Math.max(0, (at - before) / 1000));
  before = at;
  setTime(now + passed * Number(speed.value));
  if (now >= last) pause();
  draw();
  if (playing) requestAnimationFrame(tick);
}

// ---- colours and sizes -----------------------------------------------------------------------------------------
let ink = {};
function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["bg", "panel", "ink", "muted", "grid", "rule", "wall", "flash"]) ink[name] = style.getPropertyValue("--" + name).trim();
  const dark = style.colorScheme.trim() === "dark";
  document.documentElement.toggleAttribute("data-dark", dark);
  ink.curves = dark ? D.palette.dark : D.palette.light;
}
const colour = (n) => ink.curves[n % ink.curves.length];
function fit(canvas, height) {
  const ratio = Math.min(3, window.devicePixelRatio || 1), width = canvas.clientWidth;
  canvas.style.height = height + "px";
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  const c = canvas.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { c, width, height, ratio };
}
let stageBox;
function layout() {
  readColours();
  if (drawn) {
    const width = stage.clientWidth, b = D.bounds;
    const half = b.map((r) => (r[1] - r[0]) / 2), wide = Math.hypot(half[0], half[1]);
    const shape = flat ? half[1] / half[0] : Math.min(1, Math.max(0.6, (half[2] * Math.cos(0.35) + wide * Math.sin(0.35)) / wide));
    const tallest = Math.max(240, Math.min(innerHeight * 0.68, width * 1.05));
    stageBox = fit(stage, Math.round(Math.min(tallest, Math.max(width * 0.42, width * shape))));
  }
  layoutPlots();
  stale = true;
  draw();
}
