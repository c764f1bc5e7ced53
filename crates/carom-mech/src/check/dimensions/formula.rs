//! The dimension of a formula as it is written.

use super::{Dimensions, quantity_of};
use crate::draft::{At, Formula, FormulaKind};
use crate::units::Dimension;
use crate::units::system::{Affine, EquationOutcome};
use carom_expr::{Rational, Span, Syntax, SyntaxNode};

/// What is known of a piece of a formula.
struct PieceDimension {
    /// `None` fits everything: 0, and what was reported or is unknown.
    dimension: Option<Affine>,
    /// Made of numbers alone.
    literal: bool,
    /// Its exact value, where it is made of numbers; else its value where it is made of parameters.
    exact: Option<Rational>,
    value: Option<f64>,
}

impl PieceDimension {
    fn number(value: Option<Rational>) -> PieceDimension {
        let dimension = (value != Some(Rational::ZERO)).then(|| Affine::known(Dimension::NONE));
        PieceDimension { dimension, literal: true, exact: value, value: value.map(Rational::to_f64) }
    }
}

impl<'d> Dimensions<'_, 'd> {
    /// The dimension of a formula, its own mistakes reported; `None` fits everything.
    pub fn dimension(&mut self, formula: &'d Formula) -> Option<Affine> {
        if formula.kind != FormulaKind::Text {
            return None;
        }
        if let Some((_, unit)) = quantity_of(formula) {
            return Some(Affine::known(unit.dimension));
        }
        let tree = Syntax::read(&formula.text)?;
        if tree.is_constant() {
            return None; // a value, in coherent units
        }
        let mut pieces: Vec<PieceDimension> = Vec::with_capacity(tree.nodes.len());
        for node in &tree.nodes {
            let piece = match &node.form {
                SyntaxNode::Number(value) => PieceDimension::number(*value),
                SyntaxNode::Name { text, primes } => self.name(text, *primes),
                SyntaxNode::Sum(terms) => self.sum(formula, &tree, &pieces, terms),
                SyntaxNode::Product(factors) => product(&pieces, factors),
                SyntaxNode::Negative(i) => PieceDimension {
                    dimension: pieces[*i].dimension.clone(),
                    literal: pieces[*i].literal,
                    exact: pieces[*i].exact.and_then(Rational::negate),
                    value: pieces[*i].value.map(|x| -x),
                },
                SyntaxNode::Power(base, exponent) => self.power(formula, &tree, &pieces, (*base, *exponent)),
                SyntaxNode::Call(name, arguments) => {
                    self.call(formula, &tree, &pieces, (name, arguments, node.span))
                }
            };
            pieces.push(piece);
        }
        pieces.pop()?.dimension
    }

    fn at(&self, formula: &Formula, span: Span) -> At {
        self.draft.part_of(formula, span.start, span.end)
    }

    fn name(&self, text: &str, primes: u32) -> PieceDimension {
        let constant = match text {
            "pi" | "π" => Some(std::f64::consts::PI),
            "e" => Some(std::f64::consts::E),
            _ => None,
        };
        match (self.named(text), constant) {
            (Some(a), _) => PieceDimension {
                dimension: self.rate_of(&a, primes),
                literal: false,
                exact: None,
                value: self.values.get(text).copied(),
            },
            (None, Some(value)) => PieceDimension { value: Some(value), ..PieceDimension::number(None) },
            // Reported where names are resolved.
            (None, None) => PieceDimension { dimension: None, literal: false, exact: None, value: None },
        }
    }

    fn sum(
        &mut self,
        formula: &Formula,
        tree: &Syntax,
        pieces: &[PieceDimension],
        terms: &[(bool, usize)],
    ) -> PieceDimension {
        // What is no plain number says what the sum is.
        let known = |&&(_, i): &&(bool, usize)| pieces[i].dimension.is_some();
        let telling = terms.iter().filter(known).find(|(_, i)| !pieces[*i].literal);
        let reference = telling.or_else(|| terms.iter().find(known)).copied();
        for &(minus, i) in terms {
            let Some((reference_minus, reference)) = reference.filter(|r| r.1 != i) else { continue };
            let (Some(found), Some(wanted)) = (&pieces[i].dimension, &pieces[reference].dimension) else {
                continue;
            };
            let at = self.at(formula, tree.nodes[i].span);
            match self.system.equate(found, wanted) {
                EquationOutcome::Fits(Some(unknown)) => {
                    self.causes.insert(unknown, at);
                }
                EquationOutcome::Fits(None) => {}
                EquationOutcome::Contradicts => {
                    let (mut a, mut b, mut minus) = (self.show(wanted), self.show(found), minus);
                    let hint = if pieces[i].literal {
                        let span = tree.nodes[i].span;
                        named_number(formula.text.get(span.start..span.end).unwrap_or("1"), &a)
                    } else {
                        self.because(self.factor(wanted, found), &[wanted, found])
                    };
                    if i < reference {
                        (a, b, minus) = (b, a, reference_minus);
                    }
                    let message =
                        if minus { format!("subtracts {b} from {a}") } else { format!("adds {a} and {b}") };
                    self.report(at, message, hint);
                }
            }
        }
        let value = |sign: bool, x: Option<f64>| x.map(|x| if sign { -x } else { x });
        let exact = terms.iter().try_fold(Rational::ZERO, |sum, &(minus, i)| {
            let x = pieces[i].exact?;
            if minus { sum.subtract(x) } else { sum.add(x) }
        });
        PieceDimension {
            dimension: reference.and_then(|(_, i)| pieces[i].dimension.clone()),
            literal: terms.iter().all(|&(_, i)| pieces[i].literal),
            exact,
            value: terms.iter().try_fold(0.0, |sum, &(minus, i)| Some(sum + value(minus, pieces[i].value)?)),
        }
    }

    /// By what two dimensions differ, as a way out.
    fn factor(&self, first: &Affine, second: &Affine) -> String {
        let difference = first.clone().plus(Rational::MINUS_ONE, second);
        let Some(d) = difference.and_then(|d| self.system.value(&d)) else {
            return "all terms of a sum have the same unit".to_owned();
        };
        let (above, below) = d.factors();
        match (above.is_empty(), below.is_empty()) {
            (false, true) => format!("the second lacks a factor in {}", above.join(" ")),
            (true, false) => format!("the first lacks a factor in {}", below.join(" ")),
            _ => format!("they differ by a factor in {d}"),
        }
    }

    fn power(
        &mut self,
        formula: &Formula,
        tree: &Syntax,
        pieces: &[PieceDimension],
        of: (usize, usize),
    ) -> PieceDimension {
        let (base, exponent) = (&pieces[of.0], &pieces[of.1]);
        let literal = base.literal && exponent.literal;
        let constant = exponent.exact.or_else(|| exponent.value.and_then(simple_fraction));
        let number = Affine::known(Dimension::NONE);
        if let Some(found) = &exponent.dimension {
            let at = self.at(formula, tree.nodes[of.1].span);
            self.require(at, found, &number, "the exponent", "an exponent is a number");
        }
        let dimension = match (&base.dimension, constant) {
            (Some(base), Some(exponent)) => base.times(exponent),
            (Some(found), None) => {
                let at = self.at(formula, tree.nodes[of.0].span);
                let hint = "its exponent is no simple number: divide it by a constant of the same unit first";
                self.require(at, found, &number, "what is raised to a power", hint);
                Some(number)
            }
            (None, _) => None,
        };
        let whole = constant.and_then(Rational::to_integer);
        PieceDimension {
            dimension,
            literal,
            exact: base.exact.zip(whole).and_then(|(base, n)| base.power(n)).filter(|_| literal),
            value: base.value.zip(exponent.value).map(|(a, b)| a.powf(b)),
        }
    }

    fn call(
        &mut self,
        formula: &Formula,
        tree: &Syntax,
        pieces: &[PieceDimension],
        call: (&str, &[usize], Span),
    ) -> PieceDimension {
        let (name, arguments, span) = call;
        let first = arguments.first().and_then(|&i| pieces[i].dimension.clone());
        let literal = arguments.iter().all(|&i| pieces[i].literal);
        let number = Affine::known(Dimension::NONE);
        let dimension = match name {
            "sqrt" => first.and_then(|a| a.times(Rational::HALF)),
            "abs" => first,
            "sign" => Some(number),
            "min" | "max" | "atan2" => {
                let mut known: Option<Affine> = None;
                for &i in arguments {
                    let Some(found) = pieces[i].dimension.clone() else { continue };
                    let Some(wanted) = &known else {
                        known = Some(found);
                        continue;
                    };
                    let wanted = wanted.clone();
                    let at = self.at(formula, tree.nodes[i].span);
                    if self.system.equate(&found, &wanted) == EquationOutcome::Contradicts {
                        let verb = if name == "atan2" { "divides" } else { "compares" };
                        let message =
                            format!("`{name}` {verb} {} and {}", self.show(&wanted), self.show(&found));
                        let hint = match pieces[i].literal {
                            true => {
                                let span = tree.nodes[i].span;
                                named_number(
                                    formula.text.get(span.start..span.end).unwrap_or("1"),
                                    &self.show(&wanted),
                                )
                            }
                            false => self.because(
                                format!("the arguments of `{name}` have the same unit"),
                                &[&wanted, &found],
                            ),
                        };
                        self.report(at, message, hint);
                    }
                }
                if name == "atan2" { Some(number) } else { known }
            }
            _ => {
                if let Some(found) = first {
                    let at = arguments.first().map_or(span, |&i| tree.nodes[i].span);
                    let at = self.at(formula, at);
                    match self.system.equate(&found, &number) {
                        EquationOutcome::Fits(Some(unknown)) => {
                            self.causes.insert(unknown, at);
                        }
                        EquationOutcome::Fits(None) => {}
                        EquationOutcome::Contradicts => {
                            let angle = matches!(name, "sin" | "cos" | "tan");
                            let wanted = if angle { "an angle or a number" } else { "a number" };
                            let message = format!("`{name}` takes {wanted}, not {}", self.show(&found));
                            let way_out = format!(
                                "multiply or divide it by a parameter, such that {} goes away",
                                self.show(&found)
                            );
                            let hint = self.because(way_out, &[&found]);
                            self.report(at, message, hint);
                        }
                    }
                }
                Some(number)
            }
        };
        PieceDimension { dimension, literal, exact: None, value: None }
    }
}

/// What to do with a number that stands beside a quantity.
fn named_number(number: &str, unit: &str) -> String {
    let unit = if unit.starts_with('a') || unit.contains('[') { "…" } else { unit };
    format!(
        "a number in a formula has no unit: give it a name in [parameters], such as a = \"{number} {unit}\""
    )
}

/// The fraction p/q with q ≤ 64 that a double is.
fn simple_fraction(x: f64) -> Option<Rational> {
    let found = (1..=64_i64).find(|&q| {
        let p = (x * q as f64).round();
        p.abs() < 1e6 && p / q as f64 == x
    });
    found.and_then(|q| Rational::new((x * q as f64).round() as i128, i128::from(q)))
}

fn product(pieces: &[PieceDimension], factors: &[(bool, usize)]) -> PieceDimension {
    let mut dimension = Some(Affine::known(Dimension::NONE));
    let (mut exact, mut value) = (Some(Rational::ONE), Some(1.0));
    for &(divides, i) in factors {
        let sign = if divides { Rational::MINUS_ONE } else { Rational::ONE };
        dimension = dimension.zip(pieces[i].dimension.as_ref()).and_then(|(d, a)| d.plus(sign, a));
        exact = exact
            .zip(pieces[i].exact)
            .and_then(|(x, y)| x.multiply(if divides { y.reciprocal()? } else { y }));
        value = value.zip(pieces[i].value).map(|(x, y)| if divides { x / y } else { x * y });
    }
    let literal = factors.iter().all(|&(_, i)| pieces[i].literal);
    PieceDimension { dimension, literal, exact: exact.filter(|_| literal), value }
}
