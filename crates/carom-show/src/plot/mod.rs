//! Plots of a motion: panels over time that share their axis, above panels in planes of two signals.
//!
//! Promise: a jump is never joined; its two sides are drawn where the impact's record says they are. Whatever the number of
//! samples, a picture stays small and shows every extreme that could be seen. The same motion gives the same bytes.

pub mod branch;
mod compare;
mod frame;
mod plane;
mod reduce;
pub(crate) mod request;
mod scatter;
mod signals;
mod ticks;
mod time;

pub use compare::{Compared, ComparedCurve, ComparedPanel, ComparedRun};
pub use scatter::{Scatter, scatter_png, scatter_svg, scatters_svg};
pub use signals::{Forces, PlotSignal, SignalCatalog, SignalKind};

use crate::draw::{self, Anchor, Area, Label, Picture, Theme};
use crate::film;
use crate::provenance::Stamp;
use crate::track::Track;
use crate::view::{self, Stage};
use carom_mech::{Diagnostic, Mechanics, Severity};
use carom_run::Motion;
use frame::{Axis, PlotFrame};
use plane::PlanePanel;
use request::Panel;
use time::TimePanel;

/// How a plot looks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PlotStyle {
    /// Light or dark.
    pub theme: Theme,
    /// Width in pixels.
    pub width: f64,
}

impl Default for PlotStyle {
    fn default() -> PlotStyle {
        PlotStyle { theme: Theme::Light, width: 860.0 }
    }
}

/// Pixels of a PNG per pixel of the drawing: sharp in print and on dense screens.
const PNG_SCALE: f64 = 2.0;

/// The plot as SVG. `requests` are what `--plot` says (see the `request` part of this module: `"theta1,theta2"`,
/// `"theta2' vs theta2"`, `"energy"`, `"theta' vs theta at apex"`), one panel each; none gives a sensible choice.
pub fn svg(
    mechanics: &Mechanics,
    motion: &Motion,
    requests: &[String],
    style: PlotStyle,
) -> Result<String, Vec<Diagnostic>> {
    let picture = picture(mechanics, motion, requests, style)?;
    Ok(Stamp::of_motion(motion).svg(&draw::svg(&picture)))
}

/// The plot as a PNG file; arguments as for [`svg`].
pub fn png(
    mechanics: &Mechanics,
    motion: &Motion,
    requests: &[String],
    style: PlotStyle,
) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let picture = picture(mechanics, motion, requests, style)?;
    draw::png(&picture, PNG_SCALE)
        .map(|bytes| Stamp::of_motion(motion).png(&bytes))
        .ok_or_else(|| vec![problem("the picture could not be painted", "use fewer panels, or write .svg")])
}

/// How many samples make smooth curves of a motion that took this many steps: a Taylor step spans a good part of an
/// oscillation, so a dozen samples per step leave no corners.
pub fn samples_for(steps: u64, impacts: usize) -> usize {
    let wanted = steps.saturating_mul(12).saturating_add(2 * impacts as u64);
    wanted.clamp(2_000, 100_000) as usize + 1
}

fn problem(message: &str, hint: &str) -> Diagnostic {
    Diagnostic { severity: Severity::Error, place: None, message: message.into(), hint: Some(hint.into()) }
}

const TOP: f64 = 34.0;
const LEGEND: f64 = 26.0;
const NO_LEGEND: f64 = 10.0;
const BOTTOM: f64 = 46.0;
const RIGHT: f64 = 22.0;
const BETWEEN: f64 = 10.0;

/// The plot as a picture; arguments as for [`svg`].
pub fn picture(
    mechanics: &Mechanics,
    motion: &Motion,
    requests: &[String],
    style: PlotStyle,
) -> Result<Picture, Vec<Diagnostic>> {
    let theme = style.theme;
    let track = Track::new(mechanics, motion);
    if track.knots.is_empty() {
        return Err(vec![problem(
            "the motion has no samples to plot",
            "ask for samples within the time it reached",
        )]);
    }
    let catalog = SignalCatalog::new(&track);
    let mut panels = read_requests(&catalog, requests)?;
    let stage = stage(mechanics, motion, &panels, requests.is_empty())?;
    if requests.is_empty() && stage.is_some() {
        // The scene takes the place of one of the two planes.
        let planes = panels.iter().filter(|p| matches!(p, Panel::Plane { .. })).count();
        panels.truncate(panels.len() - planes.saturating_sub(1));
        panels.push(Panel::View(None));
    }

    let mut over_time: Vec<TimePanel> = Vec::new();
    let mut planes: Vec<Square> = Vec::new();
    let count = panels.iter().filter(|p| matches!(p, Panel::Time(_))).count();
    let height: f64 = match count {
        1 => 300.0,
        2 => 190.0,
        3 | 4 => 140.0,
        _ => 116.0,
    };
    for panel in &panels {
        match panel {
            Panel::Time(signals) => over_time.push(TimePanel::new(&catalog, signals, style.width, height)),
            Panel::Plane { y, x, event } => {
                planes.push(Square::Plane(Box::new(PlanePanel::new(&catalog, y, x, *event))));
            }
            Panel::View(time) => planes.push(Square::View(*time)),
        }
    }

    let background = theme.background();
    let title = motion.model.clone();
    let mut picture = Picture { width: style.width, height: 0.0, background, title, shapes: vec![] };
    let mut top = TOP;
    picture.text((18.0, 26.0), Label::plain(&motion.model), 15.0, Anchor::Start, theme.ink());

    if !over_time.is_empty() {
        let (first, last) = (track.time(track.knots[0]), track.time(track.knots[track.knots.len() - 1]));
        let time = catalog.signals.iter().find(|s| s.kind == SignalKind::Time);
        let label = time.map_or_else(Label::default, |s| s.label.clone().with_unit(s.unit.as_deref()));
        let offset = 22.0 + over_time.iter().map(|p| p.y.label_width()).fold(0.0, f64::max);
        let left = offset + 20.0;
        let last_panel = over_time.len() - 1;
        for (n, panel) in over_time.iter().enumerate() {
            top += if n == 0 || panel.has_legend() { LEGEND } else { NO_LEGEND };
            let area = Area { left, right: style.width - RIGHT, top, bottom: top + height };
            let x = Axis::new(first, last, 0.0, (area.width() / 75.0) as usize, false, label.clone());
            let frame = PlotFrame { area, x, y: panel.y.clone() };
            panel.draw(&mut picture, &catalog, &frame, theme, n == 0);
            frame.draw_axes(&mut picture, theme, n == last_panel, offset);
            top = area.bottom + BETWEEN;
        }
        top += BOTTOM - BETWEEN;
    }

    let columns = planes.len().clamp(1, 2);
    for row in planes.chunks(columns) {
        top += 18.0;
        let cell = style.width / columns as f64;
        let mut tallest: f64 = 0.0;
        for (n, square) in row.iter().enumerate() {
            let panel = match (square, &stage) {
                (Square::Plane(panel), _) => panel,
                (Square::View(time), Some(stage)) => {
                    let size = if columns == 1 { cell.min(640.0) } else { cell };
                    let scene = film::still(stage, *time, &motion.model, theme, size - 2.0 * RIGHT);
                    tallest = tallest.max(scene.height - 0.5 * BOTTOM);
                    picture.insert(scene, n as f64 * cell + RIGHT, top);
                    if over_time.is_empty() && columns == 1 {
                        picture.width = size;
                    }
                    continue;
                }
                (Square::View(_), None) => continue,
            };
            let offset = 22.0 + panel.y.label_width();
            let left = n as f64 * cell + offset + 20.0;
            let right = (n + 1) as f64 * cell - RIGHT;
            let mut area = Area { left, right, top, bottom: top + (right - left).min(460.0) * 0.78 };
            if columns == 1 {
                area.right = area.right.min(area.left + 640.0);
            }
            let (mut x, mut y) = (panel.x.clone(), panel.y.clone());
            if panel.equal {
                area = same_scale(area, &mut x, &mut y);
            }
            let frame = PlotFrame { area, x, y };
            panel.draw(&mut picture, &frame, theme);
            frame.draw_axes(&mut picture, theme, true, offset);
            tallest = tallest.max(area.bottom - top);
            if over_time.is_empty() && columns == 1 {
                picture.width = area.right + RIGHT;
            }
        }
        top += tallest + BOTTOM;
    }
    picture.height = top + 10.0;
    Ok(picture)
}

/// What stands beside another in a row.
enum Square {
    Plane(Box<PlanePanel>),
    View(Option<f64>),
}

/// The scene, if it is asked for; by itself only where it is in space, which no plane shows.
fn stage(
    mechanics: &Mechanics,
    motion: &Motion,
    panels: &[Panel<'_, '_>],
    choose: bool,
) -> Result<Option<Stage>, Vec<Diagnostic>> {
    let asked = panels.iter().any(|p| matches!(p, Panel::View(_)));
    if !asked && !choose {
        return Ok(None);
    }
    let mut mechanics = mechanics.clone();
    let scene = match view::scene(&mut mechanics) {
        Ok(scene) => scene,
        Err(problems) if asked => return Err(problems),
        Err(_) => return Ok(None),
    };
    let track = Track::new(&mechanics, motion);
    Ok((asked || scene.dimension == 3).then(|| Stage::new(&track, &scene)))
}

/// Several runs as SVG: the motion itself first. Arguments as for [`svg`].
pub fn compared_svg(
    mechanics: &Mechanics,
    motion: &Motion,
    others: &[ComparedRun<'_>],
    requests: &[String],
    style: PlotStyle,
) -> Result<String, Vec<Diagnostic>> {
    let picture = compared_picture(mechanics, motion, others, requests, style)?;
    Ok(Stamp::of_motion(motion).svg(&draw::svg(&picture)))
}

/// Several runs as a PNG file. Arguments as for [`svg`].
pub fn compared_png(
    mechanics: &Mechanics,
    motion: &Motion,
    others: &[ComparedRun<'_>],
    requests: &[String],
    style: PlotStyle,
) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let picture = compared_picture(mechanics, motion, others, requests, style)?;
    draw::png(&picture, PNG_SCALE)
        .map(|bytes| Stamp::of_motion(motion).png(&bytes))
        .ok_or_else(|| vec![problem("the picture could not be painted", "use fewer panels, or write .svg")])
}

/// Several runs as a picture. Arguments as for [`svg`].
pub fn compared_picture(
    mechanics: &Mechanics,
    motion: &Motion,
    others: &[ComparedRun<'_>],
    requests: &[String],
    style: PlotStyle,
) -> Result<Picture, Vec<Diagnostic>> {
    let track = Track::new(mechanics, motion);
    if track.knots.is_empty() {
        return Err(vec![problem(
            "the motion has no samples to plot",
            "ask for samples within the time it reached",
        )]);
    }
    let catalog = SignalCatalog::new(&track);
    let over_time = |panel| if let Panel::Time(signals) = panel { Some(signals) } else { None };
    let panels: Vec<Vec<&PlotSignal<'_>>> =
        read_requests(&catalog, requests)?.into_iter().filter_map(over_time).collect();
    if panels.is_empty() {
        return Err(vec![problem(
            "runs are compared over time",
            "name signals, for example --plot \"energy\"",
        )]);
    }
    let time = catalog.signals.iter().find(|s| s.kind == SignalKind::Time);
    let label = time.map_or_else(Label::default, |s| s.label.clone().with_unit(s.unit.as_deref()));
    Ok(Compared::new(&catalog, others, &panels)?.picture(&motion.model, &label, style))
}

/// Are these two signals places, to be drawn with the same scale?
pub(crate) fn same_scale_fits(catalog: &SignalCatalog<'_>, y: &PlotSignal<'_>, x: &PlotSignal<'_>) -> bool {
    let place = |s: &PlotSignal<'_>| matches!(s.kind, SignalKind::Position(_) | SignalKind::Definition);
    place(x) && place(y) && x.unit == y.unit && !catalog.is_angle(x) && !catalog.is_angle(y)
}

pub(crate) fn read_requests<'c, 'a>(
    catalog: &'c SignalCatalog<'a>,
    requests: &[String],
) -> Result<Vec<Panel<'c, 'a>>, Vec<Diagnostic>> {
    if requests.is_empty() {
        return Ok(request::default_panels(catalog));
    }
    let mut panels = Vec::new();
    let mut problems = Vec::new();
    // A semicolon separates panels in one option.
    for text in requests.iter().flat_map(|r| r.split(';')).filter(|r| !r.trim().is_empty()) {
        match request::read(catalog, text.trim()) {
            Ok(panel) => panels.push(panel),
            Err(found) => problems.extend(found),
        }
    }
    if panels.is_empty() && problems.is_empty() {
        problems.push(problem("nothing to plot was named", "for example --plot \"energy\""));
    }
    if problems.is_empty() { Ok(panels) } else { Err(problems) }
}

/// Gives both axes the same number of pixels per unit: the axis with room to spare shows more.
fn same_scale(area: Area, x: &mut Axis, y: &mut Axis) -> Area {
    let tallest = 560.0;
    let mut area = area;
    let wanted = area.width() * (y.high - y.low) / (x.high - x.low);
    area.bottom = area.top + wanted.clamp(170.0, tallest);
    let scale = (area.width() / (x.high - x.low)).min(area.height() / (y.high - y.low));
    let grow = |axis: &mut Axis, pixels: f64| {
        let extra = 0.5 * (pixels / scale - (axis.high - axis.low));
        let marks = (pixels / 70.0).clamp(2.0, 8.0) as usize;
        *axis = Axis::new(axis.low - extra, axis.high + extra, 0.0, marks, false, axis.label.clone());
    };
    grow(x, area.width());
    grow(y, area.height());
    area
}
