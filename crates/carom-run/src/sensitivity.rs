//! The first variation of a run: δẋ = f_x δx + f_θ δθ along every step, started and projected as the state itself.
//!
//! ```text
//! start    δx₀ = ∂x₀/∂θ, then onto the constraints (`variation_start.rs`)
//! step     one more jet per direction (`tangent.rs`), evaluated where the step ends
//! jump     `saltation.rs`
//! ```
//!
//! Steps are those of the motion, which does not know of its variation. The norm of Φ = ∂state(end)/∂state(start) is the
//! amplification of errors.

use crate::SimulateError;
use crate::options::Options;
use crate::program::{LegKey, Program};
use crate::run::{Run, refuse};
use crate::tangent::{DifferentialLayout, Moved, TangentKey};
use crate::variation::{Direction, NotDifferentiable, Obstacle, Variation, VariationChecks};
use carom_jet::dense::{Matrix, dot};
use carom_jet::{Flow, Time};
use std::collections::BTreeMap;
use std::ops::Range;

/// The truncation of a variation is that of the motion times the order: one order more makes up for it.
const MORE_ORDERS: usize = 1;
/// Directions that share a tape: two vectors of eight in small systems.
const TOGETHER: usize = 16;
/// The same in large systems, whose tapes are long enough with eight.
const TOGETHER_IF_LARGE: usize = 8;
/// From so many free coordinates on a system is large.
const LARGE: usize = 6;
/// Power iterations for a norm: each gains at least the square of the ratio of singular values.
const ITERATIONS: usize = 200;

/// A direction in the space of parameters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seed {
    /// Per parameter of the model: how much it moves.
    pub parameters: Vec<f64>,
    /// The wall whose restitution moves by itself.
    pub restitution: Option<usize>,
}

/// Tapes of the variations during one kind of leg.
#[derive(Clone, Debug)]
struct TangentSpace {
    flow: Flow,
    directions: Range<usize>,
    parameters: Vec<f64>,
}

/// The variation so far.
#[derive(Clone, Debug)]
pub(crate) struct Tangent {
    pub seeds: Vec<Seed>,
    /// δx per direction.
    pub columns: Vec<Vec<f64>>,
    spaces: BTreeMap<LegKey, Vec<TangentSpace>>,
    differential: Flow,
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
    /// ∂t_Z/∂θ of every series of impacts that came to its end, with its wall.
    pub series: Vec<(usize, Vec<f64>)>,
}

impl Tangent {
    /// The columns as a matrix.
    pub fn matrix(&self) -> Matrix {
        matrix_of(&self.columns)
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
    if options.directions.is_empty() {
        return Ok(options.sensitivity.then(|| (Direction::starts(m), true)));
    }
    for &direction in &options.directions {
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
    Ok(Some((options.directions.clone(), false)))
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
        let seeds: Vec<Seed> = directions.iter().map(|&d| self.seed(d)).collect();
        let columns: Vec<Vec<f64>> =
            directions.iter().zip(&seeds).map(|(&d, seed)| self.start_column(d, seed)).collect();
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
            columns,
            spaces: BTreeMap::new(),
            differential,
            layout,
            result,
            samples: Vec::new(),
            keeps_samples: self.options.variation_samples && !norm_only,
            norm_only,
            log_factor: Some(0.0),
            log_mass: 0.0,
            momenta: Vec::new(),
            parameters: Vec::new(),
            series: Vec::new(),
        }));
        self.complete_start_columns();
        let log_mass = self.log_of_mass();
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
        if tangent.parameters != self.parameters {
            tangent.parameters.clone_from(&self.parameters);
            tangent.differential.set_parameters(&self.parameters);
        }
        let mut inputs = state.to_vec();
        inputs.extend_from_slice(along);
        inputs.push(along_time);
        inputs.extend_from_slice(seed);
        // No blocks, so nothing can be singular.
        let _ = tangent.differential.evaluate(time, &inputs);
        let count = tangent.differential.tape().watched_count();
        (0..count).map(|i| tangent.differential.watched(i)[0]).collect()
    }

    /// The differentials at the present state along column d, at fixed time.
    pub fn differential_of_column(&mut self, d: usize) -> Vec<f64> {
        let Some(tangent) = &self.tangent else { return Vec::new() };
        let (column, seed) = (tangent.columns[d].clone(), tangent.seeds[d].parameters.clone());
        let (time, state) = (self.time, self.state.clone());
        self.differential_at(time, &state, &column, 0.0, &seed)
    }

    /// There is no derivative across this instant.
    pub fn lose(&mut self, what: Obstacle, walls: &[usize], event: Option<usize>) {
        let time = self.time.value();
        if let Some(tangent) = &mut self.tangent
            && tangent.exists()
        {
            tangent.result.not_differentiable =
                Some(NotDifferentiable { what, walls: walls.to_vec(), event, time });
            tangent.columns.iter_mut().flatten().for_each(|x| *x = f64::NAN);
        }
    }

    /// Derivatives across this instant are one-sided.
    pub fn note_one_sided(&mut self, what: Obstacle, walls: &[usize]) {
        let time = self.time.value();
        if let Some(tangent) = &mut self.tangent
            && tangent.exists()
        {
            let note = NotDifferentiable { what, walls: walls.to_vec(), event: None, time };
            tangent.result.one_sided.push(note);
        }
    }

    // ---- steps -------------------------------------------------------------------------------------------------

    /// Makes the tapes of the present leg ready.
    fn prepare_tangent(&mut self) -> bool {
        let usual = std::ptr::eq(self.program, self.base);
        let Some(tangent) = &self.tangent else { return false };
        if !tangent.exists() {
            return false;
        }
        if !usual {
            self.lose(Obstacle::Degenerate, &[], None);
            return false;
        }
        let Some(tangent) = &self.tangent else { return false };
        let base = self.leg_parameters();
        if !tangent.spaces.contains_key(&self.key) {
            let together = if self.size() < LARGE { TOGETHER } else { TOGETHER_IF_LARGE };
            let mut spaces = Vec::new();
            for first in (0..tangent.seeds.len()).step_by(together) {
                let directions = first..tangent.seeds.len().min(first + together);
                let moved = tangent.seeds[directions.clone()].iter().map(moved_parameters).collect();
                let order = self.taylor.order + MORE_ORDERS;
                let key = TangentKey { leg: self.key.clone(), order, directions: moved };
                match self.program.tangent_workspace(&key) {
                    Ok(flow) => spaces.push(TangentSpace { flow, directions, parameters: Vec::new() }),
                    Err(_) => {
                        self.lose(Obstacle::Degenerate, &[], None);
                        return false;
                    }
                }
            }
            let key = self.key.clone();
            if let Some(tangent) = &mut self.tangent {
                tangent.spaces.insert(key, spaces);
            }
        }
        let Some(tangent) = &mut self.tangent else { return false };
        let seeds = &tangent.seeds;
        let Some(spaces) = tangent.spaces.get_mut(&self.key) else { return false };
        for space in spaces {
            let mut parameters = base.clone();
            for seed in &seeds[space.directions.clone()] {
                let moved = seed.parameters.iter().filter(|x| **x != 0.0 && **x != 1.0);
                parameters.extend(moved);
            }
            if space.parameters != parameters {
                space.flow.set_parameters(&parameters);
                space.parameters = parameters;
            }
        }
        true
    }

    /// The series of the variation around the present state.
    pub fn expand_variation(&mut self) {
        if !self.prepare_tangent() {
            return;
        }
        if self.rank.passage.is_some() {
            self.lose(Obstacle::RankLoss, &[], None);
            return;
        }
        let n = self.size();
        let (time, unit, key) = (self.time, self.unit, self.key.clone());
        let Some(tangent) = &mut self.tangent else { return };
        let mut fine = true;
        for space in tangent.spaces.get_mut(&key).into_iter().flatten() {
            let mut state = self.state[..2 * n].to_vec();
            tangent.columns[space.directions.clone()].iter().for_each(|c| state.extend(c));
            space.flow.set_unit(unit);
            fine &= space.flow.jet(time, &state).is_ok();
        }
        if !fine {
            self.lose(Obstacle::RankLoss, &[], None);
        }
    }

    /// The columns s units into the step whose series are at hand.
    fn columns_within(&self, s: f64) -> Option<Vec<Vec<f64>>> {
        let tangent = self.tangent.as_ref().filter(|t| t.exists())?;
        let size = 2 * self.size();
        let mut columns = Vec::with_capacity(tangent.columns.len());
        for space in tangent.spaces.get(&self.key)? {
            let mut end = vec![0.0; size * (1 + space.directions.len())];
            space.flow.state_at(s, &mut end);
            columns.extend(end[size..].chunks(size).map(<[f64]>::to_vec));
        }
        Some(columns)
    }

    /// Moves the variation to h units into the step.
    pub fn advance_variation(&mut self, h: f64) {
        if h == 0.0 {
            return;
        }
        if let Some(columns) = self.columns_within(h)
            && let Some(tangent) = &mut self.tangent
        {
            tangent.columns = columns;
        }
    }

    /// ẋ at a state of the present instant, by the equations of the present leg. The series of the variation are lost.
    pub fn rate_at(&mut self, state: &[f64]) -> Option<Vec<f64>> {
        if !self.prepare_tangent() {
            return None;
        }
        let n = self.size();
        let tangent = self.tangent.as_mut()?;
        let space = tangent.spaces.get_mut(&self.key)?.first_mut()?;
        let mut state = state[..2 * n].to_vec();
        state.resize(2 * n * (1 + space.directions.len()), 0.0);
        space.flow.evaluate(self.time, &state).ok()?;
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
        let Some(tangent) = &self.tangent else { return };
        let (end, wanted) = (tangent.matrix(), !tangent.norm_only);
        let checks = if wanted { self.checked(&end) } else { VariationChecks::default() };
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
    seed.parameters.iter().enumerate().filter(|(_, x)| **x != 0.0).map(|(j, x)| (j, *x == 1.0)).collect()
}

/// The spectral norm, by power iteration on ΦᵀΦ.
fn norm(matrix: &Matrix) -> f64 {
    let n = matrix.columns;
    let scale = carom_jet::dense::largest(&matrix.entries);
    if scale == 0.0 || !scale.is_finite() {
        return scale;
    }
    let scaled = Matrix { entries: matrix.entries.iter().map(|x| x / scale).collect(), ..*matrix };
    let mut x: Vec<f64> = (0..n).map(|i| 1.0 + 0.1 * i as f64).collect();
    let mut norm = 0.0;
    for _ in 0..ITERATIONS {
        let length = dot(&x, &x).sqrt();
        if length == 0.0 || !length.is_finite() {
            break;
        }
        x.iter_mut().for_each(|v| *v /= length);
        let y = scaled.times(&x);
        norm = dot(&y, &y).sqrt();
        x = scaled.transposed_times(&y);
    }
    norm * scale
}
