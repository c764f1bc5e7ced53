//! Exponents of the seven base units.

use carom_expr::Rational;

/// The exponents of kg, m, s, A, K, mol and cd.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dimension([Rational; 7]);

/// In the order in which they are written.
const BASE: [&str; 7] = ["kg", "m", "s", "A", "K", "mol", "cd"];

/// Dimensions that are shown by a name, unlike energy and torque, which share theirs.
const NAMED: [(&str, [i64; 7]); 9] = [
    ("N", [1, 1, -2, 0, 0, 0, 0]),
    ("Pa", [1, -1, -2, 0, 0, 0, 0]),
    ("C", [0, 0, 1, 1, 0, 0, 0]),
    ("V", [1, 2, -3, -1, 0, 0, 0]),
    ("Ω", [1, 2, -3, -2, 0, 0, 0]),
    ("F", [-1, -2, 4, 2, 0, 0, 0]),
    ("H", [1, 2, -2, -2, 0, 0, 0]),
    ("T", [1, 0, -2, -1, 0, 0, 0]),
    ("Wb", [1, 2, -2, -1, 0, 0, 0]),
];

impl Dimension {
    /// Of a number.
    pub const NONE: Dimension = Dimension([Rational::ZERO; 7]);
    /// Of a time.
    pub const TIME: Dimension = Dimension::whole([0, 0, 1, 0, 0, 0, 0]);

    pub(crate) const fn whole(exponents: [i64; 7]) -> Dimension {
        let mut out = [Rational::ZERO; 7];
        let mut i = 0;
        while i < 7 {
            out[i] = Rational::integer(exponents[i]);
            i += 1;
        }
        Dimension(out)
    }

    /// Is it that of a number?
    pub fn is_none(self) -> bool {
        self == Dimension::NONE
    }

    /// Of a product; `None` when an exponent is out of all range.
    pub fn plus(self, other: Dimension) -> Option<Dimension> {
        self.map(|i, a| a.add(other.0[i]))
    }

    /// Of a quotient.
    pub fn minus(self, other: Dimension) -> Option<Dimension> {
        self.map(|i, a| a.subtract(other.0[i]))
    }

    /// Of a power.
    pub fn times(self, exponent: Rational) -> Option<Dimension> {
        self.map(|_, a| a.multiply(exponent))
    }

    fn map(self, f: impl Fn(usize, Rational) -> Option<Rational>) -> Option<Dimension> {
        let mut out = self.0;
        for (i, a) in out.iter_mut().enumerate() {
            *a = f(i, *a)?;
        }
        Some(Dimension(out))
    }

    /// Factors above and below the line, as `kg m²` and `s²`.
    pub(crate) fn factors(self) -> (Vec<String>, Vec<String>) {
        let (mut above, mut below) = (Vec::new(), Vec::new());
        for (base, exponent) in BASE.iter().zip(self.0) {
            if exponent.is_zero() {
                continue;
            }
            let list = if exponent.is_negative() { &mut below } else { &mut above };
            list.push(power(base, exponent.abs()));
        }
        (above, below)
    }
}

/// `m²`, `s`, `m^(1/2)`
pub(crate) fn power(base: &str, exponent: Rational) -> String {
    match exponent.to_integer() {
        Some(1) => base.to_owned(),
        Some(n @ 2..=9) => {
            let digit = ["²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"][n as usize - 2];
            format!("{base}{digit}")
        }
        Some(n) => format!("{base}^{n}"),
        None => format!("{base}^({}/{})", exponent.numerator(), exponent.denominator()),
    }
}

/// `kg m²/(s² A)`
pub(crate) fn fraction(above: &[String], below: &[String]) -> String {
    let top = if above.is_empty() { "1".to_owned() } else { above.join(" ") };
    match below {
        [] if above.is_empty() => "no unit".to_owned(),
        [] => top,
        [one] => format!("{top}/{one}"),
        many => format!("{top}/({})", many.join(" ")),
    }
}

impl std::fmt::Display for Dimension {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some((name, _)) = NAMED.iter().find(|(_, d)| Dimension::whole(*d) == *self) {
            return f.write_str(name);
        }
        let (above, below) = self.factors();
        f.write_str(&fraction(&above, &below))
    }
}
