//! Many points at once: bifurcation diagrams, sections of many motions, basins of attraction.
//!
//! Points that fall on the same dot of the picture are drawn once, so a picture of a million points is no larger than its area.

use super::frame::{Axis, PlotFrame};
use super::{PNG_SCALE, PlotStyle};
use crate::draw::{self, Anchor, Area, Color, Label, Picture, Shape};
use crate::provenance::Stamp;
use std::collections::BTreeMap;

/// Points with a colour each.
#[derive(Clone, Debug)]
pub struct Scatter {
    /// Above the picture.
    pub title: String,
    /// Name of what is drawn to the right, and its range if it is known.
    pub x: (String, Option<(f64, f64)>),
    /// Name of what is drawn upwards, and its range if it is known.
    pub y: (String, Option<(f64, f64)>),
    /// x, y, and a colour by number.
    pub points: Vec<(f64, f64, usize)>,
    /// How large a point is: 0 for a dot, else the size of a cell in x and y.
    pub cell: Option<(f64, f64)>,
    /// What colours stand for, if there is more than one.
    pub legend: Vec<String>,
}

/// Where points of one colour are: the dot of the picture, and its middle.
type Dots = BTreeMap<(i64, i64), (f64, f64)>;

const HEIGHT: f64 = 560.0;
/// Half the side of a dot, in pixels.
const DOT: f64 = 0.3;
/// The same of a dot in another colour than the first.
const MARK: f64 = 1.6;

/// The picture as a PNG file; `None` if there is nothing to draw or it cannot be painted.
pub fn scatter_png(scatter: &Scatter, style: PlotStyle, stamp: Option<&Stamp>) -> Option<Vec<u8>> {
    let bytes = draw::png(&picture(std::slice::from_ref(scatter), style)?, PNG_SCALE)?;
    Some(stamp.map_or_else(|| bytes.clone(), |stamp| stamp.png(&bytes)))
}

/// The picture as SVG; `None` if there is nothing to draw.
pub fn scatter_svg(scatter: &Scatter, style: PlotStyle, stamp: Option<&Stamp>) -> Option<String> {
    scatters_svg(std::slice::from_ref(scatter), style, stamp)
}

/// Several of them, one below the other, as one SVG; `None` if there is nothing to draw in one of them.
pub fn scatters_svg(scatters: &[Scatter], style: PlotStyle, stamp: Option<&Stamp>) -> Option<String> {
    let text = draw::svg(&picture(scatters, style)?);
    Some(stamp.map_or_else(|| text.clone(), |stamp| stamp.svg(&text)))
}

fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|x| x.is_finite()).fold(None, |r, x| match r {
        None => Some((x, x)),
        Some((a, b)) => Some((f64::min(a, x), f64::max(b, x))),
    })
}

fn picture(scatters: &[Scatter], style: PlotStyle) -> Option<Picture> {
    let mut picture = Picture {
        width: style.width,
        height: 0.0,
        background: style.theme.background(),
        title: scatters.first()?.title.clone(),
        shapes: Vec::new(),
    };
    for scatter in scatters {
        draw_below(&mut picture, scatter, style)?;
    }
    Some(picture)
}

/// Draws points below what is there already.
fn draw_below(picture: &mut Picture, scatter: &Scatter, style: PlotStyle) -> Option<()> {
    let top = picture.height;
    let theme = style.theme;
    let (xl, xh) = scatter.x.1.or_else(|| range(scatter.points.iter().map(|p| p.0)))?;
    let (yl, yh) = scatter.y.1.or_else(|| range(scatter.points.iter().map(|p| p.1)))?;
    let margin = if scatter.cell.is_some() { 0.0 } else { 0.03 };
    let x = Axis::new(xl, xh, margin, 8, false, Label::name(&scatter.x.0));
    let y = Axis::new(yl, yh, margin, 7, false, Label::name(&scatter.y.0));
    let left = 46.0 + y.label_width();
    let legend = 18.0 * scatter.legend.len().min(12) as f64;
    let area = Area { left, top: top + 44.0, right: style.width - 24.0, bottom: top + HEIGHT - 52.0 };
    let frame = PlotFrame { area, x, y };
    picture.height = top + HEIGHT + legend;
    frame.draw_grid(picture, theme);
    // By colour, then by place: the same points give the same bytes.
    let mut places: BTreeMap<usize, Dots> = BTreeMap::new();
    for &(px, py, color) in &scatter.points {
        let at = frame.pixel(px, py);
        if at.0.is_finite() && at.1.is_finite() {
            let key = ((PNG_SCALE * at.0).round() as i64, (PNG_SCALE * at.1).round() as i64);
            places.entry(color).or_default().entry(key).or_insert(at);
        }
    }
    let half = scatter.cell.map_or((DOT, DOT), |(w, h)| {
        let (a, b) = (frame.pixel(xl, yl), frame.pixel(xl + w, yl + h));
        // A little more than half, so that no background shows between neighbours.
        (0.5 * (b.0 - a.0).abs() + 0.1, 0.5 * (b.1 - a.1).abs() + 0.1)
    });
    for (color, places) in places {
        let fill = if scatter.legend.len() > 1 || scatter.cell.is_some() {
            attractor_color(style, color)
        } else {
            theme.ink()
        };
        // Data stands out from the motion it is drawn over.
        let half = if scatter.cell.is_none() && color > 0 { (MARK, MARK) } else { half };
        let pieces = places
            .into_values()
            .map(|(x, y)| {
                let (w, h) = half;
                vec![(x - w, y - h), (x + w, y - h), (x + w, y + h), (x - w, y + h)]
            })
            .collect();
        let clip = Some(frame.area);
        picture.shapes.push(Shape::Path { pieces, closed: true, fill: Some(fill), line: None, clip });
    }
    frame.draw_axes(picture, theme, true, left - 14.0);
    picture.text((left, top + 24.0), Label::plain(&scatter.title), 14.0, Anchor::Start, theme.ink());
    for (k, text) in scatter.legend.iter().take(12).enumerate() {
        let y = top + HEIGHT + 18.0 * k as f64;
        picture.rectangle(
            Area { left, top: y, right: left + 12.0, bottom: y + 12.0 },
            attractor_color(style, k),
        );
        picture.text((left + 18.0, y + 10.0), Label::plain(text), 11.0, Anchor::Start, theme.ink());
    }
    Some(())
}

/// Colours of curves, then the same lighter.
fn attractor_color(style: PlotStyle, k: usize) -> Color {
    const ROUND: usize = 6;
    let base = style.theme.curve(k % ROUND);
    match k / ROUND {
        0 => base,
        round => base.over(style.theme.background(), 1.0 / (1.0 + round as f64)),
    }
}
