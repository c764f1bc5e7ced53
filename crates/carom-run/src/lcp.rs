//! The linear complementarity problem of contact:  0 ≤ λ ⊥ N λ + q ≥ 0,  N symmetric positive semidefinite.
//!
//! λ are impulses or forces, N λ + q the gap rates or gap accelerations they produce. It is the optimality condition of
//! min ½ |x|² over n_i·x + q_i ≥ 0 with N_ij = n_i·n_j (in the metric S), and is solved as that, wall by wall: a set of
//! walls with independent normals is kept closed; the wall that is violated most joins it, and walls whose λ would fall
//! below zero on the way leave. Each pass lengthens x, so no set comes back and the loop ends. A wall whose normal depends on
//! those kept can only replace one of them; if none would give way, the walls close:
//!
//! ```text
//! y ≥ 0,   N y = 0,   y·q < 0        the free space itself closes, no λ exists
//! ```
//!
//! N λ is unique, λ is not when normals depend on each other: then Σ λ_i² N_ii is smallest, so that a gap written as twice
//! itself changes nothing. Nothing here takes a root or compares numbers of different walls other than as rate²/N_ii:
//! powers of two in the units pass through unchanged.
//!
//! Promise: lines that hold as equations within rounding are `active` and their rates are exactly 0, whatever λ_i is.

use crate::zero::{DEPENDENT, SOLVED};
use carom_jet::dense::{Matrix, dot};

/// The square of a coefficient of such a dependence that is zero.
const NO_PART: f64 = 1e-20;
/// The part of N_ii that is added where normals depend on each other, to see which walls carry the smallest λ.
const REGULARIZATION: f64 = 1e-9;

/// 0 ≤ λ ⊥ N λ + q ≥ 0, and what the numbers in it were made of.
#[derive(Clone, Copy, Debug)]
pub struct Complementarity<'a> {
    /// N
    pub matrix: &'a Matrix,
    /// The absolute sums of the terms of N's entries: their units of rounding.
    pub matrix_scale: &'a Matrix,
    /// q
    pub offset: &'a [f64],
    /// The same for q.
    pub offset_scale: &'a [f64],
}

/// Its solution.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Solution {
    /// λ, of all that give these rates the one with the smallest Σ λ_i² N_ii.
    pub multipliers: Vec<f64>,
    /// N λ + q, exactly 0 where `active`.
    pub rates: Vec<f64>,
    /// Which lines hold as equations.
    pub active: Vec<bool>,
}

/// The walls close: y ≥ 0 with N y = 0 and y·q < 0.
#[derive(Clone, PartialEq, Debug)]
pub struct Closing {
    /// y
    pub weights: Vec<f64>,
}

impl Complementarity<'_> {
    /// Solves it.
    ///
    /// # Errors
    /// When the walls close on each other.
    pub fn solve(&self) -> Result<Solution, Closing> {
        let (kept, mut rates) = self.search()?;
        let k = rates.len();
        let mut active = vec![false; k];
        for i in 0..k {
            if kept.walls.contains(&i)
                || kept.excused[i]
                || rates[i].abs() <= self.rounding(i, &kept.multipliers)
            {
                active[i] = true;
                rates[i] = 0.0;
            }
        }
        let multipliers = self.smallest(&kept, &active);
        Ok(Solution { multipliers, rates, active })
    }

    /// The walls that are kept closed, and the rates.
    fn search(&self) -> Result<(ActiveWalls, Vec<f64>), Closing> {
        let k = self.offset.len();
        let mut kept = ActiveWalls { walls: Vec::new(), multipliers: vec![0.0; k], excused: vec![false; k] };
        let mut rates = self.offset.to_vec();
        for _ in 0..64 + 16 * k * k {
            let worst = (0..k)
                .filter(|&i| !kept.excused[i] && !kept.walls.contains(&i))
                .filter(|&i| rates[i] < -self.rounding(i, &kept.multipliers))
                .max_by(|&i, &j| {
                    self.violation(i, &rates).total_cmp(&self.violation(j, &rates)).then(j.cmp(&i))
                });
            let Some(p) = worst else { break };
            match self.join(p, rates[p], &mut kept) {
                Ok(()) => {}
                Err(closing) if self.is_beyond_rounding(&closing, &kept.multipliers) => return Err(closing),
                Err(_) => kept.excused[p] = true,
            }
            self.solve_kept(&mut kept);
            rates = self.rates(&kept.multipliers);
        }
        Ok((kept, rates))
    }

    /// rate²/N_ii: what closes fastest in the metric. A wall that cannot push at all comes first.
    fn violation(&self, i: usize, rates: &[f64]) -> f64 {
        rates[i] * rates[i] / self.matrix[(i, i)]
    }

    fn rates(&self, multipliers: &[f64]) -> Vec<f64> {
        (0..self.offset.len()).map(|i| self.offset[i] + dot(self.matrix.row(i), multipliers)).collect()
    }

    /// The rounding of rate i.
    fn rounding(&self, i: usize, multipliers: &[f64]) -> f64 {
        SOLVED * (self.offset_scale[i] + dot(self.matrix_scale.row(i), multipliers))
    }

    fn is_beyond_rounding(&self, closing: &Closing, multipliers: &[f64]) -> bool {
        let rounding: f64 =
            closing.weights.iter().enumerate().map(|(i, y)| y * self.rounding(i, multipliers)).sum();
        let explained = dot(&closing.weights, self.offset) >= -rounding;
        // Also true for what is not a number.
        !explained
    }

    /// Wall p, violated by `rate` < 0, joins those kept; others may have to leave.
    fn join(&self, p: usize, rate: f64, kept: &mut ActiveWalls) -> Result<(), Closing> {
        let n = self.matrix;
        let mut rate = rate;
        loop {
            let along: Vec<f64> = kept.walls.iter().map(|&i| n[(i, p)]).collect();
            let d = solve_subset(n, &kept.walls, &along);
            let left = n[(p, p)] - dot(&along, &d);
            // Whose multiplier falls to zero first as that of p grows?
            let mut leaving: Option<(f64, usize)> = None;
            for (a, (&i, &di)) in kept.walls.iter().zip(&d).enumerate() {
                let counts = di > 0.0 && di * di * n[(i, i)] > NO_PART * n[(p, p)];
                let reach = kept.multipliers[i] / di;
                if counts && leaving.is_none_or(|(least, _)| reach < least) {
                    leaving = Some((reach, a));
                }
            }
            // What is not a number is not independent.
            let independent = left > DEPENDENT * n[(p, p)];
            let full = if independent { -rate / left } else { f64::INFINITY };
            let step = leaving.map_or(full, |(reach, _)| full.min(reach));
            if !step.is_finite() {
                let mut weights = vec![0.0; self.offset.len()];
                kept.walls.iter().zip(&d).for_each(|(&i, di)| weights[i] = (-di).max(0.0));
                weights[p] = 1.0;
                return Err(Closing { weights });
            }
            kept.walls.iter().zip(&d).for_each(|(&i, di)| {
                kept.multipliers[i] = (kept.multipliers[i] - step * di).max(0.0);
            });
            kept.multipliers[p] += step;
            match leaving {
                Some((reach, a)) if reach <= full => {
                    let left_behind = kept.walls.remove(a);
                    kept.multipliers[left_behind] = 0.0;
                    rate += if independent { step * left } else { 0.0 };
                    if rate >= 0.0 {
                        // Reached at the same instant.
                        kept.walls.push(p);
                        return Ok(());
                    }
                }
                _ => {
                    kept.walls.push(p);
                    return Ok(());
                }
            }
        }
    }

    /// N λ + q = 0 on the walls kept. One whose λ falls below zero by rounding leaves.
    fn solve_kept(&self, kept: &mut ActiveWalls) {
        loop {
            let right: Vec<f64> = kept.walls.iter().map(|&i| -self.offset[i]).collect();
            let z = solve_subset(self.matrix, &kept.walls, &right);
            kept.multipliers.fill(0.0);
            kept.walls.iter().zip(&z).for_each(|(&i, &x)| kept.multipliers[i] = x);
            match kept.walls.iter().position(|&i| kept.multipliers[i] < 0.0) {
                Some(a) => {
                    kept.walls.remove(a);
                }
                None => return,
            }
        }
    }

    /// Of all λ ≥ 0 with the same N λ the one with the smallest Σ λ_i² N_ii.
    fn smallest(&self, kept: &ActiveWalls, active: &[bool]) -> Vec<f64> {
        // All lines that hold, those kept first: with walls that carry nothing here they may depend on each other.
        let others = (0..active.len()).filter(|i| active[*i] && !kept.walls.contains(i));
        let within: Vec<usize> =
            kept.walls.iter().copied().chain(others).filter(|&i| self.matrix[(i, i)] > 0.0).collect();
        let independent = independent_subset(self.matrix, &within);
        if kept.walls.is_empty() || independent.len() == within.len() {
            return kept.multipliers.clone();
        }
        let dependent: Vec<usize> = within.iter().copied().filter(|i| !independent.contains(i)).collect();
        let free = self.shared(&independent, &dependent);
        if free.iter().all(|x| *x >= 0.0) {
            return free;
        }
        // Some would pull: a little of N_ii on the diagonal shows which walls push.
        let mut matrix = self.matrix.clone();
        for i in 0..active.len() {
            matrix[(i, i)] *= 1.0 + REGULARIZATION;
        }
        let offset: Vec<f64> = (0..active.len())
            .map(|i| if within.contains(&i) { self.offset[i] } else { f64::INFINITY })
            .collect();
        let regular = Complementarity { matrix: &matrix, offset: &offset, ..*self };
        let Ok((pushing, _)) = regular.search() else { return kept.multipliers.clone() };
        let mut support: Vec<usize> = within.into_iter().filter(|&i| pushing.multipliers[i] > 0.0).collect();
        support.sort_unstable();
        while !support.is_empty() {
            let independent = independent_subset(self.matrix, &support);
            let rest: Vec<usize> = support.iter().copied().filter(|i| !independent.contains(i)).collect();
            let found = self.shared(&independent, &rest);
            match support.iter().position(|&i| found[i] < 0.0) {
                // Below zero by rounding: the wall does not push.
                Some(a) => {
                    support.remove(a);
                }
                None if self.moves_alike(&found, &kept.multipliers) => return found,
                None => break,
            }
        }
        kept.multipliers.clone()
    }

    /// The smallest Σ λ_i² N_ii with N λ + q = 0 on the independent walls `kept` and the others that depend on them,
    /// whatever the signs: λ = (what those kept need alone) + Z c,  the columns of Z spanning N z = 0.
    fn shared(&self, kept: &[usize], others: &[usize]) -> Vec<f64> {
        let (n, k) = (self.matrix, self.offset.len());
        let right: Vec<f64> = kept.iter().map(|&i| -self.offset[i]).collect();
        let mut lambda = vec![0.0; k];
        kept.iter().zip(solve_subset(n, kept, &right)).for_each(|(&i, x)| lambda[i] = x);
        let null: Vec<Vec<f64>> = others
            .iter()
            .map(|&j| {
                let along: Vec<f64> = kept.iter().map(|&i| n[(i, j)]).collect();
                let d = solve_subset(n, kept, &along);
                let mut z = vec![0.0; k];
                kept.iter().zip(d).for_each(|(&i, di)| z[i] = -di);
                z[j] = 1.0;
                z
            })
            .collect();
        let weighted = |x: &[f64], y: &[f64]| (0..k).map(|i| x[i] * n[(i, i)] * y[i]).sum::<f64>();
        let mut gram = Matrix::zeros(null.len(), null.len());
        for (a, x) in null.iter().enumerate() {
            for (b, y) in null.iter().enumerate() {
                gram[(a, b)] = weighted(x, y);
            }
        }
        let all: Vec<usize> = (0..null.len()).collect();
        let right: Vec<f64> = null.iter().map(|z| -weighted(z, &lambda)).collect();
        for (c, z) in solve_subset(&gram, &all, &right).iter().zip(&null) {
            lambda.iter_mut().zip(z).for_each(|(x, zi)| *x += c * zi);
        }
        // What is shared out to nothing by rounding is nothing.
        let total = weighted(&lambda, &lambda);
        for (i, x) in lambda.iter_mut().enumerate() {
            if *x < 0.0 && *x * *x * n[(i, i)] <= NO_PART * total {
                *x = 0.0;
            }
        }
        lambda
    }

    /// Do these λ give the same rates?
    fn moves_alike(&self, found: &[f64], known: &[f64]) -> bool {
        let (a, b) = (self.rates(found), self.rates(known));
        (0..a.len()).all(|i| (a[i] - b[i]).abs() <= self.rounding(i, found) + self.rounding(i, known))
    }
}

/// Walls with independent normals, and λ.
#[derive(Clone, Debug)]
struct ActiveWalls {
    walls: Vec<usize>,
    multipliers: Vec<f64>,
    /// Violated by rounding only: no other wall would give way, and the sum that closes is rounding.
    excused: Vec<bool>,
}

/// Solves 0 ≤ λ ⊥ N λ + q ≥ 0, for numbers that are exact; `None` when it has no solution.
///
/// ```
/// use carom_jet::dense::Matrix;
/// use carom_run::lcp::complementary;
/// // Two walls pushing on the same body; the second is already opening.
/// let n = Matrix { rows: 2, columns: 2, entries: vec![2.0, 1.0, 1.0, 2.0] };
/// let impulses = complementary(&n, &[-2.0, 3.0]).unwrap();
/// assert_eq!(impulses, vec![1.0, 0.0]);
/// ```
pub fn complementary(matrix: &Matrix, q: &[f64]) -> Option<Vec<f64>> {
    if q.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let scale = |x: &[f64]| x.iter().map(|x| x.abs()).collect::<Vec<f64>>();
    let matrix_scale = Matrix { entries: scale(&matrix.entries), ..*matrix };
    let problem = Complementarity { matrix, matrix_scale: &matrix_scale, offset: q, offset_scale: &scale(q) };
    problem.solve().ok().map(|solution| solution.multipliers)
}

/// The first walls of a list whose normals are independent.
pub(crate) fn independent_subset(matrix: &Matrix, walls: &[usize]) -> Vec<usize> {
    let mut kept: Vec<usize> = Vec::new();
    for &p in walls {
        let along: Vec<f64> = kept.iter().map(|&i| matrix[(i, p)]).collect();
        let d = solve_subset(matrix, &kept, &along);
        if matrix[(p, p)] - dot(&along, &d) > DEPENDENT * matrix[(p, p)] {
            kept.push(p);
        }
    }
    kept
}

/// The part of a positive definite N that belongs to `set`, solved by L D Lᵀ: no pivoting, no root.
pub(crate) fn solve_subset(matrix: &Matrix, set: &[usize], right: &[f64]) -> Vec<f64> {
    let k = set.len();
    let mut l = Matrix::zeros(k, k);
    let mut x = right.to_vec();
    for i in 0..k {
        for j in 0..=i {
            let s = matrix[(set[i], set[j])] - (0..j).map(|a| l[(i, a)] * l[(j, a)] * l[(a, a)]).sum::<f64>();
            l[(i, j)] = if i == j { s } else { s / l[(j, j)] };
        }
    }
    for i in 0..k {
        x[i] -= (0..i).map(|j| l[(i, j)] * x[j]).sum::<f64>();
    }
    for i in (0..k).rev() {
        x[i] = x[i] / l[(i, i)] - (i + 1..k).map(|j| l[(j, i)] * x[j]).sum::<f64>();
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use carom_jet::dense::{Factored, largest};
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

    fn part(matrix: &Matrix, set: &[usize]) -> Matrix {
        let mut part = Matrix::zeros(set.len(), set.len());
        for (a, &i) in set.iter().enumerate() {
            for (b, &j) in set.iter().enumerate() {
                part[(a, b)] = matrix[(i, j)];
            }
        }
        part
    }

    /// The slow clear version: try every support, with the pivoting solver; the smallest Σ λ² N_ii wins.
    fn by_enumeration(matrix: &Matrix, q: &[f64]) -> Option<Vec<f64>> {
        let k = q.len();
        let weight = |l: &[f64]| (0..k).map(|i| l[i] * l[i] * matrix[(i, i)]).sum::<f64>();
        let mut best: Option<Vec<f64>> = None;
        for mask in 0..1u32 << k {
            let set: Vec<usize> = (0..k).filter(|i| mask >> i & 1 == 1).collect();
            let root: Vec<f64> = set.iter().map(|&i| matrix[(i, i)].sqrt()).collect();
            // Unknowns λ √N_ii, so that the smallest solution is the smallest in the weights.
            let mut scaled = part(matrix, &set);
            for a in 0..set.len() {
                for b in 0..set.len() {
                    scaled[(a, b)] /= root[b];
                }
            }
            let right: Vec<f64> = set.iter().map(|&i| -q[i]).collect();
            let z = Factored::new(&scaled).solve(&right);
            let mut lambda = vec![0.0; k];
            set.iter().enumerate().for_each(|(a, &i)| lambda[i] = z[a] / root[a]);
            let rates = matrix.times(&lambda);
            let fine = (0..k).all(|i| {
                let u = rates[i] + q[i];
                lambda[i] >= -1e-10 && u >= -1e-8 && (lambda[i] * u).abs() < 1e-8
            });
            if fine && best.as_ref().is_none_or(|b| weight(b) > weight(&lambda)) {
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
    fn a_gap_written_as_twice_itself_carries_half_the_multiplier() {
        let n = gram(&[vec![1.0, 0.0], vec![2.0, 0.0]]);
        let lambda = complementary(&n, &[-2.0, -4.0]).unwrap();
        assert!((lambda[0] - 1.0).abs() < 1e-14 && (lambda[1] - 0.5).abs() < 1e-14, "{lambda:?}");
    }

    #[test]
    fn four_legs_share_the_weight_and_none_pulls() {
        // A square table in (height, two tilts), loaded over one leg's neighbourhood.
        let legs = [[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]];
        let n = gram(&legs.map(|[x, y]| vec![1.0, x, y]));
        let even = complementary(&n, &[-1.0; 4]).unwrap();
        assert!(even.iter().all(|l| (l - 0.25).abs() < 1e-14), "{even:?}");
        // The load stands over the first leg: it carries nearly everything, no leg pulls.
        let load = |x: f64, y: f64| legs.map(|[a, b]| -(1.0 + a * x + b * y));
        let lambda = complementary(&n, &load(0.9, 0.9)).unwrap();
        assert!(lambda.iter().all(|l| *l >= 0.0), "{lambda:?}");
        let slow = by_enumeration(&n, &load(0.9, 0.9)).unwrap();
        for (a, b) in lambda.iter().zip(&slow) {
            assert!((a - b).abs() < 1e-9, "{lambda:?} {slow:?}");
        }
    }

    #[test]
    fn walls_closing_on_each_other_have_no_solution() {
        let n = gram(&[vec![1.0], vec![-1.0]]);
        assert_eq!(complementary(&n, &[-1.0, -1.0]), None);
        assert_eq!(complementary(&n, &[-1e-3, -1e-3]), None);
        assert_eq!(complementary(&n, &[-1e-300, -1e-300]), None);
    }

    #[test]
    fn walls_that_close_as_fast_as_they_open_are_fine() {
        let n = gram(&[vec![1.0], vec![-1.0]]);
        let lambda = complementary(&n, &[-1.0, 1.0]).unwrap();
        assert!((lambda[0] - 1.0).abs() < 1e-12 && lambda[1].abs() < 1e-12, "{lambda:?}");
    }

    #[test]
    fn a_wall_that_another_ones_impulse_passes_by_is_active_without_pushing() {
        // Orthogonal up to rounding: cos 0.3 · (−sin 0.3) + sin 0.3 · cos 0.3 in the last digit.
        let (s, c) = 0.3f64.sin_cos();
        let mut n = gram(&[vec![c, s], vec![-s, c]]);
        (n[(0, 1)], n[(1, 0)]) = (3e-17, 3e-17);
        let scale = Matrix { rows: 2, columns: 2, entries: vec![1.0; 4] };
        let problem = Complementarity {
            matrix: &n,
            matrix_scale: &scale,
            offset: &[0.0, -2.0],
            offset_scale: &[0.0, 2.0],
        };
        let solution = problem.solve().unwrap();
        assert_eq!((solution.active, solution.rates), (vec![true, true], vec![0.0, 0.0]));
        assert_eq!(solution.multipliers[0], 0.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]
        #[test]
        fn the_solution_agrees_with_trying_every_support(
            entries in prop::collection::vec(-1.0f64..1.0, 15), q in prop::collection::vec(-1.0f64..1.0, 5),
            kind in 0u8..3
        ) {
            // Five walls in three dimensions: the normals depend on each other; now and then exactly, or at rest.
            let mut rows: Vec<Vec<f64>> = entries.chunks(3).map(<[f64]>::to_vec).collect();
            let mut q = q;
            if kind > 0 {
                rows[4] = rows[3].iter().map(|x| 2.0 * x).collect();
                q[4] = 2.0 * q[3];
            }
            if kind > 1 {
                q[0] = 0.0;
            }
            let n = gram(&rows);
            let (fast, slow) = (complementary(&n, &q), by_enumeration(&n, &q));
            match (fast, slow) {
                (Some(a), Some(b)) => {
                    let (ra, rb) = (n.times(&a), n.times(&b));
                    let size = 1.0 + largest(&a) + largest(&b);
                    for i in 0..5 {
                        prop_assert!(a[i] >= 0.0);
                        prop_assert!((ra[i] - rb[i]).abs() < 1e-7 * size, "{a:?} {b:?}");
                        prop_assert!(ra[i] + q[i] > -1e-9 * size && (a[i] * (ra[i] + q[i])).abs() < 1e-9 * size * size);
                    }
                    let weight = |l: &[f64]| (0..5).map(|i| l[i] * l[i] * n[(i, i)]).sum::<f64>();
                    if size < 1e3 {
                        prop_assert!(weight(&a) <= weight(&b) * (1.0 + 1e-6) + 1e-9, "{a:?} {b:?}");
                    }
                }
                // Barely feasible or barely not: only a large solution may be in dispute.
                (Some(a), None) | (None, Some(a)) => prop_assert!(largest(&a) > 1e3, "{a:?}"),
                (None, None) => {}
            }
        }

        #[test]
        fn powers_of_two_in_the_gaps_pass_through_bit_for_bit(
            entries in prop::collection::vec(-1.0f64..1.0, 12), q in prop::collection::vec(-1.0f64..1.0, 4),
            powers in prop::collection::vec(-9i32..9, 4), unit in -9i32..9
        ) {
            let rows: Vec<Vec<f64>> = entries.chunks(3).map(<[f64]>::to_vec).collect();
            let mut n = gram(&rows);
            let plain = complementary(&n, &q);
            let f: Vec<f64> = powers.iter().map(|p| 2f64.powi(*p)).collect();
            for i in 0..4 {
                for j in 0..4 {
                    n[(i, j)] *= f[i] * f[j] * 2f64.powi(unit);
                }
            }
            let scaled: Vec<f64> = q.iter().zip(&f).map(|(q, f)| q * f).collect();
            let found = complementary(&n, &scaled);
            let back = found.map(|l| l.iter().zip(&f).map(|(l, f)| l * f * 2f64.powi(unit)).collect::<Vec<f64>>());
            prop_assert_eq!(plain, back);
        }
    }
}
