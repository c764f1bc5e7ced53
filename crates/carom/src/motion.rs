//! What a simulation found, by name.

use crate::records::{Contact, EventRecord, Graze, Impact};
use crate::simulator::OwnedSimulator;
use crate::state::{SampleNames, State};
use crate::{Error, Model};
use carom_mech::Mechanics;
use carom_run::{Audit, Program, Side, Signal, Stop};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A simulated motion: samples by name, everything that happened, why it ended, and an audit of how well the laws were kept.
///
/// Samples are contiguous slices, one value per [`Motion::time`].
///
/// ```
/// let model = carom::Model::gallery("double_pendulum_wall")?;
/// let motion = model.simulate(&model.options())?;
/// let (time, theta1) = (motion.time(), motion.position("theta1")?);
/// assert_eq!(time.len(), theta1.len());
/// let first = motion.impacts().next().unwrap();
/// assert_eq!(first.walls().collect::<Vec<_>>(), ["left"]);
/// assert!(motion.audit().hamiltonian_drift < 1e-12);
/// # Ok::<(), carom::Error>(())
/// ```
pub struct Motion {
    model: Model,
    program: Arc<Program>,
    pub(crate) inner: carom_run::Motion,
    /// Values of the parameters, in model order: what formulas drawn beside the motion must be evaluated with.
    pub(crate) parameters: Vec<f64>,
    catalog: Arc<SampleNames>,
    /// What evaluates states between samples, made when first asked for.
    reader: Mutex<Option<OwnedSimulator>>,
    /// The audit with what the model conserves, made when first asked for.
    audit: OnceLock<Audit>,
}

impl Motion {
    pub(crate) fn new(
        model: Model,
        program: &Arc<Program>,
        inner: carom_run::Motion,
        parameters: Vec<f64>,
    ) -> Motion {
        let catalog = Arc::new(SampleNames::of(model.checked()));
        let program = Arc::clone(program);
        Motion {
            model,
            program,
            inner,
            parameters,
            catalog,
            reader: Mutex::new(None),
            audit: OnceLock::new(),
        }
    }

    /// The model that moved.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?;
    /// assert_eq!(model.simulate(&model.options())?.model().name(), model.name());
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Why and when it ended. Ending early is a result: what was computed is here.
    ///
    /// ```
    /// let model = carom::Model::gallery("bouncing_mass")?;
    /// let motion = model.simulate(model.options().max_impacts(3))?;
    /// assert_eq!(motion.stop().reason, carom::StopReason::ImpactLimit);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn stop(&self) -> &Stop {
        &self.inner.stop
    }

    /// How well the laws were kept, and at what cost; with every quantity that the symmetries of the model conserve.
    ///
    /// ```
    /// let model = carom::Model::gallery("spherical_pendulum")?;
    /// let motion = model.simulate(&model.options())?;
    /// assert!(motion.audit().steps > 0);
    /// assert!(motion.audit().invariants.iter().any(|j| j.name == "p_phi" && j.drift < 1e-12));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn audit(&self) -> &Audit {
        self.audit.get_or_init(|| {
            let mut audit = self.inner.audit.clone();
            if let Ok(mechanics) = self.mechanics() {
                audit.invariants = carom_run::invariant_drifts(&mechanics, &self.parameters, &self.inner);
            }
            audit
        })
    }

    /// The mechanics with the parameters this motion was simulated with.
    pub(crate) fn mechanics(&self) -> Result<Mechanics, Error> {
        let mut mechanics = (*self.model().equations()?).clone();
        for (parameter, value) in mechanics.model.parameters.iter_mut().zip(&self.parameters) {
            parameter.value = *value;
        }
        Ok(mechanics)
    }

    /// All of it, for files.
    #[cfg(any(feature = "show", feature = "serde"))]
    pub(crate) fn audited(&self) -> carom_run::Motion {
        carom_run::Motion { audit: self.audit().clone(), ..self.inner.clone() }
    }

    /// The gradient that [`Options::gradient`](crate::Options::gradient) asked for.
    ///
    /// ```
    /// let model = carom::Model::gallery("bouncing_mass")?;
    /// let motion = model.simulate(model.options().gradient("impact.floor.1", "y"))?;
    /// // Thrown up with v from y it hits after (v + √(v² + 2 g y))/g, here v = y = 1: dτ/dy = 1/√(1 + 2 g).
    /// let exact = 1.0 / (1.0_f64 + 2.0 * 9.8).sqrt();
    /// assert!((motion.gradient().unwrap().gradient[0] - exact).abs() < 1e-15);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn gradient(&self) -> Option<&carom_run::Gradient> {
        self.inner.gradient.as_ref()
    }

    /// What a user should know about this result.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?;
    /// assert!(model.simulate(&model.options())?.warnings().is_empty());
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn warnings(&self) -> &[String] {
        &self.inner.warnings
    }

    /// The sample times.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?;
    /// assert_eq!(model.simulate(model.options().until(1.0).samples(3))?.time(), [0.0, 0.5, 1.0]);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn time(&self) -> &[f64] {
        &self.inner.time
    }

    /// A coordinate at the samples.
    ///
    /// # Errors
    /// When there is none of that name.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?;
    /// let motion = model.simulate(&model.options())?;
    /// assert_eq!(motion.position("x")?.len(), 201);
    /// assert!(motion.position("z").is_err());
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn position(&self, coordinate: &str) -> Result<&[f64], Error> {
        signal("coordinate", &self.inner.position, coordinate)
    }

    /// The rate of a coordinate at the samples; `"x"` and `"x'"` are the same here.
    ///
    /// # Errors
    /// When there is no such coordinate.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?;
    /// let motion = model.simulate(&model.options())?;
    /// assert_eq!(motion.velocity("x")?, motion.velocity("x'")?);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn velocity(&self, coordinate: &str) -> Result<&[f64], Error> {
        let bare = coordinate.strip_suffix(['\'', '′', '’']).unwrap_or(coordinate);
        signal("coordinate", &self.inner.velocity, bare)
    }

    /// A momentum at the samples, by its coordinate or its own name.
    ///
    /// # Errors
    /// When there is none of that name.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?;
    /// let motion = model.simulate(&model.options())?;
    /// assert_eq!(motion.momentum("x")?, motion.momentum("p_x")?);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn momentum(&self, name: &str) -> Result<&[f64], Error> {
        let names = self.model.checked().coordinates.iter();
        let place = names.clone().position(|c| {
            c.name == name
                || c.momentum_name == name
                || (c.momentum_name == c.name && name == format!("p_{}", c.name))
        });
        match place.and_then(|i| self.inner.momentum.get(i)) {
            Some(signal) => Ok(&signal.values),
            None => Err(Error::unknown("momentum", name, names.map(|c| c.momentum_name.as_str()))),
        }
    }

    /// E = p·v − L, or H, at the samples.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?;
    /// let motion = model.simulate(&model.options())?;
    /// assert!((motion.hamiltonian()[0] - motion.hamiltonian()[200]).abs() < 1e-14);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn hamiltonian(&self) -> &[f64] {
        &self.inner.hamiltonian
    }

    /// T + V at the samples.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?;
    /// assert_eq!(model.simulate(&model.options())?.energy().len(), 201);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn energy(&self) -> &[f64] {
        &self.inner.energy
    }

    /// The multiplier μ of a constraint row at the samples.
    ///
    /// # Errors
    /// When there is no such row.
    ///
    /// ```
    /// let model = carom::Model::gallery("rolling_disk")?;
    /// let motion = model.simulate(&model.options())?;
    /// assert!(motion.multiplier(model.rows().next().unwrap()).is_ok());
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn multiplier(&self, row: &str) -> Result<&[f64], Error> {
        signal("constraint row", &self.inner.multiplier, row)
    }

    /// The force of a wall that is held closed, at the samples.
    ///
    /// # Errors
    /// When there is no such wall.
    ///
    /// ```
    /// let model = carom::Model::gallery("ball_restitution")?;
    /// let motion = model.simulate(&model.options())?;
    /// assert!(*motion.contact_force("floor")?.last().unwrap() > 0.0);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn contact_force(&self, wall: &str) -> Result<&[f64], Error> {
        signal("wall", &self.inner.contact_force, wall)
    }

    /// The gap of a wall at the samples.
    ///
    /// # Errors
    /// When there is no such wall.
    ///
    /// ```
    /// let model = carom::Model::gallery("bouncing_mass")?;
    /// assert!(model.simulate(&model.options())?.gap("floor")?.iter().all(|gap| *gap > -1e-14));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn gap(&self, wall: &str) -> Result<&[f64], Error> {
        signal("wall", &self.inner.gap, wall)
    }

    /// The force that drives a driven coordinate, at the samples.
    ///
    /// # Errors
    /// When no such coordinate is driven.
    ///
    /// ```
    /// let model = carom::Model::gallery("driven_double_pendulum")?;
    /// let motion = model.simulate(&model.options())?;
    /// assert!(motion.driving_force("theta1").is_ok());
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn driving_force(&self, coordinate: &str) -> Result<&[f64], Error> {
        signal("driven coordinate", &self.inner.driving_force, coordinate)
    }

    /// An extra signal at the samples.
    ///
    /// # Errors
    /// When there is none of that name.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?.to_builder().output("double", "2*x").build()?;
    /// let motion = model.simulate(&model.options())?;
    /// assert_eq!(motion.output("double")?[0], 2.0 * motion.position("x")?[0]);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn output(&self, name: &str) -> Result<&[f64], Error> {
        signal("output", &self.inner.output, name)
    }

    /// Any sampled quantity by the name of its column: `time`, `x`, `x'`, `p_x`, `hamiltonian`, `energy`, `mu.ROW`, `f.WALL`,
    /// `drive.COORDINATE`, `gap.WALL` or an output.
    ///
    /// # Errors
    /// When there is none of that name.
    ///
    /// ```
    /// let model = carom::Model::gallery("double_pendulum_wall")?;
    /// let motion = model.simulate(&model.options())?;
    /// assert_eq!(motion.get("theta1'")?, motion.velocity("theta1")?);
    /// assert_eq!(motion.get("gap.left")?, motion.gap("left")?);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn get(&self, column: &str) -> Result<&[f64], Error> {
        let columns = self.columns();
        match columns.iter().find(|(name, _)| name == column) {
            Some((_, values)) => Ok(values),
            None => Err(Error::unknown("column", column, columns.iter().map(|(name, _)| name.as_str()))),
        }
    }

    /// Every sampled quantity with the name of its column, in the order tables have.
    ///
    /// ```
    /// let model = carom::Model::gallery("bouncing_mass")?;
    /// let motion = model.simulate(&model.options())?;
    /// let names: Vec<_> = motion.columns().into_iter().map(|(name, _)| name).collect();
    /// assert_eq!(names[..3], ["time", "x", "y"]);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn columns(&self) -> Vec<(String, &[f64])> {
        let names = self.catalog.columns();
        names.into_iter().zip(parts(&self.inner).into_iter().map(|values| &values[..])).collect()
    }

    /// The same, giving the values away without a copy.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?;
    /// let columns: Vec<(String, Vec<f64>)> = model.simulate(&model.options())?.into_columns();
    /// assert_eq!(columns[1].0, "x");
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn into_columns(mut self) -> Vec<(String, Vec<f64>)> {
        let names = self.catalog.columns();
        let motion = &mut self.inner;
        let mut all = vec![std::mem::take(&mut motion.time)];
        let mut each = |signals: &mut Vec<Signal>| all.extend(signals.drain(..).map(|signal| signal.values));
        each(&mut motion.position);
        each(&mut motion.velocity);
        each(&mut motion.momentum);
        all.push(std::mem::take(&mut motion.hamiltonian));
        all.push(std::mem::take(&mut motion.energy));
        let mut each = |signals: &mut Vec<Signal>| all.extend(signals.drain(..).map(|signal| signal.values));
        each(&mut motion.multiplier);
        each(&mut motion.contact_force);
        each(&mut motion.driving_force);
        each(&mut motion.gap);
        each(&mut motion.output);
        names.into_iter().zip(all).collect()
    }

    /// Where it ended, which need not be a sample: a coordinate `x`, a velocity `x'` or an output.
    ///
    /// # Errors
    /// When there is none of that name.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?;
    /// let motion = model.simulate(&model.options())?;
    /// assert_eq!(motion.end("x")?, *motion.position("x")?.last().unwrap());
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn end(&self, name: &str) -> Result<f64, Error> {
        let (model, end) = (self.model.checked(), &self.inner.end);
        let coordinate = |name: &str| model.coordinates.iter().position(|c| c.name == name);
        let found = match name.strip_suffix(['\'', '′', '’']) {
            Some(bare) => coordinate(bare).and_then(|i| end.velocity.get(i)),
            None => coordinate(name).and_then(|i| end.position.get(i)).or_else(|| {
                model.outputs.iter().position(|o| o.name == name).and_then(|i| end.output.get(i))
            }),
        };
        found.copied().ok_or_else(|| {
            let names = model.coordinates.iter().map(|c| c.name.as_str());
            Error::unknown("quantity", name, names.chain(model.outputs.iter().map(|o| o.name.as_str())))
        })
    }

    /// The impacts in order of time.
    ///
    /// ```
    /// let model = carom::Model::gallery("bouncing_mass")?;
    /// let motion = model.simulate(&model.options())?;
    /// assert!(motion.impacts().all(|impact| impact.impulse("floor").unwrap() > 0.0));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn impacts(&self) -> impl ExactSizeIterator<Item = Impact<'_>> {
        self.inner.impacts.iter().map(|record| Impact { names: &self.inner.names, record })
    }

    /// The contacts in order of their start.
    ///
    /// ```
    /// let model = carom::Model::gallery("ball_restitution")?;
    /// assert!(model.simulate(&model.options())?.contacts().next().unwrap().zeno());
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn contacts(&self) -> impl ExactSizeIterator<Item = Contact<'_>> {
        self.inner.contacts.iter().map(|record| Contact { names: &self.inner.names, record })
    }

    /// Walls touched without impulse.
    ///
    /// ```
    /// let model = carom::Model::gallery("bouncing_mass")?;
    /// assert_eq!(model.simulate(&model.options())?.grazes().len(), 0);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn grazes(&self) -> impl ExactSizeIterator<Item = Graze<'_>> {
        self.inner.grazes.iter().map(|record| Graze { names: &self.inner.names, record })
    }

    /// User events that fired.
    ///
    /// ```
    /// let model = carom::Model::gallery("compass_gait")?;
    /// assert!(model.simulate(&model.options())?.events().all(|event| event.name() == "heelstrike"));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn events(&self) -> impl ExactSizeIterator<Item = EventRecord<'_>> {
        self.inner.events.iter().map(|record| EventRecord { names: &self.inner.names, record })
    }

    /// Everything at any time of the motion, to the accuracy of its steps: at the time of a sample the sample itself, at a
    /// jump the state after. Needs [`Options::dense`](crate::Options::dense).
    ///
    /// # Errors
    /// When the motion was not asked to be dense, or the time is outside of it.
    ///
    /// ```
    /// let model = carom::Model::gallery("double_pendulum_wall")?;
    /// let motion = model.simulate(model.options().dense(true))?;
    /// let state = motion.at(std::f64::consts::PI)?;
    /// println!("{state}");
    /// assert!(state.position("theta1")?.abs() < 10.0);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn at(&self, time: f64) -> Result<State, Error> {
        self.at_side(time, Side::After)
    }

    /// As [`Motion::at`], on this side of a jump.
    ///
    /// # Errors
    /// As [`Motion::at`].
    ///
    /// ```
    /// use carom::Side;
    /// let model = carom::Model::gallery("bouncing_mass")?;
    /// let motion = model.simulate(model.options().dense(true))?;
    /// let hit = motion.impacts().next().unwrap();
    /// let before = motion.at_side(hit.time(), Side::Before)?.velocity("y")?;
    /// let after = motion.at_side(hit.time(), Side::After)?.velocity("y")?;
    /// assert!(before < 0.0 && after == hit.velocity_after("y")?);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn at_side(&self, time: f64, side: Side) -> Result<State, Error> {
        let Some(dense) = &self.inner.dense else {
            let hint = "simulate with options.dense(true), or sample at these times: options.at([…])";
            return Err(Error::request("this motion kept only its samples", hint));
        };
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let reader = reader.get_or_insert_with(|| OwnedSimulator::of(Arc::clone(&self.program)));
        match reader.with_dependent_mut(|_, run| run.read(dense, time, side)) {
            Some(values) => Ok(State::new(Arc::clone(&self.catalog), time, values)),
            None => {
                let (from, until) = dense.span();
                Err(Error::request(
                    format!("t = {time} is not within the motion"),
                    format!("it lasts from t = {from} to t = {until}"),
                ))
            }
        }
    }
}

fn signal<'a>(what: &str, signals: &'a [Signal], name: &str) -> Result<&'a [f64], Error> {
    match signals.iter().find(|signal| signal.name == name) {
        Some(signal) => Ok(&signal.values),
        None => Err(Error::unknown(what, name, signals.iter().map(|signal| signal.name.as_str()))),
    }
}

/// All sampled quantities in the order of [`SampleNames::columns`].
fn parts(motion: &carom_run::Motion) -> Vec<&Vec<f64>> {
    fn each(signals: &[Signal]) -> impl Iterator<Item = &Vec<f64>> {
        signals.iter().map(|signal| &signal.values)
    }
    let mut all = vec![&motion.time];
    all.extend(each(&motion.position).chain(each(&motion.velocity)).chain(each(&motion.momentum)));
    all.extend([&motion.hamiltonian, &motion.energy]);
    all.extend(
        each(&motion.multiplier).chain(each(&motion.contact_force)).chain(each(&motion.driving_force)),
    );
    all.extend(each(&motion.gap).chain(each(&motion.output)));
    all
}

impl Clone for Motion {
    fn clone(&self) -> Motion {
        Motion::new(self.model.clone(), &self.program, self.inner.clone(), self.parameters.clone())
    }
}

impl fmt::Debug for Motion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Motion")
            .field("model", &self.model.name())
            .field("stop", self.stop())
            .field("samples", &self.time().len())
            .field("impacts", &self.inner.impacts.len())
            .finish_non_exhaustive()
    }
}

/// The JSON of `carom run --json`.
#[cfg(feature = "serde")]
impl serde::Serialize for Motion {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.audited().serialize(serializer)
    }
}
