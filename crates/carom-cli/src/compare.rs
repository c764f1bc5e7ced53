//! `--compare`: the same model with some things changed, once more. What is changed is named as in the model: a parameter, a
//! coordinate or its velocity at the start, an entry of the run table.

use crate::args::ShowArgs;
use crate::failure::Failure;
use crate::load::{self, Loaded, suggestion};
use crate::simulate::{Prepared, prepare};
use carom_mech::{Diagnostic, Draft, schema};
use carom_run::{Motion, Options, Sampling};
use carom_show::plot;

/// A run to compare with.
pub struct Other {
    label: String,
    prepared: Prepared,
    motion: Motion,
}

impl Other {
    /// As the plots want it.
    pub fn run(&self) -> plot::ComparedRun<'_> {
        plot::ComparedRun {
            label: self.label.clone(),
            mechanics: &self.prepared.mechanics,
            motion: &self.motion,
        }
    }
}

/// Simulates every run that `--compare` asks for: what `loaded` is, changed; sampled at the times of `base`.
///
/// # Errors
/// If a name is unknown, a value wrong, or the model with them is; already reported then.
pub fn runs(args: &ShowArgs, loaded: &Loaded, base: &Motion) -> Result<Vec<Other>, Failure> {
    let mut others: Vec<Other> = Vec::new();
    for changes in &args.compare {
        let mut loaded = loaded.clone();
        change(&mut loaded, changes);
        let label = match step_left_out(&loaded.draft, changes, base) {
            Some(step) => {
                loaded.problems.extend(loaded.draft.set_run("step", &step));
                format!("{changes}, step={step}")
            }
            None => changes.clone(),
        };
        let (file, level) = (loaded.file.clone(), loaded.level);
        let model = loaded.check(true)?;
        let mut options = Options::of(&model);
        let prepared = prepare(model, &file, level)?;
        options.sampling = Sampling::At(times(base, options.start.time, options.until));
        let motion = prepared.simulate(&options, 1, args.model.quiet, &file)?;
        if !args.model.quiet {
            let warnings: Vec<Diagnostic> =
                motion.warnings.iter().map(|w| Diagnostic::warning(format!("{label}: {w}"))).collect();
            load::report(&warnings, &file, false);
        }
        others.push(Other { label, prepared, motion });
    }
    Ok(others)
}

/// `method=rk4` alone: one step from sample to sample, as the usual loop takes them. `None` if a step is given, or none needed.
fn step_left_out(draft: &Draft, changes: &str, base: &Motion) -> Option<String> {
    let fixed = parts(changes).iter().any(|part| {
        part.split_once('=').is_some_and(|(name, value)| name.trim() == "method" && value.trim() == "rk4")
    });
    if !fixed || draft.run.iter().any(|(word, _)| word.text == "step") {
        return None;
    }
    let (first, last) = (base.time.first()?, base.time.last()?);
    let step = (last - first).abs() / (base.time.len().max(2) - 1) as f64;
    // Two digits are enough to be read, and to be typed again.
    let step: f64 = format!("{step:.1e}").parse().ok()?;
    (step > 0.0 && step.is_finite()).then(|| step.to_string())
}

/// The times of `base` that lie in this run, and as densely the times beyond them.
fn times(base: &Motion, from: f64, until: f64) -> Vec<f64> {
    let (low, high) = (from.min(until), from.max(until));
    let mut times: Vec<f64> = base.time.iter().copied().filter(|t| (low..=high).contains(t)).collect();
    let spread = |times: &[f64]| {
        let ends = (
            times.iter().copied().fold(f64::INFINITY, f64::min),
            times.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        );
        (ends.0, ends.1, (ends.1 - ends.0) / (times.len().max(2) - 1) as f64)
    };
    let (first, last, step) = spread(&base.time);
    let step = if step > 0.0 && step.is_finite() { step } else { (high - low) / 200.0 };
    if step.is_nan() || step <= 0.0 || (high - low) / step > 2e5 {
        return vec![from, until];
    }
    let beyond =
        |edge: f64, end: f64| (1..).map(move |k| edge + f64::from(k) * step).take_while(move |t| *t < end);
    times.extend(beyond(last, high).collect::<Vec<f64>>());
    times.extend(beyond(-first, -low).map(|t| -t).collect::<Vec<f64>>());
    times.extend([from, until]);
    times.sort_by(f64::total_cmp);
    times.dedup();
    times
}

/// Applies `g=1.62, theta=0.3, method=rk4`.
fn change(loaded: &mut Loaded, changes: &str) {
    for part in parts(changes) {
        let Some((name, value)) = part.split_once('=') else {
            loaded.problems.push(
                Diagnostic::error(format!("`{part}` in --compare is not NAME=VALUE")).with_hint(
                    "write for example --compare \"g=1.62\" or --compare \"method=rk4,step=0.01\"",
                ),
            );
            continue;
        };
        let (name, value) = (name.trim(), value.trim());
        let found = target(&loaded.draft, name);
        let draft = &mut loaded.draft;
        let problems = match found {
            Ok(ChangedTable::Parameter) => draft.set_parameter(&format!("{name}={value}")),
            Ok(ChangedTable::Start) => draft.set_start(&format!("{name}={value}")),
            Ok(ChangedTable::Run) => draft.set_run(name, value),
            Err(problem) => vec![*problem],
        };
        loaded.problems.extend(problems);
    }
}

enum ChangedTable {
    Parameter,
    Start,
    Run,
}

fn target(draft: &Draft, name: &str) -> Result<ChangedTable, Box<Diagnostic>> {
    let bare = name.trim_end_matches(['\'', '′', '’']);
    if draft.parameters.iter().any(|(word, _)| word.text == name) {
        return Ok(ChangedTable::Parameter);
    }
    if draft.coordinates.iter().any(|c| c.text == bare) || draft.momentum_names().iter().any(|p| p == name) {
        return Ok(ChangedTable::Start);
    }
    if schema::keys("run").any(|key| key == name) {
        return Ok(ChangedTable::Run);
    }
    let parameters = draft.parameters.iter().map(|(word, _)| word.text.clone());
    let coordinates = draft.coordinates.iter().flat_map(|c| [c.text.clone(), format!("{}'", c.text)]);
    let known: Vec<String> =
        parameters.chain(coordinates).chain(schema::keys("run").map(str::to_owned)).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let hint = match suggestion(name, &known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", known.join(", ")),
    };
    Err(Box::new(Diagnostic::error(format!("unknown name `{name}` in --compare")).with_hint(hint)))
}

/// Splits at commas outside of brackets.
fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0i32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts.into_iter().map(str::trim).filter(|p| !p.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_step_that_is_not_given_goes_from_sample_to_sample() {
        let base = Motion { time: vec![0.0, 0.5, 1.0, 1.5], ..Motion::default() };
        let (mut draft, _) = Draft::parse("coordinates = [\"x\"]\n", "m.toml");
        assert_eq!(step_left_out(&draft, "g=1, method = rk4", &base).as_deref(), Some("0.5"));
        assert_eq!(step_left_out(&draft, "method=taylor", &base), None);
        draft.set_run("step", "0.01");
        assert_eq!(step_left_out(&draft, "method=rk4", &base), None);
    }

    #[test]
    fn commas_in_brackets_do_not_separate() {
        assert_eq!(parts("g=1, m=min(1, 2),x'=3"), ["g=1", "m=min(1, 2)", "x'=3"]);
        assert_eq!(parts(" ,"), Vec::<&str>::new());
    }

    #[test]
    fn another_run_is_sampled_where_the_first_one_is_and_as_densely_beyond() {
        let base = Motion { time: vec![0.0, 1.0, 2.0], ..Motion::default() };
        assert_eq!(times(&base, 0.0, 1.5), [0.0, 1.0, 1.5]);
        assert_eq!(times(&base, 0.0, 4.0), [0.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!(times(&base, -1.5, 1.0), [-1.5, -1.0, 0.0, 1.0]);
    }
}
