//! Writing a document about one model: the expressions of the model as formulas, text with mathematics in it.

use super::document::{Block, Equation, Inline, Right, Typeset, display_width, inlines};
use carom_expr::{Dag, Expr, Node, Printer, Rational, Style, Term};
use carom_mech::Mechanics;
use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;

/// Wider expressions are written with names for their repeated parts.
const WIDEST: usize = 1500;
/// A term that does not fit a line gets names for the sums in it.
const WIDE_TERM: usize = 84;
/// Longer code is nothing anyone copies.
const LONGEST_CODE: usize = 20_000;
/// Sums narrower than this are not worth a name.
const SMALL: usize = 14;

/// Quantities of the theory: the mark in texts, the letter, and its script form in Unicode and LaTeX.
const LETTERS: [(char, char, &str, &str); 9] = [
    ('Ⓛ', 'L', "ℒ", r"\mathcal{L}"),
    ('Ⓣ', 'T', "𝒯", r"\mathcal{T}"),
    ('Ⓥ', 'V', "𝒱", r"\mathcal{V}"),
    ('Ⓗ', 'H', "ℋ", r"\mathcal{H}"),
    ('Ⓔ', 'E', "ℰ", r"\mathcal{E}"),
    ('Ⓦ', 'W', "𝒲", r"\mathcal{W}"),
    ('Ⓠ', 'Q', "𝒬", r"\mathcal{Q}"),
    // Script A is the action.
    ('Ⓐ', 'A', "𝖠", r"\mathrm{A}"),
    ('Ⓡ', 'R', "ℛ", r"\mathcal{R}"),
];

/// A document in the making.
pub struct ReportBuilder<'a> {
    /// What it is about.
    pub mechanics: &'a Mechanics,
    /// The model's expressions, and those the report adds.
    pub dag: Dag,
    /// How symbols that are not the model's own look.
    named: Vec<(Expr, Typeset)>,
    blocks: Vec<Block>,
    equations: u32,
    /// How symbols are spelt in each style, worked out once.
    spelling: RefCell<Vec<(Style, Arc<[String]>)>>,
    /// Sums that were given a name because a term would not fit a line.
    abbreviations: RefCell<Vec<(Expr, Typeset)>>,
    /// Letters of the theory that the model uses itself.
    scripted: Vec<char>,
    /// The letter of abbreviations: σ, unless the model has a `sigma` of its own.
    abbreviation: (&'static str, &'static str),
    /// The letter for gaps: φ, unless the model has a `phi` of its own.
    pub gap: Typeset,
    /// The letter for impulses: λ, unless the model has a `lambda` of its own.
    pub impulse: Typeset,
}

impl<'a> ReportBuilder<'a> {
    /// An empty document.
    pub fn new(mechanics: &'a Mechanics) -> ReportBuilder<'a> {
        let dag = mechanics.model.dag.clone();
        let has = |name: &str| {
            let model = &mechanics.model;
            let mut names = model.coordinates.iter().map(|c| &c.name);
            names.any(|n| n == name) || model.parameters.iter().any(|p| p.name == name)
        };
        let gap = if has("phi") || has("φ") { ("Φ", r"\Phi") } else { ("φ", r"\varphi") };
        let impulse = if has("lambda") || has("λ") { ("Λ", r"\Lambda") } else { ("λ", r"\lambda") };
        let scripted: Vec<char> =
            LETTERS.iter().map(|l| l.1).filter(|l| has(l.encode_utf8(&mut [0; 4]))).collect();
        let sigma = mechanics
            .model
            .parameters
            .iter()
            .map(|p| &p.name)
            .chain(mechanics.model.coordinates.iter().map(|c| &c.name))
            .any(|name| name.starts_with("sigma") || name.starts_with('σ'));
        let abbreviation = if sigma { ("s", "s") } else { ("σ", r"\sigma") };
        ReportBuilder {
            scripted,
            abbreviation,
            mechanics,
            dag,
            named: Vec::new(),
            blocks: Vec::new(),
            equations: 0,
            spelling: RefCell::default(),
            abbreviations: RefCell::default(),
            gap: Typeset::new(gap.0, gap.1),
            impulse: Typeset::new(impulse.0, impulse.1),
        }
    }

    /// The blocks written since the last time.
    pub fn take(&mut self) -> Vec<Block> {
        std::mem::take(&mut self.blocks)
    }

    // ---- formulas ----------------------------------------------------------------------------------------

    fn printer(&self, style: Style) -> Printer<'_> {
        let known = self.spelling.borrow().iter().find(|k| k.0 == style).map(|k| k.1.clone());
        let mut printer = match known {
            Some(spelling) if spelling.len() == self.dag.symbol_count() => {
                Printer::with_spelling(&self.dag, style, spelling)
            }
            _ => {
                let printer = Printer::new(&self.dag, style);
                let mut known = self.spelling.borrow_mut();
                known.retain(|k| k.0 != style);
                known.push((style, printer.spelling()));
                printer
            }
        }
        .limit(40_000);
        for (e, formula) in &self.named {
            printer.name(*e, if style == Style::Latex { &formula.latex } else { &formula.unicode });
        }
        printer
    }

    /// An expression.
    pub fn formula(&self, e: Expr) -> Typeset {
        let unicode = self.printer(Style::Unicode).print(e);
        let (latex, width) = self.printer(Style::Latex).measured(e);
        Typeset { unicode, latex, width }
    }

    /// An expression as a factor: sums in parentheses.
    pub fn factor(&self, e: Expr) -> Typeset {
        Typeset::new(self.printer(Style::Unicode).factor(e), self.printer(Style::Latex).factor(e))
    }

    /// A new symbol that looks like `formula`.
    pub fn symbol(&mut self, formula: &Typeset) -> Expr {
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
    pub fn combination(&mut self, parts: &[(Expr, Typeset)], symbol_first: bool) -> Typeset {
        let mut out = Typeset::default();
        for (negative, term) in self.summands(parts, symbol_first) {
            let sign = match (out.latex.is_empty(), negative) {
                (true, false) => Typeset::default(),
                (true, true) => Typeset::new("−", "-"),
                (false, false) => Typeset::new(" + ", " + "),
                (false, true) => Typeset::new(" − ", " - "),
            };
            out = out.then(&sign).then(&term);
        }
        if out.latex.is_empty() { Typeset::new("0", "0") } else { out }
    }

    /// The same as the right side of an equation that may be broken between terms.
    pub fn breakable(&mut self, parts: &[(Expr, Typeset)]) -> Right {
        let summands = self.summands(parts, false);
        if summands.is_empty() {
            return Right::Whole(Typeset::new("0", "0"));
        }
        let term = |text: &String, negative: &bool, width: usize| Term {
            negative: *negative,
            text: text.clone(),
            width,
        };
        Right::Terms {
            unicode: summands.iter().map(|(n, f)| term(&f.unicode, n, display_width(&f.unicode))).collect(),
            latex: summands.iter().map(|(n, f)| term(&f.latex, n, f.width)).collect(),
        }
    }

    /// The summands that are not zero, and whether each is subtracted.
    fn summands(&mut self, parts: &[(Expr, Typeset)], symbol_first: bool) -> Vec<(bool, Typeset)> {
        let mut out = Vec::new();
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
                let space = Typeset::new("·", r" \, ");
                let (a, b) = if symbol_first { (symbol, &factor) } else { (&factor, symbol) };
                a.then(&space).then(b)
            };
            out.push((negative, term));
        }
        out
    }

    /// A name of the model: `theta1'`.
    pub fn name(&self, name: &str) -> Typeset {
        let unicode = self.printer(Style::Unicode).symbol(name);
        let latex = self.printer(Style::Latex).symbol(name);
        Typeset::new(unicode, latex)
    }

    /// The rate of a symbol: dots over it.
    pub fn rate(&self, symbol: Expr) -> Typeset {
        match self.dag.as_symbol(symbol) {
            Some(s) => self.name(&format!("{}'", self.dag.symbol_name(s))),
            None => self.formula(symbol),
        }
    }

    /// `base` with a subscript.
    pub fn sub(&self, base: &str, latex_base: &str, index: &Typeset) -> Typeset {
        let base = self.pair(&format!("{base}|{latex_base}"));
        let unicode = format!("{}_{}", base.unicode, index.unicode);
        let latex = format!("{}_{{{}}}", base.latex, index.latex);
        let width = index.width + 1;
        Typeset { unicode, latex, width }
    }

    /// A label of a row or wall as it looks in a subscript.
    pub fn label(&self, name: &str) -> Typeset {
        Typeset::new(name, format!(r"\text{{{}}}", escape_text(name)))
    }

    /// `symbol` before (`-`) or after (`+`) the impact.
    pub fn marked(&self, symbol: &Typeset, after: bool) -> Typeset {
        let (unicode, latex) = if after { ("⁺", "+") } else { ("⁻", "-") };
        Typeset {
            unicode: format!("{}{unicode}", symbol.unicode),
            latex: if symbol.latex.contains('^') {
                format!("{{{}}}^{{{latex}}}", symbol.latex)
            } else {
                format!("{}^{{{latex}}}", symbol.latex)
            },
            width: symbol.width + 1,
        }
    }

    // ---- blocks ------------------------------------------------------------------------------------------

    /// A heading.
    pub fn heading(&mut self, level: u8, text: &str) {
        let text = self.letters(text);
        self.blocks.push(Block::Heading(level, inlines(&text)));
    }

    /// Running text; see [`inlines`]. `@` in it stands for the letter of gaps, `#` for that of impulses.
    pub fn say(&mut self, text: &str) {
        let text = self.letters(text);
        self.blocks.push(Block::Paragraph(inlines(&text)));
    }

    /// Points of a list.
    pub fn list(&mut self, points: &[&str]) {
        let points = points.iter().map(|p| inlines(&self.letters(p))).collect();
        self.blocks.push(Block::List(points));
    }

    /// A table; cells as in [`ReportBuilder::say`].
    pub fn table(&mut self, head: &[&str], rows: Vec<Vec<Vec<Inline>>>) {
        let head = head.iter().map(|h| inlines(&self.letters(h))).collect();
        self.blocks.push(Block::Table(head, rows));
    }

    /// Text with the letters of the theory put in: `@` and `#` for gap and impulse, circled letters for quantities
    /// such as L and E, which are written in script when the model itself uses the plain letter. Only mathematics
    /// is touched, never code.
    pub fn letters(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(['‹', '`']) {
            out.push_str(&rest[..at]);
            let code = rest[at..].starts_with('`');
            let (open, close) = if code { (1, '`') } else { ('‹'.len_utf8(), '›') };
            let inner = &rest[at + open..];
            let end = inner.find(close).unwrap_or(inner.len());
            if code {
                out.push_str(&format!("`{}`", &inner[..end]));
            } else {
                let formula = self.pair(&inner[..end]);
                out.push_str(&format!("‹{}|{}›", formula.unicode, formula.latex));
            }
            rest = inner.get(end + close.len_utf8()..).unwrap_or("");
        }
        out.push_str(rest);
        out
    }

    /// A formula written as `unicode|latex`, letters put in.
    pub fn pair(&self, text: &str) -> Typeset {
        let (unicode, latex) = text.split_once('|').unwrap_or((text, text));
        let put = |s: &str, latex: bool, gap: &str, impulse: &str| {
            let mut out = String::new();
            s.chars().for_each(|c| self.letter(c, latex, &mut out));
            out.replace('@', gap).replace('#', impulse)
        };
        Typeset::new(
            put(unicode.trim(), false, &self.gap.unicode, &self.impulse.unicode),
            put(latex.trim(), true, &self.gap.latex, &self.impulse.latex),
        )
    }

    /// A character of a text, circled letters replaced.
    fn letter(&self, c: char, latex: bool, out: &mut String) {
        match LETTERS.iter().find(|l| l.0 == c) {
            None => out.push(c),
            Some(&(_, plain, _, _)) if !self.scripted.contains(&plain) => out.push(plain),
            Some(&(_, _, unicode, tex)) => out.push_str(if latex { tex } else { unicode }),
        }
    }

    /// Letters of the theory that the model uses itself, and how they are written instead.
    pub fn scripted(&self) -> Vec<(String, Typeset)> {
        let used = LETTERS.iter().filter(|l| self.scripted.contains(&l.1));
        used.map(|l| (l.1.to_string(), Typeset::new(l.2, l.3))).collect()
    }

    /// A displayed formula of the theory, numbered.
    pub fn law(&mut self, text: &str) -> u32 {
        self.equations += 1;
        let equation = whole(Typeset::default(), "", self.pair(text));
        self.blocks.push(Block::Equations(vec![equation], Some(self.equations)));
        self.equations
    }

    /// A form that is not there, and why.
    pub fn left_out(&mut self, what: &str, reason: &str) {
        self.say(&format!("{what} not written out: {}.", clean(reason)));
    }

    /// Displayed equations of this model.
    pub fn equations(&mut self, equations: Vec<Equation>) {
        if equations.is_empty() {
            return;
        }
        // Abbreviations stand once, after what they abbreviate.
        let known = self.abbreviations.borrow();
        let (mut parts, mut shown): (Vec<Equation>, Vec<Equation>) =
            equations.into_iter().partition(|e| known.iter().any(|(_, name)| *name == e.left));
        drop(known);
        let mut seen: Vec<Typeset> = Vec::new();
        parts.retain(|e| {
            let new = !seen.contains(&e.left);
            seen.push(e.left.clone());
            new
        });
        shown.extend(parts);
        self.blocks.push(Block::Equations(shown, None));
    }

    /// `left = e`, broken between terms when long, with names for repeated parts when very long.
    pub fn equals(&mut self, left: Typeset, e: Expr) {
        let equations = self.equation(left, "=", e);
        self.equations(equations);
    }

    /// `left relation e`, followed by what abbreviates it.
    pub fn equation(&self, left: Typeset, relation: &str, e: Expr) -> Vec<Equation> {
        let relation = Typeset::pair(relation);
        let latex = self.printer(Style::Latex).terms(e);
        let width: usize = latex.iter().map(|t| t.width + 3).sum();
        if width > WIDEST || latex.iter().any(|t| t.text.contains("too long to print")) {
            return self.shared(left, relation, e);
        }
        let mut used: Vec<(Expr, Typeset)> = Vec::new();
        let mut out = vec![self.fitted(left, relation, e, &mut used)];
        // The abbreviations themselves, and those they need.
        let mut next = 0;
        while next < used.len() {
            let (sum, name) = used[next].clone();
            next += 1;
            let mut inner: Vec<(Expr, Typeset)> = Vec::new();
            out.push(self.fitted(name, Typeset::pair("="), sum, &mut inner));
            used.extend(inner.into_iter().filter(|i| !used.contains(i)).collect::<Vec<_>>());
        }
        out
    }

    /// One equation whose terms fit a line, with the names it needs for that.
    fn fitted(&self, left: Typeset, relation: Typeset, e: Expr, used: &mut Vec<(Expr, Typeset)>) -> Equation {
        loop {
            let (mut tex, mut plain) = (self.printer(Style::Latex), self.printer(Style::Unicode));
            for (sum, name) in used.iter() {
                tex.name(*sum, name.latex.as_str());
                plain.name(*sum, name.unicode.as_str());
            }
            let (latex, unicode) = (tex.terms(e), plain.terms(e));
            let wide = latex.iter().zip(&unicode).any(|(l, u)| l.width.max(u.width) > WIDE_TERM);
            let candidate = if wide { self.candidate(e, used, &tex) } else { None };
            match candidate {
                Some(sum) => {
                    let name = self.abbreviation(sum);
                    used.push((sum, name));
                }
                None => {
                    let sympy =
                        Some(self.printer(Style::Sympy).print(e)).filter(|code| code.len() < LONGEST_CODE);
                    return Equation { left, relation, right: Right::Terms { unicode, latex }, sympy };
                }
            }
        }
    }

    /// The widest sum inside `e` that a name would shorten.
    fn candidate(&self, e: Expr, used: &[(Expr, Typeset)], printer: &Printer<'_>) -> Option<Expr> {
        let mut best: Option<(usize, Expr)> = None;
        let mut stack = vec![e];
        let mut seen = HashSet::new();
        while let Some(at) = stack.pop() {
            if !seen.insert(at) || used.iter().any(|(sum, _)| *sum == at) {
                continue;
            }
            if at != e && matches!(self.dag.node(at), Node::Sum(..)) {
                let width = printer.measured(at).1;
                let better = best.is_none_or(|(w, b)| width > w || (width == w && at < b));
                if width >= SMALL && better {
                    best = Some((width, at));
                }
                continue;
            }
            self.dag.for_each_child(at, |child| stack.push(child));
        }
        best.map(|b| b.1)
    }

    /// The name of an abbreviated sum: the same wherever it is needed.
    fn abbreviation(&self, sum: Expr) -> Typeset {
        let mut known = self.abbreviations.borrow_mut();
        if let Some((_, name)) = known.iter().find(|(e, _)| *e == sum) {
            return name.clone();
        }
        let number = known.len() + 1;
        let unicode: String = number
            .to_string()
            .chars()
            .filter_map(|d| d.to_digit(10))
            .filter_map(|d| char::from_u32(0x2080 + d))
            .collect();
        let (plain, tex) = self.abbreviation;
        let name = Typeset::new(format!("{plain}{unicode}"), format!("{tex}_{{{number}}}"));
        known.push((sum, name.clone()));
        name
    }

    /// A very long expression, with names for everything that occurs twice.
    fn shared(&self, left: Typeset, relation: Typeset, e: Expr) -> Vec<Equation> {
        let (printer, latex_parts) = self.dag.share(&[e], Style::Latex, "s", usize::MAX);
        let (unicode_printer, unicode_parts) = self.dag.share(&[e], Style::Unicode, "s", usize::MAX);
        let parts =
            latex_parts.into_iter().zip(unicode_parts).map(|((name, text), (unicode_name, unicode_text))| {
                whole(Typeset::new(unicode_name, name), "=", Typeset::new(unicode_text, text))
            });
        let (unicode, latex) = (unicode_printer.terms(e), printer.terms(e));
        let first = Equation { left, relation, right: Right::Terms { unicode, latex }, sympy: None };
        std::iter::once(first).chain(parts).collect()
    }
}

/// An equation whose right side is in one piece.
pub fn whole(left: Typeset, relation: &str, right: Typeset) -> Equation {
    Equation { left, relation: Typeset::pair(relation), right: Right::Whole(right), sympy: None }
}

/// A label of the user's as code in running text.
pub fn quoted(label: &str) -> String {
    format!("`{}`", label.replace('`', "'"))
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

/// Text of a model without the marks that mean something in a report.
pub fn clean(text: &str) -> String {
    text.replace(['‹', '›', '`', '@', '#'], "")
}
