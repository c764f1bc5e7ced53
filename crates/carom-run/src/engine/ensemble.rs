//! Many trajectories of one system at once, in the lanes of the vector unit.
//!
//! Every lane has its own time, step and parameters; an event in one lane never waits for another, and a lane whose
//! trajectory ends takes the next from the queue. The caller is asked ([`Handler::attend`]) only for steps in which a
//! watched function may vanish: the bound w₀ + Σ min(0, w_k h^k) > 0 settles nearly all others for all lanes together.
//!
//! Promise: a trajectory's bits are those of [`super::Flow`] with [`super::Taylor`], whatever the width and the
//! neighbours.

// Loops over lanes are indexed: several arrays advance together, and that form becomes vector code.
#![allow(clippy::needless_range_loop)]

use super::lanes::{Lanes, Wide, supported};
use super::simd::{Level, round};
use super::tape::{Row, Tape, Value};
use super::taylor::{Taylor, larger, radius, smaller, state_scale, watched_scale};
use super::time::Time;
use std::sync::Arc;

/// Where a lane starts.
#[derive(Clone, Debug, Default)]
pub struct LaneStart {
    /// Now.
    pub time: Time,
    /// Where it ends.
    pub end: Time,
    /// x(time)
    pub state: Vec<f64>,
    /// Its parameters.
    pub parameters: Vec<f64>,
}

/// Why a lane was left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leave {
    /// The end was reached.
    Reached,
    /// The handler wanted it.
    Asked,
    /// A linear block needs pivoting at this state: go on with a single [`super::Flow`].
    NeedsPivoting,
    /// The step is zero or not a number.
    NotFinite,
}

/// What to do with a step that was looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Nothing happens in it: take it.
    Pass,
    /// Something happens after `size`: the handler has shortened it and written the state to go on with to `after`.
    Cut,
    /// Take the trajectory out of the lane (state and time of the step's start are handed back).
    Leave,
}

/// One lane's step, as polynomials in t − time.
pub struct LaneStep<'a> {
    /// Where it starts.
    pub time: Time,
    /// How long it is; may be shortened.
    pub size: f64,
    /// Does it end at the trajectory's end?
    pub reaches_end: bool,
    /// The state after a shortened step.
    pub after: &'a mut [f64],
    lane: usize,
    series: &'a dyn Series,
}

impl LaneStep<'_> {
    /// Copies the coefficients of state variable `i`.
    pub fn state(&self, i: usize, into: &mut [f64]) {
        self.series.copy(Value::Row(i as Row), self.lane, into);
    }

    /// Copies the coefficients of watched function `i`.
    pub fn watched(&self, i: usize, into: &mut [f64]) {
        self.series.copy(self.series.watched(i), self.lane, into);
    }

    /// The value of noted function `i` at the start of the step.
    pub fn noted(&self, i: usize) -> f64 {
        self.series.noted(i, self.lane)
    }

    /// The state at `h` into the step.
    pub fn state_at(&self, h: f64, into: &mut [f64]) {
        for (i, x) in into.iter_mut().enumerate() {
            *x = self.series.horner(Value::Row(i as Row), self.lane, h);
        }
    }
}

/// What the caller does for single trajectories.
pub trait Handler {
    /// Fills in the next trajectory for a lane; false when there is none left.
    fn board(&mut self, lane: usize, start: &mut LaneStart) -> bool;
    /// Looks at a step in which a watched function may vanish.
    fn attend(&mut self, lane: usize, step: &mut LaneStep<'_>) -> Verdict;
    /// Takes a trajectory out of a lane.
    fn leave(&mut self, lane: usize, why: Leave, time: Time, state: &[f64]);
}

trait Series {
    fn copy(&self, value: Value, lane: usize, into: &mut [f64]);
    fn horner(&self, value: Value, lane: usize, h: f64) -> f64;
    fn watched(&self, i: usize) -> Value;
    fn noted(&self, i: usize, lane: usize) -> f64;
}

impl<const W: usize> Series for Lanes<W> {
    fn copy(&self, value: Value, lane: usize, into: &mut [f64]) {
        into.fill(0.0);
        match value {
            Value::Row(row) => into.iter_mut().zip(self.row(row)).for_each(|(x, c)| *x = c.0[lane]),
            Value::Constant(slot) => into[0] = self.constant(slot, lane),
        }
    }
    fn horner(&self, value: Value, lane: usize, h: f64) -> f64 {
        match value {
            Value::Row(row) => self.row(row).iter().rev().fold(0.0, |sum, c| sum * h + c.0[lane]),
            Value::Constant(slot) => self.constant(slot, lane),
        }
    }
    fn watched(&self, i: usize) -> Value {
        self.tape.watched[i]
    }
    fn noted(&self, i: usize, lane: usize) -> f64 {
        self.noted[i].0[lane]
    }
}

/// An ensemble of trajectories of one system.
#[derive(Clone, Debug)]
pub struct Ensemble(Width);

#[derive(Clone, Debug)]
enum Width {
    Sixteen(Box<Crowd<16>>),
    Eight(Box<Crowd<8>>),
}

impl Ensemble {
    /// Lanes for a tape; `None` when a block is not symmetric (its pivots would differ from lane to lane).
    pub fn new(tape: Arc<Tape>, taylor: Taylor) -> Option<Ensemble> {
        supported(&tape).then(|| {
            let level = Level::detect();
            Ensemble(if level == Level::Avx512 {
                Width::Sixteen(Box::new(Crowd::new(tape, taylor, level)))
            } else {
                Width::Eight(Box::new(Crowd::new(tape, taylor, level)))
            })
        })
    }

    /// The same with eight lanes, whatever the processor: the same bits.
    pub fn narrow(tape: Arc<Tape>, taylor: Taylor) -> Option<Ensemble> {
        supported(&tape).then(|| Ensemble(Width::Eight(Box::new(Crowd::new(tape, taylor, Level::detect())))))
    }

    /// Number of lanes.
    pub fn lanes(&self) -> usize {
        match &self.0 {
            Width::Sixteen(_) => 16,
            Width::Eight(_) => 8,
        }
    }

    /// Runs until the handler has no trajectory left and all lanes are done. Returns the number of steps taken.
    pub fn run(&mut self, handler: &mut dyn Handler) -> u64 {
        match &mut self.0 {
            Width::Sixteen(crowd) => crowd.run(handler),
            Width::Eight(crowd) => crowd.run(handler),
        }
    }
}

/// W lanes with their times and steps.
#[derive(Clone, Debug)]
pub(crate) struct Crowd<const W: usize> {
    lanes: Lanes<W>,
    taylor: Taylor,
    level: Level,
    time: [Time; W],
    end: [Time; W],
    active: [bool; W],
    /// Time left, then the step.
    left: Wide<W>,
    size: Wide<W>,
    /// Lanes in which a watched function may vanish.
    restless: [bool; W],
    state: Vec<f64>,
}

impl<const W: usize> Crowd<W> {
    fn new(tape: Arc<Tape>, taylor: Taylor, level: Level) -> Crowd<W> {
        Crowd {
            state: vec![0.0; tape.dimension],
            lanes: Lanes::new(tape, taylor.order),
            taylor,
            level,
            time: [Time::default(); W],
            end: [Time::default(); W],
            active: [false; W],
            left: Wide::ZERO,
            size: Wide::ZERO,
            restless: [false; W],
        }
    }

    /// Jets, step sizes, bounds and end states of all lanes.
    #[inline(always)]
    pub(crate) fn round_body<const FUSED: bool>(&mut self) {
        self.lanes.jet_body::<FUSED>();
        self.step_sizes();
        self.bounds();
    }

    /// As `Taylor::step_size`, then cut to the time left.
    #[inline(always)]
    fn step_sizes(&mut self) {
        let n = self.lanes.order;
        let tape = &self.lanes.tape;
        let mut largest = [Wide::<W>::ZERO; 3];
        for i in 0..tape.dimension {
            let row = self.lanes.row(i as Row);
            let inverse = row[0].map(|x| 1.0 / state_scale(x));
            for (back, l) in largest.iter_mut().enumerate() {
                *l = l.zip(row[n - back].zip(inverse, |c, i| c.abs() * i), larger);
            }
        }
        let mut rho = radii(n, &largest);
        for value in &tape.watched {
            let Value::Row(row) = value else { continue };
            let row = self.lanes.row(*row);
            let mut inverse = rho;
            for i in 0..W {
                inverse.0[i] = 1.0 / watched_scale(row[0].0[i], row[1].0[i], rho.0[i]);
            }
            let mut tail = [Wide::<W>::ZERO; 3];
            for (back, t) in tail.iter_mut().enumerate() {
                *t = row[n - back].zip(inverse, |c, i| c.abs() * i);
            }
            let own = radii(n, &tail);
            rho = rho.zip(own, smaller);
        }
        let factor = self.taylor.factor;
        self.size = rho.map(|r| r * factor).zip(self.left, smaller);
    }

    /// Which lanes may meet a zero of a watched function in [0, h].
    #[inline(always)]
    fn bounds(&mut self) {
        let h = self.size;
        let mut restless = [false; W];
        for value in &self.lanes.tape.watched {
            let Value::Row(row) = value else { continue };
            let row = self.lanes.row(*row);
            let (mut low, mut high) = (Wide::<W>::ZERO, Wide::<W>::ZERO);
            for c in row[1..].iter().rev() {
                for i in 0..W {
                    let c = c.0[i];
                    low.0[i] = (low.0[i] + if c < 0.0 { c } else { 0.0 }) * h.0[i];
                    high.0[i] = (high.0[i] + if c > 0.0 { c } else { 0.0 }) * h.0[i];
                }
            }
            // Truncation and rounding are below this part of the function's range.
            let slack = 16.0 * self.taylor.tolerance.max(f64::EPSILON);
            for i in 0..W {
                let w = row[0].0[i];
                let margin = slack * (w.abs().max(1.0) + high.0[i] - low.0[i]);
                let quiet = w + low.0[i] > margin || w + high.0[i] < -margin;
                restless[i] |= !quiet;
            }
        }
        self.restless = restless;
    }

    fn run(&mut self, handler: &mut dyn Handler) -> u64 {
        let mut start = LaneStart::default();
        (0..W).for_each(|lane| self.board(lane, handler, &mut start));
        self.lanes.current[..self.state.len()].copy_from_slice(&self.lanes.pending);
        let mut steps = 0;
        while self.active.contains(&true) {
            for lane in 0..W {
                self.left.0[lane] = self.end[lane].minus(self.time[lane]);
                self.lanes.current[self.lanes.tape.dimension].0[lane] = self.time[lane].value();
            }
            round(self.level, self);
            let before = self.size;
            let mut overrides = [false; W];
            for lane in 0..W {
                if !self.active[lane] {
                    continue;
                }
                steps += 1;
                let size = self.size.0[lane];
                let trouble = if self.lanes.unhealthy[lane] {
                    Some(Leave::NeedsPivoting)
                } else if size > 0.0 && size.is_finite() {
                    None
                } else {
                    Some(if self.left.0[lane] <= 0.0 { Leave::Reached } else { Leave::NotFinite })
                };
                if let Some(why) = trouble {
                    self.depart(lane, why, handler, &mut start);
                    overrides[lane] = true;
                } else if self.restless[lane] {
                    overrides[lane] = self.attend(lane, handler, &mut start);
                }
            }
            // End states of the undisturbed lanes.
            for i in 0..self.lanes.tape.dimension {
                let mut x = Wide::<W>::ZERO;
                for c in self.lanes.row(i as Row).iter().rev() {
                    x = x.zip(before, |x, h| x * h).zip(*c, |x, c| x + c);
                }
                for lane in 0..W {
                    if !overrides[lane] {
                        self.lanes.current[i].0[lane] = x.0[lane];
                    } else {
                        self.lanes.current[i].0[lane] = self.lanes.pending[i].0[lane];
                    }
                }
            }
            for lane in 0..W {
                if self.active[lane] && !overrides[lane] {
                    self.time[lane] = self.time[lane].plus(before.0[lane]);
                    if before.0[lane] == self.left.0[lane] {
                        self.read_state(lane);
                        handler.leave(lane, Leave::Reached, self.end[lane], &self.state);
                        self.board(lane, handler, &mut start);
                        for i in 0..self.state.len() {
                            self.lanes.current[i].0[lane] = self.lanes.pending[i].0[lane];
                        }
                    }
                }
            }
        }
        steps
    }

    fn read_state(&mut self, lane: usize) {
        for (x, wide) in self.state.iter_mut().zip(&self.lanes.current) {
            *x = wide.0[lane];
        }
    }

    /// The handler looks at a step. True when the lane's next state is in `pending`.
    fn attend(&mut self, lane: usize, handler: &mut dyn Handler, start: &mut LaneStart) -> bool {
        let mut step = LaneStep {
            time: self.time[lane],
            size: self.size.0[lane],
            reaches_end: self.size.0[lane] == self.left.0[lane],
            after: &mut self.state,
            lane,
            series: &self.lanes,
        };
        match handler.attend(lane, &mut step) {
            Verdict::Pass => false,
            Verdict::Cut => {
                let size = step.size;
                self.time[lane] = self.time[lane].plus(size);
                for (pending, x) in self.lanes.pending.iter_mut().zip(&self.state) {
                    pending.0[lane] = *x;
                }
                true
            }
            Verdict::Leave => {
                self.depart(lane, Leave::Asked, handler, start);
                true
            }
        }
    }

    /// Hands back the state at the start of the step and boards the next trajectory.
    fn depart(&mut self, lane: usize, why: Leave, handler: &mut dyn Handler, start: &mut LaneStart) {
        for (i, x) in self.state.iter_mut().enumerate() {
            *x = self.lanes.row(i as Row)[0].0[lane];
        }
        handler.leave(lane, why, self.time[lane], &self.state);
        self.board(lane, handler, start);
    }

    /// The next trajectory into a lane (state into `pending`); an empty lane rests at its last state.
    fn board(&mut self, lane: usize, handler: &mut dyn Handler, start: &mut LaneStart) {
        let n = self.lanes.tape.dimension;
        start.state.resize(n, 0.0);
        start.parameters.resize(self.lanes.tape.parameters, 0.0);
        self.active[lane] = handler.board(lane, start);
        if self.active[lane] {
            self.lanes.set_parameters(lane, &start.parameters);
            (self.time[lane], self.end[lane]) = (start.time, start.end);
        } else {
            self.time[lane] = self.end[lane];
        }
        for i in 0..n {
            self.lanes.pending[i].0[lane] = start.state[i];
        }
    }
}

#[inline(always)]
fn radii<const W: usize>(n: usize, [a, b, c]: &[Wide<W>; 3]) -> Wide<W> {
    let mut r = *a;
    for i in 0..W {
        r.0[i] = radius(n, [a.0[i], b.0[i], c.0[i]]);
    }
    r
}
