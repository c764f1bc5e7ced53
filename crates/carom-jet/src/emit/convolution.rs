//! Interior sums Σ a_j b_{K−j} over 1 < j < K − 1, from the middle outwards, times the weights of the pairs.
//!
//! Two orders at a time: K = k + 1 for odd k, with all of K + 1 that is known then; the rest follows with the next k. And two
//! places j at a time. So every operand that is loaded is used twice: processors multiply as fast as they load, or faster.
//!
//! ```text
//! K = 2q:   a_j b_{K−j} + a_{K−j} b_j            j = q − 1 … 2, then a_q b_q
//! K + 1:    a_{j+1} b_{K−j} + a_{K−j} b_{j+1}    likewise; then a_2 b_{K−1} + a_{K−1} b_2
//! ```

use super::assembler::{
    Base, IF_NOT_ZERO, IF_ZERO, Mem, R12, R13, R14, RBP, RBX, Rm, VectorOp as Do, VectorWidth,
};
use super::{EmitTarget, Emitter};
use crate::ir::layout::{WIDTH, lane};

/// Registers for operands: two, and five of an operand that several pairs share.
const OPERANDS: u8 = 3;
const SHARED: u8 = 7;

/// One vector of pairs: byte offsets.
#[derive(Clone, Copy)]
struct PairVector {
    operands: [i64; 2],
    /// None: all weights are 1.
    weights: Option<i64>,
    sums: i64,
    /// Lower and upper half of sums that are continued.
    begun: [i64; 2],
    square: bool,
}

impl PairVector {
    /// Of a square both halves of a sum are the same.
    fn halves(&self) -> u8 {
        2 - u8::from(self.square)
    }
}

/// The registers of a part's sums, and whether its first operand is shared with a neighbour.
#[derive(Clone, Copy)]
struct SumRegisters {
    part: PairVector,
    first: u8,
    shared: bool,
}

impl SumRegisters {
    /// The sum of order K (0) or K + 1 (1): its lower half (0) or its upper one (1).
    fn register(&self, order: u8, half: u8) -> u8 {
        self.first + order * self.part.halves() + half
    }
}

impl Emitter<'_> {
    /// The weighted interior sums of order k + 1, where k is in `RBX`.
    pub(crate) fn interior_sums(&mut self) {
        let (own, parts) = self.parts();
        let width = std::mem::replace(&mut self.asm.width, own);
        self.asm.test_bits(RBX, 1);
        let even = self.asm.jump(IF_ZERO);
        self.find_middle();
        for group in self.groups(&parts, own) {
            self.two_orders(&group);
        }
        let done = self.asm.skip();
        self.asm.land(even);
        parts.iter().for_each(|part| self.second_order(part));
        self.asm.land(done);
        self.asm.width = width;
        self.asm.forget();
    }

    /// The vectors of pairs, and their width.
    fn parts(&self) -> (VectorWidth, Vec<PairVector>) {
        match self.target {
            EmitTarget::Single => (self.octet, self.octet_parts()),
            EmitTarget::Lanes => (self.asm.width, self.lane_parts()),
        }
    }

    /// Interior sums use the registers below this one.
    pub(crate) fn interior_registers(&self) -> u8 {
        let (width, parts) = self.parts();
        let end = |sums: &SumRegisters| sums.register(1, sums.part.halves() - 1) + 1;
        self.groups(&parts, width).iter().flatten().map(end).max().unwrap_or(0)
    }

    /// Bytes between coefficients, as a power of two: of an octet, or of a vector of lanes.
    fn coefficient_bits(&self) -> u8 {
        let bytes = if self.target == EmitTarget::Single { 8 * WIDTH } else { self.element };
        bytes.trailing_zeros() as u8
    }

    /// Bytes between coefficients.
    fn coefficient(&self) -> i64 {
        1 << self.coefficient_bits()
    }

    /// Eight pairs to an octet, as one vector or as two halves; none where there are no pairs.
    fn octet_parts(&self) -> Vec<PairVector> {
        let (layout, doubles) = (self.layout, self.octet.doubles());
        let [mut used, mut square] = [false, true].map(|x| vec![x; layout.room / doubles]);
        for (p, pair) in self.r.pairs.iter().enumerate() {
            let vector = layout.pair(p) / doubles;
            used[vector] = true;
            square[vector] &= pair.is_square();
        }
        let part = |vector: usize| {
            let first = vector * doubles;
            let at = |element: usize| 8 * element as i64;
            PairVector {
                operands: layout.octets.map(|octets| at(octets + lane(first, 0, layout.stride))),
                weights: Some(at(layout.pair_weights + first)),
                sums: at(layout.sums + first),
                begun: layout.begun.map(|begun| at(begun + first)),
                square: square[vector],
            }
        };
        (0..used.len()).filter(|&vector| used[vector]).map(part).collect()
    }

    /// Pair by pair, operands straight from the series; pairs with a common operand follow each other.
    fn lane_parts(&self) -> Vec<PairVector> {
        let (r, layout) = (self.r, self.layout);
        let mut order: Vec<usize> = (0..r.pairs.len()).collect();
        order.sort_by_key(|&p| (r.pairs[p].is_square(), r.pairs[p].a));
        let at = |element: usize| (element * self.element) as i64;
        let part = |p: usize| {
            let (pair, place) = (&r.pairs[p], layout.pair(p));
            PairVector {
                operands: [pair.a, pair.b].map(|row| at(self.place(row).at as usize)),
                weights: (!pair.weight.is_one()).then(|| at(layout.pair_weights + place)),
                sums: at(layout.sums + place),
                begun: layout.begun.map(|begun| at(begun + place)),
                square: pair.is_square(),
            }
        };
        order.into_iter().map(part).collect()
    }

    /// As many parts at a time as there are registers for their sums.
    fn groups(&self, parts: &[PairVector], width: VectorWidth) -> Vec<Vec<SumRegisters>> {
        let lanes = self.target == EmitTarget::Lanes;
        // All registers there are.
        let end = if width.doubles() == WIDTH { 32 } else { 16 };
        let start = if lanes { SHARED } else { OPERANDS };
        let mut groups: Vec<Vec<SumRegisters>> = Vec::new();
        let mut next = end;
        for &part in parts {
            if next + 2 * part.halves() > end {
                groups.push(Vec::new());
                next = start;
            }
            if let Some(group) = groups.last_mut() {
                group.push(SumRegisters { part, first: next, shared: false });
                next += 2 * part.halves();
            }
        }
        for group in groups.iter_mut().filter(|_| lanes) {
            let first: Vec<Option<i64>> =
                group.iter().map(|s| (!s.part.square).then_some(s.part.operands[0])).collect();
            for (i, sums) in group.iter_mut().enumerate() {
                let same = |j: usize| first[i].is_some() && first.get(j) == Some(&first[i]);
                sums.shared = same(i + 1) || (i > 0 && same(i - 1));
            }
        }
        groups
    }

    /// Where the sums of order K = k + 1 = 2q begin: q − 1 in `R12`, q + 1 in `R13`, the number of places j in `R14`.
    fn find_middle(&mut self) {
        let arena = Base::Arena.register();
        let bits = self.coefficient_bits();
        self.asm.move_general(R14, RBX);
        self.asm.shift_right(R14, 1);
        self.asm.move_general(R12, R14);
        self.asm.shift_left(R12, bits);
        self.asm.add(R12, arena);
        self.asm.move_general(R13, R12);
        self.asm.add_number(R13, 2 * self.coefficient());
        self.asm.decrement(R14);
    }

    /// Low at q − 1, High at q + 1; the number of places j is left in `RBP` (zero flag set when none).
    fn point(&mut self) {
        self.asm.move_general(Base::Low.register(), R12);
        self.asm.move_general(Base::High.register(), R13);
        self.asm.move_general(RBP, R14);
        self.asm.test_bits(RBP, -1);
    }

    /// So many places outwards.
    fn outwards(&mut self, places: i64) {
        let distance = places * self.coefficient();
        self.asm.add_number(Base::Low.register(), -distance);
        self.asm.add_number(Base::High.register(), distance);
    }

    /// The sums of order K, and what is known of those of order K + 1.
    fn two_orders(&mut self, group: &[SumRegisters]) {
        for sums in group {
            for i in 0..2 * sums.part.halves() {
                self.asm.zero(sums.first + i);
            }
        }
        self.point();
        let none = self.asm.jump(IF_ZERO);
        self.asm.test_bits(RBP, 1);
        let even = self.asm.jump(IF_ZERO);
        group.iter().for_each(|sums| self.one_place(sums));
        self.outwards(1);
        self.asm.decrement(RBP);
        let no_more = self.asm.jump(IF_ZERO);
        self.asm.land(even);
        let again = self.asm.label();
        let mut loaded = None;
        for sums in group {
            if sums.shared {
                self.two_places_of_shared(sums, &mut loaded);
            } else {
                self.two_places(sums);
            }
        }
        self.outwards(2);
        self.asm.add_number(RBP, -2);
        self.asm.jump_back(IF_NOT_ZERO, again);
        self.asm.land(none);
        self.asm.land(no_more);
        self.asm.move_general(Base::Low.register(), R12);
        for sums in group {
            let (part, x) = (&sums.part, sums.register(0, 0));
            self.asm.operate(Do::Add, x, x, Rm::Register(sums.register(0, part.halves() - 1)));
            let [a, b] = part.operands.map(|operand| Mem(Base::Low, operand + self.coefficient()));
            self.asm.load(0, a);
            self.asm.operate(Do::Fused, x, 0, Rm::Memory(b));
            self.finish_sum(part, x);
            for half in 0..part.halves() {
                let at = Mem(Base::Arena, part.begun[usize::from(half)]);
                self.asm.store(at, sums.register(1, half));
            }
        }
    }

    /// The terms of one j.
    fn one_place(&mut self, sums: &SumRegisters) {
        let [a, b] = sums.part.operands;
        for (half, upper, lower) in [(0, b, a), (1, a, b)].into_iter().take(sums.part.halves().into()) {
            self.asm.load(0, Mem(Base::High, upper));
            for order in 0..2 {
                let lower = Mem(Base::Low, lower + i64::from(order) * self.coefficient());
                self.asm.operate(Do::Fused, sums.register(order, half), 0, Rm::Memory(lower));
            }
        }
    }

    /// The terms of j and j − 1.
    fn two_places(&mut self, sums: &SumRegisters) {
        let (step, [a, b]) = (self.coefficient(), sums.part.operands);
        for (half, upper, lower) in [(0, b, a), (1, a, b)].into_iter().take(sums.part.halves().into()) {
            let [first, second] = [0, 1].map(|order| sums.register(order, half));
            self.asm.load(0, Mem(Base::High, upper));
            self.asm.load(2, Mem(Base::Low, lower));
            self.asm.load(1, Mem(Base::High, upper + step));
            self.asm.operate(Do::Fused, first, 0, Rm::Register(2));
            self.asm.operate(Do::Fused, second, 0, Rm::Memory(Mem(Base::Low, lower + step)));
            self.asm.operate(Do::Fused, first, 1, Rm::Memory(Mem(Base::Low, lower - step)));
            self.asm.operate(Do::Fused, second, 1, Rm::Register(2));
        }
    }

    /// The same where the first operand is that of the part before or after: its five coefficients stay in registers.
    fn two_places_of_shared(&mut self, sums: &SumRegisters, loaded: &mut Option<i64>) {
        let (step, [a, b]) = (self.coefficient(), sums.part.operands);
        if *loaded != Some(a) {
            *loaded = Some(a);
            for (x, place) in [
                (2, Mem(Base::Low, a)),
                (3, Mem(Base::Low, a + step)),
                (4, Mem(Base::Low, a - step)),
                (5, Mem(Base::High, a)),
                (6, Mem(Base::High, a + step)),
            ] {
                self.asm.load(x, place);
            }
        }
        let [low, next_low, high, next_high] =
            [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(order, half)| sums.register(order, half));
        self.asm.load(0, Mem(Base::High, b));
        self.asm.load(1, Mem(Base::High, b + step));
        self.asm.operate(Do::Fused, low, 0, Rm::Register(2));
        self.asm.operate(Do::Fused, next_low, 0, Rm::Register(3));
        self.asm.load(0, Mem(Base::Low, b));
        self.asm.operate(Do::Fused, high, 5, Rm::Register(0));
        self.asm.operate(Do::Fused, next_high, 5, Rm::Memory(Mem(Base::Low, b + step)));
        self.asm.operate(Do::Fused, low, 1, Rm::Register(4));
        self.asm.operate(Do::Fused, next_low, 1, Rm::Register(2));
        self.asm.operate(Do::Fused, high, 6, Rm::Memory(Mem(Base::Low, b - step)));
        self.asm.operate(Do::Fused, next_high, 6, Rm::Register(0));
    }

    /// Order k + 1 for even k: begun with k − 1, two terms are missing. Operands that pairs share are loaded once.
    fn second_order(&mut self, part: &PairVector) {
        let ([a, b], step) = (part.operands, self.coefficient());
        let newest_base = if self.target == EmitTarget::Single { Base::Octets } else { Base::Series };
        let mut sums = Vec::new();
        for (half, (newest, second)) in [(b, a), (a, b)].into_iter().enumerate().take(part.halves().into()) {
            sums.push(self.asm.own(Mem(Base::Arena, part.begun[half]), &sums));
            let y = self.asm.get(Mem(newest_base, newest - step), &sums);
            let second = Mem(Base::Arena, second + 2 * step);
            let second = match self.target {
                EmitTarget::Single => self.asm.operand(second),
                EmitTarget::Lanes => Rm::Register(self.asm.get(second, &[&sums[..], &[y]].concat())),
            };
            self.asm.operate(Do::Fused, sums[half], y, second);
        }
        self.asm.operate(Do::Add, sums[0], sums[0], Rm::Register(sums[sums.len() - 1]));
        self.finish_sum(part, sums[0]);
    }

    /// Times the weights, to the sums of the next order.
    fn finish_sum(&mut self, part: &PairVector, x: u8) {
        if let Some(weights) = part.weights {
            self.asm.operate(Do::Multiply, x, x, Rm::Memory(Mem(Base::Arena, weights)));
        }
        self.asm.store(Mem(Base::NextSums, part.sums), x);
    }
}
