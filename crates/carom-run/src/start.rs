//! The beginning: options checked, the state completed, constraints and walls tested.
//!
//! Residuals up to 1e-9 of a row's scale are projected silently; larger ones are an error that says by how much each row
//! fails, unless projection was asked for. Variables that were not given are 0, or what the rows determine: for a start as its
//! model file has it that was found when the model was checked (`carom-mech`, `check/consistency.rs`); here it is found for
//! other parameters and starts, table inputs and hidden conditions included.

use crate::audit::LawAudit;
use crate::contact_state::ContactState;
use crate::events::EventState;
use crate::frame::Frame;
use crate::law::KktFactor;
use crate::leg::{ActiveLeg, first_sign};
use crate::motion::StopReason;
use crate::options::{Options, Sampling, SimulateError};
use crate::program::{LegKey, Program};
use crate::rank_loss::RankWatch;
use crate::recorder::Recorder;
use crate::run::{Halt, Run, refuse};
use crate::stepper::{Now, Stepper};
use crate::zero::TYPED;
use carom_jet::Time;
use carom_jet::dense::{Factored, Matrix};
use carom_mech::mechanics::Dynamics;
use carom_mech::model::Interpolation;
use std::sync::Arc;

impl<'p> Run<'p> {
    /// Checks the options and the start.
    pub fn start(program: &'p Program, options: &Options) -> Result<Run<'p>, SimulateError> {
        let mut run = Run::blank(program, Arc::new(options.clone()));
        run.begin()?;
        Ok(run)
    }

    /// Workspaces for a program; nothing has begun.
    pub fn blank(program: &'p Program, options: Arc<Options>) -> Run<'p> {
        Run {
            program,
            base: program,
            now: Now { state: vec![0.0; program.state.len()], ..Now::default() },
            stepper: Stepper::new(program, &options),
            leg: ActiveLeg::default(),
            frame: Frame::new(&program.frame, &program.layout),
            contact: ContactState::new(&program.mechanics),
            events: EventState::new(program),
            rank: RankWatch::default(),
            audit: LawAudit::default(),
            recorder: Recorder::new(program),
            tangent: None,
            options,
        }
    }

    /// The same workspaces for another simulation: nothing is left of the one before.
    pub fn restart(&mut self, options: Arc<Options>) -> Result<(), SimulateError> {
        let same_steps =
            self.stepper.taylor.is_for(options.tolerance) && options.method == self.options.method;
        if self.contact.held.is_some() || !same_steps {
            let (keeps_impacts, postpones) = (self.recorder.keeps_impacts, self.stepper.postpones);
            *self = Run::blank(self.base, options);
            (self.recorder.keeps_impacts, self.stepper.postpones) = (keeps_impacts, postpones);
            return self.begin();
        }
        self.options = options;
        self.now.remainder.clear();
        self.stepper.clear();
        (self.leg.key, self.leg.next_knot) = (LegKey::default(), None);
        self.contact.clear();
        self.events.clear();
        self.audit.clear();
        self.recorder.clear();
        self.tangent = None;
        self.rank.restart();
        self.begin()
    }

    fn begin(&mut self) -> Result<(), SimulateError> {
        let (program, options) = (self.program, Arc::clone(&self.options));
        check(program, &options)?;
        let m = &program.mechanics;
        let n = program.size();
        self.recorder.sampler.restart(&sample_times(&options)?);
        self.now.time = Time::new(options.start.time);
        self.stepper.set_span(self.now.time, Time::new(options.until));
        let hamiltonian = matches!(m.dynamics, Dynamics::Hamiltonian(_));
        let rates = if hamiltonian { &options.start.momentum } else { &options.start.velocity };
        let given = |list: &[Option<f64>], i: usize| list.get(i).copied().flatten();
        self.now.state.fill(0.0);
        for (k, &i) in m.free.iter().enumerate() {
            self.now.state[k] = given(&options.start.position, i).unwrap_or(0.0);
            self.now.state[n + k] = given(rates, i).unwrap_or(0.0);
        }
        self.set_parameters(&options.parameters);
        self.choose_pieces();
        self.first_signs();
        self.frame.reach_mut().fill(0.0);
        self.evaluate_frame();
        self.read_restitution()?;
        self.complete_start(|k, rate| {
            let i = m.free[k];
            if rate { given(rates, i).is_some() } else { given(&options.start.position, i).is_some() }
        })?;
        self.check_state()?;
        let kkt = self.frame.kkt();
        self.check_inertia(&kkt)?;
        self.reach_from_start(&kkt);
        self.note_scales();
        self.check_walls()?;
        self.choose_rows().map_err(|halt| SimulateError::Singular(halt.detail.unwrap_or_default()))?;
        self.warn_about_rows();
        self.warn_about_tables();
        self.audit.expected_energy = self.frame.energy();
        self.audit.energy_scale = self.frame.energy_scale();
        self.begin_variation()
    }

    /// The model's parameters; all signs start positive.
    fn set_parameters(&mut self, given: &[f64]) {
        let signs = first_sign(self.program);
        let curves = given.len()..signs;
        let known = self.leg.parameters.len() == self.program.parameters.len()
            && self.leg.parameters[..given.len()] == *given
            && curves.is_empty()
            && self.leg.parameters[signs..].iter().all(|s| *s == 1.0);
        if known {
            return;
        }
        self.leg.parameters.clear();
        self.leg.parameters.extend_from_slice(given);
        self.leg.parameters.resize(signs, 0.0);
        self.leg.parameters.resize(self.program.parameters.len(), 1.0);
        self.set_flow_parameters();
    }

    /// Signs of the surfaces at the start, inner ones first.
    fn first_signs(&mut self) {
        for s in 0..self.events.surfaces.len() {
            let _ = self.events.settings.evaluate(self.now.time, &self.now.state);
            let value = self.events.settings.watched(self.contact.walls.len() + s)[0];
            if value < 0.0 {
                self.set_sign(s, -1.0);
            }
        }
    }

    fn read_restitution(&mut self) -> Result<(), SimulateError> {
        let _ = self.events.settings.evaluate(self.now.time, &self.now.state);
        self.contact.restitution =
            (0..self.contact.walls.len()).map(|w| self.events.settings.watched(w)[0]).collect();
        match (0..self.contact.walls.len()).find(|&w| !(0.0..=1.0).contains(&self.contact.restitution[w])) {
            Some(w) => Err(refuse(format!(
                "the restitution of wall `{}` is {}; it must be between 0 and 1",
                self.wall_name(w),
                self.contact.restitution[w]
            ))),
            None => Ok(()),
        }
    }

    fn check_state(&mut self) -> Result<(), SimulateError> {
        self.evaluate_frame();
        if self.now.state.iter().any(|x| !x.is_finite()) || !self.frame.is_finite() {
            let halt = self.not_finite();
            return Err(SimulateError::Singular(format!(
                "at the start {}",
                halt.detail.unwrap_or_default().replace(" any more", "")
            )));
        }
        Ok(())
    }

    fn check_inertia(&self, kkt: &KktFactor) -> Result<(), SimulateError> {
        if self.is_degenerate() || self.frame.layout.inverse {
            return Ok(());
        }
        let directions = kkt.massless_directions();
        let Some(z) = directions.first() else { return Ok(()) };
        let coordinates = &self.program.mechanics.model.coordinates;
        let free = self.program.mechanics.free.iter().zip(kkt.natural_parts(z));
        let moving = free.filter(|(_, z)| z.abs() > 1e-6);
        let names: Vec<String> = moving.map(|(&i, _)| format!("`{}`", coordinates[i].name)).collect();
        Err(SimulateError::Singular(format!(
            "the mass matrix is singular at the start: {} carry no inertia there",
            names.join(", ")
        )))
    }

    fn check_walls(&mut self) -> Result<(), SimulateError> {
        let behind: Vec<String> = (0..self.contact.walls.len())
            .filter(|&w| self.is_behind(w))
            .map(|w| {
                format!(
                    "the start is behind wall `{}`: its gap is {:?}",
                    self.wall_name(w),
                    self.frame.gap(w)
                )
            })
            .collect();
        if behind.is_empty() { Ok(()) } else { Err(SimulateError::BehindWall(behind)) }
    }

    /// Outside its table an input continues with its end pieces; that is seldom meant.
    fn warn_about_tables(&mut self) {
        let (from, until) = (self.options.start.time, self.options.until);
        let program = self.program;
        for (input, signal) in program.mechanics.model.inputs.iter().zip(&program.curves) {
            let [first, last] = signal.range;
            let continued = match input.interpolate {
                Interpolation::Hold => "its first and last values are",
                Interpolation::Linear | Interpolation::Smooth => "it is, straight on,",
                Interpolation::Spline => "its end pieces are",
            };
            if from < first || until > last {
                self.warn(format!(
                    "the run from {from} to {until} leaves the table of input `{}` ({first} to {last}); \
                     {continued} continued there",
                    input.name
                ));
            }
        }
    }

    fn warn_about_rows(&mut self) {
        if self.is_degenerate() || self.leg.key.rows.len() == self.frame.layout.rows {
            return;
        }
        // Name the dependent rows and the combination.
        let rows = self.frame.rows();
        let mut transposed = Matrix::zeros(rows.columns, rows.rows);
        for i in 0..rows.rows {
            for j in 0..rows.columns {
                transposed[(j, i)] = rows[(i, j)];
            }
        }
        let names: Vec<&str> = self.program.mechanics.rows.iter().map(|r| r.name.as_str()).collect();
        let combinations: Vec<String> = Factored::new(&transposed)
            .null_space
            .iter()
            .map(|z| {
                let scale = carom_jet::dense::largest(z);
                z.iter()
                    .zip(&names)
                    .filter(|(c, _)| c.abs() > 1e-9 * scale)
                    .map(|(c, name)| format!("{:+.4}·`{name}`", c / scale))
                    .collect::<Vec<_>>()
                    .join(" ")
            })
            .collect();
        for combination in combinations {
            self.warn(format!(
                "constraint rows depend on each other: {combination} = 0; their multipliers share the reaction"
            ));
        }
    }

    /// Computes what was not given, then checks or projects.
    fn complete_start(&mut self, given: impl Fn(usize, bool) -> bool) -> Result<(), SimulateError> {
        if self.frame.layout.rows == 0 && self.frame.layout.conditions == 0 {
            return Ok(());
        }
        if !self.frame.failing_rows(&self.program.mechanics).is_empty() {
            self.solve_for_missing(&given);
        }
        self.evaluate_frame();
        self.reach_from_start(&self.frame.kkt());
        let failing = self.frame.failing_rows(&self.program.mechanics);
        if !failing.is_empty() && !self.options.start.project {
            return Err(SimulateError::InconsistentStart(failing));
        }
        self.note_scales();
        let drift = self.drift();
        self.recorder.motion.audit.constraint_drift = if self.options.start.project { 0.0 } else { drift };
        if drift > f64::EPSILON {
            let left = self.project();
            if left > TYPED {
                return Err(SimulateError::InconsistentStart(
                    self.frame.failing_rows(&self.program.mechanics),
                ));
            }
        }
        Ok(())
    }

    /// Newton over the variables that were not given, smallest change from 0.
    fn solve_for_missing(&mut self, given: &impl Fn(usize, bool) -> bool) {
        let n = self.size();
        let free: Vec<usize> = (0..2 * n).filter(|&k| !given(k % n, k >= n)).collect();
        if free.is_empty() {
            return;
        }
        let given = self.now.state.clone();
        self.solve_by_gradient(&free);
        if !(self.frame.is_finite() && self.drift() <= TYPED) {
            self.now.state = given;
            self.evaluate_frame();
            self.solve_by_differences(&free);
        }
    }

    /// Newton with the gradients of rows and conditions.
    fn solve_by_gradient(&mut self, free: &[usize]) {
        let before = self.now.state.clone();
        let mut last = f64::INFINITY;
        for _ in 0..100 {
            let residual: Vec<f64> = self.frame.residuals().collect();
            let gradient = self.frame.residual_gradient(&self.program.mechanics.rows);
            // Rows that no missing variable can change are checked afterwards, not solved.
            let rows: Vec<usize> =
                (0..residual.len()).filter(|&i| free.iter().any(|&k| gradient[(i, k)] != 0.0)).collect();
            let mut part = Matrix::zeros(rows.len(), free.len());
            for (a, &i) in rows.iter().enumerate() {
                for (b, &k) in free.iter().enumerate() {
                    part[(a, b)] = gradient[(i, k)];
                }
            }
            let target: Vec<f64> = rows.iter().map(|&i| -residual[i]).collect();
            let factored = Factored::new(&part);
            let step = factored.solve(&target);
            if !step.iter().all(|x| x.is_finite()) {
                break;
            }
            for (&k, d) in free.iter().zip(&step) {
                self.now.state[k] += d;
            }
            self.evaluate_frame();
            // Newton halves its steps at least, until rounding is left.
            let size =
                step.iter().enumerate().map(|(j, d)| d.abs() / factored.natural(j)).fold(0.0, f64::max);
            let total = free.iter().enumerate().map(|(j, &k)| self.now.state[k].abs() / factored.natural(j));
            if size == 0.0 || (size > 0.5 * last && size < TYPED * total.fold(0.0, f64::max)) {
                break;
            }
            last = size;
        }
        if !self.frame.is_finite() {
            self.now.state = before;
            self.evaluate_frame();
        }
    }

    /// The same by central differences, where the gradient leaves something out.
    fn solve_by_differences(&mut self, free: &[usize]) {
        let before = self.now.state.clone();
        for _ in 0..100 {
            let residual: Vec<f64> = self.frame.residuals().collect();
            let mut jacobian = Matrix::zeros(residual.len(), free.len());
            for (j, &k) in free.iter().enumerate() {
                // Central differences; the last digits come from the projection afterwards.
                let step = 1e-6 * self.now.state[k].abs().max(1.0);
                let x = self.now.state[k];
                let mut side = |dx: f64| {
                    self.now.state[k] = x + dx;
                    self.evaluate_frame();
                    self.frame.residuals().collect::<Vec<f64>>()
                };
                let (plus, minus) = (side(step), side(-step));
                self.now.state[k] = x;
                for i in 0..residual.len() {
                    jacobian[(i, j)] = (plus[i] - minus[i]) / (2.0 * step);
                }
            }
            self.evaluate_frame();
            // Rows that no missing variable can change are checked afterwards, not solved.
            let rows: Vec<usize> =
                (0..residual.len()).filter(|&i| jacobian.row(i).iter().any(|x| x.abs() > 1e-12)).collect();
            let mut part = Matrix::zeros(rows.len(), free.len());
            for (a, &i) in rows.iter().enumerate() {
                part.entries[a * free.len()..(a + 1) * free.len()].copy_from_slice(jacobian.row(i));
            }
            let target: Vec<f64> = rows.iter().map(|&i| -residual[i]).collect();
            let step = Factored::new(&part).solve(&target);
            if !step.iter().all(|x| x.is_finite()) {
                break;
            }
            let size = carom_jet::dense::largest(&step);
            for (&k, d) in free.iter().zip(&step) {
                self.now.state[k] += d;
            }
            self.evaluate_frame();
            if size <= 1e-14 * carom_jet::dense::largest(&self.now.state).max(1.0) {
                break;
            }
        }
        if !self.frame.is_finite() {
            self.now.state = before;
            self.evaluate_frame();
        }
    }

    /// The state an event sets, checked against rows and walls.
    pub fn reset(&mut self, event: usize, values: &[f64]) -> Result<(), Halt> {
        let energy = self.frame.energy();
        let name = self.program.mechanics.model.events[event].name.clone();
        for (&(symbol, _), &value) in self.program.mechanics.events[event].set.iter().zip(values) {
            if let Some(k) = self.program.state.iter().position(|&x| x == symbol) {
                self.now.state[k] = value;
            }
        }
        for wall in &mut self.contact.walls {
            (wall.touching, wall.resting, wall.closed) = (false, false, false);
        }
        self.evaluate_frame();
        if !self.frame.is_finite() || self.now.state.iter().any(|x| !x.is_finite()) {
            return Err(self.not_finite());
        }
        let mut broken = self.frame.failing_rows(&self.program.mechanics);
        for w in 0..self.contact.walls.len() {
            if self.is_behind(w) {
                broken.push(format!("wall `{}` has gap {:?}", self.wall_name(w), self.frame.gap(w)));
            }
        }
        if !broken.is_empty() {
            let detail = format!("after event `{name}`: {}", broken.join("; ").replace(" at the start", ""));
            return Err(Halt::new(StopReason::InconsistentReset, detail));
        }
        // A reset may change E by any amount: the audit starts from there.
        self.audit.expected_energy += self.frame.energy() - energy;
        let touched = self.touched(&[]);
        if !touched.is_empty() {
            self.apply_impact(&touched)?;
        }
        Ok(())
    }
}

fn check(program: &Program, options: &Options) -> Result<(), SimulateError> {
    let from = options.start.time;
    if !from.is_finite() || !options.until.is_finite() {
        return Err(refuse("start and end time must be finite numbers"));
    }
    if options.until < from {
        return Err(refuse(format!("the end time {} lies before the start time {from}", options.until)));
    }
    if !(1e-16..=1e-2).contains(&options.tolerance) {
        return Err(refuse(format!(
            "the tolerance is {}; it must be between 1e-16 and 1e-2",
            options.tolerance
        )));
    }
    if let carom_mech::model::Method::Rk4 { step } = options.method
        && !(step > 0.0 && step.is_finite())
    {
        return Err(refuse(format!("the step of method rk4 is {step}; it must be positive")));
    }
    if options.parameters.len() != program.mechanics.model.parameters.len() {
        return Err(refuse("one value per parameter is needed"));
    }
    let model = &program.mechanics.model;
    if let Some((p, x)) = model.parameters.iter().zip(&options.parameters).find(|(_, x)| !x.is_finite()) {
        return Err(refuse(format!("parameter `{}` is {x}; it must be a finite number", p.name)));
    }
    let start = &options.start;
    for (list, what) in
        [(&start.position, "position"), (&start.velocity, "velocity"), (&start.momentum, "momentum")]
    {
        for (c, x) in model.coordinates.iter().zip(list.iter()) {
            if let Some(x) = x
                && !x.is_finite()
            {
                return Err(refuse(format!(
                    "the start {what} of `{}` is {x}; it must be a finite number",
                    c.name
                )));
            }
        }
    }
    Ok(())
}

fn sample_times(options: &Options) -> Result<Vec<f64>, SimulateError> {
    let (from, until) = (options.start.time, options.until);
    match &options.sampling {
        Sampling::At(times) => match times.iter().find(|t| !(from..=until).contains(*t)) {
            Some(t) => Err(refuse(format!("the sample time {t} lies outside [{from}, {until}]"))),
            None => Ok(times.clone()),
        },
        Sampling::Even(0) => Ok(Vec::new()),
        Sampling::Even(1) => Ok(vec![until]),
        Sampling::Even(count) => {
            let last = (count - 1) as f64;
            let at = |i: usize| if i + 1 == *count { until } else { from + (until - from) * i as f64 / last };
            Ok((0..*count).map(at).collect())
        }
    }
}
