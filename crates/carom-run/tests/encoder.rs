//! Everything emitted for every gallery model, for every instruction set whatever this processor has, read back by another
//! disassembler.

use carom_jet::{Listing, Meant, Operand};
use carom_mech::{Draft, derive};
use carom_run::{
    Direction, Instructions, Level, Objective, ObjectiveTerm, Observable, Options, Program, simulate,
};

#[path = "../../../tests/gallery.rs"]
mod gallery;

#[path = "../../carom-jet/tests/disassembly/mod.rs"]
mod disassembly;

/// A second order of series, beside that of a model's own tolerance.
const COARSE: f64 = 1e-6;
/// Enough to meet the contacts of most models.
const STEPS: u64 = 2000;
/// Enough for variations and adjoints of the first legs.
const FEW_STEPS: u64 = 200;

/// AVX2 and AVX-512, single runs and batches.
const LISTINGS: usize = 4;

/// `.ci/test` shows what this prints: tests of a level that is missing are not passed, they are not executed.
#[test]
fn what_this_processor_cannot_execute_is_named() {
    for instructions in [Instructions::Avx512, Instructions::Avx2, Instructions::Interpreter] {
        match Level::choose(Some(instructions), None) {
            Ok(_) => println!("executed here: {instructions}"),
            Err(_) => println!("not executed here, but disassembled: {instructions}"),
        }
    }
}

#[test]
fn all_code_of_the_gallery_is_what_was_meant() {
    let (mut tapes, mut instructions) = (0, 0);
    let mut without_gradient = Vec::new();
    for (name, text) in gallery::all() {
        let (draft, _) = Draft::parse(&text, &name);
        let Ok((model, _)) = draft.check() else { panic!("{name}") };
        let Ok(mechanics) = derive(model) else { panic!("{name}") };
        let program = Program::compile(&mechanics).unwrap();
        // A run makes the equations of every contact it meets; derivatives of a run, forward and backward, make theirs.
        let run = Options { max_steps: STEPS, ..Options::of(&mechanics.model) };
        simulate(&program, &run).unwrap();
        simulate(&program, &Options { tolerance: COARSE, ..run.clone() }).unwrap();
        let directions = Direction::all(program.mechanics());
        let few = Options { max_steps: FEW_STEPS, ..run };
        let before = program.compiled().len();
        simulate(&program, &Options { directions: directions.clone(), ..few.clone() }).unwrap();
        let forward = program.compiled().len();
        assert!(forward >= before + 2, "{name}: no tape of variations and differentials beside {before}");
        let position = Observable::Position(mechanics.free[0]);
        let terms = vec![ObjectiveTerm::End(position, 1.0)];
        let objective = Some(Objective { name: "J".into(), terms, directions });
        match simulate(&program, &Options { objective, ..few }) {
            // Those of the motion, of ∂𝓗/∂θ, of the laws, of the signal.
            Ok(motion) => {
                let made = program.compiled().len() - forward;
                let ended = motion.gradient.is_some_and(|g| g.not_differentiable.is_none());
                assert!(made >= 2 && (!ended || made >= 4), "{name}: {made} tapes of adjoints");
            }
            Err(_) => without_gradient.push(name.clone()),
        }
        for (tape, order) in program.compiled() {
            let listings = Listing::of(&tape, order);
            assert_eq!(listings.len(), LISTINGS, "{name}: code was refused");
            for listing in listings {
                let title = format!("{name}, {}, order {order}", listing.title);
                let evex = listing.title.starts_with("AVX-512");
                disassembly::compare(&title, &listing.bytes, &listing.meant, evex);
                instructions += listing.meant.len();
            }
            tapes += 1;
        }
    }
    println!("{tapes} tapes, {instructions} instructions");
    assert!(without_gradient.is_empty(), "no gradient: {without_gradient:?}");
}
