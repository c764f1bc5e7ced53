//! Infinitely many impacts in finite time.
//!
//! One wall, e < 1: after an impact the rest of the series takes (2φ̇⁺/|φ̈|)/(1 − e) up to O((φ̇⁺)²). Several walls: the
//! intervals of a repeating pattern shrink by a steady ratio r, the rest takes Δ r/(1 − r). The series is cut when the
//! height of a bounce is below rounding, so that nothing visible is lost.

use crate::engine::Time;
use std::collections::VecDeque;

/// Patterns of up to this many impacts are recognised.
const LONGEST_PATTERN: usize = 6;
/// A pattern must have shrunk for this many rounds.
const ROUNDS: usize = 20;
/// A ratio is steady when it varies by less than this part of 1 − r.
const STEADY: f64 = 0.1;

/// The last impacts.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    last: VecDeque<Past>,
}

#[derive(Clone, Debug)]
struct Past {
    time: Time,
    walls: Vec<usize>,
}

impl History {
    /// Notes an impact.
    pub fn push(&mut self, time: Time, walls: &[usize]) {
        self.last.push_back(Past { time, walls: walls.to_vec() });
        if self.last.len() > (ROUNDS + 2) * LONGEST_PATTERN {
            self.last.pop_front();
        }
    }

    /// A reset or a contact in between: earlier impacts say nothing about later ones.
    pub fn clear(&mut self) {
        self.last.clear();
    }

    /// Were the last `count` impacts all on this one wall?
    pub fn only(&self, wall: usize, count: usize) -> bool {
        self.last.len() >= count && self.last.iter().rev().take(count).all(|p| p.walls == [wall])
    }

    /// The time a repeating pattern still needs, if there is one and it has shrunk steadily.
    pub fn remaining(&self) -> Option<f64> {
        let n = self.last.len();
        let interval = |k: usize| self.last[k].time.minus(self.last[k - 1].time);
        'pattern: for period in 1..=LONGEST_PATTERN {
            let needed = (ROUNDS + 1) * period + 1;
            if n < needed {
                return None;
            }
            let mut ratios: Vec<f64> = Vec::new();
            for k in n - ROUNDS * period..n {
                if self.last[k].walls != self.last[k - period].walls {
                    continue 'pattern;
                }
                let (new, old) = (interval(k), interval(k - period));
                if !(new > 0.0 && new < old) {
                    continue 'pattern;
                }
                ratios.push(new / old);
            }
            let largest = ratios.iter().copied().fold(0.0, f64::max);
            let smallest = ratios.iter().copied().fold(1.0, f64::min);
            if largest - smallest > STEADY * (1.0 - largest) {
                continue;
            }
            let round: f64 = (n - period..n).map(interval).sum();
            let ratio = ratios.iter().sum::<f64>() / ratios.len() as f64;
            return Some(round * ratio / (1.0 - ratio));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_geometric_series_over_two_walls_is_summed() {
        let mut history = History::default();
        let (mut t, mut step) = (Time::new(0.0), 1.0);
        for k in 0..80 {
            t = t.plus(step);
            step *= if k % 2 == 0 { 0.5 } else { 0.9 };
            history.push(t, &[k % 2]);
        }
        // After an even number of impacts the remaining steps are step (1 + 0.5)/(1 − 0.45).
        let exact = step * 1.5 / (1.0 - 0.45);
        assert!((history.remaining().unwrap() - exact).abs() < 1e-12 * exact);
    }

    #[test]
    fn regular_bouncing_is_not_zeno() {
        let mut history = History::default();
        for k in 0..200 {
            history.push(Time::new(f64::from(k)), &[0]);
        }
        assert_eq!(history.remaining(), None);
    }
}
