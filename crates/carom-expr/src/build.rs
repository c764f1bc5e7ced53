//! Building sums, products and powers in canonical form.
//!
//! Arithmetic on coefficients is exact. Where a result does not fit 128 bits the coefficient becomes the nearest double
//! (one rounding, as in any evaluation); a power too large to write out (`3^100`) stays a factor of its own.

use crate::dag::{Constant, Dag, Expr, Function, Node};
use crate::number::Rational;
use crate::parts::{self, ProductParts};

impl Dag {
    // ---- sums --------------------------------------------------------------------------------------------

    /// `a + b + …`
    ///
    /// ```
    /// # use carom_expr::Dag;
    /// let mut dag = Dag::new();
    /// let (x, y) = (dag.symbol("x"), dag.symbol("y"));
    /// assert_eq!(dag.sum(&[x, y, x]), dag.sum(&[y, x, x]));
    /// ```
    pub fn sum(&mut self, summands: &[Expr]) -> Expr {
        let weighted: Vec<(Rational, Expr)> = summands.iter().map(|&e| (Rational::ONE, e)).collect();
        self.linear(Rational::ZERO, &weighted)
    }

    /// `a + b`
    ///
    /// ```
    /// # use carom_expr::Dag;
    /// let mut dag = Dag::new();
    /// let (two, three) = (dag.integer(2), dag.integer(3));
    /// assert_eq!(dag.add(two, three), dag.integer(5));
    /// ```
    pub fn add(&mut self, a: Expr, b: Expr) -> Expr {
        self.sum(&[a, b])
    }

    /// `a − b`
    ///
    /// ```
    /// # use carom_expr::Dag;
    /// let mut dag = Dag::new();
    /// let x = dag.symbol("x");
    /// assert_eq!(dag.sub(x, x), dag.zero());
    /// ```
    pub fn sub(&mut self, a: Expr, b: Expr) -> Expr {
        self.linear(Rational::ZERO, &[(Rational::ONE, a), (Rational::MINUS_ONE, b)])
    }

    /// `constant + Σ c·e`, inner sums opened, like terms collected.
    ///
    /// ```
    /// # use carom_expr::{Dag, Rational};
    /// let mut dag = Dag::new();
    /// let x = dag.symbol("x");
    /// let e = dag.linear(Rational::ONE, &[(Rational::HALF, x), (Rational::HALF, x)]);
    /// let one = dag.one();
    /// assert_eq!(e, dag.add(one, x));
    /// ```
    pub fn linear(&mut self, constant: Rational, summands: &[(Rational, Expr)]) -> Expr {
        if let ([(c, e)], true) = (summands, constant.is_zero())
            && c.is_one()
        {
            return *e;
        }
        let mut total = constant;
        let mut floats = 0.0;
        let mut terms: Vec<(Rational, Expr)> = Vec::with_capacity(summands.len());
        for &(c, e) in summands {
            self.open_summand(c, e, &mut total, &mut floats, &mut terms);
        }
        if floats != 0.0 {
            match Rational::from_f64(floats).and_then(|r| total.add(r)) {
                Some(sum) => total = sum,
                None => {
                    if (floats + total.to_f64()).is_finite() {
                        floats += total.to_f64();
                        total = Rational::ZERO;
                    }
                    let e = self.float(floats);
                    match self.as_number(e) {
                        Some(r) => total = r,
                        None => terms.push((Rational::ONE, e)),
                    }
                }
            }
        }
        self.collect_like(&mut terms);
        if self.has_doubles {
            self.join_doubles(&mut terms);
        }
        match (total.is_zero(), terms.as_slice()) {
            (_, []) => self.number(total),
            (true, &[(c, e)]) => self.scale(c, e),
            _ => self.intern(Node::Sum(total, terms.into())),
        }
    }

    /// Adds `c·e` to the parts of a sum. Opens sums and numeric multiples of sums, one level.
    fn open_summand(
        &mut self,
        c: Rational,
        e: Expr,
        total: &mut Rational,
        floats: &mut f64,
        terms: &mut Vec<(Rational, Expr)>,
    ) {
        if c.is_zero() {
            return;
        }
        match self.node(e) {
            Node::Number(r) => match c.multiply(*r).and_then(|p| total.add(p)) {
                Some(sum) => *total = sum,
                None => *floats += c.to_f64() * r.to_f64(),
            },
            Node::Float(x) => {
                let scaled = c.to_f64() * x;
                if scaled.is_normal() && (*floats + scaled).is_finite() {
                    *floats += scaled;
                } else {
                    let product = self.scale(c, e);
                    terms.push(self.as_term(product));
                }
            }
            Node::Sum(constant, inner) => {
                let (constant, inner) = (*constant, inner.clone());
                match c.multiply(constant).and_then(|k| total.add(k)) {
                    Some(sum) => *total = sum,
                    None => *floats += c.to_f64() * constant.to_f64(),
                }
                for &(k, t) in inner.iter() {
                    self.push_scaled(c, k, t, total, floats, terms);
                }
            }
            Node::Product(k, factors) if !k.is_one() => {
                let k = *k;
                let factors = factors.clone();
                let bare = self.monomial(factors);
                if matches!(self.node(bare), Node::Sum(..)) {
                    match c.multiply(k) {
                        Some(ck) => self.open_summand(ck, bare, total, floats, terms),
                        None => {
                            let term = self.weighted(c.to_f64() * k.to_f64(), bare);
                            terms.push(term);
                        }
                    }
                } else {
                    self.push_scaled(c, k, bare, total, floats, terms);
                }
            }
            _ => terms.push((c, e)),
        }
    }

    /// Adds the term `c·k·e` of an inner sum or product.
    fn push_scaled(
        &mut self,
        c: Rational,
        k: Rational,
        e: Expr,
        total: &mut Rational,
        floats: &mut f64,
        terms: &mut Vec<(Rational, Expr)>,
    ) {
        match c.multiply(k) {
            // A double is a number wherever it stands: there is one of them in a sum.
            Some(ck) if matches!(self.node(e), Node::Float(_)) => {
                self.open_summand(ck, e, total, floats, terms);
            }
            Some(ck) => terms.push((ck, e)),
            None => {
                let term = self.weighted(c.to_f64() * k.to_f64(), e);
                terms.push(term);
            }
        }
    }

    /// `x·e` as a term of a sum.
    fn weighted(&mut self, x: f64, e: Expr) -> (Rational, Expr) {
        match Rational::from_f64(x) {
            Some(r) => (r, e),
            None => {
                let float = self.intern(Node::Float(x));
                let product = self.mul(float, e);
                self.as_term(product)
            }
        }
    }

    /// An expression as coefficient and term.
    fn as_term(&mut self, e: Expr) -> (Rational, Expr) {
        match self.node(e) {
            Node::Product(k, factors) if !k.is_one() => {
                let (k, factors) = (*k, factors.clone());
                (k, self.monomial(factors))
            }
            _ => (Rational::ONE, e),
        }
    }

    /// Joins coefficients to the doubles among the factors of their terms: a product has one number.
    fn join_doubles(&mut self, terms: &mut Vec<(Rational, Expr)>) {
        let double = |dag: &Dag, e: Expr| match dag.node(e) {
            Node::Product(_, factors) => {
                factors.iter().any(|&(b, n)| n.is_one() && matches!(dag.node(b), Node::Float(_)))
            }
            _ => false,
        };
        let mut joined = false;
        for term in terms.iter_mut() {
            if !term.0.abs().is_one() && double(self, term.1) {
                let product = self.scale(term.0, term.1);
                *term = self.as_term(product);
                joined = true;
            }
        }
        if joined {
            self.collect_like(terms);
        }
    }

    /// Sorts terms and adds up coefficients of equal ones.
    fn collect_like(&mut self, terms: &mut Vec<(Rational, Expr)>) {
        let sorted = terms.windows(2).all(|w| self.order(w[0].1, w[1].1).is_lt());
        if sorted {
            return;
        }
        terms.sort_by(|a, b| self.order(a.1, b.1));
        let mut inexact = Vec::new();
        let mut kept = 0;
        for i in 0..terms.len() {
            let (c, e) = terms[i];
            if kept > 0 && terms[kept - 1].1 == e {
                match terms[kept - 1].0.add(c) {
                    Some(sum) if sum.is_zero() => kept -= 1,
                    Some(sum) => terms[kept - 1].0 = sum,
                    None => {
                        inexact.push((terms[kept - 1].0.to_f64() + c.to_f64(), e));
                        kept -= 1;
                    }
                }
            } else {
                terms[kept] = (c, e);
                kept += 1;
            }
        }
        terms.truncate(kept);
        if !inexact.is_empty() {
            for (x, e) in inexact {
                let term = self.weighted(x, e);
                terms.push(term);
            }
            self.collect_like(terms);
        }
    }

    /// `c·e` for a number c: absorbed by products, kept outside sums.
    ///
    /// ```
    /// # use carom_expr::{Dag, Rational};
    /// let mut dag = Dag::new();
    /// let x = dag.symbol("x");
    /// let half = dag.scale(Rational::HALF, x);
    /// assert_eq!(dag.scale(Rational::integer(2), half), x);
    /// ```
    pub fn scale(&mut self, c: Rational, e: Expr) -> Expr {
        if c.is_zero() {
            return self.zero();
        }
        if c.is_one() {
            return e;
        }
        match self.node(e) {
            Node::Number(_) | Node::Float(_) => self.monomials(c, &[(e, Rational::ONE)]),
            Node::Product(k, factors) => {
                let float = factors.iter().any(|&(b, _)| matches!(self.node(b), Node::Float(_)));
                match c.multiply(*k) {
                    Some(ck) if !float => {
                        let factors = factors.clone();
                        if ck.is_one() {
                            self.monomial(factors)
                        } else {
                            self.intern(Node::Product(ck, factors))
                        }
                    }
                    _ => self.monomials(c, &[(e, Rational::ONE)]),
                }
            }
            _ => self.intern(Node::Product(c, Box::new([(e, Rational::ONE)]))),
        }
    }

    /// `−e`
    ///
    /// ```
    /// # use carom_expr::Dag;
    /// let mut dag = Dag::new();
    /// let x = dag.symbol("x");
    /// let minus = dag.neg(x);
    /// assert_eq!(dag.neg(minus), x);
    /// ```
    pub fn neg(&mut self, e: Expr) -> Expr {
        self.scale(Rational::MINUS_ONE, e)
    }

    // ---- products ----------------------------------------------------------------------------------------

    /// The product of factors that are already canonical, with coefficient 1.
    fn monomial(&mut self, factors: Box<[(Expr, Rational)]>) -> Expr {
        match *factors {
            [] => self.one(),
            [(base, exponent)] if exponent.is_one() => base,
            _ => self.intern(Node::Product(Rational::ONE, factors)),
        }
    }

    /// `a b …`
    ///
    /// ```
    /// # use carom_expr::Dag;
    /// let mut dag = Dag::new();
    /// let (x, y) = (dag.symbol("x"), dag.symbol("y"));
    /// assert_eq!(dag.product(&[x, y, x]), dag.product(&[y, x, x]));
    /// ```
    pub fn product(&mut self, factors: &[Expr]) -> Expr {
        let powers: Vec<(Expr, Rational)> = factors.iter().map(|&e| (e, Rational::ONE)).collect();
        self.monomials(Rational::ONE, &powers)
    }

    /// `a b`
    ///
    /// ```
    /// # use carom_expr::Dag;
    /// let mut dag = Dag::new();
    /// let (x, zero) = (dag.symbol("x"), dag.zero());
    /// assert_eq!(dag.mul(x, zero), zero);
    /// ```
    pub fn mul(&mut self, a: Expr, b: Expr) -> Expr {
        self.product(&[a, b])
    }

    /// `a / b`
    ///
    /// ```
    /// # use carom_expr::Dag;
    /// let mut dag = Dag::new();
    /// let (x, y) = (dag.symbol("x"), dag.symbol("y"));
    /// let quotient = dag.div(x, y);
    /// assert_eq!(dag.mul(quotient, y), x);
    /// ```
    pub fn div(&mut self, a: Expr, b: Expr) -> Expr {
        self.monomials(Rational::ONE, &[(a, Rational::ONE), (b, Rational::MINUS_ONE)])
    }

    /// `coefficient·Π base^exponent`, equal bases merged. A zero factor makes the product zero.
    ///
    /// ```
    /// # use carom_expr::{Dag, Rational};
    /// let mut dag = Dag::new();
    /// let x = dag.symbol("x");
    /// let root = (x, Rational::HALF);
    /// assert_eq!(dag.monomials(Rational::ONE, &[root, root]), x);
    /// ```
    pub fn monomials(&mut self, coefficient: Rational, powers: &[(Expr, Rational)]) -> Expr {
        let mut parts = ProductParts::new(coefficient, powers.len());
        for &(base, exponent) in powers {
            self.open_factor(base, exponent, &mut parts);
        }
        loop {
            // Merging may make whole powers of what was a root: 2^(1/2)·2^(1/2), ((a b)^(1/2))². Those open further.
            while self.merge_equal(&mut parts.factors) {
                for (base, exponent) in std::mem::take(&mut parts.factors) {
                    self.open_factor(base, exponent, &mut parts);
                }
            }
            if parts.exact.is_zero() {
                return self.zero();
            }
            if parts.float != 1.0 {
                parts.join();
            }
            let shift = std::mem::take(&mut parts.shift);
            if shift != 0 {
                parts.factors.push((self.integer(2), Rational::integer(shift)));
            } else if !self.absorb_power_of_two(&mut parts) {
                break;
            }
        }
        if parts.float != 1.0 {
            let e = self.intern(Node::Float(parts.float));
            let at = parts.factors.partition_point(|f| self.order(f.0, e).is_lt());
            parts.factors.insert(at, (e, Rational::ONE));
        }
        match (parts.exact.is_one(), parts.factors.as_slice()) {
            (_, []) => self.number(parts.exact),
            (true, &[(base, exponent)]) if exponent.is_one() => base,
            (false, &[(base, exponent)]) if exponent.is_one() && parts.exact == Rational::MINUS_ONE => {
                // A negative double by itself is one number.
                let whole = match *self.node(base) {
                    Node::Float(x) => Node::Float(-x),
                    _ => Node::Product(parts.exact, parts.factors.into()),
                };
                self.intern(whole)
            }
            _ => self.intern(Node::Product(parts.exact, parts.factors.into())),
        }
    }

    /// A double and a power of two that make a double together are one.
    fn absorb_power_of_two(&mut self, parts: &mut ProductParts) -> bool {
        let two = Node::Number(Rational::integer(2));
        if parts.float == 1.0 {
            return false;
        }
        let Some(at) = parts.factors.iter().position(|f| f.1.is_integer() && *self.node(f.0) == two) else {
            return false;
        };
        let joint = parts.factors[at].1.to_integer().and_then(|k| parts::shifted(parts.float, k));
        if let Some(joint) = joint {
            parts.float = joint;
            parts.factors.remove(at);
        }
        joint.is_some()
    }

    /// Multiplies by `base^exponent`, opening numbers and products where that is an identity.
    fn open_factor(&mut self, base: Expr, exponent: Rational, parts: &mut ProductParts) {
        let mut next = Some((base, exponent));
        while let Some((base, exponent)) = next {
            self.open_one(base, exponent, parts);
            next = parts.pending.pop();
        }
    }

    fn open_one(&mut self, base: Expr, exponent: Rational, parts: &mut ProductParts) {
        if exponent.is_zero() {
            return;
        }
        let whole = exponent.to_integer();
        match self.node(base) {
            Node::Number(r) if r.is_zero() => {
                if exponent.is_negative() {
                    parts.factors.push((base, exponent));
                } else {
                    parts.exact = Rational::ZERO;
                }
            }
            Node::Number(r) => {
                let value = match whole {
                    Some(n) => r.power(n),
                    None => parts::exact_root(*r, exponent),
                };
                if !value.is_some_and(|p| parts.multiply(p)) {
                    parts.factors.push((base, exponent));
                }
            }
            Node::Float(x) => {
                let value = if exponent.is_one() { *x } else { x.powf(exponent.to_f64()) };
                if !(value.is_finite() && parts.multiply_float(value)) {
                    parts.factors.push((base, exponent));
                }
            }
            // (k Π bᵉ)^n = kⁿ Π b^(e n) for whole n.
            Node::Product(k, inner) if exponent.is_integer() => {
                let scaled: Option<Vec<(Expr, Rational)>> =
                    inner.iter().map(|&(b, e)| Some((b, e.multiply(exponent)?))).collect();
                let k = whole.and_then(|n| k.power(n));
                match (scaled, k) {
                    (Some(scaled), Some(k)) if parts.multiply(k) => parts.pending.extend(scaled),
                    _ => parts.factors.push((base, exponent)),
                }
            }
            // (b^e)^r with r not whole is b^(e r) only where b^e ≥ 0 was the domain anyway, which is when e itself
            // is not whole. sqrt(x^2) stays as it is: it is |x|, not x.
            Node::Product(k, inner) if k.is_one() => match **inner {
                [(b, e)] if !e.is_integer() => match e.multiply(exponent) {
                    Some(er) => parts.pending.push((b, er)),
                    None => parts.factors.push((base, exponent)),
                },
                _ => parts.factors.push((base, exponent)),
            },
            // sqrt(4 a) = 2 sqrt(a): a positive factor can always leave the root.
            Node::Product(k, inner) => match parts::exact_root(*k, exponent) {
                Some(root) if parts.multiply(root) => {
                    let inner = inner.clone();
                    let bare = self.monomial(inner);
                    parts.pending.push((bare, exponent));
                }
                _ => parts.factors.push((base, exponent)),
            },
            // |u|² = u²
            Node::Function(Function::Abs, args) if whole.is_some_and(|n| n % 2 == 0) => {
                parts.pending.push((args[0], exponent));
            }
            _ => parts.factors.push((base, exponent)),
        }
    }

    /// Sorts factors and adds up exponents of equal bases. True when that made a power which may open further.
    fn merge_equal(&mut self, factors: &mut Vec<(Expr, Rational)>) -> bool {
        let mut again = false;
        while !factors.windows(2).all(|w| self.order(w[0].0, w[1].0).is_lt()) {
            // Exponents too different to be added exactly stay side by side, in order. A sum may belong elsewhere in it.
            factors.sort_by(|a, b| self.order(a.0, b.0).then_with(|| a.1.cmp(&b.1)));
            let (before, mut kept) = (factors.len(), 0);
            for i in 0..before {
                let (base, exponent) = factors[i];
                let last = factors[..kept].last().filter(|last| last.0 == base);
                match last.and_then(|last| last.1.add(exponent)) {
                    Some(sum) if sum.is_zero() => kept -= 1,
                    Some(sum) => {
                        factors[kept - 1].1 = sum;
                        again |= match self.node(base) {
                            Node::Number(_) | Node::Float(_) | Node::Product(..) => true,
                            Node::Function(f, _) => *f == Function::Abs,
                            _ => false,
                        };
                    }
                    None => {
                        factors[kept] = (base, exponent);
                        kept += 1;
                    }
                }
            }
            factors.truncate(kept);
            if kept == before {
                break;
            }
        }
        again
    }

    // ---- powers ------------------------------------------------------------------------------------------

    /// `base^exponent`
    ///
    /// ```
    /// # use carom_expr::Dag;
    /// let mut dag = Dag::new();
    /// let (x, three) = (dag.symbol("x"), dag.integer(3));
    /// assert_eq!(dag.power(x, three), dag.product(&[x, x, x]));
    /// ```
    pub fn power(&mut self, base: Expr, exponent: Expr) -> Expr {
        if self.is_one(base) {
            return base;
        }
        match self.as_number(exponent) {
            Some(r) if r.is_zero() => self.one(),
            Some(r) => self.rational_power(base, r),
            None => {
                if self.node(base) == &Node::Constant(Constant::E) {
                    return self.function(Function::Exp, &[exponent]);
                }
                self.intern(Node::Power(base, exponent))
            }
        }
    }

    /// `base^r` for an exact number r. A root of a square keeps its meaning: `(x^2)^(1/2)` is |x|, not x.
    ///
    /// ```
    /// # use carom_expr::{Dag, Rational};
    /// let mut dag = Dag::new();
    /// let x = dag.symbol("x");
    /// let square = dag.powi(x, 2);
    /// let root = dag.rational_power(square, Rational::HALF);
    /// assert_ne!(root, x);
    /// assert_eq!(dag.evaluate(root, |_| -3.0), 3.0);
    /// ```
    pub fn rational_power(&mut self, base: Expr, r: Rational) -> Expr {
        self.monomials(Rational::ONE, &[(base, r)])
    }

    /// `base^n`
    ///
    /// ```
    /// # use carom_expr::Dag;
    /// let mut dag = Dag::new();
    /// let x = dag.symbol("x");
    /// assert_eq!(dag.powi(x, 2), dag.mul(x, x));
    /// ```
    pub fn powi(&mut self, base: Expr, n: i64) -> Expr {
        self.rational_power(base, Rational::integer(n))
    }

    /// `√e`
    ///
    /// ```
    /// # use carom_expr::Dag;
    /// let mut dag = Dag::new();
    /// let (four, two) = (dag.integer(4), dag.integer(2));
    /// assert_eq!(dag.sqrt(four), two);
    /// ```
    pub fn sqrt(&mut self, e: Expr) -> Expr {
        self.rational_power(e, Rational::HALF)
    }
}
