//! What motion depends on: periodic orbits and their stability, branches of orbits in a parameter, Lyapunov exponents.
//!
//! ```text
//! Φ = ∂x(T)/∂x(0) through every impact        P(x) = x        μ = eigenvalues of DP        λ = lim ln|Φ|/T
//! ```
//!
//! The room after `run`: motions and their exact first variation in, answers out. A question without an answer is a
//! [`Refusal`], a sentence with a way out.

mod divergence;
pub mod eigen;
pub mod fit;
mod follow;
mod lossless;
mod lyapunov;
mod orbit;
mod refusal;
mod request;
pub mod scan;
mod segments;
mod shooting;
mod special;
pub mod student;
mod subject;
mod symmetry;

pub use follow::{Branch, BranchPoint, follow};
pub use lyapunov::{FEW_INTERVALS, Growth, Lyapunov, SumCheck, ZeroCount, exponents, growth, lyapunov};
pub use orbit::{Orbit, orbit};
pub use refusal::Refusal;
pub use request::{Request, Return, Section, depends_on_time, is_conservative};
pub use special::{Special, SpecialKind};
pub use subject::{Invariant, Shot, Subject};
