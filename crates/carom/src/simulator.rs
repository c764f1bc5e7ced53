//! Many simulations of one model in the same workspaces.

use crate::motion::Motion;
use crate::{Error, Model, Options};
use carom_run::{Program, Progress};
use self_cell::self_cell;
use std::fmt;
use std::sync::Arc;

type Workspaces<'p> = carom_run::Simulator<'p>;

self_cell!(
    /// A program and the workspaces that refer to it.
    pub(crate) struct OwnedSimulator {
        owner: Arc<Program>,
        #[not_covariant]
        dependent: Workspaces,
    }
);

impl OwnedSimulator {
    pub(crate) fn of(program: Arc<Program>) -> OwnedSimulator {
        OwnedSimulator::new(program, |program| carom_run::Simulator::new(program))
    }
}

/// Simulates one model again and again: compiled once, the workspaces of a simulation serve the next one. It owns what it
/// needs and can be sent to another thread; a clone of the model makes another one there.
///
/// Promise: a motion has the same bits whatever was simulated before.
///
/// ```
/// let model = carom::Model::gallery("double_pendulum_wall")?;
/// let mut simulator = model.simulator()?;
/// let worker = std::thread::spawn(move || {
///     let mut options = model.options();
///     (1..=3).map(|k| {
///         options.set("theta1'", 0.1 * f64::from(k))?;
///         Ok(simulator.simulate(&options)?.impacts().len())
///     }).collect::<Result<Vec<_>, carom::Error>>()
/// });
/// assert_eq!(worker.join().unwrap()?.len(), 3);
/// # Ok::<(), carom::Error>(())
/// ```
pub struct Simulator {
    model: Model,
    engine: OwnedSimulator,
}

impl Simulator {
    pub(crate) fn new(model: Model, program: Arc<Program>) -> Simulator {
        Simulator { model, engine: OwnedSimulator::of(program) }
    }

    /// Simulates.
    ///
    /// # Errors
    /// When nothing can be simulated with these options or from this start.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?;
    /// let motion = model.simulator()?.simulate(&model.options())?;
    /// assert_eq!(motion.time().len(), motion.position("x")?.len());
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn simulate(&mut self, options: &Options) -> Result<Motion, Error> {
        self.simulate_with(options, |_| true)
    }

    /// Simulates and tells its progress now and then; when `tell` returns false the motion ends, `interrupted`.
    ///
    /// # Errors
    /// As [`Simulator::simulate`].
    ///
    /// ```
    /// let model = carom::Model::gallery("double_pendulum")?;
    /// let motion = model.simulator()?.simulate_with(&model.options(), |progress| progress.time < 0.0)?;
    /// assert_eq!(motion.stop().reason.name(), "interrupted");
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn simulate_with(
        &mut self,
        options: &Options,
        tell: impl FnMut(&Progress) -> bool,
    ) -> Result<Motion, Error> {
        self.simulate_as(options, |_, _| Ok(()), tell)
    }

    pub(crate) fn simulate_as(
        &mut self,
        options: &Options,
        more: impl FnOnce(&carom_mech::Mechanics, &mut carom_run::Options) -> Result<(), String>,
        mut tell: impl FnMut(&Progress) -> bool,
    ) -> Result<Motion, Error> {
        if !options.model().is(&self.model) {
            let hint = "take them from model.options() of the model that is simulated";
            return Err(Error::request("these options belong to another model", hint));
        }
        let mut resolved = options.resolved()?;
        let asked = more(&*self.model.equations()?, &mut resolved);
        asked.map_err(|sentence| Error::sentence(&sentence))?;
        let result = self.engine.with_dependent_mut(|_, run| run.simulate_with(&resolved, &mut tell));
        let motion = result.map_err(|error| Error::simulate(&error, self.model.file()))?;
        Ok(Motion::new(self.model.clone(), self.engine.borrow_owner(), motion, resolved.parameters))
    }

    /// The model it simulates.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?;
    /// assert_eq!(model.simulator()?.model().name(), model.name());
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn model(&self) -> &Model {
        &self.model
    }
}

impl fmt::Debug for Simulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulator").field("model", &self.model).finish_non_exhaustive()
    }
}
