//! One step: the series, its length, the state at its end, the audit.
//!
//! The frame (every number the laws need) is not evaluated at the end of an uneventful step: what the audit and the
//! projection want to know is monitored along with the next step's series.

use crate::events::KnownSign;
use crate::figures::figures;
use crate::run::{Halt, Run};
use crate::stepper::{NextSeries, SMOOTH};
use carom_jet::{SHORTEST, SHORTEST_UNIT, StepSize, Time, shorter_unit, unit_for, within_unit};
use carom_mech::model::Method;

impl Run<'_> {
    /// Are steps Taylor steps, whose series note what the loop wants to know?
    pub fn stepping_by_series(&self) -> bool {
        self.options.method == Method::Taylor
    }

    /// The polynomials of the next step, and its length in their unit.
    pub fn expand(&mut self, left: f64) -> Result<f64, Halt> {
        let h = match self.options.method {
            Method::Rk4 { step } => {
                let to_knot = self
                    .leg
                    .next_knot
                    .map_or(f64::INFINITY, |knot| Time::new(knot).minus(self.now.time).max(0.0));
                let h = self.stepper.in_units(step.min(left).min(to_knot));
                self.prepare_leg()?;
                let stepped = self.leg.fixed_step(self.program, &self.now, self.stepper.unit, h);
                stepped.map_err(|singular| self.leg.singular(&singular))?;
                h
            }
            Method::Taylor => self.expand_series(left)?,
        };
        self.leg.flow().powers(h, &mut self.stepper.powers);
        Ok(h)
    }

    fn expand_series(&mut self, left: f64) -> Result<f64, Halt> {
        if let Some(step) = self.stepper.given.take() {
            self.leg.carry_remainder(&self.now);
            self.warn_if_stiff(step.smooth, step.natural);
            self.stepper.extent.see(self.leg.flow(), step.natural);
            return Ok(step.length);
        }
        if self.stepper.series == NextSeries::Postponed {
            self.jet_again()?;
            self.stepper.series = NextSeries::Fresh;
        }
        // Residuals are values: where the state may have to be projected, series come after that.
        let missing = self.stepper.series == NextSeries::Missing;
        let values_only = missing
            && self.is_constrained()
            && self.leg.key.closed.is_empty()
            && self.leg.evaluate(&self.now, self.stepper.unit);
        if missing && !values_only {
            self.jet_again()?;
        }
        if self.stepper.series != NextSeries::Fresh {
            self.audit_monitored()?;
            if missing && !self.leg.key.rows.is_empty() {
                self.rank.note_firmness(&self.leg);
            }
            let projected = self.is_constrained() && self.project_monitored()?;
            if projected {
                self.project_columns();
                // The series are another state's now.
                self.stepper.series = NextSeries::Missing;
            }
            if projected || (values_only && !self.leg.expand(&self.now)) {
                self.jet_again()?;
            }
        }
        if let Some(rest) = self.rank.rest_of_passage() {
            return Ok(rest);
        }
        let step = self.natural_step_in_unit()?;
        let mut h = step.length;
        self.leg.carry_remainder(&self.now);
        if h * self.stepper.unit < SHORTEST * self.now.time.value().abs() {
            return Err(self.singular_step(h * self.stepper.unit));
        }
        self.warn_if_stiff(step.is_smooth(SMOOTH), h);
        self.stepper.extent.see(self.leg.flow(), h);
        let mut most = self.stepper.in_units(left);
        if let Some(knot) = self.leg.next_knot {
            most = most.min(self.stepper.in_units(Time::new(knot).minus(self.now.time))).max(0.0);
        }
        h = self.leg.flow().cut(h.min(most), &self.stepper.extent);
        self.heed_rank(h, most)
    }

    /// The step the series allow. Where they have overflowed, or where it is far from their unit, they are made once more.
    fn natural_step_in_unit(&mut self) -> Result<StepSize, Halt> {
        let mut step = self.step_by_series();
        while step.length.is_nan() && self.stepper.unit > SHORTEST_UNIT {
            self.stepper.unit = shorter_unit(self.stepper.unit);
            self.jet_again()?;
            step = self.step_by_series();
        }
        let h = step.length;
        if h.is_nan() || h <= 0.0 {
            return Err(self.not_finite());
        }
        let unit = unit_for(h * self.stepper.unit);
        if h < f64::INFINITY && !within_unit(h) && unit != self.stepper.unit {
            self.stepper.unit = unit;
            self.jet_again()?;
            step = self.step_by_series();
        }
        if step.length.is_nan() || step.length <= 0.0 { Err(self.not_finite()) } else { Ok(step) }
    }

    fn step_by_series(&self) -> StepSize {
        self.stepper.taylor.step(self.leg.flow(), &self.stepper.extent, 2 * self.size())
    }

    /// Says that something long decayed dictates the steps.
    fn warn_if_stiff(&mut self, smooth: bool, h: f64) {
        if self.stepper.becomes_stiff(smooth) {
            let (time, h) = (figures(self.now.time.value(), 6), figures(h * self.stepper.unit, 2));
            self.warn(format!(
                "the model is stiff near t = {time}: steps of {h} are far shorter than the motion's own time scale"
            ));
        }
    }

    // ---- moving on ---------------------------------------------------------------------------------------

    /// Moves on by a whole uneventful step. `last`: it ends exactly at `until`.
    pub fn pass(&mut self, h: f64, last: bool) -> Result<(), Halt> {
        self.contact.see_gaps(&self.leg, h, self.stepper.series == NextSeries::Fresh);
        self.move_by(h, true, last)?;
        if !self.stepping_by_series() {
            self.settle_end()?;
        }
        Ok(())
    }

    /// Moves to the place of an event, h into the step, and evaluates everything there.
    pub fn advance(&mut self, h: f64) -> Result<(), Halt> {
        self.contact.see_gaps(&self.leg, h, true);
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

    /// Moves to t + h along the series, sampling on the way. `whole`: h is the step whose powers are known.
    fn move_by(&mut self, h: f64, whole: bool, last: bool) -> Result<(), Halt> {
        let mut next = std::mem::take(&mut self.now.next_state);
        next.resize(self.now.state.len(), 0.0);
        if self.stepping_by_series() {
            if !whole {
                // The place of an event is a root of the series of the doubles: the state is theirs, too.
                self.leg.flow_mut().carry(std::iter::repeat(0.0));
            }
            let powers = whole.then_some(&self.stepper.powers[..]);
            self.now.remainder.advance(self.leg.flow(), h, powers, &mut next);
        } else {
            self.leg.state_within(h, &mut next);
        }
        if next.iter().any(|x| !x.is_finite()) {
            return Err(self.not_finite_after(h, &next));
        }
        if h > 0.0 {
            self.expand_variation(h);
        }
        let end = if last { self.stepper.until } else { self.now.time.plus(h * self.stepper.unit) };
        // At the very time of a jump the state after is the sample.
        self.sample_until(h, (!whole).then_some(end.value()));
        self.keep_step(h, !whole, &next, end);
        self.record_step(h, &next, end);
        self.keep_step_states(&next, end);
        self.advance_variation(h);
        self.stepper.last_step = h;
        self.now.next_state = std::mem::replace(&mut self.now.state, next);
        self.now.time = end;
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
                *side = KnownSign { sign: side.sign, zeros: 0 };
            } else if !self.leg.key.sliding.contains(&s) {
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
