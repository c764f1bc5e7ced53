//! Infinitely many impacts in finite time.
//!
//! One wall, e < 1: after an impact the rest of the series takes (2φ̇⁺/|φ̈|)/(1 − e) up to O((φ̇⁺)²). Several walls: the
//! intervals of a repeating pattern shrink by a steady ratio r, the rest takes Δ r/(1 − r). The series is cut when the
//! height of a bounce is below rounding, so that nothing visible is lost.

use crate::engine::Time;
use crate::law::Metric;
use crate::linear::dot;
use crate::motion::StopReason;
use crate::run::{Halt, Run};
use crate::zero::ROUNDING;
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

impl Run<'_> {
    /// One-wall Zeno, or a pattern over several walls: has the series become too small to see?
    /// Returns the time it still needs.
    pub fn zeno_remaining(&mut self) -> Option<f64> {
        if self.last_hit.iter().all(|&w| self.restitution[w] == 1.0) {
            return None;
        }
        let walls = self.last_hit.clone();
        let metric: Metric = self.frame.metric();
        let (free, _) = self.free_acceleration(&metric);
        let visible = |run: &Run<'_>, w: usize| {
            let rate = run.frame.gap_rate(w);
            let acceleration = dot(run.frame.normal(w), &free) + run.frame.wall_bias(w);
            let scale = run.largest_terms.gap[w];
            acceleration >= 0.0 || rate * rate / (2.0 * acceleration.abs()) > f64::EPSILON * scale
        };
        if walls.iter().any(|&w| visible(self, w)) {
            return None;
        }
        if let [wall] = walls[..]
            && self.history.only(wall, 3)
        {
            let others: Vec<usize> = (0..self.walls.len()).filter(|&w| self.walls[w].closed).collect();
            let acceleration = if others.is_empty() {
                dot(self.frame.normal(wall), &free) + self.frame.wall_bias(wall)
            } else {
                let (x, _, _) = self.reactions(&others);
                dot(self.frame.normal(wall), &x) + self.frame.wall_bias(wall)
            };
            let e = self.restitution[wall];
            return Some(2.0 * self.frame.gap_rate(wall) / acceleration.abs() / (1.0 - e));
        }
        self.history.remaining()
    }

    /// Cuts a Zeno series: joint e = 0 law now, contact from the Zeno time on.
    pub fn cut_zeno(&mut self, remaining: f64) -> Result<(), Halt> {
        let end = self.time.plus(remaining);
        let mut walls = self.touched(&[]);
        // Walls of the pattern that are within the last, invisible bounces.
        for w in 0..self.walls.len() {
            let near = self.frame.gap(w) <= ROUNDING * self.largest_terms.gap[w];
            if near && !walls.contains(&w) && self.restitution[w] < 1.0 {
                walls.push(w);
            }
        }
        walls.sort_unstable();
        // Rates that are part of the series go to zero whatever their sign.
        let before: Vec<f64> = walls.iter().map(|&w| self.frame.gap_rate(w)).collect();
        self.stop_rates(&walls, &before).map_err(|_| {
            Halt::new(
                StopReason::ZenoWithoutContinuation,
                format!(
                    "infinitely many impacts on {}, and no contact continues them",
                    self.wall_names(&walls)
                ),
            )
        })?;
        for &w in &walls {
            self.walls[w].touching = true;
            self.walls[w].resting = true;
            if !self.walls[w].closed {
                self.walls[w].zeno_at = Some(end);
            }
        }
        self.history.clear();
        Ok(())
    }

    /// Projects the velocity onto φ̇ = 0 of these walls.
    fn stop_rates(&mut self, walls: &[usize], rates: &[f64]) -> Result<(), Halt> {
        let (n, m) = (self.frame.layout.n, self.frame.layout.rows);
        let (metric, all) = self.frame.metric_with(walls);
        let target: Vec<f64> = std::iter::repeat_n(0.0, m).chain(rates.iter().map(|u| -u)).collect();
        let (jump, y) = metric.solve(&vec![0.0; n], &target);
        let momentum: Vec<f64> = all.transposed_times(&y).iter().map(|x| -x).collect();
        let energy = self.frame.energy();
        self.kick(&momentum, &jump);
        self.look();
        self.expected_energy += self.frame.energy() - energy;
        if self.frame.is_finite() { Ok(()) } else { Err(self.not_finite()) }
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
