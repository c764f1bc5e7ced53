//! What a name means: one namespace of coordinates, momenta, parameters, definitions, inputs and outputs.
//!
//! A prime is the total time derivative
//!
//! ```text
//! ė = Σ_j (∂e/∂q_j) q_j′ + Σ_j (∂e/∂q_j′) q_j″ + ∂e/∂t + Σ_u (∂e/∂u) u′ + (∂e/∂u′) u″
//! ```
//!
//! so a definition may be primed wherever the derivative contains nothing the formula may not contain.

use crate::model::Coordinate;
use carom_expr::nearest;
use carom_expr::{Dag, Expr, Name, Problem, Symbol};
use std::collections::HashMap;

/// Comparisons of unknown names with known ones; a file beyond that is not typed by hand.
const MOST_COMPARISONS: usize = 300_000;

/// What a name stands for; the index counts in the draft's list of that kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NameMeaning {
    Time,
    Coordinate(usize),
    Momentum(usize),
    Parameter(usize),
    Definition(usize),
    Input(usize),
    Output,
}

impl NameMeaning {
    /// With article, for messages.
    pub fn word(self) -> &'static str {
        match self {
            NameMeaning::Time => "the time",
            NameMeaning::Coordinate(_) => "a coordinate",
            NameMeaning::Momentum(_) => "a momentum",
            NameMeaning::Parameter(_) => "a parameter",
            NameMeaning::Definition(_) => "a definition",
            NameMeaning::Input(_) => "an input",
            NameMeaning::Output => "an output",
        }
    }
}

/// A set of kinds of symbols, as bits.
pub(crate) type Kinds = u8;
pub(crate) const POSITION: Kinds = 1;
pub(crate) const VELOCITY: Kinds = 2;
pub(crate) const ACCELERATION: Kinds = 4;
pub(crate) const MOMENTUM: Kinds = 8;
pub(crate) const TIME: Kinds = 16;
pub(crate) const INPUT: Kinds = 32;
/// `x` and `y` of the picture's plane, or `x`, `y` and `z` of space.
pub(crate) const PLANE: Kinds = 64;

/// Where a formula stands: what it may contain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context {
    /// With article: "a gap".
    pub what: &'static str,
    pub allowed: Kinds,
    /// What to do when a kind is not allowed.
    pub way_out: &'static str,
    /// `[parameters]`: definitions are not known yet.
    pub parameters_only: bool,
}

impl Context {
    pub const fn new(what: &'static str, allowed: Kinds, way_out: &'static str) -> Context {
        Context { what, allowed, way_out, parameters_only: false }
    }
}

/// The meaning of every name.
#[derive(Default)]
pub(crate) struct Scope {
    pub names: HashMap<String, NameMeaning>,
    /// In the order of the file: for suggestions.
    pub order: Vec<String>,
    pub time: Option<Expr>,
    pub coordinates: Vec<Coordinate>,
    /// Symbols of parameters; `None` for one that was reported.
    pub parameters: Vec<Option<Expr>>,
    /// Value and its time derivatives as far as they were needed; `None` for one that was reported.
    pub definitions: Vec<Option<Vec<Expr>>>,
    /// Formula inputs: as definitions. Table inputs: their three symbols.
    pub inputs: Vec<Option<Vec<Expr>>>,
    /// Which inputs are tables.
    pub tables: Vec<bool>,
    /// What each symbol is; parameters are not listed.
    pub kinds: HashMap<Symbol, Kinds>,
    pub hamiltonian: bool,
    /// Labels that are no names of formulas, and what to do instead.
    pub labels: HashMap<String, String>,
    /// Kinds of what names stand for, as far as they were needed.
    pub known_kinds: HashMap<Expr, Kinds>,
    /// How many unknown names were met.
    pub unknown: usize,
    /// Set when a formula used something that was already reported.
    pub tainted: bool,
}

impl Scope {
    /// The kinds of symbols in `e`.
    pub fn kinds_of(&self, dag: &Dag, e: Expr) -> Kinds {
        let symbols = dag.reachable(&[e]).into_iter().filter_map(|e| dag.as_symbol(e));
        symbols.fold(0, |all, s| all | self.kinds.get(&s).copied().unwrap_or(0))
    }

    /// A symbol in `e` of one of these kinds, by name.
    pub fn example(&self, dag: &Dag, e: Expr, kinds: Kinds) -> Option<String> {
        let mut symbols = dag.reachable(&[e]).into_iter().filter_map(|e| dag.as_symbol(e));
        symbols
            .find(|s| self.kinds.get(s).is_some_and(|k| k & kinds != 0))
            .map(|s| dag.symbol_name(s).to_owned())
    }

    /// ė; `None` when it needs a third derivative or the rate of a momentum.
    pub fn rate(&self, dag: &mut Dag, e: Expr) -> Option<Expr> {
        let mut rates: HashMap<Expr, Expr> = HashMap::new();
        for c in &self.coordinates {
            rates.insert(c.position, c.velocity);
            rates.insert(c.velocity, c.acceleration);
        }
        for (input, &table) in self.inputs.iter().zip(&self.tables) {
            if let (Some(input), true) = (input, table) {
                rates.insert(input[0], input[1]);
                rates.insert(input[1], input[2]);
            }
        }
        if let Some(t) = self.time {
            let one = dag.one();
            rates.insert(t, one);
        }
        let symbols: Vec<Symbol> = dag.reachable(&[e]).into_iter().filter_map(|e| dag.as_symbol(e)).collect();
        let mut parts = Vec::new();
        for symbol in symbols {
            if !self.kinds.contains_key(&symbol) {
                continue; // a parameter
            }
            let x = dag.symbol_expr(symbol);
            let rate = *rates.get(&x)?;
            let d = dag.derivative(e, x);
            parts.push(dag.mul(d, rate));
        }
        Some(dag.sum(&parts))
    }

    /// Resolves a name of a formula.
    pub fn resolve(&mut self, dag: &mut Dag, name: Name<'_>, context: &Context) -> Result<Expr, Problem> {
        let problem =
            |message: String, hint: String| Err(Problem { span: name.span, message, hint: Some(hint) });
        let text = name.text;
        let in_space = || text == "z" && !matches!(self.names.get("z"), Some(NameMeaning::Parameter(_)));
        if context.allowed & PLANE != 0 && name.primes == 0 && (matches!(text, "x" | "y") || in_space()) {
            return Ok(dag.symbol(text));
        }
        let Some(&meaning) = self.names.get(text) else {
            self.unknown += 1;
            return problem(format!("unknown name `{text}`"), self.unknown_hint(text, context));
        };
        let primes = name.primes as usize;
        if primes > 0 && matches!(meaning, NameMeaning::Parameter(_) | NameMeaning::Time) {
            let (word, hint) = match meaning {
                NameMeaning::Time => ("the time", "remove the prime"),
                _ => ("a constant parameter", "remove the prime, or list it under coordinates if it moves"),
            };
            return problem(format!("`{text}` is {word}: `{text}'` has no meaning"), hint.to_owned());
        }
        if context.parameters_only && !matches!(meaning, NameMeaning::Parameter(_)) {
            let message = format!("{} cannot contain `{text}`, which is {}", context.what, meaning.word());
            let hint = match meaning {
                NameMeaning::Definition(_) => {
                    "a parameter is made of parameters; move this one into [define]"
                }
                _ => context.way_out,
            };
            return problem(message, hint.to_owned());
        }
        let series = match meaning {
            NameMeaning::Time => vec![self.time.unwrap_or_else(|| dag.symbol("t"))],
            NameMeaning::Parameter(i) => self.parameters.get(i).copied().flatten().into_iter().collect(),
            NameMeaning::Coordinate(i) => {
                let c = &self.coordinates[i];
                vec![c.position, c.velocity, c.acceleration]
            }
            NameMeaning::Momentum(i) => vec![self.coordinates[i].momentum],
            NameMeaning::Output => {
                return problem(
                    format!("the output `{text}` cannot be used in formulas"),
                    "move it from [output] to [define]; definitions can be used everywhere".to_owned(),
                );
            }
            NameMeaning::Definition(i) => self.series(dag, true, i, primes),
            NameMeaning::Input(i) => self.series(dag, false, i, primes),
        };
        if series.is_empty() {
            self.tainted = true;
            return Ok(dag.symbol(text));
        }
        let Some(&value) = series.get(primes) else {
            let written = format!("{text}{}", "'".repeat(primes.min(8)));
            let hint = match meaning {
                NameMeaning::Momentum(_) => "the rate of a momentum follows from the equations of motion",
                NameMeaning::Input(_) => "a table has at most two continuous derivatives",
                NameMeaning::Definition(_) => "it would need rates of accelerations, momenta or tables",
                _ => "a coordinate has a velocity x' and, in [output], an acceleration x''",
            };
            return problem(format!("`{written}` does not exist"), hint.to_owned());
        };
        let kinds = match self.known_kinds.get(&value) {
            Some(&kinds) => kinds,
            None => {
                let kinds = self.kinds_of(dag, value);
                self.known_kinds.insert(value, kinds);
                kinds
            }
        };
        let forbidden = kinds & !context.allowed;
        if forbidden != 0 {
            let (message, hint) = self.forbidden(dag, name, meaning, value, forbidden, context);
            return problem(message, hint);
        }
        Ok(value)
    }

    /// A definition or input and its time derivatives; empty when it was reported.
    fn series(&mut self, dag: &mut Dag, definition: bool, i: usize, primes: usize) -> Vec<Expr> {
        let list = if definition { &self.definitions } else { &self.inputs };
        let Some(mut series) = list.get(i).cloned().flatten() else { return Vec::new() };
        if definition || !self.tables[i] {
            // Two derivatives are all that is ever allowed.
            while series.len() <= primes.min(2) {
                match self.rate(dag, series[series.len() - 1]) {
                    Some(rate) => series.push(rate),
                    None => break,
                }
            }
            let list = if definition { &mut self.definitions } else { &mut self.inputs };
            list[i] = Some(series.clone());
        }
        series
    }

    fn forbidden(
        &self,
        dag: &Dag,
        name: Name<'_>,
        meaning: NameMeaning,
        value: Expr,
        forbidden: Kinds,
        context: &Context,
    ) -> (String, String) {
        // The most telling kind first.
        let kinds = [
            (ACCELERATION, "the acceleration"),
            (VELOCITY, "the velocity"),
            (MOMENTUM, "the momentum"),
            (POSITION, "the coordinate"),
            (TIME, "the time"),
            (INPUT, "the input"),
        ];
        let (kind, word) = kinds.into_iter().find(|(kind, _)| forbidden & kind != 0).unwrap_or((0, ""));
        let written = format!("{}{}", name.text, "'".repeat(name.primes as usize));
        let inner = self.example(dag, value, kind).unwrap_or_default();
        let what = context.what;
        let message =
            if matches!(meaning, NameMeaning::Definition(_) | NameMeaning::Input(_)) && inner != written {
                format!("{what} cannot contain `{written}`, which contains {word} `{inner}`")
            } else {
                format!("{what} cannot contain {word} `{inner}`")
            };
        let hint = match kind {
            ACCELERATION => "accelerations follow from the equations of motion; only [output] may use them",
            VELOCITY if context.allowed & MOMENTUM != 0 => "write it with momenta: x' is ∂H/∂p",
            _ => context.way_out,
        };
        (message, hint.to_owned())
    }

    fn unknown_hint(&self, text: &str, context: &Context) -> String {
        if let Some(hint) = self.labels.get(text) {
            return hint.clone();
        }
        if text == "dt" {
            return "a time derivative is written with a prime: x'".to_owned();
        }
        let many = self.unknown.saturating_mul(self.order.len()) > MOST_COMPARISONS;
        let candidates = if many { &[] } else { &self.order[..] };
        if let Some(near) = nearest(text, candidates.iter().map(String::as_str)) {
            let word = self.names.get(near).map_or("name", |m| super::names::strip_article(m.word()));
            return format!("did you mean the {word} `{near}`?");
        }
        if matches!(text.to_ascii_lowercase().as_str(), "time" | "t") {
            return "write t for the time".to_owned();
        }
        if context.allowed & MOMENTUM != 0 && self.hamiltonian && text.starts_with('p') {
            let names: Vec<&str> = self
                .order
                .iter()
                .filter(|n| matches!(self.names.get(*n), Some(NameMeaning::Momentum(_))))
                .map(String::as_str)
                .collect();
            return format!("write {}, or name the momenta: momenta = [\"p\"]", names.join(", "));
        }
        if context.allowed == 0 {
            return format!("give it a value: {text} = 1.0 in [parameters]");
        }
        format!("a constant goes into [parameters]: {text} = 1.0; a formula into [define]")
    }
}
