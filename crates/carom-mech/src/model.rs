//! A checked model. Holding a [`Model`] means: every name is resolved, every formula is an expression of
//! coordinates, velocities, time, parameters and table inputs, and every value that `[start]` gives is a number. Start
//! values that it leaves open are `None`: the simulation sets free ones to 0 and computes driven and dependent ones.
//!
//! Definitions and formula inputs are already inserted; driven coordinates still appear as symbols here (their
//! prescribed motion is put in by `derive`, which needs the equations before that for the driving forces).

use crate::provenance::Provenance;
use carom_expr::{Dag, Expr};

/// A mechanical system as its author wrote it down, checked.
#[derive(Clone, Debug)]
pub struct Model {
    /// Name given in the file, or the file's own name.
    pub name: String,
    /// Store of all expressions below.
    pub dag: Dag,
    /// The symbol `t`.
    pub time: Expr,
    /// In model order, driven ones included.
    pub coordinates: Vec<Coordinate>,
    /// In file order.
    pub parameters: Vec<Parameter>,
    /// Signals read from a table; formula inputs are inserted where they are used.
    pub inputs: Vec<TableInput>,
    /// In file order; for display, they are already inserted everywhere.
    pub definitions: Vec<Named>,
    /// How the physics was given.
    pub physics: Physics,
    /// Rayleigh function R; its generalized force is −∂R/∂v.
    pub dissipation: Option<Expr>,
    /// Forces in file order.
    pub forces: Vec<Force>,
    /// Constraint rows: holonomic ones first, each kind in file order.
    pub rows: Vec<Row>,
    /// One-sided constraints in file order. A gap `min(a, b)` has become two walls.
    pub walls: Vec<Wall>,
    /// User events in file order.
    pub events: Vec<Event>,
    /// Extra signals; may contain acceleration symbols.
    pub outputs: Vec<Named>,
    /// Bodies, for drawing (their energies are already part of `physics`).
    pub bodies: Vec<Body>,
    /// Units as stated, by name.
    pub units: Vec<(String, String)>,
    /// Units that follow from the stated ones, by the name of the signal: `x'`, `p_x`, `energy`, `gap.left`, `f.left`.
    pub inferred_units: Vec<(String, String)>,
    /// What an animation draws.
    pub view: View,
    /// Initial state.
    pub start: Start,
    /// What the file says of it: the symbol of a position, velocity or momentum, and a formula of parameters.
    pub start_formulas: Vec<(Expr, Expr)>,
    /// The `[run]` table.
    pub run: RunSettings,
    /// What must be in hand to make it again.
    pub provenance: Provenance,
}

/// A named expression.
#[derive(Clone, Debug)]
pub struct Named {
    /// Its name.
    pub name: String,
    /// Its meaning.
    pub expr: Expr,
}

/// A generalized coordinate and the symbols that belong to it.
#[derive(Clone, Debug)]
pub struct Coordinate {
    /// `theta`
    pub name: String,
    /// The symbol `theta`.
    pub position: Expr,
    /// The symbol `theta'`.
    pub velocity: Expr,
    /// The symbol `theta''`; occurs only in outputs.
    pub acceleration: Expr,
    /// The symbol of its momentum, `p_theta` unless `momenta` names it.
    pub momentum: Expr,
    /// Name of the momentum in results: the one given by `momenta`, else the coordinate's.
    pub momentum_name: String,
    /// Prescribed motion, if driven.
    pub driven: Option<Driven>,
}

/// The prescribed motion of a driven coordinate, as functions of time, parameters and table inputs.
#[derive(Clone, Copy, Debug)]
pub struct Driven {
    /// f
    pub position: Expr,
    /// ḟ
    pub velocity: Expr,
    /// f̈
    pub acceleration: Expr,
}

/// A parameter and its value.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its symbol.
    pub symbol: Expr,
    /// What the file says: a number, or a formula of other parameters.
    pub formula: Expr,
    /// The value of the formula.
    pub value: f64,
}

/// How a signal goes from row to row of its table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Interpolation {
    /// Keeps its value until the next row, and jumps there.
    Hold,
    /// Straight from row to row: continuous.
    Linear,
    /// Between two rows it rises or falls as they do, never beyond them: once continuously differentiable.
    Smooth,
    /// The cubic spline: twice continuously differentiable; may swing beyond its rows.
    Spline,
}

impl Interpolation {
    /// All of them, the least smooth first.
    pub const ALL: [Interpolation; 4] =
        [Interpolation::Hold, Interpolation::Linear, Interpolation::Smooth, Interpolation::Spline];

    /// How a model file writes it.
    pub fn name(self) -> &'static str {
        match self {
            Interpolation::Hold => "hold",
            Interpolation::Linear => "linear",
            Interpolation::Smooth => "smooth",
            Interpolation::Spline => "spline",
        }
    }

    /// How many derivatives are continuous; −1: the signal itself jumps.
    pub fn derivatives(self) -> i32 {
        self as i32 - 1
    }
}

/// A signal interpolated from a table.
#[derive(Clone, Debug)]
pub struct TableInput {
    /// Its name.
    pub name: String,
    /// The symbol `u`.
    pub value: Expr,
    /// The symbol `u'`.
    pub rate: Expr,
    /// The symbol `u''`.
    pub second: Expr,
    /// Sample times, ascending.
    pub times: Vec<f64>,
    /// Sample values.
    pub values: Vec<f64>,
    /// How it goes from row to row.
    pub interpolate: Interpolation,
}

/// How the physics was given.
#[derive(Clone, Copy, Debug)]
pub enum Physics {
    /// Kinetic and potential energy, bodies included.
    Energies {
        /// T(q, v, t)
        kinetic: Expr,
        /// V(q, t)
        potential: Expr,
    },
    /// L(q, v, t)
    Lagrangian(Expr),
    /// H(q, p, t)
    Hamiltonian(Expr),
}

/// A non-conservative force.
#[derive(Clone, Debug)]
pub struct Force {
    /// Its label.
    pub name: String,
    /// How it was given.
    pub kind: ForceKind,
}

/// How a force was given.
#[derive(Clone, Debug)]
pub enum ForceKind {
    /// A force vector at a point: Q = (∂r/∂q)ᵀ F.
    Point {
        /// r(q, t)
        at: Vec<Expr>,
        /// F(q, v, t)
        vector: Vec<Expr>,
    },
    /// Generalized, one entry per coordinate in model order (zero where not named).
    Generalized(Vec<Expr>),
}

/// A constraint row.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its label.
    pub name: String,
    /// Its kind.
    pub kind: RowKind,
    /// c(q, t) for a holonomic row, A v + b for a nonholonomic one: what must be zero.
    pub expr: Expr,
}

/// Kinds of constraint rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowKind {
    /// c(q, t) = 0
    Holonomic,
    /// A(q, t) v + b(q, t) = 0
    Nonholonomic,
}

/// A one-sided constraint, gap ≥ 0.
#[derive(Clone, Debug)]
pub struct Wall {
    /// Its label.
    pub name: String,
    /// φ(q, t)
    pub gap: Expr,
    /// e, a formula of parameters.
    pub restitution: Expr,
    /// Curve that draws the wall where it is zero: symbols `x` and `y` are the picture's plane here (whatever the
    /// coordinates are called), beside time, parameters and table inputs.
    pub draw: Option<Expr>,
}

/// A user event.
#[derive(Clone, Debug)]
pub struct Event {
    /// Its label.
    pub name: String,
    /// Fires when this crosses zero.
    pub when: Expr,
    /// Which crossings count.
    pub direction: CrossingDirection,
    /// Fires only where this is > 0.
    pub only_if: Option<Expr>,
    /// What happens.
    pub action: Action,
}

/// Which crossings count.
#[allow(missing_docs)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CrossingDirection {
    Rising,
    Falling,
    Both,
}

/// What an event does.
#[derive(Clone, Debug)]
pub enum Action {
    /// Note time and state.
    Record,
    /// End the motion.
    Stop,
    /// Reset map, simultaneous: (position, velocity or momentum symbol of a free coordinate, new value).
    Set(Vec<(Expr, Expr)>),
}

/// A body, for drawing.
#[derive(Clone, Debug)]
pub struct Body {
    /// Its label.
    pub name: String,
    /// m
    pub mass: Expr,
    /// r(q, t), two or three components.
    pub at: Vec<Expr>,
    /// Orientation of a planar rigid body.
    pub angle: Option<Expr>,
    /// Orientation in space: a unit quaternion, real part first, from the body's axes to space.
    pub orientation: Option<Vec<Expr>>,
    /// Its form, if the model gives one.
    pub outline: Option<Outline>,
}

/// The form of a body, in its own axes.
#[derive(Clone, Debug)]
pub enum Outline {
    /// A disc, in space a ball, of this radius.
    Round(Expr),
    /// A polygon with these corners.
    Polygon(Vec<[Expr; 2]>),
    /// A rectangle or a box with these sides.
    Box(Vec<Expr>),
}

/// What an animation draws.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Pairs of points joined by a line; a point is `origin`, a body or a pair of formulas.
    pub links: Vec<(Point, Point)>,
    /// Pairs of points joined by a spring.
    pub springs: Vec<(Point, Point)>,
    /// Points that leave a trace.
    pub traces: Vec<Point>,
    /// Filled circles.
    pub circles: Vec<Circle>,
    /// Filled polygons, by their corners.
    pub polygons: Vec<Vec<Point>>,
    /// Names of bodies that are not drawn.
    pub hide: Vec<String>,
    /// Visible range [left, right, bottom, top].
    pub range: Option<[f64; 4]>,
}

/// A filled circle to draw.
#[derive(Clone, Debug)]
pub struct Circle {
    /// Its middle.
    pub at: Point,
    /// Its radius.
    pub radius: Expr,
    /// In space, the direction it is seen as a circle from; a ball without one.
    pub axis: Option<Vec<Expr>>,
}

/// A point to draw.
#[derive(Clone, Debug)]
pub struct Point {
    /// `origin`, the body's name, or the formulas as written.
    pub name: String,
    /// Its two or three components.
    pub at: Vec<Expr>,
}

/// The initial state as given; what is not named is `None` (0 for free variables, computed for dependent ones).
#[derive(Clone, Debug)]
pub struct Start {
    /// Start time (`run.from`).
    pub time: f64,
    /// One per coordinate in model order.
    pub position: Vec<Option<f64>>,
    /// One per coordinate; for a Hamiltonian model all `None`.
    pub velocity: Vec<Option<f64>>,
    /// One per coordinate; for Lagrangian models all `None`.
    pub momentum: Vec<Option<f64>>,
    /// Project an inconsistent start onto the constraints.
    pub project: bool,
}

/// The `[run]` table: how to simulate unless told otherwise.
#[derive(Clone, PartialEq, Debug)]
pub struct RunSettings {
    /// End time, absolute.
    pub until: f64,
    /// Local truncation error per step relative to what the component has moved by so far.
    pub tolerance: f64,
    /// How to step.
    pub method: Method,
    /// Number of evenly spaced samples, both ends included.
    pub samples: usize,
    /// Most impacts; one more is not applied and ends the motion.
    pub max_impacts: u64,
    /// Most steps; one more is not taken and ends the motion.
    pub max_steps: u64,
    /// Several walls at once.
    pub impact_order: ImpactOrder,
}

impl Default for RunSettings {
    fn default() -> RunSettings {
        RunSettings {
            until: 10.0,
            tolerance: 1e-15,
            method: Method::Taylor,
            samples: 201,
            max_impacts: 1_000_000,
            max_steps: 100_000_000,
            impact_order: ImpactOrder::Simultaneous,
        }
    }
}

/// How to step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Method {
    /// Taylor series, order and step from the tolerance.
    Taylor,
    /// The classical fixed-step Runge–Kutta method, impacts still located.
    Rk4 {
        /// Step size.
        step: f64,
    },
}

/// Several walls at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImpactOrder {
    /// Moreau's complementarity law for all touched walls together.
    Simultaneous,
    /// The one-wall law, wall after wall.
    Sequential,
}
