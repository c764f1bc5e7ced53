//! What a row of the plan changes: starts directly, parameters through the draft, so that formulas of parameters (other
//! parameters, the start) follow.

use super::plan::Plan;
use crate::failure::Failure;
use crate::load::suggestion;
use carom::{Draft, Model, Options, Physics};

/// What each varied name is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Target {
    Parameter,
    Position(usize),
    Velocity(usize),
    Momentum(usize),
}

/// The names of a plan, resolved.
pub struct Variation {
    draft: Draft,
    names: Vec<String>,
    targets: Vec<Target>,
}

impl Variation {
    /// Resolves the names of a plan.
    ///
    /// # Errors
    /// If a name is unknown, or cannot be varied.
    pub fn new(model: &Model, draft: Draft, plan: &Plan) -> Result<Variation, Failure> {
        let hamiltonian = matches!(model.physics, Physics::Hamiltonian(_));
        let mut targets = Vec::new();
        let mut problems = Vec::new();
        for name in &plan.names {
            match target(model, name, hamiltonian) {
                Ok(target) => targets.push(target),
                Err(problem) => problems.push(problem),
            }
        }
        if !problems.is_empty() {
            return Err(Failure::wrong(problems.join("\n")));
        }
        Ok(Variation { draft, names: plan.names.clone(), targets })
    }

    /// The options of one row.
    ///
    /// # Errors
    /// A sentence, if these values make no valid model.
    pub fn options(&self, base: &Options, row: &[f64]) -> Result<Options, String> {
        let mut options = base.clone();
        if self.targets.contains(&Target::Parameter) {
            let mut draft = self.draft.clone();
            for ((name, target), value) in self.names.iter().zip(&self.targets).zip(row) {
                if *target == Target::Parameter {
                    draft.set_parameter(&format!("{name}={value:?}"));
                }
            }
            for (name, value, start) in self.starts(row) {
                if start {
                    draft.set_start(&format!("{name}={value:?}"));
                }
            }
            let sentence = |problems: Vec<carom::Diagnostic>| {
                problems.first().map_or_else(|| "not a valid model".to_owned(), |p| p.message.clone())
            };
            let (model, _) = draft.check().map_err(sentence)?;
            let own = Options::of(&model);
            options.parameters = own.parameters;
            options.start = own.start;
            return Ok(options);
        }
        for (target, value) in self.targets.iter().zip(row) {
            match *target {
                Target::Position(i) => options.start.position[i] = Some(*value),
                Target::Velocity(i) => options.start.velocity[i] = Some(*value),
                Target::Momentum(i) => options.start.momentum[i] = Some(*value),
                Target::Parameter => {}
            }
        }
        Ok(options)
    }

    fn starts<'a>(&'a self, row: &'a [f64]) -> impl Iterator<Item = (&'a str, f64, bool)> {
        let named = self.names.iter().zip(&self.targets).zip(row);
        named.map(|((name, target), value)| (name.as_str(), *value, *target != Target::Parameter))
    }
}

fn target(model: &Model, name: &str, hamiltonian: bool) -> Result<Target, String> {
    if model.parameters.iter().any(|p| p.name == name) {
        return Ok(Target::Parameter);
    }
    for (i, c) in model.coordinates.iter().enumerate() {
        let momentum =
            if c.momentum_name == c.name { format!("p_{}", c.name) } else { c.momentum_name.clone() };
        let target = if name == c.name {
            Target::Position(i)
        } else if name.strip_suffix('\'') == Some(&c.name) {
            Target::Velocity(i)
        } else if name == momentum {
            Target::Momentum(i)
        } else {
            continue;
        };
        return match target {
            _ if c.driven.is_some() => Err(format!("`{name}` cannot be varied: {} is driven", c.name)),
            Target::Velocity(_) if hamiltonian => {
                Err(format!("`{name}` cannot be varied: this model starts from momenta; vary {momentum}"))
            }
            Target::Momentum(_) if !hamiltonian => {
                Err(format!("`{name}` cannot be varied: this model starts from velocities; vary {}'", c.name))
            }
            target => Ok(target),
        };
    }
    let mut names: Vec<String> = model.parameters.iter().map(|p| p.name.clone()).collect();
    for c in &model.coordinates {
        names.extend([c.name.clone(), format!("{}'", c.name)]);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let hint = match suggestion(name, &names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", names.join(", ")),
    };
    Err(format!("unknown name `{name}` to vary; {hint}"))
}
