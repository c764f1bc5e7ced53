//! Times of W trajectories: unevaluated pairs as in `time`, lane by lane the same bits.

use crate::eval::element::{Count, Element, Vector, Wide};
use crate::step::time::Time;

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
        let (sum, error) = two_sum(self.hi, h);
        let (hi, lo) = two_sum(sum, error.zip(self.lo, |e, l| e + l));
        Times { hi, lo }
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, lane: usize, time: Time) {
        (self.hi.0[lane], self.lo.0[lane]) = (time.hi, time.lo);
    }
}

/// a + b = sum + error exactly, as in `time`.
#[inline(always)]
pub(crate) fn two_sum<const W: usize>(a: Wide<W>, b: Wide<W>) -> (Wide<W>, Wide<W>)
where
    Count<W>: Vector,
{
    let sum = a.zip(b, |a, b| a + b);
    let part = sum.zip(a, |s, a| s - a);
    let rest = a.zip(sum.zip(part, |s, p| s - p), |a, x| a - x);
    (sum, rest.zip(b.zip(part, |b, p| b - p), |r, x| r + x))
}
