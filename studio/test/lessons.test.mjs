// The tour, as a student goes through it: every task of every lesson can be done by hand, and the page sees it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { open, quiet, start } from "./browser.mjs";

let studio;
before(async () => { studio = await start(); });
after(async () => { await studio.close(); });

const value = (name, text) => async (page) => {
  await page.locator(`[aria-label="${name}, typed"]`).fill(text);
  await page.keyboard.press("Enter");
};
const impact = (n) => (page) => page.locator(`[data-impact="${n}"]`).click();

/** Takes the number signs away, with the keys that the lesson names. */
async function uncomment(page) {
  await page.evaluate(() => {
    const { editor } = globalThis.carom;
    const text = editor.view.state.doc.toString();
    editor.view.dispatch({ selection: { anchor: text.indexOf("# [wall.floor]"), head: text.indexOf('# draw        = "y"') + 5 } });
    editor.view.focus();
  });
  await page.keyboard.press("Control+/");
  await page.locator('[data-impact="2"]').waitFor();
}

/** Drags the bead on its circle from below the pivot to above it. */
async function lift(page) {
  await page.locator('[aria-label="Leave the tour"]').waitFor();
  const at = (x, y) => page.evaluate((p) => { const { stage } = globalThis.carom; const box = stage.canvas.getBoundingClientRect(); const q = stage.camera().to(p); return { x: box.x + q[0], y: box.y + q[1] }; }, [x, y, 0]);
  await page.evaluate(() => globalThis.carom.player.seek(0));
  const from = await at(0.8, -0.6);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  for (const angle of [-0.5, -0.3, -0.1, 0.1, 0.3, 0.5, 0.6]) {
    const to = await at(Math.cos(angle), Math.sin(angle));
    await page.mouse.move(to.x, to.y);
    await page.waitForTimeout(120);
  }
  await page.mouse.up();
}

/** What a student does, lesson by lesson, task by task. */
const DONE = {
  "A ball": [value("y'", "6"), value("g", "1.62")],
  "A wall": [uncomment, async () => {}, impact(2)],
  Restitution: [value("e_n", "0.8"), async () => {}],
  "A pendulum": [value("w", "0.2"), async (page) => { await value("w", "-0.3")(page); await value("theta", "0.1")(page); }],
  "Why the law is what it is": [impact(3), value("m1", "5")],
  "A moving wall": [value("A", "0"), value("A", "0.3")],
  "A constraint": [impact(2), lift],
  Rolling: [value("v", "1.6"), value("s", "-0.8")],
  "A corner": [value("y", "2"), value("k", "0.2")],
  Zeno: [value("e_n", "0.5"), value("h", "0.3")],
};

test("every task of the ten lessons can be done, and is ticked when it is", async () => {
  const page = await open(studio);
  await page.locator(".top button", { hasText: "Tour" }).click();
  const seen = [];
  for (;;) {
    const title = await page.locator(".tour h2").textContent();
    seen.push(title);
    const steps = DONE[title];
    assert.ok(steps, `a lesson without a student: ${title}`);
    await page.waitForFunction((t) => globalThis.carom.session.shown.value && globalThis.carom.session.outline.value && globalThis.carom.session.document.value.file.slice(3, -5).length > 0 && document.querySelector(".tour h2").textContent === t, title);
    const tasks = page.locator(".tour .tasks li");
    assert.equal(await tasks.count(), steps.length, title);
    for (const [i, step] of steps.entries()) {
      await step(page);
      await page.waitForFunction((k) => document.querySelectorAll(".tour .tasks li")[k].classList.contains("done"), i, { timeout: 8000 }).catch(() => assert.fail(`${title}: task ${i + 1} is not ticked`));
    }
    const next = page.locator(".tour footer button.primary");
    await next.waitFor();
    const last = (await next.textContent()) === "Finish";
    const n = await page.evaluate(() => document.body.dataset.serial);
    await next.click();
    if (last) break;
    await page.waitForFunction((before) => document.body.dataset.serial !== before && globalThis.carom.session.outline.value, n);
  }
  assert.deepEqual(seen, Object.keys(DONE));
  assert.equal(await page.locator(".tour").isVisible(), false);
  quiet(page);
  await page.context().close();
});
