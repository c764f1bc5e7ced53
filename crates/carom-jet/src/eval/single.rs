//! One trajectory's evaluation: machine code where the processor allows it, interpreted where not; the same bits.
//!
//! Operands of the pair at place p of the tables are copied to lane p mod 8 of octet p div 8 once their coefficient is known,
//! so that the interior sums of all pairs run through the vector unit with aligned loads and no shuffles.

use crate::emit::Segment;
use crate::eval::element::{Count, Octet, Vector, Wide};
use crate::eval::factor::{self, Factor, firm};
use crate::eval::interpret::{self, BlockSolver, Sums};
use crate::eval::ldl;
use crate::eval::machine_code::{MachineCode, code};
use crate::eval::order_zero::{self, ValuePhase};
use crate::eval::schedule::{Cursor, Schedule};
use crate::eval::sincos::SinCos;
use crate::ir::layout::{BlockFactors, Layout, RowPlace, WIDTH, moving};
use crate::ir::recurrence::Weight;
use crate::ir::system::Singular;
use crate::ir::tape::{Tape, TapeValue};
use crate::simd::{ExecutableCode, Kernel, Level, dispatch, flat, flat_mut};
use std::sync::Arc;

/// Workspace of a single trajectory.
#[derive(Clone, Debug)]
pub(crate) struct SingleWorkspace {
    level: Level,
    pub(crate) layout: Arc<Layout>,
    arena: Vec<Octet>,
    /// Weights that change with the state: position, what it is.
    moving_pairs: Arc<Vec<(u32, Weight)>>,
    moving_edges: Arc<Vec<(u32, Weight)>>,
    factors: Vec<Factor>,
    /// What interpretation reads, made when it is first needed; and how far it has come.
    schedule: Option<Arc<Schedule>>,
    cursor: Cursor<f64>,
    /// Outer `None`: not asked for yet.
    code: Option<MachineCode>,
    /// What is done outside of it after each of its segments.
    outside: Vec<ValuePhase>,
    /// All of order 0, where it is interpreted.
    phases: Option<Arc<Vec<ValuePhase>>>,
    /// Were the last values made by code?
    coded: bool,
    /// τ: a power of two.
    unit: f64,
}

impl SingleWorkspace {
    pub(crate) fn new(tape: &Tape, order: usize) -> SingleWorkspace {
        let r = &tape.recurrence;
        let layout = Layout::new(tape, order, true);
        let mut arena = vec![Octet::ZERO; layout.length.div_ceil(WIDTH)];
        let doubles = flat_mut(&mut arena);
        for (at, scales) in layout.scales(1.0) {
            doubles[at..at + scales.len()].copy_from_slice(&scales);
        }
        doubles[layout.numbers..][..layout.literals.len()].copy_from_slice(&layout.literals);
        doubles[layout.mask..][..WIDTH].fill(f64::from_bits(u64::MAX >> 1));
        SingleWorkspace {
            level: Level::detect(),
            arena,
            moving_pairs: Arc::new(moving(r.pairs.iter().map(|p| p.weight), &layout.tables.pairs)),
            moving_edges: Arc::new(moving(r.edges.iter().map(|e| e.weight), &layout.tables.edges)),
            factors: tape.blocks.iter().map(Factor::new).collect(),
            schedule: None,
            cursor: Cursor::new(),
            layout: Arc::new(layout),
            code: None,
            outside: Vec::new(),
            phases: None,
            coded: false,
            unit: 1.0,
        }
    }

    /// The unit of the series.
    pub(crate) fn unit(&self) -> f64 {
        self.unit
    }

    /// Series from now on are in powers of (t − t₀)/τ.
    pub(crate) fn set_unit(&mut self, unit: f64) {
        if unit != self.unit {
            self.unit = unit;
            let arena = flat_mut(&mut self.arena);
            for (at, scales) in self.layout.scales(unit) {
                arena[at..at + scales.len()].copy_from_slice(&scales);
            }
        }
    }

    /// Uses other instructions.
    pub(crate) fn set_level(&mut self, level: Level) {
        self.level = level;
        self.code = None;
    }

    /// The instructions in use.
    pub(crate) fn level(&self) -> Level {
        self.level
    }

    /// Calls `f` with the tape's code for this order; it is made by the first workspace that needs it.
    fn with_code(&mut self, tape: &Tape, f: impl FnOnce(&mut Self, &ExecutableCode) -> bool) -> bool {
        let code = self.code.take().unwrap_or_else(|| {
            let code = code(tape, &self.layout, 1, self.level);
            let segments = code.iter().flat_map(|code| code.program().values());
            let outside = segments.map(|segment| ValuePhase::outside(tape, &self.layout, segment));
            self.outside = outside.collect();
            code
        });
        let done = code.as_ref().is_some_and(|code| f(self, code));
        self.code = Some(code);
        done
    }

    /// Everything, as doubles.
    pub(crate) fn doubles(&self) -> &[f64] {
        flat(&self.arena)
    }

    /// The coefficients of a series.
    pub(crate) fn series(&self, place: RowPlace) -> &[f64] {
        &self.doubles()[place.at as usize..][..self.layout.stride]
    }

    /// The coefficients of a series, to be written from elsewhere.
    pub(crate) fn series_mut(&mut self, place: RowPlace) -> &mut [f64] {
        &mut flat_mut(&mut self.arena)[place.at as usize..][..self.layout.stride]
    }

    /// Writes the coefficients of a series, wherever they are.
    pub(crate) fn set_series(&mut self, place: RowPlace, series: &[f64]) {
        let arena = flat_mut(&mut self.arena);
        for (k, x) in series.iter().enumerate() {
            arena[place.index(k)] = *x;
        }
    }

    /// One coefficient, written from elsewhere.
    pub(crate) fn set(&mut self, place: RowPlace, k: usize, x: f64) {
        flat_mut(&mut self.arena)[place.index(k)] = x;
    }

    /// Order 0 of a value.
    pub(crate) fn value(&self, value: TapeValue) -> f64 {
        self.doubles()[match value {
            TapeValue::Row(row) => self.layout.places[row as usize].index(0),
            TapeValue::Constant(slot) => self.layout.constants + slot as usize,
        }]
    }

    /// Sets the parameters and computes what depends on them only.
    pub(crate) fn set_parameters(&mut self, tape: &Tape, parameters: &[f64]) {
        let layout = Arc::clone(&self.layout);
        let arena = flat_mut(&mut self.arena);
        order_zero::constants(tape, parameters, &mut arena[layout.constants..][..tape.constants.len()]);
        let base = |arena: &[f64], w: &Weight| w.factor * arena[layout.constants + w.constant as usize];
        for (i, pair) in tape.recurrence.pairs.iter().enumerate() {
            arena[layout.pair_weights + layout.pair(i)] = base(arena, &pair.weight);
        }
        for (i, edge) in tape.recurrence.edges.iter().enumerate() {
            arena[layout.edge_weights + layout.edge(i)] = base(arena, &edge.weight);
        }
        for (value, place) in tape.watched.iter().zip(&layout.watched) {
            if let TapeValue::Constant(slot) = value {
                arena[place.index(0)] = arena[layout.constants + *slot as usize];
            }
        }
    }

    /// Order 0 at a point.
    pub(crate) fn values(&mut self, tape: &Tape, time: f64, state: &[f64]) -> Result<(), Singular> {
        self.enter(tape, time, state);
        if self.with_code(tape, |this, code| this.run_values(tape, code)) {
            return Ok(());
        }
        self.interpret_values(tape)
    }

    /// All orders at a point.
    pub(crate) fn jet(&mut self, tape: &Tape, time: f64, state: &[f64]) -> Result<(), Singular> {
        self.enter(tape, time, state);
        let done = self.with_code(tape, |this, code| {
            code.program().orders().is_some() && this.run_values(tape, code) && this.run_orders(code)
        });
        if done {
            return Ok(());
        }
        self.interpret_values(tape)?;
        self.interpret(tape);
        Ok(())
    }

    /// Orders 1 and above, after the values at the same point.
    pub(crate) fn expand(&mut self, tape: &Tape, time: f64, state: &[f64]) -> Result<(), Singular> {
        if !self.coded {
            self.interpret(tape);
        } else if !self.with_code(tape, |this, code| this.run_orders(code)) {
            // The values came from code, but for the orders there is none.
            return self.jet(tape, time, state);
        }
        Ok(())
    }

    /// Orders 1 and above by code; false when there is none.
    fn run_orders(&mut self, code: &ExecutableCode) -> bool {
        code.program().orders().is_some_and(|orders| {
            code.run(orders, &mut self.arena);
            true
        })
    }

    /// The least firmness of all blocks, after values or a jet.
    pub(crate) fn firmness(&self) -> f64 {
        let arena = self.doubles();
        let each = self.layout.blocks.iter().zip(&self.factors).map(|(block, factor)| match block {
            BlockFactors::Symmetric(f) if !factor.in_use() => {
                let (pivots, sizes) =
                    arena[f.checks..][..2 * f.pattern.order.len()].split_at(f.pattern.order.len());
                f.loose.iter().fold(1.0, |least, &i| firm(least, pivots[i], sizes[i]))
            }
            _ => factor.firmness(),
        });
        each.fold(1.0, f64::min)
    }

    /// Solves with the factors of a block.
    pub(crate) fn solve(&mut self, block: usize, b: &mut [f64]) {
        match &self.layout.blocks[block] {
            BlockFactors::Symmetric(f) if !self.factors[block].in_use() => {
                ldl::solve_elsewhere(f, flat_mut(&mut self.arena), b);
            }
            _ => self.factors[block].solve::<false>(b),
        }
    }

    fn enter(&mut self, tape: &Tape, time: f64, state: &[f64]) {
        self.coded = false;
        self.factors.iter_mut().for_each(Factor::set_aside);
        let arena = flat_mut(&mut self.arena);
        for (x, place) in state.iter().zip(&self.layout.places) {
            arena[place.index(0)] = *x;
        }
        arena[self.layout.places[tape.dimension].index(0)] = time;
    }

    /// Order 0 by code; false when a symmetric block needs pivoting, or a block is singular.
    fn run_values(&mut self, tape: &Tape, code: &ExecutableCode) -> bool {
        let SingleWorkspace { level, layout, arena, factors, outside, .. } = self;
        for (segment, outside) in code.program().values().iter().zip(&*outside) {
            if let Segment::Code(entry) = segment {
                code.run(*entry, arena);
            } else if evaluate(*level, tape, layout, flat_mut(arena), factors, outside).is_err() {
                return false;
            }
        }
        let arena = self.doubles();
        self.coded = self.layout.symmetric().all(|f| ldl::is_healthy(f, arena));
        self.coded
    }

    // ---- by reading the recurrence -----------------------------------------------------------------------

    fn interpret_values(&mut self, tape: &Tape) -> Result<(), Singular> {
        let SingleWorkspace { level, layout, arena, factors, phases, .. } = self;
        let phases = phases.get_or_insert_with(|| Arc::new(ValuePhase::all(tape, layout)));
        let mut phases = phases.iter();
        phases.try_for_each(|phase| evaluate(*level, tape, layout, flat_mut(arena), factors, phase))
    }

    fn interpret(&mut self, tape: &Tape) {
        let layout = Arc::clone(&self.layout);
        let schedule = self.schedule.get_or_insert_with(|| Arc::new(Schedule::new(tape, &layout, true)));
        let schedule = Arc::clone(schedule);
        let arena = flat_mut(&mut self.arena);
        interpret::set_weights(&layout, arena, layout.pair_weights, &self.moving_pairs);
        interpret::set_weights(&layout, arena, layout.edge_weights, &self.moving_edges);
        dispatch(self.level, Orders { tape, layout: &layout, schedule: &schedule, workspace: self });
    }
}

/// Evaluates a phase.
fn evaluate(
    level: Level,
    tape: &Tape,
    layout: &Layout,
    arena: &mut [f64],
    factors: &mut [Factor],
    phase: &ValuePhase,
) -> Result<(), Singular> {
    for op in &phase.ops {
        order_zero::value(tape, layout, arena, factors, &tape.ops[*op as usize])?;
    }
    sines_and_cosines(level, arena, &phase.sines);
    Ok(())
}

/// Sines and cosines, eight at a time; of four and fewer, four.
#[inline(always)]
fn sines_and_cosines(level: Level, arena: &mut [f64], places: &[[usize; 3]]) {
    for places in places.chunks(WIDTH) {
        if places.len() > WIDTH / 2 {
            sines_together::<WIDTH>(level, arena, places);
        } else {
            sines_together::<{ WIDTH / 2 }>(level, arena, places);
        }
    }
}

/// Sines and cosines of up to W numbers at once; `places`: those of the number, its sine and its cosine.
#[inline(always)]
fn sines_together<const W: usize>(level: Level, arena: &mut [f64], places: &[[usize; 3]])
where
    Count<W>: Vector,
{
    // The last one stands in for those that are missing. Numbers go from their places into the vector, not by way of an array:
    // that would be written in parts and read as a whole, which waits.
    let x = Wide::new(std::array::from_fn(|i| arena[places[i.min(places.len() - 1)][0]]));
    let (mut sin, mut cos) = (Wide::ZERO, Wide::ZERO);
    dispatch(level, SinCos::<W> { x, sin: &mut sin, cos: &mut cos });
    for (lane, [_, s, c]) in places.iter().enumerate() {
        arena[*s] = sin.0[lane];
        arena[*c] = cos.0[lane];
    }
}

/// All orders from 1 by interpretation.
struct Orders<'a> {
    tape: &'a Tape,
    layout: &'a Layout,
    schedule: &'a Schedule,
    workspace: &'a mut SingleWorkspace,
}

impl Kernel for Orders<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Orders { tape, layout, schedule, workspace } = self;
        let SingleWorkspace { arena, cursor, factors, .. } = workspace;
        let mut solver = Solver { tape, layout, factors };
        schedule.begin(cursor, flat(arena));
        for k in 1..=layout.order {
            match k {
                1 => {}
                2 => interpret::second_sums(tape, layout, flat(arena), &mut cursor.registers),
                _ => sums::<FUSED>(layout, arena, &mut cursor.registers, k),
            }
            interpret::order::<FUSED, f64>(layout, (schedule, &mut *cursor), flat_mut(arena), k, &mut solver);
            if k < layout.order {
                schedule.pack(cursor, arena, k);
            }
            if k == 1 {
                interpret::boundary_weights(tape, layout, flat_mut(arena));
            }
        }
    }
}

/// Solves with the factors of order 0.
struct Solver<'a> {
    tape: &'a Tape,
    layout: &'a Layout,
    factors: &'a mut [Factor],
}

impl BlockSolver<f64> for Solver<'_> {
    #[inline(always)]
    fn size(&self, block: usize) -> usize {
        self.tape.blocks[block].size
    }

    #[inline(always)]
    fn has_factors(&self, block: usize) -> bool {
        !self.factors[block].in_use()
    }

    #[inline(always)]
    fn solve<const FUSED: bool>(
        &mut self,
        arena: &mut [f64],
        k: usize,
        block: usize,
        right: u32,
        unknowns: u32,
    ) {
        let index = |row: u32| self.layout.places[row as usize].index(k);
        let (right, out) = (|i| index(right + i), |i| index(unknowns + i));
        match &self.layout.blocks[block] {
            BlockFactors::Symmetric(f) if !self.factors[block].in_use() => {
                ldl::solve::<FUSED, f64>(f, arena, right, out);
            }
            // One that lost its pivots has no factors in the arena.
            BlockFactors::Symmetric(_) => self.factors[block].solve_at::<FUSED>(arena, right, out),
            BlockFactors::Pivoted(f) => factor::solve::<FUSED, f64>(f, arena, right, out),
        }
    }
}

/// The weighted sums of order k ≥ 3, octet by octet.
#[inline(always)]
fn sums<const FUSED: bool>(layout: &Layout, arena: &[Octet], registers: &mut [f64], k: usize) {
    let octets = layout.room / WIDTH;
    let table = |at: usize, octets: usize| &arena[at / WIDTH..][..octets];
    let [a, b] = layout.octets.map(|at| table(at, octets * layout.stride));
    let weights = table(layout.pair_weights, octets);
    let boundary = layout.boundary.map(|at| table(at, octets));
    let sums = &mut registers.as_chunks_mut().0[..octets];
    Sums { a, b, weights, boundary, sums, stride: layout.stride, k }.take::<FUSED>();
}
