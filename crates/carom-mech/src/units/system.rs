//! Unknown dimensions: linear equations over the rationals.
//!
//! ```text
//! Σⱼ cⱼ uⱼ = d,     uⱼ ∈ ℚ⁷ unknown, cⱼ ∈ ℚ, d ∈ ℚ⁷
//! ```
//!
//! The coefficients are the same for all seven base units, so one elimination serves them all. Equations come one by one;
//! each either holds already, determines one more unknown by the others, or contradicts those before.

use super::dimension::{Dimension, fraction, power};
use carom_expr::Rational;
use std::collections::BTreeMap;

/// d + Σ cⱼ uⱼ, the dimension of an expression.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Affine {
    pub constant: Dimension,
    /// Unknowns with coefficients that are not zero.
    pub terms: BTreeMap<usize, Rational>,
}

impl Affine {
    pub fn known(constant: Dimension) -> Affine {
        Affine { constant, terms: BTreeMap::new() }
    }

    pub fn unknown(index: usize) -> Affine {
        Affine { constant: Dimension::NONE, terms: BTreeMap::from([(index, Rational::ONE)]) }
    }

    /// self + c other; `None` when a number leaves its range.
    pub fn plus(mut self, c: Rational, other: &Affine) -> Option<Affine> {
        self.constant = self.constant.plus(other.constant.times(c)?)?;
        for (&j, &a) in &other.terms {
            let sum = self.terms.get(&j).copied().unwrap_or(Rational::ZERO).add(a.multiply(c)?)?;
            if sum.is_zero() {
                self.terms.remove(&j);
            } else {
                self.terms.insert(j, sum);
            }
        }
        Some(self)
    }

    pub fn times(&self, c: Rational) -> Option<Affine> {
        Affine::known(Dimension::NONE).plus(c, self)
    }
}

/// The equations so far.
#[derive(Default)]
pub(crate) struct DimensionSystem {
    /// For each unknown: when it was determined, and by what. Its expression holds only what was open at that time.
    solved: Vec<Option<(usize, Affine)>>,
    steps: usize,
}

/// What an equation meant.
#[derive(PartialEq, Debug)]
pub(crate) enum EquationOutcome {
    /// It held, or could be made to hold; the unknown it determined.
    Fits(Option<usize>),
    /// It contradicts what is known.
    Contradicts,
}

impl DimensionSystem {
    pub fn new_unknown(&mut self) -> usize {
        self.solved.push(None);
        self.solved.len() - 1
    }

    /// The same dimension in terms of what is still open.
    pub fn reduce(&self, a: &Affine) -> Option<Affine> {
        let mut a = a.clone();
        // The earliest first: what it brings in was determined later, or never.
        while let Some((_, j, value)) = a
            .terms
            .keys()
            .filter_map(|&j| self.solved[j].as_ref().map(|(step, value)| (step, j, value)))
            .min_by_key(|x| x.0)
        {
            let c = a.terms.remove(&j)?;
            a = a.plus(c, value)?;
        }
        Some(a)
    }

    /// The dimension, if it is determined.
    pub fn value(&self, a: &Affine) -> Option<Dimension> {
        let reduced = self.reduce(a)?;
        reduced.terms.is_empty().then_some(reduced.constant)
    }

    /// a = b
    pub fn equate(&mut self, a: &Affine, b: &Affine) -> EquationOutcome {
        let difference = a.clone().plus(Rational::MINUS_ONE, b).and_then(|d| self.reduce(&d));
        // Numbers out of range say nothing.
        let Some(difference) = difference else { return EquationOutcome::Fits(None) };
        let Some((&pivot, &c)) = difference.terms.iter().next_back() else {
            return if difference.constant.is_none() {
                EquationOutcome::Fits(None)
            } else {
                EquationOutcome::Contradicts
            };
        };
        let mut rest = difference;
        rest.terms.remove(&pivot);
        let Some(value) = c.reciprocal().and_then(Rational::negate).and_then(|f| rest.times(f)) else {
            return EquationOutcome::Fits(None);
        };
        self.solved[pivot] = Some((self.steps, value));
        self.steps += 1;
        EquationOutcome::Fits(Some(pivot))
    }

    /// As text, `[m]` for the unit of an `m` that is still open.
    pub fn show(&self, a: &Affine, name: impl Fn(usize) -> String) -> String {
        let Some(reduced) = self.reduce(a) else { return "an unknown unit".to_owned() };
        if reduced.terms.is_empty() {
            return reduced.constant.to_string();
        }
        let (mut above, mut below) = (Vec::new(), Vec::new());
        for (&j, &c) in &reduced.terms {
            let list = if c.is_negative() { &mut below } else { &mut above };
            list.push(power(&format!("[{}]", name(j)), c.abs()));
        }
        let (more_above, more_below) = reduced.constant.factors();
        above.extend(more_above);
        below.extend(more_below);
        fraction(&above, &below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Unit;

    fn known(text: &str) -> Affine {
        Affine::known(Unit::read(text).unwrap().dimension)
    }

    #[test]
    fn a_product_and_a_square_determine_two_unknowns_and_the_third_equation_is_judged() {
        let mut s = DimensionSystem::default();
        let (a, b) = (Affine::unknown(s.new_unknown()), Affine::unknown(s.new_unknown()));
        let two = Rational::integer(2);
        // a b = J, a b² = J m
        let ab = a.clone().plus(Rational::ONE, &b).unwrap();
        let abb = a.clone().plus(two, &b).unwrap();
        assert!(matches!(s.equate(&ab, &known("J")), EquationOutcome::Fits(Some(_))));
        assert!(matches!(s.equate(&abb, &known("J m")), EquationOutcome::Fits(Some(_))));
        assert_eq!(s.value(&b), Some(Unit::read("m").unwrap().dimension));
        assert_eq!(s.value(&a), Some(Unit::read("N").unwrap().dimension));
        assert_eq!(s.equate(&a, &known("N")), EquationOutcome::Fits(None));
        assert_eq!(s.equate(&a, &known("s")), EquationOutcome::Contradicts);
    }

    #[test]
    fn equations_in_any_order_determine_the_same_dimensions() {
        // A chain u₀ = m, u_{k+1} = u_k² / s, shuffled.
        let two = Rational::integer(2);
        let mut state = 7_u64;
        for _ in 0..50 {
            let mut s = DimensionSystem::default();
            let u: Vec<Affine> = (0..6).map(|_| Affine::unknown(s.new_unknown())).collect();
            let mut order: Vec<usize> = (0..6).collect();
            for i in (1..6).rev() {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                order.swap(i, (state >> 33) as usize % (i + 1));
            }
            for k in order {
                let outcome = match k {
                    0 => s.equate(&u[0], &known("m")),
                    k => {
                        let right = known("1/s").plus(two, &u[k - 1]).unwrap();
                        s.equate(&u[k], &right)
                    }
                };
                assert!(matches!(outcome, EquationOutcome::Fits(Some(_))));
            }
            assert_eq!(s.value(&u[5]), Some(Unit::read("m^32/s^31").unwrap().dimension));
        }
    }
}
