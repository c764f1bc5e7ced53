//! Lagrangian mechanics with impacts: from the description of a mechanical system to its equations, and from its
//! equations to motion.
//!
//! ```
//! fn main() -> Result<(), carom::Error> {
//!     let model = carom::Model::builder()
//!         .coordinates(["theta1", "theta2"])
//!         .kinetic("theta1'^2 + theta2'^2/2 + theta1'*theta2'*cos(theta1 - theta2)")
//!         .potential("-9.81*(2*cos(theta1) + cos(theta2))")
//!         .wall("left", "sin(theta1) + sin(theta2) + 1/2")
//!         .start("theta1", "3*pi/7")
//!         .start("theta2", "3*pi/4")
//!         .build()?;
//!     let motion = model.simulate(model.options().dense(true))?;
//!     println!("{}", motion.impacts().next().expect("it hits the wall"));
//!     println!("{}", motion.at(std::f64::consts::PI)?);
//! #   let first = motion.impacts().next().unwrap();
//! #   assert_eq!(first.walls().collect::<Vec<_>>(), ["left"]);
//! #   let x2 = first.position("theta1")?.sin() + first.position("theta2")?.sin();
//! #   assert!((x2 + 0.5).abs() < 1e-14 && motion.audit().hamiltonian_drift < 1e-12);
//!     Ok(())
//! }
//! ```
//!
//! * [`Model`] is the primary type: read from a model file ([`Model::from_toml`], [`Model::read`]), taken from the
//!   [`gallery`], or made by a [`ModelBuilder`] from text and [`Formula`]s. Whichever way, it is checked, and prints as a model
//!   file ([`Model::to_toml`]).
//! * [`Options`] say how to simulate, by name: `options.set("g", 1.62)?`.
//! * [`Motion`] is what came of it: samples by name, [`Impact`]s that know their walls, contacts, events, why it stopped
//!   ([`Stop`]), how well the laws were kept ([`Audit`]), and with [`Options::dense`] the [`State`] at any time.
//! * [`Simulator`] simulates one model again and again in the same workspaces, on whatever thread.
//! * [`Error`] is the only error, `?` works from text to motion. It carries [`Diagnostic`]s with a place in the model file,
//!   a sentence and a way out, all of them at once. Ending early is a result, not an error.
//!
//! Everything is `Send` and `Sync`, and the same input gives the same bits.
//!
//! # Features
//!
//! * `show` (default): derivation reports ([`Model::report`]), plots, animation pages, JSON and CSV.
//! * `tables` (default): Parquet.
//! * `serde`: [`Motion`] implements `serde::Serialize`; the JSON of the command line is that serialisation.
//!
//! # What it does not do
//!
//! Friction, deformable bodies, collision geometry: a wall is a formula.

/// The chapter of the book: its programs run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/book/src/rust.md")]
mod chapter {}

mod builder;
#[cfg(feature = "show")]
#[doc(hidden)]
pub mod doors;
mod elements;
mod error;
pub mod formula;
pub mod gallery;
mod model;
mod motion;
mod options;
mod records;
#[cfg(feature = "show")]
mod show;
mod simulator;
mod state;

pub use builder::ModelBuilder;
pub use carom_mech::{Diagnostic, Place, Severity};
pub use carom_run::{
    Audit, Gradient, NotDifferentiable, Obstacle, Progress, Side, Stop, StopReason, Verdict,
};
pub use elements::{Body, Event, Force, Wall};
pub use error::Error;
pub use formula::Formula;
pub use model::Model;
pub use motion::Motion;
pub use options::Options;
pub use records::{Contact, EventRecord, Graze, Impact};
#[cfg(feature = "show")]
pub use show::Format;
pub use simulator::Simulator;
pub use state::State;
