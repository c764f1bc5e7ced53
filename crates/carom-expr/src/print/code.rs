//! Lists of expressions as straight-line code: what is used twice is computed once.
//!
//! A subexpression becomes a temporary when it is used more than once and is worth it (more than a symbol with a
//! sign or coefficient), or when a line would grow beyond all reading.

use super::{Printer, Style};
use crate::dag::{Dag, Expr, Node};
use std::collections::{HashMap, HashSet};

/// A language [`Code`] is written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// Rust, numbers `f64`.
    Rust,
    /// C99, numbers `double`.
    C,
    /// Python with SymPy, exact numbers.
    Sympy,
}

/// Straight-line code for a list of expressions.
#[derive(Clone, PartialEq, Debug)]
pub struct Code {
    /// (name, text) of the temporaries, in the order in which they must be computed.
    pub temporaries: Vec<(String, String)>,
    /// The text of each expression.
    pub results: Vec<String>,
    /// Names of the symbols that occur, as `(original, spelling)`, in their order of first use.
    pub symbols: Vec<(String, String)>,
    /// Does it call the helper `sign(x)`, which neither Rust nor C has in this meaning?
    pub needs_sign: bool,
}

/// A line of code is cut into temporaries when it is longer than this.
const LONGEST_LINE: usize = 400;

impl Dag {
    /// Code that computes `expressions`. Temporaries are called `prefix` followed by a number.
    ///
    /// ```
    /// use carom_expr::{Dag, Language};
    /// let mut dag = Dag::new();
    /// let (x, y) = (dag.symbol("x"), dag.symbol("y"));
    /// let difference = dag.sub(x, y);
    /// let (sin, cos) = (carom_expr::Function::Sin, carom_expr::Function::Cos);
    /// let (s, c) = (dag.function(sin, &[difference]), dag.function(cos, &[difference]));
    /// let code = dag.code(&[s, c], Language::Rust, "s");
    /// assert_eq!(code.temporaries, [("s1".to_string(), "x - y".to_string())]);
    /// assert_eq!(code.results, ["s1.sin()", "s1.cos()"]);
    /// ```
    pub fn code(&self, expressions: &[Expr], language: Language, prefix: &str) -> Code {
        let style = match language {
            Language::Rust => Style::Rust,
            Language::C => Style::C,
            Language::Sympy => Style::Sympy,
        };
        let (printer, temporaries) = self.share(expressions, style, prefix, LONGEST_LINE);
        let results = expressions.iter().map(|&e| printer.print(e)).collect();
        let symbols = self.symbols_in(expressions);
        let symbols = symbols.into_iter().map(|s| {
            let name = self.symbol_name(s);
            (name.to_string(), printer.symbol(name))
        });
        let needs_sign = style != Style::Sympy
            && self
                .reachable(expressions)
                .iter()
                .any(|&e| matches!(self.node(e), Node::Function(crate::Function::Sign, _)));
        Code { temporaries, results, symbols: symbols.collect(), needs_sign }
    }

    /// A printer that names the shared subexpressions of `expressions`, and those names with their texts.
    pub fn share(
        &self,
        expressions: &[Expr],
        style: Style,
        prefix: &str,
        longest: usize,
    ) -> (Printer<'_>, Vec<(String, String)>) {
        let mut printer = Printer::new(self, style);
        let mut uses: HashMap<Expr, usize> = HashMap::new();
        for &e in expressions {
            *uses.entry(e).or_insert(0) += 1;
        }
        let reachable = self.reachable(expressions);
        for &e in &reachable {
            self.for_each_child(e, |child| *uses.entry(child).or_insert(0) += 1);
        }
        let mut temporaries: Vec<(String, String)> = Vec::new();
        let taken: Vec<&String> = printer.symbols.iter().collect();
        let prefix = (0..).map(|n| format!("{prefix}{}", "_".repeat(n)));
        let prefix = prefix
            .into_iter()
            .find(|p| {
                let numbered =
                    |s: &&String| s.strip_prefix(p.as_str()).is_some_and(|r| r.parse::<u32>().is_ok());
                !taken.iter().any(numbered)
            })
            .unwrap_or_default();
        let results: HashSet<Expr> = expressions.iter().copied().collect();
        for e in reachable {
            let shared = uses[&e] > 1 && self.worth_a_name(e);
            let leaf = matches!(
                self.node(e),
                Node::Number(_) | Node::Float(_) | Node::Constant(_) | Node::Symbol(_)
            );
            if leaf || (!shared && results.contains(&e)) {
                continue;
            }
            let text = printer.print(e);
            if shared || text.len() > longest {
                let number = temporaries.len() + 1;
                let name = if style == Style::Latex {
                    format!("{prefix}_{{{number}}}")
                } else {
                    format!("{prefix}{number}")
                };
                printer.name(e, name.clone());
                temporaries.push((name, text));
            }
        }
        (printer, temporaries)
    }

    /// Is `e` more than a symbol with a coefficient or a square of one?
    fn worth_a_name(&self, e: Expr) -> bool {
        let leaf = |e: Expr| {
            matches!(self.node(e), Node::Symbol(_) | Node::Number(_) | Node::Constant(_) | Node::Float(_))
        };
        match self.node(e) {
            Node::Number(_) | Node::Float(_) | Node::Constant(_) | Node::Symbol(_) => false,
            Node::Product(_, factors) => match **factors {
                [(base, exponent)] => !(leaf(base) && exponent.is_integer() && exponent.numerator() <= 2),
                _ => true,
            },
            _ => true,
        }
    }
}
