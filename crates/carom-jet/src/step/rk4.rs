//! The classical fourth-order Runge–Kutta method with fixed step, for comparison with other programs.
//!
//! ```text
//! x(t + h) = x + h/6 (k₁ + 2k₂ + 2k₃ + k₄)
//! ```
//!
//! Inside a step every quantity is the quintic that matches value, rate and second derivative at both ends, so that
//! roots are isolated exactly as for Taylor steps. The interpolation error O(h⁶) is below the method's own O(h⁵).

use crate::eval::flow::Flow;
use crate::eval::time::Time;
use crate::ir::system::Singular;
use crate::ir::tape::Tape;
use crate::roots::horner;
use crate::simd::Level;
use std::sync::Arc;

/// Coefficients of a quintic.
const QUINTIC: usize = 6;

/// Series of order 2 at both ends of the step.
const ORDER: usize = 2;

/// A workspace for Runge–Kutta steps.
///
/// ```
/// # use carom_expr::Dag;
/// # use carom_jet::*;
/// # let mut dag = Dag::new();
/// # let [t, k, x] = ["t", "k", "x"].map(|name| dag.symbol(name));
/// # let rate = vec![dag.mul(k, x)];
/// # let system = System { time: t, parameters: vec![k], state: vec![x], rate, blocks: vec![], watched: vec![], monitored: vec![] };
/// # let tape = Tape::compile(&dag, &system)?;
/// let mut rk = Rk4::new(tape);
/// rk.set_parameters(&[1.0]);
/// rk.step(Time::new(0.0), &[1.0], 0.5)?;
/// // The fourth-order Taylor polynomial of e^h.
/// assert!((rk.end()[0] - (1.0 + 0.5 + 0.125 + 0.125 / 6.0 + 0.0625 / 24.0)).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rk4 {
    start: Flow,
    end: Flow,
    time: Time,
    /// The point where `start` was evaluated; the end of one step is usually the start of the next.
    known: Option<(Time, Vec<f64>)>,
    stage: Vec<f64>,
    sum: Vec<f64>,
    states: Vec<f64>,
    watched: Vec<f64>,
}

impl Rk4 {
    /// A workspace; parameters are 0 until set.
    pub fn new(tape: Arc<Tape>) -> Rk4 {
        let (n, w) = (tape.dimension(), tape.watched_count());
        let start = Flow::new(tape, ORDER);
        Rk4 {
            end: start.clone(),
            start,
            time: Time::new(0.0),
            known: None,
            stage: vec![0.0; n],
            sum: vec![0.0; n],
            states: vec![0.0; n * QUINTIC],
            watched: vec![0.0; w * QUINTIC],
        }
    }

    /// The same with these instructions; see [`Flow::with`].
    #[must_use]
    pub fn with(mut self, level: Level) -> Rk4 {
        (self.start, self.end) = (self.start.with(level), self.end.with(level));
        self
    }

    /// Sets the parameters.
    pub fn set_parameters(&mut self, parameters: &[f64]) {
        self.start.set_parameters(parameters);
        self.end.set_parameters(parameters);
        self.known = None;
    }

    /// The unit of its polynomials; see [`Flow::set_unit`].
    pub fn set_unit(&mut self, unit: f64) {
        if unit != self.start.unit() {
            self.start.set_unit(unit);
            self.end.set_unit(unit);
            self.known = None;
        }
    }

    /// The tape.
    pub fn tape(&self) -> &Arc<Tape> {
        self.start.tape()
    }

    /// Where the step begins.
    pub fn time(&self) -> Time {
        self.time
    }

    /// One step of size `h` from (time, state).
    ///
    /// # Errors
    /// When a block is singular at the start, at a stage or at the end.
    pub fn step(&mut self, time: Time, state: &[f64], h: f64) -> Result<(), Singular> {
        let n = self.tape().dimension();
        if !self.known.as_ref().is_some_and(|(t, x)| *t == time && x == state) {
            self.start.jet(time, state)?;
        }
        self.time = time;
        let middle = time.plus(0.5 * h);
        let last = time.plus(h);
        for (i, x) in state.iter().enumerate() {
            self.sum[i] = self.start.rate(i);
            self.stage[i] = x + 0.5 * h * self.start.rate(i);
        }
        for (at, weight, reach) in [(middle, 2.0, 0.5), (middle, 2.0, 1.0), (last, 1.0, 0.0)] {
            self.end.evaluate(at, &self.stage)?;
            for (i, x) in state.iter().enumerate() {
                let k = self.end.rate(i);
                self.sum[i] += weight * k;
                self.stage[i] = x + reach * h * k;
            }
        }
        for (i, x) in state.iter().enumerate() {
            self.stage[i] = x + h / 6.0 * self.sum[i];
        }
        self.end.jet(last, &self.stage)?;
        let h = h / self.start.unit();
        for i in 0..n {
            let first = |flow: &Flow| [0, 1, 2].map(|k| flow.coefficient(i, k));
            let into = &mut self.states[i * QUINTIC..][..QUINTIC];
            quintic(&first(&self.start), &first(&self.end), h, into);
        }
        for i in 0..self.tape().watched_count() {
            let into = &mut self.watched[i * QUINTIC..][..QUINTIC];
            quintic(self.start.watched(i), self.end.watched(i), h, into);
        }
        std::mem::swap(&mut self.start, &mut self.end);
        match &mut self.known {
            Some((t, x)) => {
                *t = last;
                x.copy_from_slice(&self.stage);
            }
            None => self.known = Some((last, self.stage.clone())),
        }
        Ok(())
    }

    /// The state at the end of the step: the method's own value, not the interpolant's.
    pub fn end(&self) -> &[f64] {
        &self.stage
    }

    /// The quintic of state variable `i` in t − start.
    pub fn state(&self, i: usize) -> &[f64] {
        &self.states[i * QUINTIC..][..QUINTIC]
    }

    /// The quintic of watched function `i` in t − start.
    pub fn watched(&self, i: usize) -> &[f64] {
        &self.watched[i * QUINTIC..][..QUINTIC]
    }

    /// The state at start + `h`, inside the step.
    pub fn state_at(&self, h: f64, into: &mut [f64]) {
        for (i, x) in into.iter_mut().enumerate() {
            *x = horner(self.state(i), h);
        }
    }
}

/// p with p, p′, p″/2 = a at 0 and = b at h.
fn quintic(a: &[f64], b: &[f64], h: f64, p: &mut [f64]) {
    let r0 = b[0] - (a[0] + h * (a[1] + h * a[2]));
    let r1 = h * (b[1] - (a[1] + 2.0 * h * a[2]));
    let r2 = h * h * (b[2] - a[2]);
    let fifth = r2 - 3.0 * r1 + 6.0 * r0;
    let fourth = r1 - 3.0 * r0 - 2.0 * fifth;
    let third = r0 - fourth - fifth;
    p[..3].copy_from_slice(&a[..3]);
    let cube = h * h * h;
    p[3] = third / cube;
    p[4] = fourth / (cube * h);
    p[5] = fifth / (cube * h * h);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::System;
    use carom_expr::Dag;

    /// x' = v, v' = −x from (1, 0): x = cos t.
    fn oscillator() -> Rk4 {
        let mut dag = Dag::new();
        let [t, x, v] = ["t", "x", "v"].map(|n| dag.symbol(n));
        let (pull, square) = (dag.neg(x), dag.powi(x, 2));
        let system = System {
            time: t,
            parameters: vec![],
            state: vec![x, v],
            rate: vec![v, pull],
            blocks: vec![],
            watched: vec![square],
            monitored: vec![],
        };
        Rk4::new(Tape::compile(&dag, &system).unwrap())
    }

    #[test]
    fn a_quintic_is_interpolated_exactly() {
        let wanted = [1.0, -2.0, 0.5, 3.0, -1.0, 0.25];
        let h = 0.5;
        let at = |d: usize| {
            let binomial = |k: usize| (0..d).map(|i| (k - i) as f64 / (i + 1) as f64).product::<f64>();
            (d..6).map(|k| wanted[k] * binomial(k) * f64::powi(h, (k - d) as i32)).sum::<f64>()
        };
        let mut p = [0.0; 6];
        quintic(&wanted[..3], &[at(0), at(1), at(2)], h, &mut p);
        for (a, b) in p.iter().zip(wanted) {
            assert!((a - b).abs() < 1e-13, "{p:?}");
        }
    }

    #[test]
    fn halving_the_step_divides_the_error_by_sixteen() {
        let mut rk4 = oscillator();
        let mut error = |steps: usize| {
            let (h, mut x) = (1.0 / steps as f64, vec![1.0, 0.0]);
            for k in 0..steps {
                rk4.step(Time::new(k as f64 * h), &x, h).unwrap();
                x.copy_from_slice(rk4.end());
            }
            (x[0] - 1.0_f64.cos()).abs()
        };
        let ratio = error(32) / error(64);
        // The error is c h⁴ (1 + O(h)).
        assert!((ratio - 16.0).abs() < 16.0 / 32.0, "{ratio}");
    }

    #[test]
    fn the_dense_output_joins_the_ends_and_follows_the_motion() {
        let mut rk4 = oscillator();
        let h = 0.05;
        rk4.step(Time::new(0.0), &[1.0, 0.0], h).unwrap();
        assert!((horner(rk4.state(0), h) - rk4.end()[0]).abs() < 1e-15);
        for i in 0..=10 {
            let tau = h * f64::from(i) / 10.0;
            // Local error h⁵/120 for either.
            assert!((horner(rk4.state(0), tau) - tau.cos()).abs() < h.powi(5) / 60.0);
            assert!((horner(rk4.watched(0), tau) - tau.cos().powi(2)).abs() < h.powi(5) / 30.0);
        }
    }
}
