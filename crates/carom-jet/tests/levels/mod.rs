//! The instructions this processor can execute, by class of bits; those it cannot are named.

use carom_jet::{Arithmetic, Instructions, Level};
use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Mutex;

/// Both classes of bits.
#[allow(dead_code)]
pub const CLASSES: [Arithmetic; 2] = [Arithmetic::Fused, Arithmetic::Plain];

/// Every level with this arithmetic, of which all must give the same bits. There is always one.
pub fn of(arithmetic: Arithmetic) -> Vec<Level> {
    let all = [Instructions::Avx512, Instructions::Avx2, Instructions::Interpreter, Instructions::Portable];
    let mut found: Vec<Level> = Vec::new();
    for instructions in all {
        match Level::choose(Some(instructions), Some(arithmetic)) {
            Ok(level) if !found.contains(&level) => found.push(level),
            Ok(_) => {}
            // Machine code is fused: for plain arithmetic there is nothing to execute.
            Err(_) if Level::choose(Some(instructions), None).is_ok() => {}
            Err(_) => say(format!("not executed here: {instructions}")),
        }
    }
    if found.len() == 1 {
        let only = found[0].instructions();
        say(format!(
            "not compared here: {arithmetic} arithmetic has one level only ({only}), and it agrees with itself"
        ));
    }
    found
}

/// Aloud, also when the test passes, and once.
fn say(sentence: String) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !said.contains(&sentence) {
        // Not `eprintln!`: that is kept for tests that fail.
        let _ = writeln!(std::io::stderr(), "{sentence}");
        said.insert(sentence);
    }
}
