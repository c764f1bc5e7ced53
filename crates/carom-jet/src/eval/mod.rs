//! A tape as numbers: values at a state ([`order_zero`]), power series ([`interpret`] reads a [`schedule`], one trajectory in [`single`]), the
//! factorisation of linear blocks ([`ldl`], [`factor`]), values of polynomials ([`polynomial`]), and the scale of every value. All of it is generic
//! over its [`element`], or exists in one text for one trajectory and for lanes. [`flow`] is the workspace that callers hold.

pub(crate) mod element;
pub(crate) mod factor;
pub(crate) mod flow;
pub(crate) mod interpret;
pub(crate) mod ldl;
pub(crate) mod machine_code;
pub(crate) mod order_zero;
pub(crate) mod polynomial;
pub(crate) mod scale;
pub(crate) mod schedule;
pub(crate) mod sincos;
pub(crate) mod single;
pub(crate) mod symmetric;
pub(crate) mod time;
