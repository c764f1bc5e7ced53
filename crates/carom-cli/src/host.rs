//! A command inside another program, such as Python: the model comes as text with its tables, what would go to standard output comes
//! back, what is wrong comes back as diagnostics, and the host says when to stop.
//!
//! Promise: the process is left alone (no handler of signals, no stream is written to), and calls on different threads know nothing of
//! each other.

use crate::args::Arguments;
use crate::failure::Failure;
use crate::{dispatch, interrupt, usage};
use carom_mech::{Diagnostic, Draft};
use clap::Parser;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A model that a host has.
pub struct HostModel {
    /// The model file.
    pub text: String,
    /// What to call it in messages.
    pub file: String,
    /// The tables it reads.
    pub tables: Vec<(String, String)>,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum HostRefusal {
    /// The model or the question is wrong.
    Wrong(Vec<Diagnostic>),
    /// A file could not be read or written: a sentence, and the system's number for it.
    File(String, Option<i32>),
    /// A mistake in carom.
    Broken,
}

impl From<Failure> for HostRefusal {
    fn from(failure: Failure) -> HostRefusal {
        match failure {
            Failure::File(message) => HostRefusal::File(message, None),
            Failure::System(message, code) => HostRefusal::File(message, Some(code)),
            // Sentence and way out, as the command line writes them.
            other => {
                let text = other.to_string();
                let (message, hint) = match text.split_once("\n  hint: ") {
                    Some((message, hint)) => (message, Some(hint.to_owned())),
                    None => (text.as_str(), None),
                };
                HostRefusal::Wrong(vec![Diagnostic { hint, ..Diagnostic::error(message) }])
            }
        }
    }
}

impl From<HostRefusal> for Failure {
    fn from(refusal: HostRefusal) -> Failure {
        match refusal {
            HostRefusal::File(message, None) => Failure::File(message),
            HostRefusal::File(message, Some(code)) => Failure::System(message, code),
            HostRefusal::Broken => Failure::wrong("carom failed here: please report it"),
            HostRefusal::Wrong(all) => {
                let words = |d: &Diagnostic| match &d.hint {
                    Some(hint) => format!("{}\n  hint: {hint}", d.message),
                    None => d.message.clone(),
                };
                Failure::wrong(all.iter().map(words).collect::<Vec<_>>().join("\n"))
            }
        }
    }
}

/// What a command on this thread has instead of a process of its own.
struct Hosted {
    model: HostModel,
    printed: Vec<u8>,
    problems: Vec<Diagnostic>,
}

thread_local! {
    static HOSTED: RefCell<Option<Hosted>> = const { RefCell::new(None) };
}

/// Answers a command with these words (without its own name; the model is `-`): what it prints. When `stop` is set it ends early.
///
/// # Errors
/// What it reports instead.
pub fn answer(words: &[String], model: HostModel, stop: &Arc<AtomicBool>) -> Result<Vec<u8>, HostRefusal> {
    let typed: Vec<String> = std::iter::once("carom".to_owned()).chain(words.iter().cloned()).collect();
    HOSTED.set(Some(Hosted { model, printed: Vec::new(), problems: Vec::new() }));
    let outcome = interrupt::hosted(stop, || match Arguments::try_parse_from(&typed) {
        Ok(arguments) => dispatch(arguments.command),
        Err(error) => Err(usage::explain(&error, &typed)),
    });
    let Some(hosted) = HOSTED.take() else { return Err(HostRefusal::Broken) };
    match outcome {
        Ok(_) => Ok(hosted.printed),
        Err(Failure::Reported(_)) => Err(HostRefusal::Wrong(hosted.problems)),
        Err(failure) => Err(failure.into()),
    }
}

/// The model of the host, where there is one.
pub fn model() -> Option<(String, String)> {
    HOSTED.with_borrow(|hosted| hosted.as_ref().map(|h| (h.model.text.clone(), h.model.file.clone())))
}

/// Gives a draft the tables of the host.
pub fn provide_tables(draft: &mut Draft) {
    HOSTED.with_borrow(|hosted| {
        if let Some(hosted) = hosted {
            draft.tables.clone_from(&hosted.model.tables);
        }
    });
}

/// Takes what a command prints; false where it has a standard output.
pub fn print(bytes: &[u8]) -> bool {
    with(|hosted| hosted.printed.extend_from_slice(bytes))
}

/// Takes what a command has to say of a model; false where it has a standard error.
pub fn report(problems: &[Diagnostic]) -> bool {
    with(|hosted| hosted.problems.extend_from_slice(problems))
}

/// Takes a sentence, which nobody reads; false where there is a standard error.
pub fn say() -> bool {
    with(|_| ())
}

fn with(take: impl FnOnce(&mut Hosted)) -> bool {
    HOSTED.with_borrow_mut(|hosted| hosted.as_mut().map(take).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    fn ask(words: &[&str], text: &str, stop: &Arc<AtomicBool>) -> Result<Vec<u8>, HostRefusal> {
        let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        let tables = vec![("u.csv".to_owned(), "t,u\n0,1\n1,1\n2,1\n3,1\n".to_owned())];
        answer(&words, HostModel { text: text.to_owned(), file: "m.toml".to_owned(), tables }, stop)
    }

    const TEXT: &str = "coordinates = [\"x\"]\nlagrangian = \"x'^2/2 - x^2/2\"\n[start.position]\nx = 1\n[run]\nuntil = 20.0\n";

    #[test]
    fn a_command_in_a_host_answers_in_memory_and_refuses_with_places() {
        let stop = Arc::new(AtomicBool::new(false));
        let answer = ask(&["lyapunov", "-", "--json", "--quiet"], TEXT, &stop).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&answer).unwrap();
        assert_eq!(value["exponents"].as_array().unwrap().len(), 2);
        let wrong = TEXT.replace("x^2/2\"", "y^2/2\"");
        let Err(HostRefusal::Wrong(problems)) = ask(&["lyapunov", "-", "--json"], &wrong, &stop) else {
            panic!("`y` is unknown")
        };
        let place = problems[0].place.as_ref().unwrap();
        assert_eq!((place.line, place.column), (2, 24));
        assert!(matches!(ask(&["lyapunov", "-", "--nonsense"], TEXT, &stop), Err(HostRefusal::Wrong(_))));
        let read = ask(&["fit", "-", "--data=no_such_file.csv", "--vary=x"], TEXT, &stop);
        assert!(matches!(read, Err(HostRefusal::File(_, Some(2)))), "{read:?}");
    }

    #[test]
    fn the_tables_of_a_host_are_those_of_its_model() {
        let text =
            format!("{TEXT}[input]\nu = {{ file = \"u.csv\" }}\n[force.f]\ngeneralized = {{ x = \"u\" }}\n");
        let stop = Arc::new(AtomicBool::new(false));
        let answer = ask(&["run", "-", "--json", "--until=2"], &text, &stop).unwrap();
        assert!(String::from_utf8_lossy(&answer).contains("\"u.csv\""));
    }

    #[test]
    fn a_host_that_says_stop_stops_its_own_command_only() {
        let (stop, other) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(false)));
        let stopped = ask(&["run", "-", "--json", "--until=1e6"], TEXT, &stop).unwrap();
        assert!(String::from_utf8_lossy(&stopped).contains("\"interrupted\""));
        let whole = ask(&["run", "-", "--json"], TEXT, &other).unwrap();
        assert!(String::from_utf8_lossy(&whole).contains("\"reached\""));
        assert!(!other.load(Ordering::Relaxed) && !interrupt::interrupted());
    }
}
