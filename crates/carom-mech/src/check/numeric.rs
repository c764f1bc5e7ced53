//! Numbers for trying whether an identity holds.

/// A repeatable number in ±[0.3, 1.3], different for every round and symbol.
pub(crate) fn sample(round: usize, symbol: usize) -> f64 {
    // Splitmix: a fixed scramble of its argument.
    let mut x = (round as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(symbol as u64 + 1);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^= x >> 31;
    let unit = (x >> 11) as f64 / (1_u64 << 53) as f64;
    if x & 1 == 0 { 0.3 + unit } else { -0.3 - unit }
}
