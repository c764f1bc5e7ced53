//! One trajectory's recurrence, interior sums packed eight pairs to a vector.
//!
//! Operands of pair p are copied to lane p mod 8 of octet p div 8 as soon as their coefficient is known, so that the
//! sums of all pairs run through the vector unit with aligned loads and no shuffles.

use super::factor::Factor;
use super::recurrence::{NONE, Recurrence, Scale, Stage, Weight};
use super::simd::{Level, Octet, interior};
use super::tape::{Tape, Value};

/// Lanes of an octet.
const WIDTH: usize = 8;

/// Workspace of a single trajectory.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    level: Level,
    stride: usize,
    /// Octets of all pairs, and of those the last order needs.
    octets: usize,
    last_octets: usize,
    a: Vec<Octet>,
    b: Vec<Octet>,
    pair_weights: Vec<Octet>,
    interior: Vec<Octet>,
    edge_weights: Vec<f64>,
    /// Weights that change with the state: position, what it is.
    moving_pairs: Vec<(u32, Weight)>,
    moving_edges: Vec<(u32, Weight)>,
    /// Rows of the operands of each pair, padded to whole octets.
    operands: Vec<(u32, u32)>,
    /// Coefficient k of every row.
    pub(crate) current: Vec<f64>,
    next_state: Vec<f64>,
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
        Packed {
            level: Level::detect(),
            stride,
            octets,
            last_octets: r.last_pairs.div_ceil(WIDTH),
            a: vec![Octet::default(); octets * stride],
            b: vec![Octet::default(); octets * stride],
            pair_weights: vec![Octet::default(); octets],
            interior: vec![Octet::default(); octets],
            edge_weights: vec![0.0; r.edges.len()],
            moving_pairs: moving(&mut r.pairs.iter().map(|p| p.weight)),
            moving_edges: moving(&mut r.edges.iter().map(|e| e.weight)),
            operands,
            current: vec![0.0; r.rows],
            next_state: vec![0.0; tape.rate.len()],
        }
    }

    /// Weights that depend on parameters only.
    pub(crate) fn set_constants(&mut self, r: &Recurrence, constants: &[f64]) {
        for (i, pair) in r.pairs.iter().enumerate() {
            self.pair_weights[i / WIDTH].0[i % WIDTH] =
                pair.weight.factor * constants[pair.weight.constant as usize];
        }
        for (w, edge) in self.edge_weights.iter_mut().zip(&r.edges) {
            *w = edge.weight.factor * constants[edge.weight.constant as usize];
        }
    }

    /// Weights that depend on order 0, which `current` holds.
    fn set_weights(&mut self, constants: &[f64]) {
        let value = |w: &Weight| {
            let mut x = w.factor * constants[w.constant as usize];
            if w.times != NONE {
                x *= self.current[w.times as usize];
            }
            if w.over != NONE {
                x /= self.current[w.over as usize];
            }
            x
        };
        for (i, w) in &self.moving_pairs {
            let i = *i as usize;
            self.pair_weights[i / WIDTH].0[i % WIDTH] = value(w);
        }
        for (i, w) in &self.moving_edges {
            self.edge_weights[*i as usize] = value(w);
        }
    }

    /// Orders 1 … `order`, given order 0 in `current`. `keep(k, current)` is called for each.
    pub(crate) fn run(
        &mut self,
        tape: &Tape,
        constants: &[f64],
        factors: &mut [Factor],
        order: usize,
        mut keep: impl FnMut(usize, &[f64]),
    ) {
        self.set_weights(constants);
        for k in 1..=order {
            let inverse = 1.0 / k as f64;
            self.advance_state(tape, constants, k, inverse);
            let last = k == order;
            let octets = if last { self.last_octets } else { self.octets };
            if k > 1 {
                let out = &mut self.interior[..octets];
                interior(self.level, &self.a, &self.b, &self.pair_weights, out, self.stride, k);
            } else {
                self.interior.fill(Octet::default());
            }
            let stages = if last { tape.recurrence.last_stages } else { tape.recurrence.stages.len() };
            self.equations(&tape.recurrence, stages, factors, k, inverse);
            if !last {
                self.pack(k);
            }
            keep(k, &self.current);
        }
    }

    /// x_k = rate_{k−1} / k
    fn advance_state(&mut self, tape: &Tape, constants: &[f64], k: usize, inverse: f64) {
        for (x, rate) in self.next_state.iter_mut().zip(&tape.rate) {
            *x = match *rate {
                Value::Row(row) => self.current[row as usize] * inverse,
                Value::Constant(slot) if k == 1 => constants[slot as usize],
                Value::Constant(_) => 0.0,
            };
        }
        self.current[..tape.dimension].fill(0.0);
        self.current[..self.next_state.len()].copy_from_slice(&self.next_state);
        self.current[tape.dimension] = if k == 1 { 1.0 } else { 0.0 };
    }

    fn equations(&mut self, r: &Recurrence, stages: usize, factors: &mut [Factor], k: usize, inverse: f64) {
        let (mut equation, mut pair, mut edge) = (0, 0, 0);
        for stage in &r.stages[..stages] {
            match *stage {
                Stage::Equations(count) => {
                    for e in &r.equations[equation..equation + count as usize] {
                        let mut sum = 0.0;
                        for p in pair..pair + e.pairs as usize {
                            sum += self.interior[p / WIDTH].0[p % WIDTH];
                        }
                        pair += e.pairs as usize;
                        let edges = edge..edge + e.edges as usize;
                        edge = edges.end;
                        for (w, source) in self.edge_weights[edges.clone()].iter().zip(&r.edges[edges]) {
                            sum += w * self.current[source.source as usize];
                        }
                        self.current[e.out as usize] = match e.scale {
                            Scale::One => sum,
                            Scale::Order => sum * k as f64,
                            Scale::Inverse => sum * inverse,
                        };
                    }
                    equation += count as usize;
                }
                Stage::Solve { block, right_side, unknowns } => {
                    let n = factors[block as usize].size();
                    let (before, after) = self.current.split_at_mut(right_side as usize);
                    factors[block as usize].solve(&mut after[..n]);
                    before[unknowns as usize..][..n].copy_from_slice(&after[..n]);
                }
            }
        }
    }

    /// Copies coefficient k of every operand to its lane.
    fn pack(&mut self, k: usize) {
        for (c, operands) in self.operands.chunks_exact(WIDTH).enumerate() {
            let (a, b) = (&mut self.a[c * self.stride + k], &mut self.b[c * self.stride + k]);
            for (i, &(x, y)) in operands.iter().enumerate() {
                a.0[i] = self.current[x as usize];
                b.0[i] = self.current[y as usize];
            }
        }
    }
}
