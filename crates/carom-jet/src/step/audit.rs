//! The rules by which laws are audited, step by step: single runs and lanes apply these, and there is no other text of them.
//!
//! ```text
//! balance     worst ← max(worst, |E − expected − work|)      scale ← max(scale, Σ |terms of E|)
//! residual    |c| / s      s: the greatest size of c so far
//! peak        the greatest watched value so far
//! ```

use crate::step::taylor::larger;

/// The largest error of a balance so far, with that of a value that should be `expected` + `work`. What is not a number stays.
#[inline(always)]
pub fn unbalanced(worst: f64, value: f64, expected: f64, work: f64) -> f64 {
    larger(worst, (value - expected - work).abs())
}

/// A value as a part of its scale; nothing is no part of anything.
#[inline(always)]
pub fn relative(value: f64, scale: f64) -> f64 {
    if value == 0.0 { 0.0 } else { value.abs() / scale }
}

/// A sum of sizes with one term more.
#[inline(always)]
pub fn with_term(sum: f64, term: f64) -> f64 {
    sum + term.abs()
}

/// The greatest value so far, with this one; what is not a number is not counted.
#[inline(always)]
pub fn greater(most: f64, x: f64) -> f64 {
    if x > most { x } else { most }
}

/// The greatest value so far, with those of a polynomial at the quarters of (0, h); all by Horner's rule, side by side.
pub fn peak_on_the_way(most: f64, c: &[f64], h: f64) -> f64 {
    let at = [1.0, 2.0, 3.0].map(|k| h * k / 4.0);
    let values = c.iter().rev().fold([0.0; 3], |sums: [f64; 3], ck| {
        [sums[0] * at[0] + ck, sums[1] * at[1] + ck, sums[2] * at[2] + ck]
    });
    values.into_iter().fold(most, greater)
}
