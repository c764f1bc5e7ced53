//! Infinitely many impacts in finite time.
//!
//! One wall, e < 1: after an impact the rest of the series takes R = (2φ̇⁺/|φ̈|)/(1 − e) up to O(R²), φ̈ in the presence of the
//! walls that rest. Several walls: the intervals of a repeating pattern shrink by a steady ratio r, the rest takes Δ r/(1 − r).
//! The series is cut when the height φ̇²/(2|φ̈|) of its bounces is below rounding of the gap, so that nothing visible is lost.
//!
//! By then the last bounces are known to rounding/height only. But every bounce says when the series ends, t + R: early ones are
//! wrong by R², late ones by rounding/φ̇. The end taken is the one that differs least from its neighbours.

use crate::motion::StopReason;
use crate::run::{Halt, Run};
use crate::zero::ROUNDING;
use carom_jet::Time;
use std::collections::VecDeque;

/// Patterns of up to this many impacts are recognised.
const LONGEST_PATTERN: usize = 6;
/// A pattern must have shrunk for this many rounds, …
const ROUNDS: usize = 20;
/// … or by this factor in a few.
const SHRUNK: f64 = 1e-6;
const FEW_ROUNDS: usize = 4;
/// A ratio is steady when it varies by less than this part of 1 − r.
const STEADY: f64 = 0.1;
/// Impacts that are looked back upon for the best end of a pattern.
const LOOK_BACK: usize = 60;
/// Two bounces belong to one series when their ends differ by less than this part of what is left.
const SAME_SERIES: f64 = 0.25;
/// A series on one wall is recognised by so many bounces.
const BOUNCES: usize = 3;
/// Impacts in a row too small to see, without any pattern, before the mean ratio of their intervals is taken.
const UNSEEN: usize = 64;

/// The last impacts.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    last: VecDeque<Past>,
    /// Per wall: the series it may be in.
    series: Vec<Bounces>,
    /// Impacts in a row that are too small to see.
    unseen: usize,
}

#[derive(Clone, Debug)]
struct Past {
    time: Time,
    walls: Vec<usize>,
}

/// The ends that successive bounces on one wall announce.
#[derive(Clone, Debug, Default)]
struct Bounces {
    count: usize,
    last: Time,
    /// How much the last end differed from the one before.
    differed: f64,
    best: Time,
    /// How much that one differs from its neighbours.
    apart: f64,
}

impl Bounces {
    /// One more bounce: its end, what is left until then, and the rounding of that.
    fn note(&mut self, end: Time, left: f64, rounding: f64) {
        let differs = end.minus(self.last).abs();
        if self.count == 0 || differs > SAME_SERIES * left + rounding {
            *self = Bounces { count: 1, last: end, differed: f64::INFINITY, best: end, apart: f64::INFINITY };
            return;
        }
        self.count += 1;
        let apart = differs.max(self.differed).max(rounding);
        if apart <= self.apart {
            (self.best, self.apart) = (self.last, apart);
        } else if self.count == 2 {
            self.best = end;
        }
        (self.last, self.differed) = (end, differs);
    }
}

impl History {
    /// Notes an impact.
    pub fn push(&mut self, time: Time, walls: &[usize]) {
        self.last.push_back(Past { time, walls: walls.to_vec() });
        if self.last.len() > (ROUNDS + 2) * LONGEST_PATTERN + LOOK_BACK {
            self.last.pop_front();
        }
    }

    /// A reset or a contact in between: earlier impacts say nothing about later ones.
    pub fn clear(&mut self) {
        self.last.clear();
        self.series.clear();
        self.unseen = 0;
    }

    fn series_of(&mut self, wall: usize) -> &mut Bounces {
        if self.series.len() <= wall {
            self.series.resize(wall + 1, Bounces::default());
        }
        &mut self.series[wall]
    }

    /// The time between the last two impacts.
    fn last_interval(&self) -> f64 {
        let n = self.last.len();
        if n < 2 { f64::INFINITY } else { self.last[n - 1].time.minus(self.last[n - 2].time) }
    }

    /// When the series on this one wall ends, if it is one.
    fn end_on(&self, wall: usize) -> Option<Time> {
        self.series.get(wall).filter(|s| s.count >= BOUNCES).map(|s| s.best)
    }

    /// The time a repeating pattern still needs, if there is one and it has shrunk steadily.
    pub fn remaining(&self) -> Option<f64> {
        self.remaining_after(self.last.len())
    }

    /// The same after the first n impacts that are kept.
    fn remaining_after(&self, n: usize) -> Option<f64> {
        let interval = |k: usize| self.last[k].time.minus(self.last[k - 1].time);
        'pattern: for period in 1..=LONGEST_PATTERN {
            // As many rounds as are needed, if there are as many.
            let (mut smallest, mut largest, mut shrunk, mut rounds) = (1.0_f64, 0.0_f64, 1.0_f64, 0);
            let enough =
                |rounds: usize, shrunk: f64| rounds >= ROUNDS || (rounds >= FEW_ROUNDS && shrunk <= SHRUNK);
            while !enough(rounds, shrunk) {
                let end = n.checked_sub(rounds * period).filter(|end| *end > 2 * period);
                let Some(end) = end else { continue 'pattern };
                for k in end - period..end {
                    let (new, old) = (interval(k), interval(k - period));
                    if self.last[k].walls != self.last[k - period].walls || !(new > 0.0 && new < old) {
                        continue 'pattern;
                    }
                    smallest = smallest.min(new / old);
                    largest = largest.max(new / old);
                }
                if largest - smallest > STEADY * (1.0 - largest) {
                    continue 'pattern;
                }
                shrunk *= largest;
                rounds += 1;
            }
            let round = |end: usize| (end - period..end).map(interval).sum::<f64>();
            let ratio = round(n) / round(n - period);
            return Some(round(n) * ratio / (1.0 - ratio));
        }
        None
    }

    /// When a repeating pattern ends: the end that differs least from those its neighbours announce.
    fn end_of_pattern(&self) -> Option<Time> {
        let n = self.last.len();
        let ends: Vec<Time> = (n.saturating_sub(LOOK_BACK)..=n)
            .filter_map(|k| self.remaining_after(k).map(|left| self.last[k - 1].time.plus(left)))
            .collect();
        let apart = |k: usize| {
            let (a, b) = (ends[k].minus(ends[k - 1]).abs(), ends[k + 1].minus(ends[k]).abs());
            a.max(b)
        };
        let best = (1..ends.len().saturating_sub(1)).min_by(|&a, &b| apart(a).total_cmp(&apart(b)));
        best.map(|k| ends[k]).or(ends.last().copied())
    }

    /// Too small to see for long, without any pattern: what the mean ratio of the intervals leaves.
    fn mean_remaining(&self) -> Option<f64> {
        let n = self.last.len();
        if self.unseen < UNSEEN || n <= UNSEEN {
            return None;
        }
        let at = |k: usize| self.last[n - 1 - k].time;
        let (new, old) = (at(0).minus(at(UNSEEN / 2)), at(UNSEEN / 2).minus(at(UNSEEN)));
        Some(if new < old { new * new / (old - new) } else { 0.0 })
    }
}

impl Run<'_> {
    /// One-wall Zeno, or a pattern over several walls: has the series become too small to see? Returns when it ends.
    pub fn zeno_end(&mut self) -> Option<Time> {
        if self.contact.last_hit.iter().all(|&w| self.contact.restitution[w] == 1.0) {
            return None;
        }
        let bouncing: Vec<usize> =
            self.contact.last_hit.iter().copied().filter(|&w| !self.contact.walls[w].resting).collect();
        let acceleration = self.acceleration_of_flight()?;
        let (mut low, mut short) = (!bouncing.is_empty(), !bouncing.is_empty());
        for &w in &bouncing {
            let lower = self.note_bounce(w, &acceleration);
            low &= lower;
            // Without anything that pulls a wall closed, others push: legs are short instead of low.
            let leg = self.frame.gap_rate(w) * self.contact.history.last_interval();
            short &= lower || leg <= f64::EPSILON * self.audit.largest_terms.gap[w];
        }
        self.contact.history.unseen = if short { self.contact.history.unseen + 1 } else { 0 };
        if !short {
            return None;
        }
        let ends: Option<Vec<Time>> = bouncing.iter().map(|&w| self.contact.history.end_on(w)).collect();
        let last = |ends: Vec<Time>| ends.into_iter().reduce(|a, b| if b > a { b } else { a });
        let end = ends
            .filter(|_| low)
            .and_then(last)
            .or_else(|| self.contact.history.end_of_pattern())
            .or_else(|| self.contact.history.mean_remaining().map(|left| self.now.time.plus(left)))?;
        let end = if end > self.now.time { end } else { self.now.time };
        let left = end.minus(self.now.time);
        bouncing.iter().all(|&w| self.is_within_series(w, &acceleration, left)).then_some(end)
    }

    /// q̈ (without velocity bias) of the flight that begins now: the walls at rest push as they must.
    pub fn acceleration_of_flight(&self) -> Option<Vec<f64>> {
        let kkt = self.frame.kkt();
        let (mut x, _) = self.frame.free_acceleration(&kkt);
        let resting: Vec<usize> = (0..self.contact.walls.len())
            .filter(|&w| self.contact.walls[w].touching && self.contact.walls[w].resting)
            .collect();
        if !resting.is_empty() && !self.is_degenerate() {
            let (forces, _) = self.contact_problem(&kkt, &resting).ok()?;
            for (&w, f) in resting.iter().zip(&forces).filter(|(_, f)| **f != 0.0) {
                let (inverse_mass_normal, _) = kkt.inverse_mass_times(self.frame.normal(w));
                x.iter_mut().zip(&inverse_mass_normal).for_each(|(x, s)| *x += f * s);
            }
        }
        Some(x)
    }

    /// Wall w has just been hit and bounces: its series goes on, or not. True if the bounce is too low to see.
    fn note_bounce(&mut self, w: usize, acceleration: &[f64]) -> bool {
        let (rate, fall) = (self.frame.gap_rate(w), -self.frame.gap_acceleration(w, acceleration));
        let (e, scale) = (self.contact.restitution[w], f64::EPSILON * self.audit.largest_terms.gap[w]);
        if fall <= 0.0 {
            *self.contact.history.series_of(w) = Bounces::default();
            return false;
        }
        if e < 1.0 && rate > 0.0 {
            let left = 2.0 * rate / fall / (1.0 - e);
            let rounding = 4.0 * scale / rate / (1.0 - e);
            let end = self.now.time.plus(left);
            self.contact.history.series_of(w).note(end, left, rounding);
        }
        rate * rate <= 2.0 * fall * scale
    }

    /// Is wall w closed up to bounces too low to see, or too short in what is left of the series?
    fn is_within_series(&self, w: usize, acceleration: &[f64], left: f64) -> bool {
        let (rate, fall) = (self.frame.gap_rate(w), -self.frame.gap_acceleration(w, acceleration));
        let scale = ROUNDING * self.audit.largest_terms.gap[w];
        let near = self.touches(w) || self.frame.gap(w) <= scale;
        near && ((fall > 0.0 && rate * rate <= 2.0 * fall * scale) || rate.abs() * left <= scale)
    }

    /// Cuts a Zeno series: joint e = 0 law now, contact from the Zeno time on.
    pub fn cut_zeno(&mut self, end: Time) -> Result<(), Halt> {
        // Walls of the series are within the last, invisible bounces; others may be touched and on their way.
        let (acceleration, left) = (self.acceleration_of_flight(), end.minus(self.now.time));
        let walls: Vec<usize> = (0..self.contact.walls.len())
            .filter(|&w| self.contact.held != Some(w))
            .filter(|&w| {
                let rests = self.contact.walls[w].closed
                    || (self.contact.walls[w].touching && self.contact.walls[w].resting);
                rests || acceleration.as_ref().is_some_and(|x| self.is_within_series(w, x, left))
            })
            .collect();
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
        let beside = self.stopped_beside(&walls);
        for &w in walls.iter().chain(&beside) {
            let rested = self.contact.walls[w].closed || self.contact.walls[w].resting;
            self.contact.walls[w].touching = true;
            self.contact.walls[w].resting = true;
            if !rested {
                let own = self.contact.history.end_on(w).filter(|own| *own > self.now.time);
                self.contact.walls[w].zeno_at = Some(own.unwrap_or(end));
            }
            *self.contact.history.series_of(w) = Bounces::default();
        }
        self.contact.history.last.clear();
        self.contact.history.unseen = 0;
        Ok(())
    }

    /// Walls that stand still now because these do: where normals depend on each other (the fourth leg of a table) a gap is a
    /// combination of the others, and as near to zero as they are.
    fn stopped_beside(&self, walls: &[usize]) -> Vec<usize> {
        let nearest: f64 = walls.iter().map(|&w| self.frame.gap(w).abs()).sum();
        (0..self.contact.walls.len())
            .filter(|w| !walls.contains(w) && self.contact.held != Some(*w))
            .filter(|&w| self.is_hit_too(w) || self.frame.gap(w) <= 2.0 * nearest)
            .filter(|&w| self.known_rate(w) == 0.0)
            .collect()
    }

    /// Projects the velocity onto φ̇ = 0 of these walls.
    fn stop_rates(&mut self, walls: &[usize], rates: &[f64]) -> Result<(), Halt> {
        let (n, m) = (self.frame.layout.n, self.frame.layout.rows);
        let (kkt, all) = self.frame.kkt_with(walls);
        let target: Vec<f64> = std::iter::repeat_n(0.0, m).chain(rates.iter().map(|u| -u)).collect();
        let (jump, y) = kkt.solve(&vec![0.0; n], &target);
        let momentum: Vec<f64> = all.transposed_times(&y).iter().map(|x| -x).collect();
        let energy = self.frame.energy();
        self.apply_impulse(&momentum, &jump);
        self.evaluate_frame();
        self.audit.expected_energy += self.frame.energy() - energy;
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
