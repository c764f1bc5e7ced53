//! Values with their scales: how large the numbers were whose rounding a value carries.
//!
//! ```text
//! s(a ± b) = s_a + s_b     s(a b) = |a| s_b + |b| s_a     s(a/b) = (s_a + |a/b| s_b)/|b|     s(f(a)) = |f′| s_a + |f|
//! ```
//!
//! Symbols bring scales of their own, s ≥ |x|: what they are, and how far they move. A computed value is zero when it is a few
//! units in the last place of its scale. Where f′ is infinite (√ at 0) it is taken where the rounding of the argument ends.

use crate::dag::Function;
use crate::evaluate::Exponent;

/// A value and its scale.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scaled {
    /// The value.
    pub value: f64,
    /// How large what it was computed from is; at least |value|.
    pub scale: f64,
}

impl Scaled {
    /// The rounding of a formula, as a part of its scale: what is smaller is zero.
    pub const ROUNDING: f64 = 16.0 * f64::EPSILON;
    /// People type nine digits: a start that misses its rows by less than this part of their scale is projected silently.
    pub const TYPED: f64 = 1e-9;

    /// A number that is known to rounding.
    pub fn known(value: f64) -> Scaled {
        Scaled { value, scale: value.abs() }
    }

    /// The scale of xⁿ, given its value.
    #[must_use]
    pub fn power(self, n: f64, value: f64) -> f64 {
        let Scaled { value: x, scale: s } = self;
        let at = x.abs().max(f64::EPSILON * s);
        if at == 0.0 {
            return value.abs();
        }
        let slope = if at == x.abs() { (value / x).abs() } else { at.powf(n - 1.0) };
        n.abs() * slope * s + value.abs()
    }

    /// xⁿ for an exact exponent.
    #[must_use]
    pub fn to(self, n: Exponent) -> Scaled {
        let value = n.power(self.value);
        let scale = match n {
            Exponent::Whole(1) => self.scale,
            Exponent::Root => self.root(value),
            n => self.power(n.value(), value),
        };
        Scaled { value, scale }
    }

    /// The scale of √x, given its value.
    #[must_use]
    pub fn root(self, value: f64) -> f64 {
        let slope_at = value.max((f64::EPSILON * self.scale).sqrt());
        if slope_at == 0.0 { 0.0 } else { 0.5 * self.scale / slope_at + value }
    }
}

/// The scale of f(x, y), given its value; y counts where f has two arguments.
pub fn scale_of_function(f: Function, x: Scaled, y: Scaled, value: f64) -> f64 {
    let size = value.abs();
    let Scaled { value: x, scale: s } = x;
    // 1/√w with w no closer to 0 than the rounding of its terms.
    let over_root = |w: f64| 1.0 / w.abs().max(f64::EPSILON * s * (1.0 + x.abs())).sqrt();
    let slope = match f {
        Function::Exp => size,
        Function::Log => 1.0 / x.abs().max(f64::EPSILON * s),
        Function::Sin => x.cos().abs(),
        Function::Cos => x.sin().abs(),
        Function::Tan => 1.0 + value * value,
        Function::Sinh => x.cosh(),
        Function::Cosh => x.sinh().abs(),
        Function::Tanh => (1.0 / x.cosh()).powi(2),
        Function::Asin | Function::Acos => over_root(1.0 - x * x),
        Function::Atan => 1.0 / (1.0 + x * x),
        Function::Asinh => 1.0 / (1.0 + x * x).sqrt(),
        Function::Acosh => over_root(x * x - 1.0),
        Function::Atanh => 1.0 / (1.0 - x * x).abs().max(f64::EPSILON * s),
        Function::Atan2 => {
            let square = x * x + y.value * y.value;
            let moved = y.value.abs() * s + x.abs() * y.scale;
            return if square > 0.0 { moved / square + size } else { size };
        }
        Function::Abs => return s,
        Function::Sign => return size,
        Function::Min | Function::Max => return s.max(y.scale),
    };
    slope * s + size
}
