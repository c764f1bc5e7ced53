//! NumPy's archive, as `numpy.savez` and `numpy.savez_compressed` write it: a zip of `.npy` arrays of one dimension.
//!
//! ```text
//! [ "PK34" … name  array ]*   [ "PK12" … name ]*   "PK56" … where the list begins       stored or deflated
//! ```
//!
//! A number of 32 bits with all of them set has its 64 elsewhere: in an extra field after the name, or in "PK66" before "PK67".

use super::{Misread, most_numbers};
use crate::table::{Column, ColumnValues, Table};
use std::io::Read;

/// Reads an npz archive: a column of numbers for each of its arrays.
///
/// ```
/// use carom_show::table::{Table, npz, read_npz};
/// let mut table = Table::default();
/// table.numbers("", "theta'", vec![0.1, f64::MAX, -0.0]);
/// assert_eq!(read_npz(&npz(&[("", &table)]).unwrap()), Ok(table));
/// ```
///
/// # Errors
/// If it is no npz archive, is damaged, or holds something else than numbers in one dimension.
pub fn read_npz(file: &[u8]) -> Result<Table, Misread> {
    let mut table = Table::default();
    let mut left = most_numbers(file.len());
    for entry in directory(file)? {
        let name = entry.name.strip_suffix(".npy").unwrap_or(&entry.name).to_owned();
        let named = |mut misread: Misread| {
            misread.message = format!("array `{name}`: {}", misread.message);
            misread
        };
        let bytes = entry.bytes(file, left.saturating_mul(8)).map_err(named)?;
        let values = array(&bytes, &name)?;
        left = left.saturating_sub(values.len() as u64);
        if !table.columns.is_empty() && values.len() != table.rows() {
            let (found, first) = (values.len(), &table.columns[0]);
            return Err(Misread::new(
                format!("array `{name}` has {found} values, `{}` has {}", first.name, table.rows()),
                "all arrays must have the same length, one value per trajectory",
            ));
        }
        table.columns.push(Column { name, values: ColumnValues::Numbers(values) });
    }
    Ok(table)
}

struct ZipMember {
    name: String,
    method: u16,
    crc: usize,
    packed: usize,
    unpacked: usize,
    offset: usize,
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<usize> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?) as usize)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?)).ok()
}

/// A number of 32 bits that may stand for one of 64.
const ELSEWHERE: usize = u32::MAX as usize;

/// The 64-bit numbers among the extra fields of an entry.
fn large_numbers(mut extra: &[u8]) -> &[u8] {
    while let (Some(kind), Some(length)) = (u16_at(extra, 0), u16_at(extra, 2)) {
        let end = 4 + usize::from(length);
        if kind == 1 {
            return extra.get(4..end).unwrap_or_default();
        }
        extra = extra.get(end..).unwrap_or_default();
    }
    &[]
}

/// Where the list of entries begins, and how many there are.
fn list(file: &[u8], end: usize) -> Option<(usize, usize)> {
    u16_at(file, end + 20)?; // its last field
    let (count, at) = (usize::from(u16_at(file, end + 10)?), u32_at(file, end + 16)?);
    let locator = end.checked_sub(20).filter(|&l| file[l..].starts_with(b"PK\x06\x07"));
    match locator {
        Some(locator) if count == usize::from(u16::MAX) || at == ELSEWHERE => {
            let end = u64_at(file, locator + 8)?;
            file.get(end..)?.starts_with(b"PK\x06\x06").then_some(())?;
            Some((u64_at(file, end + 48)?, u64_at(file, end + 32)?))
        }
        _ => Some((at, count)),
    }
}

/// The entries of a zip archive.
fn directory(file: &[u8]) -> Result<Vec<ZipMember>, Misread> {
    let none =
        || Misread::new("it is not an npz archive", "write it with numpy.savez(\"starts.npz\", theta=…)");
    if !file.starts_with(b"PK") {
        return Err(none());
    }
    // The end record is followed by a comment of at most 64 KiB.
    let far = file.len().saturating_sub(22 + (1 << 16));
    let end = file[far..].windows(4).rposition(|w| w == b"PK\x05\x06").map(|at| far + at).ok_or_else(none)?;
    let damaged = || Misread::damaged("its list of arrays is cut short");
    let (mut at, count) = list(file, end).ok_or_else(damaged)?;
    let mut entries = Vec::new();
    for _ in 0..count {
        let head = file.get(at..).filter(|h| h.starts_with(b"PK\x01\x02")).ok_or_else(damaged)?;
        let entry = || {
            let name = 46..46 + usize::from(u16_at(head, 28)?);
            let extra = name.end..name.end + usize::from(u16_at(head, 30)?);
            let next = extra.end + usize::from(u16_at(head, 32)?);
            let mut large = large_numbers(head.get(extra)?);
            let mut number = |at: usize| match u32_at(head, at)? {
                ELSEWHERE if large.len() >= 8 => {
                    let n = u64_at(large, 0);
                    large = &large[8..];
                    n
                }
                n => Some(n),
            };
            let (unpacked, packed, offset) = (number(24)?, number(20)?, number(42)?);
            let entry = ZipMember {
                name: String::from_utf8_lossy(head.get(name)?).into_owned(),
                method: u16_at(head, 10)?,
                crc: u32_at(head, 16)?,
                packed,
                unpacked,
                offset,
            };
            Some((entry, next))
        };
        let (entry, next) = entry().ok_or_else(damaged)?;
        entries.push(entry);
        at += next;
    }
    Ok(entries)
}

impl ZipMember {
    /// The array's file, unpacked; no longer than `most` and its header.
    fn bytes(&self, file: &[u8], most: u64) -> Result<Vec<u8>, Misread> {
        const HEADER: u64 = 1 << 16;
        let body = || {
            let head = file.get(self.offset..).filter(|h| h.starts_with(b"PK\x03\x04"))?;
            let from = 30 + usize::from(u16_at(head, 26)?) + usize::from(u16_at(head, 28)?);
            head.get(from..from.checked_add(self.packed)?)
        };
        let body = body().ok_or_else(|| Misread::damaged("it is cut short"))?;
        if self.unpacked as u64 > most.saturating_add(HEADER) {
            return Err(Misread::new("it has more values than can be believed", "divide it into several"));
        }
        let out = match self.method {
            0 => body.to_vec(),
            8 => {
                let mut out = Vec::new();
                let decoder = flate2::read::DeflateDecoder::new(body);
                let read = decoder.take(self.unpacked as u64 + 1).read_to_end(&mut out);
                read.map_err(|_| Misread::damaged("it cannot be unpacked"))?;
                out
            }
            _ => return Err(Misread::new("it is compressed in an unusual way", "use numpy.savez")),
        };
        let mut crc = flate2::Crc::new();
        crc.update(&out);
        let whole = out.len() == self.unpacked && crc.sum() as usize == self.crc;
        if whole { Ok(out) } else { Err(Misread::damaged("its checksum is wrong")) }
    }
}

/// The values of an `.npy` file.
fn array(bytes: &[u8], name: &str) -> Result<Vec<f64>, Misread> {
    let damaged = || Misread::damaged(format!("array `{name}` has no header"));
    let version = bytes.strip_prefix(b"\x93NUMPY").and_then(|b| b.first()).ok_or_else(damaged)?;
    let (from, length) = match version {
        1 => (10, usize::from(u16_at(bytes, 8).ok_or_else(damaged)?)),
        _ => (12, u32_at(bytes, 8).ok_or_else(damaged)?),
    };
    let header = bytes.get(from..from + length).ok_or_else(damaged)?;
    let header = String::from_utf8_lossy(header);
    // {'descr': '<f8', 'fortran_order': False, 'shape': (100,), }
    let after = |key: &str| header.split_once(key).map(|(_, rest)| rest.trim_start());
    let kind =
        after("'descr':").and_then(|rest| rest.strip_prefix('\'')).and_then(|rest| rest.split_once('\''));
    let Some((kind, _)) = kind else {
        let hint = "each column must be an array of numbers of its own: numpy.savez(file, theta=…, m=…)";
        return Err(Misread::new(format!("array `{name}` is not an array of numbers"), hint));
    };
    let shape =
        after("'shape':").and_then(|rest| rest.strip_prefix('(')).and_then(|rest| rest.split_once(')'));
    let (shape, _) = shape.ok_or_else(damaged)?;
    let sizes: Vec<&str> = shape.split(',').map(str::trim).filter(|s| !s.is_empty()).collect();
    let &[count] = &sizes[..] else {
        let hint = "give each column as an array of one dimension";
        return Err(Misread::new(format!("array `{name}` has {} dimensions", sizes.len()), hint));
    };
    let count: usize = count.parse().map_err(|_| damaged())?;
    let data = &bytes[from + length..];
    numbers(data, kind, count).ok_or_else(|| {
        let hint = "use float64 or an integer type in the usual byte order";
        Misread::new(format!("array `{name}` of kind {kind} and length {count} cannot be read"), hint)
    })
}

fn numbers(data: &[u8], kind: &str, count: usize) -> Option<Vec<f64>> {
    fn each<const N: usize>(data: &[u8], count: usize, read: impl Fn([u8; N]) -> f64) -> Option<Vec<f64>> {
        let data = data.get(..count.checked_mul(N)?)?;
        Some(data.as_chunks::<N>().0.iter().map(|b| read(*b)).collect())
    }
    match kind {
        "<f8" => each(data, count, f64::from_le_bytes),
        "<f4" => each(data, count, |b| f64::from(f32::from_le_bytes(b))),
        "<i8" => each(data, count, |b| i64::from_le_bytes(b) as f64),
        "<i4" => each(data, count, |b| f64::from(i32::from_le_bytes(b))),
        "<i2" => each(data, count, |b| f64::from(i16::from_le_bytes(b))),
        "|i1" => each(data, count, |b: [u8; 1]| f64::from(b[0] as i8)),
        "<u8" => each(data, count, |b| u64::from_le_bytes(b) as f64),
        "<u4" => each(data, count, |b| f64::from(u32::from_le_bytes(b))),
        "<u2" => each(data, count, |b| f64::from(u16::from_le_bytes(b))),
        "|u1" => each(data, count, |b: [u8; 1]| f64::from(b[0])),
        _ => None,
    }
}
