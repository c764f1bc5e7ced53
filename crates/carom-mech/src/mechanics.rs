//! Derived mechanics: every expression the motion needs, as functions of the state.
//!
//! The state is (q, v) of the free coordinates for a Lagrangian model and (q, p) for a Hamiltonian one. Prescribed
//! motions of driven coordinates are inserted everywhere below, so the only symbols left are the state, `t`,
//! parameters and table inputs.
//!
//! ```text
//! Lagrangian    W a + h = Q + Aᵀμ,                  A a + γ = 0
//! Hamiltonian   q̇ = H_p,  ṗ = −H_q + Q + Aᵀμ,      A H_pp (Q − H_q + Aᵀμ) + γ = 0
//! impact        [p] = λ n + Aᵀμ,  [E] = −λ φ_t − μ·b,  A v⁺ + b = 0,  λ > 0
//! ```

use crate::diagnostic::Diagnostic;
use crate::model::{Model, RowKind};
use carom_expr::Expr;

/// A model with its equations.
#[derive(Clone, Debug)]
pub struct Mechanics {
    /// The model; its DAG also holds everything below.
    pub model: Model,
    /// Model indices of the coordinates that are not driven: the order of all vectors "per free coordinate".
    pub free: Vec<usize>,
    /// The equations of motion.
    pub dynamics: Dynamics,
    /// Position of every coordinate: its symbol, or the prescribed motion.
    pub positions: Vec<Expr>,
    /// Velocity of every coordinate: its symbol, the prescribed rate, or ∂H/∂p.
    pub velocities: Vec<Expr>,
    /// Momentum of every coordinate: ∂L/∂v with L before driven motions are inserted, or the symbol p.
    pub momenta: Vec<Expr>,
    /// E = p·v − L over the free coordinates (driven motion inserted), or H.
    pub hamiltonian: Expr,
    /// T + V (kinetic and potential as given; equals `hamiltonian` when only L or H was given).
    pub energy: Expr,
    /// Terms whose absolute values add up to the energy scale of the audit: T and V, or the terms of E.
    pub energy_terms: Vec<Expr>,
    /// Q·v − ∂L/∂t (or Q·v + ∂H/∂t): dE/dt without constraint and contact terms.
    pub power: Expr,
    /// Stacked constraint rows, in the order of `model.rows`.
    pub rows: Vec<RowMechanics>,
    /// Walls, in the order of `model.walls`.
    pub walls: Vec<WallMechanics>,
    /// One per driven coordinate, in model order.
    pub drives: Vec<DriveMechanics>,
    /// Outputs (model order), state inserted; accelerations appear as the symbols `x''` of free coordinates.
    pub outputs: Vec<Expr>,
    /// `when`, `only_if` and reset values of events in terms of the state, in the order of `model.events`.
    pub events: Vec<EventMechanics>,
    /// Is the kinetic energy a quadratic polynomial in the velocities (W free of v)? Decides the impact law.
    pub quadratic: bool,
    /// What the author should know: redundant rows, forms that could not be written down.
    pub warnings: Vec<Diagnostic>,
    /// Closed forms for reading; the motion needs none of them.
    pub forms: ClosedForms,
}

/// What can be written down without a linear solve, when it is short enough to help. Everything in terms of the
/// state unless said otherwise.
#[derive(Clone, Debug, Default)]
pub struct ClosedForms {
    /// Vectors that span Δ = ker A, per free coordinate; `None` when elimination makes them too large.
    pub distribution: Option<Vec<Vec<Expr>>>,
    /// a(q, v, t) per free coordinate, reactions included.
    pub accelerations: Option<Vec<Expr>>,
    /// det W (or det H_pp): where it is not zero p ↔ v is locally invertible. `None` when too large.
    pub hyperregular: Option<Expr>,
    /// H(q, p, t) of a Lagrangian model, L(q, v, t) of a Hamiltonian one.
    pub other_side: Option<Expr>,
    /// v(q, p, t) of a Lagrangian model, p(q, v, t) of a Hamiltonian one, per free coordinate.
    pub inverse: Option<Vec<Expr>>,
    /// Why `other_side` is not there.
    pub obstacle: Option<String>,
    /// One per wall; `None` when the law is not closed or too long.
    pub impacts: Vec<Option<ImpactForm>>,
    /// Which of these were left out, and why.
    pub left_out: Vec<LeftOut>,
}

impl ClosedForms {
    /// Why a form is not there.
    pub fn why(&self, form: ClosedForm) -> Option<&str> {
        self.left_out.iter().find(|l| l.form == form).map(|l| l.reason.as_str())
    }
}

/// A closed form that was left out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeftOut {
    /// Which one.
    pub form: ClosedForm,
    /// Why: a clause to stand after a colon.
    pub reason: String,
}

/// Closed forms that may be left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClosedForm {
    /// A basis of Δ.
    Distribution,
    /// a(q, v, t)
    Accelerations,
    /// det W, or det H_pp.
    Determinant,
    /// The solved impact law of this wall.
    Impact(usize),
}

/// The impact law of one wall in closed form (quadratic kinetic energy), state before the impact inserted.
#[derive(Clone, Debug)]
pub struct ImpactForm {
    /// n·S n
    pub inverse_mass: Expr,
    /// S n per free coordinate.
    pub direction: Vec<Expr>,
    /// λ = −(1 + e) φ̇ / (n·S n)
    pub impulse: Expr,
    /// μ per row.
    pub reaction_impulse: Vec<Expr>,
    /// v⁺ = v + λ S n, per free coordinate.
    pub velocity_after: Vec<Expr>,
    /// p⁺ = p + λ n + Aᵀμ, per free coordinate.
    pub momentum_after: Vec<Expr>,
}

/// The equations of motion of the free coordinates.
#[derive(Clone, Debug)]
pub enum Dynamics {
    /// W a + h = Q + Aᵀμ with ZᵀWZ nonsingular.
    Lagrangian(LagrangianDynamics),
    /// q̇ = H_p, ṗ = −H_q + Q + Aᵀμ.
    Hamiltonian(HamiltonianDynamics),
    /// A degenerate Lagrangian whose hidden constraints are known.
    Degenerate(DegenerateDynamics),
}

/// W a + h = Q + Aᵀμ.
#[derive(Clone, Debug)]
pub struct LagrangianDynamics {
    /// L(q, v, t) with driven motion inserted.
    pub lagrangian: Expr,
    /// W, symmetric, one row per free coordinate.
    pub mass_matrix: Vec<Vec<Expr>>,
    /// h
    pub bias: Vec<Expr>,
    /// Q
    pub generalized_force: Vec<Expr>,
    /// Rows that stand in for missing inertia: W + Σ aᵀa over these is regular although W is not. None when W is.
    pub augmentation_rows: Vec<usize>,
}

/// q̇ = H_p, ṗ = −H_q + Q + Aᵀμ.
#[derive(Clone, Debug)]
pub struct HamiltonianDynamics {
    /// H(q, p, t)
    pub hamiltonian: Expr,
    /// ∂H/∂p per free coordinate.
    pub velocity: Vec<Expr>,
    /// −∂H/∂q + Q per free coordinate.
    pub force: Vec<Expr>,
    /// Q alone.
    pub generalized_force: Vec<Expr>,
    /// H_pp, symmetric.
    pub inverse_mass: Vec<Vec<Expr>>,
    /// H_pq H_p + H_pt, so that the acceleration is `inverse_mass`·ṗ + this.
    pub velocity_bias: Vec<Expr>,
}

/// M [a; μ] = r on the set C of all conditions, hidden ones included.
#[derive(Clone, Debug)]
pub struct DegenerateDynamics {
    /// The Lagrangian form it came from; W is singular on ker A.
    pub lagrangian: LagrangianDynamics,
    /// Conditions on (q, v, t) that hold along every motion: rows first, then the hidden ones, in the order found.
    pub conditions: Vec<Condition>,
    /// Rows of M: first the Euler–Lagrange rows, then one per condition that contains velocities. Columns: a, then μ.
    pub matrix: Vec<Vec<Expr>>,
    /// r
    pub right_side: Vec<Expr>,
}

/// A condition g(q, v, t) = 0 of a degenerate model.
#[derive(Clone, Debug)]
pub struct Condition {
    /// The row's label, or how it was found ("time derivative of …", "Euler–Lagrange row of x").
    pub name: String,
    /// g
    pub expr: Expr,
}

/// A constraint row A v + b = 0 with its derivative A a + γ = 0.
#[derive(Clone, Debug)]
pub struct RowMechanics {
    /// Its label.
    pub name: String,
    /// Its kind.
    pub kind: RowKind,
    /// c(q, t) for holonomic rows.
    pub position: Option<Expr>,
    /// The row of A, per free coordinate.
    pub normal: Vec<Expr>,
    /// The columns of A for driven coordinates, in the order of `drives`.
    pub driven_normal: Vec<Expr>,
    /// b, driven rates included: the row's rate is `normal`·v + b.
    pub drift: Expr,
    /// γ, so that the row's second rate is `normal`·a + γ. For Hamiltonian models, see the module header.
    pub bias: Expr,
}

/// A wall φ ≥ 0 and the rows of its impact law.
#[derive(Clone, Debug)]
pub struct WallMechanics {
    /// Its label.
    pub name: String,
    /// φ(q, t)
    pub gap: Expr,
    /// n = ∂φ/∂q per free coordinate.
    pub normal: Vec<Expr>,
    /// ∂φ/∂q_k for driven coordinates, in the order of `drives`.
    pub driven_normal: Vec<Expr>,
    /// φ_t, driven rates included.
    pub gap_t: Expr,
    /// φ̇ = n·v + φ_t
    pub gap_rate: Expr,
    /// So that φ̈ = n·a + bias (Lagrangian), or as for rows (Hamiltonian).
    pub bias: Expr,
    /// e
    pub restitution: Expr,
}

/// What recovers the driving force of a driven coordinate k:
/// `mass`·a + `bias` − `generalized_force` − (Aᵀμ)_k − Σ f_i n_{i,k}.
#[derive(Clone, Debug)]
pub struct DriveMechanics {
    /// Model index of the coordinate.
    pub coordinate: usize,
    /// W_{k,free}, per free coordinate. For Hamiltonian models the coefficients of ṗ (not of a) in d/dt p_k.
    pub mass: Vec<Expr>,
    /// d/dt ∂L/∂v_k − ∂L/∂q_k without the free accelerations; for Hamiltonian models d/dt p_k + ∂H/∂q_k without ṗ.
    pub bias: Expr,
    /// Q_k
    pub generalized_force: Expr,
}

/// A user event in terms of the state.
#[derive(Clone, Debug)]
pub struct EventMechanics {
    /// Fires when this crosses zero.
    pub when: Expr,
    /// Fires only where this is > 0.
    pub only_if: Option<Expr>,
    /// (state symbol, new value); empty unless the action is `set`.
    pub set: Vec<(Expr, Expr)>,
}
