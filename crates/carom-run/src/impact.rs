//! One instant of impact: which walls are touched, the law, its record, and what it leaves behind.

use crate::law::{Failure, Metric, Outcome, Touching};
use crate::linear::{dot, largest};
use crate::momentum::MomentumLaw;
use crate::motion::{Impact, StopReason};
use crate::run::{Halt, Run};
use crate::zero::{ROUNDING, SOLVED};
use carom_mech::model::ImpactOrder;

/// Sequential impacts with e < 1 are finished together once every approach is this much slower than the first.
const FINISH_TOGETHER: f64 = 1e-8;

impl Run<'_> {
    /// All walls with φ = 0 at the present frame; `hit` are known to be.
    pub fn touched(&self, hit: &[usize]) -> Vec<usize> {
        (0..self.walls.len())
            .filter(|w| self.held != Some(*w))
            .filter(|w| self.walls[*w].closed || hit.contains(w) || self.touches(*w))
            .collect()
    }

    /// Walls `hit` have just been reached. Applies the law where it applies; afterwards every touched wall is marked
    /// touching, and resting if φ̇ = 0. Returns true if there was an impulse.
    pub fn collide(&mut self, hit: &[usize]) -> Result<bool, Halt> {
        self.look();
        if !self.frame.is_finite() {
            return Err(self.not_finite());
        }
        let walls = self.touched(hit);
        let rates = self.rates_before(&walls);
        if rates.iter().all(|u| *u >= 0.0) {
            for (&w, u) in walls.iter().zip(&rates) {
                self.walls[w].touching = true;
                self.walls[w].resting = *u == 0.0;
            }
            return Ok(false);
        }
        if let Some(wall) = self.massless_wall(&walls, &rates) {
            self.hold(wall)?;
            return Ok(false);
        }
        let speed = -rates.iter().copied().fold(0.0, f64::min);
        self.allow_impact()?;
        self.apply_law(&walls)?;
        // Only walls that take energy have series to recognise.
        if self.restitution.iter().any(|e| *e < 1.0) {
            self.history.push(self.time, &self.last_hit);
        }
        if let Some(closing) = self.squeeze.impact(self.time.value(), speed, &self.last_hit)
            && (closing.closed || self.space_closes(closing.time))
        {
            let closing = closing.time;
            let walls = self.squeeze.walls();
            return Err(Halt::new(
                StopReason::Squeezed,
                format!("the free space at {} closes at t = {closing:.9}", self.wall_names(&walls)),
            ));
        }
        Ok(true)
    }

    /// One more impact than there may be is not applied: the motion ends before it, as it ends before a step too many.
    fn allow_impact(&mut self) -> Result<(), Halt> {
        let most = self.options.max_impacts;
        if self.impact_count < most {
            return Ok(());
        }
        let impacts = if most == 1 { "impact" } else { "impacts" };
        let detail = format!("{most} {impacts}{}", self.closing_words());
        Err(Halt::new(StopReason::ImpactLimit, detail))
    }

    /// φ̇⁻ of touched walls, rounding taken as zero.
    fn rates_before(&self, walls: &[usize]) -> Vec<f64> {
        walls.iter().map(|&w| if self.walls[w].closed { 0.0 } else { self.known_rate(w) }).collect()
    }

    /// What of their rates is rounding.
    fn rate_roundings(&self, walls: &[usize]) -> Vec<f64> {
        walls.iter().map(|&w| self.rate_rounding(w)).collect()
    }

    /// The law the model and the options ask for, at the present frame.
    pub fn apply_law(&mut self, walls: &[usize]) -> Result<(), Halt> {
        let rates = self.rates_before(walls);
        let speed = -rates.iter().copied().fold(0.0, f64::min);
        let sequential = self.options.impact_order == ImpactOrder::Sequential;
        if !self.program.mechanics.quadratic {
            self.collide_generally(walls, &self.rate_roundings(walls))
        } else if sequential && walls.len() > 1 {
            self.collide_in_sequence(walls, &self.rate_roundings(walls), speed)
        } else {
            if let ([wall], [rate]) = (walls, &rates[..])
                && *rate < 0.0
                && self.strike(*wall, *rate)
            {
                return Ok(());
            }
            let restitution: Vec<f64> = walls.iter().map(|&w| self.restitution[w]).collect();
            self.collide_together(walls, &rates, &restitution, true)
        }
    }

    /// Moreau's law for all touched walls. `record` is false for the last, invisible impacts of a Zeno series.
    pub fn collide_together(
        &mut self,
        walls: &[usize],
        rates: &[f64],
        restitution: &[f64],
        record: bool,
    ) -> Result<(), Halt> {
        let metric = self.frame.metric();
        let normals: Vec<Vec<f64>> = walls.iter().map(|&w| self.frame.normal(w).to_vec()).collect();
        let touching = Touching::new(&metric, &normals);
        let outcome = if walls.len() == 1 {
            touching.single(0, rates[0], restitution[0])
        } else {
            touching.simultaneous(rates, restitution)
        };
        let outcome = outcome.map_err(|failure| self.failed(&failure, walls))?;
        if record {
            self.warn_if_ambiguous(&touching, walls, &outcome);
        }
        let sizes: Vec<f64> = (0..walls.len())
            .map(|i| (0..walls.len()).map(|j| (touching.stiffness[(i, j)] * outcome.impulses[j]).abs()).sum())
            .collect();
        self.apply(walls, &outcome, rates, record);
        for (i, &w) in walls.iter().enumerate() {
            let rebounds = outcome.impulses[i] > 0.0 && restitution[i] > 0.0 && rates[i] < 0.0;
            let rounding = SOLVED * (self.frame.gap_rate_scale(w) + sizes[i]);
            self.walls[w].touching = true;
            self.walls[w].resting = !rebounds && self.frame.gap_rate(w).abs() <= rounding;
        }
        Ok(())
    }

    fn failed(&self, failure: &Failure, walls: &[usize]) -> Halt {
        match failure {
            Failure::NotEnforceable(i) => self.not_enforceable(walls[*i]),
            Failure::Squeezed => self.squeezed_by(walls),
        }
    }

    fn warn_if_ambiguous(&mut self, touching: &Touching, walls: &[usize], outcome: &Outcome) {
        let pushing: Vec<usize> = (0..walls.len()).filter(|&i| outcome.impulses[i] > 0.0).collect();
        let sequential = self.options.impact_order == ImpactOrder::Sequential;
        for (a, &i) in pushing.iter().enumerate() {
            for &j in &pushing[a + 1..] {
                self.warn_about_pair(touching, walls, i, j, sequential);
            }
        }
    }

    fn warn_about_pair(
        &mut self,
        touching: &Touching,
        walls: &[usize],
        i: usize,
        j: usize,
        sequential: bool,
    ) {
        let elastic = self.restitution[walls[i]] == 1.0 && self.restitution[walls[j]] == 1.0;
        if touching.is_ambiguous(i, j, elastic, sequential) {
            let (a, b) = (self.wall_name(walls[i]), self.wall_name(walls[j]));
            let message = format!(
                "walls `{a}` and `{b}` were hit at the same instant; the outcome depends on the rule for several walls"
            );
            self.warn(message);
        }
    }

    /// The one-wall law, wall after wall.
    fn collide_in_sequence(&mut self, walls: &[usize], rounding: &[f64], first: f64) -> Result<(), Halt> {
        let metric = self.frame.metric();
        let normals: Vec<Vec<f64>> = walls.iter().map(|&w| self.frame.normal(w).to_vec()).collect();
        let touching = Touching::new(&metric, &normals);
        let mut pushed = vec![false; walls.len()];
        loop {
            let rates: Vec<f64> = walls
                .iter()
                .enumerate()
                .map(|(i, &w)| {
                    if self.walls[w].closed && !pushed.iter().any(|p| *p) {
                        0.0 * i as f64
                    } else {
                        self.frame.gap_rate(w)
                    }
                })
                .collect();
            let Some(i) = touching.next_in_sequence(&rates, rounding) else { break };
            self.allow_impact()?;
            let inelastic = walls.iter().any(|&w| self.restitution[w] < 1.0);
            let slow = rates.iter().all(|u| *u > -FINISH_TOGETHER * first);
            if inelastic && slow {
                let none = vec![0.0; walls.len()];
                self.collide_together(walls, &rates, &none, true)?;
                break;
            }
            let outcome = touching
                .single(i, rates[i], self.restitution[walls[i]])
                .map_err(|failure| self.failed(&failure, walls))?;
            self.apply(walls, &outcome, &rates, true);
            pushed[i] = true;
        }
        let hit: Vec<usize> = (0..walls.len()).filter(|&i| pushed[i]).collect();
        for (a, &i) in hit.iter().enumerate() {
            for &j in &hit[a + 1..] {
                self.warn_about_pair(&touching, walls, i, j, true);
            }
        }
        for &w in walls {
            self.walls[w].touching = true;
            self.walls[w].resting =
                self.frame.gap_rate(w).abs() <= SOLVED * self.frame.gap_rate_scale(w).max(first);
        }
        Ok(())
    }

    /// Any other kinetic energy: the law in momentum space, one wall at a time.
    fn collide_generally(&mut self, walls: &[usize], rounding: &[f64]) -> Result<(), Halt> {
        let mut pushed: Vec<usize> = Vec::new();
        let first = walls.iter().map(|&w| -self.frame.gap_rate(w)).fold(0.0, f64::max);
        loop {
            let normals: Vec<Vec<f64>> = walls.iter().map(|&w| self.frame.normal(w).to_vec()).collect();
            let touching = Touching::new(&self.frame.metric(), &normals);
            let rates: Vec<f64> = walls.iter().map(|&w| self.frame.gap_rate(w)).collect();
            let Some(i) = touching.next_in_sequence(&rates, rounding) else { break };
            self.allow_impact()?;
            let wall = walls[i];
            let finish = pushed.len() > 1 && rates.iter().all(|u| *u > -FINISH_TOGETHER * first);
            let e = if finish { 0.0 } else { self.restitution[wall] };
            let found = MomentumLaw::solve(self, wall, e).ok_or_else(|| self.not_enforceable(wall))?;
            let mut impulses = vec![0.0; walls.len()];
            impulses[i] = found.impulse;
            let outcome = Outcome { impulses, reactions: found.reactions, jump: found.velocity_jump };
            self.apply_general(walls, &outcome, &rates, found.energy_kept);
            if !pushed.contains(&wall) {
                pushed.push(wall);
            }
        }
        if pushed.len() > 1 {
            let names = self.wall_names(&pushed);
            self.warn(format!(
                "walls {names} were hit at the same instant; for this kinetic energy they were resolved one after the other"
            ));
        }
        for &w in walls {
            self.walls[w].touching = true;
            self.walls[w].resting =
                self.frame.gap_rate(w).abs() <= SOLVED * self.frame.gap_rate_scale(w).max(first);
        }
        Ok(())
    }

    /// Applies a quadratic outcome: state, record, audit. Leaves the frame at the state after.
    fn apply(&mut self, walls: &[usize], outcome: &Outcome, rates: &[f64], record: bool) {
        // What the law allows besides −λφ_t − μ·b: ½ Σ λ (φ̇⁺ + φ̇⁻), zero at e = 1.
        self.apply_with(walls, outcome, rates, record, |run, impulses| {
            impulses.iter().map(|&(i, w, l)| 0.5 * l * (run.frame.gap_rate(w) + rates[i])).sum()
        });
    }

    fn apply_general(&mut self, walls: &[usize], outcome: &Outcome, rates: &[f64], lost: f64) {
        self.apply_with(walls, outcome, rates, true, |_, _| lost);
    }

    fn apply_with(
        &mut self,
        walls: &[usize],
        outcome: &Outcome,
        rates: &[f64],
        record: bool,
        extra: impl Fn(&Run<'_>, &[(usize, usize, f64)]) -> f64,
    ) {
        let pushing: Vec<(usize, usize, f64)> = walls
            .iter()
            .enumerate()
            .filter(|(i, _)| outcome.impulses[*i] > 0.0)
            .map(|(i, &w)| (i, w, outcome.impulses[i]))
            .collect();
        let rows = self.frame.rows();
        let mut momentum = rows.transposed_times(&outcome.reactions);
        let mut allowed = -dot(&outcome.reactions, self.frame.row_drift());
        for &(_, w, l) in &pushing {
            momentum.iter_mut().zip(self.frame.normal(w)).for_each(|(p, n)| *p += l * n);
            allowed -= l * self.frame.gap_t(w);
        }
        let momentum_before = self.frame.momentum().to_vec();
        let drive_before = self.frame.drive_momentum().to_vec();
        let energy_before = self.frame.energy();
        let kept = record && self.keeps_impacts;
        let velocity_before = if kept { self.all_velocities() } else { Vec::new() };
        self.kick(&momentum, &outcome.jump);
        self.finish_dependent_velocities();
        self.look();
        allowed += extra(self, &pushing);
        self.expected_energy += allowed;
        self.audit_impact(&momentum_before, &momentum, energy_before, allowed);
        if record {
            self.impact_count += 1;
            self.last_hit.clear();
            self.last_hit.extend(pushing.iter().map(|p| p.1));
        }
        if !kept {
            return;
        }
        let hits: Vec<(usize, f64, f64)> = pushing.iter().map(|&(i, w, l)| (w, l, rates[i])).collect();
        self.record_impact(&hits, &outcome.reactions, &drive_before, velocity_before, energy_before);
    }

    /// Records an impact that has been applied: `hits` are wall, impulse and gap rate before.
    pub fn record_impact(
        &mut self,
        hits: &[(usize, f64, f64)],
        reactions: &[f64],
        drive_before: &[f64],
        velocity_before: Vec<f64>,
        energy_before: f64,
    ) {
        let walls_hit: Vec<(usize, f64)> = hits.iter().map(|&(w, l, _)| (w, l)).collect();
        let driving_impulse = (0..drive_before.len())
            .map(|k| {
                let jump = self.frame.drive_momentum()[k] - drive_before[k];
                jump - self.frame.drive_reaction(k, reactions, &walls_hit)
            })
            .collect();
        let (position, velocity_after) = (self.all_positions(), self.all_velocities());
        self.motion.impacts.push(Impact {
            time: self.time.value(),
            walls: hits.iter().map(|hit| hit.0).collect(),
            impulse: hits.iter().map(|hit| hit.1).collect(),
            reaction_impulse: reactions.to_vec(),
            driving_impulse,
            gap_rate_before: hits.iter().map(|hit| hit.2).collect(),
            gap_rate_after: hits.iter().map(|hit| self.frame.gap_rate(hit.0)).collect(),
            position,
            velocity_before,
            velocity_after,
            hamiltonian_before: energy_before,
            hamiltonian_after: self.frame.energy(),
        });
    }

    /// [p] = λn + Aᵀμ and [E] = what the law allows, relative to the momentum and energy scales.
    pub fn audit_impact(&mut self, before: &[f64], added: &[f64], energy: f64, allowed: f64) {
        let after = self.frame.momentum();
        let scale = largest(before).max(largest(after)).max(largest(added));
        let residual = (0..before.len()).map(|i| (after[i] - before[i] - added[i]).abs()).fold(0.0, f64::max);
        let energy_scale = self.energy_scale.max(self.frame.energy_scale()).max(energy.abs());
        let mut worst = if scale > 0.0 { residual / scale } else { 0.0 };
        if energy_scale > 0.0 {
            worst = worst.max((self.frame.energy() - energy - allowed).abs() / energy_scale);
        }
        let kept = &mut self.motion.audit.impact_law_residual;
        *kept = kept.max(worst);
    }

    /// One-wall Zeno, or a pattern over several walls: has the series become too small to see?
    /// Returns the time it still needs.
    pub fn zeno_remaining(&mut self) -> Option<f64> {
        if self.last_hit.iter().all(|&w| self.restitution[w] == 1.0) {
            return None;
        }
        let walls = self.last_hit.clone();
        let metric: Metric = self.frame.metric();
        let (free, _) = self.free_acceleration(&metric);
        let visible = |run: &Run<'_>, w: usize| {
            let rate = run.frame.gap_rate(w);
            let acceleration = dot(run.frame.normal(w), &free) + run.frame.wall_bias(w);
            let scale = run.largest_terms.gap[w];
            acceleration >= 0.0 || rate * rate / (2.0 * acceleration.abs()) > f64::EPSILON * scale
        };
        if walls.iter().any(|&w| visible(self, w)) {
            return None;
        }
        if let [wall] = walls[..]
            && self.history.only(wall, 3)
        {
            let others: Vec<usize> = (0..self.walls.len()).filter(|&w| self.walls[w].closed).collect();
            let acceleration = if others.is_empty() {
                dot(self.frame.normal(wall), &free) + self.frame.wall_bias(wall)
            } else {
                let (x, _, _) = self.reactions(&others);
                dot(self.frame.normal(wall), &x) + self.frame.wall_bias(wall)
            };
            let e = self.restitution[wall];
            return Some(2.0 * self.frame.gap_rate(wall) / acceleration.abs() / (1.0 - e));
        }
        self.history.remaining()
    }

    /// Cuts a Zeno series: joint e = 0 law now, contact from the Zeno time on.
    pub fn cut_zeno(&mut self, remaining: f64) -> Result<(), Halt> {
        let end = self.time.plus(remaining);
        let mut walls = self.touched(&[]);
        // Walls of the pattern that are within the last, invisible bounces.
        for w in 0..self.walls.len() {
            let near = self.frame.gap(w) <= ROUNDING * self.largest_terms.gap[w];
            if near && !walls.contains(&w) && self.restitution[w] < 1.0 {
                walls.push(w);
            }
        }
        walls.sort_unstable();
        // Rates that are part of the series go to zero whatever their sign.
        let rates: Vec<f64> = walls.iter().map(|&w| -self.frame.gap_rate(w).abs()).collect();
        let before: Vec<f64> = walls.iter().map(|&w| self.frame.gap_rate(w)).collect();
        self.stop_rates(&walls, &before)
            .or_else(|_| {
                let none = vec![0.0; walls.len()];
                self.collide_together(&walls, &rates, &none, false)
            })
            .map_err(|_| {
                Halt::new(
                    StopReason::ZenoWithoutContinuation,
                    format!(
                        "infinitely many impacts on {}, and no contact continues them",
                        self.wall_names(&walls)
                    ),
                )
            })?;
        for &w in &walls {
            self.walls[w].touching = true;
            self.walls[w].resting = true;
            if !self.walls[w].closed {
                self.walls[w].zeno_at = Some(end);
            }
        }
        self.history.clear();
        Ok(())
    }

    /// Projects the velocity onto φ̇ = 0 of these walls.
    fn stop_rates(&mut self, walls: &[usize], rates: &[f64]) -> Result<(), Halt> {
        let (n, m) = (self.frame.layout.n, self.frame.layout.rows);
        let (metric, all) = self.frame.metric_with(walls);
        let target: Vec<f64> = std::iter::repeat_n(0.0, m).chain(rates.iter().map(|u| -u)).collect();
        let (jump, y) = metric.solve(&vec![0.0; n], &target);
        let momentum: Vec<f64> = all.transposed_times(&y).iter().map(|x| -x).collect();
        let energy = self.frame.energy();
        self.kick(&momentum, &jump);
        self.look();
        self.expected_energy += self.frame.energy() - energy;
        if self.frame.is_finite() { Ok(()) } else { Err(self.not_finite()) }
    }
}
