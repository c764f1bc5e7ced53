//! Units that are checked: what fits passes, what does not is told at its place, and stored values are coherent.

use carom_mech::{Diagnostic, Draft, Model, load};

#[path = "../../../tests/gallery.rs"]
mod gallery;

/// A pendulum on a spring, with walls, forces and events: everything that can carry a unit.
const SPRING: &str = r#"
coordinates = ["x", "theta"]
gravity     = [0.0, "-g"]
[parameters]
m = "2 kg"
g = "9.81 m/s^2"
k = "50 N/m"
l = "30 cm"
b = "0.1 N s/m"
F = "2 N"
omega = "30 rpm"
I = "1 g m^2"
[define]
px = "(l + x)*sin(theta)"
py = "-(l + x)*cos(theta)"
[energy]
potential = "k/2*x^2"
dissipation = "b/2*x'^2"
[body.bob]
mass = "m"
at = ["px", "py"]
inertia = "I"
angle = "theta"
[force.push]
at = ["px", "py"]
vector = ["F*sin(omega*t)", "0"]
[force.motor]
generalized = { theta = "-F*l*tanh(theta)" }
[wall.left]
gap = "px + l/2"
restitution = 0.5
[event.apex]
when = "theta'"
action = "set"
set = { "x'" = "-x'" }
[output]
speed = "sqrt(px'^2 + py'^2)"
work = "F*px"
[start]
position = { theta = "20 deg", x = "5 mm" }
velocity = { x = "10 cm/s" }
[units]
x = "m"
speed = "km/h"
theta = "deg"
[run]
until = "2000 ms"
"#;

fn good(text: &str) -> (Model, Vec<Diagnostic>) {
    load(text, "m.toml").unwrap_or_else(|problems| panic!("{}", rendered(&problems)))
}

fn rendered(problems: &[Diagnostic]) -> String {
    problems.iter().map(|p| p.render("m.toml") + "\n").collect()
}

/// The errors of a text, as (line of source, characters under the carets, message, hint).
fn wrong(text: &str) -> Vec<(String, String, String)> {
    let problems = load(text, "m.toml").expect_err("this should be refused");
    let errors = problems.iter().filter(|p| p.is_error());
    errors
        .map(|p| {
            let place = p.place.as_ref().expect("a place");
            let marked = place.source_line.chars().skip(place.column - 1).take(place.length).collect();
            (marked, p.message.clone(), p.hint.clone().expect("a way out"))
        })
        .collect()
}

#[test]
fn values_with_units_are_stored_in_coherent_ones() {
    let (m, warnings) = good(SPRING);
    assert!(warnings.is_empty(), "{}", rendered(&warnings));
    let value = |name: &str| m.parameters.iter().find(|p| p.name == name).unwrap().value;
    assert_eq!(value("l"), 0.3);
    assert_eq!(value("omega"), std::f64::consts::PI);
    assert_eq!(value("I"), 0.001);
    assert_eq!(m.start.position, [Some(0.005), Some(std::f64::consts::PI / 9.0)]);
    assert_eq!(m.start.velocity[0], Some(0.1));
    assert_eq!(m.run.until, 2.0);
}

#[test]
fn units_that_follow_are_known_by_the_names_of_signals() {
    let (m, _) = good(SPRING);
    let unit = |name: &str| m.shown_unit(name).map(|s| s.label);
    for (name, label) in [
        ("x", "m"),
        ("x'", "m/s"),
        ("theta", "deg"),
        ("theta'", "deg/s"),
        ("p_x", "kg m/s"),
        ("p_theta", "kg m²/s"),
        ("energy", "J"),
        ("gap.left", "m"),
        ("f.left", "N"),
        ("impulse.left", "kg m/s"),
        ("speed", "km/h"),
        ("work", "kg m²/s²"),
        ("px", "m"),
        ("t", "s"),
    ] {
        assert_eq!(unit(name).as_deref(), Some(label), "{name}");
    }
    assert!((m.shown_unit("speed").unwrap().factor - 1.0 / 3.6).abs() < 1e-15);
}

#[test]
fn every_mistake_in_a_formula_is_told_at_its_place() {
    for (from, to, marked, message, hint) in [
        ("k/2*x^2\"", "k/2*x^2 + F\"", "F", "adds kg m²/s² and N", "the second lacks a factor in m"),
        ("k/2*x^2\"", "k/2*x\"", "\"m\"", "the mass of `bob`", ""),
        ("(l + x)*sin", "(l + x^2)*sin", "x^2", "adds m and m²", "the first lacks a factor in m"),
        ("(l + x)*sin", "(l + 1)*sin", "1", "adds m and a number", "a = \"1 m\""),
        ("(l + x)*sin", "(l - g)*sin", "g", "subtracts m/s² from m", "the second lacks a factor in s²"),
        ("sin(omega*t)", "sin(t)", "t", "`sin` takes an angle or a number, not s", "goes away"),
        ("tanh(theta)", "tanh(x)", "x", "`tanh` takes a number, not m", ""),
        (
            "b/2*x'^2",
            "b/2*x*x'",
            "\"b/2*x*x'\"",
            "the dissipation function is in kg m²/s², but should be in kg m²/s³",
            "power",
        ),
        (
            "-F*l*tanh",
            "-F*tanh",
            "\"-F*tanh(theta)\"",
            "the force on `theta` is in N, but should be in kg m²/s²",
            "energy",
        ),
        (
            "[\"F*sin",
            "[\"k*sin",
            "\"k*sin(omega*t)\"",
            "the force `push` is in kg/s², but should be in N",
            "energy",
        ),
        ("gap = \"px + l/2\"", "gap = \"px + g/2\"", "g/2", "adds m and m/s²", ""),
        ("\"-x'\"", "\"-x\"", "\"-x\"", "the new value of `x'` is in m, but should be in m/s", "unit"),
        (
            "restitution = 0.5",
            "restitution = \"l\"",
            "\"l\"",
            "the restitution is in m, but should be a number without unit",
            "0 and 1",
        ),
        ("x = \"5 mm\"", "x = \"5 s\"", "\"5 s\"", "the start of `x` is in s, but should be in m", ""),
        ("x = \"5 mm\"", "x = \"F\"", "\"F\"", "the start of `x` is in N, but should be in m", ""),
        ("\"10 cm/s\"", "\"10 cm\"", "\"10 cm\"", "the start of `x'` is in m, but should be in m/s", ""),
        ("\"2000 ms\"", "\"2000 mm\"", "\"2000 mm\"", "`until` is in m, but should be in s", "time"),
        (
            "speed = \"km/h\"",
            "speed = \"N\"",
            "\"sqrt(px'^2 + py'^2)\"",
            "the output `speed` is in m/s, but should be in N",
            "stated",
        ),
        ("F*px", "F*px^l", "l", "the exponent is in m", "number"),
        ("F*px", "F*px^theta", "px", "what is raised to a power is in m", "divide"),
        ("F*px", "min(F, px)", "px", "`min` compares N and m", "same unit"),
        ("F*px", "atan2(px, t)", "t", "`atan2` divides m and s", "same unit"),
        ("F*px", "max(px, 1)", "1", "`max` compares m and a number", "a = \"1 m\""),
        (
            "inertia = \"I\"",
            "inertia = \"m\"",
            "\"m\"",
            "the inertia of `bob` is in kg, but should be in kg m²",
            "kinetic",
        ),
        (
            "[0.0, \"-g\"]",
            "[0.0, \"-F\"]",
            "\"-F\"",
            "gravity is in N, but should be in m/s²",
            "acceleration",
        ),
        ("mass = \"m\"", "mass = \"m*g\"", "\"m*g\"", "the mass of `bob` is in N, but should be in kg", ""),
    ] {
        assert!(SPRING.contains(from), "{from}");
        let found = wrong(&SPRING.replacen(from, to, 1));
        let fits =
            |(m, e, h): &(String, String, String)| m == marked && e.contains(message) && h.contains(hint);
        assert!(found.iter().any(fits), "{to}: {found:#?}");
    }
}

#[test]
fn unknown_units_are_errors_with_a_suggestion_everywhere() {
    for (from, to, message, hint) in [
        ("speed = \"km/h\"", "speed = \"furlong\"", "unknown unit `furlong`", "write 201.168 m"),
        ("speed = \"km/h\"", "speed = \"m/sec\"", "unknown unit `sec`", "write s"),
        ("\"30 cm\"", "\"30 centimeters\"", "unknown unit `centimeters`", "write cm"),
        ("\"2 N\"", "\"2 Newton\"", "unknown unit `Newton`", "write N"),
        ("\"2000 ms\"", "\"2000 msec\"", "unknown unit `msec`", "write ms"),
        ("\"20 deg\"", "\"20 degr\"", "unknown unit `degr`", "did you mean `deg`?"),
        ("speed = \"km/h\"", "sped = \"km/h\"", "unknown name `sped`", "did you mean `speed`?"),
    ] {
        assert!(SPRING.contains(from), "{from}");
        let found = wrong(&SPRING.replacen(from, to, 1));
        assert!(found.iter().any(|(_, m, h)| m == message && h == hint), "{to}: {found:#?}");
    }
}

#[test]
fn a_unit_inside_a_formula_is_refused_with_a_way_out() {
    let found = wrong(&SPRING.replacen("px + l/2", "px + 15 cm", 1));
    assert_eq!(found[0].0, "15 cm");
    assert!(found[0].2.contains("a unit cannot stand inside a formula"), "{found:?}");
    // Where names may stand, a unit that is also a name is not guessed.
    let found = wrong(&SPRING.replacen("potential = \"k/2*x^2\"", "potential = \"2 m\"", 1));
    assert!(found[0].2.contains("2*m"), "{found:?}");
}

#[test]
fn names_without_a_stated_unit_take_any_that_fits() {
    let text = |k: &str, units: &str| {
        format!(
            "coordinates = [\"x\"]\n[parameters]\nm = 1\nk = {k}\nc = 3\n[energy]\nkinetic = \"m/2*x'^2\"\npotential = \"k/2*x^2 + c*x\"\n[units]\n{units}"
        )
    };
    let (m, _) = good(&text("1", "x = \"m\"\nm = \"kg\""));
    let unit = |name: &str| m.shown_unit(name).map(|s| s.label);
    assert_eq!(unit("k").as_deref(), Some("kg/s²"));
    assert_eq!(unit("c").as_deref(), Some("N"));
    // Two unknowns remain: no error, nothing known of them.
    let (m, _) = good(&text("1", "x = \"m\""));
    assert_eq!(m.shown_unit("k"), None);
    // The same name cannot be two things: the second use is refused, and says why.
    let both = text("1", "x = \"m\"\nm = \"kg\"").replace("c*x\"", "k*x\"");
    let found = wrong(&both);
    assert_eq!(found[0].1, "adds [k] m² and [k] m");
}

#[test]
fn time_is_in_seconds_unless_only_another_time_lets_the_formulas_fit() {
    let text = |more: &str| {
        format!(
            "coordinates = [\"x\"]\n[parameters]\nm = 1\nF = 1\n[energy]\nkinetic = \"m/2*x'^2\"\n[force.f]\ngeneralized = {{ x = \"F*sin(3*t)\" }}\n[units]\nx = \"m\"\n{more}"
        )
    };
    good(&text(""));
    let found = wrong(&text("t = \"s\""));
    assert_eq!(
        (found[0].0.as_str(), found[0].1.as_str()),
        ("3*t", "`sin` takes an angle or a number, not s")
    );
    good(&text("t = \"1\"\n\"x'\" = \"m\""));
    let found = wrong(&text("t = \"s\"\n\"x'\" = \"m\""));
    assert!(
        found.iter().any(|(m, e, _)| m == "\"x'\"" && e == "`x'` is in m, but should be in m/s"),
        "{found:?}"
    );
}

#[test]
fn an_angle_is_a_number_and_deg_changes_only_what_is_shown() {
    let text = |units: &str| {
        format!(
            "coordinates = [\"theta\"]\nlagrangian = \"theta'^2/2 + cos(theta) + theta\"\n[start]\nposition = {{ theta = \"pi/3\" }}\n{units}"
        )
    };
    let (plain, _) = good(&text(""));
    let (rad, _) = good(&text("[units]\ntheta = \"rad\""));
    let (deg, warnings) = good(&text("[units]\ntheta = \"deg\""));
    assert!(warnings.is_empty());
    assert_eq!(plain.start.position, deg.start.position);
    assert_eq!(rad.start.position, deg.start.position);
    assert_eq!(deg.shown_unit("theta").unwrap().label, "deg");
    // A bare number in a place that is shown in degrees is probably a mistake, and still the stored number.
    let (m, warnings) = good(&text("[units]\ntheta = \"deg\"").replace("\"pi/3\"", "60"));
    assert_eq!(m.start.position, [Some(60.0)]);
    assert_eq!(warnings[0].message, "`theta` is stated in deg, but 60 has no unit and counts as rad");
    assert_eq!(warnings[0].hint.as_deref(), Some("write \"60 deg\" or \"60 rad\""));
}

#[test]
fn options_carry_units_too() {
    let (mut draft, _) = Draft::parse(SPRING, "m.toml");
    assert!(draft.set_parameter("l=12 in, k=1 lbf/in").is_empty());
    assert!(draft.set_start("theta=90 deg, x'=1 ft/s").is_empty());
    assert!(draft.set_run("until", "1 min").is_empty());
    let (m, _) = draft.check().unwrap_or_else(|p| panic!("{}", rendered(&p)));
    assert_eq!(m.parameters[3].value, 0.3048);
    assert_eq!(m.start.position[1], Some(std::f64::consts::FRAC_PI_2));
    assert_eq!(m.run.until, 60.0);
    for (set, message) in
        [("l=12 s", "the value of `l` is in s, but should be in"), ("l=12 furlong", "unknown unit `furlong`")]
    {
        let mut draft = draft.clone();
        assert!(draft.set_parameter(set).is_empty());
        // l has no stated unit of its own: the sum with x decides.
        let errors = draft.check().unwrap_err();
        let told = errors.iter().any(|e| e.message.contains(message) || e.message.contains("adds s and m"));
        assert!(told, "{set}: {}", rendered(&errors));
    }
    // A model that states nothing takes units all the same, and times stay times.
    let (mut plain, _) = Draft::parse(
        "coordinates = [\"x\"]\nlagrangian = \"m*x'^2/2 - sin(3*t)*x\"\n[parameters]\nm = 1",
        "m.toml",
    );
    assert!(plain.set_parameter("m=500 g").is_empty());
    assert_eq!(plain.check().unwrap().0.parameters[0].value, 0.5);
    assert!(plain.set_run("until", "3 m").is_empty());
    assert_eq!(plain.check().unwrap_err()[0].message, "`until` is a time, not in m");
}

#[test]
fn two_metres_beside_a_mass_called_m_are_metres_and_said_to_be() {
    let text = "coordinates = [\"x\"]\nlagrangian = \"m*x'^2/2 - m2*x\"\n[parameters]\nm = 1\nm2 = \"2 m\"";
    let (model, warnings) = good(text);
    assert_eq!(model.parameters[1].value, 2.0);
    assert_eq!(warnings[0].message, "`2 m` is read as a unit here, not as the parameter `m`");
    assert!(warnings[0].hint.as_deref().unwrap().contains("2*m"));
}

#[test]
fn exponents_may_be_parameters_and_roots_halve() {
    let text = |n: &str| {
        format!(
            "coordinates = [\"x\"]\n[parameters]\nm = \"1 kg\"\nn = {n}\nk = \"1 J/m^3\"\n[energy]\nkinetic = \"m/2*x'^2\"\npotential = \"k*x^n\"\n[output]\nroot = \"sqrt(x^2*x)\"\n[units]\nx = \"m\"\nroot = \"m^(3/2)\""
        )
    };
    good(&text("3"));
    assert_eq!(wrong(&text("2"))[0].1, "the potential energy is in N, but should be in kg m²/s²");
}

#[test]
fn the_gallery_in_full_units_still_means_the_same() {
    // Units for the names that say what they are: every stated unit must fit the physics of the model.
    for (file, units) in [
        ("double_pendulum_wall", "m1=kg m2=kg l1=m l2=m g=m/s^2 x_wall=m"),
        ("elastic_pendulum", "m=kg g=m/s^2 K=N/m L0=m"),
        ("cart_double_pendulum", ""),
        ("slider_crank", ""),
        ("newtons_cradle", "m=kg l=m g=m/s^2"),
        ("ball_on_incline", "m=kg g=m/s^2 alpha=deg e_n=1"),
        ("vibrating_table", "g=m/s^2"),
        ("spherical_pendulum", "m=kg l=m g=m/s^2"),
        ("spinning_top", "m=kg g=m/s^2 l=m"),
        ("jack_in_box", ""),
    ] {
        let text = gallery::text(file);
        let (plain, _) = good(&text);
        let mut stated = String::from("[units]\n");
        for pair in units.split_whitespace() {
            let (name, unit) = pair.split_once('=').unwrap();
            assert!(plain.parameters.iter().any(|p| p.name == name), "{file} has no {name}");
            stated += &format!("{name} = \"{unit}\"\n");
        }
        let (with, problems) = good(&text.replacen("[units]\n", &stated, 1));
        assert!(problems.iter().all(|p| !p.is_error()), "{file}");
        // Bit for bit the same model.
        assert_eq!(format!("{:?}", plain.start), format!("{:?}", with.start), "{file}");
        assert_eq!(format!("{:?}", plain.dag), format!("{:?}", with.dag), "{file}");
        if units.contains("=kg") {
            assert_eq!(with.shown_unit("energy").map(|s| s.label).as_deref(), Some("J"), "{file}");
        }
    }
}

#[test]
fn a_wrong_exponent_anywhere_in_the_gallery_is_found_where_units_are_known() {
    let text = gallery::text("double_pendulum_wall");
    let units = "[units]\nm1 = \"kg\"\nm2 = \"kg\"\nl1 = \"m\"\nl2 = \"m\"\ng = \"m/s^2\"\n";
    let text = text.replacen("[units]\n", units, 1);
    good(&text);
    // Each square becomes a cube, one at a time.
    let squares: Vec<usize> =
        text.match_indices("^2").map(|(i, _)| i).filter(|&i| !text[i..].starts_with("^2\"")).collect();
    assert!(squares.len() >= 4);
    for at in squares {
        let mut changed = text.clone();
        changed.replace_range(at..at + 2, "^3");
        assert!(load(&changed, "m.toml").is_err(), "{}", &text[at.saturating_sub(30)..at + 2]);
    }
}
