//! Mechanics → [`Program`] → [`Motion`]: smooth legs as power series, impacts at the first root of a gap, contact,
//! events, constraints, samples, and an audit of how well the laws were kept.
//!
//! ```
//! use carom_mech::{Draft, derive};
//! use carom_run::{Options, Program, Sampling, simulate};
//!
//! let (draft, problems) = Draft::parse(
//!     r#"
//!     coordinates = ["y"]
//!     [energy]
//!     kinetic   = "y'^2/2"
//!     potential = "2*y"
//!     [wall.floor]
//!     gap = "y"
//!     restitution = 0.5
//!     [start]
//!     position = { y = 1.0 }
//!     [run]
//!     until = 4.0
//!     "#,
//!     "ball.toml",
//! );
//! assert!(problems.is_empty());
//! let (model, _warnings) = draft.check().unwrap();
//! let mechanics = derive(model).unwrap();
//! let program = Program::compile(&mechanics).unwrap();
//! let mut options = Options::of(&mechanics.model);
//! options.sampling = Sampling::At(vec![0.5, 3.5]);
//! let motion = simulate(&program, &options).unwrap();
//! // Falls for 1, then 1 + 1/2 + 1/4 + … = 2 more: at rest from t = 3 on.
//! assert!((motion.impacts[0].time - 1.0).abs() < 1e-15);
//! assert!(motion.contacts[0].zeno && (motion.contacts[0].from - 3.0).abs() < 1e-9);
//! assert_eq!(motion.position[0].values[0], 0.75);
//! ```
//!
//! Why a motion ended is part of the result ([`Stop`]); [`SimulateError`] means that nothing was simulated. A program
//! is immutable and shared freely: all state of a simulation lives in the call.
//!
//! | files | concept |
//! |---|---|
//! | `program`, `rewrite`, `switching`, `input` | what is compiled, piecewise functions and tables replaced |
//! | `incremental` | other numbers for the same model |
//! | `simulate`, `start`, `step`, `step_event`, `monitors`, `events`, `project`, `rank_loss`, `non_finite` | the loop |
//! | `run`, `stepper`, `leg`, `frame`, `frame_laws`, `contact_state`, `recorder`, `sample` | what it owns: where the motion is, how it steps, its equations, walls, the result |
//! | `law`, `momentum`, `several`, `room`, `lcp` | the impact law, for quadratic and for other kinetic energies, for several walls |
//! | `impact`, `impact_one_wall`, `contact`, `massless_contact`, `zeno`, `squeeze` | what happens at walls |
//! | `zero` | what is zero: every such decision |
//! | `audit`, `invariants`, `figures` | the verdict |
//! | `variation` and what begins so, `sensitivity`, `tangent`, `saltation`, `saltation_law` | derivatives of a motion |
//! | `batch` | many simulations side by side |
//! | `gradient`, `journal`, `adjoint` and what begins so | the gradient of one number, backward |
//! | `dense`, `serialize` | the motion at any time; as data, with feature `serde` |

mod adjoint;
mod adjoint_jump;
mod adjoint_tape;
mod audit;
mod batch;
mod contact;
mod contact_state;
mod dense;
mod equations;
mod events;
pub mod fields;
pub mod figures;
mod frame;
mod frame_laws;
mod gradient;
mod impact;
mod impact_one_wall;
mod incremental;
pub mod input;
mod invariants;
mod journal;
pub mod law;
pub mod lcp;
mod leg;
mod massless_contact;
mod momentum;
mod monitors;
pub mod motion;
mod non_finite;
pub mod options;
mod program;
mod project;
mod rank_loss;
mod recorder;
mod rewrite;
mod room;
mod run;
mod saltation;
mod saltation_law;
mod saltation_together;
mod sample;
mod sensitivity;
#[cfg(feature = "serde")]
mod serialize;
pub mod several;
mod simulate;
mod squeeze;
mod start;
mod step;
mod step_event;
mod stepper;
pub mod switching;
mod tangent;
mod variation;
mod variation_check;
mod variation_start;
mod zeno;
mod zero;

pub use batch::{Batch, JobSource, Outcome};
pub use carom_jet::{Arithmetic, Instructions, Level};
pub use dense::Dense;
pub use gradient::{Gradient, Objective, ObjectiveTerm, Observable};
pub use incremental::{Incremental, Varied};
pub use invariants::{StepStates, audit_invariants, invariant_drifts};
pub use motion::*;
pub use options::{Options, Progress, Sampling, SimulateError};
pub use program::Program;
pub use sample::Columns;
pub use simulate::{Simulator, check_start, simulate, simulate_with};
pub use variation::{Direction, JumpVariation, NotDifferentiable, Obstacle, Variation, VariationChecks};
