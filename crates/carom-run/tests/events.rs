//! User events, grazing, switching surfaces, inputs.

#![allow(clippy::excessive_precision)]

mod common;

use carom_run::StopReason;
use common::{close, run, run_at, signal};

#[test]
fn the_simplest_walker_returns_to_its_start_after_one_step() {
    let motion = run(r#"
coordinates = ["theta", "phi"]
lagrangian = "(theta'^2 + phi'^2)/2"
[parameters]
gamma = 0.009
th0 = 0.200310900544247
w0 = -0.199832473004952
[force.gravity]
generalized = { theta = "sin(theta - gamma)", phi = "sin(theta - gamma) + (theta'^2 - cos(theta - gamma))*sin(phi)" }
[event.apply_one_wall]
when = "phi - 2*theta"
direction = "rising"
action = "set"
set = { theta = "-theta", phi = "-2*theta", "theta'" = "cos(2*theta)*theta'", "phi'" = "cos(2*theta)*(1 - cos(2*theta))*theta'" }
[start]
position = { theta = "th0", phi = "2*th0" }
velocity = { theta = "w0", phi = "(1 - cos(2*th0))*w0" }
[run]
until = 4.0
"#);
    assert_eq!(motion.events.len(), 1, "{:?}", motion.events);
    let apply_one_wall = &motion.events[0];
    close(apply_one_wall.time, 3.882463752851374, 1e-11);
    close(apply_one_wall.position[0], 0.200310900544247, 1e-11);
    close(apply_one_wall.position[1], 2.0 * 0.200310900544247, 1e-11);
    close(apply_one_wall.velocity[0], -0.199832473004952, 1e-11);
    let back = (1.0 - (2.0f64 * 0.200310900544247).cos()) * -0.199832473004952;
    close(apply_one_wall.velocity[1], back, 1e-11);
}

fn thrown(extra: &str) -> String {
    format!(
        "coordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"2*y\"\n{extra}\n[start]\nvelocity = {{ x = 1.0, y = 4.0 }}\n[run]\nuntil = 4.0\n"
    )
}

#[test]
fn directions_and_conditions_choose_the_crossings() {
    let text = thrown(
        "[event.any]\nwhen = \"y - 3\"\n[event.up]\nwhen = \"y - 3\"\ndirection = \"rising\"\n[event.down]\nwhen = \"y - 3\"\ndirection = \"falling\"\n[event.late]\nwhen = \"y - 3\"\nonly_if = \"x - 2\"\n[event.top]\nwhen = \"y'\"\n[event.start]\nwhen = \"y\"\ndirection = \"rising\"",
    );
    let motion = run(&text);
    // y = 4t − t²: 3 at t = 1 (up) and 3 (down), top at 2, back at 0 at t = 4.
    let fired: Vec<(usize, f64)> = motion.events.iter().map(|e| (e.event, e.time)).collect();
    assert_eq!(fired.iter().map(|e| e.0).collect::<Vec<_>>(), vec![0, 1, 4, 0, 2, 3], "{fired:?}");
    for (&(_, t), e) in fired.iter().zip([1.0, 1.0, 2.0, 3.0, 3.0, 3.0]) {
        close(t, e, 1e-14);
    }
}

#[test]
fn an_event_stops_the_motion_and_says_so() {
    let motion = run(&thrown("[event.top]\nwhen = \"y'\"\naction = \"stop\""));
    assert_eq!(motion.stop.reason, StopReason::StoppedByEvent);
    assert_eq!(motion.stop.detail.as_deref(), Some("top"));
    close(motion.stop.time, 2.0, 1e-14);
    assert!(motion.time.iter().all(|t| *t <= motion.stop.time));
}

#[test]
fn a_reset_into_a_wall_is_refused() {
    let motion = run(&thrown(
        "[wall.floor]\ngap = \"y + 1\"\n[event.top]\nwhen = \"y'\"\naction = \"set\"\nset = { y = \"-5\" }",
    ));
    assert_eq!(motion.stop.reason, StopReason::InconsistentReset);
    assert!(motion.stop.detail.as_ref().unwrap().contains("floor"));
    close(motion.stop.time, 2.0, 1e-14);
}

#[test]
fn a_reset_that_ends_the_motion_is_listed_with_the_state_it_set() {
    let floor = "[wall.floor]\ngap = \"y + 1\"\n[event.top]\nwhen = \"y'\"\naction = \"set\"\n";
    for (set, reason, y) in [
        ("y = \"-5\"", StopReason::InconsistentReset, -5.0),
        ("y = \"exp(1000*t)\"", StopReason::NotFinite, f64::INFINITY),
    ] {
        let motion = run(&thrown(&format!("{floor}set = {{ {set} }}")));
        assert_eq!(motion.stop.reason, reason, "{:?}", motion.stop);
        let [top] = &motion.events[..] else { panic!("{:?}", motion.events) };
        assert_eq!(top.event, 0);
        close(top.time, 2.0, 1e-14);
        assert_eq!(top.position, [2.0, y]);
    }
}

#[test]
fn an_event_on_a_gap_does_not_fire_at_the_bounce_but_one_beside_it_does() {
    // y reaches −0 at t = 4 exactly when x reaches 4: the impact comes first, then the event on x.
    let text = thrown("[wall.floor]\ngap = \"y\"\n[event.gap]\nwhen = \"y\"\n[event.x]\nwhen = \"x - 4\"")
        .replace("until = 4.0", "until = 5.0");
    let motion = run(&text);
    assert_eq!(motion.impacts.len(), 1);
    assert_eq!(motion.events.iter().map(|e| e.event).collect::<Vec<_>>(), vec![1], "{:?}", motion.events);
    close(motion.events[0].velocity[1], 4.0, 1e-12);
}

fn ceiling(offset: &str) -> String {
    // Top of the arc at y = 4 exactly (t = 2).
    thrown(&format!("[wall.ceiling]\ngap = \"4 + {offset} - y\""))
}

#[test]
fn a_ceiling_just_below_the_top_is_always_hit_and_one_just_above_never() {
    let hit = run(&ceiling("-1e-10"));
    assert_eq!(hit.impacts.len(), 1, "{:?}", hit.impacts);
    close(hit.impacts[0].time, 2.0 - 1e-5, 1e-9);
    close(hit.impacts[0].gap_rate_before[0], -2e-5, 1e-9);
    let missed = run(&ceiling("1e-10"));
    assert!(missed.impacts.is_empty() && missed.grazes.is_empty());
}

#[test]
fn exact_tangency_is_a_graze_and_changes_nothing() {
    let motion = run(&ceiling("0"));
    assert!(motion.impacts.is_empty(), "{:?}", motion.impacts);
    assert_eq!(motion.grazes.len(), 1, "{:?}", motion.grazes);
    close(motion.grazes[0].time, 2.0, 1e-7);
    assert_eq!(*signal(&motion.velocity, "y").last().unwrap(), -4.0);
}

#[test]
fn tangency_with_rounding_changes_no_velocity_visibly() {
    // Tops that are not exact in binary.
    for k in 1..40 {
        let v = 1.0 + 0.1 * f64::from(k);
        let text = format!(
            "coordinates = [\"y\"]\n[parameters]\nv = {v}\ng = 9.81\n[energy]\nkinetic = \"y'^2/2\"\npotential = \"g*y\"\n[wall.ceiling]\ngap = \"v^2/(2*g) - y\"\n[start]\nvelocity = {{ y = {v} }}\n[run]\nuntil = 1.0\n"
        );
        let motion = run(&text);
        close(*signal(&motion.velocity, "y").last().unwrap(), v - 9.81, 1e-7);
        assert_eq!(motion.stop.reason, StopReason::Reached);
    }
}

#[test]
fn absolute_values_are_switched_exactly() {
    // V = |x|: parabolic arcs of period 4 sqrt(2 x0).
    let motion = run_at(
        "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"abs(x)\"\n[start]\nposition = { x = 0.5 }\n",
        &[1.0, 2.0, 4.0, 40.0],
    );
    for (k, expected) in [0.0, -0.5, 0.5, 0.5].into_iter().enumerate() {
        close(signal(&motion.position, "x")[k], expected, 1e-12);
    }
    assert!(motion.audit.hamiltonian_drift < 1e-14);
}

#[test]
fn dry_friction_stops_a_block_and_holds_it() {
    let block = |force: &str, until: f64| {
        format!(
            "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"0\"\n[force.push]\ngeneralized = {{ x = \"{force} - 2*sign(x')\" }}\n[start]\nvelocity = {{ x = 3.0 }}\n[run]\nuntil = {until}\n"
        )
    };
    // Decelerates at 2: stops at t = 1.5 after 2.25, and stays.
    let motion = run(&block("0", 4.0));
    assert_eq!(motion.stop.reason, StopReason::Reached, "{:?}", motion.stop);
    close(*signal(&motion.position, "x").last().unwrap(), 2.25, 1e-13);
    close(*signal(&motion.velocity, "x").last().unwrap(), 0.0, 1e-14);
    // A force growing like t overcomes the friction at t = 2.
    let motion = run(&block("t", 4.0));
    // v = 3 + t²/2 − 2t has no zero: never stops. With −t: v = 3 − t²/2 − 2t = 0 at t = −2 + √10.
    assert!(*signal(&motion.velocity, "x").last().unwrap() > 0.0);
    let motion = run(&block("-t", 4.0));
    let stop = -2.0 + 10f64.sqrt();
    // Held until t = 2, then −t + 2 accelerates backwards.
    close(*signal(&motion.velocity, "x").last().unwrap(), -(4.0f64 - 2.0).powi(2) / 2.0, 1e-12);
    assert!(stop < 2.0);
}

#[test]
fn a_table_input_drives_like_the_cubic_it_samples() {
    let dir = std::env::temp_dir().join(format!("carom-input-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let rows: String = (0..=10)
        .map(|i| {
            let t = 0.4 * f64::from(i);
            format!("{t},{}\n", 1.0 - t + 0.25 * t * t * t)
        })
        .collect();
    let path = dir.join("u.csv");
    std::fs::write(&path, format!("t,u\n{rows}")).unwrap();
    let text = format!(
        "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"0\"\n[input]\nu = {{ file = \"{}\", column = \"u\" }}\n[force.push]\ngeneralized = {{ x = \"u\" }}\n[run]\nuntil = 4.0\n",
        path.display()
    );
    let model_path = dir.join("model.toml");
    std::fs::write(&model_path, &text).unwrap();
    let (draft, problems) = carom_mech::Draft::read(&model_path).unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    let mechanics = carom_mech::derive(draft.check().unwrap().0).unwrap();
    let program = carom_run::Program::compile(&mechanics).unwrap();
    let motion = carom_run::simulate(&program, &carom_run::Options::of(&mechanics.model)).unwrap();
    let t = 4.0f64;
    close(*signal(&motion.velocity, "x").last().unwrap(), t - t * t / 2.0 + t.powi(4) / 16.0, 1e-12);
    assert!(motion.audit.hamiltonian_drift < 1e-13);
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_block_on_a_belt_sticks_and_slips() {
    // Friction falls with the relative speed: sticks to the belt (speed 0.5) until the spring force reaches 1.
    let motion = run(
        "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n[force.belt]\ngeneralized = { x = \"sign(0.5 - x')/(1 + 2*abs(0.5 - x'))\" }\n[event.slip]\nwhen = \"x - 1\"\ndirection = \"rising\"\n[run]\nuntil = 60.0\n",
    );
    assert_eq!(motion.stop.reason, StopReason::Reached, "{:?}", motion.stop);
    let speeds = signal(&motion.velocity, "x");
    let stuck = speeds.iter().filter(|v| (**v - 0.5).abs() < 1e-12).count();
    assert!(stuck > 20, "{stuck} of {} samples", speeds.len());
    // It slips exactly where the spring balances the largest friction, with the belt's speed.
    assert!(motion.events.len() >= 3);
    for slip in &motion.events {
        close(slip.velocity[0], 0.5, 1e-9);
    }
    assert!(speeds.iter().all(|v| *v < 0.5 + 1e-9));
}

#[test]
fn a_mass_at_rest_in_a_kink_stays_there() {
    let motion = run(
        "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"abs(x) - 0.3*x\"\n[run]\nuntil = 3.0\n",
    );
    assert_eq!(motion.stop.reason, StopReason::Reached, "{:?}", motion.stop);
    assert_eq!(*signal(&motion.position, "x").last().unwrap(), 0.0);
}

#[test]
fn resets_without_end_are_named() {
    let motion = run(
        "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"2*x\"\n[event.bounce]\nwhen = \"x\"\ndirection = \"falling\"\naction = \"set\"\nset = { \"x'\" = \"-0.5*x'\" }\n[start]\nposition = { x = 1.0 }\n[run]\nuntil = 10.0\n",
    );
    assert_eq!(motion.stop.reason, StopReason::ZenoWithoutContinuation, "{:?}", motion.stop);
    close(motion.stop.time, 3.0, 1e-10);
    assert!(motion.stop.detail.unwrap().contains("bounce"));
}

#[test]
fn resets_at_a_steady_tiny_pace_end_at_the_limit_and_are_kept() {
    let text = "coordinates = [\"y\"]\n[energy]\nkinetic = \"y'^2/2\"\n[event.back]\nwhen = \"y - 1\"\naction = \"set\"\nset = { y = \"1 - 1e-12\" }\n[start]\nvelocity = { y = 1 }\n[run]\nuntil = 3.0\nmax_impacts = 1000\nmax_steps = 5000\n";
    let motion = run(text);
    assert_eq!(motion.stop.reason, StopReason::ImpactLimit, "{:?}", motion.stop);
    assert!(motion.stop.detail.as_deref().is_some_and(|d| d.contains("`back`")));
    assert_eq!(motion.events.len(), 1000);
    // One reset per 1e-12 after the first at t = 1, and one too many; 1 − 1e-12 is rounded by at most ε/4 each time.
    close(motion.stop.time, 1.0 + 1000.0 * 1e-12, 1000.0 * f64::EPSILON / 4.0);
}

#[test]
fn an_event_whose_function_is_noisy_fires_once_per_crossing() {
    // Rounding of 1000 t is magnified: sin(1000 t) is zero to 1e-12 only, far more than its own rounding.
    let text = "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\n[event.z]\nwhen = \"sin(1000*x) - 1/2\"\ndirection = \"both\"\n[start]\nvelocity = { x = 1 }\n[run]\nuntil = 10.0\n";
    let motion = run(text);
    let angles =
        (0..).flat_map(|k| [1.0, 5.0].map(|sixth| (sixth / 6.0 + 2.0 * f64::from(k)) * std::f64::consts::PI));
    let wanted: Vec<f64> = angles.map(|a| a / 1000.0).take_while(|t| *t <= 10.0).collect();
    assert_eq!(motion.events.len(), wanted.len());
    for (event, time) in motion.events.iter().zip(&wanted) {
        // Half a unit of x for each of 3000 legs.
        close(event.time, *time, 3e-12);
    }
}

#[test]
fn events_a_few_roundings_apart_all_fire() {
    for apart in ["1e-15", "3e-15", "1e-14", "2e-14", "1e-13"] {
        let text = format!(
            "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\n[event.a]\nwhen = \"x - 1\"\n[event.b]\nwhen = \"x - 1 - {apart}\"\n[start]\nvelocity = {{ x = 1 }}\n[run]\nuntil = 2.0\n"
        );
        let fired: Vec<usize> = run(&text).events.iter().map(|e| e.event).collect();
        assert_eq!(fired, [0, 1], "{apart}");
    }
}

#[test]
fn flat_crossings_fire_once_also_at_the_instant_of_another_event() {
    for (function, flat) in [("x^3", 3.0), ("sin(x)^3", 3.0), ("x^5", 5.0)] {
        for start in 3..31 {
            let text = format!(
                "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n[event.a]\nwhen = \"{function}\"\n[event.b]\nwhen = \"x\"\n[start]\nposition = {{ x = {start}e-1 }}\n[run]\nuntil = 20.0\n"
            );
            let motion = run(&text);
            // The zeros are odd multiples of π/2; rounding makes one of order m unsure by ε^(1/m) of a step.
            for (event, unsure) in [(0, 8.0 * f64::EPSILON.powf(1.0 / flat)), (1, 1e-13)] {
                let times: Vec<f64> =
                    motion.events.iter().filter(|e| e.event == event).map(|e| e.time).collect();
                assert_eq!(times.len(), 6, "{function} from {start}: {times:?}");
                for (k, t) in times.iter().enumerate() {
                    close(*t, (k as f64 + 0.5) * std::f64::consts::PI, unsure);
                }
            }
        }
    }
}
