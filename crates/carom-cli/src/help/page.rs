//! The pages that the command line writes itself: results in JSON, commands and options, exit codes, reasons to stop.

use crate::args::Arguments;
use crate::failure::EXIT_CODES;
use carom_run::StopReason;
use carom_run::fields::{self, Field, FieldKind};
use clap::{Arg, CommandFactory};
use std::fmt::Write;

/// A result in JSON.
pub struct JsonResult {
    /// Which command's.
    pub command: &'static str,
    /// What it is.
    pub title: &'static str,
    /// Its fields.
    pub fields: &'static [Field],
}

/// Every result in JSON.
pub static RESULTS: [JsonResult; 9] = [
    JsonResult { command: "run", title: "A motion", fields: fields::MOTION },
    JsonResult { command: "derive", title: "Equations and impact laws", fields: carom_show::report::FIELDS },
    JsonResult { command: "check", title: "Errors and warnings", fields: crate::check::FIELDS },
    JsonResult { command: "sweep", title: "Summary of a sweep", fields: crate::sweep::FIELDS },
    JsonResult { command: "orbit", title: "A periodic orbit", fields: crate::orbit::FIELDS },
    JsonResult { command: "follow", title: "A branch of periodic orbits", fields: crate::follow::FIELDS },
    JsonResult { command: "lyapunov", title: "Lyapunov exponents", fields: crate::lyapunov::FIELDS },
    JsonResult { command: "scan", title: "Summary of a scan", fields: crate::scan::FIELDS },
    JsonResult { command: "fit", title: "A fit", fields: crate::fit::FIELDS },
];

/// “Results in JSON”.
pub fn json() -> String {
    let mut out = String::from(
        "# Results in JSON\n\n\
         `--json` prints one object on standard output; names and their order do not change within a version. Numbers are the shortest \
         that read back to the same double, and `null` where they are not finite. `carom schema run` prints a JSON Schema, likewise \
         `derive`, `check`, `sweep`, `orbit`, `follow`, `scan`, `lyapunov` and `fit`; the one of a motion is [here](../result.schema.json).\n",
    );
    for document in &RESULTS {
        _ = write!(out, "\n## {}: `carom {} --json`\n\n", document.title, document.command);
        out += &rows(document.fields.iter());
    }
    out
}

fn rows<'f>(fields: impl Iterator<Item = &'f Field>) -> String {
    let mut out = String::from("| field | holds | meaning |\n|---|---|---|\n");
    for field in fields {
        let holds = match field.kind {
            // The list is long, and has a table of its own.
            FieldKind::Word(words) if words.len() > 7 => {
                "a [reason to stop](commands.md#reasons-to-stop)".to_owned()
            }
            kind => kind.form(),
        };
        _ = writeln!(out, "| `{}` | {} | {} |", field.path, cell(&holds), cell(&field.sentence()));
    }
    out
}

/// Fields of this name, or with this path.
pub fn field(name: &str) -> Option<String> {
    let mut out = String::new();
    for document in &RESULTS {
        let is = |f: &&Field| {
            let plain = f.path.replace("[]", "");
            f.path == name
                || plain == name
                || (!name.contains('.') && f.path.rsplit('.').next() == Some(name))
        };
        let found: Vec<&Field> = document.fields.iter().filter(is).collect();
        if found.is_empty() {
            continue;
        }
        // An object is shown with what is in it.
        let inside = |f: &&Field| {
            found.iter().any(|o| {
                f.path.starts_with(&format!("{}.", o.path)) || f.path.starts_with(&format!("{}[].", o.path))
            })
        };
        let more: Vec<&Field> = document.fields.iter().filter(inside).collect();
        _ = write!(
            out,
            "{}# `{name}` in `carom {} --json`\n\n",
            if out.is_empty() { "" } else { "\n" },
            document.command
        );
        out += &rows(found.into_iter().chain(more));
    }
    (!out.is_empty()).then_some(out)
}

/// “Commands”.
pub fn commands() -> String {
    let mut all = Arguments::command();
    all.build();
    let mut out = String::from(
        "# Commands\n\nWhat `carom COMMAND --help` prints, in one page. MODEL is a model file, `-` for standard input, or the name of a gallery model.\n",
    );
    for command in all.get_subcommands().filter(|c| c.get_name() != "help" && !c.is_hide_set()) {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        _ = write!(
            out,
            "\n## carom {}\n\n{about}.\n\n| argument | meaning |\n|---|---|\n",
            command.get_name()
        );
        for arg in command.get_arguments().filter(|a| !a.is_hide_set() && a.get_id() != "help") {
            _ = writeln!(out, "| {} | {} |", spelling(arg), cell(&meaning(arg)));
        }
    }
    out += "\n## Exit codes\n\n| code | meaning |\n|---|---|\n";
    for (code, meaning) in EXIT_CODES {
        _ = writeln!(out, "| {code} | {meaning} |");
    }
    out += "\n## Reasons to stop\n\nThe `stop.reason` of a result. Ending early is a result: what was computed is there.\n\n\
            | reason | exit code | meaning | what to do |\n|---|---|---|---|\n";
    for reason in StopReason::ALL {
        let code = if reason.is_complete() { 0 } else { 2 };
        _ = writeln!(
            out,
            "| `{}` | {code} | {} | {} |",
            reason.name(),
            cell(reason.meaning()),
            cell(reason.way_out())
        );
    }
    out
}

/// A reason to stop.
pub fn stop(reason: StopReason) -> String {
    let code = if reason.is_complete() { 0 } else { 2 };
    let mut out =
        format!("# `{}`, a reason to stop (exit code {code})\n\n{}\n", reason.name(), reason.meaning());
    if !reason.way_out().is_empty() {
        _ = write!(out, "\n{}\n", reason.way_out());
    }
    out
}

/// `` `--until T` ``
fn spelling(arg: &Arg) -> String {
    let values = arg.get_value_names().map(|n| n.join(" ")).filter(|_| arg.get_action().takes_values());
    let long = arg.get_long().map(|l| format!("--{l}"));
    let short = arg.get_short().map(|s| format!("-{s}"));
    let names: Vec<String> = [short, long].into_iter().flatten().collect();
    let value = values.map(|v| if names.is_empty() { v } else { format!(" {v}") }).unwrap_or_default();
    format!("`{}{}`", names.join(", "), value.replace('|', "\\|"))
}

fn meaning(arg: &Arg) -> String {
    let mut text = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let words: Vec<String> = arg.get_possible_values().iter().map(|v| v.get_name().to_owned()).collect();
    if !words.is_empty() && words != ["true", "false"] {
        text += &format!(": {}", words.join(", "));
    }
    text
}

/// An option, and the commands that have it.
pub fn option(name: &str) -> Option<String> {
    let bare = name.trim_start_matches('-');
    if bare.len() == name.len() {
        return None;
    }
    let mut all = Arguments::command();
    all.build();
    let mut found: Vec<(String, String, Vec<String>)> = Vec::new();
    for command in all.get_subcommands() {
        let is =
            |a: &&Arg| a.get_long() == Some(bare) || a.get_short().is_some_and(|s| bare == s.to_string());
        for arg in command.get_arguments().filter(|a| a.get_id() != "help").filter(is) {
            let (spelling, meaning) = (spelling(arg), meaning(arg));
            match found.iter_mut().find(|f| f.0 == spelling && f.1 == meaning) {
                Some(same) => same.2.push(command.get_name().to_owned()),
                None => found.push((spelling, meaning, vec![command.get_name().to_owned()])),
            }
        }
    }
    let parts: Vec<String> = found
        .into_iter()
        .map(|(spelling, meaning, commands)| {
            format!("# {spelling}\n\n{meaning}\n\nOf: `carom {}`\n", commands.join("`, `carom "))
        })
        .collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

/// Every option, with its dashes.
pub fn options() -> Vec<String> {
    let all = Arguments::command();
    let long = |c: &clap::Command| {
        c.get_arguments().filter_map(|a| a.get_long().map(|l| format!("--{l}"))).collect::<Vec<_>>()
    };
    all.get_subcommands().flat_map(long).collect()
}

/// A bar would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
