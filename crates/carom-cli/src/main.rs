//! The command `carom`: reads arguments and files, calls the library, prints results.
//!
//! Promise: results go to standard output, everything else to standard error; the exit code says how it ended
//! (`failure`); a result file is whole or not there at all (`write`).

mod args;
mod check;
mod derive;
mod failure;
mod film;
mod form;
mod interrupt;
mod load;
mod paint;
mod run;
mod show;
mod simulate;
mod start;
mod summary;
mod sweep;
mod write;

use args::{Arguments, Command};
use clap::Parser;
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse_from(arguments()) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are results; everything else is a usage error, which exits 1.
            let wanted = !error.use_stderr();
            let _ = error.print();
            return ExitCode::from(u8::from(!wanted));
        }
    };
    match dispatch(arguments.command) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            let message = failure.to_string();
            if !message.is_empty() {
                eprintln!("{} {message}", paint::Paint::stderr().red("error:"));
            }
            ExitCode::from(failure.code())
        }
    }
}

/// The arguments; without any, help is what is wanted.
fn arguments() -> Vec<std::ffi::OsString> {
    let mut arguments: Vec<_> = std::env::args_os().collect();
    if arguments.len() <= 1 {
        arguments = vec!["carom".into(), "--help".into()];
    }
    arguments
}

fn dispatch(command: Command) -> Result<u8, Failure> {
    match command {
        Command::Check(args) => check::check(&args),
        Command::Derive(args) => derive::derive(&args),
        Command::Run(args) => run::run(&args),
        Command::Show(args) => show::show(&args),
        Command::Sweep(args) => sweep::sweep(&args),
        Command::New(new) => start::new(&new.name, new.quiet).map(|()| 0),
        Command::Gallery(g) => start::gallery(g.name.as_deref(), g.print, g.quiet).map(|()| 0),
    }
}
