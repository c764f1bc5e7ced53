//! When two nodes are the same expression: equality and hash of their content, for hash-consing.

use crate::dag::Node;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// Content equality; doubles by their bits, so that −0.0 and 0.0 stay apart.
pub(crate) fn same(a: &Node, b: &Node) -> bool {
    match (a, b) {
        (Node::Float(x), Node::Float(y)) => x.to_bits() == y.to_bits(),
        _ => a == b,
    }
}

/// A hash of the content: nodes that are `same` have the same one.
pub(crate) fn hash(node: &Node) -> u32 {
    let mut hasher = FxHasher::default();
    match node {
        Node::Number(r) => {
            hasher.write_u64(1);
            r.hash(&mut hasher);
        }
        Node::Float(x) => hasher.write_u64(x.to_bits()),
        Node::Constant(c) => hasher.write_u64(2 + *c as u64),
        Node::Symbol(s) => hasher.write_u64(!u64::from(s.0)),
        Node::Sum(c, terms) => {
            hasher.write_u64(5);
            c.hash(&mut hasher);
            for (c, e) in terms.iter() {
                hasher.write_u64(u64::from(e.0));
                c.hash(&mut hasher);
            }
        }
        Node::Product(c, factors) => {
            hasher.write_u64(6);
            c.hash(&mut hasher);
            for (e, n) in factors.iter() {
                hasher.write_u64(u64::from(e.0));
                n.hash(&mut hasher);
            }
        }
        Node::Power(b, n) => {
            hasher.write_u64(7);
            hasher.write_u64(u64::from(b.0) << 32 | u64::from(n.0));
        }
        Node::Function(f, args) => {
            hasher.write_u64(8 + *f as u64);
            args.iter().for_each(|a| hasher.write_u64(u64::from(a.0)));
        }
    }
    hasher.finish() as u32
}
