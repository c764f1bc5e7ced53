//! Branches of periodic orbits in a parameter, by pseudo-arclength.
//!
//! ```text
//! y = (z, p):   G(y) = 0,   ⟨t, y − (y_k + s t)⟩ = 0,   [G_z, G_p; tᵀ] t′ = (0, 1)
//! ```
//!
//! Lengths are measured in units of the state, the period and the range of the parameter, so a fold is a point like any other.
//! `special` knows what is remarkable about a point; what lies between two points is located by moving s.

use crate::eigen::Complex;
use crate::orbit::{self, Found, Orbit};
use crate::refusal::Refusal;
use crate::request::{Request, Return};
use crate::shooting::{Equations, Plane, Shooting, Unknowns};
use crate::special::{self, Special, SpecialKind, Watch};
use crate::subject::Subject;
use carom_expr::nearest;
use carom_jet::dense::{Factored, Matrix};

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
/// Nearer to an instant than this part of the period, the base of an orbit is moved.
const CROWDED: f64 = 0.03;

/// A point with everything needed to go on from it.
pub(crate) struct Node {
    pub shooting: Shooting,
    pub y: Unknowns,
    pub equations: Equations,
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
    let first = Node::new(subject, &path, found, None)?;
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
    special: &[(Special, Option<Node>)],
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

fn point(subject: &mut Subject<'_>, request: &Request, node: &Node) -> Result<BranchPoint, Refusal> {
    let found = Found {
        shooting: node.shooting.clone(),
        unknowns: node.y.clone(),
        equations: node.equations.clone(),
    };
    Ok(BranchPoint { value: node.y.p, orbit: orbit::report(subject, request, &found)? })
}

impl Node {
    /// A point; its tangent continues `before`, or goes up in the parameter.
    pub fn new(
        subject: &mut Subject<'_>,
        path: &Path,
        found: Found,
        before: Option<&[f64]>,
    ) -> Result<Node, Refusal> {
        let Found { shooting, unknowns, equations } = found;
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
            .tangent(&equations, &normal)
            .ok_or_else(|| Refusal::unanswered("two branches meet here", "change a parameter a little"))?;
        let length = tangent.iter().zip(&scales).map(|(t, s)| (t / s).powi(2)).sum::<f64>().sqrt();
        let tangent = tangent.iter().map(|t| t / length).collect();
        let multipliers = shooting.multipliers(subject, &unknowns, &equations).ok_or_else(|| {
            Refusal::unanswered(
                "the multipliers of an orbit could not be computed",
                "change a parameter a little",
            )
        })?;
        Ok(Node { shooting, y: unknowns, equations, multipliers, tangent })
    }

    fn turned(&self, sign: f64) -> Node {
        let mut node = self.copy();
        node.tangent.iter_mut().for_each(|t| *t *= sign);
        node
    }

    pub fn copy(&self) -> Node {
        Node {
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
    pub fn ahead(&self, subject: &mut Subject<'_>, path: &Path, s: f64) -> Result<(Node, usize), Refusal> {
        let scales = self.shooting.scales(self.equations.period, path.high - path.low);
        let mut anchor: Vec<f64> = self.y.z.clone();
        anchor.push(self.y.p);
        anchor.iter_mut().zip(&self.tangent).for_each(|(a, t)| *a += s * t);
        let normal: Vec<f64> = self.tangent.iter().zip(&scales).map(|(t, s)| t / (s * s)).collect();
        let (p, z) = (anchor[anchor.len() - 1], anchor[..anchor.len() - 1].to_vec());
        let plane = Plane { normal, anchor };
        let (unknowns, equations, steps) =
            self.shooting.newton(subject, &Unknowns { z, p }, Some(path.vary), Some(&plane))?;
        let found = Found { shooting: self.shooting.clone(), unknowns, equations };
        Ok((Node::new(subject, path, found, Some(&self.tangent))?, steps))
    }

    /// Cosine between two tangents.
    fn cosine(&self, other: &Node, path: &Path) -> f64 {
        let scales = self.shooting.scales(self.equations.period, path.high - path.low);
        self.tangent.iter().zip(&other.tangent).zip(&scales).map(|((a, b), s)| a * b / (s * s)).sum()
    }
}

/// Follows a branch from a node in the direction of its tangent until it leaves the range or ends.
fn trace(
    subject: &mut Subject<'_>,
    request: &Request,
    path: &Path,
    start: Node,
    points: &mut Vec<BranchPoint>,
    special: &mut Vec<(Special, Option<Node>)>,
) -> Result<(), Refusal> {
    let mut node = start;
    let first = point(subject, request, &node)?;
    let mut watch = Watch::new(subject, &node, &first.orbit.state)?;
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
                let mut end = watch.end(path, &node, last.as_ref());
                if end.kind != SpecialKind::End {
                    end.detail += "; the branch ends here";
                }
                special.push((end, None));
                return Ok(());
            }
        };
        let inside = (path.low..=path.high).contains(&next.y.p);
        for (kind, detail, at) in special::between(subject, path, &node, &next, step) {
            if (path.low..=path.high).contains(&at.y.p) {
                let state = point(subject, request, &at)?.orbit.state;
                special.push((Special { kind, value: at.y.p, state, detail }, Some(at)));
            }
        }
        if !inside {
            let bound = if next.y.p > path.high { path.high } else { path.low };
            let part = (bound - node.y.p) / (next.y.p - node.y.p);
            let z = node.y.z.iter().zip(&next.y.z).map(|(a, b)| a + part * (b - a)).collect();
            if let Ok((y, equations, _)) =
                node.shooting.newton(subject, &Unknowns { z, p: bound }, Some(path.vary), None)
            {
                let found = Found { shooting: node.shooting.clone(), unknowns: y, equations };
                let node = Node::new(subject, path, found, Some(&node.tangent))?;
                points.push(point(subject, request, &node)?);
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
            match beyond(subject, path, &node) {
                Some(other) => {
                    end.detail += "; the branch goes on with another sequence of impacts";
                    special.push((end, None));
                    node = rebase(subject, path, other)?;
                    let reported = point(subject, request, &node)?;
                    watch = Watch::new(subject, &node, &reported.orbit.state)?;
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

/// An orbit with another sequence of impacts just beyond the end of this one.
fn beyond(subject: &mut Subject<'_>, path: &Path, node: &Node) -> Option<Node> {
    for step in [2e-3, 5e-3, 1e-2] {
        let Ok((next, _)) = node.ahead(subject, path, step) else { continue };
        let other = special::signature(&next) != special::signature(node);
        if other && next.cosine(node, path).abs() > 0.0 && (path.low..=path.high).contains(&next.y.p) {
            return Some(next);
        }
    }
    None
}

/// A base away from instants: what is unknown lies between impacts, all along the branch.
fn rebase(subject: &mut Subject<'_>, path: &Path, node: Node) -> Result<Node, Refusal> {
    let (period, begin) = (node.equations.period, node.shooting.time);
    let n = node.shooting.scale.len();
    if node.shooting.segments() > 1 {
        return Ok(node);
    }
    let motion = &node.equations.shots[0].motion;
    let instants = orbit::instants(subject, motion, begin, begin + period);
    let near = |t: &f64| (t - begin).min(begin + period - t) < CROWDED * period;
    let mut shooting = node.shooting.clone();
    let (mut z, mut tangent) = (node.y.z.clone(), node.tangent.clone());
    if instants.iter().any(near) {
        let Some(&at) = orbit::quiet_times(subject, motion, begin, begin + period).first() else {
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
    if shooting.phase.is_some() {
        let rate = subject.rate(&z[..n], shooting.time, &node.equations.parameters);
        shooting.phase = Some((z[..n].to_vec(), rate));
    }
    let scales = shooting.scales(period, path.high - path.low);
    let mut anchor = z.clone();
    anchor.push(node.y.p);
    let normal: Vec<f64> = tangent.iter().zip(&scales).map(|(t, s)| t / (s * s)).collect();
    let plane = Plane { normal, anchor };
    let guess = Unknowns { z, p: node.y.p };
    let (unknowns, equations, _) = shooting.newton(subject, &guess, Some(path.vary), Some(&plane))?;
    Node::new(subject, path, Found { shooting, unknowns, equations }, Some(&tangent))
}

/// Amplitude with which the doubled branch is entered, in units of the state.
const ENTRY: f64 = 0.01;

/// The first point of the doubled branch: x + ε w, where Φ w = −w.
fn switch(subject: &mut Subject<'_>, path: &Path, node: &Node) -> Result<Node, Refusal> {
    let n = node.shooting.scale.len();
    let phi = &node.equations.shots[0].phi;
    let rate = subject.rate(&node.y.z[..n], node.shooting.time, &node.equations.parameters);
    // The null vector of Φ + 1, without a component along the flow.
    let mut bordered = Matrix::zeros(n + 1, n + 1);
    for i in 0..n {
        for j in 0..n {
            bordered[(i, j)] = phi[(i, j)];
        }
        bordered[(i, i)] += 1.0;
        bordered[(i, n)] = 1.0 + 0.3 * i as f64;
        bordered[(n, i)] = (1.0 - 0.2 * i as f64) / node.shooting.scale[i];
    }
    let mut right = vec![0.0; n];
    right.push(1.0);
    let mut w = Factored::new(&bordered).solve(&right)[..n].to_vec();
    if !node.shooting.is_forced() {
        let along =
            w.iter().zip(&rate).map(|(a, b)| a * b).sum::<f64>() / rate.iter().map(|v| v * v).sum::<f64>();
        w.iter_mut().zip(&rate).for_each(|(v, f)| *v -= along * f);
    }
    let size = w.iter().zip(&node.shooting.scale).fold(0.0_f64, |m, (v, s)| m.max((v / s).abs()));
    w.iter_mut().for_each(|v| *v *= ENTRY / size);
    let mut shooting = node.shooting.clone();
    shooting.count *= 2;
    shooting.weights = vec![1.0];
    let mut z: Vec<f64> = node.y.z[..n].to_vec();
    let rest = node.shooting.segments() * n;
    z.extend(&node.y.z[rest..]);
    z.iter_mut().zip(&w).for_each(|(x, d)| *x += d);
    if matches!(shooting.returns, Return::Section(_)) {
        z[n] *= 2.0;
    }
    let mut anchor = z.clone();
    anchor.push(node.y.p);
    let mut direction = w.clone();
    direction.resize(anchor.len(), 0.0);
    let scales = shooting.scales(node.equations.period, path.high - path.low);
    let normal: Vec<f64> = direction.iter().zip(&scales).map(|(t, s)| t / (s * s)).collect();
    let plane = Plane { normal, anchor };
    let guess = Unknowns { z, p: node.y.p };
    let (unknowns, equations, _) = shooting.newton(subject, &guess, Some(path.vary), Some(&plane))?;
    Node::new(subject, path, Found { shooting, unknowns, equations }, Some(&direction))
}
