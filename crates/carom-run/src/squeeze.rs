//! Free space that closes: the largest gap within a leg tends to zero while the speed of the impacts does not.
//!
//! The accumulation is like 1/n, so it is declared when the largest gap over windows of ten impacts has fallen
//! monotonically below 1e-8 of its largest value. The closing time is extrapolated from d(ln gap)/dt, whose reciprocal
//! is linear in time near the end.

/// Impacts per window.
const WINDOW: usize = 10;
/// The largest gap must have fallen to this part of its largest value.
const CLOSED: f64 = 1e-8;
/// The impacts must not have become this much slower: that would be a Zeno series.
const SLOWED: f64 = 1e-3;

/// Watches the free space.
#[derive(Clone, Debug, Default)]
pub(crate) struct Squeeze {
    /// Largest gap since the last impact.
    leg: f64,
    window: Vec<(f64, f64)>,
    /// (time, largest gap) of past windows, falling.
    falling: Vec<(f64, f64)>,
    largest_speed: f64,
    walls: Vec<usize>,
}

impl Squeeze {
    /// Nothing seen yet.
    pub fn clear(&mut self) {
        self.leg = 0.0;
        self.window.clear();
        self.falling.clear();
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
        if gap > self.leg {
            self.leg = gap;
        }
    }

    /// An impact; returns the extrapolated closing time when the space has closed.
    pub fn impact(&mut self, time: f64, speed: f64, walls: &[usize]) -> Option<f64> {
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
        let slowest = self.window.iter().map(|w| w.1).fold(f64::INFINITY, f64::min);
        self.window.clear();
        if self.falling.last().is_some_and(|last| gap >= last.1) {
            self.falling.clear();
            self.walls.clear();
        }
        self.falling.push((time, gap));
        let first = self.falling[0].1;
        if gap > 0.0 && gap < CLOSED * first && slowest > SLOWED * self.largest_speed {
            return Some(self.closing_time());
        }
        None
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
        // Windows far enough apart for clean differences.
        let [a, b, c] = [self.falling[n - 7], self.falling[n - 4], self.falling[n - 1]];
        let slope = |p: (f64, f64), q: (f64, f64)| (q.0 - p.0) / (q.1 / p.1).ln();
        let (t1, t2) = (0.5 * (a.0 + b.0), 0.5 * (b.0 + c.0));
        let (y1, y2) = (slope(a, b), slope(b, c));
        let end = t2 - y2 * (t2 - t1) / (y2 - y1);
        if end.is_finite() && end >= last { end } else { last }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_closing_like_a_square_is_declared_with_its_time() {
        let mut squeeze = Squeeze::default();
        let mut found = None;
        // t → 1 with impacts every (1 − t)/20.
        let mut t = 0.0;
        for _ in 0..100_000 {
            t += (1.0 - t) / 20.0;
            squeeze.see((1.0 - t) * (1.0 - t));
            found = squeeze.impact(t, 1.0, &[0]);
            if found.is_some() {
                break;
            }
        }
        assert!((found.unwrap() - 1.0).abs() < 1e-5, "{found:?}");
    }

    #[test]
    fn slowing_impacts_are_left_to_zeno() {
        let mut squeeze = Squeeze::default();
        let mut speed = 1.0;
        for k in 0..10_000 {
            speed *= 0.99;
            squeeze.see(speed * speed);
            assert_eq!(squeeze.impact(f64::from(k), speed, &[0]), None);
        }
    }
}
