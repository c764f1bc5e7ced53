//! A bounded number of generated inputs of every kind, the same ones each time, watched by the runner. `CAROM_FUZZ=100` tries
//! a hundred times as many.

use std::process::Command;

fn attempt(target: &str, count: u64) {
    let times = std::env::var("CAROM_FUZZ").ok().and_then(|n| n.parse::<u64>().ok()).unwrap_or(1);
    let output = Command::new(env!("CARGO_BIN_EXE_carom-fuzz"))
        .args([target, &(count * times).to_string(), "11"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn formulas_read_back_and_nothing_panics() {
    attempt("formulas", 10_000);
}

#[test]
fn model_files_are_models_or_diagnostics() {
    attempt("models", 6_000);
}

#[test]
fn motions_end_with_a_reason() {
    attempt("motions", 300);
}

#[test]
fn damaged_tables_are_tables_or_sentences() {
    attempt("tables", 6_000);
}
