//! TOML syntax errors in the words of someone who writes models.
//!
//! The parser may stumble several times over one mistake, so only the first error of a line is told.

use super::tree::place_of;
use crate::diagnostic::{Diagnostic, Source};
use std::ops::Range;
use toml_parser::{Expected, ParseError};

/// Most syntax errors told of one file.
const MOST: usize = 50;

/// The errors, one per line.
pub(crate) fn explain(source: &Source, errors: &[ParseError]) -> Vec<Diagnostic> {
    let mut sorted: Vec<(Range<usize>, &ParseError)> = errors.iter().map(|e| (place_of(e), e)).collect();
    sorted.sort_by_key(|(range, _)| range.start);
    let mut told = Vec::new();
    let mut last_line = 0;
    for (range, error) in sorted {
        let line = source.line(range.start);
        if line == last_line {
            continue;
        }
        last_line = line;
        told.push(explain_one(source, range, error));
        if told.len() == MOST {
            break;
        }
    }
    told
}

fn explain_one(source: &Source, range: Range<usize>, error: &ParseError) -> Diagnostic {
    let line_start = source.text[..range.start].rfind('\n').map_or(0, |i| i + 1);
    let line_end =
        source.text[range.start..].find(['\n', '\r']).map_or(source.text.len(), |i| i + range.start);
    let line = &source.text[line_start..line_end];
    let place = |from: usize, to: usize| source.place(line_start + from..line_start + to);

    // "\alpha": not an escape TOML knows.
    if let Some(backslash) = invalid_escape(line) {
        let word: String =
            line[backslash + 1..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let end = backslash + 1 + word.len();
        if !word.is_empty() {
            return Diagnostic::error(format!("`\\{word}` is not a name"))
                .at(place(backslash, end))
                .with_hint(format!("write {word}"));
        }
    }
    if let Some((key, equals)) = key_of(line) {
        let rest = strip_comment(&line[equals + 1..]);
        let value = rest.trim();
        let from = equals + 1 + (rest.len() - rest.trim_start().len());
        let to = from + value.len();
        if value.is_empty() {
            return Diagnostic::error(format!("`{key}` has no value"))
                .at(place(0, equals + 1))
                .with_hint(format!("write {key} = 1.0 or {key} = \"formula\""));
        }
        if value.starts_with(['“', '”', '„', '‘', '’', '«']) {
            let inner = value.trim_matches(['“', '”', '„', '‘', '’', '«', '»', '"']);
            return Diagnostic::error("these quotes are for books, not for files")
                .at(place(from, to))
                .with_hint(format!("write {key} = \"{inner}\""));
        }
        if value.starts_with('\'') {
            return Diagnostic::error("in single quotes a velocity x' would end the text")
                .at(place(from, to))
                .with_hint(format!("use double quotes: {key} = \"{}\"", value.trim_matches('\'')));
        }
        if value.starts_with('"') && value.matches('"').count() == 1 {
            return Diagnostic::error("the text is not closed")
                .at(place(from, to))
                .with_hint(format!("add the closing quote: {key} = {value}\""));
        }
        let open = |c| matches!(c, '"' | '\'' | '[' | '{');
        if !value.starts_with(open) && !value.contains('"') {
            if value.contains(',') && value.replace(',', ".").parse::<f64>().is_ok() {
                return Diagnostic::error("`,` is not a decimal sign")
                    .at(place(from, to))
                    .with_hint(format!("write {key} = {}", value.replace(',', ".")));
            }
            if let Some((number, rest)) = value.split_once(char::is_whitespace)
                && number.parse::<f64>().is_ok()
                && rest.trim_start().starts_with(|c: char| c.is_alphabetic() || c == '°')
                && rest.chars().all(|c| c.is_alphanumeric() || matches!(c, '/' | '^' | '*' | ' ' | '°' | '²'))
            {
                return Diagnostic::error("a number stands without its unit")
                    .at(place(from, to))
                    .with_hint(format!("write {key} = {number}; units are labels and go into [units]"));
            }
            if value.contains(',') && value.contains('=') {
                return Diagnostic::error("each entry stands on a line of its own")
                    .at(place(from, to))
                    .with_hint("start a new line at the comma");
            }
            if let Some(better) = nearly_a_number(value) {
                return Diagnostic::error(format!("`{value}` is not a number in TOML"))
                    .at(place(from, to))
                    .with_hint(format!("write {key} = {better}"));
            }
            let what = if key == "name" { "text" } else { "a formula" };
            return Diagnostic::error(format!("{what} must stand in double quotes"))
                .at(place(from, to))
                .with_hint(format!("write {key} = \"{value}\""));
        }
    } else if let Some((key, value)) = line.split_once(':').filter(|(key, _)| is_key(key.trim())) {
        let (key, value) = (key.trim(), value.trim());
        let from = line.find(':').unwrap_or(0);
        return Diagnostic::error("a value follows `=`, not `:`")
            .at(place(from, from + 1))
            .with_hint(format!("write {key} = {value}"));
    } else if let Some(header) = line.trim().strip_prefix('[').filter(|h| !h.starts_with('[')) {
        let header = header.split(['#', ']']).next().unwrap_or("").trim();
        let better = header.split_whitespace().collect::<Vec<_>>().join(".");
        if !better.is_empty() && better.split('.').all(is_key) {
            let from = line.len() - line.trim_start().len();
            let message =
                if better == header { "the `]` is missing" } else { "a table's name contains no spaces" };
            return Diagnostic::error(message)
                .at(place(from, line.trim_end().len()))
                .with_hint(format!("write [{better}]"));
        }
    } else if !line.trim_start().starts_with('[') && !line.contains('=') && !line.trim().is_empty() {
        let text = line.trim();
        let from = line.len() - line.trim_start().len();
        return Diagnostic::error("this line is neither `key = value` nor a [table]")
            .at(place(from, from + text.len()))
            .with_hint("put # before a comment");
    }
    let wrong = source.text.get(range.clone()).unwrap_or("");
    match error.description() {
        "string values must be quoted" => {
            return Diagnostic::error("names and formulas stand in double quotes")
                .at(source.place(range))
                .with_hint(format!("write \"{}\"", wrong.trim()));
        }
        "invalid unquoted key" if wrong.starts_with('\'') => {
            let word = source.text[line_start..range.start]
                .rsplit(|c: char| !is_key_character(c))
                .next()
                .unwrap_or("");
            let hint = match key_of(line) {
                Some(("velocity", _)) => {
                    format!("write {word} = …; `velocity` says already that it is a rate")
                }
                _ => format!("write \"{word}'\""),
            };
            return Diagnostic::error("a key with a prime stands in double quotes")
                .at(source.place(range.start - word.len()..range.end))
                .with_hint(hint);
        }
        "cannot recurse further; max recursion depth met" => {
            return Diagnostic::error("nested too deeply")
                .at(source.place(range))
                .with_hint("a model needs lists inside lists at most");
        }
        _ => {}
    }
    let mut diagnostic = Diagnostic::error(error.description())
        .at(source.place(range))
        .with_hint("an entry is `key = value`, a value is a number, \"text\", [a list] or { a = table }");
    if let Some(expected) = error.expected() {
        let words: Vec<String> = expected
            .iter()
            .map(|e| match e {
                Expected::Literal("\n") => "a new line".to_owned(),
                Expected::Literal(text) => format!("`{}`", text.escape_debug()),
                Expected::Description(text) => (*text).to_owned(),
                _ => "something else".to_owned(),
            })
            .collect();
        if !words.is_empty() {
            diagnostic.hint = Some(format!("expected {}", words.join(" or ")));
        }
    }
    diagnostic
}

/// `.5` and `5.` are numbers to everyone but TOML.
fn nearly_a_number(value: &str) -> Option<String> {
    let number: f64 = value.parse().ok()?;
    if !number.is_finite() {
        return None;
    }
    let (sign, digits) = match value.strip_prefix(['-', '+']) {
        Some(digits) => (if value.starts_with('-') { "-" } else { "" }, digits),
        None => ("", value),
    };
    let digits = digits.trim_start_matches('0');
    let digits = if digits.starts_with(|c: char| c.is_ascii_digit()) {
        digits.to_owned()
    } else {
        format!("0{digits}")
    };
    let digits = match digits.find('.') {
        Some(at) if !digits[at + 1..].starts_with(|c: char| c.is_ascii_digit()) => {
            format!("{}.0{}", &digits[..at], &digits[at + 1..])
        }
        _ => digits,
    };
    Some(format!("{sign}{digits}"))
}

/// The key of `key = …` and the byte of its `=`.
fn key_of(line: &str) -> Option<(&str, usize)> {
    let equals = line.find('=')?;
    let key = line[..equals].trim();
    is_key(key).then_some((key, equals))
}

fn is_key(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| is_key_character(c) || matches!(c, '.' | '"' | '\''))
}

fn is_key_character(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
}

/// A value without the comment after it.
fn strip_comment(value: &str) -> &str {
    let mut quoted = false;
    for (i, c) in value.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '#' if !quoted => return &value[..i],
            _ => {}
        }
    }
    value
}

/// The first backslash inside double quotes that does not start an escape.
fn invalid_escape(line: &str) -> Option<usize> {
    let mut quoted = false;
    let mut characters = line.char_indices();
    while let Some((i, c)) = characters.next() {
        match c {
            '"' => quoted = !quoted,
            '#' if !quoted => return None,
            '\\' if quoted => {
                let (_, escape) = characters.next()?;
                let hex = |n: usize| {
                    line.get(i + 2..i + 2 + n).is_some_and(|t| t.chars().all(|c| c.is_ascii_hexdigit()))
                };
                let valid = match escape {
                    'b' | 't' | 'n' | 'f' | 'r' | 'e' | '"' | '\\' => true,
                    'u' => hex(4),
                    'U' => hex(8),
                    'x' => hex(2),
                    _ => false,
                };
                if !valid {
                    return Some(i);
                }
            }
            _ => {}
        }
    }
    None
}
