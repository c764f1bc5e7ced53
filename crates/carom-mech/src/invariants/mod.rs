//! Symmetries of a model, and what they conserve.
//!
//! A symmetry (ξ, τ) with ξ(q, t) = B q + c + t d, τ constant, and a gauge term F of degree ≤ 2 in (q, t) satisfies
//!
//! ```text
//! ξ·L_q + (B v + d)·p + τ L_t = F_t + F_q·v                                        (for H: L_q = −H_q, v = H_p, L_t = −H_t)
//! J = p·ξ − τ E − F
//! dJ/dt = Q·(ξ − τ v) + μ·(A ξ + b τ) + Σ f (n·ξ + φ_t τ)
//! [J]   = λ (n·ξ + φ_t τ) + μ·(A ξ + b τ) + τ (loss of the restitution)
//! ```
//!
//! All conditions are linear in the unknowns (B, c, d, τ, F): each random state gives a row, and the null space of the rows is
//! the algebra. Forces and rows leave a part of it (conserved between impacts), walls a part of that (always conserved).
//!
//! Promise: an invariant that is listed was checked at states that did not determine it; what breaks another is named.

mod algebra;
mod recognise;
mod values;
mod written;

use crate::mechanics::{Dynamics, Mechanics};
use crate::model::ForceKind;
use crate::sample::{AROUND, Samples};
use crate::symbols::{Symbols, dot, gradient};
use algebra::{completed, null_space, reduced, restrict};
use carom_expr::{Dag, Expr};

pub use values::InvariantValues;
use written::name_all;

/// What a model conserves.
#[derive(Clone, Debug)]
pub struct Invariants {
    /// The expressions of the model, and those below.
    pub dag: Dag,
    /// Conserved between impacts or always: energy first, then momenta, angular momenta, boosts.
    pub list: Vec<Invariant>,
    /// Energy and momenta of cyclic coordinates that rows or forces do not leave conserved.
    pub broken: Vec<Invariant>,
    /// Model indices of the coordinates that the Lagrangian does not contain.
    pub cyclic: Vec<usize>,
}

/// A conserved quantity J = p·ξ − τ E − F.
#[derive(Clone, Debug)]
pub struct Invariant {
    /// `energy`, `p_x`, `momentum`, `angular momentum`, …; unique within a model.
    pub name: String,
    /// J in terms of the state.
    pub expr: Expr,
    /// ξ per free coordinate.
    pub direction: Vec<Expr>,
    /// τ
    pub time_shift: Expr,
    /// F
    pub gauge: Expr,
    /// What does not keep it; empty: nothing does.
    pub broken_by: Vec<Breaker>,
}

impl Invariant {
    /// Is it the same before and after every impact and reset?
    pub fn survives_impacts(&self) -> bool {
        self.broken_by.is_empty()
    }
}

/// What an invariant does not survive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Breaker {
    /// An impact on this wall, or contact with it.
    Wall(String),
    /// The reaction of this constraint row.
    Row(String),
    /// This force; `dissipation` for the Rayleigh function.
    Force(String),
    /// The reset of this event.
    Event(String),
}

impl std::fmt::Display for Breaker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Breaker::Wall(name) => write!(f, "wall `{name}`"),
            Breaker::Row(name) => write!(f, "row `{name}`"),
            Breaker::Force(name) if name == DISSIPATION => write!(f, "the dissipation"),
            Breaker::Force(name) => write!(f, "force `{name}`"),
            Breaker::Event(name) => write!(f, "the reset of event `{name}`"),
        }
    }
}

const DISSIPATION: &str = "dissipation";
/// Up to this many free coordinates B is searched for, up to the next d and F; beyond, translations only.
const WITH_B: usize = 10;
const WITH_GAUGE: usize = 40;
/// How far from the start walls are looked at: they may have parts that near states do not see.
const WIDTHS: [f64; 3] = [AROUND, 4.0 * AROUND, 16.0 * AROUND];

/// An unknown of the search.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Unknown {
    B(usize, usize),
    D(usize),
    Tau,
    C(usize),
    GaugeQ(usize),
    GaugeQQ(usize, usize),
    GaugeQT(usize),
    GaugeT,
    GaugeTT,
}

fn unknowns(n: usize) -> Vec<Unknown> {
    let mut all = Vec::new();
    if n <= WITH_B {
        // Rotations are led by the entry that makes them x p_y − y p_x.
        for i in 0..n {
            all.extend((0..i).map(|j| Unknown::B(i, j)));
        }
        for i in 0..n {
            all.extend((i..n).map(|j| Unknown::B(i, j)));
        }
    }
    if n <= WITH_GAUGE {
        all.extend((0..n).map(Unknown::D));
    }
    all.push(Unknown::Tau);
    all.extend((0..n).map(Unknown::C));
    if n <= WITH_GAUGE {
        all.extend((0..n).map(Unknown::GaugeQ));
        all.extend((0..n).map(Unknown::GaugeQT));
        all.extend([Unknown::GaugeT, Unknown::GaugeTT]);
    }
    if n <= WITH_B {
        for i in 0..n {
            all.extend((0..=i).map(|j| Unknown::GaugeQQ(i, j)));
        }
    }
    all
}

/// Linear conditions on the unknowns, by what demands them.
type Demands = Vec<(Breaker, Vec<Vec<f64>>)>;

/// Expressions the conditions are made of.
struct ConditionParts {
    q: Vec<Expr>,
    /// v of the free coordinates in terms of the state.
    v: Vec<Expr>,
    p: Vec<Expr>,
    time: Expr,
    /// L_q
    slope: Vec<Expr>,
    /// L_t
    explicit: Expr,
    energy: Expr,
    /// Q, by force.
    forces: Vec<(String, Vec<Expr>)>,
}

/// The invariants of derived mechanics: affine symmetries, by null space over random states near the start.
pub fn invariants(mechanics: &Mechanics) -> Invariants {
    invariants_in(mechanics, mechanics.model.dag.clone())
}

/// As [`invariants()`], in a DAG that has grown from the one of `mechanics`.
pub fn invariants_in(mechanics: &Mechanics, dag: Dag) -> Invariants {
    let mut model = crate::model::Model { dag, ..mechanics.model.clone() };
    let mut symbols = Symbols::new(&model);
    let parts = parts(mechanics, &mut model, &mut symbols);
    let mut found = Invariants { dag: Dag::new(), list: Vec::new(), broken: Vec::new(), cyclic: Vec::new() };
    if let Some(mut search) = Search::new(mechanics, &model, &symbols, parts) {
        search.run(&mut model, &symbols, &mut found);
    }
    found.dag = model.dag;
    found
}

fn parts(mechanics: &Mechanics, model: &mut crate::model::Model, symbols: &mut Symbols) -> ConditionParts {
    let dag = &mut model.dag;
    let q = symbols.free_q();
    let (slope, explicit) = match &mechanics.dynamics {
        Dynamics::Lagrangian(l) => {
            (gradient(dag, l.lagrangian, &q), symbols.explicit_rate(dag, l.lagrangian))
        }
        Dynamics::Degenerate(d) => {
            let l = d.lagrangian.lagrangian;
            (gradient(dag, l, &q), symbols.explicit_rate(dag, l))
        }
        Dynamics::Hamiltonian(h) => {
            let slope = gradient(dag, h.hamiltonian, &q);
            let explicit = symbols.explicit_rate(dag, h.hamiltonian);
            (slope.into_iter().map(|e| dag.neg(e)).collect(), dag.neg(explicit))
        }
    };
    let free = |all: &[Expr]| mechanics.free.iter().map(|&i| all[i]).collect::<Vec<Expr>>();
    let (v, p) = (free(&mechanics.velocities), free(&mechanics.momenta));
    // Symbols of velocities (or momenta) that are none of the state.
    let replace: Vec<(Expr, Expr)> = model
        .coordinates
        .iter()
        .zip(&mechanics.positions)
        .zip(mechanics.velocities.iter().zip(&mechanics.momenta))
        .flat_map(|((c, &x), (&v, &p))| [(c.position, x), (c.velocity, v), (c.momentum, p)])
        .filter(|(symbol, value)| symbol != value)
        .collect();
    let mut named: Vec<(String, Vec<Expr>)> = Vec::new();
    if let Some(r) = model.dissipation {
        let slopes: Vec<Expr> = symbols.free_v().iter().map(|&v| dag.derivative(r, v)).collect();
        named.push((DISSIPATION.to_owned(), slopes.into_iter().map(|e| dag.neg(e)).collect()));
    }
    for force in &model.forces {
        let generalized = match &force.kind {
            ForceKind::Point { at, vector } => q
                .iter()
                .map(|&q| {
                    let slopes: Vec<Expr> = at.iter().map(|&r| dag.derivative(r, q)).collect();
                    dot(dag, &slopes, vector)
                })
                .collect(),
            ForceKind::Generalized(values) => mechanics.free.iter().map(|&i| values[i]).collect(),
        };
        named.push((force.name.clone(), generalized));
    }
    let forces =
        named.into_iter().map(|(name, force)| (name, dag.substitute_all(&force, &replace))).collect();
    ConditionParts { q, v, p, time: model.time, slope, explicit, energy: mechanics.hamiltonian, forces }
}

/// Numbers at one state.
struct SampledState {
    q: Vec<f64>,
    v: Vec<f64>,
    p: Vec<f64>,
    t: f64,
    slope: Vec<f64>,
    explicit: f64,
}

struct Search<'m> {
    mechanics: &'m Mechanics,
    parts: ConditionParts,
    unknowns: Vec<Unknown>,
    /// What columns are divided by.
    scale: Vec<f64>,
    /// Generic states, and states on rows and conditions.
    anywhere: Samples,
    on_rows: Samples,
    /// The first `used` states determine the algebra, the others test it.
    used: usize,
}

/// One number per state of each of `es`; rounding of what cancels is 0.
fn numbers(dag: &Dag, samples: &mut Samples, es: &[Expr]) -> Vec<Vec<f64>> {
    const ROUNDING: f64 = 1e-13;
    let clean =
        |x: crate::sample::Magnitude| if x.value.abs() <= ROUNDING * x.magnitude { 0.0 } else { x.value };
    es.iter().map(|&e| samples.values(dag, e).into_iter().map(clean).collect()).collect()
}

impl<'m> Search<'m> {
    fn new(
        mechanics: &'m Mechanics,
        model: &crate::model::Model,
        symbols: &Symbols,
        parts: ConditionParts,
    ) -> Option<Search<'m>> {
        let unknowns = unknowns(parts.q.len());
        let used = unknowns.len() + 4;
        let hamiltonian = matches!(mechanics.dynamics, Dynamics::Hamiltonian(_));
        let mut domain = parts.slope.clone();
        domain.extend(&parts.p);
        domain.extend(&parts.v);
        domain.push(parts.explicit);
        domain.extend(mechanics.rows.iter().flat_map(|r| r.normal.iter()));
        let anywhere = Samples::many(model, symbols, hamiltonian, &domain, AROUND, used + 8);
        if anywhere.len() < used + 2 {
            return None;
        }
        let on_rows = anywhere.clone();
        let scale = vec![1.0; unknowns.len()];
        Some(Search { mechanics, parts, unknowns, scale, anywhere, on_rows, used })
    }

    fn run(&mut self, model: &mut crate::model::Model, symbols: &Symbols, found: &mut Invariants) {
        let dag = &mut model.dag;
        self.stand_on_rows(dag);
        let states = self.states(dag, false);
        let mut rows: Vec<Vec<f64>> = states.iter().map(|at| self.row(at)).collect();
        // Where products overflow nothing can be decided, and nothing is promised.
        rows.retain(|row| row.iter().all(|x| x.is_finite()));
        if rows.len() < self.used + 2 {
            return;
        }
        for (j, scale) in self.scale.iter_mut().enumerate() {
            let size = rows.iter().fold(0.0f64, |s, row| s.max(row[j].abs()));
            *scale = if size > 0.0 { size } else { 1.0 };
        }
        let (fit, test) = rows.split_at(self.used);
        let fit: Vec<Vec<f64>> = fit.iter().map(|row| self.scaled(row)).collect();
        // No symmetry at all: a function of (q, t) alone changes nothing.
        let moves = |x: &Vec<f64>| {
            self.unknowns.iter().zip(x).any(|(u, x)| {
                *x != 0.0 && matches!(u, Unknown::B(..) | Unknown::D(_) | Unknown::Tau | Unknown::C(_))
            })
        };
        let all: Vec<Vec<f64>> =
            reduced(null_space(&fit, self.unknowns.len())).into_iter().filter(moves).collect();
        let mut smooth = all.clone();
        let smooth_rows = self.smooth_conditions(dag);
        for (_, rows) in &smooth_rows {
            smooth = restrict(&smooth, rows);
        }
        let (always, wall_rows) = self.wall_conditions(model, symbols, &smooth);
        let dag = &mut model.dag;
        let smooth = completed(&always, &smooth);
        for i in 0..self.parts.q.len() {
            let alone =
                |x: &Vec<f64>| self.unknowns.iter().zip(x).all(|(u, x)| *u == Unknown::C(i) || *x == 0.0);
            if all.iter().any(alone) {
                found.cyclic.push(self.mechanics.free[i]);
            }
        }
        for vector in &smooth {
            if let Some(mut invariant) = self.invariant(dag, vector, test) {
                invariant.broken_by = self.breakers(dag, vector, &wall_rows, &invariant);
                found.list.push(invariant);
            }
        }
        self.forget_dependent(dag, &mut found.list);
        for vector in &all {
            let lost = restrict_one(vector, &smooth);
            let simple = self.is_energy(vector) || found.cyclic.iter().any(|&i| self.is_momentum(vector, i));
            if lost
                && simple
                && let Some(mut invariant) = self.invariant(dag, vector, test)
            {
                invariant.broken_by = smooth_rows
                    .iter()
                    .filter(|(_, rows)| restrict(std::slice::from_ref(vector), rows).is_empty())
                    .map(|(breaker, _)| breaker.clone())
                    .collect();
                found.broken.push(invariant);
            }
        }
        name_all(self, dag, found);
    }

    fn is_energy(&self, vector: &[f64]) -> bool {
        self.unknowns.iter().zip(vector).all(|(u, x)| *u == Unknown::Tau || *x == 0.0)
    }

    fn is_momentum(&self, vector: &[f64], coordinate: usize) -> bool {
        self.unknowns
            .iter()
            .zip(vector)
            .all(|(u, x)| *x == 0.0 || matches!(u, Unknown::C(i) if self.mechanics.free[*i] == coordinate))
    }

    fn scaled(&self, row: &[f64]) -> Vec<f64> {
        row.iter().zip(&self.scale).map(|(x, s)| x / s).collect()
    }

    /// Moves a copy of the states onto rows, their rates, and the conditions of a degenerate model.
    fn stand_on_rows(&mut self, dag: &mut Dag) {
        let mut conditions: Vec<Expr> = Vec::new();
        if let Dynamics::Degenerate(d) = &self.mechanics.dynamics {
            conditions.extend(d.conditions.iter().map(|c| c.expr));
        } else {
            for row in &self.mechanics.rows {
                conditions.extend(row.position);
                let moving = dot(dag, &row.normal, &self.parts.v);
                conditions.push(dag.add(moving, row.drift));
            }
        }
        if conditions.is_empty() {
            return;
        }
        let state = self.on_rows.state.clone();
        let slopes: Vec<Vec<Expr>> = conditions.iter().map(|&g| gradient(dag, g, &state)).collect();
        self.on_rows.project(dag, &conditions, &slopes, &state);
    }

    fn states(&mut self, dag: &Dag, on_rows: bool) -> Vec<SampledState> {
        let samples = if on_rows { &mut self.on_rows } else { &mut self.anywhere };
        states(dag, samples, &self.parts)
    }

    /// The condition on L at one state, by unknown.
    fn row(&self, at: &SampledState) -> Vec<f64> {
        let entry = |u: &Unknown| match *u {
            Unknown::B(i, j) => at.q[j] * at.slope[i] + at.v[j] * at.p[i],
            Unknown::D(i) => at.t * at.slope[i] + at.p[i],
            Unknown::Tau => at.explicit,
            Unknown::C(i) => at.slope[i],
            Unknown::GaugeQ(i) => -at.v[i],
            Unknown::GaugeQQ(i, j) => -(at.q[i] * at.v[j] + at.q[j] * at.v[i]),
            Unknown::GaugeQT(i) => -(at.v[i] * at.t + at.q[i]),
            Unknown::GaugeT => -1.0,
            Unknown::GaugeTT => -2.0 * at.t,
        };
        self.unknowns.iter().map(entry).collect()
    }

    /// g·ξ + h τ by unknown, for covectors g.
    fn moved(&self, q: &[f64], t: f64, g: &[f64], h: f64) -> Vec<f64> {
        let entry = |u: &Unknown| match *u {
            Unknown::B(i, j) => g[i] * q[j],
            Unknown::D(i) => g[i] * t,
            Unknown::C(i) => g[i],
            Unknown::Tau => h,
            _ => 0.0,
        };
        let row: Vec<f64> = self.unknowns.iter().map(entry).collect();
        self.scaled(&row)
    }

    /// What rows and forces demand between impacts.
    fn smooth_conditions(&mut self, dag: &mut Dag) -> Demands {
        let mut all = Vec::new();
        if self.mechanics.rows.is_empty() && self.parts.forces.is_empty() {
            return all;
        }
        let states = self.states(dag, true);
        for row in &self.mechanics.rows {
            let mut needed = row.normal.clone();
            needed.push(row.drift);
            let values = numbers(dag, &mut self.on_rows, &needed);
            let lines = states.iter().enumerate().map(|(k, at)| {
                let g: Vec<f64> = values[..at.q.len()].iter().map(|v| v[k]).collect();
                self.moved(&at.q, at.t, &g, values[at.q.len()][k])
            });
            all.push((Breaker::Row(row.name.clone()), self.decided(lines.collect())));
        }
        for (name, force) in &self.parts.forces {
            let values = numbers(dag, &mut self.on_rows, force);
            let lines = states.iter().enumerate().map(|(k, at)| {
                let g: Vec<f64> = values.iter().map(|v| v[k]).collect();
                let power: f64 = g.iter().zip(&at.v).map(|(g, v)| g * v).sum();
                self.moved(&at.q, at.t, &g, -power)
            });
            all.push((Breaker::Force(name.clone()), self.decided(lines.collect())));
        }
        all
    }

    /// Conditions that are numbers; where there is none, or one that is no number, nothing is known to be conserved.
    fn decided(&self, lines: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        if !lines.is_empty() && lines.iter().flatten().all(|x| x.is_finite()) {
            return lines;
        }
        let n = self.unknowns.len();
        (0..n).map(|j| (0..n).map(|k| f64::from(u8::from(j == k))).collect()).collect()
    }

    /// What walls leave of what is conserved between impacts, and what each demands: n·ξ + φ_t τ = 0 on φ = 0, and τ = 0 where e < 1.
    fn wall_conditions(
        &self,
        model: &crate::model::Model,
        symbols: &Symbols,
        smooth: &[Vec<f64>],
    ) -> (Vec<Vec<f64>>, Demands) {
        let mut always = smooth.to_vec();
        let mut all = Vec::new();
        if smooth.is_empty() {
            return (always, all);
        }
        let moves = |x: &Vec<f64>| self.unknowns.iter().zip(x).any(|(u, x)| *x != 0.0 && *u != Unknown::Tau);
        let moving = smooth.iter().any(moves);
        let hamiltonian = matches!(self.mechanics.dynamics, Dynamics::Hamiltonian(_));
        let n = self.parts.q.len();
        // The gradient of a gap is its normal, that of a position row its row of A.
        let rows = || self.mechanics.rows.iter().filter_map(|r| Some((r.position?, r.normal.clone())));
        for wall in &self.mechanics.walls {
            let mut needed = wall.normal.clone();
            needed.extend([wall.gap_t, wall.restitution]);
            // A wall at rest asks nothing of the energy but e = 1: any one state will do. Else as many states as there are
            // combinations left to be told apart, and some to test them.
            let asked = moving || !model.dag.is_zero(wall.gap_t);
            let (widths, count) = if asked { (&WIDTHS[..], always.len() + 2) } else { (&WIDTHS[..1], 1) };
            let (conditions, slopes): (Vec<Expr>, Vec<Vec<Expr>>) =
                rows().chain([(wall.gap, wall.normal.clone())]).unzip();
            let mut lines: Vec<Vec<f64>> = Vec::new();
            for &width in widths {
                let mut samples = Samples::many(model, symbols, hamiltonian, &needed, width, count);
                if asked {
                    samples.project(&model.dag, &conditions, &slopes, &self.parts.q);
                }
                let values = numbers(&model.dag, &mut samples, &needed);
                let places = numbers(&model.dag, &mut samples, &self.parts.q);
                let times = numbers(&model.dag, &mut samples, &[self.parts.time]);
                for k in 0..samples.len() {
                    let q: Vec<f64> = places.iter().map(|x| x[k]).collect();
                    let g: Vec<f64> = values[..n].iter().map(|v| v[k]).collect();
                    if asked {
                        lines.push(self.moved(&q, times[0][k], &g, values[n][k]));
                    }
                    lines.push(self.moved(&q, times[0][k], &vec![0.0; n], 1.0 - values[n + 1][k]));
                }
            }
            lines.retain(|line| line.iter().all(|x| x.is_finite()));
            let lines = self.decided(lines);
            always = restrict(&always, &lines);
            all.push((Breaker::Wall(wall.name.clone()), lines));
        }
        (always, all)
    }

    /// Walls and resets that do not keep it.
    fn breakers(
        &mut self,
        dag: &mut Dag,
        vector: &[f64],
        walls: &[(Breaker, Vec<Vec<f64>>)],
        invariant: &Invariant,
    ) -> Vec<Breaker> {
        let mut found: Vec<Breaker> = walls
            .iter()
            .filter(|(_, rows)| restrict(&[vector.to_vec()], rows).is_empty())
            .map(|(breaker, _)| breaker.clone())
            .collect();
        for (event, model) in self.mechanics.events.iter().zip(&self.mechanics.model.events) {
            if event.set.is_empty() {
                continue;
            }
            let state = self.on_rows.state.clone();
            let mut samples = self.on_rows.clone();
            let slopes = vec![gradient(dag, event.when, &state)];
            samples.project(dag, &[event.when], &slopes, &state);
            let after = dag.substitute(invariant.expr, &event.set);
            let change = dag.sub(after, invariant.expr);
            if !samples.vanishes(dag, change) {
                found.push(Breaker::Event(model.name.clone()));
            }
        }
        found
    }

    /// On rows and hidden constraints two symmetries may have the same J: the first is kept.
    fn forget_dependent(&mut self, dag: &Dag, list: &mut Vec<Invariant>) {
        if self.mechanics.rows.is_empty() && !matches!(self.mechanics.dynamics, Dynamics::Degenerate(_)) {
            return;
        }
        let points = self.on_rows.len();
        let mut kept: Vec<Vec<f64>> = vec![vec![1.0; points]];
        let samples = &mut self.on_rows;
        list.retain(|invariant| {
            let values: Vec<f64> = samples.values(dag, invariant.expr).iter().map(|x| x.value).collect();
            kept.push(values);
            let independent = reduced(kept.clone()).len() == kept.len();
            if !independent {
                kept.pop();
            }
            independent
        });
    }
}

fn states(dag: &Dag, samples: &mut Samples, parts: &ConditionParts) -> Vec<SampledState> {
    let lists = [&parts.q, &parts.v, &parts.p, &parts.slope].map(|es| numbers(dag, samples, es));
    let single = numbers(dag, samples, &[parts.time, parts.explicit]);
    (0..samples.len())
        .map(|k| {
            let [q, v, p, slope] = [0, 1, 2, 3].map(|l: usize| lists[l].iter().map(|x| x[k]).collect());
            SampledState { q, v, p, slope, t: single[0][k], explicit: single[1][k] }
        })
        .collect()
}

/// Is `vector` outside the span of `basis`?
fn restrict_one(vector: &[f64], basis: &[Vec<f64>]) -> bool {
    completed(&reduced(basis.to_vec()), &[vector.to_vec()]).len() > reduced(basis.to_vec()).len()
}
