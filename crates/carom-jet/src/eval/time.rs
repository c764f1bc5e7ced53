//! Time as an unevaluated pair: t = hi + lo exactly, |lo| ≤ ½ ulp(hi).
//!
//! At t ≈ 900 one ulp of a double is 1e-13; thousands of additions would eat the digits a user asks for.

use crate::eval::element::Element;

/// A time, kept to about 32 digits.
///
/// ```
/// use carom_jet::Time;
/// let late = (0..1000).fold(Time::new(1e6), |t, _| t.plus(0.001));
/// // A thousandth is not a double: what is left is its own rounding, not that of a million.
/// assert!((late.minus(Time::new(1e6)) - 1000.0 * 0.001).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Time {
    /// The nearest double.
    pub hi: f64,
    /// What the nearest double leaves out.
    pub lo: f64,
}

impl Time {
    /// A time that is a double.
    pub fn new(t: f64) -> Time {
        Time { hi: t, lo: 0.0 }
    }

    /// `self + h`, exact up to about 2⁻¹⁰⁵ relative.
    #[must_use]
    pub fn plus(self, h: f64) -> Time {
        let (hi, lo) = later([self.hi, self.lo], h);
        Time { hi, lo }
    }

    /// `self − other`, as a double.
    pub fn minus(self, other: Time) -> f64 {
        let (difference, error) = two_sum(self.hi, -other.hi);
        difference + (error + (self.lo - other.lo))
    }

    /// The nearest double.
    pub fn value(self) -> f64 {
        self.hi
    }
}

impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Time) -> Option<std::cmp::Ordering> {
        match self.hi.partial_cmp(&other.hi) {
            Some(std::cmp::Ordering::Equal) => self.lo.partial_cmp(&other.lo),
            unequal => unequal,
        }
    }
}

/// a + b = sum + error exactly (Knuth).
#[inline(always)]
pub(crate) fn two_sum<T: Element>(a: T, b: T) -> (T, T) {
    let sum = a.plus(b);
    let part = sum.minus(a);
    (sum, a.minus(sum.minus(part)).plus(b.minus(part)))
}

/// hi + lo + h as a pair, of one time or of lanes.
#[inline(always)]
pub(crate) fn later<T: Element>([hi, lo]: [T; 2], h: T) -> (T, T) {
    let (sum, error) = two_sum(hi, h);
    two_sum(sum, error.plus(lo))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_small_steps_lose_nothing() {
        // 0.1 as a double is 0.1 + 5.55e-18; a million of them are 100000 + 5.55e-12, known to 1e-16 relative.
        let mut t = Time::new(0.0);
        for _ in 0..1_000_000 {
            t = t.plus(0.1);
        }
        let excess = 0.1_f64.mul_add(10.0, -1.0) * 1e5;
        assert!((t.minus(Time::new(100_000.0)) - excess).abs() < 1e-24);
    }

    #[test]
    fn differences_of_close_times_are_exact() {
        let a = Time::new(900.0).plus(1e-17);
        assert_eq!(a.hi, 900.0);
        assert_eq!(a.minus(Time::new(900.0)), 1e-17);
        assert!(a > Time::new(900.0));
    }
}
