//! Euler–Lagrange equations.  W a + h = Q + Aᵀμ,  W = ∂²L/∂v∂v,  h = (∂²L/∂v∂q) v + ∂²L/∂v∂t − ∂L/∂q.
//!
//! When W is free of v the Lagrangian is L = ½ vᵀW v + β·v + L₀ with β, L₀ functions of (q, t), and
//!
//! ```text
//! h_i = Σ_{j≤k} Γ_{i,jk} v_j v_k + Σ_j (∂W_ij/∂t + ∂β_i/∂q_j − ∂β_j/∂q_i) v_j + ∂β_i/∂t − ∂L₀/∂q_i
//! Γ_{i,jj} = ∂W_ij/∂q_j − ½ ∂W_jj/∂q_i,    Γ_{i,jk} = ∂W_ij/∂q_k + ∂W_ik/∂q_j − ∂W_jk/∂q_i   (j < k)
//! ```
//!
//! on the simplified W: mixed terms cancel before they are ever written. Otherwise the defining formula is used as
//! it stands. Nothing is expanded and nothing is inverted.
//!
//! Everything is derived in all coordinates; `derive` inserts prescribed motions afterwards. That gives the same
//! rows, because the Euler–Lagrange operator of a free coordinate commutes with inserting q_k = f(t).

use crate::model::{ForceKind, Model};
use crate::symbols::{Symbols, dot, gradient, hessian, mentions};
use carom_expr::{Dag, Expr, Rational};
use std::collections::{BTreeSet, HashMap};

/// Euler–Lagrange data in all coordinates, prescribed motions not inserted.
pub(crate) struct EulerLagrange {
    /// L, in the tidied form when W is free of v.
    pub lagrangian: Expr,
    /// ∂L/∂v
    pub momenta: Vec<Expr>,
    /// W
    pub mass_matrix: Vec<Vec<Expr>>,
    /// h
    pub bias: Vec<Expr>,
    /// Is W free of v?
    pub quadratic: bool,
    /// L₀ when `quadratic`.
    pub rest: Option<Expr>,
}

/// W, h and momenta of L(q, v, t).
pub(crate) fn euler_lagrange(dag: &mut Dag, symbols: &mut Symbols, lagrangian: Expr) -> EulerLagrange {
    let (q, v) = (symbols.q.clone(), symbols.v.clone());
    let momenta = gradient(dag, lagrangian, &v);
    let raw = hessian(dag, &momenta, &v);
    let mass_matrix = tidy_symmetric(dag, raw);
    let entries: Vec<Expr> = mass_matrix.iter().flatten().copied().collect();
    if !mentions(dag, &entries, &v) {
        return quadratic(dag, symbols, lagrangian, &momenta, mass_matrix);
    }
    let bias = (0..q.len())
        .map(|i| {
            // d/dt p_i without accelerations, minus ∂L/∂q_i
            let rate = symbols.rate(dag, momenta[i]);
            let slope = dag.derivative(lagrangian, q[i]);
            let h = dag.sub(rate, slope);
            tidy(dag, h)
        })
        .collect();
    EulerLagrange { lagrangian, momenta, mass_matrix, bias, quadratic: false, rest: None }
}

fn quadratic(
    dag: &mut Dag,
    symbols: &mut Symbols,
    lagrangian: Expr,
    raw_momenta: &[Expr],
    mass_matrix: Vec<Vec<Expr>>,
) -> EulerLagrange {
    let (q, v) = (symbols.q.clone(), symbols.v.clone());
    let n = q.len();
    let zero = dag.zero();
    let at_rest: Vec<(Expr, Expr)> = v.iter().map(|&v| (v, zero)).collect();
    let mut parts = raw_momenta.to_vec();
    parts.push(lagrangian);
    let mut beta = dag.substitute_all(&parts, &at_rest);
    for e in &mut beta {
        *e = tidy(dag, *e);
    }
    let rest = beta.pop().unwrap_or(zero);

    let slopes = WSlopes::new(dag, &mass_matrix, &q);
    let beta_slopes: Vec<Vec<Expr>> = beta.iter().map(|&b| gradient(dag, b, &q)).collect();
    let mut bias = Vec::with_capacity(n);
    for i in 0..n {
        let mut terms: Vec<Expr> = Vec::new();
        for &(j, k) in slopes.pairs(i) {
            let coefficient = if j == k {
                // ∂W_ij/∂q_j − ½ ∂W_jj/∂q_i
                let (a, b) = (slopes.get(i, j, j), slopes.get(j, j, i));
                let minus_half = Rational::HALF.negate().unwrap_or(Rational::ZERO);
                dag.linear(Rational::ZERO, &[(Rational::ONE, a), (minus_half, b)])
            } else {
                let (a, b, c) = (slopes.get(i, j, k), slopes.get(i, k, j), slopes.get(j, k, i));
                let (one, minus) = (Rational::ONE, Rational::MINUS_ONE);
                dag.linear(Rational::ZERO, &[(one, a), (one, b), (minus, c)])
            };
            let coefficient = tidy(dag, coefficient);
            if coefficient != zero {
                terms.push(dag.product(&[coefficient, v[j], v[k]]));
            }
        }
        for j in 0..n {
            if [mass_matrix[i][j], beta_slopes[i][j], beta_slopes[j][i]] == [zero; 3] {
                continue;
            }
            let w_t = symbols.explicit_rate(dag, mass_matrix[i][j]);
            let (one, minus) = (Rational::ONE, Rational::MINUS_ONE);
            let gyro = dag
                .linear(Rational::ZERO, &[(one, w_t), (one, beta_slopes[i][j]), (minus, beta_slopes[j][i])]);
            terms.push(dag.mul(gyro, v[j]));
        }
        terms.push(symbols.explicit_rate(dag, beta[i]));
        let slope = dag.derivative(rest, q[i]);
        terms.push(dag.neg(slope));
        bias.push(written_out(dag, &terms));
    }

    let mut momenta = Vec::with_capacity(n);
    for i in 0..n {
        let linear = dot(dag, &mass_matrix[i], &v);
        momenta.push(dag.add(linear, beta[i]));
    }
    let kinetic = quadratic_form(dag, &mass_matrix, &v);
    let linear = dot(dag, &beta, &v);
    let lagrangian = dag.sum(&[kinetic, linear, rest]);
    EulerLagrange { lagrangian, momenta, mass_matrix, bias, quadratic: true, rest: Some(rest) }
}

/// ∂W_ij/∂q_k where it is not zero.
struct WSlopes {
    zero: Expr,
    /// By (i, j, k) with i ≥ j.
    values: HashMap<(usize, usize, usize), Expr>,
    /// Per coordinate i the pairs j ≤ k, ascending, for which v_j v_k may occur in its equation.
    pairs: Vec<BTreeSet<(usize, usize)>>,
}

impl WSlopes {
    fn new(dag: &mut Dag, w: &[Vec<Expr>], q: &[Expr]) -> WSlopes {
        let n = q.len();
        let zero = dag.zero();
        let mut slopes = WSlopes { zero, values: HashMap::new(), pairs: vec![BTreeSet::new(); n] };
        let coordinate: HashMap<_, usize> =
            q.iter().enumerate().filter_map(|(k, &q)| Some((dag.as_symbol(q)?, k))).collect();
        for i in 0..n {
            for j in 0..=i {
                if w[i][j] == zero {
                    continue;
                }
                for symbol in dag.symbols_in(&[w[i][j]]) {
                    let Some(&k) = coordinate.get(&symbol) else { continue };
                    let d = dag.derivative(w[i][j], q[k]);
                    if d != zero {
                        slopes.values.insert((i, j, k), d);
                        for (of, a, b) in [(i, j, k), (j, i, k), (k, i, j)] {
                            slopes.pairs[of].insert((a.min(b), a.max(b)));
                        }
                    }
                }
            }
        }
        slopes
    }

    fn get(&self, i: usize, j: usize, k: usize) -> Expr {
        self.values.get(&(i.max(j), i.min(j), k)).copied().unwrap_or(self.zero)
    }

    fn pairs(&self, i: usize) -> &BTreeSet<(usize, usize)> {
        &self.pairs[i]
    }
}

/// ½ vᵀM v, each pair once.
pub(crate) fn quadratic_form(dag: &mut Dag, matrix: &[Vec<Expr>], v: &[Expr]) -> Expr {
    let mut terms: Vec<(Rational, Expr)> = Vec::new();
    for i in 0..v.len() {
        for j in i..v.len() {
            if dag.is_zero(matrix[i][j]) {
                continue;
            }
            let term = dag.product(&[matrix[i][j], v[i], v[j]]);
            terms.push((if i == j { Rational::HALF } else { Rational::ONE }, term));
        }
    }
    dag.linear(Rational::ZERO, &terms)
}

/// Q in all coordinates: −∂R/∂v + Σ (∂r/∂q)ᵀF + generalized forces.
pub(crate) fn generalized_force(model: &mut Model, symbols: &Symbols) -> Vec<Expr> {
    let dag = &mut model.dag;
    let mut force = Vec::with_capacity(symbols.q.len());
    for (i, (&q, &v)) in symbols.q.iter().zip(&symbols.v).enumerate() {
        let mut parts: Vec<(Rational, Expr)> = Vec::new();
        if let Some(r) = model.dissipation {
            parts.push((Rational::MINUS_ONE, dag.derivative(r, v)));
        }
        for f in &model.forces {
            match &f.kind {
                ForceKind::Point { at, vector } => {
                    for (&r, &component) in at.iter().zip(vector) {
                        let slope = dag.derivative(r, q);
                        parts.push((Rational::ONE, dag.mul(slope, component)));
                    }
                }
                ForceKind::Generalized(values) => parts.push((Rational::ONE, values[i])),
            }
        }
        let total = dag.linear(Rational::ZERO, &parts);
        force.push(tidy(dag, total));
    }
    force
}

/// The sum of physical terms, term by term as in a textbook, unless collecting them is much shorter.
pub(crate) fn written_out(dag: &mut Dag, terms: &[Expr]) -> Expr {
    let sum = dag.sum(terms);
    let collected = tidy(dag, sum);
    if 4 * dag.length(collected) < 3 * dag.length(sum) { collected } else { sum }
}

/// The textbook form of an expression.
pub(crate) fn tidy(dag: &mut Dag, e: Expr) -> Expr {
    dag.simplify(e)
}

fn tidy_symmetric(dag: &mut Dag, mut matrix: Vec<Vec<Expr>>) -> Vec<Vec<Expr>> {
    for i in 0..matrix.len() {
        for j in 0..=i {
            let e = tidy(dag, matrix[i][j]);
            matrix[i][j] = e;
            matrix[j][i] = e;
        }
    }
    matrix
}
