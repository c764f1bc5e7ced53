//! Models that lose nothing, forced ones too: multipliers on the unit circle are there for good, and no torus is shed.

mod common;

use carom_insight::eigen::modulus;
use carom_insight::{Request, Return, SpecialKind, follow};
use common::{ask, forced_orbit, gallery};
use std::f64::consts::PI;

/// One impact per period of x'' + x = F cos(ωt + 1) at a wall at 1 with e = 1: the state at t = 0 and the trace of Φ, from THEORY §7
/// with ζ = 0. After the impact x = G cos(ωt + 1) + a cos s + b sin s.
fn closed(force: f64, omega: f64, harder: bool) -> ([f64; 2], f64) {
    let t = 2.0 * PI / omega;
    let (s, c) = t.sin_cos();
    let r = (1.0 - c) / s;
    let bend = r * c - s;
    let k = (bend - r) / 2.0;
    let rho = k - bend;
    let gain = force / (1.0 - omega * omega);
    let q = 1.0 + (rho / omega).powi(2);
    let root = (1.0 - q * (1.0 - gain * gain)).sqrt();
    let a = if harder { (1.0 + root) / q } else { (1.0 - root) / q };
    // gain cos φ = 1 − a, −gain ω sin φ = a ρ at the impact.
    let phase = (-a * rho / (gain * omega)).atan2((1.0 - a) / gain);
    let (v_before, v_after) = (k * a, -k * a);
    let b = v_after - a * rho;
    let (sin, cos) = ((1.0 - phase).rem_euclid(2.0 * PI) / omega).sin_cos();
    let (here, slope) = (gain * 1.0_f64.cos(), -gain * omega * 1.0_f64.sin());
    let state = [here + a * cos + b * sin, slope - a * sin + b * cos];
    // Φ = e^{A T} Ξ,  Ξ = [[−1, 0], [(a⁺ + a⁻)/v⁻, −1]]; the acceleration is the same on both sides.
    let acceleration = force * phase.cos() - 1.0;
    let trace = -2.0 * c + s * 2.0 * acceleration / v_before;
    (state, trace)
}

#[test]
fn a_forced_elastic_oscillator_has_multipliers_in_pairs_and_sheds_no_torus() {
    let set = ["zeta=0", "e_n=1", "omega=1.6"];
    let text = gallery("impact_oscillator").replace("cos(omega*t)", "cos(omega*t + 1)");
    let (mut elliptic, mut hyperbolic) = (0, 0);
    for (force, harder) in [(1.0, true), (1.3, true), (1.4, true), (1.0, false)] {
        let (state, trace) = closed(force, 1.6, harder);
        let start = format!("x={},x'={}", state[0], state[1]);
        let set = [set[0], set[1], set[2], &format!("F={force}")];
        let found = forced_orbit(&text, &set, &start, "2*pi/omega", false).unwrap_or_else(|r| panic!("{r}"));
        assert!(
            (found.state[0].1 - state[0]).abs() + (found.state[1].1 - state[1]).abs() < 1e-10,
            "{found:?}"
        );
        let sum: f64 = found.multipliers.iter().map(|z| z[0]).sum();
        assert!((sum - trace).abs() < 1e-9, "{sum} {trace}");
        // Beside the circle by rounding, or off it for good.
        assert_eq!(found.stable, trace.abs() < 2.0, "{found:?}");
        if trace.abs() < 2.0 {
            elliptic += 1;
            assert!(found.multipliers.iter().all(|z| (modulus(*z) - 1.0).abs() < 1e-11), "{found:?}");
        } else {
            hyperbolic += 1;
        }
    }
    assert!(elliptic > 0 && hyperbolic > 0, "{elliptic} {hyperbolic}");
    let (state, _) = closed(1.2, 1.6, true);
    let branch =
        ask(&text, &["zeta=0", "e_n=1", "F=1.2"], &format!("x={},x'={}", state[0], state[1]), |subject| {
            let request = Request::new(Return::period(subject.mechanics, "2*pi/omega").unwrap());
            follow(subject, &request, "F", [1.0, 1.5], false).unwrap_or_else(|r| panic!("{r}"))
        });
    assert!(branch.special.iter().all(|s| s.kind != SpecialKind::Torus), "{:?}", branch.special);
    let mut seen = 0;
    for point in &branch.points {
        let [a, b] = [point.orbit.multipliers[0], point.orbit.multipliers[1]];
        if (a[0] + b[0]).abs() < 1.999 {
            seen += 1;
            assert!(point.orbit.stable, "{} {:?}", point.value, point.orbit.multipliers);
        }
    }
    assert!(seen > 5, "{seen}");
}

#[test]
fn a_damping_of_zero_is_none_and_the_energy_is_held() {
    let text = "coordinates = [\"x\", \"y\"]\n[parameters]\nc = 0.0\nB = 0.3\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\n\
        potential = \"(x^2 + 2*y^2)/2 + x^2*y^2/4\"\ndissipation = \"c*x'^2\"\n[force.field]\ngeneralized = { x = \"B*y'\", y = \"-B*x'\" }\n\
        [event.section]\nwhen = \"y\"\ndirection = \"rising\"\n[start]\nposition = { x = 0.4, y = 0.0 }\nvelocity = { y = 0.9 }\n[run]\nuntil = 30\n";
    let orbit = |set: &[&str]| common::section_orbit(text, set, "", "section", false);
    let found = orbit(&[]).unwrap_or_else(|r| panic!("{r}"));
    assert_eq!(found.invariants, ["energy"]);
    // A pair of product one beside the two that flow and energy take.
    let [a, b] = [found.multipliers[0], found.multipliers[1]];
    let product = [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]];
    assert!((product[0] - 1.0).abs() < 1e-10 && product[1].abs() < 1e-10, "{found:?}");
    assert!(orbit(&["c=0.01"]).is_err(), "with damping there is no orbit");
}

#[test]
fn dry_friction_written_as_a_force_is_no_lossless_force() {
    // Its derivative by the velocity is zero almost everywhere, and yet it takes energy: the orbit attracts.
    let text = "coordinates = [\"x\"]\n[parameters]\nmu = 0.05\nomega = 1.7\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n\
        [force.drive]\ngeneralized = { x = \"cos(omega*t) - mu*sign(x')\" }\n[start]\nposition = { x = -0.5 }\n[run]\nuntil = 40\n";
    let found = forced_orbit(text, &[], "", "2*pi/omega", true).unwrap_or_else(|r| panic!("{r}"));
    assert!(found.stable && modulus(found.multipliers[0]) < 1.0 - 1e-3, "{found:?}");
    let found =
        forced_orbit(text, &["mu=0"], "x=-0.529,x'=0", "2*pi/omega", false).unwrap_or_else(|r| panic!("{r}"));
    assert!(found.stable && (modulus(found.multipliers[0]) - 1.0).abs() < 1e-11, "{found:?}");
}
