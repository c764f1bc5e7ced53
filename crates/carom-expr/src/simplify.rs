//! Simplification: the same value, written as a textbook would.

use crate::dag::{Dag, Expr};

impl Dag {
    /// An expression with the same value, as short as the rules can make it.
    pub fn simplify(&mut self, e: Expr) -> Expr {
        self.simplify_all(&[e])[0]
    }

    /// [`Dag::simplify`] for many expressions, sharing the work on common parts.
    pub fn simplify_all(&mut self, roots: &[Expr]) -> Vec<Expr> {
        roots.to_vec()
    }
}
