//! A drawn point is pulled to a place: which start positions put it there?
//!
//! ```text
//! minimise |r(q) − target|² subject to c(q, t₀) = 0
//! step:     (JᵀJ + ε I) δ + Cᵀμ = −Jᵀ(r − target),   C δ = 0,          J = ∂r/∂q,  C = ∂c/∂q
//! restore:  q ← q − Cᵀ(C Cᵀ)⁻¹ c                                       (until c is rounding)
//! ```
//!
//! over the coordinates that are not driven, from where they are now (Levenberg–Marquardt along the constraints: ε falls while it
//! succeeds). Promise: the rows hold to rounding wherever the point is pulled; a place that cannot be reached gives the nearest
//! found, and says so.

use crate::ask::Ask;
use crate::{Answer, Engine, problems};
use carom::{Error, doors};
use carom_expr::{Expr, Symbol};
use carom_mech::{Mechanics, RowKind};
use carom_show::formula::{SymbolMeaning, curves, meaning};
use carom_show::view;
use serde_json::{Map, Value, json};

/// Steps of the iteration at most.
const MOST_STEPS: usize = 60;
/// Part of a row's size that keeps rows which depend on each other solvable.
const REDUNDANT: f64 = 1e-12;
/// Coordinates a picture can be dragged by.
const MOST_COORDINATES: usize = 200;

impl Engine {
    /// Start positions that put a drawn point to a place.
    pub fn drag(&mut self, ask: &Ask<'_>) -> Result<Answer, String> {
        let target = ask.numbers("target");
        if target.iter().any(|x| !x.is_finite()) {
            return Err("the target is no place".to_owned());
        }
        let refused = |error: &Error| {
            Answer::of(&json!({
                "ok": false, "diagnostics": problems::list(error.diagnostics(), ask),
                "values": {}, "place": [], "reached": false,
            }))
        };
        let first = self.model(ask).and_then(|model| {
            let mut options = ask.options(&model)?;
            options.max_steps(1).samples(2);
            let motion = model.simulate(&options)?;
            let mechanics = doors::mechanics(&motion)?;
            Ok((model, motion, mechanics))
        });
        let (model, motion, mut mechanics) = match first {
            Ok(all) => all,
            Err(error) => return Ok(refused(&error)),
        };
        let scene =
            view::scene(&mut mechanics).map_err(|_| "the model does not say where things are".to_owned())?;
        let point = ask.count("point").and_then(|i| scene.points.get(i)).ok_or("there is no such point")?;
        if target.len() < point.at.len() || mechanics.model.coordinates.len() > MOST_COORDINATES {
            return Err("the target is no place of this picture".to_owned());
        }
        let inner = doors::motion(&motion);
        let at: Vec<f64> = inner.position.iter().map(|s| s.values.first().copied().unwrap_or(0.0)).collect();
        let time = inner.time.first().copied().unwrap_or(0.0);
        let at_point = point.at.clone();
        let problem = DragProblem::new(&mut mechanics, &at_point, &target, time);
        let (q, distance) = problem.solve(at);
        let place = problem.place(&q);
        let size = target.iter().chain(&place).fold(1e-3_f64, |a, x| a.max(x.abs()));
        let checked = doors::checked(&model);
        let mut values = Map::new();
        for (i, c) in checked.coordinates.iter().enumerate().filter(|(_, c)| c.driven.is_none()) {
            let given = checked.start.position[i].is_some() || ask.values().iter().any(|(n, _)| *n == c.name);
            if checked.rows.is_empty() || given {
                values.insert(c.name.clone(), json!(q[i]));
            }
        }
        Ok(Answer::of(&json!({
            "ok": true, "diagnostics": [], "values": Value::Object(values),
            "place": place, "reached": distance <= 1e-3 * size,
        })))
    }
}

struct DragProblem<'a> {
    mechanics: &'a Mechanics,
    /// r(q), then c(q), then ∂/∂q of each, row by row.
    roots: Vec<Expr>,
    target: Vec<f64>,
    residuals: usize,
    dimension: usize,
    /// Indices of the coordinates that move.
    free: Vec<usize>,
    time: f64,
}

impl<'a> DragProblem<'a> {
    fn new(mechanics: &'a mut Mechanics, point: &[Expr], target: &[f64], time: f64) -> DragProblem<'a> {
        let model = &mut mechanics.model;
        let rows = model.rows.iter().filter(|r| r.kind == RowKind::Holonomic).map(|r| r.expr);
        let residuals: Vec<Expr> = point.iter().copied().chain(rows).collect();
        let free: Vec<usize> =
            (0..model.coordinates.len()).filter(|&i| model.coordinates[i].driven.is_none()).collect();
        let mut roots = residuals.clone();
        for &r in &residuals {
            for &i in &free {
                let q = model.coordinates[i].position;
                roots.push(model.dag.derivative(r, q));
            }
        }
        DragProblem {
            mechanics,
            roots,
            target: target[..point.len()].to_vec(),
            residuals: residuals.len(),
            dimension: point.len(),
            free,
            time,
        }
    }

    /// ρ and J at q.
    fn values(&self, q: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let model = &self.mechanics.model;
        let curves = curves(model);
        let value = |symbol: Symbol| match meaning(model, symbol) {
            SymbolMeaning::Known(x) => x,
            SymbolMeaning::Time => self.time,
            SymbolMeaning::Position(k) => q[k],
            SymbolMeaning::Input(i, order) => curves[i].value(order, self.time),
            _ => 0.0,
        };
        let mut all = model.dag.evaluate_all(&self.roots, value);
        all.truncate(self.roots.len());
        let jacobian = all.split_off(self.residuals);
        (all, jacobian)
    }

    fn place(&self, q: &[f64]) -> Vec<f64> {
        self.values(q).0[..self.dimension].to_vec()
    }

    /// The nearest q and the distance that is left.
    fn solve(&self, start: Vec<f64>) -> (Vec<f64>, f64) {
        let n = self.free.len();
        let distance = |values: &[f64]| {
            values.iter().zip(&self.target).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt()
        };
        let (mut q, mut values, mut jacobian) = self.restore(start);
        let mut damping = 1e-3;
        for _ in 0..MOST_STEPS {
            if distance(&values) < 1e-12 || n == 0 {
                break;
            }
            let Some(step) = self.step(&values, &jacobian, damping) else { break };
            let mut next = q.clone();
            self.free.iter().zip(&step).for_each(|(&i, dq)| next[i] += dq);
            let (next, next_values, next_jacobian) = self.restore(next);
            if distance(&next_values) < distance(&values) {
                (q, values, jacobian) = (next, next_values, next_jacobian);
                damping = (damping * 0.2).max(1e-12);
            } else {
                damping *= 8.0;
                if damping > 1e8 {
                    break;
                }
            }
        }
        let left = distance(&values);
        (q, left)
    }

    /// A damped step towards the target along the rows.
    fn step(&self, values: &[f64], jacobian: &[f64], damping: f64) -> Option<Vec<f64>> {
        let (n, rows) = (self.free.len(), self.residuals - self.dimension);
        let size = n + rows;
        let (mut a, mut b) = (vec![0.0; size * size], vec![0.0; size]);
        for r in 0..self.dimension {
            let row = &jacobian[r * n..(r + 1) * n];
            for i in 0..n {
                b[i] -= row[i] * (values[r] - self.target[r]);
                for j in 0..n {
                    a[i * size + j] += row[i] * row[j];
                }
            }
        }
        (0..n).for_each(|i| a[i * size + i] += damping);
        for r in 0..rows {
            let row = &jacobian[(self.dimension + r) * n..(self.dimension + r + 1) * n];
            let norm = row.iter().map(|x| x * x).sum::<f64>();
            for i in 0..n {
                a[(n + r) * size + i] = row[i];
                a[i * size + n + r] = row[i];
            }
            // Rows that say the same twice share their multiplier.
            a[(n + r) * size + n + r] = -REDUNDANT * norm;
        }
        let mut all = solve(a, b)?;
        all.truncate(n);
        Some(all)
    }

    /// Newton's method onto the rows, by the smallest changes, until rounding stops it; with values and derivatives there.
    fn restore(&self, mut q: Vec<f64>) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let (n, d, rows) = (self.free.len(), self.dimension, self.residuals - self.dimension);
        let off = |values: &[f64]| values[d..].iter().map(|c| c.abs()).sum::<f64>();
        let (mut values, mut jacobian) = self.values(&q);
        for _ in 0..MOST_STEPS {
            if off(&values) == 0.0 {
                break;
            }
            let row = |r: usize| &jacobian[(d + r) * n..(d + r + 1) * n];
            let dot = |r: usize, s: usize| row(r).iter().zip(row(s)).map(|(x, y)| x * y).sum::<f64>();
            let mut a: Vec<f64> = (0..rows * rows).map(|k| dot(k / rows, k % rows)).collect();
            (0..rows).for_each(|r| a[r * rows + r] *= 1.0 + REDUNDANT);
            let Some(y) = solve(a, values[d..].to_vec()) else { break };
            let mut next = q.clone();
            for (k, &i) in self.free.iter().enumerate() {
                next[i] -= (0..rows).map(|r| row(r)[k] * y[r]).sum::<f64>();
            }
            let (next_values, next_jacobian) = self.values(&next);
            // False for what is not a number, too.
            let nearer = off(&next_values) < off(&values);
            if !nearer {
                break;
            }
            (q, values, jacobian) = (next, next_values, next_jacobian);
        }
        (q, values, jacobian)
    }
}

/// a x = b by elimination with the largest pivot of each column; `None` when one vanishes.
fn solve(mut a: Vec<f64>, mut b: Vec<f64>) -> Option<Vec<f64>> {
    let n = b.len();
    for k in 0..n {
        let largest = (k..n).max_by(|&i, &j| a[i * n + k].abs().total_cmp(&a[j * n + k].abs()))?;
        if largest != k {
            (0..n).for_each(|j| a.swap(k * n + j, largest * n + j));
            b.swap(k, largest);
        }
        let pivot = a[k * n + k];
        if !(pivot.is_finite() && pivot != 0.0) {
            return None;
        }
        for i in k + 1..n {
            let factor = a[i * n + k] / pivot;
            for j in k..n {
                a[i * n + j] -= factor * a[k * n + j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|j| a[k * n + j] * b[j]).sum();
        b[k] = (b[k] - sum) / a[k * n + k];
    }
    Some(b)
}
