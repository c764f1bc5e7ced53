//! The container of OpenType: a directory of tables, big-endian; and the table from characters to glyphs.

use std::collections::BTreeMap;

/// Tables by their tags.
pub type FontTables = BTreeMap<[u8; 4], Vec<u8>>;

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// The tables of a font file; none if it ends in the middle of one.
pub fn tables(font: &[u8]) -> Option<FontTables> {
    let mut tables = FontTables::new();
    for k in 0..usize::from(u16_at(font, 4)?) {
        let entry = 12 + 16 * k;
        let tag: [u8; 4] = font.get(entry..entry + 4)?.try_into().ok()?;
        let (start, length) = (u32_at(font, entry + 8)? as usize, u32_at(font, entry + 12)? as usize);
        tables.insert(tag, font.get(start..start.checked_add(length)?)?.to_vec());
    }
    Some(tables)
}

/// The first four bytes: which kind of outlines.
pub fn flavour(tables: &FontTables) -> u32 {
    if tables.contains_key(b"CFF ") { u32::from_be_bytes(*b"OTTO") } else { 0x0001_0000 }
}

/// The sum of a table's words, the last one filled up with zeros.
pub fn checksum(table: &[u8]) -> u32 {
    table.chunks(4).fold(0, |sum, word| {
        let mut bytes = [0; 4];
        bytes[..word.len()].copy_from_slice(word);
        sum.wrapping_add(u32::from_be_bytes(bytes))
    })
}

/// A font file of these tables.
#[allow(dead_code, reason = "written by build/main.rs, which shares this file; pages carry web fonts")]
pub fn file(tables: &FontTables) -> Vec<u8> {
    let count = tables.len() as u16;
    let log = count.ilog2() as u16;
    let mut out = flavour(tables).to_be_bytes().to_vec();
    for word in [count, 16 << log, log, 16 * count - (16 << log)] {
        out.extend(word.to_be_bytes());
    }
    let mut body: Vec<u8> = Vec::new();
    let start = 12 + 16 * tables.len();
    for (tag, table) in tables {
        out.extend(tag);
        for word in [checksum(table), (start + body.len()) as u32, table.len() as u32] {
            out.extend(word.to_be_bytes());
        }
        body.extend(table);
        body.resize(body.len().next_multiple_of(4), 0);
    }
    out.extend(body);
    out
}

/// Characters and their glyphs, characters ascending: as format 4 for the first 65 536, as format 12 for all.
pub fn cmap(characters: &[(char, u16)]) -> Vec<u8> {
    let (short, long) = (format_4(characters), format_12(characters));
    let mut out: Vec<u8> = Vec::new();
    // Version, two encodings: Unicode of the first plane, all of Unicode.
    [0_u16, 2, 3, 1].iter().for_each(|w| out.extend(w.to_be_bytes()));
    out.extend(20_u32.to_be_bytes());
    [3_u16, 10].iter().for_each(|w| out.extend(w.to_be_bytes()));
    out.extend((20 + short.len() as u32).to_be_bytes());
    out.extend(short);
    out.extend(long);
    out
}

/// Runs in which character and glyph both grow by one: first character, last character, first glyph.
fn runs(characters: &[(char, u16)]) -> Vec<(u32, u32, u16)> {
    let mut runs: Vec<(u32, u32, u16)> = Vec::new();
    for &(c, glyph) in characters {
        let c = c as u32;
        match runs.last_mut() {
            Some((first, last, start))
                if c == *last + 1 && u32::from(glyph) == u32::from(*start) + c - *first =>
            {
                *last = c;
            }
            _ => runs.push((c, c, glyph)),
        }
    }
    runs
}

fn format_4(characters: &[(char, u16)]) -> Vec<u8> {
    let mut runs = runs(characters);
    runs.retain(|r| r.1 < 0xFFFF);
    // The table ends with a run of the last character, which is no glyph.
    runs.push((0xFFFF, 0xFFFF, 0));
    let count = runs.len() as u16;
    let log = count.ilog2() as u16;
    let mut words = vec![4, 16 + 8 * count, 0, 2 * count, 2 << log, log, 2 * count - (2 << log)];
    words.extend(runs.iter().map(|r| r.1 as u16));
    words.push(0);
    words.extend(runs.iter().map(|r| r.0 as u16));
    words.extend(runs.iter().map(|r| r.2.wrapping_sub(r.0 as u16)));
    words.extend(runs.iter().map(|_| 0));
    words.into_iter().flat_map(u16::to_be_bytes).collect()
}

fn format_12(characters: &[(char, u16)]) -> Vec<u8> {
    let runs = runs(characters);
    let mut words = vec![12 << 16, 16 + 12 * runs.len() as u32, 0, runs.len() as u32];
    runs.into_iter().for_each(|(first, last, glyph)| words.extend([first, last, u32::from(glyph)]));
    words.into_iter().flat_map(u32::to_be_bytes).collect()
}
