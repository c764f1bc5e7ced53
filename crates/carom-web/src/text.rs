//! Questions about texts: completion, hover, gallery, the list of keys, the font of formulas.

use crate::Answer;
use crate::ask::Ask;
use carom_mech::{reference, schema, units};
use serde_json::{Value, json};

/// What may be typed here.
pub fn complete(ask: &Ask<'_>) -> Answer {
    let (text, at) = (ask.text(), ask.count("at").unwrap_or(0));
    let found = carom_lsp::ask::complete(text, at);
    let list = found.as_array().map_or(&[][..], Vec::as_slice);
    let start = list.first().map_or(at, |item| offset(text, &item["textEdit"]["range"]["start"]));
    let items: Vec<Value> = list
        .iter()
        .map(|item| {
            let kind = match item["kind"].as_u64() {
                Some(3) => "function",
                Some(9) => "table",
                Some(10) => "key",
                Some(11) => "unit",
                Some(12) => "value",
                Some(21) => "constant",
                _ => "variable",
            };
            json!({ "label": item["label"], "kind": kind, "detail": item["detail"] })
        })
        .collect();
    Answer::of(&json!({ "from": start, "to": at, "items": items }))
}

/// What stands here.
pub fn hover(ask: &Ask<'_>) -> Answer {
    let (text, at) = (ask.text(), ask.count("at").unwrap_or(0));
    Answer::of(&match carom_lsp::ask::hover(text, at) {
        None => json!({ "markdown": null, "from": null, "to": null }),
        Some(found) => json!({
            "markdown": found["contents"]["value"],
            "from": offset(text, &found["range"]["start"]),
            "to": offset(text, &found["range"]["end"]),
        }),
    })
}

/// The UTF-16 offset of a position of the protocol of language servers.
fn offset(text: &str, position: &Value) -> usize {
    let (line, character) =
        (position["line"].as_u64().unwrap_or(0), position["character"].as_u64().unwrap_or(0));
    let before = text.split_inclusive('\n').take(line as usize);
    before.map(|line| line.encode_utf16().count()).sum::<usize>() + character as usize
}

/// What formulas are set in.
pub fn font() -> Answer {
    let mut answer = Answer::default();
    let place = answer.bytes(carom_show::report::math_font().to_vec());
    answer.json = format!("{{\"bytes\":{place}}}");
    answer
}

/// The models that come with carom.
pub fn gallery() -> Answer {
    let all = carom::gallery::all().iter();
    let list: Vec<Value> = all
        .map(|e| json!({ "name": e.name, "title": e.title(), "group": e.group, "comment": e.comment(), "text": e.text }))
        .collect();
    Answer::of(&json!(list))
}

/// Every key, function and unit.
pub fn schema() -> Answer {
    let keys: Vec<Value> = schema::schema()
        .iter()
        .map(|e| {
            json!({
                "table": e.table, "key": e.key, "form": e.shape.form(), "words": e.shape.words(),
                "meaning": e.meaning, "default": e.default, "required": e.required,
            })
        })
        .collect();
    let functions: Vec<Value> = reference::functions()
        .map(|(name, arguments, meaning)| json!({ "name": name, "arguments": arguments, "meaning": meaning }))
        .collect();
    let units: Vec<&str> = units::listed().iter().map(|u| u.name).collect();
    Answer::of(&json!({ "keys": keys, "functions": functions, "units": units }))
}
