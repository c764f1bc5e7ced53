//! Fewer points, the same picture.
//!
//! A curve over time keeps, per column of pixels, its first, lowest, highest and last point: everything a line through all of
//! its points would cover. Where many points share a column the line fills it from the lowest to the highest, and these two are enough. A curve in a plane keeps a piece only if it reaches a cell of the picture that no piece reached
//! before.

/// More points than these in one column are no curve any more: a line that fills it.
const FILLED: usize = 16;

/// Keeps, per column of width `1/per_unit`, the first, lowest, highest and last of the points pushed, ascending in x.
pub struct OverTime {
    per_unit: f64,
    kept: Vec<(f64, f64)>,
    column: Option<PixelColumn>,
}

struct PixelColumn {
    index: f64,
    first: (f64, f64),
    low: (f64, f64),
    high: (f64, f64),
    last: (f64, f64),
    points: usize,
}

impl OverTime {
    /// Nothing pushed yet.
    pub fn new(per_unit: f64) -> OverTime {
        OverTime { per_unit, kept: Vec::new(), column: None }
    }

    /// Adds a point; its x is not below those before.
    pub fn push(&mut self, p: (f64, f64)) {
        let index = (p.0 * self.per_unit).floor();
        match &mut self.column {
            Some(c) if c.index == index => {
                if p.1 < c.low.1 {
                    c.low = p;
                }
                if p.1 > c.high.1 {
                    c.high = p;
                }
                c.last = p;
                c.points += 1;
            }
            _ => {
                self.flush();
                self.column = Some(PixelColumn { index, first: p, low: p, high: p, last: p, points: 1 });
            }
        }
    }

    fn flush(&mut self) {
        let Some(c) = self.column.take() else { return };
        let (early, late) = if c.low.0 <= c.high.0 { (c.low, c.high) } else { (c.high, c.low) };
        let start = self.kept.len();
        let corners = [c.first, early, late, c.last];
        for p in if c.points > FILLED { &corners[1..3] } else { &corners[..] } {
            if self.kept.len() == start || self.kept.last() != Some(p) {
                self.kept.push(*p);
            }
        }
    }

    /// Has nothing been pushed since the last [`OverTime::take`]?
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.column.is_none()
    }

    /// What was kept; starts anew.
    pub fn take(&mut self) -> Vec<(f64, f64)> {
        self.flush();
        std::mem::take(&mut self.kept)
    }
}

/// Pieces in pixels, each drawn only where it reaches new cells of size `cell` inside [0, width] × [0, height].
pub struct Coverage {
    cell: f64,
    columns: usize,
    rows: usize,
    reached: Vec<bool>,
}

impl Coverage {
    /// Nothing reached yet.
    pub fn new(width: f64, height: f64, cell: f64) -> Coverage {
        let (columns, rows) = ((width / cell) as usize + 2, (height / cell) as usize + 2);
        Coverage { cell, columns, rows, reached: vec![false; columns * rows] }
    }

    /// Marks the cell of a point; was it new?
    pub fn mark(&mut self, x: f64, y: f64) -> bool {
        let (i, j) = (x / self.cell, y / self.cell);
        if !(i >= 0.0 && j >= 0.0 && (i as usize) < self.columns && (j as usize) < self.rows) {
            return false;
        }
        !std::mem::replace(&mut self.reached[j as usize * self.columns + i as usize], true)
    }

    /// Marks all cells along a piece; was one of them new?
    fn mark_piece(&mut self, a: (f64, f64), b: (f64, f64)) -> bool {
        // Clipping by the longest sensible piece keeps absurd lengths from costing time.
        let length = ((b.0 - a.0).abs().max((b.1 - a.1).abs()) / self.cell).ceil();
        let steps = length.clamp(1.0, 4.0 * (self.columns + self.rows) as f64) as usize;
        let mut new = false;
        for k in 0..=steps {
            let s = k as f64 / steps as f64;
            new |= self.mark(a.0 + s * (b.0 - a.0), a.1 + s * (b.1 - a.1));
        }
        new
    }

    /// The pieces of a polyline that show something new. Points closer than half a cell to the last kept one are skipped.
    pub fn in_plane(&mut self, points: &[(f64, f64)]) -> Vec<Vec<(f64, f64)>> {
        let mut kept: Vec<Vec<(f64, f64)>> = Vec::new();
        let Some(&first) = points.first() else { return kept };
        if points.len() == 1 {
            return if self.mark(first.0, first.1) { vec![vec![first]] } else { kept };
        }
        let near = 0.5 * self.cell;
        let mut pen = first;
        let mut down = false;
        for (i, &p) in points.iter().enumerate().skip(1) {
            let last = i + 1 == points.len();
            if !last && (p.0 - pen.0).abs() < near && (p.1 - pen.1).abs() < near {
                continue;
            }
            if self.mark_piece(pen, p) {
                match kept.last_mut() {
                    Some(piece) if down => piece.push(p),
                    _ => kept.push(vec![pen, p]),
                }
                down = true;
            } else {
                down = false;
            }
            pen = p;
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_of_every_column_survive() {
        let points: Vec<(f64, f64)> =
            (0..100_000).map(|k| (k as f64 / 200.0, ((k * 7919) % 1000) as f64)).collect();
        let mut reducer = OverTime::new(1.0);
        points.iter().for_each(|p| reducer.push(*p));
        let kept = reducer.take();
        assert!(kept.len() <= 2 * 500, "a line that fills its columns needs no other points");
        for column in 0..500 {
            let range = |p: &[(f64, f64)]| {
                p.iter()
                    .filter(|q| q.0.floor() as usize == column)
                    .fold((f64::MAX, f64::MIN), |(l, h), q| (l.min(q.1), h.max(q.1)))
            };
            assert_eq!(range(&points), range(&kept));
        }
        assert!(kept.is_sorted_by(|a, b| a.0 <= b.0));
    }

    #[test]
    fn a_curve_that_runs_round_many_times_is_drawn_once() {
        let circle = |turns: usize| -> Vec<(f64, f64)> {
            let angle = |k: usize| std::f64::consts::TAU * k as f64 / 500.0;
            (0..=500 * turns).map(|k| (50.0 + 40.0 * angle(k).cos(), 50.0 + 40.0 * angle(k).sin())).collect()
        };
        let count = |turns| -> usize {
            Coverage::new(100.0, 100.0, 1.0).in_plane(&circle(turns)).iter().map(Vec::len).sum()
        };
        assert!(count(100) < 2 * count(1), "{} {}", count(100), count(1));
    }
}
