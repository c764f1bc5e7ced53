//! Polynomials over atoms: Σ c·Π atom^exponent, with exact coefficients.
//!
//! An atom is anything that is not a sum or product of other things: a symbol, a function value, a root, a sum in
//! a denominator. Exponents are rational and may be negative. Promise: [`Expander::expand`] is an identity, or
//! answers `None` when the result would pass its limits; it never rounds.

use crate::FastMap;
use crate::dag::{Dag, Expr, Node};
use crate::number::Rational;
use std::rc::Rc;

/// Exponents are counted in twelfths, so that square, cubic, fourth and sixth roots are atoms' powers.
pub(crate) const UNIT: i32 = 12;
/// Most terms of one polynomial.
const MOST_TERMS: usize = 20_000;
/// Most term products of one simplification, about a quarter of a microsecond each.
const MOST_WORK: usize = 4_000_000;
/// Factors that are merged, compared or copied in the time of a term product.
const FACTORS_PER_PRODUCT: usize = 8;
/// How deep `expand` descends into sums within products within sums whose polynomials are not known yet.
const MOST_DEPTH: usize = 40;
/// Highest power of a sum that is multiplied out.
const MOST_POWER: i32 = 12;

/// Π atom^(exponent/UNIT), sorted by atom, no exponent zero. In a [`Polynomial`] atoms are handles; the rules that
/// work on one polynomial number its atoms by themselves.
pub(crate) type Monomial = Rc<[(u32, i32)]>;

/// Terms with distinct monomials and coefficients that are not zero.
pub(crate) type Polynomial = Vec<(Monomial, Rational)>;

/// The product of two monomials; `None` when an exponent leaves its range.
pub(crate) fn multiply(a: &[(u32, i32)], b: &[(u32, i32)]) -> Option<Monomial> {
    const SHORT: usize = 24;
    if a.len() + b.len() <= SHORT {
        // Merged on the stack, so that the result is the only allocation.
        let mut product = [(0, 0); SHORT];
        let length = merge(a, b, &mut product)?;
        return Some(product[..length].into());
    }
    let mut product = vec![(0, 0); a.len() + b.len()];
    let length = merge(a, b, &mut product)?;
    Some(product[..length].into())
}

/// Writes the product of two monomials, answers its number of factors.
fn merge(a: &[(u32, i32)], b: &[(u32, i32)], product: &mut [(u32, i32)]) -> Option<usize> {
    let (mut i, mut j, mut length) = (0, 0, 0);
    while i < a.len() || j < b.len() {
        let factor = match (a.get(i), b.get(j)) {
            (Some(&x), Some(&y)) if x.0 == y.0 => {
                (i, j) = (i + 1, j + 1);
                (x.0, x.1.checked_add(y.1)?)
            }
            (Some(&x), Some(&y)) if x.0 < y.0 => {
                i += 1;
                x
            }
            (_, Some(&y)) => {
                j += 1;
                y
            }
            (Some(&x), None) => {
                i += 1;
                x
            }
            (None, None) => break,
        };
        if factor.1 != 0 {
            product[length] = factor;
            length += 1;
        }
    }
    Some(length)
}

/// What one simplification may still do, counted in term products. Everything whose cost is not proportional to what it
/// reads pays here before it begins; who cannot pay keeps the form there is.
pub(crate) struct Work {
    left: usize,
}

impl Work {
    /// Nothing spent.
    pub(crate) fn new() -> Work {
        Work { left: MOST_WORK }
    }

    /// Counts `steps` term products; false, now and ever after, once they are used up.
    pub(crate) fn spend(&mut self, steps: usize) -> bool {
        let enough = steps <= self.left;
        self.left = self.left.saturating_sub(steps);
        enough && self.left > 0
    }

    /// The same for so many factors.
    pub(crate) fn spend_factors(&mut self, factors: usize) -> bool {
        self.spend(factors / FACTORS_PER_PRODUCT)
    }
}

/// How many factors the terms have in all.
pub(crate) fn factor_count(p: &Polynomial) -> usize {
    p.iter().map(|(m, _)| m.len()).sum()
}

/// A sum of terms being collected.
#[derive(Default)]
pub(crate) struct Collector {
    at: FastMap<Monomial, usize>,
    /// Zero coefficients mark terms that have cancelled.
    pub(crate) terms: Polynomial,
}

impl Collector {
    /// Adds `c·m`, answers where; `None` when the coefficient overflows.
    pub(crate) fn add(&mut self, m: Monomial, c: Rational) -> Option<usize> {
        if let Some(&i) = self.at.get(&m) {
            self.terms[i].1 = self.terms[i].1.add(c)?;
            return Some(i);
        }
        self.at.insert(m.clone(), self.terms.len());
        self.terms.push((m, c));
        Some(self.terms.len() - 1)
    }

    /// Where the term with this monomial is, if its coefficient is not zero.
    pub(crate) fn find(&self, m: &[(u32, i32)]) -> Option<usize> {
        self.at.get(m).copied().filter(|&i| !self.terms[i].1.is_zero())
    }

    /// The terms that have not cancelled.
    pub(crate) fn finish(self) -> Polynomial {
        let mut terms = self.terms;
        terms.retain(|t| !t.1.is_zero());
        terms
    }
}

/// Multiplies expressions out, within limits.
pub(crate) struct Expander {
    /// Polynomials of expressions met before.
    pub(crate) known: FastMap<Expr, Option<Rc<Polynomial>>>,
    /// What it may still do.
    pub(crate) work: Work,
}

impl Expander {
    /// Nothing known, nothing spent.
    pub(crate) fn new() -> Expander {
        Expander { known: FastMap::default(), work: Work::new() }
    }

    /// `e` as a polynomial over its atoms.
    pub(crate) fn expand(&mut self, dag: &Dag, e: Expr) -> Option<Rc<Polynomial>> {
        self.expand_at(dag, e, 0)
    }

    fn expand_at(&mut self, dag: &Dag, e: Expr, depth: usize) -> Option<Rc<Polynomial>> {
        match dag.node(e) {
            Node::Number(r) if r.is_zero() => return Some(Rc::new(Vec::new())),
            Node::Number(r) => return Some(Rc::new(vec![(Rc::new([]), *r)])),
            Node::Sum(..) | Node::Product(..) => {}
            _ => return Some(Rc::new(vec![(Rc::new([(e.0, UNIT)]), Rational::ONE)])),
        }
        if let Some(known) = self.known.get(&e) {
            return known.clone();
        }
        if depth > MOST_DEPTH {
            return None;
        }
        let expanded = match dag.node(e) {
            Node::Sum(constant, terms) => self.expand_sum(dag, *constant, terms, depth),
            Node::Product(c, factors) => self.expand_product(dag, *c, factors, depth),
            _ => None,
        };
        let expanded = expanded.map(Rc::new);
        self.known.insert(e, expanded.clone());
        expanded
    }

    fn expand_sum(
        &mut self,
        dag: &Dag,
        constant: Rational,
        terms: &[(Rational, Expr)],
        depth: usize,
    ) -> Option<Polynomial> {
        let mut sum = Collector::default();
        if !constant.is_zero() {
            sum.add(Rc::new([]), constant)?;
        }
        for &(c, t) in terms {
            match self.expand_at(dag, t, depth + 1) {
                Some(part) => {
                    if !self.work.spend(part.len()) || sum.terms.len() + part.len() > MOST_TERMS {
                        return None;
                    }
                    for (m, k) in part.iter() {
                        sum.add(m.clone(), c.multiply(*k)?)?;
                    }
                }
                // What cannot be opened stays whole.
                None => {
                    sum.add(Rc::new([(t.0, UNIT)]), c)?;
                }
            }
        }
        Some(sum.finish())
    }

    fn expand_product(
        &mut self,
        dag: &Dag,
        c: Rational,
        factors: &[(Expr, Rational)],
        depth: usize,
    ) -> Option<Polynomial> {
        // Powers of atoms form one monomial; sums are multiplied in one after the other.
        let mut head: Vec<(u32, i32)> = Vec::with_capacity(factors.len());
        let mut sums: Vec<(Expr, i32)> = Vec::new();
        for &(base, exponent) in factors {
            let units = exponent.multiply(Rational::integer(i64::from(UNIT)))?;
            let units = i32::try_from(units.to_integer()?).ok()?;
            if openable(dag, base, units) && self.expand_at(dag, base, depth + 1).is_some() {
                sums.push((base, units / UNIT));
            } else {
                head.push((base.0, units));
            }
        }
        head.sort_unstable();
        let mut product: Polynomial = vec![(head.into(), c)];
        for (base, n) in sums {
            let part = self.expand_at(dag, base, depth + 1)?;
            for _ in 0..n {
                product = self.times(&product, &part)?;
            }
        }
        self.settle(dag, product, depth)
    }

    /// The product of two polynomials.
    pub(crate) fn times(&mut self, a: &Polynomial, b: &Polynomial) -> Option<Polynomial> {
        let products = a.len().saturating_mul(b.len());
        let merged =
            factor_count(a).saturating_mul(b.len()).saturating_add(factor_count(b).saturating_mul(a.len()));
        if products > 4 * MOST_TERMS || !self.work.spend(products) || !self.work.spend_factors(merged) {
            return None;
        }
        if let [(m, k)] = a.as_slice() {
            // Distinct stays distinct under a common factor.
            return b.iter().map(|(n, l)| Some((multiply(m, n)?, k.multiply(*l)?))).collect();
        }
        let mut product = Collector::default();
        for (m, k) in a {
            for (n, l) in b {
                product.add(multiply(m, n)?, k.multiply(*l)?)?;
            }
        }
        (product.terms.len() <= MOST_TERMS).then(|| product.finish())
    }

    /// Opens whole powers of sums that multiplication has made of roots: √u·√u.
    fn settle(&mut self, dag: &Dag, p: Polynomial, depth: usize) -> Option<Polynomial> {
        let unsettled = |m: &Monomial| m.iter().any(|&(a, n)| openable(dag, Expr(a), n));
        if depth > MOST_DEPTH || !p.iter().any(|(m, _)| unsettled(m)) {
            return Some(p);
        }
        let mut sum = Collector::default();
        for (m, c) in p {
            let at = m.iter().position(|&(a, n)| openable(dag, Expr(a), n));
            let part = at.and_then(|at| Some((at, self.expand_at(dag, Expr(m[at].0), depth + 1)?)));
            let Some((at, part)) = part else {
                sum.add(m, c)?;
                continue;
            };
            let mut rest = m.to_vec();
            let n = rest.remove(at).1 / UNIT;
            let mut product: Polynomial = vec![(rest.into(), c)];
            for _ in 0..n {
                product = self.times(&product, &part)?;
            }
            for (m, c) in self.settle(dag, product, depth + 1)? {
                sum.add(m, c)?;
            }
        }
        Some(sum.finish())
    }

    /// `p·Π base^n` with sums opened.
    pub(crate) fn times_monomial(
        &mut self,
        dag: &Dag,
        p: &Polynomial,
        m: &[(u32, i32)],
    ) -> Option<Polynomial> {
        let one: Polynomial = vec![(m.into(), Rational::ONE)];
        let product = self.times(&one, p)?;
        self.settle(dag, product, 0)
    }
}

/// Is `base^(units/UNIT)` a moderate whole power of a sum or product?
fn openable(dag: &Dag, base: Expr, units: i32) -> bool {
    units > 0
        && units % UNIT == 0
        && units <= MOST_POWER * UNIT
        && matches!(dag.node(base), Node::Sum(..) | Node::Product(..))
}

/// The exponent that `units` twelfths are.
pub(crate) fn exponent(units: i32) -> Rational {
    match units % UNIT {
        0 => Rational::integer(i64::from(units / UNIT)),
        _ => Rational::new(i128::from(units), i128::from(UNIT)).unwrap_or(Rational::ONE),
    }
}

/// A polynomial whose atoms are numbered in structural order and whose terms are sorted by them, so that what the
/// rules choose does not depend on the order in which handles were given out.
pub(crate) struct Local {
    /// The atoms; new ones are appended.
    pub(crate) atoms: Vec<Expr>,
    number: FastMap<Expr, u32>,
}

impl Local {
    /// Renumbers `p`.
    pub(crate) fn of(dag: &Dag, p: &Polynomial) -> (Local, Polynomial) {
        let mut atoms: Vec<Expr> = p.iter().flat_map(|(m, _)| m.iter().map(|f| Expr(f.0))).collect();
        atoms.sort_unstable();
        atoms.dedup();
        atoms.sort_by(|&a, &b| dag.order(a, b));
        let number = atoms.iter().enumerate().map(|(i, &e)| (e, i as u32)).collect();
        let local = Local { atoms, number };
        let mut terms: Polynomial = p
            .iter()
            .map(|(m, c)| {
                let mut factors: Vec<(u32, i32)> =
                    m.iter().map(|&(a, n)| (local.number[&Expr(a)], n)).collect();
                factors.sort_unstable();
                (factors.into(), *c)
            })
            .collect();
        terms.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        (local, terms)
    }

    /// The number of an atom, given on first use.
    pub(crate) fn atom(&mut self, e: Expr) -> u32 {
        let next = self.atoms.len() as u32;
        let number = *self.number.entry(e).or_insert(next);
        if number == next {
            self.atoms.push(e);
        }
        number
    }

    /// Back to handles.
    pub(crate) fn globalise(&self, p: &Polynomial) -> Polynomial {
        p.iter()
            .map(|(m, c)| {
                let mut factors: Vec<(u32, i32)> =
                    m.iter().map(|&(a, n)| (self.atoms[a as usize].0, n)).collect();
                factors.sort_unstable();
                (factors.into(), *c)
            })
            .collect()
    }
}
