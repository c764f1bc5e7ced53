//! Tori, corners, contacts that break and walls that are touched from afar, against closed forms.

mod common;

use carom_insight::eigen::modulus;
use carom_insight::{Branch, Request, Return, Special, SpecialKind, follow};
use common::{ask, gallery};
use std::f64::consts::PI;

struct Asked<'a> {
    text: &'a str,
    set: &'a [&'a str],
    start: &'a str,
    period: &'a str,
    settle: bool,
}

impl Asked<'_> {
    fn branch(&self, vary: &str, range: [f64; 2]) -> Branch {
        ask(self.text, self.set, self.start, |subject| {
            let mut request = Request::new(Return::period(subject.mechanics, self.period).unwrap());
            request.settle = self.settle;
            follow(subject, &request, vary, range, false).unwrap_or_else(|r| panic!("{r}; {}", r.hint))
        })
    }
}

fn special(branch: &Branch, kind: SpecialKind) -> &Special {
    let found = branch.special.iter().find(|s| s.kind == kind);
    found.unwrap_or_else(|| panic!("no {} among {:?}", kind.name(), branch.special))
}

/// ρ/ω and G/F of one impact per period T = 2π/ω, σ = 1, and with them a of the orbit that hits harder.
fn amplitude(zeta: f64, omega: f64, e: f64, force: f64) -> (f64, f64) {
    let t = 2.0 * PI / omega;
    let (decay, own) = ((-zeta * t).exp(), (1.0 - zeta * zeta).sqrt());
    let (s, c) = (own * t).sin_cos();
    let r = (1.0 - decay * c) / (decay * s);
    let bend = decay * own * (r * c - s);
    let rho = (bend - own * r) / (1.0 + e) + zeta - bend;
    let g = force / (1.0 - omega * omega).hypot(2.0 * zeta * omega);
    let q = 1.0 + (rho / omega).powi(2);
    ((1.0 + (1.0 - q * (1.0 - g * g)).sqrt()) / q, rho)
}

#[test]
fn a_forced_oscillator_whose_damping_vanishes_sheds_a_torus_at_zero() {
    // Multipliers e^{−ζT ± iΩT}: on the circle at ζ = 0, whatever the orbit is.
    let text = "coordinates = [\"x\"]\n[parameters]\nzeta = 0.05\nomega = 1.7\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n\
                dissipation = \"zeta*x'^2\"\n[force.drive]\ngeneralized = { x = \"cos(omega*t)\" }\n[start]\nposition = { x = -0.5 }\n";
    let asked = Asked { text, set: &[], start: "", period: "2*pi/omega", settle: false };
    let found = asked.branch("zeta", [0.05, -0.03]);
    let torus = special(&found, SpecialKind::Torus);
    assert!(torus.value.abs() < 1e-10, "{torus:?}");
    assert_eq!(found.special.len(), 1, "{:?}", found.special);
    for point in &found.points {
        assert_eq!(point.orbit.stable, point.value > 0.0, "{}", point.value);
        let expected = (-point.value * point.orbit.period).exp();
        assert!((modulus(point.orbit.multipliers[0]) - expected).abs() < 1e-11);
    }
}

#[test]
fn an_orbit_with_impacts_sheds_a_torus_where_restitution_takes_what_the_damping_gives() {
    // det Φ = (e e^{−ζT})² for every orbit with one impact: the complex pair is on the circle at ζ = ln(e)/T.
    let text = gallery("impact_oscillator");
    let asked = Asked { text: &text, set: &[], start: "", period: "2*pi/omega", settle: false };
    let found = asked.branch("zeta", [0.05, -0.08]);
    let expected = 0.8_f64.ln() / (2.0 * PI / 1.6);
    let torus = special(&found, SpecialKind::Torus);
    assert!((torus.value - expected).abs() < 1e-10, "{} {expected}", torus.value);
}

const TWO: &str = "coordinates = [\"x\", \"y\"]\n[parameters]\nzeta = 0.05\nomega = 1.6\ndelta = 0.4\nFx = 1.0\nFy = 1.3\ne_n = 0.8\n\
    [energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"(x^2 + y^2)/2\"\ndissipation = \"zeta*(x'^2 + y'^2)\"\n\
    [force.drive]\ngeneralized = { x = \"Fx*cos(omega*t)\", y = \"Fy*cos(omega*t + delta)\" }\n\
    [wall.right]\ngap = \"1 - x\"\nrestitution = \"e_n\"\n[wall.top]\ngap = \"1 - y\"\nrestitution = \"e_n\"\n\
    [start]\nposition = { x = -0.96, y = -0.96 }\nvelocity = { x = 3.48, y = 3.48 }\n[run]\nuntil = 40\n";

#[test]
fn two_oscillators_meet_their_walls_at_once_where_their_phases_say() {
    let asked = Asked { text: TWO, set: &[], start: "", period: "2*pi/omega", settle: true };
    let found = asked.branch("delta", [0.6, -0.4]);
    // Impacts at the phases ψ of the response with G cos ψ = 1 − a, −G ω sin ψ = a ρ; the second comes δ earlier.
    let phase = |force: f64| {
        let (a, rho) = amplitude(0.05, 1.6, 0.8, force);
        (-a * rho / 1.6).atan2(1.0 - a)
    };
    let expected = phase(1.3) - phase(1.0);
    let corner = special(&found, SpecialKind::Corner);
    assert!((corner.value - expected).abs() < 1e-9, "{} {expected}", corner.value);
    assert!(corner.detail.contains("`right`") && corner.detail.contains("`top`"), "{}", corner.detail);
    // Nothing couples the two: the branch goes on with the other order.
    let reached = found.points.iter().map(|p| p.value).fold(f64::INFINITY, f64::min);
    assert!(reached < expected - 0.1, "{reached} {:?}", found.special);
}

#[test]
fn a_ball_without_restitution_leaves_the_table_for_good_where_its_flight_lasts_a_period() {
    // It leaves where the table falls with g, sin ωt = 1/Γ, and its contact ends when the flight lasts a period: Γ² = 1 + π².
    let (g, omega) = (9.81, 20.0);
    let set = ["e_n=0", &format!("A={}", 2.0 * g / (omega * omega))];
    let asked =
        Asked { text: &gallery("vibrating_table"), set: &set, start: "", period: "2*pi/omega", settle: true };
    let found = asked.branch("A", [1.6 * g / (omega * omega), 4.0 * g / (omega * omega)]);
    let expected = (1.0 + PI * PI).sqrt() * g / (omega * omega);
    let broken = special(&found, SpecialKind::ContactBreak);
    assert!((broken.value / expected - 1.0).abs() < 1e-9, "{} {expected}", broken.value);
    // While there is contact everything is forgotten.
    for point in found.points.iter().filter(|p| p.value < expected) {
        assert!(point.orbit.multipliers.iter().all(|z| modulus(*z) < 1e-9), "{:?}", point.orbit.multipliers);
    }
}

#[test]
fn a_contact_breaks_where_its_force_vanishes_between_its_ends() {
    // The table A (sin θ − cos 2θ), θ = ωt, falls with A ω² (sin θ − 4 cos 2θ): the ball leaves it before θ = π/2 where that is 5 A ω²,
    // is back long before θ = 3π/2, and there the contact carries m (g − 3 A ω²).
    let (g, omega) = (9.81, 20.0);
    let unit = g / (omega * omega);
    let text =
        gallery("vibrating_table").replace("\"A*sin(omega*t)\"", "\"A*(sin(omega*t) - cos(2*omega*t))\"");
    let set = ["e_n=0", &format!("A={}", 0.28 * unit)];
    let asked = Asked { text: &text, set: &set, start: "", period: "2*pi/omega", settle: true };
    let found = asked.branch("A", [0.26 * unit, 0.36 * unit]);
    let broken = special(&found, SpecialKind::ContactBreak);
    assert!((broken.value / (unit / 3.0) - 1.0).abs() < 1e-9, "{:?}", found.special);
    assert!(broken.detail.contains("`table`"), "{broken:?}");
}

#[test]
fn an_orbit_without_impacts_touches_the_wall_where_its_amplitude_reaches_it() {
    let start = "x=-0.6343526349,x'=0.1040988939";
    let asked =
        Asked { text: &gallery("impact_oscillator"), set: &[], start, period: "2*pi/omega", settle: false };
    let found = asked.branch("F", [0.4, 1.7]);
    let expected = (1.0_f64 - 1.6 * 1.6).hypot(2.0 * 0.05 * 1.6);
    let grazing = special(&found, SpecialKind::Grazing);
    assert!((grazing.value - expected).abs() < 1e-9, "{} {expected}", grazing.value);
    assert!(grazing.detail.contains("`stop`"), "{}", grazing.detail);
}
