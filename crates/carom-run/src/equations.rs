//! The equations of motion of a leg: a linear system for accelerations and reactions, and what follows from it.
//!
//! ```text
//! Lagrangian   ⎡ W  Aᵀ ⎤ ⎡  a ⎤   ⎡ Q − h ⎤          Hamiltonian   ⎡ I      Aᵀ ⎤ ⎡  ṗ ⎤   ⎡ Q − H_q ⎤
//!              ⎣ A  0  ⎦ ⎣ −μ ⎦ = ⎣  −γ   ⎦                        ⎣ A H_pp  0 ⎦ ⎣ −μ ⎦ = ⎣   −γ    ⎦
//! ```
//!
//! with the rows of closed walls appended to A, and a line u̇ = 0 with an unknown s ∈ [−1, 1] for every surface u = 0 the
//! motion slides on.

use crate::program::{LegKey, Program};
use carom_expr::{Dag, Expr, Rational};
use carom_jet::{CompileError, LinearBlock, System};
use carom_mech::mechanics::{Dynamics, HamiltonianDynamics, Mechanics};

/// Symbols of what the equations of a leg are solved for.
struct LegUnknowns {
    /// a, or ṗ of a Hamiltonian model.
    accelerations: Vec<Expr>,
    /// z = −μ and −f: with them the matrix is symmetric.
    reactions: Vec<Expr>,
    forces: Vec<Expr>,
    /// s, per surface the motion slides on.
    signs: Vec<Expr>,
}

impl LegUnknowns {
    fn all(&self) -> Vec<Expr> {
        [&self.accelerations[..], &self.reactions, &self.forces, &self.signs].concat()
    }
}

/// Linear equations, each with a name for messages.
#[derive(Default)]
struct Lines {
    matrix: Vec<Vec<Expr>>,
    right_side: Vec<Expr>,
    names: Vec<String>,
}

impl Lines {
    fn push(&mut self, row: Vec<Expr>, right: Expr, name: String) {
        self.matrix.push(row);
        self.right_side.push(right);
        self.names.push(name);
    }
}

/// A row of A that is in force: normal, bias, name.
type RowInForce<'a> = (&'a [Expr], Expr, &'a str);

/// The constraint rows of a leg and its closed walls.
fn rows_in_force<'a>(m: &'a Mechanics, key: &LegKey) -> Vec<RowInForce<'a>> {
    let rows = key.rows.iter().map(|&r| (&m.rows[r].normal[..], m.rows[r].bias, &m.rows[r].name[..]));
    let walls = key.closed.iter().map(|&w| (&m.walls[w].normal[..], m.walls[w].bias, &m.walls[w].name[..]));
    rows.chain(walls).collect()
}

impl Program {
    /// The equations of a leg, with what is watched during it.
    pub(crate) fn system(&self, dag: &mut Dag, key: &LegKey) -> Result<System, CompileError> {
        let m = &self.mechanics;
        let unknowns = self.unknowns(dag, key);
        let (mut lines, mut rate) = self.lines(dag, key, &unknowns);
        self.slide(dag, key, &unknowns.signs, &mut lines)?;
        if self.has_work {
            rate.push(self.power(dag, key, &unknowns));
        }
        let watched = self.watched_functions(dag, key, &unknowns);
        let Lines { matrix, right_side, names } = lines;
        let blocks = if matrix.is_empty() {
            vec![]
        } else {
            vec![LinearBlock {
                unknowns: unknowns.all(),
                matrix,
                right_side,
                names,
                augmentation_rows: self.augmentation_rows(key),
                definitions: vec![],
            }]
        };
        let parameters = self.parameters.iter().copied().filter(|p| !unknowns.signs.contains(p)).collect();
        let monitored = self.layout.monitored(m.walls.len(), !key.closed.is_empty());
        let monitored = monitored.iter().map(|&i| self.values[i]).collect();
        let state = self.state.clone();
        Ok(System { time: m.model.time, parameters, state, rate, blocks, watched, monitored })
    }

    fn unknowns(&self, dag: &mut Dag, key: &LegKey) -> LegUnknowns {
        let m = &self.mechanics;
        let mut named = |what: &str, name: &str| dag.symbol(&format!("{what} {name}"));
        LegUnknowns {
            accelerations: m.free.iter().map(|&i| m.model.coordinates[i].acceleration).collect(),
            reactions: key.multipliers.iter().map(|&r| named("reaction", &m.rows[r].name)).collect(),
            forces: key.closed.iter().map(|&w| named("contact", &m.walls[w].name)).collect(),
            signs: key.sliding.iter().map(|&s| self.surfaces[s].sign).collect(),
        }
    }

    /// M u = r without the lines of sliding, and ẋ.
    fn lines(&self, dag: &mut Dag, key: &LegKey, unknowns: &LegUnknowns) -> (Lines, Vec<Expr>) {
        let (m, n) = (&self.mechanics, self.size());
        let mut lines = Lines::default();
        let zero = dag.zero();
        match &m.dynamics {
            Dynamics::Lagrangian(l) => {
                let rows = rows_in_force(m, key);
                for i in 0..n {
                    let mut row = l.mass_matrix[i].clone();
                    row.extend(rows.iter().map(|r| r.0[i]));
                    lines.push(row, dag.sub(l.generalized_force[i], l.bias[i]), self.equation_name(i));
                }
                for &(normal, bias, name) in &rows {
                    let mut row = normal.to_vec();
                    row.resize(n + rows.len(), zero);
                    lines.push(row, dag.neg(bias), format!("`{name}`"));
                }
            }
            Dynamics::Degenerate(d) => {
                for &e in &key.rows {
                    let mut row: Vec<Expr> = d.matrix[e][..n].to_vec();
                    // Columns of M multiply μ = −z.
                    row.extend(key.multipliers.iter().map(|&r| dag.neg(d.matrix[e][n + r])));
                    lines.push(row, d.right_side[e], self.equation_name(e));
                }
            }
            Dynamics::Hamiltonian(h) => return self.hamiltonian_lines(dag, h, key, unknowns),
        }
        let mut rate = self.velocities();
        rate.extend(&unknowns.accelerations);
        (lines, rate)
    }

    /// Without rows nothing has to be solved: ṗ is the force.
    fn hamiltonian_lines(
        &self,
        dag: &mut Dag,
        h: &HamiltonianDynamics,
        key: &LegKey,
        unknowns: &LegUnknowns,
    ) -> (Lines, Vec<Expr>) {
        let (m, n) = (&self.mechanics, self.size());
        let rows = rows_in_force(m, key);
        let mut lines = Lines::default();
        let mut rate = h.velocity.clone();
        if rows.is_empty() {
            rate.extend(&h.force);
            return (lines, rate);
        }
        rate.extend(&unknowns.accelerations);
        let (zero, one) = (dag.zero(), dag.one());
        for i in 0..n {
            let mut row = vec![zero; n];
            row[i] = one;
            row.extend(rows.iter().map(|r| r.0[i]));
            let name = &m.model.coordinates[m.free[i]].momentum_name;
            lines.push(row, h.force[i], format!("the equation of `{name}`"));
        }
        for &(normal, bias, name) in &rows {
            let entry = |j: usize| {
                let products: Vec<Expr> = (0..n).map(|i| dag.mul(normal[i], h.inverse_mass[i][j])).collect();
                dag.sum(&products)
            };
            let mut row: Vec<Expr> = (0..n).map(entry).collect();
            row.resize(n + rows.len(), zero);
            lines.push(row, dag.neg(bias), format!("`{name}`"));
        }
        (lines, rate)
    }

    /// What changes E: power, and the work of moving rows and walls.
    fn power(&self, dag: &mut Dag, key: &LegKey, unknowns: &LegUnknowns) -> Expr {
        let m = &self.mechanics;
        let drifts = key.multipliers.iter().map(|&r| m.rows[r].drift);
        let moving = key.closed.iter().map(|&w| m.walls[w].gap_t);
        let pairs = unknowns.reactions.iter().zip(drifts).chain(unknowns.forces.iter().zip(moving));
        let mut power = vec![(Rational::ONE, m.power)];
        power.extend(pairs.map(|(&z, drift)| (Rational::ONE, dag.mul(z, drift))));
        dag.linear(Rational::ZERO, &power)
    }

    /// In the order of [`crate::program::Watched`].
    fn watched_functions(&self, dag: &mut Dag, key: &LegKey, unknowns: &LegUnknowns) -> Vec<Expr> {
        let m = &self.mechanics;
        let mut watched: Vec<Expr> = m.walls.iter().map(|w| w.gap).collect();
        watched.extend(self.surfaces.iter().map(|s| s.value));
        watched.extend(m.events.iter().map(|e| e.when));
        watched.extend(unknowns.forces.iter().map(|&z| dag.neg(z)));
        watched.extend(&unknowns.signs);
        if let Some(held) = self.held_row {
            // The wall's force; a multiplier that is not kept is implied by others.
            let at = key.multipliers.iter().position(|&r| r == held);
            let zero = dag.zero();
            watched.push(at.map_or(zero, |i| dag.neg(unknowns.reactions[i])));
        }
        watched
    }

    /// Places of lines; sliding adds a column that is not a row.
    fn augmentation_rows(&self, key: &LegKey) -> Vec<usize> {
        let Dynamics::Lagrangian(l) = &self.mechanics.dynamics else { return Vec::new() };
        let places = key.rows.iter().zip(self.size()..);
        places.filter(|(r, _)| l.augmentation_rows.contains(r)).map(|(_, at)| at).collect()
    }

    fn velocities(&self) -> Vec<Expr> {
        self.mechanics.free.iter().map(|&i| self.mechanics.velocities[i]).collect()
    }

    /// Sliding on a surface u = 0: Filippov's combination R = (R₊ + R₋)/2 + s (R₊ − R₋)/2 of the two sides, s an unknown
    /// in [−1, 1] whose equation is u̇ = 0 (ü = 0 when u contains no velocity). Refused when W or A depend on the side.
    fn slide(
        &self,
        dag: &mut Dag,
        key: &LegKey,
        signs: &[Expr],
        lines: &mut Lines,
    ) -> Result<(), CompileError> {
        let Lines { matrix, right_side, names } = lines;
        if signs.is_empty() {
            return Ok(());
        }
        if matrix.is_empty() || matrix.iter().flatten().any(|&e| signs.iter().any(|&s| dag.contains(e, s))) {
            return Err(CompileError::Piecewise("sign"));
        }
        let n = self.size();
        let (zero, one, minus) = (dag.zero(), dag.one(), dag.integer(-1));
        for (row, right) in matrix.iter_mut().zip(right_side.iter_mut()) {
            let mut slopes = Vec::new();
            for &s in signs {
                let sides = [one, minus].map(|side| dag.substitute(*right, &[(s, side)]));
                let difference = dag.sub(sides[0], sides[1]);
                let slope = dag.scale(Rational::HALF, difference);
                // Two surfaces at once: their effects must add up.
                if signs.iter().any(|&other| dag.contains(slope, other)) {
                    return Err(CompileError::Piecewise("sign"));
                }
                slopes.push(slope);
                let sum = dag.add(sides[0], sides[1]);
                *right = dag.scale(Rational::HALF, sum);
            }
            for slope in slopes {
                row.push(dag.neg(slope));
            }
        }
        let width = matrix[0].len();
        let (position, velocity) = self.state[..2 * n].split_at(n);
        let off: Vec<(Expr, Expr)> = signs.iter().map(|&s| (s, zero)).collect();
        for &surface in &key.sliding {
            let mut u = dag.substitute(self.surfaces[surface].value, &off);
            let rate = |dag: &mut Dag, u: Expr| {
                let mut terms = vec![dag.derivative(u, self.mechanics.model.time)];
                for (&q, v) in position.iter().zip(self.velocities()) {
                    let slope = dag.derivative(u, q);
                    terms.push(dag.mul(slope, v));
                }
                dag.sum(&terms)
            };
            if !velocity.iter().any(|&v| dag.contains(u, v)) {
                u = rate(dag, u);
            }
            let mut row: Vec<Expr> = velocity.iter().map(|&v| dag.derivative(u, v)).collect();
            row.resize(width, zero);
            let rest = rate(dag, u);
            matrix.push(row);
            right_side.push(dag.neg(rest));
            names.push("the switching surface".to_string());
        }
        Ok(())
    }

    /// Name of an equation of a degenerate model.
    pub(crate) fn equation_name(&self, equation: usize) -> String {
        let n = self.size();
        match &self.mechanics.dynamics {
            _ if equation < n => {
                format!(
                    "the equation of `{}`",
                    self.mechanics.model.coordinates[self.mechanics.free[equation]].name
                )
            }
            Dynamics::Degenerate(d) => {
                d.conditions.get(equation - n).map_or_else(|| format!("row {equation}"), |c| c.name.clone())
            }
            _ => format!("row {equation}"),
        }
    }
}
