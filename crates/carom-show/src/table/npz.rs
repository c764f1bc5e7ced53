//! NumPy's archive: a zip of one `.npy` array per column, stored without compression, so `numpy.load` maps straight onto
//! it. Several tables go into one archive, each column under its table's prefix (`impacts.time`).

use super::{Table, Values};
use flate2::Crc;

/// The tables as one npz archive; each comes with the prefix of its column names (`""` for the main one).
///
/// # Errors
/// When the archive would pass 4 GiB, which a zip without extensions cannot hold.
pub fn npz(tables: &[(&str, &Table)]) -> Result<Vec<u8>, String> {
    let columns = || tables.iter().flat_map(|(prefix, t)| t.columns.iter().map(move |c| (prefix, c)));
    let mut places = Vec::new();
    for (prefix, column) in columns() {
        places.push(Place::new(&format!("{prefix}{}", column.name), &column.values));
    }
    let mut archive = NpzArchive::new(places)?;
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
pub struct Place {
    name: String,
    rows: usize,
    /// `<f8`, `<i8` or `<U` with this many characters.
    characters: Option<usize>,
    kind: &'static str,
}

impl Place {
    /// The place these values need.
    pub fn new(name: &str, values: &Values) -> Place {
        Place::sized(name, values, values.len(), values.characters())
    }

    /// The place of `rows` values of the same kind as `values`; texts have at most so many characters.
    pub fn sized(name: &str, values: &Values, rows: usize, characters: usize) -> Place {
        let (kind, characters) = match values {
            Values::Numbers(_) => ("<f8", None),
            Values::Integers(_) => ("<i8", None),
            Values::Texts(_) => ("<U", Some(characters.max(1))),
        };
        Place { name: format!("{name}.npy"), rows, characters, kind }
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
    entries: Vec<Entry>,
}

struct Entry {
    place: Place,
    /// Where its local header begins in the file.
    offset: usize,
    /// Where its next values go.
    next: usize,
    crc: Crc,
    size: usize,
}

impl NpzArchive {
    /// An archive of these columns.
    ///
    /// # Errors
    /// When it would pass 4 GiB, which a zip without extensions cannot hold.
    pub fn new(places: Vec<Place>) -> Result<NpzArchive, String> {
        let mut offset = 0usize;
        let mut entries = Vec::with_capacity(places.len());
        for place in places {
            let header = place.header();
            let next = offset + LOCAL_HEAD + place.name.len() + header.len();
            let data = place.rows.checked_mul(place.width()).ok_or_else(too_long)?;
            let size = data.checked_add(header.len()).ok_or_else(too_long)?;
            word(size)?;
            let mut crc = Crc::new();
            crc.update(&header);
            entries.push(Entry { place, offset, next, crc, size });
            offset = word(next.checked_add(data).ok_or_else(too_long)?)? as usize;
        }
        Ok(NpzArchive { entries })
    }

    /// The next values of a column: where they go in the file, and their bytes. Texts longer than their place are cut.
    pub fn piece(&mut self, column: usize, values: &Values) -> (u64, Vec<u8>) {
        let entry = &mut self.entries[column];
        let width = entry.place.width();
        let mut data = Vec::with_capacity(values.len() * width);
        match values {
            Values::Numbers(v) => v.iter().for_each(|x| data.extend(x.to_le_bytes())),
            Values::Integers(v) => v.iter().for_each(|x| data.extend(x.to_le_bytes())),
            // Fixed-width UTF-32.
            Values::Texts(v) => {
                for s in v {
                    let end = data.len() + width;
                    s.chars().take(width / 4).for_each(|c| data.extend(u32::from(c).to_le_bytes()));
                    data.resize(end, 0);
                }
            }
        }
        entry.crc.update(&data);
        let at = entry.next;
        entry.next += data.len();
        (at as u64, data)
    }

    /// What remains, when every column has all its values: the heads of the columns and the directory, with their places.
    ///
    /// # Errors
    /// When the archive would pass 4 GiB.
    pub fn finish(self) -> Result<Vec<(u64, Vec<u8>)>, String> {
        let mut pieces = Vec::new();
        let mut directory = Vec::new();
        let mut end = 0;
        for entry in &self.entries {
            let name = &entry.place.name;
            let length = u16::try_from(name.len()).map_err(|_| format!("column name too long: {name}"))?;
            let mut common = Vec::with_capacity(26);
            for half in [20u16, UTF8_NAMES, 0, 0, FIRST_DATE] {
                common.extend(half.to_le_bytes());
            }
            let size = word(entry.size)?;
            for full in [entry.crc.sum(), size, size] {
                common.extend(full.to_le_bytes());
            }
            common.extend(length.to_le_bytes());
            common.extend(0u16.to_le_bytes());

            let mut head = b"PK\x03\x04".to_vec();
            head.extend(&common);
            head.extend(name.as_bytes());
            head.extend(entry.place.header());
            pieces.push((entry.offset as u64, head));

            directory.extend(b"PK\x01\x02");
            directory.extend(20u16.to_le_bytes());
            directory.extend(&common);
            directory.extend([0; 10]); // comment, disk, attributes
            directory.extend(word(entry.offset)?.to_le_bytes());
            directory.extend(name.as_bytes());
            end = entry.offset + LOCAL_HEAD + name.len() + entry.size;
        }
        let entries =
            u16::try_from(self.entries.len()).map_err(|_| "too many columns for npz".to_string())?;
        let size = word(directory.len())?;
        directory.extend(b"PK\x05\x06\x00\x00\x00\x00");
        directory.extend(entries.to_le_bytes());
        directory.extend(entries.to_le_bytes());
        directory.extend(size.to_le_bytes());
        directory.extend(word(end)?.to_le_bytes());
        directory.extend(0u16.to_le_bytes());
        pieces.push((end as u64, directory));
        Ok(pieces)
    }
}

/// Names in UTF-8.
const UTF8_NAMES: u16 = 1 << 11;
/// 1 January 1980, always: bytes depend on data only.
const FIRST_DATE: u16 = 0x0021;
/// Bytes of a local header before its name.
const LOCAL_HEAD: usize = 30;

fn word(n: usize) -> Result<u32, String> {
    u32::try_from(n).map_err(|_| too_long())
}

fn too_long() -> String {
    "more than 4 GiB do not fit an npz file; parquet has no such limit".to_string()
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
        let places = table.columns.iter().map(|c| Place::sized(&c.name, &c.values, 3, 4)).collect();
        let mut archive = NpzArchive::new(places).unwrap();
        let mut pieces = Vec::new();
        for row in 0..3 {
            for (k, column) in table.columns.iter().enumerate() {
                let one = match &column.values {
                    Values::Numbers(v) => Values::Numbers(vec![v[row]]),
                    Values::Integers(v) => Values::Integers(vec![v[row]]),
                    Values::Texts(v) => Values::Texts(vec![v[row].clone()]),
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
    fn more_than_4_gib_are_refused_before_anything_is_written() {
        let place = Place::sized("x", &Values::Numbers(Vec::new()), 1 << 29, 0);
        assert!(NpzArchive::new(vec![place]).is_err());
    }
}
