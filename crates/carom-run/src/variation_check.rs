//! What must hold of Φ = ∂state(end)/∂state(start), whatever the model: areas are kept.
//!
//! ```text
//! e = 1: Φᵀ J Φ = J in (q, p)          det Φ = Π e² · det W(0)/det W(T) in (q, v), one factor e² per one-wall impact
//! ```
//!
//! Both are measured by what relative errors of the entries of Φ do to them, so they say the same at any time, however far
//! neighbours have come apart.
//!
//! Without rows and without forces that L does not contain.
//!
//! What may be left: a step of the variation leaves out `LOOSE` tolerances of a column, N steps N times that, of terms that may have been
//! larger by the square of A = max |δx(t)|/|δx(T)| on the way than they are at the end. Impacts and near grazes cost digits too, so less
//! than half of all digits is no reason to say anything: more than max(√ε, N·LOOSE·tolerance)·A² is.

use crate::figures::figures;
use crate::frame::Frame;
use crate::run::Run;
use crate::sensitivity::LOOSE;
use crate::variation::{Direction, VariationChecks};
use carom_jet::dense::{Matrix, dot, largest};

impl Run<'_> {
    /// What must hold of Φ = ∂state(end)/∂state(start), when all starts were asked for.
    pub fn checked(&mut self, end: &Matrix) -> VariationChecks {
        let mut checks = VariationChecks::default();
        let Some(tangent) = &self.tangent else { return checks };
        let (result, log_factor, log_mass) = (&tangent.result, tangent.log_factor, tangent.log_mass);
        let m = &self.program.mechanics;
        let n = self.size();
        let starts = Direction::starts(m);
        let places: Option<Vec<usize>> =
            starts.iter().map(|d| result.directions.iter().position(|x| x == d)).collect();
        let plain = m.rows.is_empty()
            && m.model.forces.is_empty()
            && m.model.dissipation.is_none()
            && m.model.events.iter().all(|e| !matches!(e.action, carom_mech::model::Action::Set(_)))
            && self.recorder.motion.contacts.is_empty()
            && result.not_differentiable.is_none()
            && result.one_sided.is_empty();
        let (Some(places), true) = (places, plain) else { return checks };
        let mut phi = Matrix::zeros(2 * n, 2 * n);
        for i in 0..2 * n {
            for (j, &p) in places.iter().enumerate() {
                phi[(i, j)] = end[(i, p)];
            }
        }
        self.evaluate_frame();
        if let Some(factor) = log_factor.filter(|f| f.is_finite()) {
            // In (q, v) volumes change by det W(0)/det W(T), in (q, p) not.
            let mass = if self.is_hamiltonian() { 0.0 } else { log_mass - self.frame.log_of_mass() };
            let error = (log_determinant(&phi) - factor - mass).exp_m1().abs();
            checks.determinant = Some(error / condition_of_determinant(&phi));
        }
        if log_factor == Some(0.0) {
            checks.symplectic = self.symplectic_residual(&phi, &places);
        }
        checks
    }

    /// Says so where derivatives do not keep what they must.
    pub fn warn_of_checks(&mut self, checks: &VariationChecks, end: &Matrix) {
        let worst = checks.symplectic.unwrap_or(0.0).max(checks.determinant.unwrap_or(0.0));
        let Some(tangent) = &self.tangent else { return };
        let size = |j: usize| (0..end.rows).map(|i| end[(i, j)].abs()).fold(0.0, f64::max);
        let starts = Direction::starts(&self.program.mechanics);
        let taken = (0..end.columns).filter(|&j| starts.contains(&tangent.result.directions[j]));
        let apart = taken.map(|j| tangent.peaks[j] / size(j)).fold(1.0, f64::max);
        let steps = self.stepper.steps as f64 * LOOSE * self.options.tolerance.max(f64::EPSILON);
        if worst > steps.max(f64::EPSILON.sqrt()) * apart * apart {
            self.warn(format!(
                "the derivatives are off by about {} of their size, more than rounding explains: areas that the motion keeps are not kept by them; smaller steps or a smaller tolerance help",
                figures(worst, 2)
            ));
        }
    }

    /// ΦᵀJΦ − J in (q, p), relative to the terms it is the sum of.
    fn symplectic_residual(&mut self, phi: &Matrix, places: &[usize]) -> Option<f64> {
        let n = self.size();
        let mut there = phi.clone();
        let mut here = Matrix::zeros(2 * n, 2 * n);
        (0..2 * n).for_each(|i| here[(i, i)] = 1.0);
        if !self.is_hamiltonian() {
            // δp = p_q δq + W δv, at both ends: kept at the start, evaluated now at the end.
            let tangent = self.tangent.as_ref()?;
            for (j, &p) in places.iter().enumerate() {
                for i in 0..n {
                    here[(i, j)] = tangent.result.start[(i, p)];
                    here[(n + i, j)] = tangent.momenta[p][i];
                }
            }
            for j in 0..2 * n {
                let column: Vec<f64> = (0..2 * n).map(|i| phi[(i, j)]).collect();
                let (time, state) = (self.now.time, self.now.state.clone());
                let still = vec![0.0; self.options.parameters.len()];
                let values = self.differential_at(time, &state, &column, 0.0, &still);
                let at = self.tangent.as_ref()?.layout.momentum;
                (0..n).for_each(|i| there[(n + i, j)] = values[at + i]);
            }
        }
        let form = |m: &Matrix, a: usize, b: usize| {
            let (mut sum, mut size) = (0.0, 0.0);
            for i in 0..n {
                let (x, y) = (m[(i, a)] * m[(n + i, b)], m[(n + i, a)] * m[(i, b)]);
                sum += x - y;
                size += x.abs() + y.abs();
            }
            (sum, size)
        };
        let mut worst = 0.0_f64;
        let scale = (0..2 * n).flat_map(|a| (0..2 * n).map(move |b| (a, b)));
        for (a, b) in scale {
            let (now, size) = form(&there, a, b);
            let (before, least) = form(&here, a, b);
            if size + least > 0.0 {
                worst = worst.max((now - before).abs() / (size + least));
            }
        }
        Some(worst)
    }
}

impl Frame {
    /// ln |det W|
    pub fn log_of_mass(&self) -> f64 {
        log_determinant(&self.mass()) * if self.layout.inverse { -1.0 } else { 1.0 }
    }
}

/// Σ |M_ij (M⁻¹)_ji|: what relative errors of the entries are multiplied with in det M. No unit enters, and no pivot is too
/// small: the determinant of neighbours that have come far apart is made of them.
fn condition_of_determinant(m: &Matrix) -> f64 {
    let n = m.rows;
    let (mut a, mut inverse) = (m.clone(), Matrix::zeros(n, n));
    (0..n).for_each(|i| inverse[(i, i)] = 1.0);
    for k in 0..n {
        let Some(p) = (k..n).max_by(|&i, &j| a[(i, k)].abs().total_cmp(&a[(j, k)].abs())) else { break };
        for both in [&mut a, &mut inverse] {
            (0..n).for_each(|j| both.entries.swap(k * n + j, p * n + j));
        }
        for i in (0..n).filter(|&i| i != k) {
            let factor = a[(i, k)] / a[(k, k)];
            for both in [&mut a, &mut inverse] {
                for j in 0..n {
                    let row = both[(k, j)];
                    both[(i, j)] -= factor * row;
                }
            }
        }
    }
    let terms = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    let sum: f64 = terms.map(|(i, j)| (m[(i, j)] * inverse[(j, i)] / a[(j, j)]).abs()).sum();
    // Each row has at least the terms that add up to 1.
    sum.max(n as f64)
}

/// ln |det M|, by the factors of M.
fn log_determinant(m: &Matrix) -> f64 {
    let n = m.rows;
    let mut a = m.clone();
    let mut sum = 0.0;
    for k in 0..n {
        let Some(p) = (k..n).max_by(|&i, &j| a[(i, k)].abs().total_cmp(&a[(j, k)].abs())) else { break };
        for j in 0..n {
            let swap = a[(k, j)];
            a[(k, j)] = a[(p, j)];
            a[(p, j)] = swap;
        }
        sum += a[(k, k)].abs().ln();
        for i in k + 1..n {
            let factor = a[(i, k)] / a[(k, k)];
            for j in k..n {
                a[(i, j)] -= factor * a[(k, j)];
            }
        }
    }
    sum
}

/// Power iterations for a norm: each gains at least the square of the ratio of singular values.
const ITERATIONS: usize = 200;

/// The spectral norm, by power iteration on ΦᵀΦ.
pub(crate) fn norm(matrix: &Matrix) -> f64 {
    let n = matrix.columns;
    let scale = largest(&matrix.entries);
    if scale == 0.0 || !scale.is_finite() {
        return scale;
    }
    let scaled = Matrix { entries: matrix.entries.iter().map(|x| x / scale).collect(), ..*matrix };
    let mut x: Vec<f64> = (0..n).map(|i| 1.0 + 0.1 * i as f64).collect();
    let mut norm = 0.0;
    for _ in 0..ITERATIONS {
        let length = dot(&x, &x).sqrt();
        if length == 0.0 || !length.is_finite() {
            break;
        }
        x.iter_mut().for_each(|v| *v /= length);
        let y = scaled.times(&x);
        norm = dot(&y, &y).sqrt();
        x = scaled.transposed_times(&y);
    }
    norm * scale
}
