//! Where everything lives in the one block of memory an evaluator works on.
//!
//! The unit is an *element*: one double for a single trajectory, eight doubles (one per lane) for an ensemble. Rows whose
//! earlier coefficients are needed again have a *series* (coefficient k at `at + k`); the others have a single *spot*.

use super::elimination::Elimination;
use super::recurrence::{NONE, Recurrence, Weight};
use super::tape::{Block, Row, Tape, Value};

/// Pairs of one octet.
pub(crate) const WIDTH: usize = 8;

/// Where a row's coefficients are, in elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub at: u32,
    /// Coefficient k is at `at + k`, not always at `at`.
    pub series: bool,
}

impl Place {
    #[inline(always)]
    pub(crate) fn index(self, k: usize) -> usize {
        self.at as usize + if self.series { k } else { 0 }
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
    /// Pivots, then the sums of what they were computed from.
    pub checks: usize,
    /// Right side while solving.
    pub work: usize,
}

/// Element offsets of everything.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub order: usize,
    pub stride: usize,
    pub places: Vec<Place>,
    /// One per watched function, constants included.
    pub watched: Vec<Place>,
    pub constants: usize,
    pub edge_weights: usize,
    pub pair_weights: usize,
    /// w b_1 of every pair, then w a_1.
    pub near: usize,
    /// Weighted far sums, of the present and of the next order.
    pub sums: usize,
    /// Length of one of the two.
    pub room: usize,
    /// k, 1/k and the coefficient of time, for k = 0 … order.
    pub scale: usize,
    /// Literal factors of weights.
    pub numbers: usize,
    pub literals: Vec<f64>,
    /// All bits but the sign.
    pub mask: usize,
    /// Symmetric blocks; `None` for those that need pivoting.
    pub blocks: Vec<Option<Factors>>,
    /// Packed operands a and b, for single trajectories: octet c of coefficient k at (c·stride + k)·8.
    pub octets: [usize; 2],
    pub length: usize,
}

impl Layout {
    /// The layout for series up to `order`; `packed` adds the octets of a single trajectory.
    pub(crate) fn new(tape: &Tape, order: usize, packed: bool) -> Layout {
        let r = &tape.recurrence;
        let stride = order + 1;
        let mut length = 0;
        let mut region = |elements: usize| {
            let at = length;
            length += elements.next_multiple_of(WIDTH);
            at
        };
        let (mut places, series) = places(tape, r, stride);
        region(series * stride);
        let spots = region(places.iter().filter(|p| !p.series).count());
        for (at, place) in (spots as u32..).zip(places.iter_mut().filter(|p| !p.series)) {
            place.at = at;
        }
        let watched = tape
            .watched
            .iter()
            .map(|value| match *value {
                Value::Row(row) => places[row as usize],
                Value::Constant(_) => Place { at: region(stride) as u32, series: true },
            })
            .collect();
        let pairs = r.pairs.len();
        let mut literals: Vec<f64> = Vec::new();
        for w in r.pairs.iter().map(|p| p.weight).chain(r.edges.iter().map(|e| e.weight)) {
            if !literals.contains(&w.factor) {
                literals.push(w.factor);
            }
        }
        let octets = pairs.div_ceil(WIDTH) * stride * WIDTH;
        Layout {
            order,
            stride,
            places,
            watched,
            constants: region(tape.constants.len()),
            edge_weights: region(r.edges.len()),
            pair_weights: region(pairs),
            near: region(2 * pairs),
            sums: region(2 * pairs.next_multiple_of(WIDTH)),
            room: pairs.next_multiple_of(WIDTH),
            scale: region(3 * stride),
            numbers: region(literals.len()),
            literals,
            mask: region(WIDTH),
            blocks: tape.blocks.iter().map(|b| b.symmetric.then(|| factors(b, &mut region))).collect(),
            octets: if packed { [region(octets), region(octets)] } else { [0; 2] },
            length,
        }
    }

    /// k, 1/k, clock.
    pub(crate) fn scales(&self) -> impl Iterator<Item = (usize, [f64; 3])> {
        (1..=self.order)
            .map(|k| (self.scale + 3 * k, [k as f64, 1.0 / k as f64, if k == 1 { 1.0 } else { 0.0 }]))
    }
}

/// State first, then unknowns and watched rows, then operands of pairs and what weights refer to.
fn places(tape: &Tape, r: &Recurrence, stride: usize) -> (Vec<Place>, usize) {
    let mut places = vec![Place { at: 0, series: false }; r.rows];
    let mut count = 0;
    let mut want = |row: Row| {
        let place = &mut places[row as usize];
        if !place.series {
            *place = Place { at: (count * stride) as u32, series: true };
            count += 1;
        }
    };
    (0..tape.dimension as Row).for_each(&mut want);
    for block in &tape.blocks {
        (block.first..block.first + block.size as Row).for_each(&mut want);
    }
    for value in tape.watched.iter().chain(&tape.rate).chain(&tape.noted) {
        if let Value::Row(row) = value {
            want(*row);
        }
    }
    for pair in &r.pairs {
        want(pair.a);
        want(pair.b);
    }
    for edge in &r.edges {
        if let Some(row) = edge.weight.row() {
            want(row);
        }
    }
    (places, count)
}

fn factors(block: &Block, region: &mut impl FnMut(usize) -> usize) -> Factors {
    let pattern = block.elimination.clone().unwrap_or_else(|| {
        let places: Vec<(u32, u32)> = block.entries.iter().map(|&(i, j, _)| (i, j)).collect();
        Elimination::dense(block.size, &places)
    });
    Factors {
        lower: region(pattern.columns.len()),
        pivots: region(block.size),
        checks: region(2 * block.size),
        work: region(2 * block.size),
        pattern,
    }
}

/// Weights that change with the state, with their positions.
pub(crate) fn moving(weights: impl Iterator<Item = Weight>) -> Vec<(u32, Weight)> {
    weights.enumerate().filter(|(_, w)| w.moves()).map(|(i, w)| (i as u32, w)).collect()
}

/// factor · constant · times₀ / over₀, in this order of operations.
#[inline(always)]
pub(crate) fn weigh<T: Copy>(
    w: &Weight,
    base: T,
    row: impl Fn(Row) -> T,
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
