//! A motion as a sequence of knots: its samples in order of time, and both sides of every jump between them.
//!
//! ```text
//! sample … sample, before j, after j, sample …        t(before j) = t(after j) = time of jump j
//! ```
//!
//! A sample at the very time of a jump is the state after it. Jumps at one time (one record per application of the law) are
//! one jump here: the state before the first and after the last.
//!
//! Formulas of a model (where a body is, what a definition means) can be evaluated at any knot: that is presentation of a
//! known state. What a knot does not know (an acceleration, a momentum between samples) evaluates to NaN.

use crate::formula::{Formulas, SymbolMeaning, curves};
use carom_expr::Expr;
use carom_mech::{Action, Mechanics};
use carom_run::Motion;

/// One end of a piece of smooth motion, or a state inside it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Knot {
    /// A sample of the motion.
    Sample(usize),
    /// The state before a jump.
    Before(usize),
    /// The state after a jump.
    After(usize),
    /// The state at a recorded event.
    Event(usize),
}

/// An impact, or an event that reset the state.
#[derive(Clone, Debug)]
pub struct Jump {
    /// Counted from 0 among all jumps of the motion.
    pub number: usize,
    /// When.
    pub time: f64,
    /// Walls that received an impulse; empty for a reset.
    pub walls: Vec<usize>,
    /// q and v before; not known for a reset.
    pub before: Option<(Vec<f64>, Vec<f64>)>,
    /// q and v after.
    pub after: (Vec<f64>, Vec<f64>),
    /// E before and after; NaN where not known.
    pub hamiltonian: (f64, f64),
}

/// A motion, its jumps and its knots.
pub struct Track<'a> {
    /// The model and its equations.
    pub mechanics: &'a Mechanics,
    /// The motion.
    pub motion: &'a Motion,
    /// In order of time.
    pub jumps: Vec<Jump>,
    /// Samples and both sides of jumps, in order of time.
    pub knots: Vec<Knot>,
}

impl<'a> Track<'a> {
    /// Orders the samples and puts the jumps between them.
    pub fn new(mechanics: &'a Mechanics, motion: &'a Motion) -> Track<'a> {
        let mut samples: Vec<usize> =
            (0..motion.time.len()).filter(|&i| motion.time[i].is_finite()).collect();
        samples.sort_by(|&a, &b| motion.time[a].total_cmp(&motion.time[b]));
        let first = samples.first().map_or(f64::INFINITY, |&i| motion.time[i]);
        let last = samples.last().map_or(f64::NEG_INFINITY, |&i| motion.time[i]);
        let mut jumps = jumps(mechanics, motion);
        jumps.retain(|j| j.time >= first && j.time <= last);
        let mut knots = Vec::with_capacity(samples.len() + 2 * jumps.len());
        let mut next = 0;
        for i in samples {
            while jumps.get(next).is_some_and(|j| j.time <= motion.time[i]) {
                knots.push(Knot::Before(next));
                knots.push(Knot::After(next));
                next += 1;
            }
            knots.push(Knot::Sample(i));
        }
        Track { mechanics, motion, jumps, knots }
    }

    /// Leaves out jumps until at most `most` are left: the first half of them stays, the rest is spread evenly.
    pub fn thin(&mut self, most: usize) {
        if self.jumps.len() <= most {
            return;
        }
        let all = std::mem::take(&mut self.jumps);
        let early = most / 2;
        let stride = (all.len() - early).div_ceil((most - early).max(1));
        let stays = |n: usize| n < early || (n - early).is_multiple_of(stride);
        let mut place: Vec<Option<usize>> = Vec::with_capacity(all.len());
        for (n, jump) in all.into_iter().enumerate() {
            place.push(stays(n).then_some(self.jumps.len()));
            if stays(n) {
                self.jumps.push(jump);
            }
        }
        let moved = |knot: &Knot| match *knot {
            Knot::Before(j) => place[j].map(Knot::Before),
            Knot::After(j) => place[j].map(Knot::After),
            other => Some(other),
        };
        self.knots = self.knots.iter().filter_map(moved).collect();
    }

    /// The time of a knot.
    pub fn time(&self, knot: Knot) -> f64 {
        match knot {
            Knot::Sample(i) => self.motion.time[i],
            Knot::Before(j) | Knot::After(j) => self.jumps[j].time,
            Knot::Event(e) => self.motion.events[e].time,
        }
    }

    /// q of coordinate `k`.
    pub fn position(&self, knot: Knot, k: usize) -> f64 {
        let value = match knot {
            Knot::Sample(i) => self.motion.position.get(k).and_then(|s| s.values.get(i)),
            Knot::Before(j) => self.jumps[j].before.as_ref().and_then(|s| s.0.get(k)),
            Knot::After(j) => self.jumps[j].after.0.get(k),
            Knot::Event(e) => self.motion.events[e].position.get(k),
        };
        value.copied().unwrap_or(f64::NAN)
    }

    /// v of coordinate `k`.
    pub fn velocity(&self, knot: Knot, k: usize) -> f64 {
        let value = match knot {
            Knot::Sample(i) => self.motion.velocity.get(k).and_then(|s| s.values.get(i)),
            Knot::Before(j) => self.jumps[j].before.as_ref().and_then(|s| s.1.get(k)),
            Knot::After(j) => self.jumps[j].after.1.get(k),
            Knot::Event(e) => self.motion.events[e].velocity.get(k),
        };
        value.copied().unwrap_or(f64::NAN)
    }

    /// The values of `roots` at each of `knots`, knot by knot.
    pub fn evaluate(&self, roots: &[Expr], knots: &[Knot]) -> Vec<Vec<f64>> {
        self.along(roots, knots, Formulas::evaluate)
    }

    /// The values of one formula at `knots`.
    pub fn evaluate_one(&self, root: Expr, knots: &[Knot]) -> Vec<f64> {
        self.along(&[root], knots, Formulas::evaluate_first)
    }

    fn along<V>(&self, roots: &[Expr], knots: &[Knot], value: impl Fn(&mut Formulas, &[f64]) -> V) -> Vec<V> {
        let mut formulas = Formulas::new(&self.mechanics.model, roots);
        let meanings = formulas.meanings.clone();
        let curves = curves(&self.mechanics.model);
        let mut slots = vec![0.0; meanings.len()];
        let momentum = |knot: Knot, k: usize| match knot {
            Knot::Sample(i) => self.motion.momentum.get(k).and_then(|s| s.values.get(i)).copied(),
            _ => None,
        };
        let of = |meaning: &SymbolMeaning, knot: Knot| match *meaning {
            SymbolMeaning::Known(x) => x,
            SymbolMeaning::Time => self.time(knot),
            SymbolMeaning::Position(k) => self.position(knot, k),
            SymbolMeaning::Velocity(k) => self.velocity(knot, k),
            SymbolMeaning::Momentum(k) => momentum(knot, k).unwrap_or(f64::NAN),
            SymbolMeaning::Input(i, order) => curves[i].value(order, self.time(knot)),
            SymbolMeaning::Unknown => f64::NAN,
        };
        let one = |&knot: &Knot| {
            slots.iter_mut().zip(&meanings).for_each(|(v, m)| *v = of(m, knot));
            value(&mut formulas, &slots)
        };
        knots.iter().map(one).collect()
    }

    /// At most `most` knots spread over the motion: enough to tell how large something is.
    pub fn some_knots(&self, most: usize) -> Vec<Knot> {
        let stride = self.knots.len().div_ceil(most.max(1)).max(1);
        self.knots.iter().step_by(stride).copied().collect()
    }
}

fn jumps(mechanics: &Mechanics, motion: &Motion) -> Vec<Jump> {
    let mut found: Vec<Jump> = Vec::new();
    for i in &motion.impacts {
        let after = (i.position.clone(), i.velocity_after.clone());
        if let Some(last) = found.last_mut().filter(|j| j.time == i.time) {
            last.after = after;
            last.hamiltonian.1 = i.hamiltonian_after;
            last.walls
                .extend(i.walls.iter().filter(|w| !last.walls.contains(w)).copied().collect::<Vec<_>>());
            continue;
        }
        found.push(Jump {
            number: 0,
            time: i.time,
            walls: i.walls.clone(),
            before: Some((i.position.clone(), i.velocity_before.clone())),
            after,
            hamiltonian: (i.hamiltonian_before, i.hamiltonian_after),
        });
    }
    let is_reset = |e: &carom_run::EventRecord| {
        mechanics.model.events.get(e.event).is_some_and(|m| matches!(m.action, Action::Set(_)))
    };
    found.extend(motion.events.iter().filter(|e| is_reset(e)).map(|e| Jump {
        number: 0,
        time: e.time,
        walls: vec![],
        before: None,
        after: (e.position.clone(), e.velocity.clone()),
        hamiltonian: (f64::NAN, f64::NAN),
    }));
    found.retain(|j| j.time.is_finite());
    found.sort_by(|a, b| a.time.total_cmp(&b.time));
    found.iter_mut().enumerate().for_each(|(n, j)| j.number = n);
    found
}
