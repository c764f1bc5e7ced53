//! The recurrence as a list of equal operations on registers: what interpretation reads, in the order in which it reads it.
//!
//! ```text
//! out ← (c + a u) + b v            out, c, a, b: registers;  u, v: weights, gathered once per jet
//! ```
//!
//! Registers hold the newest coefficient of every row that is needed within an order, and the sums of the pairs. An equation of
//! more terms goes on from what it has. One begins with −0, and where a term is missing with 0 · −0, which adds −0: neither changes
//! what follows, so that every rounding, and the sign of every zero, is that of the equation. A scale is the weight of the one term it
//! applies to, or of the sum so far. Forward and back substitution of a symmetric block are operations, too. So nothing is asked on
//! the way. Where 256 registers are enough, their names are bytes and no index is ever compared with a length.

use crate::eval::element::{Element, Octet};
use crate::ir::layout::{BlockFactors, Factors, Layout, RowPlace, WIDTH};
use crate::ir::recurrence::{OrderEquation, OrderScale, OrderStage, Recurrence};
use crate::ir::tape::{RowIndex, Tape, TapeValue};
use crate::simd::read_alone;
use std::ops::IndexMut;

/// So many registers have names of one byte.
const NARROW: usize = 256;

/// The name of a register.
pub(crate) trait RegisterName: Copy {
    /// Its number.
    fn number(self) -> usize;
}

impl RegisterName for u8 {
    #[inline(always)]
    fn number(self) -> usize {
        self.into()
    }
}

impl RegisterName for u32 {
    #[inline(always)]
    fn number(self) -> usize {
        self as usize
    }
}

/// Where a weight comes from.
#[derive(Clone, Copy, Debug)]
enum TermWeight {
    /// A number, or a scale.
    Number(f64),
    /// The arena, at this place.
    At(u32),
    /// The same, with the other sign.
    MinusAt(u32),
}

/// A linear block between two operations.
#[derive(Clone, Debug)]
pub(crate) struct ScheduledBlock {
    pub block: usize,
    pub right_side: RowIndex,
    pub unknowns: RowIndex,
    /// The operations from `begin` to `end` solve it, where its factors are in the arena and it is a symmetric one.
    pub begin: usize,
    pub end: usize,
    pub as_operations: bool,
}

/// All lists in which registers are named.
#[derive(Clone, Debug)]
pub(crate) struct NamedLists<N> {
    /// out, c, a, b
    pub operations: Vec<[N; 4]>,
    /// The registers of every octet of a single trajectory.
    pub octets: Vec<[N; WIDTH]>,
    /// What is written to the arena.
    pub kept: Vec<N>,
    /// The register of every row.
    pub rows: Vec<N>,
}

/// The lists, in names that are long enough.
#[derive(Clone, Debug)]
pub(crate) enum RegisterNames {
    Narrow(NamedLists<u8>),
    Wide(NamedLists<u32>),
}

/// What interpretation reads.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    pub names: RegisterNames,
    /// How many sums of pairs come first, then the state.
    pub sums: usize,
    pub variables: usize,
    /// Where octets are at order 0, in octets.
    pub octets: Vec<u32>,
    pub blocks: Vec<ScheduledBlock>,
    /// How many blocks, and operations, the last order needs.
    pub last_blocks: usize,
    pub last_operations: usize,
    /// How many of the rows that are kept are made at the last order.
    pub last_kept: usize,
    registers: usize,
    minus_zero: usize,
    /// Of the rates, an order below, then of what is kept: its place at order 1, and how far it moves from order to order.
    start: Vec<u32>,
    step: Vec<u32>,
    /// Two of each operation; which of them are the order, or its inverse.
    weights: Vec<TermWeight>,
    scales: [Vec<u32>; 2],
}

/// A schedule at an order: the registers, where its operands are, and the weights of the present jet.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<T> {
    pub registers: Vec<T>,
    pub weights: Vec<T>,
    places: Vec<u32>,
}

impl<T> Cursor<T> {
    /// Before any order.
    pub(crate) const fn new() -> Cursor<T> {
        Cursor { registers: Vec::new(), weights: Vec::new(), places: Vec::new() }
    }
}

/// What a term is weighed with.
#[derive(Clone, Copy)]
enum TermFactor {
    Weight(TermWeight),
    Scale(OrderScale),
}

const ONE: TermFactor = TermFactor::Weight(TermWeight::Number(1.0));

/// Operations while they are listed.
struct ScheduleBuilder<'a> {
    r: &'a Recurrence,
    layout: &'a Layout,
    operations: Vec<[u32; 4]>,
    weights: Vec<TermWeight>,
    scales: [Vec<u32>; 2],
    rows: Vec<u32>,
    registers: u32,
    zero: u32,
    minus_zero: u32,
}

impl ScheduleBuilder<'_> {
    fn register(&mut self) -> u32 {
        self.registers += 1;
        self.registers - 1
    }

    /// out ← begun + Σ a w, or Σ a w, whose first product is rounded.
    fn sum(&mut self, out: u32, begun: Option<u32>, terms: &[(u32, TermFactor)]) {
        let nothing = (self.zero, TermFactor::Weight(TermWeight::Number(-0.0)));
        let mut c = match begun {
            Some(begun) => begun,
            None if terms.is_empty() => self.zero,
            None => self.minus_zero,
        };
        // Of an odd number the first operation has one: what is known last is waited for as late as can be.
        let missing = if terms.is_empty() { 2 } else { terms.len() % 2 };
        let filled: Vec<_> = std::iter::repeat_n(nothing, missing).chain(terms.iter().copied()).collect();
        for &[a, b] in filled.as_chunks().0 {
            self.operations.push([out, c, a.0, b.0]);
            for (_, factor) in [a, b] {
                let at = self.weights.len() as u32;
                self.weights.push(match factor {
                    TermFactor::Weight(weight) => weight,
                    TermFactor::Scale(scale) => {
                        self.scales[usize::from(scale != OrderScale::Order)].push(at);
                        TermWeight::Number(1.0)
                    }
                });
            }
            c = out;
        }
    }

    fn equation(&mut self, e: &OrderEquation) {
        let out = self.rows[e.out as usize];
        let (r, layout) = (self.r, self.layout);
        let pairs = e.pairs.clone().map(|p| (layout.pair(p) as u32, ONE));
        let edges = e.edges.clone().map(|i| {
            let weight = TermWeight::At((layout.edge_weights + layout.edge(i)) as u32);
            (self.rows[r.edges[i].source as usize], TermFactor::Weight(weight))
        });
        let mut terms: Vec<(u32, TermFactor)> = pairs.chain(edges).collect();
        // A scale belongs to the pairs if there are any. Of one term of weight 1 it is the weight.
        let scaled = if e.pairs.is_empty() { e.edges.len() } else { e.pairs.len() };
        let is_scaled = match e.scale {
            OrderScale::One => false,
            OrderScale::Order => e.pairs.is_empty() && scaled > 0,
            OrderScale::Inverse => scaled > 0,
        };
        if is_scaled {
            if scaled == 1 && (!e.pairs.is_empty() || r.edges[e.edges.start].weight.is_one()) {
                terms[0].1 = TermFactor::Scale(e.scale);
            } else {
                self.sum(out, None, &terms[..scaled]);
                terms.splice(..scaled, [(out, TermFactor::Scale(e.scale))]);
            }
        }
        self.sum(out, None, &terms);
    }

    /// L D Lᵀ x = b as in `ldl::solve`, each unknown gathered in one register.
    fn solve(&mut self, f: &Factors, right_side: RowIndex, unknowns: RowIndex) {
        let e = &f.pattern;
        let n = e.order.len();
        let at = |table: usize, i: usize| TermFactor::Weight(TermWeight::At((table + i) as u32));
        let minus_lower = |i: usize| TermFactor::Weight(TermWeight::MinusAt((f.lower + i) as u32));
        let mut columns: Vec<Vec<(usize, usize)>> = vec![Vec::new(); n];
        let mut work: Vec<u32> = Vec::new();
        for i in 0..n {
            let right = |row: u32| self.rows[(right_side + row) as usize];
            let borrowed = e.borrowed(i).iter().map(|&(m, row)| (right(row), at(f.multiples, m as usize)));
            let mut terms: Vec<_> = borrowed.collect();
            let begun = right(e.order[i]);
            for place in e.row(i) {
                let j = e.columns[place] as usize;
                columns[j].push((i, place));
                terms.push((work[j], minus_lower(place)));
            }
            if terms.is_empty() {
                work.push(begun);
            } else {
                let register = self.register();
                self.sum(register, Some(begun), &terms);
                work.push(register);
            }
        }
        for j in (0..n).rev() {
            let unknown = |i: usize| self.rows[(unknowns + e.order[i]) as usize];
            let mut terms = vec![(work[j], at(f.pivots, j))];
            terms.extend(columns[j].iter().rev().map(|&(i, place)| (unknown(i), minus_lower(place))));
            self.sum(unknown(j), None, &terms);
        }
    }
}

impl Schedule {
    /// The lists of a tape; `single`: with the octets of a single trajectory.
    pub(crate) fn new(tape: &Tape, layout: &Layout, single: bool) -> Schedule {
        let r = &tape.recurrence;
        let sums = layout.room;
        let rows: Vec<u32> = (sums as u32..).take(r.rows).collect();
        let [zero, minus_zero] = [0, 1].map(|i| (sums + r.rows + i) as u32);
        let registers = minus_zero + 1;
        let (operations, weights, scales) = (Vec::new(), Vec::new(), [Vec::new(), Vec::new()]);
        let mut b =
            ScheduleBuilder { r, layout, operations, weights, scales, rows, registers, zero, minus_zero };
        let (mut blocks, mut last_blocks, mut last_operations) = (Vec::new(), 0, 0);
        for (i, stage) in r.stages.iter().enumerate() {
            match stage {
                OrderStage::Equations(equations) => {
                    r.equations[equations.clone()].iter().for_each(|e| b.equation(e));
                }
                &OrderStage::Solve { block, right_side, unknowns } => {
                    let (block, begin) = (block as usize, b.operations.len());
                    if let BlockFactors::Symmetric(f) = &layout.blocks[block] {
                        b.solve(f, right_side, unknowns);
                    }
                    let (end, as_operations) = (b.operations.len(), b.operations.len() > begin);
                    blocks.push(ScheduledBlock { block, right_side, unknowns, begin, end, as_operations });
                }
            }
            if i < r.last_stages {
                (last_blocks, last_operations) = (blocks.len(), b.operations.len());
            }
        }
        let (kept, last_kept) = kept_rows(tape, layout, single);
        let octets = octets(tape, layout, single);
        let place = |row: RowIndex| layout.places[row as usize];
        let rates = tape.rate.iter().map(|rate| match *rate {
            TapeValue::Row(row) => row,
            TapeValue::Constant(_) => unreachable!("rates are rows"),
        });
        let moving = rates.map(|row| (place(row), 0)).chain(kept.iter().map(|row| (place(*row), 1)));
        let (start, step) = moving.map(|(place, order)| (place.index(order) as u32, place.step)).unzip();
        let wide = NamedLists {
            octets: octets
                .iter()
                .map(|(_, rows)| rows.map(|row| row.map_or(b.zero, |row| b.rows[row as usize])))
                .collect(),
            kept: kept.iter().map(|row| b.rows[*row as usize]).collect(),
            operations: b.operations,
            rows: b.rows,
        };
        Schedule {
            names: if b.registers as usize <= NARROW {
                RegisterNames::Narrow(wide.narrow())
            } else {
                RegisterNames::Wide(wide)
            },
            sums,
            variables: tape.dimension,
            octets: octets.iter().map(|(at, _)| *at).collect(),
            blocks,
            last_blocks,
            last_operations,
            last_kept,
            registers: b.registers as usize,
            minus_zero: b.minus_zero as usize,
            start,
            step,
            weights: b.weights,
            scales: b.scales,
        }
    }

    /// Places at order 1, weights from their tables, no sums of pairs yet.
    #[inline(always)]
    pub(crate) fn begin<T: Element>(&self, cursor: &mut Cursor<T>, arena: &[T]) {
        cursor.places.clear();
        cursor.places.extend_from_slice(&self.start);
        cursor.registers.resize(self.registers.max(NARROW), T::splat(0.0));
        cursor.registers[..self.sums].fill(T::splat(-0.0));
        cursor.registers[self.minus_zero] = T::splat(-0.0);
        let zero = T::splat(0.0);
        cursor.weights.resize(self.weights.len(), zero);
        for (weight, from) in cursor.weights.iter_mut().zip(&self.weights) {
            *weight = match *from {
                TermWeight::Number(x) => T::splat(x),
                TermWeight::At(at) => arena[at as usize],
                TermWeight::MinusAt(at) => arena[at as usize].times(T::splat(-1.0)),
            };
        }
    }

    /// Puts together the newest coefficients of the octets of a single trajectory.
    #[inline(always)]
    pub(crate) fn pack(&self, cursor: &mut Cursor<f64>, arena: &mut [Octet], k: usize) {
        match &self.names {
            RegisterNames::Narrow(names) => self.pack_named(names, cursor, arena, k),
            RegisterNames::Wide(names) => self.pack_named(names, cursor, arena, k),
        }
    }

    /// The same with registers of these names.
    #[inline(always)]
    fn pack_named<N: RegisterLookup<f64>>(
        &self,
        names: &NamedLists<N>,
        cursor: &mut Cursor<f64>,
        arena: &mut [Octet],
        k: usize,
    ) {
        for (names, at) in names.octets.iter().zip(&self.octets) {
            // For every octet: looked up once before the loop, all of a jet takes 4 % longer.
            let registers = N::look_up(&mut cursor.registers);
            arena[*at as usize + k] =
                Octet::new(std::array::from_fn(|i| read_alone(&registers[names[i].number()])));
        }
    }

    /// Weights that are scales of this order.
    #[inline(always)]
    pub(crate) fn set_scales<T: Element>(&self, weights: &mut [T], order: T, inverse: T) {
        // Not a loop over both: elements of several lanes would be moved to and fro.
        for at in &self.scales[0] {
            weights[*at as usize] = order;
        }
        for at in &self.scales[1] {
            weights[*at as usize] = inverse;
        }
    }
}

impl NamedLists<u32> {
    fn narrow(&self) -> NamedLists<u8> {
        NamedLists {
            operations: self.operations.iter().map(|names| names.map(|n| n as u8)).collect(),
            octets: self.octets.iter().map(|names| names.map(|n| n as u8)).collect(),
            kept: self.kept.iter().map(|n| *n as u8).collect(),
            rows: self.rows.iter().map(|n| *n as u8).collect(),
        }
    }
}

impl<T: Element> Cursor<T> {
    /// The registers, the weights by operations; the places of rates and of what is kept.
    #[inline(always)]
    pub(crate) fn parts(&mut self, variables: usize) -> (&mut [T], &[[T; 2]], [&[u32]; 2]) {
        let (rates, kept) = self.places.split_at(variables);
        (&mut self.registers, self.weights.as_chunks().0, [rates, kept])
    }

    /// Places at the next order.
    #[inline(always)]
    pub(crate) fn advance(&mut self, schedule: &Schedule) {
        self.places.iter_mut().zip(&schedule.step).for_each(|(place, step)| *place += step);
    }
}

/// The registers as what names of their kind can be looked up in: for names of a byte an array that has one of each.
pub(crate) trait RegisterLookup<T>: RegisterName {
    type Registers: IndexMut<usize, Output = T> + ?Sized;
    fn look_up(registers: &mut [T]) -> &mut Self::Registers;
}

impl<T> RegisterLookup<T> for u8 {
    type Registers = [T; NARROW];
    #[inline(always)]
    fn look_up(registers: &mut [T]) -> &mut [T; NARROW] {
        registers.first_chunk_mut().expect("there are never fewer")
    }
}

impl<T> RegisterLookup<T> for u32 {
    type Registers = [T];
    #[inline(always)]
    fn look_up(registers: &mut [T]) -> &mut [T] {
        registers
    }
}

/// Operations in their sequence.
#[inline(always)]
pub(crate) fn operate<const FUSED: bool, N: RegisterName, T: Element>(
    registers: &mut (impl IndexMut<usize, Output = T> + ?Sized),
    operations: &[[N; 4]],
    weights: &[[T; 2]],
) {
    for ([out, c, a, b], [u, v]) in operations.iter().zip(weights) {
        let sum = registers[c.number()].plus_product::<FUSED>(registers[a.number()], *u);
        registers[out.number()] = sum.plus_product::<FUSED>(registers[b.number()], *v);
    }
}

/// Rows whose coefficients are kept, but for those in octets; those that the last order makes come first.
fn kept_rows(tape: &Tape, layout: &Layout, single: bool) -> (Vec<RowIndex>, usize) {
    let r = &tape.recurrence;
    let made_by = |stage: &OrderStage| -> Vec<RowIndex> {
        match stage {
            OrderStage::Equations(equations) => {
                r.equations[equations.clone()].iter().map(|e| e.out).collect()
            }
            OrderStage::Solve { block, unknowns, .. } => {
                (*unknowns..*unknowns + tape.blocks[*block as usize].size as RowIndex).collect()
            }
        }
    };
    let (last, middle) = r.stages.split_at(r.last_stages);
    let is_kept = |row: &RowIndex| {
        let place = layout.places[*row as usize];
        place.step > 0 && !(single && is_in_octets(layout, place))
    };
    let state_and_time = 0..=tape.dimension as RowIndex;
    let mut kept: Vec<RowIndex> =
        state_and_time.chain(last.iter().flat_map(made_by)).filter(is_kept).collect();
    let last_kept = kept.len();
    kept.extend(middle.iter().flat_map(made_by).filter(is_kept));
    (kept, last_kept)
}

/// Is a place a lane of octets?
fn is_in_octets(layout: &Layout, place: RowPlace) -> bool {
    let octets = layout.tables.pair_room.div_ceil(WIDTH) * layout.stride * WIDTH;
    layout.octets.iter().any(|first| (*first..first + octets).contains(&(place.at as usize)))
}

/// Where each octet of a single trajectory is at order 0, in octets, and the rows of its lanes.
fn octets(tape: &Tape, layout: &Layout, single: bool) -> Vec<(u32, [Option<RowIndex>; WIDTH])> {
    let count = if single { layout.tables.pair_room.div_ceil(WIDTH) } else { 0 };
    let mut octets = Vec::new();
    for (side, first) in layout.octets.into_iter().enumerate() {
        for c in 0..count {
            octets.push(((first / WIDTH + c * layout.stride) as u32, [None; WIDTH]));
        }
        for (p, pair) in tape.recurrence.pairs.iter().enumerate().filter(|_| single) {
            let place = layout.pair(p);
            octets[side * count + place / WIDTH].1[place % WIDTH] = Some([pair.a, pair.b][side]);
        }
    }
    octets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::System;
    use carom_expr::Dag;

    #[test]
    fn operations_round_as_their_equations_do_and_keep_the_signs_of_zeros() {
        let mut dag = Dag::new();
        let [t, x] = ["t", "x"].map(|name| dag.symbol(name));
        let (parameters, blocks, watched, monitored) = (vec![], vec![], vec![], vec![]);
        let system =
            System { time: t, parameters, state: vec![x], rate: vec![x], blocks, watched, monitored };
        let tape = Tape::compile(&dag, &system).unwrap();
        let layout = Layout::new(&tape, 8, true);
        let (zero, minus_zero, out, first) = (0, 1, 2, 3);
        let values = [0.0, -0.0, 0.1, -0.3];
        for count in 0..=5_u32 {
            // Every choice of values for so many terms, and for what the sum begins with, if anything.
            for choice in 0..4_u32.pow(count) {
                for begun in [None, Some(0.0), Some(-0.0), Some(0.7)] {
                    let mut b = ScheduleBuilder {
                        r: &tape.recurrence,
                        layout: &layout,
                        operations: Vec::new(),
                        weights: Vec::new(),
                        scales: [Vec::new(), Vec::new()],
                        rows: Vec::new(),
                        registers: 0,
                        zero,
                        minus_zero,
                    };
                    let weight = |i: u32| [-0.7, 0.9, -0.0][i as usize % 3];
                    let terms: Vec<(u32, TermFactor)> = (0..count)
                        .map(|i| (first + i, TermFactor::Weight(TermWeight::Number(weight(i)))))
                        .collect();
                    let begin = first + count;
                    b.sum(out, begun.map(|_| begin), &terms);
                    let value = |i: u32| values[(choice / 4_u32.pow(i) % 4) as usize];
                    let mut registers = vec![0.0, -0.0, f64::NAN];
                    registers.extend((0..count).map(value));
                    registers.push(begun.unwrap_or(f64::NAN));
                    let numbers: Vec<f64> = b
                        .weights
                        .iter()
                        .map(|weight| match weight {
                            TermWeight::Number(x) => *x,
                            _ => unreachable!("only numbers were given"),
                        })
                        .collect();
                    operate::<true, u32, f64>(&mut registers[..], &b.operations, numbers.as_chunks().0);
                    let mut terms = (0..count).map(|i| (value(i), weight(i)));
                    let begun = begun.or_else(|| terms.next().map(|(x, w)| x * w)).unwrap_or(0.0);
                    let wanted: f64 = terms.fold(begun, |sum, (x, w)| x.mul_add(w, sum));
                    assert_eq!(
                        registers[out as usize].to_bits(),
                        wanted.to_bits(),
                        "{count} terms, {choice}"
                    );
                }
            }
        }
    }
}
