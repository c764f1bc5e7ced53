//! Orders 1 … N: see the module of recurrences for what is computed, and in which sequence.
//!
//! ```text
//! weights; order 1; boundary weights; order 2; for k = 3 … N−1 { order k; interior sums of k + 1 }; order N
//! ```
//!
//! Order 1 has no pairs, order 2 has a_1 b_1 only (half of the boundary terms), the interior sums of order 3 are empty.

use super::assembler::{
    Base, General, IF_NOT_ZERO, Mem, R12, R13, R14, RBP, RBX, Rm, VectorOp as Do, VectorWidth,
};
use super::{EmitTarget, Emitter, EntryPoint, LARGEST};
use crate::ir::layout::{BlockFactors, SCALES, WIDTH};
use crate::ir::recurrence::{OrderEquation, OrderScale, OrderStage};
use crate::ir::tape::{RowIndex, TapeValue};
use std::ops::Range;

/// Which terms of the pairs an order has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrderKind {
    First,
    Second,
    Middle,
    Last,
}

/// Registers that belong to the caller and are used here: the order k, and those of interior sums.
const SAVED: [General; 5] = [RBX, RBP, R12, R13, R14];

/// What an order keeps in registers from its beginning to its end: 1/k and τ/k.
const SCALES_IN_REGISTERS: [(u8, usize); 2] = [(2, 1), (3, 3)];

/// From so many pairs on, boundary terms are added in vectors.
const MANY: usize = 24;

impl Emitter<'_> {
    /// The entry of the code for all orders; `None` when it became too large.
    pub(crate) fn orders(&mut self) -> Option<EntryPoint> {
        let entry = EntryPoint(self.asm.bytes.len());
        let element = self.element as i64;
        let order = self.layout.order as i64;
        let arena = Base::Arena.register();
        self.asm.forget();
        SAVED.into_iter().for_each(|register| self.asm.push(register));
        self.weights();
        for base in [Base::Series, Base::Octets, Base::State, Base::Scale] {
            self.asm.move_general(base.register(), arena);
        }
        self.advance();
        self.order(OrderKind::First);
        self.boundary_weights();
        self.advance();
        self.order(OrderKind::Second);
        self.asm.forget();
        let room = self.layout.room;
        self.asm.zero(0);
        for p in 0..self.r.pairs.len() {
            let place = self.at(self.layout.sums + room + self.layout.pair(p));
            self.asm.store(place, 0);
        }
        self.advance();
        self.asm.move_general(Base::Sums.register(), arena);
        self.asm.add_number(Base::Sums.register(), room as i64 * element);
        self.asm.move_general(Base::NextSums.register(), arena);
        self.asm.set(RBX, 3);
        self.carry_rates();
        let again = self.asm.label();
        self.boundary_terms(room);
        self.order(OrderKind::Middle);
        self.interior_sums();
        self.advance();
        self.asm.exchange(Base::Sums.register(), Base::NextSums.register());
        self.asm.add_number(RBX, 1);
        self.asm.compare(RBX, order);
        self.asm.jump_back(IF_NOT_ZERO, again);
        self.boundary_terms(self.layout.tables.last_pairs);
        self.order(OrderKind::Last);
        SAVED.into_iter().rev().for_each(|register| self.asm.pop(register));
        self.asm.finish();
        (self.asm.bytes.len() <= LARGEST).then_some(entry)
    }

    /// k → k + 1
    fn advance(&mut self) {
        let element = self.element as i64;
        self.asm.add_number(Base::Series.register(), element);
        self.asm.add_number(Base::Scale.register(), SCALES as i64 * element);
        if self.target == EmitTarget::Single {
            self.asm.add_number(Base::Octets.register(), 64);
        }
        if self.layout.pitch > 0 {
            self.asm.add_number(Base::State.register(), 8 * self.layout.pitch as i64);
        }
        self.asm.forget();
        for &(x, row) in &self.carried {
            self.asm.name(x, self.before(row));
        }
    }

    /// k, 1/k, the coefficient of time or τ/k.
    pub(crate) fn scale(&self, which: usize) -> Mem {
        Mem(Base::Scale, ((self.layout.scale + which) * self.element) as i64)
    }

    fn order(&mut self, kind: OrderKind) {
        if self.is_grouped() {
            return self.grouped_order(kind);
        }
        self.asm.forget();
        // In registers for all of an order: 1/k and τ/k.
        for (x, which) in SCALES_IN_REGISTERS {
            self.asm.pin(x, self.scale(which));
        }
        self.state(kind);
        let r = self.r;
        let stages = if kind == OrderKind::Last { r.last_stages } else { r.stages.len() };
        for stage in &r.stages[..stages] {
            match stage {
                OrderStage::Equations(equations) => {
                    r.equations[equations.clone()].iter().for_each(|e| self.equation(kind, e));
                }
                &OrderStage::Solve { block, right_side, unknowns } => {
                    for row in self.solve_block(block, right_side, unknowns) {
                        let x = self.asm.get(self.now(row), &[]);
                        self.publish(kind, row, x);
                    }
                }
            }
        }
        for &(x, row) in self.carried.iter().filter(|_| kind != OrderKind::Last) {
            self.asm.carry(x, self.now(row));
        }
        SCALES_IN_REGISTERS.into_iter().for_each(|(x, _)| self.asm.release(x));
    }

    /// Rates that are not variables themselves go to the next order, which begins with them, in the registers that interior sums leave
    /// alone: by way of memory it would wait for them.
    fn carry_rates(&mut self) {
        if self.is_grouped() {
            return;
        }
        let free = self.interior_registers()..self.asm.registers();
        let mut rates: Vec<RowIndex> = self.tape.rate.iter().filter_map(|rate| rate.row()).collect();
        rates.retain(|&row| row as usize > self.tape.dimension && self.place(row).step > 0);
        rates.sort_unstable();
        rates.dedup();
        // Most registers are left to the order.
        for (x, row) in free.zip(rates).take(usize::from(self.asm.registers() / 8)) {
            self.asm.pin(x, self.before(row));
            self.carried.push((x, row));
        }
    }

    /// Solves a block at order k; the rows of its unknowns.
    pub(crate) fn solve_block(
        &mut self,
        block: u32,
        right_side: RowIndex,
        unknowns: RowIndex,
    ) -> Range<RowIndex> {
        let (tape, layout) = (self.tape, self.layout);
        let n = tape.blocks[block as usize].size as RowIndex;
        let right: Vec<Mem> = (0..n).map(|i| self.now(right_side + i)).collect();
        let out: Vec<Mem> = (0..n).map(|i| self.now(unknowns + i)).collect();
        match &layout.blocks[block as usize] {
            BlockFactors::Symmetric(f) => self.solve(f, &right, &out, true),
            BlockFactors::Pivoted(f) => self.solve_pivoted(f, &right, &out),
        }
        unknowns..unknowns + n
    }

    /// x_k = rate_{k−1} τ/k
    fn state(&mut self, kind: OrderKind) {
        let tape = self.tape;
        for (i, rate) in tape.rate.iter().enumerate() {
            let TapeValue::Row(rate) = *rate else { unreachable!("rates are rows") };
            let y = self.asm.get(self.before(rate), &[]);
            let x = self.asm.fresh(&[y]);
            let step = self.asm.operand(self.scale(3));
            self.asm.operate(Do::Multiply, x, y, step);
            self.write(kind, i as RowIndex, x);
        }
        if self.needs_time() {
            let x = self.asm.own(self.scale(2), &[]);
            self.write(kind, tape.dimension as RowIndex, x);
        }
    }

    /// Does anything depend on the coefficients of time, or are they asked for?
    fn needs_time(&self) -> bool {
        let time = self.tape.dimension as RowIndex;
        self.place(time).step > 0
            || self.r.edges.iter().any(|edge| edge.source == time)
            || self.r.pairs.iter().any(|pair| pair.a == time || pair.b == time)
    }

    pub(crate) fn equation(&mut self, kind: OrderKind, e: &OrderEquation) {
        let (r, pairs, edges) = (self.r, e.pairs.clone(), e.edges.clone());
        let mut sum: Option<u8> = None;
        if kind != OrderKind::First {
            for p in pairs.clone() {
                let busy: Vec<u8> = sum.into_iter().collect();
                let term = self.pair(kind, p, &busy);
                sum = Some(match sum {
                    None => term,
                    Some(x) => {
                        self.asm.operate(Do::Add, x, x, Rm::Register(term));
                        x
                    }
                });
            }
            if let (Some(x), OrderScale::Inverse) = (sum, e.scale) {
                let inverse = self.asm.operand(self.scale(1));
                self.asm.operate(Do::Multiply, x, x, inverse);
            }
        }
        // A copy times a scale needs no copy.
        if let (true, [edge]) = (pairs.is_empty() && e.scale != OrderScale::One, &r.edges[edges.clone()])
            && edge.weight.is_one()
        {
            let y = self.asm.get(self.now(edge.source), &[]);
            let x = self.asm.fresh(&[y]);
            let scale = self.asm.operand(self.scale(usize::from(e.scale == OrderScale::Inverse)));
            self.asm.operate(Do::Multiply, x, y, scale);
            return self.write(kind, e.out, x);
        }
        for index in edges {
            let edge = &r.edges[index];
            let source = self.now(edge.source);
            sum = Some(if !edge.weight.is_one() {
                self.multiply_add(sum, source, self.edge_weight(index, &edge.weight))
            } else if let Some(x) = sum {
                let source = self.asm.operand(source);
                self.asm.operate(Do::Add, x, x, source);
                x
            } else {
                self.asm.own(source, &[])
            });
        }
        let x = sum.unwrap_or_else(|| {
            let x = self.asm.fresh(&[]);
            self.asm.zero(x);
            x
        });
        if pairs.is_empty() && e.scale != OrderScale::One {
            let scale = self.asm.operand(self.scale(usize::from(e.scale == OrderScale::Inverse)));
            self.asm.operate(Do::Multiply, x, x, scale);
        }
        self.write(kind, e.out, x);
    }

    /// w C of one pair, in a register of its own.
    fn pair(&mut self, kind: OrderKind, p: usize, busy: &[u8]) -> u8 {
        let pair = &self.r.pairs[p];
        let [a, b] = [pair.a, pair.b].map(|row| self.before(row));
        if kind == OrderKind::Second {
            let x = self.asm.own(a, busy);
            if pair.is_square() {
                let half = self.asm.operand(self.at(self.layout.numbers));
                self.asm.operate(Do::Multiply, x, x, half);
            }
            let boundary = self.asm.operand(self.boundary(p, 0));
            self.asm.operate(Do::Multiply, x, x, boundary);
            return x;
        }
        let interior = Mem(Base::Sums, ((self.layout.sums + self.layout.pair(p)) * self.element) as i64);
        let x = self.asm.own(interior, busy);
        if !self.boundary_in_octets() {
            for (side, newest) in [a, b].into_iter().enumerate().take(2 - usize::from(pair.is_square())) {
                let busy = [busy, &[x]].concat();
                let y = self.asm.get(newest, &busy);
                let boundary = self.asm.operand(self.boundary(p, side));
                self.asm.operate(Do::Fused, x, y, boundary);
            }
        }
        x
    }

    /// sum + a·w, fused; a·w to begin with.
    pub(crate) fn multiply_add(&mut self, sum: Option<u8>, a: Mem, w: Mem) -> u8 {
        let busy: Vec<u8> = sum.into_iter().collect();
        let y = self.asm.get(a, &busy);
        let w = self.asm.operand(w);
        match sum {
            Some(x) => {
                self.asm.operate(Do::Fused, x, y, w);
                x
            }
            None => {
                let mut busy = vec![y];
                if let Rm::Register(w) = w {
                    busy.push(w);
                }
                let x = self.asm.fresh(&busy);
                self.asm.operate(Do::Multiply, x, y, w);
                x
            }
        }
    }

    /// A new coefficient: stored where it is needed again, else only kept at hand.
    pub(crate) fn write(&mut self, kind: OrderKind, row: RowIndex, x: u8) {
        let place = self.now(row);
        if self.is_grouped() {
            self.asm.put(place, x);
            return self.keep_series(row);
        }
        if self.place(row).step == 0 {
            self.asm.keep(place, x);
        } else {
            self.asm.put(place, x);
        }
        self.publish(kind, row, x);
    }

    /// Copies a new coefficient to the octets that use it.
    fn publish(&mut self, kind: OrderKind, row: RowIndex, x: u8) {
        if kind != OrderKind::Last {
            for i in 0..self.copies[row as usize].len() {
                let at = self.copies[row as usize][i];
                self.asm.store(Mem(Base::Octets, at as i64), x);
            }
        }
    }

    // ---- boundary and interior ------------------------------------------------------------------------------------

    /// w b_1 (`side` 0) or w a_1 of a pair: a coefficient itself, or an entry of the table.
    fn boundary(&self, p: usize, side: usize) -> Mem {
        let pair = &self.r.pairs[p];
        let other = if side == 0 { pair.b } else { pair.a };
        if pair.weight.is_one() && !pair.is_square() && !self.boundary_in_tables() {
            return self.at(self.place(other).index(1));
        }
        self.at(self.layout.boundary[side] + self.layout.pair(p))
    }

    /// With many pairs the boundary terms are added in vectors: waiting for the newest coefficients costs less than an
    /// instruction per pair.
    fn boundary_in_octets(&self) -> bool {
        self.target == EmitTarget::Single && self.r.pairs.len() >= MANY && !self.is_grouped()
    }

    /// Vectors find the factors of boundary terms in tables, also where these are coefficients.
    fn boundary_in_tables(&self) -> bool {
        self.boundary_in_octets() || self.is_grouped()
    }

    fn boundary_weights(&mut self) {
        if self.is_grouped() {
            return self.grouped_boundary_weights();
        }
        self.asm.forget();
        for p in 0..self.r.pairs.len() {
            self.boundary_weight(p);
        }
    }

    pub(crate) fn boundary_weight(&mut self, p: usize) {
        let pair = &self.r.pairs[p];
        let square = pair.is_square();
        if pair.weight.is_one() && !square && !self.boundary_in_tables() {
            return;
        }
        let w = self.asm.get(self.at(self.layout.pair_weights + self.layout.pair(p)), &[]);
        for (side, other) in [pair.b, pair.a].into_iter().enumerate().take(2 - usize::from(square)) {
            let x = self.asm.fresh(&[w]);
            let first = self.asm.operand(self.at(self.place(other).index(1)));
            self.asm.operate(Do::Multiply, x, w, first);
            if square {
                self.asm.operate(Do::Add, x, x, Rm::Register(x));
            }
            self.asm.put(self.boundary(p, side), x);
        }
    }

    /// Adds the boundary terms of order k to its interior sums, eight pairs at a time.
    fn boundary_terms(&mut self, pairs: usize) {
        if !self.boundary_in_octets() {
            return;
        }
        let scalar = std::mem::replace(&mut self.asm.width, self.octet);
        let (layout, stride) = (self.layout, self.layout.stride);
        let halves: &[usize] = if self.octet == VectorWidth::Eight { &[0] } else { &[0, 32] };
        for (c, half) in (0..pairs.div_ceil(WIDTH)).flat_map(|c| halves.iter().map(move |h| (c, *h))) {
            let at = |index: usize| (8 * index + half) as i64;
            let sum = Mem(Base::Sums, at(layout.sums + c * WIDTH));
            self.asm.load(0, sum);
            for (octets, boundary) in layout.octets.into_iter().zip(layout.boundary) {
                self.asm.load(1, Mem(Base::Octets, at(octets + c * stride * WIDTH) - 64));
                let boundary = Mem(Base::Arena, at(boundary + c * WIDTH));
                self.asm.operate(Do::Fused, 0, 1, Rm::Memory(boundary));
            }
            self.asm.store(sum, 0);
        }
        self.asm.width = scalar;
    }
}
