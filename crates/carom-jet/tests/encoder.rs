//! Code of systems so large that their equations are evaluated side by side, read back by another disassembler for every instruction
//! set, whatever this processor has.

use carom_expr::Dag;
use carom_jet::{Listing, Meant, Operand, System, Tape};

mod disassembly;
#[path = "../benches/systems.rs"]
mod systems;

#[test]
fn code_of_large_systems_is_what_was_meant() {
    type Maker = fn(&mut Dag, usize) -> System;
    let makers: [(usize, Maker); 4] = [
        (12, systems::chain),
        (30, systems::absolute_chain),
        (37, systems::absolute_chain),
        (20, systems::needles),
    ];
    let mut found = [0; 4];
    for (n, make) in makers {
        let mut dag = Dag::new();
        let mut system = make(&mut dag, n);
        system.watched.extend([system.state[1], system.time, system.blocks[0].unknowns[0]]);
        for system in [system.clone(), systems::exchanged(system)] {
            let tape = Tape::compile(&dag, &system).unwrap();
            for listing in Listing::of(&tape, 17) {
                let evex = listing.title.starts_with("AVX-512");
                disassembly::compare(&listing.title, &listing.bytes, &listing.meant, evex);
                // What only vectors of equations need, by the doubles of a vector.
                for (at, name) in
                    ["vinsertf64x4", "vinsertf128", "vmovhpd", "vbroadcastsd"].into_iter().enumerate()
                {
                    found[at] += listing.meant.iter().filter(|m| m.name == name).count();
                }
            }
        }
    }
    assert!(found.iter().all(|count| *count > 0), "{found:?}");
}
