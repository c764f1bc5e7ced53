//! A draft printed as a model file and read back says the same, for every key there is.

use carom_mech::{Draft, schema};
use proptest::prelude::*;

#[path = "../../../tests/gallery.rs"]
mod gallery;

/// A model that uses every key of the schema; it need not be a sensible one.
const EVERY_KEY: &str = r#"
name        = "Every \"key\" of them\tall"
coordinates = ["x", "φ"]
lagrangian  = '''x'^2/2
  - V(x)'''
hamiltonian = "p^2/2"
momenta     = ["p", "p_φ"]
gravity     = [0.0, "-g", 1_000]

[parameters]
m = 1.0
hex = 0x10
"with space" = "m/2"

[define]
y = "x^2"

[input]
u = "sin(t)"
v = { file = "v.csv", column = "v v", time = "t", interpolate = "linear" }

[energy]
kinetic     = "x'^2"
potential   = 0
dissipation = "b*x'^2"

[body.bob]
mass    = "m"
at      = ["x", "y"]
inertia = ["I1", "I2", 3]
angle   = "φ"
spin    = ["w1", "w2", "w3"]
radius  = 0.5
polygon = [[0, "a"], ["b", 1], [2, 3]]
box     = ["a", 2]
orientation = ["q0", "q1", "q2", 0]

[force.push]
at          = ["x", 0]
vector      = ["1", "2"]
generalized = { x = "-k*x", "φ" = 1.5 }

[holonomic]
rod = "x^2 - 1"

[nonholonomic]
roll = "x' - φ'"

[driven]
"φ" = "t"

[wall.left]
gap         = "x"
restitution = 0.5
draw        = "x"

[event.apex]
when      = "x'"
direction = "falling"
action    = "set"
only_if   = "x"
set       = { x = "-x", "x'" = "-x'" }

[output]
speed = "x''"

[units]
x = "m"

[view]
links   = [["origin", "bob"], [["x", "y"], "bob"]]
springs = [["origin", ["0", "y"]]]
traces  = ["bob", ["x", "y", "0"]]
circles  = [["origin", "R"], [["x", "y", 0], 1, [0, 0, "1"]]]
polygons = [["origin", "bob", ["x", 1]]]
hide     = ["bob"]
range   = [-1.0, 1, "-a", 1e3]

[start]
position = { x = 1.0, "φ" = "pi/2" }
velocity = { x = "2*pi" }
momentum = { p = -1 }
project  = true

[run]
until        = "2*pi"
from         = -1.0
tolerance    = 1e-12
method       = "rk4"
step         = 0.01
samples      = 11
max_impacts  = 5
max_steps    = 1000
impact_order = "sequential"
"#;

/// Everything a draft says, without places.
fn said(draft: &Draft) -> String {
    let shown = format!(
        "{:?}",
        Draft { sources: Vec::new(), file: String::new(), folder: Default::default(), ..draft.clone() }
    );
    // A place is `At { source: 0, start: 12, end: 34 }`.
    let mut out = String::new();
    let mut rest = shown.as_str();
    while let Some(at) = rest.find("At { source") {
        out.push_str(&rest[..at]);
        rest = &rest[at + rest[at..].find('}').unwrap() + 1..];
    }
    out + rest
}

fn round_trip(draft: &Draft) {
    let printed = draft.to_toml();
    let (again, problems) = Draft::parse(&printed, "printed.toml");
    assert!(problems.is_empty(), "{printed}\n{problems:?}");
    assert_eq!(again.to_toml(), printed);
    // Blanks in formulas are all the same.
    let blanks = |text: String| text.replace("\\n", " ").replace("\\t", " ");
    assert_eq!(blanks(said(&again)), blanks(said(draft)), "{printed}");
}

#[test]
fn every_key_of_the_schema_is_printed_and_read_back() {
    let (draft, problems) = Draft::parse(EVERY_KEY, "every.toml");
    assert!(problems.is_empty(), "{problems:?}");
    let printed = draft.to_toml();
    for entry in schema::schema().iter().filter(|entry| entry.key != "*") {
        assert!(
            // At the head of a line, or inside an inline table: `v = { file = "v.csv", … }`.
            printed.lines().any(|line| line.split(['{', ',']).any(|part| part
                .split('=')
                .next()
                .unwrap()
                .trim()
                == entry.key)),
            "[{}] {} is not printed: add it to draft/print.rs and to the model above",
            entry.table,
            entry.key
        );
    }
    round_trip(&draft);
}

#[test]
fn every_gallery_model_printed_and_read_back_says_the_same() {
    for (_, text) in gallery::all() {
        round_trip(&Draft::parse(&text, "model.toml").0);
    }
}

proptest! {
    #[test]
    fn any_text_of_a_name_or_title_reads_back(title in any::<String>(), name in "[a-z φ.'\"\\\\-]{1,8}") {
        let mut draft = Draft::parse("coordinates = [\"x\"]\nlagrangian = \"x'^2\"\n[parameters]\nm = 1", "m.toml").0;
        draft.name = Some(title.clone());
        draft.parameters[0].0.text = name.clone();
        let again = Draft::parse(&draft.to_toml(), "m.toml").0;
        prop_assert_eq!(again.name, Some(title));
        prop_assert_eq!(&again.parameters[0].0.text, &name);
    }
}
