//! A sweep as a value: a model, what is varied, and any of its rows at any time. The command, the folder of chunks and the
//! Python package ask it; none of them prints here.
//!
//! Promise: a row depends on its index only, not on which rows are asked for with it, by how many threads, on which machine of
//! the same class of arithmetic.

use super::choice::Choice;
use super::journal::{Checksum, HEAD_OF_BLOCK};
use super::plan::Plan;
use super::record::Record;
use super::table::{ResultNames, What};
use super::vary::{self, VariedNames};
use super::{Tally, Worker, schedule, threads};
use crate::failure::Failure;
use crate::host::HostRefusal;
use crate::load::Loaded;
use crate::simulate::Prepared;
use carom_mech::{Diagnostic, Draft, Model};
use carom_run::{Level, Options, Program};
use carom_show::table::Table;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Mutex;

/// What is varied.
pub enum Inputs {
    /// Every combination of the values; the last name runs fastest.
    Product(Vec<(String, Vec<f64>)>),
    /// The first values of all names, then the second …: lists of one length.
    Rows(Vec<(String, Vec<f64>)>),
    /// Uniform in [from, to), from the seed, the row and the name's place alone.
    Random {
        /// Names and ranges.
        ranges: Vec<(String, f64, f64)>,
        /// How many draws.
        count: u64,
        /// Of the random numbers.
        seed: u64,
    },
}

/// A question in data, as a host such as Python asks it.
pub struct SweepQuestion {
    /// The model file.
    pub text: String,
    /// What to call it in messages.
    pub file: String,
    /// Tables that the model names.
    pub tables: Vec<(String, String)>,
    /// Parameters that are other than in the file, the same in all rows.
    pub set: Vec<(String, f64)>,
    /// Start values, likewise.
    pub start: Vec<(String, f64)>,
    /// Entries of `[run]`, as `--option` takes them.
    pub run: Vec<(String, String)>,
    /// Project starts onto the constraints?
    pub project: bool,
    /// As `--columns`.
    pub columns: Option<String>,
    /// As `--events`.
    pub events: Option<String>,
    /// What is varied.
    pub inputs: Inputs,
}

/// A sweep, ready to be simulated.
pub struct Sweep {
    pub(super) plan: Plan,
    pub(super) prepared: Prepared,
    pub(super) variation: VariedNames,
    pub(super) options: Options,
    pub(super) choice: Choice,
    /// The options that say which trajectories there are, for the provenance of the tables.
    pub(super) chosen: Vec<String>,
    pub(super) level: Level,
    /// Changes when the question does.
    pub(super) key: u64,
}

impl Sweep {
    /// Checks and compiles a question.
    ///
    /// # Errors
    /// When the model is wrong, or something is varied that it does not have.
    pub fn new(question: SweepQuestion) -> Result<Sweep, HostRefusal> {
        let SweepQuestion { text, file, tables, set, start, run, project, columns, events, inputs } =
            question;
        let (plan, mut chosen) = plan(inputs)?;
        chosen.extend(said(columns.as_deref(), events.as_deref()));
        let (mut draft, mut problems) = Draft::parse(&text, &file);
        draft.tables = tables;
        for (name, value) in &set {
            problems.extend(draft.set_parameter(&format!("{name}={}", typed(*value))));
        }
        for (name, value) in &start {
            problems.extend(draft.set_start(&format!("{name}={}", typed(*value))));
        }
        for (key, value) in &run {
            problems.extend(draft.set_run(key, value));
        }
        if project {
            draft.set_project(true);
        }
        let texts: Vec<String> = draft.sources.iter().map(|s| s.text.clone()).collect();
        let loaded = Loaded { draft: draft.clone(), file, problems, level: Level::detect() };
        let level = loaded.level;
        let (model, problems) = match draft.check() {
            Err(_) if loaded.problems.is_empty() => match vary::first_right(&draft, &plan) {
                Some(model) => (Some(model), Vec::new()),
                None => loaded.outcome(),
            },
            _ => loaded.outcome(),
        };
        let Some(model) = model else { return Err(HostRefusal::Wrong(problems)) };
        let variation = VariedNames::new(&model, draft, &plan)?;
        let choice = Choice::new(&model, columns.as_deref(), events.as_deref())?;
        let key = fingerprint(&chosen, &texts, &model, &plan, level);
        let options = Options::of(&model);
        let mechanics = carom_mech::derive_equations(model).map_err(HostRefusal::Wrong)?;
        let compiled = Program::compile(&mechanics);
        let mut program =
            compiled.map_err(|error| HostRefusal::Wrong(vec![Diagnostic::error(error.to_string())]))?;
        program.set_level(level);
        let prepared = Prepared { mechanics, program, derive_seconds: 0.0, compile_seconds: 0.0 };
        Ok(Sweep { plan, prepared, variation, options, choice, chosen, level, key })
    }

    /// How many trajectories there are.
    pub fn count(&self) -> u64 {
        self.plan.count
    }

    /// A word that changes when the question does: model, tables, options, inputs, version, arithmetic.
    pub fn key(&self) -> String {
        format!("{:016x}", self.key)
    }

    pub(super) fn layout(&self, rows: u64) -> ResultNames<'_> {
        ResultNames {
            plan: &self.plan,
            model: &self.prepared.mechanics.model,
            choice: &self.choice,
            options: &self.chosen,
            arithmetic: self.level.arithmetic(),
            rows,
            first: 0,
        }
    }

    pub(super) fn worker<'a>(&'a self, folder: PathBuf, go_on: &'a (dyn Fn() -> bool + Sync)) -> Worker<'a> {
        Worker {
            prepared: &self.prepared,
            variation: &self.variation,
            plan: &self.plan,
            options: self.options.clone(),
            choice: &self.choice,
            folder,
            batches: Mutex::default(),
            first: 0,
            go_on,
        }
    }

    /// Simulates some rows, by `asked` threads (else one per core). `received` hears how many there are, on the calling
    /// thread. When `go_on` answers no, what there is by then is returned: the first rows, without a gap.
    ///
    /// # Errors
    /// When the system refuses something.
    pub fn rows(
        &self,
        range: Range<u64>,
        asked: Option<u32>,
        go_on: &(dyn Fn() -> bool + Sync),
        received: &mut dyn FnMut(u64),
    ) -> Result<Table, HostRefusal> {
        Ok(self.counted(range, asked, go_on, received)?.0)
    }

    /// The values that are varied, in one row.
    pub fn inputs(&self, index: u64) -> Vec<(String, f64)> {
        let mut row = Vec::new();
        self.plan.row(index, &mut row);
        self.plan.names.iter().cloned().zip(row).collect()
    }

    /// The same with what there is to say of the rows. A mistake in carom is an answer too: other rows may be right.
    pub(super) fn counted(
        &self,
        range: Range<u64>,
        asked: Option<u32>,
        go_on: &(dyn Fn() -> bool + Sync),
        received: &mut dyn FnMut(u64),
    ) -> Result<(Table, Tally), HostRefusal> {
        // What a panic leaves half done is dropped with the rows.
        let simulated = AssertUnwindSafe(|| self.simulated(range, asked, go_on, received));
        catch_unwind(simulated).map_or(Err(HostRefusal::Broken), |rows| rows.map_err(HostRefusal::from))
    }

    fn simulated(
        &self,
        range: Range<u64>,
        asked: Option<u32>,
        go_on: &(dyn Fn() -> bool + Sync),
        received: &mut dyn FnMut(u64),
    ) -> Result<(Table, Tally), Failure> {
        let layout = self.layout(range.end - range.start);
        let mut table = layout.empty(What::Trajectories);
        let worker = self.worker(std::env::temp_dir(), go_on);
        let (mut inputs, mut tally) = (Vec::new(), Tally::default());
        let count = threads(asked, range.end - range.start);
        schedule::run(
            range,
            count,
            |feed| worker.shift(feed),
            |rows| {
                for row in rows {
                    let record = row.bytes.get(HEAD_OF_BLOCK..).and_then(Record::decode);
                    let record = record.unwrap_or_else(|| Record::invalid("a row was damaged".to_owned()));
                    self.plan.row(row.index, &mut inputs);
                    layout.push(&mut table, &inputs, &record);
                    tally.add_row(&row.counted);
                }
                received(tally.trajectories);
                Ok(())
            },
        )?;
        Ok((table, tally))
    }
}

/// Lists of at most so many values are named as they would be typed, longer ones by their hash.
const NAMED: usize = 16;

/// A number as a person types it: the shortest digits that read back to the same double, `2` and not `2.0`.
fn typed(value: f64) -> String {
    let digits = format!("{value:?}");
    digits.strip_suffix(".0").unwrap_or(&digits).to_owned()
}

/// The options that say what rows hold, as typed.
pub(super) fn said(columns: Option<&str>, events: Option<&str>) -> Vec<String> {
    let columns = columns.map(|names| format!("--columns {names}"));
    columns.into_iter().chain(events.map(|names| format!("--events {names}"))).collect()
}

/// The plan of some inputs, and how the provenance of a table names them: as the command line would, so that a folder can be begun
/// by one and finished by the other.
fn plan(inputs: Inputs) -> Result<(Plan, Vec<String>), Failure> {
    let hash = |lists: &[(String, Vec<f64>)]| {
        let bytes: Vec<u8> = lists
            .iter()
            .flat_map(|(name, list)| {
                name.bytes().chain([0]).chain(list.iter().flat_map(|x| x.to_le_bytes())).collect::<Vec<u8>>()
            })
            .collect();
        carom_mech::sha256(bytes)
    };
    let named = |lists: &[(String, Vec<f64>)]| {
        lists.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>().join(", ")
    };
    Ok(match inputs {
        Inputs::Product(lists) if lists.iter().all(|(_, list)| list.len() <= NAMED) => {
            let values = |list: &[f64]| list.iter().map(|x| typed(*x)).collect::<Vec<_>>().join(",");
            let said = lists.iter().map(|(name, list)| format!("--vary {name}={}", values(list))).collect();
            (Plan::product(lists)?, said)
        }
        Inputs::Product(lists) => {
            let said = format!("product of arrays {} (sha256 {})", named(&lists), hash(&lists));
            (Plan::product(lists)?, vec![said])
        }
        Inputs::Rows(lists) => {
            let said = format!("rows of arrays {} (sha256 {})", named(&lists), hash(&lists));
            (Plan::rows(lists)?, vec![said])
        }
        Inputs::Random { ranges, count, seed } => {
            let range = |(name, from, to): &(String, f64, f64)| {
                format!("--random {name}={}..{}", typed(*from), typed(*to))
            };
            let mut said: Vec<String> = ranges.iter().map(range).collect();
            said.push(format!("--count {count} --seed {seed}"));
            (Plan::uniform(ranges, count, seed)?, said)
        }
    })
}

/// A number that changes when the question does, and with it the bytes of the answer: model, tables it reads, options as their
/// provenance says them (`texts` those of the model and its run, `chosen` those of the rows), inputs, program version.
pub(super) fn fingerprint(
    chosen: &[String],
    texts: &[String],
    model: &Model,
    plan: &Plan,
    level: Level,
) -> u64 {
    let mut sum = Checksum::default();
    sum.add(env!("CARGO_PKG_VERSION").as_bytes());
    // Rows of one table are of one class of bits.
    sum.add(level.arithmetic().name().as_bytes());
    for text in texts.iter().chain(chosen) {
        sum.add(&(text.len() as u64).to_le_bytes());
        sum.add(text.as_bytes());
    }
    for input in &model.inputs {
        input.times.iter().chain(&input.values).for_each(|x| sum.add(&x.to_le_bytes()));
    }
    plan.sign(&mut sum);
    sum.0
}

/// Tables that carom wrote, one below the other.
///
/// # Errors
/// A sentence, when one of them cannot be read or has other columns than the first.
#[cfg(feature = "tables")]
pub fn joined(pieces: &[impl AsRef<[u8]>]) -> Result<Table, String> {
    let mut whole = Table::default();
    for piece in pieces {
        let table =
            carom_show::table::read_own_parquet(piece.as_ref()).map_err(|misread| misread.to_string())?;
        whole.append(table)?;
    }
    Ok(whole)
}
