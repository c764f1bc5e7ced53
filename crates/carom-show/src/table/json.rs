//! A motion as one JSON object: the contract of `carom run --json`.
//!
//! What is written is the serialisation of [`Motion`]; here is only how it is laid out: one line per field of the object
//! and per record of a list, numbers in the shortest form that reads back to the same double, `null` for what is not
//! finite, `<` escaped so that a text can stand inside a page's script.

use carom_run::Motion;
use serde::Serialize;
use serde_json::ser::{CharEscape, Formatter};
use std::io::{self, Write};

/// The field of the audit before which its line is broken.
const SECOND_LINE: &[u8] = b"amplification";

/// The motion as JSON, ending in a newline.
///
/// ```
/// # use carom_mech::{Draft, derive_equations};
/// # use carom_run::{Options, Program, simulate};
/// # let text = "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n[run]\nuntil = 1";
/// # let (model, _) = Draft::parse(text, "m.toml").0.check().unwrap();
/// # let mechanics = derive_equations(model).unwrap();
/// # let program = Program::compile(&mechanics).unwrap();
/// # let motion = simulate(&program, &Options::of(&mechanics.model)).unwrap();
/// let text = carom_show::table::json(&motion);
/// assert!(text.starts_with("{ \"model\": \"m\",\n  \"stop\": { \"reason\": \"reached\", \"time\": 1.0, \"detail\": null },\n"));
/// ```
pub fn json(motion: &Motion) -> String {
    let mut text = laid_out(motion);
    text.push('\n');
    text
}

/// A number in the shortest form that reads back to the same double; `null` when it is not finite.
pub(crate) fn number(x: f64) -> String {
    laid_out(&x)
}

/// A JSON string. `<` is escaped too, so that it can stand inside a page's script.
pub(crate) fn string(s: &str) -> String {
    laid_out(s)
}

fn laid_out<T: Serialize + ?Sized>(value: &T) -> String {
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, JsonLayout::default());
    // Neither writing to memory nor what is serialised here can fail: every key is a text.
    _ = value.serialize(&mut serializer);
    String::from_utf8(bytes).unwrap_or_default()
}

/// An object or list that is being written.
#[derive(Clone, Copy, Default)]
struct JsonLevel {
    list: bool,
    filled: bool,
    /// Its entries are records, on a line each.
    records: bool,
}

#[derive(Default)]
struct JsonLayout {
    levels: Vec<JsonLevel>,
    /// What comes before the next key, once it is known which.
    before_key: Option<&'static [u8]>,
}

impl JsonLayout {
    fn begin_key<W: ?Sized + Write>(&mut self, out: &mut W, key: &[u8]) -> io::Result<()> {
        let Some(separator) = self.before_key.take() else { return Ok(()) };
        let second_line = key == SECOND_LINE && self.levels.len() == 2;
        out.write_all(if second_line { b",\n             " } else { separator })?;
        out.write_all(b"\"")
    }
}

impl Formatter for JsonLayout {
    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        if let Some(list) = self.levels.last_mut().filter(|level| level.list) {
            if !list.records {
                out.write_all(b" ")?;
            }
            list.records = true;
        }
        self.levels.push(JsonLevel::default());
        out.write_all(b"{")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, _: &mut W, first: bool) -> io::Result<()> {
        let top = self.levels.len() == 1;
        if let Some(object) = self.levels.last_mut() {
            object.filled = true;
        }
        self.before_key = Some(match (first, top) {
            (true, _) => b" ",
            (false, true) => b",\n  ",
            (false, false) => b", ",
        });
        Ok(())
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        let filled = self.levels.pop().is_some_and(|level| level.filled);
        out.write_all(if filled { b" }" } else { b"}" })
    }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.levels.push(JsonLevel { list: true, ..JsonLevel::default() });
        out.write_all(b"[")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        let records = self.levels.last().is_some_and(|level| level.records);
        match (first, records) {
            (true, _) => Ok(()),
            (false, true) => out.write_all(b",\n    "),
            (false, false) => out.write_all(b", "),
        }
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        let records = self.levels.pop().is_some_and(|level| level.records);
        out.write_all(if records { b" ]" } else { b"]" })
    }

    fn begin_string<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        if self.before_key.is_some() { Ok(()) } else { out.write_all(b"\"") }
    }

    fn end_string<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin_key(out, b"")?;
        out.write_all(b"\"")
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, text: &str) -> io::Result<()> {
        self.begin_key(out, text.as_bytes())?;
        let mut plain = 0;
        for (i, c) in text.char_indices().filter(|(_, c)| matches!(c, '<' | '\u{2028}' | '\u{2029}')) {
            out.write_all(&text.as_bytes()[plain..i])?;
            write!(out, "\\u{:04x}", u32::from(c))?;
            plain = i + c.len_utf8();
        }
        out.write_all(&text.as_bytes()[plain..])
    }

    fn write_char_escape<W: ?Sized + Write>(&mut self, out: &mut W, escape: CharEscape) -> io::Result<()> {
        self.begin_key(out, b"")?;
        match escape {
            CharEscape::Quote => out.write_all(b"\\\""),
            CharEscape::ReverseSolidus => out.write_all(b"\\\\"),
            CharEscape::Solidus => out.write_all(b"/"),
            CharEscape::LineFeed => out.write_all(b"\\n"),
            CharEscape::CarriageReturn => out.write_all(b"\\r"),
            CharEscape::Tab => out.write_all(b"\\t"),
            CharEscape::Backspace => out.write_all(b"\\u0008"),
            CharEscape::FormFeed => out.write_all(b"\\u000c"),
            CharEscape::AsciiControl(byte) => write!(out, "\\u{byte:04x}"),
        }
    }

    fn write_f64<W: ?Sized + Write>(&mut self, out: &mut W, x: f64) -> io::Result<()> {
        write!(out, "{x:?}")
    }
}
