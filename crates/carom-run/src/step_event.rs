//! What happens first within a step: the earliest root of any watched function, none missed.
//!
//! Nearly every step is uneventful, and  p₀ + Σ min(0, p_k h^k) > 0  proves it at the cost of one pass over the
//! coefficients; only the others are searched for roots.

use crate::events::{KnownSign, counts};
use crate::program::Watched;
use crate::run::Run;
use carom_jet::Time;
use carom_jet::roots::{Beginning, Roots, certainly_none};

/// What happens first within a step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum StepEvent {
    Wall(usize),
    Release(usize),
    LetGo(usize),
    Surface(usize),
    LeaveSurface(usize, f64),
    Event(usize),
}

impl StepEvent {
    /// At one instant: walls, then releases, surfaces, events, each in model order.
    fn rank(self) -> (u8, usize) {
        match self {
            StepEvent::Wall(i) => (0, i),
            StepEvent::Release(i) | StepEvent::LetGo(i) => (1, i),
            StepEvent::Surface(i) => (2, i),
            StepEvent::LeaveSurface(i, _) => (3, i),
            StepEvent::Event(i) => (4, i),
        }
    }
}

impl Run<'_> {
    /// The rounding of a contact force is known at a frame; only a force that may fall to zero needs it.
    fn forces_need_a_frame(&self) -> bool {
        let first = self.program.watched(&self.leg.key).force;
        self.leg.key.closed.iter().enumerate().any(|(i, &w)| {
            let c = self.leg.polynomial(first + i);
            self.contact.walls[w].force_zeros > 0 || !stays_above(c, &self.stepper.powers, 0.0)
        })
    }

    /// The earliest thing that happens within [0, h]; touches before it are recorded.
    pub fn first_event(&mut self, h: f64) -> (f64, Option<StepEvent>) {
        let watched = self.program.watched(&self.leg.key);
        if self.forces_need_a_frame() {
            self.evaluate_frame();
        }
        let mut first = Earliest { at: h, what: None };
        let mut grazes: Vec<(f64, usize)> = Vec::new();
        let first_wall = self.first_wall(h, &watched, &mut first, &mut grazes);
        self.first_release(h, &watched, &mut first);
        self.first_switch(h, &watched, &mut first);
        self.first_user_event(h, &watched, &mut first);
        self.put_impacts_first(h, first_wall, &mut first);
        self.record_grazes(h, &grazes, first.at);
        (first.at, first.what)
    }

    /// Offers the walls that are reached, notes touches; the first one of all.
    fn first_wall(
        &self,
        h: f64,
        watched: &Watched,
        first: &mut Earliest,
        grazes: &mut Vec<(f64, usize)>,
    ) -> Option<(f64, usize)> {
        let mut first_wall: Option<(f64, usize)> = None;
        for (w, wall) in self.contact.walls.iter().enumerate() {
            if wall.closed {
                continue;
            }
            let c = self.leg.polynomial(watched.gap + w);
            let noise = 4.0 * f64::EPSILON * self.gap_size_at_start(w);
            if wall.zeros == 0 && stays_above(c, &self.stepper.powers, noise) {
                continue;
            }
            if let Some(at) = first_fall(c, h, wall.zeros, noise, |s| grazes.push((s, w))) {
                first.offer(at, StepEvent::Wall(w));
                if first_wall.is_none_or(|first: (f64, usize)| at < first.0) {
                    first_wall = Some((at, w));
                }
            }
        }
        first_wall
    }

    /// Offers the contacts whose force falls to zero.
    fn first_release(&self, h: f64, watched: &Watched, first: &mut Earliest) {
        for (i, &w) in self.leg.key.closed.iter().enumerate() {
            let c = self.leg.polynomial(watched.force + i);
            let zeros = self.contact.walls[w].force_zeros;
            if zeros == 0 && stays_above(c, &self.stepper.powers, 0.0) {
                continue;
            }
            if let Some(at) = first_fall(c, h, zeros, self.frame.force_rounding(w), |_| {}) {
                first.offer(at, StepEvent::Release(w));
            }
        }
        if let Some(w) = self.contact.held
            && let Some(at) =
                first_fall(self.leg.polynomial(watched.held), h, self.contact.held_force_zeros, 0.0, |_| {})
        {
            first.offer(at, StepEvent::LetGo(w));
        }
    }

    /// Offers the switching surfaces that are crossed, and those that are slid on no more.
    fn first_switch(&self, h: f64, watched: &Watched, first: &mut Earliest) {
        for (s, side) in self.events.surfaces.iter().enumerate() {
            if side.sign != 0.0
                && let Some(at) =
                    first_crossing(self.leg.polynomial(watched.surface + s), h, side, |_, _| true)
            {
                first.offer(at, StepEvent::Surface(s));
            }
        }
        for (i, &s) in self.leg.key.sliding.iter().enumerate() {
            let c = self.leg.polynomial(watched.sliding + i);
            for bound in [1.0, -1.0] {
                // 1 ∓ s falls through zero.
                let mut distance: Vec<f64> = c.iter().map(|x| -bound * x).collect();
                distance[0] += 1.0;
                if let Some(at) = first_fall(&distance, h, 0, f64::EPSILON, |_| {}) {
                    first.offer(at, StepEvent::LeaveSurface(s, bound));
                }
            }
        }
    }

    /// Offers the events of the model; crossings in the direction that does not count are remembered.
    fn first_user_event(&mut self, h: f64, watched: &Watched, first: &mut Earliest) {
        let mut skipped = std::mem::take(&mut self.events.crossings.skipped);
        skipped.clear();
        for (e, side) in self.events.sides.iter().enumerate() {
            if side.sign == 0.0 {
                continue;
            }
            let direction = self.program.mechanics.model.events[e].direction;
            let wanted = |at: f64, before: f64| {
                let counts = counts(direction, before);
                if !counts {
                    skipped.push((at, e));
                }
                counts
            };
            if let Some(at) = first_crossing(self.leg.polynomial(watched.event + e), h, side, wanted) {
                first.offer(at, StepEvent::Event(e));
            }
        }
        (self.events.crossings.skipped, self.events.crossings.waiting) = (skipped, false);
    }

    /// At one instant impacts come first, and rows of tables: an event root that differs by rounding waits.
    fn put_impacts_first(&mut self, h: f64, first_wall: Option<(f64, usize)>, first: &mut Earliest) {
        let Some(StepEvent::Event(e)) = first.what else { return };
        if let Some((hit, w)) = first_wall
            && self.is_event_together(e, first.at, Some(w), hit, h)
        {
            *first = Earliest { at: hit, what: Some(StepEvent::Wall(w)) };
            self.events.crossings.waiting = true;
        } else if self
            .leg
            .next_knot
            .is_some_and(|knot| h == self.stepper.in_units(Time::new(knot).minus(self.now.time)))
            && self.is_event_together(e, first.at, None, h, h)
        {
            *first = Earliest { at: h, what: None };
            self.events.crossings.waiting = true;
        }
    }

    /// Records the touches before something happens, each once.
    fn record_grazes(&mut self, h: f64, grazes: &[(f64, usize)], until: f64) {
        for &(s, wall) in grazes.iter().filter(|g| g.0 <= until) {
            let time = self.now.time.plus(s * self.stepper.unit).value();
            let mut last = self.recorder.motion.grazes.iter().rev().take(4);
            let known =
                last.any(|g| g.wall == wall && self.is_same_touch(g.time - time, h * self.stepper.unit));
            if !known {
                self.recorder.graze(time, wall);
            }
        }
    }
}

/// The earliest of what was offered.
struct Earliest {
    at: f64,
    what: Option<StepEvent>,
}

impl Earliest {
    fn offer(&mut self, at: f64, what: StepEvent) {
        let earlier = match self.what {
            None => at <= self.at,
            Some(other) => at < self.at || (at == self.at && what.rank() < other.rank()),
        };
        if earlier {
            *self = Earliest { at, what: Some(what) };
        }
    }
}

/// Is p certainly above `noise` and its truncation, p₀ + Σ min(0, p_k h^k)? `powers` are h, h², …
fn stays_above(c: &[f64], powers: &[f64], noise: f64) -> bool {
    let (first, rest) = (c[0], &c[1..]);
    let powers = &powers[..rest.len()];
    let mut falls = [0.0_f64; 4];
    let (c4, p4) = (rest.chunks_exact(4), powers.chunks_exact(4));
    for (fall, (ck, pk)) in falls.iter_mut().zip(c4.remainder().iter().zip(p4.remainder())) {
        *fall = fallen(ck * pk);
    }
    for (ck, pk) in c4.zip(p4) {
        for i in 0..4 {
            falls[i] += fallen(ck[i] * pk[i]);
        }
    }
    let last = rest.iter().zip(powers).next_back().map_or(0.0, |(ck, pk)| (ck * pk).abs());
    first + ((falls[0] + falls[1]) + (falls[2] + falls[3])) > noise + last
}

/// The part below zero; what is not a number stays.
fn fallen(x: f64) -> f64 {
    if x > 0.0 { 0.0 } else { x }
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

/// The first wanted crossing of a function that starts on a known side; `wanted` is asked in order, with the side it comes from.
fn first_crossing(
    c: &[f64],
    h: f64,
    side: &KnownSign,
    mut wanted: impl FnMut(f64, f64) -> bool,
) -> Option<f64> {
    let mut side = *side;
    if side.zeros == 0 && c[0] * side.sign < 0.0 {
        if wanted(0.0, side.sign) {
            return Some(0.0);
        }
        side.sign = -side.sign;
    }
    let truncation = c.last().map_or(0.0, |last| (last * h.powi(c.len() as i32 - 1)).abs());
    let beginning = Beginning { sign: side.sign, zeros: side.zeros, noise: 0.0, truncation };
    if certainly_none(c, h, &beginning) {
        return None;
    }
    Roots::new(c, h, &beginning).find(|r| r.crossing && wanted(r.at, r.before)).map(|r| r.at)
}
