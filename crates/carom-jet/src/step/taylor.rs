//! Order and step size of Taylor steps.
//!
//! ```text
//! ε = tol e⁻⁶, a quarter of rounding at least        N = 6.3 + 0.533 ln(1/ε), to the nearest multiple of 4        h = ρ ε^(1/(N+1))
//! c_k = max_i |x_{i,k}| / S_i        ρ = min over the last two orders of c_k^(−1/k)     (Jorba and Zou)
//! ```
//!
//! Series may have gaps: a pendulum released from rest at a right angle is φ = ω²t²/2 − ω⁶t⁶/240 + …, every fourth power, and
//! its last two coefficients are zero or the rounding of cos(π/2). So a third order that says far less than these two
//! decides: with x and x', three orders in a row hold one that counts.
//!
//! S_i is what component i has moved by so far (see the module of extents). The first term left out is then about ε, relative
//! to it: well below tol. This is an estimate from the last coefficients, not an enclosure. No unit of length, mass or time
//! enters: multiplying a component or time by a power of two changes the step by exactly that power.

use crate::eval::flow::Flow;
use crate::step::extent::{Extent, NOTHING, first_step, inverse, scale, scale_by_size};
use crate::step::time::two_sum;

/// What a step leaves out, as a part of the tolerance.
const MARGIN: f64 = 0.002_478_752_176_666_358_4;
/// A step costs a constant, a share per order and a share per pair of orders; so the best order grows more slowly than
/// the digits: about `LEAST`, and this much per unit of ln(1/ε). Sums take coefficients by fours.
const GROWTH: f64 = 0.533;
const LEAST: f64 = 6.3;

/// What a step leaves out at least. Rounding errors of steps come with either sign, what is left out does not: at a whole unit
/// of rounding it would be most of a trajectory's error, at a quarter it is the smaller part.
const FLOOR: f64 = 0.25 * f64::EPSILON;

/// Order and tolerance of Taylor steps.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Taylor {
    /// Wanted local truncation error, relative to what the component has moved by.
    pub tolerance: f64,
    /// The order N that suits it.
    pub order: usize,
    /// h / ρ
    pub factor: f64,
}

impl Taylor {
    /// Steps for a tolerance, held within 1e-16 … 1e-2.
    pub fn new(tolerance: f64) -> Taylor {
        let tolerance = tolerance.clamp(1e-16, 1e-2);
        let left_out = (tolerance * MARGIN).max(FLOOR);
        let order = 4.0 * ((LEAST - GROWTH * left_out.max(f64::EPSILON).ln()) / 4.0).round();
        let order = order as usize;
        Taylor { tolerance, order, factor: nth_root(order + 1, left_out) }
    }

    /// The step that keeps the truncation error of state and watched functions at the tolerance, in units of the series;
    /// infinite for a motion that is a polynomial of degree below N − 2, not a number when a coefficient is not finite. The
    /// caller bounds it: by the end of the run, and by what may hide in it (a pulse that is zero to all orders here is
    /// invisible to its series).
    pub fn step_size(&self, flow: &Flow, extent: &Extent) -> f64 {
        let mut before = self.step_before(flow, extent);
        loop {
            let h = self.step_after(flow, extent, before);
            if !far_shorter(h, before) {
                return h;
            }
            before = h;
        }
    }

    /// The step, given the one before.
    fn step_after(&self, flow: &Flow, extent: &Extent, before: f64) -> f64 {
        let n = flow.order();
        let mut largest = [0.0_f64; 3];
        // Not finite if one of the coefficients is not; `>` would drop it.
        let mut sums = [0.0_f64; 3];
        each_scaled(flow, extent, before, [n, n - 1, n - 2], |scaled| {
            for back in 0..3 {
                sums[back] += scaled[back];
                largest[back] = if scaled[back] > largest[back] { scaled[back] } else { largest[back] };
            }
        });
        // Overflow of the sums is no reason to give up: the lanes only look at the largest.
        if !sums.iter().all(|s| s.is_finite()) {
            largest = [0.0; 3];
            each_scaled(flow, extent, before, [n, n - 1, n - 2], |scaled| {
                for back in 0..3 {
                    largest[back] = larger(largest[back], scaled[back]);
                }
            });
        }
        let (dimension, tail) = (flow.tape().dimension(), |w: &[f64]| [w[n], w[n - 1], w[n - 2]]);
        for i in 0..flow.tape().watched_count() {
            let w = flow.watched(i);
            let first = [w[0], w[1], w[2]];
            let own = match extent.watched(dimension, i) {
                Some(range) => scale(range, first, before),
                None => scale_by_size(first, before),
            };
            largest = with_watched(largest, tail(w), own);
        }
        radius(n, largest) * self.factor
    }

    /// The step before in units of the series; what stands for it before the first.
    fn step_before(&self, flow: &Flow, extent: &Extent) -> f64 {
        if extent.step > 0.0 { extent.step / flow.unit() } else { first_step(self, &(flow, extent)) }
    }

    /// Which state variable, and which watched function if it is steeper, limits the step.
    pub fn steepest(&self, flow: &Flow, extent: &Extent) -> (usize, Option<usize>) {
        let (n, before) = (flow.order(), self.step_before(flow, extent));
        let (mut greatest, mut state, mut watched, mut i) = (-1.0_f64, 0, None, 0);
        each_scaled(flow, extent, before, [n], |[c]| {
            if c > greatest {
                (greatest, state) = (c, i);
            }
            i += 1;
        });
        for i in 0..flow.tape().watched_count() {
            let w = flow.watched(i);
            let range = extent.watched(flow.tape().dimension(), i);
            let own = range.map(|range| scale(range, [w[0], w[1], w[2]], before));
            let c = w[n].abs() * inverse(own.unwrap_or_else(|| scale_by_size([w[0], w[1], w[2]], before)));
            if c > greatest {
                (greatest, watched) = (c, Some(i));
            }
        }
        (state, watched)
    }

    /// Is a step of this size far shorter than the motion's own time scale, h |x_2| ≪ |x_1|, the largest of each among so many
    /// of the first variables, by their scales?
    pub fn is_smooth(&self, flow: &Flow, extent: &Extent, h: f64, variables: usize, part: f64) -> bool {
        let before = self.step_before(flow, extent);
        let (mut rate, mut bend, mut left) = (0.0_f64, 0.0_f64, variables);
        each_scaled(flow, extent, before, [1, 2], |[first, second]| {
            if left > 0 {
                left -= 1;
                rate = if first > rate { first } else { rate };
                bend = if 2.0 * second > bend { 2.0 * second } else { bend };
            }
        });
        // Of the first step nothing is known but itself.
        extent.step > 0.0 && rate > 0.0 && h * bend < part * rate
    }
}

/// |x_k| / S of these orders, for each state variable.
#[inline(always)]
fn each_scaled<const K: usize>(
    flow: &Flow,
    extent: &Extent,
    before: f64,
    orders: [usize; K],
    mut visit: impl FnMut([f64; K]),
) {
    let mut ranges = extent.ranges.iter();
    flow.coefficients().each_with([0, 1, 2], orders, |first, tail| {
        let range = ranges.next().copied().unwrap_or(NOTHING);
        let inverse = inverse(scale(range, first, before));
        visit(tail.map(|x| x.abs() * inverse));
    });
}

/// The coefficients of the state.
#[derive(Clone, Copy)]
pub enum Coefficients<'a> {
    /// All of one variable, then all of the next: so many each.
    ByRow(&'a [f64], usize),
    /// Those of order 0, then those of order 1, …: so many places each, of which the first so many are variables.
    ByOrder(&'a [f64], usize, usize),
}

impl Coefficients<'_> {
    /// The coefficients of these orders, of each variable.
    #[inline(always)]
    pub fn each<const K: usize>(self, orders: [usize; K], mut visit: impl FnMut([f64; K])) {
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

    /// The first ones and others of each variable.
    #[inline(always)]
    pub fn each_with<const J: usize, const K: usize>(
        self,
        first: [usize; J],
        others: [usize; K],
        mut visit: impl FnMut([f64; J], [f64; K]),
    ) {
        match self {
            Coefficients::ByRow(rows, stride) => {
                for row in rows.chunks_exact(stride) {
                    visit(first.map(|k| row[k]), others.map(|k| row[k]));
                }
            }
            Coefficients::ByOrder(all, pitch, count) => {
                let (first, others) =
                    (first.map(|k| &all[k * pitch..][..count]), others.map(|k| &all[k * pitch..][..count]));
                for i in 0..count {
                    visit(first.map(|order| order[i]), others.map(|order| order[i]));
                }
            }
        }
    }

    /// The state at t₀ + h, given h, h², …, and `low`: what the doubles of the state at t₀ leave out, then what those of the end do.
    #[inline(always)]
    pub fn end(self, powers: &[f64], into: &mut [f64], low: &mut [f64]) {
        match self {
            Coefficients::ByRow(rows, stride) => {
                for ((x, low), row) in into.iter_mut().zip(low).zip(rows.chunks_exact(stride)) {
                    (*x, *low) = end_of(row, powers, *low);
                }
            }
            Coefficients::ByOrder(orders, pitch, _) => ends_of(orders, pitch, powers, into, low),
        }
    }
}

/// [`end_of`] for many rows, kept order by order.
fn ends_of(orders: &[f64], pitch: usize, powers: &[f64], into: &mut [f64], low: &mut [f64]) {
    const ROWS: usize = 4;
    for ((start, into), low) in (0..).step_by(ROWS).zip(into.chunks_mut(ROWS)).zip(low.chunks_mut(ROWS)) {
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
        for (i, (x, low)) in into.iter_mut().zip(low).enumerate() {
            let change = ((sums[0][i] + sums[1][i]) + (sums[2][i] + sums[3][i])) + last[i];
            (*x, *low) = two_sum(row(0)[i], change + *low);
        }
    }
}

/// h, h², … h^n into `into`: blocks of 1, 2, 4 … are the ones before times h^1, h^2, h^4 …: few roundings, little waiting.
#[inline(always)]
pub fn powers(h: f64, into: &mut [f64]) {
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

/// x(h) = x₀ + Σ x_k h^k as a pair of doubles, given h, h², … and what x₀ leaves out, in four partial sums and one of what is
/// left; x₀ is added last and the rounding of that kept, so that all that is lost is a part of what the step adds.
#[inline(always)]
pub(crate) fn end_of(row: &[f64], powers: &[f64], low: f64) -> (f64, f64) {
    let (first, rest) = (row[0], &row[1..]);
    let (c, p) = (rest.chunks_exact(4), powers[..rest.len()].chunks_exact(4));
    let last = c.remainder().iter().zip(p.remainder()).fold(0.0, |sum, (c, p)| sum + c * p);
    let mut sums = [0.0_f64; 4];
    for (c, p) in c.zip(p) {
        for i in 0..4 {
            sums[i] += c[i] * p[i];
        }
    }
    two_sum(first, (((sums[0] + sums[1]) + (sums[2] + sums[3])) + last) + low)
}

/// The largest scaled coefficients, those of a watched function of scale `own` (`tail`: orders n, n − 1, n − 2) included.
#[inline(always)]
pub(crate) fn with_watched(all: [f64; 3], tail: [f64; 3], own: f64) -> [f64; 3] {
    let inverse = inverse(own);
    [0, 1, 2].map(|i| larger(all[i], tail[i].abs() * inverse))
}

/// ρ from the largest scaled coefficients of orders n, n − 1, n − 2; the third only counts where the others nearly vanish.
/// To about 3e-3, free of branches, divisions by data and library calls: lanes and single runs agree.
#[inline(always)]
pub(crate) fn radius(n: usize, [last, before, third]: [f64; 3]) -> f64 {
    of_last_three(smaller(root(n, last), root(n - 1, before)), root(n - 2, third))
}

/// How much longer a step by the last two orders may be than by the third: what is left out stays within 1.1²⁵ ≈ 11 ε, and the
/// scatter of c_k^(−1/k) in a series without gaps is less.
const GAP: f64 = 1.1;

/// ρ, given what the last two orders say and what the third does.
#[inline(always)]
pub(crate) fn of_last_three(two: f64, three: f64) -> f64 {
    if two > GAP * three { three } else { two }
}

/// Does a step of this many units suit the unit of its series? Powers of what does stay far from over- and underflow.
#[inline(always)]
pub fn within_unit(step: f64) -> bool {
    (1.0 / 65536.0..=65536.0).contains(&step)
}

/// Is a step so much shorter than the one before that scales of components must be taken again? What moves within
/// the one before then says little about it.
#[inline(always)]
pub(crate) fn far_shorter(step: f64, before: f64) -> bool {
    step < 0.25 * before
}

/// The unit for steps about so long: 1 where that suits, else the power of two below.
pub fn unit_for(step: f64) -> f64 {
    let usual = within_unit(step) || !(f64::MIN_POSITIVE..f64::INFINITY).contains(&step);
    if usual { 1.0 } else { f64::from_bits(step.to_bits() & 0x7ff0_0000_0000_0000) }
}

/// The shortest unit that is tried where series overflow.
pub const SHORTEST_UNIT: f64 = 1.0 / (1_u64 << 60) as f64 / (1_u64 << 60) as f64;

/// A unit in which the coefficients of order N are smaller by 2^(20 N).
pub fn shorter_unit(unit: f64) -> f64 {
    unit / (1_u64 << 20) as f64
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

/// c^(−1/n) for c ≥ 0, to about 3e-3: ∞ for c = 0, not a number when c is not finite. 2^q (m 2^r)^(−1/n) with the exponent
/// e = n q + r: exactly 2^−k times as large for c 2^(nk).
#[inline(always)]
pub(crate) fn root(n: usize, c: f64) -> f64 {
    // log₂ c to 0.05, on a grid of 2⁻⁴⁰ and free of rounding: the exponent and, for its fraction, the mantissa. The bits as a
    // number: put them below the point of 2⁵², and subtract; 0.043 (on the grid) centres the error.
    const TWO_52: u64 = 0x4330_0000_0000_0000;
    const UNIT: f64 = 1.0 / (1_u64 << 40) as f64;
    const CENTRE: f64 = 1023.0 - 47_278_999_994.0 * UNIT;
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let (n, inverse) = (n as f64, 1.0 / n as f64);
    let log = (f64::from_bits((c.to_bits() >> 12) | TWO_52) - f64::from_bits(TWO_52)) * UNIT - CENTRE;
    // log = n q + r with −n/2 ≤ r < n/2, all exact.
    let near = (log * inverse + ROUND) - ROUND;
    let rest = log - n * near;
    let off = if rest >= 0.5 * n { 1.0 } else { 0.0 } - if rest < -0.5 * n { 1.0 } else { 0.0 };
    let (whole, rest) = (near + off, rest - n * off);
    // 2^f for |f| ≤ 1/2 to 1e-4 by a polynomial, 2^−q through the exponent field.
    let f = rest * -inverse;
    let fraction = 1.0 + f * ((0.693_282_928 + 0.242_210_965 * f) + 0.055_008_932 * (f * f));
    let doubled = f64::from_bits(((ROUND - whole).to_bits() << 52).wrapping_add(1.0_f64.to_bits()));
    let value = if c < f64::MIN_POSITIVE { f64::INFINITY } else { fraction * doubled };
    if c < f64::INFINITY { value } else { f64::NAN }
}

/// c^(1/n) for 0 < c ≤ 1 by Newton's method: the same bits whatever mathematical library a platform has.
fn nth_root(n: usize, c: f64) -> f64 {
    let mut x = 1.0 / root(n, c);
    // From 3e-3 to rounding; the error is squared and grows by n/2 in each round.
    for _ in 0..5 {
        let power = (1..n).fold(1.0, |power, _| power * x);
        x -= (x - c / power) / n as f64;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_of_a_tolerance_is_that_of_the_library_to_rounding() {
        for n in [9, 13, 17, 21, 25] {
            for c in [f64::EPSILON / 4.0, 1e-12, 1e-4, 0.5] {
                let (ours, wanted) = (nth_root(n, c), c.powf(1.0 / n as f64));
                assert!(
                    (ours - wanted).abs() <= 4.0 * f64::EPSILON * wanted,
                    "{n}, {c:e}: {ours} and {wanted}"
                );
            }
        }
    }

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
        // Rounding in a gap of the series says nothing.
        assert_eq!(radius(20, [1e-17, 1e-17, 1.0]), radius(20, [0.0, 0.0, 1.0]));
        assert_eq!(radius(20, [0.9, 1.0, 1.1]), radius(20, [0.9, 1.0, 0.0]));
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
            assert!((end_of(&row, &h, 0.0).0 - wanted).abs() < 4.0 * f64::EPSILON, "{n}");
            let kept = 1e-17;
            let (pitch, mut ends, mut low) = (8, [0.0; 6], [kept; 6]);
            let orders: Vec<f64> =
                row.iter().flat_map(|c| (0..pitch).map(move |i| c * (1 + i) as f64)).collect();
            ends_of(&orders, pitch, &h, &mut ends, &mut low);
            let each = |i: usize| row.iter().map(|c| c * (1 + i) as f64).collect::<Vec<f64>>();
            let alone: [_; 6] = std::array::from_fn(|i| end_of(&each(i), &h, kept));
            assert_eq!((ends, low), (alone.map(|x| x.0), alone.map(|x| x.1)), "the same bits");
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
