//! Degenerate Lagrangians: hidden constraints by differentiation.
//!
//! Unknowns a and μ; C = {c, A v + b} and everything found below. Repeat:
//!
//! ```text
//! (1) for each g ∈ C without v add ġ
//! (2) stack  W a − Aᵀμ = Q − h  and, for each g ∈ C with v,  (∂g/∂v) a = −(∂g/∂q) v − ∂g/∂t :   M [a; μ] = r
//! (3) for each left null vector y of M, y·r is a new condition:
//!     zero on C: nothing;  gradient depends on those of C: contradiction;  else add it to C
//! ```
//!
//! until nothing is added. Null vectors of M with a ≠ 0 are gauge freedom, those in μ alone are redundant rows.
//! Ranks are generic: decided at random points on C, with null vectors taken symbolically by elimination.

use crate::diagnostic::Diagnostic;
use crate::eliminate::eliminate;
use crate::lagrangian::written_out;
use crate::mechanics::{Condition, DegenerateDynamics, LagrangianDynamics, RowMechanics};
use crate::model::Model;
use crate::sample::Samples;
use crate::symbols::{Symbols, dot, gradient, mentions};
use carom_expr::{Dag, Expr};
use carom_jet::dense::{SingularValues, rank, scaled_rows};

/// Is ZᵀWZ nonsingular on the rows' kernel at generic points?  ⇔  rank [W Aᵀ; A 0] = n + rank A.
pub(crate) fn is_regular(
    dag: &Dag,
    samples: &mut Samples,
    mass_matrix: &[Vec<Expr>],
    rows: &[RowMechanics],
) -> bool {
    let n = mass_matrix.len();
    let normals: Vec<Vec<Expr>> = rows.iter().map(|r| r.normal.clone()).collect();
    samples.len() == 0
        || (0..samples.len()).any(|k| {
            let w = samples.matrix(dag, k, mass_matrix);
            let a = samples.matrix(dag, k, &normals);
            // D W D and A D with D = diag(W)^(−1/2): the decision does not depend on units.
            let d: Vec<f64> = (0..n)
                .map(|i| {
                    let size = if w[i][i] != 0.0 {
                        w[i][i].abs()
                    } else {
                        w[i].iter().fold(0.0f64, |m, x| m.max(x.abs()))
                    };
                    if size > 0.0 { size.sqrt().recip() } else { 1.0 }
                })
                .collect();
            let a: Vec<Vec<f64>> =
                a.iter().map(|row| row.iter().zip(&d).map(|(x, d)| x * d).collect()).collect();
            let a = scaled_rows(&a);
            let rank_a = rank(&a, n);
            let m = a.len();
            let mut kkt = vec![vec![0.0; n + m]; n + m];
            for i in 0..n {
                for j in 0..n {
                    kkt[i][j] = d[i] * w[i][j] * d[j];
                }
                for (r, row) in a.iter().enumerate() {
                    kkt[i][n + r] = row[i];
                    kkt[n + r][i] = row[i];
                }
            }
            rank(&kkt, n + m) == n + rank_a
        })
}

/// Longest entry met on the way to a hidden condition: far beyond what can be read, short of what hurts.
const LONGEST_CONDITION: u64 = 20_000;

/// Conditions known so far, with what is needed to stand on them.
struct KnownConditions {
    conditions: Vec<Condition>,
    gradients: Vec<Vec<Expr>>,
    differentiated: Vec<bool>,
}

impl KnownConditions {
    fn expressions(&self) -> Vec<Expr> {
        self.conditions.iter().map(|c| c.expr).collect()
    }

    fn add(&mut self, dag: &mut Dag, samples: &mut Samples, name: String, expr: Expr) {
        let state = samples.state.clone();
        self.gradients.push(gradient(dag, expr, &state));
        self.conditions.push(Condition { name, expr });
        self.differentiated.push(false);
        samples.project(dag, &self.expressions(), &self.gradients, &state);
    }

    /// Is the gradient of `e` independent of the known ones at every point?
    fn independent(&self, dag: &mut Dag, samples: &mut Samples, e: Expr) -> bool {
        let state = samples.state.clone();
        let mut rows = self.gradients.clone();
        let before = rows.len();
        rows.push(gradient(dag, e, &state));
        (0..samples.len()).all(|k| {
            let m = scaled_rows(&samples.matrix(dag, k, &rows));
            rank(&m, state.len()) > rank(&m[..before], state.len())
        })
    }
}

/// The hidden constraints of a Lagrangian whose W is singular on ker A, and the rows that determine a and μ.
pub(crate) fn resolve(
    model: &mut Model,
    symbols: &mut Symbols,
    samples: &mut Samples,
    lagrangian: LagrangianDynamics,
    rows: &[RowMechanics],
) -> Result<DegenerateDynamics, Vec<Diagnostic>> {
    let names: Vec<String> = symbols.free.iter().map(|&i| model.coordinates[i].name.clone()).collect();
    let dag = &mut model.dag;
    let (q, v) = (symbols.free_q(), symbols.free_v());
    let n = q.len();
    let mut known =
        KnownConditions { conditions: Vec::new(), gradients: Vec::new(), differentiated: Vec::new() };
    for row in rows {
        match row.position {
            Some(c) => known.add(dag, samples, row.name.clone(), c),
            None => {
                let moving = dot(dag, &row.normal, &v);
                let rate = dag.add(moving, row.drift);
                known.add(dag, samples, row.name.clone(), rate);
            }
        }
    }
    let mut system = (Vec::new(), Vec::new());
    for round in 0..=2 * n + 1 {
        // (1)
        for i in 0..known.conditions.len() {
            let g = known.conditions[i].expr;
            if known.differentiated[i] || mentions(dag, &[g], &v) {
                continue;
            }
            known.differentiated[i] = true;
            let rate = free_rate(dag, symbols, g);
            if !samples.vanishes(dag, rate) {
                let rate = written_out(dag, &[rate]);
                let name = format!("time derivative of {}", known.conditions[i].name);
                known.add(dag, samples, name, rate);
            }
        }
        if samples.len() == 0 {
            return Err(vec![no_state(&known)]);
        }
        // (2)
        let (matrix, right, row_names) = stack(dag, symbols, &lagrangian, rows, &known, &names);
        system = (matrix.clone(), right.clone());
        // (3)
        let Some(done) = eliminate(dag, samples, matrix, right, n, LONGEST_CONDITION) else {
            return Err(vec![Diagnostic::error(
                "the hidden constraints of this degenerate Lagrangian are too large to write down",
            )]);
        };
        let mut added = false;
        for i in (0..done.rows.len()).filter(|i| done.pivots.iter().all(|p| p.0 != *i)) {
            let condition = written_out(dag, &[done.right[i]]);
            if samples.vanishes(dag, condition) {
                continue;
            }
            let from: Vec<&str> = done.origins[i].iter().map(|&k| row_names[k].as_str()).collect();
            let name = from.join(" with ");
            if !known.independent(dag, samples, condition) {
                return Err(vec![contradiction(dag, samples, condition, &name)]);
            }
            known.add(dag, samples, name, condition);
            if samples.len() == 0 {
                return Err(vec![no_state(&known)]);
            }
            added = true;
        }
        if !added {
            break;
        }
        if round == 2 * n + 1 {
            return Err(vec![Diagnostic::error(
                "differentiating this degenerate Lagrangian does not end: no finite set of hidden constraints was found",
            )]);
        }
    }
    let (matrix, right_side) = system;
    freedom(dag, samples, &matrix, &names)?;
    Ok(DegenerateDynamics { lagrangian, conditions: known.conditions, matrix, right_side })
}

/// ġ without accelerations, driven motion already inserted.
fn free_rate(dag: &mut Dag, symbols: &mut Symbols, g: Expr) -> Expr {
    let mut parts = vec![symbols.explicit_rate(dag, g)];
    for &i in &symbols.free {
        let d = dag.derivative(g, symbols.q[i]);
        parts.push(dag.mul(d, symbols.v[i]));
    }
    dag.sum(&parts)
}

/// M, r and the names of the rows.
fn stack(
    dag: &mut Dag,
    symbols: &mut Symbols,
    lagrangian: &LagrangianDynamics,
    rows: &[RowMechanics],
    known: &KnownConditions,
    names: &[String],
) -> (Vec<Vec<Expr>>, Vec<Expr>, Vec<String>) {
    let n = names.len();
    let zero = dag.zero();
    let v = symbols.free_v();
    let (mut matrix, mut right, mut row_names) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..n {
        let mut row = lagrangian.mass_matrix[i].clone();
        for constraint in rows {
            row.push(dag.neg(constraint.normal[i]));
        }
        matrix.push(row);
        right.push(dag.sub(lagrangian.generalized_force[i], lagrangian.bias[i]));
        row_names.push(format!("Euler–Lagrange row of {}", names[i]));
    }
    for condition in &known.conditions {
        if !mentions(dag, &[condition.expr], &v) {
            continue;
        }
        let mut row = gradient(dag, condition.expr, &v);
        row.resize(n + rows.len(), zero);
        matrix.push(row);
        let rate = free_rate(dag, symbols, condition.expr);
        right.push(dag.neg(rate));
        row_names.push(format!("time derivative of {}", condition.name));
    }
    (matrix, right, row_names)
}

fn no_state(known: &KnownConditions) -> Diagnostic {
    let last = known.conditions.last().map_or("the constraints", |c| c.name.as_str());
    Diagnostic::error(format!(
        "the equations contradict each other: no state near the start satisfies {last}"
    ))
    .with_hint(
        "this Lagrangian is degenerate; its hidden constraints cannot hold together with the rows given",
    )
}

fn contradiction(dag: &Dag, samples: &mut Samples, condition: Expr, name: &str) -> Diagnostic {
    let value = samples.values(dag, condition).first().map_or(f64::NAN, |x| x.value);
    Diagnostic::error(format!("the equations contradict each other: {name} demands {value:.6} = 0"))
        .with_hint("this Lagrangian is degenerate; a coordinate without kinetic energy must be held by its potential")
}

/// Refuses gauge freedom.
fn freedom(
    dag: &Dag,
    samples: &mut Samples,
    matrix: &[Vec<Expr>],
    names: &[String],
) -> Result<(), Vec<Diagnostic>> {
    let n = names.len();
    let columns = matrix.first().map_or(n, Vec::len);
    let mut problems = Vec::new();
    let m = scaled_rows(&samples.matrix(dag, 0, matrix));
    let generic = (0..samples.len()).map(|k| {
        let m = scaled_rows(&samples.matrix(dag, k, matrix));
        rank(&m, columns)
    });
    if generic.max().unwrap_or(0) == columns {
        return Ok(());
    }
    for vector in reduced_null_vectors(&m, columns) {
        let coordinates: Vec<&str> = names.iter().map(String::as_str).collect();
        // Null vectors in μ alone are redundant rows, reported by name elsewhere.
        if vector[..n].iter().any(|x| x.abs() > 1e-7) {
            problems.push(
                Diagnostic::error(format!(
                    "the motion is not determined: along ({}) the coordinates may move in any way (gauge freedom)",
                    combination(&vector[..n], &coordinates)
                ))
                .with_hint("add a constraint row or a driven motion that fixes this combination"),
            );
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// A basis of the null space with as many zeros as elimination gives, largest entry 1.
pub(crate) fn reduced_null_vectors(m: &[Vec<f64>], columns: usize) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = SingularValues::of(m, columns).null_vectors().to_vec();
    let mut done = 0;
    for column in 0..columns {
        let Some(best) =
            (done..basis.len()).max_by(|&i, &j| basis[i][column].abs().total_cmp(&basis[j][column].abs()))
        else {
            break;
        };
        if basis[best][column].abs() < 1e-7 {
            continue;
        }
        basis.swap(done, best);
        let pivot = basis[done].clone();
        for (i, vector) in basis.iter_mut().enumerate() {
            let factor = if i == done { 0.0 } else { vector[column] / pivot[column] };
            for (x, p) in vector.iter_mut().zip(&pivot) {
                *x -= factor * p;
            }
        }
        done += 1;
    }
    for vector in &mut basis {
        let largest = vector.iter().fold(0.0f64, |m, &x| if x.abs() > m.abs() + 1e-9 { x } else { m });
        for x in vector.iter_mut() {
            *x /= largest;
        }
    }
    basis
}

/// `x − 0.5 y`
pub(crate) fn combination(coefficients: &[f64], labels: &[&str]) -> String {
    let mut text = String::new();
    for (&c, label) in coefficients.iter().zip(labels) {
        if c.abs() < 1e-7 {
            continue;
        }
        let sign = match (text.is_empty(), c < 0.0) {
            (true, true) => "−",
            (true, false) => "",
            (false, true) => " − ",
            (false, false) => " + ",
        };
        let size = (c.abs() * 1e6).round() / 1e6;
        let factor = if size == 1.0 { String::new() } else { format!("{size}·") };
        text += &format!("{sign}{factor}{label}");
    }
    text
}
