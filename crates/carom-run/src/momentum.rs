//! The impact law for any kinetic energy, in momentum space.
//!
//! ```text
//! g(λ) = min_μ H(p⁻ + λn + Aᵀμ) − H(p⁻) + λφ_t + μ·b,      g(0) = 0,   g′(λ) = φ̇ at p(λ),   g′(0) = φ̇⁻ < 0
//! e = 1: g(λ) = 0, λ > 0.     e < 1: g′(λ_c) = 0 (most compressed), then g(λ) = (1 − e²) g(λ_c), λ ≥ λ_c
//! ```
//!
//! Every point of the curve p(λ) is admissible: A v + b = 0. For a Lagrangian model v(p) is found by damped Newton on
//! the convex function L(v) − p·v, which never leaves the domain of L. g is ∫φ̇ dλ; near grazing, where differences of
//! H cancel, the integral is taken by Gauss quadrature instead.

use crate::run::Run;
use carom_jet::dense::{Factored, Matrix, dot, largest};

/// A point of the curve.
#[derive(Clone, Debug)]
struct CurvePoint {
    /// H + λφ_t + μ·b
    energy: f64,
    /// φ̇
    rate: f64,
    /// n·Sn, the slope of φ̇.
    slope: f64,
    reactions: Vec<f64>,
    /// v (Lagrangian) or p (Hamiltonian).
    state: Vec<f64>,
}

/// The answer.
pub(crate) struct ImpulseFound {
    pub impulse: f64,
    pub reactions: Vec<f64>,
    pub velocity_jump: Vec<f64>,
    /// g(λ): the energy the law takes away for e < 1 (negative), 0 for e = 1.
    pub energy_kept: f64,
}

/// The curve p(λ) for one wall at one state.
pub(crate) struct MomentumLaw<'a, 'p> {
    run: &'a mut Run<'p>,
    wall: usize,
    normal: Vec<f64>,
    gap_t: f64,
    rows: Matrix,
    drift: Vec<f64>,
    /// p⁻
    momentum: Vec<f64>,
    /// The state before, restored at the end.
    before: Vec<f64>,
    /// Warm start.
    state: Vec<f64>,
    reactions: Vec<f64>,
    lambda: f64,
}

/// Nodes and weights of Gauss–Legendre quadrature on [0, 1] with 10 points (5 pairs around the middle).
const GAUSS: [(f64, f64); 5] = [
    (0.148_874_338_981_631_2, 0.295_524_224_714_752_9),
    (0.433_395_394_129_247_2, 0.269_266_719_309_996_35),
    (0.679_409_568_299_024_4, 0.219_086_362_515_982_04),
    (0.865_063_366_688_984_5, 0.149_451_349_150_580_6),
    (0.973_906_528_517_171_7, 0.066_671_344_308_688_14),
];

impl<'a, 'p> MomentumLaw<'a, 'p> {
    /// Solves the law for one wall; `None` when no impulse of it can stop the motion.
    pub fn solve(run: &'a mut Run<'p>, wall: usize, restitution: f64) -> Option<ImpulseFound> {
        let n = run.size();
        let mut law = MomentumLaw {
            wall,
            normal: run.frame.normal(wall).to_vec(),
            gap_t: run.frame.gap_t(wall),
            rows: run.frame.rows(),
            drift: run.frame.row_drift().to_vec(),
            momentum: run.frame.momentum().to_vec(),
            before: run.now.state.clone(),
            state: run.now.state[n..2 * n].to_vec(),
            reactions: vec![0.0; run.frame.layout.rows],
            lambda: 0.0,
            run,
        };
        let found = law.root(restitution);
        let MomentumLaw { run, before, .. } = law;
        run.now.state = before;
        run.evaluate_frame();
        let (impulse, point, energy_kept) = found?;
        let velocity_jump = point.state.iter().zip(&run.now.state[n..2 * n]).map(|(a, b)| a - b).collect();
        Some(ImpulseFound { impulse, reactions: point.reactions, velocity_jump, energy_kept })
    }

    fn root(&mut self, e: f64) -> Option<(f64, CurvePoint, f64)> {
        let start = self.at(0.0)?;
        if start.rate >= 0.0 {
            return None;
        }
        // No further than the momentum itself would go, coordinate by coordinate, where there is one: a wall may hit what is at
        // rest.
        let along = self.momentum.iter().zip(&self.normal).filter(|(_, n)| **n != 0.0);
        let scale = along.map(|(p, n)| (p / n).abs()).fold(0.0, f64::max);
        let guess = if start.slope > 0.0 { -start.rate / start.slope } else { scale };
        let compressed = self.zero_of_rate(if scale > 0.0 { guess.min(scale) } else { guess })?;
        let absorbed = -self.integral(0.0, compressed, &start)?;
        if e == 0.0 {
            let point = self.at(compressed)?;
            return Some((compressed, point, -absorbed));
        }
        // ∫ from λ_c of φ̇ = e² · absorbed
        let target = e * e * absorbed;
        let middle = self.at(compressed)?;
        let (mut lo, mut hi) = (compressed, f64::INFINITY);
        let mut lambda = compressed * (1.0 + e);
        for _ in 0..200 {
            let Some(point) = self.at(lambda) else {
                hi = lambda;
                lambda = 0.5 * (lo + hi);
                continue;
            };
            let excess = self.integral_between(compressed, lambda, &middle, &point)? - target;
            if excess == 0.0 {
                break;
            }
            if excess > 0.0 {
                hi = lambda;
            } else {
                lo = lambda;
            }
            let mut next = lambda - excess / point.rate;
            if !(next > lo && next < hi) {
                next =
                    if hi.is_finite() { 0.5 * (lo + hi) } else { compressed + 2.0 * (lambda - compressed) };
            }
            if (next - lambda).abs() <= f64::EPSILON * lambda {
                break;
            }
            lambda = next;
        }
        let point = self.at(lambda)?;
        if !lambda.is_finite() || point.rate <= 0.0 {
            return None;
        }
        let kept = if e == 1.0 { 0.0 } else { -(1.0 - e * e) * absorbed };
        Some((lambda, point, kept))
    }

    /// λ_c: φ̇ = 0.
    fn zero_of_rate(&mut self, guess: f64) -> Option<f64> {
        let (mut lo, mut hi) = (0.0, f64::INFINITY);
        let mut lambda = guess;
        for _ in 0..2000 {
            let (rate, slope) = match self.at(lambda) {
                Some(p) => (p.rate, p.slope),
                // Outside the domain of H: come back.
                None => (f64::INFINITY, 1.0),
            };
            if rate == 0.0 {
                return Some(lambda);
            }
            if rate > 0.0 {
                hi = lambda;
            } else {
                lo = lambda;
            }
            let mut next = lambda - rate / slope;
            if !(next > lo && next < hi) {
                next = if hi.is_finite() { 0.5 * (lo + hi) } else { 2.0 * lambda };
            }
            if (next - lambda).abs() <= f64::EPSILON * lambda {
                return Some(next);
            }
            if !hi.is_finite() && next > 1e300 {
                return None;
            }
            // Newton creeps when the rate only tends to zero (a wall faster than light): give up far out.
            if !hi.is_finite() {
                next = next.max(2.0 * lambda);
            }
            lambda = next;
        }
        hi.is_finite().then_some(lambda)
    }

    fn integral(&mut self, from: f64, to: f64, start: &CurvePoint) -> Option<f64> {
        let end = self.at(to)?;
        self.integral_between(from, to, start, &end)
    }

    /// ∫ φ̇ dλ = difference of energies, by whichever form loses fewer digits.
    fn integral_between(&mut self, from: f64, to: f64, start: &CurvePoint, end: &CurvePoint) -> Option<f64> {
        let width = to - from;
        let scale = (start.rate.abs() + end.rate.abs()) * width.abs();
        if start.energy.abs() + end.energy.abs() <= 4.0 * scale {
            return Some(end.energy - start.energy);
        }
        let mut sum = 0.0;
        for (node, weight) in GAUSS {
            for side in [-1.0, 1.0] {
                let p = self.at(from + width * 0.5 * (1.0 + side * node))?;
                sum += weight * p.rate;
            }
        }
        Some(0.5 * width * sum)
    }

    /// The point of the curve at λ.
    fn at(&mut self, lambda: f64) -> Option<CurvePoint> {
        if self.run.is_hamiltonian() { self.at_hamiltonian(lambda) } else { self.at_lagrangian(lambda) }
    }

    fn evaluate_frame_at(&mut self, state: &[f64]) -> bool {
        let n = self.run.size();
        self.run.now.state[n..2 * n].copy_from_slice(state);
        self.run.evaluate_frame();
        self.run.frame.is_finite()
    }

    fn target(&self, lambda: f64, reactions: &[f64]) -> Vec<f64> {
        let pushed = self.rows.transposed_times(reactions);
        (0..self.momentum.len()).map(|i| self.momentum[i] + lambda * self.normal[i] + pushed[i]).collect()
    }

    fn finish(&mut self, lambda: f64, state: Vec<f64>, reactions: Vec<f64>) -> Option<CurvePoint> {
        if !self.evaluate_frame_at(&state) {
            return None;
        }
        let frame = &self.run.frame;
        let (inverse_mass_normal, _) = frame.kkt().inverse_mass_times(&self.normal);
        let energy = frame.energy() + lambda * self.gap_t + dot(&reactions, &self.drift);
        let point = CurvePoint {
            energy,
            rate: frame.gap_rate(self.wall),
            slope: dot(&self.normal, &inverse_mass_normal),
            reactions: reactions.clone(),
            state: state.clone(),
        };
        (self.state, self.reactions) = (state, reactions);
        Some(point)
    }

    /// p = p⁻ + λn + Aᵀμ with A H_p(p) + b = 0: Newton on μ, halved until the residual falls.
    fn at_hamiltonian(&mut self, lambda: f64) -> Option<CurvePoint> {
        let mut reactions = self.reactions.clone();
        let mut state = self.target(lambda, &reactions);
        if self.rows.rows > 0 {
            let mut best = f64::INFINITY;
            for _ in 0..100 {
                if !self.evaluate_frame_at(&state) {
                    return None;
                }
                let residual: Vec<f64> = self.run.frame.row_rate().to_vec();
                let size = largest(&residual);
                if size >= best {
                    break;
                }
                best = size;
                let inverse = self.run.frame.mass();
                let m = self.rows.rows;
                let mut gram = Matrix::zeros(m, m);
                for i in 0..m {
                    let carried = inverse.times(self.rows.row(i));
                    for j in 0..m {
                        gram[(i, j)] = dot(self.rows.row(j), &carried);
                    }
                }
                let step = Factored::new(&gram).solve(&residual);
                let (old, old_state) = (reactions.clone(), state.clone());
                let mut fraction = 1.0;
                loop {
                    reactions = old.iter().zip(&step).map(|(r, s)| r - fraction * s).collect();
                    state = self.target(lambda, &reactions);
                    if self.evaluate_frame_at(&state) && largest(self.run.frame.row_rate()) < size {
                        break;
                    }
                    fraction *= 0.5;
                    if fraction < 1e-12 {
                        (reactions, state) = (old, old_state);
                        break;
                    }
                }
            }
        }
        self.finish(lambda, state, reactions)
    }

    /// ∂L/∂v = p⁻ + λn + Aᵀμ with A v + b = 0, followed from the last point along the curve: Newton where it contracts
    /// at once, half the way where it does not. So no trial leaves the neighbourhood of the curve, and with it the
    /// domain of L.
    fn at_lagrangian(&mut self, lambda: f64) -> Option<CurvePoint> {
        let (mut at, mut v, mut reactions) = (self.lambda, self.state.clone(), self.reactions.clone());
        let mut step = lambda - at;
        // A start that is itself off the curve by rounding is corrected too.
        loop {
            let next = if (lambda - at - step).abs() <= 1e-12 * step.abs() { lambda } else { at + step };
            match self.contract(next, &v, &reactions) {
                Some((new_v, new_reactions)) => {
                    (at, v, reactions) = (next, new_v, new_reactions);
                    if at == lambda {
                        break;
                    }
                    step = (2.0 * step).clamp(-(lambda - at).abs(), (lambda - at).abs());
                }
                None => {
                    step *= 0.5;
                    if step.abs() <= 1e-13 * lambda.abs().max(at.abs()) {
                        return None;
                    }
                }
            }
        }
        self.lambda = lambda;
        self.finish(lambda, v, reactions)
    }

    /// Newton from a nearby point; `None` as soon as a step is not much shorter than the one before.
    fn contract(&mut self, lambda: f64, v: &[f64], reactions: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
        let (mut v, mut reactions) = (v.to_vec(), reactions.to_vec());
        let mut last = f64::INFINITY;
        let mut noise = 0.0;
        for round in 0..40 {
            if !self.evaluate_frame_at(&v) {
                return None;
            }
            let target = self.target(lambda, &reactions);
            if round == 0 {
                noise = self.rounding(lambda, &reactions);
            }
            let frame = &self.run.frame;
            let force: Vec<f64> = target.iter().zip(frame.momentum()).map(|(t, p)| t - p).collect();
            let rate: Vec<f64> = frame.row_rate().iter().map(|r| -r).collect();
            // W δv − Aᵀδμ = target − p, A δv = −(A v + b); length in the metric W.
            let (step, y) = frame.kkt().solve(&force, &rate);
            let length = dot(&step, &frame.mass().times(&step)).abs().sqrt();
            let unit = f64::EPSILON * dot(&v, &frame.mass().times(&v)).abs().sqrt().max(noise);
            if !length.is_finite() || (round > 0 && length > 0.5 * last && length > 64.0 * unit) {
                return None;
            }
            if length >= last {
                // Rounding: no better than the point before.
                return Some((v, reactions));
            }
            v.iter_mut().zip(&step).for_each(|(v, d)| *v += d);
            reactions.iter_mut().zip(&y).for_each(|(r, y)| *r -= y);
            if length <= 0.25 * unit {
                return self.evaluate_frame_at(&v).then_some((v, reactions));
            }
            last = length;
        }
        self.evaluate_frame_at(&v).then_some((v, reactions))
    }

    /// Σ |terms of the target| √Sᵢᵢ: what rounding of the momenta does to a velocity, in units of ε and in the metric W. A
    /// motion that meets the wall head-on stops at λ_c, and there no velocity is left to measure by.
    fn rounding(&self, lambda: f64, reactions: &[f64]) -> f64 {
        let kkt = self.run.frame.kkt();
        let n = self.momentum.len();
        let term = |i: usize| {
            let pushed: f64 = (0..self.rows.rows).map(|r| (self.rows[(r, i)] * reactions[r]).abs()).sum();
            self.momentum[i].abs() + (lambda * self.normal[i]).abs() + pushed
        };
        (0..n)
            .map(|i| {
                let mut unit = vec![0.0; n];
                unit[i] = 1.0;
                term(i) * kkt.inverse_mass_times(&unit).0[i].abs().sqrt()
            })
            .sum()
    }
}
