//! Dense output: the motion at any time, to the accuracy of its steps.
//!
//! ```text
//! x(t) = Σ c_k s^k,   s = (t − t₀)/τ ∈ [0, h]      per step: t₀, τ, h, c_k of the state, and what c_0 leaves out
//! ```
//!
//! A step's own polynomials are kept, nothing is fitted. Everything else a sample shows (momenta, energies, forces, outputs) is
//! evaluated at that state with the equations of the step's leg. Promise: at the time of a sample the same bits as the
//! sample; at a jump either side, the state after unless asked otherwise.

use crate::motion::Side;
use crate::options::Options;
use crate::program::LegKey;
use crate::rank_loss::Passage;
use crate::run::Run;
use crate::simulate::Simulator;
use carom_jet::{Coefficients, Time, horner, powers};
use std::sync::Arc;

/// Every step of a motion; see [`crate::Options::dense`].
#[derive(Clone, Debug, Default)]
pub struct Dense {
    steps: Vec<Step>,
    legs: Vec<Leg>,
    numbers: Vec<f64>,
}

/// A step, or with length 0 a state alone: the first and the last.
#[derive(Clone, Debug)]
struct Step {
    start: Time,
    end: Time,
    unit: f64,
    /// In the unit.
    length: f64,
    leg: usize,
    /// Where its numbers begin.
    first: usize,
    /// Coefficients per state variable; those of a fixed step are followed by the state at its end, others by what the
    /// doubles of the state at its start leave out.
    width: usize,
    fixed: bool,
    /// May the state jump at its end?
    jump: bool,
    passage: Option<Box<Passage>>,
}

/// What distinguishes the equations of a step from those of another.
#[derive(Clone, PartialEq, Debug)]
struct Leg {
    held: Option<usize>,
    key: LegKey,
    closed: Vec<bool>,
    parameters: Vec<f64>,
}

impl Dense {
    /// Where the motion begins and ends.
    pub fn span(&self) -> (f64, f64) {
        let value = |step: Option<&Step>, of: fn(&Step) -> Time| step.map_or(f64::NAN, |s| of(s).value());
        (value(self.steps.first(), |s| s.start), value(self.steps.last(), |s| s.end))
    }

    /// How many steps are kept.
    pub fn len(&self) -> usize {
        self.steps.iter().filter(|step| step.length > 0.0).count()
    }

    /// No steps at all?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The step that knows this time, and the place in it.
    fn find(&self, time: f64, side: Side) -> Option<(&Step, f64)> {
        let (from, until) = self.span();
        if !(from <= time && time <= until) {
            return None;
        }
        let place = |step: &Step| Time::new(time).minus(step.start) / step.unit;
        let at = match side {
            Side::Before => self.steps.partition_point(|step| time > step.end.value()),
            Side::After => self.steps.partition_point(|step| {
                place(step) >= step.length || (step.jump && time >= step.end.value())
            }),
        };
        let step = self.steps.get(at).or(self.steps.last())?;
        let inside = place(step).min(step.length);
        let at_end = side == Side::Before && time >= step.end.value();
        Some((step, if at_end { step.length } else { inside.max(0.0) }))
    }

    fn coefficient(&self, step: &Step, variable: usize, order: usize) -> f64 {
        self.numbers[step.first + variable * step.width + order]
    }

    /// The state at a place of a step.
    fn state(&self, step: &Step, s: f64, into: &mut [f64]) {
        let count = into.len();
        let numbers = &self.numbers[step.first..];
        if s <= 0.0 {
            into.iter_mut().zip(numbers.chunks(step.width)).for_each(|(x, c)| *x = c[0]);
        } else if step.fixed && s >= step.length {
            into.copy_from_slice(&numbers[count * step.width..][..count]);
        } else if step.fixed {
            into.iter_mut().zip(numbers.chunks(step.width)).for_each(|(x, c)| *x = horner(c, s));
        } else {
            let mut all = vec![0.0; step.width - 1];
            powers(s, &mut all);
            let (rows, low) = numbers.split_at(count * step.width);
            Coefficients::ByRow(rows, step.width).end(&all, into, &mut low[..count].to_vec());
        }
    }

    fn keep(&mut self, leg: Leg, mut step: Step) {
        if self.legs.last() != Some(&leg) {
            self.legs.push(leg);
        }
        step.leg = self.legs.len() - 1;
        self.steps.push(step);
    }
}

impl Run<'_> {
    fn leg_now(&self) -> Leg {
        Leg {
            held: self.contact.held,
            key: self.leg.key.clone(),
            closed: self.contact.walls.iter().map(|wall| wall.closed).collect(),
            parameters: self.leg.parameters.clone(),
        }
    }

    /// Keeps the step from the present state to `next`, h units long.
    pub fn keep_step(&mut self, h: f64, jump: bool, next: &[f64], end: Time) {
        let Some(mut dense) = self.recorder.motion.dense.take() else { return };
        let first = dense.numbers.len();
        let fixed = !self.stepping_by_series();
        let mut width = 1;
        if h > 0.0 {
            width = self.leg.coefficients_into(self.now.state.len(), &mut dense.numbers);
        } else {
            dense.numbers.extend(&self.now.state);
        }
        if fixed && h > 0.0 {
            dense.numbers.extend(next);
        } else if h > 0.0 {
            dense.numbers.extend(self.leg.flow().carried());
        }
        let passage = self.rank.passage.clone().map(Box::new);
        let (start, unit) = (self.now.time, self.stepper.unit);
        let step = Step { start, end, unit, length: h, leg: 0, first, width, fixed, jump, passage };
        dense.keep(self.leg_now(), step);
        self.recorder.motion.dense = Some(dense);
    }

    /// Keeps the present state alone: where a motion begins or ends.
    pub fn keep_state(&mut self) {
        let state = self.now.state.clone();
        self.keep_step(0.0, false, &state, self.now.time);
    }

    /// Everything at a place of a step that was kept.
    fn read(&mut self, dense: &Dense, step: &Step, s: f64, time: f64) -> Vec<f64> {
        let leg = &dense.legs[step.leg];
        self.enter(leg);
        let mut state = std::mem::take(&mut self.now.state);
        state.resize(self.program.state.len(), 0.0);
        dense.state(step, s, &mut state);
        let values = self.sampled(Time::new(time), &state, |run| {
            let passage = step.passage.as_ref().filter(|_| step.length > 0.0)?;
            let coefficient = |i: usize, k: usize| dense.coefficient(step, i, k);
            Some(run.across(passage, s, step.width - 1, step.unit, coefficient))
        });
        self.now.state = state;
        values
    }

    /// Puts the equations of a leg in force.
    fn enter(&mut self, leg: &Leg) {
        if leg.held != self.contact.held {
            self.program = leg.held.and_then(|wall| self.base.held(wall).ok()).unwrap_or(self.base);
            self.contact.held = leg.held;
            self.frame = crate::frame::Frame::new(&self.program.frame, &self.program.layout);
            self.recorder.outputs = self.program.outputs.clone();
            self.leg.parameters.clear();
        }
        for (wall, closed) in self.contact.walls.iter_mut().zip(&leg.closed) {
            wall.closed = *closed;
        }
        self.leg.key.clone_from(&leg.key);
        if self.leg.parameters != leg.parameters {
            self.leg.parameters.clone_from(&leg.parameters);
            self.frame.set_parameters(&self.leg.parameters);
            self.recorder.outputs.set_parameters(&self.leg.parameters);
        }
    }
}

impl Simulator<'_> {
    /// Everything a sample shows ([`crate::Columns`]) at any time of a motion of this program; `None` outside of it.
    ///
    /// ```
    /// # use carom_mech::{Draft, derive_equations};
    /// # let text = "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n[start]\nposition = { x = 1.0 }";
    /// # let (model, _) = Draft::parse(text, "m.toml").0.check().unwrap();
    /// # let mechanics = derive_equations(model).unwrap();
    /// use carom_run::{Options, Program, Side, Simulator};
    /// let program = Program::compile(&mechanics).unwrap();
    /// let mut simulator = Simulator::new(&program);
    /// let mut options = Options::of(&mechanics.model);
    /// options.dense = true;
    /// let motion = simulator.simulate(&options).unwrap();
    /// let values = simulator.read(motion.dense.as_ref().unwrap(), 2.5, Side::After).unwrap();
    /// assert!((values[0] - 2.5_f64.cos()).abs() < 1e-15);
    /// ```
    pub fn read(&mut self, dense: &Dense, time: f64, side: Side) -> Option<Vec<f64>> {
        let (step, s) = dense.find(time, side)?;
        let program = self.program;
        let reader = self
            .reader
            .get_or_insert_with(|| Run::blank(program, Arc::new(Options::of(&program.mechanics.model))));
        Some(reader.read(dense, step, s, time))
    }
}
