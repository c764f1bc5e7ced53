//! Order and step size of Taylor steps.
//!
//! ```text
//! N = ⌈1 − ½ ln ε⌉,   ε = tol, rounding itself below 1e-15,    c_k = max_i |x_{i,k}| / max(1, |x_{i,0}|),    ρ = min over the last two orders of c_k^(−1/k)
//! h = ρ ε^(1/(N+1))      at round-off;        h = ρ e⁻²    at looser tolerances          (Jorba and Zou)
//! ```
//!
//! The truncation error of a step is then about tol per component, relative to max(1, |component|). This is an
//! estimate from the last coefficients, not an enclosure.

use super::flow::Flow;

/// Tolerances below this use the round-off rule.
const ROUND_OFF: f64 = 1e-13;
/// Tolerances up to this, the default, aim at rounding.
const FINEST: f64 = 1e-15;

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
        // An error of 1e-15 in each of 10⁵ steps, always of one sign, would be seen: there rounding is the aim.
        let aim = if tolerance <= FINEST { f64::EPSILON } else { tolerance };
        let order = (1.0 - 0.5 * aim.ln()).ceil() as usize;
        let factor =
            if tolerance < ROUND_OFF { aim.powf(1.0 / (order as f64 + 1.0)) } else { (-2.0_f64).exp() };
        Taylor { tolerance, order: order.max(4), factor }
    }

    /// The step that keeps the truncation error of state and watched functions at the tolerance; infinite for a
    /// motion that is a polynomial of degree below N − 2, not a number when a coefficient is not finite. The caller
    /// bounds it: by the end of the run, and by the time scale of explicit time dependence (a pulse that is zero to all
    /// orders here is invisible to any series).
    pub fn step_size(&self, flow: &Flow) -> f64 {
        let n = flow.order();
        let mut largest = [0.0_f64; 3];
        for i in 0..flow.tape().dimension() {
            let row = flow.state(i);
            let inverse = 1.0 / state_scale(row[0]);
            for (back, l) in largest.iter_mut().enumerate() {
                *l = larger(*l, row[n - back].abs() * inverse);
            }
        }
        let mut radius = radius(n, largest);
        for i in 0..flow.tape().watched_count() {
            let row = flow.watched(i);
            let inverse = 1.0 / watched_scale(row[0], row[1], radius);
            let own = self::radius(n, [0, 1, 2].map(|back| row[n - back].abs() * inverse));
            radius = smaller(radius, own);
        }
        radius * self.factor
    }
}

/// max(1, |x|)
#[inline(always)]
pub(crate) fn state_scale(x: f64) -> f64 {
    x.abs().max(1.0)
}

/// A watched function has its own scale: at least what it moves by within the radius of the state.
#[inline(always)]
pub(crate) fn watched_scale(w0: f64, w1: f64, radius: f64) -> f64 {
    let reach = (w1 * radius).abs();
    let scale = w0.abs().max(1.0);
    if reach < f64::INFINITY { scale.max(reach) } else { scale }
}

/// ρ from the largest scaled coefficients of orders n, n − 1, n − 2; the third only counts when the others vanish.
#[inline(always)]
pub(crate) fn radius(n: usize, [last, before, third]: [f64; 3]) -> f64 {
    let two = smaller(inverse_root(last, n), inverse_root(before, n - 1));
    if two == f64::INFINITY { inverse_root(third, n - 2) } else { two }
}

/// The larger of two; not a number when one is not (`max` would drop it), so that it reaches the caller.
#[inline(always)]
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// The smaller of two; not a number when one is not.
#[inline(always)]
pub(crate) fn smaller(a: f64, b: f64) -> f64 {
    if a.is_nan() || a < b { a } else { b }
}

/// c^(−1/n) for c ≥ 0, to about 1e-5: enough for a step size, free of branches and library calls, so that lanes and
/// single runs agree. Infinite for c = 0 (below 1e-300), not a number when c is not finite.
#[inline(always)]
fn inverse_root(c: f64, n: usize) -> f64 {
    let bits = c.to_bits();
    let exponent = ((bits >> 52) as i64 - 1023) as f64;
    let mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1.0_f64.to_bits());
    // log₂ m = (2/ln 2) artanh s,  s = (m − 1)/(m + 1) ≤ 1/3
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let z = s * s;
    let logarithm = exponent
        + std::f64::consts::LOG2_E
            * 2.0
            * s
            * (1.0 + z * (1.0 / 3.0 + z * (0.2 + z * (1.0 / 7.0 + z / 9.0))));
    let power = logarithm * (-1.0 / n as f64);
    // 2^power, whole part through the exponent field, fraction |f| ≤ 1/2 by Taylor.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let shifted = power + ROUND;
    let whole = shifted - ROUND;
    let f = (power - whole) * std::f64::consts::LN_2;
    let fraction = 1.0 + f * (1.0 + f * (0.5 + f * (1.0 / 6.0 + f * (1.0 / 24.0 + f / 120.0))));
    let doubled = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1.0_f64.to_bits()));
    let root = fraction * doubled;
    let root = if c < 1e-300 { f64::INFINITY } else { root };
    if c < f64::INFINITY { root } else { f64::NAN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quick_root_is_the_root() {
        for n in [4, 15, 19, 20] {
            for c in [1e-299, 3.7e-80, 1e-17, 0.3, 1.0, 1.999, 2.0, 77.0, 1e19, 4e300] {
                let wanted = f64::powf(c, -1.0 / n as f64);
                assert!((inverse_root(c, n) / wanted - 1.0).abs() < 2e-5, "{c:e}^(-1/{n})");
            }
        }
        assert_eq!(inverse_root(0.0, 20), f64::INFINITY);
        assert!(inverse_root(f64::NAN, 20).is_nan() && inverse_root(f64::INFINITY, 20).is_nan());
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
        assert_eq!(Taylor::new(1e-15).order, 20);
        assert_eq!(Taylor::new(1e-9).order, 12);
        assert_eq!(Taylor::new(1e-2).order, 4);
    }
}
