//! Diagnostics as the page wants them: UTF-16 offsets, and a repair where the hint names one.

use crate::ask::Ask;
use carom::Diagnostic;
use carom_run::SimulateError;
use serde_json::{Value, json};

/// Why nothing was simulated, as diagnostics.
pub fn of_start(error: &SimulateError) -> Vec<Diagnostic> {
    let mut all: Vec<Diagnostic> = error.messages().into_iter().map(Diagnostic::error).collect();
    if let (Some(last), Some(hint)) = (all.last_mut(), error.hint()) {
        last.hint = Some(hint.to_owned());
    }
    all
}

/// Diagnostics as JSON.
pub fn list(found: &[Diagnostic], ask: &Ask<'_>) -> Vec<Value> {
    found.iter().map(|d| one(d, ask.text())).collect()
}

fn one(diagnostic: &Diagnostic, text: &str) -> Value {
    let place = diagnostic.place.as_ref();
    let here = place.filter(|p| p.origin.is_none());
    let range = here.map(|p| offsets(text, p.line, p.column, p.length));
    let hint = match diagnostic.message.as_str() {
        // A page has no files.
        m if m.starts_with("there is no table `")
            || m.starts_with("the table `") && m.contains("cannot be read") =>
        {
            Some("drop the table onto the page, or open it beside the model".to_owned())
        }
        _ => diagnostic.hint.clone(),
    };
    let fix = range.zip(hint.as_deref().and_then(|hint| meant(hint, &written(text, range))));
    json!({
        "severity": if diagnostic.is_error() { "error" } else { "warning" },
        "message": diagnostic.message,
        "hint": hint,
        "origin": place.and_then(|p| p.origin.clone()),
        "line": place.map(|p| p.line),
        "column": place.map(|p| p.column),
        "end": place.map(|p| p.column + p.length),
        "from": range.map(|r| r.0),
        "to": range.map(|r| r.1),
        "fix": fix.map(|((from, to), insert)| json!({
            "label": format!("Replace by {insert}"), "from": from, "to": to, "insert": insert,
        })),
    })
}

/// UTF-16 offsets of a place in a text whose byte order mark, if it has one, is not counted by places.
fn offsets(text: &str, line: usize, column: usize, length: usize) -> (usize, usize) {
    let units = |t: &str| t.chars().map(char::len_utf16).sum::<usize>();
    let mut rest = text;
    let mut from = 0;
    if let Some(after) = rest.strip_prefix('\u{feff}') {
        (rest, from) = (after, 1);
    }
    for _ in 1..line {
        let end = rest.find('\n').map_or(rest.len(), |at| at + 1);
        from += units(&rest[..end]);
        rest = &rest[end..];
    }
    let rest = rest.split('\n').next().unwrap_or("");
    let before: usize = rest.chars().take(column - 1).map(char::len_utf16).sum();
    let inside: usize = rest.chars().skip(column - 1).take(length).map(char::len_utf16).sum();
    (from + before, from + before + inside)
}

fn written(text: &str, range: Option<(usize, usize)>) -> String {
    let (from, to) = range.unwrap_or((0, 0));
    let units: Vec<u16> = text.encode_utf16().skip(from).take(to.saturating_sub(from)).collect();
    String::from_utf16_lossy(&units)
}

/// What a hint of the form “did you mean … `name`?” or “write `text`” would put in place of what is written; a hint that is a
/// question about several things names none.
fn meant(hint: &str, written: &str) -> Option<String> {
    let rest =
        hint.strip_prefix("did you mean ").or_else(|| hint.strip_prefix("write `").map(|_| &hint[6..]))?;
    let mut quoted = rest.split('`').skip(1).step_by(2);
    let (first, more) = (quoted.next()?, quoted.next());
    if more.is_some() || first.is_empty() || first.contains('…') || written.is_empty() {
        return None;
    }
    // What is marked may be the name with its quotes or primes: these stay.
    let bare = written.trim_matches(['"', '\'']);
    let name = |t: &str| t.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
    (name(bare) || !name(first)).then(|| written.replacen(bare, first, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_count_utf16_units_after_wide_letters_and_lines() {
        let text = "α = \"😀\"\r\nname = thetta\n";
        assert_eq!(offsets(text, 2, 8, 6), (17, 23));
        let units: Vec<u16> = text.encode_utf16().skip(17).take(6).collect();
        assert_eq!(String::from_utf16_lossy(&units), "thetta");
    }

    #[test]
    fn a_hint_that_names_what_was_meant_is_a_repair_and_others_are_not() {
        assert_eq!(meant("did you mean the coordinate `theta`?", "thetta").as_deref(), Some("theta"));
        assert_eq!(meant("did you mean `lagrangian`?", "lagrangain").as_deref(), Some("lagrangian"));
        assert_eq!(meant("did you mean `a` or `b`?", "c"), None);
        assert_eq!(meant("its place is relative to the model file", "u.csv"), None);
        assert_eq!(meant("add `theta` to the coordinates", "thetta"), None);
    }
}
