//! Colour, only on a terminal that wants it (`NO_COLOR` is respected).

use crate::terminal::mark;
use std::io::IsTerminal;

/// Which colours a stream shows.
#[derive(Clone, Copy, Debug)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// No colours.
    #[cfg(test)]
    pub fn off() -> Paint {
        Paint { on: false }
    }

    /// For standard output.
    pub fn stdout() -> Paint {
        Paint { on: wanted() && std::io::stdout().is_terminal() }
    }

    /// For standard error.
    pub fn stderr() -> Paint {
        Paint { on: wanted() && std::io::stderr().is_terminal() }
    }

    /// Are there colours?
    pub fn is_on(self) -> bool {
        self.on
    }

    /// What is written goes through `terminal`, which turns marks into colours.
    fn with(self, colour: usize, text: &str) -> String {
        if self.on { format!("{}{text}{}", mark(colour), mark(0)) } else { text.to_owned() }
    }

    /// Headings.
    pub fn bold(self, text: &str) -> String {
        self.with(1, text)
    }

    /// What may be skipped.
    pub fn dim(self, text: &str) -> String {
        self.with(2, text)
    }

    /// Errors.
    pub fn red(self, text: &str) -> String {
        self.with(3, text)
    }

    /// Warnings.
    pub fn yellow(self, text: &str) -> String {
        self.with(4, text)
    }

    /// Names to type.
    pub fn cyan(self, text: &str) -> String {
        self.with(5, text)
    }

    /// A rendered diagnostic: its first word and its carets.
    pub fn diagnostic(self, text: &str) -> String {
        if !self.on {
            return text.to_owned();
        }
        let mut out = String::new();
        for (i, line) in text.lines().enumerate() {
            if i > 0 {
                out.push('\n');
            }
            if i == 0 {
                if let Some(rest) = line.strip_prefix("error:") {
                    out += &(self.red("error:") + rest);
                    continue;
                }
                if let Some(rest) = line.strip_prefix("warning:") {
                    out += &(self.yellow("warning:") + rest);
                    continue;
                }
            }
            match (line.find('^'), line.find('|')) {
                (Some(caret), Some(bar)) if bar < caret && line[bar + 1..caret].trim().is_empty() => {
                    out += &line[..caret];
                    out += &self.red(&line[caret..]);
                }
                _ => out += line,
            }
        }
        out
    }
}

fn wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
        && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
}
