//! Order and step size of Taylor steps.
//!
//! ```text
//! ε = tol e⁻⁶, at least u/4        N = 6.3 + 0.533 ln(1/max(ε, u)), to the nearest multiple of 4        h = ρ ε^(1/(N+1))
//! c_k = max_i |x_{i,k}| / S_i        ρ = min over the last two orders of c_k^(−1/k)     (Jorba and Zou)
//! ```
//!
//! u is the unit of rounding, 2⁻⁵². The smallest ε shortens steps and does not raise the order, which stays that of u: 24 and not 28
//! (the series of a batch then stay in the first-level cache).
//!
//! Series may have gaps: a pendulum released from rest at a right angle is φ = ω²t²/2 − ω⁶t⁶/240 + …, every fourth power, and
//! its last two coefficients are zero or the rounding of cos(π/2). So a third order that says far less than these two
//! decides: with x and x', three orders in a row hold one that counts.
//!
//! S_i is what component i has moved by so far (see the module of extents). The first term left out is then about ε, relative
//! to it: well below tol. This is an estimate from the last coefficients, not an enclosure. No unit of length, mass or time
//! enters: multiplying a component or time by a power of two changes the step by exactly that power.

use crate::eval::element::Doubles;

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
///
/// ```
/// # use carom_expr::Dag;
/// # use carom_jet::*;
/// # let mut dag = Dag::new();
/// # let [t, k, x] = ["t", "k", "x"].map(|name| dag.symbol(name));
/// # let rate = vec![dag.mul(k, x)];
/// # let system = System { time: t, parameters: vec![k], state: vec![x], rate, blocks: vec![], watched: vec![], monitored: vec![] };
/// # let tape = Tape::compile(&dag, &system)?;
/// let taylor = Taylor::new(1e-9);
/// let mut flow = Flow::new(tape, taylor.order);
/// flow.set_parameters(&[1.0]);
/// flow.jet(Time::new(0.0), &[1.0])?;
/// // A step as long as the tolerance allows: the polynomial still is e^h to 1e-9.
/// let h = taylor.step_size(&flow, &Extent::new(1, 0));
/// let mut x = [0.0];
/// flow.state_at(h, &mut x);
/// assert!(h > 1.0 && (x[0] / h.exp() - 1.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
        let tolerance = held_within(tolerance);
        let left_out = (tolerance * MARGIN).max(FLOOR);
        let order = 4.0 * ((LEAST - GROWTH * left_out.max(f64::EPSILON).ln()) / 4.0).round();
        let order = order as usize;
        Taylor { tolerance, order, factor: nth_root(order + 1, left_out) }
    }

    /// Are these the steps for that tolerance?
    pub fn is_for(&self, tolerance: f64) -> bool {
        self.tolerance == held_within(tolerance)
    }
}

fn held_within(tolerance: f64) -> f64 {
    tolerance.clamp(1e-16, 1e-2)
}

/// ρ from the largest scaled coefficients of orders n, n − 1, n − 2; the third only counts where the others nearly vanish.
/// To about 3e-3, free of branches, divisions by data and library calls: lanes and single runs agree.
#[inline(always)]
pub(crate) fn radius<T: Doubles>(n: usize, [last, before, third]: [T; 3]) -> T {
    let two = root(n, last).zip(root(n - 1, before), smaller);
    // ρ = `two` is one of these roots, so the larger of ρ² c_N and ρ c_{N−1} is ρ^(2−N) to 13 % (the roots to 5e-3). A third of less than
    // twice that allows at least 0.99 ρ/GAP, from N = 12 on: it does not count, and its root need not be known.
    let expected = two.times(two.times(last).zip(before, f64::max));
    let clear = third.zip(expected, |third, expected| if third <= 2.0 * expected { 0.0 } else { 1.0 });
    if n >= 12 && clear.is_zero() { two } else { two.zip(root(n - 2, third), of_last_three) }
}

/// How much longer a step by the last two orders may be than by the third: what is left out stays within 1.1²⁵ ≈ 11 ε, and the
/// scatter of c_k^(−1/k) in a series without gaps is less.
pub(crate) const GAP: f64 = 1.1;

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
    // As signed numbers, which vector units compare.
    f64::from_bits((a.to_bits() as i64).max(b.to_bits() as i64) as u64)
}

/// The smaller of two, of whatever sign; not a number when one is not.
#[inline(always)]
pub(crate) fn smaller(a: f64, b: f64) -> f64 {
    if a.is_nan() || a < b { a } else { b }
}

/// c^(−1/n) for c ≥ 0, to about 3e-3: ∞ for c = 0, not a number when c is not finite. 2^q (m 2^r)^(−1/n) with the exponent
/// e = n q + r: exactly 2^−k times as large for c 2^(nk).
#[inline(always)]
pub(crate) fn root<T: Doubles>(n: usize, c: T) -> T {
    // log₂ c to 0.05, on a grid of 2⁻⁴⁰ and free of rounding: the exponent and, for its fraction, the mantissa. The bits as a
    // number: put them below the point of 2⁵², and subtract; 0.043 (on the grid) centres the error.
    const TWO_52: u64 = 0x4330_0000_0000_0000;
    const UNIT: f64 = 1.0 / (1_u64 << 40) as f64;
    const CENTRE: f64 = 1023.0 - 47_278_999_994.0 * UNIT;
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let (n, inverse) = (n as f64, 1.0 / n as f64);
    let bits = c.map(|c| f64::from_bits((c.to_bits() >> 12) | TWO_52));
    let [unit, round] = [UNIT, ROUND].map(T::splat);
    let log = bits.minus(T::splat(f64::from_bits(TWO_52))).times(unit).minus(T::splat(CENTRE));
    // log = n q + r with −n/2 ≤ r < n/2, all exact.
    let near = log.times(T::splat(inverse)).plus(round).minus(round);
    let rest = log.zip(near, |log, near| log - n * near);
    let off = rest.map(|r| if r >= 0.5 * n { 1.0 } else { 0.0 } - if r < -0.5 * n { 1.0 } else { 0.0 });
    let (whole, rest) = (near.plus(off), rest.zip(off, |rest, off| rest - n * off));
    // 2^f for |f| ≤ 1/2 to 1e-4 by a polynomial, 2^−q through the exponent field.
    let f = rest.map(|rest| rest * -inverse);
    let fraction = f.map(|f| 1.0 + f * ((0.693_282_928 + 0.242_210_965 * f) + 0.055_008_932 * (f * f)));
    let doubled =
        whole.map(|q| f64::from_bits(((ROUND - q).to_bits() << 52).wrapping_add(1.0_f64.to_bits())));
    let value = c.zip(fraction.times(doubled), |c, x| if c < f64::MIN_POSITIVE { f64::INFINITY } else { x });
    c.zip(value, |c, value| if c < f64::INFINITY { value } else { f64::NAN })
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
    fn the_third_root_is_left_out_only_where_it_does_not_count() {
        let mut random = 1_u64;
        for n in [12, 16, 20, 24] {
            for _ in 0..100_000 {
                // Coefficients of a series of any radius, each off by up to 2^±8.
                let mut draw = || {
                    random = random
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    (random >> 11) as f64 / (1_u64 << 53) as f64
                };
                let ratio = f64::powf(2.0, 40.0 * draw() - 20.0);
                let c = [n, n - 1, n - 2].map(|k| ratio.powi(k as i32) * f64::powf(2.0, 16.0 * draw() - 8.0));
                let two = smaller(root(n, c[0]), root(n - 1, c[1]));
                assert_eq!(radius(n, c), of_last_three(two, root(n - 2, c[2])), "{n}, {c:?}");
            }
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
