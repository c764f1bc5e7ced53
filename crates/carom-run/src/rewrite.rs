//! One place that knows every expression of derived mechanics a program uses.

use crate::input::Spline;
use crate::switching::{Surface, split};
use carom_expr::{Expr, Rational};
use carom_mech::mechanics::{Dynamics, LagrangianDynamics, Mechanics};

/// Calls `f` for every expression the program compiles.
pub(crate) fn visit(m: &mut Mechanics, f: &mut dyn FnMut(&mut Expr)) {
    let lagrangian = |l: &mut LagrangianDynamics, f: &mut dyn FnMut(&mut Expr)| {
        l.mass_matrix.iter_mut().flatten().for_each(&mut *f);
        l.bias.iter_mut().for_each(&mut *f);
        l.generalized_force.iter_mut().for_each(&mut *f);
    };
    match &mut m.dynamics {
        Dynamics::Lagrangian(l) => lagrangian(l, f),
        Dynamics::Hamiltonian(h) => {
            h.velocity.iter_mut().for_each(&mut *f);
            h.force.iter_mut().for_each(&mut *f);
            h.generalized_force.iter_mut().for_each(&mut *f);
            h.inverse_mass.iter_mut().flatten().for_each(&mut *f);
            h.velocity_bias.iter_mut().for_each(&mut *f);
        }
        Dynamics::Degenerate(d) => {
            lagrangian(&mut d.lagrangian, f);
            d.conditions.iter_mut().for_each(|c| f(&mut c.expr));
            d.matrix.iter_mut().flatten().for_each(&mut *f);
            d.right_side.iter_mut().for_each(&mut *f);
        }
    }
    for list in [&mut m.positions, &mut m.velocities, &mut m.momenta, &mut m.energy_terms, &mut m.outputs] {
        list.iter_mut().for_each(&mut *f);
    }
    for e in [&mut m.hamiltonian, &mut m.energy, &mut m.power] {
        f(e);
    }
    for row in &mut m.rows {
        row.position.iter_mut().for_each(&mut *f);
        row.normal.iter_mut().for_each(&mut *f);
        row.driven_normal.iter_mut().for_each(&mut *f);
        f(&mut row.drift);
        f(&mut row.bias);
    }
    for wall in &mut m.walls {
        wall.normal.iter_mut().for_each(&mut *f);
        wall.driven_normal.iter_mut().for_each(&mut *f);
        for e in [&mut wall.gap, &mut wall.gap_t, &mut wall.gap_rate, &mut wall.bias, &mut wall.restitution] {
            f(e);
        }
    }
    for drive in &mut m.drives {
        drive.mass.iter_mut().for_each(&mut *f);
        f(&mut drive.bias);
        f(&mut drive.generalized_force);
    }
    for event in &mut m.events {
        f(&mut event.when);
        event.only_if.iter_mut().for_each(&mut *f);
        event.set.iter_mut().for_each(|s| f(&mut s.1));
    }
}

/// Replaces expressions everywhere at once.
pub(crate) fn rewrite(m: &mut Mechanics, replacements: &[(Expr, Expr)]) {
    let mut roots = Vec::new();
    visit(m, &mut |e| roots.push(*e));
    let new = m.model.dag.substitute_all(&roots, replacements);
    let mut next = new.into_iter();
    visit(m, &mut |e| {
        if let Some(replacement) = next.next() {
            *e = replacement;
        }
    });
}

/// Replaces every table input by its cubic; returns the five parameters per input.
pub(crate) fn insert_curves(m: &mut Mechanics) -> (Vec<Expr>, Vec<Spline>) {
    let inputs = m.model.inputs.clone();
    let (mut parameters, mut curves, mut replacements) = (Vec::new(), Vec::new(), Vec::new());
    for input in &inputs {
        let dag = &mut m.model.dag;
        let names = ["knot", "c0", "c1", "c2", "c3"];
        let [knot, c0, c1, c2, c3] = names.map(|part| dag.symbol(&format!("{} {part}", input.name)));
        let tau = dag.sub(m.model.time, knot);
        let powers: Vec<Expr> = (0..4).map(|k| dag.powi(tau, k)).collect();
        let c = [c0, c1, c2, c3];
        for (order, symbol) in [input.value, input.rate, input.second].into_iter().enumerate() {
            let terms: Vec<(Rational, Expr)> = (order..4)
                .map(|k| {
                    let factor: i64 = ((k - order + 1)..=k).map(|j| j as i64).product();
                    (Rational::integer(factor), dag.mul(c[k], powers[k - order]))
                })
                .collect();
            let value = dag.linear(Rational::ZERO, &terms);
            replacements.push((symbol, value));
        }
        parameters.extend([knot, c0, c1, c2, c3]);
        curves.push(Spline::through(&input.times, &input.values, input.interpolate));
    }
    if !replacements.is_empty() {
        rewrite(m, &replacements);
    }
    (parameters, curves)
}

/// Replaces piecewise functions.
pub(crate) fn insert_signs(m: &mut Mechanics, state: &[Expr]) -> Vec<Surface> {
    let mut roots = Vec::new();
    visit(m, &mut |e| roots.push(*e));
    let mut moving = state.to_vec();
    moving.push(m.model.time);
    moving.extend(m.model.coordinates.iter().map(|c| c.acceleration));
    let (replacements, surfaces) = split(&mut m.model.dag, &roots, &moving);
    if !replacements.is_empty() {
        rewrite(m, &replacements);
    }
    surfaces
}
