//! Parts of a product under construction: `exact·float·2^shift·Π base^exponent`.
//!
//! A product of numbers that leaves the range of doubles keeps its value as a double between 1 and 4 times a power of two,
//! so that what a product is does not depend on the order of its factors.

use crate::dag::Expr;
use crate::number::Rational;

/// What has been multiplied so far.
pub(crate) struct ProductParts {
    pub exact: Rational,
    pub float: f64,
    pub shift: i64,
    pub factors: Vec<(Expr, Rational)>,
    /// Powers still to be opened.
    pub pending: Vec<(Expr, Rational)>,
}

impl ProductParts {
    /// Nothing but a number.
    pub fn new(exact: Rational, room: usize) -> ProductParts {
        ProductParts { exact, float: 1.0, shift: 0, factors: Vec::with_capacity(room), pending: Vec::new() }
    }

    /// Multiplies by an exact number.
    pub fn multiply(&mut self, r: Rational) -> bool {
        if let Some(product) = self.exact.multiply(r) {
            self.exact = product;
            return true;
        }
        let fits = self.multiply_float(self.exact.to_f64() * r.to_f64());
        if fits {
            self.exact = Rational::ONE;
        }
        fits
    }

    /// Multiplies by a double; false (and nothing happens) when it is zero or not finite.
    pub fn multiply_float(&mut self, x: f64) -> bool {
        if x == 0.0 || !x.is_finite() {
            return false;
        }
        let product = self.float * x;
        if product.is_normal() {
            self.float = product;
        } else {
            let ((a, i), (b, j)) = (split(self.float), split(x));
            self.float = a * b;
            self.shift += i + j;
        }
        true
    }

    /// Joins the exact number to the double, if there is one: afterwards one of them is 1 up to its sign.
    pub fn join(&mut self) {
        let exact = std::mem::replace(&mut self.exact, Rational::ONE);
        self.multiply_float(exact.to_f64());
        if let Some(r) = Rational::from_f64(self.float) {
            (self.exact, self.float) = (r, 1.0);
        } else if self.float < 0.0 {
            (self.exact, self.float) = (Rational::MINUS_ONE, -self.float);
        }
    }
}

/// `x·2^k`, if that is a double of full precision.
pub(crate) fn shifted(x: f64, k: i64) -> Option<f64> {
    let (m, own) = split(x);
    let k = own.checked_add(k).filter(|k| (-1022..=1023).contains(k))?;
    Some(m * 2.0_f64.powi(k as i32))
}

/// x = m 2^k with 1 ≤ |m| < 2; x is finite and not zero.
fn split(x: f64) -> (f64, i64) {
    const SUBNORMAL: i64 = 64;
    let (x, lifted) = if x.is_normal() { (x, 0) } else { (x * 2.0_f64.powi(SUBNORMAL as i32), SUBNORMAL) };
    let k = (x.to_bits() >> 52 & 0x7ff) as i64 - 1023;
    let m = f64::from_bits(x.to_bits() & !(0x7ff << 52) | 1023 << 52);
    (m, k - lifted)
}

/// `r^exponent` when it is exact: a perfect power.
pub(crate) fn exact_root(r: Rational, exponent: Rational) -> Option<Rational> {
    let root = u32::try_from(exponent.denominator()).ok()?;
    let n = i64::try_from(exponent.numerator()).ok()?;
    if r.is_negative() || r.is_zero() || root > 64 {
        return None;
    }
    let whole_root = |x: i128| -> Option<i128> {
        let guess = (x as f64).powf(1.0 / f64::from(root)).round() as i128;
        (guess.checked_pow(root)? == x).then_some(guess)
    };
    Rational::new(whole_root(r.numerator())?, whole_root(r.denominator())?)?.power(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_double_is_its_mantissa_times_a_power_of_two() {
        for x in [1.0, -3.0, 1e300, -1e-300, 5e-324, f64::MIN_POSITIVE, f64::MAX] {
            let (m, k) = split(x);
            let half = k / 2;
            assert!((1.0..2.0).contains(&m.abs()));
            assert_eq!(m * 2.0_f64.powi(half as i32) * 2.0_f64.powi((k - half) as i32), x);
        }
    }

    #[test]
    fn numbers_beyond_the_range_of_doubles_do_not_depend_on_their_order() {
        let product = |numbers: &[f64]| {
            let mut parts = ProductParts::new(Rational::ONE, 0);
            numbers.iter().for_each(|x| assert!(parts.multiply_float(*x)));
            (parts.float, parts.shift)
        };
        let two = 2.0_f64;
        let (a, b, c) = (two.powi(900), 1.5 * two.powi(800), two.powi(-1000));
        let value = |(float, shift): (f64, i64)| {
            let (m, k) = split(float);
            (m, k + shift)
        };
        assert_eq!(value(product(&[a, b, c])), (1.5, 700));
        assert_eq!(value(product(&[c, b, a])), (1.5, 700));
        assert_eq!(value(product(&[a, b])), (1.5, 1700));
        assert_eq!((shifted(1.5, 1023), shifted(1.5, 1024)), (Some(1.5 * two.powi(1023)), None));
        assert_eq!(shifted(two.powi(-1000), 1500), Some(two.powi(500)));
    }
}
