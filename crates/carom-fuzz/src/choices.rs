//! A stream of choices: given bytes first, then numbers from a seed, then zeros. With zeros every generator takes its
//! shortest way, so that generation ends.

/// Where decisions come from.
pub struct Choices<'a> {
    bytes: &'a [u8],
    state: Option<u64>,
}

impl<'a> Choices<'a> {
    /// From the bytes of a fuzzer.
    pub fn of(bytes: &'a [u8]) -> Choices<'a> {
        Choices { bytes, state: None }
    }

    /// Input number `index` of a seed.
    pub fn numbered(seed: u64, index: u64) -> Choices<'static> {
        Choices { bytes: &[], state: Some(seed.wrapping_mul(0xA24B_AED4_963E_E407) ^ index) }
    }

    /// The next 64 bits.
    pub fn word(&mut self) -> u64 {
        if let Some(state) = &mut self.state {
            // splitmix64
            *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = *state;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            return z ^ (z >> 31);
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
