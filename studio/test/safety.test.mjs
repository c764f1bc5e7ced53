// Links from anyone, no network, no other origin, and how much is loaded.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { DIST, link, open, quiet, shown, start } from "./browser.mjs";

let studio;
before(async () => { studio = await start(); });
after(async () => { await studio.close(); });

/** Can the page still be used: does another model simulate? */
async function alive(page) {
  await page.evaluate(() => { globalThis.carom.session.open({ file: "alive.toml", text: 'coordinates = ["x"]\nlagrangian = "x\'^2/2"\n[start]\nvelocity = { x = 1.0 }\n[run]\nuntil = 1.0\n', tables: {} }); });
  await page.waitForFunction(() => globalThis.carom.session.shown.value?.reply.motion.stop.time === 1 && globalThis.carom.session.document.value.file === "alive.toml", null, { timeout: 40_000 });
}

test("markup in a model is text", async () => {
  const evil = '<img src=x onerror="globalThis.owned=1"><script>globalThis.owned=1</script>';
  const text = `name = '${evil}'\ncoordinates = ["x"]\nlagrangian = "x'^2/2 + ${evil.replaceAll('"', "")}"\n`;
  const page = await open(studio, { hash: link({ file: `${evil}.toml`, text }), wait: false });
  await page.locator(".problems li.error").first().waitFor();
  assert.equal(await page.evaluate(() => globalThis.owned), undefined);
  assert.equal(await page.locator("body img").count(), 0);
  const fine = await open(studio, { hash: link({ file: "m.toml", text: `name = '${evil}'\ncoordinates = ["x"]\nlagrangian = "x'^2/2"\n[run]\nuntil = 1.0\n` }) });
  assert.equal(await fine.locator("h1").textContent(), evil);
  assert.equal(await fine.evaluate(() => globalThis.owned), undefined);
  quiet(fine);
  await page.context().close();
  await fine.context().close();
});

test("a link that would compute for ever ends within its limit, and the page stays usable", async () => {
  const text = 'coordinates = ["x", "y"]\nlagrangian = "(x\'^2 + y\'^2)/2 - 1e6*(x^2 + 2*y^2 + x^2*y^2)"\n[start]\nposition = { x = 1.0, y = 0.5 }\n[run]\nuntil = 1e9\n';
  const page = await open(studio, { hash: link({ file: "m.toml", text, until: 1e12 }), wait: false });
  const began = Date.now();
  await page.waitForFunction(() => globalThis.carom?.session.shown.value || globalThis.carom?.session.failure.value, null, { timeout: 40_000 });
  assert.ok(Date.now() - began < 30_000);
  await alive(page);
  await page.context().close();
});

test("links that are bombs, damaged or of the wrong shape open nothing and break nothing", async () => {
  const hostile = {
    bomb: link("0".repeat(30_000_000)),
    damaged: "#s=AAAA____notdeflate",
    "not JSON": link("{"),
    "no model": link([1, 2, 3]),
    "wrong shapes": link({ file: "../../etc/passwd", text: 'coordinates = ["x"]\nlagrangian = "x\'^2/2"\n', values: { x: "1", __proto__: { polluted: 1 } }, layout: { columns: "all", hidden: ["text"] }, plots: [{ kind: "time" }, 7], until: "for ever", time: {}, lesson: -5 }),
  };
  for (const [name, hash] of Object.entries(hostile)) {
    const page = await open(studio, { hash, wait: false });
    await shown(page);
    assert.equal(await page.evaluate(() => ({}).polluted), undefined, name);
    assert.ok(!(await page.evaluate(() => globalThis.carom.session.document.value.file)).includes("/"), name);
    await alive(page);
    quiet(page);
    await page.context().close();
  }
});

test("after the first visit the studio works offline", async () => {
  const page = await open(studio);
  await page.evaluate(async () => { await navigator.serviceWorker.ready; if (!navigator.serviceWorker.controller) await new Promise((done) => navigator.serviceWorker.addEventListener("controllerchange", done)); });
  await page.context().setOffline(true);
  await page.reload();
  await shown(page);
  assert.equal(await page.evaluate(() => globalThis.carom.session.shown.value.reply.motion.impacts.length), 7);
  quiet(page);
  await page.context().close();
});

test("the policy of the page forbids inline scripts, evaluation and other origins", async () => {
  const page = await open(studio);
  const policy = await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute("content");
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'|\*|https?:/);
  const refused = await page.evaluate(async () => {
    const script = document.createElement("script");
    script.textContent = "globalThis.inline = 1";
    document.body.append(script);
    // Later, because what the debugger itself evaluates is exempt.
    const evaluated = await new Promise((done) => setTimeout(() => { try { done(Boolean(new Function("return 1")())); } catch { done(false); } }));
    let fetched = true;
    try { await fetch("http://127.0.0.2:9/"); } catch { fetched = false; }
    return { inline: globalThis.inline === 1, evaluated, fetched };
  });
  assert.deepEqual(refused, { inline: false, evaluated: false, fetched: false });
  await page.context().close();
});

test("without the engine the bundle has less than 600 kB, compressed", (t) => {
  const files = readdirSync(DIST, { recursive: true }).filter((f) => /\.(js|css|html|svg|webmanifest)$/.test(f) && !f.endsWith("widget.js"));
  const size = files.reduce((s, f) => s + gzipSync(readFileSync(join(DIST, f)), { level: 9 }).length, 0);
  t.diagnostic(`${(size / 1000).toFixed(0)} kB in ${files.length} files`);
  assert.ok(size < 600_000, `${size}`);
});
