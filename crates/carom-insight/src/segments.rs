//! Where an orbit is cut: between impacts, into as many segments as its instability asks for, along a branch anew when that changes.
//!
//! ```text
//! ‖Φ_i‖ ≤ 10⁶ for every segment,     log₁₀ Π‖Φ_i‖ / 3 segments where there is room for them
//! ```

use crate::follow::{BranchNode, Path};
use crate::orbit::FoundOrbit;
use crate::refusal::Refusal;
use crate::shooting::{Shooting, ShootingEquations, UNSTABLE, Unknowns};
use crate::subject::{Shot, Subject};
use carom_mech::model::Action;
use carom_run::{Motion, Sampling};

/// Nearer to an instant than this part of the period, the base of an orbit is moved; of a segment, its ends.
pub(crate) const CROWDED: f64 = 0.03;

/// Instants of a motion, given in parts, at which its derivatives jump, within a window, ascending.
pub(crate) fn instants(subject: &Subject<'_>, motions: &[&Motion], from: f64, to: f64) -> Vec<f64> {
    let model = &subject.mechanics.model;
    let mut all: Vec<f64> = Vec::new();
    for motion in motions {
        let resets = motion
            .events
            .iter()
            .filter(|e| matches!(model.events[e.event].action, Action::Set(_)))
            .map(|e| e.time);
        let contacts = motion.contacts.iter().flat_map(|c| [Some(c.from), c.to]).flatten();
        all.extend(motion.impacts.iter().map(|i| i.time).chain(resets).chain(contacts));
    }
    all.retain(|t| (from..=to).contains(t));
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// Times between instants, away from them: one per leg of the window, longest leg first. Never half way, where symmetric
/// motions like to do something.
pub(crate) fn quiet_times(subject: &Subject<'_>, motions: &[&Motion], from: f64, to: f64) -> Vec<f64> {
    let mut ends = vec![from];
    ends.extend(instants(subject, motions, from, to));
    ends.push(to);
    let mut legs: Vec<(f64, f64)> = ends.windows(2).map(|w| (w[1] - w[0], w[0])).collect();
    // Off every wall, where that is possible.
    let contacts = || motions.iter().flat_map(|motion| &motion.contacts);
    let closed = |t: f64| contacts().any(|c| c.from <= t && c.to.is_none_or(|end| t <= end));
    legs.sort_by(|a, b| b.0.total_cmp(&a.0));
    let all: Vec<f64> =
        legs.iter().filter(|l| l.0 > 0.0).map(|(length, start)| start + 0.47 * length).collect();
    let free: Vec<f64> = all.iter().copied().filter(|&t| !closed(t)).collect();
    if free.is_empty() { all } else { free }
}

fn norm(shot: &Shot) -> f64 {
    shot.phi.entries.iter().fold(0.0_f64, |m, v| m.max(v.abs()))
}

/// Does a segment amplify too much?
pub(crate) fn is_unstable(equations: &ShootingEquations) -> bool {
    equations.shots.iter().any(|shot| norm(shot) > UNSTABLE)
}

/// Cuts an orbit into segments between impacts, as many as its instability asks for.
pub(crate) fn cut(
    subject: &mut Subject<'_>,
    shooting: &Shooting,
    unknowns: &Unknowns,
    equations: &ShootingEquations,
) -> Result<(Shooting, Unknowns), Refusal> {
    let (n, m) = (shooting.scale.len(), shooting.segments());
    let (period, begin) = (equations.period, shooting.time);
    let motions: Vec<&Motion> = equations.shots.iter().map(|shot| &shot.motion).collect();
    let growth: f64 = equations.shots.iter().map(|shot| norm(shot).log10().max(0.0)).sum();
    let wanted = (growth / 3.0).ceil().max(2.0) as usize;
    let mut places: Vec<f64> = quiet_times(subject, &motions, begin, begin + period)
        .into_iter()
        .filter(|t| *t > begin + 0.02 * period && *t < begin + 0.98 * period)
        .collect();
    if places.len() + 1 < wanted && instants(subject, &motions, begin, begin + period).is_empty() {
        places = (1..wanted).map(|k| begin + period * k as f64 / wanted as f64).collect();
    }
    places.sort_by(f64::total_cmp);
    if places.is_empty() {
        return Ok((shooting.clone(), unknowns.clone()));
    }
    // Each from the segment it lies in: an unstable orbit cannot be followed for long.
    let mut z = unknowns.z[..n].to_vec();
    let mut from = begin;
    for (i, weight) in shooting.weights.iter().enumerate() {
        let to = if i + 1 == m { f64::INFINITY } else { from + weight * period };
        let here: Vec<f64> = places.iter().copied().filter(|t| (from..to).contains(t)).collect();
        if let Some(&last) = here.last() {
            let point = &unknowns.z[i * n..(i + 1) * n];
            let mut options = subject.options_from(point, from, last, &equations.parameters);
            options.sampling = Sampling::At(here.clone());
            let motion = subject.simulate(&options)?;
            (0..here.len()).for_each(|k| z.extend(subject.sampled(&motion, k)));
        }
        from += weight * period;
    }
    z.extend(&unknowns.z[m * n..]);
    let mut ends: Vec<f64> = vec![0.0];
    ends.extend(places.iter().map(|t| (t - begin) / period));
    ends.push(1.0);
    let mut cut = shooting.clone();
    cut.weights = ends.windows(2).map(|w| w[1] - w[0]).collect();
    Ok((cut, Unknowns { z, p: unknowns.p }))
}

/// A point of a branch cut anew, if it has become too unstable for its segments or an impact comes near the end of one.
pub(crate) fn recut(
    subject: &mut Subject<'_>,
    path: &Path,
    node: &BranchNode,
) -> Result<Option<BranchNode>, Refusal> {
    let (shooting, n, m) = (&node.shooting, node.shooting.scale.len(), node.shooting.segments());
    let (period, begin) = (node.equations.period, shooting.time);
    let motions: Vec<&Motion> = node.equations.shots.iter().map(|shot| &shot.motion).collect();
    let instants = instants(subject, &motions, begin, begin + period);
    let mut crowded = false;
    let mut end = begin;
    for pair in shooting.weights.windows(2) {
        end += pair[0] * period;
        let room = CROWDED * pair[0].min(pair[1]) * period;
        crowded |= instants.iter().any(|t| (t - end).abs() < room);
    }
    if !is_unstable(&node.equations) && !crowded {
        return Ok(None);
    }
    let (shooting, guess) = cut(subject, shooting, &node.y, &node.equations)?;
    if shooting.weights == node.shooting.weights {
        return Ok(None);
    }
    let (unknowns, equations, _) = shooting.newton(subject, &guess, Some(path.vary), None)?;
    // The direction: what the first point and everything but the other points does says it.
    let mut tangent = node.tangent[..n].to_vec();
    tangent.resize(n * shooting.segments(), 0.0);
    tangent.extend(&node.tangent[n * m..]);
    BranchNode::new(subject, path, FoundOrbit { shooting, unknowns, equations }, Some(&tangent)).map(Some)
}
