//! What a person takes away: pages, pictures, tables, reports, a notebook, the model itself.

use crate::ask::Ask;
use crate::{Answer, Engine, Host, problems};
use carom::{Error, Format, doors};
use carom_mech::Draft;
use carom_show::draw::Theme;
use carom_show::{page, plot};
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
        let format = match kind {
            "model" => return Ok(ask.text().as_bytes().to_vec()),
            "notebook" => return Ok(notebook(stem, ask).into_bytes()),
            "report_html" => Some(Format::Html),
            "report_latex" => Some(Format::Latex),
            "report_markdown" => Some(Format::Markdown),
            "report_text" => Some(Format::Text),
            "sympy" => Some(Format::Sympy),
            "rust" => Some(Format::Rust),
            "c" => Some(Format::C),
            _ => None,
        };
        if let Some(format) = format {
            let report = self.model(ask).and_then(|model| model.report(format));
            return report.map(String::into_bytes).map_err(said);
        }
        let mut made = self.simulate(ask, host, |_| ()).map_err(said)?;
        let picture = matches!(kind, "page" | "svg" | "svg_dark" | "png");
        if picture && ask.number("samples").is_none() {
            // As many samples as a smooth picture needs.
            let audit = made.motion.audit();
            let samples = match kind {
                "page" => page::samples_for(audit.steps),
                _ => plot::samples_for(audit.steps, made.motion.impacts().len()),
            };
            let samples = samples.min(ask.limits().samples);
            made = self.simulate(ask, host, |options| _ = options.samples(samples)).map_err(said)?;
        }
        let motion = &made.motion;
        let mechanics = doors::mechanics(motion).map_err(said)?;
        let inner = doors::motion(motion);
        let what: Vec<String> =
            ask.strings("plot").unwrap_or_default().iter().map(|&w| w.to_owned()).collect();
        let dark = plot::Style { theme: Theme::Dark, ..plot::Style::default() };
        match kind {
            "page" => page::html(&mechanics, inner, &what).map(String::into_bytes),
            "svg" => plot::svg(&mechanics, inner, &what, plot::Style::default()).map(String::into_bytes),
            "svg_dark" => plot::svg(&mechanics, inner, &what, dark).map(String::into_bytes),
            "png" => plot::png(&mechanics, inner, &what, plot::Style::default()),
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
fn notebook(stem: &str, ask: &Ask<'_>) -> String {
    // A JSON string is a Python string.
    let text = json!(ask.text()).to_string();
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
