//! Writes the chapters of the book that are made from the program itself: the reference of the model file and the gallery
//! with its figures.
//!
//!     cargo run --release -p carom --example book -- FOLDER

use carom::gallery;
use carom::mech::schema;
use carom::show::plot;
use carom::{Draft, Options, Program, Sampling, derive, simulate};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

fn main() -> Result<(), String> {
    let folder = std::env::args().nth(1).ok_or("usage: book FOLDER")?;
    let folder = Path::new(&folder);
    fs::create_dir_all(folder.join("figures")).map_err(|e| e.to_string())?;
    fs::write(folder.join("reference.md"), reference()).map_err(|e| e.to_string())?;
    let page = gallery_page(&folder.join("figures"))?;
    fs::write(folder.join("gallery.md"), page).map_err(|e| e.to_string())?;
    Ok(())
}

/// Every table and key of a model file, from the list the reader itself uses.
fn reference() -> String {
    let mut out = String::from(
        "# The model file\n\n\
         TOML. Formulas are strings; `x'` is the velocity of `x`; there is no implicit multiplication; `^` is the power. A number may \
         stand wherever a formula may. Names of your own are marked *name*. Unknown tables and keys are errors with a suggestion. \
         This page is made from the list that the reader itself uses.\n\n\
         Functions: sqrt exp log sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh abs sign min max. Constants: pi, e.\n",
    );
    let mut table = None;
    for entry in schema::schema() {
        if table != Some(entry.table) {
            table = Some(entry.table);
            let heading = match entry.table {
                "" => "Before the first table".to_owned(),
                other => format!("`[{}]`", other.replace('*', "name")),
            };
            let _ = write!(out, "\n## {heading}\n\n| key | value | meaning |\n|---|---|---|\n");
        }
        let key = if entry.key == "*" { "*name*".to_owned() } else { format!("`{}`", entry.key) };
        let cell = |text: &str| text.replace('|', "\\|");
        let _ = writeln!(out, "| {key} | {} | {} |", cell(entry.form), cell(entry.meaning));
    }
    out
}

/// Every gallery model with its comment and a picture of its motion.
fn gallery_page(figures: &Path) -> Result<String, String> {
    let mut out = String::from(
        "# Gallery\n\n`carom run NAME` runs a model of this page, `carom gallery NAME` copies its file.\n",
    );
    let mut group = "";
    for entry in gallery::all() {
        if entry.group != group {
            group = entry.group;
            let _ = write!(out, "\n## {group}\n");
        }
        let svg = figure(entry).map_err(|e| format!("{}: {e}", entry.name))?;
        fs::write(figures.join(format!("{}.svg", entry.name)), svg).map_err(|e| e.to_string())?;
        let _ = write!(
            out,
            "\n### {}\n\n`{}` — {}\n\n![{}](figures/{}.svg)\n",
            entry.title(),
            entry.name,
            entry.comment().replace('*', "\\*").replace('_', "\\_"),
            entry.title(),
            entry.name,
        );
    }
    Ok(out)
}

fn figure(entry: &gallery::Entry) -> Result<String, String> {
    let (draft, _) = Draft::parse(entry.text, entry.name);
    let first =
        |problems: Vec<carom::Diagnostic>| problems.first().map(ToString::to_string).unwrap_or_default();
    let (model, _) = draft.check().map_err(first)?;
    let mut options = Options::of(&model);
    let mechanics = derive(model).map_err(first)?;
    let program = Program::compile(&mechanics).map_err(|e| e.to_string())?;
    let scout = simulate(&program, &options).map_err(|e| e.to_string())?;
    options.sampling = Sampling::Even(plot::samples_for(scout.audit.steps, scout.impacts.len()));
    let motion = simulate(&program, &options).map_err(|e| e.to_string())?;
    plot::svg(&mechanics, &motion, &[], plot::Style::default()).map_err(first)
}
