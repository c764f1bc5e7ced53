//! Projection onto the constraints.  [W Aᵀ; A 0][δ; ν] = [0; −c] for positions, then [0; −(Av + b)] for velocities.
//!
//! Closed walls are rows like the others. Done whenever a residual exceeds a few units of rounding of its scale (the largest
//! it has been over the motion), so the drift of arbitrarily long runs stays there.

use crate::frame::Frame;
use crate::motion::StopReason;
use crate::run::{Halt, Run};
use crate::stepper::NextSeries;
use crate::zero::{DRIFT, LEFT};
use carom_jet::dense::{Factored, largest};
use carom_jet::relative;

/// Below this one Newton step leaves nothing but rounding.
pub(crate) const SMALL: f64 = 1e-9;
/// Newton steps of one projection.
const MOST_STEPS: usize = 50;

/// The largest scales seen so far, per row, wall and condition.
#[derive(Clone, Debug, Default)]
pub(crate) struct LargestTerms {
    pub row_position: Vec<f64>,
    pub row_rate: Vec<f64>,
    pub row_norm: Vec<f64>,
    pub gap: Vec<f64>,
    pub gap_rate: Vec<f64>,
    pub condition: Vec<f64>,
}

impl LargestTerms {
    /// Nothing seen yet.
    pub fn clear(&mut self) {
        for list in [
            &mut self.row_position,
            &mut self.row_rate,
            &mut self.row_norm,
            &mut self.gap,
            &mut self.gap_rate,
            &mut self.condition,
        ] {
            list.clear();
        }
    }

    /// The rows and these walls, and the largest their terms have been.
    fn position_residuals(&self, frame: &Frame, closed: &[usize]) -> Vec<Residual> {
        let rows = frame.row_position().iter().zip(&self.row_position);
        let walls = closed.iter().map(|&w| (frame.gap(w), self.gap[w]));
        rows.map(|(&c, &s)| (c, s)).chain(walls).map(|(value, size)| Residual { value, size }).collect()
    }

    /// The same of their rates.
    fn rate_residuals(&self, frame: &Frame, closed: &[usize]) -> Vec<Residual> {
        let rows = frame.row_rate().iter().zip(&self.row_rate);
        let walls = closed.iter().map(|&w| (frame.gap_rate(w), self.gap_rate[w]));
        rows.map(|(&c, &s)| (c, s)).chain(walls).map(|(value, size)| Residual { value, size }).collect()
    }

    /// Largest residual of rows, these walls and conditions, positions and rates, relative to its largest term.
    fn drift(&self, frame: &Frame, closed: &[usize]) -> f64 {
        let positions = self.position_residuals(frame, closed);
        let all = positions.into_iter().chain(self.rate_residuals(frame, closed));
        let rows = all.map(|r| r.relative()).fold(0.0, f64::max);
        let conditions = frame.conditions().iter().zip(&self.condition);
        conditions.map(|(g, s)| relative(*g, *s)).fold(rows, f64::max)
    }

    /// Terms of rows and gaps vanish now and then (at a turning point all rates do); residuals are compared with the
    /// largest they have been. Follows what every step monitors of them, at this frame.
    pub fn note(&mut self, frame: &Frame, walls: usize) {
        let raise = |kept: &mut Vec<f64>, count: usize, now: &dyn Fn(usize) -> f64| {
            kept.resize(count, 0.0);
            kept.iter_mut().enumerate().for_each(|(i, k)| *k = k.max(now(i)));
        };
        let (rows, conditions) = (frame.layout.rows, frame.layout.conditions);
        raise(&mut self.row_position, rows, &|r| frame.row_position_size()[r]);
        raise(&mut self.row_rate, rows, &|r| frame.row_rate_size()[r]);
        raise(&mut self.row_norm, rows, &|r| frame.row_norm()[r]);
        raise(&mut self.condition, conditions, &|c| frame.condition_sizes()[c]);
        raise(&mut self.gap, walls, &|w| frame.gap_size(w));
        raise(&mut self.gap_rate, walls, &|w| frame.gap_rate_size(w));
    }

    /// The scales where the motion began count as well; `energy` is what a wall's gap and gap rate owe to the energy.
    fn note_scales(&mut self, frame: &Frame, energy: &[[f64; 2]]) {
        let [gap, rate] = [0, 1].map(|i| move |w: usize| energy.get(w).map_or(0.0, |reach| reach[i]));
        let raise = |kept: &mut [f64], scale: &dyn Fn(usize) -> f64| {
            kept.iter_mut().enumerate().for_each(|(i, k)| *k = k.max(scale(i)));
        };
        raise(&mut self.row_position, &|r| frame.row_position_scale(r));
        raise(&mut self.row_rate, &|r| frame.row_rate_scale(r));
        raise(&mut self.condition, &|c| frame.condition_scale(c));
        raise(&mut self.gap, &|w| frame.gap_scale(w).max(gap(w)));
        raise(&mut self.gap_rate, &|w| frame.gap_rate_scale(w).max(rate(w)));
    }

    /// The sizes that lanes follow, in the order of [`Run::monitors`]; none without rows.
    pub fn followed_by_lanes(&mut self) -> impl Iterator<Item = &mut f64> {
        let follow = if self.row_position.is_empty() { 0 } else { usize::MAX };
        let rows = self.row_position.iter_mut().chain(&mut self.row_rate);
        rows.chain(&mut self.gap).chain(&mut self.row_norm).take(follow)
    }
}

/// A residual and its size.
struct Residual {
    value: f64,
    size: f64,
}

impl Residual {
    fn relative(&self) -> f64 {
        relative(self.value, self.size)
    }
}

impl Run<'_> {
    /// Follows the terms of rows and gaps, and their scales where the motion begins.
    pub fn note_scales(&mut self) {
        self.note_largest_terms();
        self.audit.largest_terms.note_scales(&self.frame, &self.contact.energy_reach);
    }

    /// Follows what every step monitors of them, at the present frame.
    pub fn note_largest_terms(&mut self) {
        self.audit.largest_terms.note(&self.frame, self.contact.walls.len());
    }

    /// The largest residual at the present frame, relative to its largest term.
    pub fn drift(&self) -> f64 {
        self.audit.largest_terms.drift(&self.frame, &self.contact.closed_as_rows())
    }

    /// Is there anything that can drift?
    pub fn is_constrained(&self) -> bool {
        self.frame.layout.rows > 0 || self.frame.layout.conditions > 0 || !self.leg.key.closed.is_empty()
    }

    /// Keeps the drift at round-off, at the present frame. True if the state changed.
    pub fn project_drift(&mut self) -> Result<bool, Halt> {
        if !self.is_constrained() {
            return Ok(false);
        }
        self.note_largest_terms();
        self.project_if(self.drift())
    }

    /// Keeps the drift at round-off; `drift` is what it is now. True if the state changed.
    pub fn project_if(&mut self, drift: f64) -> Result<bool, Halt> {
        let kept = &mut self.recorder.motion.audit.constraint_drift;
        *kept = kept.max(drift);
        if drift <= DRIFT {
            return Ok(false);
        }
        // A step that misses the rows by far more than it may is no step to bring back: another branch may be nearer.
        if self.stepping_by_series() && drift > LEFT.max(100.0 * self.stepper.taylor.tolerance) {
            return Err(Halt::new(
                StopReason::Singular,
                format!("the motion left the constraint rows, by {drift:.1e} of their terms"),
            ));
        }
        self.evaluate_frame();
        if self.project() > 1e-6 {
            return Err(Halt::new(
                StopReason::Singular,
                "the state could not be brought back onto the constraints".to_string(),
            ));
        }
        Ok(true)
    }

    /// One Newton step for positions, then one for rates, with the factors of the equations of motion: their matrix is the
    /// same, and in large systems it is sparse. Needs monitored residuals at the present state; false (and the state as it was)
    /// when this leg's matrix is another one.
    pub fn project_by_flow(&mut self) -> bool {
        let (n, m) = (self.size(), self.frame.layout.rows);
        let plain =
            self.leg.key.closed.is_empty() && self.leg.key.sliding.is_empty() && self.leg.key.rows.len() == m;
        if !plain || self.is_degenerate() || self.is_hamiltonian() || !self.stepping_by_series() {
            return false;
        }
        if self.stepper.series == NextSeries::Given && !self.leg.evaluate(&self.now, self.stepper.unit) {
            return false;
        }
        let before = self.now.state.clone();
        for (rates, first) in [(false, 0), (true, n)] {
            let at = self.monitored_residuals(rates);
            let flow = self.leg.flow_mut();
            let mut right = vec![0.0; n + m];
            for (r, x) in right[n..].iter_mut().enumerate() {
                *x = -flow.monitored(at + r);
            }
            flow.solve(0, &mut right);
            let solved = right[..n].iter().all(|x| x.is_finite());
            self.now.state[first..first + n].iter_mut().zip(&right).for_each(|(x, d)| *x += d);
            if !solved || !(rates || self.leg.evaluate(&self.now, self.stepper.unit)) {
                self.now.state = before;
                return false;
            }
        }
        true
    }

    /// Newton until the residuals stop falling; returns the largest one left.
    pub fn project(&mut self) -> f64 {
        if self.is_degenerate() {
            return self.project_conditions();
        }
        let closed = self.contact.closed_as_rows();
        let n = self.size();
        let mut best = f64::INFINITY;
        for _ in 0..MOST_STEPS {
            let residuals = self.audit.largest_terms.position_residuals(&self.frame, &closed);
            let worst = residuals.iter().map(Residual::relative).fold(0.0, f64::max);
            if worst <= f64::EPSILON || worst >= best {
                break;
            }
            best = worst;
            let target: Vec<f64> = residuals.iter().map(|r| -r.value).collect();
            let (shift, _) = self.frame.stacked_kkt(&closed).solve(&vec![0.0; n], &target);
            if !shift.iter().all(|x| x.is_finite()) {
                break;
            }
            self.now.state[..n].iter_mut().zip(&shift).for_each(|(q, d)| *q += d);
            self.evaluate_frame();
        }
        self.project_rates(&closed);
        self.drift()
    }

    /// A v + b = 0, for velocities or momenta.
    fn project_rates(&mut self, closed: &[usize]) {
        let n = self.size();
        let mut best = f64::INFINITY;
        for _ in 0..MOST_STEPS {
            let residuals = self.audit.largest_terms.rate_residuals(&self.frame, closed);
            let worst = residuals.iter().map(Residual::relative).fold(0.0, f64::max);
            if worst <= f64::EPSILON || worst >= best {
                return;
            }
            best = worst;
            let target: Vec<f64> = residuals.iter().map(|r| -r.value).collect();
            let rows = self.frame.stacked_rows(closed);
            let (jump, y) = self.frame.stacked_kkt(closed).solve(&vec![0.0; n], &target);
            let momentum: Vec<f64> = rows.transposed_times(&y).iter().map(|x| -x).collect();
            if !jump.iter().chain(&momentum).all(|x| x.is_finite()) {
                return;
            }
            self.apply_impulse(&momentum, &jump);
            self.evaluate_frame();
        }
    }

    /// Degenerate models: all conditions at once, smallest change of (q, v), each as a part of its own scale.
    fn project_conditions(&mut self) -> f64 {
        let n = self.size();
        let scale = self.frame.state_scales();
        let mut best = f64::INFINITY;
        for _ in 0..MOST_STEPS {
            let worst = self.drift();
            if worst <= f64::EPSILON || worst >= best {
                break;
            }
            best = worst;
            let target: Vec<f64> = self.frame.conditions().iter().map(|g| -g).collect();
            let mut gradient = self.frame.condition_gradient();
            gradient.entries.iter_mut().zip(scale.iter().cycle()).for_each(|(g, s)| *g *= s);
            let shift = Factored::new(&gradient).solve(&target);
            if !(largest(&shift).is_finite()) {
                break;
            }
            let shifts = shift.iter().zip(&scale).map(|(d, s)| d * s);
            self.now.state[..2 * n].iter_mut().zip(shifts).for_each(|(x, d)| *x += d);
            self.evaluate_frame();
        }
        self.drift()
    }

    /// After an impact on a degenerate model the velocities that the conditions determine follow.
    pub fn finish_dependent_velocities(&mut self) {
        if self.is_degenerate() {
            self.evaluate_frame();
            let massless: Vec<Vec<f64>> =
                self.frame.kkt().massless_directions().iter().map(|z| z.to_vec()).collect();
            self.follow_conditions(&massless);
        }
    }
}
