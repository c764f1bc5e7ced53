//! The state of a simulation between two steps, and what every part of it needs: evaluation, legs, stopping.

use crate::audit::LawAudit;
use crate::contact_state::ContactState;
use crate::events::EventState;
use crate::frame::Frame;
use crate::law::KktFactor;
use crate::motion::StopReason;
use crate::options::{Options, SimulateError};
use crate::program::{LegKey, Program};
use crate::recorder::Recorder;
use carom_jet::dense::{Factored, Matrix};
use carom_jet::{Extent, Flow, LaneStep, Remainder, Rk4, Singular, Taylor, Time, shorter_unit};
use carom_mech::mechanics::Dynamics;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The end of a motion, with its reason.
#[derive(Clone, Debug)]
pub(crate) struct Halt {
    pub reason: StopReason,
    pub detail: Option<String>,
}

impl Halt {
    pub fn new(reason: StopReason, detail: impl Into<String>) -> Halt {
        Halt { reason, detail: Some(detail.into()) }
    }

    /// The same, and what keeps it from being otherwise.
    pub fn because(mut self, why: &str) -> Halt {
        self.detail = self.detail.map(|detail| format!("{detail}, and no force can: {why}"));
        self
    }
}

/// What is known of the next step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Series {
    /// Only where it starts.
    #[default]
    Missing,
    /// Its series, made elsewhere; neither audited nor projected.
    Given,
    /// Its series, made at the start of the leg that begins with it.
    Fresh,
}

/// The workspaces of one kind of leg.
pub(crate) struct Space {
    key: LegKey,
    flow: Flow,
    /// Of the fixed-step method, when it is used.
    fixed: Option<Rk4>,
}

/// The workspaces of all kinds of legs met so far, and which one is in use.
#[derive(Default)]
pub(crate) struct Spaces {
    list: Vec<Space>,
    places: BTreeMap<LegKey, usize>,
    current: usize,
}

impl Spaces {
    pub fn clear(&mut self) {
        *self = Spaces::default();
    }

    /// The series of the leg in use.
    pub fn flow(&self) -> &Flow {
        &self.list[self.current].flow
    }

    /// The same, if there was a leg yet.
    pub fn series(&self) -> Option<&Flow> {
        self.list.get(self.current).map(|space| &space.flow)
    }

    pub fn flow_mut(&mut self) -> &mut Flow {
        &mut self.list[self.current].flow
    }
}

/// A simulation in progress.
pub(crate) struct Run<'p> {
    pub program: &'p Program,
    /// The program the simulation began with; another one runs while a wall without inertia is held.
    pub base: &'p Program,
    /// Walls: which touch, which hold, what they did.
    pub contact: ContactState,
    /// Events and switching surfaces: on which side of them the motion is.
    pub events: EventState,
    /// How well the laws were kept so far.
    pub audit: LawAudit,
    /// What becomes the result.
    pub recorder: Recorder,
    pub options: Arc<Options>,
    pub taylor: Taylor,
    /// What its steps are measured by.
    pub extent: Extent,
    /// The unit of its series; lengths of steps and places in them are in this unit.
    pub unit: f64,
    pub until: Time,
    pub time: Time,
    /// (q, v or p, work).
    pub state: Vec<f64>,
    /// What its doubles leave out.
    pub remainder: Remainder,
    /// Room for the state at the end of a step.
    pub next_state: Vec<f64>,
    /// Parameters, pieces of table inputs, signs.
    pub parameters: Vec<f64>,
    pub frame: Frame,
    pub spaces: Spaces,
    pub key: LegKey,
    pub fixed_step: f64,
    pub steps: u64,
    pub next_knot: Option<f64>,
    /// The step h, h², …
    pub powers: Vec<f64>,
    /// Length of the last step: the series still hold around its start.
    pub last_step: f64,
    /// Steps in a row that were far shorter than the motion's own time scale.
    pub smooth_steps: u32,
    /// What is known about the rank of the constraint rows.
    pub rank: crate::rank_loss::RankWatch,
    /// The first variation, if it is wanted.
    pub tangent: Option<Box<crate::sensitivity::Tangent>>,
    /// What is known of the next step.
    pub series: Series,
    /// Passes in a row without any advance of time.
    pub stalled: u32,
}

impl<'p> Run<'p> {
    /// Number of free coordinates.
    pub fn size(&self) -> usize {
        self.program.size()
    }

    /// Is the state (q, p)?
    pub fn is_hamiltonian(&self) -> bool {
        matches!(self.program.mechanics.dynamics, Dynamics::Hamiltonian(_))
    }

    pub fn is_degenerate(&self) -> bool {
        matches!(self.program.mechanics.dynamics, Dynamics::Degenerate(_))
    }

    pub fn wall_name(&self, wall: usize) -> &str {
        &self.program.mechanics.walls[wall].name
    }

    /// `a`, `b` and `c`
    pub fn wall_names(&self, walls: &[usize]) -> String {
        walls.iter().map(|&w| format!("`{}`", self.wall_name(w))).collect::<Vec<_>>().join(", ")
    }

    /// Says something once.
    pub fn warn(&mut self, message: String) {
        self.recorder.warn(message);
    }

    /// Evaluates the frame at the present state.
    pub fn evaluate_frame(&mut self) {
        self.frame.at(self.time, &self.state);
    }

    /// First index of the sign parameters.
    fn sign_offset(&self) -> usize {
        self.program.parameters.len() - self.program.surfaces.len()
    }

    /// Gives the parameters to every evaluator.
    pub fn spread_parameters(&mut self) {
        self.frame.set_parameters(&self.parameters);
        self.recorder.outputs.set_parameters(&self.parameters);
        self.events.settings.set_parameters(&self.parameters);
        self.events.crossings.forget_scales();
        self.forget_probe();
        let offset = self.sign_offset();
        for space in &mut self.spaces.list {
            let parameters = leg_parameters(&space.key, &self.parameters, offset);
            space.flow.set_parameters(&parameters);
            if let Some(rk) = &mut space.fixed {
                rk.set_parameters(&parameters);
            }
        }
    }

    /// Sets the sign of a surface.
    pub fn set_sign(&mut self, surface: usize, sign: f64) {
        let at = self.sign_offset() + surface;
        if self.parameters[at] != sign {
            self.parameters[at] = sign;
            self.spread_parameters();
        }
    }

    /// Chooses the pieces of table inputs in force from now on.
    pub fn choose_pieces(&mut self) {
        if self.program.curves.is_empty() {
            return;
        }
        let t = self.time.value();
        let first = self.program.mechanics.model.parameters.len();
        for (i, signal) in self.program.curves.iter().enumerate() {
            let values = signal.parameters(signal.interval(t));
            self.parameters[first + 5 * i..first + 5 * i + 5].copy_from_slice(&values);
        }
        self.next_knot =
            self.program.curves.iter().filter_map(|s| s.next_knot(t)).min_by(|a, b| a.total_cmp(b));
        self.spread_parameters();
    }

    /// Parameter values of the present leg.
    pub fn leg_parameters(&self) -> Vec<f64> {
        leg_parameters(&self.key, &self.parameters, self.sign_offset())
    }

    /// Puts the workspace of the present leg in use, made on first use.
    pub fn prepare_leg(&mut self) -> Result<(), Halt> {
        if self.spaces.list.get(self.spaces.current).is_some_and(|space| space.key == self.key) {
            return Ok(());
        }
        if let Some(&place) = self.spaces.places.get(&self.key) {
            self.spaces.current = place;
            return Ok(());
        }
        let mut flow = self
            .program
            .workspace(&self.key, self.taylor.order)
            .map_err(|e| Halt::new(StopReason::Singular, format!("this contact cannot be compiled: {e}")))?;
        let offset = self.sign_offset();
        flow.set_parameters(&leg_parameters(&self.key, &self.parameters, offset));
        self.spaces.current = self.spaces.list.len();
        self.spaces.places.insert(self.key.clone(), self.spaces.current);
        self.spaces.list.push(Space { key: self.key.clone(), flow, fixed: None });
        Ok(())
    }

    /// Takes over the series of a step made elsewhere for the leg in use.
    pub fn adopt(&mut self, step: &LaneStep<'_>) {
        let flow = &mut self.spaces.list[self.spaces.current].flow;
        step.give(flow);
        self.unit = flow.unit();
    }

    fn space(&self) -> &Space {
        &self.spaces.list[self.spaces.current]
    }

    /// The workspace of the present leg.
    pub fn flow(&self) -> &Flow {
        self.spaces.flow()
    }

    /// The series of the next step carry what the doubles of the state leave out.
    pub fn carry_remainder(&mut self) {
        self.spaces.flow_mut().carry(self.remainder.of(&self.state));
    }

    /// A length of time in the unit of the series.
    pub fn in_units(&self, time: f64) -> f64 {
        time / self.unit
    }

    /// One step of the fixed-step method: afterwards `polynomial` and `state_within` belong to it.
    pub fn rk_step(&mut self, h: f64) -> Result<(), Halt> {
        self.prepare_leg()?;
        let offset = self.sign_offset();
        let space = &mut self.spaces.list[self.spaces.current];
        let rk = space.fixed.get_or_insert_with(|| {
            let mut rk = Rk4::new(Arc::clone(space.flow.tape())).with(space.flow.level());
            rk.set_parameters(&leg_parameters(&space.key, &self.parameters, offset));
            rk
        });
        self.fixed_step = h;
        rk.set_unit(self.unit);
        let result = rk.step(self.time, &self.state, h * self.unit);
        result.map_err(|singular| self.singular(&singular))
    }

    /// The polynomial of a watched function during the present step.
    pub fn polynomial(&self, i: usize) -> &[f64] {
        let space = self.space();
        match &space.fixed {
            Some(rk) => rk.watched(i),
            None => space.flow.watched(i),
        }
    }

    /// The coefficients of the state during the present step, variable by variable; returns how many each has.
    pub fn coefficients_into(&self, numbers: &mut Vec<f64>) -> usize {
        let space = self.space();
        match &space.fixed {
            Some(rk) => {
                (0..self.state.len()).for_each(|i| numbers.extend(rk.state(i)));
                rk.state(0).len()
            }
            None => {
                let width = space.flow.order() + 1;
                for i in 0..self.state.len() {
                    numbers.extend((0..width).map(|k| space.flow.coefficient(i, k)));
                }
                width
            }
        }
    }

    /// The state s units after the start of the present step.
    pub fn state_within(&self, s: f64, into: &mut [f64]) {
        let space = self.space();
        match &space.fixed {
            Some(rk) if s == self.fixed_step => into.copy_from_slice(rk.end()),
            Some(rk) => rk.state_at(s, into),
            None => space.flow.state_at(s, into),
        }
    }

    /// The series around the present state; a lost pivot first re-chooses the rows.
    pub fn jet(&mut self) -> Result<(), Halt> {
        self.prepare_leg()?;
        self.jet_again()
    }

    /// As [`Run::jet`], in the leg that is in use already.
    pub fn jet_again(&mut self) -> Result<(), Halt> {
        match self.try_jet() {
            Ok(()) => Ok(()),
            Err(_) => {
                self.evaluate_frame();
                self.choose_rows()?;
                self.prepare_leg()?;
                self.try_jet().map_err(|singular| self.singular(&singular))
            }
        }
    }

    /// Evaluates the equations of the present leg; false when they are singular.
    pub fn try_evaluate(&mut self) -> bool {
        let (time, state, unit) = (self.time, &self.state, self.unit);
        self.spaces.flow_mut().set_unit(unit);
        self.spaces.flow_mut().evaluate(time, state).is_ok()
    }

    /// Completes the series after [`Run::try_evaluate`].
    pub fn try_expand(&mut self) -> bool {
        let (time, state) = (self.time, &self.state);
        self.spaces.flow_mut().expand(time, state).is_ok()
    }

    fn try_jet(&mut self) -> Result<(), Singular> {
        loop {
            let flow = &mut self.spaces.list[self.spaces.current].flow;
            flow.set_unit(self.unit);
            flow.jet(self.time, &self.state)?;
            // A unit far longer than the motion's own times lets its series overflow.
            if self.unit <= 1.0 || flow.is_finite() {
                return Ok(());
            }
            self.unit = shorter_unit(self.unit);
        }
    }

    fn singular(&self, singular: &Singular) -> Halt {
        let names = self.flow().tape().block_names(singular.block);
        let row = names.get(singular.row).cloned().unwrap_or_default();
        Halt::new(
            StopReason::Singular,
            format!(
                "the equations of motion became singular: {row} has no pivot left ({})",
                crate::figures::figures(singular.pivot, 2)
            ),
        )
    }

    /// Chooses rows that carry the rank: independent constraint rows, or a square subset of a degenerate model's
    /// equations. Needs a fresh frame.
    pub fn choose_rows(&mut self) -> Result<(), Halt> {
        let (n, m) = (self.frame.layout.n, self.frame.layout.rows);
        if self.is_degenerate() {
            let matrix = self.frame.matrix();
            let factored = Factored::new(&matrix);
            let mut rows = factored.pivot_rows().to_vec();
            let mut columns = factored.pivot_columns().to_vec();
            rows.sort_unstable();
            columns.sort_unstable();
            let accelerations = columns.iter().filter(|c| **c < n).count();
            if accelerations < n {
                let missing: Vec<String> = (0..matrix.rows)
                    .filter(|r| !rows.contains(r))
                    .map(|r| self.program.equation_name(r))
                    .collect();
                let detail =
                    format!("the accelerations are not determined here; dependent: {}", missing.join(", "));
                return Err(Halt::new(StopReason::Singular, detail));
            }
            self.key.rows = rows;
            self.key.multipliers = columns.into_iter().filter(|c| *c >= n).map(|c| c - n).collect();
            return Ok(());
        }
        let all: Vec<usize> = (0..m).collect();
        let rows = if m == 0 || self.frame.metric().is_regular() {
            all
        } else {
            independent_rows(&self.frame.rows())
        };
        if rows.len() < self.key.rows.len() {
            return Err(self.rank_lost_here());
        }
        self.key.rows = rows.clone();
        self.key.multipliers = rows;
        Ok(())
    }

    /// (x, y): x the acceleration without velocity bias, y = −μ (rows), for the present frame and no contact forces.
    pub fn free_acceleration(&self, metric: &KktFactor) -> (Vec<f64>, Vec<f64>) {
        let rate: Vec<f64> = self.frame.row_bias().iter().map(|g| -g).collect();
        metric.solve(self.frame.force(), &rate)
    }

    /// Adds an impulse to the state: [p] = `momentum`, [v] = `jump`.
    pub fn apply_impulse(&mut self, momentum: &[f64], jump: &[f64]) {
        let n = self.size();
        let change = if self.is_hamiltonian() { momentum } else { jump };
        self.state[n..2 * n].iter_mut().zip(change).for_each(|(x, d)| *x += d);
        // The velocity after carries the rounding of the one before.
        self.frame.reach_mut()[n..2 * n].iter_mut().zip(change).for_each(|(r, d)| *r += d.abs());
    }

    /// Work done so far by power, drives and moving walls.
    pub fn work(&self) -> f64 {
        if self.program.has_work { self.state[2 * self.size()] } else { 0.0 }
    }
}

/// Parameter values of a leg: signs of surfaces it slides on are unknowns there.
fn leg_parameters(key: &LegKey, parameters: &[f64], sign_offset: usize) -> Vec<f64> {
    let slides = |i: usize| i >= sign_offset && key.sliding.contains(&(i - sign_offset));
    parameters.iter().enumerate().filter(|(i, _)| !slides(*i)).map(|(_, x)| *x).collect()
}

/// The constraint rows that are independent, in model order.
fn independent_rows(rows: &Matrix) -> Vec<usize> {
    let factored = Factored::new(rows);
    let mut kept = factored.pivot_rows().to_vec();
    kept.sort_unstable();
    kept
}

/// An option that has no meaning.
pub(crate) fn refuse(message: impl Into<String>) -> SimulateError {
    SimulateError::Option(message.into())
}
