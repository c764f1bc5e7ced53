//! The MATH table: constants (heights of bars, shifts of scripts), corrections of slanted glyphs, and what growing signs
//! grow into, for the glyphs of a subset under their new numbers.

use std::collections::BTreeSet;
use subsetter::GlyphRemapper;
use ttf_parser::math::{GlyphConstruction, MathValues};
use ttf_parser::{Face, GlyphId};

/// Bytes of the constants: four numbers, 51 values with a reference each, a number.
const CONSTANTS: usize = 4 * 2 + 51 * 4 + 2;

/// The glyphs, and all sizes and parts that they can grow into.
pub fn closure(face: &Face<'_>, mut glyphs: BTreeSet<u16>) -> BTreeSet<u16> {
    let Some(variants) = face.tables().math.and_then(|m| m.variants) else { return glyphs };
    for glyph in glyphs.clone() {
        let Some(grown) = variants.vertical_constructions.get(GlyphId(glyph)) else { continue };
        glyphs.extend(grown.variants.into_iter().map(|v| v.variant_glyph.0));
        glyphs.extend(grown.assembly.iter().flat_map(|a| a.parts).map(|p| p.glyph_id.0));
    }
    glyphs
}

/// The table for `glyphs` (old numbers, ascending), if the font has one.
pub fn table(face: &Face<'_>, old: Option<&[u8]>, new: &GlyphRemapper, glyphs: &[u16]) -> Option<Vec<u8>> {
    let (math, old) = (face.tables().math?, old?);
    let mut constants =
        old.get(usize::from(u16::from_be_bytes([old[4], old[5]]))..)?.get(..CONSTANTS)?.to_vec();
    // References to corrections for certain pixel sizes lead nowhere here.
    (0..51).for_each(|k| constants[8 + 4 * k + 2..][..2].fill(0));
    let information = math.glyph_info?;
    let slanted = values(information.italic_corrections, new, glyphs);
    let accents = values(information.top_accent_attachments, new, glyphs);
    let tall: Vec<u16> = glyphs
        .iter()
        .filter(|&&g| information.extended_shapes.is_some_and(|c| c.contains(GlyphId(g))))
        .filter_map(|&g| new.get(g))
        .collect();
    let information = with_offsets(&[], &[&slanted, &accents, &coverage(&tall), &[]]);
    let variants = variants(&math.variants?, new, glyphs);
    Some(with_offsets(&[1, 0], &[&constants, &information, &variants]))
}

/// Words, then the offsets of the parts, then the parts; an empty part has offset 0.
fn with_offsets(words: &[u16], parts: &[&[u8]]) -> Vec<u8> {
    let mut out: Vec<u8> = words.iter().flat_map(|w| w.to_be_bytes()).collect();
    let mut at = out.len() + 2 * parts.len();
    for part in parts {
        out.extend((if part.is_empty() { 0 } else { at as u16 }).to_be_bytes());
        at += part.len();
    }
    parts.iter().for_each(|part| out.extend(*part));
    out
}

fn coverage(glyphs: &[u16]) -> Vec<u8> {
    let words = [1, glyphs.len() as u16].into_iter().chain(glyphs.iter().copied());
    words.flat_map(u16::to_be_bytes).collect()
}

/// A value for some glyphs: coverage, count, value and a reference to nothing.
fn values(old: Option<MathValues<'_>>, new: &GlyphRemapper, glyphs: &[u16]) -> Vec<u8> {
    let Some(old) = old else { return Vec::new() };
    let kept: Vec<(u16, i16)> =
        glyphs.iter().filter_map(|&g| Some((new.get(g)?, old.get(GlyphId(g))?.value))).collect();
    let mut out: Vec<u8> = Vec::new();
    out.extend((4 + 4 * kept.len() as u16).to_be_bytes());
    out.extend((kept.len() as u16).to_be_bytes());
    for (_, value) in &kept {
        out.extend(value.to_be_bytes());
        out.extend([0, 0]);
    }
    out.extend(coverage(&kept.iter().map(|k| k.0).collect::<Vec<_>>()));
    out
}

fn variants(old: &ttf_parser::math::Variants<'_>, new: &GlyphRemapper, glyphs: &[u16]) -> Vec<u8> {
    let grown: Vec<(u16, Vec<u8>)> = glyphs
        .iter()
        .filter_map(|&g| {
            let construction = old.vertical_constructions.get(GlyphId(g))?;
            Some((new.get(g)?, self::construction(&construction, new)?))
        })
        .collect();
    let covered = coverage(&grown.iter().map(|g| g.0).collect::<Vec<_>>());
    let head = 10 + 2 * grown.len();
    let mut out: Vec<u8> = Vec::new();
    for word in [old.min_connector_overlap, head as u16, 0, grown.len() as u16, 0] {
        out.extend(word.to_be_bytes());
    }
    let mut at = head + covered.len();
    for (_, construction) in &grown {
        out.extend((at as u16).to_be_bytes());
        at += construction.len();
    }
    out.extend(covered);
    grown.iter().for_each(|g| out.extend(&g.1));
    out
}

/// The sizes of a sign, and the parts that larger ones are put together from.
fn construction(old: &GlyphConstruction<'_>, new: &GlyphRemapper) -> Option<Vec<u8>> {
    let assembly = match &old.assembly {
        None => Vec::new(),
        Some(assembly) => {
            let mut words = vec![assembly.italics_correction.value as u16, 0, assembly.parts.len()];
            for part in assembly.parts {
                words.extend([new.get(part.glyph_id.0)?, part.start_connector_length]);
                words.extend([part.end_connector_length, part.full_advance, part.part_flags.0]);
            }
            words.into_iter().flat_map(u16::to_be_bytes).collect()
        }
    };
    let head = 4 + 4 * usize::from(old.variants.len());
    let mut words = vec![if assembly.is_empty() { 0 } else { head as u16 }, old.variants.len()];
    for variant in old.variants {
        words.extend([new.get(variant.variant_glyph.0)?, variant.advance_measurement]);
    }
    let mut out: Vec<u8> = words.into_iter().flat_map(u16::to_be_bytes).collect();
    out.extend(assembly);
    Some(out)
}
