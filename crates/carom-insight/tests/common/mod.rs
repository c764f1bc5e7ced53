//! A model of the gallery or a text, changed, as a subject of questions.

use carom_insight::{Orbit, Refusal, Request, Return, Subject};
use carom_mech::{Draft, derive_equations};
use carom_run::{Options, Program};

#[allow(dead_code)]
pub fn gallery(name: &str) -> String {
    let path = format!("{}/../carom/models/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Asks about a model; `set` and `start` change it as on the command line.
pub fn ask<T>(text: &str, set: &[&str], start: &str, question: impl FnOnce(&mut Subject<'_>) -> T) -> T {
    let (mut draft, problems) = Draft::parse(text, "model.toml");
    assert!(problems.is_empty(), "{problems:?}");
    for assignment in set {
        let problems = draft.set_parameter(assignment);
        assert!(problems.is_empty(), "{problems:?}");
    }
    if !start.is_empty() {
        let problems = draft.set_start(start);
        assert!(problems.is_empty(), "{problems:?}");
    }
    let (model, _) = draft.check().unwrap_or_else(|e| panic!("{e:?}"));
    let mechanics = derive_equations(model).unwrap();
    let program = Program::compile(&mechanics).unwrap();
    let options = Options::of(&mechanics.model);
    let mut go_on = || true;
    let mut subject = Subject::new(&program, &mechanics, &options, &mut go_on).unwrap();
    question(&mut subject)
}

#[allow(dead_code)]
pub fn section_orbit(
    text: &str,
    set: &[&str],
    start: &str,
    section: &str,
    settle: bool,
) -> Result<Orbit, Refusal> {
    ask(text, set, start, |subject| {
        let mut request = Request::new(Return::section(subject.mechanics, section)?);
        request.settle = settle;
        carom_insight::orbit(subject, &request)
    })
}

#[allow(dead_code)]
pub fn forced_orbit(
    text: &str,
    set: &[&str],
    start: &str,
    period: &str,
    settle: bool,
) -> Result<Orbit, Refusal> {
    ask(text, set, start, |subject| {
        let mut request = Request::new(Return::period(subject.mechanics, period)?);
        request.settle = settle;
        carom_insight::orbit(subject, &request)
    })
}
