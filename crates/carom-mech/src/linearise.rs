//! First-order form and its linearisation.  ẋ = f(x, u, t),  y = h(x, u, t)   →   δẋ = A δx + B δu,  δy = C δx + D δu.
//!
//! x = (q, v), or (q, p) for a Hamiltonian model; u are the table inputs; y the outputs. f contains a linear solve
//! K(x) z = r(x, u) for the accelerations and multipliers z, so its derivative is that of an implicit function:
//!
//! ```text
//! K ∂z/∂x = ∂(r − K z)/∂x   with z held fixed on the right
//! ```
//!
//! Jacobians are symbolic, the solves numeric. Redundant rows have multipliers of least norm. For a model with rows
//! or hidden conditions only directions that keep them are motions; A acts on all of them.

use crate::diagnostic::Diagnostic;
use crate::mechanics::{Dynamics, Mechanics};
use crate::state::StateValues;
use crate::symbols::{dot, gradient};
use carom_expr::{Dag, Expr};
use carom_jet::dense::SingularValues;

/// The matrices of a linearisation and what their rows and columns are.
#[derive(Clone, PartialEq, Debug)]
pub struct Linearisation {
    /// Names of the state: coordinates, then `x'` or the momenta.
    pub states: Vec<String>,
    /// Names of the table inputs.
    pub inputs: Vec<String>,
    /// Names of the outputs.
    pub outputs: Vec<String>,
    /// ẋ at the state itself.
    pub rate: Vec<f64>,
    /// ∂f/∂x
    pub a: Vec<Vec<f64>>,
    /// ∂f/∂u
    pub b: Vec<Vec<f64>>,
    /// ∂h/∂x
    pub c: Vec<Vec<f64>>,
    /// ∂h/∂u
    pub d: Vec<Vec<f64>>,
}

/// The first-order form with its linear solve left implicit: `rate` and `outputs` contain the symbols `unknowns`,
/// which solve `residual` = 0 (linear in them).
#[derive(Clone, Debug)]
pub struct StateSpace {
    /// Symbols of x.
    pub state: Vec<Expr>,
    /// Symbols of u.
    pub inputs: Vec<Expr>,
    /// Accelerations (and momentum rates), then multipliers.
    pub unknowns: Vec<Expr>,
    /// K z − r
    pub residual: Vec<Expr>,
    /// f
    pub rate: Vec<Expr>,
    /// h
    pub outputs: Vec<Expr>,
}

/// The first-order form of a model. New symbols for the multipliers (and momentum rates) are made in `dag`, a copy
/// of the model's.
pub fn state_space(mechanics: &Mechanics, dag: &mut Dag) -> StateSpace {
    let model = &mechanics.model;
    let free: Vec<_> = mechanics.free.iter().map(|&i| &model.coordinates[i]).collect();
    let q: Vec<Expr> = free.iter().map(|c| c.position).collect();
    let a: Vec<Expr> = free.iter().map(|c| c.acceleration).collect();
    let mu: Vec<Expr> = mechanics.rows.iter().map(|r| dag.symbol(&format!("mu.{}", r.name))).collect();
    let mut reaction: Vec<Expr> = Vec::new();
    for i in 0..q.len() {
        let column: Vec<Expr> = mechanics.rows.iter().map(|r| r.normal[i]).collect();
        reaction.push(dot(dag, &column, &mu));
    }
    let mut residual = Vec::new();
    let mut unknowns = a.clone();
    let (rates, state_rates): (Vec<Expr>, Vec<Expr>);
    match &mechanics.dynamics {
        Dynamics::Lagrangian(l) => {
            for i in 0..q.len() {
                let inertia = dot(dag, &l.mass_matrix[i], &a);
                let load = dag.add(l.generalized_force[i], reaction[i]);
                let left = dag.add(inertia, l.bias[i]);
                residual.push(dag.sub(left, load));
            }
            for row in &mechanics.rows {
                let moving = dot(dag, &row.normal, &a);
                residual.push(dag.add(moving, row.bias));
            }
            rates = free.iter().map(|c| c.velocity).collect();
            state_rates = rates.iter().chain(&a).copied().collect();
        }
        Dynamics::Degenerate(d) => {
            let z: Vec<Expr> = a.iter().chain(&mu).copied().collect();
            for (row, &r) in d.matrix.iter().zip(&d.right_side) {
                let left = dot(dag, row, &z);
                residual.push(dag.sub(left, r));
            }
            rates = free.iter().map(|c| c.velocity).collect();
            state_rates = rates.iter().chain(&a).copied().collect();
        }
        Dynamics::Hamiltonian(h) => {
            let p_rates: Vec<Expr> = free.iter().map(|c| dag.symbol(&format!("rate.{}", c.name))).collect();
            for i in 0..q.len() {
                let load = dag.add(h.force[i], reaction[i]);
                residual.push(dag.sub(p_rates[i], load));
                let inertia = dot(dag, &h.inverse_mass[i], &p_rates);
                let right = dag.add(inertia, h.velocity_bias[i]);
                residual.push(dag.sub(a[i], right));
            }
            for row in &mechanics.rows {
                let images: Vec<Expr> = h.inverse_mass.iter().map(|m| dot(dag, m, &p_rates)).collect();
                let moving = dot(dag, &row.normal, &images);
                residual.push(dag.add(moving, row.bias));
            }
            unknowns.extend(&p_rates);
            rates = free.iter().map(|c| c.momentum).collect();
            state_rates = h.velocity.iter().chain(&p_rates).copied().collect();
        }
    }
    unknowns.extend(&mu);
    StateSpace {
        state: q.iter().chain(&rates).copied().collect(),
        inputs: model.inputs.iter().map(|u| u.value).collect(),
        unknowns,
        residual,
        rate: state_rates,
        outputs: mechanics.outputs.clone(),
    }
}

/// Linearises a model at a state.
///
/// # Errors
/// When the accelerations are not determined there.
pub fn linearise(mechanics: &Mechanics, at: &StateValues) -> Result<Linearisation, Vec<Diagnostic>> {
    let mut dag = mechanics.model.dag.clone();
    let space = state_space(mechanics, &mut dag);
    let mut values = at.symbol_values(mechanics);
    values.resize(dag.symbol_count(), 0.0);
    let evaluate = |dag: &Dag, values: &[f64], rows: &[Vec<Expr>]| -> Vec<Vec<f64>> {
        let flat: Vec<Expr> = rows.iter().flatten().copied().collect();
        let mut numbers = dag.evaluate_all(&flat, |s| values[s.index()]).into_iter();
        rows.iter().map(|row| numbers.by_ref().take(row.len()).collect()).collect()
    };
    let jacobian = |dag: &mut Dag, es: &[Expr], by: &[Expr]| -> Vec<Vec<Expr>> {
        es.iter().map(|&e| gradient(dag, e, by)).collect()
    };
    // Unknowns are zero in `values`, so the residual is −r.
    let by_unknown = jacobian(&mut dag, &space.residual, &space.unknowns);
    let k = evaluate(&dag, &values, &by_unknown);
    let r: Vec<f64> =
        dag.evaluate_all(&space.residual, |s| values[s.index()]).into_iter().map(|x| -x).collect();
    let solver = SingularValues::of(&k, space.unknowns.len());
    let determined = space.unknowns.len() - mechanics.rows.len();
    let undetermined = solver.null_vectors().iter().any(|z| z[..determined].iter().any(|x| x.abs() > 1e-6));
    if undetermined || k.iter().flatten().chain(&r).any(|x| !x.is_finite()) {
        return Err(vec![
            Diagnostic::error("the accelerations are not determined at this state")
                .with_hint("the mass matrix is singular on the constraints here; linearise at another state"),
        ]);
    }
    for (&x, z) in space.unknowns.iter().zip(solver.solve(&r)) {
        if let Some(s) = dag.as_symbol(x) {
            values[s.index()] = z;
        }
    }
    let varied: Vec<Expr> = space.state.iter().chain(&space.inputs).copied().collect();
    let residual_slopes = jacobian(&mut dag, &space.residual, &varied);
    let residual_slopes = evaluate(&dag, &values, &residual_slopes);
    let unknown_slopes: Vec<Vec<f64>> = (0..varied.len())
        .map(|j| solver.solve(&residual_slopes.iter().map(|row| -row[j]).collect::<Vec<f64>>()))
        .collect();
    let mut total = |es: &[Expr]| -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
        let direct = jacobian(&mut dag, es, &varied);
        let through = jacobian(&mut dag, es, &space.unknowns);
        let direct = evaluate(&dag, &values, &direct);
        let through = evaluate(&dag, &values, &through);
        let full: Vec<Vec<f64>> = direct
            .iter()
            .zip(&through)
            .map(|(d, t)| {
                d.iter()
                    .zip(&unknown_slopes)
                    .map(|(d, slopes)| d + t.iter().zip(slopes).map(|(a, b)| a * b).sum::<f64>())
                    .collect()
            })
            .collect();
        let n = space.state.len();
        (full.iter().map(|r| r[..n].to_vec()).collect(), full.iter().map(|r| r[n..].to_vec()).collect())
    };
    let (a, b) = total(&space.rate);
    let (c, d) = total(&space.outputs);
    let rate = dag.evaluate_all(&space.rate, |s| values[s.index()]);
    let name = |e: Expr| dag.as_symbol(e).map_or(String::new(), |s| dag.symbol_name(s).to_string());
    Ok(Linearisation {
        states: space.state.iter().map(|&e| name(e)).collect(),
        inputs: mechanics.model.inputs.iter().map(|u| u.name.clone()).collect(),
        outputs: mechanics.model.outputs.iter().map(|o| o.name.clone()).collect(),
        rate,
        a,
        b,
        c,
        d,
    })
}
