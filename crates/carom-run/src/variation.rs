//! The first variation of a motion: what its end, its impacts and its events are, to first order, functions of.
//!
//! ```text
//! Φ(t) = ∂(q, v)(t) / ∂θ at fixed t          ∂τ/∂θ, ∂λ/∂θ and Φ⁺ per impact, ∂τ/∂θ and Φ⁺ per event
//! ```
//!
//! θ are start values, parameters and restitutions, the state is (q, v) or (q, p) of the free coordinates. Where an instant
//! moves with θ, the derivative of the state *at* it is Φ⁺ + f⁺ ∂τ/∂θ: with that a return map on a wall is differentiated.
//! A derivative that does not exist is said so, with the instant and what happened there; no number stands in for it.

use carom_expr::nearest;
use carom_jet::dense::Matrix;
use carom_mech::Mechanics;
use carom_mech::mechanics::Dynamics;

/// What a motion is differentiated with respect to.
///
/// ```
/// # use carom_mech::{Draft, derive_equations};
/// # let text = "coordinates = [\"x\"]\n[parameters]\ng = 9.81\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"g*x\"\n[wall.floor]\ngap = \"x\"";
/// # let (model, _) = Draft::parse(text, "m.toml").0.check().unwrap();
/// # let mechanics = derive_equations(model).unwrap();
/// use carom_run::Direction;
/// assert_eq!(Direction::starts(&mechanics), [Direction::Coordinate(0), Direction::Velocity(0)]);
/// assert_eq!(Direction::Restitution(0).name(&mechanics), "restitution.floor");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Direction {
    /// The start value of a free coordinate, by its place among all coordinates.
    Coordinate(usize),
    /// The start value of its velocity; of its momentum in a Hamiltonian model.
    Velocity(usize),
    /// A parameter, with every parameter and start value whose formula contains it.
    Parameter(usize),
    /// The restitution of a wall.
    Restitution(usize),
}

impl Direction {
    /// All free coordinates, then all their velocities (momenta).
    pub fn starts(mechanics: &Mechanics) -> Vec<Direction> {
        let free = &mechanics.free;
        let positions = free.iter().map(|&i| Direction::Coordinate(i));
        positions.chain(free.iter().map(|&i| Direction::Velocity(i))).collect()
    }

    /// All starts, then all parameters, then the restitution of every wall.
    pub fn all(mechanics: &Mechanics) -> Vec<Direction> {
        let mut all = Direction::starts(mechanics);
        all.extend((0..mechanics.model.parameters.len()).map(Direction::Parameter));
        all.extend((0..mechanics.model.walls.len()).map(Direction::Restitution));
        all
    }

    /// Its name in results: `x`, `x'` (or the momentum's name), `g`, `restitution.left`.
    pub fn name(self, mechanics: &Mechanics) -> String {
        let model = &mechanics.model;
        match self {
            Direction::Coordinate(i) => model.coordinates[i].name.clone(),
            Direction::Velocity(i) if matches!(mechanics.dynamics, Dynamics::Hamiltonian(_)) => {
                let own = &model.coordinates[i];
                if own.momentum_name == own.name {
                    format!("p_{}", own.name)
                } else {
                    own.momentum_name.clone()
                }
            }
            Direction::Velocity(i) => format!("{}'", model.coordinates[i].name),
            Direction::Parameter(i) => model.parameters[i].name.clone(),
            Direction::Restitution(w) => format!("restitution.{}", model.walls[w].name),
        }
    }
}

impl Direction {
    /// The directions that a list names, separated by commas: `start` (all free coordinates and velocities), names as
    /// [`Direction::name`] gives them. Each once, in the order of the list.
    ///
    /// # Errors
    /// A sentence about a name that the model does not have, with the nearest one.
    ///
    /// ```
    /// # use carom_mech::{Draft, derive_equations};
    /// # let text = "coordinates = [\"x\"]\n[parameters]\ngravity_ = 9.81\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"gravity_*x\"";
    /// # let (model, _) = Draft::parse(text, "m.toml").0.check().unwrap();
    /// # let mechanics = derive_equations(model).unwrap();
    /// use carom_run::Direction;
    /// assert_eq!(Direction::named("start,gravity_", &mechanics).unwrap().len(), 3);
    /// assert!(Direction::named("gravity", &mechanics).unwrap_err().contains("did you mean `gravity_`?"));
    /// ```
    pub fn named(list: &str, mechanics: &Mechanics) -> Result<Vec<Direction>, String> {
        let all = Direction::all(mechanics);
        let names: Vec<String> = all.iter().map(|d| d.name(mechanics)).collect();
        let mut found: Vec<Direction> = Vec::new();
        for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let plain = name.replace(['′', '’'], "'");
            let meant = match names.iter().position(|known| *known == plain) {
                Some(i) => vec![all[i]],
                None if name == "start" => Direction::starts(mechanics),
                None => return Err(unknown(name, &names, mechanics)),
            };
            for direction in meant {
                if !found.contains(&direction) {
                    found.push(direction);
                }
            }
        }
        Ok(found)
    }
}

fn unknown(name: &str, names: &[String], mechanics: &Mechanics) -> String {
    let bare = name.trim_end_matches(['\'', '′', '’']);
    let driven = mechanics.model.coordinates.iter().any(|c| c.driven.is_some() && c.name == bare);
    let near = nearest(name, names.iter().map(String::as_str).chain(["start"]));
    let hint = match near {
        _ if driven => "a driven coordinate has no start value; name a parameter of its motion".to_owned(),
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are start, {}", names.join(", ")),
    };
    format!("`{name}` is nothing to differentiate by: {hint}")
}

/// The derivatives of a motion. Rows of a matrix are the free coordinates and then their velocities (momenta), columns the
/// directions; after an instant without derivative all entries are NaN.
#[derive(Clone, PartialEq, Debug)]
pub struct Variation {
    /// With respect to what.
    pub directions: Vec<Direction>,
    /// The names of the directions.
    pub with_respect_to: Vec<String>,
    /// The names of the rows: free coordinates, then velocities or momenta.
    pub of: Vec<String>,
    /// ∂ state(start)/∂θ: the given start values, completed and projected as the start itself.
    pub start: Matrix,
    /// ∂ state(end)/∂θ at the fixed end time.
    pub end: Matrix,
    /// The same per sample, parallel to the sample times, if asked for.
    pub samples: Vec<Matrix>,
    /// Parallel to the impacts.
    pub impacts: Vec<JumpVariation>,
    /// Parallel to the events.
    pub events: Vec<JumpVariation>,
    /// ∂from/∂θ per contact, parallel to the contacts.
    pub contacts: Vec<Vec<f64>>,
    /// The first instant across which there is no derivative.
    pub not_differentiable: Option<NotDifferentiable>,
    /// Instants at which only one-sided derivatives exist, in the direction of the order taken; what happened there.
    pub one_sided: Vec<NotDifferentiable>,
    /// What must hold for this motion and how well it does.
    pub checks: VariationChecks,
}

/// The derivatives at an impact or event.
#[derive(Clone, PartialEq, Debug)]
pub struct JumpVariation {
    /// ∂τ/∂θ; NaN where the walls of one impact would be met at different times.
    pub time: Vec<f64>,
    /// ∂λ/∂θ per wall of the impact; empty for events.
    pub impulse: Vec<Vec<f64>>,
    /// Φ just after, at fixed time; NaN where other impacts follow at the same instant.
    pub after: Matrix,
    /// f⁺, the rate of the state just after.
    pub rate: Vec<f64>,
}

impl JumpVariation {
    /// NaN everywhere: k directions, n state variables, so many walls.
    pub(crate) fn unknown(k: usize, n: usize, walls: usize) -> JumpVariation {
        JumpVariation {
            time: vec![f64::NAN; k],
            impulse: vec![vec![f64::NAN; k]; walls],
            after: Matrix { rows: n, columns: k, entries: vec![f64::NAN; n * k] },
            rate: vec![f64::NAN; n],
        }
    }
}

/// An instant without (two-sided) derivative.
#[derive(Clone, PartialEq, Debug)]
pub struct NotDifferentiable {
    /// What happened there.
    pub what: Obstacle,
    /// The walls that took part, as indices.
    pub walls: Vec<usize>,
    /// The event that took part, as an index.
    pub event: Option<usize>,
    /// When.
    pub time: f64,
}

/// Why there is no derivative.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Obstacle {
    /// A wall is touched with gap rate 0: nearby motions miss it or are reflected, \[v\] ~ √depth.
    Graze,
    /// Several walls are hit at once: nearby motions hit them one after the other.
    SimultaneousImpacts,
    /// The motion begins at a wall: nearby starts lie behind it.
    StartAtWall,
    /// The motion begins where the function of a reset is zero: nearby starts on one side of it are reset at once.
    StartAtEvent,
    /// A reset ends at a wall.
    ResetAtWall,
    /// An event or a switching surface is met tangentially: nearby motions may miss it.
    Tangency,
    /// Constraint rows become dependent on the way.
    RankLoss,
    /// An impact of a degenerate model, or a wall held without inertia.
    Degenerate,
    /// Infinitely many impacts over several walls.
    Zeno,
}

impl Obstacle {
    /// All of them.
    pub const ALL: [Obstacle; 9] = [
        Obstacle::Graze,
        Obstacle::SimultaneousImpacts,
        Obstacle::StartAtWall,
        Obstacle::StartAtEvent,
        Obstacle::ResetAtWall,
        Obstacle::Tangency,
        Obstacle::RankLoss,
        Obstacle::Degenerate,
        Obstacle::Zeno,
    ];

    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Obstacle::Graze => "graze",
            Obstacle::SimultaneousImpacts => "simultaneous_impacts",
            Obstacle::StartAtWall => "start_at_wall",
            Obstacle::StartAtEvent => "start_at_event",
            Obstacle::ResetAtWall => "reset_at_wall",
            Obstacle::Tangency => "tangency",
            Obstacle::RankLoss => "rank_loss",
            Obstacle::Degenerate => "degenerate",
            Obstacle::Zeno => "zeno",
        }
    }

    /// What it means, a sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Obstacle::Graze => {
                "the wall is touched without speed: nearby motions miss it, or jump by the square root of how deep they would go"
            }
            Obstacle::SimultaneousImpacts => {
                "several walls are hit at the same instant: nearby motions hit them one after the other, in either order"
            }
            Obstacle::StartAtWall => {
                "the motion begins at the wall: starts on its other side are not allowed"
            }
            Obstacle::StartAtEvent => {
                "the motion begins where the event's function is zero: starts on one side of it are reset at once"
            }
            Obstacle::ResetAtWall => "an event sets the state onto a wall",
            Obstacle::Tangency => "the function only touches zero there: nearby motions may miss it",
            Obstacle::RankLoss => "constraint rows become dependent there",
            Obstacle::Degenerate => "directions without inertia take part in what happens there",
            Obstacle::Zeno => "infinitely many impacts over several walls accumulate there",
        }
    }
}

/// Identities that hold exactly for the true motion. `None`: it does not apply.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct VariationChecks {
    /// Largest entry of Φᵀ J Φ − J in (q, p), relative to the terms it is the sum of: e = 1, no rows, forces from L only.
    pub symplectic: Option<f64>,
    /// |det Φ / (Π e² det W(0)/det W(T)) − 1|, each one-wall impact with its e, relative to Σ |Φ_ij (Φ⁻¹)_ji|, by which relative
    /// errors of the entries are multiplied there: no rows, forces from L only.
    pub determinant: Option<f64>,
}
