//! Every gallery model is right, can be derived in every format, and runs.

mod support;

use support::{carom, gallery, numbers};

/// Models that are there to show how a motion can end early.
const ENDS_EARLY: [(&str, &str); 2] =
    [("squeezed_driven_pendulum", "squeezed"), ("guiding_centre", "wall_not_enforceable")];

#[test]
fn every_model_checks_without_a_word() {
    for name in gallery() {
        let ended = carom(&["check", name]).expect(0);
        assert_eq!(ended.stderr, "", "{name}");
    }
}

#[test]
fn every_model_derives_in_every_format() {
    for name in gallery() {
        for format in ["text", "latex", "markdown", "html", "json", "sympy", "rust", "c"] {
            let ended = carom(&["derive", name, "--format", format]).expect(0);
            assert!(ended.stdout.len() > 100, "{name} {format}");
            // The page of a report carries the program that sets its formulas, which may say so.
            assert!(format == "html" || !ended.stdout.contains("NaN"), "{name} {format}");
        }
        carom(&["derive", name, "--json"]).expect(0).json();
    }
}

#[test]
fn every_model_runs_to_its_end_and_keeps_the_laws() {
    for name in gallery() {
        let early = ENDS_EARLY.iter().find(|(model, _)| *model == name);
        let ended = carom(&["run", name, "--json"]).expect(if early.is_some() { 2 } else { 0 });
        let motion = ended.json();
        let reason = motion["stop"]["reason"].as_str().unwrap();
        assert_eq!(reason, early.map_or("reached", |(_, reason)| reason), "{name}");
        let audit = &motion["audit"];
        for law in ["hamiltonian_drift", "constraint_drift", "impact_law_residual", "deepest_penetration"] {
            let value = audit[law].as_f64().unwrap_or_else(|| panic!("{name}: {law} is {}", audit[law]));
            assert!(value <= 1e-11, "{name}: {law} = {value:e}");
        }
        let time = numbers(&motion["time"]);
        assert!(time.windows(2).all(|w| w[0] <= w[1]), "{name}");
    }
}

#[test]
fn every_model_is_found_by_its_name_and_by_its_file_name() {
    carom(&["check", "newtons_cradle.toml"]).expect(0);
    carom(&["check", "newtons_cradle"]).expect(0);
}
