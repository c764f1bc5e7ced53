//! Machine code for a tape: straight-line x86-64 for values and orders, made in microseconds.
//!
//! One function evaluates order 0 (with interruptions where a function of the standard library is needed), another
//! all orders from 1 to N: middle orders are one loop over k whose body is unrolled over the operations; interior sums are
//! computed one order ahead, so that the chain from order to order is a few multiply–adds long. The same emitter serves
//! single trajectories (an element is one double, interior sums of eight pairs to an octet) and batches (an element is one
//! vector of the instruction set: eight doubles or four, one per lane). Large systems have equations of equal form, which are evaluated side by side.
//! Operations and their order are those of the interpreters: the same bits.

mod assembler;
mod convolution;
mod grouped;
pub(crate) mod listing;
mod operand;
mod orders;
mod values;

use crate::ir::layout::{Layout, RowPlace, WIDTH, lane};
use crate::ir::recurrence::{Recurrence, Weight};
use crate::ir::tape::{RowIndex, Slot, Tape};
use assembler::{Assembler, Base, Mem, VectorWidth};
use listing::Meant;

/// Larger code would take longer to make than most runs to run.
const LARGEST: usize = 1 << 25;

/// Interior sums need orders from 4.
const LEAST_ORDER: usize = 4;

/// Do displacements reach all of an arena of so many elements of `bytes` each? Memory operands have 32 bits for them, with a
/// sign; no base register moves by more than the arena is long, so that no sum of both leaves it either.
fn within_reach(elements: usize, bytes: usize) -> bool {
    elements.checked_mul(bytes).is_some_and(|length| i32::try_from(length).is_ok())
}

/// Where a function begins in a program's bytes: made by the emitter only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct EntryPoint(usize);

impl EntryPoint {
    /// Bytes from the beginning; only where the code can be called.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn offset(self) -> usize {
        self.0
    }
}

/// What the evaluation of order 0 does, in sequence.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Segment {
    /// Call the code at this entry.
    Code(EntryPoint),
    /// Evaluate these instructions of the tape.
    Outside(Vec<u32>),
}

/// The instructions code is made of. Bytes can be made for any of them; only what the processor has is made executable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum InstructionSet {
    /// AVX-512 F, VL and DQ: 32 registers of eight doubles.
    Avx512,
    /// AVX2 and FMA: 16 registers of four doubles.
    Avx2,
}

impl InstructionSet {
    fn width(self) -> VectorWidth {
        match self {
            InstructionSet::Avx512 => VectorWidth::Eight,
            InstructionSet::Avx2 => VectorWidth::Four,
        }
    }

    /// Trajectories of a batch side by side: the doubles of a vector.
    pub(crate) fn lanes(self) -> usize {
        self.width().doubles()
    }

    fn registers(self) -> u8 {
        match self {
            InstructionSet::Avx512 => 32,
            InstructionSet::Avx2 => 16,
        }
    }
}

/// Code bytes with their entries; made by [`AssembledCode::assemble`] only.
#[derive(Clone, Debug)]
pub(crate) struct AssembledCode {
    bytes: Vec<u8>,
    set: InstructionSet,
    values: Vec<Segment>,
    orders: Option<EntryPoint>,
    /// Bytes of the arena, and of each of its elements, to which these are aligned.
    least_bytes: usize,
    element_bytes: usize,
}

/// What the code is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EmitTarget {
    /// One trajectory.
    Single,
    /// As many at once as a vector has doubles.
    Lanes,
}

struct Emitter<'a> {
    tape: &'a Tape,
    r: &'a Recurrence,
    layout: &'a Layout,
    target: EmitTarget,
    /// Vectors for the interior sums of a single trajectory.
    octet: VectorWidth,
    asm: Assembler,
    /// Bytes of an element.
    element: usize,
    /// Where coefficients are copied to, by row: byte offsets of octet lanes.
    copies: Vec<Vec<usize>>,
    /// Registers in which rates go from an order to the next.
    carried: Vec<(u8, RowIndex)>,
    /// Rows whose series are asked for: what is watched, and what guarded functions depend on.
    kept: Vec<bool>,
}

impl AssembledCode {
    /// Code for a tape; `None` when it would be too large, or its memory too large for displacements: the interpreters do
    /// the same without it.
    pub(crate) fn assemble(
        tape: &Tape,
        layout: &Layout,
        target: EmitTarget,
        set: InstructionSet,
    ) -> Option<AssembledCode> {
        AssembledCode::make(tape, layout, target, set, false).map(|(program, _)| program)
    }

    /// The same with what every instruction is meant to be.
    fn list(
        tape: &Tape,
        layout: &Layout,
        target: EmitTarget,
        set: InstructionSet,
    ) -> Option<(AssembledCode, Vec<Meant>)> {
        AssembledCode::make(tape, layout, target, set, true)
    }

    fn make(
        tape: &Tape,
        layout: &Layout,
        target: EmitTarget,
        set: InstructionSet,
        listed: bool,
    ) -> Option<(AssembledCode, Vec<Meant>)> {
        let element = if target == EmitTarget::Lanes { 8 * set.lanes() } else { 8 };
        if !within_reach(layout.length, element) {
            return None;
        }
        let r = &tape.recurrence;
        let mut copies: Vec<Vec<usize>> = vec![Vec::new(); r.rows];
        if target == EmitTarget::Single {
            for (p, pair) in r.pairs.iter().enumerate() {
                for (row, octets) in [pair.a, pair.b].into_iter().zip(layout.octets) {
                    let at = octets + lane(layout.pair(p), 0, layout.stride);
                    if layout.places[row as usize].at as usize != at {
                        copies[row as usize].push(8 * at);
                    }
                }
            }
        }
        let mut kept = vec![false; r.rows];
        let watched = tape.watched.iter().filter_map(|v| v.row());
        watched.chain(r.guarded.iter().map(|h| h.u)).for_each(|row| kept[row as usize] = true);
        let mut emitter = Emitter {
            tape,
            r,
            layout,
            target,
            octet: set.width(),
            asm: Assembler::new(
                if target == EmitTarget::Lanes { set.width() } else { VectorWidth::One },
                // Long code is read from the second-level cache: short instructions then matter more than registers.
                if target == EmitTarget::Lanes || r.classes.is_empty() { set.registers() } else { 16 },
                listed,
            ),
            element,
            copies,
            carried: Vec::new(),
            kept,
        };
        let values = emitter.values()?;
        let orders = if layout.order >= LEAST_ORDER { emitter.orders() } else { None };
        let meant = emitter.asm.close()?;
        let program = AssembledCode {
            bytes: emitter.asm.bytes,
            set,
            values,
            orders,
            least_bytes: layout.length * element,
            element_bytes: if target == EmitTarget::Lanes { element } else { 8 * WIDTH },
        };
        Some((program, meant))
    }

    /// The code.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What it is made of.
    pub(crate) fn instruction_set(&self) -> InstructionSet {
        self.set
    }

    /// Order 0.
    pub(crate) fn values(&self) -> &[Segment] {
        &self.values
    }

    /// Orders 1 … N, if there is code for them.
    pub(crate) fn orders(&self) -> Option<EntryPoint> {
        self.orders
    }

    /// Is it one of the entries?
    pub(crate) fn owns(&self, entry: EntryPoint) -> bool {
        self.orders == Some(entry) || self.values.contains(&Segment::Code(entry))
    }

    /// How long the arena must be.
    pub(crate) fn least_bytes(&self) -> usize {
        self.least_bytes
    }

    /// How long its elements are, and how they must be aligned: a vector of lanes, or an octet of a single trajectory.
    pub(crate) fn element_bytes(&self) -> usize {
        self.element_bytes
    }
}

impl Emitter<'_> {
    /// An element of the arena.
    fn at(&self, index: usize) -> Mem {
        Mem(Base::Arena, (index * self.element) as i64)
    }

    fn place(&self, row: RowIndex) -> RowPlace {
        self.layout.places[row as usize]
    }

    /// Coefficient 0 of a row.
    fn order_zero(&self, row: RowIndex) -> Mem {
        self.at(self.place(row).index(0))
    }

    /// Coefficient k.
    fn now(&self, row: RowIndex) -> Mem {
        if self.is_grouped() {
            return self.at(self.layout.slots[row as usize] as usize);
        }
        let place = self.place(row);
        Mem(base(place), (place.at as usize * self.element) as i64)
    }

    /// Coefficient k − 1.
    fn before(&self, row: RowIndex) -> Mem {
        let place = self.place(row);
        debug_assert!(place.step > 0, "what is needed again has a series");
        Mem(base(place), (place.at as i64 - place.step as i64) * self.element as i64)
    }

    fn constant(&self, slot: Slot) -> Mem {
        self.at(self.layout.constants + slot as usize)
    }

    /// The weight of an edge: a value at order 0, or an entry of the table.
    fn edge_weight(&self, index: usize, weight: &Weight) -> Mem {
        match weight.row() {
            Some(row) => self.order_zero(row),
            None => self.at(self.layout.edge_weights + self.layout.edge(index)),
        }
    }
}

/// What moves along with a place from order to order.
fn base(place: RowPlace) -> Base {
    match place.step as usize {
        0 => Base::Arena,
        1 => Base::Series,
        WIDTH => Base::Octets,
        _ => Base::State,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::System;

    #[test]
    fn memory_beyond_the_reach_of_displacements_is_refused() {
        let most = i32::MAX as usize;
        assert!(within_reach(most / 8, 8) && !within_reach(most / 8 + 1, 8));
        assert!(within_reach(most / 64, 64) && !within_reach(most / 64 + 1, 64));
        assert!(!within_reach(usize::MAX, 8));
    }

    #[test]
    fn a_program_whose_arena_is_too_long_gets_no_code() {
        // x'' = −sin x
        let mut dag = carom_expr::Dag::new();
        let [t, x, v] = ["t", "x", "v"].map(|name| dag.symbol(name));
        let sine = dag.function(carom_expr::Function::Sin, &[x]);
        let force = dag.neg(sine);
        let system = System {
            time: t,
            parameters: vec![],
            state: vec![x, v],
            rate: vec![v, force],
            blocks: vec![],
            watched: vec![],
            monitored: vec![],
        };
        let tape = Tape::compile(&dag, &system).unwrap();
        let sets = [InstructionSet::Avx2, InstructionSet::Avx512];
        for (target, set) in
            [EmitTarget::Single, EmitTarget::Lanes].into_iter().flat_map(|t| sets.map(|s| (t, s)))
        {
            let mut layout = Layout::new(&tape, 20, target == EmitTarget::Single);
            assert!(AssembledCode::assemble(&tape, &layout, target, set).is_some());
            layout.length = 1 << 29;
            assert!(AssembledCode::assemble(&tape, &layout, target, set).is_none());
        }
    }
}
