//! Jumps on the way back: ψ⁻ = Ξᵀψ⁺, the transposes of `saltation.rs` and `saltation_law.rs`.
//!
//! ```text
//! τ̄ = κ_τ − ψ⁺·f⁺          ξ̄ = DRᵀψ⁺,  τ̄ += …,  θ̄ += …          τ̄ += ξ̄·f⁻          ψ⁻ = ξ̄ − (τ̄/ġ⁻) g_x,  θ̄ −= (τ̄/ġ⁻) g_θ
//! ```
//!
//! Each law turns what it is handed back into weights of the quantities it is made of (W, A, n, φ̇, p, E, …); their weighted sum
//! is differentiated by everything at once ([`crate::adjoint_tape::Codifferential`]). The matrices are symmetric, so the
//! transposed solves are solves with the same factors:
//!
//! ```text
//! v⁺ = v⁻ + λu:   a = ψ_v·u + κ_λ,  α = a/(n·u),  [W Aᵀ; A 0][s; z] = [λ(ψ_v − αn); 0]
//! n̄ = s − αλu,   W̄ = −s uᵀ,   Ā = −y sᵀ − z uᵀ,   φ̇ : −(1+e)α,   e: −φ̇α
//! ```

use crate::adjoint::{Adjoint, RecordWeights};
use crate::adjoint_tape::Codifferential;
use crate::journal::{JumpRecord, LawRecord, MotionJournal};
use crate::run::Run;
use crate::saltation::Cause;
use crate::saltation_law::LawPoint;
use carom_jet::Time;
use carom_jet::dense::dot;

/// What is handed back while a jump is undone.
struct Handed<'a> {
    /// ξ̄
    x: Vec<f64>,
    /// τ̄
    time: f64,
    /// θ̄ of the parameters that matter.
    parameters: Vec<f64>,
    /// ē of the wall, apart from what formulas of parameters say.
    restitution: f64,
    laws: &'a mut Codifferential,
    at: Time,
}

impl Handed<'_> {
    /// Differentiates Σ weight · quantity at a state.
    fn pull(&mut self, parameters: &[f64], state: &[f64], weights: &[f64]) -> Vec<f64> {
        let flow = &mut self.laws.flow;
        if self.laws.given != parameters {
            self.laws.given = parameters.to_vec();
            flow.set_parameters(parameters);
        }
        let mut inputs = state.to_vec();
        inputs.extend(weights);
        // No unknowns, so nothing can be singular.
        let _ = flow.evaluate(self.at, &inputs);
        (0..flow.tape().watched_count()).map(|i| flow.watched(i)[0]).collect()
    }

    /// Adds slopes by state (positions only, if so), time and parameters.
    fn add(&mut self, slopes: &[f64], positions_only: bool) {
        let size = self.x.len();
        let part = if positions_only { size / 2 } else { size };
        self.x[..part].iter_mut().zip(slopes).for_each(|(x, s)| *x += s);
        self.time += slopes[size];
        self.parameters.iter_mut().zip(&slopes[size + 1..]).for_each(|(p, s)| *p += s);
    }
}

impl Run<'_> {
    /// Carries ψ back over a jump. `None`: something was asked for that has no derivative there.
    pub(crate) fn jump_back(
        &mut self,
        adjoint: &mut Adjoint,
        journal: &mut MotionJournal,
        jump: &JumpRecord,
        records: &RecordWeights,
    ) -> Option<()> {
        let layout = self.tangent.as_ref()?.layout.clone();
        let time_weight: f64 = jump.impacts.clone().map(|i| records.impact_time[i]).sum::<f64>()
            + jump.event.map_or(0.0, |e| records.event_time[e]);
        if time_weight != 0.0 && !jump.probe.shift.is_finite() {
            return None;
        }
        let impulse_weight = self.impulse_weight(jump, records)?;
        let after = adjoint.psi.clone();
        let mut handed = Handed {
            time: if jump.mark { time_weight } else { time_weight - dot(&after, &jump.after) },
            x: after.clone(),
            parameters: vec![0.0; journal.wanted.len()],
            restitution: 0.0,
            laws: &mut journal.laws,
            at: jump.time,
        };
        let own = self.leg.parameters.clone();
        if !jump.mark {
            if let Cause::Event(e) = jump.cause {
                let mut weights = vec![0.0; handed.laws.weights];
                for (i, &(symbol, _)) in self.program.mechanics.events[e].set.iter().enumerate() {
                    if let Some(k) = self.program.state.iter().position(|&x| x == symbol)
                        && k < handed.x.len()
                    {
                        weights[layout.set[e] + i] += std::mem::take(&mut handed.x[k]);
                    }
                }
                let slopes = handed.pull(&own, &jump.state, &weights);
                handed.add(&slopes, false);
            }
            for (i, law) in jump.laws.iter().enumerate().rev() {
                // The impulse that is recorded is that of the first law.
                let weight = if i == 0 { impulse_weight } else { 0.0 };
                handed.restitution = 0.0;
                if self.program.mechanics.quadratic {
                    self.law_back(&mut handed, law, weight);
                } else {
                    self.momentum_law_back(&mut handed, law, weight)?;
                }
                adjoint.restitution[law.wall] += handed.restitution;
            }
            handed.time += dot(&handed.x, &jump.rate);
        }
        let place = match jump.cause {
            Cause::Wall(w) => layout.gap + w,
            Cause::Event(e) => layout.when + e,
            Cause::Surface(s) => layout.surface + s,
        };
        let mut weights = vec![0.0; handed.laws.weights];
        weights[place] = -handed.time / jump.crossing;
        let slopes = handed.pull(&own, &jump.state, &weights);
        handed.add(&slopes, false);
        let Handed { x, parameters, .. } = handed;
        // The law and its transpose say the same about the probe.
        let probe = &jump.probe;
        let terms = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a * b).abs()).sum::<f64>();
        let seed: Vec<f64> = journal.wanted.iter().map(|&j| probe.seed[j]).collect();
        let impulse = if impulse_weight == 0.0 { 0.0 } else { impulse_weight * probe.impulse };
        let shift = if time_weight == 0.0 { 0.0 } else { time_weight * probe.shift };
        let forward = dot(&after, &probe.after) + shift + impulse;
        let back = dot(&x, &probe.before) + dot(&parameters, &seed);
        // δx⁺ is a sum with f⁺δτ, which is large where the wall is met slowly.
        let moved =
            if probe.shift.is_finite() { probe.shift.abs() * terms(&after, &jump.after) } else { 0.0 };
        let size = terms(&after, &probe.after) + moved + terms(&x, &probe.before) + terms(&parameters, &seed);
        if size > 0.0 {
            let difference = (forward - back).abs() / size;
            adjoint.duality = Some(adjoint.duality.map_or(difference, |d| d.max(difference)));
        }
        adjoint.psi = x;
        for (&j, p) in journal.wanted.iter().zip(&parameters) {
            adjoint.parameters[j] += p;
        }
        Some(())
    }

    /// κ_λ: the weight of the impulse of the wall that was hit; those of other walls are not followed.
    fn impulse_weight(&self, jump: &JumpRecord, records: &RecordWeights) -> Option<f64> {
        let Cause::Wall(w) = jump.cause else { return Some(0.0) };
        let mut sum = 0.0;
        for i in jump.impacts.clone() {
            let walls = &self.recorder.motion.impacts[i].walls;
            for (&wall, &weight) in walls.iter().zip(&records.impulse[i]) {
                if weight != 0.0 && (wall != w || jump.laws.is_empty() || !jump.probe.impulse.is_finite()) {
                    return None;
                }
                sum += weight;
            }
        }
        Some(sum)
    }

    /// The law of quadratic kinetic energy.
    fn law_back(&mut self, handed: &mut Handed<'_>, law: &LawRecord, impulse_weight: f64) {
        let Some(layout) = self.tangent.as_ref().map(|t| t.layout.clone()) else { return };
        self.frame.at(handed.at, &law.state);
        let (n, e) = (self.size(), law.restitution);
        let (metric, rows) = self.frame.kkt_with(&law.held);
        let normal = self.frame.normal(law.wall).to_vec();
        let rate = self.frame.gap_rate(law.wall);
        let inverse = self.frame.layout.inverse;
        let (u, y) = metric.inverse_mass_times(&normal);
        let push = dot(&normal, &u);
        let lambda = -(1.0 + e) * rate / push;
        let carried: Vec<f64> = normal.iter().zip(rows.transposed_times(&y)).map(|(n, a)| n - a).collect();
        let psi = handed.x[n..].to_vec();
        let per_impulse = if inverse { &carried } else { &u };
        let alpha = (dot(&psi, per_impulse) + impulse_weight) / push;
        let mut weights = vec![0.0; handed.laws.weights];
        let (s, z) = if inverse {
            // w = λ(ψ − αHn):  z = (AHAᵀ)⁻¹Aw,  s = w − HAᵀz;  H̄ = −(αλn + Aᵀz) cᵀ
            let mass = self.frame.mass();
            let inverse_mass_normal = mass.times(&normal);
            let w: Vec<f64> =
                psi.iter().zip(&inverse_mass_normal).map(|(p, h)| lambda * (p - alpha * h)).collect();
            let target: Vec<f64> = rows.times(&w).iter().map(|x| -x).collect();
            let (x, z) = metric.solve(&vec![0.0; n], &target);
            let reaction = rows.transposed_times(&z);
            for i in 0..n {
                for j in 0..n {
                    weights[layout.mass + i * n + j] =
                        -(alpha * lambda * normal[i] + reaction[i]) * carried[j];
                }
            }
            (w.iter().zip(&x).map(|(w, x)| w + x).collect::<Vec<f64>>(), z)
        } else {
            let w: Vec<f64> = psi.iter().zip(&normal).map(|(p, n)| lambda * (p - alpha * n)).collect();
            let (s, z) = metric.solve(&w, &vec![0.0; rows.rows]);
            for i in 0..n {
                for j in 0..n {
                    weights[layout.mass + i * n + j] = -s[i] * u[j];
                }
            }
            (s, z)
        };
        for j in 0..n {
            weights[layout.normal + law.wall * n + j] += s[j] - alpha * lambda * u[j];
            for r in 0..rows.rows {
                // Rows of the model first, then walls that are held.
                let at = match r.checked_sub(layout.rows) {
                    None => layout.row_normal + r * n,
                    Some(held) => layout.normal + law.held[held] * n,
                };
                weights[at + j] -= y[r] * s[j] + z[r] * u[j];
            }
        }
        weights[layout.gap_rate + law.wall] = -alpha * (1.0 + e);
        if law.varies {
            weights[layout.restitution + law.wall] = -alpha * rate;
            handed.restitution += -alpha * rate;
        }
        let own = self.leg.parameters.clone();
        let slopes = handed.pull(&own, &law.state, &weights);
        handed.add(&slopes, false);
    }

    /// The law of any other kinetic energy.
    fn momentum_law_back(
        &mut self,
        handed: &mut Handed<'_>,
        law: &LawRecord,
        impulse_weight: f64,
    ) -> Option<()> {
        let layout = self.tangent.as_ref()?.layout.clone();
        let (n, e) = (self.size(), law.restitution);
        let [compressed, end] = &law.points[..] else { return None };
        let psi = handed.x.split_off(n);
        handed.x.resize(2 * n, 0.0);
        self.frame.at(handed.at, &end.state);
        let (metric, rows) = self.frame.kkt_with(&[]);
        let normal = self.frame.normal(law.wall).to_vec();
        let (u, y) = metric.inverse_mass_times(&normal);
        let push = dot(&normal, &u);
        let inverse_mass_normal = if self.frame.layout.inverse {
            normal.iter().zip(rows.transposed_times(&y)).map(|(n, a)| n - a).collect()
        } else {
            u
        };
        let a = dot(&psi, &inverse_mass_normal) + impulse_weight;
        let mut before = vec![0.0; handed.laws.weights];
        let mut momentum = vec![0.0; n];
        let mut add = |m: Vec<f64>| momentum.iter_mut().zip(m).for_each(|(x, m)| *x += m);
        if e == 0.0 {
            add(self.point_back(handed, law, end, &psi, 0.0, -a / push)?);
        } else {
            let beta = a / self.frame.gap_rate(law.wall);
            let kept = 1.0 - e * e;
            before[layout.energy] = beta - if e == 1.0 { 0.0 } else { kept * beta };
            let d_e = -2.0 * e * compressed.energy_kept * beta;
            if law.varies {
                before[layout.restitution + law.wall] = d_e;
                handed.restitution += d_e;
            }
            add(self.point_back(handed, law, end, &psi, -beta, 0.0)?);
            if e != 1.0 {
                add(self.point_back(handed, law, compressed, &vec![0.0; n], kept * beta, 0.0)?);
            }
        }
        before[layout.momentum..layout.momentum + n].copy_from_slice(&momentum);
        let own = self.leg.parameters.clone();
        let slopes = handed.pull(&own, &law.state, &before);
        handed.add(&slopes, false);
        Some(())
    }

    /// A point of the curve p(λ): hands back what its state, energy and gap rate are given, apart from dλ. Returns the weights
    /// of the momentum before.
    fn point_back(
        &mut self,
        handed: &mut Handed<'_>,
        law: &LawRecord,
        point: &LawPoint,
        state: &[f64],
        energy: f64,
        rate: f64,
    ) -> Option<Vec<f64>> {
        let layout = self.tangent.as_ref()?.layout.clone();
        let n = self.size();
        self.frame.at(handed.at, &point.state);
        let (metric, rows) = self.frame.kkt_with(&[]);
        let inverse = self.frame.layout.inverse;
        let drift = self.frame.row_drift().to_vec();
        let own = self.leg.parameters.clone();
        // dG and dφ̇ along (ξ_q, fixed).
        let mut weights = vec![0.0; handed.laws.weights];
        weights[layout.energy] = energy;
        weights[layout.gap_rate + law.wall] = rate;
        let slopes = handed.pull(&own, &point.state, &weights);
        handed.add(&slopes, true);
        let fixed: Vec<f64> = state.iter().zip(&slopes[n..2 * n]).map(|(a, b)| a + b).collect();
        // fixed and y from the solve: [s; z] = K⁻¹ of what they are given.
        let multipliers: Vec<f64> = drift.iter().map(|b| -energy * b).collect();
        let (s, z) = if inverse {
            let through = rows.times(&fixed);
            let target: Vec<f64> = multipliers.iter().zip(through).map(|(m, f)| m - f).collect();
            let (x, z) = metric.solve(&vec![0.0; n], &target);
            (fixed.iter().zip(x).map(|(f, x)| f + x).collect::<Vec<f64>>(), z)
        } else {
            metric.solve(&fixed, &multipliers)
        };
        let mut weights = vec![0.0; handed.laws.weights];
        weights[layout.gap_t + law.wall] = energy * point.impulse;
        for j in 0..n {
            weights[layout.normal + law.wall * n + j] += point.impulse * s[j];
            if !inverse {
                weights[layout.momentum + j] = -s[j];
            }
        }
        for (r, reaction) in point.reactions.iter().enumerate() {
            weights[layout.row_drift + r] = energy * reaction;
            weights[layout.row_rate + r] = -z[r];
            for j in 0..n {
                weights[layout.row_normal + r * n + j] += reaction * s[j];
            }
        }
        let slopes = handed.pull(&own, &point.state, &weights);
        handed.add(&slopes, true);
        Some(s)
    }
}
