//! The built-in font: widths for both kinds of output, outlines for pixels. Text is set glyph by glyph, without kerning.

use std::sync::OnceLock;
use ttf_parser::{Face, OutlineBuilder};

/// The subsets of DejaVu Sans Condensed that `build/main.rs` makes.
static UPRIGHT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sans.ttf"));
static ITALIC: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sans-italic.ttf"));

fn face(italic: bool) -> Option<&'static Face<'static>> {
    static FACES: OnceLock<[Option<Face<'static>>; 2]> = OnceLock::new();
    let parse = || [UPRIGHT, ITALIC].map(|bytes| Face::parse(bytes, 0).ok());
    FACES.get_or_init(parse)[usize::from(italic)].as_ref()
}

/// Width of `text` in units of the font size.
pub fn width(text: &str, italic: bool) -> f64 {
    text.chars().map(|c| advance(c, italic)).sum()
}

/// How far the pen moves after `c`, in units of the font size.
pub fn advance(c: char, italic: bool) -> f64 {
    // A character the font lacks is as wide as a letter; pixels leave the place empty.
    const UNKNOWN: f64 = 0.55;
    if is_mark(c) {
        return 0.0;
    }
    let of = |face: &Face<'_>| -> Option<f64> {
        let glyph = face.glyph_index(c)?;
        Some(f64::from(face.glyph_hor_advance(glyph)?) / f64::from(face.units_per_em()))
    };
    face(italic).and_then(of).unwrap_or(UNKNOWN)
}

/// Does `c` stand over the character before it?
pub fn is_mark(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

/// How a mark is moved from where the pen is after `base` so that it stands over its middle, clear of it: to the right and
/// up, in units of the font size.
pub fn over(mark: char, base: char, italic: bool) -> (f64, f64) {
    /// Between a letter and its dot.
    const CLEAR: f64 = 0.08;
    let of = |face: &Face<'_>| -> Option<(f64, f64)> {
        let bounds = |c: char| face.glyph_bounding_box(face.glyph_index(c)?);
        let (m, b) = (bounds(mark)?, bounds(base)?);
        let units = f64::from(face.units_per_em());
        let middle = |r: ttf_parser::Rect| 0.5 * (f64::from(r.x_min) + f64::from(r.x_max)) / units;
        let up = (f64::from(b.y_max) - f64::from(m.y_min)) / units + CLEAR;
        // A slanted letter has its top to the right of its middle.
        let slant = if italic { 0.1 * f64::from(b.y_max) / units } else { 0.0 };
        Some((middle(b) - advance(base, italic) - middle(m) + slant, up))
    };
    face(italic).and_then(of).unwrap_or((0.0, 0.0))
}

/// Draws the outline of `c` into `builder`, in font units with y up; returns the units per font size.
pub fn outline(c: char, italic: bool, builder: &mut dyn OutlineBuilder) -> Option<f64> {
    let face = face(italic)?;
    let glyph = face.glyph_index(c)?;
    face.outline_glyph(glyph, builder)?;
    Some(f64::from(face.units_per_em()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_has_what_labels_need() {
        for italic in [false, true] {
            let face = face(italic).expect("the built-in font parses");
            for c in "θφψωαβγδλμντẋẏżṙṡṗÿ⁻⁰¹⁵Δ|\u{307}\u{308}′·×−²³₁₂∞≥xyzABC0123456789()/.,+=".chars()
            {
                assert!(face.glyph_index(c).is_some(), "{c} is missing");
            }
        }
        // Digits are at least as wide as in the common sans-serif fonts, so SVG text fits where it was measured.
        assert!((0.556..0.58).contains(&advance('0', false)));
    }
}
