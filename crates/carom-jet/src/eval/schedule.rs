//! The recurrence with every place resolved: what interpretation reads, in the order in which it reads it.
//!
//! ```text
//! place of operand i at order k = start_i + k step_i        kept as a cursor: one vector addition per order moves all of them
//! ```
//!
//! Weights are gathered once per jet, so that an equation is a walk along two lists.

use crate::eval::element::Element;
use crate::ir::layout::{Layout, Place, WIDTH, lane};
use crate::ir::recurrence::{Scale, Stage};
use crate::ir::tape::{Tape, Value};
use std::ops::Range;

/// An equation's part of the lists.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    pub scale: Scale,
    /// Up to where its sums of pairs and its edges reach; they begin where those of the one before end.
    pub pairs: u32,
    pub edges: u32,
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
    sources: Range<usize>,
    packed: [Range<usize>; 2],
    /// Where the weighted sums of pairs are, equation by equation.
    pub sums: Vec<u32>,
    /// Where the weights of edges are, equation by equation.
    weights: Vec<u32>,
    pub equations: Vec<Terms>,
    pub stages: Vec<Stage>,
    pub last_stages: usize,
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
    /// The lists of a tape; `packed`: with the copies to octets of a single trajectory.
    pub(crate) fn new(tape: &Tape, layout: &Layout, packed: bool) -> Schedule {
        let r = &tape.recurrence;
        let (mut start, mut step) = (Vec::new(), Vec::new());
        let mut list = |places: &mut dyn Iterator<Item = (Place, usize)>| {
            let from = start.len();
            for (place, order) in places {
                start.push(place.index(order) as u32);
                step.push(place.step);
            }
            from..start.len()
        };
        let place = |row: u32| layout.places[row as usize];
        let rates = tape.rate.iter().map(|rate| match *rate {
            Value::Row(row) => row,
            Value::Constant(_) => unreachable!("rates are rows"),
        });
        // Octets that are an operand's only place need no copy.
        let copies: Vec<[Place; 2]> = r
            .pairs
            .iter()
            .enumerate()
            .flat_map(|(p, pair)| {
                layout.octets.into_iter().zip([pair.a, pair.b]).map(move |(octets, row)| {
                    let at = (octets + lane(layout.pair(p), 0, layout.stride)) as u32;
                    [Place { at, step: WIDTH as u32 }, place(row)]
                })
            })
            .filter(|[into, from]| packed && into != from)
            .collect();
        let (mut pairs, mut edges) = (0, 0);
        let equations = r.equations.iter().map(|e| {
            (pairs, edges) = (pairs + e.pairs.len() as u32, edges + e.edges.len() as u32);
            Terms { scale: e.scale, pairs, edges }
        });
        let all_edges = || r.equations.iter().flat_map(|e| e.edges.clone());
        Schedule {
            equations: equations.collect(),
            state: list(&mut (0..tape.dimension as u32).map(|row| (place(row), 1))),
            rates: list(&mut rates.map(|row| (place(row), 0))),
            outs: list(&mut r.equations.iter().map(|e| (place(e.out), 1))),
            sources: list(&mut all_edges().map(|i| (place(r.edges[i].source), 1))),
            packed: [0, 1].map(|side| list(&mut copies.iter().map(|copy| (copy[side], 1)))),
            sums: r
                .equations
                .iter()
                .flat_map(|e| e.pairs.clone())
                .map(|p| (layout.sums + layout.pair(p)) as u32)
                .collect(),
            weights: all_edges().map(|i| (layout.edge_weights + layout.edge(i)) as u32).collect(),
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
        cursor.weights.extend(self.weights.iter().map(|at| arena[*at as usize]));
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

    /// What equations make, and the sources of all edges.
    #[inline(always)]
    pub(crate) fn places<'a, T>(&self, cursor: &'a Cursor<T>) -> (&'a [u32], &'a [u32]) {
        (&cursor.places[self.outs.clone()], &cursor.places[self.sources.clone()])
    }

    /// Copies the newest coefficients to their lanes.
    #[inline(always)]
    pub(crate) fn pack<T>(&self, cursor: &Cursor<T>, arena: &mut [f64]) {
        let [into, from] = self.packed.clone().map(|part| &cursor.places[part]);
        for (into, from) in pairs_of(into, from) {
            arena[into] = arena[from];
        }
    }
}

#[inline(always)]
fn pairs_of<'a>(a: &'a [u32], b: &'a [u32]) -> impl Iterator<Item = (usize, usize)> + 'a {
    a.iter().zip(b).map(|(a, b)| (*a as usize, *b as usize))
}
