//! How a variation begins, and how it is kept on the constraints.
//!
//! ```text
//! dp_j = Σ_k ∂formula_j/∂p_k dp_k,    δx₀ = Σ_j ∂formula/∂p_j dp_j
//! [W Aᵀ; A 0][δ; ν] = [0; −(A δq + c_θ δθ)],    then the same for the rates
//! ```

use crate::run::Run;
use crate::sensitivity::Seed;
use crate::variation::Direction;
use carom_expr::Symbol;
use carom_jet::dense::{Factored, Matrix};
use carom_mech::model::RowKind;
use std::collections::HashMap;
use std::ops::Range;

/// (j, [(k, ∂formula_j/∂p_k)]) for the parameters that follow from others.
pub(crate) struct FormulaSlopes(Vec<(usize, Vec<(usize, f64)>)>);

impl FormulaSlopes {
    /// What moves with a parameter, of so many.
    fn moved_with(&self, origin: usize, count: usize) -> Vec<(usize, f64)> {
        if self.0.is_empty() {
            return vec![(origin, 1.0)];
        }
        let mut moved = vec![0.0; count];
        moved[origin] = 1.0;
        self.follow(&mut moved, origin);
        moved.into_iter().enumerate().filter(|(_, x)| *x != 0.0).collect()
    }

    /// dp_j = Σ_k ∂formula_j/∂p_k dp_k, for all but the parameter that moves by itself.
    fn follow(&self, moved: &mut [f64], origin: usize) {
        // At most as many rounds as formulas are nested.
        for _ in 0..self.0.len() {
            let mut changed = false;
            for (j, slopes) in self.0.iter().filter(|(j, _)| *j != origin) {
                let sum: f64 =
                    slopes.iter().filter(|(k, _)| moved[*k] != 0.0).map(|(k, slope)| slope * moved[*k]).sum();
                changed |= moved[*j] != sum;
                moved[*j] = sum;
            }
            if !changed {
                break;
            }
        }
    }
}

impl Run<'_> {
    /// How parameters move in a direction: one by itself, others by the formulas that contain it.
    pub fn seed(&self, direction: Direction, slopes: &FormulaSlopes) -> Seed {
        let model = &self.program.mechanics.model;
        let mut seed = Seed::default();
        match direction {
            Direction::Parameter(i) => {
                seed.moved = slopes.moved_with(i, model.parameters.len());
            }
            Direction::Restitution(w) => seed.restitution = Some(w),
            Direction::Coordinate(_) | Direction::Velocity(_) => {}
        }
        seed
    }

    /// What the formulas of parameters say, evaluated once for all directions.
    pub fn formula_slopes(&self) -> FormulaSlopes {
        let model = &self.program.mechanics.model;
        let values = &self.options.parameters;
        self.program.with_dag(|dag| {
            let places: HashMap<Symbol, usize> = model
                .parameters
                .iter()
                .enumerate()
                .filter_map(|(k, p)| dag.as_symbol(p.symbol).map(|symbol| (symbol, k)))
                .collect();
            let value_of = |s: Symbol| places.get(&s).map_or(f64::NAN, |&k| values[k]);
            let mut slopes = Vec::new();
            for (j, p) in model.parameters.iter().enumerate() {
                let inside: Vec<usize> =
                    dag.symbols_in(&[p.formula]).iter().filter_map(|s| places.get(s).copied()).collect();
                // A parameter that was given another value than its formula's is a number.
                if inside.is_empty() || dag.evaluate(p.formula, value_of) != values[j] {
                    continue;
                }
                let terms = inside.into_iter().map(|k| {
                    let slope = dag.derivative(p.formula, model.parameters[k].symbol);
                    (k, dag.evaluate(slope, value_of))
                });
                slopes.push((j, terms.collect()));
            }
            FormulaSlopes(slopes)
        })
    }

    /// ∂x₀/∂θ as the start is given: a value by itself, or by the formula that gave it.
    pub fn start_column(&self, direction: Direction, seed: &Seed) -> Vec<f64> {
        let (n, m) = (self.size(), &self.program.mechanics);
        let mut column = vec![0.0; 2 * n];
        let place = |i: usize| m.free.iter().position(|&f| f == i);
        match direction {
            Direction::Coordinate(i) => place(i).into_iter().for_each(|k| column[k] = 1.0),
            Direction::Velocity(i) => place(i).into_iter().for_each(|k| column[n + k] = 1.0),
            Direction::Restitution(_) => {}
            Direction::Parameter(_) => {
                let value_of = |name: &str| self.parameter_value(name);
                for &(symbol, formula) in &m.model.start_formulas {
                    let Some(k) = self.program.state[..2 * n].iter().position(|&x| x == symbol) else {
                        continue;
                    };
                    self.program.with_dag(|dag| {
                        let names = |dag: &carom_expr::Dag, s| dag.symbol_name(s).to_owned();
                        // A start that was given another value than the formula's is a number.
                        if dag.evaluate(formula, |s| value_of(&names(dag, s))) != self.given_start(k) {
                            return;
                        }
                        for &(j, moved) in &seed.moved {
                            let p = &m.model.parameters[j];
                            if dag.contains(formula, p.symbol) {
                                let slope = dag.derivative(formula, p.symbol);
                                column[k] += dag.evaluate(slope, |s| value_of(&names(dag, s))) * moved;
                            }
                        }
                    });
                }
            }
        }
        column
    }

    /// The value of a parameter in this run.
    fn parameter_value(&self, name: &str) -> f64 {
        let parameters = &self.program.mechanics.model.parameters;
        let place = parameters.iter().position(|p| p.name == name);
        place.map_or(f64::NAN, |j| self.options.parameters[j])
    }

    /// The start value of state variable k as it was given; 0 if it was not.
    fn given_start(&self, k: usize) -> f64 {
        let (n, start) = (self.size(), &self.options.start);
        let i = self.program.mechanics.free[k % n];
        let list = match (k < n, self.is_hamiltonian()) {
            (true, _) => &start.position,
            (false, true) => &start.momentum,
            (false, false) => &start.velocity,
        };
        list.get(i).copied().flatten().unwrap_or(0.0)
    }

    /// What the start completes and projects moves with what was given.
    pub fn complete_start_columns(&mut self) {
        if !self.is_constrained() || self.tangent.is_none() {
            return;
        }
        let (n, m) = (self.size(), &self.program.mechanics);
        let start = &self.options.start;
        let rates = if self.is_hamiltonian() { &start.momentum } else { &start.velocity };
        let given = |list: &[Option<f64>], i: usize| list.get(i).copied().flatten().is_some();
        let free: Vec<usize> = (0..2 * n)
            .filter(|&k| {
                let i = m.free[k % n];
                if k < n { !given(&start.position, i) } else { !given(rates, i) }
            })
            .collect();
        let all: Vec<usize> = (0..2 * n).collect();
        for d in 0..self.directions() {
            // A start value that is moved is given, whatever the file says.
            let own = self.tangent.as_ref().and_then(|t| match t.result.directions[d] {
                Direction::Coordinate(i) => m.free.iter().position(|&f| f == i),
                Direction::Velocity(i) => m.free.iter().position(|&f| f == i).map(|k| n + k),
                _ => None,
            });
            let missing: Vec<usize> = free.iter().copied().filter(|&k| Some(k) != own).collect();
            if self.is_degenerate() {
                // What the conditions determine and was not given first, then the smallest change of everything.
                self.solve_conditions(&missing, d..d + 1);
                self.solve_conditions(&all, d..d + 1);
            } else if !missing.is_empty() {
                // Positions first: the rates of rows depend on them.
                self.solve_missing_column(&missing, false, d);
                self.solve_missing_column(&missing, true, d);
            }
        }
        self.project_columns();
    }

    /// Degenerate models: the variations of these variables follow the conditions, smallest change.
    fn solve_conditions(&mut self, variables: &[usize], directions: Range<usize>) {
        let gradient = self.frame.condition_gradient();
        let used: Vec<usize> =
            (0..gradient.rows).filter(|&i| variables.iter().any(|&k| gradient[(i, k)] != 0.0)).collect();
        let mut part = Matrix::zeros(used.len(), variables.len());
        for (a, &i) in used.iter().enumerate() {
            for (b, &k) in variables.iter().enumerate() {
                part[(a, b)] = gradient[(i, k)];
            }
        }
        let factored = Factored::new(&part);
        for d in directions {
            let values = self.differential_of_column(d);
            let Some(tangent) = &mut self.tangent else { return };
            let at = tangent.layout.condition;
            let target: Vec<f64> = used.iter().map(|&i| -values[at + i]).collect();
            for (&k, x) in variables.iter().zip(factored.solve(&target)) {
                tangent.columns[d][k] += x;
            }
        }
    }

    /// The variations of start values that were not given, smallest change.
    fn solve_missing_column(&mut self, free: &[usize], rates: bool, d: usize) {
        let (n, rows) = (self.size(), self.frame.rows());
        let inverse = self.is_hamiltonian().then(|| self.frame.mass());
        let free: Vec<usize> = free.iter().copied().filter(|&k| (k >= n) == rates).collect();
        let slope = |i: usize, k: usize| match (&inverse, rates) {
            (Some(h), true) => (0..n).map(|j| rows[(i, j)] * h[(j, k % n)]).sum(),
            _ => rows[(i, k % n)],
        };
        let holonomic = |i: usize| self.program.mechanics.rows[i].kind == RowKind::Holonomic;
        let used: Vec<usize> = (0..rows.rows)
            .filter(|&i| (rates || holonomic(i)) && free.iter().any(|&k| slope(i, k) != 0.0))
            .collect();
        let mut part = Matrix::zeros(used.len(), free.len());
        for (a, &i) in used.iter().enumerate() {
            for (b, &k) in free.iter().enumerate() {
                part[(a, b)] = slope(i, k);
            }
        }
        let factored = Factored::new(&part);
        let values = self.differential_of_column(d);
        let Some(tangent) = &mut self.tangent else { return };
        let at = if rates { tangent.layout.row_rate } else { tangent.layout.row_position };
        let target: Vec<f64> = used.iter().map(|&i| -values[at + i]).collect();
        for (&k, x) in free.iter().zip(factored.solve(&target)) {
            tangent.columns[d][k] += x;
        }
    }

    /// Brings the variation back onto the tangent of rows and closed walls, along with the state.
    pub fn project_columns(&mut self) {
        if self.tangent.as_ref().is_none_or(|t| !t.exists()) {
            return;
        }
        self.evaluate_frame();
        if self.is_degenerate() {
            let all: Vec<usize> = (0..2 * self.size()).collect();
            return self.solve_conditions(&all, 0..self.directions());
        }
        let (n, m) = (self.size(), self.frame.layout.rows);
        let closed: Vec<usize> =
            (0..self.contact.walls.len()).filter(|&w| self.contact.walls[w].closed).collect();
        let (kkt, all) = self.frame.kkt_with(&closed);
        for d in 0..self.directions() {
            for rates in [false, true] {
                let values = self.differential_of_column(d);
                let hamiltonian = self.is_hamiltonian();
                let Some(tangent) = &mut self.tangent else { return };
                let l = &tangent.layout;
                let (row, wall) = if rates { (l.row_rate, l.gap_rate) } else { (l.row_position, l.gap) };
                let target: Vec<f64> = (0..m)
                    .map(|r| -values[row + r])
                    .chain(closed.iter().map(|&w| -values[wall + w]))
                    .collect();
                let (shift, y) = kkt.solve(&vec![0.0; n], &target);
                let column = &mut tangent.columns[d];
                if rates && hamiltonian {
                    let momentum = all.transposed_times(&y);
                    column[n..].iter_mut().zip(&momentum).for_each(|(x, p)| *x -= p);
                } else {
                    let first = if rates { n } else { 0 };
                    column[first..first + n].iter_mut().zip(&shift).for_each(|(x, s)| *x += s);
                }
            }
        }
    }
}
