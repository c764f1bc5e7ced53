//! Brute force: where many motions cross a section, after they have settled.
//!
//! ```text
//! period     x(t₀ + k T),                     k = skip + 1 … skip + keep
//! section    x at the k-th event, or just after the k-th impact on a wall
//! ```
//!
//! Motions run side by side in lanes ([`Batch`]). For a period the motion is taken up again at every t₀ + k T, so nothing is
//! watched in between; for a section the time it takes is not known, and a motion that crossed too rarely is run again for
//! longer. Promise: what is kept of a motion does not depend on its neighbours.

use crate::refusal::Refusal;
use crate::request::{Return, Section};
use carom_expr::{Dag, Expr};
use carom_mech::{Mechanics, Model, Physics};
use carom_run::{Batch, Columns, EventRecord, Impact, JobSource, Options, Outcome, Program, SimulateError};

/// A state in the section.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Crossing {
    /// When.
    pub time: f64,
    /// q, every coordinate.
    pub position: Vec<f64>,
    /// v, every coordinate.
    pub velocity: Vec<f64>,
}

/// What is asked of every motion.
#[derive(Clone, Debug)]
pub struct Scan {
    /// Where it is looked at: once a period, at an event, or just after an impact.
    pub returns: Return,
    /// So many crossings are left out, for the motion to settle.
    pub skip: usize,
    /// So many are kept.
    pub keep: usize,
}

/// A motion is run at most this many times longer than its model says before a section counts as not crossed.
const PATIENCE: f64 = 64.0;

/// Crossings of one motion, or why there are too few.
pub type KeptCrossings = Result<Vec<Crossing>, String>;

impl Scan {
    /// What to ask of the motions of a model.
    ///
    /// # Errors
    /// If the period is not positive.
    pub fn new(mechanics: &Mechanics, returns: Return, skip: usize, keep: usize) -> Result<Scan, Refusal> {
        if let Return::Period { dag, formula, text } = &returns {
            let values: Vec<f64> = mechanics.model.parameters.iter().map(|p| p.value).collect();
            let length = of_parameters(dag, *formula, &mechanics.model, &values);
            if !(length > 0.0 && length.is_finite()) {
                return Err(Refusal::wrong(
                    format!("the period must be positive, and `{text}` is {length}"),
                    "write a number or a formula of parameters, such as 2*pi/omega",
                ));
            }
        }
        Ok(Scan { returns, skip, keep })
    }

    /// The kept crossings of motions with these options, in their order; `goes_on` is asked now and then, `seconds` is the
    /// processor time of this thread, if known.
    pub fn run(
        &self,
        program: &Program,
        options: &[Options],
        goes_on: &(dyn Fn() -> bool + Sync),
        seconds: &(dyn Fn() -> Option<f64> + Sync),
    ) -> Vec<KeptCrossings> {
        match &self.returns {
            Return::Period { dag, formula, .. } => {
                let period =
                    |values: &[f64]| of_parameters(dag, *formula, &program.mechanics().model, values);
                self.strobe(program, &period, options, goes_on, seconds)
            }
            Return::Section(section) => self.cross(program, *section, options, goes_on, seconds),
        }
    }

    fn strobe(
        &self,
        program: &Program,
        period: &dyn Fn(&[f64]) -> f64,
        options: &[Options],
        goes_on: &(dyn Fn() -> bool + Sync),
        seconds: &(dyn Fn() -> Option<f64> + Sync),
    ) -> Vec<KeptCrossings> {
        let columns = Columns::of(program);
        let hamiltonian = matches!(program.mechanics().model.physics, Physics::Hamiltonian(_));
        let mut batch = Batch::new(program, false);
        let mut kept: Vec<KeptCrossings> =
            options.iter().map(|_| Ok(Vec::with_capacity(self.keep))).collect();
        let mut now: Vec<Options> = options.to_vec();
        for round in 0..=self.keep {
            let count = self.skip + round;
            if round == 0 && self.skip == 0 {
                continue;
            }
            let mut jobs = Vec::new();
            for (i, o) in now.iter_mut().enumerate() {
                if kept[i].is_err() {
                    continue;
                }
                let length = period(&o.parameters);
                if !(length > 0.0 && length.is_finite()) {
                    kept[i] = Err(format!("the period is {length} there"));
                    continue;
                }
                o.until = options[i].start.time + count as f64 * length;
                jobs.push((i as u64, o.clone()));
            }
            let mut source = Jobs {
                waiting: jobs.into_iter(),
                done: Vec::new(),
                wall: None,
                found: Vec::new(),
                goes_on,
                seconds,
            };
            batch.run(&mut source);
            let mut reached = vec![false; options.len()];
            for (i, outcome) in source.done {
                let i = i as usize;
                reached[i] = true;
                match outcome {
                    Err(error) => kept[i] = Err(error.to_string()),
                    Ok(outcome) if outcome.stop.time < now[i].until => kept[i] = Err(ended(&outcome)),
                    Ok(outcome) => {
                        let part = |r: &std::ops::Range<usize>| outcome.values[r.clone()].to_vec();
                        let crossing = Crossing {
                            time: outcome.stop.time,
                            position: part(&columns.position),
                            velocity: part(&columns.velocity),
                        };
                        let until = now[i].until;
                        let start = &mut now[i].start;
                        start.time = until;
                        let some = |values: Vec<f64>| values.into_iter().map(Some).collect();
                        start.position = some(crossing.position.clone());
                        if hamiltonian {
                            start.momentum = some(part(&columns.momentum));
                        } else {
                            start.velocity = some(crossing.velocity.clone());
                        }
                        // What rounding left of the rows is the motion's, not the author's.
                        start.project = true;
                        if round > 0
                            && let Ok(list) = &mut kept[i]
                        {
                            list.push(crossing);
                        }
                    }
                }
            }
            for (i, reached) in reached.iter().enumerate() {
                if !reached && kept[i].is_ok() {
                    kept[i] = Err("interrupted".to_owned());
                }
            }
        }
        kept
    }

    fn cross(
        &self,
        program: &Program,
        section: Section,
        options: &[Options],
        goes_on: &(dyn Fn() -> bool + Sync),
        seconds: &(dyn Fn() -> Option<f64> + Sync),
    ) -> Vec<KeptCrossings> {
        let needed = self.skip + self.keep;
        let wall = match section {
            Section::Wall(wall) => Some(wall),
            Section::Event(_) => None,
        };
        let mut batch = Batch::new(program, wall.is_some());
        let mut kept: Vec<Option<KeptCrossings>> = vec![None; options.len()];
        let mut length: Vec<f64> = options.iter().map(|o| o.until - o.start.time).collect();
        while goes_on() {
            let open = (0..options.len()).filter(|&i| kept[i].is_none());
            let jobs: Vec<(u64, Options)> = open
                .map(|i| {
                    let until = options[i].start.time + length[i];
                    (i as u64, Options { until, ..options[i].clone() })
                })
                .collect();
            if jobs.is_empty() {
                break;
            }
            let found = vec![Vec::new(); options.len()];
            let mut source =
                Jobs { waiting: jobs.into_iter(), done: Vec::new(), wall, found, goes_on, seconds };
            batch.run(&mut source);
            let (done, mut impacts) = (source.done, source.found);
            for (i, outcome) in done {
                let i = i as usize;
                let outcome = match outcome {
                    Err(error) => {
                        kept[i] = Some(Err(error.to_string()));
                        continue;
                    }
                    Ok(outcome) => outcome,
                };
                let mut crossings = std::mem::take(&mut impacts[i]);
                if let Section::Event(event) = section {
                    crossings =
                        outcome.events.iter().filter(|e| e.event == event).map(Crossing::of_event).collect();
                } else if let Some(wall) = wall {
                    crossings.extend(of_wall(&outcome.impacts, wall));
                }
                let whole = options[i].until - options[i].start.time;
                if crossings.len() >= needed {
                    kept[i] = Some(Ok(crossings.drain(self.skip..needed).collect()));
                } else if outcome.stop.time < options[i].start.time + length[i] {
                    let count = crossings.len();
                    kept[i] = Some(Err(format!("crossed {count} times, then {}", ended(&outcome))));
                } else if length[i] >= PATIENCE * whole {
                    let count = crossings.len();
                    let until = outcome.stop.time;
                    kept[i] = Some(Err(match count {
                        0 => format!("the section was never crossed until t = {until}"),
                        _ => format!("the section was crossed {count} times until t = {until}"),
                    }));
                } else {
                    let factor = 1.1 * needed as f64 / crossings.len().max(1) as f64;
                    length[i] = (length[i] * factor.clamp(1.5, 16.0)).min(PATIENCE * whole);
                }
            }
        }
        kept.into_iter().map(|k| k.unwrap_or_else(|| Err("interrupted".to_owned()))).collect()
    }
}

/// The value of a formula of parameters.
fn of_parameters(dag: &Dag, formula: Expr, model: &Model, values: &[f64]) -> f64 {
    dag.evaluate(formula, |s| {
        let at = model.parameters.iter().position(|p| dag.as_symbol(p.symbol) == Some(s));
        at.map_or(f64::NAN, |i| values[i])
    })
}

/// Why a motion ended before its time.
fn ended(outcome: &Outcome) -> String {
    let detail = outcome.stop.detail.as_ref().map_or_else(String::new, |d| format!(" ({d})"));
    format!("stopped at t = {}: {}{detail}", outcome.stop.time, outcome.stop.reason.name())
}

impl Crossing {
    fn of_event(e: &EventRecord) -> Crossing {
        Crossing { time: e.time, position: e.position.clone(), velocity: e.velocity.clone() }
    }
}

/// States just after impacts on a wall.
fn of_wall(impacts: &[Impact], wall: usize) -> impl Iterator<Item = Crossing> {
    impacts.iter().filter(move |i| i.walls.contains(&wall)).map(|i| Crossing {
        time: i.time,
        position: i.position.clone(),
        velocity: i.velocity_after.clone(),
    })
}

struct Jobs<'a> {
    waiting: std::vec::IntoIter<(u64, Options)>,
    done: Vec<(u64, Result<Outcome, SimulateError>)>,
    wall: Option<usize>,
    /// Impacts on that wall so far, per motion.
    found: Vec<Vec<Crossing>>,
    goes_on: &'a (dyn Fn() -> bool + Sync),
    seconds: &'a (dyn Fn() -> Option<f64> + Sync),
}

impl JobSource for Jobs<'_> {
    fn next(&mut self) -> Option<(u64, Options)> {
        self.waiting.next()
    }

    fn take(&mut self, index: u64, outcome: Result<Outcome, SimulateError>) {
        self.done.push((index, outcome));
    }

    fn impacts(&mut self, index: u64, impacts: &[Impact]) -> bool {
        if let Some(wall) = self.wall {
            self.found[index as usize].extend(of_wall(impacts, wall));
        }
        true
    }

    fn again(&mut self, index: u64) {
        if let Some(found) = self.found.get_mut(index as usize) {
            found.clear();
        }
    }

    fn seconds(&mut self) -> Option<f64> {
        (self.seconds)()
    }

    fn goes_on(&mut self) -> bool {
        (self.goes_on)()
    }
}

/// Two states closer than this part of all that was seen are one.
const SAME: f64 = 1e-3;

/// The attractor of each motion, numbered from 0 in the order found; `None` where it has no crossings. `starts` are the states that the
/// motions began with, as far as they are known.
///
/// A motion that repeats after p kept crossings is on a cycle, and two cycles are one if every point of the one is near a point
/// of the other. Near is measured by all that was seen, starts included: where everything comes to rest, what is left of the velocities
/// is no measure of them. All motions that do not repeat within what was kept and overlap in the box they fill by more than half are one
/// attractor too: that tells chaos here from chaos there, not two tangled sets apart.
pub fn attractors(kept: &[KeptCrossings], starts: &[Vec<Option<f64>>]) -> Vec<Option<usize>> {
    let state = |c: &Crossing| -> Vec<f64> { c.position.iter().chain(&c.velocity).copied().collect() };
    let mut low: Vec<f64> = Vec::new();
    let mut high: Vec<f64> = Vec::new();
    for x in kept.iter().flatten().flatten().map(state) {
        low.resize(x.len(), f64::INFINITY);
        high.resize(x.len(), f64::NEG_INFINITY);
        for (j, &x) in x.iter().enumerate() {
            (low[j], high[j]) = (low[j].min(x), high[j].max(x));
        }
    }
    for start in starts {
        for ((low, high), x) in low.iter_mut().zip(&mut high).zip(start) {
            (*low, *high) = x.map_or((*low, *high), |x| (low.min(x), high.max(x)));
        }
    }
    // What is left of a motion at rest is rounding, and not to be told apart.
    let largest = low.iter().chain(&high).fold(0.0f64, |m, x| m.max(x.abs()));
    let near = |a: &[f64], b: &[f64]| {
        a.iter().zip(b).enumerate().all(|(j, (a, b))| {
            let span = high[j] - low[j];
            (a - b).abs() <= (SAME * span).max(f64::EPSILON.sqrt() * largest)
        })
    };
    enum KnownAttractor {
        Cycle(Vec<Vec<f64>>),
        Cloud(Vec<f64>, Vec<f64>),
    }
    let mut known: Vec<KnownAttractor> = Vec::new();
    kept.iter()
        .map(|kept| {
            let points: Vec<Vec<f64>> = kept.as_ref().ok()?.iter().map(state).collect();
            let last = points.len().checked_sub(1)?;
            // Over the whole of what was kept, so that a cycle is not seen where it only passes by.
            let repeats = |p: usize| (0..points.len() - p).all(|i| near(&points[i], &points[i + p]));
            let period = (1..=points.len() / 2).find(|&p| repeats(p));
            let found = match period.or((last == 0).then_some(1)) {
                Some(p) => KnownAttractor::Cycle(points[points.len() - p..].to_vec()),
                None => {
                    let side = |f: fn(f64, f64) -> f64| {
                        points.iter().skip(1).fold(points[0].clone(), |mut m, x| {
                            m.iter_mut().zip(x).for_each(|(m, x)| *m = f(*m, *x));
                            m
                        })
                    };
                    KnownAttractor::Cloud(side(f64::min), side(f64::max))
                }
            };
            let same = |a: &KnownAttractor| match (a, &found) {
                (KnownAttractor::Cycle(a), KnownAttractor::Cycle(b)) => {
                    a.len() == b.len() && b.iter().all(|x| a.iter().any(|y| near(x, y)))
                }
                (KnownAttractor::Cloud(al, ah), KnownAttractor::Cloud(bl, bh)) => (0..al.len()).all(|j| {
                    let both = (ah[j].min(bh[j]) - al[j].max(bl[j])).max(0.0);
                    let either = ah[j].max(bh[j]) - al[j].min(bl[j]);
                    both >= 0.5 * either
                }),
                _ => false,
            };
            Some(known.iter().position(same).unwrap_or_else(|| {
                known.push(found);
                known.len() - 1
            }))
        })
        .collect()
}

/// Names of the values of a state, for tables: every coordinate, then every velocity.
pub fn state_names(mechanics: &Mechanics) -> Vec<String> {
    let names = || mechanics.model.coordinates.iter().map(|c| c.name.clone());
    names().chain(names().map(|n| format!("{n}'"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(points: &[f64]) -> KeptCrossings {
        Ok(points.iter().map(|&x| Crossing { time: 0.0, position: vec![x], velocity: vec![0.0] }).collect())
    }

    #[test]
    fn cycles_are_told_apart_by_their_points_and_their_length() {
        let kept = [
            at(&[1.0, 1.0, 1.0, 1.0]),
            at(&[-1.0, -1.0, -1.0, -1.0]),
            at(&[0.5, -0.5, 0.5, -0.5]),
            at(&[-0.5, 0.5, -0.5, 0.5]),
            at(&[1.0, 1.0, 1.0, 1.0 + 1e-9]),
            Err("stopped".to_owned()),
            at(&[0.0, 0.9, 0.3, 0.7]),
            at(&[0.8, 0.1, 0.6, 0.05]),
        ];
        assert_eq!(
            attractors(&kept, &[]),
            [Some(0), Some(1), Some(2), Some(2), Some(0), None, Some(3), Some(3)]
        );
        // Points that have not quite settled are one beside the range of their starts, and several beside each other.
        let kept = [at(&[1e-3; 2]), at(&[2e-3; 2]), at(&[3e-3; 2])];
        assert_eq!(attractors(&kept, &[]), [Some(0), Some(1), Some(2)]);
        let starts = [-4.0, 4.0].map(|x| vec![Some(x), None]);
        assert_eq!(attractors(&kept, &starts), [Some(0); 3]);
    }
}
