//! Pictures as lists of shapes. A [`Picture`] is made once and written twice: as SVG text, or as pixels (PNG, frames).
//!
//! Coordinates are pixels, y down. Promise: the same picture gives the same bytes, whatever fonts a machine has: pixels use
//! the font built in here, and SVG text is placed with its widths.

mod font;
mod label;
mod raster;
mod svg;
mod theme;

pub use label::{Label, TextRun, is_greek, unit_text};
pub use raster::{Pixels, pixels, png};
pub(crate) use svg::escape;
pub use svg::svg;
pub use theme::{Color, Theme};

/// A picture: shapes in painting order.
#[derive(Clone, Debug)]
pub struct Picture {
    /// In pixels.
    pub width: f64,
    /// In pixels.
    pub height: f64,
    /// Painted first, over everything.
    pub background: Color,
    /// For readers who cannot see it.
    pub title: String,
    /// In painting order.
    pub shapes: Vec<Shape>,
}

/// A rectangle: left, top, right, bottom.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Area {
    /// Smallest x.
    pub left: f64,
    /// Smallest y.
    pub top: f64,
    /// Largest x.
    pub right: f64,
    /// Largest y.
    pub bottom: f64,
}

impl Area {
    /// Its width.
    pub fn width(&self) -> f64 {
        self.right - self.left
    }

    /// Its height.
    pub fn height(&self) -> f64 {
        self.bottom - self.top
    }
}

/// What a picture is made of.
#[derive(Clone, Debug)]
pub enum Shape {
    /// One or more open or closed polylines painted alike.
    Path {
        /// Points of each piece; a piece of one point is a dot when the line has round ends.
        pieces: Vec<Vec<(f64, f64)>>,
        /// Join the last point of each piece to its first?
        closed: bool,
        /// Inside.
        fill: Option<Color>,
        /// Outline.
        line: Option<Line>,
        /// Nothing outside is painted.
        clip: Option<Area>,
    },
    /// A disc.
    Disc {
        /// Its middle.
        at: (f64, f64),
        /// Its radius.
        radius: f64,
        /// Inside.
        fill: Option<Color>,
        /// Outline.
        line: Option<Line>,
    },
    /// A line of text.
    Text {
        /// Where its baseline starts, is centred, or ends.
        at: (f64, f64),
        /// What it says.
        label: Label,
        /// Font size.
        size: f64,
        /// What `at` is.
        anchor: Anchor,
        /// Its colour.
        color: Color,
        /// Turned to read upwards.
        upwards: bool,
    },
}

/// How a line is drawn.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Line {
    /// Its colour.
    pub color: Color,
    /// Its width in pixels.
    pub width: f64,
    /// Lengths of dash and gap.
    pub dash: Option<(f64, f64)>,
}

impl Line {
    /// An undashed line.
    pub fn new(color: Color, width: f64) -> Line {
        Line { color, width, dash: None }
    }
}

/// Which part of a text its place refers to.
#[allow(missing_docs)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

impl Picture {
    /// Adds an open line through `points`.
    pub fn line(&mut self, points: &[(f64, f64)], line: Line) {
        let pieces = vec![points.to_vec()];
        self.shapes.push(Shape::Path { pieces, closed: false, fill: None, line: Some(line), clip: None });
    }

    /// Adds another picture with its corner at `(left, top)`; its background is left out, and lines that leave it are cut.
    pub fn insert(&mut self, other: Picture, left: f64, top: f64) {
        let moved = |p: (f64, f64)| (p.0 + left, p.1 + top);
        let area = |a: Area| Area {
            left: a.left + left,
            top: a.top + top,
            right: a.right + left,
            bottom: a.bottom + top,
        };
        let whole = area(Area { left: 0.0, top: 0.0, right: other.width, bottom: other.height });
        self.shapes.extend(other.shapes.into_iter().map(|shape| match shape {
            Shape::Path { pieces, closed, fill, line, clip } => {
                let pieces = pieces.into_iter().map(|piece| piece.into_iter().map(moved).collect()).collect();
                Shape::Path { pieces, closed, fill, line, clip: Some(clip.map_or(whole, area)) }
            }
            Shape::Disc { at, radius, fill, line } => Shape::Disc { at: moved(at), radius, fill, line },
            Shape::Text { at, label, size, anchor, color, upwards } => {
                Shape::Text { at: moved(at), label, size, anchor, color, upwards }
            }
        }));
    }

    /// Adds a filled rectangle.
    pub fn rectangle(&mut self, a: Area, fill: Color) {
        let pieces = vec![vec![(a.left, a.top), (a.right, a.top), (a.right, a.bottom), (a.left, a.bottom)]];
        self.shapes.push(Shape::Path { pieces, closed: true, fill: Some(fill), line: None, clip: None });
    }

    /// Adds a line of text.
    pub fn text(&mut self, at: (f64, f64), label: Label, size: f64, anchor: Anchor, color: Color) {
        self.shapes.push(Shape::Text { at, label, size, anchor, color, upwards: false });
    }
}
