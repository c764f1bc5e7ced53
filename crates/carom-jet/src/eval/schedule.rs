//! The recurrence with every place resolved: what interpretation reads, in the order in which it reads it.
//!
//! ```text
//! place of operand i at order k = start_i + k step_i        kept as a cursor: one vector addition per order moves all of them
//! ```
//!
//! Weights are gathered once per jet. The sums of an equation's pairs are terms of weight 1, and a scale is the weight of the one
//! term it applies to, so that nearly every equation is Σ x w: one walk along two lists.

use crate::eval::element::Element;
use crate::ir::layout::{Layout, RowPlace, WIDTH, lane};
use crate::ir::recurrence::{OrderScale, OrderStage};
use crate::ir::tape::{Tape, TapeValue};
use std::ops::Range;

/// An equation's part of the lists: it begins where that of the one before ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// How many sums of pairs come first, which begin with order 2, and how many terms there are in all.
    pub pairs: u32,
    pub count: u32,
    /// Is it Σ x w from order 2 on?
    pub is_plain: bool,
    /// The sum of the first so many terms is scaled; 0: none, or the scale is a weight.
    pub scaled: u32,
    pub scale: OrderScale,
}

/// The lists.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    /// Of every operand: its place at order 1, and how far it moves from order to order.
    start: Vec<u32>,
    step: Vec<u32>,
    /// Which operands are the state, its rates (an order below), what equations make, their sources, and what is copied to and
    /// from lanes of octets.
    state: Range<usize>,
    rates: Range<usize>,
    outs: Range<usize>,
    terms: Range<usize>,
    copies: [Range<usize>; 2],
    /// The weights of all terms, and which of them are the order, or its inverse.
    weights: Vec<TermWeight>,
    scales: [Vec<u32>; 2],
    pub equations: Vec<Terms>,
    pub stages: Vec<OrderStage>,
    pub last_stages: usize,
}

/// The weight of a term.
#[derive(Clone, Copy, Debug)]
enum TermWeight {
    /// 1, or a scale.
    One,
    /// At this place of the arena.
    At(u32),
}

/// A schedule at an order: where its operands are, and the weights of the present jet.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<T> {
    places: Vec<u32>,
    pub weights: Vec<T>,
}

impl<T> Cursor<T> {
    /// Before any order.
    pub(crate) const fn new() -> Cursor<T> {
        Cursor { places: Vec::new(), weights: Vec::new() }
    }
}

impl Schedule {
    /// The lists of a tape; `single`: with the copies to octets of a single trajectory.
    pub(crate) fn new(tape: &Tape, layout: &Layout, single: bool) -> Schedule {
        let r = &tape.recurrence;
        let (mut start, mut step) = (Vec::new(), Vec::new());
        let mut list = |places: &mut dyn Iterator<Item = (RowPlace, usize)>| {
            let from = start.len();
            for (place, order) in places {
                start.push(place.index(order) as u32);
                step.push(place.step);
            }
            from..start.len()
        };
        let place = |row: u32| layout.places[row as usize];
        let rates = tape.rate.iter().map(|rate| match *rate {
            TapeValue::Row(row) => row,
            TapeValue::Constant(_) => unreachable!("rates are rows"),
        });
        // Octets that are an operand's only place need no copy.
        let copied: Vec<[RowPlace; 2]> = r
            .pairs
            .iter()
            .enumerate()
            .flat_map(|(p, pair)| {
                layout.octets.into_iter().zip([pair.a, pair.b]).map(move |(octets, row)| {
                    let at = (octets + lane(layout.pair(p), 0, layout.stride)) as u32;
                    [RowPlace { at, step: WIDTH as u32 }, place(row)]
                })
            })
            .filter(|[into, from]| single && into != from)
            .collect();
        let (mut equations, mut weights, mut scales) = (Vec::new(), Vec::new(), [Vec::new(), Vec::new()]);
        let mut terms: Vec<RowPlace> = Vec::new();
        for e in &r.equations {
            let first = weights.len() as u32;
            // A scale belongs to the pairs if there are any. Of one term of weight 1 it is the weight.
            let [pairs, edges] = [e.pairs.len(), e.edges.len()].map(|n| n as u32);
            let scaled = if pairs > 0 { pairs } else { edges };
            let scaled = if e.scale == OrderScale::One || (pairs > 0 && e.scale == OrderScale::Order) {
                0
            } else {
                scaled
            };
            let alone = scaled == 1 && (pairs == 1 || r.edges[e.edges.start].weight.is_one());
            if alone {
                scales[usize::from(e.scale != OrderScale::Order)].push(first);
            }
            let scaled = if alone { 0 } else { scaled };
            let count = pairs + edges;
            let is_plain = scaled == 0 && count > 0;
            equations.push(Terms { pairs, count, is_plain, scaled, scale: e.scale });
            for p in e.pairs.clone() {
                terms.push(RowPlace { at: (layout.sums + layout.pair(p)) as u32, step: 0 });
                weights.push(TermWeight::One);
            }
            for i in e.edges.clone() {
                terms.push(place(r.edges[i].source));
                weights.push(TermWeight::At((layout.edge_weights + layout.edge(i)) as u32));
            }
        }
        Schedule {
            equations,
            state: list(&mut (0..tape.dimension as u32).map(|row| (place(row), 1))),
            rates: list(&mut rates.map(|row| (place(row), 0))),
            outs: list(&mut r.equations.iter().map(|e| (place(e.out), 1))),
            terms: list(&mut terms.into_iter().map(|place| (place, 1))),
            copies: [0, 1].map(|side| list(&mut copied.iter().map(|copy| (copy[side], 1)))),
            weights,
            scales,
            stages: r.stages.clone(),
            last_stages: r.last_stages,
            start,
            step,
        }
    }

    /// Places at order 1; weights from their table.
    #[inline(always)]
    pub(crate) fn begin<T: Element>(&self, cursor: &mut Cursor<T>, arena: &[T]) {
        cursor.places.clear();
        cursor.places.extend_from_slice(&self.start);
        cursor.weights.clear();
        for weight in &self.weights {
            cursor.weights.push(match *weight {
                TermWeight::One => T::splat(1.0),
                TermWeight::At(at) => arena[at as usize],
            });
        }
    }

    /// Weights that are scales of this order.
    #[inline(always)]
    pub(crate) fn set_scales<T: Element>(&self, cursor: &mut Cursor<T>, [order, inverse]: [T; 2]) {
        for (list, scale) in self.scales.iter().zip([order, inverse]) {
            for at in list {
                cursor.weights[*at as usize] = scale;
            }
        }
    }

    /// Places at the next order.
    #[inline(always)]
    pub(crate) fn advance<T>(&self, cursor: &mut Cursor<T>) {
        cursor.places.iter_mut().zip(&self.step).for_each(|(place, step)| *place += step);
    }

    /// (state, rates) of every variable.
    #[inline(always)]
    pub(crate) fn rates<'a, T>(&self, cursor: &'a Cursor<T>) -> impl Iterator<Item = (usize, usize)> + 'a {
        pairs_of(&cursor.places[self.state.clone()], &cursor.places[self.rates.clone()])
    }

    /// What equations make, and the places of all their terms.
    #[inline(always)]
    pub(crate) fn places<'a, T>(&self, cursor: &'a Cursor<T>) -> (&'a [u32], &'a [u32]) {
        (&cursor.places[self.outs.clone()], &cursor.places[self.terms.clone()])
    }

    /// Copies the newest coefficients to their lanes.
    #[inline(always)]
    pub(crate) fn pack<T>(&self, cursor: &Cursor<T>, arena: &mut [f64]) {
        let [into, from] = self.copies.clone().map(|part| &cursor.places[part]);
        for (into, from) in pairs_of(into, from) {
            arena[into] = arena[from];
        }
    }
}

#[inline(always)]
fn pairs_of<'a>(a: &'a [u32], b: &'a [u32]) -> impl Iterator<Item = (usize, usize)> + 'a {
    a.iter().zip(b).map(|(a, b)| (*a as usize, *b as usize))
}
