//! The model that is served: read from its file, written back when the page asks, never over somebody else's changes.

use super::http::Response;
use crate::failure::Failure;
use crate::{load, write};
use carom_mech::Draft;
use carom_mech::draft::Signal;
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
    /// Its text as it was last read or written here.
    text: Option<String>,
}

impl Served {
    /// The model of the command line: a file, a gallery model, or none.
    pub fn open(model: Option<&str>) -> Result<Served, Failure> {
        let Some(model) = model else { return Ok(Served { name: String::new(), file: None, text: None }) };
        let (text, name) = load::read(model)?;
        let is_file = Path::new(model).is_file();
        Ok(Served { name, file: is_file.then(|| model.to_owned()), text: Some(text) })
    }

    /// What the page gets: name, text and tables, from the disk as it is now.
    pub fn read(&mut self) -> Response {
        if let Some(file) = &self.file {
            match std::fs::read_to_string(file) {
                Ok(text) => self.text = Some(text),
                Err(error) => return Response::text(500, &format!("cannot read {file}: {error}")),
            }
        }
        let tables: serde_json::Map<String, Value> =
            self.tables().into_iter().map(|(n, t)| (n, t.into())).collect();
        let name = Path::new(&self.name)
            .file_name()
            .map_or_else(|| self.name.clone(), |n| n.to_string_lossy().into_owned());
        let name = name.strip_prefix("gallery:").unwrap_or(&name);
        Response::json(
            200,
            &json!({ "file": name, "text": self.text, "tables": tables, "writable": self.file.is_some() }),
        )
    }

    /// Tables that the model names and that stand beside it or below: no way leads out of its folder.
    fn tables(&self) -> Vec<(String, String)> {
        let (Some(file), Some(text)) = (&self.file, &self.text) else { return Vec::new() };
        let folder = Path::new(file).parent().unwrap_or(Path::new(""));
        let (draft, _) = Draft::parse(text, file);
        let named = draft.inputs.iter().filter_map(|input| match &input.signal {
            Signal::Table { file, .. } => Some(file.text.clone()),
            _ => None,
        });
        let beside =
            |name: &String| Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        let real = std::fs::canonicalize(if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
        let read = |name: String| {
            let path = std::fs::canonicalize(folder.join(&name)).ok()?;
            // A link may not lead out either.
            let inside = path.starts_with(real.as_ref().ok()?);
            let small = path.metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= MOST_TABLE);
            let text = (inside && small).then(|| std::fs::read_to_string(&path).ok())??;
            Some((name, text))
        };
        named.filter(beside).filter_map(read).collect()
    }

    /// Writes `{ "text": …, "force": … }` to the file. If somebody else has changed the file since, only `force` does that.
    pub fn write(&mut self, body: &[u8]) -> Response {
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
        let there = std::fs::read_to_string(file).ok();
        if there != self.text && asked["force"] != true {
            let said = format!("{file} has been changed by somebody else since it was read here");
            return Response::text(409, &said);
        }
        match write::file(file, text.as_bytes()) {
            Ok(()) => {
                self.text = Some(text.to_owned());
                Response::json(200, &json!({ "written": file }))
            }
            Err(failure) => Response::text(500, &failure.to_string()),
        }
    }
}
