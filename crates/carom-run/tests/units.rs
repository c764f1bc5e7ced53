//! Nature knows no 1: other units of length, mass and time change no result but by their factors.

mod common;

use carom_mech::Draft;
use carom_run::{Batch, JobSource, Motion, Options, Outcome, Sampling, SimulateError, StopReason, simulate};
use common::units::{Scalable, Units, story};
use proptest::prelude::*;
use std::collections::HashMap;

#[path = "../../../tests/gallery.rs"]
mod gallery;

/// Every model of the gallery.
fn scalable() -> Vec<(String, Scalable)> {
    let read = |name: String| {
        let (draft, _) = Draft::read(gallery::path(&name)).unwrap();
        let (model, _) = draft.check().unwrap();
        model.inputs.is_empty().then(|| (name, Scalable::new(model)))
    };
    gallery::names().into_iter().filter_map(read).collect()
}

fn of_text(text: &str) -> Scalable {
    let (draft, problems) = Draft::parse(text, "test.toml");
    assert!(problems.is_empty(), "{problems:?}");
    Scalable::new(draft.check().unwrap_or_else(|e| panic!("{e:?}")).0)
}

/// Powers of two from a seed.
fn powers_of_two(seed: u64) -> impl FnMut(usize) -> f64 {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move |_| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        2f64.powi((x >> 20) as i32 % 41)
    }
}

fn in_units(model: &Scalable, units: &Units) -> Result<Motion, String> {
    simulate(&model.program, &model.in_units(units)).map_err(|e| e.to_string())
}

/// What differs from the author's units, if anything does: a sentence. `same` compares numbers.
fn difference(model: &Scalable, units: &Units, same: impl Fn(&str, f64, f64) -> bool) -> Option<String> {
    let one = Units::each(model, |_| 1.0);
    let (plain, scaled) = match (in_units(model, &one), in_units(model, units)) {
        (Ok(plain), Ok(scaled)) => (plain, scaled),
        (Err(_), Err(_)) => return None,
        (Ok(_), Err(e)) => return Some(format!("refused: {e}")),
        (Err(e), Ok(_)) => return Some(format!("not refused: {e}")),
    };
    let (numbers, others) = (model.numbers(&plain, &one), model.numbers(&scaled, units));
    let differs =
        |((name, x), (other, y)): &(&(String, f64), &(String, f64))| name != other || !same(name, *x, *y);
    let first = numbers.iter().zip(&others).find(differs);
    let (before, after) = (story(&plain), story(&scaled));
    if before != after {
        let at = before.iter().zip(&after).position(|(a, b)| a != b);
        return Some(format!("another story from {at:?} on: {:?}, {:?}; {first:?}", plain.stop, scaled.stop));
    }
    if let Some(((name, x), (_, y))) = first {
        return Some(format!("{name}: {x:?} became {y:?}"));
    }
    (plain.warnings.len() != scaled.warnings.len())
        .then(|| format!("{:?} became {:?}", plain.warnings, scaled.warnings))
}

/// The same bits; 0 has two signs, and what is not a number many bits.
fn same_bits(_: &str, x: f64, y: f64) -> bool {
    x == y || (x.is_nan() && y.is_nan())
}

fn check_gallery(units: impl Fn(&str, &Scalable) -> Option<Units>) {
    let mut failures = Vec::new();
    for (name, model) in scalable() {
        let Some(units) = units(&name, &model) else { continue };
        if let Some(difference) = difference(&model, &units, same_bits) {
            failures.push(format!("{name}: {difference}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn slow_powers_of_two_of_time_change_nothing_but_exponents() {
    for time in [-60, 60] {
        check_gallery(|_, model| Some(Units::common(model, 1.0, 2f64.powi(time), 1.0, 1.0)));
    }
}

#[test]
fn slow_powers_of_two_of_energy_and_length_change_nothing_but_exponents() {
    for (length, energy) in [(0, -70), (40, 0), (-33, 71)] {
        check_gallery(|_, model| {
            Some(Units::common(model, 2f64.powi(length), 1.0, 2f64.powi(energy), 2f64.powi(length)))
        });
    }
}

#[test]
fn slow_powers_of_two_of_everything_apart_change_nothing_but_exponents() {
    for seed in 1..4 {
        check_gallery(|name, model| {
            // A row that supports what has no inertia adds up the inertias of what it touches: of one unit, as they are here.
            let supported = name == "rigid_body_quaternion";
            (!supported).then(|| Units::each(model, powers_of_two(seed)))
        });
    }
}

/// A particle in a potential well with drag, two walls and an event, of any numbers.
fn random_model(c: &[f64]) -> String {
    format!(
        "coordinates = [\"x\", \"theta\"]\n[parameters]\nm = {:.3}\nl = {:.3}\nk = {:.3}\ng = {:.3}\nb = {:.3}\n\
         [energy]\nkinetic = \"m/2*x'^2 + m*l*x'*theta'*cos(theta)/2 + m*l^2/2*theta'^2\"\n\
         potential = \"k/2*x^2 + k/l^2*x^4/4 - m*g*l*cos(theta)\"\ndissipation = \"b/2*x'^2\"\n\
         [wall.right]\ngap = \"l/2 - x - l*sin(theta)/4\"\nrestitution = {:.2}\n\
         [wall.left]\ngap = \"l/2 + x\"\nrestitution = 0.9\n\
         [event.bottom]\nwhen = \"theta\"\naction = \"record\"\n\
         [start]\nposition = {{ x = {:.3}, theta = {:.3} }}\nvelocity = {{ x = {:.3} }}\n\
         [run]\nuntil = 4.0\nsamples = 5\n",
        1.5 + c[0],
        2.0 + c[1],
        4.0 + c[2],
        9.0 + c[3],
        0.2 + 0.1 * c[4],
        0.75 + 0.2 * c[5],
        0.1 * c[6],
        c[7],
        1.0 + c[8]
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn random_models_in_other_powers_of_two_move_alike(
        c in prop::collection::vec(-1.0f64..1.0, 9), seed in 1u64..1000,
    ) {
        let model = of_text(&random_model(&c));
        let units = Units::each(&model, powers_of_two(seed));
        prop_assert_eq!(difference(&model, &units, same_bits), None);
    }
}

// ---- powers of ten -------------------------------------------------------------------------------------------

/// What a number is, without which one.
fn kind(name: &str) -> &str {
    name.split(' ').next().unwrap_or(name)
}

/// What differs in units from 1e-15 to 1e15; nothing is said of motions in which rounding decides what happens.
fn differences_in_powers_of_ten(name: &str, model: &Scalable) -> Option<Vec<String>> {
    let mut failures = Vec::new();
    let one = Units::each(model, |_| 1.0);
    let mut options = model.in_units(&one);
    options.sensitivity = true;
    let motion = simulate(&model.program, &options).unwrap();
    // The last of infinitely many impacts are as high as rounding: their own speeds know few digits.
    let last_bounces = if motion.contacts.iter().any(|c| c.zeno) { 1e4 } else { 1.0 };
    let amplification = motion.audit.amplification.unwrap_or(f64::INFINITY).max(1.0) * last_bounces;
    // Between walls that close, the n-th gap is as wide as 1/n of the first and crossed in 1/n² of the time: what is known of
    // where a bounce is falls like 1/n².
    let closing =
        if motion.stop.reason == StopReason::Squeezed { (motion.impacts.len() as f64).powi(2) } else { 1.0 };
    let amplification = amplification * closing;
    // Beyond this what happens is for rounding to decide.
    if amplification * f64::EPSILON >= 1e-3 {
        return None;
    }
    // A number is known to rounding of the largest of its kind.
    let numbers = model.numbers(&motion, &one);
    let mut sizes: HashMap<&str, f64> = HashMap::new();
    for (name, x) in &numbers {
        let size = sizes.entry(kind(name)).or_default();
        *size = size.max(x.abs());
    }
    for (length, time, energy) in [
        (-15, 0, 0),
        (15, 0, 0),
        (0, -15, 0),
        (0, 15, 0),
        (0, 0, -15),
        (0, 0, 15),
        (-10, -12, 7),
        (9, 14, -13),
    ] {
        let ten = |power: i32| 10f64.powi(power);
        let units = Units::common(model, ten(length), ten(time), ten(energy), ten(length));
        // A sample at the very instant of an impact may come before or after it.
        let at_impact = |name: &str| {
            let sample = name.rsplit_once("at sample ").and_then(|(_, k)| k.parse::<usize>().ok());
            let near = |t: f64| motion.impacts.iter().any(|i| (i.time - t).abs() <= 1e-13 * motion.stop.time);
            sample.is_some_and(|k| near(motion.time[k]))
        };
        let same = |name: &str, x: f64, y: f64| {
            // Outputs may be residuals, zero but for rounding; what they are made of is compared.
            if kind(name) == "output" || at_impact(name) {
                return true;
            }
            (x - y).abs() <= 1e-12 * amplification * sizes[kind(name)] || (x.is_nan() && y.is_nan())
        };
        if let Some(difference) = difference(model, &units, same) {
            failures.push(format!(
                "{name} in units of 1e{length}, 1e{time}, 1e{energy}, amplified {amplification:.1e}: {difference}"
            ));
        }
    }
    Some(failures)
}

#[test]
fn slow_powers_of_ten_from_femto_to_peta_keep_what_happens() {
    let all = scalable();
    let (mut failures, mut chaotic) = (Vec::new(), 0);
    for (name, model) in &all {
        match differences_in_powers_of_ten(name, model) {
            Some(differences) => failures.extend(differences),
            None => chaotic += 1,
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(chaotic < 10, "{chaotic} models say nothing");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn random_models_in_powers_of_ten_move_alike(c in prop::collection::vec(-1.0f64..1.0, 9)) {
        let model = of_text(&random_model(&c));
        prop_assert_eq!(differences_in_powers_of_ten("random", &model).unwrap_or_default(), Vec::<String>::new());
    }
}

// ---- another origin ---------------------------------------------------------------------------------------------

/// Which walls were hit, repeats on one wall counted once: how many bounces of an endless series are seen depends on rounding,
/// and that on where zero is. Then the contacts.
fn sequence(motion: &Motion) -> (Vec<Vec<usize>>, Vec<(usize, bool)>) {
    let mut walls: Vec<Vec<usize>> = motion.impacts.iter().map(|i| i.walls.clone()).collect();
    walls.dedup();
    (walls, motion.contacts.iter().map(|c| (c.wall, c.to.is_some())).collect())
}

#[test]
fn slow_counted_from_another_origin_the_same_happens() {
    let (mut failures, mut compared) = (Vec::new(), 0);
    for (name, model) in scalable() {
        let mut options = model.in_units(&Units::each(&model, |_| 1.0));
        options.sensitivity = true;
        let plain = simulate(&model.program, &options).unwrap();
        // Seen from `origin` the state is known to rounding of that.
        let known = plain.audit.amplification.unwrap_or(f64::INFINITY).max(1.0) * 1000.0 * f64::EPSILON;
        if known >= 1e-3 || plain.stop.reason != StopReason::Reached {
            continue;
        }
        compared += 1;
        for origin in [10.0, 1000.0] {
            let mut options = model.in_units(&Units::shifted(&model, origin));
            let first = |signal: &carom_run::Signal| signal.values[0];
            options.start.position = plain.position.iter().map(|s| Some(first(s) + origin)).collect();
            options.start.velocity = plain.velocity.iter().map(|s| Some(first(s))).collect();
            options.start.momentum = plain.momentum.iter().map(|s| Some(first(s))).collect();
            match simulate(&model.program, &options) {
                Ok(shifted)
                    if sequence(&shifted) == sequence(&plain) && shifted.stop.reason == plain.stop.reason => {
                }
                Ok(shifted) => failures.push(format!(
                    "{name} from {origin}: {:?} and {:?}, {:?} became {:?}",
                    plain.stop,
                    shifted.stop,
                    sequence(&plain),
                    sequence(&shifted)
                )),
                Err(e) => failures.push(format!("{name} from {origin}: {e}")),
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(compared > 25, "only {compared} models say anything");
}

// ---- many at once ----------------------------------------------------------------------------------------------

struct Queue {
    waiting: Vec<Options>,
    next: usize,
    done: Vec<Option<Result<Outcome, SimulateError>>>,
}

impl JobSource for Queue {
    fn next(&mut self) -> Option<(u64, Options)> {
        let options = self.waiting.get(self.next)?.clone();
        self.next += 1;
        Some((self.next as u64 - 1, options))
    }
    fn take(&mut self, index: u64, outcome: Result<Outcome, SimulateError>) {
        self.done[index as usize] = Some(outcome);
    }
}

#[test]
fn lanes_of_different_units_give_the_bits_of_single_runs() {
    for (name, model) in scalable() {
        if !["double_pendulum_wall", "pendulum_hamiltonian", "kepler_wall", "rolling_disk", "ball_on_incline"]
            .contains(&name.as_str())
        {
            continue;
        }
        let mut waiting: Vec<Options> = (1..20)
            .map(|seed| model.in_units(&Units::each(&model, powers_of_two(seed))))
            .chain(
                [-60, 50].map(|time| model.in_units(&Units::common(&model, 1.0, 2f64.powi(time), 1.0, 1.0))),
            )
            .collect();
        waiting.iter_mut().for_each(|options| options.sampling = Sampling::Even(2));
        let done = (0..waiting.len()).map(|_| None).collect();
        let mut queue = Queue { waiting, next: 0, done };
        Batch::new(&model.program, false).run(&mut queue);
        for (options, outcome) in queue.waiting.iter().zip(&queue.done) {
            let outcome = outcome.as_ref().unwrap().as_ref().unwrap();
            let motion = simulate(&model.program, options).unwrap();
            let ends: Vec<f64> =
                motion.position.iter().chain(&motion.velocity).map(|s| s.values[1]).collect();
            assert_eq!(outcome.values[..ends.len()], ends, "{name}");
            assert_eq!((outcome.stop.time, outcome.steps), (motion.stop.time, motion.audit.steps), "{name}");
            assert_eq!(outcome.impact_count, motion.impacts.len() as u64, "{name}");
        }
    }
}
