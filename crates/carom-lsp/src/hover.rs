//! What stands here: what it is, its value, its unit, its formula and the formula's derivative.

use crate::analysis::OpenDocument;
use crate::names::{self, NameKind};
use carom_expr::{Dag, Expr, Function, Style};
use carom_mech::draft::{FormulaKind, SignalSource};
use carom_mech::{Model, schema};
use serde_json::{Value, json};
use std::ops::Range;

/// Longer formulas are not shown.
const LONGEST: usize = 400;

/// The hover at a byte.
pub fn hover(document: &OpenDocument, offset: usize) -> Option<Value> {
    let (lines, range) = match names::at(&document.draft, offset) {
        Some((made, range)) => (name(document, &made), range),
        None => word(document, offset)?,
    };
    let value = lines.join("\n\n");
    Some(json!({ "contents": { "kind": "markdown", "value": value }, "range": document.text.range(&range) }))
}

fn name(document: &OpenDocument, made: &names::NameMade) -> Vec<String> {
    let name = &made.name;
    let mut lines = vec![format!("**`{name}`**: {}", made.kind.word())];
    let written = written(document, made);
    let model = document.model.as_ref();
    let mut facts = Vec::new();
    if let Some(written) = &written {
        facts.push(format!("`{name} = {written}`"));
    }
    if let Some(value) = model.and_then(|m| value(m, made)) {
        facts.push(value);
    }
    if let Some(shown) = model.and_then(|m| m.shown_unit(&signal(made))) {
        facts.push(format!("in {}", shown.label));
    }
    if !facts.is_empty() {
        lines.push(facts.join(", "));
    }
    if let Some((what, derivative)) = model.and_then(|m| derivative(m, made)) {
        lines.push(format!("`{what} = {derivative}`"));
    }
    lines
}

fn signal(made: &names::NameMade) -> String {
    match made.kind {
        NameKind::Wall => format!("gap.{}", made.name),
        NameKind::Row => format!("mu.{}", made.name),
        _ => made.name.clone(),
    }
}

/// The formula as it is written.
fn written(document: &OpenDocument, made: &names::NameMade) -> Option<String> {
    let draft = &document.draft;
    let find = |list: &[(carom_mech::draft::Word, carom_mech::draft::Formula)]| {
        let found = list.iter().find(|(word, _)| word.text == made.name).map(|(_, f)| f);
        found.filter(|f| f.kind != FormulaKind::Broken).map(|f| f.text.clone())
    };
    let text = match made.kind {
        NameKind::Parameter => find(&draft.parameters),
        NameKind::Definition => find(&draft.definitions),
        NameKind::Output => find(&draft.outputs),
        NameKind::Row => find(&draft.holonomic).or_else(|| find(&draft.nonholonomic)),
        NameKind::Coordinate => find(&draft.driven),
        NameKind::Wall => {
            draft.walls.iter().find(|w| w.name.text == made.name)?.gap.as_ref().map(|f| f.text.clone())
        }
        NameKind::Input => match &draft.inputs.iter().find(|u| u.name.text == made.name)?.signal {
            SignalSource::Formula(formula) => Some(formula.text.clone()),
            _ => None,
        },
        _ => None,
    }?;
    (text.len() <= LONGEST).then(|| text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The value of a parameter, the start of a coordinate.
fn value(model: &Model, made: &names::NameMade) -> Option<String> {
    match made.kind {
        NameKind::Parameter => {
            let value = model.parameters.iter().find(|p| p.name == made.name)?.value;
            Some(format!("value {value}"))
        }
        NameKind::Coordinate => {
            let i = model.coordinates.iter().position(|c| c.name == made.name)?;
            let start = |list: &[Option<f64>]| list.get(i).copied().flatten();
            let position = start(&model.start.position).unwrap_or(0.0);
            Some(match start(&model.start.velocity) {
                Some(velocity) => format!("starts at {position} with velocity {velocity}"),
                None => format!("starts at {position}"),
            })
        }
        _ => None,
    }
}

/// The time derivative of a formula.
fn derivative(model: &Model, made: &names::NameMade) -> Option<(String, String)> {
    let find = |list: &[carom_mech::Named]| list.iter().find(|n| n.name == made.name).map(|n| n.expr);
    let (what, e) = match made.kind {
        NameKind::Definition => (format!("{}'", made.name), find(&model.definitions)?),
        NameKind::Wall => ("gap rate".to_owned(), model.walls.iter().find(|w| w.name == made.name)?.gap),
        NameKind::Row => {
            (format!("d/dt {}", made.name), model.rows.iter().find(|r| r.name == made.name)?.expr)
        }
        _ => return None,
    };
    let mut dag = model.dag.clone();
    let rate = rate(&mut dag, model, e)?;
    let rate = dag.simplify(rate);
    let text = dag.print(rate, Style::Text);
    (text.len() <= LONGEST).then_some((what, text))
}

/// ė = Σ (∂e/∂q) q′ + (∂e/∂q′) q″ + ∂e/∂t + Σ (∂e/∂u) u′; none when a momentum takes part.
fn rate(dag: &mut Dag, model: &Model, e: Expr) -> Option<Expr> {
    let inside = dag.reachable(&[e]);
    if model.coordinates.iter().any(|c| inside.contains(&c.momentum)) {
        return None;
    }
    let mut rates: Vec<(Expr, Expr)> = vec![(model.time, dag.one())];
    for c in &model.coordinates {
        rates.extend([(c.position, c.velocity), (c.velocity, c.acceleration)]);
    }
    rates.extend(model.inputs.iter().flat_map(|u| [(u.value, u.rate), (u.rate, u.second)]));
    let mut parts = Vec::new();
    for (symbol, rate) in rates.into_iter().filter(|(symbol, _)| inside.contains(symbol)) {
        let d = dag.derivative(e, symbol);
        parts.push(dag.mul(d, rate));
    }
    Some(dag.sum(&parts))
}

/// A function or a key.
fn word(document: &OpenDocument, offset: usize) -> Option<(Vec<String>, Range<usize>)> {
    let text = &document.text.text;
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let start = text
        .get(..offset)?
        .char_indices()
        .rev()
        .take_while(|(_, c)| part(*c))
        .last()
        .map_or(offset, |(i, _)| i);
    let end =
        offset + text.get(offset..)?.chars().take_while(|c| part(*c)).map(char::len_utf8).sum::<usize>();
    let word = text.get(start..end).filter(|w| !w.is_empty())?;
    let (line, _) = document.text.position(start);
    let in_formula = document.text.line(line).split('=').nth(1).is_some_and(|v| v.contains(word))
        && !document.text.line(line).trim_start().starts_with(word);
    if in_formula {
        return function(word).map(|lines| (lines, start..end));
    }
    let entry = schema::schema().iter().filter(|e| e.key == word);
    let table = table_of(document, line);
    let entry = entry.clone().find(|e| e.table == table).or_else(|| entry.clone().next())?;
    let lines = vec![format!("**`{word}`**: {}", entry.shape.form()), entry.meaning.to_owned()];
    Some((lines, start..end))
}

fn table_of(document: &OpenDocument, line: usize) -> String {
    let headers = (0..line).rev().filter_map(|above| document.text.line(above).trim().strip_prefix('['));
    let name = headers.map(|h| h.split([']', '.']).next().unwrap_or("").trim()).next().unwrap_or("");
    match name {
        "wall" | "force" | "body" | "event" => format!("{name}.*"),
        name => name.to_owned(),
    }
}

/// A function and its derivative.
fn function(name: &str) -> Option<Vec<String>> {
    if name == "pi" {
        return Some(vec!["**`pi`**: 3.141592653589793".to_owned()]);
    }
    let mut dag = Dag::new();
    let (x, y) = (dag.symbol("x"), dag.symbol("y"));
    let (written, e) = if name == "sqrt" {
        ("sqrt(x)".to_owned(), dag.sqrt(x))
    } else {
        let f = Function::ALL.into_iter().find(|f| f.name() == name)?;
        match f.arity() {
            2 => (format!("{name}(x, y)"), dag.function(f, &[x, y])),
            _ => (format!("{name}(x)"), dag.function(f, &[x])),
        }
    };
    let d = dag.derivative(e, x);
    let d = dag.simplify(d);
    let derivative = dag.print(d, Style::Text);
    Some(vec![format!("**`{written}`**: function"), format!("derivative by x: `{derivative}`")])
}
