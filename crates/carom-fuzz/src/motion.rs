//! Motions of made-up and gently changed models, a bounded number of steps. What must hold: a result with a reason; times in
//! order and within the run; the same bits again.

use crate::Choices;
use crate::model::model;
use carom_mech::derive_equations;
use carom_run::{Options, Program, Sampling, simulate};

/// Bounds of one motion.
const MOST_STEPS: u64 = 2_000;
const MOST_IMPACTS: u64 = 300;

pub(crate) fn attempt(choices: &mut Choices<'_>, note: &mut dyn FnMut(&str)) {
    let Some(model) = model(choices, true, note) else { return };
    let mut options = Options::of(&model);
    options.max_steps = MOST_STEPS;
    options.max_impacts = MOST_IMPACTS;
    options.sampling = Sampling::Even(2 + choices.below(20));
    options.sensitivity = choices.once_in(8);
    let Ok(mechanics) = derive_equations(model) else { return };
    let Ok(program) = Program::compile(&mechanics) else { return };
    let Ok(motion) = simulate(&program, &options) else { return };
    let (from, until) = (options.start.time, options.until);
    assert!((from..=until).contains(&motion.stop.time), "it ends at {}", motion.stop.time);
    assert!(motion.time.is_sorted(), "samples out of order");
    assert!(motion.time.iter().all(|t| (from..=until).contains(t)), "samples outside of the run");
    let impacts: Vec<f64> = motion.impacts.iter().map(|i| i.time).collect();
    assert!(impacts.is_sorted(), "impacts out of order");
    assert!(impacts.len() as u64 <= MOST_IMPACTS && motion.audit.steps <= MOST_STEPS, "limits");
    for signal in motion.position.iter().chain(&motion.velocity) {
        assert!(signal.values.len() == motion.time.len());
        assert!(signal.values.iter().all(|x| x.is_finite()), "{} is not finite", signal.name);
    }
    if choices.once_in(8) {
        let again = simulate(&program, &options).expect("what ran once runs again");
        let bits = |m: &carom_run::Motion| -> Vec<u64> {
            let signals = m.position.iter().chain(&m.velocity).flat_map(|s| &s.values);
            signals.chain(&m.time).map(|x| x.to_bits()).collect()
        };
        assert!(bits(&motion) == bits(&again), "another motion the second time");
    }
}
