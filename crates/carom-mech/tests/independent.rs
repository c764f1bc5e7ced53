//! Derived equations against hyper-dual numbers applied to the formulas as given, at random states.

mod support;

use carom_mech::{Force, ForceKind, Model, RowKind, derive};
use support::independent::{Random, agrees, random_path};
use support::{drive, formula, hamiltonian, lagrangian, row, wall};

fn holds_everywhere(model: Model) {
    let mechanics = derive(model).unwrap();
    let mut random = Random(5);
    let mut inside = 0;
    for k in 0..200 {
        let path = random_path(&mechanics, &mut random, 0.8 / (1.0 + 0.02 * k as f64));
        inside += usize::from(agrees(&mechanics, &path));
        if inside == 20 {
            return;
        }
    }
    panic!("only {inside} states lie in the domain");
}

#[test]
fn a_magnetic_time_dependent_model_with_forces_rows_and_walls() {
    let mut m = lagrangian(
        &["x", "y", "phi"],
        &[("m", 1.3), ("B", 0.7), ("J", 0.4)],
        "m*(1 + t^2/9)/2*(x'^2 + y'^2 + x*x'*y'/3) + J/2*(2 + sin(phi))*phi'^2 + B*(x*y' - y*x')*cos(t) - exp(x/3)*y^2 - x*cos(phi)*t",
    );
    m.dissipation = Some(formula(&mut m, "0.2*x'^2 + 0.1*x'*phi'*cos(y)"));
    let at = vec![formula(&mut m, "x + 2*cos(phi)"), formula(&mut m, "y + 2*sin(phi)*(1 + t)")];
    let vector = vec![formula(&mut m, "sin(t) - x'"), formula(&mut m, "y*phi'")];
    m.forces.push(Force { name: "push".into(), kind: ForceKind::Point { at, vector } });
    let torque = vec![m.dag.zero(), formula(&mut m, "t*x'"), formula(&mut m, "-phi'^3")];
    m.forces.push(Force { name: "motor".into(), kind: ForceKind::Generalized(torque) });
    let c = formula(&mut m, "x^2*y + sin(t*phi) - 1");
    row(&mut m, "c", RowKind::Holonomic, c);
    let a = formula(&mut m, "x'*cos(phi) + t*y*y' - sin(x*t)");
    row(&mut m, "a", RowKind::Nonholonomic, a);
    let gap = formula(&mut m, "3 + x*y - cos(phi - t) + t^2");
    wall(&mut m, "w", gap);
    holds_everywhere(m);
}

#[test]
fn the_same_with_a_driven_coordinate() {
    let mut m = lagrangian(
        &["x", "y", "s"],
        &[],
        "(1 + s^2)/2*x'^2 + y'^2*(2 + cos(s - x)) + x'*s'*sin(y) + s'^2*x*y + s*y*y' - x^2*s - cos(y*t)",
    );
    let f = formula(&mut m, "sin(2*t) + t^2/5");
    drive(&mut m, 2, f);
    let c = formula(&mut m, "x*s + y^2 - t");
    row(&mut m, "c", RowKind::Holonomic, c);
    let a = formula(&mut m, "x' + s*y' - x*s' + t");
    row(&mut m, "a", RowKind::Nonholonomic, a);
    let gap = formula(&mut m, "2 + s*x - y^2");
    wall(&mut m, "w", gap);
    holds_everywhere(m);
}

#[test]
fn a_lagrangian_that_is_not_quadratic() {
    let mut m = lagrangian(
        &["x", "y"],
        &[("c", 2.0)],
        "-c^2*sqrt(1 - (x'^2 + y'^2)/c^2) + x'^4/12 + x*y' - x^2*y*t + exp(x'*y/4)",
    );
    let c = formula(&mut m, "x - sin(y) + t");
    row(&mut m, "c", RowKind::Holonomic, c);
    holds_everywhere(m);
}

#[test]
fn a_hamiltonian_with_forces_rows_and_walls() {
    let mut m = hamiltonian(
        &["x", "y"],
        &[("m", 1.7)],
        "p_x^2/(2*m)*(1 + y^2) + (p_y - x*t)^2/2 + p_x*p_y*sin(x)/5 + p_x^4/20 + x^2*y*cos(t)",
    );
    let torque = vec![formula(&mut m, "-x'*y"), formula(&mut m, "sin(t)*y'")];
    m.forces.push(Force { name: "motor".into(), kind: ForceKind::Generalized(torque) });
    let c = formula(&mut m, "x^2*y + t*y - 1");
    row(&mut m, "c", RowKind::Holonomic, c);
    let a = formula(&mut m, "x'*cos(y) + t*y' - sin(x*t)");
    row(&mut m, "a", RowKind::Nonholonomic, a);
    let gap = formula(&mut m, "3 + x*y - cos(x - t)");
    wall(&mut m, "w", gap);
    holds_everywhere(m);
}
