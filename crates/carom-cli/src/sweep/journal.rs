//! What a sweep has computed so far, on disk: a fingerprint of the question, then the pages and the record of every finished
//! trajectory, in order. What was cut short by a crash or a full disk is recognised by its length or checksum and dropped, with
//! the pages before it.
//!
//! ```text
//! "carom sweep 3\n"  fingerprint (8 bytes)   [ length (4)  checksum (8)  payload ]*       little endian
//! ```

use super::record::{Entry, Page, Record};
use crate::failure::Failure;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 14] = b"carom sweep 3\n";
const HEAD: u64 = MAGIC.len() as u64 + 8;
/// Length and checksum.
const HEAD_OF_RECORD: usize = 12;
/// No record is longer: a larger length is damage, not data.
const LONGEST: u32 = 1 << 30;

/// A journal open for appending.
pub struct Journal {
    path: PathBuf,
    file: File,
}

/// Appends a record as it is in a journal.
pub fn pack(record: &Record, out: &mut Vec<u8>) {
    out.reserve(128 + 8 * record.numbers.len());
    sealed(out, |out| record.encode(out));
}

/// The same for a page, which is empty afterwards.
pub fn pack_page(page: &mut Page, out: &mut Vec<u8>) {
    out.reserve(HEAD_OF_RECORD + 8 + page.len());
    sealed(out, |out| page.encode(out));
}

/// A payload after its length and checksum.
fn sealed(out: &mut Vec<u8>, payload: impl FnOnce(&mut Vec<u8>)) {
    let head = out.len();
    let begin = head + HEAD_OF_RECORD;
    out.extend([0; HEAD_OF_RECORD]);
    payload(out);
    let (length, sum) = (out.len() - begin, checksum(&out[begin..]));
    out[head..head + 4].copy_from_slice(&(length as u32).to_le_bytes());
    out[head + 4..begin].copy_from_slice(&sum.to_le_bytes());
}

impl Journal {
    /// Where the journal of an output file is.
    pub fn path(output: &str) -> PathBuf {
        let path = Path::new(output);
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        path.with_file_name(format!("{name}.part"))
    }

    /// Opens a journal and keeps others from it; with `resume`, keeps the records of the same question and shows them to
    /// `known`.
    ///
    /// # Errors
    /// If the file cannot be written, belongs to another sweep, or is in use.
    pub fn open(
        path: &Path,
        fingerprint: u64,
        resume: bool,
        mut known: impl FnMut(&Record),
    ) -> Result<Journal, Failure> {
        let name = path.display().to_string();
        let fail = |error| Failure::write(&name, &error);
        let options = || File::options().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = options().map_err(fail)?;
        // Where a file system knows no locks, nothing is lost but this protection. Elsewhere than on Unix a lock would also
        // keep this process from reading what it wrote.
        if cfg!(unix) && matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)) {
            return Err(Failure::File(format!(
                "cannot write {name}: another sweep is writing it\n  hint: wait for it, or choose another -o"
            )));
        }
        let mut head = Vec::new();
        (&mut file).take(HEAD).read_to_end(&mut head).map_err(fail)?;
        // On a full disk not even the head may have found room.
        let begun = head.len() == HEAD as usize || !MAGIC.starts_with(&head);
        let good = if resume && begun {
            let mut records = Reader::open(path)?;
            if records.fingerprint != fingerprint {
                return Err(Failure::wrong(format!(
                    "{name} belongs to a sweep with another model or other options\n  hint: repeat the old options, or leave out --resume to start again"
                )));
            }
            while let Some(entry) = records.next()? {
                if let Entry::Record(record) = entry {
                    known(&record);
                }
            }
            records.good
        } else {
            0
        };
        file.set_len(good).map_err(fail)?;
        file.seek(SeekFrom::End(0)).map_err(fail)?;
        if good == 0 {
            let head = [&MAGIC[..], &fingerprint.to_le_bytes()].concat();
            file.write_all(&head).map_err(fail)?;
        }
        Ok(Journal { path: path.to_owned(), file })
    }

    /// Appends packed records and hands them to the system.
    ///
    /// # Errors
    /// If the disk is full; what was written before stays.
    pub fn append(&mut self, packed: &[u8]) -> Result<(), Failure> {
        let outcome = self.file.write_all(packed);
        outcome.map_err(|error| self.full(&error))
    }

    /// Appends packed pages that wait in a file.
    ///
    /// # Errors
    /// As [`Journal::append`]; or if the pages cannot be read.
    pub fn append_file(&mut self, mut pages: File) -> Result<(), Failure> {
        let outcome = pages.rewind().and_then(|()| io::copy(&mut pages, &mut self.file));
        outcome.map(drop).map_err(|error| self.full(&error))
    }

    fn full(&self, error: &io::Error) -> Failure {
        let name = self.path.display().to_string();
        match Failure::write(&name, error) {
            Failure::File(message) => Failure::File(format!(
                "{message}\n  hint: make room; the same command with --resume goes on where it stopped"
            )),
            other => other,
        }
    }

    /// Removes the journal: its results are in their file.
    pub fn remove(self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Reads a journal from its beginning.
pub struct Reader {
    name: String,
    file: BufReader<File>,
    fingerprint: u64,
    payload: Vec<u8>,
    /// Length in bytes of the undamaged beginning, up to the last record.
    good: u64,
    /// Of the pages since then.
    pages: u64,
}

impl Reader {
    /// Opens a journal.
    ///
    /// # Errors
    /// If it cannot be read or is not a journal.
    pub fn open(path: &Path) -> Result<Reader, Failure> {
        let name = path.display().to_string();
        let fail = |error| Failure::read(&name, &error);
        let mut file = BufReader::new(File::open(path).map_err(fail)?);
        let mut head = [0; HEAD as usize];
        if read_full(&mut file, &mut head).map_err(fail)? < head.len() || !head.starts_with(MAGIC) {
            return Err(Failure::wrong(format!(
                "{name} is not the journal of a sweep\n  hint: leave out --resume to start again"
            )));
        }
        let mut fingerprint = [0; 8];
        fingerprint.copy_from_slice(&head[MAGIC.len()..]);
        Ok(Reader {
            name,
            file,
            fingerprint: u64::from_le_bytes(fingerprint),
            payload: Vec::new(),
            good: HEAD,
            pages: 0,
        })
    }

    /// The next page or record; `None` at the end or where damage begins.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn next(&mut self) -> Result<Option<Entry>, Failure> {
        let mut head = [0; 12];
        let fail = |error| Failure::read(&self.name, &error);
        if read_full(&mut self.file, &mut head).map_err(fail)? < head.len() {
            return Ok(None);
        }
        let (length, sum) = head.split_at(4);
        let (Ok(length), Ok(sum)) = (length.try_into(), sum.try_into()) else { return Ok(None) };
        let (length, sum) = (u32::from_le_bytes(length), u64::from_le_bytes(sum));
        if length > LONGEST {
            return Ok(None);
        }
        self.payload.clear();
        let got = (&mut self.file).take(u64::from(length)).read_to_end(&mut self.payload).map_err(fail)?;
        if got < length as usize || checksum(&self.payload) != sum {
            return Ok(None);
        }
        let entry = Entry::decode(&self.payload);
        let read = HEAD_OF_RECORD as u64 + u64::from(length);
        match entry {
            Some(Entry::Page(_)) => self.pages += read,
            Some(Entry::Record(_)) => self.good += std::mem::take(&mut self.pages) + read,
            None => {}
        }
        Ok(entry)
    }
}

fn read_full(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// A number that almost surely differs when the bytes do.
pub fn checksum(bytes: &[u8]) -> u64 {
    let mut sum = Checksum::default();
    sum.add(bytes);
    sum.0
}

/// A [`checksum`] of several pieces.
pub struct Checksum(pub u64);

impl Default for Checksum {
    fn default() -> Self {
        Checksum(0xCBF2_9CE4_8422_2325)
    }
}

impl Checksum {
    /// Continues with a piece: eight bytes at a time, mixed as FNV mixes single ones, high bits brought down.
    pub fn add(&mut self, bytes: &[u8]) {
        let mut mix = |word: u64| {
            let h = (self.0 ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            self.0 = h ^ (h >> 32);
        };
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| mix(u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        mix(u64::from_le_bytes(last));
        mix(bytes.len() as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::example;
    use super::*;

    fn packed(records: &[Record]) -> Vec<u8> {
        let mut bytes = Vec::new();
        records.iter().for_each(|record| pack(record, &mut bytes));
        bytes
    }

    fn open(path: &Path, fingerprint: u64) -> (Journal, Vec<Record>) {
        let mut known = Vec::new();
        let journal = Journal::open(path, fingerprint, true, |record| known.push(record.clone())).unwrap();
        (journal, known)
    }

    #[test]
    fn a_journal_cut_anywhere_resumes_with_the_whole_records_before_the_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j.part");
        let mut journal = Journal::open(&path, 42, false, |_| {}).unwrap();
        let records: Vec<Record> = (0..5).map(example).collect();
        let mut ends = vec![fs::metadata(&path).unwrap().len()];
        for r in &records {
            journal.append(&packed(std::slice::from_ref(r))).unwrap();
            ends.push(fs::metadata(&path).unwrap().len());
        }
        drop(journal);
        let whole = fs::read(&path).unwrap();
        for cut in ends[0]..=ends[5] {
            fs::write(&path, &whole[..cut as usize]).unwrap();
            let (mut journal, known) = open(&path, 42);
            assert_eq!(known.len(), ends.iter().filter(|&&end| end <= cut).count() - 1);
            assert_eq!(known, records[..known.len()]);
            journal.append(&packed(&records[known.len()..])).unwrap();
            drop(journal);
            assert_eq!(fs::read(&path).unwrap(), whole, "cut at {cut}");
        }
    }

    #[test]
    fn pages_without_their_record_are_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j.part");
        let mut journal = Journal::open(&path, 42, false, |_| {}).unwrap();
        let page = |n: u64| {
            let mut page = Page::default();
            (0..n).flat_map(|i| example(i).happened).for_each(|happening| page.push(&happening));
            let mut bytes = Vec::new();
            pack_page(&mut page, &mut bytes);
            bytes
        };
        journal.append(&[page(5), page(6), packed(&[example(0)])].concat()).unwrap();
        let good = fs::metadata(&path).unwrap().len();
        journal.append(&[page(7), page(3)].concat()).unwrap();
        drop(journal);
        let (mut journal, known) = open(&path, 42);
        assert_eq!(known, [example(0)]);
        assert_eq!(fs::metadata(&path).unwrap().len(), good);
        let mut waiting = tempfile::tempfile().unwrap();
        waiting.write_all(&page(7)).unwrap();
        journal.append_file(waiting).unwrap();
        journal.append(&packed(&[example(1)])).unwrap();
        drop(journal);
        let mut reader = Reader::open(&path).unwrap();
        let mut lengths = Vec::new();
        while let Some(entry) = reader.next().unwrap() {
            lengths.push(match entry {
                Entry::Page(page) => page.len(),
                Entry::Record(_) => 100,
            });
        }
        // Happenings of the examples: 0, 1, 2, 3, 0, 1, 2 …
        assert_eq!(lengths, [6, 7, 100, 9, 100]);
    }

    #[test]
    fn a_flipped_bit_ends_the_trusted_part_and_another_question_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j.part");
        let mut journal = Journal::open(&path, 1, false, |_| {}).unwrap();
        journal.append(&packed(&[example(0), example(1)])).unwrap();
        drop(journal);
        assert!(Journal::open(&path, 2, true, |_| {}).is_err());
        let bytes = fs::read(&path).unwrap();
        for at in bytes.len() - 40..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            fs::write(&path, &flipped).unwrap();
            assert_eq!(open(&path, 1).1, [example(0)]);
        }
        fs::write(&path, b"something else").unwrap();
        assert!(Journal::open(&path, 1, true, |_| {}).is_err());
    }

    #[test]
    fn a_journal_in_use_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j.part");
        let mut journal = Journal::open(&path, 1, false, |_| {}).unwrap();
        journal.append(&packed(&[example(0)])).unwrap();
        let error = Journal::open(&path, 1, false, |_| {}).err().unwrap();
        assert!(error.to_string().contains("another sweep"), "{error}");
        drop(journal);
        assert_eq!(open(&path, 1).1, [example(0)]);
    }
}
