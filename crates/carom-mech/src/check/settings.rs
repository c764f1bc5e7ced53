//! `[run]`, `[view]` and `[units]`.

use super::Checker;
use super::scope::{Context, INPUT, NameMeaning, POSITION, TIME};
use crate::draft::{self, Formula, Word};
use crate::model::{ImpactOrder, Method, Point, RunSettings, View};
use crate::schema::{self, ValueShape};
use carom_expr::nearest;

const SETTING: Context = Context::new("a run setting", 0, "run settings are made of parameters");
const POINT: Context =
    Context::new("a point", POSITION | TIME | INPUT, "a point depends on coordinates and the time only");
const RANGE: Context = Context::new("the visible range", 0, "the range is made of parameters");

impl<'d> Checker<'d> {
    /// The `[run]` table and its start time.
    pub fn run_settings(&mut self) -> Option<(RunSettings, f64)> {
        let mut settings = RunSettings::default();
        let mut fine = true;
        let draft = self.draft;
        let find = |key: &str| draft.run.iter().find(|(word, _)| word.text == key).map(|(_, f)| f);
        let from = match find("from") {
            Some(formula) => self.number(formula, &SETTING),
            None => Some(0.0),
        };
        if let Some(formula) = find("until") {
            match self.number(formula, &SETTING) {
                Some(until) => settings.until = until,
                None => fine = false,
            }
        }
        if let Some(from) = from
            && fine
            && settings.until <= from
            && let Some(formula) = find("until").or(find("from"))
        {
            let message = format!("the end time {} is not after the start time {from}", settings.until);
            let missing = find("until").is_none();
            let hint =
                if missing { "write until = …, the end time" } else { "`until` is a time, not a duration" };
            self.error(formula.at, message, hint);
            fine = false;
        }
        if let Some(formula) = find("tolerance") {
            match self.number(formula, &SETTING) {
                Some(tolerance) => {
                    let bounds = schema::entry("run", "tolerance").map(|e| e.shape);
                    match bounds {
                        Some(ValueShape::Between(least, most)) if !(least..=most).contains(&tolerance) => {
                            let message = format!("the tolerance {tolerance} is out of range");
                            self.error(
                                formula.at,
                                message,
                                format!("it lies between {least:e} and {most:e}"),
                            );
                            fine = false;
                        }
                        _ => settings.tolerance = tolerance,
                    }
                }
                None => fine = false,
            }
        }
        fine &= self.method(&mut settings, find("method"), find("step"));
        for (key, least, most) in
            [("samples", 2, 100_000_000), ("max_impacts", 0, u64::MAX), ("max_steps", 1, u64::MAX)]
        {
            let Some(formula) = find(key) else { continue };
            match self.count(formula, key, least, most) {
                Some(n) if key == "samples" => settings.samples = n as usize,
                Some(n) if key == "max_impacts" => settings.max_impacts = n,
                Some(n) => settings.max_steps = n,
                None => fine = false,
            }
        }
        if let Some(formula) = find("impact_order") {
            match self.choice("impact_order", Some(&as_word(formula)), schema::words("run", "impact_order")) {
                Some("sequential") => settings.impact_order = ImpactOrder::Sequential,
                Some(_) => {}
                None => fine = false,
            }
        }
        fine.then_some((settings, from?))
    }

    fn method(
        &mut self,
        settings: &mut RunSettings,
        method: Option<&'d Formula>,
        step: Option<&'d Formula>,
    ) -> bool {
        let chosen = match method {
            None => Some("taylor"),
            Some(formula) => self.choice("method", Some(&as_word(formula)), schema::words("run", "method")),
        };
        let size = match step {
            None => None,
            Some(formula) => match self.number(formula, &SETTING) {
                None => return false,
                Some(size) if size <= 0.0 => {
                    self.error(formula.at, format!("the step {size} is not positive"), "write step = 0.001");
                    return false;
                }
                Some(size) if settings.until + size == settings.until => {
                    let message = format!("the step {size:e} is lost in rounding at t = {}", settings.until);
                    self.error(formula.at, message, "write step = 0.001");
                    return false;
                }
                Some(size) => Some((size, formula)),
            },
        };
        match (chosen, size, method) {
            (Some("rk4"), Some((step, _)), _) => settings.method = Method::Rk4 { step },
            (Some("rk4"), None, Some(formula)) => {
                self.error(formula.at, "method \"rk4\" needs a step", "write step = 0.001");
                return false;
            }
            (Some(_), Some((_, formula)), _) => {
                let hint = "remove it, or write method = \"rk4\"";
                self.error(formula.at, "method \"taylor\" chooses its own steps", hint);
                return false;
            }
            (None, _, _) => return false,
            _ => {}
        }
        true
    }

    /// A whole number.
    fn count(&mut self, formula: &'d Formula, key: &str, least: u64, most: u64) -> Option<u64> {
        let value = self.number(formula, &SETTING)?;
        let whole = value.fract() == 0.0 && value >= least as f64 && value <= most as f64;
        if !whole {
            let range = if most == u64::MAX { format!("{least} on") } else { format!("{least} to {most}") };
            let message = format!("`{key}` is a whole number from {range}, not {value}");
            self.error(
                formula.at,
                message,
                format!("write {key} = {}", if key == "samples" { 201 } else { 1000 }),
            );
            return None;
        }
        Some(value as u64)
    }

    pub fn view(&mut self) -> View {
        let draft = self.draft;
        let mut view = View::default();
        for (ends, links) in [(&draft.view.links, &mut view.links), (&draft.view.springs, &mut view.springs)]
        {
            for (a, b) in ends {
                let (a, b) = (self.point(a), self.point(b));
                if let (Some(a), Some(b)) = (a, b) {
                    links.push((a, b));
                }
            }
        }
        self.fill_view(&mut view);
        view.traces = draft.view.traces.iter().filter_map(|p| self.point(p)).collect();
        if let Some((list, at)) = &draft.view.range {
            let numbers: Vec<Option<f64>> = list.iter().map(|f| self.number(f, &RANGE)).collect();
            let hint = "write range = [left, right, bottom, top]";
            match numbers[..] {
                [Some(left), Some(right), Some(bottom), Some(top)] => {
                    if left < right && bottom < top {
                        view.range = Some([left, right, bottom, top]);
                    } else {
                        self.error(*at, "the visible range is empty", hint);
                    }
                }
                [_, _, _, _] => {}
                _ => self.error(*at, format!("the visible range has {} numbers, not 4", list.len()), hint),
            }
        }
        view
    }

    pub(super) fn point(&mut self, point: &'d draft::Point) -> Option<Point> {
        let draft = self.draft;
        let space = draft.bodies.iter().any(|b| b.at.as_ref().is_some_and(|at| at.len() == 3));
        match point {
            draft::Point::Named(word) if word.text == "origin" => {
                let zero = self.dag.zero();
                Some(Point { name: "origin".to_owned(), at: vec![zero; if space { 3 } else { 2 }] })
            }
            draft::Point::Named(word) => {
                let Some(body) = draft.bodies.iter().find(|b| b.name.text == word.text) else {
                    let bodies = draft.bodies.iter().map(|b| b.name.text.as_str());
                    let hint = match nearest(&word.text, bodies.chain(["origin"])) {
                        Some(near) => format!("did you mean \"{near}\"?"),
                        None if matches!(
                            self.scope.names.get(&word.text),
                            Some(NameMeaning::Definition(_))
                        ) =>
                        {
                            format!("give both components: [\"{}\", \"…\"]", word.text)
                        }
                        None => "a point is \"origin\", the name of a body, or [\"x\", \"y\"]".to_owned(),
                    };
                    self.error(word.at, format!("unknown point `{}`", word.text), hint);
                    return None;
                };
                // A mistake in the body's position is reported with the body.
                let known = self.problems.len();
                let at =
                    body.at.as_ref().and_then(|list| list.iter().map(|f| self.formula(f, &POINT)).collect());
                self.problems.truncate(known);
                Some(Point { name: word.text.clone(), at: at? })
            }
            draft::Point::Formulas(list, at) => {
                if !(2..=3).contains(&list.len()) {
                    self.error(*at, "a point has two or three components", "write [\"x\", \"y\"]");
                    return None;
                }
                let name = list.iter().map(|f| f.text.as_str()).collect::<Vec<_>>().join(", ");
                let components: Vec<_> = list.iter().map(|f| self.formula(f, &POINT)).collect();
                Some(Point { name, at: components.into_iter().collect::<Option<_>>()? })
            }
        }
    }
}

/// A text value of `[run]`, which is read like a formula.
fn as_word(formula: &Formula) -> Word {
    Word { text: formula.text.clone(), at: formula.at }
}
