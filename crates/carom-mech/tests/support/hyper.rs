//! Hyper-dual numbers: x + x₁ε₁ + x₂ε₂ + x₁₂ε₁ε₂ with ε₁² = ε₂² = 0. They differentiate a formula twice, exactly,
//! while it is evaluated, and share no code with symbolic differentiation: an independent derivation.

use carom_expr::{Constant, Dag, Expr, Function, Node};
use std::collections::HashMap;

/// x + x₁ε₁ + x₂ε₂ + x₁₂ε₁ε₂
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hyper {
    pub value: f64,
    pub first: f64,
    pub second: f64,
    pub both: f64,
}

/// A number without infinitesimal parts.
pub fn real(value: f64) -> Hyper {
    Hyper { value, first: 0.0, second: 0.0, both: 0.0 }
}

impl Hyper {
    fn add(self, o: Hyper) -> Hyper {
        Hyper {
            value: self.value + o.value,
            first: self.first + o.first,
            second: self.second + o.second,
            both: self.both + o.both,
        }
    }

    fn mul(self, o: Hyper) -> Hyper {
        Hyper {
            value: self.value * o.value,
            first: self.value * o.first + self.first * o.value,
            second: self.value * o.second + self.second * o.value,
            both: self.value * o.both + self.first * o.second + self.second * o.first + self.both * o.value,
        }
    }

    /// f with its first two derivatives at `self.value`.
    fn lift(self, f: f64, f1: f64, f2: f64) -> Hyper {
        Hyper {
            value: f,
            first: f1 * self.first,
            second: f1 * self.second,
            both: f1 * self.both + f2 * self.first * self.second,
        }
    }

    fn power(self, n: f64) -> Hyper {
        let x = self.value;
        let pow = |x: f64, n: f64| if n.fract() == 0.0 { x.powi(n as i32) } else { x.powf(n) };
        let f1 = if n == 0.0 { 0.0 } else { n * pow(x, n - 1.0) };
        let f2 = if n == 0.0 || n == 1.0 { 0.0 } else { n * (n - 1.0) * pow(x, n - 2.0) };
        self.lift(pow(x, n), f1, f2)
    }
}

fn apply(f: Function, args: &[Hyper]) -> Hyper {
    use Function::*;
    let u = args[0];
    let x = u.value;
    let one = real(1.0);
    match f {
        Exp => u.lift(x.exp(), x.exp(), x.exp()),
        Log => u.lift(x.ln(), 1.0 / x, -1.0 / (x * x)),
        Sin => u.lift(x.sin(), x.cos(), -x.sin()),
        Cos => u.lift(x.cos(), -x.sin(), -x.cos()),
        Tan => {
            let (t, s) = (x.tan(), 1.0 + x.tan().powi(2));
            u.lift(t, s, 2.0 * t * s)
        }
        Asin => u.lift(x.asin(), (1.0 - x * x).powf(-0.5), x * (1.0 - x * x).powf(-1.5)),
        Acos => u.lift(x.acos(), -(1.0 - x * x).powf(-0.5), -x * (1.0 - x * x).powf(-1.5)),
        Atan => u.lift(x.atan(), 1.0 / (1.0 + x * x), -2.0 * x / (1.0 + x * x).powi(2)),
        Atan2 => {
            // the angle's derivatives are those of atan(y/x) or −atan(x/y)
            let (y, w) = (args[0], args[1]);
            let mut angle = if w.value.abs() > y.value.abs() {
                apply(Atan, &[y.mul(w.power(-1.0))])
            } else {
                apply(Atan, &[w.mul(y.power(-1.0))]).mul(real(-1.0))
            };
            angle.value = y.value.atan2(w.value);
            angle
        }
        Sinh => u.lift(x.sinh(), x.cosh(), x.sinh()),
        Cosh => u.lift(x.cosh(), x.sinh(), x.cosh()),
        Tanh => {
            let (t, s) = (x.tanh(), 1.0 - x.tanh().powi(2));
            u.lift(t, s, -2.0 * t * s)
        }
        Asinh => u.lift(x.asinh(), (x * x + 1.0).powf(-0.5), -x * (x * x + 1.0).powf(-1.5)),
        Acosh => u.lift(x.acosh(), (x * x - 1.0).powf(-0.5), -x * (x * x - 1.0).powf(-1.5)),
        Atanh => u.lift(x.atanh(), 1.0 / (1.0 - x * x), 2.0 * x / (1.0 - x * x).powi(2)),
        Abs => u.mul(real(x.signum())),
        Sign => one.mul(real(x.signum())),
        Min => {
            if x <= args[1].value {
                u
            } else {
                args[1]
            }
        }
        Max => {
            if x >= args[1].value {
                u
            } else {
                args[1]
            }
        }
    }
}

/// The value of `e` with every symbol a hyper-dual number.
pub fn hyper(dag: &Dag, e: Expr, symbol: &dyn Fn(Expr) -> Hyper) -> Hyper {
    let mut known: HashMap<Expr, Hyper> = HashMap::new();
    for x in dag.reachable(&[e]) {
        let value = match dag.node(x) {
            Node::Number(r) => real(r.to_f64()),
            Node::Float(f) => real(*f),
            Node::Constant(Constant::Pi) => real(std::f64::consts::PI),
            Node::Constant(Constant::E) => real(std::f64::consts::E),
            Node::Symbol(_) => symbol(x),
            Node::Sum(c, terms) => {
                terms.iter().fold(real(c.to_f64()), |sum, (k, t)| sum.add(known[t].mul(real(k.to_f64()))))
            }
            Node::Product(c, factors) => factors
                .iter()
                .fold(real(c.to_f64()), |product, (b, n)| product.mul(known[b].power(n.to_f64()))),
            Node::Power(b, n) => {
                let log = apply(Function::Log, &[known[b]]);
                apply(Function::Exp, &[log.mul(known[n])])
            }
            Node::Function(f, args) => {
                let args: Vec<Hyper> = args.iter().map(|a| known[a]).collect();
                apply(*f, &args)
            }
        };
        known.insert(x, value);
    }
    known[&e]
}
