//! User events: crossings inside smooth legs, in a direction, under a condition; they record, stop or reset.
//!
//! ```text
//! σ = ±1   the side of zero on which an event function g was last         g crosses at an instant τ  ⟺
//!                                                                         g⁻(τ) = g⁺(τ)  and it goes on from τ on the side −σ
//! ```
//!
//! Every event remembers σ; all that happens at an instant (impacts, releases, corners, rows of tables, other events) leaves it
//! as it is, except that a function that jumps there, or is set by its own event, starts anew with the side it then has. So a
//! crossing fires once, whatever else happens before, at or after it and however few roundings away, and a zero at the start,
//! a jump, a tangency do not fire. A function that stays at zero for a while crosses when it leaves to the other side. At one
//! instant impacts come first, then events in model order, on the state after.

use crate::contact::{SERIES_ROUNDING, leading};
use crate::motion::{EventRecord, StopReason};
use crate::program::Program;
use crate::run::{Halt, Run};
use crate::saltation::Cause;
use crate::stepper::Now;
use crate::zeno::History;
use crate::zero::vanishes;
use carom_jet::{Flow, Scales, horner};
use carom_mech::model::{Action, CrossingDirection};

/// What is known about an event or switching function between two events.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KnownSign {
    /// ±1; 0: not known yet.
    pub sign: f64,
    /// Leading coefficients known to be zero at the start of the next step.
    pub zeros: usize,
}

/// What is known about all events and switching surfaces.
pub(crate) struct EventState {
    /// Per event.
    pub sides: Vec<KnownSign>,
    /// Per switching surface.
    pub surfaces: Vec<KnownSign>,
    /// What is known of both where something happens.
    pub crossings: Crossings,
    /// Evaluates them, reset values and restitution.
    pub settings: Flow,
    /// The last resets by events.
    pub resets: History,
    /// How many there were.
    pub reset_count: u64,
}

impl EventState {
    /// Of a program; nothing is known yet.
    pub fn new(program: &Program) -> EventState {
        EventState {
            sides: vec![KnownSign::default(); program.mechanics.events.len()],
            surfaces: vec![KnownSign::default(); program.surfaces.len()],
            crossings: Crossings::new(program),
            settings: program.settings.clone(),
            resets: History::default(),
            reset_count: 0,
        }
    }

    /// Another simulation begins.
    pub fn clear(&mut self) {
        self.sides.fill(KnownSign::default());
        self.surfaces.fill(KnownSign::default());
        self.crossings.clear();
        self.resets.clear();
        self.reset_count = 0;
    }

    /// Another program goes on from here.
    pub fn follow(&mut self, program: &Program) {
        self.settings = program.settings.clone();
        self.crossings.follow(program);
    }

    /// The function of a surface, where the settings were evaluated last.
    pub fn surface_value(&self, walls: usize, s: usize) -> f64 {
        self.settings.watched(walls + s)[0]
    }

    /// The same before what happens here, if that was recorded.
    pub fn surface_seen(&self, s: usize) -> Option<f64> {
        self.crossings.seen.get(s).copied()
    }

    /// Place of an event's function among the settings.
    pub fn slot(&self, e: usize) -> usize {
        self.settings.tape().watched_count() - self.sides.len() + e
    }

    /// All settings where the motion is.
    pub fn values_at(&mut self, now: &Now) -> Vec<f64> {
        let _ = self.settings.evaluate(now.time, &now.state);
        (0..self.settings.tape().watched_count()).map(|i| self.settings.watched(i)[0]).collect()
    }
}

/// What is known of events and surfaces, and of their crossings, at the present instant.
#[derive(Clone, Debug)]
pub(crate) struct Crossings {
    /// Per event: the side it was last on, for those that are zero for a while.
    memory: Vec<f64>,
    /// Functions of surfaces, then of events, before anything happened here.
    seen: Vec<f64>,
    /// Events that cross here, in model order, with the side they come from.
    crossing: Vec<(usize, f64)>,
    /// The event whose root was located here.
    located: Option<usize>,
    /// Crossings of the present step in a direction that does not count: where, and of which event.
    pub skipped: Vec<(f64, usize)>,
    /// Crossings of the present step may be left to what happens at its end.
    pub waiting: bool,
    scales: Scales,
}

impl Crossings {
    pub fn new(program: &Program) -> Crossings {
        let tape = program.settings.tape();
        Crossings {
            memory: vec![0.0; program.mechanics.events.len()],
            seen: Vec::new(),
            crossing: Vec::new(),
            located: None,
            skipped: Vec::new(),
            waiting: false,
            scales: Scales::of(tape, program.mechanics.walls.len()..tape.watched_count()),
        }
    }

    /// Another program goes on from here.
    pub fn follow(&mut self, program: &Program) {
        self.scales = Crossings::new(program).scales;
    }

    /// Nothing has happened yet.
    pub fn clear(&mut self) {
        self.memory.fill(0.0);
        self.seen.clear();
        self.crossing.clear();
        self.skipped.clear();
        self.located = None;
        self.scales.forget();
    }

    /// Parameters have changed.
    pub fn forget_scales(&mut self) {
        self.scales.forget();
    }
}

/// Does a crossing that comes from this side count?
pub(crate) fn counts(direction: CrossingDirection, before: f64) -> bool {
    match direction {
        CrossingDirection::Both => true,
        CrossingDirection::Rising => before < 0.0,
        CrossingDirection::Falling => before > 0.0,
    }
}

impl Run<'_> {
    // ---- what is known at an instant ---------------------------------------------------------------------------

    /// Something is about to happen here: notes where surfaces and events are.
    pub fn note_sides(&mut self) {
        if self.events.surfaces.is_empty() && self.events.sides.is_empty() {
            return;
        }
        let _ = self.events.settings.evaluate(self.now.time, &self.now.state);
        let mut seen = std::mem::take(&mut self.events.crossings.seen);
        seen.clear();
        seen.extend(
            (0..self.events.surfaces.len()).map(|s| self.events.surface_value(self.contact.walls.len(), s)),
        );
        seen.extend(
            (0..self.events.sides.len()).map(|e| self.events.settings.watched(self.events.slot(e))[0]),
        );
        self.events.crossings.seen = seen;
    }

    /// Is the function of a surface zero, where the settings were evaluated last?
    pub fn is_on_surface(&mut self, s: usize) -> bool {
        let value = self.events.surface_value(self.contact.walls.len(), s);
        value == 0.0 || vanishes(value, self.setting_scale(self.contact.walls.len() + s))
    }

    /// Is the function of an event zero, up to rounding?
    pub fn is_event_zero(&mut self, e: usize) -> bool {
        let _ = self.events.settings.evaluate(self.now.time, &self.now.state);
        let slot = self.events.slot(e);
        let value = self.events.settings.watched(slot)[0];
        vanishes(value, self.setting_scale(slot))
    }

    /// The scale of a setting at the present state, where the settings were evaluated last.
    fn setting_scale(&mut self, slot: usize) -> f64 {
        let sizes = self.now.state.iter().copied().chain([self.now.time.value()]);
        let inputs: Vec<f64> = sizes.zip(self.frame.reach()).map(|(x, reach)| x.abs() + reach).collect();
        self.events.crossings.scales.sweep(&self.events.settings, inputs.into_iter());
        self.events.crossings.scales.watched(&self.events.settings, slot)
    }

    /// The scale of an event function over a step of length h from here.
    pub fn event_scale(&mut self, e: usize, h: f64) -> f64 {
        let _ = self.events.settings.evaluate(self.now.time, &self.now.state);
        let mut inputs: Vec<f64> = self.now.state.iter().map(|x| x.abs()).collect();
        if self.stepping_by_series() {
            let mut at = inputs.iter_mut();
            self.leg.flow().coefficients().each([1, 2], |[first, second]| {
                if let Some(x) = at.next() {
                    *x += h * (first.abs() + h * second.abs());
                }
            });
        }
        inputs.push(self.now.time.value().abs() + h * self.stepper.unit);
        self.events.crossings.scales.sweep(&self.events.settings, inputs.into_iter());
        let slot = self.events.slot(e);
        self.events.crossings.scales.watched(&self.events.settings, slot)
    }

    /// Did an event function jump here?
    fn has_jumped(&mut self, e: usize) -> bool {
        let slot = self.events.slot(e);
        let now = self.events.settings.watched(slot)[0];
        match self.events.crossings.seen.get(self.events.surfaces.len() + e) {
            Some(&seen) if seen != now => !vanishes(now - seen, seen.abs() + self.setting_scale(slot)),
            _ => false,
        }
    }

    /// At the start of a leg: on which side every event function goes on, and which of them cross here.
    pub fn settle_events(&mut self) {
        if self.events.sides.is_empty() {
            return;
        }
        let h = self.natural_step();
        if self.frame.last_reach() == 0.0 {
            self.note_reach_of_series(h);
        }
        let _ = self.events.settings.evaluate(self.now.time, &self.now.state);
        let first = self.program.watched(&self.leg.key).event;
        for e in 0..self.events.sides.len() {
            let known = self.events.sides[e].sign;
            let mut before = if known == 0.0 { self.events.crossings.memory[e] } else { known };
            if before != 0.0 && self.has_jumped(e) {
                before = 0.0;
            }
            let located = self.events.crossings.located == Some(e) && before != 0.0;
            let c = self.leg.flow().watched(first + e);
            let side = |found: Option<(usize, f64)>| {
                found.map_or(KnownSign { sign: 0.0, zeros: 0 }, |(zeros, sign)| KnownSign { sign, zeros })
            };
            let quick = side(leading(c, 0, h, 0.0));
            let next = if located {
                passed(c, h, before).unwrap_or_else(|| side(leading(c, 1, h, 0.0)))
            } else if quick.sign == before && before != 0.0 {
                // Should this be rounding, what is ahead is found in the step.
                quick
            } else {
                let scale = self.setting_scale(self.events.slot(e));
                let c = self.leg.flow().watched(first + e);
                let next = side(leading(c, 0, h, scale));
                // In the flat part of a crossing that has been found already, lower orders may still lead back.
                match next.sign * before < 0.0 {
                    true => passed(c, h, -before).unwrap_or(next),
                    false => next,
                }
            };
            if located || next.sign * before < 0.0 {
                self.events.crossings.crossing.push((e, before));
            }
            self.events.sides[e] = next;
            self.events.crossings.memory[e] = if next.sign == 0.0 { before } else { next.sign };
        }
    }

    /// After a step of length h that ended here: the side every event function is on. Every crossing in it was found; at its
    /// end only a value beyond rounding says more.
    pub fn remember_events(&mut self, h: f64) {
        let first = self.program.watched(&self.leg.key).event;
        for e in 0..self.events.sides.len() {
            let KnownSign { mut sign, zeros } = self.events.sides[e];
            if sign == 0.0 {
                self.events.sides[e].sign = self.side_by_value(e, h);
                continue;
            }
            let c = &self.leg.polynomial(first + e)[zeros..];
            let size = c.iter().rev().fold(0.0, |sum, ck| sum * h + ck.abs());
            let end = horner(c, h);
            let zero = vanishes(end, size);
            for (at, _) in self.events.crossings.skipped.iter().filter(|(at, event)| *event == e && *at <= h)
            {
                // One at the very end, or so flat that it is zero from there on, is decided by what comes next.
                if !(zero && vanishes(horner(c, 0.5 * (at + h)), size)) {
                    sign = -sign;
                }
            }
            if !self.events.crossings.waiting && end * sign < 0.0 && !zero {
                sign = end.signum();
            }
            self.events.sides[e] = KnownSign { sign, zeros: 0 };
            self.events.crossings.memory[e] = sign;
        }
    }

    /// The side of a function that was zero all along, if it is not any more.
    fn side_by_value(&mut self, e: usize, h: f64) -> f64 {
        let _ = self.events.settings.evaluate(self.now.time, &self.now.state);
        let moved =
            self.now.state.iter().zip(&self.now.next_state).map(|(x, from)| x.abs() + (x - from).abs());
        let inputs: Vec<f64> = moved.chain([self.now.time.value().abs() + h * self.stepper.unit]).collect();
        self.events.crossings.scales.sweep(&self.events.settings, inputs.into_iter());
        let slot = self.events.slot(e);
        let value = self.events.settings.watched(slot)[0];
        if vanishes(value, self.events.crossings.scales.watched(&self.events.settings, slot)) {
            0.0
        } else {
            value.signum()
        }
    }

    // ---- firing ------------------------------------------------------------------------------------------------

    /// The root of an event function was located here, and nothing else happens.
    pub fn meet_event(&mut self, e: usize) -> Result<(), Halt> {
        self.events.crossings.located = Some(e);
        let begun = self.begin_leg(&[], &[]);
        self.events.crossings.located = None;
        begun
    }

    /// Fires the events that cross at this instant, in model order.
    pub fn fire_crossing(&mut self) -> Result<(), Halt> {
        while !self.events.crossings.crossing.is_empty() {
            let (e, before) = self.events.crossings.crossing.remove(0);
            if counts(self.program.mechanics.model.events[e].direction, before) {
                self.fire(e)?;
            }
        }
        self.events.crossings.seen.clear();
        Ok(())
    }

    /// Records, stops, or resets.
    fn fire(&mut self, e: usize) -> Result<(), Halt> {
        let model = &self.program.mechanics.model;
        let event = &model.events[e];
        let values = self.events.values_at(&self.now);
        let (only_if, set) = self.event_slots(e);
        if let Some(slot) = only_if {
            let holds = values[slot] > 0.0 && !vanishes(values[slot], self.setting_scale(slot));
            if !holds {
                return Ok(());
            }
        }
        match &event.action {
            Action::Record => {
                self.record_event(e);
                self.vary_record(e);
                Ok(())
            }
            Action::Stop => {
                self.record_event(e);
                self.vary_record(e);
                Err(Halt { reason: StopReason::StoppedByEvent, detail: Some(event.name.clone()) })
            }
            Action::Set(_) => {
                self.allow_reset(e)?;
                let before = self.before_jump(Cause::Event(e));
                self.note_sides();
                // It fired, also if what it sets cannot go on.
                let reset = self.reset(e, &values[set.0..set.1]);
                self.record_event(e);
                reset?;
                let before = self.carry_over(before);
                self.contact.history.clear();
                self.stop_endless_resets(e)?;
                // Those that cross here and have not fired yet come from where they came.
                for (other, before) in std::mem::take(&mut self.events.crossings.crossing) {
                    self.events.sides[other].sign = 0.0;
                    self.events.crossings.memory[other] = before;
                }
                self.events.sides[e].sign = 0.0;
                self.events.crossings.memory[e] = 0.0;
                self.begin_leg(&[], &[])?;
                self.finish_jump(before);
                Ok(())
            }
        }
    }

    /// One more reset than there may be impacts is not applied.
    fn allow_reset(&self, e: usize) -> Result<(), Halt> {
        let most = self.options.max_impacts;
        if self.events.reset_count < most {
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
        self.events.reset_count += 1;
        self.events.resets.push(self.now.time, &[e]);
        match self.events.resets.remaining() {
            Some(rest) if self.is_endless(rest) => Err(Halt::new(
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
        self.evaluate_frame();
        let (position, velocity) = (self.all_positions(), self.all_velocities());
        self.recorder.motion.events.push(EventRecord {
            time: self.now.time.value(),
            event: e,
            position,
            velocity,
        });
    }

    /// Positions among the settings: `only_if`, and the range of reset values.
    pub fn event_slots(&self, e: usize) -> (Option<usize>, (usize, usize)) {
        let mut at = self.contact.walls.len() + self.events.surfaces.len();
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
fn passed(c: &[f64], h: f64, before: f64) -> Option<KnownSign> {
    let mut order = 0;
    loop {
        let (zeros, sign) = leading(c, order + 1, h, 0.0)?;
        // So near the term of this order is rounding itself.
        let near = h * SERIES_ROUNDING.powf(1.0 / zeros as f64);
        let below = c[..zeros].iter().rev().fold(0.0, |sum, ck| sum * near + ck.abs());
        if sign * before < 0.0 && below < (c[zeros] * near.powi(zeros as i32)).abs() {
            return Some(KnownSign { sign, zeros });
        }
        order = zeros;
    }
}
