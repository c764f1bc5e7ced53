//! What every suite needs: a model file in, a motion out.
#![allow(dead_code)]

pub mod units;

use carom_mech::{Draft, derive};
use carom_run::{Motion, Options, Program, Sampling, SimulateError, simulate};

/// Compiles a model file.
pub fn program(text: &str) -> (Program, Options) {
    let (draft, problems) = Draft::parse(text, "test.toml");
    assert!(problems.is_empty(), "{problems:?}");
    let (model, _) = draft.check().unwrap_or_else(|e| panic!("{e:?}"));
    let mechanics = derive(model).unwrap_or_else(|e| panic!("{e:?}"));
    let program = Program::compile(&mechanics).unwrap_or_else(|e| panic!("{e}"));
    let options = Options::of(&mechanics.model);
    (program, options)
}

/// Simulates a model file as it stands.
pub fn run(text: &str) -> Motion {
    try_run(text).unwrap_or_else(|e| panic!("{e}"))
}

/// Simulates a model file as it stands.
pub fn try_run(text: &str) -> Result<Motion, SimulateError> {
    let (program, options) = program(text);
    simulate(&program, &options)
}

/// Simulates a model file and samples at these times; `until` is the last of them.
pub fn run_at(text: &str, times: &[f64]) -> Motion {
    let (program, mut options) = program(text);
    options.until = times.iter().copied().fold(options.start.time, f64::max);
    options.sampling = Sampling::At(times.to_vec());
    simulate(&program, &options).unwrap_or_else(|e| panic!("{e}"))
}

/// Values of a signal by name.
pub fn signal<'m>(signals: &'m [carom_run::Signal], name: &str) -> &'m [f64] {
    &signals.iter().find(|s| s.name == name).unwrap_or_else(|| panic!("no signal {name}")).values
}

/// |a − b| ≤ tolerance, with a message that shows the digits.
#[track_caller]
pub fn close(actual: f64, expected: f64, tolerance: f64) {
    assert!(
        (actual - expected).abs() <= tolerance,
        "{actual:.17} is not {expected:.17} (off by {:.2e}, allowed {tolerance:.0e})",
        actual - expected
    );
}

/// Times of all impacts.
pub fn impact_times(motion: &Motion) -> Vec<f64> {
    motion.impacts.iter().map(|i| i.time).collect()
}
