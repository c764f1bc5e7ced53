//! What is wrong with a model, where, and what to do about it.

use std::fmt;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// The model can be used, but look here.
    Warning,
    /// The model cannot be used.
    Error,
}

/// Where in the model file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// Line, counted from 1.
    pub line: usize,
    /// Column of the first character, counted from 1 in characters.
    pub column: usize,
    /// Number of characters, at least 1.
    pub length: usize,
    /// The whole line.
    pub source_line: String,
}

/// One thing that is wrong, with a way out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Where, if it has a place in the file.
    pub place: Option<Place>,
    /// One sentence, lower case, no full stop.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// An error without a place.
    pub fn error(message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Error, place: None, message: message.into(), hint: None }
    }

    /// A warning without a place.
    pub fn warning(message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, place: None, message: message.into(), hint: None }
    }

    /// The same with a way out.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Diagnostic {
        self.hint = Some(hint.into());
        self
    }

    /// The same at a place.
    pub fn at(mut self, place: Place) -> Diagnostic {
        self.place = Some(place);
        self
    }

    /// The message as a terminal shows it: sentence, file and line, source line, caret and hint.
    pub fn render(&self, file: &str) -> String {
        let kind = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let head = format!("{kind}: {}", self.message);
        let hint = self.hint.as_ref().map(|h| format!("hint: {h}"));
        match &self.place {
            Some(place) => {
                let number = place.line.to_string();
                let indent = " ".repeat(number.len());
                let mut out = format!("{head:<53} {file}:{}\n", place.line);
                out += &format!("  {number} | {}\n", place.source_line);
                out += &format!(
                    "  {indent} | {}{}",
                    " ".repeat(place.column.saturating_sub(1)),
                    "^".repeat(place.length.max(1))
                );
                if let Some(hint) = hint {
                    out += &format!(" {hint}");
                }
                out
            }
            None => match hint {
                Some(hint) => format!("{head:<53} {file}\n  {hint}"),
                None => format!("{head:<53} {file}"),
            },
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " (hint: {hint})"),
            None => Ok(()),
        }
    }
}
