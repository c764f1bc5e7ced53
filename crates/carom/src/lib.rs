//! Lagrangian mechanics with impacts: from the description of a mechanical system to its equations, and from its
//! equations to motion.
//!
//! The way goes through five types, each made only by the stage before:
//! [`Draft`] (what a model file says) → [`Model`] (checked) → [`Mechanics`] (derived: equations of motion, constraint
//! rows, impact laws) → [`Program`] (compiled) → [`Motion`] (samples, impacts, contacts, events, why it ended, and an
//! audit of how well the laws were kept).
//!
//! ```
//! use carom::{Draft, Options, Program, derive, simulate};
//!
//! let text = r#"
//! coordinates = ["x", "y"]
//! gravity     = [0.0, "-g"]
//!
//! [parameters]
//! m = 1.0
//! g = 9.8
//!
//! [body.ball]
//! mass = "m"
//! at   = ["x", "y"]
//!
//! [wall.floor]
//! gap = "y"
//!
//! [start]
//! position = { y = 1.0 }
//! velocity = { y = 1.0 }
//!
//! [run]
//! until = 5.0
//! "#;
//! let (draft, problems) = Draft::parse(text, "ball.toml");
//! assert!(problems.is_empty());
//! let (model, _warnings) = draft.check().expect("a valid model");
//! let options = Options::of(&model);
//! let mechanics = derive(model).expect("its equations");
//! let program = Program::compile(&mechanics).expect("a program");
//! let motion = simulate(&program, &options).expect("a motion");
//!
//! // y = 1 + t − 4.9 t² reaches the floor at (1 + √20.6)/9.8, with the speed √20.6 reversed there.
//! let first = &motion.impacts[0];
//! assert!((first.time - (1.0 + 20.6_f64.sqrt()) / 9.8).abs() < 1e-15);
//! assert!((first.impulse[0] - 2.0 * 20.6_f64.sqrt()).abs() < 1e-14);
//! assert!(motion.audit.hamiltonian_drift < 1e-14);
//! ```
//!
//! Errors are [`Diagnostic`]s with a place in the model file, a sentence and a way out, all of them at once. Ending early
//! is a result, not an error: see [`Motion::stop`](carom_run::Motion::stop).
//!
//! # The rooms
//!
//! * [`expr`]: expressions: parse, differentiate, simplify, evaluate, print.
//! * [`mech`]: model files, checking, derivation. Symbolic: no state value, no time step.
//! * [`run`]: programs and motion: Taylor steps, root isolation, impacts, contact, ensembles.
//! * [`show`]: derivation reports, plots, animations, tables. Data in, bytes out.
//! * [`gallery`]: models that come with carom.
//!
//! # What it does not do
//!
//! Friction, deformable bodies, collision geometry: a wall is a formula.

pub mod gallery;

pub use carom_expr as expr;
pub use carom_mech as mech;
pub use carom_run as run;
pub use carom_show as show;

pub use carom_mech::{Diagnostic, Draft, Dynamics, Mechanics, Model, Physics, derive, derive_equations};
pub use carom_run::{
    Motion, Options, Program, Progress, Sampling, SimulateError, Simulator, StopReason, check_start,
    simulate, simulate_with,
};
