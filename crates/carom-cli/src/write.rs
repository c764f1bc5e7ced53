//! Results reach their file whole or not at all: written to a temporary name beside it, then renamed. Temporary files are
//! created exclusively: no link that waits under their name is followed.
//! Standard output is for results, standard error for everything else.

use crate::failure::Failure;
use crate::host;
use crate::paint::Paint;
use crate::terminal;
use carom_show::table::Table;
use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

/// Names tried for a temporary file.
const MOST_NAMES: u32 = 100;

/// A file being written under a temporary name. Dropped without [`Pending::finish`], it leaves nothing behind.
pub struct Pending {
    target: PathBuf,
    temporary: Option<PathBuf>,
    file: Option<io::BufWriter<File>>,
}

impl Pending {
    /// Opens a temporary file beside `target`; a device or pipe is written directly.
    ///
    /// # Errors
    /// If the folder does not exist or cannot be written to.
    pub fn create(target: &str) -> Result<Pending, Failure> {
        Pending::named(target, |path| {
            let mut last = None;
            for n in 0..MOST_NAMES {
                let temporary = beside(path, n);
                match File::create_new(&temporary) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = Some(error),
                    outcome => return outcome.map(|file| (temporary, file)),
                }
            }
            Err(last.unwrap_or_else(|| io::ErrorKind::AlreadyExists.into()))
        })
    }

    /// The same with a temporary name that does not change, for who is alone in writing `target`: what a killed program
    /// left there is replaced.
    ///
    /// # Errors
    /// As [`Pending::create`].
    pub fn alone(target: &str) -> Result<Pending, Failure> {
        Pending::named(target, |path| {
            let temporary = hidden(path, "part");
            let file = match File::create_new(&temporary) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    // Of a link, the link goes and not what it points to.
                    fs::remove_file(&temporary)?;
                    File::create_new(&temporary)
                }
                outcome => outcome,
            };
            Ok((temporary, file?))
        })
    }

    /// `make` creates a file under a name of its own, exclusively: what is there already, be it a link that someone else
    /// put there, is never written to.
    fn named(
        target: &str,
        make: impl FnOnce(&Path) -> io::Result<(PathBuf, File)>,
    ) -> Result<Pending, Failure> {
        let fail = |error| Failure::write(target, &error);
        let path = PathBuf::from(target);
        let special = fs::metadata(&path).is_ok_and(|m| !m.is_file() && !m.is_dir());
        if special {
            let file = File::options().write(true).open(&path).map_err(fail)?;
            return Ok(Pending { target: path, temporary: None, file: Some(io::BufWriter::new(file)) });
        }
        if path.is_dir() {
            return Err(Failure::File(format!("cannot write {target}: it is a folder")));
        }
        // A file that exists but may not be written to is not replaced behind its owner's back.
        if path.exists() {
            File::options().append(true).open(&path).map_err(fail)?;
        }
        let (temporary, file) = make(&path).map_err(fail)?;
        Ok(Pending { target: path, temporary: Some(temporary), file: Some(io::BufWriter::new(file)) })
    }

    /// Writes bytes at a place of their own; what is left out in between is zero.
    ///
    /// # Errors
    /// If the disk is full, or the target is no file.
    pub fn put(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.seek(io::SeekFrom::Start(at))?;
        file.write_all(bytes)
    }

    /// Writes everything out and gives the file its name.
    ///
    /// # Errors
    /// If the disk is full or the name cannot be given; nothing is left behind then.
    pub fn finish(self) -> Result<(), Failure> {
        self.end(|temporary, target| fs::rename(temporary, target))
    }

    /// The same where nothing may be replaced.
    ///
    /// # Errors
    /// As [`Pending::finish`], and if there is something of that name by now.
    pub fn finish_new(self) -> Result<(), Failure> {
        self.end(|temporary, target| {
            // A second name is given only where there is none; some file systems know no second names.
            match fs::hard_link(temporary, target) {
                Ok(()) => fs::remove_file(temporary),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
                Err(_) => fs::rename(temporary, target),
            }
        })
    }

    fn end(mut self, name_it: impl FnOnce(&Path, &Path) -> io::Result<()>) -> Result<(), Failure> {
        let name = self.target.display().to_string();
        let fail = |error| Failure::write(&name, &error);
        if let Some(mut writer) = self.file.take() {
            writer.flush().map_err(fail)?;
            let file = writer.into_inner().map_err(|e| Failure::write(&name, e.error()))?;
            if self.temporary.is_some() {
                file.sync_all().map_err(fail)?;
            }
        }
        if let Some(temporary) = self.temporary.take()
            && let Err(error) = name_it(&temporary, &self.target)
        {
            self.temporary = Some(temporary);
            return Err(Failure::write(&name, &error));
        }
        Ok(())
    }
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.file {
            Some(file) => file.write(bytes),
            None => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
    }
}

/// A temporary name of a file: beside it, hidden, with our process number.
fn beside(path: &Path, n: u32) -> PathBuf {
    let id = std::process::id();
    hidden(path, &if n == 0 { format!("{id}.part") } else { format!("{id}.{n}.part") })
}

fn hidden(path: &Path, ending: &str) -> PathBuf {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!(".{name}.{ending}"))
}

/// Writes a whole file.
///
/// # Errors
/// As [`Pending`].
pub fn file(target: &str, bytes: &[u8]) -> Result<(), Failure> {
    let mut pending = Pending::create(target)?;
    pending.write_all(bytes).map_err(|error| Failure::write(target, &error))?;
    pending.finish()
}

/// Writes where a table comes from beside its csv file, which has no room for it: `NAME.csv-metadata.json`, where CSV on the
/// Web looks for it. Devices have nothing beside them.
///
/// # Errors
/// As [`Pending`].
pub fn beside_csv(target: &str, table: &Table) -> Result<Option<String>, Failure> {
    let path = Path::new(target);
    let (Some(stamp), Some(name)) = (&table.stamp, path.file_name()) else { return Ok(None) };
    if !path.is_file() {
        return Ok(None);
    }
    let name = name.to_string_lossy();
    let beside = path.with_file_name(format!("{name}-metadata.json")).to_string_lossy().into_owned();
    file(&beside, stamp.beside_csv(&name, table).as_bytes())?;
    Ok(Some(beside))
}

/// Writes a whole file where there is none.
///
/// # Errors
/// As [`Pending`], and if there is one.
pub fn new_file(target: &str, bytes: &[u8]) -> Result<(), Failure> {
    let mut pending = Pending::create(target)?;
    pending.write_all(bytes).map_err(|error| Failure::write(target, &error))?;
    pending.finish_new()
}

/// Prints a result for people. A reader that went away (`carom derive … | head`) is not an error.
///
/// # Errors
/// If standard output cannot be written to.
pub fn stdout(text: &str) -> Result<(), Failure> {
    bytes(terminal::shown(text, Paint::stdout().is_on()).as_bytes()).map(drop)
}

/// Prints a result for programs, exactly; on a terminal with its control characters made visible. Answers whether there is
/// still a reader.
///
/// # Errors
/// If standard output cannot be written to.
pub fn result(text: &[u8]) -> Result<bool, Failure> {
    if terminal::watched() {
        return bytes(terminal::shown(&String::from_utf8_lossy(text), false).as_bytes());
    }
    bytes(text)
}

/// Prints JSON, all control characters escaped: writers of JSON leave those above ASCII as they are.
///
/// # Errors
/// If standard output cannot be written to.
pub fn json(text: &str) -> Result<(), Failure> {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        // Outside of strings JSON has no such character.
        match terminal::is_dangerous(c) {
            true => out += &format!("\\u{:04x}", c as u32),
            false => out.push(c),
        }
    }
    bytes(out.as_bytes()).map(drop)
}

/// Prints our own bytes as they are. Answers whether there is still a reader.
///
/// # Errors
/// If standard output cannot be written to.
pub fn bytes(bytes: &[u8]) -> Result<bool, Failure> {
    if host::print(bytes) {
        return Ok(true);
    }
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::write("standard output", &error)),
        Ok(()) => Ok(true),
    }
}

/// Can this file be written? Asked before a long computation.
///
/// # Errors
/// If not.
pub fn probe(target: &str) -> Result<(), Failure> {
    Pending::create(target).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder, a file in it that must stay as it is, and a target.
    fn folder() -> (tempfile::TempDir, PathBuf, String) {
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        fs::write(&victim, "untouched").unwrap();
        let target = folder.path().join("out.csv").to_string_lossy().into_owned();
        (folder, victim, target)
    }

    #[cfg(unix)]
    #[test]
    fn a_planted_link_is_never_written_through() {
        let (folder, victim, target) = folder();
        for name in [beside(Path::new(&target), 0), hidden(Path::new(&target), "part")] {
            std::os::unix::fs::symlink(&victim, name).unwrap();
        }
        file(&target, b"new").unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"new");
        let mut pending = Pending::alone(&target).unwrap();
        pending.write_all(b"newer").unwrap();
        pending.finish().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"newer");
        assert_eq!(fs::read(&victim).unwrap(), b"untouched");
        // What was not ours is still there; what was ours is gone.
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_replaces_nothing_not_even_a_link_to_nowhere() {
        let (folder, victim, target) = folder();
        std::os::unix::fs::symlink(folder.path().join("nowhere"), &target).unwrap();
        assert_eq!(new_file(&target, b"x").unwrap_err().code(), 3);
        assert!(!folder.path().join("nowhere").exists());
        let existing = victim.to_string_lossy();
        assert!(new_file(&existing, b"x").is_err());
        assert_eq!(fs::read(&victim).unwrap(), b"untouched");
        fs::remove_file(&target).unwrap();
        new_file(&target, b"x").unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"x");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn what_is_not_finished_leaves_nothing() {
        let (folder, _, target) = folder();
        for pending in [Pending::create(&target).unwrap(), Pending::alone(&target).unwrap()] {
            drop(pending);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
