//! The instructions this processor can execute; those it cannot are named.

use carom_jet::{Arithmetic, Instructions, Level};

/// Every level with fused arithmetic, of which all must give the same bits.
pub fn fused() -> Vec<Level> {
    let all = [Instructions::Avx512, Instructions::Avx2, Instructions::Interpreter, Instructions::Portable];
    let mut found: Vec<Level> = Vec::new();
    for instructions in all {
        match Level::choose(Some(instructions), Some(Arithmetic::Fused)) {
            Ok(level) if !found.contains(&level) => found.push(level),
            Ok(_) => {}
            Err(_) => println!("not executed here: {instructions}"),
        }
    }
    found
}
