//! Amplification of errors: the norm of Φ = ∂state(end)/∂state(start).
//!
//! Φ is the product of the derivatives of all steps (central differences of the step's own series: mild over one step,
//! so nine digits survive) and of all jumps. A jump at g(x, t) = 0 with reset x⁺ = R(x⁻, t) contributes the saltation
//! matrix
//!
//! ```text
//! Ξ = D_x R + (f⁺ − D_x R f⁻ − D_t R) D_x g / (D_t g + D_x g f⁻)
//! ```

use crate::program::LegKey;
use crate::run::Run;
use carom_jet::dense::{Matrix, dot};
use carom_jet::{Flow, Time};
use std::collections::BTreeMap;

/// Relative step of the differences: the cube root of rounding.
const DIFFERENCE: f64 = 6e-6;
/// Φ is rescaled beyond this, so that it never overflows.
const LARGE: f64 = 1e100;

/// The product of step and jump derivatives so far.
#[derive(Clone, Debug)]
pub(crate) struct Amplifier {
    product: Matrix,
    /// ln of what was scaled out.
    scaled_out: f64,
    flows: BTreeMap<LegKey, Flow>,
}

impl Amplifier {
    fn apply(&mut self, factor: &Matrix) {
        let n = factor.rows;
        let mut new = Matrix::zeros(n, n);
        for i in 0..n {
            for j in 0..n {
                new[(i, j)] = (0..n).map(|k| factor[(i, k)] * self.product[(k, j)]).sum();
            }
        }
        let size = new.entries.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        if size > LARGE {
            new.entries.iter_mut().for_each(|x| *x /= size);
            self.scaled_out += size.ln();
        }
        self.product = new;
    }

    /// The spectral norm, by power iteration on ΦᵀΦ.
    fn norm(&self) -> f64 {
        let n = self.product.columns;
        let mut x: Vec<f64> = (0..n).map(|i| 1.0 + 0.1 * i as f64).collect();
        let mut norm = 0.0;
        for _ in 0..200 {
            let length = dot(&x, &x).sqrt();
            if length == 0.0 || !length.is_finite() {
                break;
            }
            x.iter_mut().for_each(|v| *v /= length);
            let y = self.product.times(&x);
            norm = dot(&y, &y).sqrt();
            x = self.product.transposed_times(&y);
        }
        norm * self.scaled_out.exp()
    }
}

/// What is needed of the instant before a jump.
pub(crate) struct Before {
    state: Vec<f64>,
    /// f⁻
    rate: Vec<f64>,
    /// D_x g, and D_t g + D_x g f⁻.
    gradient: Vec<f64>,
    crossing_rate: f64,
    /// D_x R and D_t R.
    reset: Matrix,
    reset_rate: Vec<f64>,
}

/// What causes a jump.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cause {
    /// The gap of a wall reached zero.
    Wall(usize),
    /// An event with a reset map fired.
    Event(usize),
    /// A switching surface is crossed: the state is continuous, its rate is not.
    Surface(usize),
}

impl Run<'_> {
    /// Starts with Φ = 1 when it was asked for.
    pub fn begin_amplification(&mut self) {
        if self.options.sensitivity {
            let n = 2 * self.size();
            let mut product = Matrix::zeros(n, n);
            (0..n).for_each(|i| product[(i, i)] = 1.0);
            self.amplifier = Some(Amplifier { product, scaled_out: 0.0, flows: BTreeMap::new() });
        }
    }

    /// A second workspace of the present leg, so that the series of the step are not disturbed.
    fn with_spare_flow<T>(&mut self, f: impl FnOnce(&mut Flow) -> T) -> Option<T> {
        let mut amplifier = self.amplifier.take()?;
        // Signs and pieces of table inputs may have changed: a copy of the leg's own workspace has them all.
        let mut flow = amplifier.flows.remove(&self.key).unwrap_or_else(|| self.flow().clone());
        if !self.program.surfaces.is_empty() || !self.program.curves.is_empty() {
            flow = self.flow().clone();
        }
        flow.set_unit(self.unit);
        let value = f(&mut flow);
        amplifier.flows.insert(self.key.clone(), flow);
        self.amplifier = Some(amplifier);
        Some(value)
    }

    /// Multiplies by the derivative of a step of length h from the present state.
    pub fn amplify_step(&mut self, h: f64) {
        if self.amplifier.is_none() || h == 0.0 {
            return;
        }
        let (time, state, n) = (self.time, self.state.clone(), 2 * self.size());
        let derivative = self.with_spare_flow(|flow| {
            differentiate(&state, n, n, |x| {
                flow.jet(time, x).ok()?;
                let mut end = x.to_vec();
                flow.state_at(h, &mut end);
                Some(end)
            })
        });
        if let (Some(Some(d)), Some(amplifier)) = (derivative, &mut self.amplifier) {
            amplifier.apply(&d);
        }
    }

    /// Everything about the instant before a jump, if the amplification is wanted.
    pub fn before_jump(&mut self, cause: Cause) -> Option<Before> {
        self.amplifier.as_ref()?;
        let (time, state, n) = (self.time, self.state.clone(), 2 * self.size());
        let watched = self.program.watched(&self.key);
        let which = match cause {
            Cause::Wall(w) => watched.gap + w,
            Cause::Event(e) => watched.event + e,
            Cause::Surface(s) => watched.surface + s,
        };
        let (rate, crossing_rate, gradient) = self.with_spare_flow(|flow| {
            flow.jet(time, &state).ok()?;
            let rate: Vec<f64> = (0..n).map(|i| flow.rate(i)).collect();
            let crossing = flow.watched(which)[1] / flow.unit();
            let gradient = differentiate(&state, n, 1, |x| {
                flow.evaluate(time, x).ok()?;
                Some(vec![flow.watched(which)[0]])
            })?;
            Some((rate, crossing, gradient.entries))
        })??;
        let reset = differentiate(&state, n, n, |x| self.reset_of(cause, time, x))?;
        let step = DIFFERENCE * time.value().abs().max(1.0);
        let (plus, minus) =
            (self.reset_of(cause, time.plus(step), &state)?, self.reset_of(cause, time.plus(-step), &state)?);
        let reset_rate = plus.iter().zip(&minus).take(n).map(|(a, b)| (a - b) / (2.0 * step)).collect();
        self.evaluate_frame();
        Some(Before { state, rate, gradient, crossing_rate, reset, reset_rate })
    }

    /// R(x, t): the state after, with nothing recorded.
    fn reset_of(&mut self, cause: Cause, time: Time, state: &[f64]) -> Option<Vec<f64>> {
        let kept = (self.time, self.state.clone());
        (self.time, self.state) = (time, state.to_vec());
        let after = match cause {
            Cause::Surface(_) => Some(self.state.clone()),
            Cause::Wall(w) => self.apply_impact_unrecorded(w),
            Cause::Event(e) => {
                let values = self.event_values();
                let (_, range) = self.event_slots(e);
                let set = &self.program.mechanics.events[e].set;
                for (&(symbol, _), &value) in set.iter().zip(&values[range.0..range.1]) {
                    if let Some(k) = self.program.state.iter().position(|&x| x == symbol) {
                        self.state[k] = value;
                    }
                }
                Some(self.state.clone())
            }
        };
        (self.time, self.state) = kept;
        self.evaluate_frame();
        after
    }

    /// The law at a nearby state, all else left as it was.
    fn apply_impact_unrecorded(&mut self, wall: usize) -> Option<Vec<f64>> {
        let kept = (
            self.contact.walls.clone(),
            self.audit.expected_energy,
            self.recorder.motion.audit.clone(),
            self.recorder.motion.impacts.len(),
            self.recorder.motion.warnings.len(),
            self.recorder.warned.clone(),
        );
        let counted = (self.recorder.impact_count, self.contact.last_hit.clone());
        self.evaluate_frame();
        let walls = self.touched(&[wall]);
        let result = self.apply_law(&walls);
        let after = self.state.clone();
        self.recorder.motion.impacts.truncate(kept.3);
        self.recorder.motion.warnings.truncate(kept.4);
        (self.recorder.impact_count, self.contact.last_hit) = counted;
        (self.contact.walls, self.audit.expected_energy, self.recorder.motion.audit, self.recorder.warned) =
            (kept.0, kept.1, kept.2, kept.5);
        result.ok().map(|()| after)
    }

    /// Multiplies by the saltation matrix, now that the leg after the jump has begun.
    pub fn amplify_jump(&mut self, before: Option<Before>) {
        let Some(before) = before else { return };
        let n = before.rate.len();
        if before.crossing_rate == 0.0 || before.state.len() < n {
            return;
        }
        let after: Vec<f64> = (0..n).map(|i| self.flow().rate(i)).collect();
        let carried = before.reset.times(&before.rate);
        let mut salt = before.reset.clone();
        for i in 0..n {
            let excess = after[i] - carried[i] - before.reset_rate[i];
            for j in 0..n {
                salt[(i, j)] += excess * before.gradient[j] / before.crossing_rate;
            }
        }
        if let Some(amplifier) = &mut self.amplifier {
            amplifier.apply(&salt);
        }
    }

    /// Reports the norm, and warns when no digit can be trusted.
    pub fn finish_amplification(&mut self) {
        let Some(amplifier) = self.amplifier.take() else { return };
        let norm = amplifier.norm();
        self.recorder.motion.audit.amplification = Some(norm);
        let unit = self.options.tolerance.max(f64::EPSILON);
        let digits = -(norm * unit).log10();
        if digits < 3.0 {
            self.warn(format!(
                "errors are amplified {}-fold from start to end: about {} digits of the final state can be trusted",
                crate::figures::figures(norm, 2),
                digits.max(0.0).floor()
            ));
        }
    }
}

/// Central differences of a map from the first `columns` variables to the first `rows` results.
fn differentiate(
    state: &[f64],
    columns: usize,
    rows: usize,
    mut f: impl FnMut(&[f64]) -> Option<Vec<f64>>,
) -> Option<Matrix> {
    let mut derivative = Matrix::zeros(rows, columns);
    let mut x = state.to_vec();
    for j in 0..columns {
        let step = DIFFERENCE * state[j].abs().max(1.0);
        x[j] = state[j] + step;
        let plus = f(&x)?;
        x[j] = state[j] - step;
        let minus = f(&x)?;
        x[j] = state[j];
        for i in 0..rows {
            derivative[(i, j)] = (plus[i] - minus[i]) / (2.0 * step);
        }
    }
    Some(derivative)
}
