//! Branches and special points of the linear impact oscillator against its closed forms, the gaits' period doublings.

mod common;

use carom_insight::{Branch, Request, Return, SpecialKind, follow};
use common::{ask, gallery};
use std::f64::consts::PI;

fn branch(
    model: &str,
    set: &[&str],
    start: &str,
    period: &str,
    vary: &str,
    range: [f64; 2],
    doubled: bool,
) -> Branch {
    ask(&gallery(model), set, start, |subject| {
        let request = Request::new(Return::period(subject.mechanics, period).unwrap());
        follow(subject, &request, vary, range, doubled).unwrap_or_else(|r| panic!("{r}"))
    })
}

fn value(branch: &Branch, kind: SpecialKind) -> f64 {
    let found = branch.special.iter().find(|s| s.kind == kind);
    found.unwrap_or_else(|| panic!("no {} among {:?}", kind.name(), branch.special)).value
}

/// ρ and k of one impact per period T = 2πn/ω, with σ = 1, and G/F.
fn closed(zeta: f64, omega: f64, e: f64, n: f64) -> (f64, f64, f64, f64) {
    let t = 2.0 * PI * n / omega;
    let (decay, own) = ((-zeta * t).exp(), (1.0 - zeta * zeta).sqrt());
    let (s, c) = (own * t).sin_cos();
    let r = (1.0 - decay * c) / (decay * s);
    let bend = decay * own * (r * c - s);
    let k = (bend - own * r) / (1.0 + e);
    let rho = k + zeta - bend;
    let gain = 1.0 / (1.0 - omega * omega).hypot(2.0 * zeta * omega);
    // Where the trace is −1 − det.
    let xi = ((-1.0 - (e * decay).powi(2)) / decay + 2.0 * e * c) * own / s;
    let doubling =
        (1.0 + e) * omega * omega / (-xi * k + (1.0 + e) * (omega * omega - 1.0 + 2.0 * zeta * rho));
    (k, rho, gain, doubling)
}

#[test]
fn the_impact_oscillator_folds_onto_its_saddle_and_grazes_where_the_closed_forms_say() {
    let found = branch("impact_oscillator", &[], "", "2*pi/omega", "F", [1.1, 0.5], false);
    let (_, rho, gain, _) = closed(0.05, 1.6, 0.8, 1.0);
    let fold = rho.abs() / 1.6_f64.hypot(rho) / gain;
    assert!(
        (value(&found, SpecialKind::Fold) - fold).abs() < 1e-10,
        "{} {fold}",
        value(&found, SpecialKind::Fold)
    );
    let found = branch("impact_oscillator", &[], "", "2*pi/omega", "F", [1.7, 0.5], false);
    let grazing = value(&found, SpecialKind::Grazing);
    assert!((grazing - 1.0 / gain).abs() < 1e-10, "{grazing} {}", 1.0 / gain);
    // Stable before the fold, a saddle after it: orbits of both kinds at one force.
    let at =
        |stable: bool| found.points.iter().any(|p| p.orbit.stable == stable && (0.6..1.1).contains(&p.value));
    assert!(at(true) && at(false));
}

#[test]
fn the_impact_oscillator_doubles_where_the_closed_form_says_and_goes_on_with_two_impacts() {
    let set = ["omega=2.63", "e_n=0.7", "F=2"];
    let start = "x=0.66,x'=1.2";
    let found = branch("impact_oscillator", &set, start, "4*pi/omega", "F", [2.0, 3.0], false);
    let (_, rho, gain, a) = closed(0.05, 2.63, 0.7, 2.0);
    let doubling = (1.0 - a).hypot(a * rho / 2.63) / gain;
    let located = value(&found, SpecialKind::PeriodDoubling);
    assert!((located - doubling).abs() < 1e-10, "{located} {doubling}");
    let twice = branch("impact_oscillator", &set, start, "4*pi/omega", "F", [2.0, 3.0], true);
    let last = twice
        .points
        .iter()
        .find(|p| (p.value - doubling).abs() > 0.005)
        .expect("the doubled branch is followed");
    assert_eq!(last.orbit.impacts.len(), 2);
    assert!((last.orbit.period - 8.0 * PI / 2.63).abs() < 1e-12);
    assert!(last.orbit.warnings.is_empty(), "{:?}", last.orbit.warnings);
}

fn gait(model: &str, range: [f64; 2]) -> f64 {
    let found = ask(&gallery(model), &[], "", |subject| {
        let request = Request::new(Return::section(subject.mechanics, "heelstrike").unwrap());
        follow(subject, &request, "gamma", range, false).unwrap_or_else(|r| panic!("{r}"))
    });
    value(&found, SpecialKind::PeriodDoubling)
}

#[test]
fn the_simplest_walker_limps_beyond_its_published_slope() {
    let found = gait("simplest_walker", [0.009, 0.0165]);
    assert!((found - 0.0151).abs() < 1e-4, "{found}");
}

#[test]
fn the_compass_gait_limps_beyond_its_published_slope() {
    let found = gait("compass_gait", [0.0524, 0.078]);
    assert!((found - 0.0766).abs() < 2e-4, "{found}");
}
