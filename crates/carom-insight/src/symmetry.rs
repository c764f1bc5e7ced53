//! Symmetries of a model that an orbit does not break: orbits come in families, and each has a multiplier 1 twice.
//!
//! ```text
//! δq = ξ(q),   δv = ξ_q v   or   δp = −ξ_qᵀ p + F_q           J = p·ξ − F conserved,   Φ ξ = ξ,   ∇J Φ = ∇J
//! ```
//!
//! Those that carom finds (affine ones), without the energy's, which goes with the period, and without those that contain the time.

use crate::subject::Subject;
use carom_expr::{Dag, Expr};
use carom_jet::dense::{SingularValues, dot};
use carom_mech::invariants::Breaker;
use carom_run::Motion;
use std::rc::Rc;

/// A symmetry of the model, and what it conserves.
#[derive(Clone, Debug)]
pub(crate) struct Symmetry {
    pub name: String,
    /// The DAG of the formulas: that of the model and more.
    pub dag: Rc<Dag>,
    /// J
    pub conserved: Expr,
    /// δx: (ξ, ξ_q v), or (ξ, −ξ_qᵀ p) and what F adds.
    pub turn: Vec<Expr>,
    /// Walls and events that do not keep it.
    pub broken_by: Vec<Breaker>,
}

/// Directions that add less than this to those before them add nothing.
const DEPENDENT: f64 = 1e-7;

impl Subject<'_> {
    /// Symmetries with a J that does not contain the time, other than the energy's.
    pub(crate) fn symmetries(&self) -> Vec<Symmetry> {
        let model = &self.mechanics.model;
        let found = carom_mech::invariants(self.mechanics);
        let mut dag = found.dag;
        let (q, rates) = {
            let state = self.state_symbols();
            let (q, rates) = state.split_at(self.mechanics.free.len());
            (q.to_vec(), rates.to_vec())
        };
        let timeless = |dag: &Dag, e: Expr| !dag.contains(e, model.time);
        let mut all = Vec::new();
        for j in found.list {
            if !dag.is_zero(j.time_shift)
                || !timeless(&dag, j.expr)
                || !j.direction.iter().all(|&e| timeless(&dag, e))
            {
                continue;
            }
            let mut turn = j.direction.clone();
            for i in 0..q.len() {
                let terms: Vec<Expr> = (0..q.len())
                    .map(|k| {
                        if self.hamiltonian {
                            let slope = dag.derivative(j.direction[k], q[i]);
                            let product = dag.mul(slope, rates[k]);
                            dag.neg(product)
                        } else {
                            let slope = dag.derivative(j.direction[i], q[k]);
                            dag.mul(slope, rates[k])
                        }
                    })
                    .collect();
                let mut sum = dag.sum(&terms);
                if self.hamiltonian {
                    let gauge = dag.derivative(j.gauge, q[i]);
                    sum = dag.add(sum, gauge);
                }
                turn.push(sum);
            }
            all.push((j.name, j.expr, turn, j.broken_by));
        }
        let dag = Rc::new(dag);
        all.into_iter()
            .map(|(name, conserved, turn, broken_by)| Symmetry {
                name,
                dag: dag.clone(),
                conserved,
                turn,
                broken_by,
            })
            .collect()
    }

    /// δx of a symmetry at a state.
    pub(crate) fn turn(&self, symmetry: &Symmetry, x: &[f64], time: f64, parameters: &[f64]) -> Vec<f64> {
        self.values_in(&symmetry.dag, &symmetry.turn, x, time, parameters)
    }
}

/// Symmetries that nothing along a motion breaks, given in parts.
pub(crate) fn unbroken(subject: &Subject<'_>, parts: &[Motion]) -> Vec<Symmetry> {
    let model = &subject.mechanics.model;
    let met = |breaker: &Breaker| match breaker {
        Breaker::Wall(name) => {
            let is = |w: usize| model.walls[w].name == *name;
            parts.iter().flat_map(|m| &m.impacts).any(|i| i.walls.iter().any(|&w| is(w)))
                || parts.iter().flat_map(|m| &m.contacts).any(|c| is(c.wall))
        }
        Breaker::Event(name) => {
            parts.iter().flat_map(|m| &m.events).any(|e| model.events[e.event].name == *name)
        }
        Breaker::Row(_) | Breaker::Force(_) => true,
    };
    subject.symmetries().into_iter().filter(|s| !s.broken_by.iter().any(met)).collect()
}

/// Those of the symmetries whose directions at a state are independent of each other and of the flow.
pub(crate) fn independent(
    subject: &Subject<'_>,
    symmetries: Vec<Symmetry>,
    x: &[f64],
    time: f64,
    parameters: &[f64],
    scale: &[f64],
    flow: Option<&[f64]>,
) -> Vec<Symmetry> {
    let unit = |v: &[f64]| -> Vec<f64> {
        let scaled: Vec<f64> = v.iter().zip(scale).map(|(v, s)| v / s).collect();
        let size = dot(&scaled, &scaled).sqrt();
        scaled.iter().map(|v| if size > 0.0 { v / size } else { 0.0 }).collect()
    };
    let mut rows: Vec<Vec<f64>> = flow.map(unit).into_iter().collect();
    let mut kept = Vec::new();
    for symmetry in symmetries {
        rows.push(unit(&subject.turn(&symmetry, x, time, parameters)));
        if SingularValues::of(&rows, x.len()).values.get(rows.len() - 1).is_some_and(|v| *v > DEPENDENT) {
            kept.push(symmetry);
        } else {
            rows.pop();
        }
    }
    kept
}
