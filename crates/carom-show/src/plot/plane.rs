//! Panels in the plane of two signals: phase portraits, configuration paths, Poincaré sections.

use super::frame::{Axis, PlotFrame};
use super::reduce::Coverage;
use super::signals::{PlotSignal, SignalCatalog};
use crate::draw::{Area, Line, Picture, Shape, Theme};
use crate::track::Knot;

/// A curve or a set of points in a plane, ready to be drawn.
pub struct PlanePanel {
    legs: Vec<Vec<(f64, f64)>>,
    /// Both sides of each jump: before and after.
    jumps: Vec<[(f64, f64); 2]>,
    section: bool,
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// Do both directions have the same scale?
    pub equal: bool,
}

/// Up to this many jumps their sides are marked by dots; more would hide the curve.
const MOST_DOTTED: usize = 40;

/// Largest number of points a curve is written with; cells grow until it is enough.
const MOST_POINTS: usize = 40_000;

impl PlanePanel {
    /// Collects the points.
    pub fn new(
        catalog: &SignalCatalog<'_>,
        y: &PlotSignal<'_>,
        x: &PlotSignal<'_>,
        event: Option<usize>,
    ) -> PlanePanel {
        let events = &catalog.track.motion.events;
        let knots: Vec<Knot> = match event {
            Some(e) => (0..events.len()).filter(|&k| events[k].event == e).map(Knot::Event).collect(),
            None => catalog.track.knots.clone(),
        };
        let (xs, ys) = (catalog.values(x, &knots), catalog.values(y, &knots));
        let points: Vec<(f64, f64)> = xs.into_iter().zip(ys).collect();
        let range = |of: &dyn Fn(&(f64, f64)) -> f64| {
            let finite = || points.iter().map(of).filter(|v| v.is_finite());
            (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max))
        };
        let ((x0, x1), (y0, y1)) = (range(&|p| p.0), range(&|p| p.1));
        let axis = |s: &PlotSignal<'_>, low, high| {
            let label = s.label.clone().with_unit(s.unit.as_deref());
            Axis::new(low, high, 0.05, 5, catalog.is_angle(s), label)
        };
        let jumps = if event.is_some() { vec![] } else { jumps(&knots, &points, x1 - x0, y1 - y0) };
        let legs = if event.is_some() {
            points.into_iter().filter(|p| p.0.is_finite() && p.1.is_finite()).map(|p| vec![p]).collect()
        } else {
            split(&knots, &points, x1 - x0, y1 - y0)
        };
        let equal = super::same_scale_fits(catalog, y, x);
        PlanePanel { legs, jumps, section: event.is_some(), x: axis(x, x0, x1), y: axis(y, y0, y1), equal }
    }

    /// Draws the panel into `frame`.
    pub fn draw(&self, picture: &mut Picture, frame: &PlotFrame, theme: Theme) {
        let area = frame.area;
        frame.draw_grid(picture, theme);
        let local = |&(x, y): &(f64, f64)| {
            let p = frame.pixel(x, y);
            (p.0 - area.left, p.1 - area.top)
        };
        let legs: Vec<Vec<(f64, f64)>> =
            self.legs.iter().map(|leg| leg.iter().map(local).collect()).collect();
        let total: usize = legs.iter().map(Vec::len).sum();
        let mut kept = Vec::new();
        // Few points are drawn as they are; many with the finest cells that stay within bounds.
        for cell in [0.0, 0.5, 1.0, 1.5, 2.0, 3.0] {
            if cell == 0.0 {
                if total > MOST_POINTS / 4 {
                    continue;
                }
                kept = legs.clone();
            } else {
                let mut coverage = Coverage::new(area.width(), area.height(), cell);
                kept = legs.iter().flat_map(|leg| coverage.in_plane(leg)).collect();
            }
            if kept.iter().map(Vec::len).sum::<usize>() <= MOST_POINTS {
                break;
            }
        }
        let back = |&(x, y): &(f64, f64)| (x + area.left, y + area.top);
        let pieces: Vec<Vec<(f64, f64)>> = kept.iter().map(|leg| leg.iter().map(back).collect()).collect();
        let clip = Some(Area {
            left: area.left - 2.0,
            top: area.top - 2.0,
            right: area.right + 2.0,
            bottom: area.bottom + 2.0,
        });
        let color = theme.curve(0);
        let line = if self.section {
            let count = pieces.len() as f64;
            Line::new(color, (60.0 / count.max(1.0).sqrt()).clamp(1.2, 4.5))
        } else {
            // A long tangle is drawn finer than a single loop.
            Line::new(color, if total > 20_000 { 0.7 } else { 1.4 })
        };
        picture.shapes.push(Shape::Path { pieces, closed: false, fill: None, line: Some(line), clip });
        if self.jumps.len() <= MOST_DOTTED {
            for [before, after] in &self.jumps {
                let (a, b) = (frame.pixel(before.0, before.1), frame.pixel(after.0, after.1));
                let dashed = Line { color: color.faded(0.6), width: 1.0, dash: Some((2.0, 3.0)) };
                picture.line(&[a, b], dashed);
                for (at, fill) in [(a, theme.background()), (b, color)] {
                    let line = Some(Line::new(color, 1.2));
                    picture.shapes.push(Shape::Disc { at, radius: 2.4, fill: Some(fill), line });
                }
            }
        }
    }
}

/// Both sides of each jump that is one for these signals.
fn jumps(knots: &[Knot], points: &[(f64, f64)], width: f64, height: f64) -> Vec<[(f64, f64); 2]> {
    let known = |p: &(f64, f64)| p.0.is_finite() && p.1.is_finite();
    let differs = |a: &(f64, f64), b: &(f64, f64)| {
        (a.0 - b.0).abs() > 1e-9 * width || (a.1 - b.1).abs() > 1e-9 * height
    };
    let after = knots.iter().enumerate().skip(1).filter(|(_, k)| matches!(k, Knot::After(_)));
    after
        .map(|(i, _)| [points[i - 1], points[i]])
        .filter(|[a, b]| known(a) && known(b) && differs(a, b))
        .collect()
}

/// Smooth pieces: broken where either signal jumps or is not known.
fn split(knots: &[Knot], points: &[(f64, f64)], width: f64, height: f64) -> Vec<Vec<(f64, f64)>> {
    let mut legs: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut leg: Vec<(f64, f64)> = Vec::new();
    for (i, (knot, &p)) in knots.iter().zip(points).enumerate() {
        let known = p.0.is_finite() && p.1.is_finite();
        let jumps = matches!(knot, Knot::After(_)) && {
            let before = points[i - 1];
            !((p.0 - before.0).abs() <= 1e-9 * width && (p.1 - before.1).abs() <= 1e-9 * height)
        };
        if (!known || jumps) && !leg.is_empty() {
            legs.push(std::mem::take(&mut leg));
        }
        if known {
            leg.push(p);
        }
    }
    if !leg.is_empty() {
        legs.push(leg);
    }
    legs
}
