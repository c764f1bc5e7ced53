//! Periodic orbits: a motion that returns to its start, P(x) = x, with its multipliers, the eigenvalues of DP.
//!
//! A guess comes from the model's start or from where a run settles; a point between impacts is taken from it (`base`), and
//! `shooting` does the rest. What is reported is the state at the section (just after the impact, or the reset), or at the
//! phase the model starts with.

use crate::eigen::{Complex, modulus};
use crate::refusal::Refusal;
use crate::request::{self, Request, Return, Section, is_conservative};
use crate::segments::{cut, is_unstable, quiet_times};
use crate::shooting::{Shooting, ShootingEquations, Unknowns, no_derivative};
use crate::subject::{Invariant, Subject};
use crate::symmetry::{self, Symmetry};
use carom_jet::dense::dot;
use carom_run::{Motion, Options, Sampling, Side};

/// A periodic orbit.
#[derive(Clone, Debug)]
pub struct Orbit {
    /// T
    pub period: f64,
    /// The state, by name: at the section, or at `at_time`.
    pub state: Vec<(String, f64)>,
    /// The time that belongs to the state.
    pub at_time: f64,
    /// Nontrivial multipliers, largest first.
    pub multipliers: Vec<Complex>,
    /// Do all nearby motions stay near (approach it, unless something is conserved)?
    pub stable: bool,
    /// Walls in the order of their impacts, from the state on.
    pub impacts: Vec<String>,
    /// |P(x) − x|, relative to the size of the state.
    pub residual: f64,
    /// Names of what was held fixed.
    pub invariants: Vec<String>,
    /// What one should know about it.
    pub warnings: Vec<String>,
    /// Settings that simulate it once round, from the state.
    pub options: Options,
}

/// An orbit with the equations it solves.
pub(crate) struct FoundOrbit {
    pub shooting: Shooting,
    pub unknowns: Unknowns,
    pub equations: ShootingEquations,
}

/// Periods that a forced motion is given to settle.
const SETTLING: f64 = 300.0;
/// How often the time of a run is doubled in search of crossings.
const DOUBLINGS: usize = 8;
/// Multipliers on the unit circle, to rounding.
pub(crate) const ON_CIRCLE: f64 = 1e-8;
/// A section whose crossing rate is below this part of |∇g| |f| is met tangentially.
const TANGENTIAL: f64 = 1e-7;

/// Periods and ways below this part of those of the guess are none.
const NOTHING: f64 = 1e-9;

/// Finds a periodic orbit.
///
/// # Errors
/// If the request is wrong for this model, or no orbit is found: a sentence and a way out.
pub fn orbit(subject: &mut Subject<'_>, request: &Request) -> Result<Orbit, Refusal> {
    let found = find(subject, request, None)?;
    report(subject, request, &found)
}

/// Finds an orbit at a value of a parameter.
pub(crate) fn find(
    subject: &mut Subject<'_>,
    request: &Request,
    varied: Option<(usize, f64)>,
) -> Result<FoundOrbit, Refusal> {
    let parameters = subject.parameters_with(varied);
    request::check(subject, request, &parameters)?;
    let guess = guess(subject, request, &parameters)?;
    let symmetries = symmetry::unbroken(subject, std::slice::from_ref(&guess.motion));
    let invariants = conserved(subject, request, &guess, &parameters, &symmetries)?;
    solve(subject, request, &guess, invariants, symmetries, varied)
}

/// A window of a run that is nearly an orbit.
pub(crate) struct Guess {
    /// The run it is part of.
    pub options: Options,
    pub motion: Motion,
    pub from: f64,
    pub period: f64,
    /// How often the forcing's period is to be taken off its times.
    pub late: f64,
}

fn guess(subject: &mut Subject<'_>, request: &Request, parameters: &[f64]) -> Result<Guess, Refusal> {
    let mut options = subject.options.clone();
    options.parameters = parameters.to_vec();
    let begin = options.start.time;
    match &request.returns {
        Return::Period { dag, formula, .. } => {
            let period = subject.of_parameters(dag, *formula, parameters, None).0 * request.count as f64;
            let late = if request.settle { SETTLING * period } else { 0.0 };
            options.until = begin + late + period;
            options.sampling = Sampling::At(vec![options.until]);
            let motion = subject.simulate(&options)?;
            Ok(Guess { options, motion, from: begin + late, period, late })
        }
        Return::Section(section) => {
            let wanted = request.count + 1;
            let first = (options.until - begin).max(f64::MIN_POSITIVE);
            for doubling in 0..=DOUBLINGS {
                options.until = begin + first * 2.0_f64.powi(doubling as i32);
                options.sampling = Sampling::At(vec![begin, options.until]);
                // Far beyond the asked time a motion may end; what it did before that is enough to know.
                let motion = match subject.simulate(&options) {
                    Ok(motion) => motion,
                    Err(refusal) => {
                        let crossed = if doubling == 0 {
                            ""
                        } else {
                            "; the section was not crossed often enough before"
                        };
                        return Err(Refusal::unanswered(
                            format!("{}{crossed}", refusal.message),
                            refusal.hint,
                        ));
                    }
                };
                let times = crossings(*section, &motion);
                if times.len() >= wanted
                    || (doubling == DOUBLINGS && !times.is_empty() && times.len() >= request.count)
                {
                    return window(subject, request, options, motion, &times);
                }
            }
            let name = section_name(subject, *section);
            Err(Refusal::unanswered(
                format!(
                    "{name} is crossed fewer than {wanted} times until t = {}: it is no section of this motion",
                    options.until
                ),
                "choose an event or wall that the motion meets again and again, or another start",
            ))
        }
    }
}

/// The part of a run between two crossings that is most nearly closed: from the start if it lies on the section, from the first
/// crossing, or the last part.
fn window(
    subject: &mut Subject<'_>,
    request: &Request,
    mut options: Options,
    motion: Motion,
    times: &[f64],
) -> Result<Guess, Refusal> {
    let begin = options.start.time;
    let count = request.count;
    let mut candidates: Vec<(f64, f64)> = Vec::new();
    if request.settle {
        let last = times.len() - 1;
        candidates.push((times[last - count.min(last)], times[last]));
    } else {
        candidates.push((begin, times[count - 1]));
        if times.len() > count {
            candidates.push((times[0], times[count]));
        }
    }
    let mut asked: Vec<f64> = candidates.iter().flat_map(|c| [c.0, c.1]).collect();
    asked.push(options.until);
    options.sampling = Sampling::At(asked);
    let motion = if candidates.len() == 1 { motion } else { subject.simulate(&options)? };
    let mut best = (candidates[0], f64::INFINITY);
    if candidates.len() > 1 {
        let states: Vec<Vec<f64>> = (0..2 * candidates.len()).map(|k| subject.sampled(&motion, k)).collect();
        let size = |i: usize| states.iter().map(|x| x[i].abs()).fold(0.0, f64::max);
        for (k, candidate) in candidates.iter().enumerate() {
            let (a, b) = (&states[2 * k], &states[2 * k + 1]);
            // Relative to each variable, and to its size elsewhere where it is small.
            let apart = |i: usize| match (a[i] - b[i]).abs() {
                0.0 => 0.0,
                apart => apart / (a[i].abs() + b[i].abs() + 1e-3 * size(i)),
            };
            let distance = (0..a.len()).map(apart).fold(0.0, f64::max);
            if candidate.1 > candidate.0 && distance < best.1 {
                best = (*candidate, distance);
            }
        }
    }
    let (from, to) = best.0;
    Ok(Guess { options, motion, from, period: to - from, late: 0.0 })
}

fn section_name(subject: &Subject<'_>, section: Section) -> String {
    let model = &subject.mechanics.model;
    match section {
        Section::Wall(w) => format!("wall `{}`", model.walls[w].name),
        Section::Event(e) => format!("event `{}`", model.events[e].name),
    }
}

/// The times of all crossings.
pub(crate) fn crossings(section: Section, motion: &Motion) -> Vec<f64> {
    match section {
        Section::Wall(w) => motion.impacts.iter().filter(|i| i.walls.contains(&w)).map(|i| i.time).collect(),
        Section::Event(e) => motion.events.iter().filter(|r| r.event == e).map(|r| r.time).collect(),
    }
}

/// The quantities to hold, with their values.
fn conserved(
    subject: &mut Subject<'_>,
    request: &Request,
    guess: &Guess,
    parameters: &[f64],
    symmetries: &[Symmetry],
) -> Result<Vec<(Invariant, f64)>, Refusal> {
    let mut known = request.invariants.clone();
    let mechanics = subject.mechanics;
    if is_conservative(subject, parameters) && subject.elastic(parameters, &guess.motion) {
        known.insert(0, Invariant { name: "energy".to_owned(), formula: mechanics.hamiltonian });
    }
    for (name, _) in &request.hold {
        if symmetries.iter().any(|s| s.name == *name) {
            return Err(Refusal::wrong(
                format!(
                    "`{name}` is conserved along this motion, and an orbit that closes has its own value of it: it cannot be held"
                ),
                "leave --hold out; the value of the start says where the search begins",
            ));
        }
        if !known.iter().any(|i| i.name == *name) {
            let names: Vec<&str> = known.iter().map(|i| i.name.as_str()).collect();
            let what = if names.is_empty() {
                "nothing is conserved along this orbit".to_owned()
            } else {
                format!("conserved here: {}", names.join(", "))
            };
            return Err(Refusal::wrong(
                format!("`{name}` is not conserved along this motion, so it cannot be held"),
                what,
            ));
        }
    }
    let x = subject.own_start_with(parameters)?;
    let time = subject.options.start.time;
    Ok(known
        .into_iter()
        .map(|invariant| {
            let held = request.hold.iter().find(|(name, _)| *name == invariant.name);
            let value =
                held.map_or_else(|| subject.value(invariant.formula, &x, time, parameters), |(_, v)| *v);
            (invariant, value)
        })
        .collect())
}

/// The equations around a guess, and their solution.
fn solve(
    subject: &mut Subject<'_>,
    request: &Request,
    guess: &Guess,
    invariants: Vec<(Invariant, f64)>,
    symmetries: Vec<Symmetry>,
    varied: Option<(usize, f64)>,
) -> Result<FoundOrbit, Refusal> {
    let parameters = guess.options.parameters.clone();
    let (from, to) = (guess.from, guess.from + guess.period);
    let quiet = quiet_times(subject, &[&guess.motion], from, to);
    let Some(&base) = quiet.first() else {
        return Err(Refusal::unanswered("the guess has no extent in time", "choose another start"));
    };
    // The state there, and enough others to know how large each variable is.
    let mut options = guess.options.clone();
    let mut times = vec![base];
    times.extend((0..=64).map(|k| from + guess.period * f64::from(k) / 64.0).filter(|t| *t <= options.until));
    options.sampling = Sampling::At(times);
    let motion = subject.simulate(&options)?;
    let x = subject.sampled(&motion, 0);
    let mut scale = vec![0.0_f64; x.len()];
    for k in 0..motion.time.len() {
        scale.iter_mut().zip(subject.sampled(&motion, k)).for_each(|(s, v)| *s = s.max(v.abs()));
    }
    // One that does not move is measured by the others of its kind: positions by positions, rates by rates.
    let half = scale.len() / 2;
    for kind in [0..half, half..scale.len()] {
        let largest = scale[kind.clone()].iter().copied().fold(0.0, f64::max);
        let largest = if largest > 0.0 { largest } else { 1.0 };
        scale[kind].iter_mut().for_each(|s| *s = s.max(1e-3 * largest));
    }
    let forced = matches!(request.returns, Return::Period { .. });
    let rate = subject.rate(&x, base, &parameters);
    if !forced && dot(&rate, &rate) == 0.0 {
        return Err(Refusal::unanswered("the guess is at rest: it is no orbit", "choose a start that moves"));
    }
    let mut z = x.clone();
    if !forced {
        z.push(guess.period);
    }
    let flow = (!forced).then_some(rate.as_slice());
    let symmetries =
        symmetry::independent(subject, symmetries, &x, base - guess.late, &parameters, &scale, flow);
    z.extend((0..invariants.len() + symmetries.len()).map(|_| 0.0));
    let mut shooting = Shooting {
        time: base - guess.late,
        weights: vec![1.0],
        returns: request.returns.clone(),
        count: request.count,
        phase: (!forced).then(|| (x.clone(), rate)),
        invariants,
        symmetries,
        turns: Vec::new(),
        scale,
    };
    shooting.anchor(subject, &x, &parameters);
    let unknowns = Unknowns { z, p: varied.map_or(0.0, |v| v.1) };
    let vary = varied.map(|v| v.0);
    let first = shooting.equations(subject, &unknowns, vary)?;
    let (shooting, unknowns) = match is_unstable(&first) {
        true => cut(subject, &shooting, &unknowns, &first)?,
        false => (shooting, unknowns),
    };
    let (unknowns, equations, _) = shooting.newton(subject, &unknowns, vary, None)?;
    let found = FoundOrbit { shooting, unknowns, equations };
    moves(subject, guess, &found)?;
    Ok(found)
}

/// A state of rest, or any state after no time at all, returns too, and is no orbit.
fn moves(subject: &Subject<'_>, guess: &Guess, found: &FoundOrbit) -> Result<(), Refusal> {
    let FoundOrbit { shooting, unknowns, equations } = found;
    if shooting.is_forced() {
        return Ok(());
    }
    if equations.period < NOTHING * guess.period {
        return Err(Refusal::unanswered(
            "no orbit was found: the iteration leads to a period of zero",
            "an event without direction fires twice a round: ask for --crossings 2 or give it a direction; or start nearer to an orbit",
        ));
    }
    let rate = subject.rate(&unknowns.z[..shooting.scale.len()], shooting.time, &equations.parameters);
    let way = rate.iter().zip(&shooting.scale).map(|(f, s)| (f * equations.period / s).abs());
    if way.fold(0.0, f64::max) < NOTHING {
        return Err(Refusal::unanswered(
            "no orbit was found: the iteration leads to a state of rest",
            "start farther from rest, or hold another value with --hold",
        ));
    }
    Ok(())
}

/// What is said about an orbit.
pub(crate) fn report(
    subject: &mut Subject<'_>,
    request: &Request,
    found: &FoundOrbit,
) -> Result<Orbit, Refusal> {
    let FoundOrbit { shooting, unknowns, equations } = found;
    let n = shooting.scale.len();
    let (begin, period) = (shooting.time, equations.period);
    for shot in &equations.shots {
        if let Some(obstacle) = &shot.obstacle {
            return Err(no_derivative(subject, obstacle));
        }
    }
    let multipliers = shooting.multipliers(subject, unknowns, equations).ok_or_else(|| {
        Refusal::unanswered("the multipliers of the orbit could not be computed", "start at another orbit")
    })?;
    let (state, at_time, lead) = match &request.returns {
        Return::Period { .. } => {
            // The phase the model starts with, at or after the point.
            let from = subject.options.start.time;
            let rounds = ((begin - from) / period).ceil();
            let at = from + rounds * period;
            // From the segment it lies in: an unstable orbit cannot be followed for long.
            let (mut segment, mut start) = (0, begin);
            while segment + 1 < shooting.segments() && start + shooting.weights[segment] * period <= at {
                start += shooting.weights[segment] * period;
                segment += 1;
            }
            let point = &unknowns.z[segment * n..(segment + 1) * n];
            (state_at(subject, point, start, at, &equations.parameters)?, from, at - begin)
        }
        Return::Section(section) => {
            let (segment, at) = first_crossing(subject, request, *section, equations)?;
            let from = begin + shooting.weights[..segment].iter().sum::<f64>() * period;
            let point = &unknowns.z[segment * n..(segment + 1) * n];
            tangential(subject, *section, equations, point, from, at)?;
            // As far as the shot went, so that the crossing is at the same bits and the sample shows the state after.
            let mut options = subject.options_from(
                point,
                from,
                from + shooting.weights[segment] * period,
                &equations.parameters,
            );
            options.sampling = Sampling::At(vec![at]);
            let motion = subject.simulate(&options)?;
            (subject.sampled(&motion, 0), subject.options.start.time, at - begin)
        }
    };
    let model = &subject.mechanics.model;
    let mut hits: Vec<(f64, usize)> = Vec::new();
    for shot in &equations.shots {
        for impact in &shot.motion.impacts {
            hits.extend(impact.walls.iter().map(|&w| (impact.time - begin, w)));
        }
    }
    // From the state on: the impact that the section is comes last.
    let first = hits.iter().position(|(t, _)| *t > lead * (1.0 + 4.0 * f64::EPSILON)).unwrap_or(0);
    hits.rotate_left(first);
    // On the circle for good, beside it by rounding only: in pairs of product one, or along what is conserved.
    let conservative = shooting.borders() > 0 || paired(subject, shooting, equations);
    let bound = if conservative { 1.0 + ON_CIRCLE } else { 1.0 };
    let stable =
        multipliers.iter().all(|&z| if conservative { modulus(z) <= bound } else { modulus(z) < bound });
    let mut options = subject.options_from(&state, at_time, at_time + period, &equations.parameters);
    options.sampling = Sampling::Even(401);
    options.start.project = subject.options.start.project || options.start.project;
    let mut warnings = Vec::new();
    if let Some(parts) = repeated(subject, request, found)? {
        warnings.push(format!(
            "this is an orbit of 1/{parts} of the period, gone round {parts} times: ask for {} of its returns",
            request.count / parts
        ));
    }
    Ok(Orbit {
        period,
        state: subject.names().into_iter().zip(state).collect(),
        at_time,
        multipliers,
        stable,
        impacts: hits.iter().map(|(_, w)| model.walls[*w].name.clone()).collect(),
        residual: shooting.gap(equations, unknowns),
        invariants: shooting.invariants.iter().map(|(i, _)| i.name.clone()).collect(),
        warnings,
        options,
    })
}

/// Do the multipliers of an orbit come in pairs of product one?
pub(crate) fn paired(subject: &Subject<'_>, shooting: &Shooting, equations: &ShootingEquations) -> bool {
    let motions = equations.shots.iter().map(|shot| &shot.motion);
    !shooting.invariants.is_empty() || subject.lossless(&equations.parameters, motions)
}

/// Is it a shorter orbit gone round several times? How often.
fn repeated(
    subject: &mut Subject<'_>,
    request: &Request,
    found: &FoundOrbit,
) -> Result<Option<usize>, Refusal> {
    let (shooting, n) = (&found.shooting, found.shooting.scale.len());
    let x = &found.unknowns.z[..n];
    for parts in (2..=request.count).rev().filter(|p| request.count.is_multiple_of(*p)) {
        let at = shooting.time + found.equations.period / parts as f64;
        let later = state_at(subject, x, shooting.time, at, &found.equations.parameters)?;
        let same = later.iter().zip(x).zip(&shooting.scale).all(|((a, b), s)| (a - b).abs() < 1e-7 * s);
        if same {
            return Ok(Some(parts));
        }
    }
    Ok(None)
}

/// The state after a while.
fn state_at(
    subject: &mut Subject<'_>,
    x: &[f64],
    from: f64,
    at: f64,
    parameters: &[f64],
) -> Result<Vec<f64>, Refusal> {
    if at <= from {
        return Ok(x.to_vec());
    }
    let mut options = subject.options_from(x, from, at, parameters);
    options.sampling = Sampling::At(vec![at]);
    let motion = subject.simulate(&options)?;
    Ok(subject.sampled(&motion, 0))
}

/// The first crossing of the section from the point on; the number of crossings must be the one asked for.
fn first_crossing(
    subject: &Subject<'_>,
    request: &Request,
    section: Section,
    equations: &ShootingEquations,
) -> Result<(usize, f64), Refusal> {
    let shots = equations.shots.iter().enumerate();
    let times: Vec<(usize, f64)> = shots
        .flat_map(|(i, shot)| crossings(section, &shot.motion).into_iter().map(move |t| (i, t)))
        .collect();
    let name = section_name(subject, section);
    if times.len() != request.count {
        return Err(Refusal::unanswered(
            format!(
                "the orbit found crosses {name} {} times, not {}; its period is {}",
                times.len(),
                request.count,
                equations.period
            ),
            format!("ask for --crossings {}, or start nearer to the orbit you mean", times.len().max(1)),
        ));
    }
    Ok(times[0])
}

/// A section that the orbit only touches is none.
fn tangential(
    subject: &mut Subject<'_>,
    section: Section,
    equations: &ShootingEquations,
    x: &[f64],
    begin: f64,
    at: f64,
) -> Result<(), Refusal> {
    let mechanics = subject.mechanics;
    let formula = match section {
        Section::Wall(w) => mechanics.walls[w].gap,
        Section::Event(e) => mechanics.events[e].when,
    };
    let mut options = subject.options_from(x, begin, at, &equations.parameters);
    options.dense = true;
    let motion = subject.simulate(&options)?;
    let Some(values) = subject.read(&motion, at, Side::Before) else { return Ok(()) };
    let columns = carom_run::Columns::of(subject.program());
    let (q, v, p) = (&values[columns.position], &values[columns.velocity], &values[columns.momentum]);
    let before = subject.state_of(q, v).unwrap_or_else(|| {
        let free = &mechanics.free;
        free.iter().map(|&i| q[i]).chain(free.iter().map(|&i| p[i])).collect()
    });
    let (_, gradient) = subject.gradient(formula, &before, at, &equations.parameters);
    let rate = subject.rate(&before, at, &equations.parameters);
    let crossing = dot(&gradient, &rate).abs();
    let largest: f64 = gradient
        .iter()
        .zip(&rate)
        .map(|(g, f)| (g * f).abs())
        .sum::<f64>()
        .max(dot(&gradient, &gradient).sqrt() * dot(&rate, &rate).sqrt());
    if crossing > TANGENTIAL * largest {
        return Ok(());
    }
    Err(Refusal::unanswered(
        format!(
            "the orbit touches {} without crossing it: the section is tangent to the motion there",
            section_name(subject, section)
        ),
        "choose a section that the motion crosses with speed",
    ))
}
