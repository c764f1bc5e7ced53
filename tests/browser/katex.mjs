// Reads every formula of Markdown reports with KaTeX itself, warnings being errors.
//
// usage: node katex.mjs FILE.md …
// needs: katex
import katex from "katex";
import { readFileSync } from "node:fs";

let formulas = 0, failures = 0;
for (const file of process.argv.slice(2)) {
  const text = readFileSync(file, "utf8").replace(/```[\s\S]*?```/g, "").replace(/`[^`\n]*`/g, "");
  const found = [...text.matchAll(/\$\$([\s\S]+?)\$\$|\$([^$\n]+?)\$/g)];
  if (!found.length) { console.log(`${file}: no formula`); failures++; }
  for (const [, display, inline] of found) {
    formulas++;
    try {
      katex.renderToString(display ?? inline, { displayMode: display !== undefined, throwOnError: true, strict: (code) => (code === "unicodeTextInMathMode" ? "ignore" : "error") });
    } catch (error) {
      failures++;
      console.log(`${file}: ${error.message}`);
    }
  }
}
console.log(`${formulas} formulas, ${failures} problems`);
process.exit(failures || !formulas ? 1 : 0);
