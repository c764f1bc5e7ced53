//! A motion that cannot go on because a number is lost says which, and where.

mod common;

use carom_run::{SimulateError, StopReason, simulate};
use common::{close, program, run, signal};

/// A free point of mass 1 on a line that starts at `x` with velocity `v`; `extra` tables in between.
fn point(extra: &str, x: f64, v: f64, run: &str) -> String {
    format!(
        "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\n{extra}\n[start]\nposition = {{ x = {x:?} }}\nvelocity = {{ x = {v:?} }}\n[run]\nuntil = 5.0\n{run}\n"
    )
}

/// Ends as `not_finite` and says all of `words`.
fn says(text: &str, words: &[&str]) -> f64 {
    ends(text, &[StopReason::NotFinite], words)
}

/// Steps fell below what time can tell apart, or the singularity itself was met.
const SINGULARITY: [StopReason; 2] = [StopReason::Singular, StopReason::NotFinite];

/// Ends for one of these reasons and says all of `words`.
fn ends(text: &str, reasons: &[StopReason], words: &[&str]) -> f64 {
    let motion = run(text);
    let detail = motion.stop.detail.unwrap_or_default();
    assert!(reasons.contains(&motion.stop.reason), "{:?}: {detail}", motion.stop.reason);
    for word in words {
        assert!(detail.contains(word), "no `{word}` in: {detail}");
    }
    let last = motion.position[0].values.last().copied().unwrap();
    assert!(last.is_finite() && motion.time.iter().all(|t| *t <= motion.stop.time), "{detail}");
    motion.stop.time
}

#[test]
fn a_formula_without_a_value_is_named_with_its_innermost_part_and_where() {
    let rk4 = "method = \"rk4\"\nstep = 0.3";
    says(
        &point("potential = \"2 - log(x)/1000\"", 1.0, -1.0, rk4),
        &["the potential energy", ": log(x) at x = -0."],
    );
    let t = says(
        &point("[wall.stop]\ngap = \"1 + sqrt(1 - x)\"", 0.0, 1.0, rk4),
        &["the gap of wall `stop`", ": sqrt(1 - x) at x = 1.2"],
    );
    close(t, 1.2, 1e-15);
    says(
        &point("[force.push]\ngeneralized = { x = \"log(2 - t)\" }", 0.0, 0.0, ""),
        &["the force `push`", ": log(2 - t) at t = 2.0"],
    );
    // x = sinh(100 t)/100 overflows when squared.
    says(&point("potential = \"-5000*x^2\"", 0.0, 1.0, ""), &["energy", "at x"]);
}

#[test]
fn a_singularity_on_the_way_is_named_by_its_formula_and_place() {
    // Falls into the centre of −1/x from rest at 1: t = π/√8.
    let t = ends(
        &point("potential = \"-1/x\"", 1.0, 0.0, ""),
        &SINGULARITY,
        &["`x`", "the potential energy", "x = 0"],
    );
    close(t, std::f64::consts::PI / 8.0f64.sqrt(), 1e-6);
    let gap = "[wall.stop]\ngap = \"1 + sqrt(1 - x)\"";
    close(ends(&point(gap, 0.0, 1.0, ""), &SINGULARITY, &["the gap of wall `stop`", "1 - x"]), 1.0, 1e-6);
    let event = "[event.late]\nwhen = \"acos(t/2)\"";
    close(
        ends(&point(event, 0.0, 1.0, ""), &SINGULARITY, &["the function of event `late`", "t/2"]),
        2.0,
        1e-6,
    );
}

#[test]
fn a_motion_that_runs_away_names_its_coordinate() {
    // ẋ²/2 = eˣ − ½ from x = 0 with ẋ = 1: x = −2 ln(…) ends at t = π/2.
    let t = ends(&point("potential = \"-exp(x)\"", 0.0, 1.0, ""), &SINGULARITY, &["of `x`", "runs away"]);
    close(t, std::f64::consts::FRAC_PI_2, 1e-6);
}

#[test]
fn a_step_whose_end_is_no_state_is_not_taken() {
    let push = "[force.push]\ngeneralized = { x = \"log(2 - t)\" }";
    let motion = run(&point(push, 0.0, 0.0, "method = \"rk4\"\nstep = 0.3"));
    assert_eq!(
        motion.stop.detail.as_deref(),
        Some("`x'` is not a finite number any more after the step to t = 2.1")
    );
    close(motion.stop.time, 1.8, 1e-15);
    assert!(signal(&motion.velocity, "x").iter().all(|v| v.is_finite()));
}

#[test]
fn driven_coordinates_and_hamiltonian_velocities_are_read_as_their_author_meant_them() {
    let driven = "coordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"log(y)\"\n[driven]\ny = \"1 - t\"\n[run]\nuntil = 5.0\nmethod = \"rk4\"\nstep = 0.3\n";
    let motion = run(driven);
    let detail = motion.stop.detail.unwrap();
    assert!(
        detail.starts_with("the potential energy") && detail.contains(": log(y) at y = -0.1"),
        "{detail}"
    );
    let hamiltonian = "coordinates = [\"x\"]\nmomenta = [\"p\"]\nhamiltonian = \"p^2\"\n[force.drag]\ngeneralized = { x = \"-1 - sqrt(x')\" }\n[start]\nmomentum = { x = 1.0 }\n[run]\nuntil = 5.0\n";
    let motion = run(hamiltonian);
    let detail = motion.stop.detail.unwrap();
    assert_eq!(motion.stop.reason, StopReason::NotFinite);
    // x' = 2p falls to 0 faster than by the −1 alone.
    assert!(motion.stop.time < 1.0);
    assert!(detail.contains("the force `drag`") && detail.contains("x'"), "{detail}");
}

#[test]
fn a_start_without_a_value_is_refused_with_the_formula() {
    let (program, mut options) = program(&point("potential = \"log(x)\"", 1.0, 0.0, ""));
    options.start.position = vec![Some(-1.0)];
    let refused = simulate(&program, &options).unwrap_err();
    let message = "at the start the potential energy is not a finite number: log(x) at x = -1.0";
    assert_eq!(refused, SimulateError::Singular(message.into()));
}
