//! Is a start on its rows and in front of its walls?  |f| ≤ c s, s the scale of f (`carom_expr::Scaled`).
//!
//! Inputs of the scale are |x| plus what x moves by in the coming step, which only a run knows. Here the bound
//! |v| T + |a| T² stands for it, T the time of the run: what is not zero by that is not zero for any step, so a start
//! that is refused here would be refused there. What is zero by it is for the run to decide, by the same rule. So is what all
//! of the energy could do to one coordinate, |q̇_j|² ≤ (uᵀ W u)(W⁻¹)_jj with u = |v| + |a| T.

use super::consistency::start_values;
use crate::derive::derive_equations;
use crate::mechanics::{Dynamics, Mechanics};
use crate::model::Model;
use carom_expr::{Expr, Scaled, Symbol};
use carom_jet::dense::least_norm;
use carom_jet::values::evaluate;
use std::collections::HashMap;

/// How much larger a bound may be for being computed in another order than in the run.
const LENIENT: f64 = 2.0;

/// Values and scales at the start of a model.
pub(super) struct Near {
    values: HashMap<Symbol, f64>,
    /// What symbols may move by; made when first needed.
    reach: Option<HashMap<Symbol, f64>>,
}

impl Near {
    pub fn of(model: &Model) -> Near {
        Near { values: start_values(model), reach: None }
    }

    /// The value of `e`, with the scale it has whatever moves.
    pub fn value(&self, model: &Model, e: Expr) -> Scaled {
        let value = |s: Symbol| Scaled::known(self.values.get(&s).copied().unwrap_or(0.0));
        evaluate(&model.dag, &[e], value)[0]
    }

    /// Is `x`, the value of `e`, more than `part` of its scale, whatever the coming step?
    pub fn exceeds(&mut self, model: &Model, e: Expr, x: Scaled, part: f64) -> bool {
        if !x.value.is_finite() {
            return true;
        }
        if x.value.abs() <= part * x.scale {
            return false;
        }
        let reach = self.reach.get_or_insert_with(|| reach(model, &self.values));
        let values = &self.values;
        let moving = |s: Symbol| {
            let value = values.get(&s).copied().unwrap_or(0.0);
            Scaled { value, scale: value.abs() + reach.get(&s).copied().unwrap_or(0.0) }
        };
        let scale = evaluate(&model.dag, &[e], moving)[0].scale;
        x.value.abs() > LENIENT * part * scale
    }
}

/// |v| T + |a| T² of every coordinate, |a| T of its rate, or what all of the energy could make of them; T of time itself.
/// Nothing where there are no equations of motion.
fn reach(model: &Model, values: &HashMap<Symbol, f64>) -> HashMap<Symbol, f64> {
    let time = (model.run.until - model.start.time).max(0.0);
    let Ok(m) = derive_equations(model.clone()) else { return HashMap::new() };
    let (velocity, acceleration, force) = rates(&m, values);
    let fastest = fastest(&m, values, time, &acceleration, &force);
    let mut reach = HashMap::new();
    let mut put = |e: Expr, x: f64| {
        if let Some(s) = m.model.dag.as_symbol(e) {
            reach.insert(s, x);
        }
    };
    put(m.model.time, time);
    for (k, &i) in m.free.iter().enumerate() {
        let c = &m.model.coordinates[i];
        put(c.position, time * (velocity[k].abs() + time * acceleration[k].abs()).max(fastest[k]));
        put(c.velocity, (time * acceleration[k].abs()).max(fastest[k]));
        put(c.momentum, time * force[k].abs());
    }
    reach
}

/// How fast each free coordinate could become if all of the energy went into it.
fn fastest(
    m: &Mechanics,
    values: &HashMap<Symbol, f64>,
    time: f64,
    acceleration: &[f64],
    force: &[f64],
) -> Vec<f64> {
    let n = m.free.len();
    let evaluate = |list: &[Expr]| m.model.dag.evaluate_all(list, |s| values.get(&s).copied().unwrap_or(0.0));
    let matrix = |rows: &[Vec<Expr>]| rows.iter().map(|row| evaluate(row)).collect::<Vec<_>>();
    let energy = |matrix: &[Vec<f64>], rates: Vec<f64>, change: &[f64]| -> f64 {
        let u: Vec<f64> = rates.iter().zip(change).map(|(r, c)| r.abs() + time * c.abs()).collect();
        matrix
            .iter()
            .zip(&u)
            .map(|(row, ui)| row.iter().zip(&u).map(|(w, uj)| ui * w.abs() * uj).sum::<f64>())
            .sum()
    };
    let (energy, inverse): (f64, Vec<f64>) = match &m.dynamics {
        Dynamics::Lagrangian(l) => {
            let mass = matrix(&l.mass_matrix);
            let velocity = evaluate(&m.free.iter().map(|&i| m.velocities[i]).collect::<Vec<_>>());
            let unit = |j: usize| (0..n).map(|i| if i == j { 1.0 } else { 0.0 }).collect::<Vec<f64>>();
            let inverse = (0..n).map(|j| balanced(&mass, &unit(j))[j]).collect();
            (energy(&mass, velocity, acceleration), inverse)
        }
        Dynamics::Hamiltonian(h) => {
            let inverse = matrix(&h.inverse_mass);
            let momenta: Vec<Expr> = m.free.iter().map(|&i| m.model.coordinates[i].momentum).collect();
            (energy(&inverse, evaluate(&momenta), force), (0..n).map(|j| inverse[j][j]).collect())
        }
        Dynamics::Degenerate(_) => (0.0, vec![0.0; n]),
    };
    inverse
        .iter()
        .map(|w| (energy * w.max(0.0)).sqrt())
        .map(|v| if v.is_finite() { v } else { 0.0 })
        .collect()
}

/// q̇, q̈ and ṗ at the start, per free coordinate.
fn rates(m: &Mechanics, values: &HashMap<Symbol, f64>) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let evaluate = |list: &[Expr]| m.model.dag.evaluate_all(list, |s| values.get(&s).copied().unwrap_or(0.0));
    let matrix = |rows: &[Vec<Expr>]| rows.iter().map(|row| evaluate(row)).collect::<Vec<_>>();
    let n = m.free.len();
    let velocity = evaluate(&m.free.iter().map(|&i| m.velocities[i]).collect::<Vec<_>>());
    let rows: Vec<Vec<f64>> = m.rows.iter().map(|r| evaluate(&r.normal)).collect();
    let bias = evaluate(&m.rows.iter().map(|r| r.bias).collect::<Vec<_>>());
    match &m.dynamics {
        Dynamics::Lagrangian(l) => {
            let (q, h) = (evaluate(&l.generalized_force), evaluate(&l.bias));
            let force: Vec<f64> = q.iter().zip(&h).map(|(q, h)| q - h).collect();
            let mut all = matrix(&l.mass_matrix);
            all.iter_mut().enumerate().for_each(|(i, line)| line.extend(rows.iter().map(|r| r[i])));
            for row in &rows {
                let mut line = row.clone();
                line.resize(n + rows.len(), 0.0);
                all.push(line);
            }
            let right: Vec<f64> = force.iter().copied().chain(bias.iter().map(|b| -b)).collect();
            let mut acceleration = balanced(&all, &right);
            acceleration.truncate(n);
            (velocity, acceleration, force)
        }
        Dynamics::Degenerate(d) => {
            let all = matrix(&d.matrix);
            let mut acceleration = least_norm(&all, n + rows.len(), &evaluate(&d.right_side));
            acceleration.truncate(n);
            (velocity, acceleration, vec![0.0; n])
        }
        Dynamics::Hamiltonian(h) => {
            let (force, inverse) = (evaluate(&h.force), matrix(&h.inverse_mass));
            let mut acceleration = evaluate(&h.velocity_bias);
            for (a, line) in acceleration.iter_mut().zip(&inverse) {
                *a += line.iter().zip(&force).map(|(x, f)| x * f).sum::<f64>();
            }
            (velocity, acceleration, force)
        }
    }
}

/// M x = b for a symmetric M, rows and columns brought to one size first: masses of 1e-12 are masses.
fn balanced(matrix: &[Vec<f64>], right: &[f64]) -> Vec<f64> {
    let n = matrix.len();
    let mut d = vec![1.0_f64; n];
    for _ in 0..3 {
        let sizes: Vec<f64> =
            (0..n).map(|i| (0..n).map(|j| (d[i] * matrix[i][j] * d[j]).abs()).fold(0.0, f64::max)).collect();
        d.iter_mut().zip(&sizes).filter(|(_, s)| **s > 0.0).for_each(|(d, s)| *d /= s.sqrt());
    }
    let scaled: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).map(|j| d[i] * matrix[i][j] * d[j]).collect()).collect();
    let right: Vec<f64> = right.iter().zip(&d).map(|(b, d)| b * d).collect();
    least_norm(&scaled, n, &right).iter().zip(&d).map(|(x, d)| x * d).collect()
}
