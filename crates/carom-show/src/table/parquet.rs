//! Apache Parquet, the plainest form the specification allows: PLAIN encoding, no compression, one data page per column
//! and row group, every column optional with run-length encoded definition levels.
//!
//! ```text
//! "PAR1"  (page header, levels, values) per column per row group  FileMetaData  its length  "PAR1"
//! ```
//!
//! Headers are Thrift structures in the compact protocol: fields in ascending order, each preceded by a byte
//! `(id − previous id) << 4 | type`.

use super::{Table, Values};

/// Rows per row group: pages of doubles stay at 8 MiB.
const GROUP: usize = 1 << 20;

// Numbers of the format's enumerations.
const INT64: i64 = 2;
const DOUBLE: i64 = 5;
const BYTE_ARRAY: i64 = 6;
const UTF8: i64 = 0;
const OPTIONAL: i64 = 1;
const PLAIN: i64 = 0;
const RLE: i64 = 3;
const DATA_PAGE: i64 = 0;
const UNCOMPRESSED: i64 = 0;

/// The table as a parquet file.
pub fn parquet(table: &Table) -> Vec<u8> {
    let mut writer = ParquetWriter::default();
    let mut bytes = writer.begin();
    let mut from = 0;
    while from < table.rows() {
        let to = table.rows().min(from + GROUP);
        bytes.extend(writer.group(table, from, to));
        from = to;
    }
    bytes.extend(writer.finish(table));
    bytes
}

/// A parquet file written row group by row group, for tables too long to hold: the pieces in order are the file.
#[derive(Default)]
pub struct ParquetWriter {
    groups: Vec<(usize, Vec<Chunk>)>,
    written: usize,
}

impl ParquetWriter {
    /// The first piece.
    pub fn begin(&mut self) -> Vec<u8> {
        self.written += 4;
        b"PAR1".to_vec()
    }

    /// The next piece: the rows `from..to` of a table as a row group.
    pub fn group(&mut self, table: &Table, from: usize, to: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut chunks: Vec<Chunk> =
            table.columns.iter().map(|c| write_chunk(&mut bytes, &c.values, from, to)).collect();
        chunks.iter_mut().for_each(|chunk| chunk.offset += self.written);
        self.written += bytes.len();
        self.groups.push((to - from, chunks));
        bytes
    }

    /// The last piece; `table` names the columns.
    pub fn finish(self, table: &Table) -> Vec<u8> {
        let rows: usize = self.groups.iter().map(|(count, _)| count).sum();
        let mut bytes = metadata(table, rows, &self.groups);
        bytes.extend((bytes.len() as u32).to_le_bytes());
        bytes.extend(b"PAR1");
        bytes
    }
}

/// FileMetaData.
fn metadata(table: &Table, rows: usize, groups: &[(usize, Vec<Chunk>)]) -> Vec<u8> {
    let mut meta = Thrift::default();
    meta.integer(1, 1); // version
    meta.list(2, STRUCT, table.columns.len() + 1);
    let mut root = Thrift::default();
    root.text(4, "schema");
    root.integer(5, table.columns.len() as i64);
    meta.element(root);
    for column in &table.columns {
        let mut schema = Thrift::default();
        schema.integer(1, physical(&column.values));
        schema.integer(3, OPTIONAL);
        schema.text(4, &column.name);
        if let Values::Texts(_) = column.values {
            schema.integer(6, UTF8);
        }
        meta.element(schema);
    }
    meta.long(3, rows as i64);
    meta.list(4, STRUCT, groups.len());
    for (count, chunks) in groups {
        let mut group = Thrift::default();
        group.list(1, STRUCT, chunks.len());
        for (chunk, column) in chunks.iter().zip(&table.columns) {
            let mut data = Thrift::default();
            data.integer(1, physical(&column.values));
            data.list(2, I32, 2);
            data.item(PLAIN);
            data.item(RLE);
            data.list(3, BINARY, 1);
            data.raw_text(&column.name);
            data.integer(4, UNCOMPRESSED);
            data.long(5, *count as i64);
            data.long(6, chunk.size as i64);
            data.long(7, chunk.size as i64);
            data.long(9, chunk.offset as i64);
            let mut entry = Thrift::default();
            entry.long(2, chunk.offset as i64);
            entry.structure(3, data);
            group.element(entry);
        }
        group.long(2, chunks.iter().map(|c| c.size as i64).sum());
        group.long(3, *count as i64);
        meta.element(group);
    }
    meta.text(6, concat!("carom version ", env!("CARGO_PKG_VERSION")));
    meta.end()
}

fn physical(values: &Values) -> i64 {
    match values {
        Values::Numbers(_) => DOUBLE,
        Values::Integers(_) => INT64,
        Values::Texts(_) => BYTE_ARRAY,
    }
}

struct Chunk {
    offset: usize,
    size: usize,
}

fn write_chunk(bytes: &mut Vec<u8>, values: &Values, from: usize, to: usize) -> Chunk {
    let mut page = Vec::with_capacity((to - from) * 8 + 16);
    match values {
        Values::Numbers(v) => {
            write_levels(&mut page, v[from..to].iter().map(|x| !x.is_nan()));
            v[from..to].iter().filter(|x| !x.is_nan()).for_each(|x| page.extend(x.to_le_bytes()));
        }
        Values::Integers(v) => {
            write_levels(&mut page, (from..to).map(|_| true));
            v[from..to].iter().for_each(|x| page.extend(x.to_le_bytes()));
        }
        Values::Texts(v) => {
            write_levels(&mut page, v[from..to].iter().map(|s| !s.is_empty()));
            for s in v[from..to].iter().filter(|s| !s.is_empty()) {
                page.extend((s.len() as u32).to_le_bytes());
                page.extend(s.as_bytes());
            }
        }
    }
    let mut data = Thrift::default();
    data.integer(1, (to - from) as i64);
    data.integer(2, PLAIN);
    data.integer(3, RLE);
    data.integer(4, RLE);
    let mut header = Thrift::default();
    header.integer(1, DATA_PAGE);
    header.integer(2, page.len() as i64);
    header.integer(3, page.len() as i64);
    header.structure(5, data);
    let offset = bytes.len();
    bytes.extend(header.end());
    bytes.extend(page);
    Chunk { offset, size: bytes.len() - offset }
}

/// Definition levels (1 = there is a value): runs of (varint length << 1, one byte), preceded by their size in bytes.
fn write_levels(page: &mut Vec<u8>, defined: impl Iterator<Item = bool>) {
    let mut runs: Vec<(u64, bool)> = Vec::new();
    for d in defined {
        match runs.last_mut() {
            Some((n, last)) if *last == d => *n += 1,
            _ => runs.push((1, d)),
        }
    }
    let mut levels = Vec::new();
    for (n, d) in runs {
        varint(&mut levels, n << 1);
        levels.push(u8::from(d));
    }
    page.extend((levels.len() as u32).to_le_bytes());
    page.extend(levels);
}

fn varint(bytes: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        bytes.push(n as u8 | 0x80);
        n >>= 7;
    }
    bytes.push(n as u8);
}

/// Zigzag: small negative numbers stay short.
fn zigzag(bytes: &mut Vec<u8>, n: i64) {
    varint(bytes, ((n << 1) ^ (n >> 63)) as u64);
}

// Types of the compact protocol.
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// A Thrift structure being written.
#[derive(Default)]
struct Thrift {
    bytes: Vec<u8>,
    last: u8,
}

impl Thrift {
    fn field(&mut self, id: u8, kind: u8) {
        self.bytes.push((id - self.last) << 4 | kind);
        self.last = id;
    }

    fn integer(&mut self, id: u8, value: i64) {
        self.field(id, I32);
        zigzag(&mut self.bytes, value);
    }

    fn long(&mut self, id: u8, value: i64) {
        self.field(id, I64);
        zigzag(&mut self.bytes, value);
    }

    fn text(&mut self, id: u8, value: &str) {
        self.field(id, BINARY);
        self.raw_text(value);
    }

    fn raw_text(&mut self, value: &str) {
        varint(&mut self.bytes, value.len() as u64);
        self.bytes.extend(value.as_bytes());
    }

    fn list(&mut self, id: u8, kind: u8, length: usize) {
        self.field(id, LIST);
        if length < 15 {
            self.bytes.push((length as u8) << 4 | kind);
        } else {
            self.bytes.push(0xF0 | kind);
            varint(&mut self.bytes, length as u64);
        }
    }

    /// An element of a list of I32.
    fn item(&mut self, value: i64) {
        zigzag(&mut self.bytes, value);
    }

    /// An element of a list of structures.
    fn element(&mut self, inner: Thrift) {
        self.bytes.extend(inner.end());
    }

    fn structure(&mut self, id: u8, inner: Thrift) {
        self.field(id, STRUCT);
        self.bytes.extend(inner.end());
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}
