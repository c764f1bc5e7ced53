// Builds the book: Markdown with TeX formulas to plain HTML pages that open offline.
//
//   node build.mjs OUT_DIR [GENERATED_DIR]
//
// Chapters are looked up in src/, then in GENERATED_DIR (the reference and the gallery, which the program writes).
// A fenced block whose info string has `file=NAME` and no body shows src/NAME. Fails on a missing chapter, a formula
// KaTeX cannot render, or a link to a page that does not exist.
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createRequire } from "node:module";
import katex from "katex";
import { Marked } from "marked";

const here = import.meta.dirname;
const [out, generated = join(here, "src")] = process.argv.slice(2);
if (!out) {
  console.error("usage: node build.mjs OUT_DIR [GENERATED_DIR]");
  process.exit(1);
}
const book = JSON.parse(readFileSync(join(here, "book.json"), "utf8"));
const page = (file) => file.replace(/\.md$/, ".html");

const math = {
  extensions: [
    {
      name: "displayMath",
      level: "block",
      start: (text) => text.match(/^\$\$/m)?.index,
      tokenizer(text) {
        const match = /^\$\$([\s\S]+?)\$\$/.exec(text);
        if (match) return { type: "displayMath", raw: match[0], tex: match[1].trim() };
      },
      renderer: ({ tex }) => `<p class="equation">${katex.renderToString(tex, { displayMode: true, throwOnError: true, strict: "ignore" })}</p>\n`,
    },
    {
      name: "inlineMath",
      level: "inline",
      start: (text) => text.indexOf("$"),
      tokenizer(text) {
        const match = /^\$([^$\n](?:[^$]*?[^$\s])?)\$(?!\d)/.exec(text);
        if (match) return { type: "inlineMath", raw: match[0], tex: match[1] };
      },
      renderer: ({ tex }) => katex.renderToString(tex, { throwOnError: true, strict: "ignore" }),
    },
  ],
};

const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const slug = (text) => text.toLowerCase().replace(/<[^>]*>/g, "").replace(/[^\w]+/g, "-").replace(/^-|-$/g, "");

const marked = new Marked(math, {
  renderer: {
    code({ text, lang }) {
      const file = /file=(\S+)/.exec(lang ?? "")?.[1];
      const body = text.trim() || !file ? text : readFileSync(join(here, "src", file), "utf8");
      const caption = file ? `<figcaption>${escape(file)}</figcaption>` : "";
      return `<figure class="code">${caption}<pre><code>${escape(body)}</code></pre></figure>\n`;
    },
    heading({ tokens, depth }) {
      const text = this.parser.parseInline(tokens);
      return `<h${depth} id="${slug(text)}">${text}</h${depth}>\n`;
    },
    link({ href, tokens }) {
      const target = /^[^:#]+\.md/.test(href) ? href.replace(/\.md/, ".html") : href;
      const file = target.split("#")[0];
      if (file.endsWith(".html") && !book.chapters.some((c) => page(c.file) === file)) {
        throw new Error(`link to ${href}, which is not a chapter`);
      }
      return `<a href="${target}">${this.parser.parseInline(tokens)}</a>`;
    },
  },
});

mkdirSync(out, { recursive: true });
const katexDist = dirname(createRequire(import.meta.url).resolve("katex"));
cpSync(join(katexDist, "katex.min.css"), join(out, "katex.min.css"));
cpSync(join(katexDist, "fonts"), join(out, "fonts"), { recursive: true });
cpSync(join(here, "book.css"), join(out, "book.css"));

book.chapters.forEach(({ file, title }, i) => {
  const source = [join(here, "src", file), join(generated, file)].find(existsSync);
  if (!source) throw new Error(`chapter ${file} is in neither src/ nor ${generated}`);
  const body = marked.parse(readFileSync(source, "utf8"));
  const contents = book.chapters
    .map((c, k) => `<li><a href="${page(c.file)}"${k === i ? ' aria-current="page"' : ""}>${c.title}</a></li>`)
    .join("");
  const next = book.chapters[i + 1];
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · carom</title><link rel="stylesheet" href="katex.min.css"><link rel="stylesheet" href="book.css"></head>
<body><nav aria-label="Chapters"><strong>${book.title}</strong><ol>${contents}</ol></nav>
<main>${body}${next ? `<p class="next"><a href="${page(next.file)}">${next.title} →</a></p>` : ""}</main></body></html>
`;
  writeFileSync(join(out, page(file)), html);
  if (i === 0) writeFileSync(join(out, "index.html"), html);
});
if (existsSync(join(generated, "figures"))) cpSync(join(generated, "figures"), join(out, "figures"), { recursive: true });
console.log(`${book.chapters.length} chapters in ${out}`);
