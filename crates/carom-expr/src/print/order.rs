//! The order in which people write terms and factors.
//!
//! What a symbol is, is read off the names present: a name with primes is a rate, a name whose primed version
//! exists changes with time, everything else is a parameter.

use crate::dag::{Dag, Expr, Node};
use crate::number::Rational;
use std::collections::{HashMap, HashSet};

/// What an expression depends on, from what barely changes to what changes most.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Dependence {
    Number,
    Parameter,
    Variable,
    Rate,
    SecondRate,
}

/// For every subexpression seen so far: the class of its liveliest symbol, and its earliest symbol.
#[derive(Clone, Default)]
pub(super) struct Ranks {
    of: HashMap<Expr, (Dependence, u32)>,
}

impl Ranks {
    /// Learns about `root` and everything in it.
    pub fn learn(&mut self, dag: &Dag, root: Expr) {
        let mut stack = vec![root];
        let mut new = Vec::new();
        let mut seen: HashSet<Expr> = HashSet::new();
        while let Some(e) = stack.pop() {
            if !self.of.contains_key(&e) && seen.insert(e) {
                new.push(e);
                dag.for_each_child(e, |child| stack.push(child));
            }
        }
        new.sort_unstable();
        for e in new {
            let mut rank = (Dependence::Number, u32::MAX);
            match dag.node(e) {
                Node::Symbol(s) => rank = (class(dag, dag.symbol_name(*s)), s.0),
                _ => dag.for_each_child(e, |child| {
                    let (class, first) = self.of[&child];
                    rank = (rank.0.max(class), rank.1.min(first));
                }),
            }
            self.of.insert(e, rank);
        }
    }
}

fn class(dag: &Dag, name: &str) -> Dependence {
    if name.ends_with("''") {
        Dependence::SecondRate
    } else if name.ends_with('\'') {
        Dependence::Rate
    } else if name == "t"
        || dag.find_symbol(&format!("{name}'")).is_some()
        || name.strip_prefix("p_").is_some_and(|q| dag.find_symbol(q).is_some())
    {
        Dependence::Variable
    } else {
        Dependence::Parameter
    }
}

/// Factors as people write them: numbers, parameters, variables, rates, sums, powers, functions.
pub(super) fn factors(dag: &Dag, ranks: &Ranks, factors: &[(Expr, Rational)]) -> Vec<(Expr, Rational)> {
    let key = |e: Expr| -> (u8, u32, u8) {
        let (class, first) = ranks.of[&e];
        let sum = u8::from(!matches!(dag.node(e), Node::Symbol(_)));
        match (dag.node(e), class) {
            (Node::Number(_) | Node::Float(_) | Node::Constant(_), _) => (0, 0, 0),
            (Node::Symbol(_) | Node::Sum(..), Dependence::Number | Dependence::Parameter) => (1, first, sum),
            (Node::Symbol(_), Dependence::Variable) => (2, first, 0),
            (Node::Symbol(_), Dependence::Rate) => (3, first, 0),
            (Node::Symbol(_), Dependence::SecondRate) => (4, first, 0),
            (Node::Sum(..), _) => (5, 0, 0),
            (Node::Product(..) | Node::Power(..), _) => (6, 0, 0),
            (Node::Function(..), _) => (7, 0, 0),
        }
    };
    let mut sorted = factors.to_vec();
    sorted.sort_by(|a, b| key(a.0).cmp(&key(b.0)).then_with(|| dag.order(a.0, b.0)));
    sorted
}

/// Terms as people write them, `None` being the constant: positive ones first, more rates first, plain ones before
/// those with functions, then by the first of their liveliest symbols.
pub(super) fn summands(
    dag: &Dag,
    ranks: &Ranks,
    constant: Rational,
    terms: &[(Rational, Expr)],
) -> Vec<(Rational, Option<Expr>)> {
    // Terms arrive in the DAG's order, which stays as the tie breaker: the sort is stable.
    let key = |&(c, term): &(Rational, Expr)| {
        let descending = degree(dag, ranks, term).map(|d| d.negate().unwrap_or(d));
        let (functions, first) = look(dag, ranks, term);
        (c.is_negative(), descending, functions, first)
    };
    let mut sorted = terms.to_vec();
    sorted.sort_by_cached_key(key);
    let mut all: Vec<(Rational, Option<Expr>)> =
        sorted.into_iter().map(|(c, term)| (c, Some(term))).collect();
    if constant.is_negative() {
        all.push((constant, None));
    } else if !constant.is_zero() {
        all.insert(0, (constant, None));
    }
    all
}

/// Does a monomial contain functions, and which is the first of its liveliest symbols?
fn look(dag: &Dag, ranks: &Ranks, term: Expr) -> (bool, u32) {
    let (class, first) = ranks.of[&term];
    let Node::Product(_, factors) = dag.node(term) else {
        return (matches!(dag.node(term), Node::Function(..) | Node::Power(..)), first);
    };
    let functions = factors.iter().any(|f| matches!(dag.node(f.0), Node::Function(..) | Node::Power(..)));
    let live = factors.iter().map(|f| ranks.of[&f.0]).filter(|r| r.0 == class).map(|r| r.1).min();
    (functions, live.unwrap_or(first))
}

/// Degree of a monomial in second rates and in rates.
fn degree(dag: &Dag, ranks: &Ranks, term: Expr) -> [Rational; 2] {
    let mut degree = [Rational::ZERO; 2];
    let mut count = |base: Expr, exponent: Rational| {
        let class = ranks.of[&base].0;
        // A sum or function of rates counts once: what matters is that rates are in it.
        let at = match class {
            Dependence::SecondRate => 0,
            Dependence::Rate => 1,
            _ => return,
        };
        degree[at] = degree[at].add(exponent).unwrap_or(degree[at]);
    };
    match dag.node(term) {
        Node::Product(_, factors) => factors.iter().for_each(|&(base, exponent)| count(base, exponent)),
        _ => count(term, Rational::ONE),
    }
    degree
}
