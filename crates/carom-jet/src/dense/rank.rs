//! When rows count as dependent: all such decisions on dense matrices, each with the tolerance of its purpose.
//!
//! ```text
//! Pivoting    P M R = L U             what can be solved ([`super::Factored`]), and how far rows are from dependence
//! rank        pivots, else Σ          ranks of derived matrices, entries exact to a few units of rounding
//! Echelon     row after row           the first independent rows in an order that matters
//! ```
//!
//! A pivot may be far smaller than the singular value it stands for, never far larger: the tolerances of pivots are below
//! that of singular values.

use super::{Matrix, SingularValues};

/// A pivot below this part of the first one of a balanced matrix: nothing can be solved with it.
pub const SOLVABLE: f64 = 1e-11;

/// Singular values below this part of the largest count as zero. Entries are exact to a few units of rounding and
/// rows are scaled to size 1, so what is zero comes out below 1e-13; what a model means is far above.
pub const SINGULAR_VALUE: f64 = 1e-9;

/// Pivots above this part of the first are no zeros, whatever the singular values are; …
pub const PIVOT_WITHOUT_DOUBT: f64 = 1e-6;

/// … and below this part they are. Between the two, singular values decide.
pub const PIVOT_OF_NOTHING: f64 = 1e-12;

/// What is left of a row, as a part of it, that adds nothing to the rows before. Where only cost depends on the answer.
pub const ADDS_NOTHING: f64 = 1e-7;

/// What is left of a squared row in M Mᵀ, as a part of it, with which equations are solved without singular values.
pub const WELL_CONDITIONED: f64 = 1e-8;

/// Elimination with complete pivoting, P M R = L U, as far as pivots are accepted.
///
/// ```
/// use carom_jet::dense::{Matrix, Pivoting};
/// // The second row is twice the first and a little more.
/// let matrix = Matrix { rows: 2, columns: 2, entries: vec![1.0, 2.0, 2.0, 4.5] };
/// let found = Pivoting::of(matrix, |step, _, _| step < 1);
/// // What is left of the first row: itself without 2/4.5 of the second.
/// let (row, size) = found.refused.unwrap();
/// assert_eq!((found.rank, size), (1, 1.0 - 2.0 / 4.5 * 2.0));
/// assert_eq!(found.combination(row), [1.0, -2.0 / 4.5]);
/// ```
#[derive(Clone, Debug)]
pub struct Pivoting {
    /// L below the diagonal, U on and above it; what is left where elimination ended.
    pub lu: Matrix,
    /// Which row of M is at which place: those of the pivots in order, then the others.
    pub row_order: Vec<usize>,
    /// The same of columns.
    pub column_order: Vec<usize>,
    /// How many pivots were accepted.
    pub rank: usize,
    /// The largest entry that was left, if it was refused: the place of its row, and its size.
    pub refused: Option<(usize, f64)>,
}

impl Pivoting {
    /// Eliminates until `accept` (how many there were before, the first one, this one; sizes) refuses a pivot. Zero is refused
    /// always, and what is not a number is never one.
    pub fn of(matrix: Matrix, accept: impl Fn(usize, f64, f64) -> bool) -> Pivoting {
        let (m, n) = (matrix.rows, matrix.columns);
        let mut lu = matrix;
        let mut row_order: Vec<usize> = (0..m).collect();
        let mut column_order: Vec<usize> = (0..n).collect();
        let (mut rank, mut first, mut refused) = (0, 0.0, None);
        for k in 0..m.min(n) {
            let (mut p, mut q, mut best) = (k, k, 0.0);
            for i in k..m {
                for j in k..n {
                    if lu[(i, j)].abs() > best {
                        (p, q, best) = (i, j, lu[(i, j)].abs());
                    }
                }
            }
            if k == 0 {
                first = best;
            }
            if best == 0.0 || !accept(k, first, best) {
                refused = Some((p, best));
                break;
            }
            rank += 1;
            if p != k {
                for j in 0..n {
                    lu.entries.swap(p * n + j, k * n + j);
                }
                row_order.swap(p, k);
            }
            if q != k {
                for i in 0..m {
                    lu.entries.swap(i * n + q, i * n + k);
                }
                column_order.swap(q, k);
            }
            for i in k + 1..m {
                let factor = lu[(i, k)] / lu[(k, k)];
                lu[(i, k)] = factor;
                if factor != 0.0 {
                    for j in k + 1..n {
                        lu[(i, j)] -= factor * lu[(k, j)];
                    }
                }
            }
        }
        Pivoting { lu, row_order, column_order, rank, refused }
    }

    /// How the rows of M add up to what elimination left at this place: a row of L⁻¹ P.
    pub fn combination(&self, place: usize) -> Vec<f64> {
        let m = self.lu.rows;
        let pivots = place.min(self.rank);
        let mut sums = Matrix::zeros(pivots + 1, m);
        for (i, at) in (0..pivots).chain([place]).enumerate() {
            sums[(i, self.row_order[at])] = 1.0;
            for k in 0..i {
                let factor = self.lu[(at, k)];
                if factor != 0.0 {
                    for j in 0..m {
                        let x = sums[(k, j)];
                        sums[(i, j)] -= factor * x;
                    }
                }
            }
        }
        sums.row(pivots).to_vec()
    }
}

/// The rank, by elimination with complete pivoting when the pivots leave no doubt, else by singular values.
///
/// For the matrices of derivation: many rows with few entries each, of which only the rank is asked. [`Pivoting`] would look
/// at all of them for every pivot.
///
/// ```
/// use carom_jet::dense::rank;
/// assert_eq!(rank(&[vec![1.0, 2.0], vec![2.0, 4.0]], 2), 1);
/// ```
pub fn rank(rows: &[Vec<f64>], columns: usize) -> usize {
    let mut m = rows.to_vec();
    // The largest entry of each row and its column, up to date: sparse matrices change few rows at a time. A column that
    // had its pivot is exactly zero in the rows that are left.
    let top = |line: &[f64]| {
        let mut best = (0.0, 0);
        for (j, x) in line.iter().enumerate() {
            if x.abs() > best.0 || x.is_nan() {
                best = (x.abs(), j);
            }
        }
        best
    };
    let mut tops: Vec<(f64, usize)> = m.iter().map(|line| top(line)).collect();
    let mut largest = 0.0;
    for k in 0..m.len().min(columns) {
        let mut row = k;
        for i in k..m.len() {
            if tops[i].0 > tops[row].0 || tops[i].0.is_nan() {
                row = i;
            }
        }
        let (best, column) = tops[row];
        if k == 0 {
            largest = best;
        }
        if best <= PIVOT_OF_NOTHING * largest {
            return k;
        }
        if best < PIVOT_WITHOUT_DOUBT * largest || best.is_nan() {
            return SingularValues::of(rows, columns).rank();
        }
        m.swap(k, row);
        tops.swap(k, row);
        let (above, below) = m.split_at_mut(k + 1);
        let pivot = &above[k];
        for (line, top_of) in below.iter_mut().zip(&mut tops[k + 1..]) {
            let factor = line[column] / pivot[column];
            if factor != 0.0 {
                for (x, p) in line.iter_mut().zip(pivot) {
                    *x -= factor * p;
                }
                line[column] = 0.0;
                *top_of = top(line);
            }
        }
    }
    m.len().min(columns)
}

/// Independent rows, each with the column of its pivot, reduced by those before.
///
/// ```
/// let mut known = carom_jet::dense::Echelon::default();
/// assert!(known.add(vec![1.0, 2.0]) && !known.add(vec![2.0, 4.0]));
/// assert_eq!(known.rank(), 1);
/// ```
#[derive(Clone, Default, Debug)]
pub struct Echelon(Vec<(Vec<f64>, usize)>);

impl Echelon {
    /// How many there are.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// Adds a row; false when it depends on the others.
    pub fn add(&mut self, mut row: Vec<f64>) -> bool {
        let size = row.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        for (other, column) in &self.0 {
            let factor = row[*column] / other[*column];
            if factor != 0.0 {
                row.iter_mut().zip(other).for_each(|(x, y)| *x -= factor * y);
                row[*column] = 0.0;
            }
        }
        let (column, left) =
            row.iter().map(|x| x.abs()).enumerate().fold((0, 0.0), |m, x| if x.1 > m.1 { x } else { m });
        let counts = left > ADDS_NOTHING * size && left.is_finite();
        if counts {
            self.0.push((row, column));
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependent_rows_add_nothing() {
        let mut known = Echelon::default();
        assert!(known.add(vec![1.0, 2.0, 0.0]));
        assert!(!known.add(vec![0.5, 1.0, 0.0]));
        assert!(known.add(vec![1.0, 2.0, 1e-3]));
        assert!(!known.add(vec![0.0, 0.0, 7.0]));
        assert!(known.add(vec![1.0, 0.0, 0.0]));
        assert_eq!(known.rank(), 3);
    }
    #[test]
    fn combinations_of_rows_are_what_elimination_left() {
        let mut random = carom_expr::Random(7);
        for (m, n) in [(3, 5), (4, 4), (5, 3)] {
            let entries: Vec<f64> = (0..m * n).map(|_| random.symmetric()).collect();
            let matrix = Matrix { rows: m, columns: n, entries };
            let found = Pivoting::of(matrix.clone(), |step, _, _| step < 2);
            let (place, size) = found.refused.unwrap();
            assert_eq!(found.rank, 2);
            let left = matrix.transposed_times(&found.combination(place));
            for (j, &column) in found.column_order.iter().enumerate() {
                let expected = if j < 2 { 0.0 } else { found.lu[(place, j)] };
                assert!((left[column] - expected).abs() < 1e-14, "{left:?}");
            }
            assert!((crate::dense::largest(&left) - size).abs() < 1e-14);
        }
    }
}
