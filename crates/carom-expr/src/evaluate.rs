//! The reference evaluator: one loop, plain doubles, no cleverness. Faster evaluators are tested against it.

use crate::dag::{Constant, Dag, Expr, Function, Node, Symbol};

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
                Node::Product(c, factors) => factors.iter().fold(c.to_f64(), |product, &(b, n)| {
                    let base = values[b.index()];
                    product
                        * match n.to_integer() {
                            Some(1) => base,
                            Some(n) if i32::try_from(n).is_ok() => base.powi(n as i32),
                            _ if n.numerator() == 1 && n.denominator() == 2 => base.sqrt(),
                            _ => base.powf(n.to_f64()),
                        }
                }),
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
