//! Derivatives and substitution, both as loops over ascending handles.

use crate::FastMap;
use crate::dag::{Dag, Expr, Function, Node, Symbol};
use crate::number::Rational;

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
        // Iterative depth first: only what may depend on x and is not yet known is visited.
        let mut stack = vec![e];
        let mut children = Vec::new();
        while let Some(&top) = stack.last() {
            if self.known_derivative(top, symbol).is_some() {
                stack.pop();
                continue;
            }
            let before = stack.len();
            children.clear();
            self.for_each_child(top, |child| children.push(child));
            for &child in &children {
                if self.known_derivative(child, symbol).is_none() {
                    stack.push(child);
                }
            }
            if stack.len() == before {
                stack.pop();
                let d = self.derivative_of_node(top, symbol);
                self.derivatives.insert((top, symbol), d);
            }
        }
        self.inner_derivative(e, symbol)
    }

    /// `Some(None)` is zero without having been stored.
    fn known_derivative(&self, e: Expr, x: Symbol) -> Option<Option<Expr>> {
        if !self.may_contain(e, x) {
            return Some(None);
        }
        self.derivatives.get(&(e, x)).map(|&d| Some(d))
    }

    /// The derivative of a part, which is known by the time the whole asks for it.
    fn inner_derivative(&mut self, e: Expr, x: Symbol) -> Expr {
        match self.known_derivative(e, x).flatten() {
            Some(d) => d,
            None => self.zero(),
        }
    }

    fn derivative_of_node(&mut self, e: Expr, x: Symbol) -> Expr {
        match self.node(e).clone() {
            Node::Number(_) | Node::Float(_) | Node::Constant(_) => self.zero(),
            Node::Symbol(s) => self.integer(i64::from(s == x)),
            Node::Sum(_, terms) => {
                let mut slopes = Vec::with_capacity(terms.len());
                for &(c, t) in terms.iter() {
                    if let Some(Some(d)) = self.known_derivative(t, x) {
                        slopes.push((c, d));
                    }
                }
                self.linear(Rational::ZERO, &slopes)
            }
            Node::Product(c, factors) => self.product_rule(c, &factors, x),
            Node::Power(base, exponent) => {
                // (b^n)′ = b^n n′ log b + n b^(n−1) b′: no division by b, which may be zero.
                let db = self.inner_derivative(base, x);
                let dn = self.inner_derivative(exponent, x);
                let mut summands = Vec::new();
                if !self.is_zero(dn) {
                    let log = self.function(Function::Log, &[base]);
                    summands.push(self.product(&[e, dn, log]));
                }
                if !self.is_zero(db) {
                    let one = self.one();
                    let less = self.sub(exponent, one);
                    let power = self.power(base, less);
                    summands.push(self.product(&[exponent, power, db]));
                }
                self.sum(&summands)
            }
            Node::Function(f, args) => {
                let mut summands = Vec::new();
                for (i, &arg) in args.iter().enumerate() {
                    let inner = self.inner_derivative(arg, x);
                    if !self.is_zero(inner) {
                        let outer = self.partial(f, &args, i, e);
                        summands.push(self.mul(outer, inner));
                    }
                }
                self.sum(&summands)
            }
        }
    }

    /// (c Π b^n)′. A long product is split in two, (f g)′ = f′g + f g′, so that the result grows like n log n and
    /// not like n².
    fn product_rule(&mut self, c: Rational, factors: &[(Expr, Rational)], x: Symbol) -> Expr {
        const LONG: usize = 32;
        if factors.len() > LONG {
            let (left, right) = factors.split_at(factors.len() / 2);
            let (dl, dr) = (self.product_rule(c, left, x), self.product_rule(c, right, x));
            let (f, g) = (self.monomials(Rational::ONE, left), self.monomials(Rational::ONE, right));
            let (a, b) = (self.mul(dl, g), self.mul(f, dr));
            return self.add(a, b);
        }
        let mut summands = Vec::new();
        for (i, &(base, _)) in factors.iter().enumerate() {
            let Some(Some(inner)) = self.known_derivative(base, x) else { continue };
            if !self.is_zero(inner) {
                summands.push(self.factor_slope(c, factors, i, inner));
            }
        }
        self.sum(&summands)
    }

    /// c Π b^n with factor i differentiated, times `inner`: (b^n)′ = n b^(n−1) b′. The factor n and the exponent −1 are factors
    /// of their own, so that numbers too large to be exact are handled where products are built.
    pub(crate) fn factor_slope(
        &mut self,
        c: Rational,
        factors: &[(Expr, Rational)],
        i: usize,
        inner: Expr,
    ) -> Expr {
        let (base, exponent) = factors[i];
        let mut powers: Vec<(Expr, Rational)> = factors.to_vec();
        match exponent.subtract(Rational::ONE) {
            Some(less) => powers[i].1 = less,
            None => powers.push((base, Rational::MINUS_ONE)),
        }
        powers.push((inner, Rational::ONE));
        let k = match c.multiply(exponent) {
            Some(k) => k,
            None => {
                let n = self.number(exponent);
                powers.push((n, Rational::ONE));
                c
            }
        };
        self.monomials(k, &powers)
    }

    /// ∂f/∂(argument i), with `value` = f(args).
    pub(crate) fn partial(&mut self, f: Function, args: &[Expr], i: usize, value: Expr) -> Expr {
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
    ///
    /// ```
    /// # use carom_expr::Dag;
    /// let mut dag = Dag::new();
    /// let (x, y) = (dag.symbol("x"), dag.symbol("y"));
    /// assert_eq!(dag.substitute_all(&[x, y], &[(x, y), (y, x)]), vec![y, x]);
    /// ```
    pub fn substitute_all(&mut self, roots: &[Expr], replacements: &[(Expr, Expr)]) -> Vec<Expr> {
        let mut new: FastMap<Expr, Expr> = replacements.iter().copied().collect();
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
    ///
    /// ```
    /// # use carom_expr::Dag;
    /// let mut dag = Dag::new();
    /// let (x, two) = (dag.symbol("x"), dag.integer(2));
    /// let square = dag.powi(x, 2);
    /// assert_eq!(dag.substitute(square, &[(x, two)]), dag.integer(4));
    /// ```
    pub fn substitute(&mut self, e: Expr, replacements: &[(Expr, Expr)]) -> Expr {
        self.substitute_all(&[e], replacements)[0]
    }
}
