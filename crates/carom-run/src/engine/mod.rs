//! The engine: expressions → straight-line program → power series in time. It knows no mechanics.
//!
//! ```text
//! x' = r(t, x, y, p),     M(t, x, y, p) y = b(t, x, y, p)   block after block,     w = watched(t, x, y, p)
//! ```
//!
//! [`System`] states the problem with expressions of a [`carom_expr::Dag`]; [`Tape`] is its compiled form, made once;
//! [`Flow`] is a workspace that evaluates a tape: values at a state ([`Flow::evaluate`]) or the power series of
//! everything in t − t₀ ([`Flow::jet`]). [`Taylor`] chooses order and step, [`Rk4`] is the fixed-step method,
//! [`Time`] keeps time as an unevaluated pair.
//!
//! A Taylor step, complete:
//!
//! ```
//! use carom_expr::{Dag, Function};
//! use carom_run::engine::{Extent, Flow, System, Tape, Taylor, Time};
//! let mut dag = Dag::new();
//! let (t, g, x, v) = (dag.symbol("t"), dag.symbol("g"), dag.symbol("x"), dag.symbol("v"));
//! let sin = dag.function(Function::Sin, &[x]);
//! let pull = dag.mul(g, sin);
//! let rate = dag.neg(pull);
//! let system = System {
//!     time: t, parameters: vec![g], state: vec![x, v], rate: vec![v, rate], blocks: vec![], watched: vec![sin], noted: vec![],
//! };
//! let tape = Tape::compile(&dag, &system).unwrap();
//! let taylor = Taylor::new(1e-15);
//! let mut flow = Flow::new(tape, taylor.order);
//! flow.set_parameters(&[9.81]);
//! flow.jet(Time::new(0.0), &[0.5, 0.0]).unwrap();
//! let mut extent = Extent::new(2, 1);
//! let h = taylor.step_size(&flow, &extent).min(1.0);
//! extent.see(&flow, h);                       // later steps are measured by what the motion has done
//! let mut end = [0.0; 2];
//! flow.state_at(h, &mut end);                 // the state after the step
//! let sine = flow.watched_at(0, h);           // the watched polynomial, anywhere in [0, h]
//! assert!((sine - end[0].sin()).abs() < 1e-14);
//! ```

mod alike;
mod balance;
mod crowd;
mod element;
mod elimination;
mod ensemble;
mod extent;
mod factor;
mod first;
mod flow;
mod hidden;
mod interpret;
mod lane_scale;
mod lanes;
mod layout;
mod lower;
mod machine;
mod packed;
mod recurrence;
mod rk4;
mod scale;
pub mod series;
mod simd;
mod sincos;
mod symmetric;
mod system;
mod tape;
mod taylor;
mod time;
mod times;

pub(crate) use balance::balance;
pub(crate) use crowd::SHORTEST;
pub use ensemble::{Balance, Duty, Ensemble, Handler, LaneStart, LaneStep, Leave, Ledger, Smooth, Verdict};
pub use extent::Extent;
pub(crate) use factor::weak;
pub use flow::{Flow, horner};
pub use rk4::Rk4;
pub(crate) use scale::Scales;
pub use simd::Instructions;
pub(crate) use symmetric::Symmetric;
pub use system::{CompileError, LinearBlock, Singular, System};
pub use tape::Tape;
pub use taylor::Taylor;
pub(crate) use taylor::{SHORTEST_UNIT, powers, shorter_unit, unit_for, within_unit};
pub use time::Time;
