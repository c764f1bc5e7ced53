//! `[units]`: do the formulas fit the stated units?
//!
//! ```text
//! [x'] = [x]/[t]     [p_x] = [E][t]/[x]     T, V, L, H in [E]     Q_x in [E]/[x]     F·r in [E]     m|r'|² in [E]
//! ```
//!
//! Stated units are known, every other name is an unknown of [`DimensionSystem`](crate::units::system::System); a sum equates its
//! terms, a function asks for numbers. Numbers in formulas are numbers (0 fits everything); a formula of numbers alone is
//! a value in coherent units. t is in seconds, unless the formulas fit only with a time that is a number.
//!
//! Promise: a message names the place where two things do not fit, and what they are; a model that states nothing is not
//! looked at.

mod formula;
mod laws;

use super::Checker;
use super::scope::NameMeaning;
use crate::diagnostic::Diagnostic;
use crate::draft::{At, Draft, Formula, FormulaKind, SignalSource, Word};
use crate::units::system::{Affine, DimensionSystem, EquationOutcome};
use crate::units::{self, Dimension, Unit};
use carom_expr::{Rational, nearest};
use std::collections::HashMap;

/// Names in `[units]` that every model has.
const COMMON: [&str; 6] = ["t", "time", "energy", "hamiltonian", "kinetic", "potential"];

/// A stated unit.
struct Stated<'d> {
    word: &'d Word,
    unit: Unit,
}

/// The unknown dimensions of a model.
struct Dimensions<'c, 'd> {
    draft: &'d Draft,
    names: &'c HashMap<String, NameMeaning>,
    /// Values of parameters, for exponents.
    values: HashMap<&'d str, f64>,
    system: DimensionSystem,
    /// What each unknown is the dimension of, and whether its unit is stated.
    unknowns: Vec<(String, bool)>,
    /// Where an unknown was determined.
    causes: HashMap<usize, At>,
    time: usize,
    energy: usize,
    positions: Vec<usize>,
    parameters: Vec<usize>,
    definitions: Vec<usize>,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    gaps: Vec<usize>,
    rows: Vec<usize>,
    problems: Vec<Diagnostic>,
}

impl<'d> Checker<'d> {
    /// Checks `[units]` and what follows from it; answers the units that follow.
    pub fn check_dimensions(&mut self) -> Vec<(String, String)> {
        let stated = self.stated_units();
        let draft = self.draft;
        let in_file = !stated.is_empty() || draft.quantities().any(|f| f.at.source == 0);
        if !in_file {
            self.check_time_settings();
            return Vec::new();
        }
        self.warn_bare_values(&stated);
        let mut with_seconds = self.dimensions(&stated, true);
        if with_seconds.problems.is_empty() {
            return with_seconds.inferred();
        }
        // Perhaps the model has no unit of time.
        let free = self.dimensions(&stated, false);
        let time = free.system.value(&Affine::unknown(free.time));
        if free.problems.is_empty() && time.is_none_or(Dimension::is_none) {
            return free.inferred();
        }
        let problems = std::mem::take(&mut with_seconds.problems);
        self.problems.extend(problems);
        Vec::new()
    }

    fn dimensions(&self, stated: &[Stated<'d>], seconds: bool) -> Dimensions<'_, 'd> {
        let mut dimensions = Dimensions::new(self);
        dimensions.state(stated, seconds);
        dimensions.parameters_with_units();
        dimensions.formulas();
        dimensions.values_with_units();
        dimensions
    }

    /// Units as stated: names and units that do not exist are reported.
    fn stated_units(&mut self) -> Vec<Stated<'d>> {
        let draft = self.draft;
        let labels = || {
            let rows = draft.holonomic.iter().chain(&draft.nonholonomic).map(|(word, _)| word);
            rows.chain(draft.walls.iter().map(|w| &w.name)).map(|w| w.text.as_str())
        };
        let mut stated = Vec::new();
        for (word, text) in &draft.units {
            let name = word.text.trim_end_matches('\'');
            let unit = Unit::read(&text.text);
            if let Err(problem) = &unit {
                let formula = Formula { text: text.text.clone(), at: text.at, kind: FormulaKind::Text };
                let at = draft.part_of(&formula, problem.start, problem.end);
                self.error(at, problem.message.clone(), problem.hint.clone());
            }
            if self.scope.names.contains_key(name) || COMMON.contains(&name) || labels().any(|l| l == name) {
                stated.extend(unit.ok().map(|unit| Stated { word, unit }));
                continue;
            }
            let known = self.scope.order.iter().map(String::as_str);
            let hint = match nearest(name, known).or_else(|| nearest(name, labels())) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "units belong to names of the model".to_owned(),
            };
            self.error(word.at, format!("unknown name `{}`", word.text), hint);
        }
        stated
    }

    /// A value without a unit is in coherent units, which is probably not meant where another one is stated.
    fn warn_bare_values(&mut self, stated: &[Stated<'d>]) {
        let draft = self.draft;
        let find = |name: &str| stated.iter().find(|s| s.word.text == name);
        let time = find("t").or_else(|| find("time"));
        let mut values: Vec<(&'d Formula, &Stated<'d>, &str)> = Vec::new();
        for (word, formula) in draft.parameters.iter().chain(&draft.start.position) {
            values.extend(find(&word.text).map(|s| (formula, s, "")));
        }
        for (word, formula) in &draft.start.velocity {
            let rate = format!("{}'", word.text.trim_end_matches('\''));
            let own = find(&rate).map(|s| (formula, s, ""));
            values.extend(own.or_else(|| find(rate.trim_end_matches('\'')).map(|s| (formula, s, "/s"))));
        }
        for (word, formula) in &draft.run {
            if matches!(word.text.as_str(), "until" | "from" | "step") {
                values.extend(time.map(|s| (formula, s, "")));
            }
        }
        let mut found = Vec::new();
        for (formula, stated, per) in values {
            let number = formula.text.trim();
            let bare = number.parse::<f64>().is_ok_and(|x| x != 0.0);
            if !bare || stated.unit.is_coherent() {
                continue;
            }
            let name = &stated.word.text;
            let text = draft.units.iter().find(|(w, _)| w.text == *name).map_or("", |(_, u)| u.text.trim());
            let coherent = match stated.unit.dimension {
                d if d.is_none() => "rad".to_owned(),
                d => d.to_string(),
            };
            let message = format!(
                "`{name}` is stated in {text}, but {number} has no unit and counts as {coherent}{per}"
            );
            let hint = format!("write \"{number} {text}{per}\" or \"{number} {coherent}{per}\"");
            found.push((formula.at, message, hint));
        }
        for (at, message, hint) in found {
            self.warning(at, message, hint);
        }
    }

    /// Without stated units, times given with a unit must still be times.
    fn check_time_settings(&mut self) {
        let draft = self.draft;
        for (word, formula) in &draft.run {
            let Some((quantity, unit)) = quantity_of(formula) else { continue };
            let (wanted, what) = match word.text.as_str() {
                "until" | "from" | "step" => (Dimension::TIME, "a time"),
                _ => (Dimension::NONE, "a number"),
            };
            if unit.dimension != wanted {
                let at = draft.part_of(formula, quantity, formula.text.trim_end().len());
                let hint = if what == "a time" { "write for example \"10 s\"" } else { "remove the unit" };
                let message = format!("`{}` is {what}, not in {}", word.text, unit.dimension);
                self.error(at, message, hint);
            }
        }
    }
}

/// Where the unit of a value starts, and the unit.
fn quantity_of(formula: &Formula) -> Option<(usize, Unit)> {
    if formula.kind != FormulaKind::Text {
        return None;
    }
    let quantity = units::quantity(&formula.text)?;
    Some((quantity.start, quantity.unit.ok()?))
}

impl Draft {
    /// All values written with a unit.
    fn quantities(&self) -> impl Iterator<Item = &Formula> {
        self.formulas().into_iter().filter(|f| quantity_of(f).is_some())
    }

    /// Every formula of the draft.
    pub fn formulas(&self) -> Vec<&Formula> {
        let mut all: Vec<&Formula> = Vec::new();
        let lists = [
            &self.parameters,
            &self.definitions,
            &self.holonomic,
            &self.nonholonomic,
            &self.driven,
            &self.outputs,
            &self.start.position,
            &self.start.velocity,
            &self.start.momentum,
            &self.run,
        ];
        for list in lists {
            all.extend(list.iter().map(|(_, f)| f));
        }
        let single = [&self.lagrangian, &self.hamiltonian, &self.kinetic, &self.potential, &self.dissipation];
        all.extend(single.into_iter().flatten().map(|(_, f)| f));
        all.extend(self.gravity.iter().flat_map(|(list, _)| list));
        for input in &self.inputs {
            if let SignalSource::Formula(formula) = &input.signal {
                all.push(formula);
            }
        }
        for body in &self.bodies {
            all.extend(body.mass.iter().chain(&body.angle).chain(body.at.iter().flatten()));
            all.extend(body.inertia.iter().chain(&body.spin).flat_map(|(list, _)| list));
        }
        for force in &self.forces {
            all.extend(force.at.iter().flatten());
            all.extend(force.vector.iter().flat_map(|(list, _)| list));
            all.extend(force.generalized.iter().flatten().map(|(_, f)| f));
        }
        for wall in &self.walls {
            all.extend(wall.gap.iter().chain(&wall.restitution).chain(&wall.draw));
        }
        for event in &self.events {
            all.extend(event.when.iter().chain(&event.only_if));
            all.extend(event.set.iter().flatten().map(|(_, f)| f));
        }
        let ends = self.view.links.iter().chain(&self.view.springs).flat_map(|(a, b)| [a, b]);
        for point in ends.chain(&self.view.traces) {
            if let crate::draft::Point::Formulas(list, _) = point {
                all.extend(list);
            }
        }
        all.extend(self.view.range.iter().flat_map(|(list, _)| list));
        all
    }
}

impl<'c, 'd> Dimensions<'c, 'd> {
    fn new(checker: &'c Checker<'d>) -> Dimensions<'c, 'd> {
        let draft = checker.draft;
        let values = draft.parameters.iter().filter_map(|(word, _)| {
            let symbol = checker.dag.find_symbol(&word.text).and_then(|e| checker.dag.as_symbol(e))?;
            Some((word.text.as_str(), *checker.values.get(&symbol)?))
        });
        let mut new = Dimensions {
            draft,
            names: &checker.scope.names,
            values: values.collect(),
            system: DimensionSystem::default(),
            unknowns: Vec::new(),
            causes: HashMap::new(),
            time: 0,
            energy: 0,
            positions: Vec::new(),
            parameters: Vec::new(),
            definitions: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            gaps: Vec::new(),
            rows: Vec::new(),
            problems: Vec::new(),
        };
        let mut add = |name: &str| {
            new.unknowns.push((name.to_owned(), false));
            new.system.new_unknown()
        };
        // What comes later is expressed by what comes earlier.
        new.time = add("t");
        new.positions = draft.coordinates.iter().map(|w| add(&w.text)).collect();
        new.parameters = draft.parameters.iter().map(|(w, _)| add(&w.text)).collect();
        new.inputs = draft.inputs.iter().map(|u| add(&u.name.text)).collect();
        new.definitions = draft.definitions.iter().map(|(w, _)| add(&w.text)).collect();
        new.outputs = draft.outputs.iter().map(|(w, _)| add(&w.text)).collect();
        new.gaps = draft.walls.iter().map(|w| add(&w.name.text)).collect();
        new.rows = draft.holonomic.iter().chain(&draft.nonholonomic).map(|(w, _)| add(&w.text)).collect();
        new.energy = add("energy");
        new
    }

    /// Enters the stated units.
    fn state(&mut self, stated: &[Stated<'d>], seconds: bool) {
        let time_stated = stated.iter().any(|s| matches!(s.word.text.as_str(), "t" | "time"));
        if seconds && !time_stated {
            self.unknowns[self.time].1 = true;
            self.system.equate(&Affine::unknown(self.time), &Affine::known(Dimension::TIME));
        }
        // The time first, then names, then their rates, which follow from them.
        let order = |s: &&Stated<'d>| match s.word.text.as_str() {
            "t" | "time" => 0,
            text if !text.ends_with('\'') => 1,
            _ => 2,
        };
        let mut stated: Vec<&Stated<'d>> = stated.iter().collect();
        stated.sort_by_key(order);
        for Stated { word, unit } in stated {
            let bare = word.text.trim_end_matches('\'');
            let primes = word.text.len() - bare.len();
            let Some(unknown) = self.labelled(bare) else { continue };
            let Some(left) = self.rate_of(&unknown, primes as u32) else { continue };
            if primes == 0 && unknown.terms.len() == 1 {
                unknown.terms.keys().for_each(|&index| self.unknowns[index].1 = true);
            }
            let what = format!("`{}`", word.text);
            self.require(
                word.at,
                &Affine::known(unit.dimension),
                &left,
                &what,
                "it follows from other stated units",
            );
        }
    }

    /// The dimension of a name of `[units]`.
    fn labelled(&self, name: &str) -> Option<Affine> {
        if let Some(found) = self.named(name) {
            return Some(found);
        }
        let draft = self.draft;
        let rows = || draft.holonomic.iter().chain(&draft.nonholonomic);
        let index = match name {
            "time" => self.time,
            "energy" | "hamiltonian" | "kinetic" | "potential" => self.energy,
            _ => {
                let output = draft.outputs.iter().position(|(w, _)| w.text == name).map(|i| self.outputs[i]);
                let gap = || draft.walls.iter().position(|w| w.name.text == name).map(|i| self.gaps[i]);
                let row = || rows().position(|(w, _)| w.text == name).map(|i| self.rows[i]);
                output.or_else(gap).or_else(row)?
            }
        };
        Some(Affine::unknown(index))
    }

    /// The dimension of a name in formulas; `None` for one that is not the model's.
    fn named(&self, name: &str) -> Option<Affine> {
        let index = match *self.names.get(name)? {
            NameMeaning::Time => self.time,
            NameMeaning::Coordinate(i) => self.positions[i],
            NameMeaning::Parameter(i) => self.parameters[i],
            NameMeaning::Definition(i) => self.definitions[i],
            NameMeaning::Input(i) => self.inputs[i],
            NameMeaning::Momentum(i) => return self.momentum(i),
            NameMeaning::Output => return None,
        };
        Some(Affine::unknown(index))
    }

    /// [p_i] = [E][t]/[q_i]
    fn momentum(&self, i: usize) -> Option<Affine> {
        let momentum = Affine::unknown(self.energy).plus(Rational::ONE, &Affine::unknown(self.time))?;
        momentum.plus(Rational::MINUS_ONE, &Affine::unknown(*self.positions.get(i)?))
    }

    fn rate_of(&self, a: &Affine, primes: u32) -> Option<Affine> {
        a.clone().plus(Rational::integer(-i64::from(primes)), &Affine::unknown(self.time))
    }

    /// Equates what is found with what should stand there.
    fn require(&mut self, at: At, found: &Affine, wanted: &Affine, what: &str, why: &str) {
        match self.system.equate(found, wanted) {
            EquationOutcome::Fits(Some(unknown)) => {
                self.causes.insert(unknown, at);
            }
            EquationOutcome::Fits(None) => {}
            EquationOutcome::Contradicts => {
                let message = format!("{what} is {}, but should be {}", self.said(found), self.said(wanted));
                let hint = self.because(why.to_owned(), &[found, wanted]);
                self.report(at, message, hint);
            }
        }
    }

    fn report(&mut self, at: At, message: String, hint: String) {
        self.problems.push(Diagnostic::error(message).at(self.draft.place(at)).with_hint(hint));
    }

    /// What something is: in a unit, or a number.
    fn said(&self, a: &Affine) -> String {
        let shown = self.show(a);
        if self.system.value(a).is_some_and(|d| d.is_none()) { shown } else { format!("in {shown}") }
    }

    /// A dimension in a sentence.
    fn show(&self, a: &Affine) -> String {
        match self.system.value(a) {
            Some(d) if d.is_none() => "a number without unit".to_owned(),
            _ => self.system.show(a, |i| self.unknowns[i].0.clone()),
        }
    }

    /// A way out, and which names without a stated unit took part: what made them what they are.
    fn because(&self, way_out: String, sides: &[&Affine]) -> String {
        let mut parts: Vec<String> = Vec::new();
        for index in sides.iter().flat_map(|a| a.terms.keys().copied()) {
            let (name, stated) = &self.unknowns[index];
            let Some(cause) = self.causes.get(&index).filter(|_| !stated) else { continue };
            let line = self.draft.place(*cause).line;
            let shown = self.show(&Affine::unknown(index));
            let part = if index == self.energy {
                format!("the energy is in {shown} by line {line}")
            } else {
                format!("`{name}` is in {shown} by line {line}")
            };
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        parts.truncate(2);
        if parts.is_empty() { way_out } else { format!("{way_out}; {}", parts.join(", ")) }
    }

    /// What is determined, by the names of signals.
    fn inferred(&self) -> Vec<(String, String)> {
        let draft = self.draft;
        let mut out = Vec::new();
        let joule = Unit::read("J").map_or(Dimension::NONE, |unit| unit.dimension);
        let mut note = |name: String, a: Option<Affine>| {
            let found = a.and_then(|a| self.system.value(&a)).filter(|d| !d.is_none());
            let text =
                |d: Dimension| if name == "energy" && d == joule { "J".to_owned() } else { d.to_string() };
            out.extend(found.map(|d| (name.clone(), text(d))));
        };
        let unknown = |i: usize| Some(Affine::unknown(i));
        note("t".to_owned(), unknown(self.time));
        for (i, word) in draft.coordinates.iter().enumerate() {
            let position = Affine::unknown(self.positions[i]);
            note(word.text.clone(), Some(position.clone()));
            note(format!("{}'", word.text), self.rate_of(&position, 1));
            let momentum = draft.momentum_names().get(i).cloned().unwrap_or_default();
            note(momentum, self.momentum(i));
            let force = Affine::unknown(self.energy).plus(Rational::MINUS_ONE, &position);
            note(format!("drive.{}", word.text), force);
        }
        let words = draft.parameters.iter().map(|(w, _)| w).zip(&self.parameters);
        let words = words.chain(draft.inputs.iter().map(|u| &u.name).zip(&self.inputs));
        let words = words.chain(draft.definitions.iter().map(|(w, _)| w).zip(&self.definitions));
        let words = words.chain(draft.outputs.iter().map(|(w, _)| w).zip(&self.outputs));
        for (word, &index) in words {
            note(word.text.clone(), unknown(index));
        }
        note("energy".to_owned(), unknown(self.energy));
        let energy = Affine::unknown(self.energy);
        for (wall, &gap) in draft.walls.iter().zip(&self.gaps) {
            let name = &wall.name.text;
            let force = energy.clone().plus(Rational::MINUS_ONE, &Affine::unknown(gap));
            note(format!("gap.{name}"), unknown(gap));
            let impulse = force.clone().and_then(|f| f.plus(Rational::ONE, &Affine::unknown(self.time)));
            note(format!("impulse.{name}"), impulse);
            note(format!("f.{name}"), force);
        }
        let holonomic = draft.holonomic.len();
        let rows = draft.holonomic.iter().chain(&draft.nonholonomic).zip(&self.rows).enumerate();
        for (i, ((word, _), &row)) in rows {
            // Aᵀμ is a generalized force; a nonholonomic row is a rate.
            let force = energy.clone().plus(Rational::MINUS_ONE, &Affine::unknown(row));
            let force = if i < holonomic { force } else { force.and_then(|f| self.rate_of(&f, 1)) };
            note(format!("mu.{}", word.text), force);
        }
        out
    }
}
