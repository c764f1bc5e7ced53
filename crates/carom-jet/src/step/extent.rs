//! How far the motion has come: what truncation is measured by.
//!
//! ```text
//! S_j = ½ (max − min of x_j so far) + h |x_{j,1}| + h² |x_{j,2}|        h: the step before, as the series allowed it
//! ```
//!
//! S_j has the unit of x_j, does not know where its origin is, and needs no number of the user's. Watched functions w that
//! are the same in all legs (gaps, surfaces, events) are followed likewise; the others (forces) count by |w_0| in place of
//! their range. A component that has never moved and does not begin to (S_j = 0) does not count: it has a range of its own as
//! soon as it has moved. Where a step comes out far shorter than the one before, S_j is taken again with it. For the first step
//! h is the longest that keeps the last terms x_N ρ^N below one of the first three.
//!
//! The largest |u| so far of functions uⁿ that hide from their series (see the module of hidden functions) is kept here, too.
//!
//! Promise: multiplying a component, or time, by a power of two multiplies its scale by exactly that power.

use crate::eval::flow::Flow;
use crate::ir::tape::Tape;
use crate::step::step_guard::GuardKind;
use crate::step::taylor::{Taylor, far_shorter, larger, of_last_three, radius, root, smaller};
use std::sync::Arc;

/// What has been seen of a motion at the starts of its steps.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Extent {
    /// The least and the greatest value of each state variable, then of each watched function that is followed.
    pub(crate) ranges: Vec<[f64; 2]>,
    /// The last step as the series allowed it, in units of time; 0 before the first.
    pub(crate) step: f64,
    /// The largest |u| of each hidden uⁿ of the tape it was seen with.
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
        (self.step, self.tape) = (0.0, 0);
    }

    /// Goes on with a state of which only the first so many variables are the same.
    pub fn keep(&mut self, variables: usize, dimension: usize, followed: usize) {
        self.ranges.truncate(variables);
        self.ranges.resize(dimension + followed, NOTHING);
    }

    /// Another tape has other hidden functions.
    fn fit(&mut self, tape: &Arc<Tape>) {
        let place = Arc::as_ptr(tape) as usize;
        if self.tape != place || self.reach.len() != tape.recurrence.guarded.len() {
            self.tape = place;
            self.reach.clear();
            self.reach.resize(tape.recurrence.guarded.len(), 0.0);
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

    /// The largest |u| of hidden function `i` of a tape so far.
    pub(crate) fn reach_with(&self, tape: &Arc<Tape>, i: usize) -> f64 {
        if self.tape == Arc::as_ptr(tape) as usize { self.reach(i) } else { 0.0 }
    }

    /// The largest |u| of hidden function `i` so far.
    pub(crate) fn reach(&self, i: usize) -> f64 {
        self.reach.get(i).copied().unwrap_or(0.0)
    }

    /// What the followed functions have done so far; `None` for others.
    pub(crate) fn watched(&self, dimension: usize, i: usize) -> Option<[f64; 2]> {
        self.ranges.get(dimension + i).copied()
    }
}

/// A range with one value more.
#[inline(always)]
pub(crate) fn with([low, high]: [f64; 2], x: f64) -> [f64; 2] {
    [if x < low { x } else { low }, if x > high { x } else { high }]
}

/// The larger of a reach and |u|.
#[inline(always)]
pub(crate) fn further(reach: f64, u: f64) -> f64 {
    if u.abs() > reach { u.abs() } else { reach }
}

/// S of a component with this range before, given its first coefficients.
#[inline(always)]
pub(crate) fn scale(range: [f64; 2], [x0, x1, x2]: [f64; 3], h: f64) -> f64 {
    let [low, high] = with(range, x0);
    0.5 * (high - low) + h * (x1.abs() + h * x2.abs())
}

/// S of a watched function that is not followed.
#[inline(always)]
pub(crate) fn scale_by_size([w0, w1, w2]: [f64; 3], h: f64) -> f64 {
    w0.abs() + h * (w1.abs() + h * w2.abs())
}

/// Motion below this is about to leave the range of doubles.
const LEAST: f64 = 1e-290;

/// 1/S; 0 where nothing moves.
#[inline(always)]
pub(crate) fn inverse(scale: f64) -> f64 {
    if scale > LEAST { 1.0 / scale } else { 0.0 }
}

/// Series one coefficient at a time, with what the functions have done before: the clear version, for what is rare.
pub(crate) trait Rows {
    /// N
    fn order(&self) -> usize;
    /// How many state variables, and how many watched functions that move.
    fn count(&self) -> [usize; 2];
    /// Coefficient k of a state variable, and its range.
    fn state(&self, i: usize, k: usize) -> f64;
    fn range(&self, i: usize) -> [f64; 2];
    /// The same of a watched function; no range if it is not followed.
    fn watched(&self, i: usize, k: usize) -> f64;
    fn watched_range(&self, i: usize) -> Option<[f64; 2]>;
}

/// The step the series allow, as `Taylor::step_size` finds it, where the one before was so long (0: it is the first).
pub(crate) fn step_by_rows(taylor: &Taylor, rows: &impl Rows, before: f64) -> f64 {
    let n = rows.order();
    let mut before = if before > 0.0 { before } else { first_step(taylor, rows) };
    loop {
        let mut largest = [0.0; 3];
        let mut see = |own: f64, c: &dyn Fn(usize) -> f64| {
            for (back, largest) in largest.iter_mut().enumerate() {
                *largest = larger(*largest, c(n - back).abs() * inverse(own));
            }
        };
        for i in 0..rows.count()[0] {
            let c = |k| rows.state(i, k);
            see(scale(rows.range(i), [c(0), c(1), c(2)], before), &c);
        }
        for i in 0..rows.count()[1] {
            let c = |k| rows.watched(i, k);
            let first = [c(0), c(1), c(2)];
            let own = rows.watched_range(i).map(|range| scale(range, first, before));
            see(own.unwrap_or_else(|| scale_by_size(first, before)), &c);
        }
        let h = radius(n, largest) * taylor.factor;
        if !far_shorter(h, before) {
            return h;
        }
        before = h;
    }
}

/// The first step of a motion, in units of the series: the shortest of all components; 0 where none limits it.
pub(crate) fn first_step(taylor: &Taylor, rows: &impl Rows) -> f64 {
    let n = rows.order();
    let mut least = f64::INFINITY;
    let mut see = |size: f64, c: &dyn Fn(usize) -> f64| {
        // Order n − back against each of the first terms: the one it allows the longest step counts.
        let allowed = |back: usize| {
            let mut most: Option<f64> = None;
            for (k, s) in [size, c(1).abs(), c(2).abs(), c(3).abs()].into_iter().enumerate() {
                let rho = root(n - back - k, c(n - back).abs() * inverse(s));
                if s > 0.0 && most.is_none_or(|most| rho > most || rho.is_nan()) {
                    most = Some(rho);
                }
            }
            most.unwrap_or(f64::INFINITY)
        };
        let two = smaller(allowed(0), allowed(1));
        least = smaller(of_last_three(two, allowed(2)), least);
    };
    for i in 0..rows.count()[0] {
        let c = |k| rows.state(i, k);
        see(scale(rows.range(i), [c(0), 0.0, 0.0], 0.0), &c);
    }
    for i in 0..rows.count()[1] {
        let c = |k| rows.watched(i, k);
        let size = rows.watched_range(i).map(|range| scale(range, [c(0), 0.0, 0.0], 0.0));
        see(size.unwrap_or(c(0).abs()), &c);
    }
    if least < f64::INFINITY { least * taylor.factor } else { 0.0 }
}

/// Of a single trajectory.
impl Rows for (&Flow, &Extent) {
    fn order(&self) -> usize {
        self.0.order()
    }
    fn count(&self) -> [usize; 2] {
        [self.0.tape().dimension(), self.0.tape().watched_count()]
    }
    fn state(&self, i: usize, k: usize) -> f64 {
        self.0.coefficient(i, k)
    }
    fn range(&self, i: usize) -> [f64; 2] {
        self.1.ranges.get(i).copied().unwrap_or(NOTHING)
    }
    fn watched(&self, i: usize, k: usize) -> f64 {
        self.0.watched(i)[k]
    }
    fn watched_range(&self, i: usize) -> Option<[f64; 2]> {
        self.1.watched(self.0.tape().dimension(), i)
    }
}

impl GuardKind {
    /// Does it compare |u| with what it has been?
    #[inline(always)]
    pub(crate) fn grows(self) -> bool {
        matches!(self, GuardKind::Power(_) | GuardKind::Constant(_))
    }
}
