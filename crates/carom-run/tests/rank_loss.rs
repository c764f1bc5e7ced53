//! Constraint rows that lose their rank at an isolated instant.

mod common;

use carom_run::{Motion, StopReason};
use common::{run, run_at, signal};

/// N windows in a row: pivots at (i, 0), rods of 1 kg and 1 m; (x_i, y_i) are the upper joints.
fn windows(count: usize) -> String {
    let names: Vec<String> = (0..=count).flat_map(|i| [format!("\"x{i}\""), format!("\"y{i}\"")]).collect();
    let mut kinetic = Vec::new();
    let mut potential = Vec::new();
    let mut rows = String::new();
    for i in 0..=count {
        // A rod of 1 kg with an end at rest: (ẋ² + ẏ²)/6; between two joints: (u·u + u·w + w·w)/6.
        kinetic.push(format!("(x{i}'^2 + y{i}'^2)/6"));
        potential.push(format!("9.81*y{i}/2"));
        rows += &format!("crank{i} = \"(x{i} - {i})^2 + y{i}^2 - 1\"\n");
        if i > 0 {
            let j = i - 1;
            kinetic.push(format!("(x{i}'^2 + y{i}'^2 + x{j}'^2 + y{j}'^2 + x{i}'*x{j}' + y{i}'*y{j}')/6"));
            potential.push(format!("9.81*(y{i} + y{j})/2"));
            rows += &format!("coupler{i} = \"(x{i} - x{j})^2 + (y{i} - y{j})^2 - 1\"\n");
        }
    }
    let position: Vec<String> =
        (0..=count).flat_map(|i| [format!("x{i} = {i}"), format!("y{i} = 1")]).collect();
    let velocity: Vec<String> = (0..=count).map(|i| format!("x{i} = 1")).collect();
    format!(
        "coordinates = [{}]\n[energy]\nkinetic = \"{}\"\npotential = \"{}\"\n[holonomic]\n{rows}\
         [start]\nposition = {{ {} }}\nvelocity = {{ {} }}\n[run]\nuntil = 10.0\n",
        names.join(", "),
        kinetic.join(" + "),
        potential.join(" + "),
        position.join(", "),
        velocity.join(", "),
    )
}

/// The same in the angle of the cranks from the vertical: the couplers move like points.
fn one_angle(count: usize) -> String {
    let n = count as f64;
    let inertia = (n + 1.0) / 3.0 + n;
    let weight = 9.81 * ((n + 1.0) / 2.0 + n);
    format!(
        "coordinates = [\"a\"]\n[energy]\nkinetic = \"{inertia:?}*a'^2/2\"\npotential = \"{weight:?}*cos(a)\"\n\
         [start]\nvelocity = {{ a = 1 }}\n[run]\nuntil = 10.0\n"
    )
}

fn times() -> Vec<f64> {
    (0..=400).map(|k| f64::from(k) / 40.0).collect()
}

/// The largest difference between signals of two motions, by name.
fn apart(motion: &Motion, reference: &Motion, names: &[(&str, &str)]) -> f64 {
    let mut worst = 0.0_f64;
    for (here, there) in names {
        let all = [&reference.position, &reference.output].into_iter().flatten();
        let there = &all.clone().find(|s| s.name == *there).unwrap_or_else(|| panic!("{there}")).values;
        for (a, b) in signal(&motion.position, here).iter().zip(there) {
            worst = worst.max((a - b).abs());
        }
    }
    worst
}

#[test]
fn windows_pass_their_flat_position_on_their_own_branch() {
    for count in [1, 2, 10] {
        let motion = run_at(&windows(count), &times());
        assert_eq!(motion.stop.reason, StopReason::Reached, "{count}: {:?}", motion.stop);
        let reference = run_at(&one_angle(count), &times());
        let angle = signal(&reference.position, "a");
        let mut worst = 0.0_f64;
        for i in 0..=count {
            let (x, y) =
                (signal(&motion.position, &format!("x{i}")), signal(&motion.position, &format!("y{i}")));
            for (k, a) in angle.iter().enumerate() {
                worst = worst.max((x[k] - i as f64 - a.sin()).abs()).max((y[k] - a.cos()).abs());
            }
        }
        println!(
            "{count}: {worst:e} energy {:e} rows {:e} steps {}",
            motion.audit.hamiltonian_drift, motion.audit.constraint_drift, motion.audit.steps
        );
        assert!(worst < 1e-9, "{count} windows: {worst:e}");
        assert!(motion.audit.hamiltonian_drift < 1e-12, "{count}: {:e}", motion.audit.hamiltonian_drift);
        assert!(motion.audit.constraint_drift < 1e-9, "{count}: {:e}", motion.audit.constraint_drift);
        assert_eq!(motion.audit.verdict, carom_run::Verdict::Ok, "{:?}", motion.warnings);
    }
}

/// Crank and rod of length 1, a slider on the axis: x = 2 cos θ, and locked at x = 0 on the other branch.
const SLIDER_CRANK: &str = r#"
coordinates = ["px", "py", "x"]
[energy]
kinetic = "(px'^2 + py'^2 + 2*x'^2)/2"
potential = "3*py"
[holonomic]
crank = "px^2 + py^2 - 1"
rod = "(x - px)^2 + py^2 - 1"
[start]
position = { px = 0.6, py = 0.8, x = 1.2 }
velocity = { px = -1.6, py = 1.2, x = -3.2 }
[run]
until = 10.0
"#;

const SLIDER_CRANK_ANGLE: &str = r#"
coordinates = ["a"]
[define]
px = "cos(a)"
py = "sin(a)"
x = "2*cos(a)"
[energy]
kinetic = "(px'^2 + py'^2 + 2*x'^2)/2"
potential = "3*py"
[output]
ox = "px"
oy = "py"
slider = "x"
[start]
position = { a = "acos(0.6)" }
velocity = { a = 2.0 }
[run]
until = 10.0
"#;

#[test]
fn an_equal_length_slider_crank_does_not_lock() {
    let motion = run_at(SLIDER_CRANK, &times());
    assert_eq!(motion.stop.reason, StopReason::Reached, "{:?}", motion.stop);
    let reference = run_at(SLIDER_CRANK_ANGLE, &times());
    let worst = apart(&motion, &reference, &[("px", "ox"), ("py", "oy"), ("x", "slider")]);
    println!("slider-crank {worst:e} energy {:e}", motion.audit.hamiltonian_drift);
    assert!(worst < 1e-9, "{worst:e}");
    assert!(motion.audit.hamiltonian_drift < 1e-12, "{:e}", motion.audit.hamiltonian_drift);
}

#[test]
fn the_same_by_its_hamiltonian() {
    let text = SLIDER_CRANK
        .replace("[energy]\nkinetic = \"(px'^2 + py'^2 + 2*x'^2)/2\"\npotential = \"3*py\"", "")
        .replace(
            "\"x\"]\n",
            "\"x\"]\nmomenta = [\"u\", \"v\", \"w\"]\nhamiltonian = \"(u^2 + v^2 + w^2/2)/2 + 3*py\"\n",
        )
        .replace(
            "velocity = { px = -1.6, py = 1.2, x = -3.2 }",
            "momentum = { u = -1.6, v = 1.2, w = -6.4 }",
        );
    let motion = run_at(&text, &times());
    assert_eq!(motion.stop.reason, StopReason::Reached, "{:?}", motion.stop);
    let reference = run_at(SLIDER_CRANK_ANGLE, &times());
    let worst = apart(&motion, &reference, &[("px", "ox"), ("py", "oy"), ("x", "slider")]);
    println!("hamiltonian {worst:e} energy {:e}", motion.audit.hamiltonian_drift);
    assert!(worst < 1e-9, "{worst:e}");
}

/// A bead on a curve given by one row, pushed along it.
fn bead(row: &str, position: &str, velocity: &str) -> String {
    format!(
        "coordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\n[holonomic]\ncurve = \"{row}\"\n\
         [start]\nposition = {{ {position} }}\nvelocity = {{ {velocity} }}\n[run]\nuntil = 4.0\n"
    )
}

fn stops_naming(text: &str, row: &str, between: [f64; 2]) {
    match common::try_run(text) {
        Ok(motion) => {
            let detail = motion.stop.detail.clone().unwrap_or_default();
            println!("{:?} {} {detail}", motion.stop.reason, motion.stop.time);
            assert_eq!(motion.stop.reason, StopReason::Singular, "{detail}");
            assert!(detail.contains(row) && detail.contains("t = "), "{detail}");
            assert!((between[0]..=between[1]).contains(&motion.stop.time), "{:?}", motion.stop);
            assert!(motion.audit.hamiltonian_drift < 1e-9, "{:e}", motion.audit.hamiltonian_drift);
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn cusps_end_the_motion() {
    // The length of y² = x³ from the origin to (1, 1) is (13^1.5 − 8)/27.
    let length = (13.0_f64.powf(1.5) - 8.0) / 27.0;
    stops_naming(
        &bead("y^2 - x^3", "x = 1, y = 1", "x = -2, y = -3"),
        "`curve`",
        [0.99 * length / 13.0_f64.sqrt(), length / 13.0_f64.sqrt()],
    );
    stops_naming(&bead("y^2 - x^3", "x = 0, y = 0", "x = 1"), "`curve`", [0.0, 0.0]);
}

#[test]
fn double_rows_end_the_motion_at_its_start() {
    stops_naming(&bead("(x - 1)^2", "x = 1, y = 0", "y = 1"), "`curve`", [0.0, 0.0]);
}

#[test]
fn a_start_at_the_flat_position_is_singular() {
    let flat = "coordinates = [\"x1\", \"y1\", \"x2\", \"y2\"]\n[energy]\nkinetic = \"(x1'^2 + y1'^2 + x2'^2 + y2'^2)/2\"\n\
        [holonomic]\nleft = \"x1^2 + y1^2 - 1\"\nright = \"(x2 - 1)^2 + y2^2 - 1\"\ntop = \"(x2 - x1)^2 + (y2 - y1)^2 - 1\"\n\
        [start]\nposition = { x1 = 1, y1 = 0, x2 = 2, y2 = 0 }\nvelocity = { y1 = 1, y2 = 1 }\n[run]\nuntil = 1.0\n";
    stops_naming(flat, "`top`", [0.0, 0.0]);
}

#[test]
fn a_row_times_a_function_that_vanishes_changes_nothing() {
    // On the circle with x² + y² = 1 the second factor vanishes twice per turn.
    for factor in ["y - 0.5*x", "x*y", "sin(x + 0.3)"] {
        let text = bead(&format!("(x^2 + y^2 - 1)*({factor})"), "x = 0.8, y = 0.6", "x = -1.2, y = 1.6");
        let motion = run_at(&text, &times()[..200]);
        assert_eq!(motion.stop.reason, StopReason::Reached, "{factor}: {:?}", motion.stop);
        let start = 0.6_f64.atan2(0.8);
        for (k, t) in motion.time.iter().enumerate() {
            let angle = start + 2.0 * t;
            let (x, y) = (signal(&motion.position, "x")[k], signal(&motion.position, "y")[k]);
            assert!((x - angle.cos()).abs() + (y - angle.sin()).abs() < 1e-9, "{factor} at {t}");
        }
        println!("{factor}: {:e}", motion.audit.hamiltonian_drift);
        assert!(motion.audit.hamiltonian_drift < 1e-10, "{factor}: {:e}", motion.audit.hamiltonian_drift);
    }
}

/// The parallelogram with an event where it is flat, one beyond, and a wall that the coupler meets later.
fn flat_events(extra: &str) -> String {
    format!(
        "coordinates = [\"x1\", \"y1\", \"x2\", \"y2\"]\n[energy]\nkinetic = \"(x1'^2 + y1'^2 + x2'^2 + y2'^2)/2\"\n\
         [holonomic]\nleft = \"x1^2 + y1^2 - 1\"\nright = \"(x2 - 1)^2 + y2^2 - 1\"\n\
         top = \"(x2 - x1)^2 + (y2 - y1)^2 - 1\"\n\
         [start]\nposition = {{ x1 = 0, y1 = 1, x2 = 1, y2 = 1 }}\nvelocity = {{ x1 = 1, x2 = 1 }}\n\
         [run]\nuntil = 12.0\n{extra}"
    )
}

#[test]
fn events_within_the_step_across_are_found() {
    use std::f64::consts::{FRAC_PI_2, PI};
    // The angle grows at rate 1: flat at π/2 + kπ.
    let extra = "[event.flat]\nwhen = \"y1\"\n[event.again]\nwhen = \"y2 - 1e-9\"\n\
        [event.beyond]\nwhen = \"y2 + 0.01\"\ndirection = \"falling\"\n";
    let motion = run(&flat_events(extra));
    assert_eq!(motion.stop.reason, StopReason::Reached, "{:?}", motion.stop);
    let times =
        |e: usize| motion.events.iter().filter(|r| r.event == e).map(|r| r.time).collect::<Vec<f64>>();
    let near = |a: &[f64], b: &[f64]| {
        assert_eq!(a.len(), b.len(), "{a:?} {b:?}");
        a.iter().zip(b).for_each(|(a, b)| assert!((a - b).abs() < 2e-9, "{a} {b}"));
    };
    let flat: Vec<f64> = (0..4).map(|k| FRAC_PI_2 + PI * f64::from(k)).take_while(|t| *t < 12.0).collect();
    near(&times(0), &flat);
    near(&times(1), &flat);
    near(&times(2), &[(-0.01_f64).acos(), 2.0 * PI + (-0.01_f64).acos()]);
    assert!(motion.audit.hamiltonian_drift < 1e-12);
}

#[test]
fn an_impact_soon_after_the_flat_position_is_an_impact() {
    // The wall turns the linkage back just after it was flat, on either side.
    let extra = "[wall.stop]\ngap = \"y1 + 0.02\"\n";
    let motion = run(&flat_events(extra));
    assert_eq!(motion.stop.reason, StopReason::Reached, "{:?}", motion.stop);
    let hit = (-0.02_f64).acos();
    let wanted: Vec<f64> = (0..4).map(|k| hit + 2.0 * hit * f64::from(k)).take_while(|t| *t < 12.0).collect();
    let found: Vec<f64> = motion.impacts.iter().map(|i| i.time).collect();
    assert_eq!(found.len(), wanted.len(), "{found:?} {wanted:?}");
    found.iter().zip(&wanted).for_each(|(a, b)| assert!((a - b).abs() < 1e-9, "{a} {b}"));
    // Every impact is where the rows have come to 0.02 of depending on each other: their solutions magnify rounding by its
    // inverse, twice in a row (force, then velocity); some thirty roundings of E = 1 in each of four.
    let bound = 4.0 * 32.0 * f64::EPSILON / (0.02 * 0.02);
    assert!(motion.audit.hamiltonian_drift < bound, "{:e}", motion.audit.hamiltonian_drift);
}

#[test]
fn an_impact_at_the_flat_position_is_undecided() {
    let motion = run(&flat_events("[wall.stop]\ngap = \"y1\"\n"));
    println!("{:?}", motion.stop);
    assert_eq!(motion.stop.reason, StopReason::Singular, "{:?}", motion.stop);
    let detail = motion.stop.detail.unwrap_or_default();
    assert!(detail.contains("`top`") && detail.contains("t = 1.570796"), "{detail}");
}

#[test]
fn multipliers_at_the_flat_position_are_not_numbers_and_the_rest_is() {
    use std::f64::consts::FRAC_PI_2;
    let motion = run_at(
        &flat_events("[output]\nay = \"y1''\"\n"),
        &[1.0, FRAC_PI_2 - 1e-7, FRAC_PI_2, FRAC_PI_2 + 1e-7, 2.0],
    );
    for (k, t) in motion.time.iter().enumerate() {
        let null = (t - FRAC_PI_2).abs() < 1e-6;
        assert!(
            motion.multiplier.iter().all(|m| m.values[k].is_nan() == null),
            "{t}: {:?}",
            motion.multiplier
        );
        assert!((signal(&motion.position, "y1")[k] - t.cos()).abs() < 1e-11, "{t}");
        assert!((signal(&motion.velocity, "y1")[k] + t.sin()).abs() < 1e-9, "{t}");
        let ay = signal(&motion.output, "ay")[k];
        assert!((ay + t.cos()).abs() < 1e-6, "{t}: {ay}");
    }
}

#[test]
fn a_run_may_end_at_the_flat_position() {
    let motion = run_at(&flat_events(""), &[0.5, std::f64::consts::FRAC_PI_2]);
    assert_eq!(motion.stop.reason, StopReason::Reached, "{:?}", motion.stop);
    assert!(signal(&motion.position, "y1")[1].abs() < 1e-12);
    assert!((signal(&motion.position, "x2")[1] - 2.0).abs() < 1e-12);
}
