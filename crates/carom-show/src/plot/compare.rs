//! Several runs in one plot: a panel for every signal with a curve for every run, and below it how far the others are from
//! the first, |x_k(t) − x_0(t)| on a logarithmic scale, at the times that both were sampled at.

use super::frame::{Axis, LABEL_SIZE, PlotFrame};
use super::signals::{PlotSignal, SignalCatalog};
use super::time::TimePanel;
use super::{BETWEEN, BOTTOM, LEGEND, PlotStyle, RIGHT, TOP, problem};
use crate::draw::{Anchor, Area, Label, Line, Picture};
use crate::track::{Knot, Track};
use carom_mech::{Diagnostic, Mechanics};
use carom_run::Motion;

/// Signals that are compared at most.
const MOST_SIGNALS: usize = 4;
/// Differences below this many powers of ten under the largest are not shown: nothing is left of them but rounding.
const DECADES: f64 = 17.0;

/// A run to compare with.
pub struct ComparedRun<'a> {
    /// What is different in it, as typed.
    pub label: String,
    /// Its model and equations.
    pub mechanics: &'a Mechanics,
    /// Its motion.
    pub motion: &'a Motion,
}

/// Curves of several runs.
pub struct Compared {
    /// Signals and differences by turns.
    pub panels: Vec<ComparedPanel>,
}

/// One signal, or the differences in it.
pub struct ComparedPanel {
    /// The signal's label.
    pub title: Label,
    /// Its unit.
    pub unit: Option<String>,
    /// Is it an angle?
    pub angle: bool,
    /// Are the values powers of ten?
    pub logarithmic: bool,
    /// One for each run; for differences without the first.
    pub curves: Vec<ComparedCurve>,
}

/// A signal of a run.
pub struct ComparedCurve {
    /// What is different in this run.
    pub run: String,
    /// Its colour's number.
    pub color: usize,
    /// Time and value; NaN where it is not known.
    pub points: Vec<(f64, f64)>,
    /// Indices of the points that are just after a jump.
    pub after: Vec<usize>,
}

impl Compared {
    /// Collects the curves of `panels`' signals.
    ///
    /// # Errors
    /// If a run has no samples.
    pub fn new(
        base: &SignalCatalog<'_>,
        others: &[ComparedRun<'_>],
        panels: &[Vec<&PlotSignal<'_>>],
    ) -> Result<Compared, Vec<Diagnostic>> {
        let mut names: Vec<&PlotSignal<'_>> = Vec::new();
        for s in panels.iter().flatten() {
            if names.iter().all(|n| n.name != s.name) {
                names.push(s);
            }
        }
        names.truncate(MOST_SIGNALS);
        let mut found: Vec<Vec<ComparedCurve>> =
            names.iter().map(|s| vec![curve(base, s, "as it is", 0)]).collect();
        for (k, run) in others.iter().enumerate() {
            let track = Track::new(run.mechanics, run.motion);
            if track.knots.is_empty() {
                let message = format!("the run with {} has no samples to compare", run.label);
                return Err(vec![problem(&message, "compare within the time it reached")]);
            }
            let catalog = SignalCatalog::new(&track);
            for (s, curves) in names.iter().zip(&mut found) {
                let own = catalog.signals.iter().find(|o| o.name == s.name);
                curves.extend(own.map(|own| curve(&catalog, own, &run.label, k + 1)));
            }
        }
        let mut all = Vec::new();
        for (s, curves) in names.iter().zip(found) {
            let differences = differences(&curves);
            let panel = |title: Label, curves: Vec<ComparedCurve>, logarithmic: bool| ComparedPanel {
                title,
                unit: s.unit.clone(),
                angle: base.is_angle(s) && !logarithmic,
                logarithmic,
                curves,
            };
            all.push(panel(s.label.clone(), curves, false));
            if !differences.is_empty() {
                all.push(panel(Label::plain("|Δ").join(s.label.clone()).then("|"), differences, true));
            }
        }
        Ok(Compared { panels: all })
    }

    /// Draws all panels under each other.
    pub fn picture(&self, title: &str, time: &Label, style: PlotStyle) -> Picture {
        let theme = style.theme;
        let background = theme.background();
        let mut picture =
            Picture { width: style.width, height: 0.0, background, title: title.to_string(), shapes: vec![] };
        picture.text((18.0, 26.0), Label::plain(title), 15.0, Anchor::Start, theme.ink());
        let times = || self.panels.iter().flat_map(|p| &p.curves).flat_map(|c| c.points.iter().map(|p| p.0));
        let (first, last) =
            (times().fold(f64::INFINITY, f64::min), times().fold(f64::NEG_INFINITY, f64::max));
        let mut top = TOP + LEGEND;
        if let Some(panel) = self.panels.first() {
            let mut x = 20.0;
            for c in &panel.curves {
                let label = Label::plain(&c.run);
                let room = 30.0 + label.width(LABEL_SIZE) + 22.0;
                if x > 20.0 && x + room > style.width - RIGHT {
                    (x, top) = (20.0, top + 18.0);
                }
                let middle = top - 8.0 - 0.32 * LABEL_SIZE;
                picture.line(&[(x, middle), (x + 22.0, middle)], line_of(c, theme));
                picture.text((x + 30.0, top - 8.0), label, LABEL_SIZE, Anchor::Start, theme.ink());
                x += room;
            }
        }
        let heights: Vec<f64> =
            self.panels.iter().map(|p| if p.logarithmic { 96.0 } else { 150.0 }).collect();
        let axes: Vec<Axis> = self.panels.iter().zip(&heights).map(|(p, h)| axis(p, *h)).collect();
        let offset = 22.0 + axes.iter().map(Axis::label_width).fold(0.0, f64::max);
        let count = self.panels.len();
        for (n, ((panel, y), height)) in self.panels.iter().zip(axes).zip(heights).enumerate() {
            let area = Area { left: offset + 20.0, right: style.width - RIGHT, top, bottom: top + height };
            let x = Axis::new(first, last, 0.0, (area.width() / 75.0) as usize, false, time.clone());
            let frame = PlotFrame { area, x, y };
            frame.draw_grid(&mut picture, theme);
            for c in &panel.curves {
                TimePanel::draw_compared(&mut picture, &frame, c, line_of(c, theme), theme);
            }
            frame.draw_axes(&mut picture, theme, n + 1 == count, offset);
            top = area.bottom + if panel.logarithmic { 2.2 * BETWEEN } else { BETWEEN };
        }
        picture.height = top + BOTTOM;
        picture
    }
}

/// The first run is drawn through, the others dashed over it: where they agree, both are seen.
fn line_of(curve: &ComparedCurve, theme: crate::draw::Theme) -> Line {
    Line { color: theme.curve(curve.color), width: 1.6, dash: (curve.color > 0).then_some((6.0, 4.0)) }
}

fn axis(panel: &ComparedPanel, height: f64) -> Axis {
    let values = || panel.curves.iter().flat_map(|c| c.points.iter().map(|p| p.1)).filter(|v| v.is_finite());
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let label = panel.title.clone().with_unit(panel.unit.as_deref());
    let wanted = ((height / 38.0).round() as usize).max(2);
    if panel.logarithmic {
        Axis::logarithmic(low, high, wanted, label)
    } else {
        Axis::new(low, high, 0.06, wanted, panel.angle, label)
    }
}

fn curve(catalog: &SignalCatalog<'_>, signal: &PlotSignal<'_>, run: &str, color: usize) -> ComparedCurve {
    let track = catalog.track;
    let values = catalog.values(signal, &track.knots);
    let points = track.knots.iter().map(|&k| track.time(k)).zip(values).collect();
    let is_after = |(i, k): (usize, &Knot)| matches!(k, Knot::After(_)).then_some(i);
    let after = track.knots.iter().enumerate().filter_map(is_after).collect();
    ComparedCurve { run: run.to_string(), color, points, after }
}

/// log₁₀ |x_k − x_0| of every run but the first, where both have a value at the same time.
fn differences(curves: &[ComparedCurve]) -> Vec<ComparedCurve> {
    let Some((base, others)) = curves.split_first() else { return vec![] };
    // Of several values at one time the last one counts: the state after a jump.
    let at = |points: &[(f64, f64)], t: f64| {
        let end = points.partition_point(|p| p.0 <= t);
        end.checked_sub(1).map(|i| points[i]).filter(|p| p.0 == t).map(|p| p.1)
    };
    let mut all: Vec<ComparedCurve> = others
        .iter()
        .map(|other| {
            let difference = |p: &(f64, f64)| at(&base.points, p.0).map(|v| (p.0, (p.1 - v).abs().log10()));
            let mut points: Vec<(f64, f64)> = other.points.iter().filter_map(difference).collect();
            points.dedup_by_key(|p| p.0);
            ComparedCurve { run: other.run.clone(), color: other.color, points, after: vec![] }
        })
        .collect();
    let finite = || all.iter().flat_map(|c| &c.points).map(|p| p.1).filter(|v| v.is_finite());
    let highest = finite().fold(f64::NEG_INFINITY, f64::max);
    if !highest.is_finite() {
        return vec![]; // equal everywhere
    }
    for point in all.iter_mut().flat_map(|c| &mut c.points) {
        if point.1 <= highest - DECADES {
            point.1 = f64::NAN;
        }
    }
    all
}
