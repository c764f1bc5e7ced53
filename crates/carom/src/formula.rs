//! Formulas: text as a model file has it, or built with operators.
//!
//! ```
//! use carom::formula::{Formula, cos, name};
//!
//! let (m, l, theta) = (name("m"), name("l"), name("theta"));
//! let kinetic = 0.5 * &m * (&l * theta.rate()).pow(2);
//! let potential = -m * 9.81 * l * cos(theta);
//! assert_eq!(kinetic.to_string(), "0.5*m*(l*theta')^2");
//! assert_eq!(potential.to_string(), "-m*9.81*l*cos(theta)");
//! assert_eq!(Formula::from("a + b") * 2.0, Formula::from("(a + b)*2.0"));
//! ```
//!
//! Promise: a formula means what the operators mean, parentheses are put where they are needed and nowhere else; a number
//! reads back to the same double.

use std::fmt;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// How strongly the outermost operation of a formula holds together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Binding {
    /// Text of unknown shape.
    Any,
    Sum,
    /// A leading minus sign, or a product or quotient.
    Product,
    Power,
    /// A name, a number, a call.
    Atom,
}

/// A formula: from text, from a number, or built with `+ - * /`, [`Formula::pow`] and the functions of this module.
///
/// ```
/// use carom::formula::{Formula, name, sqrt};
/// let speed = sqrt(name("x").rate().pow(2) + name("y").rate().pow(2));
/// assert_eq!(speed, Formula::from("sqrt(x'^2 + y'^2)"));
/// ```
#[derive(Clone, Debug)]
pub struct Formula {
    text: String,
    binding: Binding,
    number: bool,
}

/// A name: a coordinate, a parameter, a definition, `t`, `pi`.
///
/// ```
/// use carom::formula::name;
/// assert_eq!((name("x") - name("x0")).to_string(), "x - x0");
/// ```
pub fn name(name: impl Into<String>) -> Formula {
    Formula { text: name.into(), binding: Binding::Atom, number: false }
}

impl Formula {
    /// The rate of a name: `x'` of `x`, `x''` of `x'`. Only names have rates in a model file; of anything else, define it
    /// first ([`ModelBuilder::define`](crate::ModelBuilder::define)).
    ///
    /// ```
    /// assert_eq!(carom::formula::name("theta").rate().to_string(), "theta'");
    /// ```
    #[must_use]
    pub fn rate(&self) -> Formula {
        Formula { text: format!("{}'", self.at_least(Binding::Atom)), binding: Binding::Atom, number: false }
    }

    /// A power.
    ///
    /// ```
    /// use carom::formula::name;
    /// assert_eq!((name("x") + 1.0).pow(2).to_string(), "(x + 1.0)^2");
    /// assert_eq!(name("x").pow(-2).to_string(), "x^(-2)");
    /// assert_eq!(name("x").pow(2).pow(name("n")).to_string(), "(x^2)^n");
    /// ```
    #[must_use]
    pub fn pow(&self, exponent: impl Into<Formula>) -> Formula {
        let (base, exponent) = (self.at_least(Binding::Atom), exponent.into());
        Formula::made(format!("{base}^{}", exponent.at_least(Binding::Atom)), Binding::Power)
    }

    /// The formula as text.
    ///
    /// ```
    /// assert_eq!((carom::formula::name("x") / 2.0).as_str(), "x/2.0");
    /// ```
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_number(&self) -> bool {
        self.number
    }

    fn made(text: String, binding: Binding) -> Formula {
        Formula { text, binding, number: false }
    }

    /// The text, in parentheses if it holds together less than this.
    fn at_least(&self, binding: Binding) -> String {
        if self.binding >= binding { self.text.clone() } else { format!("({})", self.text) }
    }
}

/// Equal as texts.
impl PartialEq for Formula {
    fn eq(&self, other: &Formula) -> bool {
        self.text == other.text
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<&str> for Formula {
    fn from(text: &str) -> Formula {
        let start = text.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let name = start && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '\''));
        Formula::made(text.to_owned(), if name { Binding::Atom } else { Binding::Any })
    }
}

impl From<String> for Formula {
    fn from(text: String) -> Formula {
        Formula::from(text.as_str())
    }
}

impl From<&Formula> for Formula {
    fn from(formula: &Formula) -> Formula {
        formula.clone()
    }
}

/// The shortest decimal that reads back to the same double.
impl From<f64> for Formula {
    fn from(x: f64) -> Formula {
        let text = if x.is_nan() { "nan".to_owned() } else { format!("{x:?}") };
        let binding = if x.is_sign_negative() { Binding::Any } else { Binding::Atom };
        Formula { text, binding, number: true }
    }
}

impl From<i32> for Formula {
    fn from(n: i32) -> Formula {
        let binding = if n < 0 { Binding::Any } else { Binding::Atom };
        Formula { text: n.to_string(), binding, number: true }
    }
}

impl Neg for Formula {
    type Output = Formula;
    fn neg(self) -> Formula {
        // −a·b is (−a)·b: the sign goes before a product. −(a/b)·c reads the same either way.
        let inner = if self.text.starts_with('-') { Binding::Atom } else { Binding::Product };
        Formula::made(format!("-{}", self.at_least(inner)), Binding::Product)
    }
}

impl Neg for &Formula {
    type Output = Formula;
    fn neg(self) -> Formula {
        -self.clone()
    }
}

/// `a op b`: the left side holds together at least as `left`, the right side as `right`.
fn joined(a: &Formula, operator: &str, b: &Formula, left: Binding, right: Binding, made: Binding) -> Formula {
    let mut right_text = b.at_least(right);
    if right_text.starts_with('-') {
        right_text = format!("({right_text})");
    }
    Formula::made(format!("{}{operator}{right_text}", a.at_least(left)), made)
}

fn add(a: &Formula, b: &Formula) -> Formula {
    joined(a, " + ", b, Binding::Sum, Binding::Sum, Binding::Sum)
}

fn sub(a: &Formula, b: &Formula) -> Formula {
    joined(a, " - ", b, Binding::Sum, Binding::Product, Binding::Sum)
}

fn mul(a: &Formula, b: &Formula) -> Formula {
    joined(a, "*", b, Binding::Product, Binding::Power, Binding::Product)
}

fn div(a: &Formula, b: &Formula) -> Formula {
    joined(a, "/", b, Binding::Product, Binding::Power, Binding::Product)
}

macro_rules! operators {
    ($($trait:ident $method:ident $function:ident)*) => {$(
        impl<T: Into<Formula>> $trait<T> for Formula {
            type Output = Formula;
            fn $method(self, other: T) -> Formula {
                $function(&self, &other.into())
            }
        }
        impl<T: Into<Formula>> $trait<T> for &Formula {
            type Output = Formula;
            fn $method(self, other: T) -> Formula {
                $function(self, &other.into())
            }
        }
        operators! { @left $trait $method $function f64 i32 }
    )*};
    (@left $trait:ident $method:ident $function:ident $($number:ty)*) => {$(
        impl $trait<Formula> for $number {
            type Output = Formula;
            fn $method(self, other: Formula) -> Formula {
                $function(&self.into(), &other)
            }
        }
        impl $trait<&Formula> for $number {
            type Output = Formula;
            fn $method(self, other: &Formula) -> Formula {
                $function(&self.into(), other)
            }
        }
    )*};
}

operators! { Add add add Sub sub sub Mul mul mul Div div div }

macro_rules! functions {
    ($($name:ident $what:literal)*) => {$(
        #[doc = concat!($what, ".\n\n```\nuse carom::formula::{name, ", stringify!($name), "};\nassert_eq!(",
            stringify!($name), "(name(\"x\") + 1).to_string(), \"", stringify!($name), "(x + 1)\");\n```")]
        pub fn $name(x: impl Into<Formula>) -> Formula {
            Formula::made(format!("{}({})", stringify!($name), x.into()), Binding::Atom)
        }
    )*};
}

functions! {
    sqrt "√x"
    exp "eˣ"
    log "The natural logarithm"
    sin "The sine"
    cos "The cosine"
    tan "The tangent"
    asin "The angle whose sine is x"
    acos "The angle whose cosine is x"
    atan "The angle whose tangent is x"
    sinh "The hyperbolic sine"
    cosh "The hyperbolic cosine"
    tanh "The hyperbolic tangent"
    asinh "The inverse of sinh"
    acosh "The inverse of cosh"
    atanh "The inverse of tanh"
    abs "|x|"
    sign "−1, 0 or 1"
}

macro_rules! functions_of_two {
    ($($name:ident $what:literal)*) => {$(
        #[doc = concat!($what, ".\n\n```\nuse carom::formula::{name, ", stringify!($name), "};\nassert_eq!(",
            stringify!($name), "(name(\"a\"), 2).to_string(), \"", stringify!($name), "(a, 2)\");\n```")]
        pub fn $name(a: impl Into<Formula>, b: impl Into<Formula>) -> Formula {
            Formula::made(format!("{}({}, {})", stringify!($name), a.into(), b.into()), Binding::Atom)
        }
    )*};
}

functions_of_two! {
    atan2 "The angle of the point (b, a)"
    min "The smaller of two"
    max "The larger of two"
}
