//! The derivation report: for one model, the whole way from the action to the law, each step saying what was done.
//!
//! [`document()`] writes it once; [`text()`], [`markdown()`], [`latex()`] and [`html()`] render that same document.
//! [`json()`], [`sympy`], [`rust`] and [`c`] give the derived expressions to other programs.
//!
//! Nothing here computes mechanics: every expression comes from [`Mechanics`], only sums such as W a + h are formed.

mod code;
pub mod document;
mod hamilton;
mod html;
mod impact;
mod json;
mod latex;
mod markdown;
mod mathml;
mod pen;
mod rows;
mod smooth;
mod terminal;
mod tex;

use carom_mech::{Dynamics, Mechanics};
use document::Document;
use pen::Pen;

pub use code::{c, rust, sympy};
pub use json::json;

/// The report as a document.
pub fn document(mechanics: &Mechanics) -> Document {
    let mut pen = Pen::new(mechanics, &mechanics.model.name);
    smooth::model(&mut pen);
    match &mechanics.dynamics {
        Dynamics::Lagrangian(l) => {
            smooth::lagrangian(&mut pen, l);
            smooth::principle(&mut pen);
            smooth::equations(&mut pen, l);
        }
        Dynamics::Degenerate(d) => {
            smooth::lagrangian(&mut pen, &d.lagrangian);
            smooth::principle(&mut pen);
            smooth::equations(&mut pen, &d.lagrangian);
            rows::degenerate(&mut pen, d);
        }
        Dynamics::Hamiltonian(h) => {
            hamilton::hamiltonian(&mut pen, h);
            hamilton::principle(&mut pen, h);
        }
    }
    rows::constraints(&mut pen);
    rows::drives(&mut pen);
    smooth::solved(&mut pen);
    smooth::energy(&mut pen);
    hamilton::other_side(&mut pen);
    rows::implicit(&mut pen);
    smooth::state_space(&mut pen);
    impact::walls(&mut pen);
    smooth::extras(&mut pen);
    pen.finish()
}

/// For a terminal `width` columns wide, with Unicode mathematics.
pub fn text(mechanics: &Mechanics, width: usize) -> String {
    terminal::render(&document(mechanics), width)
}

/// Markdown with LaTeX mathematics.
pub fn markdown(mechanics: &Mechanics) -> String {
    markdown::render(&document(mechanics))
}

/// A LaTeX file that compiles as it is.
pub fn latex(mechanics: &Mechanics) -> String {
    latex::render(&document(mechanics))
}

/// One HTML file that opens offline.
pub fn html(mechanics: &Mechanics) -> String {
    html::render(&document(mechanics))
}
