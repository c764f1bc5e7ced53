//! Which drawn point a wall acts on.
//!
//! A force f at a point r(q, t) is the generalized force (∂r/∂q)ᵀ f. The wall's is along n = ∂φ/∂q, so the point it acts on is
//! the one for which some f explains n best:
//!
//! ```text
//! unexplained(r) = min over f of |n − (∂r/∂q)ᵀ f|²      (a coordinate that does not move r explains nothing)
//! ```
//!
//! Two points that explain it equally well, such as two balls that meet, both count.

use super::{PointTrack, Role, Scene};
use crate::formula::{Formulas, splines};
use crate::track::{Jump, Track};
use carom_expr::Expr;

/// Two points are as good as each other within this part of |n|².
const EQUALLY: f64 = 1e-6;

/// Indices of the points that wall `wall` acts on at this impact; at most two.
pub fn points_of(
    track: &Track<'_>,
    scene: &Scene,
    points: &[PointTrack],
    wall: usize,
    jump: &Jump,
) -> Vec<usize> {
    let model = &track.mechanics.model;
    let d = scene.dimension;
    let mut roots: Vec<Expr> = vec![model.walls[wall].gap];
    roots.extend(scene.points.iter().flat_map(|p| p.at.iter().copied()));
    let mut formulas = Formulas::new(model, &roots);
    let splines = splines(model);
    let q = &jump.after.0;
    // Central differences: column k holds ∂(φ, r₁, r₂, …)/∂q_k.
    let mut difference = |k: usize| -> Vec<f64> {
        let step = 1e-6 * q[k].abs().max(1.0);
        let mut at = |s: f64| {
            let mut moved = q.clone();
            moved[k] += s;
            formulas.at(&splines, jump.time, &moved, &jump.after.1)
        };
        let (low, high) = (at(-step), at(step));
        low.iter().zip(&high).map(|(a, b)| (b - a) / (2.0 * step)).collect()
    };
    let columns: Vec<Vec<f64>> = (0..q.len()).map(&mut difference).collect();
    let total: f64 = columns.iter().map(|c| c[0] * c[0]).sum();
    let unexplained = |p: usize| -> f64 {
        let row = |c: &Vec<f64>| (c[0], c[1 + p * d..1 + (p + 1) * d].to_vec());
        residual(&columns.iter().map(row).collect::<Vec<_>>(), d)
    };
    let all: Vec<(usize, f64)> = (0..scene.points.len())
        .filter(|&p| points[p].role != Role::Pivot)
        .map(|p| (p, unexplained(p)))
        .filter(|(_, u)| u.is_finite())
        .collect();
    let best = all.iter().map(|(_, u)| *u).fold(f64::INFINITY, f64::min);
    // A point that explains nothing has nothing to do with the wall.
    let fits = |u: f64| u <= best + EQUALLY * total && u < 0.999 * total;
    all.into_iter().filter(|(_, u)| fits(*u)).map(|(p, _)| p).take(2).collect()
}

/// min over f of Σ (n_k − J_k·f)², by normal equations with a trace of regularisation for directions J does not have.
fn residual(rows: &[(f64, Vec<f64>)], d: usize) -> f64 {
    let mut matrix = vec![vec![0.0; d + 1]; d];
    for (n, j) in rows {
        for (row, ja) in matrix.iter_mut().zip(j) {
            row.iter_mut().zip(j).for_each(|(m, jb)| *m += ja * jb);
            row[d] += ja * n;
        }
    }
    let trace: f64 = (0..d).map(|a| matrix[a][a]).sum();
    (0..d).for_each(|a| matrix[a][a] += 1e-12 * trace + f64::MIN_POSITIVE);
    // Positive definite: elimination needs no pivoting.
    for a in 0..d {
        let pivot = matrix[a].clone();
        for row in matrix.iter_mut().skip(a + 1) {
            let factor = row[a] / pivot[a];
            row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
        }
    }
    let mut f = vec![0.0; d];
    for a in (0..d).rev() {
        let known: f64 = (a + 1..d).map(|b| matrix[a][b] * f[b]).sum();
        f[a] = (matrix[a][d] - known) / matrix[a][a];
    }
    let misfit = |(n, j): &(f64, Vec<f64>)| (n - j.iter().zip(&f).map(|(a, b)| a * b).sum::<f64>()).powi(2);
    rows.iter().map(misfit).sum()
}
