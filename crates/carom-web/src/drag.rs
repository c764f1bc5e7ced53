//! A drawn point is pulled to a place: which start positions put it there?
//!
//! ```text
//! minimise |r(q) − target|² subject to c(q, t₀) = 0 :   (JᵀJ + ε I) δq = −Jᵀ ρ,   ρ = (r(q) − target, c(q)),   J = ∂ρ/∂q
//! ```
//!
//! over the coordinates that are not driven, from where they are now (Levenberg–Marquardt: ε falls while it succeeds). A place
//! that cannot be reached gives the nearest found, and says so.

use crate::ask::Ask;
use crate::{Answer, Engine, problems};
use carom::{Error, doors};
use carom_expr::{Expr, Symbol};
use carom_mech::{Mechanics, RowKind};
use carom_show::formula::{Meaning, curves, meaning};
use carom_show::view;
use serde_json::{Map, Value, json};

/// Steps of the iteration at most.
const MOST_STEPS: usize = 60;
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
        let mut problem = Problem::new(&mut mechanics, &at_point, &target, time);
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

struct Problem<'a> {
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

impl<'a> Problem<'a> {
    fn new(mechanics: &'a mut Mechanics, point: &[Expr], target: &[f64], time: f64) -> Problem<'a> {
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
        Problem {
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
            Meaning::Known(x) => x,
            Meaning::Time => self.time,
            Meaning::Position(k) => q[k],
            Meaning::Input(i, order) => curves[i].value(order, self.time),
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
    fn solve(&mut self, mut q: Vec<f64>) -> (Vec<f64>, f64) {
        let n = self.free.len();
        let residual = |values: &[f64]| -> Vec<f64> {
            values.iter().enumerate().map(|(i, x)| x - self.target.get(i).copied().unwrap_or(0.0)).collect()
        };
        let norm = |r: &[f64]| r.iter().map(|x| x * x).sum::<f64>();
        let (values, mut jacobian) = self.values(&q);
        let mut rho = residual(&values);
        let mut damping = 1e-3;
        for _ in 0..MOST_STEPS {
            if norm(&rho) < 1e-24 || n == 0 {
                break;
            }
            // Normal equations with damping, solved by elimination: small and positive definite.
            let mut a = vec![0.0; n * n];
            let mut b = vec![0.0; n];
            for r in 0..self.residuals {
                let row = &jacobian[r * n..(r + 1) * n];
                for i in 0..n {
                    b[i] -= row[i] * rho[r];
                    for j in 0..n {
                        a[i * n + j] += row[i] * row[j];
                    }
                }
            }
            (0..n).for_each(|i| a[i * n + i] += damping);
            let Some(step) = solve(a, b) else { break };
            let mut next = q.clone();
            self.free.iter().zip(&step).for_each(|(&i, dq)| next[i] += dq);
            let (values, next_jacobian) = self.values(&next);
            let next_rho = residual(&values);
            if norm(&next_rho).is_finite() && norm(&next_rho) < norm(&rho) {
                (q, rho, jacobian) = (next, next_rho, next_jacobian);
                damping = (damping * 0.2).max(1e-12);
            } else {
                damping *= 8.0;
                if damping > 1e8 {
                    break;
                }
            }
        }
        (q, norm(&rho).sqrt())
    }
}

/// a x = b by elimination; `None` when a pivot vanishes.
fn solve(mut a: Vec<f64>, mut b: Vec<f64>) -> Option<Vec<f64>> {
    let n = b.len();
    for k in 0..n {
        let pivot = a[k * n + k];
        if !(pivot.is_finite() && pivot > 0.0) {
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
