//! From a checked model to a motion, with the clock, the progress bar and Ctrl-C that the library does not have.

use crate::args::{ModelArgs, SimulateArgs};
use crate::failure::Failure;
use crate::interrupt;
use crate::limits;
use crate::load;
use crate::paint::Paint;
use crate::summary;
use crate::terminal;
use carom_mech::{Diagnostic, Mechanics, Model};
use carom_run::{Columns, Level, Motion, Options, Program, Progress, Sampling, SimulateError, Simulator};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// A run shorter than this shows no progress.
const PATIENCE: Duration = Duration::from_millis(700);
/// Steps after which the pace of a motion is known …
const PACE: u64 = 20_000;
/// … and the part of the way that the limit must allow, lest it be said at once that it does not.
const HOPELESS: f64 = 0.1;
/// A run is looked at after this time …
const FIRST_LOOK: Duration = Duration::from_millis(1500);
/// … and said to be long if more than this is left.
const LONG: f64 = 20.0;
/// Positions of the bar.
const BAR: u64 = 1000;

/// A model ready to be simulated.
pub struct Prepared {
    pub mechanics: Mechanics,
    pub program: Program,
    pub derive_seconds: f64,
    pub compile_seconds: f64,
}

/// Derives and compiles a model.
///
/// # Errors
/// If that is impossible; already reported then.
pub fn prepare(model: Model, file: &str, level: Level) -> Result<Prepared, Failure> {
    let begin = Instant::now();
    let mechanics = reported(carom_mech::derive_equations(model), file)?;
    let derive_seconds = begin.elapsed().as_secs_f64();
    let begin = Instant::now();
    let mut program = Program::compile(&mechanics)
        .map_err(|error| refuse(&SimulateError::Compile(error.to_string()), file))?;
    program.set_level(level);
    let compile_seconds = begin.elapsed().as_secs_f64();
    Ok(Prepared { mechanics, program, derive_seconds, compile_seconds })
}

/// A model that is ready to be asked how its motion depends on things, and its settings.
pub struct Ready {
    pub prepared: Prepared,
    pub options: Options,
    /// What messages call the model's file.
    pub file: String,
    pub level: Level,
}

/// Loads, checks, derives and compiles.
///
/// # Errors
/// If the model or the settings are wrong; already reported then.
pub fn ready(model: &ModelArgs, settings: &SimulateArgs) -> Result<Ready, Failure> {
    let mut loaded = load::load(model)?;
    loaded.simulate(settings);
    let (file, level) = (loaded.file.clone(), loaded.level);
    let model = loaded.check(model.quiet)?;
    let options = Options::of(&model);
    let prepared = prepare(model, &file, level)?;
    Ok(Ready { prepared, options, file, level })
}

/// Derives a model, closed forms included.
///
/// # Errors
/// If that is impossible; already reported then.
pub fn derive(model: Model, file: &str) -> Result<Mechanics, Failure> {
    reported(carom_mech::derive(model), file)
}

fn reported(derived: Result<Mechanics, Vec<Diagnostic>>, file: &str) -> Result<Mechanics, Failure> {
    derived.map_err(|problems| {
        load::report(&problems, file, false);
        Failure::Reported(1)
    })
}

/// Reports why nothing was simulated.
fn refuse(error: &SimulateError, file: &str) -> Failure {
    load::report(&problems(error), file, false);
    Failure::Reported(1)
}

/// Why nothing was simulated, as diagnostics.
fn problems(error: &SimulateError) -> Vec<Diagnostic> {
    let mut problems: Vec<Diagnostic> = error.messages().into_iter().map(Diagnostic::error).collect();
    if let (Some(last), Some(hint)) = (problems.last_mut(), error.hint()) {
        last.hint = Some(hint.to_owned());
    }
    problems
}

/// What `run` would refuse to begin with.
pub fn start_problems(mechanics: &Mechanics) -> Vec<Diagnostic> {
    let program = Program::compile(mechanics).map_err(|error| SimulateError::Compile(error.to_string()));
    let checked =
        program.and_then(|program| carom_run::check_start(&program, &Options::of(&mechanics.model)));
    checked.err().map_or_else(Vec::new, |error| problems(&error))
}

impl Prepared {
    /// Simulates `repeat` times and keeps the shortest time.
    ///
    /// # Errors
    /// If the start or the options are wrong; already reported then.
    pub fn simulate(
        &self,
        options: &Options,
        repeat: u32,
        quiet: bool,
        file: &str,
    ) -> Result<Motion, Failure> {
        let count = match &options.sampling {
            Sampling::Even(count) => *count,
            Sampling::At(times) => times.len(),
        };
        limits::samples(count, Columns::of(&self.program).contact_force.end)?;
        interrupt::listen();
        let options = &Options { step_states: true, ..options.clone() };
        let mut best: Option<(Motion, f64)> = None;
        let mut simulator = Simulator::new(&self.program);
        for _ in 0..repeat {
            let begin = Instant::now();
            let mut watch = ProgressWatch::new(quiet, options.max_steps);
            let result = simulator.simulate_with(options, &mut |progress| watch.go_on(progress));
            let seconds = begin.elapsed().as_secs_f64();
            watch.end();
            let motion = result.map_err(|error| refuse(&error, file))?;
            best = match best {
                Some((first, shortest)) => Some((first, shortest.min(seconds))),
                None => Some((motion, seconds)),
            };
            if interrupt::interrupted() {
                break;
            }
        }
        let Some((mut motion, seconds)) = best else {
            return Err(Failure::wrong("--repeat must be at least 1"));
        };
        motion.audit.derive_seconds = self.derive_seconds;
        motion.audit.compile_seconds = self.compile_seconds;
        motion.audit.simulate_seconds = seconds;
        carom_run::audit_invariants(&self.mechanics, &options.parameters, &mut motion);
        Ok(motion)
    }
}

/// Shows progress on a terminal once a run takes long, and listens for Ctrl-C.
struct ProgressWatch {
    begin: Instant,
    quiet: bool,
    /// Steps that will be taken at most, until the pace has been looked at.
    limit: Option<u64>,
    /// Has it been said, or decided not to be worth saying, how long this takes?
    foretold: bool,
    bar: Option<ProgressBar>,
}

impl ProgressWatch {
    fn new(quiet: bool, limit: u64) -> ProgressWatch {
        ProgressWatch { begin: Instant::now(), quiet, limit: Some(limit), foretold: quiet, bar: None }
    }

    /// Once the pace is known, says at once what would otherwise show after many minutes: that the limit of steps comes long
    /// before the end.
    fn look_ahead(&mut self, progress: &Progress) {
        if progress.steps < PACE {
            return;
        }
        let Some(limit) = self.limit.take() else { return };
        let (done, span) = (progress.time - progress.from, progress.until - progress.from);
        let reached = progress.from + done * (limit as f64 / progress.steps as f64);
        if !self.quiet && reached - progress.from < HOPELESS * span {
            terminal::say(&format!(
                "{} at this pace the limit of {limit} steps ends the motion at about t = {reached:.2e}, long before t = {:e}\n  hint: Ctrl-C ends it now and shows what there is; a shorter --until is answered sooner",
                Paint::stderr().yellow("warning:"),
                progress.until
            ));
        }
    }

    /// Says early how long the whole takes, if that is long: a person may want to stop it, or do something else meanwhile.
    fn foretell(&mut self, progress: &Progress) {
        let seconds = self.begin.elapsed().as_secs_f64();
        if self.foretold || seconds < FIRST_LOOK.as_secs_f64() {
            return;
        }
        self.foretold = true;
        if let Some(left) = left(progress, seconds).filter(|left| *left > LONG) {
            terminal::say(&format!(
                "{} this takes about {} more: after {} the motion is at t = {:.4} of {}\n  hint: Ctrl-C ends it and shows what there is; a shorter --until or a looser --tolerance is answered sooner",
                Paint::stderr().yellow("warning:"),
                summary::duration(left),
                summary::duration(seconds),
                progress.time,
                progress.until
            ));
        }
    }

    /// Called every now and then; `false` asks the simulation to stop.
    fn go_on(&mut self, progress: &Progress) -> bool {
        self.look_ahead(progress);
        self.foretell(progress);
        if !self.quiet && self.begin.elapsed() > PATIENCE {
            let bar = self.bar.get_or_insert_with(bar);
            let span = progress.until - progress.from;
            let done = if span > 0.0 { (progress.time - progress.from) / span } else { 1.0 };
            bar.set_position((done.clamp(0.0, 1.0) * BAR as f64) as u64);
            let rate = (progress.time - progress.from) / self.begin.elapsed().as_secs_f64();
            bar.set_message(format!(
                "t = {:.6} of {}, {} impacts, {:.3} time units/s",
                progress.time, progress.until, progress.impacts, rate
            ));
        }
        !interrupt::interrupted()
    }

    fn end(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Seconds that are left if the motion goes on as it did; `None` before it has moved.
fn left(progress: &Progress, seconds: f64) -> Option<f64> {
    let (done, span) = (progress.time - progress.from, progress.until - progress.from);
    (done > 0.0 && span > 0.0).then(|| seconds * (span - done).max(0.0) / done)
}

/// A bar on standard error; hidden when that is not a terminal.
fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(BAR), ProgressDrawTarget::stderr_with_hz(10));
    if let Ok(style) = ProgressStyle::with_template("  {wide_bar} {percent:>3} %  {msg}  {eta} left") {
        bar.set_style(style);
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_follows_from_the_pace() {
        let progress = |time: f64| {
            let mut progress = Progress::default();
            (progress.time, progress.from, progress.until) = (time, 1.0, 11.0);
            progress
        };
        assert_eq!(left(&progress(2.0), 3.0), Some(27.0));
        assert_eq!(left(&progress(11.0), 3.0), Some(0.0));
        assert_eq!(left(&progress(1.0), 3.0), None);
    }
}
