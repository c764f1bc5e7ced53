//! What a row of the plan changes: starts and parameters, and what follows from them: other parameters, formulas in the
//! start and in the run settings, what the constraint rows determine.
//!
//! Promise: a row is simulated exactly as `carom run` with the same `--set` and `--start` would. Where that only means other
//! numbers ([`Incremental`]) they are computed here; everything else goes through the draft, which also words what is wrong.

use super::plan::Plan;
use crate::failure::Failure;
use crate::load::suggestion;
use carom_mech::{Draft, Model, Physics};
use carom_run::{Incremental, Options, Varied};

/// The names of a plan, resolved.
pub struct VariedNames {
    draft: Draft,
    names: Vec<String>,
    targets: Vec<Varied>,
    incremental: Option<Incremental>,
}

impl VariedNames {
    /// Resolves the names of a plan.
    ///
    /// # Errors
    /// If a name is unknown, or cannot be varied.
    pub fn new(model: &Model, draft: Draft, plan: &Plan) -> Result<VariedNames, Failure> {
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
        let incremental = Incremental::new(model, &draft, &targets);
        Ok(VariedNames { draft, names: plan.names.clone(), targets, incremental })
    }

    /// The options of one row; `base` says what is not the model's to say.
    ///
    /// # Errors
    /// A sentence, if these values make no valid model.
    pub fn options(&self, base: &Options, row: &[f64]) -> Result<Options, String> {
        if let Some(options) = self.incremental.as_ref().and_then(|i| i.options(base, &self.targets, row)) {
            return Ok(options);
        }
        self.checked(base, row)
    }

    /// The same through the draft.
    fn checked(&self, base: &Options, row: &[f64]) -> Result<Options, String> {
        let sentence = |problems: Vec<carom_mech::Diagnostic>| {
            problems.first().map_or_else(|| "not a valid model".to_owned(), |p| p.message.clone())
        };
        let draft = changed(self.draft.clone(), &self.names, row, |k| {
            matches!(self.targets[k], Varied::Parameter(_))
        });
        let (model, _) = draft.check().map_err(sentence)?;
        let sampling = base.sampling.clone();
        Ok(Options { sampling, sensitivity: base.sensitivity, ..Options::of(&model) })
    }
}

/// A draft with other numbers.
fn changed(mut draft: Draft, names: &[String], row: &[f64], parameter: impl Fn(usize) -> bool) -> Draft {
    for (k, (name, value)) in names.iter().zip(row).enumerate() {
        // What cannot be set was refused before.
        let _ = match parameter(k) {
            true => draft.set_parameter(&format!("{name}={value:?}")),
            false => draft.set_start(&format!("{name}={value:?}")),
        };
    }
    draft
}

/// The model of a draft that is right only with values of the plan: one without a start of its own, for example.
pub fn first_right(draft: &Draft, plan: &Plan) -> Option<Model> {
    /// So many rows are tried.
    const TRIES: u64 = 100;
    let is_parameter = |k: usize| draft.parameters.iter().any(|(word, _)| word.text == plan.names[k]);
    let mut row = Vec::new();
    (0..plan.count.min(TRIES)).find_map(|index| {
        plan.row(index, &mut row);
        let draft = changed(draft.clone(), &plan.names, &row, is_parameter);
        draft.check().ok().map(|(model, _)| model)
    })
}

fn target(model: &Model, name: &str, hamiltonian: bool) -> Result<Varied, String> {
    if let Some(i) = model.parameters.iter().position(|p| p.name == name) {
        return Ok(Varied::Parameter(i));
    }
    for (i, c) in model.coordinates.iter().enumerate() {
        let momentum =
            if c.momentum_name == c.name { format!("p_{}", c.name) } else { c.momentum_name.clone() };
        let target = if name == c.name {
            Varied::Position(i)
        } else if name.strip_suffix('\'') == Some(&c.name) {
            Varied::Velocity(i)
        } else if name == momentum {
            Varied::Momentum(i)
        } else {
            continue;
        };
        return match target {
            _ if c.driven.is_some() => Err(format!("`{name}` cannot be varied: {} is driven", c.name)),
            Varied::Velocity(_) if hamiltonian => {
                Err(format!("`{name}` cannot be varied: this model starts from momenta; vary {momentum}"))
            }
            Varied::Momentum(_) if !hamiltonian => {
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
    Err(format!("unknown name `{name}` to vary\n  hint: {hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = r#"
        coordinates = ["x", "y"]
        [parameters]
        l = 2
        k = "1/l"
        twice = "2*half"
        half = "sqrt(l)/2"
        [energy]
        kinetic = "x'^2/2 + l*y'^2/2"
        potential = "k*x^2/2"
        [output]
        slope = "x/(l - 3)"
        [start]
        position = { x = "half", y = "x0" }
        velocity = { y = "-twice" }
        [run]
        until = 5
    "#;

    fn variation(text: &str, names: &[&str]) -> (VariedNames, Options) {
        let (draft, problems) = Draft::parse(text, "m.toml");
        assert!(problems.is_empty());
        let (model, _) = draft.check().unwrap();
        let values: Vec<String> = names.iter().map(|name| format!("{name}=1")).collect();
        let plan = Plan::grid(&values).unwrap();
        (VariedNames::new(&model, draft, &plan).unwrap(), Options::of(&model))
    }

    #[test]
    fn incremental_options_are_the_numbers_of_the_draft() {
        let text = MODEL.replace("\"x0\"", "1");
        for (names, rows) in [
            (&["l"][..], &[&[1.0][..], &[0.7], &[1e-3], &[3.0], &[0.0], &[-1.0]][..]),
            (&["half", "l"], &[&[0.25, 4.0]]),
            (&["x", "y'"], &[&[0.25, 4.0]]),
            (&["x", "l"], &[&[0.1, 0.3]]),
        ] {
            let (variation, base) = variation(&text, names);
            assert!(variation.incremental.is_some(), "{names:?}");
            for row in rows {
                let (fast, slow) = (variation.options(&base, row), variation.checked(&base, row));
                assert_eq!(format!("{fast:?}"), format!("{slow:?}"), "{names:?} {row:?}");
            }
        }
    }

    #[test]
    fn run_settings_made_of_a_varied_parameter_follow_it() {
        let text = MODEL.replace("\"x0\"", "1").replace("until = 5", "until = \"3*l\"\nfrom = \"k/2\"");
        let (variation, base) = variation(&text, &["l"]);
        let options = variation.options(&base, &[4.0]).unwrap();
        assert_eq!((options.start.time, options.until), (0.125, 12.0));
    }

    #[test]
    fn a_dependent_start_follows_the_varied_one() {
        let text = r#"
            coordinates = ["x", "y"]
            [energy]
            kinetic = "x'^2/2 + y'^2/2"
            potential = "y"
            [holonomic]
            slope = "y - 2*x"
            [start]
            position = { x = 1 }
        "#;
        let (variation, base) = variation(text, &["x"]);
        assert_eq!(base.start.position[1], Some(2.0));
        assert_eq!(variation.options(&base, &[3.0]).unwrap().start.position[1], Some(6.0));
    }

    #[test]
    fn a_draft_without_a_right_start_takes_one_from_the_plan() {
        let text = "coordinates = [\"y\"]\n[energy]\nkinetic = \"y'^2/2\"\n[wall.floor]\ngap = \"y - 1\"";
        let (draft, _) = Draft::parse(text, "m.toml");
        assert!(draft.check().is_err());
        let plan = Plan::grid(&["y=-1..3:9".to_owned()]).unwrap();
        assert_eq!(first_right(&draft, &plan).unwrap().start.position, [Some(1.0)]);
    }
}
