#![no_main]
use carom_fuzz::{Choices, Target};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| Target::Formulas.attempt(&mut Choices::of(data), &mut |_| {}));
