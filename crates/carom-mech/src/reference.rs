//! The reference of the model file, as Markdown: prose written here, tables of keys from the [`schema`].
//!
//! The same text is a page of the repository, a chapter of the book, and what `carom help` prints.

use crate::schema::{self, SchemaKey};
use crate::units;
use carom_expr::Function;
use std::fmt::Write;

/// What stands before the keys of a table, and an example of it.
struct ReferenceSection {
    /// As in [`SchemaKey::table`]; the second is a table within the first.
    tables: &'static [&'static str],
    title: &'static str,
    text: &'static str,
    example: &'static str,
}

const SECTIONS: &[ReferenceSection] = &[
    ReferenceSection {
        tables: &[""],
        title: "Top of the file",
        text: "These keys stand before the first `[table]`: what follows a table's header belongs to that table. The physics is \
               given in exactly one way: by `[energy]` and/or bodies, by `lagrangian`, or by `hamiltonian`.",
        example: "name = \"Falling ball\"\ncoordinates = [\"y\"]\nlagrangian = \"m/2*y'^2 - m*9.81*y\"\n",
    },
    ReferenceSection {
        tables: &["parameters"],
        title: "[parameters]",
        text: "Constants. `--set m=2` changes one from the command line.",
        example: "[parameters]\nm = 1.5\nl = 0.5\nx_wall = \"-l/2\"\n",
    },
    ReferenceSection {
        tables: &["define"],
        title: "[define]",
        text: "Names for formulas, in any order. `x1'` below is the velocity of the bob, found by the chain rule.",
        example: "[define]\nx1 = \"l*sin(theta)\"\nspeed = \"x1'\"\n",
    },
    ReferenceSection {
        tables: &["input", "input.*"],
        title: "[input]",
        text: "Signals from outside, functions of time. A table is a CSV file beside the model whose first line names its columns; the \
               first one is time unless `time` says otherwise. `interpolate` says how the signal goes from row to row: \
               `\"smooth\"` never goes beyond the two rows it is between and has a continuous rate; `\"spline\"` has two \
               continuous derivatives and may swing beyond its rows; `\"linear\"` goes straight, `\"hold\"` keeps each value \
               until the next row. Without it a table is a spline where its second rate matters (driven coordinates, moving \
               walls, constraints that move, bodies that are carried along) and smooth everywhere else; there `\"linear\"` and \
               `\"hold\"` are refused, because velocities would jump without an impulse. Steps end at the rows, so corners and \
               jumps cost no accuracy; at a row that jumps, what is shown is the state after. Outside its table a signal goes on \
               as smoothly as inside, with a warning.",
        example: "[input]\nu = \"sin(3*t)\"\nmeasured = { file = \"push.csv\", column = \"force\" }\nvalve = { file = \"push.csv\", column = \"open\", interpolate = \"hold\" }\n",
    },
    ReferenceSection {
        tables: &["energy"],
        title: "[energy]",
        text: "",
        example: "[energy]\nkinetic = \"m/2*x'^2\"\npotential = \"k/2*x^2\"\ndissipation = \"b/2*x'^2\"\n",
    },
    ReferenceSection {
        tables: &["body.*"],
        title: "[body.NAME]",
        text: "A mass at a point. It adds its energies by itself (with `gravity` from the top of the file) and is drawn in animations.",
        example: "[body.rod]\nmass = \"m\"\nat = [\"l/2*sin(theta)\", \"-l/2*cos(theta)\"]\ninertia = \"m*l^2/12\"\nangle = \"theta\"\n",
    },
    ReferenceSection {
        tables: &["force.*"],
        title: "[force.NAME]",
        text: "A force that no potential describes: a vector at a point, or generalized forces by coordinate.",
        example: "[force.push]\nat = [\"x\", \"y\"]\nvector = [\"2*sin(t)\", 0.0]\n\n[force.brake]\ngeneralized = { x = \"-b*x'\" }\n",
    },
    ReferenceSection {
        tables: &["holonomic"],
        title: "[holonomic]",
        text: "Named constraints on positions: each formula is kept at zero.",
        example: "[holonomic]\nrod = \"x^2 + y^2 - l^2\"\n",
    },
    ReferenceSection {
        tables: &["nonholonomic"],
        title: "[nonholonomic]",
        text: "Named constraints on velocities, linear in them: each formula is kept at zero.",
        example: "[nonholonomic]\nskate = \"x'*sin(phi) - y'*cos(phi)\"\n",
    },
    ReferenceSection {
        tables: &["driven"],
        title: "[driven]",
        text: "Coordinates with a prescribed motion. They have no equation and no start; the force that drives them is reported.",
        example: "[driven]\ntheta1 = \"omega*t\"\n",
    },
    ReferenceSection {
        tables: &["wall.*"],
        title: "[wall.NAME]",
        text: "One-sided constraints: the motion keeps the gap at zero or above and bounces where it reaches zero. `min(a, b)` is two \
               walls, called NAME.1 and NAME.2; so is `c - abs(u)`.",
        example: "[wall.floor]\ngap = \"y\"\nrestitution = 0.8\ndraw = \"y\"\n",
    },
    ReferenceSection {
        tables: &["event.*"],
        title: "[event.NAME]",
        text: "Something to notice, to stop at, or to reset the state at. Crossings inside smooth motion count, once each; a zero at \
               the start, a jump at an impact and an exact tangency do not. A formula that rests at zero for a while (the speed \
               of a block that sticks) crosses when it leaves to the other side. At one instant impacts come first, then events \
               in the order of the file, each on the state after.",
        example: "[event.apex]\nwhen = \"y'\"\ndirection = \"falling\"\n\n[event.step]\nwhen = \"theta - alpha\"\naction = \"set\"\nset = { theta = \"-theta\", \"theta'\" = \"cos(2*alpha)*theta'\" }\n",
    },
    ReferenceSection {
        tables: &["output"],
        title: "[output]",
        text: "",
        example: "[output]\ntip_speed = \"sqrt(x'^2 + y'^2)\"\nacceleration = \"y''\"\n",
    },
    ReferenceSection {
        tables: &["start"],
        title: "[start]",
        text: "Where the motion starts. What is not named is 0, except what is driven or what the constraints determine: that is \
               computed. `--start \"theta=0.1,theta'=2\"` changes it from the command line.",
        example: "[start]\nposition = { theta = \"pi/3\" }\nvelocity = { theta = 0.5 }\n",
    },
    ReferenceSection {
        tables: &["run"],
        title: "[run]",
        text: "How to simulate, unless the command line says otherwise.",
        example: "[run]\nuntil = 10.0\nsamples = 501\n",
    },
    ReferenceSection {
        tables: &["units"],
        title: "[units]",
        text: "States units of names. What is stated is checked in every formula; a name without a stated unit is unknown, and an error only \
               where no unit fits it. A value in quotes may carry a unit, `\"90 deg\"`, `\"30 cm\"`, also on the command line: `--set \"l=30 cm\"`, \
               `--until \"10 s\"`; a formula never does. Values are stored, and written to JSON and tables, in coherent units (kg, m, s, \
               rad, …), and a number without a unit is in those; `deg` for a coordinate changes what is shown, not what is stored. A model \
               that mentions no unit is not checked.\n\n\
               A unit is a product of names, `kg m^2/s^2`: blanks multiply, exponents follow `^`, several factors below stand in parentheses, `J/(kg K)`.",
        example: "[units]\ntheta = \"deg\"\nl = \"m\"\n\"theta'\" = \"rad/s\"\n",
    },
    ReferenceSection {
        tables: &["view"],
        title: "[view]",
        text: "What an animation draws besides bodies and walls. A point is `\"origin\"`, the name of a body, or a list of two formulas, in \
               space three. Bodies are drawn with the form they have (`radius`, `polygon`, `box`), as a marker without one, and not \
               at all when `hide` names them.",
        example: "[view]\nlinks = [[\"origin\", \"bob\"]]\ntraces = [\"bob\"]\ncircles = [[\"origin\", \"0.1\"]]\npolygons = [[[\"-1\", \"0.1\"], [\"1\", \"0.1\"], [\"0\", \"0.4\"]]]\nrange = [-1.5, 1.5, -1.5, 1.5]\n",
    },
];

const MODEL: &str = "\
# The model file

A model is a [TOML](https://toml.io) file: tables in brackets, `key = value` lines, [formulas](formulas.md) in double quotes. `carom check FILE` reports
everything that is wrong with one, with the place and a way out. Editors that know TOML complete keys and explain them: `carom schema` prints a
[JSON Schema](../model.schema.json), `carom new NAME` writes it beside a new model.

Names are made of letters, Greek letters, digits and `_`. Coordinates, momenta, parameters, definitions, inputs and outputs share one namespace;
walls, rows, forces, bodies and events have one each. The momentum of `x` is called `p_x` unless `momenta` names it.
";

const FORMULAS: &str = "\
# Formulas

* `+ - * / ^` and parentheses; every product is written with `*`. `^` binds tightest and to the right: `-x^2` is `-(x^2)`, `a^b^c` is `a^(b^c)`.
* `x'` is the velocity of the coordinate `x`; \u{2032} and \u{2019} are accepted. `x''` exists in `[output]` only. A prime on a defined name is its total time
  derivative. In a Hamiltonian model `x'` is ∂H/∂p of its momentum.
* `t` is the time. `pi` and `e` are the constants (`e` may be used as a name, with a warning).
* Numbers are exact: `0.1` is one tenth. Numbers need no quotes; a formula that is only a number may do without them too.
* Greek letters may be written as such or by name: `theta` prints as θ.
* `abs`, `sign`, `min` and `max` have corners; their switching surfaces are located like walls, never stepped over.

## Functions

| function | value |
|---|---|
";

/// The chapter “The model file”.
///
/// ```
/// let chapter = carom_mech::reference::model();
/// assert!(chapter.starts_with("# The model file"));
/// assert!(chapter.contains("| `restitution` |"));
/// ```
pub fn model() -> String {
    let sections: Vec<String> = SECTIONS.iter().map(|s| section(s, 2)).collect();
    format!("{MODEL}\n{}", sections.join("\n"))
}

/// The chapter “Formulas”.
pub fn formulas() -> String {
    let mut out = String::from(FORMULAS);
    for (name, arguments, meaning) in functions() {
        _ = writeln!(out, "| `{name}({arguments})` | {} |", cell(meaning));
    }
    out
}

/// Every function: name, arguments, value.
pub fn functions() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let sqrt = ("sqrt", "x", "square root, x ≥ 0");
    std::iter::once(sqrt).chain(Function::ALL.iter().map(|f| (f.name(), f.arguments(), f.meaning())))
}

/// What there is to know about a table, `wall` or `wall.*`: prose, keys, an example.
///
/// ```
/// # use carom_mech::reference;
/// assert!(reference::table("wall").unwrap().starts_with("# [wall.NAME]"));
/// assert!(reference::table("walls").is_none());
/// ```
pub fn table(name: &str) -> Option<String> {
    let meant = |table: &&str| !name.is_empty() && (*table == name || table.trim_end_matches(".*") == name);
    SECTIONS.iter().find(|s| s.tables.iter().any(meant)).map(|s| section(s, 1))
}

/// What there is to know about a key, in every table that has it.
///
/// ```
/// # use carom_mech::reference;
/// assert!(reference::key("restitution").unwrap().contains("[wall.NAME]"));
/// assert!(reference::key("bounce").is_none());
/// ```
pub fn key(name: &str) -> Option<String> {
    let mut out = String::new();
    for entry in schema::schema().iter().filter(|e| e.key == name && e.key != "*") {
        let Some(section) = SECTIONS.iter().find(|s| s.tables.contains(&entry.table)) else { continue };
        let place = match entry.table {
            "" => "before the first [table]".to_owned(),
            "input.*" => "in a table of [input]".to_owned(),
            _ => format!("in {}", section.title),
        };
        _ = write!(
            out,
            "{}# `{name}`, {place}\n\n{}",
            if out.is_empty() { "" } else { "\n" },
            rows(&[entry])
        );
        let lines: Vec<&str> = section.example.lines().filter(|line| line.contains(name)).collect();
        if !lines.is_empty() {
            let header = if entry.table.is_empty() { String::new() } else { header(section.example) };
            _ = write!(out, "\n```toml fragment\n{header}{}\n```\n", lines.join("\n"));
        }
    }
    (!out.is_empty()).then_some(out)
}

/// `[wall.floor]` and a line end.
fn header(example: &str) -> String {
    example.lines().find(|line| line.starts_with('[')).map(|line| format!("{line}\n")).unwrap_or_default()
}

fn section(section: &ReferenceSection, level: usize) -> String {
    let mut out = format!("{} {}\n\n", "#".repeat(level), section.title);
    if !section.text.is_empty() {
        _ = write!(out, "{}\n\n", section.text);
    }
    for table in section.tables {
        let entries: Vec<&SchemaKey> = schema::schema().iter().filter(|e| e.table == *table).collect();
        if *table != section.tables[0] {
            out += "\nThe table form:\n\n";
        }
        out += &rows(&entries);
    }
    _ = write!(out, "\n```toml fragment\n{}```\n", section.example);
    if section.tables == ["units"] {
        out += "\n";
        out += &units();
    }
    out
}

/// Every unit that has a name: how it is written, what it is in coherent units.
fn units() -> String {
    let mut out = String::from(
        "Those marked with * take prefixes: `km`, `mN`, `µs` (or `us`), `GHz`.\n\n| unit | name | in coherent units |\n|---|---|---|\n",
    );
    for listed in units::listed() {
        let names: Vec<String> = std::iter::once(&listed.name)
            .chain(listed.other_names)
            // Two ohms and two ångströms look alike.
            .filter(|name| !name.contains(['\u{2126}', '\u{212b}']))
            .map(|name| format!("`{name}`"))
            .collect();
        let unit = listed.unit();
        let dimension = if unit.dimension.is_none() { String::new() } else { unit.dimension.to_string() };
        let number = if unit.is_coherent() && !dimension.is_empty() {
            String::new()
        } else {
            significant(unit.factor())
        };
        let star = if listed.prefixes { " *" } else { "" };
        let value = format!("{number} {dimension}");
        _ = writeln!(out, "| {}{star} | {} | {} |", names.join(", "), listed.word, value.trim());
    }
    out
}

/// Ten digits, without the zeros behind them.
fn significant(x: f64) -> String {
    let rounded: f64 = format!("{x:.9e}").parse().unwrap_or(x);
    if (1e-4..1e12).contains(&rounded) { rounded.to_string() } else { format!("{rounded:e}") }
}

fn rows(entries: &[&SchemaKey]) -> String {
    let mut out = String::from("| key | what to write | meaning |\n|---|---|---|\n");
    for SchemaKey { key, shape, meaning, default, required, .. } in entries {
        let key = if *key == "*" { "any name".to_owned() } else { format!("`{key}`") };
        let more = match default {
            Some(default) => format!("; {default} when missing"),
            None if *required => "; required".to_owned(),
            None => String::new(),
        };
        _ = writeln!(out, "| {key} | {} | {}{more} |", cell(&shape.form()), cell(meaning));
    }
    out
}

/// A bar would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draft::Draft;

    #[test]
    fn every_key_of_the_schema_is_in_the_reference() {
        let chapter = model();
        for entry in schema::schema() {
            assert!(
                SECTIONS.iter().any(|s| s.tables.contains(&entry.table)),
                "no section for [{}]",
                entry.table
            );
            assert!(entry.key == "*" || chapter.contains(&format!("| `{}` |", entry.key)), "{}", entry.key);
            assert!(
                entry.key == "*" || key(entry.key).is_some_and(|text| text.contains(&cell(entry.meaning)))
            );
        }
        for name in schema::tables() {
            assert!(table(name).is_some(), "{name}");
        }
    }

    #[test]
    fn every_function_has_a_value_and_its_arguments() {
        for (name, arguments, meaning) in functions() {
            assert!(!arguments.is_empty() && meaning.len() > 3, "{name}");
        }
        assert!(Function::ALL.iter().all(|f| f.arguments().split(", ").count() == f.arity()));
    }

    #[test]
    fn every_example_of_the_reference_is_read_without_complaint() {
        for section in SECTIONS {
            let (_, problems) = Draft::parse(section.example, "example.toml");
            let text: Vec<String> = problems.iter().map(|p| p.render("example.toml")).collect();
            assert!(problems.is_empty(), "{}", text.join("\n"));
        }
    }

    #[test]
    fn the_ways_to_interpolate_are_the_ones_of_the_schema() {
        let mut words = schema::words("input.*", "interpolate").to_vec();
        words.sort_unstable();
        assert_eq!(words, crate::model::Interpolation::ALL.map(|i| i.name()));
    }
}
