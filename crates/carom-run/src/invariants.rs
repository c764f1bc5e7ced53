//! How well a motion keeps what its model conserves.
//!
//! ```text
//! drift = max |J(t) − J(t_leg)| / max s(J)
//! ```
//!
//! t_leg is the start, or the last impact, contact or reset that breaks J (THEORY §8): across those it may change. s is the scale
//! of J by the sweep over its formula, so a J that is a small difference of large terms is not blamed for their rounding.

use crate::motion::{InvariantDrift, Motion};
use carom_expr::Style;
use carom_mech::invariants::{Breaker, Invariant, invariants};
use carom_mech::{Dynamics, Mechanics};

/// Fills in the invariants of the audit, from the samples of a motion; `parameters` as it was simulated with.
///
/// Invariants that contain a table input are left out.
pub fn audit_invariants(mechanics: &Mechanics, parameters: &[f64], motion: &mut Motion) {
    let mut found = invariants(mechanics);
    let Some(values) = found.values(mechanics) else { return };
    if found.list.is_empty() {
        return;
    }
    let hamiltonian = matches!(mechanics.dynamics, Dynamics::Hamiltonian(_));
    let rates = if hamiltonian { &motion.momentum } else { &motion.velocity };
    let mut order: Vec<usize> = (0..motion.time.len()).collect();
    order.sort_by(|&a, &b| motion.time[a].total_cmp(&motion.time[b]));
    let samples: Vec<(f64, Vec<carom_expr::Scaled>)> = order
        .into_iter()
        .map(|k| {
            let q = mechanics.free.iter().map(|&i| motion.position[i].values[k]);
            let state: Vec<f64> = q.chain(mechanics.free.iter().map(|&i| rates[i].values[k])).collect();
            (motion.time[k], values.at(parameters, motion.time[k], &state))
        })
        .collect();
    let drifts = found.list.iter().enumerate().map(|(j, invariant)| {
        let scale = samples.iter().map(|(_, x)| x[j].scale).fold(0.0, f64::max);
        let mut worst = 0.0f64;
        let mut reference: Option<(usize, f64)> = None;
        for (t, x) in &samples {
            let Some(leg) = leg(motion, invariant, *t) else {
                reference = None;
                continue;
            };
            match reference {
                Some((known, value)) if known == leg => worst = worst.max((x[j].value - value).abs()),
                _ => reference = Some((leg, x[j].value)),
            }
        }
        InvariantDrift {
            name: invariant.name.clone(),
            text: found.dag.print(invariant.expr, Style::Text),
            drift: if worst == 0.0 { 0.0 } else { worst / scale },
            survives_impacts: invariant.survives_impacts(),
        }
    });
    motion.audit.invariants = drifts.collect();
}

/// How often the invariant was broken before `t`; `None` while a contact breaks it.
fn leg(motion: &Motion, invariant: &Invariant, t: f64) -> Option<usize> {
    if invariant.survives_impacts() {
        return Some(0);
    }
    let names = &motion.names;
    let wall = |w: usize| invariant.broken_by.contains(&Breaker::Wall(names.walls[w].clone()));
    let event = |e: usize| invariant.broken_by.contains(&Breaker::Event(names.events[e].clone()));
    let held = |c: &crate::motion::Contact| wall(c.wall) && c.from <= t && c.to.is_none_or(|to| t <= to);
    if motion.contacts.iter().any(held) {
        return None;
    }
    let impacts = motion.impacts.iter().filter(|i| i.time <= t && i.walls.iter().any(|&w| wall(w))).count();
    let resets = motion.events.iter().filter(|e| e.time <= t && event(e.event)).count();
    let contacts = motion.contacts.iter().filter(|c| c.from <= t && wall(c.wall)).count();
    Some(impacts + resets + contacts)
}
