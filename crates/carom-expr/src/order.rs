//! The structural order of expressions: total, and independent of what else the DAG holds.

use crate::dag::{Dag, Expr, Node};
use std::cmp::Ordering;

impl Dag {
    /// The structural order: numbers, constants, symbols in the order of first use, then compound expressions.
    /// Walks down one path of first differences, so it costs at most the depth.
    ///
    /// ```
    /// # use carom_expr::Dag;
    /// let mut dag = Dag::new();
    /// let (b, a) = (dag.symbol("b"), dag.symbol("a"));
    /// assert!(dag.order(b, a).is_lt());
    /// ```
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
