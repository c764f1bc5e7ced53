//! What shells and `man` want to know of the command: completions, and pages of the manual, made from the same list of
//! arguments that is parsed.

use crate::args::Arguments;
use crate::failure::Failure;
use crate::write;
use clap::CommandFactory;
use clap_complete::Shell;
use std::path::Path;

/// Prints completions for a shell.
///
/// # Errors
/// If standard output cannot be written to.
pub fn completions(shell: Shell) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "carom", &mut bytes);
    write::bytes(&bytes).map(drop)
}

/// Writes `carom.1` and a page for every command into a folder.
///
/// # Errors
/// If a file cannot be written.
pub fn manual(folder: &str) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| Failure::write(folder, &error))?;
    let mut root = Arguments::command();
    // Gives the commands their full names: `carom-run`.
    root.build();
    let pages = root.get_subcommands().filter(|command| !command.is_hide_set());
    for command in std::iter::once(&root).chain(pages) {
        let name = format!("{}.1", command.get_display_name().unwrap_or("carom"));
        let mut page = Vec::new();
        let file = Path::new(folder).join(&name).to_string_lossy().into_owned();
        // The same on every day: without one.
        let written = clap_mangen::Man::new(command.clone().version(env!("CARGO_PKG_VERSION")))
            .date("")
            .render(&mut page);
        written.map_err(|error| Failure::write(&file, &error))?;
        write::file(&file, &page)?;
    }
    Ok(())
}
