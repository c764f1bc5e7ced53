//! Expression → text a person or another program reads.
//!
//! One pass turns the DAG into pieces, children before parents, never by recursion: a piece is the finished text of
//! a subexpression with what its surroundings must know (does it need parentheses, how wide is it). What differs
//! between styles is only how pieces are joined: on a line ([`linear`]) or as LaTeX ([`latex`]).
//!
//! Order is for people: positive terms before negative ones, terms with more velocities first, in a product
//! numbers, then parameters, coordinates, velocities, sums, functions. Promise: [`Style::Text`] reads back to the
//! same expression, and output and work are bounded: a DAG written as a tree may be exponentially longer, so a
//! subexpression whose text would exceed the limit is replaced by a marker, and so is everything once the texts of all
//! subexpressions together have exceeded a multiple of it.

mod code;
mod latex;
mod linear;
mod names;
mod order;
mod piece;

use crate::dag::{Dag, Expr, Node};
use crate::number::Rational;
use order::Ranks;
use piece::{Piece, Precedence};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

pub use code::{Code, Language};

/// How to write an expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Style {
    /// The language of formulas; reads back to the same expression.
    Text,
    /// For a terminal: Greek letters, dots, superscripts.
    Unicode,
    /// For LaTeX, and for pages.
    Latex,
    /// For SymPy; exact numbers stay exact.
    Sympy,
    /// Rust, all numbers `f64`.
    Rust,
    /// C99, all numbers `double`.
    C,
}

impl Dag {
    /// `e` in the given style.
    ///
    /// ```
    /// use carom_expr::{Dag, Style};
    /// let mut dag = Dag::new();
    /// let (m, v) = (dag.symbol("m"), dag.symbol("theta1'"));
    /// let square = dag.powi(v, 2);
    /// let half = dag.rational(1, 2);
    /// let kinetic = dag.product(&[half, m, square]);
    /// assert_eq!(dag.print(kinetic, Style::Text), "m/2*theta1'^2");
    /// assert_eq!(dag.print(kinetic, Style::Unicode), "½·m·θ̇₁²");
    /// assert_eq!(dag.print(kinetic, Style::Latex), r"\frac{1}{2} m \dot{\theta}_{1}^{2}");
    /// assert_eq!(dag.print(kinetic, Style::Sympy), "m/2*theta1_dot**2");
    /// assert_eq!(dag.print(kinetic, Style::Rust), "0.5*m*theta1_dot*theta1_dot");
    /// ```
    pub fn print(&self, e: Expr, style: Style) -> String {
        Printer::new(self, style).print(e)
    }
}

/// Longest text of one expression, in bytes, unless told otherwise.
const LONGEST: usize = 1_000_000;
/// Most bytes joined on the way to one text, in such limits: parts are copied into what they are parts of.
const MOST_JOINED: usize = 512;

/// Prints expressions of one DAG in one style, with names for some of them.
#[derive(Clone)]
pub struct Printer<'a> {
    dag: &'a Dag,
    style: Style,
    symbols: Arc<[String]>,
    named: HashMap<Expr, String>,
    ranks: RefCell<Ranks>,
    limit: usize,
    /// Bytes joined for the text under way.
    joined: Cell<usize>,
}

/// A summand of a broken sum.
#[derive(Clone, PartialEq, Debug)]
pub struct Term {
    /// Is it subtracted?
    pub negative: bool,
    /// Its text without the sign.
    pub text: String,
    /// Roughly how many characters wide it is when typeset.
    pub width: usize,
}

impl<'a> Printer<'a> {
    /// A printer for expressions of `dag`.
    pub fn new(dag: &'a Dag, style: Style) -> Printer<'a> {
        Printer::with_spelling(dag, style, names::table(dag, style).into())
    }

    /// A printer that spells symbols like an earlier one of the same style; what is new in the DAG is added.
    pub fn with_spelling(dag: &'a Dag, style: Style, spelling: Arc<[String]>) -> Printer<'a> {
        let symbols =
            if spelling.len() == dag.symbol_count() { spelling } else { names::table(dag, style).into() };
        let ranks = RefCell::default();
        Printer { dag, style, symbols, named: HashMap::new(), ranks, limit: LONGEST, joined: Cell::new(0) }
    }

    /// How symbols are spelt, for [`Printer::with_spelling`].
    pub fn spelling(&self) -> Arc<[String]> {
        self.symbols.clone()
    }

    /// Replaces subexpressions whose text would be longer than `bytes` by a marker.
    pub fn limit(mut self, bytes: usize) -> Printer<'a> {
        self.limit = bytes;
        self
    }

    /// From now on `e` is printed as `name`, wherever it occurs.
    pub fn name(&mut self, e: Expr, name: impl Into<String>) {
        self.named.insert(e, name.into());
    }

    /// The style.
    pub fn style(&self) -> Style {
        self.style
    }

    /// How the symbol or a name such as `theta1'` looks in this style.
    pub fn symbol(&self, name: &str) -> String {
        match self.dag.find_symbol(name).and_then(|e| self.dag.as_symbol(e)) {
            Some(symbol) => self.symbols[symbol.index()].clone(),
            None => names::spell(name, self.style),
        }
    }

    /// Is any symbol of the DAG spelt like this?
    pub fn uses(&self, spelling: &str) -> bool {
        self.symbols.iter().any(|s| s == spelling)
    }

    /// The text of `e`.
    pub fn print(&self, e: Expr) -> String {
        self.piece(e, false).text
    }

    /// The text of `e` and roughly how many characters wide it is when typeset.
    pub fn measured(&self, e: Expr) -> (String, usize) {
        let piece = self.piece(e, false);
        (piece.text, piece.width)
    }

    /// The summands of `e`, in the order in which they are printed; one if it is not a sum.
    pub fn terms(&self, e: Expr) -> Vec<Term> {
        let Node::Sum(..) = self.dag.node(e) else { return self.single(e) };
        if self.named.contains_key(&e) {
            return self.single(e);
        }
        let mut pieces = self.pieces(e);
        let ranks = self.ranks.borrow();
        self.summands(e, &ranks)
            .into_iter()
            .map(|(c, term)| {
                let negative = c.is_negative();
                let piece = self.term(c, term, &ranks, &mut |child| take(&mut pieces, child));
                Term { negative, text: piece.text, width: piece.width }
            })
            .collect()
    }

    fn single(&self, e: Expr) -> Vec<Term> {
        let piece = self.piece(e, false);
        vec![Term { negative: false, text: piece.text, width: piece.width }]
    }

    /// The text of `e` if it must stand as a factor: sums in parentheses.
    pub fn factor(&self, e: Expr) -> String {
        self.piece(e, true).text
    }

    fn piece(&self, e: Expr, factor: bool) -> Piece {
        let mut pieces = self.pieces(e);
        let ranks = self.ranks.borrow();
        let piece = self.join_node(e, &ranks, &mut |child| take(&mut pieces, child));
        if factor && piece.level < Precedence::Power { self.parenthesise(piece) } else { piece }
    }

    fn parenthesise(&self, piece: Piece) -> Piece {
        if self.style == Style::Latex { latex::parenthesise(piece) } else { linear::parenthesise(piece) }
    }

    /// The pieces of what `root` shows, with how often each is still needed.
    fn pieces(&self, root: Expr) -> HashMap<Expr, (Piece, usize)> {
        self.joined.set(0);
        // Count first, so that a piece can be dropped after its last use; children have smaller handles.
        let mut uses: HashMap<Expr, usize> = HashMap::new();
        let mut stack = vec![root];
        let mut seen: HashMap<Expr, ()> = HashMap::new();
        while let Some(e) = stack.pop() {
            if seen.insert(e, ()).is_none() {
                self.shown(e, |child| {
                    *uses.entry(child).or_insert(0) += 1;
                    stack.push(child);
                });
            }
        }
        self.ranks.borrow_mut().learn(self.dag, root);
        let ranks = self.ranks.borrow();
        let mut order: Vec<Expr> = uses.keys().copied().collect();
        order.sort_unstable();
        let mut pieces: HashMap<Expr, (Piece, usize)> = HashMap::new();
        for e in order {
            let piece = self.join_node(e, &ranks, &mut |child| take(&mut pieces, child));
            pieces.insert(e, (piece, uses[&e]));
        }
        pieces
    }

    /// The expressions whose pieces the text of `e` is joined from. A product inside a sum is joined by the sum,
    /// which knows its sign and coefficient.
    fn shown(&self, e: Expr, mut visit: impl FnMut(Expr)) {
        if self.named.contains_key(&e) {
            return;
        }
        match self.dag.node(e) {
            Node::Sum(_, terms) => {
                for &(_, term) in terms {
                    match self.dag.node(term) {
                        Node::Product(_, factors) if !self.named.contains_key(&term) => {
                            factors.iter().for_each(|f| visit(f.0));
                        }
                        _ => visit(term),
                    }
                }
            }
            _ => self.dag.for_each_child(e, visit),
        }
    }

    /// (coefficient, term) of a sum in the order of print; the constant is a term that is its own coefficient's
    /// sign times a number node, given as `None`.
    fn summands(&self, e: Expr, ranks: &Ranks) -> Vec<(Rational, Option<Expr>)> {
        let Node::Sum(constant, terms) = self.dag.node(e) else { return Vec::new() };
        order::summands(self.dag, ranks, *constant, terms)
    }

    fn join_node(&self, e: Expr, ranks: &Ranks, take: &mut dyn FnMut(Expr) -> Piece) -> Piece {
        if let Some(name) = self.named.get(&e) {
            return Piece::atom(name.clone(), piece::latex_width(name));
        }
        let piece = match self.dag.node(e) {
            Node::Number(r) => self.number(*r),
            Node::Float(x) => self.float(*x),
            Node::Constant(c) => self.constant(*c),
            Node::Symbol(s) => {
                let name = &self.symbols[s.index()];
                Piece::symbol(name.clone(), names::width(self.dag.symbol_name(*s)))
            }
            Node::Sum(..) => {
                let summands = self.summands(e, ranks);
                let mut pieces: Vec<(bool, Piece)> = Vec::with_capacity(summands.len());
                let mut length = 0;
                for (c, term) in summands {
                    let piece = self.term(c, term, ranks, take);
                    length += piece.text.len();
                    if length > self.limit {
                        return self.bounded(length, None);
                    }
                    pieces.push((c.is_negative(), piece));
                }
                self.sum(pieces)
            }
            Node::Product(c, factors) => {
                let factors = factors.clone();
                let body = self.product(c.abs(), &factors, ranks, take);
                if c.is_negative() { self.negate(body) } else { body }
            }
            Node::Power(base, exponent) => {
                let (base, exponent) = (take(*base), take(*exponent));
                self.power(base, exponent)
            }
            Node::Function(f, args) => {
                let args: Vec<Piece> = args.iter().map(|&a| take(a)).collect();
                self.call(*f, args)
            }
        };
        self.bounded(piece.text.len(), Some(piece))
    }

    /// The piece that joining `length` bytes made, or the marker if that was too much.
    fn bounded(&self, length: usize, piece: Option<Piece>) -> Piece {
        let joined = self.joined.get().saturating_add(length);
        self.joined.set(joined);
        match piece {
            Some(piece) if length <= self.limit && joined <= self.limit.saturating_mul(MOST_JOINED) => piece,
            _ => self.too_long(),
        }
    }

    fn too_long(&self) -> Piece {
        let text = match self.style {
            Style::Latex => r"\langle\text{too long to print}\rangle",
            _ => "<too long to print>",
        };
        Piece::atom(text.to_string(), 19)
    }

    /// A summand without its sign; `None` is the constant.
    fn term(
        &self,
        c: Rational,
        term: Option<Expr>,
        ranks: &Ranks,
        take: &mut dyn FnMut(Expr) -> Piece,
    ) -> Piece {
        let Some(term) = term else { return self.number(c.abs()) };
        match self.dag.node(term) {
            Node::Product(k, factors) if !self.named.contains_key(&term) => {
                // The coefficient of a product inside a sum is one.
                let c = c.multiply(*k).unwrap_or(c);
                let factors = factors.clone();
                self.product(c.abs(), &factors, ranks, take)
            }
            _ => {
                let piece = take(term);
                if c.abs().is_one() && piece.level > Precedence::Sum {
                    piece
                } else {
                    self.join_product(c.abs(), vec![piece], Vec::new())
                }
            }
        }
    }

    fn product(
        &self,
        c: Rational,
        factors: &[(Expr, Rational)],
        ranks: &Ranks,
        take: &mut dyn FnMut(Expr) -> Piece,
    ) -> Piece {
        let (mut above, mut below) = (Vec::new(), Vec::new());
        let mut length = 0;
        for (base, exponent) in order::factors(self.dag, ranks, factors) {
            let piece = take(base);
            let power =
                if exponent.abs().is_one() { piece } else { self.rational_power(piece, exponent.abs()) };
            length += power.text.len();
            if length > self.limit {
                return self.bounded(length, None);
            }
            if exponent.is_negative() { below.push(power) } else { above.push(power) }
        }
        self.join_product(c, above, below)
    }
}

/// The piece of `e`: a copy, or the piece itself at its last use.
fn take(pieces: &mut HashMap<Expr, (Piece, usize)>, e: Expr) -> Piece {
    match pieces.get_mut(&e) {
        Some((piece, uses)) if *uses > 1 => {
            *uses -= 1;
            piece.clone()
        }
        _ => pieces.remove(&e).map_or_else(|| Piece::atom(String::new(), 0), |p| p.0),
    }
}

/// Dispatch to the two ways of joining.
impl Printer<'_> {
    fn number(&self, r: Rational) -> Piece {
        if self.style == Style::Latex { latex::number(r) } else { linear::number(r, self.style) }
    }

    fn float(&self, x: f64) -> Piece {
        if self.style == Style::Latex { latex::float(x) } else { linear::float(x, self.style) }
    }

    fn constant(&self, c: crate::dag::Constant) -> Piece {
        if self.style == Style::Latex { latex::constant(c) } else { linear::constant(c, self.style) }
    }

    fn sum(&self, terms: Vec<(bool, Piece)>) -> Piece {
        if self.style == Style::Latex { latex::sum(terms) } else { linear::sum(terms, self.style) }
    }

    fn negate(&self, piece: Piece) -> Piece {
        if self.style == Style::Latex { latex::negate(piece) } else { linear::negate(piece, self.style) }
    }

    fn join_product(&self, c: Rational, above: Vec<Piece>, below: Vec<Piece>) -> Piece {
        match self.style {
            Style::Latex => latex::product(c, above, below),
            style => linear::product(c, above, below, style),
        }
    }

    fn rational_power(&self, base: Piece, exponent: Rational) -> Piece {
        match self.style {
            Style::Latex => latex::rational_power(base, exponent),
            style => linear::rational_power(base, exponent, style),
        }
    }

    fn power(&self, base: Piece, exponent: Piece) -> Piece {
        match self.style {
            Style::Latex => latex::power(base, exponent),
            style => linear::power(base, exponent, style),
        }
    }

    fn call(&self, f: crate::dag::Function, args: Vec<Piece>) -> Piece {
        match self.style {
            Style::Latex => latex::call(f, args),
            style => linear::call(f, args, style),
        }
    }
}
