//! Rules about numbers that need no start: divisions by zero, masses, shapes of gaps, coordinates nobody moves.

use super::Checker;
use super::consistency::start_values;
use super::names::words_in;
use crate::diagnostic::Diagnostic;
use crate::draft::{At, Formula};
use crate::model::{Model, Physics};
use carom_expr::{Dag, Exponent, Expr, Node, Rational, Symbol};
use std::collections::{HashMap, HashSet};

impl Checker<'_> {
    /// Divisions by parameters that are zero, roots and logarithms of parameters that have none.
    pub fn check_divisions(&mut self, model: &Model) -> bool {
        let roots: Vec<Expr> = self.formulas.iter().map(|(e, _)| *e).collect();
        let undefined = undefined_nodes(&model.dag, &roots, &self.values);
        if undefined.is_empty() {
            return true;
        }
        let mut told: HashSet<Expr> = HashSet::new();
        for (root, formula) in std::mem::take(&mut self.formulas) {
            for node in model.dag.reachable(&[root]) {
                let Some(&part) = undefined.get(&node) else { continue };
                if !told.insert(part) {
                    continue; // one parameter, one message
                }
                let names: Vec<String> = model
                    .dag
                    .reachable(&[part])
                    .into_iter()
                    .filter_map(|e| model.dag.as_symbol(e))
                    .map(|s| {
                        format!("{} = {}", model.dag.symbol_name(s), self.values.get(&s).unwrap_or(&f64::NAN))
                    })
                    .collect();
                let value = model.dag.evaluate(part, |s| self.values.get(&s).copied().unwrap_or(f64::NAN));
                let at = self.word_near(formula, &model.dag, part, value == 0.0);
                let message = if value == 0.0 {
                    "division by zero".to_owned()
                } else {
                    "this has no real value for these parameters".to_owned()
                };
                let hint = match names.is_empty() {
                    true => "change the formula".to_owned(),
                    false => format!("here {}", names.join(", ")),
                };
                self.error(at, message, hint);
            }
        }
        told.is_empty()
    }

    /// The place of a parameter of `e` in a formula, after a `/` when it divides.
    fn word_near(&self, formula: &Formula, dag: &Dag, e: Expr, divides: bool) -> At {
        let names: HashSet<&str> = dag
            .reachable(&[e])
            .into_iter()
            .filter_map(|e| dag.as_symbol(e))
            .map(|s| dag.symbol_name(s))
            .collect();
        let text = &formula.text;
        let words: Vec<(usize, usize)> =
            words_in(text).into_iter().filter(|&(start, end)| names.contains(&text[start..end])).collect();
        // Runs of words that mention every name.
        let runs = words.windows(names.len().max(1)).filter(|run| {
            run.iter().map(|&(start, end)| &text[start..end]).collect::<HashSet<_>>().len() == names.len()
        });
        let runs: Vec<(usize, usize)> = runs.map(|run| (run[0].0, run[run.len() - 1].1)).collect();
        let fits = |&&(start, _): &&(usize, usize)| {
            let before = text[..start].trim_end();
            if divides { before.trim_end_matches([' ', '(']).ends_with('/') } else { before.ends_with('(') }
        };
        match runs.iter().find(fits).or(runs.first()).or(words.first()) {
            Some(&(start, end)) => self.draft.part_of(formula, start, end),
            None => formula.at,
        }
    }

    /// A coordinate that neither energy nor constraint mentions may do anything.
    pub fn check_all_move(&mut self, model: &Model) -> bool {
        let mut roots: Vec<Expr> = model.rows.iter().map(|row| row.expr).collect();
        match model.physics {
            Physics::Energies { kinetic, potential } => roots.extend([kinetic, potential]),
            Physics::Lagrangian(e) | Physics::Hamiltonian(e) => roots.push(e),
        }
        let inside = model.dag.reachable(&roots);
        let mut fine = true;
        for (coordinate, word) in model.coordinates.iter().zip(&self.draft.coordinates) {
            let symbols = [coordinate.position, coordinate.velocity, coordinate.momentum];
            if coordinate.driven.is_none() && symbols.iter().all(|s| inside.binary_search(s).is_err()) {
                let message =
                    format!("nothing says how `{}` moves: no energy or constraint contains it", word.text);
                let place = self.draft.place(word.at);
                let error = Diagnostic::error(message).at(place);
                self.problems.push(error.with_hint("add its energy, or remove it from the coordinates"));
                fine = false;
            }
        }
        fine
    }

    /// Gaps that are squares, walls that are the same.
    pub fn check_shapes(&mut self, model: &Model) {
        for (i, wall) in model.walls.iter().enumerate() {
            let at = self.gap_place(&wall.name);
            if let Node::Product(_, factors) = model.dag.node(wall.gap)
                && factors.iter().any(|(_, n)| n.to_f64() > 1.0)
            {
                let message = format!(
                    "the gap of wall `{}` is flat where it is zero, so no impact can happen",
                    wall.name
                );
                self.warning(at, message, "use a gap that grows like a distance, not like its square");
            }
            if let Some(first) = model.walls[..i].iter().find(|w| w.gap == wall.gap) {
                let message = format!("walls `{}` and `{}` are the same", first.name, wall.name);
                self.warning(at, message, "remove one of them");
            }
        }
    }

    /// The place of a wall's gap; the walls of one `min` share it.
    pub fn gap_place(&self, name: &str) -> At {
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let wall = self.draft.walls.iter().find(|w| w.name.text == name);
        let wall = wall.or_else(|| self.draft.walls.iter().find(|w| w.name.text == stem));
        let nowhere = At { source: 0, start: 0, end: 0 };
        wall.map_or(nowhere, |w| w.gap.as_ref().map_or(w.name.at, |gap| gap.at))
    }

    /// Masses that are zero or negative and make the mass matrix singular or indefinite.
    pub fn check_masses(&mut self, model: &mut Model) {
        let energy = match model.physics {
            Physics::Energies { kinetic, .. } => kinetic,
            Physics::Lagrangian(l) => l,
            Physics::Hamiltonian(_) => return,
        };
        let inside = model.dag.reachable(&[energy]);
        let suspects: Vec<usize> = (0..model.parameters.len())
            .filter(|&i| {
                model.parameters[i].value <= 0.0 && inside.binary_search(&model.parameters[i].symbol).is_ok()
            })
            .collect();
        if suspects.is_empty() {
            return;
        }
        let velocities: Vec<Expr> =
            model.coordinates.iter().filter(|c| c.driven.is_none()).map(|c| c.velocity).collect();
        let mut w: Vec<Vec<Expr>> = Vec::new();
        for &a in &velocities {
            let p = model.dag.derivative(energy, a);
            w.push(velocities.iter().map(|&b| model.dag.derivative(p, b)).collect());
        }
        let at_start = |changed: Option<usize>| -> Vec<Vec<f64>> {
            let values = start_values(model);
            w.iter()
                .map(|row| {
                    model.dag.evaluate_all(row, |s| match changed {
                        Some(i) if model.dag.as_symbol(model.parameters[i].symbol) == Some(s) => {
                            let value = model.parameters[i].value;
                            if value == 0.0 { 1.0 } else { -value }
                        }
                        _ => values.get(&s).copied().unwrap_or(0.0),
                    })
                })
                .collect()
        };
        let now = definite(&at_start(None));
        let mut told = Vec::new();
        for i in suspects {
            let then = definite(&at_start(Some(i)));
            if now < then {
                told.push((i, now));
            }
        }
        for (i, now) in told {
            let parameter = &model.parameters[i];
            let what = if now == Definite::Singular { "singular" } else { "negative in some direction" };
            let message =
                format!("the mass matrix is {what} because {} = {}", parameter.name, parameter.value);
            let at =
                self.draft.parameters.iter().find(|(word, _)| word.text == parameter.name).map(|(_, f)| f.at);
            if let Some(at) = at {
                self.warning(at, message, "a mass or an inertia is positive");
            }
        }
    }
}

/// How definite a symmetric matrix is, worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Definite {
    Negative,
    Singular,
    Positive,
}

/// What elimination leaves of an inertia by rounding, as a part of it.
const ROUNDED: f64 = 1e-12;

/// By symmetric elimination with the largest part of its inertia left first.
fn definite(matrix: &[Vec<f64>]) -> Definite {
    let n = matrix.len();
    let mut m = matrix.to_vec();
    // Every pivot beside the inertia it is left of: a small mass is a mass.
    let sizes: Vec<f64> = (0..n).map(|i| matrix[i][i].abs()).collect();
    let mut left: Vec<usize> = (0..n).collect();
    let part = |m: &[Vec<f64>], i: usize| if sizes[i] > 0.0 { m[i][i] / sizes[i] } else { m[i][i] };
    while let Some((slot, &k)) =
        left.iter().enumerate().max_by(|a, b| part(&m, *a.1).total_cmp(&part(&m, *b.1)))
    {
        let pivot = m[k][k];
        if pivot <= ROUNDED * sizes[k] || !pivot.is_finite() {
            let negative = left.iter().any(|&i| m[i][i] < -ROUNDED * sizes[i]);
            return if negative { Definite::Negative } else { Definite::Singular };
        }
        left.swap_remove(slot);
        for &i in &left {
            let factor = m[i][k] / pivot;
            for &j in &left {
                let update = factor * m[k][j];
                m[i][j] -= update;
            }
        }
    }
    Definite::Positive
}

/// Nodes without a value because of parameters alone, each with the part that has none.
fn undefined_nodes(dag: &Dag, roots: &[Expr], values: &HashMap<Symbol, f64>) -> HashMap<Expr, Expr> {
    let all = dag.reachable(roots);
    // What contains parameters only: like `all` in ascending order, parts before what is made of them.
    let mut fixed: Vec<Expr> = Vec::new();
    for &e in &all {
        let mut is_fixed = dag.as_symbol(e).is_none_or(|s| values.contains_key(&s));
        dag.for_each_child(e, |child| is_fixed &= fixed.binary_search(&child).is_ok());
        if is_fixed {
            fixed.push(e);
        }
    }
    let numbers = dag.evaluate_all(&fixed, |s| values.get(&s).copied().unwrap_or(f64::NAN));
    let value = |e: Expr| fixed.binary_search(&e).ok().map(|i| numbers[i]);
    let mut undefined = HashMap::new();
    for &e in &all {
        if let Node::Product(_, factors) = dag.node(e) {
            let divides_by_zero = |&&(base, n): &&(Expr, Rational)| {
                value(base).is_some_and(|x| x.is_finite() && !Exponent::of(n).power(x).is_finite())
            };
            if let Some((base, _)) = factors.iter().rfind(divides_by_zero) {
                undefined.insert(e, *base);
            }
        }
        if value(e).is_some_and(|x| !x.is_finite()) && !undefined.contains_key(&e) {
            let mut from_finite = true;
            dag.for_each_child(e, |child| from_finite &= value(child).is_none_or(f64::is_finite));
            if from_finite {
                undefined.insert(e, e);
            }
        }
    }
    undefined
}
