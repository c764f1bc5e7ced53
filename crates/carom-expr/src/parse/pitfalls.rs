//! What people write instead of a formula, and what to tell them.
//!
//! Everything here only words a [`Problem`](super::Problem); the parser goes on as if the right thing had been written.

use super::{Called, Function, Parser, Token, TokenKind};
use crate::lex::{GREEK, shorten};

impl<'a> Parser<'a, '_> {
    pub(super) fn implicit_product(&mut self, token: Token) {
        let Some(before) = self.next.checked_sub(1).map(|i| self.tokens[i]) else { return };
        let span = before.span.to(token.span);
        let text = shorten(self.slice(span));
        let simple = |kind| matches!(kind, TokenKind::Number | TokenKind::Name { .. });
        let hint = if simple(before.kind) && simple(token.kind) {
            format!("write `{}*{}`", shorten(self.slice(before.span)), shorten(self.slice(token.span)))
        } else {
            let end = if simple(before.kind) { shorten(self.slice(before.span)) } else { ")".to_string() };
            let start = if simple(token.kind) { shorten(self.slice(token.span)) } else { "(".to_string() };
            format!("write `{end}*{start}`")
        };
        self.problem(span, format!("an operator is missing in `{text}`"), hint);
    }

    /// Reports that a value is missing at the token to be read next.
    pub(super) fn missing_value(&mut self) {
        let here = self.peek(0);
        let before = self.next.checked_sub(1).map(|i| self.tokens[i]);
        let quote = |parser: &Self, t: Token| shorten(parser.slice(t.span));
        match (before, here) {
            (None, Some(token)) => {
                let text = quote(self, token);
                self.problem(token.span, format!("a value is missing before `{text}`"), "add it");
            }
            (Some(open), Some(close)) if open.kind == TokenKind::Open && close.kind == TokenKind::Close => {
                self.problem(open.span.to(close.span), "these parentheses are empty", "put a formula inside");
            }
            (Some(operator), _) => {
                let text = quote(self, operator);
                let hint = format!("complete it, or remove the `{text}`");
                self.problem(operator.span, format!("a value is missing after `{text}`"), hint);
            }
            (None, None) => {}
        }
    }

    /// What an unknown name was probably meant to be, beyond a misspelling.
    pub(super) fn better_hint(&mut self, token: Token, text: &str) -> Option<String> {
        if let Some(letter) = token.after_escape {
            let meant = format!("{letter}{text}");
            let stem = meant.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
            if GREEK.contains(&stem) || self.ask(&meant, 0, token.span).is_ok() {
                let message =
                    format!("the string's `\\{letter}` became a control character: write `{meant}`");
                return Some(message);
            }
        }
        for (suffix, primes) in
            [("_ddot", "''"), ("ddot", "''"), ("_dot", "'"), ("dot", "'"), ("_prime", "'")]
        {
            if let Some(stem) = text.strip_suffix(suffix)
                && !stem.is_empty()
                && self.ask(stem, 0, token.span).is_ok()
            {
                return Some(format!("write `{stem}{primes}`"));
            }
        }
        if let Some(stem) = text.strip_prefix('d').filter(|stem| *stem != "t") {
            let stem = stem.trim_start_matches('_');
            let stem = stem.strip_suffix("dt").map_or(stem, |s| s.trim_end_matches('_'));
            if !stem.is_empty() && self.ask(stem, 0, token.span).is_ok() {
                return Some(format!("write `{stem}'` for the velocity of `{stem}`"));
            }
        }
        if text.eq_ignore_ascii_case("pi") {
            return Some("write `pi`".to_string());
        }
        if text.eq_ignore_ascii_case("exp") || text.eq_ignore_ascii_case("euler") {
            return Some("write `e`".to_string());
        }
        None
    }

    /// `sin x`, `sin^2(x)`, `sin` alone.
    pub(super) fn function_without_argument(&mut self, token: Token, text: &str) -> bool {
        let message = format!("`{text}` needs its argument in parentheses");
        let power =
            self.peek_kind(0) == Some(TokenKind::Power) && self.peek_kind(1) == Some(TokenKind::Number);
        if power && self.peek_kind(2) == Some(TokenKind::Open) {
            let exponent = shorten(self.tokens.get(self.next + 1).map_or("2", |t| self.slice(t.span)));
            let span = self.peek(1).map_or(token.span, |t| token.span.to(t.span));
            self.problem(span, message, format!("write `{text}(x)^{exponent}`"));
            self.next += 2;
            // The parentheses that follow are read as plain ones.
            return false;
        }
        match self.peek(0) {
            Some(argument) if matches!(argument.kind, TokenKind::Name { .. } | TokenKind::Number) => {
                let hint = format!("write `{text}({})`", shorten(self.slice(argument.span)));
                self.problem(token.span.to(argument.span), message, hint);
                // The argument is read as the value.
                false
            }
            _ => {
                self.problem(token.span, message, format!("write `{text}(x)`"));
                let one = self.dag.one();
                self.operand(one);
                true
            }
        }
    }

    pub(super) fn no_function(&mut self, token: Token, text: &'a str, primes: u32) {
        let argument = match (self.peek(1), self.peek_kind(2)) {
            (Some(t), Some(TokenKind::Close)) if matches!(t.kind, TokenKind::Name { .. }) => {
                self.slice(t.span)
            }
            _ => "x",
        };
        let argument = shorten(argument);
        let lower = text.to_ascii_lowercase();
        let hint = match lower.as_str() {
            "der" | "dot" | "diff" | "ddt" | "derivative" => Some(format!("write `{argument}'`")),
            "ddot" | "der2" => Some(format!("write `{argument}''`")),
            "ln" => Some(format!("write `log({argument})`, the natural logarithm")),
            "log10" | "lg" => Some(format!("write `log({argument})/log(10)`")),
            "log2" => Some(format!("write `log({argument})/log(2)`")),
            "pow" | "power" => Some("write `x^y`".to_string()),
            "sqr" | "square" => Some(format!("write `{argument}^2`")),
            "cbrt" => Some(format!("write `{argument}^(1/3)`")),
            "tg" => Some(format!("write `tan({argument})`")),
            "cot" | "ctg" => Some(format!("write `1/tan({argument})`")),
            "sec" => Some(format!("write `1/cos({argument})`")),
            "csc" => Some(format!("write `1/sin({argument})`")),
            "sgn" | "signum" => Some(format!("write `sign({argument})`")),
            "fabs" | "norm" => Some(format!("write `abs({argument})`")),
            "heaviside" | "step" => Some(format!("write `(1 + sign({argument}))/2`")),
            _ => match lower.strip_prefix("arc").or_else(|| lower.strip_prefix("ar")) {
                Some(rest) if called(&format!("a{rest}")).is_some() => {
                    Some(format!("write `a{rest}({argument})`"))
                }
                _ if called(&lower).is_some() => Some(format!("write `{lower}(…)`")),
                _ => None,
            },
        };
        if hint.is_none() && (matches!(text, "pi" | "π" | "e") || self.ask(text, primes, token.span).is_ok())
        {
            let name = shorten(self.slice(token.span));
            let open = self.peek(0).map_or(token.span, |t| token.span.to(t.span));
            self.problem(open, format!("an operator is missing after `{name}`"), format!("write `{name}*(`"));
            return;
        }
        let hint = hint.unwrap_or_else(|| match nearest_function(&lower) {
            Some(name) => format!("did you mean `{name}`?"),
            None => {
                let names: Vec<&str> = Function::ALL.iter().map(|f| f.name()).collect();
                format!("functions are sqrt {}", names.join(" "))
            }
        });
        self.problem(token.span, format!("`{}` is not a function", shorten(text)), hint);
    }
}

/// The function called `text`.
pub(super) fn called(text: &str) -> Option<Called> {
    if text == "sqrt" {
        return Some(Called::Sqrt);
    }
    Function::ALL.into_iter().find(|f| f.name() == text).map(Called::Function)
}

/// The function whose name differs from `text` by one letter, or two swapped ones.
fn nearest_function(text: &str) -> Option<&'static str> {
    let mut names = Function::ALL.iter().map(|f| f.name()).chain(["sqrt"]);
    names.find(|name| name.len().abs_diff(text.len()) <= 1 && strsim::osa_distance(name, text) <= 1)
}
