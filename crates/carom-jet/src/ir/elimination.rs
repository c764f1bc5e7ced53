//! In which order to eliminate the unknowns of a symmetric block, and where L is not zero. Decided once, at compile time.
//!
//! Minimum degree: eliminate the unknown with the fewest neighbours, connect these, repeat. Chains and trees then factor
//! in time proportional to their length. A row without diagonal entry (a constraint of [[W, Aᵀ], [A, 0]]) waits until
//! every unknown it touches is gone: its pivot is then −a W⁻¹ aᵀ of the whole row, which cannot vanish for a single
//! unlucky direction.
//!
//! W may be singular, as long as it is definite where A vanishes. Some rows a then *augment* it: with
//!
//! ```text
//! s = Σ |W_ii| / Σ a_i²  (over what the row touches)        W + s aᵀa,  b + s aᵀ b_r   in place of   W,  b
//! ```
//!
//! (a multiple of one equation added to others) the solution is the same, and every pivot is there without exchanges.

use std::collections::BTreeSet;

/// Order and pattern of a sparse L D Lᵀ.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Elimination {
    /// Position → unknown.
    pub order: Vec<u32>,
    /// Row i of L has its columns at `columns[starts[i] .. starts[i + 1]]`, ascending.
    pub starts: Vec<u32>,
    pub columns: Vec<u32>,
    /// Each entry of the block's matrix: index of L's entry, or of the diagonal when `diagonal`.
    pub places: Vec<FactorEntry>,
    pub augmentation_rows: Vec<AugmentationRow>,
    /// Position → what is added to its right side: s a_i (as its index) times the right side of a row. Empty without augmentation rows.
    pub borrowed: Vec<Vec<(u32, u32)>>,
}

/// A row that augments what it touches.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct AugmentationRow {
    /// Its entries a_i, as indices of the matrix's.
    pub entries: Vec<u32>,
    /// The entries W_ii of what it touches.
    pub diagonal: Vec<u32>,
    /// What is added: s a_i (as its index), times an entry a_j, and where.
    pub products: Vec<(u32, u32, FactorEntry)>,
}

/// Where an entry of the matrix goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FactorEntry {
    /// On the diagonal, at this position.
    Diagonal(u32),
    /// To this entry of L.
    Lower(u32),
}

/// Fuller factors than this are better stored densely.
const WORTHWHILE: f64 = 0.35;

impl Elimination {
    /// For a symmetric matrix of this size with these (row, column) entries, row ≥ column, and these augmentation rows.
    /// `None` when L would be nearly full.
    pub(crate) fn new(size: usize, entries: &[(u32, u32)], augmentation_rows: &[u32]) -> Option<Elimination> {
        let full = size * size.saturating_sub(1) / 2;
        let off_diagonal = entries.iter().filter(|(i, j)| i != j).count();
        if off_diagonal as f64 > WORTHWHILE * full as f64 {
            return None;
        }
        let mut neighbours: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); size];
        let mut has_diagonal = vec![false; size];
        let added = augmentation_rows.iter().flat_map(|&r| {
            let touched = touched(entries, r);
            touched.clone().flat_map(move |(_, i)| touched.clone().map(move |(_, j)| (i, j)))
        });
        for (i, j) in entries.iter().copied().chain(added) {
            if i == j {
                has_diagonal[i as usize] = true;
            } else {
                neighbours[i as usize].insert(j);
                neighbours[j as usize].insert(i);
            }
        }
        // How many unknowns with a diagonal each constraint row still waits for.
        let original: Vec<Vec<u32>> = neighbours.iter().map(|n| n.iter().copied().collect()).collect();
        let mut waits: Vec<usize> = (0..size)
            .map(|i| {
                if has_diagonal[i] {
                    0
                } else {
                    original[i].iter().filter(|&&j| has_diagonal[j as usize]).count()
                }
            })
            .collect();
        let mut queue: BTreeSet<(usize, u32)> =
            (0..size).filter(|&i| waits[i] == 0).map(|i| (neighbours[i].len(), i as u32)).collect();
        let mut position = vec![0_u32; size];
        let mut order = Vec::with_capacity(size);
        let mut patterns: Vec<Vec<u32>> = vec![Vec::new(); size];
        let mut fill = 0;
        while let Some((_, i)) = queue.pop_first() {
            let gone = std::mem::take(&mut neighbours[i as usize]);
            position[i as usize] = order.len() as u32;
            order.push(i);
            fill += gone.len();
            if fill as f64 > WORTHWHILE * full as f64 {
                return None;
            }
            for &j in &gone {
                let free = waits[j as usize] == 0;
                if free {
                    queue.remove(&(neighbours[j as usize].len(), j));
                }
                let set = &mut neighbours[j as usize];
                set.remove(&i);
                set.extend(gone.iter().copied().filter(|&k| k != j));
                // Column i of L has an entry in row j.
                patterns[j as usize].push(position[i as usize]);
                if free {
                    queue.insert((neighbours[j as usize].len(), j));
                }
            }
            if has_diagonal[i as usize] {
                for &j in &original[i as usize] {
                    if !has_diagonal[j as usize] {
                        waits[j as usize] -= 1;
                        if waits[j as usize] == 0 {
                            queue.insert((neighbours[j as usize].len(), j));
                        }
                    }
                }
            }
        }
        let mut starts = vec![0];
        let mut columns = Vec::new();
        for &i in &order {
            // Eliminated in ascending order of position, so each pattern is already sorted.
            columns.extend(&patterns[i as usize]);
            starts.push(columns.len() as u32);
        }
        Some(
            Elimination { order, starts, columns, ..Elimination::default() }.with(entries, augmentation_rows),
        )
    }

    /// Every entry of L, in the order of the unknowns.
    pub(crate) fn dense(size: usize, entries: &[(u32, u32)], augmentation_rows: &[u32]) -> Elimination {
        let row = |i: u32| i * i.saturating_sub(1) / 2;
        Elimination {
            order: (0..size as u32).collect(),
            starts: (0..=size as u32).map(row).collect(),
            columns: (0..size as u32).flat_map(|i| 0..i).collect(),
            ..Elimination::default()
        }
        .with(entries, augmentation_rows)
    }

    /// Says where the entries go, and what is added to them.
    fn with(self, entries: &[(u32, u32)], augmentation_rows: &[u32]) -> Elimination {
        let mut position = vec![0_u32; self.order.len()];
        for (p, &i) in self.order.iter().enumerate() {
            position[i as usize] = p as u32;
        }
        let place = |i: u32, j: u32| {
            let (p, q) = (position[i as usize], position[j as usize]);
            let (row, column) = (p.max(q), p.min(q));
            if row == column {
                return FactorEntry::Diagonal(row);
            }
            let range = self.row(row as usize);
            let within =
                self.columns[range.clone()].binary_search(&column).expect("every entry is in the pattern");
            FactorEntry::Lower((range.start + within) as u32)
        };
        let places = entries.iter().map(|&(i, j)| place(i, j)).collect();
        let (mut multiple, mut all) = (0, Vec::new());
        let mut borrowed = vec![Vec::new(); if augmentation_rows.is_empty() { 0 } else { self.order.len() }];
        for &r in augmentation_rows {
            let mut row = AugmentationRow { entries: vec![], diagonal: vec![], products: vec![] };
            for (at, i) in touched(entries, r) {
                row.entries.push(at);
                row.diagonal.extend(entries.iter().position(|e| *e == (i, i)).map(|at| at as u32));
                let upto = touched(entries, r).take(row.entries.len());
                row.products.extend(upto.map(|(other, j)| (multiple, other, place(i, j))));
                borrowed[position[i as usize] as usize].push((multiple, r));
                multiple += 1;
            }
            all.push(row);
        }
        Elimination { places, augmentation_rows: all, borrowed, ..self }
    }

    /// How many s a_i there are.
    pub(crate) fn multiples(&self) -> usize {
        self.augmentation_rows.iter().map(|s| s.entries.len()).sum()
    }

    /// What is added to the right side at position i.
    #[inline(always)]
    pub(crate) fn borrowed(&self, i: usize) -> &[(u32, u32)] {
        self.borrowed.get(i).map_or(&[], |b| &b[..])
    }

    /// The entries of row i of L.
    #[inline(always)]
    pub(crate) fn row(&self, i: usize) -> std::ops::Range<usize> {
        self.starts[i] as usize..self.starts[i + 1] as usize
    }
}

/// The entries of a row among those left of the diagonal, and the unknowns they belong to.
fn touched(entries: &[(u32, u32)], row: u32) -> impl Iterator<Item = (u32, u32)> + Clone {
    (0..).zip(entries).filter(move |(_, (i, j))| *i == row && *j != row).map(|(at, (_, j))| (at, *j))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bodies 0 … n−1 on the diagonal, rods between neighbours as constraint rows.
    fn chain(n: u32) -> Vec<(u32, u32)> {
        let mut entries: Vec<(u32, u32)> = (0..n).map(|i| (i, i)).collect();
        for i in 0..n {
            entries.push((n + i, i));
            if i > 0 {
                entries.push((n + i, i - 1));
            }
        }
        entries
    }

    #[test]
    fn a_chain_of_constraints_fills_in_linearly() {
        let count = |n: u32| Elimination::new(2 * n as usize, &chain(n), &[]).unwrap().columns.len();
        assert!(count(200) <= 2 * count(100) + 4, "{} and {}", count(100), count(200));
    }

    #[test]
    fn a_constraint_waits_for_what_it_touches() {
        let n = 20;
        let e = Elimination::new(2 * n, &chain(n as u32), &[]).unwrap();
        let position = |u: usize| e.order.iter().position(|&o| o as usize == u).unwrap();
        for i in 0..n {
            assert!(position(n + i) > position(i));
            assert!(i == 0 || position(n + i) > position(i - 1));
        }
    }

    #[test]
    fn a_full_matrix_is_left_to_the_dense_code() {
        let entries: Vec<(u32, u32)> = (0..12).flat_map(|i| (0..=i).map(move |j| (i, j))).collect();
        assert_eq!(Elimination::new(12, &entries, &[]), None);
    }
}
