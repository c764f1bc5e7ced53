//! Motions as tables: one row per sample, and one row per thing that happened.
//!
//! ```text
//! samples       time, x …, x' …, p_x …, hamiltonian, energy, mu.ROW …, f.WALL …, drive.COORDINATE …, gap.WALL …, OUTPUT …
//! occurrences   kind, time, until, name, x …, x' …, x'.before …, hamiltonian_before, hamiltonian_after, impulse.WALL …, …
//! ```
//!
//! A [`Table`] knows nothing of mechanics; [`csv`], [`npz`] and `parquet` (with the feature `tables`) write any of
//! them (a sweep's too).
//! Promise: every finite number reads back to the same double, columns come in model order, and the same motion gives the
//! same bytes. A value that does not exist (the impulse of a wall that was not hit) is NaN here: empty in csv, null in
//! parquet and JSON, NaN in npz.

mod csv;
mod json;
mod npz;
#[cfg(feature = "tables")]
mod parquet;
mod read;

pub use csv::{csv, csv_header, csv_rows};
pub use json::json;
pub(crate) use json::{number, string};
pub use npz::{ArrayHeader, NpzArchive, npz};
#[cfg(feature = "tables")]
pub use parquet::{ParquetWriter, parquet};
pub use read::{Misread, read_npz};
#[cfg(feature = "tables")]
pub use read::{read_own_parquet, read_parquet, stamp_of_parquet};

use crate::provenance::Stamp;
use carom_mech::{Coordinate, Model};
use carom_run::{Motion, Signal};

/// Columns of equal length.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Table {
    /// In the order they are written.
    pub columns: Vec<Column>,
    /// Where it comes from (see [`crate::provenance`]); what is read from a file has none.
    pub stamp: Option<Stamp>,
}

/// A named column.
#[derive(Clone, PartialEq, Debug)]
pub struct Column {
    /// Unique within its table.
    pub name: String,
    /// One value per row.
    pub values: ColumnValues,
}

/// The values of a column.
#[derive(Clone, PartialEq, Debug)]
pub enum ColumnValues {
    /// Doubles; NaN where there is no value.
    Numbers(Vec<f64>),
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Texts; empty where there is no value.
    Texts(Vec<String>),
}

impl ColumnValues {
    /// How many.
    pub fn len(&self) -> usize {
        match self {
            ColumnValues::Numbers(v) => v.len(),
            ColumnValues::Integers(v) => v.len(),
            ColumnValues::Texts(v) => v.len(),
        }
    }

    /// The most characters one of these texts has; 0 for numbers.
    pub fn characters(&self) -> usize {
        match self {
            ColumnValues::Texts(v) => v.iter().map(|s| s.chars().count()).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// Forgets all values, but not their kind.
    pub fn clear(&mut self) {
        match self {
            ColumnValues::Numbers(v) => v.clear(),
            ColumnValues::Integers(v) => v.clear(),
            ColumnValues::Texts(v) => v.clear(),
        }
    }

    /// No values at all?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Table {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |c| c.values.len())
    }

    /// Appends a column of numbers. A name already taken gets `kind.` in front (an output called `energy` becomes
    /// `output.energy`), so names stay unique.
    pub fn numbers(&mut self, kind: &str, name: &str, values: Vec<f64>) {
        let name = self.free_name(kind, name);
        self.columns.push(Column { name, values: ColumnValues::Numbers(values) });
    }

    /// Appends a column of whole numbers; names as in [`Table::numbers`].
    pub fn integers(&mut self, kind: &str, name: &str, values: Vec<i64>) {
        let name = self.free_name(kind, name);
        self.columns.push(Column { name, values: ColumnValues::Integers(values) });
    }

    /// Appends a column of texts; names as in [`Table::numbers`].
    pub fn texts(&mut self, kind: &str, name: &str, values: Vec<String>) {
        let name = self.free_name(kind, name);
        self.columns.push(Column { name, values: ColumnValues::Texts(values) });
    }

    /// Appends the rows of a table with the same columns; to a table without columns, everything of it.
    ///
    /// # Errors
    /// A sentence, if its columns are others.
    pub fn append(&mut self, other: Table) -> Result<(), String> {
        if self.columns.is_empty() {
            *self = other;
            return Ok(());
        }
        let names = |table: &Table| table.columns.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
        if names(self) != names(&other) {
            return Err("its columns are not those of the table before it".to_owned());
        }
        for (mine, theirs) in self.columns.iter_mut().zip(other.columns) {
            match (&mut mine.values, theirs.values) {
                (ColumnValues::Numbers(a), ColumnValues::Numbers(b)) => a.extend(b),
                (ColumnValues::Integers(a), ColumnValues::Integers(b)) => a.extend(b),
                (ColumnValues::Texts(a), ColumnValues::Texts(b)) => a.extend(b),
                _ => return Err(format!("its column `{}` holds values of another kind", mine.name)),
            }
        }
        Ok(())
    }

    /// Keeps the first `rows` rows and returns the others as a table of their own.
    pub fn split_off(&mut self, rows: usize) -> Table {
        let columns = self.columns.iter_mut().map(|column| {
            let at = rows.min(column.values.len());
            let values = match &mut column.values {
                ColumnValues::Numbers(v) => ColumnValues::Numbers(v.split_off(at)),
                ColumnValues::Integers(v) => ColumnValues::Integers(v.split_off(at)),
                ColumnValues::Texts(v) => ColumnValues::Texts(v.split_off(at)),
            };
            Column { name: column.name.clone(), values }
        });
        Table { columns: columns.collect(), stamp: self.stamp.clone() }
    }

    fn free_name(&self, kind: &str, name: &str) -> String {
        let mut candidate = name.to_string();
        while self.columns.iter().any(|c| c.name == candidate) {
            candidate = format!("{kind}.{candidate}");
        }
        candidate
    }
}

/// Name of a coordinate's momentum as a column or a signal: the one `momenta` gives, else `p_x`.
pub fn momentum_column(coordinate: &Coordinate) -> String {
    if coordinate.momentum_name == coordinate.name {
        format!("p_{}", coordinate.name)
    } else {
        coordinate.momentum_name.clone()
    }
}

/// The sampled quantities of a motion, one row per sample time.
pub fn samples(motion: &Motion, model: &Model) -> Table {
    let mut table = Table { stamp: Some(Stamp::of_motion(motion)), ..Table::default() };
    let each = |table: &mut Table, kind: &str, prefix: &str, suffix: &str, signals: &[Signal]| {
        for s in signals {
            table.numbers(kind, &format!("{prefix}{}{suffix}", s.name), s.values.clone());
        }
    };
    table.numbers("time", "time", motion.time.clone());
    each(&mut table, "position", "", "", &motion.position);
    each(&mut table, "velocity", "", "'", &motion.velocity);
    for (i, s) in motion.momentum.iter().enumerate() {
        let name = model.coordinates.get(i).map_or_else(|| format!("p_{}", s.name), momentum_column);
        table.numbers("momentum", &name, s.values.clone());
    }
    table.numbers("motion", "hamiltonian", motion.hamiltonian.clone());
    table.numbers("motion", "energy", motion.energy.clone());
    each(&mut table, "multiplier", "mu.", "", &motion.multiplier);
    each(&mut table, "contact", "f.", "", &motion.contact_force);
    each(&mut table, "driving", "drive.", "", &motion.driving_force);
    each(&mut table, "gap", "gap.", "", &motion.gap);
    each(&mut table, "output", "", "", &motion.output);
    table
}

/// Impacts, contacts, grazes and events, one row each, by time (at one time in this order).
///
/// `kind` is `impact`, `contact`, `graze` or `event`; `name` the walls (joined by `+`) or the event; `until` the end of a
/// contact (missing while it lasts). Velocities `x'` are those after; `x'.before` those before an impact.
pub fn occurrences(motion: &Motion, model: &Model) -> Table {
    let rows = ordered(motion);
    let wall = |i: usize| model.walls.get(i).map_or_else(|| format!("wall {i}"), |w| w.name.clone());
    let numbers = |f: &dyn Fn(&EventRow<'_>) -> Option<f64>| -> Vec<f64> {
        rows.iter().map(|row| f(row).unwrap_or(f64::NAN)).collect()
    };
    let impact = |f: &dyn Fn(&carom_run::Impact) -> Option<f64>| -> Vec<f64> {
        numbers(&|row| if let EventRow::Impact(i) = row { f(i) } else { None })
    };
    let contact = |f: &dyn Fn(&carom_run::Contact) -> Option<f64>| -> Vec<f64> {
        numbers(&|row| if let EventRow::Contact(c) = row { f(c) } else { None })
    };

    let mut table = Table { stamp: Some(Stamp::of_motion(motion)), ..Table::default() };
    table.texts("", "kind", rows.iter().map(|r| r.kind().to_string()).collect());
    table.numbers("", "time", rows.iter().map(EventRow::time).collect());
    table.numbers("", "until", contact(&|c| c.to));
    let name = |row: &EventRow<'_>| match row {
        EventRow::Impact(i) => i.walls.iter().map(|&w| wall(w)).collect::<Vec<_>>().join("+"),
        EventRow::Contact(c) => wall(c.wall),
        EventRow::Graze(g) => wall(g.wall),
        EventRow::Event(e) => model.events.get(e.event).map_or_else(String::new, |m| m.name.clone()),
    };
    table.texts("", "name", rows.iter().map(name).collect());
    for (k, c) in model.coordinates.iter().enumerate() {
        let position = numbers(&|row| match row {
            EventRow::Impact(i) => i.position.get(k).copied(),
            EventRow::Event(e) => e.position.get(k).copied(),
            _ => None,
        });
        table.numbers("position", &c.name, position);
    }
    for (k, c) in model.coordinates.iter().enumerate() {
        let velocity = numbers(&|row| match row {
            EventRow::Impact(i) => i.velocity_after.get(k).copied(),
            EventRow::Event(e) => e.velocity.get(k).copied(),
            _ => None,
        });
        table.numbers("velocity", &format!("{}'", c.name), velocity);
    }
    for (k, c) in model.coordinates.iter().enumerate() {
        let before = impact(&|i| i.velocity_before.get(k).copied());
        table.numbers("velocity", &format!("{}'.before", c.name), before);
    }
    table.numbers("impact", "hamiltonian_before", impact(&|i| Some(i.hamiltonian_before)));
    table.numbers("impact", "hamiltonian_after", impact(&|i| Some(i.hamiltonian_after)));
    for (w, m) in model.walls.iter().enumerate() {
        let of_wall = |i: &carom_run::Impact, values: &[f64]| -> Option<f64> {
            values.get(i.walls.iter().position(|&x| x == w)?).copied()
        };
        table.numbers("wall", &format!("impulse.{}", m.name), impact(&|i| of_wall(i, &i.impulse)));
        let before = impact(&|i| of_wall(i, &i.gap_rate_before));
        table.numbers("wall", &format!("gap_rate_before.{}", m.name), before);
        let after = impact(&|i| of_wall(i, &i.gap_rate_after));
        table.numbers("wall", &format!("gap_rate_after.{}", m.name), after);
    }
    for (r, row) in model.rows.iter().enumerate() {
        let impulse = impact(&|i| i.reaction_impulse.get(r).copied());
        table.numbers("row", &format!("reaction_impulse.{}", row.name), impulse);
    }
    for (d, c) in model.coordinates.iter().filter(|c| c.driven.is_some()).enumerate() {
        let impulse = impact(&|i| i.driving_impulse.get(d).copied());
        table.numbers("drive", &format!("driving_impulse.{}", c.name), impulse);
    }
    table.numbers("contact", "zeno", contact(&|c| Some(f64::from(u8::from(c.zeno)))));
    table.numbers("contact", "force_at_start", contact(&|c| Some(c.force_at_start)));
    table
}

enum EventRow<'a> {
    Impact(&'a carom_run::Impact),
    Contact(&'a carom_run::Contact),
    Graze(&'a carom_run::Graze),
    Event(&'a carom_run::EventRecord),
}

impl EventRow<'_> {
    fn time(&self) -> f64 {
        match self {
            EventRow::Impact(i) => i.time,
            EventRow::Contact(c) => c.from,
            EventRow::Graze(g) => g.time,
            EventRow::Event(e) => e.time,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            EventRow::Impact(_) => "impact",
            EventRow::Contact(_) => "contact",
            EventRow::Graze(_) => "graze",
            EventRow::Event(_) => "event",
        }
    }
}

fn ordered(motion: &Motion) -> Vec<EventRow<'_>> {
    let mut rows: Vec<EventRow<'_>> = Vec::new();
    rows.extend(motion.impacts.iter().map(EventRow::Impact));
    rows.extend(motion.contacts.iter().map(EventRow::Contact));
    rows.extend(motion.grazes.iter().map(EventRow::Graze));
    rows.extend(motion.events.iter().map(EventRow::Event));
    rows.sort_by(|a, b| a.time().total_cmp(&b.time()));
    rows
}
