//! Lyapunov exponents: how fast nearby motions separate, in every direction.
//!
//! ```text
//! Φ_k Q_k = Q_{k+1} R_k over intervals of length Δ,     λ_i = Σ w_k ln (R_k)_ii / Σ w_k Δ,     w(s) = exp(−1/(s(1 − s)))
//! Σ λ_i = ⟨tr W⁻¹ Q_v⟩ + 2 ln e × impacts per time      λ_i = −λ_{2n+1−i} where nothing is lost
//! ```
//!
//! The weights vanish at both ends with all derivatives: on cycles and quasiperiodic motions the average converges faster than
//! any power of the time; where an exponent is positive a plain average is taken. The error of λ_i is twice the scatter of sixteen parts of the
//! time, and ln(T/Δ)/T, which growth like a power of time leaves.

use crate::refusal::Refusal;
use crate::request::is_conservative;
use crate::shooting::no_derivative;
use crate::subject::Subject;
use carom_expr::Expr;
use carom_jet::dense::{Factored, Matrix, SingularValues, dot};
use carom_mech::mechanics::Dynamics;

/// The exponents of a motion.
#[derive(Clone, PartialEq, Debug)]
pub struct Lyapunov {
    /// λ_i, largest first, per unit of time.
    pub exponents: Vec<f64>,
    /// What each may be off by.
    pub error: Vec<f64>,
    /// The time they are averages over.
    pub time: f64,
    /// Their sum beside what it must be.
    pub sum_check: SumCheck,
}

/// The sum of the exponents beside the law for it.
#[derive(Clone, PartialEq, Debug)]
pub struct SumCheck {
    /// Σ λ_i, a plain average.
    pub sum: f64,
    /// ⟨tr W⁻¹ Q_v⟩ + 2 ln e × impact rate; `None` where the law does not hold: rows, contact, several walls at once, resets.
    pub expected: Option<f64>,
    /// Impacts per unit of time.
    pub impact_rate: f64,
    /// Largest |λ_i + λ_{2n+1−i}| where nothing is lost.
    pub pairing: Option<f64>,
}

/// Intervals to begin with, and the growth within one beyond which it is halved.
const INTERVALS: f64 = 2000.0;
const GROWTH: f64 = 1e6;
/// Parts whose scatter gives the error.
const PARTS: usize = 16;
/// Part of the time in which directions settle, before averages begin.
const SETTLING: f64 = 0.05;

/// The Lyapunov exponents along the motion from the model's start until a time.
///
/// # Errors
/// If the motion ends early or has an instant without derivative.
pub fn lyapunov(subject: &mut Subject<'_>, until: f64) -> Result<Lyapunov, Refusal> {
    let begin = subject.options.start.time;
    let span = until - begin;
    if !(span > 0.0 && span.is_finite()) {
        return Err(Refusal::wrong(
            format!("exponents are averages over time, and from t = {begin} until t = {until} there is none"),
            "give a later --until",
        ));
    }
    let parameters = subject.options.parameters.clone();
    let mut x = subject.own_start()?;
    let n = subject.size();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut interval = span / INTERVALS;
    let mut time = begin;
    // Per interval: its middle, its length, ln R_ii.
    let mut growth: Vec<(f64, f64, Vec<f64>)> = Vec::new();
    let mut divergence = Divergence::new(subject, &parameters);
    while time < until {
        let length = interval.min(until - time);
        if length < 1e-12 * span {
            break;
        }
        let shot = subject.shoot(&x, time, length, &parameters, None)?;
        if let Some(obstacle) = &shot.obstacle {
            return Err(no_derivative(subject, obstacle));
        }
        if basis.is_empty() {
            basis = tangent_basis(&shot.projector, n);
        }
        let mut columns: Vec<Vec<f64>> = basis.iter().map(|q| shot.phi.times(q)).collect();
        let logarithms = orthonormalize(&mut columns);
        if logarithms[0] > GROWTH.ln() && length > 1e-9 * span && length >= interval {
            interval /= 2.0;
            continue;
        }
        divergence.add(subject, &shot.motion, &x, &shot.end, time, length, &parameters);
        growth.push((time + length / 2.0 - begin, length, logarithms));
        basis = columns;
        x = shot.end;
        time += length;
    }
    Ok(average(subject, &growth, span, interval, &divergence))
}

/// Directions that keep the constraints.
fn tangent_basis(projector: &Matrix, n: usize) -> Vec<Vec<f64>> {
    let rows: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j)) - projector[(i, j)]).collect()).collect();
    if rows.iter().flatten().all(|v| *v == 0.0) {
        return (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    }
    SingularValues::of(&rows, n).null_vectors().to_vec()
}

/// Gram and Schmidt, twice, so that the directions stay orthogonal to rounding; returns ln R_ii.
fn orthonormalize(columns: &mut [Vec<f64>]) -> Vec<f64> {
    let mut logarithms = Vec::with_capacity(columns.len());
    for i in 0..columns.len() {
        let (done, rest) = columns.split_at_mut(i);
        let column = &mut rest[0];
        let mut length = 1.0;
        for _ in 0..2 {
            for q in done.iter() {
                let along = dot(q, column);
                column.iter_mut().zip(q).for_each(|(c, v)| *c -= along * v);
            }
            let now = dot(column, column).sqrt();
            if now == 0.0 {
                length = 0.0;
                // A direction that was forgotten altogether: any other in its place.
                column.iter_mut().enumerate().for_each(|(k, c)| *c = 1.0 + (k * (i + 2)) as f64 % 1.7);
                continue;
            }
            column.iter_mut().for_each(|c| *c /= now);
            length *= now;
        }
        logarithms.push(if length > 0.0 { length.ln() } else { f64::NEG_INFINITY });
    }
    logarithms
}

fn average(
    subject: &Subject<'_>,
    growth: &[(f64, f64, Vec<f64>)],
    span: f64,
    interval: f64,
    divergence: &Divergence,
) -> Lyapunov {
    let settled = SETTLING * span;
    let used: Vec<&(f64, f64, Vec<f64>)> = growth.iter().filter(|g| g.0 > settled).collect();
    let rest = span - settled;
    let count = growth.first().map_or(0, |g| g.2.len());
    let (mut plain, mut smooth, mut error) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..count {
        let (mut sum, mut weight) = (0.0, 0.0);
        for (middle, length, logarithms) in &used {
            let s = ((middle - settled) / rest).clamp(1e-9, 1.0 - 1e-9);
            let w = (-1.0 / (s * (1.0 - s))).exp();
            sum += w * logarithms[i];
            weight += w * length;
        }
        let mut parts = [(0.0, 0.0); PARTS];
        for (middle, length, logarithms) in &used {
            let part = (((middle - settled) / rest * PARTS as f64) as usize).min(PARTS - 1);
            parts[part].0 += logarithms[i];
            parts[part].1 += length;
        }
        let rates: Vec<f64> = parts.iter().filter(|p| p.1 > 0.0).map(|p| p.0 / p.1).collect();
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        let scatter = rates.iter().map(|r| (r - mean).powi(2)).sum::<f64>();
        let count = rates.len() as f64;
        let standard = if count > 1.0 { (scatter / (count * (count - 1.0))).sqrt() } else { f64::INFINITY };
        error.push(2.0 * standard + (1.0 + rest / interval).ln() / rest);
        smooth.push(sum / weight);
        plain.push(mean);
    }
    // Chance has no use for smooth weights.
    let chaotic = plain.iter().zip(&error).any(|(rate, error)| rate > error);
    let exponents = if chaotic { plain } else { smooth };
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| exponents[b].total_cmp(&exponents[a]));
    let exponents: Vec<f64> = order.iter().map(|&i| exponents[i]).collect();
    let error = order.iter().map(|&i| error[i]).collect();
    let total: f64 = growth.iter().map(|g| g.2.iter().sum::<f64>()).sum::<f64>() / span;
    let lossless = is_conservative(subject.mechanics) && divergence.lossless;
    let pairing = lossless
        .then(|| (0..count).map(|i| (exponents[i] + exponents[count - 1 - i]).abs()).fold(0.0, f64::max));
    let sum_check = SumCheck {
        sum: total,
        expected: divergence.expected(span),
        impact_rate: divergence.impacts as f64 / span,
        pairing,
    };
    Lyapunov { exponents, error, time: span, sum_check }
}

/// ∫ tr W⁻¹ Q_v dt + Σ 2 ln e: what ln det Φ must be in (q, p), and up to a bounded term in (q, v).
struct Divergence {
    /// W and Q_v, row by row; `None` where the law does not apply.
    formulas: Option<(carom_expr::Dag, Vec<Expr>)>,
    free: usize,
    integral: f64,
    restitution: Vec<f64>,
    jumps: f64,
    impacts: usize,
    lossless: bool,
}

impl Divergence {
    fn new(subject: &Subject<'_>, parameters: &[f64]) -> Divergence {
        let mechanics = subject.mechanics;
        let free = mechanics.free.len();
        let zeros = vec![0.0; subject.size()];
        let restitution =
            mechanics.walls.iter().map(|w| subject.value(w.restitution, &zeros, 0.0, parameters)).collect();
        let formulas = match &mechanics.dynamics {
            Dynamics::Lagrangian(l) if mechanics.rows.is_empty() => {
                let mut dag = mechanics.model.dag.clone();
                let mut all: Vec<Expr> = l.mass_matrix.iter().flatten().copied().collect();
                for &q in &l.generalized_force {
                    for &i in &mechanics.free {
                        all.push(dag.derivative(q, mechanics.model.coordinates[i].velocity));
                    }
                }
                Some((dag, all))
            }
            _ => None,
        };
        Divergence { formulas, free, integral: 0.0, restitution, jumps: 0.0, impacts: 0, lossless: true }
    }

    fn rate(&self, subject: &Subject<'_>, x: &[f64], time: f64, parameters: &[f64]) -> f64 {
        let Some((dag, all)) = &self.formulas else { return 0.0 };
        let values: Vec<f64> = subject.values_in(dag, all, x, time, parameters);
        let n = self.free;
        let slopes = &values[n * n..];
        if slopes.iter().all(|v| *v == 0.0) {
            return 0.0;
        }
        let mass = Matrix { rows: n, columns: n, entries: values[..n * n].to_vec() };
        let factored = Factored::new(&mass);
        (0..n).map(|j| factored.solve(&(0..n).map(|i| slopes[i * n + j]).collect::<Vec<f64>>())[j]).sum()
    }

    #[allow(clippy::too_many_arguments)]
    fn add(
        &mut self,
        subject: &Subject<'_>,
        motion: &carom_run::Motion,
        from: &[f64],
        to: &[f64],
        time: f64,
        length: f64,
        parameters: &[f64],
    ) {
        self.impacts += motion.impacts.len();
        for impact in &motion.impacts {
            let e = self.restitution[impact.walls[0]];
            self.lossless &= e == 1.0;
            if impact.walls.len() > 1 && impact.walls.iter().any(|&w| self.restitution[w] != 1.0) || e <= 0.0
            {
                self.formulas = None;
            } else {
                self.jumps += 2.0 * e.ln();
            }
        }
        if !motion.contacts.is_empty()
            || !subject.mechanics.model.events.is_empty() && !motion.events.is_empty()
        {
            let reset = motion.events.iter().any(|e| {
                matches!(subject.mechanics.model.events[e.event].action, carom_mech::model::Action::Set(_))
            });
            if reset || !motion.contacts.is_empty() {
                self.formulas = None;
                self.lossless = false;
            }
        }
        // The trapezium rule over the intervals: exact where the rate is constant, as for linear damping.
        let ends =
            self.rate(subject, from, time, parameters) + self.rate(subject, to, time + length, parameters);
        self.integral += length * ends / 2.0;
    }

    fn expected(&self, span: f64) -> Option<f64> {
        self.formulas.as_ref().map(|_| (self.integral + self.jumps) / span)
    }
}
