//! How far a step may go: order and step size ([`taylor`]), what truncation is measured by ([`extent`]), steps that no
//! pulse hides from ([`step_guard`]), [`time`] as an unevaluated pair, the state likewise ([`remainder`]), and the fixed-step method for comparison ([`rk4`]).

pub(crate) mod extent;
pub(crate) mod remainder;
pub(crate) mod rk4;
pub(crate) mod step_guard;
pub(crate) mod taylor;
pub(crate) mod time;
