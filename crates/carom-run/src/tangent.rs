//! The variational equations of a leg, and the differentials of what the laws need.
//!
//! ```text
//! ẋ = f(x, u, t, θ),   M u = r                 M δu = Σ_k ∂(r − M u)/∂x_k δx_k + ∂(r − M u)/∂θ δθ
//!                                              δẋ = f_x δx + f_u δu + f_θ δθ
//! ```
//!
//! The slopes ∂(r − M u)/∂x_k are quantities of the base motion: they are computed once and serve all directions, whose
//! equations then have one shape and are evaluated side by side. The base motion is carried along in the same tape, so that
//! the tape of the motion itself, and with it every bit of the motion, does not know of this.

use crate::adjoint_tape::AdjointTapes;
use crate::program::{LegKey, Program};
use carom_expr::{Dag, Expr, Rational};
use carom_jet::{CompileError, Flow, LinearBlock, System, Tape};
use std::collections::BTreeMap;
use std::sync::PoisonError;

/// Which parameters move in a direction: their place, and whether they move by exactly 1 (otherwise by a number that is a
/// parameter of the tape).
pub(crate) type Moved = Vec<(usize, bool)>;

/// What distinguishes one tape of variations from another.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct TangentKey {
    pub leg: LegKey,
    pub order: usize,
    pub directions: Vec<Moved>,
}

/// Tapes of variations and adjoints made so far.
#[derive(Debug, Default)]
pub(crate) struct Variations {
    tangents: BTreeMap<TangentKey, Flow>,
    differential: Option<(Flow, DifferentialLayout)>,
    pub adjoints: AdjointTapes,
}

impl Variations {
    /// Other instructions: what is code is made anew.
    pub fn clear(&mut self) {
        *self = Variations::default();
    }

    /// All workspaces made so far.
    pub fn flows(&self) -> impl Iterator<Item = &Flow> {
        let differential = self.differential.iter().map(|(flow, _)| flow);
        self.tangents.values().chain(differential).chain(self.adjoints.flows())
    }
}

/// c·x for a slope that may be zero, a number or a quantity.
struct Slopes<'d> {
    dag: &'d mut Dag,
    definitions: Vec<(Expr, Expr)>,
}

impl Slopes<'_> {
    /// ∂e/∂x as a symbol of its own, unless it is a number; `None` where it vanishes.
    fn slope(&mut self, e: Expr, x: Expr) -> Option<Expr> {
        let slope = self.dag.derivative(e, x);
        if self.dag.is_zero(slope) {
            return None;
        }
        if self.dag.as_number(slope).is_some() || self.dag.as_symbol(slope).is_some() {
            return Some(slope);
        }
        if let Some(&(symbol, _)) = self.definitions.iter().find(|d| d.1 == slope) {
            return Some(symbol);
        }
        let symbol = self.dag.symbol(&format!("slope {}", self.definitions.len()));
        self.definitions.push((symbol, slope));
        Some(symbol)
    }
}

impl Program {
    /// Works on the expressions that equations are made of.
    pub(crate) fn with_dag<T>(&self, work: impl FnOnce(&mut Dag) -> T) -> T {
        work(&mut self.legs.lock().unwrap_or_else(PoisonError::into_inner).dag)
    }

    /// A copy of the workspace for these variations, made on first use.
    fn kept_tangent(
        &self,
        key: &TangentKey,
        make: impl FnOnce(&mut Dag) -> Result<Flow, CompileError>,
    ) -> Result<Flow, CompileError> {
        let mut legs = self.legs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(flow) = legs.variations.tangents.get(key) {
            return Ok(flow.clone());
        }
        let flow = make(&mut legs.dag)?;
        legs.variations.tangents.insert(key.clone(), flow.clone());
        Ok(flow)
    }

    /// A workspace for variations in these directions during a leg; tape and code are made on first use.
    pub(crate) fn tangent_workspace(&self, key: &TangentKey) -> Result<Flow, CompileError> {
        self.kept_tangent(key, |dag| {
            let system = self.tangent_system(dag, &key.leg, &key.directions)?;
            Ok(Flow::new(Tape::compile(dag, &system)?, key.order).with(self.level()))
        })
    }

    /// The base system without what is only watched, and the variational equations.
    fn tangent_system(
        &self,
        dag: &mut Dag,
        key: &LegKey,
        directions: &[Moved],
    ) -> Result<System, CompileError> {
        let mut system = self.system(dag, key)?;
        (system.watched, system.monitored) = (Vec::new(), Vec::new());
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
        // r − M u, the unknowns as symbols.
        let residual: Vec<Expr> = (0..m)
            .map(|i| {
                let mut terms = vec![(Rational::ONE, right_side[i])];
                for (&w, &u) in matrix[i].iter().zip(&unknowns) {
                    let product = dag.mul(w, u);
                    terms.push((Rational::MINUS_ONE, product));
                }
                dag.linear(Rational::ZERO, &terms)
            })
            .collect();
        let names: Vec<Vec<Expr>> = (0..directions.len())
            .map(|d| (0..size).map(|i| dag.symbol(&format!("variation {d} of state {i}"))).collect())
            .collect();
        let solved: Vec<Vec<Expr>> = (0..directions.len())
            .map(|d| (0..m).map(|j| dag.symbol(&format!("variation {d} of unknown {j}"))).collect())
            .collect();
        let parameters: Vec<Expr> = self.mechanics.model.parameters.iter().map(|p| p.symbol).collect();
        let mut slopes = Slopes { dag, definitions: Vec::new() };
        let varied = |slopes: &mut Slopes<'_>, e: Expr, through: bool, d: usize| {
            let mut terms: Vec<Expr> = Vec::new();
            let inner = x.iter().zip(&names[d]);
            let solution = unknowns.iter().zip(&solved[d]).filter(|_| through);
            for (&symbol, &variation) in inner.chain(solution) {
                if let Some(slope) = slopes.slope(e, symbol) {
                    terms.push(slopes.dag.mul(slope, variation));
                }
            }
            for &(j, unit) in &directions[d] {
                let Some(mut slope) = slopes.slope(e, parameters[j]) else { continue };
                if !unit {
                    let seed = seed_symbol(slopes.dag, d, j);
                    slope = slopes.dag.mul(seed, slope);
                }
                terms.push(slope);
            }
            slopes.dag.sum(&terms)
        };
        let mut block = LinearBlock {
            unknowns: solved.concat(),
            matrix: Vec::new(),
            right_side: Vec::new(),
            names: Vec::new(),
            augmentation_rows: Vec::new(),
            definitions: Vec::new(),
        };
        let zero = slopes.dag.zero();
        for d in 0..directions.len() {
            for i in 0..m {
                let mut row = vec![zero; m * directions.len()];
                row[d * m..(d + 1) * m].copy_from_slice(&matrix[i]);
                block.matrix.push(row);
                block.right_side.push(varied(&mut slopes, residual[i], false, d));
            }
            for i in 0..size {
                system.rate.push(varied(&mut slopes, rate[i], true, d));
                system.state.push(names[d][i]);
            }
            for &(j, unit) in &directions[d] {
                if !unit {
                    system.parameters.push(seed_symbol(slopes.dag, d, j));
                }
            }
        }
        block.definitions = slopes.definitions;
        if let Some(base) = base {
            for d in 0..directions.len() {
                block.augmentation_rows.extend(base.augmentation_rows.iter().map(|r| d * m + r));
                block.names.extend(base.names.iter().cloned());
            }
            system.blocks.push(base);
        }
        system.blocks.push(block);
        Ok(system)
    }

    /// What the laws need, differentiated along a direction (ξ, ξ_t, ξ_θ) whose components are inputs.
    pub(crate) fn differential_workspace(&self) -> Result<(Flow, DifferentialLayout), CompileError> {
        let kept = self.legs.lock().unwrap_or_else(PoisonError::into_inner).variations.differential.clone();
        if let Some(kept) = kept {
            return Ok(kept);
        }
        let (layout, watched) = DifferentialLayout::of(self);
        let size = 2 * self.size();
        let flow = self.with_dag(|dag| {
            let time = self.mechanics.model.time;
            let mut along: Vec<Expr> = self.state[..size].to_vec();
            along.push(time);
            along.extend(self.mechanics.model.parameters.iter().map(|p| p.symbol));
            let seeds: Vec<Expr> = (0..along.len()).map(|i| dag.symbol(&format!("along {i}"))).collect();
            let differentials = watched
                .iter()
                .map(|&e| {
                    let mut terms = Vec::new();
                    for (&x, &seed) in along.iter().zip(&seeds) {
                        let slope = dag.derivative(e, x);
                        if !dag.is_zero(slope) {
                            terms.push(dag.mul(slope, seed));
                        }
                    }
                    dag.sum(&terms)
                })
                .collect();
            let mut state = self.state.clone();
            state.extend(&seeds);
            let system = System {
                time,
                parameters: self.parameters.clone(),
                state,
                rate: Vec::new(),
                blocks: Vec::new(),
                watched: differentials,
                monitored: Vec::new(),
            };
            Tape::compile(dag, &system).map(|tape| Flow::new(tape, 1).with(self.level()))
        })?;
        let made = (flow, layout);
        self.legs.lock().unwrap_or_else(PoisonError::into_inner).variations.differential = Some(made.clone());
        Ok(made)
    }
}

fn seed_symbol(dag: &mut Dag, direction: usize, parameter: usize) -> Expr {
    dag.symbol(&format!("variation {direction} of parameter {parameter}"))
}

/// Where each differential sits.
#[derive(Clone, Debug, Default)]
pub(crate) struct DifferentialLayout {
    pub rows: usize,
    pub mass: usize,
    pub row_normal: usize,
    pub row_drift: usize,
    pub row_position: usize,
    pub row_rate: usize,
    pub normal: usize,
    pub gap_t: usize,
    pub gap: usize,
    pub gap_rate: usize,
    pub momentum: usize,
    pub energy: usize,
    pub force: usize,
    pub row_bias: usize,
    pub wall_bias: usize,
    pub condition: usize,
    pub restitution: usize,
    pub surface: usize,
    pub when: usize,
    /// Per event, of its reset values.
    pub set: Vec<usize>,
}

impl DifferentialLayout {
    pub fn of(program: &Program) -> (DifferentialLayout, Vec<Expr>) {
        let (m, f) = (&program.mechanics, &program.layout);
        let (n, rows, walls) = (f.n, f.rows, m.walls.len());
        let mut out: Vec<Expr> = Vec::new();
        let mut put = |list: &[Expr]| {
            out.extend_from_slice(list);
            out.len() - list.len()
        };
        let frame = |at: usize, count: usize| &program.values[at..at + count];
        let layout = DifferentialLayout {
            rows,
            mass: put(frame(f.mass, n * n)),
            row_normal: put(frame(f.row_normal, rows * n)),
            row_drift: put(frame(f.row_drift, rows)),
            row_position: put(frame(f.row_position, rows)),
            row_rate: put(frame(f.row_rate, rows)),
            normal: put(frame(f.normal, walls * n)),
            gap_t: put(frame(f.gap_t, walls)),
            gap: put(frame(f.gap, walls)),
            gap_rate: put(frame(f.gap_rate, walls)),
            momentum: put(frame(f.momentum, n)),
            energy: put(frame(f.energy, 1)),
            force: put(frame(f.force, n)),
            row_bias: put(frame(f.row_bias, rows)),
            wall_bias: put(frame(f.wall_bias, walls)),
            condition: put(frame(f.condition, f.conditions)),
            restitution: put(&m.walls.iter().map(|w| w.restitution).collect::<Vec<_>>()),
            surface: put(&program.surfaces.iter().map(|s| s.value).collect::<Vec<_>>()),
            when: put(&m.events.iter().map(|e| e.when).collect::<Vec<_>>()),
            set: m.events.iter().map(|e| put(&e.set.iter().map(|s| s.1).collect::<Vec<_>>())).collect(),
        };
        (layout, out)
    }
}
