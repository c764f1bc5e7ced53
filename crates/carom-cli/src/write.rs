//! Results reach their file whole or not at all: written to a temporary name beside it, then renamed.
//! Standard output is for results, standard error for everything else.

use crate::failure::Failure;
use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

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
        Pending::named(target, beside(Path::new(target)))
    }

    /// The same with a temporary name that does not change, for who is alone in writing `target`: what a killed program
    /// left there is replaced.
    ///
    /// # Errors
    /// As [`Pending::create`].
    pub fn alone(target: &str) -> Result<Pending, Failure> {
        Pending::named(target, hidden(Path::new(target), "part"))
    }

    fn named(target: &str, temporary: PathBuf) -> Result<Pending, Failure> {
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
        let file = File::create(&temporary).map_err(fail)?;
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
    pub fn finish(mut self) -> Result<(), Failure> {
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
            && let Err(error) = fs::rename(&temporary, &self.target)
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

/// The temporary name of a file: beside it, hidden, with our process number.
pub fn beside(path: &Path) -> PathBuf {
    hidden(path, &format!("{}.part", std::process::id()))
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

/// Prints a result. A reader that went away (`carom derive … | head`) is not an error.
///
/// # Errors
/// If standard output cannot be written to.
pub fn stdout(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::write("standard output", &error)),
        Ok(()) => Ok(()),
    }
}

/// Can this file be written? Asked before a long computation.
///
/// # Errors
/// If not.
pub fn probe(target: &str) -> Result<(), Failure> {
    Pending::create(target).map(drop)
}
