//! Who simulates what: threads take batches of consecutive trajectories as they become free; one place receives the rows
//! in input order.
//!
//! ```text
//! thread 1   [0 …)        [48 …)            ┐
//! thread 2        [16 …)        [144 …)     ┘──▶  0 … 16 … 48 … 144 …   (kept back until it is their turn)
//! ```
//!
//! No thread waits for another at the end of a batch. A batch is as long as a fixed time allows, so that rows reach the
//! disk often however dear or cheap a trajectory is, and shorter towards the end, so that all threads end together.
//! Promise: what is received does not depend on the number of threads or their speed; memory is bounded.

use crate::failure::Failure;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::mpsc::channel;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A batch should take about this long: often enough for progress, journal and Ctrl-C.
const BATCH_SECONDS: f64 = 0.1;
/// No batch is longer: it must fit in memory a few times.
const LARGEST_BATCH: u64 = 1 << 13;
/// Nor shorter while there is enough left: trajectories are simulated side by side.
const SMALLEST_BATCH: u64 = 16;
/// A batch is at most so many times longer than the one before: one measurement is not trusted with everything.
const GROWTH: f64 = 8.0;
/// Most batches per thread that wait for an earlier one.
const AHEAD: u64 = 16;

/// Simulates the trajectories of `all`, in batches on `threads` threads, and hands their rows to `receive` in order.
///
/// `simulate` returns what it made of its batch and how many trajectories that are; fewer than asked for end everything
/// after them.
///
/// # Errors
/// What `receive` answers; nothing is handed to it afterwards.
pub fn run<T: Send>(
    all: Range<u64>,
    threads: usize,
    simulate: impl Fn(Range<u64>) -> (T, u64) + Sync,
    mut receive: impl FnMut(T, u64) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let desk = Desk::new(all, threads);
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, desk, simulate) = (sender.clone(), &desk, &simulate);
            scope.spawn(move || {
                // Should a simulation panic, nobody waits for its rows.
                let _closing = Closing(desk);
                while let Some((number, range)) = desk.take() {
                    let asked = range.end - range.start;
                    let begin = Instant::now();
                    let (rows, count) = simulate(range);
                    desk.learn(asked, begin.elapsed().as_secs_f64());
                    if count < asked {
                        desk.close();
                    }
                    if sender.send((number, rows, count, count < asked)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let mut turn = 0;
        for (number, rows, count, cut) in receiver {
            early.insert(number, (rows, count, cut));
            while let Some((rows, count, cut)) = early.remove(&turn) {
                let outcome = receive(rows, count);
                if outcome.is_err() || cut {
                    desk.close();
                    return outcome;
                }
                turn += 1;
                desk.received(turn);
            }
        }
        Ok(())
    })
}

/// Where threads fetch their work.
struct Desk {
    threads: u64,
    state: Mutex<State>,
    moved: Condvar,
}

struct State {
    /// Trajectories not yet given out.
    left: Range<u64>,
    /// Batches given out.
    number: u64,
    /// Batches received in order.
    received: u64,
    /// Length of the next batch, as far as it is for time to decide.
    length: f64,
}

impl Desk {
    fn new(all: Range<u64>, threads: usize) -> Desk {
        let state = State { left: all, number: 0, received: 0, length: SMALLEST_BATCH as f64 };
        Desk { threads: threads.max(1) as u64, state: Mutex::new(state), moved: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next batch and its number; waits while too many wait for an earlier one.
    fn take(&self) -> Option<(u64, Range<u64>)> {
        let mut state = self.lock();
        while !state.left.is_empty() && state.number >= state.received + AHEAD * self.threads {
            state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let left = state.left.end - state.left.start;
        if left == 0 {
            return None;
        }
        let fair = left.div_ceil(self.threads);
        let last = (left / (2 * self.threads)).max(SMALLEST_BATCH);
        let length = (state.length as u64).clamp(1, LARGEST_BATCH).min(last).min(fair);
        let range = state.left.start..state.left.start + length;
        state.left.start += length;
        state.number += 1;
        Some((state.number - 1, range))
    }

    /// A batch of this length took so many seconds.
    fn learn(&self, length: u64, seconds: f64) {
        let mut state = self.lock();
        let wanted = length as f64 * BATCH_SECONDS / seconds.max(1e-9);
        state.length = wanted.min(GROWTH * length as f64).clamp(1.0, LARGEST_BATCH as f64);
    }

    fn received(&self, batches: u64) {
        self.lock().received = batches;
        self.moved.notify_all();
    }

    /// Gives out nothing more.
    fn close(&self) {
        let mut state = self.lock();
        state.left.start = state.left.end;
        self.moved.notify_all();
    }
}

/// Closes the desk when a thread ends, whichever way.
struct Closing<'a>(&'a Desk);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn received(all: Range<u64>, threads: usize, stop_at: u64) -> Vec<u64> {
        let mut rows = Vec::new();
        let simulate = |range: Range<u64>| {
            // Uneven work, so that batches overtake each other.
            if range.start.is_multiple_of(3) {
                std::thread::sleep(Duration::from_micros(300));
            }
            let batch: Vec<u64> = range.filter(|i| *i < stop_at).collect();
            let count = batch.len() as u64;
            (batch, count)
        };
        let outcome = run(all, threads, simulate, |batch: Vec<u64>, count| {
            assert_eq!(batch.len() as u64, count);
            rows.extend(batch);
            Ok(())
        });
        outcome.unwrap();
        rows
    }

    #[test]
    fn rows_arrive_in_order_whatever_the_threads() {
        for threads in [1, 2, 7] {
            for count in [0, 1, 15, 16, 17, 1000, 40_000] {
                assert!(received(5..5 + count, threads, u64::MAX).into_iter().eq(5..5 + count));
            }
        }
    }

    #[test]
    fn a_batch_cut_short_is_the_last() {
        for threads in [1, 3] {
            assert!(received(0..30_000, threads, 12_345).into_iter().eq(0..12_345));
        }
    }

    #[test]
    fn a_failure_to_receive_ends_the_work() {
        let mut times = 0;
        let outcome = run(
            0..1_000_000,
            2,
            |range| ((), range.end - range.start),
            |(), _| {
                times += 1;
                if times == 3 { Err(Failure::wrong("full")) } else { Ok(()) }
            },
        );
        assert!(outcome.is_err());
        assert_eq!(times, 3);
    }

    #[test]
    fn batches_shrink_towards_the_end_and_grow_with_cheapness() {
        let desk = Desk::new(0..100_000, 2);
        let (_, first) = desk.take().unwrap();
        assert_eq!(first, 0..SMALLEST_BATCH);
        desk.learn(16, 1e-4);
        assert_eq!(desk.take().unwrap().1, 16..16 + 128);
        desk.learn(128, 1e-3);
        desk.learn(1024, 1e-3);
        let long = desk.take().unwrap().1;
        assert_eq!(long.end - long.start, LARGEST_BATCH);
        desk.learn(10, 100.0);
        let dear = desk.take().unwrap().1;
        assert_eq!(dear.end - dear.start, 1);
        let desk = Desk::new(0..20, 2);
        let lengths: Vec<u64> = std::iter::from_fn(|| desk.take()).map(|(_, r)| r.end - r.start).collect();
        assert_eq!(lengths, [10, 5, 3, 1, 1]);
    }
}
