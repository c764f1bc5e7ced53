//! Order 0: values, factors of linear blocks, and the weights that depend on them.

use super::assembler::{Mem, Rm, VectorOp as Do};
use super::{Emitter, EntryPoint, LARGEST, Segment};
use crate::ir::elimination::FactorEntry;
use crate::ir::layout::{BlockFactors, Factors, Pivoted};
use crate::ir::recurrence::{NONE, Weight};
use crate::ir::tape::{ONE, Op, Phases, Slot, TapeValue, ZERO};

/// An entry of the matrix and what is added to it: some s a_i (as its index) times some a_j.
#[derive(Clone, Default)]
struct Sum {
    entry: Option<Mem>,
    added: Vec<(u32, Mem)>,
}

impl Emitter<'_> {
    /// Code for order 0, instruction by instruction; functions the code does not know are gathered between pieces of it.
    pub(crate) fn values(&mut self) -> Option<Vec<Segment>> {
        let mut phases = Phases::new(self.tape);
        let mut segments = Vec::new();
        while phases.any_left() {
            let start = self.asm.bytes.len();
            self.asm.forget();
            let outside = phases.next(|_, op| self.value(op));
            if self.asm.bytes.len() > LARGEST {
                return None;
            }
            if self.asm.bytes.len() > start {
                self.asm.finish();
                segments.push(Segment::Code(EntryPoint(start)));
            }
            if !outside.is_empty() {
                segments.push(Segment::Outside(outside));
            }
        }
        Some(segments)
    }

    fn value_of(&self, value: TapeValue) -> Mem {
        match value {
            TapeValue::Constant(slot) => self.constant(slot),
            TapeValue::Row(row) => self.order_zero(row),
        }
    }

    /// Code for one instruction; false when it is left to the outside.
    fn value(&mut self, op: &Op) -> bool {
        match op {
            Op::Dot { out, constant, linear, products } => {
                let mut sum = (*constant != ZERO || (linear.is_empty() && products.is_empty()))
                    .then(|| self.asm.own(self.constant(*constant), &[]));
                for l in linear {
                    let a = self.order_zero(l.a);
                    sum = Some(self.add_scaled(sum, l.coefficient, a, None));
                }
                for p in products {
                    let (a, b) = (self.order_zero(p.a), self.order_zero(p.b));
                    sum = Some(self.add_scaled(sum, p.coefficient, a, Some(b)));
                }
                if let Some(x) = sum {
                    self.asm.put(self.order_zero(*out), x);
                }
            }
            Op::Divide { out, a, b } => {
                let x = self.asm.own(self.value_of(*a), &[]);
                let b = self.asm.operand(self.order_zero(*b));
                self.asm.operate(Do::Divide, x, x, b);
                self.asm.put(self.order_zero(*out), x);
            }
            Op::Euler { out, .. } => {
                let x = self.asm.fresh(&[]);
                self.asm.zero(x);
                self.asm.put(self.order_zero(*out), x);
            }
            Op::Sqrt { out, u } => {
                let x = self.asm.fresh(&[]);
                let u = self.asm.operand(self.order_zero(*u));
                self.asm.operate(Do::Sqrt, x, x, u);
                self.asm.put(self.order_zero(*out), x);
            }
            Op::Solve { block } => {
                let index = *block as usize;
                let (tape, layout) = (self.tape, self.layout);
                let (BlockFactors::Symmetric(factors), block) = (&layout.blocks[index], &tape.blocks[index])
                else {
                    return false;
                };
                let entries: Vec<Mem> = block.entries.iter().map(|e| self.value_of(e.2)).collect();
                self.factor(factors, &entries);
                let right: Vec<Mem> = block.right_side.iter().map(|v| self.value_of(*v)).collect();
                let out: Vec<Mem> =
                    (0..block.size as u32).map(|i| self.order_zero(block.first + i)).collect();
                self.solve(factors, &right, &out, false);
            }
            _ => return false,
        }
        true
    }

    /// sum + c a, or sum + c (a b); each operation is rounded.
    fn add_scaled(&mut self, sum: Option<u8>, c: Slot, a: Mem, b: Option<Mem>) -> u8 {
        let busy: Vec<u8> = sum.into_iter().collect();
        let mut factors: Vec<Mem> = b.into_iter().collect();
        if c != ONE {
            factors.push(self.constant(c));
        }
        let Some((first, rest)) = factors.split_first() else {
            return match sum {
                Some(x) => {
                    let a = self.asm.operand(a);
                    self.asm.operate(Do::Add, x, x, a);
                    x
                }
                None => self.asm.own(a, &[]),
            };
        };
        let y = self.asm.get(a, &busy);
        let x = if sum.is_some() { 0 } else { self.asm.fresh(&[y]) };
        let operand = self.asm.operand(*first);
        self.asm.operate(Do::Multiply, x, y, operand);
        for factor in rest {
            let operand = self.asm.operand(*factor);
            self.asm.operate(Do::Multiply, x, x, operand);
        }
        match sum {
            Some(sum) => {
                self.asm.operate(Do::Add, sum, sum, Rm::Register(x));
                sum
            }
            None => x,
        }
    }

    /// s a_i of every augmentation row, as in `ldl::augmentation`.
    fn multiples(&mut self, f: &Factors, entries: &[Mem]) {
        let mask = Rm::Memory(self.at(self.layout.mask));
        let mut place = f.multiples;
        for row in &f.pattern.augmentation_rows {
            let s = self.asm.fresh(&[]);
            self.asm.zero(s);
            for (i, &at) in row.diagonal.iter().enumerate() {
                let y = self.asm.get(entries[at as usize], &[s]);
                if i == 0 {
                    self.asm.operate(Do::And, s, y, mask);
                } else {
                    self.asm.operate(Do::And, 0, y, mask);
                    self.asm.operate(Do::Add, s, s, Rm::Register(0));
                }
            }
            let square = self.asm.fresh(&[s]);
            self.asm.zero(square);
            for (i, &at) in row.entries.iter().enumerate() {
                let y = self.asm.get(entries[at as usize], &[s, square]);
                if i == 0 {
                    self.asm.operate(Do::Multiply, square, y, Rm::Register(y));
                } else {
                    self.asm.operate(Do::Multiply, 0, y, Rm::Register(y));
                    self.asm.operate(Do::Add, square, square, Rm::Register(0));
                }
            }
            self.asm.operate(Do::Divide, s, s, Rm::Register(square));
            for &at in &row.entries {
                let x = self.asm.fresh(&[s]);
                let a = self.asm.operand(entries[at as usize]);
                self.asm.operate(Do::Multiply, x, s, a);
                self.asm.put(self.at(place), x);
                place += 1;
            }
        }
    }

    /// An entry with what the augmentation rows add to it, in a register of its own.
    fn augmented(&mut self, f: &Factors, sum: &Sum) -> u8 {
        let x = self.own_or_zero(sum.entry);
        for &(m, a) in &sum.added {
            let y = self.asm.get(self.at(f.multiples + m as usize), &[x]);
            let a = self.asm.operand(a);
            self.asm.operate(Do::Multiply, 0, y, a);
            self.asm.operate(Do::Add, x, x, Rm::Register(0));
        }
        x
    }

    /// L D Lᵀ as in `ldl::factor`; pivots are examined afterwards.
    fn factor(&mut self, f: &Factors, entries: &[Mem]) {
        self.multiples(f, entries);
        let e = &f.pattern;
        let n = e.order.len();
        let (mut lower, mut diagonal) = (vec![Sum::default(); e.columns.len()], vec![Sum::default(); n]);
        let mut sum = |place: FactorEntry, change: &dyn Fn(&mut Sum)| match place {
            FactorEntry::Diagonal(i) => change(&mut diagonal[i as usize]),
            FactorEntry::Lower(at) => change(&mut lower[at as usize]),
        };
        for (entry, place) in entries.iter().zip(&e.places) {
            sum(*place, &|sum| sum.entry = Some(*entry));
        }
        for &(m, a, place) in e.augmentation_rows.iter().flat_map(|s| &s.products) {
            sum(place, &|sum| sum.added.push((m, entries[a as usize])));
        }
        let mask = self.at(self.layout.mask);
        for (i, diagonal) in diagonal.iter().enumerate() {
            for at in e.row(i) {
                let j = e.columns[at] as usize;
                let x = self.augmented(f, &lower[at]);
                for m in e.row(j) {
                    let column = e.columns[m];
                    if e.columns[e.row(i)].binary_search(&column).is_ok() {
                        let y = self.asm.get(self.at(f.work + column as usize), &[x]);
                        let l = self.asm.operand(self.at(f.lower + m));
                        self.asm.operate(Do::Multiply, 0, y, l);
                        self.asm.operate(Do::Subtract, x, x, Rm::Register(0));
                    }
                }
                self.asm.put(self.at(f.work + j), x);
            }
            let pivot = self.augmented(f, diagonal);
            let size = self.asm.fresh(&[pivot]);
            self.asm.operate(Do::And, size, pivot, Rm::Memory(mask));
            for at in e.row(i) {
                let j = e.columns[at] as usize;
                let ld = self.asm.get(self.at(f.work + j), &[pivot, size]);
                let l = self.asm.fresh(&[pivot, size, ld]);
                let inverse = self.asm.operand(self.at(f.pivots + j));
                self.asm.operate(Do::Multiply, l, ld, inverse);
                self.asm.operate(Do::Multiply, 0, l, Rm::Register(ld));
                self.asm.put(self.at(f.lower + at), l);
                self.asm.operate(Do::Subtract, pivot, pivot, Rm::Register(0));
                self.asm.operate(Do::And, 0, 0, Rm::Memory(mask));
                self.asm.operate(Do::Add, size, size, Rm::Register(0));
            }
            self.asm.put(self.at(f.checks + i), pivot);
            self.asm.put(self.at(f.checks + n + i), size);
            let inverse = self.asm.own(self.constant(ONE), &[pivot]);
            self.asm.operate(Do::Divide, inverse, inverse, Rm::Register(pivot));
            self.asm.put(self.at(f.pivots + i), inverse);
        }
    }

    fn own_or_zero(&mut self, place: Option<Mem>) -> u8 {
        match place {
            Some(place) => self.asm.own(place, &[]),
            None => {
                let x = self.asm.fresh(&[]);
                self.asm.zero(x);
                x
            }
        }
    }

    /// L D Lᵀ x = b as in `ldl::solve`, each unknown gathered in one register. Orders above 0 use fused
    /// operations and do not need the right side afterwards.
    pub(crate) fn solve(&mut self, f: &Factors, rights: &[Mem], out: &[Mem], above: bool) {
        let e = &f.pattern;
        let n = e.order.len();
        let mut columns: Vec<Vec<(usize, usize)>> = vec![Vec::new(); n];
        for i in 0..n {
            let right = rights[e.order[i] as usize];
            let x = if above { self.asm.consume(right) } else { self.asm.own(right, &[]) };
            for &(m, row) in e.borrowed(i) {
                let y = self.asm.get(rights[row as usize], &[x]);
                let multiple = self.asm.operand(self.at(f.multiples + m as usize));
                if above {
                    self.asm.operate(Do::Fused, x, y, multiple);
                } else {
                    self.asm.operate(Do::Multiply, 0, y, multiple);
                    self.asm.operate(Do::Add, x, x, Rm::Register(0));
                }
            }
            for at in e.row(i) {
                let j = e.columns[at] as usize;
                columns[j].push((i, at));
                let y = self.asm.get(self.at(f.work + j), &[x]);
                self.subtract_product(x, y, self.at(f.lower + at), above);
            }
            self.asm.keep(self.at(f.work + i), x);
        }
        for j in (0..n).rev() {
            let y = self.asm.get(self.at(f.work + j), &[]);
            let x = self.asm.fresh(&[y]);
            let inverse = self.asm.operand(self.at(f.pivots + j));
            self.asm.operate(Do::Multiply, x, y, inverse);
            for &(i, at) in columns[j].iter().rev() {
                let y = self.asm.get(out[e.order[i] as usize], &[x]);
                self.subtract_product(x, y, self.at(f.lower + at), above);
            }
            self.asm.put(out[e.order[j] as usize], x);
        }
    }

    /// U⁻¹ G b, as in `factor::solve`, at orders above 0.
    pub(crate) fn solve_pivoted(&mut self, f: &Pivoted, right: &[Mem], out: &[Mem]) {
        let n = f.size;
        for i in 0..n {
            let mut sum = None;
            for (j, b) in right.iter().enumerate() {
                sum = Some(self.multiply_add(sum, *b, self.at(f.g(i, j))));
            }
            if let Some(y) = sum {
                self.asm.keep(self.at(f.work + i), y);
            }
        }
        for i in (0..n).rev() {
            let x = self.asm.consume(self.at(f.work + i));
            for j in (i + 1..n).rev() {
                let y = self.asm.get(out[j], &[x]);
                self.subtract_product(x, y, self.at(f.u(i, j)), true);
            }
            let inverse = self.asm.operand(self.at(f.u(i, i)));
            self.asm.operate(Do::Multiply, x, x, inverse);
            self.asm.put(out[i], x);
        }
    }

    /// x − y·l
    fn subtract_product(&mut self, x: u8, y: u8, l: Mem, fused: bool) {
        let l = self.asm.operand(l);
        if fused {
            self.asm.operate(Do::FusedMinus, x, y, l);
        } else {
            self.asm.operate(Do::Multiply, 0, y, l);
            self.asm.operate(Do::Subtract, x, x, Rm::Register(0));
        }
    }

    /// The weights that change with the state.
    pub(crate) fn weights(&mut self) {
        let (r, layout) = (self.r, self.layout);
        for (i, pair) in r.pairs.iter().enumerate().filter(|(_, p)| p.weight.moves()) {
            self.weight(&pair.weight, layout.pair_weights + layout.pair(i));
        }
        if self.is_grouped() {
            return self.grouped_edge_weights();
        }
        for e in 0..r.edges.len() {
            self.edge_weight_alone(e);
        }
    }

    /// The weight of an edge, if it changes with the state and is not simply a value.
    pub(crate) fn edge_weight_alone(&mut self, e: usize) {
        let weight = self.r.edges[e].weight;
        if weight.moves() && weight.row().is_none() {
            self.weight(&weight, self.layout.edge_weights + self.layout.edge(e));
        }
    }

    /// factor · constant · times₀ / over₀
    fn weight(&mut self, w: &Weight, into: usize) {
        let literal = self.layout.literals.iter().position(|x| *x == w.factor).unwrap_or(0);
        let literal = self.at(self.layout.numbers + literal);
        let x = if w.constant == ONE {
            self.asm.own(literal, &[])
        } else {
            let x = self.asm.own(self.constant(w.constant), &[]);
            if w.factor != 1.0 {
                let literal = self.asm.operand(literal);
                self.asm.operate(Do::Multiply, x, x, literal);
            }
            x
        };
        for (row, op) in [(w.times, Do::Multiply), (w.over, Do::Divide)] {
            if row != NONE {
                let operand = self.asm.operand(self.order_zero(row));
                self.asm.operate(op, x, x, operand);
            }
        }
        self.asm.put(self.at(into), x);
    }
}
