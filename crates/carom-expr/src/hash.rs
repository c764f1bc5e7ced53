//! A fast deterministic hash: multiply, rotate, mix. The default hasher of the standard library defends against
//! chosen keys, which handles and exponents are not, and costs several times as much.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map whose behaviour is the same in every run. Its iteration order is never used for results.
pub type FastMap<K, V> = HashMap<K, V, BuildHasherDefault<Mix>>;

/// Odd and without structure: the fractional part of the golden ratio in 64 bits.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// State of the hash.
#[derive(Clone, Copy, Default)]
pub struct Mix(u64);

impl Mix {
    /// Takes in one word.
    #[inline]
    pub(crate) fn word(&mut self, x: u64) {
        self.0 = (self.0.rotate_left(23) ^ x).wrapping_mul(FACTOR);
    }
}

impl Hasher for Mix {
    #[inline]
    fn finish(&self) -> u64 {
        // The product mixes upwards only; fold the good high bits into the low ones that index the table.
        let x = (self.0 ^ (self.0 >> 32)).wrapping_mul(FACTOR);
        x ^ (x >> 29)
    }
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
    }
    #[inline]
    fn write_u8(&mut self, x: u8) {
        self.word(u64::from(x));
    }
    #[inline]
    fn write_u32(&mut self, x: u32) {
        self.word(u64::from(x));
    }
    #[inline]
    fn write_i32(&mut self, x: i32) {
        self.word(x as u32 as u64);
    }
    #[inline]
    fn write_u64(&mut self, x: u64) {
        self.word(x);
    }
    #[inline]
    fn write_usize(&mut self, x: usize) {
        self.word(x as u64);
    }
    #[inline]
    fn write_i128(&mut self, x: i128) {
        self.word(x as u64);
        // The upper half is 0 or all ones for almost every number.
        let upper = (x >> 64) as u64;
        if upper != 0 {
            self.word(upper);
        }
    }
}
