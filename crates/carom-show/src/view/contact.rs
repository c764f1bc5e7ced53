//! Which drawn point a wall acts on.
//!
//! A force f at a point r(q, t) is the generalized force (∂r/∂q)ᵀ f, and a gap that is measured at r is a function of r, of
//! what r does not move with, and of time. So with C the coordinates that move r, the gap may be measured at r only if
//!
//! ```text
//! n_k = ∂φ/∂q_k = (∂r/∂q_k)·f   for all k in C,  for some f,  wherever the motion might have been
//! ```
//!
//! The rest of n belongs to what is on the other side of the wall (the box around a jack). Many points pass: the middle of
//! the box does, since two forces explain two coordinates whatever the gap is, and so does a joint on the way to the bob that
//! hits. The wall acts on the one that accounts for most coordinates of the gap, and of two that account for equally many on
//! the one that moves with fewest (a wall at the first bob of a double pendulum could be a force at the second one along its
//! rod). Points that are equal in this, such as two balls that meet, both count, at most two.

use super::{PointTrack, Role, Scene};
use crate::formula::{Formulas, curves};
use crate::track::{Jump, Track};
use carom_expr::Expr;

/// An equation n_k = J_k·f fails when it is missed by more than this part of its terms: far above the rounding of a small
/// least-squares solution, far below what a point elsewhere on a body misses.
const MISSED: f64 = 1e-6;
/// States at which the equations must hold besides the one of the impact.
const SCATTERED: usize = 6;

/// Indices of the points that wall `wall` acts on; at most two.
pub fn points_of(
    track: &Track<'_>,
    scene: &Scene,
    points: &[PointTrack],
    wall: usize,
    jump: &Jump,
) -> Vec<usize> {
    let model = &track.mechanics.model;
    let (d, n) = (scene.dimension, model.coordinates.len());
    let Some(normal) = scene.normals.get(wall) else { return vec![] };
    let mut roots: Vec<Expr> = normal.clone();
    roots.extend(scene.points.iter().flat_map(|p| p.rates.iter().flatten().copied()));
    let mut formulas = Formulas::new(model, &roots);
    let curves = curves(model);
    let states: Vec<Vec<f64>> = states(track, jump)
        .iter()
        .map(|q| formulas.at(&curves, jump.time, q, &jump.after.1))
        .filter(|values| values.iter().all(|x| x.is_finite()))
        .collect();
    // (coordinates of the gap it accounts for, coordinates it moves with)
    let account = |p: usize| -> Option<(usize, usize)> {
        let first = n + scene.points[..p].iter().map(|p| p.rates.len() * d).sum::<usize>();
        let rate = |state: &[f64], k: usize| state[first + k * d..first + (k + 1) * d].to_vec();
        let moves: Vec<usize> =
            (0..n).filter(|&k| states.iter().any(|s| rate(s, k).iter().any(|x| *x != 0.0))).collect();
        let explained = |s: &Vec<f64>| {
            explains(&moves.iter().map(|&k| (s[k], rate(s, k))).collect::<Vec<(f64, Vec<f64>)>>(), d)
        };
        let shared = moves.iter().filter(|&&k| states.iter().any(|s| s[k] != 0.0)).count();
        (shared > 0 && states.iter().all(explained)).then_some((shared, moves.len()))
    };
    let all: Vec<(usize, (usize, usize))> = (0..scene.points.len())
        .filter(|&p| points[p].role != Role::Pivot && scene.points[p].rates.len() == n)
        .filter_map(|p| account(p).map(|a| (p, a)))
        .collect();
    let best = all.iter().map(|(_, a)| *a).max_by_key(|&(shared, moves)| (shared, std::cmp::Reverse(moves)));
    all.into_iter().filter(|(_, a)| Some(*a) == best).map(|(p, _)| p).take(2).collect()
}

/// The direction of the force that wall `wall` exerts on point `point` at an impact: f with n_k = (∂r/∂q_k)·f.
pub fn direction(
    track: &Track<'_>,
    scene: &Scene,
    wall: usize,
    point: usize,
    jump: &Jump,
) -> Option<Vec<f64>> {
    let model = &track.mechanics.model;
    let (d, n) = (scene.dimension, model.coordinates.len());
    let mut roots: Vec<Expr> = scene.normals.get(wall)?.clone();
    roots.extend(scene.points.get(point)?.rates.iter().flatten().copied());
    let values = Formulas::new(model, &roots).at(&curves(model), jump.time, &jump.after.0, &jump.after.1);
    if roots.len() != n * (d + 1) || values.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let rows: Vec<(f64, Vec<f64>)> =
        (0..n).map(|k| (values[k], values[n + k * d..n + (k + 1) * d].to_vec())).collect();
    Some(least_squares(&rows, d))
}

/// The state of the impact, and states around it within the range of the motion, every coordinate moved independently.
fn states(track: &Track<'_>, jump: &Jump) -> Vec<Vec<f64>> {
    let q = &jump.after.0;
    let knots = track.some_knots(200);
    let range = |k: usize| {
        let values = || knots.iter().map(|&knot| track.position(knot, k)).filter(|x| x.is_finite());
        values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min)
    };
    let ranges: Vec<f64> = (0..q.len()).map(range).map(|r| if r.is_finite() { r } else { 0.0 }).collect();
    let mut random = carom_expr::Random(3);
    let mut moved =
        |_| q.iter().zip(&ranges).map(|(q, r)| q + 0.3 * r * (random.unit() - 0.5)).collect::<Vec<f64>>();
    let mut states: Vec<Vec<f64>> = (0..SCATTERED).map(&mut moved).collect();
    states.push(q.clone());
    states
}

/// Is there an f with n_k = J_k·f in every row (n_k, J_k)?
///
/// Rows are divided by |J_k| ν with ν = max |n_k|/|J_k|, an estimate of |f|: what remains has no units.
fn explains(rows: &[(f64, Vec<f64>)], d: usize) -> bool {
    let length = |j: &[f64]| j.iter().map(|x| x * x).sum::<f64>().sqrt();
    if rows.iter().any(|(n, j)| *n != 0.0 && length(j) == 0.0) {
        return false;
    }
    let rows: Vec<(f64, &Vec<f64>, f64)> =
        rows.iter().map(|(n, j)| (*n, j, length(j))).filter(|(_, _, l)| *l > 0.0).collect();
    let force = rows.iter().map(|(n, _, l)| (n / l).abs()).fold(0.0, f64::max);
    if force == 0.0 {
        return true;
    }
    let rows: Vec<(f64, Vec<f64>)> =
        rows.iter().map(|(n, j, l)| (n / l / force, j.iter().map(|x| x / l).collect())).collect();
    missed(&rows, d) <= MISSED
}

/// The largest |n_k − J_k·f| for the f of least squares.
fn missed(rows: &[(f64, Vec<f64>)], d: usize) -> f64 {
    let f = least_squares(rows, d);
    let misfit = |(n, j): &(f64, Vec<f64>)| (n - j.iter().zip(&f).map(|(a, b)| a * b).sum::<f64>()).abs();
    rows.iter().map(misfit).fold(0.0, f64::max)
}

/// The f with the least Σ (n_k − J_k·f)², by normal equations with a trace of regularisation for directions J does not have.
fn least_squares(rows: &[(f64, Vec<f64>)], d: usize) -> Vec<f64> {
    let mut matrix = vec![vec![0.0; d + 1]; d];
    for (n, j) in rows {
        for (row, ja) in matrix.iter_mut().zip(j) {
            row.iter_mut().zip(j).for_each(|(m, jb)| *m += ja * jb);
            row[d] += ja * n;
        }
    }
    let trace: f64 = (0..d).map(|a| matrix[a][a]).sum();
    (0..d).for_each(|a| matrix[a][a] += 1e-12 * trace);
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
    f
}
