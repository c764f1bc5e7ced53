//! Apache Parquet, as far as tables of numbers need it: flat columns of integers, floats and doubles, required or
//! optional; plain or dictionary encoded; pages of either version, uncompressed or in snappy, zstd or gzip.
//!
//! ```text
//! "PAR1"   pages   FileMetaData  its length (4)  "PAR1"            page = header, levels, values
//! ```

use super::thrift::{BINARY, Cursor, FALSE, LIST, STRUCT};
use super::values::{Stored, hybrid};
use super::{Misread, most_numbers, snappy};
use crate::table::{Column, Table, Values};
use std::io::Read;

/// Larger pages are not read: writers make them of about a megabyte.
const LARGEST_PAGE: usize = 1 << 27;
/// What pandas calls the column of an index that is not one of the table's.
const PANDAS_INDEX: &str = "__index_level_";

// Numbers of the format's enumerations.
const DATA_PAGE: i64 = 0;
const DICTIONARY_PAGE: i64 = 2;
const DATA_PAGE_V2: i64 = 3;
const PLAIN: i64 = 0;
const PLAIN_DICTIONARY: i64 = 2;
const RLE: i64 = 3;
const RLE_DICTIONARY: i64 = 8;
const OPTIONAL: i64 = 1;
const REPEATED: i64 = 2;

/// Reads a parquet file: a column of numbers for each of its columns, NaN where a value is missing.
///
/// ```
/// use carom_show::table::{Table, parquet, read_parquet};
/// let mut table = Table::default();
/// table.numbers("", "theta'", vec![0.1, f64::MAX, -0.0]);
/// assert_eq!(read_parquet(&parquet(&table)), Ok(table));
/// assert!(read_parquet(b"theta\n0.1\n").unwrap_err().message.contains("not a parquet file"));
/// ```
///
/// # Errors
/// If it is no parquet file, is damaged, or holds something else than flat columns of numbers.
pub fn read_parquet(file: &[u8]) -> Result<Table, Misread> {
    let footer = footer(file)?;
    let mut columns: Vec<(Leaf, Vec<f64>)> =
        leaves(footer.schema)?.into_iter().map(|leaf| (leaf, Vec::new())).collect();
    let mut left = most_numbers(file.len());
    for group in &footer.groups {
        if group.chunks.len() != columns.len() {
            return Err(Misread::damaged("a row group has another number of columns than the table"));
        }
        for (chunk, (leaf, values)) in group.chunks.iter().zip(&mut columns) {
            left = left.checked_sub(group.rows).ok_or_else(|| {
                Misread::new("it has more rows than can be believed", "divide it into several tables")
            })?;
            if chunk.rows != group.rows {
                return Err(Misread::damaged(format!("column `{}` has another length", leaf.name)));
            }
            if leaf.name.starts_with(PANDAS_INDEX) {
                continue;
            }
            let from = values.len();
            leaf.read(file, chunk, values).map_err(|mut misread| {
                misread.message = format!("column `{}`: {}", leaf.name, misread.message);
                misread
            })?;
            if values[from..].len() as u64 != group.rows {
                return Err(Misread::damaged(format!("column `{}` has another length", leaf.name)));
            }
        }
    }
    let mut table = Table::default();
    for (leaf, values) in columns {
        if !leaf.name.starts_with(PANDAS_INDEX) {
            table.columns.push(Column { name: leaf.name, values: Values::Numbers(values) });
        }
    }
    Ok(table)
}

/// A column as the schema has it.
#[derive(Default)]
struct Element {
    physical: Option<i64>,
    repetition: i64,
    name: String,
    children: i64,
    converted: Option<i64>,
    logical: Option<i64>,
}

/// A column of numbers.
struct Leaf {
    name: String,
    stored: Stored,
    optional: bool,
}

#[derive(Default)]
struct Group {
    chunks: Vec<Chunk>,
    rows: u64,
}

/// Where the pages of a column are.
#[derive(Default)]
struct Chunk {
    codec: i64,
    rows: u64,
    size: u64,
    data: u64,
    dictionary: Option<u64>,
    elsewhere: bool,
}

#[derive(Default)]
struct Footer {
    schema: Vec<Element>,
    groups: Vec<Group>,
}

fn footer(file: &[u8]) -> Result<Footer, Misread> {
    let hint = "a parquet file begins and ends with PAR1; is it complete, and is its extension right?";
    let tail = file.len().checked_sub(8).filter(|&at| at >= 4 && file.starts_with(b"PAR1"));
    let tail = tail.ok_or_else(|| Misread::new("it is not a parquet file", hint))?;
    match &file[tail + 4..] {
        b"PAR1" => {}
        b"PARE" => return Err(Misread::new("it is encrypted", "write it without encryption")),
        _ => return Err(Misread::new("it is not a whole parquet file", hint)),
    }
    let length = u32::from_le_bytes([file[tail], file[tail + 1], file[tail + 2], file[tail + 3]]) as usize;
    let from = tail.checked_sub(length).filter(|&from| from >= 4);
    let from = from.ok_or_else(|| Misread::damaged("its directory is longer than the file"))?;
    let mut footer = Footer::default();
    Cursor::new(&file[from..tail]).structure(|c, id, kind| {
        match id {
            2 if kind.is(LIST) => c.list(|c| {
                footer.schema.push(element(c)?);
                Ok(())
            })?,
            4 if kind.is(LIST) => c.list(|c| {
                footer.groups.push(group(c)?);
                Ok(())
            })?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(footer)
}

fn element(c: &mut Cursor<'_>) -> Result<Element, Misread> {
    let mut element = Element::default();
    c.structure(|c, id, kind| {
        match id {
            1 if kind.is_integer() => element.physical = Some(c.integer()?),
            3 if kind.is_integer() => element.repetition = c.integer()?,
            4 if kind.is(BINARY) => element.name = c.text()?,
            5 if kind.is_integer() => element.children = c.integer()?,
            6 if kind.is_integer() => element.converted = Some(c.integer()?),
            10 if kind.is(STRUCT) => c.structure(|_, id, _| {
                element.logical = Some(id);
                Ok(false)
            })?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(element)
}

fn group(c: &mut Cursor<'_>) -> Result<Group, Misread> {
    let mut group = Group::default();
    c.structure(|c, id, kind| {
        match id {
            1 if kind.is(LIST) => c.list(|c| {
                group.chunks.push(chunk(c)?);
                Ok(())
            })?,
            3 if kind.is_integer() => group.rows = natural(c.integer()?)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(group)
}

fn chunk(c: &mut Cursor<'_>) -> Result<Chunk, Misread> {
    let mut chunk = Chunk::default();
    c.structure(|c, id, kind| {
        match id {
            1 if kind.is(BINARY) => chunk.elsewhere = !c.text()?.is_empty(),
            3 if kind.is(STRUCT) => c.structure(|c, id, kind| {
                if !kind.is_integer() {
                    return Ok(false);
                }
                let value = c.integer()?;
                match id {
                    4 => chunk.codec = value,
                    5 => chunk.rows = natural(value)?,
                    7 => chunk.size = natural(value)?,
                    9 => chunk.data = natural(value)?,
                    11 => chunk.dictionary = Some(natural(value)?).filter(|&at| at > 0),
                    _ => {}
                }
                Ok(true)
            })?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(chunk)
}

fn natural(value: i64) -> Result<u64, Misread> {
    u64::try_from(value).map_err(|_| Misread::damaged("a negative size"))
}

/// The columns of a schema: its root, then leaves only.
fn leaves(schema: Vec<Element>) -> Result<Vec<Leaf>, Misread> {
    let mut elements = schema.into_iter();
    if elements.next().is_none() {
        return Err(Misread::damaged("it has no schema"));
    }
    elements.map(leaf).collect()
}

fn leaf(element: Element) -> Result<Leaf, Misread> {
    let Element { name, .. } = element;
    let refuse = |holds: &str| {
        let hint = format!("a start or a parameter is a number: leave `{name}` out or convert it");
        Err(Misread::new(format!("column `{name}` holds {holds}"), hint))
    };
    if element.children > 0 || element.repetition == REPEATED {
        return refuse("lists or structures");
    }
    // What the numbers mean: by the older enumeration, or by the newer union.
    match (element.converted, element.logical) {
        (Some(5), _) | (_, Some(5)) => return refuse("decimal numbers"),
        (Some(6..=10), _) | (_, Some(6..=8)) => return refuse("dates or times"),
        _ => {}
    }
    let unsigned = matches!(element.converted, Some(11..=14));
    let stored = match element.physical {
        Some(1) if unsigned => Stored::Unsigned32,
        Some(1) => Stored::Int32,
        Some(2) if unsigned => Stored::Unsigned64,
        Some(2) => Stored::Int64,
        Some(4) => Stored::Float,
        Some(5) => Stored::Double,
        Some(0) => return refuse("truth values"),
        Some(3) => return refuse("dates or times"),
        Some(6) => return refuse("texts"),
        _ => return refuse("bytes"),
    };
    Ok(Leaf { stored, optional: element.repetition == OPTIONAL, name })
}

/// A page's header.
#[derive(Default)]
struct Page {
    kind: i64,
    unpacked: usize,
    packed: usize,
    values: usize,
    encoding: i64,
    /// Of the definition levels.
    levels: i64,
    /// Lengths of the repetition and definition levels in a page of version 2, whose levels are never compressed.
    level_bytes: (usize, usize),
    stored: bool,
}

impl Page {
    fn read(c: &mut Cursor<'_>) -> Result<Page, Misread> {
        let mut page = Page { levels: RLE, ..Page::default() };
        let size = |value: i64| -> Result<usize, Misread> {
            usize::try_from(value).map_err(|_| Misread::damaged("a negative size"))
        };
        c.structure(|c, id, kind| {
            match id {
                1 if kind.is_integer() => page.kind = c.integer()?,
                2 if kind.is_integer() => page.unpacked = size(c.integer()?)?,
                3 if kind.is_integer() => page.packed = size(c.integer()?)?,
                // Data page, dictionary page, data page of version 2.
                5 | 7 | 8 if kind.is(STRUCT) => c.structure(|c, field, kind| {
                    if (id, field) == (8, 7) {
                        page.stored = kind.is(FALSE);
                        return Ok(false);
                    }
                    if !kind.is_integer() {
                        return Ok(false);
                    }
                    let value = c.integer()?;
                    match (id, field) {
                        (_, 1) => page.values = size(value)?,
                        (5 | 7, 2) | (8, 4) => page.encoding = value,
                        (5, 3) => page.levels = value,
                        (8, 5) => page.level_bytes.1 = size(value)?,
                        (8, 6) => page.level_bytes.0 = size(value)?,
                        _ => {}
                    }
                    Ok(true)
                })?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(page)
    }
}

impl Leaf {
    /// Appends the values of a chunk.
    fn read(&self, file: &[u8], chunk: &Chunk, values: &mut Vec<f64>) -> Result<(), Misread> {
        if chunk.elsewhere {
            return Err(Misread::new("its data is in another file", "write the table as a single file"));
        }
        let from = chunk.dictionary.map_or(chunk.data, |at| at.min(chunk.data));
        let bytes = usize::try_from(from).ok().zip(usize::try_from(from.saturating_add(chunk.size)).ok());
        let bytes = bytes.and_then(|(from, to)| file.get(from..to));
        let bytes = bytes.ok_or_else(|| Misread::damaged("its pages are beyond the end of the file"))?;
        let mut cursor = Cursor::new(bytes);
        let mut dictionary: Option<Vec<f64>> = None;
        let mut left = chunk.rows as usize;
        while left > 0 {
            let page = Page::read(&mut cursor)?;
            let body = bytes[cursor.at..].get(..page.packed);
            let body = body.ok_or_else(|| Misread::damaged("a page is cut short"))?;
            cursor.at += page.packed;
            if page.unpacked > LARGEST_PAGE {
                return Err(Misread::new("a page is larger than 128 MiB", "write it with smaller pages"));
            }
            match page.kind {
                DICTIONARY_PAGE => {
                    if page.encoding != PLAIN && page.encoding != PLAIN_DICTIONARY {
                        return Err(unsupported(page.encoding));
                    }
                    let body = unpack(body, chunk.codec, page.unpacked)?;
                    dictionary = Some(self.stored.plain(&body, page.values)?.collect());
                }
                DATA_PAGE | DATA_PAGE_V2 => {
                    if page.values > left {
                        return Err(Misread::damaged("there are more values than rows"));
                    }
                    left -= page.values;
                    self.page(&page, body, chunk.codec, dictionary.as_deref(), values)?;
                }
                _ => {} // an index: not needed
            }
        }
        Ok(())
    }

    /// Appends the values of a data page.
    fn page(
        &self,
        page: &Page,
        body: &[u8],
        codec: i64,
        dictionary: Option<&[f64]>,
        values: &mut Vec<f64>,
    ) -> Result<(), Misread> {
        let short = || Misread::damaged("a page is shorter than its levels");
        let unpacked;
        let (levels, body) = if page.kind == DATA_PAGE_V2 {
            let (repetition, definition) = page.level_bytes;
            let (_, rest) = body.split_at_checked(repetition).ok_or_else(short)?;
            let (levels, rest) = rest.split_at_checked(definition).ok_or_else(short)?;
            let room = page.unpacked.checked_sub(repetition + definition).ok_or_else(short)?;
            unpacked = unpack(rest, if page.stored { 0 } else { codec }, room)?;
            (levels, &unpacked[..])
        } else {
            unpacked = unpack(body, codec, page.unpacked)?;
            if self.optional {
                let (length, rest) = unpacked.split_first_chunk::<4>().ok_or_else(short)?;
                rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or_else(short)?
            } else {
                (&[][..], &unpacked[..])
            }
        };
        // One bit per row: is there a value?
        let mut defined = Vec::new();
        if self.optional {
            if page.levels != RLE {
                return Err(unsupported(page.levels));
            }
            hybrid(levels, 1, page.values, |level| {
                defined.push(level == 1);
                Ok(())
            })?;
        }
        let count = if self.optional { defined.iter().filter(|d| **d).count() } else { page.values };
        let from = values.len();
        match page.encoding {
            PLAIN => values.extend(self.stored.plain(body, count)?),
            PLAIN_DICTIONARY | RLE_DICTIONARY => {
                let dictionary =
                    dictionary.ok_or_else(|| Misread::damaged("it has indices but no dictionary"))?;
                let (&width, indices) = match body.split_first() {
                    Some(parts) => parts,
                    None if count == 0 => (&0, body),
                    None => return Err(short()),
                };
                hybrid(indices, u32::from(width), count, |index| {
                    let value = dictionary.get(index as usize);
                    values.push(*value.ok_or_else(|| Misread::damaged("an index beyond its dictionary"))?);
                    Ok(())
                })?;
            }
            other => return Err(unsupported(other)),
        }
        if count < page.values {
            let mut given = values.split_off(from).into_iter();
            values
                .extend(defined.iter().map(|d| if *d { given.next().unwrap_or(f64::NAN) } else { f64::NAN }));
        }
        Ok(())
    }
}

fn unsupported(encoding: i64) -> Misread {
    let name = match encoding {
        PLAIN => "PLAIN",
        RLE => "RLE",
        4 => "BIT_PACKED",
        5 => "DELTA_BINARY_PACKED",
        6 => "DELTA_LENGTH_BYTE_ARRAY",
        7 => "DELTA_BYTE_ARRAY",
        9 => "BYTE_STREAM_SPLIT",
        _ => "an unknown code",
    };
    Misread::new(
        format!("its numbers are encoded as {name}, which is not read"),
        "write it with the default encodings, plain or dictionary",
    )
}

/// The bytes of a compressed page; never more than it says.
fn unpack(packed: &[u8], codec: i64, length: usize) -> Result<Vec<u8>, Misread> {
    let out = match codec {
        0 => packed.to_vec(),
        1 => return snappy::unpack(packed, length),
        2 => read_all(flate2::read::MultiGzDecoder::new(packed), length, "gzip")?,
        6 if length == 0 => Vec::new(),
        6 => {
            let limit = LARGEST_PAGE as u64;
            let decoder = ruzstd::decoding::StreamingDecoder::new_with_max_window_size(packed, limit)
                .map_err(|_| Misread::damaged("a page is not zstd-compressed"))?;
            read_all(decoder, length, "zstd")?
        }
        other => {
            let name = match other {
                3 => "lzo",
                4 => "brotli",
                5 | 7 => "lz4",
                _ => "an unknown method",
            };
            let hint = "write it with compression=\"snappy\" (or zstd, gzip, none)";
            return Err(Misread::new(format!("it is compressed with {name}, which is not read"), hint));
        }
    };
    if out.len() == length {
        Ok(out)
    } else {
        Err(Misread::damaged("a page has another length than it says"))
    }
}

fn read_all(decoder: impl Read, length: usize, name: &str) -> Result<Vec<u8>, Misread> {
    let mut out = Vec::new();
    let read = decoder.take(length as u64 + 1).read_to_end(&mut out);
    read.map_err(|_| Misread::damaged(format!("a page is not {name}-compressed")))?;
    Ok(out)
}
