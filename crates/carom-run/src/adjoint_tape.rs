//! What the adjoint equations are compiled to.
//!
//! ```text
//! 𝓗 = ψ·ẋ(x, u, t, θ) + λ·(r − M u)          Mᵀ λ = (∂ẋ/∂u)ᵀ ψ,      ψ̇ = −∂𝓗/∂x,      dJ/dθ = ∫ ∂𝓗/∂θ dt + …
//! ```
//!
//! All slopes come from reverse mode on the expressions ([`carom_expr::Pullback`]), so that their cost is a multiple of the
//! equations' own, not of the number of θ. ∂𝓗/∂θ is not a series: it is evaluated where quadrature asks for it.

use crate::gradient::Observable;
use crate::program::{LegKey, Program};
use crate::tangent::DifferentialLayout;
use carom_expr::{Dag, Expr, Pullback};
use carom_jet::{CompileError, Flow, LinearBlock, System, Tape};
use std::collections::BTreeSet;
use std::sync::PoisonError;

/// What distinguishes one adjoint tape from another: the leg, the order, the parameters that matter.
pub(crate) type AdjointKey = (LegKey, usize, Vec<usize>);

/// The workspaces of the adjoint during one kind of leg.
#[derive(Clone, Debug)]
pub(crate) struct AdjointFlow {
    /// State (x, ψ); watched: u, then λ.
    pub motion: Flow,
    /// State (x, u, ψ, λ); watched: ∂𝓗/∂θ of the parameters listed.
    pub slopes: Flow,
    pub parameters: Vec<usize>,
    /// What ∂𝓗/∂θ depends on: places among the inputs of `slopes`, each with the state variable or watched function of `motion` it is.
    pub needed: Vec<(usize, AdjointSeries)>,
    /// The values of parameters it was given last.
    given: Vec<f64>,
}

/// A series of the adjoint motion.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AdjointSeries {
    State(usize),
    Watched(usize),
}

impl AdjointFlow {
    pub fn set_parameters(&mut self, parameters: &[f64]) {
        if self.given != parameters {
            self.given = parameters.to_vec();
            self.motion.set_parameters(parameters);
            self.slopes.set_parameters(parameters);
        }
    }
}

/// What the transposed laws need: Σ w_i value_i differentiated by state, time and parameters; the weights are inputs.
#[derive(Clone, Debug)]
pub(crate) struct Codifferential {
    pub flow: Flow,
    /// How many weights there are.
    pub weights: usize,
    /// The values of parameters it was given last.
    pub given: Vec<f64>,
}

/// Tapes of adjoints made so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct AdjointTapes {
    legs: std::collections::BTreeMap<AdjointKey, AdjointFlow>,
    laws: Option<(Vec<usize>, Codifferential)>,
    /// By the signals and the parameters that matter: the last one.
    observed: Option<(Vec<Observable>, Vec<usize>, Flow)>,
}

impl AdjointTapes {
    /// All workspaces made so far.
    pub fn flows(&self) -> impl Iterator<Item = &Flow> {
        let legs = self.legs.values().flat_map(|leg| [&leg.motion, &leg.slopes]);
        let laws = self.laws.iter().map(|(_, laws)| &laws.flow);
        legs.chain(laws).chain(self.observed.iter().map(|(.., flow)| flow))
    }
}

/// Which inputs occur in what is watched, and where the motion has them.
fn needed_series(dag: &Dag, motion: &System, slopes: &System) -> Vec<(usize, AdjointSeries)> {
    let mut roots = slopes.watched.clone();
    roots.extend(slopes.blocks.iter().flat_map(|b| b.definitions.iter().map(|d| d.1)));
    let inside: BTreeSet<usize> = dag.symbols_in(&roots).iter().map(|s| s.index()).collect();
    let occurs = |e: Expr| dag.as_symbol(e).is_some_and(|s| inside.contains(&s.index()));
    let place = |e: Expr| {
        let state = motion.state.iter().position(|x| *x == e).map(AdjointSeries::State);
        state.or_else(|| motion.watched.iter().position(|x| *x == e).map(AdjointSeries::Watched))
    };
    let inputs = slopes.state.iter().enumerate().filter(|(_, e)| occurs(**e));
    inputs.filter_map(|(i, e)| place(*e).map(|series| (i, series))).collect()
}

/// A block that only carries definitions.
fn carrying(definitions: Vec<(Expr, Expr)>) -> LinearBlock {
    LinearBlock {
        unknowns: Vec::new(),
        matrix: Vec::new(),
        right_side: Vec::new(),
        names: Vec::new(),
        augmentation_rows: Vec::new(),
        definitions,
    }
}

impl Program {
    fn parameter_symbols(&self, wanted: &[usize]) -> Vec<Expr> {
        wanted.iter().map(|&j| self.mechanics.model.parameters[j].symbol).collect()
    }

    /// Workspaces for the adjoint during a leg; tapes and code are made on first use.
    pub(crate) fn adjoint_workspace(&self, key: &AdjointKey) -> Result<AdjointFlow, CompileError> {
        let mut legs = self.legs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = legs.variations.adjoints.legs.get(key) {
            return Ok(kept.clone());
        }
        let dag = &mut legs.dag;
        let (motion, slopes, moving) = self.adjoint_systems(dag, &key.0, &key.2)?;
        let needed = needed_series(dag, &motion, &slopes);
        let motion = Flow::new(Tape::compile(dag, &motion)?, key.1).with(self.level());
        let slopes = Flow::new(Tape::compile(dag, &slopes)?, 1).with(self.level());
        let made = AdjointFlow { motion, slopes, parameters: moving, needed, given: Vec::new() };
        legs.variations.adjoints.legs.insert(key.clone(), made.clone());
        Ok(made)
    }

    /// (x, ψ) as a system; ∂𝓗/∂θ as a list of functions, with the parameters it belongs to.
    fn adjoint_systems(
        &self,
        dag: &mut Dag,
        key: &LegKey,
        wanted: &[usize],
    ) -> Result<(System, System, Vec<usize>), CompileError> {
        let mut system = self.system(dag, key)?;
        system.monitored = Vec::new();
        let size = 2 * self.size();
        system.state.truncate(size);
        system.rate.truncate(size);
        let (x, rate) = (system.state.clone(), system.rate.clone());
        let base = system.blocks.pop();
        let (unknowns, matrix, right_side) = match &base {
            Some(b) => (b.unknowns.clone(), b.matrix.clone(), b.right_side.clone()),
            None => (Vec::new(), Vec::new(), Vec::new()),
        };
        let m = unknowns.len();
        let named = |dag: &mut Dag, what: &str, count: usize| -> Vec<Expr> {
            (0..count).map(|i| dag.symbol(&format!("adjoint of {what} {i}"))).collect()
        };
        let psi = named(dag, "state", size);
        let lambda = named(dag, "equation", m);
        let mut weighted: Vec<(Expr, Expr)> = rate.iter().copied().zip(psi.iter().copied()).collect();
        let through = dag.pullback(&weighted, &unknowns, "adjoint rate");
        for i in 0..m {
            weighted.push((right_side[i], lambda[i]));
            for (&entry, &u) in matrix[i].iter().zip(&unknowns) {
                if !dag.is_zero(entry) {
                    let product = dag.mul(lambda[i], u);
                    weighted.push((entry, dag.neg(product)));
                }
            }
        }
        let by_state = dag.pullback(&weighted, &x, "adjoint");
        let parameters = self.parameter_symbols(wanted);
        let by_parameter = dag.pullback(&weighted, &parameters, "adjoint slope");
        let moving: Vec<usize> =
            (0..wanted.len()).filter(|&i| !dag.is_zero(by_parameter.slopes[i])).collect();
        let slopes = System {
            time: system.time,
            parameters: system.parameters.clone(),
            state: [&x[..], &unknowns, &psi, &lambda].concat(),
            rate: Vec::new(),
            blocks: vec![carrying(by_parameter.definitions)],
            watched: moving.iter().map(|&i| by_parameter.slopes[i]).collect(),
            monitored: Vec::new(),
        };
        system.state.extend(&psi);
        system.rate.extend(by_state.slopes.iter().map(|&s| dag.neg(s)));
        system.watched = unknowns.iter().chain(&lambda).copied().collect();
        if let Some(base) = base {
            let transposed = LinearBlock {
                unknowns: lambda,
                matrix: (0..m).map(|i| (0..m).map(|j| base.matrix[j][i]).collect()).collect(),
                right_side: through.slopes,
                names: base.names.clone(),
                augmentation_rows: base.augmentation_rows.clone(),
                definitions: through.definitions,
            };
            system.blocks.push(base);
            system.blocks.push(transposed);
        }
        system.blocks.push(carrying(by_state.definitions));
        Ok((system, slopes, moving.into_iter().map(|i| wanted[i]).collect()))
    }

    /// Functions of state and weights: the values themselves, then Σ w_i value_i differentiated by state, time if asked, and
    /// these parameters.
    fn pulled_back(&self, values: &[Expr], shown: bool, wanted: &[usize]) -> Result<Flow, CompileError> {
        let size = 2 * self.size();
        let parameters = self.parameter_symbols(wanted);
        self.with_dag(|dag| {
            let time = self.mechanics.model.time;
            let weights: Vec<Expr> = (0..values.len()).map(|i| dag.symbol(&format!("weight {i}"))).collect();
            let weighted: Vec<(Expr, Expr)> = values.iter().copied().zip(weights.iter().copied()).collect();
            let mut by = self.state[..size].to_vec();
            by.push(time);
            by.extend(parameters);
            let Pullback { definitions, slopes } = dag.pullback(&weighted, &by, "pulled back");
            let mut watched = if shown { values.to_vec() } else { Vec::new() };
            watched.extend(slopes);
            let system = System {
                time,
                parameters: self.parameters.clone(),
                state: [&self.state[..], &weights].concat(),
                rate: Vec::new(),
                blocks: vec![carrying(definitions)],
                watched,
                monitored: Vec::new(),
            };
            Tape::compile(dag, &system).map(|tape| Flow::new(tape, 1).with(self.level()))
        })
    }

    /// The transpose of [`Program::differential_workspace`].
    pub(crate) fn codifferential_workspace(&self, wanted: &[usize]) -> Result<Codifferential, CompileError> {
        let kept = self.legs.lock().unwrap_or_else(PoisonError::into_inner).variations.adjoints.laws.clone();
        if let Some((known, laws)) = kept
            && known == wanted
        {
            return Ok(laws);
        }
        let (_, values) = DifferentialLayout::of(self);
        let flow = self.pulled_back(&values, false, wanted)?;
        let made = Codifferential { flow, weights: values.len(), given: Vec::new() };
        let mut legs = self.legs.lock().unwrap_or_else(PoisonError::into_inner);
        legs.variations.adjoints.laws = Some((wanted.to_vec(), made.clone()));
        Ok(made)
    }

    /// Values of signals at a state, and their weighted sum differentiated by state, time and parameters.
    pub(crate) fn observed_workspace(
        &self,
        signals: &[Observable],
        wanted: &[usize],
    ) -> Result<Flow, CompileError> {
        let kept =
            self.legs.lock().unwrap_or_else(PoisonError::into_inner).variations.adjoints.observed.clone();
        if let Some((of, by, flow)) = kept
            && of == signals
            && by == wanted
        {
            return Ok(flow);
        }
        let values: Vec<Expr> = signals.iter().filter_map(|s| s.formula(&self.mechanics)).collect();
        let flow = self.pulled_back(&values, true, wanted)?;
        let mut legs = self.legs.lock().unwrap_or_else(PoisonError::into_inner);
        legs.variations.adjoints.observed = Some((signals.to_vec(), wanted.to_vec(), flow.clone()));
        Ok(flow)
    }
}
