//! Times of W trajectories: unevaluated pairs as in `time`, lane by lane the same bits.

use crate::eval::element::{Count, Vector, Wide};
use crate::eval::time::{Time, later};

/// Times, one pair per lane.
#[derive(Clone, Debug)]
pub(crate) struct Times<const W: usize>
where
    Count<W>: Vector,
{
    pub(crate) hi: Wide<W>,
    pub(crate) lo: Wide<W>,
}

impl<const W: usize> Times<W>
where
    Count<W>: Vector,
{
    pub(crate) const ZERO: Times<W> = Times { hi: Wide::ZERO, lo: Wide::ZERO };

    #[inline(always)]
    pub(crate) fn get(&self, lane: usize) -> Time {
        Time { hi: self.hi.0[lane], lo: self.lo.0[lane] }
    }

    /// As `Time::plus`.
    #[inline(always)]
    pub(crate) fn plus(&self, h: Wide<W>) -> Times<W> {
        let (hi, lo) = later([self.hi, self.lo], h);
        Times { hi, lo }
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, lane: usize, time: Time) {
        (self.hi.0[lane], self.lo.0[lane]) = (time.hi, time.lo);
    }
}
