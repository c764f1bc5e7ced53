//! Samples: exact times, the state after at an impact, every quantity evaluated at the state itself.

use crate::motion::{Motion, Signal};
use crate::run::Run;
use carom_jet::{Flow, Time};
use std::ops::Range;

/// The times still to come and the values taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sampler {
    /// Requested times, ascending, each with its place in the request.
    times: Vec<(f64, usize)>,
    next: usize,
    /// One row per sample taken.
    rows: Vec<(usize, f64, Vec<f64>)>,
    names: Vec<(ColumnKind, String)>,
}

/// Which list of a motion a column belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ColumnKind {
    Position,
    Velocity,
    Momentum,
    Hamiltonian,
    Energy,
    Output,
    Driving,
    Gap,
    Multiplier,
    Contact,
}

impl Sampler {
    pub fn new(names: Vec<(ColumnKind, String)>) -> Sampler {
        Sampler { names, ..Sampler::default() }
    }

    /// Nothing taken yet, these times to come.
    pub fn restart(&mut self, requested: &[f64]) {
        self.times.clear();
        self.times.extend(requested.iter().copied().enumerate().map(|(i, t)| (t, i)));
        self.times.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.next = 0;
        self.rows.clear();
    }

    /// Writes the columns, in the order the times were requested.
    pub fn deliver(&mut self, motion: &mut Motion) {
        self.rows.sort_by_key(|r| r.0);
        motion.time = self.rows.iter().map(|r| r.1).collect();
        for (column, (kind, name)) in self.names.iter().enumerate() {
            let values: Vec<f64> = self.rows.iter().map(|r| r.2[column]).collect();
            let list = match kind {
                ColumnKind::Position => &mut motion.position,
                ColumnKind::Velocity => &mut motion.velocity,
                ColumnKind::Momentum => &mut motion.momentum,
                ColumnKind::Hamiltonian => {
                    motion.hamiltonian = values;
                    continue;
                }
                ColumnKind::Energy => {
                    motion.energy = values;
                    continue;
                }
                ColumnKind::Output => &mut motion.output,
                ColumnKind::Driving => &mut motion.driving_force,
                ColumnKind::Gap => &mut motion.gap,
                ColumnKind::Multiplier => &mut motion.multiplier,
                ColumnKind::Contact => &mut motion.contact_force,
            };
            list.push(Signal { name: name.clone(), values });
        }
    }
}

/// Where the columns of a sample are, each list in model order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Columns {
    /// Every coordinate.
    pub position: Range<usize>,
    /// Their rates.
    pub velocity: Range<usize>,
    /// Their momenta.
    pub momentum: Range<usize>,
    /// E
    pub hamiltonian: usize,
    /// T + V
    pub energy: usize,
    /// User outputs.
    pub output: Range<usize>,
    /// Per driven coordinate.
    pub driving_force: Range<usize>,
    /// φ per wall.
    pub gap: Range<usize>,
    /// μ per constraint row.
    pub multiplier: Range<usize>,
    /// f per wall.
    pub contact_force: Range<usize>,
}

impl Columns {
    /// The columns of a program's samples.
    pub fn of(program: &crate::program::Program) -> Columns {
        let m = &program.mechanics;
        let mut end = 0;
        let mut next = |count: usize| {
            end += count;
            end - count..end
        };
        let (count, walls) = (m.model.coordinates.len(), m.walls.len());
        Columns {
            position: next(count),
            velocity: next(count),
            momentum: next(count),
            hamiltonian: next(1).start,
            energy: next(1).start,
            output: next(m.outputs.len()),
            driving_force: next(m.drives.len()),
            gap: next(walls),
            multiplier: next(m.rows.len()),
            contact_force: next(walls),
        }
    }
}

/// Names of the columns of a sample, in the order of `Program::outputs`, then multipliers and contact forces.
pub(crate) fn columns(program: &crate::program::Program) -> Vec<(ColumnKind, String)> {
    let m = &program.mechanics;
    let coordinates = &m.model.coordinates;
    let mut names: Vec<(ColumnKind, String)> = Vec::new();
    names.extend(coordinates.iter().map(|c| (ColumnKind::Position, c.name.clone())));
    names.extend(coordinates.iter().map(|c| (ColumnKind::Velocity, c.name.clone())));
    names.extend(coordinates.iter().map(|c| (ColumnKind::Momentum, c.momentum_name.clone())));
    names.push((ColumnKind::Hamiltonian, String::new()));
    names.push((ColumnKind::Energy, String::new()));
    names.extend(m.model.outputs.iter().map(|o| (ColumnKind::Output, o.name.clone())));
    names.extend(m.drives.iter().map(|d| (ColumnKind::Driving, coordinates[d.coordinate].name.clone())));
    names.extend(m.walls.iter().map(|w| (ColumnKind::Gap, w.name.clone())));
    names.extend(m.rows.iter().map(|r| (ColumnKind::Multiplier, r.name.clone())));
    names.extend(m.walls.iter().map(|w| (ColumnKind::Contact, w.name.clone())));
    names
}

/// What holds the motion at a state.
struct Reactions {
    /// The acceleration without velocity bias.
    x: Vec<f64>,
    /// v̇ or ṗ, where the series know better.
    rates: Option<Vec<f64>>,
    multipliers: Vec<f64>,
    forces: Vec<f64>,
}

impl Run<'_> {
    /// Takes the samples in [t, t + h) along the series of the present step, those before `jump` if something happens there.
    pub fn sample_until(&mut self, h: f64, jump: Option<f64>) {
        loop {
            let Some(&(t, place)) = self.recorder.sampler.times.get(self.recorder.sampler.next) else {
                return;
            };
            let s = self.stepper.in_units(Time::new(t).minus(self.now.time));
            if s >= h || jump.is_some_and(|jump| t >= jump) {
                return;
            }
            self.recorder.sampler.next += 1;
            let mut state = self.now.state.clone();
            if s > 0.0 {
                self.leg.state_within(s, &mut state);
            }
            self.sample_variation(place, Some(s));
            self.record_sample(place, Time::new(t), &state, false);
            self.take(Time::new(t), place, state, s);
        }
    }

    /// At the end: samples at the very time reached.
    pub fn sample_last(&mut self) {
        while let Some(&(t, place)) = self.recorder.sampler.times.get(self.recorder.sampler.next) {
            if t > self.now.time.value() {
                return;
            }
            self.recorder.sampler.next += 1;
            let state = self.now.state.clone();
            self.sample_variation(place, None);
            self.record_sample(place, Time::new(t), &state, true);
            self.take(Time::new(t), place, state, self.stepper.last_step);
        }
    }

    /// Everything at a state, s into the present step.
    fn take(&mut self, time: Time, place: usize, state: Vec<f64>, s: f64) {
        let values = self.sampled(time, &state, |run| run.across_at(s));
        self.recorder.sampler.rows.push((place, time.value(), values));
    }

    /// Every column of a sample at a state, in the order of [`Columns`]. `across`: within a step across rank loss, ẋ there
    /// and whether multipliers have a pole too near.
    pub fn sampled(
        &mut self,
        time: Time,
        state: &[f64],
        across: impl FnOnce(&Self) -> Option<(Vec<f64>, bool)>,
    ) -> Vec<f64> {
        self.frame.at(time, state);
        let closed = self.contact.closed();
        let across = across(self);
        let reactions = self.reactions_within(&closed, across);
        self.shown_at(time, state, &reactions, &closed)
    }

    /// Every column of a sample at the present state, in the order of [`Columns`].
    pub fn shown_now(&mut self) -> Vec<f64> {
        let closed = self.contact.closed();
        let state = self.now.state.clone();
        if closed.is_empty() && !self.program.shows_accelerations {
            let none = vec![0.0; self.size()];
            let nothing = Reactions { x: none, rates: None, multipliers: Vec::new(), forces: Vec::new() };
            return self.shown_at(self.now.time, &state, &nothing, &[]);
        }
        self.evaluate_frame();
        let reactions = self.reactions_within(&closed, self.across_at(self.stepper.last_step));
        self.shown_at(self.now.time, &state, &reactions, &closed)
    }

    /// The state now, as results show it.
    pub fn end(&mut self) -> crate::motion::End {
        let columns = Columns::of(self.program);
        let values = self.shown_now();
        let part = |range: Range<usize>| values.get(range).map(<[f64]>::to_vec).unwrap_or_default();
        crate::motion::End {
            position: part(columns.position),
            velocity: part(columns.velocity),
            output: part(columns.output),
        }
    }

    /// As [`Run::reactions`]; in a step across rank loss rates come from the series, and μ and f are not numbers where they
    /// have a pole.
    fn reactions_within(&self, closed: &[usize], across: Option<(Vec<f64>, bool)>) -> Reactions {
        let (x, mut multipliers, mut forces) = self.reactions(closed);
        let Some((rates, pole)) = across else {
            return Reactions { x, rates: None, multipliers, forces };
        };
        if pole {
            multipliers.fill(f64::NAN);
            forces.fill(f64::NAN);
        }
        let x = if self.is_hamiltonian() { self.frame.mass().times(&rates) } else { rates.clone() };
        Reactions { x, rates: Some(rates), multipliers, forces }
    }

    fn shown_at(&mut self, time: Time, state: &[f64], reactions: &Reactions, closed: &[usize]) -> Vec<f64> {
        let Reactions { x, rates, multipliers, forces } = reactions;
        let mut extended = state.to_vec();
        if self.is_hamiltonian() {
            // a = H_pp ṗ + bias; ṗ = F + Aᵀμ + Σ f n
            extended.extend(x.iter().zip(self.frame.velocity_bias()).map(|(x, b)| x + b));
            let rate = rates.clone().unwrap_or_else(|| {
                let mut rate = self.frame.rows().transposed_times(multipliers);
                rate.iter_mut().zip(self.frame.force()).for_each(|(r, f)| *r += f);
                for (&w, &f) in closed.iter().zip(forces) {
                    rate.iter_mut().zip(self.frame.normal(w)).for_each(|(r, n)| *r += f * n);
                }
                rate
            });
            extended.extend(rate);
        } else {
            extended.extend(x);
        }
        let _ = self.recorder.outputs.evaluate(time, &extended);
        let count = self.recorder.outputs.tape().watched_count();
        let mut values: Vec<f64> = (0..count).map(|i| self.recorder.outputs.watched(i)[0]).collect();
        let m = &self.program.mechanics;
        let drives_at = 3 * m.model.coordinates.len() + 2 + m.outputs.len();
        let pushing: Vec<(usize, f64)> = closed.iter().copied().zip(forces.iter().copied()).collect();
        for k in 0..m.drives.len() {
            values[drives_at + k] -= self.frame.drive_reaction(k, multipliers, &pushing);
        }
        values.extend(multipliers);
        let mut all = vec![0.0; self.contact.walls.len()];
        pushing.iter().for_each(|&(w, f)| all[w] = f);
        values.extend(all);
        values
    }

    /// Positions of all coordinates at the present state.
    pub fn all_positions(&mut self) -> Vec<f64> {
        self.part_of_outputs(0)
    }

    /// Velocities of all coordinates at the present state.
    pub fn all_velocities(&mut self) -> Vec<f64> {
        self.part_of_outputs(1)
    }

    fn part_of_outputs(&mut self, part: usize) -> Vec<f64> {
        let mut extended = self.now.state.clone();
        extended.resize(self.recorder.outputs.tape().dimension(), 0.0);
        let _ = self.recorder.outputs.evaluate(self.now.time, &extended);
        let count = self.program.mechanics.model.coordinates.len();
        (part * count..(part + 1) * count).map(|i| read(&self.recorder.outputs, i)).collect()
    }
}

fn read(flow: &Flow, i: usize) -> f64 {
    flow.watched(i)[0]
}
