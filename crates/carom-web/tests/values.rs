//! Numbers that were changed, and the units in which people read them: every answer says the same.

use carom_web::{Answer, Engine, Host};
use serde_json::{Value, json};
use std::cell::Cell;

/// A clock that goes on by a millisecond whenever it is looked at.
#[derive(Default)]
struct Ticking(Cell<f64>);

impl Host for Ticking {
    fn now(&self) -> f64 {
        self.0.set(self.0.get() + 1e-3);
        self.0.get()
    }

    fn progress(&self, _: &carom::Progress, _: f64) -> bool {
        true
    }
}

fn answer(what: &str, question: &Value) -> (Value, Answer) {
    let answer = Engine::default().answer(what, &question.to_string(), &Ticking::default()).unwrap();
    (serde_json::from_str(&answer.json).unwrap(), answer)
}

fn ask(what: &str, question: &Value) -> Value {
    answer(what, question).0
}

fn exported(kind: &str, question: &Value) -> String {
    let mut question = question.clone();
    question["as"] = json!(kind);
    let (said, mut answer) = answer("export", &question);
    assert_eq!(said["ok"], true, "{kind}: {said}");
    String::from_utf8(answer.buffers.remove(0)).unwrap()
}

fn doubles(answer: &Answer, at: &Value) -> Vec<f64> {
    let bytes = &answer.buffers[at["f64"].as_u64().unwrap() as usize];
    bytes.chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
}

const DEGREES: f64 = std::f64::consts::PI / 180.0;

/// A pendulum whose angle is read in degrees and whose length in centimetres; both stand in the text with a unit.
const PENDULUM: &str = "coordinates = [\"theta\"]\n[parameters]\nl = \"30 cm\"\nlean = \"20 deg\"\nw = 2.0\ng = \"9.81 m/s^2\"\n[units]\ntheta = \"deg\"\n\
    lean = \"deg\"\nl = \"cm\"\n[energy]\nkinetic = \"l^2*theta'^2/2\"\npotential = \"-g*l*cos(theta - lean)\"\n\
    [start]\nposition = { theta = \"20 deg\" }\nvelocity = { theta = 0.5 }\n[event.low]\nwhen = \"theta\"\n[run]\nuntil = 2.0\n";

fn slider(outline: &Value, name: &str) -> Value {
    let all = outline["sliders"].as_array().unwrap();
    all.iter().find(|s| s["name"] == name).unwrap_or_else(|| panic!("no slider {name}")).clone()
}

#[test]
fn a_slider_in_degrees_or_centimetres_reads_as_the_text_does_and_ends_at_round_numbers() {
    let outline = ask("outline", &json!({ "text": PENDULUM }));
    assert_eq!(outline["ok"], true, "{outline}");
    for (name, unit, factor, reads, most) in [
        ("theta", "deg", DEGREES, 20.0, 180.0),
        ("lean", "deg", DEGREES, 20.0, 50.0),
        ("l", "cm", 0.01, 30.0, 100.0),
        ("theta'", "deg/s", DEGREES, 0.5 / DEGREES, 500.0),
    ] {
        let s = slider(&outline, name);
        assert_eq!(s["unit"], unit, "{name}");
        let number = |key: &str| s[key].as_f64().unwrap();
        let near = |x: f64, y: f64| (x - y).abs() <= 1e-14 * y.abs();
        assert!(near(number("factor"), factor), "{name}: {s}");
        assert!(near(number("value") / factor, reads), "{name}: {s}");
        assert!(near(number("max") / factor, most), "{name}: {s}");
        assert!(number("min") <= number("value") && number("value") <= number("max"), "{name}: {s}");
    }
    // Where a value stands with its unit, it is written back with it.
    for (name, stands, unit) in
        [("theta", "\"20 deg\"", json!("deg")), ("l", "\"30 cm\"", json!("cm")), ("w", "2.0", Value::Null)]
    {
        let s = slider(&outline, name);
        let (from, to) = (s["from"].as_u64().unwrap() as usize, s["to"].as_u64().unwrap() as usize);
        assert_eq!(&PENDULUM[from..to], stands, "{name}");
        assert_eq!(s["written"]["unit"], unit, "{name}");
    }
}

#[test]
fn a_column_with_its_factor_is_the_curve_that_is_drawn() {
    let (run, answer) = answer("run", &json!({ "text": PENDULUM, "samples": 5 }));
    let columns = run["columns"].as_array().unwrap();
    let drawn = run["scene"]["columns"].as_array().unwrap();
    let mut compared = 0;
    for c in columns {
        let Some(curve) = drawn.iter().find(|d| d["name"] == c["name"]) else { continue };
        let values = doubles(&answer, &c["values"]);
        let unit = c["unit"].as_str().unwrap_or("");
        assert_eq!(curve["unit"].as_str().unwrap_or(""), unit, "{}", c["name"]);
        // Base64 of little-endian doubles: the first is enough to tell a factor.
        let first = base64(curve["data"].as_str().unwrap());
        let read = values[0] / c["factor"].as_f64().unwrap();
        assert!((first - read).abs() <= 1e-15 * read.abs(), "{}: {first} drawn, {read}", c["name"]);
        compared += 1;
    }
    assert!(compared >= 4, "{compared}");
}

/// The first double of a base64 text.
fn base64(text: &str) -> f64 {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let sextets = text.bytes().take(12).map(|b| LETTERS.iter().position(|l| *l == b).unwrap_or(0) as u128);
    let bits = sextets.fold(0_u128, |all, s| all << 6 | s);
    let bytes: Vec<u8> = (0..8).map(|k| (bits >> (64 - 8 * k)) as u8).collect();
    f64::from_le_bytes(bytes.try_into().unwrap())
}

/// `b` follows from `a`.
const DEPENDENT: &str = "coordinates = [\"x\"]\n[parameters]\na = 2.0\nb = \"3*a\"\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"(a + b)*x^2/2\"\n\
    [start]\nposition = { x = 1.0 }\n[run]\nuntil = 1.0\n";

#[test]
fn reports_code_and_the_mathematics_say_the_values_of_the_sliders() {
    let question = json!({ "text": DEPENDENT, "values": { "a": 7.25 } });
    for kind in ["sympy", "rust", "c", "report_latex", "report_html", "report_markdown", "report_text"] {
        let file = exported(kind, &question);
        assert!(file.contains("7.25") || file.contains("29/4"), "{kind} has no a = 7.25");
        // Code may write b as the formula that it is.
        assert!(
            file.contains("21.75") || file.contains("87/4") || file.contains("3*a") || file.contains("3 * a"),
            "{kind} has no b"
        );
    }
    let derived = ask("derive", &question);
    let sections = derived["sections"].to_string();
    assert!(sections.contains("7.25") && sections.contains("21.75"), "{sections}");
    // A name that is none is said, not passed over.
    assert_eq!(ask("derive", &json!({ "text": DEPENDENT, "values": { "c": 1.0 } }))["ok"], false);
}

#[test]
fn a_notebook_carries_the_tables_that_the_model_reads_and_no_other() {
    let text = "coordinates = [\"x\"]\nlagrangian = \"x'^2/2\"\n[input]\nu = { file = \"u.csv\" }\n[force.push]\ngeneralized = { x = \"u\" }\n";
    let question =
        json!({ "text": text, "tables": { "u.csv": "t,u\n0,\"1\"\n1,1\n", "other.csv": "secret" } });
    let notebook: Value = serde_json::from_str(&exported("notebook", &question)).unwrap();
    let code = notebook["cells"][1]["source"].as_str().unwrap();
    assert!(code.contains(r#"tables={"u.csv": "t,u\n0,\"1\"\n1,1\n"}"#), "{code}");
    assert!(!code.contains("secret"), "{code}");
}

#[test]
fn all_neighbours_together_have_the_time_of_one_question() {
    // Each motion alone takes several tenths of a second of this clock, which ticks once per step.
    let text = "coordinates = [\"x\"]\nlagrangian = \"x'^2/2 - x^2/2\"\n[start]\nposition = { x = 1.0 }\n[run]\nuntil = 100000.0\n";
    let alone = Ticking::default();
    let question = json!({ "text": text, "samples": 3, "limits": { "seconds": 100.0 } });
    Engine::default().answer("run", &question.to_string(), &alone).unwrap();
    let takes = alone.now();
    assert!(takes > 0.1, "{takes}");
    for part in [0.6, 1.5, 2.5] {
        let clock = Ticking::default();
        let question =
            json!({ "text": text, "samples": 3, "count": 50, "limits": { "seconds": part * takes } });
        let answer = Engine::default().answer("sweep", &question.to_string(), &clock).unwrap();
        assert!(clock.now() <= part * takes + 0.02, "{} of {}", clock.now(), part * takes);
        let said: Value = serde_json::from_str(&answer.json).unwrap();
        assert!(said["done"].as_u64().unwrap() <= 4, "{}", said["done"]);
    }
}

#[test]
fn a_picture_of_a_motion_that_was_seen_is_simulated_once() {
    let text = "coordinates = [\"x\"]\nlagrangian = \"x'^2/2 - x^2/2\"\n[start]\nposition = { x = 1.0 }\n[run]\nuntil = 60000.0\n";
    let takes = |question: Value| {
        let clock = Ticking::default();
        Engine::default().answer("export", &question.to_string(), &clock).unwrap();
        clock.now()
    };
    let unknown = takes(json!({ "text": text, "as": "svg" }));
    let known = takes(json!({ "text": text, "as": "svg", "steps": 1000, "impacts": 0 }));
    assert!(known < 0.6 * unknown, "{known} and {unknown}");
}
