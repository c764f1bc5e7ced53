//! Tree → draft: which tables and keys exist, and what kind of value each takes.
//!
//! Promise: every key of the file is either understood or reported, once.

use super::tree::{self, Key, TomlTable, TomlValue};
use super::{At, Body, Draft, Event, Force, Formula, FormulaKind, Input, SignalSource, Wall, Word};
use crate::diagnostic::{Diagnostic, Source};
use crate::schema;
use carom_expr::nearest;
use std::ops::Range;
use std::path::Path;

/// Reads the model file.
pub(super) fn read(source: Source, file_name: &str) -> (Draft, Vec<Diagnostic>) {
    let (root, problems) = tree::read(&source);
    let folder = Path::new(file_name).parent().map(Path::to_path_buf).unwrap_or_default();
    let draft = Draft { file: file_name.to_owned(), folder, ..Draft::default() };
    let mut reader = DraftReader { source, draft, problems, has_physics: false, has_name: false };
    reader.root(&root);
    let DraftReader { source, mut draft, mut problems, .. } = reader;
    draft.broken = problems.iter().any(Diagnostic::is_error);
    draft.sources.push(source);
    crate::diagnostic::tidy(&mut problems);
    (draft, problems)
}

pub(super) struct DraftReader {
    source: Source,
    draft: Draft,
    problems: Vec<Diagnostic>,
    /// The file says somewhere how the physics is given, so `lagrangian` in a table may be a name of the author's.
    has_physics: bool,
    has_name: bool,
}

pub(super) fn at(range: Range<usize>) -> At {
    At { source: 0, start: range.start, end: range.end }
}

pub(super) fn word(key: &Key) -> Word {
    Word { text: key.text.clone(), at: at(key.range.clone()) }
}

impl DraftReader {
    pub fn error(&mut self, range: Range<usize>, message: impl Into<String>, hint: impl Into<String>) {
        let place = self.source.place(range);
        self.problems.push(Diagnostic::error(message).at(place).with_hint(hint));
    }

    fn root(&mut self, root: &TomlTable) {
        self.has_name = root.get("name").is_some();
        self.has_physics =
            ["lagrangian", "hamiltonian", "energy", "body"].iter().any(|key| root.get(key).is_some());
        for (key, value) in &root.entries {
            let name = key.text.as_str();
            match (name, value) {
                (_, TomlValue::Table(table)) if schema::tables().contains(&name) => self.table(key, table),
                (_, TomlValue::Broken(_)) if schema::tables().contains(&name) => {}
                _ if schema::keys("").any(|k| k == name) => self.top(key, value),
                _ if schema::tables().contains(&name) => {
                    self.error(key.range.clone(), format!("`{name}` is a table"), example(name));
                }
                (_, TomlValue::Broken(_)) => {} // the mistake in the line is told
                (_, TomlValue::Table(table)) => self.unknown_table(root, key, table),
                _ => self.unknown_top(root, key, value),
            }
        }
    }

    fn unknown_table(&mut self, root: &TomlTable, key: &Key, table: &TomlTable) {
        let name = &key.text;
        let alias = match name.as_str() {
            "constraints" | "constraint" => Some("holonomic"),
            "walls" | "contact" | "contacts" => Some("wall"),
            "initial" | "initial_conditions" | "init" => Some("start"),
            "params" | "constants" => Some("parameters"),
            "definitions" | "variables" | "let" => Some("define"),
            "simulation" | "simulate" | "solver" | "options" => Some("run"),
            "inputs" => Some("input"),
            "outputs" => Some("output"),
            "driver" | "prescribed" => Some("driven"),
            _ => None,
        };
        let meant = alias.or_else(|| nearest(name, schema::tables()));
        let hint = match meant {
            Some(meant) => format!("did you mean [{}]?", shown(meant)),
            None if schema::keys("").any(|k| k == name) => {
                format!("`{name}` is a key: write {name} = … above the first [table]")
            }
            None => format!("tables are [{}]", schema::tables().join("], [")),
        };
        self.error(key.range.clone(), format!("unknown table [{name}]"), hint);
        // Read as what it was probably meant to be, so that what it contains is not missed.
        if let Some(meant) = meant.filter(|meant| root.get(meant).is_none()) {
            self.table(&Key { text: meant.to_owned(), range: key.range.clone() }, table);
        }
    }

    fn unknown_top(&mut self, root: &TomlTable, key: &Key, value: &TomlValue) {
        let name = &key.text;
        // A key whose table was forgotten.
        let home = schema::schema().iter().find(|e| e.key == name && !["", "input.*"].contains(&e.table));
        let hint = match (nearest(name, schema::keys("")), home) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, Some(entry)) => format!("it belongs into [{}]", shown(entry.table.trim_end_matches(".*"))),
            (None, None) => match nearest(name, schema::tables()) {
                Some(table) => format!("did you mean the table [{}]?", shown(table)),
                None => {
                    let keys: Vec<&str> = schema::keys("").collect();
                    format!(
                        "keys before the first table are {}; numbers go into [parameters]",
                        keys.join(", ")
                    )
                }
            },
        };
        self.error(key.range.clone(), format!("unknown key `{name}`"), hint);
        if let Some(meant) = nearest(name, schema::keys("")).filter(|meant| root.get(meant).is_none()) {
            self.top(&Key { text: meant.to_owned(), range: key.range.clone() }, value);
        }
    }

    fn top(&mut self, key: &Key, value: &TomlValue) {
        match key.text.as_str() {
            "name" => self.draft.name = self.text(value, "name = \"My model\"").map(|w| w.text),
            "coordinates" => {
                if let Some(names) = self.names(value, "coordinates = [\"x\", \"y\"]") {
                    self.draft.coordinates = names;
                }
            }
            "momenta" => {
                let names = self.names(value, "momenta = [\"p_x\", \"p_y\"]");
                self.draft.momenta = names.map(|names| (names, at(value.range())));
            }
            "gravity" => {
                let list = self.list(value, "gravity = [0.0, \"-g\"]");
                self.draft.gravity = list.map(|list| (list, at(value.range())));
            }
            "lagrangian" => self.draft.lagrangian = Some((word(key), self.formula(value))),
            _ => self.draft.hamiltonian = Some((word(key), self.formula(value))),
        }
    }

    fn table(&mut self, key: &Key, table: &TomlTable) {
        match key.text.as_str() {
            "parameters" => self.draft.parameters = self.assignments(table, "parameters"),
            "define" => self.draft.definitions = self.assignments(table, "define"),
            "holonomic" => self.draft.holonomic = self.assignments(table, "holonomic"),
            "nonholonomic" => self.draft.nonholonomic = self.assignments(table, "nonholonomic"),
            "driven" => self.draft.driven = self.assignments(table, "driven"),
            "output" => self.draft.outputs = self.assignments(table, "output"),
            "input" => self.inputs(table),
            "units" => {
                for (key, value) in &table.entries {
                    if !self.misplaced(key, value)
                        && let Some(unit) = self.text(value, "theta = \"rad\"")
                    {
                        self.draft.units.push((word(key), unit));
                    }
                }
            }
            "energy" => self.energy(key, table),
            "start" => self.start(table),
            "run" => self.run(table),
            "view" => self.view(table),
            "wall" | "force" | "body" | "event" => self.labelled(key, table),
            _ => {}
        }
    }

    fn labelled(&mut self, kind: &Key, table: &TomlTable) {
        let keys = format!("{}.*", kind.text);
        let known = |key: &Key| schema::keys(&keys).any(|k| k == key.text);
        // Entries that stand in the table itself, for want of a label.
        let mut bare = TomlTable::default();
        for (key, value) in &table.entries {
            match value {
                TomlValue::Table(inner) if !known(key) || inner.entries.iter().any(|(k, _)| known(k)) => {
                    self.element(kind, key, inner);
                }
                TomlValue::Broken(_) => {}
                _ if self.misplaced(key, value) => {}
                _ => bare.entries.push((key.clone(), value.clone())),
            }
        }
        let write = format!("write [{}.{}]", kind.text, sample_label(&kind.text));
        let Some((first, _)) = bare.entries.iter().find(|(key, _)| known(key)) else {
            for (key, _) in &bare.entries {
                self.error(key.range.clone(), format!("unknown key `{}`", key.text), write.clone());
            }
            return;
        };
        let article = if kind.text.starts_with('e') { "an" } else { "a" };
        self.error(first.range.clone(), format!("{article} {} needs a name", kind.text), write);
        // Read as if it had one, so that everything else in it is reported as well.
        self.element(kind, kind, &bare);
    }

    fn element(&mut self, kind: &Key, name: &Key, table: &TomlTable) {
        match kind.text.as_str() {
            "wall" => self.wall(name, table),
            "force" => self.force(name, table),
            "body" => self.body(name, table),
            _ => self.event(name, table),
        }
    }

    /// Reports a key that a table does not have.
    fn unknown(&mut self, table: &str, key: &Key, value: &TomlValue) {
        if self.misplaced(key, value) {
            return;
        }
        let shown_table = table.trim_end_matches(".*");
        let keys: Vec<&str> = schema::keys(table).collect();
        let alias = match (table, key.text.as_str()) {
            ("wall.*", "e" | "restitution_coefficient" | "bounce") => Some("restitution"),
            ("wall.*", "phi" | "distance" | "function") => Some("gap"),
            ("run", "end" | "t_end" | "tend" | "stop" | "time" | "duration" | "to") => Some("until"),
            ("run", "start" | "t0" | "begin") => Some("from"),
            ("run", "dt" | "h") => Some("step"),
            ("run", "tol" | "rtol" | "atol" | "accuracy") => Some("tolerance"),
            ("run", "solver" | "integrator") => Some("method"),
            ("body.*" | "force.*", "position" | "point" | "where") => Some("at"),
            ("force.*", "force" | "value") => Some("vector"),
            ("start", "positions" | "q") => Some("position"),
            ("start", "velocities" | "v") => Some("velocity"),
            ("start", "momenta" | "p") => Some("momentum"),
            ("energy", "T") => Some("kinetic"),
            ("energy", "V" | "U") => Some("potential"),
            ("energy", "rayleigh" | "R") => Some("dissipation"),
            _ => None,
        };
        let hint = match alias.or_else(|| nearest(&key.text, keys.iter().copied())) {
            Some(near) => format!("did you mean `{near}`?"),
            None if table == "start" => {
                format!("write position = {{ {} = … }} or velocity = {{ {0} = … }}", key.text)
            }
            None => format!("keys of [{shown_table}] are {}", keys.join(", ")),
        };
        self.error(key.range.clone(), format!("unknown key `{}` in [{shown_table}]", key.text), hint);
    }

    /// Is this a key of the top of the file that fell into a table? Reports it.
    pub fn misplaced(&mut self, key: &Key, value: &TomlValue) -> bool {
        let array = matches!(value, TomlValue::Array(..));
        let string = matches!(value, TomlValue::String(..));
        let misplaced = match key.text.as_str() {
            "coordinates" | "momenta" | "gravity" => array,
            "name" => string && !self.has_name,
            "lagrangian" | "hamiltonian" => string && !self.has_physics,
            _ => false,
        };
        if !misplaced {
            return false;
        }
        // Used as if it stood in its place, so that what depends on it is not reported as well.
        self.top(key, value);
        let message = format!("`{}` stands inside a table", key.text);
        self.error(key.range.clone(), message, "move it above the first [table]");
        true
    }

    fn energy(&mut self, key: &Key, table: &TomlTable) {
        let range = if table.range.is_empty() { key.range.clone() } else { table.range.clone() };
        self.draft.energy = Some(at(range));
        for (key, value) in &table.entries {
            match key.text.as_str() {
                "kinetic" => self.draft.kinetic = Some((word(key), self.formula(value))),
                "potential" => self.draft.potential = Some((word(key), self.formula(value))),
                "dissipation" => self.draft.dissipation = Some((word(key), self.formula(value))),
                _ => self.unknown("energy", key, value),
            }
        }
    }

    fn inputs(&mut self, table: &TomlTable) {
        for (key, value) in &table.entries {
            if self.misplaced(key, value) {
                continue;
            }
            let signal = match value {
                TomlValue::Table(inner) => self.table_input(key, inner),
                other => match self.formula(other) {
                    formula if formula.kind == FormulaKind::Broken => SignalSource::Broken,
                    formula => SignalSource::Formula(formula),
                },
            };
            self.draft.inputs.push(Input { name: word(key), signal });
        }
    }

    fn table_input(&mut self, name: &Key, table: &TomlTable) -> SignalSource {
        let sample = "u = { file = \"u.csv\", column = \"u\" }";
        let keys: Vec<&str> = schema::keys("input.*").collect();
        let (mut file, mut column, mut time, mut interpolate) = (None, None, None, None);
        for (key, value) in &table.entries {
            match key.text.as_str() {
                "file" => file = self.text(value, sample),
                "column" => column = self.text(value, sample),
                "time" => time = self.text(value, sample),
                "interpolate" => {
                    interpolate = self.text(value, "u = { file = \"u.csv\", interpolate = \"linear\" }");
                }
                _ => {
                    let alias = ["interpolation", "method", "kind", "interp"].contains(&key.text.as_str());
                    let near =
                        if alias { Some("interpolate") } else { nearest(&key.text, keys.iter().copied()) };
                    let hint = match near {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("keys are {}", keys.join(", ")),
                    };
                    self.error(key.range.clone(), format!("unknown key `{}`", key.text), hint);
                    return SignalSource::Broken;
                }
            }
        }
        match file {
            Some(file) => SignalSource::Table { file, column, time, interpolate },
            None => {
                if table.get("file").is_none() {
                    self.error(
                        name.range.clone(),
                        format!("input `{}` has no file", name.text),
                        format!("write {sample}"),
                    );
                }
                SignalSource::Broken
            }
        }
    }

    fn wall(&mut self, name: &Key, table: &TomlTable) {
        let mut wall =
            Wall { name: word(name), gap: None, restitution: None, draw: None, broken: has_broken(table) };
        for (key, value) in &table.entries {
            match key.text.as_str() {
                "gap" => wall.gap = Some(self.formula(value)),
                "restitution" => wall.restitution = Some(self.formula(value)),
                "draw" => wall.draw = Some(self.formula(value)),
                _ => {
                    wall.broken = true;
                    self.unknown("wall.*", key, value);
                }
            }
        }
        self.draft.walls.push(wall);
    }

    fn force(&mut self, name: &Key, table: &TomlTable) {
        let broken = has_broken(table);
        let mut force = Force { name: word(name), at: None, vector: None, generalized: None, broken };
        for (key, value) in &table.entries {
            match key.text.as_str() {
                "at" => {
                    force.at = self.list(value, "at = [\"x\", \"y\"]");
                    force.broken |= force.at.is_none();
                }
                "vector" => {
                    let list = self.list(value, "vector = [0.0, \"-k*y\"]");
                    force.broken |= list.is_none();
                    force.vector = list.map(|list| (list, at(value.range())));
                }
                "generalized" => {
                    force.generalized = Some(self.inline(value, "generalized = { x = \"-k*x\" }"));
                }
                _ => {
                    force.broken = true;
                    self.unknown("force.*", key, value);
                }
            }
        }
        self.draft.forces.push(force);
    }

    fn body(&mut self, name: &Key, table: &TomlTable) {
        let mut body = Body {
            name: word(name),
            mass: None,
            at: None,
            inertia: None,
            angle: None,
            spin: None,
            radius: None,
            polygon: None,
            sides: None,
            orientation: None,
            broken: has_broken(table),
        };
        for (key, value) in &table.entries {
            match key.text.as_str() {
                "mass" => body.mass = Some(self.formula(value)),
                "at" => {
                    body.at = self.list(value, "at = [\"x\", \"y\"]");
                    body.broken |= body.at.is_none();
                }
                "inertia" => {
                    let list = match value {
                        TomlValue::Array(..) => self.list(value, "").unwrap_or_default(),
                        single => vec![self.formula(single)],
                    };
                    body.inertia = Some((list, at(value.range())));
                }
                "angle" => body.angle = Some(self.formula(value)),
                "spin" => {
                    let list = self.list(value, "spin = [\"w1\", \"w2\", \"w3\"]");
                    body.broken |= list.is_none();
                    body.spin = list.map(|list| (list, at(value.range())));
                }
                "radius" => body.radius = Some((self.formula(value), at(value.range()))),
                "polygon" => body.polygon = self.corners(value),
                "box" => {
                    let list = self.list(value, "box = [\"a\", \"b\"]");
                    body.sides = list.map(|list| (list, at(value.range())));
                }
                "orientation" => {
                    let list = self.list(value, "orientation = [\"q0\", \"q1\", \"q2\", \"q3\"]");
                    body.orientation = list.map(|list| (list, at(value.range())));
                }
                _ => {
                    body.broken = true;
                    self.unknown("body.*", key, value);
                }
            }
        }
        self.draft.bodies.push(body);
    }

    fn event(&mut self, name: &Key, table: &TomlTable) {
        let mut event = Event {
            name: word(name),
            when: None,
            direction: None,
            action: None,
            only_if: None,
            set: None,
            broken: has_broken(table),
        };
        for (key, value) in &table.entries {
            match key.text.as_str() {
                "when" => event.when = Some(self.formula(value)),
                "direction" => event.direction = self.text(value, "direction = \"rising\""),
                "action" => event.action = self.text(value, "action = \"record\""),
                "only_if" => event.only_if = Some(self.formula(value)),
                "set" => event.set = Some(self.inline(value, "set = { \"x'\" = \"-x'\" }")),
                _ => {
                    event.broken = true;
                    self.unknown("event.*", key, value);
                }
            }
        }
        self.draft.events.push(event);
    }

    fn start(&mut self, table: &TomlTable) {
        for (key, value) in &table.entries {
            match key.text.as_str() {
                "position" => self.draft.start.position = self.inline(value, "position = { x = 1.0 }"),
                "velocity" => self.draft.start.velocity = self.inline(value, "velocity = { x = 1.0 }"),
                "momentum" => self.draft.start.momentum = self.inline(value, "momentum = { p_x = 1.0 }"),
                "project" => match value {
                    TomlValue::Boolean(project, _) => self.draft.start.project = *project,
                    TomlValue::Broken(_) => {}
                    other => {
                        let message = format!("true or false should stand here, not {}", other.kind());
                        self.error(other.range(), message, "write project = true");
                    }
                },
                _ => self.unknown("start", key, value),
            }
        }
    }

    fn run(&mut self, table: &TomlTable) {
        for (key, value) in &table.entries {
            if schema::keys("run").any(|k| k == key.text) {
                let formula = self.formula(value);
                self.draft.run.push((word(key), formula));
            } else {
                self.unknown("run", key, value);
            }
        }
    }

    fn view(&mut self, table: &TomlTable) {
        for (key, value) in &table.entries {
            match key.text.as_str() {
                "links" => self.draft.view.links = self.pairs(value),
                "springs" => self.draft.view.springs = self.pairs(value),
                "traces" => {
                    let sample = "write traces = [\"bob\"]";
                    match value {
                        TomlValue::Array(items, _) => {
                            self.draft.view.traces = items.iter().filter_map(|p| self.point(p)).collect();
                        }
                        TomlValue::Broken(_) => {}
                        other => self.error(other.range(), "a list of points should stand here", sample),
                    }
                }
                "circles" => self.draft.view.circles = self.circles(value),
                "polygons" => self.draft.view.polygons = self.polygons(value),
                "hide" => self.draft.view.hide = self.names(value, "hide = [\"bob\"]").unwrap_or_default(),
                "range" => {
                    let list = self.list(value, "range = [-2.0, 2.0, -2.0, 2.0]");
                    self.draft.view.range = list.map(|list| (list, at(value.range())));
                }
                _ => self.unknown("view", key, value),
            }
        }
    }
}

pub(super) fn broken(at: At) -> Formula {
    Formula { text: String::new(), at, kind: FormulaKind::Broken }
}

fn has_broken(table: &TomlTable) -> bool {
    table.entries.iter().any(|(_, value)| matches!(value, TomlValue::Broken(_)))
}

/// A table's name as an author writes it.
fn shown(table: &str) -> String {
    match table {
        "wall" | "force" | "body" | "event" => format!("{table}.{}", sample_label(table)),
        _ => table.to_owned(),
    }
}

fn sample_label(kind: &str) -> &'static str {
    match kind {
        "wall" => "floor",
        "force" => "push",
        "body" => "bob",
        _ => "apex",
    }
}

fn example(table: &str) -> String {
    format!("write [{}] on a line of its own and its entries below", shown(table))
}
