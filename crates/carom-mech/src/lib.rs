//! From a model file to its derived mechanics, all symbolic: no state value, no time step.
//!
//! [`Draft`](draft) (what the file says) → [`Model`] (checked, every formula an expression) → [`Mechanics`]
//! (equations of motion, constraint rows, impact laws).

pub mod diagnostic;
pub mod mechanics;
pub mod model;

pub use diagnostic::{Diagnostic, Place, Severity};
pub use mechanics::*;
pub use model::*;
