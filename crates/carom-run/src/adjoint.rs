//! The way back: ψ̇ = −f_xᵀψ from the end to the start, ψ⁻ = Ξᵀψ⁺ at jumps.
//!
//! ```text
//! ψ(T) = ℓ_x,    dJ/dθ = ℓ_θ + ∫ ψ·f_θ dt + Σ jumps + ψ(0)·∂x₀/∂θ
//! ```
//!
//! Every step of the motion is taken again from its end, where the state was kept: one Taylor step of (x, ψ) towards its
//! beginning, more where the series from there reach less far. ψ·f_θ is integrated by Gauss quadrature at states of these
//! series, so its cost is that of a few evaluations, however many parameters there are.
//!
//! Promise: what forward mode delivers, contracted with the weights, to some roundings and what steps leave out.

use crate::adjoint_tape::{AdjointFlow, AdjointSeries};
use crate::gradient::{Gradient, ObjectiveTerm};
use crate::journal::{MotionJournal, Passed, StepRecord};
use crate::run::Run;
use crate::variation::{NotDifferentiable, Obstacle, Variation};
use carom_jet::dense::dot;
use carom_jet::{Flow, Taylor, Time};
use std::ops::Range;

/// Nodes (around the middle) and weights of Gauss quadrature on [−1, 1], 8 points. A step h = 0.22 ρ has its nearest singularity
/// at 7 half steps from the middle at least, an ellipse of parameter 14: the error is 14⁻¹⁶ of the integrand.
const GAUSS: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];
const NODES: usize = 2 * GAUSS.len();
/// How much more than the motion's own steps a step back may leave out, so that it need not be halved: 1.15²⁵.
const MORE_LEFT_OUT: f64 = 32.0;
/// Into how many parts a step is cut at most.
const MOST_PARTS: u32 = 64;

/// The adjoint so far.
pub(crate) struct Adjoint {
    /// ψ
    pub psi: Vec<f64>,
    /// dJ/dp per parameter of the model, all other parameters kept.
    pub parameters: Vec<f64>,
    /// dJ/de per wall.
    pub restitution: Vec<f64>,
    /// The largest |ψ_i| so far.
    reach: Vec<f64>,
    /// Half of what each state variable moves by in all.
    scales: Vec<f64>,
    /// The worst disagreement of a transposed law.
    pub duality: Option<f64>,
    room: Room,
}

/// Room for what is evaluated.
#[derive(Default)]
struct Room {
    /// (x, ψ)
    state: Vec<f64>,
    /// h, h², … of all nodes.
    powers: Vec<[f64; NODES]>,
    /// (x, u, ψ, λ) at all nodes.
    inputs: Vec<[f64; NODES]>,
    /// ∫ ∂𝓗/∂θ
    sums: Vec<f64>,
}

/// Weights of the objective by the records they belong to.
pub(crate) struct RecordWeights {
    pub impact_time: Vec<f64>,
    pub impulse: Vec<Vec<f64>>,
    pub event_time: Vec<f64>,
}

/// What a term refers to and does not exist.
struct DidNotHappen(String);

impl Run<'_> {
    /// Goes back through the motion and delivers the gradient.
    pub fn finish_gradient(&mut self, mut journal: Box<MotionJournal>, result: Variation) {
        let (parameters, time, state) = (self.leg.parameters.clone(), self.now.time, self.now.state.clone());
        let weights = self.weights_of_records(&journal);
        let mut value = self.value_of_signals(&mut journal);
        let mut gradient = vec![f64::NAN; result.directions.len()];
        let mut lost = result.not_differentiable.clone();
        let mut duality = None;
        match &weights {
            Err(DidNotHappen(sentence)) => {
                value = f64::NAN;
                self.warn(format!("there is no gradient of `{}`: {sentence}", journal.objective.name));
            }
            Ok((records, of_records)) => {
                value += of_records;
                if lost.is_none() {
                    match self.go_back(&mut journal, records) {
                        Ok(adjoint) => {
                            gradient = self.contracted(&journal, records, &adjoint);
                            duality = adjoint.duality;
                        }
                        Err(obstacle) => lost = Some(obstacle),
                    }
                }
            }
        }
        self.enter_parameters(&parameters);
        (self.now.time, self.now.state) = (time, state);
        self.evaluate_frame();
        self.recorder.motion.gradient = Some(Gradient {
            of: journal.objective.name.clone(),
            value,
            directions: result.directions,
            with_respect_to: result.with_respect_to,
            gradient,
            not_differentiable: lost,
            one_sided: result.one_sided,
            duality,
        });
    }

    /// Gives other parameters to what the way back evaluates.
    pub(crate) fn enter_parameters(&mut self, parameters: &[f64]) {
        if self.leg.parameters != parameters {
            self.leg.parameters = parameters.to_vec();
            self.frame.set_parameters(parameters);
        }
    }

    // ---- the objective -----------------------------------------------------------------------------------------

    /// The weights of impacts and events, and their part of the value.
    fn weights_of_records(&self, journal: &MotionJournal) -> Result<(RecordWeights, f64), DidNotHappen> {
        let motion = &self.recorder.motion;
        let mut value = 0.0;
        let mut weights = RecordWeights {
            impact_time: vec![0.0; motion.impacts.len()],
            impulse: motion.impacts.iter().map(|i| vec![0.0; i.walls.len()]).collect(),
            event_time: vec![0.0; motion.events.len()],
        };
        for term in &journal.objective.terms {
            match *term {
                ObjectiveTerm::End(..) | ObjectiveTerm::Samples(..) => {}
                ObjectiveTerm::ImpactTime { wall, number, weight }
                | ObjectiveTerm::Impulse { wall, number, weight } => {
                    let mut own =
                        (0..motion.impacts.len()).filter(|&i| motion.impacts[i].walls.contains(&wall));
                    let count = own.clone().count();
                    let Some(i) = own.nth(number) else {
                        let name = self.wall_name(wall);
                        return Err(DidNotHappen(format!(
                            "wall `{name}` was hit {}, not {}",
                            times(count),
                            times(number + 1)
                        )));
                    };
                    let place = motion.impacts[i].walls.iter().position(|&w| w == wall).unwrap_or(0);
                    if matches!(term, ObjectiveTerm::ImpactTime { .. }) {
                        weights.impact_time[i] += weight;
                        value += weight * motion.impacts[i].time;
                    } else {
                        weights.impulse[i][place] += weight;
                        value += weight * motion.impacts[i].impulse[place];
                    }
                }
                ObjectiveTerm::EventTime { event, number, weight } => {
                    let mut own = (0..motion.events.len()).filter(|&i| motion.events[i].event == event);
                    let count = own.clone().count();
                    let Some(i) = own.nth(number) else {
                        let name = &self.program.mechanics.model.events[event].name;
                        return Err(DidNotHappen(format!(
                            "event `{name}` happened {}, not {}",
                            times(count),
                            times(number + 1)
                        )));
                    };
                    weights.event_time[i] += weight;
                    value += weight * motion.events[i].time;
                }
            }
        }
        Ok((weights, value))
    }

    /// Weights of the signals at the end, or at a sample.
    fn weights_of_signals(journal: &MotionJournal, sample: Option<usize>) -> Vec<f64> {
        let mut weights = vec![0.0; journal.signals.len()];
        for term in &journal.objective.terms {
            let (signal, weight) = match (term, sample) {
                (ObjectiveTerm::End(signal, weight), None) => (signal, *weight),
                // No weights: each counts once.
                (ObjectiveTerm::Samples(signal, list), Some(_)) if list.is_empty() => (signal, 1.0),
                (ObjectiveTerm::Samples(signal, list), Some(place)) => {
                    (signal, list.get(place).copied().unwrap_or(0.0))
                }
                _ => continue,
            };
            if let Some(i) = journal.signals.iter().position(|s| s == signal) {
                weights[i] += weight;
            }
        }
        weights
    }

    /// Σ weight · signal, at the end and at the samples.
    fn value_of_signals(&mut self, journal: &mut MotionJournal) -> f64 {
        if journal.signals.is_empty() {
            return 0.0;
        }
        let (time, state) = (self.now.time, self.now.state.clone());
        let weights = Run::weights_of_signals(journal, None);
        let mut value = observe(&mut journal.observed, &self.leg.parameters, time, &state, &weights).0;
        for i in 0..journal.samples.len() {
            let weights = Run::weights_of_signals(journal, Some(journal.samples[i].place));
            let (sample, leg) = (&journal.samples[i], &journal.legs[journal.samples[i].leg]);
            value += observe(&mut journal.observed, &leg.parameters, sample.time, &sample.state, &weights).0;
        }
        value
    }

    /// Adds what the signals at a state say.
    fn add_signals(
        adjoint: &mut Adjoint,
        journal: &mut MotionJournal,
        parameters: &[f64],
        time: Time,
        state: &[f64],
        weights: &[f64],
    ) {
        if weights.iter().all(|w| *w == 0.0) {
            return;
        }
        let (_, slopes) = observe(&mut journal.observed, parameters, time, state, weights);
        let size = adjoint.psi.len();
        adjoint.psi.iter_mut().zip(&slopes).for_each(|(p, s)| *p += s);
        // Time is fixed where a signal is taken.
        for (&j, s) in journal.wanted.iter().zip(&slopes[size + 1..]) {
            adjoint.parameters[j] += s;
        }
    }

    // ---- the way back ------------------------------------------------------------------------------------------

    fn go_back(
        &mut self,
        journal: &mut MotionJournal,
        records: &RecordWeights,
    ) -> Result<Adjoint, NotDifferentiable> {
        let m = &self.program.mechanics;
        let size = 2 * self.size();
        let mut adjoint = Adjoint {
            psi: vec![0.0; size],
            parameters: vec![0.0; m.model.parameters.len()],
            restitution: vec![0.0; m.walls.len()],
            reach: vec![0.0; size],
            scales: journal.ranges.iter().map(|r| 0.5 * (r[1] - r[0])).collect(),
            duality: None,
            room: Room::default(),
        };
        let entries = std::mem::take(&mut journal.entries);
        let weights = Run::weights_of_signals(journal, None);
        let (time, state, parameters) = (self.now.time, self.now.state.clone(), self.leg.parameters.clone());
        Run::add_signals(&mut adjoint, journal, &parameters, time, &state, &weights);
        let mut flows = std::mem::take(&mut journal.flows);
        for entry in entries.iter().rev() {
            match entry {
                Passed::Sample(i) => self.add_sample(&mut adjoint, journal, *i),
                Passed::Step(step) => {
                    let key = journal.legs[step.leg].key.clone();
                    let fine = match flows.get_mut(&key) {
                        Some(flow) => self.step_back(&mut adjoint, journal, flow, step),
                        None => false,
                    };
                    if !fine {
                        return Err(lost(Obstacle::RankLoss, step.end));
                    }
                }
                Passed::Jump(jump) => {
                    let parameters = journal.legs[jump.leg].parameters.clone();
                    self.enter_parameters(&parameters);
                    self.jump_back(&mut adjoint, journal, jump, records).ok_or_else(|| {
                        let own = &self.recorder.motion.impacts[jump.impacts.clone()];
                        let walls = own.iter().flat_map(|i| i.walls.clone()).collect();
                        NotDifferentiable { walls, ..lost(Obstacle::SimultaneousImpacts, jump.time) }
                    })?;
                }
            }
        }
        Ok(adjoint)
    }

    fn add_sample(&mut self, adjoint: &mut Adjoint, journal: &mut MotionJournal, i: usize) {
        let weights = Run::weights_of_signals(journal, Some(journal.samples[i].place));
        let sample = journal.samples[i].clone();
        let parameters = journal.legs[sample.leg].parameters.clone();
        Run::add_signals(adjoint, journal, &parameters, sample.time, &sample.state, &weights);
    }

    /// One step of the motion, from its end to its beginning.
    fn step_back(
        &mut self,
        adjoint: &mut Adjoint,
        journal: &mut MotionJournal,
        flow: &mut AdjointFlow,
        step: &StepRecord,
    ) -> bool {
        let size = adjoint.psi.len();
        let parameters = &journal.legs[step.leg].leg_parameters;
        flow.set_parameters(parameters);
        flow.motion.set_unit(step.unit);
        let place = |i: usize| (journal.samples[i].time.minus(step.start) / step.unit).max(0.0);
        let places: Vec<f64> = step.samples.clone().map(place).collect();
        let mut left: Range<usize> = 0..places.len();
        let mut s = step.length;
        adjoint.room.state.clear();
        adjoint.room.state.extend_from_slice(&step.state);
        loop {
            while !left.is_empty() && places[left.end - 1] >= s {
                left.end -= 1;
                self.add_sample(adjoint, journal, step.samples.start + left.end);
            }
            if s <= 0.0 {
                return true;
            }
            let time = if s == step.length { step.end } else { step.start.plus(s * step.unit) };
            let mut state = std::mem::take(&mut adjoint.room.state);
            state.truncate(size);
            state.extend_from_slice(&adjoint.psi);
            if flow.motion.jet(time, &state).is_err() {
                return false;
            }
            for (reach, p) in adjoint.reach.iter_mut().zip(&adjoint.psi) {
                *reach = reach.max(p.abs());
            }
            let stop = if left.is_empty() { 0.0 } else { places[left.end - 1] };
            let parts = parts(&flow.motion, &self.stepper.taylor, s - stop, &adjoint.scales, &adjoint.reach);
            let next = if parts == 1 { stop } else { s - (s - stop) / f64::from(parts) };
            integrate(adjoint, flow, time, s - next);
            flow.motion.state_at(next - s, &mut state);
            adjoint.psi.copy_from_slice(&state[size..]);
            adjoint.room.state = state;
            s = next;
        }
    }

    // ---- the start -----------------------------------------------------------------------------------------------

    /// dJ/dθ: what parameters do on the way, and what start values become.
    fn contracted(&self, journal: &MotionJournal, records: &RecordWeights, adjoint: &Adjoint) -> Vec<f64> {
        let mut all = Vec::with_capacity(journal.seeds.len());
        for (d, (seed, column)) in journal.seeds.iter().zip(&journal.start).enumerate() {
            let moved = seed.moved.iter().map(|&(j, x)| x * adjoint.parameters[j]);
            let mut sum = dot(&adjoint.psi, column) + moved.sum::<f64>();
            if let Some(w) = seed.restitution {
                sum += adjoint.restitution[w];
            }
            // Impacts at the very start were followed forward.
            for (i, jump) in journal.start_impacts.iter().enumerate() {
                sum += weighted(records.impact_time[i], jump.time[d]);
                for (&weight, impulse) in records.impulse[i].iter().zip(&jump.impulse) {
                    sum += weighted(weight, impulse[d]);
                }
            }
            all.push(sum);
        }
        all
    }
}

/// A weight of zero asks for nothing, not even where there is no number.
fn weighted(weight: f64, x: f64) -> f64 {
    if weight == 0.0 { 0.0 } else { weight * x }
}

fn times(count: usize) -> String {
    match count {
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        n => format!("{n} times"),
    }
}

fn lost(what: Obstacle, time: Time) -> NotDifferentiable {
    NotDifferentiable { what, walls: Vec::new(), event: None, time: time.value() }
}

/// (Σ w_i signal_i, its slopes by state, time and parameters)
fn observe(
    flow: &mut Flow,
    parameters: &[f64],
    time: Time,
    state: &[f64],
    weights: &[f64],
) -> (f64, Vec<f64>) {
    flow.set_parameters(parameters);
    let mut inputs = state.to_vec();
    inputs.extend(weights);
    // No unknowns, so nothing can be singular.
    let _ = flow.evaluate(time, &inputs);
    let count = flow.tape().watched_count();
    let all: Vec<f64> = (0..count).map(|i| flow.watched(i)[0]).collect();
    let (values, slopes) = all.split_at(weights.len());
    (values.iter().zip(weights).map(|(v, w)| weighted(*w, *v)).sum(), slopes.to_vec())
}

/// Adds ∫ ∂𝓗/∂θ dt over the last h units before the point the series belong to.
fn integrate(adjoint: &mut Adjoint, flow: &mut AdjointFlow, time: Time, h: f64) {
    if flow.parameters.is_empty() {
        return;
    }
    let (unit, order) = (flow.motion.unit(), flow.motion.order());
    let nodes: [(f64, f64); NODES] = std::array::from_fn(|i| {
        let (x, weight) = GAUSS[i / 2];
        (-0.5 * h * (1.0 + if i % 2 == 0 { -x } else { x }), weight)
    });
    // Powers of all nodes, order by order: a series is then evaluated at all of them in one pass.
    let Room { powers, inputs, sums, .. } = &mut adjoint.room;
    powers.clear();
    powers.push([1.0; NODES]);
    for k in 0..order {
        let below = powers[k];
        powers.push(std::array::from_fn(|i| below[i] * nodes[i].0));
    }
    let count = flow.slopes.tape().dimension();
    inputs.clear();
    inputs.resize(count, [0.0; NODES]);
    for &(place, series) in &flow.needed {
        let mut values = [0.0; NODES];
        let mut add = |c: f64, powers: &[f64; NODES]| {
            values.iter_mut().zip(powers).for_each(|(x, p)| *x += c * p);
        };
        match series {
            AdjointSeries::State(i) => {
                powers.iter().enumerate().rev().for_each(|(k, p)| add(flow.motion.coefficient(i, k), p))
            }
            AdjointSeries::Watched(i) => {
                flow.motion.watched(i).iter().zip(&*powers).rev().for_each(|(c, p)| add(*c, p))
            }
        }
        inputs[place] = values;
    }
    sums.clear();
    sums.resize(flow.parameters.len(), 0.0);
    let mut point = vec![0.0; count];
    for (i, &(s, weight)) in nodes.iter().enumerate() {
        point.iter_mut().zip(&*inputs).for_each(|(x, values)| *x = values[i]);
        // No unknowns, so nothing can be singular.
        let _ = flow.slopes.evaluate(time.plus(s * unit), &point);
        sums.iter_mut().enumerate().for_each(|(j, sum)| *sum += weight * flow.slopes.watched(j)[0]);
    }
    for (&j, sum) in flow.parameters.iter().zip(&*sums) {
        adjoint.parameters[j] += 0.5 * h * unit * sum;
    }
}

/// Into how many steps the last h units before the point the series belong to must be cut: the last terms, relative to what the
/// component does.
fn parts(flow: &Flow, taylor: &Taylor, h: f64, scales: &[f64], reach: &[f64]) -> u32 {
    let (n, size) = (flow.order(), scales.len());
    let left_out = taylor.factor.powi(taylor.order as i32 + 1);
    let power = |k: usize| h.powi(k as i32);
    let tail = [power(n), taylor.factor * power(n - 1), taylor.factor * taylor.factor * power(n - 2)];
    let mut worst = 0.0_f64;
    for i in 0..2 * size {
        let c = |k: usize| flow.coefficient(i, k).abs();
        let known = if i < size { scales[i] } else { reach[i - size] };
        let scale = known + h * (c(1) + h * c(2));
        let last = (0..3).map(|back| c(n - back) * tail[back]).fold(0.0, f64::max);
        if scale > 0.0 {
            worst = worst.max(last / scale);
        }
    }
    // Not a number: as fine as it goes.
    (1..MOST_PARTS)
        .find(|&p| worst / f64::from(p).powi(n as i32) <= MORE_LEFT_OUT * left_out)
        .unwrap_or(MOST_PARTS)
}

#[cfg(test)]
mod tests {
    use super::GAUSS;

    #[test]
    fn quadrature_with_eight_points_is_exact_to_degree_15() {
        for degree in 0..16 {
            let sum: f64 = GAUSS
                .iter()
                .flat_map(|&(x, w)| [(-x, w), (x, w)])
                .map(|(x, w)| w * (0.5 * (1.0 + x)).powi(degree) * 0.5)
                .sum();
            assert!((sum * f64::from(degree + 1) - 1.0).abs() < 4e-15, "{degree}: {sum}");
        }
    }
}
