//! Places for what is found out after reading: later stages name rows, walls and coordinates, the draft knows where they
//! stand.

use super::{At, Draft};
use crate::diagnostic::{Diagnostic, tidy};
use crate::mechanics::Mechanics;

impl Draft {
    /// Everything there is to say about the model beyond reading: its rules, and what deriving its equations finds.
    /// Without errors, also the derived mechanics.
    pub fn examine(&self) -> (Option<Mechanics>, Vec<Diagnostic>) {
        let (model, mut problems) = match self.check() {
            Ok(checked) => checked,
            Err(problems) => return (None, problems),
        };
        let mechanics = match crate::derive(model) {
            Ok(mechanics) => {
                problems.extend(mechanics.warnings.iter().cloned().map(|d| self.locate(d)));
                Some(mechanics)
            }
            Err(errors) => {
                problems.extend(errors.into_iter().map(|d| self.locate(d)));
                None
            }
        };
        tidy(&mut problems);
        (mechanics, problems)
    }

    /// Gives a diagnostic about a named row, wall, coordinate, parameter or event its place in the file.
    pub fn locate(&self, diagnostic: Diagnostic) -> Diagnostic {
        if diagnostic.place.is_some() {
            return diagnostic;
        }
        let message = diagnostic.message.clone();
        let mut quoted = message.split('`').skip(1).step_by(2);
        let find = |name: &str| -> Option<At> {
            let rows = self.holonomic.iter().chain(&self.nonholonomic).find(|(w, _)| w.text == name);
            if let (Some((_, formula)), true) = (rows, message.contains("row")) {
                return Some(formula.at);
            }
            let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
            if message.contains("wall")
                && let Some(wall) = self.walls.iter().find(|w| w.name.text == name || w.name.text == stem)
            {
                return Some(wall.gap.as_ref().map_or(wall.name.at, |g| g.at));
            }
            let words = self.coordinates.iter().chain(self.parameters.iter().map(|(w, _)| w));
            let words =
                words.chain(self.inputs.iter().map(|u| &u.name)).chain(self.events.iter().map(|e| &e.name));
            words.into_iter().find(|w| w.text == name).map(|w| w.at)
        };
        match quoted.find_map(find) {
            Some(at) => diagnostic.at(self.place(at)),
            None => diagnostic,
        }
    }
}
