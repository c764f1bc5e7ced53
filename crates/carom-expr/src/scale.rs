//! Values with their scales: how large the numbers were whose rounding a value carries.
//!
//! ```text
//! s(a ± b) = s_a + s_b     s(a b) = |a| s_b + |b| s_a     s(a/b) = (s_a + |a/b| s_b)/|b|     s(f(a)) = |f′| s_a + |f|
//! ```
//!
//! Symbols bring scales of their own, s ≥ |x|: what they are, and how far they move. A computed value is zero when it is a few
//! units in the last place of its scale. Where f′ is infinite (√ at 0) it is taken where the rounding of the argument ends.

use crate::dag::{Constant, Dag, Expr, Function, Node, Symbol};
use crate::evaluate::evaluate_function;

/// A value and its scale.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scaled {
    /// The value.
    pub value: f64,
    /// How large what it was computed from is; at least |value|.
    pub scale: f64,
}

impl Scaled {
    /// A number that is known to rounding.
    pub fn known(value: f64) -> Scaled {
        Scaled { value, scale: value.abs() }
    }

    /// The scale of xⁿ, given its value.
    #[must_use]
    pub fn power(self, n: f64, value: f64) -> f64 {
        let Scaled { value: x, scale: s } = self;
        let at = x.abs().max(f64::EPSILON * s);
        if at == 0.0 {
            return value.abs();
        }
        let slope = if at == x.abs() { (value / x).abs() } else { at.powf(n - 1.0) };
        n.abs() * slope * s + value.abs()
    }

    /// The scale of √x, given its value.
    #[must_use]
    pub fn root(self, value: f64) -> f64 {
        let slope_at = value.max((f64::EPSILON * self.scale).sqrt());
        if slope_at == 0.0 { 0.0 } else { 0.5 * self.scale / slope_at + value }
    }
}

/// The scale of f(x, y), given its value; y counts where f has two arguments.
pub fn scale_of_function(f: Function, x: Scaled, y: Scaled, value: f64) -> f64 {
    let size = value.abs();
    let Scaled { value: x, scale: s } = x;
    // 1/√w with w no closer to 0 than the rounding of its terms.
    let over_root = |w: f64| 1.0 / w.abs().max(f64::EPSILON * s * (1.0 + x.abs())).sqrt();
    let slope = match f {
        Function::Exp => size,
        Function::Log => 1.0 / x.abs().max(f64::EPSILON * s),
        Function::Sin => x.cos().abs(),
        Function::Cos => x.sin().abs(),
        Function::Tan => 1.0 + value * value,
        Function::Sinh => x.cosh(),
        Function::Cosh => x.sinh().abs(),
        Function::Tanh => (1.0 / x.cosh()).powi(2),
        Function::Asin | Function::Acos => over_root(1.0 - x * x),
        Function::Atan => 1.0 / (1.0 + x * x),
        Function::Asinh => 1.0 / (1.0 + x * x).sqrt(),
        Function::Acosh => over_root(x * x - 1.0),
        Function::Atanh => 1.0 / (1.0 - x * x).abs().max(f64::EPSILON * s),
        Function::Atan2 => {
            let square = x * x + y.value * y.value;
            let moved = y.value.abs() * s + x.abs() * y.scale;
            return if square > 0.0 { moved / square + size } else { size };
        }
        Function::Abs => return s,
        Function::Sign => return size,
        Function::Min | Function::Max => return s.max(y.scale),
    };
    slope * s + size
}

impl Dag {
    /// The value and scale of each of `roots`, given those of every symbol in them.
    ///
    /// ```
    /// # use carom_expr::{Dag, Function, Scaled};
    /// let mut dag = Dag::new();
    /// let x = dag.symbol("x");
    /// let sine = dag.function(Function::Sin, &[x]);
    /// let found = dag.scaled_all(&[sine], |_| Scaled::known(std::f64::consts::PI))[0];
    /// assert!(found.value != 0.0 && found.value.abs() < f64::EPSILON * found.scale);
    /// ```
    pub fn scaled_all(&self, roots: &[Expr], mut of: impl FnMut(Symbol) -> Scaled) -> Vec<Scaled> {
        let none = Scaled::known(0.0);
        let mut known = vec![none; roots.iter().map(|e| e.index() + 1).max().unwrap_or(0)];
        for e in self.reachable(roots) {
            known[e.index()] = match self.node(e) {
                Node::Number(r) => Scaled::known(r.to_f64()),
                Node::Float(x) => Scaled::known(*x),
                Node::Constant(Constant::Pi) => Scaled::known(std::f64::consts::PI),
                Node::Constant(Constant::E) => Scaled::known(std::f64::consts::E),
                Node::Symbol(s) => of(*s),
                Node::Sum(c, terms) => terms.iter().fold(Scaled::known(c.to_f64()), |sum, &(k, t)| {
                    let (k, x) = (k.to_f64(), known[t.index()]);
                    Scaled { value: sum.value + k * x.value, scale: sum.scale + k.abs() * x.scale }
                }),
                Node::Product(c, factors) => {
                    factors.iter().fold(Scaled::known(c.to_f64()), |product, &(b, n)| {
                        let base = known[b.index()];
                        let (value, scale) = match n.to_integer() {
                            Some(1) => (base.value, base.scale),
                            Some(n) if i32::try_from(n).is_ok() => {
                                let value = base.value.powi(n as i32);
                                (value, base.power(n as f64, value))
                            }
                            _ if n.numerator() == 1 && n.denominator() == 2 => {
                                let value = base.value.sqrt();
                                (value, base.root(value))
                            }
                            _ => {
                                let value = base.value.powf(n.to_f64());
                                (value, base.power(n.to_f64(), value))
                            }
                        };
                        let scale = product.value.abs() * scale + value.abs() * product.scale;
                        Scaled { value: product.value * value, scale }
                    })
                }
                Node::Power(b, n) => {
                    let (b, n) = (known[b.index()], known[n.index()]);
                    let value = b.value.powf(n.value);
                    let through =
                        if value == 0.0 { 0.0 } else { (value * b.value.abs().ln()).abs() * n.scale };
                    Scaled { value, scale: b.power(n.value, value) + through }
                }
                Node::Function(f, args) => {
                    let (x, y) = (known[args[0].index()], args.get(1).map_or(none, |a| known[a.index()]));
                    let value = evaluate_function(*f, x.value, y.value);
                    Scaled { value, scale: scale_of_function(*f, x, y, value) }
                }
            };
        }
        roots.iter().map(|e| known[e.index()]).collect()
    }
}
