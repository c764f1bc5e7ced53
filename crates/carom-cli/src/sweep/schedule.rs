//! Who simulates what: threads fetch trajectories one by one, deliver rows as they end, and one place receives them in input
//! order.
//!
//! ```text
//! thread 1   0  2  3  6 …   ┐  rows as they end     ┌───────────────┐   in order
//! thread 2   1  4  5  7 …   ┘ ───────────────────▶  │ kept back     │ ───────────▶  0 1 2 3 …
//!                                                    └───────────────┘
//! ```
//!
//! No thread waits for another, and none has a share of its own to finish: they end together. A thread works in shifts:
//! between two, it may choose anew how to work; it has to pause when what is kept back for an earlier row takes too much
//! room. Promise: what is received does not depend on the number of threads or their speed; memory is bounded.

use crate::failure::Failure;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Trajectories of a shift: enough to make its beginning and end cheap for those who work on several at once.
const SHIFT: u64 = 1 << 13;
/// Rows are delivered when there are so many …
const PARCEL: usize = 1 << 8;
/// … or when the first has waited so long: often enough for progress and journal.
const PATIENCE: Duration = Duration::from_millis(100);
/// No more rows wait for an earlier one …
const ROWS_AHEAD: u64 = 1 << 16;
/// … nor more bytes.
const BYTES_AHEAD: usize = 1 << 26;

/// A row on its way: as bytes, with what is counted of it.
pub struct FinishedRow<T> {
    pub index: u64,
    pub bytes: Vec<u8>,
    pub counted: T,
}

/// Simulates the trajectories `all` on `threads` threads and hands their rows to `receive`, several at a time, in order.
///
/// `work` fetches from its feed and delivers to it until there is nothing more to fetch. If it returns before that, or
/// without having delivered what it fetched, everything ends: no row is received beyond the first that is missing.
///
/// # Errors
/// What `receive` answers; nothing is handed to it afterwards.
pub fn run<T: Send>(
    all: Range<u64>,
    threads: usize,
    work: impl Fn(&mut Feed<'_, T>) + Sync,
    mut receive: impl FnMut(Vec<FinishedRow<T>>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let desk = Desk::new(&all);
    let (sender, receiver) = channel::<Vec<FinishedRow<T>>>();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, desk, work) = (sender.clone(), &desk, &work);
            scope.spawn(move || {
                // Should the work panic, nobody waits for its rows.
                let _closing = CloseOnPanic(desk);
                let mut feed =
                    Feed { desk, sender, left: 0, under_way: Vec::new(), parcel: Vec::new(), since: None };
                while desk.room() {
                    feed.left = SHIFT;
                    work(&mut feed);
                    feed.send();
                    // It gave up: something is not delivered, or more could have been fetched.
                    if feed.left > 0 || !feed.under_way.is_empty() {
                        desk.close();
                    }
                }
            });
        }
        drop(sender);
        let mut turn = all.start;
        let mut kept: VecDeque<Option<FinishedRow<T>>> = VecDeque::new();
        for parcel in receiver {
            for row in parcel {
                let at = (row.index - turn) as usize;
                if kept.len() <= at {
                    kept.resize_with(at + 1, || None);
                }
                kept[at] = Some(row);
            }
            let ready = kept.iter().take_while(|row| row.is_some()).count();
            let rows: Vec<FinishedRow<T>> = kept.drain(..ready).flatten().collect();
            if rows.is_empty() {
                continue;
            }
            turn += rows.len() as u64;
            desk.received(turn, rows.iter().map(|row| row.bytes.len()).sum());
            let outcome = receive(rows);
            if outcome.is_err() {
                desk.close();
                return outcome;
            }
        }
        Ok(())
    })
}

/// Where a thread fetches trajectories and delivers rows.
pub struct Feed<'a, T> {
    desk: &'a Desk,
    sender: Sender<Vec<FinishedRow<T>>>,
    /// How many more to fetch in this shift.
    left: u64,
    under_way: Vec<u64>,
    parcel: Vec<FinishedRow<T>>,
    /// When the first row of the parcel was delivered.
    since: Option<Instant>,
}

impl<T> Feed<'_, T> {
    /// The next trajectory; `None` at the end of the shift.
    pub fn fetch(&mut self) -> Option<u64> {
        let index = if self.left > 0 { self.desk.fetch() } else { None };
        self.left = if index.is_some() { self.left - 1 } else { 0 };
        self.under_way.extend(index);
        index
    }

    /// Takes the row of a trajectory that was fetched.
    pub fn deliver(&mut self, index: u64, bytes: Vec<u8>, counted: T) {
        self.under_way.retain(|i| *i != index);
        self.parcel.push(FinishedRow { index, bytes, counted });
        self.since.get_or_insert_with(Instant::now);
        if self.parcel.len() >= PARCEL {
            self.send();
        } else {
            self.tick();
        }
    }

    /// What was fetched and not delivered.
    pub fn under_way(&self) -> Vec<u64> {
        self.under_way.clone()
    }

    /// To be called now and then while nothing is delivered.
    pub fn tick(&mut self) {
        if self.since.is_some_and(|since| since.elapsed() >= PATIENCE) {
            self.send();
        }
    }

    fn send(&mut self) {
        self.since = None;
        if self.parcel.is_empty() {
            return;
        }
        let parcel = std::mem::take(&mut self.parcel);
        self.desk.kept(parcel.iter().map(|row| row.bytes.len()).sum());
        if self.sender.send(parcel).is_err() {
            self.desk.close();
        }
    }
}

/// Where all threads fetch their work.
struct Desk {
    state: Mutex<DeskState>,
    moved: Condvar,
}

struct DeskState {
    /// Trajectories not yet given out.
    left: Range<u64>,
    /// Rows received in order.
    received: u64,
    /// Bytes delivered and not yet received.
    bytes: usize,
}

impl DeskState {
    fn room(&self) -> bool {
        self.left.start < self.received + ROWS_AHEAD && self.bytes < BYTES_AHEAD
    }
}

impl Desk {
    fn new(all: &Range<u64>) -> Desk {
        let state = DeskState { left: all.clone(), received: all.start, bytes: 0 };
        Desk { state: Mutex::new(state), moved: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, DeskState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fetch(&self) -> Option<u64> {
        let mut state = self.lock();
        if state.room() { state.left.next() } else { None }
    }

    /// Waits until something can be fetched; answers whether there is anything.
    fn room(&self) -> bool {
        let mut state = self.lock();
        while !state.left.is_empty() && !state.room() {
            state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        !state.left.is_empty()
    }

    fn kept(&self, bytes: usize) {
        self.lock().bytes += bytes;
    }

    fn received(&self, turn: u64, bytes: usize) {
        let mut state = self.lock();
        state.received = turn;
        state.bytes -= bytes;
        self.moved.notify_all();
    }

    /// Gives out nothing more.
    fn close(&self) {
        let mut state = self.lock();
        state.left.start = state.left.end;
        self.moved.notify_all();
    }
}

/// Closes the desk should a thread panic.
struct CloseOnPanic<'a>(&'a Desk);

impl Drop for CloseOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Works on four at a time, delivers the last first, and gives up at `stop_at`.
    fn received(all: Range<u64>, threads: usize, stop_at: u64, bytes: usize) -> Vec<u64> {
        let mut rows = Vec::new();
        let work = |feed: &mut Feed<'_, u64>| {
            loop {
                let four: Vec<u64> = (0..4).map_while(|_| feed.fetch()).collect();
                if four.is_empty() || four.iter().any(|i| *i >= stop_at) {
                    return;
                }
                four.iter().rev().for_each(|i| feed.deliver(*i, vec![0; bytes], *i));
            }
        };
        let outcome = run(all, threads, work, |some| {
            rows.extend(some.iter().map(|row| row.counted));
            Ok(())
        });
        outcome.unwrap();
        rows
    }

    #[test]
    fn rows_arrive_in_order_whatever_the_threads() {
        for threads in [1, 2, 7] {
            for count in [0, 1, 15, 1023, 1025, 100_000] {
                assert!(received(5..5 + count, threads, u64::MAX, 1).into_iter().eq(5..5 + count));
            }
        }
    }

    #[test]
    fn what_is_given_up_ends_the_rows_before_it() {
        for threads in [1, 3] {
            let rows = received(0..30_000, threads, 12_345, 1);
            assert!(rows.len() <= 12_345 && rows.len() >= 12_341 - 4 * threads, "{}", rows.len());
            assert!(rows.iter().copied().eq(0..rows.len() as u64));
        }
    }

    #[test]
    fn who_fetches_nothing_ends_the_work() {
        assert!(run(0..10, 2, |_: &mut Feed<'_, ()>| {}, |_| Ok(())).is_ok());
    }

    #[test]
    fn heavy_rows_make_threads_pause_and_nothing_more() {
        assert!(received(0..3000, 3, u64::MAX, 1 << 17).into_iter().eq(0..3000));
    }

    #[test]
    fn one_slow_trajectory_holds_up_no_more_than_there_is_room_for() {
        let count = ROWS_AHEAD + 5000;
        let (gate, opened) = (Mutex::new(0u64), Condvar::new());
        let work = |feed: &mut Feed<'_, ()>| {
            while let Some(index) = feed.fetch() {
                if index == 0 {
                    // The others go on until there is no more room.
                    let mut others = gate.lock().unwrap();
                    while *others < ROWS_AHEAD - 1 {
                        others = opened.wait(others).unwrap();
                    }
                } else {
                    *gate.lock().unwrap() += 1;
                    opened.notify_all();
                }
                feed.deliver(index, Vec::new(), ());
            }
        };
        let mut rows = 0;
        let outcome = run(0..count, 2, work, |some| {
            rows += some.len() as u64;
            Ok(())
        });
        assert!(outcome.is_ok() && rows == count);
    }

    #[test]
    fn a_failure_to_receive_ends_the_work() {
        let mut times = 0;
        let work = |feed: &mut Feed<'_, ()>| {
            while let Some(index) = feed.fetch() {
                feed.deliver(index, Vec::new(), ());
            }
        };
        let outcome = run(0..1_000_000, 2, work, |_| {
            times += 1;
            if times == 3 { Err(Failure::wrong("full")) } else { Ok(()) }
        });
        assert!(outcome.is_err());
        assert_eq!(times, 3);
    }
}
