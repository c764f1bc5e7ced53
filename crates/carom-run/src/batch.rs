//! Many simulations of one program, side by side in the lanes of the vector unit.
//!
//! ```text
//! queue ──▶ start ──▶ ┌ lane: quiet steps ┐ ──▶ end ──▶ sink
//!                     └──▲── anything else ┘
//!                        │         ▼
//!                     single run: impact, event, projection, contact …
//! ```
//!
//! A lane takes only steps in which nothing happens; every other step is given, series and all, to the single run that
//! belongs to the lane, which does with it what it would have done alone. When its equations are those of the lanes and what it
//! knows of the next step is no more than a lane can be told, it goes back: nearly always at once, so that even the
//! first step after an impact is a lane's.
//!
//! Promise: a trajectory's outcome is that of [`crate::simulate`] with the same options, bit by bit, whatever its
//! neighbours, the width of the lanes and the order of the queue.

use crate::events::KnownSign;
use crate::motion::{EventRecord, Impact, Stop, StopReason};
use crate::options::{Options, Sampling, SimulateError};
use crate::program::{LegKey, Program};
use crate::run::{Halt, Run};
use crate::stepper::{GivenStep, NextSeries};
use carom_jet::{BatchAudit, Ensemble, Handler, LaneStart, LaneStep, Leave, StepVerdict, Time, within_unit};
use carom_mech::model::Method;
use std::sync::Arc;

/// So many impacts of a trajectory under way are offered at a time.
const PAGE: usize = 64;

/// What became of a trajectory.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// Why and when it ended.
    pub stop: Stop,
    /// Everything a sample shows, at the end; see [`crate::Columns`].
    pub values: Vec<f64>,
    /// How many impacts there were.
    pub impact_count: u64,
    /// The impacts, if they were asked for, that [`JobSource::impacts`] has not taken before.
    pub impacts: Vec<Impact>,
    /// User events.
    pub events: Vec<EventRecord>,
    /// What a user should know about it.
    pub warnings: Vec<String>,
    /// As in [`crate::Audit`].
    pub hamiltonian_drift: f64,
    /// As in [`crate::Audit`].
    pub verdict: crate::motion::Verdict,
    /// Steps taken.
    pub steps: u64,
}

/// Lanes and single runs for simulations of one program, used again and again.
pub struct Batch<'p> {
    program: &'p Program,
    keeps_impacts: bool,
    /// Single runs, one per lane.
    runs: Vec<Run<'p>>,
    lanes: Option<LaneSet>,
    costs: Costs,
}

/// What a step costs, as far as the caller's clock has told: seconds per step of single runs, and of lanes, whatever was to
/// be done for single trajectories included.
#[derive(Clone, Copy, Debug, Default)]
struct Costs {
    alone: Spent,
    lanes: Spent,
}

#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    seconds: f64,
    steps: u64,
}

impl Spent {
    fn add(&mut self, seconds: f64, steps: u64) {
        self.seconds += seconds;
        self.steps += steps;
    }

    /// Seconds per step, if enough was measured to tell.
    fn per_step(self) -> Option<f64> {
        (self.steps >= ENOUGH_STEPS && self.seconds > 0.0).then(|| self.seconds / self.steps as f64)
    }
}

impl Costs {
    /// Are lanes slower than single runs?
    fn lanes_lose(&self) -> bool {
        matches!((self.alone.per_step(), self.lanes.per_step()), (Some(alone), Some(lanes)) if lanes > alone)
    }
}

/// Steps after which their cost is known.
const ENOUGH_STEPS: u64 = 400;
/// So many trajectories at most are simulated alone to know what that costs.
const PROBES: u64 = 8;

/// The lanes, and the equations they are for.
struct LaneSet {
    key: LegKey,
    tolerance: f64,
    ensemble: Ensemble,
}

/// Where trajectories come from, where outcomes go, and whether to go on.
pub trait JobSource {
    /// The next trajectory: its number and its options. What they say about samples is not heeded.
    fn next(&mut self) -> Option<(u64, Options)>;
    /// Takes what became of a trajectory; in the order they end.
    fn take(&mut self, index: u64, outcome: Result<Outcome, SimulateError>);
    /// Offered some impacts of a trajectory that is under way, in order: if taken, they are forgotten here.
    fn impacts(&mut self, _index: u64, _impacts: &[Impact]) -> bool {
        false
    }
    /// A trajectory is simulated once more from its start: what was offered of it before is void.
    fn again(&mut self, _index: u64) {}
    /// Seconds of processor time this thread has spent, if the caller has a clock: with it the batch measures what lanes and
    /// single runs cost, and takes what costs less. Outcomes do not depend on it.
    fn seconds(&mut self) -> Option<f64> {
        None
    }
    /// Asked now and then; if not, what is under way is dropped.
    fn goes_on(&mut self) -> bool {
        true
    }
}

impl<'p> Batch<'p> {
    /// A batch of a program. `keeps_impacts`: outcomes list the impacts.
    pub fn new(program: &'p Program, keeps_impacts: bool) -> Batch<'p> {
        Batch { program, keeps_impacts, runs: Vec::new(), lanes: None, costs: Costs::default() }
    }

    /// Simulates everything the source has. Returns how many steps were taken by lanes alone.
    pub fn run(&mut self, jobs: &mut dyn JobSource) -> u64 {
        let mut lane_set = self.lanes.take();
        let mut runs_of_batch = BatchRuns {
            program: self.program,
            keeps_impacts: self.keeps_impacts,
            runs: &mut self.runs,
            trajectories: Vec::new(),
            key: LegKey::default(),
            stopped: false,
            attended: 0,
            waiting: None,
            costs: self.costs,
            in_lanes: 1.0,
            since: None,
            counted: 0,
            taken: 0,
            jobs,
        };
        // The first trajectory says which equations the lanes are for.
        while let Some((index, options)) = runs_of_batch.next() {
            let run = runs_of_batch.lane(0);
            if let Err(error) = run.restart(Arc::clone(&options)) {
                runs_of_batch.jobs.take(index, Err(error));
                continue;
            }
            let suits = lane_set.as_ref().is_some_and(|lane_set| {
                lane_set.key == run.leg.key && lane_set.tolerance == options.tolerance
            });
            if !suits {
                lane_set = LaneSet::new(run);
                runs_of_batch.costs = Costs::default();
            }
            runs_of_batch.waiting = Some((index, options));
            break;
        }
        let mut quiet = 0;
        if let Some(lane_set) = &mut lane_set {
            runs_of_batch.probe();
            if !runs_of_batch.costs.lanes_lose() {
                runs_of_batch.key.clone_from(&lane_set.key);
                runs_of_batch.in_lanes = lane_set.ensemble.lanes() as f64;
                runs_of_batch.since = runs_of_batch.jobs.seconds();
                runs_of_batch.counted = runs_of_batch.taken;
                let steps = lane_set.ensemble.run(&mut runs_of_batch);
                quiet = steps - runs_of_batch.attended;
                runs_of_batch.since = None;
            }
        }
        // Without lanes, or where they lose.
        while runs_of_batch.start_next(0) {}
        self.costs = runs_of_batch.costs;
        self.lanes = lane_set;
        quiet
    }
}

impl LaneSet {
    /// Lanes for the equations a run begins with; `None` where only single runs can do it.
    fn new(run: &Run<'_>) -> Option<LaneSet> {
        let single = run.options.method != Method::Taylor
            || run.tangent.is_some()
            || run.leg.next_knot.is_some()
            || run.is_degenerate();
        if single {
            return None;
        }
        let tape = run.program.leg(&run.leg.key).ok()?;
        let (monitors, taylor) = (run.monitors(), run.stepper.taylor);
        let ensemble = Ensemble::with(run.program.level(), tape, taylor, monitors);
        Some(LaneSet { key: run.leg.key.clone(), tolerance: run.options.tolerance, ensemble })
    }
}

/// The single runs of the lanes, at work.
struct BatchRuns<'a, 'p> {
    program: &'p Program,
    keeps_impacts: bool,
    runs: &'a mut Vec<Run<'p>>,
    /// Which trajectory is in which lane.
    trajectories: Vec<u64>,
    key: LegKey,
    stopped: bool,
    /// Steps of lanes that single runs took over.
    attended: u64,
    waiting: Option<(u64, Arc<Options>)>,
    costs: Costs,
    /// How many lanes there are.
    in_lanes: f64,
    /// When the lanes were last measured, and the steps begun until then.
    since: Option<f64>,
    counted: u64,
    /// Steps of single runs.
    taken: u64,
    jobs: &'a mut dyn JobSource,
}

impl<'p> BatchRuns<'_, 'p> {
    fn next(&mut self) -> Option<(u64, Arc<Options>)> {
        if self.stopped {
            return None;
        }
        self.waiting.take().or_else(|| {
            let (index, mut options) = self.jobs.next()?;
            options.sampling = Sampling::Even(0);
            Some((index, Arc::new(options)))
        })
    }

    /// Some trajectories alone, until it is known what that costs; none without a clock.
    fn probe(&mut self) {
        for _ in 0..PROBES {
            if self.costs.alone.per_step().is_some() {
                return;
            }
            let Some(begin) = self.jobs.seconds() else { return };
            let before = self.taken;
            if !self.start_next(0) {
                return;
            }
            let seconds = self.jobs.seconds().map_or(0.0, |end| end - begin);
            self.costs.alone.add(seconds, self.taken - before);
        }
    }

    /// Notes what the lanes have cost since they were last measured. An attended step is taken by its single run.
    fn measure(&mut self, steps: u64) {
        let steps = steps - self.attended + self.taken;
        if let (Some(begin), Some(now)) = (self.since, self.jobs.seconds()) {
            self.costs.lanes.add(now - begin, steps - self.counted);
            (self.since, self.counted) = (Some(now), steps);
        }
    }

    /// The single run of a lane.
    fn lane(&mut self, lane: usize) -> &mut Run<'p> {
        while self.runs.len() <= lane {
            let options = Options::of(&self.program.mechanics.model);
            let mut run = Run::blank(self.program, Arc::new(options));
            run.recorder.keeps_impacts = self.keeps_impacts;
            run.stepper.postpones = true;
            self.runs.push(run);
        }
        self.trajectories.resize(self.runs.len(), 0);
        &mut self.runs[lane]
    }

    /// Begins the next trajectory; false when there is none. Without lanes it is simulated to its end.
    fn start_next(&mut self, lane: usize) -> bool {
        let Some((index, options)) = self.next() else { return false };
        let run = self.lane(lane);
        match run.restart(options) {
            Ok(()) => {
                let begun = run.first_leg();
                self.trajectories[lane] = index;
                if let Err(halt) = begun {
                    self.conclude(lane, halt);
                } else {
                    self.alone(lane, false);
                }
            }
            Err(error) => self.jobs.take(index, Err(error)),
        }
        true
    }

    /// Goes on with the single run of a lane to its end, or, if `back`, until the lane can have it again. True if it can.
    fn alone(&mut self, lane: usize, back: bool) -> bool {
        loop {
            let jobs = &mut self.jobs;
            self.taken += 1;
            match self.runs[lane].step_once(&mut |_| jobs.goes_on()) {
                Ok(false) => {
                    let impacts = &mut self.runs[lane].recorder.motion.impacts;
                    if impacts.len() >= PAGE && jobs.impacts(self.trajectories[lane], impacts) {
                        impacts.clear();
                    }
                    if back && self.suits_lane(lane) {
                        return true;
                    }
                }
                Ok(true) => {
                    self.conclude(lane, Halt { reason: StopReason::Reached, detail: None });
                    return false;
                }
                Err(halt) => {
                    self.conclude(lane, halt);
                    return false;
                }
            }
        }
    }

    /// Can a lane take the next step?
    fn suits_lane(&self, lane: usize) -> bool {
        let run = &self.runs[lane];
        let known = match run.stepper.series {
            NextSeries::Missing => true,
            NextSeries::Given => false,
            NextSeries::Fresh | NextSeries::Postponed => run.knows_no_more_than_a_lane(),
        };
        known && run.contact.held.is_none() && run.leg.key == self.key
    }

    /// Hands over the outcome.
    fn conclude(&mut self, lane: usize, halt: Halt) {
        if halt.reason == StopReason::Interrupted {
            self.stopped = true;
            return;
        }
        let run = &mut self.runs[lane];
        let values = run.shown_now();
        run.judge();
        let outcome = Outcome {
            stop: Stop { reason: halt.reason, time: run.now.time.value(), detail: halt.detail },
            values,
            impact_count: run.recorder.impact_count,
            impacts: std::mem::take(&mut run.recorder.motion.impacts),
            events: std::mem::take(&mut run.recorder.motion.events),
            warnings: std::mem::take(&mut run.recorder.motion.warnings),
            hamiltonian_drift: run.recorder.motion.audit.hamiltonian_drift,
            verdict: run.recorder.motion.audit.verdict,
            steps: run.stepper.steps,
        };
        self.jobs.take(self.trajectories[lane], Ok(outcome));
    }

    /// What the single run must know of its quiet steps. `under_way`: the last step counted is not one of them.
    fn read(&mut self, lane: usize, time: Time, audit: &BatchAudit, under_way: bool) {
        let run = &mut self.runs[lane];
        if audit.steps > run.stepper.steps + u64::from(under_way) {
            run.rank.pass();
            // What was known at the start of the first of these steps is used up.
            run.contact.forget_zeros();
            run.stepper.stalled = 0;
        }
        run.now.time = time;
        run.stepper.steps = audit.steps;
        run.contact.squeeze.set_largest(audit.peak);
        run.stepper.smooth_steps = audit.smooth;
        run.stepper.extent.clone_from(&audit.extent);
        run.stepper.unit = audit.unit;
        run.rank.firmest = audit.firmest;
        (run.audit.worst_energy, run.audit.energy_scale) = (audit.worst, audit.scale);
        for (kept, seen) in run.audit.largest_terms.followed_by_lanes().zip(&audit.greatest) {
            *kept = *seen;
        }
    }

    /// What the lane must know to go on.
    fn write(&mut self, lane: usize, audit: &mut BatchAudit) {
        let run = &mut self.runs[lane];
        audit.low.iter_mut().zip(run.now.remainder.of(&run.now.state)).for_each(|(low, kept)| *low = kept);
        audit.steps = run.stepper.steps;
        audit.most_steps = run.options.max_steps;
        let signs = run.events.surfaces.iter().chain(&run.events.sides).map(|side| side.sign);
        let sides = std::iter::repeat_n(1.0, run.contact.walls.len()).chain(signs);
        audit.sides.iter_mut().zip(sides).for_each(|(side, sign)| *side = sign);
        audit.first = run.stepper.series.begins_leg();
        let leaving = run.contact.walls.iter().map(|wall| wall.zeros > 0).chain(std::iter::repeat(false));
        audit.leaving.iter_mut().zip(leaving).for_each(|(leaves, zero)| *leaves = zero);
        audit.peak = run.contact.squeeze.largest();
        audit.smooth = run.stepper.smooth_steps;
        audit.extent.clone_from(&run.stepper.extent);
        audit.unit = run.stepper.unit;
        audit.firmest = run.rank.firmest;
        audit.expected = run.audit.expected_energy;
        (audit.worst, audit.scale) = (run.audit.worst_energy, run.audit.energy_scale);
        for (kept, seen) in audit.greatest.iter_mut().zip(run.audit.largest_terms.followed_by_lanes()) {
            *kept = *seen;
        }
    }

    /// Does a lane end near an instant at which constraint rows depend on each other?
    fn ends_weak(&mut self, lane: usize, time: Time, state: &[f64], audit: &BatchAudit) -> bool {
        self.read(lane, time, audit, false);
        self.runs[lane].weak_at(time, state)
    }

    /// The whole trajectory once more, alone: a quantity was not finite on the way, or rows came near rank loss.
    fn again(&mut self, lane: usize) {
        self.jobs.again(self.trajectories[lane]);
        let run = &mut self.runs[lane];
        let options = Arc::clone(&run.options);
        if let Err(error) = run.restart(options) {
            return self.jobs.take(self.trajectories[lane], Err(error));
        }
        match run.first_leg() {
            Ok(()) => {
                self.alone(lane, false);
            }
            Err(halt) => self.conclude(lane, halt),
        }
    }
}

impl Run<'_> {
    /// At the start of a leg: is nothing known of its first step but where it starts and which walls open?
    fn knows_no_more_than_a_lane(&self) -> bool {
        let settled = |side: &KnownSign| side.sign != 0.0 && side.zeros == 0;
        !self.is_constrained()
            && self.contact.walls.iter().all(|wall| wall.zeros <= 1)
            && self.events.surfaces.iter().chain(&self.events.sides).all(settled)
    }
}

impl Handler for BatchRuns<'_, '_> {
    fn next(&mut self, lane: usize, start: &mut LaneStart) -> bool {
        if self.costs.lanes_lose() {
            return false;
        }
        loop {
            let Some((index, options)) = self.next() else { return false };
            let run = self.lane(lane);
            if let Err(error) = run.restart(options) {
                self.jobs.take(index, Err(error));
                continue;
            }
            let begun = run.first_leg();
            self.trajectories[lane] = index;
            match begun {
                Err(halt) => self.conclude(lane, halt),
                Ok(()) if self.suits_lane(lane) || self.alone(lane, true) => {
                    let run = &self.runs[lane];
                    (start.time, start.end) = (run.now.time, run.stepper.until);
                    start.state.copy_from_slice(&run.now.state);
                    start.parameters.copy_from_slice(&run.leg.parameters);
                    self.write(lane, &mut start.audit);
                    return true;
                }
                Ok(()) => {}
            }
        }
    }

    fn attend(&mut self, lane: usize, step: &mut LaneStep<'_>) -> StepVerdict {
        self.attended += 1;
        if !(step.audit.worst.is_finite() && step.audit.scale.is_finite()) {
            return StepVerdict::Leave;
        }
        self.read(lane, step.time, step.audit, true);
        let run = &mut self.runs[lane];
        // The loop counts the step itself.
        run.stepper.steps -= 1;
        for i in 0..run.now.state.len() {
            step.state(i, &mut run.now.state[i..=i]);
        }
        run.now.remainder.keep(&run.now.state, &step.audit.low);
        run.stepper.unit = run.leg.adopt(step);
        run.stepper.series = if step.audit.first { NextSeries::Fresh } else { NextSeries::Given };
        // Residuals are looked at, and another unit is chosen, by the run itself.
        let decided = !run.is_constrained() && (within_unit(step.natural) || step.natural == f64::INFINITY);
        run.stepper.given =
            decided.then_some(GivenStep { natural: step.natural, length: step.size, smooth: step.smooth });
        if !self.alone(lane, true) {
            self.trajectories[lane] = GONE;
            return StepVerdict::Leave;
        }
        let run = &self.runs[lane];
        step.time = run.now.time;
        step.after.copy_from_slice(&run.now.state);
        if *step.parameters != run.leg.parameters {
            step.parameters.clone_from(&run.leg.parameters);
            step.reparametrised = true;
        }
        self.write(lane, step.audit);
        StepVerdict::Cut
    }

    fn leave(&mut self, lane: usize, why: Leave, time: Time, state: &[f64], audit: &BatchAudit) {
        if self.trajectories[lane] == GONE {
            return;
        }
        // A single run would have looked ahead.
        let constrained = self.program.layout.rows > 0;
        let weak = constrained
            && (why == Leave::NeedsPivoting
                || (matches!(why, Leave::Reached | Leave::StepLimit)
                    && self.ends_weak(lane, time, state, audit)));
        if weak || why == Leave::NotFinite || !(audit.worst.is_finite() && audit.scale.is_finite()) {
            return self.again(lane);
        }
        self.read(lane, time, audit, why == Leave::NeedsPivoting);
        let run = &mut self.runs[lane];
        run.now.state.copy_from_slice(state);
        run.now.remainder.keep(state, &audit.low);
        run.stepper.series = if audit.first { NextSeries::Postponed } else { NextSeries::Missing };
        if why == Leave::NeedsPivoting {
            // The loop counts the step itself.
            run.stepper.steps -= 1;
        }
        self.alone(lane, false);
    }

    /// Single runs are faster when a round serves too few.
    fn leaves_early(&mut self, in_use: usize) -> bool {
        match (self.costs.alone.per_step(), self.costs.lanes.per_step()) {
            (Some(alone), Some(lanes)) => in_use as f64 * alone < self.in_lanes * lanes,
            _ => false,
        }
    }

    fn goes_on(&mut self, steps: u64) -> bool {
        self.measure(steps);
        !self.stopped && self.jobs.goes_on()
    }
}

/// In place of the trajectory of a lane whose trajectory has been concluded.
const GONE: u64 = u64::MAX;
