//! Fonts cut down to what is drawn with them.
//!
//! A font is a directory of tables. `subsetter` cuts the outlines and their widths; what it leaves out, because PDF does
//! not need it, is written here: which character is which glyph ([`sfnt`]) and how mathematics is set ([`math`]). The
//! same code runs twice: when the crate is built, to take what could ever be needed out of the fonts that other crates
//! carry (`build/main.rs`), and for each page, to take what that page needs out of that, as a web font ([`woff`]).
//!
//! Promise: a glyph of the subset looks and stretches as in the whole font; growing signs keep all their sizes.

pub mod math;
pub mod sfnt;
pub mod woff;

use std::collections::BTreeSet;
use subsetter::GlyphRemapper;
use ttf_parser::Face;

/// The tables of `font` for those characters wanted that it has; none if it is not a font.
pub fn subset(font: &[u8], wanted: &BTreeSet<char>) -> Option<sfnt::FontTables> {
    let face = Face::parse(font, 0).ok()?;
    let known: Vec<_> = wanted.iter().filter_map(|&c| Some((c, face.glyph_index(c)?))).collect();
    let glyphs: Vec<u16> = math::closure(&face, known.iter().map(|k| k.1.0).collect()).into_iter().collect();
    let new = GlyphRemapper::new_from_glyphs_sorted(&glyphs);
    let mut tables = sfnt::tables(&subsetter::subset(font, 0, &new).ok()?)?;
    // What a reader needs that is not a PDF.
    let original = sfnt::tables(font)?;
    for tag in [b"OS/2", b"post"] {
        if let (false, Some(table)) = (tables.contains_key(tag), original.get(tag)) {
            tables.insert(*tag, table.clone());
        }
    }
    let characters: Vec<(char, u16)> = known.iter().filter_map(|k| Some((k.0, new.get(k.1.0)?))).collect();
    tables.insert(*b"cmap", sfnt::cmap(&characters));
    if let Some(table) = math::table(&face, original.get(b"MATH").map(Vec::as_slice), &new, &glyphs) {
        tables.insert(*b"MATH", table);
    }
    Some(tables)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ttf_parser::GlyphId;

    /// What was taken when the crate was built.
    static BUILT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/math.otf"));

    fn whole() -> &'static [u8] {
        let book = |font: &&[u8]| {
            let face = Face::parse(font, 0).expect("a font");
            face.names().into_iter().any(|n| n.to_string().as_deref() == Some("NewCMMath-Book"))
        };
        typst_assets::fonts().find(book).expect("the crate carries it")
    }

    /// Heights and widths of the sizes and parts of a growing sign.
    fn sizes(face: &Face<'_>, sign: char) -> Vec<(u16, u16, Option<ttf_parser::Rect>)> {
        let glyph = face.glyph_index(sign).expect("the sign is there");
        let look = |g: GlyphId, height: u16| {
            (height, face.glyph_hor_advance(g).expect("a width"), face.glyph_bounding_box(g))
        };
        let variants = face.tables().math.and_then(|m| m.variants).expect("it has sizes");
        let grown = variants.vertical_constructions.get(glyph).expect("it grows");
        let parts = grown.assembly.expect("it has parts").parts;
        grown
            .variants
            .into_iter()
            .map(|v| look(v.variant_glyph, v.advance_measurement))
            .chain(parts.into_iter().map(|p| look(p.glyph_id, p.full_advance)))
            .collect()
    }

    #[test]
    fn a_subset_of_a_subset_looks_and_grows_as_the_whole_font() {
        let wanted: BTreeSet<char> = "(){|√∫xθ𝑥𝜃𝑇2˙".chars().collect();
        let small = sfnt::file(&subset(BUILT, &wanted).expect("a font"));
        let (whole, small) = (Face::parse(whole(), 0).unwrap(), Face::parse(&small, 0).unwrap());
        for c in wanted {
            let [a, b] = [&whole, &small].map(|f| {
                let glyph = f.glyph_index(c).expect("every character is there");
                let information = f.tables().math.and_then(|m| m.glyph_info).expect("mathematics");
                let italic = information.italic_corrections.and_then(|v| v.get(glyph)).map(|v| v.value);
                let accent = information.top_accent_attachments.and_then(|v| v.get(glyph)).map(|v| v.value);
                (f.glyph_hor_advance(glyph), f.glyph_bounding_box(glyph), italic, accent)
            });
            assert_eq!(a, b, "{c}");
        }
        for sign in "(){|√".chars() {
            assert_eq!(sizes(&whole, sign), sizes(&small, sign), "{sign}");
        }
        let [a, b] = [&whole, &small].map(|f| {
            let c = f.tables().math.and_then(|m| m.constants).expect("constants");
            let bar = c.fraction_rule_thickness().value;
            let scripts = (c.superscript_shift_up().value, c.subscript_shift_down().value);
            (
                c.axis_height().value,
                bar,
                scripts,
                c.script_percent_scale_down(),
                c.radical_kern_after_degree().value,
            )
        });
        assert_eq!(a, b);
        assert!(small.glyph_index('y').is_none(), "what was not asked for is not there");
    }

    #[test]
    fn a_web_font_has_the_tables_of_the_font() {
        let tables = subset(BUILT, &"xy".chars().collect()).expect("a font");
        let packed = woff::file(&tables);
        assert_eq!(&packed[..8], b"wOFFOTTO");
        let word = |at: usize| u32::from_be_bytes(packed[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!(word(8), packed.len());
        for (k, (tag, table)) in tables.iter().enumerate() {
            let entry = 44 + 20 * k;
            assert_eq!(&packed[entry..entry + 4], tag);
            let (start, length, original) = (word(entry + 4), word(entry + 8), word(entry + 12));
            let stored = &packed[start..start + length];
            let mut unpacked = Vec::new();
            if length < original {
                let mut decoder = flate2::read::ZlibDecoder::new(stored);
                std::io::Read::read_to_end(&mut decoder, &mut unpacked).expect("zlib");
            } else {
                unpacked.extend(stored);
            }
            assert_eq!(&unpacked, table);
        }
    }

    #[test]
    fn what_is_not_a_font_has_no_subset() {
        assert!(subset(b"", &BTreeSet::new()).is_none());
        assert!(subset(&BUILT[..BUILT.len() / 2], &"x".chars().collect()).is_none());
    }

    #[test]
    fn base64_agrees_with_the_examples_of_its_standard() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(woff::base64(plain.as_bytes()), coded);
        }
    }
}
