//! What kind of value stands where: formulas, text, lists, points.

use super::reader::{DraftReader, at, broken, word};
use super::tree::{TomlTable, TomlValue};
use super::{Assignment, At, Circle, Formula, FormulaKind, Point, Word};

impl DraftReader {
    pub fn formula(&mut self, value: &TomlValue) -> Formula {
        let place = at(value.range());
        let (text, kind) = match value {
            TomlValue::String(text, _) => (text.clone(), FormulaKind::Text),
            TomlValue::Number(text, _) => (text.clone(), FormulaKind::Number),
            TomlValue::Broken(_) => (String::new(), FormulaKind::Broken),
            other => {
                let message = format!("a number or a formula should stand here, not {}", other.kind());
                self.error(other.range(), message, "write 1.0 or \"2*m\"");
                (String::new(), FormulaKind::Broken)
            }
        };
        Formula { text, at: place, kind }
    }

    pub fn text(&mut self, value: &TomlValue, sample: &str) -> Option<Word> {
        match value {
            TomlValue::String(text, range) => Some(Word { text: text.clone(), at: at(range.clone()) }),
            TomlValue::Broken(_) => None,
            other => {
                let message = format!("text should stand here, not {}", other.kind());
                self.error(other.range(), message, format!("write {sample}"));
                None
            }
        }
    }

    pub fn names(&mut self, value: &TomlValue, sample: &str) -> Option<Vec<Word>> {
        match value {
            TomlValue::Array(items, _) => {
                let mut names = Vec::new();
                for item in items {
                    names.extend(self.text(item, sample));
                }
                Some(names)
            }
            TomlValue::Broken(_) => None,
            other => {
                let message = format!("a list of names should stand here, not {}", other.kind());
                self.error(other.range(), message, format!("write {sample}"));
                None
            }
        }
    }

    pub fn list(&mut self, value: &TomlValue, sample: &str) -> Option<Vec<Formula>> {
        match value {
            TomlValue::Array(items, _) => Some(items.iter().map(|item| self.formula(item)).collect()),
            TomlValue::Broken(_) => None,
            other => {
                let message = format!("a list should stand here, not {}", other.kind());
                self.error(other.range(), message, format!("write {sample}"));
                None
            }
        }
    }

    /// A table of names of the author's own.
    pub fn assignments(&mut self, table: &TomlTable, name: &str) -> Vec<Assignment> {
        let mut out = Vec::new();
        for (key, value) in &table.entries {
            if self.misplaced(key, value) {
                continue;
            }
            if let TomlValue::Table(inner) = value {
                if let (false, Some((first, _))) = (key.text.is_empty(), inner.entries.first()) {
                    let message = format!("`{}.{}` is not a name", key.text, first.text);
                    let hint = format!("write {}_{}", key.text, first.text);
                    self.error(key.range.start..first.range.end.max(key.range.end), message, hint);
                } else {
                    let message = format!("a formula should stand here, not {}", value.kind());
                    self.error(value.range(), message, format!("[{name}] {} = \"…\"", key.text));
                }
                out.push((word(key), broken(at(key.range.clone()))));
                continue;
            }
            out.push((word(key), self.formula(value)));
        }
        out
    }

    /// `{ x = 1.0, y = "2*a" }`
    pub fn inline(&mut self, value: &TomlValue, sample: &str) -> Vec<Assignment> {
        match value {
            TomlValue::Table(table) => {
                table.entries.iter().map(|(key, value)| (word(key), self.formula(value))).collect()
            }
            TomlValue::Broken(_) => Vec::new(),
            other => {
                let message = format!("a table {{ … }} should stand here, not {}", other.kind());
                self.error(other.range(), message, format!("write {sample}"));
                Vec::new()
            }
        }
    }

    pub fn pairs(&mut self, value: &TomlValue) -> Vec<(Point, Point)> {
        let sample = "write links = [[\"origin\", \"bob\"]]";
        let items = match value {
            TomlValue::Array(items, _) => items,
            TomlValue::Broken(_) => return Vec::new(),
            other => {
                self.error(other.range(), "a list of pairs of points should stand here", sample);
                return Vec::new();
            }
        };
        let mut pairs = Vec::new();
        for item in items {
            match item {
                TomlValue::Array(ends, _) if ends.len() == 2 => {
                    let (a, b) = (self.point(&ends[0]), self.point(&ends[1]));
                    pairs.extend(a.zip(b));
                }
                TomlValue::Broken(_) => {}
                other => self.error(other.range(), "a pair of points should stand here", sample),
            }
        }
        pairs
    }

    /// The items of a list; an error says what to write instead.
    fn items<'v>(&mut self, value: &'v TomlValue, what: &str, sample: &str) -> &'v [TomlValue] {
        match value {
            TomlValue::Array(items, _) => items,
            TomlValue::Broken(_) => &[],
            other => {
                self.error(
                    other.range(),
                    format!("{what} should stand here, not {}", other.kind()),
                    format!("write {sample}"),
                );
                &[]
            }
        }
    }

    /// The corners of a body.
    pub fn corners(&mut self, value: &TomlValue) -> Option<(Vec<Vec<Formula>>, At)> {
        let sample = "polygon = [[\"-a\", \"-b\"], [\"a\", \"-b\"], [\"0\", \"b\"]]";
        let items = self.items(value, "a list of corners", sample);
        let corners: Option<Vec<Vec<Formula>>> = items.iter().map(|item| self.list(item, sample)).collect();
        corners.filter(|c| !c.is_empty()).map(|corners| (corners, at(value.range())))
    }

    /// `[[point, radius], [point, radius, axis]]`
    pub fn circles(&mut self, value: &TomlValue) -> Vec<Circle> {
        let sample = "circles = [[\"origin\", \"R\"]]";
        let mut circles = Vec::new();
        for item in self.items(value, "a list of circles", sample) {
            match item {
                TomlValue::Array(parts, _) if (2..=3).contains(&parts.len()) => {
                    let centre = self.point(&parts[0]);
                    let radius = self.formula(&parts[1]);
                    let axis = parts.get(2).and_then(|axis| {
                        let list = self.list(axis, "an axis as [\"0\", \"0\", \"1\"]")?;
                        Some((list, at(axis.range())))
                    });
                    circles.extend(centre.map(|centre| Circle { at: centre, radius, axis }));
                }
                TomlValue::Broken(_) => {}
                other => {
                    let message = "a circle is a point and a radius, in space also an axis";
                    self.error(other.range(), message, format!("write {sample}"));
                }
            }
        }
        circles
    }

    /// `[[point, point, point], …]`
    pub fn polygons(&mut self, value: &TomlValue) -> Vec<(Vec<Point>, At)> {
        let sample = "polygons = [[\"origin\", [\"x\", \"0\"], [\"x\", \"y\"]]]";
        let mut polygons = Vec::new();
        for item in self.items(value, "a list of polygons", sample) {
            match item {
                TomlValue::Array(corners, range) => {
                    let points: Vec<Point> = corners.iter().filter_map(|p| self.point(p)).collect();
                    polygons.push((points, at(range.clone())));
                }
                TomlValue::Broken(_) => {}
                other => {
                    self.error(other.range(), "a polygon is a list of points", format!("write {sample}"))
                }
            }
        }
        polygons
    }

    pub fn point(&mut self, value: &TomlValue) -> Option<Point> {
        match value {
            TomlValue::String(text, range) => {
                Some(Point::Named(Word { text: text.clone(), at: at(range.clone()) }))
            }
            TomlValue::Array(_, range) => {
                self.list(value, "").map(|list| Point::Formulas(list, at(range.clone())))
            }
            TomlValue::Broken(_) => None,
            other => {
                let hint = "write \"origin\", a body's name, or [\"x\", \"y\"]";
                self.error(other.range(), "a point should stand here", hint);
                None
            }
        }
    }
}
