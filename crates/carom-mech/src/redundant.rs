//! Rows that depend on others.  A_k = Σ_j c_j A_j at a state: redundant when the rest of the row follows as well,
//! contradictory when it does not.
//!
//! A dependent row is consistent when b_k = Σ_j c_j b_j and, for holonomic rows, when c_k = 0 follows where the
//! independent ones hold. Promise: every dependent row is named with its combination.

use crate::degenerate::combination;
use crate::diagnostic::Diagnostic;
use crate::mechanics::{Mechanics, RowMechanics};
use crate::sample::Samples;
use crate::state::StateValues;
use carom_expr::Dag;
use carom_jet::dense::SingularValues;

/// Constraint rows that depend on others at a state: a warning for each consistent one, an error for each
/// contradiction. The state need not satisfy the rows.
pub fn redundancies(mechanics: &Mechanics, state: &StateValues) -> Vec<Diagnostic> {
    let positions: Vec<_> = mechanics.free.iter().map(|&i| mechanics.model.coordinates[i].position).collect();
    let mut samples = Samples::at(state.symbol_values(mechanics), positions);
    dependent_rows(&mechanics.model.dag, &mut samples, &mechanics.rows)
}

/// The same at the first sample point.
pub(crate) fn dependent_rows(dag: &Dag, samples: &mut Samples, rows: &[RowMechanics]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut independent: Vec<usize> = Vec::new();
    let mut dependent: Vec<usize> = Vec::new();
    if samples.len() == 0 {
        return found;
    }
    // The rows are the columns here: there are fewer of them than coordinates, and a full rank is seen at once.
    let normals: Vec<_> = rows.iter().map(|r| r.normal.clone()).collect();
    let all = carom_jet::dense::scaled_rows(&samples.matrix(dag, 0, &normals));
    let rank = |chosen: &[usize]| {
        let columns = all.first().map_or(0, Vec::len);
        let transposed: Vec<Vec<f64>> =
            (0..columns).map(|i| chosen.iter().map(|&r| all[r][i]).collect()).collect();
        carom_jet::dense::rank(&transposed, chosen.len())
    };
    if rank(&(0..rows.len()).collect::<Vec<_>>()) == rows.len() {
        return found;
    }
    for k in 0..rows.len() {
        independent.push(k);
        if rank(&independent) < independent.len() {
            independent.pop();
            dependent.push(k);
        }
    }
    if dependent.is_empty() {
        return found;
    }
    // Stand on the independent holonomic rows, then ask whether the dependent ones hold.
    let holonomic: Vec<usize> = independent.iter().copied().filter(|&r| rows[r].position.is_some()).collect();
    let conditions: Vec<_> = holonomic.iter().filter_map(|&r| rows[r].position).collect();
    let slopes: Vec<_> = holonomic.iter().map(|&r| rows[r].normal.clone()).collect();
    let unknowns = samples.state.clone();
    let unknowns = &unknowns[..rows[0].normal.len()];
    samples.project(dag, &conditions, &slopes, unknowns);
    if samples.len() == 0 {
        return found;
    }
    for k in dependent {
        // The columns are the independent rows: Σ_j c_j A_j = A_k.
        let normals: Vec<_> = independent.iter().map(|&r| rows[r].normal.clone()).collect();
        let m = samples.matrix(dag, 0, &normals);
        let target = samples.matrix(dag, 0, std::slice::from_ref(&rows[k].normal)).remove(0);
        let transposed: Vec<Vec<f64>> =
            (0..target.len()).map(|i| m.iter().map(|row| row[i]).collect()).collect();
        let coefficients = SingularValues::of(&transposed, independent.len()).solve(&target);
        let labels: Vec<&str> = independent.iter().map(|&r| rows[r].name.as_str()).collect();
        let text = combination(&coefficients, &labels);
        let text = if text.is_empty() { "0".to_string() } else { text };
        let name = &rows[k].name;
        let mut size = 0.0;
        let mut drift = 0.0;
        for (&r, &c) in independent.iter().zip(&coefficients).chain([(&k, &-1.0)]) {
            let b = samples.values(dag, rows[r].drift)[0];
            drift += c * b.value;
            size += (c * b.magnitude).abs();
        }
        let held = match rows[k].position {
            Some(c) => {
                let c = samples.values(dag, c)[0];
                c.value.abs() <= 1e-9 * c.magnitude
            }
            None => true,
        };
        found.push(if !held || drift.abs() > 1e-9 * size {
            Diagnostic::error(format!(
                "the constraint row `{name}` contradicts the others: its normal is {text}, but it does not hold where they do"
            ))
            .with_hint(format!("remove `{name}` or correct its constant"))
        } else {
            Diagnostic::warning(format!("the constraint row `{name}` is redundant: its normal is {text}"))
                .with_hint("the motion is the same without it; multipliers are the ones of least norm")
        });
    }
    found
}
