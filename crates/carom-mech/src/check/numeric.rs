//! Numbers for trying whether an identity holds.

use carom_expr::Random;

/// A repeatable number in ±[0.3, 1.3], different for every round and symbol.
pub(crate) fn sample(round: usize, symbol: usize) -> f64 {
    let mut random = Random((round as u64) << 32 | symbol as u64);
    let (size, negative) = (0.3 + random.unit(), random.unit() < 0.5);
    if negative { -size } else { size }
}
