// ---- the stage -------------------------------------------------------------------------------------------------
function projector() {
  const { width, height } = stageBox, b = D.bounds, pad = 14;
  if (flat) {
    const scale = Math.min((width - 2 * pad) / (b[0][1] - b[0][0]), (height - 2 * pad) / (b[1][1] - b[1][0]));
    const cx = (b[0][0] + b[0][1]) / 2, cy = (b[1][0] + b[1][1]) / 2;
    return Object.assign((p) => [width / 2 + (p[0] - cx) * scale, height / 2 - (p[1] - cy) * scale, 0], { scale });
  }
  // However it is turned about z, the box of the motion stays in the picture.
  const middle = b.map((r) => (r[0] + r[1]) / 2), half = b.map((r) => (r[1] - r[0]) / 2), wide = Math.hypot(half[0], half[1]);
  const high = half[2] * Math.cos(turn.above) + wide * Math.abs(Math.sin(turn.above));
  const scale = Math.min((width / 2 - pad) / wide, (height / 2 - pad) / high);
  const [ca, sa, ce, se] = [Math.cos(turn.about), Math.sin(turn.about), Math.cos(turn.above), Math.sin(turn.above)];
  const to = (p) => {
    const x = p[0] - middle[0], y = p[1] - middle[1], z = p[2] - middle[2];
    const right = ca * x - sa * y, back = sa * x + ca * y;
    return [width / 2 + right * scale, height / 2 - (z * ce + back * se) * scale, back * ce - z * se];
  };
  return Object.assign(to, { scale });
}
/** A value now: between knots on the straight line, across a jump never. */
function value(c) {
  const k = knot, n = Math.min(N - 1, k + 1), s = T[n] > T[k] ? (now - T[k]) / (T[n] - T[k]) : 0;
  return c[k] + s * (c[n] - c[k]);
}
const place = (p) => p.at.map(value);
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
// ---- what is filled ----------------------------------------------------------------------------------------------
/** Part of a colour over another, both #rrggbb. */
function mixed(colour, over, part) {
  const parts = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  const [a, b] = [parts(colour), parts(over)];
  return "#" + a.map((v, i) => Math.round(b[i] + part * (v - b[i])).toString(16).padStart(2, "0")).join("");
}
/** A vector in the axes of a body, turned by its quaternion. */
function rotated(q, c) {
  const n = q.reduce((s, v) => s + v * v, 0);
  if (q.length !== 4 || !(n > 0)) return c;
  const [w, x, y, z] = q, row = (a, b, d) => (a * c[0] + b * c[1] + d * c[2]) / n;
  return [row(w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)), row(2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)), row(2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z)];
}
/** The polygons of something filled: corners in the world, and how light they are. */
function faces(f, world) {
  const at = world[f.point], p = points[f.point], q = f.turned.map(value);
  if (f.form === "polygon") {
    const a = p.turn ? value(p.turn) : 0, s = Math.sin(a), c = Math.cos(a);
    return [{ light: 1, corners: f.corners.map(([x, y]) => [at[0] + c * x - s * y, at[1] + s * x + c * y]) }];
  }
  if (f.form === "corners") return [{ light: 1, corners: f.points.map((i) => world[i]) }];
  if (f.form === "disc") {
    const l = Math.hypot(...q), n = l > 0 ? q.map((v) => v / l) : [0, 0, 1], least = [0, 1, 2].reduce((a, b) => (Math.abs(n[b]) < Math.abs(n[a]) ? b : a));
    let u = [0, 1, 2].map((i) => (i === least) - n[least] * n[i]);
    const size = Math.hypot(...u);
    u = u.map((v) => v / size);
    const v = [n[1] * u[2] - n[2] * u[1], n[2] * u[0] - n[0] * u[2], n[0] * u[1] - n[1] * u[0]];
    return [{ light: 1, corners: Array.from({ length: 48 }, (_, k) => { const a = (2 * Math.PI * k) / 48; return at.map((r, i) => r + f.radius * (Math.cos(a) * u[i] + Math.sin(a) * v[i])); }) }];
  }
  const found = [];
  for (let axis = 0; axis < 3; axis++) for (const sign of [-1, 1]) {
    const b = (axis + 1) % 3, c = (axis + 2) % 3, normal = [0, 0, 0];
    normal[axis] = sign;
    const n = rotated(q, normal);
    const corner = (sb, sc) => { const own = [0, 0, 0]; own[axis] = (sign * f.sides[axis]) / 2; own[b] = (sb * f.sides[b]) / 2; own[c] = (sc * f.sides[c]) / 2; return rotated(q, own).map((v, i) => at[i] + v); };
    found.push({ light: 0.5 + 0.5 * (0.3 * n[0] - 0.45 * n[1] + 0.84 * n[2]), corners: [corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)] });
  }
  return found;
}
function drawFill(c, f, world, to) {
  const own = f.body ? colour(points[f.point].colour) : ink.rule;
  c.strokeStyle = f.body ? mixed(own, ink.ink, 0.6) : ink.muted;
  c.lineWidth = 1.2;
  if (f.form === "round") {
    const [x, y] = to(world[f.point]), r = Math.max(1, f.radius * to.scale), p = points[f.point];
    c.beginPath();
    c.arc(x, y, r, 0, 7);
    c.fillStyle = own;
    c.fill();
    c.stroke();
    if (p.turn && flat) {
      const a = value(p.turn);
      c.strokeStyle = ink.panel;
      c.lineWidth = 2;
      c.beginPath();
      c.moveTo(x, y);
      c.lineTo(x + r * Math.cos(a), y - r * Math.sin(a));
      c.stroke();
    }
    return;
  }
  const all = faces(f, world).map((face) => ({ light: face.light, corners: face.corners.map(to) }));
  const depth = (face) => face.corners.reduce((s, p) => s + p[2], 0) / face.corners.length;
  for (const face of all.sort((a, b) => depth(b) - depth(a))) {
    c.beginPath();
    face.corners.forEach((p, i) => (i ? c.lineTo(p[0], p[1]) : c.moveTo(p[0], p[1])));
    c.closePath();
    c.fillStyle = f.body ? mixed(own, ink.panel, 0.45 + 0.55 * face.light) : own;
    c.fill();
    c.stroke();
  }
}

// ---- the picture -----------------------------------------------------------------------------------------------
const stride = Math.max(1, Math.ceil(N / 4000));
function drawStage() {
  const { c, width, height } = stageBox, to = projector();
  c.clearRect(0, 0, width, height);
  if (!flat) drawSpace(c, to);
  c.lineCap = c.lineJoin = "round";
  const world = points.map(place), here = world.map(to);
  if (!flat) drawSurroundings(c, to, world);
  else for (const f of fills) if (!f.body) drawFill(c, f, world, to);
  const touching = points.reduce((r, p) => (p.role === "body" ? Math.max(r, p.radius) : r), 0);
  for (const w of walls) for (const curve of wallCurves(w)) drawWall(c, curve, to, w.behind === null ? touching : w.behind * to.scale);
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
    c.strokeStyle = colour(points[i].colour ?? n);
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
    for (const f of fills) if (f.point === i && (f.body || !flat)) drawFill(c, f, world, to);
    if (p.role === "unseen") continue;
    c.beginPath();
    c.arc(x, y, p.radius, 0, 7);
    c.fillStyle = p.role === "body" ? colour(p.colour) : p.role === "pivot" ? ink.panel : ink.ink;
    c.strokeStyle = p.role === "pivot" ? ink.muted : ink.panel;
    c.lineWidth = 1.5;
    c.fill();
    c.stroke();
    if (p.turn && flat) {
      const a = value(p.turn);
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
/** In space: sections of surfaces, and where bodies are above the floor. */
function drawSurroundings(c, to, world) {
  c.strokeStyle = ink.muted;
  c.globalAlpha = 0.4;
  c.lineWidth = 1;
  c.beginPath();
  for (const s of surfaces) for (let i = 0; i < s.length; i += 3) { const p = to([s[i], s[i + 1], s[i + 2]]); if (i) c.lineTo(p[0], p[1]); else c.moveTo(p[0], p[1]); }
  c.stroke();
  c.globalAlpha = 1;
  c.fillStyle = ink.grid;
  points.forEach((p, i) => {
    if (p.colour === null || (p.role === "unseen" && !fills.some((f) => f.point === i))) return;
    const [x, y] = to([world[i][0], world[i][1], D.bounds[2][0]]);
    c.beginPath();
    c.arc(x, y, 4, 0, 7);
    c.fill();
  });
}
function drawFlashes(c, to) {
  // A flash lasts a third of a second to the eye, whatever the speed.
  const lasts = 0.33 * Number(speed.value);
  for (let n = D.jumps.length - 1; n >= 0; n--) {
    const j = D.jumps[n], age = (now - T[j.knot]) / lasts;
    if (age < 0) continue;
    if (age >= 1) break;
    for (let m = 0; m < j.points.length; m++) {
      const p = to(j.places[m]), r = points[j.points[m]].radius + 3 + 22 * age;
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

