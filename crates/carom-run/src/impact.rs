//! One instant of impact: which walls are touched, the law, its record, and what it leaves behind.
//!
//! A touched wall leaves either with φ̇ > 0, or at rest: φ̇ = 0 is known then, not measured. A wall that was closed comes with
//! φ̇⁻ = 0 in the same sense, so what holds through an impact elsewhere holds exactly.

use crate::law::{ImpactOutcome, LawFailure, Touching};
use crate::momentum::MomentumLaw;
use crate::motion::{Impact, StopReason};
use crate::run::{Halt, Run};
use crate::several::GapRates;
use crate::zero::SOLVED;
use carom_jet::dense::{dot, largest};
use carom_mech::model::ImpactOrder;

impl Run<'_> {
    /// All walls with φ = 0 at the present frame; `hit` are known to be.
    pub fn touched(&self, hit: &[usize]) -> Vec<usize> {
        let touches = |w: usize| if hit.is_empty() { self.touches(w) } else { self.is_hit_too(w) };
        (0..self.contact.walls.len())
            .filter(|w| self.contact.held != Some(*w))
            .filter(|w| self.contact.walls[*w].closed || hit.contains(w) || touches(*w))
            .collect()
    }

    /// Walls `hit` have just been reached. Applies the law where it applies; afterwards every touched wall is marked
    /// touching, and resting if φ̇ = 0. Returns true if there was an impulse.
    pub fn apply_impact(&mut self, hit: &[usize]) -> Result<bool, Halt> {
        self.evaluate_frame();
        if !self.frame.is_finite() {
            return Err(self.not_finite());
        }
        let walls = self.touched(hit);
        let before = self.rates_before(&walls);
        let rates = &before.now;
        if rates.iter().all(|u| *u >= 0.0) {
            for (&w, u) in walls.iter().zip(rates) {
                self.contact.walls[w].touching = true;
                self.contact.walls[w].resting = *u == 0.0;
            }
            return Ok(false);
        }
        if self.is_degenerate()
            && let Some(wall) = self.frame.massless_wall(&walls, rates)
        {
            self.hold_by_force(wall)?;
            return Ok(false);
        }
        let speed = -rates.iter().copied().fold(0.0, f64::min);
        self.allow_impact()?;
        self.apply_law(&walls, before)?;
        // Only walls that take energy have series to recognise.
        if self.contact.restitution.iter().any(|e| *e < 1.0) {
            self.contact.history.push(self.now.time, &self.contact.last_hit);
        }
        if let Some(closing) =
            self.contact.squeeze.impact(self.now.time.value(), speed, &self.contact.last_hit)
            && (closing.closed || self.space_closes(closing.time))
        {
            let closing = closing.time;
            let walls = self.contact.squeeze.walls();
            return Err(Halt::new(
                StopReason::Squeezed,
                format!("the free space at {} closes at t = {closing:.9}", self.wall_names(&walls)),
            ));
        }
        Ok(true)
    }

    /// One more impact than there may be is not applied: the motion ends before it, as it ends before a step too many.
    fn allow_impact(&mut self) -> Result<(), Halt> {
        if self.recorder.impact_count < self.options.max_impacts {
            Ok(())
        } else {
            Err(self.too_many_impacts())
        }
    }

    fn too_many_impacts(&mut self) -> Halt {
        let most = self.options.max_impacts;
        let impacts = if most == 1 { "impact" } else { "impacts" };
        let detail = format!("{most} {impacts}{}", self.closing_words());
        Halt::new(StopReason::ImpactLimit, detail)
    }

    /// φ̇⁻ of touched walls, rounding taken as zero.
    fn rates_before(&self, walls: &[usize]) -> GapRates {
        let known = |&w: &usize| if self.contact.walls[w].closed { 0.0 } else { self.known_rate(w) };
        let now: Vec<f64> = walls.iter().map(known).collect();
        // Alone, a wall is not compared with others.
        let scale = if walls.len() > 1 {
            walls.iter().map(|&w| self.frame.gap_rate_scale(w)).collect()
        } else {
            vec![0.0]
        };
        GapRates { now, scale }
    }

    /// The law the model and the options ask for, at the present frame.
    fn apply_law(&mut self, walls: &[usize], before: GapRates) -> Result<(), Halt> {
        let sequential = self.options.impact_order == ImpactOrder::Sequential;
        if !self.program.mechanics.quadratic {
            return self.apply_impact_generally(walls);
        }
        if let ([wall], [rate]) = (walls, &before.now[..])
            && *rate < 0.0
            && self.apply_one_wall(*wall, *rate)
        {
            return Ok(());
        }
        if sequential && walls.len() > 1 {
            return self.apply_impact_in_sequence(walls, before);
        }
        let restitution: Vec<f64> = walls.iter().map(|&w| self.contact.restitution[w]).collect();
        self.apply_impact_together(walls, &before, &restitution)
    }

    /// The simultaneous law for all touched walls.
    fn apply_impact_together(
        &mut self,
        walls: &[usize],
        before: &GapRates,
        restitution: &[f64],
    ) -> Result<(), Halt> {
        let touching = self.frame.touching(walls);
        let passes = self.options.max_impacts - self.recorder.impact_count;
        let joint = touching
            .simultaneous(before, restitution, passes)
            .map_err(|failure| self.failed(&failure, walls))?;
        self.warn_about_room(walls, &joint.stopped);
        let pushing: Vec<usize> = (0..walls.len()).filter(|&i| joint.outcome.impulses[i] > 0.0).collect();
        self.warn_if_ambiguous(&touching, walls, &pushing);
        self.apply(walls, &joint.outcome, &before.now);
        for (i, &w) in walls.iter().enumerate() {
            self.contact.walls[w].touching = true;
            self.contact.walls[w].resting = joint.resting[i];
        }
        Ok(())
    }

    fn failed(&mut self, failure: &LawFailure, walls: &[usize]) -> Halt {
        match failure {
            LawFailure::NotEnforceable(i) => self.not_enforceable(walls[*i]),
            LawFailure::Squeezed(all) => self.squeezed_by(&all.iter().map(|&i| walls[i]).collect::<Vec<_>>()),
            LawFailure::TooMany => self.too_many_impacts(),
        }
    }

    fn warn_about_room(&mut self, walls: &[usize], stopped: &[usize]) {
        if stopped.is_empty() {
            return;
        }
        let names = self.wall_names(&stopped.iter().map(|&i| walls[i]).collect::<Vec<_>>());
        self.warn(format!(
            "walls {names} leave no room between them: what moved there was stopped, and its energy is lost"
        ));
    }

    fn warn_if_ambiguous(&mut self, touching: &Touching, walls: &[usize], pushing: &[usize]) {
        for (a, &i) in pushing.iter().enumerate() {
            for &j in &pushing[a + 1..] {
                let elastic =
                    self.contact.restitution[walls[i]] == 1.0 && self.contact.restitution[walls[j]] == 1.0;
                if touching.is_ambiguous(i, j, elastic) {
                    let (a, b) = (self.wall_name(walls[i]), self.wall_name(walls[j]));
                    let message = format!(
                        "walls `{a}` and `{b}` were hit at the same instant; the outcome depends on the rule for several walls"
                    );
                    self.warn(message);
                }
            }
        }
    }

    /// The one-wall law, wall after wall.
    fn apply_impact_in_sequence(&mut self, walls: &[usize], before: GapRates) -> Result<(), Halt> {
        let touching = self.frame.touching(walls);
        let mut rates = before;
        let mut pushed = vec![false; walls.len()];
        let stopped = self.stop_where_no_room(&touching, walls, &mut rates)?;
        stopped.iter().for_each(|&i| pushed[i] = true);
        let first = touching.first_approach(&rates.now);
        let inelastic = walls.iter().any(|&w| self.contact.restitution[w] < 1.0);
        while let Some(i) = touching.next_in_sequence(&rates.now) {
            self.allow_impact()?;
            if inelastic && touching.is_finishing(&rates.now, first) {
                let none = vec![0.0; walls.len()];
                return self.apply_impact_together(walls, &rates, &none);
            }
            let (rate, e) = (rates.now[i], self.contact.restitution[walls[i]]);
            let outcome = touching.single(i, rate, e).map_err(|failure| self.failed(&failure, walls))?;
            let now = rates.now.clone();
            touching.push_alone(&mut rates, i, outcome.impulses[i], -e * rate);
            self.apply(walls, &outcome, &now);
            pushed[i] = true;
        }
        let hit: Vec<usize> = (0..walls.len()).filter(|&i| pushed[i]).collect();
        self.warn_if_ambiguous(&touching, walls, &hit);
        for (i, &w) in walls.iter().enumerate() {
            self.contact.walls[w].touching = true;
            self.contact.walls[w].resting = rates.now[i] == 0.0;
        }
        Ok(())
    }

    /// Walls between which there is no room are stopped before a sequence, which would not end.
    fn stop_where_no_room(
        &mut self,
        touching: &Touching,
        walls: &[usize],
        rates: &mut GapRates,
    ) -> Result<Vec<usize>, Halt> {
        let before = rates.now.clone();
        let (mut impulses, mut resting) = (vec![0.0; walls.len()], vec![false; walls.len()]);
        let stopped = touching
            .stop_where_no_room(rates, &mut impulses, &mut resting)
            .map_err(|failure| self.failed(&failure, walls))?;
        if !stopped.is_empty() {
            self.warn_about_room(walls, &stopped);
            self.apply(walls, &touching.outcome(impulses), &before);
        }
        Ok(stopped)
    }

    /// Any other kinetic energy: the law in momentum space, one wall at a time.
    fn apply_impact_generally(&mut self, walls: &[usize]) -> Result<(), Halt> {
        let mut pushed: Vec<usize> = Vec::new();
        let mut rates = self.rates_before(walls);
        let mut touching = self.frame.touching(walls);
        let first = touching.first_approach(&rates.now);
        let stopped = touching.without_room(&rates).map_err(|failure| self.failed(&failure, walls))?;
        self.warn_about_room(walls, &stopped);
        while let Some(i) = touching.next_in_sequence(&rates.now) {
            self.allow_impact()?;
            let wall = walls[i];
            let finish = stopped.contains(&i) || pushed.len() > 1 && touching.is_finishing(&rates.now, first);
            let e = if finish { 0.0 } else { self.contact.restitution[wall] };
            let found = MomentumLaw::solve(self, wall, e).ok_or_else(|| self.not_enforceable(wall))?;
            let mut impulses = vec![0.0; walls.len()];
            impulses[i] = found.impulse;
            for (j, scale) in rates.scale.iter_mut().enumerate() {
                *scale = scale.max(touching.scale[(i, j)] * found.impulse);
            }
            let outcome = ImpactOutcome { impulses, reactions: found.reactions, jump: found.velocity_jump };
            self.apply_general(walls, &outcome, &rates.now, found.energy_kept);
            if !pushed.contains(&wall) {
                pushed.push(wall);
            }
            touching = self.frame.touching(walls);
            for (j, &w) in walls.iter().enumerate() {
                let rate = self.frame.gap_rate(w);
                rates.scale[j] = rates.scale[j].max(self.frame.gap_rate_scale(w));
                let rests = j == i && e == 0.0 || rate.abs() <= SOLVED * rates.scale[j];
                rates.now[j] = if rests { 0.0 } else { rate };
            }
        }
        if pushed.len() > 1 {
            let names = self.wall_names(&pushed);
            self.warn(format!(
                "walls {names} were hit at the same instant; for this kinetic energy they were resolved one after the other"
            ));
        }
        for (j, &w) in walls.iter().enumerate() {
            self.contact.walls[w].touching = true;
            self.contact.walls[w].resting = rates.now[j] == 0.0;
        }
        Ok(())
    }

    /// Applies a quadratic outcome: state, record, audit. Leaves the frame at the state after.
    fn apply(&mut self, walls: &[usize], outcome: &ImpactOutcome, rates: &[f64]) {
        // What the law allows besides −λφ_t − μ·b: ½ Σ λ (φ̇⁺ + φ̇⁻), zero at e = 1.
        self.apply_with(walls, outcome, rates, |run, impulses| {
            impulses.iter().map(|&(i, w, l)| 0.5 * l * (run.frame.gap_rate(w) + rates[i])).sum()
        });
    }

    fn apply_general(&mut self, walls: &[usize], outcome: &ImpactOutcome, rates: &[f64], lost: f64) {
        self.apply_with(walls, outcome, rates, |_, _| lost);
    }

    fn apply_with(
        &mut self,
        walls: &[usize],
        outcome: &ImpactOutcome,
        rates: &[f64],
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
        let kept = self.recorder.keeps_impacts;
        let velocity_before = if kept { self.all_velocities() } else { Vec::new() };
        self.apply_impulse(&momentum, &outcome.jump);
        self.finish_dependent_velocities();
        self.evaluate_frame();
        allowed += extra(self, &pushing);
        self.audit.expected_energy += allowed;
        self.audit_impact(&momentum_before, &momentum, energy_before, allowed);
        self.recorder.impact_count += 1;
        self.contact.last_hit.clear();
        self.contact.last_hit.extend(pushing.iter().map(|p| p.1));
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
        self.recorder.motion.impacts.push(Impact {
            time: self.now.time.value(),
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
        let energy_scale = self.audit.energy_scale.max(self.frame.energy_scale()).max(energy.abs());
        let mut worst = if scale > 0.0 { residual / scale } else { 0.0 };
        if energy_scale > 0.0 {
            worst = worst.max((self.frame.energy() - energy - allowed).abs() / energy_scale);
        }
        let kept = &mut self.recorder.motion.audit.impact_law_residual;
        *kept = kept.max(worst);
    }
}
