//! Functions of a row that can hide from their own series, as steps must know of them: see the module of step guards.

use crate::ir::tape::{RowIndex, Slot};

/// Powers u⁻ⁿ up to this n have the same limits at all orders.
const GENTLE: f64 = 12.0;

/// A function of u that can hide.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct GuardedFunction {
    pub u: RowIndex,
    pub kind: GuardKind,
}

/// Which function.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum GuardKind {
    /// exp(u)
    Exponential,
    /// sinh(u), cosh(u)
    Hyperbolic,
    /// tanh(u)
    Tangent,
    /// uⁿ
    Power(f64),
    /// u to the power of a constant.
    Constant(Slot),
}

impl GuardKind {
    /// uⁿ, where all n with the same limits are one.
    pub(crate) fn power(n: f64) -> GuardKind {
        GuardKind::Power(if (-GENTLE..0.0).contains(&n) { -1.0 } else { n })
    }

    /// The same with its exponent.
    #[inline(always)]
    pub(crate) fn with(self, constant: impl Fn(Slot) -> f64) -> GuardKind {
        match self {
            GuardKind::Constant(slot) => GuardKind::Power(constant(slot)),
            kind => kind,
        }
    }

    /// Does it compare |u| with what it has been?
    #[inline(always)]
    pub(crate) fn grows(self) -> bool {
        matches!(self, GuardKind::Power(_) | GuardKind::Constant(_))
    }
}
