//! `carom run --gradient`: what was typed, as an objective.
//!
//! ```text
//! theta1   sum(theta1)   impact.left.2   impulse.left.2   event.apex.1        what has a name
//! x2^2 + y2^2   sum((x - 1)^2)                                                any other formula: an output of the model for this run
//! weights.csv                                                                 Σ weight · signal; its columns: time, signals
//! ```

use crate::args::SampleArgs;
use crate::failure::Failure;
use crate::fit;
use crate::load::Loaded;
use carom_insight::fit::Data;
use carom_mech::{Draft, Mechanics};
use carom_run::{Direction, Objective, ObjectiveTerm, Observable, Options, Sampling};
use clap::Args;

/// Options of `carom run` about a gradient.
#[derive(Args, Debug)]
pub struct GradientArgs {
    /// The gradient of one number, at a cost that does not grow with what it is taken by: a signal or formula at the end,
    /// `sum(FORMULA)` over the samples, `impact.WALL.N`, `impulse.WALL.N`, `event.NAME.N`, or a csv file of weights
    #[arg(long, value_name = "WHAT", conflicts_with = "sensitivity")]
    pub gradient: Option<String>,

    /// What the gradient is taken by, as --sensitivity names it; everything unless said
    #[arg(long, value_name = "NAMES", requires = "gradient", default_value = "", hide_default_value = true)]
    pub with_respect_to: String,
}

/// What was asked for.
pub struct Question {
    typed: String,
    /// What the model calls it.
    name: String,
    by: String,
    weights: Option<Data>,
}

impl Question {
    /// Understands what was typed; a formula becomes an output.
    ///
    /// # Errors
    /// If a file of weights cannot be read, or says something else than the samples.
    pub fn of(
        args: &GradientArgs,
        samples: &SampleArgs,
        loaded: &mut Loaded,
    ) -> Result<Option<Question>, Failure> {
        let Some(typed) = args.gradient.as_ref().map(|typed| typed.trim().to_owned()) else {
            return Ok(None);
        };
        let by = args.with_respect_to.clone();
        if typed.ends_with(".csv") {
            if samples.at.is_some() || samples.samples.is_some() {
                return Err(Failure::wrong(format!(
                    "{typed} says at which times its weights count\n  hint: leave --at and --samples out"
                )));
            }
            let weights = fit::read(&typed)?;
            if let Some((wall, _)) = weights.impacts.first() {
                return Err(Failure::wrong(format!(
                    "{typed}: `impact.{wall}` is no signal\n  hint: for the time of an impact write --gradient impact.{wall}.1"
                )));
            }
            loaded.draft.note_option(&format!("--gradient {typed}"));
            return Ok(Some(Question { name: typed.clone(), typed, by, weights: Some(weights) }));
        }
        let name = named_quantity(&mut loaded.draft, &typed);
        Ok(Some(Question { typed, name, by, weights: None }))
    }

    /// Sets the options of a run.
    ///
    /// # Errors
    /// If a name is unknown.
    pub fn ask(self, mechanics: &Mechanics, options: &mut Options) -> Result<(), Failure> {
        let mut objective = match &self.weights {
            None => Objective::named(&self.name, &self.by, mechanics).map_err(Failure::wrong)?,
            Some(weights) => self.weighted(weights, mechanics, options)?,
        };
        objective.name = self.typed;
        options.objective = Some(objective);
        Ok(())
    }

    /// Σ weight · signal, sampled where the file says.
    fn weighted(
        &self,
        weights: &Data,
        mechanics: &Mechanics,
        options: &mut Options,
    ) -> Result<Objective, Failure> {
        let (objective, times) = weighted(&weights.signals, &self.by, mechanics)
            .map_err(|sentence| Failure::wrong(format!("{}: {sentence}", self.typed)))?;
        options.sampling = Sampling::At(times);
        Ok(objective)
    }
}

/// What the model calls a quantity: any formula without a name becomes an output.
pub fn named_quantity(draft: &mut Draft, typed: &str) -> String {
    let plain = typed.trim().replace(['′', '’'], "'");
    let inner = plain.strip_prefix("sum(").and_then(|rest| rest.strip_suffix(')')).map(str::trim);
    let formula = inner.unwrap_or(&plain);
    if is_named(draft, formula) {
        draft.note_option(&format!("--gradient {typed}"));
        return plain;
    }
    let output = draft.add_output("--gradient", formula);
    if inner.is_some() { format!("sum({output})") } else { output }
}

/// Weights of a signal, each with its time.
pub type SignalWeights = (String, Vec<(f64, f64)>);

/// Σ weight · signal, and the times at which it must be sampled.
///
/// # Errors
/// A sentence about what there is not.
pub fn weighted(
    signals: &[SignalWeights],
    by: &str,
    mechanics: &Mechanics,
) -> Result<(Objective, Vec<f64>), String> {
    let directions = match by.trim() {
        "" => Direction::all(mechanics),
        list => Direction::named(list, mechanics)?,
    };
    let mut times: Vec<f64> = signals.iter().flat_map(|s| s.1.iter().map(|row| row.0)).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    let known = Observable::all(mechanics);
    let mut terms = Vec::new();
    for (name, rows) in signals {
        let plain = name.replace(['′', '’'], "'");
        let Some((_, signal)) = known.iter().find(|known| known.0 == plain) else {
            let near = carom_expr::nearest(&plain, known.iter().map(|known| &known.0[..]));
            let hint =
                near.map_or("its columns are time and signals".into(), |n| format!("did you mean `{n}`?"));
            return Err(format!("there is no signal `{name}`\n  hint: {hint}"));
        };
        let mut list = vec![0.0; times.len()];
        for (time, weight) in rows {
            if let Ok(place) = times.binary_search_by(|t| t.total_cmp(time)) {
                list[place] += weight;
            }
        }
        terms.push(ObjectiveTerm::Samples(*signal, list));
    }
    Ok((Objective { name: String::new(), terms, directions }, times))
}

/// Does the model have a name for this?
fn is_named(draft: &Draft, text: &str) -> bool {
    let coordinate = draft.coordinates.iter().any(|c| c.text == text.strip_suffix('\'').unwrap_or(text));
    coordinate
        || ["hamiltonian", "energy"].contains(&text)
        || ["impact.", "impulse.", "event."].iter().any(|kind| text.starts_with(kind))
        || draft.momentum_names().iter().any(|p| p == text)
        || draft.outputs.iter().any(|(word, _)| word.text == text)
}
