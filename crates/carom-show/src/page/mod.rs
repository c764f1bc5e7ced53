//! The animation page: one HTML file with everything in it.
//!
//! The page holds the motion's knots (samples, and both sides of every jump) as the doubles of the motion, bit for bit, and
//! where every drawn point is as floats. Its script plays them; `window.carom` and the `data-value` attributes of the table
//! give the exact numbers to anyone who asks. A motion whose model does not say where things are has plots and numbers only.
//! Runs that it is compared with have curves of their own, with times of their own.

use crate::draw::{Label, Theme, escape, unit_text};
use crate::plot::request::Panel;
use crate::plot::{Compared, ComparedRun, PlotSignal, SignalCatalog, SignalKind, read_requests};
use crate::provenance::Stamp;
use crate::table::{number, string};
use crate::track::Track;
use crate::view::{FillShape, Role, Stage, scene};
use carom_mech::{Action, Diagnostic, Mechanics, Severity};
use carom_run::Motion;
use std::fmt::Write;

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
/// In this order they are one script.
const SCRIPTS: [&str; 4] =
    [include_str!("page.js"), include_str!("stage.js"), include_str!("plots.js"), include_str!("hands.js")];

/// Most panels beside the animation.
const MOST_PANELS: usize = 4;
/// Most planes of two signals below them.
const MOST_PLANES: usize = 4;
/// Most jumps in a page; of more, later ones are left out (and still counted).
const MOST_JUMPS: usize = 20_000;
/// Walls whose gaps are still listed one by one.
const MOST_GAPS: usize = 6;

/// How many samples a smooth animation of a motion needs that took this many steps.
pub fn samples_for(steps: u64) -> usize {
    steps.saturating_mul(6).clamp(1_200, 100_000) as usize + 1
}

/// The motion as a page. `requests` choose the panels beside the animation as for plots; none gives a sensible choice.
/// A model that does not say where things are gives a page of plots.
pub fn html(mechanics: &Mechanics, motion: &Motion, requests: &[String]) -> Result<String, Vec<Diagnostic>> {
    compared(mechanics, motion, &[], requests)
}

/// The data of the page as JSON, for other pages: what is drawn and where, every signal at every knot, every jump. Numbers are in
/// base64, little-endian: doubles for times and signals, floats for places.
pub fn scene_json(mechanics: &Mechanics, motion: &Motion) -> Result<String, Vec<Diagnostic>> {
    with_shown(mechanics, motion, &[], &[], |shown| data(&PageContent { every: true, ..shown }))
}

/// The motion as a page, its plots beside those of other runs; arguments as for [`html`].
pub fn compared(
    mechanics: &Mechanics,
    motion: &Motion,
    others: &[ComparedRun<'_>],
    requests: &[String],
) -> Result<String, Vec<Diagnostic>> {
    with_shown(mechanics, motion, others, requests, |shown| page(motion, others, &shown))
}

/// Chooses what a page shows and makes something of it.
fn with_shown<R>(
    mechanics: &Mechanics,
    motion: &Motion,
    others: &[ComparedRun<'_>],
    requests: &[String],
    make: impl FnOnce(PageContent<'_, '_>) -> R,
) -> Result<R, Vec<Diagnostic>> {
    let mut mechanics = mechanics.clone();
    let scene = scene(&mut mechanics).ok();
    let mut track = Track::new(&mechanics, motion);
    let jumps = track.jumps.len();
    track.thin(MOST_JUMPS);
    let track = track;
    if track.knots.is_empty() {
        return Err(vec![Diagnostic {
            severity: Severity::Error,
            place: None,
            message: "the motion has no samples to show".into(),
            hint: Some("ask for samples within the time it reached".into()),
        }]);
    }
    let catalog = SignalCatalog::new(&track);
    let (mut panels, mut planes) = (Vec::new(), Vec::new());
    for panel in read_requests(&catalog, requests)? {
        match panel {
            Panel::Time(signals) => panels.push(signals),
            Panel::Plane { y, x, event: None } => planes.push((y, x)),
            Panel::Plane { .. } | Panel::View(_) => {}
        }
    }
    panels.truncate(MOST_PANELS);
    planes.truncate(MOST_PLANES);
    if panels.is_empty() {
        // Only planes, or what a page has anyway, were asked for.
        let default = read_requests(&catalog, &[])?;
        panels =
            default.into_iter().filter_map(|p| if let Panel::Time(s) = p { Some(s) } else { None }).collect();
        panels.truncate(MOST_PANELS);
    }
    let stage = scene.map(|scene| Stage::new(&track, &scene));
    let compared = match others {
        [] => None,
        _ => Some(Compared::new(&catalog, others, &panels)?),
    };
    Ok(make(PageContent {
        catalog: &catalog,
        stage: stage.as_ref(),
        panels,
        planes,
        jumps,
        compared: compared.as_ref(),
        every: false,
    }))
}

/// The template, filled in.
fn page(motion: &Motion, others: &[ComparedRun<'_>], shown: &PageContent<'_, '_>) -> String {
    let (track, stage) = (shown.catalog.track, shown.stage);
    let data = data(shown);
    let count = motion.impacts.len();
    let impacts = match count {
        0 => String::new(),
        1 => ", 1 impact".to_string(),
        n => format!(", {n} impacts"),
    };
    let (first, last) = (track.time(track.knots[0]), track.time(track.knots[track.knots.len() - 1]));
    let ended = match &motion.stop {
        stop if stop.reason.is_complete() => String::new(),
        stop => format!("; stopped: {}", stop.reason.name().replace('_', " ")),
    };
    let summary = format!("t = {} … {}{impacts}{ended}", short(first), short(last));
    let drawn = format!("Animation of {}", motion.model);
    let plotted: Vec<String> = shown.panels.iter().flatten().map(|s| s.label.text()).collect();
    let turn = if stage.is_some_and(|s| s.dimension == 3) { " · drag to turn" } else { "" };
    let runs = match others {
        [] => String::new(),
        _ => format!(
            "Compared: as it is, {}",
            others.iter().map(|r| r.label.as_str()).collect::<Vec<_>>().join(", ")
        ),
    };
    let page = fill(|name| match name {
        "title" => escape(&motion.model),
        "summary" => escape(&summary),
        "alternative" => escape(&drawn),
        "plots" => escape(&format!("Plots over time of {}", plotted.join(", "))),
        "turn" => turn.to_string(),
        "class" => {
            if stage.is_some() {
                String::new()
            } else {
                " class=\"plots-only\"".to_string()
            }
        }
        "runs" => escape(&runs),
        "style" => STYLE.to_string(),
        "data" => data.clone(),
        _ => format!("\"use strict\";\n(() => {{\n{}}})();\n", SCRIPTS.concat()),
    });
    Stamp::of_motion(motion).html(&page)
}

/// What a page shows.
struct PageContent<'c, 'a> {
    catalog: &'c SignalCatalog<'a>,
    stage: Option<&'c Stage>,
    panels: Vec<Vec<&'c PlotSignal<'a>>>,
    planes: Vec<(&'c PlotSignal<'a>, &'c PlotSignal<'a>)>,
    jumps: usize,
    compared: Option<&'c Compared>,
    /// List every signal, whatever panels show.
    every: bool,
}

/// The template with each `{{name}}` replaced, in one pass: what is put in is not looked at again.
fn fill(value: impl Fn(&str) -> String) -> String {
    let mut page = String::new();
    for (i, part) in TEMPLATE.split("{{").enumerate() {
        match part.split_once("}}") {
            Some((name, rest)) if i > 0 => {
                page.push_str(&value(name));
                page.push_str(rest);
            }
            _ => page.push_str(part),
        }
    }
    page
}

fn short(t: f64) -> String {
    let text = format!("{t:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

fn data(shown: &PageContent<'_, '_>) -> String {
    let (catalog, stage, jumps) = (shown.catalog, shown.stage, shown.jumps);
    let track = catalog.track;
    let model = &track.mechanics.model;
    let listed = listed(shown);
    let times: Vec<f64> = track.knots.iter().map(|&k| track.time(k)).collect();
    let mut o = String::from("{");
    _ = write!(o, "\"time\":\"{}\",\"dimension\":{}", doubles(&times), stage.map_or(0, |s| s.dimension));
    let time = catalog.signals.iter().find(|s| s.kind == SignalKind::Time);
    let unit = time.and_then(|s| s.unit.as_deref()).map(unit_text).unwrap_or_default();
    _ = write!(o, ",\"time_unit\":{}", string(&unit));

    let kind = |angle: bool| if angle { "\"angle\"" } else { "null" };
    let column = |s: &&PlotSignal<'_>| {
        format!(
            "{{\"name\":{},\"label\":{},\"unit\":{},\"kind\":{},\"data\":\"{}\"}}",
            string(&s.name),
            label(&s.label),
            string(&s.unit.as_deref().map(unit_text).unwrap_or_default()),
            kind(catalog.is_angle(s)),
            doubles(&catalog.values(s, &track.knots))
        )
    };
    _ = write!(o, ",\"columns\":[{}]", list(listed.iter().map(column)));
    let place = |s: &PlotSignal<'_>| listed.iter().position(|l| l.name == s.name);
    curves(&mut o, shown, place);
    let plane = |(y, x): &(&PlotSignal<'_>, &PlotSignal<'_>)| {
        let equal = crate::plot::same_scale_fits(catalog, y, x);
        place(x).zip(place(y)).map(|(x, y)| format!("{{\"x\":{x},\"y\":{y},\"equal\":{equal}}}"))
    };
    _ = write!(o, ",\"planes\":[{}]", list(shown.planes.iter().filter_map(plane)));
    drawing(&mut o, stage);

    let jump = |(knot, j): (usize, &crate::track::Jump)| {
        let walls = list(j.walls.iter().filter_map(|&w| model.walls.get(w)).map(|w| string(&w.name)));
        let flashes = stage.map_or(&[][..], |s| &s.flashes);
        let flash = flashes.binary_search_by_key(&knot, |f| f.knot).ok().map(|i| &flashes[i]);
        let points = list(flash.iter().flat_map(|f| &f.points).map(usize::to_string));
        let place = |p: &Vec<f64>| format!("[{}]", list(p.iter().map(|x| number(*x))));
        let places = list(flash.iter().flat_map(|f| &f.places).map(place));
        format!(
            "{{\"knot\":{knot},\"number\":{},\"walls\":[{walls}],\"points\":[{points}],\"places\":[{places}],\"reset\":{}}}",
            j.number + 1,
            j.before.is_none()
        )
    };
    let after = track.knots.iter().enumerate().filter_map(|(i, k)| match *k {
        crate::track::Knot::After(j) => Some((i, &track.jumps[j])),
        _ => None,
    });
    _ = write!(o, ",\"jumps\":[{}],\"total\":{jumps}", list(after.map(jump)));
    let recorded = model.events.iter().any(|e| matches!(e.action, Action::Record));
    let note =
        if recorded { format!("{} recorded events", track.motion.events.len()) } else { String::new() };
    _ = write!(o, ",\"note\":{}", string(&note));

    let palette = |t: Theme| list((0..6).map(|n| format!("\"{}\"", t.curve(n).hex())));
    _ = write!(
        o,
        ",\"palette\":{{\"light\":[{}],\"dark\":[{}]}}",
        palette(Theme::Light),
        palette(Theme::Dark)
    );
    let (speed, speeds) = speeds(times[times.len() - 1] - times[0]);
    _ = write!(o, ",\"speed\":{},\"speeds\":[{}]}}", number(speed), list(speeds.iter().map(|s| number(*s))));
    o
}

/// The curves of the panels, of the motion itself and of those it is compared with.
fn curves(o: &mut String, shown: &PageContent<'_, '_>, place: impl Fn(&PlotSignal<'_>) -> Option<usize>) {
    let catalog = shown.catalog;
    let common = |signals: &[&PlotSignal<'_>]| {
        let first = signals[0].unit.as_deref();
        first.filter(|_| signals.iter().all(|s| s.unit == signals[0].unit)).map(unit_text).unwrap_or_default()
    };
    let (mut series, mut panels): (Vec<String>, Vec<String>) = (vec![], vec![]);
    let mut panel = |title: Option<&Label>, unit: &str, kind: &str, from: usize, to: usize| {
        let title = title.map_or_else(|| "null".to_string(), label);
        let curves = list((from..to).map(|i| i.to_string()));
        panels.push(format!(
            "{{\"title\":{title},\"unit\":{},\"kind\":{kind},\"curves\":[{curves}]}}",
            string(unit)
        ));
    };
    match shown.compared {
        None => {
            for signals in &shown.panels {
                let from = series.len();
                for s in signals {
                    series.extend(
                        place(s).map(|i| format!("{{\"column\":{i},\"label\":{}}}", label(&s.label))),
                    );
                }
                let angle = signals.iter().all(|s| catalog.is_angle(s));
                panel(None, &common(signals), if angle { "\"angle\"" } else { "null" }, from, series.len());
            }
        }
        Some(compared) => {
            for p in &compared.panels {
                let from = series.len();
                for c in &p.curves {
                    let (times, values): (Vec<f64>, Vec<f64>) = c.points.iter().copied().unzip();
                    series.push(format!(
                        "{{\"label\":{},\"colour\":{},\"time\":\"{}\",\"data\":\"{}\",\"after\":[{}]}}",
                        label(&Label::plain(&c.run)),
                        c.color,
                        doubles(&times),
                        doubles(&values),
                        list(c.after.iter().map(usize::to_string))
                    ));
                }
                let kind = if p.logarithmic {
                    "\"log\""
                } else if p.angle {
                    "\"angle\""
                } else {
                    "null"
                };
                panel(
                    Some(&p.title),
                    &p.unit.as_deref().map(unit_text).unwrap_or_default(),
                    kind,
                    from,
                    series.len(),
                );
            }
        }
    }
    _ = write!(o, ",\"series\":[{}],\"panels\":[{}]", series.join(","), panels.join(","));
    let runs =
        shown.compared.and_then(|c| c.panels.first()).map(|p| list(p.curves.iter().map(|c| string(&c.run))));
    _ = write!(o, ",\"compared\":{}", runs.map_or_else(|| "null".into(), |runs| format!("[{runs}]")));
}

/// What the animation draws; nothing where there is no stage.
fn drawing(o: &mut String, stage: Option<&Stage>) {
    let Some(stage) = stage else {
        o.push_str(",\"points\":[],\"links\":[],\"springs\":[],\"traces\":[],\"fills\":[],\"surfaces\":[],\"bounds\":[],\"walls\":[]");
        return;
    };
    let coded = |c: &Vec<f64>| format!("\"{}\"", floats(c.iter().copied()));
    let point = |p: &crate::view::PointTrack| {
        let role = match p.role {
            Role::Body(_) => "body",
            Role::Joint => "joint",
            Role::Pivot => "pivot",
            Role::Unseen => "unseen",
        };
        let colour = p.color.map_or_else(|| "null".into(), |c| c.to_string());
        let angle = p.angle.as_ref().map_or_else(|| "null".into(), coded);
        format!(
            "{{\"name\":{},\"role\":\"{role}\",\"radius\":{},\"colour\":{colour},\"data\":[{}],\"angle\":{angle}}}",
            string(&p.name),
            number(p.role.radius()),
            list(p.at.iter().map(coded))
        )
    };
    _ = write!(o, ",\"points\":[{}]", list(stage.points.iter().map(point)));
    let pairs = |p: &[(usize, usize)]| list(p.iter().map(|(a, b)| format!("[{a},{b}]")));
    _ = write!(o, ",\"links\":[{}],\"springs\":[{}]", pairs(&stage.links), pairs(&stage.springs));
    _ = write!(o, ",\"traces\":[{}]", list(stage.traces.iter().map(usize::to_string)));
    let fill = |f: &crate::view::Fill| {
        let form = match &f.form {
            FillShape::Round(r) => format!("\"form\":\"round\",\"radius\":{}", number(*r)),
            FillShape::Disc(r) => format!("\"form\":\"disc\",\"radius\":{}", number(*r)),
            FillShape::Box(sides) => {
                format!("\"form\":\"box\",\"sides\":[{}]", list(sides.iter().map(|s| number(*s))))
            }
            FillShape::Corners(points) => {
                format!("\"form\":\"corners\",\"points\":[{}]", list(points.iter().map(usize::to_string)))
            }
            FillShape::Polygon(corners) => {
                let corners = corners.iter().map(|c| format!("[{},{}]", number(c.0), number(c.1)));
                format!("\"form\":\"polygon\",\"corners\":[{}]", list(corners))
            }
        };
        let turned = list(f.turned.iter().map(coded));
        format!("{{\"point\":{},\"body\":{},{form},\"turned\":[{turned}]}}", f.point, f.is_body)
    };
    _ = write!(o, ",\"fills\":[{}]", list(stage.fills.iter().map(fill)));
    let surface = |c: &Vec<[f64; 3]>| format!("\"{}\"", floats(c.iter().flatten().copied()));
    _ = write!(o, ",\"surfaces\":[{}]", list(stage.surfaces.iter().map(surface)));
    let bounds = stage.bounds.iter().map(|b| format!("[{},{}]", number(b.0), number(b.1)));
    _ = write!(o, ",\"bounds\":[{}]", list(bounds));
    let wall = |w: &crate::view::WallTrack| {
        let curve = |c: &Vec<(f64, f64)>| format!("\"{}\"", floats(c.iter().flat_map(|p| [p.0, p.1])));
        let frames = w.frames.iter().map(|f| format!("[{}]", list(f.iter().map(curve))));
        format!(
            "{{\"name\":{},\"times\":\"{}\",\"behind\":{},\"frames\":[{}]}}",
            string(&w.name),
            doubles(&w.times),
            w.behind.map_or_else(|| "null".into(), number),
            list(frames)
        )
    };
    _ = write!(o, ",\"walls\":[{}]", list(stage.walls.iter().map(wall)));
}

/// Signals in the table of numbers: what a state is, its energies, and what panels and planes show.
fn listed<'c, 'a>(shown: &PageContent<'c, 'a>) -> Vec<&'c PlotSignal<'a>> {
    let catalog = shown.catalog;
    let gaps = catalog.signals.iter().filter(|s| s.kind == SignalKind::Gap).count();
    let wanted = |s: &&PlotSignal<'_>| match s.kind {
        SignalKind::Time => false,
        _ if shown.every => true,
        SignalKind::Position(_)
        | SignalKind::Velocity(_)
        | SignalKind::Energy
        | SignalKind::Hamiltonian
        | SignalKind::Output => true,
        SignalKind::Gap => gaps <= MOST_GAPS,
        _ => false,
    };
    let mut listed: Vec<&PlotSignal<'a>> = catalog.signals.iter().filter(wanted).collect();
    // T and V before their sum.
    listed.sort_by_key(|s| match (s.kind, s.name.as_str()) {
        (SignalKind::Position(_), _) => 0,
        (SignalKind::Velocity(_), _) => 1,
        (SignalKind::Energy, "kinetic") => 2,
        (SignalKind::Energy, "potential") => 3,
        (SignalKind::Energy, _) => 4,
        (SignalKind::Hamiltonian, _) => 5,
        _ => 6,
    });
    for s in shown.panels.iter().flatten().copied().chain(shown.planes.iter().flat_map(|p| [p.0, p.1])) {
        if listed.iter().all(|l| l.name != s.name) {
            listed.push(s);
        }
    }
    listed
}

/// A speed at which the film lasts neither a blink nor an hour, and a choice around it.
fn speeds(length: f64) -> (f64, Vec<f64>) {
    let mut base = 1.0;
    if length > 60.0 || (length < 3.0 && length > 0.0) {
        let wanted = length / 15.0;
        let power = 10f64.powi(wanted.log10().floor() as i32);
        base = power * [1.0, 2.0, 5.0].into_iter().rfind(|m| m * power <= wanted * 1.001).unwrap_or(1.0);
    }
    let round = |x: f64| format!("{x:.2e}").parse().unwrap_or(x);
    (round(base), [0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0].map(|f| round(f * base)).to_vec())
}

fn list(items: impl Iterator<Item = impl AsRef<str>>) -> String {
    let mut o = String::new();
    for (i, item) in items.enumerate() {
        if i > 0 {
            o.push(',');
        }
        o.push_str(item.as_ref());
    }
    o
}

fn label(label: &Label) -> String {
    let runs = label.0.iter().map(|r| format!("[{},{},{}]", string(&r.text), r.italic, r.shift));
    format!("[{}]", list(runs))
}

fn doubles(values: &[f64]) -> String {
    base64(values.iter().flat_map(|v| v.to_le_bytes()))
}

fn floats(values: impl Iterator<Item = f64>) -> String {
    base64(values.flat_map(|v| (v as f32).to_le_bytes()))
}

fn base64(bytes: impl Iterator<Item = u8>) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bytes: Vec<u8> = bytes.collect();
    let mut o = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |w, &b| w << 8 | u32::from(b)) << (8 * (3 - chunk.len()));
        for k in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * k)) as usize & 63] as char;
            o.push(if k <= chunk.len() { digit } else { '=' });
        }
    }
    o
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_has_its_published_examples() {
        for (plain, coded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(plain.bytes()), coded);
        }
    }

    #[test]
    fn a_film_lasts_neither_a_blink_nor_an_hour() {
        for length in [1e-6, 0.02, 1.0, 10.0, 59.0, 1e3, 1e6] {
            let (speed, all) = speeds(length);
            assert!((2.0..=70.0).contains(&(length / speed)), "{length} at {speed}");
            assert!(all.contains(&speed));
        }
    }
}
