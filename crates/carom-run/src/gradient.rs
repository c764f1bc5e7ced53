//! The gradient of one number with respect to many: what it is of, and what it is.
//!
//! ```text
//! J = Σ weight · quantity          dJ/dθ for all θ at once, at the cost of a few plain runs however many θ there are
//! ```
//!
//! A quantity is a signal at the end or at the samples, the time of an impact or event, or the impulse of an impact. The
//! derivatives are those of the first variation ([`crate::Variation`]), contracted with the weights: the adjoint equations go
//! backward through the motion (`adjoint.rs`).

use crate::variation::{Direction, NotDifferentiable};
use carom_expr::{Expr, nearest};
use carom_mech::Mechanics;

/// A signal of a motion that state, time and parameters determine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Observable {
    /// A coordinate, by its place among all.
    Position(usize),
    /// Its velocity.
    Velocity(usize),
    /// Its momentum.
    Momentum(usize),
    /// E
    Hamiltonian,
    /// T + V
    Energy,
    /// An output, by its place.
    Output(usize),
}

impl Observable {
    /// All of a model, with their names: `x`, `x'`, `p_x` (or the momentum's own name), `hamiltonian`, `energy`, outputs.
    pub fn all(mechanics: &Mechanics) -> Vec<(String, Observable)> {
        let model = &mechanics.model;
        let mut all = Vec::new();
        for (i, c) in model.coordinates.iter().enumerate() {
            all.push((c.name.clone(), Observable::Position(i)));
        }
        for (i, c) in model.coordinates.iter().enumerate() {
            all.push((format!("{}'", c.name), Observable::Velocity(i)));
        }
        for (i, c) in model.coordinates.iter().enumerate() {
            let own = c.momentum_name != c.name;
            let name = if own { c.momentum_name.clone() } else { format!("p_{}", c.name) };
            all.push((name, Observable::Momentum(i)));
        }
        all.push(("hamiltonian".to_owned(), Observable::Hamiltonian));
        all.push(("energy".to_owned(), Observable::Energy));
        all.extend(model.outputs.iter().enumerate().map(|(i, o)| (o.name.clone(), Observable::Output(i))));
        all
    }

    /// Its formula.
    pub(crate) fn formula(self, mechanics: &Mechanics) -> Option<Expr> {
        match self {
            Observable::Position(i) => mechanics.positions.get(i).copied(),
            Observable::Velocity(i) => mechanics.velocities.get(i).copied(),
            Observable::Momentum(i) => mechanics.momenta.get(i).copied(),
            Observable::Hamiltonian => Some(mechanics.hamiltonian),
            Observable::Energy => Some(mechanics.energy),
            Observable::Output(i) => mechanics.outputs.get(i).copied(),
        }
    }
}

/// One term of what is differentiated.
#[derive(Clone, PartialEq, Debug)]
pub enum ObjectiveTerm {
    /// weight · signal at the end of the motion, at its fixed time.
    End(Observable, f64),
    /// Σ weight · signal over the samples, one weight per sample in the order of the request; none: 1 each.
    Samples(Observable, Vec<f64>),
    /// weight · the time of an impact on a wall, counted from 0.
    ImpactTime {
        /// The wall.
        wall: usize,
        /// Which of its impacts.
        number: usize,
        /// The weight.
        weight: f64,
    },
    /// weight · the impulse of an impact on a wall, counted from 0.
    Impulse {
        /// The wall.
        wall: usize,
        /// Which of its impacts.
        number: usize,
        /// The weight.
        weight: f64,
    },
    /// weight · the time at which an event happens, counted from 0.
    EventTime {
        /// The event.
        event: usize,
        /// Which of its records.
        number: usize,
        /// The weight.
        weight: f64,
    },
}

/// What to differentiate, and by what ([`crate::Options::objective`]).
///
/// ```
/// # use carom_mech::{Draft, derive_equations};
/// # let text = "coordinates = [\"x\"]\n[parameters]\nk = 1.0\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"k*x^2/2\"\n[start]\nposition = { x = 1.0 }\n[run]\nuntil = 2.0";
/// # let (model, _) = Draft::parse(text, "m.toml").0.check().unwrap();
/// # let mechanics = derive_equations(model).unwrap();
/// use carom_run::{Direction, Objective, Options, Program, simulate};
/// let program = Program::compile(&mechanics).unwrap();
/// let mut options = Options::of(&mechanics.model);
/// options.objective = Some(Objective::named("x", "start,k", &mechanics).unwrap());
/// let gradient = simulate(&program, &options).unwrap().gradient.unwrap();
/// // x = x₀ cos(√k t) + v₀ sin(√k t)/√k: ∂/∂x₀, ∂/∂v₀ and ∂/∂k at t = 2, k = 1, x₀ = 1, v₀ = 0.
/// let (sin, cos) = 2.0_f64.sin_cos();
/// for (found, exact) in gradient.gradient.iter().zip([cos, sin, -sin]) {
///     assert!((found - exact).abs() < 1e-14);
/// }
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Objective {
    /// What results call it.
    pub name: String,
    /// What it is the sum of.
    pub terms: Vec<ObjectiveTerm>,
    /// By what it is differentiated.
    pub directions: Vec<Direction>,
}

impl Objective {
    /// What a name means: a signal (`theta1`, `theta1'`, `energy`, an output) at the end; `sum(SIGNAL)` over the samples;
    /// `impact.WALL.N`, `impulse.WALL.N` and `event.NAME.N`, the time or impulse of the N-th, counted from 1. `by` is a list as
    /// [`Direction::named`] takes it; an empty one stands for everything.
    ///
    /// # Errors
    /// A sentence about what there is not, with the nearest that there is.
    pub fn named(name: &str, by: &str, mechanics: &Mechanics) -> Result<Objective, String> {
        let directions = match by.trim() {
            "" => Direction::all(mechanics),
            list => Direction::named(list, mechanics)?,
        };
        let name = name.trim();
        let plain = name.replace(['′', '’'], "'");
        let inner = plain.strip_prefix("sum(").and_then(|rest| rest.strip_suffix(')')).map(str::trim);
        let all = Observable::all(mechanics);
        let signal = |name: &str| all.iter().find(|known| known.0 == name).map(|known| known.1);
        let term = match (signal(&plain), inner.and_then(signal)) {
            (Some(signal), _) => ObjectiveTerm::End(signal, 1.0),
            (None, Some(signal)) => ObjectiveTerm::Samples(signal, Vec::new()),
            (None, None) => instant(&plain, mechanics)?.ok_or_else(|| unknown(name, &all))?,
        };
        Ok(Objective { name: name.to_owned(), terms: vec![term], directions })
    }
}

/// `impact.WALL.N` and the like; `None` if it is nothing of the kind.
fn instant(name: &str, mechanics: &Mechanics) -> Result<Option<ObjectiveTerm>, String> {
    let Some((kind, rest)) = name.split_once('.') else { return Ok(None) };
    if !["impact", "impulse", "event"].contains(&kind) {
        return Ok(None);
    }
    let model = &mechanics.model;
    let (owner, number) = rest.rsplit_once('.').unwrap_or((rest, ""));
    let number = match number.parse::<usize>() {
        Ok(n) if n > 0 => n - 1,
        _ => return Err(format!("`{name}` does not say which one: write `{kind}.NAME.1` for the first")),
    };
    let names: Vec<&str> = match kind {
        "event" => model.events.iter().map(|e| &e.name[..]).collect(),
        _ => model.walls.iter().map(|w| &w.name[..]).collect(),
    };
    let Some(place) = names.iter().position(|n| *n == owner) else {
        let what = if kind == "event" { "event" } else { "wall" };
        let hint = match nearest(owner, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if names.is_empty() => format!("this model has no {what}"),
            None => format!("there are {}", names.join(", ")),
        };
        return Err(format!("there is no {what} `{owner}`: {hint}"));
    };
    let weight = 1.0;
    Ok(Some(match kind {
        "impact" => ObjectiveTerm::ImpactTime { wall: place, number, weight },
        "impulse" => ObjectiveTerm::Impulse { wall: place, number, weight },
        _ => ObjectiveTerm::EventTime { event: place, number, weight },
    }))
}

fn unknown(name: &str, all: &[(String, Observable)]) -> String {
    let hint = match nearest(name, all.iter().map(|known| &known.0[..])) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            "name a coordinate, a velocity, an output, `impact.WALL.N`, `impulse.WALL.N` or `event.NAME.N`"
                .to_owned()
        }
    };
    format!("`{name}` is nothing that can be differentiated: {hint}")
}

/// The gradient of an objective.
#[derive(Clone, PartialEq, Debug)]
pub struct Gradient {
    /// What it is of.
    pub of: String,
    /// J
    pub value: f64,
    /// With respect to what.
    pub directions: Vec<Direction>,
    /// The names of the directions.
    pub with_respect_to: Vec<String>,
    /// dJ/dθ per direction; all NaN where there is no derivative, or nothing to differentiate.
    pub gradient: Vec<f64>,
    /// The first instant across which there is no derivative.
    pub not_differentiable: Option<NotDifferentiable>,
    /// Instants at which only one-sided derivatives exist.
    pub one_sided: Vec<NotDifferentiable>,
    /// At every jump the transposed law must agree with the law itself, ψ⁺·δx⁺ = ψ⁻·δx⁻ + …, along a direction of its own: the
    /// largest difference relative to its terms. `None` without jumps.
    pub duality: Option<f64>,
}
