//! A shift of a thread: trajectories from the feed through a fleet, their rows back to it.

use super::record::Record;
use super::schedule::Feed;
use super::{Tally, Worker, journal};
use crate::interrupt;
use carom::run::{Columns, Fleet, Outcome, Traffic};
use carom::{Options, SimulateError};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What is counted of the rows.
pub type Rows<'f> = Feed<'f, Tally>;

/// Simulates what the feed gives. Interrupted, it leaves what is under way.
pub fn shift<'p>(worker: &Worker<'p>, fleet: &mut Fleet<'p>, feed: &mut Rows<'_>) {
    let columns = Columns::of(&worker.prepared.program);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let mut traffic = Shift { worker, columns: &columns, source: Source::Feed, inputs: Vec::new(), feed };
        fleet.run(&mut traffic);
    }));
    if outcome.is_ok() {
        return;
    }
    // The program itself failed at one of these. Alone, the others are themselves again; that one gets a row that says so.
    for index in feed.under_way() {
        let fleet = || Fleet::new(&worker.prepared.program, worker.choice.impacts);
        let alone = catch_unwind(AssertUnwindSafe(|| {
            let source = Source::One(Some(index));
            let mut traffic = Shift { worker, columns: &columns, source, inputs: Vec::new(), feed };
            fleet().run(&mut traffic);
        }));
        if alone.is_err() {
            deliver(feed, index, &Record::invalid("carom failed here: please report it".to_owned()));
        }
    }
    *fleet = Fleet::new(&worker.prepared.program, worker.choice.impacts);
}

fn deliver(feed: &mut Rows<'_>, index: u64, record: &Record) {
    let mut counted = Tally::default();
    counted.add(record);
    feed.deliver(index, journal::pack(record), counted);
}

enum Source {
    Feed,
    One(Option<u64>),
}

struct Shift<'a, 'p, 'f> {
    worker: &'a Worker<'p>,
    columns: &'a Columns,
    source: Source,
    inputs: Vec<f64>,
    feed: &'a mut Rows<'f>,
}

impl Traffic for Shift<'_, '_, '_> {
    fn next(&mut self) -> Option<(u64, Options)> {
        while !interrupt::interrupted() {
            let index = match &mut self.source {
                Source::Feed => self.feed.fetch()?,
                Source::One(index) => index.take()?,
            };
            match self.worker.options(index, &mut self.inputs) {
                Ok(options) => return Some((index, options)),
                Err(error) => deliver(self.feed, index, &Record::invalid(error)),
            }
        }
        None
    }

    fn take(&mut self, index: u64, outcome: Result<Outcome, SimulateError>) {
        let record = match outcome {
            Ok(outcome) => self.worker.choice.record(outcome, self.columns),
            Err(error) => Record::invalid(error.to_string()),
        };
        deliver(self.feed, index, &record);
    }

    fn goes_on(&mut self) -> bool {
        self.feed.tick();
        !interrupt::interrupted()
    }
}
