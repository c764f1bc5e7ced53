//! `carom help TOPIC`: the reference, where it is needed. The same texts are the pages of docs/book/src/reference.
//!
//! A topic is looked up in this order: commands (they win), the pages (`model`, `formulas`, `json`, `messages`, `stops`, `codes`),
//! tables (`"[run]"`, `wall`), keys of model files, functions, reasons to stop, fields of results, exit codes, options,
//! messages. What is several things is shown as all of them. What is nothing gets suggestions.

mod page;
mod terminal;

use crate::args::{Arguments, HelpArgs};
use crate::failure::{EXIT_CODES, Failure};
use crate::load::suggestion;
use crate::paint::Paint;
use crate::write;
use carom_mech::{mistakes, reference, schema};
use carom_run::{StopReason, fields::Field};
use clap::{CommandFactory, Parser};
pub use page::RESULTS;

/// The pages, with a line on each.
pub const PAGES: [(&str, &str); 6] = [
    ("model", "every table and key of a model file"),
    ("formulas", "how formulas are written, and the functions"),
    ("json", "every field of the results that --json prints"),
    ("commands", "every command and option, exit codes, reasons to stop"),
    ("messages", "what is said about wrong models, and what to do"),
    ("topics", "this list"),
];

/// Runs the command.
///
/// # Errors
/// If there is no such topic.
pub fn help(args: &HelpArgs) -> Result<u8, Failure> {
    let topic = args.topic.join(" ");
    if topic.is_empty() {
        return overview();
    }
    if let Some(text) = command(&args.topic) {
        return write::bytes(text.as_bytes()).map(|_| 0);
    }
    let text = page(&topic).or_else(|| lookup(&topic)).ok_or_else(|| unknown(&topic))?;
    if args.markdown {
        return write::result(text.as_bytes()).map(|_| 0);
    }
    write::stdout(&terminal::render(&text, terminal::width(), Paint::stdout())).map(|()| 0)
}

/// A whole page of the reference, as Markdown.
fn page(topic: &str) -> Option<String> {
    Some(match topic {
        "model" => reference::model(),
        "formulas" | "formula" => reference::formulas(),
        "json" => page::json(),
        "commands" => page::commands(),
        "messages" | "errors" => mistakes::page(),
        "topics" => topics(),
        _ => return None,
    })
}

fn topics() -> String {
    let mut out = String::from("# Topics of `carom help`\n\n| topic | what it is |\n|---|---|\n");
    for (name, line) in PAGES {
        out += &format!("| `{name}` | {line} |\n");
    }
    out += "| a command | its options, as with `--help` |\n\
            | a table: `wall`, `\"[run]\"` | its keys and an example |\n\
            | a key: `restitution` | what to write and what it means |\n\
            | a function: `atan2` | its value |\n\
            | a reason to stop: `squeezed` | what it means and what to do |\n\
            | a field of a result: `audit.steps` | what it holds |\n\
            | an option: `--until` | which commands have it |\n\
            | an exit code: `2` | what it says |\n\
            | words of a message | what it means and what to do |\n";
    out
}

/// What `carom --help` prints, and where to go on.
fn overview() -> Result<u8, Failure> {
    let mut command = Arguments::command();
    write::bytes(styled(&command.render_help()).as_bytes())?;
    write::stdout(&format!("\n{}", terminal::render(&topics(), terminal::width(), Paint::stdout())))
        .map(|()| 0)
}

/// The help of a command: what `carom COMMAND --help` prints.
fn command(words: &[String]) -> Option<String> {
    let [name] = words else { return None };
    Arguments::command().find_subcommand(name)?;
    let asked = Arguments::try_parse_from(["carom", name.as_str(), "--help"]).err()?;
    Some(styled(&asked.render()))
}

fn styled(text: &clap::builder::StyledStr) -> String {
    if Paint::stdout().is_on() { text.ansi().to_string() } else { text.to_string() }
}

/// Everything that has this name.
fn lookup(topic: &str) -> Option<String> {
    let bare = topic.trim();
    // `[run]` and `[wall.floor]` are tables for certain.
    if let Some(table) = bare.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
        return table_named(table);
    }
    let mut found: Vec<String> = Vec::new();
    found.extend(table_named(bare).filter(|_| !bare.is_empty()));
    found.extend(reference::key(bare));
    let function = bare.trim_end_matches(')').trim_end_matches('(');
    found.extend(
        reference::functions()
            .find(|f| f.0 == function)
            .map(|(name, arguments, meaning)| format!("# `{name}({arguments})`, a function\n\n{meaning}\n")),
    );
    found.extend(StopReason::ALL.iter().find(|r| r.name() == bare).map(|r| page::stop(*r)));
    found.extend(page::field(bare));
    found.extend(
        EXIT_CODES
            .iter()
            .find(|c| c.0.to_string() == bare)
            .map(|(code, meaning)| format!("# Exit code {code}\n\n{meaning}\n")),
    );
    found.extend(page::option(bare));
    found.extend(mistakes::mistakes().iter().filter(|m| m.name == bare).map(|m| m.section(1)));
    if found.is_empty() {
        found.extend(mistakes::explain(bare).iter().map(|m| m.section(1)));
    }
    (!found.is_empty()).then(|| found.join("\n"))
}

fn table_named(name: &str) -> Option<String> {
    reference::table(name).or_else(|| {
        let (first, _) = name.split_once('.')?;
        reference::table(first).filter(|_| schema::is_labelled(first) || schema::tables().contains(&first))
    })
}

/// Every name that can be asked for.
pub fn names() -> Vec<String> {
    let mut names: Vec<String> = PAGES.iter().map(|p| p.0.to_owned()).collect();
    names.extend(Arguments::command().get_subcommands().map(|c| c.get_name().to_owned()));
    names.extend(schema::tables().iter().map(|t| (*t).to_owned()));
    names.extend(schema::schema().iter().filter(|e| e.key != "*").map(|e| e.key.to_owned()));
    names.extend(reference::functions().map(|f| f.0.to_owned()));
    names.extend(StopReason::ALL.iter().map(|r| r.name().to_owned()));
    let last = |f: &Field| f.path.rsplit('.').next().unwrap_or(f.path).to_owned();
    names.extend(RESULTS.iter().flat_map(|r| r.fields.iter().map(last)));
    names.extend(page::options());
    names.extend(mistakes::mistakes().iter().map(|m| m.name.to_owned()));
    names.sort();
    names.dedup();
    names
}

fn unknown(topic: &str) -> Failure {
    let names = names();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    if let Some(entry) = carom::gallery::find(topic.trim_end_matches(".toml")) {
        let name = entry.name;
        return Failure::wrong(format!(
            "`{name}` is a model of the gallery, not a topic\n  hint: `carom gallery {name}` copies it, `carom derive {name}` explains it"
        ));
    }
    let hint = match suggestion(topic.trim_matches(['[', ']']), &names) {
        Some(near) => format!("did you mean `carom help {near}`?"),
        None => "`carom help topics` says what there is".to_owned(),
    };
    Failure::wrong(format!("there is no topic `{topic}`\n  hint: {hint}"))
}
