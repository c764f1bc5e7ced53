//! Linearisations against closed forms, and rows that depend on others.

mod support;

use carom_mech::{Dynamics, RowKind, Severity, StateValues, derive, linearise, redundancies};
use support::{formula, hamiltonian, lagrangian, row};

fn assert_matrix(found: &[Vec<f64>], expected: &[&[f64]]) {
    for (f, e) in found.iter().zip(expected) {
        for (f, e) in f.iter().zip(*e) {
            assert!((f - e).abs() < 1e-12 * (1.0 + e.abs()), "{found:?}");
        }
    }
    assert_eq!(found.len(), expected.len());
}

#[test]
fn a_pendulum_linearises_to_its_textbook_matrix() {
    // θ″ = −g/l sin θ − b/(m l²) θ′
    let mut m = lagrangian(
        &["theta"],
        &[("g", 9.81), ("l", 0.5), ("m", 2.0), ("b", 0.3)],
        "m*l^2*theta'^2/2 + m*g*l*cos(theta)",
    );
    m.dissipation = Some(formula(&mut m, "b/2*theta'^2"));
    let y = formula(&mut m, "l*theta''");
    m.outputs.push(carom_mech::Named { name: "tip".into(), expr: y });
    let mechanics = derive(m).unwrap();
    let at = StateValues { time: 0.0, position: vec![0.4], rate: vec![1.5], inputs: vec![] };
    let lin = linearise(&mechanics, &at).unwrap();
    let (slope, damping) = (-9.81 / 0.5 * 0.4f64.cos(), -0.3 / (2.0 * 0.25));
    assert_matrix(&lin.a, &[&[0.0, 1.0], &[slope, damping]]);
    assert_matrix(&lin.c, &[&[0.5 * slope, 0.5 * damping]]);
    assert_eq!(lin.states, ["theta", "theta'"]);
    assert!((lin.rate[1] - (-9.81 / 0.5 * 0.4f64.sin() + damping * 1.5)).abs() < 1e-12);
}

#[test]
fn both_sides_of_a_model_linearise_to_similar_matrices() {
    // p = m v: A of the Hamiltonian side is T A T⁻¹ with T = diag(1, m)
    let l = derive(lagrangian(&["x"], &[("m", 2.0)], "m*x'^2/2 - x^4/4")).unwrap();
    let h = derive(hamiltonian(&["x"], &[("m", 2.0)], "p_x^2/(2*m) + x^4/4")).unwrap();
    assert!(matches!(h.dynamics, Dynamics::Hamiltonian(_)));
    let at = |rate| StateValues { time: 0.0, position: vec![0.7], rate: vec![rate], inputs: vec![] };
    let (l, h) = (linearise(&l, &at(0.3)).unwrap(), linearise(&h, &at(0.6)).unwrap());
    assert_matrix(&h.a, &[&[0.0, 0.5 * l.a[0][1]], &[2.0 * l.a[1][0], 0.0]]);
}

#[test]
fn a_constrained_particle_linearises_through_its_multiplier() {
    // x″ = −2 μ x…: compare with central differences of the exact acceleration of the rod x² + y² = 1.
    let mut m = lagrangian(&["x", "y"], &[("g", 9.81)], "(x'^2 + y'^2)/2 - g*y");
    let c = formula(&mut m, "x^2 + y^2 - 1");
    row(&mut m, "rod", RowKind::Holonomic, c);
    let mechanics = derive(m).unwrap();
    let base = [0.6, -0.8, 0.4, 0.3];
    // a = f − x (x·f + |v|²)/|x|², f = (0, −g)
    let exact = |s: [f64; 4]| {
        let k = (s[1] * -9.81 + s[2] * s[2] + s[3] * s[3]) / (s[0] * s[0] + s[1] * s[1]);
        [s[2], s[3], -s[0] * k, -9.81 - s[1] * k]
    };
    let at =
        StateValues { time: 0.0, position: base[..2].to_vec(), rate: base[2..].to_vec(), inputs: vec![] };
    let lin = linearise(&mechanics, &at).unwrap();
    let h = 1e-5;
    for j in 0..4 {
        let (mut up, mut down) = (base, base);
        up[j] += h;
        down[j] -= h;
        let (up, down) = (exact(up), exact(down));
        for i in 0..4 {
            let difference = (up[i] - down[i]) / (2.0 * h);
            assert!((lin.a[i][j] - difference).abs() < 1e-8, "{i} {j} {} {difference}", lin.a[i][j]);
        }
    }
}

#[test]
fn a_doubled_row_is_redundant_and_named_with_its_factor() {
    let mut m = lagrangian(&["x", "y"], &[], "(x'^2 + y'^2)/2");
    for (name, text) in [("rod", "x^2 + y^2 - 1"), ("again", "3*x^2 + 3*y^2 - 3")] {
        let c = formula(&mut m, text);
        row(&mut m, name, RowKind::Holonomic, c);
    }
    let mechanics = derive(m).unwrap();
    assert!(matches!(mechanics.dynamics, Dynamics::Lagrangian(_)));
    let at = StateValues { time: 0.0, position: vec![0.6, 0.8], rate: vec![0.0, 0.0], inputs: vec![] };
    for found in [redundancies(&mechanics, &at), mechanics.warnings.clone()] {
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].severity, Severity::Warning);
        assert!(found[0].message.contains("`again`") && found[0].message.contains("3·rod"), "{found:?}");
    }
}

#[test]
fn rows_that_cannot_hold_together_are_refused_by_name() {
    for (first, second) in [("x^2 + y^2 - 1", "x^2 + y^2 - 4"), ("x - t", "2*x - t")] {
        let mut m = lagrangian(&["x", "y"], &[], "(x'^2 + y'^2)/2");
        for (name, text) in [("inner", first), ("outer", second)] {
            let c = formula(&mut m, text);
            row(&mut m, name, RowKind::Holonomic, c);
        }
        let problems = derive(m).unwrap_err();
        assert!(problems[0].message.contains("`outer` contradicts"), "{problems:?}");
    }
}
