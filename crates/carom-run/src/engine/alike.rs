//! Equations of equal form side by side.
//!
//! Large systems repeat themselves: links of a chain, loops of a frame, bodies of one kind. Equations that differ only in
//! their rows form a *class*; eight of a class are evaluated as one vector ([`super::machine`]). To this end equations are
//! sorted, within what may be exchanged, by class, and the q-th pairs (and edges) of eight equations get eight places in a
//! row in the tables. What is computed does not change, only where it is kept.

use super::layout::WIDTH;
use super::recurrence::{Edge, Equation, NONE, Pair, Recurrence, Scale, Stage, Weight};
use super::tape::Row;
use std::collections::HashMap;
use std::ops::Range;

/// From so many edges on it pays: the code is then read from the second-level cache, and short code is fast code.
const LONG: usize = 400;

/// Fewer equations are evaluated one by one.
const FEW: usize = 3;

/// What two equations of a class have in common.
#[derive(PartialEq, Eq, Hash)]
struct Form {
    level: u32,
    scale: Scale,
    pairs: Vec<(bool, Kind)>,
    edges: Vec<Kind>,
}

/// What two weights have in common.
#[derive(PartialEq, Eq, Hash)]
struct Kind {
    factor: u64,
    constant: u32,
    times: bool,
    over: bool,
}

fn kind(w: &Weight) -> Kind {
    Kind { factor: w.factor.to_bits(), constant: w.constant, times: w.times != NONE, over: w.over != NONE }
}

/// Sorts the equations of a long recurrence by class; notes how many equations each class has.
pub(crate) fn sort(r: &mut Recurrence) {
    if r.edges.len() < LONG {
        return;
    }
    let (mut pairs, mut edges) = (Vec::with_capacity(r.pairs.len()), Vec::with_capacity(r.edges.len()));
    let mut equations: Vec<Equation> = Vec::with_capacity(r.equations.len());
    let mut classes = Vec::new();
    // Levels count equations of one stage between a row and what was known before the stage.
    let mut level = vec![0_u32; r.rows];
    let all: Vec<(&Equation, &[Pair], &[Edge])> = r.spread().collect();
    let mut rest = &all[..];
    for stage in &r.stages {
        let Stage::Equations(count) = *stage else { continue };
        let (stage, more) = rest.split_at(count as usize);
        rest = more;
        let mut numbers: HashMap<Form, usize> = HashMap::new();
        let mut members: Vec<(u32, Vec<usize>)> = Vec::new();
        for (i, (e, pairs, edges)) in stage.iter().enumerate() {
            let own = 1 + edges.iter().map(|e| level[e.source as usize]).max().unwrap_or(0);
            level[e.out as usize] = own;
            let form = Form {
                level: own,
                scale: e.scale,
                pairs: pairs.iter().map(|p| (p.is_square(), kind(&p.weight))).collect(),
                edges: edges.iter().map(|e| kind(&e.weight)).collect(),
            };
            let number = *numbers.entry(form).or_insert_with(|| {
                members.push((own, Vec::new()));
                members.len() - 1
            });
            members[number].1.push(i);
        }
        members.sort_by_key(|(level, _)| *level);
        for (_, class) in members {
            classes.push(class.len() as u32);
            for i in class {
                let (e, p, w) = stage[i];
                equations.push(*e);
                pairs.extend(p);
                edges.extend(w);
            }
        }
        for (e, _, _) in stage {
            level[e.out as usize] = 0;
        }
    }
    (r.pairs, r.edges, r.equations, r.classes) = (pairs, edges, equations, classes);
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
pub(crate) struct Tables {
    pub pairs: Vec<u32>,
    pub edges: Vec<u32>,
    /// Lengths; the pairs of the last order are within the first `last_pairs`.
    pub pair_room: usize,
    pub edge_room: usize,
    pub last_pairs: usize,
    /// All equations, in sequence; empty when each is evaluated by itself.
    pub groups: Vec<Group>,
}

impl Tables {
    /// One after the other.
    pub(crate) fn plain(r: &Recurrence) -> Tables {
        Tables {
            pairs: (0..r.pairs.len() as u32).collect(),
            edges: (0..r.edges.len() as u32).collect(),
            pair_room: r.pairs.len(),
            edge_room: r.edges.len(),
            last_pairs: r.last_pairs,
            groups: Vec::new(),
        }
    }

    /// By eights, as far as there are classes.
    pub(crate) fn by_eights(r: &Recurrence) -> Tables {
        if r.classes.is_empty() {
            return Tables::plain(r);
        }
        let mut t = Tables {
            pairs: vec![u32::MAX; r.pairs.len()],
            edges: vec![u32::MAX; r.edges.len()],
            ..Tables::default()
        };
        let (mut equation, mut pair, mut edge) = (0, 0, 0);
        for &count in &r.classes {
            let class = equation..equation + count as usize;
            equation = class.end;
            for start in class.clone().step_by(WIDTH) {
                let equations = start..class.end.min(start + WIDTH);
                let form = r.equations[start];
                let (pairs, edges) = (form.pairs as usize, form.edges as usize);
                let mut vector = None;
                if equations.len() >= FEW {
                    vector = Some([t.pair_room, t.edge_room]);
                    for lane in 0..equations.len() {
                        for q in 0..pairs {
                            t.pairs[pair + lane * pairs + q] = (t.pair_room + q * WIDTH + lane) as u32;
                        }
                        for q in 0..edges {
                            t.edges[edge + lane * edges + q] = (t.edge_room + q * WIDTH + lane) as u32;
                        }
                    }
                    t.pair_room += pairs * WIDTH;
                    t.edge_room += edges * WIDTH;
                }
                pair += equations.len() * pairs;
                edge += equations.len() * edges;
                t.groups.push(Group { equations, vector });
                // The pairs of the last order come first, and its classes end with them.
                if pair == r.last_pairs {
                    fill(&mut t.pairs[..pair], &mut t.pair_room);
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
    blocks: &[Range<Row>],
) -> (Vec<u32>, usize) {
    let mut slots = vec![u32::MAX; r.rows];
    let mut room = 0;
    let mut place = |rows: &mut dyn Iterator<Item = Row>| {
        room = usize::next_multiple_of(room, WIDTH);
        for row in rows {
            let slot = &mut slots[row as usize];
            if *slot == u32::MAX {
                *slot = room as u32;
                room += 1;
            }
        }
    };
    place(&mut (0..=dimension as Row));
    for block in blocks {
        place(&mut block.clone());
    }
    for vectors in [true, false] {
        for group in groups.iter().filter(|g| g.vector.is_some() == vectors) {
            place(&mut r.equations[group.equations.clone()].iter().map(|e| e.out));
        }
    }
    place(&mut (0..r.rows as Row));
    // Vectors may read beyond the end.
    (slots, room + WIDTH)
}
