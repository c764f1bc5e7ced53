//! Every gallery model runs, and keeps its laws.

#![allow(clippy::excessive_precision)]

mod common;

use carom_run::{Options, Program, simulate};

#[path = "../../../tests/gallery.rs"]
mod gallery;

#[test]
fn every_gallery_model_runs_and_keeps_its_laws() {
    let mut failures = Vec::new();
    for name in gallery::names() {
        let (draft, problems) = carom_mech::Draft::read(gallery::path(&name)).unwrap();
        assert!(problems.is_empty(), "{name}: {problems:?}");
        let mechanics = match draft.check().and_then(|(model, _)| carom_mech::derive(model)) {
            Ok(m) => m,
            Err(e) => {
                failures.push(format!("{name}: {e:?}"));
                continue;
            }
        };
        let program = Program::compile(&mechanics).unwrap();
        let start = std::time::Instant::now();
        let motion = match simulate(&program, &Options::of(&mechanics.model)) {
            Ok(m) => m,
            Err(e) => {
                failures.push(format!("{name}: {e}"));
                continue;
            }
        };
        let a = &motion.audit;
        println!(
            "{name}: {} at {} {:?}; {} impacts {} contacts {} events; E {:.1e} c {:.1e} law {:.1e} deep {:.1e}; {} steps {:.1} ms {:?}",
            motion.stop.reason.name(),
            motion.stop.time,
            motion.stop.detail,
            motion.impacts.len(),
            motion.contacts.len(),
            motion.events.len(),
            a.hamiltonian_drift,
            a.constraint_drift,
            a.impact_law_residual,
            a.deepest_penetration,
            a.steps,
            start.elapsed().as_secs_f64() * 1e3,
            motion.warnings
        );
        if !(a.hamiltonian_drift < 1e-11 && a.constraint_drift < 1e-11 && a.impact_law_residual < 1e-12) {
            failures.push(format!("{name}: {a:?}"));
        }
        if a.deepest_penetration > 1e-12 {
            failures.push(format!("{name}: went {:e} through a wall", a.deepest_penetration));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
