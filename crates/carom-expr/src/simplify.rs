//! Simplification: the same value, written as a textbook would.
//!
//! From the leaves up, each sum is tried in up to three ways: as it stands with simplified parts, multiplied out with
//! the trigonometric identities applied and common factors pulled out, and over a common denominator. The shortest
//! is kept ([`Dag::length`]), the first of these when none is shorter.
//!
//! Promise: the value is the same wherever the original has one; the result depends on the expression alone, not on
//! what else the DAG holds; the time is bounded, because every step pays for its work (`polynomial::Work`) and what cannot
//! pay keeps its form.

use crate::dag::{Dag, Expr, Function, Node};
use crate::factor;
use crate::number::Rational;
use crate::polynomial::{Expander, Polynomial, UNIT, Work, exponent};
use crate::trig;
use std::rc::Rc;

/// Most terms of a sum that is brought over a common denominator.
const MOST_FRACTIONS: usize = 100;

/// What rewriting a term costs, in term products.
const REWRITE: usize = 10;
/// Most terms of a product that is tried multiplied out.
const MOST_MULTIPLIED: usize = 50;
/// Most terms of a common numerator.
const MOST_NUMERATOR: usize = 300;
/// A form that is this many times longer term by term is not tried: brackets do not save that much.
const HOPELESS: u64 = 4;

impl Dag {
    /// An expression with the same value, as short as the rules can make it.
    ///
    /// ```
    /// # use carom_expr::{Dag, Function};
    /// let mut dag = Dag::new();
    /// let (a, b) = (dag.symbol("a"), dag.symbol("b"));
    /// let (ca, cb) = (dag.function(Function::Cos, &[a]), dag.function(Function::Cos, &[b]));
    /// let (sa, sb) = (dag.function(Function::Sin, &[a]), dag.function(Function::Sin, &[b]));
    /// let (cc, ss) = (dag.mul(ca, cb), dag.mul(sa, sb));
    /// let sum = dag.add(cc, ss);
    /// let difference = dag.sub(a, b);
    /// assert_eq!(dag.simplify(sum), dag.function(Function::Cos, &[difference]));
    /// ```
    pub fn simplify(&mut self, e: Expr) -> Expr {
        self.simplify_all(&[e])[0]
    }

    /// [`Dag::simplify`] for many expressions, sharing the work on common parts.
    ///
    /// ```
    /// # use carom_expr::Dag;
    /// let mut dag = Dag::new();
    /// let (x, y) = (dag.symbol("x"), dag.symbol("y"));
    /// let (xy, xx) = (dag.mul(x, y), dag.mul(x, x));
    /// let quotient = dag.div(xy, xx);
    /// assert_eq!(dag.simplify_all(&[x, quotient]), vec![x, quotient]);
    /// ```
    pub fn simplify_all(&mut self, roots: &[Expr]) -> Vec<Expr> {
        let mut run = Simplifier { expander: Expander::new() };
        let unknown: Vec<Expr> = roots.iter().copied().filter(|e| !self.simplified.contains_key(e)).collect();
        for e in self.reachable(&unknown) {
            if self.simplified.contains_key(&e) {
                continue;
            }
            let shorter = run.simplify_node(self, e);
            self.simplified.insert(e, shorter);
            // What came out is as simple as it gets.
            self.simplified.entry(shorter).or_insert(shorter);
        }
        roots.iter().map(|e| self.simplified[e]).collect()
    }
}

/// One call: what it has learned.
struct Simplifier {
    expander: Expander,
}

impl Simplifier {
    /// Simplifies a node whose children are simplified.
    fn simplify_node(&mut self, dag: &mut Dag, e: Expr) -> Expr {
        match dag.node(e).clone() {
            Node::Number(_) | Node::Float(_) | Node::Constant(_) | Node::Symbol(_) => e,
            Node::Function(f, args) => {
                let args: Vec<Expr> = args.iter().map(|a| dag.simplified[a]).collect();
                dag.function(f, &args)
            }
            Node::Power(b, n) => {
                let (b, n) = (dag.simplified[&b], dag.simplified[&n]);
                dag.power(b, n)
            }
            Node::Product(c, factors) => {
                let factors: Vec<(Expr, Rational)> =
                    factors.iter().map(|&(b, n)| (dag.simplified[&b], n)).collect();
                let product = dag.monomials(c, &factors);
                self.simplify_product(dag, product)
            }
            Node::Sum(c, terms) => {
                let terms: Vec<(Rational, Expr)> =
                    terms.iter().map(|&(k, t)| (k, dag.simplified[&t])).collect();
                let sum = dag.linear(c, &terms);
                match dag.node(sum) {
                    Node::Sum(..) => self.simplify_sum(dag, sum),
                    Node::Product(..) => self.simplify_product(dag, sum),
                    _ => sum,
                }
            }
        }
    }

    /// A sum of simplified terms.
    fn simplify_sum(&mut self, dag: &mut Dag, sum: Expr) -> Expr {
        let Some(expanded) = self.expander.expand(dag, sum) else { return sum };
        if !self.expander.work.spend(REWRITE * expanded.len()) {
            return sum;
        }
        let Some(short) = trig::shorten(dag, &mut self.expander.work, &expanded) else { return sum };
        let short = Rc::new(short);
        // Identities that take a third of the terms away are what a reader looks for: Σ l_j l_k v_j v_k cos(θ_j − θ_k)
        // is longer than the squares of Cartesian velocities from three links on, but it is the simpler form.
        let identities = 3 * short.len() <= 2 * expanded.len();
        let mut best = sum;
        if identities || !hopeless(dag, &short, sum) {
            let written = factor::write(dag, &mut self.expander.work, &short);
            best = if identities { written } else { shorter(dag, best, written) };
        }
        if let Some(fraction) = self.over_common_denominator(dag, &short, best) {
            best = shorter(dag, best, fraction);
        }
        if let Some(fraction) = self.over_partial_denominator(dag, &short, best) {
            best = shorter(dag, best, fraction);
        }
        // A result that is a sum is known by its shortened terms from now on.
        if matches!(dag.node(best), Node::Sum(..) | Node::Product(..)) {
            self.expander.known.insert(best, Some(short));
        }
        best
    }

    /// The same for the terms that hold a sum as denominator or below a root, the others kept apart.
    fn over_partial_denominator(&mut self, dag: &mut Dag, p: &Polynomial, best: Expr) -> Option<Expr> {
        let divided = |m: &[(u32, i32)]| {
            m.iter().any(|&(a, n)| (n < 0 || n % UNIT != 0) && matches!(dag.node(Expr(a)), Node::Sum(..)))
        };
        let (with, without): (Polynomial, Polynomial) = p.iter().cloned().partition(|(m, _)| divided(m));
        if with.len() < 2 || without.is_empty() {
            return None;
        }
        let fraction = self.over_common_denominator(dag, &with, best)?;
        let rest = factor::write(dag, &mut self.expander.work, &without);
        let sum = dag.add(fraction, rest);
        let expanded = self.expander.expand(dag, sum)?;
        let written = factor::write(dag, &mut self.expander.work, &expanded);
        Some(shorter(dag, sum, written))
    }

    /// `a/d + b/e = (a e + b d)/(d e)`; `None` when no term has a denominator of its own.
    fn over_common_denominator(&mut self, dag: &mut Dag, p: &Polynomial, best: Expr) -> Option<Expr> {
        if p.len() < 2 || p.len() > MOST_FRACTIONS {
            return None;
        }
        // The most negative exponent of each atom.
        let mut denominator: Vec<(u32, i32)> = Vec::new();
        for &(atom, n) in p.iter().flat_map(|(m, _)| m.iter()) {
            if n < 0 {
                match denominator.binary_search_by_key(&atom, |f| f.0) {
                    Ok(at) => denominator[at].1 = denominator[at].1.max(-n),
                    Err(at) => denominator.insert(at, (atom, -n)),
                }
            }
        }
        // Each term is multiplied by every denominator it does not have: count what that makes.
        let mut terms = 0_usize;
        for (m, _) in p {
            let mut count = 1_usize;
            for &(atom, n) in &denominator {
                let own = m.iter().find(|f| f.0 == atom).map_or(0, |f| f.1.min(0));
                if let Node::Sum(_, inner) = dag.node(Expr(atom)) {
                    let power = u32::try_from((n + own) / UNIT).unwrap_or(u32::MAX);
                    count = count.saturating_mul((inner.len() + 1).saturating_pow(power));
                }
            }
            terms = terms.saturating_add(count);
        }
        if terms > MOST_NUMERATOR {
            return None;
        }
        let everywhere = |&(atom, n): &(u32, i32)| p.iter().all(|(m, _)| m.contains(&(atom, -n)));
        if denominator.iter().all(everywhere) {
            return None;
        }
        let numerator = self.expander.times_monomial(dag, p, &denominator)?;
        if hopeless(dag, &numerator, best) {
            return None;
        }
        let numerator = trig::shorten(dag, &mut self.expander.work, &numerator)?;
        if numerator.is_empty() {
            return Some(dag.zero());
        }
        let split = factor::split(dag, &mut self.expander.work, &numerator, false);
        let mut powers = split.content;
        powers.push((split.sum, Rational::ONE));
        powers.extend(denominator.iter().map(|&(atom, n)| (Expr(atom), exponent(-n))));
        Some(dag.monomials(split.coefficient, &powers))
    }

    /// A product of simplified factors: what divides a sum among them leaves it, to cancel or to join the rest.
    fn simplify_product(&mut self, dag: &mut Dag, product: Expr) -> Expr {
        let Node::Product(c, factors) = dag.node(product).clone() else { return product };
        let mut kept = Vec::with_capacity(factors.len());
        let mut exponentials = Vec::new();
        for &(base, n) in factors.iter() {
            match dag.node(base) {
                Node::Function(Function::Exp, args) => exponentials.push((n, args[0])),
                _ => kept.push((base, n)),
            }
        }
        match *exponentials.as_slice() {
            [] => {}
            [(n, arg)] => kept.push((dag.function(Function::Exp, &[arg]), n)),
            _ => {
                // exp(a)ᵐ exp(b)ⁿ = exp(m a + n b)
                let total = dag.linear(Rational::ZERO, &exponentials);
                let total = self.simplify_plain_sum(dag, total);
                kept.push((dag.function(Function::Exp, &[total]), Rational::ONE));
            }
        }
        // Sums below the line are always split, so that equal denominators are equal expressions.
        let mut split = Vec::with_capacity(kept.len());
        for (base, n) in &mut kept {
            let mut whole = *base;
            if n.is_integer() && matches!(dag.node(*base), Node::Sum(..)) {
                whole = self.split(dag, *base, n.is_negative());
                if n.is_negative() {
                    *base = whole;
                }
            }
            split.push((whole, *n));
        }
        let (kept, split) = (dag.monomials(c, &kept), dag.monomials(c, &split));
        let best = shorter(dag, split, kept);
        self.multiplied_out(dag, best)
    }

    /// A product of few terms multiplied out, if that is shorter: `(2 a + b)/2 = a + b/2`.
    fn multiplied_out(&mut self, dag: &mut Dag, product: Expr) -> Expr {
        let Node::Product(_, factors) = dag.node(product).clone() else { return product };
        let mut terms = 1_usize;
        for &(base, n) in factors.iter() {
            if let (Node::Sum(_, inner), Some(n @ 1..)) = (dag.node(base), n.to_integer()) {
                terms =
                    terms.saturating_mul(inner.len().saturating_pow(u32::try_from(n).unwrap_or(u32::MAX)));
            }
        }
        if terms == 1 || terms > MOST_MULTIPLIED {
            return product;
        }
        let Some(expanded) = self.expander.expand(dag, product) else { return product };
        if !self.expander.work.spend(REWRITE * expanded.len()) {
            return product;
        }
        if hopeless(dag, &expanded, product) {
            return product;
        }
        let Some(short) = trig::shorten(dag, &mut self.expander.work, &expanded) else { return product };
        let written = factor::write(dag, &mut self.expander.work, &short);
        // With nothing but a number outside, equal length is in favour of no brackets.
        if factors.len() == 1 { shorter(dag, written, product) } else { shorter(dag, product, written) }
    }

    /// Simplifies `e` if it is a sum.
    fn simplify_plain_sum(&mut self, dag: &mut Dag, e: Expr) -> Expr {
        match dag.node(e) {
            Node::Sum(..) => self.simplify_sum(dag, e),
            _ => e,
        }
    }

    /// A sum as number times common factors times the rest; itself when nothing is common.
    fn split(&mut self, dag: &mut Dag, sum: Expr, oriented: bool) -> Expr {
        let Some(expanded) = self.expander.expand(dag, sum) else {
            return divide_common(dag, &mut self.expander.work, sum);
        };
        let split = factor::split(dag, &mut self.expander.work, &expanded, oriented);
        if split.content.is_empty() && split.coefficient.is_one() {
            return sum;
        }
        let mut parts = split.content;
        parts.push((split.sum, Rational::ONE));
        let split = dag.monomials(split.coefficient, &parts);
        // The sum may be short only in the brackets it has.
        let divided = divide_common(dag, &mut self.expander.work, sum);
        if divided == sum { split } else { shorter(dag, split, divided) }
    }
}

/// Pulls out what all terms of a sum have as a factor, without opening their brackets.
fn divide_common(dag: &mut Dag, work: &mut Work, sum: Expr) -> Expr {
    let Node::Sum(constant, terms) = dag.node(sum).clone() else { return sum };
    let factors = |t: Expr| match dag.node(t) {
        Node::Product(c, factors) if c.is_one() => factors.to_vec(),
        _ => vec![(t, Rational::ONE)],
    };
    let mut rows: Vec<Vec<(Expr, Rational)>> = terms.iter().map(|&(_, t)| factors(t)).collect();
    let mut common = rows[0].clone();
    for row in &rows {
        if !work.spend_factors(common.len() * row.len()) {
            return sum;
        }
        common.retain_mut(|(base, n)| match row.iter().find(|f| f.0 == *base) {
            Some(&(_, m)) if m.is_negative() == n.is_negative() => {
                *n = if n.is_negative() { m.max(*n) } else { m.min(*n) };
                true
            }
            _ => false,
        });
    }
    if common.is_empty() || !constant.is_zero() {
        return sum;
    }
    let mut summands = Vec::with_capacity(rows.len());
    for (row, &(c, _)) in rows.iter_mut().zip(terms.iter()) {
        for &(base, n) in &common {
            let Some(n) = n.negate() else { return sum };
            row.push((base, n));
        }
        summands.push((c, dag.monomials(Rational::ONE, row)));
    }
    let rest = dag.linear(Rational::ZERO, &summands);
    common.push((rest, Rational::ONE));
    dag.monomials(Rational::ONE, &common)
}

/// The shorter of two; the first when equal.
fn shorter(dag: &Dag, a: Expr, b: Expr) -> Expr {
    if dag.length(b) < dag.length(a) { b } else { a }
}

/// Is `p` so much longer than `e` that writing it down cannot be shorter?
fn hopeless(dag: &Dag, p: &Polynomial, e: Expr) -> bool {
    factor::flat_length(dag, p) > dag.length(e).saturating_mul(HOPELESS)
}
