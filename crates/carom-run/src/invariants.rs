//! How well a motion keeps what its model conserves.
//!
//! ```text
//! drift = max |J(t) − J(t_leg)| / max s(J)
//! ```
//!
//! t_leg is the start, or the last impact, contact or reset that breaks J (THEORY §8): across those it may change. s is the scale
//! of J by the sweep over its formula, so a J that is a small difference of large terms is not blamed for their rounding.
//!
//! Measured at both ends of steps where they were kept ([`crate::Options::step_states`]), at samples elsewhere. Where no two of them are
//! between the same two breaks nothing was measured: NaN.

use crate::motion::{InvariantDrift, Motion};
use crate::run::Run;
use carom_expr::Style;
use carom_jet::Time;
use carom_mech::invariants::{Breaker, Invariant, invariants};
use carom_mech::{Dynamics, Mechanics};

/// Fills in the invariants of the audit, as [`invariant_drifts`].
pub fn audit_invariants(mechanics: &Mechanics, parameters: &[f64], motion: &mut Motion) {
    motion.audit.invariants = invariant_drifts(mechanics, parameters, motion);
}

/// Steps that are kept at most; from there on every other one is let go.
const MOST: usize = 64;

/// The states at both ends of steps, thinned out evenly to some dozens, the last one always among them; see [`crate::Options::step_states`].
#[derive(Clone, Debug, Default)]
pub struct StepStates {
    /// Every how manyth step is kept, less one, and how many there were.
    skipped: u64,
    seen: u64,
    /// Per state of a step, start and end in turn.
    numbers: Vec<f64>,
    width: usize,
    steps: Vec<KeptStep>,
    /// The last step, where it is none of these.
    last: Option<KeptStep>,
    last_numbers: Vec<f64>,
}

/// A step between two jumps.
#[derive(Clone, Copy, Debug)]
struct KeptStep {
    from: f64,
    to: f64,
    /// Records made before it.
    impacts: usize,
    events: usize,
}

impl StepStates {
    /// How many steps are kept.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// None?
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    fn keep(&mut self, step: KeptStep, start: &[f64], end: &[f64]) {
        let skip = self.seen & self.skipped != 0;
        self.seen += 1;
        self.last = skip.then_some(step);
        if skip {
            self.last_numbers.clear();
            self.last_numbers.extend_from_slice(start);
            self.last_numbers.extend_from_slice(end);
            return;
        }
        if self.steps.len() == MOST {
            self.thin_out();
        }
        self.width = start.len();
        self.numbers.extend_from_slice(start);
        self.numbers.extend_from_slice(end);
        self.steps.push(step);
    }

    /// Lets every other step go; of those to come, twice as many as before.
    fn thin_out(&mut self) {
        let block = 2 * self.width;
        for k in 0..MOST / 2 {
            self.steps[k] = self.steps[2 * k];
            self.numbers.copy_within(2 * k * block..(2 * k + 1) * block, k * block);
        }
        self.steps.truncate(MOST / 2);
        self.numbers.truncate(MOST / 2 * block);
        self.skipped = 2 * self.skipped + 1;
    }
}

impl Run<'_> {
    /// Keeps both ends of the step from the present state to `next`, when asked for.
    pub fn keep_step_states(&mut self, next: &[f64], end: Time) {
        let size = 2 * self.size();
        let usual = std::ptr::eq(self.program, self.base) && self.base.mechanics.free.len() == self.size();
        let motion = &mut self.recorder.motion;
        let Some(states) = motion.step_states.as_mut().filter(|_| usual) else { return };
        let (from, to) = (self.now.time.value(), end.value());
        let step = KeptStep { from, to, impacts: motion.impacts.len(), events: motion.events.len() };
        states.keep(step, &self.now.state[..size], &next[..size]);
    }
}

/// A state of a motion at which an invariant is looked at.
struct KnownState {
    time: f64,
    /// Records made before it.
    impacts: usize,
    events: usize,
    state: Vec<f64>,
}

/// Both ends of kept steps, or the samples.
fn instants(mechanics: &Mechanics, motion: &Motion) -> Vec<KnownState> {
    if let Some(states) = motion.step_states.as_ref().filter(|s| !s.is_empty()) {
        let last = states.last.iter().flat_map(|_| &states.last_numbers);
        let numbers: Vec<f64> = states.numbers.iter().chain(last).copied().collect();
        let steps: Vec<KeptStep> = states.steps.iter().chain(&states.last).copied().collect();
        let ends = numbers.chunks(states.width).enumerate();
        let instant = |(k, state): (usize, &[f64])| {
            let KeptStep { from, to, impacts, events } = steps[k / 2];
            let time = if k % 2 == 0 { from } else { to };
            KnownState { time, impacts, events, state: state.to_vec() }
        };
        return ends.map(instant).collect();
    }
    let hamiltonian = matches!(mechanics.dynamics, Dynamics::Hamiltonian(_));
    let rates = if hamiltonian { &motion.momentum } else { &motion.velocity };
    let mut order: Vec<usize> = (0..motion.time.len()).collect();
    order.sort_by(|&a, &b| motion.time[a].total_cmp(&motion.time[b]));
    let instant = |k: usize| {
        let time = motion.time[k];
        let q = mechanics.free.iter().map(|&i| motion.position[i].values[k]);
        let state = q.chain(mechanics.free.iter().map(|&i| rates[i].values[k])).collect();
        // At the very time of a jump a sample is the state after.
        let impacts = motion.impacts.iter().filter(|i| i.time <= time).count();
        let events = motion.events.iter().filter(|e| e.time <= time).count();
        KnownState { time, impacts, events, state }
    };
    order.into_iter().map(instant).collect()
}

/// What the model conserves and how well it was kept; `parameters` as it was simulated with, and as the model has them.
///
/// Invariants that contain a table input are left out.
pub fn invariant_drifts(mechanics: &Mechanics, parameters: &[f64], motion: &Motion) -> Vec<InvariantDrift> {
    let mut found = invariants(mechanics);
    if found.list.is_empty() {
        return Vec::new();
    }
    let Some(values) = found.values(mechanics) else { return Vec::new() };
    let seen: Vec<(KnownState, Vec<carom_expr::Scaled>)> = instants(mechanics, motion)
        .into_iter()
        .map(|instant| {
            let all = values.at(parameters, instant.time, &instant.state);
            (instant, all)
        })
        .collect();
    let drifts = found.list.iter().enumerate().map(|(j, invariant)| {
        let scale = seen.iter().map(|(_, x)| x[j].scale).fold(0.0, f64::max);
        let mut worst = f64::NAN;
        let mut reference: Option<(usize, f64)> = None;
        for (instant, x) in &seen {
            let Some(leg) = leg(motion, invariant, instant) else {
                reference = None;
                continue;
            };
            match reference {
                Some((known, value)) if known == leg => worst = worst.max((x[j].value - value).abs()),
                _ => reference = Some((leg, x[j].value)),
            }
        }
        InvariantDrift {
            name: invariant.name.clone(),
            text: found.dag.print(invariant.expr, Style::Text),
            drift: if worst == 0.0 { 0.0 } else { worst / scale },
            survives_impacts: invariant.survives_impacts(),
        }
    });
    drifts.collect()
}

/// How often the invariant was broken before this instant; `None` while a contact breaks it.
fn leg(motion: &Motion, invariant: &Invariant, instant: &KnownState) -> Option<usize> {
    if invariant.survives_impacts() {
        return Some(0);
    }
    let (names, t) = (&motion.names, instant.time);
    let wall = |w: usize| invariant.broken_by.contains(&Breaker::Wall(names.walls[w].clone()));
    let event = |e: usize| invariant.broken_by.contains(&Breaker::Event(names.events[e].clone()));
    let held = |c: &crate::motion::Contact| wall(c.wall) && c.from <= t && c.to.is_none_or(|to| t <= to);
    if motion.contacts.iter().any(held) {
        return None;
    }
    let hit = motion.impacts.iter().take(instant.impacts);
    let impacts = hit.filter(|i| i.walls.iter().any(|&w| wall(w))).count();
    let resets = motion.events.iter().take(instant.events).filter(|e| event(e.event)).count();
    let contacts = motion.contacts.iter().filter(|c| c.from <= t && wall(c.wall)).count();
    Some(impacts + resets + contacts)
}
