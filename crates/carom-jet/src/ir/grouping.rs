//! Equations of equal form side by side.
//!
//! Large systems repeat themselves: links of a chain, loops of a frame, bodies of one kind. Equations that differ only in
//! their rows form a *class*; eight of a class are evaluated as one vector ([`crate::emit`]). To this end equations are
//! sorted, within what may be exchanged, by class, and the q-th pairs (and edges) of eight equations get eight places in a
//! row in the tables. What is computed does not change, only where it is kept.

use crate::ir::layout::WIDTH;
use crate::ir::recurrence::{NONE, OrderEquation, OrderScale, OrderStage, Recurrence, Weight};
use crate::ir::tape::RowIndex;
use std::collections::HashMap;
use std::ops::Range;

/// From so many edges on it pays: the code is then read from the second-level cache, and short code is fast code.
const LONG: usize = 256;

/// Fewer equations are evaluated one by one.
const FEW: usize = 3;

/// What two equations of a class have in common.
#[derive(PartialEq, Eq, Hash)]
struct EquationShape {
    level: u32,
    scale: OrderScale,
    pairs: Vec<(bool, WeightKind)>,
    edges: Vec<WeightKind>,
}

/// What two weights have in common.
#[derive(PartialEq, Eq, Hash)]
struct WeightKind {
    factor: u64,
    constant: u32,
    times: bool,
    over: bool,
}

fn kind(w: &Weight) -> WeightKind {
    WeightKind {
        factor: w.factor.to_bits(),
        constant: w.constant,
        times: w.times != NONE,
        over: w.over != NONE,
    }
}

/// Sorts the equations of a long recurrence by class.
pub(crate) fn sort(r: &mut Recurrence) {
    if r.edges.len() < LONG {
        return;
    }
    let (mut pairs, mut edges) = (Vec::with_capacity(r.pairs.len()), Vec::with_capacity(r.edges.len()));
    let mut sorted: Vec<OrderEquation> = Vec::with_capacity(r.equations.len());
    let mut classes = Vec::new();
    // Levels count equations of one stage between a row and what was known before the stage.
    let mut level = vec![0_u32; r.rows];
    for stage in &r.stages {
        let OrderStage::Equations(equations) = stage else { continue };
        let equations = &r.equations[equations.clone()];
        let mut numbers: HashMap<EquationShape, usize> = HashMap::new();
        let mut members: Vec<(u32, Vec<&OrderEquation>)> = Vec::new();
        for e in equations {
            let (own_pairs, own_edges) = (&r.pairs[e.pairs.clone()], &r.edges[e.edges.clone()]);
            let own = 1 + own_edges.iter().map(|e| level[e.source as usize]).max().unwrap_or(0);
            level[e.out as usize] = own;
            let form = EquationShape {
                level: own,
                scale: e.scale,
                pairs: own_pairs.iter().map(|p| (p.is_square(), kind(&p.weight))).collect(),
                edges: own_edges.iter().map(|e| kind(&e.weight)).collect(),
            };
            let number = *numbers.entry(form).or_insert_with(|| {
                members.push((own, Vec::new()));
                members.len() - 1
            });
            members[number].1.push(e);
        }
        members.sort_by_key(|(level, _)| *level);
        for (_, class) in members {
            classes.push(sorted.len()..sorted.len() + class.len());
            for e in class {
                let first = (pairs.len(), edges.len());
                pairs.extend(&r.pairs[e.pairs.clone()]);
                edges.extend(&r.edges[e.edges.clone()]);
                sorted.push(OrderEquation { pairs: first.0..pairs.len(), edges: first.1..edges.len(), ..*e });
            }
        }
        for e in equations {
            level[e.out as usize] = 0;
        }
    }
    (r.pairs, r.edges, r.equations, r.classes) = (pairs, edges, sorted, classes);
}

/// Up to eight equations that are evaluated together, or a few that are not.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub equations: Range<usize>,
    /// Where the tables have the first pairs, and the first edges, of a vector; the next ones follow at distances of eight.
    pub vector: Option<[usize; 2]>,
}

/// Where pairs and edges are in their tables.
#[derive(Clone, Default, Debug)]
pub(crate) struct GroupTables {
    pub pairs: Vec<u32>,
    pub edges: Vec<u32>,
    /// Lengths; the pairs of the last order are within the first `last_pairs`.
    pub pair_room: usize,
    pub edge_room: usize,
    pub last_pairs: usize,
    /// All equations, in sequence; empty when each is evaluated by itself.
    pub groups: Vec<Group>,
}

impl GroupTables {
    /// One after the other.
    pub(crate) fn plain(r: &Recurrence) -> GroupTables {
        GroupTables {
            pairs: (0..r.pairs.len() as u32).collect(),
            edges: (0..r.edges.len() as u32).collect(),
            pair_room: r.pairs.len(),
            edge_room: r.edges.len(),
            last_pairs: r.last_pairs,
            groups: Vec::new(),
        }
    }

    /// By eights, as far as there are classes.
    pub(crate) fn grouped(r: &Recurrence) -> GroupTables {
        if r.classes.is_empty() {
            return GroupTables::plain(r);
        }
        let mut t = GroupTables {
            pairs: vec![u32::MAX; r.pairs.len()],
            edges: vec![u32::MAX; r.edges.len()],
            ..GroupTables::default()
        };
        for class in &r.classes {
            for start in class.clone().step_by(WIDTH) {
                let range = start..class.end.min(start + WIDTH);
                let equations = &r.equations[range.clone()];
                let mut vector = None;
                if equations.len() >= FEW {
                    vector = Some([t.pair_room, t.edge_room]);
                    for (lane, e) in equations.iter().enumerate() {
                        let places = |room: usize| (room + lane..).step_by(WIDTH).map(|at| at as u32);
                        t.pairs[e.pairs.clone()]
                            .iter_mut()
                            .zip(places(t.pair_room))
                            .for_each(|(p, at)| *p = at);
                        t.edges[e.edges.clone()]
                            .iter_mut()
                            .zip(places(t.edge_room))
                            .for_each(|(e, at)| *e = at);
                    }
                    t.pair_room += equations[0].pairs.len() * WIDTH;
                    t.edge_room += equations[0].edges.len() * WIDTH;
                }
                t.groups.push(Group { equations: range, vector });
                // The pairs of the last order come first, and its classes end with them.
                let pairs = equations[equations.len() - 1].pairs.end;
                if pairs == r.last_pairs {
                    fill(&mut t.pairs[..pairs], &mut t.pair_room);
                    t.last_pairs = t.pair_room;
                }
            }
        }
        fill(&mut t.pairs, &mut t.pair_room);
        // Not into free lanes: weights are computed by eights.
        for place in t.edges.iter_mut().filter(|at| **at == u32::MAX) {
            *place = t.edge_room as u32;
            t.edge_room += 1;
        }
        t
    }
}

/// Gives what has no place yet the places that are free, then new ones.
fn fill(places: &mut [u32], room: &mut usize) {
    let mut taken = vec![false; *room];
    for &at in places.iter().filter(|&&at| at != u32::MAX) {
        taken[at as usize] = true;
    }
    let mut free = (0..*room).filter(|&at| !taken[at]).collect::<Vec<_>>().into_iter();
    for place in places.iter_mut().filter(|at| **at == u32::MAX) {
        *place = free.next().unwrap_or_else(|| {
            *room += 1;
            *room - 1
        }) as u32;
    }
    *room = room.next_multiple_of(WIDTH);
}

/// Where the newest coefficients are kept, by row: state, unknowns, then class by class, each from a multiple of eight.
pub(crate) fn slots(
    r: &Recurrence,
    groups: &[Group],
    dimension: usize,
    blocks: &[Range<RowIndex>],
) -> (Vec<u32>, usize) {
    let mut slots = vec![u32::MAX; r.rows];
    let mut room = 0;
    let mut place = |rows: &mut dyn Iterator<Item = RowIndex>| {
        room = usize::next_multiple_of(room, WIDTH);
        for row in rows {
            let slot = &mut slots[row as usize];
            if *slot == u32::MAX {
                *slot = room as u32;
                room += 1;
            }
        }
    };
    place(&mut (0..=dimension as RowIndex));
    for block in blocks {
        place(&mut block.clone());
    }
    for vectors in [true, false] {
        for group in groups.iter().filter(|g| g.vector.is_some() == vectors) {
            place(&mut r.equations[group.equations.clone()].iter().map(|e| e.out));
        }
    }
    place(&mut (0..r.rows as RowIndex));
    // Vectors may read beyond the end.
    (slots, room + WIDTH)
}
