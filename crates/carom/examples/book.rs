//! Writes the chapters of the book that come from the code: the reference of the model file, from the list the reader
//! itself uses, and the gallery, with a picture of every model.
//!
//! ```text
//! cargo run --release -p carom --example book -- FOLDER
//! ```

use carom::gallery;
use carom_mech::reference;
use carom_mech::{Draft, derive};
use carom_run::{Options, Program, Sampling, simulate};
use carom_show::plot;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = env::args().nth(1).ok_or("usage: book FOLDER")?;
    let folder = Path::new(&folder);
    fs::create_dir_all(folder.join("figures"))?;
    fs::write(folder.join("reference.md"), reference())?;
    let mut page = String::from(
        "# Gallery\n\nEvery model here comes with carom: `carom gallery NAME` copies it into your folder, and \
         `carom show NAME -o NAME.html` animates it.\n",
    );
    for entry in gallery::all() {
        let figure = picture(entry).map_err(|problem| format!("{}: {problem}", entry.name))?;
        fs::write(folder.join(format!("figures/{}.svg", entry.name)), figure)?;
        write!(
            page,
            "\n## {}\n\n`{}`. {}\n\n![{}](figures/{}.svg)\n",
            entry.title(),
            entry.name,
            entry.comment().replace('\n', " ").replace('_', "\\_").replace('*', "\\*"),
            entry.title(),
            entry.name
        )?;
    }
    fs::write(folder.join("gallery.md"), page)?;
    Ok(())
}

/// The default plot of a gallery model.
fn picture(entry: &gallery::Entry) -> Result<String, String> {
    let lines = |problems: Vec<carom_mech::Diagnostic>| {
        problems.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("; ")
    };
    let (draft, problems) = Draft::parse(entry.text, entry.name);
    if !problems.is_empty() {
        return Err(lines(problems));
    }
    let (model, _) = draft.check().map_err(lines)?;
    let mut options = Options::of(&model);
    let mechanics = derive(model).map_err(lines)?;
    let program = Program::compile(&mechanics).map_err(|problem| problem.to_string())?;
    options.sampling = Sampling::Even(1001);
    let motion = simulate(&program, &options).map_err(|problem| problem.to_string())?;
    plot::svg(&mechanics, &motion, &[], plot::Style::default()).map_err(lines)
}
