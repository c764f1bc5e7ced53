//! sin and cos together, to within one unit in the last place, the same bits on every machine and in every lane.
//!
//! ```text
//! x = n π/2 + r + s,   |r| ≤ π/4,   s the rounding of r;     sin(r + s), cos(r + s) by their Taylor polynomials
//! ```
//!
//! π/2 is cut into two pieces of 33 bits, whose products with |n| < 2²⁰ are exact, and a tail. Larger arguments and
//! those that are not finite go to the standard library. No fused operations, no branches on the way of small arguments: the
//! loop over lanes becomes vector code, and the scalar call gives the same bits.

// Loops over lanes are indexed: several arrays advance together, and that form becomes vector code.
#![allow(clippy::needless_range_loop)]

use crate::eval::element::{Count, Vector, Wide};
use crate::simd::Kernel;

/// Arguments up to this size take the fast way: n < 2²⁰.
const LARGEST: f64 = 1.6e6;

/// Bits 1–33 and 34–66 of π/2, and the rest.
const HALF_PI: [f64; 3] = [1.570_796_326_734_125_6, 6.077_100_506_303_966e-11, 2.022_266_248_795_950_6e-21];

/// Adding and subtracting this rounds to a whole number (ties to even); its low bits are then that number.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// (−1)^m / (2m+1)! for m = 1 … 8.
const SIN: [f64; 8] = [
    -1.0 / 6.0,
    1.0 / 120.0,
    -1.0 / 5_040.0,
    1.0 / 362_880.0,
    -1.0 / 39_916_800.0,
    1.0 / 6_227_020_800.0,
    -1.0 / 1_307_674_368_000.0,
    1.0 / 355_687_428_096_000.0,
];

/// (−1)^m / (2m)! for m = 2 … 8.
const COS: [f64; 7] = [
    1.0 / 24.0,
    -1.0 / 720.0,
    1.0 / 40_320.0,
    -1.0 / 3_628_800.0,
    1.0 / 479_001_600.0,
    -1.0 / 87_178_291_200.0,
    1.0 / 20_922_789_888_000.0,
];

/// (sin x, cos x) for every double.
#[inline]
pub(crate) fn sin_cos(x: f64) -> (f64, f64) {
    if x.abs() <= LARGEST { reduced(x) } else { x.sin_cos() }
}

/// (sin x, cos x) for |x| ≤ [`LARGEST`].
#[inline(always)]
fn reduced(x: f64) -> (f64, f64) {
    let shifted = x * std::f64::consts::FRAC_2_PI + ROUND;
    let n = shifted - ROUND;
    let quadrant = shifted.to_bits();
    // x − n·(first piece) is exact; the second difference is kept as sum and error.
    let t = x - n * HALF_PI[0];
    let w = n * HALF_PI[1];
    let u = t - w;
    let v = u - t;
    let error = (t - (u - v)) - (w + v);
    let tail = error - n * HALF_PI[2];
    let r = u + tail;
    let s = (u - r) + tail;

    let z = r * r;
    let z2 = z * z;
    let z4 = z2 * z2;
    // Polynomials in z by pairs: short chains.
    let p = ((SIN[0] + z * SIN[1]) + z2 * (SIN[2] + z * SIN[3]))
        + z4 * ((SIN[4] + z * SIN[5]) + z2 * (SIN[6] + z * SIN[7]));
    let q = ((COS[0] + z * COS[1]) + z2 * (COS[2] + z * COS[3])) + z4 * ((COS[4] + z * COS[5]) + z2 * COS[6]);
    let half = 0.5 * z;
    let sin = r + (z * r * p + s * (1.0 - half));
    let w = 1.0 - half;
    let cos = w + (((1.0 - w) - half) + (z2 * q - r * s));

    let swap = quadrant & 1 == 1;
    let (a, b) = if swap { (cos, sin) } else { (sin, cos) };
    // Quadrants 2, 3 negate the sine, 1, 2 the cosine.
    let negate_a = (quadrant & 2) << 62;
    let negate_b = (quadrant.wrapping_add(1) & 2) << 62;
    (f64::from_bits(a.to_bits() ^ negate_a), f64::from_bits(b.to_bits() ^ negate_b))
}

/// (sin x, cos x) of several numbers at once: the bits of [`sin_cos`].
pub(crate) struct SinCos<'a, const W: usize>
where
    Count<W>: Vector,
{
    pub x: Wide<W>,
    pub sin: &'a mut Wide<W>,
    pub cos: &'a mut Wide<W>,
}

impl<const W: usize> Kernel for SinCos<'_, W>
where
    Count<W>: Vector,
{
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        sin_cos_wide(&self.x, self.sin, self.cos);
    }
}

/// As [`sin_cos`], lane by lane.
#[inline(always)]
pub(crate) fn sin_cos_wide<const W: usize>(x: &Wide<W>, sin: &mut Wide<W>, cos: &mut Wide<W>)
where
    Count<W>: Vector,
{
    let mut near = true;
    for i in 0..W {
        (sin.0[i], cos.0[i]) = reduced(x.0[i]);
        // False for what is not a number.
        near &= x.0[i].abs() <= LARGEST;
    }
    if !near {
        for i in 0..W {
            (sin.0[i], cos.0[i]) = sin_cos(x.0[i]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Unevaluated sums of two doubles: about 106 bits.
    #[derive(Clone, Copy)]
    struct Double(f64, f64);

    fn two_sum(a: f64, b: f64) -> Double {
        let s = a + b;
        let v = s - a;
        Double(s, (a - (s - v)) + (b - v))
    }
    impl Double {
        fn add(self, o: Double) -> Double {
            let s = two_sum(self.0, o.0);
            two_sum(s.0, s.1 + self.1 + o.1)
        }
        fn mul(self, o: Double) -> Double {
            let p = self.0 * o.0;
            let e = self.0.mul_add(o.0, -p) + (self.0 * o.1 + self.1 * o.0);
            two_sum(p, e)
        }
        fn over(self, n: f64) -> Double {
            let q = self.0 / n;
            let rest = (-q).mul_add(n, self.0) + self.1;
            two_sum(q, rest / n)
        }
    }

    /// sin and cos of x to about 100 bits: x − n π/2 with π/2 to 161 bits, then Taylor series.
    fn reference(x: f64) -> (Double, Double) {
        // π/2 as three doubles, from its hexadecimal expansion 1.921fb54442d18469898cc51701b839a252049c1114cf98e…
        let pieces = [
            f64::from_bits(0x3ff9_21fb_5444_2d18),
            f64::from_bits(0x3c91_a626_3314_5c07),
            -1.497_384_904_859_17e-33,
        ];
        let n = (x / pieces[0]).round();
        let mut r = Double(x, 0.0);
        for p in pieces {
            let product = n * p;
            r = r.add(Double(-product, -n.mul_add(p, -product)));
        }
        let mut sums = [Double(0.0, 0.0); 2];
        let mut term = Double(1.0, 0.0);
        for m in 0..28 {
            let signed = if m % 4 < 2 { term } else { Double(-term.0, -term.1) };
            sums[m % 2] = sums[m % 2].add(signed);
            term = term.mul(r).over((m + 1) as f64);
        }
        let [cos, sin] = sums;
        let minus = |d: Double| Double(-d.0, -d.1);
        match (n as i64).rem_euclid(4) {
            0 => (sin, cos),
            1 => (cos, minus(sin)),
            2 => (minus(sin), minus(cos)),
            _ => (minus(cos), sin),
        }
    }

    fn error_in_ulps(found: f64, wanted: Double) -> f64 {
        let ulp = f64::from_bits(wanted.0.abs().to_bits() + 1) - wanted.0.abs();
        (((found - wanted.0) - wanted.1) / ulp).abs()
    }

    fn check(x: f64) -> f64 {
        let (s, c) = sin_cos(x);
        let (sr, cr) = reference(x);
        let worst = error_in_ulps(s, sr).max(error_in_ulps(c, cr));
        assert!(worst <= 1.0, "{x:e}: {worst} ulp");
        worst
    }

    #[test]
    fn both_are_within_one_ulp_over_the_whole_fast_range() {
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut worst = 0.0_f64;
        for reach in [1e-8, 0.1, 1.0, 4.0, 30.0, 1e3, 1e5, LARGEST] {
            for _ in 0..20_000 {
                worst = worst.max(check(reach * (2.0 * random() - 1.0)));
            }
        }
        // Next to multiples of π/2, where the reduction cancels most, and of π/4, where quadrants change.
        for n in (1..2_000).chain((1..500).map(|i| i * 2_000)) {
            for step in -2_i64..=2 {
                let x = f64::from(n) * std::f64::consts::FRAC_PI_4;
                worst = worst.max(check(f64::from_bits(x.to_bits().wrapping_add_signed(step))));
            }
        }
        assert!(worst > 0.5, "the check itself must see rounding: {worst}");
    }

    #[test]
    fn signs_zero_and_the_rest_of_the_line_are_right() {
        assert_eq!(sin_cos(0.0), (0.0, 1.0));
        // The sign of zero is not kept: sin(−0) = +0.
        let (s, c) = sin_cos(-0.0);
        assert_eq!([s, c].map(f64::to_bits), [0.0, 1.0].map(f64::to_bits));
        for x in [0.3, 2.0, 4.0, 5.5, 1e5] {
            let ((s, c), (ms, mc)) = (sin_cos(x), sin_cos(-x));
            assert_eq!((ms, mc), (-s, c));
        }
        for x in [1e7, 1e22, f64::MAX] {
            assert_eq!(sin_cos(x), x.sin_cos());
        }
        assert!(sin_cos(f64::INFINITY).0.is_nan() && sin_cos(f64::NAN).1.is_nan());
    }
}
