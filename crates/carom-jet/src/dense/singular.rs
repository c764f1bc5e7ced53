//! Small dense matrices of doubles: singular values for rank decisions, null vectors and minimum-norm solutions.
//!
//! One-sided Jacobi: the columns of M are rotated until they are orthogonal, M V = U Σ. It is slow for large
//! matrices and accurate for all of them, so elimination is tried first and trusted only when it leaves no doubt.

use super::rank::{SINGULAR_VALUE, WELL_CONDITIONED};

/// M = U Σ Vᵀ with the columns of V complete.
///
/// ```
/// use carom_jet::dense::SingularValues;
/// let found = SingularValues::of(&[vec![3.0, 0.0], vec![0.0, 0.0]], 2);
/// assert_eq!((found.rank(), found.values[0]), (1, 3.0));
/// assert_eq!(found.null_vectors()[0][1].abs(), 1.0);
/// ```
pub struct SingularValues {
    /// Columns of U Σ (not normalised), one per column of M.
    scaled: Vec<Vec<f64>>,
    /// Columns of V.
    pub right: Vec<Vec<f64>>,
    /// Singular values in the same order, descending.
    pub values: Vec<f64>,
}

impl SingularValues {
    /// Decomposes a matrix given by rows; `columns` is needed when there are none.
    pub fn of(rows: &[Vec<f64>], columns: usize) -> SingularValues {
        let mut u: Vec<Vec<f64>> = (0..columns).map(|j| rows.iter().map(|r| r[j]).collect()).collect();
        let mut v: Vec<Vec<f64>> =
            (0..columns).map(|j| (0..columns).map(|i| f64::from(u8::from(i == j))).collect()).collect();
        // Columns that cancelled to rounding carry no direction; rotating them would never end.
        let total: f64 = u.iter().flatten().map(|x| x * x).sum();
        let floor = 4.0 * f64::EPSILON * f64::EPSILON * total;
        // Quadratic convergence: 60 sweeps are far more than any matrix needs.
        for _ in 0..60 {
            let mut rotated = false;
            for i in 0..columns {
                for j in i + 1..columns {
                    let (mut a, mut b, mut c) = (0.0, 0.0, 0.0);
                    for (x, y) in u[i].iter().zip(&u[j]) {
                        a += x * x;
                        b += y * y;
                        c += x * y;
                    }
                    if c.abs() <= floor || c.abs() <= f64::EPSILON * (a * b).sqrt() {
                        continue;
                    }
                    rotated = true;
                    let zeta = (b - a) / (2.0 * c);
                    let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                    let cos = 1.0 / (1.0 + t * t).sqrt();
                    let sin = cos * t;
                    for set in [&mut u, &mut v] {
                        let (left, right) = set.split_at_mut(j);
                        for (x, y) in left[i].iter_mut().zip(right[0].iter_mut()) {
                            (*x, *y) = (cos * *x - sin * *y, sin * *x + cos * *y);
                        }
                    }
                }
            }
            if !rotated {
                break;
            }
        }
        let norms: Vec<f64> = u.iter().map(|c| c.iter().map(|x| x * x).sum::<f64>().sqrt()).collect();
        let mut order: Vec<usize> = (0..columns).collect();
        order.sort_by(|&i, &j| norms[j].total_cmp(&norms[i]));
        SingularValues {
            scaled: order.iter().map(|&i| u[i].clone()).collect(),
            right: order.iter().map(|&i| v[i].clone()).collect(),
            values: order.iter().map(|&i| norms[i]).collect(),
        }
    }

    /// Number of singular values that are not zero.
    pub fn rank(&self) -> usize {
        let largest = self.values.first().copied().unwrap_or(0.0);
        self.values.iter().filter(|&&s| s > SINGULAR_VALUE * largest && s > f64::MIN_POSITIVE).count()
    }

    /// Orthonormal right null vectors.
    pub fn null_vectors(&self) -> &[Vec<f64>] {
        &self.right[self.rank()..]
    }

    /// The solution of M x = b of least residual and least norm.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; self.right.len()];
        for k in 0..self.rank() {
            let s2 = self.values[k] * self.values[k];
            let c = self.scaled[k].iter().zip(b).map(|(u, b)| u * b).sum::<f64>() / s2;
            for (x, v) in x.iter_mut().zip(&self.right[k]) {
                *x += c * v;
            }
        }
        x
    }
}

/// The x of least norm with M x = b (`carom_jet::dense::least_norm(&[vec![1.0, 1.0]], 2, &[2.0])` is [1, 1]): through M Mᵀ y = b when that is well conditioned, else by singular values.
pub fn least_norm(rows: &[Vec<f64>], columns: usize, b: &[f64]) -> Vec<f64> {
    let n = rows.len();
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let filled: Vec<Vec<usize>> =
        rows.iter().map(|r| (0..columns).filter(|&j| r[j] != 0.0).collect()).collect();
    let sparse_dot = |i: usize, j: usize| filled[i].iter().map(|&k| rows[i][k] * rows[j][k]).sum::<f64>();
    // Cholesky of M Mᵀ, row by row.
    let mut l = vec![vec![0.0; n]; n];
    for i in 0..n {
        let size = sparse_dot(i, i);
        for j in 0..=i {
            let rest = sparse_dot(i, j) - dot(&l[i][..j], &l[j][..j]);
            if i > j {
                l[i][j] = rest / l[j][j];
            } else if rest > WELL_CONDITIONED * size {
                l[i][i] = rest.sqrt();
            } else {
                return SingularValues::of(rows, columns).solve(b);
            }
        }
    }
    let mut y = b.to_vec();
    for i in 0..n {
        y[i] = (y[i] - dot(&l[i][..i], &y[..i])) / l[i][i];
    }
    for i in (0..n).rev() {
        let below: f64 = (i + 1..n).map(|k| l[k][i] * y[k]).sum();
        y[i] = (y[i] - below) / l[i][i];
    }
    (0..columns).map(|j| rows.iter().zip(&y).map(|(row, y)| row[j] * y).sum()).collect()
}

/// Rows divided by their largest entry, so that rank decisions do not depend on units of rows.
pub fn scaled_rows(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    rows.iter()
        .map(|row| {
            let size = row.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            if size > 0.0 { row.iter().map(|x| x / size).collect() } else { row.clone() }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::rank;
    use carom_expr::Random;

    #[test]
    fn a_rank_deficient_matrix_shows_its_null_vector() {
        let rows = vec![vec![1.0, 2.0, 3.0], vec![4.0, 5.0, 6.0], vec![5.0, 7.0, 9.0]];
        let s = SingularValues::of(&rows, 3);
        assert_eq!(s.rank(), 2);
        let z = &s.null_vectors()[0];
        for row in &rows {
            assert!(row.iter().zip(z).map(|(a, b)| a * b).sum::<f64>().abs() < 1e-14);
        }
        assert_eq!(rank(&rows, 3), 2);
        let x = s.solve(&[14.0, 32.0, 46.0]);
        for (row, b) in rows.iter().zip([14.0, 32.0, 46.0]) {
            assert!((row.iter().zip(&x).map(|(a, b)| a * b).sum::<f64>() - b).abs() < 1e-12);
        }
    }

    #[test]
    fn elimination_and_singular_values_agree() {
        let mut random = Random(3);
        for n in 1..8 {
            for r in 0..=n {
                // a random n×(n + 1) matrix of rank r
                let left: Vec<Vec<f64>> =
                    (0..n).map(|_| (0..r).map(|_| random.symmetric()).collect()).collect();
                let right: Vec<Vec<f64>> =
                    (0..r).map(|_| (0..=n).map(|_| random.symmetric()).collect()).collect();
                let rows: Vec<Vec<f64>> = left
                    .iter()
                    .map(|l| (0..=n).map(|j| l.iter().zip(&right).map(|(l, row)| l * row[j]).sum()).collect())
                    .collect();
                assert_eq!(rank(&rows, n + 1), r);
                assert_eq!(SingularValues::of(&rows, n + 1).rank(), r);
                let b: Vec<f64> = rows.iter().map(|row| row.iter().sum()).collect();
                let (fast, slow) = (least_norm(&rows, n + 1, &b), SingularValues::of(&rows, n + 1).solve(&b));
                for (x, y) in fast.iter().zip(&slow) {
                    assert!((x - y).abs() < 1e-6, "{fast:?} {slow:?}");
                }
            }
        }
    }
}
