//! NumPy's archive: a zip of one `.npy` array per column, stored without compression, so `numpy.load` maps straight onto
//! it. Several tables go into one archive, each column under its table's prefix (`impacts.time`).
//!
//! ```text
//! [ head (30)  name  sizes₆₄?  array ]*     [ entry (46)  name  sizes₆₄, place₆₄? ]*     end₆₄ (56)  locator (20)?     end (22)
//! ```
//!
//! Sizes and places of 4 GiB and more do not fit their 32 bits: what is marked by `?` is there, with 64, where they occur.

use super::{ColumnValues, Table};
use crate::provenance::Stamp;
use flate2::Crc;

/// The tables as one npz archive; each comes with the prefix of its column names (`""` for the main one).
///
/// # Errors
/// When a column's name is longer than a zip can hold.
pub fn npz(tables: &[(&str, &Table)]) -> Result<Vec<u8>, String> {
    let columns = || tables.iter().flat_map(|(prefix, t)| t.columns.iter().map(move |c| (prefix, c)));
    let mut places = Vec::new();
    for (prefix, column) in columns() {
        places.push(ArrayHeader::new(&format!("{prefix}{}", column.name), &column.values));
    }
    let stamp = tables.iter().find_map(|(_, table)| table.stamp.as_ref());
    let mut archive = NpzArchive::new(places)?.stamped(stamp);
    let mut bytes = Vec::new();
    let mut put = |(at, piece): (u64, Vec<u8>)| {
        let at = at as usize;
        bytes.resize(bytes.len().max(at + piece.len()), 0);
        bytes[at..at + piece.len()].copy_from_slice(&piece);
    };
    for (k, (_, column)) in columns().enumerate() {
        put(archive.piece(k, &column.values));
    }
    archive.finish()?.into_iter().for_each(put);
    Ok(bytes)
}

/// Name, length and kind of a column before its values are known.
#[derive(Clone, Debug)]
pub struct ArrayHeader {
    name: String,
    rows: usize,
    /// `<f8`, `<i8` or `<U` with this many characters.
    characters: Option<usize>,
    kind: &'static str,
}

impl ArrayHeader {
    /// The place these values need.
    pub fn new(name: &str, values: &ColumnValues) -> ArrayHeader {
        ArrayHeader::sized(name, values, values.len(), values.characters())
    }

    /// The place of `rows` values of the same kind as `values`; texts have at most so many characters.
    pub fn sized(name: &str, values: &ColumnValues, rows: usize, characters: usize) -> ArrayHeader {
        let (kind, characters) = match values {
            ColumnValues::Numbers(_) => ("<f8", None),
            ColumnValues::Integers(_) => ("<i8", None),
            ColumnValues::Texts(_) => ("<U", Some(characters.max(1))),
        };
        ArrayHeader { name: format!("{name}.npy"), rows, characters, kind }
    }

    /// Bytes per row.
    fn width(&self) -> usize {
        self.characters.map_or(8, |n| 4 * n)
    }

    /// The beginning of the array's file, `.npy` version 1.0.
    fn header(&self) -> Vec<u8> {
        let kind = self.characters.map_or_else(|| self.kind.to_string(), |n| format!("<U{n}"));
        let mut header =
            format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({},), }}", self.rows);
        // Magic, version and length take 10 bytes; the data starts at a multiple of 64.
        let padded = (10 + header.len() + 1).next_multiple_of(64) - 11;
        while header.len() < padded {
            header.push(' ');
        }
        header.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes
    }
}

/// An npz archive whose columns are written piece by piece, all of them in one pass: each piece comes with its place in the
/// file. For tables too long to hold.
pub struct NpzArchive {
    entries: Vec<ArrayMember>,
    /// Of the whole archive.
    comment: Vec<u8>,
    /// From here on a number needs 64 bits.
    limit: u64,
}

struct ArrayMember {
    place: ArrayHeader,
    /// Where its local header begins in the file.
    offset: u64,
    /// Where its next values go.
    next: u64,
    crc: Crc,
    size: u64,
}

impl NpzArchive {
    /// An archive of these columns.
    ///
    /// # Errors
    /// When it would have more bytes than 64 bits can count.
    pub fn new(places: Vec<ArrayHeader>) -> Result<NpzArchive, String> {
        NpzArchive::limited(places, LARGE)
    }

    /// The same where numbers from `limit` on, 4 GiB − 1 at most, are written with 64 bits.
    fn limited(places: Vec<ArrayHeader>, limit: u64) -> Result<NpzArchive, String> {
        let too_long = || "so many values do not fit an npz file".to_string();
        let mut offset = 0u64;
        let mut entries = Vec::with_capacity(places.len());
        for place in places {
            let header = place.header();
            let data = (place.rows as u64).checked_mul(place.width() as u64).ok_or_else(too_long)?;
            let size = data.checked_add(header.len() as u64).ok_or_else(too_long)?;
            let sizes = if size >= limit { LOCAL_SIZES } else { 0 };
            let next = offset + (LOCAL_HEAD + place.name.len() + sizes + header.len()) as u64;
            let mut crc = Crc::new();
            crc.update(&header);
            entries.push(ArrayMember { place, offset, next, crc, size });
            offset = next.checked_add(data).ok_or_else(too_long)?;
        }
        Ok(NpzArchive { entries, comment: Vec::new(), limit })
    }

    /// The same with a comment that says where it comes from (`zipfile.ZipFile(FILE).comment` in Python); one that is longer
    /// than a zip can hold is left out.
    pub fn stamped(mut self, stamp: Option<&Stamp>) -> NpzArchive {
        let comment = stamp.map(|stamp| stamp.json().as_bytes()).filter(|c| c.len() <= usize::from(u16::MAX));
        self.comment = comment.map(<[u8]>::to_vec).unwrap_or_default();
        self
    }

    /// The next values of a column: where they go in the file, and their bytes. Texts longer than their place are cut.
    pub fn piece(&mut self, column: usize, values: &ColumnValues) -> (u64, Vec<u8>) {
        let entry = &mut self.entries[column];
        let width = entry.place.width();
        let mut data = Vec::with_capacity(values.len() * width);
        match values {
            ColumnValues::Numbers(v) => v.iter().for_each(|x| data.extend(x.to_le_bytes())),
            ColumnValues::Integers(v) => v.iter().for_each(|x| data.extend(x.to_le_bytes())),
            // Fixed-width UTF-32.
            ColumnValues::Texts(v) => {
                for s in v {
                    let end = data.len() + width;
                    s.chars().take(width / 4).for_each(|c| data.extend(u32::from(c).to_le_bytes()));
                    data.resize(end, 0);
                }
            }
        }
        entry.crc.update(&data);
        let at = entry.next;
        entry.next += data.len() as u64;
        (at, data)
    }

    /// What remains, when every column has all its values: the heads of the columns and the directory, with their places.
    ///
    /// # Errors
    /// When a column's name is longer than a zip can hold.
    pub fn finish(self) -> Result<Vec<(u64, Vec<u8>)>, String> {
        let mut pieces = Vec::new();
        let mut directory = Vec::new();
        let mut begin = 0;
        for entry in &self.entries {
            let (head, listed) = self.heads(entry)?;
            begin = entry.offset + head.len() as u64 + entry.size - entry.place.header().len() as u64;
            pieces.push((entry.offset, head));
            directory.extend(listed);
        }
        let (count, size) = (self.entries.len() as u64, directory.len() as u64);
        let few = u16::try_from(count).ok().filter(|n| *n != u16::MAX && u64::from(*n) < self.limit);
        if few.is_none() || self.is_large(size) || self.is_large(begin) {
            let end = begin + size;
            directory.extend(b"PK\x06\x06");
            directory.extend(44u64.to_le_bytes());
            directory.extend([VERSION_64.to_le_bytes(), VERSION_64.to_le_bytes()].concat());
            directory.extend([0; 8]); // disks
            for n in [count, count, size, begin] {
                directory.extend(n.to_le_bytes());
            }
            directory.extend(b"PK\x06\x07\x00\x00\x00\x00");
            directory.extend(end.to_le_bytes());
            directory.extend(1u32.to_le_bytes());
        }
        let few = few.unwrap_or(u16::MAX);
        directory.extend(b"PK\x05\x06\x00\x00\x00\x00");
        directory.extend(few.to_le_bytes());
        directory.extend(few.to_le_bytes());
        directory.extend(self.word(size).to_le_bytes());
        directory.extend(self.word(begin).to_le_bytes());
        directory.extend((self.comment.len() as u16).to_le_bytes());
        directory.extend(&self.comment);
        pieces.push((begin, directory));
        Ok(pieces)
    }

    /// The head of a column, up to its values, and its entry in the directory.
    fn heads(&self, entry: &ArrayMember) -> Result<(Vec<u8>, Vec<u8>), String> {
        let name = &entry.place.name;
        let length = u16::try_from(name.len()).map_err(|_| format!("column name too long: {name}"))?;
        let mut sizes = Vec::new();
        if self.is_large(entry.size) {
            sizes.extend([entry.size.to_le_bytes(), entry.size.to_le_bytes()].concat());
        }
        let mut places = sizes.clone();
        if self.is_large(entry.offset) {
            places.extend(entry.offset.to_le_bytes());
        }
        let version = if places.is_empty() { VERSION } else { VERSION_64 };
        let common = |extra: &[u8]| {
            let mut common = Vec::with_capacity(26);
            for half in [version, UTF8_NAMES, 0, 0, FIRST_DATE] {
                common.extend(half.to_le_bytes());
            }
            let size = self.word(entry.size);
            for full in [entry.crc.sum(), size, size] {
                common.extend(full.to_le_bytes());
            }
            common.extend(length.to_le_bytes());
            common.extend((extra.len() as u16).to_le_bytes());
            common
        };
        let (sizes, places) = (extra_field(&sizes), extra_field(&places));
        let mut head = b"PK\x03\x04".to_vec();
        head.extend(common(&sizes));
        head.extend(name.as_bytes());
        head.extend(sizes);
        head.extend(entry.place.header());

        let mut listed = b"PK\x01\x02".to_vec();
        listed.extend(version.to_le_bytes());
        listed.extend(common(&places));
        listed.extend([0; 10]); // comment, disk, attributes
        listed.extend(self.word(entry.offset).to_le_bytes());
        listed.extend(name.as_bytes());
        listed.extend(places);
        Ok((head, listed))
    }

    fn is_large(&self, n: u64) -> bool {
        n >= self.limit
    }

    /// A number in 32 bits; all of them are set where it needs 64.
    fn word(&self, n: u64) -> u32 {
        if self.is_large(n) { u32::MAX } else { n as u32 }
    }
}

/// Names in UTF-8.
const UTF8_NAMES: u16 = 1 << 11;
/// 1 January 1980, always: bytes depend on data only.
const FIRST_DATE: u16 = 0x0021;
/// What a reader must know: folders, 2.0; or numbers of 64 bits, 4.5.
const VERSION: u16 = 20;
const VERSION_64: u16 = 45;
/// Bytes of a local header before its name.
const LOCAL_HEAD: usize = 30;
/// Bytes of its sizes in 64 bits.
const LOCAL_SIZES: usize = 20;
/// The first number that does not fit 32 bits, one of which says so.
const LARGE: u64 = u32::MAX as u64;

/// Numbers of 64 bits as an extra field, where there are any.
fn extra_field(numbers: &[u8]) -> Vec<u8> {
    if numbers.is_empty() {
        return Vec::new();
    }
    let mut field = 1u16.to_le_bytes().to_vec();
    field.extend((numbers.len() as u16).to_le_bytes());
    field.extend(numbers);
    field
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_written_in_pieces_is_the_archive_written_at_once() {
        let mut table = Table::default();
        table.numbers("", "x", vec![1.0, 2.0, f64::NAN]);
        table.texts("", "s", vec!["a".into(), "über".into(), String::new()]);
        table.integers("", "n", vec![1, -2, 3]);
        let whole = npz(&[("", &table)]).unwrap();
        let places = table.columns.iter().map(|c| ArrayHeader::sized(&c.name, &c.values, 3, 4)).collect();
        let mut archive = NpzArchive::new(places).unwrap();
        let mut pieces = Vec::new();
        for row in 0..3 {
            for (k, column) in table.columns.iter().enumerate() {
                let one = match &column.values {
                    ColumnValues::Numbers(v) => ColumnValues::Numbers(vec![v[row]]),
                    ColumnValues::Integers(v) => ColumnValues::Integers(vec![v[row]]),
                    ColumnValues::Texts(v) => ColumnValues::Texts(vec![v[row].clone()]),
                };
                pieces.push(archive.piece(k, &one));
            }
        }
        pieces.extend(archive.finish().unwrap());
        pieces.sort();
        let bytes: Vec<u8> = pieces.into_iter().flat_map(|(_, bytes)| bytes).collect();
        assert_eq!(bytes, whole);
    }

    #[test]
    fn numbers_of_64_bits_are_where_they_are_needed_and_read_back() {
        let mut table = Table::default();
        for name in ["x", "y", "z"] {
            table.numbers("", name, (0..20).map(f64::from).collect());
        }
        // Sizes are 288 bytes, places 0, 323 and 646, or 20 more for every size of 64 bits before; the directory begins at 969.
        let mut lengths = Vec::new();
        for limit in [LARGE, 969, 600, 300, 200, 1] {
            let places = table.columns.iter().map(|c| ArrayHeader::new(&c.name, &c.values)).collect();
            let mut archive = NpzArchive::limited(places, limit).unwrap();
            let mut pieces: Vec<_> =
                table.columns.iter().enumerate().map(|(k, c)| archive.piece(k, &c.values)).collect();
            pieces.extend(archive.finish().unwrap());
            pieces.sort();
            let mut bytes = Vec::new();
            for (at, piece) in pieces {
                assert_eq!(at, bytes.len() as u64, "no room is left, nothing is written twice");
                bytes.extend(piece);
            }
            assert_eq!(crate::table::read_npz(&bytes), Ok(table.clone()), "{limit}");
            lengths.push(bytes.len());
        }
        let more: Vec<usize> = lengths.iter().map(|n| n - lengths[0]).collect();
        // 76 for the end; 12 per place alone; 20 + 20 for a size in head and directory, 8 more for a place beside it.
        assert_eq!(more, [0, 76, 76 + 12, 76 + 24, 76 + 120 + 16, 76 + 120 + 16]);
    }

    #[test]
    fn a_column_of_4_gib_is_laid_out_with_64_bits() {
        let none = ColumnValues::Numbers(Vec::new());
        let rows = [(1 << 29) - 16, (1 << 29) - 17, 1 << 29];
        let places = rows.iter().map(|n| ArrayHeader::sized("x", &none, *n, 0)).collect();
        let pieces = NpzArchive::new(places).unwrap().finish().unwrap();
        // 2²⁹ − 16 numbers and the header of 128 bytes are 2³² bytes; one number less fits.
        let size = |k: usize| u32::from_le_bytes(pieces[k].1[18..22].try_into().unwrap());
        assert_eq!((size(0), size(1), size(2)), (u32::MAX, u32::MAX - 7, u32::MAX));
        assert_eq!(pieces[0].1[39..47], (1u64 << 32).to_le_bytes());
        assert_eq!(pieces[1].0, 35 + 20 + (1 << 32));
    }
}
