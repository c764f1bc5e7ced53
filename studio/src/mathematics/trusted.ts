// Markup of the engine as elements, by a list of what may come in.
//
// The engine escapes every name of a model; still, a model may come from anyone, so the page takes only elements and
// attributes of this list and drops the rest.

const HTML = new Set(["p", "span", "b", "i", "em", "strong", "code", "sub", "sup", "br", "ul", "ol", "li", "div", "small", "wbr"]);
const MATH = new Set(["math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "msup", "msub", "msubsup", "mfrac", "msqrt", "mroot", "mover", "munder", "munderover", "mtable", "mtr", "mtd", "mstyle", "mpadded", "mphantom", "semantics", "menclose", "mmultiscripts", "mprescripts", "none"]);
const ATTRIBUTES = new Set(["display", "mathvariant", "stretchy", "fence", "separator", "lspace", "rspace", "minsize", "maxsize", "symmetric", "largeop", "movablelimits", "accent", "accentunder", "linethickness", "width", "height", "depth", "voffset", "columnalign", "rowspacing", "columnspacing", "displaystyle", "scriptlevel", "dir", "form", "class", "alttext"]);
const MATHML = "http://www.w3.org/1998/Math/MathML";

function copy(from: Node, into: Node): void {
  for (const node of from.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) into.appendChild(document.createTextNode(node.textContent ?? ""));
    else if (node instanceof Element) {
      const name = node.localName;
      const math = node.namespaceURI === MATHML;
      if (!(math ? MATH : HTML).has(name)) {
        // An annotation repeats the formula; anything else unknown keeps its words only.
        if (name !== "annotation" && name !== "script" && name !== "style") copy(node, into);
        continue;
      }
      const made = math ? document.createElementNS(MATHML, name) : document.createElement(name);
      for (const { name: attribute, value } of node.attributes) if (ATTRIBUTES.has(attribute)) made.setAttribute(attribute, value);
      copy(node, made);
      into.appendChild(made);
    }
  }
}

/** The elements of a piece of the engine's markup. */
export function trusted(markup: string): DocumentFragment {
  const out = document.createDocumentFragment();
  copy(new DOMParser().parseFromString(markup, "text/html").body, out);
  return out;
}
