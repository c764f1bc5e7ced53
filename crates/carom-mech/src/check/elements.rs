//! Constraint rows, walls and events.

use super::scope::{Context, INPUT, MOMENTUM, PLANE, POSITION, TIME, VELOCITY};
use super::{Checker, gaps};
use crate::draft::{self, At};
use crate::model::{Action, CrossingDirection, Event, Row, RowKind, Wall};
use crate::schema;
use carom_expr::Expr;
use carom_expr::nearest;

const HOLONOMIC: Context = Context::new(
    "a holonomic constraint",
    POSITION | TIME | INPUT,
    "constraints with velocities belong into [nonholonomic]",
);
const NONHOLONOMIC: Context =
    Context::new("a nonholonomic constraint", POSITION | VELOCITY | TIME | INPUT, "write it with velocities");
const GAP: Context = Context::new(
    "a gap",
    POSITION | TIME | INPUT,
    "a gap is a distance: a function of coordinates and the time",
);
const RESTITUTION: Context = Context::new("a restitution", 0, "a restitution is made of parameters");
const DRAW: Context = Context::new(
    "a drawn wall",
    PLANE | TIME | INPUT,
    "draw it with x and y of the picture, t and parameters",
);
const EVENT: Context = Context::new(
    "an event",
    POSITION | VELOCITY | MOMENTUM | TIME | INPUT,
    "write it with coordinates and velocities",
);
const RESET: Context = Context::new(
    "a reset",
    POSITION | VELOCITY | MOMENTUM | TIME | INPUT,
    "write it with coordinates and velocities",
);

impl<'d> Checker<'d> {
    /// Constraint rows, holonomic ones first.
    pub fn rows(&mut self) -> Vec<Row> {
        let draft = self.draft;
        let mut rows = Vec::new();
        for (word, formula) in &draft.holonomic {
            let Some(expr) = self.formula(formula, &HOLONOMIC) else { continue };
            if !self.contains_free(expr, false) {
                let (message, hint) = self.pointless_row(&word.text, expr);
                self.error(formula.at, message, hint);
                continue;
            }
            self.warn_corner(&word.text, expr, formula);
            rows.push(Row { name: word.text.clone(), kind: RowKind::Holonomic, expr });
        }
        for (word, formula) in &draft.nonholonomic {
            let Some(expr) = self.formula(formula, &NONHOLONOMIC) else { continue };
            let kinds = self.scope.kinds_of(&self.dag, expr);
            if kinds & VELOCITY == 0 && kinds & POSITION != 0 {
                let message = format!("row `{}` contains no velocity", word.text);
                self.error(formula.at, message, "constraints without velocities belong into [holonomic]");
                continue;
            }
            if !self.contains_free(expr, true) {
                let (message, hint) = self.pointless_row(&word.text, expr);
                self.error(formula.at, message, hint);
                continue;
            }
            if let Some((name, at)) = self.nonlinear_velocity(expr, formula) {
                let message = format!("row `{}` is not linear in the velocity `{name}`", word.text);
                self.error(at, message, "a nonholonomic constraint has the form A(q, t)*q' + b(q, t) = 0");
                continue;
            }
            self.warn_corner(&word.text, expr, formula);
            rows.push(Row { name: word.text.clone(), kind: RowKind::Nonholonomic, expr });
        }
        rows
    }

    /// At a corner of a row its reaction has no direction.
    fn warn_corner(&mut self, name: &str, e: Expr, formula: &draft::Formula) {
        if let Some(function) = gaps::corner_in(&self.dag, e) {
            let at = self.part_or_all(formula, function);
            let message =
                format!("row `{name}` has a corner, from `{function}`, where its reaction has no direction");
            self.warning(at, message, "use a smooth formula, or keep the motion away from the corner");
        }
    }

    /// Does `e` contain the position (or velocity) of a coordinate that is not driven?
    pub fn contains_free(&self, e: Expr, velocity: bool) -> bool {
        let inside = self.dag.reachable(&[e]);
        self.scope.coordinates.iter().enumerate().any(|(i, c)| {
            let symbol = if velocity { c.velocity } else { c.position };
            inside.binary_search(&symbol).is_ok() && !self.is_driven(i)
        })
    }

    fn pointless_row(&self, name: &str, e: Expr) -> (String, String) {
        let kinds = self.scope.kinds_of(&self.dag, e);
        if kinds != 0 {
            let what = if kinds & (POSITION | VELOCITY) != 0 { "driven coordinates" } else { "the time" };
            let message = format!("row `{name}` contains nothing but {what}");
            return (message, "no motion of the other coordinates can make it zero; remove it".to_owned());
        }
        match self.value(e) {
            0.0 => (format!("row `{name}` is always zero"), "it constrains nothing; remove it".to_owned()),
            value => (
                format!("row `{name}` contains no coordinate and is never zero: it is {value}"),
                "write the constraint as a formula of coordinates that must be zero".to_owned(),
            ),
        }
    }

    /// A velocity in which `e` is not linear, with its place.
    fn nonlinear_velocity(&mut self, e: Expr, formula: &draft::Formula) -> Option<(String, At)> {
        for i in 0..self.scope.coordinates.len() {
            let c = self.scope.coordinates[i].clone();
            let d = self.dag.derivative(e, c.velocity);
            if self.scope.kinds_of(&self.dag, d) & VELOCITY == 0 || self.looks_free_of_velocities(d) {
                continue;
            }
            let name = format!("{}'", c.name);
            let at = self.part_or_all(formula, &name);
            return Some((name, at));
        }
        None
    }

    /// Velocities that cancel, such as (x'+y')^2 − …, are found by trying numbers.
    fn looks_free_of_velocities(&mut self, d: Expr) -> bool {
        let velocities: Vec<Expr> = self.scope.coordinates.iter().map(|c| c.velocity).collect();
        let second: Vec<Expr> = velocities.iter().map(|&v| self.dag.derivative(d, v)).collect();
        (0..3).all(|round| {
            let values = self.dag.evaluate_all(&second, |s| {
                self.values.get(&s).copied().unwrap_or_else(|| super::numeric::sample(round, s.index()))
            });
            // Sample values are of order 1, and so are the terms that cancel.
            values.iter().all(|x| x.abs() < 1e-9)
        })
    }

    /// Walls; a gap `min(a, b)` becomes two.
    pub fn walls(&mut self) -> Vec<Wall> {
        let draft = self.draft;
        let mut walls: Vec<Wall> = Vec::new();
        for wall in &draft.walls {
            let name = &wall.name.text;
            let gap = wall.gap.as_ref().map(|f| (self.formula(f, &GAP), f));
            if gap.is_none() && !wall.broken {
                self.error(wall.name.at, format!("wall `{name}` has no gap"), "write gap = \"y\"");
            }
            let restitution = match &wall.restitution {
                None => Some(self.dag.one()),
                Some(formula) => self.restitution(formula),
            };
            let draw = wall.draw.as_ref().map(|f| self.formula(f, &DRAW));
            let (Some((Some(gap), formula)), Some(restitution)) = (gap, restitution) else { continue };
            let pieces = match gaps::split(&mut self.dag, gap, &self.values) {
                Ok(pieces) => pieces,
                Err(refusal) => {
                    let at = match formula.text.find(refusal.function) {
                        Some(start) => self.draft.part_of(formula, start, start + refusal.function.len()),
                        None => formula.at,
                    };
                    self.error(at, format!("the gap of wall `{name}` {}", refusal.message), refusal.hint);
                    continue;
                }
            };
            let many = pieces.len() > 1;
            for (i, gap) in pieces.into_iter().enumerate() {
                if !self.check_reachable(name, gap, formula) {
                    break;
                }
                let name = if many { format!("{name}.{}", i + 1) } else { name.clone() };
                // The wall is drawn once.
                let draw = draw.flatten().filter(|_| i == 0);
                walls.push(Wall { name, gap, restitution, draw });
            }
        }
        walls
    }

    fn restitution(&mut self, formula: &'d draft::Formula) -> Option<Expr> {
        let e = self.formula(formula, &RESTITUTION)?;
        let value = self.value(e);
        if !(0.0..=1.0).contains(&value) {
            let hint = if value > 1.0 && value.is_finite() {
                "1 bounces without loss; more would create energy"
            } else {
                "0 does not bounce, 1 bounces without loss"
            };
            self.error(
                formula.at,
                format!("a restitution lies between 0 and 1: {}", super::shown(value)),
                hint,
            );
            return None;
        }
        Some(e)
    }

    /// A gap without free coordinates is no wall to anything that moves.
    fn check_reachable(&mut self, name: &str, gap: Expr, formula: &draft::Formula) -> bool {
        let kinds = self.scope.kinds_of(&self.dag, gap);
        if kinds == 0 {
            let value = self.value(gap);
            let message = format!("the gap of wall `{name}` is constant: {}", super::shown(value));
            self.error(
                formula.at,
                message,
                "a gap measures the distance to the wall: write it with coordinates",
            );
            return false;
        }
        if !self.contains_free(gap, false) {
            let what = if kinds & POSITION == 0 { "the time" } else { "driven coordinates" };
            let message = format!("the gap of wall `{name}` contains nothing but {what}");
            self.error(formula.at, message, "no impact can change it: write the gap with a free coordinate");
            return false;
        }
        true
    }

    pub fn events(&mut self) -> Vec<Event> {
        let draft = self.draft;
        let mut events = Vec::new();
        for event in &draft.events {
            let name = &event.name.text;
            let when = event.when.as_ref().map(|f| (self.formula(f, &EVENT), f));
            if when.is_none() && !event.broken {
                self.error(event.name.at, format!("event `{name}` has no `when`"), "write when = \"y'\"");
            }
            if let Some((Some(e), formula)) = when
                && self.scope.kinds_of(&self.dag, e) == 0
            {
                let message = format!("event `{name}` never happens: `when` is constant");
                self.error(formula.at, message, "it happens when the formula crosses zero; use what moves");
            }
            let words = schema::words("event.*", "direction");
            let direction = match self.choice("direction", event.direction.as_ref(), words) {
                Some("rising") => CrossingDirection::Rising,
                Some("falling") => CrossingDirection::Falling,
                _ => CrossingDirection::Both,
            };
            let only_if = event.only_if.as_ref().map(|f| self.formula(f, &EVENT));
            let action = self.action(event);
            if let (Some((Some(when), _)), Some(action)) = (when, action)
                && only_if != Some(None)
            {
                let only_if = only_if.flatten();
                events.push(Event { name: name.clone(), when, direction, only_if, action });
            }
        }
        events
    }

    fn action(&mut self, event: &'d draft::Event) -> Option<Action> {
        let name = &event.name.text;
        let set = event.set.as_ref().map(|list| self.reset(list));
        let action = self.choice("action", event.action.as_ref(), schema::words("event.*", "action"));
        match (action, set) {
            (None | Some("set"), Some(set)) => set.map(Action::Set),
            (None | Some("record"), None) => Some(Action::Record),
            (Some("stop"), None) => Some(Action::Stop),
            (Some("set"), None) => {
                if !event.broken {
                    let at = event.action.as_ref().map_or(event.name.at, |w| w.at);
                    let hint = "write set = { \"x'\" = \"-x'\" }";
                    self.error(at, format!("event `{name}` does not say what to set"), hint);
                }
                None
            }
            (Some(other), Some(_)) => {
                let at = event.action.as_ref().map_or(event.name.at, |w| w.at);
                let message = format!("action \"{other}\" does not set anything, but `set` is given");
                self.error(at, message, "write action = \"set\", or remove `set`");
                None
            }
            (Some(_), None) => None,
        }
    }

    /// One of several words; a wrong one is reported and taken for none.
    pub fn choice<'w>(
        &mut self,
        key: &str,
        word: Option<&draft::Word>,
        words: &[&'w str],
    ) -> Option<&'w str> {
        let word = word?;
        let found = words.iter().find(|w| **w == word.text).copied();
        if found.is_none() {
            let hint = match nearest(&word.text, words.iter().copied()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("it is one of \"{}\"", words.join("\", \"")),
            };
            self.error(word.at, format!("`{key}` cannot be \"{}\"", word.text), hint);
        }
        found
    }

    fn reset(&mut self, list: &'d [draft::Assignment]) -> Option<Vec<(Expr, Expr)>> {
        let draft = self.draft;
        let mut set = Vec::new();
        let mut fine = true;
        for (word, formula) in list {
            let value = self.formula(formula, &RESET);
            let bare = word.text.trim_end_matches(['\'', '′', '’']);
            let primes = word.text.chars().count() - bare.chars().count();
            let momentum = draft.momentum_names().iter().position(|p| *p == word.text);
            let symbol = match draft.coordinates.iter().position(|c| c.text == bare) {
                Some(i) if self.is_driven(i) => {
                    let message = format!("the driven coordinate `{bare}` cannot be set");
                    self.error(word.at, message, "its motion is prescribed in [driven]");
                    None
                }
                Some(i) if primes == 0 => Some(self.scope.coordinates[i].position),
                Some(i) if primes == 1 && self.scope.hamiltonian => {
                    let p = draft.momentum_names().get(i).cloned().unwrap_or_default();
                    let message = "a Hamiltonian model has momenta, not velocities, in its state";
                    self.error(word.at, message, format!("set the momentum {p}"));
                    None
                }
                Some(i) if primes == 1 => Some(self.scope.coordinates[i].velocity),
                Some(_) => {
                    let message = format!("`{}` cannot be set", word.text);
                    self.error(word.at, message, "only positions x and velocities x' can be set");
                    None
                }
                None if momentum.is_some() && self.scope.hamiltonian => {
                    momentum.map(|i| self.scope.coordinates[i].momentum)
                }
                None => {
                    let names: Vec<String> = draft
                        .coordinates
                        .iter()
                        .flat_map(|c| [c.text.clone(), format!("{}'", c.text)])
                        .collect();
                    let hint = match nearest(&word.text, names.iter().map(String::as_str)) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("a reset may set {}", names.join(", ")),
                    };
                    self.error(word.at, format!("`{}` cannot be set", word.text), hint);
                    None
                }
            };
            match (symbol, value) {
                (Some(symbol), Some(value)) => set.push((symbol, value)),
                _ => fine = false,
            }
        }
        fine.then_some(set)
    }
}
