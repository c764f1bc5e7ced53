//! The first variation of a run: δẋ = f_x δx + f_θ δθ along every step, started and projected as the state itself.
//!
//! ```text
//! start    δx₀ = ∂x₀/∂θ, then onto the constraints (`variation_start.rs`)
//! step     one more jet per direction (`tangent.rs`), evaluated where the step ends
//! jump     `saltation.rs`
//! ```
//!
//! Steps are those of the motion, which does not know of its variation: where deviations are faster than the motion (it rests on top of a
//! hill, or moves slowly along it) the variation takes several steps to its one. The norm of Φ = ∂state(end)/∂state(start) is the
//! amplification of errors.

use crate::SimulateError;
use crate::journal::MotionJournal;
use crate::options::Options;
use crate::program::{LegKey, Program};
use crate::run::{Run, refuse};
use crate::tangent::{DifferentialLayout, Moved, TangentKey};
use crate::variation::{Direction, NotDifferentiable, Obstacle, Variation, VariationChecks};
use crate::variation_check::norm;
use carom_jet::dense::{Matrix, largest};
use carom_jet::{Flow, Time};
use std::collections::BTreeMap;
use std::ops::Range;

/// The truncation of a variation is that of the motion times the order: one order more makes up for it.
pub(crate) const MORE_ORDERS: usize = 1;
/// Last terms of a variation beyond this many tolerances, relative to its largest one, are not the motion's times the order: the step is
/// halved for it ([`Flow::reach`]).
pub(crate) const LOOSE: f64 = 64.0;
/// Directions that share a tape: two vectors of eight in small systems.
const TOGETHER: usize = 16;
/// The same in large systems, whose tapes are long enough with eight.
const TOGETHER_IF_LARGE: usize = 8;
/// From so many free coordinates on a system is large.
const LARGE: usize = 6;

/// A direction in the space of parameters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seed {
    /// Parameters of the model that move, in their order, and how much.
    pub moved: Vec<(usize, f64)>,
    /// The wall whose restitution moves by itself.
    pub restitution: Option<usize>,
}

/// Tapes of the variations during one kind of leg.
#[derive(Clone, Debug)]
struct TangentSpace {
    flow: Flow,
    directions: Range<usize>,
    parameters: Vec<f64>,
    /// Room for a state: the motion, then the columns; and for what its doubles leave out.
    room: Vec<f64>,
    low: Vec<f64>,
}

/// The variation so far.
#[derive(Clone, Debug)]
pub(crate) struct Tangent {
    pub seeds: Vec<Seed>,
    /// δx per direction.
    pub columns: Vec<Vec<f64>>,
    /// The largest entry of each so far.
    pub peaks: Vec<f64>,
    /// Where in the step of the motion they and their series are, in units, and how far the series reach from there.
    begun: f64,
    reach: f64,
    spaces: BTreeMap<LegKey, Vec<TangentSpace>>,
    differential: Flow,
    /// Room for what they are evaluated from.
    inputs: Vec<f64>,
    pub layout: DifferentialLayout,
    pub result: Variation,
    /// Samples with their place in the request.
    samples: Vec<(usize, Matrix)>,
    keeps_samples: bool,
    /// Only the norm was asked for.
    norm_only: bool,
    /// ln Π e² over the impacts so far; `None` when an impact was not of one wall.
    pub log_factor: Option<f64>,
    /// ln |det W| at the start.
    pub log_mass: f64,
    /// δp at the start, per direction.
    pub momenta: Vec<Vec<f64>>,
    parameters: Vec<f64>,
    /// How many the model has.
    parameter_count: usize,
    /// The leg and the parameters that its tapes are ready for.
    ready: Option<(LegKey, Vec<f64>)>,
    /// ∂t_Z/∂θ of every series of impacts that came to its end, with its wall.
    pub series: Vec<(usize, Vec<f64>)>,
    /// What the way back needs, when a gradient is wanted.
    pub journal: Option<Box<MotionJournal>>,
}

impl Tangent {
    /// The columns as a matrix.
    pub fn matrix(&self) -> Matrix {
        matrix_of(&self.columns)
    }

    /// How all parameters of the model move in a direction.
    pub fn parameter_seed(&self, d: usize) -> Vec<f64> {
        let mut all = vec![0.0; self.parameter_count];
        self.seeds[d].moved.iter().for_each(|&(j, x)| all[j] = x);
        all
    }

    /// What differentials are evaluated from, in the room kept for it.
    fn inputs_at(&mut self, state: &[f64], along: &[f64], along_time: f64, seed: &[f64]) -> Vec<f64> {
        let mut inputs = std::mem::take(&mut self.inputs);
        inputs.clear();
        inputs.extend_from_slice(state);
        inputs.extend_from_slice(along);
        inputs.push(along_time);
        inputs.extend_from_slice(seed);
        inputs
    }

    fn differentials(&mut self, time: Time, parameters: &[f64], inputs: Vec<f64>) -> Vec<f64> {
        if self.parameters != parameters {
            self.parameters = parameters.to_vec();
            self.differential.set_parameters(parameters);
        }
        // No blocks, so nothing can be singular.
        let _ = self.differential.evaluate(time, &inputs);
        self.inputs = inputs;
        let count = self.differential.tape().watched_count();
        (0..count).map(|i| self.differential.watched(i)[0]).collect()
    }

    /// Is there still a derivative?
    pub fn exists(&self) -> bool {
        self.result.not_differentiable.is_none()
    }
}

pub(crate) fn matrix_of(columns: &[Vec<f64>]) -> Matrix {
    let rows = columns.first().map_or(0, Vec::len);
    let mut m = Matrix::zeros(rows, columns.len());
    for (j, column) in columns.iter().enumerate() {
        for (i, x) in column.iter().enumerate() {
            m[(i, j)] = *x;
        }
    }
    m
}

/// What was asked for, if anything.
fn wanted(program: &Program, options: &Options) -> Result<Option<(Vec<Direction>, bool)>, SimulateError> {
    let m = &program.mechanics;
    let directions = match &options.objective {
        Some(_) if options.sensitivity || !options.directions.is_empty() => {
            return Err(refuse(
                "a gradient goes backward, derivatives of the whole motion forward: ask for one of them",
            ));
        }
        Some(objective) => &objective.directions,
        None if options.directions.is_empty() => {
            return Ok(options.sensitivity.then(|| (Direction::starts(m), true)));
        }
        None => &options.directions,
    };
    for &direction in directions {
        let known = match direction {
            Direction::Coordinate(i) | Direction::Velocity(i) => m.free.contains(&i),
            Direction::Parameter(i) => i < m.model.parameters.len(),
            Direction::Restitution(w) => w < m.walls.len(),
        };
        if !known {
            return Err(refuse(format!(
                "there is no {direction:?} to differentiate by: driven coordinates have no start, and indices count from 0"
            )));
        }
    }
    Ok(Some((directions.clone(), false)))
}

impl Run<'_> {
    /// Starts the variation when it was asked for. Needs the frame at the completed start.
    pub fn begin_variation(&mut self) -> Result<(), SimulateError> {
        self.tangent = None;
        let Some((directions, norm_only)) = wanted(self.program, &self.options)? else { return Ok(()) };
        let (differential, layout) = self
            .program
            .differential_workspace()
            .map_err(|e| SimulateError::Compile(format!("the derivatives cannot be compiled: {e}")))?;
        let slopes = self.formula_slopes();
        let seeds: Vec<Seed> = directions.iter().map(|&d| self.seed(d, &slopes)).collect();
        let columns: Vec<Vec<f64>> =
            directions.iter().zip(&seeds).map(|(&d, seed)| self.start_column(d, seed)).collect();
        let journal = self.new_journal(&seeds)?;
        let backward = journal.is_some();
        let nothing = Matrix::zeros(0, 0);
        let mechanics = &self.program.mechanics;
        let result = Variation {
            with_respect_to: directions.iter().map(|d| d.name(mechanics)).collect(),
            of: Direction::starts(mechanics).into_iter().map(|d| d.name(mechanics)).collect(),
            directions,
            start: nothing.clone(),
            end: nothing,
            samples: Vec::new(),
            impacts: Vec::new(),
            events: Vec::new(),
            contacts: Vec::new(),
            not_differentiable: None,
            one_sided: Vec::new(),
            checks: VariationChecks::default(),
        };
        self.tangent = Some(Box::new(Tangent {
            seeds,
            peaks: vec![0.0; columns.len()],
            columns,
            begun: 0.0,
            reach: f64::INFINITY,
            spaces: BTreeMap::new(),
            differential,
            inputs: Vec::new(),
            layout,
            result,
            samples: Vec::new(),
            keeps_samples: self.options.variation_samples && !norm_only,
            norm_only,
            log_factor: Some(0.0),
            log_mass: 0.0,
            momenta: Vec::new(),
            parameters: Vec::new(),
            parameter_count: self.program.mechanics.model.parameters.len(),
            ready: None,
            series: Vec::new(),
            journal,
        }));
        self.complete_start_columns();
        if backward {
            return Ok(());
        }
        let log_mass = self.frame.log_of_mass();
        let all: Vec<Vec<f64>> = (0..self.directions()).map(|d| self.differential_of_column(d)).collect();
        let n = self.size();
        if let Some(tangent) = &mut self.tangent {
            tangent.log_mass = log_mass;
            let at = tangent.layout.momentum;
            tangent.momenta = all.iter().map(|values| values[at..at + n].to_vec()).collect();
            tangent.result.start = tangent.matrix();
        }
        Ok(())
    }

    // ---- differentials -----------------------------------------------------------------------------------------

    /// Number of directions.
    pub fn directions(&self) -> usize {
        self.tangent.as_ref().map_or(0, |t| t.columns.len())
    }

    /// The differentials of what the laws need at (time, state), along (ξ, ξ_t) and a seed of parameters.
    pub fn differential_at(
        &mut self,
        time: Time,
        state: &[f64],
        along: &[f64],
        along_time: f64,
        seed: &[f64],
    ) -> Vec<f64> {
        let Some(tangent) = &mut self.tangent else { return Vec::new() };
        let inputs = tangent.inputs_at(state, along, along_time, seed);
        tangent.differentials(time, &self.leg.parameters, inputs)
    }

    /// The differentials at the present state along column d, at fixed time.
    pub fn differential_of_column(&mut self, d: usize) -> Vec<f64> {
        let Some(tangent) = &mut self.tangent else { return Vec::new() };
        let column = std::mem::take(&mut tangent.columns[d]);
        let mut inputs = tangent.inputs_at(&self.now.state, &column, 0.0, &[]);
        tangent.columns[d] = column;
        let first = inputs.len();
        inputs.resize(first + tangent.parameter_count, 0.0);
        tangent.seeds[d].moved.iter().for_each(|&(j, x)| inputs[first + j] = x);
        tangent.differentials(self.now.time, &self.leg.parameters, inputs)
    }

    /// There is no derivative across this instant.
    pub fn lose(&mut self, what: Obstacle, walls: &[usize], event: Option<usize>) {
        self.lose_at(self.now.time.value(), what, walls, event);
    }

    /// There is no derivative across an instant of the step that is being taken.
    pub fn lose_at(&mut self, time: f64, what: Obstacle, walls: &[usize], event: Option<usize>) {
        if let Some(tangent) = &mut self.tangent
            && tangent.exists()
        {
            tangent.result.not_differentiable =
                Some(NotDifferentiable { what, walls: walls.to_vec(), event, time });
            tangent.columns.iter_mut().flatten().for_each(|x| *x = f64::NAN);
        }
    }

    /// Derivatives across this instant are one-sided.
    pub fn note_one_sided(&mut self, what: Obstacle, walls: &[usize], event: Option<usize>) {
        let time = self.now.time.value();
        if let Some(tangent) = &mut self.tangent
            && tangent.exists()
        {
            let note = NotDifferentiable { what, walls: walls.to_vec(), event, time };
            tangent.result.one_sided.push(note);
        }
    }

    // ---- steps -------------------------------------------------------------------------------------------------

    /// Makes the tapes of the present leg ready.
    pub fn prepare_tangent(&mut self) -> bool {
        let usual = std::ptr::eq(self.program, self.base);
        let Some(tangent) = &self.tangent else { return false };
        if !tangent.exists() {
            return false;
        }
        if !usual {
            self.lose(Obstacle::Degenerate, &[], None);
            return false;
        }
        if self.keeps_journal() {
            return self.prepare_adjoint();
        }
        let Some(tangent) = &self.tangent else { return false };
        let same = |ready: &(LegKey, Vec<f64>)| ready.0 == self.leg.key && ready.1 == self.leg.parameters;
        if tangent.ready.as_ref().is_some_and(same) {
            return true;
        }
        let base = self.leg.own_parameters(self.program);
        if !tangent.spaces.contains_key(&self.leg.key) {
            let together = if self.size() < LARGE { TOGETHER } else { TOGETHER_IF_LARGE };
            let mut spaces = Vec::new();
            for first in (0..tangent.seeds.len()).step_by(together) {
                let directions = first..tangent.seeds.len().min(first + together);
                let moved = tangent.seeds[directions.clone()].iter().map(moved_parameters).collect();
                let order = self.stepper.taylor.order + MORE_ORDERS;
                let key = TangentKey { leg: self.leg.key.clone(), order, directions: moved };
                match self.program.tangent_workspace(&key) {
                    Ok(flow) => {
                        let (parameters, room, low) = (Vec::new(), Vec::new(), Vec::new());
                        spaces.push(TangentSpace { flow, directions, parameters, room, low });
                    }
                    Err(_) => {
                        self.lose(Obstacle::Degenerate, &[], None);
                        return false;
                    }
                }
            }
            let key = self.leg.key.clone();
            if let Some(tangent) = &mut self.tangent {
                tangent.spaces.insert(key, spaces);
            }
        }
        let Some(tangent) = &mut self.tangent else { return false };
        let seeds = &tangent.seeds;
        let Some(spaces) = tangent.spaces.get_mut(&self.leg.key) else { return false };
        for space in spaces {
            let mut parameters = base.clone();
            for seed in &seeds[space.directions.clone()] {
                parameters.extend(seed.moved.iter().map(|m| m.1).filter(|x| *x != 1.0));
            }
            if space.parameters != parameters {
                space.flow.set_parameters(&parameters);
                space.parameters = parameters;
            }
        }
        tangent.ready = Some((self.leg.key.clone(), self.leg.parameters.clone()));
        true
    }

    /// The series of the variation around the present state, for a step of h units.
    pub fn expand_variation(&mut self, h: f64) {
        if self.keeps_journal() || !self.prepare_tangent() {
            return;
        }
        if self.rank.passage.is_some() {
            self.lose(Obstacle::RankLoss, &[], None);
            return;
        }
        let state = std::mem::take(&mut self.now.state);
        self.expand_variation_at(0.0, &state[..2 * self.size()], h);
        self.now.state = state;
    }

    /// The same s units into the step, where the motion is at `state` and h units are left.
    fn expand_variation_at(&mut self, s: f64, state: &[f64], h: f64) {
        let unit = self.stepper.unit;
        let time = self.now.time.plus(s * unit);
        let limit = LOOSE * self.options.tolerance;
        let Some(tangent) = &mut self.tangent else { return };
        let mut fine = true;
        (tangent.begun, tangent.reach) = (s, h);
        for space in tangent.spaces.get_mut(&self.leg.key).into_iter().flatten() {
            space.room.clear();
            space.room.extend_from_slice(state);
            tangent.columns[space.directions.clone()].iter().for_each(|c| space.room.extend_from_slice(c));
            space.flow.set_unit(unit);
            fine &= space.flow.jet(time, &space.room).is_ok();
            tangent.reach = tangent.reach.min(space.flow.reach(state.len()..space.room.len(), h, limit));
        }
        if !fine {
            self.lose(Obstacle::RankLoss, &[], None);
        }
    }

    /// The columns s units into the step whose series are at hand, s not less than it was before.
    fn columns_within(&mut self, s: f64) -> Option<Vec<Vec<f64>>> {
        let size = 2 * self.size();
        loop {
            let tangent = self.tangent.as_ref().filter(|t| t.exists())?;
            let to = s.min(tangent.begun + tangent.reach);
            let mut columns = Vec::with_capacity(tangent.columns.len());
            for space in tangent.spaces.get(&self.leg.key)? {
                let mut end = vec![0.0; size * (1 + space.directions.len())];
                space.flow.state_at(to - tangent.begun, &mut end);
                columns.extend(end[size..].chunks(size).map(<[f64]>::to_vec));
            }
            if to >= s {
                return Some(columns);
            }
            let mut state = vec![0.0; self.now.state.len()];
            self.leg.state_within(to, &mut state);
            if let Some(tangent) = &mut self.tangent {
                tangent.columns = columns;
            }
            self.expand_variation_at(to, &state[..size], s - to);
        }
    }

    /// Moves the variation to h units into the step.
    pub fn advance_variation(&mut self, h: f64) {
        let size = 2 * self.size();
        if h == 0.0 {
            return;
        }
        // Mostly one series serves the whole step: the columns are moved in place.
        let whole = |t: &&mut Tangent| t.exists() && t.begun + t.reach >= h;
        if let Some(tangent) = self.tangent.as_deref_mut().filter(whole) {
            for space in tangent.spaces.get_mut(&self.leg.key).into_iter().flatten() {
                space.room.resize(size * (1 + space.directions.len()), 0.0);
                space.low.resize(space.room.len(), 0.0);
                space.flow.pair_at(h - tangent.begun, &mut space.room, &mut space.low);
                let columns = tangent.columns[space.directions.clone()].iter_mut();
                let peaks = tangent.peaks[space.directions.clone()].iter_mut();
                for ((column, peak), end) in columns.zip(peaks).zip(space.room[size..].chunks_exact(size)) {
                    column.copy_from_slice(end);
                    *peak = peak.max(largest(end));
                }
            }
            tangent.begun = 0.0;
        } else if let Some(columns) = self.columns_within(h)
            && let Some(tangent) = &mut self.tangent
        {
            let peaks = tangent.peaks.iter_mut();
            peaks.zip(&columns).for_each(|(peak, column)| *peak = peak.max(largest(column)));
            (tangent.columns, tangent.begun) = (columns, 0.0);
        }
    }

    /// ẋ at a state of the present instant, by the equations of the present leg. The series of the variation are lost.
    pub fn rate_at(&mut self, state: &[f64]) -> Option<Vec<f64>> {
        if !self.prepare_tangent() {
            return None;
        }
        if self.keeps_journal() {
            return self.adjoint_rate(state);
        }
        let n = self.size();
        let tangent = self.tangent.as_mut()?;
        let space = tangent.spaces.get_mut(&self.leg.key)?.first_mut()?;
        let mut state = state[..2 * n].to_vec();
        state.resize(2 * n * (1 + space.directions.len()), 0.0);
        space.flow.evaluate(self.now.time, &state).ok()?;
        Some((0..2 * n).map(|i| space.flow.rate(i)).collect())
    }

    /// Keeps the variation at a sample: s units into the step, or now.
    pub fn sample_variation(&mut self, place: usize, s: Option<f64>) {
        if self.tangent.as_ref().is_none_or(|t| !t.keeps_samples) {
            return;
        }
        let within = s.filter(|s| *s > 0.0).and_then(|s| self.columns_within(s));
        if let Some(tangent) = &mut self.tangent {
            let columns = within.as_ref().unwrap_or(&tangent.columns);
            tangent.samples.push((place, matrix_of(columns)));
        }
    }

    // ---- the end -------------------------------------------------------------------------------------------------

    /// Delivers the variation, or its norm.
    pub fn finish_variation(&mut self) {
        if let Some(tangent) = &mut self.tangent
            && let Some(journal) = tangent.journal.take()
        {
            let result = tangent.result.clone();
            self.finish_gradient(journal, result);
            self.tangent = None;
            return;
        }
        let Some(tangent) = &self.tangent else { return };
        let (end, wanted) = (tangent.matrix(), !tangent.norm_only);
        let checks = if wanted { self.checked(&end) } else { VariationChecks::default() };
        self.warn_of_checks(&checks, &end);
        let Some(mut tangent) = self.tangent.take() else { return };
        if tangent.norm_only {
            match &tangent.result.not_differentiable {
                None => self.report_amplification(norm(&end)),
                Some(lost) => self.warn(format!(
                    "there is no amplification: at t = {} {}",
                    crate::figures::figures(lost.time, 6),
                    lost.what.meaning()
                )),
            }
            return;
        }
        tangent.samples.sort_by_key(|s| s.0);
        let mut result = tangent.result;
        result.checks = checks;
        result.samples = tangent.samples.into_iter().map(|s| s.1).collect();
        result.end = end;
        self.recorder.motion.variation = Some(result);
    }

    /// Reports the norm, and warns when no digit can be trusted.
    fn report_amplification(&mut self, norm: f64) {
        self.recorder.motion.audit.amplification = Some(norm);
        let unit = self.options.tolerance.max(f64::EPSILON);
        let digits = -(norm * unit).log10();
        if digits < 3.0 {
            self.warn(format!(
                "errors are amplified {}-fold from start to end: about {} digits of the final state can be trusted",
                crate::figures::figures(norm, 2),
                digits.max(0.0).floor()
            ));
        }
    }
}

/// Which parameters a seed moves, and whether by exactly 1.
fn moved_parameters(seed: &Seed) -> Moved {
    seed.moved.iter().map(|&(j, x)| (j, x == 1.0)).collect()
}
