//! The commonest impact: one wall, no constraint rows, quadratic kinetic energy.
//!
//! ```text
//! λ = −(1+e) φ̇⁻ / (n·S n),   [v] = λ S n,   [p] = λ n,        S = W⁻¹ (by L D Lᵀ) or H_pp
//! ```
//!
//! The law of `law.rs` without its detours: no storage, no pivoting. Where W is not safely positive definite, or the wall
//! can hardly push, the general law decides. Single runs and lanes both come here first.

use crate::law::HOPELESS;
use crate::run::Run;
use carom_jet::dense::dot;

/// Most coordinates.
const MOST: usize = 8;
/// A pivot below this part of its diagonal entry is left to pivoting.
const SAFE: f64 = 1e-6;

impl Run<'_> {
    /// Wall `wall` alone is hit with φ̇⁻ = `rate` < 0. False if this is a case for the general law; nothing has happened
    /// then.
    pub fn apply_one_wall(&mut self, wall: usize, rate: f64) -> bool {
        let n = self.size();
        if n > MOST || self.frame.layout.rows > 0 || self.is_degenerate() || !self.program.mechanics.quadratic
        {
            return false;
        }
        let mut inverse_mass_normal = [0.0; MOST];
        let inverse_mass_normal = &mut inverse_mass_normal[..n];
        let normal = self.frame.normal(wall);
        let scale = if self.frame.layout.inverse {
            inverse_mass_times_by_inverse(self.frame.mass_entries(), normal, inverse_mass_normal)
        } else {
            inverse_mass_times_by_mass(self.frame.mass_entries(), normal, inverse_mass_normal)
        };
        let Some(scale) = scale else { return false };
        let delassus = dot(normal, inverse_mass_normal);
        // Also true for what is not a number.
        if !(delassus > HOPELESS * scale && delassus.is_finite()) {
            return false;
        }
        let e = self.contact.restitution[wall];
        let impulse = -(1.0 + e) * rate / delassus;
        let mut added = [0.0; MOST];
        let added = &mut added[..n];
        added.iter_mut().zip(normal).for_each(|(p, n)| *p = impulse * n);
        inverse_mass_normal.iter_mut().for_each(|s| *s *= impulse);
        self.apply_one_wall_with(wall, rate, impulse, added, inverse_mass_normal);
        self.contact.walls[wall].touching = true;
        // Its line is active; with e = 0 that is φ̇ = 0.
        self.contact.walls[wall].resting = e == 0.0;
        true
    }

    /// Applies [p] = `momentum`, [v] = `jump`: state, audit, record.
    fn apply_one_wall_with(&mut self, wall: usize, rate: f64, impulse: f64, momentum: &[f64], jump: &[f64]) {
        let n = self.size();
        let mut before = [0.0; MOST];
        before[..n].copy_from_slice(self.frame.momentum());
        let energy = self.frame.energy();
        let mut allowed = -impulse * self.frame.gap_t(wall);
        let drives =
            if self.recorder.keeps_impacts { self.frame.drive_momentum().to_vec() } else { Vec::new() };
        let velocity = if self.recorder.keeps_impacts { self.all_velocities() } else { Vec::new() };
        self.apply_impulse(momentum, jump);
        self.evaluate_frame();
        // Zero at e = 1.
        allowed += 0.5 * impulse * (self.frame.gap_rate(wall) + rate);
        self.audit.expected_energy += allowed;
        self.audit_impact(&before[..n], momentum, energy, allowed);
        self.recorder.impact_count += 1;
        self.contact.last_hit.clear();
        self.contact.last_hit.push(wall);
        if self.recorder.keeps_impacts {
            self.record_impact(&[(wall, impulse, rate)], &[], &drives, velocity, energy);
        }
    }
}

/// S n for S given; returns Σ nᵢ² Sᵢᵢ, what n·Sn is compared with.
fn inverse_mass_times_by_inverse(
    inverse: &[f64],
    normal: &[f64],
    inverse_mass_normal: &mut [f64],
) -> Option<f64> {
    let n = normal.len();
    let mut scale = 0.0;
    for (i, s) in inverse_mass_normal.iter_mut().enumerate() {
        *s = dot(&inverse[i * n..(i + 1) * n], normal);
        scale += normal[i] * normal[i] * inverse[i * n + i].abs();
    }
    Some(scale)
}

/// W⁻¹ n by L D Lᵀ; returns Σ nᵢ²/Wᵢᵢ. `None` where a pivot is lost, or nearly.
fn inverse_mass_times_by_mass(mass: &[f64], normal: &[f64], inverse_mass_normal: &mut [f64]) -> Option<f64> {
    let n = normal.len();
    // L below the diagonal, D on it.
    let mut l = [0.0; MOST * MOST];
    let mut scale = 0.0;
    for i in 0..n {
        let mut pivot = mass[i * n + i];
        scale += normal[i] * normal[i] / pivot;
        let safe = SAFE * pivot;
        for j in 0..i {
            let mut s = mass[i * n + j];
            for k in 0..j {
                s -= l[i * MOST + k] * l[j * MOST + k] * l[k * MOST + k];
            }
            let lij = s / l[j * MOST + j];
            l[i * MOST + j] = lij;
            pivot -= lij * s;
        }
        // Also true for what is not a number.
        if !(pivot > safe && safe > 0.0) {
            return None;
        }
        l[i * MOST + i] = pivot;
    }
    for i in 0..n {
        let mut s = normal[i];
        for j in 0..i {
            s -= l[i * MOST + j] * inverse_mass_normal[j];
        }
        inverse_mass_normal[i] = s;
    }
    for i in 0..n {
        inverse_mass_normal[i] /= l[i * MOST + i];
    }
    for i in (0..n).rev() {
        for j in 0..i {
            inverse_mass_normal[j] -= l[i * MOST + j] * inverse_mass_normal[i];
        }
    }
    Some(scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::KktFactor;
    use carom_jet::dense::Matrix;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_short_way_gives_what_the_general_law_gives(
            b in prop::collection::vec(-1.0f64..1.0, 16), normal in prop::collection::vec(-1.0f64..1.0, 4),
        ) {
            // W = B Bᵀ + I/10: condition below 10 · 4 + 1.
            let mut mass = Matrix::zeros(4, 4);
            for i in 0..4 {
                for j in 0..4 {
                    let s: f64 = (0..4).map(|k| b[4 * i + k] * b[4 * j + k]).sum();
                    mass[(i, j)] = s + if i == j { 0.1 } else { 0.0 };
                }
            }
            let mut inverse_mass_normal = [0.0; 4];
            let scale = inverse_mass_times_by_mass(&mass.entries, &normal, &mut inverse_mass_normal);
            prop_assert!(scale.is_some());
            let (general, _) = KktFactor::new(&mass, &Matrix::zeros(0, 4)).inverse_mass_times(&normal);
            for (a, b) in inverse_mass_normal.iter().zip(&general) {
                prop_assert!((a - b).abs() < 1e-12, "{a} instead of {b}");
            }
            let mut back = [0.0; 4];
            inverse_mass_times_by_inverse(&mass.entries, &general, &mut back);
            for (a, b) in back.iter().zip(&normal) {
                prop_assert!((a - b).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_doubtful_mass_matrix_is_left_to_pivoting() {
        for mass in [[1.0, 1.0, 1.0, 1.0], [0.0, 1.0, 1.0, 0.0], [-1.0, 0.0, 0.0, 1.0], [f64::NAN; 4]] {
            assert_eq!(inverse_mass_times_by_mass(&mass, &[1.0, 0.5], &mut [0.0; 2]), None);
        }
    }
}
