//! Formulas compiled for many evaluations: order 0, in any arithmetic.
//!
//! ```text
//! c + Σ kᵢ xᵢ      c Π xⱼ^nⱼ      x^y      f(x), f(x, y)
//! ```
//!
//! An [`Evaluator`] is the reachable part of a [`Dag`] as a list of operations, operands before what is made of them; formulas
//! can be added at any time, and what two formulas share is computed once. The list says nothing about *what* is computed
//! with: an [`Scalar`] does. Doubles give the bits of the reference evaluator ([`Dag::evaluate_all`]), which tests compare
//! it with; [`Scaled`] numbers bring the scale of their rounding along. The parameters of a tape pass through the same list.
//!
//! ```
//! use carom_expr::{Dag, Function, Scaled};
//! use carom_jet::values::{Evaluator, evaluate};
//! let mut dag = Dag::new();
//! let x = dag.symbol("x");
//! let sine = dag.function(Function::Sin, &[x]);
//! let mut formulas = Evaluator::default();
//! let place = formulas.add(&dag, sine);
//! let mut values = Vec::new();
//! for k in 0..3 {
//!     values.clear();
//!     formulas.evaluate(&mut values, |_slot| f64::from(k));
//!     assert_eq!(values[place], f64::from(k).sin());
//! }
//! // sin π is not 0 in doubles, but far below the rounding of π.
//! let found = evaluate(&dag, &[sine], |_| Scaled::known(std::f64::consts::PI))[0];
//! assert!(found.value != 0.0 && found.value.abs() < f64::EPSILON * found.scale);
//! ```

use carom_expr::{
    Constant, Dag, Exponent, Expr, Function, Node, Scaled, Symbol, evaluate_function, scale_of_function,
};

/// What formulas are evaluated in.
pub trait Scalar: Copy {
    /// A number that is written in the formula.
    fn number(x: f64) -> Self;

    /// self + k x
    #[must_use]
    fn add(self, k: f64, x: Self) -> Self;

    /// self · xⁿ
    #[must_use]
    fn multiply(self, x: Self, n: Exponent) -> Self;

    /// self^y
    #[must_use]
    fn power(self, y: Self) -> Self;

    /// f(x), or f(x, y) for functions of two arguments.
    fn function(f: Function, x: Self, y: Self) -> Self;
}

impl Scalar for f64 {
    fn number(x: f64) -> f64 {
        x
    }

    fn add(self, k: f64, x: f64) -> f64 {
        self + k * x
    }

    fn multiply(self, x: f64, n: Exponent) -> f64 {
        self * n.power(x)
    }

    fn power(self, y: f64) -> f64 {
        self.powf(y)
    }

    fn function(f: Function, x: f64, y: f64) -> f64 {
        evaluate_function(f, x, y)
    }
}

impl Scalar for Scaled {
    fn number(x: f64) -> Scaled {
        Scaled::known(x)
    }

    fn add(self, k: f64, x: Scaled) -> Scaled {
        Scaled { value: self.value + k * x.value, scale: self.scale + k.abs() * x.scale }
    }

    fn multiply(self, x: Scaled, n: Exponent) -> Scaled {
        let x = x.to(n);
        let scale = self.value.abs() * x.scale + x.value.abs() * self.scale;
        Scaled { value: self.value * x.value, scale }
    }

    fn power(self, y: Scaled) -> Scaled {
        let value = self.value.powf(y.value);
        let through = if value == 0.0 { 0.0 } else { (value * self.value.abs().ln()).abs() * y.scale };
        Scaled { value, scale: Scaled::power(self, y.value, value) + through }
    }

    fn function(f: Function, x: Scaled, y: Scaled) -> Scaled {
        let value = evaluate_function(f, x.value, y.value);
        Scaled { value, scale: scale_of_function(f, x, y, value) }
    }
}

/// What one value is computed from; operands are places of earlier values.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Operation {
    Number(f64),
    /// The value of a slot: a symbol, or a parameter of a tape.
    Input(usize),
    Sum(f64, Box<[(f64, u32)]>),
    Product(f64, Box<[(u32, Exponent)]>),
    Power(u32, u32),
    Function(Function, u32, u32),
}

impl Operation {
    /// The value, given those of the slots and of earlier operations.
    pub(crate) fn value<A: Scalar>(&self, inputs: &mut impl FnMut(usize) -> A, earlier: &[A]) -> A {
        let at = |place: u32| earlier[place as usize];
        match self {
            Operation::Number(x) => A::number(*x),
            Operation::Input(slot) => inputs(*slot),
            Operation::Sum(c, terms) => {
                terms.iter().fold(A::number(*c), |sum, &(k, term)| sum.add(k, at(term)))
            }
            Operation::Product(c, factors) => {
                factors.iter().fold(A::number(*c), |product, &(base, n)| product.multiply(at(base), n))
            }
            Operation::Power(x, y) => at(*x).power(at(*y)),
            Operation::Function(f, x, y) => A::function(*f, at(*x), at(*y)),
        }
    }
}

/// No place yet.
const NOWHERE: u32 = u32::MAX;

/// Formulas of one [`Dag`], ready to be evaluated.
#[derive(Clone, Default, Debug)]
pub struct Evaluator {
    operations: Vec<Operation>,
    /// By slot.
    symbols: Vec<Symbol>,
    /// By expression: its place among the operations.
    places: Vec<u32>,
}

impl Evaluator {
    /// Adds a formula; returns the place of its value. Formulas of one evaluator belong to one DAG, which may have grown in
    /// the meantime.
    pub fn add(&mut self, dag: &Dag, e: Expr) -> usize {
        if self.places.len() <= e.index() {
            self.places.resize(dag.len().max(e.index() + 1), NOWHERE);
        }
        // Operands first: an expression stays on the stack until all it is made of has a place.
        let mut stack = vec![e];
        while let Some(&top) = stack.last() {
            let waiting = stack.len();
            if self.places[top.index()] == NOWHERE {
                dag.for_each_child(top, |child| {
                    if self.places[child.index()] == NOWHERE {
                        stack.push(child);
                    }
                });
                if stack.len() > waiting {
                    continue;
                }
                self.places[top.index()] = self.operations.len() as u32;
                let operation = self.operation(dag, top);
                self.operations.push(operation);
            }
            stack.pop();
        }
        self.places[e.index()] as usize
    }

    fn operation(&mut self, dag: &Dag, e: Expr) -> Operation {
        let place = |e: Expr| self.places[e.index()];
        match dag.node(e) {
            Node::Number(r) => Operation::Number(r.to_f64()),
            Node::Float(x) => Operation::Number(*x),
            Node::Constant(Constant::Pi) => Operation::Number(std::f64::consts::PI),
            Node::Constant(Constant::E) => Operation::Number(std::f64::consts::E),
            Node::Symbol(s) => {
                self.symbols.push(*s);
                Operation::Input(self.symbols.len() - 1)
            }
            Node::Sum(c, terms) => {
                Operation::Sum(c.to_f64(), terms.iter().map(|&(k, t)| (k.to_f64(), place(t))).collect())
            }
            Node::Product(c, factors) => Operation::Product(
                c.to_f64(),
                factors.iter().map(|&(b, n)| (place(b), Exponent::of(n))).collect(),
            ),
            Node::Power(b, n) => Operation::Power(place(*b), place(*n)),
            Node::Function(f, arguments) => {
                let second = arguments.get(1).unwrap_or(&arguments[0]);
                Operation::Function(*f, place(arguments[0]), place(*second))
            }
        }
    }

    /// The symbol of each slot, in the order of their first use.
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// Completes `values`, one per operation: what is there already is kept. To begin anew, clear it first. `inputs` gives the
    /// value of a slot.
    pub fn evaluate<A: Scalar>(&self, values: &mut Vec<A>, mut inputs: impl FnMut(usize) -> A) {
        values.reserve(self.operations.len().saturating_sub(values.len()));
        for operation in &self.operations[values.len()..] {
            let value = operation.value(&mut inputs, values);
            values.push(value);
        }
    }
}

/// The value of each of `roots`, once.
pub fn evaluate<A: Scalar>(dag: &Dag, roots: &[Expr], mut value_of: impl FnMut(Symbol) -> A) -> Vec<A> {
    let mut evaluator = Evaluator::default();
    let places: Vec<usize> = roots.iter().map(|&e| evaluator.add(dag, e)).collect();
    let mut values = Vec::new();
    evaluator.evaluate(&mut values, |slot| value_of(evaluator.symbols[slot]));
    places.into_iter().map(|place| values[place]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use carom_expr::Random;

    #[test]
    fn a_formula_added_late_agrees_with_the_reference_evaluator_bit_for_bit() {
        let mut dag = Dag::new();
        let (x, y) = (dag.symbol("x"), dag.symbol("y"));
        let mut evaluator = Evaluator::default();
        let sine = dag.function(Function::Sin, &[x]);
        let mut formulas = vec![(sine, evaluator.add(&dag, sine))];
        let (angle, root, ratio) = (dag.function(Function::Atan2, &[y, x]), dag.sqrt(y), dag.rational(-3, 7));
        let (cube, inverse) = (dag.powi(sine, 3), dag.powi(root, -1));
        let power = dag.power(y, x);
        let product = dag.product(&[ratio, cube, inverse, angle]);
        let sum = dag.sum(&[product, power, x]);
        formulas.extend([sum, product, angle, x].map(|e| (e, evaluator.add(&dag, e))));
        let mut random = Random(1);
        let mut values = Vec::new();
        for _ in 0..100 {
            let (a, b) = (5.0 * random.symmetric(), 5.0 * random.unit());
            let of = |s: Symbol| if dag.symbol_name(s) == "x" { a } else { b };
            values.clear();
            evaluator.evaluate(&mut values, |slot| of(evaluator.symbols()[slot]));
            for &(e, place) in &formulas {
                assert_eq!(values[place].to_bits(), dag.evaluate(e, of).to_bits());
                // The scale comes beside the value, never instead of it.
                let scaled = evaluate(&dag, &[e], |s| Scaled::known(of(s)))[0];
                assert_eq!(scaled.value.to_bits(), values[place].to_bits());
                assert!(scaled.scale >= scaled.value.abs());
            }
        }
    }
}
