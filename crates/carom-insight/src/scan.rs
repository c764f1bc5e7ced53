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
use carom_expr::{Dag, Expr};
use carom_mech::{Mechanics, Physics};
use carom_run::{Batch, Columns, EventRecord, Impact, JobSource, Options, Outcome, Program, SimulateError};

/// Where motions are looked at.
#[derive(Clone, Debug)]
pub enum Section {
    /// Once every period.
    Period(Box<Period>),
    /// At this event of the model.
    Event(usize),
    /// Just after an impact on this wall.
    Wall(usize),
}

impl Section {
    /// The event or wall of this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn named(mechanics: &Mechanics, name: &str) -> Result<Section, Refusal> {
        let model = &mechanics.model;
        if let Some(event) = model.events.iter().position(|e| e.name == name) {
            return Ok(Section::Event(event));
        }
        if let Some(wall) = model.walls.iter().position(|w| w.name == name) {
            return Ok(Section::Wall(wall));
        }
        let names: Vec<&str> = model
            .events
            .iter()
            .map(|e| e.name.as_str())
            .chain(model.walls.iter().map(|w| w.name.as_str()))
            .collect();
        let hint = match (carom_expr::nearest(name, names.iter().copied()), names.is_empty()) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, true) => "add an event, such as [event.section] when = \"x'\", or use --period".to_owned(),
            (None, false) => format!("there are {}", names.join(", ")),
        };
        Err(Refusal::wrong(format!("there is no event or wall `{name}` to be a section"), hint))
    }
}

/// A period: a formula of the parameters, so that it follows when they are varied.
#[derive(Clone, Debug)]
pub struct Period {
    dag: Dag,
    formula: Expr,
    parameters: Vec<Expr>,
}

impl Period {
    /// Reads `2*pi/omega`.
    ///
    /// # Errors
    /// If it is no formula of the parameters of the model.
    pub fn read(mechanics: &Mechanics, text: &str) -> Result<Period, Refusal> {
        let model = &mechanics.model;
        let mut dag = model.dag.clone();
        let names: Vec<&str> = model.parameters.iter().map(|p| p.name.as_str()).collect();
        let mut unknown = None;
        let formula = carom_expr::parse(&mut dag, text, &mut |dag, name| {
            let found = model.parameters.iter().find(|p| p.name == name.text && name.primes == 0);
            Ok(found.map_or_else(
                || {
                    unknown.get_or_insert(name.text.to_owned());
                    dag.one()
                },
                |p| p.symbol,
            ))
        });
        let hint = "write a number or a formula of parameters, such as 2*pi/omega";
        let Ok(formula) = formula else {
            return Err(Refusal::wrong(format!("the period `{text}` is no formula"), hint));
        };
        if let Some(name) = unknown {
            let hint = carom_expr::nearest(&name, names.iter().copied())
                .map_or_else(|| hint.to_owned(), |near| format!("did you mean `{near}`?"));
            return Err(Refusal::wrong(format!("the period contains `{name}`, which is no parameter"), hint));
        }
        let parameters = model.parameters.iter().map(|p| p.symbol).collect();
        let period = Period { dag, formula, parameters };
        let values: Vec<f64> = model.parameters.iter().map(|p| p.value).collect();
        let value = period.value(&values);
        if !(value > 0.0 && value.is_finite()) {
            return Err(Refusal::wrong(
                format!("the period must be positive, and `{text}` is {value}"),
                hint,
            ));
        }
        Ok(period)
    }

    /// Its value for these parameters.
    pub fn value(&self, parameters: &[f64]) -> f64 {
        self.dag.evaluate(self.formula, |s| {
            let at = self.parameters.iter().position(|&p| self.dag.as_symbol(p) == Some(s));
            at.map_or(f64::NAN, |i| parameters[i])
        })
    }
}

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
    /// Where it is looked at.
    pub section: Section,
    /// So many crossings are left out, for the motion to settle.
    pub skip: usize,
    /// So many are kept.
    pub keep: usize,
}

/// A motion is run at most this many times longer than its model says before a section counts as not crossed.
const PATIENCE: f64 = 64.0;

/// Crossings of one motion, or why there are too few.
pub type Kept = Result<Vec<Crossing>, String>;

impl Scan {
    /// The kept crossings of motions with these options, in their order; `goes_on` is asked now and then, `seconds` is the
    /// processor time of this thread, if known.
    pub fn run(
        &self,
        program: &Program,
        options: &[Options],
        goes_on: &(dyn Fn() -> bool + Sync),
        seconds: &(dyn Fn() -> Option<f64> + Sync),
    ) -> Vec<Kept> {
        match &self.section {
            Section::Period(period) => self.strobe(program, period, options, goes_on, seconds),
            Section::Event(_) | Section::Wall(_) => self.cross(program, options, goes_on, seconds),
        }
    }

    fn strobe(
        &self,
        program: &Program,
        period: &Period,
        options: &[Options],
        goes_on: &(dyn Fn() -> bool + Sync),
        seconds: &(dyn Fn() -> Option<f64> + Sync),
    ) -> Vec<Kept> {
        let columns = Columns::of(program);
        let hamiltonian = matches!(program.mechanics().model.physics, Physics::Hamiltonian(_));
        let mut batch = Batch::new(program, false);
        let mut kept: Vec<Kept> = options.iter().map(|_| Ok(Vec::with_capacity(self.keep))).collect();
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
                let length = period.value(&o.parameters);
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
        options: &[Options],
        goes_on: &(dyn Fn() -> bool + Sync),
        seconds: &(dyn Fn() -> Option<f64> + Sync),
    ) -> Vec<Kept> {
        let needed = self.skip + self.keep;
        let wall = match self.section {
            Section::Wall(wall) => Some(wall),
            _ => None,
        };
        let mut batch = Batch::new(program, wall.is_some());
        let mut kept: Vec<Option<Kept>> = vec![None; options.len()];
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
                if let Section::Event(event) = self.section {
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

/// The attractor of each motion, numbered from 0 in the order found; `None` where it has no crossings.
///
/// A motion that repeats after p kept crossings is on a cycle, and two cycles are one if every point of the one is near a point
/// of the other. All motions that do not repeat within what was kept and overlap in the box they fill by more than half are one
/// attractor too: that tells chaos here from chaos there, not two tangled sets apart.
pub fn attractors(kept: &[Kept]) -> Vec<Option<usize>> {
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
    // What is left of a motion at rest is rounding, and not to be told apart.
    let largest = low.iter().chain(&high).fold(0.0f64, |m, x| m.max(x.abs()));
    let near = |a: &[f64], b: &[f64]| {
        a.iter().zip(b).enumerate().all(|(j, (a, b))| {
            let span = high[j] - low[j];
            (a - b).abs() <= (SAME * span).max(f64::EPSILON.sqrt() * largest)
        })
    };
    enum Known {
        Cycle(Vec<Vec<f64>>),
        Cloud(Vec<f64>, Vec<f64>),
    }
    let mut known: Vec<Known> = Vec::new();
    kept.iter()
        .map(|kept| {
            let points: Vec<Vec<f64>> = kept.as_ref().ok()?.iter().map(state).collect();
            let last = points.len().checked_sub(1)?;
            // Over the whole of what was kept, so that a cycle is not seen where it only passes by.
            let repeats = |p: usize| (0..points.len() - p).all(|i| near(&points[i], &points[i + p]));
            let period = (1..=points.len() / 2).find(|&p| repeats(p));
            let found = match period.or((last == 0).then_some(1)) {
                Some(p) => Known::Cycle(points[points.len() - p..].to_vec()),
                None => {
                    let side = |f: fn(f64, f64) -> f64| {
                        points.iter().skip(1).fold(points[0].clone(), |mut m, x| {
                            m.iter_mut().zip(x).for_each(|(m, x)| *m = f(*m, *x));
                            m
                        })
                    };
                    Known::Cloud(side(f64::min), side(f64::max))
                }
            };
            let same = |a: &Known| match (a, &found) {
                (Known::Cycle(a), Known::Cycle(b)) => {
                    a.len() == b.len() && b.iter().all(|x| a.iter().any(|y| near(x, y)))
                }
                (Known::Cloud(al, ah), Known::Cloud(bl, bh)) => (0..al.len()).all(|j| {
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

    fn at(points: &[f64]) -> Kept {
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
        assert_eq!(attractors(&kept), [Some(0), Some(1), Some(2), Some(2), Some(0), None, Some(3), Some(3)]);
    }
}
