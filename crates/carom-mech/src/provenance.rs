//! Where a result comes from: what one must have in hand to compute it again.
//!
//! ```text
//! version of carom    SHA-256 of the model text    SHA-256 of every table it reads    the options, as they were typed
//! ```
//!
//! Promise: the same input gives the same record: no date, no machine, no path. The first hash is what `sha256sum MODEL.toml`
//! prints (of a file without byte order mark).

use crate::draft::{Draft, SignalSource, Word};
use sha2::{Digest, Sha256};

/// What identifies a model and what was changed about it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Provenance {
    /// Of carom.
    pub version: &'static str,
    /// SHA-256 of the model text, in hexadecimal.
    pub model_sha256: String,
    /// The tables that the model reads, by the name it uses for them, with the SHA-256 of their text.
    pub tables: Vec<(String, String)>,
    /// Options that change the model, its start or its run, in the order they were given: `--set m=2`.
    pub options: Vec<String>,
}

impl Provenance {
    /// Of what a draft says. Tables are added as they are read.
    pub(crate) fn of(draft: &Draft) -> Provenance {
        let text = draft.sources.first().map_or("", |source| source.text.as_str());
        let options = draft.sources.iter().skip(1).map(|source| source.text.clone());
        Provenance {
            version: env!("CARGO_PKG_VERSION"),
            model_sha256: sha256(text),
            tables: Vec::new(),
            options: options.collect(),
        }
    }
}

/// SHA-256 of a text or of bytes, in hexadecimal.
pub fn sha256(text: impl AsRef<[u8]>) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The tables that a draft reads, once each.
pub(crate) fn tables(draft: &Draft) -> Vec<&Word> {
    let mut files: Vec<&Word> = Vec::new();
    for input in &draft.inputs {
        if let SignalSource::Table { file, .. } = &input.signal
            && !files.iter().any(|known| known.text == file.text)
        {
            files.push(file);
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "coordinates = [\"x\"]\nlagrangian = \"m*x'^2/2 + u*x\"\n[parameters]\nm = 1\n[input]\nu = { file = \"u.csv\" }\n";

    fn model(text: &str) -> crate::Model {
        let (mut draft, problems) = Draft::parse(text, "m.toml");
        assert!(problems.is_empty(), "{problems:?}");
        draft.provide_table("u.csv", "t,u\n0,1\n1,2\n2,1\n3,0\n");
        assert!(draft.set_parameter("m=2").is_empty());
        assert!(draft.set_run("until", "3").is_empty());
        draft.set_project(true);
        draft.check().unwrap().0
    }

    #[test]
    fn a_model_knows_its_text_its_tables_and_its_options() {
        // The published examples of the standard.
        assert_eq!(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        let provenance = model(TEXT).provenance;
        assert_eq!(provenance.model_sha256, sha256(TEXT));
        assert_eq!(provenance.tables, [("u.csv".to_owned(), sha256("t,u\n0,1\n1,2\n2,1\n3,0\n"))]);
        assert_eq!(provenance.options, ["--set m=2", "--until 3", "--project"]);
        assert_eq!(provenance, model(&format!("\u{feff}{TEXT}")).provenance);
        assert_ne!(provenance.model_sha256, model(&format!("{TEXT}\n")).provenance.model_sha256);
    }
}
