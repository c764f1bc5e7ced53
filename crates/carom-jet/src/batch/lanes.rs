//! The series of W trajectories at once: lane i of every vector belongs to trajectory i.
//!
//! Each lane performs exactly the operations of a single [`super::Flow`], in the same order: a trajectory's bits depend
//! neither on the width nor on what the other lanes do.

// Loops over lanes are indexed: several arrays advance together, and that form becomes vector code.
#![allow(clippy::needless_range_loop)]

use crate::batch::ensemble::{LaneSeries, Monitors};
use crate::emit::Segment;
use crate::eval::element::{Count, Doubles, Element, Vector, Wide};
use crate::eval::factor::{self, Factor, firm, healthy, weak};
use crate::eval::interpret::{self, BlockSolver};
use crate::eval::ldl;
use crate::eval::machine_code::{MachineCode, code};
use crate::eval::order_zero::{self, OrderZeroBlocks, ValuePhase};
use crate::eval::polynomial::{end_of, powers};
use crate::eval::schedule::{Cursor, Schedule};
use crate::ir::layout::{BlockFactors, Layout, Pivoted, moving};
use crate::ir::recurrence::Weight;
use crate::ir::tape::{CompiledBlock, RowIndex, Tape, TapeValue};
use crate::simd::Level;
use std::convert::Infallible;
use std::sync::Arc;

/// Workspace of W trajectories.
#[derive(Clone, Debug)]
pub(crate) struct Lanes<const W: usize>
where
    Count<W>: Vector,
{
    pub(crate) tape: Arc<Tape>,
    pub(crate) order: usize,
    layout: Arc<Layout>,
    arena: Vec<Wide<W>>,
    /// State and time to expand around.
    pub(crate) current: Vec<Wide<W>>,
    /// Values of the monitored functions, and where they are.
    pub(crate) monitored: Vec<Wide<W>>,
    monitored_at: Vec<usize>,
    /// What is done outside of the code after each of its segments.
    outside: Vec<ValuePhase>,
    moving_pairs: Vec<(u32, Weight)>,
    moving_edges: Vec<(u32, Weight)>,
    /// Lanes whose last jet met a pivot that needs the scalar, pivoting path.
    pub(crate) unhealthy: [bool; W],
    /// τ of each lane's series, a power of two, and 1/τ: to multiply by it rounds as a division does, and takes less.
    pub(crate) unit: Wide<W>,
    pub(crate) per_unit: Wide<W>,
    /// How far the constraint rows of each lane are from depending on each other.
    pub(crate) firmness: [f64; W],
    scratch: Vec<f64>,
    /// Room to factor what needs pivoting, lane by lane.
    pivoting: Vec<Factor>,
    /// What interpretation reads, made when it is first needed; and how far it has come.
    schedule: Option<Arc<Schedule>>,
    cursor: Cursor<Wide<W>>,
    code: MachineCode,
}

impl<const W: usize> Lanes<W>
where
    Count<W>: Vector,
{
    pub(crate) fn new(tape: Arc<Tape>, order: usize, level: Level) -> Lanes<W> {
        let layout = Layout::new(&tape, order, false);
        let mut arena = vec![Wide::ZERO; layout.length];
        for (at, scales) in layout.scales(1.0) {
            scales.iter().enumerate().for_each(|(i, x)| arena[at + i] = Wide::splat(*x));
        }
        for (i, x) in layout.literals.iter().enumerate() {
            arena[layout.numbers + i] = Wide::splat(*x);
        }
        arena[layout.mask] = Wide::splat(f64::from_bits(u64::MAX >> 1));
        let code = code(&tape, &layout, W, level);
        let zeros = |n: usize| vec![Wide::ZERO; n];
        Lanes {
            order,
            arena,
            current: zeros(tape.dimension + 1),
            monitored: zeros(tape.monitored.len()),
            monitored_at: tape.monitored.iter().map(|value| index_of(&layout, *value)).collect(),
            outside: code
                .iter()
                .flat_map(|code| code.program().values())
                .map(|segment| ValuePhase::outside(&tape, &layout, segment))
                .collect(),
            moving_pairs: moving(tape.recurrence.pairs.iter().map(|p| p.weight), &layout.tables.pairs),
            moving_edges: moving(tape.recurrence.edges.iter().map(|e| e.weight), &layout.tables.edges),
            unhealthy: [false; W],
            unit: Wide::splat(1.0),
            per_unit: Wide::splat(1.0),
            firmness: [1.0; W],
            scratch: vec![0.0; tape.constants.len()],
            pivoting: tape.blocks.iter().map(Factor::new).collect(),
            schedule: None,
            cursor: Cursor::new(),
            layout: Arc::new(layout),
            code,
            tape,
        }
    }

    /// Sets the parameters of one lane.
    pub(crate) fn set_parameters(&mut self, lane: usize, parameters: &[f64]) {
        order_zero::constants(&self.tape, parameters, &mut self.scratch);
        let (layout, r) = (&self.layout, &self.tape.recurrence);
        for (wide, x) in self.arena[layout.constants..].iter_mut().zip(&self.scratch) {
            wide.0[lane] = *x;
        }
        let value = |w: &Weight| w.factor * self.scratch[w.constant as usize];
        for (wide, pair) in self.arena[layout.pair_weights..].iter_mut().zip(&r.pairs) {
            wide.0[lane] = value(&pair.weight);
        }
        for (wide, edge) in self.arena[layout.edge_weights..].iter_mut().zip(&r.edges) {
            wide.0[lane] = value(&edge.weight);
        }
    }

    /// Series of one lane are in powers of (t − t₀)/τ from now on.
    pub(crate) fn set_unit(&mut self, lane: usize, unit: f64) {
        if unit != self.unit.0[lane] {
            (self.unit.0[lane], self.per_unit.0[lane]) = (unit, 1.0 / unit);
            for (at, scales) in self.layout.scales(unit) {
                scales.iter().enumerate().for_each(|(i, x)| self.arena[at + i].0[lane] = *x);
            }
        }
    }

    /// A constant of one lane.
    pub(crate) fn constant(&self, slot: u32, lane: usize) -> f64 {
        self.arena[self.layout.constants + slot as usize].0[lane]
    }

    /// The value of a watched function that does not move.
    #[inline(always)]
    pub(crate) fn watched_constant(&self, i: usize) -> Wide<W> {
        value_of(&self.layout, &self.arena, self.tape.watched[i])
    }

    /// Coefficients of a row that has a series.
    #[inline(always)]
    pub(crate) fn row(&self, row: RowIndex) -> &[Wide<W>] {
        &self.arena[self.layout.places[row as usize].at as usize..][..self.order + 1]
    }

    /// The series of all lanes around `current`.
    #[inline(always)]
    pub(crate) fn jet<const FUSED: bool>(&mut self) {
        for (x, place) in self.current.iter().zip(&self.layout.places) {
            self.arena[place.index(0)] = *x;
        }
        self.unhealthy = [false; W];
        self.firmness = [1.0; W];
        match self.code.take() {
            Some(code) => {
                let outside = std::mem::take(&mut self.outside);
                for (segment, outside) in code.program().values().iter().zip(&outside) {
                    if let Segment::Code(entry) = segment {
                        code.run(*entry, &mut self.arena);
                    }
                    // Not `for_each`: its closure would not be compiled for the instructions of the kernel.
                    for op in &outside.ops {
                        self.order_zero(*op as usize);
                    }
                    for &[u, sin, cos] in &outside.sines {
                        (self.arena[sin], self.arena[cos]) = self.arena[u].sin_cos();
                    }
                }
                self.outside = outside;
                self.examine();
                if let Some(orders) = code.program().orders() {
                    code.run(orders, &mut self.arena);
                }
                self.code = Some(code);
            }
            None => self.interpret::<FUSED>(),
        }
        for (monitored, at) in self.monitored.iter_mut().zip(&self.monitored_at) {
            *monitored = self.arena[*at];
        }
    }

    /// Marks lanes that come near an instant at which constraint rows depend on each other.
    #[inline(always)]
    pub(crate) fn weaken(&mut self, monitors: &Monitors, greatest: &[Wide<W>], firmest: &mut Wide<W>) {
        if monitors.weak == 0.0 {
            return;
        }
        for i in 0..W {
            firmest.0[i] = firmest.0[i].max(self.firmness[i]);
            self.unhealthy[i] |= weak(monitors.weak, self.firmness[i], firmest.0[i]);
        }
        for &(norm, size) in &monitors.norms {
            let (norm, size) = (self.monitored[norm], greatest[size]);
            for i in 0..W {
                self.unhealthy[i] |= norm.0[i] <= monitors.weak * size.0[i];
            }
        }
    }

    /// Marks lanes with a doubtful pivot.
    #[inline(always)]
    fn examine(&mut self) {
        for f in self.layout.symmetric() {
            let n = f.pattern.order.len();
            let (pivots, sizes) = self.arena[f.checks..][..2 * n].split_at(n);
            let strictness = Wide::splat(ldl::strictness(&f.pattern));
            let doubt = |p: f64, s: f64| if healthy(p, s) { 0.0 } else { 1.0 };
            let mut doubts = Wide::ZERO;
            for (p, s) in pivots.iter().zip(sizes) {
                doubts = doubts.plus(p.zip(s.times(strictness), doubt));
            }
            if !doubts.is_zero() {
                for lane in 0..W {
                    self.unhealthy[lane] |= doubts.0[lane] != 0.0;
                }
            }
            for &i in &f.loose {
                for lane in 0..W {
                    self.firmness[lane] = firm(self.firmness[lane], pivots[i].0[lane], sizes[i].0[lane]);
                }
            }
        }
    }
}

#[inline(always)]
fn value_of<const W: usize>(layout: &Layout, arena: &[Wide<W>], value: TapeValue) -> Wide<W>
where
    Count<W>: Vector,
{
    arena[index_of(layout, value)]
}

#[inline(always)]
fn index_of(layout: &Layout, value: TapeValue) -> usize {
    match value {
        TapeValue::Row(row) => layout.places[row as usize].index(0),
        TapeValue::Constant(slot) => layout.constants + slot as usize,
    }
}

impl<const W: usize> Lanes<W>
where
    Count<W>: Vector,
{
    /// All orders by interpretation.
    #[inline(always)]
    fn interpret<const FUSED: bool>(&mut self) {
        for op in 0..self.tape.ops.len() {
            self.order_zero(op);
        }
        self.examine();
        let tape = &*self.tape;
        let layout = Arc::clone(&self.layout);
        let schedule = self.schedule.get_or_insert_with(|| Arc::new(Schedule::new(tape, &layout, false)));
        let schedule = Arc::clone(schedule);
        let (arena, cursor) = (&mut self.arena[..], &mut self.cursor);
        let moving = [&self.moving_pairs[..], &self.moving_edges[..]];
        interpret::all_orders::<FUSED, Wide<W>>(
            tape,
            &layout,
            moving,
            (&schedule, cursor),
            arena,
            &mut LaneSolver(tape, &layout),
        );
    }

    /// One instruction of order 0.
    #[inline(always)]
    fn order_zero(&mut self, op: usize) {
        let Lanes { tape, layout, arena, pivoting, unhealthy, firmness, .. } = self;
        let mut blocks = LaneOrderZero { tape, layout, pivoting, unhealthy, firmness };
        let Ok(()) = order_zero::value_of(layout, &mut arena[..], &tape.ops[op], &mut blocks);
    }
}

/// Blocks at order 0, all lanes together.
struct LaneOrderZero<'a, const W: usize> {
    tape: &'a Tape,
    layout: &'a Layout,
    pivoting: &'a mut [Factor],
    unhealthy: &'a mut [bool; W],
    firmness: &'a mut [f64; W],
}

impl<const W: usize> OrderZeroBlocks<Wide<W>> for LaneOrderZero<'_, W>
where
    Count<W>: Vector,
{
    type Error = Infallible;

    #[inline(always)]
    fn solve(&mut self, arena: &mut [Wide<W>], index: usize) -> Result<(), Infallible> {
        let (layout, block) = (self.layout, &self.tape.blocks[index]);
        let out = |i: RowIndex| layout.places[(block.first + i) as usize].index(0);
        for (i, b) in block.right_side.iter().enumerate() {
            arena[out(i as RowIndex)] = value_of(layout, arena, *b);
        }
        match &layout.blocks[index] {
            BlockFactors::Symmetric(f) => {
                ldl::factor(f, block, arena, |arena, value| value_of(layout, arena, value));
                ldl::solve::<false, Wide<W>>(f, arena, out, out);
            }
            BlockFactors::Pivoted(f) => {
                for lane in 0..W {
                    let pivoting = &mut self.pivoting[index];
                    let solved = pivot(f, layout, block, arena, lane, pivoting, out);
                    self.unhealthy[lane] |= !solved;
                    self.firmness[lane] = self.firmness[lane].min(pivoting.firmness());
                }
            }
        }
        Ok(())
    }
}

/// Solves with the factors of order 0, all lanes together.
struct LaneSolver<'a>(&'a Tape, &'a Layout);

impl<const W: usize> BlockSolver<Wide<W>> for LaneSolver<'_>
where
    Count<W>: Vector,
{
    #[inline(always)]
    fn size(&self, block: usize) -> usize {
        self.0.blocks[block].size
    }

    #[inline(always)]
    fn has_factors(&self, _: usize) -> bool {
        true
    }

    #[inline(always)]
    fn solve<const FUSED: bool>(
        &mut self,
        arena: &mut [Wide<W>],
        k: usize,
        block: usize,
        right: RowIndex,
        unknowns: RowIndex,
    ) {
        let layout = self.1;
        let index = |row: RowIndex| layout.places[row as usize].index(k);
        let (right, out) = (|i| index(right + i), |i| index(unknowns + i));
        match &layout.blocks[block] {
            BlockFactors::Symmetric(f) => ldl::solve::<FUSED, Wide<W>>(f, arena, right, out),
            BlockFactors::Pivoted(f) => factor::solve::<FUSED, Wide<W>>(f, arena, right, out),
        }
    }
}

/// Factors and solves one lane of a block that needs pivoting; false when it is singular.
fn pivot<const W: usize>(
    f: &Pivoted,
    layout: &Layout,
    block: &CompiledBlock,
    arena: &mut [Wide<W>],
    lane: usize,
    factor: &mut Factor,
    out: impl Fn(RowIndex) -> usize,
) -> bool
where
    Count<W>: Vector,
{
    if factor.factor(block, |value| value_of(layout, arena, value).0[lane]).is_err() {
        return false;
    }
    for (wide, x) in arena[f.factors..].iter_mut().zip(factor.general()) {
        wide.0[lane] = *x;
    }
    let mut b: Vec<f64> = (0..f.size as RowIndex).map(|i| arena[out(i)].0[lane]).collect();
    factor.solve::<false>(&mut b);
    for (i, x) in b.into_iter().enumerate() {
        arena[out(i as RowIndex)].0[lane] = x;
    }
    true
}

impl<const W: usize> LaneSeries for Lanes<W>
where
    Count<W>: Vector,
{
    fn unit(&self, lane: usize) -> f64 {
        self.unit.0[lane]
    }
    fn state(&self, i: usize, lane: usize, into: &mut [f64]) {
        into.iter_mut().zip(self.row(i as RowIndex)).for_each(|(x, c)| *x = c.0[lane]);
    }
    fn watched(&self, i: usize, lane: usize, into: &mut [f64]) {
        match self.tape.watched[i] {
            TapeValue::Row(row) => into.iter_mut().zip(self.row(row)).for_each(|(x, c)| *x = c.0[lane]),
            TapeValue::Constant(slot) => {
                into.fill(0.0);
                into[0] = self.constant(slot, lane);
            }
        }
    }
    fn monitored(&self, i: usize, lane: usize) -> f64 {
        self.monitored[i].0[lane]
    }
    #[inline(always)]
    fn guarded(&self, i: usize, k: usize, lane: usize) -> f64 {
        self.row(self.tape.recurrence.guarded[i].u)[k].0[lane]
    }
    fn pair_at(&self, lane: usize, h: f64, into: &mut [f64], low: &mut [f64]) {
        let mut h_powers = vec![0.0; self.order];
        powers(h, &mut h_powers);
        for (i, (x, low)) in into.iter_mut().zip(low).enumerate() {
            let row: Vec<f64> = self.row(i as RowIndex).iter().map(|c| c.0[lane]).collect();
            (*x, *low) = end_of(&row, &h_powers, *low);
        }
    }
}
