//! What the names of a fit mean: quantities that are fitted, walls, and signals as formulas with their derivatives.

use crate::refusal::Refusal;
use carom_expr::Expr;
use carom_jet::values::Evaluator;
use carom_mech::{Dynamics, Mechanics};
use carom_run::{Direction, Observable};

/// A signal as a formula of state and parameters, with its derivatives.
pub(super) struct FittedSignal {
    pub formulas: Evaluator,
    pub value: usize,
    pub by_state: Vec<usize>,
    pub by_parameter: Vec<usize>,
}

/// Eigenvalues and eigenvectors (rows) of a small symmetric matrix, by Jacobi rotations.
pub(super) fn symmetric_eigen(mut a: Vec<Vec<f64>>) -> (Vec<f64>, Vec<Vec<f64>>) {
    let n = a.len();
    let mut v: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for _ in 0..60 {
        let mut off = 0.0f64;
        for p in 0..n {
            for q in p + 1..n {
                off = off.max(a[p][q].abs());
                if a[p][q] == 0.0 {
                    continue;
                }
                let tangent = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = tangent.signum() / (tangent.abs() + tangent.hypot(1.0));
                let t = if tangent == 0.0 { 1.0 } else { t };
                let c = 1.0 / t.hypot(1.0);
                let s = t * c;
                for row in &mut a {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
                for m in [&mut a, &mut v] {
                    let (x, y) = (m[p].clone(), m[q].clone());
                    m[p] = x.iter().zip(&y).map(|(x, y)| c * x - s * y).collect();
                    m[q] = x.iter().zip(&y).map(|(x, y)| s * x + c * y).collect();
                }
            }
        }
        if off < 1e-300 {
            break;
        }
    }
    ((0..n).map(|i| a[i][i]).collect(), v)
}

fn nearest(name: &str, names: &[String]) -> String {
    match carom_expr::nearest(name, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", names.join(", ")),
    }
}

pub(super) fn direction(mechanics: &Mechanics, name: &str) -> Result<Direction, Refusal> {
    let model = &mechanics.model;
    if let Some(i) = model.parameters.iter().position(|p| p.name == name) {
        return Ok(Direction::Parameter(i));
    }
    let starts = Direction::starts(mechanics);
    if let Some(found) = starts.iter().find(|d| d.name(mechanics) == name) {
        return Ok(*found);
    }
    let mut names: Vec<String> = model.parameters.iter().map(|p| p.name.clone()).collect();
    names.extend(starts.iter().map(|d| d.name(mechanics)));
    Err(Refusal::wrong(
        format!("there is no parameter or start value `{name}` to fit"),
        nearest(name, &names),
    ))
}

pub(super) fn wall(mechanics: &Mechanics, name: &str) -> Result<usize, Refusal> {
    let names: Vec<String> = mechanics.model.walls.iter().map(|w| w.name.clone()).collect();
    names.iter().position(|n| n == name).ok_or_else(|| {
        let hint = if names.is_empty() { "this model has no wall".to_owned() } else { nearest(name, &names) };
        Refusal::wrong(format!("the data has impacts on `{name}`, and there is no such wall"), hint)
    })
}

pub(super) fn signal(mechanics: &Mechanics, name: &str) -> Result<FittedSignal, Refusal> {
    let model = &mechanics.model;
    let known = Observable::all(mechanics);
    let Some((_, observable)) = known.iter().find(|(n, _)| n == name) else {
        let names: Vec<String> = known.into_iter().map(|k| k.0).collect();
        return Err(Refusal::wrong(
            format!("the data has a column `{name}`, and there is no such signal"),
            nearest(name, &names),
        ));
    };
    let expr = &match *observable {
        Observable::Position(i) => mechanics.positions[i],
        Observable::Velocity(i) => mechanics.velocities[i],
        Observable::Momentum(i) => mechanics.momenta[i],
        Observable::Hamiltonian => mechanics.hamiltonian,
        Observable::Energy => mechanics.energy,
        Observable::Output(i) => mechanics.outputs[i],
    };
    let mut dag = model.dag.clone();
    let accelerations = model.coordinates.iter().any(|c| dag.contains(*expr, c.acceleration));
    let inputs =
        model.inputs.iter().any(|u| [u.value, u.rate, u.second].iter().any(|&x| dag.contains(*expr, x)));
    if accelerations || inputs {
        let what = if accelerations { "accelerations" } else { "table inputs" };
        return Err(Refusal::wrong(
            format!("`{name}` contains {what}, whose derivatives are not known"),
            "fit to positions, velocities or outputs made of them",
        ));
    }
    let hamiltonian = matches!(mechanics.dynamics, Dynamics::Hamiltonian(_));
    let free = || mechanics.free.iter().map(|&i| &model.coordinates[i]);
    let state: Vec<Expr> = free()
        .map(|c| c.position)
        .chain(free().map(|c| if hamiltonian { c.momentum } else { c.velocity }))
        .collect();
    let by_state: Vec<Expr> = state.iter().map(|&x| dag.derivative(*expr, x)).collect();
    let by_parameter: Vec<Expr> = model.parameters.iter().map(|p| dag.derivative(*expr, p.symbol)).collect();
    let mut formulas = Evaluator::default();
    let value = formulas.add(&dag, *expr);
    let by_state = by_state.iter().map(|&e| formulas.add(&dag, e)).collect();
    let by_parameter = by_parameter.iter().map(|&e| formulas.add(&dag, e)).collect();
    Ok(FittedSignal { formulas, value, by_state, by_parameter })
}
