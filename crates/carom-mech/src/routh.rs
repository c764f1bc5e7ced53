//! The Routh function: cyclic coordinates eliminated by their momenta.
//!
//! ```text
//! R(q_r, v_r, t; J) = L − Σ J θ̇      at θ̇ from p_θ = J
//! ```
//!
//! The equations of R in the other coordinates are those of L. Walls must not move θ (∂φ/∂θ = 0), no force may act along it and no
//! row may contain it: exactly when p_θ is an invariant that survives impacts. The impact law of R is that of L restricted, with
//! the Schur complement of W.

use crate::invariants::Invariants;
use crate::lagrangian::tidy;
use crate::mechanics::{Dynamics, Mechanics};
use carom_expr::{Dag, Expr};

/// A model without its cyclic coordinates.
#[derive(Clone, Debug)]
pub struct Routh {
    /// Model indices of the coordinates that were eliminated.
    pub cyclic: Vec<usize>,
    /// The symbols that stand for their momenta.
    pub momenta: Vec<Expr>,
    /// θ̇ of each, by the other coordinates.
    pub rates: Vec<Expr>,
    /// R
    pub function: Expr,
}

/// The Routh function of a Lagrangian model, in `dag`, the one of `invariants`; why there is none otherwise.
///
/// # Errors
/// A clause to stand after a colon.
pub fn routh(mechanics: &Mechanics, invariants: &Invariants, dag: &mut Dag) -> Result<Routh, String> {
    let Dynamics::Lagrangian(l) = &mechanics.dynamics else {
        return Err("it is made from a regular Lagrangian".to_owned());
    };
    if !mechanics.quadratic {
        return Err("the Lagrangian is not quadratic in the velocities".to_owned());
    }
    let conserved = |i: usize, slot: usize| {
        invariants.list.iter().any(|j| {
            let alone = j.direction.iter().enumerate().all(|(k, &x)| dag.is_zero(x) != (k == slot));
            let constant = dag.symbols_in(&[j.direction[slot]]).is_empty();
            alone && constant && dag.is_zero(j.gauge) && dag.is_zero(j.time_shift) && j.survives_impacts()
        }) && invariants.cyclic.contains(&i)
    };
    let slots: Vec<usize> = (0..mechanics.free.len()).filter(|&s| conserved(mechanics.free[s], s)).collect();
    if slots.is_empty() {
        return Err("no cyclic coordinate keeps its momentum through forces, rows and impacts".to_owned());
    }
    if slots.len() == mechanics.free.len() {
        return Err("every coordinate is cyclic, nothing would be left to move".to_owned());
    }
    let cyclic: Vec<usize> = slots.iter().map(|&s| mechanics.free[s]).collect();
    let coordinates = &mechanics.model.coordinates;
    let momenta: Vec<Expr> =
        cyclic.iter().map(|&i| dag.symbol(&format!("J_{}", coordinates[i].name))).collect();
    let zero = dag.zero();
    let at_rest: Vec<(Expr, Expr)> = cyclic.iter().map(|&i| (coordinates[i].velocity, zero)).collect();
    let matrix: Vec<Vec<Expr>> =
        slots.iter().map(|&s| slots.iter().map(|&k| l.mass_matrix[s][k]).collect()).collect();
    let right: Vec<Expr> = cyclic
        .iter()
        .zip(&momenta)
        .map(|(&i, &j)| {
            let rest = dag.substitute(mechanics.momenta[i], &at_rest);
            dag.sub(j, rest)
        })
        .collect();
    let Some(rates) = dag.solve_small(&matrix, &right) else {
        return Err("the rates of the cyclic coordinates are too long to write down".to_owned());
    };
    let rates: Vec<Expr> = rates.into_iter().map(|e| tidy(dag, e)).collect();
    let insert: Vec<(Expr, Expr)> =
        cyclic.iter().zip(&rates).map(|(&i, &rate)| (coordinates[i].velocity, rate)).collect();
    let mut terms = vec![dag.substitute(l.lagrangian, &insert)];
    for (&j, &rate) in momenta.iter().zip(&rates) {
        let product = dag.mul(j, rate);
        terms.push(dag.neg(product));
    }
    let function = dag.sum(&terms);
    let function = tidy(dag, function);
    Ok(Routh { cyclic, momenta, rates, function })
}
