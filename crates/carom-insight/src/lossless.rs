//! Motions that lose nothing: the flow keeps the symplectic form, so multipliers and exponents come in pairs, forced or not.
//!
//! ```text
//! ∂Q_i/∂v_j + ∂Q_j/∂v_i = 0,     ∂Q_i/∂q_j − ∂Q_j/∂q_i = ½ d/dt (∂Q_i/∂v_j − ∂Q_j/∂v_i)        (Helmholtz: Q belongs to a Lagrangian)
//! Q(q, v, t) − Q(q, w, t) = Q_v (v − w)                                                      (no jumps in v: sign(v) takes energy)
//! ```
//!
//! and every wall that is hit has e = 1, whether it moves or not; no contact, no reset, no nonholonomic row. For momenta: ∂Q/∂p = 0
//! and ∂Q/∂q symmetric. The conditions are asked at random states with the values of the parameters, so a damping of zero is none.

use crate::subject::Subject;
use carom_expr::{Dag, Expr, Random, Symbol};
use carom_mech::Mechanics;
use carom_mech::mechanics::Dynamics;
use carom_mech::model::{Action, RowKind};
use carom_run::Motion;

/// States at which a condition is asked for.
const STATES: usize = 8;
/// Cancellation that is rounding, relative to what cancels.
const ROUNDING: f64 = 1e-12;

/// Forces outside of the Lagrangian, with the derivatives that say whether they take or give energy.
pub(crate) struct ForceTerms {
    dag: Dag,
    /// Q
    force: Vec<Expr>,
    /// ∂Q_i/∂v_j (∂Q_i/∂p_j), ∂Q_i/∂q_j, d/dt ∂Q_i/∂v_j, row by row.
    by_rate: Vec<Expr>,
    by_position: Vec<Expr>,
    change: Vec<Expr>,
    /// Q·v − ∂L/∂t, and the velocities.
    power: Expr,
    velocity: Vec<Expr>,
    hamiltonian: bool,
}

impl ForceTerms {
    pub fn new(mechanics: &Mechanics) -> ForceTerms {
        let model = &mechanics.model;
        let mut dag = model.dag.clone();
        let hamiltonian = matches!(mechanics.dynamics, Dynamics::Hamiltonian(_));
        let force = match &mechanics.dynamics {
            Dynamics::Lagrangian(l) => l.generalized_force.clone(),
            Dynamics::Hamiltonian(h) => h.generalized_force.clone(),
            Dynamics::Degenerate(d) => d.lagrangian.generalized_force.clone(),
        };
        let free: Vec<_> = mechanics.free.iter().map(|&i| &model.coordinates[i]).collect();
        let (mut by_rate, mut by_position, mut change) = (Vec::new(), Vec::new(), Vec::new());
        let none = force.iter().all(|&q| dag.is_zero(q));
        let velocity = mechanics.free.iter().map(|&i| mechanics.velocities[i]).collect();
        if none {
            let force = Vec::new();
            let power = mechanics.power;
            return ForceTerms { dag, force, by_rate, by_position, change, power, velocity, hamiltonian };
        }
        // What every symbol becomes by d/dt, along any motion.
        let mut rates: Vec<(Expr, Expr)> = vec![(model.time, dag.one())];
        for c in &free {
            rates.extend([(c.position, c.velocity), (c.velocity, c.acceleration)]);
        }
        rates.extend(model.inputs.iter().flat_map(|u| [(u.value, u.rate), (u.rate, u.second)]));
        for &q in &force {
            for c in &free {
                let slope = dag.derivative(q, if hamiltonian { c.momentum } else { c.velocity });
                by_rate.push(slope);
                by_position.push(dag.derivative(q, c.position));
                let terms: Vec<Expr> = rates
                    .iter()
                    .map(|&(symbol, rate)| {
                        let by = dag.derivative(slope, symbol);
                        dag.mul(by, rate)
                    })
                    .collect();
                change.push(dag.sum(&terms));
            }
        }
        ForceTerms { dag, force, by_rate, by_position, change, power: mechanics.power, velocity, hamiltonian }
    }

    /// Values of all formulas at random states, `each` given those at one: the symbols' own values too.
    fn at_random(
        &self,
        mechanics: &Mechanics,
        parameters: &[f64],
        mut each: impl FnMut(&[f64], &[f64]) -> bool,
    ) -> bool {
        let mut random = Random(7);
        let mut asked = 0;
        for _ in 0..4 * STATES {
            let (here, there) = (self.symbols(mechanics, parameters, &mut random, None), random.word());
            // The same state with another velocity.
            let moved = self.symbols(mechanics, parameters, &mut Random(there), Some(&here));
            if self.force.iter().any(|&q| !self.value(q, &here).is_finite()) {
                continue;
            }
            asked += 1;
            if !each(&here, &moved) {
                return false;
            }
            if asked == STATES {
                break;
            }
        }
        asked > 0
    }

    /// A value for every symbol: random, but for parameters; with `like`, only the velocities are new.
    fn symbols(
        &self,
        mechanics: &Mechanics,
        parameters: &[f64],
        random: &mut Random,
        like: Option<&[f64]>,
    ) -> Vec<f64> {
        let model = &mechanics.model;
        let mut values: Vec<f64> = (0..self.dag.symbol_count()).map(|_| random.symmetric()).collect();
        if let Some(like) = like {
            let fresh = values.clone();
            values.copy_from_slice(like);
            for c in &model.coordinates {
                if let Some(s) = self.dag.as_symbol(c.velocity) {
                    values[s.index()] = fresh[s.index()];
                }
            }
        }
        for (p, &value) in model.parameters.iter().zip(parameters) {
            if let Some(s) = self.dag.as_symbol(p.symbol) {
                values[s.index()] = value;
            }
        }
        values
    }

    fn value(&self, e: Expr, symbols: &[f64]) -> f64 {
        self.dag.evaluate(e, |s: Symbol| symbols[s.index()])
    }

    fn values(&self, all: &[Expr], symbols: &[f64]) -> Vec<f64> {
        self.dag.evaluate_all(all, |s: Symbol| symbols[s.index()])
    }

    /// Do the forces keep the symplectic form, at these values of the parameters?
    pub fn symplectic(&self, mechanics: &Mechanics, parameters: &[f64]) -> bool {
        if mechanics.rows.iter().any(|r| r.kind == RowKind::Nonholonomic) {
            return false;
        }
        if self.force.is_empty() {
            return true;
        }
        let n = self.force.len();
        // Is the sum zero but for rounding? What is alone does not cancel: it must be zero itself.
        let cancels = |terms: &[f64]| {
            terms.iter().sum::<f64>().abs() <= ROUNDING * terms.iter().map(|x| x.abs()).sum::<f64>()
        };
        self.at_random(mechanics, parameters, |here, moved| {
            let [rate, position, change] =
                [&self.by_rate, &self.by_position, &self.change].map(|all| self.values(all, here));
            let pairs = (0..n).flat_map(|i| (0..=i).map(move |j| (i * n + j, j * n + i)));
            let helmholtz = pairs.into_iter().all(|(a, b)| {
                if self.hamiltonian {
                    return rate[a] == 0.0 && rate[b] == 0.0 && cancels(&[position[a], -position[b]]);
                }
                let gyroscopic = if a == b { rate[a] == 0.0 } else { cancels(&[rate[a], rate[b]]) };
                gyroscopic && cancels(&[position[a], -position[b], -change[a] / 2.0, change[b] / 2.0])
            });
            if !helmholtz || self.hamiltonian {
                return helmholtz;
            }
            let (q, other) = (self.values(&self.force, here), self.values(&self.force, moved));
            let (v, w) = (self.values(&self.velocity, here), self.values(&self.velocity, moved));
            (0..n).all(|i| {
                let mut terms = vec![q[i], -other[i]];
                terms.extend((0..n).flat_map(|j| [-rate[i * n + j] * v[j], rate[i * n + j] * w[j]]));
                cancels(&terms)
            })
        })
    }

    /// Is Q·v − ∂L/∂t zero at these values of the parameters, but for rounding in the work of forces?
    pub fn powerless(&self, mechanics: &Mechanics, parameters: &[f64]) -> bool {
        if self.dag.is_zero(self.power) {
            return true;
        }
        self.at_random(mechanics, parameters, |here, _| {
            let (q, v) = (self.values(&self.force, here), self.values(&self.velocity, here));
            let work: f64 = q.iter().zip(&v).map(|(q, v)| (q * v).abs()).sum();
            self.value(self.power, here).abs() <= ROUNDING * work
        })
    }
}

impl Subject<'_> {
    /// Does this motion keep the symplectic form: nothing but conservative and gyroscopic forces, elastic walls?
    pub(crate) fn lossless<'m>(
        &self,
        parameters: &[f64],
        motions: impl IntoIterator<Item = &'m Motion>,
    ) -> bool {
        self.forces().symplectic(self.mechanics, parameters)
            && motions.into_iter().all(|motion| self.elastic(parameters, motion))
    }

    /// Does everything that happens along a motion keep energy and symplectic form: every wall that is hit has e = 1, no contact, no
    /// reset?
    pub(crate) fn elastic(&self, parameters: &[f64], motion: &Motion) -> bool {
        let (model, zeros) = (&self.mechanics.model, vec![0.0; self.size()]);
        let e = |w: usize| self.value(self.mechanics.walls[w].restitution, &zeros, 0.0, parameters);
        motion.contacts.is_empty()
            && motion.impacts.iter().flat_map(|i| &i.walls).all(|&w| e(w) == 1.0)
            && !motion.events.iter().any(|r| matches!(model.events[r.event].action, Action::Set(_)))
    }
}
