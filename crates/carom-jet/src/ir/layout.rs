//! Where everything lives in the one block of memory an evaluator works on.
//!
//! The unit is an *element*: one double for a single trajectory, one double per lane for a batch. Rows whose
//! earlier coefficients are needed again have a *series* (coefficient k at `at + k·step`); the others have a single *spot*.
//! The series of the state come first: one after the other, or order by order when equations are evaluated by eights.
//! Operands of a single trajectory's pairs live in a lane of an octet and nowhere else, unless their series is a result.

use crate::ir::elimination::Elimination;
use crate::ir::grouping::{self, GroupTables};
use crate::ir::recurrence::{NONE, Weight};
use crate::ir::tape::{CompiledBlock, RowIndex, Slot, Tape, TapeValue};
use std::collections::HashMap;

/// Pairs of one octet.
pub(crate) const WIDTH: usize = 8;

/// Numbers per order in the table of scales.
pub(crate) const SCALES: usize = 4;

/// The first of the literals.
pub(crate) const HALF: f64 = 0.5;

/// Where a row's coefficients are, in elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RowPlace {
    pub at: u32,
    /// Coefficient k is at `at + k·step`; 0: a spot.
    pub step: u32,
}

impl RowPlace {
    const UNKNOWN: RowPlace = RowPlace { at: u32::MAX, step: 0 };

    #[inline(always)]
    pub(crate) fn index(self, k: usize) -> usize {
        self.at as usize + k * self.step as usize
    }
}

/// The parts of a factored block.
#[derive(Clone, Debug)]
pub(crate) struct Factors {
    pub pattern: Elimination,
    /// Entries of L.
    pub lower: usize,
    /// Reciprocal pivots.
    pub pivots: usize,
    /// s a_i of every augmentation row.
    pub multiples: usize,
    /// Positions of the rows without diagonal entry.
    pub loose: Vec<usize>,
    /// Pivots, then the sums of what they were computed from.
    pub checks: usize,
    /// The right side while solving, and room for one that comes from elsewhere.
    pub work: usize,
}

/// The parts of a block that needs pivoting: G and U, see the module of factors.
#[derive(Clone, Debug)]
pub(crate) struct Pivoted {
    pub size: usize,
    /// G, row by row; then the rows of U, each beginning with the reciprocal of its pivot.
    pub factors: usize,
    /// G b while solving.
    pub work: usize,
}

impl Pivoted {
    /// G_ij
    pub(crate) fn g(&self, i: usize, j: usize) -> usize {
        self.factors + i * self.size + j
    }

    /// U_ij for j > i, 1/U_ii for j = i.
    pub(crate) fn u(&self, i: usize, j: usize) -> usize {
        let n = self.size;
        self.factors + n * n + i * n - i * i.saturating_sub(1) / 2 + (j - i)
    }
}

/// How a block is factored.
#[derive(Clone, Debug)]
pub(crate) enum BlockFactors {
    /// L D Lᵀ
    Symmetric(Factors),
    /// By exchanges of rows.
    Pivoted(Pivoted),
}

impl BlockFactors {
    fn new(block: &CompiledBlock, region: &mut impl FnMut(usize) -> usize) -> BlockFactors {
        if block.symmetric {
            return BlockFactors::Symmetric(factors(block, region));
        }
        let n = block.size;
        BlockFactors::Pivoted(Pivoted { size: n, factors: region(n * n + n * (n + 1) / 2), work: region(n) })
    }
}

/// Element offsets of everything.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub order: usize,
    pub stride: usize,
    /// Distance between the orders of the state; 0 when its series follow each other.
    pub pitch: usize,
    pub places: Vec<RowPlace>,
    /// One per watched function, constants included.
    pub watched: Vec<RowPlace>,
    pub constants: usize,
    /// Where pairs and edges are in the tables that follow.
    pub tables: GroupTables,
    pub edge_weights: usize,
    pub pair_weights: usize,
    /// w b_1 of every pair, and w a_1 (zero for squares, whose first is doubled).
    pub boundary: [usize; 2],
    /// Weighted interior sums, of the present and of the next order.
    pub sums: usize,
    /// Length of one of the two.
    pub room: usize,
    /// Interior sums of the order after the next, as far as they are known: both halves.
    pub begun: [usize; 2],
    /// k, 1/k, the coefficient of time and τ/k, for k = 0 … order; τ is the unit of the series.
    pub scale: usize,
    /// Literal factors of weights.
    pub numbers: usize,
    pub literals: Vec<f64>,
    /// All bits but the sign.
    pub mask: usize,
    pub blocks: Vec<BlockFactors>,
    /// Operands a and b by octets, for single trajectories: octet c of coefficient k at (c·stride + k)·8.
    pub octets: [usize; 2],
    /// Where the newest coefficients are, by row, when equations are evaluated by eights; else empty.
    pub slots: Vec<u32>,
    pub length: usize,
}

impl Layout {
    /// The layout for series up to `order`; `single`: with the octets of a single trajectory.
    pub(crate) fn new(tape: &Tape, order: usize, single: bool) -> Layout {
        let r = &tape.recurrence;
        let stride = order + 1;
        let mut length = 0;
        let tables = if single { GroupTables::grouped(r) } else { GroupTables::plain(r) };
        let pairs = tables.pair_room;
        let mut places = vec![RowPlace::UNKNOWN; r.rows];
        let pitch = if tables.groups.is_empty() { 0 } else { tape.dimension.next_multiple_of(WIDTH) };
        if pitch > 0 {
            for (at, place) in places[..tape.dimension].iter_mut().enumerate() {
                *place = RowPlace { at: at as u32, step: pitch as u32 };
            }
            length = pitch * stride;
        }
        let watched = tape.watched.iter().filter_map(|v| v.row());
        for row in (0..tape.dimension as RowIndex).chain(watched) {
            if places[row as usize] == RowPlace::UNKNOWN {
                places[row as usize] = RowPlace { at: length as u32, step: 1 };
                length += stride;
            }
        }
        // Octets of a single trajectory are aligned. Lanes are vectors anyway; series whose distance is not a power of two do
        // not compete for the same lines of the cache.
        let unit = if single { WIDTH } else { 1 };
        let mut region = |elements: usize| {
            length = length.next_multiple_of(unit);
            let at = length;
            length += elements.next_multiple_of(unit);
            at
        };
        let octets =
            if single { [0; 2].map(|_| region(pairs.div_ceil(WIDTH) * stride * WIDTH)) } else { [0; 2] };
        for (p, pair) in r.pairs.iter().enumerate() {
            for (row, octets) in [pair.a, pair.b].into_iter().zip(octets) {
                let place = &mut places[row as usize];
                if *place == RowPlace::UNKNOWN {
                    *place = if single {
                        RowPlace {
                            at: (octets + lane(tables.pairs[p] as usize, 0, stride)) as u32,
                            step: WIDTH as u32,
                        }
                    } else {
                        RowPlace { at: region(stride) as u32, step: 1 }
                    };
                }
            }
        }
        let values = tape.rate.iter().chain(&tape.monitored).filter_map(|v| v.row());
        let values = values.chain(r.guarded.iter().map(|h| h.u));
        for row in values.chain(r.edges.iter().filter_map(|e| e.weight.row())) {
            if places[row as usize] == RowPlace::UNKNOWN {
                places[row as usize] = RowPlace { at: region(stride) as u32, step: 1 };
            }
        }
        let spots = region(places.iter().filter(|p| **p == RowPlace::UNKNOWN).count());
        for (at, place) in (spots as u32..).zip(places.iter_mut().filter(|p| **p == RowPlace::UNKNOWN)) {
            *place = RowPlace { at, step: 0 };
        }
        // A constant that is watched many times (zeros of a matrix) has one place.
        let mut constants: HashMap<Slot, RowPlace> = HashMap::new();
        let watched = tape
            .watched
            .iter()
            .map(|value| match *value {
                TapeValue::Row(row) => places[row as usize],
                TapeValue::Constant(slot) => {
                    *constants.entry(slot).or_insert_with(|| RowPlace { at: region(stride) as u32, step: 1 })
                }
            })
            .collect();
        let mut literals: Vec<f64> = vec![HALF];
        for w in r.pairs.iter().map(|p| p.weight).chain(r.edges.iter().map(|e| e.weight)) {
            if !literals.contains(&w.factor) {
                literals.push(w.factor);
            }
        }
        let slots = if tables.groups.is_empty() {
            Vec::new()
        } else {
            let unknowns: Vec<_> =
                tape.blocks.iter().map(|b| b.first..b.first + b.size as RowIndex).collect();
            let (mut slots, room) = grouping::slots(r, &tables.groups, tape.dimension, &unknowns);
            let start = region(room) as u32;
            slots.iter_mut().for_each(|slot| *slot += start);
            slots
        };
        Layout {
            order,
            stride,
            pitch,
            places,
            watched,
            constants: region(tape.constants.len()),
            edge_weights: region(tables.edge_room),
            pair_weights: region(pairs),
            boundary: [0; 2].map(|_| region(pairs)),
            sums: region(2 * pairs.next_multiple_of(WIDTH)),
            room: pairs.next_multiple_of(WIDTH),
            begun: [0; 2].map(|_| region(pairs)),
            scale: region(SCALES * stride),
            numbers: region(literals.len()),
            literals,
            mask: region(WIDTH),
            blocks: tape.blocks.iter().map(|b| BlockFactors::new(b, &mut region)).collect(),
            octets,
            slots,
            tables,
            length,
        }
    }

    /// The blocks factored without pivoting.
    pub(crate) fn symmetric(&self) -> impl Iterator<Item = &Factors> {
        self.blocks.iter().filter_map(|b| match b {
            BlockFactors::Symmetric(f) => Some(f),
            BlockFactors::Pivoted(_) => None,
        })
    }

    /// Where pair p has its sums and weights.
    #[inline(always)]
    pub(crate) fn pair(&self, p: usize) -> usize {
        self.tables.pairs[p] as usize
    }

    /// Where edge e has its weight.
    #[inline(always)]
    pub(crate) fn edge(&self, e: usize) -> usize {
        self.tables.edges[e] as usize
    }

    /// k, 1/k, coefficient of time, τ/k for series in the unit τ.
    pub(crate) fn scales(&self, unit: f64) -> impl Iterator<Item = (usize, [f64; SCALES])> {
        (1..=self.order).map(move |k| {
            let inverse = 1.0 / k as f64;
            let clock = if k == 1 { unit } else { 0.0 };
            (self.scale + SCALES * k, [k as f64, inverse, clock, inverse * unit])
        })
    }
}

/// Coefficient k of the pair at place p of the tables, within the octets.
pub(crate) fn lane(p: usize, k: usize, stride: usize) -> usize {
    (p / WIDTH * stride + k) * WIDTH + p % WIDTH
}

/// The places of a symmetric block's factors.
pub(crate) fn factors(block: &CompiledBlock, region: &mut impl FnMut(usize) -> usize) -> Factors {
    let pattern = block.elimination.clone().unwrap_or_else(|| {
        let places: Vec<(u32, u32)> = block.entries.iter().map(|&(i, j, _)| (i, j)).collect();
        Elimination::dense(block.size, &places, &[])
    });
    let loose = block.without_diagonal();
    Factors {
        loose: (0..block.size).filter(|&i| loose[pattern.order[i] as usize]).collect(),
        lower: region(pattern.columns.len()),
        pivots: region(block.size),
        multiples: region(pattern.multiples()),
        checks: region(2 * block.size),
        work: region(2 * block.size),
        pattern,
    }
}

/// Weights that change with the state, with their places in the table.
pub(crate) fn moving(weights: impl Iterator<Item = Weight>, table: &[u32]) -> Vec<(u32, Weight)> {
    table.iter().copied().zip(weights).filter(|(_, w)| w.moves()).collect()
}

/// factor · constant · times₀ / over₀, in this order of operations.
#[inline(always)]
pub(crate) fn weigh<T: Copy>(
    w: &Weight,
    base: T,
    row: impl Fn(RowIndex) -> T,
    times: impl Fn(T, T) -> T,
    over: impl Fn(T, T) -> T,
) -> T {
    let mut x = base;
    if w.times != NONE {
        x = times(x, row(w.times));
    }
    if w.over != NONE {
        x = over(x, row(w.over));
    }
    x
}
