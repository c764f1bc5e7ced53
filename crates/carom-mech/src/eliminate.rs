//! Symbolic elimination with pivots that are generically not zero.
//!
//! Rows of M x = r are combined until every pivot column has one entry left. A pivot is an entry that is far from
//! zero at every sample point; the simplest one is taken (±1, then a number, then free of the state, then the
//! smallest). A pivot that depends on the state is multiplied across instead of divided by, so that results stay
//! polynomial where the rows were. What vanishes at every sample point is zero: ranks are generic ranks.

use crate::lagrangian::tidy;
use crate::sample::Samples;
use carom_expr::{Dag, Expr, Node, Rational};

/// Rows after elimination.
pub(crate) struct EliminatedRows {
    /// Each pivot column has its only entry in its pivot row.
    pub rows: Vec<Vec<Expr>>,
    /// The right-hand sides, combined alike.
    pub right: Vec<Expr>,
    /// (row, column) of each pivot, in the order chosen.
    pub pivots: Vec<(usize, usize)>,
    /// Which given rows each row is made of.
    pub origins: Vec<Vec<usize>>,
}

/// Eliminates; columns before `first_choice` are preferred as pivots. `None` when an entry is longer
/// than `longest` when printed.
pub(crate) fn eliminate(
    dag: &mut Dag,
    samples: &mut Samples,
    mut rows: Vec<Vec<Expr>>,
    mut right: Vec<Expr>,
    first_choice: usize,
    longest: u64,
) -> Option<EliminatedRows> {
    let zero = dag.zero();
    let columns = rows.first().map_or(0, Vec::len);
    for e in rows.iter_mut().flatten() {
        if samples.vanishes(dag, *e) {
            *e = zero;
        }
    }
    let mut origins: Vec<Vec<usize>> = (0..rows.len()).map(|i| vec![i]).collect();
    let mut pivots: Vec<(usize, usize)> = Vec::new();
    loop {
        let open_row: Vec<usize> = (0..rows.len()).filter(|i| pivots.iter().all(|p| p.0 != *i)).collect();
        let open_column: Vec<usize> = (0..columns).filter(|j| pivots.iter().all(|p| p.1 != *j)).collect();
        let mut best: Option<((usize, usize), usize, usize)> = None;
        for &i in &open_row {
            for &j in &open_column {
                let e = rows[i][j];
                if e == zero || !samples.safe_pivot(dag, e) {
                    continue;
                }
                let weight = (usize::from(j >= first_choice), pivot_weight(dag, e, &samples.state));
                if best.is_none_or(|b| weight < b.0) {
                    best = Some((weight, i, j));
                }
            }
        }
        let Some((_, row, column)) = best else { break };
        pivots.push((row, column));
        let pivot = rows[row][column];
        let divide = !mentions_any(dag, pivot, &samples.state);
        for i in 0..rows.len() {
            let entry = rows[i][column];
            if i == row || entry == zero {
                continue;
            }
            // row ← row − (entry/pivot)·pivot row, or pivot·row − entry·pivot row
            let (keep, take) = if divide { (dag.one(), dag.div(entry, pivot)) } else { (pivot, entry) };
            for j in 0..columns {
                rows[i][j] = if j == column {
                    zero
                } else {
                    combine(dag, samples, keep, rows[i][j], take, rows[row][j], u64::MAX)
                };
                if dag.length(rows[i][j]) > longest {
                    return None;
                }
            }
            right[i] = combine(dag, samples, keep, right[i], take, right[row], longest);
            let mut made: Vec<usize> = origins[i].iter().chain(&origins[row]).copied().collect();
            made.sort_unstable();
            made.dedup();
            origins[i] = made;
        }
    }
    Some(EliminatedRows { rows, right, pivots, origins })
}

/// keep·a − take·b, zero when it vanishes at the sample points, tidied unless it is longer than `longest`.
fn combine(
    dag: &mut Dag,
    samples: &mut Samples,
    keep: Expr,
    a: Expr,
    take: Expr,
    b: Expr,
    longest: u64,
) -> Expr {
    let (kept, taken) = (dag.mul(keep, a), dag.mul(take, b));
    let e = dag.sub(kept, taken);
    if samples.vanishes(dag, e) {
        dag.zero()
    } else if dag.length(e) > longest {
        e
    } else {
        tidy(dag, e)
    }
}

fn mentions_any(dag: &Dag, e: Expr, symbols: &[Expr]) -> bool {
    crate::symbols::mentions(dag, &[e], symbols)
}

/// 0 for ±1, 1 for a number, 2 for what does not change with the state, more for the rest.
fn pivot_weight(dag: &Dag, e: Expr, state: &[Expr]) -> usize {
    match dag.as_number(e) {
        Some(r) if r.abs().is_one() => 0,
        Some(_) => 1,
        None if !mentions_any(dag, e, state) => 2,
        None => 2 + dag.reachable(&[e]).len(),
    }
}

impl EliminatedRows {
    /// Vectors that span the right null space, one per column without a pivot.
    pub fn null_vectors(&self, dag: &mut Dag, state: &[Expr]) -> Vec<Vec<Expr>> {
        let columns = self.rows.first().map_or(0, Vec::len);
        let zero = dag.zero();
        let mut basis = Vec::new();
        for free in (0..columns).filter(|j| self.pivots.iter().all(|p| p.1 != *j)) {
            // x_free = D, x_pivot = −D·entry/pivot, D the product of the different pivots that are not constant
            let touched: Vec<(usize, usize)> =
                self.pivots.iter().copied().filter(|&(i, _)| self.rows[i][free] != zero).collect();
            let mut scale: Vec<Expr> = Vec::new();
            for &(i, j) in &touched {
                let pivot = self.rows[i][j];
                if mentions_any(dag, pivot, state) && !scale.contains(&pivot) {
                    scale.push(pivot);
                }
            }
            let common = dag.product(&scale);
            let mut vector = vec![zero; columns];
            vector[free] = common;
            for (i, j) in touched {
                let scaled = dag.mul(common, self.rows[i][free]);
                let ratio = dag.div(scaled, self.rows[i][j]);
                let entry = dag.neg(ratio);
                vector[j] = tidy(dag, entry);
            }
            basis.push(without_common_factor(dag, vector));
        }
        basis
    }
}

/// Divides by what all entries share and makes most of them positive: (−2 x y, −2 y²) becomes (x, y). Removing a
/// factor only adds points at which the vector still spans.
fn without_common_factor(dag: &mut Dag, vector: Vec<Expr>) -> Vec<Expr> {
    let zero = dag.zero();
    let parts = |e: Expr| -> (Rational, Vec<(Expr, Rational)>) {
        match dag.node(e) {
            Node::Product(c, factors) => (*c, factors.to_vec()),
            Node::Number(r) => (*r, Vec::new()),
            _ => (Rational::ONE, vec![(e, Rational::ONE)]),
        }
    };
    let entries: Vec<(Rational, Vec<(Expr, Rational)>)> =
        vector.iter().filter(|e| **e != zero).map(|&e| parts(e)).collect();
    let Some((first, rest)) = entries.split_first() else { return vector };
    let number = if rest.iter().all(|e| e.0.abs() == first.0.abs()) { first.0.abs() } else { Rational::ONE };
    let mut shared: Vec<(Expr, Rational)> = Vec::new();
    for &(base, exponent) in &first.1 {
        let least = rest.iter().try_fold(exponent, |least, e| {
            e.1.iter().find(|f| f.0 == base).map(|f| if f.1 < least { f.1 } else { least })
        });
        if let Some(least) = least.filter(|n| !n.is_negative()) {
            shared.push((base, least));
        }
    }
    let negative = entries.iter().filter(|e| e.0.is_negative()).count();
    let sign = if 2 * negative > entries.len() { Rational::MINUS_ONE } else { Rational::ONE };
    let scale = number.reciprocal().and_then(|r| r.multiply(sign)).unwrap_or(Rational::ONE);
    let inverse: Vec<(Expr, Rational)> =
        shared.iter().filter_map(|&(base, n)| Some((base, n.negate()?))).collect();
    if scale.is_one() && inverse.is_empty() {
        return vector;
    }
    let factor = dag.monomials(scale, &inverse);
    vector.into_iter().map(|e| dag.mul(factor, e)).collect()
}
