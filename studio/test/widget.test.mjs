// The notebook widget, with a stand-in for the kernel: it shows the scene it is given, and asks for values that a slider is
// dragged to.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { chromium } from "playwright-core";
import { DIST } from "./browser.mjs";

const CAROM = process.env.CAROM;

test("the widget draws a scene, and a slider asks the kernel for another", { skip: CAROM ? false : "CAROM names no program; scenes come from `carom show`" }, async () => {
  assert.ok(existsSync(join(DIST, "widget.js")), "the widget is not built: bash studio/build");
  const page_ = join(mkdtempSync(join(tmpdir(), "carom-")), "page.html");
  execFileSync(CAROM, ["show", "double_pendulum_wall", "-o", page_]);
  const data = /<script[^>]*id="?motion"?[^>]*>([\s\S]*?)<\/script>/.exec(readFileSync(page_, "utf8"))[1];
  const browser = await chromium.launch({ executablePath: process.env.CAROM_CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
  const page = await browser.newPage({ viewport: { width: 1000, height: 640 }, reducedMotion: "reduce" });
  const wrong = [];
  page.on("pageerror", (e) => wrong.push(e.message));
  page.on("console", (m) => { if (m.type() === "error") wrong.push(m.text()); });
  await page.setContent('<!doctype html><body><div id="out"></div></body>');
  await page.evaluate(async ([code, scene]) => {
    const { default: widget } = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
    const traits = { model_text: "", scene, sliders: [{ name: "g", kind: "parameter", value: 9.81, min: 0, max: 20 }], plots: ["theta1,theta2"], error: "" };
    const listeners = {};
    globalThis.sent = [];
    globalThis.kernel = { set: (name, value) => { traits[name] = value; for (const f of listeners[`change:${name}`] ?? []) f(); } };
    globalThis.listening = () => Object.values(listeners).flat().length;
    globalThis.leave = widget.render({ model: { get: (n) => traits[n], on: (e, f) => { (listeners[e] ??= []).push(f); }, off: (e, f) => { listeners[e] = listeners[e].filter((g) => g !== f); }, send: (m) => globalThis.sent.push(m) }, el: document.getElementById("out") });
  }, [readFileSync(join(DIST, "widget.js"), "utf8"), data]);
  await page.waitForTimeout(300);
  const drawn = (selector) => page.locator(selector).first().evaluate((c) => c.getContext("2d").getImageData(0, 0, c.width, c.height).data.filter((v) => v > 0).length);
  assert.ok((await drawn(".stage")) > 500, "the stage has a picture");
  assert.ok((await drawn(".panels canvas")) > 500, "the curves are drawn");
  await page.locator('[aria-label="g, typed"]').fill("1.62");
  await page.keyboard.press("Enter");
  assert.deepEqual(await page.evaluate(() => globalThis.sent), [{ type: "set", values: { g: 1.62 } }]);
  // While Python computes, the next values wait; its answer lets them go.
  const slider = page.locator('[data-name="g"] input[type="range"]');
  await slider.focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.evaluate(() => globalThis.sent.length), 1);
  await page.evaluate((scene) => globalThis.kernel.set("scene", scene), data);
  assert.equal(await page.evaluate(() => globalThis.sent.length), 2);
  // An answer that changes no trait is told by its count; without one, a while is waited and then asked again.
  const asks = (n) => page.waitForFunction((k) => globalThis.sent.length === k, n, { timeout: 6000 });
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.evaluate(() => globalThis.sent.length), 2);
  await page.evaluate(() => globalThis.kernel.set("answered", 3));
  await asks(3);
  await page.keyboard.press("ArrowRight");
  await asks(4);
  await page.evaluate(() => globalThis.kernel.set("error", "error: unknown name `thetta`"));
  assert.equal(await page.locator(".error").textContent(), "error: unknown name `thetta`");
  assert.ok((await page.evaluate(() => globalThis.listening())) > 3);
  if (process.env.CAROM_PICTURES) await page.screenshot({ path: process.env.CAROM_PICTURES });
  assert.equal(await page.evaluate(() => { globalThis.leave(); return globalThis.listening(); }), 0, "a widget that is gone hears nothing");
  assert.deepEqual(wrong, []);
  await browser.close();
});
