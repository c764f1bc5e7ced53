//! What a sweep has computed so far, on disk: a fingerprint of the question, then for every finished trajectory, in order, the
//! pages of its impacts and its record. Each block says whose it is and which of its blocks, so that none can be lost,
//! repeated or moved without being missed. What was cut short by a crash or a full disk, or does not continue what stands
//! before it, is recognised and dropped, with the pages before it.
//!
//! ```text
//! "carom sweep 4\n"  fingerprint (8 bytes)   [ length (4)  trajectory (8)  part (4)  checksum (8)  payload ]*      little endian
//! ```
//!
//! Pages are the parts 0, 1, … of their trajectory, its record is the last.

use super::record::{ImpactPage, JournalEntry, Record};
use crate::failure::Failure;
use crate::limits;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 14] = b"carom sweep 4\n";
/// What journals of every version begin with.
const ANY_MAGIC: &[u8; 12] = b"carom sweep ";
const HEAD: u64 = MAGIC.len() as u64 + 8;
/// Length, trajectory, part and checksum.
pub const HEAD_OF_BLOCK: usize = 24;
/// No record is longer: a larger length is damage, not data.
const LONGEST: u32 = 1 << 30;

/// A journal open for appending.
pub struct Journal {
    path: PathBuf,
    file: File,
}

/// Appends the record of a trajectory, which is its part `part`, as it is in a journal.
pub fn pack(record: &Record, trajectory: u64, part: u32, out: &mut Vec<u8>) {
    out.reserve(128 + 8 * record.numbers.len());
    sealed(out, trajectory, part, |out| record.encode(out));
}

/// The same for a page, which is empty afterwards.
pub fn pack_page(page: &mut ImpactPage, trajectory: u64, part: u32, out: &mut Vec<u8>) {
    out.reserve(HEAD_OF_BLOCK + 8 + page.len());
    sealed(out, trajectory, part, |out| page.encode(out));
}

/// A payload after its length, its place and their checksum.
fn sealed(out: &mut Vec<u8>, trajectory: u64, part: u32, payload: impl FnOnce(&mut Vec<u8>)) {
    let head = out.len();
    let begin = head + HEAD_OF_BLOCK;
    out.extend([0; HEAD_OF_BLOCK]);
    payload(out);
    let (length, sum) = (out.len() - begin, seal(trajectory, part, &out[begin..]));
    let head = &mut out[head..begin];
    head[..4].copy_from_slice(&(length as u32).to_le_bytes());
    head[4..12].copy_from_slice(&trajectory.to_le_bytes());
    head[12..16].copy_from_slice(&part.to_le_bytes());
    head[16..].copy_from_slice(&sum.to_le_bytes());
}

/// The checksum of a block.
fn seal(trajectory: u64, part: u32, payload: &[u8]) -> u64 {
    let mut sum = Checksum::default();
    sum.add(&trajectory.to_le_bytes());
    sum.add(&part.to_le_bytes());
    sum.add(payload);
    sum.0
}

/// Opens a journal that is there: a file by itself, no link, no other name of another file.
fn existing(path: &Path, write: bool) -> Result<File, Failure> {
    let name = path.display().to_string();
    let strange = |what: &str| {
        Failure::File(format!("cannot write {name}: it is {what}\n  hint: remove it, or choose another -o"))
    };
    let fail = |error| if write { Failure::write(&name, &error) } else { Failure::read(&name, &error) };
    let found = fs::symlink_metadata(path).map_err(fail)?;
    if found.is_symlink() {
        return Err(strange("a link"));
    }
    if !found.is_file() {
        return Err(strange("not a file"));
    }
    // Should a link take its place meanwhile, it is not followed.
    let file = limits::not_following(File::options().read(true).write(write)).open(path).map_err(fail)?;
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::nlink(&file.metadata().map_err(fail)?) > 1 {
        return Err(strange("another name of some other file"));
    }
    Ok(file)
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
        let mut file = match File::options().read(true).write(true).create_new(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => existing(path, true)?,
            outcome => outcome.map_err(fail)?,
        };
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
        if !resume && begun && !head.starts_with(ANY_MAGIC) {
            return Err(Failure::File(format!(
                "cannot write {name}: there is a file that is not the journal of a sweep\n  hint: remove it, or choose another -o"
            )));
        }
        let good = if resume && begun {
            let mut records = JournalReader::open(path)?;
            if records.fingerprint != fingerprint {
                return Err(Failure::wrong(format!(
                    "{name} belongs to a sweep with another model or other options\n  hint: repeat the old options, or leave out --resume to start again"
                )));
            }
            while let Some(entry) = records.next()? {
                if let JournalEntry::Record(record) = entry {
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
        Failure::write(&name, error)
            .with_hint("make room; the same command with --resume goes on where it stopped")
    }

    /// Removes the journal: its results are in their file.
    pub fn remove(self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Reads a journal from its beginning.
pub struct JournalReader {
    name: String,
    file: BufReader<File>,
    fingerprint: u64,
    payload: Vec<u8>,
    /// The trajectory whose blocks come next, and which of them.
    next: (u64, u32),
    /// Length in bytes of the undamaged beginning, up to the last record.
    good: u64,
    /// Of the pages since then.
    pages: u64,
}

impl JournalReader {
    /// Opens a journal.
    ///
    /// # Errors
    /// If it cannot be read or is not a journal.
    pub fn open(path: &Path) -> Result<JournalReader, Failure> {
        let name = path.display().to_string();
        let fail = |error| Failure::read(&name, &error);
        let mut file = BufReader::new(existing(path, false)?);
        let mut head = [0; HEAD as usize];
        let got = read_full(&mut file, &mut head).map_err(fail)?;
        if head.starts_with(ANY_MAGIC) && !head.starts_with(MAGIC) {
            return Err(Failure::wrong(format!(
                "{name} was written by another version of carom\n  hint: go on with that version, or leave out --resume to start again"
            )));
        }
        if got < head.len() || !head.starts_with(MAGIC) {
            return Err(Failure::wrong(format!(
                "{name} is not the journal of a sweep\n  hint: leave out --resume to start again"
            )));
        }
        let mut fingerprint = [0; 8];
        fingerprint.copy_from_slice(&head[MAGIC.len()..]);
        Ok(JournalReader {
            name,
            file,
            fingerprint: u64::from_le_bytes(fingerprint),
            payload: Vec::new(),
            next: (0, 0),
            good: HEAD,
            pages: 0,
        })
    }

    /// The next page or record; `None` at the end or where damage begins.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn next(&mut self) -> Result<Option<JournalEntry>, Failure> {
        let mut head = [0; HEAD_OF_BLOCK];
        let fail = |error| Failure::read(&self.name, &error);
        if read_full(&mut self.file, &mut head).map_err(fail)? < head.len() {
            return Ok(None);
        }
        let number = |range: std::ops::Range<usize>| {
            head[range].iter().rev().fold(0_u64, |n, byte| n << 8 | u64::from(*byte))
        };
        let (length, trajectory, part, sum) = (number(0..4), number(4..12), number(12..16), number(16..24));
        if length > u64::from(LONGEST) || (trajectory, part) != (self.next.0, u64::from(self.next.1)) {
            return Ok(None);
        }
        self.payload.clear();
        let got = (&mut self.file).take(length).read_to_end(&mut self.payload).map_err(fail)?;
        if (got as u64) < length || seal(trajectory, self.next.1, &self.payload) != sum {
            return Ok(None);
        }
        let entry = JournalEntry::decode(&self.payload);
        let read = HEAD_OF_BLOCK as u64 + length;
        match entry {
            Some(JournalEntry::Page(_)) => {
                self.next.1 += 1;
                self.pages += read;
            }
            Some(JournalEntry::Record(_)) => {
                self.next = (trajectory + 1, 0);
                self.good += std::mem::take(&mut self.pages) + read;
            }
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

/// A number that almost surely differs when the bytes do, of several pieces.
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

    /// Records of the trajectories from `first` on.
    fn packed(first: usize, records: &[Record]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (i, record) in records.iter().enumerate() {
            pack(record, (first + i) as u64, 0, &mut bytes);
        }
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
        for (i, r) in records.iter().enumerate() {
            journal.append(&packed(i, std::slice::from_ref(r))).unwrap();
            ends.push(fs::metadata(&path).unwrap().len());
        }
        drop(journal);
        let whole = fs::read(&path).unwrap();
        for cut in ends[0]..=ends[5] {
            fs::write(&path, &whole[..cut as usize]).unwrap();
            let (mut journal, known) = open(&path, 42);
            assert_eq!(known.len(), ends.iter().filter(|&&end| end <= cut).count() - 1);
            assert_eq!(known, records[..known.len()]);
            journal.append(&packed(known.len(), &records[known.len()..])).unwrap();
            drop(journal);
            assert_eq!(fs::read(&path).unwrap(), whole, "cut at {cut}");
        }
    }

    #[test]
    fn pages_without_their_record_are_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j.part");
        let mut journal = Journal::open(&path, 42, false, |_| {}).unwrap();
        let page = |n: u64, trajectory: u64, part: u32| {
            let mut page = ImpactPage::default();
            (0..n).flat_map(|i| example(i).occurrences).for_each(|occurrence| page.push(&occurrence));
            let mut bytes = Vec::new();
            pack_page(&mut page, trajectory, part, &mut bytes);
            bytes
        };
        let record = |i: u64, part: u32| {
            let mut bytes = Vec::new();
            pack(&example(i), i, part, &mut bytes);
            bytes
        };
        journal.append(&[page(5, 0, 0), page(6, 0, 1), record(0, 2)].concat()).unwrap();
        let good = fs::metadata(&path).unwrap().len();
        journal.append(&[page(7, 1, 0), page(3, 1, 1)].concat()).unwrap();
        drop(journal);
        let (mut journal, known) = open(&path, 42);
        assert_eq!(known, [example(0)]);
        assert_eq!(fs::metadata(&path).unwrap().len(), good);
        let mut waiting = tempfile::tempfile().unwrap();
        waiting.write_all(&page(7, 1, 0)).unwrap();
        journal.append_file(waiting).unwrap();
        journal.append(&record(1, 1)).unwrap();
        drop(journal);
        let mut reader = JournalReader::open(&path).unwrap();
        let mut lengths = Vec::new();
        while let Some(entry) = reader.next().unwrap() {
            lengths.push(match entry {
                JournalEntry::Page(page) => page.len(),
                JournalEntry::Record(_) => 100,
            });
        }
        // Occurrences of the examples: 0, 1, 2, 3, 0, 1, 2 …
        assert_eq!(lengths, [6, 7, 100, 9, 100]);
    }

    #[test]
    fn a_flipped_bit_ends_the_trusted_part_and_another_question_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j.part");
        let mut journal = Journal::open(&path, 1, false, |_| {}).unwrap();
        journal.append(&packed(0, &[example(0), example(1)])).unwrap();
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
        journal.append(&packed(0, &[example(0)])).unwrap();
        let error = Journal::open(&path, 1, false, |_| {}).err().unwrap();
        assert!(error.to_string().contains("another sweep"), "{error}");
        drop(journal);
        assert_eq!(open(&path, 1).1, [example(0)]);
    }

    #[test]
    fn a_block_lost_repeated_or_moved_ends_the_trusted_part() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j.part");
        drop(Journal::open(&path, 9, false, |_| {}).unwrap());
        let head = fs::read(&path).unwrap();
        // Trajectory i has i mod 3 pages: blocks with the number of whole trajectories before each.
        let mut blocks: Vec<(usize, Vec<u8>)> = Vec::new();
        for i in 0..5_u64 {
            for part in 0..(i % 3) as u32 {
                let mut page = ImpactPage::default();
                example(3).occurrences.iter().for_each(|h| page.push(h));
                let mut bytes = Vec::new();
                pack_page(&mut page, i, part, &mut bytes);
                blocks.push((i as usize, bytes));
            }
            let mut bytes = Vec::new();
            pack(&example(i), i, (i % 3) as u32, &mut bytes);
            blocks.push((i as usize, bytes));
        }
        let known = |order: &[usize]| {
            let body: Vec<u8> = order.iter().flat_map(|&k| blocks[k].1.clone()).collect();
            fs::write(&path, [&head[..], &body].concat()).unwrap();
            let (_, known) = open(&path, 9);
            assert_eq!(known, (0..known.len() as u64).map(example).collect::<Vec<_>>());
            known.len()
        };
        let all: Vec<usize> = (0..blocks.len()).collect();
        assert_eq!(known(&all), 5);
        for k in 0..blocks.len() {
            let mut lost = all.clone();
            lost.remove(k);
            assert_eq!(known(&lost), blocks[k].0, "block {k} lost");
            let mut twice = all.clone();
            twice.insert(k, k);
            // A record is whole before it comes again.
            let whole = blocks[k].0 + usize::from(blocks.get(k + 1).is_none_or(|b| b.0 > blocks[k].0));
            assert_eq!(known(&twice), whole, "block {k} twice");
            if k > 0 {
                let mut swapped = all.clone();
                swapped.swap(k - 1, k);
                assert_eq!(known(&swapped), blocks[k - 1].0, "blocks {} and {k} swapped", k - 1);
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_journal_is_never_written_through_a_link_or_over_something_else() {
        let folder = tempfile::tempdir().unwrap();
        let (victim, path) = (folder.path().join("victim"), folder.path().join("j.part"));
        fs::write(&victim, "untouched").unwrap();
        let refused = |what: &str| {
            for resume in [false, true] {
                let error = Journal::open(&path, 1, resume, |_| {}).err().unwrap();
                assert!(error.to_string().contains("hint:"), "{what}: {error}");
            }
            assert_eq!(fs::read(&victim).unwrap(), b"untouched", "{what}");
        };
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        refused("a link");
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(folder.path().join("nowhere"), &path).unwrap();
        refused("a link to nowhere");
        assert!(!folder.path().join("nowhere").exists());
        fs::remove_file(&path).unwrap();
        fs::hard_link(&victim, &path).unwrap();
        refused("a second name");
        fs::remove_file(&path).unwrap();
        fs::write(&path, "a letter to my grandmother").unwrap();
        refused("someone's file");
        assert_eq!(fs::read(&path).unwrap(), b"a letter to my grandmother");
        fs::write(&path, [b"carom sweep 3\n".as_slice(), &[0; 20]].concat()).unwrap();
        let error = Journal::open(&path, 1, true, |_| {}).err().unwrap();
        assert!(error.to_string().contains("another version"), "{error}");
        assert!(Journal::open(&path, 1, false, |_| {}).is_ok());
    }
}
