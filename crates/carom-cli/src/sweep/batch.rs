//! A batch of trajectories through a fleet: options in, rows out, in order.

use super::Worker;
use super::record::Record;
use crate::interrupt;
use carom::run::{Columns, Fleet, Outcome, Traffic};
use carom::{Options, SimulateError};
use std::ops::Range;

/// What is under way of a batch.
struct Batch<'a, 'p> {
    worker: &'a Worker<'p>,
    columns: Columns,
    left: Range<u64>,
    first: u64,
    inputs: Vec<f64>,
    rows: Vec<Option<Record>>,
}

/// Simulates consecutive trajectories. Interrupted, it returns the rows before the first that was cut short.
pub fn run<'p>(worker: &Worker<'p>, fleet: &mut Fleet<'p>, range: Range<u64>) -> Vec<Record> {
    let count = usize::try_from(range.end - range.start).unwrap_or(0);
    let mut batch = Batch {
        worker,
        columns: Columns::of(&worker.prepared.program),
        first: range.start,
        left: range,
        inputs: Vec::new(),
        rows: (0..count).map(|_| None).collect(),
    };
    fleet.run(&mut batch);
    batch.rows.into_iter().map_while(|row| row).collect()
}

impl Batch<'_, '_> {
    fn put(&mut self, index: u64, record: Record) {
        if let Some(row) = self.rows.get_mut((index - self.first) as usize) {
            *row = Some(record);
        }
    }
}

impl Traffic for Batch<'_, '_> {
    fn next(&mut self) -> Option<(u64, Options)> {
        if interrupt::interrupted() {
            return None;
        }
        loop {
            let index = self.left.next()?;
            match self.worker.options(index, &mut self.inputs) {
                Ok(options) => return Some((index, options)),
                Err(error) => self.put(index, Record::invalid(error)),
            }
        }
    }

    fn take(&mut self, index: u64, outcome: Result<Outcome, SimulateError>) {
        let record = match outcome {
            Ok(outcome) => self.worker.choice.record(outcome, &self.columns),
            Err(error) => Record::invalid(error.to_string()),
        };
        self.put(index, record);
    }

    fn goes_on(&mut self) -> bool {
        !interrupt::interrupted()
    }
}
