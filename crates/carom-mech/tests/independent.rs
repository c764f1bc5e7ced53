//! Derived equations against hyper-dual numbers applied to the formulas as given, at random states.

mod support;

use carom_mech::{Force, ForceKind, Model, RowKind, derive};
use support::closed::closed_forms_hold;
use support::independent::{Random, agrees, random_path};
use support::{drive, formula, hamiltonian, lagrangian, row, wall};

fn holds_everywhere(model: Model) {
    let mechanics = derive(model).unwrap();
    let mut random = Random(5);
    let mut inside = 0;
    for k in 0..200 {
        let path = random_path(&mechanics, &mut random, 0.8 / (1.0 + 0.02 * k as f64));
        if agrees(&mechanics, &path) {
            closed_forms_hold(&mechanics, &path);
            inside += 1;
        }
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

#[test]
fn a_relativistic_charge_and_its_hamiltonian() {
    let parameters = [("m", 1.3), ("c", 2.0), ("q", 0.6), ("B", 0.8)];
    let mut m = lagrangian(&["x", "y"], &parameters, "-m*c^2*sqrt(1 - (x'^2 + y'^2)/c^2) + q*B*x*y' - m*x");
    let gap = formula(&mut m, "y + 3");
    wall(&mut m, "w", gap);
    let mechanics = derive(m.clone()).unwrap();
    assert!(mechanics.forms.other_side.is_some() && !mechanics.quadratic);
    holds_everywhere(m);
    let m = hamiltonian(&["x", "y"], &parameters, "c*sqrt(m^2*c^2 + p_x^2 + (p_y - q*B*x)^2) + m*x");
    assert!(derive(m.clone()).unwrap().forms.other_side.is_some());
    holds_everywhere(m);
}

#[test]
fn a_double_pendulum_with_walls_and_a_driven_pivot() {
    let mut m = lagrangian(
        &["a", "b", "s"],
        &[("M", 2.0), ("m", 1.3), ("l", 0.8), ("g", 9.81)],
        "M/2*((s' + l*cos(a)*a')^2 + (l*sin(a)*a')^2) + m/2*((s' + l*cos(a)*a' + cos(b)*b')^2 + (l*sin(a)*a' + sin(b)*b')^2) + (M + m)*g*l*cos(a) + m*g*cos(b)",
    );
    let gap = formula(&mut m, "s + l*sin(a) + sin(b) + 2");
    wall(&mut m, "w", gap);
    let driven = {
        let mut m = m.clone();
        let f = formula(&mut m, "sin(3*t)/4");
        drive(&mut m, 2, f);
        m
    };
    for m in [m, driven] {
        let mechanics = derive(m.clone()).unwrap();
        assert!(mechanics.forms.impacts[0].is_some());
        holds_everywhere(m);
    }
}

#[test]
fn a_rolling_disk_hits_a_wall() {
    let mut m = lagrangian(
        &["x", "y", "theta", "phi"],
        &[("m", 1.0), ("R", 1.0), ("I", 0.5), ("J", 0.25)],
        "m/2*(x'^2 + y'^2) + I/2*theta'^2 + J/2*phi'^2",
    );
    for (name, text) in [("no_slip_x", "x' - R*cos(phi)*theta'"), ("no_slip_y", "y' - R*sin(phi)*theta'")] {
        let a = formula(&mut m, text);
        row(&mut m, name, RowKind::Nonholonomic, a);
    }
    let gap = formula(&mut m, "10 - y - R*sin(phi)");
    wall(&mut m, "front", gap);
    let mut mechanics = derive(m.clone()).unwrap();
    // Δ is spanned by ∂_θ + R cos φ ∂_x + R sin φ ∂_y and ∂_φ
    let basis = mechanics.forms.distribution.clone().unwrap();
    let expected: Vec<Vec<_>> = [["R*cos(phi)", "R*sin(phi)", "1", "0"], ["0", "0", "0", "1"]]
        .iter()
        .map(|z| z.iter().map(|text| formula(&mut mechanics.model, text)).collect())
        .collect();
    assert_eq!(basis, expected);
    assert!(mechanics.forms.impacts[0].is_some());
    holds_everywhere(m);
}
