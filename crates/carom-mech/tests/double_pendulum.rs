//! The model file of the book's first page becomes a model.

use carom_mech::{Physics, load};

const TEXT: &str = r#"
name        = "Double pendulum against a wall"
coordinates = ["theta1", "theta2"]        # order is part of the model

[parameters]                              # numbers, or formulas of other parameters and constants
m1 = 1.0
m2 = 1.0
l1 = 1.0
l2 = 1.0
g  = 9.81
x_wall = "-l1/2"

[define]                                  # named formulas, any order
x1 = "l1*sin(theta1)"
y1 = "-l1*cos(theta1)"
x2 = "x1 + l2*sin(theta2)"
y2 = "y1 - l2*cos(theta2)"

[energy]
kinetic     = "m1/2*(x1'^2 + y1'^2) + m2/2*(x2'^2 + y2'^2)"
potential   = "m1*g*y1 + m2*g*y2"

[wall.left]
gap = "x2 - x_wall"

[start]
position = { theta1 = "3*pi/7", theta2 = "3*pi/4" }
velocity = { theta1 = 0.0 }

[run]
until = 10.0
"#;

#[test]
fn the_double_pendulum_against_a_wall_becomes_a_model() {
    let (model, warnings) = load(TEXT, "double.toml").unwrap_or_else(|problems| {
        panic!("{}", problems.iter().map(|p| p.render("double.toml")).collect::<Vec<_>>().join("\n"))
    });
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!(model.name, "Double pendulum against a wall");
    assert_eq!(model.parameters[5].value, -0.5);
    assert_eq!(model.walls.len(), 1);
    assert_eq!(
        model.start.position,
        [Some(3.0 * std::f64::consts::PI / 7.0), Some(3.0 * std::f64::consts::PI / 4.0)]
    );
    assert_eq!(model.start.velocity, [Some(0.0), None]);
    // T at a state, against the textbook form of the kinetic energy.
    let Physics::Energies { kinetic, .. } = model.physics else { panic!("energies were given") };
    let (a, b, va, vb) = (0.3_f64, -1.1_f64, 0.7, 1.9);
    let state = [("theta1", a), ("theta2", b), ("theta1'", va), ("theta2'", vb)];
    let value = model.dag.evaluate(kinetic, |s| {
        let name = model.dag.symbol_name(s);
        match state.iter().find(|(n, _)| *n == name) {
            Some((_, x)) => *x,
            None => model.parameters.iter().find(|p| p.name == name).unwrap().value,
        }
    });
    let textbook = va * va + 0.5 * vb * vb + va * vb * (a - b).cos();
    assert!((value - textbook).abs() < 1e-14 * textbook.abs() * 8.0, "{value} {textbook}");
}
