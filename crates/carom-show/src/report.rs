//! The derivation report: for one model, the whole way from the action to the law, each step saying what was done.
//!
//! [`document()`] writes it once; [`text()`], [`markdown()`], [`latex()`] and [`html()`] render that same document.
//! [`json()`], [`sympy()`], [`rust()`] and [`c()`] give the derived expressions to other programs.
//!
//! Nothing here computes mechanics: every expression comes from [`Mechanics`], only sums such as W a + h are formed.

mod builder;
pub mod chapter;
mod code;
pub mod document;
mod fields;
mod hamilton;
mod html;
mod impact;
mod invariants;
mod json;
mod latex;
mod markdown;
mod mathml;
mod pieces;
mod rows;
mod smooth;
mod terminal;
mod tex;

use crate::provenance::Stamp;
use builder::ReportBuilder;
use carom_mech::{Dynamics, Mechanics};
use document::{Block, Document};

pub use fields::FIELDS;
pub use html::math_font;
pub use json::json;
pub use pieces::sections_json;

/// A part of a report, by the name that `derive --part` knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// Coordinates, parameters, named formulas.
    Model,
    /// Kinetic and potential energy, Lagrangian.
    Lagrangian,
    /// From the action to the equations of motion, and the accelerations.
    Motion,
    /// Constraint rows and what they do; hidden constraints of degenerate models.
    Constraints,
    /// Driven coordinates and the forces that drive them.
    Driven,
    /// The energy and what changes it.
    Energy,
    /// What symmetries conserve, and what breaks it.
    Invariants,
    /// The Routh function; only when asked for.
    Routh,
    /// The Hamiltonian, as given or by way of the momenta.
    Hamiltonian,
    /// Implicit form on positions, velocities and momenta.
    Implicit,
    /// First-order form.
    State,
    /// Impacts: from the action to the law, wall by wall.
    Impacts,
    /// Events, outputs and notes.
    Outputs,
}

impl Part {
    /// In the order of a report.
    pub const ALL: [Part; 13] = [
        Part::Model,
        Part::Lagrangian,
        Part::Motion,
        Part::Constraints,
        Part::Driven,
        Part::Energy,
        Part::Invariants,
        Part::Routh,
        Part::Hamiltonian,
        Part::Implicit,
        Part::State,
        Part::Impacts,
        Part::Outputs,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Part::Model => "model",
            Part::Lagrangian => "lagrangian",
            Part::Motion => "motion",
            Part::Constraints => "constraints",
            Part::Driven => "driven",
            Part::Energy => "energy",
            Part::Invariants => "invariants",
            Part::Routh => "routh",
            Part::Hamiltonian => "hamiltonian",
            Part::Implicit => "implicit",
            Part::State => "state",
            Part::Impacts => "impacts",
            Part::Outputs => "outputs",
        }
    }

    /// The part called so, also by other words for it.
    pub fn named(name: &str) -> Option<Part> {
        let name = name.to_lowercase().replace(['-', ' '], "_");
        Some(match name.as_str() {
            "impact" | "impact_law" | "walls" | "wall" | "law" | "collisions" => Part::Impacts,
            "equations"
            | "equations_of_motion"
            | "eom"
            | "accelerations"
            | "acceleration"
            | "euler_lagrange" => Part::Motion,
            "constraint" | "rows" | "multipliers" | "hidden" => Part::Constraints,
            "energies" | "kinetic" | "potential" => Part::Lagrangian,
            "invariant" | "conserved" | "symmetries" | "symmetry" | "noether" | "cyclic" => Part::Invariants,
            "routhian" | "reduction" => Part::Routh,
            "drives" | "drive" | "driving" => Part::Driven,
            "momenta" | "momentum" | "legendre" => Part::Hamiltonian,
            "first_order" | "state_space" | "state_form" => Part::State,
            "parameters" | "coordinates" | "definitions" => Part::Model,
            "output" | "events" | "event" | "notes" => Part::Outputs,
            other => return Part::ALL.into_iter().find(|p| p.name() == other),
        })
    }

    /// When a model has none.
    pub fn when(self) -> &'static str {
        match self {
            Part::Impacts => "it has no wall",
            Part::Constraints => "it has no constraint",
            Part::Driven => "no coordinate is driven",
            Part::Invariants => "no symmetry was found",
            Part::Outputs => "it has no event and no output",
            Part::Lagrangian | Part::Hamiltonian => {
                "it is not given on that side, and the other cannot be written down"
            }
            _ => "it does not apply here",
        }
    }
}

/// A part of a report with its blocks.
pub struct ReportSection {
    /// Which part.
    pub part: Part,
    /// Headings, text and equations, numbered as in the whole report.
    pub blocks: Vec<Block>,
}

/// The report as a document.
pub fn document(mechanics: &Mechanics) -> Document {
    let whole = sections(mechanics).into_iter().filter(|s| s.part != Part::Routh);
    let blocks = whole.flat_map(|s| s.blocks).collect();
    Document { title: title(mechanics), blocks, stamp: Some(Stamp::of_equations(mechanics)) }
}

/// The title of a report.
pub fn title(mechanics: &Mechanics) -> String {
    carom_mech::diagnostic::visible(&mechanics.model.name)
}

/// The report part by part; a part may come in two pieces.
pub fn sections(mechanics: &Mechanics) -> Vec<ReportSection> {
    let mut pen = ReportBuilder::new(mechanics);
    let mut sections = Vec::new();
    let mut add = |part: Part, pen: &mut ReportBuilder<'_>| {
        let blocks = pen.take();
        if !blocks.is_empty() {
            sections.push(ReportSection { part, blocks });
        }
    };
    smooth::model(&mut pen);
    add(Part::Model, &mut pen);
    match &mechanics.dynamics {
        Dynamics::Lagrangian(l) => {
            smooth::lagrangian(&mut pen, l);
            add(Part::Lagrangian, &mut pen);
            smooth::principle(&mut pen);
            smooth::equations(&mut pen, l);
            add(Part::Motion, &mut pen);
        }
        Dynamics::Degenerate(d) => {
            smooth::lagrangian(&mut pen, &d.lagrangian);
            add(Part::Lagrangian, &mut pen);
            smooth::principle(&mut pen);
            smooth::equations(&mut pen, &d.lagrangian);
            add(Part::Motion, &mut pen);
            rows::degenerate(&mut pen, d);
            add(Part::Constraints, &mut pen);
        }
        Dynamics::Hamiltonian(h) => {
            hamilton::hamiltonian(&mut pen, h);
            add(Part::Hamiltonian, &mut pen);
            hamilton::principle(&mut pen, h);
            add(Part::Motion, &mut pen);
        }
    }
    rows::constraints(&mut pen);
    add(Part::Constraints, &mut pen);
    rows::drives(&mut pen);
    add(Part::Driven, &mut pen);
    smooth::solved(&mut pen);
    add(Part::Motion, &mut pen);
    smooth::energy(&mut pen);
    add(Part::Energy, &mut pen);
    invariants::invariants(&mut pen);
    add(Part::Invariants, &mut pen);
    hamilton::other_side(&mut pen);
    let hamiltonian = matches!(mechanics.dynamics, Dynamics::Hamiltonian(_));
    add(if hamiltonian { Part::Lagrangian } else { Part::Hamiltonian }, &mut pen);
    rows::implicit(&mut pen);
    add(Part::Implicit, &mut pen);
    smooth::state_space(&mut pen);
    add(Part::State, &mut pen);
    impact::walls(&mut pen);
    add(Part::Impacts, &mut pen);
    smooth::extras(&mut pen);
    add(Part::Outputs, &mut pen);
    // Last, so that asking for it changes no number of an equation.
    invariants::routh(&mut pen);
    add(Part::Routh, &mut pen);
    sections
}

/// Rust functions, one per quantity; a file that compiles by itself.
pub fn rust(mechanics: &Mechanics) -> String {
    Stamp::of_equations(mechanics).comment("//", &code::rust(mechanics))
}

/// C99 functions, one per quantity, writing row by row into `out`.
pub fn c(mechanics: &Mechanics) -> String {
    Stamp::of_equations(mechanics).comment("//", &code::c(mechanics))
}

/// A Python script that makes every derived expression a SymPy object, in the dictionary `derived`.
pub fn sympy(mechanics: &Mechanics) -> String {
    Stamp::of_equations(mechanics).comment("#", &code::sympy(mechanics))
}

/// For a terminal `width` columns wide, with Unicode mathematics.
pub fn text(mechanics: &Mechanics, width: usize) -> String {
    render_text(&document(mechanics), width)
}

/// Markdown with LaTeX mathematics.
pub fn markdown(mechanics: &Mechanics) -> String {
    render_markdown(&document(mechanics))
}

/// A LaTeX file that compiles as it is.
pub fn latex(mechanics: &Mechanics) -> String {
    render_latex(&document(mechanics))
}

/// One HTML file that opens offline.
pub fn html(mechanics: &Mechanics) -> String {
    render_html(&document(mechanics))
}

/// A document for a terminal `width` columns wide.
pub fn render_text(document: &Document, width: usize) -> String {
    let text = terminal::render(document, width);
    match &document.stamp {
        Some(stamp) => format!("{text}\n{}\n", stamp.sentence()),
        None => text,
    }
}

/// A document as Markdown.
pub fn render_markdown(document: &Document) -> String {
    let text = markdown::render(document);
    document.stamp.as_ref().map_or_else(|| text.clone(), |stamp| stamp.markdown(&text))
}

/// A document as a LaTeX file that compiles as it is.
pub fn render_latex(document: &Document) -> String {
    let text = latex::render(document);
    document.stamp.as_ref().map_or_else(|| text.clone(), |stamp| stamp.latex(&text))
}

/// A document as LaTeX to paste into another one.
pub fn render_latex_fragment(document: &Document) -> String {
    let text = latex::fragment(document);
    document.stamp.as_ref().map_or_else(|| text.clone(), |stamp| stamp.latex(&text))
}

/// A document as one HTML file that opens offline.
pub fn render_html(document: &Document) -> String {
    let text = html::render(document);
    document.stamp.as_ref().map_or_else(|| text.clone(), |stamp| stamp.html(&text))
}
