//! Mechanics → program → motion.

pub mod motion;

pub use motion::*;
