//! What an expression is made of: children, everything below, symbols.

use crate::dag::{Dag, Expr, Node, Symbol};

impl Dag {
    /// Calls `visit` for each direct child of `e`.
    ///
    /// ```
    /// # use carom_expr::*;
    /// let mut dag = Dag::new();
    /// let x = dag.symbol("x");
    /// let sin = dag.function(Function::Sin, &[x]);
    /// dag.for_each_child(sin, |child| assert_eq!(child, x));
    /// ```
    pub fn for_each_child(&self, e: Expr, mut visit: impl FnMut(Expr)) {
        match self.node(e) {
            Node::Number(_) | Node::Float(_) | Node::Constant(_) | Node::Symbol(_) => {}
            Node::Sum(_, terms) => terms.iter().for_each(|t| visit(t.1)),
            Node::Product(_, factors) => factors.iter().for_each(|t| visit(t.0)),
            Node::Power(b, n) => {
                visit(*b);
                visit(*n);
            }
            Node::Function(_, args) => args.iter().for_each(|&a| visit(a)),
        }
    }

    /// All expressions that `roots` are made of, themselves included, in ascending order: children first.
    ///
    /// ```
    /// # use carom_expr::*;
    /// let mut dag = Dag::new();
    /// let x = dag.symbol("x");
    /// let sin = dag.function(Function::Sin, &[x]);
    /// assert_eq!(dag.reachable(&[sin]), vec![x, sin]);
    /// ```
    pub fn reachable(&self, roots: &[Expr]) -> Vec<Expr> {
        let mut seen = vec![false; roots.iter().map(|e| e.index() + 1).max().unwrap_or(0)];
        let mut stack: Vec<Expr> = roots.to_vec();
        let mut found = Vec::new();
        while let Some(e) = stack.pop() {
            if !std::mem::replace(&mut seen[e.index()], true) {
                found.push(e);
                self.for_each_child(e, |child| stack.push(child));
            }
        }
        found.sort_unstable();
        found
    }

    /// The symbols that occur in `roots`, in their order of first use.
    ///
    /// ```
    /// # use carom_expr::*;
    /// let mut dag = Dag::new();
    /// let (x, y) = (dag.symbol("x"), dag.symbol("y"));
    /// let product = dag.mul(x, y);
    /// assert_eq!(dag.symbols_in(&[product]).len(), 2);
    /// ```
    pub fn symbols_in(&self, roots: &[Expr]) -> Vec<Symbol> {
        let mut found: Vec<Symbol> =
            self.reachable(roots).into_iter().filter_map(|e| self.as_symbol(e)).collect();
        found.sort_unstable();
        found
    }

    /// Does `symbol` occur in `e`?
    ///
    /// ```
    /// # use carom_expr::Dag;
    /// let mut dag = Dag::new();
    /// let (x, y) = (dag.symbol("x"), dag.symbol("y"));
    /// let square = dag.powi(x, 2);
    /// assert!(dag.contains(square, x) && !dag.contains(square, y));
    /// ```
    pub fn contains(&self, e: Expr, symbol: Expr) -> bool {
        let Some(s) = self.as_symbol(symbol) else { return self.reachable(&[e]).contains(&symbol) };
        if !self.may_contain(e, s) {
            return false;
        }
        // With up to 64 symbols the bits are exact.
        self.symbol_count() <= 64 || self.reachable(&[e]).binary_search(&symbol).is_ok()
    }
}
