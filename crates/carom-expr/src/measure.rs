//! How long an expression is on paper.
//!
//! Every node knows its length from the moment it is made: characters written out with one-letter names. Shared parts
//! count each time, so lengths saturate.

use crate::dag::{Constant, Dag, Expr, Node};
use crate::number::Rational;
use crate::polynomial::{self, UNIT};

/// Length of a node whose children are in the DAG.
pub(crate) fn of_node(dag: &Dag, node: &Node) -> u64 {
    let add = |parts: &mut dyn Iterator<Item = u64>| parts.fold(0, u64::saturating_add);
    match node {
        Node::Number(r) => number(*r),
        Node::Float(_) => 8,
        Node::Constant(Constant::Pi) => 2,
        Node::Constant(Constant::E) | Node::Symbol(_) => 1,
        Node::Sum(c, terms) => {
            let constant = if c.is_zero() { 0 } else { number(*c) + 1 };
            let all = add(&mut terms.iter().map(|&(k, t)| {
                let bracketed = !k.abs().is_one() && matches!(dag.node(t), Node::Sum(..));
                dag.length(t).saturating_add(coefficient(k) + 1 + if bracketed { 2 } else { 0 })
            }));
            // With a positive summand to begin with, every sign but the first is the `+` or `-` between two.
            let positive = terms.iter().any(|t| !t.0.is_negative()) || (!c.is_zero() && !c.is_negative());
            all.saturating_add(constant).saturating_sub(u64::from(positive))
        }
        Node::Product(c, factors) => {
            let all = add(&mut factors.iter().map(|&(b, n)| {
                let power = if n.abs().is_one() { 0 } else { number(n.abs()) + 1 };
                factor(dag, b).saturating_add(power + 1)
            }));
            all.saturating_add(coefficient(*c) + u64::from(c.is_negative())).saturating_sub(1)
        }
        Node::Power(b, n) => factor(dag, *b).saturating_add(factor(dag, *n)).saturating_add(1),
        Node::Function(f, args) => {
            let all = add(&mut args.iter().map(|&a| dag.length(a).saturating_add(1)));
            all.saturating_add(f.name().len() as u64 + 1)
        }
    }
}

/// In brackets where a factor needs them.
fn factor(dag: &Dag, e: Expr) -> u64 {
    let brackets = matches!(dag.node(e), Node::Sum(..) | Node::Product(..));
    dag.length(e).saturating_add(if brackets { 2 } else { 0 })
}

/// Length of `base^(units/UNIT)` as one factor, without its `*`.
pub(crate) fn of_power(dag: &Dag, base: Expr, units: i32) -> u64 {
    let power = match units.abs() {
        UNIT => 0,
        n => number(polynomial::exponent(n)) + 1,
    };
    factor(dag, base).saturating_add(power)
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
