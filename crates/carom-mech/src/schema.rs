//! Every table and key a model file may contain: what to write and what it means.
//!
//! One list, read by the reader of model files and its suggestions, by the checks of words such as `"rising"`, by the
//! reference (page, book and `carom help`), by the JSON Schema that editors complete from, and by the language server.
//! What is added here is everywhere.

/// One accepted key.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SchemaKey {
    /// The table: `""` is the top of the file, `wall.*` a table with a name of your own.
    pub table: &'static str,
    /// The key; `*` stands for any name of your own.
    pub key: &'static str,
    /// What to write.
    pub shape: ValueShape,
    /// What it means.
    pub meaning: &'static str,
    /// What holds when it is missing, as it would be written.
    pub default: Option<&'static str>,
    /// Must it be there?
    pub required: bool,
}

/// The kind of value that a key takes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ValueShape {
    /// Words.
    Text,
    /// `["x", "y"]`
    Names,
    /// A formula of the coordinates; a number is one too.
    Formula,
    /// A number, or a formula of parameters.
    Number,
    /// The same, between two bounds.
    Between(f64, f64),
    /// A number greater than zero.
    Positive,
    /// A whole number, at least this.
    Count(u64),
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
    /// A list of formulas, at least and at most so many.
    List(usize, usize),
    /// A formula, or a list of at most three.
    FormulaOrList,
    /// `{ name = formula }`; the text says which names.
    Table(&'static str),
    /// A formula, or a column of a table of numbers.
    Signal,
    /// A list of points: the name of a body, `"origin"`, or a list of formulas.
    Points,
    /// A list of pairs of points.
    Pairs,
    /// A list of lists of two formulas: corners in the axes of a body.
    Corners,
    /// A list of `[point, radius]`, in space also `[point, radius, axis]`.
    Circles,
    /// A list of lists of points.
    Polygons,
}

impl ValueShape {
    /// What to write, in words.
    ///
    /// ```
    /// # use carom_mech::schema::ValueShape;
    /// assert_eq!(ValueShape::OneOf(&["rising", "falling", "both"]).form(), r#""rising", "falling" or "both""#);
    /// ```
    pub fn form(self) -> String {
        match self {
            ValueShape::Text => "text".to_owned(),
            ValueShape::Names => "list of names".to_owned(),
            ValueShape::Formula => "formula".to_owned(),
            ValueShape::Number => "number or formula".to_owned(),
            ValueShape::Between(least, most) => {
                format!("number or formula, {} to {}", short(least), short(most))
            }
            ValueShape::Positive => "number above 0".to_owned(),
            ValueShape::Count(0) => "whole number".to_owned(),
            ValueShape::Count(least) => format!("whole number from {least} on"),
            ValueShape::OneOf(words) => {
                let (last, others) = words.split_last().unwrap_or((&"", &[]));
                let others: Vec<String> = others.iter().map(|w| format!("\"{w}\"")).collect();
                format!("{} or \"{last}\"", others.join(", "))
            }
            ValueShape::Flag => "true or false".to_owned(),
            ValueShape::List(least, most) if least == most => format!("list of {least} formulas"),
            ValueShape::List(least, most) => format!("list of {least} or {most} formulas"),
            ValueShape::FormulaOrList => "formula, or list of three".to_owned(),
            ValueShape::Table(form) => form.to_owned(),
            ValueShape::Signal => "formula, or { file = \"…\" }".to_owned(),
            ValueShape::Points => "list of points".to_owned(),
            ValueShape::Pairs => "list of pairs of points".to_owned(),
            ValueShape::Corners => "list of corners [x, y]".to_owned(),
            ValueShape::Circles => "list of [point, radius] or [point, radius, axis]".to_owned(),
            ValueShape::Polygons => "list of lists of points".to_owned(),
        }
    }

    /// The words a [`ValueShape::OneOf`] chooses from.
    pub fn words(self) -> &'static [&'static str] {
        match self {
            ValueShape::OneOf(words) => words,
            _ => &[],
        }
    }
}

fn short(x: f64) -> String {
    if x == 0.0 || (1e-3..1e6).contains(&x) { format!("{x}") } else { format!("{x:e}") }
}

macro_rules! entries {
    (@default) => { None };
    (@default $default:literal) => { Some($default) };
    (@required) => { false };
    (@required required) => { true };
    ($($table:literal { $($key:literal: $shape:expr, $($required:ident,)? $meaning:literal $(; else $default:literal)?)* })*) => {
        &[$($(SchemaKey {
            table: $table,
            key: $key,
            shape: $shape,
            meaning: $meaning,
            default: entries!(@default $($default)?),
            required: entries!(@required $($required)?),
        },)*)*]
    };
}

use ValueShape::{
    Between, Circles, Corners, Count, Flag, Formula, FormulaOrList, List, Names, Number, OneOf, Pairs,
    Points, Polygons, Positive, Signal, Table, Text,
};

static SCHEMA: &[SchemaKey] = entries! {
    "" {
        "name": Text, "title of the model; the file's name when missing"
        "coordinates": Names, required, "generalized coordinates; their order is part of the model"
        "lagrangian": Formula, "L(q, q', t), instead of [energy] and bodies"
        "hamiltonian": Formula, "H(q, p, t), instead of [energy] and bodies"
        "momenta": Names, "names of the momenta, one per coordinate; p_x for coordinate x when missing"
        "gravity": List(2, 3), "acceleration of gravity that acts on bodies"
    }
    "parameters" {
        "*": Number, "a constant; formulas may use other parameters"
    }
    "define" {
        "*": Formula, "a named formula, usable everywhere; a prime on its name is its total time derivative"
    }
    "input" {
        "*": Signal, "an external signal u(t): a formula of t, or a column of a CSV table"
    }
    "input.*" {
        "file": Text, required, "the CSV table, beside the model; its first line names the columns"
        "column": Text, "the column of the signal; the one after the time when missing"
        "time": Text, "the column of the time; the first one when missing"
        "interpolate": OneOf(&["smooth", "spline", "linear", "hold"]), "how the signal goes from row to row; as smooth as its use needs when missing"
    }
    "energy" {
        "kinetic": Formula, "kinetic energy T(q, q', t)"
        "potential": Formula, "potential energy V(q, t)"
        "dissipation": Formula, "Rayleigh function R; its generalized force is -∂R/∂q'"
    }
    "body.*" {
        "mass": Formula, required, "m: adds m|r'|²/2 to the kinetic energy and -m g·r to the potential"
        "at": List(2, 3), required, "position r(q, t) of the centre of mass"
        "inertia": FormulaOrList, "moment of inertia about the centre of mass, in 3-D the three principal ones"
        "angle": Formula, "orientation of a planar rigid body"
        "spin": List(3, 3), "angular velocity of a rigid body in its own principal axes"
        "radius": Number, "drawn as a disc, in space as a ball, of this radius; impacts flash where it touches"
        "polygon": Corners, "drawn as a filled polygon: corners in the body's own axes, which turn with its angle"
        "box": List(2, 3), "drawn as a rectangle, in space as a box, with these sides along the body's own axes"
        "orientation": List(4, 4), "orientation of a body in space, for drawing: unit quaternion, real part first, from the body's axes to space"
    }
    "force.*" {
        "at": List(2, 3), "the point r(q, t) where a force vector acts"
        "vector": List(2, 3), "the force vector F(q, q', t)"
        "generalized": Table("{ coordinate = formula }"), "generalized force by coordinate, instead of at and vector"
    }
    "holonomic" {
        "*": Formula, "constraint c(q, t) = 0"
    }
    "nonholonomic" {
        "*": Formula, "constraint linear in the velocities, A(q, t) q' + b(q, t) = 0"
    }
    "driven" {
        "*": Formula, "prescribed motion f(t) of a coordinate"
    }
    "wall.*" {
        "gap": Formula, required, "φ(q, t); the motion keeps it >= 0"
        "restitution": Between(0.0, 1.0), "e: the part of the approach speed that is given back"; else "1"
        "draw": Formula, "curve in the plane of the picture that draws the wall: a formula of x and y, = 0; in space a surface, with z"
    }
    "event.*" {
        "when": Formula, required, "the event happens when this crosses zero"
        "direction": OneOf(&["rising", "falling", "both"]), "which crossings count"; else "both"
        "action": OneOf(&["record", "stop", "set"]), "what happens"; else "record"
        "only_if": Formula, "the event happens only where this is > 0"
        "set": Table("{ x = formula, \"x'\" = formula }"), "reset map: new values, all computed from the state before"
    }
    "output" {
        "*": Formula, "extra signal to sample, plot and export; may contain accelerations x''"
    }
    "units" {
        "*": Text, "unit of a coordinate, velocity, parameter, definition, input, output, or of t, energy; formulas are checked with it, pictures and summaries shown in it"
    }
    "view" {
        "links": Pairs, "points joined by a line; a point is \"origin\", a body, or a list of formulas"
        "springs": Pairs, "points joined by a spring"
        "traces": Points, "points that leave a trace"
        "circles": Circles, "filled circles; in space a disc across its axis, or a ball without one"
        "polygons": Polygons, "filled polygons with these corners"
        "hide": Names, "bodies that are not drawn"
        "range": List(4, 4), "visible part of the plane: left, right, bottom, top"
    }
    "start" {
        "position": Table("{ coordinate = value }"), "positions at the start; 0 when missing"
        "velocity": Table("{ coordinate = value }"), "velocities at the start; 0 when missing"
        "momentum": Table("{ momentum = value }"), "momenta at the start of a Hamiltonian model; 0 when missing"
        "project": Flag, "move a start that violates the constraints onto them"; else "false"
    }
    "run" {
        "until": Number, "end time"; else "10"
        "from": Number, "start time"; else "0"
        "tolerance": Between(1e-16, 1e-2), "truncation error per step"; else "1e-15"
        "method": OneOf(&["taylor", "rk4"]), "how to step"; else "taylor"
        "step": Positive, "step of method \"rk4\""
        "samples": Count(2), "number of evenly spaced samples"; else "201"
        "max_impacts": Count(0), "most impacts; one more is not applied and ends the motion"; else "1000000"
        "max_steps": Count(1), "most steps; one more is not taken and ends the motion"; else "100000000"
        "impact_order": OneOf(&["simultaneous", "sequential"]), "rule for several walls hit at once"; else "simultaneous"
    }
};

/// The whole list, in the order a reader meets it.
pub fn schema() -> &'static [SchemaKey] {
    SCHEMA
}

/// The keys of a table, `table` written as in [`SchemaKey::table`].
pub fn keys(table: &str) -> impl Iterator<Item = &'static str> + '_ {
    SCHEMA.iter().filter(move |e| e.table == table).map(|e| e.key)
}

/// A key of a table, or what stands for any name in it.
///
/// ```
/// # use carom_mech::schema;
/// assert_eq!(schema::entry("wall.*", "restitution").unwrap().default, Some("1"));
/// assert_eq!(schema::entry("parameters", "g").unwrap().key, "*");
/// assert!(schema::entry("wall.*", "bounce").is_none());
/// ```
pub fn entry(table: &str, key: &str) -> Option<&'static SchemaKey> {
    SCHEMA.iter().find(|e| e.table == table && (e.key == key || e.key == "*"))
}

/// The words that may stand at a key, the default first where one is missing from the file.
pub(crate) fn words(table: &str, key: &str) -> &'static [&'static str] {
    entry(table, key).map_or(&[], |e| e.shape.words())
}

/// The first part of every table's name: `wall` for `wall.*`.
pub fn tables() -> Vec<&'static str> {
    let mut tables: Vec<&'static str> = Vec::new();
    for entry in SCHEMA {
        let table = entry.table.trim_end_matches(".*");
        if !table.is_empty() && !tables.contains(&table) {
            tables.push(table);
        }
    }
    tables
}

/// Has the table entries with names of your own, `[wall.NAME]`?
pub fn is_labelled(table: &str) -> bool {
    keys(&format!("{table}.*")).next().is_some() && keys(table).next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ImpactOrder, Method, RunSettings};

    #[test]
    fn the_defaults_that_are_told_are_the_defaults_that_hold() {
        let told = |key: &str| entry("run", key).unwrap().default.unwrap();
        let number = |key: &str| told(key).parse::<f64>().unwrap();
        let settings = RunSettings::default();
        assert_eq!(number("until"), settings.until);
        assert_eq!(number("tolerance"), settings.tolerance);
        assert_eq!(number("samples"), settings.samples as f64);
        assert_eq!(number("max_impacts"), settings.max_impacts as f64);
        assert_eq!(number("max_steps"), settings.max_steps as f64);
        assert!(settings.method == Method::Taylor && told("method") == "taylor");
        assert!(settings.impact_order == ImpactOrder::Simultaneous && told("impact_order") == "simultaneous");
    }

    #[test]
    fn a_default_is_one_of_the_words_or_within_the_bounds() {
        for e in SCHEMA {
            let Some(default) = e.default else { continue };
            match e.shape {
                ValueShape::OneOf(words) => assert!(words.contains(&default), "{e:?}"),
                ValueShape::Between(least, most) => {
                    assert!((least..=most).contains(&default.parse().unwrap()), "{e:?}");
                }
                ValueShape::Count(least) => assert!(default.parse::<u64>().unwrap() >= least, "{e:?}"),
                _ => {}
            }
        }
    }
}
