//! The first variation of a run: δẋ = f_x δx + f_θ δθ along every step, started and projected as the state itself.
//!
//! ```text
//! start    δx₀ = ∂x₀/∂θ, then onto the constraints: [W Aᵀ; A 0][δ; ν] = [0; −(A δq + c_θ δθ)], the same for rates
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
use carom_jet::dense::{Factored, Matrix, dot};
use carom_jet::{Flow, Time};
use carom_mech::model::RowKind;
use std::collections::BTreeMap;
use std::ops::Range;

/// The truncation of a variation is that of the motion times the order: a few orders more make up for it.
const MORE_ORDERS: usize = 2;
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
    log_mass: f64,
    /// δp at the start, per direction.
    momenta: Vec<Vec<f64>>,
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

    /// How parameters move in a direction: one by itself, others by the formulas that contain it.
    fn seed(&self, direction: Direction) -> Seed {
        let model = &self.program.mechanics.model;
        let mut seed = Seed { parameters: vec![0.0; model.parameters.len()], restitution: None };
        match direction {
            Direction::Parameter(i) => {
                seed.parameters[i] = 1.0;
                self.follow_formulas(&mut seed.parameters, i);
            }
            Direction::Restitution(w) => seed.restitution = Some(w),
            Direction::Coordinate(_) | Direction::Velocity(_) => {}
        }
        seed
    }

    /// dp_j = Σ_k ∂formula_j/∂p_k dp_k, in the order in which formulas follow from each other.
    fn follow_formulas(&self, moved: &mut [f64], origin: usize) {
        let model = &self.program.mechanics.model;
        let values = &self.options.parameters;
        let value_of =
            |name: &str| model.parameters.iter().position(|p| p.name == name).map_or(f64::NAN, |j| values[j]);
        self.program.with_dag(|dag| {
            let names = |dag: &carom_expr::Dag, s| dag.symbol_name(s).to_owned();
            // A parameter that was given another value than its formula's is a number.
            let follows: Vec<bool> = model
                .parameters
                .iter()
                .zip(values)
                .enumerate()
                .map(|(j, (p, &value))| {
                    j != origin && dag.evaluate(p.formula, |s| value_of(&names(dag, s))) == value
                })
                .collect();
            // At most as many rounds as formulas are nested.
            for _ in 0..model.parameters.len() {
                let mut changed = false;
                for (j, p) in model.parameters.iter().enumerate().filter(|(j, _)| follows[*j]) {
                    let mut sum = 0.0;
                    for (k, other) in model.parameters.iter().enumerate() {
                        if moved[k] != 0.0 && dag.contains(p.formula, other.symbol) {
                            let slope = dag.derivative(p.formula, other.symbol);
                            sum += dag.evaluate(slope, |s| value_of(&names(dag, s))) * moved[k];
                        }
                    }
                    changed |= moved[j] != sum;
                    moved[j] = sum;
                }
                if !changed {
                    break;
                }
            }
        });
    }

    /// ∂x₀/∂θ as the start is given: a value by itself, or by the formula that gave it.
    fn start_column(&self, direction: Direction, seed: &Seed) -> Vec<f64> {
        let (n, m) = (self.size(), &self.program.mechanics);
        let mut column = vec![0.0; 2 * n];
        let place = |i: usize| m.free.iter().position(|&f| f == i);
        match direction {
            Direction::Coordinate(i) => place(i).into_iter().for_each(|k| column[k] = 1.0),
            Direction::Velocity(i) => place(i).into_iter().for_each(|k| column[n + k] = 1.0),
            Direction::Restitution(_) => {}
            Direction::Parameter(_) => {
                let value_of = |name: &str| self.parameter_value(name);
                for &(symbol, formula) in &m.model.start_formulas {
                    let Some(k) = self.program.state[..2 * n].iter().position(|&x| x == symbol) else {
                        continue;
                    };
                    self.program.with_dag(|dag| {
                        let names = |dag: &carom_expr::Dag, s| dag.symbol_name(s).to_owned();
                        // A start that was given another value than the formula's is a number.
                        if dag.evaluate(formula, |s| value_of(&names(dag, s))) != self.given_start(k) {
                            return;
                        }
                        for (p, moved) in m.model.parameters.iter().zip(&seed.parameters) {
                            if *moved != 0.0 && dag.contains(formula, p.symbol) {
                                let slope = dag.derivative(formula, p.symbol);
                                column[k] += dag.evaluate(slope, |s| value_of(&names(dag, s))) * moved;
                            }
                        }
                    });
                }
            }
        }
        column
    }

    /// The value of a parameter in this run.
    fn parameter_value(&self, name: &str) -> f64 {
        let parameters = &self.program.mechanics.model.parameters;
        let place = parameters.iter().position(|p| p.name == name);
        place.map_or(f64::NAN, |j| self.options.parameters[j])
    }

    /// The start value of state variable k as it was given; 0 if it was not.
    fn given_start(&self, k: usize) -> f64 {
        let (n, start) = (self.size(), &self.options.start);
        let i = self.program.mechanics.free[k % n];
        let list = match (k < n, self.is_hamiltonian()) {
            (true, _) => &start.position,
            (false, true) => &start.momentum,
            (false, false) => &start.velocity,
        };
        list.get(i).copied().flatten().unwrap_or(0.0)
    }

    // ---- constraints ---------------------------------------------------------------------------------------

    /// What the start completes and projects moves with what was given.
    fn complete_start_columns(&mut self) {
        if !self.is_constrained() || self.tangent.is_none() {
            return;
        }
        let (n, m) = (self.size(), &self.program.mechanics);
        let start = &self.options.start;
        let rates = if self.is_hamiltonian() { &start.momentum } else { &start.velocity };
        let given = |list: &[Option<f64>], i: usize| list.get(i).copied().flatten().is_some();
        let free: Vec<usize> = (0..2 * n)
            .filter(|&k| {
                let i = m.free[k % n];
                if k < n { !given(&start.position, i) } else { !given(rates, i) }
            })
            .collect();
        if self.is_degenerate() {
            self.lose(Obstacle::Degenerate, &[], None);
            return;
        }
        if !free.is_empty() {
            // Positions first: the rates of rows depend on them.
            for pass in [false, true] {
                self.solve_missing_columns(&free, pass);
            }
        }
        self.project_columns();
    }

    /// The variations of start values that were not given, smallest change.
    fn solve_missing_columns(&mut self, free: &[usize], rates: bool) {
        let (n, rows) = (self.size(), self.frame.rows());
        let inverse = self.is_hamiltonian().then(|| self.frame.mass());
        let free: Vec<usize> = free.iter().copied().filter(|&k| (k >= n) == rates).collect();
        let slope = |i: usize, k: usize| match (&inverse, rates) {
            (Some(h), true) => (0..n).map(|j| rows[(i, j)] * h[(j, k % n)]).sum(),
            _ => rows[(i, k % n)],
        };
        let holonomic = |i: usize| self.program.mechanics.rows[i].kind == RowKind::Holonomic;
        let used: Vec<usize> = (0..rows.rows)
            .filter(|&i| (rates || holonomic(i)) && free.iter().any(|&k| slope(i, k) != 0.0))
            .collect();
        let mut part = Matrix::zeros(used.len(), free.len());
        for (a, &i) in used.iter().enumerate() {
            for (b, &k) in free.iter().enumerate() {
                part[(a, b)] = slope(i, k);
            }
        }
        let factored = Factored::new(&part);
        for d in 0..self.directions() {
            let values = self.differential_of_column(d);
            let Some(tangent) = &mut self.tangent else { return };
            let at = if rates { tangent.layout.row_rate } else { tangent.layout.row_position };
            let target: Vec<f64> = used.iter().map(|&i| -values[at + i]).collect();
            for (&k, x) in free.iter().zip(factored.solve(&target)) {
                tangent.columns[d][k] += x;
            }
        }
    }

    /// Brings the variation back onto the tangent of rows and closed walls, along with the state.
    pub fn project_columns(&mut self) {
        if self.tangent.as_ref().is_none_or(|t| !t.exists()) || self.is_degenerate() {
            return;
        }
        self.evaluate_frame();
        let (n, m) = (self.size(), self.frame.layout.rows);
        let closed: Vec<usize> =
            (0..self.contact.walls.len()).filter(|&w| self.contact.walls[w].closed).collect();
        let (metric, all) = self.frame.metric_with(&closed);
        for d in 0..self.directions() {
            for rates in [false, true] {
                let values = self.differential_of_column(d);
                let hamiltonian = self.is_hamiltonian();
                let Some(tangent) = &mut self.tangent else { return };
                let l = &tangent.layout;
                let (row, wall) = if rates { (l.row_rate, l.gap_rate) } else { (l.row_position, l.gap) };
                let target: Vec<f64> = (0..m)
                    .map(|r| -values[row + r])
                    .chain(closed.iter().map(|&w| -values[wall + w]))
                    .collect();
                let (shift, y) = metric.solve(&vec![0.0; n], &target);
                let column = &mut tangent.columns[d];
                if rates && hamiltonian {
                    let momentum = all.transposed_times(&y);
                    column[n..].iter_mut().zip(&momentum).for_each(|(x, p)| *x -= p);
                } else {
                    let first = if rates { n } else { 0 };
                    column[first..first + n].iter_mut().zip(&shift).for_each(|(x, s)| *x += s);
                }
            }
        }
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

    fn log_of_mass(&self) -> f64 {
        log_determinant(&self.frame.mass()) * if self.frame.layout.inverse { -1.0 } else { 1.0 }
    }

    /// Delivers the variation, or its norm.
    pub fn finish_variation(&mut self) {
        let Some(tangent) = &self.tangent else { return };
        let (end, wanted) = (tangent.matrix(), !tangent.norm_only);
        let checks = if wanted { self.checked(&end) } else { VariationChecks::default() };
        let Some(mut tangent) = self.tangent.take() else { return };
        if tangent.norm_only {
            if tangent.exists() {
                self.report_amplification(norm(&end));
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

    /// What must hold of Φ = ∂state(end)/∂state(start), when all starts were asked for.
    fn checked(&mut self, end: &Matrix) -> VariationChecks {
        let mut checks = VariationChecks::default();
        let Some(tangent) = &self.tangent else { return checks };
        let (result, log_factor, log_mass) = (&tangent.result, tangent.log_factor, tangent.log_mass);
        let m = &self.program.mechanics;
        let n = self.size();
        let starts = Direction::starts(m);
        let places: Option<Vec<usize>> =
            starts.iter().map(|d| result.directions.iter().position(|x| x == d)).collect();
        let plain = m.rows.is_empty()
            && m.model.forces.is_empty()
            && m.model.dissipation.is_none()
            && m.model.events.iter().all(|e| !matches!(e.action, carom_mech::model::Action::Set(_)))
            && self.recorder.motion.contacts.is_empty()
            && result.not_differentiable.is_none()
            && result.one_sided.is_empty();
        let (Some(places), true) = (places, plain) else { return checks };
        let mut phi = Matrix::zeros(2 * n, 2 * n);
        for i in 0..2 * n {
            for (j, &p) in places.iter().enumerate() {
                phi[(i, j)] = end[(i, p)];
            }
        }
        self.evaluate_frame();
        if let Some(factor) = log_factor.filter(|f| f.is_finite()) {
            // In (q, v) volumes change by det W(0)/det W(T), in (q, p) not.
            let mass = if self.is_hamiltonian() { 0.0 } else { log_mass - self.log_of_mass() };
            checks.determinant = Some((log_determinant(&phi) - factor - mass).exp_m1().abs());
        }
        if log_factor == Some(0.0) {
            checks.symplectic = self.symplectic_residual(&phi, &places);
        }
        checks
    }

    /// ΦᵀJΦ − J in (q, p), relative to the terms it is the sum of.
    fn symplectic_residual(&mut self, phi: &Matrix, places: &[usize]) -> Option<f64> {
        let n = self.size();
        let mut there = phi.clone();
        let mut here = Matrix::zeros(2 * n, 2 * n);
        (0..2 * n).for_each(|i| here[(i, i)] = 1.0);
        if !self.is_hamiltonian() {
            // δp = p_q δq + W δv, at both ends: kept at the start, evaluated now at the end.
            let tangent = self.tangent.as_ref()?;
            for (j, &p) in places.iter().enumerate() {
                for i in 0..n {
                    here[(i, j)] = tangent.result.start[(i, p)];
                    here[(n + i, j)] = tangent.momenta[p][i];
                }
            }
            for j in 0..2 * n {
                let column: Vec<f64> = (0..2 * n).map(|i| phi[(i, j)]).collect();
                let (time, state) = (self.time, self.state.clone());
                let still = vec![0.0; self.options.parameters.len()];
                let values = self.differential_at(time, &state, &column, 0.0, &still);
                let at = self.tangent.as_ref()?.layout.momentum;
                (0..n).for_each(|i| there[(n + i, j)] = values[at + i]);
            }
        }
        let form = |m: &Matrix, a: usize, b: usize| {
            let (mut sum, mut size) = (0.0, 0.0);
            for i in 0..n {
                let (x, y) = (m[(i, a)] * m[(n + i, b)], m[(n + i, a)] * m[(i, b)]);
                sum += x - y;
                size += x.abs() + y.abs();
            }
            (sum, size)
        };
        let mut worst = 0.0_f64;
        let scale = (0..2 * n).flat_map(|a| (0..2 * n).map(move |b| (a, b)));
        for (a, b) in scale {
            let (now, size) = form(&there, a, b);
            let (before, least) = form(&here, a, b);
            if size + least > 0.0 {
                worst = worst.max((now - before).abs() / (size + least));
            }
        }
        Some(worst)
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

/// ln |det M|, by the factors of M.
fn log_determinant(m: &Matrix) -> f64 {
    let n = m.rows;
    let mut a = m.clone();
    let mut sum = 0.0;
    for k in 0..n {
        let Some(p) = (k..n).max_by(|&i, &j| a[(i, k)].abs().total_cmp(&a[(j, k)].abs())) else { break };
        for j in 0..n {
            let swap = a[(k, j)];
            a[(k, j)] = a[(p, j)];
            a[(p, j)] = swap;
        }
        sum += a[(k, k)].abs().ln();
        for i in k + 1..n {
            let factor = a[(i, k)] / a[(k, k)];
            for j in k..n {
                a[(i, j)] -= factor * a[(k, j)];
            }
        }
    }
    sum
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
