//! What people see on a terminal. Sentences go to standard error, and whether anybody can read them changes nothing: a closed
//! or full standard error is no reason to fail.
//!
//! Promise: the only control characters that reach a terminal are line ends, tabs and our own colours. Names, file names and
//! options are other people's text; what would move the cursor is made visible.

use crate::host;
use crate::paint::Paint;
use carom_mech::diagnostic::visible;
use std::io::{IsTerminal, Write};

/// Colours travel through a text as characters that no text may contain, and become escape sequences at the door.
const MARKS: [(char, &str); 6] = [
    ('\u{fdd0}', "0"),
    ('\u{fdd1}', "1"),
    ('\u{fdd2}', "2"),
    ('\u{fdd3}', "1;31"),
    ('\u{fdd4}', "1;33"),
    ('\u{fdd5}', "36"),
];

/// The mark of a colour; 0 ends them.
pub fn mark(colour: usize) -> char {
    MARKS[colour.min(MARKS.len() - 1)].0
}

/// A text of several lines for a terminal, with colours if it shows them.
pub fn shown(text: &str, colours: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for (i, line) in text.split('\n').enumerate() {
        if i > 0 {
            out.push('\n');
        }
        for (k, field) in line.split('\t').enumerate() {
            if k > 0 {
                out.push('\t');
            }
            let plain = visible(field);
            if !plain.contains(|c| ('\u{fdd0}'..='\u{fdef}').contains(&c)) {
                out.push_str(&plain);
                continue;
            }
            for c in plain.chars() {
                match MARKS.iter().find(|m| m.0 == c) {
                    Some((_, code)) if colours => {
                        out.push_str("\x1b[");
                        out.push_str(code);
                        out.push('m');
                    }
                    Some(_) => out.push('\u{fffd}'),
                    None => out.push(c),
                }
            }
        }
    }
    out
}

/// Would a terminal obey this character, line ends and tabs excepted?
pub fn is_dangerous(c: char) -> bool {
    !matches!(c, '\n' | '\t' | ' '..='~') && visible(c.encode_utf8(&mut [0; 4])) != c.to_string()
}

/// Says a sentence on standard error, if anybody listens.
pub fn say(text: &str) {
    if host::say() {
        return;
    }
    let mut text = shown(text, Paint::stderr().is_on());
    text.push('\n');
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Columns in a pipe.
const PAGE: usize = 100;
/// Longer lines are hard to read.
const WIDEST: usize = 140;
/// Narrower than this is no terminal.
const NARROWEST: usize = 40;

/// Columns that results may take: those of the terminal; in a pipe what `COLUMNS` says, else what fits a page.
pub fn columns() -> usize {
    let terminal = console::Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    let said = || std::env::var("COLUMNS").ok()?.trim().parse().ok();
    terminal.or_else(said).unwrap_or(PAGE).clamp(NARROWEST, WIDEST)
}

/// Words in lines of at most `width` columns; `lead` stands before the first, as many blanks before the others.
pub fn wrapped(lead: &str, text: &str, width: usize) -> String {
    let blank = " ".repeat(lead.chars().count());
    let mut lines: Vec<String> = Vec::new();
    let mut line = lead.to_owned();
    let mut empty = true;
    for word in text.split(' ').filter(|w| !w.is_empty()) {
        if !empty && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::replace(&mut line, blank.clone()));
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line += word;
        empty = false;
    }
    lines.push(line);
    lines.join("\n")
}

/// Is a person looking at standard output?
pub fn watched() -> bool {
    std::io::stdout().is_terminal()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_passes_but_line_ends_tabs_and_our_colours() {
        let hostile: String = ('\0'..='\u{a0}').chain(['\u{202e}', '\u{2066}', '\u{2028}']).collect();
        let text = shown(&format!("a{hostile}b"), true);
        let left: Vec<char> = text.chars().filter(|c| c.is_control()).collect();
        assert_eq!(left, ['\t', '\n']);
        assert!(text.contains('␛') && text.contains("\\u{9b}") && text.contains("\\u{202e}"), "{text}");
        let painted = format!("{}x\u{1b}[5m{}", mark(3), mark(0));
        assert_eq!(shown(&painted, false), "\u{fffd}x␛[5m\u{fffd}");
        assert_eq!(shown(&painted, true), "\x1b[1;31mx␛[5m\x1b[0m");
    }
}
