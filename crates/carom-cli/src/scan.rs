//! `carom scan`: where many motions cross a section once they have settled: bifurcation diagrams, sections of many starts, basins
//! of attraction.

use crate::args::ScanArgs;
use crate::failure::Failure;
use crate::interrupt;
use crate::load::load;
use crate::output_format::OutputFormat;
use crate::simulate::prepare;
use crate::summary::{count, duration};
use crate::sweep::plan::{Plan, values_with_units};
use crate::sweep::vary::VariedNames;
use crate::terminal;
use crate::write;
use carom_insight::scan::{KeptCrossings, Scan, attractors, state_names};
use carom_insight::{Refusal, Return, Section};
use carom_run::fields::{Field, FieldKind};
use carom_run::{Options, Program};
use carom_show::plot::{PlotStyle, Scatter, scatter_png, scatter_svg};
use carom_show::provenance::Stamp;
use carom_show::table::{self, Table};
use cpu_time::ThreadTime;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Motions that one thread takes at a time: lanes are full, and threads end together.
const CHUNK: usize = 128;
/// Crossings left out and kept unless told otherwise; a basin needs few.
const SKIP: usize = 200;
const KEEP: usize = 100;
const KEEP_IN_BASIN: usize = 8;

/// The fields of `carom scan --json`.
#[rustfmt::skip]
pub static FIELDS: &[Field] = &[
    Field::new("motions", FieldKind::Count, "how many were simulated"),
    Field::new("crossings", FieldKind::Count, "how many states are in the table"),
    Field::new("attractors", FieldKind::Count, "how many were told apart").null("unless two quantities of the start are varied"),
    Field::new("failed", FieldKind::CountByName("reason"), "motions without crossings, and why"),
    Field::new("seconds", FieldKind::Number, "time for the simulations"),
];

/// What crossings can be written as.
const FORMATS: &[OutputFormat] = &[
    OutputFormat::Png,
    OutputFormat::Svg,
    OutputFormat::Csv,
    #[cfg(feature = "tables")]
    OutputFormat::Parquet,
];

pub fn refused(refusal: &Refusal) -> Failure {
    Failure::wrong(format!("{}\n  hint: {}", refusal.message, refusal.hint))
}

/// Runs the command.
///
/// # Errors
/// If the model or the options are wrong, or a file cannot be written.
pub fn scan(args: &ScanArgs) -> Result<u8, Failure> {
    let format = args.output.as_deref().map(|output| OutputFormat::among(FORMATS, output)).transpose()?;
    if let Some(output) = &args.output {
        write::probe(output)?;
    }
    if args.vary.is_empty() {
        return Err(Failure::wrong(
            "a scan varies something\n  hint: --vary F=0.2..1.0:400 for a diagram, --vary x=-1..1:20 for a section of many starts",
        ));
    }
    let plan = Plan::grid(&args.vary)?;
    let mut loaded = load(&args.model)?;
    loaded.simulate(&args.simulate);
    values_with_units(&args.vary).iter().for_each(|(name, value)| loaded.try_value(name, value));
    let (file, level, draft) = (loaded.file.clone(), loaded.level, loaded.draft.clone());
    let model = loaded.check(args.model.quiet)?;
    let variation = VariedNames::new(&model, draft, &plan)?;
    let base = Options::of(&model);
    let prepared = prepare(model, &file, level)?;
    let mechanics = &prepared.mechanics;
    let returns = match (&args.period, &args.section) {
        (Some(text), None) => Return::period(mechanics, text),
        (None, Some(name)) => Return::section(mechanics, name),
        _ => {
            return Err(Failure::wrong(
                "a scan needs a section\n  hint: --period \"2*pi/omega\" looks once a period, --section NAME at an event or just after an impact on a wall",
            ));
        }
    };
    let is_parameter = |name: &String| mechanics.model.parameters.iter().any(|p| p.name == *name);
    let basin = plan.names.len() == 2 && !plan.names.iter().any(is_parameter);
    let keep = args.keep.unwrap_or(if basin { KEEP_IN_BASIN } else { KEEP });
    if keep == 0 {
        return Err(Failure::wrong("--keep 0 keeps nothing\n  hint: --keep 100"));
    }
    let scan = returns
        .and_then(|returns| Scan::new(mechanics, returns, args.skip.unwrap_or(SKIP), keep))
        .map_err(|r| refused(&r))?;
    let names = state_names(mechanics);
    let shown = shown(args, &names, &scan, &plan, basin, &is_parameter)?;

    interrupt::listen();
    let begin = Instant::now();
    let inputs: Vec<Vec<f64>> = (0..plan.count)
        .map(|index| {
            let mut row = Vec::new();
            plan.row(index, &mut row);
            row
        })
        .collect();
    let options: Vec<Result<Options, String>> =
        inputs.iter().map(|row| variation.options(&base, row)).collect();
    let kept = simulate(&scan, &prepared.program, &options, args.threads);
    let seconds = begin.elapsed().as_secs_f64();

    let crossings: usize = kept.iter().flatten().map(Vec::len).sum();
    let mut failed: BTreeMap<String, u64> = BTreeMap::new();
    for error in kept.iter().filter_map(|k| k.as_ref().err()) {
        *failed.entry(kind(error)).or_default() += 1;
    }
    let found = basin.then(|| {
        let start = |o: &Options| o.start.position.iter().chain(&o.start.velocity).copied().collect();
        attractors(&kept, &options.iter().flatten().map(start).collect::<Vec<_>>())
    });
    if crossings == 0 {
        let first = kept.iter().find_map(|k| k.as_ref().err()).map_or("", String::as_str);
        return Err(Failure::wrong(format!(
            "no motion has a crossing to keep: {first}\n  hint: --until gives motions more time, --skip and --keep ask for fewer crossings"
        )));
    }
    let stamp =
        Stamp::of_many(&mechanics.model.provenance, &args.vary, prepared.program.level().arithmetic());
    if let (Some(output), Some(format)) = (&args.output, format) {
        let picture =
            || picture(&scan, &mechanics.model.name, &plan, &inputs, &kept, found.as_deref(), &shown);
        let none =
            || Failure::wrong("the picture could not be painted\n  hint: write a table, .csv or .parquet");
        let table = || tabulate(&plan, &names, &inputs, &kept, found.as_deref(), &stamp);
        match format {
            OutputFormat::Png => {
                let bytes = scatter_png(&picture(), PlotStyle::default(), Some(&stamp)).ok_or_else(none)?;
                write::file(output, &bytes)?;
            }
            OutputFormat::Svg => {
                let text = scatter_svg(&picture(), PlotStyle::default(), Some(&stamp)).ok_or_else(none)?;
                write::file(output, text.as_bytes())?;
            }
            OutputFormat::Csv => {
                let table = table();
                write::file(output, &table::csv(&table))?;
                write::beside_csv(output, &table)?;
            }
            #[cfg(feature = "tables")]
            OutputFormat::Parquet => {
                let bytes = table::parquet(&table()).map_err(|error| Failure::write(output, &error))?;
                write::file(output, &bytes)?;
            }
            other => return Err(other.unsupported(output)),
        }
    }
    let told = found.as_ref().map(|f| f.iter().flatten().max().map_or(0, |m| m + 1));
    if args.json {
        let summary = json!({
            "motions": kept.len(), "crossings": crossings, "attractors": told, "failed": failed, "seconds": seconds,
        });
        write::json(&format!("{summary:#}\n"))?;
    } else if !args.model.quiet {
        let mut line =
            format!("{} motions, {}, {}", kept.len(), count(crossings as u64, "crossing"), duration(seconds));
        if let Some(told) = told {
            line += &format!(", {}", count(told as u64, "attractor"));
        }
        for (why, n) in &failed {
            line += &format!("\n  {n} without: {why}");
        }
        terminal::say(&line);
    }
    Ok(if interrupt::interrupted() { 2 } else { 0 })
}

/// The kind of a reason, without its numbers.
fn kind(error: &str) -> String {
    let end = error.find(|c: char| c.is_ascii_digit()).unwrap_or(error.len());
    let head = error[..end].trim_end_matches([' ', '=', '-']).trim_end_matches(" t").trim_end_matches(" at");
    match error.rsplit_once(": ") {
        Some((_, reason)) if end < error.len() => format!("{head}: {reason}"),
        _ => head.to_owned(),
    }
}

fn simulate(
    scan: &Scan,
    program: &Program,
    options: &[Result<Options, String>],
    threads: Option<u32>,
) -> Vec<KeptCrossings> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.map_or(cores, |n| n as usize).clamp(1, 16 * cores);
    let right: Vec<usize> = (0..options.len()).filter(|&i| options[i].is_ok()).collect();
    let chunks: Vec<&[usize]> = right.chunks(CHUNK).collect();
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, KeptCrossings)>> = Mutex::default();
    let request = interrupt::StopRequest::here();
    let goes_on = || !request.is_made();
    let seconds = || ThreadTime::try_now().ok().map(|now| now.as_duration().as_secs_f64());
    std::thread::scope(|scope| {
        for _ in 0..threads.min(chunks.len()) {
            scope.spawn(|| {
                while let Some(chunk) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let list: Vec<Options> = chunk.iter().filter_map(|&i| options[i].clone().ok()).collect();
                    let kept = scan.run(program, &list, &goes_on, &seconds);
                    let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                    results.extend(chunk.iter().copied().zip(kept));
                }
            });
        }
    });
    let mut all: Vec<KeptCrossings> = options
        .iter()
        .map(|o| match o {
            Ok(_) => Err("interrupted".to_owned()),
            Err(why) => Err(why.clone()),
        })
        .collect();
    for (i, kept) in results.into_inner().unwrap_or_else(PoisonError::into_inner) {
        all[i] = kept;
    }
    all
}

/// What a picture shows of the state: one value over a parameter, two otherwise.
struct PictureValues {
    /// Places in the state.
    values: Vec<usize>,
    names: Vec<String>,
    /// Over the first varied parameter?
    over: bool,
}

fn shown(
    args: &ScanArgs,
    names: &[String],
    scan: &Scan,
    plan: &Plan,
    basin: bool,
    is_parameter: &dyn Fn(&String) -> bool,
) -> Result<PictureValues, Failure> {
    let over = plan.names.first().is_some_and(is_parameter);
    let half = names.len() / 2;
    let asked: Vec<String> = match &args.show {
        Some(text) => text.split(',').map(|s| s.trim().to_owned()).collect(),
        // Where a wall is hit says little: its coordinates are bound; the velocity after the impact tells.
        None if over && matches!(scan.returns, Return::Section(Section::Wall(_))) => {
            vec![names[names.len() - half].clone()]
        }
        None if over => vec![names[0].clone()],
        None => vec![names[0].clone(), names[half].clone()],
    };
    let wanted = if over { 1 } else { 2 };
    if asked.len() != wanted && !basin {
        let example = if over { "--show x" } else { "--show \"x,x'\"" };
        return Err(Failure::wrong(format!(
            "a picture of this scan shows {wanted} of the state, and --show names {}\n  hint: {example}",
            asked.len()
        )));
    }
    let mut values = Vec::new();
    for name in &asked {
        let Some(at) = names.iter().position(|n| n == name) else {
            let list: Vec<&str> = names.iter().map(String::as_str).collect();
            let hint = match crate::load::suggestion(name, &list) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}", list.join(", ")),
            };
            return Err(Failure::wrong(format!("the state has no `{name}` to show\n  hint: {hint}")));
        };
        values.push(at);
    }
    Ok(PictureValues { values, names: asked, over })
}

fn state(crossing: &carom_insight::scan::Crossing, at: usize) -> f64 {
    let n = crossing.position.len();
    if at < n { crossing.position[at] } else { crossing.velocity[at - n] }
}

fn picture(
    scan: &Scan,
    title: &str,
    plan: &Plan,
    inputs: &[Vec<f64>],
    kept: &[KeptCrossings],
    attractors: Option<&[Option<usize>]>,
    shown: &PictureValues,
) -> Scatter {
    let span = |column: usize| {
        let values = inputs.iter().map(|row| row[column]);
        values.fold(None, |r: Option<(f64, f64)>, x| Some(r.map_or((x, x), |(a, b)| (a.min(x), b.max(x)))))
    };
    if let Some(attractors) = attractors {
        let points =
            inputs.iter().zip(attractors).filter_map(|(row, a)| Some((row[0], row[1], (*a)?))).collect();
        let most = attractors.iter().flatten().max().map_or(0, |m| m + 1);
        let legend = (0..most).map(|k| legend(scan, kept, attractors, k)).collect();
        let count = |column: usize| {
            let mut values: Vec<u64> = inputs.iter().map(|row| row[column].to_bits()).collect();
            values.sort_unstable();
            values.dedup();
            values.len()
        };
        let cell =
            |column: usize| span(column).map_or(0.0, |(a, b)| (b - a) / (count(column).max(2) - 1) as f64);
        let cell = (cell(0), cell(1));
        let wide = |r: Option<(f64, f64)>, c: f64| r.map(|(a, b)| (a - 0.5 * c, b + 0.5 * c));
        return Scatter {
            title: title.to_owned(),
            x: (plan.names[0].clone(), wide(span(0), cell.0)),
            y: (plan.names[1].clone(), wide(span(1), cell.1)),
            points,
            cell: Some(cell),
            legend,
        };
    }
    let mut points = Vec::new();
    for (row, kept) in inputs.iter().zip(kept) {
        for crossing in kept.iter().flatten() {
            let y = state(crossing, shown.values[shown.values.len() - 1]);
            let x = if shown.over { row[0] } else { state(crossing, shown.values[0]) };
            points.push((x, y, 0));
        }
    }
    let (x, range) =
        if shown.over { (plan.names[0].clone(), span(0)) } else { (shown.names[0].clone(), None) };
    let y = shown.names[shown.names.len() - 1].clone();
    Scatter { title: title.to_owned(), x: (x, range), y: (y, None), points, cell: None, legend: Vec::new() }
}

/// What an attractor is: one of its states.
fn legend(scan: &Scan, kept: &[KeptCrossings], attractors: &[Option<usize>], k: usize) -> String {
    let motion = attractors.iter().position(|a| *a == Some(k)).and_then(|i| kept[i].as_ref().ok());
    let at = motion.and_then(|m| m.last()).map_or_else(String::new, |c| {
        let values: Vec<String> =
            c.position.iter().chain(&c.velocity).map(|x| carom_run::figures::figures(*x, 4)).collect();
        format!(" through ({})", values.join(", "))
    });
    let where_ = match scan.returns {
        Return::Period { .. } => "once a period",
        Return::Section(_) => "on the section",
    };
    format!("attractor {}{at}, {where_}", k + 1)
}

fn tabulate(
    plan: &Plan,
    names: &[String],
    inputs: &[Vec<f64>],
    kept: &[KeptCrossings],
    attractors: Option<&[Option<usize>]>,
    stamp: &Stamp,
) -> Table {
    let mut table = Table { columns: Vec::new(), stamp: Some(stamp.clone()) };
    let rows = || kept.iter().enumerate().flat_map(|(i, k)| k.iter().flatten().map(move |c| (i, c)));
    for (column, name) in plan.names.iter().enumerate() {
        // A varied coordinate is the start, the state on the section has the name itself.
        let name = if names.contains(name) { format!("start.{name}") } else { name.clone() };
        table.numbers("", &name, rows().map(|(i, _)| inputs[i][column]).collect());
    }
    for (at, name) in names.iter().enumerate() {
        table.numbers("", name, rows().map(|(_, c)| state(c, at)).collect());
    }
    if let Some(attractors) = attractors {
        table.integers(
            "",
            "attractor",
            rows().map(|(i, _)| attractors[i].map_or(0, |a| a as i64 + 1)).collect(),
        );
    }
    table
}
