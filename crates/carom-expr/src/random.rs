//! Reproducible numbers: the same seed gives the same sequence on every machine (splitmix64).

/// Bits without structure, a bijection of `x`: the output of splitmix64 in state `x`.
///
/// ```
/// assert_eq!(carom_expr::splitmix64(0), 0xe220_a839_7b1d_cdaf);
/// ```
pub fn splitmix64(x: u64) -> u64 {
    let z = x.wrapping_add(STRIDE);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// 2⁶⁴ over the golden ratio: how far the state moves between two outputs.
const STRIDE: u64 = 0x9e37_79b9_7f4a_7c15;

/// A sequence of numbers that its seed determines.
///
/// ```
/// use carom_expr::Random;
/// let (mut one, mut other) = (Random(7), Random(7));
/// assert!((0..100).all(|_| one.symmetric() == other.symmetric()));
/// ```
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next 64 bits.
    pub fn word(&mut self) -> u64 {
        let word = splitmix64(self.0);
        self.0 = self.0.wrapping_add(STRIDE);
        word
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        unit(self.word())
    }

    /// Uniform in [−1, 1).
    pub fn symmetric(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }
}

/// The upper 53 bits as a number in [0, 1).
fn unit(word: u64) -> f64 {
    (word >> 11) as f64 / (1_u64 << 53) as f64
}
