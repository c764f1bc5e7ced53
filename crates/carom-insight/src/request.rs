//! What is asked: after what a motion is to return, and what is held meanwhile.
//!
//! ```text
//! forced       F(x) = φ(x, t, k T₀) − x,      T₀ a formula of parameters; every formula of t repeats after T₀
//! autonomous   F(x, T) = φ(x, T) − x,         T the time of k crossings of a section, an event or a wall
//! ```

use crate::refusal::Refusal;
use crate::subject::{Invariant, Subject};
use carom_expr::{Dag, Expr, Name, Problem, Random, nearest, parse};
use carom_mech::Mechanics;
use carom_mech::mechanics::Dynamics;

/// After what a motion is to return.
#[derive(Clone, Debug)]
pub enum Return {
    /// After a given time.
    Period {
        /// The DAG of the formula: that of the model and more.
        dag: Box<Dag>,
        /// T₀, a formula of parameters.
        formula: Expr,
        /// As it was written.
        text: String,
    },
    /// At the next crossing of a section.
    Section(Section),
}

/// Where crossings are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Section {
    /// The state just after an impact at this wall.
    Wall(usize),
    /// The state at an event, after its reset.
    Event(usize),
}

/// A question for a periodic orbit.
#[derive(Clone, Debug)]
pub struct Request {
    /// After what the motion returns.
    pub returns: Return,
    /// How many crossings, or how many periods of the forcing.
    pub count: usize,
    /// Look for the orbit where a run settles instead of at the model's start.
    pub settle: bool,
    /// Conserved quantities to hold beside the energy; that, and the model's symmetries, are looked after.
    pub invariants: Vec<Invariant>,
    /// Values to hold conserved quantities at; those of the start otherwise.
    pub hold: Vec<(String, f64)>,
}

impl Request {
    /// One return, from the model's start.
    pub fn new(returns: Return) -> Request {
        Request { returns, count: 1, settle: false, invariants: Vec::new(), hold: Vec::new() }
    }
}

impl Return {
    /// After this time, a formula of parameters.
    ///
    /// # Errors
    /// If it is no such formula.
    pub fn period(mechanics: &Mechanics, text: &str) -> Result<Return, Refusal> {
        let model = &mechanics.model;
        let mut dag = model.dag.clone();
        let names: Vec<&str> = model.parameters.iter().map(|p| p.name.as_str()).collect();
        let mut resolve = |_: &mut Dag, name: Name<'_>| {
            let found = model.parameters.iter().find(|p| p.name == name.text && name.primes == 0);
            found.map(|p| p.symbol).ok_or_else(|| Problem {
                span: name.span,
                message: format!(
                    "unknown name `{}{}` in the period",
                    name.text,
                    "'".repeat(name.primes as usize)
                ),
                hint: nearest(name.text, names.iter().copied())
                    .map(|n| format!("did you mean the parameter `{n}`?")),
            })
        };
        let parsed = parse(&mut dag, text, &mut resolve);
        match parsed {
            Ok(formula) => Ok(Return::Period { dag: Box::new(dag), formula, text: text.to_owned() }),
            Err(problems) => {
                let first = &problems[0];
                let list = if names.is_empty() { "it has none".to_owned() } else { names.join(", ") };
                Err(Refusal::wrong(
                    format!("--period \"{text}\": {}", first.message),
                    first.hint.clone().unwrap_or_else(|| {
                        format!(
                            "a period is a number or a formula of parameters ({list}), such as \"2*pi/omega\""
                        )
                    }),
                ))
            }
        }
    }

    /// At the next crossing of an event or a wall.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn section(mechanics: &Mechanics, name: &str) -> Result<Return, Refusal> {
        let model = &mechanics.model;
        let event = model.events.iter().position(|e| e.name == name).map(Section::Event);
        let wall = model.walls.iter().position(|w| w.name == name).map(Section::Wall);
        if let (Some(_), Some(_)) = (event, wall) {
            return Err(Refusal::wrong(
                format!("`{name}` is an event and a wall: which one is the section?"),
                "rename one of them",
            ));
        }
        if let Some(found) = event.or(wall) {
            return Ok(Return::Section(found));
        }
        let sections: Vec<&str> = model
            .events
            .iter()
            .map(|e| e.name.as_str())
            .chain(model.walls.iter().map(|w| w.name.as_str()))
            .collect();
        let hint = if let Some(near) = nearest(name, sections.iter().copied()) {
            format!("did you mean `{near}`?")
        } else if sections.is_empty() {
            "the model has neither; add an event, for example [event.top] with when = \"x'\"".to_owned()
        } else {
            format!("the model has {}", sections.join(", "))
        };
        let what = if model.coordinates.iter().any(|c| c.name == name) {
            format!("`{name}` is a coordinate: a section is an event or a wall")
        } else {
            format!("the model has no event and no wall `{name}`")
        };
        Err(Refusal::wrong(what, hint))
    }
}

/// Every formula that decides about the motion.
fn formulas(mechanics: &Mechanics) -> Vec<(String, Expr)> {
    let mut all: Vec<(String, Expr)> = Vec::new();
    match &mechanics.dynamics {
        Dynamics::Lagrangian(l) => {
            let parts = l.mass_matrix.iter().flatten().chain(&l.bias).chain(&l.generalized_force);
            all.extend(parts.map(|&e| ("the equations of motion".to_owned(), e)));
        }
        Dynamics::Hamiltonian(h) => {
            all.extend(h.velocity.iter().chain(&h.force).map(|&e| ("the equations of motion".to_owned(), e)));
        }
        Dynamics::Degenerate(_) => {}
    }
    for row in &mechanics.rows {
        let parts = row.normal.iter().chain([&row.drift]).chain(&row.position);
        all.extend(parts.map(|&e| (format!("constraint `{}`", row.name), e)));
    }
    for wall in &mechanics.walls {
        all.push((format!("wall `{}`", wall.name), wall.gap));
    }
    for (event, model) in mechanics.events.iter().zip(&mechanics.model.events) {
        let parts = [event.when].into_iter().chain(event.only_if).chain(event.set.iter().map(|s| s.1));
        all.extend(parts.map(|e| (format!("event `{}`", model.name), e)));
    }
    all
}

/// Does anything that decides about the motion depend on time?
pub fn depends_on_time(mechanics: &Mechanics) -> bool {
    let model = &mechanics.model;
    !model.inputs.is_empty() || formulas(mechanics).iter().any(|(_, e)| model.dag.contains(*e, model.time))
}

/// States at which the formulas of time are compared one period later.
const SAMPLES: usize = 16;
/// Largest relative difference that is rounding.
const ROUNDING: f64 = 1e-9;

/// Is the request one for this model? Decides everything that needs no motion.
///
/// # Errors
/// A sentence and a way out for each request that is not.
pub fn check(subject: &Subject<'_>, request: &Request, parameters: &[f64]) -> Result<(), Refusal> {
    let mechanics = subject.mechanics;
    let forced = depends_on_time(mechanics);
    if request.count == 0 {
        return Err(Refusal::wrong("--crossings 0 asks for no return at all", "write --crossings 1 or more"));
    }
    match &request.returns {
        Return::Section(_) if forced => Err(Refusal::wrong(
            "the model depends on time, so a state on a section does not say what comes next: the phase of the forcing is missing",
            "give the forcing's period instead, for example --period \"2*pi/omega\"",
        )),
        Return::Section(_) => Ok(()),
        Return::Period { .. } if !forced => {
            let energy = if is_conservative(subject, parameters) {
                "; its energy is conserved and would be left free"
            } else {
                ""
            };
            Err(Refusal::wrong(
                format!(
                    "nothing in the model depends on time, so a period cannot be given: it is found with the orbit{energy}"
                ),
                "use --section EVENT_OR_WALL; a conserved energy is then held at its value at the start, or at --hold energy=VALUE",
            ))
        }
        Return::Period { dag, formula, text } => {
            let (period, _) = subject.of_parameters(dag, *formula, parameters, None);
            if !(period.is_finite() && period > 0.0) {
                return Err(Refusal::wrong(
                    format!("--period \"{text}\" is {period}: a period is a positive number"),
                    "write for example --period \"2*pi/omega\"",
                ));
            }
            repeats(subject, period, text, parameters)
        }
    }
}

/// Does every formula of time repeat after the period?
fn repeats(subject: &Subject<'_>, period: f64, text: &str, parameters: &[f64]) -> Result<(), Refusal> {
    let mechanics = subject.mechanics;
    let model = &mechanics.model;
    if let Some(input) = model.inputs.first() {
        return Err(Refusal::wrong(
            format!(
                "the input `{}` is a table: that it repeats after the period cannot be known",
                input.name
            ),
            "write the input as a formula of t",
        ));
    }
    let timed: Vec<(String, Expr)> =
        formulas(mechanics).into_iter().filter(|(_, e)| model.dag.contains(*e, model.time)).collect();
    let mut random = Random(11);
    for (what, formula) in timed {
        let (mut difference, mut size) = (0.0_f64, 0.0_f64);
        for _ in 0..SAMPLES {
            let x: Vec<f64> = (0..subject.size()).map(|_| random.symmetric()).collect();
            let time = model.start.time + period * random.unit();
            let now = subject.value(formula, &x, time, parameters);
            let later = subject.value(formula, &x, time + period, parameters);
            if now.is_finite() && later.is_finite() {
                difference = difference.max((later - now).abs());
                size = size.max(now.abs());
            }
        }
        if difference > ROUNDING * size {
            return Err(Refusal::wrong(
                format!(
                    "a formula in {what} does not repeat after the period {text} = {period}: the period is no multiple of the forcing's"
                ),
                "give the period of every formula of t, or a common multiple, for example --period \"2*pi/omega\"",
            ));
        }
    }
    Ok(())
}

/// Is the energy conserved between impacts with these values of the parameters: nothing depends on time, no force does work?
pub fn is_conservative(subject: &Subject<'_>, parameters: &[f64]) -> bool {
    let mechanics = subject.mechanics;
    let dag = &mechanics.model.dag;
    let affine = mechanics
        .rows
        .iter()
        .any(|r| !(dag.symbols_in(&[r.drift]).is_empty() && dag.evaluate(r.drift, |_| 0.0) == 0.0));
    !depends_on_time(mechanics) && !affine && subject.forces().powerless(mechanics, parameters)
}
