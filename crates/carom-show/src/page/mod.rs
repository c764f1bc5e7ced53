//! The animation page: one HTML file with everything in it.
//!
//! The page holds the motion's knots (samples, and both sides of every jump) as the doubles of the motion, bit for bit, and
//! where every drawn point is as floats. Its script plays them; `window.carom` and the `data-value` attributes of the table
//! give the exact numbers to anyone who asks.

use crate::draw::{Label, Theme, escape, unit_text};
use crate::plot::request::Panel;
use crate::plot::{Catalog, Kind, Signal, read_requests};
use crate::table::{number, string};
use crate::track::Track;
use crate::view::{Role, Stage, scene};
use carom_mech::{Action, Diagnostic, Mechanics, Severity};
use carom_run::Motion;
use std::fmt::Write;

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Most panels beside the animation.
const MOST_PANELS: usize = 4;
/// Most jumps in a page; of more, later ones are left out (and still counted).
const MOST_JUMPS: usize = 20_000;
/// Walls whose gaps are still listed one by one.
const MOST_GAPS: usize = 6;

/// How many samples a smooth animation of a motion needs that took this many steps.
pub fn samples_for(steps: u64) -> usize {
    steps.saturating_mul(6).clamp(1_200, 100_000) as usize + 1
}

/// The motion as a page. `requests` choose the panels beside the animation as for plots; none gives a sensible choice.
/// Fails with advice when the model does not say where things are.
pub fn html(mechanics: &Mechanics, motion: &Motion, requests: &[String]) -> Result<String, Vec<Diagnostic>> {
    let mut mechanics = mechanics.clone();
    let scene = scene(&mut mechanics)?;
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
    let catalog = Catalog::new(&track);
    let over_time = |requests: &[String]| -> Result<Vec<Vec<&Signal<'_>>>, Vec<Diagnostic>> {
        let time = |p| if let Panel::Time(signals) = p { Some(signals) } else { None };
        Ok(read_requests(&catalog, requests)?.into_iter().filter_map(time).take(MOST_PANELS).collect())
    };
    let mut panels = over_time(requests)?;
    if panels.is_empty() {
        panels = over_time(&[])?; // only planes were asked for
    }
    let stage = Stage::new(&track, &scene);
    let data = data(&catalog, &stage, &panels, jumps);

    let count = motion.impacts.len();
    let impacts = match count {
        0 => String::new(),
        1 => ", 1 impact".to_string(),
        n => format!(", {n} impacts"),
    };
    let (first, last) = (stage.times[0], stage.times[stage.len() - 1]);
    let ended = match &motion.stop {
        stop if stop.reason.is_complete() => String::new(),
        stop => format!("; stopped: {}", stop.reason.name().replace('_', " ")),
    };
    let summary = format!("t = {} … {}{impacts}{ended}", short(first), short(last));
    let drawn = format!("Animation of {}", motion.model);
    let plotted: Vec<String> = panels.iter().flatten().map(|s| s.label.text()).collect();
    let turn = if stage.dimension == 3 { " · drag to turn" } else { "" };
    Ok(fill(|name| match name {
        "title" => escape(&motion.model),
        "summary" => escape(&summary),
        "alternative" => escape(&drawn),
        "plots" => escape(&format!("Plots over time of {}", plotted.join(", "))),
        "turn" => turn.to_string(),
        "style" => STYLE.to_string(),
        "data" => data.clone(),
        _ => SCRIPT.to_string(),
    }))
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

fn data(catalog: &Catalog<'_>, stage: &Stage, panels: &[Vec<&Signal<'_>>], jumps: usize) -> String {
    let track = catalog.track;
    let model = &track.mechanics.model;
    let listed = listed(catalog, panels);
    let mut o = String::from("{");
    _ = write!(o, "\"time\":\"{}\",\"dimension\":{}", doubles(&stage.times), stage.dimension);
    let time = catalog.signals.iter().find(|s| s.kind == Kind::Time);
    let unit = time.and_then(|s| s.unit.as_deref()).map(unit_text).unwrap_or_default();
    _ = write!(o, ",\"time_unit\":{}", string(&unit));

    let column = |s: &&Signal<'_>| {
        format!(
            "{{\"name\":{},\"label\":{},\"unit\":{},\"data\":\"{}\"}}",
            string(&s.name),
            label(&s.label),
            string(&s.unit.as_deref().map(unit_text).unwrap_or_default()),
            doubles(&catalog.values(s, &track.knots))
        )
    };
    _ = write!(o, ",\"columns\":[{}]", list(listed.iter().map(column)));
    let panel = |signals: &Vec<&Signal<'_>>| {
        let curves = signals.iter().filter_map(|s| listed.iter().position(|l| l.name == s.name));
        let unit = signals[0].unit.as_deref().filter(|_| signals.iter().all(|s| s.unit == signals[0].unit));
        let unit = unit.map(unit_text).unwrap_or_default();
        format!("{{\"curves\":[{}],\"unit\":{}}}", list(curves.map(|i| i.to_string())), string(&unit))
    };
    _ = write!(o, ",\"panels\":[{}]", list(panels.iter().map(panel)));

    let mut bodies = 0;
    let points: Vec<String> = stage
        .points
        .iter()
        .map(|p| {
            let role = match p.role {
                Role::Body(_) => "body",
                Role::Joint => "joint",
                Role::Pivot => "pivot",
            };
            let colour = bodies;
            bodies += usize::from(role == "body");
            let data = list(p.at.iter().map(|c| format!("\"{}\"", floats(c.iter().copied()))));
            let angle = p.angle.as_ref().map_or_else(|| "null".into(), |a| format!("\"{}\"", floats(a.iter().copied())));
            format!(
                "{{\"name\":{},\"role\":\"{role}\",\"radius\":{},\"colour\":{colour},\"data\":[{data}],\"angle\":{angle}}}",
                string(&p.name),
                number(p.role.radius())
            )
        })
        .collect();
    _ = write!(o, ",\"points\":[{}]", points.join(","));
    let pairs = |p: &[(usize, usize)]| list(p.iter().map(|(a, b)| format!("[{a},{b}]")));
    _ = write!(o, ",\"links\":[{}],\"springs\":[{}]", pairs(&stage.links), pairs(&stage.springs));
    _ = write!(o, ",\"traces\":[{}]", list(stage.traces.iter().map(usize::to_string)));
    let bounds = stage.bounds.iter().map(|b| format!("[{},{}]", number(b.0), number(b.1)));
    _ = write!(o, ",\"bounds\":[{}]", list(bounds));
    let wall = |w: &crate::view::WallTrack| {
        let curve = |c: &Vec<(f64, f64)>| format!("\"{}\"", floats(c.iter().flat_map(|p| [p.0, p.1])));
        let frames = w.frames.iter().map(|f| format!("[{}]", list(f.iter().map(curve))));
        format!(
            "{{\"name\":{},\"times\":\"{}\",\"frames\":[{}]}}",
            string(&w.name),
            doubles(&w.times),
            list(frames)
        )
    };
    _ = write!(o, ",\"walls\":[{}]", list(stage.walls.iter().map(wall)));

    let jump = |(knot, j): (usize, &crate::track::Jump)| {
        let walls = list(j.walls.iter().filter_map(|&w| model.walls.get(w)).map(|w| string(&w.name)));
        let flash = stage.flashes.binary_search_by_key(&knot, |f| f.knot).ok().map(|i| &stage.flashes[i]);
        let points = flash.map(|f| f.points.clone()).unwrap_or_default();
        let points = list(points.iter().map(usize::to_string));
        format!(
            "{{\"knot\":{knot},\"number\":{},\"walls\":[{walls}],\"points\":[{points}],\"reset\":{}}}",
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
    let (speed, speeds) = speeds(stage.times[stage.len() - 1] - stage.times[0]);
    _ = write!(o, ",\"speed\":{},\"speeds\":[{}]}}", number(speed), list(speeds.iter().map(|s| number(*s))));
    o
}

/// Signals in the table of numbers: what a state is, its energies, and what the panels show.
fn listed<'c, 'a>(catalog: &'c Catalog<'a>, panels: &[Vec<&'c Signal<'a>>]) -> Vec<&'c Signal<'a>> {
    let gaps = catalog.signals.iter().filter(|s| s.kind == Kind::Gap).count();
    let wanted = |s: &&Signal<'_>| match s.kind {
        Kind::Position(_) | Kind::Velocity(_) | Kind::Energy | Kind::Hamiltonian | Kind::Output => true,
        Kind::Gap => gaps <= MOST_GAPS,
        _ => false,
    };
    let mut listed: Vec<&Signal<'a>> = catalog.signals.iter().filter(wanted).collect();
    // T and V before their sum.
    listed.sort_by_key(|s| match (s.kind, s.name.as_str()) {
        (Kind::Position(_), _) => 0,
        (Kind::Velocity(_), _) => 1,
        (Kind::Energy, "kinetic") => 2,
        (Kind::Energy, "potential") => 3,
        (Kind::Energy, _) => 4,
        (Kind::Hamiltonian, _) => 5,
        _ => 6,
    });
    for s in panels.iter().flatten() {
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
