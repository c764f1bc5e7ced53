//! Changes from outside the file: `--set m=2.0`, `--start "theta1=0.1,theta1'=2"`, `--until 20`.
//!
//! They replace what the file says before anything is checked, so the rules and messages are the same.

use super::{Assignment, At, Draft, Formula, FormulaKind, Word};
use crate::diagnostic::{Diagnostic, Place, Source};
use crate::schema;
use carom_expr::nearest;

impl Draft {
    /// Sets parameters: `m=2.0` or `m=2.0, l=pi/2`. Values are numbers or formulas of parameters.
    ///
    /// ```
    /// let text = "coordinates = [\"x\"]\nlagrangian = \"m*x'^2/2\"\n[parameters]\nm = 1";
    /// let (mut draft, _) = carom_mech::Draft::parse(text, "free.toml");
    /// assert!(draft.set_parameter("m=2.5").is_empty());
    /// assert_eq!(draft.check().unwrap().0.parameters[0].value, 2.5);
    /// assert_eq!(draft.set_parameter("M=3")[0].hint.as_deref(), Some("did you mean `m`?"));
    /// ```
    pub fn set_parameter(&mut self, assignments: &str) -> Vec<Diagnostic> {
        let (list, mut problems) = self.option("--set", assignments);
        for (name, value) in list {
            if let Some(entry) = self.parameters.iter_mut().find(|(word, _)| word.text == name.text) {
                entry.1 = value;
                continue;
            }
            let bare = name.text.trim_end_matches('\'');
            let hint = if self.coordinates.iter().any(|c| c.text == bare) {
                format!("`{bare}` is a coordinate; use --start \"{}={}\"", name.text, value.text)
            } else {
                self.suggest(
                    &name.text,
                    self.parameters.iter().map(|(word, _)| word.text.as_str()),
                    "parameters",
                )
            };
            problems.push(self.unknown_option("parameter", &name, hint));
        }
        problems
    }

    /// Sets the start: `theta1=0.1,theta1'=2`; for a Hamiltonian model also momenta, `p1=0.3`.
    pub fn set_start(&mut self, assignments: &str) -> Vec<Diagnostic> {
        let (list, mut problems) = self.option("--start", assignments);
        for (name, value) in list {
            let place = |entries: &mut Vec<Assignment>, text: &str| {
                entries.retain(|(word, _)| word.text.trim_end_matches('\'') != text);
                entries.push((Word { text: text.to_owned(), at: name.at }, value.clone()));
            };
            let bare = name.text.trim_end_matches(['\'', '′', '’']).to_owned();
            let primes = name.text.chars().count() - bare.chars().count();
            let coordinate = self.coordinates.iter().any(|c| c.text == bare);
            let index = self.momentum_names().iter().position(|p| *p == name.text);
            match (coordinate, primes, index) {
                (true, 0, _) => place(&mut self.start.position, &bare),
                (true, 1, _) => place(&mut self.start.velocity, &bare),
                (false, 0, Some(index)) => {
                    // The file may name the momentum by its coordinate.
                    let coordinate = self.coordinates.get(index).map(|c| c.text.clone());
                    self.start.momentum.retain(|(word, _)| Some(&word.text) != coordinate.as_ref());
                    place(&mut self.start.momentum, &bare);
                }
                _ => {
                    let hint = if primes > 1 && coordinate {
                        "a start has positions and velocities; accelerations follow from them".to_owned()
                    } else if self.parameters.iter().any(|(word, _)| word.text == name.text) {
                        format!("`{}` is a parameter; use --set {0}={}", name.text, value.text)
                    } else {
                        let mut names: Vec<String> = Vec::new();
                        for c in &self.coordinates {
                            names.push(c.text.clone());
                            names.push(format!("{}'", c.text));
                        }
                        names.extend(self.momentum_names());
                        self.suggest(&name.text, names.iter().map(String::as_str), "start values")
                    };
                    problems.push(self.unknown_option("start value", &name, hint));
                }
            }
        }
        problems
    }

    /// Sets an entry of `[run]` by its key, as the option of the same name does: `set_run("until", "20")`.
    pub fn set_run(&mut self, key: &str, value: &str) -> Vec<Diagnostic> {
        self.set_run_beside(key, value, &[])
    }

    /// The same, where there are settings besides that belong to the caller and may be meant.
    pub fn set_run_beside(&mut self, key: &str, value: &str, others: &[&'static str]) -> Vec<Diagnostic> {
        // As it was typed.
        let (option, name) = match key {
            "until" | "tolerance" | "samples" => (format!("--{key} "), 0..key.len() + 2),
            _ => (format!("--option {key}="), 9..9 + key.len()),
        };
        let (at, source) = self.option_text(&option, value);
        let name = At { source, start: name.start, end: name.end };
        if !schema::keys("run").any(|k| k == key) {
            let hint = self.suggest(key, schema::keys("run").chain(others.iter().copied()), "run settings");
            let place = self.place(name);
            return vec![Diagnostic::error(format!("unknown run setting `{key}`")).at(place).with_hint(hint)];
        }
        let word = Word { text: key.to_owned(), at: name };
        let formula = Formula { text: value.to_owned(), at, kind: FormulaKind::Text };
        self.run.retain(|(word, _)| word.text != key);
        self.run.push((word, formula));
        Vec::new()
    }

    /// Projects an inconsistent start onto the constraints (`--project`).
    pub fn set_project(&mut self, project: bool) {
        self.start.project = project;
        if project {
            self.note_option("--project");
        }
    }

    /// Notes an option that changes nothing of the model but something of the result, for its provenance: `--at 0,1`.
    pub fn note_option(&mut self, option: &str) {
        self.option_text(option, "");
    }

    /// The place of an option's value that the caller reads, `("--option level=", "avx2")`, for its messages.
    pub fn place_of_option(&mut self, option: &str, value: &str) -> Place {
        let (at, _) = self.option_text(option, value);
        self.place(at)
    }

    /// Adds an output that an option asks for, under a name that the model leaves free; returns the name.
    ///
    /// ```
    /// let text = "coordinates = [\"x\"]\nlagrangian = \"x'^2/2\"";
    /// let (mut draft, _) = carom_mech::Draft::parse(text, "free.toml");
    /// let name = draft.add_output("--gradient", "x^2 + x'^2");
    /// assert_eq!(draft.check().unwrap().0.outputs[0].name, name);
    /// ```
    pub fn add_output(&mut self, option: &str, formula: &str) -> String {
        let (at, _) = self.option_text(&format!("{option} "), formula);
        let tables = [&self.parameters, &self.definitions, &self.outputs];
        let mut taken: Vec<String> = self.coordinates.iter().map(|word| word.text.clone()).collect();
        taken.extend(self.momentum_names());
        taken.extend(tables.into_iter().flatten().map(|(word, _)| word.text.clone()));
        taken.extend(self.inputs.iter().map(|input| input.name.text.clone()));
        let mut names =
            std::iter::once("objective".to_owned()).chain((2..).map(|k| format!("objective_{k}")));
        // There are finitely many names to avoid.
        let name = names.find(|name| !taken.contains(name)).unwrap_or_default();
        let formula = Formula { text: formula.to_owned(), at, kind: FormulaKind::Text };
        self.outputs.push((Word { text: name.clone(), at }, formula));
        name
    }

    /// Names of the momenta, at most one per coordinate: those given, else `p_x`.
    pub fn momentum_names(&self) -> Vec<String> {
        match &self.momenta {
            Some((names, _)) => names.iter().take(self.coordinates.len()).map(|w| w.text.clone()).collect(),
            None => self.coordinates.iter().map(|c| format!("p_{}", c.text)).collect(),
        }
    }

    /// Notes an option's text as a source; its place is that of the value.
    fn option_text(&mut self, option: &str, value: &str) -> (At, usize) {
        if self.sources.is_empty() {
            self.sources.push(Source::new(None, String::new()));
        }
        let source = self.sources.len();
        let text = format!("{option}{value}");
        let at = At { source, start: option.len(), end: text.len() };
        self.sources.push(Source::new(Some("command line".to_owned()), text));
        (at, source)
    }

    /// Splits `a=1, b=f(x, y)` at the commas outside parentheses.
    fn option(&mut self, option: &str, text: &str) -> (Vec<Assignment>, Vec<Diagnostic>) {
        let (all, source) = self.option_text(&format!("{option} "), text);
        let (mut list, mut problems) = (Vec::new(), Vec::new());
        let mut from = 0;
        let mut depth = 0_i64;
        let ends: Vec<usize> = text
            .char_indices()
            .filter_map(|(i, c)| {
                depth += match c {
                    '(' => 1,
                    ')' => -1,
                    _ => 0,
                };
                (c == ',' && depth <= 0).then_some(i)
            })
            .chain([text.len()])
            .collect();
        for end in ends {
            let part = &text[from..end];
            let start = all.start + from;
            from = end + 1;
            if part.trim().is_empty() {
                continue;
            }
            let Some(equals) = part.find('=') else {
                let at = At { source, start, end: start + part.len() };
                problems.push(
                    Diagnostic::error(format!("`{}` is not `name=value`", part.trim()))
                        .at(self.place(at))
                        .with_hint(format!("write {option} \"name=value\", several separated by commas")),
                );
                continue;
            };
            let (name, value) = (&part[..equals], &part[equals + 1..]);
            let lead = name.len() - name.trim_start().len();
            let name_at = At { source, start: start + lead, end: start + lead + name.trim().len() };
            let value_start = start + equals + 1 + (value.len() - value.trim_start().len());
            let value_at = At { source, start: value_start, end: value_start + value.trim().len() };
            list.push((
                Word { text: name.trim().to_owned(), at: name_at },
                Formula { text: value.trim().to_owned(), at: value_at, kind: FormulaKind::Text },
            ));
        }
        (list, problems)
    }

    fn unknown_option(&self, what: &str, name: &Word, hint: String) -> Diagnostic {
        Diagnostic::error(format!("unknown {what} `{}`", name.text)).at(self.place(name.at)).with_hint(hint)
    }

    fn suggest<'a>(&self, word: &str, names: impl Iterator<Item = &'a str>, what: &str) -> String {
        let names: Vec<&str> = names.collect();
        match nearest(word, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if names.is_empty() => format!("this model has no {what}"),
            None => format!("{what} are {}", names.join(", ")),
        }
    }
}
