// The text of the model: highlighted, completed, mistakes underlined where they are with a way out one click away.
//
// The editor lives in a shadow root: its styles become adopted sheets there, so that the page can forbid inline styles.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, isolateHistory } from "@codemirror/commands";
import { bracketMatching, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { forEachDiagnostic, lintGutter, lintKeymap, setDiagnostics, type Diagnostic as Underline } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, Transaction } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, hoverTooltip, keymap, lineNumbers } from "@codemirror/view";
import type { Session } from "../app/session";
import type { Diagnostic } from "../engine/protocol";
import { h, say } from "../layout/dom";
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
  /** Which mistake an underline shows, and the text that its repair would replace. */
  private readonly sources = new WeakMap<Underline, { of: Diagnostic; text: string }>();

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

  /** Shows another text; the one being typed is left alone. What was there comes back with undo, as a step of its own. */
  private take(text: string): void {
    const { state } = this.view;
    if (text === state.doc.toString()) return;
    const first = state.doc.length === 0;
    this.view.dispatch(
      { changes: { from: 0, to: state.doc.length, insert: text }, selection: { anchor: 0 }, annotations: first ? [Transaction.addToHistory.of(false)] : [isolateHistory.of("full")], effects: EditorView.scrollIntoView(0), userEvent: "input.open" },
      setDiagnostics(state, []));
  }

  /** Replaces ranges, as one step that can be undone. */
  change(edits: { from: number; to: number; insert: string }[]): void {
    this.view.dispatch({ changes: edits.map(({ from, to, insert }) => ({ from, to, insert })), annotations: isolateHistory.of("full"), userEvent: "input" });
  }

  /** Puts the cursor at a place. */
  reveal(from: number): void {
    const at = Math.min(from, this.view.state.doc.length);
    this.view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
    this.view.focus();
  }

  /** Where a mistake is now: what was typed since it was found has moved it. */
  private place(d: Diagnostic): { from: number; to: number } | null {
    let found: { from: number; to: number } | null = null;
    forEachDiagnostic(this.view.state, (underline, from, to) => { if (this.sources.get(underline)?.of === d) found = { from, to }; });
    return found;
  }

  /** Goes to a mistake. */
  goTo(d: Diagnostic): void {
    const at = this.place(d)?.from ?? d.from;
    if (at !== null) this.reveal(at);
  }

  /** Repairs a mistake, if what is repaired still stands there. */
  repair(d: Diagnostic): void {
    const { fix } = d;
    const now = this.place(d);
    if (!fix || !now || d.from === null) return;
    const from = now.from + fix.from - d.from;
    const to = from + fix.to - fix.from;
    const stands = this.view.state.doc.sliceString(from, to);
    let meant = "";
    forEachDiagnostic(this.view.state, (underline) => { const s = this.sources.get(underline); if (s?.of === d) meant = s.text; });
    if (stands !== meant) say("The text has changed there; the repair no longer fits");
    else this.change([{ from, to, insert: fix.insert }]);
  }

  private underline(all: Diagnostic[]): void {
    const size = this.view.state.doc.length;
    const found: Underline[] = [];
    for (const d of all) {
      if (d.from === null || d.to === null || d.from > size) continue;
      const from = Math.min(d.from, size);
      const to = Math.min(size, Math.max(d.to, from + 1));
      const fix = d.fix;
      const underline: Underline = {
        from, to, severity: d.severity, message: d.hint ? `${d.message}\n${d.hint}` : d.message,
        renderMessage: () => h("div", {}, h("b", {}, d.message), d.hint ? h("div", { class: "hint" }, d.hint) : null),
        actions: fix ? [{ name: fix.label, apply: () => this.repair(d) }] : [],
      };
      this.sources.set(underline, { of: d, text: fix ? this.view.state.doc.sliceString(fix.from, fix.to) : "" });
      found.push(underline);
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
      go.addEventListener("click", () => editor.goTo(d));
      const repair = fix ? h("button", { type: "button", class: "fix", onclick: () => editor.repair(d) }, fix.label) : null;
      return h("li", { class: d.severity }, go, repair);
    }));
    list.hidden = all.length === 0;
  });
  list.hidden = true;
  return list;
}
