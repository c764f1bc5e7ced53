//! `carom fit`: parameters and start values from measured signals and impact times.

use crate::args::Fit as Arguments;
use crate::failure::Failure;
use crate::load::load;
use crate::output_format;
use crate::scan::refused;
use crate::simulate::prepare;
use crate::sweep::plan::Plan;
use crate::sweep::vary::Variation;
use crate::write;
use carom_insight::fit::{Data, Fit, Fitted};
use carom_mech::{Mechanics, Model};
use carom_run::Options;
use carom_run::fields::{Field, Kind};
use carom_run::figures::figures;
use carom_show::plot::{Scatter, Style, scatter_svg};
use carom_show::provenance::Stamp;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// The fields of `carom fit --json`.
#[rustfmt::skip]
pub static FIELDS: &[Field] = &[
    Field::new("parameters", Kind::NumberByName("fitted quantity"), "the values that meet the data best"),
    Field::new("standard_errors", Kind::NumberByName("fitted quantity"), "of each; null where the data does not determine it"),
    Field::new("cost", Kind::Number, "½ Σ r²; residuals of several columns are divided by what is left of each"),
    Field::new("gradient", Kind::NumberByName("fitted quantity"), "of the cost"),
    Field::new("impacts_matched", Kind::Object, "per wall of the data: impacts in the data, in the motion, compared"),
    Field::new("unidentified", Kind::Texts, "combinations that the data does not determine"),
    Field::new("iterations", Kind::Count, "steps taken"),
];

#[derive(Clone, Copy)]
enum Form {
    Svg,
    Html,
}

/// Runs the command.
///
/// # Errors
/// If model, options or data are wrong, or a file cannot be read or written.
pub fn fit(args: &Arguments) -> Result<u8, Failure> {
    let form = match &args.output {
        Some(output) => {
            write::probe(output)?;
            Some(output_format::form(output, &[("svg", Form::Svg), ("html", Form::Html)])?)
        }
        None => None,
    };
    let data = read(&args.data)?;
    let names: Vec<String> = args
        .vary
        .iter()
        .flat_map(|text| text.split(','))
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .collect();
    if let Some(given) = names.iter().find(|n| n.contains('=')) {
        let name = given.split('=').next().unwrap_or_default();
        return Err(Failure::wrong(format!(
            "--vary of a fit names what is free, without values: `{given}`\n  hint: --vary {name}; --set {given} says where to begin"
        )));
    }
    let mut loaded = load(&args.model)?;
    loaded.simulate(&args.simulate);
    let (file, level, draft) = (loaded.file.clone(), loaded.level, loaded.draft.clone());
    let model = loaded.check(args.model.quiet)?;
    let base = Options::of(&model);
    let prepared = prepare(model.clone(), &file, level)?;
    let mechanics = &prepared.mechanics;
    // Names are judged by the fit, which knows what may be fitted.
    let none = |_: &[f64]| Err(String::new());
    Fit::new(mechanics, &prepared.program, &names, &data, &none).map_err(|r| refused(&r))?;
    let plan = Plan::grid(&names.iter().map(|name| format!("{name}=0")).collect::<Vec<_>>())?;
    let variation = Variation::new(&model, draft, &plan)?;
    let options = |theta: &[f64]| variation.options(&base, theta);
    let fit = Fit::new(mechanics, &prepared.program, &names, &data, &options).map_err(|r| refused(&r))?;
    let start: Vec<f64> = names.iter().map(|name| value(&model, name)).collect();
    let found = fit.run(&start).map_err(|r| refused(&r))?;
    if let (Some(output), Some(form)) = (&args.output, form) {
        draw(output, form, mechanics, &options, &data, &found)?;
    }
    if args.json {
        write::json(&format!("{:#}\n", as_json(&names, &found)))?;
    } else if !args.model.quiet {
        write::stdout(&summary(&names, &found))?;
    }
    Ok(0)
}

/// Where a fit begins: the value in the model.
fn value(model: &Model, name: &str) -> f64 {
    if let Some(p) = model.parameters.iter().find(|p| p.name == name) {
        return p.value;
    }
    let start = &model.start;
    let of = |i: usize, c: &carom_mech::Coordinate| {
        if c.name == name {
            start.position[i]
        } else if name.strip_suffix('\'') == Some(&c.name) {
            start.velocity[i]
        } else {
            (name == c.momentum_name || name == format!("p_{}", c.name))
                .then_some(start.momentum[i])
                .flatten()
        }
    };
    model.coordinates.iter().enumerate().find_map(|(i, c)| of(i, c)).unwrap_or(0.0)
}

/// Reads a csv file: `time` with signals, `impact.WALL` with times.
fn read(file: &str) -> Result<Data, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| Failure::read(file, &error))?;
    let mut lines =
        text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let cells = |line: &str| -> Vec<String> {
        line.trim_start_matches('\u{feff}')
            .split(',')
            .map(|c| c.trim().trim_matches('"').to_owned())
            .collect()
    };
    let Some((_, head)) = lines.next() else {
        return Err(Failure::wrong(format!(
            "{file} is empty\n  hint: its first line names the columns: time,y or impact.floor"
        )));
    };
    let names = cells(head);
    if names.iter().all(|n| n.parse::<f64>().is_ok()) {
        return Err(Failure::wrong(format!(
            "{file}: the first line holds numbers, not names\n  hint: name the columns there: time,y or impact.floor"
        )));
    }
    if let Some(twice) = names.iter().enumerate().find(|(i, n)| names[..*i].contains(n)).map(|(_, n)| n) {
        return Err(Failure::wrong(format!(
            "{file}: column `{twice}` comes twice\n  hint: leave one of them out"
        )));
    }
    let time = names.iter().position(|n| n == "time" || n == "t");
    let mut data = Data::default();
    let mut places: Vec<(usize, bool, usize)> = Vec::new();
    for (i, name) in names.iter().enumerate().filter(|(i, n)| Some(*i) != time && !n.is_empty()) {
        if let Some(wall) = name.strip_prefix("impact.") {
            places.push((i, true, data.impacts.len()));
            data.impacts.push((wall.to_owned(), Vec::new()));
        } else if time.is_some() {
            places.push((i, false, data.signals.len()));
            data.signals.push((name.clone(), Vec::new()));
        } else {
            return Err(Failure::wrong(format!(
                "{file}: column `{name}` is a signal, and there is no column `time`\n  hint: add the times, or name a column of impact times impact.WALL"
            )));
        }
    }
    if places.is_empty() {
        return Err(Failure::wrong(format!(
            "{file} has no column to fit to\n  hint: add a signal such as y beside time, or impact.WALL"
        )));
    }
    for (number, line) in lines {
        let row = cells(line);
        let at = |i: usize| -> Result<Option<f64>, Failure> {
            let Some(text) = row.get(i).filter(|t| !t.is_empty()) else { return Ok(None) };
            text.parse::<f64>().ok().filter(|x| x.is_finite()).map(Some).ok_or_else(|| {
                Failure::wrong(format!(
                    "{file}:{}: `{text}` in column `{}` is not a number\n  hint: leave the cell empty if nothing was measured",
                    number + 1,
                    names[i]
                ))
            })
        };
        let t = time.map(at).transpose()?.flatten();
        for &(i, impact, slot) in &places {
            let Some(x) = at(i)? else { continue };
            if impact {
                data.impacts[slot].1.push(x);
            } else if let Some(t) = t {
                data.signals[slot].1.push((t, x));
            } else {
                return Err(Failure::wrong(format!(
                    "{file}:{}: a value without its time\n  hint: give every row a time",
                    number + 1
                )));
            }
        }
    }
    for (wall, times) in &data.impacts {
        if times.windows(2).any(|w| w[1] < w[0]) {
            return Err(Failure::wrong(format!(
                "{file}: the times of impact.{wall} are not in order\n  hint: sort them; the k-th belongs to the k-th impact"
            )));
        }
    }
    data.signals.retain(|s| !s.1.is_empty());
    data.impacts.retain(|i| !i.1.is_empty());
    Ok(data)
}

fn by_name(names: &[String], values: &[f64]) -> Value {
    let entries = names
        .iter()
        .zip(values)
        .map(|(n, x)| (n.clone(), json!(if x.is_finite() { Some(*x) } else { None })));
    Value::Object(entries.collect::<Map<String, Value>>())
}

fn as_json(names: &[String], found: &Fitted) -> Value {
    let matched: Map<String, Value> = found
        .impacts
        .iter()
        .map(|i| (i.wall.clone(), json!({ "data": i.data, "motion": i.motion, "matched": i.matched })))
        .collect();
    json!({
        "parameters": by_name(names, &found.parameters),
        "standard_errors": by_name(names, &found.standard_errors),
        "cost": found.cost,
        "gradient": by_name(names, &found.gradient),
        "impacts_matched": matched,
        "unidentified": found.unidentified,
        "iterations": found.iterations,
    })
}

fn summary(names: &[String], found: &Fitted) -> String {
    let mut out = String::new();
    let width = names.iter().map(|n| n.chars().count()).max().unwrap_or(0);
    for ((name, x), error) in names.iter().zip(&found.parameters).zip(&found.standard_errors) {
        let error = if error.is_finite() {
            format!("± {}", figures(*error, 2))
        } else {
            "not determined".to_owned()
        };
        let _ = writeln!(out, "  {name:width$}  {}  {error}", figures(*x, 12));
    }
    let _ = writeln!(out, "  cost {} after {} steps", figures(found.cost, 6), found.iterations);
    for i in &found.impacts {
        let _ = writeln!(
            out,
            "  wall {}: {} impacts in the data, {} in the motion, {} compared",
            i.wall, i.data, i.motion, i.matched
        );
        if i.matched < i.data {
            let _ = writeln!(
                out,
                "    the motion that fits best hits {} fewer times: is the wall right, and are all impacts of the data real?",
                i.data - i.matched
            );
        }
    }
    for combination in &found.unidentified {
        let _ = writeln!(out, "  the data does not determine {combination}");
    }
    out
}

/// Data against motion, a picture per column.
fn draw(
    output: &str,
    form: Form,
    mechanics: &Mechanics,
    options: &dyn Fn(&[f64]) -> Result<Options, String>,
    data: &Data,
    found: &Fitted,
) -> Result<(), Failure> {
    let mut options = options(&found.parameters).map_err(Failure::wrong)?;
    let last = data
        .signals
        .iter()
        .flat_map(|s| s.1.iter().map(|p| p.0))
        .chain(data.impacts.iter().flat_map(|i| i.1.iter().copied()));
    options.until = last.fold(options.start.time, f64::max);
    options.sampling = carom_run::Sampling::Even(2001);
    let wrong = |e: &dyn std::fmt::Display| Failure::wrong(e.to_string());
    let program = carom_run::Program::compile(mechanics).map_err(|e| wrong(&e))?;
    let motion = carom_run::simulate(&program, &options).map_err(|e| wrong(&e))?;
    let stamp = Stamp::of_motion(&motion);
    let signals = [&motion.position, &motion.velocity, &motion.momentum, &motion.output];
    let mut pictures = Vec::new();
    let legend = || vec!["motion".to_owned(), "data".to_owned()];
    for (name, points) in &data.signals {
        let own = match name.as_str() {
            "energy" => Some(&motion.energy),
            "hamiltonian" => Some(&motion.hamiltonian),
            _ => {
                let stem = name.strip_suffix('\'');
                let place = match stem {
                    Some(stem) => signals[1].iter().find(|s| s.name == stem),
                    None => signals[0].iter().chain(signals[3]).find(|s| s.name == *name).or_else(|| {
                        let stem = name.strip_prefix("p_").unwrap_or(name);
                        signals[2].iter().find(|s| s.name == stem || s.name == *name)
                    }),
                };
                place.map(|s| &s.values)
            }
        };
        let Some(own) = own else { continue };
        let mut all: Vec<(f64, f64, usize)> = motion.time.iter().zip(own).map(|(t, x)| (*t, *x, 0)).collect();
        all.extend(points.iter().map(|(t, x)| (*t, *x, 1)));
        pictures.push(picture(mechanics, "time", name, all, legend()));
    }
    for (wall, times) in &data.impacts {
        let index = mechanics.model.walls.iter().position(|w| w.name == *wall);
        let own = motion.impacts.iter().filter(|i| index.is_some_and(|w| i.walls.contains(&w)));
        let mut all: Vec<(f64, f64, usize)> = own.zip(1..).map(|(i, k)| (i.time, f64::from(k), 0)).collect();
        all.extend(times.iter().zip(1..).map(|(t, k)| (*t, f64::from(k), 1)));
        pictures.push(picture(mechanics, "time", &format!("impact on {wall}"), all, legend()));
    }
    let svgs: Vec<String> =
        pictures.iter().filter_map(|p| scatter_svg(p, Style::default(), Some(&stamp))).collect();
    let Some(first) = svgs.first() else {
        return Err(Failure::wrong("there is nothing to draw\n  hint: the data has no signal and no impact"));
    };
    match form {
        Form::Svg => write::file(output, first.as_bytes()),
        Form::Html => {
            let title = mechanics.model.name.replace('&', "&amp;").replace('<', "&lt;");
            let body: String = svgs.iter().map(|s| s.split("?>").last().unwrap_or(s)).collect();
            let page = format!(
                "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>\n<body>\n{body}\n</body></html>\n"
            );
            write::file(output, page.as_bytes())
        }
    }
}

fn picture(
    mechanics: &Mechanics,
    x: &str,
    y: &str,
    points: Vec<(f64, f64, usize)>,
    legend: Vec<String>,
) -> Scatter {
    Scatter {
        title: mechanics.model.name.clone(),
        x: (x.to_owned(), None),
        y: (y.to_owned(), None),
        points,
        cell: None,
        legend,
    }
}
