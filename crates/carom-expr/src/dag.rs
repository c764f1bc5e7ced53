//! The hash-consed DAG and its canonical form.
//!
//! * A sum is `constant + Σ cᵢ·termᵢ` with rational cᵢ ≠ 0; no term is a number, a sum, or a product with a
//!   coefficient of its own. A product is `c·Π baseⱼ^eⱼ` with rational eⱼ ≠ 0; no base is a number, and bases with
//!   equal handles are merged. Everything else is a symbol, a constant, a general power or a function.
//! * Terms and factors are sorted by a structural order that starts from the order in which symbols were first
//!   interned, so the same formulas give the same DAG whatever was computed in between.
//! * Folding is local and exact. It may remove a removable singularity (`x/x → 1`), never add one.

use crate::number::Rational;
use std::cmp::Ordering;
use std::collections::HashMap;

/// A handle to an expression of one [`Dag`]. Equal handles mean equal expressions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Expr(pub(crate) u32);

impl Expr {
    /// Position in the DAG; children come before parents.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A named unknown, numbered in the order of first use.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Symbol(pub(crate) u32);

impl Symbol {
    /// Position in the order of first use.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Named real constants.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Constant {
    /// π
    Pi,
    /// Euler's number
    E,
}

/// Elementary functions. `sqrt` is a power with exponent 1/2.
#[allow(missing_docs)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Function {
    Exp,
    Log,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Abs,
    Sign,
    Min,
    Max,
}

impl Function {
    /// All functions a formula can name, `sqrt` excepted.
    #[rustfmt::skip]
    pub const ALL: [Function; 19] = [
        Function::Exp, Function::Log, Function::Sin, Function::Cos, Function::Tan, Function::Asin, Function::Acos,
        Function::Atan, Function::Atan2, Function::Sinh, Function::Cosh, Function::Tanh, Function::Asinh,
        Function::Acosh, Function::Atanh, Function::Abs, Function::Sign, Function::Min, Function::Max,
    ];

    /// Its name in formulas.
    pub fn name(self) -> &'static str {
        match self {
            Function::Exp => "exp",
            Function::Log => "log",
            Function::Sin => "sin",
            Function::Cos => "cos",
            Function::Tan => "tan",
            Function::Asin => "asin",
            Function::Acos => "acos",
            Function::Atan => "atan",
            Function::Atan2 => "atan2",
            Function::Sinh => "sinh",
            Function::Cosh => "cosh",
            Function::Tanh => "tanh",
            Function::Asinh => "asinh",
            Function::Acosh => "acosh",
            Function::Atanh => "atanh",
            Function::Abs => "abs",
            Function::Sign => "sign",
            Function::Min => "min",
            Function::Max => "max",
        }
    }

    /// How many arguments it takes.
    pub fn arity(self) -> usize {
        match self {
            Function::Atan2 | Function::Min | Function::Max => 2,
            _ => 1,
        }
    }
}

/// What an expression is made of.
#[derive(Clone, PartialEq, Debug)]
pub enum Node {
    /// An exact number.
    Number(Rational),
    /// A number that does not fit a [`Rational`]; finite.
    Float(f64),
    /// π or e.
    Constant(Constant),
    /// A named unknown.
    Symbol(Symbol),
    /// `constant + Σ c·term`; at least two summands, the constant counted when it is not zero.
    Sum(Rational, Box<[(Rational, Expr)]>),
    /// `coefficient·Π base^exponent`; never a lone base to the power 1 with coefficient 1.
    Product(Rational, Box<[(Expr, Rational)]>),
    /// `base^exponent` where the exponent is not a rational number (or base is a number: `2^(1/2)`).
    Power(Expr, Expr),
    /// A function applied to its arguments.
    Function(Function, Box<[Expr]>),
}

// Only finite floats are interned, by bits; Eq and Hash agree on that.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Number(Rational),
    Float(u64),
    Constant(Constant),
    Symbol(Symbol),
    Sum(Rational, Box<[(Rational, Expr)]>),
    Product(Rational, Box<[(Expr, Rational)]>),
    Power(Expr, Expr),
    Function(Function, Box<[Expr]>),
}

impl Key {
    fn of(node: &Node) -> Key {
        match node {
            Node::Number(r) => Key::Number(*r),
            Node::Float(x) => Key::Float(x.to_bits()),
            Node::Constant(c) => Key::Constant(*c),
            Node::Symbol(s) => Key::Symbol(*s),
            Node::Sum(c, t) => Key::Sum(*c, t.clone()),
            Node::Product(c, f) => Key::Product(*c, f.clone()),
            Node::Power(b, e) => Key::Power(*b, *e),
            Node::Function(f, a) => Key::Function(*f, a.clone()),
        }
    }
}

/// The store of expressions.
///
/// ```
/// use carom_expr::Dag;
/// let mut dag = Dag::new();
/// let x = dag.symbol("x");
/// let two_x = dag.sum(&[x, x]);
/// let half = dag.rational(1, 2);
/// assert_eq!(dag.product(&[half, two_x]), x);
/// ```
#[derive(Clone, Default)]
pub struct Dag {
    nodes: Vec<Node>,
    keys: HashMap<Key, Expr>,
    names: Vec<String>,
    symbols: Vec<Expr>,
    by_name: HashMap<String, Expr>,
    pub(crate) derivatives: HashMap<(Expr, Symbol), Expr>,
}

impl std::fmt::Debug for Dag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Dag({} nodes, {} symbols)", self.nodes.len(), self.names.len())
    }
}

impl Dag {
    /// An empty store.
    pub fn new() -> Dag {
        Dag::default()
    }

    /// Number of nodes ever made.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// True before the first node is made.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// What `e` is made of.
    pub fn node(&self, e: Expr) -> &Node {
        &self.nodes[e.index()]
    }

    fn intern(&mut self, node: Node) -> Expr {
        let key = Key::of(&node);
        if let Some(&e) = self.keys.get(&key) {
            return e;
        }
        let e = Expr(u32::try_from(self.nodes.len()).expect("fewer than 2^32 expressions"));
        self.nodes.push(node);
        self.keys.insert(key, e);
        e
    }

    // ---- leaves ------------------------------------------------------------------------------------------

    /// The symbol called `name`, made on first use.
    pub fn symbol(&mut self, name: &str) -> Expr {
        if let Some(&e) = self.by_name.get(name) {
            return e;
        }
        let symbol = Symbol(self.names.len() as u32);
        self.names.push(name.to_string());
        let e = self.intern(Node::Symbol(symbol));
        self.symbols.push(e);
        self.by_name.insert(name.to_string(), e);
        e
    }

    /// The symbol called `name`, if it was ever used.
    pub fn find_symbol(&self, name: &str) -> Option<Expr> {
        self.by_name.get(name).copied()
    }

    /// Number of symbols.
    pub fn symbol_count(&self) -> usize {
        self.names.len()
    }

    /// The name of a symbol.
    pub fn symbol_name(&self, symbol: Symbol) -> &str {
        &self.names[symbol.index()]
    }

    /// The expression that is this symbol.
    pub fn symbol_expr(&self, symbol: Symbol) -> Expr {
        self.symbols[symbol.index()]
    }

    /// The symbol that `e` is, if it is one.
    pub fn as_symbol(&self, e: Expr) -> Option<Symbol> {
        match self.node(e) {
            Node::Symbol(s) => Some(*s),
            _ => None,
        }
    }

    /// An exact number.
    pub fn number(&mut self, r: Rational) -> Expr {
        self.intern(Node::Number(r))
    }

    /// A whole number.
    pub fn integer(&mut self, n: i64) -> Expr {
        self.number(Rational::integer(n))
    }

    /// `n/d`; panics when `d` is zero.
    pub fn rational(&mut self, n: i64, d: i64) -> Expr {
        self.number(Rational::new(n as i128, d as i128).expect("a nonzero denominator"))
    }

    /// A finite double: exact when its shortest decimal form fits a rational, else kept as a double.
    /// Not-finite values are `0/0`-like and must be refused by the caller; they panic here.
    pub fn float(&mut self, x: f64) -> Expr {
        assert!(x.is_finite(), "only finite numbers are expressions");
        match Rational::from_f64(x) {
            Some(r) => self.number(r),
            None => self.intern(Node::Float(x)),
        }
    }

    /// π or e.
    pub fn constant(&mut self, c: Constant) -> Expr {
        self.intern(Node::Constant(c))
    }

    /// 0
    pub fn zero(&mut self) -> Expr {
        self.number(Rational::ZERO)
    }

    /// 1
    pub fn one(&mut self) -> Expr {
        self.number(Rational::ONE)
    }

    /// The exact number that `e` is, if it is one.
    pub fn as_number(&self, e: Expr) -> Option<Rational> {
        match self.node(e) {
            Node::Number(r) => Some(*r),
            _ => None,
        }
    }

    /// Is `e` exactly 0?
    pub fn is_zero(&self, e: Expr) -> bool {
        self.as_number(e).is_some_and(Rational::is_zero)
    }

    /// Is `e` exactly 1?
    pub fn is_one(&self, e: Expr) -> bool {
        self.as_number(e).is_some_and(Rational::is_one)
    }

    // ---- sums --------------------------------------------------------------------------------------------

    /// `a + b + …`
    pub fn sum(&mut self, summands: &[Expr]) -> Expr {
        let weighted: Vec<(Rational, Expr)> = summands.iter().map(|&e| (Rational::ONE, e)).collect();
        self.linear(Rational::ZERO, &weighted)
    }

    /// `a + b`
    pub fn add(&mut self, a: Expr, b: Expr) -> Expr {
        self.sum(&[a, b])
    }

    /// `a − b`
    pub fn sub(&mut self, a: Expr, b: Expr) -> Expr {
        self.linear(Rational::ZERO, &[(Rational::ONE, a), (Rational::MINUS_ONE, b)])
    }

    /// `constant + Σ c·e`, like terms collected.
    pub fn linear(&mut self, constant: Rational, summands: &[(Rational, Expr)]) -> Expr {
        let mut total = constant;
        let mut floats = 0.0;
        let mut terms: Vec<(Rational, Expr)> = Vec::with_capacity(summands.len());
        // When exact arithmetic overflows, what does not fit stays a summand of its own ("loose").
        let mut loose: Vec<(Rational, Expr)> = Vec::new();
        for &(c, e) in summands {
            if c.is_zero() {
                continue;
            }
            // k·(a + b) inside a sum is k a + k b: a term is never a sum.
            let (c, e) = match self.node(e) {
                Node::Product(k, factors) => match (**factors).first() {
                    Some(&(inner, n)) if factors.len() == 1 && n.is_one() => match c.multiply(*k) {
                        Some(ck) if matches!(self.node(inner), Node::Sum(..)) => (ck, inner),
                        _ => (c, e),
                    },
                    _ => (c, e),
                },
                _ => (c, e),
            };
            match self.node(e) {
                Node::Number(r) => match c.multiply(*r).and_then(|p| total.add(p)) {
                    Some(sum) => total = sum,
                    None => floats += c.to_f64() * r.to_f64(),
                },
                Node::Float(x) => floats += c.to_f64() * x,
                Node::Sum(inner_constant, inner) => {
                    let scaled: Option<Vec<_>> =
                        inner.iter().map(|&(ci, ei)| Some((c.multiply(ci)?, ei))).collect();
                    let shifted = c.multiply(*inner_constant).and_then(|k| total.add(k));
                    match (scaled, shifted) {
                        (Some(scaled), Some(shifted)) => {
                            terms.extend(scaled);
                            total = shifted;
                        }
                        _ => loose.push((c, e)),
                    }
                }
                Node::Product(k, factors) if !k.is_one() => match c.multiply(*k) {
                    Some(ck) => {
                        let factors = factors.clone();
                        let bare = self.monomial(factors);
                        terms.push((ck, bare));
                    }
                    None => loose.push((c, e)),
                },
                _ => terms.push((c, e)),
            }
        }
        terms.sort_by(|a, b| self.order(a.1, b.1));
        let mut collected: Vec<(Rational, Expr)> = Vec::with_capacity(terms.len());
        for (c, e) in terms {
            match collected.last_mut() {
                Some((total, last)) if *last == e => match total.add(c) {
                    Some(sum) => *total = sum,
                    None => loose.push((c, e)),
                },
                _ => collected.push((c, e)),
            }
            if collected.last().is_some_and(|(c, _)| c.is_zero()) {
                collected.pop();
            }
        }
        for (c, e) in loose {
            // A one-summand sum node keeps the pieces that cannot be merged exactly from being merged.
            let kept = self.intern(Node::Sum(Rational::ZERO, Box::new([(c, e)])));
            collected.push((Rational::ONE, kept));
        }
        if floats != 0.0 && floats.is_finite() {
            match Rational::from_f64(floats).and_then(|r| total.add(r)) {
                Some(sum) => total = sum,
                None => {
                    let e = self.intern(Node::Float(floats));
                    collected.push((Rational::ONE, e));
                }
            }
        }
        match (total.is_zero(), collected.as_slice()) {
            (_, []) => self.number(total),
            (true, &[(c, e)]) => self.scale(c, e),
            _ => self.intern(Node::Sum(total, collected.into())),
        }
    }

    /// `c·e` for a number c: absorbed by products, kept outside sums.
    pub fn scale(&mut self, c: Rational, e: Expr) -> Expr {
        if c.is_zero() {
            return self.zero();
        }
        if c.is_one() {
            return e;
        }
        match self.node(e) {
            Node::Number(r) => match c.multiply(*r) {
                Some(p) => self.number(p),
                None => {
                    let x = c.to_f64() * r.to_f64();
                    if x.is_finite() { self.intern(Node::Float(x)) } else { self.bare_product(c, e) }
                }
            },
            Node::Float(x) => {
                let y = c.to_f64() * x;
                if y.is_finite() { self.float(y) } else { self.bare_product(c, e) }
            }
            Node::Product(k, factors) => match c.multiply(*k) {
                Some(ck) => {
                    let factors = factors.clone();
                    if ck.is_one() { self.monomial(factors) } else { self.intern(Node::Product(ck, factors)) }
                }
                None => self.bare_product(c, e),
            },
            _ => self.bare_product(c, e),
        }
    }

    fn bare_product(&mut self, c: Rational, e: Expr) -> Expr {
        self.intern(Node::Product(c, Box::new([(e, Rational::ONE)])))
    }

    /// `−e`
    pub fn neg(&mut self, e: Expr) -> Expr {
        self.scale(Rational::MINUS_ONE, e)
    }

    // ---- products ----------------------------------------------------------------------------------------

    fn monomial(&mut self, factors: Box<[(Expr, Rational)]>) -> Expr {
        match *factors {
            [] => self.one(),
            [(base, exponent)] if exponent.is_one() => base,
            _ => self.intern(Node::Product(Rational::ONE, factors)),
        }
    }

    /// `a b …`
    pub fn product(&mut self, factors: &[Expr]) -> Expr {
        let powers: Vec<(Expr, Rational)> = factors.iter().map(|&e| (e, Rational::ONE)).collect();
        self.monomials(Rational::ONE, &powers)
    }

    /// `a b`
    pub fn mul(&mut self, a: Expr, b: Expr) -> Expr {
        self.product(&[a, b])
    }

    /// `a / b`
    pub fn div(&mut self, a: Expr, b: Expr) -> Expr {
        self.monomials(Rational::ONE, &[(a, Rational::ONE), (b, Rational::MINUS_ONE)])
    }

    /// `coefficient·Π base^exponent`, equal bases merged. A zero factor makes the product zero.
    pub fn monomials(&mut self, coefficient: Rational, powers: &[(Expr, Rational)]) -> Expr {
        let mut coefficient = coefficient;
        let mut factors: Vec<(Expr, Rational)> = Vec::with_capacity(powers.len());
        for &(base, exponent) in powers {
            if exponent.is_zero() {
                continue;
            }
            match self.node(base) {
                Node::Number(r) => match (exponent.to_integer().and_then(|n| r.power(n)), r.is_zero()) {
                    (Some(p), _) => match coefficient.multiply(p) {
                        Some(c) => coefficient = c,
                        None => factors.push((base, exponent)),
                    },
                    (None, true) if !exponent.is_negative() => coefficient = Rational::ZERO,
                    (None, _) => match exact_root(*r, exponent).and_then(|p| coefficient.multiply(p)) {
                        Some(c) => coefficient = c,
                        None => factors.push((base, exponent)),
                    },
                },
                Node::Product(k, inner) => {
                    // (k Π bᵉ)^n: distributes over the factors for whole n; for others only what is safe.
                    if exponent.is_integer() {
                        let scaled: Option<Vec<(Expr, Rational)>> =
                            inner.iter().map(|&(b, e)| Some((b, e.multiply(exponent)?))).collect();
                        let k = exponent
                            .to_integer()
                            .and_then(|n| k.power(n))
                            .and_then(|k| coefficient.multiply(k));
                        match (scaled, k) {
                            (Some(scaled), Some(k)) => {
                                coefficient = k;
                                factors.extend(scaled);
                            }
                            _ => factors.push((base, exponent)),
                        }
                    } else {
                        factors.push((base, exponent));
                    }
                }
                Node::Sum(constant, terms)
                    if exponent.is_integer() && constant.is_zero() && terms.len() == 1 =>
                {
                    factors.push((base, exponent));
                }
                _ => factors.push((base, exponent)),
            }
        }
        if coefficient.is_zero() {
            return self.zero();
        }
        factors.sort_by(|a, b| self.order(a.0, b.0));
        let mut merged: Vec<(Expr, Rational)> = Vec::with_capacity(factors.len());
        for (base, exponent) in factors {
            match merged.last_mut() {
                Some((last, total)) if *last == base => match total.add(exponent) {
                    Some(sum) => *total = sum,
                    None => merged.push((base, exponent)),
                },
                _ => merged.push((base, exponent)),
            }
            if merged.last().is_some_and(|(_, e)| e.is_zero()) {
                merged.pop();
            }
        }
        // Merging may have produced whole powers of numbers or products: 2^(1/2)·2^(1/2), ((a b)^(1/2))².
        let unfinished = merged.iter().any(|&(b, e)| {
            e.is_integer()
                && match self.node(b) {
                    Node::Number(r) => e
                        .to_integer()
                        .and_then(|n| r.power(n))
                        .is_some_and(|p| coefficient.multiply(p).is_some()),
                    Node::Product(..) => !powers.contains(&(b, e)),
                    _ => false,
                }
        });
        if unfinished {
            return self.monomials(coefficient, &merged);
        }
        match (coefficient.is_one(), merged.as_slice()) {
            (_, []) => self.number(coefficient),
            (true, &[(base, exponent)]) if exponent.is_one() => base,
            _ => self.intern(Node::Product(coefficient, merged.into())),
        }
    }

    // ---- powers and functions ----------------------------------------------------------------------------

    /// `base^exponent`
    pub fn power(&mut self, base: Expr, exponent: Expr) -> Expr {
        if self.is_one(base) {
            return base;
        }
        match self.as_number(exponent) {
            Some(r) if r.is_zero() => self.one(),
            Some(r) => self.rational_power(base, r),
            None => {
                if self.node(base) == &Node::Constant(Constant::E) {
                    return self.function(Function::Exp, &[exponent]);
                }
                self.intern(Node::Power(base, exponent))
            }
        }
    }

    /// `base^r` for an exact number r.
    pub fn rational_power(&mut self, base: Expr, r: Rational) -> Expr {
        if r.is_integer() {
            // (b^e)^n = b^(e n) holds for whole n.
            return self.monomials(Rational::ONE, &[(base, r)]);
        }
        // (b^e)^r with r not whole: b^(e r) only where b^e >= 0 was the domain anyway, which is when e itself is
        // not whole. sqrt(x^2) stays as it is: it is |x|, not x.
        if let Node::Product(k, factors) = self.node(base) {
            if k.is_one() {
                if let [(b, e)] = **factors
                    && !e.is_integer()
                    && let Some(er) = e.multiply(r)
                {
                    return self.monomials(Rational::ONE, &[(b, er)]);
                }
            } else if !k.is_negative() {
                // sqrt(4 a) = 2 sqrt(a)
                if let Some(root) = exact_root(*k, r) {
                    let factors = factors.clone();
                    let inner = self.monomial(factors);
                    let powered = self.rational_power(inner, r);
                    return self.scale(root, powered);
                }
            }
        }
        self.monomials(Rational::ONE, &[(base, r)])
    }

    /// `base^n`
    pub fn powi(&mut self, base: Expr, n: i64) -> Expr {
        self.rational_power(base, Rational::integer(n))
    }

    /// `√e`
    pub fn sqrt(&mut self, e: Expr) -> Expr {
        self.rational_power(e, Rational::HALF)
    }

    /// `f(args)`, folded where the value is exact (`sin(0)`, `exp(log(x))`, `cos(-x)`).
    pub fn function(&mut self, f: Function, args: &[Expr]) -> Expr {
        debug_assert_eq!(args.len(), f.arity());
        if let Some(folded) = self.fold(f, args) {
            return folded;
        }
        self.intern(Node::Function(f, args.into()))
    }

    /// Does this look like minus something? (leading coefficient below zero in the structural order)
    fn leads_negative(&self, e: Expr) -> bool {
        match self.node(e) {
            Node::Number(r) => r.is_negative(),
            Node::Float(x) => *x < 0.0,
            Node::Product(c, _) => c.is_negative(),
            Node::Sum(_, terms) => terms[0].0.is_negative(),
            _ => false,
        }
    }

    /// `−e`, spread over the summands when e is a sum: the form an odd or even function's argument takes.
    pub fn negated_argument(&mut self, e: Expr) -> Expr {
        self.linear(Rational::ZERO, &[(Rational::MINUS_ONE, e)])
    }

    fn fold(&mut self, f: Function, args: &[Expr]) -> Option<Expr> {
        use Function::*;
        let x = args[0];
        if matches!(f, Sin | Cos | Tan | Asin | Atan | Sinh | Cosh | Tanh | Asinh | Atanh | Abs | Sign)
            && self.leads_negative(x)
        {
            let positive = self.negated_argument(x);
            let value = self.function(f, &[positive]);
            return Some(if matches!(f, Cos | Cosh | Abs) { value } else { self.neg(value) });
        }
        let zero = self.is_zero(x);
        match f {
            Sin | Tan | Asin | Atan | Sinh | Tanh | Asinh | Atanh | Abs | Sign if zero => Some(x),
            Cos | Cosh | Exp if zero => Some(self.one()),
            Log if self.is_one(x) => Some(self.zero()),
            Acosh if self.is_one(x) => Some(self.zero()),
            Exp => match self.node(x) {
                Node::Function(Log, inner) => Some(inner[0]),
                _ => None,
            },
            Log => match self.node(x) {
                Node::Function(Exp, inner) => Some(inner[0]),
                Node::Constant(Constant::E) => Some(self.one()),
                _ => None,
            },
            Sin | Cos => self.trigonometric_of_pi(f, x),
            Abs => match *self.node(x) {
                Node::Number(r) => Some(self.number(r.abs())),
                Node::Constant(_) => Some(x),
                _ => None,
            },
            Sign => match *self.node(x) {
                Node::Number(_) | Node::Constant(_) => Some(self.one()),
                _ => None,
            },
            Min | Max => {
                if args[0] == args[1] {
                    return Some(x);
                }
                let (a, b) = (self.as_number(args[0])?, self.as_number(args[1])?);
                let first = (a <= b) == (f == Min);
                Some(if first { args[0] } else { args[1] })
            }
            _ => None,
        }
    }

    /// sin and cos of whole multiples of π/2.
    fn trigonometric_of_pi(&mut self, f: Function, x: Expr) -> Option<Expr> {
        let multiple = match self.node(x) {
            Node::Constant(Constant::Pi) => Rational::ONE,
            Node::Product(c, factors) => match **factors {
                [(base, e)] if e.is_one() && self.node(base) == &Node::Constant(Constant::Pi) => *c,
                _ => return None,
            },
            _ => return None,
        };
        let quarter = multiple.multiply(Rational::integer(2))?;
        let n = i64::try_from(quarter.numerator().rem_euclid(4)).ok()?;
        if !quarter.is_integer() {
            return None;
        }
        let value = match (f, n) {
            (Function::Sin, 1) | (Function::Cos, 0) => 1,
            (Function::Sin, 3) | (Function::Cos, 2) => -1,
            _ => 0,
        };
        Some(self.integer(value))
    }

    // ---- order -------------------------------------------------------------------------------------------

    /// The structural order: numbers, constants, symbols in the order of first use, then compound expressions.
    /// Walks down one path of first differences, so it costs at most the depth.
    pub fn order(&self, a: Expr, b: Expr) -> Ordering {
        let (mut a, mut b) = (a, b);
        loop {
            if a == b {
                return Ordering::Equal;
            }
            let (x, y) = (self.node(a), self.node(b));
            let rank = rank(x).cmp(&rank(y));
            if rank != Ordering::Equal {
                return rank;
            }
            let different: Option<(Expr, Expr)>;
            let tie: Ordering;
            match (x, y) {
                (Node::Number(r), Node::Number(s)) => return r.cmp(s),
                (Node::Float(r), Node::Float(s)) => return r.total_cmp(s),
                (Node::Constant(c), Node::Constant(d)) => return c.cmp(d),
                (Node::Symbol(s), Node::Symbol(u)) => return s.cmp(u),
                (Node::Sum(c, s), Node::Sum(d, u)) => {
                    different = first_difference(s.iter().map(|t| t.1), u.iter().map(|t| t.1));
                    tie = s
                        .len()
                        .cmp(&u.len())
                        .then_with(|| c.cmp(d))
                        .then_with(|| s.iter().map(|t| t.0).cmp(u.iter().map(|t| t.0)));
                }
                (Node::Product(c, s), Node::Product(d, u)) => {
                    different = first_difference(s.iter().map(|t| t.0), u.iter().map(|t| t.0));
                    tie = s.len().cmp(&u.len()).then_with(|| {
                        s.iter().map(|t| t.1).cmp(u.iter().map(|t| t.1)).then_with(|| c.cmp(d))
                    });
                }
                (Node::Power(p, m), Node::Power(q, n)) => {
                    different = first_difference([*p, *m].into_iter(), [*q, *n].into_iter());
                    tie = Ordering::Equal;
                }
                (Node::Function(f, s), Node::Function(g, u)) => {
                    if f != g {
                        return f.cmp(g);
                    }
                    different = first_difference(s.iter().copied(), u.iter().copied());
                    tie = Ordering::Equal;
                }
                _ => unreachable!("equal ranks are equal kinds"),
            }
            match different {
                Some(pair) => (a, b) = pair,
                None => return tie,
            }
        }
    }

    // ---- structure ---------------------------------------------------------------------------------------

    /// Calls `visit` for each direct child of `e`.
    pub fn for_each_child(&self, e: Expr, mut visit: impl FnMut(Expr)) {
        match self.node(e) {
            Node::Number(_) | Node::Float(_) | Node::Constant(_) | Node::Symbol(_) => {}
            Node::Sum(_, terms) => terms.iter().for_each(|t| visit(t.1)),
            Node::Product(_, factors) => factors.iter().for_each(|t| visit(t.0)),
            Node::Power(b, n) => {
                visit(*b);
                visit(*n);
            }
            Node::Function(_, args) => args.iter().for_each(|&a| visit(a)),
        }
    }

    /// All expressions that `roots` are made of, themselves included, in ascending order: children first.
    pub fn reachable(&self, roots: &[Expr]) -> Vec<Expr> {
        let mut seen = vec![false; roots.iter().map(|e| e.index() + 1).max().unwrap_or(0)];
        let mut stack: Vec<Expr> = roots.to_vec();
        let mut found = Vec::new();
        while let Some(e) = stack.pop() {
            if !std::mem::replace(&mut seen[e.index()], true) {
                found.push(e);
                self.for_each_child(e, |child| stack.push(child));
            }
        }
        found.sort_unstable();
        found
    }

    /// The symbols that occur in `roots`, in their order of first use.
    pub fn symbols_in(&self, roots: &[Expr]) -> Vec<Symbol> {
        let mut found: Vec<Symbol> =
            self.reachable(roots).into_iter().filter_map(|e| self.as_symbol(e)).collect();
        found.sort_unstable();
        found
    }

    /// Does `symbol` occur in `e`?
    pub fn contains(&self, e: Expr, symbol: Expr) -> bool {
        self.reachable(&[e]).contains(&symbol)
    }
}

fn rank(node: &Node) -> u8 {
    match node {
        Node::Number(_) => 0,
        Node::Float(_) => 1,
        Node::Constant(_) => 2,
        Node::Symbol(_) => 3,
        Node::Product(..) => 4,
        Node::Power(..) => 5,
        Node::Function(..) => 6,
        Node::Sum(..) => 7,
    }
}

fn first_difference(a: impl Iterator<Item = Expr>, b: impl Iterator<Item = Expr>) -> Option<(Expr, Expr)> {
    a.zip(b).find(|(x, y)| x != y)
}

/// `r^exponent` when it is exact: a perfect power.
fn exact_root(r: Rational, exponent: Rational) -> Option<Rational> {
    let root = u32::try_from(exponent.denominator()).ok()?;
    let n = i64::try_from(exponent.numerator()).ok()?;
    if r.is_negative() || r.is_zero() || root > 64 {
        return None;
    }
    let whole_root = |x: i128| -> Option<i128> {
        let guess = (x as f64).powf(1.0 / f64::from(root)).round() as i128;
        (guess.checked_pow(root)? == x).then_some(guess)
    };
    Rational::new(whole_root(r.numerator())?, whole_root(r.denominator())?)?.power(n)
}
