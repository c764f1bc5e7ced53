//! Draft → model: every name resolved, every formula an expression, every rule of the model file held.
//!
//! Promise: all mistakes are told at once and each one once. What is made of something already reported is passed over
//! in silence; numbers are looked at only when the formulas are right.

mod consistency;
mod dimensions;
mod drawing;
mod elements;
mod gaps;
mod names;
mod near;
mod numeric;
mod physics;
mod quantity;
mod sanity;
mod scope;
mod settings;
mod signals;
mod start;
mod table;

pub use names::not_a_name;

use crate::diagnostic::{Diagnostic, tidy};
use crate::draft::{At, Draft, Formula, FormulaKind, SignalSource};
use crate::model::*;
use carom_expr::{Dag, Expr, Symbol, parse};
use scope::{ACCELERATION, Context, INPUT, Kinds, MOMENTUM, NameMeaning, POSITION, Scope, TIME, VELOCITY};
use std::collections::HashMap;

/// A draft being checked.
pub(crate) struct Checker<'d> {
    pub draft: &'d Draft,
    pub dag: Dag,
    pub scope: Scope,
    pub problems: Vec<Diagnostic>,
    /// Values of the parameters.
    pub values: HashMap<Symbol, f64>,
    /// Expressions in the model and the formulas they came from, for the numeric rules.
    pub formulas: Vec<(Expr, &'d Formula)>,
}

const PARAMETER: Context = Context {
    what: "a parameter",
    allowed: 0,
    way_out: "parameters are constants; use [define] for what moves",
    parameters_only: true,
};
const SIGNAL: Context =
    Context::new("an input", TIME | INPUT, "an input is a function of the time t; use [define] for the rest");
const DEFINITION: Context =
    Context::new("a definition", POSITION | VELOCITY | MOMENTUM | TIME | INPUT, "only [output] may use it");
const DRIVEN: Context =
    Context::new("a prescribed motion", TIME | INPUT, "write it as a function of the time t and parameters");
const OUTPUT: Context =
    Context::new("an output", POSITION | VELOCITY | ACCELERATION | MOMENTUM | TIME | INPUT, "");

impl Draft {
    /// Makes a model of the draft: the model and what its author should know, or everything that is wrong.
    ///
    /// # Errors
    /// All errors and warnings beyond those of reading (see [`Draft::parse`]); the list may be empty when reading
    /// already failed.
    pub fn check(&self) -> Result<(Model, Vec<Diagnostic>), Vec<Diagnostic>> {
        let mut checker = Checker {
            draft: self,
            dag: Dag::new(),
            scope: Scope { hamiltonian: self.hamiltonian.is_some(), ..Scope::default() },
            problems: Vec::new(),
            values: HashMap::new(),
            formulas: Vec::new(),
        };
        let model = checker.model();
        let mut problems = std::mem::take(&mut checker.problems);
        tidy(&mut problems);
        match model {
            Some(model) if !self.broken && !problems.iter().any(Diagnostic::is_error) => {
                Ok((model, problems))
            }
            _ => Err(problems),
        }
    }
}

/// Reads and checks in one go.
///
/// # Errors
/// All errors and warnings, reading and checking together, in the order of the file.
pub fn load(text: &str, file_name: &str) -> Result<(Model, Vec<Diagnostic>), Vec<Diagnostic>> {
    let (draft, mut problems) = Draft::parse(text, file_name);
    match draft.check() {
        Ok((model, warnings)) => {
            problems.extend(warnings);
            tidy(&mut problems);
            Ok((model, problems))
        }
        Err(more) => {
            problems.extend(more);
            tidy(&mut problems);
            Err(problems)
        }
    }
}

impl<'d> Checker<'d> {
    pub fn error(&mut self, at: At, message: impl Into<String>, hint: impl Into<String>) {
        let place = self.draft.place(at);
        self.problems.push(Diagnostic::error(message).at(place).with_hint(hint));
    }

    pub fn warning(&mut self, at: At, message: impl Into<String>, hint: impl Into<String>) {
        let place = self.draft.place(at);
        self.problems.push(Diagnostic::warning(message).at(place).with_hint(hint));
    }

    /// Line of the model file.
    pub fn line(&self, at: At) -> usize {
        self.draft.place(at).line
    }

    fn has_errors(&self) -> bool {
        self.draft.broken || self.problems.iter().any(Diagnostic::is_error)
    }

    fn model(&mut self) -> Option<Model> {
        let draft = self.draft;
        if draft.coordinates.is_empty() {
            if !draft.broken {
                let error = Diagnostic::error("the model has no coordinates")
                    .with_hint("write coordinates = [\"x\"] at the top of the file");
                self.problems.push(error);
            }
            return None;
        }
        self.enter_names();
        self.check_labels();
        self.symbols();
        let parameters = self.named_formulas();
        let driven = self.driven();
        let physics = self.physics();
        let dissipation = self.dissipation();
        let forces = self.forces();
        let bodies = self.bodies_to_draw();
        let rows = self.rows();
        let walls = self.walls();
        let events = self.events();
        let outputs = self.outputs();
        let view = self.view();
        let settings = self.run_settings();
        let start = self.start();
        let inputs = self.table_inputs();
        let inferred_units = self.check_dimensions();
        if self.has_errors() {
            return None;
        }
        let definitions = draft.definitions.iter().zip(&self.scope.definitions);
        let definitions = definitions
            .filter_map(|((word, _), series)| {
                Some(Named { name: word.text.clone(), expr: series.as_ref()?[0] })
            })
            .collect();
        let mut coordinates = self.scope.coordinates.clone();
        for (coordinate, motion) in coordinates.iter_mut().zip(driven) {
            coordinate.driven = motion;
        }
        let (run, from) = settings?;
        let (mut start, start_formulas) = start?;
        start.time = from;
        let mut model = Model {
            name: draft.name.clone().unwrap_or_else(|| file_stem(&draft.file)),
            dag: std::mem::take(&mut self.dag),
            time: self.scope.time?,
            coordinates,
            parameters,
            inputs: inputs?,
            definitions,
            physics: physics?,
            dissipation,
            forces,
            rows,
            walls,
            events,
            outputs,
            bodies,
            units: draft.units.iter().map(|(word, unit)| (word.text.clone(), unit.text.clone())).collect(),
            inferred_units,
            view,
            start,
            start_formulas,
            run,
            provenance: self.provenance(),
        };
        self.choose_interpolation(&mut model);
        self.check_numbers(&mut model);
        Some(model)
    }

    /// Interns all symbols, in the order in which printed formulas show them.
    fn symbols(&mut self) {
        let draft = self.draft;
        for (word, _) in &draft.parameters {
            self.dag.symbol(&word.text);
        }
        let mut symbol = |name: &str, kind: Kinds| {
            let e = self.dag.symbol(name);
            if let Some(s) = self.dag.as_symbol(e) {
                self.scope.kinds.insert(s, kind);
            }
            e
        };
        self.scope.time = Some(symbol("t", TIME));
        for input in &draft.inputs {
            let table = matches!(input.signal, SignalSource::Table { .. });
            self.scope.tables.push(table);
            let name = &input.name.text;
            self.scope.inputs.push(table.then(|| {
                (0..3).map(|primes| symbol(&format!("{name}{}", "'".repeat(primes)), INPUT)).collect()
            }));
        }
        self.scope.parameters = vec![None; draft.parameters.len()];
        self.scope.definitions = vec![None; draft.definitions.len()];
        let given = draft.momenta.as_ref().map(|(names, _)| names);
        let positions: Vec<Expr> = draft.coordinates.iter().map(|w| symbol(&w.text, POSITION)).collect();
        let velocities: Vec<Expr> =
            draft.coordinates.iter().map(|w| symbol(&format!("{}'", w.text), VELOCITY)).collect();
        for (i, word) in draft.coordinates.iter().enumerate() {
            let name = &word.text;
            let given = given.and_then(|names| names.get(i));
            let mut momentum = given.map_or_else(|| format!("p_{name}"), |w| w.text.clone());
            // In a Lagrangian model p_x may be a name of the author's: the momentum then steps aside.
            while given.is_none()
                && !matches!(self.scope.names.get(&momentum), None | Some(NameMeaning::Momentum(_)))
            {
                momentum.push('_');
            }
            let coordinate = Coordinate {
                name: name.clone(),
                position: positions[i],
                velocity: velocities[i],
                acceleration: symbol(&format!("{name}''"), ACCELERATION),
                momentum: symbol(&momentum, MOMENTUM),
                momentum_name: given.map_or_else(|| name.clone(), |w| w.text.clone()),
                driven: None,
            };
            self.scope.coordinates.push(coordinate);
        }
        if let Some((names, at)) = &draft.momenta
            && names.len() != draft.coordinates.len()
        {
            let message =
                format!("`momenta` has {} names for {} coordinates", names.len(), draft.coordinates.len());
            self.error(*at, message, "momenta[i] belongs to coordinates[i]: list one for each");
        }
    }

    /// Parameters, definitions and formula inputs.
    fn named_formulas(&mut self) -> Vec<Parameter> {
        let draft = self.draft;
        let mut parameters: Vec<Option<Parameter>> = vec![None; draft.parameters.len()];
        for meaning in self.in_order() {
            match meaning {
                NameMeaning::Parameter(i) => {
                    let (word, formula) = &draft.parameters[i];
                    let Some(e) = self.formula(formula, &PARAMETER) else { continue };
                    let value = self.value(e);
                    if !value.is_finite() {
                        let message = format!("parameter `{}` must be finite: {}", word.text, shown(value));
                        let hint = self.blame(e);
                        self.error(formula.at, message, hint);
                        continue;
                    }
                    let symbol = self.dag.symbol(&word.text);
                    if let Some(s) = self.dag.as_symbol(symbol) {
                        self.values.insert(s, value);
                    }
                    self.scope.parameters[i] = Some(symbol);
                    parameters[i] = Some(Parameter { name: word.text.clone(), symbol, formula: e, value });
                }
                NameMeaning::Definition(i) => {
                    let formula = &draft.definitions[i].1;
                    let e = self.formula(formula, &DEFINITION);
                    self.scope.definitions[i] = e.map(|e| vec![e]);
                }
                NameMeaning::Input(i) => {
                    if let SignalSource::Formula(formula) = &draft.inputs[i].signal {
                        let e = self.formula(formula, &SIGNAL);
                        self.scope.inputs[i] = e.map(|e| vec![e]);
                    }
                }
                _ => {}
            }
        }
        parameters.into_iter().flatten().collect()
    }

    /// Reads a formula; `None` when it is wrong (reported) or made of something wrong (reported before).
    pub fn formula(&mut self, formula: &'d Formula, context: &Context) -> Option<Expr> {
        if formula.kind == FormulaKind::Broken {
            return None;
        }
        if formula.kind == FormulaKind::Number {
            let word = formula.text.trim_start_matches(['+', '-']);
            if matches!(word, "inf" | "nan") {
                let message = format!("{} must be finite, not {word}", context.what);
                self.error(formula.at, message, "write a number such as 1e6");
                return None;
            }
        }
        if let Some(value) = self.quantity(formula, context) {
            return value;
        }
        let (text, escapes) = self.without_escapes(formula);
        self.scope.tainted = false;
        let Checker { dag, scope, .. } = self;
        let result = parse(dag, &text, &mut |dag, name| scope.resolve(dag, name, context));
        match result {
            Ok(e) if !self.scope.tainted && escapes.is_empty() => {
                self.formulas.push((e, formula));
                Some(e)
            }
            Ok(_) => None,
            Err(problems) => {
                // A name that starts with an escape is told already.
                for problem in problems.into_iter().filter(|p| !escapes.contains(&p.span.start)) {
                    let place = self.draft.place_in(formula, problem.span.start, problem.span.end);
                    let mut diagnostic = Diagnostic::error(problem.message).at(place);
                    diagnostic.hint = self.unit_inside(&text, problem.span).or(problem.hint);
                    self.problems.push(diagnostic);
                }
                None
            }
        }
    }

    /// TOML reads `"\theta"` as a tab and `heta`. Reports that, and puts the letter back so that the rest of the
    /// formula can be looked at.
    fn without_escapes(&mut self, formula: &Formula) -> (String, Vec<usize>) {
        let mut text = formula.text.clone();
        let raw = self.draft.sources.get(formula.at.source);
        let raw = raw.and_then(|s| s.text.get(formula.at.start..formula.at.end)).unwrap_or("");
        if !raw.starts_with('"') || !raw.contains('\\') {
            return (text, Vec::new());
        }
        let raw = raw.to_owned();
        let mut found = Vec::new();
        for (i, c) in formula.text.char_indices().filter(|(_, c)| c.is_control()) {
            let at = self.draft.part_of(formula, i, i + c.len_utf8());
            let from = at.start - formula.at.start;
            if !raw[from..].starts_with('\\') {
                continue; // a line break in a text of several lines
            }
            found.push(i);
            let letter = raw[from + 1..].chars().next().filter(char::is_ascii_alphabetic).unwrap_or(' ');
            let word: String =
                raw[from + 1..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            if c.len_utf8() == 1 {
                text.replace_range(i..=i, letter.encode_utf8(&mut [0; 4]));
            }
            let end = at.start + 1 + word.len();
            let message = format!("in `\\{word}` the `\\{letter}` is a control character");
            self.error(At { end, ..at }, message, format!("write {word}"));
        }
        (text, found)
    }

    /// The value of an expression of parameters; NaN when it contains anything else.
    pub fn value(&self, e: Expr) -> f64 {
        self.dag.evaluate(e, |s| self.values.get(&s).copied().unwrap_or(f64::NAN))
    }

    /// The value of a formula of parameters; reports one that is not finite.
    pub fn number(&mut self, formula: &'d Formula, context: &Context) -> Option<f64> {
        self.number_of(formula, context).map(|found| found.1)
    }

    /// The same, with the formula as an expression.
    pub fn number_of(&mut self, formula: &'d Formula, context: &Context) -> Option<(Expr, f64)> {
        let e = self.formula(formula, context)?;
        let value = self.value(e);
        if value.is_finite() {
            return Some((e, value));
        }
        let hint = self.blame(e);
        self.error(formula.at, format!("{} must be finite: {}", context.what, shown(value)), hint);
        None
    }

    /// Which parameters make an expression infinite or undefined.
    fn blame(&self, e: Expr) -> String {
        let names: Vec<String> = self
            .dag
            .reachable(&[e])
            .into_iter()
            .filter_map(|e| self.dag.as_symbol(e))
            .filter_map(|s| Some(format!("{} = {}", self.dag.symbol_name(s), self.values.get(&s)?)))
            .collect();
        if names.is_empty() { "change the formula".to_owned() } else { format!("here {}", names.join(", ")) }
    }

    /// Prescribed motions, one entry per coordinate.
    fn driven(&mut self) -> Vec<Option<Driven>> {
        let draft = self.draft;
        let mut driven = vec![None; draft.coordinates.len()];
        for (word, formula) in &draft.driven {
            let motion = self.formula(formula, &DRIVEN);
            let Some(i) = self.coordinate(word, "only coordinates can be driven") else { continue };
            let Some(position) = motion else { continue };
            if let Some(function) = gaps::corner_in(&self.dag, position) {
                let at = self.part_or_all(formula, function);
                let message =
                    format!("`{function}` has a corner, so the prescribed motion has no acceleration there");
                self.error(at, message, "use a motion that is twice differentiable");
                continue;
            }
            let velocity = self.scope.rate(&mut self.dag, position);
            let acceleration = velocity.and_then(|v| self.scope.rate(&mut self.dag, v));
            match (velocity, acceleration) {
                (Some(velocity), Some(acceleration)) => {
                    driven[i] = Some(Driven { position, velocity, acceleration });
                }
                _ => self.error(
                    formula.at,
                    format!("the motion of `{}` has no acceleration", word.text),
                    "it needs a third derivative of a table; use the table itself, not its rate",
                ),
            }
        }
        driven
    }

    /// The place of a piece of text in a formula, or of the whole formula when it is not there.
    pub fn part_or_all(&self, formula: &Formula, piece: &str) -> At {
        match formula.text.find(piece) {
            Some(start) => self.draft.part_of(formula, start, start + piece.len()),
            None => formula.at,
        }
    }

    /// Is a coordinate driven?
    pub fn is_driven(&self, i: usize) -> bool {
        let name = &self.draft.coordinates[i].text;
        self.draft.driven.iter().any(|(word, _)| word.text == *name)
    }

    /// The coordinate a key names, reported when there is none.
    pub fn coordinate(&mut self, word: &crate::draft::Word, rule: &str) -> Option<usize> {
        let found = self.draft.coordinates.iter().position(|c| c.text == word.text);
        if found.is_none() {
            let names = self.draft.coordinates.iter().map(|c| c.text.as_str());
            let hint = match carom_expr::nearest(&word.text, names) {
                Some(near) => format!("did you mean the coordinate `{near}`?"),
                None => {
                    let names: Vec<&str> = self.draft.coordinates.iter().map(|c| c.text.as_str()).collect();
                    format!("{rule}: {}", names.join(", "))
                }
            };
            self.error(word.at, format!("`{}` is not a coordinate", word.text), hint);
        }
        found
    }

    fn outputs(&mut self) -> Vec<Named> {
        let draft = self.draft;
        let mut outputs = Vec::new();
        for (word, formula) in &draft.outputs {
            if let Some(expr) = self.formula(formula, &OUTPUT) {
                outputs.push(Named { name: word.text.clone(), expr });
            }
        }
        outputs
    }
}

/// Infinite and undefined values as words.
pub(crate) fn shown(value: f64) -> String {
    if value.is_nan() {
        "it is undefined".to_owned()
    } else if value.is_infinite() {
        "it is infinite".to_owned()
    } else {
        format!("it is {}", short(value))
    }
}

/// A number for a message: enough digits to see, not more.
pub(crate) fn short(x: f64) -> String {
    let digits = format!("{x:.6e}");
    match digits.parse::<f64>() {
        Ok(rounded) if rounded == 0.0 || (1e-4..1e7).contains(&rounded.abs()) => format!("{rounded}"),
        Ok(rounded) => format!("{rounded:e}"),
        Err(_) => digits,
    }
}

fn file_stem(file: &str) -> String {
    let stem = std::path::Path::new(file).file_stem().map(|s| s.to_string_lossy().into_owned());
    stem.filter(|s| !s.is_empty() && s != "-").unwrap_or_else(|| "model".to_owned())
}
