//! How to simulate, by name.
//!
//! ```text
//! p ← what was set, else its formula(p);   start ← what was set, else its formula(p);   the rest as the model says
//! ```
//!
//! Promise: the same as if the model file had said so from the beginning. Without constraint rows that takes a few
//! evaluations; with them the start may have to be completed anew, and the model is checked again.

use crate::error::ErrorKind;
use crate::{Error, Model};
use carom_mech::draft::{Assignment, At, Formula, FormulaKind, Word};
use carom_mech::{ImpactOrder, Method};
use carom_run::{Sampling, Varied};
use std::fmt;

/// How to simulate a model: made by [`Model::options`], which says what the model says. Every method changes one thing.
///
/// ```
/// let model = carom::Model::gallery("double_pendulum_wall")?;
/// let mut options = model.options();
/// options.set("g", 1.62)?.set("theta1'", 0.5)?;
/// options.until(20.0).tolerance(1e-12).samples(1001);
/// assert_eq!(model.simulate(&options)?.time().len(), 1001);
/// # Ok::<(), carom::Error>(())
/// ```
#[derive(Clone)]
pub struct Options {
    model: Model,
    values: Vec<(Varied, f64)>,
    from: Option<f64>,
    until: Option<f64>,
    tolerance: Option<f64>,
    method: Option<Method>,
    sampling: Option<Sampling>,
    max_impacts: Option<u64>,
    max_steps: Option<u64>,
    impact_order: Option<ImpactOrder>,
    project: Option<bool>,
    sensitivity: bool,
    gradient: Option<(String, String)>,
    dense: bool,
}

impl Options {
    pub(crate) fn new(model: Model) -> Options {
        Options {
            model,
            values: Vec::new(),
            from: None,
            until: None,
            tolerance: None,
            method: None,
            sampling: None,
            max_impacts: None,
            max_steps: None,
            impact_order: None,
            project: None,
            sensitivity: false,
            gradient: None,
            dense: false,
        }
    }

    /// The model these options belong to.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?;
    /// assert_eq!(model.options().model().name(), model.name());
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Sets a parameter `g`, or a start value: a coordinate `x`, a velocity `x'`, a momentum `p_x` of a Hamiltonian model.
    /// What the model computes from it follows.
    ///
    /// # Errors
    /// When there is no such name, or the value is not finite.
    ///
    /// ```
    /// let model = carom::Model::gallery("double_pendulum_wall")?;
    /// let mut options = model.options();
    /// options.set("g", 1.62)?.set("theta2", 0.5)?;
    /// assert!(options.set("theta3", 0.0).unwrap_err().to_string().contains("did you mean `theta1`?"));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn set(&mut self, name: &str, value: f64) -> Result<&mut Options, Error> {
        let target = self.target(name)?;
        if !value.is_finite() {
            return Err(Error::request(
                format!("`{name}` must be finite, not {value}"),
                "give a number such as 1.5",
            ));
        }
        self.values.retain(|(known, _)| *known != target);
        self.values.push((target, value));
        Ok(self)
    }

    /// The value a parameter or start value has now; `None` for a start value that is computed from others.
    ///
    /// # Errors
    /// When there is no such name, or the model has no such values.
    ///
    /// ```
    /// let model = carom::Model::gallery("double_pendulum_wall")?;
    /// let mut options = model.options();
    /// options.set("l1", 3.0)?;
    /// assert_eq!(options.get("l1")?, Some(3.0));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn get(&self, name: &str) -> Result<Option<f64>, Error> {
        let target = self.target(name)?;
        let resolved = self.resolved()?;
        let start = &resolved.start;
        Ok(match target {
            Varied::Parameter(i) => resolved.parameters.get(i).copied(),
            Varied::Position(i) => start.position.get(i).copied().flatten(),
            Varied::Velocity(i) => start.velocity.get(i).copied().flatten(),
            Varied::Momentum(i) => start.momentum.get(i).copied().flatten(),
        })
    }

    /// The end time, absolute and inclusive.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?;
    /// assert_eq!(model.simulate(model.options().until(2.0))?.stop().time, 2.0);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn until(&mut self, time: f64) -> &mut Options {
        self.until = Some(time);
        self
    }

    /// The start time.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?;
    /// assert_eq!(model.simulate(model.options().from(-1.0))?.time()[0], -1.0);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn from(&mut self, time: f64) -> &mut Options {
        self.from = Some(time);
        self
    }

    /// The truncation error per step, 1e-16 to 1e-2.
    ///
    /// ```
    /// let model = carom::Model::gallery("double_pendulum")?;
    /// let (coarse, fine) = (model.simulate(model.options().tolerance(1e-6))?, model.simulate(&model.options())?);
    /// assert!(coarse.audit().steps < fine.audit().steps);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn tolerance(&mut self, tolerance: f64) -> &mut Options {
        self.tolerance = Some(tolerance);
        self
    }

    /// Steps by the classical Runge–Kutta method with this fixed step, for comparison; impacts are still located.
    ///
    /// ```
    /// let model = carom::Model::gallery("bouncing_mass")?;
    /// assert!(model.simulate(model.options().rk4(0.01))?.impacts().len() > 0);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn rk4(&mut self, step: f64) -> &mut Options {
        self.method = Some(Method::Rk4 { step });
        self
    }

    /// So many evenly spaced samples, both ends included.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?;
    /// assert_eq!(model.simulate(model.options().samples(3))?.time().len(), 3);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn samples(&mut self, count: usize) -> &mut Options {
        self.sampling = Some(Sampling::Even(count));
        self
    }

    /// Samples at exactly these times, in any order.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?;
    /// assert_eq!(model.simulate(model.options().at([0.5, 0.25]))?.time(), [0.5, 0.25]);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn at(&mut self, times: impl Into<Vec<f64>>) -> &mut Options {
        self.sampling = Some(Sampling::At(times.into()));
        self
    }

    /// Keeps every step, so that [`Motion::at`](crate::Motion::at) knows every time.
    ///
    /// ```
    /// let model = carom::Model::gallery("double_pendulum")?;
    /// let motion = model.simulate(model.options().dense(true))?;
    /// assert!(motion.at(std::f64::consts::PI).is_ok());
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn dense(&mut self, dense: bool) -> &mut Options {
        self.dense = dense;
        self
    }

    /// Computes how much an error of the start has grown at the end, `amplification` of the audit.
    ///
    /// ```
    /// let model = carom::Model::gallery("double_pendulum")?;
    /// assert!(model.simulate(model.options().sensitivity(true))?.audit().amplification.is_some());
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn sensitivity(&mut self, sensitivity: bool) -> &mut Options {
        self.sensitivity = sensitivity;
        self
    }

    /// Computes the gradient of one number ([`Motion::gradient`](crate::Motion::gradient)) at a cost that does not grow with what
    /// it is taken by: a signal or output at the end, `sum(SIGNAL)` over the samples, `impact.WALL.N`, `impulse.WALL.N` or
    /// `event.NAME.N`. `by` lists `start`, start values, parameters and `restitution.WALL`; an empty one stands for everything.
    ///
    /// ```
    /// let model = carom::Model::gallery("double_pendulum_wall")?;
    /// let motion = model.simulate(model.options().gradient("theta1", "start,g,restitution.left"))?;
    /// let gradient = motion.gradient().unwrap();
    /// assert_eq!(gradient.with_respect_to.last().unwrap(), "restitution.left");
    /// assert!(gradient.gradient.iter().all(|x| x.is_finite()));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn gradient(&mut self, of: &str, by: &str) -> &mut Options {
        self.gradient = Some((of.to_owned(), by.to_owned()));
        self
    }

    /// Moves a start that violates the constraints onto them.
    ///
    /// ```
    /// let model = carom::Model::gallery("elastic_pendulum")?;
    /// assert!(model.simulate(model.options().project_start(true)).is_ok());
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn project_start(&mut self, project: bool) -> &mut Options {
        self.project = Some(project);
        self
    }

    /// The most impacts; one more is not applied and ends the motion.
    ///
    /// ```
    /// let model = carom::Model::gallery("bouncing_mass")?;
    /// assert_eq!(model.simulate(model.options().max_impacts(2))?.impacts().len(), 2);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn max_impacts(&mut self, most: u64) -> &mut Options {
        self.max_impacts = Some(most);
        self
    }

    /// The most steps; one more is not taken and ends the motion.
    ///
    /// ```
    /// let model = carom::Model::gallery("double_pendulum")?;
    /// assert_eq!(model.simulate(model.options().max_steps(3))?.audit().steps, 3);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn max_steps(&mut self, most: u64) -> &mut Options {
        self.max_steps = Some(most);
        self
    }

    /// Several walls hit at once: one after the other instead of together.
    ///
    /// ```
    /// let model = carom::Model::gallery("newtons_cradle")?;
    /// assert!(model.simulate(model.options().sequential_impacts(true)).is_ok());
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn sequential_impacts(&mut self, sequential: bool) -> &mut Options {
        let order = if sequential { ImpactOrder::Sequential } else { ImpactOrder::Simultaneous };
        self.impact_order = Some(order);
        self
    }

    fn target(&self, name: &str) -> Result<Varied, Error> {
        let model = self.model.checked();
        if let Some(i) = model.parameters.iter().position(|p| p.name == name) {
            return Ok(Varied::Parameter(i));
        }
        let hamiltonian = self.model.draft().hamiltonian.is_some();
        let bare = name.trim_end_matches(['\'', '′', '’']);
        let primes = name.chars().count() - bare.chars().count();
        let momentum = |c: &carom_mech::Coordinate| match c.momentum_name == c.name {
            true => format!("p_{}", c.name),
            false => c.momentum_name.clone(),
        };
        let coordinate = model.coordinates.iter().position(|c| c.name == bare);
        let by_momentum = model.coordinates.iter().position(|c| hamiltonian && momentum(c) == name);
        let target = match (coordinate, primes, by_momentum) {
            (Some(i), 0, _) => Some((Varied::Position(i), i)),
            (Some(i), 1, _) if !hamiltonian => Some((Varied::Velocity(i), i)),
            (None, 0, Some(i)) => Some((Varied::Momentum(i), i)),
            _ => None,
        };
        match target {
            Some((_, i)) if model.coordinates[i].driven.is_some() => Err(Error::request(
                format!("the driven coordinate `{bare}` cannot be given a start"),
                "its motion is prescribed by the model",
            )),
            Some((target, _)) => Ok(target),
            None if coordinate.is_some() && hamiltonian => {
                let names: Vec<String> = model.coordinates.iter().map(momentum).collect();
                let hint = format!("its momenta are {}", names.join(", "));
                Err(Error::request(
                    format!("a Hamiltonian model starts from momenta, not from `{name}`"),
                    hint,
                ))
            }
            None => {
                let mut names: Vec<String> = model.parameters.iter().map(|p| p.name.clone()).collect();
                for c in &model.coordinates {
                    names.push(c.name.clone());
                    names.push(if hamiltonian { momentum(c) } else { format!("{}'", c.name) });
                }
                Err(Error::unknown("parameter or start value", name, names.iter().map(String::as_str)))
            }
        }
    }

    /// Everything as numbers.
    pub(crate) fn resolved(&self) -> Result<carom_run::Options, Error> {
        let base = carom_run::Options::of(self.model.checked());
        let mut options = match self.values.is_empty() {
            true => base,
            false => match self.followed(&base) {
                Some(options) => options,
                None => self.checked_again()?,
            },
        };
        options.start.time = self.from.unwrap_or(options.start.time);
        options.until = self.until.unwrap_or(options.until);
        options.tolerance = self.tolerance.unwrap_or(options.tolerance);
        options.method = self.method.unwrap_or(options.method);
        options.max_impacts = self.max_impacts.unwrap_or(options.max_impacts);
        options.max_steps = self.max_steps.unwrap_or(options.max_steps);
        options.impact_order = self.impact_order.unwrap_or(options.impact_order);
        options.start.project = self.project.unwrap_or(options.start.project);
        if let Some(sampling) = &self.sampling {
            options.sampling = sampling.clone();
        }
        options.sensitivity = self.sensitivity;
        if let Some((of, by)) = &self.gradient {
            let found = carom_run::Objective::named(of, by, &*self.model.equations()?);
            options.objective =
                Some(found.map_err(|sentence| Error::request(sentence, "see `Options::gradient`"))?);
        }
        options.dense = self.dense;
        Ok(options)
    }

    /// What was set and what follows from it; `None` where the model must be checked again.
    fn followed(&self, base: &carom_run::Options) -> Option<carom_run::Options> {
        if !self.model.checked().rows.is_empty() {
            return None;
        }
        let (varied, values): (Vec<Varied>, Vec<f64>) = self.values.iter().copied().unzip();
        self.model.incremental(&varied)?.options(base, &varied, &values)
    }

    /// The model with what was set in place of what its file says, checked.
    fn checked_again(&self) -> Result<carom_run::Options, Error> {
        let mut draft = self.model.draft().clone();
        let model = self.model.checked();
        for &(target, value) in &self.values {
            let (list, name) = match target {
                Varied::Parameter(i) => (&mut draft.parameters, &model.parameters[i].name),
                Varied::Position(i) => (&mut draft.start.position, &model.coordinates[i].name),
                Varied::Velocity(i) => (&mut draft.start.velocity, &model.coordinates[i].name),
                Varied::Momentum(i) => (&mut draft.start.momentum, &model.coordinates[i].name),
            };
            replace(list, name, value);
        }
        draft.start.project |= self.project == Some(true);
        match draft.check() {
            Ok((model, _)) => Ok(carom_run::Options::of(&model)),
            Err(problems) => Err(Error::new(ErrorKind::Start, self.model.file(), problems)),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("model", &self.model).finish_non_exhaustive()
    }
}

/// Sets an entry of a draft, where it stood.
fn replace(list: &mut Vec<Assignment>, name: &str, value: f64) {
    let formula = |at: At| Formula { text: format!("{value:?}"), at, kind: FormulaKind::Number };
    let same = |word: &Word| word.text.trim_end_matches(['\'', '′', '’']) == name;
    match list.iter_mut().find(|(word, _)| same(word)) {
        Some(entry) => entry.1 = formula(entry.1.at),
        None => {
            let at = At { source: 0, start: 0, end: 0 };
            list.push((Word { text: name.to_owned(), at }, formula(at)));
        }
    }
}
