//! What a model file means, in examples: definitions, bodies, walls, start, options.

use carom_expr::Expr;
use carom_mech::{Action, ForceKind, Method, Model, Physics, Severity, load, schema};

fn model(text: &str) -> Model {
    match load(text, "test.toml") {
        Ok((model, _)) => model,
        Err(problems) => {
            panic!("{}", problems.iter().map(|p| p.render("test.toml")).collect::<Vec<_>>().join("\n"))
        }
    }
}

fn value(model: &Model, e: Expr, state: &[(&str, f64)]) -> f64 {
    model.dag.evaluate(e, |s| {
        let name = model.dag.symbol_name(s);
        let given = state.iter().find(|(n, _)| *n == name).map(|(_, x)| *x);
        given
            .or_else(|| model.parameters.iter().find(|p| p.name == name).map(|p| p.value))
            .unwrap_or_else(|| panic!("{name}"))
    })
}

fn lagrangian(model: &Model) -> Expr {
    match model.physics {
        Physics::Lagrangian(l) => l,
        _ => panic!("a Lagrangian was given"),
    }
}

#[test]
fn a_prime_is_the_total_time_derivative_through_coordinates_time_and_other_definitions() {
    let m = model(
        r#"
coordinates = ["q"]
lagrangian = "outer'"
[parameters]
w = 2.0
[define]
outer = "inner^2 + sin(w*t)"
inner = "q*t"
"#,
    );
    // d/dt (q²t² + sin 2t) = 2qt(q't + q) + 2 cos 2t
    let (q, v, t) = (0.7, -1.3, 0.4);
    let expected = 2.0 * q * t * (v * t + q) + 2.0 * (2.0_f64 * t).cos();
    let got = value(&m, lagrangian(&m), &[("q", q), ("q'", v), ("t", t)]);
    assert!((got - expected).abs() < 1e-14, "{got} {expected}");
}

#[test]
fn an_output_may_contain_accelerations_of_coordinates_and_definitions() {
    let m = model(
        r#"
coordinates = ["q"]
lagrangian = "q'^2/2"
[define]
x = "q^3"
[output]
a = "x''"
p = "p_q"
"#,
    );
    // (q³)″ = 6 q q'² + 3 q² q''
    let state = [("q", 2.0), ("q'", 3.0), ("q''", 5.0), ("p_q", 7.0)];
    assert_eq!(value(&m, m.outputs[0].expr, &state), 6.0 * 2.0 * 9.0 + 3.0 * 4.0 * 5.0);
    assert_eq!(value(&m, m.outputs[1].expr, &state), 7.0);
}

#[test]
fn a_planar_rigid_body_adds_its_energies() {
    let m = model(
        r#"
coordinates = ["x", "phi"]
gravity = [0.0, "-g"]
[parameters]
g = 9.0
m = 2.0
I = 3.0
[body.rod]
mass = "m"
at = ["x", "x^2"]
inertia = "I"
angle = "2*phi"
"#,
    );
    let Physics::Energies { kinetic, potential } = m.physics else { panic!() };
    let state = [("x", 0.5), ("x'", 2.0), ("phi", 1.0), ("phi'", 0.25)];
    // ½·2·(2² + (2·0.5·2)²) + ½·3·(2·0.25)²,  2·9·0.25
    assert_eq!(value(&m, kinetic, &state), 8.0 + 0.375);
    assert_eq!(value(&m, potential, &state), 4.5);
}

#[test]
fn a_rigid_body_in_space_turns_with_its_spin() {
    let m = model(
        r#"
coordinates = ["a", "b"]
[energy]
potential = "a"
[body.top]
mass = 1.0
at = ["0", "0", "a"]
inertia = [1.0, 2.0, 4.0]
spin = ["a'", "b'", "a' + b'"]
"#,
    );
    let Physics::Energies { kinetic, .. } = m.physics else { panic!() };
    let state = [("a", 0.0), ("a'", 3.0), ("b'", 5.0)];
    assert_eq!(value(&m, kinetic, &state), 0.5 * (9.0 + 9.0 + 2.0 * 25.0 + 4.0 * 64.0));
}

#[test]
fn driven_coordinates_know_their_rates() {
    let m = model(
        r#"
coordinates = ["x", "y"]
lagrangian = "(x'^2 + y'^2)/2"
[input]
s = "sin(3*t)"
[driven]
y = "t^2 + s"
"#,
    );
    let driven = m.coordinates[1].driven.unwrap();
    let t = 0.3_f64;
    let close = |e, expected: f64| {
        let got = value(&m, e, &[("t", t)]);
        assert!((got - expected).abs() < 1e-14 * expected.abs().max(1.0), "{got} {expected}");
    };
    close(driven.position, t * t + (3.0 * t).sin());
    close(driven.velocity, 2.0 * t + 3.0 * (3.0 * t).cos());
    close(driven.acceleration, 2.0 - 9.0 * (3.0 * t).sin());
}

#[test]
fn a_gap_with_corners_becomes_several_walls() {
    let m = model(
        r#"
coordinates = ["x", "y"]
lagrangian = "(x'^2 + y'^2)/2"
[wall.box]
gap = "min(1 - x, min(1 + x, 2 - abs(y)))"
restitution = 0.5
"#,
    );
    let names: Vec<&str> = m.walls.iter().map(|w| w.name.as_str()).collect();
    assert_eq!(names, ["box.1", "box.2", "box.3", "box.4"]);
    let mut gaps: Vec<f64> = m.walls.iter().map(|w| value(&m, w.gap, &[("x", 0.25), ("y", 0.5)])).collect();
    gaps.sort_by(f64::total_cmp);
    assert_eq!(gaps, [0.75, 1.25, 1.5, 2.5]);
}

#[test]
fn events_forces_and_settings_arrive_in_the_model() {
    let m = model(
        r#"
coordinates = ["x", "y"]
lagrangian = "(x'^2 + y'^2)/2"
[force.push]
at = ["x + a", "y"]
vector = ["j*t", 0.5]
[force.brake]
generalized = { y = "-b*y'" }
[event.flip]
when = "x"
direction = "rising"
set = { x = "-x", "x'" = "2*y'" }
[parameters]
a = 1
j = 2
b = 1
[run]
from = 1
until = "4*pi"
method = "rk4"
step = 1e-3
samples = 11
impact_order = "sequential"
[units]
x = "m"
"x'" = "m/s"
"#,
    );
    assert!(matches!(&m.forces[0].kind, ForceKind::Point { at, .. } if at.len() == 2));
    assert!(
        matches!(&m.forces[1].kind, ForceKind::Generalized(q) if m.dag.is_zero(q[0]) && !m.dag.is_zero(q[1]))
    );
    assert!(matches!(&m.events[0].action, Action::Set(list) if list[1].0 == m.coordinates[0].velocity));
    assert_eq!((m.start.time, m.run.until), (1.0, 4.0 * std::f64::consts::PI));
    assert_eq!(m.run.method, Method::Rk4 { step: 1e-3 });
    assert_eq!(m.run.samples, 11);
    assert_eq!(m.units[1], ("x'".to_owned(), "m/s".to_owned()));
}

#[test]
fn what_the_rows_determine_and_the_start_leaves_open_is_computed() {
    // A disk rolling along its heading: the rates of the contact point follow from its spin.
    let m = model(
        r#"
coordinates = ["x", "y", "theta", "phi"]
lagrangian = "(x'^2 + y'^2)/2 + theta'^2/4 + phi'^2/8"
[nonholonomic]
along = "x' - theta'*cos(phi)"
across = "y' - theta'*sin(phi)"
[start]
position = { phi = 0.5 }
velocity = { theta = 2.0 }
"#,
    );
    let close = |x: Option<f64>, y: f64| assert!((x.unwrap() - y).abs() < 1e-15, "{x:?} {y}");
    close(m.start.velocity[0], 2.0 * 0.5_f64.cos());
    close(m.start.velocity[1], 2.0 * 0.5_f64.sin());
    assert_eq!(m.start.velocity[3], None);
    // A slider on a line: its position follows too.
    let m = model(
        r#"
coordinates = ["a", "s"]
lagrangian = "(a'^2 + s'^2)/2"
[holonomic]
rod = "s - 2*cos(a) - 1"
[start]
position = { a = 0.25 }
velocity = { a = 1.0 }
"#,
    );
    close(m.start.position[1], 2.0 * 0.25_f64.cos() + 1.0);
    close(m.start.velocity[1], -2.0 * 0.25_f64.sin());
}

#[test]
fn a_residual_at_rounding_is_no_mistake_and_a_larger_one_is() {
    let text = |y: f64| {
        format!(
            "coordinates = [\"x\", \"y\"]\nlagrangian = \"(x'^2 + y'^2)/2\"\n[holonomic]\nrod = \"x^2 + y^2 - 1\"\n[start]\nposition = {{ x = 0.6, y = {y:?} }}\n"
        )
    };
    assert!(load(&text(0.8 + 1e-11), "rod.toml").is_ok());
    let problems = load(&text(0.8 + 1e-8), "rod.toml").unwrap_err();
    assert!(problems[0].message.contains("1.6e-8"), "{}", problems[0].message);
    let projected = text(0.7) + "project = true\n";
    assert!(load(&projected, "rod.toml").unwrap().0.start.project);
}

#[test]
fn a_gap_within_sixteen_units_of_rounding_counts_as_touching() {
    let text = |y: f64| {
        format!(
            "coordinates = [\"y\"]\nlagrangian = \"y'^2/2\"\n[wall.floor]\ngap = \"y - 1\"\n[start]\nposition = {{ y = {y:?} }}\n"
        )
    };
    assert!(load(&text(1.0 - 8.0 * f64::EPSILON), "floor.toml").is_ok());
    assert!(load(&text(1.0 - 64.0 * f64::EPSILON), "floor.toml").is_err());
}

#[test]
fn a_hamiltonian_model_starts_from_momenta_and_its_rows_use_them() {
    let text = |p: &str| {
        format!(
            "coordinates = [\"x\", \"y\"]\nmomenta = [\"px\", \"py\"]\nhamiltonian = \"px^2/4 + py^2/2\"\n[holonomic]\nline = \"x - y\"\n[start]\nmomentum = {{ {p} }}\n"
        )
    };
    // x' = px/2 = py = y'
    let m = model(&text("px = 3.0"));
    assert_eq!(m.start.momentum[1], Some(1.5));
    assert_eq!(m.coordinates[0].momentum_name, "px");
    assert!(load(&text("px = 3.0, py = 3.0"), "line.toml").is_err());
}

#[test]
fn a_table_is_read_beside_the_model_or_from_what_is_provided() {
    let text = "coordinates = [\"x\"]\nlagrangian = \"x'^2/2\"\n[input]\nu = { file = \"u.csv\", column = \"force\", time = \"t\" }\n[force.push]\ngeneralized = { x = \"u + u'\" }\n";
    let (mut draft, _) = carom_mech::Draft::parse(text, "push.toml");
    draft.provide_table("u.csv", "# measured\r\nforce; t\r\n1.5; 0\r\n\r\n2.5; 0.5\r\n");
    let (m, _) = draft.check().unwrap();
    assert_eq!(m.inputs[0].times, [0.0, 0.5]);
    assert_eq!(m.inputs[0].values, [1.5, 2.5]);
}

#[test]
fn options_replace_what_the_file_says() {
    let text = "coordinates = [\"a\"]\nlagrangian = \"m*a'^2/2\"\n[parameters]\nm = 1\nk = \"2*m\"\n[start]\nposition = { a = 1 }\n";
    let (mut draft, problems) = carom_mech::Draft::parse(text, "a.toml");
    assert!(problems.is_empty());
    assert!(draft.set_parameter("m=pi/2").is_empty());
    assert!(draft.set_start("a=0.25, a'=atan2(1, 1)").is_empty());
    assert!(draft.set_run("until", "3*k").is_empty());
    let (m, _) = draft.check().unwrap();
    use std::f64::consts::PI;
    assert_eq!(m.parameters[1].value, PI);
    assert_eq!(m.start.position[0], Some(0.25));
    assert_eq!(m.start.velocity[0], Some(PI / 4.0));
    assert_eq!(m.run.until, 3.0 * PI);
}

#[test]
fn warnings_leave_a_model() {
    let text = "coordinates = [\"x\"]\n[parameters]\ne = 0.5\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"e*x*x'\"\n";
    let (_, warnings) = load(text, "w.toml").unwrap();
    assert_eq!(warnings.len(), 2);
    assert!(warnings.iter().all(|w| w.severity == Severity::Warning));
}

#[test]
fn the_schema_lists_each_key_once_with_a_line_on_it() {
    let mut seen = std::collections::HashSet::new();
    for entry in schema::schema() {
        assert!(seen.insert((entry.table, entry.key)), "{entry:?}");
        assert!(!entry.shape.form().is_empty() && entry.meaning.len() > 3, "{entry:?}");
    }
}

#[test]
fn numbers_may_be_written_in_every_way_toml_allows() {
    let m = model(
        "coordinates = [\"x\"]\nlagrangian = \"x'^2/2\"\n[parameters]\na = 1_000.5\nb = 0x1F\nc = +5\nd = -0.25\nf = 1E3\ng = 0b101\nh = 1_0\nk = 0.1\nl = -7\n",
    );
    let values: Vec<f64> = m.parameters.iter().map(|p| p.value).collect();
    assert_eq!(values, [1000.5, 31.0, 5.0, -0.25, 1000.0, 5.0, 10.0, 0.1, -7.0]);
}

#[test]
fn a_lagrangian_may_have_a_dissipation_function_and_tables_may_be_written_out() {
    let m = model(
        r#"
coordinates = ["x"]
lagrangian = "x'^2/2"
[energy]
dissipation = "x'^2/4"
[start.position]
x = 1.5
[start]
velocity.x = 2
"#,
    );
    assert!(m.dissipation.is_some());
    assert_eq!((m.start.position[0], m.start.velocity[0]), (Some(1.5), Some(2.0)));
}

#[test]
fn a_formula_may_run_over_several_lines_and_use_greek_letters_and_typographic_primes() {
    let m = model("coordinates = [\"θ\"]\nlagrangian = \"\"\"\n  θ′^2/2\n  + cos(\\u03b8)\n\"\"\"\n");
    assert_eq!(value(&m, lagrangian(&m), &[("θ", 0.0), ("θ'", 2.0)]), 3.0);
}
