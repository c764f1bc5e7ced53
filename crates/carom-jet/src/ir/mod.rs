//! From expressions to rows of coefficients: [`system`] states the problem, [`lower`] makes it a straight-line [`tape`],
//! [`recurrence`] says what each order of the series costs, [`grouping`] puts equations of one shape side by side,
//! [`layout`] gives every row its place, [`elimination`] orders the unknowns of a linear block, [`guard`] names what can hide from its
//! own series. Nothing here evaluates anything, nor knows who does.

pub(crate) mod elimination;
pub(crate) mod grouping;
pub(crate) mod guard;
pub(crate) mod layout;
pub(crate) mod lower;
pub(crate) mod recurrence;
pub(crate) mod system;
pub(crate) mod tape;
