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

use super::ensemble::Sweep;
use crate::failure::Failure;
use crate::host::HostRefusal;
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
/// Files that a folder may have.
const MOST_CHUNKS: u64 = 10_000_000;
/// Rows per group of a parquet file.
const GROUP: usize = 1 << 16;

const MANIFEST: &str = "manifest.json";
/// How the name of a chunk begins while it is written.
const BEGUN: &str = ".part-";

/// A folder of chunks.
pub struct Store {
    folder: PathBuf,
    key: String,
    trajectories: u64,
    chunk: u64,
}

impl Store {
    /// Opens a folder for a sweep, or begins it with chunks of `chunk` rows (else as measured). `None` when `go_on` answered no before
    /// that was known.
    ///
    /// # Errors
    /// If it holds another sweep, or cannot be read or written.
    pub fn open(
        folder: &Path,
        ensemble: &Sweep,
        chunk: Option<u64>,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<Store>, HostRefusal> {
        let name = folder.display().to_string();
        fs::create_dir_all(folder).map_err(|error| Failure::write(&name, &error))?;
        if Store::read(folder)?.is_none() && !Store::begin(folder, ensemble, chunk, go_on)? {
            return Ok(None);
        }
        let store = Store::existing(folder, ensemble)?;
        if store.chunks() > MOST_CHUNKS {
            return Err(Failure::wrong(format!(
                "{} trajectories in {} chunks are more files than a folder should have\n  hint: larger chunks, or fewer trajectories",
                store.trajectories,
                store.chunks()
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
        store.tidy();
        Ok(Some(store))
    }

    /// The folder of a sweep that has begun: what a worker opens, which must not begin another one.
    ///
    /// # Errors
    /// If there is none, or it holds another sweep.
    pub fn existing(folder: &Path, ensemble: &Sweep) -> Result<Store, HostRefusal> {
        let name = folder.display().to_string();
        let Some(store) = Store::read(folder)? else {
            let gone = io::Error::from(io::ErrorKind::NotFound);
            return Err(Failure::read(&folder.join(MANIFEST).display().to_string(), &gone).into());
        };
        if store.key != ensemble.key() || store.trajectories != ensemble.count() {
            return Err(Failure::wrong(format!(
                "{name} holds another sweep\n  hint: model, options, inputs, version and arithmetic must be the same to go on; take another folder"
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

    /// Writes the manifest; false when it was to stop before the size of a chunk was known.
    fn begin(
        folder: &Path,
        ensemble: &Sweep,
        chunk: Option<u64>,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<bool, HostRefusal> {
        let chunk = match chunk {
            Some(0) => return Err(Failure::wrong("chunks of 0 trajectories\n  hint: 1 or more").into()),
            Some(chunk) => chunk,
            None => match measured(ensemble, go_on)? {
                Some(chunk) => chunk,
                None => return Ok(false),
            },
        };
        let manifest = json!({
            "carom": env!("CARGO_PKG_VERSION"),
            "key": ensemble.key(),
            "trajectories": ensemble.count(),
            "chunk": chunk,
        });
        let fail = |error: &io::Error| Failure::write(&folder.join(MANIFEST).display().to_string(), error);
        let mut file = temporary(folder, ".manifest").map_err(|e| fail(&e))?;
        let written = writeln!(file, "{manifest}").and_then(|()| file.as_file().sync_all());
        written.map_err(|e| fail(&e))?;
        // Others may begin at the same moment: the first one is right, whatever it measured.
        match file.persist_noclobber(folder.join(MANIFEST)) {
            Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => {
                Err(fail(&error.error).into())
            }
            _ => Ok(true),
        }
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
        self.path(index).is_file()
    }

    /// The chunks that are not there.
    pub fn missing(&self) -> Vec<u64> {
        (0..self.chunks()).filter(|&index| !self.has(index)).collect()
    }

    /// Writes a chunk, whole or not at all.
    ///
    /// # Errors
    /// If the system refuses, or something else has the chunk's name; what was written before stays.
    pub fn write(&self, index: u64, bytes: &[u8]) -> Result<(), HostRefusal> {
        let path = self.path(index);
        if path.is_dir() {
            let name = path.display();
            return Err(Failure::wrong(format!(
                "{name} is a folder, in the place of a chunk\n  hint: remove it; the same sweep to the same folder goes on"
            ))
            .into());
        }
        let fail = |error: &io::Error| {
            Failure::write(&path.display().to_string(), error)
                .with_hint("make room; the same sweep to the same folder goes on where it stopped")
        };
        let mut file = temporary(&self.folder, &temporary_name(index)).map_err(|e| fail(&e))?;
        let written = file.write_all(bytes).and_then(|()| file.as_file().sync_data());
        written.map_err(|e| fail(&e))?;
        match file.persist(&path) {
            // Another worker had the same chunk, was first, and someone tidied up.
            Err(_) if self.has(index) => Ok(()),
            outcome => outcome.map(drop).map_err(|e| fail(&e.error).into()),
        }
    }

    /// Removes what killed processes have left of chunks that are there by now. What others write at this moment is of chunks that are
    /// missing, or is not needed any more.
    pub fn tidy(&self) {
        let Ok(files) = fs::read_dir(&self.folder) else { return };
        for file in files.flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            let index = name.strip_prefix(BEGUN).and_then(|rest| rest.split('-').next()?.parse().ok());
            if index.is_some_and(|index| self.has(index)) {
                let _ = fs::remove_file(file.path());
            }
        }
    }
}

/// How the names of one chunk begin then.
fn temporary_name(index: u64) -> String {
    format!("{BEGUN}{index:06}-")
}

/// A file of its own name, to be read by whom the process lets read its files.
fn temporary(folder: &Path, prefix: &str) -> io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::Builder::new();
    #[cfg(unix)]
    file.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    file.prefix(prefix).tempfile_in(folder)
}

/// The bytes of a chunk's file.
///
/// # Errors
/// A sentence, if they cannot be made.
pub fn parquet(table: &Table) -> Result<Vec<u8>, HostRefusal> {
    let made = || -> io::Result<Vec<u8>> {
        let mut writer = ParquetWriter::new(Vec::new(), table)?;
        let rows = table.rows();
        for from in (0..rows).step_by(GROUP) {
            writer.group(table, from, rows.min(from + GROUP))?;
        }
        writer.finish()
    };
    made().map_err(|error| HostRefusal::File(error.to_string(), error.raw_os_error()))
}

/// Rows that take about [`CHUNK_TIME`] on one core, a power of two: the first rows are simulated to see.
fn measured(ensemble: &Sweep, go_on: &(dyn Fn() -> bool + Sync)) -> Result<Option<u64>, HostRefusal> {
    let (begin, mut rows) = (Instant::now(), 0);
    let mut next = 1;
    while begin.elapsed() < MEASURED && rows < ensemble.count() && rows < MOST {
        let until = (rows + next).min(ensemble.count());
        ensemble.counted(rows..until, Some(1), go_on, &mut |_| {})?;
        if !go_on() {
            return Ok(None);
        }
        (rows, next) = (until, next * 2);
    }
    let per_row = begin.elapsed().as_secs_f64() / (rows.max(1) as f64);
    let wanted = (CHUNK_TIME / per_row.max(1e-9)) as u64;
    Ok(Some(wanted.clamp(1, MOST).next_power_of_two().min(MOST)))
}
