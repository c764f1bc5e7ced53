//! Derivatives and substitution, both as loops over ascending handles.

use crate::dag::{Dag, Expr, Function, Node, Symbol};
use crate::number::Rational;
use std::collections::HashMap;

impl Dag {
    /// ∂e/∂x. Of piecewise functions, the derivative away from the switching surface: |u|′ = sign(u) u′.
    ///
    /// ```
    /// # use carom_expr::Dag;
    /// let mut dag = Dag::new();
    /// let x = dag.symbol("x");
    /// let square = dag.powi(x, 2);
    /// let two_x = dag.sum(&[x, x]);
    /// assert_eq!(dag.derivative(square, x), two_x);
    /// ```
    ///
    /// # Panics
    /// When `x` is not a symbol.
    pub fn derivative(&mut self, e: Expr, x: Expr) -> Expr {
        let symbol = self.as_symbol(x).expect("derivatives are taken with respect to a symbol");
        if let Some(&known) = self.derivatives.get(&(e, symbol)) {
            return known;
        }
        // Iterative depth first: only what depends on x and is not yet known is visited.
        let mut stack = vec![e];
        while let Some(&top) = stack.last() {
            if self.derivatives.contains_key(&(top, symbol)) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            let mut missing = Vec::new();
            self.for_each_child(top, |child| missing.push(child));
            for child in missing {
                if !self.derivatives.contains_key(&(child, symbol)) {
                    stack.push(child);
                }
            }
            if stack.len() == before {
                stack.pop();
                let d = self.derivative_of_node(top, symbol);
                self.derivatives.insert((top, symbol), d);
            }
        }
        self.derivatives[&(e, symbol)]
    }

    fn derivative_of_node(&mut self, e: Expr, x: Symbol) -> Expr {
        match self.node(e).clone() {
            Node::Number(_) | Node::Float(_) | Node::Constant(_) => self.zero(),
            Node::Symbol(s) => self.integer(i64::from(s == x)),
            Node::Sum(_, terms) => {
                let terms: Vec<(Rational, Expr)> =
                    terms.iter().map(|&(c, t)| (c, self.derivatives[&(t, x)])).collect();
                self.linear(Rational::ZERO, &terms)
            }
            Node::Product(c, factors) => {
                let mut summands = Vec::new();
                for (i, &(base, exponent)) in factors.iter().enumerate() {
                    let inner = self.derivatives[&(base, x)];
                    if self.is_zero(inner) {
                        continue;
                    }
                    let mut powers: Vec<(Expr, Rational)> = factors.to_vec();
                    powers[i].1 = exponent.subtract(Rational::ONE).unwrap_or(exponent);
                    powers.push((inner, Rational::ONE));
                    let k = c.multiply(exponent).unwrap_or(Rational::ZERO);
                    summands.push(self.monomials(k, &powers));
                }
                self.sum(&summands)
            }
            Node::Power(base, exponent) => {
                // (b^n)′ = b^n (n′ log b + n b′/b)
                let (db, dn) = (self.derivatives[&(base, x)], self.derivatives[&(exponent, x)]);
                let mut inner = Vec::new();
                if !self.is_zero(dn) {
                    let log = self.function(Function::Log, &[base]);
                    inner.push(self.mul(dn, log));
                }
                if !self.is_zero(db) {
                    let ratio = self.div(db, base);
                    inner.push(self.mul(exponent, ratio));
                }
                let inner = self.sum(&inner);
                self.mul(e, inner)
            }
            Node::Function(f, args) => {
                let mut summands = Vec::new();
                for (i, &arg) in args.iter().enumerate() {
                    let inner = self.derivatives[&(arg, x)];
                    if !self.is_zero(inner) {
                        let outer = self.partial(f, &args, i, e);
                        summands.push(self.mul(outer, inner));
                    }
                }
                self.sum(&summands)
            }
        }
    }

    /// ∂f/∂(argument i), with `value` = f(args).
    fn partial(&mut self, f: Function, args: &[Expr], i: usize, value: Expr) -> Expr {
        use Function::*;
        let u = args[0];
        let one = self.one();
        match f {
            Exp => value,
            Log => self.div(one, u),
            Sin => self.function(Cos, &[u]),
            Cos => {
                let sin = self.function(Sin, &[u]);
                self.neg(sin)
            }
            Tan => {
                let square = self.powi(value, 2);
                self.add(one, square)
            }
            Asin | Acos => {
                let square = self.powi(u, 2);
                let inside = self.sub(one, square);
                let d = self.rational_power(inside, Rational::new(-1, 2).expect("nonzero"));
                if f == Asin { d } else { self.neg(d) }
            }
            Atan => {
                let square = self.powi(u, 2);
                let inside = self.add(one, square);
                self.div(one, inside)
            }
            Atan2 => {
                // atan2(y, x): ∂/∂y = x/(x²+y²), ∂/∂x = −y/(x²+y²)
                let (y, x) = (args[0], args[1]);
                let (y2, x2) = (self.powi(y, 2), self.powi(x, 2));
                let radius = self.add(x2, y2);
                if i == 0 {
                    self.div(x, radius)
                } else {
                    let ratio = self.div(y, radius);
                    self.neg(ratio)
                }
            }
            Sinh => self.function(Cosh, &[u]),
            Cosh => self.function(Sinh, &[u]),
            Tanh => {
                let square = self.powi(value, 2);
                self.sub(one, square)
            }
            Asinh | Acosh => {
                let square = self.powi(u, 2);
                let inside = if f == Asinh { self.add(square, one) } else { self.sub(square, one) };
                self.rational_power(inside, Rational::new(-1, 2).expect("nonzero"))
            }
            Atanh => {
                let square = self.powi(u, 2);
                let inside = self.sub(one, square);
                self.div(one, inside)
            }
            Abs => self.function(Sign, &[u]),
            Sign => self.zero(),
            Min | Max => {
                // min(a, b) = (a + b − |a − b|)/2, so ∂min/∂a = (1 − s)/2 with s = sign(a − b); max flips s.
                let difference = self.sub(args[0], args[1]);
                let s = self.function(Sign, &[difference]);
                let s = if (f == Min) == (i == 0) { self.neg(s) } else { s };
                let twice = self.add(one, s);
                self.scale(Rational::HALF, twice)
            }
        }
    }

    /// Replaces symbols by expressions, all at once, in each of `roots`.
    pub fn substitute_all(&mut self, roots: &[Expr], replacements: &[(Expr, Expr)]) -> Vec<Expr> {
        let mut new: HashMap<Expr, Expr> = replacements.iter().copied().collect();
        for e in self.reachable(roots) {
            if new.contains_key(&e) {
                continue;
            }
            let rebuilt = match self.node(e).clone() {
                Node::Number(_) | Node::Float(_) | Node::Constant(_) | Node::Symbol(_) => e,
                Node::Sum(c, terms) => {
                    let mapped: Vec<(Rational, Expr)> = terms.iter().map(|&(k, t)| (k, new[&t])).collect();
                    if mapped[..] == terms[..] { e } else { self.linear(c, &mapped) }
                }
                Node::Product(c, factors) => {
                    if factors.iter().all(|&(b, _)| new[&b] == b) {
                        e
                    } else {
                        let mut parts = Vec::with_capacity(factors.len() + 1);
                        for &(b, n) in factors.iter() {
                            parts.push(self.rational_power(new[&b], n));
                        }
                        let all = self.product(&parts);
                        self.scale(c, all)
                    }
                }
                Node::Power(b, n) => self.power(new[&b], new[&n]),
                Node::Function(f, args) => {
                    let mapped: Vec<Expr> = args.iter().map(|a| new[a]).collect();
                    self.function(f, &mapped)
                }
            };
            new.insert(e, rebuilt);
        }
        roots.iter().map(|e| new[e]).collect()
    }

    /// Replaces symbols by expressions, all at once.
    pub fn substitute(&mut self, e: Expr, replacements: &[(Expr, Expr)]) -> Expr {
        self.substitute_all(&[e], replacements)[0]
    }
}
