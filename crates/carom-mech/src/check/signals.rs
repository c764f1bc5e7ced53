//! How smooth a signal from a table has to be, by where it is used.
//!
//! Positions and velocities are continuous between impacts; whatever they are made of must be so too. With u⁽ʲ⁾ the highest
//! rate of the signal in an expression, and "Cᵏ" for k continuous derivatives (k = −1: it may jump), these are needed:
//!
//! ```text
//! a prescribed motion q = f(t), a row c(q, t) = 0, a gap φ(q, t)      Cʲ⁺¹    their rates are made of velocities
//! a momentum ∂L/∂v, a row A v + b = 0, ∂H/∂p under rows or walls      Cʲ      momenta and velocities do not jump
//! a force, a potential                                                Cʲ⁻¹    anything finite will do
//! an event, an output                                                 nothing
//! ```
//!
//! A table that says how it is interpolated is held to that; one that does not is a spline where its second rate is used
//! (C¹ or more is needed), and `smooth` everywhere else. A signal is one function of time: its strictest use decides.

use super::Checker;
use crate::draft::{SignalSource, Word};
use crate::model::{ForceKind, Interpolation, Model, Physics, RowKind};
use carom_expr::nearest;
use carom_expr::{Dag, Expr};

/// An expression that uses signals.
struct Use {
    expr: Expr,
    /// Beyond the order of the highest rate in it.
    derivatives: i32,
    /// Where, for messages.
    place: String,
}

impl Checker<'_> {
    /// What `interpolate` says; reports a word that means nothing.
    pub fn stated_interpolation(&mut self, word: Option<&Word>) -> Option<Option<Interpolation>> {
        let Some(word) = word else { return Some(None) };
        let found = Interpolation::ALL.into_iter().find(|i| i.name() == word.text);
        if found.is_none() {
            let names = Interpolation::ALL.map(Interpolation::name);
            let meant = match word.text.as_str() {
                "cubic" | "natural" => Some("spline"),
                "pchip" | "monotone" | "akima" => Some("smooth"),
                "previous" | "step" | "zoh" | "constant" | "nearest" => Some("hold"),
                other => nearest(other, names),
            };
            let hint = match meant {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => "it is \"smooth\", \"spline\", \"linear\" or \"hold\"".to_owned(),
            };
            self.error(word.at, format!("`{}` is no way to interpolate", word.text), hint);
        }
        found.map(Some)
    }

    /// Chooses how each table is interpolated; reports tables that are not smooth enough for what they are used for.
    pub fn choose_interpolation(&mut self, model: &mut Model) {
        if model.inputs.is_empty() {
            return;
        }
        let uses = uses(model);
        let draft = self.draft;
        let words = draft.inputs.iter().filter_map(|input| match &input.signal {
            SignalSource::Table { interpolate, .. } => Some((&input.name, interpolate.as_ref())),
            _ => None,
        });
        for ((name, stated), input) in words.zip(&mut model.inputs) {
            let symbols = [input.value, input.rate, input.second];
            let needs: Vec<(i32, &Use)> = uses
                .iter()
                .filter_map(|u| Some((highest(&model.dag, u.expr, symbols)? + u.derivatives, u)))
                .collect();
            let Some(&(need, strictest)) = needs.iter().rev().max_by_key(|(need, _)| *need) else { continue };
            let Some(word) = stated else {
                if need < Interpolation::Smooth.derivatives() {
                    continue;
                }
                input.interpolate = Interpolation::Spline;
                if let Some((_, other)) = needs.iter().find(|(need, u)| *need < 0 && u.derivatives < 0) {
                    let message = format!(
                        "the table `{}` is a spline everywhere, since {} needs its second rate; {} feels where it swings beyond its rows",
                        name.text, strictest.place, other.place
                    );
                    let hint = "write interpolate = \"spline\" if that is meant, or \"smooth\" for a curve that stays within its rows";
                    self.warning(name.at, message, hint);
                }
                continue;
            };
            if input.interpolate.derivatives() >= need {
                continue;
            }
            let jumps = match strictest.derivatives {
                1 => "velocities would jump at the rows of the table, and no force makes them",
                0 => {
                    "momenta do not jump at the rows of the table, so velocities would, and no force makes them"
                }
                _ => "it uses a rate of the signal that is infinite at the rows of the table",
            };
            let least = Interpolation::ALL.into_iter().find(|i| i.derivatives() >= need);
            let hint = match least {
                None => "use the table itself, not its rate".to_owned(),
                Some(Interpolation::Spline) => "write \"spline\"".to_owned(),
                Some(Interpolation::Smooth) => "write \"spline\" or \"smooth\"".to_owned(),
                Some(least) => format!("write \"{}\", \"smooth\" or \"spline\"", least.name()),
            };
            let message =
                format!("{} cannot follow a signal interpolated \"{}\": {jumps}", strictest.place, word.text);
            self.error(word.at, message, hint);
        }
    }
}

/// The order of the highest rate of a signal in an expression; `None` if it does not contain it.
fn highest(dag: &Dag, e: Expr, symbols: [Expr; 3]) -> Option<i32> {
    (0..3).rev().find(|&order| dag.contains(e, symbols[order])).map(|order| order as i32)
}

/// Everything of a model that a signal may act on.
fn uses(model: &mut Model) -> Vec<Use> {
    let mut uses = Vec::new();
    let mut add = |expr: Expr, derivatives: i32, place: String| uses.push(Use { expr, derivatives, place });
    for c in &model.coordinates {
        if let Some(driven) = &c.driven {
            add(driven.position, 1, format!("the driven coordinate `{}`", c.name));
        }
    }
    for row in &model.rows {
        let derivatives = i32::from(row.kind == RowKind::Holonomic);
        add(row.expr, derivatives, format!("the constraint `{}`", row.name));
    }
    for wall in &model.walls {
        add(wall.gap, 1, format!("the wall `{}`", wall.name));
    }
    let dag = &mut model.dag;
    let (energies, lagrangian) = match model.physics {
        Physics::Energies { kinetic, potential } => {
            (vec![(kinetic, "kinetic"), (potential, "potential")], true)
        }
        Physics::Lagrangian(l) => (vec![(l, "Lagrangian")], true),
        Physics::Hamiltonian(h) => (vec![(h, "Hamiltonian")], false),
    };
    for (energy, word) in energies {
        let place = match word {
            "kinetic" | "potential" => format!("the {word} energy"),
            _ => format!("the {word}"),
        };
        for c in &model.coordinates {
            // Momenta of a Lagrangian; velocities of a Hamiltonian, which only rows and walls hold to anything.
            let with = if lagrangian { c.velocity } else { c.momentum };
            if lagrangian || !model.rows.is_empty() || !model.walls.is_empty() {
                add(dag.derivative(energy, with), 0, place.clone());
            }
        }
        add(energy, -1, place);
    }
    if let Some(dissipation) = model.dissipation {
        add(dissipation, -1, "the dissipation".to_owned());
    }
    for force in &model.forces {
        let parts: Vec<Expr> = match &force.kind {
            ForceKind::Point { at, vector } => at.iter().chain(vector).copied().collect(),
            ForceKind::Generalized(parts) => parts.clone(),
        };
        for part in parts {
            add(part, -1, format!("the force `{}`", force.name));
        }
    }
    uses
}
