// Opens carom's animation pages in a real browser and checks what a person would see.
//
// usage: node check.mjs DIR      for every NAME.html in DIR; NAME.json (carom run --json of the same motion) if it is there
// needs: playwright-core, and a Chromium at $CHROMIUM or /usr/bin/chromium
import { chromium } from "playwright-core";
import { readdirSync, readFileSync, existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const directory = resolve(process.argv[2] ?? ".");
const files = readdirSync(directory).filter((f) => f.endsWith(".html")).sort();
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--headless"] });
let failures = 0;

async function open(file, width, height, hash = "#paused") {
  const page = await browser.newPage({ viewport: { width, height } });
  const problems = [];
  page.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") problems.push(m.text()); });
  page.on("pageerror", (e) => problems.push(e.message));
  page.on("request", (r) => { if (!/^(file|data|about):/.test(r.url())) problems.push("asks the network for " + r.url()); });
  await page.goto(pathToFileURL(join(directory, file)).href + hash);
  await page.waitForFunction(() => window.carom);
  return { page, problems };
}

/** Number of different colours on a canvas. */
const colours = (page, id) => page.evaluate((id) => {
  const c = document.getElementById(id), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, seen = new Set();
  for (let i = 0; i < d.length; i += 4) seen.add((d[i] << 16) | (d[i + 1] << 8) | d[i + 2]);
  return seen.size;
}, id);

/** The numbers of the table, as written into the page. */
const numbers = (page) => page.$$eval("td.value", (cells) => Object.fromEntries(cells.map((c) => [c.dataset.name, c.dataset.value])));

/** Plots answer the pointer: a tooltip with the numbers under it, a part enlarged by dragging, everything again by a double click. */
async function handle(page, say) {
  const box = await page.locator("#plots").boundingBox(), view = () => page.evaluate(() => window.carom.view), y = box.y + 70;
  const whole = await view();
  if (!(whole.to > whole.from) || (await page.evaluate(() => window.carom.knots)) < 3) return;
  await page.mouse.move(box.x + box.width * 0.5, y);
  say(await page.locator("#tip").isVisible(), "no numbers under the pointer");
  const shown = await page.$eval("#tip div:first-child span:last-child", (e) => Number(e.textContent.replace("−", "-")));
  say(shown >= whole.from - 1e-6 && shown <= whole.to + 1e-6, `the pointer is at t = ${shown}`);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.7, y, { steps: 3 });
  await page.mouse.up();
  const part = await view();
  say(part.to - part.from < 0.5 * (whole.to - whole.from) && part.from > whole.from, "dragging does not enlarge");
  await page.mouse.dblclick(box.x + box.width * 0.5, y);
  const again = await view();
  say(Math.abs(again.from - whole.from) + Math.abs(again.to - whole.to) <= 1e-9 * (whole.to - whole.from), "a double click does not show everything");
  await page.keyboard.press("+");
  const closer = await view();
  say(closer.to - closer.from < 0.6 * (whole.to - whole.from), "+ does not enlarge");
  await page.keyboard.press("0");
  await page.mouse.move(1, 1);
  for (const canvas of await page.$$("#planes canvas")) {
    const seen = await canvas.evaluate((c) => new Set(new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer)).size);
    say(seen > 3, "a plane is blank");
  }
}

async function check(file) {
  const wrong = [];
  const say = (ok, text) => { if (!ok) wrong.push(text); };
  const { page, problems } = await open(file, 1280, 900);
  const drawn = await page.evaluate(() => !document.body.classList.contains("plots-only"));
  if (drawn) say((await colours(page, "stage")) > 3, "the stage is blank");
  say((await colours(page, "plots")) > 3, "the plots are blank");
  await handle(page, say);

  // Numbers at samples and impacts are those of the run.
  const json = join(directory, file.replace(/\.html$/, ".json"));
  if (existsSync(json)) {
    const run = JSON.parse(readFileSync(json, "utf8"));
    for (const k of [0, Math.floor(run.time.length / 3), run.time.length - 1]) {
      await page.evaluate((t) => window.carom.seek(t), run.time[k]);
      if (run.impacts.some((i) => i.time === run.time[k])) continue;
      const shown = await numbers(page);
      if (Number(await page.evaluate(() => document.body.dataset.time)) !== run.time[k]) continue; // not a sample of the page
      for (const [name, values] of Object.entries(run.position)) say(Number(shown[name]) === values[k], `${name} at t = ${run.time[k]}: ${shown[name]} is not ${values[k]}`);
      for (const [name, values] of Object.entries(run.velocity)) say(Number(shown[name + "'"]) === values[k], `${name}' at t = ${run.time[k]}: ${shown[name + "'"]} is not ${values[k]}`);
      if (shown.hamiltonian !== undefined) say(Number(shown.hamiltonian) === run.hamiltonian[k], "hamiltonian at a sample");
    }
    const impacts = run.impacts.filter((i, n) => run.impacts[n + 1]?.time !== i.time && run.impacts[n - 1]?.time !== i.time).slice(0, 3);
    for (const impact of impacts) {
      // By hand: put the slider there, as a person would.
      await page.$eval("#scrub", (e, t) => { e.value = t; e.dispatchEvent(new Event("input")); }, impact.time);
      const shown = await numbers(page);
      const old = await page.$$eval("td.value", (cells) => Object.fromEntries(cells.map((c) => [c.dataset.name, c.previousElementSibling.dataset.value])));
      for (const [name, v] of Object.entries(impact.position)) say(Number(shown[name]) === v, `${name} at the impact at ${impact.time}: ${shown[name]} is not ${v}`);
      for (const [name, v] of Object.entries(impact.velocity_after)) {
        say(Number(shown[name + "'"]) === v, `${name}' after the impact at ${impact.time}: ${shown[name + "'"]} is not ${v}`);
        const was = impact.velocity_before[name];
        if (was !== v) say(Number(old[name + "'"]) === was, `${name}' before the impact at ${impact.time}: ${old[name + "'"]} is not ${was}`);
      }
      say((await page.textContent("#status")).includes("impact"), "the impact is not announced");
    }
    if (run.impacts.length) {
      await page.evaluate(() => window.carom.seekKnot(0));
      await page.keyboard.press("Shift+ArrowRight");
      const at = await page.evaluate(() => window.carom.time);
      const firstLater = run.impacts.map((i) => i.time).find((t) => t > run.time[0]);
      if (firstLater !== undefined) say(at === firstLater, `Shift+→ went to ${at}, not to the first impact at ${firstLater}`);
    }
  }

  // The picture moves when the motion does.
  const image = () => page.$eval("#stage", (c) => c.toDataURL());
  if (drawn && (await page.evaluate(() => document.getElementById("stage").style.cursor === "grab"))) {
    // In space the mouse turns the picture.
    const before = await image(), b = await page.locator("#stage").boundingBox();
    await page.mouse.move(b.x + 100, b.y + 100);
    await page.mouse.down();
    await page.mouse.move(b.x + 180, b.y + 130, { steps: 4 });
    await page.mouse.up();
    say(before !== (await image()), "the mouse does not turn the picture");
  }
  await page.evaluate(() => window.carom.seekKnot(0));
  const start = await image();
  await page.evaluate(() => window.carom.seekKnot(Math.floor(window.carom.knots * 0.37)));
  const moves = await page.evaluate(() => window.carom.columns.some((c) => !c.name.includes(".") && Math.abs(c.values[0] - c.values[Math.floor(window.carom.knots * 0.37)]) > 1e-6));
  if (moves && drawn) say(start !== (await image()), "the picture does not move");

  // Playing by keyboard, and every control reachable by Tab.
  await page.evaluate(() => window.carom.seekKnot(0));
  await page.keyboard.press("Space");
  await page.waitForTimeout(250);
  say(await page.evaluate(() => window.carom.knots < 2 || window.carom.time > window.carom.times[0]), "the space bar does not play");
  await page.evaluate(() => window.carom.pause());
  const reached = new Set();
  for (let i = 0; i < 12; i++) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => document.activeElement.id));
  }
  for (const id of [...(drawn ? ["stage"] : []), "play", "scrub", "speed", "theme", "closer", "farther"]) say(reached.has(id), `#${id} is not reachable by Tab`);
  await page.close();

  const small = await open(file, 390, 800);
  const width = await small.page.evaluate(() => document.documentElement.scrollWidth);
  say(width <= 390, `scrolls sideways at 390 px (${width} px)`);
  if (drawn) say((await colours(small.page, "stage")) > 3, "the stage is blank at 390 px");
  await small.page.close();

  for (const p of [...problems, ...small.problems]) wrong.push("console: " + p);
  for (const text of wrong) console.log(`${file}: ${text}`);
  failures += wrong.length;
}

for (const file of files) await check(file);
await browser.close();
if (!files.length) { console.log("no pages in " + directory); process.exit(1); }
console.log(`${files.length} pages, ${failures} problems`);
process.exit(failures ? 1 : 0);
