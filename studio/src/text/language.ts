// Model files for the editor: TOML whose texts are formulas. A line at a time, because TOML is read that way.

import { HighlightStyle, StreamLanguage, type StreamParser } from "@codemirror/language";
import { tags as t } from "@lezer/highlight";

interface State {
  /** In which kind of text, if in one. */
  quote: '"' | "'" | null;
  /** Does the text hold words, not a formula? */
  prose: boolean;
  /** Past the `=` of a line? */
  value: boolean;
  /** Brackets that are open. */
  depth: number;
  /** The key that was named last: that of the line, or one inside braces. */
  key: string;
}

/** Keys whose texts are words or names. */
const PROSE = /^(name|coordinates|momenta|file|column|time|interpolate|unit|units|title|label|law|arithmetic|method|action)$/;
const FUNCTIONS = /^(sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|asinh|acosh|atanh|exp|log|sqrt|abs|min|max|sign|hypot|step|floor|cross|dot|norm)(?=\()/;

const parser: StreamParser<State> = {
  name: "carom",
  startState: () => ({ quote: null, prose: false, value: false, depth: 0, key: "" }),
  copyState: (s) => ({ ...s }),
  token(stream, s) {
    if (stream.sol() && s.depth === 0) {
      s.value = false;
      s.quote = null;
    }
    if (s.quote) {
      if (stream.eat(s.quote)) {
        s.quote = null;
        return "string";
      }
      if (s.prose) {
        stream.eatWhile((c) => c !== s.quote);
        return "string";
      }
      if (stream.match(FUNCTIONS)) return "formulaFunction";
      if (stream.match(/^\d+\.?\d*([eE][+-]?\d+)?/) || stream.match(/^\.\d+([eE][+-]?\d+)?/)) return "formulaNumber";
      if (stream.match(/^(pi|t)\b(?!')/)) return "formulaConstant";
      if (stream.match(/^[\p{L}_][\p{L}\p{N}_]*'+/u)) return "formulaVelocity";
      if (stream.match(/^[\p{L}_][\p{L}\p{N}_]*/u)) return "formulaName";
      if (stream.match(/^[-+*/^<>=!]+/)) return "formulaOperator";
      stream.next();
      return "string";
    }
    if (stream.eatSpace()) return null;
    if (stream.match(/^#.*/)) return "comment";
    if (!s.value && s.depth === 0 && stream.sol() && stream.match(/^\[\[?[^\]]*\]\]?/)) return "heading";
    if (stream.match(/^=/)) {
      s.value = true;
      return "operator";
    }
    const quote = stream.match(/^["']/) as RegExpMatchArray | null;
    if (quote) {
      s.quote = quote[0] as '"' | "'";
      s.prose = PROSE.test(s.key);
      return "string";
    }
    if (stream.match(/^[\[{]/)) {
      s.depth++;
      return "bracket";
    }
    if (stream.match(/^[\]}]/)) {
      s.depth = Math.max(0, s.depth - 1);
      return "bracket";
    }
    if (stream.match(/^[+-]?(\d[\d_]*)(\.\d+)?([eE][+-]?\d+)?/)) return "number";
    if (stream.match(/^(true|false|inf|nan)\b/)) return "atom";
    const word = stream.match(/^[\p{L}\p{N}_'-]+/u) as RegExpMatchArray | null;
    if (word) {
      if (!s.value || s.depth > 0) {
        s.key = word[0];
        return "property";
      }
      return null;
    }
    stream.next();
    return null;
  },
  languageData: { commentTokens: { line: "#" }, closeBrackets: { brackets: ["[", "{", '"'] } },
  tokenTable: {
    formulaFunction: t.function(t.variableName),
    formulaNumber: t.number,
    formulaConstant: t.constant(t.variableName),
    formulaVelocity: t.special(t.variableName),
    formulaName: t.variableName,
    formulaOperator: t.operator,
    heading: t.heading,
    property: t.propertyName,
    atom: t.atom,
    bracket: t.bracket,
  },
};

export const modelLanguage = StreamLanguage.define(parser);

/** Colours by role, from the page's style sheet, so that light and dark are one. */
export const highlight = HighlightStyle.define([
  { tag: t.comment, color: "var(--code-comment)", fontStyle: "italic" },
  { tag: t.heading, color: "var(--code-heading)", fontWeight: "600" },
  { tag: t.propertyName, color: "var(--code-key)" },
  { tag: t.string, color: "var(--code-string)" },
  { tag: t.number, color: "var(--code-number)" },
  { tag: t.atom, color: "var(--code-number)" },
  { tag: t.variableName, color: "var(--ink)" },
  { tag: t.special(t.variableName), color: "var(--code-velocity)" },
  { tag: t.function(t.variableName), color: "var(--code-function)" },
  { tag: t.constant(t.variableName), color: "var(--code-number)" },
  { tag: t.operator, color: "var(--muted)" },
  { tag: t.bracket, color: "var(--muted)" },
]);
