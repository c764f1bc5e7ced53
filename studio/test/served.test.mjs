// `carom studio FILE` in a browser: the file is read from the disk, written back only when asked, and never lost.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { launch, listening, open, quiet, serial, shown } from "./browser.mjs";

const CAROM = process.env.CAROM;
const skip = CAROM ? false : "CAROM names no program (one that was built after bash studio/build)";
const MODEL = `coordinates = ["x"]
lagrangian = "x'^2/2 - k*x^2/2 + u*x"
[parameters]
k = 1.0
[input]
u = { file = "u.csv" }
[start]
position = { x = 1.0 }
[run]
until = 3.0
`;
const folder = mkdtempSync(join(tmpdir(), "carom-"));
const file = join(folder, "spring.toml");
const disk = () => readFileSync(file, "utf8");
let studio;
before(async () => {
  if (skip) return;
  writeFileSync(file, MODEL);
  writeFileSync(join(folder, "u.csv"), "t,u\n0,0\n1,0\n2,0\n3,0\n");
  const served = await listening(resolve(CAROM), ["studio", "spring.toml", "--no-open"], { cwd: folder });
  studio = { ...served, origin: new URL(served.address).origin, browser: await launch() };
});
after(async () => {
  await studio?.browser.close();
  await studio?.close("SIGINT");
});
const start = () => open(studio, { at: studio.address });
const menu = async (page) => { await page.locator(".top button", { hasText: "Files" }).click(); };
const say = (page, words) => page.waitForFunction((w) => document.querySelector(".toast.shown")?.textContent.includes(w), words);
/** Waits for the file to hold this. */
async function holds(text) {
  for (let i = 0; i < 100 && disk() !== text; i++) await new Promise((done) => setTimeout(done, 50));
  assert.equal(disk(), text);
}
/** Types at the end of the text. */
async function type(page, text) {
  const n = await serial(page);
  await page.evaluate(() => { const { editor } = globalThis.carom; editor.reveal(editor.view.state.doc.length); });
  await page.keyboard.type(text);
  await shown(page, n);
}

test("the file and its table are read; Ctrl-S and the menu write it back, nothing else does", { skip }, async () => {
  const page = await start();
  assert.equal(await page.evaluate(() => globalThis.carom.session.document.value.text), MODEL);
  // x = cos t with the table's force 0.
  const last = await page.evaluate(() => globalThis.carom.session.shown.value.reply.scene.columns.find((c) => c.name === "x").data.at(-1));
  assert.ok(Math.abs(last - Math.cos(3)) < 1e-13, `${last}`);
  await type(page, "samples = 11\n");
  await page.waitForTimeout(800);
  assert.equal(disk(), MODEL, "typing writes nothing");
  await page.keyboard.press("Control+s");
  await say(page, "Wrote spring.toml");
  await holds(`${MODEL}samples = 11\n`);
  await type(page, "# more\n");
  await menu(page);
  await page.locator(".menu button", { hasText: "Write back to spring.toml" }).click();
  // The sentence of the first time may still be there: the file itself tells.
  await holds(`${MODEL}samples = 11\n# more\n`);
  assert.deepEqual(await page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length), 0, "no page of yesterday");
  quiet(page);
  await page.context().close();
});

test("a file that somebody else has changed is written over only after a yes", { skip }, async () => {
  writeFileSync(file, MODEL);
  const page = await start();
  await type(page, "# mine\n");
  writeFileSync(file, `${MODEL}# theirs\n`);
  page.answers = [false];
  await page.keyboard.press("Control+s");
  await page.waitForFunction(() => true);
  await page.waitForTimeout(500);
  assert.equal(disk(), `${MODEL}# theirs\n`);
  page.answers = [true];
  await page.keyboard.press("Control+s");
  await say(page, "Wrote");
  assert.equal(disk(), `${MODEL}# mine\n`);
  await page.context().close();
});

test("a page that was reloaded after somebody else wrote the file asks before it writes over that", { skip }, async () => {
  writeFileSync(file, MODEL);
  const page = await start();
  await type(page, "# mine\n");
  await page.waitForTimeout(900);
  writeFileSync(file, `${MODEL}# theirs\n`);
  await page.reload();
  await shown(page);
  await say(page, "has changed on the disk");
  page.answers = [false];
  await page.keyboard.press("Control+s");
  await page.waitForTimeout(700);
  assert.equal(disk(), `${MODEL}# theirs\n`);
  assert.deepEqual(page.answers, [], "it asked");
  page.answers = [true];
  await page.keyboard.press("Control+s");
  await holds(`${MODEL}# mine\n`);
  await page.context().close();
});

test("two tabs do not undo each other's work", { skip }, async () => {
  writeFileSync(file, MODEL);
  const [one, two] = [await start(), await start()];
  await type(one, "# one\n");
  await type(two, "# two\n");
  await one.keyboard.press("Control+s");
  await holds(`${MODEL}# one\n`);
  two.answers = [false];
  await two.keyboard.press("Control+s");
  await two.waitForTimeout(700);
  assert.deepEqual(two.answers, [], "it asked");
  assert.equal(disk(), `${MODEL}# one\n`);
  // The first goes on without being asked.
  await type(one, "# more\n");
  await one.keyboard.press("Control+s");
  await holds(`${MODEL}# one\n# more\n`);
  quiet(one);
  await one.context().close();
  await two.context().close();
});

test("a file with Windows line ends is underlined, repaired and written where it is meant, and keeps them", { skip }, async () => {
  const wide = MODEL.replaceAll("\n", "\r\n");
  writeFileSync(file, wide.replace("k*x^2", "kk*x^2"));
  const page = await open(studio, { at: studio.address, wait: false });
  const underlined = page.locator(".cm-lintRange-error").first();
  await underlined.waitFor();
  assert.equal(await underlined.textContent(), "kk");
  await page.locator(".problems .fix").first().click();
  await shown(page);
  await page.locator('[aria-label="k, typed"]').fill("2");
  await page.keyboard.press("Enter");
  await page.locator('[aria-label="Write changed values into the text"]').click();
  await say(page, "1 written");
  await page.keyboard.press("Control+s");
  await holds(wide.replace("k = 1.0", "k = 2"));
  // The address remembers it, too.
  await type(page, "# more\n");
  await page.waitForTimeout(900);
  await page.reload();
  await shown(page);
  await page.keyboard.press("Control+s");
  await holds(`${wide.replace("k = 1.0", "k = 2")}# more\r\n`);
  quiet(page);
  await page.context().close();
  writeFileSync(file, MODEL);
});

test("the file that the browser is started with leads to the page, from outside any site", { skip }, async () => {
  const door = join(folder, "door.html");
  writeFileSync(door, `<!doctype html><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url=${studio.address}">`);
  const context = await studio.browser.newContext();
  const page = await context.newPage();
  await page.goto(`file://${door}`);
  await page.waitForURL(`${studio.address}**`);
  await shown(page);
  assert.equal(await page.evaluate(() => document.referrer), "");
  await context.close();
});

test("after a reload what was typed is there and can be written; what was not touched is read anew", { skip }, async () => {
  writeFileSync(file, MODEL);
  const page = await start();
  await page.locator('[aria-label="k, typed"]').fill("2");
  await page.keyboard.press("Enter");
  await page.waitForTimeout(900);
  writeFileSync(file, MODEL.replace("until = 3.0", "until = 4.0"));
  await page.reload();
  await shown(page);
  assert.equal(await page.evaluate(() => globalThis.carom.session.shown.value.reply.motion.stop.time), 4, "the text was not touched: the disk's");
  assert.deepEqual(await page.evaluate(() => globalThis.carom.session.values.value), { k: 2 }, "values stay");
  await type(page, "samples = 21\n");
  await page.waitForTimeout(900);
  await page.reload();
  await shown(page);
  assert.match(await page.evaluate(() => globalThis.carom.session.document.value.text), /samples = 21/);
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+s");
  await say(page, "values changed by sliders are not in the text");
  assert.match(disk(), /until = 4.0\nsamples = 21/);
  await menu(page);
  await page.locator(".menu button", { hasText: "Read the file" }).click();
  await page.waitForFunction(() => Object.keys(globalThis.carom.session.values.value).length === 0);
  quiet(page);
  await page.context().close();
});

test("another model never goes into the file", { skip }, async () => {
  writeFileSync(file, MODEL);
  const page = await start();
  await page.locator(".top button", { hasText: "Gallery" }).click();
  await page.waitForFunction(() => document.querySelectorAll(".card").length > 40);
  const n = await serial(page);
  await page.locator('[data-model="bouncing_mass"]').click();
  await shown(page, n);
  await menu(page);
  assert.equal(await page.locator(".menu button", { hasText: "Write back" }).count(), 0);
  await page.keyboard.press("Escape");
  const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Control+s")]);
  assert.equal(download.suggestedFilename(), "bouncing_mass.toml");
  await page.waitForTimeout(700);
  await page.reload();
  await shown(page);
  assert.match(await page.title(), /^(?!.*spring)/);
  assert.equal(await page.evaluate(() => globalThis.carom.session.document.value.disk), undefined);
  assert.equal(disk(), MODEL);
  quiet(page);
  await page.context().close();
});
