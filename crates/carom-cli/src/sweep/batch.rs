//! A shift of a thread: trajectories from the feed through a batch, their rows back to it.

use super::pages::{PackedPages, Pages};
use super::record::Record;
use super::schedule::Feed;
use super::{Worker, journal};
use carom_run::{Batch, Columns, Impact, JobSource, Outcome};
use carom_run::{Options, SimulateError};
use cpu_time::ThreadTime;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Bytes that a row of a few numbers takes.
const USUAL_ROW: usize = 192;

/// What goes with a row.
pub struct Extra {
    /// How the trajectory ended, how many impacts it had, what it warns of.
    pub stop: &'static str,
    pub impacts: u64,
    pub warnings: Vec<String>,
    /// Pages of the journal that come before it.
    pub pages: Option<File>,
}

/// Where rows go.
pub type RowFeed<'f> = Feed<'f, Extra>;

/// Simulates what the feed gives. Interrupted, it leaves what is under way.
pub fn shift<'p>(worker: &Worker<'p>, batch: &mut Batch<'p>, feed: &mut RowFeed<'_>) {
    let columns = Columns::of(&worker.prepared.program);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        batch.run(&mut Shift::new(worker, &columns, IndexSource::Feed, feed));
    }));
    if outcome.is_ok() {
        return;
    }
    // The program itself failed at one of these. Alone, the others are themselves again; that one gets a row that says so.
    for index in feed.under_way() {
        let batch = || Batch::new(&worker.prepared.program, worker.choice.impacts);
        let alone = catch_unwind(AssertUnwindSafe(|| {
            batch().run(&mut Shift::new(worker, &columns, IndexSource::One(Some(index)), feed));
        }));
        if alone.is_err() {
            let record = Record::invalid("carom failed here: please report it".to_owned());
            deliver(feed, worker.first, index, record, PackedPages::default());
        }
    }
    *batch = Batch::new(&worker.prepared.program, worker.choice.impacts);
}

/// Delivers a record after the pages that belong to it.
fn deliver(feed: &mut RowFeed<'_>, first: u64, index: u64, record: Record, pages: PackedPages) {
    let PackedPages { file, mut bytes, count } = pages;
    bytes.reserve(USUAL_ROW);
    // A journal counts from its own beginning.
    journal::pack(&record, index - first, count, &mut bytes);
    let (stop, impacts) = (record.stop_name(), record.impacts);
    feed.deliver(index, bytes, Extra { stop, impacts, warnings: record.warnings, pages: file });
}

enum IndexSource {
    Feed,
    One(Option<u64>),
}

struct Shift<'a, 'p, 'f> {
    worker: &'a Worker<'p>,
    columns: &'a Columns,
    source: IndexSource,
    inputs: Vec<f64>,
    pages: Pages,
    feed: &'a mut RowFeed<'f>,
}

impl<'a, 'p, 'f> Shift<'a, 'p, 'f> {
    fn new(
        worker: &'a Worker<'p>,
        columns: &'a Columns,
        source: IndexSource,
        feed: &'a mut RowFeed<'f>,
    ) -> Shift<'a, 'p, 'f> {
        Shift { worker, columns, source, inputs: Vec::new(), pages: Pages::default(), feed }
    }
}

impl JobSource for Shift<'_, '_, '_> {
    fn next(&mut self) -> Option<(u64, Options)> {
        while (self.worker.go_on)() {
            let index = match &mut self.source {
                IndexSource::Feed => self.feed.fetch()?,
                IndexSource::One(index) => index.take()?,
            };
            match self.worker.options(index, &mut self.inputs) {
                Ok(options) => return Some((index, options)),
                Err(error) => {
                    let record = Record::invalid(error);
                    deliver(self.feed, self.worker.first, index, record, PackedPages::default());
                }
            }
        }
        None
    }

    fn take(&mut self, index: u64, outcome: Result<Outcome, SimulateError>) {
        if let Ok(outcome) = &outcome
            && !outcome.impacts.is_empty()
        {
            self.pages.add(index - self.worker.first, &outcome.impacts, &self.worker.folder);
        }
        let record = match outcome {
            Ok(outcome) => self.worker.choice.record(outcome, self.columns),
            Err(error) => Record::invalid(error.to_string()),
        };
        let first = self.worker.first;
        let pages = self.pages.take(index - first);
        deliver(self.feed, first, index, record, pages);
    }

    fn impacts(&mut self, index: u64, impacts: &[Impact]) -> bool {
        self.pages.add(index - self.worker.first, impacts, &self.worker.folder);
        true
    }

    fn again(&mut self, index: u64) {
        self.pages.forget(index - self.worker.first);
    }

    fn seconds(&mut self) -> Option<f64> {
        ThreadTime::try_now().ok().map(|now| now.as_duration().as_secs_f64())
    }

    fn goes_on(&mut self) -> bool {
        self.feed.tick();
        (self.worker.go_on)()
    }
}
