//! Rows that stand in for missing inertia.
//!
//! W may be singular as long as it is definite on ker A (a quaternion can be scaled at no cost, a massless point be moved).
//! Then some rows a carry the directions without inertia:
//!
//! ```text
//! W + Σ_r a_rᵀ a_r   is regular  ⇔  W and these rows together have rank n
//! ```
//!
//! Promise: the fewest rows in the order tried, those that touch few coordinates first. A rank misjudged here costs time,
//! never digits.

use crate::mechanics::RowMechanics;
use crate::sample::Samples;
use carom_expr::{Dag, Expr};

/// What is left of a row, relative to it, that no longer counts.
const NOTHING: f64 = 1e-7;

/// The rows needed, ascending; none when W alone is regular.
pub(crate) fn augmentation_rows(
    dag: &Dag,
    samples: &mut Samples,
    mass_matrix: &[Vec<Expr>],
    rows: &[RowMechanics],
) -> Vec<usize> {
    let n = mass_matrix.len();
    let mut needed = Vec::new();
    if samples.len() == 0 || rows.is_empty() {
        return needed;
    }
    let w = samples.matrix(dag, 0, mass_matrix);
    let mut known = Echelon::default();
    for row in w {
        known.add(row);
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&r| rows[r].normal.iter().filter(|&&e| !dag.is_zero(e)).count());
    for r in order {
        if known.rank() == n {
            break;
        }
        let normal = samples.matrix(dag, 0, std::slice::from_ref(&rows[r].normal)).remove(0);
        if known.add(normal) {
            needed.push(r);
        }
    }
    needed.sort_unstable();
    needed
}

/// Independent rows, each with the column of its pivot, reduced by those before.
#[derive(Default)]
struct Echelon(Vec<(Vec<f64>, usize)>);

impl Echelon {
    fn rank(&self) -> usize {
        self.0.len()
    }

    /// Adds a row; false when it depends on the others.
    fn add(&mut self, mut row: Vec<f64>) -> bool {
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
        let counts = left > NOTHING * size && left.is_finite();
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
}
