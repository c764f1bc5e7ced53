//! The hash-consed DAG and its canonical form.
//!
//! * A sum is `constant + Σ cᵢ·termᵢ` with rational cᵢ ≠ 0; no term is a number, a sum, or a product with a
//!   coefficient of its own. A product is `c·Π baseⱼ^eⱼ` with rational eⱼ ≠ 0; no base is a number, and bases with
//!   equal handles are merged. Everything else is a symbol, a constant, a general power or a function.
//! * Terms and factors are sorted by a structural order that starts from the order in which symbols were first
//!   interned, so the same formulas give the same DAG whatever was computed in between.
//! * Folding is local and exact. It may remove a removable singularity (`x/x → 1`), never add one.

use crate::FastMap;
use crate::content::{hash, same};
use crate::measure;
use crate::number::Rational;

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
    ///
    /// ```
    /// # use carom_expr::*;
    /// assert_eq!(Function::Atan2.name(), "atan2");
    /// ```
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

    /// Its arguments, as in `atan2(y, x)`.
    ///
    /// ```
    /// # use carom_expr::*;
    /// assert_eq!(Function::Atan2.arguments(), "y, x");
    /// ```
    pub fn arguments(self) -> &'static str {
        match self {
            Function::Atan2 => "y, x",
            Function::Min | Function::Max => "a, b",
            _ => "x",
        }
    }

    /// Its value, in a few words.
    ///
    /// ```
    /// # use carom_expr::*;
    /// assert_eq!(Function::Log.meaning(), "natural logarithm, x > 0");
    /// ```
    pub fn meaning(self) -> &'static str {
        match self {
            Function::Exp => "e to the power x",
            Function::Log => "natural logarithm, x > 0",
            Function::Sin => "sine, x in radians",
            Function::Cos => "cosine, x in radians",
            Function::Tan => "tangent, x in radians",
            Function::Asin => "arcsine in [-π/2, π/2], -1 ≤ x ≤ 1",
            Function::Acos => "arccosine in [0, π], -1 ≤ x ≤ 1",
            Function::Atan => "arctangent in (-π/2, π/2)",
            Function::Atan2 => "angle of the point (x, y) in (-π, π]",
            Function::Sinh => "hyperbolic sine",
            Function::Cosh => "hyperbolic cosine",
            Function::Tanh => "hyperbolic tangent; a smooth step from -1 to 1",
            Function::Asinh => "inverse of sinh",
            Function::Acosh => "inverse of cosh, x ≥ 1",
            Function::Atanh => "inverse of tanh, -1 < x < 1",
            Function::Abs => "absolute value; a corner at 0",
            Function::Sign => "-1 below zero, 1 above; a jump at 0",
            Function::Min => "the smaller of two; as a gap, two walls",
            Function::Max => "the larger of two",
        }
    }

    /// How many arguments it takes.
    ///
    /// ```
    /// # use carom_expr::*;
    /// assert_eq!(Function::Atan2.arity(), 2);
    /// ```
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
    /// `base^exponent` where the exponent is not a rational number .
    Power(Expr, Expr),
    /// A function applied to its arguments.
    Function(Function, Box<[Expr]>),
}

/// What is known of a node besides its content.
#[derive(Clone, Copy)]
struct Facts {
    hash: u32,
    /// Bit s mod 64 is set when symbol s occurs: a clear bit proves that it does not.
    symbols: u64,
    length: u64,
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
    facts: Vec<Facts>,
    /// Open addressing by `Facts::hash`: 0 is empty, k stands for node k − 1. Its length is a power of two.
    table: Vec<u32>,
    names: Vec<String>,
    symbols: Vec<Expr>,
    by_name: FastMap<String, Expr>,
    pub(crate) derivatives: FastMap<(Expr, Symbol), Expr>,
    pub(crate) simplified: FastMap<Expr, Expr>,
    /// Has any number become a double?
    pub(crate) has_doubles: bool,
}

impl std::fmt::Debug for Dag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Dag({} nodes, {} symbols)", self.nodes.len(), self.names.len())
    }
}

impl Dag {
    /// An empty store.
    ///
    /// ```
    /// # use carom_expr::*;
    /// assert!(Dag::new().is_empty());
    /// ```
    pub fn new() -> Dag {
        Dag::default()
    }

    /// Number of nodes ever made.
    ///
    /// ```
    /// # use carom_expr::*;
    /// let mut dag = Dag::new();
    /// dag.symbol("x");
    /// dag.symbol("x");
    /// assert_eq!(dag.len(), 1);
    /// ```
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// True before the first node is made.
    ///
    /// ```
    /// # use carom_expr::*;
    /// assert!(Dag::new().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Every node, each after those it is made of.
    ///
    /// ```
    /// # use carom_expr::*;
    /// let mut dag = Dag::new();
    /// let x = dag.symbol("x");
    /// let square = dag.powi(x, 2);
    /// assert_eq!(dag.all().collect::<Vec<_>>(), [x, square]);
    /// ```
    pub fn all(&self) -> impl Iterator<Item = Expr> + use<> {
        (0..self.nodes.len() as u32).map(Expr)
    }

    /// Length of `e` in characters, written out with one-letter names: what [`Dag::simplify`] makes small.
    ///
    /// ```
    /// # use carom_expr::Dag;
    /// let mut dag = Dag::new();
    /// let (mass, speed) = (dag.symbol("mass"), dag.symbol("speed"));
    /// let square = dag.powi(speed, 2);
    /// let momentum = dag.mul(mass, square);
    /// assert_eq!(dag.length(momentum), "m*v^2".len() as u64);
    /// ```
    pub fn length(&self, e: Expr) -> u64 {
        self.facts[e.index()].length
    }

    /// What `e` is made of.
    ///
    /// ```
    /// # use carom_expr::*;
    /// let mut dag = Dag::new();
    /// let half = dag.rational(1, 2);
    /// assert_eq!(dag.node(half), &Node::Number(Rational::HALF));
    /// ```
    pub fn node(&self, e: Expr) -> &Node {
        &self.nodes[e.index()]
    }

    /// The handle of `node`, which must be canonical.
    pub(crate) fn intern(&mut self, node: Node) -> Expr {
        if self.table.len() < 2 * self.nodes.len() + 16 {
            self.grow();
        }
        let hash = hash(&node);
        let mask = self.table.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            match self.table[slot] {
                0 => break,
                k => {
                    let at = k as usize - 1;
                    if self.facts[at].hash == hash && same(&self.nodes[at], &node) {
                        return Expr(at as u32);
                    }
                }
            }
            slot = (slot + 1) & mask;
        }
        let e = Expr(u32::try_from(self.nodes.len()).expect("fewer than 2^32 expressions"));
        self.table[slot] = e.0 + 1;
        let length = measure::of_node(self, &node);
        self.has_doubles |= matches!(node, Node::Float(_));
        self.nodes.push(node);
        let mut symbols = match self.node(e) {
            Node::Symbol(s) => 1 << (s.0 % 64),
            _ => 0,
        };
        self.for_each_child(e, |child| symbols |= self.facts[child.index()].symbols);
        self.facts.push(Facts { hash, symbols, length });
        e
    }

    fn grow(&mut self) {
        let length = (4 * self.nodes.len()).max(64).next_power_of_two();
        self.table = vec![0; length];
        for (at, facts) in self.facts.iter().enumerate() {
            let mut slot = facts.hash as usize & (length - 1);
            while self.table[slot] != 0 {
                slot = (slot + 1) & (length - 1);
            }
            self.table[slot] = at as u32 + 1;
        }
    }

    /// False proves that `symbol` does not occur in `e`; true proves nothing.
    pub(crate) fn may_contain(&self, e: Expr, symbol: Symbol) -> bool {
        self.facts[e.index()].symbols & (1 << (symbol.0 % 64)) != 0
    }

    // ---- leaves ------------------------------------------------------------------------------------------

    /// The symbol called `name`, made on first use.
    ///
    /// ```
    /// # use carom_expr::*;
    /// let mut dag = Dag::new();
    /// assert_eq!(dag.symbol("x"), dag.symbol("x"));
    /// ```
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
    ///
    /// ```
    /// # use carom_expr::*;
    /// let mut dag = Dag::new();
    /// let x = dag.symbol("x");
    /// assert_eq!(dag.find_symbol("x"), Some(x));
    /// assert_eq!(dag.find_symbol("y"), None);
    /// ```
    pub fn find_symbol(&self, name: &str) -> Option<Expr> {
        self.by_name.get(name).copied()
    }

    /// Number of symbols.
    ///
    /// ```
    /// # use carom_expr::*;
    /// let mut dag = Dag::new();
    /// dag.symbol("x");
    /// assert_eq!(dag.symbol_count(), 1);
    /// ```
    pub fn symbol_count(&self) -> usize {
        self.names.len()
    }

    /// The name of a symbol.
    ///
    /// ```
    /// # use carom_expr::*;
    /// let mut dag = Dag::new();
    /// let x = dag.symbol("x");
    /// assert_eq!(dag.as_symbol(x).map(|s| dag.symbol_name(s)), Some("x"));
    /// ```
    pub fn symbol_name(&self, symbol: Symbol) -> &str {
        &self.names[symbol.index()]
    }

    /// The expression that is this symbol.
    ///
    /// ```
    /// # use carom_expr::*;
    /// let mut dag = Dag::new();
    /// let x = dag.symbol("x");
    /// assert_eq!(dag.as_symbol(x).map(|s| dag.symbol_expr(s)), Some(x));
    /// ```
    pub fn symbol_expr(&self, symbol: Symbol) -> Expr {
        self.symbols[symbol.index()]
    }

    /// The symbol that `e` is, if it is one.
    ///
    /// ```
    /// # use carom_expr::*;
    /// let mut dag = Dag::new();
    /// let one = dag.one();
    /// assert_eq!(dag.as_symbol(one), None);
    /// ```
    pub fn as_symbol(&self, e: Expr) -> Option<Symbol> {
        match self.node(e) {
            Node::Symbol(s) => Some(*s),
            _ => None,
        }
    }

    /// An exact number.
    ///
    /// ```
    /// # use carom_expr::*;
    /// let mut dag = Dag::new();
    /// assert_eq!(dag.number(Rational::ONE), dag.one());
    /// ```
    pub fn number(&mut self, r: Rational) -> Expr {
        self.intern(Node::Number(r))
    }

    /// A whole number.
    ///
    /// ```
    /// # use carom_expr::*;
    /// let mut dag = Dag::new();
    /// assert_eq!(dag.integer(0), dag.zero());
    /// ```
    pub fn integer(&mut self, n: i64) -> Expr {
        self.number(Rational::integer(n))
    }

    /// `n/d`; panics when `d` is zero.
    ///
    /// ```
    /// # use carom_expr::*;
    /// let mut dag = Dag::new();
    /// assert_eq!(dag.rational(2, 4), dag.rational(1, 2));
    /// ```
    pub fn rational(&mut self, n: i64, d: i64) -> Expr {
        self.number(Rational::new(n as i128, d as i128).expect("a nonzero denominator"))
    }

    /// A finite double: exact when its shortest decimal form fits a rational, else kept as a double.
    /// Not-finite values are `0/0`-like and must be refused by the caller; they panic here.
    ///
    /// ```
    /// # use carom_expr::*;
    /// let mut dag = Dag::new();
    /// assert_eq!(dag.float(0.1), dag.rational(1, 10));
    /// ```
    pub fn float(&mut self, x: f64) -> Expr {
        assert!(x.is_finite(), "only finite numbers are expressions");
        match Rational::from_f64(x) {
            Some(r) => self.number(r),
            None => self.intern(Node::Float(x)),
        }
    }

    /// π or e.
    ///
    /// ```
    /// # use carom_expr::*;
    /// let mut dag = Dag::new();
    /// let pi = dag.constant(Constant::Pi);
    /// assert_eq!(dag.function(Function::Cos, &[pi]), dag.integer(-1));
    /// ```
    pub fn constant(&mut self, c: Constant) -> Expr {
        self.intern(Node::Constant(c))
    }

    /// 0
    ///
    /// ```
    /// # use carom_expr::*;
    /// let mut dag = Dag::new();
    /// let zero = dag.zero();
    /// assert!(dag.is_zero(zero));
    /// ```
    pub fn zero(&mut self) -> Expr {
        self.number(Rational::ZERO)
    }

    /// 1
    ///
    /// ```
    /// # use carom_expr::*;
    /// let mut dag = Dag::new();
    /// let one = dag.one();
    /// assert!(dag.is_one(one));
    /// ```
    pub fn one(&mut self) -> Expr {
        self.number(Rational::ONE)
    }

    /// The exact number that `e` is, if it is one.
    ///
    /// ```
    /// # use carom_expr::*;
    /// let mut dag = Dag::new();
    /// let (x, two) = (dag.symbol("x"), dag.integer(2));
    /// assert_eq!(dag.as_number(two), Some(Rational::integer(2)));
    /// assert_eq!(dag.as_number(x), None);
    /// ```
    pub fn as_number(&self, e: Expr) -> Option<Rational> {
        match self.node(e) {
            Node::Number(r) => Some(*r),
            _ => None,
        }
    }

    /// Is `e` exactly 0?
    ///
    /// ```
    /// # use carom_expr::*;
    /// let mut dag = Dag::new();
    /// let x = dag.symbol("x");
    /// let difference = dag.sub(x, x);
    /// assert!(dag.is_zero(difference));
    /// ```
    pub fn is_zero(&self, e: Expr) -> bool {
        self.as_number(e).is_some_and(Rational::is_zero)
    }

    /// Is `e` exactly 1?
    ///
    /// ```
    /// # use carom_expr::*;
    /// let mut dag = Dag::new();
    /// let x = dag.symbol("x");
    /// let quotient = dag.div(x, x);
    /// assert!(dag.is_one(quotient));
    /// ```
    pub fn is_one(&self, e: Expr) -> bool {
        self.as_number(e).is_some_and(Rational::is_one)
    }
}
