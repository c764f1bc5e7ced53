// What is changed is changed where it is meant: values with units, repairs and values in a text that goes on, other models that
// are opened, runs that nothing else ends, and what a link and a file say of it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { drop, link, open, PHONE, quiet, said, serial, shown, start } from "./browser.mjs";

let studio;
before(async () => { studio = await start(); });
after(async () => { await studio.close(); });

/** A pendulum whose angle people read in degrees and whose length in centimetres. */
const PENDULUM = `coordinates = ["theta"]
[parameters]
l = "30 cm"
g = "9.81 m/s^2"
w = 2.0
[units]
theta = "deg"
l = "cm"
[energy]
kinetic = "l^2*theta'^2/2"
potential = "-g*l*cos(theta)"
[wall.stop]
gap = "theta + 0.2"
restitution = 0.5
[start]
position = { theta = "20 deg" }
[event.low]
when = "theta"
[run]
until = 2.0
`;
const text = (page) => page.evaluate(() => globalThis.carom.session.document.value.text);
const values = (page) => page.evaluate(() => globalThis.carom.session.values.value);
const typed = (page, name) => page.locator(`[aria-label="${name}, typed"]`);
async function set(page, name, value) {
  const n = await serial(page);
  await typed(page, name).fill(value);
  await page.keyboard.press("Enter");
  await shown(page, n);
}

test("degrees and centimetres are read, dragged, typed, plotted and written as such", async () => {
  const page = await open(studio, { hash: link({ file: "p.toml", text: PENDULUM }) });
  assert.equal(await typed(page, "theta").inputValue(), "20");
  assert.equal(await typed(page, "l").inputValue(), "30");
  const range = page.locator('[data-name="theta"] input[type="range"]');
  assert.equal(await range.getAttribute("aria-valuetext"), "20 deg");
  assert.ok(Math.abs(Number(await range.getAttribute("max")) - 180) < 1e-9);
  await set(page, "theta", "45");
  assert.ok(Math.abs((await values(page)).theta - Math.PI / 4) < 1e-15);
  const first = await page.evaluate(() => globalThis.carom.session.shown.value.reply.scene.columns.find((c) => c.name === "theta").data[0]);
  assert.ok(Math.abs(first - 45) < 1e-12, `${first}`);
  await set(page, "l", "50");
  assert.ok(Math.abs((await values(page)).l - 0.5) < 1e-15);
  // The section of the event is where the curve crosses: theta = 0, at the speed that the energy gives, in degrees per second.
  await page.locator(".add").click();
  await page.locator(".menu button", { hasText: "section at low" }).click();
  const points = await page.evaluate(() => globalThis.carom.plots.plots.find((q) => q.request.kind === "section").points);
  const speed = (Math.sqrt((2 * 9.81 * (1 - Math.cos(Math.PI / 4))) / 0.5) * 180) / Math.PI;
  assert.ok(points.x.length > 0 && Math.abs(points.x[0]) < 1e-9 && Math.abs(Math.abs(points.y[0]) - speed) < 1e-9 * speed, `${points.x[0]}, ${points.y[0]} and ${speed}`);
  // So are the velocities of an impact.
  await page.locator('[data-impact="1"]').click();
  const row = await page.locator(".impacts .numbers tr", { hasText: "theta′" }).textContent();
  const { before, unit } = await page.evaluate(() => ({ before: globalThis.carom.session.shown.value.reply.motion.impacts[0].velocity_before.theta, unit: globalThis.carom.session.shown.value.reply.columns.find((c) => c.name === "theta'").unit }));
  assert.equal(unit, "deg/s");
  assert.ok(row.includes("[deg/s]") && row.includes(String(Number(((Math.abs(before) * 180) / Math.PI).toPrecision(8)))), row);
  await page.locator('[aria-label="Write changed values into the text"]').click();
  await said(page, "2 written");
  assert.match(await text(page), /l = "50 cm"[\s\S]*position = \{ theta = "45 deg" \}/);
  await page.waitForFunction(() => Object.keys(globalThis.carom.session.values.value).length === 0 && document.querySelector('[aria-label="theta, typed"]').value === "45");
  quiet(page);
  await page.context().close();
});

test("values are written where they stand now, not where they stood", async () => {
  const page = await open(studio, { hash: link({ file: "p.toml", text: PENDULUM }) });
  await set(page, "w", "7.5");
  // A line is put above, and the button is pressed before the text has been read again.
  await page.evaluate(() => {
    globalThis.carom.editor.view.dispatch({ changes: { from: 0, insert: "# a line that moves everything below it\n" } });
    document.querySelector('[aria-label="Write changed values into the text"]').click();
  });
  await said(page, "1 written");
  assert.equal(await text(page), `# a line that moves everything below it\n${PENDULUM.replace("w = 2.0", "w = 7.5")}`);
  quiet(page);
  await page.context().close();
});

test("a repair is made where the mistake is now, and not at all once it is gone", async () => {
  const page = await open(studio, { hash: link({ file: "p.toml", text: PENDULUM.replace("g*l*cos", "g*ll*cos") }), wait: false });
  const fix = page.locator(".problems .fix").first();
  await fix.waitFor();
  await page.evaluate(() => {
    globalThis.carom.editor.view.dispatch({ changes: { from: 0, insert: "# moved\n" } });
    document.querySelector(".problems .fix").click();
  });
  assert.equal(await text(page), `# moved\n${PENDULUM}`);
  await shown(page);
  // Typed over: the repair of what stood there is none any more.
  await page.evaluate(() => { const { view } = globalThis.carom.editor; const at = view.state.doc.toString().indexOf("g*l*") + 2; view.dispatch({ changes: { from: at, to: at + 1, insert: "ll" } }); });
  await fix.waitFor();
  await page.evaluate(() => {
    const { view } = globalThis.carom.editor;
    const at = view.state.doc.toString().indexOf("g*ll*") + 2;
    view.dispatch({ changes: { from: at, to: at + 2, insert: "w" } });
    document.querySelector(".problems .fix").click();
  });
  assert.match(await text(page), /-g\*w\*cos/);
  quiet(page);
  await page.context().close();
});

test("opening another model can be undone, with all that was typed", async () => {
  const page = await open(studio, { hash: link({ file: "mine.toml", text: PENDULUM }) });
  await page.evaluate(() => { const { editor } = globalThis.carom; editor.reveal(editor.view.state.doc.length); });
  await page.keyboard.type("# much work\n");
  const mine = `${PENDULUM}# much work\n`;
  const n = await serial(page);
  await drop(page, { "other.toml": 'coordinates = ["x"]\nlagrangian = "x\'^2/2"\n[run]\nuntil = 1.0\n' });
  await said(page, "goes back to mine.toml");
  await shown(page, n);
  assert.equal(await page.evaluate(() => globalThis.carom.session.document.value.file), "other.toml");
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+z");
  assert.equal(await text(page), mine);
  assert.equal(await page.evaluate(() => globalThis.carom.session.document.value.file), "mine.toml");
  await page.keyboard.press("Control+y");
  assert.equal(await page.evaluate(() => globalThis.carom.session.document.value.file), "other.toml");
  quiet(page);
  await page.context().close();
});

test("the mathematics shows the values of the sliders, and those that follow from them", async () => {
  const page = await open(studio, { hash: link({ file: "m.toml", text: 'coordinates = ["x"]\n[parameters]\na = 2.0\nb = "3*a"\n[energy]\nkinetic = "x\'^2/2"\npotential = "b*x^2/2"\n[start]\nposition = { x = 1.0 }\n[run]\nuntil = 1.0\n' }) });
  await page.locator(".report details").first().waitFor();
  await page.evaluate(() => document.querySelectorAll(".report details").forEach((d) => { d.open = true; }));
  await page.locator(".report td", { hasText: /^6$/ }).waitFor();
  const kept = await page.locator('.report details[data-part="motion"]').first().elementHandle();
  await set(page, "a", "7.25");
  await page.locator(".report td", { hasText: /^21.75$/ }).waitFor();
  assert.ok(await kept.evaluate((e) => e.isConnected && e.open), "a section that says the same stays as it is");
  quiet(page);
  await page.context().close();
});

/** A motion that takes as long as it may, on any machine: a chain whose steps are dear, so the clock ends it and not the count. */
const CHAIN = Array.from({ length: 24 }, (_, i) => `x${i}`);
const LONG = `coordinates = ${JSON.stringify(CHAIN)}\nlagrangian = "${CHAIN.map((x) => `${x}'^2/2`).join(" + ")} + ${CHAIN.map((x, i) => `cos(${x} - ${CHAIN[i - 1] ?? 0})`).join(" + ")}"\n[start]\nposition = { x0 = 1.0 }\n[run]\nuntil = 1e9\n`;

test("the first motion tells how far it is; the gallery and the cloud do not end a run", async () => {
  const page = await open(studio, { hash: link({ file: "long.toml", text: LONG }), wait: false });
  await page.locator(".progress:not([hidden])").waitFor({ state: "attached", timeout: 30_000 });
  assert.match(await page.locator(".progress").getAttribute("style"), /width/);
  await page.locator(".top button", { hasText: "Gallery" }).click();
  await page.locator(".card").first().waitFor({ timeout: 30_000 });
  await shown(page);
  assert.equal(await page.evaluate(() => globalThis.carom.session.shown.value.reply.motion.stop.reason), "interrupted");
  assert.equal(await page.locator(".progress").isHidden(), true, "the bar goes with the run");
  await page.keyboard.press("Escape");
  assert.match(await page.locator(".chip").textContent(), /ended: interrupted/);
  quiet(page);
  await page.context().close();
});

test("a law that drifts is red and says why; the arithmetic is said", async () => {
  const page = await open(studio);
  await page.locator(".chip").click();
  assert.match(await page.locator(".audit-details").textContent(), /arithmetic\s*plain/);
  await page.keyboard.press("Escape");
  // A step of a tenth by a method of fixed steps loses energy that the tolerance does not explain.
  const n = await serial(page);
  await page.evaluate(() => globalThis.carom.session.open({ file: "rk.toml", text: 'coordinates = ["x"]\nlagrangian = "x\'^2/2 - x^2/2"\n[start]\nposition = { x = 1.0 }\n[run]\nuntil = 20.0\nmethod = "rk4"\nstep = 0.1\n', tables: {} }));
  await shown(page, n);
  assert.equal(await page.evaluate(() => document.querySelector(".audit").dataset.verdict), "bad", await page.locator(".chip").textContent());
  assert.ok((await page.locator(".chip").textContent()).length > 10);
  await page.context().close();
});

test("plots over time are looked at closer by mouse, keys and fingers, and the whole comes back", async () => {
  const page = await open(studio, { options: { viewport: { width: 1440, height: 900 }, hasTouch: true } });
  const over = page.locator(".plot .u-over").first();
  const box = await over.boundingBox();
  const range = () => page.evaluate(() => { const p = globalThis.carom.plots.plots[0].plot; return [p.scales.x.min, p.scales.x.max]; });
  const near = (a, b) => assert.ok(Math.abs(a[0] - b[0]) < 0.1 && Math.abs(a[1] - b[1]) < 0.1, `${a} and ${b}`);
  near(await range(), [0, 10]);
  await page.mouse.move(box.x + 0.2 * box.width, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.6 * box.width, box.y + 50, { steps: 4 });
  await page.mouse.up();
  near(await range(), [2, 6]);
  assert.ok(await page.evaluate(() => globalThis.carom.plots.plots.filter((p) => p.request.kind === "time").every((p) => p.plot.scales.x.min > 1)), "all plots over time have one time");
  await page.locator('[aria-label="Whole time"]').click();
  near(await range(), [0, 10]);
  assert.equal(await page.evaluate(() => document.querySelector(".plots").classList.contains("zoomed")), false);
  await page.evaluate(() => globalThis.carom.player.seek(4));
  await page.locator(".plot-canvas").first().focus();
  await page.keyboard.press("+");
  near(await range(), [2, 7]);
  await page.keyboard.press("-");
  near(await range(), [0, 10]);
  // Another motion of another length: no zoom is left behind.
  await page.keyboard.press("+");
  const n = await serial(page);
  await page.evaluate(() => globalThis.carom.session.setUntil(5));
  await shown(page, n);
  near(await range(), [0, 5]);
  assert.equal(await page.evaluate(() => document.querySelector(".plots").classList.contains("zoomed")), false);
  // Two fingers at a quarter and three quarters go apart to the ends.
  const pinch = (type, at) => over.evaluate((e, [kind, xs]) => {
    const r = e.getBoundingClientRect();
    xs.forEach((x, i) => e.dispatchEvent(new PointerEvent(kind, { pointerId: 10 + i, pointerType: "touch", isPrimary: i === 0, bubbles: true, clientX: r.left + x * r.width, clientY: r.top + 40 })));
  }, [type, at]);
  await pinch("pointerdown", [0.25, 0.75]);
  await pinch("pointermove", [0, 1]);
  await pinch("pointerup", [0, 1]);
  near(await range(), [1.25, 3.75]);
  quiet(page);
  await page.context().close();
});

test("near a jump the cursor reads both its sides", async () => {
  const page = await open(studio);
  const over = page.locator(".plot .u-over").nth(0);
  const at = await page.evaluate(() => { const t = globalThis.carom.session.shown.value.reply.motion.impacts[1].time; return globalThis.carom.plots.plots[0].plot.valToPos(t, "x"); });
  const box = await over.boundingBox();
  await page.mouse.move(box.x + at + 2.5, box.y + 60);
  await page.mouse.move(box.x + at + 2.4, box.y + 61);
  await page.waitForFunction(() => /→/.test(document.querySelector(".readout").textContent));
  await page.mouse.move(box.x + at + 14, box.y + 61);
  await page.waitForFunction(() => !/→/.test(document.querySelector(".readout").textContent));
  quiet(page);
  await page.context().close();
});

test("the address holds also the speed, the view of space, the zoom, the comparison, the ghost and the cloud", async () => {
  const page = await open(studio, { hash: "#model=bead_in_bowl" });
  await page.locator(".speed").selectOption({ index: 0 });
  await page.locator(".stage").focus();
  await page.keyboard.press("ArrowUp");
  await page.locator('[aria-label="Ghost of the previous run"]').click();
  await page.locator('[aria-label="Compare with this run"]').click();
  await page.locator('[aria-label="Cloud of 200 neighbours"]').click();
  await page.evaluate(() => globalThis.carom.plots.zoom([1, 2]));
  const state = () => page.evaluate(() => {
    const { player, stage, plots, beside } = globalThis.carom;
    return { speed: player.speed.value, turn: { ...stage.turn }, zoom: plots.zoomed.value, compare: beside.pinned.value?.values, ghost: beside.ghost.value, cloud: beside.cloud.value };
  });
  await page.waitForTimeout(800);
  const before = await state();
  assert.ok(before.ghost && before.cloud && before.compare && before.zoom && before.turn.above > 0.4, JSON.stringify(before));
  await page.reload();
  await shown(page);
  await page.waitForFunction(() => globalThis.carom.beside.pinned.value);
  assert.deepEqual(await state(), before);
  await page.waitForFunction(() => globalThis.carom.stage.cloud.value?.done > 0, null, { timeout: 30_000 });
  // Off is off: nobody computes neighbours that nobody sees.
  await page.locator('[aria-label="Cloud of 200 neighbours"]').click();
  assert.equal(await page.evaluate(() => globalThis.carom.stage.cloud.value), null);
  quiet(page);
  await page.context().close();
});

test("files say what is seen: the values, the tables, the plots, the stage", async () => {
  const page = await open(studio, { hash: link({ file: "p.toml", text: PENDULUM, plots: [{ kind: "plane", x: "theta", y: "theta'" }] }) });
  await set(page, "g", "7.25");
  const save = async (words) => {
    const [download] = await Promise.all([page.waitForEvent("download", { timeout: 60_000 }), (async () => {
      await page.locator(".top button", { hasText: "Files" }).click();
      await page.locator(".menu button", { hasText: words }).click();
    })()]);
    return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
  };
  assert.match((await save("Equations (SymPy)")).bytes.toString(), /7\.25|29\/4|29, 4/);
  const svg = (await save("plots (SVG)")).bytes.toString();
  const alone = svg.match(/<text/g).length;
  await page.evaluate(() => { globalThis.carom.plots.requests.value = null; });
  assert.ok((await save("plots (SVG)")).bytes.toString().match(/<text/g).length > alone + 8, "more plots, more axes");
  const stage = await save("stage (PNG)");
  assert.equal(stage.name, "p.stage.png");
  assert.equal(stage.bytes.subarray(1, 4).toString(), "PNG");
  const corner = await page.evaluate(async (data) => {
    const image = await createImageBitmap(new Blob([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))]));
    const canvas = new OffscreenCanvas(image.width, image.height);
    const c = canvas.getContext("2d");
    c.drawImage(image, 0, 0);
    return [...c.getImageData(1, 1, 1, 1).data];
  }, stage.bytes.toString("base64"));
  assert.deepEqual(corner, [255, 255, 255, 255], "on paper");
  quiet(page);
  await page.context().close();
});

test("on a phone a finger reads a plot and the page still scrolls", async () => {
  const page = await open(studio, { options: PHONE });
  await page.locator(".tabs button", { hasText: "Plots" }).click();
  const over = page.locator(".plot .u-over").first();
  await over.waitFor();
  assert.equal(await over.evaluate((e) => getComputedStyle(e).touchAction), "pan-y");
  const time = () => page.locator(".readout .at").textContent();
  const before = await time();
  await over.evaluate((e) => {
    const r = e.getBoundingClientRect();
    for (const [kind, x] of [["pointerdown", 0.3], ["pointermove", 0.5]]) e.dispatchEvent(new PointerEvent(kind, { pointerId: 3, pointerType: "touch", isPrimary: true, bubbles: true, clientX: r.left + x * r.width, clientY: r.top + 40 }));
  });
  await page.waitForFunction((b) => document.querySelector(".readout .at").textContent !== b, before);
  quiet(page);
  await page.context().close();
});
