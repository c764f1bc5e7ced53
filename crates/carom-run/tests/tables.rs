//! Signals from tables: closed forms, rows as instants at which something may happen.

mod common;

use carom_mech::{Draft, derive};
use carom_run::{Motion, Options, Program, Sampling, simulate};
use common::{close, signal};
use proptest::prelude::*;

/// A model with the table `u.csv`.
fn program(text: &str, rows: &[(f64, f64)]) -> (Program, Options) {
    let (mut draft, problems) = Draft::parse(text, "test.toml");
    assert!(problems.is_empty(), "{problems:?}");
    let table: String = rows.iter().map(|(t, u)| format!("{t:?},{u:?}\n")).collect();
    draft.provide_table("u.csv", &format!("t,u\n{table}"));
    let (model, _) = draft.check().unwrap_or_else(|e| panic!("{e:?}"));
    let mechanics = derive(model).unwrap_or_else(|e| panic!("{e:?}"));
    let program = Program::compile(&mechanics).unwrap_or_else(|e| panic!("{e}"));
    let options = Options::of(&mechanics.model);
    (program, options)
}

fn run_at(text: &str, rows: &[(f64, f64)], times: &[f64]) -> Motion {
    let (program, mut options) = program(text, rows);
    options.until = times.iter().copied().fold(options.start.time, f64::max);
    options.sampling = Sampling::At(times.to_vec());
    simulate(&program, &options).unwrap_or_else(|e| panic!("{e}"))
}

fn pushed(interpolate: &str, extra: &str) -> String {
    format!(
        "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\n[input]\nu = {{ file = \"u.csv\", interpolate = \"{interpolate}\" }}\n[force.push]\ngeneralized = {{ x = \"u\" }}\n[output]\nu_shown = \"u\"\n{extra}"
    )
}

/// Position and velocity under a piecewise constant or linear acceleration.
fn exact(rows: &[(f64, f64)], linear: bool, t: f64) -> (f64, f64) {
    let (mut x, mut v) = (0.0, 0.0);
    for (k, &(from, a)) in rows.iter().enumerate() {
        let (to, next) = rows.get(k + 1).copied().unwrap_or((f64::INFINITY, a));
        let h = to.min(t) - from;
        if h <= 0.0 {
            break;
        }
        let slope = if linear && to.is_finite() { (next - a) / (to - from) } else { 0.0 };
        x += h * (v + h * (a / 2.0 + h * slope / 6.0));
        v += h * (a + h * slope / 2.0);
    }
    (x, v)
}

fn random_rows(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<(f64, f64)>> {
    prop::collection::vec((0.01f64..1.0, -3.0f64..3.0), count).prop_map(|steps| {
        let mut t = 0.0;
        steps
            .iter()
            .map(|&(h, u)| {
                let row = (t, u);
                t += h;
                row
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_held_or_linear_force_moves_a_mass_along_the_closed_form(rows in random_rows(2..12), linear in any::<bool>()) {
        let end = rows[rows.len() - 1].0;
        let mut times: Vec<f64> = rows.iter().map(|r| r.0).collect();
        times.extend((0..7).map(|k| end * f64::from(k) / 7.0));
        let motion = run_at(&pushed(if linear { "linear" } else { "hold" }, ""), &rows, &times);
        for (k, &t) in times.iter().enumerate() {
            let (x, v) = exact(&rows, linear, t);
            close(signal(&motion.position, "x")[k], x, 1e-13 * (1.0 + end * end));
            close(signal(&motion.velocity, "x")[k], v, 1e-13 * (1.0 + end));
        }
        // At a row what is shown is the state after, also at the very end.
        for (k, &(_, u)) in rows.iter().enumerate() {
            close(signal(&motion.output, "u_shown")[k], u, 1e-14);
        }
        prop_assert!(motion.audit.hamiltonian_drift < 1e-12, "{}", motion.audit.hamiltonian_drift);
    }

    #[test]
    fn a_force_from_a_smooth_table_stays_between_its_rows(rows in random_rows(3..12)) {
        let end = rows[rows.len() - 1].0;
        let times: Vec<f64> = (0..200).map(|k| end * f64::from(k) / 199.0).collect();
        let text = pushed("smooth", "").replace(", interpolate = \"smooth\"", "");
        let motion = run_at(&text, &rows, &times);
        for (k, &t) in times.iter().enumerate() {
            let i = rows.partition_point(|r| r.0 <= t).clamp(1, rows.len() - 1);
            let (a, b) = (rows[i - 1].1, rows[i].1);
            let u = signal(&motion.output, "u_shown")[k];
            prop_assert!(u >= a.min(b) - 1e-13 && u <= a.max(b) + 1e-13, "{u} is not between {a} and {b}");
        }
    }
}

#[test]
fn a_potential_that_switches_does_the_work_of_its_jump() {
    // V = u x²/2, u from 1 to 4 at t = 1: two oscillations joined; E jumps by 3 x²/2, and the audit knows.
    let text = "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"u*x^2/2\"\n[input]\nu = { file = \"u.csv\", interpolate = \"hold\" }\n[start]\nposition = { x = 1 }\n";
    let motion = run_at(text, &[(0.0, 1.0), (1.0, 4.0), (2.0, 4.0)], &[1.0, 2.0]);
    let (x, v) = (1f64.cos(), -1f64.sin());
    close(signal(&motion.position, "x")[1], x * 2f64.cos() + v / 2.0 * 2f64.sin(), 1e-14);
    close(motion.hamiltonian[0], v * v / 2.0 + 2.0 * x * x, 1e-14);
    assert!(motion.audit.hamiltonian_drift < 1e-14, "{}", motion.audit.hamiltonian_drift);
}

#[test]
fn events_and_impacts_at_the_very_rows_of_a_table_happen_once() {
    // x = t²/2 − 2 from rest under u = 1; a wall and an event where t = 2, a row. Later u = −1.
    for kind in ["hold", "linear", "smooth", "spline"] {
        let rows = [(0.0, 1.0), (1.0, 1.0), (2.0, 1.0), (3.0, 1.0), (4.0, 1.0)];
        let extra = "[event.a]\nwhen = \"x - 2\"\n[event.t]\nwhen = \"t - 3\"\n[event.back]\nwhen = \"x'\"\ndirection = \"falling\"\n";
        let motion = run_at(&pushed(kind, extra), &rows, &[4.0]);
        let fired: Vec<(usize, f64)> = motion.events.iter().map(|e| (e.event, e.time)).collect();
        assert_eq!(fired.iter().map(|f| f.0).collect::<Vec<_>>(), [0, 1], "{kind} {fired:?}");
        close(fired[0].1, 2.0, 1e-14);
        close(fired[1].1, 3.0, 1e-14);
        let wall = "[wall.stop]\ngap = \"2 - x\"\nrestitution = 0.5\n[event.a]\nwhen = \"x - 2\"\n[event.t]\nwhen = \"t - 2\"\n";
        let motion = run_at(&pushed(kind, wall), &rows, &[3.0]);
        assert_eq!(motion.impacts.len(), 1, "{kind}");
        close(motion.impacts[0].time, 2.0, 1e-14);
        // v⁺ = −1, and the force brings it back after 2.
        close(signal(&motion.velocity, "x")[0], 0.0, 1e-13);
        assert_eq!(
            motion.events.iter().map(|e| e.event).collect::<Vec<_>>(),
            [1],
            "{kind} {:?}",
            motion.events
        );
    }
}

#[test]
fn an_event_on_a_signal_that_jumps_over_zero_does_not_fire_and_one_that_falls_through_it_does() {
    let rows = [(0.0, 1.0), (1.0, -1.0), (2.0, 1.0), (3.0, 1.0)];
    let event = "[event.u]\nwhen = \"u\"\n";
    assert!(run_at(&pushed("hold", event), &rows, &[3.0]).events.is_empty());
    for kind in ["linear", "smooth", "spline"] {
        let times: Vec<f64> =
            run_at(&pushed(kind, event), &rows, &[3.0]).events.iter().map(|e| e.time).collect();
        assert_eq!(times.len(), 2, "{kind} {times:?}");
        assert!(times[0] > 0.0 && times[0] < 1.0 && times[1] > 1.0 && times[1] < 2.0, "{kind} {times:?}");
        if kind == "linear" {
            close(times[0], 0.5, 1e-14);
            close(times[1], 1.5, 1e-14);
        }
    }
}

#[test]
fn a_table_with_a_zero_at_a_row_is_crossed_once() {
    // u passes zero exactly at t = 1, a corner of the linear table, and touches it with another corner at t = 3.
    let rows = [(0.0, 1.0), (1.0, 0.0), (2.0, -3.0), (3.0, 0.0), (4.0, -1.0)];
    for kind in ["linear", "smooth"] {
        for (direction, count) in [("both", 1), ("falling", 1), ("rising", 0)] {
            let event = format!("[event.u]\nwhen = \"u\"\ndirection = \"{direction}\"\n");
            let motion = run_at(&pushed(kind, &event), &rows, &[4.0]);
            let times: Vec<f64> = motion.events.iter().map(|e| e.time).collect();
            assert_eq!(times.len(), count, "{kind} {direction} {times:?}");
            times.iter().for_each(|t| close(*t, 1.0, 1e-14));
        }
    }
}

#[test]
fn a_wall_moved_by_a_table_is_a_spline_and_one_that_is_told_to_be_smooth_is_that() {
    let text = |word: &str| {
        format!(
            "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\n[input]\nu = {{ file = \"u.csv\"{word} }}\n[wall.piston]\ngap = \"x - u\"\n[output]\nseen = \"u\"\n[start]\nposition = {{ x = 5.0 }}\n"
        )
    };
    let rows: Vec<(f64, f64)> =
        [0.0, 0.0, 0.0, 1.0, 1.0, 1.0].iter().zip(0..).map(|(u, k)| (f64::from(k), *u)).collect();
    let range = |word: &str| {
        let motion = run_at(&text(word), &rows, &(0..=500).map(|k| f64::from(k) / 100.0).collect::<Vec<_>>());
        signal(&motion.output, "seen").iter().fold(0.0f64, |m, u| m.max(*u - 1.0))
    };
    assert!(range("") > 0.01);
    assert!(range(", interpolate = \"spline\"") > 0.01);
    assert!(range(", interpolate = \"smooth\"") <= 1e-15);
}
