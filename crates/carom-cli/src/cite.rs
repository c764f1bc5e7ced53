//! `carom cite`: how to cite this program, with the version that ran. A test compares it with CITATION.cff.

use crate::args::Citation;
use crate::failure::Failure;
use crate::write;

const TITLE: &str = "carom: Lagrangian mechanics with impacts";
const AUTHORS: &str = "The carom contributors";
/// Of this version.
const YEAR: &str = "2026";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Prints the citation.
///
/// # Errors
/// If standard output cannot be written to.
pub fn cite(format: Citation) -> Result<(), Failure> {
    write::stdout(&match format {
        Citation::All => format!("{}\n{}", text(), bibtex()),
        Citation::Text => text(),
        Citation::Bibtex => bibtex(),
        Citation::Cff => cff(),
    })
}

fn text() -> String {
    format!("{AUTHORS} ({YEAR}). {TITLE}, version {VERSION} [computer software].\n")
}

fn bibtex() -> String {
    format!(
        "@software{{carom,\n  author  = {{{{{AUTHORS}}}}},\n  title   = {{{TITLE}}},\n  version = {{{VERSION}}},\n  year    = {{{YEAR}}},\n  license = {{MIT OR Apache-2.0}}\n}}\n"
    )
}

fn cff() -> String {
    format!(
        "cff-version: 1.2.0\nmessage: \"If you use carom in your work, please cite it as below.\"\ntitle: \"{TITLE}\"\ntype: software\nauthors:\n  - name: \"{AUTHORS}\"\nversion: {VERSION}\nlicense:\n  - MIT\n  - Apache-2.0\n"
    )
}
