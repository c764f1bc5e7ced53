// `model.live()` in a real JupyterLab and a real browser: a slider is moved, and the picture changes while it is.
//
//   CAROM_PYTHON=target/ci/python/bin/python node python/tests/jupyter.mjs      a Python with carom, jupyterlab and anywidget
//   CAROM_NODE_MODULES, CAROM_CHROMIUM                                          where playwright-core and Chromium are
//   CAROM_PICTURES=folder                                                       keeps pictures of what was seen

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const modules = process.env.CAROM_NODE_MODULES ?? fileURLToPath(new URL("../../studio/node_modules", import.meta.url));
const { chromium } = createRequire(join(modules, "here.js"))("playwright-core");
const PYTHON = process.env.CAROM_PYTHON ?? "python3";
const PATIENCE = 120_000;

const home = mkdtempSync(join(tmpdir(), "carom-jupyter-"));
const cell = (id, source) => ({ cell_type: "code", id, metadata: {}, execution_count: null, outputs: [], source });
writeFileSync(join(home, "live.ipynb"), JSON.stringify({
  nbformat: 4, nbformat_minor: 5,
  metadata: { kernelspec: { name: "python3", display_name: "Python 3", language: "python" } },
  cells: [
    cell("a", 'import carom\nwidget = carom.gallery("double_pendulum_wall").live("g", "theta1", until=3)\nwidget'),
    cell("b", 'print("values", widget.values, "until", widget.motion.stop.time)'),
    cell("c", 'import json\nfresh = widget.motion.model.run(3, parameters={"g": widget.values["g"]}, start={"theta1": widget.values["theta1"]})\nprint("same bits", fresh.impacts == widget.motion.impacts, len(fresh.impacts) > 0)'),
  ],
}));

const port = await new Promise((done) => { const s = createServer().listen(0, "127.0.0.1", () => { const { port } = s.address(); s.close(() => done(port)); }); });
const own = Object.fromEntries(["JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR", "IPYTHONDIR"].map((name) => [name, join(home, ".own", name)]));
const settings = join(own.JUPYTERLAB_SETTINGS_DIR, "@jupyterlab", "apputils-extension");
mkdirSync(settings, { recursive: true });
writeFileSync(join(settings, "notification.jupyterlab-settings"), JSON.stringify({ fetchNews: "false", checkForUpdates: false }));
const options = ["--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1", `--ServerApp.port=${port}`, "--ServerApp.port_retries=0", "--IdentityProvider.token=t", `--ServerApp.root_dir=${home}`, "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"];
const server = spawn(PYTHON, ["-m", "jupyterlab", ...options], { cwd: home, env: { ...process.env, ...own, HOME: home }, stdio: ["ignore", "pipe", "pipe"] });
let log = "";
let gone = false;
server.stdout.on("data", (d) => { log += d; });
server.stderr.on("data", (d) => { log += d; });
const ended = new Promise((done) => server.on("exit", () => { gone = true; done(); }));

let browser;
let page;
const picture = async (name) => {
  if (!process.env.CAROM_PICTURES || !page) return;
  mkdirSync(process.env.CAROM_PICTURES, { recursive: true });
  await page.screenshot({ path: join(process.env.CAROM_PICTURES, `jupyter-${name}.png`) });
};
try {
  for (const begin = Date.now(); ; await new Promise((done) => setTimeout(done, 200))) {
    assert.ok(!gone, `JupyterLab ended:\n${log}`);
    assert.ok(Date.now() - begin < PATIENCE, `JupyterLab does not answer:\n${log}`);
    if (await fetch(`http://127.0.0.1:${port}/api?token=t`).then((r) => r.ok, () => false)) break;
  }
  browser = await chromium.launch({ executablePath: process.env.CAROM_CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
  // Still: what moves in the picture is what a slider moved.
  page = await browser.newPage({ viewport: { width: 1280, height: 900 }, reducedMotion: "reduce" });
  page.setDefaultTimeout(PATIENCE);
  const wrong = [];
  page.on("pageerror", (e) => wrong.push(e.message));
  await page.goto(`http://127.0.0.1:${port}/lab/tree/live.ipynb?token=t`);
  await page.locator(".jp-Notebook .jp-CodeCell").nth(2).waitFor();
  const code = (n) => page.locator(".jp-Notebook .jp-CodeCell").nth(n);
  // Before the kernel is there, nothing is executed: JupyterLab asks for one, or a person tries again.
  const chosen = page.locator(".jp-Dialog", { hasText: "Select Kernel" }).locator("button.jp-mod-accept");
  const begun = async (n) => !/\[ \]/.test(await code(n).locator(".jp-InputPrompt").textContent());
  const execute = async (n) => {
    for (const begin = Date.now(); ;) {
      await code(n).locator(".cm-content").click();
      await page.keyboard.press("Shift+Enter");
      for (let i = 0; i < 30; i++) {
        if (await begun(n)) return;
        if (await chosen.isVisible()) await chosen.click();
        await page.waitForTimeout(100);
      }
      assert.ok(Date.now() - begin < PATIENCE, `cell ${n} is not executed`);
    }
  };
  await execute(0);
  const stage = page.locator(".jp-OutputArea canvas.stage");
  const mistake = code(0).locator('.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.error"], .jp-OutputArea-output[data-mime-type="application/vnd.jupyter.stderr"]');
  await stage.or(mistake).first().waitFor();
  assert.equal(await mistake.count(), 0, (await mistake.allTextContents()).join("\n"));
  const curves = page.locator(".jp-OutputArea .panels canvas").first();
  await curves.waitFor();
  const pixels = (canvas) => canvas.evaluate((c) => c.toDataURL());
  const painted = (canvas) => canvas.evaluate((c) => c.getContext("2d").getImageData(0, 0, c.width, c.height).data.filter((v) => v > 0).length);
  const until = async (what, test) => {
    for (const begin = Date.now(); !(await test()); await page.waitForTimeout(50)) assert.ok(Date.now() - begin < PATIENCE, what);
  };
  await until("the stage has a picture", async () => (await painted(stage)) > 500);
  await until("the curves are drawn", async () => (await painted(curves)) > 500);
  await picture("first");

  // The keyboard moves gravity: other curves.
  const before = await pixels(curves);
  await page.locator('[data-name="g"] input[type="range"]').focus();
  for (let i = 0; i < 12; i++) await page.keyboard.press("ArrowLeft");
  await until("another gravity draws other curves", async () => (await pixels(curves)) !== before);

  // The mouse drags an angle of the start: the picture follows while the button is down.
  const slider = page.locator('[data-name="theta1"] input[type="range"]');
  const box = await slider.boundingBox();
  const at = (part) => [box.x + part * box.width, box.y + box.height / 2];
  await page.mouse.move(...at(0.5));
  await page.mouse.down();
  const seen = new Set([await pixels(stage)]);
  for (const part of [0.55, 0.6, 0.65]) {
    const count = seen.size;
    await page.mouse.move(...at(part));
    await until("a slider that is dragged changes the picture", async () => seen.add(await pixels(stage)).size > count);
  }
  await picture("dragged");
  await page.mouse.up();

  // The kernel has the values that the page shows, and the motion is the one of these values.
  const shown = async (name) => Number(await page.locator(`[data-name="${name}"] input[type="range"]`).inputValue());
  await execute(1);
  const said = code(1).locator(".jp-OutputArea-output");
  await said.waitFor();
  const values = /values \{'g': ([-0-9.e]+), 'theta1': ([-0-9.e]+)\} until 3.0/.exec(await said.textContent());
  assert.ok(values, await said.textContent());
  for (const [name, kernel] of [["g", values[1]], ["theta1", values[2]]]) {
    assert.ok(Math.abs((await shown(name)) - Number(kernel)) <= 1e-4 * Math.abs(Number(kernel)), `${name}: page ${await shown(name)}, kernel ${kernel}`);
  }
  await execute(2);
  await code(2).locator(".jp-OutputArea-output").waitFor();
  assert.match(await code(2).locator(".jp-OutputArea-output").textContent(), /same bits True True/);
  await picture("last");
  assert.deepEqual(wrong, []);
  console.log("JupyterLab: the widget draws, a slider moves the picture, the kernel has its values");
} catch (error) {
  await picture("failed").catch(() => {});
  console.error(log.split("\n").slice(-15).join("\n"));
  throw error;
} finally {
  await browser?.close();
  server.kill("SIGTERM");
  const late = setTimeout(() => server.kill("SIGKILL"), 10_000);
  await ended;
  clearTimeout(late);
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}
