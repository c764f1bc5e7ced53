//! Mechanics → program → motion.

pub mod engine;
pub mod motion;

pub use motion::*;
