//! Motions in used workspaces against motions in fresh ones, bit by bit, for every model of the gallery.

use carom_mech::{Draft, derive_equations};
use carom_run::{Options, Program, Simulator, simulate};

#[path = "../../../tests/gallery.rs"]
mod gallery;

#[test]
fn a_simulator_used_before_gives_the_motion_of_a_fresh_one() {
    for (name, text) in gallery::all() {
        let (draft, _) = Draft::parse(&text, &name);
        let (model, _) = draft.check().unwrap();
        let program = Program::compile(&derive_equations(model.clone()).unwrap()).unwrap();
        let mut options = Options::of(&model);
        options.max_steps = 300;
        options.until = options.until.min(options.start.time + 5.0);
        let fresh = format!("{:?}", simulate(&program, &options).unwrap());
        let mut simulator = Simulator::new(&program);
        let mut other = options.clone();
        other.tolerance = 1e-8;
        for (which, wanted) in [(&options, Some(&fresh)), (&other, None), (&options, Some(&fresh))] {
            for _ in 0..2 {
                let motion = format!("{:?}", simulator.simulate(which).unwrap());
                assert!(wanted.is_none_or(|w| *w == motion), "{name}");
            }
        }
    }
}
