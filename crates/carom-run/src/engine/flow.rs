//! The evaluator of a tape: values at a state, or power series around it. All storage is made once.
//!
//! Row r occupies `rows[r·stride .. r·stride + order + 1]`: coefficient k multiplies (t − t₀)^k.

use super::factor::Factor;
use super::system::Singular;
use super::tape::{Block, ConstantOp, Op, Row, Start, Tape, Value};
use super::time::Time;
use carom_expr::evaluate_function;
use std::sync::Arc;

/// A tape with its workspace.
#[derive(Clone, Debug)]
pub struct Flow {
    tape: Arc<Tape>,
    order: usize,
    stride: usize,
    rows: Vec<f64>,
    constants: Vec<f64>,
    factors: Vec<Factor>,
    right_side: Vec<f64>,
    /// Rows of watched functions that are constant in time.
    constant_watched: Vec<f64>,
}

/// p(h) = Σ p_k h^k.
pub fn horner(row: &[f64], h: f64) -> f64 {
    row.iter().rev().fold(0.0, |sum, &c| sum * h + c)
}

impl Flow {
    /// A workspace for series up to `order` ≥ 1. Parameters are 0 until set.
    pub fn new(tape: Arc<Tape>, order: usize) -> Flow {
        let order = order.max(1);
        let stride = order + 1;
        let largest = tape.blocks.iter().map(|b| b.size).max().unwrap_or(0);
        let mut flow = Flow {
            order,
            stride,
            rows: vec![0.0; tape.rows * stride],
            constants: vec![0.0; tape.constants.len()],
            factors: tape.blocks.iter().map(|b| Factor::new(b.size)).collect(),
            right_side: vec![0.0; largest],
            constant_watched: vec![0.0; tape.watched.len() * stride],
            tape,
        };
        let zeros = vec![0.0; flow.tape.parameters];
        flow.set_parameters(&zeros);
        flow
    }

    /// The tape.
    pub fn tape(&self) -> &Arc<Tape> {
        &self.tape
    }

    /// The highest power of a jet.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Sets the parameters and computes everything that depends on them only.
    ///
    /// # Panics
    /// When the number of values is not the number of parameters.
    pub fn set_parameters(&mut self, parameters: &[f64]) {
        assert_eq!(parameters.len(), self.tape.parameters, "one value per parameter");
        for (slot, op) in self.tape.constants.iter().enumerate() {
            let constants = &self.constants;
            let at = |slot: u32| constants[slot as usize];
            self.constants[slot] = match op {
                ConstantOp::Number(x) => *x,
                ConstantOp::Parameter(i) => parameters[*i],
                ConstantOp::Sum(c, terms) => terms.iter().fold(*c, |sum, &(k, s)| sum + k * at(s)),
                ConstantOp::Product(c, factors) => {
                    factors.iter().fold(*c, |product, &(s, n)| product * power(at(s), n))
                }
                ConstantOp::Power(b, n) => at(*b).powf(at(*n)),
                ConstantOp::Function(f, x, y) => evaluate_function(*f, at(*x), at(*y)),
            };
        }
        for (i, value) in self.tape.watched.iter().enumerate() {
            if let Value::Constant(slot) = value {
                self.constant_watched[i * self.stride] = self.constants[*slot as usize];
            }
        }
    }

    fn start(&mut self, time: Time, state: &[f64]) {
        let n = self.tape.dimension;
        assert_eq!(state.len(), n, "one value per state variable");
        for (i, &x) in state.iter().enumerate() {
            self.rows[i * self.stride] = x;
        }
        self.rows[n * self.stride] = time.value();
        self.rows[n * self.stride + 1] = 1.0;
    }

    /// Values of everything at a state: afterwards [`Flow::rate`], [`Flow::unknown`] and [`Flow::watched`] give them.
    /// Series from an earlier jet are lost.
    ///
    /// # Errors
    /// When a block is singular.
    pub fn evaluate(&mut self, time: Time, state: &[f64]) -> Result<(), Singular> {
        self.start(time, state);
        let tape = Arc::clone(&self.tape);
        tape.ops.iter().try_for_each(|op| self.run_first(&tape, op))
    }

    /// The power series of state, unknowns and watched functions around (time, state).
    ///
    /// # Errors
    /// When a block is singular at the state.
    pub fn jet(&mut self, time: Time, state: &[f64]) -> Result<(), Singular> {
        self.evaluate(time, state)?;
        let tape = Arc::clone(&self.tape);
        self.advance_state(&tape, 0);
        for k in 1..self.order {
            for &i in &tape.middle {
                self.run(&tape, &tape.ops[i as usize], k);
            }
            self.advance_state(&tape, k);
        }
        for &i in &tape.last {
            self.run(&tape, &tape.ops[i as usize], self.order);
        }
        Ok(())
    }

    /// x_{k+1} = rate_k / (k+1)
    fn advance_state(&mut self, tape: &Tape, k: usize) {
        let divisor = (k + 1) as f64;
        if tape.rate.is_empty() {
            for i in 0..tape.dimension {
                self.rows[i * self.stride + k + 1] = 0.0;
            }
        }
        for (i, rate) in tape.rate.iter().enumerate() {
            self.rows[i * self.stride + k + 1] = self.coefficient(*rate, k) / divisor;
        }
        if k > 0 {
            self.rows[tape.dimension * self.stride + k + 1] = 0.0;
        }
    }

    // ---- results -----------------------------------------------------------------------------------------

    fn series(&self, row: Row) -> &[f64] {
        &self.rows[row as usize * self.stride..][..self.stride]
    }

    /// Coefficients 0 … order of state variable `i`, after a jet.
    pub fn state(&self, i: usize) -> &[f64] {
        assert!(i < self.tape.dimension, "a state variable");
        self.series(i as Row)
    }

    /// Coefficients of all state variables, `order + 1` each, one after the other.
    pub fn states(&self) -> &[f64] {
        &self.rows[..self.tape.dimension * self.stride]
    }

    /// The state at t₀ + h, after a jet.
    pub fn state_at(&self, h: f64, into: &mut [f64]) {
        for (i, x) in into.iter_mut().enumerate() {
            *x = horner(self.state(i), h);
        }
    }

    /// Coefficients 0 … order of watched function `i`, after a jet. After [`Flow::evaluate`] only the first counts.
    pub fn watched(&self, i: usize) -> &[f64] {
        match self.tape.watched[i] {
            Value::Row(row) => self.series(row),
            Value::Constant(_) => &self.constant_watched[i * self.stride..][..self.stride],
        }
    }

    /// Watched function `i` at t₀ + h, after a jet.
    pub fn watched_at(&self, i: usize, h: f64) -> f64 {
        horner(self.watched(i), h)
    }

    /// Coefficients 0 … order − 1 of an unknown of a block, after a jet. (To have the last one too, watch it.)
    pub fn unknown(&self, block: usize, i: usize) -> &[f64] {
        let block = &self.tape.blocks[block];
        assert!(i < block.size, "an unknown of the block");
        &self.series(block.first + i as Row)[..self.order]
    }

    /// The rate of state variable `i` at the expansion point.
    pub fn rate(&self, i: usize) -> f64 {
        self.coefficient(self.tape.rate[i], 0)
    }

    fn coefficient(&self, value: Value, k: usize) -> f64 {
        match value {
            Value::Row(row) => self.rows[row as usize * self.stride + k],
            Value::Constant(slot) if k == 0 => self.constants[slot as usize],
            Value::Constant(_) => 0.0,
        }
    }

    // ---- order 0 -----------------------------------------------------------------------------------------

    fn run_first(&mut self, tape: &Tape, op: &Op) -> Result<(), Singular> {
        let stride = self.stride;
        let first = |row: Row| self.rows[row as usize * stride];
        let (out, value) = match op {
            Op::Dot { out, constant, linear, products } => {
                let mut sum = self.constants[*constant as usize];
                for l in linear {
                    sum += self.constants[l.coefficient as usize] * first(l.a);
                }
                for p in products {
                    sum += self.constants[p.coefficient as usize] * (first(p.a) * first(p.b));
                }
                (*out, sum)
            }
            Op::Divide { out, a, b } => (*out, self.coefficient(*a, 0) / first(*b)),
            Op::Euler { out, .. } => (*out, 0.0),
            Op::SinCos { u, sin, cos, .. } => {
                let (s, c) = first(*u).sin_cos();
                self.rows[*sin as usize * stride] = s;
                (*cos, c)
            }
            Op::SinhCosh { u, sinh, cosh, .. } => {
                let u = first(*u);
                self.rows[*sinh as usize * stride] = u.sinh();
                (*cosh, u.cosh())
            }
            Op::Tan { u, tan, weight, hyperbolic, .. } => {
                let u = first(*u);
                let t = if *hyperbolic { u.tanh() } else { u.tan() };
                self.rows[*tan as usize * stride] = t;
                // 1 − tanh² cancels for large u, 1/cosh² does not.
                (*weight, if *hyperbolic { (1.0 / u.cosh()).powi(2) } else { 1.0 + t * t })
            }
            Op::Sqrt { out, u } => (*out, first(*u).sqrt()),
            Op::Power { out, u, exponent } => {
                (*out, float_power(first(*u), self.constants[*exponent as usize]))
            }
            Op::Exp { out, start, .. } | Op::Integrate { out, start, .. } => (*out, self.start_value(start)),
            Op::Solve { block } => return self.solve_first(tape, *block as usize),
        };
        self.rows[out as usize * stride] = value;
        Ok(())
    }

    fn start_value(&self, start: &Start) -> f64 {
        match *start {
            Start::Function(f, u) => evaluate_function(f, self.coefficient(Value::Row(u), 0), 0.0),
            Start::Function2(f, a, b) => evaluate_function(f, self.coefficient(a, 0), self.coefficient(b, 0)),
            Start::Power(a, b) => self.coefficient(a, 0).powf(self.coefficient(b, 0)),
        }
    }

    fn solve_first(&mut self, tape: &Tape, index: usize) -> Result<(), Singular> {
        let block = &tape.blocks[index];
        let n = block.size;
        let (rows, constants, stride) = (&self.rows, &self.constants, self.stride);
        self.factors[index]
            .factor(block.symmetric, |a| {
                a.fill(0.0);
                for &(i, j, value) in &block.entries {
                    a[i as usize * n + j as usize] = match value {
                        Value::Row(row) => rows[row as usize * stride],
                        Value::Constant(slot) => constants[slot as usize],
                    };
                }
            })
            .map_err(|(row, pivot)| Singular { block: index, row, pivot })?;
        self.finish_solve(block, index, 0);
        Ok(())
    }

    /// Adds b_k to `right_side` (zero or the convolutions), solves, stores coefficient k.
    fn finish_solve(&mut self, block: &Block, index: usize, k: usize) {
        let n = block.size;
        if k == 0 {
            self.right_side[..n].fill(0.0);
        }
        for (i, value) in block.right_side.iter().enumerate() {
            let b = self.coefficient(*value, k);
            self.right_side[i] = b - self.right_side[i];
        }
        self.factors[index].solve(&mut self.right_side[..n]);
        for i in 0..n {
            self.rows[(block.first as usize + i) * self.stride + k] = self.right_side[i];
        }
    }

    // ---- orders ≥ 1 --------------------------------------------------------------------------------------

    fn run(&mut self, tape: &Tape, op: &Op, k: usize) {
        let stride = self.stride;
        let rows = &self.rows;
        let series = |row: Row| &rows[row as usize * stride..][..k + 1];
        let (out, value) = match op {
            Op::Dot { out, linear, products, .. } => {
                let mut sum = 0.0;
                for l in linear {
                    sum += self.constants[l.coefficient as usize] * series(l.a)[k];
                }
                for p in products {
                    let c = self.constants[p.coefficient as usize];
                    sum += c * if p.a == p.b { square(series(p.a)) } else { full(series(p.a), series(p.b)) };
                }
                (*out, sum)
            }
            Op::Divide { out, a, b } => {
                let (b, r) = (series(*b), series(*out));
                (*out, (self.coefficient(*a, k) - full(&b[1..], &r[..k])) / b[0])
            }
            Op::Euler { out, u } => (*out, k as f64 * series(*u)[k]),
            Op::SinCos { du, sin, cos, .. } => {
                let du = &series(*du)[1..];
                let (s, c) = both(du, &series(*sin)[..k], &series(*cos)[..k]);
                let k_inverse = k as f64;
                self.rows[*sin as usize * stride + k] = c / k_inverse;
                (*cos, -s / k_inverse)
            }
            Op::SinhCosh { du, sinh, cosh, .. } => {
                let du = &series(*du)[1..];
                let (s, c) = both(du, &series(*sinh)[..k], &series(*cosh)[..k]);
                self.rows[*sinh as usize * stride + k] = c / k as f64;
                (*cosh, s / k as f64)
            }
            Op::Exp { du, out, .. } => (*out, full(&series(*du)[1..], &series(*out)[..k]) / k as f64),
            Op::Tan { du, tan, weight, hyperbolic, .. } => {
                let t = full(&series(*du)[1..], &series(*weight)[..k]) / k as f64;
                self.rows[*tan as usize * stride + k] = t;
                let w = square(&self.rows[*tan as usize * stride..][..k + 1]);
                (*weight, if *hyperbolic { -w } else { w })
            }
            Op::Sqrt { out, u } => {
                let r = series(*out);
                let middle = if k > 1 { square(&r[1..k]) } else { 0.0 };
                (*out, (series(*u)[k] - middle) / (2.0 * r[0]))
            }
            Op::Power { out, u, exponent } => {
                let (u, r) = (series(*u), series(*out));
                let alpha = self.constants[*exponent as usize];
                let mut sum = 0.0;
                for j in 1..=k {
                    sum += (alpha * j as f64 - (k - j) as f64) * u[j] * r[k - j];
                }
                (*out, sum / (k as f64 * u[0]))
            }
            Op::Integrate { out, d, .. } => (*out, series(*d)[k] / k as f64),
            Op::Solve { block } => {
                let index = *block as usize;
                let block = &tape.blocks[index];
                self.convolve_block(block, k);
                self.finish_solve(block, index, k);
                return;
            }
        };
        self.rows[out as usize * stride + k] = value;
    }

    /// Σ_{j≥1} M_j x_{k−j} into `right_side`.
    fn convolve_block(&mut self, block: &Block, k: usize) {
        let stride = self.stride;
        let sums = &mut self.right_side[..block.size];
        sums.fill(0.0);
        for &(i, j, value) in &block.entries {
            let Value::Row(row) = value else { continue };
            let m = &self.rows[row as usize * stride..][1..=k];
            let x = |i: u32| &self.rows[(block.first + i) as usize * stride..][..k];
            if block.symmetric && i != j {
                let (xi, xj) = both(m, x(i), x(j));
                sums[i as usize] += xj;
                sums[j as usize] += xi;
            } else {
                sums[i as usize] += full(m, x(j));
            }
        }
    }
}

/// Σ a_j b_{n−1−j} over slices of equal length n.
#[inline]
fn full(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len();
    let b = &b[..n];
    let (mut even, mut odd) = (0.0, 0.0);
    let mut j = 0;
    while j + 1 < n {
        even += a[j] * b[n - 1 - j];
        odd += a[j + 1] * b[n - 2 - j];
        j += 2;
    }
    if j < n {
        even += a[j] * b[n - 1 - j];
    }
    even + odd
}

/// The two sums Σ a_j b_{n−1−j} and Σ a_j c_{n−1−j}, sharing the loads of a.
#[inline]
fn both(a: &[f64], b: &[f64], c: &[f64]) -> (f64, f64) {
    let n = a.len();
    let (b, c) = (&b[..n], &c[..n]);
    let (mut first, mut second) = (0.0, 0.0);
    for j in 0..n {
        first += a[j] * b[n - 1 - j];
        second += a[j] * c[n - 1 - j];
    }
    (first, second)
}

/// Σ a_j a_{n−1−j} over a slice of length n, each pair once.
#[inline]
fn square(a: &[f64]) -> f64 {
    let n = a.len();
    let mut sum = 0.0;
    for j in 0..n / 2 {
        sum += a[j] * a[n - 1 - j];
    }
    sum *= 2.0;
    if n % 2 == 1 {
        sum += a[n / 2] * a[n / 2];
    }
    sum
}

/// x^n for an exact exponent.
fn power(x: f64, n: carom_expr::Rational) -> f64 {
    match n.to_integer() {
        Some(1) => x,
        Some(-1) => 1.0 / x,
        Some(n) if i32::try_from(n).is_ok() => x.powi(n as i32),
        _ => float_power(x, n.to_f64()),
    }
}

/// x^y; the frequent exponents through correctly rounded operations.
fn float_power(x: f64, y: f64) -> f64 {
    if y == 0.5 {
        x.sqrt()
    } else if y == -0.5 {
        1.0 / x.sqrt()
    } else if y == -2.0 {
        1.0 / (x * x)
    } else {
        x.powf(y)
    }
}
