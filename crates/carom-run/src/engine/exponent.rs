//! How long a step may be where exponentials occur.
//!
//! exp(u) can vanish to all orders here and be a pulse further on; its own series does not show it, that of u does:
//!
//! ```text
//! u(t) ≤ max(u_0, −230) + N/2   for 0 ≤ t ≤ h,        |u_k| h^k ≤ 1   for the last two orders
//! ```
//!
//! What is below e⁻²³⁰ = 1e-100 does not matter. From there on exp(u) grows by at most e^(N/2) in a step, so that the terms
//! left out, A (u₁h)^k / k! with k > N, fall at least by half from one to the next: together they are no larger than the
//! last one kept, which the choice of the step holds at the tolerance, whether or not it is visible yet. The second condition
//! says that u is known so far ahead. An exponent that falls needs nothing.
//!
//! Promise: a pulse is found however narrow it is, at the price of 460/N steps while it rises. Single runs and lanes get
//! the same bits.

/// The logarithm of what does not matter, 1e-100.
const NEGLIGIBLE: f64 = -230.0;

/// How often a step is halved at most: h underflows long before.
const MOST: usize = 256;

/// The step, cut for an exponent u given by its coefficients 0 … order − 1.
pub(crate) fn cut(mut h: f64, order: usize, u: impl Fn(usize) -> f64) -> f64 {
    let allowed = 0.5 * order as f64 + (NEGLIGIBLE - u(0)).max(0.0);
    for _ in 0..MOST {
        let (mut power, mut rise) = (1.0, 0.0);
        let mut last = [0.0_f64; 2];
        for k in 1..order {
            power *= h;
            let term = u(k) * power;
            // All that rises is counted, nothing that falls: an upper bound throughout the step.
            rise += if term < 0.0 { 0.0 } else { term };
            last = [last[1], term.abs()];
        }
        if rise <= allowed && last[0] <= 1.0 && last[1] <= 1.0 {
            break;
        }
        h *= 0.5;
    }
    h
}

#[cfg(test)]
mod tests {
    use super::*;

    /// −a (t − 1)² around t = 0.
    fn bell(a: f64) -> impl Fn(usize) -> f64 {
        move |k| [-a, 2.0 * a, -a].get(k).copied().unwrap_or(0.0)
    }

    #[test]
    fn a_pulse_far_away_is_approached_but_not_reached() {
        for a in [1e3, 1e6, 1e12] {
            let h = cut(100.0, 20, bell(a));
            let u = -a * (h - 1.0) * (h - 1.0);
            assert!(h > 0.15 && h < 1.0 && u < -200.0, "{a:e}: {h} {u}");
        }
    }

    #[test]
    fn gentle_and_falling_exponents_do_not_shorten_steps() {
        assert_eq!(cut(1.0, 20, bell(4.0)), 1.0);
        assert_eq!(cut(2.0, 20, |k| [1.0, -1e9].get(k).copied().unwrap_or(0.0)), 2.0);
    }

    #[test]
    fn an_exponent_is_not_trusted_beyond_its_series() {
        // −1e6 (1 − cos t): the next top is at 2π, and the polynomial of degree 19 leaves it before.
        let u = |k: usize| {
            let factorial: f64 = (1..=k).map(|i| i as f64).product();
            if k > 0 && k.is_multiple_of(2) { [1e6, -1e6][(k / 2) % 2] / factorial } else { 0.0 }
        };
        assert!(cut(1e3, 20, u) < 4.0);
    }
}
