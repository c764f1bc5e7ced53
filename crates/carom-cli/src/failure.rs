//! How a command ends: 0 done; 1 the model or the options are wrong; 2 the simulation stopped early; 3 a file could not
//! be read or written.

use std::fmt;

/// Every exit code and what it says.
pub const EXIT_CODES: [(u8, &str); 4] = [
    (0, "Done: the motion ended as asked for, the model is right, the file is written."),
    (1, "The model or the options are wrong; nothing was simulated."),
    (2, "The simulation stopped early, for a reason that the result names; what was computed is written."),
    (3, "A file could not be read or written."),
];

/// Why a command could not do its work. What it says has no trailing newline and goes to stderr.
#[derive(Debug)]
pub enum Failure {
    /// The model or the options are wrong; nothing was simulated.
    Wrong(String),
    /// Already reported in full.
    Reported(u8),
    /// A file could not be read or written.
    File(String),
    /// The same, with the system's number for the reason.
    System(String, i32),
}

impl Failure {
    /// Wrong options, with a sentence.
    pub fn wrong(message: impl Into<String>) -> Failure {
        Failure::Wrong(message.into())
    }

    /// A file could not be read.
    pub fn read(file: &str, error: &std::io::Error) -> Failure {
        Failure::refused_by_system(format!("cannot read {file}: {}", reason(error)), error)
    }

    /// A file could not be written.
    pub fn write(file: &str, error: &std::io::Error) -> Failure {
        Failure::refused_by_system(format!("cannot write {file}: {}", reason(error)), error)
    }

    fn refused_by_system(message: String, error: &std::io::Error) -> Failure {
        match error.raw_os_error() {
            Some(code) => Failure::System(message, code),
            None => Failure::File(message),
        }
    }

    /// The same with a hint.
    pub fn with_hint(self, hint: &str) -> Failure {
        let hinted = |message: String| format!("{message}\n  hint: {hint}");
        match self {
            Failure::Wrong(message) => Failure::Wrong(hinted(message)),
            Failure::File(message) => Failure::File(hinted(message)),
            Failure::System(message, code) => Failure::System(hinted(message), code),
            Failure::Reported(code) => Failure::Reported(code),
        }
    }

    /// The exit code.
    pub fn code(&self) -> u8 {
        match self {
            Failure::Wrong(_) => 1,
            Failure::Reported(code) => *code,
            Failure::File(_) | Failure::System(..) => 3,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Wrong(message) | Failure::File(message) | Failure::System(message, _) => {
                f.write_str(message)
            }
            Failure::Reported(_) => Ok(()),
        }
    }
}

/// The system's words without its error number.
fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((words, _)) => words.to_lowercase(),
        None => text,
    }
}
