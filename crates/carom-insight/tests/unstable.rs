//! Orbits that one segment cannot hold, orbits on constraint rows, orbits with momenta of their own.

mod common;

use carom_insight::{Request, Return, follow};
use common::{forced_orbit, gallery, section_orbit};

#[test]
fn an_orbit_on_a_steep_hill_has_both_exponentials_as_multipliers() {
    // x″ = k² x + F cos ωt: x = −F cos ωt/(k² + ω²), multipliers e^{±kT}.
    for k in [4.0_f64, 6.0] {
        let text = format!(
            "coordinates = [\"x\"]\n[parameters]\nk = {k}\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"-k^2*x^2/2\"\n\
             [force.drive]\ngeneralized = {{ x = \"cos(t)\" }}\n[start]\nposition = {{ x = 0 }}\n"
        );
        let orbit = forced_orbit(&text, &[], "", "2*pi", false).unwrap_or_else(|r| panic!("{r}"));
        let expected = (2.0 * std::f64::consts::PI * k).exp();
        assert!((orbit.state[0].1 + 1.0 / (k * k + 1.0)).abs() < 1e-12, "{:?}", orbit.state);
        assert!(orbit.state[1].1.abs() < 1e-12, "{:?}", orbit.state);
        assert!(
            (orbit.multipliers[0][0] / expected - 1.0).abs() < 1e-10,
            "{:?} {expected}",
            orbit.multipliers
        );
        assert!(
            (orbit.multipliers[1][0] * expected - 1.0).abs() < 1e-9,
            "{:?} {expected}",
            orbit.multipliers
        );
        assert!(!orbit.stable && orbit.residual < 1e-12);
    }
}

#[test]
fn a_flat_ellipse_has_the_multipliers_of_the_two_bounce_formula() {
    // b = 0.03: multipliers 2 · 10⁷ and its inverse.
    for b in [0.1_f64, 0.03] {
        let orbit = common::ask(
            &gallery("elliptic_billiard"),
            &[&format!("b={b}")],
            "x=0.1,y=0,x'=1,y'=0",
            |subject| {
                let mut request = Request::new(Return::section(subject.mechanics, "rim").unwrap());
                request.count = 2;
                carom_insight::orbit(subject, &request).unwrap_or_else(|r| panic!("{r}"))
            },
        );
        let trace = 4.0 * (1.0 - 2.0 / (b * b)).powi(2) - 2.0;
        let large = (trace + (trace * trace - 4.0).sqrt()) / 2.0;
        assert!(
            (orbit.multipliers[0][0] / large - 1.0).abs() < 1e-10,
            "b = {b}: {:?} {large}",
            orbit.multipliers
        );
        // One segment up to ‖Φ‖ = 10⁶: the small multiplier is what rounding of the large one leaves.
        let rounding = if large < 1e6 { 16.0 * f64::EPSILON * large * large } else { 1e-8 };
        assert!(
            (orbit.multipliers[1][0] * large - 1.0).abs() < rounding,
            "b = {b}: {:?} {large}",
            orbit.multipliers
        );
        assert!((orbit.period - 4.0).abs() < 1e-12);
    }
}

const ANGLE: &str = "coordinates = [\"theta\"]\n[parameters]\nl = 1.2\ng = 9.81\nc = 0.3\nF = 6.0\nomega = 3.5\ne_n = 0.7\n\
    [energy]\nkinetic = \"l^2*theta'^2/2\"\npotential = \"-g*l*cos(theta)\"\ndissipation = \"c*l^2*theta'^2/2\"\n\
    [force.push]\ngeneralized = { theta = \"F*cos(omega*t)*l*cos(theta)\" }\n\
    [wall.left]\ngap = \"0.4 + l*sin(theta)\"\nrestitution = \"e_n\"\n[start]\nposition = { theta = 0.2 }\n[run]\nuntil = 20\n";
const ROD: &str = "coordinates = [\"x\", \"y\"]\n[parameters]\nl = 1.2\ng = 9.81\nc = 0.3\nF = 6.0\nomega = 3.5\ne_n = 0.7\n\
    [energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"g*y\"\ndissipation = \"c*(x'^2 + y'^2)/2\"\n\
    [force.push]\ngeneralized = { x = \"F*cos(omega*t)\" }\n[holonomic]\nrod = \"x^2 + y^2 - l^2\"\n\
    [wall.left]\ngap = \"0.4 + x\"\nrestitution = \"e_n\"\n[start]\nposition = { x = \"l*sin(0.2)\", y = \"-l*cos(0.2)\" }\n[run]\nuntil = 20\n";

#[test]
fn a_pendulum_on_a_rod_has_the_orbit_and_multipliers_of_its_angle() {
    let angle = forced_orbit(ANGLE, &[], "", "2*pi/omega", true).unwrap_or_else(|r| panic!("{r}"));
    let rod = forced_orbit(ROD, &[], "", "2*pi/omega", true).unwrap_or_else(|r| panic!("{r}"));
    assert!(!angle.impacts.is_empty());
    assert_eq!(angle.impacts, rod.impacts);
    assert_eq!((angle.multipliers.len(), rod.multipliers.len()), (2, 2));
    for (a, b) in angle.multipliers.iter().zip(&rod.multipliers) {
        assert!((a[0] - b[0]).hypot(a[1] - b[1]) < 1e-10, "{:?} {:?}", angle.multipliers, rod.multipliers);
    }
    let theta = angle.state[0].1;
    assert!((rod.state[0].1 - 1.2 * theta.sin()).abs() < 1e-11, "{:?} {theta}", rod.state);
    assert!((rod.state[1].1 + 1.2 * theta.cos()).abs() < 1e-11);
    assert_eq!(angle.stable, rod.stable);
}

#[test]
fn a_free_swing_on_a_rod_has_the_period_of_the_elliptic_integral() {
    let text = ROD
        .replace("F = 6.0", "F = 0.0")
        .replace("c = 0.3", "c = 0.0")
        .replace("[wall.left]", "[event.middle]\nwhen = \"x\"\ndirection = \"rising\"\n[wall.left]")
        .replace("0.4 + x", "2 + x");
    let text = text
        .replace("[force.push]\ngeneralized = { x = \"F*cos(omega*t)\" }\n", "")
        .replace("dissipation = \"c*(x'^2 + y'^2)/2\"\n", "");
    let orbit = section_orbit(&text, &[], "", "middle", false).unwrap_or_else(|r| panic!("{r}"));
    // T = 4 √(l/g) K(sin θ₀/2) = 2π √(l/g)/agm(1, cos θ₀/2)
    let (mut a, mut b) = (1.0_f64, 0.1_f64.cos());
    for _ in 0..8 {
        (a, b) = ((a + b) / 2.0, (a * b).sqrt());
    }
    let expected = 2.0 * std::f64::consts::PI * (1.2_f64 / 9.81).sqrt() / a;
    assert!((orbit.period / expected - 1.0).abs() < 1e-12, "{} {expected}", orbit.period);
    assert_eq!(orbit.invariants, ["energy"]);
    assert!(orbit.multipliers.is_empty() && orbit.stable);
}

#[test]
fn a_triangle_in_a_circle_closes_whatever_way_it_is_turned() {
    // The angular momentum is conserved, so orbits come in families turned about the middle. An equilateral triangle has sides √3 R
    // and lies R/2 from the middle.
    let start = "x=0.1,y=-0.52,x'=1,y'=0.02";
    let orbit = common::ask(&gallery("circular_billiard"), &["g=0"], start, |subject| {
        let mut request = Request::new(Return::section(subject.mechanics, "rim").unwrap());
        request.count = 3;
        carom_insight::orbit(subject, &request).unwrap_or_else(|r| panic!("{r}; {}", r.hint))
    });
    let speed = 1.0_f64.hypot(0.02);
    assert!((orbit.period * speed - 3.0 * 3.0_f64.sqrt()).abs() < 1e-10, "{}", orbit.period * speed);
    let value = |name: &str| orbit.state.iter().find(|s| s.0 == name).unwrap().1;
    let momentum = value("x") * value("y'") - value("y") * value("x'");
    assert!((momentum.abs() / speed - 0.5).abs() < 1e-10, "{momentum}");
    assert!(orbit.multipliers.is_empty() && orbit.stable, "{:?}", orbit.multipliers);
    assert_eq!(orbit.invariants, ["energy"]);
}

#[test]
fn a_branch_is_cut_into_more_segments_as_its_orbits_become_more_unstable() {
    // The hill becomes steeper: multipliers e^{±2πk} from 5·10² to 2·10¹⁶, 10¹¹ where one segment would lose them.
    let text = "coordinates = [\"x\"]\n[parameters]\nk = 1.0\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"-k^2*x^2/2\"\n\
        [force.drive]\ngeneralized = { x = \"cos(t)\" }\n[start]\nposition = { x = 0 }\n";
    let found = common::ask(text, &[], "", |subject| {
        let request = Request::new(Return::period(subject.mechanics, "2*pi").unwrap());
        follow(subject, &request, "k", [1.0, 6.0], false).unwrap_or_else(|r| panic!("{r}"))
    });
    assert!(found.special.is_empty(), "{:?}", found.special);
    assert_eq!(found.points.last().unwrap().value, 6.0);
    for point in &found.points {
        let (k, orbit) = (point.value, &point.orbit);
        let expected = (2.0 * std::f64::consts::PI * k).exp();
        assert!((orbit.state[0].1 + 1.0 / (k * k + 1.0)).abs() < 1e-11, "k = {k}: {:?}", orbit.state);
        assert!((orbit.multipliers[0][0] / expected - 1.0).abs() < 1e-9, "k = {k}: {:?}", orbit.multipliers);
        // Every segment up to ‖Φ_i‖ = 10⁶: of the small one rounding of the large one is left.
        let rounding = 16.0 * f64::EPSILON * 1e12;
        assert!(
            (orbit.multipliers[1][0] * expected - 1.0).abs() < rounding,
            "k = {k}: {:?}",
            orbit.multipliers
        );
    }
}

#[test]
fn a_branch_in_segments_keeps_its_impacts_as_it_goes_on() {
    // The long axis of an ellipse gone to and fro four times: multipliers μ⁴, from 10³ to beyond 10⁸, with impacts between the segments.
    let found =
        common::ask(&gallery("elliptic_billiard"), &["b=0.9"], "x=0.1,y=0.0001,x'=1,y'=0.00005", |subject| {
            let mut request = Request::new(Return::section(subject.mechanics, "rim").unwrap());
            request.count = 8;
            follow(subject, &request, "b", [0.9, 0.5], false).unwrap_or_else(|r| panic!("{r}"))
        });
    assert!(found.points.last().unwrap().value == 0.5, "{:?}", found.special);
    for point in &found.points {
        let (b, orbit) = (point.value, &point.orbit);
        let trace = 4.0 * (1.0 - 2.0 / (b * b)).powi(2) - 2.0;
        let large = ((trace + (trace * trace - 4.0).sqrt()) / 2.0).powi(4);
        assert_eq!(orbit.impacts.len(), 8);
        assert!(
            (orbit.multipliers[0][0] / large - 1.0).abs() < 1e-8,
            "b = {b}: {:?} {large}",
            orbit.multipliers
        );
    }
}
