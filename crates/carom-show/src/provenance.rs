//! Every result says where it comes from. A [`Stamp`] is one line of JSON; this file knows how each format carries it.
//!
//! ```text
//! {"carom": "0.1.0", "model_sha256": "…", "table_sha256": {…}, "options": ["--set m=2"], "arithmetic": "fused"}
//!
//! svg   <metadata>            png  tEXt chunk "provenance"   gif  comment extension      html  <script type="application/json">
//! npz   comment of the zip    parquet  key "carom"           csv  beside it, NAME.csv-metadata.json (W3C, CSV on the Web)
//! tex, md, py, rs, c          a comment                      json an object of its own
//! ```
//!
//! Promise: nothing of the day, the machine or its paths: same input, same bytes; no reader of a format stumbles over it.

use crate::table::{ColumnValues, Table, string};
use carom_mech::diagnostic::visible;
use carom_mech::{Mechanics, Provenance};
use carom_run::{Arithmetic, Motion};
use std::fmt::Write;

/// Name of the note, where a format wants one.
const KEY: &str = "provenance";

/// Where a result comes from, as one line of JSON and as a sentence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stamp {
    json: String,
    sentence: String,
}

impl Stamp {
    /// Of equations: nothing was computed with floating-point numbers.
    pub fn of_equations(mechanics: &Mechanics) -> Stamp {
        Stamp::new(&mechanics.model.provenance, &[], None)
    }

    /// Of a motion.
    pub fn of_motion(motion: &Motion) -> Stamp {
        Stamp::new(&motion.provenance, &[], Some(motion.audit.arithmetic.name()))
    }

    /// Of many motions of a model; `also` are the options that say which.
    pub fn of_many(provenance: &Provenance, also: &[String], arithmetic: Arithmetic) -> Stamp {
        Stamp::new(provenance, also, Some(arithmetic.name()))
    }

    fn new(provenance: &Provenance, also: &[String], arithmetic: Option<&str>) -> Stamp {
        let mut o = String::from("{");
        _ = write!(o, "\"carom\": {}", string(provenance.version));
        _ = write!(o, ", \"model_sha256\": {}", string(&provenance.model_sha256));
        let tables =
            provenance.tables.iter().map(|(file, hash)| format!("{}: {}", string(file), string(hash)));
        _ = write!(o, ", \"table_sha256\": {{{}}}", tables.collect::<Vec<_>>().join(", "));
        let options = provenance.options.iter().chain(also).map(|option| string(option));
        _ = write!(o, ", \"options\": [{}]", options.collect::<Vec<_>>().join(", "));
        if let Some(arithmetic) = arithmetic {
            _ = write!(o, ", \"arithmetic\": {}", string(arithmetic));
        }
        // Characters that are no text in some format: all of JSON's strings may escape them.
        let mut plain = String::with_capacity(o.len() + 1);
        for c in o.chars().chain(['}']) {
            match c {
                ' '..='~' => plain.push(c),
                other => {
                    other.encode_utf16(&mut [0; 2]).iter().for_each(|unit| _ = write!(plain, "\\u{unit:04x}"))
                }
            }
        }
        let hash = provenance.model_sha256.get(..16).unwrap_or_default();
        let mut parts = vec![format!("carom {}", provenance.version), format!("model {hash}")];
        parts.extend(provenance.options.iter().chain(also).map(|option| visible(option)));
        Stamp { json: plain, sentence: parts.join(" · ") }
    }

    /// As it was read from a file.
    pub fn read(json: &str) -> Stamp {
        Stamp { json: json.to_owned(), sentence: String::new() }
    }

    /// The line of JSON, in ASCII.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// For people: version, the beginning of the model's hash, options.
    pub fn sentence(&self) -> &str {
        &self.sentence
    }

    /// In a file of source text whose comments begin with `sign`.
    pub fn comment(&self, sign: &str, text: &str) -> String {
        format!("{sign} {KEY} {}\n{text}", self.json)
    }

    /// In a LaTeX file: a comment after its first line, which says what kind of file it is.
    pub fn latex(&self, text: &str) -> String {
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        format!("{first}\n% {KEY} {}\n{rest}", self.json)
    }

    /// In Markdown: a comment, in which no two dashes may meet.
    pub fn markdown(&self, text: &str) -> String {
        format!("{text}\n<!-- {KEY} {} -->\n", self.json.replace("--", "-\\u002d"))
    }

    /// In an SVG document, after its title.
    pub fn svg(&self, text: &str) -> String {
        let note = self.json.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        insert_after(text, "</title>\n", &format!("<metadata>{note}</metadata>\n"))
    }

    /// In an HTML page, at the end of its head.
    pub fn html(&self, text: &str) -> String {
        let note = format!("<script type=\"application/json\" id=\"{KEY}\">{}</script>\n", self.json);
        match text.find("</head>") {
            Some(at) => format!("{}{note}{}", &text[..at], &text[at..]),
            None => text.to_owned(),
        }
    }

    /// In a PNG file: a chunk of text after the header, which is always first and 25 bytes long.
    pub fn png(&self, bytes: &[u8]) -> Vec<u8> {
        const HEAD: usize = 8 + 25;
        let Some((head, rest)) = bytes.split_at_checked(HEAD) else { return bytes.to_vec() };
        let mut chunk = b"tEXt".to_vec();
        chunk.extend(KEY.bytes());
        chunk.push(0);
        chunk.extend(self.json.bytes());
        let mut sum = flate2::Crc::new();
        sum.update(&chunk);
        let length = (chunk.len() - 4) as u32;
        [head, &length.to_be_bytes(), &chunk, &sum.sum().to_be_bytes(), rest].concat()
    }

    /// In a GIF file: a comment before the trailer, in blocks of at most 255 bytes.
    pub fn gif(&self, bytes: &[u8]) -> Vec<u8> {
        let Some((0x3B, film)) = bytes.split_last() else { return bytes.to_vec() };
        let mut out = film.to_vec();
        out.extend([0x21, 0xFE]);
        for block in self.json.as_bytes().chunks(255) {
            out.push(block.len() as u8);
            out.extend(block);
        }
        out.extend([0, 0x3B]);
        out
    }

    /// What stands beside a csv file, as CSV on the Web has it: `NAME.csv-metadata.json` describes `NAME.csv`.
    pub fn beside_csv(&self, file: &str, table: &Table) -> String {
        let columns = table.columns.iter().map(|column| {
            let kind = match column.values {
                ColumnValues::Numbers(_) => "number",
                ColumnValues::Integers(_) => "integer",
                ColumnValues::Texts(_) => "string",
            };
            format!("    {{ \"titles\": {}, \"datatype\": \"{kind}\" }}", string(&column.name))
        });
        format!(
            "{{ \"@context\": \"http://www.w3.org/ns/csvw\",\n  \"url\": {},\n  \"dc:provenance\": {},\n  \
             \"tableSchema\": {{ \"columns\": [\n{}\n  ] }} }}\n",
            string(file),
            string(&self.json),
            columns.collect::<Vec<_>>().join(",\n")
        )
    }
}

fn insert_after(text: &str, what: &str, note: &str) -> String {
    match text.find(what).map(|at| at + what.len()) {
        Some(at) => format!("{}{note}{}", &text[..at], &text[at..]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp() -> Stamp {
        let text =
            "name = \"Ball — ü\"\ncoordinates = [\"x\"]\nlagrangian = \"m*x'^2/2\"\n[parameters]\nm = 1\n";
        let (mut draft, _) = carom_mech::Draft::parse(text, "m.toml");
        assert!(draft.set_parameter("m=2").is_empty());
        draft.note_option("--table \"<b>&ü𝄞-->.csv\"");
        Stamp::of_equations(&carom_mech::derive(draft.check().unwrap().0).unwrap())
    }

    #[test]
    fn a_stamp_is_one_line_of_ascii_json_and_no_format_stumbles_over_it() {
        let stamp = stamp();
        let read: serde_json::Value = serde_json::from_str(stamp.json()).unwrap();
        assert_eq!(read["options"][0], "--set m=2");
        assert_eq!(read["options"][1], "--table \"<b>&ü𝄞-->.csv\"");
        assert_eq!(read["carom"], env!("CARGO_PKG_VERSION"));
        assert_eq!(read["model_sha256"].as_str().unwrap().len(), 64);
        assert!(stamp.json().bytes().all(|b| (b' '..=b'~').contains(&b)));
        let page = stamp.html("<html><head></head></html>");
        let inside = page.split("\"provenance\">").nth(1).unwrap().split("</script>").next().unwrap();
        assert_eq!(serde_json::from_str::<serde_json::Value>(inside).unwrap(), read);
        let note = stamp.markdown("text\n");
        assert!(!note.split_once("<!--").unwrap().1.split_once("-->").unwrap().0.contains("--"));
        let inside = note.split("provenance ").nth(1).unwrap().split(" -->").next().unwrap();
        assert_eq!(serde_json::from_str::<serde_json::Value>(inside).unwrap(), read);
        assert_eq!(stamp.comment("//", "x").lines().count(), 2);
        let beside = stamp.beside_csv("m.csv", &Table::default());
        let beside: serde_json::Value = serde_json::from_str(&beside).unwrap();
        let inside = beside["dc:provenance"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<serde_json::Value>(inside).unwrap(), read);
    }
}
