//! The verdict: no motion that is as good as its tolerance is doubted, none that drifted passes.

mod common;

use carom_mech::model::Method;
use carom_run::{Batch, JobSource, Motion, Options, Outcome, Program, SimulateError, Verdict, simulate};
use common::{program, run};

#[path = "../../../tests/gallery.rs"]
mod gallery;

fn drifts(motion: &Motion) -> bool {
    let warned = motion.warnings.iter().any(|w| w.contains("drifted by") || w.contains("law was kept only"));
    let doubted = motion.audit.verdict == Verdict::Drift;
    assert_eq!(warned, doubted, "{:?} {:?}", motion.audit, motion.warnings);
    doubted
}

#[test]
fn every_gallery_model_is_ok_at_every_tolerance() {
    let mut wrong = Vec::new();
    for (name, text) in gallery::all() {
        let (program, mut options) = program(&text);
        for tolerance in [1e-15, 1e-12, 1e-9, 1e-6] {
            options.tolerance = tolerance;
            options.sampling = carom_run::Sampling::Even(0);
            let motion = simulate(&program, &options).unwrap_or_else(|e| panic!("{name}: {e}"));
            if drifts(&motion) {
                wrong.push(format!("{name} at {tolerance:e}: {:?}", motion.warnings));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const DOUBLE: &str = r#"
coordinates = ["a", "b"]
[define]
x1 = "sin(a)"
y1 = "-cos(a)"
x2 = "x1 + sin(b)"
y2 = "y1 - cos(b)"
[energy]
kinetic = "(x1'^2 + y1'^2 + x2'^2 + y2'^2)/2"
potential = "9.81*(y1 + y2)"
[start]
position = { a = 2.0, b = 1.5 }
[run]
until = 5
"#;

#[test]
fn steps_of_fixed_length_are_ok_when_short_and_doubted_when_long() {
    let (program, mut options) = program(DOUBLE);
    let at = |step: f64, options: &mut Options| {
        options.method = Method::Rk4 { step };
        simulate(&program, options).unwrap()
    };
    let fine = at(1e-3, &mut options);
    assert!(!drifts(&fine) && fine.audit.hamiltonian_drift < 1e-6, "{:?}", fine.audit);
    let coarse = at(0.05, &mut options);
    assert!(drifts(&coarse) && coarse.audit.hamiltonian_drift > 1e-6, "{:?}", coarse.audit);
    assert!(coarse.warnings[0].contains("steps of 0.05 are too long"), "{:?}", coarse.warnings);
    options.method = Method::Taylor;
    assert!(!drifts(&simulate(&program, &options).unwrap()));
}

/// E is a difference of large terms, or the motion is nothing but rounding: no reason to doubt it.
#[test]
fn an_energy_of_zero_is_no_drift() {
    let cases = [
        // An escape at just the speed for it, both sides of the Legendre transform.
        "coordinates = [\"x\", \"y\"]\nlagrangian = \"(x'^2 + y'^2)/2 + 1/sqrt(x^2 + y^2)\"\n[start]\nposition = { x = 1 }\nvelocity = { y = \"sqrt(2)\" }\n[run]\nuntil = 50\n",
        "coordinates = [\"x\", \"y\"]\nhamiltonian = \"(p_x^2 + p_y^2)/2 - 1/sqrt(x^2 + y^2)\"\n[start]\nposition = { x = 1 }\nmomentum = { p_y = \"sqrt(2)\" }\n[run]\nuntil = 50\n",
        // At rest where the potential is a difference; at rest on a wall where it is the sine of π.
        "coordinates = [\"th\"]\n[energy]\nkinetic = \"th'^2/2\"\npotential = \"1 - cos(th)\"\n[start]\nposition = { th = \"2*pi\" }\n[run]\nuntil = 50\n",
        "coordinates = [\"th\"]\n[energy]\nkinetic = \"th'^2/2\"\npotential = \"sin(th)\"\n[wall.a]\ngap = \"sin(th)\"\nrestitution = 0.5\n[start]\nposition = { th = \"pi\" }\n[run]\nuntil = 5\n",
        // Far from the origin the state itself is known to fewer digits.
        "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"(x - 1e6)^2/2\"\n[start]\nposition = { x = 1000000.001 }\n[run]\nuntil = 100\n",
        // A start typed with ten digits misses its row by more than the motion ever does.
        "coordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"9.81*y\"\n[holonomic]\nrod = \"x^2 + y^2 - 1\"\n[start]\nposition = { x = 0.7071067812, y = -0.7071067812 }\n[run]\nuntil = 20\n",
    ];
    for text in cases {
        let motion = run(text);
        assert!(!drifts(&motion), "{text}\n{:?} {:?}", motion.audit, motion.warnings);
        assert!(motion.audit.hamiltonian_drift < 1e-6, "{text}\n{:?}", motion.audit);
    }
}

/// A long motion at the loosest tolerance: what that explains is still too much.
fn loose() -> (Program, Vec<Options>) {
    let text = "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2 - x^4/10\"\n[start]\nposition = { x = 1 }\n[run]\nuntil = 3000\n";
    let (program, options) = program(text);
    let all = (0..24).map(|i| {
        let mut options = options.clone();
        options.tolerance = 1e-2;
        options.start.position[0] = Some(0.6 + 0.04 * f64::from(i));
        options.sampling = carom_run::Sampling::Even(0);
        options
    });
    (program, all.collect())
}

struct Queue(Vec<Options>, usize, Vec<Option<Outcome>>);

impl JobSource for Queue {
    fn next(&mut self) -> Option<(u64, Options)> {
        let options = self.0.get(self.1)?.clone();
        self.1 += 1;
        Some((self.1 as u64 - 1, options))
    }
    fn take(&mut self, index: u64, outcome: Result<Outcome, SimulateError>) {
        self.2[index as usize] = outcome.ok();
    }
}

#[test]
fn what_drifts_by_more_than_a_hundredth_is_doubted_alone_and_in_lanes() {
    let (program, all) = loose();
    let mut queue = Queue(all.clone(), 0, vec![None; all.len()]);
    Batch::new(&program, false).run(&mut queue);
    let mut doubted = 0;
    for (options, outcome) in all.iter().zip(&queue.2) {
        let motion = simulate(&program, options).unwrap();
        let outcome = outcome.as_ref().expect("an outcome");
        assert_eq!((outcome.verdict, &outcome.warnings), (motion.audit.verdict, &motion.warnings));
        assert_eq!(drifts(&motion), motion.audit.hamiltonian_drift > 1e-2, "{:?}", motion.audit);
        doubted += usize::from(drifts(&motion));
    }
    assert!(doubted > 0, "none of them drifts");
}

#[test]
fn the_end_of_a_motion_is_its_state_at_the_stop_not_at_the_last_sample() {
    let text = "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"9.81*x\"\n[event.down]\nwhen = \"x - 0.5\"\naction = \"stop\"\n[output]\ndouble = \"2*x\"\n[start]\nposition = { x = 1 }\n[run]\nuntil = 5\nsamples = 3\n";
    let motion = run(text);
    let t = (1.0f64 / 9.81).sqrt();
    common::close(motion.stop.time, t, 1e-15);
    common::close(motion.end.position[0], 0.5, 1e-15);
    common::close(motion.end.velocity[0], -9.81 * t, 1e-14);
    common::close(motion.end.output[0], 1.0, 1e-15);
    assert_eq!(motion.time, [0.0]);
}

// ---- invariants --------------------------------------------------------------------------------------------------------

/// The drift of an invariant, sampled at the end alone.
fn drift_of(text: &str, name: &str, step_states: bool) -> f64 {
    let (program, mut options) = common::program(text);
    options.sampling = carom_run::Sampling::At(vec![options.until]);
    options.step_states = step_states;
    let mut motion = carom_run::simulate(&program, &options).unwrap();
    carom_run::audit_invariants(program.mechanics(), &options.parameters, &mut motion);
    let found = motion.audit.invariants.iter().find(|i| i.name == name);
    found.unwrap_or_else(|| panic!("{:?}", motion.audit.invariants)).drift
}

#[test]
fn the_drift_of_an_invariant_is_seen_however_few_samples_there_are() {
    // Runge and Kutta's method keeps |R(iz)|² = 1 − z⁶/72 + z⁸/576 of an oscillator's energy in a step z.
    let mut parts = Vec::new();
    for (h, steps) in [(0.25_f64, 40), (0.5, 24), (0.0625, 3000)] {
        let text = format!(
            "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n[start]\nposition = {{ x = 1 }}\n[run]\nuntil = {}\nmethod = \"rk4\"\nstep = {h}\n",
            h * f64::from(steps)
        );
        let lost = 1.0 - (1.0 - h.powi(6) / 72.0 + h.powi(8) / 576.0).powi(steps);
        let drift = drift_of(&text, "energy", true);
        parts.push(drift / lost);
        assert!(drift_of(&text, "energy", false).is_nan(), "one sample measures nothing");
    }
    // The scale of J is a few times J, the same one in all; where steps are let go, the last one is not. 3000 steps
    // lose 2.5e-6 and are rounded, each by a unit at the most: 3000 · 2.2e-16 / 2.5e-6.
    let same = parts.iter().all(|part| (part / parts[0] - 1.0).abs() < 2.7e-7);
    assert!(same && (0.1..=1.0).contains(&parts[0]), "{parts:?}");
}

#[test]
fn an_invariant_that_a_wall_breaks_is_measured_between_its_impacts() {
    let text = "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n[wall.left]\ngap = \"x + 0.5\"\nrestitution = 0.5\n[start]\nposition = { x = 1 }\n[run]\nuntil = 8.0\nmethod = \"rk4\"\nstep = 0.25\n";
    let drift = drift_of(text, "energy", true);
    // A leg has at most 13 steps of the method, each of which loses z⁶/72; the impacts, which take three quarters, do not count.
    let step = 0.25_f64.powi(6) / 72.0;
    assert!(drift > 0.2 * step && drift < 13.0 * 1.1 * step, "{drift:e} {step:e}");
    // Thrown about in a box: p_x is what it is between two impacts.
    let thrown = "coordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"y^2/2\"\n[wall.left]\ngap = \"x\"\n[wall.right]\ngap = \"1 - x\"\n[start]\nposition = { x = 0.3, y = 1 }\nvelocity = { x = 0.7 }\n[run]\nuntil = 30.0\n";
    assert!(drift_of(thrown, "p_x", true) < 1e-15);
}
