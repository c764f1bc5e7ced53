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
use carom_jet::dense::Echelon;

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
