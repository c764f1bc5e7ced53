//! Order and step size of Taylor steps.
//!
//! ```text
//! N = ⌈1 − ½ ln tol⌉,    c_k = max_i |x_{i,k}| / max(1, |x_{i,0}|),    ρ = min over the last orders of c_k^(−1/k)
//! h = ρ tol^(1/(N+1))    at round-off;        h = ρ e⁻²    at looser tolerances          (Jorba and Zou)
//! ```
//!
//! The truncation error of a step is then about tol per component, relative to max(1, |component|). This is an
//! estimate from the last coefficients, not an enclosure.

use super::flow::Flow;

/// Tolerances below this use the round-off rule.
const ROUND_OFF: f64 = 1e-13;

/// Order and tolerance of Taylor steps.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Taylor {
    /// Wanted local truncation error, relative to max(1, |component|).
    pub tolerance: f64,
    /// The order N that suits it.
    pub order: usize,
    /// h / ρ
    factor: f64,
}

impl Taylor {
    /// Steps for a tolerance, held within 1e-16 … 1e-2.
    pub fn new(tolerance: f64) -> Taylor {
        let tolerance = tolerance.clamp(1e-16, 1e-2);
        let order = (1.0 - 0.5 * tolerance.ln()).ceil() as usize;
        let factor = if tolerance < ROUND_OFF {
            tolerance.max(f64::EPSILON).powf(1.0 / (order as f64 + 1.0))
        } else {
            (-2.0_f64).exp()
        };
        Taylor { tolerance, order: order.max(4), factor }
    }

    /// The step that keeps the truncation error of state and watched functions at the tolerance; infinite for a
    /// motion that is a polynomial of degree below N − 2. The caller bounds it: by the end of the run, and by the time
    /// scale of explicit time dependence (a pulse that is zero to all orders here is invisible to any series).
    pub fn step_size(&self, flow: &Flow) -> f64 {
        let n = flow.order();
        let mut largest = [0.0_f64; 3];
        for i in 0..flow.tape().dimension() {
            gather(flow.state(i), 1.0_f64.max(flow.state(i)[0].abs()), &mut largest);
        }
        let mut radius = radius(n, largest);
        for i in 0..flow.tape().watched_count() {
            let row = flow.watched(i);
            // A watched function has its own scale: what it moves by within the radius found so far.
            let reach = if radius.is_finite() { (row[1] * radius).abs() } else { 0.0 };
            let mut largest = [0.0; 3];
            gather(row, 1.0_f64.max(row[0].abs()).max(reach), &mut largest);
            let own = self::radius(n, largest);
            radius = smaller(radius, own);
        }
        radius * self.factor
    }
}

/// Largest scaled coefficient of the last three orders.
fn gather(row: &[f64], scale: f64, largest: &mut [f64; 3]) {
    for (l, c) in largest.iter_mut().zip(row.iter().rev()) {
        let c = c.abs() / scale;
        // Not `max`: a coefficient that is not a number must not be dropped.
        if c.is_nan() || c > *l {
            *l = c;
        }
    }
}

fn radius(n: usize, largest: [f64; 3]) -> f64 {
    let one = |back: usize| match largest[back] {
        0.0 => f64::INFINITY,
        c => c.powf(-1.0 / (n - back) as f64),
    };
    let radius = smaller(one(0), one(1));
    if radius == f64::INFINITY { one(2) } else { radius }
}

/// The smaller of two; not a number when one is not (`min` would drop it), so that it reaches the caller.
fn smaller(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.min(b) }
}
