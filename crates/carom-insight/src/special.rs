//! What is remarkable about a branch of orbits, and where exactly.
//!
//! ```text
//! fold              dp/ds = 0                      period doubling   Π (1 + μ_i) = 0
//! torus             Π_{i<j} (μ_i μ_j − 1) = 0 with a complex pair
//! grazing           φ̇⁻ → 0 at an impact, or the least gap between impacts → 0
//! corner            two impact times meet          contact_break     the force of a contact → 0
//! ```
//!
//! The first three are zeros between two orbits of one kind: found by moving s until the function vanishes. The others end the
//! kind: on the near side p is a smooth function of what vanishes, so its value there is found by interpolating p to zero.

use crate::eigen::{Complex, modulus, times};
use crate::follow::{BranchNode, Path};
use crate::orbit::{self, ON_CIRCLE};
use crate::refusal::Refusal;
use crate::subject::Subject;
use carom_run::{Columns, Sampling, Side};

/// A special point of a branch.
#[derive(Clone, Debug)]
pub struct Special {
    /// What it is.
    pub kind: SpecialKind,
    /// Value of the varied parameter.
    pub value: f64,
    /// A state of the orbit there, by name.
    pub state: Vec<(String, f64)>,
    /// What exactly: which wall, why it ends.
    pub detail: String,
}

/// Kinds of special points.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpecialKind {
    /// The branch turns back in the parameter.
    Fold,
    /// A multiplier is −1.
    PeriodDoubling,
    /// A pair of complex multipliers is on the unit circle.
    Torus,
    /// A wall is touched without speed.
    Grazing,
    /// Two impacts coincide.
    Corner,
    /// A contact carries no force.
    ContactBreak,
    /// The branch goes no further.
    End,
}

impl SpecialKind {
    /// All of them.
    pub const ALL: [SpecialKind; 7] = [
        SpecialKind::Fold,
        SpecialKind::PeriodDoubling,
        SpecialKind::Torus,
        SpecialKind::Grazing,
        SpecialKind::Corner,
        SpecialKind::ContactBreak,
        SpecialKind::End,
    ];

    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            SpecialKind::Fold => "fold",
            SpecialKind::PeriodDoubling => "period_doubling",
            SpecialKind::Torus => "torus",
            SpecialKind::Grazing => "grazing",
            SpecialKind::Corner => "corner",
            SpecialKind::ContactBreak => "contact_break",
            SpecialKind::End => "end",
        }
    }
}

/// What happens along an orbit, in order: walls of its impacts, contacts, events.
pub(crate) fn signature(node: &BranchNode) -> Vec<(u8, usize)> {
    let mut all: Vec<(f64, u8, usize)> = Vec::new();
    for shot in &node.equations.shots {
        let motion = &shot.motion;
        all.extend(motion.impacts.iter().flat_map(|i| i.walls.iter().map(|&w| (i.time, 0, w))));
        all.extend(motion.contacts.iter().map(|c| (c.from, 1, c.wall)));
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut found: Vec<(u8, usize)> = all.into_iter().map(|(_, kind, which)| (kind, which)).collect();
    // Where the round begins is a matter of the base: the smallest rotation stands for all.
    let rotations = (0..found.len().max(1)).map(|k| {
        let mut turned = found.clone();
        turned.rotate_left(k);
        turned
    });
    if let Some(least) = rotations.min() {
        found = least;
    }
    found
}

/// Π (1 + μ)
fn doubling(multipliers: &[Complex]) -> f64 {
    multipliers.iter().fold([1.0, 0.0], |p, z| times(p, [1.0 + z[0], z[1]]))[0]
}

/// Π_{i<j} (μ_i μ_j − 1)
fn torus(multipliers: &[Complex]) -> f64 {
    let mut product = [1.0, 0.0];
    for (i, &a) in multipliers.iter().enumerate() {
        for &b in &multipliers[i + 1..] {
            let ab = times(a, b);
            product = times(product, [ab[0] - 1.0, ab[1]]);
        }
    }
    product[0]
}

/// What vanishes at a special point.
type Test = fn(&BranchNode) -> f64;

/// The folds, doublings and tori between two neighbouring points, a length `step` apart; the kind of one that changes its sign there
/// without a point at which it vanishes.
pub(crate) fn between(
    subject: &mut Subject<'_>,
    path: &Path,
    from: &BranchNode,
    to: &BranchNode,
    step: f64,
) -> Result<Vec<(SpecialKind, String, BranchNode)>, SpecialKind> {
    let mut found = Vec::new();
    let pairs = |node: &BranchNode| orbit::paired(subject, &node.shooting, &node.equations);
    let paired = pairs(from) || pairs(to);
    let tests: [(SpecialKind, Test); 3] = [
        (SpecialKind::Fold, |node| node.slope()),
        (SpecialKind::PeriodDoubling, |node| doubling(&node.multipliers)),
        (SpecialKind::Torus, |node| torus(&node.multipliers)),
    ];
    for (kind, test) in tests {
        let (a, b) = (test(from), test(to));
        // Where nothing is lost multipliers come in pairs of product one: the test for tori says nothing.
        if a * b >= 0.0 || (kind == SpecialKind::Torus && (paired || a.abs().max(b.abs()) < ON_CIRCLE)) {
            continue;
        }
        let located = vanishing(step, a, b, |s| {
            let node = from.ahead(subject, path, s).ok()?.0;
            Some((test(&node), node))
        });
        let Some(node) = located else { return Err(kind) };
        let pair = node.multipliers.iter().any(|z| z[1] != 0.0 && (modulus(*z) - 1.0).abs() < 1e-6);
        let detail = match kind {
            SpecialKind::Fold => "the branch turns back".to_owned(),
            SpecialKind::Torus if !pair => continue,
            SpecialKind::Torus => "a pair of multipliers leaves the unit circle".to_owned(),
            _ => "a multiplier is -1".to_owned(),
        };
        found.push((kind, detail, node));
    }
    Ok(found)
}

/// A function that is smaller than this part of its values at the ends vanishes: special points are promised to 10⁻⁹.
const VANISHED: f64 = 1e-9;

/// What belongs to the place between 0 and `step` at which a function vanishes: regula falsi, the retained end halved. `None` where it
/// jumps from one sign to the other.
fn vanishing<T>(
    step: f64,
    at_start: f64,
    at_end: f64,
    mut value_at: impl FnMut(f64) -> Option<(f64, T)>,
) -> Option<T> {
    let (mut a, mut fa, mut b, mut fb) = (0.0, at_start, step, at_end);
    let scale = at_start.abs().max(at_end.abs());
    let mut best: Option<(f64, T)> = None;
    let mut side = 0;
    for _ in 0..60 {
        let s = (a * fb - b * fa) / (fb - fa);
        let (value, found) = value_at(s)?;
        if best.as_ref().is_none_or(|(size, _)| value.abs() < *size) {
            best = Some((value.abs(), found));
        }
        if value.abs() < 1e-14 * scale || (b - a).abs() < 1e-15 {
            break;
        }
        if value * fb > 0.0 {
            (b, fb) = (s, value);
            if side == -1 {
                fa /= 2.0;
            }
            side = -1;
        } else {
            (a, fa) = (s, value);
            if side == 1 {
                fb /= 2.0;
            }
            side = 1;
        }
    }
    best.filter(|(size, _)| *size <= VANISHED * scale).map(|(_, found)| found)
}

/// A quantity that must stay positive for the kind of orbit to go on.
#[derive(Clone, Debug)]
struct Margin {
    kind: SpecialKind,
    what: String,
    value: f64,
}

/// The margins of the last points of a branch.
pub(crate) struct MarginWatch {
    notes: Vec<Note>,
}

/// The margins of one point.
struct Note {
    p: f64,
    state: Vec<(String, f64)>,
    margins: Vec<Margin>,
    /// Length along the branch from the point before.
    step: f64,
}

/// Points that are remembered, and used to interpolate.
const REMEMBERED: usize = 80;
const USED: usize = 8;
/// Margins of neighbouring points used differ by this factor at least.
const APART: f64 = 1.4;
/// A margin below this part of its largest value vanishes …
const VANISHING: f64 = 2e-3;
/// … and is approached by steps that leave this part of it.
const SHRINK: f64 = 0.55;

impl MarginWatch {
    pub fn new(
        subject: &mut Subject<'_>,
        node: &BranchNode,
        state: &[(String, f64)],
    ) -> Result<MarginWatch, Refusal> {
        let mut watch = MarginWatch { notes: Vec::new() };
        watch.note(subject, node, state, 0.0)?;
        Ok(watch)
    }

    /// Notes a point and its reported state, a length `step` after the one before.
    pub fn note(
        &mut self,
        subject: &mut Subject<'_>,
        node: &BranchNode,
        state: &[(String, f64)],
        step: f64,
    ) -> Result<(), Refusal> {
        let margins = margins(subject, node)?;
        self.notes.push(Note { p: node.y.p, state: state.to_vec(), margins, step });
        if self.notes.len() > REMEMBERED {
            self.notes.remove(0);
        }
        Ok(())
    }

    /// The values of one margin, last point first, as far back as the same margin is there.
    fn series(&self, k: usize) -> Vec<(f64, &Note)> {
        let Some(last) = self.notes.last().and_then(|n| n.margins.get(k)) else { return Vec::new() };
        let value = |note: &Note| {
            note.margins.get(k).filter(|m| m.what == last.what && m.kind == last.kind).map(|m| m.value)
        };
        self.notes.iter().rev().map_while(|note| Some((value(note)?, note))).collect()
    }

    fn count(&self) -> usize {
        self.notes.last().map_or(0, |n| n.margins.len())
    }

    /// How long the next step may be so that a margin that shrinks is not stepped over.
    pub fn room(&self) -> f64 {
        let mut room = f64::INFINITY;
        for k in 0..self.count() {
            let series = self.series(k);
            let [(now, note), (before, _), ..] = series[..] else { continue };
            let largest = series.iter().map(|s| s.0).fold(0.0, f64::max);
            if now < before && now < 0.5 * largest && note.step > 0.0 {
                room = room.min((1.0 - SHRINK) * now * note.step / (before - now));
            }
        }
        room
    }

    /// Has a margin all but vanished?
    pub fn vanishing(&self) -> bool {
        (0..self.count()).any(|k| {
            let series = self.series(k);
            let largest = series.iter().map(|s| s.0).fold(0.0, f64::max);
            series.len() > 3 && series[0].0 < series[1].0 && series[0].0 < VANISHING * largest
        })
    }

    /// The end of a kind of orbit: where a margin that shrank reaches zero, or just where the branch stopped.
    pub fn end(&self, path: &Path, node: &BranchNode, why: Option<&Refusal>) -> Special {
        let why = why.map_or("", |r| r.message.as_str());
        let mut best: Option<(f64, Special)> = None;
        for k in 0..self.count() {
            let series = self.series(k);
            let largest = series.iter().map(|s| s.0).fold(0.0, f64::max);
            let left = series[0].0 / largest;
            // Very near the end the orbits themselves are known less well.
            let mut used: Vec<(f64, &Note)> = Vec::new();
            for &(value, note) in series.iter().filter(|s| s.0 >= 0.5 * VANISHING * largest) {
                if used.last().is_none_or(|(v, _)| value > APART * v) && used.len() < USED {
                    used.push((value, note));
                }
            }
            if used.len() < 3 {
                continue;
            }
            let nodes: Vec<f64> = used.iter().map(|s| s.0).collect();
            let value = at_zero(&nodes, &used.iter().map(|s| s.1.p).collect::<Vec<f64>>());
            let near = (value - node.y.p).abs() < 0.05 * (path.high - path.low);
            if near && best.as_ref().is_none_or(|(size, _)| left < *size) {
                let names = used[0].1.state.iter().map(|s| s.0.clone());
                let state = names.enumerate().map(|(i, name)| {
                    (name, at_zero(&nodes, &used.iter().map(|s| s.1.state[i].1).collect::<Vec<f64>>()))
                });
                let margin = &self.notes[self.notes.len() - 1].margins[k];
                let special =
                    Special { kind: margin.kind, value, state: state.collect(), detail: margin.what.clone() };
                best = Some((left, special));
            }
        }
        match best {
            Some((left, special)) if left < 0.3 => special,
            _ => self.stopped(node, format!("the branch could not be followed further: {why}")),
        }
    }

    /// The branch goes no further.
    pub fn stopped(&self, node: &BranchNode, why: String) -> Special {
        let state = self.notes.last().map_or(Vec::new(), |note| note.state.clone());
        Special { kind: SpecialKind::End, value: node.y.p, state, detail: why }
    }
}

/// The value at zero of the polynomial through (x_i, y_i), by Neville's scheme.
fn at_zero(x: &[f64], y: &[f64]) -> f64 {
    let mut p = y.to_vec();
    for m in 1..x.len() {
        for i in 0..x.len() - m {
            p[i] = (x[i] * p[i + 1] - x[i + m] * p[i]) / (x[i] - x[i + m]);
        }
    }
    p[0]
}

/// Everything that must stay positive, in a fixed order as long as the sequence of impacts is the same.
fn margins(subject: &mut Subject<'_>, node: &BranchNode) -> Result<Vec<Margin>, Refusal> {
    let model = &subject.mechanics.model;
    let mut found = Vec::new();
    let (mut times, mut held): (Vec<(f64, usize)>, Vec<usize>) = (Vec::new(), Vec::new());
    for shot in &node.equations.shots {
        for impact in &shot.motion.impacts {
            for (k, &wall) in impact.walls.iter().enumerate() {
                let name = &model.walls[wall].name;
                found.push(Margin {
                    kind: SpecialKind::Grazing,
                    what: format!("an impact at wall `{name}` loses its speed"),
                    value: -impact.gap_rate_before[k],
                });
                times.push((impact.time, wall));
            }
        }
        for contact in &shot.motion.contacts {
            found.push(Margin {
                kind: SpecialKind::ContactBreak,
                what: format!("the contact with wall `{}` carries no force", model.walls[contact.wall].name),
                value: contact.force_at_start,
            });
            held.push(contact.wall);
        }
    }
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let period = node.equations.period;
    for k in 0..times.len() {
        let (a, b) = (times[k], times[(k + 1) % times.len()]);
        if a.1 != b.1 {
            let gap = if b.0 >= a.0 { b.0 - a.0 } else { b.0 + period - a.0 };
            let (first, second) = (&model.walls[a.1].name, &model.walls[b.1].name);
            found.push(Margin {
                kind: SpecialKind::Corner,
                what: format!("the impacts at walls `{first}` and `{second}` coincide"),
                value: gap,
            });
        }
    }
    let (gaps, forces) = least(subject, node, &held)?;
    let model = &subject.mechanics.model;
    for (wall, value) in gaps {
        found.push(Margin {
            kind: SpecialKind::Grazing,
            what: format!("the motion touches wall `{}` between impacts", model.walls[wall].name),
            value,
        });
    }
    for (wall, value) in forces {
        found.push(Margin {
            kind: SpecialKind::ContactBreak,
            what: format!("the contact with wall `{}` breaks in between", model.walls[wall].name),
            value,
        });
    }
    Ok(found)
}

/// Samples in which minima are looked for.
const LOOKS: usize = 240;

/// A least value per wall.
type Least = Vec<(usize, f64)>;

/// The smallest interior minimum over the orbit of each gap and of the force of each contact, where there is one.
fn least(subject: &mut Subject<'_>, node: &BranchNode, held: &[usize]) -> Result<(Least, Least), Refusal> {
    let n = node.shooting.scale.len();
    let walls = subject.mechanics.walls.len();
    let mut least: Vec<[Option<f64>; 2]> = vec![[None; 2]; walls];
    if walls == 0 {
        return Ok((Vec::new(), Vec::new()));
    }
    let columns = Columns::of(subject.program());
    let mut begin = node.shooting.time;
    for (i, weight) in node.shooting.weights.iter().enumerate() {
        let length = weight * node.equations.period;
        // A little beyond the end, so that a minimum where two segments meet is not missed.
        let until = begin + length * (1.0 + 3.0 / LOOKS as f64);
        let point = &node.y.z[i * n..(i + 1) * n];
        let mut options = subject.options_from(point, begin, until, &node.equations.parameters);
        options.sampling = Sampling::Even(LOOKS);
        options.dense = true;
        let motion = subject.simulate(&options)?;
        for (wall, least) in least.iter_mut().enumerate() {
            let hits: Vec<f64> =
                motion.impacts.iter().filter(|i| i.walls.contains(&wall)).map(|i| i.time).collect();
            let contacts: Vec<(f64, f64)> = motion
                .contacts
                .iter()
                .filter(|c| c.wall == wall)
                .map(|c| (c.from, c.to.unwrap_or(f64::INFINITY)))
                .collect();
            let gap = &motion.gap[wall].values;
            let force = held.contains(&wall).then(|| &motion.contact_force[wall].values);
            for k in 1..gap.len() - 1 {
                let (a, b) = (motion.time[k - 1], motion.time[k + 1]);
                let lowest = |values: &[f64]| values[k] <= values[k - 1] && values[k] <= values[k + 1];
                let closed = contacts.iter().any(|(from, to)| *from <= b && a <= *to);
                let within = contacts.iter().any(|(from, to)| *from < a && b < *to);
                let (place, column) = if !closed && !hits.iter().any(|t| (a..=b).contains(t)) && lowest(gap) {
                    (0, columns.gap.start + wall)
                } else if within && force.is_some_and(|f| lowest(f)) {
                    (1, columns.contact_force.start + wall)
                } else {
                    continue;
                };
                let value = golden(a, b, |t| {
                    subject.read(&motion, t, Side::After).map_or(f64::INFINITY, |values| values[column])
                });
                least[place] = Some(least[place].map_or(value, |l: f64| l.min(value)));
            }
        }
        begin += length;
    }
    let of = |place: usize| {
        least.iter().enumerate().filter_map(|(wall, least)| Some((wall, least[place]?))).collect()
    };
    Ok((of(0), of(1)))
}

/// The least value of a function with one minimum, by golden section.
fn golden(mut a: f64, mut b: f64, mut f: impl FnMut(f64) -> f64) -> f64 {
    let ratio = (5.0_f64.sqrt() - 1.0) / 2.0;
    let (mut c, mut d) = (b - ratio * (b - a), a + ratio * (b - a));
    let (mut fc, mut fd) = (f(c), f(d));
    for _ in 0..42 {
        if fc < fd {
            (b, d, fd) = (d, c, fc);
            c = b - ratio * (b - a);
            fc = f(c);
        } else {
            (a, c, fc) = (c, d, fd);
            d = a + ratio * (b - a);
            fd = f(d);
        }
    }
    fc.min(fd)
}

#[cfg(test)]
mod tests {
    use super::vanishing;

    #[test]
    fn a_function_that_vanishes_is_located_and_one_that_jumps_is_not() {
        let smooth = |s: f64| s.exp() - 1.3;
        let found = vanishing(1.0, smooth(0.0), smooth(1.0), |s| Some((smooth(s), s))).unwrap();
        assert!((found - 1.3_f64.ln()).abs() < 1e-14, "{found}");
        let jump = |s: f64| if s < 0.3 { -0.2 - s } else { 0.1 + s };
        assert_eq!(vanishing(1.0, jump(0.0), jump(1.0), |s| Some((jump(s), s))), None);
        let pole = |s: f64| 1.0 / (s - 0.3);
        assert_eq!(vanishing(1.0, pole(0.0), pole(1.0), |s| Some((pole(s), s))), None);
        // And where the branch cannot be followed to the place.
        assert_eq!(vanishing(1.0, -1.0, 1.0, |_| None::<(f64, f64)>), None);
    }
}
