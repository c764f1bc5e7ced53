// Hands on the mechanics: bodies, walls, ghosts, comparison, neighbours, films, files, gallery, lessons.

import assert from "node:assert/strict";
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
  const exported = async (words) => save(async () => {
    await page.locator(".top button", { hasText: "Files" }).click();
    await page.locator(".menu button", { hasText: words }).click();
  });
  assert.match((await exported("Save bouncing_mass.toml")).bytes.toString(), /coordinates/);
  assert.match((await exported("Samples (CSV)")).bytes.toString(), /time,/);
  assert.match((await exported("Animation page")).bytes.toString(), /<!doctype html>/i);
  assert.match((await exported("Picture (SVG)")).bytes.toString(), /<svg/);
  assert.equal((await exported("Picture (PNG)")).bytes.subarray(1, 4).toString(), "PNG");
  assert.ok(JSON.parse((await exported("Notebook")).bytes.toString()).cells.length > 0);
  assert.ok(JSON.parse((await exported("Everything (JSON)")).bytes.toString()).impacts.length > 0);
  quiet(page);
  await page.context().close();
});

test("the gallery shows every model, with moving pictures, and opens one", async () => {
  const page = await open(studio);
  await page.locator(".top button", { hasText: "Gallery" }).click();
  await page.waitForFunction(() => document.querySelectorAll(".card").length > 40);
  await page.locator(".find").fill("newton");
  const card = page.locator(".card:visible").first();
  await page.waitForTimeout(1500);
  assert.ok(await card.locator("canvas").evaluate((c) => c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some((v) => v > 0)), "the card has a picture");
  const n = await serial(page);
  await card.click();
  await shown(page, n);
  await page.waitForFunction(() => /Newton/.test(document.title));
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
