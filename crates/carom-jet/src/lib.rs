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
//! use carom_jet::{Extent, Flow, System, Tape, Taylor, Time};
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

mod batch;
pub mod dense;
mod emit;
mod eval;
mod ir;
pub mod oracle;
pub mod roots;
mod simd;
mod step;
pub mod values;

pub use batch::ensemble::{
    Balance, BatchAudit, Ensemble, Handler, LaneStart, LaneStep, Leave, Monitors, Smooth, Verdict,
};
pub use batch::rounds::SHORTEST;
pub use eval::factor::weak;
pub use eval::flow::{Flow, horner};
pub use eval::scale::Scales;
pub use eval::symmetric::Symmetric;
pub use ir::system::{CompileError, LinearBlock, Singular, System};
pub use ir::tape::Tape;
pub use simd::Instructions;
pub use step::extent::Extent;
pub use step::rk4::Rk4;
pub use step::taylor::{Coefficients, SHORTEST_UNIT, Taylor, powers, shorter_unit, unit_for, within_unit};
pub use step::time::Time;
