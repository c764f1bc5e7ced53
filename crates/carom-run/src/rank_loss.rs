//! Constraint rows that lose their rank at an isolated instant t*: a parallelogram passing its flat position.
//!
//! q(t) and Aᵀμ are analytic through t*, although A(q(t*)) has dependent rows and μ in general a pole. The equations of
//! motion are singular there, so nothing is expanded or projected near t*. Instead a step from a distance d = t* − t₀
//! goes across: the series of q converges beyond t*. Its coefficients carry rounding as if t* were a pole,
//!
//! ```text
//! |x_k| ≈ |q_k| + (u/strength) d^−k           h = ρ d, ρ > 1, costs  (u/strength) ρ^N
//! ```
//!
//! so the length of the step comes from orders at which rounding cannot be seen yet, and ρ is kept small.
//!
//! 1. Every step of a constrained motion looks at its end: how much of the rows' independence is left, in the pivots of the
//!    equations of motion (`firmness`) and in the rows' normals, against the most there has been. Little: the *strength*
//!    of the rows, the last pivot of A with rows and columns equilibrated, is followed along the series; t* is where it
//!    vanishes.
//! 2. Too far to go across in one step: the step ends at a good distance. Otherwise h = ρ d.
//! 3. The step is taken if rows, rates and energy balance hold at its end up to that rounding,
//! 4. the projection there moves far less than strength/|∂²c| (A does not change on the way: no other branch is near), and
//!    the series around the end, continued back across t*, meets the one it came from.
//! 5. If not, half the way to t* is gone; after [`ATTEMPTS`] no more attempts are made. Rows that come near dependence
//!    without reaching it are resolved by ordinary steps, since q itself bends there. What is left so near that rounding
//!    decides the branch (strength² of the order of rounding) ends the motion, `singular`, with the rows' names: cusps, double
//!    rows, starts at t*.
//!
//! Promise: a motion goes on along the branch it was on, or it stops and says where and which rows.

use crate::leg::ActiveLeg;
use crate::motion::StopReason;
use crate::program::LegKey;
use crate::run::{Halt, Run};
use crate::stepper::NextSeries;
use crate::zero::{AMBIGUOUS, POLE};
use carom_jet::dense::{Matrix, Pivoting};
use carom_jet::{Flow, Time, powers, weak};

/// A firmness or squared normal below this part of the greatest it had is looked into.
pub(crate) const WEAK: f64 = 0.0625;
/// h/d of a step across.
const ACROSS: f64 = 1.2;
/// The least h/d worth trying.
const JUST_ACROSS: f64 = 1.08;
/// How far ahead t* is looked for, in natural steps.
const AHEAD: f64 = 1.7;
/// Looked at in so many places, then refined.
const PLACES: usize = 20;
/// A minimum of the strength below this part of where the step starts may be a zero.
const VANISHING: f64 = 1e-3;
/// Attempts to go across.
const ATTEMPTS: u32 = 3;
/// Residuals and energy after a step across, in units of the rounding it costs.
const UNITS: f64 = 1024.0;
/// Rows with less than this part in a combination are not named.
const NAMED: f64 = 1e-3;
/// A may change by this part of its strength in a projection.
const STEADY: f64 = 1e-2;

/// What is known about the rank of the constraint rows.
#[derive(Default)]
pub(crate) struct RankWatch {
    /// The greatest firmness so far.
    pub firmest: f64,
    /// A second workspace of the leg, to look ahead with.
    probe: Option<(LegKey, Flow)>,
    /// What steps across may have left in rows and energy, at most.
    pub cost: f64,
    /// Attempts that failed.
    failed: u32,
    /// The present step goes across.
    pub passage: Option<Passage>,
    /// What is left of it after an event within.
    rest: Option<f64>,
    /// Events are recorded within a step that goes on.
    pub within_step: bool,
}

impl RankWatch {
    /// Nothing is known yet.
    pub fn restart(&mut self) {
        *self = RankWatch { probe: self.probe.take(), ..RankWatch::default() };
    }

    /// A step was taken elsewhere, and nothing was weak at its ends.
    pub fn pass(&mut self) {
        (self.passage, self.failed) = (None, 0);
    }

    /// Follows the greatest firmness, where values were evaluated.
    pub fn note_firmness(&mut self, leg: &ActiveLeg) {
        self.firmest = self.firmest.max(leg.flow().firmness());
    }

    /// An event without consequences within a step across: the series go on from there, the rest of the step is taken.
    pub fn go_on_within_step(&mut self, leg: &mut ActiveLeg, step: f64, h: f64) {
        let Some(passage) = &mut self.passage else { return };
        passage.at -= step;
        self.rest = Some(h - step);
        self.within_step = true;
        leg.flow_mut().recentre(step);
    }

    /// The parameters have changed.
    pub fn forget_probe(&mut self) {
        self.probe = None;
    }

    /// What is left of a step across after an event in it.
    pub fn rest_of_passage(&mut self) -> Option<f64> {
        self.rest.take()
    }
}

/// A step across rank loss.
#[derive(Clone, Debug)]
pub(crate) struct Passage {
    /// t* − t₀, like all lengths of steps in the unit of the series.
    at: f64,
    measure: Measure,
}

/// Row and column factors that make the entries of A comparable, and how many rows should be independent.
#[derive(Clone, Debug, Default)]
struct Measure {
    rows: Vec<f64>,
    columns: Vec<f64>,
    rank: usize,
}

/// What elimination with complete pivoting leaves.
struct Strength {
    /// The last pivot that should be there.
    least: f64,
    /// How the rows add up to (nearly) nothing there.
    combination: Vec<f64>,
}

impl Measure {
    /// Complete pivoting on the scaled rows, up to the last pivot that should be there.
    fn of(&self, a: &Matrix) -> Strength {
        let mut scaled = a.clone();
        for i in 0..a.rows {
            for j in 0..a.columns {
                scaled[(i, j)] *= self.rows[i] * self.columns[j];
            }
        }
        let found = Pivoting::of(scaled, |step, _, _| step + 1 < self.rank);
        match found.refused {
            Some((row, least)) => Strength { least, combination: found.combination(row) },
            // Fewer rows or columns than there should be pivots.
            None => Strength {
                least: found.rank.checked_sub(1).map_or(1.0, |k| found.lu[(k, k)].abs()),
                combination: vec![0.0; a.rows],
            },
        }
    }
}

impl Run<'_> {
    /// A workspace for the present leg beside the one in use.
    fn probe(&mut self) -> Option<&mut Flow> {
        if self.rank.probe.as_ref().is_none_or(|(key, _)| *key != self.leg.key) {
            let mut flow = self.program.workspace(&self.leg.key, self.stepper.taylor.order).ok()?;
            flow.set_parameters(&self.leg.own_parameters(self.program));
            self.rank.probe = Some((self.leg.key.clone(), flow));
        }
        self.rank.probe.as_mut().map(|(_, flow)| flow)
    }

    /// Can the rows of this leg lose their rank?
    fn has_rank_to_lose(&self) -> bool {
        !self.leg.key.rows.is_empty()
            && !self.is_degenerate()
            && self.leg.key.sliding.is_empty()
            && self.contact.held.is_none()
    }

    fn normals_weak(&self, flow: &Flow) -> bool {
        let (first, kept) = (self.monitored_norms(), &self.audit.largest_terms.row_norm);
        kept.iter().enumerate().any(|(r, greatest)| flow.monitored(first + r) <= WEAK * greatest)
    }

    /// Is little left of the rows' independence at a state?
    pub fn weak_at(&mut self, time: Time, state: &[f64]) -> bool {
        if !self.has_rank_to_lose() {
            return false;
        }
        let firmest = self.rank.firmest;
        let Some(flow) = self.probe() else { return false };
        if flow.evaluate(time, state).is_err() || weak(WEAK, flow.firmness(), firmest) {
            return true;
        }
        self.rank.probe.as_ref().is_some_and(|(_, flow)| self.normals_weak(flow))
    }

    /// Is little left of the rows' independence where the series start?
    fn weak_here(&mut self) -> bool {
        // Series made elsewhere were looked at there.
        if self.stepper.series == NextSeries::Given {
            return false;
        }
        self.rank.note_firmness(&self.leg);
        let firmness = self.leg.flow().firmness();
        weak(WEAK, firmness, self.rank.firmest) || self.normals_weak(self.leg.flow())
    }

    /// The length of the next step, given what the series allow: as it is, up to a good distance from t*, or across.
    pub fn heed_rank(&mut self, h: f64, most: f64) -> Result<f64, Halt> {
        self.rank.passage = None;
        if !self.has_rank_to_lose() {
            return Ok(h);
        }
        let here = self.weak_here();
        if !here {
            let mut end = std::mem::take(&mut self.now.next_state);
            end.resize(self.now.state.len(), 0.0);
            // Where the step will end, to the bit.
            powers(h, &mut self.stepper.powers);
            self.leg.flow().pair_with(&self.stepper.powers, &mut end, &mut vec![0.0; self.now.state.len()]);
            let last = h == self.stepper.in_units(self.stepper.until.minus(self.now.time));
            let time = if last { self.stepper.until } else { self.now.time.plus(h * self.stepper.unit) };
            let there = self.weak_at(time, &end);
            self.now.next_state = end;
            if !there {
                self.rank.failed = 0;
                return Ok(h);
            }
        }
        let result = self.around_rank_loss(h, most);
        self.evaluate_frame();
        result
    }

    fn around_rank_loss(&mut self, h: f64, most: f64) -> Result<f64, Halt> {
        let window = AHEAD * h;
        let measure = self.measure(self.leg.key.rows.len() + self.leg.key.closed.len());
        let here = self.strength_at(&measure, 0.0).least;
        if here * here <= AMBIGUOUS {
            return Err(self.rank_lost(&measure, 0.0));
        }
        let Some(at) = self.vanishing(&measure, window, here) else {
            self.rank.failed = 0;
            return Ok(h);
        };
        let smooth = self.smooth_step(h);
        if at > smooth / JUST_ACROSS {
            // Too far: the next step shall go across.
            return Ok((at - smooth / ACROSS).min(h).max(h / 8.0));
        }
        let length = self.leg.flow().cut((ACROSS * at).min(smooth).min(most), &self.stepper.extent);
        if length < JUST_ACROSS * at {
            // Something else ends the step before.
            self.rank.passage = Some(Passage { at, measure });
            return Ok(length);
        }
        if self.rank.failed < ATTEMPTS {
            self.start_clean()?;
            if self.goes_across(&measure, at, length, here) {
                self.rank.failed = 0;
                self.rank.passage = Some(Passage { at, measure });
                return Ok(length);
            }
            self.rank.failed += 1;
        }
        Ok(h.min(0.5 * at))
    }

    // ---- where -------------------------------------------------------------------------------------------

    /// The rows of the leg at (t₀ + s): constraint rows, then closed walls.
    fn normals_at(&mut self, s: f64) -> Matrix {
        let mut state = self.now.state.clone();
        if s > 0.0 {
            self.leg.state_within(s, &mut state);
        }
        self.frame.at(self.now.time.plus(s * self.stepper.unit), &state);
        self.frame.stacked_rows(&self.leg.key.closed)
    }

    /// Factors from the inertia of the coordinates and from the largest normals so far.
    fn measure(&mut self, rank: usize) -> Measure {
        self.evaluate_frame();
        let normals = self.normals_at(0.0);
        let n = self.size();
        let mass = self.frame.mass_entries();
        let mut columns: Vec<f64> = (0..n).map(|j| mass[j * n + j].abs().sqrt()).collect();
        if !self.frame.layout.inverse {
            columns.iter_mut().for_each(|c| *c = if *c > 0.0 { 1.0 / *c } else { 0.0 });
        }
        let norm = |i: usize| (0..n).map(|j| (normals[(i, j)] * columns[j]).powi(2)).sum::<f64>();
        let greatest = &self.audit.largest_terms.row_norm;
        let rows: Vec<f64> = (0..normals.rows)
            .map(|i| greatest.get(i).copied().unwrap_or_else(|| norm(i)))
            .map(|square| if square > 0.0 { 1.0 / square.sqrt() } else { 0.0 })
            .collect();
        // Coordinates without inertia.
        for j in 0..n {
            if columns[j] == 0.0 {
                let largest =
                    (0..normals.rows).map(|i| (normals[(i, j)] * rows[i]).abs()).fold(0.0, f64::max);
                columns[j] = if largest > 0.0 { 1.0 / largest } else { 0.0 };
            }
        }
        Measure { rows, columns, rank }
    }

    fn strength_at(&mut self, measure: &Measure, s: f64) -> Strength {
        let normals = self.normals_at(s);
        measure.of(&normals)
    }

    /// The first place within the window at which the strength may vanish: a minimum, refined.
    fn vanishing(&mut self, measure: &Measure, window: f64, here: f64) -> Option<f64> {
        let place = |k: usize| window * k as f64 / PLACES as f64;
        let strengths: Vec<f64> = (0..=PLACES).map(|k| self.strength_at(measure, place(k)).least).collect();
        for k in 1..PLACES {
            if strengths[k] <= strengths[k - 1] && strengths[k] < strengths[k + 1] {
                let (at, least) = self.refine(measure, place(k - 1), place(k + 1));
                if least <= VANISHING * here {
                    return Some(at);
                }
            }
        }
        None
    }

    /// Golden section: the minimum between two places.
    fn refine(&mut self, measure: &Measure, from: f64, to: f64) -> (f64, f64) {
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        let (mut a, mut b) = (from, to);
        let (mut x, mut y) = (b - GOLDEN * (b - a), a + GOLDEN * (b - a));
        let (mut fx, mut fy) = (self.strength_at(measure, x).least, self.strength_at(measure, y).least);
        for _ in 0..60 {
            if fx <= fy {
                (b, y, fy) = (y, x, fx);
                x = b - GOLDEN * (b - a);
                fx = self.strength_at(measure, x).least;
            } else {
                (a, x, fx) = (x, y, fy);
                y = a + GOLDEN * (b - a);
                fy = self.strength_at(measure, y).least;
            }
        }
        if fx <= fy { (x, fx) } else { (y, fy) }
    }

    // ---- how far -----------------------------------------------------------------------------------------

    /// The step that q itself allows, from orders at which rounding that grows towards t* cannot be seen yet.
    fn smooth_step(&self, h: f64) -> f64 {
        let flow = self.leg.flow();
        let half = flow.order() / 2;
        let mut step = h;
        for _ in 0..4 {
            let mut radius = f64::INFINITY;
            for i in 0..2 * self.size() {
                let size =
                    (0..4).map(|k| (flow.coefficient(i, k) * step.powi(k as i32)).abs()).fold(0.0, f64::max);
                for k in [half - 1, half] {
                    let c = flow.coefficient(i, k).abs();
                    if c > 0.0 && size > 0.0 {
                        radius = radius.min((size / c).powf(1.0 / k as f64));
                    }
                }
            }
            let next = radius * self.stepper.taylor.factor;
            if !next.is_finite() || next <= h {
                return h;
            }
            step = next;
        }
        step
    }

    // ---- is it the same branch? --------------------------------------------------------------------------

    /// What is left of residuals where a step across starts would come out of it ρ^N/strength times as large: as little as can
    /// be, then.
    fn start_clean(&mut self) -> Result<(), Halt> {
        self.evaluate_frame();
        if self.stepper.series == NextSeries::Fresh || self.drift() <= f64::EPSILON {
            return Ok(());
        }
        let before = self.now.state.clone();
        let _ = self.project();
        if self.now.state != before {
            self.jet_again()?;
        }
        Ok(())
    }

    /// Does the step across end where rows, rates and energy hold, with no other branch near, and lead back?
    fn goes_across(&mut self, measure: &Measure, at: f64, length: f64, here: f64) -> bool {
        let order = self.stepper.taylor.order as i32;
        let truncation = self.stepper.taylor.factor.powi(order + 1);
        let noise = UNITS * (f64::EPSILON / here * (length / at).powi(order) + truncation);
        let (start, time) = (self.now.state.clone(), self.now.time);
        self.evaluate_frame();
        let before = self.frame.energy() - self.work();
        let mut end = start.clone();
        self.leg.state_within(length, &mut end);
        if end.iter().any(|x| !x.is_finite()) {
            return false;
        }
        let there = self.strength_at(measure, length).least;
        (self.now.state, self.now.time) = (end, time.plus(length * self.stepper.unit));
        self.evaluate_frame();
        let balance = (self.frame.energy() - self.work() - before).abs();
        let held = self.drift() <= noise
            && balance <= noise * self.audit.energy_scale.max(self.frame.energy_scale());
        let good =
            held && self.steady(measure, there) && self.leads_back(&start, at, length, noise * here / there);
        (self.now.state, self.now.time) = (start, time);
        if good {
            self.rank.cost = self.rank.cost.max(noise);
        }
        good
    }

    /// Projects the present state; true if A stays far more the same than its strength.
    fn steady(&mut self, measure: &Measure, strength: f64) -> bool {
        let before = self.normals_at(0.0);
        self.evaluate_frame();
        let _ = self.project();
        let after = self.normals_at(0.0);
        (0..before.rows).all(|i| {
            (0..before.columns).all(|j| {
                let change = (after[(i, j)] - before[(i, j)]).abs() * measure.rows[i] * measure.columns[j];
                change <= STEADY * strength
            })
        })
    }

    /// The series around the present state, continued back across t*, against the one it came from.
    fn leads_back(&mut self, start: &[f64], at: f64, length: f64, noise: f64) -> bool {
        let back = (ACROSS * (length - at)).min(length);
        let (time, state, unit) = (self.now.time, self.now.state.clone(), self.stepper.unit);
        let mut there = vec![0.0; state.len()];
        let Some(flow) = self.probe() else { return false };
        flow.set_unit(unit);
        if flow.jet(time, &state).is_err() {
            return false;
        }
        flow.state_at(-back, &mut there);
        let mut known = start.to_vec();
        self.leg.state_within(length - back, &mut known);
        let flow = self.leg.flow();
        (0..2 * self.size()).all(|i| {
            let size: f64 =
                (0..=flow.order()).rev().fold(0.0, |sum, k| sum * length + flow.coefficient(i, k).abs());
            (there[i] - known[i]).abs() <= UNITS * noise * size
        })
    }

    // ---- what is said ------------------------------------------------------------------------------------

    /// The end of a motion whose rows lose their rank s after the present state.
    fn rank_lost(&mut self, measure: &Measure, s: f64) -> Halt {
        let strength = self.strength_at(measure, s);
        let time = self.now.time.plus(s * self.stepper.unit).value();
        self.evaluate_frame();
        self.rank_halt(&strength.combination, time)
    }

    /// The same at the present frame: fewer rows are independent than there were.
    pub fn rank_lost_here(&mut self) -> Halt {
        let measure = self.measure(self.leg.key.rows.len() + self.leg.key.closed.len());
        self.rank_lost(&measure, 0.0)
    }

    fn rank_halt(&self, combination: &[f64], time: f64) -> Halt {
        let largest = combination.iter().fold(0.0_f64, |m, c| m.max(c.abs()));
        let m = &self.program.mechanics;
        let name = |i: usize| match i.checked_sub(m.rows.len()) {
            None => format!("`{}`", m.rows[i].name),
            Some(w) => format!("`{}`", self.wall_name(self.leg.key.closed[w])),
        };
        let names: Vec<String> =
            (0..combination.len()).filter(|&i| combination[i].abs() > NAMED * largest).map(name).collect();
        let detail = match &names[..] {
            [] => format!("the constraint rows lose their rank at t = {time:.9}"),
            [one] => format!("the normal of the constraint row {one} vanishes at t = {time:.9}"),
            many => {
                format!("the constraint rows {} become dependent at t = {time:.9}", many.join(", "))
            }
        };
        Halt::new(
            StopReason::Singular,
            format!("{detail}; how the motion goes on from there, they do not say"),
        )
    }

    /// Rows that were left out at the start because others imply them there must be implied by them ever after; if not, the
    /// start is an instant at which they lose their rank.
    pub fn check_rank_at_start(&mut self) -> Result<(), Halt> {
        if self.is_degenerate() || self.leg.key.rows.len() >= self.frame.layout.rows {
            return Ok(());
        }
        let m = &self.program.mechanics;
        let without = (0..m.rows.len()).find(|&r| {
            let moves = m.rows[r].normal.iter().any(|&a| !m.model.dag.is_zero(a));
            moves && self.frame.row_norm()[r] == 0.0
        });
        if let Some(r) = without {
            let mut combination = vec![0.0; m.rows.len()];
            combination[r] = 1.0;
            return Err(self.rank_halt(&combination, self.now.time.value()));
        }
        let h = self.natural_step();
        let measure = self.measure(self.leg.key.rows.len() + self.leg.key.closed.len() + 1);
        let grown =
            (1..=4).map(|k| self.strength_at(&measure, h * f64::from(k) / 4.0).least).fold(0.0, f64::max);
        let lost = if grown * grown > AMBIGUOUS { Some(self.rank_lost(&measure, 0.0)) } else { None };
        self.evaluate_frame();
        lost.map_or(Ok(()), Err)
    }

    // ---- within a step across ----------------------------------------------------------------------------

    /// May something be decided at the present state, which is the end of a part of a step across?
    pub fn stop_at_rank_loss(&mut self) -> Result<(), Halt> {
        let Some(passage) = self.rank.passage.take() else { return Ok(()) };
        let normals = {
            let (state, time) = (self.now.state.clone(), self.now.time);
            self.frame.at(time, &state);
            self.normals_at(0.0)
        };
        let strength = passage.measure.of(&normals);
        if strength.least * strength.least <= AMBIGUOUS {
            return Err(self.rank_halt(&strength.combination, self.now.time.value()));
        }
        Ok(())
    }

    /// Within a step across: ẋ at s into it, and whether multipliers have a pole too near. Needs a frame at that place.
    pub fn across_at(&self, s: f64) -> Option<(Vec<f64>, bool)> {
        let passage = self.rank.passage.as_ref()?;
        let flow = self.leg.flow();
        Some(self.across(passage, s, flow.order(), self.stepper.unit, |i, k| flow.coefficient(i, k)))
    }

    /// The same for a step across with these coefficients of the state.
    pub fn across(
        &self,
        passage: &Passage,
        s: f64,
        order: usize,
        unit: f64,
        coefficient: impl Fn(usize, usize) -> f64,
    ) -> (Vec<f64>, bool) {
        let n = self.size();
        let slope =
            |i: usize| (1..=order).rev().fold(0.0, |sum, k| sum * s + k as f64 * coefficient(i, k)) / unit;
        let rates = (n..2 * n).map(slope).collect();
        let m = self.frame.layout.rows;
        let mut all = Matrix::zeros(m + self.leg.key.closed.len(), n);
        all.entries[..m * n].copy_from_slice(&self.frame.rows().entries);
        for (i, &w) in self.leg.key.closed.iter().enumerate() {
            all.entries[(m + i) * n..(m + i + 1) * n].copy_from_slice(self.frame.normal(w));
        }
        (rates, passage.measure.of(&all).least <= POLE)
    }
}
