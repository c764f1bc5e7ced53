//! A number with a unit where a value stands: `"30 cm"`, `--set "l=30 cm"`.

use super::Checker;
use super::scope::Context;
use crate::draft::{Formula, FormulaKind};
use crate::units::{self, Quantity, Unit};
use carom_expr::{Expr, Span};

impl<'d> Checker<'d> {
    /// The value of a number with a unit, in coherent units; `None` when the text is something else, `Some(None)` when its
    /// unit is wrong (reported).
    ///
    /// Where only values stand, the word after the number is a unit. Where names may stand, `2 m` could also be meant as
    /// a product, so there a unit that is also a name is left to the parser, which asks for an operator.
    pub fn quantity(&mut self, formula: &'d Formula, context: &Context) -> Option<Option<Expr>> {
        if formula.kind != FormulaKind::Text {
            return None;
        }
        let quantity = units::quantity(&formula.text)?;
        let value_only = context.allowed == 0;
        let known = units_words(quantity.unit_text).any(|word| self.scope.names.contains_key(word));
        match &quantity.unit {
            Ok(unit) if value_only || !known => {
                if known && value_only {
                    self.warn_product(formula, &quantity);
                }
                let e = quantity.value(&mut self.dag, *unit);
                self.formulas.push((e, formula));
                Some(Some(e))
            }
            Ok(_) => None,
            Err(problem) => {
                // A formula without its operators is the parser's to explain.
                let formula_like = known
                    || quantity.unit_text.contains(['+', '-', '\'', ',', '′', '’'])
                    || units_words(quantity.unit_text).any(is_function);
                if formula_like {
                    return None;
                }
                let at = self.draft.part_of(formula, problem.start, problem.end);
                self.error(at, problem.message.clone(), problem.hint.clone());
                Some(None)
            }
        }
    }

    /// `m2 = "2 m"` beside a parameter `m` in a model that states no units may have been meant as a product.
    fn warn_product(&mut self, formula: &Formula, quantity: &Quantity<'_>) {
        let draft = self.draft;
        let word = quantity.unit_text.trim();
        let plain = draft.parameters.iter().any(|(name, value)| {
            name.text == word && !(value.kind == FormulaKind::Text && units::quantity(&value.text).is_some())
        });
        if draft.units.is_empty() && plain {
            let message = format!("`{}` is read as a unit here, not as the parameter `{word}`", formula.text);
            let hint = format!(
                "write {}*{word} for the product; state units in [units] to keep it",
                quantity.number
            );
            self.warning(formula.at, message, hint);
        }
    }

    /// The hint for `x + 30 cm`: a unit stands inside a formula.
    pub fn unit_inside(&self, text: &str, span: Span) -> Option<String> {
        let quantity = units::quantity(text.get(span.start..span.end)?)?;
        let word = quantity.unit_text.trim();
        let is_unit = Unit::read(word).is_ok() && !self.scope.names.contains_key(word);
        is_unit.then(|| {
            let shown = format!("{} {word}", quantity.number);
            format!("a unit cannot stand inside a formula: give the value a name in [parameters], such as a = \"{shown}\"")
        })
    }
}

/// The words of a unit's text.
fn units_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|w| !w.is_empty())
}

fn is_function(word: &str) -> bool {
    word == "sqrt" || word == "pi" || carom_expr::Function::ALL.iter().any(|f| f.name() == word)
}
