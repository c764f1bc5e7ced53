//! The variation across a jump: at g(x, t, θ) = 0 the state goes over by x⁺ = R(x⁻, t, θ).
//!
//! ```text
//! δτ = −(g_x δx⁻ + g_θ δθ)/ġ⁻          ξ = δx⁻ + f⁻ δτ,  ξ_t = δτ: the state at the moved instant
//! δx⁺ = DR[ξ, δτ, δθ] − f⁺ δτ
//! ```
//!
//! R is differentiated along ξ, exactly: the impact law in `saltation_law.rs`, resets by their formulas; a surface has R = 1.

use crate::journal::{JumpRecord, LawRecord};
use crate::run::Run;
use crate::saltation_law::{Along, OneWall};
use crate::sensitivity::matrix_of;
use crate::variation::{JumpVariation, Obstacle};
use carom_jet::Time;
use carom_jet::dense::{Matrix, largest};
use carom_mech::model::Action;

/// Two derivatives that agree to this part are the same: both are exact to some roundings of their terms.
pub(crate) const SAME: f64 = 1e-9;

/// What causes a jump.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cause {
    /// The gap of a wall reached zero.
    Wall(usize),
    /// An event fired.
    Event(usize),
    /// A switching surface is crossed: the state is continuous, its rate is not.
    Surface(usize),
}

/// The instant before a jump.
pub(crate) struct Before {
    cause: Cause,
    pub time: Time,
    pub state: Vec<f64>,
    /// f⁻
    rate: Vec<f64>,
    /// δτ per direction.
    pub shift: Vec<f64>,
    /// ξ per direction; after the law, of the state after.
    pub moved: Vec<Vec<f64>>,
    /// The differentials along (ξ, ξ_t, δθ) at the state before.
    differentials: Vec<Vec<f64>>,
    /// dλ per direction.
    pub impulse: Vec<f64>,
    /// Walls held closed, and walls that were reached with φ̇⁻ < 0.
    closed: Vec<usize>,
    reached: Vec<usize>,
    /// How many records of impacts there were.
    pub impacts: usize,
    /// ∂τ of every record that was made since.
    pub times: Vec<Vec<f64>>,
    /// The same for the way back.
    pub record: Option<Box<JumpRecord>>,
}

impl Run<'_> {
    /// Everything about the instant before a jump, if the variation is wanted and still exists.
    pub fn before_jump(&mut self, cause: Cause) -> Option<Before> {
        self.renew_probe();
        let (time, state) = (self.now.time, self.now.state.clone());
        let rate = self.rate_at(&state)?;
        let place = {
            let layout = &self.tangent.as_ref()?.layout;
            match cause {
                Cause::Wall(w) => layout.gap + w,
                Cause::Event(e) => layout.when + e,
                Cause::Surface(s) => layout.surface + s,
            }
        };
        let still = vec![0.0; self.program.mechanics.model.parameters.len()];
        let flow = self.differential_at(time, &state, &rate, 1.0, &still);
        let crossing = flow[place];
        let (mut shift, mut moved, mut differentials) = (Vec::new(), Vec::new(), Vec::new());
        for d in 0..self.directions() {
            let mut change = self.differential_of_column(d);
            let column = &self.tangent.as_ref()?.columns[d];
            let tau = -change[place] / crossing;
            shift.push(tau);
            moved.push(column.iter().zip(&rate).map(|(x, f)| x + f * tau).collect());
            // Differentials are linear: those along ξ follow from those along the column and along the flow.
            change.iter_mut().zip(&flow).for_each(|(x, f)| *x += f * tau);
            differentials.push(change);
        }
        let impacts = self.recorder.motion.impacts.len();
        let impulse = vec![0.0; shift.len()];
        // A direction that has lost its meaning (a start lifted off its wall) says nothing about the others.
        let meant =
            |d: usize| self.tangent.as_ref().is_some_and(|t| t.columns[d].iter().all(|x| x.is_finite()));
        if (0..shift.len()).any(|d| meant(d) && !f64::is_finite(shift[d])) {
            let (walls, event) = match cause {
                Cause::Wall(w) => (vec![w], None),
                Cause::Event(e) => (vec![], Some(e)),
                Cause::Surface(_) => (vec![], None),
            };
            let what = if walls.is_empty() { Obstacle::Tangency } else { Obstacle::Graze };
            self.lose(what, &walls, event);
            return None;
        }
        let closed = self.contact.closed();
        let reached = match cause {
            Cause::Wall(w) => self.touched(&[w]),
            Cause::Event(_) | Cause::Surface(_) => Vec::new(),
        };
        let approached = |x: &usize| !closed.contains(x) && self.known_rate(*x) < 0.0;
        let reached = reached.into_iter().filter(approached).collect();
        let record = self.jump_record(cause, &state, &rate, crossing);
        let times = Vec::new();
        Some(Before {
            cause,
            time,
            state,
            rate,
            shift,
            moved,
            differentials,
            impulse,
            closed,
            reached,
            impacts,
            times,
            record,
        })
    }

    /// Carries the moved states over the jump, which has just been applied to the state; the next leg has not begun.
    pub fn carry_over(&mut self, before: Option<Before>) -> Option<Before> {
        let mut before = before?;
        match before.cause {
            Cause::Surface(_) => {}
            Cause::Event(e) => {
                if self.recorder.motion.impacts.len() != before.impacts {
                    self.lose(Obstacle::ResetAtWall, &[], Some(e));
                    return None;
                }
                for d in 0..before.shift.len() {
                    let values = &before.differentials[d];
                    let at = self.tangent.as_ref()?.layout.set[e];
                    let set = &self.program.mechanics.events[e].set;
                    for (i, &(symbol, _)) in set.iter().enumerate() {
                        if let Some(k) = self.program.state.iter().position(|&x| x == symbol) {
                            before.moved[d][k] = values[at + i];
                        }
                    }
                }
            }
            Cause::Wall(w) => self.carry_over_walls(&mut before, w)?,
        }
        Some(before)
    }

    /// The law at a wall, with the closed walls that pushed too.
    fn carry_over_walls(&mut self, before: &mut Before, w: usize) -> Option<()> {
        let records = &self.recorder.motion.impacts[before.impacts..];
        // A wall that another one lifts off does not push; nearby motions may reach it first.
        let mut walls: Vec<usize> = records.iter().flat_map(|r| r.walls.clone()).collect();
        walls.extend(&before.reached);
        walls.sort_unstable();
        walls.dedup();
        if self.is_degenerate() {
            self.lose(Obstacle::Degenerate, &[w], None);
            return None;
        }
        let held: Vec<usize> = walls.iter().copied().filter(|x| before.closed.contains(x)).collect();
        let others = walls.iter().any(|x| *x != w && !held.contains(x));
        let quadratic = self.program.mechanics.quadratic;
        if others && quadratic && held.is_empty() && self.carry_over_together(before, &walls).is_some() {
            self.note_one_sided(Obstacle::SimultaneousImpacts, &walls, None);
            return Some(());
        }
        let several = self.recorder.motion.impacts.len() != before.impacts + 1;
        if others || several || (!held.is_empty() && !quadratic) {
            self.lose(Obstacle::SimultaneousImpacts, &walls, None);
            return None;
        }
        let e = self.contact.restitution[w];
        let wall = OneWall { wall: w, restitution: e, varies: true, held: &held };
        let (time, state, shift) = (before.time, before.state.clone(), before.shift.clone());
        let known = Some(&before.differentials[..]);
        let mut along = Along { time, state: &state, moved: &mut before.moved, shift: &shift, known };
        let Some((impulse, points)) = self.differentiate_law(&mut along, &wall) else {
            self.lose(Obstacle::Graze, &[w], None);
            return None;
        };
        before.impulse = impulse;
        before.times.push(shift);
        if let Some(record) = &mut before.record {
            (record.impacts, record.probe.shift) = (before.impacts..before.impacts + 1, before.shift[0]);
            record.laws.push(LawRecord::new(&wall, state, points));
        }
        if let Some(tangent) = &mut self.tangent {
            tangent.log_factor = tangent.log_factor.filter(|_| held.is_empty()).map(|f| f + 2.0 * e.ln());
        }
        Some(())
    }

    /// The end of a series of infinitely many impacts on one wall: the law e = 0 at the state after the last of them, and
    /// t_Z = τ + 2φ̇⁺/(|φ̈|(1 − e)).
    pub fn carry_over_series(&mut self, before: Option<Before>, w: usize) -> Option<Before> {
        let mut before = before?;
        let e = self.contact.restitution[w];
        let resting: Vec<usize> = (0..self.contact.walls.len())
            .filter(|&x| x != w && self.contact.walls[x].touching && self.contact.walls[x].resting)
            .collect();
        let (time, state, shift) = (before.time, self.now.state.clone(), before.shift.clone());
        let acceleration = self.acceleration_of_flight()?;
        let (rate, fall) = (self.frame.gap_rate(w), -self.frame.gap_acceleration(w, &acceleration));
        let falls = self.differentiate_fall(time, &state, &before.moved, &shift, w, &resting)?;
        let mut row = Vec::new();
        for (d, d_fall) in falls.iter().enumerate() {
            let tangent = self.tangent.as_ref()?;
            let (seed, all) = (&tangent.seeds[d], tangent.parameter_seed(d));
            let own = seed.restitution == Some(w);
            let (gap_rate, restitution) = (tangent.layout.gap_rate + w, tangent.layout.restitution + w);
            let values = self.differential_at(time, &state, &before.moved[d], shift[d], &all);
            let d_e = values[restitution] + f64::from(u8::from(own));
            let left = 2.0 * rate / fall / (1.0 - e);
            let d_left = 2.0 * values[gap_rate] / fall / (1.0 - e) + left * (d_e / (1.0 - e) - d_fall / fall);
            row.push(shift[d] + d_left);
        }
        let wall = OneWall { wall: w, restitution: 0.0, varies: false, held: &resting };
        let mut along = Along { time, state: &state, moved: &mut before.moved, shift: &shift, known: None };
        let (_, points) = self.differentiate_law(&mut along, &wall)?;
        if let Some(record) = &mut before.record {
            record.laws.push(LawRecord::new(&wall, state, points));
        }
        if let Some(tangent) = &mut self.tangent {
            tangent.series.push((w, row));
            tangent.log_factor = None;
        }
        Some(before)
    }

    /// A series over several walls has no derivative that is known here.
    pub fn only_one_series(&mut self, before: Option<Before>, w: usize) -> Option<Before> {
        let before = before?;
        let walls: Vec<usize> =
            (0..self.contact.walls.len()).filter(|&x| self.contact.walls[x].zeno_at.is_some()).collect();
        if walls.iter().any(|&x| x != w && !before.closed.contains(&x)) {
            self.lose(Obstacle::Zeno, &walls, None);
            return None;
        }
        Some(before)
    }

    /// An impact at the very start: nearby starts lie behind the wall, or reach it a little later.
    pub fn before_first_jump(&mut self, touched: &[usize]) -> Option<Before> {
        match touched {
            [w] if self.known_rate(*w) < 0.0 => self.before_jump(Cause::Wall(*w)),
            _ => None,
        }
    }

    /// The first leg has begun: starts that a wall holds or strikes have one-sided derivatives, where they have any.
    pub fn finish_first_jump(&mut self, before: Option<Before>, struck: bool, touched: &[usize]) {
        if self.tangent.is_none() {
            return;
        }
        self.note_events_at_start();
        if touched.is_empty() {
            return;
        }
        if struck && before.is_none() {
            self.lose(Obstacle::StartAtWall, touched, None);
            return;
        }
        self.note_one_sided(Obstacle::StartAtWall, touched, None);
        self.finish_jump(before);
        let closed = self.contact.closed();
        for d in 0..self.directions() {
            let values = self.differential_of_column(d);
            let Some(tangent) = &mut self.tangent else { return };
            let l = &tangent.layout;
            // Lifted off, or thrown: what follows is not near.
            let leaves = |w: &usize| {
                values[l.gap + w].abs() > SAME * largest(&tangent.columns[d])
                    || values[l.gap_rate + w].abs() > SAME * largest(&tangent.columns[d])
            };
            if closed.iter().any(leaves) {
                tangent.columns[d].fill(f64::NAN);
            }
        }
    }

    /// Starts on the zero of a reset's function: directions that leave the zero have derivatives on one side only.
    fn note_events_at_start(&mut self) {
        for e in 0..self.program.mechanics.events.len() {
            let resets = matches!(self.program.mechanics.model.events[e].action, Action::Set(_));
            if !resets || !self.is_event_zero(e) {
                continue;
            }
            let leaves = (0..self.directions()).any(|d| {
                let change = self.differential_of_column(d);
                let Some(tangent) = &self.tangent else { return false };
                change[tangent.layout.when + e].abs() > SAME * largest(&tangent.columns[d])
            });
            if leaves {
                self.note_one_sided(Obstacle::StartAtEvent, &[], Some(e));
            }
        }
    }

    /// Back to fixed time, now that the leg after the jump has begun.
    pub fn finish_jump(&mut self, before: Option<Before>) {
        let Some(mut before) = before else { return };
        let n = 2 * self.size();
        let rate: Vec<f64> = (0..n).map(|i| self.leg.flow().rate(i)).collect();
        let Some(tangent) = &mut self.tangent else { return };
        for (d, column) in tangent.columns.iter_mut().enumerate() {
            for (i, x) in column.iter_mut().enumerate() {
                *x = before.moved[d][i] - rate[i] * before.shift[d];
            }
        }
        if let Some(record) = before.record.take() {
            // Of walls it is known already whether their time is one.
            let walls = matches!(before.cause, Cause::Wall(_));
            let shift = if walls { record.probe.shift } else { before.shift[0] };
            let (impulse, column) = (before.impulse[0], tangent.columns[0].clone());
            let mut record = record.followed_by(&rate, shift, impulse, &column);
            record.event = self.event_of(before.cause);
            return self.record_jump(Some(record));
        }
        let after = matrix_of(&tangent.columns);
        match before.cause {
            Cause::Wall(w) => self.push_impacts(w, before, after, rate),
            Cause::Event(_) => {
                let (time, impulse) = (before.shift, Vec::new());
                tangent.result.events.push(JumpVariation { time, impulse, after, rate });
            }
            Cause::Surface(_) => {}
        }
    }

    /// A row for every record of this instant; what is after it is known after the last.
    fn push_impacts(&mut self, w: usize, before: Before, after: Matrix, rate: Vec<f64>) {
        self.fill_impacts(before.impacts);
        let impacts = &self.recorder.motion.impacts;
        let Some(tangent) = &mut self.tangent else { return };
        let count = before.times.len();
        for (k, time) in before.times.into_iter().enumerate() {
            let Some(record) = impacts.get(before.impacts + k) else { return };
            // Impulses of walls that were closed already are not followed.
            let unknown = || vec![f64::NAN; time.len()];
            let impulse = record
                .walls
                .iter()
                .map(|&other| if other == w { before.impulse.clone() } else { unknown() })
                .collect();
            let mut row = JumpVariation { time, impulse, after: after.clone(), rate: rate.clone() };
            if k + 1 < count {
                row.after.entries.fill(f64::NAN);
                row.rate.fill(f64::NAN);
            }
            tangent.result.impacts.push(row);
        }
    }

    /// An event that only records: when it happens moves, the state does not jump.
    pub fn vary_record(&mut self, e: usize) {
        let before = self.before_jump(Cause::Event(e));
        if let Some(mut before) = before {
            let Some(tangent) = &mut self.tangent else { return };
            if let Some(record) = before.record.take() {
                let column = tangent.columns[0].clone();
                let mut record = record.followed_by(&before.rate, before.shift[0], 0.0, &column);
                record.mark = true;
                record.event = self.event_of(before.cause);
                return self.record_jump(Some(record));
            }
            let after = matrix_of(&tangent.columns);
            let (time, rate) = (before.shift, before.rate);
            tangent.result.events.push(JumpVariation { time, impulse: Vec::new(), after, rate });
        }
    }

    /// Rows without derivative up to this many impacts.
    fn fill_impacts(&mut self, count: usize) {
        let impacts = &self.recorder.motion.impacts;
        let Some(tangent) = &mut self.tangent else { return };
        let (k, n) = (tangent.columns.len(), tangent.columns.first().map_or(0, Vec::len));
        while tangent.result.impacts.len() < count {
            let walls = impacts.get(tangent.result.impacts.len()).map_or(0, |i| i.walls.len());
            tangent.result.impacts.push(JumpVariation::unknown(k, n, walls));
        }
    }

    /// Records without derivative, so that lists stay parallel.
    pub fn fill_jumps(&mut self) {
        self.fill_impacts(self.recorder.motion.impacts.len());
        let (impacts, events) = (&self.recorder.motion.impacts, self.recorder.motion.events.len());
        let Some(tangent) = &mut self.tangent else { return };
        let (k, n) = (tangent.columns.len(), tangent.columns.first().map_or(0, Vec::len));
        let result = &mut tangent.result;
        while result.events.len() < events {
            result.events.push(JumpVariation::unknown(k, n, 0));
        }
        let mut series = tangent.series.clone();
        for contact in &self.recorder.motion.contacts {
            let known = match contact.zeno {
                true => series.iter().position(|s| s.0 == contact.wall).map(|i| series.remove(i).1),
                false => {
                    let same =
                        |i: &crate::motion::Impact| i.time == contact.from && i.walls.contains(&contact.wall);
                    impacts.iter().position(same).map(|i| result.impacts[i].time.clone())
                }
            };
            let fixed = contact.from == self.options.start.time;
            let none = vec![if fixed { 0.0 } else { f64::NAN }; k];
            result.contacts.push(known.unwrap_or(none));
        }
    }
}
