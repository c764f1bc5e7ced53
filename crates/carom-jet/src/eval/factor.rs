//! Factorisation of a block matrix, once per step; solves for every order.
//!
//! ```text
//! M = L D Lᵀ   (symmetric, no pivoting: safe when the leading part is positive definite and the rest is −A W⁻¹ Aᵀ)
//! Pᵀ M P = L D Lᵀ  (the same, sparse: order and pattern were chosen at compile time)
//! M = G⁻¹ U    (otherwise, or when a pivot of the first form has lost too many digits: P M = L U, G = L⁻¹ P)
//! ```
//!
//! G has the exchanges of rows in its numbers: x = U⁻¹ G b is the same sequence of operations whatever the pivots were, as
//! machine code and lanes need it.
//!
//! Promise: an answer is backward stable, or the matrix is reported singular with the row that has no pivot left.

use crate::eval::element::Element;
use crate::ir::elimination::{Elimination, FactorEntry};
#[cfg(doc)]
use crate::ir::layout::Pivoted;
use crate::ir::tape::{Block, Value};

/// A pivot of LDLᵀ smaller than this part of what was subtracted to get it sends the matrix to pivoted LU. LDLᵀ of a
/// positive definite matrix is stable whatever its pivots, so this is not about accuracy there: it only says when the
/// question "definite or not?" is no longer answered by the sign of the pivot.
const LOST: f64 = 1e-7;

/// Size relative to its row and its column below which a pivot of LU is rounding, per unknown.
const SINGULAR: f64 = 4.0 * f64::EPSILON;

/// Is the sign of a pivot beyond doubt, given the sum of what it was computed from?
#[inline(always)]
pub(crate) fn healthy(pivot: f64, size: f64) -> bool {
    size.is_finite() && pivot.abs() > LOST * size
}

/// Which factorisation the last matrix got.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FactorKind {
    Dense,
    Sparse,
    Pivoted,
}

/// A factored matrix. Storage is reused from step to step.
#[derive(Clone, Debug)]
pub(crate) struct Factor {
    n: usize,
    kind: FactorKind,
    /// Row-major: L below the diagonal, then 1/D on it (LDLᵀ) or U with reciprocal diagonal (LU). Made when needed.
    a: Vec<f64>,
    /// G = L⁻¹ P, row-major. Made when needed.
    g: Vec<f64>,
    /// Row exchanges of LU, as the original row at each position.
    order: Vec<usize>,
    scratch: Vec<f64>,
    /// Entries of a sparse L, and reciprocal pivots.
    lower: Vec<f64>,
    pivots: Vec<f64>,
    /// s a_i of every support.
    multiples: Vec<f64>,
    /// Rows without diagonal entry.
    loose: Vec<bool>,
    /// How far these are from depending on the others: see [`firm`].
    firmness: f64,
}

/// Which rows of a block have no diagonal entry: the constraint rows of [[W, Aᵀ], [A, 0]].
pub(crate) fn loose(block: &Block) -> Vec<bool> {
    let mut loose = vec![true; block.size];
    block.entries.iter().filter(|(i, j, _)| i == j).for_each(|(i, ..)| loose[*i as usize] = false);
    loose
}

/// Has the firmness of the constraint rows fallen to this part of the greatest it had, or so far that they may have begun
/// near an instant at which they depend on each other?
#[inline(always)]
pub fn weak(part: f64, firmness: f64, firmest: f64) -> bool {
    // Also true for what is not a number.
    let square = part * part;
    !(firmness > part * firmest && firmness > square * square)
}

/// The pivot of a constraint row as a part of what it was computed from: sin² of the angle between the row and those
/// eliminated before it, in the metric of the others. Zero where rows depend on each other.
#[inline(always)]
pub(crate) fn firm(least: f64, pivot: f64, size: f64) -> f64 {
    let part = pivot.abs() / size;
    // Not a number counts as nothing.
    if part >= least {
        least
    } else if part >= 0.0 {
        part
    } else {
        0.0
    }
}

impl Factor {
    pub(crate) fn new(block: &Block) -> Factor {
        let n = block.size;
        Factor {
            n,
            kind: FactorKind::Dense,
            a: Vec::new(),
            g: Vec::new(),
            order: (0..n).collect(),
            scratch: vec![0.0; n],
            lower: vec![0.0; block.elimination.as_ref().map_or(0, |e| e.columns.len())],
            pivots: vec![0.0; n],
            multiples: Vec::new(),
            loose: loose(block),
            firmness: 1.0,
        }
    }

    /// Factors the block's matrix, whose entries `value` gives.
    /// On failure: the row without pivot, and its size relative to the row before elimination.
    pub(crate) fn factor(&mut self, block: &Block, value: impl Fn(Value) -> f64) -> Result<(), (usize, f64)> {
        if self.without_pivoting(block, &value) {
            return Ok(());
        }
        self.kind = FactorKind::Pivoted;
        self.fill_both_halves(block, &value);
        if !self.diagonal_first() {
            self.fill_both_halves(block, &value);
            self.firmness = 0.0;
            self.lu()?;
        }
        self.gather_exchanges();
        Ok(())
    }

    fn fill_both_halves(&mut self, block: &Block, value: &impl Fn(Value) -> f64) {
        self.fill(block, value);
        if block.symmetric {
            for i in 0..self.n {
                for j in 0..i {
                    self.a[j * self.n + i] = self.a[i * self.n + j];
                }
            }
        }
    }

    /// LU of [[D, Aᵀ], [B, 0]] with a diagonal D, in the order of the rows: what remains for the constraint rows is −B D⁻¹ Aᵀ
    /// (A H_pp Aᵀ of a Hamiltonian), whose pivots are compared with what they were computed from, so that no unit chooses
    /// them. False for other matrices, or when a pivot is doubtful.
    fn diagonal_first(&mut self) -> bool {
        let n = self.n;
        let loose = &self.loose;
        let first = loose.iter().position(|x| *x).unwrap_or(n);
        let diagonal = |i: usize, j: usize| self.a[i * n + j] == 0.0 || i == j;
        let constraint_rows = loose[first..].iter().all(|x| *x) && first < n;
        if !constraint_rows || !(0..first).all(|i| (0..first).all(|j| diagonal(i, j))) {
            return false;
        }
        self.firmness = 1.0;
        for k in 0..n {
            self.order[k] = k;
            let (top, bottom) = self.a.split_at_mut((k + 1) * n);
            let pivot_row = &mut top[k * n..];
            let pivot = pivot_row[k];
            // `scratch` sums what the pivots of constraint rows are computed from.
            let size = if k < first { pivot.abs() } else { self.scratch[k] };
            if pivot == 0.0 || !healthy(pivot, size) {
                return false;
            }
            if k >= first {
                self.firmness = firm(self.firmness, pivot, size);
            }
            pivot_row[k] = 1.0 / pivot;
            for (i, row) in (k + 1..n).zip(bottom.chunks_exact_mut(n)) {
                if k == 0 {
                    self.scratch[i] = 0.0;
                }
                let l = row[k] * pivot_row[k];
                row[k] = l;
                if l != 0.0 {
                    (k + 1..n).for_each(|j| row[j] -= l * pivot_row[j]);
                    self.scratch[i] += (l * pivot_row[i]).abs();
                }
            }
        }
        true
    }

    /// The least part of a constraint row that was left as its pivot; 1 without such rows.
    pub(crate) fn firmness(&self) -> f64 {
        self.firmness
    }

    /// G and U of a matrix that needed pivoting, as [`Pivoted`] has them.
    pub(crate) fn general(&self) -> impl Iterator<Item = f64> {
        let n = self.n;
        let upper = (0..n).flat_map(move |i| &self.a[i * n + i..(i + 1) * n]);
        self.g.iter().chain(upper).copied()
    }

    /// The symmetric forms only; false when a pivot is doubtful.
    pub(crate) fn without_pivoting(&mut self, block: &Block, value: &impl Fn(Value) -> f64) -> bool {
        if let Some(elimination) = &block.elimination {
            self.kind = FactorKind::Sparse;
            return self.sparse(block, elimination, value);
        }
        if !block.symmetric {
            return false;
        }
        self.kind = FactorKind::Dense;
        self.fill(block, value);
        self.ldl()
    }

    fn fill(&mut self, block: &Block, value: &impl Fn(Value) -> f64) {
        self.a.clear();
        self.a.resize(self.n * self.n, 0.0);
        for &(i, j, entry) in &block.entries {
            self.a[i as usize * self.n + j as usize] = value(entry);
        }
    }

    /// L D Lᵀ on the pattern of the elimination. False when a pivot is doubtful.
    fn sparse(&mut self, block: &Block, e: &Elimination, value: &impl Fn(Value) -> f64) -> bool {
        self.lower.fill(0.0);
        self.pivots.fill(0.0);
        for (&(_, _, entry), place) in block.entries.iter().zip(&e.places) {
            match *place {
                FactorEntry::Diagonal(i) => self.pivots[i as usize] = value(entry),
                FactorEntry::Lower(at) => self.lower[at as usize] = value(entry),
            }
        }
        let (multiples, added) = e.support(|at| value(block.entries[at as usize].2));
        self.multiples = multiples;
        for (place, x) in added {
            match place {
                FactorEntry::Diagonal(i) => self.pivots[i as usize] += x,
                FactorEntry::Lower(at) => self.lower[at as usize] += x,
            }
        }
        let work = &mut self.scratch;
        work.fill(0.0);
        self.firmness = 1.0;
        for i in 0..self.n {
            let row = e.row(i);
            for at in row.clone() {
                work[e.columns[at] as usize] = self.lower[at];
            }
            // work becomes row i of L·D; entries outside its pattern stay zero.
            for at in row.clone() {
                let j = e.columns[at] as usize;
                let mut s = work[j];
                for m in e.row(j) {
                    s -= self.lower[m] * work[e.columns[m] as usize];
                }
                work[j] = s;
            }
            let mut pivot = self.pivots[i];
            let mut size = pivot.abs();
            for at in row {
                let j = e.columns[at] as usize;
                let ld = std::mem::take(&mut work[j]);
                let l = ld * self.pivots[j];
                pivot -= l * ld;
                size += (l * ld).abs();
                self.lower[at] = l;
            }
            if !e.healthy(pivot, size) {
                return false;
            }
            if self.loose[e.order[i] as usize] {
                self.firmness = firm(self.firmness, pivot, size);
            }
            self.pivots[i] = 1.0 / pivot;
        }
        true
    }

    /// L D Lᵀ in place, row by row. False when a pivot is doubtful.
    fn ldl(&mut self) -> bool {
        let n = self.n;
        self.firmness = 1.0;
        for i in 0..n {
            let (above, row) = self.a.split_at_mut(i * n);
            let row = &mut row[..n];
            // Row i of L·D, then of L, with D's reciprocals on the diagonals above.
            for j in 0..i {
                let lj = &above[j * n..j * n + j];
                let mut s = row[j];
                for (l, r) in lj.iter().zip(&row[..j]) {
                    s -= l * r;
                }
                row[j] = s;
            }
            let mut pivot = row[i];
            let mut size = pivot.abs();
            for j in 0..i {
                let ld = row[j];
                let l = ld * above[j * n + j];
                pivot -= l * ld;
                size += (l * ld).abs();
                row[j] = l;
            }
            if !healthy(pivot, size) {
                return false;
            }
            if self.loose[i] {
                self.firmness = firm(self.firmness, pivot, size);
            }
            row[i] = 1.0 / pivot;
        }
        true
    }

    /// LU with row scaling and partial pivoting.
    fn lu(&mut self) -> Result<(), (usize, f64)> {
        let n = self.n;
        let a = &mut self.a;
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        for i in 0..n {
            self.order[i] = i;
            let row = &a[i * n..(i + 1) * n];
            if row.iter().any(|x| !x.is_finite()) {
                return Err((i, f64::NAN));
            }
            let size = row.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            if size == 0.0 {
                return Err((i, size));
            }
            self.scratch[i] = 1.0 / size;
        }
        // A column measured in another unit is no smaller than the others.
        let columns: Vec<f64> = (0..n)
            .map(|k| (0..n).map(|i| a[i * n + k].abs() * self.scratch[i]).fold(0.0, f64::max))
            .collect();
        for k in 0..n {
            let (mut best, mut at) = (-1.0, k);
            for i in k..n {
                let size = a[i * n + k].abs() * self.scratch[i];
                if size > best {
                    (best, at) = (size, i);
                }
            }
            if best.is_nan() || best <= SINGULAR * n as f64 * columns[k] {
                // Which row is exhausted: the one with the least left in all remaining columns.
                let left = |i: usize| {
                    a[i * n + k..(i + 1) * n].iter().fold(0.0_f64, |m, x| m.max(x.abs())) * self.scratch[i]
                };
                let row = (k..n).min_by(|&i, &j| left(i).total_cmp(&left(j))).unwrap_or(k);
                return Err((self.order[row], if columns[k] > 0.0 { best / columns[k] } else { 0.0 }));
            }
            (least, most) = (least.min(best), most.max(best));
            if at != k {
                for j in 0..n {
                    a.swap(at * n + j, k * n + j);
                }
                self.order.swap(at, k);
                self.scratch.swap(at, k);
            }
            let inverse = 1.0 / a[k * n + k];
            let (top, bottom) = a.split_at_mut((k + 1) * n);
            let pivot_row = &top[k * n..];
            for row in bottom.chunks_exact_mut(n) {
                let l = row[k] * inverse;
                row[k] = l;
                if l != 0.0 {
                    for j in k + 1..n {
                        row[j] -= l * pivot_row[j];
                    }
                }
            }
            a[k * n + k] = inverse;
        }
        self.firmness = if self.loose.contains(&true) { least / most } else { 1.0 };
        Ok(())
    }

    /// G = L⁻¹ P, row by row: e_p(i) − Σ_{j<i} L_ij G_j
    fn gather_exchanges(&mut self) {
        let n = self.n;
        self.g.clear();
        self.g.resize(n * n, 0.0);
        for i in 0..n {
            let (above, row) = self.g.split_at_mut(i * n);
            let row = &mut row[..n];
            row[self.order[i]] = 1.0;
            for (j, &l) in self.a[i * n..i * n + i].iter().enumerate() {
                if l != 0.0 {
                    row.iter_mut().zip(&above[j * n..]).for_each(|(x, y)| *x -= l * y);
                }
            }
        }
    }

    /// Overwrites `b` by the solution.
    #[inline(always)]
    pub(crate) fn solve<const FUSED: bool>(&mut self, block: &Block, b: &mut [f64]) {
        match (self.kind, &block.elimination) {
            (FactorKind::Sparse, Some(e)) => {
                e.solve::<FUSED>(&self.lower, &self.pivots, &self.multiples, &mut self.scratch, b)
            }
            (FactorKind::Dense, _) => self.solve_dense::<FUSED>(b),
            _ => self.solve_pivoted::<FUSED>(b),
        }
    }

    #[inline(always)]
    fn solve_dense<const FUSED: bool>(&self, b: &mut [f64]) {
        let n = self.n;
        let a = &self.a;
        for i in 0..n {
            let mut s = b[i];
            for (l, x) in a[i * n..i * n + i].iter().zip(&b[..i]) {
                s = s.minus_product::<FUSED>(*l, *x);
            }
            b[i] = s;
        }
        for i in 0..n {
            b[i] *= a[i * n + i];
        }
        for i in (0..n).rev() {
            let x = b[i];
            for (l, y) in a[i * n..i * n + i].iter().zip(&mut b[..i]) {
                *y = y.minus_product::<FUSED>(*l, x);
            }
        }
    }

    /// y = G b, U x = y
    #[inline(always)]
    fn solve_pivoted<const FUSED: bool>(&mut self, b: &mut [f64]) {
        let n = self.n;
        for (y, row) in self.scratch.iter_mut().zip(self.g.chunks_exact(n)) {
            let products = row.iter().zip(&*b);
            *y = products.skip(1).fold(row[0] * b[0], |sum, (g, b)| sum.plus_product::<FUSED>(*b, *g));
        }
        for i in (0..n).rev() {
            let row = &self.a[i * n..(i + 1) * n];
            let x = (i + 1..n).rev().fold(self.scratch[i], |s, j| s.minus_product::<FUSED>(b[j], row[j]));
            b[i] = x * row[i];
        }
    }
}
