//! Everything emitted for every gallery model, for every instruction set whatever this processor has, read back by another
//! disassembler.

use carom_jet::{Listing, Meant, Operand, Taylor};
use carom_mech::{Draft, derive};
use carom_run::{Instructions, Level, Options, Program, simulate};

#[path = "../../carom-jet/tests/disassembly/mod.rs"]
mod disassembly;

#[test]
fn all_code_of_the_gallery_is_what_was_meant() {
    for instructions in [Instructions::Avx512, Instructions::Avx2] {
        if Level::choose(Some(instructions), None).is_err() {
            println!("not executed here, but disassembled: {instructions}");
        }
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let (mut instructions, mut gathers) = (0, 0);
    for path in paths {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let (draft, _) = Draft::parse(&std::fs::read_to_string(&path).unwrap(), &path.to_string_lossy());
        let Ok((model, _)) = draft.check() else { panic!("{name}") };
        let Ok(mechanics) = derive(model) else { panic!("{name}") };
        let program = Program::compile(&mechanics).unwrap();
        // A run makes the equations of every contact it meets.
        let options = Options { max_steps: 2000, ..Options::of(&mechanics.model) };
        simulate(&program, &options).unwrap();
        let tapes = program.tapes();
        assert!(!tapes.is_empty(), "{name}");
        for tape in tapes {
            for listing in Listing::of(&tape, Taylor::new(options.tolerance).order) {
                let title = format!("{name}, {}", listing.title);
                let evex = listing.title.starts_with("AVX-512");
                disassembly::compare(&title, &listing.bytes, &listing.meant, evex);
                instructions += listing.meant.len();
                gathers += listing.meant.iter().filter(|m| m.name == "vgatherdpd").count();
            }
        }
    }
    println!("{instructions} instructions, {gathers} of them gathers");
}
