//! Lagrangian mechanics with impacts.

pub mod gallery;

pub use carom_expr as expr;
pub use carom_mech as mech;
pub use carom_run as run;
pub use carom_show as show;

pub use carom_mech::{Diagnostic, Draft, Dynamics, Mechanics, Model, Physics, derive};
pub use carom_run::{
    Motion, Options, Program, Progress, Sampling, SimulateError, StopReason, simulate, simulate_with,
};
