//! Writing a document about one model: the expressions of the model as formulas, text with mathematics in it.

use super::document::{Block, Document, Equation, Formula, Inline, Right, inlines};
use carom_expr::{Dag, Expr, Node, Printer, Rational, Style};
use carom_mech::Mechanics;

/// Wider expressions are written with names for their repeated parts.
const WIDEST: usize = 1500;

/// A document in the making.
pub struct Pen<'a> {
    /// What it is about.
    pub mechanics: &'a Mechanics,
    /// The model's expressions, and those the report adds.
    pub dag: Dag,
    /// How symbols that are not the model's own look.
    named: Vec<(Expr, Formula)>,
    document: Document,
    equations: u32,
    /// The letter for gaps: φ, unless the model has a `phi` of its own.
    pub gap: Formula,
    /// The letter for impulses: λ, unless the model has a `lambda` of its own.
    pub impulse: Formula,
}

impl<'a> Pen<'a> {
    /// An empty document.
    pub fn new(mechanics: &'a Mechanics, title: &str) -> Pen<'a> {
        let dag = mechanics.model.dag.clone();
        let has = |name: &str| {
            let model = &mechanics.model;
            let mut names = model.coordinates.iter().map(|c| &c.name);
            names.any(|n| n == name) || model.parameters.iter().any(|p| p.name == name)
        };
        let gap = if has("phi") || has("φ") { ("Φ", r"\Phi") } else { ("φ", r"\varphi") };
        let impulse = if has("lambda") || has("λ") { ("Λ", r"\Lambda") } else { ("λ", r"\lambda") };
        Pen {
            mechanics,
            dag,
            named: Vec::new(),
            document: Document { title: title.to_string(), blocks: Vec::new() },
            equations: 0,
            gap: Formula::new(gap.0, gap.1),
            impulse: Formula::new(impulse.0, impulse.1),
        }
    }

    /// The finished document.
    pub fn finish(self) -> Document {
        self.document
    }

    // ---- formulas ----------------------------------------------------------------------------------------

    fn printer(&self, style: Style) -> Printer<'_> {
        let mut printer = Printer::new(&self.dag, style).limit(40_000);
        for (e, formula) in &self.named {
            printer.name(*e, if style == Style::Latex { &formula.latex } else { &formula.unicode });
        }
        printer
    }

    /// An expression.
    pub fn formula(&self, e: Expr) -> Formula {
        let unicode = self.printer(Style::Unicode).print(e);
        let (latex, width) = self.printer(Style::Latex).measured(e);
        Formula { unicode, latex, width }
    }

    /// An expression as a factor: sums in parentheses.
    pub fn factor(&self, e: Expr) -> Formula {
        Formula::new(self.printer(Style::Unicode).factor(e), self.printer(Style::Latex).factor(e))
    }

    /// A new symbol that looks like `formula`.
    pub fn symbol(&mut self, formula: &Formula) -> Expr {
        if let Some((e, _)) = self.named.iter().find(|(_, f)| f == formula) {
            return *e;
        }
        let e = self.dag.symbol(&format!("·{}", formula.latex));
        self.named.push((e, formula.clone()));
        e
    }

    /// Is it 0?
    pub fn is_zero(&self, e: Expr) -> bool {
        self.dag.is_zero(e)
    }

    /// −e
    pub fn negative(&mut self, e: Expr) -> Expr {
        self.dag.linear(Rational::ZERO, &[(Rational::MINUS_ONE, e)])
    }

    /// `Σ coefficient·symbol` with the symbol last (`R cos φ dφ`) or first (`λ R cos φ`); 0 when there is none.
    pub fn combination(&mut self, parts: &[(Expr, Formula)], symbol_first: bool) -> Formula {
        let mut out = Formula::default();
        for (coefficient, symbol) in parts {
            if self.is_zero(*coefficient) {
                continue;
            }
            let negative = match self.dag.node(*coefficient) {
                Node::Number(r) | Node::Product(r, _) => r.is_negative(),
                Node::Sum(_, terms) => terms.iter().all(|t| t.0.is_negative()),
                _ => false,
            };
            let size = if negative { self.negative(*coefficient) } else { *coefficient };
            let term = if self.dag.is_one(size) {
                symbol.clone()
            } else {
                let factor = if matches!(self.dag.node(size), Node::Sum(..)) {
                    self.factor(size)
                } else {
                    self.formula(size)
                };
                let space = Formula::new("·", r" \, ");
                let (a, b) = if symbol_first { (symbol, &factor) } else { (&factor, symbol) };
                a.then(&space).then(b)
            };
            let sign = match (out.latex.is_empty(), negative) {
                (true, false) => Formula::default(),
                (true, true) => Formula::new("−", "-"),
                (false, false) => Formula::new(" + ", " + "),
                (false, true) => Formula::new(" − ", " - "),
            };
            out = out.then(&sign).then(&term);
        }
        if out.latex.is_empty() { Formula::new("0", "0") } else { out }
    }

    /// A name of the model: `theta1'`.
    pub fn name(&self, name: &str) -> Formula {
        let unicode = self.printer(Style::Unicode).symbol(name);
        let latex = self.printer(Style::Latex).symbol(name);
        Formula::new(unicode, latex)
    }

    /// `base` with a subscript.
    pub fn sub(&self, base: &str, latex_base: &str, index: &Formula) -> Formula {
        let unicode = format!("{base}_{}", index.unicode);
        let latex = format!("{latex_base}_{{{}}}", index.latex);
        let width = index.width + 1;
        Formula { unicode, latex, width }
    }

    /// A label of a row or wall as it looks in a subscript.
    pub fn label(&self, name: &str) -> Formula {
        Formula::new(name, format!(r"\text{{{}}}", escape_text(name)))
    }

    /// `symbol` before (`-`) or after (`+`) the impact.
    pub fn marked(&self, symbol: &Formula, after: bool) -> Formula {
        let (unicode, latex) = if after { ("⁺", "+") } else { ("⁻", "-") };
        Formula {
            unicode: format!("{}{unicode}", symbol.unicode),
            latex: format!("{{{}}}^{{{latex}}}", symbol.latex),
            width: symbol.width + 1,
        }
    }

    // ---- blocks ------------------------------------------------------------------------------------------

    /// A heading.
    pub fn heading(&mut self, level: u8, text: &str) {
        let text = self.letters(text);
        self.document.blocks.push(Block::Heading(level, inlines(&text)));
    }

    /// Running text; see [`inlines`]. `@` in it stands for the letter of gaps, `#` for that of impulses.
    pub fn say(&mut self, text: &str) {
        let text = self.letters(text);
        self.document.blocks.push(Block::Paragraph(inlines(&text)));
    }

    /// Points of a list.
    pub fn list(&mut self, points: &[&str]) {
        let points = points.iter().map(|p| inlines(&self.letters(p))).collect();
        self.document.blocks.push(Block::List(points));
    }

    /// A table; cells as in [`Pen::say`].
    pub fn table(&mut self, head: &[&str], rows: Vec<Vec<Vec<Inline>>>) {
        let head = head.iter().map(|h| inlines(&self.letters(h))).collect();
        self.document.blocks.push(Block::Table(head, rows));
    }

    /// Text with the letters of gap and impulse put in.
    pub fn letters(&self, text: &str) -> String {
        // Inside ‹unicode|latex› the part after the bar is LaTeX.
        let mut out = String::with_capacity(text.len());
        let mut latex = false;
        for c in text.chars() {
            match c {
                '‹' => latex = false,
                '|' => latex = true,
                '›' => latex = false,
                _ => {}
            }
            match (c, latex) {
                ('@', false) => out.push_str(&self.gap.unicode),
                ('@', true) => out.push_str(&self.gap.latex),
                ('#', false) => out.push_str(&self.impulse.unicode),
                ('#', true) => out.push_str(&self.impulse.latex),
                _ => out.push(c),
            }
        }
        out
    }

    /// A formula written as `unicode|latex`, letters put in.
    pub fn pair(&self, text: &str) -> Formula {
        let (unicode, latex) = text.split_once('|').unwrap_or((text, text));
        let put = |s: &str, gap: &str, impulse: &str| s.replace('@', gap).replace('#', impulse);
        Formula::new(
            put(unicode.trim(), &self.gap.unicode, &self.impulse.unicode),
            put(latex.trim(), &self.gap.latex, &self.impulse.latex),
        )
    }

    /// A displayed formula of the theory, numbered.
    pub fn law(&mut self, text: &str) -> u32 {
        self.equations += 1;
        let equation = whole(Formula::default(), "", self.pair(text));
        self.document.blocks.push(Block::Equations(vec![equation], Some(self.equations)));
        self.equations
    }

    /// Displayed equations of this model.
    pub fn equations(&mut self, equations: Vec<Equation>) {
        if !equations.is_empty() {
            self.document.blocks.push(Block::Equations(equations, None));
        }
    }

    /// `left = e`, broken between terms when long, with names for repeated parts when very long.
    pub fn equals(&mut self, left: Formula, e: Expr) {
        let equations = self.equation(left, "=", e);
        self.equations(equations);
    }

    /// `left relation e`, preceded by what abbreviates it.
    pub fn equation(&self, left: Formula, relation: &str, e: Expr) -> Vec<Equation> {
        let relation = Formula::pair(relation);
        let latex = self.printer(Style::Latex).terms(e);
        let width: usize = latex.iter().map(|t| t.width + 3).sum();
        if width <= WIDEST && !latex.iter().any(|t| t.text.contains("too long to print")) {
            let unicode = self.printer(Style::Unicode).terms(e);
            return vec![Equation { left, relation, right: Right::Terms { unicode, latex } }];
        }
        let (printer, latex_parts) = self.dag.share(&[e], Style::Latex, "s", usize::MAX);
        let (unicode_printer, unicode_parts) = self.dag.share(&[e], Style::Unicode, "s", usize::MAX);
        let mut out: Vec<Equation> = latex_parts
            .into_iter()
            .zip(unicode_parts)
            .map(|((name, text), (unicode_name, unicode_text))| {
                let name = Formula::new(unicode_name, name);
                whole(name, "=", Formula::new(unicode_text, text))
            })
            .collect();
        let (unicode, latex) = (unicode_printer.terms(e), printer.terms(e));
        out.push(Equation { left, relation, right: Right::Terms { unicode, latex } });
        out
    }
}

/// An equation whose right side is in one piece.
pub fn whole(left: Formula, relation: &str, right: Formula) -> Equation {
    Equation { left, relation: Formula::pair(relation), right: Right::Whole(right) }
}

/// Characters that LaTeX would take for its own.
pub fn escape_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '_' | '#' | '$' | '%' | '&' | '{' | '}' => {
                out.push('\\');
                out.push(c);
            }
            '\\' => out.push_str(r"\textbackslash{}"),
            '~' => out.push_str(r"\textasciitilde{}"),
            '^' => out.push_str(r"\textasciicircum{}"),
            _ => out.push(c),
        }
    }
    out
}
