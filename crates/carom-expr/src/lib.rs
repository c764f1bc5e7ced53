//! Expressions: text → hash-consed DAG → derivatives, simplification, evaluation, text again.
//!
//! The primary type is [`Dag`], the store of all expressions of one model; an [`Expr`] is a handle into it.
//! Equal expressions have equal handles, children have smaller handles than their parents (so every pass over
//! an expression is a loop over ascending handles, never a recursion), and numbers are exact rationals.
//!
//! This room knows no mechanics: a velocity `x'` is a symbol whose name happens to end in a prime.

mod build;
mod calculus;
mod content;
mod dag;
mod evaluate;
mod factor;
mod fold;
mod lex;
mod measure;
mod number;
mod order;
mod parse;
mod parts;
mod polynomial;
mod print;
mod random;
mod reverse;
mod scale;
mod simplify;
mod solve;
mod structure;
mod suggest;
mod syntax;
mod trig;

pub use dag::{Constant, Dag, Expr, Function, Node, Symbol};
pub use evaluate::{Exponent, evaluate_function};
pub use number::Rational;
pub use parse::{Name, Problem, Span, parse};
pub use print::{Code, Language, Printer, Style, Term};
pub use random::{Random, splitmix64};
pub use reverse::Pullback;
pub use scale::{Scaled, scale_of_function};
pub use suggest::nearest;
pub use syntax::{Syntax, SyntaxNode, Written, names_in};

/// A map whose behaviour is the same in every run. Its iteration order is never used for results.
pub type FastMap<K, V> = rustc_hash::FxHashMap<K, V>;
