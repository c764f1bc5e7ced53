//! W lanes with their times, steps and audits: one round is one step of every lane.
//!
//! The vector part of a round ([`kernel`], compiled for each instruction set) makes the series of all lanes,
//! their steps, the bounds of the watched functions, what is audited and the states the steps lead to. The single
//! part then asks the handler about the lanes that need it and puts the answers in their places.

mod kernel;

use crate::batch::ensemble::{
    BatchAudit, Handler, LaneSeries, LaneStart, LaneStep, Leave, Monitors, StepVerdict,
};
use crate::batch::lanes::Lanes;
use crate::batch::times::Times;
use crate::eval::element::{Count, Element, Vector, Wide};
use crate::ir::tape::{RowIndex, Tape};
use crate::simd::{Level, dispatch};
use crate::step::audit::peak_on_the_way;
use crate::step::extent::NOTHING;
use crate::step::step_size::SHORTEST;
use crate::step::taylor::Taylor;
use kernel::Round;
use std::sync::Arc;

/// The handler is asked whether to go on every so many rounds.
const ASK_EVERY: u64 = 64;

/// W lanes with their times and steps.
#[derive(Clone, Debug)]
pub(crate) struct LaneBatch<const W: usize>
where
    Count<W>: Vector,
{
    lanes: Lanes<W>,
    taylor: Taylor,
    monitors: Monitors,
    level: Level,
    active: [bool; W],
    time: Times<W>,
    end: Times<W>,
    /// Time left, what the series allow, and the step, in units of the series.
    left: Wide<W>,
    natural: Wide<W>,
    size: Wide<W>,
    /// As in `Extent`: least and greatest values, the last step as the series allowed it and this one, largest |u|.
    ranges: Vec<[Wide<W>; 2]>,
    step: Wide<W>,
    next_step: Wide<W>,
    first_step: [f64; W],
    reach: Vec<Wide<W>>,
    /// Ranges and reach before this round, where single runs may project its states and see others instead.
    seen: (Vec<[Wide<W>; 2]>, Vec<Wide<W>>),
    /// The step, its square, …
    powers: Vec<Wide<W>>,
    /// Lanes whose step must be looked at.
    needs_attention: Wide<W>,
    /// Lanes whose step is far shorter than the motion's own time scale, and how many there were in a row.
    stiff: Wide<W>,
    smooth: [u32; W],
    /// Lanes whose step is the first after a jump.
    first: [bool; W],
    /// Per watched function: its side, and 1 where it leaves zero in this step.
    sides: Vec<Wide<W>>,
    leaving: Vec<Wide<W>>,
    peak: Wide<W>,
    expected: Wide<W>,
    worst: Wide<W>,
    scale: Wide<W>,
    /// Per followed function.
    greatest: Vec<Wide<W>>,
    firmest: Wide<W>,
    steps: [u64; W],
    most_steps: [u64; W],
    /// What the doubles of the states leave out.
    low: Vec<Wide<W>>,
    /// What the steps lead to.
    next: Vec<Wide<W>>,
    next_low: Vec<Wide<W>>,
    next_time: Times<W>,
    next_peak: Wide<W>,
    /// The parameters of each lane, and whether they have been set.
    parameters: Vec<Vec<f64>>,
    set: [bool; W],
    state: Vec<f64>,
    /// Room for the series of one function.
    series: Vec<f64>,
    audit: BatchAudit,
    start: LaneStart,
}

impl<const W: usize> LaneBatch<W>
where
    Count<W>: Vector,
{
    pub(crate) fn new(tape: Arc<Tape>, taylor: Taylor, monitors: Monitors, level: Level) -> LaneBatch<W> {
        let n = tape.dimension;
        LaneBatch {
            state: vec![0.0; n],
            series: Vec::new(),
            ranges: vec![NOTHING.map(Wide::splat); n + monitors.followed],
            reach: vec![Wide::ZERO; tape.recurrence.guarded.len()],
            seen: (Vec::new(), Vec::new()),
            sides: vec![Wide::ZERO; tape.watched.len()],
            leaving: vec![Wide::ZERO; tape.watched.len()],
            low: vec![Wide::ZERO; n],
            next: vec![Wide::ZERO; n],
            next_low: vec![Wide::ZERO; n],
            greatest: vec![Wide::ZERO; monitors.greatest.len()],
            audit: BatchAudit {
                sides: vec![0.0; tape.watched.len()],
                leaving: vec![false; tape.watched.len()],
                greatest: vec![0.0; monitors.greatest.len()],
                low: vec![0.0; n],
                ..BatchAudit::default()
            },
            lanes: Lanes::new(tape, taylor.order, level),
            taylor,
            monitors,
            level,
            active: [false; W],
            time: Times::ZERO,
            end: Times::ZERO,
            left: Wide::ZERO,
            natural: Wide::ZERO,
            size: Wide::ZERO,
            step: Wide::ZERO,
            next_step: Wide::ZERO,
            first_step: [0.0; W],
            powers: vec![Wide::ZERO; taylor.order.max(1)],
            needs_attention: Wide::ZERO,
            stiff: Wide::ZERO,
            smooth: [0; W],
            first: [false; W],
            peak: Wide::ZERO,
            expected: Wide::ZERO,
            worst: Wide::ZERO,
            scale: Wide::ZERO,
            firmest: Wide::ZERO,
            steps: [0; W],
            most_steps: [0; W],
            next_time: Times::ZERO,
            next_peak: Wide::ZERO,
            parameters: vec![Vec::new(); W],
            set: [false; W],
            start: LaneStart::default(),
        }
    }

    pub(crate) fn run(&mut self, handler: &mut dyn Handler) -> u64 {
        for lane in 0..W {
            self.begin_next(lane, handler);
        }
        self.lanes.current[..self.next.len()].copy_from_slice(&self.next);
        self.low.copy_from_slice(&self.next_low);
        self.time = self.next_time.clone();
        self.peak = self.next_peak;
        self.step = self.next_step;
        let mut steps = 0;
        let mut rounds = 0;
        while self.active.contains(&true) {
            rounds += 1;
            if rounds % ASK_EVERY == 0 && !handler.goes_on(steps) {
                self.active = [false; W];
                break;
            }
            let audited = (self.worst, self.scale);
            dispatch(self.level, Round(self));
            self.amend_first_steps(audited);
            let in_use = self.active.iter().filter(|active| **active).count();
            let early = in_use < W && handler.leaves_early(in_use);
            for lane in 0..W {
                if !self.active[lane] {
                    continue;
                }
                if early {
                    self.leave(lane, Leave::Asked, handler);
                    continue;
                }
                if self.steps[lane] >= self.most_steps[lane] || self.left.0[lane] <= 0.0 {
                    let why = if self.left.0[lane] <= 0.0 { Leave::Reached } else { Leave::StepLimit };
                    self.leave(lane, why, handler);
                    continue;
                }
                self.steps[lane] += 1;
                steps += 1;
                let smooth = self.smooth_with(lane);
                let monitored = self.monitors.smooth.is_some_and(|monitors| monitors.steps == smooth);
                if self.needs_attention.0[lane] != 0.0 || self.lanes.unhealthy[lane] || monitored {
                    self.attend(lane, handler);
                    continue;
                }
                self.smooth[lane] = smooth;
                self.has_stepped(lane);
                if self.size.0[lane] == self.left.0[lane] {
                    self.finish(lane, handler);
                }
            }
            self.lanes.current[..self.next.len()].copy_from_slice(&self.next);
            self.low.copy_from_slice(&self.next_low);
            std::mem::swap(&mut self.time, &mut self.next_time);
            self.peak = self.next_peak;
            self.step = self.next_step;
        }
        steps
    }

    /// How many steps of `Monitors::smooth` in a row there are with this one.
    fn smooth_with(&self, lane: usize) -> u32 {
        if self.stiff.0[lane] != 0.0 { self.smooth[lane].saturating_add(1) } else { 0 }
    }

    /// First steps after a jump: the balance at their start is not audited, and peaks are looked for on the way.
    fn amend_first_steps(&mut self, (worst, scale): (Wide<W>, Wide<W>)) {
        if !self.first.contains(&true) {
            return;
        }
        let mut series = std::mem::take(&mut self.series);
        series.resize(self.lanes.order + 1, 0.0);
        for lane in (0..W).filter(|&lane| self.first[lane]) {
            (self.worst.0[lane], self.scale.0[lane]) = (worst.0[lane], scale.0[lane]);
            let peak = &mut self.next_peak.0[lane];
            for i in 0..self.monitors.peaks {
                self.lanes.watched(i, lane, &mut series);
                *peak = peak_on_the_way(*peak, &series, self.size.0[lane]);
            }
        }
        self.series = series;
    }

    /// What was known of a lane's first step after a jump is used up.
    fn has_stepped(&mut self, lane: usize) {
        if std::mem::take(&mut self.first[lane]) {
            self.leaving.iter_mut().for_each(|wide| wide.0[lane] = 0.0);
        }
    }

    /// A lane whose step is not simply taken.
    fn attend(&mut self, lane: usize, handler: &mut dyn Handler) {
        let size = self.size.0[lane];
        let shortest = SHORTEST * self.time.hi.0[lane].abs();
        let hopeless = !(size > 0.0 && size * self.lanes.unit.0[lane] >= shortest && size.is_finite());
        if self.lanes.unhealthy[lane] || hopeless {
            let why = if self.lanes.unhealthy[lane] { Leave::NeedsPivoting } else { Leave::NotFinite };
            return self.leave(lane, why, handler);
        }
        self.read_audit(lane);
        let mut parameters = std::mem::take(&mut self.parameters[lane]);
        let mut step = LaneStep {
            time: self.time.get(lane),
            size,
            natural: self.natural.0[lane],
            smooth: self.stiff.0[lane] != 0.0,
            reaches_end: size == self.left.0[lane],
            after: &mut self.state,
            audit: &mut self.audit,
            parameters: &mut parameters,
            reparametrised: false,
            lane,
            series: &self.lanes,
        };
        let verdict = handler.attend(lane, &mut step);
        let (time, reparametrised) = (step.time, step.reparametrised);
        if reparametrised {
            self.lanes.set_parameters(lane, &parameters);
        }
        self.parameters[lane] = parameters;
        match verdict {
            StepVerdict::Pass => {
                self.write_sides(lane);
                self.has_stepped(lane);
                self.smooth[lane] = self.smooth_with(lane);
                if size == self.left.0[lane] {
                    self.finish(lane, handler);
                }
            }
            StepVerdict::Cut => {
                self.next_time.set(lane, time);
                for (next, x) in self.next.iter_mut().zip(&self.state) {
                    next.0[lane] = *x;
                }
                self.write_audit(lane);
            }
            StepVerdict::Leave => self.leave(lane, Leave::Asked, handler),
        }
    }

    /// The undisturbed last step: hands over its end and begins the next trajectory.
    fn finish(&mut self, lane: usize, handler: &mut dyn Handler) {
        for (x, next) in self.state.iter_mut().zip(&self.next) {
            *x = next.0[lane];
        }
        self.read_audit(lane);
        self.audit.low.iter_mut().zip(&self.next_low).for_each(|(x, wide)| *x = wide.0[lane]);
        self.audit.peak = self.next_peak.0[lane];
        handler.leave(lane, Leave::Reached, self.end.get(lane), &self.state, &self.audit);
        self.begin_next(lane, handler);
    }

    /// Hands back the state at the start of the step and begins the next trajectory.
    fn leave(&mut self, lane: usize, why: Leave, handler: &mut dyn Handler) {
        for (i, x) in self.state.iter_mut().enumerate() {
            *x = self.lanes.row(i as RowIndex)[0].0[lane];
        }
        self.read_audit(lane);
        handler.leave(lane, why, self.time.get(lane), &self.state, &self.audit);
        self.begin_next(lane, handler);
    }

    /// The next trajectory into a lane; an empty lane rests at its last state.
    fn begin_next(&mut self, lane: usize, handler: &mut dyn Handler) {
        let tape = &self.lanes.tape;
        let start = &mut self.start;
        start.state.resize(tape.dimension, 0.0);
        start.parameters.resize(tape.parameters, 0.0);
        let mut sides = std::mem::take(&mut start.audit.sides);
        let mut leaving = std::mem::take(&mut start.audit.leaving);
        let mut greatest = std::mem::take(&mut start.audit.greatest);
        greatest.clear();
        greatest.resize(self.monitors.greatest.len(), 0.0);
        sides.clear();
        sides.resize(tape.watched.len(), 0.0);
        leaving.clear();
        leaving.resize(tape.watched.len(), false);
        let mut extent = std::mem::take(&mut start.audit.extent);
        extent.ranges.resize(self.ranges.len(), NOTHING);
        extent.clear();
        let mut low = std::mem::take(&mut start.audit.low);
        low.clear();
        low.resize(tape.dimension, 0.0);
        start.audit = BatchAudit {
            most_steps: u64::MAX,
            sides,
            leaving,
            greatest,
            extent,
            low,
            ..BatchAudit::default()
        };
        self.active[lane] = handler.next(lane, start);
        if !self.active[lane] {
            self.next_time.set(lane, self.end.get(lane));
            return;
        }
        if !self.set[lane] || self.parameters[lane] != start.parameters {
            self.set[lane] = true;
            self.lanes.set_parameters(lane, &start.parameters);
            self.parameters[lane].clone_from(&start.parameters);
        }
        self.next_time.set(lane, start.time);
        self.end.set(lane, start.end);
        for (next, x) in self.next.iter_mut().zip(&start.state) {
            next.0[lane] = *x;
        }
        std::mem::swap(&mut self.audit, &mut self.start.audit);
        self.write_audit(lane);
    }

    fn read_audit(&mut self, lane: usize) {
        let audit = &mut self.audit;
        audit.steps = self.steps[lane];
        audit.most_steps = self.most_steps[lane];
        audit.sides.iter_mut().zip(&self.sides).for_each(|(x, wide)| *x = wide.0[lane]);
        audit.first = self.first[lane];
        audit.leaving.iter_mut().zip(&self.leaving).for_each(|(x, wide)| *x = wide.0[lane] != 0.0);
        audit.peak = self.peak.0[lane];
        audit.expected = self.expected.0[lane];
        audit.worst = self.worst.0[lane];
        audit.scale = self.scale.0[lane];
        audit.greatest.iter_mut().zip(&self.greatest).for_each(|(x, wide)| *x = wide.0[lane]);
        audit.smooth = self.smooth[lane];
        audit.unit = self.lanes.unit.0[lane];
        let (ranges, reach) = match self.monitors.residuals.is_empty() {
            true => (&self.ranges, &self.reach),
            false => (&self.seen.0, &self.seen.1),
        };
        let extent = &mut audit.extent;
        (extent.step, extent.first_step) = (self.step.0[lane], self.first_step[lane]);
        extent.ranges.clear();
        extent.ranges.extend(ranges.iter().map(|range| range.map(|wide| wide.0[lane])));
        extent.set_reach(&self.lanes.tape, reach.iter().map(|wide| wide.0[lane]));
        audit.firmest = self.firmest.0[lane];
        audit.low.iter_mut().zip(&self.low).for_each(|(x, wide)| *x = wide.0[lane]);
    }

    fn write_audit(&mut self, lane: usize) {
        self.write_sides(lane);
        let audit = &self.audit;
        self.first[lane] = audit.first;
        for (wide, leaves) in self.leaving.iter_mut().zip(&audit.leaving) {
            wide.0[lane] = f64::from(u8::from(audit.first & leaves));
        }
        self.steps[lane] = audit.steps;
        self.most_steps[lane] = audit.most_steps;
        self.next_peak.0[lane] = audit.peak;
        self.expected.0[lane] = audit.expected;
        self.worst.0[lane] = audit.worst;
        self.scale.0[lane] = audit.scale;
        self.greatest.iter_mut().zip(&audit.greatest).for_each(|(wide, x)| wide.0[lane] = *x);
        self.smooth[lane] = audit.smooth;
        let extent = &audit.extent;
        (self.next_step.0[lane], self.first_step[lane]) = (extent.step, extent.first_step);
        for (wide, range) in self.ranges.iter_mut().zip(&extent.ranges) {
            wide.iter_mut().zip(range).for_each(|(wide, x)| wide.0[lane] = *x);
        }
        for (i, wide) in self.reach.iter_mut().enumerate() {
            wide.0[lane] = extent.reach_with(&self.lanes.tape, i);
        }
        self.lanes.set_unit(lane, audit.unit);
        self.firmest.0[lane] = audit.firmest;
        self.next_low.iter_mut().zip(&audit.low).for_each(|(wide, x)| wide.0[lane] = *x);
    }

    fn write_sides(&mut self, lane: usize) {
        for (wide, x) in self.sides.iter_mut().zip(&self.audit.sides) {
            wide.0[lane] = *x;
        }
    }
}
