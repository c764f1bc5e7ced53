//! `derive`: from a checked model to its equations. The order of work is the order of the theory: forces, equations
//! in all coordinates, prescribed motions inserted, rows, walls, energies, outputs and events.
//!
//! Promise: every expression of the result contains only state symbols, `t`, parameters and table inputs.

use crate::augmentation::augmentation_rows;
use crate::degenerate::{is_regular, resolve};
use crate::diagnostic::{Diagnostic, Severity};
use crate::forms::closed_forms;
use crate::hamiltonian::{Hamilton, hamilton, is_quadratic, unheld_rows};
use crate::lagrangian::{EulerLagrange, euler_lagrange, generalized_force, quadratic_form, tidy};
use crate::mechanics::{
    ClosedForms, DriveMechanics, Dynamics, EventMechanics, HamiltonianDynamics, LagrangianDynamics,
    Mechanics, RowMechanics,
};
use crate::model::{Action, Model, Physics};
use crate::redundant::dependent_rows;
use crate::sample::{AROUND, Samples};
use crate::symbols::{Symbols, dot, gradient};
use crate::walls::{StateForm, rows, walls};
use carom_expr::{Expr, Node, Rational};

/// Derives the equations of motion, the constraint rows and the impact laws of a model.
///
/// # Errors
/// What makes the model impossible to derive, each with its reason: a Hamiltonian whose driven momentum cannot be
/// eliminated, a degenerate Lagrangian with contradictory or undetermined equations.
pub fn derive(model: Model) -> Result<Mechanics, Vec<Diagnostic>> {
    let mut symbols = Symbols::new(&model);
    let (mut mechanics, mut samples) = equations(model, &mut symbols)?;
    mechanics.forms = closed_forms(&mut mechanics, &symbols, &mut samples);
    Ok(mechanics)
}

/// As [`derive()`], without the closed forms, which only readers need: several times faster.
///
/// # Errors
/// As [`derive()`].
pub fn derive_equations(model: Model) -> Result<Mechanics, Vec<Diagnostic>> {
    let mut symbols = Symbols::new(&model);
    equations(model, &mut symbols).map(|(mechanics, _)| mechanics)
}

fn equations(model: Model, symbols: &mut Symbols) -> Result<(Mechanics, Samples), Vec<Diagnostic>> {
    match model.physics {
        Physics::Energies { .. } | Physics::Lagrangian(_) => derive_lagrangian(model, symbols),
        Physics::Hamiltonian(h) => derive_hamiltonian(model, symbols, h),
    }
}

fn derive_lagrangian(
    mut model: Model,
    symbols: &mut Symbols,
) -> Result<(Mechanics, Samples), Vec<Diagnostic>> {
    let given = match model.physics {
        Physics::Energies { kinetic, potential } => model.dag.sub(kinetic, potential),
        Physics::Lagrangian(l) | Physics::Hamiltonian(l) => l,
    };
    let force = generalized_force(&mut model, symbols);
    let dag = &mut model.dag;
    let el = euler_lagrange(dag, symbols, given);
    let n = symbols.free.len();

    let mut replace = symbols.insert.clone();
    let momenta = symbols.inserted_all(dag, &el.momenta);
    replace.extend(symbols.p.iter().copied().zip(momenta.iter().copied()));
    let form = StateForm { replace, velocity: symbols.free_v(), velocity_bias: Vec::new() };

    // W_ff and h_f + W_fk f̈; the same for the driven rows.
    let inserted: Vec<Vec<Expr>> = el.mass_matrix.iter().map(|row| form.of_all(dag, row)).collect();
    let bias = form.of_all(dag, &el.bias);
    let force = form.of_all(dag, &force);
    let forced_bias: Vec<Expr> = (0..inserted.len())
        .map(|i| {
            let mut h = bias[i];
            for (slot, &k) in symbols.driven.iter().enumerate() {
                let extra = dag.mul(inserted[i][k], symbols.driven_acceleration[slot]);
                h = dag.add(h, extra);
            }
            h
        })
        .collect();
    let drives = symbols
        .driven
        .iter()
        .map(|&k| DriveMechanics {
            coordinate: k,
            mass: symbols.free.iter().map(|&i| inserted[k][i]).collect(),
            bias: forced_bias[k],
            generalized_force: force[k],
        })
        .collect();
    let mass_matrix: Vec<Vec<Expr>> =
        symbols.free.iter().map(|&i| symbols.free.iter().map(|&j| inserted[i][j]).collect()).collect();
    let generalized: Vec<Expr> = symbols.free.iter().map(|&i| force[i]).collect();

    let lagrangian = symbols.inserted(dag, el.lagrangian);
    let hamiltonian = reduced_energy(dag, symbols, &el, &mass_matrix, &momenta, lagrangian);
    let velocity = symbols.free_v();
    let explicit = symbols.explicit_rate(dag, lagrangian);
    let work = dot(dag, &generalized, &velocity);
    let power = dag.sub(work, explicit);
    let power = tidy(dag, power);

    let (energy, energy_terms) = match model.physics {
        Physics::Energies { kinetic, potential } => {
            let terms = [kinetic_form(dag, symbols, &el, kinetic, potential), potential];
            let terms = symbols.inserted_all(dag, &terms);
            (dag.sum(&terms), terms)
        }
        _ => (hamiltonian, terms_of(dag, hamiltonian)),
    };
    let dynamics = Dynamics::Lagrangian(LagrangianDynamics {
        lagrangian,
        mass_matrix,
        bias: (0..n).map(|i| forced_bias[symbols.free[i]]).collect(),
        generalized_force: generalized,
        augmentation_rows: Vec::new(),
    });
    let quadratic = el.quadratic;
    let common = Common { dynamics, momenta, hamiltonian, energy, energy_terms, power, drives, quadratic };
    finish(model, symbols, form, common)
}

/// The terms of a sum: E may be zero where they are not (an escape at just the speed for it), and it is their difference.
fn terms_of(dag: &mut carom_expr::Dag, e: Expr) -> Vec<Expr> {
    let (factor, sum) = match dag.node(e) {
        Node::Product(c, factors) => match factors[..] {
            [(only, n)] if n == Rational::ONE => (*c, only),
            _ => return vec![e],
        },
        _ => (Rational::ONE, e),
    };
    let Node::Sum(constant, terms) = dag.node(sum) else { return vec![e] };
    let (constant, terms) = (*constant, terms.clone());
    let mut all: Vec<Expr> = Vec::new();
    for (c, term) in terms.iter() {
        let term = dag.scale(*c, *term);
        all.push(dag.scale(factor, term));
    }
    if constant != Rational::ZERO {
        let constant = dag.number(constant);
        all.push(dag.scale(factor, constant));
    }
    all
}

/// E = Σ_free p v − L of the reduced Lagrangian; without the cancelling terms when L is quadratic in v.
fn reduced_energy(
    dag: &mut carom_expr::Dag,
    symbols: &Symbols,
    el: &EulerLagrange,
    mass_matrix: &[Vec<Expr>],
    momenta: &[Expr],
    lagrangian: Expr,
) -> Expr {
    let v = symbols.free_v();
    if el.quadratic {
        // E = ½ v W_ff v − L at v_free = 0
        let zero = dag.zero();
        let at_rest: Vec<(Expr, Expr)> = v.iter().map(|&v| (v, zero)).collect();
        let rest = match (symbols.driven.is_empty(), el.rest) {
            (true, Some(rest)) => rest,
            _ => dag.substitute(lagrangian, &at_rest),
        };
        let kinetic = quadratic_form(dag, mass_matrix, &v);
        return dag.sub(kinetic, rest);
    }
    let p: Vec<Expr> = symbols.free.iter().map(|&i| momenta[i]).collect();
    let pairing = dot(dag, &p, &v);
    let e = dag.sub(pairing, lagrangian);
    tidy(dag, e)
}

/// T in the tidied form when it is a polynomial in v and V is free of v, else as given.
fn kinetic_form(
    dag: &mut carom_expr::Dag,
    symbols: &Symbols,
    el: &EulerLagrange,
    kinetic: Expr,
    potential: Expr,
) -> Expr {
    if !el.quadratic || crate::symbols::mentions(dag, &[potential], &symbols.v) {
        return kinetic;
    }
    // T = L − L₀ + T₀
    let zero = dag.zero();
    let at_rest: Vec<(Expr, Expr)> = symbols.v.iter().map(|&v| (v, zero)).collect();
    let rest = dag.substitute(kinetic, &at_rest);
    let rest = tidy(dag, rest);
    let zero_part = el.rest.unwrap_or(zero);
    dag.linear(
        Rational::ZERO,
        &[(Rational::ONE, el.lagrangian), (Rational::MINUS_ONE, zero_part), (Rational::ONE, rest)],
    )
}

fn derive_hamiltonian(
    mut model: Model,
    symbols: &mut Symbols,
    given: Expr,
) -> Result<(Mechanics, Samples), Vec<Diagnostic>> {
    let force = generalized_force(&mut model, symbols);
    let Hamilton { hamiltonian, velocity, slope, inverse_mass, velocity_bias, driven_momenta, driven_slopes } =
        hamilton(&mut model, symbols, given)?;
    let dag = &mut model.dag;

    let mut replace = symbols.insert.clone();
    replace.extend(symbols.free_v().into_iter().zip(velocity.iter().copied()));
    replace.extend(symbols.driven.iter().zip(&driven_momenta).map(|(&k, &p)| (symbols.p[k], p)));
    let form = StateForm { replace, velocity: velocity.clone(), velocity_bias: velocity_bias.clone() };

    let force = form.of_all(dag, &force);
    let generalized: Vec<Expr> = symbols.free.iter().map(|&i| force[i]).collect();
    let total: Vec<Expr> = slope.iter().zip(&generalized).map(|(&s, &q)| dag.sub(q, s)).collect();
    let mut momenta = symbols.p.clone();
    for (&k, &p) in symbols.driven.iter().zip(&driven_momenta) {
        momenta[k] = p;
    }
    let (q, p) = (symbols.free_q(), symbols.free_p());
    let mut drives = Vec::new();
    for (slot, &k) in symbols.driven.clone().iter().enumerate() {
        // d/dt P = P_p ṗ + P_q q̇ + P_t
        let by_q = gradient(dag, driven_momenta[slot], &q);
        let carried = dot(dag, &by_q, &velocity);
        let explicit = symbols.explicit_rate(dag, driven_momenta[slot]);
        let bias = dag.sum(&[carried, explicit, driven_slopes[slot]]);
        drives.push(DriveMechanics {
            coordinate: k,
            mass: gradient(dag, driven_momenta[slot], &p),
            bias: tidy(dag, bias),
            generalized_force: force[k],
        });
    }
    let explicit = symbols.explicit_rate(dag, hamiltonian);
    let work = dot(dag, &generalized, &velocity);
    let power = dag.add(work, explicit);
    let quadratic = is_quadratic(dag, &inverse_mass, &p);
    let dynamics = Dynamics::Hamiltonian(HamiltonianDynamics {
        hamiltonian,
        velocity,
        force: total,
        generalized_force: generalized,
        inverse_mass,
        velocity_bias,
    });
    let common = Common {
        dynamics,
        momenta,
        hamiltonian,
        energy: hamiltonian,
        energy_terms: terms_of(&mut model.dag, hamiltonian),
        power,
        drives,
        quadratic,
    };
    finish(model, symbols, form, common)
}

/// What both kinds of models hand over before rows, walls, outputs and events are added.
struct Common {
    dynamics: Dynamics,
    momenta: Vec<Expr>,
    hamiltonian: Expr,
    energy: Expr,
    energy_terms: Vec<Expr>,
    power: Expr,
    drives: Vec<DriveMechanics>,
    quadratic: bool,
}

fn finish(
    mut model: Model,
    symbols: &mut Symbols,
    form: StateForm,
    common: Common,
) -> Result<(Mechanics, Samples), Vec<Diagnostic>> {
    let rows = rows(&mut model, symbols, &form);
    let walls = walls(&mut model, symbols, &form);
    let generic = generic_points(&model, symbols, &common.dynamics, &rows)?;
    let Generic { mut samples, found: warnings, regular } = generic;
    if let Dynamics::Hamiltonian(h) = &common.dynamics {
        let free = unheld_rows(&mut model.dag, &mut samples, &h.inverse_mass, &rows);
        if !free.is_empty() {
            return Err(free);
        }
    }
    let dynamics = match common.dynamics {
        Dynamics::Lagrangian(l) if !regular => {
            Dynamics::Degenerate(resolve(&mut model, symbols, &mut samples, l, &rows)?)
        }
        Dynamics::Lagrangian(l) => {
            let augmentation_rows = augmentation_rows(&model.dag, &mut samples, &l.mass_matrix, &rows);
            Dynamics::Lagrangian(LagrangianDynamics { augmentation_rows, ..l })
        }
        other => other,
    };
    let dag = &mut model.dag;
    let positions = symbols.inserted_all(dag, &symbols.q);
    let mut velocities = symbols.inserted_all(dag, &symbols.v);
    for (&i, &v) in symbols.free.iter().zip(&form.velocity) {
        velocities[i] = v;
    }
    let outputs: Vec<Expr> = model.outputs.iter().map(|o| form.of(dag, o.expr)).collect();
    let mut events = Vec::with_capacity(model.events.len());
    let mut problems = std::mem::take(&mut symbols.problems);
    for event in &model.events {
        let set = match &event.action {
            Action::Set(pairs) => pairs.clone(),
            Action::Record | Action::Stop => Vec::new(),
        };
        for (target, _) in &set {
            let foreign = match dynamics {
                Dynamics::Hamiltonian(_) => symbols.v.contains(target),
                _ => symbols.p.contains(target),
            };
            if foreign {
                let (state, other) = match dynamics {
                    Dynamics::Hamiltonian(_) => ("momenta", "velocities"),
                    _ => ("velocities", "momenta"),
                };
                problems.push(
                    Diagnostic::error(format!(
                        "event `{}` sets {other}, which are not part of the state",
                        event.name
                    ))
                    .with_hint(format!("set the {state} instead")),
                );
            }
        }
        events.push(EventMechanics {
            when: form.of(dag, event.when),
            only_if: event.only_if.map(|e| form.of(dag, e)),
            set: set.into_iter().map(|(x, value)| (x, form.of(dag, value))).collect(),
        });
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let Common { momenta, hamiltonian, energy, energy_terms, power, drives, quadratic, .. } = common;
    let mechanics = Mechanics {
        model,
        free: symbols.free.clone(),
        dynamics,
        positions,
        velocities,
        momenta,
        hamiltonian,
        energy,
        energy_terms,
        power,
        rows,
        walls,
        drives,
        outputs,
        events,
        quadratic,
        warnings,
        forms: ClosedForms::default(),
    };
    Ok((mechanics, samples))
}

/// A thousand times closer to the start.
const CLOSE: f64 = AROUND / 1024.0;
/// With more rows than this, close points come first.
const MANY_ROWS: usize = 12;

/// Where ranks are decided, and what was found there.
struct Generic {
    /// Points on the holonomic rows.
    samples: Samples,
    /// About rows that depend on others.
    found: Vec<Diagnostic>,
    /// Does [[W, Aᵀ], [A, 0]] determine the accelerations?
    regular: bool,
}

impl Generic {
    fn is_contradictory(&self) -> bool {
        self.found.iter().any(|d| d.severity == Severity::Error)
    }

    /// Less is better: contradiction, singularity, number of dependent rows.
    fn trouble(&self) -> (bool, bool, usize) {
        (self.is_contradictory(), !self.regular, self.found.len())
    }
}

/// Looks at points around the start.
///
/// A closed linkage has configurations of several kinds, and in some of them the rows depend on each other. What
/// counts is the kind the start belongs to: when something is singular, points at another distance from the start are
/// asked, and believed when less is singular there.
fn generic_points(
    model: &Model,
    symbols: &Symbols,
    dynamics: &Dynamics,
    rows: &[RowMechanics],
) -> Result<Generic, Vec<Diagnostic>> {
    let look = |width: f64| {
        let mut samples = samples_near_start(model, symbols, dynamics, rows, width);
        let found = check_rows(model, symbols, &mut samples, rows);
        let regular = match dynamics {
            Dynamics::Lagrangian(l) => is_regular(&model.dag, &mut samples, &l.mass_matrix, rows),
            _ => true,
        };
        Generic { samples, found, regular }
    };
    // Far points are the better judges of what is zero; in a large linkage they fold it, and moving them is dear.
    let constrained = rows.iter().any(|r| r.position.is_some());
    let (first, second) = if rows.len() > MANY_ROWS { (CLOSE, AROUND) } else { (AROUND, CLOSE) };
    let mut generic = look(first);
    if constrained && generic.trouble() != (false, false, 0) {
        let other = look(second);
        if other.samples.len() > 0 && other.trouble() < generic.trouble() {
            generic = other;
        }
    }
    if generic.is_contradictory() { Err(generic.found) } else { Ok(generic) }
}

/// Generic points, not yet on the rows.
fn samples_near_start(
    model: &Model,
    symbols: &Symbols,
    dynamics: &Dynamics,
    rows: &[RowMechanics],
    width: f64,
) -> Samples {
    let (matrix, hamiltonian) = match dynamics {
        Dynamics::Lagrangian(l) => (&l.mass_matrix, false),
        Dynamics::Degenerate(d) => (&d.lagrangian.mass_matrix, false),
        Dynamics::Hamiltonian(h) => (&h.inverse_mass, true),
    };
    let mut domain: Vec<Expr> = matrix.iter().flatten().copied().collect();
    domain.extend(rows.iter().flat_map(|r| r.normal.iter()));
    Samples::new(model, symbols, hamiltonian, &domain, width)
}

/// Moves the points onto the holonomic rows; names rows that depend on others.
fn check_rows(
    model: &Model,
    symbols: &Symbols,
    samples: &mut Samples,
    rows: &[RowMechanics],
) -> Vec<Diagnostic> {
    // Rows may be dependent everywhere, or only where they hold. Contradictory ones hold nowhere, so ask first.
    let mut found = dependent_rows(&model.dag, &mut samples.clone(), rows);
    let holonomic: Vec<&RowMechanics> = rows.iter().filter(|r| r.position.is_some()).collect();
    let positions: Vec<Expr> = holonomic.iter().filter_map(|r| r.position).collect();
    let slopes: Vec<Vec<Expr>> = holonomic.iter().map(|r| r.normal.clone()).collect();
    samples.project(&model.dag, &positions, &slopes, &symbols.free_q());
    if found.is_empty() {
        found = dependent_rows(&model.dag, &mut samples.clone(), rows);
    }
    found
}
