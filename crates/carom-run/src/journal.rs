//! What a motion leaves behind for the way back: where every step ended, and everything about every jump.
//!
//! ```text
//! step    (leg, t, h, x at its end)          jump    x⁻, f⁻, ġ⁻, the laws that were applied and where, f⁺
//! ```
//!
//! Up to the beginning of the first leg all directions are followed forward: given start values, projections, an impact at
//! the start. From there on one *probe* stands for them at jumps: a direction without meaning, for which the differentiated
//! laws notice what has no derivative, and against which their transposes are checked.

use crate::SimulateError;
use crate::adjoint_tape::{AdjointFlow, Codifferential};
use crate::gradient::{Objective, ObjectiveTerm, Observable};
use crate::program::LegKey;
use crate::run::{Run, refuse};
use crate::saltation::Cause;
use crate::saltation_law::{LawPoint, OneWall};
use crate::sensitivity::{MORE_ORDERS, Seed};
use crate::variation::{JumpVariation, Obstacle};
use carom_jet::{Flow, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// How far back equally many equations are looked for.
const RECENT: usize = 8;

/// The equations in force.
#[derive(Clone, Debug)]
pub(crate) struct LegRecord {
    pub key: LegKey,
    /// Of all evaluators, and of the leg's own tape.
    pub parameters: Vec<f64>,
    pub leg_parameters: Vec<f64>,
}

/// A step.
#[derive(Clone, Debug)]
pub(crate) struct StepRecord {
    pub leg: usize,
    pub start: Time,
    pub end: Time,
    pub unit: f64,
    /// In the unit.
    pub length: f64,
    /// (q, v) or (q, p) at its end, before anything that happens there.
    pub state: Vec<f64>,
    /// Which samples were taken on the way.
    pub samples: Range<usize>,
}

/// A sample.
#[derive(Clone, Debug)]
pub(crate) struct SampleRecord {
    pub place: usize,
    pub time: Time,
    pub leg: usize,
    pub state: Vec<f64>,
}

/// One application of the impact law.
#[derive(Clone, Debug)]
pub(crate) struct LawRecord {
    pub state: Vec<f64>,
    pub wall: usize,
    pub restitution: f64,
    pub varies: bool,
    pub held: Vec<usize>,
    /// Most compressed and after, where the kinetic energy is not quadratic.
    pub points: Vec<LawPoint>,
}

/// A jump, or with `mark` only an instant at which something was recorded.
#[derive(Clone, Debug)]
pub(crate) struct JumpRecord {
    pub leg: usize,
    pub time: Time,
    pub cause: Cause,
    pub state: Vec<f64>,
    /// f⁻, ġ⁻, f⁺
    pub rate: Vec<f64>,
    pub crossing: f64,
    pub after: Vec<f64>,
    pub laws: Vec<LawRecord>,
    pub mark: bool,
    /// The records of impacts made here, and of the event.
    pub impacts: Range<usize>,
    pub event: Option<usize>,
    pub probe: Probe,
}

impl LawRecord {
    pub fn new(wall: &OneWall<'_>, state: Vec<f64>, points: Vec<LawPoint>) -> LawRecord {
        let OneWall { wall, restitution, varies, held } = *wall;
        LawRecord { state, wall, restitution, varies, held: held.to_vec(), points }
    }
}

impl JumpRecord {
    /// With what came after.
    pub fn followed_by(
        mut self: Box<Self>,
        rate: &[f64],
        shift: f64,
        impulse: f64,
        probe: &[f64],
    ) -> Box<JumpRecord> {
        self.after = rate.to_vec();
        (self.probe.shift, self.probe.impulse, self.probe.after) = (shift, impulse, probe.to_vec());
        self
    }
}

/// What became of the probe.
#[derive(Clone, Debug, Default)]
pub(crate) struct Probe {
    /// δx⁻ and δθ.
    pub before: Vec<f64>,
    pub seed: Vec<f64>,
    /// δτ, dλ, δx⁺
    pub shift: f64,
    pub impulse: f64,
    pub after: Vec<f64>,
}

/// In the order in which it happened.
#[derive(Clone, Debug)]
pub(crate) enum Passed {
    Step(StepRecord),
    Jump(Box<JumpRecord>),
    /// A sample at the very end.
    Sample(usize),
}

/// Everything the way back needs.
#[derive(Clone, Debug)]
pub(crate) struct MotionJournal {
    pub objective: Objective,
    pub signals: Vec<Observable>,
    /// Has the first leg begun?
    pub begun: bool,
    /// Per direction: how parameters move, δx at the beginning of the first leg.
    pub seeds: Vec<Seed>,
    pub start: Vec<Vec<f64>>,
    pub start_impacts: Vec<JumpVariation>,
    /// Parameters that move in some direction.
    pub wanted: Vec<usize>,
    pub legs: Vec<LegRecord>,
    pub entries: Vec<Passed>,
    pub samples: Vec<SampleRecord>,
    /// First sample of the step that is being taken.
    pub first_sample: usize,
    /// The least and greatest value of each state variable.
    pub ranges: Vec<[f64; 2]>,
    pub flows: BTreeMap<LegKey, AdjointFlow>,
    pub laws: Codifferential,
    pub observed: Flow,
}

impl MotionJournal {
    fn keeps_samples(&self) -> bool {
        self.objective.terms.iter().any(|t| matches!(t, ObjectiveTerm::Samples(..)))
    }

    pub fn see(&mut self, state: &[f64]) {
        for (range, &x) in self.ranges.iter_mut().zip(state) {
            *range = [range[0].min(x), range[1].max(x)];
        }
    }
}

/// Numbers without pattern in [1/2, 3/2): the multiples of the golden ratio.
fn without_pattern(count: usize, first: usize) -> Vec<f64> {
    (first + 1..=first + count).map(|k| 0.5 + (k as f64 * 0.618_033_988_749_894_9).fract()).collect()
}

impl Run<'_> {
    /// A journal for the objective that was asked for.
    pub fn new_journal(&self, seeds: &[Seed]) -> Result<Option<Box<MotionJournal>>, SimulateError> {
        let Some(objective) = self.options.objective.clone() else { return Ok(None) };
        let m = &self.program.mechanics;
        let mut signals: Vec<Observable> = Vec::new();
        for term in &objective.terms {
            if let ObjectiveTerm::End(signal, _) | ObjectiveTerm::Samples(signal, _) = term
                && !signals.contains(signal)
            {
                self.refuse_signal(*signal)?;
                signals.push(*signal);
            }
            let known = match *term {
                ObjectiveTerm::End(..) | ObjectiveTerm::Samples(..) => true,
                ObjectiveTerm::ImpactTime { wall, .. } | ObjectiveTerm::Impulse { wall, .. } => {
                    wall < m.walls.len()
                }
                ObjectiveTerm::EventTime { event, .. } => event < m.events.len(),
            };
            if !known {
                return Err(refuse("the objective names a wall or event that the model does not have"));
            }
        }
        let wanted: Vec<usize> =
            seeds.iter().flat_map(|s| &s.moved).map(|m| m.0).collect::<BTreeSet<_>>().into_iter().collect();
        let compile = |e: carom_jet::CompileError| {
            SimulateError::Compile(format!("the gradient cannot be compiled: {e}"))
        };
        let laws = self.program.codifferential_workspace(&wanted).map_err(compile)?;
        let observed = self.program.observed_workspace(&signals, &wanted).map_err(compile)?;
        Ok(Some(Box::new(MotionJournal {
            objective,
            signals,
            begun: false,
            seeds: seeds.to_vec(),
            start: Vec::new(),
            start_impacts: Vec::new(),
            wanted,
            legs: Vec::new(),
            entries: Vec::new(),
            samples: Vec::new(),
            first_sample: 0,
            ranges: vec![[f64::INFINITY, f64::NEG_INFINITY]; 2 * self.size()],
            flows: BTreeMap::new(),
            laws,
            observed,
        })))
    }

    /// Signals that need more than state, time and parameters are not followed.
    fn refuse_signal(&self, signal: Observable) -> Result<(), SimulateError> {
        let m = &self.program.mechanics;
        let Some(formula) = signal.formula(m) else {
            return Err(refuse("the objective names a signal that the model does not have"));
        };
        let accelerates = m.model.coordinates.iter().any(|c| m.model.dag.contains(formula, c.acceleration));
        if accelerates {
            return Err(refuse(
                "the objective contains accelerations, whose gradient is not known: use positions, velocities or outputs made of them",
            ));
        }
        Ok(())
    }

    /// The journal, once the first leg has begun and as long as there is a derivative.
    fn journal(&mut self) -> Option<&mut MotionJournal> {
        let tangent = self.tangent.as_mut().filter(|t| t.result.not_differentiable.is_none())?;
        tangent.journal.as_deref_mut().filter(|j| j.begun)
    }

    /// Is the motion kept for the way back?
    pub fn keeps_journal(&self) -> bool {
        self.tangent.as_ref().is_some_and(|t| t.journal.is_some())
    }

    /// The first leg has begun: directions wait here, the probe goes on.
    pub fn begin_journal(&mut self) {
        let count = self.program.mechanics.model.parameters.len();
        let Some(tangent) = &mut self.tangent else { return };
        let Some(journal) = tangent.journal.as_deref_mut() else { return };
        journal.begun = true;
        journal.start_impacts = std::mem::take(&mut tangent.result.impacts);
        let moved = journal.wanted.iter().copied().zip(without_pattern(count, 101)).collect();
        let seed = Seed { moved, restitution: None };
        journal.start = std::mem::replace(&mut tangent.columns, vec![vec![0.0; 2 * self.program.size()]]);
        tangent.seeds = vec![seed];
    }

    /// Turns the probe into another direction, one that rows and closed walls allow.
    pub fn renew_probe(&mut self) {
        let size = 2 * self.size();
        let Some(journal) = self.journal() else { return };
        let first = 7 * journal.entries.len() % 1000;
        if let Some(tangent) = &mut self.tangent {
            tangent.columns = vec![without_pattern(size, first)];
        }
        if self.is_constrained() || !self.contact.closed().is_empty() {
            self.project_columns();
        }
    }

    /// The place of the present equations among those met.
    pub fn leg_record(&mut self) -> Option<usize> {
        let journal = self.tangent.as_ref()?.journal.as_deref()?;
        // The last ones first: a motion mostly goes on as it did, or comes and goes between two.
        let same = |known: &LegRecord| known.key == self.leg.key && known.parameters == self.leg.parameters;
        let known = (0..journal.legs.len()).rev().take(RECENT).find(|&place| same(&journal.legs[place]));
        if known.is_some() {
            return known;
        }
        let (key, parameters) = (self.leg.key.clone(), self.leg.parameters.clone());
        let record = LegRecord { key, parameters, leg_parameters: self.leg.own_parameters(self.program) };
        let journal = self.tangent.as_mut()?.journal.as_deref_mut()?;
        journal.legs.push(record);
        Some(journal.legs.len() - 1)
    }

    /// Keeps a step that ends at `state`.
    pub fn record_step(&mut self, h: f64, state: &[f64], end: Time) {
        if h == 0.0 || self.journal().is_none() {
            return;
        }
        if self.rank.passage.is_some() {
            return self.lose(Obstacle::RankLoss, &[], None);
        }
        if !self.prepare_tangent() {
            return;
        }
        let Some(leg) = self.leg_record() else { return };
        let (size, start, unit) = (2 * self.size(), self.now.time, self.stepper.unit);
        let from = self.now.state[..size].to_vec();
        let Some(journal) = self.journal() else { return };
        journal.see(&from);
        journal.see(&state[..size]);
        let samples = journal.first_sample..journal.samples.len();
        journal.first_sample = samples.end;
        let state = state[..size].to_vec();
        journal.entries.push(Passed::Step(StepRecord { leg, start, end, unit, length: h, state, samples }));
    }

    /// Keeps a sample; `last` after the last step.
    pub fn record_sample(&mut self, place: usize, time: Time, state: &[f64], last: bool) {
        let wanted = self
            .tangent
            .as_ref()
            .and_then(|t| t.journal.as_deref())
            .is_some_and(MotionJournal::keeps_samples);
        if !wanted {
            return;
        }
        let Some(leg) = self.leg_record() else { return };
        let Some(journal) = self.tangent.as_mut().and_then(|t| t.journal.as_deref_mut()) else { return };
        journal.samples.push(SampleRecord { place, time, leg, state: state.to_vec() });
        if last {
            journal.first_sample = journal.samples.len();
            journal.entries.push(Passed::Sample(journal.samples.len() - 1));
        }
    }

    /// What is known before a jump, once the first leg has begun.
    pub fn jump_record(
        &mut self,
        cause: Cause,
        state: &[f64],
        rate: &[f64],
        crossing: f64,
    ) -> Option<Box<JumpRecord>> {
        self.journal()?;
        let (leg, time) = (self.leg_record()?, self.now.time);
        let tangent = self.tangent.as_ref()?;
        let probe = Probe {
            before: tangent.columns.first()?.clone(),
            seed: tangent.parameter_seed(0),
            ..Probe::default()
        };
        Some(Box::new(JumpRecord {
            leg,
            time,
            cause,
            state: state.to_vec(),
            rate: rate.to_vec(),
            crossing,
            after: Vec::new(),
            laws: Vec::new(),
            mark: false,
            impacts: 0..0,
            event: None,
            probe,
        }))
    }

    /// The record of the event that has just been made.
    pub fn event_of(&self, cause: Cause) -> Option<usize> {
        match cause {
            Cause::Event(_) => self.recorder.motion.events.len().checked_sub(1),
            Cause::Wall(_) | Cause::Surface(_) => None,
        }
    }

    /// Makes the tapes of the present leg ready.
    pub fn prepare_adjoint(&mut self) -> bool {
        let order = self.stepper.taylor.order + MORE_ORDERS;
        let Some(journal) = self.tangent.as_ref().and_then(|t| t.journal.as_deref()) else { return false };
        if journal.flows.contains_key(&self.leg.key) {
            return true;
        }
        let made = self.program.adjoint_workspace(&(self.leg.key.clone(), order, journal.wanted.clone()));
        let Ok(flow) = made else {
            self.lose(Obstacle::Degenerate, &[], None);
            return false;
        };
        let key = self.leg.key.clone();
        if let Some(journal) = self.tangent.as_mut().and_then(|t| t.journal.as_deref_mut()) {
            journal.flows.insert(key, flow);
        }
        true
    }

    /// ẋ at a state of the present instant, by the equations of the present leg.
    pub fn adjoint_rate(&mut self, state: &[f64]) -> Option<Vec<f64>> {
        let (size, time, parameters) =
            (2 * self.size(), self.now.time, self.leg.own_parameters(self.program));
        let journal = self.tangent.as_mut()?.journal.as_deref_mut()?;
        let flow = journal.flows.get_mut(&self.leg.key)?;
        flow.set_parameters(&parameters);
        let mut state = state[..size].to_vec();
        state.resize(2 * size, 0.0);
        flow.motion.evaluate(time, &state).ok()?;
        Some((0..size).map(|i| flow.motion.rate(i)).collect())
    }

    /// Keeps a jump.
    pub fn record_jump(&mut self, record: Option<Box<JumpRecord>>) {
        if let (Some(record), Some(journal)) = (record, self.journal()) {
            journal.entries.push(Passed::Jump(record));
        }
    }
}
