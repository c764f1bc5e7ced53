//! The rule of step sizes, for one trajectory and for lanes: this is its only text.
//!
//! ```text
//! h = ρ ε^(1/(N+1))        ρ from c_k = max_i |x_{i,k}| / S_i, k = N, N−1, N−2        (see [`Taylor`], [`crate::Extent`])
//! ```
//!
//! S_i contains the step before; where h comes out far shorter than that, it is taken again with h in its place. The first step
//! of a motion has none before it: there it is the longest that keeps the last terms below one of the first ones.

use crate::eval::element::Doubles;
use crate::eval::flow::Flow;
use crate::simd::{Kernel, dispatch};
use crate::step::extent::{Extent, NOTHING, inverse, scale, scale_by_size};
use crate::step::taylor::{GAP, Taylor, far_shorter, larger, of_last_three, radius, root, smaller};

/// Steps below this part of the time say that the motion runs into a singularity.
pub const SHORTEST: f64 = 1e-18;

/// Series of one trajectory or of lanes, with what the functions have done before: state variables first, then watched functions.
pub(crate) trait SeriesByRows<T> {
    /// N
    fn order(&self) -> usize;
    /// How many there are, and how many of them are state variables.
    fn count(&self) -> [usize; 2];
    /// Coefficient k.
    fn coefficient(&self, i: usize, k: usize) -> T;
    /// Coefficients 0, 1, 2 and N, N − 1, N − 2.
    fn ends(&self, i: usize) -> [[T; 3]; 2];
    /// The range so far; `None` for a watched function that is not followed.
    fn range(&self, i: usize) -> Option<[T; 2]>;
}

/// What the series of a step say about its length.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StepSize<T = f64> {
    /// The length that keeps the truncation error at the tolerance, in units of the series.
    pub length: T,
    /// The largest |x_1| / S and 2 |x_2| / S.
    pub(crate) rate: T,
    pub(crate) bend: T,
}

impl StepSize {
    /// Is the step far shorter than the motion's own time scale, h |x_2| ≪ |x_1|, by this part? Of variables that were asked for,
    /// the largest of each, by their scales.
    #[inline(always)]
    pub fn is_smooth(&self, part: f64) -> bool {
        (self.rate > 0.0) & (self.length * self.bend < part * self.rate)
    }
}

/// 1/S, given what the function has done, if it is followed, its first coefficients and the step before.
#[inline(always)]
fn inverse_scale<T: Doubles>(range: Option<[T; 2]>, first: [T; 3], before: T) -> T {
    inverse(match range {
        Some(range) => scale(range, first, before),
        None => scale_by_size(first, before),
    })
}

#[inline(always)]
fn faster(r: f64, c: f64) -> f64 {
    if c > r { c } else { r }
}

#[inline(always)]
fn sharper(b: f64, c: f64) -> f64 {
    if 2.0 * c > b { 2.0 * c } else { b }
}

/// The step the series allow where the one before was so long; how fast the first so many variables move and turn.
#[inline(always)]
pub(crate) fn natural<T: Doubles>(
    taylor: &Taylor,
    rows: &impl SeriesByRows<T>,
    before: T,
    variables: usize,
) -> StepSize<T> {
    let n = rows.order();
    let zero = T::splat(0.0);
    let (mut last, mut before_last, mut third, mut rate, mut bend) = (zero, zero, zero, zero, zero);
    for i in 0..rows.count()[0] {
        let [first, [a, b, c]] = rows.ends(i);
        let inverse = inverse_scale(rows.range(i), first, before);
        // What is not a number stays.
        last = last.zip(a.abs().times(inverse), larger);
        before_last = before_last.zip(b.abs().times(inverse), larger);
        third = third.zip(c.abs().times(inverse), larger);
        if i < variables {
            let [speed, turn] = [first[1].abs().times(inverse), first[2].abs().times(inverse)];
            rate = rate.zip(speed, faster);
            bend = bend.zip(turn, sharper);
        }
    }
    let length = radius(n, [last, before_last, third]).times(T::splat(taylor.factor));
    StepSize { length, rate, bend }
}

/// Must the step be taken again with itself in place of the one before (0: there was none)?
#[inline(always)]
pub(crate) fn is_unsettled(length: f64, before: f64) -> bool {
    (before == 0.0) | far_shorter(length, before)
}

/// The step of one trajectory, with its length measured by itself where the one before says little about it. How fast variables move
/// is measured by the one before all the same.
#[inline(always)]
pub(crate) fn settled(
    taylor: &Taylor,
    rows: &impl SeriesByRows<f64>,
    before: f64,
    variables: usize,
) -> StepSize {
    let mut before = if before > 0.0 { before } else { first_step(taylor, rows) };
    let mut step = natural(taylor, rows, before, variables);
    while far_shorter(step.length, before) {
        before = step.length;
        step.length = natural(taylor, rows, before, 0).length;
    }
    step
}

/// [`settled`] for a single trajectory, compiled for each instruction set.
struct Settled<'a> {
    taylor: &'a Taylor,
    rows: (&'a Flow, &'a Extent),
    before: f64,
    variables: usize,
    step: &'a mut StepSize,
}

impl Kernel for Settled<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        *self.step = settled(self.taylor, &self.rows, self.before, self.variables);
    }
}

/// The first step of a motion, in units of the series: the shortest of all components; 0 where none limits it.
fn first_step(taylor: &Taylor, rows: &impl SeriesByRows<f64>) -> f64 {
    let n = rows.order();
    let mut least = f64::INFINITY;
    for i in 0..rows.count()[0] {
        let c = |k: usize| rows.coefficient(i, k);
        let size = rows.range(i).map_or(c(0).abs(), |range| scale(range, [c(0), 0.0, 0.0], 0.0));
        // Order n − back against each of the first terms: the one it allows the longest step counts. More than what another
        // component allows is enough.
        let allowed = |back: usize| {
            let mut most: Option<f64> = None;
            for (k, s) in [size, c(1).abs(), c(2).abs(), c(3).abs()].into_iter().enumerate() {
                if s > 0.0 {
                    let rho = root(n - back - k, c(n - back).abs() * inverse(s));
                    if most.is_none_or(|most| rho > most || rho.is_nan()) {
                        most = Some(rho);
                    }
                    if rho > GAP * least || rho.is_nan() {
                        break;
                    }
                }
            }
            most.unwrap_or(f64::INFINITY)
        };
        let two = smaller(allowed(0), allowed(1));
        least = smaller(of_last_three(two, allowed(2)), least);
    }
    if least < f64::INFINITY { least * taylor.factor } else { 0.0 }
}

impl Taylor {
    /// The step that keeps the truncation error of state and watched functions at the tolerance, in units of the series;
    /// infinite for a motion that is a polynomial of degree below N − 2, not a number when a coefficient is not finite. The
    /// caller bounds it: by the end of the run, and by what may hide in it (a pulse that is zero to all orders here is
    /// invisible to its series).
    pub fn step_size(&self, flow: &Flow, extent: &Extent) -> f64 {
        self.step(flow, extent, 0).length
    }

    /// The same, with how fast the first so many state variables move and turn. Of the first step of a motion nothing is known but
    /// itself: it is never called smooth.
    pub fn step(&self, flow: &Flow, extent: &Extent, variables: usize) -> StepSize {
        if extent.step == 0.0 && extent.first_step > 0.0 {
            return StepSize { length: extent.first_step / flow.unit(), rate: 0.0, bend: 0.0 };
        }
        let variables = if extent.step > 0.0 { variables } else { 0 };
        let mut step = StepSize { length: f64::NAN, rate: 0.0, bend: 0.0 };
        let before = extent.step / flow.unit();
        dispatch(
            flow.level(),
            Settled { taylor: self, rows: (flow, extent), before, variables, step: &mut step },
        );
        step
    }

    /// Which state variable, and which watched function if it is steeper, limits the step.
    pub fn steepest(&self, flow: &Flow, extent: &Extent) -> (usize, Option<usize>) {
        let rows = (flow, extent);
        let before = extent.step / flow.unit();
        let before = if before > 0.0 { before } else { first_step(self, &rows) };
        let [count, variables] = rows.count();
        let steeper = |(most, at): (f64, Option<usize>), i: usize| {
            let [first, last] = rows.ends(i);
            let c = last[0].abs() * inverse_scale(rows.range(i), first, before);
            if c > most { (c, Some(i)) } else { (most, at) }
        };
        let state = (0..variables).fold((-1.0, None), steeper);
        let watched = (variables..count).fold((state.0, None), steeper);
        (state.1.unwrap_or(0), watched.1.map(|i| i - variables))
    }
}

/// Of a single trajectory.
impl SeriesByRows<f64> for (&Flow, &Extent) {
    fn order(&self) -> usize {
        self.0.order()
    }
    #[inline(always)]
    fn count(&self) -> [usize; 2] {
        let (state, watched) = (self.0.tape().dimension(), self.0.tape().watched_count());
        [state + watched, state]
    }
    #[inline(always)]
    fn coefficient(&self, i: usize, k: usize) -> f64 {
        self.0.series_of(i, [k])[0]
    }
    #[inline(always)]
    fn ends(&self, i: usize) -> [[f64; 3]; 2] {
        self.0.ends_of_series(i)
    }
    #[inline(always)]
    fn range(&self, i: usize) -> Option<[f64; 2]> {
        let known = self.1.ranges.get(i).copied();
        if i < self.0.tape().dimension() { Some(known.unwrap_or(NOTHING)) } else { known }
    }
}
