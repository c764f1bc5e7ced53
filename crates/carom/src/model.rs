//! A checked model and everything that is made of it once: equations, program.

use crate::error::ErrorKind;
use crate::motion::Motion;
use crate::options::Options;
use crate::simulator::Simulator;
use crate::{Error, ModelBuilder, gallery};
use carom_mech::{Diagnostic, Draft, Mechanics, diagnostic};
use carom_run::{Incremental, Program, Varied};
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A mechanical system: read from a model file or made by [`Model::builder`], checked in either case.
///
/// Equations and program are made when first needed and kept; a clone shares them.
///
/// ```
/// use carom::Model;
/// let model = Model::gallery("double_pendulum_wall")?;
/// let motion = model.simulate(&model.options())?;
/// assert_eq!(motion.impacts().next().unwrap().walls().collect::<Vec<_>>(), ["left"]);
/// # Ok::<(), carom::Error>(())
/// ```
#[derive(Clone)]
pub struct Model {
    inner: Arc<ModelInner>,
}

/// Names that were set, and what follows from their numbers, where that is known.
type LastSet = Option<(Vec<Varied>, Option<Arc<Incremental>>)>;

struct ModelInner {
    draft: Draft,
    checked: carom_mech::Model,
    warnings: Vec<Diagnostic>,
    /// What follows from the numbers that were set last.
    incremental: Mutex<LastSet>,
    equations: OnceLock<Result<Arc<Mechanics>, Error>>,
    program: OnceLock<Result<Arc<Program>, Error>>,
    #[cfg(feature = "show")]
    derived: OnceLock<Result<Arc<Mechanics>, Error>>,
}

impl Model {
    /// Begins a model without a file.
    ///
    /// ```
    /// use carom::Model;
    /// let model = Model::builder().coordinates(["x"]).lagrangian("x'^2/2 - x^2/2").start("x", 1.0).build()?;
    /// assert_eq!(Model::from_toml(&model.to_toml())?.to_toml(), model.to_toml());
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn builder() -> ModelBuilder {
        ModelBuilder::default()
    }

    /// Reads a model from the text of a model file. Tables it refers to are looked for in the current folder.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    ///
    /// ```
    /// let model = carom::Model::from_toml("coordinates = [\"x\"]\nlagrangian = \"x'^2/2 - x^2/2\"")?;
    /// assert_eq!(model.name(), "model");
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn from_toml(text: &str) -> Result<Model, Error> {
        Model::parse(text, "model.toml", Vec::new())
    }

    /// Reads a model file; tables it refers to are looked for beside it.
    ///
    /// # Errors
    /// When it cannot be read, or everything that is wrong with it.
    ///
    /// ```
    /// let file = std::env::temp_dir().join(format!("carom-{}.toml", std::process::id()));
    /// std::fs::write(&file, carom::gallery::find("quartic").unwrap().text).unwrap();
    /// assert_eq!(carom::Model::read(&file)?.coordinates().next(), Some("x"));
    /// # std::fs::remove_file(&file).unwrap();
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn read(path: impl AsRef<Path>) -> Result<Model, Error> {
        let path = path.as_ref();
        let (draft, problems) =
            Draft::read(path).map_err(|cause| Error::file(&path.display().to_string(), cause))?;
        Model::check(draft, problems)
    }

    /// A model of the [`gallery`].
    ///
    /// # Errors
    /// When there is none of that name.
    ///
    /// ```
    /// assert!(carom::Model::gallery("jack_in_box").is_ok());
    /// assert!(carom::Model::gallery("jack_in_a_box").unwrap_err().to_string().contains("did you mean `jack_in_box`?"));
    /// ```
    pub fn gallery(name: &str) -> Result<Model, Error> {
        match gallery::find(name) {
            Some(entry) => Model::parse(entry.text, &format!("{name}.toml"), Vec::new()),
            None => {
                let names = gallery::all().iter().map(|entry| entry.name);
                Err(Error::unknown("gallery model", name, names))
            }
        }
    }

    pub(crate) fn parse(text: &str, file: &str, tables: Vec<(String, String)>) -> Result<Model, Error> {
        let (mut draft, problems) = Draft::parse(text, file);
        draft.tables = tables;
        Model::check(draft, problems)
    }

    pub(crate) fn check(mut draft: Draft, mut problems: Vec<Diagnostic>) -> Result<Model, Error> {
        draft.gather_tables();
        match draft.check() {
            Ok((checked, warnings)) => {
                problems.extend(warnings);
                diagnostic::tidy(&mut problems);
                let inner = ModelInner {
                    draft,
                    checked,
                    warnings: problems,
                    incremental: Mutex::default(),
                    equations: OnceLock::new(),
                    program: OnceLock::new(),
                    #[cfg(feature = "show")]
                    derived: OnceLock::new(),
                };
                Ok(Model { inner: Arc::new(inner) })
            }
            Err(more) => {
                problems.extend(more);
                Err(Error::new(ErrorKind::Model, &draft.file, problems))
            }
        }
    }

    /// The title, or the file's name.
    ///
    /// ```
    /// assert_eq!(carom::Model::gallery("newtons_cradle")?.name(), "Newton's cradle");
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn name(&self) -> &str {
        &self.inner.checked.name
    }

    /// The coordinates in model order, driven ones included.
    ///
    /// ```
    /// let model = carom::Model::gallery("double_pendulum")?;
    /// assert_eq!(model.coordinates().collect::<Vec<_>>(), ["theta1", "theta2"]);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn coordinates(&self) -> impl Iterator<Item = &str> {
        self.inner.checked.coordinates.iter().map(|c| c.name.as_str())
    }

    /// The parameters and their values.
    ///
    /// ```
    /// let model = carom::Model::gallery("double_pendulum")?;
    /// assert!(model.parameters().any(|(name, value)| name == "g" && value == 9.81));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn parameters(&self) -> impl Iterator<Item = (&str, f64)> {
        self.inner.checked.parameters.iter().map(|p| (p.name.as_str(), p.value))
    }

    /// The walls.
    ///
    /// ```
    /// assert_eq!(carom::Model::gallery("bouncing_mass")?.walls().collect::<Vec<_>>(), ["floor"]);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn walls(&self) -> impl Iterator<Item = &str> {
        self.inner.checked.walls.iter().map(|w| w.name.as_str())
    }

    /// The constraint rows: holonomic ones first.
    ///
    /// ```
    /// assert_eq!(carom::Model::gallery("rolling_disk")?.rows().count(), 2);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn rows(&self) -> impl Iterator<Item = &str> {
        self.inner.checked.rows.iter().map(|r| r.name.as_str())
    }

    /// The events.
    ///
    /// ```
    /// assert_eq!(carom::Model::gallery("compass_gait")?.events().collect::<Vec<_>>(), ["heelstrike"]);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn events(&self) -> impl Iterator<Item = &str> {
        self.inner.checked.events.iter().map(|e| e.name.as_str())
    }

    /// The extra signals.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?.to_builder().output("cube", "x^3").build()?;
    /// assert!(model.outputs().any(|name| name == "cube"));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn outputs(&self) -> impl Iterator<Item = &str> {
        self.inner.checked.outputs.iter().map(|o| o.name.as_str())
    }

    /// The tables that the model reads, as text, by the name the model file has for them. They are read once.
    ///
    /// ```
    /// assert_eq!(carom::Model::gallery("quartic")?.tables().count(), 0);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn tables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.inner.draft.tables.iter().map(|(file, text)| (file.as_str(), text.as_str()))
    }

    /// What its author should know.
    ///
    /// ```
    /// let model = carom::Model::from_toml("coordinates = [\"x\"]\nlagrangian = \"e*x'^2/2\"\n[parameters]\ne = 2.0")?;
    /// assert_eq!(model.warnings().len(), 1);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.inner.warnings
    }

    /// The model as a model file, which reads back as the same model.
    ///
    /// ```
    /// use carom::Model;
    /// let model = Model::gallery("jack_in_box")?;
    /// assert_eq!(Model::from_toml(&model.to_toml())?.to_toml(), model.to_toml());
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn to_toml(&self) -> String {
        self.inner.draft.to_toml()
    }

    /// The model as a builder, to change it.
    ///
    /// ```
    /// let model = carom::Model::gallery("double_pendulum")?.to_builder().wall("left", "l1*sin(theta1) + 1/2").build()?;
    /// assert_eq!(model.walls().collect::<Vec<_>>(), ["left"]);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn to_builder(&self) -> ModelBuilder {
        ModelBuilder::of(&self.inner.draft)
    }

    /// How to simulate it, as the model says; change what differs.
    ///
    /// ```
    /// let model = carom::Model::gallery("double_pendulum")?;
    /// let mut options = model.options();
    /// options.set("g", 1.62)?.set("theta1'", 2.0)?.until(5.0);
    /// assert_eq!(model.simulate(&options)?.stop().time, 5.0);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn options(&self) -> Options {
        Options::new(self.clone())
    }

    /// Simulates it. For many simulations use a [`Simulator`].
    ///
    /// # Errors
    /// When there are no equations of motion, or nothing can be simulated from this start.
    ///
    /// ```
    /// let model = carom::Model::gallery("bouncing_mass")?;
    /// let motion = model.simulate(&model.options())?;
    /// assert!(motion.stop().reason.is_complete());
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn simulate(&self, options: &Options) -> Result<Motion, Error> {
        self.simulator()?.simulate(options)
    }

    /// Workspaces for many simulations.
    ///
    /// # Errors
    /// When there are no equations of motion.
    ///
    /// ```
    /// let model = carom::Model::gallery("double_pendulum")?;
    /// let mut simulator = model.simulator()?;
    /// let mut options = model.options();
    /// for g in [9.81, 3.73, 1.62] {
    ///     options.set("g", g)?;
    ///     assert!(simulator.simulate(&options)?.audit().hamiltonian_drift < 1e-12);
    /// }
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn simulator(&self) -> Result<Simulator, Error> {
        Ok(Simulator::new(self.clone(), self.program()?))
    }

    pub(crate) fn draft(&self) -> &Draft {
        &self.inner.draft
    }

    pub(crate) fn checked(&self) -> &carom_mech::Model {
        &self.inner.checked
    }

    /// What follows when these numbers are set; `None` where the model must be checked again.
    pub(crate) fn incremental(&self, varied: &[Varied]) -> Option<Arc<Incremental>> {
        let mut known = self.inner.incremental.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some((last, follows)) if last == varied => follows.clone(),
            _ => {
                let follows = Incremental::new(self.checked(), self.draft(), varied).map(Arc::new);
                *known = Some((varied.to_vec(), follows.clone()));
                follows
            }
        }
    }

    pub(crate) fn file(&self) -> &str {
        &self.inner.draft.file
    }

    pub(crate) fn is(&self, other: &Model) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    pub(crate) fn equations(&self) -> Result<Arc<Mechanics>, Error> {
        let make = || carom_mech::derive_equations(self.checked().clone());
        let made = self.inner.equations.get_or_init(|| self.derived_by(make));
        made.clone()
    }

    /// Equations with closed forms, for reports.
    #[cfg(feature = "show")]
    pub(crate) fn derived(&self) -> Result<Arc<Mechanics>, Error> {
        let make = || carom_mech::derive(self.checked().clone());
        self.inner.derived.get_or_init(|| self.derived_by(make)).clone()
    }

    fn derived_by(
        &self,
        make: impl FnOnce() -> Result<Mechanics, Vec<Diagnostic>>,
    ) -> Result<Arc<Mechanics>, Error> {
        make().map(Arc::new).map_err(|problems| {
            let problems = problems.into_iter().map(|problem| self.draft().locate(problem)).collect();
            Error::new(ErrorKind::Model, self.file(), problems)
        })
    }

    fn program(&self) -> Result<Arc<Program>, Error> {
        let make = || {
            let mechanics = self.equations()?;
            Program::compile(&mechanics).map(Arc::new).map_err(|error| {
                Error::new(ErrorKind::Model, self.file(), vec![Diagnostic::error(error.to_string())])
            })
        };
        self.inner.program.get_or_init(make).clone()
    }
}

impl FromStr for Model {
    type Err = Error;

    fn from_str(text: &str) -> Result<Model, Error> {
        Model::from_toml(text)
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model")
            .field("name", &self.name())
            .field("coordinates", &self.coordinates().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
