// ---- marks of axes ---------------------------------------------------------------------------------------------
/** Values and labels of marks: steps of 1, 2 or 5 times a power of ten, or simple parts of π for angles; powers of ten for logarithms. */
function marks(low, high, wanted, kind) {
  const span = high - low, multiples = (step) => {
    const found = [];
    for (let n = Math.ceil(low / step - 1e-9); n * step <= high + 1e-9 * step && found.length < 1000; n++) found.push(n);
    return found;
  };
  if (kind === "log") {
    const step = Math.max(1, Math.ceil(span / Math.max(1, wanted)));
    return multiples(step).map((n) => [n * step, "10" + String(n * step).replace(/./g, (d) => (d === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]))]);
  }
  if (kind === "angle" && span > 0.75 * Math.PI && span < 60 * Math.PI) {
    const steps = [[1, 4], [1, 2], [1, 1], [2, 1], [5, 1], [10, 1], [20, 1]];
    let at = steps.findIndex(([n, d]) => (span * d) / (n * Math.PI) <= wanted + 1);
    if (at < 0) at = steps.length - 1;
    // One mark alone is no scale.
    if (at > 0 && multiples((Math.PI * steps[at][0]) / steps[at][1]).length < 2) at--;
    const [n, d] = steps[at];
    const gcd = (a, b) => (b ? gcd(b, a % b) : a);
    return multiples((Math.PI * n) / d).map((k) => {
      const top = k * n, g = Math.max(1, gcd(Math.abs(top), d)), [p, q] = [top / g, d / g];
      const whole = p === 0 ? "0" : p === 1 ? "π" : p === -1 ? "−π" : `${p}π`.replace("-", "−");
      return [(k * Math.PI * n) / d, p && q > 1 ? `${whole}/${q}` : whole];
    });
  }
  const power = 10 ** Math.floor(Math.log10(span / wanted));
  const misfit = (step) => { const n = Math.floor(high / step + 1e-9) - Math.ceil(low / step - 1e-9) + 1; return Math.abs(n - wanted - 1) + (n < 3 ? 4 : 0); };
  const step = [10, 5, 2, 1, 0.5, 0.2].map((m) => m * power).reduce((a, b) => (misfit(b) < misfit(a) ? b : a));
  const digits = Math.max(0, -Math.floor(Math.log10(step * 1.0001)));
  const text = (v) => (Math.abs(v) >= 1e5 || digits > 5 ? v.toPrecision(3) : v.toFixed(digits)).replace(/^-(?=0\.?0*$)/, "").replace("-", "−");
  return multiples(step).map((n) => [n * step, text(n * step)]);
}
const face = (italic, size) => `${italic ? "italic " : ""}${size}px system-ui, "Helvetica Neue", Arial, sans-serif`;
function drawLabel(c, runs, x, y, size) {
  for (const [text, italic, shift] of runs) {
    c.font = face(italic, shift ? size * 0.75 : size);
    c.fillText(text, x, y - shift * size * 0.25);
    x += c.measureText(text).width;
  }
  return x;
}
const plain = (runs) => runs.map((r) => r[0]).join("");
/** The last index at or before a time. */
function indexAt(times, t) {
  let low = 0, high = times.length - 1;
  while (low < high) { const m = (low + high + 1) >> 1; if (times[m] <= t) low = m; else high = m - 1; }
  return low;
}

// ---- panels over time: what is visible is a window that can be narrowed -------------------------------------------
const left = 56, rightEdge = 10, MOST_DOTS = 40;
let plotBox, panels = [], still, each = 120, view = { from: first, to: last }, hover = null, selecting = null;
const across = (t) => left + ((t - view.from) / (view.to - view.from)) * (plotBox.width - left - rightEdge);
const timeAt = (x) => view.from + ((x - left) / (plotBox.width - left - rightEdge)) * (view.to - view.from);
/** The colour of a curve: that of its run where runs are compared, else by its place in the panel. */
const tint = (i, m) => colour(series[i].colour ?? m);
const zoomed = () => view.from > first || view.to < last;
function layoutPlots() {
  if (D.compared) $("runs").replaceChildren(...D.compared.map((name, n) => { const e = document.createElement("b"); e.textContent = (n ? "┅ " : "━ ") + name + " "; e.style.color = colour(n); return e; }));
  plots.hidden = !D.panels.length;
  if (!plots.hidden) {
    each = innerWidth < 820 ? 118 : Math.max(104, Math.min(150, 480 / Math.max(1, D.panels.length)));
    plotBox = fit(plots, Math.round(D.panels.length * (each + 24) + 40));
    drawStill();
  }
  layoutPlanes();
}
/** Shows the time from … to; never less than a few samples can fill, never more than there is. */
function zoom(from, to) {
  const least = length * 1e-9;
  if (to - from < least) [from, to] = [(from + to - least) / 2, (from + to + least) / 2];
  const span = Math.min(to - from, length);
  from = Math.min(Math.max(from, first), last - span);
  view = { from, to: Math.max(from + span, from + least) };
  if (!(view.to < last)) view.to = first + length;
  $("whole").disabled = !zoomed();
  drawStill();
  stale = true;
  draw();
}
const zoomAbout = (t, factor) => zoom(t - (t - view.from) * factor, t + (view.to - t) * factor);
function range(panel) {
  let low = Infinity, high = -Infinity;
  for (const i of panel.curves) {
    const s = series[i], from = Math.max(0, indexAt(s.times, view.from)), to = Math.min(s.times.length - 1, indexAt(s.times, view.to) + 1);
    for (let k = from; k <= to; k++) { const v = s.values[k]; if (Number.isFinite(v)) { if (v < low) low = v; if (v > high) high = v; } }
  }
  if (!(low <= high)) return [-1, 1];
  const size = Math.max(Math.abs(low), Math.abs(high));
  const spare = high - low <= 1e-9 * size ? 0.1 * size || 1 : 0.07 * (high - low);
  return [low - spare, high + spare];
}
function drawStill() {
  const { width, ratio } = plotBox;
  still = document.createElement("canvas");
  still.width = plots.width;
  still.height = plots.height;
  const c = still.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  const times = marks(view.from, view.to, Math.max(2, Math.floor(width / 80)));
  panels = D.panels.map((panel, n) => {
    const [low, high] = range(panel), top = n * (each + 24) + 22, bottom = top + each;
    return { ...panel, low, high, top, bottom, up: (v) => bottom - ((v - low) / (high - low)) * each };
  });
  panels.forEach((panel, n) => {
    c.lineWidth = 1;
    c.strokeStyle = ink.grid;
    c.fillStyle = ink.muted;
    c.font = face(false, 11);
    c.textAlign = "right";
    c.beginPath();
    for (const [v, text] of marks(panel.low, panel.high, Math.max(2, Math.round(each / 42)), panel.kind)) { const y = panel.up(v); c.moveTo(left, y); c.lineTo(width - rightEdge, y); c.fillText(text, left - 6, y + 4); }
    for (const [t] of times) { c.moveTo(across(t), panel.top); c.lineTo(across(t), panel.bottom); }
    c.stroke();
    c.textAlign = "center";
    if (n === panels.length - 1) {
      for (const [t, text] of times) c.fillText(text, across(t), panel.bottom + 15);
      c.font = face(true, 13);
      c.fillText("t" + (D.time_unit ? " (" + D.time_unit + ")" : ""), (left + width - rightEdge) / 2, panel.bottom + 32);
    }
    c.textAlign = "left";
    c.save();
    c.beginPath();
    c.rect(left - 3, panel.top - 3, width - left - rightEdge + 6, panel.bottom - panel.top + 6);
    c.clip();
    if (!D.compared) drawImpacts(c, panel);
    panel.curves.forEach((i, m) => drawCurve(c, series[i], panel, tint(i, m), series[i].colour > 0));
    c.restore();
    let x = left;
    if (panel.title) { c.fillStyle = ink.ink; x = drawLabel(c, panel.title, x, panel.top - 7, 13) + 12; }
    if (!panel.title) panel.curves.forEach((i, m) => {
      c.fillStyle = tint(i, m);
      if (x < width - 60) x = drawLabel(c, series[i].label, x, panel.top - 7, 13) + 14;
    });
    if (panel.unit) { c.fillStyle = ink.muted; c.font = face(false, 12); c.fillText(panel.unit, x, panel.top - 7); }
  });
}
/** Impacts: at most one mark every two pixels. */
function drawImpacts(c, panel) {
  const seen = D.jumps.filter((j) => T[j.knot] >= view.from && T[j.knot] <= view.to);
  c.strokeStyle = ink.muted;
  c.globalAlpha = seen.length > 60 ? 0.25 : 0.55;
  c.setLineDash([2, 3]);
  c.beginPath();
  let at = -9;
  for (const j of seen) { const x = across(T[j.knot]); if (x - at >= 2) { at = x; c.moveTo(x, panel.top); c.lineTo(x, panel.bottom); } }
  c.stroke();
  c.setLineDash([]);
  c.globalAlpha = 1;
}
/** Per half pixel first, lowest, highest, last; the pen is up across jumps and where there is no value. Both sides of a jump are dots. */
function drawCurve(c, s, panel, stroke, dashed) {
  const v = s.values, t = s.times, tiny = 1e-9 * Math.max(Math.abs(panel.high), Math.abs(panel.low)), dots = [];
  const from = Math.max(0, indexAt(t, view.from) - 1), to = Math.min(t.length - 1, indexAt(t, view.to) + 1);
  c.strokeStyle = stroke;
  c.lineWidth = 1.6;
  c.lineJoin = "round";
  c.setLineDash(dashed ? [6, 4] : []);
  c.beginPath();
  let down = false, at = NaN, low = 0, high = 0, end = 0;
  const flush = () => { if (low < end || high > end) { c.lineTo(at, panel.up(low)); c.lineTo(at, panel.up(high)); c.lineTo(at, panel.up(end)); } };
  for (let k = from; k <= to; k++) {
    const y = v[k];
    if (!Number.isFinite(y)) { if (down) flush(); down = false; at = NaN; continue; }
    if (k > from && s.after.has(k) && !(Math.abs(y - v[k - 1]) <= tiny)) {
      if (down) flush();
      down = false;
      at = NaN;
      if (Number.isFinite(v[k - 1])) dots.push([t[k], v[k - 1], false]);
      dots.push([t[k], y, true]);
    }
    const x = Math.round(across(t[k]) * 2) / 2;
    if (!down) { c.moveTo(x, panel.up(y)); down = true; at = x; low = high = end = y; continue; }
    if (x === at) { low = Math.min(low, y); high = Math.max(high, y); end = y; continue; }
    flush();
    c.lineTo(x, panel.up(y));
    at = x;
    low = high = end = y;
  }
  if (down) flush();
  c.stroke();
  c.setLineDash([]);
  if (dots.length > 2 * MOST_DOTS) return;
  for (const [time, y, after] of dots) dot(c, across(time), panel.up(y), stroke, after);
}
/** A side of a jump: full after it, hollow before it. */
function dot(c, x, y, stroke, after) {
  c.beginPath();
  c.arc(x, y, 2.6, 0, 7);
  c.fillStyle = after ? stroke : ink.bg;
  c.strokeStyle = stroke;
  c.lineWidth = 1.2;
  c.fill();
  c.stroke();
}
/** A curve's value at a time. */
function valueAt(s, t) {
  const k = indexAt(s.times, t), n = Math.min(s.times.length - 1, k + 1), w = s.times[n] > s.times[k] ? (t - s.times[k]) / (s.times[n] - s.times[k]) : 0;
  return t < s.times[0] || t > s.times[s.times.length - 1] ? NaN : s.values[k] + w * (s.values[n] - s.values[k]);
}
function drawPlots() {
  if (plots.hidden) return drawPlanes();
  // While it plays, the window follows.
  if (playing && zoomed() && (now < view.from || now > view.to)) { const span = view.to - view.from; zoom(now, now + span); return; }
  const { c, width, height } = plotBox;
  c.clearRect(0, 0, width, height);
  c.drawImage(still, 0, 0, width, height);
  if (selecting) {
    c.fillStyle = ink.muted;
    c.globalAlpha = 0.18;
    for (const p of panels) c.fillRect(Math.min(selecting.from, selecting.to), p.top, Math.abs(selecting.to - selecting.from), p.bottom - p.top);
    c.globalAlpha = 1;
  }
  const line = (t, stroke, dots) => {
    const x = across(t);
    if (x < left - 1 || x > width - rightEdge + 1) return;
    c.strokeStyle = stroke;
    c.lineWidth = 1;
    for (const panel of panels) {
      c.beginPath();
      c.moveTo(x, panel.top);
      c.lineTo(x, panel.bottom);
      c.stroke();
      if (dots) panel.curves.forEach((i, m) => {
        const y = valueAt(series[i], t);
        if (!Number.isFinite(y)) return;
        c.beginPath();
        c.arc(x, panel.up(y), 3.6, 0, 7);
        c.fillStyle = tint(i, m);
        c.fill();
      });
    }
  };
  if (hover !== null) line(hover, ink.rule, false);
  line(now, ink.ink, true);
  drawPlanes();
}

// ---- planes of two signals ---------------------------------------------------------------------------------------
let planes = [];
function layoutPlanes() {
  const holder = $("planes");
  holder.hidden = !D.planes.length;
  planes = D.planes.map((p, n) => {
    const canvas = holder.children[n] ?? holder.appendChild(document.createElement("canvas"));
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${plain(columns[p.y].label)} over ${plain(columns[p.x].label)}`);
    const box = fit(canvas, Math.round(Math.min(canvas.clientWidth * 0.78, 340)));
    const old = planes[n], plane = { ...p, canvas, box, n, x: columns[p.x], y: columns[p.y], shown: old?.shown ?? null };
    canvas.onpointerdown = (e) => { plane.drag = { x: e.offsetX, y: e.offsetY, to: null }; canvas.setPointerCapture(e.pointerId); };
    canvas.onpointermove = (e) => { if (plane.drag && e.buttons) { plane.drag.to = [e.offsetX, e.offsetY]; stale = true; draw(); } else if (e.pointerType !== "touch") planeTip(plane, e); };
    canvas.onpointerup = (e) => planeUp(plane, e);
    canvas.onpointerleave = () => { tip(null); };
    canvas.ondblclick = () => { plane.shown = null; drawPlaneStill(plane); stale = true; draw(); };
    drawPlaneStill(plane);
    return plane;
  });
}
function extent(values) {
  let low = Infinity, high = -Infinity;
  for (const v of values) if (Number.isFinite(v)) { if (v < low) low = v; if (v > high) high = v; }
  if (!(low <= high)) return [-1, 1];
  const size = Math.max(Math.abs(low), Math.abs(high)), spare = high - low <= 1e-9 * size ? 0.1 * size || 1 : 0.05 * (high - low);
  return [low - spare, high + spare];
}
function drawPlaneStill(p) {
  const { width, height, ratio } = p.box, area = { left: 56, right: width - 10, top: 24, bottom: height - 36 };
  let [x, y] = p.shown ?? [extent(p.x.values), extent(p.y.values)];
  if (p.equal && !p.shown) {
    const scale = Math.min((area.right - area.left) / (x[1] - x[0]), (area.bottom - area.top) / (y[1] - y[0]));
    const grow = (r, pixels) => { const extra = (pixels / scale - (r[1] - r[0])) / 2; return [r[0] - extra, r[1] + extra]; };
    [x, y] = [grow(x, area.right - area.left), grow(y, area.bottom - area.top)];
  }
  p.area = area;
  p.to = (a, b) => [area.left + ((a - x[0]) / (x[1] - x[0])) * (area.right - area.left), area.bottom - ((b - y[0]) / (y[1] - y[0])) * (area.bottom - area.top)];
  p.from = (px, py) => [x[0] + ((px - area.left) / (area.right - area.left)) * (x[1] - x[0]), y[0] + ((area.bottom - py) / (area.bottom - area.top)) * (y[1] - y[0])];
  p.still = document.createElement("canvas");
  p.still.width = p.canvas.width;
  p.still.height = p.canvas.height;
  const c = p.still.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.strokeStyle = ink.grid;
  c.fillStyle = ink.muted;
  c.font = face(false, 11);
  c.beginPath();
  c.textAlign = "center";
  for (const [v, text] of marks(...x, 5, p.x.kind)) { const [px] = p.to(v, 0); c.moveTo(px, area.top); c.lineTo(px, area.bottom); c.fillText(text, px, area.bottom + 15); }
  c.textAlign = "right";
  for (const [v, text] of marks(...y, 5, p.y.kind)) { const [, py] = p.to(0, v); c.moveTo(area.left, py); c.lineTo(area.right, py); c.fillText(text, area.left - 6, py + 4); }
  c.stroke();
  c.textAlign = "left";
  c.fillStyle = ink.ink;
  const unit = (s) => (s.unit ? ` (${s.unit})` : "");
  c.fillText(unit(p.y), drawLabel(c, p.y.label, area.left, 16, 13), 16);
  const end = drawLabel(c, p.x.label, (area.left + area.right) / 2, height - 6, 13);
  c.fillText(unit(p.x), end, height - 6);
  c.save();
  c.beginPath();
  c.rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
  c.clip();
  c.strokeStyle = colour(0);
  c.lineWidth = N > 20000 ? 0.7 : 1.4;
  c.beginPath();
  const after = new Set(D.jumps.map((j) => j.knot)), jumps = [], [wx, wy] = [1e-9 * (x[1] - x[0]), 1e-9 * (y[1] - y[0])];
  let down = false;
  for (let k = 0; k < N; k++) {
    const [a, b] = [p.x.values[k], p.y.values[k]];
    if (!Number.isFinite(a) || !Number.isFinite(b)) { down = false; continue; }
    if (after.has(k) && (Math.abs(a - p.x.values[k - 1]) > wx || Math.abs(b - p.y.values[k - 1]) > wy)) { if (down) jumps.push(k); down = false; }
    const q = p.to(a, b);
    if (down) c.lineTo(...q); else c.moveTo(...q);
    down = true;
  }
  c.stroke();
  if (jumps.length <= MOST_DOTS) for (const k of jumps) {
    const [a, b] = [k - 1, k].map((i) => p.to(p.x.values[i], p.y.values[i]));
    c.setLineDash([2, 3]);
    c.lineWidth = 1;
    c.strokeStyle = colour(0);
    c.beginPath();
    c.moveTo(...a);
    c.lineTo(...b);
    c.stroke();
    c.setLineDash([]);
    dot(c, ...a, colour(0), false);
    dot(c, ...b, colour(0), true);
  }
  c.restore();
}
function drawPlanes() {
  for (const p of planes) {
    const { c, width, height } = p.box;
    c.clearRect(0, 0, width, height);
    c.drawImage(p.still, 0, 0, width, height);
    if (p.drag?.to) {
      c.fillStyle = ink.muted;
      c.globalAlpha = 0.18;
      c.fillRect(p.drag.x, p.drag.y, p.drag.to[0] - p.drag.x, p.drag.to[1] - p.drag.y);
      c.globalAlpha = 1;
    }
    const q = p.to(value(p.x.values), value(p.y.values));
    if (!q.every(Number.isFinite) || q[0] < p.area.left || q[0] > p.area.right || q[1] < p.area.top || q[1] > p.area.bottom) continue;
    c.beginPath();
    c.arc(...q, 4.5, 0, 7);
    c.fillStyle = ink.flash;
    c.strokeStyle = ink.bg;
    c.lineWidth = 1.5;
    c.fill();
    c.stroke();
  }
}
/** The knot of a plane nearest to a pixel, if it is near. */
function nearest(p, x, y) {
  let best = -1, least = 400;
  for (let k = 0; k < N; k++) {
    const q = p.to(p.x.values[k], p.y.values[k]), d = (q[0] - x) ** 2 + (q[1] - y) ** 2;
    if (d < least) { least = d; best = k; }
  }
  return best;
}
function planeTip(p, e) {
  const k = nearest(p, e.offsetX, e.offsetY);
  if (k < 0) tip(null);
  else tip(e, [["t", T[k]], [plain(p.x.label), p.x.values[k]], [plain(p.y.label), p.y.values[k]]]);
}
function planeUp(p, e) {
  const d = p.drag;
  p.drag = null;
  if (d?.to && Math.abs(d.to[0] - d.x) > 6 && Math.abs(d.to[1] - d.y) > 6) {
    const [a, b] = [p.from(d.x, d.y), p.from(...d.to)], sort = (u, v) => [Math.min(u, v), Math.max(u, v)];
    p.shown = [sort(a[0], b[0]), sort(a[1], b[1])];
    drawPlaneStill(p);
  } else {
    const k = nearest(p, e.offsetX, e.offsetY);
    if (k >= 0) { pause(); seekKnot(k); }
  }
  stale = true;
  draw();
}

// ---- what is under the pointer -----------------------------------------------------------------------------------
const tipBox = $("tip");
/** Shows numbers beside the pointer; null hides them. */
function tip(e, rows) {
  if (!e) { tipBox.hidden = true; return; }
  tipBox.replaceChildren(...rows.map(([name, v, stroke]) => {
    const row = document.createElement("div"), label = document.createElement("span"), number = document.createElement("span");
    label.textContent = name;
    if (stroke) label.style.color = stroke;
    number.textContent = digits(v);
    row.append(label, number);
    return row;
  }));
  tipBox.hidden = false;
  const box = tipBox.getBoundingClientRect(), x = e.clientX + 14 + box.width > innerWidth ? e.clientX - 14 - box.width : e.clientX + 14;
  tipBox.style.left = Math.max(4, x) + "px";
  tipBox.style.top = Math.max(4, Math.min(innerHeight - box.height - 4, e.clientY + 12)) + "px";
}
function plotTip(e) {
  const panel = panels.find((p) => e.offsetY >= p.top - 14 && e.offsetY <= p.bottom + 12), t = timeAt(e.offsetX);
  if (!panel || t < view.from || t > view.to) { hover = null; tip(null); stale = true; draw(); return; }
  const k = knotAt(t), at = k + 1 < N && T[k + 1] - t < t - T[k] ? k + 1 : k;
  hover = T[at];
  const many = panel.kind === "log" ? (v) => 10 ** v : (v) => v;
  tip(e, [["t", hover], ...panel.curves.map((i, m) => [plain(series[i].label), many(series[i].times === T ? series[i].values[at] : valueAt(series[i], hover)), tint(i, m)])]);
  stale = true;
  draw();
}
const fingers = new Map();
plots.onpointerdown = (e) => {
  plots.setPointerCapture(e.pointerId);
  fingers.set(e.pointerId, e.offsetX);
  if (e.pointerType === "touch") { pause(); seek(timeAt(e.offsetX)); }
  else selecting = { from: e.offsetX, to: e.offsetX };
  tip(null);
};
plots.onpointermove = (e) => {
  if (fingers.size === 2 && fingers.has(e.pointerId)) {
    // Two fingers: the times under them stay under them.
    const [a, b] = [...fingers.keys()], old = [a, b].map((id) => timeAt(fingers.get(id)));
    fingers.set(e.pointerId, e.offsetX);
    const [p, q] = [a, b].map((id) => fingers.get(id));
    if (Math.abs(p - q) > 20) { const scale = (old[1] - old[0]) / (q - p), from = old[0] - (p - left) * scale; zoom(from, from + scale * (plotBox.width - left - rightEdge)); }
  } else if (fingers.size && e.pointerType === "touch") seek(timeAt(e.offsetX));
  else if (selecting && e.buttons) { selecting.to = Math.min(plotBox.width - rightEdge, Math.max(left, e.offsetX)); stale = true; draw(); }
  else if (e.pointerType !== "touch") plotTip(e);
};
plots.onpointerup = plots.onpointercancel = (e) => {
  fingers.delete(e.pointerId);
  if (!selecting) return;
  const { from, to } = selecting;
  selecting = null;
  stale = true;
  if (Math.abs(to - from) > 5) zoom(timeAt(Math.min(from, to)), timeAt(Math.max(from, to)));
  else { pause(); seek(timeAt(from)); }
};
plots.onpointerleave = () => { hover = null; tip(null); stale = true; draw(); };
plots.ondblclick = () => zoom(first, last);
plots.addEventListener("wheel", (e) => { if (e.ctrlKey) { e.preventDefault(); zoomAbout(timeAt(e.offsetX), Math.exp(0.003 * e.deltaY)); } }, { passive: false });
$("closer").onclick = () => zoomAbout(Math.min(view.to, Math.max(view.from, now)), 0.5);
$("farther").onclick = () => zoomAbout(Math.min(view.to, Math.max(view.from, now)), 2);
$("whole").onclick = () => { zoom(first, last); for (const p of planes) { p.shown = null; drawPlaneStill(p); } stale = true; draw(); };
$("whole").disabled = true;

