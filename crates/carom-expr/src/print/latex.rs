//! Joining pieces as LaTeX, in what amsmath and the usual readers of LaTeX in pages understand.

use super::linear;
use super::piece::{Piece, Precedence};
use crate::dag::{Constant, Function};
use crate::number::Rational;

/// A sum wider than this is not put into a numerator when a number in front will do.
const WIDE: usize = 40;

pub(super) fn parenthesise(p: Piece) -> Piece {
    let text = if p.tall { format!(r"\left({}\right)", p.text) } else { format!("({})", p.text) };
    Piece::new(text, Precedence::Atom, p.width + 2).tall(p.tall)
}

fn at_least(p: Piece, level: Precedence) -> Piece {
    if p.level < level { parenthesise(p) } else { p }
}

// ---- numbers ---------------------------------------------------------------------------------------------

fn whole(n: i128) -> Piece {
    match linear::whole(n) {
        (text, 0) => {
            let width = text.len();
            Piece::new(text, Precedence::Atom, width)
        }
        (text, zeros) => scientific(&text, &zeros.to_string()),
    }
}

fn scientific(mantissa: &str, exponent: &str) -> Piece {
    let width = mantissa.len() + exponent.len() + 3;
    let text = match mantissa {
        "1" => format!("10^{{{exponent}}}"),
        _ => format!(r"{mantissa} \cdot 10^{{{exponent}}}"),
    };
    Piece::new(text, Precedence::Product, width)
}

pub(super) fn number(r: Rational) -> Piece {
    let size = r.abs();
    let piece = if size.is_integer() {
        whole(size.numerator())
    } else if let Some(text) = linear::decimal(size) {
        let width = text.len();
        Piece::new(text, Precedence::Atom, width)
    } else {
        fraction(whole(size.numerator()), whole(size.denominator()))
    };
    if r.is_negative() { negate(piece) } else { piece }
}

pub(super) fn float(x: f64) -> Piece {
    let text = format!("{:e}", x.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let piece = scientific(mantissa, exponent);
    if x < 0.0 { negate(piece) } else { piece }
}

pub(super) fn constant(c: Constant) -> Piece {
    let text = match c {
        Constant::Pi => r"\pi",
        Constant::E => r"\mathrm{e}",
    };
    Piece { symbol: true, ..Piece::atom(text.to_string(), 1) }
}

// ---- sums and products -----------------------------------------------------------------------------------

pub(super) fn sum(terms: Vec<(bool, Piece)>) -> Piece {
    let single = terms.len() == 1;
    let (mut text, mut width, mut tall) = (String::new(), 0, false);
    for (i, (negative, term)) in terms.into_iter().enumerate() {
        text.push_str(match (i, negative) {
            (0, false) => "",
            (0, true) => "-",
            (_, false) => " + ",
            (_, true) => " - ",
        });
        let term = at_least(term, Precedence::Product);
        width += term.width + 3;
        tall |= term.tall;
        text.push_str(&term.text);
    }
    Piece::new(text, if single { Precedence::Negative } else { Precedence::Sum }, width).tall(tall)
}

pub(super) fn negate(p: Piece) -> Piece {
    let p = at_least(p, Precedence::Product);
    Piece::new(format!("-{}", p.text), Precedence::Negative, p.width + 2).tall(p.tall)
}

fn fraction(above: Piece, below: Piece) -> Piece {
    let text = format!(r"\frac{{{}}}{{{}}}", above.text, below.text);
    Piece::new(text, Precedence::Product, above.width.max(below.width) + 1).tall(true)
}

/// `m l \dot{\theta}`: set side by side, with a dot where digits would run together.
fn side_by_side(pieces: Vec<Piece>) -> Piece {
    if let [only] = &pieces[..] {
        return only.clone();
    }
    let (mut text, mut width, mut tall) = (String::new(), 0, false);
    let mut word_before = false;
    for (i, piece) in pieces.into_iter().enumerate() {
        let piece = at_least(piece, Precedence::Product);
        let word = piece.text.starts_with(r"\mathrm") || piece.text.starts_with(r"\dot{\mathrm");
        if i > 0 {
            text.push_str(match (piece.digit, word || word_before) {
                (true, _) => r" \cdot ",
                (false, true) => r" \, ",
                (false, false) => " ",
            });
        }
        width += piece.width + 1;
        tall |= piece.tall;
        text.push_str(&piece.text);
        word_before = word;
    }
    Piece::new(text, Precedence::Product, width).tall(tall)
}

pub(super) fn product(c: Rational, above: Vec<Piece>, below: Vec<Piece>) -> Piece {
    let decimal = linear::decimal(c);
    let (p, q) = match &decimal {
        Some(text) => (Piece::new(text.clone(), Precedence::Atom, text.len()), None),
        None => (whole(c.numerator()), (!c.is_integer()).then(|| whole(c.denominator()))),
    };
    let p_is_one = decimal.is_none() && c.numerator() == 1;
    let with_number = |number: Option<Piece>, pieces: Vec<Piece>| -> Piece {
        let all: Vec<Piece> = number.into_iter().chain(pieces).collect();
        if all.is_empty() { whole(1) } else { side_by_side(all) }
    };
    let front = (!p_is_one).then_some(p.clone());
    if !below.is_empty() {
        return fraction(with_number(front, above), with_number(q, below));
    }
    let Some(q) = q else {
        if p_is_one && above.len() == 1 {
            return above.into_iter().map(|p| at_least(p, Precedence::Negative)).next().unwrap_or(p);
        }
        return with_number(front, above);
    };
    // x/2 and (a + b)/2 as fractions, everything longer with a number in front.
    if above.len() == 1 && above[0].width <= WIDE && !above[0].tall {
        return fraction(with_number(front, above), q);
    }
    with_number(Some(fraction(p, q)), above)
}

// ---- powers and functions --------------------------------------------------------------------------------

pub(super) fn rational_power(base: Piece, exponent: Rational) -> Piece {
    if exponent == Rational::HALF {
        return Piece::atom(format!(r"\sqrt{{{}}}", base.text), base.width + 2).tall(base.tall);
    }
    let exponent = exponent.to_string();
    let width = base.width + exponent.len();
    raise(base, &exponent, width)
}

pub(super) fn power(base: Piece, exponent: Piece) -> Piece {
    let width = base.width + exponent.width;
    let tall = exponent.tall;
    raise(base, &exponent.text, width).tall(tall)
}

fn raise(base: Piece, exponent: &str, width: usize) -> Piece {
    let tall = base.tall;
    let text = match base.exponent_at {
        Some(at) => format!("{}^{{{exponent}}}{}", &base.text[..at], &base.text[at..]),
        None => {
            let base = if base.level < Precedence::Atom { parenthesise(base) } else { base };
            // A base with a superscript of its own is kept together by braces.
            if base.symbol && base.text.contains('^') {
                format!("{{{}}}^{{{exponent}}}", base.text)
            } else {
                format!("{}^{{{exponent}}}", base.text)
            }
        }
    };
    Piece::new(text, Precedence::Power, width).tall(tall)
}

pub(super) fn call(f: Function, args: Vec<Piece>) -> Piece {
    use Function::*;
    let name = match f {
        Exp => return exponential(args),
        Abs => return absolute(args),
        Log => r"\ln",
        Sin => r"\sin",
        Cos => r"\cos",
        Tan => r"\tan",
        Asin => r"\arcsin",
        Acos => r"\arccos",
        Atan => r"\arctan",
        Atan2 => r"\operatorname{atan2}",
        Sinh => r"\sinh",
        Cosh => r"\cosh",
        Tanh => r"\tanh",
        Asinh => r"\operatorname{arsinh}",
        Acosh => r"\operatorname{arcosh}",
        Atanh => r"\operatorname{artanh}",
        Sign => r"\operatorname{sgn}",
        Min => r"\min",
        Max => r"\max",
    };
    let letters = f.name().len();
    let exponent_at = matches!(f, Sin | Cos | Tan | Sinh | Cosh | Tanh).then_some(name.len());
    let mut piece = match &args[..] {
        [only] if only.symbol && !only.text.contains('^') => {
            Piece::new(format!("{name} {}", only.text), Precedence::Atom, letters + only.width)
        }
        _ => {
            let inner = parenthesise(list(args));
            Piece::new(format!("{name}{}", inner.text), Precedence::Atom, letters + inner.width)
                .tall(inner.tall)
        }
    };
    // Without a place for it inside, an exponent needs parentheses around the whole: (ln x)².
    if exponent_at.is_none() {
        piece.level = Precedence::Power;
    }
    piece.exponent_at = exponent_at;
    piece
}

fn list(args: Vec<Piece>) -> Piece {
    let width = args.iter().map(|a| a.width + 2).sum();
    let tall = args.iter().any(|a| a.tall);
    let text = args.into_iter().map(|a| a.text).collect::<Vec<_>>().join(", ");
    Piece::new(text, Precedence::Sum, width).tall(tall)
}

fn exponential(args: Vec<Piece>) -> Piece {
    let arg = list(args);
    if arg.tall || arg.width > WIDE / 2 {
        let inner = parenthesise(arg);
        return Piece::new(format!(r"\exp{}", inner.text), Precedence::Power, inner.width + 3)
            .tall(inner.tall);
    }
    Piece::new(format!(r"\mathrm{{e}}^{{{}}}", arg.text), Precedence::Power, arg.width + 1)
}

fn absolute(args: Vec<Piece>) -> Piece {
    let arg = list(args);
    let text = if arg.tall {
        format!(r"\left\lvert {} \right\rvert", arg.text)
    } else {
        format!(r"\lvert {} \rvert", arg.text)
    };
    Piece::new(text, Precedence::Atom, arg.width + 2).tall(arg.tall)
}
