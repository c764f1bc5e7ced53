//! The engine of the studio: a question of the page in, an answer out.
//!
//! ```text
//! answer(what, ask as JSON, host) → Answer { JSON, numbers beside it }
//! ```
//!
//! Every question carries the whole model text, so an answer depends on its question alone; an [`Engine`] only remembers what it
//! derived and compiled for the text before. The host lends a clock and hears progress. `studio/src/engine/protocol.ts` states
//! all questions and answers; `door.rs` is how WebAssembly is called.
//!
//! Promise: no text, number or table makes it fail otherwise than by an answer with diagnostics, within the limits of the
//! question; what a broken instance does is the page's to notice, which then takes a new one.

mod ask;
mod door;
mod drag;
mod export;
mod outline;
mod problems;
mod run;
mod sweep;
mod text;

pub use ask::{LIMITS, Limits, MOST};

use carom::{Error, Model, Simulator, doors};
use serde_json::{Value, json};

/// What the engine needs of its surroundings.
pub trait Host {
    /// Seconds since some moment.
    fn now(&self) -> f64;
    /// Progress: from, time, until, steps, impacts, part of the whole. `false` ends the motion.
    fn progress(&self, progress: &carom::Progress, part: f64) -> bool;
}

/// An answer: JSON, and numbers too many for JSON. Where a page expects an array, the JSON has `{"f64": k}`, `{"f32": k}` or
/// `{"bytes": k}`, the index of a buffer.
#[derive(Debug, Default)]
pub struct Answer {
    /// The JSON.
    pub json: String,
    /// The buffers, little-endian.
    pub buffers: Vec<Vec<u8>>,
}

impl Answer {
    fn of(value: &Value) -> Answer {
        Answer { json: value.to_string(), buffers: Vec::new() }
    }

    /// Keeps numbers; what the JSON says for them.
    fn doubles(&mut self, values: &[f64]) -> String {
        self.buffers.push(values.iter().flat_map(|x| x.to_le_bytes()).collect());
        format!("{{\"f64\":{}}}", self.buffers.len() - 1)
    }

    fn floats(&mut self, values: &[f32]) -> String {
        self.buffers.push(values.iter().flat_map(|x| x.to_le_bytes()).collect());
        format!("{{\"f32\":{}}}", self.buffers.len() - 1)
    }

    fn bytes(&mut self, bytes: Vec<u8>) -> String {
        self.buffers.push(bytes);
        format!("{{\"bytes\":{}}}", self.buffers.len() - 1)
    }
}

/// The longest model text, in bytes.
pub const MOST_TEXT: usize = 2_000_000;

/// What was asked last, made ready.
struct LoadedModel {
    text: String,
    file: String,
    tables: Vec<(String, String)>,
    model: Result<Model, Error>,
    simulator: Option<Simulator>,
    /// Seconds that deriving and compiling took, told once.
    seconds: (f64, f64),
}

/// The engine: answers questions and remembers the model of the last one.
#[derive(Default)]
pub struct Engine {
    known: Option<LoadedModel>,
}

impl Engine {
    /// Answers a question.
    ///
    /// # Errors
    /// A sentence, when the question itself is none.
    pub fn answer(&mut self, what: &str, ask: &str, host: &dyn Host) -> Result<Answer, String> {
        let ask: Value =
            serde_json::from_str(ask).map_err(|error| format!("the question is no JSON: {error}"))?;
        let ask = ask::Ask::new(&ask)?;
        match what {
            "about" => Ok(Answer::of(&json!({
                "version": env!("CARGO_PKG_VERSION"),
                "arithmetic": carom_run::Level::detect().arithmetic().name(),
            }))),
            "check" => Ok(self.check(&ask)),
            "derive" => Ok(self.derive(&ask, host)),
            "outline" => Ok(self.outline(&ask)),
            "complete" => Ok(text::complete(&ask)),
            "hover" => Ok(text::hover(&ask)),
            "run" => self.run(&ask, host),
            "sweep" => self.sweep(&ask, host),
            "drag" => self.drag(&ask),
            "export" => self.export(&ask, host),
            "font" => Ok(text::font()),
            "gallery" => Ok(text::gallery()),
            "schema" => Ok(text::schema()),
            _ => Err(format!("`{what}` is no question")),
        }
    }

    /// The model of a question, checked; from memory if it was the last one.
    fn model(&mut self, ask: &ask::Ask<'_>) -> Result<Model, Error> {
        self.known(ask).model.clone()
    }

    fn known(&mut self, ask: &ask::Ask<'_>) -> &mut LoadedModel {
        let (text, file, tables) = (ask.text(), ask.file(), ask.tables());
        let same = |k: &LoadedModel| k.text == text && k.file == file && k.tables == tables;
        let known = match self.known.take() {
            Some(known) if same(&known) => known,
            _ => LoadedModel {
                model: doors::model(text, file, tables.clone()),
                text: text.to_owned(),
                file: file.to_owned(),
                tables,
                simulator: None,
                seconds: (0.0, 0.0),
            },
        };
        self.known.insert(known)
    }

    fn check(&mut self, ask: &ask::Ask<'_>) -> Answer {
        let (mut found, name) = match self.model(ask) {
            Err(error) => (error.diagnostics().to_vec(), None),
            Ok(model) => {
                let mut found = model.warnings().to_vec();
                let name = match doors::equations(&model) {
                    Err(error) => {
                        found.extend(error.diagnostics().iter().cloned());
                        None
                    }
                    Ok(mechanics) => {
                        let draft = doors::draft(&model);
                        found.extend(mechanics.warnings.iter().cloned().map(|d| draft.locate(d)));
                        // A start that a run would refuse is wrong too.
                        let refused = carom_run::Program::compile(&mechanics)
                            .map_err(|error| carom_run::SimulateError::Compile(error.to_string()))
                            .and_then(|program| {
                                carom_run::check_start(&program, &carom_run::Options::of(&mechanics.model))
                            })
                            .err();
                        let right = refused.is_none();
                        found.extend(refused.iter().flat_map(problems::of_start).map(|d| draft.locate(d)));
                        right.then(|| model.name().to_owned())
                    }
                };
                (found, name)
            }
        };
        carom_mech::diagnostic::tidy(&mut found);
        let list = problems::list(&found, ask);
        Answer::of(&json!({ "ok": name.is_some(), "name": name, "diagnostics": list }))
    }

    fn derive(&mut self, ask: &ask::Ask<'_>, host: &dyn Host) -> Answer {
        let begin = host.now();
        let derived = self.model(ask).and_then(|model| ask.with_values(&model, &*doors::derived(&model)?));
        match derived {
            Err(error) => Answer::of(&json!({
                "ok": false, "name": null, "sections": [], "seconds": 0.0,
                "diagnostics": problems::list(error.diagnostics(), ask),
            })),
            Ok(mechanics) => {
                let sections = carom_show::report::sections_json(&mechanics);
                let json = format!(
                    "{{\"ok\":true,\"name\":{},\"diagnostics\":[],\"sections\":{sections},\"seconds\":{}}}",
                    json!(mechanics.model.name),
                    json!(host.now() - begin)
                );
                Answer { json, buffers: Vec::new() }
            }
        }
    }
}
