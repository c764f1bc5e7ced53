//! Hamilton's equations.  q̇ = H_p,  ṗ = −H_q + Q + Aᵀμ,  a = H_pp ṗ + H_pq H_p + H_pt.
//!
//! A driven coordinate q_k = f(t) is eliminated with its momentum: p_k = P(q, p, t) solves ∂H/∂p_k = ḟ, and the
//! reduced Hamiltonian is H − p_k ḟ at that p_k, which is E of the reduced Lagrangian. This needs ∂H/∂p_k linear
//! in p_k; several driven coordinates are eliminated one after the other, which gives the same stationary value.

use crate::degenerate::{combination, reduced_null_vectors};
use crate::diagnostic::Diagnostic;
use crate::lagrangian::tidy;
use crate::mechanics::RowMechanics;
use crate::model::Model;
use crate::sample::Samples;
use crate::symbols::{Symbols, dot, gradient, hessian, mentions};
use carom_expr::{Dag, Expr};
use carom_jet::dense::scaled_rows;

/// Hamilton's equations in the free coordinates, prescribed motions inserted.
pub(crate) struct Hamilton {
    /// The reduced H.
    pub hamiltonian: Expr,
    /// H_p
    pub velocity: Vec<Expr>,
    /// H_q
    pub slope: Vec<Expr>,
    /// H_pp
    pub inverse_mass: Vec<Vec<Expr>>,
    /// H_pq H_p + H_pt
    pub velocity_bias: Vec<Expr>,
    /// P per driven coordinate.
    pub driven_momenta: Vec<Expr>,
    /// ∂H/∂q_k per driven coordinate, H before reduction.
    pub driven_slopes: Vec<Expr>,
}

/// H_p, H_q, H_pp of H(q, p, t), driven coordinates eliminated.
pub(crate) fn hamilton(
    model: &mut Model,
    symbols: &mut Symbols,
    given: Expr,
) -> Result<Hamilton, Vec<Diagnostic>> {
    let dag = &mut model.dag;
    let mut reduced = symbols.inserted(dag, given);
    // p_k of drive i may still contain p_k of later drives; they are put in from the last to the first.
    let mut solutions: Vec<(Expr, Expr)> = Vec::new();
    let mut problems = Vec::new();
    for &k in &symbols.driven {
        let Some(rate) = model.coordinates[k].driven.map(|f| f.velocity) else { continue };
        let p = symbols.p[k];
        let first = dag.derivative(reduced, p);
        let second = dag.derivative(first, p);
        let second = tidy(dag, second);
        if dag.is_zero(second) || dag.contains(second, p) {
            problems.push(
                Diagnostic::error(format!(
                    "the momentum of the driven coordinate `{}` cannot be eliminated: ∂H/∂p is not linear in p",
                    model.coordinates[k].name
                ))
                .with_hint("give the model by its Lagrangian, or keep the coordinate free and prescribe it by a holonomic row"),
            );
            continue;
        }
        // ∂H/∂p_k = first(0) + second·p_k = ḟ
        let zero = dag.zero();
        let at_zero = dag.substitute(first, &[(p, zero)]);
        let difference = dag.sub(rate, at_zero);
        let solved = dag.div(difference, second);
        let solved = tidy(dag, solved);
        let at_solution = dag.substitute(reduced, &[(p, solved)]);
        let work = dag.mul(solved, rate);
        let total = dag.sub(at_solution, work);
        reduced = tidy(dag, total);
        solutions.push((p, solved));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    for i in (0..solutions.len()).rev() {
        let later = solutions[i + 1..].to_vec();
        solutions[i].1 = dag.substitute(solutions[i].1, &later);
    }
    let mut insert_all = symbols.insert.clone();
    insert_all.extend(solutions.iter().copied());
    let driven_q: Vec<Expr> = symbols.driven.iter().map(|&k| symbols.q[k]).collect();
    let driven_slopes = gradient(dag, given, &driven_q);
    let driven_slopes = dag.substitute_all(&driven_slopes, &insert_all);

    let (q, p) = (symbols.free_q(), symbols.free_p());
    let velocity: Vec<Expr> = gradient(dag, reduced, &p).into_iter().map(|e| tidy(dag, e)).collect();
    let slope: Vec<Expr> = gradient(dag, reduced, &q).into_iter().map(|e| tidy(dag, e)).collect();
    let mut inverse_mass = hessian(dag, &velocity, &p);
    for e in inverse_mass.iter_mut().flatten() {
        *e = tidy(dag, *e);
    }
    let mut velocity_bias = Vec::with_capacity(p.len());
    for &v in &velocity {
        let row = gradient(dag, v, &q);
        let carried = dot(dag, &row, &velocity);
        let explicit = symbols.explicit_rate(dag, v);
        let total = dag.add(carried, explicit);
        velocity_bias.push(tidy(dag, total));
    }
    Ok(Hamilton {
        hamiltonian: reduced,
        velocity,
        slope,
        inverse_mass,
        velocity_bias,
        driven_momenta: solutions.into_iter().map(|s| s.1).collect(),
        driven_slopes,
    })
}

/// Is H_pp free of p, so that the kinetic energy is a quadratic polynomial?
pub(crate) fn is_quadratic(dag: &Dag, inverse_mass: &[Vec<Expr>], p: &[Expr]) -> bool {
    let entries: Vec<Expr> = inverse_mass.iter().flatten().copied().collect();
    !mentions(dag, &entries, p)
}

/// Rows that no reaction can hold: combinations ν with A H_pp Aᵀν = 0 although Aᵀν ≠ 0. The reaction then pushes
/// momenta that move nothing, and μ is not determined.
pub(crate) fn unheld_rows(
    dag: &mut Dag,
    samples: &mut Samples,
    inverse_mass: &[Vec<Expr>],
    rows: &[RowMechanics],
) -> Vec<Diagnostic> {
    if rows.is_empty() || samples.len() == 0 {
        return Vec::new();
    }
    let normals: Vec<Vec<Expr>> = rows.iter().map(|r| r.normal.clone()).collect();
    let a = scaled_rows(&samples.matrix(dag, 0, &normals));
    let m = samples.matrix(dag, 0, inverse_mass);
    let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let images: Vec<Vec<f64>> =
        a.iter().map(|row| m.iter().map(|line| product(line, row)).collect()).collect();
    let gram: Vec<Vec<f64>> =
        a.iter().map(|row| images.iter().map(|image| product(row, image)).collect()).collect();
    let labels: Vec<&str> = rows.iter().map(|r| r.name.as_str()).collect();
    reduced_null_vectors(&scaled_rows(&gram), rows.len())
        .into_iter()
        .filter(|nu| {
            (0..inverse_mass.len()).any(|i| a.iter().zip(nu).map(|(row, nu)| row[i] * nu).sum::<f64>().abs() > 1e-7)
        })
        .map(|nu| {
            Diagnostic::error(format!(
                "the constraint {} cannot be held: the Hamiltonian is degenerate there, and a reaction changes no velocity",
                combination(&nu, &labels)
            ))
            .with_hint("give these coordinates a kinetic energy, or solve the constraint for one of them")
        })
        .collect()
}
