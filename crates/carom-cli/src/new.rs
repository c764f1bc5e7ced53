//! `carom new` and `carom gallery`: where a first model comes from.

use crate::failure::Failure;
use crate::load::suggestion;
use crate::paint::Paint;
use crate::schema;
use crate::terminal;
use crate::write;
use carom::gallery;
use std::path::Path;

/// The template that `carom new` writes.
const TEMPLATE: &str = include_str!("template.toml");

/// Writes a first model and, if `with_schema`, the JSON Schema that editors complete it from.
///
/// # Errors
/// If the file exists or cannot be written.
pub fn new(name: &str, with_schema: bool, quiet: bool) -> Result<(), Failure> {
    let stem = name.strip_suffix(".toml").unwrap_or(name);
    let title = Path::new(stem).file_name().map(|n| n.to_string_lossy().replace('_', " "));
    let Some(title) = title.filter(|t| !t.contains(['"', '\\']) && !t.chars().any(char::is_control)) else {
        return Err(Failure::wrong(format!("`{name}` cannot be the name of a model file")));
    };
    let file = format!("{stem}.toml");
    let text = TEMPLATE.replace("{title}", &title);
    let beside = Path::new(&file).with_file_name(schema::FILE);
    if !with_schema || !replaceable(&beside) {
        return copy(&file, &text, quiet);
    }
    copy(&file, &format!("#:schema ./{}\n{text}", schema::FILE), quiet)?;
    let beside = beside.to_string_lossy();
    write::file(&beside, schema::model().as_bytes())?;
    if !quiet {
        terminal::say(&format!("{beside} tells your editor which keys there are"));
    }
    Ok(())
}

/// Is there no file, or one that `carom new` wrote?
fn replaceable(file: &Path) -> bool {
    match std::fs::read_to_string(file) {
        Ok(text) => {
            serde_json::from_str::<serde_json::Value>(&text).is_ok_and(|old| old["title"] == schema::TITLE)
        }
        Err(_) => file.symlink_metadata().is_err(),
    }
}

/// Lists the gallery, or copies one of its models into the current folder.
///
/// # Errors
/// If there is no such model, or its file exists or cannot be written.
pub fn gallery(name: Option<&str>, print: bool, quiet: bool) -> Result<(), Failure> {
    let Some(name) = name else {
        return write::stdout(&list(Paint::stdout(), terminal::columns()));
    };
    let Some(entry) = gallery::find(name.strip_suffix(".toml").unwrap_or(name)) else {
        let names: Vec<&str> = gallery::all().iter().map(|e| e.name).collect();
        let hint = suggestion(name, &names).map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
        return Err(Failure::wrong(format!(
            "the gallery has no model `{name}`{hint} (`carom gallery` lists them)"
        )));
    };
    if print {
        return write::result(entry.text.as_bytes()).map(drop);
    }
    copy(&format!("{}.toml", entry.name), entry.text, quiet)
}

/// Prints the gallery as a page of the book, which puts a figure under each title.
///
/// # Errors
/// If standard output cannot be written to.
pub fn page() -> Result<(), Failure> {
    let mut out = String::from(
        "# Gallery\n\nEvery model here comes with carom: `carom gallery NAME` copies it into your folder, `carom run NAME` simulates it, \
         and `carom show NAME -o NAME.html` animates it.\n",
    );
    let mut group = "";
    for entry in gallery::all() {
        if entry.group != group {
            group = entry.group;
            out += &format!("\n## {group}\n");
        }
        // Marks of Markdown are meant only between backticks.
        let comment: Vec<String> = entry
            .comment()
            .split('`')
            .enumerate()
            .map(
                |(i, part)| {
                    if i % 2 == 1 { part.to_owned() } else { part.replace('_', "\\_").replace('*', "\\*") }
                },
            )
            .collect();
        let comment = comment.join("`");
        out += &format!("\n### {}\n\n`{}`. {comment}\n", entry.title(), entry.name);
    }
    write::result(out.as_bytes()).map(drop)
}

fn list(paint: Paint, columns: usize) -> String {
    let width = gallery::all().iter().map(|e| e.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    let mut group = "";
    for entry in gallery::all() {
        if entry.group != group {
            group = entry.group;
            let heading: Vec<String> =
                terminal::wrapped("", group, columns).lines().map(|l| paint.bold(l)).collect();
            out += &format!("{}{}\n", if out.is_empty() { "" } else { "\n" }, heading.join("\n"));
        }
        let title = entry.title();
        if 4 + width + title.chars().count() <= columns {
            let name = format!("{:width$}", entry.name);
            out += &format!("  {}  {title}\n", paint.cyan(&name));
        } else {
            out +=
                &format!("  {}\n{}\n", paint.cyan(entry.name), terminal::wrapped("      ", title, columns));
        }
    }
    let next =
        "carom gallery NAME copies one here; carom run NAME and the other commands take the name as it is.";
    out + "\n" + &terminal::wrapped("", next, columns) + "\n"
}

fn copy(file: &str, text: &str, quiet: bool) -> Result<(), Failure> {
    // A link to nowhere is there too.
    if Path::new(file).symlink_metadata().is_ok() {
        return Err(Failure::File(format!("{file} exists already; it was left as it is")));
    }
    write::new_file(file, text.as_bytes())?;
    if !quiet {
        terminal::say(&format!("wrote {file}\nnext:  carom derive {file}\n       carom run {file}"));
    }
    Ok(())
}
