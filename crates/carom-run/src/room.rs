//! Free space without interior.
//!
//! ```text
//! y ≥ 0,  y ≠ 0,  N S Nᵀ y = 0        no motion opens all gaps at once: Σ y_i φ̇_i is what no impulse changes
//! y·φ̇⁻ < 0                            the space closes: squeezed
//! y·φ̇⁻ = 0                            the walls with y_i > 0 cannot open: they are stopped, φ̇_i = 0 from now on
//! ```
//!
//! Without this a mass in a slit of no width would bounce for ever. What moved there is stopped with the e = 0 law before any
//! other wall is looked at; that energy is lost, whatever e.

use crate::law::{LawFailure, Touching};
use crate::lcp::{Complementarity, independent_subset};
use crate::several::GapRates;
use crate::zero::{DEPENDENT, SOLVED};
use carom_jet::dense::{Matrix, dot};

/// yᵀ N y is a sum of differences: zero below this many times what one of them may leave.
const TERMS: f64 = 16.0;

impl Touching {
    /// Free space without interior: an error where it closes; walls that cannot open are stopped, and named.
    ///
    /// # Errors
    /// When walls close on each other.
    pub fn stop_where_no_room(
        &self,
        rates: &mut GapRates,
        impulses: &mut [f64],
        resting: &mut [bool],
    ) -> Result<Vec<usize>, LawFailure> {
        let k = rates.now.len();
        let stuck = self.without_room(rates)?;
        if stuck.is_empty() {
            return Ok(stuck);
        }
        let part = |m: &Matrix| {
            let mut part = Matrix::zeros(stuck.len(), stuck.len());
            for (a, &i) in stuck.iter().enumerate() {
                for (b, &j) in stuck.iter().enumerate() {
                    part[(a, b)] = m[(i, j)];
                }
            }
            part
        };
        let pick = |list: &[f64]| stuck.iter().map(|&i| list[i]).collect::<Vec<f64>>();
        let problem = Complementarity {
            matrix: &part(&self.delassus),
            matrix_scale: &part(&self.scale),
            offset: &pick(&rates.now),
            offset_scale: &pick(&rates.scale),
        };
        let solution = problem.solve().map_err(|_| LawFailure::Squeezed(stuck.clone()))?;
        let mut lambda = vec![0.0; k];
        for (a, &i) in stuck.iter().enumerate() {
            lambda[i] = solution.multipliers[a];
            impulses[i] += lambda[i];
        }
        for (i, resting) in resting.iter_mut().enumerate().take(k) {
            let rounding = SOLVED * (rates.scale[i] + dot(self.scale.row(i), &lambda));
            rates.now[i] += dot(self.delassus.row(i), &lambda);
            *resting = stuck.contains(&i) || rates.now[i].abs() <= rounding;
            if *resting {
                rates.now[i] = 0.0;
            }
        }
        Ok(stuck)
    }

    /// Walls that cannot open: some y ≥ 0 has y_i > 0, N S Nᵀ y = 0, y·φ̇ = 0. The nearest such y with y_i = 1 is looked for
    /// with the rates as one more component of the normals. Empty if all of them are at rest.
    ///
    /// # Errors
    /// When walls close on each other.
    pub fn without_room(&self, rates: &GapRates) -> Result<Vec<usize>, LawFailure> {
        let k = rates.now.len();
        let able: Vec<usize> = (0..k).filter(|&i| self.enforceable(i)).collect();
        if independent_subset(&self.delassus, &able).len() == able.len() {
            return Ok(Vec::new());
        }
        // With ε = 0 the problem has a solution exactly if the space does not close.
        self.pass(rates, &vec![0.0; k])?;
        let fastest = rates.now.iter().enumerate().map(|(i, u)| u * u / self.delassus[(i, i)]);
        let unit = fastest.filter(|x| x.is_finite()).fold(0.0, f64::max);
        if unit == 0.0 {
            return Ok(Vec::new());
        }
        let mut stuck = vec![false; k];
        for &i in &able {
            if stuck[i] {
                continue;
            }
            let others: Vec<usize> = able.iter().copied().filter(|&j| j != i).collect();
            let entry = |m: &Matrix, a: usize, b: usize| m[(a, b)] + rates.now[a] * rates.now[b] / unit;
            let size = |a: usize, b: usize| self.scale[(a, b)] + (rates.now[a] * rates.now[b]).abs() / unit;
            let (mut matrix, mut scale) =
                (Matrix::zeros(others.len(), others.len()), Matrix::zeros(others.len(), others.len()));
            for (a, &p) in others.iter().enumerate() {
                for (b, &q) in others.iter().enumerate() {
                    matrix[(a, b)] = entry(&self.delassus, p, q);
                    scale[(a, b)] = size(p, q);
                }
            }
            let offset: Vec<f64> = others.iter().map(|&p| entry(&self.delassus, p, i)).collect();
            let offset_scale: Vec<f64> = others.iter().map(|&p| size(p, i)).collect();
            let problem = Complementarity {
                matrix: &matrix,
                matrix_scale: &scale,
                offset: &offset,
                offset_scale: &offset_scale,
            };
            let Ok(solution) = problem.solve() else { continue };
            let y = |j: usize| others.iter().position(|&o| o == j).map_or(1.0, |a| solution.multipliers[a]);
            let (mut length, mut sum, mut rounding) = (self.delassus[(i, i)], rates.now[i], rates.scale[i]);
            for &j in &others {
                sum += y(j) * rates.now[j];
                rounding += y(j) * rates.scale[j];
                length += y(j) * self.delassus[(i, j)];
            }
            // yᵀ N y = y_i (N y)_i, since the other lines of N y vanish where y does not.
            if length.abs() <= TERMS * DEPENDENT * self.delassus[(i, i)] && sum.abs() <= SOLVED * rounding {
                stuck[i] = true;
                others.iter().filter(|&&j| y(j) > 0.0).for_each(|&j| stuck[j] = true);
            }
        }
        let stuck: Vec<usize> = (0..k).filter(|&i| stuck[i]).collect();
        Ok(if stuck.iter().all(|&i| rates.now[i] == 0.0) { Vec::new() } else { stuck })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::KktFactor;

    const MOST: u64 = 1_000_000;

    fn plain_mass(n: usize) -> KktFactor {
        let mut mass = Matrix::zeros(n, n);
        (0..n).for_each(|i| mass[(i, i)] = 1.0);
        KktFactor::new(&mass, &Matrix::zeros(0, n))
    }

    fn rates_of(normals: &[Vec<f64>], v: &[f64]) -> GapRates {
        GapRates { now: normals.iter().map(|n| dot(n, v)).collect(), scale: vec![1.0; normals.len()] }
    }

    #[test]
    fn a_mass_without_room_is_stopped_squeezed_or_let_go() {
        let touching = Touching::new(&plain_mass(1), &[vec![1.0], vec![-1.0]]);
        let rates = |now: [f64; 2]| GapRates { now: now.to_vec(), scale: vec![1.0, 1.0] };
        // Moving in a slit of no width: stopped, at any e.
        let joint = touching.simultaneous(&rates([-1.0, 1.0]), &[1.0, 1.0], MOST).unwrap();
        assert_eq!(
            (joint.stopped, joint.rates, joint.resting),
            (vec![0, 1], vec![0.0, 0.0], vec![true, true])
        );
        assert_eq!(joint.outcome.jump, vec![1.0]);
        // The slit closes.
        assert_eq!(
            touching.simultaneous(&rates([-1.0, 0.9]), &[1.0, 1.0], MOST),
            Err(LawFailure::Squeezed(vec![0, 1]))
        );
        // The slit opens: bounces between walls that part at 0.1, the approach falls by that each time.
        let joint = touching.simultaneous(&rates([-1.0, 1.1]), &[1.0, 1.0], MOST).unwrap();
        assert!(joint.stopped.is_empty() && joint.rates.iter().all(|u| *u >= 0.0), "{joint:?}");
        assert!((joint.rates[0] + joint.rates[1] - 0.1).abs() < 1e-14);
    }

    #[test]
    fn three_walls_around_a_point_stop_what_moves_between_them_and_leave_the_way_out() {
        // Normals at 120° in the plane, and a floor: only upwards is free.
        let around = |a: f64| vec![a.to_radians().cos(), a.to_radians().sin(), 0.0];
        let normals = vec![around(0.0), around(120.0), around(240.0), vec![0.0, 0.0, 1.0]];
        let touching = Touching::new(&plain_mass(3), &normals);
        let v = [0.3, -0.2, -1.0];
        let joint = touching.simultaneous(&rates_of(&normals, &v), &[1.0; 4], MOST).unwrap();
        assert_eq!(joint.stopped, vec![0, 1, 2]);
        assert_eq!(joint.resting, vec![true, true, true, false]);
        assert_eq!(joint.rates[..3], [0.0; 3]);
        assert!((joint.rates[3] - 1.0).abs() < 1e-14);
        assert!(joint.outcome.impulses.iter().all(|l| *l >= 0.0), "{joint:?}");
        let after: Vec<f64> = v.iter().zip(&joint.outcome.jump).map(|(v, j)| v + j).collect();
        assert!(after[0].abs() < 1e-15 && after[1].abs() < 1e-15 && (after[2] - 1.0).abs() < 1e-14);
    }
}
