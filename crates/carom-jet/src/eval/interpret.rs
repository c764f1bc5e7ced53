//! Orders k ≥ 1 by reading the recurrence: for processors without code, and for systems whose code would be too large.
//! One text for single trajectories and for lanes.

use crate::eval::element::{Element, Octet};
use crate::eval::schedule::{Cursor, NamedLists, RegisterLookup, RegisterNames, Schedule, operate};
use crate::ir::layout::{HALF, Layout, SCALES, WIDTH, weigh};
use crate::ir::recurrence::Weight;
use crate::ir::tape::{RowIndex, Tape};

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
        let row = |row: RowIndex| arena[layout.places[row as usize].index(0)];
        arena[table + *i as usize] = weigh(w, base, row, T::times, T::over);
    }
}

/// w b_1 and w a_1 of every pair.
#[inline(always)]
pub(crate) fn boundary_weights<T: Element>(tape: &Tape, layout: &Layout, arena: &mut [T]) {
    let pairs = &tape.recurrence.pairs;
    for (p, pair) in pairs.iter().enumerate() {
        let p = layout.pair(p);
        let w = arena[layout.pair_weights + p];
        let [a, b] = [pair.a, pair.b].map(|row| arena[layout.places[row as usize].index(1)]);
        if pair.is_square() {
            let once = w.times(a);
            arena[layout.boundary[0] + p] = once.plus(once);
        } else {
            arena[layout.boundary[0] + p] = w.times(b);
            arena[layout.boundary[1] + p] = w.times(a);
        }
    }
}

/// The weighted sums of order 2: the one term a_1 b_1.
#[inline(always)]
pub(crate) fn second_sums<T: Element>(tape: &Tape, layout: &Layout, arena: &[T], sums: &mut [T]) {
    for (p, pair) in tape.recurrence.pairs.iter().enumerate() {
        let p = layout.pair(p);
        let a = arena[layout.places[pair.a as usize].index(1)];
        let a = if pair.is_square() { a.times(T::splat(HALF)) } else { a };
        sums[p] = a.times(arena[layout.boundary[0] + p]);
    }
}

/// Solves blocks at order k: rows `right` … hold the right side, the unknowns are written to `unknowns` …. Not a closure: those are not
/// always compiled into the kernel around them, and a multiply–add outside of it is a call.
pub(crate) trait BlockSolver<T> {
    /// How many unknowns a block has.
    fn size(&self, block: usize) -> usize;
    /// Are the factors of a symmetric block where the layout has them?
    fn has_factors(&self, block: usize) -> bool;
    fn solve<const FUSED: bool>(
        &mut self,
        arena: &mut [T],
        k: usize,
        block: usize,
        right: RowIndex,
        unknowns: RowIndex,
    );
}

/// All orders of elements whose operands are kept row by row, after their values: lanes, and any other element.
#[inline(always)]
pub(crate) fn all_orders<const FUSED: bool, T: Element>(
    tape: &Tape,
    layout: &Layout,
    [moving_pairs, moving_edges]: [&[(u32, Weight)]; 2],
    (schedule, cursor): (&Schedule, &mut Cursor<T>),
    arena: &mut [T],
    solver: &mut impl BlockSolver<T>,
) {
    set_weights(layout, arena, layout.pair_weights, moving_pairs);
    set_weights(layout, arena, layout.edge_weights, moving_edges);
    schedule.begin(cursor, arena);
    for k in 1..=layout.order {
        if k == 2 {
            second_sums(tape, layout, arena, &mut cursor.registers);
        }
        let last = k == layout.order;
        let pairs = if last { tape.recurrence.last_pairs } else { tape.recurrence.pairs.len() };
        let pairs = if k < 3 { 0 } else { pairs };
        for (p, pair) in tape.recurrence.pairs[..pairs].iter().enumerate() {
            let series = |row: RowIndex| &arena[layout.places[row as usize].at as usize..][..layout.stride];
            let boundary = layout.boundary.map(|boundary| arena[boundary + p]);
            let weight = arena[layout.pair_weights + p];
            cursor.registers[p] =
                weighted_sum::<FUSED, T>([series(pair.a), series(pair.b)], weight, boundary, k);
        }
        order::<FUSED, T>(layout, (schedule, &mut *cursor), arena, k, solver);
        if k == 1 {
            boundary_weights(tape, layout, arena);
        }
    }
}

/// Order k, with the weighted sums of its pairs in the first registers.
#[inline(always)]
pub(crate) fn order<const FUSED: bool, T: Element>(
    layout: &Layout,
    (schedule, cursor): (&Schedule, &mut Cursor<T>),
    arena: &mut [T],
    k: usize,
    solver: &mut impl BlockSolver<T>,
) {
    let scales = layout.scale + SCALES * k;
    schedule.set_scales(&mut cursor.weights, arena[scales], arena[scales + 1]);
    match &schedule.names {
        RegisterNames::Narrow(names) => {
            named::<FUSED, u8, T>(layout, (schedule, names, cursor), arena, k, solver)
        }
        RegisterNames::Wide(names) => {
            named::<FUSED, u32, T>(layout, (schedule, names, cursor), arena, k, solver)
        }
    }
    cursor.advance(schedule);
}

/// The same with registers of these names.
#[inline(always)]
fn named<const FUSED: bool, N: RegisterLookup<T>, T: Element>(
    layout: &Layout,
    (schedule, names, cursor): (&Schedule, &NamedLists<N>, &mut Cursor<T>),
    arena: &mut [T],
    k: usize,
    solver: &mut impl BlockSolver<T>,
) {
    let (registers, weights, [rates, kept]) = cursor.parts(schedule.variables);
    let registers = N::look_up(registers);
    let scales = layout.scale + SCALES * k;
    let (clock, step) = (arena[scales + 2], arena[scales + 3]);
    for (row, rate) in names.rows.iter().zip(rates) {
        registers[row.number()] = arena[*rate as usize].times(step);
    }
    registers[names.rows[rates.len()].number()] = clock;
    let is_last = k == layout.order;
    let blocks = if is_last { schedule.last_blocks } else { schedule.blocks.len() };
    let mut done = 0;
    for b in &schedule.blocks[..blocks] {
        if b.as_operations && solver.has_factors(b.block) {
            continue;
        }
        operate::<FUSED, N, T>(registers, &names.operations[done..b.begin], &weights[done..b.begin]);
        done = b.end;
        let n = solver.size(b.block) as RowIndex;
        let index = |row: RowIndex| layout.places[row as usize].index(k);
        for row in b.right_side..b.right_side + n {
            arena[index(row)] = registers[names.rows[row as usize].number()];
        }
        solver.solve::<FUSED>(arena, k, b.block, b.right_side, b.unknowns);
        for row in b.unknowns..b.unknowns + n {
            registers[names.rows[row as usize].number()] = arena[index(row)];
        }
    }
    let end = if is_last { schedule.last_operations } else { names.operations.len() };
    operate::<FUSED, N, T>(registers, &names.operations[done..end], &weights[done..end]);
    let kept = if is_last { &kept[..schedule.last_kept] } else { kept };
    for (name, place) in names.kept.iter().zip(kept) {
        arena[*place as usize] = registers[name.number()];
    }
}

/// The weighted sum of a pair at order k ≥ 3: interior terms, then boundary ones.
#[inline(always)]
pub(crate) fn weighted_sum<const FUSED: bool, T: Element>(
    [a, b]: [&[T]; 2],
    weight: T,
    boundary: [T; 2],
    k: usize,
) -> T {
    interior_sum::<FUSED, T>(a, b, k)
        .times(weight)
        .plus_product::<FUSED>(a[k - 1], boundary[0])
        .plus_product::<FUSED>(b[k - 1], boundary[1])
}

/// Σ a_j b_{k−j} over 1 < j < k − 1, from the middle outwards.
#[inline(always)]
pub(crate) fn interior_sum<const FUSED: bool, T: Element>(a: &[T], b: &[T], k: usize) -> T {
    let middle = (k - 1) / 2;
    let (mut low, mut high) = (T::splat(0.0), T::splat(0.0));
    // j falls from the middle to 2, k − j rises.
    let n = middle - 1;
    let ([a_down, b_down], [a_up, b_up]) =
        ([a, b].map(|c| &c[2..][..n]), [a, b].map(|c| &c[k - middle..][..n]));
    for i in 0..n {
        low = low.plus_product::<FUSED>(a_down[n - 1 - i], b_up[i]);
        high = high.plus_product::<FUSED>(a_up[i], b_down[n - 1 - i]);
    }
    let sum = low.plus(high);
    if k.is_multiple_of(2) { sum.plus_product::<FUSED>(a[k / 2], b[k / 2]) } else { sum }
}

/// The weighted sums of a single trajectory's pairs, interior and boundary, octet by octet.
pub(crate) struct Sums<'a> {
    pub a: &'a [Octet],
    pub b: &'a [Octet],
    pub weights: &'a [Octet],
    pub boundary: [&'a [Octet]; 2],
    pub sums: &'a mut [[f64; WIDTH]],
    pub stride: usize,
    pub k: usize,
}

impl Sums<'_> {
    #[inline(always)]
    pub(crate) fn take<const FUSED: bool>(self) {
        let Sums { a, b, weights, boundary: [first, second], sums, stride, k } = self;
        let series = a.chunks_exact(stride).zip(b.chunks_exact(stride));
        for ((((sum, (a, b)), weight), first), second) in
            sums.iter_mut().zip(series).zip(weights).zip(first).zip(second)
        {
            *sum = weighted_sum::<FUSED, Octet>([a, b], *weight, [*first, *second], k).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::ldl;
    use crate::eval::order_zero::{self, OrderZeroBlocks};
    use crate::eval::time::two_sum;
    use crate::ir::layout::{BlockFactors, moving};
    use crate::ir::system::{LinearBlock, System};
    use crate::ir::tape::TapeValue;
    use carom_expr::{Dag, Function};
    use std::convert::Infallible;

    /// An unevaluated sum of two doubles: about 32 digits.
    #[derive(Clone, Copy, PartialEq, Debug)]
    struct DoubleDouble(f64, f64);

    impl Element for DoubleDouble {
        fn splat(x: f64) -> Self {
            DoubleDouble(x, 0.0)
        }
        fn plus(self, o: Self) -> Self {
            let ((s, e), (t, f)) = (two_sum(self.0, o.0), two_sum(self.1, o.1));
            let (s, e) = two_sum(s, e + t);
            let (s, e) = two_sum(s, e + f);
            DoubleDouble(s, e)
        }
        fn minus(self, o: Self) -> Self {
            self.plus(DoubleDouble(-o.0, -o.1))
        }
        fn times(self, o: Self) -> Self {
            let p = self.0 * o.0;
            let (p, e) = two_sum(p, self.0.mul_add(o.0, -p) + (self.0 * o.1 + self.1 * o.0));
            DoubleDouble(p, e)
        }
        fn over(self, o: Self) -> Self {
            // Two corrections: each squares the error.
            (0..2).fold(Self::splat(self.0 / o.0), |q, _| q.plus(Self::splat(self.minus(q.times(o)).0 / o.0)))
        }
        fn plus_product<const FUSED: bool>(self, a: Self, b: Self) -> Self {
            self.plus(a.times(b))
        }
        fn minus_product<const FUSED: bool>(self, a: Self, b: Self) -> Self {
            self.minus(a.times(b))
        }
        fn abs(self) -> Self {
            if self.0 < 0.0 { DoubleDouble(-self.0, -self.1) } else { self }
        }
        fn sqrt(self) -> Self {
            let half = Self::splat(0.5);
            (0..2).fold(Self::splat(self.0.sqrt()), |r, _| r.plus(self.over(r)).times(half))
        }
        fn sin_cos(self) -> (Self, Self) {
            unimplemented!("not needed here")
        }
        fn power(self, _: Self) -> Self {
            unimplemented!("not needed here")
        }
        fn general_power(self, _: Self) -> Self {
            unimplemented!("not needed here")
        }
        fn function(_: Function, _: Self, _: Self) -> Self {
            unimplemented!("not needed here")
        }
    }

    /// Symmetric blocks of any element.
    struct Blocks<'a>(&'a Tape, &'a Layout);

    impl<T: Element> OrderZeroBlocks<T> for Blocks<'_> {
        type Error = Infallible;
        fn solve(&mut self, arena: &mut [T], index: usize) -> Result<(), Infallible> {
            let (layout, block) = (self.1, &self.0.blocks[index]);
            let BlockFactors::Symmetric(f) = &layout.blocks[index] else { panic!("a symmetric block") };
            let out = |i: RowIndex| layout.places[(block.first + i) as usize].index(0);
            let value = |arena: &[T], value: TapeValue| match value {
                TapeValue::Row(row) => arena[layout.places[row as usize].index(0)],
                TapeValue::Constant(slot) => arena[layout.constants + slot as usize],
            };
            for (i, b) in (0..).zip(&block.right_side) {
                arena[out(i)] = value(arena, *b);
            }
            ldl::factor(f, block, arena, value);
            ldl::solve::<false, T>(f, arena, out, out);
            Ok(())
        }
    }

    impl<T: Element> BlockSolver<T> for Blocks<'_> {
        fn size(&self, block: usize) -> usize {
            self.0.blocks[block].size
        }
        fn has_factors(&self, _: usize) -> bool {
            false
        }
        fn solve<const FUSED: bool>(
            &mut self,
            arena: &mut [T],
            k: usize,
            block: usize,
            right: RowIndex,
            unknowns: RowIndex,
        ) {
            let BlockFactors::Symmetric(f) = &self.1.blocks[block] else { panic!("a symmetric block") };
            let index = |row: RowIndex| self.1.places[row as usize].index(k);
            ldl::solve::<FUSED, T>(f, arena, |i| index(right + i), |i| index(unknowns + i));
        }
    }

    /// The series of all state variables, with any element.
    fn series<T: Element>(tape: &Tape, order: usize, state: &[T]) -> Vec<Vec<T>> {
        let layout = Layout::new(tape, order, false);
        let mut arena = vec![T::splat(0.0); layout.length];
        for (at, scales) in layout.scales(1.0) {
            // k and τ are doubles, 1/k is not.
            let [k, _, clock, _] = scales.map(T::splat);
            let inverse = T::splat(1.0).over(k);
            arena[at..at + SCALES].copy_from_slice(&[k, inverse, clock, inverse]);
        }
        for (i, x) in layout.literals.iter().enumerate() {
            arena[layout.numbers + i] = T::splat(*x);
        }
        let mut constants = vec![0.0; tape.constants.len()];
        order_zero::constants(tape, &[], &mut constants);
        for (place, x) in arena[layout.constants..].iter_mut().zip(&constants) {
            *place = T::splat(*x);
        }
        let weight = |w: &Weight| T::splat(w.factor).times(T::splat(constants[w.constant as usize]));
        for (i, pair) in tape.recurrence.pairs.iter().enumerate() {
            arena[layout.pair_weights + layout.pair(i)] = weight(&pair.weight);
        }
        for (i, edge) in tape.recurrence.edges.iter().enumerate() {
            arena[layout.edge_weights + layout.edge(i)] = weight(&edge.weight);
        }
        for (place, x) in layout.places.iter().zip(state) {
            arena[place.index(0)] = *x;
        }
        for op in &tape.ops {
            let Ok(()) = order_zero::value_of(&layout, &mut arena[..], op, &mut Blocks(tape, &layout));
        }
        let pairs = moving(tape.recurrence.pairs.iter().map(|p| p.weight), &layout.tables.pairs);
        let edges = moving(tape.recurrence.edges.iter().map(|e| e.weight), &layout.tables.edges);
        let schedule = Schedule::new(tape, &layout, false);
        all_orders::<true, T>(
            tape,
            &layout,
            [&pairs, &edges],
            (&schedule, &mut Cursor::new()),
            &mut arena,
            &mut Blocks(tape, &layout),
        );
        (0..state.len()).map(|i| (0..=order).map(|k| arena[layout.places[i].index(k)]).collect()).collect()
    }

    /// The largest error of the series of x = 1/(3 − t), z = ∫ √x, w = ∫ u where 2u + x v = x, x u + v = 0: by their closed forms,
    /// in the same arithmetic, relative to each coefficient.
    fn error<T: Element>(value: impl Fn(T) -> f64) -> f64 {
        const ORDER: usize = 20;
        let mut dag = Dag::new();
        let [t, x, z, w, u, v] = ["t", "x", "z", "w", "u", "v"].map(|name| dag.symbol(name));
        let (square, root) = (dag.mul(x, x), dag.sqrt(x));
        let [zero, one, two] = [0, 1, 2].map(|n| dag.integer(n));
        let block = LinearBlock {
            unknowns: vec![u, v],
            matrix: vec![vec![two, x], vec![x, one]],
            right_side: vec![x, zero],
            names: vec![],
            augmentation_rows: vec![],
            definitions: vec![],
        };
        let (state, rate) = (vec![x, z, w], vec![square, root, u]);
        let (parameters, watched, monitored) = (vec![], vec![], vec![]);
        let system = System { time: t, parameters, state, rate, blocks: vec![block], watched, monitored };
        let tape = Tape::compile(&dag, &system).unwrap();
        let n = |n: usize| T::splat(n as f64);
        let third = n(1).over(n(3));
        let found = series::<T>(&tape, ORDER, &[third, n(0), n(0)]);
        let mut worst = 0.0_f64;
        let mut compare = |found: T, wanted: T| {
            worst = worst.max((value(found.minus(wanted)) / value(wanted)).abs());
        };
        let (mut geometric, mut binomial) = (third, third.sqrt());
        for k in 0..ORDER {
            compare(found[0][k], geometric);
            compare(found[1][k + 1].times(n(k + 1)), binomial);
            geometric = geometric.times(third);
            // (3 − t)^(−1/2)
            binomial = binomial.times(n(2 * k + 1)).over(n(6 * k + 6));
        }
        // u = x/(2 − x²) = (3 − t)/(2 (3 − t)² − 1): (17 − 12 t + 2 t²) u = 3 − t.
        let rate = |k: usize| found[2][k + 1].times(n(k + 1));
        for k in 0..ORDER {
            let mut sum = n(17).times(rate(k));
            if k >= 1 {
                sum = sum.minus(n(12).times(rate(k - 1)));
            }
            if k >= 2 {
                sum = sum.plus(n(2).times(rate(k - 2)));
            }
            let wanted = [n(3), n(0).minus(n(1))].get(k).copied().unwrap_or(n(0));
            worst = worst.max((value(sum.minus(wanted)) / value(n(17).times(rate(k)))).abs());
        }
        worst
    }

    #[test]
    fn an_element_of_twice_the_digits_gives_series_of_twice_the_digits() {
        let (double, pair) = (error::<f64>(|x| x), error::<DoubleDouble>(|x| x.0));
        assert!(double < 1e-13 && double > 1e-18, "{double:e}");
        assert!(pair < 1e-28, "{pair:e}");
    }
}
