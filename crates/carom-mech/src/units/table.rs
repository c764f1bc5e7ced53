//! The units that have names.

use super::{Dimension, Unit, UnitFactor};
use carom_expr::Rational;

/// A unit with a name.
#[derive(Clone, Copy, Debug)]
pub struct Listed {
    /// How it is written.
    pub name: &'static str,
    /// Other ways to write it.
    pub other_names: &'static [&'static str],
    /// What it is called.
    pub word: &'static str,
    /// May it have a prefix such as k or m?
    pub prefixes: bool,
    dimension: [i64; 7],
    /// Decimal numbers, multiplied; the second one divides.
    scale: (&'static str, &'static str),
    pi: i32,
}

/// SI prefixes and their powers of ten.
pub(super) const PREFIXES: [(&str, i64); 22] = [
    ("da", 1),
    ("h", 2),
    ("k", 3),
    ("M", 6),
    ("G", 9),
    ("T", 12),
    ("P", 15),
    ("E", 18),
    ("Z", 21),
    ("Y", 24),
    ("d", -1),
    ("c", -2),
    ("m", -3),
    ("µ", -6),
    ("μ", -6),
    ("u", -6),
    ("n", -9),
    ("p", -12),
    ("f", -15),
    ("a", -18),
    ("z", -21),
    ("y", -24),
];

macro_rules! units {
    ($($word:literal: $($name:literal)|+ $(, $prefixes:ident)? = $up:literal / $down:literal $(pi^$pi:literal)? [$($d:literal)*];)*) => {
        &[$(units!(@one $word, [$($name),+], [$($prefixes)?], $up, $down, [$($pi)?], [$($d),*]),)*]
    };
    (@one $word:literal, [$name:literal $(, $other:literal)*], [$($prefixes:ident)?], $up:literal, $down:literal, [$($pi:literal)?], [$($d:expr),*]) => {
        Listed { name: $name, other_names: &[$($other),*], word: $word, prefixes: units!(@yes $($prefixes)?),
                 dimension: [$($d),*], scale: ($up, $down), pi: 0 $(+ $pi)? }
    };
    (@yes prefixes) => { true };
    (@yes) => { false };
}

// Exponents of kg m s A K mol cd. What is not exact by definition is a rational double of the 2018 constants.
#[rustfmt::skip]
static LISTED: &[Listed] = units! {
    "metre": "m", prefixes = "1"/"1" [0 1 0 0 0 0 0];
    "gram": "g", prefixes = "1"/"1000" [1 0 0 0 0 0 0];
    "second": "s", prefixes = "1"/"1" [0 0 1 0 0 0 0];
    "ampere": "A", prefixes = "1"/"1" [0 0 0 1 0 0 0];
    "kelvin": "K", prefixes = "1"/"1" [0 0 0 0 1 0 0];
    "mole": "mol", prefixes = "1"/"1" [0 0 0 0 0 1 0];
    "candela": "cd", prefixes = "1"/"1" [0 0 0 0 0 0 1];
    "radian": "rad", prefixes = "1"/"1" [0 0 0 0 0 0 0];
    "steradian": "sr", prefixes = "1"/"1" [0 0 0 0 0 0 0];
    "degree": "deg" | "°" = "1"/"180" pi^1 [0 0 0 0 0 0 0];
    "minute of arc": "arcmin" = "1"/"10800" pi^1 [0 0 0 0 0 0 0];
    "second of arc": "arcsec" = "1"/"648000" pi^1 [0 0 0 0 0 0 0];
    "revolution": "rev" | "turn" = "2"/"1" pi^1 [0 0 0 0 0 0 0];
    "revolutions per minute": "rpm" = "1"/"30" pi^1 [0 0 -1 0 0 0 0];
    "percent": "%" = "1"/"100" [0 0 0 0 0 0 0];
    "hertz": "Hz", prefixes = "1"/"1" [0 0 -1 0 0 0 0];
    "newton": "N", prefixes = "1"/"1" [1 1 -2 0 0 0 0];
    "pascal": "Pa", prefixes = "1"/"1" [1 -1 -2 0 0 0 0];
    "joule": "J", prefixes = "1"/"1" [1 2 -2 0 0 0 0];
    "watt": "W", prefixes = "1"/"1" [1 2 -3 0 0 0 0];
    "coulomb": "C", prefixes = "1"/"1" [0 0 1 1 0 0 0];
    "volt": "V", prefixes = "1"/"1" [1 2 -3 -1 0 0 0];
    "farad": "F", prefixes = "1"/"1" [-1 -2 4 2 0 0 0];
    "ohm": "ohm" | "Ω" | "\u{2126}", prefixes = "1"/"1" [1 2 -3 -2 0 0 0];
    "siemens": "S", prefixes = "1"/"1" [-1 -2 3 2 0 0 0];
    "weber": "Wb", prefixes = "1"/"1" [1 2 -2 -1 0 0 0];
    "tesla": "T", prefixes = "1"/"1" [1 0 -2 -1 0 0 0];
    "henry": "H", prefixes = "1"/"1" [1 2 -2 -2 0 0 0];
    "lumen": "lm", prefixes = "1"/"1" [0 0 0 0 0 0 1];
    "lux": "lx", prefixes = "1"/"1" [0 -2 0 0 0 0 1];
    "becquerel": "Bq", prefixes = "1"/"1" [0 0 -1 0 0 0 0];
    "gray": "Gy", prefixes = "1"/"1" [0 2 -2 0 0 0 0];
    "katal": "kat", prefixes = "1"/"1" [0 0 -1 0 0 1 0];
    "minute": "min" = "60"/"1" [0 0 1 0 0 0 0];
    "hour": "h" = "3600"/"1" [0 0 1 0 0 0 0];
    "day": "d" | "day" = "86400"/"1" [0 0 1 0 0 0 0];
    "Julian year": "yr" = "31557600"/"1" [0 0 1 0 0 0 0];
    "litre": "L" | "l", prefixes = "1"/"1000" [0 3 0 0 0 0 0];
    "tonne": "t", prefixes = "1000"/"1" [1 0 0 0 0 0 0];
    "hectare": "ha" = "10000"/"1" [0 2 0 0 0 0 0];
    "bar": "bar", prefixes = "100000"/"1" [1 -1 -2 0 0 0 0];
    "standard atmosphere": "atm" = "101325"/"1" [1 -1 -2 0 0 0 0];
    "ångström": "Å" | "\u{212b}" | "angstrom" = "1e-10"/"1" [0 1 0 0 0 0 0];
    "astronomical unit": "au" = "149597870700"/"1" [0 1 0 0 0 0 0];
    "light year": "ly" = "9460730472580800"/"1" [0 1 0 0 0 0 0];
    "electronvolt": "eV", prefixes = "1.602176634e-19"/"1" [1 2 -2 0 0 0 0];
    "dalton": "Da", prefixes = "1.66053906660e-27"/"1" [1 0 0 0 0 0 0];
    "dyne": "dyn" = "1e-5"/"1" [1 1 -2 0 0 0 0];
    "erg": "erg" = "1e-7"/"1" [1 2 -2 0 0 0 0];
    "gauss": "G" | "gauss" = "1e-4"/"1" [1 0 -2 -1 0 0 0];
    "poise": "P", prefixes = "1"/"10" [1 -1 -1 0 0 0 0];
    "kilogram-force": "kgf" | "kp" = "9.80665"/"1" [1 1 -2 0 0 0 0];
    "standard gravity": "g0" = "9.80665"/"1" [0 1 -2 0 0 0 0];
    "calorie": "cal", prefixes = "4.184"/"1" [1 2 -2 0 0 0 0];
    "watt hour": "Wh", prefixes = "3600"/"1" [1 2 -2 0 0 0 0];
    "inch": "in" | "inch" = "0.0254"/"1" [0 1 0 0 0 0 0];
    "foot": "ft" | "foot" = "0.3048"/"1" [0 1 0 0 0 0 0];
    "yard": "yd" = "0.9144"/"1" [0 1 0 0 0 0 0];
    "mile": "mi" = "1609.344"/"1" [0 1 0 0 0 0 0];
    "nautical mile": "nmi" = "1852"/"1" [0 1 0 0 0 0 0];
    "mile per hour": "mph" = "0.44704"/"1" [0 1 -1 0 0 0 0];
    "knot": "kn" | "knot" = "1852"/"3600" [0 1 -1 0 0 0 0];
    "kilometre per hour": "kph" = "1"/"3.6" [0 1 -1 0 0 0 0];
    "pound": "lb" | "lbm" = "0.45359237"/"1" [1 0 0 0 0 0 0];
    "ounce": "oz" = "0.028349523125"/"1" [1 0 0 0 0 0 0];
    "pound-force": "lbf" = "4.4482216152605"/"1" [1 1 -2 0 0 0 0];
    "ounce-force": "ozf" = "0.27801385095378125"/"1" [1 1 -2 0 0 0 0];
    "kilopound-force": "kip" = "4448.2216152605"/"1" [1 1 -2 0 0 0 0];
    "slug": "slug" = "4.4482216152605"/"0.3048" [1 0 0 0 0 0 0];
    "pound per square inch": "psi" = "4.4482216152605"/"0.00064516" [1 -1 -2 0 0 0 0];
    "horsepower": "hp" = "745.69987158227022"/"1" [1 2 -3 0 0 0 0];
    "British thermal unit": "Btu" = "1055.05585262"/"1" [1 2 -2 0 0 0 0];
    "US gallon": "gal" = "0.003785411784"/"1" [0 3 0 0 0 0 0];
};

/// Words people write, and what to write instead.
const INSTEAD: [(&str, &str); 62] = [
    ("meter", "m"),
    ("metre", "m"),
    ("meters", "m"),
    ("metres", "m"),
    ("mtr", "m"),
    ("centimeter", "cm"),
    ("centimeters", "cm"),
    ("centimetre", "cm"),
    ("centimetres", "cm"),
    ("millimeter", "mm"),
    ("millimeters", "mm"),
    ("millimetre", "mm"),
    ("millimetres", "mm"),
    ("kilometer", "km"),
    ("kilometers", "km"),
    ("kilometre", "km"),
    ("kilometres", "km"),
    ("micron", "µm"),
    ("microns", "µm"),
    ("gram", "g"),
    ("grams", "g"),
    ("gr", "g"),
    ("kilo", "kg"),
    ("kilos", "kg"),
    ("kilogram", "kg"),
    ("kilograms", "kg"),
    ("kgs", "kg"),
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("msec", "ms"),
    ("millisecond", "ms"),
    ("milliseconds", "ms"),
    ("minute", "min"),
    ("minutes", "min"),
    ("mins", "min"),
    ("hour", "h"),
    ("hours", "h"),
    ("hr", "h"),
    ("hrs", "h"),
    ("days", "d"),
    ("year", "yr"),
    ("years", "yr"),
    ("newton", "N"),
    ("newtons", "N"),
    ("joule", "J"),
    ("joules", "J"),
    ("watt", "W"),
    ("watts", "W"),
    ("degree", "deg"),
    ("degrees", "deg"),
    ("radian", "rad"),
    ("radians", "rad"),
    ("inches", "in"),
    ("feet", "ft"),
    ("pound", "lb"),
    ("pounds", "lb"),
    ("lbs", "lb"),
    ("furlong", "201.168 m"),
    ("miles", "mi"),
    ("hertz", "Hz"),
];

/// All units that have names.
pub fn listed() -> &'static [Listed] {
    LISTED
}

impl Listed {
    /// The unit.
    pub fn unit(&self) -> Unit {
        let exact = Rational::parse(self.scale.0)
            .zip(Rational::parse(self.scale.1))
            .and_then(|(a, b)| a.multiply(b.reciprocal()?));
        let scale = match exact {
            Some(r) => UnitFactor::Exact(r),
            None => {
                let number = |text: &str| text.parse::<f64>().unwrap_or(1.0);
                UnitFactor::Rounded(number(self.scale.0) / number(self.scale.1))
            }
        };
        Unit { dimension: Dimension::whole(self.dimension), scale, pi: self.pi }
    }
}

/// The unit called `name`, its prefix included.
pub(super) fn find(name: &str) -> Option<Unit> {
    let named = |name: &str| LISTED.iter().find(|u| u.name == name || u.other_names.contains(&name));
    if let Some(unit) = named(name) {
        return Some(unit.unit());
    }
    PREFIXES.iter().find_map(|(prefix, power)| {
        let unit = named(name.strip_prefix(prefix)?).filter(|u| u.prefixes)?;
        let ten = Unit { scale: UnitFactor::Exact(Rational::integer(10)), ..Unit::ONE };
        unit.unit().multiply(ten.power(Rational::integer(*power))?)
    })
}

/// What was probably meant by an unknown unit.
pub(super) fn instead(name: &str) -> String {
    let lower = name.to_lowercase();
    if let Some((_, better)) = INSTEAD.iter().find(|(word, _)| *word == lower) {
        return format!("write {better}");
    }
    // `s2`, `s-1`, `Nm`
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if stem.len() < name.len() && find(stem).is_some() {
        return format!("did you mean `{stem}^{}`?", &name[stem.len()..]);
    }
    let same = LISTED.iter().flat_map(|u| std::iter::once(&u.name).chain(u.other_names));
    let mut same = same.filter(|n| n.eq_ignore_ascii_case(name));
    if let Some(near) = same.next() {
        return format!("did you mean `{near}`?");
    }
    // Two units of mechanics without the blank between them.
    const OFTEN: [&str; 10] = ["N", "kN", "kg", "m", "mm", "s", "W", "J", "lbf", "rad"];
    for first in OFTEN {
        if let Some(second) =
            name.strip_prefix(first).filter(|rest| OFTEN.contains(rest) || ["ft", "in", "h"].contains(rest))
        {
            return format!("did you mean `{first} {second}`?");
        }
    }
    // The case of prefix and unit: `KG`, `mhz`, `KM`.
    for (prefix, _) in PREFIXES {
        for unit in LISTED.iter().filter(|u| u.prefixes) {
            let whole = format!("{prefix}{}", unit.name);
            if whole.eq_ignore_ascii_case(name) && !(name.len() == 2 && name.starts_with('M')) {
                return format!("did you mean `{whole}`?");
            }
        }
    }
    let names = LISTED.iter().map(|u| u.name).filter(|n| n.len() > 1);
    match carom_expr::nearest(name, names).filter(|_| name.chars().count() > 2) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "units are m, kg, s, N, J, W, Pa, rad, deg, Hz, in, ft, lb, lbf, … (`carom help units`)"
            .to_owned(),
    }
}
