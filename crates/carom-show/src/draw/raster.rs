//! A picture as pixels: paths by tiny-skia, text from the built-in font's outlines.

use super::{Anchor, Area, Color, Line, Picture, Shape, font};
use tiny_skia as skia;

/// Opaque pixels, row by row from the top.
#[derive(Clone, PartialEq, Debug)]
pub struct Pixels {
    /// Pixels per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Red, green, blue of each pixel.
    pub rgb: Vec<u8>,
}

/// Largest side of a picture in pixels: beyond it memory, not beauty, is the limit.
const LARGEST: f64 = 16384.0;

fn paint_all(picture: &Picture, scale: f64) -> Option<skia::Pixmap> {
    let side = |v: f64| (v * scale).round().clamp(1.0, LARGEST) as u32;
    let mut map = skia::Pixmap::new(side(picture.width), side(picture.height))?;
    map.fill(color(picture.background));
    let transform = skia::Transform::from_scale(scale as f32, scale as f32);
    let mut mask: Option<(Area, skia::Mask)> = None;
    for shape in &picture.shapes {
        match shape {
            Shape::Path { pieces, closed, fill, line, clip } => {
                let Some(path) = path(pieces, *closed) else { continue };
                if let Some(area) = clip
                    && mask.as_ref().is_none_or(|(a, _)| a != area)
                {
                    mask = clip_mask(&map, *area, transform).map(|m| (*area, m));
                }
                let mask = clip.and(mask.as_ref()).map(|(_, m)| m);
                paint_path(&mut map, &path, *fill, *line, transform, mask);
            }
            Shape::Disc { at, radius, fill, line } => {
                let (x, y, r) = (at.0 as f32, at.1 as f32, *radius as f32);
                if let Some(path) = skia::PathBuilder::from_circle(x, y, r) {
                    paint_path(&mut map, &path, *fill, *line, transform, None);
                }
            }
            Shape::Text { at, label, size, anchor, color, upwards } => {
                let width = label.width(*size);
                let start = match anchor {
                    Anchor::Start => 0.0,
                    Anchor::Middle => -width / 2.0,
                    Anchor::End => -width,
                };
                let mut place = transform.pre_translate(at.0 as f32, at.1 as f32);
                if *upwards {
                    place = place.pre_rotate(-90.0);
                }
                let mut pen = Pen::default();
                let mut x = start;
                for run in &label.0 {
                    let (size, y) = (size * run.scale(), run.lowered() * size);
                    let mut before = ' ';
                    for c in run.text.chars() {
                        let (right, up) =
                            if font::is_mark(c) { font::over(c, before, run.italic) } else { (0.0, 0.0) };
                        pen.glyph(c, run.italic, x + right * size, y - up * size, size);
                        x += font::advance(c, run.italic) * size;
                        before = c;
                    }
                }
                if let Some(path) = pen.path.finish() {
                    paint_path(&mut map, &path, Some(*color), None, place, None);
                }
            }
        }
    }
    Some(map)
}

/// The picture as pixels, `scale` of them per unit.
pub fn pixels(picture: &Picture, scale: f64) -> Option<Pixels> {
    let map = paint_all(picture, scale)?;
    let rgb = map.pixels().iter().flat_map(|p| [p.red(), p.green(), p.blue()]).collect();
    Some(Pixels { width: map.width() as usize, height: map.height() as usize, rgb })
}

/// The picture as a PNG file, `scale` pixels per unit. `None` when it has no area.
pub fn png(picture: &Picture, scale: f64) -> Option<Vec<u8>> {
    paint_all(picture, scale)?.encode_png().ok()
}

fn color(c: Color) -> skia::Color {
    skia::Color::from_rgba8(c.0, c.1, c.2, c.3)
}

fn brush(c: Color) -> skia::Paint<'static> {
    let mut paint = skia::Paint::default();
    paint.set_color(color(c));
    paint.anti_alias = true;
    paint
}

fn path(pieces: &[Vec<(f64, f64)>], closed: bool) -> Option<skia::Path> {
    let mut builder = skia::PathBuilder::new();
    for piece in pieces {
        let mut points = piece.iter();
        let Some(&(x, y)) = points.next() else { continue };
        builder.move_to(x as f32, y as f32);
        if piece.len() == 1 {
            builder.line_to(x as f32, y as f32);
        }
        points.for_each(|&(x, y)| builder.line_to(x as f32, y as f32));
        if closed {
            builder.close();
        }
    }
    builder.finish()
}

fn clip_mask(map: &skia::Pixmap, a: Area, transform: skia::Transform) -> Option<skia::Mask> {
    let mut mask = skia::Mask::new(map.width(), map.height())?;
    let rectangle = skia::Rect::from_ltrb(a.left as f32, a.top as f32, a.right as f32, a.bottom as f32)?;
    mask.fill_path(&skia::PathBuilder::from_rect(rectangle), skia::FillRule::Winding, true, transform);
    Some(mask)
}

fn paint_path(
    map: &mut skia::Pixmap,
    path: &skia::Path,
    fill: Option<Color>,
    line: Option<Line>,
    transform: skia::Transform,
    mask: Option<&skia::Mask>,
) {
    if let Some(fill) = fill {
        map.fill_path(path, &brush(fill), skia::FillRule::Winding, transform, mask);
    }
    if let Some(line) = line {
        let stroke = skia::Stroke {
            width: line.width as f32,
            line_cap: skia::LineCap::Round,
            line_join: skia::LineJoin::Round,
            dash: line.dash.and_then(|(a, b)| skia::StrokeDash::new(vec![a as f32, b as f32], 0.0)),
            ..skia::Stroke::default()
        };
        map.stroke_path(path, &brush(line.color), &stroke, transform, mask);
    }
}

/// Collects glyph outlines into one path.
#[derive(Default)]
struct Pen {
    path: skia::PathBuilder,
    x: f32,
    y: f32,
    scale: f32,
}

impl Pen {
    fn glyph(&mut self, c: char, italic: bool, x: f64, y: f64, size: f64) {
        let Some(units) = font::outline(c, italic, &mut Ignore) else { return };
        (self.x, self.y, self.scale) = (x as f32, y as f32, (size / units) as f32);
        font::outline(c, italic, self);
    }

    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, self.y - y * self.scale)
    }
}

/// Asks for the units of a font without drawing.
struct Ignore;

impl ttf_parser::OutlineBuilder for Ignore {
    fn move_to(&mut self, _: f32, _: f32) {}
    fn line_to(&mut self, _: f32, _: f32) {}
    fn quad_to(&mut self, _: f32, _: f32, _: f32, _: f32) {}
    fn curve_to(&mut self, _: f32, _: f32, _: f32, _: f32, _: f32, _: f32) {}
    fn close(&mut self) {}
}

impl ttf_parser::OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.place(x1, y1), self.place(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.place(x1, y1), self.place(x2, y2), self.place(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
