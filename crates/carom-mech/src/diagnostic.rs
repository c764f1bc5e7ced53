//! What is wrong with a model file: a place, a sentence, a way out.
//!
//! ```text
//! error: unknown name `thetta`                         models/pendulum.toml:9
//!   9 | kinetic = "m/2*l^2*thetta'^2"
//!     |                    ^^^^^^ hint: did you mean the coordinate `theta`?
//! ```
//!
//! Promise: the carets stand under exactly the characters that are meant, whatever escapes, tabs or wide
//! characters come before them.

use std::ops::Range;

/// How bad it is.
///
/// ```
/// assert!(carom_mech::Severity::Error > carom_mech::Severity::Warning);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// There is a model, but probably not the one that was meant.
    Warning,
    /// There is no model until this is repaired.
    Error,
}

/// Something to tell the author of a model.
///
/// ```
/// let (_, problems) = carom_mech::Draft::parse("coordinates = [\"x\"]\nlagrangain = \"x'^2\"", "m.toml");
/// assert_eq!(problems[0].message, "unknown key `lagrangain`");
/// assert_eq!(problems[0].hint.as_deref(), Some("did you mean `lagrangian`?"));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// Where, if it has a place.
    pub place: Option<Place>,
    /// What is wrong, one sentence.
    pub message: String,
    /// A way out.
    pub hint: Option<String>,
}

/// A place in a text.
///
/// ```
/// let (_, problems) = carom_mech::Draft::parse("coordinates = [\"x\"]\nlagrangain = \"x'^2\"", "m.toml");
/// let place = problems[0].place.as_ref().unwrap();
/// assert_eq!((place.line, place.column, place.length), (2, 1, 10));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// Counted from 1.
    pub line: usize,
    /// First character, counted in characters from 1.
    pub column: usize,
    /// Number of characters, at least 1.
    pub length: usize,
    /// The line itself, without its line ending; of a very long line, the part around the place.
    pub source_line: String,
    /// Characters of the line before `source_line`; 0 unless the line is very long.
    pub cut: usize,
    /// What the text is when it is not the model file: an option of the command line, a table.
    pub origin: Option<String>,
}

/// Column at which the name of the file starts when the message leaves room.
const FILE_COLUMN: usize = 53;
/// A line with more bytes than this is not kept whole.
const LONG_LINE: usize = 2000;
/// Lines are kept within this many columns where possible.
const WIDTH: usize = 110;

impl Diagnostic {
    /// An error without place and hint.
    pub fn error(message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Error, place: None, message: message.into(), hint: None }
    }

    /// A warning without place and hint.
    pub fn warning(message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(message) }
    }

    /// The same, with a way out.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Diagnostic {
        self.hint = Some(hint.into());
        self
    }

    /// The same, at a place.
    pub fn at(mut self, place: Place) -> Diagnostic {
        self.place = Some(place);
        self
    }

    /// Is it an error?
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The text a person reads: sentence, file and line, source line, carets and hint. `file` is the model file's name.
    pub fn render(&self, file: &str) -> String {
        let word = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let file = visible(file);
        let hint = self.hint.as_deref().map(visible);
        let mut out = format!("{word}: {}", visible(&self.message));
        let used = width_of(&out);
        let pad = FILE_COLUMN.saturating_sub(used).max(2);
        let Some(place) = &self.place else {
            out.push_str(&format!("{:pad$}{file}", ""));
            if let Some(hint) = hint {
                out.push_str(&format!("\n    | hint: {hint}"));
            }
            return out;
        };
        match place.origin.as_deref().map(visible) {
            None => out.push_str(&format!("{:pad$}{file}:{}\n", "", place.line)),
            Some(origin) if place.line > 1 || origin.contains('.') => {
                out.push_str(&format!("{:pad$}{origin}:{}\n", "", place.line));
            }
            Some(origin) => out.push_str(&format!("{:pad$}{origin}\n", "")),
        }
        let (line, before, length) = window(place);
        let number = place.line.to_string();
        let gutter = number.len().max(3);
        out.push_str(&format!("{number:>gutter$} | {line}\n"));
        out.push_str(&format!("{:gutter$} | {:before$}{}", "", "", "^".repeat(length)));
        if let Some(hint) = hint {
            let together = gutter + 3 + before + length + 7 + width_of(&hint);
            if together <= WIDTH || hint.len() + 20 > WIDTH {
                out.push_str(&format!(" hint: {hint}"));
            } else {
                out.push_str(&format!("\n{:gutter$} | hint: {hint}", ""));
            }
        }
        out
    }
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " (hint: {hint})"),
            None => Ok(()),
        }
    }
}

/// The part of a place's line to show, the columns before the carets, and how many carets.
fn window(place: &Place) -> (String, usize, usize) {
    let characters: Vec<char> = place.source_line.chars().collect();
    let start = (place.column - 1).saturating_sub(place.cut).min(characters.len());
    let end = (start + place.length).min(characters.len().max(start + 1));
    let room = WIDTH - 10;
    // A very long line is cut around the place.
    let (from, to) = if characters.len() <= room {
        (0, characters.len())
    } else {
        let from = if end < room { 0 } else { start.saturating_sub(room / 3) };
        (from, (from + room).min(characters.len()))
    };
    let piece = |range: Range<usize>| -> String { visible(&characters[range].iter().collect::<String>()) };
    let mut line = String::new();
    if from + place.cut > 0 {
        line.push('…');
    }
    line.push_str(&piece(from..start.max(from)));
    let before = width_of(&line);
    let middle = piece(start..end.min(to).max(start));
    let length = width_of(&middle).max(1);
    line.push_str(&middle);
    line.push_str(&piece(end.min(to).max(start)..to.max(start)));
    if to < characters.len() {
        line.push('…');
    }
    (line, before, length)
}

/// A text as it may reach a terminal, on one line: tabs become spaces, other control characters and those that turn the
/// direction of writing become visible. Names, file names and source lines are other people's: an escape sequence in
/// one of them must not move the cursor, nor a line feed begin a sentence of ours.
///
/// ```
/// assert_eq!(carom_mech::diagnostic::visible("a\u{1b}[2Jb\nc\u{9b}d"), "a␛[2Jb␊c\\u{9b}d");
/// ```
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|c| show(c, &mut out));
    out
}

fn show(c: char, out: &mut String) {
    match c {
        '\t' => out.push_str("    "),
        '\0'..='\u{1f}' => out.push(char::from_u32(0x2400 + c as u32).unwrap_or('?')),
        '\u{7f}' => out.push('␡'),
        // The second set of control characters, line and paragraph separators, marks and overrides of direction.
        '\u{80}'..='\u{9f}'
        | '\u{61c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' => out.push_str(&c.escape_unicode().to_string()),
        c => out.push(c),
    }
}

/// How many columns a text takes in a terminal: combining marks none, East Asian wide characters and emoji two.
pub fn width_of(text: &str) -> usize {
    text.chars()
        .map(|c| match c as u32 {
            0x300..=0x36f
            | 0x1ab0..=0x1aff
            | 0x20d0..=0x20ff
            | 0x200b..=0x200f
            | 0xfe00..=0xfe0f
            | 0xfeff => 0,
            0x1100..=0x115f
            | 0x2e80..=0x303e
            | 0x3041..=0xa4cf
            | 0xac00..=0xd7a3
            | 0xf900..=0xfaff
            | 0xfe30..=0xfe6f
            | 0xff00..=0xff60
            | 0xffe0..=0xffe6
            | 0x1f300..=0x1faff
            | 0x20000..=0x3fffd => 2,
            _ => 1,
        })
        .sum()
}

/// A text that places point into.
#[derive(Clone, Debug)]
pub struct Source {
    /// `None` for the model file, else what the text is: `--set`, `u.csv`.
    pub origin: Option<String>,
    /// The text, without byte order mark.
    pub text: String,
    line_starts: Vec<usize>,
}

impl Source {
    /// A text and what it is.
    pub fn new(origin: Option<String>, text: String) -> Source {
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect();
        Source { origin, text, line_starts }
    }

    /// Line number, from 1, of a byte offset.
    pub fn line(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|&start| start <= offset)
    }

    /// The place of a range of bytes; what reaches beyond the end of its first line is cut off.
    pub fn place(&self, range: Range<usize>) -> Place {
        let start = floor_boundary(&self.text, range.start);
        let line = self.line(start);
        let line_start = self.line_starts[line - 1];
        let next = self.line_starts.get(line).copied().unwrap_or(self.text.len());
        let source_line = self.text[line_start..next].trim_end_matches(['\n', '\r']);
        let line_end = line_start + source_line.len();
        let end = floor_boundary(&self.text, range.end).clamp(start.min(line_end), line_end);
        let start = start.min(line_end);
        let mut place = Place {
            line,
            column: self.text[line_start..start].chars().count() + 1,
            length: self.text[start..end].chars().count().max(1),
            source_line: source_line.to_owned(),
            cut: 0,
            origin: self.origin.clone(),
        };
        if source_line.len() > LONG_LINE {
            place.cut = place.column.saturating_sub(LONG_LINE / 4);
            place.length = place.length.min(LONG_LINE);
            place.source_line = source_line.chars().skip(place.cut).take(LONG_LINE).collect();
        }
        place
    }
}

/// The nearest character boundary at or before `offset`.
fn floor_boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// Sorts by place (placeless last), errors before warnings at the same place, and drops repetitions.
pub fn tidy(diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.sort_by_key(|d| {
        let place = d.place.as_ref();
        (
            place.is_none(),
            place.and_then(|p| p.origin.clone()),
            place.map(|p| (p.line, p.column)),
            std::cmp::Reverse(d.severity),
        )
    });
    let mut seen = std::collections::HashSet::new();
    diagnostics.retain(|d| {
        seen.insert((d.place.as_ref().map(|p| (p.origin.clone(), p.line, p.column)), d.message.clone()))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_looks_like_the_one_in_the_style_guide() {
        let text = "\n\n\n\n\n\n\n\nkinetic = \"m/2*l^2*thetta'^2\"\n";
        let start = text.find("thetta").unwrap();
        let place = Source::new(None, text.into()).place(start..start + 6);
        let error = Diagnostic::error("unknown name `thetta`")
            .at(place)
            .with_hint("did you mean the coordinate `theta`?");
        let expected = "\
error: unknown name `thetta`                         models/pendulum.toml:9
  9 | kinetic = \"m/2*l^2*thetta'^2\"
    |                    ^^^^^^ hint: did you mean the coordinate `theta`?";
        assert_eq!(error.render("models/pendulum.toml"), expected);
    }

    #[test]
    fn carets_stand_under_the_name_after_tabs_greek_and_wide_letters() {
        for before in ["\t", "θ̈ + ", "位置 = ", "\u{1}"] {
            let text = format!("{before}abc");
            let source = Source::new(None, text.clone());
            let rendered = Diagnostic::error("x").at(source.place(before.len()..text.len())).render("f");
            let lines: Vec<&str> = rendered.lines().collect();
            let column = |line: &str, what: &str| width_of(&line[..line.find(what).unwrap()]);
            assert_eq!(column(lines[1], "abc"), column(lines[2], "^^^"), "{rendered}");
        }
    }

    #[test]
    fn a_very_long_line_is_cut_around_the_place() {
        let text = format!("{}oops{}", "x+".repeat(100_000), "+y".repeat(100_000));
        let source = Source::new(None, text);
        let rendered = Diagnostic::error("m").at(source.place(200_000..200_004)).render("f");
        assert!(rendered.len() < 500);
        let lines: Vec<&str> = rendered.lines().collect();
        let column = |line: &str, what: &str| width_of(&line[..line.find(what).unwrap()]);
        assert_eq!(column(lines[1], "oops"), column(lines[2], "^^^^"));
    }

    #[test]
    fn windows_line_endings_do_not_reach_the_rendered_line() {
        let source = Source::new(None, "a\r\nbad\r\n".into());
        let place = source.place(3..20);
        assert_eq!((place.line, place.column, place.length, place.source_line.as_str()), (2, 1, 3, "bad"));
    }
}
