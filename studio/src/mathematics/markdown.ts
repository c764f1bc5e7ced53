// A little Markdown, enough for lessons and for what the engine says about a name: headings, paragraphs, lists, bold,
// italic, code, links within the page. Everything becomes elements, nothing is read as HTML.

import { h } from "../layout/dom";

function inline(text: string): (Node | string)[] {
  const out: (Node | string)[] = [];
  const pattern = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|_([^_\s][^_]*)_(?!\w)|\[([^\]]+)\]\(([^)\s]+)\)/g;
  let at = 0;
  for (const m of text.matchAll(pattern)) {
    out.push(text.slice(at, m.index));
    at = m.index + m[0].length;
    if (m[1] !== undefined) out.push(h("code", {}, m[1]));
    else if (m[2] !== undefined) out.push(h("strong", {}, ...inline(m[2])));
    else if (m[3] !== undefined || m[4] !== undefined) out.push(h("em", {}, ...inline(m[3] ?? m[4]!)));
    // Links leave nothing behind but their words: a page that sends nobody elsewhere needs no trust.
    else out.push(m[6]!.startsWith("#") ? h("a", { href: m[6]! }, m[5]!) : h("span", {}, m[5]!));
  }
  out.push(text.slice(at));
  return out;
}

/** Markdown as elements. */
export function markdown(text: string): DocumentFragment {
  const out = document.createDocumentFragment();
  const lines = text.replace(/\r/g, "").split("\n");
  for (let i = 0; i < lines.length; ) {
    const line = lines[i]!;
    if (!line.trim()) {
      i++;
      continue;
    }
    const heading = /^(#{1,4})\s+(.*)/.exec(line);
    if (heading) {
      out.append(h(heading[1]!.length <= 2 ? "h3" : "h4", {}, ...inline(heading[2]!)));
      i++;
      continue;
    }
    if (line.startsWith("```")) {
      const code: string[] = [];
      for (i++; i < lines.length && !lines[i]!.startsWith("```"); i++) code.push(lines[i]!);
      i++;
      out.append(h("pre", {}, h("code", {}, code.join("\n"))));
      continue;
    }
    const bullet = /^\s*([-*]|\d+\.)\s+/;
    if (bullet.test(line)) {
      const list = h(/^\s*\d/.test(line) ? "ol" : "ul", {});
      for (; i < lines.length && bullet.test(lines[i]!); ) {
        let item = lines[i++]!.replace(bullet, "");
        while (i < lines.length && /^\s{2,}\S/.test(lines[i]!) && !bullet.test(lines[i]!)) item += ` ${lines[i++]!.trim()}`;
        list.append(h("li", {}, ...inline(item)));
      }
      out.append(list);
      continue;
    }
    const words: string[] = [];
    for (; i < lines.length && lines[i]!.trim() && !/^(#|```)/.test(lines[i]!); i++) words.push(lines[i]!.trim());
    out.append(h("p", {}, ...inline(words.join(" "))));
  }
  return out;
}
