//! How long a step may be where a function can hide from its own series.
//!
//! A step is chosen from the last coefficients of the motion. exp(u), uⁿ with a large n, u⁻ⁿ may be so small here that none of
//! their coefficients counts, and a pulse, a steep wall or a pole further on. The series of u shows what theirs hide:
//!
//! ```text
//! exp(u)          u(t) ≤ max(u_0, −230) + N/2                           for 0 ≤ t ≤ h
//! uⁿ,  n > N/2    |u(t)| ≤ max(|u_0|, e^(−230/n) U) e^(N/2n)             U: the largest |u| so far
//! u⁻ⁿ             u(t)/u_0 ≥ 1 − min(1/2, N/2n)
//! tanh(u)         |u(t) − u_0| ≤ max(0, |u_0| − 21) + N/12
//! sinh, cosh      |u(t) − u_0| ≤ max(0, |u_0| − 230) + N/2
//! ```
//!
//! and the last two terms of u are small against these bounds: u is known so far ahead. What is below e⁻²³⁰ = 1e-100, for a power
//! 1e-100 of what it has been, does not matter; a power that was always zero so far begins with 1e-10 of the step. From there on the function grows by a factor of e^(N/2) at most in a step, so that the terms left out, like
//! A (u₁h)^k / k! for k > N, fall by half or so from one to the next: together they are about the last one kept, which the choice
//! of the step holds at the tolerance, whether it is visible yet or not.
//!
//! A power n ≤ N/2 shows, with what it does to u in turn, among the orders up to N. tanh(u) is ±1 to the last bit beyond
//! |u| = 19 and says nothing of a reversal to come (smoothed friction, tanh(v/ε)); nearer, 1 − tanh² is known to ε only and
//! grows like exp(2u). 1/cosh(u) hides at large |u|, 1/(1 + exp(u)) at large u: so an exponent beyond 30 may not fall below
//! min(u_0, 230) − N/2 either. 1/u and log(u) are not limited: they hide only where they begin below rounding.
//!
//! Promise: a pulse is found however narrow it is, a pole is not passed, at the price of 460/N steps while a pulse
//! rises. Functions that are visible anyway are not disturbed. Single runs and lanes get the same bits.

use crate::eval::element::Doubles;
use crate::eval::flow::Flow;
use crate::ir::guard::GuardKind;
use crate::ir::tape::TapeValue;
use crate::step::extent::Extent;

/// The logarithm of what does not matter, 1e-100.
const NEGLIGIBLE: f64 = -230.0;

/// Beyond e³⁰ the reciprocal of an exponential is near rounding.
const HUGE: f64 = 30.0;

/// tanh is ±1 to the last bit beyond 19.
const SATURATED: f64 = 21.0;

/// The part of a step in which a power that was always zero may begin.
const BEGINNING: f64 = 1e-10;

/// How often a step is halved at most: h underflows long before.
const MOST: usize = 256;

impl GuardKind {
    /// Where u may be within a step, and how large its last terms.
    fn limits(self, order: usize, u: f64, reach: f64) -> (f64, f64, f64) {
        let half = 0.5 * order as f64;
        match self {
            GuardKind::Exponential => {
                let least = if u > HUGE { u.min(-NEGLIGIBLE) - half } else { f64::NEG_INFINITY };
                (least, u.max(NEGLIGIBLE) + half, 1.0)
            }
            GuardKind::Hyperbolic => {
                let reach = (u.abs() + NEGLIGIBLE).max(0.0) + half;
                (u - reach, u + reach, 1.0)
            }
            GuardKind::Tangent => {
                let reach = (u.abs() - SATURATED).max(0.0) + half / 6.0;
                (u - reach, u + reach, 1.0)
            }
            GuardKind::Power(n) if n < 0.0 => {
                let fall = u.abs() * (-half / n).min(0.5);
                let left = u.abs() - fall;
                if u > 0.0 { (left, f64::INFINITY, fall) } else { (f64::NEG_INFINITY, -left, fall) }
            }
            GuardKind::Power(n) if n > half => {
                let most = u.abs().max((NEGLIGIBLE / n).exp() * reach) * (half / n).exp();
                (-most, most, most / n)
            }
            GuardKind::Power(_) | GuardKind::Constant(_) => (f64::NEG_INFINITY, f64::INFINITY, f64::INFINITY),
        }
    }

    /// Is u, known to lie within (low, high) and with last terms of this size, where it may be?
    #[inline(always)]
    pub(crate) fn allows(self, order: usize, u: f64, reach: f64, [low, high, last]: [f64; 3]) -> bool {
        let (least, most, known) = self.limits(order, u, reach);
        low >= least && high <= most && last <= known
    }

    /// The largest |u| to compare with, given what it was so far; of a step, where it was always zero.
    #[inline(always)]
    pub(crate) fn reach(self, so_far: f64, h: f64, order: usize, u: impl Fn(usize) -> f64) -> f64 {
        if so_far > 0.0 || !self.grows() {
            return so_far;
        }
        let [low, high, _] = range(h * BEGINNING, order, u);
        high.max(-low)
    }

    /// The step, cut for a function of u, which is given by its coefficients 0 … order − 1 and its largest |u| so far.
    pub(crate) fn cut(self, mut h: f64, order: usize, so_far: f64, u: impl Fn(usize) -> f64) -> f64 {
        let reach = self.reach(so_far, h, order, &u);
        for _ in 0..MOST {
            if self.allows(order, u(0), reach, range(h, order, &u)) {
                break;
            }
            h *= 0.5;
        }
        h
    }
}

impl Flow {
    /// A step of length h, cut where something may hide from its own series.
    pub fn cut(&self, h: f64, extent: &Extent) -> f64 {
        self.tape().recurrence.guarded.iter().enumerate().fold(h, |h, (i, guarded)| {
            let kind = guarded.kind.with(|slot| self.value(TapeValue::Constant(slot)));
            kind.cut(h, self.order(), extent.reach(i), |k| self.guarded(i, k))
        })
    }
}

/// Bounds of u within a step, and the larger of its last two terms: what rises is counted for the upper one, what falls for
/// the lower one.
#[inline(always)]
pub(crate) fn range<T: Doubles>(h: T, order: usize, u: impl Fn(usize) -> T) -> [T; 3] {
    // Four sums side by side: nothing waits for what came just before.
    let square = h.times(h);
    let fourth = square.times(square);
    let mut powers = [h, square, square.times(h), fourth];
    let (mut low, mut high) = ([T::splat(0.0); 4], [T::splat(0.0); 4]);
    let mut add = |i: usize, k: usize| {
        let term = u(k).times(powers[i]);
        low[i] = low[i].zip(term, |x, t| x + if t < 0.0 { t } else { 0.0 });
        high[i] = high[i].zip(term, |x, t| x + if t < 0.0 { 0.0 } else { t });
        powers[i] = powers[i].times(fourth);
        term
    };
    let mut last = [T::splat(0.0); 2];
    let mut k = 1;
    while k + 4 <= order {
        let terms = [add(0, k), add(1, k + 1), add(2, k + 2), add(3, k + 3)];
        last = [terms[2], terms[3]];
        k += 4;
    }
    for i in 0..order - k {
        last = [last[1], add(i, k + i)];
    }
    let sum = |x: [T; 4]| u(0).plus(x[0].plus(x[1]).plus(x[2].plus(x[3])));
    let last = last[0].zip(last[1], |a, b| if a.abs() > b.abs() { a.abs() } else { b.abs() });
    [sum(low), sum(high), last]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// −a (t − 1)² around t = 0.
    fn bell(a: f64) -> impl Fn(usize) -> f64 {
        move |k| [-a, 2.0 * a, -a].get(k).copied().unwrap_or(0.0)
    }

    fn line(at: f64, rate: f64) -> impl Fn(usize) -> f64 {
        move |k| [at, rate].get(k).copied().unwrap_or(0.0)
    }

    #[test]
    fn a_pulse_far_away_is_approached_but_not_reached() {
        for a in [1e3, 1e6, 1e12] {
            let h = GuardKind::Exponential.cut(100.0, 20, 1.0, bell(a));
            let u = -a * (h - 1.0) * (h - 1.0);
            assert!(h > 0.15 && h < 1.0 && u < -200.0, "{a:e}: {h} {u}");
        }
    }

    #[test]
    fn gentle_and_falling_functions_do_not_shorten_steps() {
        assert_eq!(GuardKind::Exponential.cut(1.0, 20, 1.0, bell(4.0)), 1.0);
        assert_eq!(GuardKind::Exponential.cut(2.0, 20, 1.0, line(1.0, -1e9)), 2.0);
        assert_eq!(GuardKind::Power(10.0).cut(2.0, 20, 1.0, line(0.0, 1.0)), 2.0);
        assert_eq!(GuardKind::Power(100.0).cut(2.0, 20, 1.0, line(1.5, -1.0)), 2.0);
        assert_eq!(GuardKind::Power(-12.0).cut(2.0, 20, 1.0, line(1.0, 1e9)), 2.0);
        assert_eq!(GuardKind::Power(-1.0).cut(2.0, 20, 1.0, line(-5.0, 1.0)), 2.0);
    }

    #[test]
    fn a_pole_is_not_passed() {
        for n in [-1.0, -7.0, -100.0] {
            for sign in [1.0, -1.0] {
                let h = GuardKind::Power(n).cut(100.0, 20, 1.0, line(sign, -sign));
                assert!(h > 0.04 && h <= 0.5, "{n}: {h}");
            }
        }
    }

    #[test]
    fn what_is_saturated_is_left_where_it_appears() {
        for (kind, appears) in
            [(GuardKind::Exponential, 218.0), (GuardKind::Hyperbolic, 218.0), (GuardKind::Tangent, 19.0)]
        {
            let h = kind.cut(1e6, 24, 1.0, line(1000.0, -1.0));
            assert!(1000.0 - h >= appears && h > 0.4 * (1000.0 - appears), "{kind:?}: {h}");
        }
        let h = GuardKind::Tangent.cut(1e6, 24, 1.0, line(-1000.0, 1.0));
        assert!(h <= 981.0 && h > 400.0, "{h}");
    }

    #[test]
    fn a_large_power_is_seen_from_its_zero() {
        // 0.1^100 does not matter.
        let h = GuardKind::Power(100.0).cut(100.0, 20, 1.0, line(0.0, 1.0));
        assert!(h > 0.05 && h < 0.12, "{h}");
        // Of something that was never there, everything may matter.
        let h = GuardKind::Power(100.0).cut(100.0, 20, 0.0, line(0.0, 1.0));
        assert!(h > 0.5e-9 && h < 2e-8, "{h}");
    }

    #[test]
    fn an_exponent_is_not_trusted_beyond_its_series() {
        // −1e6 (1 − cos t): the next top is at 2π, and the polynomial of degree 19 leaves it before.
        let u = |k: usize| {
            let factorial: f64 = (1..=k).map(|i| i as f64).product();
            if k > 0 && k.is_multiple_of(2) { [1e6, -1e6][(k / 2) % 2] / factorial } else { 0.0 }
        };
        assert!(GuardKind::Exponential.cut(1e3, 20, 1.0, u) < 4.0);
    }
}
