//! Axes: a frame in pixels with a range in values, its grid, marks and labels.

use super::ticks::{Ticks, logarithmic_ticks, padded, power_of_ten, ticks};
use crate::draw::{Anchor, Area, Label, Line, Picture, Shape, Theme};

pub(super) const TICK_SIZE: f64 = 11.0;
pub(super) const LABEL_SIZE: f64 = 12.5;

/// One direction of a frame.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Smallest value shown.
    pub low: f64,
    /// Largest value shown.
    pub high: f64,
    /// Marks.
    pub ticks: Ticks,
    /// What it is.
    pub label: Label,
}

impl Axis {
    /// An axis for values from `low` to `high`, with `margin` of their span to spare and about `wanted` marks.
    pub fn new(low: f64, high: f64, margin: f64, wanted: usize, angle: bool, label: Label) -> Axis {
        let (low, high) = padded(low, high, margin);
        Axis { ticks: ticks(low, high, wanted, angle), low, high, label }
    }

    /// An axis for powers of ten from 10^`low` to 10^`high`.
    pub fn logarithmic(low: f64, high: f64, wanted: usize, label: Label) -> Axis {
        let (low, high) = if low.is_finite() && high.is_finite() { (low, high) } else { (-1.0, 1.0) };
        let spare = (0.06 * (high - low)).max(0.5);
        let (low, high) = (low - spare, high + spare);
        Axis { ticks: logarithmic_ticks(low, high, wanted), low, high, label }
    }

    /// Width of the widest mark's label.
    pub fn label_width(&self) -> f64 {
        let widths = self.ticks.marks.iter().map(|(_, text)| Label::plain(text).width(TICK_SIZE));
        widths.fold(0.0, f64::max)
    }

    fn place(&self, value: f64, from: f64, to: f64) -> f64 {
        from + (value - self.low) / (self.high - self.low) * (to - from)
    }
}

/// A frame with two axes.
pub struct PlotFrame {
    /// Where, in pixels.
    pub area: Area,
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
}

impl PlotFrame {
    /// The pixel of a point.
    pub fn pixel(&self, x: f64, y: f64) -> (f64, f64) {
        let a = &self.area;
        (self.x.place(x, a.left, a.right), self.y.place(y, a.bottom, a.top))
    }

    /// Grid lines; drawn first.
    pub fn draw_grid(&self, picture: &mut Picture, theme: Theme) {
        let a = &self.area;
        let line = Line::new(theme.grid(), 1.0);
        let mut pieces = Vec::new();
        for (value, _) in &self.x.ticks.marks {
            let x = self.x.place(*value, a.left, a.right);
            pieces.push(vec![(x, a.top), (x, a.bottom)]);
        }
        for (value, _) in &self.y.ticks.marks {
            let y = self.y.place(*value, a.bottom, a.top);
            pieces.push(vec![(a.left, y), (a.right, y)]);
        }
        picture.shapes.push(Shape::Path { pieces, closed: false, fill: None, line: Some(line), clip: None });
    }

    /// The frame itself, marks and labels; drawn last. `bottom` says whether x has labels, `offset` how far left the label of y is.
    pub fn draw_axes(&self, picture: &mut Picture, theme: Theme, bottom: bool, offset: f64) {
        let a = &self.area;
        let line = Line::new(theme.ink(), 1.0);
        picture.line(&[(a.left, a.top), (a.left, a.bottom), (a.right, a.bottom)], line);
        for (value, text) in &self.x.ticks.marks {
            let x = self.x.place(*value, a.left, a.right);
            picture.line(&[(x, a.bottom), (x, a.bottom + 4.0)], line);
            if bottom {
                let at = (x, a.bottom + 6.0 + TICK_SIZE);
                picture.text(at, Label::plain(text), TICK_SIZE, Anchor::Middle, theme.muted());
            }
        }
        for (value, text) in &self.y.ticks.marks {
            let y = self.y.place(*value, a.bottom, a.top);
            picture.line(&[(a.left - 4.0, y), (a.left, y)], line);
            let at = (a.left - 8.0, y + 0.36 * TICK_SIZE);
            picture.text(at, Label::plain(text), TICK_SIZE, Anchor::End, theme.muted());
        }
        if self.y.ticks.exponent != 0 {
            let text = power_of_ten(self.y.ticks.exponent);
            picture.text((a.left - 8.0, a.top - 7.0), text, TICK_SIZE, Anchor::End, theme.muted());
        }
        if bottom {
            let exponent = self.x.ticks.exponent;
            let mut label = self.x.label.clone();
            if exponent != 0 {
                label = label.then("  ").join(power_of_ten(exponent));
            }
            let at = (0.5 * (a.left + a.right), a.bottom + 6.0 + TICK_SIZE + 6.0 + LABEL_SIZE);
            picture.text(at, label, LABEL_SIZE, Anchor::Middle, theme.ink());
        }
        if !self.y.label.text().is_empty() {
            picture.shapes.push(Shape::Text {
                at: (a.left - offset, 0.5 * (a.top + a.bottom)),
                label: self.y.label.clone(),
                size: LABEL_SIZE,
                anchor: Anchor::Middle,
                color: theme.ink(),
                upwards: true,
            });
        }
    }
}
