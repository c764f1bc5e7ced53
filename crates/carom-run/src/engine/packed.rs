//! One trajectory's recurrence, interior sums packed eight pairs to a vector.
//!
//! Operands of pair p are copied to lane p mod 8 of octet p div 8 as soon as their coefficient is known, so that the
//! sums of all pairs run through the vector unit with aligned loads and no shuffles. The rest of an order is machine
//! code where the processor allows it, and interpreted where not; both give the same bits.

use super::factor::Factor;
use super::machine::{INLINE_SOLVE, Program, Segment};
use super::recurrence::{NONE, Recurrence, Stage, Weight};
use super::simd::{Code, Level, Octet, equations, interior};
use super::tape::{Block, MachineCode, Tape, Value};
use std::sync::Arc;

/// Lanes of an octet.
pub(crate) const WIDTH: usize = 8;

/// Byte offsets in the arena.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    /// Coefficient k of every row.
    pub rows: usize,
    /// Weights of the edges.
    pub weights: usize,
    /// Weighted interior sums of the pairs.
    pub interior: usize,
    /// k, 1/k, and the coefficient of time (1 at order 1, else 0).
    pub scale: usize,
    /// The state being computed.
    pub next_state: usize,
    /// Factors of small symmetric blocks.
    pub factors: Vec<Option<usize>>,
    /// Doubles in all.
    pub length: usize,
}

impl Layout {
    fn new(tape: &Tape, octets: usize) -> Layout {
        let mut length = 0;
        let mut region = |doubles: usize| {
            let at = 8 * length;
            length += doubles.next_multiple_of(WIDTH);
            at
        };
        let r = &tape.recurrence;
        let rows = region(r.rows);
        let weights = region(r.edges.len());
        let interior = region(octets * WIDTH);
        let scale = region(3);
        let next_state = region(tape.dimension);
        let small = |n: usize, symmetric: bool| symmetric && n <= INLINE_SOLVE;
        let factors =
            tape.blocks.iter().map(|b| small(b.size, b.symmetric).then(|| region(b.size * b.size))).collect();
        Layout { rows, weights, interior, scale, next_state, factors, length }
    }
}

/// Workspace of a single trajectory.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    level: Level,
    layout: Layout,
    stride: usize,
    /// Octets of all pairs, and of those the last order needs.
    octets: usize,
    last_octets: usize,
    a: Vec<Octet>,
    b: Vec<Octet>,
    pair_weights: Vec<Octet>,
    arena: Vec<f64>,
    /// Weights that change with the state: position, what it is.
    moving_pairs: Vec<(u32, Weight)>,
    moving_edges: Vec<(u32, Weight)>,
    /// Rows of the operands of each pair, padded to whole octets.
    operands: Vec<(u32, u32)>,
    /// Outer `None`: not asked for yet.
    code: Option<MachineCode>,
}

impl Packed {
    pub(crate) fn new(tape: &Tape, order: usize) -> Packed {
        let r = &tape.recurrence;
        let octets = r.pairs.len().div_ceil(WIDTH);
        let stride = order + 1;
        let mut operands: Vec<(u32, u32)> = r.pairs.iter().map(|p| (p.a, p.b)).collect();
        operands.resize(octets * WIDTH, (0, 0));
        let moving = |weights: &mut dyn Iterator<Item = Weight>| -> Vec<(u32, Weight)> {
            weights.enumerate().filter(|(_, w)| w.moves()).map(|(i, w)| (i as u32, w)).collect()
        };
        let layout = Layout::new(tape, octets);
        let level = Level::detect();
        Packed {
            level,
            stride,
            octets,
            last_octets: r.last_pairs.div_ceil(WIDTH),
            a: vec![Octet::default(); octets * stride],
            b: vec![Octet::default(); octets * stride],
            pair_weights: vec![Octet::default(); octets],
            moving_pairs: moving(&mut r.pairs.iter().map(|p| p.weight)),
            moving_edges: moving(&mut r.edges.iter().map(|e| e.weight)),
            operands,
            arena: vec![0.0; layout.length],
            layout,
            code: None,
        }
    }

    /// Uses the interpreter although code could be used.
    pub(crate) fn without_code(&mut self) {
        self.code = Some(None);
    }

    /// The tape's code for this order; made by the first flow that needs it.
    fn code(&mut self, tape: &Tape, kept: &[Value]) -> MachineCode {
        if let Some(code) = &self.code {
            return code.clone();
        }
        let order = self.stride - 1;
        let mut codes = tape.codes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let code = match codes.iter().find(|(o, _)| *o == order) {
            Some((_, code)) => code.clone(),
            None => {
                let code = self.assemble(tape, kept, order);
                codes.push((order, code.clone()));
                code
            }
        };
        self.code = Some(code.clone());
        code
    }

    fn assemble(&self, tape: &Tape, kept: &[Value], order: usize) -> MachineCode {
        if self.level == Level::Plain {
            return None;
        }
        let program = Program::assemble(tape, &self.layout, kept, order)?;
        let reach = Program::reach(&self.layout, self.octets, kept.len(), order);
        Some(Arc::new((Code::new(&program.bytes, reach)?, program)))
    }

    /// Coefficient k of every row.
    pub(crate) fn current(&mut self) -> &mut [f64] {
        &mut self.arena[self.layout.rows / 8..]
    }

    /// Weights that depend on parameters only.
    pub(crate) fn set_constants(&mut self, r: &Recurrence, constants: &[f64]) {
        for (i, pair) in r.pairs.iter().enumerate() {
            self.pair_weights[i / WIDTH].0[i % WIDTH] =
                pair.weight.factor * constants[pair.weight.constant as usize];
        }
        let weights = &mut self.arena[self.layout.weights / 8..];
        for (w, edge) in weights.iter_mut().zip(&r.edges) {
            *w = edge.weight.factor * constants[edge.weight.constant as usize];
        }
    }

    /// Weights that depend on order 0, which the rows hold.
    fn set_weights(&mut self, constants: &[f64]) {
        let (rows, rest) = self.arena.split_at_mut(self.layout.weights / 8);
        let value = |w: &Weight| {
            let mut x = w.factor * constants[w.constant as usize];
            if w.times != NONE {
                x *= rows[w.times as usize];
            }
            if w.over != NONE {
                x /= rows[w.over as usize];
            }
            x
        };
        for (i, w) in &self.moving_pairs {
            let i = *i as usize;
            self.pair_weights[i / WIDTH].0[i % WIDTH] = value(w);
        }
        for (i, w) in &self.moving_edges {
            rest[*i as usize] = value(w);
        }
    }

    /// Orders 1 … `order`, given order 0 in the rows. Coefficient k of `kept[i]` goes to `series[i·stride + k]`.
    pub(crate) fn run(
        &mut self,
        tape: &Tape,
        constants: &[f64],
        factors: &mut [Factor],
        kept: &[Value],
        series: &mut [f64],
    ) {
        self.set_weights(constants);
        let code = self.code(tape, kept).filter(|_| self.copy_factors(factors));
        let order = self.stride - 1;
        for k in 1..=order {
            let last = k == order;
            let octets = if last { self.last_octets } else { self.octets };
            let scale = self.layout.scale / 8;
            self.arena[scale..scale + 3].copy_from_slice(&[
                k as f64,
                1.0 / k as f64,
                if k == 1 { 1.0 } else { 0.0 },
            ]);
            let sums = &mut self.arena[self.layout.interior / 8..][..octets * WIDTH];
            if k > 1 {
                interior(self.level, &self.a, &self.b, &self.pair_weights, sums, self.stride, k);
            } else {
                sums.fill(0.0);
            }
            match &code {
                Some(code) => {
                    for segment in if last { &code.1.last } else { &code.1.middle } {
                        match *segment {
                            Segment::Code(at) => {
                                code.0.call(at, k, &mut self.arena, &mut self.a, &mut self.b, series);
                            }
                            Segment::Solve { block, right_side, unknowns } => {
                                self.solve(
                                    &tape.blocks[block as usize],
                                    &mut factors[block as usize],
                                    right_side,
                                    unknowns,
                                );
                            }
                        }
                    }
                }
                None => {
                    self.interpret(tape, last, factors);
                    if !last {
                        self.pack(k);
                    }
                    for (value, series) in kept.iter().zip(series.chunks_exact_mut(self.stride)) {
                        if let Value::Row(row) = value {
                            series[k] = self.arena[*row as usize];
                        }
                    }
                }
            }
        }
    }

    /// Hands factors of small blocks to the code; false when one of them had to be pivoted.
    fn copy_factors(&mut self, factors: &[Factor]) -> bool {
        for (factor, at) in factors.iter().zip(&self.layout.factors) {
            if let Some(at) = at {
                let Some(entries) = factor.symmetric() else { return false };
                self.arena[at / 8..][..entries.len()].copy_from_slice(entries);
            }
        }
        true
    }

    fn solve(&mut self, block: &Block, factor: &mut Factor, right_side: u32, unknowns: u32) {
        let n = block.size;
        let (before, after) = self.arena.split_at_mut(right_side as usize);
        factor.solve(block, &mut after[..n]);
        before[unknowns as usize..][..n].copy_from_slice(&after[..n]);
    }

    /// One order, by reading the recurrence.
    fn interpret(&mut self, tape: &Tape, last: bool, factors: &mut [Factor]) {
        let r = &tape.recurrence;
        let n = tape.dimension;
        let [k, inverse, clock] = [0, 1, 2].map(|i| self.arena[self.layout.scale / 8 + i]);
        let next = self.layout.next_state / 8;
        for (i, rate) in tape.rate.iter().enumerate() {
            let Value::Row(row) = *rate else { unreachable!("rates are rows") };
            self.arena[next + i] = self.arena[row as usize] * inverse;
        }
        self.arena.copy_within(next..next + n, 0);
        self.arena[n] = clock;
        let (mut equation, mut pair, mut edge) = (0, 0, 0);
        let stages = if last { r.last_stages } else { r.stages.len() };
        for stage in &r.stages[..stages] {
            match *stage {
                Stage::Equations(count) => {
                    let list = &r.equations[equation..equation + count as usize];
                    let (rows, rest) = self.arena.split_at_mut(self.layout.weights / 8);
                    let (weights, rest) = rest.split_at((self.layout.interior - self.layout.weights) / 8);
                    let used = equations(
                        self.level,
                        list,
                        rows,
                        &weights[edge..],
                        &r.edges[edge..],
                        &rest[pair..],
                        [k, inverse],
                    );
                    equation += count as usize;
                    pair += used.0;
                    edge += used.1;
                }
                Stage::Solve { block, right_side, unknowns } => {
                    self.solve(
                        &tape.blocks[block as usize],
                        &mut factors[block as usize],
                        right_side,
                        unknowns,
                    );
                }
            }
        }
    }

    /// Copies coefficient k of every operand to its lane.
    fn pack(&mut self, k: usize) {
        for (c, operands) in self.operands.chunks_exact(WIDTH).enumerate() {
            let (a, b) = (&mut self.a[c * self.stride + k], &mut self.b[c * self.stride + k]);
            for (i, &(x, y)) in operands.iter().enumerate() {
                a.0[i] = self.arena[x as usize];
                b.0[i] = self.arena[y as usize];
            }
        }
    }
}
