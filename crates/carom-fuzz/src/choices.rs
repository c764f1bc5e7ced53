//! A stream of choices: given bytes first, then numbers from a seed, then zeros. With zeros every generator takes its
//! shortest way, so that generation ends.

use carom_expr::Random;

/// Where decisions come from.
pub struct Choices<'a> {
    bytes: &'a [u8],
    random: Option<Random>,
}

impl<'a> Choices<'a> {
    /// From the bytes of a fuzzer.
    pub fn of(bytes: &'a [u8]) -> Choices<'a> {
        Choices { bytes, random: None }
    }

    /// Input number `index` of a seed.
    pub fn numbered(seed: u64, index: u64) -> Choices<'static> {
        Choices { bytes: &[], random: Some(Random(seed.wrapping_mul(0xA24B_AED4_963E_E407) ^ index)) }
    }

    /// The next 64 bits.
    pub fn word(&mut self) -> u64 {
        if let Some(random) = &mut self.random {
            return random.word();
        }
        let (now, rest) = self.bytes.split_at(self.bytes.len().min(2));
        self.bytes = rest;
        now.iter().fold(0, |n, byte| n << 8 | u64::from(*byte))
    }

    /// A number below `n`; 0 when there is nothing to choose.
    pub fn below(&mut self, n: usize) -> usize {
        (self.word() % n.max(1) as u64) as usize
    }

    /// True once in `n` times, and never when choices have run out.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    /// One of some.
    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// A number in [0, 1).
    pub fn part(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1_u64 << 53) as f64
    }
}
