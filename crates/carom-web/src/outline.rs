//! What a model has: names, and a slider for every number that may be changed.
//!
//! The range of a slider is sensible, not a bound: for a value a > 0 it is 0 … about 3 a, for a < 0 its mirror image, for an
//! angle a whole turn, for a restitution 0 … 1, for a start value as much to either side as the model has sizes. It ends at round
//! numbers of the unit in which the value is shown; all numbers of an answer are in coherent units, and `factor` (a value is
//! divided by it to be shown) says what people read.

use crate::ask::Ask;
use crate::run::shown;
use crate::{Answer, Engine, problems};
use carom::doors;
use carom_mech::Draft;
use carom_mech::draft::{Assignment, FormulaKind, SignalSource};
use serde_json::{Value, json};
use std::f64::consts::PI;

/// UTF-16 offsets of the bytes of a text.
struct Units<'a>(&'a str, usize);

impl<'a> Units<'a> {
    fn of(text: &'a str) -> Units<'a> {
        match text.strip_prefix('\u{feff}') {
            Some(rest) => Units(rest, 1),
            None => Units(text, 0),
        }
    }

    fn at(&self, byte: usize) -> usize {
        self.1 + self.0.get(..byte).map_or(0, |before| before.encode_utf16().count())
    }
}

impl Engine {
    /// The outline of a model; of a text that is no model, as much as can be read.
    pub fn outline(&mut self, ask: &Ask<'_>) -> Answer {
        let made = self.model(ask);
        let text = ask.text();
        let units = Units::of(text);
        let parsed;
        let draft = match &made {
            Ok(model) => doors::draft(model),
            Err(_) => {
                parsed = Draft::parse(text, ask.file()).0;
                &parsed
            }
        };
        let names: Vec<Value> = carom_lsp::ask::names(text)
            .into_iter()
            .map(|n| {
                let (from, to) = (n.at.start + units.1, n.at.end + units.1);
                json!({ "name": n.name, "kind": n.kind, "from": from, "to": to, "formula": n.in_formulas })
            })
            .collect();
        let walls: Vec<Value> = draft
            .walls
            .iter()
            .map(|w| json!({ "name": w.name.text, "from": units.at(w.name.at.start), "to": units.at(w.name.at.end) }))
            .collect();
        let given = ask.tables();
        let mut tables: Vec<Value> = Vec::new();
        for input in &draft.inputs {
            if let SignalSource::Table { file, .. } = &input.signal {
                let entry =
                    json!({ "file": file.text, "given": given.iter().any(|(name, _)| *name == file.text) });
                if !tables.contains(&entry) {
                    tables.push(entry);
                }
            }
        }
        let texts = |list: &[Assignment]| list.iter().map(|(w, _)| w.text.clone()).collect::<Vec<_>>();
        let mut rows = texts(&draft.holonomic);
        rows.extend(texts(&draft.nonholonomic));
        let (mut run, mut found) = (json!({ "from": 0.0, "until": 10.0, "samples": 201 }), Vec::new());
        let (mut sliders, mut coordinates, mut name) = (Vec::new(), Vec::new(), draft.name.clone());
        match &made {
            Err(error) => found = problems::list(error.diagnostics(), ask),
            Ok(model) => {
                let checked = doors::checked(model);
                name = Some(model.name().to_owned());
                run = json!({ "from": checked.start.time, "until": checked.run.until, "samples": checked.run.samples });
                sliders = self::sliders(checked, draft, &units);
                coordinates = checked
                    .coordinates
                    .iter()
                    .map(|c| {
                        json!({
                            "name": c.name, "driven": c.driven.is_some(),
                            "momentum": momentum(c), "unit": shown(checked, &c.name).0,
                        })
                    })
                    .collect();
            }
        }
        Answer::of(&json!({
            "ok": made.is_ok(), "diagnostics": found, "name": name.unwrap_or_default(),
            "sliders": sliders, "coordinates": coordinates, "walls": walls, "rows": rows,
            "events": draft.events.iter().map(|e| e.name.text.clone()).collect::<Vec<_>>(),
            "outputs": texts(&draft.outputs),
            "bodies": draft.bodies.iter().map(|b| b.name.text.clone()).collect::<Vec<_>>(),
            "tables": tables, "names": names, "run": run, "hamiltonian": draft.hamiltonian.is_some(),
        }))
    }
}

/// The name a momentum is set by.
pub fn momentum(c: &carom_mech::Coordinate) -> String {
    if c.momentum_name == c.name { format!("p_{}", c.name) } else { c.momentum_name.clone() }
}

/// Where a value stands in the text, and its unit and that unit's factor if it stands there with one: `"20 deg"`.
struct Literal {
    from: usize,
    to: usize,
    unit: Option<(String, f64)>,
}

fn sliders(model: &carom_mech::Model, draft: &Draft, units: &Units<'_>) -> Vec<Value> {
    let place = |list: &[Assignment], name: &str| {
        let found = list.iter().find(|(word, _)| word.text.trim_end_matches(['\'', '′', '’']) == name);
        let formula = found.map(|(_, formula)| formula).filter(|f| f.at.source == 0)?;
        let unit = match formula.kind {
            FormulaKind::Number => None,
            _ => {
                let quantity = carom_mech::units::quantity(&formula.text)?;
                let factor = quantity.unit.as_ref().ok()?.factor();
                Some((quantity.unit_text.trim().to_owned(), factor))
            }
        };
        Some(Literal { from: units.at(formula.at.start), to: units.at(formula.at.end), unit })
    };
    let slider =
        |name: &str, kind: &str, value: Option<f64>, range: (f64, f64), free: bool, at: Option<Literal>| {
            let step = 10f64.powf(((range.1 - range.0) / 1000.0).log10().floor());
            let (unit, factor) = shown(model, name);
            let quantity = at.as_ref().and_then(|at| at.unit.as_ref());
            json!({
                "name": name, "kind": kind, "value": value, "unit": unit, "factor": factor,
                "min": range.0, "max": range.1, "step": step, "free": free,
                "from": at.as_ref().map(|at| at.from), "to": at.as_ref().map(|at| at.to),
                "written": quantity.map(|(unit, factor)| json!({ "unit": unit, "factor": factor })),
            })
        };
    // A range of round numbers, as people read them.
    let factor = |name: &str| model.shown_unit(name).map_or(1.0, |shown| shown.factor);
    let read = |name: &str, range: &dyn Fn(f64) -> (f64, f64)| {
        let (low, high) = range(factor(name));
        (low * factor(name), high * factor(name))
    };
    let restitutions: Vec<_> = model.walls.iter().map(|w| w.restitution).collect();
    let of_walls = model.dag.symbols_in(&restitutions);
    let mut out = Vec::new();
    for p in &model.parameters {
        let free = model.dag.symbols_in(&[p.formula]).is_empty();
        let elastic = of_walls.iter().any(|&s| model.dag.symbol_expr(s) == p.symbol);
        let range = if elastic { (0.0, 1.0) } else { read(&p.name, &|f| of_parameter(p.value / f)) };
        out.push(slider(&p.name, "parameter", Some(p.value), range, free, place(&draft.parameters, &p.name)));
    }
    // As large as what the model itself says about lengths.
    let size = model.start.position.iter().flatten().fold(0.0_f64, |a, x| a.max(x.abs()));
    let rows = !model.rows.is_empty();
    for (i, c) in model.coordinates.iter().enumerate() {
        let value = model.start.position[i];
        let free = c.driven.is_none() && !(rows && value.is_none());
        let angle = is_angle(&c.name)
            || model.shown_unit(&c.name).is_some_and(|u| u.label == "rad" || u.label == "deg");
        let x = value.unwrap_or(0.0);
        let range = if angle && x.abs() <= PI {
            (-PI, PI)
        } else {
            read(&c.name, &|f| around(x / f, size.max(1.0) / f))
        };
        out.push(slider(&c.name, "position", value, range, free, place(&draft.start.position, &c.name)));
        let (kind, name, value, list) = match draft.hamiltonian {
            Some(_) => ("momentum", momentum(c), model.start.momentum[i], &draft.start.momentum),
            None => ("velocity", format!("{}'", c.name), model.start.velocity[i], &draft.start.velocity),
        };
        let free = c.driven.is_none() && !(rows && value.is_none());
        let at = place(list, &c.name).or_else(|| place(list, &name));
        let range = read(&name, &|f| around(value.unwrap_or(0.0) / f, 2.0 / f));
        out.push(slider(&name, kind, value, range, free, at));
    }
    out
}

fn is_angle(name: &str) -> bool {
    const ANGLES: [&str; 12] =
        ["theta", "phi", "psi", "alpha", "beta", "gamma", "angle", "θ", "φ", "ψ", "α", "β"];
    ANGLES.iter().any(|a| name.starts_with(a))
}

fn of_parameter(value: f64) -> (f64, f64) {
    match value {
        v if v > 0.0 => (0.0, round_up(2.5 * v)),
        v if v < 0.0 => (-round_up(-2.5 * v), 0.0),
        _ => (-1.0, 1.0),
    }
}

fn around(value: f64, size: f64) -> (f64, f64) {
    let reach = round_up(2.0 * value.abs().max(size));
    (-reach, reach)
}

/// The next number 1, 2 or 5 times a power of ten.
fn round_up(x: f64) -> f64 {
    let power = 10f64.powf(x.log10().floor());
    let found = [1.0, 2.0, 5.0, 10.0].into_iter().find(|m| m * power >= x * (1.0 - 1e-12));
    // Read back from its decimals: no 0.30000000000000004 on a scale.
    let value = found.unwrap_or(10.0) * power;
    format!("{value:.0e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_contain_their_values_and_end_at_round_numbers() {
        assert_eq!(of_parameter(9.81), (0.0, 50.0));
        assert_eq!(of_parameter(0.3), (0.0, 1.0));
        assert_eq!(of_parameter(-2.0), (-5.0, 0.0));
        for x in [0.0, 1e-7, 0.3, 4.0, -123.0, 1e12] {
            let ((a, b), (c, d)) = (of_parameter(x), around(x, 1.0));
            assert!(a <= x && x <= b && c <= x && x <= d && a < b && c < d, "{x}");
        }
    }
}
