//! Formula text → tokens.
//!
//! Every token carries the bytes it came from. Characters that cannot stand in a formula become a [`Problem`]
//! with a hint, and the token the author most likely meant, so that the parser can go on and find the rest.

use crate::parse::{Problem, Span};

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TokenKind {
    /// `12`, `0.25`, `1e-3`
    Number,
    /// A name and how many primes follow it.
    Name {
        primes: u32,
    },
    Plus,
    Minus,
    Times,
    Divide,
    Power,
    Open,
    Close,
    Comma,
}

/// A token and its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub span: Span,
    /// A line break or tab stands directly before it: `"\nu"` may have been meant as `nu`.
    pub after_escape: Option<char>,
}

/// Letters of the Greek alphabet by name, the only LaTeX words that make sense as names.
pub(crate) const GREEK: [&str; 24] = [
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu",
    "nu", "xi", "omicron", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega",
];

/// May `c` start a name?
pub(crate) fn starts_name(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || is_greek(c)
}

/// May `c` stand inside a name?
pub(crate) fn continues_name(c: char) -> bool {
    starts_name(c) || c.is_ascii_digit()
}

fn is_greek(c: char) -> bool {
    matches!(c, '\u{0391}'..='\u{03a9}' | '\u{03b1}'..='\u{03c9}' | '\u{03d1}' | '\u{03d5}' | '\u{03f5}')
}

/// How many primes the character stands for.
fn primes_of(c: char) -> u32 {
    match c {
        '\'' | '\u{2032}' | '\u{2019}' => 1,
        '\u{2033}' | '\u{201d}' => 2,
        '\u{2034}' => 3,
        _ => 0,
    }
}

/// The letter after the backslash that TOML turned into this control character.
fn escape_letter(c: char) -> Option<char> {
    Some(match c {
        '\t' => 't',
        '\n' => 'n',
        '\r' => 'r',
        '\u{8}' => 'b',
        '\u{c}' => 'f',
        '\u{1b}' => 'e',
        '\u{7}' => 'a',
        _ => return None,
    })
}

/// Longer names are taken for a mistake.
const LONGEST_NAME: usize = 100;

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    tokens: Vec<Token>,
    problems: Vec<Problem>,
}

/// All tokens of `text`, and what could not be read.
pub(crate) fn lex(text: &str) -> (Vec<Token>, Vec<Problem>) {
    let mut lexer = Lexer { text, at: 0, tokens: Vec::new(), problems: Vec::new() };
    let mut escape = None;
    while let Some(c) = lexer.peek() {
        let before = lexer.tokens.len();
        lexer.step(c);
        if lexer.tokens.len() > before {
            lexer.tokens[before].after_escape = escape;
        }
        escape = if matches!(c, '\t' | '\n' | '\r') { escape_letter(c) } else { None };
    }
    (lexer.tokens, lexer.problems)
}

impl<'a> Lexer<'a> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn after(&self, offset: usize) -> Option<char> {
        self.text.get(self.at + offset..)?.chars().next()
    }

    fn push(&mut self, kind: TokenKind, length: usize) -> Span {
        let span = Span { start: self.at, end: self.at + length };
        self.tokens.push(Token { kind, span, after_escape: None });
        self.at += length;
        span
    }

    fn problem(&mut self, span: Span, message: impl Into<String>, hint: impl Into<String>) {
        self.problems.push(Problem { span, message: message.into(), hint: Some(hint.into()) });
    }

    /// Skips `length` bytes that cannot be read.
    fn skip(&mut self, length: usize, message: impl Into<String>, hint: impl Into<String>) {
        let span = Span { start: self.at, end: self.at + length };
        self.problem(span, message, hint);
        self.at += length;
    }

    /// Reads a wrong spelling of the operator `kind`.
    fn misspelt(
        &mut self,
        kind: TokenKind,
        length: usize,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let span = self.push(kind, length);
        self.problem(span, message, hint);
    }

    fn step(&mut self, c: char) {
        match c {
            ' ' | '\t' | '\n' | '\r' | '\u{a0}' => self.at += c.len_utf8(),
            '0'..='9' | '.' => self.number(),
            _ if starts_name(c) => self.name(),
            '+' => drop(self.push(TokenKind::Plus, 1)),
            '-' => drop(self.push(TokenKind::Minus, 1)),
            '*' if self.after(1) == Some('*') => {
                self.misspelt(
                    TokenKind::Power,
                    2,
                    "`**` is not an operator",
                    "write `^` for powers, as in `x^2`",
                );
            }
            '*' => drop(self.push(TokenKind::Times, 1)),
            '/' => drop(self.push(TokenKind::Divide, 1)),
            '^' => drop(self.push(TokenKind::Power, 1)),
            '(' => drop(self.push(TokenKind::Open, 1)),
            ')' => drop(self.push(TokenKind::Close, 1)),
            ',' => drop(self.push(TokenKind::Comma, 1)),
            _ if primes_of(c) > 0 => self.stray_prime(c),
            _ => self.unreadable(c),
        }
    }

    fn run_of(&self, from: usize, accept: impl Fn(char) -> bool) -> usize {
        self.text[from..].chars().take_while(|&c| accept(c)).map(char::len_utf8).sum()
    }

    fn number(&mut self) {
        let mut length = self.run_of(self.at, |c| c.is_ascii_digit() || c == '.');
        let mantissa = &self.text[self.at..self.at + length];
        let valid = mantissa.matches('.').count() <= 1 && mantissa != ".";
        if matches!(self.after(length), Some('e' | 'E')) {
            let sign = usize::from(matches!(self.after(length + 1), Some('+' | '-')));
            let digits = self.run_of(self.at + length + 1 + sign, |c| c.is_ascii_digit());
            if digits > 0 {
                length += 1 + sign + digits;
            }
        }
        if valid {
            self.push(TokenKind::Number, length);
            return;
        }
        let text = shorten(&self.text[self.at..self.at + length]);
        let span = self.push(TokenKind::Number, length);
        self.problem(span, format!("`{text}` is not a number"), "write numbers like `0.25` or `1e-3`");
    }

    fn name(&mut self) {
        let length = self.run_of(self.at, continues_name);
        let start = self.at;
        self.at += length;
        let mut primes = 0_u32;
        while let Some(c) = self.peek() {
            match primes_of(c) {
                0 => break,
                n => primes = primes.saturating_add(n),
            }
            self.at += c.len_utf8();
        }
        let span = Span { start, end: self.at };
        let mut kind = TokenKind::Name { primes };
        if length > LONGEST_NAME {
            let hint = format!("names have at most {LONGEST_NAME} letters; is an operator missing?");
            self.problem(span, format!("a name of {length} letters"), hint);
            kind = TokenKind::Number;
        }
        self.tokens.push(Token { kind, span, after_escape: None });
    }

    fn stray_prime(&mut self, c: char) {
        let length = self.run_of(self.at, |c| primes_of(c) > 0);
        let hint = match self.tokens.last() {
            Some(token) if token.kind == TokenKind::Close => {
                "give the expression a name in [define]; a prime on that name is its total time derivative"
            }
            Some(token) if matches!(token.kind, TokenKind::Name { .. }) => {
                "write the prime directly after the name"
            }
            _ => "write `x'` for the velocity of `x`",
        };
        self.skip(length, format!("`{c}` must follow a name"), hint);
    }

    fn unreadable(&mut self, c: char) {
        let length = c.len_utf8();
        match c {
            '=' => {
                let length = self.run_of(self.at, |c| c == '=');
                let hint = "bring everything to one side: instead of `a = b` write `a - (b)`";
                self.misspelt(TokenKind::Minus, length, "a formula has no `=`", hint);
            }
            '<' | '>' | '≤' | '≥' => {
                let length = self.run_of(self.at, |c| matches!(c, '<' | '>' | '=' | '≤' | '≥'));
                let hint = "write what must stay positive: instead of `a > b` write `a - (b)`";
                self.misspelt(TokenKind::Minus, length, "a formula is not a comparison", hint);
            }
            '[' | '{' => {
                let hint = "group with parentheses `( )`";
                self.misspelt(TokenKind::Open, length, format!("`{c}` cannot stand in a formula"), hint);
            }
            ']' | '}' => {
                let hint = "group with parentheses `( )`";
                self.misspelt(TokenKind::Close, length, format!("`{c}` cannot stand in a formula"), hint);
            }
            '×' | '·' | '⋅' | '∙' | '∗' => {
                self.misspelt(TokenKind::Times, length, format!("`{c}` is not an operator"), "write `*`");
            }
            '−' | '–' | '—' => {
                let hint = "write the minus sign of the keyboard, `-`";
                self.misspelt(TokenKind::Minus, length, format!("`{c}` is not an operator"), hint);
            }
            '÷' | '∕' | '⁄' => {
                self.misspelt(TokenKind::Divide, length, format!("`{c}` is not an operator"), "write `/`");
            }
            '⁰' | '¹' | '²' | '³' | '⁴' | '⁵' | '⁶' | '⁷' | '⁸' | '⁹' => {
                let length = self.run_of(self.at, |c| superscript(c).is_some());
                let digits: String =
                    self.text[self.at..self.at + length].chars().filter_map(superscript).collect();
                let hint = format!("write `^{}`", shorten(&digits));
                self.skip(length, "superscripts cannot stand in a formula", hint);
            }
            '₀'..='₉' => {
                let length = self.run_of(self.at, |c| ('₀'..='₉').contains(&c));
                self.skip(length, "subscripts cannot stand in a formula", "write `theta1` or `theta_1`");
            }
            '√' => self.skip(length, "`√` cannot stand in a formula", "write `sqrt(…)`"),
            '|' => self.skip(length, "`|` cannot stand in a formula", "write `abs(x)` for |x|"),
            '%' => self.skip(length, "`%` cannot stand in a formula", "write 0.8 for 80 %"),
            '°' => {
                self.skip(length, "`°` cannot stand in a formula", "angles are in radians: write `30*pi/180`")
            }
            '!' => self.skip(length, "`!` cannot stand in a formula", "there is no factorial"),
            ';' => self.skip(length, "`;` cannot stand in a formula", "arguments are separated by `,`"),
            '\\' => {
                let word = self.run_of(self.at + 1, |c| c.is_ascii_alphabetic());
                let name = &self.text[self.at + 1..self.at + 1 + word];
                let hint = if GREEK.contains(&name.to_ascii_lowercase().as_str()) {
                    format!("write `{name}`")
                } else {
                    "formulas are not LaTeX: write `theta`, `sqrt(x)`, `a/b`".to_string()
                };
                self.skip(1, "`\\` cannot stand in a formula", hint);
            }
            _ if c.is_control() => self.control(c),
            _ if c.is_whitespace() || c == '\u{200b}' || c == '\u{feff}' => self.at += length,
            _ => {
                let hint = "names are made of letters a–z, Greek letters, digits and underscores";
                self.skip(length, format!("`{}` cannot stand in a formula", c.escape_debug()), hint);
            }
        }
    }

    /// `"\beta"` in a TOML string is a backspace followed by `eta`.
    fn control(&mut self, c: char) {
        let length = c.len_utf8();
        let word = self.run_of(self.at + length, continues_name);
        let rest = &self.text[self.at + length..self.at + length + word];
        let (hint, swallowed) = match escape_letter(c) {
            Some(letter) if word > 0 => {
                let name = shorten(&format!("{letter}{rest}"));
                (format!("the string's `\\{letter}` became a control character: write `{name}`"), true)
            }
            _ => ("remove it".to_string(), false),
        };
        let span = Span { start: self.at, end: self.at + length + word };
        let message = format!("control character `{}` in a formula", c.escape_default());
        if swallowed {
            self.problem(span, message, hint);
            // Stands for the name that was meant, as a number so that nobody looks it up.
            self.push(TokenKind::Number, length + word);
        } else {
            self.skip(length, message, hint);
        }
    }
}

fn superscript(c: char) -> Option<char> {
    let digits = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let n = digits.iter().position(|&d| d == c)?;
    char::from_digit(n as u32, 10)
}

/// At most 40 characters of `text`, for messages.
pub(crate) fn shorten(text: &str) -> String {
    if text.chars().count() <= 40 { text.to_string() } else { text.chars().take(39).chain(['…']).collect() }
}
