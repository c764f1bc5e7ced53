//! Text → unit; `"30 cm"` → quantity.
//!
//! ```text
//! unit   = factor { (blank | "*" | "·" | "/") factor }
//! factor = (name | "1" | "(" unit ")") [ "^" exponent | superscript ]
//! ```

use super::Unit;
use super::table::{find, instead};
use carom_expr::{Dag, Expr, Rational};

/// What is wrong with a unit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnitProblem {
    /// First byte in the text.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// What is wrong.
    pub message: String,
    /// A way out.
    pub hint: String,
}

/// Parentheses deeper than this are refused.
const MOST_NESTING: usize = 20;

/// A number with a unit after it.
#[derive(Clone, PartialEq, Debug)]
pub struct Quantity<'a> {
    /// The number, sign included.
    pub number: &'a str,
    /// Where the unit starts.
    pub start: usize,
    /// The unit as written.
    pub unit_text: &'a str,
    /// The unit, or what is wrong with it; places count from the beginning of the whole text.
    pub unit: Result<Unit, UnitProblem>,
}

impl Quantity<'_> {
    /// The value in coherent units.
    pub fn value(&self, dag: &mut Dag, unit: Unit) -> Expr {
        let (negative, digits) = match self.number.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, self.number.strip_prefix('+').unwrap_or(self.number)),
        };
        let number = match Rational::parse(digits) {
            Some(exact) => dag.number(exact),
            None => dag.float(digits.parse().unwrap_or(f64::NAN)),
        };
        let value = unit.times(number, dag);
        if negative { dag.neg(value) } else { value }
    }
}

/// Splits `30 cm`; `None` for a text that is no number followed by a word.
pub fn quantity(text: &str) -> Option<Quantity<'_>> {
    let lead = text.len() - text.trim_start().len();
    let body = text.trim();
    let length = number_length(body)?;
    let (number, rest) = body.split_at(length);
    // Finite, as every number of a formula.
    number.parse::<f64>().ok().filter(|x| x.is_finite())?;
    let unit_text = rest.trim_start();
    let first = unit_text.chars().next()?;
    // `80%` and `30°` read like formulas, which have signs of their own for both; words are units.
    if !first.is_alphabetic() {
        return None;
    }
    let start = lead + length + (rest.len() - unit_text.len());
    let unit = unit(unit_text).map_err(|p| UnitProblem { start: p.start + start, end: p.end + start, ..p });
    Some(Quantity { number, start, unit_text, unit })
}

/// Bytes of the number that `text` begins with: sign, digits, decimals, power of ten.
fn number_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let start = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let mut end = digits(start);
    let mut count = end - start;
    if bytes.get(end) == Some(&b'.') {
        let after = digits(end + 1);
        count += after - end - 1;
        end = after;
    }
    if count == 0 {
        return None;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let after = digits(end + 1 + sign);
        if after > end + 1 + sign {
            end = after;
        }
    }
    Some(end)
}

pub(super) fn unit(text: &str) -> Result<Unit, UnitProblem> {
    let mut reader = UnitReader { text, at: 0, depth: 0 };
    if text.trim().is_empty() {
        return reader.problem(0, text.len(), "the unit is empty", "write \"1\" for a number without unit");
    }
    let unit = reader.product()?;
    match reader.peek() {
        None => Ok(unit),
        Some(c) => {
            reader.problem(reader.at, reader.at + c.len_utf8(), "there is no `(` for this `)`", "remove it")
        }
    }
}

struct UnitReader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl UnitReader<'_> {
    fn problem<T>(&self, start: usize, end: usize, message: &str, hint: &str) -> Result<T, UnitProblem> {
        Err(UnitProblem { start, end, message: message.to_owned(), hint: hint.to_owned() })
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn product(&mut self) -> Result<Unit, UnitProblem> {
        self.blanks();
        let mut unit = self.factor()?;
        let mut divided = false;
        loop {
            self.blanks();
            let Some(c) = self.peek() else { return Ok(unit) };
            let (divides, operator) = match c {
                ')' => return Ok(unit),
                '/' | '÷' => (true, true),
                '*' | '·' | '⋅' | '×' => (false, true),
                _ => (false, false),
            };
            let start = self.at;
            if operator {
                self.at += c.len_utf8();
                if c == '*' && self.peek() == Some('*') {
                    return self.problem(start, start + 2, "`**` is not a power", "write `^`");
                }
                self.blanks();
            }
            let from = self.at;
            let factor = self.factor()?;
            if divided && !operator {
                let (before, factor) = (self.text[..from].trim(), &self.text[from..self.at]);
                let (top, bottom) = before.rsplit_once('/').unwrap_or((before, ""));
                let hint = format!("write {top}/({bottom} {factor}), or put {factor} before the /");
                return self.problem(from, self.at, "what follows after the division?", &hint);
            }
            divided |= divides;
            let factor = if divides { factor.power(Rational::MINUS_ONE) } else { Some(factor) };
            match factor.and_then(|f| unit.multiply(f)) {
                Some(product) => unit = product,
                None => {
                    return self.problem(from, self.at, "the unit is out of all range", "use smaller powers");
                }
            }
        }
    }

    fn factor(&mut self) -> Result<Unit, UnitProblem> {
        let start = self.at;
        let base = match self.peek() {
            Some('(') => self.parenthesis()?,
            Some(c) if c.is_ascii_digit() => self.one()?,
            Some(c) if starts_unit(c) => self.name()?,
            Some(c @ ('/' | '*' | '·' | ')' | '^')) => {
                let message = format!("a unit is missing before `{c}`");
                return self.problem(start, start + c.len_utf8(), &message, "write for example m/s");
            }
            Some(c) => {
                let message = format!("`{c}` cannot stand in a unit");
                let hint = "a unit is a product, such as N m/rad";
                return self.problem(start, start + c.len_utf8(), &message, hint);
            }
            None => {
                return self.problem(start, start, "a unit is missing at the end", "write for example m/s");
            }
        };
        let from = self.at;
        let Some(exponent) = self.exponent(start)? else { return Ok(base) };
        match base.power(exponent) {
            Some(unit) => Ok(unit),
            None => self.problem(from, self.at, "the exponent is out of all range", "use a smaller one"),
        }
    }

    fn parenthesis(&mut self) -> Result<Unit, UnitProblem> {
        let open = self.at;
        self.at += 1;
        self.depth += 1;
        if self.depth > MOST_NESTING {
            return self.problem(open, open + 1, "the unit is nested too deeply", "write it as one fraction");
        }
        let unit = self.product()?;
        if self.peek() != Some(')') {
            return self.problem(open, open + 1, "this parenthesis is never closed", "add `)`");
        }
        self.at += 1;
        self.depth -= 1;
        Ok(unit)
    }

    /// The only number in a unit: `1/s`.
    fn one(&mut self) -> Result<Unit, UnitProblem> {
        let start = self.at;
        self.at += number_length(self.rest()).unwrap_or(1);
        match &self.text[start..self.at] {
            "1" => Ok(Unit::ONE),
            number => {
                let hint = format!("remove the {number}");
                self.problem(start, self.at, "a unit contains no number but 1", &hint)
            }
        }
    }

    fn name(&mut self) -> Result<Unit, UnitProblem> {
        let start = self.at;
        while let Some(c) = self.peek().filter(|&c| starts_unit(c) || c.is_ascii_digit() || c == '_') {
            self.at += c.len_utf8();
        }
        let name = &self.text[start..self.at];
        if matches!(name, "°C" | "degC" | "°F" | "degF" | "celsius" | "Celsius") {
            let message = format!("`{name}` counts from another zero");
            return self.problem(start, self.at, &message, "write a difference of temperatures in K");
        }
        match find(name) {
            Some(unit) => Ok(unit),
            None => self.problem(start, self.at, &format!("unknown unit `{name}`"), &instead(name)),
        }
    }

    fn exponent(&mut self, base: usize) -> Result<Option<Rational>, UnitProblem> {
        if let Some(exponent) = self.superscript() {
            return Ok(Some(exponent));
        }
        let name = &self.text[base..self.at];
        let hint = format!("write {name}^2");
        self.blanks();
        if self.peek() != Some('^') {
            return Ok(None);
        }
        let start = self.at;
        self.at += 1;
        self.blanks();
        let (text, length) = match self.rest().strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            Some((inside, _)) => (inside.trim(), inside.len() + 2),
            None => {
                let length = number_length(self.rest()).unwrap_or(0);
                (&self.text[self.at..self.at + length], length)
            }
        };
        let (above, below) = text.split_once('/').unwrap_or((text, "1"));
        let number = |text: &str| {
            let text = text.trim();
            match text.strip_prefix('-') {
                Some(rest) => Rational::parse(rest).and_then(Rational::negate),
                None => Rational::parse(text.strip_prefix('+').unwrap_or(text)),
            }
        };
        let value = number(above)
            .zip(number(below))
            .and_then(|(a, b)| a.multiply(b.reciprocal()?))
            .filter(|r| r.to_f64().abs() <= 99.0 && r.denominator() <= 1000);
        self.at += length;
        match value {
            Some(value) => Ok(Some(value)),
            None => self.problem(start, self.at, "an exponent is missing", &hint),
        }
    }

    fn superscript(&mut self) -> Option<Rational> {
        let (mut value, mut negative, mut any) = (0_i64, false, false);
        while let Some(c) = self.peek() {
            match c {
                '⁻' if !any && !negative => negative = true,
                _ => {
                    let digit = "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().position(|d| d == c)?;
                    value = (value * 10 + digit as i64).min(99);
                    any = true;
                }
            }
            self.at += c.len_utf8();
            if any && !self.peek().is_some_and(|c| "⁰¹²³⁴⁵⁶⁷⁸⁹".contains(c)) {
                break;
            }
        }
        any.then(|| Rational::integer(if negative { -value } else { value }))
    }
}

fn starts_unit(c: char) -> bool {
    (c.is_alphabetic() && !"⁰¹²³⁴⁵⁶⁷⁸⁹".contains(c)) || matches!(c, '°' | '%' | '\u{301}')
}
