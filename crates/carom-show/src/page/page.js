"use strict";
// Plays a motion. Everything shown comes from the data block of this page; nothing is computed but pictures.
(() => {
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
  const walls = D.walls.map((w) => ({
    ...w,
    times: new Float64Array(buffer(w.times)),
    frames: w.frames.map((f) => f.map((curve) => new Float32Array(buffer(curve)))),
  }));
  const first = T[0], last = T[N - 1], length = Math.max(last - first, 1e-12);
  const stage = $("stage"), plots = $("plots"), scrub = $("scrub"), speed = $("speed");
  const flat = D.dimension === 2;
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
  let stageBox, plotBox, panels = [], still;
  function layout() {
    readColours();
    const width = stage.clientWidth, b = D.bounds;
    const shape = flat ? (b[1][1] - b[1][0]) / (b[0][1] - b[0][0]) : 0.85;
    const tallest = Math.max(240, Math.min(innerHeight * 0.68, width * 1.05));
    stageBox = fit(stage, Math.round(Math.min(tallest, Math.max(width * 0.42, width * shape))));
    const each = innerWidth < 820 ? 118 : Math.max(104, Math.min(150, 480 / Math.max(1, D.panels.length)));
    plotBox = fit(plots, Math.round(D.panels.length * (each + 24) + 40));
    drawStill(each);
    stale = true;
    draw();
  }

  // ---- the stage -------------------------------------------------------------------------------------------------
  function projector() {
    const { width, height } = stageBox, b = D.bounds, pad = 14;
    if (flat) {
      const scale = Math.min((width - 2 * pad) / (b[0][1] - b[0][0]), (height - 2 * pad) / (b[1][1] - b[1][0]));
      const cx = (b[0][0] + b[0][1]) / 2, cy = (b[1][0] + b[1][1]) / 2;
      return (p) => [width / 2 + (p[0] - cx) * scale, height / 2 - (p[1] - cy) * scale, 0];
    }
    const middle = b.map((r) => (r[0] + r[1]) / 2), reach = Math.hypot(...b.map((r) => (r[1] - r[0]) / 2));
    const scale = (Math.min(width, height) / 2 - pad) / reach;
    const [ca, sa, ce, se] = [Math.cos(turn.about), Math.sin(turn.about), Math.cos(turn.above), Math.sin(turn.above)];
    return (p) => {
      const x = p[0] - middle[0], y = p[1] - middle[1], z = p[2] - middle[2];
      const right = ca * x - sa * y, back = sa * x + ca * y;
      return [width / 2 + right * scale, height / 2 - (z * ce + back * se) * scale, back * ce - z * se];
    };
  }
  /** Where a point is now: between knots on the straight line, across a jump never. */
  function place(p) {
    const k = knot, n = Math.min(N - 1, k + 1), s = T[n] > T[k] ? (now - T[k]) / (T[n] - T[k]) : 0;
    return p.at.map((c) => c[k] + s * (c[n] - c[k]));
  }
  function wallCurves(w) {
    const t = w.times;
    if (t.length < 2) return w.frames[0];
    let low = 0, high = t.length - 1;
    while (low < high) { const m = (low + high + 1) >> 1; if (t[m] <= now) low = m; else high = m - 1; }
    const a = w.frames[low], b = w.frames[Math.min(t.length - 1, low + 1)];
    const same = a.length === b.length && a.every((c, i) => c.length === b[i].length && c.length === 4);
    if (!same) return a;
    const gap = t[Math.min(t.length - 1, low + 1)] - t[low], s = gap > 0 ? (now - t[low]) / gap : 0;
    return a.map((c, i) => c.map((v, j) => v + s * (b[i][j] - v)));
  }
  /** A wall, one marker's radius behind its curve so that markers touch it, hatched on its own side. */
  function drawWall(c, curve, to, radius) {
    const p = [];
    for (let i = 0; i < curve.length; i += 2) p.push(to([curve[i], curve[i + 1], 0]));
    const closed = p.length > 3 && Math.hypot(p[0][0] - p[p.length - 1][0], p[0][1] - p[p.length - 1][1]) < 1e-3;
    const out = p.map((q, i) => {
      const a = p[i > 0 ? i - 1 : closed ? p.length - 2 : 0], b = p[i + 1 < p.length ? i + 1 : closed ? 1 : p.length - 1];
      const dx = b[0] - a[0], dy = b[1] - a[1], l = Math.hypot(dx, dy) || 1;
      return { x: q[0] - (dy / l) * radius, y: q[1] + (dx / l) * radius, nx: -dy / l, ny: dx / l };
    });
    c.strokeStyle = ink.wall;
    c.lineWidth = 2;
    c.beginPath();
    out.forEach((q, i) => (i ? c.lineTo(q.x, q.y) : c.moveTo(q.x, q.y)));
    c.stroke();
    c.lineWidth = 1;
    c.beginPath();
    let along = 0;
    for (let i = 1; i < out.length; i++) {
      const a = out[i - 1], b = out[i], l = Math.hypot(b.x - a.x, b.y - a.y);
      if (!(l > 0)) continue;
      const ux = (b.x - a.x) / l, uy = (b.y - a.y) / l;
      for (; along < l; along += 9) {
        const x = a.x + ux * along, y = a.y + uy * along;
        if (x < -20 || y < -20 || x > stageBox.width + 20 || y > stageBox.height + 20) continue;
        c.moveTo(x, y);
        c.lineTo(x + (a.nx - ux) * 7, y + (a.ny - uy) * 7);
      }
      along -= l;
    }
    c.stroke();
  }
  function spring(c, a, b) {
    const dx = b[0] - a[0], dy = b[1] - a[1], l = Math.hypot(dx, dy) || 1, ux = dx / l, uy = dy / l, lead = Math.min(12, l * 0.15), turns = 11;
    c.beginPath();
    c.moveTo(a[0], a[1]);
    c.lineTo(a[0] + ux * lead, a[1] + uy * lead);
    for (let i = 0; i <= 2 * turns; i++) {
      const s = lead + ((l - 2 * lead) * (i + 0.5)) / (2 * turns + 1), w = i % 2 ? 6 : -6;
      c.lineTo(a[0] + ux * s - uy * w, a[1] + uy * s + ux * w);
    }
    c.lineTo(b[0] - ux * lead, b[1] - uy * lead);
    c.lineTo(b[0], b[1]);
    c.stroke();
  }
  function drawSpace(c, to) {
    const b = D.bounds, floor = b[2][0], lines = 6;
    c.strokeStyle = ink.grid;
    c.lineWidth = 1;
    c.beginPath();
    for (let i = 0; i <= lines; i++) {
      const x = b[0][0] + ((b[0][1] - b[0][0]) * i) / lines, y = b[1][0] + ((b[1][1] - b[1][0]) * i) / lines;
      for (const [p, q] of [[[x, b[1][0], floor], [x, b[1][1], floor]], [[b[0][0], y, floor], [b[0][1], y, floor]]]) {
        c.moveTo(...to(p).slice(0, 2));
        c.lineTo(...to(q).slice(0, 2));
      }
    }
    c.stroke();
    const corner = [b[0][0], b[1][0], floor], size = 0.22 * Math.max(...b.map((r) => r[1] - r[0]));
    c.font = "italic 13px system-ui, sans-serif";
    c.fillStyle = c.strokeStyle = ink.muted;
    ["x", "y", "z"].forEach((name, i) => {
      const end = corner.slice();
      end[i] += size;
      const p = to(corner), q = to(end);
      c.beginPath();
      c.moveTo(p[0], p[1]);
      c.lineTo(q[0], q[1]);
      c.stroke();
      c.fillText(name, q[0] + 4, q[1] + 4);
    });
  }
  const stride = Math.max(1, Math.ceil(N / 4000));
  function drawStage() {
    const { c, width, height } = stageBox, to = projector();
    c.clearRect(0, 0, width, height);
    if (!flat) drawSpace(c, to);
    c.lineCap = c.lineJoin = "round";
    const here = points.map((p) => to(place(p)));
    const touching = points.reduce((r, p) => (p.role === "body" ? Math.max(r, p.radius) : r), 0);
    for (const w of walls) for (const curve of wallCurves(w)) drawWall(c, curve, to, touching);
    D.traces.forEach((i, n) => {
      const at = points[i].at, q = [0, 0, 0];
      const pass = (from, alpha, lineWidth) => {
        c.globalAlpha = alpha;
        c.lineWidth = lineWidth;
        c.beginPath();
        for (let k = from; k <= knot; k += stride) {
          for (let d = 0; d < at.length; d++) q[d] = at[d][k];
          const p = to(q);
          if (k === from) c.moveTo(p[0], p[1]); else c.lineTo(p[0], p[1]);
        }
        c.lineTo(here[i][0], here[i][1]);
        c.stroke();
      };
      c.strokeStyle = colour(D.points[i].colour ?? n);
      pass(0, 0.3, 1.2);
      pass(knotAt(Math.max(first, now - 0.06 * length)), 0.8, 1.8);
      c.globalAlpha = 1;
    });
    c.strokeStyle = ink.muted;
    c.lineWidth = 1.6;
    for (const [a, b] of D.springs) spring(c, here[a], here[b]);
    c.strokeStyle = ink.ink;
    c.lineWidth = 3;
    c.beginPath();
    for (const [a, b] of D.links) { c.moveTo(here[a][0], here[a][1]); c.lineTo(here[b][0], here[b][1]); }
    c.stroke();
    const order = points.map((_, i) => i).sort((a, b) => here[b][2] - here[a][2] || a - b);
    for (const i of order) {
      const p = points[i], [x, y] = here[i];
      c.beginPath();
      c.arc(x, y, p.radius, 0, 7);
      c.fillStyle = p.role === "body" ? colour(p.colour) : p.role === "pivot" ? ink.panel : ink.ink;
      c.strokeStyle = p.role === "pivot" ? ink.muted : ink.panel;
      c.lineWidth = 1.5;
      c.fill();
      c.stroke();
      if (p.turn && flat) {
        const s = Math.min(N - 1, knot + 1), a = p.turn[knot] + (T[s] > T[knot] ? (now - T[knot]) / (T[s] - T[knot]) : 0) * (p.turn[s] - p.turn[knot]);
        const r = p.radius + 9;
        c.strokeStyle = ink.ink;
        c.lineWidth = 2.5;
        c.beginPath();
        c.moveTo(x - r * Math.cos(a), y + r * Math.sin(a));
        c.lineTo(x + r * Math.cos(a), y - r * Math.sin(a));
        c.stroke();
      }
    }
    drawFlashes(c, to);
  }
  function drawFlashes(c, to) {
    // A flash lasts a third of a second to the eye, whatever the speed.
    const lasts = 0.33 * Number(speed.value);
    for (let n = D.jumps.length - 1; n >= 0; n--) {
      const j = D.jumps[n], age = (now - T[j.knot]) / lasts;
      if (age < 0) continue;
      if (age >= 1) break;
      for (const i of j.points) {
        const p = to(points[i].at.map((d) => d[j.knot])), r = points[i].radius + 3 + 22 * age;
        c.strokeStyle = ink.flash;
        c.globalAlpha = 1 - age;
        c.lineWidth = 3.5 - 2.5 * age;
        c.beginPath();
        c.arc(p[0], p[1], r, 0, 7);
        c.stroke();
        c.globalAlpha = 1;
      }
    }
  }

  // ---- the plots -------------------------------------------------------------------------------------------------
  function steps(low, high, wanted) {
    const rough = (high - low) / wanted, power = 10 ** Math.floor(Math.log10(rough));
    const count = (step) => Math.floor(high / step + 1e-9) - Math.ceil(low / step - 1e-9) + 1;
    const misfit = (step) => Math.abs(count(step) - wanted - 1) + (count(step) < 3 ? 4 : 0);
    const step = [10, 5, 2, 1, 0.5, 0.2].map((m) => m * power).reduce((a, b) => (misfit(b) < misfit(a) ? b : a));
    const found = [];
    for (let n = Math.ceil(low / step - 1e-9); n * step <= high + 1e-9 * step; n++) found.push(n * step);
    return { found, digits: Math.max(0, -Math.floor(Math.log10(step * 1.0001))) };
  }
  const tickText = (v, digits) => (Math.abs(v) >= 1e5 || digits > 5 ? v.toPrecision(3) : v.toFixed(digits)).replace(/^-(?=0\.?0*$)/, "").replace("-", "−");
  const face = (italic, size) => `${italic ? "italic " : ""}${size}px system-ui, "Helvetica Neue", Arial, sans-serif`;
  function drawLabel(c, runs, x, y, size) {
    for (const [text, italic, shift] of runs) {
      c.font = face(italic, shift ? size * 0.75 : size);
      c.fillText(text, x, y - shift * size * 0.25);
      x += c.measureText(text).width;
    }
    return x;
  }
  const left = 56, rightEdge = 10;
  const across = (t) => left + ((t - first) / length) * (plotBox.width - left - rightEdge);
  function drawStill(each) {
    const { width, height, ratio } = plotBox;
    still = document.createElement("canvas");
    still.width = plots.width;
    still.height = plots.height;
    const c = still.getContext("2d");
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    panels = D.panels.map((panel, n) => {
      let low = Infinity, high = -Infinity;
      for (const i of panel.curves) for (const v of columns[i].values) if (Number.isFinite(v)) { if (v < low) low = v; if (v > high) high = v; }
      if (!(low <= high)) [low, high] = [-1, 1];
      const size = Math.max(Math.abs(low), Math.abs(high));
      const spare = high - low <= 1e-9 * size ? 0.1 * size || 1 : 0.07 * (high - low);
      const top = n * (each + 24) + 22, bottom = top + each;
      low -= spare;
      high += spare;
      return { ...panel, low, high, top, bottom, up: (v) => bottom - ((v - low) / (high - low)) * each };
    });
    const marks = steps(first, last, Math.max(2, Math.floor(width / 80)));
    panels.forEach((panel, n) => {
      c.lineWidth = 1;
      c.strokeStyle = ink.grid;
      c.fillStyle = ink.muted;
      c.font = face(false, 11);
      c.textAlign = "right";
      const rows = steps(panel.low, panel.high, Math.max(2, Math.round(each / 42)));
      c.beginPath();
      for (const v of rows.found) { const y = panel.up(v); c.moveTo(left, y); c.lineTo(width - rightEdge, y); c.fillText(tickText(v, rows.digits), left - 6, y + 4); }
      for (const t of marks.found) { c.moveTo(across(t), panel.top); c.lineTo(across(t), panel.bottom); }
      c.stroke();
      c.textAlign = "center";
      if (n === panels.length - 1) for (const t of marks.found) c.fillText(tickText(t, marks.digits), across(t), panel.bottom + 15);
      if (n === panels.length - 1) { c.font = face(true, 13); c.fillText("t" + (D.time_unit ? " (" + D.time_unit + ")" : ""), (left + width - rightEdge) / 2, panel.bottom + 32); }
      c.textAlign = "left";
      // impacts: at most one mark every two pixels
      c.strokeStyle = ink.muted;
      c.globalAlpha = D.jumps.length > 60 ? 0.25 : 0.55;
      c.setLineDash([2, 3]);
      c.beginPath();
      let at = -9;
      for (const j of D.jumps) { const x = across(T[j.knot]); if (x - at >= 2) { at = x; c.moveTo(x, panel.top); c.lineTo(x, panel.bottom); } }
      c.stroke();
      c.setLineDash([]);
      c.globalAlpha = 1;
      let x = left;
      panel.curves.forEach((i, m) => {
        drawCurve(c, columns[i], panel, colour(m));
        c.fillStyle = colour(m);
        x = drawLabel(c, columns[i].label, x, panel.top - 7, 13) + 14;
      });
      if (panel.unit) { c.fillStyle = ink.muted; c.font = face(false, 12); c.fillText(panel.unit, x, panel.top - 7); }
    });
  }
  /** Per column of pixels first, lowest, highest, last; the pen is up across jumps and where there is no value. */
  function drawCurve(c, column, panel, stroke) {
    const v = column.values, tiny = 1e-9 * (panel.high - panel.low), isAfter = new Set(D.jumps.map((j) => j.knot));
    c.strokeStyle = stroke;
    c.lineWidth = 1.6;
    c.lineJoin = "round";
    c.beginPath();
    let down = false, at = NaN, low = 0, high = 0, end = 0;
    const flush = () => { if (low < end || high > end) { c.lineTo(at, panel.up(low)); c.lineTo(at, panel.up(high)); c.lineTo(at, panel.up(end)); } };
    for (let k = 0; k < N; k++) {
      const y = v[k];
      if (!Number.isFinite(y)) { if (down) flush(); down = false; at = NaN; continue; }
      if (isAfter.has(k) && !(Math.abs(y - v[k - 1]) <= tiny)) { if (down) flush(); down = false; at = NaN; }
      const x = Math.round(across(T[k]) * 2) / 2;
      if (!down) { c.moveTo(x, panel.up(y)); down = true; at = x; low = high = end = y; continue; }
      if (x === at) { low = Math.min(low, y); high = Math.max(high, y); end = y; continue; }
      flush();
      c.lineTo(x, panel.up(y));
      at = x;
      low = high = end = y;
    }
    if (down) flush();
    c.stroke();
  }
  function drawPlots() {
    const { c, width, height } = plotBox;
    c.clearRect(0, 0, width, height);
    c.drawImage(still, 0, 0, width, height);
    const x = across(now);
    c.strokeStyle = ink.ink;
    c.lineWidth = 1;
    for (const panel of panels) {
      c.beginPath();
      c.moveTo(x, panel.top);
      c.lineTo(x, panel.bottom);
      c.stroke();
      panel.curves.forEach((i, m) => {
        const v = columns[i].values, n = Math.min(N - 1, knot + 1), s = T[n] > T[knot] ? (now - T[knot]) / (T[n] - T[knot]) : 0;
        const y = v[knot] + s * (v[n] - v[knot]);
        if (!Number.isFinite(y)) return;
        c.beginPath();
        c.arc(x, panel.up(y), 3.6, 0, 7);
        c.fillStyle = colour(m);
        c.fill();
      });
    }
  }

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
  function draw() { if (!stale || !stageBox) return; stale = false; drawStage(); drawPlots(); drawNumbers(); }

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
    else if (e.key === "Home") { pause(); seekKnot(0); }
    else if (e.key === "End") { pause(); seekKnot(N - 1); }
    else return;
    e.preventDefault();
  });
  const drag = (e) => { const box = plots.getBoundingClientRect(); pause(); seek(first + ((e.clientX - box.left - left) / (box.width - left - rightEdge)) * length); };
  plots.onpointerdown = (e) => { plots.setPointerCapture(e.pointerId); drag(e); };
  plots.onpointermove = (e) => { if (e.buttons) drag(e); };
  if (flat) stage.classList.add("flat");
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
    if (stage.clientWidth !== width) { width = stage.clientWidth; layout(); }
  })).observe($("view"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", layout);
  window.carom = {
    get time() { return now; }, get knot() { return knot; }, get playing() { return playing; },
    knots: N, times: T, jumps: D.jumps, columns, seek, seekKnot, play, pause,
    state: () => Object.fromEntries(columns.map((column, i) => [column.name, Number(cells[i].value.dataset.value)])),
  };
  layout();
  const asked = /^#t=(.+)$/.exec(location.hash);
  if (asked && Number.isFinite(Number(asked[1]))) seek(Number(asked[1]));
  else if (!quiet && N > 1 && location.hash !== "#paused") play();
})();
