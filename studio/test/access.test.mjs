// For everyone: axe-core finds nothing, the keyboard alone reaches everything, nothing moves for those who asked for that.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { DESK, open, PHONE, quiet, start } from "./browser.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let studio;
before(async () => { studio = await start(); });
after(async () => { await studio.close(); });

async function violations(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.target.join(" ")).join(" | ")}`);
}

for (const [name, options] of Object.entries({ light: DESK, dark: { ...DESK, colorScheme: "dark" }, "a phone": PHONE })) {
  test(`axe-core finds no violation in ${name}`, async () => {
    const page = await open(studio, { options });
    assert.deepEqual(await violations(page), []);
    // On a phone panes are tabs, which have nothing to arrange.
    const openers = [".top button:has-text('Files')", ...(name === "a phone" ? [] : [".pane > header .tools button:last-child"])];
    for (const opener of openers) {
      await page.locator(opener).locator("visible=true").first().click();
      await page.waitForSelector(".menu");
      assert.deepEqual(await violations(page), [], "an open menu");
      await page.keyboard.press("Escape");
    }
    if (name === "a phone") {
      for (const tab of ["Text", "Maths", "Plots", "Values"]) {
        await page.locator(".tabs button", { hasText: tab }).click();
        await page.waitForTimeout(200);
        assert.deepEqual(await violations(page), [], tab);
      }
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, "nothing sticks out");
    } else {
      await page.locator(".top button", { hasText: "Tour" }).click();
      await page.waitForTimeout(600);
      assert.deepEqual(await violations(page), [], "tour");
      await page.locator(".top button", { hasText: "Gallery" }).click();
      await page.waitForFunction(() => document.querySelectorAll(".card").length > 40);
      assert.deepEqual(await violations(page), [], "gallery");
    }
    quiet(page);
    await page.context().close();
  });
}

test("the keyboard alone reaches everything and is caught nowhere", async () => {
  const page = await open(studio);
  const reached = new Set();
  for (let i = 0; i < 140; i++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => { let e = document.activeElement; while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement; return e?.getAttribute("aria-label") ?? e?.textContent?.trim() ?? ""; });
    reached.add(at);
  }
  for (const name of ["Gallery", "Files", "Share", "Model text", "Play", "Next impact", "Time", "g", "g, typed", "Add a plot", "Width of columns", "Arrange Motion"]) assert.ok([...reached].some((r) => r === name), `${name} is reached; ${[...reached].join(" | ")}`);
  quiet(page);
  await page.context().close();
});

test("space plays, arrows step, shift and arrows go from impact to impact, borders move", async () => {
  const page = await open(studio);
  const player = () => page.evaluate(() => ({ time: globalThis.carom.player.time.value, playing: globalThis.carom.player.playing.value }));
  await page.locator(".stage").focus();
  assert.deepEqual(await player(), { time: 0, playing: false }, "nothing moves by itself when less motion is wanted");
  await page.keyboard.press("Shift+ArrowRight");
  const impacts = await page.evaluate(() => globalThis.carom.session.shown.value.reply.motion.impacts.map((i) => i.time));
  assert.equal((await player()).time, impacts[0]);
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Shift+ArrowLeft");
  assert.equal((await player()).time, impacts[0]);
  await page.keyboard.press("Space");
  assert.equal((await player()).playing, true);
  await page.keyboard.press("Space");
  const g = page.locator('[data-name="g"] input[type="range"]');
  await g.focus();
  await page.keyboard.press("ArrowRight");
  assert.ok((await page.evaluate(() => globalThis.carom.session.values.value.g)) > 9.81);
  const border = page.locator('[aria-label="Width of columns"]').first();
  const before = await page.locator(".pane-text").boundingBox();
  await border.focus();
  for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowRight");
  assert.ok((await page.locator(".pane-text").boundingBox()).width > before.width + 20);
  quiet(page);
  await page.context().close();
});

test("a pane that is shown alone fills the page; hidden and moved panes leave no hole", async () => {
  const page = await open(studio);
  const choose = async (pane, words) => {
    await page.locator(`[aria-label="Arrange ${pane}"]`).click();
    await page.locator(".menu button", { hasText: words }).click();
  };
  const box = (pane) => page.locator(`.pane-${pane}`).boundingBox();
  await choose("Mathematics", "Show alone");
  assert.ok((await box("mathematics")).width > 1400 && (await box("mathematics")).height > 800);
  await choose("Mathematics", "Show all panes");
  await choose("Values", "Hide");
  assert.ok((await box("motion")).x + (await box("motion")).width > 1420);
  await choose("Plots", "Move left");
  assert.ok((await box("plots")).x < 20);
  await choose("Plots", "First arrangement");
  assert.ok((await box("values")).width > 200);
  quiet(page);
  await page.context().close();
});
