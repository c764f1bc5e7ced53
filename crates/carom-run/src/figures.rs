//! Numbers as people write them: a few digits, no zeros that say nothing, powers of ten only where zeros would have to be
//! counted. For sentences; results keep every digit.

/// `x` with at most that many significant digits.
///
/// ```
/// # use carom_run::figures::figures;
/// assert_eq!(figures(5.6, 2), "5.6");
/// assert_eq!(figures(0.1 + 0.2, 6), "0.3");
/// assert_eq!(figures(1234.0, 2), "1200");
/// assert_eq!(figures(-0.0, 2), "0");
/// assert_eq!(figures(2.22e-16, 2), "2.2e-16");
/// assert_eq!(figures(1e100, 4), "1e100");
/// assert_eq!(figures(f64::NAN, 2), "NaN");
/// ```
pub fn figures(x: f64, digits: usize) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{}", x + 0.0);
    }
    let rounded: f64 = format!("{x:.*e}", digits.max(1) - 1).parse().unwrap_or(x);
    if (1e-3..1e6).contains(&rounded.abs()) { format!("{rounded}") } else { format!("{rounded:e}") }
}
