// Links from anyone, no network, no other origin, and how much is loaded.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { createServer } from "node:http";
import { connect } from "node:net";
import { DIST, drop, link, open, quiet, said, shown, start } from "./browser.mjs";

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
    "wrong shapes": link({ file: "../../etc/passwd", text: 'coordinates = ["x"]\nlagrangian = "x\'^2/2"\n', values: { x: "1" }, layout: { columns: "all", hidden: ["text"] }, plots: [{ kind: "time" }, 7], until: "for ever", time: {}, lesson: -5, speed: -1, turn: ["a"], zoom: [2, 1], compare: [], ghost: 1, cloud: "yes" }),
    // Written by hand: an object literal takes `__proto__` for something else than a key.
    "a prototype": link('{"file":"m.toml","text":"coordinates = [\\"x\\"]\\nlagrangian = \\"x\'^2/2\\"\\n","values":{"__proto__":{"polluted":1},"constructor":1},"tables":{"__proto__":"t,u"},"compare":{"__proto__":{"polluted":1}},"__proto__":{"polluted":1}}'),
  };

  for (const [name, hash] of Object.entries(hostile)) {
    const page = await open(studio, { hash, wait: false });
    await shown(page);
    assert.equal(await page.evaluate(() => ({}).polluted), undefined, name);
    if (name === "a prototype") {
      const kept = await page.evaluate(() => { const { values, document } = globalThis.carom.session; return { polluted: values.value.polluted, own: Object.hasOwn(values.value, "__proto__") || Object.hasOwn(document.value.tables, "__proto__"), plain: Object.getPrototypeOf(values.value) === Object.prototype }; });
      assert.deepEqual(kept, { polluted: undefined, own: false, plain: true });
    }
    assert.ok(!(await page.evaluate(() => globalThis.carom.session.document.value.file)).includes("/"), name);
    await alive(page);
    quiet(page);
    await page.context().close();
  }
});

/** A model whose curves are these numbers. */
const constant = (value, more = "") => `coordinates = ["theta", "x"]\nlagrangian = "(theta'^2 + x'^2)/2"\n[start]\nposition = { theta = ${value}, x = ${value} }\n${more}[run]\nuntil = 1.0\n`;

test("numbers of any size and curves of any narrowness are drawn without standing still", async () => {
  for (const text of [
    constant("1e16"), constant("1e17", "velocity = { theta = 40.0, x = 64.0 }\n"), constant("3e15", "velocity = { theta = 3.0, x = 1.0 }\n"), constant("-1e300"), constant("1e-310"), constant("1.7e308"), constant("0.0", "velocity = { theta = 1e-320, x = 1e307 }\n"),
    // The time itself: late and short.
    `coordinates = ["x"]\nlagrangian = "x'^2/2 - x^2/2"\n[start]\ntime = 1e9\nposition = { x = 1.0 }\n[run]\nuntil = 1000000000.0000005\n`,
    // A wall much larger than the picture.
    `coordinates = ["x", "y"]\nlagrangian = "(x'^2 + y'^2)/2 - y"\n[wall.floor]\ngap = "y"\n[start]\nposition = { x = 0.0, y = 1e-9 }\nvelocity = { x = 1e12 }\n[run]\nuntil = 1.0\n`,
  ]) {
    const plots = [{ kind: "time", title: "A", names: ["theta", "x"] }, { kind: "time", title: "B", names: ["theta"] }, { kind: "plane", x: "x", y: "x'" }, { kind: "plane", x: "theta", y: "theta'" }];
    const page = await open(studio, { hash: link({ file: "m.toml", text, plots, zoom: [0.5, 0.5 + 1e-17] }), wait: false });
    await page.waitForFunction(() => globalThis.carom?.session.shown.value || globalThis.carom?.session.diagnostics.value.length, null, { timeout: 30_000 });
    // Frames go on: the page is not in a loop.
    const beats = await page.evaluate(() => new Promise((done) => { let n = 0; const tick = () => (++n < 5 ? requestAnimationFrame(tick) : done(n)); requestAnimationFrame(tick); }));
    assert.equal(beats, 5, text);
    await alive(page);
    await page.context().close();
  }
});

test("marks of an axis are few and differ, whatever the range", async () => {
  const page = await open(studio);
  // Every range that a plot asks for, as uPlot's axes split it: the scale of a plot is set to it.
  const found = await page.evaluate(async () => {
    const plot = globalThis.carom.plots.plots.find((p) => p.request.kind === "time");
    const out = [];
    for (const size of [1e-300, 1e-30, 1, 1e9, 1e15, 1e16, 1e17, 1e30, 1e300])
      for (const part of [0, 1e-17, 1e-15, 1e-13, 1e-11, 1e-3, 2]) {
        plot.zoom([size, size * (1 + part)]);
        await new Promise((done) => requestAnimationFrame(done));
        const { min, max } = plot.plot.scales.x;
        out.push({ size, part, wide: (max - min) / Math.max(Math.abs(min), Math.abs(max)), marks: plot.plot.axes[0]._splits?.length ?? 0 });
      }
    return out;
  });
  for (const f of found) assert.ok(f.wide > 5e-13 && f.marks <= 60, JSON.stringify(f));
  await page.context().close();
});

test("a formula that is too long for a page is not set, and can be copied", async () => {
  const sum = Array.from({ length: 120 }, (_, i) => `sin(${i + 2}*x)*cos(x^${(i % 7) + 2})`).join(" + ");
  const page = await open(studio, { hash: link({ file: "m.toml", text: `coordinates = ["x"]\n[energy]\nkinetic = "x'^2/2"\npotential = "${sum}"\n[start]\nposition = { x = 0.1 }\n[run]\nuntil = 0.01\n` }), wait: false });
  await page.waitForFunction(() => { document.querySelectorAll(".report details").forEach((d) => { d.open = true; }); return document.querySelector(".too-long"); }, null, { timeout: 40_000 });
  const row = page.locator(".equation", { has: page.locator(".too-long") }).first();
  await row.locator(".copy").click();
  await page.locator(".menu button", { hasText: "LaTeX" }).click();
  assert.ok((await page.evaluate(() => navigator.clipboard.readText())).length > 2500);
  assert.ok((await page.evaluate(() => document.querySelectorAll(".report *").length)) < 30_000);
  await alive(page);
  await page.context().close();
});

test("a link cannot hide every pane", async () => {
  const columns = [{ size: 1, panes: ["text", "mathematics", "motion", "plots", "values"].map((name) => ({ name, size: 0.2 })) }];
  const text = constant("1.0");
  const all = ["text", "mathematics", "motion", "plots", "values"];
  for (const [hidden, seen] of [[all, 5], [[...all, ...all], 5], [all.slice(1), 1], [["text", "text", "text", "text", "text"], 4]]) {
    const page = await open(studio, { hash: link({ file: "m.toml", text, layout: { columns, hidden } }) });
    assert.equal(await page.locator(".pane:visible").count(), seen, hidden.join());
    await page.context().close();
  }
});

test("what is dropped and is neither a model nor a table opens nothing, and that is said", async () => {
  const page = await open(studio);
  const before = await page.evaluate(() => globalThis.carom.session.document.value.text);
  await drop(page, { "picture.png": "\u0089PNG" });
  await said(page, "picture.png is neither a model");
  await drop(page, { "binary.toml": "a\0b" });
  await said(page, "binary.toml is no text");
  assert.equal(await page.evaluate(() => globalThis.carom.session.document.value.text), before);
  quiet(page);
  await page.context().close();
});

test("a table that is too long for a link is left out of it, and that is said", async () => {
  const page = await open(studio);
  await page.evaluate(() => {
    const rows = Array.from({ length: 60_000 }, (_, i) => `${i},${Math.random()}`).join("\n");
    const data = new DataTransfer();
    data.items.add(new File([`t,u\n${rows}\n`], "long.csv", { type: "text/csv" }));
    window.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  });
  await page.waitForFunction(() => globalThis.carom.session.document.value.tables["long.csv"]);
  await page.locator(".top button", { hasText: "Share" }).click();
  await page.waitForFunction(() => document.querySelector(".toast")?.textContent.includes("without the tables"));
  assert.ok((await page.evaluate(() => location.href.length)) < 400_000);
  await page.reload();
  await shown(page);
  quiet(page);
  await page.context().close();
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

test("the service worker answers for its own page and for no other of its origin", async () => {
  const page = await open(studio);
  await page.evaluate(async () => { await navigator.serviceWorker.ready; if (!navigator.serviceWorker.controller) await new Promise((done) => navigator.serviceWorker.addEventListener("controllerchange", done)); });
  for (const path of ["/elsewhere/", "/0123456789abcdef0123456789abcdef/", "/index.html/x"]) {
    const answer = await page.goto(`${studio.origin}${path}`);
    assert.equal(answer.status(), 404, path);
    assert.equal(answer.fromServiceWorker(), false, path);
  }
  const kept = await page.goto(`${studio.origin}/index.html`);
  assert.equal(kept.fromServiceWorker(), true);
  await page.context().close();
});

test("the server of the build survives odd addresses and says that it is not to be framed", async () => {
  for (const path of ["//", "///", "//x//", "/%", "/%ff", "/../build", "/?x", "/index.html?x#y"]) {
    const status = await new Promise((done, fail) => {
      const socket = connect(Number(new URL(studio.origin).port), "127.0.0.1", () => socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`));
      let text = "";
      socket.on("data", (d) => (text += d)).on("end", () => done(Number(text.split(" ")[1]))).on("error", fail);
    });
    assert.equal(status, path.startsWith("/?") || path.startsWith("/index") ? 200 : 404, path);
  }
  const page = await fetch(`${studio.origin}/`);
  assert.equal(page.headers.get("x-frame-options"), "DENY");
});

test("the policy of the page forbids inline scripts, evaluation and other origins", async () => {
  const page = await open(studio);
  const policy = await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute("content");
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'|\*|https?:/);
  let asked = 0;
  const other = createServer((_, response) => { asked++; response.writeHead(200, { "Access-Control-Allow-Origin": "*" }).end("open to all"); });
  await new Promise((done) => other.listen(0, "127.0.0.1", done));
  const address = `http://127.0.0.1:${other.address().port}/`;
  const refused = await page.evaluate(async (open_) => {
    const script = document.createElement("script");
    script.textContent = "globalThis.inline = 1";
    document.body.append(script);
    // Later, because what the debugger itself evaluates is exempt.
    const evaluated = await new Promise((done) => setTimeout(() => { try { done(Boolean(new Function("return 1")())); } catch { done(false); } }));
    // A server that would answer, to anyone: it is the policy that refuses, and says so.
    const violated = new Promise((done) => { addEventListener("securitypolicyviolation", (e) => { if (e.blockedURI.startsWith("http")) done(e.effectiveDirective); }); setTimeout(() => done("nothing"), 5000); });
    let fetched = true;
    try { await fetch(open_); } catch { fetched = false; }
    return { inline: globalThis.inline === 1, evaluated, fetched, violated: await violated };
  }, address);
  assert.deepEqual(refused, { inline: false, evaluated: false, fetched: false, violated: "connect-src" });
  assert.equal(asked, 0, "the other server has heard nothing");
  assert.equal(await (await fetch(address)).text(), "open to all");
  other.close();
  await page.context().close();
});

test("without the engine the bundle has less than 600 kB, compressed", (t) => {
  const files = readdirSync(DIST, { recursive: true }).filter((f) => /\.(js|css|html|svg|webmanifest)$/.test(f) && !f.endsWith("widget.js"));
  const size = files.reduce((s, f) => s + gzipSync(readFileSync(join(DIST, f)), { level: 9 }).length, 0);
  t.diagnostic(`${(size / 1000).toFixed(0)} kB in ${files.length} files`);
  assert.ok(size < 600_000, `${size}`);
});
