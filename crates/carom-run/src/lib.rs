//! Mechanics → program → motion.

mod contact;
pub mod engine;
mod events;
mod frame;
mod impact;
pub mod input;
pub mod law;
pub mod lcp;
pub mod linear;
mod momentum;
pub mod motion;
pub mod options;
mod program;
mod project;
mod rewrite;
pub mod roots;
mod run;
mod sample;
mod sensitivity;
mod simulate;
mod squeeze;
mod start;
pub mod switching;
mod zeno;

pub use motion::*;
pub use options::{Options, Progress, Sampling, SimulateError};
pub use program::Program;
pub use simulate::{simulate, simulate_with};
