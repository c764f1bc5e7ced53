// The text of the model: highlighted, completed, mistakes underlined where they are with a way out one click away.
//
// The editor lives in a shadow root: its styles become adopted sheets there, so that the page can forbid inline styles.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic as Underline } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, hoverTooltip, keymap, lineNumbers } from "@codemirror/view";
import type { Session } from "../app/session";
import type { Diagnostic } from "../engine/protocol";
import { h } from "../layout/dom";
import { markdown } from "../mathematics/markdown";
import { highlight, modelLanguage } from "./language";

const KINDS: Record<string, string> = { function: "function", variable: "variable", table: "namespace", key: "property", unit: "constant", value: "enum", constant: "constant" };

const theme = EditorView.theme({
  "&": { height: "100%", fontSize: "13.5px", color: "var(--ink)", backgroundColor: "transparent" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55", overflow: "auto" },
  ".cm-content": { caretColor: "var(--ink)", padding: "10px 0 40px" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--faint)", border: "none" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 6px 0 8px", minWidth: "28px" },
  ".cm-gutter-lint": { width: "14px" },
  ".cm-gutter-lint .cm-gutterElement": { padding: "4px 0 0 3px" },
  ".cm-lint-marker": { width: "9px", height: "9px", content: "''", borderRadius: "50%" },
  ".cm-lint-marker-error": { backgroundColor: "var(--bad)", content: "''" },
  ".cm-lint-marker-warning": { backgroundColor: "var(--fair)", content: "''" },
  ".cm-activeLine": { backgroundColor: "var(--line)" },
  ".cm-activeLineGutter": { backgroundColor: "transparent", color: "var(--muted)" },
  ".cm-cursor": { borderLeftColor: "var(--accent)", borderLeftWidth: "2px" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--select)" },
  ".cm-selectionMatch": { backgroundColor: "var(--line)" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--bad) 1.5px", textUnderlineOffset: "3px", textDecorationSkipInk: "none" },
  ".cm-lintRange-warning": { backgroundImage: "none", textDecoration: "underline wavy var(--fair) 1.5px", textUnderlineOffset: "3px", textDecorationSkipInk: "none" },
  ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--ink)", border: "1px solid var(--rule)", borderRadius: "8px", boxShadow: "var(--shadow)", fontFamily: "var(--sans)", fontSize: "13px", maxWidth: "min(460px, 90vw)" },
  ".cm-tooltip-hover": { padding: "0" },
  ".cm-tooltip .hover": { padding: "8px 12px", lineHeight: "1.45" },
  ".cm-tooltip .hover p": { margin: "0 0 6px" },
  ".cm-tooltip .hover pre": { margin: "6px 0 0", fontFamily: "var(--mono)", fontSize: "12px", whiteSpace: "pre-wrap" },
  ".cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", fontSize: "12.5px", maxHeight: "15em" },
  ".cm-tooltip-autocomplete > ul > li": { padding: "3px 8px" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent-fill)", color: "var(--on-accent)" },
  ".cm-completionDetail": { color: "var(--muted)", fontFamily: "var(--sans)", fontStyle: "normal", marginLeft: "1em" },
  "li[aria-selected] .cm-completionDetail": { color: "inherit" },
  ".cm-diagnostic": { padding: "8px 12px", borderLeft: "3px solid transparent" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--fair)" },
  ".cm-diagnosticAction": { backgroundColor: "var(--accent-fill)", color: "var(--on-accent)", borderRadius: "6px", padding: "3px 10px", marginLeft: "10px", font: "inherit", border: "none", cursor: "pointer" },
  ".cm-panels": { backgroundColor: "var(--panel)", color: "var(--ink)", borderColor: "var(--rule)" },
  ".cm-panel input, .cm-panel button": { font: "inherit", fontSize: "13px", color: "inherit", backgroundImage: "none", backgroundColor: "var(--paper)", border: "1px solid var(--rule)", borderRadius: "5px" },
});

/** The editor. */
export class TextEditor {
  readonly element: HTMLElement;
  readonly view: EditorView;

  constructor(private readonly session: Session) {
    this.element = h("div", { class: "editor" });
    const root = this.element.attachShadow({ mode: "open" });
    this.view = new EditorView({ parent: root, root, state: this.state("") });
    session.document.listen((document) => this.take(document.text));
    session.diagnostics.listen((all) => this.underline(all));
  }

  private state(text: string): EditorState {
    const { session } = this;
    return EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(), history(), drawSelection(), indentOnInput(), bracketMatching(), closeBrackets(), highlightActiveLine(), highlightSelectionMatches(), lintGutter(), search({ top: true }),
        modelLanguage, syntaxHighlighting(highlight), theme, EditorView.lineWrapping,
        autocompletion({ override: [(c) => this.complete(c)], icons: false }),
        hoverTooltip((_, at) => this.hover(at)),
        // Tab leaves the editor, so that nobody who uses the keyboard alone is caught in it; Ctrl-] indents.
        keymap.of([...closeBracketsKeymap, ...completionKeymap, ...searchKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap]),
        EditorView.contentAttributes.of({ "aria-label": "Model text", tabindex: "0", spellcheck: "false", autocapitalize: "off", autocorrect: "off" }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) session.type(update.state.doc.toString());
        }),
      ],
    });
  }

  /** Shows another text; the one being typed is left alone. */
  private take(text: string): void {
    if (text === this.view.state.doc.toString()) return;
    this.view.setState(this.state(text));
  }

  /** Replaces a range, as one step that can be undone. */
  replace(from: number, to: number, insert: string): void {
    this.view.dispatch({ changes: { from, to, insert }, userEvent: "input" });
  }

  /** Puts the cursor at a place. */
  reveal(from: number): void {
    this.view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
    this.view.focus();
  }

  private underline(all: Diagnostic[]): void {
    const size = this.view.state.doc.length;
    const found: Underline[] = [];
    for (const d of all) {
      if (d.from === null || d.to === null || d.from > size) continue;
      const from = Math.min(d.from, size);
      const to = Math.min(size, Math.max(d.to, from + 1));
      const fix = d.fix;
      found.push({
        from, to, severity: d.severity, message: d.hint ? `${d.message}\n${d.hint}` : d.message,
        renderMessage: () => h("div", {}, h("b", {}, d.message), d.hint ? h("div", { class: "hint" }, d.hint) : null),
        actions: fix ? [{ name: fix.label, apply: () => this.replace(fix.from, fix.to, fix.insert) }] : [],
      });
    }
    this.view.dispatch(setDiagnostics(this.view.state, found));
  }

  private async complete(context: CompletionContext): Promise<CompletionResult | null> {
    const before = context.matchBefore(/[\p{L}\p{N}_'[.]*/u);
    if (!context.explicit && (!before || before.from === before.to)) return null;
    const { file, tables } = this.session.document.value;
    try {
      const reply = await this.session.engine.ask("complete", { text: context.state.doc.toString(), file, tables, at: context.pos });
      if (context.aborted || !reply.items.length) return null;
      return { from: reply.from, to: reply.to, options: reply.items.map((i) => ({ label: i.label, detail: i.detail, type: KINDS[i.kind] ?? "variable" })), validFor: /^[\p{L}\p{N}_']*$/u };
    } catch {
      return null;
    }
  }

  private async hover(at: number): Promise<{ pos: number; end: number; above: boolean; create: () => { dom: HTMLElement } } | null> {
    try {
      const reply = await this.session.engine.ask("hover", { ...this.session.input({}), at });
      if (!reply.markdown) return null;
      const words = reply.markdown;
      return { pos: reply.from ?? at, end: reply.to ?? at, above: true, create: () => ({ dom: h("div", { class: "hover" }, markdown(words)) }) };
    } catch {
      return null;
    }
  }
}

/** What is wrong, as a list below the text: what a screen reader reads, and what has no place in the text. */
export function problems(session: Session, editor: TextEditor): HTMLElement {
  const list = h("ul", { class: "problems", "aria-label": "Problems", "aria-live": "polite" });
  session.diagnostics.listen((all) => {
    list.replaceChildren(...all.slice(0, 50).map((d) => {
      const fix = d.fix;
      const go = h("button", { type: "button", class: "problem" }, h("span", { class: "where" }, d.origin ?? (d.line === null ? "" : `line ${d.line}`)), h("span", {}, d.message, d.hint ? h("small", {}, ` ${d.hint}`) : null));
      go.addEventListener("click", () => { if (d.from !== null) editor.reveal(d.from); });
      const repair = fix ? h("button", { type: "button", class: "fix", onclick: () => editor.replace(fix.from, fix.to, fix.insert) }, fix.label) : null;
      return h("li", { class: d.severity }, go, repair);
    }));
    list.hidden = all.length === 0;
  });
  list.hidden = true;
  return list;
}
