//! The series of lanes, as the rule of step sizes reads them.

use crate::batch::lanes::Lanes;
use crate::eval::element::{Count, Vector, Wide};
use crate::ir::tape::RowIndex;
use crate::step::step_size::SeriesByRows;

/// The series of all lanes, as the rule of step sizes reads them.
pub(crate) struct AllLanes<'a, const W: usize>
where
    Count<W>: Vector,
{
    pub(crate) lanes: &'a Lanes<W>,
    pub(crate) ranges: &'a [[Wide<W>; 2]],
}

impl<const W: usize> AllLanes<'_, W>
where
    Count<W>: Vector,
{
    /// The series of a function; `None` for a watched constant.
    #[inline(always)]
    fn row(&self, i: usize) -> Option<&[Wide<W>]> {
        match i.checked_sub(self.lanes.tape.dimension) {
            None => Some(self.lanes.row(i as RowIndex)),
            Some(watched) => self.lanes.tape.watched[watched].row().map(|row| self.lanes.row(row)),
        }
    }
}

impl<const W: usize> SeriesByRows<Wide<W>> for AllLanes<'_, W>
where
    Count<W>: Vector,
{
    #[inline(always)]
    fn order(&self) -> usize {
        self.lanes.order
    }
    #[inline(always)]
    fn count(&self) -> [usize; 2] {
        let (state, watched) = (self.lanes.tape.dimension, self.lanes.tape.watched.len());
        [state + watched, state]
    }
    #[inline(always)]
    fn coefficient(&self, i: usize, k: usize) -> Wide<W> {
        match self.row(i) {
            Some(row) => row[k],
            None if k == 0 => self.lanes.watched_constant(i - self.lanes.tape.dimension),
            None => Wide::ZERO,
        }
    }
    #[inline(always)]
    fn ends(&self, i: usize) -> [[Wide<W>; 3]; 2] {
        let n = self.lanes.order;
        match self.row(i) {
            Some(row) => [[row[0], row[1], row[2]], [row[n], row[n - 1], row[n - 2]]],
            None => [[self.coefficient(i, 0), Wide::ZERO, Wide::ZERO], [Wide::ZERO; 3]],
        }
    }
    #[inline(always)]
    fn range(&self, i: usize) -> Option<[Wide<W>; 2]> {
        self.ranges.get(i).copied()
    }
}

/// Those of one lane.
pub(crate) struct OneLane<'a, const W: usize>(pub(crate) AllLanes<'a, W>, pub(crate) usize)
where
    Count<W>: Vector;

impl<const W: usize> SeriesByRows<f64> for OneLane<'_, W>
where
    Count<W>: Vector,
{
    fn order(&self) -> usize {
        self.0.order()
    }
    fn count(&self) -> [usize; 2] {
        self.0.count()
    }
    fn coefficient(&self, i: usize, k: usize) -> f64 {
        self.0.coefficient(i, k).0[self.1]
    }
    fn ends(&self, i: usize) -> [[f64; 3]; 2] {
        self.0.ends(i).map(|end| end.map(|wide| wide.0[self.1]))
    }
    fn range(&self, i: usize) -> Option<[f64; 2]> {
        self.0.range(i).map(|range| range.map(|wide| wide.0[self.1]))
    }
}
