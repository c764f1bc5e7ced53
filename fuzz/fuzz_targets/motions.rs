#![no_main]
use carom_fuzz::{Choices, FuzzTarget};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| FuzzTarget::Motions.attempt(&mut Choices::of(data), &mut |_| {}));
