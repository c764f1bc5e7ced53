//! The pieces of other people's fonts that the program carries.
//!
//! The fonts come from crates that carry them, whole: New Computer Modern Math for formulas in pages, DejaVu Sans
//! Condensed for text in pictures. What this writes into `OUT_DIR` has only the characters listed here, and for growing
//! brackets the sizes and parts they are made of.

#[path = "../src/font/mod.rs"]
#[allow(dead_code)]
mod font;

use std::collections::BTreeSet;
use std::path::Path;
use ttf_parser::Face;

/// What formulas in pages are made of: upright letters and signs; the italic letters, which browsers put in the place
/// of plain ones, are added by range.
const MATHEMATICS: &str =
    " !'()*+,-./0123456789:;<=>[]_{|}°±·–—’…˙¨′∂√∑∫∗∘⋅∈−≠≤≥⊤⊥←→↔↦⟨⟩⟹ℎℬℰℱℋℐℒℳℛ\u{a0}\u{2009}";
const MATHEMATICS_RANGES: [(char, char); 8] = [
    ('A', 'Z'),
    ('a', 'z'),
    ('Α', 'Ω'),
    ('α', 'ω'),
    ('À', 'ÿ'),
    // Italic Latin, italic small Greek with ∂, script capitals.
    ('\u{1D434}', '\u{1D467}'),
    ('\u{1D6FC}', '\u{1D71B}'),
    ('\u{1D49C}', '\u{1D4B5}'),
];

/// What labels in pictures are made of: Latin and Greek letters, and signs.
const LABELS: &str = "‐‒–—―‘’‚‛“”…′″⁰⁴⁵⁶⁷⁸⁹⁺⁻₀₁₂₃₄₅₆₇₈₉←↑→↓∂∆∑−√∞≈≠≤≥⊥‖ϑϕ\u{307}\u{308}";
const LABELS_RANGES: [(char, char); 5] = [(' ', '~'), ('\u{a0}', 'ſ'), ('Ȧ', 'ȯ'), ('Α', 'ώ'), ('Ḁ', 'ẙ')];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for source in ["build", "src/font"] {
        println!("cargo::rerun-if-changed={source}");
    }
    let out = std::env::var("OUT_DIR")?;
    let out = Path::new(&out);
    let book = |font: &&[u8]| {
        let names = Face::parse(font, 0).map(|f| f.names()).ok();
        names.is_some_and(|all| all.into_iter().any(|n| n.to_string().as_deref() == Some("NewCMMath-Book")))
    };
    let mathematics = typst_assets::fonts().find(book).ok_or("typst-assets carries no NewCMMath-Book")?;
    let labels = characters(LABELS, &LABELS_RANGES);
    for (file, whole, wanted) in [
        ("sans.ttf", dejavu::sans_condensed::regular(), &labels),
        ("sans-italic.ttf", dejavu::sans_condensed::oblique(), &labels),
        ("math.otf", mathematics, &characters(MATHEMATICS, &MATHEMATICS_RANGES)),
    ] {
        let tables = font::subset(whole, wanted).ok_or("a font cannot be read")?;
        std::fs::write(out.join(file), font::sfnt::file(&tables))?;
    }
    Ok(())
}

fn characters(single: &str, ranges: &[(char, char)]) -> BTreeSet<char> {
    let listed = single.chars();
    listed.chain(ranges.iter().flat_map(|&(first, last)| first..=last)).collect()
}
