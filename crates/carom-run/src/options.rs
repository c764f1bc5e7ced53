//! What a simulation is asked to do, and what it tells while doing it.

use crate::gradient::Objective;
use crate::variation::Direction;
use carom_mech::model::{ImpactOrder, Method, Model, Start};
use std::fmt;

/// Settings of one simulation. [`Options::of`] takes them from the model; change what differs.
#[derive(Clone, Debug)]
pub struct Options {
    /// Values of the parameters, in model order.
    pub parameters: Vec<f64>,
    /// Initial state, start time included.
    pub start: Start,
    /// End time, absolute, inclusive.
    pub until: f64,
    /// Local truncation error per step, relative to what each component has moved by so far ([`carom_jet::Extent`]).
    pub tolerance: f64,
    /// How to step.
    pub method: Method,
    /// When to sample.
    pub sampling: Sampling,
    /// Most impacts; one more is not applied and ends the motion.
    pub max_impacts: u64,
    /// Most steps; one more is not taken and ends the motion.
    pub max_steps: u64,
    /// Several walls at once.
    pub impact_order: ImpactOrder,
    /// Compute the amplification of errors from start to end.
    pub sensitivity: bool,
    /// Compute the derivatives with respect to these ([`crate::Motion::variation`]).
    pub directions: Vec<Direction>,
    /// Keep the derivative at every sample as well.
    pub variation_samples: bool,
    /// Compute the gradient of this ([`crate::Motion::gradient`]), whatever the number of directions at the cost of a few runs.
    pub objective: Option<Objective>,
    /// Keep every step, so that the motion is known at any time ([`crate::Simulator::read`]).
    pub dense: bool,
    /// Keep some dozens of states at both ends of steps, by which [`crate::audit_invariants`] measures; else it has the samples.
    pub step_states: bool,
}

/// When to sample.
#[derive(Clone, PartialEq, Debug)]
pub enum Sampling {
    /// This many evenly spaced times, both ends included.
    Even(usize),
    /// Exactly these times, in any order, within [from, until].
    At(Vec<f64>),
}

impl Options {
    /// The settings a model carries.
    pub fn of(model: &Model) -> Options {
        Options {
            parameters: model.parameters.iter().map(|p| p.value).collect(),
            start: model.start.clone(),
            until: model.run.until,
            tolerance: model.run.tolerance,
            method: model.run.method,
            sampling: Sampling::Even(model.run.samples),
            max_impacts: model.run.max_impacts,
            max_steps: model.run.max_steps,
            impact_order: model.run.impact_order,
            sensitivity: false,
            directions: Vec::new(),
            variation_samples: false,
            objective: None,
            dense: false,
            step_states: false,
        }
    }
}

/// How far a simulation is.
///
/// ```
/// let part = |p: &carom_run::Progress| (p.time - p.from) / (p.until - p.from);
/// let mut progress = carom_run::Progress::default();
/// (progress.from, progress.time, progress.until) = (0.0, 2.5, 10.0);
/// assert_eq!(part(&progress), 0.25);
/// ```
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[non_exhaustive]
pub struct Progress {
    /// Where it began.
    pub from: f64,
    /// Where it is.
    pub time: f64,
    /// Where it will end.
    pub until: f64,
    /// Steps so far.
    pub steps: u64,
    /// Impacts so far.
    pub impacts: u64,
}

/// Why nothing was simulated.
#[derive(Clone, PartialEq, Debug)]
pub enum SimulateError {
    /// An option has no meaning: which, and why.
    Option(String),
    /// The start violates the constraints: a sentence per row.
    InconsistentStart(Vec<String>),
    /// The start is behind a wall: a sentence per wall.
    BehindWall(Vec<String>),
    /// The start is not a finite state, or its mass matrix or rows are singular there.
    Singular(String),
    /// The equations cannot be compiled.
    Compile(String),
}

impl SimulateError {
    /// The sentences, one per problem.
    pub fn messages(&self) -> Vec<String> {
        match self {
            SimulateError::InconsistentStart(all) | SimulateError::BehindWall(all) => all.clone(),
            SimulateError::Option(one) | SimulateError::Singular(one) | SimulateError::Compile(one) => {
                vec![one.clone()]
            }
        }
    }

    /// A way out, where there is one.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            SimulateError::InconsistentStart(_) => {
                Some("correct the start, leave dependent variables out, or ask for projection")
            }
            SimulateError::BehindWall(_) => Some("move the start to where every gap is positive or zero"),
            _ => None,
        }
    }
}

impl fmt::Display for SimulateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.messages().join("; "))
    }
}

impl std::error::Error for SimulateError {}
