//! How well a fit knows what it found: the noise of every column, standard errors, what the data does not determine.
//!
//! ```text
//! σ_c² = Σ r²/(N_c − Σ h)        covariance = s² (JᵀJ)⁻¹        J u = 0: the data stays the same along u
//! ```

use super::signal::symmetric_eigen;
use super::{Evaluation, Fit};
use crate::refusal::Refusal;
use carom_jet::dense::{SingularValues, dot};

/// Singular values below this part of the largest belong to combinations that the data does not determine.
const UNDETERMINED: f64 = 1e-8;

/// How the cost rises around a place.
struct Curvature {
    /// Eigenvalues and eigenvectors of JᵀJ of unit columns, and the lengths of the columns.
    values: Vec<f64>,
    vectors: Vec<Vec<f64>>,
    unit: Vec<f64>,
    /// Those along which nothing changes.
    lost: Vec<usize>,
    /// s²
    variance: f64,
}

/// Standard errors at which other valleys are looked for, the part of the expected rise that shows one, how often one is left, and
/// the part of the cost that is lower.
const AWAY: f64 = 2.0;
const SHALLOW: f64 = 0.8;
const MOST_VALLEYS: usize = 4;
const LOWER: f64 = 1e-9;

/// Residuals below this part of the data are rounding.
const ROUNDING: f64 = 1e-11;
/// The part of a Gauss–Newton step by which it is seen whether the cost still falls.
const AHEAD: f64 = 1e-3;

impl Fit<'_> {
    /// σ of every column: what is left of it, over the values that no parameter takes up. A column with no more values than
    /// parameters could be met exactly, and weighed ever more for it: it keeps the σ of the first round, when all weighed alike.
    pub(super) fn noise(&self, found: &Evaluation, sigma: &[f64], first: &[f64]) -> Vec<f64> {
        let n = self.names.len();
        let rows: Vec<Vec<f64>> = found
            .jacobian
            .iter()
            .zip(&found.column)
            .map(|(row, &c)| row.iter().map(|x| x / sigma[c]).collect())
            .collect();
        let decomposed = SingularValues::of(&rows, n);
        let (mut squares, mut free) = (vec![0.0; sigma.len()], vec![0.0; sigma.len()]);
        for ((row, r), &c) in rows.iter().zip(&found.residual).zip(&found.column) {
            let used: f64 = (0..decomposed.rank())
                .map(|k| (dot(row, &decomposed.right[k]) / decomposed.values[k]).powi(2))
                .sum();
            squares[c] += r * r;
            free[c] += 1.0 - used.min(1.0);
        }
        (0..sigma.len())
            .map(|c| {
                let values = found.column.iter().filter(|x| **x == c).count();
                if values <= n && !first.is_empty() {
                    return first[c];
                }
                let variance =
                    if values <= n { squares[c] / values.max(1) as f64 } else { squares[c] / free[c] };
                if variance > 0.0 && variance.is_finite() { variance.sqrt() } else { sigma[c] }
            })
            .collect()
    }

    /// Values of each column that no parameter takes up.
    fn spare(&self, found: &Evaluation, sigma: &[f64]) -> Vec<f64> {
        let n = self.names.len();
        let row = |(row, &c): (&Vec<f64>, &usize)| row.iter().map(|x| x / sigma[c]).collect();
        let rows: Vec<Vec<f64>> = found.jacobian.iter().zip(&found.column).map(row).collect();
        let decomposed = SingularValues::of(&rows, n);
        let mut spare = vec![0.0; sigma.len()];
        for (row, &c) in rows.iter().zip(&found.column) {
            let used = |k: usize| (dot(row, &decomposed.right[k]) / decomposed.values[k]).powi(2);
            spare[c] += 1.0 - (0..decomposed.rank()).map(used).sum::<f64>().min(1.0);
        }
        spare
    }

    /// What estimated weights do to the error of parameter i (Meier 1953): with ω_c the share of column c in its variance, ν_c its spare
    /// values, the variance is larger by 1 + 4 Σ ω_c (1 − ω_c)/ν_c, and has 1/Σ(ω_c²/ν_c) degrees of freedom.
    fn weighing(
        &self,
        found: &Evaluation,
        sigma: &[f64],
        known: &Curvature,
        spare: &[f64],
        i: usize,
    ) -> [f64; 2] {
        let n = self.names.len();
        let mut share = vec![0.0; sigma.len()];
        for (row, &c) in found.jacobian.iter().zip(&found.column) {
            let along = |k: usize| -> f64 {
                let unit: f64 =
                    (0..n).map(|j| row[j] / (sigma[c] * known.unit[j]) * known.vectors[k][j]).sum();
                unit * known.vectors[k][i] / known.values[k]
            };
            let kept = (0..n).filter(|k| !known.lost.contains(k));
            share[c] += kept.map(along).sum::<f64>().powi(2);
        }
        let all: f64 = share.iter().sum();
        let (mut wider, mut inverse) = (1.0, 0.0);
        for (share, spare) in share.iter().zip(spare) {
            let (part, spare) = (share / all, spare.max(1.0));
            wider += 4.0 * part * (1.0 - part) / spare;
            inverse += part * part / spare;
        }
        [wider, 1.0 / inverse]
    }

    /// JᵀJ of unit columns, taken apart.
    fn curvature(&self, found: &Evaluation, sigma: &[f64]) -> Curvature {
        let n = self.names.len();
        let rows: Vec<Vec<f64>> = found
            .jacobian
            .iter()
            .zip(&found.column)
            .map(|(row, &c)| row.iter().map(|x| x / sigma[c]).collect())
            .collect();
        let length: Vec<f64> = (0..n).map(|j| rows.iter().map(|r| r[j] * r[j]).sum::<f64>().sqrt()).collect();
        let unit: Vec<f64> = length.iter().map(|&l| if l > 0.0 { l } else { 1.0 }).collect();
        // By Jacobi rotations: eigenvalues are squares of the singular values of J.
        let mut a = vec![vec![0.0; n]; n];
        for r in &rows {
            for i in 0..n {
                for j in 0..n {
                    a[i][j] += r[i] * r[j] / (unit[i] * unit[j]);
                }
            }
        }
        let (values, vectors) = symmetric_eigen(a);
        let largest = values.iter().copied().fold(0.0, f64::max);
        let lost: Vec<usize> = (0..n)
            .filter(|&k| values[k] <= (UNDETERMINED * UNDETERMINED).max(1e-15) * largest || values[k] <= 0.0)
            .collect();
        let spare = rows.len().saturating_sub(n - lost.len());
        let variance = if spare > 0 { 2.0 * found.cost(sigma) / spare as f64 } else { f64::NAN };
        Curvature { values, vectors, unit, lost, variance }
    }

    /// The lowest place in the neighbourhood: a signal has a kink at every impact, so the cost may have several valleys within what the
    /// data leaves open. Where it rises less than its curvature says, two standard errors along an axis of the covariance, there is
    /// another one, and it is gone down into; is it lower, it is taken.
    pub(super) fn leave_valley(
        &self,
        theta: &mut Vec<f64>,
        wanted: &[usize],
        sigma: &[f64],
        iterations: &mut usize,
    ) -> Result<(), Refusal> {
        let n = theta.len();
        for _ in 0..MOST_VALLEYS {
            let here = self.evaluate(theta, wanted)?;
            let (cost, known) = (here.cost(sigma), self.curvature(&here, sigma));
            let mut lowest = (cost * (1.0 - LOWER), None);
            for k in (0..n).filter(|k| !known.lost.contains(k)) {
                let size = (known.variance / known.values[k]).sqrt();
                for away in [-AWAY, AWAY] {
                    let mut there: Vec<f64> = (0..n)
                        .map(|i| theta[i] + away * size * known.vectors[k][i] / known.unit[i])
                        .collect();
                    let Ok(found) = self.evaluate(&there, wanted) else { continue };
                    let expected = 0.5 * away * away * known.variance;
                    let same = found.residual.len() == here.residual.len();
                    if !same || found.cost(sigma) - cost > SHALLOW * expected {
                        continue;
                    }
                    self.descend(&mut there, wanted, sigma, iterations)?;
                    let reached = self.evaluate(&there, wanted)?.cost(sigma);
                    if reached < lowest.0 {
                        lowest = (reached, Some(there));
                    }
                }
            }
            let (_, Some(there)) = lowest else { break };
            *theta = there;
        }
        Ok(())
    }

    /// The quantities that cannot go where the cost falls, not even a small part of the way.
    pub(super) fn at_edge(
        &self,
        theta: &[f64],
        wanted: &[usize],
        gradient: &[f64],
        length: &[f64],
    ) -> Vec<usize> {
        let stopped = |i: &usize| {
            let step = -gradient[*i] / (length[*i] * length[*i]);
            let mut there = theta.to_vec();
            there[*i] += AHEAD * step;
            step.is_finite() && there[*i] != theta[*i] && self.evaluate(&there, wanted).is_err()
        };
        (0..theta.len()).filter(stopped).collect()
    }

    /// Does the cost still fall where the fit has ended? Then why it has: at the edge of what there are motions for, or at a kink.
    pub(super) fn unfinished(
        &self,
        theta: &[f64],
        wanted: &[usize],
        found: &Evaluation,
        sigma: &[f64],
    ) -> Option<String> {
        let (n, cost, gradient) = (theta.len(), found.cost(sigma), found.gradient(sigma));
        let known = self.curvature(found, sigma);
        let (mut step, mut gain) = (vec![0.0; n], 0.0);
        for k in (0..n).filter(|k| !known.lost.contains(k)) {
            let along: f64 = (0..n).map(|i| gradient[i] * known.vectors[k][i] / known.unit[i]).sum();
            gain += 0.5 * along * along / known.values[k];
            step.iter_mut().enumerate().for_each(|(i, s)| {
                *s -= along / known.values[k] * known.vectors[k][i] / known.unit[i];
            });
        }
        // A tenth of a standard error; and what is met to rounding is met.
        let much = if known.variance.is_finite() { 0.005 * known.variance } else { 1e-3 * cost };
        let measured = self.data.signals.iter().flat_map(|s| s.1.iter().map(|p| p.1));
        let times = self.data.impacts.iter().flat_map(|i| i.1.iter().copied());
        let squares: f64 = measured.chain(times).map(|x| x * x).sum();
        let left: f64 = found.residual.iter().map(|r| r * r).sum();
        if gain <= much || left <= ROUNDING * ROUNDING * squares {
            return None;
        }
        let size = |i: &usize| (gradient[*i] / known.unit[*i]).abs();
        let most = (0..n).max_by(|a, b| size(a).total_cmp(&size(b)))?;
        let place = format!("{} = {}", self.names[most], carom_run::figures::figures(theta[most], 6));
        let ahead: Vec<f64> = theta.iter().zip(&step).map(|(x, s)| x + AHEAD * s).collect();
        let why = match self.evaluate(&ahead, wanted) {
            Err(refusal) => format!("there is nothing to go on to ({})", refusal.message),
            Ok(next) if next.residual.len() != found.residual.len() => {
                "beyond it the motion has another number of impacts".to_owned()
            }
            Ok(next) if next.cost(sigma) < cost - AHEAD * gain => "too many steps were taken".to_owned(),
            Ok(_) => "a value of the data lies where the motion has a kink".to_owned(),
        };
        Some(format!(
            "the fit ends at {place}, where the cost would still fall: {why}; standard errors and intervals do not hold there"
        ))
    }

    /// Standard errors with the degrees of freedom of each, and combinations that are not determined.
    pub(super) fn errors(&self, found: &Evaluation, sigma: &[f64]) -> (Vec<f64>, Vec<f64>, Vec<String>) {
        let n = self.names.len();
        let known = self.curvature(found, sigma);
        let spare = self.spare(found, sigma);
        // One column has no weights to be estimated.
        let weighing: Vec<[f64; 2]> = (0..n)
            .map(|i| match self.columns() {
                1 => [1.0, f64::INFINITY],
                _ => self.weighing(found, sigma, &known, &spare, i),
            })
            .collect();
        let Curvature { values, vectors, unit, lost, variance } = known;
        let errors = (0..n)
            .map(|i| {
                let touched = lost.iter().any(|&k| vectors[k][i].abs() > 1e-6);
                if touched {
                    return f64::NAN;
                }
                let sum: f64 = (0..n)
                    .filter(|k| !lost.contains(k))
                    .map(|k| vectors[k][i] * vectors[k][i] / values[k])
                    .sum();
                (variance * weighing[i][0] * sum).sqrt() / unit[i]
            })
            .collect();
        // Along this direction the motion at the data stays the same, to first order.
        let text = |k: &usize| {
            let mut terms: Vec<(f64, &str)> = (0..n)
                .map(|i| (vectors[*k][i] / unit[i], self.names[i].as_str()))
                .filter(|t| t.0 != 0.0)
                .collect();
            let most = terms.iter().fold(0.0f64, |m, t| m.max(t.0.abs()));
            terms.retain(|t| t.0.abs() > 1e-6 * most);
            let names: Vec<&str> = terms.iter().map(|t| t.1).collect();
            let [(lead, _), .., (_, last)] = terms[..] else { return names.concat() };
            let shares: Vec<String> =
                terms.iter().map(|t| carom_run::figures::figures(t.0 / lead, 4)).collect();
            let before = names[..names.len() - 1].join(", ");
            format!(
                "{before} and {last}, which can change together, in the proportion {}",
                shares.join(" : ")
            )
        };
        (errors, weighing.iter().map(|w| w[1]).collect(), lost.iter().map(text).collect())
    }
}
