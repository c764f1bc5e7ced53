//! The loop: series around the state, the first thing that happens within the step, the law for it, the next leg.
//!
//! Promise: it never hangs (every pass advances time or counts towards a limit), never falls through a wall (the first
//! root of every gap is found and the law applied at the located state), never stops without saying why.

use crate::dense::Dense;
use crate::invariants::StepStates;
use crate::motion::{Graze, Motion, Stop, StopReason};
use crate::options::{Options, Progress, SimulateError};
use crate::program::Program;
use crate::run::{Halt, Run};
use crate::saltation::Cause;
use crate::step_event::StepEvent;
use crate::stepper::NextSeries;
use crate::variation::Obstacle;
use carom_jet::Time;
use carom_mech::model::{Action, Interpolation};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Passes without any advance of time before giving up.
const STALLED: u32 = 100_000;
/// Impacts in a row that do not move time by a unit of rounding before the joint e = 0 law is applied.
const MOST_UNRESOLVED: u32 = 2_000;
/// A gap whose gradient falls below this part of itself within a step, just where the gap is zero, has ∇gap = 0 there: a
/// double root is located to √ε ≈ 1e-8, where the gradient of x² has fallen to that part.
const FLAT: f64 = 1e-6;
/// A gap whose rate at its zero is more than this part of the mean rate of its fall has no double root there, where it would be
/// √ε of that.
const STEEP: f64 = 1e-2;
/// How often progress is told, in steps.
const TELL_EVERY: u64 = 256;

/// Simulates a program.
///
/// # Errors
/// When nothing can be simulated: meaningless options, an inconsistent start, a start behind a wall.
pub fn simulate(program: &Program, options: &Options) -> Result<Motion, SimulateError> {
    simulate_with(program, options, &mut |_| true)
}

/// Would [`simulate`] begin? Decides everything about options and start that it decides, and takes no step.
///
/// ```
/// # use carom_mech::{Draft, derive_equations};
/// # let text = "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n[wall.left]\ngap = \"x\"";
/// # let (model, _) = Draft::parse(text, "m.toml").0.check().unwrap();
/// # let mechanics = derive_equations(model).unwrap();
/// use carom_run::{Options, Program, check_start};
/// let program = Program::compile(&mechanics).unwrap();
/// let mut options = Options::of(&mechanics.model);
/// assert!(check_start(&program, &options).is_ok());
/// options.start.position = vec![Some(-0.1)];
/// assert!(check_start(&program, &options).is_err(), "behind the wall");
/// ```
///
/// # Errors
/// As [`simulate`].
pub fn check_start(program: &Program, options: &Options) -> Result<(), SimulateError> {
    Run::start(program, options).map(|_| ())
}

/// Simulates a program and tells its progress; when `tell` returns false the motion ends, `interrupted`.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_with(
    program: &Program,
    options: &Options,
    tell: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Motion, SimulateError> {
    Simulator::new(program).simulate_with(options, tell)
}

/// Simulates one program again and again in the same workspaces: the same motions, without making everything anew.
///
/// ```
/// # use carom_mech::{Draft, derive_equations};
/// # let text = "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n[run]\nuntil = 1.0";
/// # let (model, _) = Draft::parse(text, "m.toml").0.check().unwrap();
/// # let mechanics = derive_equations(model).unwrap();
/// use carom_run::{Options, Program, Simulator};
/// let program = Program::compile(&mechanics).unwrap();
/// let mut simulator = Simulator::new(&program);
/// let mut options = Options::of(&mechanics.model);
/// for start in [0.5, 1.0] {
///     options.start.position = vec![Some(start)];
///     let motion = simulator.simulate(&options).unwrap();
///     assert!((motion.position[0].values.last().unwrap() - start * 1.0_f64.cos()).abs() < 1e-15);
/// }
/// ```
pub struct Simulator<'p> {
    pub(crate) program: &'p Program,
    run: Option<Run<'p>>,
    /// Evaluates kept steps.
    pub(crate) reader: Option<Run<'p>>,
}

impl<'p> Simulator<'p> {
    /// For this program; workspaces are made when first needed.
    pub fn new(program: &'p Program) -> Simulator<'p> {
        Simulator { program, run: None, reader: None }
    }

    /// As [`simulate`].
    ///
    /// # Errors
    /// As [`simulate`].
    pub fn simulate(&mut self, options: &Options) -> Result<Motion, SimulateError> {
        self.simulate_with(options, &mut |_| true)
    }

    /// As [`simulate_with`].
    ///
    /// # Errors
    /// As [`simulate`].
    pub fn simulate_with(
        &mut self,
        options: &Options,
        tell: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Motion, SimulateError> {
        let run = match self.run.take() {
            Some(mut run) => {
                run.restart(Arc::new(options.clone()))?;
                self.run.insert(run)
            }
            None => self.run.insert(Run::start(self.program, options)?),
        };
        let halt = match run.go(tell) {
            Ok(()) => Halt { reason: StopReason::Reached, detail: None },
            Err(halt) => halt,
        };
        Ok(run.finish(halt))
    }
}

impl Run<'_> {
    /// From the start to the end.
    pub fn go(&mut self, tell: &mut dyn FnMut(&Progress) -> bool) -> Result<(), Halt> {
        self.recorder.motion.dense = self.options.dense.then(Dense::default);
        self.recorder.motion.step_states = self.options.step_states.then(StepStates::default);
        self.keep_state();
        self.first_leg()?;
        while !self.step_once(tell)? {}
        Ok(())
    }

    /// One step: expand, find what happens first, apply it, record. True when the end is reached.
    pub fn step_once(&mut self, tell: &mut dyn FnMut(&Progress) -> bool) -> Result<bool, Halt> {
        let left = self.stepper.until.minus(self.now.time);
        if left <= 0.0 {
            self.pass_row();
            return self.settle_end().map(|()| true);
        }
        self.allow_step(tell)?;
        let h = self.expand(left)?;
        match self.find_first(h)? {
            None => self.pass_step(h, left)?,
            Some((at, what)) => self.apply_event(what, at, h)?,
        }
        Ok(false)
    }

    /// Tells progress and counts steps; ends the motion where either says so.
    fn allow_step(&mut self, tell: &mut dyn FnMut(&Progress) -> bool) -> Result<(), Halt> {
        if self.stepper.steps.is_multiple_of(TELL_EVERY) && !tell(&self.progress()) {
            self.settle_end()?;
            return Err(Halt { reason: StopReason::Interrupted, detail: None });
        }
        if self.stepper.steps >= self.options.max_steps {
            self.settle_end()?;
            return Err(Halt::new(StopReason::StepLimit, format!("{} steps", self.options.max_steps)));
        }
        self.stepper.steps += 1;
        Ok(())
    }

    /// What happens first within the step, and where.
    fn find_first(&mut self, h: f64) -> Result<Option<(f64, StepEvent)>, Halt> {
        let touches = self.recorder.motion.grazes.len();
        let (at, found) = self.first_event(h);
        self.stop_at_flat_touch(touches)?;
        if let Some(graze) = self.recorder.motion.grazes.get(touches) {
            let (wall, time) = (graze.wall, graze.time);
            self.lose_at(time, Obstacle::Graze, &[wall], None);
        }
        let step = if found.is_some() { at } else { h };
        self.stepper.stalled = if step > 0.0 { 0 } else { self.stepper.stalled + 1 };
        if self.stepper.stalled > STALLED {
            return Err(Halt::new(StopReason::StepLimit, "time does not advance any more".to_string()));
        }
        Ok(found.map(|what| (at, what)))
    }

    /// Nothing happens: to the end of the step.
    fn pass_step(&mut self, h: f64, left: f64) -> Result<(), Halt> {
        self.pass(h, h == self.stepper.in_units(left))?;
        self.stepper.series = NextSeries::Missing;
        self.pass_knot()
    }

    /// Moves to where something happens, and lets it happen.
    fn apply_event(&mut self, what: StepEvent, at: f64, h: f64) -> Result<(), Halt> {
        self.reach(what, at)?;
        if self.rank.passage.is_some() {
            if self.only_records(what) {
                return self.record_within(what, at, h);
            }
            self.stop_at_rank_loss()?;
        }
        let instant = self.is_instant(at * self.stepper.unit);
        let struck = self.handle(what)?;
        self.contact.unresolved_impacts =
            if struck && instant { self.contact.unresolved_impacts + 1 } else { 0 };
        if self.contact.unresolved_impacts > MOST_UNRESOLVED {
            self.end_unresolved_impacts()?;
        }
        if self.stepper.series != NextSeries::Postponed {
            self.stepper.series = NextSeries::Fresh;
        }
        Ok(())
    }

    /// Impacts follow each other faster than time can resolve.
    fn end_unresolved_impacts(&mut self) -> Result<(), Halt> {
        self.warn(
            "impacts accumulated faster than time can resolve; they were ended by the e = 0 law".into(),
        );
        self.note_sides();
        let last = self.recorder.motion.impacts.iter().rev().take(MOST_UNRESOLVED as usize);
        let walls: BTreeSet<usize> = last.flat_map(|impact| impact.walls.iter().copied()).collect();
        let walls: Vec<usize> = walls.into_iter().collect();
        self.lose(Obstacle::Zeno, &walls, None);
        self.cut_zeno(self.now.time)?;
        self.begin_leg(&[], &[])?;
        self.fire_crossing()?;
        self.contact.unresolved_impacts = 0;
        Ok(())
    }

    /// Does the motion go on after this as if nothing had happened?
    fn only_records(&self, what: StepEvent) -> bool {
        let StepEvent::Event(e) = what else { return false };
        !matches!(self.program.mechanics.model.events[e].action, Action::Set(_))
    }

    /// An event within a step across rank loss: no leg can begin there, the series go on.
    fn record_within(&mut self, what: StepEvent, step: f64, h: f64) -> Result<(), Halt> {
        self.rank.go_on_within_step(&mut self.leg, step, h);
        let handled = self.handle(what);
        self.rank.within_step = false;
        self.stepper.series = NextSeries::Fresh;
        handled.map(|_| ())
    }

    /// Moves to where something happens. A wall that becomes flat on the way cannot be held.
    fn reach(&mut self, what: StepEvent, step: f64) -> Result<(), Halt> {
        let StepEvent::Wall(w) = what else { return self.advance(step) };
        let (gap, from) = (self.leg.polynomial(w)[0], self.now.time);
        self.advance(step)?;
        // A gap that arrives about as fast as it has fallen is as steep as it was.
        if -self.frame.gap_rate(w) * step * self.stepper.unit > STEEP * gap && gap > 0.0 {
            return Ok(());
        }
        let steepness = self.frame.steepness(w);
        self.frame.at(from, &self.now.next_state);
        let before = self.frame.steepness(w);
        self.evaluate_frame();
        if steepness < FLAT * before { Err(self.flat(w)) } else { Ok(()) }
    }

    /// A touch where ∇gap = 0 (gap x²) is no graze: the motion passes a wall that no impulse can hold.
    fn stop_at_flat_touch(&mut self, known: usize) -> Result<(), Halt> {
        for i in known..self.recorder.motion.grazes.len() {
            let Graze { time, wall } = self.recorder.motion.grazes[i];
            self.evaluate_frame();
            let steepness = self.frame.steepness(wall);
            let (start, here) = (self.now.state.clone(), self.now.time);
            let away = Time::new(time).minus(here);
            let within = self.stepper.in_units(away);
            let mut there = start.clone();
            self.leg.state_within(within, &mut there);
            (self.now.state, self.now.time) = (there, here.plus(away));
            self.evaluate_frame();
            let flat = self.frame.steepness(wall) < FLAT * steepness;
            (self.now.state, self.now.time) = (start, here);
            self.evaluate_frame();
            if flat {
                self.recorder.motion.grazes.truncate(i);
                self.advance(within)?;
                return Err(self.flat(wall));
            }
        }
        Ok(())
    }

    fn progress(&self) -> Progress {
        Progress {
            from: self.options.start.time,
            time: self.now.time.value(),
            until: self.options.until,
            steps: self.stepper.steps,
            impacts: self.recorder.impact_count,
        }
    }

    /// Impacts at the start, and the first leg.
    pub fn first_leg(&mut self) -> Result<(), Halt> {
        self.audit.start_residual = self.recorder.motion.audit.constraint_drift;
        self.evaluate_frame();
        let touched = self.touched(&[]);
        let before = self.before_first_jump(&touched);
        let struck = if touched.is_empty() { false } else { self.apply_impact(&touched)? };
        let before = if struck { self.carry_over(before) } else { None };
        if struck && let Some(end) = self.zeno_end() {
            self.lose(Obstacle::StartAtWall, &touched, None);
            self.cut_zeno(end)?;
        }
        self.begin_leg(&[], &[])?;
        self.finish_first_jump(before, struck, &touched);
        self.begin_journal();
        // From here on scales are those of the motion.
        let allowed = self.stepper.taylor.step_size(self.leg.flow(), &self.stepper.extent);
        self.stepper.extent.know_first_step(self.leg.flow(), allowed);
        self.note_reach_of_series(self.natural_step());
        self.note_scales();
        self.check_rank_at_start()?;
        self.stepper.series = NextSeries::Fresh;
        Ok(())
    }

    /// At a row of a table the next piece takes over, and a new leg begins.
    fn pass_knot(&mut self) -> Result<(), Halt> {
        if !self.leg.is_at_knot(self.now.time) {
            return Ok(());
        }
        self.note_reach(self.stepper.last_step);
        self.note_sides();
        self.pass_row();
        self.begin_leg(&[], &[])?;
        self.fire_crossing()
    }

    /// At a row of a table the next piece takes over. A signal that jumps there changes E at once: that is its work.
    fn pass_row(&mut self) {
        if !self.leg.is_at_knot(self.now.time) {
            return;
        }
        let inputs = &self.program.mechanics.model.inputs;
        let jumps = inputs.iter().any(|input| input.interpolate < Interpolation::Smooth);
        let energy = |run: &mut Run<'_>| {
            run.evaluate_frame();
            run.frame.energy()
        };
        let before = if jumps { energy(self) } else { 0.0 };
        self.choose_pieces();
        if jumps {
            self.audit.expected_energy += energy(self) - before;
        }
    }

    // ---- handling ----------------------------------------------------------------------------------------

    /// Returns true if there was an impulse. Events at the same instant come last, in model order.
    fn handle(&mut self, what: StepEvent) -> Result<bool, Halt> {
        self.note_sides();
        let struck = match what {
            StepEvent::Wall(w) => self.meet_wall(w)?,
            StepEvent::Release(w) => {
                self.begin_leg(&[w], &[])?;
                if self.contact.walls[w].closed {
                    // It must hold after all: its force is zero up to rounding, and says nothing during this step.
                    self.contact.walls[w].force_zeros = usize::MAX;
                }
                false
            }
            StepEvent::LetGo(_) => {
                self.let_go()?;
                false
            }
            StepEvent::Surface(s) => {
                let before = self.before_jump(Cause::Surface(s));
                self.begin_leg(&[], &[s])?;
                self.finish_jump(before);
                false
            }
            StepEvent::LeaveSurface(s, sign) => {
                self.leave_surface(s, sign);
                self.begin_leg(&[], &[])?;
                false
            }
            StepEvent::Event(e) => {
                self.meet_event(e)?;
                false
            }
        };
        self.fire_crossing()?;
        Ok(struck)
    }

    /// A gap has reached zero: impact, contact or graze.
    fn meet_wall(&mut self, w: usize) -> Result<bool, Halt> {
        let before = self.before_jump(Cause::Wall(w));
        let struck = self.apply_impact(&[w])?;
        let mut before = if struck { self.carry_over(before) } else { None };
        if struck && let Some(end) = self.zeno_end() {
            before = self.carry_over_series(before, w);
            self.cut_zeno(end)?;
            before = self.only_one_series(before, w);
        }
        self.begin_leg(&[], &[])?;
        if struck {
            self.finish_jump(before);
        } else if !self.contact.walls[w].closed {
            self.recorder.graze(self.now.time.value(), w);
            self.lose(Obstacle::Graze, &[w], None);
        } else {
            // Arriving without speed where the wall then holds.
            self.lose(Obstacle::Graze, &[w], None);
        }
        Ok(struck)
    }

    /// Ends the motion: last samples, open contacts, audit.
    fn finish(&mut self, halt: Halt) -> Motion {
        self.recorder.motion.model.clone_from(&self.base.mechanics.model.name);
        self.recorder.motion.names = Arc::clone(&self.base.names);
        self.recorder.motion.provenance = Arc::clone(&self.base.provenance);
        self.sample_last();
        self.keep_state();
        let end = self.now.time.value();
        // A contact that would begin after the end was not reached.
        self.recorder.motion.contacts.retain(|c| c.from <= end);
        self.recorder.motion.contacts.sort_by(|a, b| a.from.total_cmp(&b.from));
        self.recorder.motion.grazes.sort_by(|a, b| a.time.total_cmp(&b.time));
        self.recorder.motion.end = self.end();
        self.judge();
        self.fill_jumps();
        self.finish_variation();
        self.recorder.motion.stop = Stop { reason: halt.reason, time: end, detail: halt.detail };
        self.recorder.sampler.deliver(&mut self.recorder.motion);
        std::mem::take(&mut self.recorder.motion)
    }
}
