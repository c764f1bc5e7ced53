//! From what was typed to a model: read the text (file, standard input or gallery), apply the options, check, and report
//! everything there is to say about it.

use crate::args::{ModelArgs, SampleArgs, SimulateArgs};
use crate::failure::Failure;
use crate::host;
use crate::paint::Paint;
use crate::terminal;
use carom::gallery;
use carom_expr::nearest;
use carom_mech::{Diagnostic, Draft, Model};
use carom_run::{Arithmetic, Instructions, Level};
use std::io::Read;
use std::path::Path;

/// Values of `--option` that no model file has.
const OF_THE_ENGINE: [&str; 2] = ["level", "arithmetic"];

/// A draft and the problems met while making it.
#[derive(Clone)]
pub struct Loaded {
    /// What the file says, options applied.
    pub draft: Draft,
    /// Name of the file, for messages.
    pub file: String,
    /// What is wrong so far.
    pub problems: Vec<Diagnostic>,
    /// The instructions to use.
    pub level: Level,
}

/// Reads a model and applies `--set` and `--start`.
///
/// # Errors
/// If there is no such file or gallery model, or it cannot be read.
pub fn load(args: &ModelArgs) -> Result<Loaded, Failure> {
    let (text, file) = read(&args.model)?;
    let (mut draft, mut problems) = Draft::parse(&text, &file);
    host::provide_tables(&mut draft);
    for assignments in &args.set {
        problems.extend(draft.set_parameter(assignments));
    }
    for assignments in &args.start {
        problems.extend(draft.set_start(assignments));
    }
    Ok(Loaded { draft, file, problems, level: Level::detect() })
}

impl Loaded {
    /// Applies the options that say how to simulate.
    pub fn simulate(&mut self, args: &SimulateArgs) {
        let given = [("until", &args.until), ("tolerance", &args.tolerance)];
        for (key, value) in given {
            if let Some(value) = value {
                self.problems.extend(self.draft.set_run(key, value));
            }
        }
        let (mut instructions, mut arithmetic) = (None, None);
        for setting in &args.option {
            match setting.split_once('=').map(|(key, value)| (key.trim(), value.trim())) {
                Some(("level", value)) => instructions = self.named(value, "level", &Instructions::NAMED),
                Some(("arithmetic", value)) => {
                    arithmetic = self.named(value, "arithmetic", &Arithmetic::NAMED)
                }
                Some((key, value)) => {
                    self.problems.extend(self.draft.set_run_beside(key, value, &OF_THE_ENGINE))
                }
                None => self.problems.push(
                    Diagnostic::error(format!("`--option {setting}` is not `key=value`"))
                        .with_hint("write for example --option method=rk4"),
                ),
            }
        }
        match Level::choose(instructions, arithmetic) {
            Ok(level) => self.level = level,
            Err(error) => {
                // A level that exists was refused for its arithmetic: its bits are of the other class.
                let hint = match Level::choose(instructions, None) {
                    Ok(_) => {
                        "leave `level` out, or take level=interpreter: other bits than those of machine code"
                    }
                    Err(_) => {
                        "leave `level` out: carom takes the best there is, and the bits are those of `arithmetic`"
                    }
                };
                self.problems.push(Diagnostic::error(error.to_string()).with_hint(hint));
            }
        }
        if args.project {
            self.draft.set_project(true);
        }
    }

    /// What an option of the engine names.
    fn named<T: Copy>(&mut self, value: &str, key: &str, all: &[(&str, T)]) -> Option<T> {
        let found = all.iter().find(|(name, _)| *name == value).map(|(_, meaning)| *meaning);
        if found.is_none() {
            let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
            let place = self.draft.place_of_option(&format!("--option {key}="), value);
            self.problems.push(
                Diagnostic::error(format!("`{value}` is not a value of `--option {key}`"))
                    .at(place)
                    .with_hint(format!("write one of {}", names.join(", "))),
            );
        }
        found
    }

    /// Notes what would be wrong with a value of a parameter or of the start, such as its unit.
    pub fn try_value(&mut self, name: &str, value: &str) {
        let mut draft = self.draft.clone();
        let text = format!("{name}={value}");
        let parameter = draft.parameters.iter().any(|(word, _)| word.text == name);
        // An unknown name is told by the plan.
        let _ = if parameter { draft.set_parameter(&text) } else { draft.set_start(&text) };
        let problems = draft.check().err().unwrap_or_default();
        let typed =
            |p: &Diagnostic| p.is_error() && p.place.as_ref().is_some_and(|place| place.origin.is_some());
        self.problems.extend(problems.into_iter().filter(typed));
    }

    /// Applies the options that say when to sample; returns the times of `--at`.
    pub fn samples(&mut self, args: &SampleArgs) -> Option<Vec<f64>> {
        if let Some(samples) = &args.samples {
            self.problems.extend(self.draft.set_run("samples", samples));
        }
        let times = args.at.as_ref()?;
        self.draft.note_option(&format!("--at {times}"));
        let mut out = Vec::new();
        // One comma too many at the end does no harm; elsewhere a number is missing.
        let list = times.trim().strip_suffix(',').unwrap_or(times);
        for time in list.split(',').map(str::trim) {
            match time_of(time) {
                Some(value) if value.is_finite() => out.push(value),
                _ => self.problems.push(
                    Diagnostic::error(if time.is_empty() {
                        "a time is missing in --at".to_string()
                    } else {
                        format!("`{time}` in --at is not a time")
                    })
                    .with_hint("write times separated by commas: --at 0,0.5,2 or --at \"20 ms, 2 s\""),
                ),
            }
        }
        Some(out)
    }

    /// Checks the draft. Warnings are reported unless `quiet`; with errors everything is reported.
    ///
    /// # Errors
    /// If the model is wrong; already reported then.
    pub fn check(self, quiet: bool) -> Result<Model, Failure> {
        let file = self.file.clone();
        let (result, problems) = self.outcome();
        report(&problems, &file, quiet);
        result.ok_or(Failure::Reported(1))
    }

    /// The model, if there is one, and everything to say about it.
    pub fn outcome(self) -> (Option<Model>, Vec<Diagnostic>) {
        let mut problems = self.problems;
        let wrong = problems.iter().any(Diagnostic::is_error);
        match self.draft.check() {
            Ok((model, warnings)) => {
                problems.extend(warnings);
                ((!wrong).then_some(model), problems)
            }
            Err(errors) => {
                // A draft that was broken in reading says so again in checking.
                for error in errors {
                    if !problems.contains(&error) {
                        problems.push(error);
                    }
                }
                (None, problems)
            }
        }
    }
}

/// A number, in seconds, or a number with a unit of time.
fn time_of(text: &str) -> Option<f64> {
    use carom_mech::units::{Dimension, quantity};
    if let Ok(value) = text.parse() {
        return Some(value);
    }
    let quantity = quantity(text)?;
    let unit = quantity.unit.clone().ok().filter(|unit| unit.dimension == Dimension::TIME)?;
    let mut dag = carom_expr::Dag::new();
    let value = quantity.value(&mut dag, unit);
    Some(dag.evaluate(value, |_| f64::NAN))
}

/// Prints diagnostics to standard error, in the order of the file.
pub fn report(problems: &[Diagnostic], file: &str, quiet: bool) {
    let mut problems = problems.to_vec();
    carom_mech::diagnostic::tidy(&mut problems);
    if host::report(&problems) {
        return;
    }
    let paint = Paint::stderr();
    for problem in &problems {
        if problem.is_error() || !quiet {
            terminal::say(&paint.diagnostic(&problem.render(file)));
        }
    }
    let errors = problems.iter().filter(|p| p.is_error()).count();
    if errors > 1 {
        terminal::say(&format!("{errors} errors"));
    }
}

/// The text of a model and the name to call it by.
pub fn read(model: &str) -> Result<(String, String), Failure> {
    if model == "-" {
        if let Some(given) = host::model() {
            return Ok(given);
        }
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map_err(|e| Failure::read("standard input", &e))?;
        return Ok((utf8(bytes, "standard input")?, "standard input".to_owned()));
    }
    match std::fs::read(model) {
        Ok(bytes) => Ok((utf8(bytes, model)?, model.to_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let name = model.strip_suffix(".toml").unwrap_or(model);
            match gallery::find(name) {
                Some(entry) => Ok((entry.text.to_owned(), format!("gallery:{}", entry.name))),
                None => Err(missing(model)),
            }
        }
        Err(_) if Path::new(model).is_dir() => {
            Err(Failure::File(format!("cannot read {model}: it is a folder")))
        }
        Err(error) => Err(Failure::read(model, &error)),
    }
}

fn utf8(bytes: Vec<u8>, file: &str) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|error| {
        let line =
            error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|&&b| b == b'\n').count() + 1;
        Failure::wrong(format!("{file}:{line} is not UTF-8 text"))
    })
}

fn missing(model: &str) -> Failure {
    let mut message = format!("cannot read {model}: no such file, and no gallery model of that name");
    let with_extension = format!("{model}.toml");
    let names: Vec<&str> = gallery::all().iter().map(|e| e.name).collect();
    let stem = model.strip_suffix(".toml").unwrap_or(model);
    if Path::new(&with_extension).exists() {
        message += &format!("\n  hint: there is {with_extension}");
    } else if let Some(near) = suggestion(stem, &names) {
        message += &format!("\n  hint: did you mean `{near}`? `carom gallery` lists all");
    } else {
        message += "\n  hint: `carom gallery` lists the models that come with carom, `carom new NAME` starts your own";
    }
    Failure::File(message)
}

/// The name nearest to what was typed: begun with it, or few changes away.
pub fn suggestion<'a>(typed: &str, names: &[&'a str]) -> Option<&'a str> {
    let typed = typed.to_lowercase().replace(['-', ' '], "_");
    if let Some(name) = names.iter().find(|n| **n == typed) {
        return Some(name);
    }
    let begun = || names.iter().find(|n| typed.len() >= 3 && n.contains(&typed)).copied();
    nearest(&typed, names.iter().copied()).or_else(begun)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_name_finds_the_one_that_was_meant() {
        let names = ["double_pendulum", "double_pendulum_wall", "newtons_cradle"];
        assert_eq!(suggestion("double-pendulum", &names), Some("double_pendulum"));
        assert_eq!(suggestion("doubel_pendulum", &names), Some("double_pendulum"));
        assert_eq!(suggestion("cradle", &names), Some("newtons_cradle"));
        assert_eq!(suggestion("xyz", &names), None);
        assert_eq!(suggestion("tehta", &["m", "theta"]), Some("theta"));
    }
}
