//! Formulas of a model evaluated many times: the reachable part of the DAG as a list of operations. The same arithmetic as
//! the reference evaluator, which tests compare it with; only what does not change between evaluations is done once.

use carom_expr::{Constant, Expr, Function, Node, Symbol, evaluate_function};
use carom_mech::Model;
use carom_run::input::Curve;

/// What a symbol of a model stands for at a state.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Meaning {
    /// A parameter's value.
    Known(f64),
    /// t
    Time,
    /// The position of a coordinate.
    Position(usize),
    /// The velocity of a coordinate.
    Velocity(usize),
    /// The momentum of a coordinate.
    Momentum(usize),
    /// A table input (index) or its first or second rate, a function of time.
    Input(usize, u8),
    /// Something a state does not tell, such as an acceleration.
    Unknown,
}

/// What `symbol` stands for.
pub fn meaning(model: &Model, symbol: Symbol) -> Meaning {
    let e = model.dag.symbol_expr(symbol);
    if e == model.time {
        return Meaning::Time;
    }
    for (k, c) in model.coordinates.iter().enumerate() {
        if e == c.position {
            return Meaning::Position(k);
        } else if e == c.velocity {
            return Meaning::Velocity(k);
        } else if e == c.momentum {
            return Meaning::Momentum(k);
        }
    }
    for (i, input) in model.inputs.iter().enumerate() {
        if let Some(order) = [input.value, input.rate, input.second].iter().position(|s| *s == e) {
            return Meaning::Input(i, order as u8);
        }
    }
    model.parameters.iter().find(|p| p.symbol == e).map_or(Meaning::Unknown, |p| Meaning::Known(p.value))
}

/// The table inputs of a model.
pub fn curves(model: &Model) -> Vec<Curve> {
    model.inputs.iter().map(|i| Curve::through(&i.times, &i.values, i.interpolate)).collect()
}

enum Operation {
    Value(f64),
    Slot(usize),
    Sum(f64, Vec<(f64, u32)>),
    Product(f64, Vec<(u32, Exponent)>),
    Power(u32, u32),
    Function(Function, u32, u32),
}

#[derive(Clone, Copy)]
enum Exponent {
    Whole(i32),
    Root,
    Real(f64),
}

/// Formulas ready to be evaluated.
pub struct Formulas {
    operations: Vec<Operation>,
    roots: Vec<u32>,
    /// What each slot stands for.
    pub meanings: Vec<Meaning>,
    /// The symbol of each slot.
    pub symbols: Vec<Symbol>,
    values: Vec<f64>,
}

impl Formulas {
    /// Prepares `roots`.
    pub fn new(model: &Model, roots: &[Expr]) -> Formulas {
        let dag = &model.dag;
        let symbols = dag.symbols_in(roots);
        let reachable = dag.reachable(roots);
        let place = |e: Expr| reachable.binary_search(&e).map_or(0, |i| i as u32);
        let operation = |&e: &Expr| match dag.node(e) {
            Node::Number(r) => Operation::Value(r.to_f64()),
            Node::Float(x) => Operation::Value(*x),
            Node::Constant(Constant::Pi) => Operation::Value(std::f64::consts::PI),
            Node::Constant(Constant::E) => Operation::Value(std::f64::consts::E),
            Node::Symbol(s) => Operation::Slot(symbols.binary_search(s).unwrap_or(0)),
            Node::Sum(c, terms) => {
                Operation::Sum(c.to_f64(), terms.iter().map(|(k, t)| (k.to_f64(), place(*t))).collect())
            }
            Node::Product(c, factors) => {
                let exponent = |n: carom_expr::Rational| match n.to_integer().map(i32::try_from) {
                    Some(Ok(n)) => Exponent::Whole(n),
                    _ if n.numerator() == 1 && n.denominator() == 2 => Exponent::Root,
                    _ => Exponent::Real(n.to_f64()),
                };
                Operation::Product(
                    c.to_f64(),
                    factors.iter().map(|(b, n)| (place(*b), exponent(*n))).collect(),
                )
            }
            Node::Power(b, n) => Operation::Power(place(*b), place(*n)),
            Node::Function(f, args) => {
                let second = args.get(1).unwrap_or(&args[0]);
                Operation::Function(*f, place(args[0]), place(*second))
            }
        };
        let operations: Vec<Operation> = reachable.iter().map(operation).collect();
        Formulas {
            values: vec![0.0; operations.len()],
            operations,
            roots: roots.iter().map(|&e| place(e)).collect(),
            meanings: symbols.iter().map(|&s| meaning(model, s)).collect(),
            symbols,
        }
    }

    /// The values of the roots at a state; momenta and accelerations are not known here.
    pub fn at(&mut self, curves: &[Curve], t: f64, position: &[f64], velocity: &[f64]) -> Vec<f64> {
        let entry = |list: &[f64], k: usize| list.get(k).copied().unwrap_or(f64::NAN);
        let of = |m: &Meaning| match *m {
            Meaning::Known(x) => x,
            Meaning::Time => t,
            Meaning::Position(k) => entry(position, k),
            Meaning::Velocity(k) => entry(velocity, k),
            Meaning::Input(i, order) => curves.get(i).map_or(f64::NAN, |s| s.value(order, t)),
            Meaning::Momentum(_) | Meaning::Unknown => f64::NAN,
        };
        let slots: Vec<f64> = self.meanings.iter().map(of).collect();
        self.evaluate(&slots)
    }

    /// The values of the roots, given one value per slot.
    pub fn evaluate(&mut self, slots: &[f64]) -> Vec<f64> {
        self.run(slots);
        self.roots.iter().map(|&r| self.values[r as usize]).collect()
    }

    /// The value of the first root, given one value per slot.
    pub fn evaluate_first(&mut self, slots: &[f64]) -> f64 {
        self.run(slots);
        self.roots.first().map_or(f64::NAN, |&r| self.values[r as usize])
    }

    fn run(&mut self, slots: &[f64]) {
        for (i, operation) in self.operations.iter().enumerate() {
            let v = |k: u32| self.values[k as usize];
            self.values[i] = match operation {
                Operation::Value(x) => *x,
                Operation::Slot(s) => slots[*s],
                Operation::Sum(c, terms) => terms.iter().fold(*c, |sum, &(k, t)| sum + k * v(t)),
                Operation::Product(c, factors) => factors.iter().fold(*c, |product, &(b, n)| {
                    product
                        * match n {
                            Exponent::Whole(1) => v(b),
                            Exponent::Whole(n) => v(b).powi(n),
                            Exponent::Root => v(b).sqrt(),
                            Exponent::Real(n) => v(b).powf(n),
                        }
                }),
                Operation::Power(b, n) => v(*b).powf(v(*n)),
                Operation::Function(f, a, b) => evaluate_function(*f, v(*a), v(*b)),
            };
        }
    }
}
