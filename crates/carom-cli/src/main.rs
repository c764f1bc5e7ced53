//! The program `carom`: the command of the library, with an allocator that says so when there is no more memory.

mod memory;

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(carom_cli::run_command(std::env::args_os().collect()))
}
