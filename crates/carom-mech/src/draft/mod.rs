//! What a model file says, unchecked: names and formulas as written, each with its place.
//!
//! [`Draft::parse`] reads TOML and knows which tables and keys exist; it resolves no name and evaluates nothing.
//! [`Draft::check`] makes a [`crate::Model`] of it.

mod locate;
mod overrides;
mod print;
mod reader;
mod syntax;
mod tree;
mod values;

use crate::diagnostic::{Diagnostic, Place, Source};
use std::path::{Path, PathBuf};

/// A range of bytes in one of the draft's sources.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct At {
    /// Index into [`Draft::sources`]; 0 is the model file.
    pub source: usize,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A word with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word {
    /// The word.
    pub text: String,
    /// Where it stands.
    pub at: At,
}

/// A formula or number as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Formula {
    /// The formula, escapes of the file already resolved.
    pub text: String,
    /// Where it stands, quotes included.
    pub at: At,
    /// What kind of value the file has there.
    pub kind: FormulaKind,
}

/// What kind of value a formula was written as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FormulaKind {
    /// A string.
    Text,
    /// A bare number.
    Number,
    /// Something unreadable that was already reported.
    Broken,
}

/// A name and its formula.
pub type Assignment = (Word, Formula);

/// What a model file says.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// Texts that places point into: the model file first, then options of the command line.
    pub sources: Vec<Source>,
    /// Name of the model file, for messages.
    pub file: String,
    /// Folder that table files are relative to.
    pub folder: PathBuf,
    /// Tables given as text, by the name the model uses for the file.
    pub tables: Vec<(String, String)>,
    /// Reading the file failed somewhere: there will be no model.
    pub broken: bool,
    /// `name`
    pub name: Option<String>,
    /// `coordinates`
    pub coordinates: Vec<Word>,
    /// `momenta`, with the place of the whole list.
    pub momenta: Option<(Vec<Word>, At)>,
    /// `gravity`, with the place of the whole list.
    pub gravity: Option<(Vec<Formula>, At)>,
    /// `lagrangian`
    pub lagrangian: Option<Assignment>,
    /// `hamiltonian`
    pub hamiltonian: Option<Assignment>,
    /// `[energy]`: its header, if present.
    pub energy: Option<At>,
    /// `[energy] kinetic`
    pub kinetic: Option<Assignment>,
    /// `[energy] potential`
    pub potential: Option<Assignment>,
    /// `[energy] dissipation`
    pub dissipation: Option<Assignment>,
    /// `[parameters]`
    pub parameters: Vec<Assignment>,
    /// `[define]`
    pub definitions: Vec<Assignment>,
    /// `[input]`
    pub inputs: Vec<Input>,
    /// `[body.*]`
    pub bodies: Vec<Body>,
    /// `[force.*]`
    pub forces: Vec<Force>,
    /// `[holonomic]`
    pub holonomic: Vec<Assignment>,
    /// `[nonholonomic]`
    pub nonholonomic: Vec<Assignment>,
    /// `[driven]`
    pub driven: Vec<Assignment>,
    /// `[wall.*]`
    pub walls: Vec<Wall>,
    /// `[event.*]`
    pub events: Vec<Event>,
    /// `[output]`
    pub outputs: Vec<Assignment>,
    /// `[units]`: a name and its unit, as written.
    pub units: Vec<(Word, Word)>,
    /// `[view]`
    pub view: View,
    /// `[start]`
    pub start: Start,
    /// `[run]`
    pub run: Vec<Assignment>,
}

/// `[input]`: one signal.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its name.
    pub name: Word,
    /// Where it comes from.
    pub signal: SignalSource,
}

/// Where a signal comes from.
#[derive(Clone, Debug)]
pub enum SignalSource {
    /// A formula of t.
    Formula(Formula),
    /// A column of a CSV file.
    Table {
        /// The file.
        file: Word,
        /// The column's heading; the signal's name when missing.
        column: Option<Word>,
        /// Heading of the column of times; the first column when missing.
        time: Option<Word>,
        /// How it goes from row to row; chosen by its uses when missing.
        interpolate: Option<Word>,
    },
    /// Already reported.
    Broken,
}

/// `[body.*]`
#[derive(Clone, Debug)]
pub struct Body {
    /// Its label.
    pub name: Word,
    /// `mass`
    pub mass: Option<Formula>,
    /// `at`
    pub at: Option<Vec<Formula>>,
    /// `inertia`: one component for a planar body, three in space.
    pub inertia: Option<(Vec<Formula>, At)>,
    /// `angle`
    pub angle: Option<Formula>,
    /// `spin`
    pub spin: Option<(Vec<Formula>, At)>,
    /// `radius`
    pub radius: Option<(Formula, At)>,
    /// `polygon`: corners.
    pub polygon: Option<(Vec<Vec<Formula>>, At)>,
    /// `box`: sides.
    pub sides: Option<(Vec<Formula>, At)>,
    /// `orientation`
    pub orientation: Option<(Vec<Formula>, At)>,
    /// Some entry could not be read, so nothing is missing.
    pub broken: bool,
}

/// `[force.*]`
#[derive(Clone, Debug)]
pub struct Force {
    /// Its label.
    pub name: Word,
    /// `at`
    pub at: Option<Vec<Formula>>,
    /// `vector`
    pub vector: Option<(Vec<Formula>, At)>,
    /// `generalized`
    pub generalized: Option<Vec<Assignment>>,
    /// Some entry could not be read, so nothing is missing.
    pub broken: bool,
}

/// `[wall.*]`
#[derive(Clone, Debug)]
pub struct Wall {
    /// Its label.
    pub name: Word,
    /// `gap`
    pub gap: Option<Formula>,
    /// `restitution`
    pub restitution: Option<Formula>,
    /// `draw`
    pub draw: Option<Formula>,
    /// Some entry could not be read, so nothing is missing.
    pub broken: bool,
}

/// `[event.*]`
#[derive(Clone, Debug)]
pub struct Event {
    /// Its label.
    pub name: Word,
    /// `when`
    pub when: Option<Formula>,
    /// `direction`
    pub direction: Option<Word>,
    /// `action`
    pub action: Option<Word>,
    /// `only_if`
    pub only_if: Option<Formula>,
    /// `set`
    pub set: Option<Vec<Assignment>>,
    /// Some entry could not be read, so nothing is missing.
    pub broken: bool,
}

/// `[view]`
#[derive(Clone, Debug, Default)]
pub struct View {
    /// `links`
    pub links: Vec<(Point, Point)>,
    /// `springs`
    pub springs: Vec<(Point, Point)>,
    /// `traces`
    pub traces: Vec<Point>,
    /// `circles`
    pub circles: Vec<Circle>,
    /// `polygons`
    pub polygons: Vec<(Vec<Point>, At)>,
    /// `hide`
    pub hide: Vec<Word>,
    /// `range`
    pub range: Option<(Vec<Formula>, At)>,
}

/// A filled circle to draw.
#[derive(Clone, Debug)]
pub struct Circle {
    /// Its middle.
    pub at: Point,
    /// Its radius.
    pub radius: Formula,
    /// In space, the direction across it.
    pub axis: Option<(Vec<Formula>, At)>,
}

/// A point to draw.
#[derive(Clone, Debug)]
pub enum Point {
    /// `origin` or a body.
    Named(Word),
    /// Formulas for its components.
    Formulas(Vec<Formula>, At),
}

/// `[start]`
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// `position`
    pub position: Vec<Assignment>,
    /// `velocity`
    pub velocity: Vec<Assignment>,
    /// `momentum`
    pub momentum: Vec<Assignment>,
    /// `project`
    pub project: bool,
}

impl Draft {
    /// Reads a model from text; `file_name` is used in messages and as the name of a model without one. Table files
    /// are looked for beside it.
    ///
    /// The diagnostics are those of reading. [`Draft::check`] does not repeat them, and makes no model of a file
    /// that could not be read completely.
    ///
    /// ```
    /// let text = "
    /// coordinates = [\"x\"]
    /// lagrangian = \"x'^2/2 - x^2/2\"
    /// ";
    /// let (draft, problems) = carom_mech::Draft::parse(text, "spring.toml");
    /// assert!(problems.is_empty());
    /// let (model, warnings) = draft.check().unwrap();
    /// assert_eq!(model.coordinates[0].name, "x");
    /// assert!(warnings.is_empty());
    /// ```
    pub fn parse(text: &str, file_name: &str) -> (Draft, Vec<Diagnostic>) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        reader::read(Source::new(None, text.to_owned()), file_name)
    }

    /// Reads a model file.
    ///
    /// # Errors
    /// When the file cannot be read; a file that is no text is an ordinary diagnostic.
    pub fn read(path: impl AsRef<Path>) -> std::io::Result<(Draft, Vec<Diagnostic>)> {
        let path = path.as_ref();
        let name = path.display().to_string();
        match String::from_utf8(std::fs::read(path)?) {
            Ok(text) => Ok(Draft::parse(&text, &name)),
            Err(error) => Ok(not_text(error.as_bytes(), error.utf8_error().valid_up_to(), &name)),
        }
    }

    /// Gives the text of a table, so that no file is read for it.
    pub fn provide_table(&mut self, file: &str, text: &str) {
        self.tables.push((file.to_owned(), text.to_owned()));
    }

    /// The place of a range of bytes.
    pub fn place(&self, at: At) -> Place {
        match self.sources.get(at.source) {
            Some(source) => source.place(at.start..at.end),
            None => Source::new(None, String::new()).place(0..0),
        }
    }

    /// The place of a part of a formula.
    pub fn place_in(&self, formula: &Formula, start: usize, end: usize) -> Place {
        self.place(self.part_of(formula, start, end))
    }

    /// Where in the file a part of a formula stands, escapes counted as they are written.
    pub fn part_of(&self, formula: &Formula, start: usize, end: usize) -> At {
        let At { source, start: from, end: to } = formula.at;
        let raw = self.sources.get(source).and_then(|s| s.text.get(from..to)).unwrap_or("");
        match formula.kind {
            FormulaKind::Broken => formula.at,
            FormulaKind::Number => At { source, start: from, end: to },
            FormulaKind::Text => {
                let (first, last) = (raw_offset(raw, start), raw_offset(raw, end.max(start)));
                At { source, start: from + first, end: from + last.max(first) }
            }
        }
    }
}

/// A file that is no UTF-8 text.
fn not_text(bytes: &[u8], valid: usize, name: &str) -> (Draft, Vec<Diagnostic>) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let source = Source::new(None, text);
    // Everything before the first bad byte is valid, so it has the same length in the lossy text.
    let place = source.place(valid..valid + '\u{fffd}'.len_utf8());
    let diagnostic = Diagnostic::error("the file is not UTF-8 text")
        .at(place)
        .with_hint("save it as UTF-8; most editors call this the encoding");
    let draft = Draft { sources: vec![source], file: name.to_owned(), broken: true, ..Draft::default() };
    (draft, vec![diagnostic])
}

/// The byte of the raw string literal (quotes included) from which byte `offset` of its decoded text came.
fn raw_offset(raw: &str, offset: usize) -> usize {
    let (quote, escapes) = if raw.starts_with("\"\"\"") {
        (3, true)
    } else if raw.starts_with("'''") {
        (3, false)
    } else if raw.starts_with('"') {
        (1, true)
    } else if raw.starts_with('\'') {
        (1, false)
    } else {
        (0, false) // an option of the command line
    };
    let mut at = quote;
    if quote == 3 {
        // A line break right after the quotes does not belong to the text.
        at += if raw[at..].starts_with("\r\n") { 2 } else { usize::from(raw[at..].starts_with('\n')) };
    }
    let mut decoded = 0;
    while decoded < offset {
        let Some(c) = raw[at..].chars().next() else { return raw.len() };
        if c != '\\' || !escapes {
            at += c.len_utf8();
            decoded += c.len_utf8();
            continue;
        }
        let rest = &raw[at + 1..];
        let digits = match rest.as_bytes().first() {
            Some(b'u') => 4,
            Some(b'U') => 8,
            Some(b'x') => 2,
            Some(b' ' | b'\t' | b'\r' | b'\n') => {
                // A backslash at the end of a line swallows all blank space after it.
                at += 1 + rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
                continue;
            }
            _ => 0,
        };
        let code = rest.get(1..1 + digits).and_then(|t| u32::from_str_radix(t, 16).ok());
        decoded += code.and_then(char::from_u32).map_or(1, char::len_utf8);
        at = (at + 2 + digits).min(raw.len());
    }
    at
}

#[cfg(test)]
mod tests {
    use super::raw_offset;

    #[test]
    fn places_inside_a_formula_count_escapes_as_written() {
        assert_eq!(raw_offset("\"abc\"", 1), 2);
        assert_eq!(raw_offset(r#""\u03b8 + x""#, 5), 10);
        assert_eq!(raw_offset(r#""a\\b""#, 2), 4);
        assert_eq!(raw_offset("\"\"\"\na\n\"\"\"", 0), 4);
        assert_eq!(raw_offset("\"\"\"a \\\n   b\"\"\"", 2), 5);
        assert_eq!(raw_offset("'abc'", 2), 3);
    }
}
