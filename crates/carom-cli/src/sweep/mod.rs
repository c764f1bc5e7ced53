//! `carom sweep`: many trajectories of one model, one row each, in input order.
//!
//! Promise: rows do not depend on the number of threads or on interruptions; a trajectory that fails is a row that says
//! why; memory does not grow with the number of rows.

mod batch;
mod choice;
pub mod ensemble;
mod input;
mod journal;
mod pages;
pub mod plan;
mod record;
mod schedule;
#[cfg(feature = "tables")]
pub mod store;
mod table;
pub mod vary;

use crate::args::SweepArgs;
use crate::failure::Failure;
use crate::interrupt;
use crate::limits;
use crate::load::{self, load};
use crate::output_format::OutputFormat;
use crate::simulate::{Prepared, prepare};
use crate::summary::{count, duration};
use crate::terminal;
use crate::write;
use batch::{Extra, RowFeed};
use carom_mech::Diagnostic;
use carom_run::fields::{ARITHMETICS, Field, FieldKind};
use carom_run::{Batch, Options};
use carom_show::provenance::Stamp;
use choice::Choice;
use cpu_time::ProcessTime;
use ensemble::Sweep;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use journal::Journal;
use plan::Plan;
use record::Record;
use serde_json::json;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use table::What;
use vary::VariedNames;

/// Random sweeps without `--count`.
const DEFAULT_COUNT: u64 = 100;

/// The fields of `carom sweep --json`.
#[rustfmt::skip]
pub static FIELDS: &[Field] = &[
    Field::new("trajectories", FieldKind::Count, "how many there are in the table"),
    Field::new("stops", FieldKind::CountByName("reason to stop, or \"invalid\""), "how many ended how"),
    Field::new("threads", FieldKind::Count, "threads that simulated"),
    Field::new("seconds", FieldKind::Number, "time for the simulations"),
    Field::new("cpu_seconds", FieldKind::Number, "the same, summed over threads"),
    Field::new("provenance", FieldKind::Object, "what must be in hand to compute it again"),
    Field::new("provenance.carom", FieldKind::Text, "version of carom"),
    Field::new("provenance.model_sha256", FieldKind::Text, "SHA-256 of the model text, as sha256sum prints it"),
    Field::new("provenance.table_sha256", FieldKind::TextByName("table"), "SHA-256 of the tables that the model reads"),
    Field::new("provenance.options", FieldKind::Texts, "options that change the model, its start or its run, and those that say which trajectories there are, as typed"),
    Field::new("provenance.arithmetic", FieldKind::Word(&ARITHMETICS), "are multiply and add rounded once or twice? Results are the same bits within each"),
];

/// Runs the command.
///
/// # Errors
/// If the model or the options are wrong, or a file cannot be read or written.
pub fn sweep(args: &SweepArgs) -> Result<u8, Failure> {
    let folder = args.output.as_deref().filter(|output| is_folder(output));
    let format = |output| OutputFormat::among(table::FORMATS, output);
    let format = args.output.as_deref().filter(|_| folder.is_none()).map(format).transpose()?;
    if let (Some(folder), true) = (folder, args.impacts) {
        return Err(Failure::wrong(format!(
            "--impacts writes a second table beside a file, and {folder} is a folder\n  hint: -o NAME.parquet, for array jobs with --shard I/N"
        )));
    }
    let plan = plan(args)?;
    let shard = args.shard.as_deref().map(Shard::of).transpose()?;
    let mut loaded = load(&args.model)?;
    loaded.simulate(&args.simulate);
    let given = plan::values_with_units(&[&args.vary[..], &args.random[..]].concat());
    given.iter().for_each(|(name, value)| loaded.try_value(name, value));
    let (file, level) = (loaded.file.clone(), loaded.level);
    let texts: Vec<String> = loaded.draft.sources.iter().map(|s| s.text.clone()).collect();
    let draft = loaded.draft.clone();
    // A start that only the plan makes right is no mistake.
    let model = match loaded.draft.check() {
        Err(_) if loaded.problems.is_empty() => vary::first_right(&loaded.draft, &plan),
        _ => None,
    };
    let model = match model {
        Some(model) => model,
        None => loaded.check(args.model.quiet)?,
    };
    let variation =
        VariedNames::new(&model, draft, &plan).map_err(|failure| match (&args.table, failure) {
            (Some(table), Failure::Wrong(message)) => Failure::Wrong(format!("{table}: {message}")),
            (_, failure) => failure,
        })?;
    let mut choice = Choice::new(&model, args.columns.as_deref(), args.events.as_deref())?;
    // Without a file there is no second table.
    let tables = args.output.is_some() && folder.is_none();
    (choice.impacts, choice.firings) = (args.impacts && tables, args.events.is_some() && tables);
    let mut chosen = chosen(args)?;
    // Which rows a shard makes is no part of the question where a folder divides them.
    if let (Some(shard), None) = (&shard, folder) {
        chosen.push(format!("--shard {}/{}", shard.number, shard.of));
    }
    let mut asked = chosen.clone();
    asked.extend(choice.impacts.then(|| "--impacts".to_owned()));
    let key = ensemble::fingerprint(&asked, &texts, &model, &plan, level);
    let options = Options::of(&model);
    let prepared = prepare(model, &file, level)?;
    let ensemble = Sweep { plan, prepared, variation, options, choice, chosen, level, key };
    if let Some(folder) = folder {
        return to_folder(args, &ensemble, folder, shard.as_ref());
    }
    let Sweep { plan, choice, .. } = &ensemble;
    let rows = shard.map_or(0..plan.count, |shard| shard.rows(plan.count));
    let threads = threads(args.threads, rows.end - rows.start);

    let spool = Spool::new(args)?;
    let mut tally = Tally::default();
    let mut journal = Journal::open(&spool.path, key, args.resume, |record| tally.add(record))?;
    let done = tally.trajectories;
    if args.resume && !args.model.quiet {
        match done {
            0 => terminal::say("nothing to resume: starting from the beginning"),
            _ => terminal::say(&format!("going on after {done} of {}", rows.end - rows.start)),
        }
    }
    interrupt::listen();
    let go_on = || !interrupt::interrupted();
    let worker = Worker { first: rows.start, ..ensemble.worker(spool.folder(), &go_on) };
    let (begin, cpu) = (Instant::now(), ProcessTime::now());
    let bar = progress(rows.end - rows.start, done, args.model.quiet);
    let mut bytes = Vec::new();
    let printed = args.output.is_none();
    schedule::run(
        rows.start + done..rows.end,
        threads,
        |feed| worker.shift(feed),
        |rows| {
            for row in rows {
                tally.add_row(&row.counted);
                if let Some(pages) = row.counted.pages {
                    let before = journal.append(&bytes).and_then(|()| journal.append_file(pages));
                    before.inspect_err(|_| interrupt::stop())?;
                    bytes.clear();
                }
                bytes.extend(row.bytes);
            }
            bar.set_position(tally.trajectories);
            // Rows that nobody will read need not be computed.
            if printed && limits::reader_gone() {
                interrupt::stop();
            }
            // Without a journal nobody needs to go on.
            journal.append(&bytes).inspect_err(|_| interrupt::stop())?;
            bytes.clear();
            Ok(())
        },
    )?;
    bar.finish_and_clear();
    if printed && limits::reader_gone() {
        return Ok(0);
    }
    let (seconds, cpu_seconds) = (begin.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64());

    let layout = ensemble.layout(tally.trajectories).from(rows.start);
    match (&args.output, format) {
        (Some(output), Some(format)) => {
            // The main table last: when it is there, everything is.
            for (what, wanted) in [(What::Impacts, choice.impacts), (What::Events, choice.firings)] {
                if wanted {
                    layout.write(&spool.path, &second(output, what), format, what)?;
                }
            }
            layout.write(&spool.path, output, format, What::Trajectories)?;
        }
        _ if !args.json => layout.print(&spool.path)?,
        _ => {}
    }
    load::report(&tally.warnings(), &file, args.model.quiet);
    let next = tally.trajectories;
    let complete = next == rows.end - rows.start;
    if complete {
        journal.remove();
    }
    if args.json {
        let provenance = provenance(&ensemble);
        let summary = json!({
            "trajectories": next,
            "stops": tally.stops,
            "threads": threads,
            "seconds": seconds,
            "cpu_seconds": cpu_seconds,
            "provenance": provenance,
        });
        write::json(&format!("{summary}\n"))?;
    } else if !args.model.quiet {
        terminal::say(&tally.sentence(next - done, seconds));
    }
    if complete {
        return Ok(0);
    }
    let hint = if args.output.is_some() { "; the same command with --resume goes on" } else { "" };
    terminal::say(&format!("interrupted after {next} of {} trajectories{hint}", rows.end - rows.start));
    Ok(2)
}

/// Where the rows come from.
fn provenance(ensemble: &Sweep) -> serde_json::Value {
    let model = &ensemble.prepared.mechanics.model;
    let stamp = Stamp::of_many(&model.provenance, &ensemble.chosen, ensemble.level.arithmetic());
    serde_json::from_str(stamp.json()).unwrap_or_default()
}

/// The options that say which trajectories there are, for the provenance of the tables.
fn chosen(args: &SweepArgs) -> Result<Vec<String>, Failure> {
    let mut options: Vec<String> = args.vary.iter().map(|text| format!("--vary {text}")).collect();
    options.extend(args.random.iter().map(|text| format!("--random {text}")));
    if !args.random.is_empty() {
        options.push(format!("--count {} --seed {}", args.count.unwrap_or(DEFAULT_COUNT), args.seed));
    }
    if let Some(file) = &args.table {
        let bytes = std::fs::read(file).map_err(|error| Failure::read(file, &error))?;
        options.push(format!("--table {file} (sha256 {})", carom_mech::sha256(bytes)));
    }
    options.extend(ensemble::said(args.columns.as_deref(), args.events.as_deref()));
    Ok(options)
}

fn plan(args: &SweepArgs) -> Result<Plan, Failure> {
    if let Some(file) = &args.table {
        return Plan::table(input::read(file)?);
    }
    match (args.vary.is_empty(), args.random.is_empty()) {
        (false, true) => Plan::grid(&args.vary),
        (true, false) => Plan::random(&args.random, args.count.unwrap_or(DEFAULT_COUNT), args.seed),
        (true, true) => Err(Failure::wrong(
            "nothing is varied\n  hint: add --vary \"theta=-1..1:100\", --random \"theta=-1..1\" or --table starts.csv",
        )),
        (false, false) => Err(Failure::wrong(
            "--vary makes a grid, --random draws: use one of them\n  hint: for anything else write the starts to a file: --table starts.csv",
        )),
    }
}

/// A folder by its name, `runs/`, or because it is one.
fn is_folder(output: &str) -> bool {
    output.ends_with(['/', std::path::MAIN_SEPARATOR]) || std::path::Path::new(output).is_dir()
}

/// One of several equal parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Shard {
    /// From 1 on.
    number: u64,
    of: u64,
}

impl Shard {
    fn of(text: &str) -> Result<Shard, Failure> {
        let parsed = text.split_once('/').and_then(|(number, of)| {
            Some(Shard { number: number.trim().parse().ok()?, of: of.trim().parse().ok()? })
        });
        parsed.filter(|shard| (1..=shard.of).contains(&shard.number)).ok_or_else(|| {
            Failure::wrong(format!(
                "`--shard {text}` is not I/N with I from 1 to N\n  hint: --shard 3/100 is the third of a hundred parts"
            ))
        })
    }

    /// Its rows, of so many.
    fn rows(self, count: u64) -> Range<u64> {
        let edge = |k: u64| (u128::from(count) * u128::from(k) / u128::from(self.of)) as u64;
        edge(self.number - 1)..edge(self.number)
    }
}

/// Simulates the chunks that a folder does not have yet: all of them, or every N-th of a shard.
#[cfg(feature = "tables")]
fn to_folder(args: &SweepArgs, ensemble: &Sweep, folder: &str, shard: Option<&Shard>) -> Result<u8, Failure> {
    interrupt::listen();
    let go_on = || !interrupt::interrupted();
    let opened = store::Store::open(std::path::Path::new(folder), ensemble, args.chunk, &go_on)?;
    let Some(store) = opened else {
        terminal::say("interrupted before the first trajectories; the same command begins again");
        return Ok(2);
    };
    let mine = |index: &u64| shard.is_none_or(|shard| index % shard.of == shard.number - 1);
    let own: Vec<u64> = (0..store.chunks()).filter(mine).collect();
    let length = |index: u64| store.range(index).end - store.range(index).start;
    let total: u64 = own.iter().map(|&index| length(index)).sum();
    let mut done: u64 = own.iter().filter(|&&index| store.has(index)).map(|&index| length(index)).sum();
    let before = done;
    if !args.model.quiet && (args.resume || done > 0) {
        match done {
            0 => terminal::say("nothing to resume: starting from the beginning"),
            _ => terminal::say(&format!("going on after {done} of {total}")),
        }
    }
    let (begin, cpu) = (Instant::now(), ProcessTime::now());
    let bar = progress(total, done, args.model.quiet);
    let mut tally = Tally::default();
    let told = args.json || !args.model.quiet;
    let (mut failed, mut interrupted) = (Vec::new(), false);
    for &index in &own {
        let range = store.range(index);
        let (first, asked) = (range.start, range.end - range.start);
        if store.has(index) {
            // What it says of its rows is said again, with those of this run.
            match told.then(|| Tally::of_file(&store.path(index))).transpose() {
                Ok(known) => tally.merge_at(first, known.unwrap_or_default()),
                Err(failure) => failed.push((range, failure)),
            }
            continue;
        }
        if interrupted {
            continue;
        }
        let made = ensemble.counted(range.clone(), args.threads, &go_on, &mut |n| bar.set_position(done + n));
        let written = made.and_then(|(table, counted)| {
            // A chunk is whole or not at all.
            interrupted = table.rows() as u64 != asked;
            if !interrupted {
                store.write(index, &store::parquet(&table)?)?;
            }
            Ok(counted)
        });
        match written.map_err(Failure::from) {
            Ok(_) if interrupted => {}
            Ok(counted) => {
                tally.merge_at(first, counted);
                done += asked;
            }
            // A disk that is full is full for all that follow; another failure is this chunk's own.
            Err(failure @ (Failure::File(_) | Failure::System(..))) => return Err(failure),
            Err(failure) => failed.push((range, failure)),
        }
    }
    bar.finish_and_clear();
    store.tidy();
    load::report(&tally.warnings(), folder, args.model.quiet);
    if args.json {
        let summary = json!({
            "trajectories": done,
            "stops": tally.stops,
            "threads": threads(args.threads, total),
            "seconds": begin.elapsed().as_secs_f64(),
            "cpu_seconds": cpu.elapsed().as_secs_f64(),
            "provenance": provenance(ensemble),
        });
        write::json(&format!("{summary}\n"))?;
    } else if !args.model.quiet {
        terminal::say(&tally.sentence(done - before, begin.elapsed().as_secs_f64()));
    }
    if let Some(failure) = failed_chunks(ensemble, own.len(), &failed) {
        return Err(failure);
    }
    if done == total {
        return Ok(0);
    }
    terminal::say(&format!("interrupted after {done} of {total} trajectories; the same command goes on"));
    Ok(2)
}

/// Which chunks could not be made, and why; where it is one trajectory, its start.
#[cfg(feature = "tables")]
fn failed_chunks(ensemble: &Sweep, chunks: usize, failed: &[(Range<u64>, Failure)]) -> Option<Failure> {
    const NAMED: usize = 10;
    if failed.is_empty() {
        return None;
    }
    let mut lines = vec![format!(
        "{} of {chunks} chunks failed; the others are written, and the same command tries these again",
        failed.len()
    )];
    for (range, failure) in failed.iter().take(NAMED) {
        let why = failure.to_string().replace('\n', "\n  ");
        lines.push(match range.end - range.start {
            1 => {
                let inputs = ensemble.inputs(range.start);
                let start: Vec<String> = inputs.iter().map(|(name, x)| format!("{name} = {x}")).collect();
                format!("  trajectory {} ({}): {why}", range.start, start.join(", "))
            }
            _ => format!("  trajectories {} to {}: {why}", range.start, range.end - 1),
        });
    }
    Some(Failure::File(lines.join("\n")))
}

#[cfg(not(feature = "tables"))]
fn to_folder(_: &SweepArgs, _: &Sweep, folder: &str, _: Option<&Shard>) -> Result<u8, Failure> {
    Err(Failure::wrong(format!("cannot write {folder}: this carom was built without parquet")))
}

/// The file of a second table.
fn second(output: &str, what: What) -> String {
    let what = if what == What::Impacts { "impacts" } else { "events" };
    match output.rsplit_once('.') {
        Some((stem, extension)) => format!("{stem}.{what}.{extension}"),
        None => format!("{output}.{what}"),
    }
}

/// Where the journal is: beside the output, or in a folder that vanishes.
struct Spool {
    path: PathBuf,
    _folder: Option<tempfile::TempDir>,
}

impl Spool {
    fn new(args: &SweepArgs) -> Result<Spool, Failure> {
        if let Some(output) = &args.output {
            write::probe(output)?;
            return Ok(Spool { path: Journal::path(output), _folder: None });
        }
        let folder = tempfile::tempdir().map_err(|error| Failure::write("a temporary folder", &error))?;
        Ok(Spool { path: folder.path().join("sweep.part"), _folder: Some(folder) })
    }

    /// Where the journal is, and room for what will be in it.
    fn folder(&self) -> PathBuf {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        folder.map_or_else(|| PathBuf::from("."), PathBuf::from)
    }
}

/// What one trajectory needs.
struct Worker<'a> {
    prepared: &'a Prepared,
    variation: &'a VariedNames,
    plan: &'a Plan,
    options: Options,
    choice: &'a Choice,
    /// Where there is room for impacts.
    folder: PathBuf,
    /// Batches that wait for a thread.
    batches: Mutex<Vec<Batch<'a>>>,
    /// The row that the journal begins with.
    first: u64,
    /// Shall it go on?
    go_on: &'a (dyn Fn() -> bool + Sync),
}

impl Worker<'_> {
    /// Simulates what the feed gives, on the calling thread, side by side where that pays. What a row holds depends on its
    /// index only. Interrupted, it leaves what is under way.
    fn shift(&self, feed: &mut RowFeed<'_>) {
        let batches = || self.batches.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = batches().pop();
        let mut batch = waiting.unwrap_or_else(|| Batch::new(&self.prepared.program, self.choice.impacts));
        batch::shift(self, &mut batch, feed);
        batches().push(batch);
    }

    /// The options of one trajectory; `row` is a place for its inputs.
    fn options(&self, index: u64, row: &mut Vec<f64>) -> Result<Options, String> {
        self.plan.row(index, row);
        self.variation.options(&self.options, row)
    }
}

/// How the trajectories ended.
#[derive(Default)]
struct Tally {
    trajectories: u64,
    stops: BTreeMap<String, u64>,
    impacts: u64,
    /// By kind: how many have one, which is the first, and what it says.
    warnings: BTreeMap<String, (u64, u64, String)>,
}

impl Tally {
    fn add(&mut self, record: &Record) {
        self.note(record.stop_name(), record.impacts, record.warnings.iter().map(String::as_str));
    }

    fn add_row(&mut self, row: &Extra) {
        self.note(row.stop, row.impacts, row.warnings.iter().map(String::as_str));
    }

    fn note<'a>(&mut self, stop: &str, impacts: u64, warnings: impl Iterator<Item = &'a str>) {
        for warning in warnings {
            let known = self.warnings.entry(choice::kind(warning).to_owned());
            known.or_insert_with(|| (0, self.trajectories, warning.to_owned())).0 += 1;
        }
        self.trajectories += 1;
        match self.stops.get_mut(stop) {
            Some(n) => *n += 1,
            None => drop(self.stops.insert(stop.to_owned(), 1)),
        }
        self.impacts += impacts;
    }

    /// Of the rows of a chunk that is there.
    #[cfg(feature = "tables")]
    fn of_file(path: &std::path::Path) -> Result<Tally, Failure> {
        use carom_show::table::{ColumnValues, read_own_parquet};
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|error| Failure::read(&name, &error))?;
        let table = read_own_parquet(&bytes)
            .map_err(|misread| Failure::wrong(format!("cannot read {name}: {misread}\n  hint: remove it")))?;
        // A model may have a quantity of that name; then ours is called otherwise.
        let named = |name: &str| table.columns.iter().find(|c| c.name == name).map(|c| &c.values);
        let column = |name: &str| named(&format!("sweep.{name}")).or_else(|| named(name));
        let mut tally = Tally::default();
        for row in 0..table.rows() {
            let text = |name: &str| match column(name) {
                Some(ColumnValues::Texts(texts)) => texts.get(row).map_or("", String::as_str),
                _ => "",
            };
            let impacts = match column("impacts") {
                Some(ColumnValues::Integers(counts)) => counts.get(row).copied().unwrap_or(0),
                _ => 0,
            };
            let warnings = text("warnings").split("; ").filter(|warning| !warning.is_empty());
            tally.note(text("stop"), impacts.unsigned_abs(), warnings);
        }
        Ok(tally)
    }

    /// Adds trajectories of which the first has this number.
    #[cfg(feature = "tables")]
    fn merge_at(&mut self, at: u64, other: Tally) {
        for (kind, (n, first, warning)) in other.warnings {
            self.warnings.entry(kind).or_insert((0, at + first, warning)).0 += n;
        }
        self.trajectories += other.trajectories;
        for (stop, n) in other.stops {
            *self.stops.entry(stop).or_default() += n;
        }
        self.impacts += other.impacts;
    }

    /// What the trajectories warn of.
    fn warnings(&self) -> Vec<Diagnostic> {
        let sentence = |(n, first, warning): &(u64, u64, String)| {
            Diagnostic::warning(match self.trajectories {
                1 => warning.clone(),
                all => format!("{n} of {all} trajectories, the first of them number {first}: {warning}"),
            })
        };
        self.warnings.values().map(sentence).collect()
    }

    /// What there is now, `fresh` of it made in this run.
    fn sentence(&self, fresh: u64, seconds: f64) -> String {
        let trajectories = self.trajectories;
        let stops: Vec<String> =
            self.stops.iter().map(|(stop, n)| format!("{n} {}", stop.replace('_', " "))).collect();
        let time = match fresh {
            0 => "all there before".to_string(),
            _ => format!("{} ({:.0} per second)", duration(seconds), fresh as f64 / seconds.max(1e-9)),
        };
        let what = if trajectories == 1 { "trajectory" } else { "trajectories" };
        let impacts = count(self.impacts, "impact");
        format!("{trajectories} {what} ({}), {impacts}, {time}", stops.join(", "))
    }
}

/// How many threads to start: what was asked for, else one per core; as far as there are trajectories for them and the
/// machine can bear it (10⁴ threads on a few cores would spend their time looking for work).
fn threads(asked: Option<u32>, trajectories: u64) -> usize {
    const MOST_PER_CORE: usize = 16;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let useful = usize::try_from(trajectories.max(1)).unwrap_or(usize::MAX);
    asked.map_or(cores, |n| n as usize).min(useful).min(MOST_PER_CORE * cores)
}

fn progress(total: u64, done: u64, quiet: bool) -> ProgressBar {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(5) };
    let bar = ProgressBar::with_draw_target(Some(total), target);
    if let Ok(style) =
        ProgressStyle::with_template("  {wide_bar} {pos} of {len}  {rate} per second  {eta} left")
    {
        let rate = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            let rate = state.per_sec();
            // Three digits say enough, and stand still.
            let _ = if rate < 100.0 { write!(out, "{rate:.3}") } else { write!(out, "{rate:.0}") };
        };
        bar.set_style(style.with_key("rate", rate));
    }
    bar.set_position(done);
    bar.reset_eta();
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}
