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
pub enum FuzzTarget {
    /// Text → expression → text, derivatives, simplification, every printer.
    Formulas,
    /// Text → draft → model → mechanics, every diagnostic rendered.
    Models,
    /// Model → program → motion of bounded length.
    Motions,
    /// Bytes of tables, damaged or not.
    Tables,
}

impl FuzzTarget {
    /// All of them.
    pub const ALL: [FuzzTarget; 4] =
        [FuzzTarget::Formulas, FuzzTarget::Models, FuzzTarget::Motions, FuzzTarget::Tables];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            FuzzTarget::Formulas => "formulas",
            FuzzTarget::Models => "models",
            FuzzTarget::Motions => "motions",
            FuzzTarget::Tables => "tables",
        }
    }

    /// Makes an input and tries it; `note` hears what is tried before it is.
    ///
    /// # Panics
    /// If something that must hold does not: that is a finding.
    pub fn attempt(self, choices: &mut Choices<'_>, note: &mut dyn FnMut(&str)) {
        match self {
            FuzzTarget::Formulas => formula::attempt(choices, note),
            FuzzTarget::Models => model::attempt(choices, note),
            FuzzTarget::Motions => motion::attempt(choices, note),
            FuzzTarget::Tables => table::attempt(choices, note),
        }
    }
}
