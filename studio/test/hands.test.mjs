// Hands on the mechanics: bodies, walls, ghosts, comparison, neighbours, films, files, gallery, lessons.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { open, quiet, serial, shown, start } from "./browser.mjs";

let studio;
before(async () => { studio = await start(); });
after(async () => { await studio.close(); });

/** Pixel of a drawn point at the start, on the page. */
const pixel = (page, point) => page.evaluate((i) => {
  const { stage, player } = globalThis.carom;
  const box = stage.canvas.getBoundingClientRect();
  const [x, y] = stage.camera().to(player.scene.value.points[i].data.map((d) => d[0]));
  return { x: box.x + x, y: box.y + y };
}, point);

async function drag(page, from, to) {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.waitForTimeout(400);
  for (let i = 1; i <= 8; i++) {
    await page.mouse.move(from.x + ((to.x - from.x) * i) / 8, from.y + ((to.y - from.y) * i) / 8);
    await page.waitForTimeout(60);
  }
  await page.waitForTimeout(400);
  await page.mouse.up();
}

test("a body that is dragged starts where it is put", async () => {
  const page = await open(studio);
  const bob = await page.evaluate(() => globalThis.carom.player.scene.value.points.findLastIndex((p) => p.role === "body"));
  const from = await pixel(page, bob);
  await drag(page, from, { x: from.x + 20, y: from.y + 60 });
  const values = await page.evaluate(() => globalThis.carom.session.values.value);
  assert.ok("theta1" in values && "theta2" in values, JSON.stringify(values));
  const at = await page.evaluate((i) => globalThis.carom.player.scene.value.points[i].data.map((d) => d[0]), bob);
  const there = [Math.sin(values.theta1) + Math.sin(values.theta2), -Math.cos(values.theta1) - Math.cos(values.theta2)];
  assert.ok(Math.hypot(at[0] - there[0], at[1] - there[1]) < 1e-6);
  quiet(page);
  await page.context().close();
});

test("in space a body is dragged too, along its surface, and the rest of the picture turns the view", async () => {
  const page = await open(studio, { hash: "#model=bead_in_bowl" });
  const bead = await page.evaluate(() => globalThis.carom.player.scene.value.points.findIndex((p) => p.role === "body"));
  const from = await pixel(page, bead);
  await drag(page, from, { x: from.x - 50, y: from.y + 10 });
  const { values, at } = await page.evaluate((i) => ({ values: globalThis.carom.session.values.value, at: globalThis.carom.player.scene.value.points[i].data.map((d) => d[0]) }), bead);
  assert.ok(["p1", "p2", "p3"].every((n) => Number.isFinite(values[n])), JSON.stringify(values));
  assert.ok(Math.hypot(values.p1 - 1, values.p2) > 0.1, JSON.stringify(values));
  // The bowl is p3 = (p1² + p2²)/4, kept to rounding.
  assert.ok(Math.abs(values.p3 - (values.p1 ** 2 + values.p2 ** 2) / 4) < 1e-15, JSON.stringify(values));
  assert.ok(Math.hypot(at[0] - values.p1, at[1] - values.p2, at[2] - values.p3) < 1e-6);
  const about = () => page.evaluate(() => globalThis.carom.stage.turn.about);
  const before = await about();
  const box = await page.locator(".stage").boundingBox();
  await drag(page, { x: box.x + 30, y: box.y + 30 }, { x: box.x + 90, y: box.y + 30 });
  assert.ok(Math.abs((await about()) - before - 0.6) < 0.02);
  quiet(page);
  await page.context().close();
});

test("a wall that is dragged moves its parameter and nothing else", async () => {
  const page = await open(studio);
  const at = await page.evaluate(() => {
    const { stage, player } = globalThis.carom;
    const box = stage.canvas.getBoundingClientRect();
    const curve = player.scene.value.walls[0].frames[0][0];
    const [x] = stage.camera().to([curve[0], curve[1], 0]);
    return { x: box.x + x - 7, y: box.y + box.height * 0.25, scale: stage.camera().scale };
  });
  await drag(page, at, { x: at.x - 40, y: at.y });
  const values = await page.evaluate(() => globalThis.carom.session.values.value);
  assert.deepEqual(Object.keys(values), ["x_wall"]);
  assert.ok(Math.abs(values.x_wall - (-0.5 - 40 / at.scale)) < 0.05, `${values.x_wall}, ${-0.5 - 40 / at.scale}`);
  quiet(page);
  await page.context().close();
});

test("ghost, comparison and cloud stand beside the motion", async () => {
  const page = await open(studio);
  await page.locator('[aria-label="Ghost of the previous run"]').click();
  await page.locator('[aria-label="Compare with this run"]').click();
  const n = await serial(page);
  await page.locator('[aria-label="m1, typed"]').fill("2");
  await page.keyboard.press("Enter");
  await shown(page, n);
  assert.match(await page.locator(".compare-bar").textContent(), /Left: as the model says.*Right: m1 = 2/);
  assert.ok(await page.evaluate(() => globalThis.carom.stage.ghost.value !== null && globalThis.carom.stage.beside.value !== null && globalThis.carom.plots.ghost.value !== null));
  await page.locator(".compare-bar button").click();
  await page.locator('[aria-label="Cloud of 200 neighbours"]').click();
  await page.waitForFunction(() => globalThis.carom.stage.cloud.value?.done === 200, null, { timeout: 20_000 });
  const spread = await page.evaluate(() => {
    const { time, columns } = globalThis.carom.stage.cloud.value;
    const { values } = columns.find((c) => c.name === "theta2");
    const at = (i) => { const all = Array.from({ length: 200 }, (_, k) => values[k * time.length + i]).filter(Number.isFinite); return Math.max(...all) - Math.min(...all); };
    return [at(0), at(time.length - 1)];
  });
  // Starts lie within a thousandth (of their size, at least 1) and drift apart.
  assert.ok(spread[0] > 0 && spread[0] < 0.006 && spread[1] > 2 * spread[0], JSON.stringify(spread));
  quiet(page);
  await page.context().close();
});

test("films and exports are files of their kind", async () => {
  const page = await open(studio, { hash: "#model=bouncing_mass" });
  const save = async (act) => {
    const [download] = await Promise.all([page.waitForEvent("download", { timeout: 60_000 }), act()]);
    return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
  };
  const film = await save(async () => {
    await page.locator('[aria-label="Record"]').click();
    await page.locator(".menu button", { hasText: "GIF" }).click();
  });
  assert.equal(film.bytes.subarray(0, 6).toString(), "GIF89a");
  assert.equal(film.bytes.at(-1), 0x3b);
  // The browser's own decoder reads it: all frames, on paper, and something moves.
  const frames = await page.evaluate(async (bytes) => {
    const decoder = new ImageDecoder({ data: Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0)), type: "image/gif" });
    await decoder.tracks.ready;
    await decoder.completed;
    const { frameCount } = decoder.tracks.selectedTrack;
    const pixels = async (frameIndex) => {
      const { image } = await decoder.decode({ frameIndex });
      const canvas = new OffscreenCanvas(image.displayWidth, image.displayHeight);
      const c = canvas.getContext("2d");
      c.drawImage(image, 0, 0);
      return c.getImageData(0, 0, canvas.width, canvas.height).data;
    };
    const [a, b] = [await pixels(0), await pixels(frameCount >> 1)];
    return { count: frameCount, corner: [...a.subarray(0, 3)], changed: a.filter((v, i) => v !== b[i]).length };
  }, film.bytes.toString("base64"));
  assert.ok(frames.count > 20, JSON.stringify(frames));
  assert.deepEqual(frames.corner, [255, 255, 255], "white paper, not the page behind it");
  assert.ok(frames.changed > 200, JSON.stringify(frames));
  const exported = async (words) => save(async () => {
    await page.locator(".top button", { hasText: "Files" }).click();
    await page.locator(".menu button", { hasText: words }).click();
  });
  assert.match((await exported("Save bouncing_mass.toml")).bytes.toString(), /coordinates/);
  assert.match((await exported("Samples (CSV)")).bytes.toString(), /time,/);
  assert.match((await exported("Animation page")).bytes.toString(), /<!doctype html>/i);
  assert.match((await exported("Picture of the plots (SVG)")).bytes.toString(), /<svg/);
  assert.equal((await exported("Picture of the plots (PNG)")).bytes.subarray(1, 4).toString(), "PNG");
  assert.ok(JSON.parse((await exported("Notebook")).bytes.toString()).cells.length > 0);
  assert.ok(JSON.parse((await exported("Everything (JSON)")).bytes.toString()).impacts.length > 0);
  quiet(page);
  await page.context().close();
});

test("a WebM film plays, on paper, and lasts as long as the motion", async () => {
  const page = await open(studio, { hash: "#model=bouncing_mass" });
  await page.evaluate(() => globalThis.carom.session.setUntil(2));
  await page.waitForFunction(() => globalThis.carom.player.scene.value.time.at(-1) === 2);
  const speed = await page.evaluate(() => globalThis.carom.player.speed.value);
  const [download] = await Promise.all([page.waitForEvent("download", { timeout: 60_000 }), (async () => {
    await page.locator('[aria-label="Record"]').click();
    await page.locator(".menu button", { hasText: "WebM" }).click();
  })()]);
  assert.equal(download.suggestedFilename(), "bouncing_mass.webm");
  const bytes = readFileSync(await download.path());
  assert.deepEqual([...bytes.subarray(0, 4)], [0x1a, 0x45, 0xdf, 0xa3], "EBML");
  const film = await page.evaluate(async (data) => {
    const video = document.createElement("video");
    video.muted = true;
    const frames = [];
    const ended = new Promise((done, fail) => { video.onended = done; video.onerror = () => fail(new Error(video.error?.message)); });
    video.src = URL.createObjectURL(new Blob([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], { type: "video/webm" }));
    const look = () => {
      const canvas = new OffscreenCanvas(video.videoWidth, video.videoHeight);
      const c = canvas.getContext("2d");
      c.drawImage(video, 0, 0);
      frames.push(c.getImageData(0, 0, canvas.width, canvas.height).data);
      video.requestVideoFrameCallback(look);
    };
    video.requestVideoFrameCallback(look);
    await video.play();
    await ended;
    const [a, b] = [frames[0], frames[frames.length >> 1]];
    return { count: frames.length, corner: [...a.subarray(0, 3)], changed: a.filter((v, i) => Math.abs(v - b[i]) > 40).length, seconds: video.currentTime };
  }, bytes.toString("base64"));
  assert.ok(film.count > 5 && film.changed > 100, JSON.stringify(film));
  assert.ok(film.corner.every((v) => v > 245), `white paper: ${film.corner}`);
  // The recorder goes by the clock: never shorter than the motion, and not much longer.
  assert.ok(film.seconds > 0.9 * (2 / speed), `${film.seconds} s for ${2 / speed} s`);
  quiet(page);
  await page.context().close();
});

test("planes are looked at closer, read, and get other axes; a section of an event is of that event", async () => {
  const page = await open(studio);
  const plane = page.locator(".plot", { hasText: "Phase plane" }).first();
  await plane.scrollIntoViewIfNeeded();
  const over = plane.locator(".u-over");
  const box = await over.boundingBox();
  const range = () => page.evaluate(() => { const p = globalThis.carom.plots.plots.find((q) => q.request.kind === "plane").plot; return [p.scales.x.min, p.scales.x.max, p.scales.y.min, p.scales.y.max]; });
  const whole = await range();
  await page.mouse.move(box.x + 0.25 * box.width, box.y + 0.25 * box.height);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.75 * box.width, box.y + 0.75 * box.height, { steps: 4 });
  await page.mouse.up();
  const near = await range();
  assert.ok(Math.abs((near[1] - near[0]) / (whole[1] - whole[0]) - 0.5) < 0.02 && Math.abs((near[3] - near[2]) / (whole[3] - whole[2]) - 0.5) < 0.02, `${whole} ${near}`);
  await over.dblclick({ position: { x: 4, y: 4 } });
  assert.deepEqual(await range(), whole);
  await plane.locator('select[aria-label$="upwards"]').selectOption("theta2");
  await page.locator(".plot", { hasText: "Plane" }).locator('select[aria-label$="across"]').first().waitFor();
  assert.ok(await page.evaluate(() => globalThis.carom.plots.requests.value.some((r) => r.kind === "plane" && r.x === "theta1" && r.y === "theta2")));
  // x = cos t has its apex, x' falling through 0, at t = 2 pi n: every point of the section is (1, 0).
  const n = await serial(page);
  await page.evaluate(() => globalThis.carom.session.open({ file: "s.toml", text: 'coordinates = ["x"]\nlagrangian = "x\'^2/2 - x^2/2"\n[start]\nposition = { x = 1.0 }\n[event.apex]\nwhen = "x\'"\ndirection = "falling"\n[run]\nuntil = 20.0\n', tables: {} }));
  await shown(page, n);
  await page.locator(".add").click();
  await page.locator(".menu button", { hasText: "section at apex" }).click();
  const points = await page.evaluate(() => globalThis.carom.plots.plots.find((q) => q.request.kind === "section").points);
  assert.equal(points.x.length, 3);
  points.t.forEach((t, i) => assert.ok(Math.abs(t - 2 * Math.PI * (i + 1)) < 1e-12 && Math.abs(points.x[i] - 1) < 1e-12 && Math.abs(points.y[i]) < 1e-12));
  quiet(page);
  await page.context().close();
});

test("the gallery shows every model, with moving pictures, and opens one", async () => {
  const page = await open(studio, { still: false });
  await page.locator(".top button", { hasText: "Gallery" }).click();
  await page.waitForFunction(() => document.querySelectorAll(".card").length > 40);
  const count = await page.locator(".card").count();
  // Every card, as it comes into sight: something is drawn, and at another instant something else.
  const picture = (card) => card.locator("canvas").evaluate((c) => { const { data } = c.getContext("2d").getImageData(0, 0, c.width, c.height); let hash = 0; let inked = 0; for (let i = 0; i < data.length; i += 4) { if (data[i + 3]) inked++; hash = (Math.imul(hash, 31) + data[i] + 3 * data[i + 1] + 5 * data[i + 2] + 7 * data[i + 3]) | 0; } return { hash, inked }; });
  for (let i = 0; i < count; i++) {
    const card = page.locator(".card").nth(i);
    await card.scrollIntoViewIfNeeded();
    const name = await card.getAttribute("data-model");
    let [first, moved] = [null, false];
    for (let k = 0; k < 150 && !moved; k++) {
      const now = await picture(card);
      if (now.inked > 20 && !first) first = now;
      else if (first && now.hash !== first.hash) moved = true;
      if (!moved) await page.waitForTimeout(100);
    }
    assert.ok(first, `${name} has no picture`);
    assert.ok(moved, `${name} does not move`);
  }
  await page.evaluate(() => document.querySelector(".cards").scrollTo(0, 0));
  await page.locator(".find").fill("newton");
  const card = page.locator(".card:visible").first();
  const n = await serial(page);
  await card.click();
  await shown(page, n);
  await page.waitForFunction(() => /Newton/.test(document.title));
  // Chromium remarks on how often this test itself reads the pictures back.
  page.wrong = page.wrong.filter((w) => !w.includes("willReadFrequently"));
  quiet(page);
  await page.context().close();
});

test("a model is opened by the chooser, by dropping it, and begun from the template", async () => {
  const page = await open(studio);
  const text = 'coordinates = ["x"]\nlagrangian = "x\'^2/2 - x^2/2"\n[start]\nposition = { x = 2.0 }\n[run]\nuntil = 1.0\n';
  await page.locator(".top button", { hasText: "Files" }).click();
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), page.locator(".menu button", { hasText: "Open a model" }).click()]);
  await chooser.setFiles({ name: "mine.toml", mimeType: "application/toml", buffer: Buffer.from(text) });
  const last = (file) => page.waitForFunction((f) => globalThis.carom.session.document.value.file === f && globalThis.carom.session.shown.value?.reply.scene?.columns.find((c) => c.name === "x")?.data.at(-1), file);
  assert.ok(Math.abs((await (await last("mine.toml")).jsonValue()) - 2 * Math.cos(1)) < 1e-14);
  await page.evaluate((t) => {
    const data = new DataTransfer();
    data.items.add(new File([t.replace("2.0", "3.0")], "other.toml"));
    window.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  }, text);
  await page.waitForFunction(() => globalThis.carom.session.document.value.file === "other.toml" && Math.abs(globalThis.carom.session.shown.value.reply.scene.columns[0].data[0] - 3) < 1e-12);
  const n = await serial(page);
  await page.locator(".top button", { hasText: "Files" }).click();
  await page.locator(".menu button", { hasText: "New model" }).click();
  await shown(page, n);
  assert.equal(await page.title(), "My model · carom studio");
  assert.deepEqual(await page.evaluate(() => globalThis.carom.session.diagnostics.value), []);
  quiet(page);
  await page.context().close();
});

test("a table that is added is read by the model", async () => {
  const page = await open(studio);
  await page.evaluate(() => {
    const { session } = globalThis.carom;
    session.open({ file: "driven.toml", text: 'coordinates = ["x"]\n[input]\nu = { file = "u.csv" }\n[energy]\nkinetic = "x\'^2/2"\n[force.push]\ngeneralized = { x = "u" }\n[run]\nuntil = 2.0\n', tables: {} });
  });
  await page.locator(".problems li").first().waitFor();
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.items.add(new File(["t,u\n0,1\n1,1\n2,1\n3,1\n"], "u.csv", { type: "text/csv" }));
    window.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  });
  // Under the constant force 1 from rest, x(2) = 2.
  await page.waitForFunction(() => { const c = globalThis.carom.session.shown.value?.reply.scene?.columns.find((c) => c.name === "x"); return c && Math.abs(c.data.at(-1) - 2) < 1e-9; });
  await page.context().close();
});

test("the tour checks what the student did", async () => {
  const page = await open(studio);
  await page.locator(".top button", { hasText: "Tour" }).click();
  await page.waitForFunction(() => document.title.startsWith("A ball"));
  const tasks = page.locator(".tour .tasks li");
  assert.equal(await tasks.count(), 2);
  assert.equal(await page.locator(".tour .tasks li.done").count(), 0);
  await page.locator('[aria-label="y\', typed"]').fill("6");
  await page.keyboard.press("Enter");
  await page.locator(".tour .tasks li.done").first().waitFor();
  await page.locator('[aria-label="g, typed"]').fill("1.62");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelectorAll(".tour .tasks li.done").length === 2);
  await page.locator(".tour footer button", { hasText: "Next" }).click();
  await page.waitForFunction(() => document.title.startsWith("A ball and a floor"));
  quiet(page);
  await page.context().close();
});

test("every lesson has a model without mistakes, and no task is done before it is begun", async () => {
  const page = await open(studio);
  const count = await page.evaluate(() => { globalThis.carom.tour.start(0); return document.querySelectorAll(".tour .dots span").length; });
  assert.ok(count >= 10);
  for (let i = 0; i < count; i++) {
    await page.evaluate((n) => { globalThis.carom.session.shown.value = null; globalThis.carom.tour.start(n); }, i);
    await page.waitForFunction(() => globalThis.carom.session.shown.value && globalThis.carom.session.outline.value);
    await page.waitForTimeout(700);
    const found = await page.evaluate(() => ({ title: document.querySelector(".tour h2").textContent, mistakes: globalThis.carom.session.diagnostics.value, done: document.querySelectorAll(".tour .tasks li.done").length, tasks: document.querySelectorAll(".tour .tasks li").length }));
    assert.deepEqual(found.mistakes, [], found.title);
    assert.ok(found.tasks >= 1, found.title);
    assert.ok(found.done < found.tasks, `${found.title}: ${found.done} of ${found.tasks} done at the start`);
  }
  quiet(page);
  await page.context().close();
});

test("an address that is entered while the page writes its own is opened, not written over", async () => {
  const page = await open(studio);
  // The page's own writing is held just before it ends, and let go in the moment in which another address is entered.
  await page.evaluate(() => {
    const Real = globalThis.CompressionStream;
    const gate = new Promise((go) => { globalThis.release = go; });
    globalThis.CompressionStream = class {
      constructor(kind) {
        const real = new Real(kind);
        this.writable = real.writable;
        this.readable = real.readable.pipeThrough(new TransformStream({ flush: async () => { globalThis.held = true; await gate; } }));
      }
    };
    globalThis.carom.session.set({ g: 5 });
  });
  await page.waitForFunction(() => globalThis.held);
  const n = await serial(page);
  await page.evaluate(() => { location.hash = "#model=newtons_cradle"; globalThis.release(); });
  await shown(page, n);
  assert.equal(await page.evaluate(() => globalThis.carom.session.document.value.file), "newtons_cradle.toml");
  // Of two addresses that are entered at once, the later one is opened.
  await page.evaluate(() => { location.hash = "#model=bead_in_bowl"; location.hash = "#model=double_pendulum_wall"; });
  await page.waitForFunction(() => globalThis.carom.session.document.value.file === "double_pendulum_wall.toml");
  await page.waitForFunction(() => location.hash.startsWith("#s="));
  assert.equal(await page.evaluate(() => globalThis.carom.session.document.value.file), "double_pendulum_wall.toml");
  quiet(page);
  await page.context().close();
});

test("the page shows the numbers of the program: a few models through the page itself", { skip: process.env.CAROM ? false : "CAROM names no program" }, async () => {
  const page = await open(studio);
  for (const model of ["double_pendulum_wall", "bouncing_mass", "ball_on_incline", "newtons_cradle", "bead_in_bowl"]) {
    const program = spawnSync(process.env.CAROM, ["run", model, "--json", "--quiet", "--option", "arithmetic=plain", "--samples", "1201"], { maxBuffer: 1 << 30 });
    const theirs = JSON.parse(program.stdout);
    const n = await serial(page);
    await page.evaluate((m) => { location.hash = `#model=${m}`; }, model);
    await shown(page, n);
    const ours = await page.evaluate(() => { const { motion, columns, arithmetic } = globalThis.carom.session.shown.value.reply; return { motion, arithmetic, columns: columns.map((c) => [c.name, [...c.values]]) }; });
    assert.equal(ours.arithmetic, "plain");
    const close = (a, b, what) => { assert.equal(a.length, b.length, what); a.forEach((v, i) => assert.ok(Object.is(v, b[i]) || Math.abs(v - b[i]) <= 1e-12 * Math.max(1, Math.abs(b[i])), `${model} ${what} ${i}: ${v} and ${b[i]}`)); };
    const columns = Object.fromEntries(ours.columns);
    close(columns.time, theirs.time, "time");
    for (const [x, all] of Object.entries(theirs.position)) close(columns[x], all, x);
    for (const [x, all] of Object.entries(theirs.velocity)) close(columns[`${x}'`], all, `${x}'`);
    close(ours.motion.impacts.flatMap((i) => [i.time, ...i.impulse]), theirs.impacts.flatMap((i) => [i.time, ...i.impulse]), "impacts");
    // What the list says is what the records say.
    const listed = await page.locator(".impacts .impulse").allTextContents();
    assert.equal(listed.length, Math.min(500, theirs.impacts.length), model);
    listed.slice(0, 20).forEach((words, i) => assert.equal(words, theirs.impacts[i].impulse.map((v) => (v === 0 ? "0" : Math.abs(v) >= 1e6 || Math.abs(v) < 1e-4 ? v.toExponential(4) : String(Number(v.toPrecision(5)))).replace(/-/g, "−")).join(", "), `${model} ${i}`));
  }
  quiet(page);
  await page.context().close();
});
