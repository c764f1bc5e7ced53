//! Shooting: the equations of a periodic orbit, their derivatives, Newton's method.
//!
//! ```text
//! φ(x_i, w_i T) − x_{i+1} + [i = m] Σ α_j ∇I_j(x_1) = 0        i = 1 … m,  x_{m+1} = x_1,  Σ w_i = 1
//! f_ref·(x_1 − x_ref) = 0                                      autonomous: which point of the orbit, T is unknown
//! I_j(x_1) = c_j                                               conserved quantities; the solution has α = 0
//! ξ_j(x_ref)·(x_1 − x_ref) = 0                                 symmetries: which of the orbits that ξ turns into each other
//! ```
//!
//! A symmetry ξ with its J makes Φ − 1 singular twice, Φ ξ = ξ and ∇J Φ = ∇J: the row above and the column α ∇J take its place. J is
//! not held: orbits that close have values of their own (a triangle in a circle), as an energy has its period.
//!
//! One segment unless ‖Φ‖ > 10⁶. The points x_i lie between impacts, never on a wall, so that nearby starts are motions too and
//! impacts may come and go on the way. All derivatives are exact.

use crate::eigen::{Complex, eigenvalues_of_product};
use crate::refusal::Refusal;
use crate::request::Return;
use crate::subject::{Invariant, Shot, Subject};
use crate::symmetry::Symmetry;
use carom_jet::dense::{Matrix, SingularValues, dot};
use carom_run::{NotDifferentiable, Obstacle};

/// Beyond this norm of Φ an orbit is cut into segments.
pub(crate) const UNSTABLE: f64 = 1e6;
/// Newton steps, and halvings of one.
const MOST_STEPS: usize = 40;
const MOST_HALVINGS: usize = 7;
/// A residual below this, relative to the state, is what rounding leaves …
const ROUNDING: f64 = 2e-14;
/// … and one below this may be, where Φ is large.
const SMALL: f64 = 1e-9;

/// The equations of one orbit.
#[derive(Clone, Debug)]
pub(crate) struct Shooting {
    /// Time of the first point.
    pub time: f64,
    /// w_i
    pub weights: Vec<f64>,
    /// After what it returns, and how many times.
    pub returns: Return,
    pub count: usize,
    /// x_ref and f_ref of the phase condition; autonomous only.
    pub phase: Option<(Vec<f64>, Vec<f64>)>,
    /// With c_j.
    pub invariants: Vec<(Invariant, f64)>,
    /// Symmetries of the model that the orbit does not break.
    pub symmetries: Vec<Symmetry>,
    /// x_ref and ξ_j(x_ref).
    pub turns: Vec<(Vec<f64>, Vec<f64>)>,
    /// Size of each state variable.
    pub scale: Vec<f64>,
}

/// The unknowns: the points, then the period (autonomous), then α.
#[derive(Clone, Debug)]
pub(crate) struct Unknowns {
    pub z: Vec<f64>,
    /// The value of the varied parameter.
    pub p: f64,
}

/// The equations at given unknowns.
#[derive(Clone)]
pub(crate) struct ShootingEquations {
    pub residual: Vec<f64>,
    pub jacobian: Matrix,
    /// Derivative by the varied parameter.
    pub by_parameter: Vec<f64>,
    pub shots: Vec<Shot>,
    pub period: f64,
    pub parameters: Vec<f64>,
}

/// A linear condition that closes the equations when the parameter is unknown too: normal·(y − anchor) = 0, y = (z, p).
#[derive(Clone, Debug)]
pub(crate) struct ClosingPlane {
    pub normal: Vec<f64>,
    pub anchor: Vec<f64>,
}

impl Shooting {
    pub fn segments(&self) -> usize {
        self.weights.len()
    }

    pub fn is_forced(&self) -> bool {
        matches!(self.returns, Return::Period { .. })
    }

    /// Scale of each unknown, the parameter's last.
    pub fn scales(&self, period: f64, parameter: f64) -> Vec<f64> {
        let mut all: Vec<f64> = (0..self.segments()).flat_map(|_| self.scale.clone()).collect();
        if !self.is_forced() {
            all.push(period);
        }
        all.extend((0..self.borders()).map(|_| 1.0));
        all.push(parameter);
        all
    }

    /// Unfolding terms.
    pub fn borders(&self) -> usize {
        self.invariants.len() + self.symmetries.len()
    }

    /// The phase of flow and symmetries measured from this state on.
    pub fn anchor(&mut self, subject: &Subject<'_>, x: &[f64], parameters: &[f64]) {
        if self.phase.is_some() {
            self.phase = Some((x.to_vec(), subject.rate(x, self.time, parameters)));
        }
        let turn = |s: &Symmetry| (x.to_vec(), subject.turn(s, x, self.time, parameters));
        self.turns = self.symmetries.iter().map(turn).collect();
    }

    fn period(
        &self,
        subject: &Subject<'_>,
        z: &[f64],
        parameters: &[f64],
        vary: Option<usize>,
    ) -> (f64, f64) {
        match &self.returns {
            Return::Period { dag, formula, .. } => {
                let (value, slope) = subject.of_parameters(dag, *formula, parameters, vary);
                (value * self.count as f64, slope * self.count as f64)
            }
            Return::Section(_) => (z[self.segments() * self.scale.len()], 0.0),
        }
    }

    /// Residual and derivatives.
    ///
    /// # Errors
    /// If a motion ends early or has no derivative.
    pub fn equations(
        &self,
        subject: &mut Subject<'_>,
        y: &Unknowns,
        vary: Option<usize>,
    ) -> Result<ShootingEquations, Refusal> {
        let (n, m, k) = (self.scale.len(), self.segments(), self.borders());
        let parameters = subject.parameters_with(vary.map(|i| (i, y.p)));
        let (period, period_slope) = self.period(subject, &y.z, &parameters, vary);
        if !(period > 0.0 && period.is_finite()) {
            return Err(Refusal::unanswered(
                "the iteration leads to a period that is not positive",
                "start nearer to the orbit, for example with --guess-from-run",
            ));
        }
        let free = usize::from(!self.is_forced());
        let columns = m * n + free + k;
        let mut jacobian = Matrix::zeros(columns, columns);
        let (mut residual, mut by_parameter) = (vec![0.0; columns], vec![0.0; columns]);
        let mut shots = Vec::with_capacity(m);
        let mut before = 0.0;
        for (i, &weight) in self.weights.iter().enumerate() {
            let x = &y.z[i * n..(i + 1) * n];
            let start = self.time + before * period;
            let shot = subject.shoot(x, start, weight * period, &parameters, vary)?;
            if let Some(obstacle) = &shot.obstacle {
                return Err(no_derivative(subject, obstacle));
            }
            if shot.phi.entries.iter().chain(&shot.end).chain(&shot.by_parameter).any(|v| !v.is_finite()) {
                return Err(Refusal::unanswered(
                    "the motion from the guess grows beyond all numbers",
                    "start nearer to the orbit",
                ));
            }
            let next = (i + 1) % m;
            let after = before + weight;
            let end_rate = subject.rate(&shot.end, start + weight * period, &parameters);
            let start_rate = shot.phi.times(&subject.rate(&shot.start, start, &parameters));
            for a in 0..n {
                let row = i * n + a;
                residual[row] = shot.end[a] - y.z[next * n + a];
                for b in 0..n {
                    jacobian[(row, i * n + b)] += shot.phi[(a, b)];
                }
                jacobian[(row, next * n + a)] -= 1.0;
                by_parameter[row] =
                    shot.by_parameter[a] + period_slope * (after * end_rate[a] - before * start_rate[a]);
                if free == 1 {
                    jacobian[(row, m * n)] = weight * end_rate[a];
                }
            }
            before = after;
            shots.push(shot);
        }
        let first = &y.z[..n];
        if let Some((reference, rate)) = &self.phase {
            let row = m * n;
            // Scaled, so that metres and radians count alike.
            for a in 0..n {
                let weight = rate[a] / (self.scale[a] * self.scale[a]);
                residual[row] += weight * (first[a] - reference[a]);
                jacobian[(row, a)] = weight;
            }
        }
        for (j, (invariant, target)) in self.invariants.iter().enumerate() {
            let (value, gradient) = subject.gradient(invariant.formula, first, self.time, &parameters);
            let row = m * n + free + j;
            residual[row] = value - target;
            for a in 0..n {
                jacobian[(row, a)] = gradient[a];
                jacobian[((m - 1) * n + a, m * n + free + j)] = gradient[a];
                residual[(m - 1) * n + a] += y.z[m * n + free + j] * gradient[a];
            }
            if let Some(vary) = vary {
                let slope = invariant_slope(subject, invariant, first, self.time, &parameters, vary);
                by_parameter[row] = slope;
            }
        }
        for (j, (symmetry, (reference, turn))) in self.symmetries.iter().zip(&self.turns).enumerate() {
            let row = m * n + free + self.invariants.len() + j;
            let gradient =
                subject.gradient_in(&symmetry.dag, symmetry.conserved, first, self.time, &parameters).1;
            for a in 0..n {
                let weight = turn[a] / (self.scale[a] * self.scale[a]);
                residual[row] += weight * (first[a] - reference[a]);
                jacobian[(row, a)] = weight;
                jacobian[((m - 1) * n + a, row)] = gradient[a];
                residual[(m - 1) * n + a] += y.z[row] * gradient[a];
            }
        }
        Ok(ShootingEquations { residual, jacobian, by_parameter, shots, period, parameters })
    }

    /// The largest residual of returning, relative to the state.
    pub fn size(&self, equations: &ShootingEquations) -> f64 {
        let n = self.scale.len();
        let points = n * self.segments();
        let returning =
            equations.residual[..points].iter().enumerate().map(|(i, r)| (r / self.scale[i % n]).abs());
        let held = self.invariants.iter().enumerate().map(|(j, (_, c))| {
            let at = points + usize::from(!self.is_forced()) + j;
            // What it changes by when the state changes by its size: it may be zero itself.
            let change: f64 = (0..n).map(|a| (equations.jacobian[(at, a)] * self.scale[a]).abs()).sum();
            (equations.residual[at] / c.abs().max(change).max(f64::MIN_POSITIVE)).abs()
        });
        returning.chain(held).fold(0.0, f64::max)
    }

    /// How far the motion is from returning, relative to the state, whatever the unfolding terms say.
    pub fn gap(&self, equations: &ShootingEquations, y: &Unknowns) -> f64 {
        let (n, m) = (self.scale.len(), self.segments());
        let ends = equations.shots.iter().enumerate().flat_map(|(i, shot)| {
            let next = &y.z[(i + 1) % m * n..][..n];
            shot.end.iter().zip(next).zip(&self.scale).map(|((a, b), s)| ((a - b) / s).abs())
        });
        ends.fold(0.0, f64::max)
    }

    /// Newton's method as below; what solves the equations only with the unfolding terms is no orbit.
    ///
    /// # Errors
    /// If it does not converge, or there is nothing to start with.
    pub fn newton(
        &self,
        subject: &mut Subject<'_>,
        guess: &Unknowns,
        vary: Option<usize>,
        plane: Option<&ClosingPlane>,
    ) -> Result<(Unknowns, ShootingEquations, usize), Refusal> {
        let (y, equations, steps) = self.iterate(subject, guess, vary, plane)?;
        let gap = self.gap(&equations, &y);
        if gap > 1e3 * SMALL {
            let names: Vec<&str> = self.invariants.iter().map(|(i, _)| i.name.as_str()).collect();
            let given = if names.is_empty() {
                String::new()
            } else {
                format!(" with the given {}", names.join(", "))
            };
            return Err(Refusal::unanswered(
                format!("no orbit was found{given}: the motion misses its start by {gap:.1e}"),
                "start nearer to an orbit, ask for another number of --crossings, or hold another value with --hold",
            ));
        }
        Ok((y, equations, steps))
    }

    /// Newton's method, damped; with a plane the parameter is unknown too.
    ///
    /// # Errors
    /// If it does not converge, or there is nothing to start with.
    fn iterate(
        &self,
        subject: &mut Subject<'_>,
        guess: &Unknowns,
        vary: Option<usize>,
        plane: Option<&ClosingPlane>,
    ) -> Result<(Unknowns, ShootingEquations, usize), Refusal> {
        let mut y = guess.clone();
        let mut equations = self.equations(subject, &y, vary)?;
        let mut size = self.size(&equations);
        for step in 0..MOST_STEPS {
            if !subject.go_on() {
                return Err(Refusal::unanswered("interrupted", "ask again"));
            }
            let scales = self.scales(equations.period, if y.p == 0.0 { 1.0 } else { y.p.abs() });
            let delta = self.newton_step(&equations, &y, plane, &scales);
            let moved = delta.iter().zip(&scales).fold(0.0_f64, |m, (d, s)| m.max((d / s).abs()));
            // The maximum of numbers and NaN is a number: what is not finite is looked for by itself.
            if delta.iter().any(|d| !d.is_finite()) || !moved.is_finite() {
                return Err(singular());
            }
            if size <= ROUNDING && moved < 1e-12 || moved < 1e-15 {
                return Ok((y, equations, step));
            }
            let mut part = 1.0;
            let mut better = None;
            for _ in 0..MOST_HALVINGS {
                let mut trial = y.clone();
                trial.z.iter_mut().zip(&delta).for_each(|(z, d)| *z += part * d);
                if plane.is_some() {
                    trial.p += part * delta[delta.len() - 1];
                }
                if let Ok(next) = self.equations(subject, &trial, vary) {
                    let after = self.size(&next);
                    if after < (1.0 - 0.25 * part) * size || after <= ROUNDING {
                        better = Some((trial, next, after));
                        break;
                    }
                }
                if size <= SMALL {
                    break;
                }
                part /= 2.0;
            }
            match better {
                Some((trial, next, after)) => (y, equations, size) = (trial, next, after),
                None if size <= SMALL => return Ok((y, equations, step)),
                None => {
                    return Err(Refusal::unanswered(
                        format!(
                            "no orbit was found: Newton's method stops at a residual of {size:.1e} after {step} steps"
                        ),
                        "start nearer to an orbit: with --start, or with --guess-from-run where the motion settles",
                    ));
                }
            }
        }
        if size <= SMALL {
            return Ok((y, equations, MOST_STEPS));
        }
        Err(Refusal::unanswered(
            format!(
                "no orbit was found: after {MOST_STEPS} steps of Newton's method the residual is still {size:.1e}"
            ),
            "start nearer to an orbit: with --start, or with --guess-from-run where the motion settles",
        ))
    }

    fn newton_step(
        &self,
        equations: &ShootingEquations,
        y: &Unknowns,
        plane: Option<&ClosingPlane>,
        scales: &[f64],
    ) -> Vec<f64> {
        let right: Vec<f64> = equations.residual.iter().map(|r| -r).collect();
        let Some(plane) = plane else { return solve(&equations.jacobian, scales, &right) };
        let n = right.len();
        let bordered = bordered(equations, &plane.normal);
        let mut right = right;
        let offset: f64 = (0..n).map(|i| plane.normal[i] * (y.z[i] - plane.anchor[i])).sum::<f64>()
            + plane.normal[n] * (y.p - plane.anchor[n]);
        right.push(-offset);
        solve(&bordered, scales, &right)
    }

    /// The tangent of the branch (z, p), with normal·tangent = 1; `None` where the equations are singular.
    pub fn tangent(&self, equations: &ShootingEquations, normal: &[f64], scales: &[f64]) -> Option<Vec<f64>> {
        let mut right = vec![0.0; equations.residual.len()];
        right.push(1.0);
        let found = solve(&bordered(equations, normal), scales, &right);
        found.iter().all(|v| v.is_finite()).then_some(found)
    }

    /// The nontrivial multipliers, largest first.
    pub fn multipliers(
        &self,
        subject: &Subject<'_>,
        y: &Unknowns,
        equations: &ShootingEquations,
    ) -> Option<Vec<Complex>> {
        let (n, m) = (self.scale.len(), self.segments());
        let mut bases: Vec<Vec<Vec<f64>>> = Vec::with_capacity(m);
        let mut before = 0.0;
        for i in 0..m {
            let x = &y.z[i * n..(i + 1) * n];
            let time = self.time + before * equations.period;
            before += self.weights[i];
            let mut rows: Vec<Vec<f64>> = Vec::new();
            if !self.is_forced() {
                rows.push(subject.rate(x, time, &equations.parameters));
            }
            for (invariant, _) in &self.invariants {
                rows.push(subject.gradient(invariant.formula, x, time, &equations.parameters).1);
            }
            rows.extend(self.turned(subject, x, time, &equations.parameters));
            if !subject.mechanics.rows.is_empty() {
                for a in 0..n {
                    rows.push(
                        (0..n)
                            .map(|b| f64::from(u8::from(a == b)) - equations.shots[i].projector[(a, b)])
                            .collect(),
                    );
                }
            }
            bases.push(if rows.is_empty() {
                (0..n).map(|a| (0..n).map(|b| f64::from(u8::from(a == b))).collect()).collect()
            } else {
                let rows: Vec<Vec<f64>> = rows
                    .into_iter()
                    .map(|row| {
                        let length = dot(&row, &row).sqrt();
                        row.iter().map(|v| if length > 0.0 { v / length } else { 0.0 }).collect()
                    })
                    .collect();
                SingularValues::of(&rows, n).null_vectors().to_vec()
            });
        }
        let dimension = bases[0].len();
        if bases.iter().any(|b| b.len() != dimension) {
            return None;
        }
        let factors: Vec<Matrix> = (0..m)
            .map(|i| {
                let (from, to) = (&bases[i], &bases[(i + 1) % m]);
                let mut factor = Matrix::zeros(dimension, dimension);
                for (j, direction) in from.iter().enumerate() {
                    // What lies along the flow and the symmetries is normal to the basis, and falls away.
                    let image = equations.shots[i].phi.times(direction);
                    to.iter().enumerate().for_each(|(a, w)| factor[(a, j)] = dot(w, &image));
                }
                factor
            })
            .collect();
        eigenvalues_of_product(&factors)
    }
}

impl Shooting {
    /// Directions that symmetries make trivial at a state: every ∇J, and those combinations of the ξ that keep all J (of rotations
    /// about three axes only the one about the angular momentum does).
    fn turned(&self, subject: &Subject<'_>, x: &[f64], time: f64, parameters: &[f64]) -> Vec<Vec<f64>> {
        let gradient = |s: &Symmetry| subject.gradient_in(&s.dag, s.conserved, x, time, parameters).1;
        let gradients: Vec<Vec<f64>> = self.symmetries.iter().map(gradient).collect();
        let turns: Vec<Vec<f64>> =
            self.symmetries.iter().map(|s| subject.turn(s, x, time, parameters)).collect();
        let size = |v: &[f64]| dot(v, v).sqrt().max(f64::MIN_POSITIVE);
        // Brackets {J_i, J_j} = ∇J_i·ξ_j of unit vectors.
        let mut brackets: Vec<Vec<f64>> = gradients
            .iter()
            .map(|g| turns.iter().map(|t| dot(g, t) / (size(g) * size(t))).collect())
            .collect();
        brackets.iter_mut().flatten().filter(|b| b.abs() < 1e-9).for_each(|b| *b = 0.0);
        let keeping = if brackets.iter().flatten().all(|b| *b == 0.0) {
            turns.clone()
        } else {
            SingularValues::of(&brackets, turns.len())
                .null_vectors()
                .iter()
                .map(|c| {
                    let sum = |a: usize| c.iter().zip(&turns).map(|(c, t)| c * t[a] / size(t)).sum();
                    (0..x.len()).map(sum).collect()
                })
                .collect()
        };
        gradients.into_iter().chain(keeping).collect()
    }
}

fn invariant_slope(
    subject: &Subject<'_>,
    invariant: &Invariant,
    x: &[f64],
    time: f64,
    parameters: &[f64],
    vary: usize,
) -> f64 {
    let model = &subject.mechanics.model;
    let mut dag = model.dag.clone();
    // Every parameter that follows the varied one, by the chain rule.
    (0..model.parameters.len())
        .map(|k| {
            let slope = if k == vary {
                1.0
            } else {
                subject.of_parameters(&model.dag, model.parameters[k].formula, parameters, Some(vary)).1
            };
            if slope == 0.0 {
                return 0.0;
            }
            let d = dag.derivative(invariant.formula, model.parameters[k].symbol);
            slope * subject.value_in(&dag, d, x, time, parameters)
        })
        .sum()
}

/// M x = b by elimination with row pivots, unknowns measured in their sizes; not finite where M is singular.
///
/// Units are known here, so none need be guessed from the entries: after a contact Φ has zeros that rounding leaves at 10⁻¹⁵⁰.
pub(crate) fn solve(matrix: &Matrix, sizes: &[f64], right: &[f64]) -> Vec<f64> {
    let n = matrix.rows;
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let mut row: Vec<f64> = (0..n).map(|j| matrix[(i, j)] * sizes[j]).collect();
            let size = row.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            row.push(right[i]);
            row.iter_mut().for_each(|x| *x /= size);
            row
        })
        .collect();
    for k in 0..n {
        let best = (k..n).max_by(|&a, &b| rows[a][k].abs().total_cmp(&rows[b][k].abs())).unwrap_or(k);
        rows.swap(k, best);
        let (done, rest) = rows.split_at_mut(k + 1);
        let pivot = &done[k];
        for row in rest {
            let factor = row[k] / pivot[k];
            if factor != 0.0 {
                (k..=n).for_each(|j| row[j] -= factor * pivot[j]);
            }
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| rows[k][j] * x[j]).sum();
        x[k] = (rows[k][n] - known) / rows[k][k];
    }
    x.iter().zip(sizes).map(|(x, s)| x * s).collect()
}

/// [J, J_p; normal]
fn bordered(equations: &ShootingEquations, normal: &[f64]) -> Matrix {
    let n = equations.residual.len();
    let mut all = Matrix::zeros(n + 1, n + 1);
    for i in 0..n {
        for j in 0..n {
            all[(i, j)] = equations.jacobian[(i, j)];
        }
        all[(i, n)] = equations.by_parameter[i];
    }
    (0..=n).for_each(|j| all[(n, j)] = normal[j]);
    all
}

fn singular() -> Refusal {
    Refusal::unanswered(
        "the equations of the orbit are singular at the guess: orbits are not isolated here",
        "start elsewhere (--start, --guess-from-run): without an impact on the way, say, nothing may hold the motion to one orbit; or ask for more returns (--crossings)",
    )
}

/// Why there is no derivative, in words.
pub(crate) fn no_derivative(subject: &Subject<'_>, obstacle: &NotDifferentiable) -> Refusal {
    let model = &subject.mechanics.model;
    let walls: Vec<String> = obstacle.walls.iter().map(|&w| format!("`{}`", model.walls[w].name)).collect();
    let event = obstacle.event.map(|e| format!("event `{}`", model.events[e].name));
    let place = match (walls.is_empty(), event) {
        (false, _) => format!("wall {}", walls.join(" and ")),
        (true, Some(event)) => event,
        (true, None) => "the motion".to_owned(),
    };
    Refusal::unanswered(
        format!(
            "not_differentiable: {place} at t = {}, {} ({})",
            obstacle.time,
            obstacle.what.meaning(),
            obstacle.what.name()
        ),
        match obstacle.what {
            Obstacle::Graze => {
                "move a parameter or the start a little: on either side of the graze there are derivatives"
            }
            _ => "move the start or a parameter a little",
        },
    )
}
