//! What other doors of this workspace need of the rooms behind the surface. Not part of the surface: it may change with any
//! version.

use crate::{Error, Model, Motion, Options, Simulator};
use carom_mech::{Draft, Mechanics};
use std::sync::Arc;

/// A model from text, with the tables it reads.
///
/// # Errors
/// Everything that is wrong with it.
///
/// ```
/// let tables = vec![("u.csv".to_owned(), "t,u\n0,0\n1,2".to_owned())];
/// let text = "coordinates = [\"x\"]\nlagrangian = \"x'^2/2\"\n[input]\nu = { file = \"u.csv\" }\n[force.f]\ngeneralized = { x = \"u\" }";
/// assert!(carom::doors::model(text, "m.toml", tables).is_ok());
/// ```
pub fn model(text: &str, file: &str, tables: Vec<(String, String)>) -> Result<Model, Error> {
    Model::parse(text, file, tables)
}

/// A model from what its text says, options applied.
///
/// # Errors
/// Everything that is wrong with it.
///
/// ```
/// let mut draft = carom::doors::draft(&carom::Model::gallery("quartic")?).clone();
/// let name = draft.add_output("--gradient", "x^2");
/// assert!(carom::doors::of_draft(draft)?.outputs().any(|output| output == name));
/// # Ok::<(), carom::Error>(())
/// ```
pub fn of_draft(draft: Draft) -> Result<Model, Error> {
    Model::check(draft, Vec::new())
}

/// Simulates with more to say about how than [`Options`] have words for: `more` hears of the mechanics and changes what is asked.
///
/// # Errors
/// As [`Simulator::simulate_with`], and what `more` refuses, in a sentence.
///
/// ```
/// let model = carom::Model::gallery("quartic")?;
/// let ask = |mechanics: &carom_mech::Mechanics, options: &mut carom_run::Options| {
///     options.directions = carom_run::Direction::named("x", mechanics)?;
///     Ok(())
/// };
/// let motion = carom::doors::simulate(&mut model.simulator()?, &model.options(), ask, |_| true)?;
/// assert!(motion.to_json().contains("\"sensitivity\""));
/// # Ok::<(), carom::Error>(())
/// ```
pub fn simulate(
    simulator: &mut Simulator,
    options: &Options,
    more: impl FnOnce(&Mechanics, &mut carom_run::Options) -> Result<(), String>,
    tell: impl FnMut(&carom_run::Progress) -> bool,
) -> Result<Motion, Error> {
    simulator.simulate_as(options, more, tell)
}

/// What its text says.
///
/// ```
/// let model = carom::Model::gallery("quartic")?;
/// assert_eq!(carom::doors::draft(&model).coordinates[0].text, "x");
/// # Ok::<(), carom::Error>(())
/// ```
pub fn draft(model: &Model) -> &Draft {
    model.draft()
}

/// The checked model.
///
/// ```
/// let model = carom::Model::gallery("quartic")?;
/// assert_eq!(carom::doors::checked(&model).coordinates[0].name, "x");
/// # Ok::<(), carom::Error>(())
/// ```
pub fn checked(model: &Model) -> &carom_mech::Model {
    model.checked()
}

/// The mechanics with closed forms, for reports.
///
/// # Errors
/// When there are no equations of motion.
///
/// ```
/// let model = carom::Model::gallery("quartic")?;
/// assert!(carom::doors::derived(&model)?.forms.accelerations.is_some());
/// # Ok::<(), carom::Error>(())
/// ```
pub fn derived(model: &Model) -> Result<Arc<Mechanics>, Error> {
    model.derived()
}

/// The equations of motion.
///
/// # Errors
/// When there are none.
///
/// ```
/// let model = carom::Model::gallery("quartic")?;
/// assert_eq!(carom::doors::equations(&model)?.free, [0, 1]);
/// # Ok::<(), carom::Error>(())
/// ```
pub fn equations(model: &Model) -> Result<Arc<Mechanics>, Error> {
    model.equations()
}

/// The equations of motion, with the parameters a motion was simulated with.
///
/// # Errors
/// When there are none.
///
/// ```
/// let model = carom::Model::gallery("double_pendulum")?;
/// let motion = model.simulate(model.options().set("g", 1.62)?)?;
/// assert!(carom::doors::mechanics(&motion)?.model.parameters.iter().any(|p| p.value == 1.62));
/// # Ok::<(), carom::Error>(())
/// ```
pub fn mechanics(motion: &Motion) -> Result<Mechanics, Error> {
    motion.mechanics()
}

/// The motion as `carom-run` has it.
///
/// ```
/// let model = carom::Model::gallery("quartic")?;
/// let motion = model.simulate(&model.options())?;
/// assert_eq!(carom::doors::motion(&motion).time, motion.time());
/// # Ok::<(), carom::Error>(())
/// ```
pub fn motion(motion: &Motion) -> &carom_run::Motion {
    &motion.inner
}
