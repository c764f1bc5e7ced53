//! What a row holds besides its inputs and its final state: outputs and events, all or some of them.

use super::record::{Fired, Occurrence, Record};
use crate::failure::Failure;
use crate::load::suggestion;
use carom_mech::Model;
use carom_run::{Columns, Outcome};
use carom_show::table::momentum_column;

/// The outputs and events of a sweep's rows.
pub struct Choice {
    /// Names of the columns and where their values come from.
    pub outputs: Vec<(String, FinalValue)>,
    /// Indices of the events.
    pub events: Vec<usize>,
    /// Keep every impact?
    pub impacts: bool,
    /// Keep every firing of the chosen events?
    pub firings: bool,
}

/// Where the final value of an output comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FinalValue {
    Output(usize),
    Momentum(usize),
    Hamiltonian,
    Energy,
    Multiplier(usize),
    ContactForce(usize),
    DrivingForce(usize),
    Gap(usize),
}

impl Choice {
    /// Resolves the names of `--columns` (all outputs if there are none) and `--events`.
    ///
    /// # Errors
    /// If a name is unknown.
    pub fn new(model: &Model, columns: Option<&str>, events: Option<&str>) -> Result<Choice, Failure> {
        let sources = sources(model);
        let mut problems = Vec::new();
        let outputs = match columns {
            None => sources[..model.outputs.len()].to_vec(),
            Some(columns) => {
                let mut chosen = Vec::new();
                for name in names(columns) {
                    match sources.iter().find(|(known, _)| *known == name) {
                        Some(found) if chosen.contains(found) => {}
                        Some(found) => chosen.push(found.clone()),
                        None if always(model, &name) => {}
                        None => {
                            let known: Vec<&str> = sources.iter().map(|(name, _)| name.as_str()).collect();
                            problems.push(unknown("column", &name, &known));
                        }
                    }
                }
                chosen
            }
        };
        let known: Vec<&str> = model.events.iter().map(|e| e.name.as_str()).collect();
        let mut chosen = Vec::new();
        for name in names(events.unwrap_or_default()) {
            match known.iter().position(|known| *known == name) {
                Some(e) if chosen.contains(&e) => {}
                Some(e) => chosen.push(e),
                None => problems.push(unknown("event", &name, &known)),
            }
        }
        if !problems.is_empty() {
            return Err(Failure::wrong(problems.join("\n")));
        }
        Ok(Choice { outputs, events: chosen, impacts: false, firings: false })
    }

    /// The row of a trajectory.
    pub fn record(&self, outcome: Outcome, columns: &Columns) -> Record {
        let state = [&columns.position, &columns.velocity];
        let count = state.iter().map(|range| range.len()).sum::<usize>() + self.outputs.len();
        let mut numbers = Vec::with_capacity(count);
        state.iter().for_each(|range| numbers.extend_from_slice(&outcome.values[(*range).clone()]));
        numbers.extend(self.outputs.iter().map(|(_, source)| outcome.values[source.place(columns)]));
        let mut record = Record {
            stop: Some(outcome.stop.reason),
            time: outcome.stop.time,
            impacts: outcome.impact_count,
            numbers,
            hamiltonian_drift: outcome.hamiltonian_drift,
            error: outcome.stop.detail.filter(|_| !outcome.stop.reason.is_complete()).unwrap_or_default(),
            ..Record::default()
        };
        for warning in outcome.warnings {
            if record.warnings.iter().all(|known| kind(known) != kind(&warning)) {
                record.warnings.push(warning);
            }
        }
        for &event in &self.events {
            let mut times = outcome.events.iter().filter(|e| e.event == event).map(|e| e.time);
            let first = times.next();
            let count = times.clone().count() as u64 + u64::from(first.is_some());
            let last = times.next_back().or(first).unwrap_or(f64::NAN);
            record.fired.push(Fired { count, first: first.unwrap_or(f64::NAN), last });
        }
        if self.firings {
            for event in outcome.events.iter().filter(|e| self.events.contains(&e.event)) {
                let state = event.position.iter().chain(&event.velocity).copied().collect();
                let what = event.event as u32;
                record.occurrences.push(Occurrence { time: event.time, what, impulse: f64::NAN, state });
            }
        }
        record
    }
}

/// Warnings that differ only from their first number on are of one kind.
pub fn kind(warning: &str) -> &str {
    warning.split(|c: char| c.is_ascii_digit()).next().unwrap_or_default()
}

/// Everything a column can be made of, by its name in the table of a run; the outputs first.
fn sources(model: &Model) -> Vec<(String, FinalValue)> {
    let mut all: Vec<(String, FinalValue)> = Vec::new();
    all.extend(model.outputs.iter().enumerate().map(|(i, o)| (o.name.clone(), FinalValue::Output(i))));
    let coordinates = model.coordinates.iter().enumerate();
    all.extend(coordinates.map(|(i, c)| (momentum_column(c), FinalValue::Momentum(i))));
    all.push(("hamiltonian".to_owned(), FinalValue::Hamiltonian));
    all.push(("energy".to_owned(), FinalValue::Energy));
    all.extend(
        model.rows.iter().enumerate().map(|(i, r)| (format!("mu.{}", r.name), FinalValue::Multiplier(i))),
    );
    let walls = || model.walls.iter().enumerate();
    all.extend(walls().map(|(i, w)| (format!("f.{}", w.name), FinalValue::ContactForce(i))));
    let driven = model.coordinates.iter().filter(|c| c.driven.is_some()).enumerate();
    all.extend(driven.map(|(i, c)| (format!("drive.{}", c.name), FinalValue::DrivingForce(i))));
    all.extend(walls().map(|(i, w)| (format!("gap.{}", w.name), FinalValue::Gap(i))));
    all
}

/// Is this in every row anyway?
fn always(model: &Model, name: &str) -> bool {
    let state = model.coordinates.iter().any(|c| name.strip_suffix('\'').unwrap_or(name) == c.name);
    state || ["stop", "time", "impacts", "hamiltonian_drift", "error"].contains(&name)
}

impl FinalValue {
    /// Where it is among the values of an outcome.
    fn place(self, columns: &Columns) -> usize {
        match self {
            FinalValue::Output(i) => columns.output.start + i,
            FinalValue::Momentum(i) => columns.momentum.start + i,
            FinalValue::Hamiltonian => columns.hamiltonian,
            FinalValue::Energy => columns.energy,
            FinalValue::Multiplier(i) => columns.multiplier.start + i,
            FinalValue::ContactForce(i) => columns.contact_force.start + i,
            FinalValue::DrivingForce(i) => columns.driving_force.start + i,
            FinalValue::Gap(i) => columns.gap.start + i,
        }
    }
}

fn names(list: &str) -> impl Iterator<Item = String> {
    list.split(',').map(|name| name.trim().replace(['′', '’'], "'")).filter(|name| !name.is_empty())
}

fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    let hint = match suggestion(name, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => format!("the model has no {what}s"),
        None => format!("there are {}", known.join(", ")),
    };
    format!("unknown {what} `{name}`\n  hint: {hint}")
}
