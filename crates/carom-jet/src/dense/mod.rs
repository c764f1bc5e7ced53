//! Small dense linear algebra.  P M R = L U with complete pivoting, so that the rank is seen.
//!
//! Used where a few equations are solved once (a jump, a start, a projection), never inside a step. The matrix
//! is balanced first, so that unknowns of size 1 and 1e8 or a row measured in millimetres do not look like lost rank.
//! Promise: for a consistent system the solution returned has the smallest Euclidean norm; where it is the only one, powers of
//! two of rows and columns change nothing but exponents.

pub mod balance;
pub mod rank;
mod singular;

pub use balance::balance;
pub use rank::{Echelon, Pivoting, rank};
pub use singular::{SingularValues, least_norm, scaled_rows};

/// A dense matrix, row by row.
///
/// ```
/// use carom_jet::dense::Matrix;
/// let matrix = Matrix { rows: 1, columns: 2, entries: vec![1.0, 2.0] };
/// assert_eq!((matrix.times(&[3.0, 4.0]), matrix.transposed_times(&[5.0])), (vec![11.0], vec![5.0, 10.0]));
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Matrix {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Entries, row by row.
    pub entries: Vec<f64>,
}

impl Matrix {
    /// All zeros.
    pub fn zeros(rows: usize, columns: usize) -> Matrix {
        Matrix { rows, columns, entries: vec![0.0; rows * columns] }
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.entries[i * self.columns..(i + 1) * self.columns]
    }

    /// M x
    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        (0..self.rows).map(|i| dot(self.row(i), x)).collect()
    }

    /// Mᵀ y
    pub fn transposed_times(&self, y: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; self.columns];
        for (i, &yi) in y.iter().enumerate() {
            for (xj, &m) in x.iter_mut().zip(self.row(i)) {
                *xj += yi * m;
            }
        }
        x
    }
}

impl std::ops::Index<(usize, usize)> for Matrix {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.entries[i * self.columns + j]
    }
}

impl std::ops::IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.entries[i * self.columns + j]
    }
}

/// x · y
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| a * b).sum()
}

/// The largest |xᵢ|; NaN if any entry is.
pub fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, &v| if v.abs() > m || v.is_nan() { v.abs() } else { m })
}

/// A factored matrix.
///
/// ```
/// use carom_jet::dense::{Factored, Matrix};
/// let matrix = Matrix { rows: 2, columns: 2, entries: vec![2.0, 1.0, 1.0, 1.0] };
/// let factored = Factored::new(&matrix);
/// assert!(factored.is_regular());
/// let x = factored.solve(&[3.0, 2.0]);
/// assert!((x[0] - 1.0).abs() < 1e-15 && (x[1] - 1.0).abs() < 1e-15);
/// ```
#[derive(Clone, Debug)]
pub struct Factored {
    pivoting: Pivoting,
    row_scale: Vec<f64>,
    column_scale: Vec<f64>,
    /// Numerical rank.
    pub rank: usize,
    /// Orthonormal basis of the null space {x: M x = 0}.
    pub null_space: Vec<Vec<f64>>,
}

impl Factored {
    /// Factors M; any shape.
    pub fn new(matrix: &Matrix) -> Factored {
        let (m, n) = (matrix.rows, matrix.columns);
        let mut lu = matrix.clone();
        let (row_scale, column_scale) = balance(m, n, |i, j| matrix[(i, j)]);
        for i in 0..m {
            for j in 0..n {
                lu[(i, j)] *= row_scale[i] * column_scale[j];
            }
        }
        // Not finite counts as lost rank as well: nothing can be solved with it.
        let pivoting = Pivoting::of(lu, |_, first, pivot| pivot > rank::SOLVABLE * first);
        let rank = pivoting.rank;
        let mut factored = Factored { pivoting, row_scale, column_scale, rank, null_space: Vec::new() };
        factored.null_space = factored.find_null_space();
        factored
    }

    /// The natural size of unknown j: what 1 is in the scaled matrix.
    pub fn natural(&self, j: usize) -> f64 {
        self.column_scale[j]
    }

    /// How large the first `count` entries of a null vector are among all, every unknown in the unit that equilibration gave
    /// it.
    pub fn part_of_null_vector(&self, z: &[f64], count: usize) -> f64 {
        let scaled: Vec<f64> = z.iter().zip(&self.column_scale).map(|(z, s)| z / s).collect();
        largest(&scaled[..count]) / largest(&scaled)
    }

    /// Is M square with full rank?
    pub fn is_regular(&self) -> bool {
        self.pivoting.lu.rows == self.pivoting.lu.columns && self.rank == self.pivoting.lu.rows
    }

    /// The rows that carry the rank, in the order they were chosen as pivots.
    pub fn pivot_rows(&self) -> &[usize] {
        &self.pivoting.row_order[..self.rank]
    }

    /// The columns that carry the rank.
    pub fn pivot_columns(&self) -> &[usize] {
        &self.pivoting.column_order[..self.rank]
    }

    /// Solves U z = y for the first `rank` unknowns, the others given in `z`.
    fn back_substitute(&self, z: &mut [f64]) {
        for k in (0..self.rank).rev() {
            let known: f64 = (k + 1..self.rank).map(|j| self.pivoting.lu[(k, j)] * z[j]).sum();
            z[k] = (z[k] - known) / self.pivoting.lu[(k, k)];
        }
    }

    fn find_null_space(&self) -> Vec<Vec<f64>> {
        let n = self.pivoting.lu.columns;
        let mut basis: Vec<Vec<f64>> = Vec::new();
        for free in self.rank..n {
            let mut z: Vec<f64> = (0..self.rank).map(|k| -self.pivoting.lu[(k, free)]).collect();
            self.back_substitute(&mut z);
            let mut x = vec![0.0; n];
            for (k, &zk) in z.iter().enumerate() {
                x[self.pivoting.column_order[k]] = zk * self.column_scale[self.pivoting.column_order[k]];
            }
            let j = self.pivoting.column_order[free];
            x[j] = self.column_scale[j];
            // Gram–Schmidt twice is enough.
            for _ in 0..2 {
                for known in &basis {
                    let c = dot(known, &x);
                    x.iter_mut().zip(known).for_each(|(xi, ki)| *xi -= c * ki);
                }
            }
            let norm = dot(&x, &x).sqrt();
            x.iter_mut().for_each(|xi| *xi /= norm);
            basis.push(x);
        }
        basis
    }

    /// The smallest x with M x = right side on the pivot rows; the other rows hold when the system is consistent.
    pub fn solve(&self, right_side: &[f64]) -> Vec<f64> {
        let n = self.pivoting.lu.columns;
        let mut y = vec![0.0; self.rank];
        for k in 0..self.rank {
            let i = self.pivoting.row_order[k];
            let mut sum = right_side[i] * self.row_scale[i];
            for (j, yj) in y.iter().enumerate().take(k) {
                sum -= self.pivoting.lu[(k, j)] * yj;
            }
            y[k] = sum;
        }
        self.back_substitute(&mut y);
        let mut x = vec![0.0; n];
        for (k, &yk) in y.iter().enumerate() {
            x[self.pivoting.column_order[k]] = yk * self.column_scale[self.pivoting.column_order[k]];
        }
        for known in &self.null_space {
            let c = dot(known, &x);
            x.iter_mut().zip(known).for_each(|(xi, ki)| *xi -= c * ki);
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_redundant_row_gives_the_smallest_solution() {
        // x + y = 2 twice: the smallest solution is (1, 1).
        let m = Matrix { rows: 2, columns: 2, entries: vec![1.0, 1.0, 1.0, 1.0] };
        let f = Factored::new(&m);
        assert_eq!(f.rank, 1);
        let x = f.solve(&[2.0, 2.0]);
        assert!((x[0] - 1.0).abs() < 1e-15 && (x[1] - 1.0).abs() < 1e-15);
    }

    #[test]
    fn badly_scaled_masses_keep_their_rank() {
        let m = Matrix { rows: 2, columns: 2, entries: vec![1e-9, 0.0, 0.0, 1e12] };
        let f = Factored::new(&m);
        assert!(f.is_regular());
        assert_eq!(f.solve(&[1e-9, 2e12]), vec![1.0, 2.0]);
    }

    proptest! {
        #[test]
        fn the_solution_solves_and_the_null_space_is_null(
            entries in prop::collection::vec(-1.0f64..1.0, 30), x in prop::collection::vec(-1.0f64..1.0, 6)
        ) {
            let m = Matrix { rows: 5, columns: 6, entries };
            let f = Factored::new(&m);
            let right = m.times(&x);
            let solution = f.solve(&right);
            for (a, b) in m.times(&solution).iter().zip(&right) {
                prop_assert!((a - b).abs() < 1e-9, "{a} {b}");
            }
            prop_assert!(dot(&solution, &solution) <= dot(&x, &x) * (1.0 + 1e-9));
            for z in &f.null_space {
                prop_assert!(largest(&m.times(z)) < 1e-9);
            }
        }
    }
}
