// Opens carom's derivation reports in a real browser: the mathematics is drawn with the font of the page, brackets grow,
// copying gives LaTeX, nothing is fetched, nothing complains.
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
    await page.evaluate(() => document.fonts.ready);
    const seen = await page.evaluate(() => {
      const box = (e) => e.getBoundingClientRect();
      const all = [...document.querySelectorAll("math")];
      const text = document.body.cloneNode(true);
      text.querySelectorAll("script, style").forEach((e) => e.remove());
      const matrix = document.querySelector("mtable");
      const fraction = document.querySelector(".eq mfrac");
      return {
        formulas: all.length,
        empty: all.filter((m) => box(m).width === 0 || box(m).height === 0).length,
        errors: document.querySelectorAll("merror").length,
        font: [...document.fonts].some((f) => f.family === "carom-math" && f.status === "loaded"),
        raw: /\\(frac|dot|partial|mathrm|left|begin)\b/.exec(text.textContent)?.[0],
        // A bracket is as high as its matrix, a numerator stands above its denominator.
        bracket: matrix ? box(matrix.previousElementSibling).height / box(matrix).height : 1,
        fraction: fraction ? box(fraction.children[1]).top >= box(fraction.children[0]).bottom - 1 : true,
      };
    });
    if (seen.formulas <= 20) wrong.push(`only ${seen.formulas} formulas`);
    if (seen.empty) wrong.push(`${seen.empty} formulas are not drawn`);
    if (seen.errors) wrong.push(`${seen.errors} errors in MathML`);
    if (!seen.font) wrong.push("the font of the page is not used");
    if (seen.raw) wrong.push(`raw TeX is left: ${seen.raw}`);
    if (seen.bracket < 0.9 || seen.bracket > 1.6) wrong.push(`a bracket is ${seen.bracket} times as high as its matrix`);
    if (!seen.fraction) wrong.push("a fraction is not stacked");
    const copied = await page.evaluate(() => {
      const equation = document.querySelector(".eq");
      getSelection().selectAllChildren(equation.parentNode);
      const event = new ClipboardEvent("copy", { clipboardData: new DataTransfer(), bubbles: true, cancelable: true });
      document.dispatchEvent(event);
      getSelection().removeAllRanges();
      return event.clipboardData.getData("text/plain").includes(equation.dataset.tex);
    });
    if (!copied) wrong.push("copying does not give LaTeX");
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
