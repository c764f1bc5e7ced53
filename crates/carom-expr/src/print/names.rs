//! Names as each style spells them, injectively: two symbols never print alike.
//!
//! `theta1'` is `theta1'` in text, `θ̇₁` in Unicode, `\dot{\theta}_{1}` in LaTeX, and `theta1_dot` in code, where
//! names that the target reserves get an underscore.

use super::Style;
use crate::dag::Dag;
use std::collections::HashSet;

/// Greek letters: name, character, LaTeX.
const GREEK: [(&str, char, &str); 49] = [
    ("alpha", 'α', r"\alpha"),
    ("beta", 'β', r"\beta"),
    ("gamma", 'γ', r"\gamma"),
    ("delta", 'δ', r"\delta"),
    ("epsilon", 'ε', r"\varepsilon"),
    ("zeta", 'ζ', r"\zeta"),
    ("eta", 'η', r"\eta"),
    ("theta", 'θ', r"\theta"),
    ("iota", 'ι', r"\iota"),
    ("kappa", 'κ', r"\kappa"),
    ("lambda", 'λ', r"\lambda"),
    ("mu", 'μ', r"\mu"),
    ("nu", 'ν', r"\nu"),
    ("xi", 'ξ', r"\xi"),
    ("omicron", 'ο', "o"),
    ("pi", 'π', r"\pi"),
    ("rho", 'ρ', r"\rho"),
    ("sigma", 'σ', r"\sigma"),
    ("tau", 'τ', r"\tau"),
    ("upsilon", 'υ', r"\upsilon"),
    ("phi", 'φ', r"\phi"),
    ("chi", 'χ', r"\chi"),
    ("psi", 'ψ', r"\psi"),
    ("omega", 'ω', r"\omega"),
    ("Alpha", 'Α', r"\mathrm{A}"),
    ("Beta", 'Β', r"\mathrm{B}"),
    ("Gamma", 'Γ', r"\Gamma"),
    ("Delta", 'Δ', r"\Delta"),
    ("Epsilon", 'Ε', r"\mathrm{E}"),
    ("Zeta", 'Ζ', r"\mathrm{Z}"),
    ("Eta", 'Η', r"\mathrm{H}"),
    ("Theta", 'Θ', r"\Theta"),
    ("Iota", 'Ι', r"\mathrm{I}"),
    ("Kappa", 'Κ', r"\mathrm{K}"),
    ("Lambda", 'Λ', r"\Lambda"),
    ("Mu", 'Μ', r"\mathrm{M}"),
    ("Nu", 'Ν', r"\mathrm{N}"),
    ("Xi", 'Ξ', r"\Xi"),
    ("Omicron", 'Ο', r"\mathrm{O}"),
    ("Pi", 'Π', r"\Pi"),
    ("Rho", 'Ρ', r"\mathrm{P}"),
    ("Sigma", 'Σ', r"\Sigma"),
    ("Tau", 'Τ', r"\mathrm{T}"),
    ("Upsilon", 'Υ', r"\Upsilon"),
    ("Phi", 'Φ', r"\Phi"),
    ("Chi", 'Χ', r"\mathrm{X}"),
    ("Psi", 'Ψ', r"\Psi"),
    ("Omega", 'Ω', r"\Omega"),
    ("varsigma", 'ς', r"\varsigma"),
];

/// Words of the target languages that no variable may be called.
const PYTHON: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield", "print",
    // What SymPy exports under one or two letters, and what the printer itself writes.
    "C", "E", "I", "N", "O", "Q", "S", "beta", "gamma", "zeta", "Lambda", "Chi", "Ci", "Ei", "Li", "Shi",
    "Si", "li", "pi", "oo", "zoo", "nan", "re", "im", "ff", "rf", "eta", "Sum", "Product", "Symbol",
    "Rational", "Float", "Abs", "sign", "Min", "Max", "sqrt", "exp", "log", "sin", "cos", "tan", "asin",
    "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "symbols", "Matrix", "sec",
    "csc", "cot", "div", "test", "var", "det", "degree", "diff", "solve", "factor", "expand", "series",
    "limit", "trace",
];
const RUST: &[&str] = &[
    "as", "async", "await", "box", "break", "const", "continue", "crate", "dyn", "else", "enum", "extern",
    "false", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub",
    "ref", "return", "self", "Self", "static", "struct", "super", "trait", "true", "try", "type", "unsafe",
    "use", "where", "while", "abstract", "become", "do", "final", "macro", "override", "priv", "typeof",
    "unsized", "virtual", "yield", "f64", "std", "core", "sign", "out", "_",
];
const C: &[&str] = &[
    "auto",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "typedef",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "asm",
    "bool",
    "true",
    "false",
    "main",
    "out",
    "sign",
    "I",
    "complex",
    "y0",
    "y1",
    "yn",
    "j0",
    "j1",
    "jn",
    "gamma",
    "lgamma",
    "tgamma",
    "exp",
    "log",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "sqrt",
    "pow",
    "fabs",
    "fmin",
    "fmax",
    "abs",
    "erf",
    "ceil",
    "floor",
    "round",
    "trunc",
    "div",
    "time",
    "signal",
    "index",
    "remainder",
    "fma",
    "hypot",
    "NULL",
];

/// The spelling of every symbol of `dag`, by symbol index.
pub(super) fn table(dag: &Dag, style: Style) -> Vec<String> {
    let originals: Vec<&str> =
        (0..dag.symbol_count()).map(|i| dag.symbol_name(crate::dag::Symbol(i as u32))).collect();
    if style == Style::Text {
        return originals.into_iter().map(str::to_string).collect();
    }
    let mut taken: HashSet<String> = HashSet::new();
    let mut spelt: Vec<Option<String>> = vec![None; originals.len()];
    // Names that stay as they are come first, so that only the mangled ones give way.
    for keep in [true, false] {
        for (i, original) in originals.iter().enumerate() {
            let mut spelling = spell(original, style);
            if (spelling == *original) != keep {
                continue;
            }
            if style == Style::Unicode || style == Style::Latex {
                // Fall back to the plain spelling when two names look alike (`x1` and `x_1`).
                if taken.contains(&spelling) {
                    spelling = plain(original, style);
                }
            }
            while !taken.insert(spelling.clone()) {
                spelling.push_str(if style == Style::Latex { r"{}^{\ast}" } else { "_" });
            }
            spelt[i] = Some(spelling);
        }
    }
    spelt.into_iter().map(Option::unwrap_or_default).collect()
}

/// The spelling of one name, not knowing of others.
pub(super) fn spell(name: &str, style: Style) -> String {
    let (stem, primes) = split_primes(name);
    match style {
        Style::Text => name.to_string(),
        Style::Unicode => unicode(stem, primes),
        Style::Latex => latex(stem, primes),
        Style::Sympy => code(stem, primes, PYTHON),
        Style::Rust => code(stem, primes, RUST),
        Style::C => code(stem, primes, C),
    }
}

/// Characters a name takes when typeset.
pub(super) fn width(name: &str) -> usize {
    let (stem, _) = split_primes(name);
    stem.split('_').map(|part| unicode(part, 0).chars().count()).sum()
}

fn split_primes(name: &str) -> (&str, usize) {
    let stem = name.trim_end_matches('\'');
    (stem, name.len() - stem.len())
}

fn greek(name: &str) -> Option<&'static (&'static str, char, &'static str)> {
    GREEK.iter().find(|g| g.0 == name || (name.chars().eq([g.1])))
}

/// `theta12` → (`theta`, `12`)
fn split_digits(name: &str) -> (&str, &str) {
    name.split_at(name.trim_end_matches(|c: char| c.is_ascii_digit()).len())
}

// ---- Unicode ---------------------------------------------------------------------------------------------

fn unicode(stem: &str, primes: usize) -> String {
    let (base, digits) = split_digits(stem);
    let (letter, rest) = match base.split_once('_') {
        Some((first, rest)) if !first.is_empty() => (first, Some(rest)),
        _ => (base, None),
    };
    let mut text = greek(letter).map_or_else(|| letter.to_string(), |g| g.1.to_string());
    let short = text.chars().count() == 1;
    if short && (primes == 1 || primes == 2) {
        text = dotted(&text, primes);
    }
    if let Some(rest) = rest {
        text.push('_');
        text.push_str(&greek(rest).map_or_else(|| rest.to_string(), |g| g.1.to_string()));
    }
    if short && rest.is_none() || rest.is_some_and(|r| greek(r).is_some()) {
        text.extend(digits.chars().filter_map(|d| d.to_digit(10)).filter_map(|d| char::from_u32(0x2080 + d)));
    } else {
        text.push_str(digits);
    }
    if primes > 2 || !short {
        text.extend(std::iter::repeat_n('′', primes));
    }
    text
}

/// One or two dots over a letter; the ready-made character where there is one, because it looks better.
fn dotted(letter: &str, dots: usize) -> String {
    let (plain, ready, combining) = match dots {
        1 => ("abcdefghmnoprstwxyzABCDEFGHMNOPRSTWXYZ", "ȧḃċḋėḟġḣṁṅȯṗṙṡṫẇẋẏżȦḂĊḊĖḞĠḢṀṄȮṖṘṠṪẆẊẎŻ", '\u{307}'),
        _ => ("aehiotuwxyAEHIOUWXY", "äëḧïöẗüẅẍÿÄËḦÏÖÜẄẌŸ", '\u{308}'),
    };
    match plain.chars().zip(ready.chars()).find(|(p, _)| letter.chars().eq([*p])) {
        Some((_, ready)) => ready.to_string(),
        None => format!("{letter}{combining}"),
    }
}

// ---- LaTeX -----------------------------------------------------------------------------------------------

fn latex(stem: &str, primes: usize) -> String {
    let (first, rest) = match stem.trim_start_matches('_').split_once('_') {
        Some((first, rest)) if !rest.is_empty() => (first, Some(rest)),
        _ => (stem.trim_matches('_'), None),
    };
    let (base, digits) = split_digits(first);
    let mut text = match base {
        "" => r"\mathrm{\_}".to_string(),
        _ => latex_word(base),
    };
    match primes {
        0 => {}
        1 => text = format!(r"\dot{{{text}}}"),
        2 => text = format!(r"\ddot{{{text}}}"),
        n => text = format!(r"{text}^{{({n})}}"),
    }
    let sub = match (digits, rest) {
        ("", None) => return text,
        (digits, None) => digits.to_string(),
        ("", Some(rest)) => latex_subscript(rest),
        (digits, Some(rest)) => format!("{digits},{}", latex_subscript(rest)),
    };
    format!("{text}_{{{sub}}}")
}

fn latex_word(word: &str) -> String {
    match greek(word) {
        Some(g) => g.2.to_string(),
        None if word.chars().count() == 1 => word.to_string(),
        None => format!(r"\mathrm{{{}}}", word.replace('_', r"\_")),
    }
}

fn latex_subscript(rest: &str) -> String {
    let parts: Vec<String> = rest
        .split('_')
        .filter(|part| !part.is_empty())
        .map(|part| {
            let (base, digits) = split_digits(part);
            match (base, digits) {
                ("", digits) => digits.to_string(),
                (base, "") => latex_word(base),
                (base, digits) => format!("{}_{{{digits}}}", latex_word(base)),
            }
        })
        .collect();
    parts.join(",")
}

/// Unmistakable, if not pretty.
fn plain(name: &str, style: Style) -> String {
    let (stem, primes) = split_primes(name);
    match style {
        Style::Latex => {
            let text = format!(r"\mathrm{{{}}}", stem.replace('_', r"\_"));
            format!("{text}{}", "'".repeat(primes))
        }
        _ => format!("{stem}{}", "′".repeat(primes)),
    }
}

// ---- code ------------------------------------------------------------------------------------------------

fn code(stem: &str, primes: usize, reserved: &[&str]) -> String {
    let mut text = String::new();
    for c in stem.chars() {
        match GREEK.iter().find(|g| g.1 == c) {
            Some(g) => text.push_str(g.0),
            None if c.is_ascii_alphanumeric() || c == '_' => text.push(c),
            None if matches!(c, 'ϑ') => text.push_str("vartheta"),
            None if matches!(c, 'ϕ') => text.push_str("varphi"),
            None if matches!(c, 'ϵ') => text.push_str("varepsilon"),
            // Labels such as `mu.rod` or `end.x`.
            None => text.push('_'),
        }
    }
    match primes {
        0 => {}
        1 => text.push_str("_dot"),
        2 => text.push_str("_ddot"),
        n => text.push_str(&format!("_d{n}")),
    }
    if reserved.contains(&text.as_str()) {
        text.push('_');
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        text.insert(0, '_');
    }
    text
}
