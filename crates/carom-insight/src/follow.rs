//! Branches of periodic orbits in a parameter, by pseudo-arclength.
//!
//! ```text
//! y = (z, p):   G(y) = 0,   ⟨t, y − (y_k + s t)⟩ = 0,   [G_z, G_p; tᵀ] t′ = (0, 1)
//! ```
//!
//! Lengths are measured in units of the state, the period and the range of the parameter, so a fold is a point like any other.
//! `special` knows what is remarkable about a point; what lies between two points is located by moving s.

use crate::eigen::Complex;
use crate::orbit::{self, FoundOrbit, Orbit};
use crate::refusal::Refusal;
use crate::request::{Request, Return};
use crate::segments::{self, CROWDED};
use crate::shooting::{ClosingPlane, Shooting, ShootingEquations, Unknowns, solve};
use crate::special::{self, MarginWatch, Special, SpecialKind};
use crate::subject::Subject;
use carom_expr::nearest;
use carom_jet::dense::Matrix;

/// A branch of orbits.
#[derive(Clone, Debug)]
pub struct Branch {
    /// Name of the varied parameter.
    pub parameter: String,
    /// Points in the order of the branch.
    pub points: Vec<BranchPoint>,
    /// Special points, in the order of the branch.
    pub special: Vec<Special>,
}

/// An orbit of a branch.
#[derive(Clone, Debug)]
pub struct BranchPoint {
    /// Of the varied parameter.
    pub value: f64,
    /// The orbit there.
    pub orbit: Orbit,
}

/// First, smallest and largest step along the branch.
const FIRST: f64 = 0.01;
const SMALLEST: f64 = 1e-7;
const LARGEST: f64 = 0.04;
/// Newton steps beyond which a step was too long.
const SLOW: usize = 7;
/// Cosine of the turn beyond which a step was too long.
const TURN: f64 = 0.9;
/// Points of a branch.
const MOST_POINTS: usize = 3000;

/// A point with everything needed to go on from it.
pub(crate) struct BranchNode {
    pub shooting: Shooting,
    pub y: Unknowns,
    pub equations: ShootingEquations,
    pub multipliers: Vec<Complex>,
    pub tangent: Vec<f64>,
}

/// How a branch is followed.
pub(crate) struct Path {
    pub vary: usize,
    pub low: f64,
    pub high: f64,
}

/// Follows a branch of orbits through a range of a parameter, in both directions from where the model is if that lies in the
/// range; with `doubled`, the branch of twice the period that leaves it at its first period doubling.
///
/// # Errors
/// If the request is wrong for this model or there is no orbit to begin with.
pub fn follow(
    subject: &mut Subject<'_>,
    request: &Request,
    parameter: &str,
    range: [f64; 2],
    doubled: bool,
) -> Result<Branch, Refusal> {
    let vary = named(subject, parameter)?;
    let [from, to] = range;
    if !(from.is_finite() && to.is_finite()) || from == to {
        return Err(Refusal::wrong(
            format!("--vary {parameter}={from}..{to} is no range"),
            format!("write two different numbers, for example --vary {parameter}=0.2..1.0"),
        ));
    }
    let own = subject.options.parameters[vary];
    let path = Path { vary, low: from.min(to), high: from.max(to) };
    let begin = if (path.low..=path.high).contains(&own) { own } else { from };
    let found = orbit::find(subject, request, Some((vary, begin)))?;
    let first = BranchNode::new(subject, &path, found, None)?;
    let backwards = if to > from { -1.0 } else { 1.0 };
    let (mut points, mut special) = (Vec::new(), Vec::new());
    if begin != from {
        trace(subject, request, &path, first.turned(backwards), &mut points, &mut special)?;
        points.reverse();
        special.reverse();
    }
    points.push(point(subject, request, &first)?);
    if begin != to {
        trace(subject, request, &path, first.turned(-backwards), &mut points, &mut special)?;
    }
    if doubled {
        return self::doubled(subject, request, &path, parameter, &special);
    }
    let special = special.into_iter().map(|(special, _)| special).collect();
    Ok(Branch { parameter: parameter.to_owned(), points, special })
}

/// The branch of twice the period.
fn doubled(
    subject: &mut Subject<'_>,
    request: &Request,
    path: &Path,
    parameter: &str,
    special: &[(Special, Option<BranchNode>)],
) -> Result<Branch, Refusal> {
    let found = special.iter().find(|(s, node)| s.kind == SpecialKind::PeriodDoubling && node.is_some());
    let Some((at, Some(node))) = found else {
        return Err(Refusal::unanswered(
            format!("no period doubling was met while {parameter} goes from {} to {}", path.low, path.high),
            "widen the range, or leave --doubled out to see what there is",
        ));
    };
    let mut request = request.clone();
    request.count *= 2;
    let start = switch(subject, path, node)?;
    let (mut points, mut all) = (Vec::new(), vec![(at.clone(), None)]);
    points.push(point(subject, &request, &start)?);
    trace(subject, &request, path, start, &mut points, &mut all)?;
    let special = all.into_iter().map(|(special, _)| special).collect();
    Ok(Branch { parameter: parameter.to_owned(), points, special })
}

fn named(subject: &Subject<'_>, parameter: &str) -> Result<usize, Refusal> {
    let all = &subject.mechanics.model.parameters;
    let names: Vec<&str> = all.iter().map(|p| p.name.as_str()).collect();
    all.iter().position(|p| p.name == parameter).ok_or_else(|| {
        let hint = match nearest(parameter, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if names.is_empty() => "the model has no parameters".to_owned(),
            None => format!("the model has {}", names.join(", ")),
        };
        Refusal::wrong(format!("the model has no parameter `{parameter}`"), hint)
    })
}

fn point(subject: &mut Subject<'_>, request: &Request, node: &BranchNode) -> Result<BranchPoint, Refusal> {
    let found = FoundOrbit {
        shooting: node.shooting.clone(),
        unknowns: node.y.clone(),
        equations: node.equations.clone(),
    };
    Ok(BranchPoint { value: node.y.p, orbit: orbit::report(subject, request, &found)? })
}

impl BranchNode {
    /// A point; its tangent continues `before`, or goes up in the parameter.
    pub fn new(
        subject: &mut Subject<'_>,
        path: &Path,
        found: FoundOrbit,
        before: Option<&[f64]>,
    ) -> Result<BranchNode, Refusal> {
        let FoundOrbit { shooting, unknowns, equations } = found;
        let scales = shooting.scales(equations.period, path.high - path.low);
        let normal: Vec<f64> = match before {
            Some(tangent) => tangent.iter().zip(&scales).map(|(t, s)| t / (s * s)).collect(),
            None => {
                let mut up = vec![0.0; scales.len()];
                up[scales.len() - 1] = 1.0;
                up
            }
        };
        let tangent = shooting
            .tangent(&equations, &normal, &scales)
            .ok_or_else(|| Refusal::unanswered("two branches meet here", "change a parameter a little"))?;
        let length = tangent.iter().zip(&scales).map(|(t, s)| (t / s).powi(2)).sum::<f64>().sqrt();
        let tangent = tangent.iter().map(|t| t / length).collect();
        let multipliers = shooting.multipliers(subject, &unknowns, &equations).ok_or_else(|| {
            Refusal::unanswered(
                "the multipliers of an orbit could not be computed",
                "change a parameter a little",
            )
        })?;
        Ok(BranchNode { shooting, y: unknowns, equations, multipliers, tangent })
    }

    fn turned(&self, sign: f64) -> BranchNode {
        let mut node = self.copy();
        node.tangent.iter_mut().for_each(|t| *t *= sign);
        node
    }

    pub fn copy(&self) -> BranchNode {
        BranchNode {
            shooting: self.shooting.clone(),
            y: self.y.clone(),
            equations: self.equations.clone(),
            multipliers: self.multipliers.clone(),
            tangent: self.tangent.clone(),
        }
    }

    /// dp/ds
    pub fn slope(&self) -> f64 {
        self.tangent[self.tangent.len() - 1]
    }

    /// The point a length s along the branch, and the Newton steps it took.
    pub fn ahead(
        &self,
        subject: &mut Subject<'_>,
        path: &Path,
        s: f64,
    ) -> Result<(BranchNode, usize), Refusal> {
        let scales = self.shooting.scales(self.equations.period, path.high - path.low);
        let mut anchor: Vec<f64> = self.y.z.clone();
        anchor.push(self.y.p);
        anchor.iter_mut().zip(&self.tangent).for_each(|(a, t)| *a += s * t);
        let normal: Vec<f64> = self.tangent.iter().zip(&scales).map(|(t, s)| t / (s * s)).collect();
        let (p, z) = (anchor[anchor.len() - 1], anchor[..anchor.len() - 1].to_vec());
        let plane = ClosingPlane { normal, anchor };
        let (unknowns, equations, steps) =
            self.shooting.newton(subject, &Unknowns { z, p }, Some(path.vary), Some(&plane))?;
        let found = FoundOrbit { shooting: self.shooting.clone(), unknowns, equations };
        Ok((BranchNode::new(subject, path, found, Some(&self.tangent))?, steps))
    }

    /// Cosine between two tangents.
    fn cosine(&self, other: &BranchNode, path: &Path) -> f64 {
        let scales = self.shooting.scales(self.equations.period, path.high - path.low);
        self.tangent.iter().zip(&other.tangent).zip(&scales).map(|((a, b), s)| a * b / (s * s)).sum()
    }
}

/// Follows a branch from a node in the direction of its tangent until it leaves the range or ends; what cannot be asked of its orbits
/// any more ends it too.
fn trace(
    subject: &mut Subject<'_>,
    request: &Request,
    path: &Path,
    start: BranchNode,
    points: &mut Vec<BranchPoint>,
    special: &mut Vec<(Special, Option<BranchNode>)>,
) -> Result<(), Refusal> {
    let (first, known) = (point(subject, request, &start)?, points.len());
    match walk(subject, request, path, start, &first, points, special) {
        Err(refusal) if subject.go_on() => {
            let last = points[known..].last().unwrap_or(&first);
            let detail = format!("the branch could not be followed further: {}", refusal.message);
            let (kind, value, state) = (SpecialKind::End, last.value, last.orbit.state.clone());
            special.push((Special { kind, value, state, detail }, None));
            Ok(())
        }
        other => other,
    }
}

fn walk(
    subject: &mut Subject<'_>,
    request: &Request,
    path: &Path,
    start: BranchNode,
    first: &BranchPoint,
    points: &mut Vec<BranchPoint>,
    special: &mut Vec<(Special, Option<BranchNode>)>,
) -> Result<(), Refusal> {
    let mut node = start;
    let mut watch = MarginWatch::new(subject, &node, &first.orbit.state)?;
    let mut step = FIRST;
    let mut last: Option<Refusal> = None;
    for _ in 0..MOST_POINTS {
        if !subject.go_on() {
            return Err(Refusal::unanswered("interrupted", "ask again"));
        }
        let tried = node.ahead(subject, path, step).and_then(|(next, steps)| {
            let turned = node.cosine(&next, path) < TURN;
            let jumped = special::signature(&next) != special::signature(&node);
            if steps > SLOW || turned || jumped {
                let why = if jumped { "the sequence of impacts changes" } else { "the branch turns sharply" };
                return Err(Refusal::unanswered(why, ""));
            }
            Ok((next, steps))
        });
        let (next, steps) = match tried {
            Ok(found) => found,
            Err(refusal) => {
                step /= 2.0;
                last = Some(refusal);
                if step > SMALLEST {
                    continue;
                }
                // Beyond the range there may be nothing: a restitution of 1 is the last one.
                let to = node.y.p + 8.0 * SMALLEST * node.slope();
                let part = (to.clamp(path.low, path.high) - node.y.p) / node.slope();
                let ahead = |k: usize| node.y.z[k] + part * node.tangent[k];
                if let Some(at) = at_bound(subject, path, &node, to, ahead) {
                    points.push(point(subject, request, &at)?);
                    return Ok(());
                }
                let mut end = watch.end(path, &node, last.as_ref());
                if end.kind != SpecialKind::End {
                    end.detail += "; the branch ends here";
                }
                special.push((end, None));
                return Ok(());
            }
        };
        let inside = (path.low..=path.high).contains(&next.y.p);
        let between = match special::between(subject, path, &node, &next, step) {
            Ok(between) => between,
            // Shorter steps see where it vanishes, or that it does not.
            Err(kind) if step > SMALLEST => {
                step /= 2.0;
                let name = kind.name();
                last = Some(Refusal::unanswered(format!("a {name} could not be located"), ""));
                continue;
            }
            Err(kind) => {
                let why = format!("something like a {} lies here that could not be located", kind.name());
                special.push((watch.stopped(&node, why), None));
                return Ok(());
            }
        };
        for (kind, detail, at) in between {
            if (path.low..=path.high).contains(&at.y.p) {
                let state = point(subject, request, &at)?.orbit.state;
                special.push((Special { kind, value: at.y.p, state, detail }, Some(at)));
            }
        }
        if !inside {
            let part = (next.y.p.clamp(path.low, path.high) - node.y.p) / (next.y.p - node.y.p);
            let ahead = |k: usize| node.y.z[k] + part * (next.y.z[k] - node.y.z[k]);
            if let Some(at) = at_bound(subject, path, &node, next.y.p, ahead) {
                points.push(point(subject, request, &at)?);
            }
            return Ok(());
        }
        let reported = point(subject, request, &next)?;
        watch.note(subject, &next, &reported.orbit.state, step)?;
        points.push(reported);
        if steps <= 3 {
            step = (step * 1.5).min(LARGEST);
        }
        step = step.min(watch.room()).max(2.0 * SMALLEST);
        node = rebase(subject, path, next)?;
        last = None;
        if watch.vanishing() {
            let mut end = watch.end(path, &node, None);
            match beyond(subject, path, &node, &end) {
                Some(other) => {
                    end.detail += "; the branch goes on beyond it";
                    let end_value = end.value;
                    special.push((end, None));
                    // Away from the point: the other kind of orbit may exist on this side of it only.
                    let back = (other.y.p - end_value) * other.slope() < 0.0;
                    let other = if back { other.turned(-1.0) } else { other };
                    node = rebase(subject, path, other)?;
                    let reported = point(subject, request, &node)?;
                    watch = MarginWatch::new(subject, &node, &reported.orbit.state)?;
                    points.push(reported);
                    step = FIRST / 10.0;
                }
                None => {
                    end.detail += "; the branch of this sequence of impacts ends here";
                    special.push((end, None));
                    return Ok(());
                }
            }
        }
    }
    let why = last.map_or_else(|| "the branch has very many points".to_owned(), |r| r.message);
    special.push((watch.stopped(&node, why), None));
    Ok(())
}

/// The orbit at the end of the range that a step to `to` goes beyond, from a guess of its unknowns; `None` if the step stays within it,
/// or the orbit is not of the same kind.
fn at_bound(
    subject: &mut Subject<'_>,
    path: &Path,
    node: &BranchNode,
    to: f64,
    guess: impl Fn(usize) -> f64,
) -> Option<BranchNode> {
    let bound = to.clamp(path.low, path.high);
    if bound == to || bound == node.y.p {
        return None;
    }
    let z = (0..node.y.z.len()).map(guess).collect();
    let (unknowns, equations, _) =
        node.shooting.newton(subject, &Unknowns { z, p: bound }, Some(path.vary), None).ok()?;
    let found = FoundOrbit { shooting: node.shooting.clone(), unknowns, equations };
    let at = BranchNode::new(subject, path, found, Some(&node.tangent)).ok()?;
    (special::signature(&at) == special::signature(node) && node.cosine(&at, path) > TURN).then_some(at)
}

/// An orbit with another sequence of impacts just beyond the end of this one. After a corner it may be the same sequence gone round
/// from another impact: then the parameter must have passed the corner.
fn beyond(subject: &mut Subject<'_>, path: &Path, node: &BranchNode, end: &Special) -> Option<BranchNode> {
    for step in [2e-3, 5e-3, 1e-2] {
        let Ok((next, _)) = node.ahead(subject, path, step) else { continue };
        let passed = end.kind == SpecialKind::Corner && (next.y.p - end.value) * (end.value - node.y.p) > 0.0;
        let other = passed || special::signature(&next) != special::signature(node);
        if other && next.cosine(node, path).abs() > 0.0 && (path.low..=path.high).contains(&next.y.p) {
            return Some(next);
        }
    }
    None
}

/// A base away from instants: what is unknown lies between impacts, all along the branch.
fn rebase(subject: &mut Subject<'_>, path: &Path, node: BranchNode) -> Result<BranchNode, Refusal> {
    let (period, begin) = (node.equations.period, node.shooting.time);
    let n = node.shooting.scale.len();
    if node.shooting.segments() > 1 || segments::is_unstable(&node.equations) {
        return Ok(segments::recut(subject, path, &node)?.unwrap_or(node));
    }
    let motion = [&node.equations.shots[0].motion];
    let instants = segments::instants(subject, &motion, begin, begin + period);
    let near = |t: &f64| (t - begin).min(begin + period - t) < CROWDED * period;
    let mut shooting = node.shooting.clone();
    let (mut z, mut tangent) = (node.y.z.clone(), node.tangent.clone());
    if instants.iter().any(near) {
        let Some(&at) = segments::quiet_times(subject, &motion, begin, begin + period).first() else {
            return Ok(node);
        };
        let shot = subject.shoot(&z[..n], begin, at - begin, &node.equations.parameters, Some(path.vary))?;
        let carried = shot.phi.times(&tangent[..n]);
        let slope = node.slope();
        for a in 0..n {
            z[a] = shot.end[a];
            tangent[a] = carried[a] + slope * shot.by_parameter[a];
        }
        shooting.time = at;
    }
    shooting.anchor(subject, &z[..n], &node.equations.parameters);
    let scales = shooting.scales(period, path.high - path.low);
    let mut anchor = z.clone();
    anchor.push(node.y.p);
    let normal: Vec<f64> = tangent.iter().zip(&scales).map(|(t, s)| t / (s * s)).collect();
    let plane = ClosingPlane { normal, anchor };
    let guess = Unknowns { z, p: node.y.p };
    let (unknowns, equations, _) = shooting.newton(subject, &guess, Some(path.vary), Some(&plane))?;
    BranchNode::new(subject, path, FoundOrbit { shooting, unknowns, equations }, Some(&tangent))
}

/// Amplitude with which the doubled branch is entered, in units of the state.
const ENTRY: f64 = 0.01;

/// The first point of the doubled branch: x + ε w, where Φ w = −w; segment by segment Φ_i w_i = w_{i+1}, Φ_m w_m = −w_1.
fn switch(subject: &mut Subject<'_>, path: &Path, node: &BranchNode) -> Result<BranchNode, Refusal> {
    let (n, m) = (node.shooting.scale.len(), node.shooting.segments());
    let all = n * m;
    let rate = subject.rate(&node.y.z[..n], node.shooting.time, &node.equations.parameters);
    // The null vector, by bordering, without a component along the flow.
    let mut bordered = Matrix::zeros(all + 1, all + 1);
    for (k, shot) in node.equations.shots.iter().enumerate() {
        let next = (k + 1) % m * n;
        for i in 0..n {
            for j in 0..n {
                bordered[(k * n + i, k * n + j)] += shot.phi[(i, j)];
            }
            bordered[(k * n + i, next + i)] += if k + 1 == m { 1.0 } else { -1.0 };
        }
    }
    for i in 0..all {
        bordered[(i, all)] = 1.0 + 0.3 * (i % n) as f64;
        bordered[(all, i)] = (1.0 - 0.2 * (i % n) as f64) / node.shooting.scale[i % n];
    }
    let mut right = vec![0.0; all];
    right.push(1.0);
    let sizes: Vec<f64> = (0..all).map(|i| node.shooting.scale[i % n]).chain([1.0]).collect();
    let mut w = solve(&bordered, &sizes, &right)[..all].to_vec();
    if !node.shooting.is_forced() {
        let along = w[..n].iter().zip(&rate).map(|(a, b)| a * b).sum::<f64>()
            / rate.iter().map(|v| v * v).sum::<f64>();
        w.iter_mut().zip(&rate).for_each(|(v, f)| *v -= along * f);
    }
    let scaled = |(i, v): (usize, &f64)| (v / node.shooting.scale[i % n]).abs();
    let size = w[..n].iter().enumerate().map(scaled).fold(0.0, f64::max);
    if !(size > 0.0 && size.is_finite()) {
        return Err(Refusal::unanswered(
            "the direction of the doubled branch could not be computed",
            "leave --doubled out, and start an orbit of twice the period from a state beside this one",
        ));
    }
    w.iter_mut().for_each(|v| *v *= ENTRY / size);
    let mut shooting = node.shooting.clone();
    shooting.count *= 2;
    // One segment stays one; several are gone through twice, the second time on the other side.
    let (mut z, mut direction): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    let rounds: &[f64] = if m == 1 { &[1.0] } else { &[1.0, -1.0] };
    for side in rounds {
        z.extend(node.y.z[..all].iter().zip(&w).map(|(x, w)| x + side * w));
        direction.extend(w.iter().map(|w| side * w));
    }
    if m == 1 {
        shooting.weights = vec![1.0];
    } else {
        let half = node.shooting.weights.iter().map(|w| w / 2.0);
        shooting.weights = half.clone().chain(half).collect();
    }
    let period_at = z.len();
    z.extend(&node.y.z[all..]);
    if matches!(shooting.returns, Return::Section(_)) {
        z[period_at] *= 2.0;
    }
    let mut anchor = z.clone();
    anchor.push(node.y.p);
    direction.resize(anchor.len(), 0.0);
    let scales = shooting.scales(node.equations.period, path.high - path.low);
    let normal: Vec<f64> = direction.iter().zip(&scales).map(|(t, s)| t / (s * s)).collect();
    let plane = ClosingPlane { normal, anchor };
    let guess = Unknowns { z, p: node.y.p };
    let (unknowns, equations, _) = shooting.newton(subject, &guess, Some(path.vary), Some(&plane))?;
    BranchNode::new(subject, path, FoundOrbit { shooting, unknowns, equations }, Some(&direction))
}
