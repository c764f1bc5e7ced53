//! The linear complementarity problem of contact:  0 ≤ λ ⊥ N λ + q ≥ 0,  N symmetric positive semidefinite.
//!
//! λ are impulses or forces, N λ + q the gap rates or gap accelerations they produce. It is the optimality condition
//! of min ½ λ·Nλ + q·λ over λ ≥ 0. When normals depend on each other N is singular: N λ is still unique, and of all λ
//! the one with the smallest norm is returned, found as the limit of N + εI, ε → 0 (the *support* of λ comes from a
//! small ε, its values from the minimum-norm solution on that support). When no λ keeps N λ + q ≥ 0, λ grows like
//! 1/ε instead: the walls close, `None`.

use crate::linear::{Factored, Matrix, dot, largest};

/// ε of the support search, relative to the diagonal of N: large against rounding, small against anything physical.
const REGULARIZATION: f64 = 1e-9;
/// Rates this small against the terms they are made of are zero.
const RATE_TOLERANCE: f64 = 1e-11;

/// Solves 0 ≤ λ ⊥ N λ + q ≥ 0; `None` when it has no solution.
///
/// ```
/// use carom_run::{lcp::complementary, linear::Matrix};
/// // Two walls pushing on the same body; the second is already opening.
/// let n = Matrix { rows: 2, columns: 2, entries: vec![2.0, 1.0, 1.0, 2.0] };
/// let impulses = complementary(&n, &[-2.0, 3.0]).unwrap();
/// assert_eq!(impulses, vec![1.0, 0.0]);
/// ```
pub fn complementary(matrix: &Matrix, q: &[f64]) -> Option<Vec<f64>> {
    let k = q.len();
    if q.iter().all(|&x| x >= 0.0) {
        return Some(vec![0.0; k]);
    }
    // λ = d λ̂ with a unit diagonal; a wall whose normal vanishes cannot push.
    let d: Vec<f64> =
        (0..k).map(|i| if matrix[(i, i)] > 0.0 { 1.0 / matrix[(i, i)].sqrt() } else { 0.0 }).collect();
    if (0..k).any(|i| d[i] == 0.0 && q[i] < 0.0) || q.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let dmax = largest(&d);
    let mut scaled = Matrix::zeros(k, k);
    for i in 0..k {
        for j in 0..k {
            scaled[(i, j)] = d[i] * matrix[(i, j)] * d[j];
        }
        // ε is weighted so that the limit is the smallest λ, not the smallest λ̂.
        scaled[(i, i)] += REGULARIZATION * (d[i] / dmax).powi(2).max(1e-6);
    }
    let right: Vec<f64> = (0..k).map(|i| d[i] * q[i]).collect();
    let support = active_set(&scaled, &right)?;
    let lambda = on_support(matrix, q, &support)?;
    // What an ε can hide: no solution at all. Then some rate stays negative whatever the impulses.
    let rates = matrix.times(&lambda);
    for i in 0..k {
        let scale = q[i].abs() + (0..k).map(|j| (matrix[(i, j)] * lambda[j]).abs()).sum::<f64>();
        if rates[i] + q[i] < -RATE_TOLERANCE * scale.max(q[i].abs()) && support_violates(rates[i] + q[i], q) {
            return None;
        }
    }
    Some(lambda)
}

/// A negative rate counts when it is not small against the rates that were to be stopped.
fn support_violates(rate: f64, q: &[f64]) -> bool {
    rate < -RATE_TOLERANCE * largest(q)
}

/// The walls with λ > 0, for a positive definite matrix: one wall at a time joins, and those pushed below zero leave.
/// Each pass lowers ½ λ·Nλ + q·λ, so no set comes back and the loop ends.
fn active_set(matrix: &Matrix, q: &[f64]) -> Option<Vec<usize>> {
    let k = q.len();
    let mut lambda = vec![0.0; k];
    let mut set: Vec<usize> = Vec::new();
    let scale = largest(q);
    let mut refused = vec![false; k];
    for _ in 0..(64 + 16 * k * k) {
        let rates: Vec<f64> = (0..k).map(|i| q[i] + dot(matrix.row(i), &lambda)).collect();
        let worst = (0..k)
            .filter(|i| !set.contains(i) && !refused[*i])
            .min_by(|&i, &j| rates[i].total_cmp(&rates[j]));
        match worst {
            Some(i) if rates[i] < -f64::EPSILON * scale => set.push(i),
            _ => return Some(set),
        }
        let joined = set[set.len() - 1];
        loop {
            let z = solve_subset(matrix, q, &set);
            if z.iter().any(|x| !x.is_finite()) {
                return None;
            }
            if z.iter().all(|&x| x > 0.0) {
                set.iter().zip(&z).for_each(|(&i, &x)| lambda[i] = x);
                refused.fill(false);
                break;
            }
            // Move towards z until the first impulse reaches zero; that wall leaves.
            let mut step = 1.0;
            let mut leaving = 0;
            for (a, (&i, &x)) in set.iter().zip(&z).enumerate() {
                if x <= 0.0 {
                    let reach = if lambda[i] > 0.0 { lambda[i] / (lambda[i] - x) } else { 0.0 };
                    if reach < step {
                        (step, leaving) = (reach, a);
                    }
                }
            }
            for (&i, &x) in set.iter().zip(&z) {
                lambda[i] += step * (x - lambda[i]);
            }
            let left = set.remove(leaving);
            lambda[left] = 0.0;
            if left == joined && step == 0.0 {
                // Its rate was negative by rounding only.
                refused[left] = true;
                break;
            }
            if set.is_empty() {
                break;
            }
        }
    }
    Some(set)
}

fn subset(matrix: &Matrix, set: &[usize]) -> Matrix {
    let mut part = Matrix::zeros(set.len(), set.len());
    for (a, &i) in set.iter().enumerate() {
        for (b, &j) in set.iter().enumerate() {
            part[(a, b)] = matrix[(i, j)];
        }
    }
    part
}

fn solve_subset(matrix: &Matrix, q: &[f64], set: &[usize]) -> Vec<f64> {
    let right: Vec<f64> = set.iter().map(|&i| -q[i]).collect();
    Factored::new(&subset(matrix, set)).solve(&right)
}

/// The smallest λ ≥ 0 on the support with N λ + q = 0 there.
fn on_support(matrix: &Matrix, q: &[f64], support: &[usize]) -> Option<Vec<f64>> {
    let mut set = support.to_vec();
    loop {
        let z = solve_subset(matrix, q, &set);
        if z.iter().any(|x| !x.is_finite()) {
            return None;
        }
        match z.iter().position(|&x| x < 0.0) {
            // Below zero by rounding: the wall does not push.
            Some(a) => {
                set.remove(a);
            }
            None => {
                let mut lambda = vec![0.0; q.len()];
                set.iter().zip(&z).for_each(|(&i, &x)| lambda[i] = x);
                return Some(lambda);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// N = J Jᵀ for rows J.
    fn gram(rows: &[Vec<f64>]) -> Matrix {
        let k = rows.len();
        let mut m = Matrix::zeros(k, k);
        for i in 0..k {
            for j in 0..k {
                m[(i, j)] = dot(&rows[i], &rows[j]);
            }
        }
        m
    }

    /// The slow clear version: try every support.
    fn by_enumeration(matrix: &Matrix, q: &[f64]) -> Option<Vec<f64>> {
        let k = q.len();
        let mut best: Option<Vec<f64>> = None;
        for mask in 0..1u32 << k {
            let set: Vec<usize> = (0..k).filter(|i| mask >> i & 1 == 1).collect();
            let z = solve_subset(matrix, q, &set);
            let mut lambda = vec![0.0; k];
            set.iter().zip(&z).for_each(|(&i, &x)| lambda[i] = x);
            let rates = matrix.times(&lambda);
            let fine = (0..k).all(|i| {
                let u = rates[i] + q[i];
                lambda[i] >= -1e-10 && u >= -1e-8 && (lambda[i] * u).abs() < 1e-8
            });
            if fine && best.as_ref().is_none_or(|b| dot(b, b) > dot(&lambda, &lambda)) {
                best = Some(lambda);
            }
        }
        best
    }

    #[test]
    fn two_equal_walls_share_the_impulse() {
        let n = gram(&[vec![1.0, 0.0], vec![1.0, 0.0]]);
        let lambda = complementary(&n, &[-2.0, -2.0]).unwrap();
        assert!((lambda[0] - 1.0).abs() < 1e-14 && (lambda[1] - 1.0).abs() < 1e-14, "{lambda:?}");
    }

    #[test]
    fn walls_closing_on_each_other_have_no_solution() {
        let n = gram(&[vec![1.0], vec![-1.0]]);
        assert_eq!(complementary(&n, &[-1.0, -1.0]), None);
        assert_eq!(complementary(&n, &[-1e-3, -1e-3]), None);
    }

    #[test]
    fn walls_that_close_as_fast_as_they_open_are_fine() {
        let n = gram(&[vec![1.0], vec![-1.0]]);
        let lambda = complementary(&n, &[-1.0, 1.0]).unwrap();
        assert!((lambda[0] - 1.0).abs() < 1e-12 && lambda[1].abs() < 1e-12, "{lambda:?}");
    }

    proptest! {
        #[test]
        fn the_solution_agrees_with_trying_every_support(
            entries in prop::collection::vec(-1.0f64..1.0, 12), q in prop::collection::vec(-1.0f64..1.0, 4)
        ) {
            // Four walls in three dimensions: the normals depend on each other.
            let rows: Vec<Vec<f64>> = entries.chunks(3).map(<[f64]>::to_vec).collect();
            let n = gram(&rows);
            let (fast, slow) = (complementary(&n, &q), by_enumeration(&n, &q));
            match (fast, slow) {
                (Some(a), Some(b)) => {
                    let (ra, rb) = (n.times(&a), n.times(&b));
                    for i in 0..4 {
                        prop_assert!((ra[i] - rb[i]).abs() < 1e-5 * (1.0 + largest(&b)), "{a:?} {b:?}");
                    }
                }
                // Barely feasible or barely not: only a large solution may be in dispute.
                (Some(a), None) | (None, Some(a)) => prop_assert!(largest(&a) > 1e3, "{a:?}"),
                (None, None) => {}
            }
        }
    }
}
