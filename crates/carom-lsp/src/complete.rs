//! What may be typed here: tables, keys, names, functions, units, choices.

use crate::analysis::OpenDocument;
use crate::names::{NameKind, made};
use carom_expr::Function;
use carom_mech::{schema, units};
use serde_json::{Value, json};

// Kinds of the protocol.
const FUNCTION: u64 = 3;
const VARIABLE: u64 = 6;
const MODULE: u64 = 9;
const PROPERTY: u64 = 10;
const UNIT: u64 = 11;
const VALUE: u64 = 12;
const CONSTANT: u64 = 21;

/// Something to offer.
struct Item {
    label: String,
    kind: u64,
    detail: String,
}

fn item(label: impl Into<String>, kind: u64, detail: impl Into<String>) -> Item {
    Item { label: label.into(), kind, detail: detail.into() }
}

/// The completions at a byte.
pub fn complete(document: &OpenDocument, offset: usize) -> Value {
    let text = &document.text;
    let (line, _) = text.position(offset);
    let start = text.offset(line, 0);
    let before = text.text.get(start..offset).unwrap_or("");
    let word_start = offset - word_before(before).len();
    let table = table_at(document, line);
    let items = match where_is(before) {
        Where::Comment => Vec::new(),
        Where::Header => tables(),
        Where::Key => keys(document, &table),
        Where::Value { key, text: true } => values(document, &table, &key),
        Where::Value { .. } => Vec::new(),
        Where::InnerKey => coordinate_keys(document),
    };
    let range = text.range(&(word_start..offset));
    let items: Vec<Value> = items
        .into_iter()
        .enumerate()
        .map(|(i, item)| {
            json!({
                "label": item.label,
                "kind": item.kind,
                "detail": item.detail,
                "sortText": format!("{i:04}"),
                "textEdit": { "range": range, "newText": item.label },
            })
        })
        .collect();
    json!(items)
}

/// What a position on a line is for.
enum Where {
    Comment,
    Header,
    Key,
    /// After `key =`, inside quotes or not.
    Value {
        key: String,
        text: bool,
    },
    /// A key inside `{ … }`.
    InnerKey,
}

fn where_is(before: &str) -> Where {
    let (mut quote, mut equals, mut braces) = (None, None, 0_usize);
    let mut inner_equals = false;
    let mut escaped = false;
    for (i, c) in before.char_indices() {
        match (quote, c) {
            (Some('"'), '\\') if !escaped => {
                escaped = true;
                continue;
            }
            (Some(q), c) if c == q && !escaped => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '#') => return Where::Comment,
            (None, '=') if equals.is_none() => equals = Some(i),
            (None, '=') => inner_equals = true,
            (None, '{') => {
                braces += 1;
                inner_equals = false;
            }
            (None, '}') => braces = braces.saturating_sub(1),
            (None, ',') if braces > 0 => inner_equals = false,
            _ => {}
        }
        escaped = false;
    }
    let Some(equals) = equals else {
        let trimmed = before.trim_start();
        return if trimmed.starts_with('[') { Where::Header } else { Where::Key };
    };
    if braces > 0 && !inner_equals {
        return Where::InnerKey;
    }
    let key = before[..equals].trim().trim_matches('"').to_owned();
    Where::Value { key, text: quote.is_some() }
}

/// The part of a word before the cursor, primes excluded.
fn word_before(before: &str) -> &str {
    let start = before
        .char_indices()
        .rev()
        .take_while(|(_, c)| c.is_alphanumeric() || *c == '_' || matches!(c, '°' | 'µ'))
        .last()
        .map_or(before.len(), |(i, _)| i);
    &before[start..]
}

/// The table a line belongs to, as the schema calls it: `wall.*`.
fn table_at(document: &OpenDocument, line: usize) -> String {
    for above in (0..line).rev() {
        let text = document.text.line(above).trim();
        if let Some(header) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            let name = header.0.trim();
            let first = name.split('.').next().unwrap_or("").trim();
            let labelled = matches!(first, "wall" | "force" | "body" | "event");
            return if labelled { format!("{first}.*") } else { first.to_owned() };
        }
    }
    String::new()
}

fn tables() -> Vec<Item> {
    schema::tables()
        .into_iter()
        .map(|table| {
            let named = matches!(table, "wall" | "force" | "body" | "event");
            let label = if named { format!("{table}.name") } else { table.to_owned() };
            item(label, MODULE, if named { "a table with a name of your own" } else { "a table" })
        })
        .collect()
}

fn keys(document: &OpenDocument, table: &str) -> Vec<Item> {
    match table {
        "units" => {
            let mut items: Vec<Item> = made(&document.draft)
                .into_iter()
                .filter(|m| m.kind.in_formulas() || m.kind == NameKind::Output)
                .map(|m| item(m.name, VARIABLE, m.kind.word()))
                .collect();
            items.push(item("t", VARIABLE, "the time"));
            items
        }
        "driven" => names(document, |kind| kind == NameKind::Coordinate),
        _ => {
            let entries = schema::schema().iter().filter(|e| e.table == table && e.key != "*");
            entries.map(|e| item(e.key, PROPERTY, format!("{}: {}", e.shape.form(), e.meaning))).collect()
        }
    }
}

fn coordinate_keys(document: &OpenDocument) -> Vec<Item> {
    names(document, |kind| matches!(kind, NameKind::Coordinate | NameKind::Momentum))
}

fn names(document: &OpenDocument, wanted: impl Fn(NameKind) -> bool) -> Vec<Item> {
    let all = made(&document.draft).into_iter().filter(|m| wanted(m.kind));
    all.map(|m| item(m.name, VARIABLE, m.kind.word())).collect()
}

fn values(document: &OpenDocument, table: &str, key: &str) -> Vec<Item> {
    if table == "units" {
        let all = units::listed().iter().map(|u| item(u.name, UNIT, u.word));
        return ["kg", "cm", "mm", "km", "ms", "kN"]
            .iter()
            .map(|u| item(*u, UNIT, "with a prefix"))
            .chain(all)
            .collect();
    }
    let choices: &[&str] = match (table, key) {
        ("run", "method") => &["taylor", "rk4"],
        ("run", "impact_order") => &["simultaneous", "sequential"],
        ("event.*", "direction") => &["rising", "falling", "both"],
        ("event.*", "action") => &["record", "stop", "set"],
        ("", "name" | "coordinates" | "momenta") => return Vec::new(),
        _ => &[],
    };
    if !choices.is_empty() {
        return choices.iter().map(|c| item(*c, VALUE, "a choice")).collect();
    }
    let mut items = names(document, |kind| match table {
        "parameters" => kind == NameKind::Parameter,
        "view" => kind.in_formulas() || kind == NameKind::Body,
        _ => kind.in_formulas(),
    });
    items.retain(|i| i.label != key);
    if table == "view" {
        items.push(item("origin", CONSTANT, "the origin of drawings"));
    }
    if table != "parameters" {
        items.push(item("t", CONSTANT, "the time"));
    }
    items.push(item("pi", CONSTANT, "3.14159…"));
    items.push(item("sqrt", FUNCTION, "sqrt(x)"));
    for f in Function::ALL {
        let arguments = if f.arity() == 2 { "a, b" } else { "x" };
        items.push(item(f.name(), FUNCTION, format!("{}({arguments})", f.name())));
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(text: &str) -> Vec<String> {
        let offset = text.find('|').unwrap();
        let text = text.replacen('|', "", 1);
        let mut document = OpenDocument::new(text, "file:///m.toml", None);
        document.check();
        let list = complete(&document, offset);
        list.as_array().unwrap().iter().map(|i| i["label"].as_str().unwrap().to_owned()).collect()
    }

    const HEAD: &str =
        "coordinates = [\"x\", \"theta\"]\n[parameters]\nm = 1\nk = 2\n[define]\nr = \"x^2\"\n";

    #[test]
    fn every_kind_of_place_offers_what_may_stand_there() {
        for (typed, wanted, unwanted) in [
            ("[energy]\nki|", "kinetic", "gap"),
            ("[wall.left]\n|", "gap", "kinetic"),
            ("[wa|", "wall.name", "gap"),
            ("[energy]\nkinetic = \"m/2*th|", "theta", "gap"),
            ("[energy]\nkinetic = \"m/2*|", "r", "kinetic"),
            ("[energy]\nkinetic = \"sq|", "sqrt", "gap"),
            ("[units]\n|", "theta", "kinetic"),
            ("[units]\ntheta = \"d|", "deg", "theta"),
            ("[run]\nmethod = \"|", "taylor", "x"),
            ("[start]\nposition = { |", "theta", "m"),
            ("[start]\nposition = { x = \"|", "k", "gap"),
            ("[driven]\n|", "theta", "m"),
        ] {
            let found = offered(&format!("{HEAD}{typed}"));
            assert!(found.iter().any(|l| l == wanted), "{typed}: {found:?}");
            assert!(found.iter().all(|l| l != unwanted), "{typed}: {found:?}");
        }
        assert!(offered(&format!("{HEAD}# com|")).is_empty());
        assert!(offered("|coordinates = [\"x\"]").contains(&"lagrangian".to_owned()));
        // A parameter is made of parameters.
        let found = offered("coordinates = [\"x\"]\n[parameters]\nm = 1\nk = \"|\"");
        assert!(
            found.contains(&"m".to_owned())
                && !found.contains(&"x".to_owned())
                && !found.contains(&"k".to_owned())
        );
    }
}
