//! A formula as it is written: a tree whose nodes know their bytes.
//!
//! An [`Expr`](crate::Expr) forgets how it was written: `x - x + y` is `y`. Whoever asks about the writing itself (do the
//! terms of this sum have the same unit? which name stands here?) asks this tree.
//!
//! Promise: for a formula that [`parse`](crate::parse) accepts there is a tree with the same meaning; for any other text
//! there may be none, and never a panic.

use crate::lex::{Token, TokenKind as Kind, lex};
use crate::number::Rational;
use crate::parse::Span;

/// A formula as written. Children come before their parents, so every pass is a loop.
#[derive(Clone, PartialEq, Debug)]
pub struct Syntax {
    /// All nodes; the last one is the whole formula.
    pub nodes: Vec<Written>,
}

/// A piece of a formula and its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Written {
    /// What it is.
    pub form: SyntaxNode,
    /// Where it stands.
    pub span: Span,
}

/// What a piece of a formula is; numbers are indices of nodes.
#[derive(Clone, PartialEq, Debug)]
pub enum SyntaxNode {
    /// `12`; without value when it does not fit an exact number.
    Number(Option<Rational>),
    /// A name and how many primes follow it.
    Name {
        /// The name without its primes.
        text: String,
        /// How many.
        primes: u32,
    },
    /// Terms, each with its sign: is it subtracted?
    Sum(Vec<(bool, usize)>),
    /// Factors: is it divided by?
    Product(Vec<(bool, usize)>),
    /// `-a`
    Negative(usize),
    /// `a^b`
    Power(usize, usize),
    /// A function, by its name, and its arguments.
    Call(String, Vec<usize>),
}

/// Deeper nesting is refused, as by the parser.
const MOST_NESTING: usize = 160;

impl Syntax {
    /// Reads a formula.
    ///
    /// ```
    /// use carom_expr::{SyntaxNode, Syntax};
    /// let tree = Syntax::read("m*g*y - k*x'^2").unwrap();
    /// let SyntaxNode::Sum(terms) = &tree.root().form else { panic!() };
    /// assert!(terms[1].0, "the second one is subtracted");
    /// let span = tree.nodes[terms[1].1].span;
    /// assert_eq!((span.start, span.end), (8, 14));
    /// assert!(Syntax::read("2 +").is_none());
    /// ```
    pub fn read(text: &str) -> Option<Syntax> {
        let (tokens, problems) = lex(text);
        if !problems.is_empty() || tokens.is_empty() {
            return None;
        }
        let mut reader = SyntaxReader { text, tokens, next: 0, nodes: Vec::new(), depth: 0 };
        reader.sum()?;
        (reader.next == reader.tokens.len()).then_some(Syntax { nodes: reader.nodes })
    }

    /// The whole formula.
    pub fn root(&self) -> &Written {
        &self.nodes[self.nodes.len() - 1]
    }

    /// Does it consist of numbers alone, `pi` among them?
    pub fn is_constant(&self) -> bool {
        self.nodes.iter().all(|n| match &n.form {
            SyntaxNode::Name { text, .. } => matches!(text.as_str(), "pi" | "π"),
            _ => true,
        })
    }
}

/// The names in a formula, right or half-typed, with their places; primes are not part of a place.
///
/// ```
/// let names: Vec<String> = carom_expr::names_in("m*(x' + sin(").into_iter().map(|(name, _)| name).collect();
/// assert_eq!(names, ["m", "x", "sin"]);
/// ```
pub fn names_in(text: &str) -> Vec<(String, Span)> {
    let (tokens, _) = lex(text);
    let names = tokens.iter().filter(|t| matches!(t.kind, Kind::Name { .. }));
    names
        .map(|t| {
            let bare = bare(&text[t.span.start..t.span.end]);
            (bare.to_owned(), Span { start: t.span.start, end: t.span.start + bare.len() })
        })
        .collect()
}

fn bare(text: &str) -> &str {
    text.trim_end_matches(|c| !crate::lex::continues_name(c))
}

struct SyntaxReader<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    next: usize,
    nodes: Vec<Written>,
    depth: usize,
}

impl SyntaxReader<'_> {
    fn peek(&self) -> Option<Kind> {
        self.tokens.get(self.next).map(|t| t.kind)
    }

    fn take(&mut self) -> Option<Token> {
        self.next += 1;
        self.tokens.get(self.next - 1).copied()
    }

    fn push(&mut self, form: SyntaxNode, start: usize) -> usize {
        let end = self.tokens[self.next - 1].span.end;
        self.nodes.push(Written { form, span: Span { start, end } });
        self.nodes.len() - 1
    }

    fn start(&self) -> usize {
        self.tokens.get(self.next).map_or(self.text.len(), |t| t.span.start)
    }

    fn sum(&mut self) -> Option<usize> {
        self.depth += 1;
        if self.depth > MOST_NESTING {
            return None;
        }
        let start = self.start();
        let mut terms = vec![(false, self.product()?)];
        while let Some(kind @ (Kind::Plus | Kind::Minus)) = self.peek() {
            self.next += 1;
            terms.push((kind == Kind::Minus, self.product()?));
        }
        self.depth -= 1;
        Some(if terms.len() == 1 { terms[0].1 } else { self.push(SyntaxNode::Sum(terms), start) })
    }

    fn product(&mut self) -> Option<usize> {
        let start = self.start();
        let negative = self.signs();
        let mut factors = vec![(false, self.power()?)];
        while let Some(kind @ (Kind::Times | Kind::Divide)) = self.peek() {
            self.next += 1;
            let from = self.start();
            let minus = self.signs();
            let mut factor = self.power()?;
            if minus {
                factor = self.push(SyntaxNode::Negative(factor), from);
            }
            factors.push((kind == Kind::Divide, factor));
        }
        let product =
            if factors.len() == 1 { factors[0].1 } else { self.push(SyntaxNode::Product(factors), start) };
        Some(if negative { self.push(SyntaxNode::Negative(product), start) } else { product })
    }

    /// Signs before a factor: is it negative?
    fn signs(&mut self) -> bool {
        let mut negative = false;
        while let Some(kind @ (Kind::Plus | Kind::Minus)) = self.peek() {
            negative ^= kind == Kind::Minus;
            self.next += 1;
        }
        negative
    }

    fn power(&mut self) -> Option<usize> {
        self.depth += 1;
        if self.depth > MOST_NESTING {
            return None;
        }
        let start = self.start();
        let base = self.operand()?;
        let value = if self.peek() == Some(Kind::Power) {
            self.next += 1;
            let from = self.start();
            let minus = self.signs();
            let mut exponent = self.power()?;
            if minus {
                exponent = self.push(SyntaxNode::Negative(exponent), from);
            }
            self.push(SyntaxNode::Power(base, exponent), start)
        } else {
            base
        };
        self.depth -= 1;
        Some(value)
    }

    fn operand(&mut self) -> Option<usize> {
        let token = self.take()?;
        let start = token.span.start;
        let text = &self.text[start..token.span.end];
        match token.kind {
            Kind::Number => Some(self.push(SyntaxNode::Number(Rational::parse(text)), start)),
            Kind::Name { primes } => {
                let text = bare(text).to_owned();
                if self.peek() != Some(Kind::Open) {
                    return Some(self.push(SyntaxNode::Name { text, primes }, start));
                }
                self.next += 1;
                let mut arguments = vec![self.sum()?];
                while self.peek() == Some(Kind::Comma) {
                    self.next += 1;
                    arguments.push(self.sum()?);
                }
                (self.take()?.kind == Kind::Close)
                    .then(|| self.push(SyntaxNode::Call(text, arguments), start))
            }
            Kind::Open => {
                let inside = self.sum()?;
                if self.take()?.kind != Kind::Close {
                    return None;
                }
                // The root must stay last, and the place of what is in parentheses includes them.
                let end = self.tokens[self.next - 1].span.end;
                self.nodes[inside].span = Span { start, end };
                Some(inside)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dag, evaluate_function, parse};

    /// The slow clear evaluator of the tree: the oracle for its reading.
    fn value(tree: &Syntax) -> f64 {
        let mut values: Vec<f64> = Vec::new();
        for node in &tree.nodes {
            let v = match &node.form {
                SyntaxNode::Number(n) => n.map_or(f64::NAN, Rational::to_f64),
                SyntaxNode::Name { text, .. } if text == "pi" => std::f64::consts::PI,
                SyntaxNode::Name { text, primes } => 1.3 * text.len() as f64 + f64::from(*primes) + 0.1,
                SyntaxNode::Sum(terms) => {
                    terms.iter().map(|&(minus, i)| if minus { -values[i] } else { values[i] }).sum()
                }
                SyntaxNode::Product(factors) => factors
                    .iter()
                    .map(|&(divides, i)| if divides { 1.0 / values[i] } else { values[i] })
                    .product(),
                SyntaxNode::Negative(i) => -values[*i],
                SyntaxNode::Power(a, b) => values[*a].powf(values[*b]),
                SyntaxNode::Call(name, list) if name == "sqrt" => values[list[0]].sqrt(),
                SyntaxNode::Call(name, list) => {
                    let f = crate::Function::ALL.into_iter().find(|f| f.name() == name).unwrap();
                    evaluate_function(f, values[list[0]], list.get(1).map_or(0.0, |&i| values[i]))
                }
            };
            values.push(v);
        }
        *values.last().unwrap()
    }

    #[test]
    fn the_tree_means_what_the_parser_reads() {
        for text in [
            "1",
            "-2^2",
            "2^-1^2",
            "a - b - c",
            "a/b/c*d",
            "-a*-b",
            "a - -b^2",
            "(a + bb)*(c - ddd)^2",
            "sqrt(a^2 + b'^2)/pi",
            "atan2(a, bb) + min(a, 3) - max(2*a, b)",
            "2*(-(a))^3",
            "sin(a)*cos(bb/2)^2 + exp(-a)",
            "a'' + aa'*a",
            "((((a))))",
            "2^(1/2)",
        ] {
            let mut dag = Dag::new();
            let e = parse(&mut dag, text, &mut |dag, name| {
                Ok(dag.symbol(&format!("{}{}", name.text, "'".repeat(name.primes as usize))))
            })
            .unwrap();
            let expected = dag.evaluate(e, |s| {
                let name = dag.symbol_name(s);
                let bare = name.trim_end_matches('\'');
                1.3 * bare.len() as f64 + (name.len() - bare.len()) as f64 + 0.1
            });
            let tree = Syntax::read(text).unwrap();
            let found = value(&tree);
            assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{text}: {found} {expected}");
            assert_eq!(tree.root().span, Span { start: 0, end: text.len() }, "{text}");
        }
    }

    #[test]
    fn unfinished_text_has_no_tree_and_does_no_harm() {
        for text in ["", "(", "a +", "sin(", "a b", "2 m", ")", "a,b", "f(a,)", "^2", "a^", "\u{1}", "a)("] {
            assert!(Syntax::read(text).is_none(), "{text}");
        }
        assert!(Syntax::read(&"(".repeat(100_000)).is_none());
        assert!(Syntax::read(&format!("a{}", "^a".repeat(100_000))).is_none());
        assert!(Syntax::read(&format!("a{}", "+a".repeat(100_000))).is_some());
    }
}
