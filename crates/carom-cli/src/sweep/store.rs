//! A sweep in a folder: one parquet file per chunk of rows.
//!
//! ```text
//! folder/manifest.json          { "carom": …, "key": …, "trajectories": N, "chunk": C }
//! folder/part-000000.parquet    rows 0 … C-1        part-000001.parquet    rows C … 2C-1        …
//! ```
//!
//! Which rows are in a chunk is said once, by the manifest, and does not depend on who simulates it: any number of threads,
//! processes and machines may work on one folder. A chunk is written whole or not at all, under its own name: what is there is
//! done, what is missing is to do, to go on is to look. Promise: same question and manifest, same bytes; what was written is
//! never lost, whatever is killed.

use super::ensemble::{Ensemble, Refusal};
use crate::failure::Failure;
use carom_show::table::{ParquetWriter, Table};
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A chunk takes about so long on one core …
const CHUNK_TIME: f64 = 3.0;
/// … which is measured for so long …
const MEASURED: Duration = Duration::from_millis(300);
/// … and has at most so many rows, all of them in memory.
const MOST: u64 = 1 << 18;
/// Rows per group of a parquet file.
const GROUP: usize = 1 << 16;

const MANIFEST: &str = "manifest.json";

/// A folder of chunks.
pub struct Store {
    folder: PathBuf,
    key: String,
    trajectories: u64,
    chunk: u64,
}

impl Store {
    /// Opens a folder for a sweep, or begins it with chunks of `chunk` rows (else as measured).
    ///
    /// # Errors
    /// If it holds another sweep, or cannot be read or written.
    pub fn open(folder: &Path, ensemble: &Ensemble, chunk: Option<u64>) -> Result<Store, Refusal> {
        let name = folder.display().to_string();
        fs::create_dir_all(folder).map_err(|error| Failure::write(&name, &error))?;
        let known = Store::read(folder)?;
        let store = match known {
            Some(store) => store,
            None => Store::begin(folder, ensemble, chunk)?,
        };
        if store.key != ensemble.key() || store.trajectories != ensemble.count() {
            return Err(Failure::wrong(format!(
                "{name} holds another sweep\n  hint: model, options, inputs, version and arithmetic must be the same to go on; take another folder"
            ))
            .into());
        }
        if let Some(asked) = chunk.filter(|&asked| asked != store.chunk) {
            return Err(Failure::wrong(format!(
                "{name} has chunks of {} trajectories, not {asked}\n  hint: leave the size out to go on",
                store.chunk
            ))
            .into());
        }
        Ok(store)
    }

    /// The store in a folder, if there is one.
    ///
    /// # Errors
    /// If its manifest cannot be read.
    pub fn read(folder: &Path) -> Result<Option<Store>, Failure> {
        let path = folder.join(MANIFEST);
        let name = path.display().to_string();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Failure::read(&name, &error)),
        };
        let parsed = serde_json::from_str::<Value>(&text).ok().and_then(|value| {
            Some(Store {
                folder: folder.to_owned(),
                key: value.get("key")?.as_str()?.to_owned(),
                trajectories: value.get("trajectories")?.as_u64()?,
                chunk: value.get("chunk")?.as_u64().filter(|&n| n > 0)?,
            })
        });
        match parsed {
            Some(store) => Ok(Some(store)),
            None => Err(Failure::wrong(format!(
                "{name} is not the manifest of a sweep\n  hint: take another folder"
            ))),
        }
    }

    fn begin(folder: &Path, ensemble: &Ensemble, chunk: Option<u64>) -> Result<Store, Failure> {
        let chunk = match chunk {
            Some(0) => return Err(Failure::wrong("chunks of 0 trajectories\n  hint: 1 or more")),
            Some(chunk) => chunk,
            None => measured(ensemble)?,
        };
        let manifest = json!({
            "carom": env!("CARGO_PKG_VERSION"),
            "key": ensemble.key(),
            "trajectories": ensemble.count(),
            "chunk": chunk,
        });
        let fail = |error: &io::Error| Failure::write(&folder.join(MANIFEST).display().to_string(), error);
        let mut file =
            tempfile::Builder::new().prefix(".manifest").tempfile_in(folder).map_err(|e| fail(&e))?;
        writeln!(file, "{manifest}").map_err(|e| fail(&e))?;
        // Others may begin at the same moment: the first one is right, whatever it measured.
        if let Err(error) = file.persist_noclobber(folder.join(MANIFEST))
            && error.error.kind() != io::ErrorKind::AlreadyExists
        {
            return Err(fail(&error.error));
        }
        Store::read(folder)?.ok_or_else(|| fail(&io::Error::from(io::ErrorKind::NotFound)))
    }

    /// How many chunks there are when all are done.
    pub fn chunks(&self) -> u64 {
        self.trajectories.div_ceil(self.chunk)
    }

    /// Trajectories in all chunks together.
    pub fn trajectories(&self) -> u64 {
        self.trajectories
    }

    /// The rows of a chunk.
    pub fn range(&self, index: u64) -> Range<u64> {
        let from = index.saturating_mul(self.chunk).min(self.trajectories);
        from..from.saturating_add(self.chunk).min(self.trajectories)
    }

    /// The file of a chunk.
    pub fn path(&self, index: u64) -> PathBuf {
        self.folder.join(format!("part-{index:06}.parquet"))
    }

    /// Is the chunk there?
    pub fn has(&self, index: u64) -> bool {
        self.path(index).exists()
    }

    /// The chunks that are not there.
    pub fn missing(&self) -> Vec<u64> {
        (0..self.chunks()).filter(|&index| !self.has(index)).collect()
    }

    /// Writes a chunk, whole or not at all.
    ///
    /// # Errors
    /// If the system refuses; what was written before stays.
    pub fn write(&self, index: u64, bytes: &[u8]) -> Result<(), Refusal> {
        let path = self.path(index);
        let fail = |error: &io::Error| match Failure::write(&path.display().to_string(), error) {
            Failure::File(message) => Failure::File(format!(
                "{message}\n  hint: make room; the same sweep to the same folder goes on where it stopped"
            )),
            other => other,
        };
        let mut file =
            tempfile::Builder::new().prefix(".part-").tempfile_in(&self.folder).map_err(|e| fail(&e))?;
        let written = file.write_all(bytes).and_then(|()| file.as_file().sync_data());
        written.map_err(|e| fail(&e))?;
        file.persist(&path).map_err(|e| fail(&e.error))?;
        Ok(())
    }
}

/// The bytes of a chunk's file.
///
/// # Errors
/// A sentence, if they cannot be made.
pub fn parquet(table: &Table) -> Result<Vec<u8>, Refusal> {
    let made = || -> io::Result<Vec<u8>> {
        let mut writer = ParquetWriter::new(Vec::new(), table)?;
        let rows = table.rows();
        for from in (0..rows).step_by(GROUP) {
            writer.group(table, from, rows.min(from + GROUP))?;
        }
        writer.finish()
    };
    made().map_err(|error| Refusal::File(error.to_string()))
}

/// Rows that take about [`CHUNK_TIME`] on one core, a power of two: the first rows are simulated to see.
fn measured(ensemble: &Ensemble) -> Result<u64, Failure> {
    let (begin, mut rows) = (Instant::now(), 0);
    let mut next = 16;
    while begin.elapsed() < MEASURED && rows < ensemble.count() && rows < MOST {
        let until = (rows + next).min(ensemble.count());
        ensemble.counted(rows..until, Some(1), &|| true, &mut |_| {})?;
        (rows, next) = (until, next * 2);
    }
    let per_row = begin.elapsed().as_secs_f64() / (rows.max(1) as f64);
    let wanted = (CHUNK_TIME / per_row.max(1e-9)) as u64;
    Ok(wanted.clamp(1, MOST).next_power_of_two().min(MOST))
}
