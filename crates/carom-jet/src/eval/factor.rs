//! Factorisation of a block matrix by exchanges of rows, once per step; solves for every order.
//!
//! ```text
//! Pᵀ M P = L D Lᵀ    symmetric, no pivoting: safe when the leading part is positive definite and the rest is −A W⁻¹ Aᵀ
//! M = G⁻¹ U          otherwise, or when a pivot of the first form has lost too many digits: P M = L U, G = L⁻¹ P
//! ```
//!
//! The first form is in [`crate::eval::ldl`], the second one here.
//!
//! G has the exchanges of rows in its numbers: x = U⁻¹ G b is the same sequence of operations whatever the pivots were, as
//! machine code and lanes need it.
//!
//! Promise: an answer is backward stable, or the matrix is reported singular with the row that has no pivot left.

use crate::eval::element::Element;
use crate::ir::layout::Pivoted;
use crate::ir::tape::{CompiledBlock, RowIndex, TapeValue};

/// A pivot of LDLᵀ smaller than this part of what was subtracted to get it sends the matrix to pivoted LU. LDLᵀ of a
/// positive definite matrix is stable whatever its pivots, so this is not about accuracy there: it only says when the
/// question "definite or not?" is no longer answered by the sign of the pivot.
const LOST: f64 = 1e-7;

/// Size relative to its row and its column below which a pivot of LU is rounding, per unknown.
const SINGULAR: f64 = 4.0 * f64::EPSILON;

/// Is the sign of a pivot beyond doubt, given the sum of what it was computed from?
#[inline(always)]
pub(crate) fn healthy(pivot: f64, size: f64) -> bool {
    // Without branches: lanes are asked together.
    (size < f64::INFINITY) & (pivot.abs() > LOST * size)
}

/// A factored matrix. Storage is reused from step to step.
#[derive(Clone, Debug)]
pub(crate) struct Factor {
    n: usize,
    /// Did the last matrix need it?
    in_use: bool,
    /// Row-major: L below the diagonal, U with reciprocal diagonal. Made when needed.
    a: Vec<f64>,
    /// G and U as [`solve`] reads them, what it works with, and a right side. Made when needed.
    solver: Vec<f64>,
    places: Pivoted,
    /// Row exchanges of LU, as the original row at each position.
    order: Vec<usize>,
    scratch: Vec<f64>,
    /// Rows without diagonal entry.
    loose: Vec<bool>,
    /// How far these are from depending on the others: see [`firm`].
    firmness: f64,
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
    pub(crate) fn new(block: &CompiledBlock) -> Factor {
        let n = block.size;
        Factor {
            n,
            in_use: false,
            a: Vec::new(),
            solver: Vec::new(),
            places: Pivoted { size: n, factors: 0, work: n * n + n * (n + 1) / 2 },
            order: (0..n).collect(),
            scratch: vec![0.0; n],
            loose: block.without_diagonal(),
            firmness: 1.0,
        }
    }

    /// Factors the block's matrix, whose entries `value` gives.
    /// On failure: the row without pivot, and its size relative to the row before elimination.
    pub(crate) fn factor(
        &mut self,
        block: &CompiledBlock,
        value: impl Fn(TapeValue) -> f64,
    ) -> Result<(), (usize, f64)> {
        self.in_use = true;
        self.fill_both_halves(block, &value);
        if !self.diagonal_first() {
            self.fill_both_halves(block, &value);
            self.firmness = 0.0;
            self.lu()?;
        }
        self.gather_exchanges();
        Ok(())
    }

    /// Has the matrix been factored here, or is its L D Lᵀ good?
    pub(crate) fn in_use(&self) -> bool {
        self.in_use
    }

    /// The next matrix is tried without exchanges first.
    pub(crate) fn set_aside(&mut self) {
        self.in_use = false;
    }

    fn fill_both_halves(&mut self, block: &CompiledBlock, value: &impl Fn(TapeValue) -> f64) {
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
    pub(crate) fn general(&self) -> &[f64] {
        &self.solver[..self.places.work]
    }

    fn fill(&mut self, block: &CompiledBlock, value: &impl Fn(TapeValue) -> f64) {
        self.a.clear();
        self.a.resize(self.n * self.n, 0.0);
        for &(i, j, entry) in &block.entries {
            self.a[i as usize * self.n + j as usize] = value(entry);
        }
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

    /// G = L⁻¹ P, row by row: e_p(i) − Σ_{j<i} L_ij G_j; then the rows of U.
    fn gather_exchanges(&mut self) {
        let n = self.n;
        self.solver.clear();
        self.solver.resize(self.places.work + 2 * n, 0.0);
        for i in 0..n {
            let (above, row) = self.solver.split_at_mut(i * n);
            let row = &mut row[..n];
            row[self.order[i]] = 1.0;
            for (j, &l) in self.a[i * n..i * n + i].iter().enumerate() {
                if l != 0.0 {
                    row.iter_mut().zip(&above[j * n..]).for_each(|(x, y)| *x -= l * y);
                }
            }
        }
        let upper = (0..n).flat_map(|i| &self.a[i * n + i..(i + 1) * n]);
        self.solver[n * n..].iter_mut().zip(upper).for_each(|(place, x)| *place = *x);
    }

    /// Overwrites `b` by the solution.
    #[inline(always)]
    pub(crate) fn solve<const FUSED: bool>(&mut self, b: &mut [f64]) {
        let at = |i: RowIndex| i as usize;
        self.solve_at::<FUSED>(b, at, at);
    }

    /// Solves for a right side elsewhere; `right` and `out` say where it and the unknowns are, which may be the same places.
    #[inline(always)]
    pub(crate) fn solve_at<const FUSED: bool>(
        &mut self,
        elsewhere: &mut [f64],
        right: impl Fn(RowIndex) -> usize,
        out: impl Fn(RowIndex) -> usize,
    ) {
        let first = self.places.work + self.n;
        for (i, b) in (0..).zip(&mut self.solver[first..]) {
            *b = elsewhere[right(i)];
        }
        let at = |i: RowIndex| first + i as usize;
        solve::<FUSED, f64>(&self.places, &mut self.solver, at, at);
        for (i, x) in (0..).zip(&self.solver[first..]) {
            elsewhere[out(i)] = *x;
        }
    }
}

/// U⁻¹ G b:  y = G b,  U x = y; for one trajectory or for lanes. `right` and `out` say where b and x are, which may be the same places.
#[inline(always)]
pub(crate) fn solve<const FUSED: bool, T: Element>(
    f: &Pivoted,
    arena: &mut [T],
    right: impl Fn(RowIndex) -> usize,
    out: impl Fn(RowIndex) -> usize,
) {
    let n = f.size;
    for i in 0..n {
        let mut sum = arena[right(0)].times(arena[f.g(i, 0)]);
        for j in 1..n {
            sum = sum.plus_product::<FUSED>(arena[right(j as RowIndex)], arena[f.g(i, j)]);
        }
        arena[f.work + i] = sum;
    }
    for i in (0..n).rev() {
        let mut x = arena[f.work + i];
        for j in (i + 1..n).rev() {
            x = x.minus_product::<FUSED>(arena[out(j as RowIndex)], arena[f.u(i, j)]);
        }
        arena[out(i as RowIndex)] = x.times(arena[f.u(i, i)]);
    }
}
