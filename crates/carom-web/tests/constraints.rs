//! Hands on a model with constraints: whatever is pulled or changed, its rows hold.

use carom_web::{Engine, Host};
use serde_json::{Value, json};

struct Still;

impl Host for Still {
    fn now(&self) -> f64 {
        0.0
    }

    fn progress(&self, _: &carom::Progress, _: f64) -> bool {
        true
    }
}

fn ask(what: &str, question: &Value) -> Value {
    let answer = Engine::default().answer(what, &question.to_string(), &Still).unwrap();
    serde_json::from_str(&answer.json).unwrap()
}

/// A bead on the unit circle; `more` are further rows.
fn bead(more: &str) -> String {
    format!(
        "coordinates = [\"x\", \"y\"]\n[parameters]\nr = 1.0\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"y\"\n\
         [holonomic]\nrod = \"x^2 + y^2 - r^2\"\n{more}[start]\nposition = {{ x = 0.8, y = -0.6 }}\n\
         [view]\nlinks = [[\"origin\", [\"x\", \"y\"]]]\n[run]\nuntil = 1.0\n"
    )
}

/// Index of the bead among the points that are drawn, and where it is at the start.
fn point(text: &str) -> usize {
    let run = ask("run", &json!({ "text": text }));
    let points = run["scene"]["points"].as_array().unwrap();
    points.iter().position(|p| p["role"] != "pivot").unwrap()
}

#[test]
fn a_bead_pulled_anywhere_comes_to_the_nearest_point_of_its_circle_and_simulates() {
    // The second row says the same as the first: dependent rows are allowed.
    for more in ["", "again = \"2*(x^2 + y^2 - r^2)\"\n"] {
        let text = bead(more);
        let point = point(&text);
        for target in [[2.0, 1.0], [0.3, 0.1], [-0.7, 5.0], [0.6, -0.8], [5.0, 4.0]] {
            let drag = ask("drag", &json!({ "text": text, "point": point, "target": target }));
            let (x, y) = (drag["values"]["x"].as_f64().unwrap(), drag["values"]["y"].as_f64().unwrap());
            // The nearest point of the circle lies on the ray to the target: found to the square root of rounding, as minima are.
            let size = f64::hypot(target[0], target[1]);
            let nearest = [target[0] / size, target[1] / size];
            assert!(f64::hypot(x - nearest[0], y - nearest[1]) < 1e-6, "{target:?}: {x}, {y}");
            // The row itself to rounding: three operations on numbers of size 1.
            assert!((x * x + y * y - 1.0).abs() < 1e-15, "{target:?}: {:e}", x * x + y * y - 1.0);
            assert_eq!(drag["reached"], (size - 1.0).abs() < 1e-3, "{target:?}");
            let run = ask("run", &json!({ "text": text, "values": { "x": x, "y": y } }));
            assert_eq!(run["ok"], true, "{}", run["diagnostics"]);
            let said = run["motion"]["warnings"].to_string();
            assert!(!said.contains("moved onto") && !said.contains("drift"), "{target:?}: {said}");
        }
    }
}

#[test]
fn a_slider_that_breaks_a_row_moves_the_start_onto_it_and_says_so() {
    let text = bead("");
    for values in [json!({ "r": 2.0 }), json!({ "x": 0.5 }), json!({ "y": 0.9 })] {
        let run = ask("run", &json!({ "text": text, "values": values }));
        assert_eq!(run["ok"], true, "{}", run["diagnostics"]);
        let said = run["motion"]["warnings"][0].as_str().unwrap();
        assert!(said.contains("moved onto the constraints") && said.contains("in place of"), "{said}");
        assert_eq!(run["motion"]["stop"]["reason"], "reached");
    }
    // The text itself is held to what it says: no number was changed there.
    let wrong = text.replace("x = 0.8", "x = 0.7");
    let run = ask("run", &json!({ "text": wrong }));
    assert_eq!(run["ok"], false);
    // A notebook simulates the same.
    let engine = &mut Engine::default();
    let question = json!({ "text": text, "values": { "r": 2.0 }, "as": "notebook" }).to_string();
    let bytes = engine.answer("export", &question, &Still).unwrap().buffers.remove(0);
    assert!(String::from_utf8(bytes).unwrap().contains("project=True"));
}
