//! Joining pieces on one line: the language of formulas, Unicode, SymPy, Rust and C.

use super::Style;
use super::piece::{Piece, Precedence};
use crate::dag::{Constant, Function};
use crate::number::Rational;

fn piece(text: String, level: Precedence) -> Piece {
    // Combining dots take no room. Beyond a few lines the exact width no longer matters.
    let width = if text.len() > 4096 {
        text.len()
    } else {
        text.chars().filter(|c| !matches!(c, '\u{307}' | '\u{308}')).count()
    };
    Piece::new(text, level, width)
}

pub(super) fn parenthesise(inner: Piece) -> Piece {
    piece(format!("({})", inner.text), Precedence::Atom)
}

/// The text of `p`, in parentheses unless it is at least as tight as `level`.
fn at_least(p: Piece, level: Precedence) -> String {
    if p.level < level { parenthesise(p).text } else { p.text }
}

fn times(style: Style) -> &'static str {
    if style == Style::Unicode { "·" } else { "*" }
}

fn minus(style: Style) -> &'static str {
    if style == Style::Unicode { "−" } else { "-" }
}

// ---- numbers ---------------------------------------------------------------------------------------------

/// A short finite decimal, for numbers nobody would write as a fraction: 9.81, not 981/100; but 1/2, not 0.5.
pub(super) fn decimal(r: Rational) -> Option<String> {
    let (mut rest, mut twos, mut fives) = (r.denominator(), 0_u32, 0_u32);
    while rest % 2 == 0 {
        rest /= 2;
        twos += 1;
    }
    while rest % 5 == 0 {
        rest /= 5;
        fives += 1;
    }
    let places = twos.max(fives);
    if rest != 1 || fives == 0 || places > 12 {
        return None;
    }
    let scaled = r.numerator().checked_mul(10_i128.checked_pow(places)? / r.denominator())?;
    let digits = format!("{:0>width$}", scaled.unsigned_abs(), width = places as usize + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places as usize);
    let sign = if scaled < 0 { "-" } else { "" };
    Some(format!("{sign}{whole}.{fraction}"))
}

/// A whole number; long rows of zeros as an exponent.
pub(super) fn whole(n: i128) -> (String, u32) {
    let text = n.to_string();
    let zeros = text.len() - text.trim_end_matches('0').len();
    if zeros >= 9 { (text[..text.len() - zeros].to_string(), zeros as u32) } else { (text, 0) }
}

fn whole_text(n: i128) -> String {
    match whole(n) {
        (text, 0) => text,
        (text, zeros) => format!("{text}e{zeros}"),
    }
}

fn literal(x: f64) -> String {
    format!("{x:?}")
}

pub(super) fn number(r: Rational, style: Style) -> Piece {
    let level = if r.is_negative() { Precedence::Negative } else { Precedence::Atom };
    match style {
        Style::Rust | Style::C => piece(literal(r.to_f64()), level),
        Style::Sympy if r.is_integer() => piece(r.numerator().to_string(), level),
        Style::Sympy => piece(format!("Rational({}, {})", r.numerator(), r.denominator()), Precedence::Atom),
        Style::Text | Style::Unicode | Style::Latex => {
            let sign = if r.is_negative() { minus(style) } else { "" };
            let size = r.abs();
            if size.is_integer() {
                return piece(format!("{sign}{}", whole_text(size.numerator())), level);
            }
            match decimal(size) {
                Some(text) => piece(format!("{sign}{text}"), level),
                None => {
                    let level = level.min(Precedence::Product);
                    piece(format!("{sign}{}/{}", size.numerator(), size.denominator()), level)
                }
            }
        }
    }
}

pub(super) fn float(x: f64, style: Style) -> Piece {
    let level = if x < 0.0 { Precedence::Negative } else { Precedence::Atom };
    let sign = if x < 0.0 { minus(style) } else { "" };
    let size = x.abs();
    match style {
        Style::Rust | Style::C => piece(format!("{sign}{}", literal(size)), level),
        Style::Sympy => piece(format!("Float(\"{sign}{size:e}\", 17)"), Precedence::Atom),
        _ => piece(format!("{sign}{size:e}"), level),
    }
}

pub(super) fn constant(c: Constant, style: Style) -> Piece {
    let text = match (c, style) {
        (Constant::Pi, Style::Unicode) => "π",
        (Constant::Pi, Style::Rust) => "std::f64::consts::PI",
        (Constant::Pi, Style::C) => "3.141592653589793",
        (Constant::Pi, _) => "pi",
        (Constant::E, Style::Sympy) => "E",
        (Constant::E, Style::Rust) => "std::f64::consts::E",
        (Constant::E, Style::C) => "2.718281828459045",
        (Constant::E, _) => "e",
    };
    piece(text.to_string(), Precedence::Atom)
}

// ---- sums and products -----------------------------------------------------------------------------------

pub(super) fn sum(terms: Vec<(bool, Piece)>, style: Style) -> Piece {
    let mut text = String::new();
    let single = terms.len() == 1;
    let mut width = 0;
    for (i, (negative, term)) in terms.into_iter().enumerate() {
        match (i, negative) {
            (0, false) => {}
            (0, true) => text.push_str(minus(style)),
            (_, false) => text.push_str(" + "),
            (_, true) => {
                text.push(' ');
                text.push_str(minus(style));
                text.push(' ');
            }
        }
        width += term.width + 3;
        text.push_str(&at_least(term, Precedence::Product));
    }
    Piece::new(text, if single { Precedence::Negative } else { Precedence::Sum }, width)
}

pub(super) fn negate(p: Piece, style: Style) -> Piece {
    piece(format!("{}{}", minus(style), at_least(p, Precedence::Product)), Precedence::Negative)
}

pub(super) fn product(c: Rational, above: Vec<Piece>, below: Vec<Piece>, style: Style) -> Piece {
    let times = times(style);
    let lone = above.len() == 1 && below.is_empty() && c.is_one();
    if let (true, Some(only)) = (lone, above.first()) {
        if only.level == Precedence::Sum { return parenthesise(only.clone()) } else { return only.clone() }
    }
    let mut above: Vec<String> = above.into_iter().map(|p| at_least(p, Precedence::Product)).collect();
    let below_is_one = below.len() == 1;
    let mut below: Vec<String> = if below_is_one {
        below.into_iter().map(|p| at_least(p, Precedence::Power)).collect()
    } else {
        below.into_iter().map(|p| at_least(p, Precedence::Product)).collect()
    };
    let (p, q) = (c.numerator(), c.denominator());
    match style {
        Style::Rust | Style::C => {
            if !c.is_one() || above.is_empty() {
                above.insert(0, literal(c.to_f64()));
            }
        }
        _ if c.is_one() => {}
        _ if c.is_integer() => above.insert(0, whole_text(p)),
        Style::Sympy if p != 1 && below.is_empty() => above.insert(0, format!("Rational({p}, {q})")),
        Style::Text | Style::Unicode if decimal(c).is_some() => {
            above.insert(0, decimal(c).unwrap_or_default());
        }
        _ if !below.is_empty() => {
            if p != 1 {
                above.insert(0, p.to_string());
            }
            below.insert(0, q.to_string());
        }
        Style::Unicode if vulgar(p, q).is_some() => {
            above.insert(0, vulgar(p, q).map(String::from).unwrap_or_default());
        }
        // `m/2*x'^2`, but `3/2*m*x'^2`
        _ if p == 1 => {
            if let Some(first) = above.first_mut() {
                *first = format!("{first}/{q}");
            }
        }
        _ => above.insert(0, format!("{p}/{q}")),
    }
    let mut text = if above.is_empty() { "1".to_string() } else { above.join(times) };
    match below.len() {
        0 => {}
        1 => text = format!("{text}/{}", below[0]),
        _ => text = format!("{text}/({})", below.join(times)),
    }
    piece(text, Precedence::Product)
}

fn vulgar(p: i128, q: i128) -> Option<char> {
    Some(match (p, q) {
        (1, 2) => '½',
        (1, 3) => '⅓',
        (2, 3) => '⅔',
        (1, 4) => '¼',
        (3, 4) => '¾',
        (1, 6) => '⅙',
        (1, 8) => '⅛',
        _ => return None,
    })
}

// ---- powers and functions --------------------------------------------------------------------------------

/// What a method is called on in Rust: literals need their type.
fn receiver(base: Piece) -> String {
    if base.digit && base.level == Precedence::Atom {
        format!("{}_f64", base.text)
    } else {
        at_least(base, Precedence::Atom)
    }
}

pub(super) fn rational_power(base: Piece, exponent: Rational, style: Style) -> Piece {
    let root = exponent == Rational::HALF;
    let n = exponent.to_integer();
    match style {
        Style::Text | Style::Latex | Style::Sympy if root => {
            piece(format!("sqrt({})", base.text), Precedence::Atom)
        }
        Style::Unicode if root && base.symbol => piece(format!("√{}", base.text), Precedence::Power),
        Style::Unicode if root => piece(format!("√({})", base.text), Precedence::Atom),
        Style::C if root => piece(format!("sqrt({})", base.text), Precedence::Atom),
        Style::Rust if root => piece(format!("{}.sqrt()", receiver(base)), Precedence::Atom),
        Style::Unicode if n.is_some() => {
            let power: String = exponent.to_string().chars().filter_map(superscript).collect();
            match base.exponent_at {
                Some(at) => {
                    let text = format!("{}{power}{}", &base.text[..at], &base.text[at..]);
                    piece(text, Precedence::Power)
                }
                None => piece(format!("{}{power}", at_least(base, Precedence::Atom)), Precedence::Power),
            }
        }
        Style::Text | Style::Unicode | Style::Latex => {
            let power = if n.is_some() { exponent.to_string() } else { format!("({exponent})") };
            piece(format!("{}^{power}", at_least(base, Precedence::Atom)), Precedence::Power)
        }
        Style::Sympy => {
            let power = number(exponent, style).text;
            piece(format!("{}**{power}", at_least(base, Precedence::Atom)), Precedence::Power)
        }
        Style::Rust | Style::C if base.symbol && n == Some(2) => {
            piece(format!("{0}*{0}", base.text), Precedence::Product)
        }
        Style::Rust => {
            let call = match n {
                Some(n) if i32::try_from(n).is_ok() => format!("powi({n})"),
                _ => format!("powf({})", literal(exponent.to_f64())),
            };
            piece(format!("{}.{call}", receiver(base)), Precedence::Atom)
        }
        Style::C => piece(format!("pow({}, {})", base.text, literal(exponent.to_f64())), Precedence::Atom),
    }
}

fn superscript(digit: char) -> Option<char> {
    let digits = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    digit.to_digit(10).map(|d| digits[d as usize])
}

pub(super) fn power(base: Piece, exponent: Piece, style: Style) -> Piece {
    match style {
        Style::Rust => piece(format!("{}.powf({})", receiver(base), exponent.text), Precedence::Atom),
        Style::C => piece(format!("pow({}, {})", base.text, exponent.text), Precedence::Atom),
        Style::Sympy => {
            let exponent = at_least(exponent, Precedence::Atom);
            piece(format!("{}**{exponent}", at_least(base, Precedence::Atom)), Precedence::Power)
        }
        _ => {
            let exponent = at_least(exponent, Precedence::Atom);
            piece(format!("{}^{exponent}", at_least(base, Precedence::Atom)), Precedence::Power)
        }
    }
}

pub(super) fn call(f: Function, args: Vec<Piece>, style: Style) -> Piece {
    let name = match (style, f) {
        (Style::Unicode, Function::Log) => "ln",
        (Style::Unicode, Function::Abs) => {
            return piece(format!("|{}|", join(args)), Precedence::Atom);
        }
        (Style::Unicode, Function::Asin) => "arcsin",
        (Style::Unicode, Function::Acos) => "arccos",
        (Style::Unicode, Function::Atan) => "arctan",
        (Style::Unicode, Function::Sign) => "sgn",
        (Style::Sympy, Function::Abs) => "Abs",
        (Style::Sympy, Function::Min) => "Min",
        (Style::Sympy, Function::Max) => "Max",
        (Style::C, Function::Abs) => "fabs",
        (Style::C, Function::Min) => "fmin",
        (Style::C, Function::Max) => "fmax",
        (Style::Rust, Function::Sign) => "sign",
        (Style::Rust, _) => return method(f, args),
        _ => f.name(),
    };
    let at = name.len();
    let mut piece = piece(format!("{name}({})", join(args)), Precedence::Atom);
    if style == Style::Unicode {
        use Function::*;
        let circular = matches!(f, Sin | Cos | Tan | Sinh | Cosh | Tanh);
        piece.exponent_at = circular.then_some(at);
    }
    piece
}

fn join(args: Vec<Piece>) -> String {
    args.into_iter().map(|a| a.text).collect::<Vec<_>>().join(", ")
}

fn method(f: Function, args: Vec<Piece>) -> Piece {
    let name = if f == Function::Log { "ln" } else { f.name() };
    let mut args = args.into_iter();
    let first = args.next().map(receiver).unwrap_or_default();
    let rest = join(args.collect());
    piece(format!("{first}.{name}({rest})"), Precedence::Atom)
}
