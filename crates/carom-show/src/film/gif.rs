//! GIF: one palette for the whole film, made of the theme's colours and their mixtures with the background (which is all that
//! smooth edges consist of), and after the first frame only the rectangle that changed.

use super::Film;
use crate::draw::{Color, Theme};
use std::collections::HashMap;

/// Index of "unchanged".
const SAME: u8 = 255;

/// The film as a GIF file.
pub fn encode(film: &Film, theme: Theme) -> Vec<u8> {
    let palette = palette(theme);
    let bytes: Vec<u8> = palette.iter().flat_map(|c| [c.0, c.1, c.2]).collect();
    let mut out = Vec::new();
    let (width, height) = (film.width as u16, film.height as u16);
    // Writing into memory does not fail; a picture this small has valid sides.
    let Ok(mut encoder) = ::gif::Encoder::new(&mut out, width, height, &bytes) else { return vec![] };
    _ = encoder.set_repeat(::gif::Repeat::Infinite);
    let hundredths = 100.0 / film.rate();
    let mut nearest: HashMap<[u8; 3], u8> = HashMap::new();
    let mut before: Vec<u8> = Vec::new();
    let mut shown = 0.0;
    for n in 0..film.len() {
        let frame = film.frame(n);
        let indices: Vec<u8> = frame
            .rgb
            .chunks_exact(3)
            .map(|p| *nearest.entry([p[0], p[1], p[2]]).or_insert_with(|| nearest_index(&palette, p)))
            .collect();
        // Delays are whole hundredths; what rounding leaves is carried on. The last frame stays a second.
        let until = (n + 1) as f64 * hundredths;
        let delay = if n + 1 == film.len() { 100 } else { (until - shown).round() as u16 };
        shown += f64::from(delay);
        let (left, top, right, bottom) = changed(&before, &indices, film.width);
        let mut patch = Vec::with_capacity((right - left) * (bottom - top));
        for y in top..bottom {
            for x in left..right {
                let i = y * film.width + x;
                let same = before.get(i) == Some(&indices[i]);
                patch.push(if same { SAME } else { indices[i] });
            }
        }
        let frame = ::gif::Frame {
            delay,
            left: left as u16,
            top: top as u16,
            width: (right - left) as u16,
            height: (bottom - top) as u16,
            transparent: (!before.is_empty()).then_some(SAME),
            dispose: ::gif::DisposalMethod::Keep,
            buffer: patch.into(),
            ..::gif::Frame::default()
        };
        _ = encoder.write_frame(&frame);
        before = indices;
    }
    drop(encoder);
    out
}

/// The rectangle in which two frames differ; at least one pixel, and everything for the first frame.
fn changed(before: &[u8], now: &[u8], width: usize) -> (usize, usize, usize, usize) {
    if before.is_empty() {
        return (0, 0, width, now.len() / width);
    }
    let mut area = (usize::MAX, usize::MAX, 0, 0);
    for (i, _) in before.iter().zip(now).enumerate().filter(|(_, (a, b))| a != b) {
        let (x, y) = (i % width, i / width);
        area = (area.0.min(x), area.1.min(y), area.2.max(x + 1), area.3.max(y + 1));
    }
    if area.0 == usize::MAX { (0, 0, 1, 1) } else { area }
}

/// 255 colours: the background, and each of the theme's colours in steps from it.
fn palette(theme: Theme) -> Vec<Color> {
    let back = theme.background();
    let mut bases = vec![theme.ink(), theme.muted(), theme.flash(), theme.grid()];
    bases.extend((0..6).map(|n| theme.curve(n)));
    bases.dedup();
    let steps = 254 / bases.len();
    let mut colors = vec![back];
    for base in bases {
        for k in 1..=steps {
            let mix = |a: u8, b: u8| {
                let s = k as f64 / steps as f64;
                (f64::from(a) + s * (f64::from(b) - f64::from(a))).round() as u8
            };
            colors.push(Color(mix(back.0, base.0), mix(back.1, base.1), mix(back.2, base.2), 255));
        }
    }
    colors.resize(256, back);
    colors
}

fn nearest_index(palette: &[Color], p: &[u8]) -> u8 {
    let distance = |c: &Color| {
        let d = |a: u8, b: u8| (i32::from(a) - i32::from(b)).pow(2);
        // Eyes weigh green most.
        2 * d(c.0, p[0]) + 4 * d(c.1, p[1]) + d(c.2, p[2])
    };
    let all = palette[..usize::from(SAME)].iter().enumerate();
    all.min_by_key(|(_, c)| distance(c)).map_or(0, |(i, _)| i as u8)
}
