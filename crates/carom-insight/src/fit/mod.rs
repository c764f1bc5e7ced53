//! Parameters and starts from data: least squares with exact Jacobians.
//!
//! ```text
//! r_k = (signal(t_k; θ) − data_k)/σ,    r_j = (τ_j(θ) − data_j)/σ        cost = ½ Σ r²      gradient = Jᵀ r
//! (JᵀJ + ν D²) δ = −Jᵀ r   (Levenberg–Marquardt, D the lengths of the columns)       covariance = s² (JᵀJ)⁻¹
//! ```
//!
//! J comes from the first variation of the motion (Φ at every sample, ∂τ/∂θ of every impact), not from differences. The k-th
//! impact time of the data belongs to the k-th impact on that wall. Where the motion has fewer impacts than the data, those it
//! has are fitted first, and the rest when they have come up; what stays unmatched is said.
//!
//! σ is 1 for all, or estimated per column when there are several: σ_c² = Σ r²/(N_c − Σ h), h the leverage of each value, the
//! part of it that the parameters take up. A value lies in parameters ± t standard errors 95 times of a hundred, t by Student.

mod errors;
mod signal;

use crate::refusal::Refusal;
use crate::student::t95;
use carom_expr::Expr;
use carom_jet::dense::SingularValues;
use carom_mech::{Dynamics, Mechanics};
use carom_run::{Direction, Motion, Options, Program, Sampling, Simulator};
use signal::{FittedSignal, direction, signal, wall};
use std::cell::RefCell;

/// Measured values.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Data {
    /// Signals: name, and (time, value) pairs.
    pub signals: Vec<(String, Vec<(f64, f64)>)>,
    /// Impact times: wall, times in order.
    pub impacts: Vec<(String, Vec<f64>)>,
}

/// A fit.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Fitted {
    /// θ
    pub parameters: Vec<f64>,
    /// Their standard errors; NaN where the data does not determine them.
    pub standard_errors: Vec<f64>,
    /// Values of the data beyond the parameters they determine.
    pub degrees_of_freedom: usize,
    /// The 95 % interval of each, by Student's t with these degrees of freedom; NaN where there is none.
    pub intervals: Vec<[f64; 2]>,
    /// ½ Σ r²
    pub cost: f64,
    /// Jᵀ r
    pub gradient: Vec<f64>,
    /// Per wall of the data: impacts in the data, in the motion, compared.
    pub impacts: Vec<ImpactMatch>,
    /// What the data does not determine, in words: a parameter, or several that can change together, with the proportion.
    pub unidentified: Vec<String>,
    /// Steps taken.
    pub iterations: usize,
    /// Why the values found may not be the best.
    pub warnings: Vec<String>,
}

/// How impacts of data and motion belong together.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ImpactMatch {
    /// The wall.
    pub wall: String,
    /// Impacts in the data.
    pub data: usize,
    /// Impacts of the motion until the last time of the data, and those compared.
    pub motion: usize,
    /// How many were compared.
    pub matched: usize,
}

/// Residuals and their derivatives at one θ.
struct Evaluation {
    residual: Vec<f64>,
    /// The column of the data each residual belongs to.
    column: Vec<usize>,
    jacobian: Vec<Vec<f64>>,
    impacts: Vec<ImpactMatch>,
}

impl Evaluation {
    fn cost(&self, sigma: &[f64]) -> f64 {
        0.5 * self.residual.iter().zip(&self.column).map(|(r, &c)| (r / sigma[c]).powi(2)).sum::<f64>()
    }

    fn gradient(&self, sigma: &[f64]) -> Vec<f64> {
        let n = self.jacobian.first().map_or(0, Vec::len);
        let mut gradient = vec![0.0; n];
        for ((r, row), &c) in self.residual.iter().zip(&self.jacobian).zip(&self.column) {
            gradient.iter_mut().zip(row).for_each(|(g, j)| *g += r * j / (sigma[c] * sigma[c]));
        }
        gradient
    }
}

/// What is to be fitted, ready to be evaluated.
pub struct Fit<'a> {
    mechanics: &'a Mechanics,
    /// Names of θ.
    names: Vec<String>,
    directions: Vec<Direction>,
    /// Options of a motion with these θ.
    options: &'a dyn Fn(&[f64]) -> Result<Options, String>,
    data: &'a Data,
    signals: Vec<FittedSignal>,
    walls: Vec<usize>,
    /// All times of signals, in order.
    times: Vec<f64>,
    /// The last time of the data.
    last: f64,
    until: f64,
    /// Workspaces of the motions.
    simulator: RefCell<Simulator<'a>>,
}

const MOST_ITERATIONS: usize = 200;
/// Part of the time of the data that its last impact may come later in the motion.
const LATER: f64 = 0.25;

impl<'a> Fit<'a> {
    /// A fit of the quantities `names` (parameters, coordinates and velocities of the start). `options` gives the options of a
    /// motion with other values of them.
    ///
    /// # Errors
    /// If a name or a column of the data means nothing in this model, or there is no data.
    pub fn new(
        mechanics: &'a Mechanics,
        program: &'a Program,
        names: &[String],
        data: &'a Data,
        options: &'a dyn Fn(&[f64]) -> Result<Options, String>,
    ) -> Result<Fit<'a>, Refusal> {
        if names.is_empty() {
            return Err(Refusal::wrong(
                "nothing is to be fitted",
                "--vary names parameters or start values: --vary e_n,h",
            ));
        }
        let directions = names.iter().map(|n| direction(mechanics, n)).collect::<Result<Vec<_>, _>>()?;
        let count = data.signals.iter().map(|s| s.1.len()).sum::<usize>()
            + data.impacts.iter().map(|i| i.1.len()).sum::<usize>();
        if count == 0 {
            return Err(Refusal::wrong(
                "the data has no values",
                "give a column `time` and a signal, or impact times in a column such as `impact.floor`",
            ));
        }
        let signals =
            data.signals.iter().map(|(name, _)| signal(mechanics, name)).collect::<Result<Vec<_>, _>>()?;
        let walls =
            data.impacts.iter().map(|(name, _)| wall(mechanics, name)).collect::<Result<Vec<_>, _>>()?;
        let mut times: Vec<f64> = data.signals.iter().flat_map(|s| s.1.iter().map(|p| p.0)).collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        let from = mechanics.model.start.time;
        let all = || times.iter().chain(data.impacts.iter().flat_map(|i| &i.1)).copied();
        if let Some(early) = all().find(|t| *t < from || !t.is_finite()) {
            return Err(Refusal::wrong(
                format!("the data has a value at t = {early}, before the motion begins at {from}"),
                "set `from` of [run] to the first time of the data, or leave that row out",
            ));
        }
        let last = all().fold(from, f64::max);
        let limit = mechanics.model.run.until;
        if last > limit {
            return Err(Refusal::wrong(
                format!("the data goes on until t = {last}, beyond the run, which ends at {limit}"),
                format!("--until {last}"),
            ));
        }
        // Beyond the last impact of the data, as far as the run goes: with other parameters, or by rounding, it comes later.
        let until = if data.impacts.is_empty() { last } else { (last + LATER * (last - from)).min(limit) };
        let names = names.to_vec();
        let simulator = RefCell::new(Simulator::new(program));
        Ok(Fit { mechanics, names, directions, options, data, signals, walls, times, last, until, simulator })
    }

    /// ½ Σ r² and its gradient at θ, σ = 1.
    ///
    /// # Errors
    /// If there is no motion with these values, or it has no derivative.
    pub fn value_and_gradient(&self, theta: &[f64]) -> Result<(f64, Vec<f64>), Refusal> {
        let found = self.evaluate(theta, &self.all_impacts())?;
        let sigma = vec![1.0; self.columns()];
        Ok((found.cost(&sigma), found.gradient(&sigma)))
    }

    fn columns(&self) -> usize {
        self.data.signals.len() + self.data.impacts.len()
    }

    fn all_impacts(&self) -> Vec<usize> {
        self.data.impacts.iter().map(|i| i.1.len()).collect()
    }

    /// The motion at θ, with derivatives, sampled at the times of the data.
    ///
    /// # Errors
    /// If there is none.
    pub fn motion(&self, theta: &[f64]) -> Result<Motion, Refusal> {
        self.motion_until(theta, self.until)
    }

    fn motion_until(&self, theta: &[f64], until: f64) -> Result<Motion, Refusal> {
        let mut options = (self.options)(theta).map_err(|why| {
            Refusal::unanswered(
                format!("{}: {why}", self.shown(theta)),
                "start from other values: --set, --start",
            )
        })?;
        options.until = until;
        options.sampling = Sampling::At(self.times.clone());
        options.directions.clone_from(&self.directions);
        options.variation_samples = true;
        self.simulator.borrow_mut().simulate(&options).map_err(|error| {
            Refusal::unanswered(
                format!("{}: {error}", self.shown(theta)),
                "start from other values: --set, --start",
            )
        })
    }

    fn shown(&self, theta: &[f64]) -> String {
        let list: Vec<String> = self.names.iter().zip(theta).map(|(n, x)| format!("{n} = {x}")).collect();
        format!("no motion with {}", list.join(", "))
    }

    fn evaluate(&self, theta: &[f64], wanted: &[usize]) -> Result<Evaluation, Refusal> {
        // Only what the data asks for counts: the motion goes on for a while beyond it.
        let compared = |motion: &Motion| -> Vec<Vec<usize>> {
            let own = |wall: &usize, wanted: &usize| {
                let all = (0..motion.impacts.len()).filter(|&i| motion.impacts[i].walls.contains(wall));
                all.take(*wanted).collect()
            };
            self.walls.iter().zip(wanted).map(|(wall, wanted)| own(wall, wanted)).collect()
        };
        let mut motion = self.motion(theta)?;
        let times = compared(&motion).into_iter().flatten().map(|i| motion.impacts[i].time);
        let needed = times.chain(self.times.last().copied()).fold(f64::NEG_INFINITY, f64::max);
        let lost = motion.variation.as_ref().and_then(|v| v.not_differentiable.as_ref()).map(|l| l.time);
        if let Some(lost) = lost.filter(|lost| *lost > needed) {
            // Within its step derivatives are lost altogether: the motion ends before it.
            motion = self.motion_until(theta, 0.5 * (needed + lost))?;
        }
        let compared = compared(&motion);
        let Some(variation) = &motion.variation else {
            return Err(Refusal::unanswered("this motion has no derivatives", "use the method taylor"));
        };
        if let Some(graze) = &variation.not_differentiable {
            let walls: Vec<String> =
                graze.walls.iter().map(|&w| format!(" on wall `{}`", motion.names.walls[w])).collect();
            return Err(Refusal::unanswered(
                format!(
                    "the motion has no derivative: {:?}{} at t = {}",
                    graze.what,
                    walls.concat(),
                    graze.time
                ),
                "start from other values, or leave out data beyond that time: --until",
            ));
        }
        if motion.time.len() < self.times.len() {
            return Err(Refusal::unanswered(
                format!(
                    "the motion ends at t = {} ({}), before the data does",
                    motion.stop.time,
                    motion.stop.reason.name()
                ),
                "start from other values, or leave out data beyond that time",
            ));
        }
        let options =
            (self.options)(theta).map_err(|why| Refusal::unanswered(why, "start from other values"))?;
        let chain = self.parameter_chain(&options.parameters);
        let hamiltonian = matches!(self.mechanics.dynamics, Dynamics::Hamiltonian(_));
        let rates = if hamiltonian { &motion.momentum } else { &motion.velocity };
        let mut order: Vec<usize> = (0..motion.time.len()).collect();
        order.sort_by(|&a, &b| motion.time[a].total_cmp(&motion.time[b]));
        let mut found = Evaluation {
            residual: Vec::new(),
            column: Vec::new(),
            jacobian: Vec::new(),
            impacts: Vec::new(),
        };
        for (column, ((_, points), signal)) in self.data.signals.iter().zip(&self.signals).enumerate() {
            for &(t, measured) in points {
                let place = self.times.partition_point(|x| *x < t);
                let k = order[place.min(order.len() - 1)];
                let free = &self.mechanics.free;
                let state: Vec<f64> = free
                    .iter()
                    .map(|&i| motion.position[i].values[k])
                    .chain(free.iter().map(|&i| rates[i].values[k]))
                    .collect();
                let values = self.values_of(signal, &options.parameters, t, &state);
                let phi = &variation.samples[k];
                let mut row = vec![0.0; self.names.len()];
                for (j, entry) in row.iter_mut().enumerate() {
                    for (s, &place) in signal.by_state.iter().enumerate() {
                        *entry += values[place] * phi[(s, j)];
                    }
                    for (p, &place) in signal.by_parameter.iter().enumerate() {
                        *entry += values[place] * chain[p][j];
                    }
                }
                found.residual.push(values[signal.value] - measured);
                found.column.push(column);
                found.jacobian.push(row);
            }
        }
        for (k, ((name, times), &wall)) in self.data.impacts.iter().zip(&self.walls).enumerate() {
            for (&i, &measured) in compared[k].iter().zip(times) {
                found.residual.push(motion.impacts[i].time - measured);
                found.column.push(self.data.signals.len() + k);
                found.jacobian.push(variation.impacts[i].time.clone());
            }
            let own = motion.impacts.iter().filter(|i| i.walls.contains(&wall) && i.time <= self.last);
            let (data, matched) = (times.len(), compared[k].len());
            // One that is compared belongs to the data, though it may come a little later.
            let motion = own.count().max(matched);
            found.impacts.push(ImpactMatch { wall: name.clone(), data, motion, matched });
        }
        if found.residual.iter().chain(found.jacobian.iter().flatten()).any(|x| !x.is_finite()) {
            return Err(Refusal::unanswered(
                "a value or derivative of the motion is not finite",
                "start from other values",
            ));
        }
        Ok(found)
    }

    /// ∂p/∂θ of every parameter, formulas of other parameters followed.
    fn parameter_chain(&self, values: &[f64]) -> Vec<Vec<f64>> {
        let model = &self.mechanics.model;
        let n = model.parameters.len();
        let mut chain = vec![vec![0.0; self.names.len()]; n];
        let own = |p: usize, j: usize| self.directions[j] == Direction::Parameter(p);
        let mut dag = model.dag.clone();
        let slopes: Vec<Vec<Expr>> = model
            .parameters
            .iter()
            .map(|p| model.parameters.iter().map(|x| dag.derivative(p.formula, x.symbol)).collect())
            .collect();
        let value = |s| {
            model
                .parameters
                .iter()
                .position(|p| dag.as_symbol(p.symbol) == Some(s))
                .map_or(0.0, |i| values[i])
        };
        let slopes: Vec<Vec<f64>> = slopes.iter().map(|row| dag.evaluate_all(row, value)).collect();
        // Formulas are not circular: after n rounds everything has followed.
        for _ in 0..=n {
            for (p, slopes) in slopes.iter().enumerate() {
                let row = (0..self.names.len()).map(|j| match own(p, j) {
                    true => 1.0,
                    false => slopes.iter().zip(&chain).map(|(s, row)| s * row[j]).sum(),
                });
                chain[p] = row.collect();
            }
        }
        chain
    }

    fn values_of(&self, signal: &FittedSignal, parameters: &[f64], time: f64, state: &[f64]) -> Vec<f64> {
        let model = &self.mechanics.model;
        let hamiltonian = matches!(self.mechanics.dynamics, Dynamics::Hamiltonian(_));
        let dag = &model.dag;
        let n = self.mechanics.free.len();
        let inputs: Vec<f64> = signal
            .formulas
            .symbols()
            .iter()
            .map(|&s| {
                let is = |e: Expr| dag.as_symbol(e) == Some(s);
                if is(model.time) {
                    return time;
                }
                if let Some(i) = model.parameters.iter().position(|p| is(p.symbol)) {
                    return parameters[i];
                }
                let at = self.mechanics.free.iter().enumerate().find_map(|(k, &i)| {
                    let c = &model.coordinates[i];
                    let rate = if hamiltonian { c.momentum } else { c.velocity };
                    if is(c.position) { Some(k) } else { is(rate).then_some(n + k) }
                });
                at.map_or(f64::NAN, |k| state[k])
            })
            .collect();
        let mut values = Vec::new();
        signal.formulas.evaluate(&mut values, |slot| inputs[slot]);
        values
    }

    /// Fits from `start`.
    ///
    /// # Errors
    /// If there is no motion at the start of the fit, or the data determines nothing.
    pub fn run(&self, start: &[f64]) -> Result<Fitted, Refusal> {
        let mut theta = start.to_vec();
        let mut sigma = vec![1.0; self.columns()];
        let mut first: Vec<f64> = Vec::new();
        let mut iterations = 0;
        let mut wanted = self.all_impacts();
        // Impacts that the motion does not have yet come up as the fit gets better; columns are weighed by what is left of them.
        for round in 0..8 {
            let found = self.evaluate(&theta, &self.all_impacts())?;
            let matched: Vec<usize> = found.impacts.iter().map(|i| i.matched).collect();
            let again = round > 0 && matched == wanted;
            wanted = matched;
            let mut changed = false;
            if self.columns() > 1 && round > 0 {
                let new = self.noise(&found, &sigma, &first);
                changed = new.iter().zip(&sigma).any(|(new, old)| (new / old - 1.0).abs() > 1e-3);
                sigma = new;
                if round == 1 {
                    first.clone_from(&sigma);
                }
            }
            if again && !changed {
                break;
            }
            self.descend(&mut theta, &wanted, &sigma, &mut iterations)?;
            self.leave_valley(&mut theta, &wanted, &sigma, &mut iterations)?;
        }
        let found = self.evaluate(&theta, &wanted)?;
        let (standard_errors, freedom, unidentified) = self.errors(&found, &sigma);
        let identified = theta.len() - unidentified.len();
        let degrees_of_freedom = found.residual.len().saturating_sub(identified);
        let width = |own: f64| t95(own.min(degrees_of_freedom as f64) as usize);
        let wide = standard_errors.iter().zip(&freedom).map(|(e, own)| width(*own) * e);
        let intervals = theta.iter().zip(wide).map(|(x, w)| [x - w, x + w]).collect();
        if unidentified.len() == theta.len() {
            return Err(Refusal::unanswered(
                format!("the data does not depend on {}: nothing can be identified", self.names.join(", ")),
                "fit something else, or measure what depends on it",
            ));
        }
        Ok(Fitted {
            warnings: self.unfinished(&theta, &wanted, &found, &sigma).into_iter().collect(),
            cost: found.cost(&sigma),
            gradient: found.gradient(&sigma),
            parameters: theta,
            standard_errors,
            degrees_of_freedom,
            intervals,
            impacts: found.impacts,
            unidentified,
            iterations,
        })
    }

    /// Levenberg–Marquardt with fixed matches and weights.
    fn descend(
        &self,
        theta: &mut Vec<f64>,
        wanted: &[usize],
        sigma: &[f64],
        iterations: &mut usize,
    ) -> Result<(), Refusal> {
        let n = theta.len();
        let mut now = self.evaluate(theta, wanted)?;
        let mut damping = 1e-3;
        // Those at the edge of what there are motions for: the others go on without them.
        let mut held: Vec<usize> = Vec::new();
        for _ in 0..MOST_ITERATIONS {
            *iterations += 1;
            let cost = now.cost(sigma);
            let mut gradient = now.gradient(sigma);
            let mut normal = vec![vec![0.0; n]; n];
            for (row, &c) in now.jacobian.iter().zip(&now.column) {
                for i in 0..n {
                    for j in 0..n {
                        normal[i][j] += row[i] * row[j] / (sigma[c] * sigma[c]);
                    }
                }
            }
            for &i in &held {
                gradient[i] = 0.0;
                (0..n).for_each(|j| (normal[i][j], normal[j][i]) = (0.0, 0.0));
            }
            let length: Vec<f64> = (0..n).map(|i| normal[i][i].sqrt()).collect();
            let level = (2.0 * cost).sqrt();
            if (0..n).all(|i| gradient[i].abs() <= 1e-13 * length[i] * level) {
                return Ok(());
            }
            // Scaled by the lengths of the columns; a column of zeros stays where it is.
            let unit = |i: usize| if length[i] > 0.0 { length[i] } else { 1.0 };
            let mut ended = true;
            while damping < 1e12 {
                let rows: Vec<Vec<f64>> = (0..n)
                    .map(|i| {
                        (0..n)
                            .map(|j| {
                                let entry = normal[i][j] / (unit(i) * unit(j));
                                if i == j { entry + damping } else { entry }
                            })
                            .collect()
                    })
                    .collect();
                let right: Vec<f64> = (0..n).map(|i| -gradient[i] / unit(i)).collect();
                let step: Vec<f64> = SingularValues::of(&rows, n).solve(&right);
                let moved: Vec<f64> = (0..n).map(|i| theta[i] + step[i] / unit(i)).collect();
                let size = step.iter().map(|x| x * x).sum::<f64>().sqrt();
                let next = self.evaluate(&moved, wanted).ok().filter(|e| {
                    // A motion that lost an impact is no better for having fewer residuals.
                    e.residual.len() == now.residual.len() && e.cost(sigma) < cost
                });
                if let Some(next) = next {
                    let gain = cost - next.cost(sigma);
                    *theta = moved;
                    now = next;
                    damping = (damping * 0.1).max(1e-15);
                    ended = gain <= 1e-15 * cost && size <= 1e-9 * level;
                    break;
                }
                if size <= 1e-15 * level {
                    break;
                }
                damping *= 8.0;
            }
            if ended {
                let edge = self.at_edge(theta, wanted, &gradient, &length);
                if edge.is_empty() {
                    return Ok(());
                }
                held.extend(edge);
                damping = 1e-3;
            }
        }
        Ok(())
    }
}
