//! `carom orbit`, `carom follow`, `carom lyapunov`: their contracts, and requests that have no answer: a sentence, a way out, the
//! right exit code.

mod support;

use std::fs;
use support::{carom, carom_in, carom_with, numbers};

#[test]
fn an_orbit_has_the_fields_of_its_contract() {
    let found =
        carom(&["orbit", "compass_gait", "--set", "gamma=0.0525", "--section", "heelstrike", "--json"])
            .expect(0)
            .json();
    let keys: Vec<&String> = found.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        ["period", "state", "at_time", "multipliers", "stable", "impacts", "residual", "invariants"]
    );
    assert!((found["period"].as_f64().unwrap() - 0.734_460_62).abs() < 5e-9);
    let state: Vec<&String> = found["state"].as_object().unwrap().keys().collect();
    assert_eq!(state, ["theta_s", "theta_n", "theta_s'", "theta_n'"]);
    assert_eq!(numbers(&found["multipliers"][0]).len(), 2);
    assert_eq!((found["stable"].as_bool(), found["impacts"].as_array().unwrap().len()), (Some(true), 0));
}

#[test]
fn a_branch_has_the_fields_of_its_contract_and_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = |output: &'static str| {
        [
            "follow",
            "impact_oscillator",
            "--vary",
            "F=0.5..0.7",
            "--period",
            "2*pi/omega",
            "--set",
            "F=0.65",
            "-o",
            output,
            "--json",
        ]
    };
    let found = carom_in(folder.path(), &arguments("branch.csv")).expect(0).json();
    assert_eq!(found["parameter"], "F");
    let point = found["points"][0].as_object().unwrap();
    assert_eq!(point.keys().collect::<Vec<_>>(), ["F", "period", "multipliers", "stable", "state"]);
    let fold = found["special"].as_array().unwrap().iter().find(|s| s["kind"] == "fold").expect("a fold");
    assert_eq!(fold.as_object().unwrap().keys().collect::<Vec<_>>(), ["kind", "F", "state", "detail"]);
    assert!((fold["F"].as_f64().unwrap() - 0.553_304_085_500_901_4).abs() < 1e-9);
    let table = fs::read_to_string(folder.path().join("branch.csv")).unwrap();
    assert!(table.starts_with("F,period,stable,x,x',multiplier1.re,multiplier1.im,"), "{table}");
    assert_eq!(table.lines().count(), found["points"].as_array().unwrap().len() + 1);
    for (output, word) in [("branch.svg", "fold"), ("branch.html", "role=\"button\"")] {
        let mut arguments = arguments("branch.csv").to_vec();
        arguments[9] = output;
        carom_in(folder.path(), &arguments).expect(0);
        assert!(fs::read_to_string(folder.path().join(output)).unwrap().contains(word), "{output}");
    }
}

#[test]
fn an_orbit_is_drawn_with_its_impacts() {
    let folder = tempfile::tempdir().unwrap();
    for (output, word) in [("orbit.svg", "<svg"), ("orbit.html", "<canvas")] {
        let arguments = ["orbit", "impact_oscillator", "--period", "2*pi/omega", "-q", "-o", output];
        carom_in(folder.path(), &arguments).expect(0);
        assert!(fs::read_to_string(folder.path().join(output)).unwrap().contains(word), "{output}");
    }
}

#[test]
fn exponents_have_the_fields_of_their_contract() {
    let found = carom(&["lyapunov", "impact_oscillator", "--until", "200", "--json"]).expect(0).json();
    assert_eq!(
        found.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["exponents", "error", "time", "sum_check"]
    );
    assert_eq!((numbers(&found["exponents"]).len(), found["time"].as_f64()), (2, Some(200.0)));
    let (sum, expected) = (&found["sum_check"]["sum"], &found["sum_check"]["expected"]);
    assert!((sum.as_f64().unwrap() - expected.as_f64().unwrap()).abs() < 1e-10, "{found}");
    assert_eq!(
        found["sum_check"].as_object().unwrap().keys().collect::<Vec<_>>(),
        ["sum", "expected", "impact_rate", "pairing", "zeros"]
    );
    assert_eq!(found["sum_check"]["zeros"]["expected"], 0);
}

/// A request that is refused: the exit code, words of the sentence, and a hint.
fn refused(arguments: &[&str], code: i32, words: &[&str]) {
    let ended = carom(arguments).expect(code);
    assert_eq!(ended.stdout, "", "{arguments:?}");
    for word in words.iter().chain(&["error", "hint"]) {
        assert!(ended.stderr.contains(word), "{arguments:?} does not say `{word}`:\n{}", ended.stderr);
    }
}

#[test]
fn requests_that_make_no_sense_for_the_model_are_refused_before_anything_is_simulated() {
    let period = "2*pi/omega";
    refused(&["orbit", "impact_oscillator"], 1, &["Neither --period nor --section"]);
    refused(
        &["orbit", "impact_oscillator", "--period", period, "--section", "stop"],
        1,
        &["--period", "--section"],
    );
    refused(&["orbit", "rimless_wheel", "--section", "forwad"], 1, &["forwad", "did you mean `forward`"]);
    refused(&["orbit", "rimless_wheel", "--section", "theta"], 1, &["is a coordinate", "event or a wall"]);
    refused(&["orbit", "double_pendulum", "--section", "top"], 1, &["no event and no wall", "add an event"]);
    refused(&["orbit", "impact_oscillator", "--section", "stop"], 1, &["depends on time", "--period"]);
    refused(
        &["orbit", "rimless_wheel", "--period", "1"],
        1,
        &["nothing in the model depends on time", "--section"],
    );
    refused(&["orbit", "elliptic_billiard", "--period", "4"], 1, &["energy is conserved", "--hold energy"]);
    refused(
        &["orbit", "impact_oscillator", "--period", "3*pi/omega"],
        1,
        &["does not repeat", "no multiple of the forcing's"],
    );
    refused(
        &["orbit", "impact_oscillator", "--period", "2*pi/omga"],
        1,
        &["unknown name `omga`", "did you mean the parameter `omega`"],
    );
    refused(&["orbit", "impact_oscillator", "--period", "2*pi/x"], 1, &["unknown name `x`"]);
    refused(&["orbit", "impact_oscillator", "--period", "-1"], 1, &["a period is a positive number"]);
    refused(&["orbit", "impact_oscillator", "--period", "2*pi/"], 1, &["--period"]);
    refused(
        &["orbit", "impact_oscillator", "--period", period, "--crossings", "0"],
        1,
        &["asks for no return"],
    );
    refused(
        &["orbit", "rimless_wheel", "--section", "forward", "--hold", "energy=1"],
        1,
        &["`energy` is not conserved"],
    );
    refused(
        &["orbit", "rimless_wheel", "--section", "forward", "--hold", "energy"],
        1,
        &["is not NAME=VALUE"],
    );
    refused(&["orbit", "phase_space_pendulum", "--section", "x"], 1, &["degenerate"]);
    refused(
        &["follow", "impact_oscillator", "--period", period, "--vary", "G=0..1"],
        1,
        &["no parameter `G`"],
    );
    refused(&["follow", "impact_oscillator", "--period", period, "--vary", "F=1..1"], 1, &["is no range"]);
    refused(
        &["follow", "impact_oscillator", "--period", period, "--vary", "F=0.2..1:10"],
        1,
        &["is not NAME=A..B"],
    );
    refused(&["follow", "impact_oscillator", "--period", period, "--vary", "F"], 1, &["is not NAME=A..B"]);
    refused(&["lyapunov", "impact_oscillator", "--until", "0"], 1, &["--until"]);
}

const SWING: &str = r#"
coordinates = ["x"]
[energy]
kinetic = "x'^2/2"
potential = "x^2/2"
[wall.far]
gap = "5 - x"
[event.never]
when = "x - 3"
[event.touch]
when = "x - 1"
[event.middle]
when = "x"
direction = "rising"
[start]
position = { x = 1.0 }
"#;

#[test]
fn requests_without_an_answer_end_with_a_sentence_and_exit_2() {
    let ask = |arguments: &[&str], words: &[&str]| {
        let ended = carom_with(SWING, arguments).expect(2);
        assert_eq!(ended.stdout, "", "{arguments:?}");
        for word in words.iter().chain(&["hint"]) {
            assert!(ended.stderr.contains(word), "{arguments:?} does not say `{word}`:\n{}", ended.stderr);
        }
    };
    ask(
        &["orbit", "-", "--section", "never"],
        &["event `never` is crossed fewer than 2 times", "no section"],
    );
    ask(&["orbit", "-", "--section", "far"], &["wall `far` is crossed fewer than 2 times"]);
    // Touched at the turning point, never crossed.
    ask(&["orbit", "-", "--section", "touch"], &["event `touch`"]);
    let doubled =
        ["follow", "impact_oscillator", "--period", "2*pi/omega", "--vary", "F=0.9..1.1", "--doubled"];
    refused(&doubled, 2, &["no period doubling was met"]);
    // sin t just touches the wall at 1.
    let graze = SWING.replace("5 - x", "1 - x").replace("position = { x = 1.0 }", "velocity = { x = 1.0 }");
    for arguments in [&["orbit", "-", "--section", "middle"][..], &["lyapunov", "-", "--until", "20"]] {
        let ended = carom_with(&graze, arguments).expect(2);
        for word in ["not_differentiable", "wall `far`", "without speed", "hint"] {
            assert!(ended.stderr.contains(word), "{arguments:?} does not say `{word}`:\n{}", ended.stderr);
        }
    }
}
