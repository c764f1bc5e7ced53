//! The vector part of a round: series, step sizes, audits, bounds of the watched functions and ends of the steps of all lanes, compiled
//! for each instruction set.

// Loops over lanes are indexed: several arrays advance together, and that form becomes vector code.
#![allow(clippy::needless_range_loop)]

use super::LaneBatch;
use crate::batch::ensemble::Monitors;
use crate::batch::lane_series::{AllLanes, OneLane};
use crate::batch::lanes::Lanes;
use crate::eval::element::{Count, Doubles, Element, Vector, Wide};
use crate::eval::polynomial::{end_of, powers_of, sums_with_sizes};
use crate::ir::tape::{RowIndex, TapeValue};
use crate::simd::{Kernel, dispatch};
use crate::step::audit::{greater, relative, unbalanced, with_term};
use crate::step::extent::{further, with};
use crate::step::step_guard::range;
use crate::step::step_size::{self, SHORTEST, StepSize, is_unsettled};
use crate::step::taylor::{larger, smaller, within_unit};

/// Rounding of a bound that is summed in another order than the single path does.
const ORDER_ROUNDING: f64 = 64.0 * f64::EPSILON;
/// Rounding of a function of known size, as single runs take it.
const SIZE_ROUNDING: f64 = 4.0 * f64::EPSILON;
/// A little more than the noise single runs compare with.
const NOISIER: f64 = 1.001;

/// Jets, step sizes, bounds, audits and end states of all lanes, compiled for each instruction set.
pub(super) struct Round<'a, const W: usize>(pub(super) &'a mut LaneBatch<W>)
where
    Count<W>: Vector;

impl<const W: usize> Kernel for Round<'_, W>
where
    Count<W>: Vector,
{
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        self.0.begin();
        self.0.lanes.jet::<FUSED>();
        self.0.step_sizes();
        self.0.audit();
        self.0.residuals();
        let LaneBatch { lanes, monitors, greatest, firmest, .. } = self.0;
        lanes.weaken(monitors, greatest, firmest);
        self.0.bounds();
        self.0.ends();
    }
}

impl<const W: usize> LaneBatch<W>
where
    Count<W>: Vector,
{
    /// Time left, and what is kept aside of the round before.
    #[inline(always)]
    fn begin(&mut self) {
        let n = self.lanes.tape.dimension;
        for i in 0..W {
            self.left.0[i] = self.end.get(i).minus(self.time.get(i)) * self.lanes.per_unit.0[i];
        }
        if !self.monitors.residuals.is_empty() {
            self.seen.0.clone_from(&self.ranges);
            self.seen.1.clone_from(&self.reach);
        }
        self.lanes.current[n] = self.time.hi;
    }

    /// As `Taylor::step_size`, then cut to the time left and for what may hide.
    #[inline(always)]
    fn step_sizes(&mut self) {
        let n = self.lanes.order;
        let unit = self.lanes.unit;
        let before = self.step.times(self.lanes.per_unit);
        let rows = AllLanes { lanes: &self.lanes, ranges: &self.ranges };
        let variables = self.monitors.smooth.map_or(0, |smooth| smooth.variables);
        let StepSize { length: mut natural, rate, bend } =
            step_size::natural(&self.taylor, &rows, before, variables);
        let unsettled = natural.zip(before, |h, before| if is_unsettled(h, before) { 1.0 } else { 0.0 });
        if !unsettled.is_zero() {
            for i in (0..W).filter(|&i| unsettled.0[i] != 0.0) {
                natural.0[i] = self.settle(i, before.0[i]);
            }
        }
        self.stiff(StepSize { length: natural, rate, bend });
        self.see_ranges();
        for i in 0..W {
            let h = natural.0[i];
            self.next_step.0[i] = if h < f64::INFINITY { h * unit.0[i] } else { self.step.0[i] };
        }
        self.natural = natural;
        self.size = natural.zip(self.left, smaller);
        for at in 0..self.reach.len() {
            let guarded = self.lanes.tape.recurrence.guarded[at];
            let row = self.lanes.row(guarded.u);
            if guarded.kind.grows() {
                self.reach[at] = self.reach[at].zip(row[0], further);
            }
            let [low, high, last] = range(self.size, n, |k| row[k]);
            for i in 0..W {
                let kind = guarded.kind.with(|slot| self.lanes.constant(slot, i));
                let (u, so_far, size) = (|k: usize| row[k].0[i], self.reach[at].0[i], self.size.0[i]);
                let reach = kind.reach(so_far, size, n, u);
                if !kind.allows(n, u(0), reach, [low.0[i], high.0[i], last.0[i]]) {
                    self.size.0[i] = kind.cut(size, n, so_far, u);
                }
            }
        }
        // Each also true for what is not a number. One that asks for another unit is left to the single run.
        let shortest = self.time.hi.abs().times(Wide::splat(SHORTEST));
        let hopeless = natural.times(unit).zip(shortest, |h, least| unless(h >= least));
        let empty = self.size.map(|h| unless(h > 0.0));
        let odd = natural.map(|h| unless(within_unit(h) | (h == f64::INFINITY)));
        self.needs_attention = hopeless.plus(empty).plus(odd);
    }

    /// The step of a lane, measured by itself: its first, or one far shorter than the one before.
    fn settle(&self, lane: usize, before: f64) -> f64 {
        if before == 0.0 && self.first_step[lane] > 0.0 {
            return self.first_step[lane] / self.lanes.unit.0[lane];
        }
        let rows = OneLane(AllLanes { lanes: &self.lanes, ranges: &self.ranges }, lane);
        step_size::settled(&self.taylor, &rows, before, 0).length
    }

    /// Which lanes take a step of `Monitors::smooth`; of the first step of a motion nothing is known but itself.
    #[inline(always)]
    fn stiff(&mut self, StepSize { length, rate, bend }: StepSize<Wide<W>>) {
        let Some(smooth) = self.monitors.smooth else { return };
        for i in 0..W {
            let step = StepSize { length: length.0[i], rate: rate.0[i], bend: bend.0[i] };
            self.stiff.0[i] = flag((self.step.0[i] > 0.0) & step.is_smooth(smooth.part));
        }
    }

    /// Takes in where the steps begin, as `Extent::see`.
    #[inline(always)]
    fn see_ranges(&mut self) {
        let dimension = self.lanes.tape.dimension;
        for (i, range) in self.ranges.iter_mut().enumerate() {
            let x = match i.checked_sub(dimension) {
                None => self.lanes.row(i as RowIndex)[0],
                Some(watched) => match self.lanes.tape.watched[watched] {
                    TapeValue::Row(row) => self.lanes.row(row)[0],
                    TapeValue::Constant(_) => continue,
                },
            };
            *range = with(*range, x);
        }
    }

    /// The balance at the start of the step.
    #[inline(always)]
    fn audit(&mut self) {
        let Some(balance) = &self.monitors.balance else { return };
        let mut scale = Wide::<W>::ZERO;
        for i in balance.terms.clone() {
            scale = scale.zip(self.lanes.monitored[i], with_term);
        }
        let value = self.lanes.monitored[balance.value];
        let work = balance.work.map_or(Wide::ZERO, |work| self.lanes.row(work as RowIndex)[0]);
        for i in 0..W {
            self.worst.0[i] = unbalanced(self.worst.0[i], value.0[i], self.expected.0[i], work.0[i]);
        }
        self.scale = scale.zip(self.scale, larger);
    }

    /// The greatest sizes, and which residuals have left rounding.
    #[inline(always)]
    fn residuals(&mut self) {
        for (greatest, &i) in self.greatest.iter_mut().zip(&self.monitors.greatest) {
            *greatest = greatest.zip(self.lanes.monitored[i], greater);
        }
        let drift = self.monitors.drift;
        for &(value, size) in &self.monitors.residuals {
            let (value, size) = (self.lanes.monitored[value], self.greatest[size]);
            let left = value.zip(size, |value, size| flag(relative(value, size) > drift));
            self.needs_attention = self.needs_attention.plus(left);
        }
    }

    /// Which lanes may meet a zero of a watched function in [0, h].
    #[inline(always)]
    fn bounds(&mut self) {
        dispatch(self.level, LanePowers { h: self.size, into: &mut self.powers });
        let LaneBatch { level, lanes, monitors, powers, sides, leaving, needs_attention, .. } = self;
        dispatch(*level, Bounds { lanes, monitors, powers, sides, leaving, needs_attention });
    }

    /// Where the steps lead if nothing happens.
    #[inline(always)]
    fn ends(&mut self) {
        let h = self.size;
        let LaneBatch { level, lanes, powers, low, next, next_low, .. } = self;
        dispatch(*level, Ends { lanes, powers, low, next, next_low });
        let mut peak = self.peak;
        for value in &self.lanes.tape.watched[..self.monitors.peaks] {
            match *value {
                TapeValue::Row(row) => {
                    peak = peak.zip(self.lanes.row(row)[0], greater);
                }
                TapeValue::Constant(slot) => {
                    for i in 0..W {
                        peak.0[i] = greater(peak.0[i], self.lanes.constant(slot, i));
                    }
                }
            }
        }
        self.next_peak = peak;
        let time = self.time.plus(h.times(self.lanes.unit));
        for i in 0..W {
            let last = h.0[i] == self.left.0[i];
            self.next_time.hi.0[i] = if last { self.end.hi.0[i] } else { time.hi.0[i] };
            self.next_time.lo.0[i] = if last { self.end.lo.0[i] } else { time.lo.0[i] };
        }
    }
}

// Parts of a round that are kernels of their own: mixed with the others in one function, their loops over lanes would be taken to
// pieces.

/// 1 for what is true.
#[inline(always)]
fn flag(what: bool) -> f64 {
    if what { 1.0 } else { 0.0 }
}

/// 1 for what is not: also where a comparison failed because something is not a number.
#[inline(always)]
fn unless(what: bool) -> f64 {
    flag(!what)
}

/// h, h², … of all lanes.
struct LanePowers<'a, const W: usize>
where
    Count<W>: Vector,
{
    h: Wide<W>,
    into: &'a mut [Wide<W>],
}

impl<const W: usize> Kernel for LanePowers<'_, W>
where
    Count<W>: Vector,
{
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        powers_of(self.h, self.into);
    }
}

/// Lanes need attention where a watched function may vanish in [0, h].
struct Bounds<'a, const W: usize>
where
    Count<W>: Vector,
{
    lanes: &'a Lanes<W>,
    monitors: &'a Monitors,
    powers: &'a [Wide<W>],
    sides: &'a [Wide<W>],
    leaving: &'a [Wide<W>],
    needs_attention: &'a mut Wide<W>,
}

impl<const W: usize> Kernel for Bounds<'_, W>
where
    Count<W>: Vector,
{
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Bounds { lanes, monitors, powers, sides, leaving, needs_attention } = self;
        let (h, n) = (powers[0], lanes.order);
        for (at, value) in lanes.tape.watched.iter().enumerate() {
            let TapeValue::Row(row) = value else { continue };
            let row = lanes.row(*row);
            // Σ min(0, s x) = (s Σ x − Σ |x|)/2
            let (sum, size) = sums_with_sizes(&row[1..], powers);
            let last = row[n].times(powers[n - 1]);
            let own = monitors.size.get(at).copied().flatten();
            let own = own.map_or(Wide::ZERO, |own| lanes.monitored[own]);
            let (side, leaving) = (&sides[at], &leaving[at]);
            for i in 0..W {
                let noise = last.0[i].abs() + SIZE_ROUNDING * own.0[i];
                // Leaving zero, w₁ h is what the others must not use up.
                let begins = if leaving.0[i] == 0.0 { row[0].0[i] } else { row[1].0[i] * h.0[i] };
                let w = side.0[i] * begins;
                let low = 0.5 * (side.0[i] * sum.0[i] - size.0[i]);
                let margin = ORDER_ROUNDING * (w.abs() + size.0[i]) + NOISIER * noise;
                // Not quiet either: what is not a number, and functions whose side is not known.
                needs_attention.0[i] += unless(w + low > margin);
            }
        }
    }
}

/// The ends of the steps.
struct Ends<'a, const W: usize>
where
    Count<W>: Vector,
{
    lanes: &'a Lanes<W>,
    powers: &'a [Wide<W>],
    low: &'a [Wide<W>],
    next: &'a mut [Wide<W>],
    next_low: &'a mut [Wide<W>],
}

impl<const W: usize> Kernel for Ends<'_, W>
where
    Count<W>: Vector,
{
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let ends = self.next.iter_mut().zip(self.next_low).zip(self.low);
        for (i, ((next, next_low), low)) in ends.enumerate() {
            (*next, *next_low) = end_of(self.lanes.row(i as RowIndex), self.powers, *low);
        }
    }
}
