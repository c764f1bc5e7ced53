//! Free space that closes: the largest gap within a leg tends to zero while the speed of the impacts does not.
//!
//! The accumulation is like 1/n, so it is declared when the largest gap over windows of ten impacts has fallen
//! monotonically below 1e-8 of its largest value. The closing time is extrapolated from d(ln gap)/dt, whose reciprocal
//! is linear in time near the end.
//!
//! Walls that meet head-on at e = 1 need too many impacts for that: with the width w of the space, speed ~ 1/w, so that
//! n ~ 1/w. There it is declared from 1e-6 on, if what is left of the space can be seen to close before the run ends: at
//! the time t₁ that lies as far behind the closing time as the present lies before it, or at the end of the run if that
//! comes first, no place near this one keeps all gaps open:
//!
//! ```text
//! φ(q, t₁) + N δ ≥ 0  for no δ      ⟺      0 ≤ w ⊥ N S Nᵀ w + φ(q, t₁) ≥ 0  has no solution
//! ```
//!
//! One wall that stands still, without constraint rows, encloses no space that could close: there nothing is watched.
//!
//! For gaps that are linear in q this is a proof; it is the condition under which simultaneous impacts and contact have no
//! solution either.

use crate::law::Touching;
use crate::lcp::complementary;
use crate::run::Run;
use carom_mech::mechanics::{Mechanics, WallMechanics};

/// Impacts per window.
const WINDOW: usize = 10;
/// The largest gap must have fallen to this part of its largest value.
const CLOSED: f64 = 1e-8;
/// … or to this one, if it can be seen that it closes.
const CLOSING: f64 = 1e-6;
/// Where the space has not fallen below this part, nothing is said about its future.
const NARROW: f64 = 1e-1;
/// The closing time comes from windows between which the gap falls by this factor: far enough for clean differences.
const APART: f64 = 1.2;
/// The impacts must not have become this much slower: that would be a Zeno series.
const SLOWED: f64 = 1e-3;
/// Gaps of a Zeno series fall like the squares of its speeds; in a space that closes, speeds are larger by this factor at least.
const FASTER: f64 = 2.0;

/// The end of the free space.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct ClosingSpace {
    /// When, extrapolated.
    pub time: f64,
    /// Is it small enough to be declared closed without looking ahead?
    pub closed: bool,
}

/// Watches the free space.
#[derive(Clone, Debug, Default)]
pub(crate) struct Squeeze {
    /// Can the space close at all?
    pub watches: bool,
    /// Largest gap since the last impact.
    leg: f64,
    window: Vec<(f64, f64)>,
    /// (time, largest gap) of past windows, falling.
    falling: Vec<(f64, f64)>,
    /// The slowest impact of the last of them.
    slowest: f64,
    largest_speed: f64,
    walls: Vec<usize>,
}

impl Squeeze {
    /// For the walls of these mechanics.
    pub fn new(m: &Mechanics) -> Squeeze {
        let stands = |wall: &WallMechanics| m.model.dag.is_zero(wall.gap_t);
        let watches = m.walls.len() > 1 || !m.rows.is_empty() || !m.walls.iter().all(stands);
        Squeeze { watches, ..Squeeze::default() }
    }

    /// Nothing seen yet.
    pub fn clear(&mut self) {
        self.leg = 0.0;
        self.window.clear();
        self.falling.clear();
        self.slowest = 0.0;
        self.largest_speed = 0.0;
        self.walls.clear();
    }

    /// The largest gap since the last impact.
    pub fn largest(&self) -> f64 {
        self.leg
    }

    /// The largest gap since the last impact, followed elsewhere.
    pub fn set_largest(&mut self, gap: f64) {
        self.leg = gap;
    }

    /// A gap seen inside a leg.
    pub fn see(&mut self, gap: f64) {
        self.leg = carom_jet::greater(self.leg, gap);
    }

    /// An impact; returns the extrapolated closing time when the space has closed, or nearly.
    pub fn impact(&mut self, time: f64, speed: f64, walls: &[usize]) -> Option<ClosingSpace> {
        if !self.watches {
            return None;
        }
        self.largest_speed = self.largest_speed.max(speed);
        for &w in walls {
            if !self.walls.contains(&w) {
                self.walls.push(w);
            }
        }
        self.window.push((self.leg, speed));
        self.leg = 0.0;
        if self.window.len() < WINDOW {
            return None;
        }
        let gap = self.window.iter().map(|w| w.0).fold(0.0, f64::max);
        self.slowest = self.window.iter().map(|w| w.1).fold(f64::INFINITY, f64::min);
        self.window.clear();
        if self.falling.last().is_some_and(|last| gap >= last.1) {
            self.falling.clear();
            self.walls.clear();
        }
        self.falling.push((time, gap));
        let first = self.falling[0].1;
        if gap > 0.0 && gap < CLOSING * first && self.slowest > SLOWED * self.largest_speed {
            return Some(ClosingSpace { time: self.closing_time(), closed: gap < CLOSED * first });
        }
        None
    }

    /// The extrapolated closing time of a space that has become narrow, and not because the impacts have become slow.
    fn narrowing(&self) -> Option<f64> {
        let (first, last) = (self.falling.first()?, self.falling.last()?);
        let (time, part) = (self.closing_time(), last.1 / first.1);
        let fast = self.slowest > FASTER * part.sqrt() * self.largest_speed;
        (part < NARROW && fast && time > last.0).then_some(time)
    }

    /// Walls hit since the space began to close, in the order first hit.
    pub fn walls(&self) -> Vec<usize> {
        let mut walls = self.walls.clone();
        walls.sort_unstable();
        walls
    }

    fn closing_time(&self) -> f64 {
        let n = self.falling.len();
        let last = self.falling[n - 1].0;
        if n < 7 {
            return last;
        }
        let c = self.falling[n - 1];
        let before = |gap: f64| self.falling.partition_point(|w| w.1 >= gap).saturating_sub(1);
        let b = self.falling[before(APART * c.1).min(n - 4)];
        let a = self.falling[before(APART * b.1).min(n - 7)];
        let slope = |p: (f64, f64), q: (f64, f64)| (q.0 - p.0) / (q.1 / p.1).ln();
        let (t1, t2) = (0.5 * (a.0 + b.0), 0.5 * (b.0 + c.0));
        let (y1, y2) = (slope(a, b), slope(b, c));
        let end = t2 - y2 * (t2 - t1) / (y2 - y1);
        if end.is_finite() && end >= last { end } else { last }
    }
}

impl Run<'_> {
    /// The free space, followed for long enough to know, closes at this time: can it be seen that it does, before the end
    /// of the run?
    pub fn space_closes(&mut self, closing: f64) -> bool {
        let t = self.now.time.value();
        let beyond = (2.0 * closing - t).min(self.options.until);
        // Other pieces of a table, or other sides of a switching surface, would be other walls.
        let same = self.events.surfaces.is_empty() && self.leg.next_knot.is_none_or(|knot| knot >= beyond);
        if !same || self.is_degenerate() || beyond <= closing {
            return false;
        }
        self.frame.at(self.now.time.plus(beyond - t), &self.now.state);
        let gone = self.frame.is_finite() && {
            let walls = self.contact.squeeze.walls();
            let normals: Vec<Vec<f64>> = walls.iter().map(|&w| self.frame.normal(w).to_vec()).collect();
            let gaps: Vec<f64> = walls.iter().map(|&w| self.frame.gap(w)).collect();
            let touching = Touching::new(&self.frame.kkt(), &normals);
            complementary(&touching.delassus, &gaps).is_none()
        };
        self.evaluate_frame();
        gone
    }

    /// What a limit of impacts has to do with the free space: nothing, or that it closes.
    pub fn closing_words(&mut self) -> String {
        let Some(closing) = self.contact.squeeze.narrowing() else { return String::new() };
        let closes = if self.space_closes(closing) { "closes" } else { "seems to close" };
        let walls = self.contact.squeeze.walls();
        format!("; the free space at {} {closes} at t = {closing:.9}", self.wall_names(&walls))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_closing_like_a_square_is_declared_with_its_time() {
        let mut squeeze = Squeeze { watches: true, ..Squeeze::default() };
        let mut found = None;
        // t → 1 with impacts every (1 − t)/20.
        let mut t = 0.0;
        for _ in 0..100_000 {
            t += (1.0 - t) / 20.0;
            squeeze.see((1.0 - t) * (1.0 - t));
            found = squeeze.impact(t, 1.0, &[0]).filter(|closing| closing.closed);
            if found.is_some() {
                break;
            }
        }
        assert!((found.unwrap().time - 1.0).abs() < 1e-5, "{found:?}");
    }

    #[test]
    fn slowing_impacts_are_left_to_zeno() {
        let mut squeeze = Squeeze { watches: true, ..Squeeze::default() };
        let mut speed = 1.0;
        for k in 0..10_000 {
            speed *= 0.99;
            squeeze.see(speed * speed);
            assert_eq!(squeeze.impact(f64::from(k), speed, &[0]), None);
        }
    }
}
