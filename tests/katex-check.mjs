// Reads LaTeX snippets from standard input, one JSON object {"tex": …, "display": …, "from": …} per line, and
// renders each with the real KaTeX (the one bundled into reports; or the file given as argument).
// Prints every snippet KaTeX refuses or warns about, and exits 1 if there was one.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const here = dirname(fileURLToPath(import.meta.url));
const path = process.argv[2] ?? join(here, "../crates/carom-show/assets/katex/katex.min.js");
const katex = createRequire(import.meta.url)(resolve(path));

let checked = 0;
const complaints = [];
for (const line of readFileSync(0, "utf8").split("\n")) {
  if (line === "") continue;
  const { tex, display, from } = JSON.parse(line);
  checked += 1;
  try {
    const html = katex.renderToString(tex, {
      displayMode: display,
      throwOnError: true,
      strict: (code, message) => {
        throw new Error(`${code}: ${message}`);
      },
    });
    if (html.includes("katex-error")) throw new Error("rendered as an error");
  } catch (error) {
    complaints.push(`${from ?? "snippet"}: ${error.message}\n    ${tex}`);
  }
}
for (const complaint of complaints) console.log(complaint);
console.log(`${checked} snippets, ${complaints.length} refused`);
process.exit(complaints.length === 0 ? 0 : 1);
