//! Taylor integration with guaranteed-order events for any ODE given as expressions.
//!
//! ```text
//! x' = r(t, x, y, p),     M(t, x, y, p) y = b(t, x, y, p)   block after block,     w = watched(t, x, y, p)
//! ```
//!
//! [`System`] states the problem with expressions of a [`carom_expr::Dag`]; [`Tape`] is its compiled form, made once;
//! [`Flow`] is a workspace that evaluates a tape: values at a state ([`Flow::evaluate`]) or the power series of
//! everything in t − t₀ ([`Flow::jet`]). [`Taylor`] chooses order and step, [`Rk4`] is the fixed-step method,
//! [`Time`] keeps time as an unevaluated pair, [`Ensemble`] integrates many trajectories at once with the same bits.
//! [`roots`] finds *every* root of a step's polynomial in ascending order, so an event is never stepped over;
//! [`values`] evaluates formulas without a tape, [`dense`] is small dense algebra, [`oracle`] the slow clear evaluator that
//! tests compare all others with. The crate knows no mechanics.
//!
//! # A step, and the first event in it
//!
//! ```
//! use carom_expr::{Dag, Function};
//! use carom_jet::roots::{Beginning, Roots};
//! use carom_jet::{Extent, Flow, System, Tape, Taylor, Time};
//!
//! // x' = v, v' = −g sin x; watched: x.
//! let mut dag = Dag::new();
//! let [t, g, x, v] = ["t", "g", "x", "v"].map(|name| dag.symbol(name));
//! let sine = dag.function(Function::Sin, &[x]);
//! let pull = dag.mul(g, sine);
//! let rate = dag.neg(pull);
//! let system = System {
//!     time: t, parameters: vec![g], state: vec![x, v], rate: vec![v, rate], blocks: vec![], watched: vec![x], monitored: vec![],
//! };
//! let tape = Tape::compile(&dag, &system)?;
//! let taylor = Taylor::new(1e-15);
//! let mut flow = Flow::new(tape, taylor.order);
//! flow.set_parameters(&[9.81]);
//!
//! // Small swings from x = 1e-6: the first zero is a quarter of 2π/√g away.
//! let (mut time, mut state, mut extent) = (Time::new(0.0), [1e-6, 0.0], Extent::new(2, 1));
//! let zero = loop {
//!     flow.jet(time, &state)?;
//!     let h = taylor.step_size(&flow, &extent);
//!     extent.see(&flow, h);                                  // later steps are measured by what the motion has done
//!     let known = Beginning { sign: 1.0, zeros: 0, noise: 0.0, truncation: 0.0 };
//!     if let Some(root) = Roots::new(flow.watched(0), h, &known).next() {
//!         break time.plus(root.at).value();
//!     }
//!     flow.state_at(h, &mut state);
//!     time = time.plus(h);
//! };
//! assert!((zero - 0.25 * std::f64::consts::TAU / 9.81_f64.sqrt()).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `cargo run -p carom-jet --example events` is a complete program: events of the van der Pol oscillator.
//!
//! # From an expression to bytes
//!
//! The same pendulum, stage by stage; each folder of the crate is one arrow, and knows only those before it: `ir`, `emit`, `eval`, `step`, `batch`.
//!
//! ```text
//! expressions      x' = v          v' = −g sin x
//!    │  ir::lower      what parameters alone determine is a constant; what moves is a row
//!    ▼
//! tape             constants   c₂ = g    c₃ = −1·c₂
//!                  rows        r₀ = x    r₁ = v    r₂ = t
//!                  Euler       r₃ = D r₀                       (D u)_k = k u_k
//!                  SinCos      r₄, r₅ = sin r₀, cos r₀
//!                  Dot         r₆ = c₃ r₄                      x' = r₁,  v' = r₆
//!    │  ir::recurrence  one rule per order k ≥ 1, from coefficients below it
//!    ▼
//! recurrence       k r₄ₖ =  Σ_{j=1…k} j r₀ⱼ r₅,ₖ₋ⱼ           r₀,ₖ₊₁ = r₁ₖ / (k + 1)
//!                  k r₅ₖ = −Σ_{j=1…k} j r₀ⱼ r₄,ₖ₋ⱼ           r₁,ₖ₊₁ = c₃ r₄ₖ / (k + 1)
//!    │  ir::layout      where every coefficient lies; sums of one shape side by side, to be taken four or eight at a time
//!    ▼
//! arena            [ r₀₀ r₀₁ … │ r₁₀ r₁₁ … │ r₄, r₅ interleaved … │ constants ]
//!    │  emit            compiled: order 0, then one pass over the recurrence per order, as x86-64 instructions
//!    │  eval            or interpreted: the same passes, the same bits
//!    ▼
//! bytes            vfmadd231pd ymm3, ymm0, [r10 + 0x1c0]      c4 c2 fd b8 9a c0 01 00 00      one term of four sums at once
//!    │  step            order and length from the last coefficients; the end of the step by Horner
//!    ▼  roots           every watched function is a polynomial on [0, h]: its roots, none missed
//! next state, first event
//! ```
//!
//! # Texts to keep in step
//!
//! All ways of evaluating a tape give the same bits, so a rule that is written twice must be changed twice. It is written
//!
//! | what | how often | where |
//! | --- | ---: | --- |
//! | order 0 | 3 | formulas without a tape ([`values`]); rows of a tape, interpreted (`eval/order_zero.rs`: one trajectory and lanes) and emitted (`emit/values.rs`) |
//! | orders ≥ 1 | 3 | interpreted (`eval/interpret.rs`: one trajectory and lanes); emitted equation by equation (`emit/orders.rs`: one trajectory and lanes) and side by side (`emit/grouped.rs`) |
//! | L D Lᵀ and its solution | 2 | interpreted (`eval/ldl.rs`: one trajectory, lanes, [`Symmetric`]) and emitted (`emit/values.rs`) |
//! | U⁻¹ G b of a block that needs pivoting | 2 | interpreted (`eval/factor.rs`: one trajectory and lanes) and emitted (`emit/values.rs`); its LU has one |
//! | step size, what may hide | 1 | `step/step_size.rs`, `step/step_guard.rs`: one trajectory and lanes |
//! | powers of h | 2 | `eval/polynomial.rs`: `powers` of one trajectory by fours, `powers_of` lanes |
//! | a sum a + b with its error, a pair of doubles plus a double | 1 | `eval/time.rs`: one trajectory and lanes |
//! | the end of a step | 3 | rows of coefficients (`polynomial::end_of`: lanes, and the clear one; `end_of_row`: one trajectory, four sums in a vector); coefficients kept order by order, of large systems (`polynomial::ends_of`) |
//! | audit of a step | 1 | `step/audit.rs`: how a balance, its scale, the greatest sizes and residuals are taken; *which* functions they are taken of is said once for lanes ([`Monitors`]) and once by each caller for its single runs |
//! | p₀ + Σ min(0, p_k h^k) > 0 | 3 | [`roots::certainly_none`] for any beginning; bounds of all lanes (`batch/rounds/kernel.rs`), more cautious by their rounding; callers may have their own for single runs. It only saves work: where it cannot tell, roots are isolated |
//!
//! The sums of products (`interpret::weighted_sum`, `emit/convolution.rs`) belong to orders ≥ 1. Beside them stand the [`oracle`] and the
//! reference evaluator of `carom_expr`, which share no rule with them and are what tests compare with.
//!
//! # What it does not do
//!
//! The truncation error of a step is estimated from its last coefficients, not enclosed. Stiff systems need many steps.
//! Piecewise functions of something that moves (`abs`, `sign`, `min`, `max`) have no series: split them first.

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
    Balance, BatchAudit, Ensemble, Handler, LaneStart, LaneStep, Leave, Monitors, Smooth, StepVerdict,
};
pub use emit::listing::{Listing, Meant, Operand};
pub use eval::factor::weak;
pub use eval::flow::Flow;
pub use eval::polynomial::{Coefficients, powers};
pub use eval::scale::Scales;
pub use eval::symmetric::Symmetric;
pub use eval::time::Time;
pub use ir::system::{CompileError, LinearBlock, Singular, System};
pub use ir::tape::Tape;
pub use roots::horner;
pub use simd::{Arithmetic, Instructions, Level, Unavailable};
pub use step::audit::{greater, peak_on_the_way, relative, unbalanced, with_term};
pub use step::extent::Extent;
pub use step::remainder::Remainder;
pub use step::rk4::Rk4;
pub use step::step_size::{SHORTEST, StepSize};
pub use step::taylor::{SHORTEST_UNIT, Taylor, shorter_unit, unit_for, within_unit};
