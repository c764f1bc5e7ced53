//! The model that is served: read from its file, written back when the page asks, never over somebody else's changes.
//!
//! What a page has read is told by the page, not remembered here: every reading carries the mark of its bytes (`version`, their
//! SHA-256), every writing the mark of what it was made from (`base`), and only a file that still has that mark is written. So two
//! tabs, a tab that was reloaded and an editor beside them cannot undo each other's work.

use super::http::Response;
use crate::failure::Failure;
use crate::{load, write};
use carom_mech::draft::SignalSource;
use carom_mech::{Draft, sha256};
use serde_json::{Value, json};
use std::path::{Component, Path};

/// The longest table that is handed to a page.
const MOST_TABLE: u64 = 50_000_000;

/// A model and where it came from.
#[derive(Debug)]
pub struct Served {
    /// What it is called.
    name: String,
    /// Its file, if it can be written back.
    file: Option<String>,
    /// Its text, if it has no file.
    text: Option<String>,
}

impl Served {
    /// The model of the command line: a file, a gallery model, or none.
    pub fn open(model: Option<&str>) -> Result<Served, Failure> {
        let Some(model) = model else { return Ok(Served { name: String::new(), file: None, text: None }) };
        let (text, name) = load::read(model)?;
        let file = Path::new(model).is_file().then(|| model.to_owned());
        Ok(Served { name, text: file.is_none().then_some(text), file })
    }

    /// What the page gets: name, text and tables, from the disk as it is now.
    pub fn read(&self) -> Response {
        let (mut text, mut version, mut tables) = (self.text.clone(), None, serde_json::Map::new());
        if let Some(file) = &self.file {
            match std::fs::read_to_string(file) {
                Ok(there) => {
                    tables.extend(beside(file, &there).into_iter().map(|(name, table)| (name, table.into())));
                    version = Some(sha256(&there));
                    text = Some(there);
                }
                Err(error) => return Response::text(500, &format!("cannot read {file}: {error}")),
            }
        }
        let name = Path::new(&self.name)
            .file_name()
            .map_or_else(|| self.name.clone(), |n| n.to_string_lossy().into_owned());
        let name = name.strip_prefix("gallery:").unwrap_or(&name);
        Response::json(200, &json!({ "file": name, "text": text, "version": version, "tables": tables }))
    }

    /// Writes `{ "text": …, "base": …, "force": … }` to the file. If it is not what `base` marks, only `force` does that.
    pub fn write(&self, body: &[u8]) -> Response {
        let asked: Value = match serde_json::from_slice(body) {
            Ok(asked) => asked,
            Err(_) => return Response::text(400, "what is to be written is no JSON"),
        };
        let Some(text) = asked["text"].as_str() else {
            return Response::text(400, "there is no text to write");
        };
        let Some(file) = &self.file else {
            return Response::text(403, "this model has no file: save it from the page instead");
        };
        let there = std::fs::read(file).ok().map(sha256);
        if (there.is_none() || there.as_deref() != asked["base"].as_str()) && asked["force"] != true {
            let said = format!("{file} has been changed by somebody else since it was read here");
            return Response::text(409, &said);
        }
        match write::file(file, text.as_bytes()) {
            Ok(()) => Response::json(200, &json!({ "written": file, "version": sha256(text) })),
            Err(failure) => Response::text(500, &failure.to_string()),
        }
    }
}

/// Tables that a model names and that stand beside its file or below: no way leads out of its folder.
fn beside(file: &str, text: &str) -> Vec<(String, String)> {
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    let (draft, _) = Draft::parse(text, file);
    let named = draft.inputs.iter().filter_map(|input| match &input.signal {
        SignalSource::Table { file, .. } => Some(file.text.clone()),
        _ => None,
    });
    let plain = |name: &String| Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    let real = std::fs::canonicalize(if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
    let read = |name: String| {
        let path = std::fs::canonicalize(folder.join(&name)).ok()?;
        // A link may not lead out either.
        let inside = path.starts_with(real.as_ref().ok()?);
        let small = path.metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= MOST_TABLE);
        let text = (inside && small).then(|| std::fs::read_to_string(&path).ok())??;
        Some((name, text))
    };
    named.filter(plain).filter_map(read).collect()
}
