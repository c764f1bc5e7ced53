//! Lyapunov exponents: how fast nearby motions separate, in every direction.
//!
//! ```text
//! Φ_k Q_k = Q_{k+1} R_k over intervals of length Δ,     λ_i = Σ w_k ln (R_k)_ii / Σ w_k Δ,     w(s) = exp(−1/(s(1 − s)))
//! Σ λ_i = ⟨tr W⁻¹ Q_v⟩ + 2 ln e × impacts per time      λ_i = −λ_{2n+1−i} where nothing is lost
//! ```
//!
//! The weights vanish at both ends with all derivatives: on cycles and quasiperiodic motions the average converges faster than
//! any power of the time; where an exponent is positive a plain average is taken. The error of λ_i is half of the 95 % interval from the
//! scatter of sixteen parts of the time (of many motions: from theirs) by Student's t, and where λ_i may be zero also ln(T/Δ)/T, which
//! growth like a power of time leaves.

use crate::divergence::{Divergence, Interval, zeros};
use crate::refusal::Refusal;
use crate::shooting::no_derivative;
use crate::student::t95;
use crate::subject::{Shot, Subject};
use carom_jet::dense::{Matrix, SingularValues, dot};
use carom_run::Motion;

/// The exponents of a motion, or of many.
#[derive(Clone, PartialEq, Debug)]
pub struct Lyapunov {
    /// λ_i, largest first, per unit of time.
    pub exponents: Vec<f64>,
    /// What each may be off by: half of a 95 % interval.
    pub error: Vec<f64>,
    /// The time they are averages over, of all motions together.
    pub time: f64,
    /// Number of motions.
    pub motions: usize,
    /// Their sum beside what it must be.
    pub sum_check: SumCheck,
}

/// The sum of the exponents beside the law for it.
#[derive(Clone, PartialEq, Debug)]
pub struct SumCheck {
    /// Σ λ_i, a plain average.
    pub sum: f64,
    /// ⟨tr f_x⟩ + 2 ln e × impact rate; `None` where the law does not hold: rows, contact, several walls at once, resets.
    pub expected: Option<f64>,
    /// Impacts per unit of time.
    pub impact_rate: f64,
    /// Largest |λ_i + λ_{2n+1−i}| where nothing is lost.
    pub pairing: Option<f64>,
    /// Exponents that are zero; `None` where the motion comes to rest.
    pub zeros: Option<ZeroCount>,
}

/// Exponents that are zero because of the flow and of what is conserved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ZeroCount {
    /// One for the flow of a model without time, two for every commuting invariant, the energy's with the flow's among them.
    pub expected: usize,
    /// Exponents that are zero within their errors.
    pub found: usize,
}

/// The growth of small deviations along one motion.
#[derive(Clone, PartialEq, Debug)]
pub struct Growth {
    /// Per interval: its middle after the start, its length, ln R_ii.
    intervals: Vec<(f64, f64, Vec<f64>)>,
    span: f64,
    /// Length of the last intervals.
    interval: f64,
    /// Of the sum.
    expected: Option<f64>,
    impacts: usize,
    lossless: bool,
    /// How many exponents must be zero; `None` where the motion comes to rest.
    zeros: Option<usize>,
}

/// Intervals to begin with: as smooth weights need them, and as the mean of many motions does.
const INTERVALS: usize = 2000;
/// Intervals that are enough for one of many motions, whose rates are plain averages.
pub const FEW_INTERVALS: usize = 64;
/// The growth within an interval beyond which it is halved.
const GROWTH: f64 = 1e6;
/// Parts whose scatter gives the error of a single motion.
const PARTS: usize = 16;
/// Part of the time in which directions settle, before averages begin.
const SETTLING: f64 = 0.05;

/// The Lyapunov exponents along the motion from the model's start until a time.
///
/// # Errors
/// If the motion ends early or has an instant without derivative.
pub fn lyapunov(subject: &mut Subject<'_>, until: f64) -> Result<Lyapunov, Refusal> {
    Ok(exponents(&[growth(subject, until, INTERVALS)?]))
}

/// How small deviations grow along the motion from the model's start until a time, looked at in so many intervals to begin with.
///
/// # Errors
/// If the motion ends early or has an instant without derivative.
pub fn growth(subject: &mut Subject<'_>, until: f64, intervals: usize) -> Result<Growth, Refusal> {
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
    let mut interval = span / intervals.max(1) as f64;
    let mut time = begin;
    let mut steps: Vec<(f64, f64, Vec<f64>)> = Vec::new();
    let mut divergence = Divergence::new(subject, &parameters);
    let inertia = divergence.ln_inertia(subject, &x, begin, &parameters);
    let mut seen = Seen::default();
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
        if logarithms.first().is_some_and(|l| *l > GROWTH.ln()) && length > 1e-9 * span && length >= interval
        {
            interval /= 2.0;
            continue;
        }
        divergence.add(subject, &Interval { motion: &shot.motion, from: &x, time, length }, &parameters);
        seen.note(subject, time, &x, &shot);
        steps.push((time + length / 2.0 - begin, length, logarithms));
        basis = columns;
        x = shot.end;
        time += length;
    }
    let lossless = divergence.elastic && subject.lossless(&parameters, []);
    let inertia = inertia - divergence.ln_inertia(subject, &x, time, &parameters);
    let expected = divergence.total().map(|total| (total + inertia) / (time - begin));
    let zeros = seen.zeros(subject, divergence.elastic, &parameters);
    Ok(Growth { intervals: steps, span, interval, expected, impacts: divergence.impacts, lossless, zeros })
}

/// What a motion has met, and some of its states.
#[derive(Default)]
struct Seen {
    /// One motion for every wall and event that was met.
    met: Vec<Motion>,
    walls: Vec<usize>,
    events: Vec<usize>,
    /// Time, state, directions that keep the constraints.
    states: Vec<(f64, Vec<f64>, Vec<Vec<f64>>)>,
    /// Greatest speed until now, and in the last intervals.
    speed: f64,
    recent: Vec<f64>,
}

/// Intervals that tell whether a motion has come to rest, and the part of its greatest speed that is rest.
const RECENT: usize = 50;
const AT_REST: f64 = 1e-6;
/// States at which zeros are counted.
const STATES: usize = 5;

impl Seen {
    fn note(&mut self, subject: &Subject<'_>, time: f64, x: &[f64], shot: &Shot) {
        let motion = &shot.motion;
        let rates = &x[subject.mechanics.free.len()..];
        let speed = dot(rates, rates).sqrt();
        self.speed = self.speed.max(speed);
        self.recent.push(speed);
        if self.recent.len() > RECENT {
            self.recent.remove(0);
        }
        if self.states.len() < STATES {
            self.states.push((time, x.to_vec(), tangent_basis(&shot.projector, x.len())));
        }
        let impacts = motion.impacts.iter().flat_map(|i| i.walls.iter().copied());
        let walls: Vec<usize> = impacts.chain(motion.contacts.iter().map(|c| c.wall)).collect();
        let events: Vec<usize> = motion.events.iter().map(|e| e.event).collect();
        let new =
            walls.iter().any(|w| !self.walls.contains(w)) || events.iter().any(|e| !self.events.contains(e));
        if new {
            self.walls.extend(walls);
            self.events.extend(events);
            self.met.push(motion.clone());
        }
    }

    /// At a generic state: there are special ones at which flow and symmetries are parallel.
    fn zeros(&self, subject: &Subject<'_>, elastic: bool, parameters: &[f64]) -> Option<usize> {
        if self.recent.iter().copied().fold(0.0, f64::max) <= AT_REST * self.speed {
            return None;
        }
        let count = |(time, x, basis): &(f64, Vec<f64>, Vec<Vec<f64>>)| {
            zeros(subject, &self.met, elastic, x, *time, parameters, basis)
        };
        self.states.iter().map(count).max()
    }
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

impl Growth {
    /// Intervals after the directions have settled, as parts of the time that is left.
    fn settled(&self) -> impl Iterator<Item = (f64, f64, &[f64])> {
        let (settled, rest) = (SETTLING * self.span, self.rest());
        let used = self.intervals.iter().filter(move |g| g.0 > settled);
        used.map(move |(middle, length, logarithms)| {
            ((middle - settled) / rest, *length, logarithms.as_slice())
        })
    }

    fn rest(&self) -> f64 {
        (1.0 - SETTLING) * self.span
    }

    fn count(&self) -> usize {
        self.intervals.first().map_or(0, |g| g.2.len())
    }

    /// The plain average.
    fn rate(&self, i: usize) -> f64 {
        let (sum, length) = self.settled().fold((0.0, 0.0), |(s, l), (_, length, r)| (s + r[i], l + length));
        sum / length
    }

    /// The average with weights that vanish at both ends.
    fn smooth_rate(&self, i: usize) -> f64 {
        let (mut sum, mut weight) = (0.0, 0.0);
        for (at, length, logarithms) in self.settled() {
            let s = at.clamp(1e-9, 1.0 - 1e-9);
            let w = (-1.0 / (s * (1.0 - s))).exp();
            sum += w * logarithms[i];
            weight += w * length;
        }
        sum / weight
    }

    /// Plain averages over parts of the time.
    fn parts(&self, i: usize) -> Vec<f64> {
        let mut parts = [(0.0, 0.0); PARTS];
        for (at, length, logarithms) in self.settled() {
            let part = ((at * PARTS as f64) as usize).min(PARTS - 1);
            parts[part].0 += logarithms[i];
            parts[part].1 += length;
        }
        parts.iter().filter(|p| p.1 > 0.0).map(|p| p.0 / p.1).collect()
    }

    /// What growth like a power of time leaves.
    fn left(&self) -> f64 {
        (1.0 + self.rest() / self.interval).ln() / self.rest()
    }
}

/// Mean and half of the 95 % interval of independent numbers.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let scatter = values.iter().map(|r| (r - mean).powi(2)).sum::<f64>();
    let standard = if values.len() > 1 { (scatter / (count * (count - 1.0))).sqrt() } else { f64::INFINITY };
    (mean, if values.len() > 1 { t95(values.len() - 1) * standard } else { f64::INFINITY })
}

/// The exponents of one motion, or the mean of independent motions of one model over equal times.
///
/// Of one motion the error comes from the scatter of parts of its time; of many from their own, which is what chance does: with starts
/// drawn from what the motion conserves (a box and all directions, in a billiard) the mean has no bias.
pub fn exponents(motions: &[Growth]) -> Lyapunov {
    let count = motions.iter().map(Growth::count).min().unwrap_or(0);
    let left = motions.iter().map(Growth::left).fold(0.0, f64::max);
    let (mut plain, mut error) = (Vec::new(), Vec::new());
    for i in 0..count {
        let rates = match motions {
            [one] => one.parts(i),
            many => many.iter().map(|g| g.rate(i)).collect(),
        };
        let (mean, chance) = mean_and_error(&rates);
        // An exponent that is not zero leaves no room for powers of time beside it.
        error.push(if mean.abs() > chance + left { chance } else { chance + left });
        plain.push(mean);
    }
    // Chance has no use for smooth weights.
    let chaotic = plain.iter().zip(&error).any(|(rate, error)| rate > error);
    let exponents = match motions {
        [one] if !chaotic => (0..count).map(|i| one.smooth_rate(i)).collect(),
        _ => plain,
    };
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| exponents[b].total_cmp(&exponents[a]));
    let exponents: Vec<f64> = order.iter().map(|&i| exponents[i]).collect();
    let error: Vec<f64> = order.iter().map(|&i| error[i]).collect();
    let found = exponents.iter().zip(&error).filter(|(rate, error)| rate.abs() <= **error).count();
    let zeros = motions.first().and_then(|g| g.zeros).filter(|z| motions.iter().all(|g| g.zeros == Some(*z)));
    let time: f64 = motions.iter().map(|g| g.span).sum();
    let total = |g: &Growth| g.intervals.iter().map(|g| g.2.iter().sum::<f64>()).sum::<f64>();
    let pairing = motions
        .iter()
        .all(|g| g.lossless)
        .then(|| (0..count).map(|i| (exponents[i] + exponents[count - 1 - i]).abs()).fold(0.0, f64::max));
    let expected = motions.iter().map(|g| Some(g.expected? * g.span)).sum::<Option<f64>>();
    let sum_check = SumCheck {
        sum: motions.iter().map(total).sum::<f64>() / time,
        expected: expected.map(|e| e / time),
        impact_rate: motions.iter().map(|g| g.impacts as f64).sum::<f64>() / time,
        pairing,
        zeros: zeros.map(|expected| ZeroCount { expected, found }),
    };
    Lyapunov { exponents, error, time, motions: motions.len(), sum_check }
}
