//! Model files: of the gallery with changes, or made up table by table. What must hold: a model or diagnostics with places;
//! what is checked derives or says why not; reports of every format.

use crate::Choices;
use crate::formula::{damage, formula};
use carom::gallery;
use carom_mech::{Draft, Model, derive, derive_equations};
use carom_show::report;
use std::fmt::Write;

const PIECES: [&str; 24] = [
    "\"",
    "=",
    "[",
    "]",
    "{",
    "}",
    "\n",
    "#",
    ",",
    ".",
    "'",
    "x",
    "1",
    "-",
    "e9",
    "\\u0000",
    "\\",
    "'''",
    "\"\"\"",
    "true",
    "é",
    " ",
    "[wall.a]\ngap = \"x\"\n",
    "1979-05-27",
];

/// A number as someone might write it.
fn number(choices: &mut Choices<'_>) -> String {
    match choices.below(8) {
        0 => choices.below(4).to_string(),
        1 => format!("{}", (choices.below(2001) as f64 - 1000.0) / 250.0),
        2 => format!("\"{}/{}\"", choices.below(9), 1 + choices.below(9)),
        3 => choices
            .one(&["0.0", "-0.0", "1e-15", "1e15", "1e300", "1e-300", "inf", "nan", "\"pi\"", "\"-pi/2\""])
            .to_owned(),
        _ => format!("{:.3}", 2.0 * choices.part() + 0.1),
    }
}

/// A model made up: coordinates, energies, walls, rows, events.
pub fn made_up(choices: &mut Choices<'_>) -> String {
    let count = 1 + choices.below(3);
    let coordinates = &["x", "y", "a"][..count];
    let rates: Vec<String> = coordinates.iter().map(|c| format!("{c}'")).collect();
    let mut places: Vec<&str> = coordinates.to_vec();
    places.extend(["k", "t"]);
    let mut moving: Vec<&str> = places.clone();
    moving.extend(rates.iter().map(String::as_str));
    let mut text = String::new();
    let list: Vec<String> = coordinates.iter().map(|c| format!("\"{c}\"")).collect();
    let _ = writeln!(text, "coordinates = [{}]", list.join(", "));
    if choices.once_in(3) {
        text += "gravity = [0, -9.81]\n";
    }
    let _ = writeln!(text, "[parameters]\nk = {}\nm = {:.2}", number(choices), 0.5 + choices.part());
    let _ = writeln!(text, "[energy]");
    let mut kinetic: Vec<String> = rates.iter().map(|v| format!("m/2*{v}^2")).collect();
    if count > 1 && choices.once_in(3) {
        kinetic.push(format!("m/4*cos({} - {})*{}*{}", coordinates[0], coordinates[1], rates[0], rates[1]));
    }
    if choices.once_in(8) {
        kinetic.push(formula(choices, &moving, 3));
    }
    let _ = writeln!(text, "kinetic = \"{}\"", kinetic.join(" + "));
    let potential = match choices.below(4) {
        0 => "9.81*m*x".to_owned(),
        1 => "k/2*x^2 - cos(x)".to_owned(),
        _ => formula(choices, &places, 3),
    };
    let _ = writeln!(text, "potential = \"{potential}\"");
    if choices.once_in(5) {
        let _ = writeln!(text, "dissipation = \"{}\"", formula(choices, &moving, 2));
    }
    if count > 1 && choices.once_in(4) {
        let row = match choices.below(3) {
            0 => "x^2 + y^2 - 1".to_owned(),
            1 => "x - sin(y)".to_owned(),
            _ => formula(choices, &places, 2),
        };
        let _ = writeln!(text, "[holonomic]\nrod = \"{row}\"");
    } else if count > 1 && choices.once_in(5) {
        let _ =
            writeln!(text, "[nonholonomic]\nskate = \"x'*sin(k) - y'*cos({})\"", choices.one(coordinates));
    }
    for name in &["floor", "left", "right"][..choices.below(4)] {
        let gap = match choices.below(5) {
            0 => format!("{} + {}", choices.one(coordinates), choices.below(3)),
            1 => format!("{} - {}", choices.below(3), choices.one(coordinates)),
            2 => format!("1 - {}^2", choices.one(coordinates)),
            3 => format!("{} - sin(t)/4", choices.one(coordinates)),
            _ => formula(choices, &places, 2),
        };
        let _ = writeln!(text, "[wall.{name}]\ngap = \"{gap}\"");
        if choices.below(2) == 1 {
            let _ = writeln!(text, "restitution = {}", choices.one(&["0", "0.5", "0.9", "1", "0.99"]));
        }
    }
    if choices.once_in(4) {
        let action = choices.one(&["record", "stop", "set"]);
        let _ =
            writeln!(text, "[event.e1]\nwhen = \"{}\"\naction = \"{action}\"", formula(choices, &moving, 2));
        if action == "set" {
            let _ = writeln!(text, "set = {{ \"x'\" = \"-x'/2\" }}");
        }
    }
    if choices.once_in(4) {
        let _ = writeln!(text, "[force.f]\ngeneralized = {{ x = \"{}\" }}", formula(choices, &moving, 2));
    }
    if choices.once_in(4) {
        let _ = writeln!(text, "[output]\no = \"{}\"", formula(choices, &moving, 3));
    }
    if choices.once_in(8) {
        let _ = writeln!(text, "[input]\nu = {{ file = \"u.csv\", column = \"u\" }}");
    }
    let values = |choices: &mut Choices<'_>| {
        let all: Vec<String> = coordinates.iter().map(|c| format!("{c} = {}", number(choices))).collect();
        all.join(", ")
    };
    let (position, velocity) = (values(choices), values(choices));
    let _ = writeln!(text, "[start]\nposition = {{ {position} }}\nvelocity = {{ {velocity} }}");
    if choices.once_in(3) {
        text += "project = true\n";
    }
    let _ = writeln!(text, "[run]\nuntil = {}", choices.one(&["1.0", "3.0", "10.0", "1e-9", "1e19"]));
    if choices.once_in(8) {
        text += choices.one(&[
            "impact_order = \"sequential\"\n",
            "method = \"rk4\"\nstep = 0.01\n",
            "tolerance = 1e-6\n",
        ]);
    }
    text
}

/// A gallery model with some of its lines and numbers changed.
pub fn changed(choices: &mut Choices<'_>, gently: bool) -> String {
    let mut lines: Vec<String> = choices.one(gallery::all()).text.lines().map(str::to_owned).collect();
    for _ in 0..=choices.below(3) {
        let at = choices.below(lines.len());
        match if gently { 0 } else { choices.below(8) } {
            0 | 1 => {
                // A number somewhere becomes another.
                let from = lines[at].find(|c: char| c.is_ascii_digit());
                if let (Some(from), false) = (from, lines[at].starts_with('#')) {
                    let end = lines[at][from..].find(|c: char| !c.is_ascii_digit() && c != '.');
                    let end = end.map_or(lines[at].len(), |n| from + n);
                    let new = format!("{:.3}", 3.0 * choices.part());
                    lines[at].replace_range(
                        from..end,
                        if gently { &new } else { choices.one(&[new.as_str(), "0", "1e300", "-1"]) },
                    );
                }
            }
            2 => {
                lines.remove(at);
                if lines.is_empty() {
                    break;
                }
            }
            3 => {
                let copy = lines[at].clone();
                let to = choices.below(lines.len() + 1);
                lines.insert(to, copy);
            }
            4 | 5 => {
                if let Some((key, _)) = lines[at].split_once('=') {
                    let names = ["x", "y", "theta1", "theta", "m", "x'", "t", "l", "g"];
                    lines[at] = format!("{key}= \"{}\"", formula(choices, &names, 3));
                }
            }
            _ => lines[at] = damage(choices, &lines[at], &PIECES),
        }
    }
    lines.join("\n") + "\n"
}

/// A text, and its model if it is one.
pub fn model(choices: &mut Choices<'_>, gently: bool, note: &mut dyn FnMut(&str)) -> Option<Model> {
    let mut text = if choices.below(2) == 0 { made_up(choices) } else { changed(choices, gently) };
    if !gently && choices.once_in(8) {
        text = damage(choices, &text, &PIECES);
    }
    note(&text);
    let (mut draft, mut problems) = Draft::parse(&text, "fuzz.toml");
    draft.provide_table("u.csv", "time,u\n0,1\n0.5,2\n1,-1\n20,0\n");
    let model = match draft.check() {
        Ok((model, warnings)) => {
            problems.extend(warnings);
            Some(model)
        }
        Err(errors) => {
            problems.extend(errors);
            assert!(problems.iter().any(carom_mech::Diagnostic::is_error), "refused without an error");
            None
        }
    };
    carom_mech::diagnostic::tidy(&mut problems);
    for problem in &problems {
        let rendered = problem.render("fuzz.toml");
        assert!(!rendered.chars().any(|c| c.is_control() && c != '\n'), "{rendered:?}");
    }
    // What was wrong already in reading is no model.
    model.filter(|_| !problems.iter().any(carom_mech::Diagnostic::is_error))
}

pub(crate) fn attempt(choices: &mut Choices<'_>, note: &mut dyn FnMut(&str)) {
    let Some(model) = model(choices, false, note) else { return };
    // Closed forms and reports cost more than all the rest.
    if !choices.once_in(16) {
        let _ = derive_equations(model);
        return;
    }
    let Ok(mechanics) = derive(model) else { return };
    let text = match choices.below(8) {
        0 | 1 => report::text(&mechanics, 100),
        2 => report::latex(&mechanics),
        3 => report::markdown(&mechanics),
        4 => report::json(&mechanics, 0.0),
        5 => report::rust(&mechanics),
        6 => report::c(&mechanics),
        _ => report::sympy(&mechanics),
    };
    assert!(!text.is_empty());
}
