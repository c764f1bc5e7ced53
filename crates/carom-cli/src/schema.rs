//! `carom schema`: the JSON Schema of a model file, from the list of keys that its reader uses, and those of the results that
//! `--json` prints, from the lists of their fields.
//!
//! Editors that know TOML complete, explain and check with it (Taplo and the editors built on it read `#:schema ./FILE` in the
//! first lines of a model). It speaks of structure: which tables and keys there are, what kind of value each takes, what must
//! be there. What formulas say is for `carom check`.
//!
//! Promise: what carom accepts the schema accepts.

use crate::args::{SchemaArgs, SchemaOf};
use crate::failure::Failure;
use crate::help::RESULTS;
use crate::write;
use carom_mech::schema::{self, SchemaKey, ValueShape};
use carom_run::fields::{Field, FieldKind, Missing};
use serde_json::{Map, Value, json};

/// What a copy beside a model is called.
pub const FILE: &str = "carom.schema.json";

/// What a schema of ours is recognised by.
pub const TITLE: &str = "A model of carom";

/// Drafts from 2020 on are not read by all editors.
const DRAFT: &str = "http://json-schema.org/draft-07/schema#";

/// Prints a schema, or writes it to a file.
///
/// # Errors
/// If the file cannot be written.
pub fn schema(args: &SchemaArgs) -> Result<u8, Failure> {
    let text = match args.of {
        SchemaOf::Model => model(),
        SchemaOf::Run => result("run"),
        SchemaOf::Derive => result("derive"),
        SchemaOf::Check => result("check"),
        SchemaOf::Sweep => result("sweep"),
        SchemaOf::Orbit => result("orbit"),
        SchemaOf::Follow => result("follow"),
        SchemaOf::Scan => result("scan"),
        SchemaOf::Lyapunov => result("lyapunov"),
        SchemaOf::Fit => result("fit"),
    };
    match &args.output {
        Some(file) => write::file(file, text.as_bytes())?,
        None => {
            write::json(&text)?;
        }
    }
    Ok(0)
}

/// The schema of a model file, ending in a newline.
pub fn model() -> String {
    let mut properties = Map::new();
    for entry in of("") {
        properties.insert(entry.key.to_owned(), described(entry));
    }
    for table in schema::tables() {
        properties.insert(table.to_owned(), named_table(table));
    }
    let mut root = object(properties, &of("").collect::<Vec<_>>());
    let twice = |other: &[&str]| {
        let others: Vec<Value> = other.iter().map(|key| json!({ "required": [key] })).collect();
        json!({ "not": { "anyOf": others } })
    };
    let dissipation =
        json!({ "properties": { "energy": { "properties": { "kinetic": false, "potential": false } } } });
    let alone = |others: &[&str]| json!({ "allOf": [twice(others), dissipation] });
    root.extend([
        // A Rayleigh function may stand beside a Lagrangian; the energies may not.
        (
            "dependencies".to_owned(),
            json!({ "lagrangian": alone(&["hamiltonian", "body"]), "hamiltonian": alone(&["lagrangian", "body"]) }),
        ),
        (
            "anyOf".to_owned(),
            json!([
                { "required": ["lagrangian"] },
                { "required": ["hamiltonian"] },
                { "required": ["body"], "properties": { "body": { "minProperties": 1 } } },
                { "required": ["energy"], "properties": { "energy": { "required": ["kinetic"] } } }
            ]),
        ),
        ("definitions".to_owned(), definitions()),
    ]);
    let mut out = Map::from_iter([
        ("$schema".to_owned(), json!(DRAFT)),
        ("title".to_owned(), json!(TITLE)),
        (
            "description".to_owned(),
            json!(format!(
                "Model file of carom {}: a mechanical system with impacts. `carom check` says what formulas mean.",
                env!("CARGO_PKG_VERSION")
            )),
        ),
    ]);
    out.extend(root);
    pretty(&Value::Object(out))
}

/// The schema of what a command prints with `--json`, ending in a newline.
pub fn result(command: &str) -> String {
    let Some(document) = RESULTS.iter().find(|d| d.command == command) else { return String::new() };
    let mut out = Map::from_iter([
        ("$schema".to_owned(), json!(DRAFT)),
        ("title".to_owned(), json!(format!("carom {command} --json"))),
        ("description".to_owned(), json!(document.title)),
    ]);
    out.extend(record(document.fields, ""));
    if document.fields.iter().any(|f| {
        matches!(
            f.kind,
            FieldKind::Formula | FieldKind::Formulas | FieldKind::Matrix | FieldKind::FormulaByName(_)
        )
    }) {
        out.insert(
            "definitions".to_owned(),
            json!({ "formula": {
            "description": "text reads back as a formula of a model file",
            "type": "object",
            "properties": { "text": { "type": "string" }, "latex": { "type": "string" } },
            "required": ["text", "latex"],
            "additionalProperties": false
        } }),
        );
    }
    pretty(&Value::Object(out))
}

/// What stands in a path for a name of the model's.
const NAMED_BY_THE_MODEL: [&str; 2] = ["PARAMETER", "WALL"];

/// The object whose fields have paths that begin so.
fn record(fields: &[Field], prefix: &str) -> Map<String, Value> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut others = json!(false);
    for field in fields {
        let Some(name) = field.path.strip_prefix(prefix).filter(|name| !name.contains('.')) else { continue };
        if NAMED_BY_THE_MODEL.contains(&name) {
            others = value(fields, field);
            continue;
        }
        if !matches!(field.missing, Missing::Absent(_)) {
            required.push(name);
        }
        properties.insert(name.to_owned(), value(fields, field));
    }
    Map::from_iter([
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), Value::Object(properties)),
        ("required".to_owned(), json!(required)),
        ("additionalProperties".to_owned(), others),
    ])
}

fn value(fields: &[Field], field: &Field) -> Value {
    let number = || json!({ "type": ["number", "null"] });
    let formula = || json!({ "$ref": "#/definitions/formula" });
    let list = |of: Value| json!({ "type": "array", "items": of });
    let by_name = |of: Value| json!({ "type": "object", "additionalProperties": of });
    let mut out = match field.kind {
        FieldKind::Text => json!({ "type": "string" }),
        FieldKind::Word(words) => json!({ "enum": words }),
        FieldKind::TextByName(_) => by_name(json!({ "type": "string" })),
        FieldKind::Texts => list(json!({ "type": "string" })),
        FieldKind::Number => number(),
        FieldKind::Count => json!({ "type": "integer", "minimum": 0 }),
        FieldKind::Flag => json!({ "type": "boolean" }),
        FieldKind::Numbers => list(number()),
        FieldKind::NumberRows => list(list(number())),
        FieldKind::NumberTables => list(list(list(number()))),
        FieldKind::NumberByName(_) => by_name(number()),
        FieldKind::NumbersByName(_) => by_name(list(number())),
        FieldKind::CountByName(_) => by_name(json!({ "type": "integer", "minimum": 0 })),
        FieldKind::Object => Value::Object(record(fields, &format!("{}.", field.path))),
        FieldKind::Records => list(Value::Object(record(fields, &format!("{}[].", field.path)))),
        FieldKind::Formula => formula(),
        FieldKind::Formulas => list(formula()),
        FieldKind::Matrix => list(list(formula())),
        FieldKind::FormulaByName(_) => by_name(formula()),
    };
    let null = match field.missing {
        Missing::Null(_) => true,
        Missing::Absent(when) => when.contains("null"),
        Missing::Never => false,
    };
    if null && field.kind != FieldKind::Number {
        out = json!({ "anyOf": [out, { "type": "null" }] });
    } else if let Some(reference) = out.as_object_mut().and_then(|o| o.remove("$ref")) {
        // Neighbours of a reference are ignored in this draft.
        out = json!({ "allOf": [{ "$ref": reference }] });
    }
    out["description"] = json!(field.sentence());
    out
}

/// JSON for people, ending in a newline.
pub fn pretty(value: &Value) -> String {
    // Maps have text as keys and numbers are finite: there is nothing to fail.
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

fn of(table: &str) -> impl Iterator<Item = &'static SchemaKey> + '_ {
    schema::schema().iter().filter(move |e| e.table == table)
}

/// The schema of a table with fixed keys, with names of the author's, or of tables with such names.
fn named_table(table: &str) -> Value {
    let labelled = format!("{table}.*");
    if schema::is_labelled(table) {
        let element = keyed(&labelled);
        return json!({ "type": "object", "additionalProperties": element, "description": format!("[{table}.NAME]") });
    }
    keyed(table)
}

fn keyed(table: &str) -> Value {
    let entries: Vec<&SchemaKey> = of(table).collect();
    if let [entry] = entries[..]
        && entry.key == "*"
    {
        let mut out = json!({
            "type": "object",
            "description": format!("[{table}]: {}", entry.meaning),
            "additionalProperties": described(entry)
        });
        if ["parameters", "define", "input", "output"].contains(&table) {
            out["propertyNames"] = json!({ "pattern": NAME });
        }
        return out;
    }
    let properties = entries.iter().map(|e| (e.key.to_owned(), described(e))).collect();
    let mut out = object(properties, &entries);
    match table {
        // A point and a vector, or generalized forces: one of them, whole.
        "force.*" => {
            out.insert(
                "oneOf".to_owned(),
                json!([{ "required": ["at", "vector"] }, { "required": ["generalized"] }]),
            );
            out.insert("dependencies".to_owned(), json!({ "at": ["vector"], "vector": ["at"] }));
        }
        "body.*" => {
            out.insert("dependencies".to_owned(), json!({ "angle": ["inertia"], "spin": ["inertia"] }));
        }
        _ => {}
    }
    Value::Object(out)
}

fn object(properties: Map<String, Value>, entries: &[&SchemaKey]) -> Map<String, Value> {
    let required: Vec<&str> = entries.iter().filter(|e| e.required).map(|e| e.key).collect();
    let mut out = Map::from_iter([
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), Value::Object(properties)),
        ("additionalProperties".to_owned(), json!(false)),
    ]);
    if !required.is_empty() {
        out.insert("required".to_owned(), json!(required));
    }
    out
}

/// A key's value and what it means.
fn described(entry: &SchemaKey) -> Value {
    let mut out = Map::from_iter([("description".to_owned(), json!(entry.meaning))]);
    if let Some(default) = entry.default {
        let value = match (entry.shape, default.parse::<f64>()) {
            (ValueShape::Count(_), Ok(x)) => json!(x as u64),
            (_, Ok(x)) => json!(x),
            (ValueShape::Flag, _) => json!(default == "true"),
            _ => json!(default),
        };
        out.insert("default".to_owned(), value);
    }
    if let Value::Object(shape) = shape(entry.shape) {
        out.extend(shape);
    }
    // Neighbours of a reference are ignored in this draft.
    if let Some(reference) = out.remove("$ref") {
        out.insert("allOf".to_owned(), json!([{ "$ref": reference }]));
    }
    Value::Object(out)
}

/// A name as formulas read it.
const NAME: &str = "^[A-Za-z_\u{391}-\u{3a9}\u{3b1}-\u{3c9}\u{3d1}\u{3d5}\u{3f5}][A-Za-z0-9_\u{391}-\u{3a9}\u{3b1}-\u{3c9}\u{3d1}\u{3d5}\u{3f5}]{0,99}$";

fn shape(shape: ValueShape) -> Value {
    let formula = || json!({ "$ref": "#/definitions/formula" });
    match shape {
        ValueShape::Text => json!({ "type": "string" }),
        ValueShape::Names => {
            json!({ "type": "array", "items": { "type": "string", "pattern": NAME }, "minItems": 1, "uniqueItems": true })
        }
        ValueShape::Formula | ValueShape::Number => formula(),
        ValueShape::Between(least, most) => {
            json!({ "type": ["number", "string"], "minimum": least, "maximum": most, "minLength": 1 })
        }
        ValueShape::Positive => {
            json!({ "type": ["number", "string"], "exclusiveMinimum": 0, "minLength": 1 })
        }
        ValueShape::Count(least) => {
            json!({ "type": ["integer", "string"], "minimum": least, "minLength": 1 })
        }
        ValueShape::OneOf(words) => json!({ "enum": words }),
        ValueShape::Flag => json!({ "type": "boolean" }),
        ValueShape::List(least, most) => {
            json!({ "type": "array", "items": formula(), "minItems": least, "maxItems": most })
        }
        ValueShape::FormulaOrList => {
            json!({ "anyOf": [formula(), { "type": "array", "items": formula(), "minItems": 1, "maxItems": 3 }] })
        }
        ValueShape::Table(_) => json!({ "type": "object", "additionalProperties": formula() }),
        ValueShape::Signal => json!({ "anyOf": [formula(), keyed("input.*")] }),
        ValueShape::Points => json!({ "type": "array", "items": { "$ref": "#/definitions/point" } }),
        ValueShape::Pairs => json!({
            "type": "array",
            "items": { "type": "array", "items": { "$ref": "#/definitions/point" }, "minItems": 2, "maxItems": 2 }
        }),
        ValueShape::Corners => json!({
            "type": "array",
            "items": { "type": "array", "items": formula(), "minItems": 2, "maxItems": 2 },
            "minItems": 3
        }),
        ValueShape::Circles => json!({
            "type": "array",
            "items": {
                "type": "array",
                "items": [
                    { "$ref": "#/definitions/point" },
                    formula(),
                    { "type": "array", "items": formula(), "minItems": 3, "maxItems": 3 }
                ],
                "minItems": 2,
                "maxItems": 3
            }
        }),
        ValueShape::Polygons => json!({
            "type": "array",
            "items": { "type": "array", "items": { "$ref": "#/definitions/point" }, "minItems": 3 }
        }),
    }
}

fn definitions() -> Value {
    json!({
        "formula": { "description": "a number, or a formula in double quotes", "type": ["number", "string"], "minLength": 1 },
        "point": {
            "description": "\"origin\", the name of a body, or a list of formulas",
            "anyOf": [
                { "type": "string" },
                { "type": "array", "items": { "$ref": "#/definitions/formula" }, "minItems": 2, "maxItems": 3 }
            ]
        }
    })
}
