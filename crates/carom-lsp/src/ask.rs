//! The same answers without a conversation, for pages: one text, one question. Offsets are UTF-16.

use crate::analysis::OpenDocument;
use crate::{complete, hover, names};
use serde_json::Value;
use std::ops::Range;

/// A name of a model: what it is, where it is made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModelName {
    /// The name.
    pub name: String,
    /// coordinate, parameter, wall, …
    pub kind: &'static str,
    /// UTF-16 offsets of the place where it is made.
    pub at: Range<usize>,
    /// Can formulas use it?
    pub in_formulas: bool,
}

/// What may be typed at an offset, as the protocol of language servers writes it.
pub fn complete(text: &str, offset: usize) -> Value {
    complete::complete(&checked(text), byte_of(text, offset))
}

/// What stands at an offset, as the protocol of language servers writes it.
pub fn hover(text: &str, offset: usize) -> Option<Value> {
    hover::hover(&checked(text), byte_of(text, offset))
}

/// Every name of a text, as far as it can be read.
///
/// ```
/// let names = carom_lsp::ask::names("coordinates = [\"x\"]\nlagrangian = \"x'^2/2\"");
/// assert_eq!((names[0].name.as_str(), names[0].kind, names[0].at.clone()), ("x", "coordinate", 16..17));
/// ```
pub fn names(text: &str) -> Vec<ModelName> {
    let (draft, _) = carom_mech::Draft::parse(text, "model.toml");
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let unit = |byte: usize| text.get(..byte).map_or(0, |before| before.encode_utf16().count());
    let made = names::made(&draft).into_iter();
    made.map(|m| ModelName {
        name: m.name,
        kind: m.kind.word(),
        at: unit(m.at.start)..unit(m.at.end),
        in_formulas: m.kind.in_formulas(),
    })
    .collect()
}

fn checked(text: &str) -> OpenDocument {
    let mut document = OpenDocument::new(text.to_owned(), "model.toml", None);
    document.check();
    document
}

fn byte_of(text: &str, offset: usize) -> usize {
    let mut units = 0;
    for (byte, c) in text.char_indices() {
        if units >= offset {
            return byte;
        }
        units += c.len_utf16();
    }
    text.len()
}
