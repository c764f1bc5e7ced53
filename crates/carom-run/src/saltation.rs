//! The variation across a jump: at g(x, t, θ) = 0 the state goes over by x⁺ = R(x⁻, t, θ).
//!
//! ```text
//! δτ = −(g_x δx⁻ + g_θ δθ)/ġ⁻          ξ = δx⁻ + f⁻ δτ,  ξ_t = δτ: the state at the moved instant
//! δx⁺ = DR[ξ, δτ, δθ] − f⁺ δτ
//! ```
//!
//! R is differentiated along ξ, exactly: the impact law in `saltation_law.rs`, resets by their formulas; a surface has R = 1.

use crate::run::Run;
use crate::saltation_law::{Along, OneWall};
use crate::sensitivity::matrix_of;
use crate::variation::{JumpVariation, Obstacle};
use carom_jet::Time;
use carom_jet::dense::{Matrix, dot, largest};

/// Two derivatives that agree to this part are the same: both are exact to some roundings of their terms.
const SAME: f64 = 1e-9;

/// Walls met one after the other.
struct Sequence {
    state: Vec<f64>,
    /// At fixed time, as if the leg before went on.
    columns: Vec<Vec<f64>>,
    moved: Vec<Vec<f64>>,
    shift: Vec<f64>,
}

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
    time: Time,
    state: Vec<f64>,
    /// f⁻
    rate: Vec<f64>,
    /// δτ per direction.
    shift: Vec<f64>,
    /// ξ per direction; after the law, of the state after.
    moved: Vec<Vec<f64>>,
    /// dλ per direction.
    impulse: Vec<f64>,
    /// Walls held closed.
    closed: Vec<usize>,
    impacts: usize,
}

impl Run<'_> {
    /// Everything about the instant before a jump, if the variation is wanted and still exists.
    pub fn before_jump(&mut self, cause: Cause) -> Option<Before> {
        let (time, state) = (self.time, self.state.clone());
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
        let crossing = self.differential_at(time, &state, &rate, 1.0, &still)[place];
        let (mut shift, mut moved) = (Vec::new(), Vec::new());
        for d in 0..self.directions() {
            let change = self.differential_of_column(d)[place];
            let column = &self.tangent.as_ref()?.columns[d];
            let tau = -change / crossing;
            shift.push(tau);
            moved.push(column.iter().zip(&rate).map(|(x, f)| x + f * tau).collect());
        }
        let impacts = self.recorder.motion.impacts.len();
        let impulse = vec![0.0; shift.len()];
        if !shift.iter().all(|t: &f64| t.is_finite()) {
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
        Some(Before { cause, time, state, rate, shift, moved, impulse, closed, impacts })
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
                    let values = self.along(&before, d)?;
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
        let mut walls: Vec<usize> = records.iter().flat_map(|r| r.walls.clone()).collect();
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
            self.note_one_sided(Obstacle::SimultaneousImpacts, &walls);
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
        let mut along = Along { time, state: &state, moved: &mut before.moved, shift: &shift };
        let Some(impulse) = self.differentiate_law(&mut along, &wall) else {
            self.lose(Obstacle::Graze, &[w], None);
            return None;
        };
        before.impulse = impulse;
        if let Some(tangent) = &mut self.tangent {
            tangent.log_factor = tangent.log_factor.filter(|_| held.is_empty()).map(|f| f + 2.0 * e.ln());
        }
        Some(())
    }

    /// Several walls at one instant: nearby motions meet them one after the other. Where all orders lead to the same state
    /// and the same derivative, that is the derivative.
    fn carry_over_together(&mut self, before: &mut Before, walls: &[usize]) -> Option<()> {
        let backwards: Vec<usize> = walls.iter().rev().copied().collect();
        let one = self.sequence(before, walls);
        self.evaluate_frame();
        let one = one?;
        let other = self.sequence(before, &backwards);
        self.evaluate_frame();
        let other = other?;
        let agrees = |a: &[f64], b: &[f64]| {
            let scale = largest(a).max(largest(b));
            a.iter().zip(b).all(|(x, y)| (x - y).abs() <= SAME * scale)
        };
        let n = 2 * self.size();
        if !agrees(&one.state[..n], &other.state[..n]) || !agrees(&one.state[..n], &self.state[..n]) {
            return None;
        }
        for (a, b) in one.columns.iter().zip(&other.columns) {
            if !agrees(a, b) {
                return None;
            }
        }
        (before.moved, before.shift) = (one.moved, one.shift);
        // Impulses of several walls are not followed one by one.
        before.impulse.fill(f64::NAN);
        if let Some(tangent) = &mut self.tangent {
            tangent.log_factor = None;
        }
        Some(())
    }

    /// One wall after the other at the present instant.
    fn sequence(&mut self, before: &Before, walls: &[usize]) -> Option<Sequence> {
        let (n, time) = (self.size(), before.time);
        let mut state = before.state.clone();
        let mut columns = self.tangent.as_ref()?.columns.clone();
        let (mut moved, mut shift) = (Vec::new(), Vec::new());
        for &w in walls {
            let rate = self.rate_at(&state)?;
            self.frame.at(time, &state);
            let approach = self.frame.gap_rate(w);
            if approach.is_nan() || approach >= 0.0 {
                return None;
            }
            let e = self.contact.restitution[w];
            let (spread, y) = self.frame.metric().inverse_mass_times(self.frame.normal(w));
            let impulse = -(1.0 + e) * approach / dot(self.frame.normal(w), &spread);
            let reaction = self.frame.rows().transposed_times(&y);
            let push: Vec<f64> = match self.frame.layout.inverse {
                true => self.frame.normal(w).iter().zip(&reaction).map(|(n, r)| n - r).collect(),
                false => spread,
            };
            shift.clear();
            moved.clear();
            for (d, column) in columns.iter().enumerate() {
                let seed = self.tangent.as_ref()?.seeds[d].parameters.clone();
                let at = self.tangent.as_ref()?.layout.gap + w;
                let tau = -self.differential_at(time, &state, column, 0.0, &seed)[at] / approach;
                shift.push(tau);
                moved.push(column.iter().zip(&rate).map(|(x, f)| x + f * tau).collect::<Vec<f64>>());
            }
            let wall = OneWall { wall: w, restitution: e, varies: true, held: &[] };
            let mut along = Along { time, state: &state, moved: &mut moved, shift: &shift };
            self.differentiate_law(&mut along, &wall)?;
            state[n..2 * n].iter_mut().zip(&push).for_each(|(x, p)| *x += impulse * p);
            let after = self.rate_at(&state)?;
            for (d, column) in columns.iter_mut().enumerate() {
                *column = moved[d].iter().zip(&after).map(|(x, f)| x - f * shift[d]).collect();
            }
        }
        Some(Sequence { state, columns, moved, shift })
    }

    /// The end of a series of infinitely many impacts on one wall: the law e = 0 at the state after the last of them, and
    /// t_Z = τ + 2φ̇⁺/(|φ̈|(1 − e)).
    pub fn carry_over_series(&mut self, before: Option<Before>, w: usize) -> Option<Before> {
        let mut before = before?;
        let e = self.contact.restitution[w];
        let resting: Vec<usize> = (0..self.contact.walls.len())
            .filter(|&x| x != w && self.contact.walls[x].touching && self.contact.walls[x].resting)
            .collect();
        let (time, state, shift) = (before.time, self.state.clone(), before.shift.clone());
        let acceleration = self.acceleration_of_flight()?;
        let (rate, fall) = (self.frame.gap_rate(w), -self.gap_acceleration(w, &acceleration));
        let falls = self.differentiate_fall(time, &state, &before.moved, &shift, w, &resting)?;
        let mut row = Vec::new();
        for (d, d_fall) in falls.iter().enumerate() {
            let tangent = self.tangent.as_ref()?;
            let seed = tangent.seeds[d].clone();
            let (gap_rate, restitution) = (tangent.layout.gap_rate + w, tangent.layout.restitution + w);
            let values = self.differential_at(time, &state, &before.moved[d], shift[d], &seed.parameters);
            let d_e = values[restitution] + f64::from(u8::from(seed.restitution == Some(w)));
            let left = 2.0 * rate / fall / (1.0 - e);
            let d_left = 2.0 * values[gap_rate] / fall / (1.0 - e) + left * (d_e / (1.0 - e) - d_fall / fall);
            row.push(shift[d] + d_left);
        }
        let wall = OneWall { wall: w, restitution: 0.0, varies: false, held: &resting };
        let mut along = Along { time, state: &state, moved: &mut before.moved, shift: &shift };
        self.differentiate_law(&mut along, &wall)?;
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
        if self.tangent.is_none() || touched.is_empty() {
            return;
        }
        if struck && before.is_none() {
            self.lose(Obstacle::StartAtWall, touched, None);
            return;
        }
        self.note_one_sided(Obstacle::StartAtWall, touched);
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

    /// The differentials along the moved state of direction d.
    fn along(&mut self, before: &Before, d: usize) -> Option<Vec<f64>> {
        let seed = self.tangent.as_ref()?.seeds[d].parameters.clone();
        Some(self.differential_at(before.time, &before.state, &before.moved[d], before.shift[d], &seed))
    }

    /// Back to fixed time, now that the leg after the jump has begun.
    pub fn finish_jump(&mut self, before: Option<Before>) {
        let Some(before) = before else { return };
        let n = 2 * self.size();
        let rate: Vec<f64> = (0..n).map(|i| self.flow().rate(i)).collect();
        let Some(tangent) = &mut self.tangent else { return };
        for (d, column) in tangent.columns.iter_mut().enumerate() {
            for (i, x) in column.iter_mut().enumerate() {
                *x = before.moved[d][i] - rate[i] * before.shift[d];
            }
        }
        let record = JumpVariation {
            time: before.shift,
            impulse: Vec::new(),
            after: matrix_of(&tangent.columns),
            rate,
        };
        match before.cause {
            Cause::Wall(w) => {
                let walls = self.recorder.motion.impacts.get(before.impacts).map(|r| &r.walls[..]);
                // Impulses of walls that were closed already are not followed.
                let unknown = vec![f64::NAN; before.impulse.len()];
                let impulse = walls
                    .unwrap_or_default()
                    .iter()
                    .map(|&other| if other == w { before.impulse.clone() } else { unknown.clone() })
                    .collect();
                tangent.result.impacts.push(JumpVariation { impulse, ..record });
            }
            Cause::Event(_) => tangent.result.events.push(record),
            Cause::Surface(_) => {}
        }
    }

    /// An event that only records: when it happens moves, the state does not jump.
    pub fn vary_record(&mut self, e: usize) {
        let before = self.before_jump(Cause::Event(e));
        if let Some(before) = before {
            let Some(tangent) = &mut self.tangent else { return };
            let after = matrix_of(&tangent.columns);
            let (time, rate) = (before.shift, before.rate);
            tangent.result.events.push(JumpVariation { time, impulse: Vec::new(), after, rate });
        }
    }

    /// Records without derivative, so that lists stay parallel.
    pub fn fill_jumps(&mut self) {
        let (impacts, events) = (&self.recorder.motion.impacts, self.recorder.motion.events.len());
        let Some(tangent) = &mut self.tangent else { return };
        let (k, n) = (tangent.columns.len(), tangent.columns.first().map_or(0, Vec::len));
        let nan = |walls: usize| JumpVariation {
            time: vec![f64::NAN; k],
            impulse: vec![vec![f64::NAN; k]; walls],
            after: Matrix { rows: n, columns: k, entries: vec![f64::NAN; n * k] },
            rate: vec![f64::NAN; n],
        };
        let result = &mut tangent.result;
        while result.impacts.len() < impacts.len() {
            result.impacts.push(nan(impacts[result.impacts.len()].walls.len()));
        }
        while result.events.len() < events {
            result.events.push(nan(0));
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
