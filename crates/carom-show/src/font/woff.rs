//! A web font: the tables of a font, each compressed with zlib (WOFF 1.0), as text in base 64.

use super::sfnt::{FontTables, checksum, flavour};
use flate2::{Compression, write::ZlibEncoder};
use std::io::Write;

/// A web font of these tables.
pub fn file(tables: &FontTables) -> Vec<u8> {
    let mut entries: Vec<u8> = Vec::new();
    let mut body: Vec<u8> = Vec::new();
    let start = 44 + 20 * tables.len();
    let mut whole = 12 + 16 * tables.len();
    for (tag, table) in tables {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        let packed = encoder.write_all(table).and_then(|()| encoder.finish());
        let stored = packed.as_ref().ok().filter(|p| p.len() < table.len()).unwrap_or(table);
        entries.extend(tag);
        for number in [start + body.len(), stored.len(), table.len()] {
            entries.extend((number as u32).to_be_bytes());
        }
        entries.extend(checksum(table).to_be_bytes());
        body.extend(stored);
        body.resize(body.len().next_multiple_of(4), 0);
        whole += table.len().next_multiple_of(4);
    }
    let mut out = b"wOFF".to_vec();
    out.extend(flavour(tables).to_be_bytes());
    out.extend(((start + body.len()) as u32).to_be_bytes());
    // Number of tables and a reserved word; the size unpacked; version 1.0; no metadata, no private data.
    out.extend(((tables.len() as u32) << 16).to_be_bytes());
    out.extend((whole as u32).to_be_bytes());
    out.extend([0, 1, 0, 0]);
    out.extend([0; 20]);
    out.extend(entries);
    out.extend(body);
    out
}

/// Base 64 with padding.
pub fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0_u32, |w, &b| w << 8 | u32::from(b)) << (8 * (3 - chunk.len()));
        for k in 0..4 {
            if k <= chunk.len() {
                out.push(char::from(LETTERS[(word >> (18 - 6 * k)) as usize & 63]));
            } else {
                out.push('=');
            }
        }
    }
    out
}
