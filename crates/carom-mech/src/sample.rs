//! Generic points: where ranks and identities are decided.
//!
//! A rank is generic when it holds at random states that satisfy all conditions g = 0 known so far. Points are drawn
//! near the start (so that they lie in the domain of the formulas) from a fixed seed, with the model's parameter
//! values, and moved onto the conditions by Newton steps of least norm.
//!
//! Every value comes with a magnitude, the size its terms had before they cancelled: |a| + |b| for a + b, and for a
//! coordinate its size when the point was drawn. A value is zero when it is below 1e-9 of its magnitude at every
//! point.

use crate::frame::Frame;
use crate::model::Model;
use carom_expr::{Constant, Dag, Expr, Node, Symbol, evaluate_function};
use carom_jet::dense::{Random, least_norm};

/// Below this part of its magnitude a value is zero.
const ZERO: f64 = 1e-9;
/// How far from the start points are drawn, in parts of the size of a coordinate.
pub(crate) const AROUND: f64 = 0.5;
/// How many points.
const POINTS: usize = 3;

/// A value and the size of what it was made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sized {
    pub value: f64,
    pub magnitude: f64,
}

impl Sized {
    fn is_zero(self) -> bool {
        self.value == 0.0 || self.value.abs() <= ZERO * self.magnitude
    }
}

#[derive(Clone)]
struct Point {
    symbols: Vec<f64>,
    /// |symbol| when the point was drawn: a coordinate that the conditions force to zero keeps this as its size.
    scales: Vec<f64>,
    /// Values found so far, by position in the DAG.
    known: Vec<Option<Sized>>,
}

/// Random states of a model.
#[derive(Clone)]
pub(crate) struct Samples {
    points: Vec<Point>,
    /// Positions, velocities (or momenta) of the free coordinates: what is moved to satisfy conditions.
    pub state: Vec<Expr>,
}

impl Samples {
    /// Points near the start, at most `width` of their size away from it, at which all of `domain` are finite. Empty if
    /// none was found.
    pub fn new(model: &Model, frame: &Frame, hamiltonian: bool, domain: &[Expr], mut width: f64) -> Samples {
        let dag = &model.dag;
        let (q, rates) = (frame.free_q(), if hamiltonian { frame.free_p() } else { frame.free_v() });
        let state: Vec<Expr> = q.iter().chain(&rates).copied().collect();
        let mut random = Random(1);
        let mut points = Vec::new();
        for _ in 0..40 {
            let mut symbols = vec![0.0; dag.symbol_count()];
            let mut put = |e: Expr, x: f64| {
                if let Some(s) = dag.as_symbol(e) {
                    symbols[s.index()] = x;
                }
            };
            for p in &model.parameters {
                put(p.symbol, p.value);
            }
            for u in &model.inputs {
                let first = u.values.first().copied().unwrap_or(0.0);
                put(u.value, first + width * random.symmetric());
                put(u.rate, width * random.symmetric());
                put(u.second, width * random.symmetric());
            }
            put(model.time, model.start.time + width * random.symmetric().abs());
            for &i in &frame.free {
                let c = &model.coordinates[i];
                let start = |x: Option<f64>| x.filter(|x| x.is_finite()).unwrap_or(0.0);
                let (x, v, p) = (
                    start(model.start.position[i]),
                    start(model.start.velocity[i]),
                    start(model.start.momentum[i]),
                );
                put(c.position, x + width * x.abs().max(1.0) * random.symmetric());
                put(c.velocity, v + width * v.abs().max(1.0) * random.symmetric());
                put(c.momentum, p + width * p.abs().max(1.0) * random.symmetric());
            }
            let mut point = Point::new(symbols);
            if domain.iter().all(|&e| point.value(dag, e).value.is_finite()) {
                points.push(point);
                if points.len() == POINTS {
                    break;
                }
            } else {
                width *= 0.7;
            }
        }
        Samples { points, state }
    }

    /// One given point.
    pub fn at(symbols: Vec<f64>, state: Vec<Expr>) -> Samples {
        Samples { points: vec![Point::new(symbols)], state }
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// The values of `e`, one per point.
    pub fn values(&mut self, dag: &Dag, e: Expr) -> Vec<Sized> {
        self.points.iter_mut().map(|p| p.value(dag, e)).collect()
    }

    /// Is `e` zero at every point?
    pub fn vanishes(&mut self, dag: &Dag, e: Expr) -> bool {
        dag.is_zero(e) || self.points.iter_mut().all(|p| p.value(dag, e).is_zero())
    }

    /// Is `e` far from zero at every point?
    pub fn safe_pivot(&mut self, dag: &Dag, e: Expr) -> bool {
        self.points.iter_mut().all(|p| {
            let x = p.value(dag, e);
            x.value.is_finite() && x.value.abs() > 1e-4 * x.magnitude
        })
    }

    /// The matrix at one point.
    pub fn matrix(&mut self, dag: &Dag, point: usize, rows: &[Vec<Expr>]) -> Vec<Vec<f64>> {
        let point = &mut self.points[point];
        rows.iter()
            .map(|row| {
                row.iter()
                    .map(|&e| {
                        let x = point.value(dag, e);
                        if x.is_zero() { 0.0 } else { x.value }
                    })
                    .collect()
            })
            .collect()
    }

    /// Moves every point onto `conditions` by Newton steps in `unknowns`; points that do not get there are dropped.
    pub fn project(&mut self, dag: &Dag, conditions: &[Expr], jacobian: &[Vec<Expr>], unknowns: &[Expr]) {
        if conditions.is_empty() {
            return;
        }
        self.points.retain_mut(|p| p.project(dag, conditions, jacobian, unknowns));
    }
}

impl Point {
    fn new(symbols: Vec<f64>) -> Point {
        let scales = symbols.iter().map(|x| x.abs()).collect();
        Point { symbols, scales, known: Vec::new() }
    }

    /// Newton with halving steps; quadratic convergence needs few, far starts need damping.
    fn project(&mut self, dag: &Dag, conditions: &[Expr], jacobian: &[Vec<Expr>], unknowns: &[Expr]) -> bool {
        let slots: Vec<usize> =
            unknowns.iter().filter_map(|&x| dag.as_symbol(x)).map(Symbol::index).collect();
        let residual = |point: &mut Point| -> Option<(Vec<f64>, f64)> {
            let values: Vec<Sized> = conditions.iter().map(|&g| point.value(dag, g)).collect();
            let size =
                values.iter().map(|x| x.value.abs() / x.magnitude.max(f64::MIN_POSITIVE)).fold(0.0, f64::max);
            let finite = values.iter().all(|x| x.value.is_finite());
            finite.then(|| (values.iter().map(|x| x.value).collect(), size))
        };
        let Some((mut values, mut size)) = residual(self) else { return false };
        for _ in 0..60 {
            if size < 1e-13 {
                return true;
            }
            let matrix: Vec<Vec<f64>> =
                jacobian.iter().map(|row| row.iter().map(|&e| self.value(dag, e).value).collect()).collect();
            let right: Vec<f64> = values.iter().map(|x| -x).collect();
            let step = least_norm(&matrix, slots.len(), &right);
            let before: Vec<f64> = slots.iter().map(|&s| self.symbols[s]).collect();
            let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>();
            let mut factor = 1.0;
            loop {
                for ((&s, &x), &d) in slots.iter().zip(&before).zip(&step) {
                    self.symbols[s] = x + factor * d;
                }
                self.known.clear();
                match residual(self) {
                    Some((v, s)) if norm(&v) < norm(&values) || s < 1e-12 => {
                        (values, size) = (v, s);
                        break;
                    }
                    _ if factor < 1e-4 => return size < 1e-11,
                    _ => factor *= 0.5,
                }
            }
        }
        size < 1e-11
    }

    fn value(&mut self, dag: &Dag, e: Expr) -> Sized {
        if self.known.len() <= e.index() {
            self.known.resize(dag.len().max(e.index() + 1), None);
        }
        let mut stack = vec![e];
        while let Some(&top) = stack.last() {
            if self.known[top.index()].is_some() {
                stack.pop();
                continue;
            }
            let before = stack.len();
            let known = &self.known;
            dag.for_each_child(top, |child| {
                if known[child.index()].is_none() {
                    stack.push(child);
                }
            });
            if stack.len() == before {
                stack.pop();
                self.known[top.index()] = Some(self.node_value(dag, top));
            }
        }
        self.child(e)
    }

    /// A value that is known already.
    fn child(&self, e: Expr) -> Sized {
        self.known[e.index()].unwrap_or(Sized { value: f64::NAN, magnitude: f64::NAN })
    }

    fn node_value(&self, dag: &Dag, e: Expr) -> Sized {
        let exact = |value: f64| Sized { value, magnitude: value.abs() };
        match dag.node(e) {
            Node::Number(r) => exact(r.to_f64()),
            Node::Float(x) => exact(*x),
            Node::Constant(Constant::Pi) => exact(std::f64::consts::PI),
            Node::Constant(Constant::E) => exact(std::f64::consts::E),
            Node::Symbol(s) => {
                let value = self.symbols.get(s.index()).copied().unwrap_or(0.0);
                let scale = self.scales.get(s.index()).copied().unwrap_or(0.0);
                Sized { value, magnitude: scale.max(value.abs()) }
            }
            Node::Sum(c, terms) => {
                let mut total = exact(c.to_f64());
                for &(k, t) in terms.iter() {
                    let (k, x) = (k.to_f64(), self.child(t));
                    total.value += k * x.value;
                    total.magnitude += k.abs() * x.magnitude;
                }
                total
            }
            Node::Product(c, factors) => {
                let mut total = exact(c.to_f64());
                for &(b, n) in factors.iter() {
                    let (n, x) = (n.to_f64(), self.child(b));
                    let value = if n == 1.0 { x.value } else { x.value.powf(n) };
                    let value =
                        if n.fract() == 0.0 && n.abs() < 1e9 { x.value.powi(n as i32) } else { value };
                    total.value *= value;
                    total.magnitude *= if n > 0.0 { x.magnitude.powf(n) } else { value.abs() };
                }
                total
            }
            Node::Power(b, n) => exact(self.child(*b).value.powf(self.child(*n).value)),
            Node::Function(f, args) => {
                let second = args.get(1).map_or(0.0, |a| self.child(*a).value);
                let x = self.child(args[0]);
                let value = evaluate_function(*f, x.value, second);
                // How much f moves when its argument moves by a little of its own magnitude, scaled up again.
                const LITTLE: f64 = 1e-3;
                let moved = evaluate_function(*f, x.value + LITTLE * x.magnitude, second);
                let swing = (moved - value).abs() / LITTLE;
                let swing = if swing.is_finite() { swing } else { 0.0 };
                Sized { value, magnitude: value.abs().max(swing) }
            }
        }
    }
}
