//! `carom derive`: the equations of a model, for a person or for a program.

use crate::args::{Derive, Format};
use crate::failure::Failure;
use crate::load::load;
use crate::simulate;
use crate::write;
use carom::Mechanics;
use carom::show::report;
use std::path::Path;
use std::time::Instant;

/// Columns in a pipe.
const PAGE: usize = 100;
/// Longer lines are hard to read.
const WIDEST: usize = 140;

/// Runs the command.
///
/// # Errors
/// If the model is wrong, or a file cannot be read or written.
pub fn derive(args: &Derive) -> Result<u8, Failure> {
    let format = format(args)?;
    if let Some(output) = &args.output {
        write::probe(output)?;
    }
    let loaded = load(&args.model)?;
    let file = loaded.file.clone();
    let model = loaded.check(args.model.quiet)?;
    let begin = Instant::now();
    let mechanics = simulate::derive(model, &file)?;
    let text = render(&mechanics, format, begin.elapsed().as_secs_f64());
    match &args.output {
        Some(output) => write::file(output, text.as_bytes())?,
        None if format == Format::Text => write::stdout(&text)?,
        None if format == Format::Json => write::json(&text)?,
        None => write::result(text.as_bytes()).map(drop)?,
    }
    Ok(0)
}

fn render(mechanics: &Mechanics, format: Format, seconds: f64) -> String {
    match format {
        Format::Text => report::text(mechanics, width()),
        Format::Latex => report::latex(mechanics),
        Format::Markdown => report::markdown(mechanics),
        Format::Html => report::html(mechanics),
        Format::Json => report::json(mechanics, seconds),
        Format::Sympy => report::sympy(mechanics),
        Format::Rust => report::rust(mechanics),
        Format::C => report::c(mechanics),
    }
}

/// Columns of the terminal; in a pipe, what fits a page.
fn width() -> usize {
    let columns = console::Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    columns.unwrap_or(PAGE).clamp(40, WIDEST)
}

/// The format asked for, or the one of the output file's extension.
fn format(args: &Derive) -> Result<Format, Failure> {
    if args.json {
        return Ok(Format::Json);
    }
    if let Some(format) = args.format {
        return Ok(format);
    }
    let Some(output) = &args.output else { return Ok(Format::Text) };
    match Path::new(output).extension().and_then(|e| e.to_str()) {
        Some("txt") => Ok(Format::Text),
        Some("tex") => Ok(Format::Latex),
        Some("md") => Ok(Format::Markdown),
        Some("html") => Ok(Format::Html),
        Some("json") => Ok(Format::Json),
        Some("py") => Ok(Format::Sympy),
        Some("rs") => Ok(Format::Rust),
        Some("c" | "h") => Ok(Format::C),
        _ => Err(Failure::wrong(format!(
            "cannot tell the format of {output}: use .txt .tex .md .html .json .py .rs or .c, or say --format"
        ))),
    }
}
