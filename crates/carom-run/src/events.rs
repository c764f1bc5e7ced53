//! User events: crossings inside smooth legs, in a direction, under a condition; they record, stop or reset.
//!
//! A zero at the start of a leg or right after a reset, a jump at an impact, or an exact tangency does not fire. At one
//! instant impacts come first, then events in model order, on the state after.

use crate::contact::{SERIES_ROUNDING, leading};
use crate::engine::horner;
use crate::motion::{EventRecord, StopReason};
use crate::roots::horner_with_derivative;
use crate::run::{Halt, Run, Side};
use crate::sensitivity::Cause;
use carom_mech::model::{Action, Direction};

impl Run<'_> {
    /// Events whose function is zero at this very instant.
    pub fn events_now(&self) -> Vec<(usize, f64)> {
        (0..self.events.len())
            .filter(|&e| self.events[e].sign != 0.0)
            .filter_map(|e| Some((e, self.comes_from(e, self.last_step)?)))
            .collect()
    }

    /// The side from which event function `e` comes, if it is zero at the end of a step: by its slope; by the side it was on
    /// where the slope is rounding too, as in a flat crossing.
    pub fn comes_from(&self, e: usize, h: f64) -> Option<f64> {
        let c = self.polynomial(self.program.watched(&self.key).event + e);
        let rounding = 8.0 * f64::EPSILON * c.iter().rev().fold(0.0, |sum, ck| sum * h + ck.abs());
        if horner(c, h).abs() > rounding {
            return None;
        }
        let (_, slope) = horner_with_derivative(c, h);
        let flat = h > 0.0 && (slope * h).abs() <= c.len() as f64 * rounding;
        Some(if flat { self.events[e].sign } else { -slope.signum() })
    }

    /// An event at the instant of an impact fires if its function goes on through zero after it.
    pub fn fire_if_passed(&mut self, (e, before): (usize, f64)) -> Result<(), Halt> {
        let after = self.events[e].sign;
        let wanted = match self.program.mechanics.model.events[e].direction {
            Direction::Both => true,
            Direction::Rising => after > 0.0,
            Direction::Falling => after < 0.0,
        };
        if before * after < 0.0 && wanted {
            self.fire(e)?;
        }
        Ok(())
    }

    /// After event `e` has fired and nothing jumped: its function is zero and goes on, however far rounding has put its
    /// value from zero; the others go on from the side where they were, and what they have ahead is ahead. `sides` and
    /// `pending` as they were before.
    pub fn settle_passed(&mut self, e: usize, sides: &[Side], pending: &[(usize, f64)]) {
        if matches!(self.program.mechanics.model.events[e].action, Action::Set(_)) {
            return;
        }
        let h = self.natural_step();
        let first = self.program.watched(&self.key).event;
        for (o, side) in sides.iter().enumerate() {
            let c = self.flow().watched(first + o);
            let Some((zeros, sign)) = leading(c, 1, h, 0.0) else { continue };
            if o == e {
                self.events[o] = passed(c, h, side.sign).unwrap_or(Side { sign, zeros });
            } else if side.sign * self.events[o].sign < 0.0 && pending.iter().all(|p| p.0 != o) {
                let zeros = if sign == side.sign { zeros } else { 0 };
                self.events[o] = Side { sign: side.sign, zeros };
            }
        }
    }

    /// Records, stops, or resets.
    pub fn fire(&mut self, e: usize) -> Result<(), Halt> {
        let model = &self.program.mechanics.model;
        let event = &model.events[e];
        let values = self.event_values();
        let (only_if, set) = self.event_slots(e);
        // Not exactly on: the next leg starts on the other side either way.
        if only_if.is_some_and(|i| values[i] <= 0.0) {
            self.begin_leg(&[], &[])?;
            return Ok(());
        }
        match &event.action {
            Action::Record => {
                self.record_event(e);
                self.begin_leg(&[], &[])
            }
            Action::Stop => {
                self.record_event(e);
                Err(Halt { reason: StopReason::StoppedByEvent, detail: Some(event.name.clone()) })
            }
            Action::Set(_) => {
                self.allow_reset(e)?;
                let before = self.before_jump(Cause::Event(e));
                // It fired, also if what it sets cannot go on.
                let reset = self.reset(e, &values[set.0..set.1]);
                self.record_event(e);
                reset?;
                self.history.clear();
                self.stop_endless_resets(e)?;
                self.begin_leg(&[], &[])?;
                self.amplify_jump(before);
                Ok(())
            }
        }
    }

    /// One more reset than there may be impacts is not applied.
    fn allow_reset(&self, e: usize) -> Result<(), Halt> {
        let most = self.options.max_impacts;
        if self.reset_count < most {
            return Ok(());
        }
        let name = &self.program.mechanics.model.events[e].name;
        let resets = if most == 1 { "reset" } else { "resets" };
        Err(Halt::new(
            StopReason::ImpactLimit,
            format!("{most} {resets}, and event `{name}` asks for another"),
        ))
    }

    /// Resets that follow each other ever faster, by a steady ratio, have no continuation that carom could know.
    fn stop_endless_resets(&mut self, e: usize) -> Result<(), Halt> {
        /// What is left of the series is below rounding of the times it is made of.
        const ENDLESS: f64 = 1e-12;
        self.reset_count += 1;
        self.resets.push(self.time, &[e]);
        match self.resets.remaining() {
            Some(rest) if rest < ENDLESS * self.time.value().abs().max(1.0) => Err(Halt::new(
                StopReason::ZenoWithoutContinuation,
                format!(
                    "event `{}` fires infinitely often before this time",
                    self.program.mechanics.model.events[e].name
                ),
            )),
            _ => Ok(()),
        }
    }

    fn record_event(&mut self, e: usize) {
        self.look();
        let (position, velocity) = (self.all_positions(), self.all_velocities());
        self.motion.events.push(EventRecord { time: self.time.value(), event: e, position, velocity });
    }

    pub fn event_values(&mut self) -> Vec<f64> {
        let _ = self.settings.evaluate(self.time, &self.state);
        (0..self.settings.tape().watched_count()).map(|i| self.settings.watched(i)[0]).collect()
    }

    /// Positions among the settings: `only_if`, and the range of reset values.
    pub fn event_slots(&self, e: usize) -> (Option<usize>, (usize, usize)) {
        let mut at = self.walls.len() + self.surfaces.len();
        for (i, event) in self.program.mechanics.events.iter().enumerate() {
            let only_if = event.only_if.map(|_| at);
            let first = at + usize::from(event.only_if.is_some());
            if i == e {
                return (only_if, (first, first + event.set.len()));
            }
            at = first + event.set.len();
        }
        (None, (at, at))
    }
}

/// How a function that has just come through zero from the side `before` goes on, if it does: by the first order that leads
/// to the other side while all below it are rounding, as they are near a flat crossing, where they may still lead back.
fn passed(c: &[f64], h: f64, before: f64) -> Option<Side> {
    let mut order = 0;
    loop {
        let (zeros, sign) = leading(c, order + 1, h, 0.0)?;
        // So near the term of this order is rounding itself.
        let near = h * SERIES_ROUNDING.powf(1.0 / zeros as f64);
        let below = c[..zeros].iter().rev().fold(0.0, |sum, ck| sum * near + ck.abs());
        if sign * before < 0.0 && below < (c[zeros] * near.powi(zeros as i32)).abs() {
            return Some(Side { sign, zeros });
        }
        order = zeros;
    }
}
