//! Invariants as numbers: J at a state with the scale of its rounding, and ∂J/∂state.

use super::{Invariant, Invariants};
use crate::mechanics::{Dynamics, Mechanics};
use carom_expr::{Expr, Scaled, Symbol};
use carom_jet::values::Evaluator;

/// Compiled invariants of a model.
#[derive(Clone, Debug)]
pub struct InvariantValues {
    formulas: Evaluator,
    places: Vec<usize>,
    /// Per invariant, per symbol of the state.
    slopes: Vec<Vec<usize>>,
    state: Vec<Symbol>,
    time: Symbol,
    parameters: Vec<Symbol>,
}

impl Invariants {
    /// Compiles the invariants of [`Invariants::list`] for evaluation at many states; `None` if a model has table inputs,
    /// whose values are no part of the state, and an invariant contains one.
    pub fn values(&mut self, mechanics: &Mechanics) -> Option<InvariantValues> {
        self.compiled(mechanics, false)
    }

    /// The same with their gradients.
    pub fn values_and_gradients(&mut self, mechanics: &Mechanics) -> Option<InvariantValues> {
        self.compiled(mechanics, true)
    }

    fn compiled(&mut self, mechanics: &Mechanics, gradients: bool) -> Option<InvariantValues> {
        let dag = &mut self.dag;
        let hamiltonian = matches!(mechanics.dynamics, Dynamics::Hamiltonian(_));
        let coordinates = || mechanics.free.iter().map(|&i| &mechanics.model.coordinates[i]);
        let rates = coordinates().map(|c| if hamiltonian { c.momentum } else { c.velocity });
        let state: Vec<Expr> = coordinates().map(|c| c.position).chain(rates).collect();
        let exprs: Vec<Expr> = self.list.iter().map(|i| i.expr).collect();
        let inputs = mechanics.model.inputs.iter().flat_map(|u| [u.value, u.rate, u.second]);
        if inputs.into_iter().any(|u| exprs.iter().any(|&e| dag.contains(e, u))) {
            return None;
        }
        let mut formulas = Evaluator::default();
        let mut slopes = Vec::new();
        for &e in exprs.iter().filter(|_| gradients) {
            let slope: Vec<Expr> = state.iter().map(|&x| dag.derivative(e, x)).collect();
            slopes.push(slope);
        }
        let places = exprs.iter().map(|&e| formulas.add(dag, e)).collect();
        let slopes = slopes.iter().map(|row| row.iter().map(|&e| formulas.add(dag, e)).collect()).collect();
        let symbols = |list: &[Expr]| list.iter().filter_map(|&e| dag.as_symbol(e)).collect::<Vec<_>>();
        let parameters: Vec<Expr> = mechanics.model.parameters.iter().map(|p| p.symbol).collect();
        Some(InvariantValues {
            state: symbols(&state),
            time: dag.as_symbol(mechanics.model.time)?,
            parameters: symbols(&parameters),
            formulas,
            places,
            slopes,
        })
    }

    /// The invariant of this name.
    pub fn find(&self, name: &str) -> Option<&Invariant> {
        self.list.iter().find(|i| i.name == name)
    }
}

impl InvariantValues {
    fn evaluate(&self, parameters: &[f64], time: f64, state: &[f64]) -> Vec<Scaled> {
        let value = |s: Symbol| {
            if let Some(i) = self.state.iter().position(|&x| x == s) {
                state[i]
            } else if s == self.time {
                time
            } else {
                self.parameters.iter().position(|&p| p == s).map_or(0.0, |i| parameters[i])
            }
        };
        let inputs: Vec<Scaled> = self.formulas.symbols().iter().map(|&s| Scaled::known(value(s))).collect();
        let mut values = Vec::new();
        self.formulas.evaluate(&mut values, |slot| inputs[slot]);
        values
    }

    /// J of every invariant with its scale. `state` is (q, v), or (q, p) of a Hamiltonian model, of the free coordinates.
    pub fn at(&self, parameters: &[f64], time: f64, state: &[f64]) -> Vec<Scaled> {
        let values = self.evaluate(parameters, time, state);
        self.places.iter().map(|&place| values[place]).collect()
    }

    /// ∂J/∂state of every invariant, if they were compiled with gradients.
    pub fn gradients(&self, parameters: &[f64], time: f64, state: &[f64]) -> Vec<Vec<f64>> {
        let values = self.evaluate(parameters, time, state);
        self.slopes.iter().map(|row| row.iter().map(|&place| values[place].value).collect()).collect()
    }
}
