// Opens carom's derivation reports in a real browser: the mathematics is rendered, nothing is fetched, nothing complains.
//
// usage: node report.mjs DIR     for every NAME.html in DIR
// needs: playwright-core, and a Chromium at $CHROMIUM or /usr/bin/chromium
import { chromium } from "playwright-core";
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const directory = resolve(process.argv[2] ?? ".");
const files = readdirSync(directory).filter((f) => f.endsWith(".html")).sort();
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--headless"] });
let failures = 0;
for (const file of files) {
  for (const width of [1280, 390]) {
    const page = await browser.newPage({ viewport: { width, height: 900 } });
    const wrong = [];
    page.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") wrong.push("console: " + m.text()); });
    page.on("pageerror", (e) => wrong.push(e.message));
    page.on("request", (r) => { if (!/^(file|data|about):/.test(r.url())) wrong.push("asks the network for " + r.url()); });
    await page.goto(pathToFileURL(join(directory, file)).href);
    await page.waitForFunction(() => document.querySelectorAll(".katex").length > 5);
    const errors = await page.$$eval(".katex-error", (all) => all.map((e) => e.title || e.textContent));
    for (const e of errors) wrong.push("KaTeX: " + e);
    const raw = await page.evaluate(() => {
      const copy = document.body.cloneNode(true);
      copy.querySelectorAll(".katex, script, style, annotation").forEach((e) => e.remove());
      return /\\(frac|dot|partial|mathrm|left|begin)\b/.exec(copy.textContent)?.[0];
    });
    if (raw) wrong.push(`raw TeX is left: ${raw}`);
    const scroll = await page.evaluate(() => document.documentElement.scrollWidth);
    if (scroll > width) wrong.push(`scrolls sideways at ${width} px (${scroll} px)`);
    for (const text of wrong) console.log(`${file} at ${width} px: ${text}`);
    failures += wrong.length;
    await page.close();
  }
}
await browser.close();
console.log(`${files.length} reports, ${failures} problems`);
process.exit(failures || !files.length ? 1 : 0);
