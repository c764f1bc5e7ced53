//! Formula text → expression.
//!
//! ```text
//! sum     = ["+"|"-"] product { ("+"|"-") product }
//! product = factor { ("*"|"/") factor }
//! factor  = { "+"|"-" } power
//! power   = operand [ "^" { "+"|"-" } power ]              right associative, so −x^2 = −(x^2)
//! operand = number | name { "'" } | function "(" sum { "," sum } ")" | "(" sum ")"
//! ```
//!
//! Promise: one pass with an explicit stack, so depth costs memory and never the call stack; the terms of a sum
//! and the factors of a product are collected first and handed to the DAG once; whatever is wrong is reported
//! together, each with the bytes it concerns, a sentence and a way out. Work is bounded: a formula that is nested
//! too deeply or would swell beyond all use is refused, not attempted.

use crate::dag::{Constant, Dag, Expr, Function, Node};
use crate::lex::{Token, TokenKind, lex, shorten};
use crate::number::Rational;
use pitfalls::called;

mod pitfalls;

/// A range of bytes in a formula.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end }
    }
}

/// What is wrong with a formula: a place, a sentence, a way out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Where.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub hint: Option<String>,
}

/// A name in a formula, to be resolved by whoever knows the names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name<'a> {
    /// The name without its primes.
    pub text: &'a str,
    /// How many primes follow it: `x''` has two.
    pub primes: u32,
    /// Its place in the formula, primes included.
    pub span: Span,
}

/// Parentheses, calls and towers of powers deeper than this are refused: derivatives of nested functions grow like the
/// square of the depth.
const MOST_NESTING: usize = 150;
/// Summands and factors handed to the DAG in one formula, those of sums inside sums included.
const MOST_WORK: usize = 2_000_000;
/// Problems reported for one formula.
const MOST_PROBLEMS: usize = 20;

/// Reads a formula.
///
/// Names are resolved by `resolve`, which gets the name and its number of primes. `pi` (and `π`) is always the
/// constant. `e` is offered to `resolve` first and is Euler's number when that answers with a problem whose
/// message starts with "unknown name". Names ending in `dot` that `resolve` refuses get the hint to write a prime.
///
/// ```
/// use carom_expr::{Dag, parse};
/// let mut dag = Dag::new();
/// let mut names = |dag: &mut Dag, name: carom_expr::Name<'_>| {
///     Ok(dag.symbol(&format!("{}{}", name.text, "'".repeat(name.primes as usize))))
/// };
/// let kinetic = parse(&mut dag, "m/2*x'^2", &mut names).unwrap();
/// let v = dag.symbol("x'");
/// let momentum = dag.derivative(kinetic, v);
/// assert_eq!(momentum, parse(&mut dag, "m*x'", &mut names).unwrap());
/// ```
///
/// # Errors
/// All problems found, in the order of their places.
pub fn parse(
    dag: &mut Dag,
    text: &str,
    resolve: &mut dyn FnMut(&mut Dag, Name<'_>) -> Result<Expr, Problem>,
) -> Result<Expr, Vec<Problem>> {
    let (tokens, problems) = lex(text);
    let mut parser = Parser { dag, resolve, text, tokens, next: 0, problems, stack: Vec::new(), work: 0 };
    let result = parser.formula();
    let mut problems = parser.problems;
    if problems.is_empty() {
        return Ok(result);
    }
    problems.sort_by_key(|p| p.span);
    problems.dedup_by_key(|p| p.span);
    problems.truncate(MOST_PROBLEMS);
    Err(problems)
}

/// What opened a level of the formula.
enum Opener {
    Formula,
    Parenthesis,
    Call(Called),
    /// A call of something that is not a function; its arguments are still read.
    NoFunction,
}

/// What a formula can call.
#[derive(Clone, Copy)]
enum Called {
    Sqrt,
    Function(Function),
}

/// A sum being read, inside the formula, parentheses or a call.
struct OpenSum {
    opener: Opener,
    /// Where it was opened.
    opened: Span,
    /// Finished arguments of a call.
    arguments: Vec<Expr>,
    terms: Vec<Expr>,
    /// The current term: its sign and finished factors.
    negative: bool,
    factors: Vec<(Expr, Rational)>,
    /// Is the current factor a divisor?
    divides: bool,
    /// The current factor `a^b^…`: operands read so far, with the sign standing before each exponent.
    chain: Vec<(Expr, bool)>,
    exponent_negative: bool,
}

impl OpenSum {
    fn new(opener: Opener, opened: Span) -> OpenSum {
        OpenSum {
            opener,
            opened,
            arguments: Vec::new(),
            terms: Vec::new(),
            negative: false,
            factors: Vec::new(),
            divides: false,
            chain: Vec::new(),
            exponent_negative: false,
        }
    }
}

struct Parser<'a, 'r> {
    dag: &'a mut Dag,
    resolve: &'r mut dyn FnMut(&mut Dag, Name<'_>) -> Result<Expr, Problem>,
    text: &'a str,
    tokens: Vec<Token>,
    next: usize,
    problems: Vec<Problem>,
    stack: Vec<OpenSum>,
    work: usize,
}

impl<'a> Parser<'a, '_> {
    fn slice(&self, span: Span) -> &'a str {
        &self.text[span.start..span.end]
    }

    fn problem(&mut self, span: Span, message: impl Into<String>, hint: impl Into<String>) {
        self.problems.push(Problem { span, message: message.into(), hint: Some(hint.into()) });
    }

    fn peek(&self, ahead: usize) -> Option<Token> {
        self.tokens.get(self.next + ahead).copied()
    }

    fn peek_kind(&self, ahead: usize) -> Option<TokenKind> {
        self.peek(ahead).map(|t| t.kind)
    }

    fn level(&mut self) -> &mut OpenSum {
        if self.stack.is_empty() {
            self.stack.push(OpenSum::new(Opener::Formula, Span::default()));
        }
        let last = self.stack.len() - 1;
        &mut self.stack[last]
    }

    fn formula(&mut self) -> Expr {
        let one = self.dag.one();
        if self.tokens.is_empty() {
            if self.problems.is_empty() {
                let span = Span { start: 0, end: self.text.len() };
                self.problem(span, "the formula is empty", "write a number, or a formula such as `m*g*y`");
            }
            return one;
        }
        self.level();
        let mut value_before = false;
        while let Some(token) = self.peek(0) {
            let deep = self.stack.len() > MOST_NESTING || self.level().chain.len() > MOST_NESTING;
            if deep || self.work > MOST_WORK {
                let hint = "split it: name its parts in [define]";
                self.problem(token.span, "the formula is nested too deeply or too large", hint);
                return one;
            }
            value_before = if value_before { self.after_value(token) } else { self.before_value(token) };
        }
        if !value_before {
            self.missing_value();
        }
        while self.stack.len() > 1 {
            let opened = self.level().opened;
            self.problem(opened, "this parenthesis is never closed", "add `)` where it ends");
            self.close(opened);
        }
        self.finish_sum()
    }

    /// A value should come; answers whether one did.
    fn before_value(&mut self, token: Token) -> bool {
        self.next += 1;
        match token.kind {
            TokenKind::Number => {
                let value = self.number(token);
                self.operand(value);
                true
            }
            TokenKind::Name { primes } => self.name(token, primes),
            TokenKind::Open => {
                self.stack.push(OpenSum::new(Opener::Parenthesis, token.span));
                false
            }
            TokenKind::Plus => false,
            TokenKind::Minus => {
                let level = self.level();
                if level.chain.is_empty() {
                    level.negative ^= true;
                } else {
                    level.exponent_negative ^= true;
                }
                false
            }
            TokenKind::Close | TokenKind::Comma | TokenKind::Times | TokenKind::Divide | TokenKind::Power => {
                let empty_call = token.kind == TokenKind::Close
                    && matches!(self.level().opener, Opener::Call(_) | Opener::NoFunction)
                    && self.peek_back(2) == Some(TokenKind::Open);
                if empty_call {
                    return self.close(token.span);
                }
                self.next -= 1;
                self.missing_value();
                let one = self.dag.one();
                self.operand(one);
                true
            }
        }
    }

    fn peek_back(&self, back: usize) -> Option<TokenKind> {
        self.next.checked_sub(back).map(|i| self.tokens[i].kind)
    }

    /// An operator, `,` or `)` should come; answers whether the value still stands complete.
    fn after_value(&mut self, token: Token) -> bool {
        self.next += 1;
        match token.kind {
            TokenKind::Plus | TokenKind::Minus => {
                self.finish_term();
                self.level().negative = token.kind == TokenKind::Minus;
                false
            }
            TokenKind::Times | TokenKind::Divide => {
                self.finish_factor();
                self.level().divides = token.kind == TokenKind::Divide;
                false
            }
            TokenKind::Power => false,
            TokenKind::Comma => self.comma(token),
            TokenKind::Close if self.stack.len() == 1 => {
                self.problem(token.span, "there is no `(` for this `)`", "remove it, or add the `(`");
                true
            }
            TokenKind::Close => self.close(token.span),
            TokenKind::Number | TokenKind::Name { .. } | TokenKind::Open => {
                self.next -= 1;
                self.implicit_product(token);
                self.finish_factor();
                false
            }
        }
    }

    fn comma(&mut self, token: Token) -> bool {
        let digits = |t: Option<Token>| t.filter(|t| t.kind == TokenKind::Number);
        if !matches!(self.level().opener, Opener::Formula | Opener::Parenthesis) {
            let argument = self.finish_sum();
            self.level().arguments.push(argument);
            return false;
        }
        let before = self.next.checked_sub(2).and_then(|at| self.tokens.get(at)).copied();
        match (digits(before), digits(self.peek(0))) {
            (Some(whole), Some(fraction)) => {
                let hint = format!("write `{}.{}`", self.slice(whole.span), self.slice(fraction.span));
                let span = whole.span.to(fraction.span);
                self.problem(span, "`,` is not a decimal sign", shorten(&hint));
            }
            _ => {
                let hint = "a formula is one expression; `,` separates the arguments of a function";
                self.problem(token.span, "`,` cannot stand here", hint);
            }
        }
        self.finish_term();
        false
    }

    fn number(&mut self, token: Token) -> Expr {
        let text = self.slice(token.span);
        if let Some(exact) = Rational::parse(text) {
            return self.dag.number(exact);
        }
        match text.parse::<f64>() {
            Ok(x) if x.is_finite() && x != 0.0 => self.dag.float(x),
            Ok(_) => {
                let hint = "numbers lie between 1e-308 and 1e308";
                self.problem(token.span, format!("`{}` is out of range", shorten(text)), hint);
                self.dag.one()
            }
            // Reported by the lexer.
            Err(_) => self.dag.one(),
        }
    }

    fn name(&mut self, token: Token, primes: u32) -> bool {
        let text = self.bare(token);
        if self.peek_kind(0) == Some(TokenKind::Open) || called(text).is_some() {
            return self.call(token, text, primes);
        }
        let value = self.resolve_name(token, text, primes);
        self.operand(value);
        true
    }

    /// The name without its primes.
    fn bare(&self, token: Token) -> &'a str {
        let text = self.slice(token.span);
        text.trim_end_matches(|c| !crate::lex::continues_name(c))
    }

    fn ask(&mut self, text: &str, primes: u32, span: Span) -> Result<Expr, Problem> {
        (self.resolve)(self.dag, Name { text, primes, span })
    }

    fn resolve_name(&mut self, token: Token, text: &'a str, primes: u32) -> Expr {
        if matches!(text, "pi" | "π") {
            if primes > 0 {
                self.problem(token.span, "`pi` is a constant", "remove the prime");
            }
            return self.dag.constant(Constant::Pi);
        }
        let mut problem = match self.ask(text, primes, token.span) {
            Ok(value) => return value,
            Err(problem) => problem,
        };
        let unknown = problem.message.starts_with("unknown name");
        if text == "e" && primes == 0 && unknown {
            return self.dag.constant(Constant::E);
        }
        if unknown && let Some(hint) = self.better_hint(token, text) {
            problem.hint = Some(hint);
        }
        self.problems.push(problem);
        self.dag.one()
    }

    /// A name that is a function's, or stands before a parenthesis.
    fn call(&mut self, token: Token, text: &'a str, primes: u32) -> bool {
        let open = self.peek_kind(0) == Some(TokenKind::Open);
        match called(text) {
            Some(function) => {
                if primes > 0 {
                    let hint =
                        format!("give `{text}(…)` a name in [define] and write a prime after that name");
                    self.problem(token.span, format!("`{text}` is a function and cannot have a prime"), hint);
                }
                if open {
                    self.next += 1;
                    self.stack.push(OpenSum::new(Opener::Call(function), token.span));
                    return false;
                }
                self.function_without_argument(token, text)
            }
            None => {
                self.no_function(token, text, primes);
                self.next += 1;
                self.stack.push(OpenSum::new(Opener::NoFunction, token.span));
                false
            }
        }
    }

    // ---- building ----------------------------------------------------------------------------------------

    fn operand(&mut self, value: Expr) {
        let level = self.level();
        let negative = std::mem::take(&mut level.exponent_negative);
        level.chain.push((value, negative));
    }

    fn finish_factor(&mut self) {
        let level = self.level();
        let (chain, divides) = (std::mem::take(&mut level.chain), level.divides);
        level.divides = false;
        let mut value = None;
        for &(base, negative) in chain.iter().rev() {
            let power = match value {
                None => base,
                Some(exponent) => {
                    let falls = self.dag.as_number(exponent).is_some_and(Rational::is_negative);
                    if falls && self.dag.is_zero(base) {
                        self.division_by_zero();
                    }
                    self.dag.power(base, exponent)
                }
            };
            value = Some(if negative { self.dag.neg(power) } else { power });
        }
        let Some(value) = value else { return };
        if divides && self.dag.is_zero(value) {
            self.division_by_zero();
        }
        self.work += size(self.dag, value);
        let exponent = if divides { Rational::MINUS_ONE } else { Rational::ONE };
        self.level().factors.push((value, exponent));
    }

    fn division_by_zero(&mut self) {
        let at = self.next.min(self.tokens.len()).saturating_sub(2);
        let span = self.tokens[at].span;
        self.problem(span, "division by zero", "the formula has no value");
    }

    fn finish_term(&mut self) {
        self.finish_factor();
        let level = self.level();
        let factors = std::mem::take(&mut level.factors);
        let negative = std::mem::take(&mut level.negative);
        if factors.is_empty() {
            return;
        }
        let term = self.dag.monomials(Rational::ONE, &factors);
        let term = if negative { self.dag.neg(term) } else { term };
        self.work += size(self.dag, term);
        self.level().terms.push(term);
    }

    fn finish_sum(&mut self) -> Expr {
        self.finish_term();
        let terms = std::mem::take(&mut self.level().terms);
        self.dag.sum(&terms)
    }

    /// Ends the innermost parentheses or call; its value becomes an operand of the level outside.
    fn close(&mut self, at: Span) -> bool {
        let empty = self.level().chain.is_empty() && self.level().terms.is_empty();
        let last = self.finish_sum();
        let Some(level) = self.stack.pop() else { return true };
        let mut arguments = level.arguments;
        if !empty {
            arguments.push(last);
        }
        let value = match level.opener {
            Opener::Formula | Opener::Parenthesis => last,
            Opener::NoFunction => self.dag.one(),
            Opener::Call(called) => self.apply(called, &arguments, level.opened.to(at)),
        };
        self.operand(value);
        true
    }

    fn apply(&mut self, called: Called, arguments: &[Expr], span: Span) -> Expr {
        let (name, arity) = match called {
            Called::Sqrt => ("sqrt", 1),
            Called::Function(f) => (f.name(), f.arity()),
        };
        let many = matches!(called, Called::Function(Function::Min | Function::Max));
        if arguments.len() != arity && !(many && arguments.len() > arity) {
            let plural = if arity == 1 { "argument" } else { "arguments" };
            let hint = match (name, arguments.len()) {
                ("atan", 2) => "write `atan2(y, x)`".to_string(),
                ("log", 2) => "write `log(x)/log(base)`".to_string(),
                (_, 2) if arity == 1 => format!("a decimal number is written with a point: `{name}(0.5)`"),
                _ if arity == 2 => format!("write `{name}(a, b)`"),
                _ => format!("write `{name}(x)`"),
            };
            let message = format!("`{name}` takes {arity} {plural}, not {}", arguments.len());
            self.problem(span, message, hint);
            return self.dag.one();
        }
        match called {
            Called::Sqrt => self.dag.sqrt(arguments[0]),
            Called::Function(f) if arity == 1 => self.dag.function(f, arguments),
            Called::Function(f) => {
                let first = self.dag.function(f, &arguments[..2]);
                arguments[2..].iter().fold(first, |value, &next| self.dag.function(f, &[value, next]))
            }
        }
    }
}

/// Summands or factors of the outermost node.
fn size(dag: &Dag, e: Expr) -> usize {
    match dag.node(e) {
        Node::Sum(_, terms) => terms.len(),
        Node::Product(_, factors) => factors.len(),
        _ => 1,
    }
}
