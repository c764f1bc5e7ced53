//! Mechanics → program → motion.

pub mod engine;
pub mod input;
pub mod law;
pub mod lcp;
pub mod linear;
pub mod motion;
pub mod options;
pub mod roots;
pub mod switching;

pub use motion::*;
pub use options::{Options, Progress, Sampling, SimulateError};
