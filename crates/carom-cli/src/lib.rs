//! The command `carom` as a library: reads arguments and files, calls the library, prints results.
//!
//! Promise: results go to standard output, everything else to standard error; the exit code says how it ended
//! (`failure`); a result file is whole or not there at all (`write`); what the system refuses ends with a sentence (`limits`).

mod args;
mod check;
mod cite;
mod compare;
mod completions;
mod derive;
mod failure;
mod film;
mod fit;
mod follow;
mod gradient;
mod help;
pub mod host;
mod interrupt;
mod limits;
mod load;
mod lyapunov;
#[cfg(feature = "tables")]
mod merge;
mod new;
mod orbit;
mod output_format;
mod paint;
mod run;
mod scan;
mod schema;
mod show;
mod simulate;
mod studio;
mod summary;
mod sweep;
mod terminal;
mod usage;
mod version;
mod write;

use args::{Arguments, Command};
use clap::Parser;
use failure::Failure;
use std::ffi::OsString;

pub use gradient::{SignalWeights, named_quantity, weighted};
pub use sweep::ensemble;
#[cfg(feature = "tables")]
pub use sweep::store;

/// Whether memory has room for a table of samples; a sentence if not.
///
/// # Errors
/// If it does not fit.
pub fn room_for_samples(count: usize, columns: usize) -> Result<(), String> {
    limits::samples(count, columns).map_err(|failure| failure.to_string())
}

/// Runs the command with these arguments, the first of them its own name, and returns its exit code. `carom` is this
/// function in a program of its own; the Python package calls it too.
pub fn run_command(arguments: Vec<OsString>) -> u8 {
    limits::keep_writing();
    let typed = or_help(arguments);
    let outcome = match Arguments::try_parse_from(&typed) {
        _ if version::wanted(&typed) => write::stdout(&version::verbose()).map(|()| 0),
        Ok(arguments) => dispatch(arguments.command),
        // Help and version are results; everything else is a usage error, which exits 1.
        Err(error) if error.use_stderr() => {
            let typed: Vec<String> = typed.iter().map(|w| w.to_string_lossy().into_owned()).collect();
            Err(usage::explain(&error, &typed))
        }
        Err(error) => {
            let text = error.render();
            let text =
                if paint::Paint::stdout().is_on() { text.ansi().to_string() } else { text.to_string() };
            write::bytes(text.as_bytes()).map(|_| 0)
        }
    };
    match outcome {
        Ok(code) => code,
        Err(failure) => {
            let message = failure.to_string();
            if !message.is_empty() {
                terminal::say(&format!("{} {message}", paint::Paint::stderr().red("error:")));
            }
            failure.code()
        }
    }
}

/// The arguments; without any, help is what is wanted.
fn or_help(arguments: Vec<OsString>) -> Vec<OsString> {
    if arguments.len() <= 1 { vec!["carom".into(), "--help".into()] } else { arguments }
}

fn dispatch(command: Command) -> Result<u8, Failure> {
    match command {
        Command::Check(args) => check::check(&args),
        Command::Derive(args) => derive::derive(&args),
        Command::Run(args) => run::run(&args),
        Command::Show(args) => show::show(&args),
        Command::Sweep(args) => sweep::sweep(&args),
        Command::Orbit(args) => orbit::orbit(&args),
        Command::Follow(args) => follow::follow(&args),
        Command::Lyapunov(args) => lyapunov::lyapunov(&args),
        #[cfg(feature = "tables")]
        Command::Merge(args) => merge::merge(&args),
        Command::Scan(args) => scan::scan(&args),
        Command::Fit(args) => fit::fit(&args),
        Command::New(new) => new::new(&new.name, !new.no_schema, new.quiet).map(|()| 0),
        Command::Schema(args) => schema::schema(&args),
        Command::Cite(args) => cite::cite(args.format).map(|()| 0),
        Command::Help(args) => help::help(&args),
        Command::Gallery(g) if g.markdown => new::page().map(|()| 0),
        Command::Completions(args) => completions::completions(args.shell).map(|()| 0),
        Command::Manual(args) => completions::manual(&args.folder).map(|()| 0),
        Command::Gallery(g) => new::gallery(g.name.as_deref(), g.print, g.quiet).map(|()| 0),
        Command::Studio(args) => studio::studio(&args),
        Command::Lsp(_) => carom_lsp::serve().map(|()| 0).map_err(Failure::wrong),
    }
}
