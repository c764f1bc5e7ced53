//! What a sweep keeps of one trajectory, and its bytes in the journal: pages of its impacts, if they were asked for, then one
//! record.
//!
//! ```text
//! page        254 (1)  occurrences
//! record      stop (1)  time (8)  impacts (8)  drift (8)  numbers  fired  error  warnings  occurrences     lists: length (4), elements
//! occurrence  time (8)  what (4)  impulse (8)  numbers
//! ```

use carom_run::StopReason;

/// Names of the ways to end, by their number in the journal: new ones go last.
const STOPS: [StopReason; 12] = [
    StopReason::Reached,
    StopReason::StoppedByEvent,
    StopReason::ZenoWithoutContinuation,
    StopReason::ImpactLimit,
    StopReason::StepLimit,
    StopReason::Singular,
    StopReason::Squeezed,
    StopReason::WallNotEnforceable,
    StopReason::SlidingMode,
    StopReason::InconsistentReset,
    StopReason::Interrupted,
    StopReason::NotFinite,
];
/// A trajectory that could not be started.
const INVALID: u8 = u8::MAX;
/// Not a way to end: a page of impacts.
const PAGE: u8 = u8::MAX - 1;

/// What a payload of the journal is.
#[derive(Clone, PartialEq, Debug)]
pub enum JournalEntry {
    /// Impacts of the trajectory whose record comes next: one per wall that was hit.
    Page(Vec<Occurrence>),
    /// A finished trajectory.
    Record(Record),
}

/// One finished trajectory.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Record {
    /// How it ended; `None` when it could not be started.
    pub stop: Option<StopReason>,
    /// When it ended.
    pub time: f64,
    /// How many impacts it had.
    pub impacts: u64,
    /// Final coordinates, velocities and chosen outputs.
    pub numbers: Vec<f64>,
    /// How well the energy balance was kept.
    pub hamiltonian_drift: f64,
    /// How often and when the chosen events fired.
    pub fired: Vec<Fired>,
    /// What went wrong.
    pub error: String,
    /// What a user should know about it, one of each kind.
    pub warnings: Vec<String>,
    /// The chosen events.
    pub occurrences: Vec<Occurrence>,
}

/// How often an event fired.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fired {
    /// How often.
    pub count: u64,
    /// When first; NaN if never.
    pub first: f64,
    /// When last; NaN if never.
    pub last: f64,
}

/// A wall that was hit, or an event that fired.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Occurrence {
    /// When.
    pub time: f64,
    /// Index of the wall or of the event.
    pub what: u32,
    /// λ; NaN for an event.
    pub impulse: f64,
    /// Coordinates, then velocities after.
    pub state: Vec<f64>,
}

impl Record {
    /// The row of a trajectory that could not be started.
    pub fn invalid(error: String) -> Record {
        Record { time: f64::NAN, hamiltonian_drift: f64::NAN, error, ..Record::default() }
    }

    /// The name of how it ended.
    pub fn stop_name(&self) -> &'static str {
        self.stop.map_or("invalid", StopReason::name)
    }

    /// Appends the record's bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let stop = self.stop.and_then(|stop| STOPS.iter().position(|s| *s == stop));
        out.push(stop.map_or(INVALID, |i| i as u8));
        out.extend(self.time.to_le_bytes());
        out.extend(self.impacts.to_le_bytes());
        out.extend(self.hamiltonian_drift.to_le_bytes());
        numbers(out, &self.numbers);
        length(out, self.fired.len());
        for fired in &self.fired {
            out.extend(fired.count.to_le_bytes());
            out.extend(fired.first.to_le_bytes());
            out.extend(fired.last.to_le_bytes());
        }
        text(out, &self.error);
        length(out, self.warnings.len());
        self.warnings.iter().for_each(|warning| text(out, warning));
        length(out, self.occurrences.len());
        for occurrence in &self.occurrences {
            occurrence.encode(out);
        }
    }

    /// The record of these bytes, if they are one.
    pub fn decode(payload: &[u8]) -> Option<Record> {
        let mut bytes = Bytes(payload);
        let stop = match bytes.take(1)?[0] {
            INVALID => None,
            number => Some(*STOPS.get(usize::from(number))?),
        };
        let record = Record {
            stop,
            time: bytes.f64()?,
            impacts: bytes.u64()?,
            hamiltonian_drift: bytes.f64()?,
            numbers: bytes.numbers()?,
            fired: bytes.list(|b| Some(Fired { count: b.u64()?, first: b.f64()?, last: b.f64()? }))?,
            error: bytes.text()?,
            warnings: bytes.list(Bytes::text)?,
            occurrences: bytes.list(Bytes::occurrence)?,
        };
        bytes.0.is_empty().then_some(record)
    }
}

impl Occurrence {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.time.to_le_bytes());
        out.extend(self.what.to_le_bytes());
        out.extend(self.impulse.to_le_bytes());
        numbers(out, &self.state);
    }
}

impl JournalEntry {
    /// What these bytes are, if they are anything.
    pub fn decode(payload: &[u8]) -> Option<JournalEntry> {
        if payload.first() != Some(&PAGE) {
            return Record::decode(payload).map(JournalEntry::Record);
        }
        let mut bytes = Bytes(&payload[1..]);
        let page = bytes.list(Bytes::occurrence)?;
        bytes.0.is_empty().then_some(JournalEntry::Page(page))
    }
}

/// A page being filled.
#[derive(Default)]
pub struct ImpactPage {
    count: usize,
    occurrences: Vec<u8>,
}

impl ImpactPage {
    /// Adds an occurrence.
    pub fn push(&mut self, occurrence: &Occurrence) {
        self.count += 1;
        occurrence.encode(&mut self.occurrences);
    }

    /// How many bytes it holds.
    pub fn len(&self) -> usize {
        self.occurrences.len()
    }

    /// Appends the page's bytes and begins another.
    pub fn encode(&mut self, out: &mut Vec<u8>) {
        out.push(PAGE);
        length(out, std::mem::take(&mut self.count));
        out.append(&mut self.occurrences);
    }
}

fn length(out: &mut Vec<u8>, n: usize) {
    out.extend((n as u32).to_le_bytes());
}

fn text(out: &mut Vec<u8>, text: &str) {
    length(out, text.len());
    out.extend(text.as_bytes());
}

fn numbers(out: &mut Vec<u8>, values: &[f64]) {
    length(out, values.len());
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
        let bytes = self.take(n.checked_mul(8)?)?;
        Some(bytes.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect())
    }

    fn list<T>(&mut self, mut element: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        (0..self.u32()?).map(|_| element(self)).collect()
    }

    fn occurrence(&mut self) -> Option<Occurrence> {
        Some(Occurrence {
            time: self.f64()?,
            what: self.u32()?,
            impulse: self.f64()?,
            state: self.numbers()?,
        })
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Records of every shape.
    pub fn example(i: u64) -> Record {
        let occurrence =
            Occurrence { time: 0.5, what: 3, impulse: f64::MIN_POSITIVE, state: vec![1.0, -0.0] };
        Record {
            stop: STOPS.get(i as usize).copied(),
            time: i as f64 / 3.0,
            impacts: i,
            numbers: vec![-1.5, 1e300],
            hamiltonian_drift: 1e-16,
            fired: vec![Fired { count: i, first: 0.1, last: 0.2 }; (i % 2) as usize],
            error: if i.is_multiple_of(2) { String::new() } else { "what, \"really\"?".into() },
            warnings: vec!["stiff".into(); (i % 3) as usize],
            occurrences: vec![occurrence; (i % 4) as usize],
        }
    }

    #[test]
    fn every_record_reads_back_and_no_part_of_it_does() {
        for i in 0..14 {
            let mut bytes = Vec::new();
            example(i).encode(&mut bytes);
            assert_eq!(Record::decode(&bytes), Some(example(i)));
            for cut in 0..bytes.len() {
                assert_eq!(Record::decode(&bytes[..cut]), None);
            }
        }
    }

    #[test]
    fn a_page_reads_back_and_no_part_of_it_does() {
        let all: Vec<Occurrence> = (0..5).flat_map(|i| example(i).occurrences).collect();
        let mut page = ImpactPage::default();
        all.iter().for_each(|occurrence| page.push(occurrence));
        let (mut bytes, mut empty) = (Vec::new(), Vec::new());
        page.encode(&mut bytes);
        page.encode(&mut empty);
        assert_eq!(JournalEntry::decode(&bytes), Some(JournalEntry::Page(all)));
        assert_eq!(JournalEntry::decode(&empty), Some(JournalEntry::Page(Vec::new())));
        for cut in 0..bytes.len() {
            assert_eq!(JournalEntry::decode(&bytes[..cut]), None);
        }
    }

    #[test]
    fn every_way_to_end_has_a_number_of_its_own() {
        let names: std::collections::BTreeSet<_> = STOPS.iter().map(|s| s.name()).collect();
        assert_eq!(names.len(), STOPS.len());
    }
}
