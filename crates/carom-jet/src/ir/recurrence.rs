//! Orders k ≥ 1 of a tape in one uniform form.
//!
//! Every rule of the tape is linear in the coefficients of order k once order 0 is known:
//!
//! ```text
//! r_k = s(k) Σ_pairs w_p C_p + Σ_edges w_e (src_e)_k,        C_p = Σ_{0<j<k} a_j b_{k−j},      s(k) ∈ {1, k, 1/k}
//! ```
//!
//! (without pairs the scale applies to the edges). The sums C_p use coefficients below k only. They are taken apart once
//! more: the two terms with the newest coefficient, a_{k−1} b_1 and a_1 b_{k−1}, become multiply–adds with the weights
//! w b_1 and w a_1 (boundary terms; the one term of a square has the weight 2 w a_1), so that the long sums over what remains
//! (interior sums, 1 < j < k − 1) are ready one order ahead and never wait for the newest coefficient. Interior sums run from the
//! middle outwards, lower and upper half apart:
//!
//! ```text
//! low = Σ a_j b_{k−j},  high = Σ a_{k−j} b_j,  j = ⌊(k−1)/2⌋ … 2;      interior = (low + high) [+ a_{k/2} b_{k/2}, k even]
//! w C = ((w interior) + (w b_1) a_{k−1}) + (w a_1) b_{k−1}
//! ```
//!
//! This order of operations is binding for every evaluator: machine code, interpreter and lanes give the same bits.

use crate::ir::grouping;
use crate::ir::guard::{GuardKind, GuardedFunction};
use crate::ir::tape::{ONE, Op, RowIndex, Slot, Tape, TapeValue};
use crate::values::Operation;
use carom_expr::FastMap;
use std::ops::Range;

/// No row: the factor 1.
pub(crate) const NONE: RowIndex = RowIndex::MAX;

/// factor · constant · times₀ / over₀
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Weight {
    pub factor: f64,
    pub constant: Slot,
    pub times: RowIndex,
    pub over: RowIndex,
}

impl Weight {
    /// Does it depend on the state (and not on parameters only)?
    pub(crate) fn moves(&self) -> bool {
        self.times != NONE || self.over != NONE
    }

    /// Is it 1, whatever the parameters?
    pub(crate) fn is_one(&self) -> bool {
        self.factor == 1.0 && self.constant == ONE && !self.moves()
    }

    /// The row whose order 0 it is, if it is nothing else.
    pub(crate) fn row(&self) -> Option<RowIndex> {
        let plain = self.factor == 1.0 && self.constant == ONE && self.times != NONE && self.over == NONE;
        plain.then_some(self.times)
    }
}

/// Σ_{0<j<k} a_j b_{k−j}, times a weight.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Pair {
    pub a: RowIndex,
    pub b: RowIndex,
    pub weight: Weight,
}

impl Pair {
    pub(crate) fn is_square(&self) -> bool {
        self.a == self.b
    }
}

/// weight · source_k
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Edge {
    pub source: RowIndex,
    pub weight: Weight,
}

/// s(k)
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum OrderScale {
    One,
    Order,
    Inverse,
}

/// r_k = s(k) Σ of these pairs + Σ of these edges; without pairs the scale is that of the edges.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct OrderEquation {
    pub out: RowIndex,
    pub scale: OrderScale,
    pub pairs: Range<usize>,
    pub edges: Range<usize>,
}

/// What is done per order, in sequence.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum OrderStage {
    /// These equations.
    Equations(Range<usize>),
    /// Rows `right_side ..` hold the right side; the unknowns are written to `unknowns ..`.
    Solve { block: u32, right_side: RowIndex, unknowns: RowIndex },
}

/// The recurrence of a tape. Lists start with what the last order needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recurrence {
    pub pairs: Vec<Pair>,
    pub edges: Vec<Edge>,
    pub equations: Vec<OrderEquation>,
    pub stages: Vec<OrderStage>,
    /// Equations that differ only in their rows; empty for short recurrences.
    pub classes: Vec<Range<usize>>,
    /// How many stages, and pairs, the last order needs.
    pub last_stages: usize,
    pub last_pairs: usize,
    /// Rows of the tape plus right sides of blocks.
    pub rows: usize,
    /// What can hide from its own series.
    pub guarded: Vec<GuardedFunction>,
    /// Which row each Euler derivative belongs to.
    euler: FastMap<RowIndex, RowIndex>,
}

impl Recurrence {
    pub(crate) fn new(tape: &Tape) -> Recurrence {
        let mut r = Recurrence { rows: tape.rows, ..Recurrence::default() };
        for op in &tape.ops {
            if let Op::Euler { out, u } = *op {
                r.euler.insert(out, u);
            }
        }
        let mut in_last = vec![false; tape.ops.len()];
        for &i in &tape.last {
            in_last[i as usize] = true;
            r.op(tape, &tape.ops[i as usize]);
        }
        r.last_stages = r.stages.len();
        r.last_pairs = r.pairs.len();
        // What only the middle orders need begins a stage of its own.
        r.stages.push(OrderStage::Equations(r.equations.len()..r.equations.len()));
        for &i in tape.middle.iter().filter(|&&i| !in_last[i as usize]) {
            r.op(tape, &tape.ops[i as usize]);
        }
        r.stages.retain(|s| !matches!(s, OrderStage::Equations(none) if none.is_empty()));
        for &(u, n) in &tape.powers {
            // Powers are made by squaring; where there is no square, no series is wanted.
            if r.pairs.iter().any(|p| p.a == u && p.is_square()) {
                r.guard(u, GuardKind::Power(n as f64));
            }
        }
        let (last, middle) = r.pairs.split_at_mut(r.last_pairs);
        orient(last);
        orient(middle);
        r.sort_edges(tape);
        grouping::sort(&mut r);
        r
    }

    /// Puts what is known last at the end of each sum: the chain from operation to operation becomes shorter.
    fn sort_edges(&mut self, tape: &Tape) {
        // Depth: operations between the coefficients of the last order and this row's.
        let mut depth = vec![0_u32; self.rows];
        depth[..tape.dimension].fill(1);
        for stage in &self.stages {
            match stage {
                OrderStage::Equations(equations) => {
                    for e in &self.equations[equations.clone()] {
                        let edges = &mut self.edges[e.edges.clone()];
                        edges.sort_by_key(|e| depth[e.source as usize]);
                        // Each term waits for the one before it and for its source.
                        let sum = edges.iter().fold(0, |at, e| at.max(depth[e.source as usize]) + 1);
                        depth[e.out as usize] =
                            sum + u32::from(e.pairs.is_empty() && e.scale != OrderScale::One);
                    }
                }
                &OrderStage::Solve { block, right_side, unknowns } => {
                    let n = tape.blocks[block as usize].size;
                    let rows = |first: RowIndex| first as usize..first as usize + n;
                    let right = depth[rows(right_side)].iter().copied().max().unwrap_or(0);
                    depth[rows(unknowns)].fill(right + 4 * n as u32);
                }
            }
        }
    }

    fn equation(&mut self, out: RowIndex, scale: OrderScale, pairs: &[Pair], edges: &[Edge]) {
        let first = (self.pairs.len(), self.edges.len());
        self.pairs.extend(pairs);
        self.edges.extend(edges);
        let (pairs, edges) = (first.0..self.pairs.len(), first.1..self.edges.len());
        let number = self.equations.len();
        self.equations.push(OrderEquation { out, scale, pairs, edges });
        match self.stages.last_mut() {
            Some(OrderStage::Equations(equations)) => equations.end = number + 1,
            _ => self.stages.push(OrderStage::Equations(number..number + 1)),
        }
    }

    fn op(&mut self, tape: &Tape, op: &Op) {
        let weight = |factor: f64, constant: Slot, times: RowIndex, over: RowIndex| Weight {
            factor,
            constant,
            times,
            over,
        };
        let plain = |factor: f64| weight(factor, ONE, NONE, NONE);
        let pair = |a: RowIndex, b: RowIndex, weight: Weight| Pair { a, b, weight };
        let edge = |source: RowIndex, weight: Weight| Edge { source, weight };
        match op {
            Op::Dot { out, linear, products, .. } => {
                let mut pairs = Vec::new();
                let mut edges = Vec::new();
                for l in linear {
                    edges.push(edge(l.a, weight(1.0, l.coefficient, NONE, NONE)));
                }
                for p in products {
                    let c = p.coefficient;
                    pairs.push(pair(p.a, p.b, weight(1.0, c, NONE, NONE)));
                    if p.a == p.b {
                        edges.push(edge(p.a, weight(2.0, c, p.a, NONE)));
                    } else {
                        edges.push(edge(p.a, weight(1.0, c, p.b, NONE)));
                        edges.push(edge(p.b, weight(1.0, c, p.a, NONE)));
                    }
                }
                self.equation(*out, OrderScale::One, &pairs, &edges);
            }
            Op::Divide { out, a, b } => {
                let mut edges = vec![edge(*b, weight(-1.0, ONE, *out, *b))];
                if let TapeValue::Row(a) = a {
                    edges.insert(0, edge(*a, weight(1.0, ONE, NONE, *b)));
                }
                self.equation(*out, OrderScale::One, &[pair(*b, *out, weight(-1.0, ONE, NONE, *b))], &edges);
            }
            Op::Euler { out, u } => self.equation(*out, OrderScale::Order, &[], &[edge(*u, plain(1.0))]),
            Op::SinCos { du, sin, cos, .. } => {
                self.derived(*sin, *du, *cos, 1.0);
                self.derived(*cos, *du, *sin, -1.0);
            }
            Op::SinhCosh { du, sinh, cosh, .. } => {
                self.guard(self.euler[du], GuardKind::Hyperbolic);
                self.derived(*sinh, *du, *cosh, 1.0);
                self.derived(*cosh, *du, *sinh, 1.0);
            }
            Op::Exp { du, out, .. } => {
                self.guard(self.euler[du], GuardKind::Exponential);
                self.derived(*out, *du, *out, 1.0);
            }
            Op::Tan { du, tan, weight: w, hyperbolic, .. } => {
                if *hyperbolic {
                    self.guard(self.euler[du], GuardKind::Tangent);
                }
                self.derived(*tan, *du, *w, 1.0);
                let sign = if *hyperbolic { -1.0 } else { 1.0 };
                let edges = [edge(*tan, weight(2.0 * sign, ONE, *tan, NONE))];
                self.equation(*w, OrderScale::One, &[pair(*tan, *tan, plain(sign))], &edges);
            }
            Op::Sqrt { out, u } => {
                let pairs = [pair(*out, *out, weight(-0.5, ONE, NONE, *out))];
                self.equation(*out, OrderScale::One, &pairs, &[edge(*u, weight(0.5, ONE, NONE, *out))]);
            }
            Op::Power { out, u, du, dr, exponent } => {
                match tape.constants[*exponent as usize] {
                    Operation::Number(n) => self.guard(*u, GuardKind::power(n)),
                    _ => self.guard(*u, GuardKind::Constant(*exponent)),
                }
                // k u_0 r_k = α Σ (Du)_j r_{k−j} − Σ_{j<k} u_j (Dr)_{k−j}
                let pairs = [
                    pair(*du, *out, weight(1.0, *exponent, NONE, *u)),
                    pair(*u, *dr, weight(-1.0, ONE, NONE, *u)),
                ];
                self.equation(
                    *out,
                    OrderScale::Inverse,
                    &pairs,
                    &[edge(*u, weight(1.0, *exponent, *out, *u))],
                );
                self.equation(*dr, OrderScale::Order, &[], &[edge(*out, plain(1.0))]);
            }
            Op::Integrate { out, d, .. } => {
                self.equation(*out, OrderScale::Inverse, &[], &[edge(*d, plain(1.0))]);
            }
            Op::Solve { block: index } => {
                let block = &tape.blocks[*index as usize];
                let right_side = self.rows as RowIndex;
                self.rows += block.size;
                // t_i = b_i − Σ_l M_il x_l without the terms in x_k
                let mut terms: Vec<(Vec<Pair>, Vec<Edge>)> = vec![(vec![], vec![]); block.size];
                for (i, value) in block.right_side.iter().enumerate() {
                    if let TapeValue::Row(row) = value {
                        terms[i].1.push(edge(*row, plain(1.0)));
                    }
                }
                for &(i, j, value) in &block.entries {
                    let TapeValue::Row(m) = value else { continue };
                    let mut add = |i: u32, j: u32| {
                        let x = block.first + j;
                        terms[i as usize].0.push(pair(m, x, plain(-1.0)));
                        terms[i as usize].1.push(edge(m, weight(-1.0, ONE, x, NONE)));
                    };
                    add(i, j);
                    if block.symmetric && i != j {
                        add(j, i);
                    }
                }
                for (i, (pairs, edges)) in terms.iter().enumerate() {
                    self.equation(right_side + i as RowIndex, OrderScale::One, pairs, edges);
                }
                self.stages.push(OrderStage::Solve { block: *index, right_side, unknowns: block.first });
            }
        }
    }

    fn guard(&mut self, u: RowIndex, kind: GuardKind) {
        let guarded = GuardedFunction { u, kind };
        if !self.guarded.contains(&guarded) {
            self.guarded.push(guarded);
        }
    }

    /// k r_k = sign Σ_{j≥1} (Du)_j f_{k−j}, where (Du)_k f_0 / k = u_k f_0.
    fn derived(&mut self, out: RowIndex, du: RowIndex, f: RowIndex, sign: f64) {
        let weight = |times: RowIndex| Weight { factor: sign, constant: ONE, times, over: NONE };
        let pairs = [Pair { a: du, b: f, weight: weight(NONE) }];
        let edges = [Edge { source: self.euler[&du], weight: weight(f) }];
        self.equation(out, OrderScale::Inverse, &pairs, &edges);
    }
}

/// Turns pairs so that two pairs with a common operand have it first: evaluators may then share its loads. Done here,
/// because the order of the operands decides how a sum is rounded.
fn orient(pairs: &mut [Pair]) {
    // Pairs not yet matched, by operand, earliest last.
    let mut waiting: FastMap<RowIndex, Vec<usize>> = FastMap::default();
    for (i, pair) in pairs.iter().enumerate().rev() {
        waiting.entry(pair.a).or_default().push(i);
        if pair.b != pair.a {
            waiting.entry(pair.b).or_default().push(i);
        }
    }
    let mut done = vec![false; pairs.len()];
    for i in 0..pairs.len() {
        if std::mem::replace(&mut done[i], true) {
            continue;
        }
        for shared in [pairs[i].a, pairs[i].b] {
            let list = waiting.get_mut(&shared).expect("every operand is listed");
            while list.last().is_some_and(|&j| done[j]) {
                list.pop();
            }
            if let Some(j) = list.pop() {
                done[j] = true;
                for pair in [i, j] {
                    let p = &mut pairs[pair];
                    if p.a != shared {
                        std::mem::swap(&mut p.a, &mut p.b);
                    }
                }
                break;
            }
        }
    }
}
