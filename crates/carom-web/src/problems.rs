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
    // A page has no files: a table is there or it is not.
    let missing =
        match diagnostic.message.strip_prefix("the table `").and_then(|m| m.split_once("` cannot be read")) {
            Some((name, _)) => Some(format!("there is no table `{name}`")),
            None => diagnostic.message.starts_with("there is no table `").then(|| diagnostic.message.clone()),
        };
    let hint = match missing {
        Some(_) => Some("drop the table onto the page, or open it beside the model".to_owned()),
        None => diagnostic.hint.clone(),
    };
    let said = hint.as_deref().unwrap_or_default();
    let fix = range
        .zip(meant(said, &written(text, range)))
        .or_else(|| here.and_then(|place| rewritten(said, text, place.line)))
        .map(|(range, insert)| (format!("Replace by {insert}"), range, insert))
        .or_else(|| here.and_then(|_| declared(said, text)));
    json!({
        "severity": if diagnostic.is_error() { "error" } else { "warning" },
        "message": missing.as_ref().unwrap_or(&diagnostic.message),
        "hint": hint,
        "origin": place.and_then(|p| p.origin.clone()),
        "line": place.map(|p| p.line),
        "column": place.map(|p| p.column),
        "end": place.map(|p| p.column + p.length),
        "from": range.map(|r| r.0),
        "to": range.map(|r| r.1),
        "fix": fix.map(|(label, (from, to), insert)| json!({
            "label": label, "from": from, "to": to, "insert": insert,
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
    let name = |t: &str| t.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
    // What is marked may be the name with its quotes or primes: these stay. A formula is written with its own primes.
    let bare = if name(first) { written.trim_matches(['"', '\'']) } else { written.trim_matches('"') };
    (name(bare) || !name(first)).then(|| written.replacen(bare, first, 1))
}

/// What a hint of the form “write key = value” would put in place of the value of that line, with the value's UTF-16 offsets:
/// only where it is the written one in another form (the same letters and digits, or the first of them), since other hints of
/// this form are examples.
fn rewritten(hint: &str, text: &str, line: usize) -> Option<((usize, usize), String)> {
    let (key, value) = hint.strip_prefix("write ")?.split_once(" = ")?;
    let value = value.split(';').next()?.trim();
    let there = text.strip_prefix('\u{feff}').unwrap_or(text).split('\n').nth(line.checked_sub(1)?)?;
    let (before, after) = there.split_once('=')?;
    let found = after.split('#').next()?.trim();
    let signs = |t: &str| t.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    let (ours, theirs) = (signs(value), signs(found));
    if before.trim() != key || ours.is_empty() || !theirs.starts_with(&ours) || found.contains('"') {
        return None;
    }
    let start = before.chars().count() + 1 + after.chars().take_while(|c| c.is_whitespace()).count();
    Some((offsets(text, line, start + 1, found.chars().count()), value.to_owned()))
}

/// What a hint of the form “a constant goes into [parameters]: k = 1.0; …” would write: the line below the head of that table, which
/// is put at the end where there is none. The line above it is replaced by itself, so the page knows the place again.
fn declared(hint: &str, text: &str) -> Option<(String, (usize, usize), String)> {
    let line = hint.strip_prefix("a constant goes into [parameters]: ")?.split(';').next()?;
    let is_head = |t: &str| t.split('#').next().is_some_and(|t| t.trim() == "[parameters]");
    let units = |t: &str| t.encode_utf16().count();
    let mut at = 0;
    let mut last = ((0, 0), "");
    for there in text.split('\n') {
        let range = (at, at + units(there));
        if is_head(there) {
            return Some((format!("Add {line}"), range, format!("{there}\n{line}")));
        }
        if !there.trim().is_empty() {
            last = (range, there);
        }
        at = range.1 + 1;
    }
    Some((format!("Add {line}"), last.0, format!("{}\n\n[parameters]\n{line}", last.1)))
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
        assert_eq!(meant("did you mean `theta`?", "thetta'").as_deref(), Some("theta'"));
        assert_eq!(meant("write `2*phi'`", "2 phi'").as_deref(), Some("2*phi'"));
        assert_eq!(meant("did you mean `a` or `b`?", "c"), None);
        assert_eq!(meant("its place is relative to the model file", "u.csv"), None);
        assert_eq!(meant("add `theta` to the coordinates", "thetta"), None);
    }

    #[test]
    fn a_value_in_another_form_is_a_repair_and_an_example_is_none() {
        let text = "[parameters]\ng = 9,81 # Earth\n[run]\nuntil = 10 s\nsamples = 7000000000\n";
        let replaced = |hint: &str, line: usize| {
            let ((from, to), insert) = rewritten(hint, text, line)?;
            Some(format!("{}{insert}{}", &text[..from], &text[to..]))
        };
        assert_eq!(replaced("write g = 9.81", 2), Some(text.replace("9,81", "9.81")));
        assert_eq!(replaced("write until = 10; units are labels", 4), Some(text.replace("10 s", "10")));
        assert_eq!(replaced("write samples = 201", 5), None);
        assert_eq!(replaced("write until = 10", 2), None);
        assert_eq!(replaced("write until = …, the end time", 4), None);
    }

    #[test]
    fn an_unknown_constant_is_declared_in_its_table() {
        let hint = "a constant goes into [parameters]: k = 1.0; a formula into [define]";
        let repaired = |text: &str| {
            let (label, (from, to), insert) = declared(hint, text).expect("it is a repair");
            assert_eq!(label, "Add k = 1.0");
            let units: Vec<u16> = text.encode_utf16().collect();
            format!(
                "{}{insert}{}",
                String::from_utf16_lossy(&units[..from]),
                String::from_utf16_lossy(&units[to..])
            )
        };
        assert_eq!(
            repaired("# 😀\n[parameters] # all\ng = 1\n"),
            "# 😀\n[parameters] # all\nk = 1.0\ng = 1\n"
        );
        assert_eq!(repaired("[parameters]"), "[parameters]\nk = 1.0");
        assert_eq!(repaired("[run]\nuntil = 1\n"), "[run]\nuntil = 1\n\n[parameters]\nk = 1.0\n");
        assert!(declared("write k = 1.0", "").is_none());
    }
}
