// The same page in Firefox, through WebDriver BiDi: it simulates the same numbers, underlines a mistake, follows a slider, copies
// state into its address, works offline, and has nothing to complain about.

import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import puppeteer from "puppeteer-core";
import { ROOT, serve } from "./browser.mjs";

const firefox = process.env.CAROM_FIREFOX ?? ["/usr/bin/firefox-esr", "/usr/bin/firefox"].find((path) => existsSync(path));
const skip = firefox ? false : "not run here: Firefox is not installed (apt-get install firefox-esr, or CAROM_FIREFOX=/path/to/firefox)";
if (skip) console.log(skip);
let served, browser;
before(async () => {
  if (skip) return;
  served = await serve();
  browser = await puppeteer.launch({ browser: "firefox", executablePath: firefox, headless: true, defaultViewport: { width: 1440, height: 900 }, extraPrefsFirefox: { "ui.prefersReducedMotion": 1 } });
});
after(async () => {
  await browser?.close();
  await served?.close();
});

async function open(hash = "") {
  const page = await browser.newPage();
  page.wrong = [];
  page.on("console", (m) => { if (m.type() === "error" || m.type() === "warn") page.wrong.push(m.text()); });
  page.on("pageerror", (e) => page.wrong.push(`uncaught: ${e.message}`));
  await page.goto(`${served.origin}/${hash}`);
  await shown(page);
  return page;
}
const shown = (page, serial = 0) => page.waitForFunction((n) => Number(document.body.dataset.serial ?? 0) > n && globalThis.carom.session.outline.value, { timeout: 60_000 }, serial);
const serial = (page) => page.evaluate(() => Number(document.body.dataset.serial ?? 0));

test("Firefox: the published impact, a picture on the stage, formulas, no complaint", { skip }, async () => {
  const page = await open();
  const found = await page.evaluate(() => {
    const { canvas } = globalThis.carom.stage;
    return {
      impacts: globalThis.carom.session.shown.value.reply.motion.impacts.map((i) => i.time),
      drawn: canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.filter((v) => v > 0).length,
      audit: document.querySelector(".audit").dataset.verdict,
    };
  });
  assert.equal(found.impacts.length, 7);
  assert.ok(Math.abs(found.impacts[0] - 0.845724416263871) < 1e-12, `${found.impacts[0]}`);
  assert.ok(found.drawn > 1000);
  assert.equal(found.audit, "good");
  await page.waitForFunction(() => document.querySelectorAll(".report math").length > 10 && [...document.fonts].some((f) => f.family === "carom-math" && f.status === "loaded"));
  mkdirSync(join(ROOT, "target/studio-pictures"), { recursive: true });
  await page.screenshot({ path: join(ROOT, "target/studio-pictures/firefox.png") });
  assert.deepEqual(page.wrong, []);
  await page.close();
});

test("Firefox: a mistake is underlined and repaired, a slider moves the motion, a reload shows the same", { skip }, async () => {
  const page = await open();
  let n = await serial(page);
  await page.evaluate(() => { const { editor } = globalThis.carom; editor.reveal(editor.view.state.doc.toString().indexOf("m1*g*y1") + 1); });
  await page.keyboard.type("1");
  await page.waitForSelector(".problems li.error .fix");
  assert.equal(await page.evaluate(() => document.querySelector(".editor").shadowRoot.querySelector(".cm-lintRange-error").textContent), "m11");
  await page.click(".problems li.error .fix");
  await shown(page, n);
  await page.waitForFunction(() => !globalThis.carom.session.stale.value && globalThis.carom.session.diagnostics.value.length === 0);
  n = await serial(page);
  await page.focus('[data-name="g"] input[type="range"]');
  await page.keyboard.press("ArrowRight");
  await shown(page, n);
  const state = () => page.evaluate(() => ({ values: globalThis.carom.session.values.value, impacts: globalThis.carom.session.shown.value.reply.motion.impacts }));
  await new Promise((done) => setTimeout(done, 900));
  const said = await state();
  assert.ok(said.values.g > 9.81);
  await page.reload();
  await shown(page);
  assert.deepEqual(await state(), said);
  assert.deepEqual(page.wrong, []);
  await page.close();
});

test("Firefox: a film as WebM, the gallery, and every kind of link that is no state", { skip }, async () => {
  const page = await open("#model=bouncing_mass");
  await page.evaluate(() => globalThis.carom.session.setUntil(1));
  await page.waitForFunction(() => globalThis.carom.player.scene.value.time.at(-1) === 1);
  // What would be handed to the browser as a file.
  await page.evaluate(() => { globalThis.saved = []; const make = URL.createObjectURL; URL.createObjectURL = (blob) => { globalThis.saved.push(blob.size); return make(blob); }; });
  await page.click('[aria-label="Record"]');
  await page.evaluate(() => [...document.querySelectorAll(".menu button")].find((b) => b.textContent === "WebM").click());
  await page.waitForFunction(() => /Saved|cannot record/.test(document.querySelector(".toast")?.textContent ?? ""), { timeout: 60_000 });
  assert.ok((await page.evaluate(() => globalThis.saved[0])) > 1000, "a film has bytes");
  for (const hash of ["#s=AAAA____notdeflate", "#model=no_such_model"]) {
    await page.goto("about:blank");
    await page.goto(`${served.origin}/${hash}`);
    await shown(page);
    assert.equal(await page.evaluate(() => globalThis.carom.session.shown.value.reply.motion.impacts.length), 7, hash);
  }
  assert.deepEqual(page.wrong, []);
  await page.close();
});

test("Firefox: once visited, the page works when its server is gone", { skip }, async () => {
  const own = await serve();
  const page = await browser.newPage();
  await page.goto(`${own.origin}/`);
  await shown(page);
  await page.evaluate(async () => { await navigator.serviceWorker.ready; if (!navigator.serviceWorker.controller) await new Promise((done) => navigator.serviceWorker.addEventListener("controllerchange", done)); });
  await own.close();
  await page.reload();
  await shown(page);
  assert.equal(await page.evaluate(() => globalThis.carom.session.shown.value.reply.motion.impacts.length), 7);
  await page.close();
});
