//! What must hold of Φ = ∂state(end)/∂state(start), whatever the model: areas are kept.
//!
//! ```text
//! e = 1: Φᵀ J Φ = J in (q, p)          det Φ = Π e² · det W(0)/det W(T) in (q, v), one factor e² per one-wall impact
//! ```
//!
//! Without rows and without forces that L does not contain.

use crate::run::Run;
use crate::variation::{Direction, VariationChecks};
use carom_jet::dense::Matrix;

impl Run<'_> {
    /// ln |det W|
    pub fn log_of_mass(&self) -> f64 {
        log_determinant(&self.frame.mass()) * if self.frame.layout.inverse { -1.0 } else { 1.0 }
    }

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
            let mass = if self.is_hamiltonian() { 0.0 } else { log_mass - self.log_of_mass() };
            checks.determinant = Some((log_determinant(&phi) - factor - mass).exp_m1().abs());
        }
        if log_factor == Some(0.0) {
            checks.symplectic = self.symplectic_residual(&phi, &places);
        }
        checks
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
                let (time, state) = (self.time, self.state.clone());
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
