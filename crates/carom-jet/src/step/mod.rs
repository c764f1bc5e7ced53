//! How far a step may go: order ([`taylor`]) and step size ([`step_size`]), what truncation is measured by ([`extent`]), steps that no
//! pulse hides from ([`step_guard`]), how far series reach that a step was not chosen for ([`reach`]), the state as an unevaluated pair ([`remainder`]), the fixed-step method for comparison ([`rk4`]), and how
//! laws are audited at every step ([`audit`]).

pub(crate) mod audit;
pub(crate) mod extent;
pub(crate) mod reach;
pub(crate) mod remainder;
pub(crate) mod rk4;
pub(crate) mod step_guard;
pub(crate) mod step_size;
pub(crate) mod taylor;
