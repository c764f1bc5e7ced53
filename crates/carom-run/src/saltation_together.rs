//! The variation across several walls at one instant: nearby motions meet them one after the other.
//!
//! ```text
//! Ξ = Ξ_k … Ξ_1 in the order taken          ∂τ_w, of the column that reaches wall w
//! ```
//!
//! Where every order leads to the same state and to the same derivative, that is the derivative, on each side; else there is none.
//! What is between two of them is free flight: walls that hold (e = 0) are not followed. A record of several walls has a ∂τ where those of
//! its walls are the same in every order, NaN elsewhere.

use crate::journal::{JumpRecord, LawRecord};
use crate::run::Run;
use crate::saltation::{Before, Cause, SAME};
use crate::saltation_law::{Along, OneWall};
use carom_jet::dense::{dot, largest};

/// So many walls have 24 orders; more are not followed.
const MOST_TOGETHER: usize = 4;

/// When a wall is met.
struct Meeting {
    wall: usize,
    /// ∂τ per direction.
    shift: Vec<f64>,
    /// The terms ∂τ is the sum of.
    terms: Vec<f64>,
}

/// Walls met one after the other.
struct Sequence {
    state: Vec<f64>,
    /// At fixed time, as if the leg before went on.
    columns: Vec<Vec<f64>>,
    /// Of the last wall: the state at its moved instant, and ∂τ.
    last: (Vec<Vec<f64>>, Vec<f64>),
    meetings: Vec<Meeting>,
    records: Vec<JumpRecord>,
}

impl Sequence {
    /// Does another order lead to the same state and derivative? Of times that it does not agree with, none remains.
    fn agrees(&mut self, other: &Sequence, n: usize) -> bool {
        if !same(&self.state[..n], &other.state[..n]) {
            return false;
        }
        for (a, b) in self.columns.iter().zip(&other.columns) {
            if a.iter().chain(b).all(|x| x.is_finite()) && !same(a, b) {
                return false;
            }
        }
        for meeting in &mut self.meetings {
            if let Some(there) = other.meetings.iter().find(|m| m.wall == meeting.wall) {
                meeting.shift = agreed(meeting, there);
            }
        }
        true
    }
}

fn same(a: &[f64], b: &[f64]) -> bool {
    let scale = largest(a).max(largest(b));
    a.iter().zip(b).all(|(x, y)| (x - y).abs() <= SAME * scale)
}

/// ∂τ where both say the same.
fn agreed(a: &Meeting, b: &Meeting) -> Vec<f64> {
    let one = |d: usize| {
        let alike = (a.shift[d] - b.shift[d]).abs() <= SAME * a.terms[d].max(b.terms[d]);
        if alike { a.shift[d] } else { f64::NAN }
    };
    (0..a.shift.len()).map(one).collect()
}

/// ∂τ of a record of these walls.
fn shift_of_record(meetings: &[Meeting], walls: &[usize]) -> Option<Vec<f64>> {
    let mut own = meetings.iter().filter(|m| walls.contains(&m.wall));
    let first = own.next()?;
    let mut all = first.shift.clone();
    for other in own {
        all.iter_mut().zip(agreed(first, other)).filter(|(_, y)| y.is_nan()).for_each(|(x, y)| *x = y);
    }
    Some(all)
}

/// Every order of these walls, the given one first.
fn orders(walls: &[usize]) -> Vec<Vec<usize>> {
    if walls.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (i, &first) in walls.iter().enumerate() {
        let rest: Vec<usize> = walls[..i].iter().chain(&walls[i + 1..]).copied().collect();
        all.extend(orders(&rest).into_iter().map(|order| [vec![first], order].concat()));
    }
    all
}

impl Run<'_> {
    /// Carries the moved states over walls that were met together. `None`: there is no derivative.
    pub fn carry_over_together(&mut self, before: &mut Before, walls: &[usize]) -> Option<()> {
        if walls.len() > MOST_TOGETHER {
            self.warn(format!(
                "{} walls were hit at once, in any of so many orders that the derivatives across them are not followed",
                walls.len()
            ));
            return None;
        }
        if walls.iter().any(|&w| self.contact.restitution[w] == 0.0) {
            return None;
        }
        let n = 2 * self.size();
        let mut one: Option<Sequence> = None;
        for order in orders(walls) {
            let found = self.sequence(before, &order);
            self.evaluate_frame();
            let found = found?;
            if !same(&found.state[..n], &self.now.state[..n]) {
                return None;
            }
            match &mut one {
                None => one = Some(found),
                Some(one) => {
                    if !one.agrees(&found, n) {
                        return None;
                    }
                }
            }
        }
        let Sequence { last, meetings, mut records, .. } = one?;
        // Every record of this instant has the time of its walls, and belongs to the last of them that is met.
        before.times.clear();
        for i in before.impacts..self.recorder.motion.impacts.len() {
            let walls = &self.recorder.motion.impacts[i].walls;
            let times = shift_of_record(&meetings, walls)?;
            let owner =
                records.iter_mut().rev().find(|r| matches!(r.cause, Cause::Wall(w) if walls.contains(&w)));
            if let Some(owner) = owner {
                if !owner.impacts.is_empty() {
                    return None;
                }
                (owner.impacts, owner.probe.shift) = (i..i + 1, times[0]);
            }
            before.times.push(times);
        }
        (before.moved, before.shift) = last;
        before.record = records.pop().map(Box::new);
        records.into_iter().for_each(|record| self.record_jump(Some(Box::new(record))));
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
        let (mut last, mut meetings, mut records) = ((Vec::new(), Vec::new()), Vec::new(), Vec::new());
        for &w in walls {
            let rate = self.rate_at(&state)?;
            self.frame.at(time, &state);
            let approach = self.frame.gap_rate(w);
            if approach.is_nan() || approach >= 0.0 {
                return None;
            }
            let e = self.contact.restitution[w];
            let normal = self.frame.normal(w).to_vec();
            let (spread, y) = self.frame.kkt().inverse_mass_times(&normal);
            let impulse = -(1.0 + e) * approach / dot(&normal, &spread);
            let reaction = self.frame.rows().transposed_times(&y);
            let push: Vec<f64> = match self.frame.layout.inverse {
                true => normal.iter().zip(&reaction).map(|(n, r)| n - r).collect(),
                false => spread,
            };
            let (mut moved, mut shift, mut terms) = (Vec::new(), Vec::new(), Vec::new());
            for (d, column) in columns.iter().enumerate() {
                let seed = self.tangent.as_ref()?.parameter_seed(d);
                let at = self.tangent.as_ref()?.layout.gap + w;
                let change = self.differential_at(time, &state, column, 0.0, &seed)[at];
                let by_state: f64 = dot(&normal, &column[..n]);
                let size: f64 = normal.iter().zip(column).map(|(n, x)| (n * x).abs()).sum();
                let tau = -change / approach;
                shift.push(tau);
                terms.push((size + (change - by_state).abs()) / approach.abs());
                moved.push(column.iter().zip(&rate).map(|(x, f)| x + f * tau).collect::<Vec<f64>>());
            }
            let wall = OneWall { wall: w, restitution: e, varies: true, held: &[] };
            let mut along = Along { time, state: &state, moved: &mut moved, shift: &shift, known: None };
            let (_, points) = self.differentiate_law(&mut along, &wall)?;
            let mut record = self.jump_record(Cause::Wall(w), &state, &rate, approach);
            if let Some(record) = &mut record {
                record.laws.push(LawRecord::new(&wall, state.clone(), points));
                record.probe.before.clone_from(&columns[0]);
            }
            state[n..2 * n].iter_mut().zip(&push).for_each(|(x, p)| *x += impulse * p);
            let after = self.rate_at(&state)?;
            for (d, column) in columns.iter_mut().enumerate() {
                *column = moved[d].iter().zip(&after).map(|(x, f)| x - f * shift[d]).collect();
            }
            records.extend(record.map(|record| *record.followed_by(&after, shift[0], f64::NAN, &columns[0])));
            last = (moved, shift.clone());
            meetings.push(Meeting { wall: w, shift, terms });
        }
        Some(Sequence { state, columns, last, meetings, records })
    }
}

#[cfg(test)]
mod tests {
    use super::orders;

    #[test]
    fn orders_are_all_and_each_once() {
        for n in 0..=4 {
            let walls: Vec<usize> = (0..n).map(|w| 3 * w + 1).collect();
            let mut all = orders(&walls);
            assert_eq!(all[0], walls);
            assert_eq!(all.len(), (1..=n).product::<usize>());
            all.sort();
            all.dedup();
            assert_eq!(all.len(), (1..=n).product::<usize>());
        }
    }
}
