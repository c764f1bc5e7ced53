//! Values of polynomials by Horner's rule.

/// p(s) = Σ c_k s^k
pub fn horner(c: &[f64], s: f64) -> f64 {
    c.iter().rev().fold(0.0, |sum, ck| sum * s + ck)
}

/// (p(s), p′(s))
pub(super) fn horner_with_derivative(c: &[f64], s: f64) -> (f64, f64) {
    let (mut p, mut d) = (0.0, 0.0);
    for &ck in c.iter().rev() {
        d = d * s + p;
        p = p * s + ck;
    }
    (p, d)
}

/// (p(s), p′(s), p″(s))
pub(super) fn horner_with_two_derivatives(c: &[f64], s: f64) -> (f64, f64, f64) {
    let (mut p, mut d, mut dd) = (0.0, 0.0, 0.0);
    for &ck in c.iter().rev() {
        dd = dd * s + d;
        d = d * s + p;
        p = p * s + ck;
    }
    (p, d, 2.0 * dd)
}
