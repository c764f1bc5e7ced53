//! Units: `kg m^2/s^2` is a dimension and a factor,
//!
//! ```text
//! unit = f · m^a₁ kg^a₂ s^a₃ A^a₄ K^a₅ mol^a₆ cd^a₇,      f = r πᵏ,   aᵢ and r rational
//! ```
//!
//! A value with a unit is stored in coherent (SI) units: `"30 cm"` is 3/10, `"90 deg"` is π/2, both exact. An angle is a
//! number: rad is 1. Names without a stated unit are unknown dimensions; formulas give linear equations for their
//! exponents over the rationals (`system`), and only an equation that no assignment satisfies is a mistake.

mod dimension;
mod display;
mod read;
pub(crate) mod system;
mod table;

pub use dimension::Dimension;
pub use display::DisplayUnit;
pub use read::{Quantity, UnitProblem, quantity};
pub use table::{Listed, listed};

use carom_expr::{Constant, Dag, Expr, Rational};

/// A unit of measurement.
///
/// ```
/// use carom_mech::units::Unit;
/// let force = Unit::read("kg m/s^2").unwrap();
/// assert_eq!(force.dimension, Unit::read("N").unwrap().dimension);
/// assert_eq!(Unit::read("cm").unwrap().factor(), 0.01);
/// assert_eq!(Unit::read("deg").unwrap().factor(), std::f64::consts::PI / 180.0);
/// assert_eq!(Unit::read("furlong").unwrap_err().message, "unknown unit `furlong`");
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Unit {
    /// What it measures.
    pub dimension: Dimension,
    /// r of the factor r πᵏ; a double where it does not fit an exact number.
    scale: UnitFactor,
    /// k of the factor.
    pi: i32,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum UnitFactor {
    Exact(Rational),
    Rounded(f64),
}

impl UnitFactor {
    fn value(self) -> f64 {
        match self {
            UnitFactor::Exact(r) => r.to_f64(),
            UnitFactor::Rounded(x) => x,
        }
    }
}

impl Unit {
    /// The number 1.
    pub const ONE: Unit = Unit { dimension: Dimension::NONE, scale: UnitFactor::Exact(Rational::ONE), pi: 0 };

    /// Reads a unit: names with prefixes, products by blanks or `*`, `/`, powers, parentheses.
    ///
    /// # Errors
    /// What cannot be read, with its place in the text and a way out.
    pub fn read(text: &str) -> Result<Unit, UnitProblem> {
        read::unit(text)
    }

    /// How many coherent units it is.
    pub fn factor(self) -> f64 {
        // Multiplied last, so that deg is the double nearest to π/180 that dividing gives.
        match self.scale {
            UnitFactor::Exact(r) if self.pi == 1 => {
                std::f64::consts::PI * r.numerator() as f64 / r.denominator() as f64
            }
            scale => scale.value() * std::f64::consts::PI.powi(self.pi),
        }
    }

    /// Is it a coherent unit, factor 1?
    pub fn is_coherent(self) -> bool {
        self.pi == 0 && self.scale == UnitFactor::Exact(Rational::ONE)
    }

    /// A number of it, as an expression in coherent units; exact where the factor is.
    pub fn times(self, number: Expr, dag: &mut Dag) -> Expr {
        let scale = match self.scale {
            UnitFactor::Exact(r) => dag.number(r),
            UnitFactor::Rounded(x) => dag.float(x),
        };
        let pi = dag.constant(Constant::Pi);
        let pi = dag.powi(pi, i64::from(self.pi));
        dag.product(&[number, scale, pi])
    }

    fn multiply(self, other: Unit) -> Option<Unit> {
        Some(Unit {
            dimension: self.dimension.plus(other.dimension)?,
            scale: match (self.scale, other.scale) {
                (UnitFactor::Exact(a), UnitFactor::Exact(b)) if a.multiply(b).is_some() => {
                    UnitFactor::Exact(a.multiply(b)?)
                }
                (a, b) => UnitFactor::Rounded(a.value() * b.value()).finite()?,
            },
            pi: self.pi.checked_add(other.pi)?,
        })
    }

    fn power(self, exponent: Rational) -> Option<Unit> {
        let dimension = self.dimension.times(exponent)?;
        let whole = exponent.to_integer();
        let exact = match (self.scale, whole) {
            (UnitFactor::Exact(r), _) if r.is_one() => Some(r),
            (UnitFactor::Exact(r), Some(n)) => r.power(n),
            _ => None,
        };
        let pi = Rational::integer(i64::from(self.pi)).multiply(exponent)?;
        let (pi, rest) = match pi.to_integer() {
            Some(pi) => (i32::try_from(pi).ok()?, 1.0),
            None => (0, std::f64::consts::PI.powf(pi.to_f64())),
        };
        let scale = match exact {
            Some(r) if rest == 1.0 => UnitFactor::Exact(r),
            _ => UnitFactor::Rounded(self.scale.value().powf(exponent.to_f64()) * rest).finite()?,
        };
        Some(Unit { dimension, scale, pi })
    }
}

impl UnitFactor {
    fn finite(self) -> Option<UnitFactor> {
        (self.value().is_finite() && self.value() != 0.0).then_some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(text: &str) -> Unit {
        Unit::read(text).unwrap_or_else(|p| panic!("{text}: {}", p.message))
    }

    #[test]
    fn many_ways_to_write_one_unit() {
        for ways in [
            &["kg m^2/s^2", "kg*m^2/s^2", "kg·m²/s²", "kg m² s⁻²", "N m", "J", "kg m^2 s^-2", "W s"][..],
            &["N m/rad", "N*m/rad", "kg m^2/(s^2 rad)", "J"],
            &["1/s", "s^-1", "s⁻¹", "Hz", "rad/s", "1 / s"],
            &["m^(1/2)", "m^0.5"],
            &["1", "rad", "m/m"],
        ] {
            for way in ways {
                assert_eq!(unit(way), unit(ways[0]), "{way}");
            }
        }
    }

    #[test]
    fn factors_are_the_defined_ones() {
        // Exact by definition: BIPM brochure (min, h, d, deg, L, t, bar, eV), NIST SP 811 (in, lb, lbf, hp, Btu).
        for (text, factor) in [
            ("in", 0.0254),
            ("ft", 0.3048),
            ("yd", 0.9144),
            ("mi", 1609.344),
            ("lb", 0.45359237),
            ("lbf", 4.4482216152605),
            ("psi", 6894.757293168361),
            ("slug", 14.593902937206364),
            ("min", 60.0),
            ("h", 3600.0),
            ("km/h", 1.0 / 3.6),
            ("mph", 0.44704),
            ("rpm", std::f64::consts::TAU / 60.0),
            ("rev", std::f64::consts::TAU),
            ("mm", 1e-3),
            ("µm", 1e-6),
            ("μm", 1e-6),
            ("um", 1e-6),
            ("g", 1e-3),
            ("t", 1e3),
            ("kN", 1e3),
            ("MPa", 1e6),
            ("bar", 1e5),
            ("L", 1e-3),
            ("mL", 1e-6),
            ("eV", 1.602176634e-19),
            ("hp", 745.6998715822702),
            ("kcal", 4184.0),
            ("°", std::f64::consts::PI / 180.0),
            ("arcmin", std::f64::consts::PI / 10800.0),
            ("%", 0.01),
            ("cm^2", 1e-4),
            ("lbf in", 0.1129848290276167),
        ] {
            let found = unit(text).factor();
            assert!((found - factor).abs() <= 4e-16 * factor, "{text}: {found} {factor}");
        }
    }

    #[test]
    fn values_are_exact_where_the_factor_is() {
        let mut dag = Dag::new();
        for (text, value) in [
            ("30 cm", 0.3),
            ("90 deg", std::f64::consts::FRAC_PI_2),
            ("-1.5 mm", -0.0015),
            ("1e3 g", 1.0),
            ("30cm", 0.3),
            ("9.81 m/s^2", 9.81),
        ] {
            let q = quantity(text).unwrap();
            let e = q.value(&mut dag, q.unit.clone().unwrap());
            assert_eq!(dag.evaluate(e, |_| f64::NAN), value, "{text}");
        }
        assert!(quantity("2*m").is_none() && quantity("m").is_none() && quantity("1e3").is_none());
    }

    #[test]
    fn every_listed_unit_reads_as_itself_and_no_name_is_listed_twice() {
        let mut seen = std::collections::HashSet::new();
        for entry in listed() {
            for name in std::iter::once(&entry.name).chain(entry.other_names) {
                assert!(seen.insert(*name), "{name}");
                assert_eq!(unit(name), unit(entry.name));
            }
        }
    }

    #[test]
    fn what_people_write_instead_has_a_way_out() {
        for (text, message, hint) in [
            ("furlong", "unknown unit `furlong`", "write 201.168 m"),
            ("meter", "unknown unit `meter`", "write m"),
            ("meters", "unknown unit `meters`", "write m"),
            ("degrees", "unknown unit `degrees`", "write deg"),
            ("sec", "unknown unit `sec`", "write s"),
            ("KG", "unknown unit `KG`", "did you mean `kg`?"),
            ("Nm", "unknown unit `Nm`", "did you mean `N m`?"),
            ("m/s2", "unknown unit `s2`", "did you mean `s^2`?"),
            ("kgm", "unknown unit `kgm`", "did you mean `kg m`?"),
            ("°C", "`°C` counts from another zero", "write a difference of temperatures in K"),
            ("J/kg K", "what follows after the division?", "write J/(kg K), or put K before the /"),
            ("m^", "an exponent is missing", "write m^2"),
            ("m^x", "an exponent is missing", "write m^2"),
            ("(m", "this parenthesis is never closed", "add `)`"),
            ("m)", "there is no `(` for this `)`", "remove it"),
            ("", "the unit is empty", "write \"1\" for a number without unit"),
            ("m//s", "a unit is missing before `/`", "write for example m/s"),
            ("2 m", "a unit contains no number but 1", "remove the 2"),
            ("m**2", "`**` is not a power", "write `^`"),
            ("m + s", "`+` cannot stand in a unit", "a unit is a product, such as N m/rad"),
            (
                "widget",
                "unknown unit `widget`",
                "units are m, kg, s, N, J, W, Pa, rad, deg, Hz, in, ft, lb, lbf, … (`carom help units`)",
            ),
        ] {
            let problem = Unit::read(text).unwrap_err();
            assert_eq!((problem.message.as_str(), problem.hint.as_str()), (message, hint), "{text}");
            assert!(problem.start <= problem.end && problem.end <= text.len(), "{text}");
        }
    }

    #[test]
    fn no_text_breaks_the_reader() {
        let pieces = [
            "m", "kg", " ", "/", "^", "(", ")", "2", "-", "²", "⁻", "°", "µ", "*", ".", "e", "1", "·",
            "\u{301}",
        ];
        let mut state = 1_u64;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..8 {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                text += pieces[(state >> 33) as usize % pieces.len()];
            }
            if let Err(problem) = Unit::read(&text) {
                assert!(text.get(problem.start..problem.end).is_some(), "{text}");
            }
            let _ = quantity(&text);
        }
        assert!(Unit::read(&"(".repeat(100_000)).is_err());
        assert!(Unit::read(&"m^99 ".repeat(1000)).is_ok());
    }

    #[test]
    fn dimensions_print_as_a_person_writes_them() {
        for (text, shown) in [
            ("J", "kg m²/s²"),
            ("N", "N"),
            ("m/s", "m/s"),
            ("rad", "no unit"),
            ("1/s", "1/s"),
            ("N/m", "kg/s²"),
            ("m^(1/2)", "m^(1/2)"),
            ("kg/(m s)", "kg/(m s)"),
            ("Pa", "Pa"),
        ] {
            assert_eq!(unit(text).dimension.to_string(), shown, "{text}");
        }
    }
}
