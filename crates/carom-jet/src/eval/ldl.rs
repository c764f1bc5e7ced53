//! L D Lᵀ of a symmetric block on the pattern of its elimination, for one trajectory or for lanes; [`crate::emit`] has the same
//! operations as machine code, and there is no third text.
//!
//! ```text
//! Pᵀ M P = L D Lᵀ        row by row:  (L D)_ij = M_ij − Σ_{m<j} L_jm (L D)_im        D_i = M_ii − Σ_{j<i} L_ij (L D)_ij
//! ```
//!
//! A nearly full matrix has a full pattern. Nothing is exchanged, so nothing is decided here: pivots and what they were computed
//! from are left in the arena for the caller to examine.

use crate::eval::element::Element;
use crate::eval::factor::healthy;
use crate::ir::elimination::{Elimination, FactorEntry};
use crate::ir::layout::Factors;
use crate::ir::tape::{CompiledBlock, RowIndex, TapeValue};

/// With augmentation rows a small pivot says that s aᵀa, which is none of the data, covers it: digits are lost sooner.
const STRICTER: f64 = 1e3;

/// How much more the sum a pivot was computed from counts than without augmentation rows.
#[inline(always)]
pub(crate) fn strictness(pattern: &Elimination) -> f64 {
    if pattern.augmentation_rows.is_empty() { 1.0 } else { STRICTER }
}

/// Every s a_i of the augmentation rows, and what is added to the matrix.
fn augmentation<T: Element>(e: &Elimination, entry: impl Fn(u32) -> T) -> (Vec<T>, Vec<(FactorEntry, T)>) {
    let (mut multiples, mut added) = (Vec::new(), Vec::new());
    for row in &e.augmentation_rows {
        let entries = row.entries.iter().map(|&at| entry(at));
        let diagonal = row.diagonal.iter().map(|&at| entry(at));
        let inertia = diagonal.map(T::abs).reduce(T::plus).unwrap_or(T::splat(0.0));
        let square = entries.clone().map(|x| x.times(x)).reduce(T::plus).unwrap_or(T::splat(0.0));
        let s = inertia.over(square);
        multiples.extend(entries.map(|x| s.times(x)));
        let product = |&(m, other, place): &(u32, u32, FactorEntry)| {
            (place, T::times(multiples[m as usize], entry(other)))
        };
        added.extend(row.products.iter().map(product));
    }
    (multiples, added)
}

/// Factors the block whose entries `value` gives; everything has its place in the arena.
#[inline(always)]
pub(crate) fn factor<T: Element>(
    f: &Factors,
    block: &CompiledBlock,
    arena: &mut [T],
    value: impl Fn(&[T], TapeValue) -> T,
) {
    let e = &f.pattern;
    let zero = T::splat(0.0);
    arena[f.lower..f.lower + e.columns.len()].fill(zero);
    arena[f.pivots..f.pivots + block.size].fill(zero);
    let index = |place: FactorEntry| match place {
        FactorEntry::Diagonal(i) => f.pivots + i as usize,
        FactorEntry::Lower(at) => f.lower + at as usize,
    };
    for (&(_, _, entry), place) in block.entries.iter().zip(&e.places) {
        arena[index(*place)] = value(arena, entry);
    }
    if !e.augmentation_rows.is_empty() {
        let (multiples, added) = augmentation(e, |at| value(arena, block.entries[at as usize].2));
        arena[f.multiples..][..multiples.len()].copy_from_slice(&multiples);
        for (place, x) in added {
            arena[index(place)] = arena[index(place)].plus(x);
        }
    }
    arena[f.work..f.work + block.size].fill(zero);
    for i in 0..block.size {
        for at in e.row(i) {
            arena[f.work + e.columns[at] as usize] = arena[f.lower + at];
        }
        // The work becomes row i of L·D; entries outside its pattern stay zero.
        for at in e.row(i) {
            let j = e.columns[at] as usize;
            let mut s = arena[f.work + j];
            for m in e.row(j) {
                s = s.minus(arena[f.lower + m].times(arena[f.work + e.columns[m] as usize]));
            }
            arena[f.work + j] = s;
        }
        let mut pivot = arena[f.pivots + i];
        let mut size = pivot.abs();
        for at in e.row(i) {
            let j = e.columns[at] as usize;
            let ld = std::mem::replace(&mut arena[f.work + j], zero);
            let l = ld.times(arena[f.pivots + j]);
            let product = l.times(ld);
            pivot = pivot.minus(product);
            size = size.plus(product.abs());
            arena[f.lower + at] = l;
        }
        arena[f.checks + i] = pivot;
        arena[f.checks + block.size + i] = size;
        arena[f.pivots + i] = T::splat(1.0).over(pivot);
    }
}

/// L D Lᵀ x = b; `right` and `out` say where b and x are, which may be the same places.
#[inline(always)]
pub(crate) fn solve<const FUSED: bool, T: Element>(
    f: &Factors,
    arena: &mut [T],
    right: impl Fn(RowIndex) -> usize,
    out: impl Fn(RowIndex) -> usize,
) {
    let e = &f.pattern;
    let n = e.order.len();
    for (i, &unknown) in e.order.iter().enumerate() {
        let mut s = arena[right(unknown)];
        for &(m, row) in e.borrowed(i) {
            s = s.plus_product::<FUSED>(arena[right(row)], arena[f.multiples + m as usize]);
        }
        for at in e.row(i) {
            s = s.minus_product::<FUSED>(arena[f.lower + at], arena[f.work + e.columns[at] as usize]);
        }
        arena[f.work + i] = s;
    }
    for i in 0..n {
        arena[f.work + i] = arena[f.work + i].times(arena[f.pivots + i]);
    }
    for i in (0..n).rev() {
        let x = arena[f.work + i];
        for at in e.row(i) {
            let j = f.work + e.columns[at] as usize;
            arena[j] = arena[j].minus_product::<FUSED>(arena[f.lower + at], x);
        }
        arena[out(e.order[i])] = x;
    }
}

/// The same with a right side that is not in the arena.
pub(crate) fn solve_elsewhere(f: &Factors, arena: &mut [f64], b: &mut [f64]) {
    let room = f.work + f.pattern.order.len();
    arena[room..room + b.len()].copy_from_slice(b);
    let at = |i: RowIndex| room + i as usize;
    solve::<false, f64>(f, arena, at, at);
    b.copy_from_slice(&arena[room..room + b.len()]);
}

/// Are all pivots of a single trajectory beyond doubt?
pub(crate) fn is_healthy(f: &Factors, arena: &[f64]) -> bool {
    let n = f.pattern.order.len();
    let (pivots, sizes) = arena[f.checks..][..2 * n].split_at(n);
    let strictness = strictness(&f.pattern);
    pivots.iter().zip(sizes).all(|(p, s)| healthy(*p, strictness * s))
}
