//! Inputs nobody would write, and what must hold for each of them.
//!
//! Every input is a function of [`Choices`]: bytes from a fuzzer (`fuzz/`), or a seed and a number (the runner of this crate,
//! for a stable toolchain). Promise of each target: no panic whatever the choices; what it returns is what it tried, for
//! reports. Time and memory are watched from outside (`main.rs`).

mod choices;
mod formula;
mod model;
mod motion;
mod table;

pub use choices::Choices;

/// What can be tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// Text → expression → text, derivatives, simplification, every printer.
    Formulas,
    /// Text → draft → model → mechanics, every diagnostic rendered.
    Models,
    /// Model → program → motion of bounded length.
    Motions,
    /// Bytes of tables, damaged or not.
    Tables,
}

impl Target {
    /// All of them.
    pub const ALL: [Target; 4] = [Target::Formulas, Target::Models, Target::Motions, Target::Tables];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Target::Formulas => "formulas",
            Target::Models => "models",
            Target::Motions => "motions",
            Target::Tables => "tables",
        }
    }

    /// Makes an input and tries it; `note` hears what is tried before it is.
    ///
    /// # Panics
    /// If something that must hold does not: that is a finding.
    pub fn attempt(self, choices: &mut Choices<'_>, note: &mut dyn FnMut(&str)) {
        match self {
            Target::Formulas => formula::attempt(choices, note),
            Target::Models => model::attempt(choices, note),
            Target::Motions => motion::attempt(choices, note),
            Target::Tables => table::attempt(choices, note),
        }
    }
}
