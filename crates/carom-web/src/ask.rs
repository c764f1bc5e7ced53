//! A question: what it may carry, within limits.

use crate::outline::momentum;
use carom::{Error, Model, Options};
use carom_mech::Mechanics;
use serde_json::Value;

/// What ends a motion early: the limits a question may set, and the most of each.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Limits {
    /// Seconds of computing.
    pub seconds: f64,
    /// Steps.
    pub steps: u64,
    /// Impacts.
    pub impacts: u64,
    /// Samples.
    pub samples: usize,
}

/// Unless a question asks for others; the same as in `protocol.ts`.
pub const LIMITS: Limits = Limits { seconds: 10.0, steps: 2_000_000, impacts: 20_000, samples: 20_001 };
/// No question gets more.
pub const MOST: Limits = Limits { seconds: 120.0, steps: 100_000_000, impacts: 1_000_000, samples: 200_001 };

/// A question.
pub struct Ask<'a>(&'a Value);

impl<'a> Ask<'a> {
    /// Takes an object whose text is not too long.
    pub fn new(value: &'a Value) -> Result<Ask<'a>, String> {
        if !value.is_object() {
            return Err("a question is an object".to_owned());
        }
        match value["text"].as_str() {
            Some(text) if text.len() > crate::MOST_TEXT => {
                Err(format!("the model text is longer than {} MB", crate::MOST_TEXT / 1_000_000))
            }
            _ => Ok(Ask(value)),
        }
    }

    pub fn text(&self) -> &'a str {
        self.0["text"].as_str().unwrap_or("")
    }

    pub fn file(&self) -> &'a str {
        self.0["file"].as_str().filter(|file| !file.is_empty()).unwrap_or("model.toml")
    }

    pub fn tables(&self) -> Vec<(String, String)> {
        let tables = self.0["tables"].as_object();
        let text = |value: &Value| value.as_str().map(|t| t.strip_prefix('\u{feff}').unwrap_or(t).to_owned());
        tables.into_iter().flatten().filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect()
    }

    /// Values of parameters and of the start.
    pub fn values(&self) -> Vec<(&'a str, f64)> {
        let values = self.0["values"].as_object();
        // JSON has no number that is not finite: it arrives as null, and is refused like one.
        values
            .into_iter()
            .flatten()
            .map(|(name, x)| (name.as_str(), x.as_f64().unwrap_or(f64::NAN)))
            .collect()
    }

    pub fn string(&self, key: &str) -> Option<&'a str> {
        self.0[key].as_str()
    }

    pub fn strings(&self, key: &str) -> Option<Vec<&'a str>> {
        Some(self.0[key].as_array()?.iter().filter_map(Value::as_str).collect())
    }

    pub fn number(&self, key: &str) -> Option<f64> {
        self.0[key].as_f64()
    }

    pub fn numbers(&self, key: &str) -> Vec<f64> {
        self.0[key].as_array().into_iter().flatten().map(|x| x.as_f64().unwrap_or(f64::NAN)).collect()
    }

    pub fn count(&self, key: &str) -> Option<usize> {
        self.number(key).filter(|x| *x >= 0.0).map(|x| x as usize)
    }

    pub fn limits(&self) -> Limits {
        let asked = &self.0["limits"];
        let number = |key: &str, usual: f64, most: f64| {
            asked[key].as_f64().filter(|x| x.is_finite() && *x >= 0.0).unwrap_or(usual).min(most)
        };
        Limits {
            seconds: number("seconds", LIMITS.seconds, MOST.seconds),
            steps: number("steps", LIMITS.steps as f64, MOST.steps as f64) as u64,
            impacts: number("impacts", LIMITS.impacts as f64, MOST.impacts as f64) as u64,
            samples: number("samples", LIMITS.samples as f64, MOST.samples as f64) as usize,
        }
    }

    /// How to simulate the model: as it says, with what the question changes, within the limits.
    pub fn options(&self, model: &Model) -> Result<Options, Error> {
        let settings = &carom::doors::checked(model).run;
        let limits = self.limits();
        let mut options = model.options();
        for (name, value) in self.values() {
            options.set(name, value)?;
        }
        // A slider moves one number; what the rows say of the others follows.
        if self.is_projected(model) {
            options.project_start(true);
        }
        options.max_steps(settings.max_steps.min(limits.steps));
        options.max_impacts(settings.max_impacts.min(limits.impacts));
        let samples = self.count("samples").unwrap_or(settings.samples);
        if self.0["samples"].is_number() || samples > limits.samples {
            options.samples(samples.min(limits.samples));
        }
        if let Some(until) = self.number("until") {
            options.until(until);
        }
        if let Some(tolerance) = self.number("tolerance") {
            options.tolerance(tolerance);
        }
        Ok(options)
    }

    /// Is the start moved onto the constraints? Where there are some and a number was changed that they may depend on.
    pub fn is_projected(&self, model: &Model) -> bool {
        !self.values().is_empty() && !carom::doors::checked(model).rows.is_empty()
    }

    /// The mechanics with the numbers of the question, for reports and code that show them: parameters, those that are formulas
    /// of others too, and the start.
    pub fn with_values(&self, model: &Model, mechanics: &Mechanics) -> Result<Mechanics, Error> {
        let mut options = model.options();
        for (name, value) in self.values() {
            options.set(name, value)?;
        }
        let mut mechanics = mechanics.clone();
        for p in &mut mechanics.model.parameters {
            p.value = options.get(&p.name)?.unwrap_or(p.value);
        }
        let changed = |name: &str| self.values().iter().find(|(n, _)| *n == name).map(|(_, x)| *x);
        let inner = &mut mechanics.model;
        for (i, c) in inner.coordinates.iter().enumerate() {
            let start = &mut inner.start;
            let of = [
                (c.name.clone(), &mut start.position),
                (format!("{}'", c.name), &mut start.velocity),
                (momentum(c), &mut start.momentum),
            ];
            for (name, values) in of {
                if let (Some(x), Some(place)) = (changed(&name), values.get_mut(i)) {
                    *place = Some(x);
                }
            }
        }
        Ok(mechanics)
    }
}
