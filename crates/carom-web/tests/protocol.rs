//! The page's side of the contract says the same as the engine's.

use carom_web::{Engine, Host, LIMITS, MOST};

struct Still;

impl Host for Still {
    fn now(&self) -> f64 {
        0.0
    }

    fn progress(&self, _: &carom::Progress, _: f64) -> bool {
        true
    }
}

fn protocol() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../studio/src/engine/protocol.ts"))
        .unwrap()
}

#[test]
fn the_limits_that_the_page_knows_are_those_that_hold() {
    for (name, limits) in [("LIMITS", LIMITS), ("MOST", MOST)] {
        let protocol = protocol();
        let start = protocol.find(&format!("export const {name}: Limits = ")).unwrap();
        let line = protocol[start..].lines().next().unwrap().replace('_', "");
        let said = format!(
            "{{ seconds: {}, steps: {}, impacts: {}, samples: {} }}",
            limits.seconds, limits.steps, limits.impacts, limits.samples
        );
        assert!(line.contains(&said), "{line}\n{said}");
    }
}

#[test]
fn every_question_of_the_protocol_is_answered_and_no_other() {
    let protocol = protocol();
    let start = protocol.find("export interface Requests {").unwrap();
    let block = protocol[start..].split("\n}").next().unwrap();
    let names: Vec<&str> = block.lines().skip(1).filter_map(|line| line.trim().split(':').next()).collect();
    assert!(names.len() >= 12, "{names:?}");
    let text = carom::gallery::find("bouncing_mass").unwrap().text;
    let ask = serde_json::json!({ "text": text, "at": 0, "as": "csv", "count": 2, "point": 0, "target": [0.0, 1.0, 0.0] });
    for name in names {
        let answer = Engine::default().answer(name, &ask.to_string(), &Still).unwrap();
        let value: serde_json::Value = serde_json::from_str(&answer.json).unwrap();
        assert!(value.is_array() || value.get("ok").is_none_or(|ok| ok == true), "{name}: {}", answer.json);
    }
    assert!(Engine::default().answer("nothing", "{}", &Still).is_err());
}
