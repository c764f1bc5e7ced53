//! From the journal to the table that was asked for, piece by piece: memory does not grow with the number of rows.
//!
//! ```text
//! varied inputs …, stop, time, impacts, x …, x' …, outputs …, hamiltonian_drift, error       one row per trajectory
//! trajectory, time, wall, impulse, x …, x' …                                                 one row per impact
//! ```
//!
//! A final coordinate that was also varied is called `final.x`.

use super::journal::{Reader, Record};
use super::plan::Plan;
use crate::failure::Failure;
use crate::write::{self, Pending};
use carom::Model;
use carom::show::table::{self, Table, Values};
use std::io::Write;
use std::path::Path;

/// Rows per piece.
const PIECE: usize = 1 << 16;

/// The forms a sweep can be written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    Csv,
    Npz,
    Parquet,
}

impl Form {
    /// By the extension of a file.
    ///
    /// # Errors
    /// If the extension is none of them.
    pub fn of(output: &str) -> Result<Form, Failure> {
        match Path::new(output).extension().and_then(|e| e.to_str()) {
            Some("csv") => Ok(Form::Csv),
            Some("npz") => Ok(Form::Npz),
            Some("parquet") => Ok(Form::Parquet),
            _ => {
                Err(Failure::wrong(format!("cannot tell the format of {output}: use .csv, .npz or .parquet")))
            }
        }
    }
}

/// Which rows: the trajectories, or their impacts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    Trajectories,
    Impacts,
}

/// Names of a model's results in a sweep.
pub struct Layout<'a> {
    pub plan: &'a Plan,
    pub model: &'a Model,
}

impl Layout<'_> {
    /// An empty table with the right columns, or the one holding `records`, the first of which is trajectory `first`.
    pub fn trajectories(&self, first: u64, records: &[Record]) -> Table {
        let mut table = Table::default();
        let inputs: Vec<Vec<f64>> = (0..records.len()).map(|i| self.plan.row(first + i as u64)).collect();
        for (k, name) in self.plan.names.iter().enumerate() {
            table.numbers("varied", name, inputs.iter().map(|row| row[k]).collect());
        }
        table.texts("sweep", "stop", records.iter().map(|r| r.stop.clone()).collect());
        table.numbers("sweep", "time", records.iter().map(|r| r.time).collect());
        table.integers("sweep", "impacts", records.iter().map(|r| r.impacts as i64).collect());
        let coordinates = &self.model.coordinates;
        let finals = coordinates.iter().map(|c| c.name.clone());
        let finals = finals.chain(coordinates.iter().map(|c| format!("{}'", c.name)));
        let finals = finals.chain(self.model.outputs.iter().map(|o| o.name.clone()));
        for (k, name) in finals.enumerate() {
            let value = |r: &Record| r.numbers.get(k).copied().unwrap_or(f64::NAN);
            table.numbers("final", &name, records.iter().map(value).collect());
        }
        table.numbers("sweep", "hamiltonian_drift", records.iter().map(|r| r.hamiltonian_drift).collect());
        table.texts("sweep", "error", records.iter().map(|r| r.error.clone()).collect());
        table
    }

    /// The impacts of the records.
    fn impacts(&self, first: u64, records: &[Record]) -> Table {
        let rows: Vec<_> = records
            .iter()
            .enumerate()
            .flat_map(|(i, r)| r.impact_rows.iter().map(move |impact| (first as i64 + i as i64, impact)))
            .collect();
        let mut table = Table::default();
        table.integers("sweep", "trajectory", rows.iter().map(|(i, _)| *i).collect());
        table.numbers("sweep", "time", rows.iter().map(|(_, r)| r.time).collect());
        let wall =
            |w: u32| self.model.walls.get(w as usize).map_or_else(String::new, |wall| wall.name.clone());
        table.texts("sweep", "wall", rows.iter().map(|(_, r)| wall(r.wall)).collect());
        table.numbers("sweep", "impulse", rows.iter().map(|(_, r)| r.impulse).collect());
        let coordinates = &self.model.coordinates;
        let names = coordinates.iter().map(|c| c.name.clone());
        for (k, name) in names.chain(coordinates.iter().map(|c| format!("{}'", c.name))).enumerate() {
            let value = rows.iter().map(|(_, r)| r.state.get(k).copied().unwrap_or(f64::NAN)).collect();
            table.numbers("impact", &name, value);
        }
        table
    }

    fn piece(&self, what: What, first: u64, records: &[Record]) -> Table {
        match what {
            What::Trajectories => self.trajectories(first, records),
            What::Impacts => self.impacts(first, records),
        }
    }

    /// Writes a journal's records as a table.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub fn write(&self, journal: &Path, output: &str, form: Form, what: What) -> Result<(), Failure> {
        let mut out = Pending::create(output)?;
        let fail = |error| Failure::write(output, &error);
        let empty = self.piece(what, 0, &[]);
        match form {
            Form::Csv => {
                out.write_all(&table::csv_header(&empty)).map_err(fail)?;
                self.pieces(journal, what, |piece| out.write_all(&table::csv_rows(&piece)).map_err(fail))?;
            }
            Form::Parquet => {
                let mut writer = table::ParquetWriter::default();
                out.write_all(&writer.begin()).map_err(fail)?;
                self.pieces(journal, what, |piece| {
                    out.write_all(&writer.group(&piece, 0, piece.rows())).map_err(fail)
                })?;
                out.write_all(&writer.finish(&empty)).map_err(fail)?;
            }
            Form::Npz => {
                let mut writer = table::NpzWriter::default();
                // One column in memory at a time, one pass over the journal each.
                for (k, column) in empty.columns.iter().enumerate() {
                    let mut values = column.values.clone();
                    self.pieces(journal, what, |mut piece| {
                        append(&mut values, piece.columns.swap_remove(k).values);
                        Ok(())
                    })?;
                    let bytes = writer.column(&column.name, &values).map_err(Failure::File)?;
                    out.write_all(&bytes).map_err(fail)?;
                }
                out.write_all(&writer.finish().map_err(Failure::File)?).map_err(fail)?;
            }
        }
        out.finish()
    }

    /// Prints a journal's records as csv.
    ///
    /// # Errors
    /// If the journal cannot be read or standard output cannot be written to.
    pub fn print(&self, journal: &Path) -> Result<(), Failure> {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        write::stdout(&text(table::csv_header(&self.trajectories(0, &[]))))?;
        self.pieces(journal, What::Trajectories, |piece| write::stdout(&text(table::csv_rows(&piece))))
    }

    /// Calls `each` with the journal's records, piece by piece; pieces without rows are left out.
    fn pieces(
        &self,
        journal: &Path,
        what: What,
        mut each: impl FnMut(Table) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut reader = Reader::open(journal)?;
        let mut first = 0;
        loop {
            let mut records = Vec::new();
            let mut rows = 0;
            while rows < PIECE {
                let Some(record) = reader.next()? else { break };
                rows += match what {
                    What::Trajectories => 1,
                    What::Impacts => record.impact_rows.len().max(1),
                };
                records.push(record);
            }
            if records.is_empty() {
                return Ok(());
            }
            let piece = self.piece(what, first, &records);
            first += records.len() as u64;
            if piece.rows() > 0 {
                each(piece)?;
            }
        }
    }
}

fn append(to: &mut Values, from: Values) {
    match (to, from) {
        (Values::Numbers(a), Values::Numbers(b)) => a.extend(b),
        (Values::Integers(a), Values::Integers(b)) => a.extend(b),
        (Values::Texts(a), Values::Texts(b)) => a.extend(b),
        _ => {}
    }
}
