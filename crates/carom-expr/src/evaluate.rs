//! The reference evaluator: one loop, plain doubles, no cleverness. Faster evaluators are tested against it.

use crate::dag::{Constant, Dag, Expr, Function, Node, Symbol};
use crate::number::Rational;

impl Dag {
    /// The value of each of `roots`, with `value_of` giving the value of every symbol in them.
    ///
    /// ```
    /// # use carom_expr::Dag;
    /// let mut dag = Dag::new();
    /// let x = dag.symbol("x");
    /// let square = dag.powi(x, 2);
    /// assert_eq!(dag.evaluate_all(&[x, square], |_| 3.0), vec![3.0, 9.0]);
    /// ```
    pub fn evaluate_all(&self, roots: &[Expr], mut value_of: impl FnMut(Symbol) -> f64) -> Vec<f64> {
        let mut values = vec![0.0; roots.iter().map(|e| e.index() + 1).max().unwrap_or(0)];
        for e in self.reachable(roots) {
            values[e.index()] = match self.node(e) {
                Node::Number(r) => r.to_f64(),
                Node::Float(x) => *x,
                Node::Constant(Constant::Pi) => std::f64::consts::PI,
                Node::Constant(Constant::E) => std::f64::consts::E,
                Node::Symbol(s) => value_of(*s),
                Node::Sum(c, terms) => {
                    terms.iter().fold(c.to_f64(), |sum, &(k, t)| sum + k.to_f64() * values[t.index()])
                }
                Node::Product(c, factors) => factors
                    .iter()
                    .fold(c.to_f64(), |product, &(b, n)| product * Exponent::of(n).power(values[b.index()])),
                Node::Power(b, n) => values[b.index()].powf(values[n.index()]),
                Node::Function(f, args) => {
                    let second = args.get(1).map_or(0.0, |a| values[a.index()]);
                    evaluate_function(*f, values[args[0].index()], second)
                }
            };
        }
        roots.iter().map(|e| values[e.index()]).collect()
    }

    /// The value of `e`.
    ///
    /// ```
    /// # use carom_expr::Dag;
    /// let mut dag = Dag::new();
    /// let x = dag.symbol("x");
    /// let root = dag.sqrt(x);
    /// assert_eq!(dag.evaluate(root, |_| 9.0), 3.0);
    /// ```
    pub fn evaluate(&self, e: Expr, value_of: impl FnMut(Symbol) -> f64) -> f64 {
        self.evaluate_all(&[e], value_of)[0]
    }
}

/// An exact exponent, by how its power is computed: the frequent ones through correctly rounded operations.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Exponent {
    /// xⁿ by multiplication.
    Whole(i32),
    /// √x
    Root,
    /// 1/√x
    InverseRoot,
    /// Any other.
    Real(f64),
}

impl Exponent {
    /// How the power with exponent `n` is computed.
    ///
    /// ```
    /// # use carom_expr::{Exponent, Rational};
    /// assert_eq!(Exponent::of(Rational::integer(-2)).power(4.0), 0.0625);
    /// assert_eq!(Exponent::of(Rational::new(1, 2).unwrap()), Exponent::Root);
    /// ```
    pub fn of(n: Rational) -> Exponent {
        match (n.to_integer().map(i32::try_from), n.numerator(), n.denominator()) {
            (Some(Ok(n)), ..) => Exponent::Whole(n),
            (_, 1, 2) => Exponent::Root,
            (_, -1, 2) => Exponent::InverseRoot,
            _ => Exponent::Real(n.to_f64()),
        }
    }

    /// x to this exponent.
    pub fn power(self, x: f64) -> f64 {
        match self {
            Exponent::Whole(1) => x,
            Exponent::Whole(n) => x.powi(n),
            Exponent::Root => x.sqrt(),
            Exponent::InverseRoot => 1.0 / x.sqrt(),
            Exponent::Real(n) => x.powf(n),
        }
    }

    /// The exponent itself.
    pub fn value(self) -> f64 {
        match self {
            Exponent::Whole(n) => f64::from(n),
            Exponent::Root => 0.5,
            Exponent::InverseRoot => -0.5,
            Exponent::Real(n) => n,
        }
    }
}

/// `f(x)`, or `f(x, y)` for functions of two arguments.
///
/// ```
/// # use carom_expr::{Function, evaluate_function};
/// assert_eq!(evaluate_function(Function::Max, 1.0, 2.0), 2.0);
/// ```
pub fn evaluate_function(f: Function, x: f64, y: f64) -> f64 {
    match f {
        Function::Exp => x.exp(),
        Function::Log => x.ln(),
        Function::Sin => x.sin(),
        Function::Cos => x.cos(),
        Function::Tan => x.tan(),
        Function::Asin => x.asin(),
        Function::Acos => x.acos(),
        Function::Atan => x.atan(),
        Function::Atan2 => x.atan2(y),
        Function::Sinh => x.sinh(),
        Function::Cosh => x.cosh(),
        Function::Tanh => x.tanh(),
        Function::Asinh => x.asinh(),
        Function::Acosh => x.acosh(),
        Function::Atanh => x.atanh(),
        Function::Abs => x.abs(),
        Function::Sign => match x.partial_cmp(&0.0) {
            Some(std::cmp::Ordering::Less) => -1.0,
            Some(std::cmp::Ordering::Equal) => 0.0,
            Some(std::cmp::Ordering::Greater) => 1.0,
            None => f64::NAN,
        },
        Function::Min => x.min(y),
        Function::Max => x.max(y),
    }
}
