//! What is known about a document: its draft, the model if there is one, what is wrong.

use crate::text::Text;
use carom_mech::{Diagnostic, Draft, Model};
use serde_json::{Value, json};

/// A document and what the checker says about it.
pub struct OpenDocument {
    pub text: Text,
    /// What the text says, mistakes and all.
    pub draft: Draft,
    /// The last model that was right, for values and units.
    pub model: Option<Model>,
    /// File name, for tables beside it.
    file: String,
    pub version: Option<i64>,
}

impl OpenDocument {
    pub fn new(text: String, uri: &str, version: Option<i64>) -> OpenDocument {
        let file = path_of(uri);
        OpenDocument { text: Text::new(text), draft: Draft::default(), model: None, file, version }
    }

    /// Reads and checks the text as it stands; answers the diagnostics as the protocol writes them.
    pub fn check(&mut self) -> Vec<Value> {
        if !looks_like_a_model(&self.text.text) {
            self.draft = Draft::default();
            self.model = None;
            return Vec::new();
        }
        let (draft, mut problems) = Draft::parse(&self.text.text, &self.file);
        let (mechanics, more) = draft.examine();
        problems.extend(more);
        carom_mech::diagnostic::tidy(&mut problems);
        self.draft = draft;
        if let Some(mechanics) = mechanics {
            self.model = Some(mechanics.model);
        }
        problems.iter().map(|p| self.diagnostic(p)).collect()
    }

    fn diagnostic(&self, problem: &Diagnostic) -> Value {
        let mut message = problem.message.clone();
        if let Some(hint) = &problem.hint {
            message += &format!("\nhint: {hint}");
        }
        let place = problem.place.as_ref().filter(|place| place.origin.is_none());
        let range = match place {
            Some(place) => {
                // Columns of a place are characters of the line.
                let line = self.text.line(place.line - 1);
                let skipped = bom(&self.text.text, place.line);
                let units =
                    |count: usize| -> usize { line.chars().take(count + skipped).map(char::len_utf16).sum() };
                let (start, end) = (units(place.column - 1), units(place.column - 1 + place.length));
                let at = |character: usize| json!({ "line": place.line - 1, "character": character });
                json!({ "start": at(start), "end": at(end) })
            }
            None => self.text.range(&(0..self.text.line(0).len())),
        };
        json!({
            "range": range,
            "severity": if problem.is_error() { 1 } else { 2 },
            "source": "carom",
            "message": message,
        })
    }
}

/// The reader does not count a byte order mark.
fn bom(text: &str, line: usize) -> usize {
    usize::from(line == 1 && text.starts_with('\u{feff}'))
}

/// Is this a model, or some other TOML file that the editor has open?
fn looks_like_a_model(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start_matches('\u{feff}').trim_start();
        line.starts_with("coordinates")
            || line.starts_with("lagrangian")
            || line.starts_with("hamiltonian")
            || (line.starts_with("#:schema") && line.contains("carom"))
    })
}

/// The path of a `file:` address.
fn path_of(uri: &str) -> String {
    let path = uri.strip_prefix("file://").unwrap_or(uri);
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let code = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match code.filter(|_| first == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_left_alone_and_addresses_become_paths() {
        assert!(!looks_like_a_model("[package]\nname = \"x\"\n"));
        assert!(looks_like_a_model("# mine\n coordinates = [\"x\"]\n"));
        assert_eq!(path_of("file:///home/a%20b/m.toml"), "/home/a b/m.toml");
        assert_eq!(path_of("untitled:Untitled-1"), "untitled:Untitled-1");
        assert_eq!(path_of("file:///%zz%4"), "/%zz%4");
    }
}
