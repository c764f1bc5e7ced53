//! From a model file to its derived mechanics, all symbolic: no state value, no time step.
//!
//! [`Draft`](draft) (what the file says) → [`Model`] (checked, every formula an expression) → [`Mechanics`]
//! (equations of motion, constraint rows, impact laws).

#![allow(clippy::needless_range_loop)] // matrices are indexed by row and column

mod augmentation;
mod check;
mod degenerate;
mod derive;
pub mod diagnostic;
pub mod draft;
mod eliminate;
mod forms;
mod hamiltonian;
pub mod invariants;
mod lagrangian;
mod legendre;
mod linearise;
pub mod mechanics;
pub mod mistakes;
pub mod model;
mod provenance;
mod redundant;
pub mod reference;
mod routh;
mod sample;
pub mod schema;
mod state;
mod symbols;
pub mod units;
mod walls;

pub use check::{load, not_a_name};
pub use derive::{derive, derive_equations};
pub use diagnostic::{Diagnostic, Place, Severity};
pub use draft::Draft;
pub use invariants::{Invariant, Invariants, invariants, invariants_in};
pub use linearise::{Linearisation, StateSpace, linearise, state_space};
pub use mechanics::*;
pub use model::*;
pub use provenance::{Provenance, sha256};
pub use redundant::redundancies;
pub use routh::{Routh, routh};
pub use state::StateValues;
