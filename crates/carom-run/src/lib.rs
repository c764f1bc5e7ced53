//! Mechanics → program → motion.

pub mod engine;
pub mod law;
pub mod lcp;
pub mod linear;
pub mod motion;
pub mod roots;

pub use motion::*;
