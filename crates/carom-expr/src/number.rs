//! Exact rational numbers in 128 bits.
//!
//! Every operation returns `None` when the exact result does not fit; the caller then keeps the expression
//! unevaluated or falls back to the nearest double ([`crate::Node::Float`]). Nothing is ever rounded silently.

use std::cmp::Ordering;
use std::fmt;

/// A fraction in lowest terms with a positive denominator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Rational {
    numerator: i128,
    denominator: i128,
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    if a == 1 || b == 1 {
        return 1;
    }
    // Almost every number is small, and 64-bit division is several times faster.
    while b != 0 {
        if let (Ok(mut x), Ok(mut y)) = (u64::try_from(a), u64::try_from(b)) {
            while y != 0 {
                (x, y) = (y, x % y);
            }
            return u128::from(x);
        }
        (a, b) = (b, a % b);
    }
    a
}

/// `i128::MIN` has no negative, so it counts as overflow everywhere.
fn representable(n: i128) -> Option<i128> {
    (n != i128::MIN).then_some(n)
}

impl Rational {
    /// Zero.
    pub const ZERO: Rational = Rational { numerator: 0, denominator: 1 };
    /// One.
    pub const ONE: Rational = Rational { numerator: 1, denominator: 1 };
    /// Minus one.
    pub const MINUS_ONE: Rational = Rational { numerator: -1, denominator: 1 };
    /// One half.
    pub const HALF: Rational = Rational { numerator: 1, denominator: 2 };

    /// `numerator/denominator` in lowest terms; `None` for a zero denominator or on overflow.
    pub fn new(numerator: i128, denominator: i128) -> Option<Rational> {
        if denominator == 0 || numerator == i128::MIN || denominator == i128::MIN {
            return None;
        }
        let g = gcd(numerator.unsigned_abs(), denominator.unsigned_abs()).max(1) as i128;
        let s = denominator.signum();
        Some(Rational { numerator: s * numerator / g, denominator: s * denominator / g })
    }

    /// A whole number.
    pub const fn integer(n: i64) -> Rational {
        Rational { numerator: n as i128, denominator: 1 }
    }

    /// Reads `12`, `0.25`, `1e-3`, `6.02e23` exactly; `None` if it is not a number or does not fit.
    pub fn parse(text: &str) -> Option<Rational> {
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], text[at + 1..].parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let fraction = fraction.trim_end_matches('0');
        let mut digits: i128 = 0;
        for c in whole.chars().chain(fraction.chars()) {
            digits = digits.checked_mul(10)?.checked_add(c.to_digit(10)? as i128)?;
        }
        if digits == 0 {
            return Some(Rational::ZERO);
        }
        let shift = exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?;
        let scale = 10_i128.checked_pow(shift.unsigned_abs())?;
        if shift >= 0 { Rational::new(digits.checked_mul(scale)?, 1) } else { Rational::new(digits, scale) }
    }

    /// The double's shortest decimal form as an exact rational (`0.1` becomes 1/10), the way a person means it.
    pub fn from_f64(x: f64) -> Option<Rational> {
        if !x.is_finite() {
            return None;
        }
        let r = Rational::parse(&format!("{:e}", x.abs()))?;
        if x < 0.0 { r.negate() } else { Some(r) }
    }

    /// Numerator, carrying the sign.
    pub fn numerator(self) -> i128 {
        self.numerator
    }
    /// Denominator, positive.
    pub fn denominator(self) -> i128 {
        self.denominator
    }
    /// Is it 0?
    pub fn is_zero(self) -> bool {
        self.numerator == 0
    }
    /// Is it 1?
    pub fn is_one(self) -> bool {
        self == Rational::ONE
    }
    /// Is it below 0?
    pub fn is_negative(self) -> bool {
        self.numerator < 0
    }
    /// Is it a whole number?
    pub fn is_integer(self) -> bool {
        self.denominator == 1
    }
    /// The whole number it is, if it is one and fits.
    pub fn to_integer(self) -> Option<i64> {
        if self.denominator == 1 { i64::try_from(self.numerator).ok() } else { None }
    }
    /// The nearest double.
    ///
    /// ```
    /// # use carom_expr::Rational;
    /// let r = Rational::parse("0.12345678901234567").unwrap();
    /// assert_eq!(r.to_f64(), 0.12345678901234567);
    /// ```
    pub fn to_f64(self) -> f64 {
        const EXACT: u128 = 1 << 53;
        let (n, d) = (self.numerator.unsigned_abs(), self.denominator.unsigned_abs());
        if n <= EXACT && d <= EXACT {
            // Both convert exactly, so one division rounds once.
            return self.numerator as f64 / self.denominator as f64;
        }
        // Long division until the quotient has 64 bits; a bit for the remainder decides ties in the conversion.
        let (mut quotient, mut rest) = (n / d, n % d);
        let mut shift = 0;
        while quotient >> 63 == 0 {
            rest <<= 1;
            quotient = quotient << 1 | u128::from(rest >= d);
            if rest >= d {
                rest -= d;
            }
            shift += 1;
        }
        let sticky = quotient << 1 | u128::from(rest != 0);
        // Within 2^±128, so the power of two and the product are exact.
        let x = sticky as f64 * 0.5_f64.powi(shift + 1);
        if self.numerator < 0 { -x } else { x }
    }

    /// `a + b`
    #[allow(clippy::should_implement_trait)] // answers None on overflow, which the trait cannot
    pub fn add(self, other: Rational) -> Option<Rational> {
        if self.denominator == 1 && other.denominator == 1 {
            let numerator = representable(self.numerator.checked_add(other.numerator)?)?;
            return Some(Rational { numerator, denominator: 1 });
        }
        let g = gcd(self.denominator.unsigned_abs(), other.denominator.unsigned_abs()) as i128;
        let left = self.numerator.checked_mul(other.denominator / g)?;
        let right = other.numerator.checked_mul(self.denominator / g)?;
        Rational::new(left.checked_add(right)?, self.denominator.checked_mul(other.denominator / g)?)
    }
    /// `a − b`
    pub fn subtract(self, other: Rational) -> Option<Rational> {
        self.add(other.negate()?)
    }
    /// `a b`
    pub fn multiply(self, other: Rational) -> Option<Rational> {
        if self.denominator == 1 && other.denominator == 1 {
            let numerator = representable(self.numerator.checked_mul(other.numerator)?)?;
            return Some(Rational { numerator, denominator: 1 });
        }
        let g1 = gcd(self.numerator.unsigned_abs(), other.denominator.unsigned_abs()).max(1) as i128;
        let g2 = gcd(other.numerator.unsigned_abs(), self.denominator.unsigned_abs()).max(1) as i128;
        // Lowest terms already: each pair was divided by its common factor.
        Some(Rational {
            numerator: representable((self.numerator / g1).checked_mul(other.numerator / g2)?)?,
            denominator: (self.denominator / g2).checked_mul(other.denominator / g1)?,
        })
    }
    /// `−a`
    pub fn negate(self) -> Option<Rational> {
        Some(Rational { numerator: self.numerator.checked_neg()?, denominator: self.denominator })
    }
    /// `1/a`; `None` for zero.
    pub fn reciprocal(self) -> Option<Rational> {
        Rational::new(self.denominator, self.numerator)
    }
    /// `a^n`; `None` for `0^negative` or when it does not fit.
    pub fn power(self, n: i64) -> Option<Rational> {
        let base = if n < 0 { self.reciprocal()? } else { self };
        if base.denominator == 1 && base.numerator.abs() <= 1 {
            let even = n % 2 == 0;
            return Some(if n == 0 || (even && !base.is_zero()) { Rational::ONE } else { base });
        }
        let n = u32::try_from(n.unsigned_abs()).ok()?;
        Some(Rational {
            numerator: representable(base.numerator.checked_pow(n)?)?,
            denominator: base.denominator.checked_pow(n)?,
        })
    }
    /// The greatest rational that divides both into whole numbers: gcd of numerators over lcm of denominators.
    ///
    /// ```
    /// # use carom_expr::Rational;
    /// let (a, b) = (Rational::new(3, 2).unwrap(), Rational::new(3, 4).unwrap());
    /// assert_eq!(a.common_divisor(b), Rational::new(3, 4));
    /// ```
    pub fn common_divisor(self, other: Rational) -> Option<Rational> {
        let numerator = gcd(self.numerator.unsigned_abs(), other.numerator.unsigned_abs());
        let shared = gcd(self.denominator.unsigned_abs(), other.denominator.unsigned_abs()) as i128;
        Rational::new(
            i128::try_from(numerator).ok()?,
            self.denominator.checked_mul(other.denominator / shared)?,
        )
    }
    /// `|a|`
    pub fn abs(self) -> Rational {
        Rational { numerator: self.numerator.abs(), denominator: self.denominator }
    }
}

impl PartialOrd for Rational {
    fn partial_cmp(&self, other: &Rational) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rational {
    fn cmp(&self, other: &Rational) -> Ordering {
        if self.denominator == other.denominator {
            return self.numerator.cmp(&other.numerator);
        }
        // Compare whole parts, then reciprocals of the fractional parts (Euclid): exact and without overflow.
        let (mut a, mut b) = (*self, *other);
        let mut flip = false;
        loop {
            let (qa, qb) = (a.numerator.div_euclid(a.denominator), b.numerator.div_euclid(b.denominator));
            let (ra, rb) = (a.numerator.rem_euclid(a.denominator), b.numerator.rem_euclid(b.denominator));
            let order = match qa.cmp(&qb) {
                Ordering::Equal => match (ra == 0, rb == 0) {
                    (true, true) => Ordering::Equal,
                    (true, false) => Ordering::Less,
                    (false, true) => Ordering::Greater,
                    (false, false) => {
                        a = Rational { numerator: a.denominator, denominator: ra };
                        b = Rational { numerator: b.denominator, denominator: rb };
                        flip = !flip;
                        continue;
                    }
                },
                unequal => unequal,
            };
            return if flip { order.reverse() } else { order };
        }
    }
}

impl fmt::Display for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.denominator == 1 {
            write!(f, "{}", self.numerator)
        } else {
            write!(f, "{}/{}", self.numerator, self.denominator)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_literals_are_exact() {
        assert_eq!(Rational::parse("0.1"), Rational::new(1, 10));
        assert_eq!(Rational::parse("9.81"), Rational::new(981, 100));
        assert_eq!(Rational::parse("1e-3"), Rational::new(1, 1000));
        assert_eq!(Rational::parse("2.50e2"), Rational::new(250, 1));
        assert_eq!(Rational::parse("1e400"), None);
        assert_eq!(Rational::parse("."), None);
        assert_eq!(Rational::from_f64(-0.3), Rational::new(-3, 10));
    }

    #[test]
    fn doubles_survive_the_way_through_their_decimal_form() {
        let mut x = 0.7_f64;
        for _ in 0..10_000 {
            x = (x * 997.13).fract() + 1e-9;
            for y in [x, -x * 1e5, x * 1e-12, x * 1e19] {
                if let Some(r) = Rational::from_f64(y) {
                    assert_eq!(r.to_f64(), y);
                }
            }
        }
    }

    #[test]
    fn results_that_do_not_fit_are_refused_and_never_panic() {
        let big = Rational::new(i128::MAX, 1).unwrap();
        let small = Rational::new(1, i128::MAX).unwrap();
        assert_eq!(big.add(Rational::ONE), None);
        assert_eq!(big.negate().unwrap().subtract(Rational::ONE), None);
        assert_eq!(small.multiply(small), None);
        assert_eq!(Rational::integer(-2).power(127), None);
        assert_eq!(Rational::integer(2).power(i64::MAX), None);
        assert_eq!(Rational::ONE.power(i64::MIN), Some(Rational::ONE));
        assert_eq!(big.to_f64(), i128::MAX as f64);
        assert_eq!(small.to_f64(), 1.0 / i128::MAX as f64);
        assert_eq!(big.cmp(&small), Ordering::Greater);
    }

    #[test]
    fn order_agrees_with_subtraction() {
        let values: Vec<Rational> =
            (-6..=6).flat_map(|n| (1..=5).map(move |d| Rational::new(n, d).unwrap())).collect();
        for &a in &values {
            for &b in &values {
                let difference = a.subtract(b).unwrap();
                assert_eq!(a.cmp(&b), difference.numerator().cmp(&0));
            }
        }
    }
}
