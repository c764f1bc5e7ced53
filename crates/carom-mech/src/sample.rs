//! Generic points: where ranks and identities are decided.
//!
//! A rank is generic when it holds at random states that satisfy all conditions g = 0 known so far. Points are drawn
//! near the start (so that they lie in the domain of the formulas) from a fixed seed, with the model's parameter
//! values, and moved onto the conditions by Newton steps of least norm.
//!
//! Every value comes with a magnitude, the size its terms had before they cancelled: |a| + |b| for a + b, and for a
//! coordinate its size when the point was drawn. A value is zero when it is below 1e-9 of its magnitude at every
//! point.

use crate::model::Model;
use crate::symbols::Symbols;
use carom_expr::{Dag, Exponent, Expr, Function, Random, Symbol, evaluate_function};
use carom_jet::dense::least_norm;
use carom_jet::values::{Evaluator, Scalar};

/// Below this part of its magnitude a value is zero.
const ZERO: f64 = 1e-9;
/// How far from the start points are drawn, in parts of the size of a coordinate.
pub(crate) const AROUND: f64 = 0.5;
/// How many points.
const POINTS: usize = 3;

/// A value and the size of what it was made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Magnitude {
    pub value: f64,
    pub magnitude: f64,
}

impl Magnitude {
    fn exact(value: f64) -> Magnitude {
        Magnitude { value, magnitude: value.abs() }
    }

    fn is_zero(self) -> bool {
        self.value == 0.0 || self.value.abs() <= ZERO * self.magnitude
    }
}

impl Scalar for Magnitude {
    fn number(x: f64) -> Magnitude {
        Magnitude::exact(x)
    }

    fn add(self, k: f64, x: Magnitude) -> Magnitude {
        Magnitude { value: self.value + k * x.value, magnitude: self.magnitude + k.abs() * x.magnitude }
    }

    fn multiply(self, x: Magnitude, n: Exponent) -> Magnitude {
        let value = n.power(x.value);
        let magnitude = if n.value() > 0.0 { n.power(x.magnitude) } else { value.abs() };
        Magnitude { value: self.value * value, magnitude: self.magnitude * magnitude }
    }

    fn power(self, y: Magnitude) -> Magnitude {
        Magnitude::exact(self.value.powf(y.value))
    }

    fn function(f: Function, x: Magnitude, y: Magnitude) -> Magnitude {
        let value = evaluate_function(f, x.value, y.value);
        // How much f moves when its argument moves by a little of its own magnitude, scaled up again.
        const LITTLE: f64 = 1e-3;
        let moved = evaluate_function(f, x.value + LITTLE * x.magnitude, y.value);
        let swing = (moved - value).abs() / LITTLE;
        let swing = if swing.is_finite() { swing } else { 0.0 };
        Magnitude { value, magnitude: value.abs().max(swing) }
    }
}

#[derive(Clone)]
struct SamplePoint {
    symbols: Vec<f64>,
    /// |symbol| when the point was drawn: a coordinate that the conditions force to zero keeps this as its size.
    scales: Vec<f64>,
    /// Values found so far, by their place in the evaluator.
    known: Vec<Magnitude>,
}

/// Random states of a model.
#[derive(Clone)]
pub(crate) struct Samples {
    points: Vec<SamplePoint>,
    /// What was asked for so far.
    formulas: Evaluator,
    /// Positions, velocities (or momenta) of the free coordinates: what is moved to satisfy conditions.
    pub state: Vec<Expr>,
}

impl Samples {
    /// Points near the start, at most `width` of their size away from it, at which all of `domain` are finite. Empty if
    /// none was found.
    pub fn new(
        model: &Model,
        all_symbols: &Symbols,
        hamiltonian: bool,
        domain: &[Expr],
        width: f64,
    ) -> Samples {
        Samples::many(model, all_symbols, hamiltonian, domain, width, POINTS)
    }

    /// As [`Samples::new`], up to `count` points.
    pub fn many(
        model: &Model,
        all_symbols: &Symbols,
        hamiltonian: bool,
        domain: &[Expr],
        mut width: f64,
        count: usize,
    ) -> Samples {
        let dag = &model.dag;
        let (q, rates) =
            (all_symbols.free_q(), if hamiltonian { all_symbols.free_p() } else { all_symbols.free_v() });
        let state: Vec<Expr> = q.iter().chain(&rates).copied().collect();
        let mut random = Random(1);
        let mut points = Vec::new();
        let mut formulas = Evaluator::default();
        let places: Vec<usize> = domain.iter().map(|&e| formulas.add(dag, e)).collect();
        for _ in 0..40.max(4 * count) {
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
            for &i in &all_symbols.free {
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
            let mut point = SamplePoint::new(symbols);
            point.evaluate(&formulas);
            if places.iter().all(|&place| point.known[place].value.is_finite()) {
                points.push(point);
                if points.len() == count {
                    break;
                }
            } else {
                width *= 0.7;
            }
        }
        Samples { points, formulas, state }
    }

    /// One given point.
    pub fn at(symbols: Vec<f64>, state: Vec<Expr>) -> Samples {
        Samples { points: vec![SamplePoint::new(symbols)], formulas: Evaluator::default(), state }
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// The values of `e`, one per point.
    pub fn values(&mut self, dag: &Dag, e: Expr) -> Vec<Magnitude> {
        self.points_at(dag, e).collect()
    }

    /// The same, one after the other.
    fn points_at(&mut self, dag: &Dag, e: Expr) -> impl Iterator<Item = Magnitude> {
        let place = self.formulas.add(dag, e);
        let formulas = &self.formulas;
        self.points.iter_mut().map(move |p| p.value(formulas, place))
    }

    /// Is `e` zero at every point?
    pub fn vanishes(&mut self, dag: &Dag, e: Expr) -> bool {
        dag.is_zero(e) || self.points_at(dag, e).all(Magnitude::is_zero)
    }

    /// Is `e` far from zero at every point?
    pub fn safe_pivot(&mut self, dag: &Dag, e: Expr) -> bool {
        self.points_at(dag, e).all(|x| x.value.is_finite() && x.value.abs() > 1e-4 * x.magnitude)
    }

    /// The matrix at one point.
    pub fn matrix(&mut self, dag: &Dag, point: usize, rows: &[Vec<Expr>]) -> Vec<Vec<f64>> {
        let (formulas, point) = (&mut self.formulas, &mut self.points[point]);
        let mut entry = |e: Expr| {
            let place = formulas.add(dag, e);
            let x = point.value(formulas, place);
            if x.is_zero() { 0.0 } else { x.value }
        };
        rows.iter().map(|row| row.iter().map(|&e| entry(e)).collect()).collect()
    }

    /// Moves every point onto `conditions` by Newton steps in `unknowns`; points that do not get there are dropped.
    pub fn project(&mut self, dag: &Dag, conditions: &[Expr], jacobian: &[Vec<Expr>], unknowns: &[Expr]) {
        if conditions.is_empty() {
            return;
        }
        let equations = CompiledConditions::new(dag, conditions, jacobian, unknowns);
        self.points.retain_mut(|p| p.project(&equations));
        // What was known belongs to where the points were.
        self.formulas = Evaluator::default();
    }
}

/// Conditions g = 0 with their derivatives, compiled.
struct CompiledConditions {
    conditions: Compiled,
    jacobian: Compiled,
    /// The symbols that may move.
    unknowns: Vec<usize>,
}

/// A matrix of formulas.
struct Compiled {
    formulas: Evaluator,
    places: Vec<Vec<usize>>,
}

impl Compiled {
    fn new<'e>(dag: &Dag, rows: impl IntoIterator<Item = &'e [Expr]>) -> Compiled {
        let mut formulas = Evaluator::default();
        let mut place = |e: &Expr| formulas.add(dag, *e);
        let places = rows.into_iter().map(|row| row.iter().map(&mut place).collect()).collect();
        Compiled { formulas, places }
    }

    fn at(&self, point: &mut SamplePoint) -> Vec<Vec<Magnitude>> {
        point.known.clear();
        point.evaluate(&self.formulas);
        self.places.iter().map(|row| row.iter().map(|&place| point.known[place]).collect()).collect()
    }
}

impl CompiledConditions {
    fn new(dag: &Dag, conditions: &[Expr], jacobian: &[Vec<Expr>], unknowns: &[Expr]) -> CompiledConditions {
        CompiledConditions {
            conditions: Compiled::new(dag, [conditions]),
            jacobian: Compiled::new(dag, jacobian.iter().map(Vec::as_slice)),
            unknowns: unknowns.iter().filter_map(|&x| dag.as_symbol(x)).map(Symbol::index).collect(),
        }
    }

    /// What is left of the conditions, and the largest part of its magnitude; none where they have no value.
    fn residual(&self, point: &mut SamplePoint) -> Option<(Vec<f64>, f64)> {
        let values = self.conditions.at(point).concat();
        let part = |x: &Magnitude| x.value.abs() / x.magnitude.max(f64::MIN_POSITIVE);
        let size = values.iter().map(part).fold(0.0, f64::max);
        let finite = values.iter().all(|x| x.value.is_finite());
        finite.then(|| (values.iter().map(|x| x.value).collect(), size))
    }

    fn matrix(&self, point: &mut SamplePoint) -> Vec<Vec<f64>> {
        let numbers = |row: &Vec<Magnitude>| row.iter().map(|x| x.value).collect();
        self.jacobian.at(point).iter().map(numbers).collect()
    }
}

impl SamplePoint {
    fn new(symbols: Vec<f64>) -> SamplePoint {
        let scales = symbols.iter().map(|x| x.abs()).collect();
        SamplePoint { symbols, scales, known: Vec::new() }
    }

    /// Newton with halving steps; quadratic convergence needs few, far starts need damping.
    fn project(&mut self, equations: &CompiledConditions) -> bool {
        let moved = self.newton(equations);
        self.known.clear();
        moved
    }

    fn newton(&mut self, equations: &CompiledConditions) -> bool {
        let slots = &equations.unknowns;
        let Some((mut values, mut size)) = equations.residual(self) else { return false };
        for _ in 0..60 {
            if size < 1e-13 {
                return true;
            }
            let matrix = equations.matrix(self);
            let right: Vec<f64> = values.iter().map(|x| -x).collect();
            let step = least_norm(&matrix, slots.len(), &right);
            let before: Vec<f64> = slots.iter().map(|&s| self.symbols[s]).collect();
            let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>();
            let mut factor = 1.0;
            loop {
                for ((&s, &x), &d) in slots.iter().zip(&before).zip(&step) {
                    self.symbols[s] = x + factor * d;
                }
                match equations.residual(self) {
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

    /// The value at a place of `formulas`.
    fn value(&mut self, formulas: &Evaluator, place: usize) -> Magnitude {
        if self.known.len() <= place {
            self.evaluate(formulas);
        }
        self.known[place]
    }

    fn evaluate(&mut self, formulas: &Evaluator) {
        let (symbols, scales) = (&self.symbols, &self.scales);
        formulas.evaluate(&mut self.known, |slot| {
            let at = formulas.symbols()[slot].index();
            let value = symbols.get(at).copied().unwrap_or(0.0);
            Magnitude { value, magnitude: scales.get(at).copied().unwrap_or(0.0).max(value.abs()) }
        });
    }
}
