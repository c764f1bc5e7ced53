//! A draft as a model file: the inverse of reading.
//!
//! Promise: `parse(print(draft))` says the same as `draft`, name by name and formula by formula, in the same order; comments
//! and layout are not part of a draft. What was unreadable is left out.

use super::{
    Assignment, At, Body, Circle, Draft, Event, Force, Formula, FormulaKind, Input, Point, SignalSource,
    Wall, Word,
};
use std::fmt::Write;

impl Draft {
    /// The draft as a model file.
    ///
    /// ```
    /// let text = "coordinates=['x']\nlagrangian='''x'^2/2\n - x^2/2'''\n[wall.left]\ngap=\"x\"";
    /// let (draft, _) = carom_mech::Draft::parse(text, "spring.toml");
    /// assert_eq!(
    ///     draft.to_toml(),
    ///     "coordinates = [\"x\"]\nlagrangian  = \"x'^2/2  - x^2/2\"\n\n[wall.left]\ngap = \"x\"\n"
    /// );
    /// ```
    pub fn to_toml(&self) -> String {
        let mut file = ModelText::default();
        file.table("", self.top());
        file.table("[parameters]", assignments(&self.parameters));
        file.table("[define]", assignments(&self.definitions));
        file.table("[input]", self.inputs.iter().filter_map(input).collect());
        let energy = [&self.kinetic, &self.potential, &self.dissipation];
        let energy: Vec<KeyValue> = energy.into_iter().flatten().map(assignment).collect();
        if self.energy.is_some() || !energy.is_empty() {
            file.always("[energy]", energy);
        }
        for body in &self.bodies {
            file.always(&header("body", &body.name), entries(body));
        }
        for force in &self.forces {
            file.always(&header("force", &force.name), force_entries(force));
        }
        file.table("[holonomic]", assignments(&self.holonomic));
        file.table("[nonholonomic]", assignments(&self.nonholonomic));
        file.table("[driven]", assignments(&self.driven));
        for wall in &self.walls {
            file.always(&header("wall", &wall.name), wall_entries(wall));
        }
        for event in &self.events {
            file.always(&header("event", &event.name), event_entries(event));
        }
        file.table("[output]", assignments(&self.outputs));
        let units = self.units.iter().map(|(word, unit)| (key(&word.text), quoted(&unit.text)));
        file.table("[units]", units.collect());
        file.table("[view]", self.view_entries());
        file.table("[start]", self.start_entries());
        file.table("[run]", assignments(&self.run));
        file.text
    }

    fn top(&self) -> Vec<KeyValue> {
        let mut top = Vec::new();
        top.extend(self.name.as_ref().map(|name| ("name".to_owned(), quoted(name))));
        top.push(("coordinates".to_owned(), list(self.coordinates.iter().map(|w| quoted(&w.text)))));
        if let Some((names, _)) = &self.momenta {
            top.push(("momenta".to_owned(), list(names.iter().map(|w| quoted(&w.text)))));
        }
        if let Some((components, _)) = &self.gravity {
            top.push(("gravity".to_owned(), formulas(components)));
        }
        top.extend([&self.lagrangian, &self.hamiltonian].into_iter().flatten().map(assignment));
        top
    }

    fn start_entries(&self) -> Vec<KeyValue> {
        let start = &self.start;
        let parts =
            [("position", &start.position), ("velocity", &start.velocity), ("momentum", &start.momentum)];
        let parts = parts.into_iter().filter(|(_, list)| !list.is_empty());
        let mut entries: Vec<KeyValue> = parts.map(|(name, list)| (name.to_owned(), inline(list))).collect();
        if start.project {
            entries.push(("project".to_owned(), "true".to_owned()));
        }
        entries
    }

    fn view_entries(&self) -> Vec<KeyValue> {
        let mut entries = Vec::new();
        for (name, pairs) in [("links", &self.view.links), ("springs", &self.view.springs)] {
            if !pairs.is_empty() {
                let pairs = pairs.iter().map(|(a, b)| list([point(a), point(b)].into_iter()));
                entries.push((name.to_owned(), list(pairs)));
            }
        }
        if !self.view.traces.is_empty() {
            entries.push(("traces".to_owned(), list(self.view.traces.iter().map(point))));
        }
        let circle = |c: &Circle| {
            let axis = c.axis.iter().map(|(axis, _)| formulas(axis));
            list([point(&c.at), formula(&c.radius)].into_iter().chain(axis))
        };
        if !self.view.circles.is_empty() {
            entries.push(("circles".to_owned(), list(self.view.circles.iter().map(circle))));
        }
        if !self.view.polygons.is_empty() {
            let polygon = |(corners, _): &(Vec<Point>, At)| list(corners.iter().map(point));
            entries.push(("polygons".to_owned(), list(self.view.polygons.iter().map(polygon))));
        }
        if !self.view.hide.is_empty() {
            entries.push(("hide".to_owned(), list(self.view.hide.iter().map(|w| quoted(&w.text)))));
        }
        if let Some((range, _)) = &self.view.range {
            entries.push(("range".to_owned(), formulas(range)));
        }
        entries
    }
}

/// A key and its value, both as written.
type KeyValue = (String, String);

#[derive(Default)]
struct ModelText {
    text: String,
}

impl ModelText {
    /// A table, unless it is empty.
    fn table(&mut self, header: &str, entries: Vec<KeyValue>) {
        if !entries.is_empty() {
            self.always(header, entries);
        }
    }

    fn always(&mut self, header: &str, entries: Vec<KeyValue>) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        if !header.is_empty() {
            _ = writeln!(self.text, "{header}");
        }
        let width = entries.iter().map(|(key, _)| key.chars().count()).max().unwrap_or(0);
        for (key, value) in entries {
            _ = writeln!(self.text, "{key:width$} = {value}");
        }
    }
}

fn header(kind: &str, name: &Word) -> String {
    format!("[{kind}.{}]", key(&name.text))
}

/// A name as a key: bare where TOML allows it.
fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if bare { name.to_owned() } else { quoted(name) }
}

fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => _ = write!(out, "\\u{:04X}", u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A formula: line breaks and tabs are blanks to it, and as escapes they would look like a mistaken `\theta`.
fn formula(formula: &Formula) -> String {
    match formula.kind {
        FormulaKind::Number => formula.text.clone(),
        _ => quoted(&formula.text.replace("\r\n", " ").replace(['\n', '\r', '\t'], " ")),
    }
}

fn assignment((name, value): &Assignment) -> KeyValue {
    (key(&name.text), formula(value))
}

fn assignments(list: &[Assignment]) -> Vec<KeyValue> {
    list.iter().filter(|(_, value)| value.kind != FormulaKind::Broken).map(assignment).collect()
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

fn formulas(items: &[Formula]) -> String {
    list(items.iter().map(formula))
}

fn inline(entries: &[Assignment]) -> String {
    braces(assignments(entries))
}

fn braces(entries: Vec<KeyValue>) -> String {
    if entries.is_empty() {
        return "{}".to_owned();
    }
    let entries: Vec<String> = entries.into_iter().map(|(key, value)| format!("{key} = {value}")).collect();
    format!("{{ {} }}", entries.join(", "))
}

fn point(point: &Point) -> String {
    match point {
        Point::Named(word) => quoted(&word.text),
        Point::Formulas(components, _) => formulas(components),
    }
}

fn input(input: &Input) -> Option<KeyValue> {
    let value = match &input.signal {
        SignalSource::Formula(value) => formula(value),
        SignalSource::Table { file, column, time, interpolate } => {
            let keys = [("file", Some(file)), ("column", column.as_ref()), ("time", time.as_ref())];
            let keys = keys.into_iter().chain([("interpolate", interpolate.as_ref())]);
            braces(keys.filter_map(|(key, word)| Some((key.to_owned(), quoted(&word?.text)))).collect())
        }
        SignalSource::Broken => return None,
    };
    Some((key(&input.name.text), value))
}

/// Those of these keys that have a value.
fn given<const N: usize>(entries: [(&str, Option<String>); N]) -> Vec<KeyValue> {
    entries.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

fn entries(body: &Body) -> Vec<KeyValue> {
    let inertia = body.inertia.as_ref().map(|(list, _)| match &list[..] {
        [single] => formula(single),
        several => formulas(several),
    });
    given([
        ("mass", body.mass.as_ref().map(formula)),
        ("at", body.at.as_deref().map(formulas)),
        ("inertia", inertia),
        ("angle", body.angle.as_ref().map(formula)),
        ("spin", body.spin.as_ref().map(|(list, _)| formulas(list))),
        ("radius", body.radius.as_ref().map(|(radius, _)| formula(radius))),
        ("polygon", body.polygon.as_ref().map(|(corners, _)| list(corners.iter().map(|c| formulas(c))))),
        ("box", body.sides.as_ref().map(|(sides, _)| formulas(sides))),
        ("orientation", body.orientation.as_ref().map(|(list, _)| formulas(list))),
    ])
}

fn force_entries(force: &Force) -> Vec<KeyValue> {
    given([
        ("at", force.at.as_deref().map(formulas)),
        ("vector", force.vector.as_ref().map(|(list, _)| formulas(list))),
        ("generalized", force.generalized.as_deref().map(inline)),
    ])
}

fn wall_entries(wall: &Wall) -> Vec<KeyValue> {
    given([
        ("gap", wall.gap.as_ref().map(formula)),
        ("restitution", wall.restitution.as_ref().map(formula)),
        ("draw", wall.draw.as_ref().map(formula)),
    ])
}

fn event_entries(event: &Event) -> Vec<KeyValue> {
    given([
        ("when", event.when.as_ref().map(formula)),
        ("direction", event.direction.as_ref().map(|w| quoted(&w.text))),
        ("action", event.action.as_ref().map(|w| quoted(&w.text))),
        ("only_if", event.only_if.as_ref().map(formula)),
        ("set", event.set.as_deref().map(inline)),
    ])
}
