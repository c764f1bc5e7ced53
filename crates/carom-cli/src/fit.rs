//! `carom fit`: parameters and start values from measured signals and impact times.

use crate::args::FitArgs;
use crate::failure::Failure;
use crate::interrupt;
use crate::load::{self, load};
use crate::orbit::refused;
use crate::output_format::OutputFormat;
use crate::simulate::prepare;
use crate::sweep::plan::Plan;
use crate::sweep::vary::VariedNames;
use crate::write;
use carom_insight::fit::{Data, Fit, Fitted};
use carom_mech::{Diagnostic, Draft, Mechanics, Model};
use carom_run::fields::{Field, FieldKind};
use carom_run::figures::figures;
use carom_run::{Observable, Options};
use carom_show::plot::{PlotStyle, Scatter, scatters_svg};
use carom_show::provenance::Stamp;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// The fields of `carom fit --json`.
#[rustfmt::skip]
pub static FIELDS: &[Field] = &[
    Field::new("parameters", FieldKind::NumberByName("fitted quantity"), "the values that meet the data best"),
    Field::new("standard_errors", FieldKind::NumberByName("fitted quantity"), "of each; null where the data does not determine it"),
    Field::new("intervals", FieldKind::NumbersByName("fitted quantity"), "low and high end of the 95 % interval, by Student's t; null where the data does not determine it"),
    Field::new("degrees_of_freedom", FieldKind::Count, "values of the data beyond the parameters that they determine"),
    Field::new("cost", FieldKind::Number, "½ Σ r²; residuals of several columns are divided by what is left of each"),
    Field::new("gradient", FieldKind::NumberByName("fitted quantity"), "of the cost"),
    Field::new("impacts_matched", FieldKind::Object, "per wall of the data, by its name"),
    Field::new("impacts_matched.WALL", FieldKind::Object, "impacts on one wall"),
    Field::new("impacts_matched.WALL.data", FieldKind::Count, "how many the data has"),
    Field::new("impacts_matched.WALL.motion", FieldKind::Count, "how many the motion has until the last time of the data"),
    Field::new("impacts_matched.WALL.matched", FieldKind::Count, "how many were compared"),
    Field::new("unidentified", FieldKind::Texts, "what the data does not determine: a quantity, or several that can change together, with the proportion"),
    Field::new("iterations", FieldKind::Count, "steps taken"),
    Field::new("warnings", FieldKind::Texts, "why the values found may not be the best"),
];

/// Runs the command.
///
/// # Errors
/// If model, options or data are wrong, or a file cannot be read or written.
pub fn fit(args: &FitArgs) -> Result<u8, Failure> {
    let format = match &args.output {
        Some(output) => {
            write::probe(output)?;
            Some(OutputFormat::among(&[OutputFormat::Svg, OutputFormat::Html], output)?)
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
    let (file, level, mut draft) = (loaded.file.clone(), loaded.level, loaded.draft.clone());
    let model = loaded.check(args.model.quiet)?;
    let model = on_its_own(&mut draft, model, &names);
    let base = Options::of(&model);
    let prepared = prepare(model.clone(), &file, level)?;
    let mechanics = &prepared.mechanics;
    // Names are judged by the fit, which knows what may be fitted.
    let none = |_: &[f64]| Err(String::new());
    Fit::new(mechanics, &prepared.program, &names, &data, &none).map_err(|r| refused(&r, &file))?;
    let plan = Plan::grid(&names.iter().map(|name| format!("{name}=0")).collect::<Vec<_>>())?;
    let variation = VariedNames::new(&model, draft, &plan)?;
    interrupt::listen();
    let request = interrupt::StopRequest::here();
    let options = |theta: &[f64]| match request.is_made() {
        true => Err("interrupted".to_owned()),
        false => variation.options(&base, theta),
    };
    let fit =
        Fit::new(mechanics, &prepared.program, &names, &data, &options).map_err(|r| refused(&r, &file))?;
    let start: Vec<f64> = names.iter().map(|name| value(&model, name)).collect();
    let found = fit.run(&start).map_err(|r| refused(&r, &file))?;
    if !args.model.quiet {
        let warnings: Vec<Diagnostic> = found.warnings.iter().map(Diagnostic::warning).collect();
        load::report(&warnings, &file, false);
    }
    if let (Some(output), Some(format)) = (&args.output, format) {
        draw(output, format, mechanics, &options, &data, &found)?;
    }
    if args.json {
        write::json(&format!("{:#}\n", as_json(&names, &found)))?;
    } else if !args.model.quiet {
        write::stdout(&summary(&names, &found))?;
    }
    Ok(0)
}

/// The model in which everything that is fitted is a number: a start or parameter that is a formula of another fitted quantity does
/// not follow it any more.
fn on_its_own(draft: &mut Draft, model: Model, names: &[String]) -> Model {
    let mut own = draft.clone();
    for name in names {
        let assignment = format!("{name}={:?}", value(&model, name));
        let problems = match model.parameters.iter().any(|p| p.name == *name) {
            true => own.set_parameter(&assignment),
            false => own.set_start(&assignment),
        };
        // Names that mean nothing are refused by the fit.
        if !problems.is_empty() {
            return model;
        }
    }
    match own.clone().check() {
        Ok((found, _)) => {
            *draft = own;
            found
        }
        Err(_) => model,
    }
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
///
/// # Errors
/// If it cannot be read, or is no such table.
pub fn read(file: &str) -> Result<Data, Failure> {
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
            let hint = match name.contains([';', '\t']) {
                true => "columns are separated by commas, and numbers have a point: 0.3,0.8",
                false => "add the times, or name a column of impact times impact.WALL",
            };
            return Err(Failure::wrong(format!(
                "{file}: column `{name}` is a signal, and there is no column `time`\n  hint: {hint}"
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
        if row.len() > names.len() {
            return Err(Failure::wrong(format!(
                "{file}:{}: {} cells, and {} columns have names\n  hint: name every column in the first line; numbers have a point, not a comma",
                number + 1,
                row.len(),
                names.len()
            )));
        }
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
    let finite = |x: f64| x.is_finite().then_some(x);
    let intervals: Map<String, Value> = names
        .iter()
        .zip(&found.intervals)
        .map(|(name, [low, high])| (name.clone(), json!([finite(*low), finite(*high)])))
        .collect();
    json!({
        "parameters": by_name(names, &found.parameters),
        "standard_errors": by_name(names, &found.standard_errors),
        "intervals": intervals,
        "degrees_of_freedom": found.degrees_of_freedom,
        "cost": found.cost,
        "gradient": by_name(names, &found.gradient),
        "impacts_matched": matched,
        "unidentified": found.unidentified,
        "iterations": found.iterations,
        "warnings": found.warnings,
    })
}

fn summary(names: &[String], found: &Fitted) -> String {
    let mut out = String::new();
    let width = names.iter().map(|n| n.chars().count()).max().unwrap_or(0);
    let errors = found.standard_errors.iter().zip(&found.intervals);
    for ((name, x), (error, [low, high])) in names.iter().zip(&found.parameters).zip(errors) {
        let error = if error.is_finite() {
            format!("± {}   95 %: {} … {}", figures(*error, 2), figures(*low, 6), figures(*high, 6))
        } else if found.degrees_of_freedom == 0 {
            "  no standard error: the data has no value to spare".to_owned()
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

/// Data against motion, a picture per column, one below the other.
fn draw(
    output: &str,
    format: OutputFormat,
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
    let mut pictures = Vec::new();
    let legend = || vec!["motion".to_owned(), "data".to_owned()];
    let known = Observable::all(mechanics);
    for (name, points) in &data.signals {
        let Some((_, observable)) = known.iter().find(|(known, _)| known == name) else { continue };
        let own = match *observable {
            Observable::Position(i) => &motion.position[i].values,
            Observable::Velocity(i) => &motion.velocity[i].values,
            Observable::Momentum(i) => &motion.momentum[i].values,
            Observable::Output(i) => &motion.output[i].values,
            Observable::Hamiltonian => &motion.hamiltonian,
            Observable::Energy => &motion.energy,
        };
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
    let Some(svg) = scatters_svg(&pictures, PlotStyle::default(), Some(&stamp)) else {
        return Err(Failure::wrong("there is nothing to draw\n  hint: the data has no signal and no impact"));
    };
    match format {
        OutputFormat::Svg => write::file(output, svg.as_bytes()),
        OutputFormat::Html => {
            let title = mechanics.model.name.replace('&', "&amp;").replace('<', "&lt;");
            let body = svg.split("?>").last().unwrap_or(&svg);
            let page = format!(
                "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>\n<body>\n{body}\n</body></html>\n"
            );
            write::file(output, page.as_bytes())
        }
        other => Err(other.unsupported(output)),
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
