//! From the journal to the table that was asked for, piece by piece: memory does not grow with the number of rows.
//!
//! ```text
//! varied inputs …, stop, time, impacts, x …, x' …, outputs …, event.count, event.first, event.last …, hamiltonian_drift, error, warnings
//! trajectory, time, wall, impulse, x …, x' …                                                      one row per impact
//! trajectory, time, event, x …, x' …                                                              one row per firing
//! ```
//!
//! A final coordinate that was also varied is called `final.x`.

use super::choice::Choice;
use super::journal::JournalReader;
use super::plan::Plan;
use super::record::{JournalEntry, Occurrence, Record};
use crate::failure::Failure;
use crate::output_format::OutputFormat;
use crate::write::{self, Pending};
use carom_mech::Model;
use carom_show::provenance::Stamp;
use carom_show::table::{self, ArrayHeader, Column, ColumnValues, NpzArchive, Table};
use std::io::Write;
use std::path::Path;

/// Rows per piece …
const PIECE: usize = 1 << 13;
/// … and per group of a parquet file, which readers want large.
#[cfg(feature = "tables")]
const GROUP: usize = 1 << 16;

/// What a sweep can be written as.
pub const FORMATS: &[OutputFormat] = &[
    OutputFormat::Csv,
    OutputFormat::Npz,
    #[cfg(feature = "tables")]
    OutputFormat::Parquet,
];

/// Which rows: the trajectories, their impacts, or their events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    Trajectories,
    Impacts,
    Events,
}

/// Names of a model's results in a sweep.
pub struct ResultNames<'a> {
    pub plan: &'a Plan,
    pub model: &'a Model,
    pub choice: &'a Choice,
    /// The options that say which trajectories there are.
    pub options: &'a [String],
    /// How multiply and add are rounded.
    pub arithmetic: carom_run::Arithmetic,
    /// Trajectories that the journal holds.
    pub rows: u64,
    /// Which of the plan is its first.
    pub first: u64,
}

impl ResultNames<'_> {
    /// The same for a journal that begins with this row of the plan.
    pub fn from(mut self, first: u64) -> Self {
        self.first = first;
        self
    }

    /// A table without rows.
    pub fn empty(&self, what: What) -> Table {
        let stamp = Stamp::of_many(&self.model.provenance, self.options, self.arithmetic);
        let mut table = Table { stamp: Some(stamp), ..Table::default() };
        let state = || {
            let coordinates = self.model.coordinates.iter();
            let velocities = coordinates.clone().map(|c| format!("{}'", c.name));
            coordinates.map(|c| c.name.clone()).chain(velocities)
        };
        match what {
            What::Trajectories => {
                self.plan.names.iter().for_each(|name| table.numbers("varied", name, Vec::new()));
                table.texts("sweep", "stop", Vec::new());
                table.numbers("sweep", "time", Vec::new());
                table.integers("sweep", "impacts", Vec::new());
                let outputs = self.choice.outputs.iter().map(|(name, _)| name.clone());
                state().chain(outputs).for_each(|name| table.numbers("final", &name, Vec::new()));
                for &event in &self.choice.events {
                    let name = &self.model.events[event].name;
                    table.integers("event", &format!("{name}.count"), Vec::new());
                    table.numbers("event", &format!("{name}.first"), Vec::new());
                    table.numbers("event", &format!("{name}.last"), Vec::new());
                }
                table.numbers("sweep", "hamiltonian_drift", Vec::new());
                table.texts("sweep", "error", Vec::new());
                table.texts("sweep", "warnings", Vec::new());
            }
            What::Impacts | What::Events => {
                table.integers("sweep", "trajectory", Vec::new());
                table.numbers("sweep", "time", Vec::new());
                if what == What::Impacts {
                    table.texts("sweep", "wall", Vec::new());
                    table.numbers("sweep", "impulse", Vec::new());
                } else {
                    table.texts("sweep", "event", Vec::new());
                }
                state().for_each(|name| table.numbers("impact", &name, Vec::new()));
            }
        }
        table
    }

    /// Appends the row of a trajectory.
    pub fn push(&self, table: &mut Table, inputs: &[f64], record: &Record) {
        let mut cells = Cells(table.columns.iter_mut());
        inputs.iter().for_each(|x| cells.number(*x));
        cells.text(record.stop_name());
        cells.number(record.time);
        cells.integer(record.impacts as i64);
        let finals = 2 * self.model.coordinates.len() + self.choice.outputs.len();
        let number = |k: usize| record.numbers.get(k).copied().unwrap_or(f64::NAN);
        (0..finals).for_each(|k| cells.number(number(k)));
        for k in 0..self.choice.events.len() {
            let fired = record.fired.get(k);
            cells.integer(fired.map_or(0, |f| f.count as i64));
            cells.number(fired.map_or(f64::NAN, |f| f.first));
            cells.number(fired.map_or(f64::NAN, |f| f.last));
        }
        cells.number(record.hamiltonian_drift);
        cells.text(&record.error);
        cells.text(&record.warnings.join("; "));
    }

    /// Appends the row of an impact or event of trajectory `index`.
    fn push_occurrence(&self, table: &mut Table, what: What, index: u64, occurrence: &Occurrence) {
        let mut cells = Cells(table.columns.iter_mut());
        cells.integer(index as i64);
        cells.number(occurrence.time);
        let i = occurrence.what as usize;
        if what == What::Impacts {
            cells.text(self.model.walls.get(i).map_or("", |wall| &wall.name));
            cells.number(occurrence.impulse);
        } else {
            cells.text(self.model.events.get(i).map_or("", |event| &event.name));
        }
        for k in 0..2 * self.model.coordinates.len() {
            cells.number(occurrence.state.get(k).copied().unwrap_or(f64::NAN));
        }
    }

    /// Writes a journal's records as a table.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub fn write(
        &self,
        journal: &Path,
        output: &str,
        format: OutputFormat,
        what: What,
    ) -> Result<(), Failure> {
        self.fill(journal, output, format, what).map_err(|failure| match failure {
            // The journal is whole.
            Failure::File(ref message) | Failure::System(ref message, _) if !message.contains("hint:") => {
                failure.with_hint(
                    "make room; the same command with --resume writes the table without simulating again",
                )
            }
            other => other,
        })
    }

    fn fill(&self, journal: &Path, output: &str, format: OutputFormat, what: What) -> Result<(), Failure> {
        let mut out = Pending::alone(output)?;
        let fail = |error| Failure::write(output, &error);
        let empty = self.empty(what);
        match format {
            OutputFormat::Csv => {
                out.write_all(&table::csv_header(&empty)).map_err(fail)?;
                self.pieces(journal, what, PIECE, |piece| {
                    out.write_all(&table::csv_rows(piece)).map_err(fail)
                })?;
            }
            #[cfg(feature = "tables")]
            OutputFormat::Parquet => {
                let mut writer = table::ParquetWriter::new(&mut out, &empty).map_err(fail)?;
                self.pieces(journal, what, GROUP, |piece| {
                    writer.group(piece, 0, piece.rows()).map_err(fail)
                })?;
                writer.finish().map_err(fail)?;
            }
            OutputFormat::Npz => {
                // One pass to measure, one to write every column at its place.
                let (mut rows, mut widths) = (0, vec![0; empty.columns.len()]);
                self.pieces(journal, what, PIECE, |piece| {
                    rows += piece.rows();
                    for (width, column) in widths.iter_mut().zip(&piece.columns) {
                        *width = column.values.characters().max(*width);
                    }
                    Ok(())
                })?;
                let columns = empty.columns.iter().zip(widths);
                let places = columns.map(|(c, width)| ArrayHeader::sized(&c.name, &c.values, rows, width));
                let mut archive =
                    NpzArchive::new(places.collect()).map_err(Failure::File)?.stamped(empty.stamp.as_ref());
                self.pieces(journal, what, PIECE, |piece| {
                    for (k, column) in piece.columns.iter().enumerate() {
                        let (at, bytes) = archive.piece(k, &column.values);
                        out.put(at, &bytes).map_err(fail)?;
                    }
                    Ok(())
                })?;
                for (at, bytes) in archive.finish().map_err(Failure::File)? {
                    out.put(at, &bytes).map_err(fail)?;
                }
            }
            other => return Err(other.unsupported(output)),
        }
        out.finish()?;
        if format == OutputFormat::Csv && what == What::Trajectories {
            write::beside_csv(output, &empty)?;
        }
        Ok(())
    }

    /// Prints a journal's records as csv.
    ///
    /// # Errors
    /// If the journal cannot be read or standard output cannot be written to.
    pub fn print(&self, journal: &Path) -> Result<(), Failure> {
        // Without a reader there is nothing more to do, and nothing to complain about.
        let print = |bytes: &[u8]| match write::result(bytes)? {
            true => Ok(()),
            false => Err(Failure::Reported(0)),
        };
        print(&table::csv_header(&self.empty(What::Trajectories)))?;
        self.pieces(journal, What::Trajectories, PIECE, |piece| print(&table::csv_rows(piece)))
    }

    /// Calls `each` with the journal's rows, `size` at a time; pieces without rows are left out.
    fn pieces(
        &self,
        journal: &Path,
        what: What,
        size: usize,
        mut each: impl FnMut(&Table) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut reader = JournalReader::open(journal)?;
        let mut piece = self.empty(what);
        let mut inputs = Vec::new();
        let mut index = 0;
        let mut hand_over = |piece: &mut Table| {
            if piece.rows() >= size {
                each(piece)?;
                piece.columns.iter_mut().for_each(|column| column.values.clear());
            }
            Ok::<(), Failure>(())
        };
        while let Some(entry) = reader.next()? {
            let list = match (&entry, what) {
                (JournalEntry::Page(page), What::Impacts) => &page[..],
                (JournalEntry::Record(record), What::Events) => &record.occurrences[..],
                _ => &[],
            };
            for occurrence in list {
                self.push_occurrence(&mut piece, what, self.first + index, occurrence);
                hand_over(&mut piece)?;
            }
            if let JournalEntry::Record(record) = &entry {
                if what == What::Trajectories {
                    self.plan.row(self.first + index, &mut inputs);
                    self.push(&mut piece, &inputs, record);
                    hand_over(&mut piece)?;
                }
                index += 1;
            }
        }
        if index != self.rows {
            return Err(Failure::File(format!(
                "{} has {index} of {} trajectories: it was damaged after they were written\n  hint: the same command with --resume simulates what is missing",
                journal.display(),
                self.rows
            )));
        }
        if piece.rows() > 0 { each(&piece) } else { Ok(()) }
    }
}

/// The cells of a row, from left to right.
struct Cells<'a>(std::slice::IterMut<'a, Column>);

impl Cells<'_> {
    fn number(&mut self, x: f64) {
        if let Some(Column { values: ColumnValues::Numbers(v), .. }) = self.0.next() {
            v.push(x);
        }
    }

    fn integer(&mut self, n: i64) {
        if let Some(Column { values: ColumnValues::Integers(v), .. }) = self.0.next() {
            v.push(n);
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(Column { values: ColumnValues::Texts(v), .. }) = self.0.next() {
            v.push(text.to_owned());
        }
    }
}
