//! One step: the series, its length, the state at its end, the audit.
//!
//! The frame (every number the laws need) is not evaluated at the end of an uneventful step: what the audit and the
//! projection want to know is noted along with the next step's series.

use crate::events::Side;
use crate::figures::figures;
use crate::run::{Halt, Run, Series};
use carom_jet::{SHORTEST, SHORTEST_UNIT, Time, horner, powers, shorter_unit, unit_for, within_unit};
use carom_mech::model::Method;

/// Steps shorter than this part of the motion's own time scale …
pub(crate) const SMOOTH: f64 = 1e-3;
/// … so many times in a row mean that the model is stiff.
pub(crate) const STIFF_STEPS: u32 = 1_000;

impl Run<'_> {
    /// Are steps Taylor steps, whose series note what the loop wants to know?
    pub fn stepping_by_series(&self) -> bool {
        self.options.method == Method::Taylor
    }

    /// The polynomials of the next step, and its length in their unit.
    pub fn expand(&mut self, left: f64) -> Result<f64, Halt> {
        let h = match self.options.method {
            Method::Rk4 { step } => {
                let to_knot =
                    self.next_knot.map_or(f64::INFINITY, |knot| Time::new(knot).minus(self.time).max(0.0));
                let h = self.in_units(step.min(left).min(to_knot));
                self.rk_step(h)?;
                h
            }
            Method::Taylor => self.expand_series(left)?,
        };
        powers(h, &mut self.powers);
        Ok(h)
    }

    fn expand_series(&mut self, left: f64) -> Result<f64, Halt> {
        // Residuals are values: where the state may have to be projected, series come after that.
        let missing = self.series == Series::Missing;
        let values_only =
            missing && self.is_constrained() && self.key.closed.is_empty() && self.try_evaluate();
        if missing && !values_only {
            self.jet_again()?;
        }
        if self.series != Series::Fresh {
            self.audit_noted()?;
            if missing && !self.key.rows.is_empty() {
                self.note_firmness();
            }
            let projected = self.is_constrained() && self.project_noted()?;
            if projected {
                self.project_columns();
                // The series are another state's now.
                self.series = Series::Missing;
            }
            if projected || (values_only && !self.try_expand()) {
                self.jet_again()?;
            }
        }
        if let Some(rest) = self.rest_of_passage() {
            return Ok(rest);
        }
        let mut h = self.natural_step_in_unit()?;
        self.carry_remainder();
        if h * self.unit < SHORTEST * self.time.value().abs() {
            return Err(self.singular_step(h * self.unit));
        }
        self.notice_stiffness(h);
        self.extent.see(self.spaces.flow(), h);
        let mut most = self.in_units(left);
        if let Some(knot) = self.next_knot {
            most = most.min(self.in_units(Time::new(knot).minus(self.time))).max(0.0);
        }
        h = self.flow().cut(h.min(most), &self.extent);
        self.heed_rank(h, most)
    }

    /// The step the series allow. Where they have overflowed, or where it is far from their unit, they are made once more.
    fn natural_step_in_unit(&mut self) -> Result<f64, Halt> {
        let mut h = self.taylor.step_size(self.flow(), &self.extent);
        while h.is_nan() && self.unit > SHORTEST_UNIT {
            self.unit = shorter_unit(self.unit);
            self.jet_again()?;
            h = self.taylor.step_size(self.flow(), &self.extent);
        }
        if h.is_nan() || h <= 0.0 {
            return Err(self.not_finite());
        }
        let unit = unit_for(h * self.unit);
        if h < f64::INFINITY && !within_unit(h) && unit != self.unit {
            self.unit = unit;
            self.jet_again()?;
            h = self.taylor.step_size(self.flow(), &self.extent);
        }
        if h.is_nan() || h <= 0.0 { Err(self.not_finite()) } else { Ok(h) }
    }

    /// A step far below |ẋ|/|ẍ|, again and again: something that has long decayed dictates it.
    fn notice_stiffness(&mut self, h: f64) {
        let smooth = self.taylor.is_smooth(self.flow(), &self.extent, h, 2 * self.size(), SMOOTH);
        let h = h * self.unit;
        self.smooth_steps = if smooth { self.smooth_steps.saturating_add(1) } else { 0 };
        if self.smooth_steps == STIFF_STEPS {
            let (time, h) = (figures(self.time.value(), 6), figures(h, 2));
            self.warn(format!(
                "the model is stiff near t = {time}: steps of {h} are far shorter than the motion's own time scale"
            ));
        }
    }

    // ---- moving on ---------------------------------------------------------------------------------------

    /// Moves on by a whole uneventful step. `last`: it ends exactly at `until`.
    pub fn pass(&mut self, h: f64, last: bool) -> Result<(), Halt> {
        self.see_gaps(h, self.series == Series::Fresh);
        self.move_by(h, true, last)?;
        if !self.stepping_by_series() {
            self.settle_end()?;
        }
        Ok(())
    }

    /// Moves to the place of an event, h into the step, and evaluates everything there.
    pub fn advance(&mut self, h: f64) -> Result<(), Halt> {
        self.see_gaps(h, true);
        self.move_by(h, false, false)?;
        self.note_reach(h);
        self.evaluate_frame();
        if !self.frame.is_finite() {
            return Err(self.not_finite());
        }
        self.audit_frame();
        Ok(())
    }

    /// Everything at the end of a step that no other step follows.
    pub fn settle_end(&mut self) -> Result<(), Halt> {
        self.evaluate_frame();
        if !self.frame.is_finite() {
            return Err(self.not_finite());
        }
        self.audit_frame();
        if self.rank.passage.is_some() {
            self.note_largest_terms();
            // Nothing is projected there.
            let drift = self.recorder.motion.audit.constraint_drift.max(self.drift());
            self.recorder.motion.audit.constraint_drift = drift;
            return Ok(());
        }
        self.project_drift().map(|_| ())
    }

    /// Free space within the step: where it begins, and on the way if it is the first or last of its leg.
    fn see_gaps(&mut self, h: f64, on_the_way: bool) {
        for w in 0..self.contact.walls.len() {
            if self.contact.walls[w].closed {
                continue;
            }
            let c = self.polynomial(w);
            let mut gap = c[0];
            if on_the_way {
                gap = (1..4).map(|k| horner(c, h * f64::from(k) / 4.0)).fold(gap, f64::max);
            }
            self.contact.squeeze.see(gap);
        }
    }

    /// Moves to t + h along the series, sampling on the way. `whole`: h is the step whose powers are known.
    fn move_by(&mut self, h: f64, whole: bool, last: bool) -> Result<(), Halt> {
        let mut next = std::mem::take(&mut self.next_state);
        next.resize(self.state.len(), 0.0);
        if self.stepping_by_series() {
            if !whole {
                // The place of an event is a root of the series of the doubles: the state is theirs, too.
                self.spaces.flow_mut().carry(std::iter::repeat(0.0));
            }
            let powers = whole.then_some(&self.powers[..]);
            self.remainder.advance(self.spaces.flow(), h, powers, &mut next);
        } else {
            self.state_within(h, &mut next);
        }
        if next.iter().any(|x| !x.is_finite()) {
            return Err(self.not_finite_after(h, &next));
        }
        if h > 0.0 {
            self.expand_variation();
        }
        let end = if last { self.until } else { self.time.plus(h * self.unit) };
        // At the very time of a jump the state after is the sample.
        self.sample_until(h, (!whole).then_some(end.value()));
        self.keep_step(h, !whole, &next, end);
        self.advance_variation(h);
        self.last_step = h;
        self.next_state = std::mem::replace(&mut self.state, next);
        self.time = end;
        // What was known at the start of the step is used up; signs are remembered across steps.
        if h > 0.0 {
            self.remember_sides(h);
        }
        Ok(())
    }

    fn remember_sides(&mut self, h: f64) {
        self.contact.forget_zeros();
        for (s, side) in self.events.surfaces.iter_mut().enumerate() {
            if side.sign != 0.0 {
                *side = Side { sign: side.sign, zeros: 0 };
            } else if !self.key.sliding.contains(&s) {
                side.zeros = 0;
            }
        }
        self.remember_events(h);
    }

    fn audit_frame(&mut self) {
        let deepest = (0..self.contact.walls.len()).map(|w| -self.frame.gap(w)).fold(0.0, f64::max);
        self.audit_energy(self.frame.energy(), self.frame.energy_scale(), deepest);
    }

    /// Holds E against what it should be, and gaps against zero.
    pub fn audit_energy(&mut self, energy: f64, scale: f64, deepest: f64) {
        self.audit.see_energy(energy, self.work(), scale);
        let kept = &mut self.recorder.motion.audit.deepest_penetration;
        *kept = kept.max(deepest);
    }
}
