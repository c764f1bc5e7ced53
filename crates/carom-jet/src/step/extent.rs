//! How far the motion has come: what truncation is measured by.
//!
//! ```text
//! S_j = ½ (max − min of x_j so far) + h |x_{j,1}| + h² |x_{j,2}|        h: the step before, as the series allowed it
//! ```
//!
//! S_j has the unit of x_j, does not know where its origin is, and needs no number of the user's. Watched functions w that
//! are the same as long as the motion lasts (what events are roots of) are followed likewise; the others count by |w_0| in place of
//! their range. A component that has never moved and does not begin to (S_j = 0) does not count: it has a range of its own as
//! soon as it has moved. Where a step comes out far shorter than the one before, S_j is taken again with it. For the first step
//! h is the longest that keeps the last terms x_N ρ^N below one of the first three.
//!
//! The largest |u| so far of functions uⁿ that hide from their series (see the module of step guards) is kept here, too.
//!
//! Promise: multiplying a component, or time, by a power of two multiplies its scale by exactly that power.

use crate::eval::element::Doubles;
use crate::eval::flow::Flow;
use crate::ir::tape::Tape;
use std::sync::Arc;

/// What has been seen of a motion at the starts of its steps.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Extent {
    /// The least and the greatest value of each state variable, then of each watched function that is followed.
    pub(crate) ranges: Vec<[f64; 2]>,
    /// The last step as the series allowed it, in units of time; 0 before the first.
    pub(crate) step: f64,
    /// The first step as its series allow it, once it has been worked out; 0 where that is not known.
    pub(crate) first_step: f64,
    /// The largest |u| of each guarded uⁿ of the tape it was seen with.
    pub(crate) reach: Vec<f64>,
    /// That tape, by its place in memory: only compared.
    tape: usize,
}

/// Nothing seen yet.
pub(crate) const NOTHING: [f64; 2] = [f64::INFINITY, f64::NEG_INFINITY];

impl Extent {
    /// Nothing seen yet, of so many state variables and watched functions.
    pub fn new(dimension: usize, followed: usize) -> Extent {
        Extent { ranges: vec![NOTHING; dimension + followed], ..Extent::default() }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.ranges.fill(NOTHING);
        self.reach.clear();
        (self.step, self.first_step, self.tape) = (0.0, 0.0, 0);
    }

    /// Goes on with a state of which only the first so many variables are the same.
    pub fn keep(&mut self, variables: usize, dimension: usize, followed: usize) {
        self.ranges.truncate(variables);
        self.ranges.resize(dimension + followed, NOTHING);
    }

    /// Another tape has other guarded functions.
    fn fit(&mut self, tape: &Arc<Tape>) {
        let place = Arc::as_ptr(tape) as usize;
        if self.tape != place || self.reach.len() != tape.recurrence.guarded.len() {
            self.tape = place;
            self.reach.clear();
            self.reach.resize(tape.recurrence.guarded.len(), 0.0);
        }
    }

    /// Remembers what the first series of a motion allow, `natural` of their units: it takes long to work out.
    pub fn know_first_step(&mut self, flow: &Flow, natural: f64) {
        if self.step == 0.0 && natural > 0.0 && natural < f64::INFINITY {
            self.first_step = natural * flow.unit();
        }
    }

    /// Takes in where a step begins, after its jet; the series allowed `natural` of its units.
    pub fn see(&mut self, flow: &Flow, natural: f64) {
        self.fit(flow.tape());
        let (state, watched) = self.ranges.split_at_mut(flow.tape().dimension());
        let mut ranges = state.iter_mut();
        flow.coefficients().each([0], |[x]| {
            if let Some(range) = ranges.next() {
                *range = with(*range, x);
            }
        });
        for (i, range) in watched.iter_mut().enumerate() {
            *range = with(*range, flow.watched(i)[0]);
        }
        for (i, (reach, guarded)) in self.reach.iter_mut().zip(&flow.tape().recurrence.guarded).enumerate() {
            if guarded.kind.grows() {
                *reach = further(*reach, flow.guarded(i, 0));
            }
        }
        // A polynomial says nothing about later steps.
        if natural < f64::INFINITY {
            self.step = natural * flow.unit();
        }
    }

    /// What was seen elsewhere.
    pub(crate) fn set_reach(&mut self, tape: &Arc<Tape>, reach: impl Iterator<Item = f64>) {
        self.tape = Arc::as_ptr(tape) as usize;
        self.reach.clear();
        self.reach.extend(reach);
    }

    /// The largest |u| of guarded function `i` of a tape so far.
    pub(crate) fn reach_with(&self, tape: &Arc<Tape>, i: usize) -> f64 {
        if self.tape == Arc::as_ptr(tape) as usize { self.reach(i) } else { 0.0 }
    }

    /// The largest |u| of guarded function `i` so far.
    pub(crate) fn reach(&self, i: usize) -> f64 {
        self.reach.get(i).copied().unwrap_or(0.0)
    }
}

/// A range with one value more.
#[inline(always)]
pub(crate) fn with<T: Doubles>([low, high]: [T; 2], x: T) -> [T; 2] {
    [low.zip(x, lower), high.zip(x, higher)]
}

#[inline(always)]
fn lower(low: f64, x: f64) -> f64 {
    if x < low { x } else { low }
}

#[inline(always)]
fn higher(high: f64, x: f64) -> f64 {
    if x > high { x } else { high }
}

/// The larger of a reach and |u|.
#[inline(always)]
pub(crate) fn further(reach: f64, u: f64) -> f64 {
    if u.abs() > reach { u.abs() } else { reach }
}

/// S of a component with this range before, given its first coefficients.
#[inline(always)]
pub(crate) fn scale<T: Doubles>(range: [T; 2], [x0, x1, x2]: [T; 3], h: T) -> T {
    let [low, high] = with(range, x0);
    T::splat(0.5).times(high.minus(low)).plus(h.times(x1.abs().plus(h.times(x2.abs()))))
}

/// S of a watched function that is not followed.
#[inline(always)]
pub(crate) fn scale_by_size<T: Doubles>([w0, w1, w2]: [T; 3], h: T) -> T {
    w0.abs().plus(h.times(w1.abs().plus(h.times(w2.abs()))))
}

/// Motion below this is about to leave the range of doubles.
const LEAST: f64 = 1e-290;

/// 1/S; 0 where nothing moves.
#[inline(always)]
pub(crate) fn inverse<T: Doubles>(scale: T) -> T {
    scale.map(|scale| if scale > LEAST { 1.0 / scale } else { 0.0 })
}
