//! `carom check`: everything there is to say about a model, without simulating it.

use crate::args::CheckArgs;
use crate::failure::Failure;
use crate::load::{self, load};
use crate::paint::Paint;
use crate::simulate::start_problems;
use crate::summary::count;
use crate::write;
use carom_mech::diagnostic::visible;
use carom_mech::{Diagnostic, Dynamics, Mechanics};
use carom_run::fields::{Field, FieldKind};
use serde_json::{Value, json};

/// The fields of `carom check --json`.
#[rustfmt::skip]
pub static FIELDS: &[Field] = &[
    Field::new("file", FieldKind::Text, "the file, or what was read instead"),
    Field::new("model", FieldKind::Text, "name of the model").null("while there are errors"),
    Field::new("errors", FieldKind::Records, "what is wrong"),
    Field::new("errors[].message", FieldKind::Text, "the sentence"),
    Field::new("errors[].hint", FieldKind::Text, "a way out").null("where there is none"),
    Field::new("errors[].line", FieldKind::Count, "where, counted from 1").null("without a place"),
    Field::new("errors[].column", FieldKind::Count, "first character, counted from 1").null("without a place"),
    Field::new("errors[].length", FieldKind::Count, "number of characters").null("without a place"),
    Field::new("warnings", FieldKind::Records, "what is probably not meant"),
    Field::new("warnings[].message", FieldKind::Text, "the sentence"),
    Field::new("warnings[].hint", FieldKind::Text, "a way out").null("where there is none"),
    Field::new("warnings[].line", FieldKind::Count, "where, counted from 1").null("without a place"),
    Field::new("warnings[].column", FieldKind::Count, "first character, counted from 1").null("without a place"),
    Field::new("warnings[].length", FieldKind::Count, "number of characters").null("without a place"),
];

/// Runs the command: exit code 0 when the model is right, 1 when not.
///
/// # Errors
/// If the file cannot be read.
pub fn check(args: &CheckArgs) -> Result<u8, Failure> {
    let loaded = load(&args.model)?;
    let file = loaded.file.clone();
    let draft = loaded.draft.clone();
    let (model, mut problems) = loaded.outcome();
    // What cannot be derived is wrong too: contradictory equations, undetermined motion. Redundant rows are worth a word.
    let (mechanics, more) = match model.map(carom_mech::derive) {
        Some(Ok(mechanics)) => {
            // So is a start that `run` would refuse.
            let refused = start_problems(&mechanics);
            let right = refused.is_empty();
            let problems = mechanics.warnings.iter().cloned().chain(refused).collect();
            (right.then_some(mechanics), problems)
        }
        Some(Err(errors)) => (None, errors),
        None => (None, Vec::new()),
    };
    problems.extend(more.into_iter().map(|problem| draft.locate(problem)));
    let right = mechanics.is_some();
    if args.json {
        let text = diagnostics(&problems, &file, mechanics.as_ref()).to_string() + "\n";
        write::json(&text)?;
    } else {
        load::report(&problems, &file, args.model.quiet);
        if let (Some(mechanics), false) = (&mechanics, args.model.quiet) {
            write::stdout(&format!(
                "{}: {}\n",
                Paint::stdout().bold(&visible(&mechanics.model.name)),
                contents(mechanics)
            ))?;
        }
    }
    Ok(u8::from(!right))
}

/// What a model has, in one line.
fn contents(mechanics: &Mechanics) -> String {
    let model = &mechanics.model;
    let form = match mechanics.dynamics {
        Dynamics::Lagrangian(_) => "Lagrangian",
        Dynamics::Hamiltonian(_) => "Hamiltonian",
        Dynamics::Degenerate(_) => "degenerate Lagrangian",
    };
    let driven = model.coordinates.iter().filter(|c| c.driven.is_some()).count();
    let mut parts = vec![form.to_owned(), count(model.coordinates.len() as u64, "coordinate")];
    let others = [
        (driven, "driven"),
        (model.rows.len(), "constraint"),
        (model.forces.len(), "force"),
        (model.walls.len(), "wall"),
        (model.events.len(), "event"),
        (model.outputs.len(), "output"),
    ];
    for (n, what) in others.into_iter().filter(|(n, _)| *n > 0) {
        parts.push(if what == "driven" { format!("{n} driven") } else { count(n as u64, what) });
    }
    parts.join(", ")
}

fn diagnostics(problems: &[Diagnostic], file: &str, mechanics: Option<&Mechanics>) -> Value {
    let list = |errors: bool| -> Vec<Value> {
        let chosen = problems.iter().filter(|p| p.is_error() == errors);
        chosen
            .map(|p| {
                let place = p.place.as_ref();
                json!({
                    "message": p.message,
                    "hint": p.hint,
                    "line": place.map(|p| p.line),
                    "column": place.map(|p| p.column),
                    "length": place.map(|p| p.length),
                })
            })
            .collect()
    };
    json!({
        "file": file,
        "model": mechanics.map(|m| &m.model.name),
        "errors": list(true),
        "warnings": list(false),
    })
}
