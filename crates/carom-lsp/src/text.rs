//! A document: lines, and positions as the protocol counts them (line, UTF-16 code units) against bytes.

use serde_json::{Value, json};
use std::ops::Range;

/// The text of a document.
#[derive(Clone, Debug, Default)]
pub struct Text {
    /// The text as the editor has it.
    pub text: String,
    starts: Vec<usize>,
}

impl Text {
    pub fn new(text: String) -> Text {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect();
        Text { text, starts }
    }

    /// Line `line`, counted from 0, without its end.
    pub fn line(&self, line: usize) -> &str {
        let Some(&start) = self.starts.get(line) else { return "" };
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        self.text[start..end].trim_end_matches(['\n', '\r'])
    }

    /// The byte of a position; positions beyond a line are its end.
    pub fn offset(&self, line: usize, utf16: usize) -> usize {
        let Some(&start) = self.starts.get(line) else { return self.text.len() };
        let mut units = 0;
        for (i, c) in self.line(line).char_indices() {
            if units >= utf16 {
                return start + i;
            }
            units += c.len_utf16();
        }
        start + self.line(line).len()
    }

    /// Line and UTF-16 column of a byte.
    pub fn position(&self, offset: usize) -> (usize, usize) {
        let offset = offset.min(self.text.len());
        let line = self.starts.partition_point(|&s| s <= offset).max(1) - 1;
        let start = self.starts[line];
        let before = self.text.get(start..offset).unwrap_or("");
        (line, before.trim_end_matches('\r').encode_utf16().count())
    }

    /// A range of bytes as the protocol writes it.
    pub fn range(&self, range: &Range<usize>) -> Value {
        let at = |offset: usize| {
            let (line, character) = self.position(offset);
            json!({ "line": line, "character": character })
        };
        json!({ "start": at(range.start), "end": at(range.end) })
    }

    /// The byte of a position as the protocol writes it.
    pub fn byte(&self, position: &Value) -> usize {
        let number = |key: &str| position[key].as_u64().unwrap_or(0) as usize;
        self.offset(number("line"), number("character"))
    }

    /// Applies a change: of a range, or of everything.
    pub fn change(&mut self, change: &Value) {
        let Some(new) = change["text"].as_str() else { return };
        let range = &change["range"];
        if !range.is_object() {
            *self = Text::new(new.to_owned());
            return;
        }
        let (start, end) = (self.byte(&range["start"]), self.byte(&range["end"]));
        let mut text = std::mem::take(&mut self.text);
        text.replace_range(start..end.max(start), new);
        *self = Text::new(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_utf16_and_come_back() {
        let text = Text::new("a = \"θ𝜃x\"\r\nsecond\n\nlast".to_owned());
        for (i, c) in text.text.char_indices() {
            if matches!(c, '\r' | '\n') {
                continue;
            }
            let (line, column) = text.position(i);
            assert_eq!(text.offset(line, column), i, "{c:?}");
        }
        // θ is one unit, 𝜃 two.
        assert_eq!(text.position(text.text.find('x').unwrap()), (0, 8));
        assert_eq!(text.offset(0, 99), text.text.find('\r').unwrap());
        assert_eq!(text.offset(99, 0), text.text.len());
        assert_eq!(text.line(1), "second");
    }

    #[test]
    fn changes_of_ranges_are_what_the_editor_sees() {
        let mut text = Text::new("gap = \"θ - 1\"\nx\n".to_owned());
        let range = json!({ "start": { "line": 0, "character": 7 }, "end": { "line": 0, "character": 8 } });
        text.change(&json!({ "range": range, "text": "theta" }));
        assert_eq!(text.text, "gap = \"theta - 1\"\nx\n");
        let range = json!({ "start": { "line": 1, "character": 0 }, "end": { "line": 2, "character": 0 } });
        text.change(&json!({ "range": range, "text": "" }));
        assert_eq!(text.text, "gap = \"theta - 1\"\n");
        text.change(&json!({ "text": "new" }));
        assert_eq!(text.text, "new");
    }
}
