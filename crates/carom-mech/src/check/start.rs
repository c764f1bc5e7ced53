//! `[start]`: formulas of parameters become numbers.

use super::Checker;
use super::scope::Context;
use crate::draft::{Assignment, Word};
use crate::model::Start;
use carom_expr::{Expr, nearest};

const VALUE: Context = Context::new("a start value", 0, "start values are made of parameters");

impl<'d> Checker<'d> {
    /// The start as given; `None` where nothing is named.
    pub fn start(&mut self) -> Option<(Start, Vec<(Expr, Expr)>)> {
        let draft = self.draft;
        let n = draft.coordinates.len();
        let mut start = Start {
            time: 0.0,
            position: vec![None; n],
            velocity: vec![None; n],
            momentum: vec![None; n],
            project: draft.start.project,
        };
        let mut formulas: Vec<(Expr, Expr)> = Vec::new();
        let mut fine = true;
        for (word, formula) in &draft.start.position {
            let value = self.number_of(formula, &VALUE);
            match (self.start_index(word, "position"), value) {
                (Some(i), Some((e, value))) => {
                    start.position[i] = Some(value);
                    formulas.push((self.scope.coordinates[i].position, e));
                }
                _ => fine = false,
            }
        }
        if self.scope.hamiltonian {
            fine &= self.not_here(&draft.start.velocity, "velocity", "momentum");
            for (word, formula) in &draft.start.momentum {
                let value = self.number_of(formula, &VALUE);
                match (self.momentum_index(word), value) {
                    (Some(i), Some((e, value))) => {
                        start.momentum[i] = Some(value);
                        formulas.push((self.scope.coordinates[i].momentum, e));
                    }
                    _ => fine = false,
                }
            }
        } else {
            fine &= self.not_here(&draft.start.momentum, "momentum", "velocity");
            for (word, formula) in &draft.start.velocity {
                let value = self.number_of(formula, &VALUE);
                match (self.start_index(word, "velocity"), value) {
                    (Some(i), Some((e, value))) => {
                        start.velocity[i] = Some(value);
                        formulas.push((self.scope.coordinates[i].velocity, e));
                    }
                    _ => fine = false,
                }
            }
        }
        fine.then_some((start, formulas))
    }

    fn not_here(&mut self, list: &'d [Assignment], given: &str, wanted: &str) -> bool {
        let Some((word, _)) = list.first() else { return true };
        let kind = if given == "velocity" { "Hamiltonian" } else { "Lagrangian" };
        let hint = format!("write {wanted} = {{ … }}");
        self.error(word.at, format!("a {kind} model starts from a {wanted}, not a {given}"), hint);
        false
    }

    fn start_index(&mut self, word: &Word, what: &str) -> Option<usize> {
        let bare = word.text.trim_end_matches(['\'', '′', '’']);
        let primes = word.text.chars().count() - bare.chars().count();
        let expected = usize::from(what == "velocity");
        let found = self.draft.coordinates.iter().position(|c| c.text == bare);
        match found {
            Some(_) if primes > expected => {
                let hint = if what == "position" {
                    format!("write velocity = {{ {bare} = … }}")
                } else {
                    "accelerations follow from the equations of motion".to_owned()
                };
                self.error(word.at, format!("`{}` is not a {what}", word.text), hint);
                None
            }
            Some(i) if self.is_driven(i) => {
                let message = format!("the driven coordinate `{bare}` cannot be given a start");
                self.error(word.at, message, "its motion is prescribed in [driven]; remove it here");
                None
            }
            Some(i) => Some(i),
            None => self.coordinate(
                &Word { text: bare.to_owned(), at: word.at },
                "start values belong to coordinates",
            ),
        }
    }

    fn momentum_index(&mut self, word: &Word) -> Option<usize> {
        let names = self.draft.momentum_names();
        let coordinates: Vec<&str> = self.draft.coordinates.iter().map(|c| c.text.as_str()).collect();
        let found = names
            .iter()
            .position(|p| *p == word.text)
            .or_else(|| coordinates.iter().position(|c| *c == word.text));
        match found {
            Some(i) if self.is_driven(i) => {
                let message = format!("the driven coordinate `{}` cannot be given a start", coordinates[i]);
                self.error(word.at, message, "its motion is prescribed in [driven]; remove it here");
                None
            }
            Some(i) => Some(i),
            None => {
                let hint = match nearest(&word.text, names.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean the momentum `{near}`?"),
                    None => format!("the momenta are {}", names.join(", ")),
                };
                self.error(word.at, format!("`{}` is not a momentum", word.text), hint);
                None
            }
        }
    }
}
