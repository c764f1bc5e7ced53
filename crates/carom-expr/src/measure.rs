//! How long an expression is on paper.

use crate::dag::{Constant, Dag, Expr, Node};
use crate::hash::FastMap;
use crate::number::Rational;
use crate::polynomial::{self, UNIT};

/// Lengths of expressions met before.
#[derive(Default)]
pub(crate) struct Lengths {
    known: FastMap<Expr, u64>,
}

impl Lengths {
    /// Characters of `e` written out with one-letter names. Saturates: shared parts count each time.
    pub(crate) fn of(&mut self, dag: &Dag, e: Expr) -> u64 {
        if let Some(&known) = self.known.get(&e) {
            return known;
        }
        let mut stack = vec![e];
        while let Some(&top) = stack.last() {
            let before = stack.len();
            dag.for_each_child(top, |child| {
                if !self.known.contains_key(&child) {
                    stack.push(child);
                }
            });
            if stack.len() == before {
                stack.pop();
                let length = self.of_node(dag, top);
                self.known.insert(top, length);
            }
        }
        self.known[&e]
    }

    fn of_node(&self, dag: &Dag, e: Expr) -> u64 {
        let add = |parts: &mut dyn Iterator<Item = u64>| parts.fold(0, u64::saturating_add);
        match dag.node(e) {
            Node::Number(r) => number(*r),
            Node::Float(_) => 8,
            Node::Constant(Constant::Pi) => 2,
            Node::Constant(Constant::E) | Node::Symbol(_) => 1,
            Node::Sum(c, terms) => {
                let constant = if c.is_zero() { 0 } else { number(*c) + 1 };
                let all = add(&mut terms.iter().map(|&(k, t)| {
                    let bracketed = !k.abs().is_one() && matches!(dag.node(t), Node::Sum(..));
                    self.known[&t].saturating_add(coefficient(k) + 1 + if bracketed { 2 } else { 0 })
                }));
                all.saturating_add(constant) - 1
            }
            Node::Product(c, factors) => {
                let all = add(&mut factors.iter().map(|&(b, n)| {
                    let power = if n.abs().is_one() { 0 } else { number(n.abs()) + 1 };
                    self.factor(dag, b).saturating_add(power + 1)
                }));
                all.saturating_add(coefficient(*c) + u64::from(c.is_negative())) - 1
            }
            Node::Power(b, n) => self.factor(dag, *b).saturating_add(self.factor(dag, *n)).saturating_add(1),
            Node::Function(f, args) => {
                let all = add(&mut args.iter().map(|a| self.known[a].saturating_add(1)));
                all.saturating_add(f.name().len() as u64 + 1)
            }
        }
    }

    /// In brackets where a factor needs them.
    fn factor(&self, dag: &Dag, e: Expr) -> u64 {
        let brackets = matches!(dag.node(e), Node::Sum(..) | Node::Product(..));
        self.known[&e].saturating_add(if brackets { 2 } else { 0 })
    }

    /// Length of `base^(units/UNIT)` as one factor, without its `*`.
    pub(crate) fn of_power(&mut self, dag: &Dag, base: Expr, units: i32) -> u64 {
        self.of(dag, base);
        let power = match units.abs() {
            UNIT => 0,
            n => number(polynomial::exponent(n)) + 1,
        };
        self.factor(dag, base).saturating_add(power)
    }
}

fn digits(n: i128) -> u64 {
    u64::from(n.unsigned_abs().checked_ilog10().unwrap_or(0)) + 1
}

fn number(r: Rational) -> u64 {
    let denominator = if r.is_integer() { 0 } else { digits(r.denominator()) + 1 };
    digits(r.numerator()) + denominator + u64::from(r.is_negative())
}

/// Length of a coefficient with its `*`; its sign is the sum's business.
pub(crate) fn coefficient(c: Rational) -> u64 {
    let numerator = if c.numerator().abs() == 1 { 0 } else { digits(c.numerator()) + 1 };
    let denominator = if c.is_integer() { 0 } else { digits(c.denominator()) + 1 };
    numerator + denominator
}

impl Dag {
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
        Lengths::default().of(self, e)
    }
}
