//! What other doors of this workspace need of the rooms behind the surface. Not part of the surface: it may change with any
//! version.

use crate::{Error, Model, Motion};
use carom_mech::{Draft, Mechanics};
use std::sync::Arc;

/// A model from text, with the tables it reads.
///
/// # Errors
/// Everything that is wrong with it.
pub fn model(text: &str, file: &str, tables: Vec<(String, String)>) -> Result<Model, Error> {
    Model::parse(text, file, tables)
}

/// What its text says.
pub fn draft(model: &Model) -> &Draft {
    model.draft()
}

/// The checked model.
pub fn checked(model: &Model) -> &carom_mech::Model {
    model.checked()
}

/// The mechanics with closed forms, for reports.
///
/// # Errors
/// When there are no equations of motion.
pub fn derived(model: &Model) -> Result<Arc<Mechanics>, Error> {
    model.derived()
}

/// The equations of motion.
///
/// # Errors
/// When there are none.
pub fn equations(model: &Model) -> Result<Arc<Mechanics>, Error> {
    model.equations()
}

/// The equations of motion, with the parameters a motion was simulated with.
///
/// # Errors
/// When there are none.
pub fn mechanics(motion: &Motion) -> Result<Mechanics, Error> {
    motion.mechanics()
}

/// The motion as `carom-run` has it.
pub fn motion(motion: &Motion) -> &carom_run::Motion {
    &motion.inner
}
