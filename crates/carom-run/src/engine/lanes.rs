//! The recurrence for W trajectories at once: lane i of every vector belongs to trajectory i.
//!
//! Each lane performs exactly the operations of a single [`super::Flow`], in the same order: a trajectory's bits depend
//! neither on the width nor on what the other lanes do.

// Loops over lanes are indexed: several arrays advance together, and that form becomes vector code.
#![allow(clippy::needless_range_loop)]

use super::elimination::{Elimination, Place};
use super::first;
use super::recurrence::{NONE, Scale, Stage, Weight};
use super::sincos;
use super::tape::{Block, Op, Row, Start, Tape, Value};
use carom_expr::evaluate_function;
use std::collections::HashMap;
use std::sync::Arc;

/// One double per lane.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C, align(64))]
pub(crate) struct Wide<const W: usize>(pub [f64; W]);

impl<const W: usize> Wide<W> {
    pub(crate) const ZERO: Wide<W> = Wide([0.0; W]);

    #[inline(always)]
    pub(crate) fn map(self, f: impl Fn(f64) -> f64) -> Self {
        // Not `array::map`, which does not become vector code.
        let mut r = self;
        for i in 0..W {
            r.0[i] = f(self.0[i]);
        }
        r
    }

    #[inline(always)]
    pub(crate) fn zip(self, o: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let mut r = self;
        for i in 0..W {
            r.0[i] = f(self.0[i], o.0[i]);
        }
        r
    }

    /// self + a·b
    #[inline(always)]
    fn plus<const FUSED: bool>(&mut self, a: &Self, b: &Self) {
        for i in 0..W {
            self.0[i] = if FUSED { a.0[i].mul_add(b.0[i], self.0[i]) } else { a.0[i] * b.0[i] + self.0[i] };
        }
    }
}

/// Interior sums of one or two pairs that share an operand; positions of series, and of the sums.
#[derive(Clone, Copy, Debug)]
struct Group {
    shared: u32,
    other: [u32; 2],
    sums: [u32; 2],
    two: bool,
}

/// Workspace of W trajectories.
#[derive(Clone, Debug)]
pub(crate) struct Lanes<const W: usize> {
    pub(crate) tape: Arc<Tape>,
    pub(crate) order: usize,
    constants: Vec<Wide<W>>,
    pub(crate) current: Vec<Wide<W>>,
    next_state: Vec<Wide<W>>,
    /// Values of the noted functions.
    pub(crate) noted: Vec<Wide<W>>,
    /// Series of the rows that need one: operands of pairs, state, watched. Coefficient k at slot·(order+1) + k.
    series: Vec<Wide<W>>,
    /// The slot of each row, or `NONE`.
    slots: Vec<u32>,
    groups: Vec<Group>,
    last_groups: usize,
    sums: Vec<Wide<W>>,
    pair_weights: Vec<Wide<W>>,
    edge_weights: Vec<Wide<W>>,
    moving_pairs: Vec<(u32, Weight)>,
    moving_edges: Vec<(u32, Weight)>,
    /// L D Lᵀ of each block: dense row-major with reciprocal pivots on the diagonal, or entries of L, then pivots.
    factors: Vec<Vec<Wide<W>>>,
    /// Lanes whose last jet met a pivot that needs the scalar, pivoting path.
    pub(crate) unhealthy: [bool; W],
    scratch: Vec<f64>,
    work: Vec<Wide<W>>,
}

/// Can lanes evaluate this tape? (Blocks must be symmetric: pivots of a general matrix differ from lane to lane.)
pub(crate) fn supported(tape: &Tape) -> bool {
    tape.blocks.iter().all(|b| b.symmetric)
}

impl<const W: usize> Lanes<W> {
    pub(crate) fn new(tape: Arc<Tape>, order: usize) -> Lanes<W> {
        let r = &tape.recurrence;
        let mut slots = vec![NONE; r.rows];
        let mut count = 0;
        let mut want = |row: Row| {
            if slots[row as usize] == NONE {
                slots[row as usize] = count;
                count += 1;
            }
        };
        (0..tape.dimension as Row).for_each(&mut want);
        for value in &tape.watched {
            if let Value::Row(row) = value {
                want(*row);
            }
        }
        for pair in &r.pairs {
            want(pair.a);
            want(pair.b);
        }
        let mut groups = group(&r.pairs[..r.last_pairs], 0, &slots);
        let last_groups = groups.len();
        groups.extend(group(&r.pairs[r.last_pairs..], r.last_pairs, &slots));
        let moving = |weights: &mut dyn Iterator<Item = Weight>| -> Vec<(u32, Weight)> {
            weights.enumerate().filter(|(_, w)| w.moves()).map(|(i, w)| (i as u32, w)).collect()
        };
        let zeros = |n: usize| vec![Wide::ZERO; n];
        Lanes {
            order,
            constants: zeros(tape.constants.len()),
            current: zeros(r.rows),
            next_state: zeros(tape.dimension),
            noted: zeros(tape.noted.len()),
            series: zeros(count as usize * (order + 1)),
            slots,
            groups,
            last_groups,
            sums: zeros(r.pairs.len()),
            pair_weights: zeros(r.pairs.len()),
            edge_weights: zeros(r.edges.len()),
            moving_pairs: moving(&mut r.pairs.iter().map(|p| p.weight)),
            moving_edges: moving(&mut r.edges.iter().map(|e| e.weight)),
            factors: tape.blocks.iter().map(|b| zeros(entries(b))).collect(),
            unhealthy: [false; W],
            scratch: vec![0.0; tape.constants.len()],
            work: zeros(tape.blocks.iter().map(|b| b.size).max().unwrap_or(0)),
            tape,
        }
    }

    /// Sets the parameters of one lane.
    pub(crate) fn set_parameters(&mut self, lane: usize, parameters: &[f64]) {
        first::constants(&self.tape, parameters, &mut self.scratch);
        for (wide, x) in self.constants.iter_mut().zip(&self.scratch) {
            wide.0[lane] = *x;
        }
        let r = &self.tape.recurrence;
        let value = |w: &Weight| w.factor * self.scratch[w.constant as usize];
        for (wide, pair) in self.pair_weights.iter_mut().zip(&r.pairs) {
            wide.0[lane] = value(&pair.weight);
        }
        for (wide, edge) in self.edge_weights.iter_mut().zip(&r.edges) {
            wide.0[lane] = value(&edge.weight);
        }
    }

    /// A constant of one lane.
    pub(crate) fn constant(&self, slot: u32, lane: usize) -> f64 {
        self.constants[slot as usize].0[lane]
    }

    /// Coefficients of a row that has a series.
    pub(crate) fn row(&self, row: Row) -> &[Wide<W>] {
        let stride = self.order + 1;
        &self.series[self.slots[row as usize] as usize * stride..][..stride]
    }

    #[inline(always)]
    fn value(&self, value: Value) -> Wide<W> {
        match value {
            Value::Row(row) => self.current[row as usize],
            Value::Constant(slot) => self.constants[slot as usize],
        }
    }

    #[inline(always)]
    fn keep(&mut self, row: Row, k: usize, x: Wide<W>) {
        self.current[row as usize] = x;
        let slot = self.slots[row as usize];
        if slot != NONE {
            self.series[slot as usize * (self.order + 1) + k] = x;
        }
    }

    /// The series of all lanes, given state and time in the first rows of `current`.
    #[inline(always)]
    pub(crate) fn jet_body<const FUSED: bool>(&mut self) {
        let tape = Arc::clone(&self.tape);
        self.unhealthy = [false; W];
        for i in 0..=tape.dimension {
            self.keep(i as Row, 0, self.current[i]);
        }
        for op in &tape.ops {
            self.first(&tape, op);
        }
        for (i, value) in tape.noted.iter().enumerate() {
            self.noted[i] = self.value(*value);
        }
        self.set_weights();
        for k in 1..=self.order {
            let last = k == self.order;
            let groups = if last { self.last_groups } else { self.groups.len() };
            self.interior::<FUSED>(groups, k);
            self.advance_state(&tape, k);
            let stages = if last { tape.recurrence.last_stages } else { tape.recurrence.stages.len() };
            self.equations::<FUSED>(&tape, stages, k);
        }
    }

    #[inline(always)]
    fn first(&mut self, tape: &Tape, op: &Op) {
        match op {
            Op::Dot { out, constant, linear, products } => {
                let mut sum = self.constants[*constant as usize];
                for l in linear {
                    sum.plus::<false>(&self.constants[l.coefficient as usize], &self.current[l.a as usize]);
                }
                for p in products {
                    let product = self.current[p.a as usize].zip(self.current[p.b as usize], |a, b| a * b);
                    sum.plus::<false>(&self.constants[p.coefficient as usize], &product);
                }
                self.keep(*out, 0, sum);
            }
            Op::Divide { out, a, b } => {
                let x = self.value(*a).zip(self.current[*b as usize], |a, b| a / b);
                self.keep(*out, 0, x);
            }
            Op::Euler { out, .. } => self.keep(*out, 0, Wide::ZERO),
            Op::SinCos { u, sin, cos, .. } => {
                let x = self.current[*u as usize];
                let (mut s, mut c) = (x, x);
                for i in 0..W {
                    (s.0[i], c.0[i]) = sincos::reduced(x.0[i]);
                }
                for i in 0..W {
                    // Also true for what is not a number.
                    let far = x.0[i].is_nan() || x.0[i].abs() > sincos::LARGEST;
                    if far {
                        (s.0[i], c.0[i]) = x.0[i].sin_cos();
                    }
                }
                self.keep(*sin, 0, s);
                self.keep(*cos, 0, c);
            }
            Op::SinhCosh { u, sinh, cosh, .. } => {
                let x = self.current[*u as usize];
                self.keep(*sinh, 0, x.map(f64::sinh));
                self.keep(*cosh, 0, x.map(f64::cosh));
            }
            Op::Tan { u, tan, weight, hyperbolic, .. } => {
                let x = self.current[*u as usize];
                let t = if *hyperbolic { x.map(f64::tanh) } else { x.map(f64::tan) };
                let w =
                    if *hyperbolic { x.map(|u| (1.0 / u.cosh()).powi(2)) } else { t.map(|t| 1.0 + t * t) };
                self.keep(*tan, 0, t);
                self.keep(*weight, 0, w);
            }
            Op::Sqrt { out, u } => self.keep(*out, 0, self.current[*u as usize].map(f64::sqrt)),
            Op::Power { out, u, dr, exponent, .. } => {
                let x = self.current[*u as usize].zip(self.constants[*exponent as usize], first::power);
                self.keep(*out, 0, x);
                self.keep(*dr, 0, Wide::ZERO);
            }
            Op::Exp { out, start, .. } | Op::Integrate { out, start, .. } => {
                let x = match *start {
                    Start::Function(f, u) => self.current[u as usize].map(|u| evaluate_function(f, u, 0.0)),
                    Start::Function2(f, a, b) => {
                        self.value(a).zip(self.value(b), |a, b| evaluate_function(f, a, b))
                    }
                    Start::Power(a, b) => self.value(a).zip(self.value(b), f64::powf),
                };
                self.keep(*out, 0, x);
            }
            Op::Solve { block } => {
                let index = *block as usize;
                let block = &tape.blocks[index];
                self.factor(tape, index);
                let first = block.first as usize;
                for (i, b) in block.right_side.iter().enumerate() {
                    self.current[first + i] = self.value(*b);
                }
                solve(block, &self.factors[index], &mut self.current[first..][..block.size], &mut self.work);
                for i in 0..block.size {
                    self.keep((first + i) as Row, 0, self.current[first + i]);
                }
            }
        }
    }

    /// L D Lᵀ as in `Factor::ldl`, all lanes together; lanes with a doubtful pivot are marked.
    #[inline(always)]
    fn factor(&mut self, tape: &Tape, index: usize) {
        let block = &tape.blocks[index];
        let n = block.size;
        let mut a = std::mem::take(&mut self.factors[index]);
        a.fill(Wide::ZERO);
        if let Some(e) = &block.elimination {
            self.factor_sparse(block, e, &mut a);
            self.factors[index] = a;
            return;
        }
        for &(i, j, value) in &block.entries {
            a[i as usize * n + j as usize] = self.value(value);
        }
        for i in 0..n {
            let (above, row) = a.split_at_mut(i * n);
            for j in 0..i {
                let mut s = row[j];
                for m in 0..j {
                    s = s.zip(above[j * n + m].zip(row[m], |l, r| l * r), |s, p| s - p);
                }
                row[j] = s;
            }
            let mut pivot = row[i];
            let mut size = pivot.map(f64::abs);
            for j in 0..i {
                let ld = row[j];
                let l = ld.zip(above[j * n + j], |a, b| a * b);
                let product = l.zip(ld, |a, b| a * b);
                pivot = pivot.zip(product, |p, x| p - x);
                size = size.zip(product, |s, x| s + x.abs());
                row[j] = l;
            }
            for lane in 0..W {
                self.unhealthy[lane] |= !super::factor::healthy(pivot.0[lane], size.0[lane]);
            }
            row[i] = pivot.map(|p| 1.0 / p);
        }
        self.factors[index] = a;
    }

    /// As `Factor::sparse`.
    #[inline(always)]
    fn factor_sparse(&mut self, block: &Block, e: &Elimination, a: &mut [Wide<W>]) {
        let (lower, pivots) = a.split_at_mut(e.columns.len());
        for (&(_, _, entry), place) in block.entries.iter().zip(&e.places) {
            match *place {
                Place::Diagonal(i) => pivots[i as usize] = self.value(entry),
                Place::Lower(at) => lower[at as usize] = self.value(entry),
            }
        }
        let work = &mut self.work;
        work[..block.size].fill(Wide::ZERO);
        for i in 0..block.size {
            for at in e.row(i) {
                work[e.columns[at] as usize] = lower[at];
            }
            for at in e.row(i) {
                let j = e.columns[at] as usize;
                let mut s = work[j];
                for m in e.row(j) {
                    s = s.zip(lower[m].zip(work[e.columns[m] as usize], |l, w| l * w), |s, p| s - p);
                }
                work[j] = s;
            }
            let mut pivot = pivots[i];
            let mut size = pivot.map(f64::abs);
            for at in e.row(i) {
                let j = e.columns[at] as usize;
                let ld = std::mem::replace(&mut work[j], Wide::ZERO);
                let l = ld.zip(pivots[j], |a, b| a * b);
                let product = l.zip(ld, |a, b| a * b);
                pivot = pivot.zip(product, |p, x| p - x);
                size = size.zip(product, |s, x| s + x.abs());
                lower[at] = l;
            }
            for lane in 0..W {
                self.unhealthy[lane] |= !super::factor::healthy(pivot.0[lane], size.0[lane]);
            }
            pivots[i] = pivot.map(|p| 1.0 / p);
        }
    }

    #[inline(always)]
    fn set_weights(&mut self) {
        for (i, w) in &self.moving_pairs {
            self.pair_weights[*i as usize] = weight(w, &self.constants, &self.current);
        }
        for (i, w) in &self.moving_edges {
            self.edge_weights[*i as usize] = weight(w, &self.constants, &self.current);
        }
    }

    /// w Σ_{0<j<k} a_j b_{k−j} of all pairs, odd and even j apart as in the packed kernel.
    #[inline(always)]
    fn interior<const FUSED: bool>(&mut self, groups: usize, k: usize) {
        let stride = self.order + 1;
        let series = |slot: u32| &self.series[slot as usize * stride + 1..slot as usize * stride + k];
        for g in &self.groups[..groups] {
            let a = series(g.shared);
            if g.two {
                let (b, c) = (series(g.other[0]), series(g.other[1]));
                let [x, y] = two_sums::<FUSED, W>(a, b, c);
                for (at, sum) in g.sums.into_iter().zip([x, y]) {
                    self.sums[at as usize] = self.pair_weights[at as usize].zip(sum, |w, s| w * s);
                }
            } else {
                let sum = one_sum::<FUSED, W>(a, series(g.other[0]));
                let at = g.sums[0] as usize;
                self.sums[at] = self.pair_weights[at].zip(sum, |w, s| w * s);
            }
        }
    }

    #[inline(always)]
    fn advance_state(&mut self, tape: &Tape, k: usize) {
        let inverse = 1.0 / k as f64;
        for (x, rate) in self.next_state.iter_mut().zip(&tape.rate) {
            let Value::Row(row) = *rate else { unreachable!("rates are rows") };
            *x = self.current[row as usize].map(|r| r * inverse);
        }
        for i in 0..tape.dimension {
            self.keep(i as Row, k, self.next_state[i]);
        }
        self.keep(tape.dimension as Row, k, Wide([if k == 1 { 1.0 } else { 0.0 }; W]));
    }

    #[inline(always)]
    fn equations<const FUSED: bool>(&mut self, tape: &Tape, stages: usize, k: usize) {
        let r = &tape.recurrence;
        let (order, inverse) = (k as f64, 1.0 / k as f64);
        let (mut equation, mut pair, mut edge) = (0, 0, 0);
        for stage in &r.stages[..stages] {
            match *stage {
                Stage::Equations(count) => {
                    for e in &r.equations[equation..equation + count as usize] {
                        let mut sum = Wide::<W>::ZERO;
                        for i in &self.sums[pair..pair + e.pairs as usize] {
                            sum = sum.zip(*i, |s, i| s + i);
                        }
                        pair += e.pairs as usize;
                        let terms = edge..edge + e.edges as usize;
                        edge = terms.end;
                        for (w, e) in self.edge_weights[terms.clone()].iter().zip(&r.edges[terms]) {
                            sum.plus::<FUSED>(w, &self.current[e.source as usize]);
                        }
                        let sum = match e.scale {
                            Scale::One => sum,
                            Scale::Order => sum.map(|s| s * order),
                            Scale::Inverse => sum.map(|s| s * inverse),
                        };
                        self.keep(e.out, k, sum);
                    }
                    equation += count as usize;
                }
                Stage::Solve { block, right_side, unknowns } => {
                    let (index, block) = (block as usize, &tape.blocks[block as usize]);
                    let n = block.size;
                    solve(
                        block,
                        &self.factors[index],
                        &mut self.current[right_side as usize..][..n],
                        &mut self.work,
                    );
                    for i in 0..n {
                        self.keep(unknowns + i as Row, k, self.current[right_side as usize + i]);
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn weight<const W: usize>(w: &Weight, constants: &[Wide<W>], current: &[Wide<W>]) -> Wide<W> {
    let mut x = constants[w.constant as usize].map(|c| w.factor * c);
    if w.times != NONE {
        x = x.zip(current[w.times as usize], |a, b| a * b);
    }
    if w.over != NONE {
        x = x.zip(current[w.over as usize], |a, b| a / b);
    }
    x
}

/// Pairs that share an operand, two by two.
fn group(pairs: &[super::recurrence::Pair], offset: usize, slots: &[u32]) -> Vec<Group> {
    let slot = |row: Row| slots[row as usize];
    // Recurrences are oriented so that a common operand comes first.
    let mut waiting: HashMap<Row, usize> = HashMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for (i, pair) in pairs.iter().enumerate() {
        let at = (offset + i) as u32;
        if let Some(g) = waiting.remove(&pair.a) {
            groups[g].other[1] = slot(pair.b);
            groups[g].sums[1] = at;
            groups[g].two = true;
        } else {
            waiting.insert(pair.a, groups.len());
            groups.push(Group { shared: slot(pair.a), other: [slot(pair.b); 2], sums: [at; 2], two: false });
        }
    }
    groups
}

/// Σ a_j b_{n−1−j}, even and odd j apart.
#[inline(always)]
fn one_sum<const FUSED: bool, const W: usize>(a: &[Wide<W>], b: &[Wide<W>]) -> Wide<W> {
    let (mut even, mut odd) = (Wide::ZERO, Wide::ZERO);
    let (pairs_a, pairs_b) = (a.chunks_exact(2), b.rchunks_exact(2));
    let rest = (pairs_a.remainder(), pairs_b.remainder());
    for (x, y) in pairs_a.zip(pairs_b) {
        even.plus::<FUSED>(&x[0], &y[1]);
        odd.plus::<FUSED>(&x[1], &y[0]);
    }
    if let ([x], [y]) = rest {
        even.plus::<FUSED>(x, y);
    }
    even.zip(odd, |e, o| e + o)
}

/// The sums of a with b and of a with c, sharing the loads of a.
#[inline(always)]
fn two_sums<const FUSED: bool, const W: usize>(a: &[Wide<W>], b: &[Wide<W>], c: &[Wide<W>]) -> [Wide<W>; 2] {
    let (mut even_b, mut odd_b) = (Wide::ZERO, Wide::ZERO);
    let (mut even_c, mut odd_c) = (Wide::ZERO, Wide::ZERO);
    let (pairs_a, pairs_b, pairs_c) = (a.chunks_exact(2), b.rchunks_exact(2), c.rchunks_exact(2));
    let rest = (pairs_a.remainder(), pairs_b.remainder(), pairs_c.remainder());
    for ((x, y), z) in pairs_a.zip(pairs_b).zip(pairs_c) {
        even_b.plus::<FUSED>(&x[0], &y[1]);
        even_c.plus::<FUSED>(&x[0], &z[1]);
        odd_b.plus::<FUSED>(&x[1], &y[0]);
        odd_c.plus::<FUSED>(&x[1], &z[0]);
    }
    if let ([x], [y], [z]) = rest {
        even_b.plus::<FUSED>(x, y);
        even_c.plus::<FUSED>(x, z);
    }
    [even_b.zip(odd_b, |e, o| e + o), even_c.zip(odd_c, |e, o| e + o)]
}

/// Room for the factor of a block.
fn entries(block: &Block) -> usize {
    block.elimination.as_ref().map_or(block.size * block.size, |e| e.columns.len() + block.size)
}

/// L D Lᵀ x = b in place, in the order of `Factor::solve`.
#[inline(always)]
fn solve<const W: usize>(block: &Block, a: &[Wide<W>], b: &mut [Wide<W>], work: &mut [Wide<W>]) {
    let n = b.len();
    if let Some(e) = &block.elimination {
        let (lower, pivots) = a.split_at(e.columns.len());
        for (i, &unknown) in e.order.iter().enumerate() {
            let mut s = b[unknown as usize];
            for at in e.row(i) {
                s = s.zip(lower[at].zip(work[e.columns[at] as usize], |l, x| l * x), |s, p| s - p);
            }
            work[i] = s;
        }
        for i in 0..n {
            work[i] = work[i].zip(pivots[i], |x, d| x * d);
        }
        for i in (0..n).rev() {
            let x = work[i];
            for at in e.row(i) {
                let j = e.columns[at] as usize;
                work[j] = work[j].zip(lower[at].zip(x, |l, x| l * x), |y, p| y - p);
            }
            b[e.order[i] as usize] = x;
        }
        return;
    }
    for i in 0..n {
        let mut s = b[i];
        for j in 0..i {
            s = s.zip(a[i * n + j].zip(b[j], |l, x| l * x), |s, p| s - p);
        }
        b[i] = s;
    }
    for i in 0..n {
        b[i] = b[i].zip(a[i * n + i], |x, d| x * d);
    }
    for i in (0..n).rev() {
        let x = b[i];
        for j in 0..i {
            b[j] = b[j].zip(a[i * n + j].zip(x, |l, x| l * x), |y, p| y - p);
        }
    }
}
