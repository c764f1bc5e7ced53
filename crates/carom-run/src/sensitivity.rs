//! Amplification of errors: the norm of ∂state(end)/∂state(start).

use crate::run::Run;

/// The product of step and jump derivatives so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Amplifier {}

/// What is needed of the state before a jump.
pub(crate) struct Before {}

impl Run<'_> {
    pub fn begin_amplification(&mut self) {}
    pub fn amplify_step(&mut self, _h: f64) {}
    pub fn before_jump(&mut self) -> Option<Before> {
        None
    }
    pub fn amplify_jump(&mut self, _before: Option<Before>) {}
    pub fn finish_amplification(&mut self) {}
    pub fn reached_leg(&mut self) {}
}
