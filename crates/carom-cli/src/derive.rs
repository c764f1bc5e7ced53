//! `carom derive`: the equations of a model, for a person or for a program.

use crate::args::{DeriveArgs, ReportFormat};
use crate::failure::Failure;
use crate::load::{load, suggestion};
use crate::simulate;
use crate::terminal;
use crate::write;
use carom_mech::Mechanics;
use carom_show::provenance::Stamp;
use carom_show::report::document::Document;
use carom_show::report::{self, Part};
use std::path::Path;
use std::time::Instant;

/// Runs the command.
///
/// # Errors
/// If the model is wrong, or a file cannot be read or written.
pub fn derive(args: &DeriveArgs) -> Result<u8, Failure> {
    let format = format(args)?;
    if let Some(output) = &args.output {
        write::probe(output)?;
    }
    let loaded = load(&args.model)?;
    let file = loaded.file.clone();
    let model = loaded.check(args.model.quiet)?;
    let begin = Instant::now();
    let mechanics = simulate::derive(model, &file)?;
    let seconds = begin.elapsed().as_secs_f64();
    let text = match report_of(args, &mechanics, format)? {
        Some(document) => render_document(&document, format, args.fragment),
        None => render(&mechanics, format, seconds),
    };
    match &args.output {
        Some(output) => write::file(output, text.as_bytes())?,
        None if format == ReportFormat::Text => write::stdout(&text)?,
        None if format == ReportFormat::Json => write::json(&text)?,
        None => write::result(text.as_bytes()).map(drop)?,
    }
    Ok(0)
}

/// The document asked for, whole or in part; `None` for formats that are no documents.
fn report_of(
    args: &DeriveArgs,
    mechanics: &Mechanics,
    format: ReportFormat,
) -> Result<Option<Document>, Failure> {
    let is_document = matches!(
        format,
        ReportFormat::Text | ReportFormat::Latex | ReportFormat::Markdown | ReportFormat::Html
    );
    if args.fragment && format != ReportFormat::Latex {
        return Err(Failure::wrong(
            "--fragment is LaTeX to paste\n  hint: --format latex --fragment, or -o FILE.tex --fragment",
        ));
    }
    if args.part.is_empty() {
        return Ok(is_document.then(|| report::document(mechanics)));
    }
    if !is_document {
        return Err(Failure::wrong(
            "--part goes with --format text, latex, markdown or html\n  hint: --json has every part under its own name",
        ));
    }
    let sections = report::sections(mechanics);
    let stamp = Some(Stamp::of_equations(mechanics));
    let mut document = Document { title: report::title(mechanics), blocks: Vec::new(), stamp };
    for name in args.part.iter().flat_map(|part| part.split(',')).map(str::trim) {
        let part = part(name)?;
        let found: Vec<_> = sections.iter().filter(|s| s.part == part).collect();
        if found.is_empty() {
            let there: Vec<&str> = Part::ALL
                .iter()
                .filter(|p| sections.iter().any(|s| s.part == **p))
                .map(|p| p.name())
                .collect();
            let message = format!(
                "this model has nothing under `{}`: {}\n  hint: its parts are {}",
                part.name(),
                part.when(),
                there.join(", ")
            );
            return Err(Failure::wrong(message));
        }
        found.iter().for_each(|s| document.blocks.extend(s.blocks.iter().cloned()));
    }
    Ok(Some(document))
}

/// The part of a report called so.
fn part(name: &str) -> Result<Part, Failure> {
    if let Some(part) = Part::named(name) {
        return Ok(part);
    }
    let names: Vec<&str> = Part::ALL.iter().map(|p| p.name()).collect();
    let hint = match suggestion(name, &names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", names.join(", ")),
    };
    Err(Failure::wrong(format!("a report has no part `{name}`\n  hint: {hint}")))
}

fn render_document(document: &Document, format: ReportFormat, fragment: bool) -> String {
    match format {
        ReportFormat::Latex if fragment => report::render_latex_fragment(document),
        ReportFormat::Latex => report::render_latex(document),
        ReportFormat::Markdown => report::render_markdown(document),
        ReportFormat::Html => report::render_html(document),
        _ => report::render_text(document, terminal::columns()),
    }
}

fn render(mechanics: &Mechanics, format: ReportFormat, seconds: f64) -> String {
    match format {
        ReportFormat::Json => report::json(mechanics, seconds),
        ReportFormat::Sympy => report::sympy(mechanics),
        ReportFormat::Rust => report::rust(mechanics),
        ReportFormat::C => report::c(mechanics),
        _ => report::text(mechanics, terminal::columns()),
    }
}

/// The format asked for, or the one of the output file's extension.
fn format(args: &DeriveArgs) -> Result<ReportFormat, Failure> {
    if args.json {
        return Ok(ReportFormat::Json);
    }
    if let Some(format) = args.format {
        return Ok(format);
    }
    let Some(output) = &args.output else {
        return Ok(if args.fragment { ReportFormat::Latex } else { ReportFormat::Text });
    };
    match Path::new(output).extension().and_then(|e| e.to_str()) {
        Some("txt") => Ok(ReportFormat::Text),
        Some("tex") => Ok(ReportFormat::Latex),
        Some("md") => Ok(ReportFormat::Markdown),
        Some("html") => Ok(ReportFormat::Html),
        Some("json") => Ok(ReportFormat::Json),
        Some("py") => Ok(ReportFormat::Sympy),
        Some("rs") => Ok(ReportFormat::Rust),
        Some("c" | "h") => Ok(ReportFormat::C),
        _ => Err(Failure::wrong(format!(
            "cannot tell the format of {output}: use .txt .tex .md .html .json .py .rs or .c, or say --format"
        ))),
    }
}
