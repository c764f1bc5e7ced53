//! Nature knows no 1: other units of length, mass and time change no result but by their factors.

mod common;

use carom_mech::Draft;
use carom_run::simulate;
use common::units::{Scalable, Units, story};

/// Every model of the gallery.
fn gallery() -> Vec<(String, Scalable)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "toml"));
    paths.sort();
    paths
        .iter()
        .filter_map(|path| {
            let (draft, _) = Draft::read(path).unwrap();
            let (model, _) = draft.check().unwrap();
            let name = path.file_stem().unwrap().to_string_lossy().to_string();
            model.inputs.is_empty().then(|| (name, Scalable::new(model)))
        })
        .collect()
}

/// Numbers from a seed.
fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x >> 20
    }
}

/// What differs, if anything does: a sentence.
fn difference(model: &Scalable, units: &Units) -> Option<String> {
    let one = Units::each(model, |_| 1.0);
    let plain = simulate(&model.program, &model.in_units(&one)).map_err(|e| e.to_string());
    let scaled = simulate(&model.program, &model.in_units(units)).map_err(|e| e.to_string());
    let (plain, scaled) = match (plain, scaled) {
        (Ok(plain), Ok(scaled)) => (plain, scaled),
        (Err(_), Err(_)) => return None,
        (Ok(_), Err(e)) => return Some(format!("refused: {e}")),
        (Err(e), Ok(_)) => return Some(format!("not refused: {e}")),
    };
    let (numbers, others) = (model.numbers(&plain, &one), model.numbers(&scaled, units));
    let first = numbers.iter().zip(&others).find(|((name, x), (other, y))| {
        name != other || (x.to_bits() != y.to_bits() && !(x.is_nan() && y.is_nan()) && x != y)
    });
    if story(&plain) != story(&scaled) {
        let at = story(&plain).iter().zip(&story(&scaled)).position(|(a, b)| a != b);
        return Some(format!(
            "another story from {at:?} on: {:?} {:?}, {} {}; {first:?}; {:?} {:?}",
            plain.stop,
            scaled.stop,
            plain.impacts.len(),
            scaled.impacts.len(),
            plain.warnings,
            scaled.warnings
        ));
    }
    if let Some(((name, x), (_, y))) = first {
        let earliest = numbers
            .iter()
            .zip(&others)
            .filter(|((n, x), (_, y))| x != y && n.contains("impact"))
            .map(|((n, _), _)| n)
            .next();
        return Some(format!("{name}: {x:?} became {y:?}; {earliest:?}"));
    }
    let (a, b) = (&plain.audit, &scaled.audit);
    (a.steps != b.steps
        || a.hamiltonian_drift != b.hamiltonian_drift
        || plain.warnings.len() != scaled.warnings.len())
    .then(|| format!("audit: {a:?} became {b:?}, {:?} {:?}", plain.warnings, scaled.warnings))
}

fn check(units: impl Fn(&Scalable) -> Units) {
    let mut failures = Vec::new();
    for (name, model) in gallery() {
        if let Some(difference) = difference(&model, &units(&model)) {
            failures.push(format!("{name}: {difference}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn powers_of_two_of_time_change_nothing_but_exponents() {
    for time in [-60, 60] {
        check(|model| Units::common(model, 1.0, 2f64.powi(time), 1.0, 1.0));
    }
}

#[test]
fn powers_of_two_of_energy_change_nothing_but_exponents() {
    for energy in [-70, 70] {
        check(|model| Units::common(model, 1.0, 1.0, 2f64.powi(energy), 1.0));
    }
}

#[test]
fn powers_of_two_of_length_change_nothing_but_exponents() {
    for length in [-33, 40] {
        check(|model| Units::common(model, 2f64.powi(length), 1.0, 1.0, 1.0));
    }
}

#[test]
fn powers_of_two_of_gaps_and_rows_change_nothing_but_exponents() {
    for gap in [-33, 40] {
        check(|model| Units::common(model, 1.0, 1.0, 1.0, 2f64.powi(gap)));
    }
}

#[test]
fn powers_of_two_of_everything_apart_change_nothing_but_exponents() {
    for seed in 1..4 {
        let mut next = random(seed);
        check(|model| {
            let powers: Vec<i32> = (0..100).map(|_| 0).collect();
            let _ = powers;
            Units::each(model, {
                let mut r = random(seed * 977 + 5);
                move |_| 2f64.powi((r() % 81) as i32 - 40)
            })
        });
        let _ = next();
    }
}
