//! Panels over time: curves broken at jumps, impacts and contacts marked.

use super::compare::ComparedCurve;
use super::frame::{Axis, LABEL_SIZE, PlotFrame, TICK_SIZE};
use super::reduce::OverTime;
use super::signals::{PlotSignal, SignalCatalog, SignalKind};
use crate::draw::{Anchor, Area, Label, Line, Picture, Shape, Theme};
use crate::track::Knot;

/// Curves over time, ready to be drawn.
pub struct TimePanel {
    curves: Vec<TimeCurve>,
    /// Upwards.
    pub y: Axis,
}

struct TimeCurve {
    label: Label,
    /// Smooth pieces (t, value).
    legs: Vec<Vec<(f64, f64)>>,
    /// Ends of pieces at jumps: (t, value, is it the state after?).
    ends: Vec<(f64, f64, bool)>,
}

/// Up to this many jumps their ends are marked by dots; more would hide the curves.
const MOST_DOTTED: usize = 40;

impl TimePanel {
    /// Collects the curves for a panel of this size in pixels.
    pub fn new(
        catalog: &SignalCatalog<'_>,
        signals: &[&PlotSignal<'_>],
        width: f64,
        height: f64,
    ) -> TimePanel {
        let curves: Vec<TimeCurve> = signals.iter().map(|s| curve(catalog, s, width)).collect();
        let values = || curves.iter().flat_map(|c| c.legs.iter().flatten().map(|p| p.1));
        let low = values().fold(f64::INFINITY, f64::min);
        let high = values().fold(f64::NEG_INFINITY, f64::max);
        let angle = signals.iter().all(|s| catalog.is_angle(s));
        let unit = signals[0].unit.as_deref().filter(|_| signals.iter().all(|s| s.unit == signals[0].unit));
        let label = match (signals, unit) {
            ([one], _) => one.label.clone().with_unit(one.unit.as_deref()),
            (_, Some(u)) => Label::unit(u),
            _ => Label::default(),
        };
        let wanted = ((height / 38.0).round() as usize).max(2);
        TimePanel { curves, y: Axis::new(low, high, 0.06, wanted, angle, label) }
    }

    /// Does it need room for names of curves?
    pub fn has_legend(&self) -> bool {
        self.curves.len() > 1 || self.y.ticks.exponent != 0
    }

    /// Draws the panel into `frame`; `marks` adds the legend of impacts and contacts.
    pub fn draw(
        &self,
        picture: &mut Picture,
        catalog: &SignalCatalog<'_>,
        frame: &PlotFrame,
        theme: Theme,
        marks: bool,
    ) {
        let area = frame.area;
        draw_contacts(picture, catalog, frame, theme);
        frame.draw_grid(picture, theme);
        draw_impacts(picture, catalog, frame, theme);
        for (n, curve) in self.curves.iter().enumerate() {
            let color = theme.curve(n);
            let to_pixels = |leg: &Vec<(f64, f64)>| leg.iter().map(|&(t, v)| frame.pixel(t, v)).collect();
            let mut pieces: Vec<Vec<(f64, f64)>> = curve.legs.iter().map(to_pixels).collect();
            // Thousands of short legs: one piece per pixel column says all there is to see.
            if pieces.len() as f64 > 2.0 * area.width() {
                pieces = columns(&pieces);
            }
            let line = Some(Line::new(color, 1.6));
            let clip = Some(Area { top: area.top - 1.0, bottom: area.bottom + 1.0, ..area });
            picture.shapes.push(Shape::Path { pieces, closed: false, fill: None, line, clip });
            if curve.ends.len() <= 2 * MOST_DOTTED {
                for &(t, v, after) in &curve.ends {
                    let fill = Some(if after { color } else { theme.background() });
                    let line = Some(Line::new(color, 1.2));
                    picture.shapes.push(Shape::Disc { at: frame.pixel(t, v), radius: 2.4, fill, line });
                }
            }
        }
        self.draw_legend(picture, catalog, frame, theme, marks);
    }

    /// Draws a curve of one of several runs, both sides of its jumps marked.
    pub fn draw_compared(
        picture: &mut Picture,
        frame: &PlotFrame,
        curve: &ComparedCurve,
        line: Line,
        theme: Theme,
    ) {
        let area = frame.area;
        let size =
            curve.points.iter().map(|p| p.1).filter(|v| v.is_finite()).fold(0.0f64, |a, b| a.max(b.abs()));
        let times = (curve.points.first().map_or(0.0, |p| p.0), curve.points.last().map_or(0.0, |p| p.0));
        let crowded = curve.points.len() as f64 > 8.0 * area.width() && times.1 > times.0;
        let mut leg =
            OverTime::new(if crowded { 2.0 * area.width() / (times.1 - times.0) } else { f64::NAN });
        let mut legs: Vec<Vec<(f64, f64)>> = vec![];
        let mut ends: Vec<(f64, f64, bool)> = vec![];
        let mut jumps = curve.after.iter().peekable();
        for (i, &(t, v)) in curve.points.iter().enumerate() {
            let after = jumps.next_if(|&&j| j == i).is_some();
            let before = if after && i > 0 { curve.points[i - 1].1 } else { v };
            let jumped = after && (v - before).abs() > 1e-9 * size;
            if (jumped || !v.is_finite()) && !leg.is_empty() {
                legs.push(leg.take());
            }
            if jumped {
                ends.extend([(t, before, false), (t, v, true)]);
            }
            if v.is_finite() {
                leg.push((t, v));
            }
        }
        if !leg.is_empty() {
            legs.push(leg.take());
        }
        let pieces = legs.iter().map(|leg| leg.iter().map(|p| frame.pixel(p.0, p.1)).collect()).collect();
        let clip = Some(Area { top: area.top - 1.0, bottom: area.bottom + 1.0, ..area });
        picture.shapes.push(Shape::Path { pieces, closed: false, fill: None, line: Some(line), clip });
        if ends.len() <= 2 * MOST_DOTTED {
            for (t, v, after) in ends {
                let fill = Some(if after { line.color } else { theme.background() });
                let edge = Some(Line::new(line.color, 1.2));
                picture.shapes.push(Shape::Disc { at: frame.pixel(t, v), radius: 2.4, fill, line: edge });
            }
        }
    }

    /// Above the frame, so that it never hides data.
    fn draw_legend(
        &self,
        picture: &mut Picture,
        catalog: &SignalCatalog<'_>,
        frame: &PlotFrame,
        theme: Theme,
        marks: bool,
    ) {
        let (mut x, y) = (frame.area.left + 2.0, frame.area.top - 8.0);
        if self.curves.len() > 1 {
            for (n, curve) in self.curves.iter().enumerate() {
                let middle = y - 0.32 * LABEL_SIZE;
                picture.line(&[(x, middle), (x + 18.0, middle)], Line::new(theme.curve(n), 2.4));
                picture.text((x + 24.0, y), curve.label.clone(), LABEL_SIZE, Anchor::Start, theme.ink());
                x += 24.0 + curve.label.width(LABEL_SIZE) + 18.0;
            }
        }
        if !marks {
            return;
        }
        let mut right = frame.area.right;
        if !catalog.track.motion.contacts.is_empty() {
            let text = Label::plain("contact");
            right -= text.width(TICK_SIZE);
            picture.text((right, y), text, TICK_SIZE, Anchor::Start, theme.muted());
            let swatch = Area { left: right - 20.0, right: right - 6.0, top: y - 9.0, bottom: y + 1.0 };
            picture.rectangle(swatch, theme.shade());
            right -= 34.0;
        }
        let impacts = catalog.track.motion.impacts.len();
        if impacts > 0 {
            let text =
                Label::plain(&if impacts == 1 { "1 impact".into() } else { format!("{impacts} impacts") });
            right -= text.width(TICK_SIZE);
            picture.text((right, y), text, TICK_SIZE, Anchor::Start, theme.muted());
            let line = Line { color: theme.muted(), width: 1.0, dash: Some((2.0, 3.0)) };
            picture.line(&[(right - 7.0, y - 10.0), (right - 7.0, y + 2.0)], line);
        }
    }
}

/// Joins short legs that share a pixel column into the vertical line they cover.
fn columns(pieces: &[Vec<(f64, f64)>]) -> Vec<Vec<(f64, f64)>> {
    let mut kept: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut column: Option<(f64, f64, f64, f64)> = None; // index, x, low, high
    let flush = |kept: &mut Vec<Vec<(f64, f64)>>, c: Option<(f64, f64, f64, f64)>| {
        if let Some((_, x, low, high)) = c {
            kept.push(vec![(x, low), (x, high)]);
        }
    };
    for piece in pieces {
        let (Some(first), Some(last)) = (piece.first(), piece.last()) else { continue };
        let index = (2.0 * first.0).floor();
        if (2.0 * last.0).floor() != index {
            flush(&mut kept, column.take());
            kept.push(piece.clone());
            continue;
        }
        let low = piece.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
        let high = piece.iter().map(|p| p.1).fold(f64::NEG_INFINITY, f64::max);
        column = match column {
            Some((i, x, l, h)) if i == index => Some((i, x, l.min(low), h.max(high))),
            other => {
                flush(&mut kept, other);
                Some((index, first.0, low, high))
            }
        };
    }
    flush(&mut kept, column);
    kept
}

fn curve(catalog: &SignalCatalog<'_>, signal: &PlotSignal<'_>, width: f64) -> TimeCurve {
    let track = catalog.track;
    let knots = &track.knots;
    let values = catalog.values(signal, knots);
    let finite = || values.iter().filter(|v| v.is_finite());
    // Jumps are measured against the values themselves: a constant energy has none, whatever its rounding.
    let size = finite().fold(0.0f64, |a, &b| a.max(b.abs()));
    // Forces also jump where a contact begins or ends.
    let mut breaks: Vec<f64> = match signal.kind {
        SignalKind::Force(_) | SignalKind::Output => {
            track.motion.contacts.iter().flat_map(|c| [Some(c.from), c.to]).flatten().collect()
        }
        _ => vec![],
    };
    breaks.sort_by(f64::total_cmp);
    let mut next_break = 0;
    let mut legs: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut ends = Vec::new();
    // Two columns per pixel. With few samples every one has a column of its own: NaN equals no other.
    let length = match (knots.first(), knots.last()) {
        (Some(&a), Some(&b)) => track.time(b) - track.time(a),
        _ => 0.0,
    };
    let crowded = knots.len() as f64 > 8.0 * width && length > 0.0;
    let mut leg = OverTime::new(if crowded { 2.0 * width / length } else { f64::NAN });
    let mut cut = |leg: &mut OverTime| {
        if !leg.is_empty() {
            legs.push(leg.take());
        }
    };
    for (i, (&knot, &value)) in knots.iter().zip(&values).enumerate() {
        let t = track.time(knot);
        while breaks.get(next_break).is_some_and(|b| *b <= t) {
            next_break += 1;
            cut(&mut leg);
        }
        if !value.is_finite() {
            cut(&mut leg);
            continue;
        }
        if let Knot::After(_) = knot {
            let before = values[i - 1];
            // What differs by rounding only is continuous: energies at an elastic impact.
            if before.is_nan() || (value - before).abs() > 1e-9 * size {
                if before.is_finite() {
                    ends.push((t, before, false));
                }
                ends.push((t, value, true));
                cut(&mut leg);
            }
        }
        leg.push((t, value));
    }
    cut(&mut leg);
    TimeCurve { label: signal.label.clone(), legs, ends }
}

fn draw_contacts(picture: &mut Picture, catalog: &SignalCatalog<'_>, frame: &PlotFrame, theme: Theme) {
    let area = frame.area;
    for contact in &catalog.track.motion.contacts {
        let left = frame.pixel(contact.from, 0.0).0.clamp(area.left, area.right);
        let right = contact.to.map_or(area.right, |t| frame.pixel(t, 0.0).0.clamp(area.left, area.right));
        if right > left {
            picture.rectangle(Area { left, right, ..area }, theme.shade());
        }
    }
}

fn draw_impacts(picture: &mut Picture, catalog: &SignalCatalog<'_>, frame: &PlotFrame, theme: Theme) {
    let area = frame.area;
    let mut columns: Vec<f64> = Vec::new();
    for jump in &catalog.track.jumps {
        let x = frame.pixel(jump.time, 0.0).0;
        // Marks closer than two pixels are one mark.
        if columns.last().is_none_or(|last| x - last >= 2.0) {
            columns.push(x);
        }
    }
    let crowded = columns.len() as f64 > area.width() / 12.0;
    let color = theme.muted().faded(if crowded { 0.22 } else { 0.6 });
    let line = Line { color, width: 1.0, dash: Some((2.0, 3.0)) };
    let pieces = columns.into_iter().map(|x| vec![(x, area.top), (x, area.bottom)]).collect();
    picture.shapes.push(Shape::Path { pieces, closed: false, fill: None, line: Some(line), clip: None });
}
