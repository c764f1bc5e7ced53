//! Formulas of a model evaluated many times, with what their symbols mean at a state.

use carom_expr::{Expr, Symbol};
use carom_jet::values::Evaluator;
use carom_mech::Model;
use carom_run::input::Spline;

/// What a symbol of a model stands for at a state.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SymbolMeaning {
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
pub fn meaning(model: &Model, symbol: Symbol) -> SymbolMeaning {
    let e = model.dag.symbol_expr(symbol);
    if e == model.time {
        return SymbolMeaning::Time;
    }
    for (k, c) in model.coordinates.iter().enumerate() {
        if e == c.position {
            return SymbolMeaning::Position(k);
        } else if e == c.velocity {
            return SymbolMeaning::Velocity(k);
        } else if e == c.momentum {
            return SymbolMeaning::Momentum(k);
        }
    }
    for (i, input) in model.inputs.iter().enumerate() {
        if let Some(order) = [input.value, input.rate, input.second].iter().position(|s| *s == e) {
            return SymbolMeaning::Input(i, order as u8);
        }
    }
    model
        .parameters
        .iter()
        .find(|p| p.symbol == e)
        .map_or(SymbolMeaning::Unknown, |p| SymbolMeaning::Known(p.value))
}

/// The table inputs of a model.
pub fn curves(model: &Model) -> Vec<Spline> {
    model.inputs.iter().map(|i| Spline::through(&i.times, &i.values, i.interpolate)).collect()
}

/// Formulas ready to be evaluated.
pub struct Formulas {
    evaluator: Evaluator,
    /// Where the values of the roots are.
    places: Vec<usize>,
    /// What each slot stands for.
    pub meanings: Vec<SymbolMeaning>,
    /// The symbol of each slot.
    pub symbols: Vec<Symbol>,
    values: Vec<f64>,
}

impl Formulas {
    /// Prepares `roots`.
    pub fn new(model: &Model, roots: &[Expr]) -> Formulas {
        let mut evaluator = Evaluator::default();
        let places = roots.iter().map(|&e| evaluator.add(&model.dag, e)).collect();
        let symbols = evaluator.symbols().to_vec();
        let meanings = symbols.iter().map(|&s| meaning(model, s)).collect();
        Formulas { evaluator, places, meanings, symbols, values: Vec::new() }
    }

    /// The values of the roots at a state; momenta and accelerations are not known here.
    pub fn at(&mut self, curves: &[Spline], t: f64, position: &[f64], velocity: &[f64]) -> Vec<f64> {
        let entry = |list: &[f64], k: usize| list.get(k).copied().unwrap_or(f64::NAN);
        let of = |m: &SymbolMeaning| match *m {
            SymbolMeaning::Known(x) => x,
            SymbolMeaning::Time => t,
            SymbolMeaning::Position(k) => entry(position, k),
            SymbolMeaning::Velocity(k) => entry(velocity, k),
            SymbolMeaning::Input(i, order) => curves.get(i).map_or(f64::NAN, |s| s.value(order, t)),
            SymbolMeaning::Momentum(_) | SymbolMeaning::Unknown => f64::NAN,
        };
        let slots: Vec<f64> = self.meanings.iter().map(of).collect();
        self.evaluate(&slots)
    }

    /// The values of the roots, given one value per slot.
    pub fn evaluate(&mut self, slots: &[f64]) -> Vec<f64> {
        self.run(slots);
        self.places.iter().map(|&place| self.values[place]).collect()
    }

    /// The value of the first root, given one value per slot.
    pub fn evaluate_first(&mut self, slots: &[f64]) -> f64 {
        self.run(slots);
        self.places.first().map_or(f64::NAN, |&place| self.values[place])
    }

    fn run(&mut self, slots: &[f64]) {
        self.values.clear();
        self.evaluator.evaluate(&mut self.values, |slot| slots[slot]);
    }
}
