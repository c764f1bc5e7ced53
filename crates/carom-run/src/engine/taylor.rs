//! Order and step size of Taylor steps.
//!
//! ```text
//! ε = tol e⁻⁶, rounding at least        N = 6.3 + 0.533 ln(1/ε), to the nearest multiple of 4        h = ρ ε^(1/(N+1))
//! c_k = max_i |x_{i,k}| / max(1, |x_{i,0}|)        ρ = min over the last two orders of c_k^(−1/k)     (Jorba and Zou)
//! ```
//!
//! The first term left out is then about ε, relative to max(1, |component|): well below tol. This is an estimate from
//! the last coefficients, not an enclosure.

use super::flow::Flow;

/// What a step leaves out, as a part of the tolerance.
const MARGIN: f64 = 0.002_478_752_176_666_358_4;
/// A step costs a constant, a share per order and a share per pair of orders; so the best order grows more slowly than
/// the digits: about `LEAST`, and this much per unit of ln(1/ε). Sums take coefficients by fours.
const GROWTH: f64 = 0.533;
const LEAST: f64 = 6.3;

/// Order and tolerance of Taylor steps.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Taylor {
    /// Wanted local truncation error, relative to max(1, |component|).
    pub tolerance: f64,
    /// The order N that suits it.
    pub order: usize,
    /// h / ρ
    pub(crate) factor: f64,
}

impl Taylor {
    /// Steps for a tolerance, held within 1e-16 … 1e-2.
    pub fn new(tolerance: f64) -> Taylor {
        let tolerance = tolerance.clamp(1e-16, 1e-2);
        let left_out = (tolerance * MARGIN).max(f64::EPSILON);
        let order = 4.0 * ((LEAST - GROWTH * left_out.ln()) / 4.0).round();
        Taylor { tolerance, order: order as usize, factor: left_out.powf(1.0 / (order + 1.0)) }
    }

    /// The step that keeps the truncation error of state and watched functions at the tolerance; infinite for a
    /// motion that is a polynomial of degree below N − 2, not a number when a coefficient is not finite. The caller
    /// bounds it: by the end of the run, and by what may hide in it (a pulse that is zero to all orders here is invisible to its
    /// series).
    pub fn step_size(&self, flow: &Flow) -> f64 {
        let n = flow.order();
        let mut largest = [0.0_f64; 3];
        // Not finite if one of the coefficients is not; `>` would drop it.
        let mut sums = [0.0_f64; 3];
        let (state, orders) = (flow.coefficients(), [0, n, n - 1, n - 2]);
        state.each(orders, |[first, tail @ ..]| {
            let inverse = 1.0 / scale(first);
            for back in 0..3 {
                let x = tail[back].abs() * inverse;
                sums[back] += x;
                largest[back] = if x > largest[back] { x } else { largest[back] };
            }
        });
        // Overflow of the sums is no reason to give up: the lanes only look at the largest.
        if !sums.iter().all(|s| s.is_finite()) {
            largest = [0.0; 3];
            state.each(orders, |[first, tail @ ..]| {
                for back in 0..3 {
                    largest[back] = larger(largest[back], tail[back].abs() * (1.0 / scale(first)));
                }
            });
        }
        let rho = radius(n, largest);
        let mut all = largest;
        for i in 0..flow.tape().watched_count() {
            let row = flow.watched(i);
            all = with_watched(all, [row[n], row[n - 1], row[n - 2]], [row[0], row[1]], rho);
        }
        let rho = if all == largest { rho } else { radius(n, all) };
        rho * self.factor
    }
}

/// The coefficients of the state.
#[derive(Clone, Copy)]
pub(crate) enum Coefficients<'a> {
    /// All of one variable, then all of the next: so many each.
    ByRow(&'a [f64], usize),
    /// Those of order 0, then those of order 1, …: so many places each, of which the first so many are variables.
    ByOrder(&'a [f64], usize, usize),
}

impl Coefficients<'_> {
    /// Those of the first so many variables.
    pub(crate) fn of_first(self, count: usize) -> Self {
        match self {
            Coefficients::ByRow(rows, stride) => Coefficients::ByRow(&rows[..count * stride], stride),
            Coefficients::ByOrder(all, pitch, _) => Coefficients::ByOrder(all, pitch, count),
        }
    }

    /// The coefficients of these orders, of each variable.
    #[inline(always)]
    pub(crate) fn each<const K: usize>(self, orders: [usize; K], mut visit: impl FnMut([f64; K])) {
        match self {
            Coefficients::ByRow(rows, stride) => {
                for row in rows.chunks_exact(stride) {
                    visit(orders.map(|k| row[k]));
                }
            }
            Coefficients::ByOrder(all, pitch, count) => {
                let orders = orders.map(|k| &all[k * pitch..][..count]);
                for i in 0..count {
                    visit(orders.map(|order| order[i]));
                }
            }
        }
    }

    /// The state at t₀ + h, given h, h², ….
    #[inline(always)]
    pub(crate) fn end(self, powers: &[f64], into: &mut [f64]) {
        match self {
            Coefficients::ByRow(rows, stride) => {
                for (x, row) in into.iter_mut().zip(rows.chunks_exact(stride)) {
                    *x = end_of(row, powers);
                }
            }
            Coefficients::ByOrder(orders, pitch, _) => ends_of(orders, pitch, powers, into),
        }
    }
}

/// [`end_of`] for many rows, kept order by order.
fn ends_of(orders: &[f64], pitch: usize, powers: &[f64], into: &mut [f64]) {
    const ROWS: usize = 4;
    for (start, into) in (0..).step_by(ROWS).zip(into.chunks_mut(ROWS)) {
        let row = |k: usize| &orders[k * pitch + start..][..ROWS];
        let add = |sum: &mut [f64; ROWS], k: usize| {
            for (sum, c) in sum.iter_mut().zip(row(k)) {
                *sum += c * powers[k - 1];
            }
        };
        let (mut sums, mut last) = ([[0.0; ROWS]; 4], [0.0; ROWS]);
        let whole = powers.len() / 4 * 4;
        for k in (1..=whole).step_by(4) {
            for (i, sum) in sums.iter_mut().enumerate() {
                add(sum, k + i);
            }
        }
        (whole + 1..=powers.len()).for_each(|k| add(&mut last, k));
        for (i, x) in into.iter_mut().enumerate() {
            *x = row(0)[i] + (((sums[0][i] + sums[1][i]) + (sums[2][i] + sums[3][i])) + last[i]);
        }
    }
}

/// h, h², … h^n into `into`: blocks of 1, 2, 4 … are the ones before times h^1, h^2, h^4 …: few roundings, little waiting.
#[inline(always)]
pub(crate) fn powers(h: f64, into: &mut [f64]) {
    let Some(first) = into.first_mut() else { return };
    *first = h;
    let mut known = 1;
    while known < into.len() {
        let (below, above) = into.split_at_mut(known);
        let step = below[known - 1];
        above.iter_mut().zip(&*below).for_each(|(x, p)| *x = p * step);
        known *= 2;
    }
}

/// x(h) = x₀ + Σ x_k h^k, given h, h², …, in four partial sums and one of what is left;
/// x₀ is added last, so that what is rounded most is small.
#[inline(always)]
pub(crate) fn end_of(row: &[f64], powers: &[f64]) -> f64 {
    let (first, rest) = (row[0], &row[1..]);
    let (c, p) = (rest.chunks_exact(4), powers[..rest.len()].chunks_exact(4));
    let last = c.remainder().iter().zip(p.remainder()).fold(0.0, |sum, (c, p)| sum + c * p);
    let mut sums = [0.0_f64; 4];
    for (c, p) in c.zip(p) {
        for i in 0..4 {
            sums[i] += c[i] * p[i];
        }
    }
    first + (((sums[0] + sums[1]) + (sums[2] + sums[3])) + last)
}

/// max(1, |x|)
#[inline(always)]
pub(crate) fn scale(x: f64) -> f64 {
    x.abs().max(1.0)
}

/// The largest scaled coefficients, those of a watched function w (`tail`: orders n, n − 1, n − 2) included. It has its
/// own scale: at least what it moves by within ρ, the radius of the state.
#[inline(always)]
pub(crate) fn with_watched(all: [f64; 3], tail: [f64; 3], [w0, w1]: [f64; 2], rho: f64) -> [f64; 3] {
    let least = scale(w0);
    // Already with the smallest scale it would not shorten the step.
    let small = (tail[0].abs() <= all[0] * least)
        & (tail[1].abs() <= all[1] * least)
        & (tail[2].abs() <= all[2] * least);
    let reach = (w1 * rho).abs();
    let own = if reach < f64::INFINITY { least.max(reach) } else { least };
    let inverse = if small { 0.0 } else { 1.0 / own };
    [0, 1, 2].map(|i| larger(all[i], tail[i].abs() * inverse))
}

/// ρ from the largest scaled coefficients of orders n, n − 1, n − 2; the third only counts when the others vanish. To
/// about 3e-3, free of branches, divisions by data and library calls: lanes and single runs agree.
#[inline(always)]
pub(crate) fn radius(n: usize, [last, before, third]: [f64; 3]) -> f64 {
    let [n, before_n, third_n] = [1.0 / n as f64, 1.0 / (n - 1) as f64, 1.0 / (n - 2) as f64];
    let two = smaller(logarithm(last) * -n, logarithm(before) * -before_n);
    let three = logarithm(third) * -third_n;
    power(if two == f64::INFINITY { three } else { two })
}

/// The larger of two that are not negative; not a number when one is not (`max` would drop it), so that it reaches the
/// caller: the bits of such numbers are ordered like the numbers, and "not a number" comes last.
#[inline(always)]
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    f64::from_bits(a.to_bits().max(b.to_bits()))
}

/// The smaller of two, of whatever sign; not a number when one is not.
#[inline(always)]
pub(crate) fn smaller(a: f64, b: f64) -> f64 {
    if a.is_nan() || a < b { a } else { b }
}

/// log₂ c for c ≥ 0, to 0.05: the exponent and, for its fraction, the mantissa. −∞ for c = 0
/// (below 1e-300), not a number when c is not finite.
#[inline(always)]
fn logarithm(c: f64) -> f64 {
    // The bits as a number: put them below the point of 2⁵², and subtract; 0.043 centres the error.
    const TWO_52: u64 = 0x4330_0000_0000_0000;
    const UNIT: f64 = 1.0 / (1_u64 << 40) as f64;
    let scaled = f64::from_bits((c.to_bits() >> 12) | TWO_52) - f64::from_bits(TWO_52);
    let log = if c < 1e-300 { f64::NEG_INFINITY } else { scaled * UNIT - (1023.0 - 0.043) };
    if c < f64::INFINITY { log } else { f64::NAN }
}

/// 2^x for |x| < 1000, to 1e-4 of itself; ∞ beyond.
#[inline(always)]
fn power(x: f64) -> f64 {
    // Whole part through the exponent field, fraction |f| ≤ 1/2 by a polynomial.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let shifted = x + ROUND;
    let f = x - (shifted - ROUND);
    let fraction = 1.0 + f * ((0.693_282_928 + 0.242_210_965 * f) + 0.055_008_932 * (f * f));
    let doubled = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1.0_f64.to_bits()));
    if x < 1000.0 || x.is_nan() { fraction * doubled } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quick_radius_is_the_radius() {
        for n in [8, 15, 19, 22] {
            for c in [1e-299, 3.7e-80, 1e-17, 0.3, 1.0, 1.999, 2.0, 77.0, 1e19, 4e300] {
                let wanted = f64::powf(c, -1.0 / n as f64);
                // 0.043/n binary digits.
                assert!((radius(n, [c, 0.0, 0.0]) / wanted - 1.0).abs() < 5e-3, "{c:e}^(-1/{n})");
                let wanted = f64::powf(c, -1.0 / (n - 2) as f64);
                assert!((radius(n, [0.0, 0.0, c]) / wanted - 1.0).abs() < 6e-3, "third, {c:e}");
            }
        }
        assert_eq!(radius(20, [0.0; 3]), f64::INFINITY);
        for bad in [f64::NAN, f64::INFINITY] {
            assert!(radius(20, [bad, 1.0, 0.0]).is_nan() && radius(20, [0.0, bad, 0.0]).is_nan());
        }
    }

    #[test]
    fn what_is_not_a_number_is_not_dropped() {
        for (a, b) in [(f64::NAN, 1.0), (1.0, f64::NAN)] {
            assert!(larger(a, b).is_nan() && smaller(a, b).is_nan());
        }
        assert_eq!((larger(1.0, 2.0), smaller(1.0, 2.0)), (2.0, 1.0));
    }

    #[test]
    fn the_end_of_a_step_is_the_value_of_its_polynomials() {
        for n in [4, 5, 6, 7, 20] {
            let row: Vec<f64> = (0..=n).map(|k| 1.0 / (k + 1) as f64).collect();
            let mut h = vec![0.0; n];
            powers(0.5, &mut h);
            let wanted: f64 = (0..=n).map(|k| row[k] * 0.5f64.powi(k as i32)).sum();
            assert!((end_of(&row, &h) - wanted).abs() < 4.0 * f64::EPSILON, "{n}");
            let (pitch, mut ends) = (8, [0.0; 6]);
            let orders: Vec<f64> =
                row.iter().flat_map(|c| (0..pitch).map(move |i| c * (1 + i) as f64)).collect();
            ends_of(&orders, pitch, &h, &mut ends);
            let each = |i: usize| row.iter().map(|c| c * (1 + i) as f64).collect::<Vec<f64>>();
            assert_eq!(ends, std::array::from_fn(|i| end_of(&each(i), &h)), "the same bits");
        }
    }

    #[test]
    fn orders_follow_the_tolerance() {
        assert_eq!([1e-16, 1e-15, 1e-9, 1e-6, 1e-2].map(|tol| Taylor::new(tol).order), [24, 24, 20, 16, 12]);
    }

    #[test]
    fn what_a_step_leaves_out_is_far_below_the_tolerance() {
        for tol in [1e-2, 1e-6, 1e-9, 1e-12] {
            let taylor = Taylor::new(tol);
            let first_term = taylor.factor.powi(taylor.order as i32 + 1);
            assert!((first_term / tol * f64::exp(6.0) - 1.0).abs() < 1e-9);
        }
    }
}
