//! Orders k ≥ 1 by reading the recurrence: for processors without code, and for systems whose code would be too large.
//! One text for single trajectories and for lanes.

use crate::eval::element::{Element, Octet};
use crate::eval::schedule::{Cursor, Schedule};
use crate::ir::layout::{HALF, Layout, SCALES, weigh};
use crate::ir::recurrence::{Scale, Stage, Weight};
use crate::ir::tape::{Row, Tape};

/// Weights that depend on order 0.
#[inline(always)]
pub(crate) fn set_weights<T: Element>(
    layout: &Layout,
    arena: &mut [T],
    table: usize,
    list: &[(u32, Weight)],
) {
    for (i, w) in list {
        let base = T::splat(w.factor).times(arena[layout.constants + w.constant as usize]);
        let row = |row: Row| arena[layout.places[row as usize].index(0)];
        arena[table + *i as usize] = weigh(w, base, row, T::times, T::over);
    }
}

/// w b_1 and w a_1 of every pair.
#[inline(always)]
pub(crate) fn near_weights<T: Element>(tape: &Tape, layout: &Layout, arena: &mut [T]) {
    let pairs = &tape.recurrence.pairs;
    for (p, pair) in pairs.iter().enumerate() {
        let p = layout.pair(p);
        let w = arena[layout.pair_weights + p];
        let [a, b] = [pair.a, pair.b].map(|row| arena[layout.places[row as usize].index(1)]);
        if pair.is_square() {
            let once = w.times(a);
            arena[layout.near[0] + p] = once.plus(once);
        } else {
            arena[layout.near[0] + p] = w.times(b);
            arena[layout.near[1] + p] = w.times(a);
        }
    }
}

/// The weighted sums of order 2: the one term a_1 b_1.
#[inline(always)]
pub(crate) fn second_sums<T: Element>(tape: &Tape, layout: &Layout, arena: &mut [T]) {
    for (p, pair) in tape.recurrence.pairs.iter().enumerate() {
        let p = layout.pair(p);
        let a = arena[layout.places[pair.a as usize].index(1)];
        let a = if pair.is_square() { a.times(T::splat(HALF)) } else { a };
        arena[layout.sums + p] = a.times(arena[layout.near[0] + p]);
    }
}

/// Solves blocks at order k: rows `right` … hold the right side, the unknowns are written to `unknowns` …. Not a closure: those are not
/// always compiled into the kernel around them, and a multiply–add outside of it is a call.
pub(crate) trait BlockSolver<T> {
    fn solve<const FUSED: bool>(
        &mut self,
        arena: &mut [T],
        k: usize,
        block: usize,
        right: Row,
        unknowns: Row,
    );
}

/// Order k, with the weighted sums of its pairs in their table.
#[inline(always)]
pub(crate) fn order<const FUSED: bool, T: Element>(
    tape: &Tape,
    layout: &Layout,
    (schedule, cursor): (&Schedule, &Cursor<T>),
    arena: &mut [T],
    k: usize,
    solver: &mut impl BlockSolver<T>,
) {
    let scales = layout.scale + SCALES * k;
    let (inverse, step) = (arena[scales + 1], arena[scales + 3]);
    for (state, rate) in schedule.rates(cursor) {
        arena[state] = arena[rate].times(step);
    }
    arena[layout.places[tape.dimension].index(k)] = arena[scales + 2];
    let (outs, sources) = schedule.places(cursor);
    let stages = if k == layout.order { schedule.last_stages } else { schedule.stages.len() };
    for stage in &schedule.stages[..stages] {
        match stage {
            Stage::Equations(range) => {
                let before = range.start.checked_sub(1).map(|i| schedule.equations[i]);
                let (mut pair, mut edge) = before.map_or((0, 0), |e| (e.pairs as usize, e.edges as usize));
                for (e, out) in schedule.equations[range.clone()].iter().zip(&outs[range.clone()]) {
                    let pairs = &schedule.sums[pair..e.pairs as usize];
                    let edges = edge..e.edges as usize;
                    (pair, edge) = (e.pairs as usize, e.edges as usize);
                    let mut terms = sources[edges.clone()].iter().zip(&cursor.weights[edges]);
                    let mut sum = match pairs.split_first() {
                        // The sums of pairs begin with order 2.
                        Some((first, more)) if k > 1 => {
                            let first = arena[*first as usize];
                            let sum = more.iter().fold(first, |sum, at| sum.plus(arena[*at as usize]));
                            if e.scale == Scale::Inverse { sum.times(inverse) } else { sum }
                        }
                        _ => match terms.next() {
                            Some((x, w)) => arena[*x as usize].times(*w),
                            None => T::splat(0.0),
                        },
                    };
                    for (x, w) in terms {
                        sum = sum.plus_product::<FUSED>(arena[*x as usize], *w);
                    }
                    if pairs.is_empty() && e.scale != Scale::One {
                        sum = sum.times(arena[scales + usize::from(e.scale == Scale::Inverse)]);
                    }
                    arena[*out as usize] = sum;
                }
            }
            &Stage::Solve { block, right_side, unknowns } => {
                solver.solve::<FUSED>(arena, k, block as usize, right_side, unknowns);
            }
        }
    }
}

/// The weighted sum of a pair at order k ≥ 3: far terms, then near ones.
#[inline(always)]
pub(crate) fn weighted_sum<const FUSED: bool, T: Element>(
    [a, b]: [&[T]; 2],
    weight: T,
    near: [T; 2],
    k: usize,
) -> T {
    far_sum::<FUSED, T>(a, b, k)
        .times(weight)
        .plus_product::<FUSED>(a[k - 1], near[0])
        .plus_product::<FUSED>(b[k - 1], near[1])
}

/// Σ a_j b_{k−j} over 1 < j < k − 1, from the middle outwards.
#[inline(always)]
pub(crate) fn far_sum<const FUSED: bool, T: Element>(a: &[T], b: &[T], k: usize) -> T {
    let middle = (k - 1) / 2;
    let (mut low, mut high) = (T::splat(0.0), T::splat(0.0));
    // j falls from the middle to 2, k − j rises.
    let ([a_down, b_down], [a_up, b_up]) =
        ([a, b].map(|c| c[2..middle + 1].iter().rev()), [a, b].map(|c| c[k - middle..k - 1].iter()));
    for ((a_down, b_down), (a_up, b_up)) in a_down.zip(b_down).zip(a_up.zip(b_up)) {
        low = low.plus_product::<FUSED>(*a_down, *b_up);
        high = high.plus_product::<FUSED>(*a_up, *b_down);
    }
    let sum = low.plus(high);
    if k.is_multiple_of(2) { sum.plus_product::<FUSED>(a[k / 2], b[k / 2]) } else { sum }
}

/// The weighted sums of a single trajectory's pairs, far and near, octet by octet.
pub(crate) struct Sums<'a> {
    pub a: &'a [Octet],
    pub b: &'a [Octet],
    pub weights: &'a [Octet],
    pub near: [&'a [Octet]; 2],
    pub sums: &'a mut [Octet],
    pub stride: usize,
    pub k: usize,
}

impl Sums<'_> {
    #[inline(always)]
    pub(crate) fn take<const FUSED: bool>(self) {
        for (c, sum) in self.sums.iter_mut().enumerate() {
            let range = c * self.stride..(c + 1) * self.stride;
            let (a, b) = (&self.a[range.clone()], &self.b[range]);
            let near = [self.near[0][c], self.near[1][c]];
            *sum = weighted_sum::<FUSED, Octet>([a, b], self.weights[c], near, self.k);
        }
    }
}
