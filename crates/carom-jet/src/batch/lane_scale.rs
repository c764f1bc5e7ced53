//! Scales, radii and values of the polynomials of all lanes together, and one lane's series for what is rare: as in the modules
//! of extents and Taylor steps, the same bits.

// Loops over lanes are indexed: several arrays advance together, and that form becomes vector code.
#![allow(clippy::needless_range_loop)]

use crate::batch::lanes::Lanes;
use crate::batch::times::two_sum;
use crate::eval::element::{Count, Element, Vector, Wide};
use crate::ir::tape::{Row, Value};
use crate::step::extent::{Rows, inverse, scale, scale_by_size, with};
use crate::step::taylor::radius;

/// The series of one lane.
pub(crate) struct Lane<'a, const W: usize>
where
    Count<W>: Vector,
{
    pub(crate) lanes: &'a Lanes<W>,
    pub(crate) ranges: &'a [[Wide<W>; 2]],
    pub(crate) lane: usize,
}

impl<const W: usize> Rows for Lane<'_, W>
where
    Count<W>: Vector,
{
    fn order(&self) -> usize {
        self.lanes.order
    }
    fn count(&self) -> [usize; 2] {
        [self.lanes.tape.dimension, self.lanes.tape.watched.len()]
    }
    fn state(&self, i: usize, k: usize) -> f64 {
        self.lanes.row(i as Row)[k].0[self.lane]
    }
    fn range(&self, i: usize) -> [f64; 2] {
        self.ranges[i].map(|wide| wide.0[self.lane])
    }
    fn watched(&self, i: usize, k: usize) -> f64 {
        match self.lanes.tape.watched[i] {
            Value::Row(row) => self.lanes.row(row)[k].0[self.lane],
            Value::Constant(slot) if k == 0 => self.lanes.constant(slot, self.lane),
            Value::Constant(_) => 0.0,
        }
    }
    fn watched_range(&self, i: usize) -> Option<[f64; 2]> {
        self.ranges.get(self.lanes.tape.dimension + i).map(|range| range.map(|wide| wide.0[self.lane]))
    }
}

/// 1/S of all lanes, and the range with the present value.
#[inline(always)]
pub(crate) fn inverse_scale<const W: usize>(
    range: &mut [Wide<W>; 2],
    first: [Wide<W>; 3],
    before: Wide<W>,
) -> Wide<W>
where
    Count<W>: Vector,
{
    let mut r = before;
    for i in 0..W {
        let now = with([range[0].0[i], range[1].0[i]], first[0].0[i]);
        (range[0].0[i], range[1].0[i]) = (now[0], now[1]);
        r.0[i] = inverse(scale(now, [first[0].0[i], first[1].0[i], first[2].0[i]], before.0[i]));
    }
    r
}

/// 1/S of watched functions that are not followed.
#[inline(always)]
pub(crate) fn inverse_size<const W: usize>(first: [Wide<W>; 3], before: Wide<W>) -> Wide<W>
where
    Count<W>: Vector,
{
    let mut r = before;
    for i in 0..W {
        r.0[i] = inverse(scale_by_size([first[0].0[i], first[1].0[i], first[2].0[i]], before.0[i]));
    }
    r
}

#[inline(always)]
pub(crate) fn radii<const W: usize>(n: usize, [a, b, c]: &[Wide<W>; 3]) -> Wide<W>
where
    Count<W>: Vector,
{
    let mut r = *a;
    for i in 0..W {
        r.0[i] = radius(n, [a.0[i], b.0[i], c.0[i]]);
    }
    r
}

/// As `taylor::end_of`.
#[inline(always)]
pub(crate) fn end_of<const W: usize>(row: &[Wide<W>], powers: &[Wide<W>], low: Wide<W>) -> (Wide<W>, Wide<W>)
where
    Count<W>: Vector,
{
    let rest = four_sums(&row[1..], powers, |c, p| c * p);
    two_sum(row[0], rest.zip(low, |r, l| r + l))
}

/// Σ term(c_k, p_k), every fourth k in a sum of its own, what is left in another.
#[inline(always)]
pub(crate) fn four_sums<const W: usize>(
    c: &[Wide<W>],
    p: &[Wide<W>],
    term: impl Fn(f64, f64) -> f64,
) -> Wide<W>
where
    Count<W>: Vector,
{
    let add = |sum: &mut Wide<W>, c: &Wide<W>, p: &Wide<W>| {
        for i in 0..W {
            sum.0[i] += term(c.0[i], p.0[i]);
        }
    };
    // Named, not an array: those would live in memory.
    let (mut s, mut t, mut u, mut v) = (Wide::ZERO, Wide::ZERO, Wide::ZERO, Wide::ZERO);
    let mut last = Wide::ZERO;
    let (quads, powers) = (c.chunks_exact(4), p[..c.len()].chunks_exact(4));
    for (c, p) in quads.remainder().iter().zip(powers.remainder()) {
        add(&mut last, c, p);
    }
    for (c, p) in quads.zip(powers) {
        add(&mut s, &c[0], &p[0]);
        add(&mut t, &c[1], &p[1]);
        add(&mut u, &c[2], &p[2]);
        add(&mut v, &c[3], &p[3]);
    }
    s.zip(t, |s, t| s + t).zip(u.zip(v, |u, v| u + v), |s, u| s + u).zip(last, |s, l| s + l)
}
