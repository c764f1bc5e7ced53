//! Factorisation of a block matrix, once per step; solves for every order.
//!
//! ```text
//! M = L D Lᵀ   (symmetric, no pivoting: safe when the leading part is positive definite and the rest is −A W⁻¹ Aᵀ)
//! P M = L U    (otherwise, or when a pivot of the first form has lost too many digits)
//! ```
//!
//! Promise: an answer is backward stable, or the matrix is reported singular with the row that has no pivot left.

/// A pivot of LDLᵀ smaller than this part of what was subtracted to get it sends the matrix to pivoted LU. LDLᵀ of a
/// positive definite matrix is stable whatever its pivots, so this is not about accuracy there: it only says when the
/// question "definite or not?" is no longer answered by the sign of the pivot.
const LOST: f64 = 1e-7;

/// Relative size below which a pivot of the row-scaled LU is rounding, per unknown.
const SINGULAR: f64 = 4.0 * f64::EPSILON;

/// Is the sign of a pivot beyond doubt, given the sum of what it was computed from?
#[inline(always)]
pub(crate) fn healthy(pivot: f64, size: f64) -> bool {
    size.is_finite() && pivot.abs() > LOST * size
}

/// A factored matrix. Storage is reused from step to step.
#[derive(Clone, Debug)]
pub(crate) struct Factor {
    n: usize,
    /// Row-major: L below the diagonal, then 1/D on it (LDLᵀ) or U with reciprocal diagonal (LU).
    a: Vec<f64>,
    /// Row exchanges of LU, as the original row at each position.
    order: Vec<usize>,
    scratch: Vec<f64>,
    symmetric: bool,
}

impl Factor {
    pub(crate) fn new(n: usize) -> Factor {
        Factor { n, a: vec![0.0; n * n], order: (0..n).collect(), scratch: vec![0.0; n], symmetric: false }
    }

    pub(crate) fn size(&self) -> usize {
        self.n
    }

    /// L below and 1/D on the diagonal, when the matrix was factored without pivoting.
    pub(crate) fn symmetric(&self) -> Option<&[f64]> {
        self.symmetric.then_some(&self.a)
    }

    /// Factors the matrix that `fill` writes (row-major; the lower triangle suffices when `symmetric`).
    /// On failure: the row without pivot, and its size relative to the row before elimination.
    pub(crate) fn factor(&mut self, symmetric: bool, fill: impl Fn(&mut [f64])) -> Result<(), (usize, f64)> {
        let n = self.n;
        if symmetric {
            fill(&mut self.a);
            if self.ldl() {
                self.symmetric = true;
                return Ok(());
            }
        }
        fill(&mut self.a);
        if symmetric {
            for i in 0..n {
                for j in 0..i {
                    self.a[j * n + i] = self.a[i * n + j];
                }
            }
        }
        self.symmetric = false;
        self.lu()
    }

    /// L D Lᵀ in place, row by row. False when a pivot is doubtful.
    fn ldl(&mut self) -> bool {
        let n = self.n;
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
            row[i] = 1.0 / pivot;
        }
        true
    }

    /// LU with row scaling and partial pivoting.
    fn lu(&mut self) -> Result<(), (usize, f64)> {
        let n = self.n;
        let a = &mut self.a;
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
        for k in 0..n {
            let (mut best, mut at) = (-1.0, k);
            for i in k..n {
                let size = a[i * n + k].abs() * self.scratch[i];
                if size > best {
                    (best, at) = (size, i);
                }
            }
            if best.is_nan() || best <= SINGULAR * n as f64 {
                // Which row is exhausted: the one with the least left in all remaining columns.
                let left = |i: usize| {
                    a[i * n + k..(i + 1) * n].iter().fold(0.0_f64, |m, x| m.max(x.abs())) * self.scratch[i]
                };
                let row = (k..n).min_by(|&i, &j| left(i).total_cmp(&left(j))).unwrap_or(k);
                return Err((self.order[row], best));
            }
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
        Ok(())
    }

    /// Overwrites `b` by the solution.
    pub(crate) fn solve(&mut self, b: &mut [f64]) {
        let n = self.n;
        let a = &self.a;
        if self.symmetric {
            for i in 0..n {
                let mut s = b[i];
                for (l, x) in a[i * n..i * n + i].iter().zip(&b[..i]) {
                    s -= l * x;
                }
                b[i] = s;
            }
            for i in 0..n {
                b[i] *= a[i * n + i];
            }
            for i in (0..n).rev() {
                let x = b[i];
                for (l, y) in a[i * n..i * n + i].iter().zip(&mut b[..i]) {
                    *y -= l * x;
                }
            }
            return;
        }
        for i in 0..n {
            self.scratch[i] = b[self.order[i]];
        }
        for i in 0..n {
            let mut s = self.scratch[i];
            for (l, x) in a[i * n..i * n + i].iter().zip(&self.scratch[..i]) {
                s -= l * x;
            }
            self.scratch[i] = s;
        }
        for i in (0..n).rev() {
            let mut s = self.scratch[i];
            for (u, x) in a[i * n + i + 1..(i + 1) * n].iter().zip(&b[i + 1..n]) {
                s -= u * x;
            }
            b[i] = s * a[i * n + i];
        }
    }
}
