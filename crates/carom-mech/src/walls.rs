//! Constraint rows and walls: rates and second rates.
//!
//! ```text
//! row   c or A v + b       rate  A v + b        second rate  A a + γ,   γ = (dA/dt) v + db/dt
//! wall  φ(q, t)            rate  n·v + φ_t      second rate  n·a + bias
//! ```
//!
//! Columns of driven coordinates move into b (times ḟ) and γ (times f̈). For a Hamiltonian model v = H_p, and the
//! part of a = H_pp ṗ + (H_pq H_p + H_pt) that does not contain ṗ goes into γ as well.

use crate::lagrangian::tidy;
use crate::mechanics::{RowMechanics, WallMechanics};
use crate::model::{Model, RowKind};
use crate::symbols::{Symbols, dot, gradient};
use carom_expr::{Dag, Expr};

/// How to write a formula of (q, v, t) in terms of the state.
pub(crate) struct StateForm {
    /// Replacements for everything that is not a state symbol.
    pub replace: Vec<(Expr, Expr)>,
    /// v per free coordinate.
    pub velocity: Vec<Expr>,
    /// What a contains besides ṗ, per free coordinate; empty for Lagrangian models.
    pub velocity_bias: Vec<Expr>,
}

impl StateForm {
    /// `e` in terms of the state.
    pub fn of(&self, dag: &mut Dag, e: Expr) -> Expr {
        if self.replace.is_empty() { e } else { dag.substitute(e, &self.replace) }
    }

    /// Each of `es` in terms of the state.
    pub fn of_all(&self, dag: &mut Dag, es: &[Expr]) -> Vec<Expr> {
        if self.replace.is_empty() { es.to_vec() } else { dag.substitute_all(es, &self.replace) }
    }
}

/// normal (free), normal (driven), drift, bias
struct RateTerms {
    normal: Vec<Expr>,
    driven_normal: Vec<Expr>,
    drift: Expr,
    bias: Expr,
}

/// The line whose rate is `normal`·v + `drift`, all coordinates, prescribed motions not inserted.
fn line(dag: &mut Dag, symbols: &mut Symbols, form: &StateForm, normal: &[Expr], drift: Expr) -> RateTerms {
    let v = symbols.v.clone();
    let moving = dot(dag, normal, &v);
    let rate = dag.add(moving, drift);
    let mut bias = symbols.rate(dag, rate);
    let mut total_drift = drift;
    for (slot, &k) in symbols.driven.iter().enumerate() {
        let forced = dag.mul(normal[k], symbols.driven_acceleration[slot]);
        bias = dag.add(bias, forced);
        let carried = dag.mul(normal[k], v[k]);
        total_drift = dag.add(total_drift, carried);
    }
    let normal = form.of_all(dag, normal);
    let free: Vec<Expr> = symbols.free.iter().map(|&i| normal[i]).collect();
    let driven: Vec<Expr> = symbols.driven.iter().map(|&i| normal[i]).collect();
    let drift = form.of(dag, total_drift);
    let mut bias = form.of(dag, bias);
    if !form.velocity_bias.is_empty() {
        let extra = dot(dag, &free, &form.velocity_bias);
        bias = dag.add(bias, extra);
    }
    RateTerms { normal: free, driven_normal: driven, drift: tidy(dag, drift), bias: tidy(dag, bias) }
}

/// All constraint rows.
pub(crate) fn rows(model: &mut Model, symbols: &mut Symbols, form: &StateForm) -> Vec<RowMechanics> {
    let dag = &mut model.dag;
    let mut rows = Vec::with_capacity(model.rows.len());
    for row in &model.rows {
        let (position, normal, drift) = match row.kind {
            RowKind::Holonomic => {
                let normal = gradient(dag, row.expr, &symbols.q);
                let drift = symbols.explicit_rate(dag, row.expr);
                (Some(form.of(dag, row.expr)), normal, drift)
            }
            RowKind::Nonholonomic => {
                let normal = gradient(dag, row.expr, &symbols.v);
                let zero = dag.zero();
                let at_rest: Vec<(Expr, Expr)> = symbols.v.iter().map(|&v| (v, zero)).collect();
                (None, normal, dag.substitute(row.expr, &at_rest))
            }
        };
        let normal: Vec<Expr> = normal.into_iter().map(|e| tidy(dag, e)).collect();
        let line = line(dag, symbols, form, &normal, drift);
        rows.push(RowMechanics {
            name: row.name.clone(),
            kind: row.kind,
            position,
            normal: line.normal,
            driven_normal: line.driven_normal,
            drift: line.drift,
            bias: line.bias,
        });
    }
    rows
}

/// All walls.
pub(crate) fn walls(model: &mut Model, symbols: &mut Symbols, form: &StateForm) -> Vec<WallMechanics> {
    let dag = &mut model.dag;
    let mut walls = Vec::with_capacity(model.walls.len());
    for wall in &model.walls {
        let normal = gradient(dag, wall.gap, &symbols.q);
        let normal: Vec<Expr> = normal.into_iter().map(|e| tidy(dag, e)).collect();
        let gap_t = symbols.explicit_rate(dag, wall.gap);
        let line = line(dag, symbols, form, &normal, gap_t);
        let moving = dot(dag, &line.normal, &form.velocity);
        let gap_rate = dag.add(moving, line.drift);
        walls.push(WallMechanics {
            name: wall.name.clone(),
            gap: form.of(dag, wall.gap),
            normal: line.normal,
            driven_normal: line.driven_normal,
            gap_t: line.drift,
            gap_rate,
            bias: line.bias,
            restitution: wall.restitution,
        });
    }
    walls
}
