//! Numbers for the symbols of a derived model: one state, for questions asked about it.

use crate::mechanics::{Dynamics, Mechanics};
use carom_expr::Symbol;

/// Values of time, state and table inputs.
#[derive(Clone, PartialEq, Debug)]
pub struct StateValues {
    /// t
    pub time: f64,
    /// q per free coordinate.
    pub position: Vec<f64>,
    /// v per free coordinate; p for a Hamiltonian model.
    pub rate: Vec<f64>,
    /// u, u′, u″ per table input.
    pub inputs: Vec<[f64; 3]>,
}

impl StateValues {
    /// The start of the model as given: what is not named is 0, table inputs have their first value.
    pub fn start(mechanics: &Mechanics) -> StateValues {
        let start = &mechanics.model.start;
        let rates = match mechanics.dynamics {
            Dynamics::Hamiltonian(_) => &start.momentum,
            _ => &start.velocity,
        };
        StateValues {
            time: start.time,
            position: mechanics.free.iter().map(|&i| start.position[i].unwrap_or(0.0)).collect(),
            rate: mechanics.free.iter().map(|&i| rates[i].unwrap_or(0.0)).collect(),
            inputs: mechanics
                .model
                .inputs
                .iter()
                .map(|u| [u.values.first().copied().unwrap_or(0.0), 0.0, 0.0])
                .collect(),
        }
    }

    /// One value per symbol of the model's DAG, parameters included; 0 for symbols that are none of these.
    pub fn symbol_values(&self, mechanics: &Mechanics) -> Vec<f64> {
        let model = &mechanics.model;
        let mut values = vec![0.0; model.dag.symbol_count()];
        let mut put = |e, x| {
            if let Some(s) = model.dag.as_symbol(e) {
                values[Symbol::index(s)] = x;
            }
        };
        for p in &model.parameters {
            put(p.symbol, p.value);
        }
        for (u, x) in model.inputs.iter().zip(&self.inputs) {
            put(u.value, x[0]);
            put(u.rate, x[1]);
            put(u.second, x[2]);
        }
        put(model.time, self.time);
        let hamiltonian = matches!(mechanics.dynamics, Dynamics::Hamiltonian(_));
        for ((&i, &x), &rate) in mechanics.free.iter().zip(&self.position).zip(&self.rate) {
            let c = &model.coordinates[i];
            put(c.position, x);
            put(if hamiltonian { c.momentum } else { c.velocity }, rate);
        }
        values
    }
}
