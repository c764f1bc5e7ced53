// Pictures of every pane in light, in dark and on a phone, to be looked at (target/studio-pictures), and the README's.
//
//   CAROM_README_PICTURE=1 writes docs/studio.png again

import assert from "node:assert/strict";
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { DESK, lettered, open, PHONE, quiet, ROOT, shown, serial, start } from "./browser.mjs";

const OUT = join(ROOT, "target/studio-pictures");
let studio;
before(async () => { mkdirSync(OUT, { recursive: true }); studio = await start(); });
after(async () => { await studio.close(); });

const seek = (page, time) => page.evaluate((t) => new Promise((done) => { globalThis.carom.player.seek(t); requestAnimationFrame(() => requestAnimationFrame(done)); }), time);

for (const scheme of ["light", "dark"])
  test(`every pane in ${scheme}`, async () => {
    const page = await open(studio, { options: { ...DESK, colorScheme: scheme } });
    await lettered(page);
    await seek(page, 2.62);
    await page.screenshot({ path: join(OUT, `studio-${scheme}.png`) });
    if (scheme === "light" && process.env.CAROM_README_PICTURE) await page.screenshot({ path: join(ROOT, "docs/studio.png") });
    for (const pane of ["text", "mathematics", "motion", "plots", "values"]) await page.locator(`.pane-${pane}`).screenshot({ path: join(OUT, `${pane}-${scheme}.png`) });
    await page.locator(".chip").click();
    await page.screenshot({ path: join(OUT, `audit-${scheme}.png`) });
    await page.keyboard.press("Escape");
    await page.locator('[data-impact="3"]').click();
    await page.evaluate(() => { const { editor } = globalThis.carom; editor.reveal(editor.view.state.doc.toString().indexOf("m1*g*y1") + 1); });
    await page.keyboard.type("1");
    await page.locator(".problems li").first().waitFor();
    await page.screenshot({ path: join(OUT, `mistake-${scheme}.png`) });
    await page.keyboard.press("Control+z");
    await page.locator(".top button", { hasText: "Tour" }).click();
    await page.waitForTimeout(600);
    await page.screenshot({ path: join(OUT, `tour-${scheme}.png`) });
    await page.locator(".top button", { hasText: "Gallery" }).click();
    await page.waitForTimeout(4000);
    await page.screenshot({ path: join(OUT, `gallery-${scheme}.png`) });
    assert.ok(statSync(join(OUT, `gallery-${scheme}.png`)).size > 20_000);
    await page.context().close();
  });

test("contact forces, space, a comparison and a cloud", async () => {
  for (const [model, time] of [["ball_on_incline", 3], ["jack_in_box", 4], ["bead_in_bowl", 5], ["rigid_body_quaternion", 3], ["newtons_cradle", 2]]) {
    const page = await open(studio, { hash: `#model=${model}` });
    await seek(page, time);
    await page.screenshot({ path: join(OUT, `model-${model}.png`) });
    quiet(page);
    await page.context().close();
  }
  const page = await open(studio);
  await page.locator('[aria-label="Compare with this run"]').click();
  const n = await serial(page);
  await page.locator('[aria-label="m1, typed"]').fill("2");
  await page.keyboard.press("Enter");
  await shown(page, n);
  await seek(page, 4);
  await page.screenshot({ path: join(OUT, "compare.png") });
  await page.locator(".compare-bar button").click();
  const m = await serial(page);
  await page.locator('[aria-label="Reset m1"]').click();
  await shown(page, m);
  await page.locator('[aria-label="Cloud of 200 neighbours"]').click();
  await page.waitForFunction(() => globalThis.carom.stage.cloud.value?.done === 200, null, { timeout: 20_000 });
  await seek(page, 7);
  await page.screenshot({ path: join(OUT, "cloud.png") });
  await page.context().close();
});

test("every pane on a phone", async () => {
  for (const scheme of ["light", "dark"]) {
    const page = await open(studio, { options: { ...PHONE, colorScheme: scheme } });
    await lettered(page);
    await seek(page, 2.62);
    for (const tab of ["Motion", "Text", "Maths", "Plots", "Values"]) {
      await page.locator(".tabs button", { hasText: tab }).click();
      await page.waitForTimeout(250);
      await page.screenshot({ path: join(OUT, `phone-${tab.toLowerCase()}-${scheme}.png`) });
    }
    quiet(page);
    await page.context().close();
  }
});
