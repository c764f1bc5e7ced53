//! One model as a map: from a state, a time and parameters to the state later, with its exact derivatives.
//!
//! ```text
//! x = (q, v) or (q, p) of the free coordinates,   x(t₀ + T) = φ(x, t₀, T, p),   Φ = ∂φ/∂x,   φ_p = ∂φ/∂p at fixed x,   φ_T = f
//! ```
//!
//! f is evaluated from the equations with their linear solve K z = r, so it is exact too. Nothing here knows of orbits.

use crate::lossless::ForceTerms;
use crate::refusal::Refusal;
use carom_expr::{Dag, Expr, Symbol};
use carom_jet::dense::{Factored, Matrix};
use carom_jet::values::Evaluator;
use carom_mech::mechanics::Dynamics;
use carom_mech::{Mechanics, state_space};
use carom_run::{Direction, Motion, NotDifferentiable, Options, Program, Sampling, Side, Simulator};

/// A quantity that the motion conserves.
#[derive(Clone, Debug)]
pub struct Invariant {
    /// Its name in results.
    pub name: String,
    /// Its formula, in the symbols of the state, in the model's DAG.
    pub formula: Expr,
}

/// A model whose motions are asked about.
pub struct Subject<'a> {
    /// Its equations.
    pub mechanics: &'a Mechanics,
    program: &'a Program,
    simulator: Simulator<'a>,
    /// What every motion is simulated with, but for start and end.
    pub options: Options,
    directions: Vec<Direction>,
    pub(crate) hamiltonian: bool,
    rates: RateEquations,
    forces: ForceTerms,
    tell: &'a mut dyn FnMut() -> bool,
}

/// A motion from a state, with its derivatives.
#[derive(Clone, Debug)]
pub struct Shot {
    /// Where it began: the given state, projected onto the constraints.
    pub start: Vec<f64>,
    /// ∂ of that with respect to the given state: 1 without constraints.
    pub projector: Matrix,
    /// The state at the end.
    pub end: Vec<f64>,
    /// Φ
    pub phi: Matrix,
    /// φ_p at fixed start; zeros if no parameter is varied.
    pub by_parameter: Vec<f64>,
    /// The motion, without samples but for its ends.
    pub motion: Motion,
    /// Where there is no derivative.
    pub obstacle: Option<NotDifferentiable>,
}

impl<'a> Subject<'a> {
    /// Asks about this model, with the settings of `options`. `tell` is asked now and then whether to go on.
    ///
    /// # Errors
    /// For models whose state cannot be set freely: degenerate Lagrangians.
    pub fn new(
        program: &'a Program,
        mechanics: &'a Mechanics,
        options: &Options,
        tell: &'a mut dyn FnMut() -> bool,
    ) -> Result<Subject<'a>, Refusal> {
        if matches!(mechanics.dynamics, Dynamics::Degenerate(_)) {
            return Err(Refusal::wrong(
                "the Lagrangian of this model is degenerate: its state has hidden conditions, and return maps of such models are not known to carom",
                "give every coordinate an inertia, or write the model in coordinates without hidden conditions",
            ));
        }
        if mechanics.free.is_empty() {
            return Err(Refusal::wrong(
                "every coordinate of this model is driven: nothing is free to return",
                "leave a coordinate out of [driven]",
            ));
        }
        let hamiltonian = matches!(mechanics.dynamics, Dynamics::Hamiltonian(_));
        let mut options = options.clone();
        options.sensitivity = false;
        options.dense = false;
        Ok(Subject {
            mechanics,
            program,
            simulator: Simulator::new(program),
            options,
            directions: Direction::starts(mechanics),
            hamiltonian,
            rates: RateEquations::new(mechanics),
            forces: ForceTerms::new(mechanics),
            tell,
        })
    }

    /// Forces outside of the Lagrangian.
    pub(crate) fn forces(&self) -> &ForceTerms {
        &self.forces
    }

    /// Number of state variables.
    pub fn size(&self) -> usize {
        self.directions.len()
    }

    /// Their names: `x`, `x'` or the momentum's.
    pub fn names(&self) -> Vec<String> {
        self.directions.iter().map(|d| d.name(self.mechanics)).collect()
    }

    /// The model's own start as a state; dependent values are completed as a simulation does.
    ///
    /// # Errors
    /// If nothing can be simulated from there.
    pub fn own_start(&mut self) -> Result<Vec<f64>, Refusal> {
        self.own_start_with(&self.options.parameters.clone())
    }

    /// The same with other parameter values.
    ///
    /// # Errors
    /// If nothing can be simulated from there.
    pub fn own_start_with(&mut self, parameters: &[f64]) -> Result<Vec<f64>, Refusal> {
        let mut options = self.options.clone();
        options.parameters = parameters.to_vec();
        options.until = options.start.time;
        options.sampling = Sampling::At(vec![options.start.time]);
        let motion = self.simulate(&options)?;
        Ok(self.sampled(&motion, 0))
    }

    /// The parameter values when one of them is changed: those that are formulas of it follow.
    pub fn parameters_with(&self, changed: Option<(usize, f64)>) -> Vec<f64> {
        let model = &self.mechanics.model;
        let mut values = self.options.parameters.clone();
        let Some((index, value)) = changed else { return values };
        values[index] = value;
        let symbols: Vec<Option<Symbol>> =
            model.parameters.iter().map(|p| model.dag.as_symbol(p.symbol)).collect();
        // Formulas in any order: as many passes as there are parameters settle every chain of them.
        for _ in 0..values.len() {
            let before = values.clone();
            for (i, parameter) in model.parameters.iter().enumerate() {
                let constant = model.dag.symbols_in(&[parameter.formula]).is_empty();
                if i != index && !constant {
                    let of = |s: Symbol| {
                        symbols.iter().position(|known| *known == Some(s)).map_or(0.0, |k| before[k])
                    };
                    values[i] = model.dag.evaluate(parameter.formula, of);
                }
            }
            if values == before {
                break;
            }
        }
        values
    }

    /// The value of a formula of parameters, and its derivative by a parameter that is varied.
    pub fn of_parameters(
        &self,
        dag: &Dag,
        formula: Expr,
        parameters: &[f64],
        vary: Option<usize>,
    ) -> (f64, f64) {
        let model = &self.mechanics.model;
        let index = |s: Symbol| model.parameters.iter().position(|p| dag.as_symbol(p.symbol) == Some(s));
        let value = |e: Expr, dag: &Dag| dag.evaluate(e, |s| index(s).map_or(f64::NAN, |k| parameters[k]));
        let mut own = dag.clone();
        let slope = vary.map_or(0.0, |k| {
            // The chain rule through parameters that are formulas of the varied one.
            let inserted = self.inserted(&mut own, formula, k);
            let d = own.derivative(inserted, model.parameters[k].symbol);
            value(d, &own)
        });
        (value(formula, dag), slope)
    }

    /// The formula with every parameter that depends on parameter `k` replaced by its formula.
    fn inserted(&self, dag: &mut Dag, formula: Expr, k: usize) -> Expr {
        let parameters = &self.mechanics.model.parameters;
        let mut e = formula;
        for _ in 0..parameters.len() {
            let replacements: Vec<(Expr, Expr)> = parameters
                .iter()
                .enumerate()
                .filter(|(i, p)| *i != k && !dag.symbols_in(&[p.formula]).is_empty())
                .map(|(_, p)| (p.symbol, p.formula))
                .collect();
            let next = dag.substitute(e, &replacements);
            if next == e {
                break;
            }
            e = next;
        }
        e
    }

    /// f(x, t): the rate of the state off every wall.
    pub fn rate(&self, x: &[f64], time: f64, parameters: &[f64]) -> Vec<f64> {
        self.rates.at(x, time, parameters)
    }

    /// The value of a formula of state, time and parameters.
    pub fn value(&self, formula: Expr, x: &[f64], time: f64, parameters: &[f64]) -> f64 {
        let symbols = self.symbol_values(x, time, parameters);
        self.mechanics.model.dag.evaluate(formula, |s| symbols[s.index()])
    }

    /// The same for a formula of a DAG that has grown out of the model's.
    pub(crate) fn value_in(&self, dag: &Dag, formula: Expr, x: &[f64], time: f64, parameters: &[f64]) -> f64 {
        let symbols = self.symbol_values(x, time, parameters);
        dag.evaluate(formula, |s| symbols.get(s.index()).copied().unwrap_or(0.0))
    }

    /// Several at once.
    pub(crate) fn values_in(
        &self,
        dag: &Dag,
        formulas: &[Expr],
        x: &[f64],
        time: f64,
        parameters: &[f64],
    ) -> Vec<f64> {
        let symbols = self.symbol_values(x, time, parameters);
        dag.evaluate_all(formulas, |s| symbols.get(s.index()).copied().unwrap_or(0.0))
    }

    /// The value of a formula and its gradient with respect to the state.
    pub fn gradient(&self, formula: Expr, x: &[f64], time: f64, parameters: &[f64]) -> (f64, Vec<f64>) {
        self.gradient_in(&self.mechanics.model.dag, formula, x, time, parameters)
    }

    /// The same for a formula of a DAG that has grown out of the model's.
    pub(crate) fn gradient_in(
        &self,
        dag: &Dag,
        formula: Expr,
        x: &[f64],
        time: f64,
        parameters: &[f64],
    ) -> (f64, Vec<f64>) {
        let mut dag = dag.clone();
        let state = self.state_symbols();
        let mut all = vec![formula];
        all.extend(state.iter().map(|&s| dag.derivative(formula, s)));
        let symbols = self.symbol_values(x, time, parameters);
        let values = dag.evaluate_all(&all, |s| symbols.get(s.index()).copied().unwrap_or(0.0));
        (values[0], values[1..].to_vec())
    }

    pub(crate) fn state_symbols(&self) -> Vec<Expr> {
        let model = &self.mechanics.model;
        let free = || self.mechanics.free.iter().map(|&i| &model.coordinates[i]);
        let rates = free().map(|c| if self.hamiltonian { c.momentum } else { c.velocity });
        free().map(|c| c.position).chain(rates).collect()
    }

    fn symbol_values(&self, x: &[f64], time: f64, parameters: &[f64]) -> Vec<f64> {
        let model = &self.mechanics.model;
        let mut values = vec![0.0; model.dag.symbol_count()];
        let mut put = |e: Expr, v: f64| {
            if let Some(s) = model.dag.as_symbol(e) {
                values[s.index()] = v;
            }
        };
        model.parameters.iter().zip(parameters).for_each(|(p, &v)| put(p.symbol, v));
        put(model.time, time);
        self.state_symbols().into_iter().zip(x).for_each(|(s, &v)| put(s, v));
        values
    }

    /// Options of a motion from a state.
    pub fn options_from(&self, x: &[f64], time: f64, until: f64, parameters: &[f64]) -> Options {
        let mut options = self.options.clone();
        let n = self.mechanics.free.len();
        options.parameters = parameters.to_vec();
        options.start.time = time;
        let count = options.start.position.len();
        (options.start.position, options.start.velocity, options.start.momentum) =
            (vec![None; count], vec![None; count], vec![None; count]);
        for (k, &i) in self.mechanics.free.iter().enumerate() {
            options.start.position[i] = Some(x[k]);
            let rates =
                if self.hamiltonian { &mut options.start.momentum } else { &mut options.start.velocity };
            rates[i] = Some(x[n + k]);
        }
        options.start.project = !self.mechanics.rows.is_empty();
        options.until = until;
        options.sampling = Sampling::At(vec![time, until]);
        options
    }

    /// The state of a sample.
    pub fn sampled(&self, motion: &Motion, k: usize) -> Vec<f64> {
        let rates = if self.hamiltonian { &motion.momentum } else { &motion.velocity };
        let free = &self.mechanics.free;
        let positions = free.iter().map(|&i| motion.position[i].values[k]);
        positions.chain(free.iter().map(|&i| rates[i].values[k])).collect()
    }

    /// A state from all positions and velocities; `None` where momenta are needed.
    pub fn state_of(&self, position: &[f64], velocity: &[f64]) -> Option<Vec<f64>> {
        let free = &self.mechanics.free;
        (!self.hamiltonian)
            .then(|| free.iter().map(|&i| position[i]).chain(free.iter().map(|&i| velocity[i])).collect())
    }

    /// Simulates; a motion that ends early is a refusal that says why.
    pub fn simulate(&mut self, options: &Options) -> Result<Motion, Refusal> {
        let tell = &mut self.tell;
        let motion = self.simulator.simulate_with(options, &mut |_| tell()).map_err(|error| {
            Refusal::unanswered(
                format!("nothing can be simulated from this state: {error}"),
                error.hint().unwrap_or("change the start"),
            )
        })?;
        if !motion.stop.reason.is_complete() {
            let detail = motion.stop.detail.as_ref().map_or(String::new(), |d| format!(" ({d})"));
            let way_out = motion.stop.reason.way_out();
            return Err(Refusal::unanswered(
                format!(
                    "the motion ends early, at t = {}: {}{detail}",
                    motion.stop.time,
                    motion.stop.reason.name()
                ),
                if way_out.is_empty() { "ask again" } else { way_out },
            ));
        }
        Ok(motion)
    }

    /// Should the work go on?
    pub fn go_on(&mut self) -> bool {
        (self.tell)()
    }

    /// The motion from x at t over a duration, with derivatives by the start and by a parameter.
    ///
    /// # Errors
    /// If the motion ends early.
    pub fn shoot(
        &mut self,
        x: &[f64],
        time: f64,
        duration: f64,
        parameters: &[f64],
        vary: Option<usize>,
    ) -> Result<Shot, Refusal> {
        let mut options = self.options_from(x, time, time + duration, parameters);
        options.directions = self.directions.clone();
        options.directions.extend(vary.map(Direction::Parameter));
        let mut motion = self.simulate(&options)?;
        let n = self.size();
        let (start, end) = (self.sampled(&motion, 0), self.sampled(&motion, 1));
        let Some(variation) = motion.variation.take() else {
            return Err(Refusal::unanswered(
                "the motion has no derivatives with this method",
                "use method = \"taylor\", the default",
            ));
        };
        let part = |m: &Matrix| {
            let mut square = Matrix::zeros(n, n);
            (0..n).for_each(|i| (0..n).for_each(|j| square[(i, j)] = m[(i, j)]));
            square
        };
        let (phi, projector) = (part(&variation.end), part(&variation.start));
        // The start is held: what the parameter does to it by its formula is taken away again.
        let by_parameter = match vary {
            Some(_) => {
                let own: Vec<f64> = (0..n).map(|i| variation.start[(i, n)]).collect();
                let through = phi.times(&own);
                (0..n).map(|i| variation.end[(i, n)] - through[i]).collect()
            }
            None => vec![0.0; n],
        };
        let obstacle = variation.not_differentiable.clone();
        Ok(Shot { start, projector, end, phi, by_parameter, motion, obstacle })
    }

    /// The motion of one piece of an orbit with every step kept, for reading between its events.
    pub fn read(&mut self, motion: &Motion, time: f64, side: Side) -> Option<Vec<f64>> {
        self.simulator.read(motion.dense.as_ref()?, time, side)
    }

    /// The program.
    pub fn program(&self) -> &'a Program {
        self.program
    }
}

/// f from K(x) z = r(x): residual and rates compiled once.
struct RateEquations {
    evaluator: Evaluator,
    /// Per slot of the evaluator: where its value comes from.
    sources: Vec<SlotSource>,
    residual: Vec<usize>,
    /// ∂ residual/∂ unknown, row by row.
    slopes: Vec<Vec<usize>>,
    rates: Vec<usize>,
}

#[derive(Clone, Copy)]
enum SlotSource {
    Time,
    State(usize),
    Parameter(usize),
    Unknown(usize),
    Nothing,
}

impl RateEquations {
    fn new(mechanics: &Mechanics) -> RateEquations {
        let mut dag = mechanics.model.dag.clone();
        let space = state_space(mechanics, &mut dag);
        let mut evaluator = Evaluator::default();
        let residual: Vec<usize> = space.residual.iter().map(|&e| evaluator.add(&dag, e)).collect();
        let slopes = space
            .residual
            .iter()
            .map(|&e| {
                let row: Vec<Expr> = space.unknowns.iter().map(|&z| dag.derivative(e, z)).collect();
                row.into_iter().map(|d| evaluator.add(&dag, d)).collect()
            })
            .collect();
        let rates = space.rate.iter().map(|&e| evaluator.add(&dag, e)).collect();
        let place = |all: &[Expr], s: Symbol| all.iter().position(|&e| dag.as_symbol(e) == Some(s));
        let parameters: Vec<Expr> = mechanics.model.parameters.iter().map(|p| p.symbol).collect();
        let sources = evaluator
            .symbols()
            .iter()
            .map(|&s| {
                if let Some(i) = place(&space.state, s) {
                    SlotSource::State(i)
                } else if let Some(i) = place(&space.unknowns, s) {
                    SlotSource::Unknown(i)
                } else if let Some(i) = place(&parameters, s) {
                    SlotSource::Parameter(i)
                } else if dag.as_symbol(mechanics.model.time) == Some(s) {
                    SlotSource::Time
                } else {
                    SlotSource::Nothing
                }
            })
            .collect();
        RateEquations { evaluator, sources, residual, slopes, rates }
    }

    fn at(&self, x: &[f64], time: f64, parameters: &[f64]) -> Vec<f64> {
        let count = self.slopes.first().map_or(0, Vec::len);
        let values = |z: &[f64]| {
            let mut values = Vec::new();
            self.evaluator.evaluate(&mut values, |slot| match self.sources[slot] {
                SlotSource::Time => time,
                SlotSource::State(i) => x[i],
                SlotSource::Parameter(i) => parameters[i],
                SlotSource::Unknown(i) => z[i],
                SlotSource::Nothing => 0.0,
            });
            values
        };
        let first = values(&vec![0.0; count]);
        let mut k = Matrix::zeros(self.slopes.len(), count);
        for (i, row) in self.slopes.iter().enumerate() {
            row.iter().enumerate().for_each(|(j, &at)| k[(i, j)] = first[at]);
        }
        let right: Vec<f64> = self.residual.iter().map(|&at| -first[at]).collect();
        let all = values(&Factored::new(&k).solve(&right));
        self.rates.iter().map(|&at| all[at]).collect()
    }
}
