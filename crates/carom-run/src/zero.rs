//! What is zero.  |f| ≤ c u s,  s the scale of f: one sweep over the formula with inputs |x_j| + what x_j moved by in the
//! step that led here (`carom-jet/src/eval/scale.rs`).
//!
//! Nature knows no 1: whether a gap touches, a row holds, a rate vanishes or two things happen at one instant must not depend
//! on units, on the origin or on how a formula is written. So nothing here has a dimension, nothing is compared with itself,
//! and nothing with what it is made of at an instant at which that happens to vanish. Every such decision of a run is made
//! by this module; `carom_mech` asks the same question of a start with a bound on the same scale.
//!
//! The constants are pure numbers: how many roundings a computation of its kind may collect.

use crate::law::KktFactor;
use crate::run::Run;
use carom_expr::Scaled;
use carom_jet::dense::dot;
use carom_jet::{Time, horner};
use carom_mech::model::Method;

/// Rounding of a formula, as a part of its scale: what is smaller is zero.
pub(crate) const ROUNDING: f64 = Scaled::ROUNDING;
/// The same for what a linear or complementarity problem was solved for, and for coefficients of a series.
pub(crate) const SOLVED: f64 = 64.0 * f64::EPSILON;
/// Residuals above this part of their scale are projected away: what one step of a long run may leave.
pub(crate) const DRIFT: f64 = 8.0 * f64::EPSILON;
/// The part of n·S n that other normals leave is rounding below this: the normals depend on each other. It is a difference of
/// squares, so that wedges thinner than its root are no wedges.
pub(crate) const DEPENDENT: f64 = 1e-13;
/// People type nine digits: a start that misses its rows by less than this part of their scale is projected silently.
pub(crate) const TYPED: f64 = Scaled::TYPED;
/// What a step may leave of a law, in units of its tolerance or of rounding, whichever is larger: the degree of formulas and
/// the number of their terms.
pub(crate) const EXPLAINED: f64 = 256.0;
/// A drift that is reported even if the tolerance explains it …
pub(crate) const LARGE: f64 = 1e-2;
/// … and the one from which on that of a method without tolerance is.
pub(crate) const UNCONTROLLED: f64 = 1e-6;
/// What is left of a series of resets is no more than this part of the motion so far: it ends here.
const ENDLESS: f64 = 1e-12;
/// Where constraint rows are nearly dependent: the square of what is left of their independence is rounding, and so the branch
/// cannot be told any more. A projection moves q by u/strength, and must move A by far less than its strength: a thousandth
/// for "far", another for |∂²c| and what has gathered.
pub(crate) const AMBIGUOUS: f64 = 1_048_576.0 * f64::EPSILON;
/// Strength of the rows below which a multiplier has fewer than half of its digits: u/strength² > √u.
pub(crate) const POLE: f64 = 1.220_703_125e-4;
/// No step of the series method ends so far from its rows, as a part of their scale: it keeps them to the tolerance.
pub(crate) const LEFT: f64 = 1e-6;
/// So far above rounding that no cancellation inside a formula hides it: then no sweep is needed to say that it is not zero.
pub(crate) const CLEAR: f64 = 1e-3;

/// Is a computed value zero, given its scale? Zero itself is, whatever the scale.
pub(crate) fn vanishes(value: f64, scale: f64) -> bool {
    value.abs() <= ROUNDING * scale
}

impl Run<'_> {
    // ---- walls -------------------------------------------------------------------------------------------

    /// Is φ = 0 (or below, by whatever it is)?
    pub fn touches(&self, wall: usize) -> bool {
        let gap = self.frame.gap(wall);
        gap <= 0.0 || (!self.is_clearly(gap, wall, 0) && gap <= ROUNDING * self.gap_scale(wall))
    }

    /// Is φ = 0 as far as a motion of this size can tell? The state carries the rounding of where it has been, so a wall this
    /// near is hit together with one that is.
    pub fn is_hit_too(&self, wall: usize) -> bool {
        let largest = self.audit.largest_terms.gap.get(wall).copied().unwrap_or(0.0);
        self.touches(wall) || self.frame.gap(wall) <= ROUNDING * largest
    }

    /// Is φ < 0 by more than rounding?
    pub fn is_behind(&self, wall: usize) -> bool {
        let gap = self.frame.gap(wall);
        gap < 0.0 && gap < -ROUNDING * self.gap_scale(wall)
    }

    /// φ̇, zero where it is rounding.
    pub fn known_rate(&self, wall: usize) -> f64 {
        let rate = self.frame.gap_rate(wall);
        if !self.is_clearly(rate, wall, self.size()) && vanishes(rate, self.gap_rate_scale(wall)) {
            0.0
        } else {
            rate
        }
    }

    fn gap_scale(&self, wall: usize) -> f64 {
        let [gap, _] = self.energy_reach_of(wall);
        self.frame.gap_scale(wall).max(gap)
    }

    fn gap_rate_scale(&self, wall: usize) -> f64 {
        let [_, rate] = self.energy_reach_of(wall);
        self.frame.gap_rate_scale(wall).max(rate)
    }

    /// What the energy of the motion could do to a gap and its rate, while nothing has moved yet.
    fn energy_reach_of(&self, wall: usize) -> [f64; 2] {
        if self.stepper.steps > 0 {
            [0.0; 2]
        } else {
            self.contact.energy_reach.get(wall).copied().unwrap_or_default()
        }
    }

    /// Is a gap (`first` = 0) or its rate (`first` = n) far above Σ |n_j| s_j, to first order its scale?
    fn is_clearly(&self, value: f64, wall: usize, first: usize) -> bool {
        // Not for walls that move, nor for rates of momenta: those have other terms.
        if !self.frame.stands(wall) || (first > 0 && self.is_hamiltonian()) {
            return false;
        }
        let normal = self.frame.normal(wall).iter().enumerate();
        let scale: f64 = normal.map(|(j, n)| n.abs() * self.frame.state_scale(first + j)).sum();
        value.abs() > CLEAR * scale && scale > 0.0 && self.stepper.steps > 0
    }

    // ---- instants ----------------------------------------------------------------------------------------

    /// Is this too short a time to tell from none, after so long a motion?
    pub fn is_instant(&self, step: f64) -> bool {
        step <= f64::EPSILON * self.elapsed()
    }

    /// How long the motion has lasted; its last step at least.
    pub fn elapsed(&self) -> f64 {
        self.now.time.minus(Time::new(self.options.start.time)).max(self.frame.last_reach())
    }

    /// Do two times within a step of length h, `apart` from each other, belong to one instant? They are known as well as the
    /// functions that have their roots there: to rounding of the step, plus scale over rate of each (`known_to`).
    pub fn is_together(&self, apart: f64, h: f64, known_to: f64) -> bool {
        apart.abs() <= ROUNDING * (h + known_to)
    }

    /// Is the root `at` of event function `e` at the instant of the impact on wall `w` at `hit`, or of what else ends the step
    /// there? It is if rounding of time, of the event function or of the gap does not tell.
    pub fn is_event_together(&mut self, e: usize, at: f64, w: Option<usize>, hit: f64, h: f64) -> bool {
        if self.is_together(hit - at, h, 0.0) {
            return true;
        }
        if hit - at > CLEAR * h {
            return false;
        }
        let watched = self.program.watched(&self.leg.key);
        let event = horner(self.leg.polynomial(watched.event + e), hit);
        let gap = w.map(|w| horner(self.leg.polynomial(watched.gap + w), at));
        vanishes(event, self.event_scale(e, h))
            || w.zip(gap).is_some_and(|(w, gap)| vanishes(gap, self.gap_size_at_start(w)))
    }

    /// Are two touches of a wall one? A double root is located to the root of rounding of the step it lies in.
    pub fn is_same_touch(&self, apart: f64, h: f64) -> bool {
        apart.abs() <= 4.0 * ROUNDING.sqrt() * h.max(self.stepper.last_step * self.stepper.unit)
    }

    /// Is so little left of a series of resets that it ends here?
    pub fn is_endless(&self, rest: f64) -> bool {
        rest <= ENDLESS * self.now.time.minus(Time::new(self.options.start.time))
    }

    // ---- what the motion moves -----------------------------------------------------------------------------

    /// A step of length h, in units of the series, has led here. One that took no time says nothing: rounding stays what it was.
    pub fn note_reach(&mut self, h: f64) {
        if h * self.stepper.unit <= f64::EPSILON * self.frame.last_reach() {
            return;
        }
        match self.options.method {
            Method::Taylor => self.note_reach_of_series(h),
            // The last state is still there.
            Method::Rk4 { .. } => {
                let moved = self.now.state.iter().zip(&self.now.next_state).map(|(a, b)| (a - b).abs());
                let reach = self.frame.reach_mut();
                reach.iter_mut().zip(moved).for_each(|(r, moved)| *r = moved);
                reach[self.now.state.len()] = h * self.stepper.unit;
            }
        }
    }

    /// |ẋ| h + ½|ẍ| h² along the present series.
    pub fn note_reach_of_series(&mut self, h: f64) {
        let dimension = self.now.state.len();
        let reach = self.frame.reach_mut();
        let mut places = reach.iter_mut();
        self.leg.flow().coefficients().each([1, 2], |[first, second]| {
            if let Some(r) = places.next() {
                *r = h * (first.abs() + h * second.abs());
            }
        });
        reach[dimension] = h * self.stepper.unit;
    }

    /// At the start the coming step counts. How long it is takes a series to say, so a bound comes first, |v| T + |a| T² with T
    /// the time left: what is not zero by that is not zero.
    pub fn reach_from_start(&mut self, kkt: &KktFactor) {
        if self.contact.walls.is_empty() && !self.is_constrained() {
            return;
        }
        self.frame.reach_mut().fill(0.0);
        self.evaluate_frame();
        let left = self.stepper.until.minus(self.now.time);
        let n = self.size();
        let (velocity, acceleration, second) = self.rates_at_start(kkt);
        let reach = self.frame.reach_mut();
        for j in 0..n {
            reach[j] = left * (velocity[j].abs() + left * acceleration[j].abs());
            reach[n + j] = left * second[j].abs();
        }
        if let Some(time) = reach.last_mut() {
            *time = left;
        }
        self.note_energy_reach(kkt);
        let doubtful = (0..self.contact.walls.len()).any(|w| self.touches(w)) || self.frame.is_off_rows();
        let series = doubtful && self.choose_rows().is_ok() && self.jet().is_ok();
        if series {
            self.note_reach_of_series(self.natural_step());
            self.note_energy_reach(kkt);
        } else {
            self.frame.reach_mut().fill(0.0);
            self.contact.energy_reach.clear();
        }
    }

    /// Bodies that hang at rest beside one that swings (Newton's cradle) carry the rounding of when they swung. A start knows
    /// nothing of that, but no gap can move faster than if all of the energy went into it:
    ///
    /// ```text
    /// |φ̇|² ≤ (uᵀ W u)(n·S n),  u = |v| + |a| h        in momenta: (uᵀ H_pp u)(n·S n),  u = |p| + |ṗ| h
    /// ```
    fn note_energy_reach(&mut self, kkt: &KktFactor) {
        self.contact.energy_reach.clear();
        if self.is_degenerate() || self.contact.walls.is_empty() {
            return;
        }
        let n = self.size();
        let reach = self.frame.reach();
        let u: Vec<f64> = (0..n).map(|j| self.now.state[n + j].abs() + reach[n + j]).collect();
        let mass = self.frame.mass();
        let energy: f64 = (0..n).map(|i| (0..n).map(|j| u[i] * mass[(i, j)].abs() * u[j]).sum::<f64>()).sum();
        let h = self.frame.last_reach();
        for wall in 0..self.contact.walls.len() {
            let normal = self.frame.normal(wall);
            let rate = (energy * dot(normal, &kkt.inverse_mass_times(normal).0).max(0.0)).sqrt();
            self.contact.energy_reach.push(if rate.is_finite() { [h * rate, rate] } else { [0.0; 2] });
        }
    }

    /// q̇, q̈ and the rate of the state's second half, as they would be without contact.
    fn rates_at_start(&mut self, kkt: &KktFactor) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let n = self.size();
        let mut acceleration =
            if self.is_degenerate() { self.reactions(&[]).0 } else { self.frame.free_acceleration(kkt).0 };
        if !self.is_hamiltonian() {
            return (self.now.state[n..2 * n].to_vec(), acceleration.clone(), acceleration);
        }
        let velocities = self.all_velocities();
        let velocity = self.program.mechanics.free.iter().map(|&i| velocities[i]).collect();
        acceleration.iter_mut().zip(self.frame.velocity_bias()).for_each(|(a, b)| *a += b);
        (velocity, acceleration, self.frame.force().to_vec())
    }
}
