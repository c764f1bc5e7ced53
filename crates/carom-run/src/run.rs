//! The state of a simulation between two steps, and what every part of it needs: evaluation, legs, stopping.

use crate::audit::LawAudit;
use crate::contact_state::ContactState;
use crate::events::EventState;
use crate::frame::Frame;
use crate::leg::{ActiveLeg, first_sign};
use crate::motion::StopReason;
use crate::options::{Options, SimulateError};
use crate::program::Program;
use crate::rank_loss::RankWatch;
use crate::recorder::Recorder;
use crate::sensitivity::Tangent;
use crate::stepper::{Now, Stepper};
use carom_jet::dense::{Factored, Matrix};
use carom_mech::mechanics::Dynamics;
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

/// A simulation in progress, in parts: each owns what belongs together, and knows how to begin anew.
pub(crate) struct Run<'p> {
    /// The program in force: `base`, or another one while a wall without inertia is held.
    pub program: &'p Program,
    /// The program the simulation began with.
    pub base: &'p Program,
    pub options: Arc<Options>,
    /// Where the motion is.
    pub now: Now,
    /// How it steps.
    pub stepper: Stepper,
    /// The equations in force, and their series.
    pub leg: ActiveLeg,
    /// Every number the laws need at a state.
    pub frame: Frame,
    /// Walls: which touch, which hold, what they did.
    pub contact: ContactState,
    /// Events and switching surfaces: on which side of them the motion is.
    pub events: EventState,
    /// What is known about the rank of the constraint rows.
    pub rank: RankWatch,
    /// How well the laws were kept so far.
    pub audit: LawAudit,
    /// What becomes the result.
    pub recorder: Recorder,
    /// The first variation, if it is wanted.
    pub tangent: Option<Box<Tangent>>,
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
        self.frame.at(self.now.time, &self.now.state);
    }

    /// Gives the parameters to every evaluator.
    pub fn set_flow_parameters(&mut self) {
        self.frame.set_parameters(&self.leg.parameters);
        self.recorder.outputs.set_parameters(&self.leg.parameters);
        self.events.settings.set_parameters(&self.leg.parameters);
        self.events.crossings.forget_scales();
        self.rank.forget_probe();
        self.leg.set_flow_parameters(self.program);
    }

    /// Sets the sign of a surface.
    pub fn set_sign(&mut self, surface: usize, sign: f64) {
        let at = first_sign(self.program) + surface;
        if self.leg.parameters[at] != sign {
            self.leg.parameters[at] = sign;
            self.set_flow_parameters();
        }
    }

    /// Chooses the pieces of table inputs in force from now on.
    pub fn choose_pieces(&mut self) {
        if self.program.curves.is_empty() {
            return;
        }
        let t = self.now.time.value();
        let first = self.program.mechanics.model.parameters.len();
        for (i, signal) in self.program.curves.iter().enumerate() {
            let values = signal.parameters(signal.interval(t));
            self.leg.parameters[first + 5 * i..first + 5 * i + 5].copy_from_slice(&values);
        }
        self.leg.next_knot =
            self.program.curves.iter().filter_map(|s| s.next_knot(t)).min_by(|a, b| a.total_cmp(b));
        self.set_flow_parameters();
    }

    /// Puts the workspace of the present leg in use, made on first use.
    pub fn prepare_leg(&mut self) -> Result<(), Halt> {
        let ready = self.leg.prepare(self.program, self.stepper.taylor.order);
        ready.map_err(|e| Halt::new(StopReason::Singular, format!("this contact cannot be compiled: {e}")))
    }

    /// The series around the present state; a lost pivot first re-chooses the rows.
    pub fn jet(&mut self) -> Result<(), Halt> {
        self.prepare_leg()?;
        self.jet_again()
    }

    /// As [`Run::jet`], in the leg that is in use already.
    pub fn jet_again(&mut self) -> Result<(), Halt> {
        match self.stepper.jet(&mut self.leg, &self.now) {
            Ok(()) => Ok(()),
            Err(_) => {
                self.evaluate_frame();
                self.choose_rows()?;
                self.prepare_leg()?;
                self.stepper.jet(&mut self.leg, &self.now).map_err(|singular| self.leg.singular(&singular))
            }
        }
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
            self.leg.key.rows = rows;
            self.leg.key.multipliers = columns.into_iter().filter(|c| *c >= n).map(|c| c - n).collect();
            return Ok(());
        }
        let all: Vec<usize> = (0..m).collect();
        let rows =
            if m == 0 || self.frame.kkt().is_regular() { all } else { independent_rows(&self.frame.rows()) };
        if rows.len() < self.leg.key.rows.len() {
            return Err(self.rank_lost_here());
        }
        self.leg.key.rows = rows.clone();
        self.leg.key.multipliers = rows;
        Ok(())
    }

    /// Adds an impulse to the state: [p] = `momentum`, [v] = `jump`.
    pub fn apply_impulse(&mut self, momentum: &[f64], jump: &[f64]) {
        let n = self.size();
        let change = if self.is_hamiltonian() { momentum } else { jump };
        self.now.state[n..2 * n].iter_mut().zip(change).for_each(|(x, d)| *x += d);
        // The velocity after carries the rounding of the one before.
        self.frame.reach_mut()[n..2 * n].iter_mut().zip(change).for_each(|(r, d)| *r += d.abs());
    }

    /// Work done so far by power, drives and moving walls.
    pub fn work(&self) -> f64 {
        if self.program.has_work { self.now.state[2 * self.size()] } else { 0.0 }
    }
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
