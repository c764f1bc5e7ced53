//! From a model file to its derived mechanics, all symbolic: no state value, no time step.
//!
//! [`Draft`](draft) (what the file says) → [`Model`] (checked, every formula an expression) → [`Mechanics`]
//! (equations of motion, constraint rows, impact laws).

mod degenerate;
mod derive;
pub mod diagnostic;
mod eliminate;
mod frame;
mod hamiltonian;
mod lagrangian;
pub mod mechanics;
pub mod model;
mod numeric;
mod sample;
mod walls;

pub use derive::derive;
pub use diagnostic::{Diagnostic, Place, Severity};
pub use mechanics::*;
pub use model::*;
