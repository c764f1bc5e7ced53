//! NumPy's archive: a zip of one `.npy` array per column, stored without compression, so `numpy.load` maps straight onto
//! it. Several tables go into one archive, each column under its table's prefix (`impacts.time`).

use super::{Table, Values};

/// The tables as one npz archive; each comes with the prefix of its column names (`""` for the main one).
///
/// Fails only when the archive would pass 4 GiB, which a zip without extensions cannot hold.
pub fn npz(tables: &[(&str, &Table)]) -> Result<Vec<u8>, String> {
    let mut writer = NpzWriter::default();
    let mut bytes = Vec::new();
    for (prefix, table) in tables {
        for column in &table.columns {
            bytes.extend(writer.column(&format!("{prefix}{}", column.name), &column.values)?);
        }
    }
    bytes.extend(writer.finish()?);
    Ok(bytes)
}

/// An npz archive written column by column, for tables too long to hold: the pieces in order are the file.
#[derive(Default)]
pub struct NpzWriter {
    zip: Zip,
}

impl NpzWriter {
    /// The next piece: a column.
    ///
    /// # Errors
    /// When the archive would pass 4 GiB.
    pub fn column(&mut self, name: &str, values: &Values) -> Result<Vec<u8>, String> {
        self.zip.add(&format!("{name}.npy"), &array(values))
    }

    /// The last piece.
    ///
    /// # Errors
    /// When the archive would pass 4 GiB.
    pub fn finish(self) -> Result<Vec<u8>, String> {
        self.zip.finish()
    }
}

/// One array in the `.npy` format, version 1.0.
fn array(values: &Values) -> Vec<u8> {
    let (kind, data) = match values {
        Values::Numbers(v) => ("<f8".to_string(), v.iter().flat_map(|x| x.to_le_bytes()).collect()),
        Values::Integers(v) => ("<i8".to_string(), v.iter().flat_map(|x| x.to_le_bytes()).collect()),
        Values::Texts(v) => texts(v),
    };
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({},), }}", values.len());
    // Magic, version and length take 10 bytes; the data starts at a multiple of 64.
    let padded = (10 + header.len() + 1).next_multiple_of(64) - 11;
    while header.len() < padded {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend::<Vec<u8>>(data);
    bytes
}

/// Texts as fixed-width UTF-32.
fn texts(v: &[String]) -> (String, Vec<u8>) {
    let width = v.iter().map(|s| s.chars().count()).max().unwrap_or(0).max(1);
    let mut data = Vec::with_capacity(v.len() * width * 4);
    for s in v {
        let end = data.len() + width * 4;
        s.chars().for_each(|c| data.extend(u32::from(c).to_le_bytes()));
        data.resize(end, 0);
    }
    (format!("<U{width}"), data)
}

/// A zip archive of stored entries; names in UTF-8, the date fixed (1 January 1980) so that bytes depend on data only.
#[derive(Default)]
struct Zip {
    /// Bytes written so far.
    written: usize,
    directory: Vec<u8>,
    entries: usize,
}

const UTF8_NAMES: u16 = 1 << 11;
const FIRST_DATE: u16 = 0x0021;

impl Zip {
    fn add(&mut self, name: &str, data: &[u8]) -> Result<Vec<u8>, String> {
        let offset = word(self.written)?;
        let size = word(data.len())?;
        let name_length = u16::try_from(name.len()).map_err(|_| format!("column name too long: {name}"))?;
        let mut common = Vec::with_capacity(26);
        for half in [20u16, UTF8_NAMES, 0, 0, FIRST_DATE] {
            common.extend(half.to_le_bytes());
        }
        for full in [crc32(data), size, size] {
            common.extend(full.to_le_bytes());
        }
        common.extend(name_length.to_le_bytes());
        common.extend(0u16.to_le_bytes());

        let mut bytes = b"PK\x03\x04".to_vec();
        bytes.extend(&common);
        bytes.extend(name.as_bytes());
        bytes.extend(data);
        self.written += bytes.len();

        self.directory.extend(b"PK\x01\x02");
        self.directory.extend(20u16.to_le_bytes());
        self.directory.extend(&common);
        self.directory.extend([0; 10]); // comment, disk, attributes
        self.directory.extend(offset.to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.entries += 1;
        Ok(bytes)
    }

    fn finish(self) -> Result<Vec<u8>, String> {
        let offset = word(self.written)?;
        let size = word(self.directory.len())?;
        let entries = u16::try_from(self.entries).map_err(|_| "too many columns for npz".to_string())?;
        let mut bytes = self.directory;
        bytes.extend(b"PK\x05\x06\x00\x00\x00\x00");
        bytes.extend(entries.to_le_bytes());
        bytes.extend(entries.to_le_bytes());
        bytes.extend(size.to_le_bytes());
        bytes.extend(offset.to_le_bytes());
        bytes.extend(0u16.to_le_bytes());
        Ok(bytes)
    }
}

fn word(n: usize) -> Result<u32, String> {
    u32::try_from(n)
        .map_err(|_| "more than 4 GiB do not fit an npz file; use parquet or fewer samples".to_string())
}

/// CRC-32 (IEEE 802.3, reflected polynomial EDB88320).
fn crc32(data: &[u8]) -> u32 {
    let table: [u32; 256] = std::array::from_fn(|i| {
        (0..8).fold(i as u32, |c, _| if c & 1 == 1 { 0xEDB8_8320 ^ (c >> 1) } else { c >> 1 })
    });
    !data.iter().fold(!0, |crc, &byte| table[usize::from(crc as u8 ^ byte)] ^ (crc >> 8))
}

#[cfg(test)]
mod tests {
    use super::crc32;

    #[test]
    fn the_checksum_has_its_published_check_value() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }
}
