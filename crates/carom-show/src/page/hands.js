// ---- numbers ---------------------------------------------------------------------------------------------------
const cells = columns.map((column) => {
  const row = document.createElement("tr"), name = document.createElement("th"), value = document.createElement("td"), old = document.createElement("td"), unit = document.createElement("td");
  name.scope = "row";
  for (const [text, italic, shift] of column.label) {
    const e = document.createElement(shift ? "sub" : italic ? "i" : "span");
    e.textContent = text;
    name.append(e);
  }
  value.className = "value";
  value.dataset.name = column.name;
  old.className = "before";
  unit.className = "unit";
  unit.textContent = column.unit || "";
  row.append(name, old, value, unit);
  $("numbers").append(row);
  return { value, old };
});
const digits = (v) => (Number.isFinite(v) ? (v === 0 ? "0" : Math.abs(v) >= 1e6 || Math.abs(v) < 1e-4 ? v.toExponential(6) : v.toPrecision(8)).replace("-", "−") : "–");
const jumpAt = new Map(D.jumps.map((j, n) => [j.knot, n]));
let shown = -1;
function drawNumbers() {
  $("clock").textContent = now.toPrecision(5) + (D.time_unit ? " " + D.time_unit : "");
  scrub.value = now;
  scrub.setAttribute("aria-valuetext", "t = " + now.toPrecision(6));
  if (shown === knot) return;
  shown = knot;
  // The knot after a jump is followed by a sample at the same time only if one was asked for there.
  let k = knot;
  while (k > 0 && T[k - 1] === T[knot] && !jumpAt.has(k)) k--;
  const jump = jumpAt.has(k) ? jumpAt.get(k) : undefined;
  const at = jump === undefined ? knot : k;
  document.body.dataset.knot = at;
  document.body.dataset.time = T[at];
  columns.forEach((column, i) => {
    const v = column.values[at], b = jump === undefined ? NaN : column.values[at - 1];
    cells[i].value.textContent = digits(v);
    cells[i].value.dataset.value = v;
    const jumped = Number.isFinite(b) && b !== v;
    cells[i].old.textContent = jumped ? digits(b) + " →" : "";
    if (jumped) cells[i].old.dataset.value = b; else delete cells[i].old.dataset.value;
  });
  const status = $("status");
  if (jump === undefined) status.textContent = D.jumps.length ? "" : D.note || "";
  else {
    const j = D.jumps[jump], b = document.createElement("b");
    b.textContent = (j.reset ? "reset " : "impact ") + j.number + " of " + D.total;
    status.replaceChildren(b, (j.walls.length ? " on " + j.walls.join(", ") : "") + " at t = " + T[at]);
  }
}
let ready = false;
function draw() { if (!stale || !ready) return; stale = false; if (drawn) drawStage(); drawPlots(); drawNumbers(); }

// ---- hands -----------------------------------------------------------------------------------------------------
$("play").onclick = () => (playing ? pause() : play());
$("previous").onclick = () => toImpact(impactBefore(now));
$("next").onclick = () => toImpact(impactAfter(now));
$("theme").onclick = () => {
  document.documentElement.dataset.theme = document.documentElement.hasAttribute("data-dark") ? "light" : "dark";
  layout();
};
if (!D.jumps.length) $("previous").hidden = $("next").hidden = true;
scrub.min = first;
scrub.max = last;
scrub.oninput = () => { pause(); seek(Number(scrub.value)); };
for (const v of D.speeds) speed.append(new Option(v + "×", v, v === D.speed, v === D.speed));
addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target === speed) return;
  const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
  if (e.key === " " && e.target.tagName !== "BUTTON") playing ? pause() : play();
  else if (!flat && e.target === stage && e.key.startsWith("Arrow")) {
    turn.about += { ArrowLeft: -0.1, ArrowRight: 0.1 }[e.key] || 0;
    turn.above += { ArrowUp: 0.1, ArrowDown: -0.1 }[e.key] || 0;
    stale = true;
    draw();
  } else if (by && e.shiftKey) toImpact(by > 0 ? impactAfter(now) : impactBefore(now));
  else if (by) { pause(); const t = now + (by * length) / 200, k = knotAt(t); seekKnot(by > 0 ? Math.max(k, knot + 1) : Math.min(k, knot - 1)); }
  else if (e.key === "." || e.key === ",") { pause(); seekKnot(knot + (e.key === "." ? 1 : -1)); }
  else if (e.key === "+" || e.key === "=") $("closer").click();
  else if (e.key === "-") $("farther").click();
  else if (e.key === "0") $("whole").click();
  else if (e.key === "Home") { pause(); seekKnot(0); }
  else if (e.key === "End") { pause(); seekKnot(N - 1); }
  else return;
  e.preventDefault();
});
if (flat || !drawn) stage.classList.add("flat");
else {
  stage.style.cursor = "grab";
  stage.onpointerdown = (e) => stage.setPointerCapture(e.pointerId);
  stage.onpointermove = (e) => {
    if (!e.buttons) return;
    turn.about += e.movementX * 0.01;
    turn.above = Math.min(1.55, Math.max(-1.55, turn.above + e.movementY * 0.01));
    stale = true;
    draw();
  };
}
let width = 0;
new ResizeObserver(() => requestAnimationFrame(() => {
  const wide = $("curves").clientWidth + stage.clientWidth;
  if (wide !== width) { width = wide; layout(); }
})).observe(document.querySelector("main"));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", layout);
window.carom = {
  get time() { return now; }, get knot() { return knot; }, get playing() { return playing; }, get view() { return { ...view }; }, zoom, series,
  knots: N, times: T, jumps: D.jumps, columns, seek, seekKnot, play, pause,
  state: () => Object.fromEntries(columns.map((column, i) => [column.name, Number(cells[i].value.dataset.value)])),
};
ready = true;
layout();
const asked = /^#t=(.+)$/.exec(location.hash);
if (asked && Number.isFinite(Number(asked[1]))) seek(Number(asked[1]));
else if (!quiet && N > 1 && location.hash !== "#paused") play();

