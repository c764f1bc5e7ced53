//! Which names exist, which collide, and in which order formulas can be read.

use super::Checker;
use super::scope::NameMeaning;
use crate::draft::{At, Formula, FormulaKind, SignalSource, Word};
use carom_expr::Function;
use std::collections::HashMap;

/// Can this be a name in a formula?
pub(crate) fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(starts_name) && characters.all(|c| starts_name(c) || c.is_ascii_digit())
}

fn starts_name(c: char) -> bool {
    c.is_ascii_alphabetic()
        || c == '_'
        || matches!(c, '\u{391}'..='\u{3a9}' | '\u{3b1}'..='\u{3c9}' | '\u{3d1}' | '\u{3d5}' | '\u{3f5}')
}

/// Is this name taken by the language of formulas?
fn reserved(text: &str) -> Option<&'static str> {
    match text {
        "t" => Some("is the time"),
        "pi" | "π" => Some("is the number π"),
        "origin" => Some("is the origin of drawings"),
        "sqrt" => Some("is a function"),
        _ if Function::ALL.iter().any(|f| f.name() == text) => Some("is a function"),
        _ => None,
    }
}

/// Why a text cannot be a name of a model, as a sentence; `None` for one that can.
///
/// ```
/// assert_eq!(carom_mech::not_a_name("theta1"), None);
/// assert_eq!(carom_mech::not_a_name("sin").as_deref(), Some("`sin` cannot be a name: it is a function"));
/// ```
pub fn not_a_name(text: &str) -> Option<String> {
    if let Some(why) = reserved(text) {
        return Some(format!("`{text}` cannot be a name: it {why}"));
    }
    (!is_name(text)).then(|| format!("`{text}` is not a name: names are made of letters, digits and _"))
}

/// Something that is made of other names.
type NameNode<'d> = (NameMeaning, &'d Word, &'d Formula);

impl Checker<'_> {
    /// Enters every name of the shared namespace, reporting collisions.
    pub fn enter_names(&mut self) {
        let draft = self.draft;
        self.scope.names.insert("t".to_owned(), NameMeaning::Time);
        let mut seen = HashMap::new();
        for (i, word) in draft.coordinates.iter().enumerate() {
            self.enter(&mut seen, word, NameMeaning::Coordinate(i));
        }
        if let Some((names, _)) = &draft.momenta {
            for (i, word) in names.iter().enumerate().take(draft.coordinates.len()) {
                self.enter(&mut seen, word, NameMeaning::Momentum(i));
            }
        } else if draft.hamiltonian.is_some() {
            for (i, word) in draft.coordinates.iter().enumerate() {
                let word = Word { text: format!("p_{}", word.text), at: word.at };
                if is_name(&word.text) && !seen.contains_key(&word.text) {
                    self.enter(&mut seen, &word, NameMeaning::Momentum(i));
                }
            }
        }
        for (i, (word, _)) in draft.parameters.iter().enumerate() {
            self.enter(&mut seen, word, NameMeaning::Parameter(i));
        }
        for (i, (word, _)) in draft.definitions.iter().enumerate() {
            self.enter(&mut seen, word, NameMeaning::Definition(i));
        }
        for (i, input) in draft.inputs.iter().enumerate() {
            self.enter(&mut seen, &input.name, NameMeaning::Input(i));
        }
        for (word, _) in &draft.outputs {
            self.enter(&mut seen, word, NameMeaning::Output);
        }
        // A Lagrangian model has momenta p_x as well, where the name is free.
        if draft.momenta.is_none() && draft.hamiltonian.is_none() {
            for (i, word) in draft.coordinates.iter().enumerate() {
                self.scope.names.entry(format!("p_{}", word.text)).or_insert(NameMeaning::Momentum(i));
            }
        }
    }

    fn enter(&mut self, seen: &mut HashMap<String, At>, word: &Word, meaning: NameMeaning) {
        if !self.valid_name(word, meaning.word()) {
            // Known all the same, so that its uses are not reported as well.
            self.scope.names.entry(word.text.clone()).or_insert(meaning);
            return;
        }
        if let Some(&first) = seen.get(&word.text) {
            let known = self.scope.names.get(&word.text).copied().unwrap_or(meaning);
            let line = self.line(first);
            let message = if std::mem::discriminant(&known) == std::mem::discriminant(&meaning) {
                format!("{} `{}` is listed twice", strip_article(meaning.word()), word.text)
            } else {
                format!("`{}` is already the name of {}", word.text, known.word())
            };
            self.error(word.at, message, format!("the other one is on line {line}; rename one of them"));
            return;
        }
        seen.insert(word.text.clone(), word.at);
        self.scope.names.insert(word.text.clone(), meaning);
        self.scope.order.push(word.text.clone());
    }

    /// Reports labels that cannot be used; each kind of label has a namespace of its own.
    pub fn check_labels(&mut self) {
        let draft = self.draft;
        let rows = draft.holonomic.iter().chain(&draft.nonholonomic).map(|(word, _)| (word, "a row"));
        let labels = rows
            .chain(draft.walls.iter().map(|w| (&w.name, "a wall")))
            .chain(draft.forces.iter().map(|f| (&f.name, "a force")))
            .chain(draft.events.iter().map(|e| (&e.name, "an event")))
            .chain(draft.bodies.iter().map(|b| (&b.name, "a body")));
        for (word, kind) in labels {
            let hint = match kind {
                "a body" => "it is a body: write its position instead, such as its x",
                "a wall" => "it is a wall, not a number: write its gap instead",
                "a row" => "it is a row, not a number: write its formula instead",
                "a force" => "it is a force, not a number: write its components instead",
                _ => "it is an event, not a number",
            };
            self.scope.labels.insert(word.text.clone(), hint.to_owned());
            if word.text.trim().is_empty() || word.text.contains(|c: char| c.is_control() || c == ',') {
                self.error(
                    word.at,
                    format!("this cannot be the name of {kind}"),
                    "use letters, digits and _",
                );
            } else if kind == "a body" && word.text == "origin" {
                self.error(word.at, "`origin` is the origin of drawings", "give the body another name");
            }
        }
        for energy in ["kinetic", "potential", "dissipation", "energy", "lagrangian", "hamiltonian"] {
            let hint =
                format!("give the formula a name in [define], and write that name here and in {energy}");
            self.scope.labels.insert(energy.to_owned(), hint);
        }
        for (word, _) in &draft.nonholonomic {
            if let Some((first, _)) = draft.holonomic.iter().find(|(other, _)| other.text == word.text) {
                let line = self.line(first.at);
                let message = format!("a holonomic row is also called `{}`", word.text);
                self.error(word.at, message, format!("it is on line {line}; rename one of them"));
            }
        }
    }

    fn valid_name(&mut self, word: &Word, kind: &str) -> bool {
        let text = &word.text;
        if let Some(why) = reserved(text) {
            self.error(word.at, format!("`{text}` cannot be {kind}: it {why}"), "choose another name");
            return false;
        }
        if !is_name(text) {
            let hint = if text.ends_with('\'') {
                "list the coordinate only; its velocity x' exists by itself".to_owned()
            } else if text.starts_with(|c: char| c.is_ascii_digit()) {
                "a name starts with a letter".to_owned()
            } else {
                let plain = |c: char| if starts_name(c) || c.is_ascii_digit() { c } else { '_' };
                let better: String = text.chars().map(plain).collect();
                let better = better.trim_matches('_');
                if is_name(better) {
                    format!("names are made of letters, digits and _, such as {better}")
                } else {
                    "names are made of letters, digits and _".to_owned()
                }
            };
            self.error(word.at, format!("`{text}` is not a name"), hint);
            return false;
        }
        if text == "e" {
            let hint = "write exp(1) where you mean Euler's number";
            self.warning(word.at, "here `e` is a name, no longer Euler's number", hint);
        }
        true
    }

    /// Parameters, definitions and formula inputs, each after what it is made of. Those in a cycle are reported and
    /// left out.
    pub fn in_order(&mut self) -> Vec<NameMeaning> {
        let draft = self.draft;
        let mut nodes: Vec<NameNode<'_>> = Vec::new();
        for (i, (word, formula)) in draft.parameters.iter().enumerate() {
            nodes.push((NameMeaning::Parameter(i), word, formula));
        }
        for (i, input) in draft.inputs.iter().enumerate() {
            if let SignalSource::Formula(formula) = &input.signal {
                nodes.push((NameMeaning::Input(i), &input.name, formula));
            }
        }
        for (i, (word, formula)) in draft.definitions.iter().enumerate() {
            nodes.push((NameMeaning::Definition(i), word, formula));
        }
        // A name that is listed twice means its first owner.
        let mut by_name: HashMap<&str, usize> = HashMap::new();
        for (n, (meaning, word, _)) in nodes.iter().enumerate() {
            if self.scope.names.get(&word.text) == Some(meaning) {
                by_name.insert(&word.text, n);
            }
        }
        let uses: Vec<Vec<(usize, usize, usize)>> = nodes
            .iter()
            .map(|(_, _, formula)| {
                let found =
                    if formula.kind == FormulaKind::Text { words_in(&formula.text) } else { Vec::new() };
                let known = |(start, end)| Some((*by_name.get(&formula.text[start..end])?, start, end));
                found.into_iter().filter_map(known).collect()
            })
            .collect();
        let mut order = Vec::new();
        let mut state = vec![Visit::New; nodes.len()];
        for root in 0..nodes.len() {
            if state[root] != Visit::New {
                continue;
            }
            let mut path = vec![(root, 0)];
            state[root] = Visit::Open;
            while let Some((node, next)) = path.last_mut() {
                let node = *node;
                let Some(&(used, start, end)) = uses[node].get(*next) else {
                    path.pop();
                    if state[node] == Visit::Open {
                        state[node] = Visit::Done;
                        order.push(nodes[node].0);
                    }
                    continue;
                };
                *next += 1;
                match state[used] {
                    Visit::New => {
                        state[used] = Visit::Open;
                        path.push((used, 0));
                    }
                    Visit::Open => {
                        let from = path.iter().position(|&(n, _)| n == used).unwrap_or(0);
                        let cycle: Vec<usize> = path[from..].iter().map(|&(n, _)| n).collect();
                        self.report_cycle(&nodes, &cycle, (start, end));
                        for n in cycle {
                            state[n] = Visit::Cyclic;
                        }
                    }
                    Visit::Done | Visit::Cyclic => {}
                }
            }
        }
        order
    }

    fn report_cycle(&mut self, nodes: &[NameNode<'_>], cycle: &[usize], closing: (usize, usize)) {
        let Some(&last) = cycle.last() else { return };
        let (meaning, _, formula) = nodes[last];
        let mut names: Vec<&str> = cycle.iter().map(|&n| nodes[n].1.text.as_str()).collect();
        names.push(names[0]);
        let shown = if names.len() > 12 {
            format!("{} → … → {}", names[..8].join(" → "), names[0])
        } else {
            names.join(" → ")
        };
        let at = self.draft.part_of(formula, closing.0, closing.1);
        let word = strip_article(meaning.word());
        let message = format!("{word} `{}` is made of itself", names[0]);
        self.error(at, message, format!("break the circle {shown}"));
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    New,
    Open,
    Done,
    Cyclic,
}

/// "a coordinate" → "coordinate"
pub(crate) fn strip_article(word: &str) -> &str {
    word.strip_prefix("a ").or_else(|| word.strip_prefix("an ")).unwrap_or(word)
}

/// The names in a formula, as ranges of bytes; numbers such as `1e3` contain none.
pub(crate) fn words_in(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut characters = text.char_indices().peekable();
    while let Some((start, c)) = characters.next() {
        let number = c.is_ascii_digit() || c == '.';
        if !number && !starts_name(c) {
            continue;
        }
        let mut end = start + c.len_utf8();
        while let Some(&(i, next)) = characters.peek() {
            if !(starts_name(next) || next.is_ascii_digit() || (number && next == '.')) {
                break;
            }
            end = i + next.len_utf8();
            characters.next();
        }
        if !number {
            found.push((start, end));
        }
    }
    found
}
