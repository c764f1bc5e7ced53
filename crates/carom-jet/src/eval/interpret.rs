//! Orders k ≥ 1 by reading the recurrence: for processors without code, and for systems whose code would be too large.
//! One text for single trajectories and for lanes.

use crate::eval::element::{Element, Octet};
use crate::ir::layout::{HALF, Layout, SCALES, weigh};
use crate::ir::recurrence::{Scale, Stage, Weight};
use crate::ir::tape::{Row, Tape, Value};
use crate::simd::Kernel;

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

/// Order k, with its far sums in the first table, near terms included if `NEAR`; `solve(arena, block, right_side,
/// unknowns)` solves a block.
#[inline(always)]
pub(crate) fn order<const FUSED: bool, const NEAR: bool, T: Element>(
    tape: &Tape,
    layout: &Layout,
    arena: &mut [T],
    k: usize,
    mut solve: impl FnMut(&mut [T], usize, Row, Row),
) {
    let r = &tape.recurrence;
    let scales = layout.scale + SCALES * k;
    let (inverse, step) = (arena[scales + 1], arena[scales + 3]);
    let index = |row: Row| layout.places[row as usize].index(k);
    for (i, rate) in tape.rate.iter().enumerate() {
        let Value::Row(rate) = *rate else { unreachable!("rates are rows") };
        arena[index(i as Row)] = arena[layout.places[rate as usize].index(k - 1)].times(step);
    }
    arena[index(tape.dimension as Row)] = arena[scales + 2];
    let stages = if k == layout.order { r.last_stages } else { r.stages.len() };
    for stage in &r.stages[..stages] {
        match stage {
            Stage::Equations(equations) => {
                for e in &r.equations[equations.clone()] {
                    let mut sum: Option<T> = None;
                    let add = |sum: &mut Option<T>, w: T, x: T| {
                        *sum = Some(match *sum {
                            None => x.times(w),
                            Some(s) => s.plus_product::<FUSED>(x, w),
                        });
                    };
                    for p in e.pairs.clone() {
                        let before = |row: Row| arena[layout.places[row as usize].index(k - 1)];
                        let (pair, p) = (&r.pairs[p], layout.pair(p));
                        let near = layout.near.map(|near| arena[near + p]);
                        let term = match k {
                            1 => continue,
                            2 if pair.is_square() => before(pair.a).times(T::splat(HALF)).times(near[0]),
                            2 => before(pair.a).times(near[0]),
                            _ if NEAR => arena[layout.sums + p],
                            _ => {
                                let first =
                                    arena[layout.sums + p].plus_product::<FUSED>(before(pair.a), near[0]);
                                first.plus_product::<FUSED>(before(pair.b), near[1])
                            }
                        };
                        sum = Some(sum.map_or(term, |s| s.plus(term)));
                    }
                    if e.scale == Scale::Inverse {
                        sum = sum.map(|s| s.times(inverse));
                    }
                    for i in e.edges.clone() {
                        add(
                            &mut sum,
                            arena[layout.edge_weights + layout.edge(i)],
                            arena[index(r.edges[i].source)],
                        );
                    }
                    let mut sum = sum.unwrap_or(T::splat(0.0));
                    if e.pairs.is_empty() && e.scale != Scale::One {
                        sum = sum.times(arena[scales + usize::from(e.scale == Scale::Inverse)]);
                    }
                    arena[index(e.out)] = sum;
                }
            }
            &Stage::Solve { block, right_side, unknowns } => {
                solve(arena, block as usize, right_side, unknowns)
            }
        }
    }
}

/// Σ a_j b_{k−j} over 1 < j < k − 1, from the middle outwards.
#[inline(always)]
pub(crate) fn far_sum<const FUSED: bool, T: Element>(a: &[T], b: &[T], k: usize) -> T {
    let middle = (k - 1) / 2;
    let (mut low, mut high) = (T::splat(0.0), T::splat(0.0));
    for j in (2..=middle).rev() {
        low = low.plus_product::<FUSED>(a[j], b[k - j]);
        high = high.plus_product::<FUSED>(a[k - j], b[j]);
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

impl Kernel for Sums<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        for (c, sum) in self.sums.iter_mut().enumerate() {
            let range = c * self.stride..(c + 1) * self.stride;
            let (a, b) = (&self.a[range.clone()], &self.b[range]);
            let far = far_sum::<FUSED, Octet>(a, b, self.k).times(self.weights[c]);
            *sum = far
                .plus_product::<FUSED>(a[self.k - 1], self.near[0][c])
                .plus_product::<FUSED>(b[self.k - 1], self.near[1][c]);
        }
    }
}
