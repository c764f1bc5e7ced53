//! What a sweep has computed so far, on disk: a fingerprint of the question, then one record per finished trajectory, in
//! order. A record cut short by a crash or a full disk is recognised by its length or checksum and dropped.
//!
//! ```text
//! "carom sweep 1\n"  fingerprint (8 bytes)   [ length (4)  checksum (8)  payload ]*       little endian
//! ```

use crate::failure::Failure;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 14] = b"carom sweep 1\n";
const HEAD: u64 = MAGIC.len() as u64 + 8;
/// No record is longer: a larger length is damage, not data.
const LONGEST: u32 = 1 << 30;

/// One finished trajectory.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Record {
    /// Name of the stop reason, or `invalid` when it could not be started.
    pub stop: String,
    /// When it ended.
    pub time: f64,
    /// How many impacts it had.
    pub impacts: u64,
    /// Final coordinates, velocities and outputs.
    pub numbers: Vec<f64>,
    /// How well the energy balance was kept.
    pub hamiltonian_drift: f64,
    /// What went wrong.
    pub error: String,
    /// Impacts, if asked for.
    pub impact_rows: Vec<ImpactRow>,
}

/// One wall hit by one impact of a trajectory.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ImpactRow {
    /// When.
    pub time: f64,
    /// Index of the wall.
    pub wall: u32,
    /// λ
    pub impulse: f64,
    /// Coordinates, then velocities after.
    pub state: Vec<f64>,
}

/// A journal open for appending.
pub struct Journal {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Journal {
    /// Where the journal of an output file is.
    pub fn path(output: &str) -> PathBuf {
        let path = Path::new(output);
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        path.with_file_name(format!("{name}.part"))
    }

    /// Opens a journal; with `resume`, keeps the records of the same question. Returns how many are there.
    ///
    /// # Errors
    /// If the file cannot be written, or belongs to another sweep.
    pub fn open(path: &Path, fingerprint: u64, resume: bool) -> Result<(Journal, u64), Failure> {
        let name = path.display().to_string();
        let fail = |error| Failure::write(&name, &error);
        if resume && path.exists() {
            let mut records = Reader::open(path)?;
            if records.fingerprint != fingerprint {
                return Err(Failure::wrong(format!(
                    "{name} belongs to a sweep with another model or other options\n  hint: repeat the old options, or leave out --resume to start again"
                )));
            }
            let mut count = 0;
            while records.next()?.is_some() {
                count += 1;
            }
            let mut file = File::options().read(true).write(true).open(path).map_err(fail)?;
            file.set_len(records.good).map_err(fail)?;
            file.seek(SeekFrom::End(0)).map_err(fail)?;
            return Ok((Journal { path: path.to_owned(), file: BufWriter::new(file) }, count));
        }
        let mut file = BufWriter::new(File::create(path).map_err(fail)?);
        file.write_all(MAGIC).map_err(fail)?;
        file.write_all(&fingerprint.to_le_bytes()).map_err(fail)?;
        file.flush().map_err(fail)?;
        Ok((Journal { path: path.to_owned(), file }, 0))
    }

    /// Appends records and hands them to the system.
    ///
    /// # Errors
    /// If the disk is full; what was written before stays.
    pub fn append(&mut self, records: &[Record]) -> Result<(), Failure> {
        let fail = |error| Failure::write(&self.path.display().to_string(), &error);
        for record in records {
            let payload = record.encode();
            self.file.write_all(&(payload.len() as u32).to_le_bytes()).map_err(fail)?;
            self.file.write_all(&checksum(&payload).to_le_bytes()).map_err(fail)?;
            self.file.write_all(&payload).map_err(fail)?;
        }
        self.file.flush().map_err(fail)
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
    /// Length of the undamaged beginning in bytes.
    good: u64,
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
        Ok(Reader { name, file, fingerprint: u64::from_le_bytes(fingerprint), good: HEAD })
    }

    /// The next record; `None` at the end or where damage begins.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn next(&mut self) -> Result<Option<Record>, Failure> {
        let mut head = [0; 12];
        let fail = |error| Failure::read(&self.name, &error);
        if read_full(&mut self.file, &mut head).map_err(fail)? < head.len() {
            return Ok(None);
        }
        let mut bytes = Bytes(&head);
        let (Some(length), Some(sum)) = (bytes.u32(), bytes.u64()) else { return Ok(None) };
        if length > LONGEST {
            return Ok(None);
        }
        let mut payload = Vec::new();
        let got = (&mut self.file).take(u64::from(length)).read_to_end(&mut payload).map_err(fail)?;
        if got < length as usize || checksum(&payload) != sum {
            return Ok(None);
        }
        let record = Record::decode(&payload);
        if record.is_some() {
            self.good += 12 + u64::from(length);
        }
        Ok(record)
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

/// FNV-1a, 64 bits.
pub fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01B3))
}

impl Record {
    /// The row of a trajectory that could not be started.
    pub fn invalid(error: String) -> Record {
        Record {
            stop: "invalid".to_owned(),
            time: f64::NAN,
            hamiltonian_drift: f64::NAN,
            error,
            ..Record::default()
        }
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64 + 8 * self.numbers.len());
        text(&mut out, &self.stop);
        out.extend(self.time.to_le_bytes());
        out.extend(self.impacts.to_le_bytes());
        numbers(&mut out, &self.numbers);
        out.extend(self.hamiltonian_drift.to_le_bytes());
        text(&mut out, &self.error);
        out.extend((self.impact_rows.len() as u32).to_le_bytes());
        for impact in &self.impact_rows {
            out.extend(impact.time.to_le_bytes());
            out.extend(impact.wall.to_le_bytes());
            out.extend(impact.impulse.to_le_bytes());
            numbers(&mut out, &impact.state);
        }
        out
    }

    fn decode(payload: &[u8]) -> Option<Record> {
        let mut bytes = Bytes(payload);
        let mut record = Record {
            stop: bytes.text()?,
            time: bytes.f64()?,
            impacts: bytes.u64()?,
            numbers: bytes.numbers()?,
            hamiltonian_drift: bytes.f64()?,
            error: bytes.text()?,
            impact_rows: Vec::new(),
        };
        for _ in 0..bytes.u32()? {
            let (time, wall, impulse) = (bytes.f64()?, bytes.u32()?, bytes.f64()?);
            record.impact_rows.push(ImpactRow { time, wall, impulse, state: bytes.numbers()? });
        }
        bytes.0.is_empty().then_some(record)
    }
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u32).to_le_bytes());
    out.extend(text.as_bytes());
}

fn numbers(out: &mut Vec<u8>, values: &[f64]) {
    out.extend((values.len() as u32).to_le_bytes());
    values.iter().for_each(|v| out.extend(v.to_le_bytes()));
}

/// Bytes still to be read.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(n)?;
        self.0 = tail;
        Some(head)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    fn f64(&mut self) -> Option<f64> {
        self.u64().map(f64::from_bits)
    }

    fn text(&mut self) -> Option<String> {
        let n = self.u32()? as usize;
        String::from_utf8(self.take(n)?.to_vec()).ok()
    }

    fn numbers(&mut self) -> Option<Vec<f64>> {
        let n = self.u32()? as usize;
        (0..n).map(|_| self.f64()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(i: u64) -> Record {
        let impact = ImpactRow { time: 0.5, wall: 3, impulse: f64::MIN_POSITIVE, state: vec![1.0, -0.0] };
        Record {
            stop: "reached".into(),
            time: i as f64 / 3.0,
            impacts: i,
            numbers: vec![f64::NAN.copysign(1.0), 1e300],
            hamiltonian_drift: 1e-16,
            error: if i.is_multiple_of(2) { String::new() } else { "what, \"really\"?".into() },
            impact_rows: vec![impact; (i % 3) as usize],
        }
    }

    #[test]
    fn a_journal_cut_anywhere_resumes_with_the_whole_records_before_the_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j.part");
        let (mut journal, _) = Journal::open(&path, 42, false).unwrap();
        let records: Vec<Record> = (0..5).map(record).collect();
        let mut ends = vec![fs::metadata(&path).unwrap().len()];
        for r in &records {
            journal.append(std::slice::from_ref(r)).unwrap();
            ends.push(fs::metadata(&path).unwrap().len());
        }
        let whole = fs::read(&path).unwrap();
        for cut in ends[0]..=ends[5] {
            fs::write(&path, &whole[..cut as usize]).unwrap();
            let (mut journal, count) = Journal::open(&path, 42, true).unwrap();
            assert_eq!(count as usize, ends.iter().filter(|&&end| end <= cut).count() - 1);
            journal.append(&records[count as usize..]).unwrap();
            drop(journal);
            assert_eq!(fs::read(&path).unwrap(), whole, "cut at {cut}");
        }
    }

    #[test]
    fn a_flipped_bit_ends_the_trusted_part_and_another_question_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j.part");
        let (mut journal, _) = Journal::open(&path, 1, false).unwrap();
        journal.append(&[record(0), record(1)]).unwrap();
        drop(journal);
        assert!(Journal::open(&path, 2, true).is_err());
        let mut bytes = fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&path, &bytes).unwrap();
        assert_eq!(Journal::open(&path, 1, true).unwrap().1, 1);
        fs::write(&path, b"something else").unwrap();
        assert!(Journal::open(&path, 1, true).is_err());
    }
}
