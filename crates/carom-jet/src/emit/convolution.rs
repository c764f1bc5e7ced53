//! Far sums of order k + 1: Σ a_j b_{k+1−j} over 1 < j < k, from the middle outwards, times the weights of the pairs.

use super::assembler::{Base, IF_NOT_ZERO, IF_ZERO, Mem, Op as Do, RBP, RBX, Rm, Width};
use super::{Emitter, Target};
use crate::ir::layout::WIDTH;
use crate::ir::tape::Row;
use std::ops::Range;

/// Accumulators begin after the scratch registers.
const FIRST_SUM: u8 = 2;

/// One vector of pairs: byte offsets.
struct Part {
    operands: [i64; 2],
    weights: i64,
    sums: i64,
    /// Lower and upper half of sums that are continued.
    begun: [i64; 2],
    square: bool,
}

impl Part {
    /// Of a square both halves of a sum are the same.
    fn halves(&self) -> usize {
        2 - usize::from(self.square)
    }
}

impl Emitter<'_> {
    /// The weighted far sums of order k + 1, where k is in `RBX`.
    pub(crate) fn far_sums(&mut self) {
        match self.target {
            Target::Single if self.by_eights() => self.far_by_twos(),
            Target::Single => self.far_octets(),
            Target::Lanes => self.far_lanes(),
        }
        self.asm.forget();
    }

    /// Bytes between coefficients, as a power of two: of an octet, or of a vector of lanes.
    fn coefficient_bits(&self) -> u8 {
        let bytes = if self.target == Target::Single { 8 * WIDTH } else { self.element };
        bytes.trailing_zeros() as u8
    }

    /// Low at ⌊k/2⌋, High at k + 1 − ⌊k/2⌋; the number of steps to j = 2 is left in `RBP` (zero flag set when none).
    fn point(&mut self) {
        let (low, high, arena) = (Base::Low.register(), Base::High.register(), Base::Arena.register());
        let bits = self.coefficient_bits();
        self.asm.move_general(RBP, RBX);
        self.asm.shift_right(RBP, 1);
        self.asm.move_general(low, RBP);
        self.asm.shift_left(low, bits);
        self.asm.add(low, arena);
        self.asm.move_general(high, RBX);
        self.asm.add_number(high, 1);
        self.asm.subtract(high, RBP);
        self.asm.shift_left(high, bits);
        self.asm.add(high, arena);
        self.asm.decrement(RBP);
    }

    /// Low at (k + 1)/2.
    fn point_middle(&mut self) {
        let low = Base::Low.register();
        self.asm.move_general(low, RBX);
        self.asm.add_number(low, 1);
        self.asm.shift_left(low, self.coefficient_bits() - 1);
        self.asm.add(low, Base::Arena.register());
    }

    /// `terms` of one step, repeated from the middle outwards; then `middle` if k + 1 is even, after `join`.
    fn far(
        &mut self,
        sums: Range<u8>,
        terms: impl Fn(&mut Self),
        join: impl Fn(&mut Self),
        middle: impl Fn(&mut Self),
    ) {
        for x in sums {
            self.asm.zero(x);
        }
        self.point();
        let none = self.asm.jump(IF_ZERO);
        let again = self.asm.label();
        terms(self);
        let step = 1 << self.coefficient_bits();
        self.asm.add_number(Base::Low.register(), -step);
        self.asm.add_number(Base::High.register(), step);
        self.asm.decrement(RBP);
        self.asm.jump_back(IF_NOT_ZERO, again);
        self.asm.land(none);
        join(self);
        self.asm.test_bits(RBX, 1);
        let odd = self.asm.jump(IF_ZERO);
        self.point_middle();
        middle(self);
        self.asm.land(odd);
    }

    /// All octets, or their halves.
    fn parts(&self) -> Vec<Part> {
        let layout = self.layout;
        let mut square = vec![true; layout.room / WIDTH];
        for (p, pair) in self.r.pairs.iter().enumerate() {
            square[layout.pair(p) / WIDTH] &= pair.is_square();
        }
        let halves: &[usize] = if self.octet == Width::Eight { &[0] } else { &[0, 32] };
        (square.iter().enumerate())
            .flat_map(|(c, &square)| {
                halves.iter().map(move |half| {
                    let at = |element: usize| (8 * element + half) as i64;
                    Part {
                        operands: layout.octets.map(|octets| at(octets + c * layout.stride * WIDTH)),
                        weights: at(layout.pair_weights + c * WIDTH),
                        sums: at(layout.sums + c * WIDTH),
                        begun: layout.begun.map(|begun| at(begun + c * WIDTH)),
                        square,
                    }
                })
            })
            .collect()
    }

    /// Eight pairs to an octet, as one vector or as two halves.
    fn far_octets(&mut self) {
        let scalar = std::mem::replace(&mut self.asm.width, self.octet);
        self.far_parts::<1>(&self.parts());
        self.asm.width = scalar;
    }

    /// The sums of order K = k + 1; of `ORDERS` = 2 also what is known of those of order K + 1, for odd k.
    fn far_parts<const ORDERS: usize>(&mut self, parts: &[Part]) {
        let registers = if self.octet == Width::Eight { 32 } else { 16 };
        for parts in parts.chunks(usize::from(registers - FIRST_SUM) / (2 * ORDERS)) {
            let first = |i: usize| FIRST_SUM + (2 * ORDERS * i) as u8;
            let each = || parts.iter().enumerate().map(|(i, part)| (first(i), part, part.operands));
            self.far(
                FIRST_SUM..first(parts.len()),
                |this| {
                    for (x, part, [a, b]) in each() {
                        for (x, upper, lower) in [(x, b, a), (x + 1, a, b)].into_iter().take(part.halves()) {
                            this.asm.load(0, Mem(Base::High, upper));
                            for order in 0..ORDERS {
                                let lower = Mem(Base::Low, lower + 64 * order as i64);
                                this.asm.operate(Do::Fused, x + 2 * order as u8, 0, Rm::Memory(lower));
                            }
                        }
                    }
                },
                |this| {
                    for (x, part, _) in each() {
                        let high = x + part.halves() as u8 - 1;
                        this.asm.operate(Do::Add, x, x, Rm::Register(high));
                    }
                },
                |this| {
                    for (x, _, [a, b]) in each() {
                        this.asm.load(0, Mem(Base::Low, a));
                        this.asm.operate(Do::Fused, x, 0, Rm::Memory(Mem(Base::Low, b)));
                    }
                },
            );
            for (x, part, _) in each() {
                self.asm.operate(Do::Multiply, x, x, Rm::Memory(Mem(Base::Arena, part.weights)));
                self.asm.store(Mem(Base::NextSums, part.sums), x);
                if ORDERS == 2 {
                    for (half, at) in part.begun.into_iter().enumerate().take(part.halves()) {
                        self.asm.store(Mem(Base::Arena, at), x + 2 + half as u8);
                    }
                }
            }
        }
    }

    /// Two orders at a time: K = k + 1 for odd k, with all of K + 1 that is known then; the rest follows with the next k. In
    /// large systems operands come from the second-level cache: this reads them half as often.
    ///
    /// ```text
    /// K = 2q:   a_j b_{K−j} + a_{K−j} b_j            j = q − 1 … 2
    /// K + 1:    a_{j+1} b_{K−j} + a_{K−j} b_{j+1}    likewise; then a_2 b_{K−1} + a_{K−1} b_2
    /// ```
    fn far_by_twos(&mut self) {
        let scalar = std::mem::replace(&mut self.asm.width, self.octet);
        let parts = self.parts();
        self.asm.test_bits(RBX, 1);
        let even = self.asm.jump(IF_ZERO);
        self.far_parts::<2>(&parts);
        let done = self.asm.skip();
        self.asm.land(even);
        for part in &parts {
            let [a, b] = part.operands;
            for (half, (newest, second)) in [(b, a), (a, b)].into_iter().enumerate().take(part.halves()) {
                let x = FIRST_SUM + half as u8;
                self.asm.load(x, Mem(Base::Arena, part.begun[half]));
                self.asm.load(0, Mem(Base::Octets, newest - 64));
                self.asm.operate(Do::Fused, x, 0, Rm::Memory(Mem(Base::Arena, second + 128)));
            }
            let high = FIRST_SUM + part.halves() as u8 - 1;
            self.asm.operate(Do::Add, FIRST_SUM, FIRST_SUM, Rm::Register(high));
            self.asm.operate(Do::Multiply, FIRST_SUM, FIRST_SUM, Rm::Memory(Mem(Base::Arena, part.weights)));
            self.asm.store(Mem(Base::NextSums, part.sums), FIRST_SUM);
        }
        self.asm.land(done);
        self.asm.width = scalar;
    }

    /// Pair by pair, operands straight from the series; pairs with a common operand share its loads.
    fn far_lanes(&mut self) {
        let r = self.r;
        let mut order: Vec<usize> = (0..r.pairs.len()).collect();
        order.sort_by_key(|&p| r.pairs[p].a);
        let mut rest = &order[..];
        while !rest.is_empty() {
            // As many pairs as there are registers: a square needs one sum, others two.
            let mut next = FIRST_SUM;
            let mut group: Vec<(usize, u8)> = Vec::new();
            while let [p, more @ ..] = rest {
                let needs = 2 - u8::from(r.pairs[*p].is_square());
                if next + needs > self.asm.registers() {
                    break;
                }
                group.push((*p, next));
                next += needs;
                rest = more;
            }
            self.far_group(&group, next);
        }
    }

    fn far_group(&mut self, group: &[(usize, u8)], end: u8) {
        let r = self.r;
        let series = |this: &Self, row: Row| this.place(row).at as i64 * this.element as i64;
        self.far(
            FIRST_SUM..end,
            |this| {
                let mut loaded = None;
                for &(p, sum) in group {
                    let (a, b) = (r.pairs[p].a, r.pairs[p].b);
                    let (at, other) = (series(this, a), series(this, b));
                    if loaded != Some(a) {
                        this.asm.load(0, Mem(Base::Low, at));
                        if a != b {
                            this.asm.load(1, Mem(Base::High, at));
                        }
                        loaded = (a != b).then_some(a);
                    }
                    this.asm.operate(Do::Fused, sum, 0, Rm::Memory(Mem(Base::High, other)));
                    if a != b {
                        this.asm.operate(Do::Fused, sum + 1, 1, Rm::Memory(Mem(Base::Low, other)));
                    }
                }
            },
            |this| {
                for &(p, sum) in group {
                    let high = sum + u8::from(r.pairs[p].a != r.pairs[p].b);
                    this.asm.operate(Do::Add, sum, sum, Rm::Register(high));
                }
            },
            |this| {
                let mut loaded = None;
                for &(p, sum) in group {
                    let (a, b) = (r.pairs[p].a, r.pairs[p].b);
                    if loaded != Some(a) {
                        this.asm.load(0, Mem(Base::Low, series(this, a)));
                        loaded = Some(a);
                    }
                    this.asm.operate(Do::Fused, sum, 0, Rm::Memory(Mem(Base::Low, series(this, b))));
                }
            },
        );
        for &(p, sum) in group {
            if !r.pairs[p].weight.is_one() {
                let weight = self.at(self.layout.pair_weights + self.layout.pair(p));
                self.asm.operate(Do::Multiply, sum, sum, Rm::Memory(weight));
            }
            self.asm.store(
                Mem(Base::NextSums, ((self.layout.sums + self.layout.pair(p)) * self.element) as i64),
                sum,
            );
        }
    }
}
