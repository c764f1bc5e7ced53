//! One place that knows every expression of derived mechanics a program uses.

use carom_expr::Expr;
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
