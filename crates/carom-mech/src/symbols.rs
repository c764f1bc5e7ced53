//! The symbols a derivation differentiates by, and time derivatives along a motion.
//!
//! ```text
//! ė = Σ_j (∂e/∂q_j) v_j + ∂e/∂t + Σ_j (∂e/∂v_j) a_j,     ∂e/∂t = e_t + Σ_u (e_u u′ + e_u′ u″)
//! ```
//!
//! Table inputs u are functions of time only, so their rates belong to the explicit time derivative. A table is
//! interpolated twice continuously differentiably: a third rate does not exist, and asking for it is an error.

use crate::diagnostic::Diagnostic;
use crate::model::Model;
use carom_expr::{Dag, Expr};

/// Symbols of all coordinates and inputs of a model.
pub(crate) struct Symbols {
    pub time: Expr,
    pub q: Vec<Expr>,
    pub v: Vec<Expr>,
    pub p: Vec<Expr>,
    /// Model indices of coordinates that are not driven.
    pub free: Vec<usize>,
    /// Model indices of driven coordinates.
    pub driven: Vec<usize>,
    /// f̈ of the driven coordinates.
    pub driven_acceleration: Vec<Expr>,
    /// Replaces q_k, v_k, a_k of driven coordinates by f, ḟ, f̈.
    pub insert: Vec<(Expr, Expr)>,
    inputs: Vec<(String, [Expr; 3])>,
    /// What could not be differentiated, for the author of the model.
    pub problems: Vec<Diagnostic>,
}

impl Symbols {
    pub fn new(model: &Model) -> Symbols {
        let mut symbols = Symbols {
            time: model.time,
            q: model.coordinates.iter().map(|c| c.position).collect(),
            v: model.coordinates.iter().map(|c| c.velocity).collect(),
            p: model.coordinates.iter().map(|c| c.momentum).collect(),
            free: Vec::new(),
            driven: Vec::new(),
            driven_acceleration: Vec::new(),
            insert: Vec::new(),
            inputs: model.inputs.iter().map(|u| (u.name.clone(), [u.value, u.rate, u.second])).collect(),
            problems: Vec::new(),
        };
        for (i, c) in model.coordinates.iter().enumerate() {
            match c.driven {
                Some(f) => {
                    symbols.driven.push(i);
                    symbols.driven_acceleration.push(f.acceleration);
                    symbols.insert.push((c.position, f.position));
                    symbols.insert.push((c.velocity, f.velocity));
                    symbols.insert.push((c.acceleration, f.acceleration));
                }
                None => symbols.free.push(i),
            }
        }
        symbols
    }

    /// Symbols of the free positions.
    pub fn free_q(&self) -> Vec<Expr> {
        self.free.iter().map(|&i| self.q[i]).collect()
    }

    /// Symbols of the free velocities.
    pub fn free_v(&self) -> Vec<Expr> {
        self.free.iter().map(|&i| self.v[i]).collect()
    }

    /// Symbols of the free momenta.
    pub fn free_p(&self) -> Vec<Expr> {
        self.free.iter().map(|&i| self.p[i]).collect()
    }

    /// The prescribed motion put in.
    pub fn inserted(&self, dag: &mut Dag, e: Expr) -> Expr {
        if self.insert.is_empty() { e } else { dag.substitute(e, &self.insert) }
    }

    /// The prescribed motion put in, in each of `es`.
    pub fn inserted_all(&self, dag: &mut Dag, es: &[Expr]) -> Vec<Expr> {
        if self.insert.is_empty() { es.to_vec() } else { dag.substitute_all(es, &self.insert) }
    }

    /// ∂e/∂t, table inputs counted as functions of time.
    pub fn explicit_rate(&mut self, dag: &mut Dag, e: Expr) -> Expr {
        let mut parts = vec![dag.derivative(e, self.time)];
        for (name, [u, rate, second]) in &self.inputs {
            for (x, next) in [(u, rate), (rate, second)] {
                let d = dag.derivative(e, *x);
                if !dag.is_zero(d) {
                    parts.push(dag.mul(d, *next));
                }
            }
            let third = dag.derivative(e, *second);
            if !dag.is_zero(third) {
                let problem = Diagnostic::error(format!("the equations need a third time derivative of the table input `{name}`"))
                    .with_hint("a table is interpolated with two continuous derivatives; use a formula, or the input itself instead of its rate");
                if !self.problems.contains(&problem) {
                    self.problems.push(problem);
                }
            }
        }
        dag.sum(&parts)
    }

    /// ė without the terms in accelerations.
    pub fn rate(&mut self, dag: &mut Dag, e: Expr) -> Expr {
        let mut parts = vec![self.explicit_rate(dag, e)];
        for (&q, &v) in self.q.iter().zip(&self.v) {
            let d = dag.derivative(e, q);
            if !dag.is_zero(d) {
                parts.push(dag.mul(d, v));
            }
        }
        dag.sum(&parts)
    }
}

/// Σ aᵢ bᵢ
pub(crate) fn dot(dag: &mut Dag, a: &[Expr], b: &[Expr]) -> Expr {
    let products: Vec<Expr> = a.iter().zip(b).map(|(&x, &y)| dag.mul(x, y)).collect();
    dag.sum(&products)
}

/// [∂e/∂x for x in symbols]
pub(crate) fn gradient(dag: &mut Dag, e: Expr, symbols: &[Expr]) -> Vec<Expr> {
    symbols.iter().map(|&x| dag.derivative(e, x)).collect()
}

/// The symmetric matrix of second derivatives.
pub(crate) fn hessian(dag: &mut Dag, first: &[Expr], symbols: &[Expr]) -> Vec<Vec<Expr>> {
    let n = symbols.len();
    let zero = dag.zero();
    let mut matrix = vec![vec![zero; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let d = dag.derivative(first[i], symbols[j]);
            matrix[i][j] = d;
            matrix[j][i] = d;
        }
    }
    matrix
}

/// Does any of `symbols` occur in any of `roots`?
pub(crate) fn mentions(dag: &Dag, roots: &[Expr], symbols: &[Expr]) -> bool {
    let found = dag.symbols_in(roots);
    symbols.iter().any(|&x| dag.as_symbol(x).is_some_and(|s| found.binary_search(&s).is_ok()))
}
