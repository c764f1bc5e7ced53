//! What a person takes away: pages, pictures, tables, reports, a notebook, the model itself.

use crate::ask::Ask;
use crate::{Answer, Engine, Host, problems};
use carom::{Error, doors};
use carom_mech::draft::SignalSource;
use carom_mech::{Draft, Mechanics};
use carom_show::draw::Theme;
use carom_show::{page, plot, report};
use serde_json::{Value, json};

impl Engine {
    /// A file.
    pub fn export(&mut self, ask: &Ask<'_>, host: &dyn Host) -> Result<Answer, String> {
        let kind = ask.string("as").unwrap_or("");
        let Some((ending, mime)) = form(kind) else {
            return Err(format!("`{kind}` is nothing that can be exported"));
        };
        let stem = stem(ask.file());
        match self.file(kind, &stem, ask, host) {
            Ok(bytes) => {
                let mut answer = Answer::default();
                let place = answer.bytes(bytes);
                answer.json = format!(
                    "{{\"ok\":true,\"diagnostics\":[],\"file\":{},\"mime\":{},\"bytes\":{place}}}",
                    json!(format!("{stem}{ending}")),
                    json!(mime)
                );
                Ok(answer)
            }
            Err(found) => {
                let mut answer = Answer::default();
                let place = answer.bytes(Vec::new());
                answer.json = format!(
                    "{{\"ok\":false,\"diagnostics\":{},\"file\":\"\",\"mime\":\"\",\"bytes\":{place}}}",
                    Value::from(problems::list(&found, ask))
                );
                Ok(answer)
            }
        }
    }

    fn file(
        &mut self,
        kind: &str,
        stem: &str,
        ask: &Ask<'_>,
        host: &dyn Host,
    ) -> Result<Vec<u8>, Vec<carom::Diagnostic>> {
        let said = |error: Error| error.diagnostics().to_vec();
        let written: Option<fn(&Mechanics) -> String> = match kind {
            "model" => return Ok(ask.text().as_bytes().to_vec()),
            "notebook" => {
                let projected = self.model(ask).is_ok_and(|model| ask.is_projected(&model));
                return Ok(notebook(stem, ask, projected).into_bytes());
            }
            "report_html" => Some(report::html),
            "report_latex" => Some(report::latex),
            "report_markdown" => Some(report::markdown),
            "report_text" => Some(|mechanics| report::text(mechanics, 100)),
            "sympy" => Some(report::sympy),
            "rust" => Some(report::rust),
            "c" => Some(report::c),
            _ => None,
        };
        if let Some(written) = written {
            let derived =
                self.model(ask).and_then(|model| ask.with_values(&model, &*doors::derived(&model)?));
            return derived.map(|mechanics| written(&mechanics).into_bytes()).map_err(said);
        }
        let (begin, seconds) = (host.now(), ask.limits().seconds);
        let picture = matches!(kind, "page" | "svg" | "svg_dark" | "png") && ask.number("samples").is_none();
        let mut samples = None;
        if picture {
            // As many samples as a smooth picture needs: who has seen the motion knows its steps and impacts.
            let (steps, impacts) = match ask.count("steps").zip(ask.count("impacts")) {
                Some(known) => known,
                None => {
                    let first = self.simulate(ask, host, |options| _ = options.samples(2)).map_err(said)?;
                    (first.motion.audit().steps as usize, first.motion.impacts().len())
                }
            };
            let wanted = match kind {
                "page" => page::samples_for(steps as u64),
                _ => plot::samples_for(steps as u64, impacts),
            };
            samples = Some(wanted.min(ask.limits().samples));
        }
        let left = (seconds - (host.now() - begin)).max(0.0);
        let made = self.simulate_within(ask, host, left, |options| {
            if let Some(samples) = samples {
                options.samples(samples);
            }
        });
        let motion = &made.map_err(said)?.motion;
        let mechanics = doors::mechanics(motion).map_err(said)?;
        let inner = doors::motion(motion);
        let what: Vec<String> =
            ask.strings("plot").unwrap_or_default().iter().map(|&w| w.to_owned()).collect();
        let dark = plot::PlotStyle { theme: Theme::Dark, ..plot::PlotStyle::default() };
        match kind {
            "page" => page::html(&mechanics, inner, &what).map(String::into_bytes),
            "svg" => plot::svg(&mechanics, inner, &what, plot::PlotStyle::default()).map(String::into_bytes),
            "svg_dark" => plot::svg(&mechanics, inner, &what, dark).map(String::into_bytes),
            "png" => plot::png(&mechanics, inner, &what, plot::PlotStyle::default()),
            "csv" => Ok(motion.to_csv()),
            "records_csv" => Ok(motion.records_to_csv()),
            _ => Ok(motion.to_json().into_bytes()),
        }
    }
}

/// Ending and type of a file.
fn form(kind: &str) -> Option<(&'static str, &'static str)> {
    Some(match kind {
        "page" => (".html", "text/html"),
        "svg" | "svg_dark" => (".svg", "image/svg+xml"),
        "png" => (".png", "image/png"),
        "csv" => (".csv", "text/csv"),
        "records_csv" => (".impacts.csv", "text/csv"),
        "json" => (".json", "application/json"),
        "notebook" => (".ipynb", "application/x-ipynb+json"),
        "model" => (".toml", "application/toml"),
        "report_html" => (".derivation.html", "text/html"),
        "report_latex" => (".tex", "application/x-tex"),
        "report_markdown" => (".md", "text/markdown"),
        "report_text" => (".txt", "text/plain"),
        "sympy" => (".py", "text/x-python"),
        "rust" => (".rs", "text/rust"),
        "c" => (".c", "text/x-c"),
        _ => return None,
    })
}

/// The file's name without folder and ending, and without what file systems dislike.
fn stem(file: &str) -> String {
    let name = file.rsplit(['/', '\\', ':']).next().unwrap_or("");
    let name = name.strip_suffix(".toml").unwrap_or(name);
    let name: String = name
        .chars()
        .map(|c| if c.is_alphanumeric() || "-_. ".contains(c) { c } else { '_' })
        .take(80)
        .collect();
    let name = name.trim_matches(['.', ' ']);
    if name.is_empty() { "model".to_owned() } else { name.to_owned() }
}

/// A notebook that simulates the model with the Python package.
fn notebook(stem: &str, ask: &Ask<'_>, projected: bool) -> String {
    // A JSON string is a Python string.
    let mut text = json!(ask.text()).to_string();
    let named = Draft::parse(ask.text(), "model.toml").0.inputs;
    let is_read = |name: &str| {
        named
            .iter()
            .any(|input| matches!(&input.signal, SignalSource::Table { file, .. } if file.text == name))
    };
    let tables: Vec<String> = ask
        .tables()
        .into_iter()
        .filter(|(name, _)| is_read(name))
        .map(|(name, table)| format!("{}: {}", json!(name), json!(table)))
        .collect();
    if !tables.is_empty() {
        text = format!("{text}, tables={{{}}}", tables.join(", "));
    }
    let parameters = Draft::parse(ask.text(), "model.toml").0.parameters;
    let is_parameter = |name: &str| parameters.iter().any(|(word, _)| word.text == name);
    let mut arguments: Vec<String> =
        ask.number("until").map(|t| format!("until={t:?}")).into_iter().collect();
    for (key, wanted) in [("parameters", true), ("start", false)] {
        let chosen = ask.values().into_iter().filter(|(name, _)| is_parameter(name) == wanted);
        let entries: Vec<String> = chosen.map(|(name, x)| format!("{}: {x:?}", json!(name))).collect();
        if !entries.is_empty() {
            arguments.push(format!("{key}={{{}}}", entries.join(", ")));
        }
    }
    if projected {
        arguments.push("project=True".to_owned());
    }
    let code = |id: &str, lines: &[String]| {
        json!({
            "cell_type": "code", "id": id, "execution_count": null, "metadata": {}, "outputs": [],
            "source": lines.join("\n"),
        })
    };
    let words = format!("# {stem}\n\nA model of carom. `pip install carom` brings the package.");
    let cells = json!([
        { "cell_type": "markdown", "id": "about", "metadata": {}, "source": words },
        code("model", &["import carom".to_owned(), String::new(), format!("model = carom.Model.from_text({text})"), "model".to_owned()]),
        code("motion", &[format!("motion = model.run({})", arguments.join(", ")), "motion".to_owned()]),
    ]);
    let kernel = json!({ "display_name": "Python 3", "language": "python", "name": "python3" });
    let notebook = json!({
        "cells": cells, "metadata": { "kernelspec": kernel, "language_info": { "name": "python" } },
        "nbformat": 4, "nbformat_minor": 5,
    });
    notebook.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_cannot_leave_the_folder() {
        assert_eq!(stem("../../etc/passwd"), "passwd");
        assert_eq!(stem("C:\\a\\double pendulum.toml"), "double pendulum");
        assert_eq!(stem("..."), "model");
        assert_eq!(stem("<x>\".toml"), "_x__");
    }
}
