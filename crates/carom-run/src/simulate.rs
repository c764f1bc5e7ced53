//! The loop: series around the state, the first thing that happens within the step, the law for it, the next leg.
//!
//! Promise: it never hangs (every pass advances time or counts towards a limit), never falls through a wall (the first
//! root of every gap is found and the law applied at the located state), never stops without saying why.

use crate::engine::{Taylor, Time, horner};
use crate::motion::{Graze, Motion, Stop, StopReason};
use crate::options::{Options, Progress, SimulateError};
use crate::program::Program;
use crate::roots::{Beginning, Roots, certainly_none};
use crate::run::{Halt, Run, Side};
use crate::sensitivity::Cause;
use carom_mech::model::{Direction, Method};

/// Passes without any advance of time before giving up.
const STALLED: u32 = 100_000;
/// Impacts in a row that do not move time by a unit of rounding before the joint e = 0 law is applied.
const CROWDED: u32 = 2_000;
/// Steps shorter than this part of the motion's own time scale …
const SMOOTH: f64 = 1e-3;
/// … so many times in a row mean that the model is stiff.
const STIFF_STEPS: u32 = 1_000;
/// A gap whose gradient falls below this part of itself within a step, just where the gap is zero, has ∇gap = 0 there: a
/// double root is located to √ε ≈ 1e-8, where the gradient of x² has fallen to that part.
const FLAT: f64 = 1e-6;
/// Steps at least, where an exponential occurs: far from its centre a pulse exp(−x²) is zero to all orders, and no series
/// shows that it comes. Pulses narrower than a few thousandths of the run still need a `from` and `until` near them.
const LOOKS: f64 = 1000.0;
/// How often progress is told, in steps.
const TELL_EVERY: u64 = 256;

/// Simulates a program.
///
/// # Errors
/// When nothing can be simulated: meaningless options, an inconsistent start, a start behind a wall.
pub fn simulate(program: &Program, options: &Options) -> Result<Motion, SimulateError> {
    simulate_with(program, options, &mut |_| true)
}

/// Simulates a program and tells its progress; when `tell` returns false the motion ends, `interrupted`.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_with(
    program: &Program,
    options: &Options,
    tell: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Motion, SimulateError> {
    let mut run = Run::start(program, options)?;
    let halt = match run.go(tell) {
        Ok(()) => Halt { reason: StopReason::Reached, detail: None },
        Err(halt) => halt,
    };
    Ok(run.finish(halt))
}

/// What happens first within a step.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Happening {
    Wall(usize),
    Release(usize),
    LetGo(usize),
    Surface(usize),
    LeaveSurface(usize, f64),
    Event(usize),
}

impl Happening {
    /// At one instant: surfaces, then walls, releases, events in model order.
    fn rank(self) -> (u8, usize) {
        match self {
            Happening::Wall(i) => (0, i),
            Happening::Release(i) | Happening::LetGo(i) => (1, i),
            Happening::Surface(i) => (2, i),
            Happening::LeaveSurface(i, _) => (3, i),
            Happening::Event(i) => (4, i),
        }
    }
}

impl Run<'_> {
    fn go(&mut self, tell: &mut dyn FnMut(&Progress) -> bool) -> Result<(), Halt> {
        self.first_leg()?;
        let mut stalled = 0;
        let mut crowded = 0;
        let mut fresh = true;
        loop {
            let left = self.until.minus(self.time);
            if left <= 0.0 {
                return Ok(());
            }
            if self.steps.is_multiple_of(TELL_EVERY) && !tell(&self.progress()) {
                return Err(Halt { reason: StopReason::Interrupted, detail: None });
            }
            if self.steps >= self.options.max_steps {
                return Err(Halt::new(StopReason::StepLimit, format!("{} steps", self.options.max_steps)));
            }
            self.steps += 1;
            let h = self.expand(left, fresh)?;
            let touches = self.motion.grazes.len();
            let (at, happening) = self.first_happening(h);
            self.stop_at_flat_touch(touches)?;
            let step = if happening.is_some() { at } else { h };
            let steepness = match happening {
                Some(Happening::Wall(w)) => self.steepness(w),
                _ => 0.0,
            };
            self.advance(step, happening.is_none() && step == left)?;
            if let Some(Happening::Wall(w)) = happening
                && self.steepness(w) < FLAT * steepness
            {
                return Err(self.flat(w));
            }
            stalled = if step > 0.0 { 0 } else { stalled + 1 };
            if stalled > STALLED {
                return Err(Halt::new(StopReason::StepLimit, "time does not advance any more".to_string()));
            }
            let instant = step <= f64::EPSILON * self.time.value().abs().max(1.0);
            fresh = false;
            match happening {
                Some(what) => {
                    let struck = self.handle(what)?;
                    crowded = if struck && instant { crowded + 1 } else { 0 };
                    if crowded > CROWDED {
                        self.warn("impacts accumulated faster than time can resolve; they were ended by the e = 0 law".into());
                        self.cut_zeno(0.0)?;
                        self.begin_leg(&[], &[])?;
                        crowded = 0;
                    }
                    fresh = true;
                }
                None => {
                    self.pass_knot()?;
                    if self.project_drift()? {
                        fresh = false;
                    }
                }
            }
        }
    }

    /// |∇gap| at the present frame.
    fn steepness(&self, wall: usize) -> f64 {
        self.frame.normal(wall).iter().map(|n| n * n).sum::<f64>().sqrt()
    }

    /// A touch where ∇gap = 0 (gap x²) is no graze: the motion passes a wall that no impulse can hold.
    fn stop_at_flat_touch(&mut self, known: usize) -> Result<(), Halt> {
        for i in known..self.motion.grazes.len() {
            let Graze { time, wall } = self.motion.grazes[i];
            let steepness = self.steepness(wall);
            let (start, here) = (self.state.clone(), self.time);
            let within = Time::new(time).minus(here);
            let mut there = start.clone();
            self.state_within(within, &mut there);
            (self.state, self.time) = (there, here.plus(within));
            self.look();
            let flat = self.steepness(wall) < FLAT * steepness;
            (self.state, self.time) = (start, here);
            self.look();
            if flat {
                self.motion.grazes.truncate(i);
                self.advance(within, false)?;
                return Err(self.flat(wall));
            }
        }
        Ok(())
    }

    fn progress(&self) -> Progress {
        Progress {
            from: self.options.start.time,
            time: self.time.value(),
            until: self.options.until,
            steps: self.steps,
            impacts: self.motion.impacts.len() as u64,
        }
    }

    fn first_leg(&mut self) -> Result<(), Halt> {
        self.look();
        let touched = self.touched(&[]);
        let struck = if touched.is_empty() { false } else { self.collide(&touched)? };
        if struck && let Some(rest) = self.zeno_remaining() {
            self.cut_zeno(rest)?;
        }
        self.begin_leg(&[], &[])
    }

    /// The polynomials of the next step, and its length.
    fn expand(&mut self, left: f64, fresh: bool) -> Result<f64, Halt> {
        if let Method::Rk4 { step } = self.options.method {
            let to_knot =
                self.next_knot.map_or(f64::INFINITY, |knot| Time::new(knot).minus(self.time).max(0.0));
            let h = step.min(left).min(to_knot);
            self.rk_step(h)?;
            return Ok(h);
        }
        if !fresh {
            self.jet()?;
        }
        let mut h = self.taylor.step_size(self.flow());
        if h.is_nan() || h <= 0.0 {
            return Err(self.not_finite());
        }
        if h < 1e-18 * self.time.value().abs().max(1e-3) {
            return Err(Halt::new(
                StopReason::Singular,
                format!("the step size fell to {h:.1e}: the motion runs into a singularity"),
            ));
        }
        self.notice_stiffness(h);
        if self.flow().tape().has_exponentials() {
            h = h.min((self.options.until - self.options.start.time) / LOOKS);
        }
        if let Some(knot) = self.next_knot {
            h = h.min(Time::new(knot).minus(self.time)).max(0.0);
        }
        Ok(h.min(left))
    }

    /// A step far below |ẋ|/|ẍ|, again and again: something that has long decayed dictates it.
    fn notice_stiffness(&mut self, h: f64) {
        let flow = self.flow();
        let (mut rate, mut bend) = (0.0_f64, 0.0_f64);
        for i in 0..2 * self.size() {
            let c = flow.state(i);
            rate = rate.max(c[1].abs());
            bend = bend.max(2.0 * c[2].abs());
        }
        let smooth = rate > 0.0 && h * bend < SMOOTH * rate;
        self.smooth_steps = if smooth { self.smooth_steps + 1 } else { 0 };
        if self.smooth_steps == STIFF_STEPS {
            let time = self.time.value();
            self.warn(format!(
                "the model is stiff near t = {time:.6}: steps of {h:.1e} are far shorter than the motion's own time scale"
            ));
        }
    }

    /// At a knot of a table the next piece takes over.
    fn pass_knot(&mut self) -> Result<(), Halt> {
        if self.next_knot.is_some_and(|knot| Time::new(knot).minus(self.time) <= 0.0) {
            self.choose_pieces();
            self.begin_leg(&[], &[])?;
        }
        Ok(())
    }

    // ---- what happens first ------------------------------------------------------------------------------

    fn first_happening(&mut self, h: f64) -> (f64, Option<Happening>) {
        let watched = self.program.watched(&self.key);
        let mut best: (f64, Option<Happening>) = (h, None);
        let mut offer = |at: f64, what: Happening| {
            let earlier = match best.1 {
                None => at <= best.0,
                Some(other) => at < best.0 || (at == best.0 && what.rank() < other.rank()),
            };
            if earlier {
                best = (at, Some(what));
            }
        };
        let mut grazes: Vec<(f64, usize)> = Vec::new();
        let mut first_wall: Option<(f64, usize)> = None;
        for (w, wall) in self.walls.iter().enumerate() {
            if wall.closed {
                continue;
            }
            let c = self.polynomial(watched.gap + w);
            let noise = 4.0 * f64::EPSILON * self.frame.gap_size(w);
            if let Some(at) = first_fall(c, h, wall.zeros, noise, |s| grazes.push((s, w))) {
                offer(at, Happening::Wall(w));
                if first_wall.is_none_or(|first: (f64, usize)| at < first.0) {
                    first_wall = Some((at, w));
                }
            }
        }
        for (i, &w) in self.key.closed.iter().enumerate() {
            let c = self.polynomial(watched.force + i);
            if let Some(at) = first_fall(c, h, self.walls[w].force_zeros, self.force_rounding(w), |_| {}) {
                offer(at, Happening::Release(w));
            }
        }
        if let Some(w) = self.held
            && let Some(at) = first_fall(self.polynomial(watched.held), h, self.held_force_zeros, 0.0, |_| {})
        {
            offer(at, Happening::LetGo(w));
        }
        for (s, side) in self.surfaces.iter().enumerate() {
            if side.sign != 0.0
                && let Some(at) = first_crossing(self.polynomial(watched.surface + s), h, side, |_| true)
            {
                offer(at, Happening::Surface(s));
            }
        }
        for (i, &s) in self.key.sliding.iter().enumerate() {
            let c = self.polynomial(watched.sliding + i);
            for bound in [1.0, -1.0] {
                // 1 ∓ s falls through zero.
                let mut distance: Vec<f64> = c.iter().map(|x| -bound * x).collect();
                distance[0] += 1.0;
                if let Some(at) = first_fall(&distance, h, 0, f64::EPSILON, |_| {}) {
                    offer(at, Happening::LeaveSurface(s, bound));
                }
            }
        }
        for (e, side) in self.events.iter().enumerate() {
            if side.sign == 0.0 {
                continue;
            }
            let direction = self.program.mechanics.model.events[e].direction;
            let wanted = |before: f64| match direction {
                Direction::Both => true,
                Direction::Rising => before < 0.0,
                Direction::Falling => before > 0.0,
            };
            if let Some(at) = first_crossing(self.polynomial(watched.event + e), h, side, wanted) {
                offer(at, Happening::Event(e));
            }
        }
        // At one instant impacts come first: an event root that differs from a wall's by rounding waits.
        if let (at, Some(Happening::Event(_))) = best
            && let Some((wall_at, w)) = first_wall
            && wall_at - at <= 8.0 * f64::EPSILON * self.time.value().abs().max(h)
        {
            best = (wall_at, Some(Happening::Wall(w)));
        }
        for &(s, wall) in grazes.iter().filter(|g| g.0 <= best.0) {
            let time = self.time.plus(s).value();
            let known = self
                .motion
                .grazes
                .iter()
                .rev()
                .take(4)
                .any(|g| g.wall == wall && (g.time - time).abs() < 1e-7);
            if !known {
                self.motion.grazes.push(Graze { time, wall });
            }
        }
        best
    }

    // ---- moving on ---------------------------------------------------------------------------------------

    /// Moves to t + h along the series, sampling on the way. `last`: this step ends exactly at `until`.
    fn advance(&mut self, h: f64, last: bool) -> Result<(), Halt> {
        self.sample_until(h);
        for w in 0..self.walls.len() {
            if !self.walls[w].closed {
                let c = self.polynomial(w);
                let inside = (1..4).map(|k| horner(c, h * f64::from(k) / 4.0)).fold(0.0, f64::max);
                self.squeeze.see(inside);
            }
        }
        self.amplify_step(h);
        self.last_step = h;
        let mut next = std::mem::take(&mut self.state);
        self.state_within(h, &mut next);
        self.state = next;
        self.time = if last { self.until } else { self.time.plus(h) };
        self.look();
        if !self.frame.is_finite() || self.state.iter().any(|x| !x.is_finite()) {
            return Err(self.not_finite());
        }
        // What was known at the start of the step is used up; signs are remembered across steps.
        if h > 0.0 {
            self.remember_sides(h);
        }
        self.audit_step();
        Ok(())
    }

    fn remember_sides(&mut self, h: f64) {
        for wall in &mut self.walls {
            wall.zeros = 0;
            wall.force_zeros = 0;
        }
        self.held_force_zeros = 0;
        let first = self.program.watched(&self.key).event;
        let ends: Vec<f64> = (0..self.events.len()).map(|e| horner(self.polynomial(first + e), h)).collect();
        for (s, side) in self.surfaces.iter_mut().enumerate() {
            if side.sign != 0.0 {
                *side = Side { sign: side.sign, zeros: 0 };
            } else if !self.key.sliding.contains(&s) {
                side.zeros = 0;
            }
        }
        for (side, end) in self.events.iter_mut().zip(ends) {
            // Every crossing was found, wanted or not: the side at the end is the sign there.
            if end != 0.0 {
                side.sign = end.signum();
            }
            side.zeros = 0;
        }
    }

    fn audit_step(&mut self) {
        let scale = self.frame.energy_scale();
        self.energy_scale = self.energy_scale.max(scale);
        let error = (self.frame.energy() - self.expected_energy - self.work()).abs();
        self.worst_energy = self.worst_energy.max(error);
        let mut deepest = 0.0_f64;
        for w in 0..self.walls.len() {
            deepest = deepest.max(-self.frame.gap(w));
        }
        let kept = &mut self.motion.audit.deepest_penetration;
        *kept = kept.max(deepest);
    }

    // ---- handling ----------------------------------------------------------------------------------------

    /// Returns true if there was an impulse. Events at the same instant come last, in model order.
    fn handle(&mut self, what: Happening) -> Result<bool, Halt> {
        let pending = self.events_now();
        let struck = match what {
            Happening::Wall(w) => self.meet_wall(w)?,
            Happening::Release(w) => {
                self.begin_leg(&[w], &[])?;
                if self.walls[w].closed {
                    // It must hold after all: its force is zero up to rounding, and says nothing during this step.
                    self.walls[w].force_zeros = usize::MAX;
                }
                false
            }
            Happening::LetGo(_) => {
                self.let_go()?;
                false
            }
            Happening::Surface(s) => {
                let before = self.before_jump(Cause::Surface(s));
                self.begin_leg(&[], &[s])?;
                self.amplify_jump(before);
                false
            }
            Happening::LeaveSurface(s, sign) => {
                self.leave_surface(s, sign);
                self.begin_leg_after_sliding(s)?;
                false
            }
            Happening::Event(e) => {
                self.fire(e)?;
                false
            }
        };
        for other in pending {
            if what != Happening::Event(other.0) {
                self.fire_if_passed(other)?;
            }
        }
        Ok(struck)
    }

    /// A gap has reached zero: impact, contact or graze.
    fn meet_wall(&mut self, w: usize) -> Result<bool, Halt> {
        let before = self.before_jump(Cause::Wall(w));
        let struck = self.collide(&[w])?;
        if struck && let Some(rest) = self.zeno_remaining() {
            self.cut_zeno(rest)?;
        }
        self.begin_leg(&[], &[])?;
        if struck {
            self.amplify_jump(before);
        } else if !self.walls[w].closed {
            self.motion.grazes.push(Graze { time: self.time.value(), wall: w });
        }
        Ok(struck)
    }

    fn begin_leg_after_sliding(&mut self, surface: usize) -> Result<(), Halt> {
        let side = self.surfaces[surface];
        self.begin_leg(&[], &[])?;
        // begin_leg sees u = rounding; the side is known.
        if !self.key.sliding.contains(&surface) {
            self.set_sign(surface, side.sign);
            self.surfaces[surface] = side;
            self.jet()?;
        }
        Ok(())
    }

    /// Ends the motion: last samples, open contacts, audit.
    fn finish(mut self, halt: Halt) -> Motion {
        self.sample_last();
        let end = self.time.value();
        // A contact that would begin after the end was not reached.
        self.motion.contacts.retain(|c| c.from <= end);
        self.motion.contacts.sort_by(|a, b| a.from.total_cmp(&b.from));
        self.motion.grazes.sort_by(|a, b| a.time.total_cmp(&b.time));
        let scale = self.energy_scale;
        self.motion.audit.hamiltonian_drift =
            if scale > 0.0 { self.worst_energy / scale } else { self.worst_energy };
        self.motion.audit.steps = self.steps;
        self.finish_amplification();
        self.motion.stop = Stop { reason: halt.reason, time: end, detail: halt.detail };
        self.sampler.deliver(&mut self.motion);
        self.motion
    }
}

/// The first fall through zero of a function that is ≥ 0; `touch` is told of touches before it.
fn first_fall(c: &[f64], h: f64, zeros: usize, noise: f64, mut touch: impl FnMut(f64)) -> Option<f64> {
    let mut zeros = zeros;
    if zeros == 0 && c[0] <= 0.0 {
        let size = c.iter().rev().fold(0.0, |sum, ck| sum * h + ck.abs());
        if size <= noise {
            return None;
        }
        // Below zero by rounding: falling is a crossing now, rising is leaving.
        let next = c.iter().skip(1).find(|x| **x != 0.0)?;
        if *next < 0.0 {
            return Some(0.0);
        }
        zeros = 1;
    }
    let truncation = c.last().map_or(0.0, |last| (last * h.powi(c.len() as i32 - 1)).abs());
    let beginning = Beginning { sign: 1.0, zeros, noise, truncation };
    if certainly_none(c, h, &beginning) {
        return None;
    }
    for root in Roots::new(c, h, &beginning) {
        if root.crossing {
            return Some(root.at);
        }
        touch(root.at);
    }
    None
}

/// The first wanted crossing of a function that starts on a known side.
fn first_crossing(c: &[f64], h: f64, side: &Side, wanted: impl Fn(f64) -> bool) -> Option<f64> {
    let mut side = *side;
    if side.zeros == 0 && c[0] * side.sign < 0.0 {
        if wanted(side.sign) {
            return Some(0.0);
        }
        side.sign = -side.sign;
    }
    let truncation = c.last().map_or(0.0, |last| (last * h.powi(c.len() as i32 - 1)).abs());
    let beginning = Beginning { sign: side.sign, zeros: side.zeros, noise: 0.0, truncation };
    if certainly_none(c, h, &beginning) {
        return None;
    }
    Roots::new(c, h, &beginning).find(|r| r.crossing && wanted(r.before)).map(|r| r.at)
}

/// Order and step rule.
pub(crate) fn taylor_of(options: &Options) -> Taylor {
    Taylor::new(options.tolerance)
}
