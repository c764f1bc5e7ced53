//! What `--plot` says, read.
//!
//! ```text
//! theta1, theta2            curves over time, in one panel
//! energy                    a group: kinetic, potential and total energy
//! theta2' vs theta2         a curve in the plane of two signals
//! theta' vs theta at apex   the points of a recorded event: a Poincaré section
//! view, view at 2.5         the scene of the animation at the end, or at a time
//! ```

use super::signals::{Forces, PlotSignal, SignalCatalog, SignalKind};
use carom_expr::nearest;
use carom_mech::{Action, Diagnostic, Severity};

/// Knots at which signals are compared when panels are chosen.
const ENOUGH: usize = 2000;

/// Beside a number, what is smaller than this part of it is rounding.
const ROUNDING: f64 = 1e-9;

/// More gaps than these are a tangle, and shown only when asked for.
const MOST_GAPS: usize = 6;

/// One panel.
pub enum Panel<'c, 'a> {
    /// Curves over time.
    Time(Vec<&'c PlotSignal<'a>>),
    /// One signal against another; at the records of an event, if given.
    Plane {
        /// Upwards.
        y: &'c PlotSignal<'a>,
        /// To the right.
        x: &'c PlotSignal<'a>,
        /// Index of the event.
        event: Option<usize>,
    },
    /// The scene of the animation, at the end or at this time.
    View(Option<f64>),
}

/// Reads one request.
pub fn read<'c, 'a>(catalog: &'c SignalCatalog<'a>, text: &str) -> Result<Panel<'c, 'a>, Vec<Diagnostic>> {
    if let Some(rest) = text.strip_prefix("view").filter(|_| catalog.signals.iter().all(|s| s.name != "view"))
    {
        match rest.trim().strip_prefix("at ").map(|t| t.trim().parse::<f64>()) {
            None if rest.trim().is_empty() => return Ok(Panel::View(None)),
            Some(Ok(t)) if t.is_finite() => return Ok(Panel::View(Some(t))),
            Some(_) => {
                return Err(vec![error(
                    format!("`{text}` names no time"),
                    "for example --plot \"view at 2.5\"".into(),
                )]);
            }
            None => {}
        }
    }
    if let Some((y, rest)) = split_word(text, "vs") {
        let (x, event) = match split_word(rest, "at") {
            Some((x, event)) => (x, Some(event)),
            None => (rest, None),
        };
        let mut problems = Vec::new();
        let mut one = |name: &str| match catalog.find(name) {
            Ok(found) if found.len() == 1 => Some(found[0]),
            Ok(_) => {
                // `energy` alone is a group; against something it is the sum.
                let exact = catalog.signals.iter().find(|s| s.name == name);
                if exact.is_none() {
                    problems.push(error(format!("`{name}` is several signals"), "name one of them".into()));
                }
                exact
            }
            Err(found) => {
                problems.extend(found);
                None
            }
        };
        let (y, x) = (one(y), one(x));
        let event = event.map(|name| find_event(catalog, name)).transpose().map_err(|p| problems.extend(p));
        return match (y, x, event) {
            (Some(y), Some(x), Ok(event)) => Ok(Panel::Plane { y, x, event }),
            _ => Err(problems),
        };
    }
    let mut signals: Vec<&PlotSignal<'_>> = Vec::new();
    let mut problems = Vec::new();
    for name in text.split(',').map(str::trim).filter(|n| !n.is_empty()) {
        match catalog.find(name) {
            Ok(found) => {
                for s in found {
                    if signals.iter().all(|known| known.name != s.name) {
                        signals.push(s);
                    }
                }
            }
            Err(found) => problems.extend(found),
        }
    }
    if problems.is_empty() && signals.is_empty() {
        problems.push(error("nothing to plot was named".into(), "for example --plot \"energy\"".into()));
    }
    if problems.is_empty() { Ok(Panel::Time(signals)) } else { Err(problems) }
}

/// The panels of a motion when none are asked for: positions, velocities, energies, gaps, then phase portraits.
pub fn default_panels<'c, 'a>(catalog: &'c SignalCatalog<'a>) -> Vec<Panel<'c, 'a>> {
    let of =
        |f: &dyn Fn(&SignalKind) -> bool| catalog.signals.iter().filter(|s| f(&s.kind)).collect::<Vec<_>>();
    let mut panels: Vec<Panel<'c, 'a>> = Vec::new();
    let positions = of(&|k| matches!(k, SignalKind::Position(_)));
    let velocities = of(&|k| matches!(k, SignalKind::Velocity(_)));
    panels.extend(apart(catalog, positions.clone()).into_iter().map(Panel::Time));
    panels.extend(apart(catalog, velocities.clone()).into_iter().map(Panel::Time));
    if let Ok(energy) = catalog.find("energies") {
        panels.push(Panel::Time(energy));
    }
    let gaps = of(&|k| *k == SignalKind::Gap);
    if gaps.len() <= MOST_GAPS {
        panels.extend(apart(catalog, gaps).into_iter().map(Panel::Time));
    }
    panels.extend(apart(catalog, of(&|k| *k == SignalKind::Output)).into_iter().map(Panel::Time));
    panels.extend(apart(catalog, felt_forces(catalog)).into_iter().map(Panel::Time));
    panels.truncate(8);
    // Beside what moves, what only trembles at the level of rounding stands still.
    let span = |s: &PlotSignal<'_>| {
        let values = catalog.values(s, &catalog.track.some_knots(ENOUGH));
        let finite = || values.iter().copied().filter(|v| v.is_finite());
        (finite().fold(f64::NEG_INFINITY, f64::max) - finite().fold(f64::INFINITY, f64::min)).max(0.0)
    };
    let widest = |list: &[&PlotSignal<'_>]| list.iter().map(|s| span(s)).fold(0.0, f64::max);
    let (far, fast) = (widest(&positions), widest(&velocities));
    let varies = |s: &PlotSignal<'_>| {
        let largest = if matches!(s.kind, SignalKind::Velocity(_)) { fast } else { far };
        span(s) > ROUNDING * largest.max(f64::MIN_POSITIVE)
    };
    let named = |name: &str| positions.iter().copied().find(|s| s.name == name);
    let mut planes = Vec::new();
    if let (Some(x), Some(y)) = (named("x"), named("y"))
        && varies(x)
        && varies(y)
    {
        planes.push(Panel::Plane { y, x, event: None });
    }
    for (&x, &y) in positions.iter().zip(&velocities).filter(|(x, y)| varies(x) && varies(y)) {
        planes.push(Panel::Plane { y, x, event: None });
    }
    planes.truncate(2);
    panels.extend(planes);
    panels
}

/// The forces that are felt: more than rounding beside the largest one, and enough to change the largest momentum by more than
/// rounding if they acted all the time. A multiplier or contact force counts by its generalized force, μ A or f n: it scales
/// with the row or gap as written, its effect does not.
fn felt_forces<'c, 'a>(catalog: &'c SignalCatalog<'a>) -> Vec<&'c PlotSignal<'a>> {
    let (track, knots) = (catalog.track, catalog.track.some_knots(ENOUGH));
    let largest =
        |values: &[f64]| values.iter().filter(|v| v.is_finite()).fold(0.0f64, |m, v| m.max(v.abs()));
    let normal = |s: &PlotSignal<'_>, kind: Forces| {
        let label = s.name.split_once('.').map_or("", |(_, label)| label);
        match kind {
            Forces::Contact => track.mechanics.walls.iter().find(|w| w.name == label).map(|w| &w.normal[..]),
            Forces::Multiplier => {
                track.mechanics.rows.iter().find(|r| r.name == label).map(|r| &r.normal[..])
            }
            Forces::Drive => None,
        }
    };
    let effect = |s: &'c PlotSignal<'a>| match s.kind {
        SignalKind::Force(kind) => {
            let along = normal(s, kind).map(|n| track.evaluate(n, &knots)).unwrap_or_default();
            let steepest = along.iter().map(|n| largest(n)).fold(0.0, f64::max);
            let steepest = if steepest > 0.0 { steepest } else { 1.0 };
            Some((s, steepest * largest(&catalog.values(s, &knots))))
        }
        _ => None,
    };
    let forces: Vec<(&PlotSignal<'_>, f64)> = catalog.signals.iter().filter_map(effect).collect();
    let motion = track.motion;
    let momentum = motion.momentum.iter().map(|p| largest(&p.values)).fold(0.0, f64::max);
    let duration = match (knots.first(), knots.last()) {
        (Some(&first), Some(&last)) => track.time(last) - track.time(first),
        _ => 0.0,
    };
    let steady = if duration > 0.0 { momentum / duration } else { 0.0 };
    let scale = forces.iter().map(|f| f.1).fold(steady, f64::max);
    forces.into_iter().filter(|f| f.1 > ROUNDING * scale).map(|f| f.0).collect()
}

/// Signals that share an axis well: the same unit, and magnitudes within a factor of 20; at most six together.
fn apart<'c, 'a>(
    catalog: &SignalCatalog<'a>,
    signals: Vec<&'c PlotSignal<'a>>,
) -> Vec<Vec<&'c PlotSignal<'a>>> {
    let mut groups: Vec<(Vec<&'c PlotSignal<'a>>, f64, f64)> = Vec::new();
    let knots = catalog.track.some_knots(ENOUGH);
    let size_of = |s: &PlotSignal<'_>| {
        catalog.values(s, &knots).iter().filter(|v| v.is_finite()).fold(0.0f64, |m, v| m.max(v.abs()))
    };
    let sizes: Vec<f64> = signals.iter().map(|s| size_of(s)).collect();
    let largest = sizes.iter().copied().fold(0.0, f64::max);
    for (s, size) in signals.into_iter().zip(sizes) {
        // What is rounding beside its neighbours has no size of its own.
        let size = if size > ROUNDING * largest { size } else { 0.0 };
        let fits = |(group, low, high): &(Vec<&PlotSignal<'_>>, f64, f64)| {
            let near = size == 0.0 || *high == 0.0 || (size < 20.0 * low && *high < 20.0 * size);
            group.len() < 6 && group[0].unit == s.unit && near
        };
        match groups.iter_mut().find(|g| fits(g)) {
            Some((group, low, high)) => {
                group.push(s);
                if size > 0.0 {
                    *low = if *low == 0.0 { size } else { low.min(size) };
                    *high = high.max(size);
                }
            }
            None => groups.push((vec![s], size, size)),
        }
    }
    groups.into_iter().map(|g| g.0).collect()
}

fn find_event(catalog: &SignalCatalog<'_>, name: &str) -> Result<usize, Vec<Diagnostic>> {
    let events = &catalog.track.mechanics.model.events;
    if let Some(i) = events.iter().position(|e| e.name == name) {
        return Ok(i);
    }
    let hint = match nearest(name, events.iter().map(|e| e.name.as_str())) {
        Some(near) => format!("did you mean `{near}`?"),
        None if events.is_empty() => {
            "the model has no [event.…] table; add one with action = \"record\"".into()
        }
        None => {
            let recorded = events.iter().filter(|e| !matches!(e.action, Action::Stop));
            format!("known are {}", recorded.map(|e| e.name.as_str()).collect::<Vec<_>>().join(", "))
        }
    };
    Err(vec![error(format!("unknown event `{name}`"), hint)])
}

/// Splits at a word that stands alone.
fn split_word<'t>(text: &'t str, word: &str) -> Option<(&'t str, &'t str)> {
    let (before, after) = text.split_once(&format!(" {word} "))?;
    Some((before.trim(), after.trim()))
}

fn error(message: String, hint: String) -> Diagnostic {
    Diagnostic { severity: Severity::Error, place: None, message, hint: Some(hint) }
}
