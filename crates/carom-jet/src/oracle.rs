//! The oracle: truncated power series straight from the expressions, slow and clear.
//!
//! u = u₀ + û with û(0) = 0, so û^m vanishes below order m and every f(u₀ + û) is a finite sum of powers of û.
//! No rule of the tape is used here; tests compare the two forever.

use crate::ir::system::System;
use carom_expr::{Constant, Dag, Expr, Function, Node};
use std::collections::HashMap;

/// c₀ + c₁ τ + … + c_N τ^N.
pub type Series = Vec<f64>;

fn constant(x: f64, n: usize) -> Series {
    let mut s = vec![0.0; n + 1];
    s[0] = x;
    s
}

fn scale(c: f64, a: &Series) -> Series {
    a.iter().map(|x| c * x).collect()
}

fn add(a: &Series, b: &Series) -> Series {
    a.iter().zip(b).map(|(x, y)| x + y).collect()
}

fn mul(a: &Series, b: &Series) -> Series {
    (0..a.len()).map(|k| (0..=k).map(|j| a[j] * b[k - j]).sum()).collect()
}

/// Σ_m coefficients(m) û^m
fn compose(u: &Series, mut coefficient: impl FnMut(usize) -> f64) -> Series {
    let n = u.len() - 1;
    let mut hat = u.clone();
    hat[0] = 0.0;
    let mut power = constant(1.0, n);
    let mut sum = constant(0.0, n);
    for m in 0..=n {
        sum = add(&sum, &scale(coefficient(m), &power));
        power = mul(&power, &hat);
    }
    sum
}

fn factorial(m: usize) -> f64 {
    (1..=m).map(|i| i as f64).product()
}

/// u^α by the binomial series, u₀ ≠ 0.
fn power(u: &Series, alpha: f64) -> Series {
    let u0 = u[0];
    compose(u, |m| {
        let binomial: f64 = (0..m).map(|i| (alpha - i as f64) / (i + 1) as f64).product();
        binomial * u0.powf(alpha) / u0.powi(m as i32)
    })
}

/// u^n for whole n, also where u₀ = 0 (n > 0) or u₀ < 0.
fn whole_power(u: &Series, n: i64) -> Series {
    if n < 0 {
        return power(u, n as f64);
    }
    (0..n).fold(constant(1.0, u.len() - 1), |p, _| mul(&p, u))
}

/// 1/u = Σ (−û)^m / u₀^(m+1)
fn inverse(u: &Series) -> Series {
    let u0 = u[0];
    compose(u, |m| (-1.0_f64).powi(m as i32) / u0.powi(m as i32 + 1))
}

/// f(u) from f(u₀) and the series of f(u)′.
fn integral(start: f64, rate: &Series) -> Series {
    let mut s = vec![start];
    s.extend((0..rate.len() - 1).map(|k| rate[k] / (k + 1) as f64));
    s
}

fn derivative(u: &Series) -> Series {
    let mut d: Series = (1..u.len()).map(|k| k as f64 * u[k]).collect();
    d.push(0.0);
    d
}

fn function(f: Function, u: &Series, v: &Series) -> Series {
    let n = u.len() - 1;
    let u0 = u[0];
    let one = constant(1.0, n);
    let square = mul(u, u);
    let exp = |u: &Series| {
        let e = u[0].exp();
        compose(u, |m| e / factorial(m))
    };
    // sin^(m)(u₀) cycles through sin, cos, −sin, −cos.
    let trigonometric = |shift: usize| {
        let (s, c) = u0.sin_cos();
        compose(u, |m| [s, c, -s, -c][(m + shift) % 4] / factorial(m))
    };
    let hyperbolic = |shift: usize| {
        let (s, c) = (u0.sinh(), u0.cosh());
        compose(u, |m| [s, c][(m + shift) % 2] / factorial(m))
    };
    let over = |weight: Series, start: f64| integral(start, &mul(&derivative(u), &inverse(&weight)));
    match f {
        Function::Exp => exp(u),
        Function::Log => {
            compose(u, |m| if m == 0 { u0.ln() } else { -(-1.0 / u0).powi(m as i32) / m as f64 })
        }
        Function::Sin => trigonometric(0),
        Function::Cos => trigonometric(1),
        Function::Tan => mul(&trigonometric(0), &inverse(&trigonometric(1))),
        Function::Sinh => hyperbolic(0),
        Function::Cosh => hyperbolic(1),
        Function::Tanh => mul(&hyperbolic(0), &inverse(&hyperbolic(1))),
        Function::Asin => over(power(&add(&one, &scale(-1.0, &square)), 0.5), u0.asin()),
        Function::Acos => over(scale(-1.0, &power(&add(&one, &scale(-1.0, &square)), 0.5)), u0.acos()),
        Function::Atan => over(add(&one, &square), u0.atan()),
        Function::Asinh => over(power(&add(&one, &square), 0.5), u0.asinh()),
        Function::Acosh => over(power(&add(&scale(-1.0, &one), &square), 0.5), u0.acosh()),
        Function::Atanh => over(add(&one, &scale(-1.0, &square)), u0.atanh()),
        Function::Atan2 => {
            let weight = add(&square, &mul(v, v));
            let turning = add(&mul(v, &derivative(u)), &scale(-1.0, &mul(u, &derivative(v))));
            integral(u0.atan2(v[0]), &mul(&turning, &inverse(&weight)))
        }
        // Piecewise functions of something constant.
        Function::Abs | Function::Sign | Function::Min | Function::Max => {
            constant(carom_expr::evaluate_function(f, u0, v[0]), n)
        }
    }
}

/// The series of each of `roots`, given the series of the symbols in them.
///
/// # Panics
/// When a symbol has no series in `inputs`.
pub fn expand(dag: &Dag, roots: &[Expr], inputs: &HashMap<Expr, Series>, order: usize) -> Vec<Series> {
    let mut known: HashMap<Expr, Series> = HashMap::new();
    for e in dag.reachable(roots) {
        let value = match dag.node(e) {
            Node::Number(r) => constant(r.to_f64(), order),
            Node::Float(x) => constant(*x, order),
            Node::Constant(Constant::Pi) => constant(std::f64::consts::PI, order),
            Node::Constant(Constant::E) => constant(std::f64::consts::E, order),
            Node::Symbol(_) => inputs[&e].clone(),
            Node::Sum(c, terms) => terms
                .iter()
                .fold(constant(c.to_f64(), order), |sum, (k, t)| add(&sum, &scale(k.to_f64(), &known[t]))),
            Node::Product(c, factors) => factors.iter().fold(constant(c.to_f64(), order), |p, (b, n)| {
                let factor = match n.to_integer() {
                    Some(n) => whole_power(&known[b], n),
                    None => power(&known[b], n.to_f64()),
                };
                mul(&p, &factor)
            }),
            Node::Power(b, n) => {
                let none = constant(0.0, order);
                let log = function(Function::Log, &known[b], &none);
                function(Function::Exp, &mul(&known[n], &log), &none)
            }
            Node::Function(f, args) => {
                function(*f, &known[&args[0]], &known[args.get(1).unwrap_or(&args[0])])
            }
        };
        known.insert(e, value);
    }
    roots.iter().map(|e| known[e].clone()).collect()
}

/// Gaussian elimination over the ring of series, largest constant coefficient first.
fn solve(mut m: Vec<Vec<Series>>, mut b: Vec<Series>) -> Vec<Series> {
    let n = b.len();
    for k in 0..n {
        let size = |row: &Vec<Series>| row[k][0].abs();
        let at = (k..n).max_by(|&i, &j| size(&m[i]).total_cmp(&size(&m[j]))).unwrap_or(k);
        m.swap(k, at);
        b.swap(k, at);
        let reciprocal = inverse(&m[k][k]);
        for i in 0..n {
            if i == k {
                continue;
            }
            let l = scale(-1.0, &mul(&m[i][k], &reciprocal));
            let pivot_row = m[k].clone();
            for (entry, p) in m[i].iter_mut().zip(&pivot_row) {
                *entry = add(entry, &mul(&l, p));
            }
            b[i] = add(&b[i], &mul(&l, &b[k]));
        }
    }
    (0..n).map(|i| mul(&b[i], &inverse(&m[i][i]))).collect()
}

/// Series of state, unknowns (all blocks) and watched functions of a system, by Picard iteration: each pass over the
/// whole system makes one more coefficient of the state right.
///
/// ```
/// # use carom_expr::Dag;
/// # use carom_jet::System;
/// # let mut dag = Dag::new();
/// # let [t, k, x] = ["t", "k", "x"].map(|name| dag.symbol(name));
/// # let rate = vec![dag.mul(k, x)];
/// # let system = System { time: t, parameters: vec![k], state: vec![x], rate, blocks: vec![], watched: vec![], monitored: vec![] };
/// // x' = k x
/// let (states, _, _) = carom_jet::oracle::jet(&dag, &system, &[2.0], 0.0, &[1.0], 3);
/// assert_eq!(states[0], [1.0, 2.0, 2.0, 4.0 / 3.0]);
/// ```
pub fn jet(
    dag: &Dag,
    system: &System,
    parameters: &[f64],
    time: f64,
    state: &[f64],
    order: usize,
) -> (Vec<Series>, Vec<Series>, Vec<Series>) {
    let mut inputs: HashMap<Expr, Series> = HashMap::new();
    for (p, x) in system.parameters.iter().zip(parameters) {
        inputs.insert(*p, constant(*x, order));
    }
    let mut clock = constant(time, order);
    clock[1] = 1.0;
    inputs.insert(system.time, clock);
    let mut states: Vec<Series> = state.iter().map(|x| constant(*x, order)).collect();
    let mut unknowns = Vec::new();
    for pass in 0..=order {
        for (symbol, series) in system.state.iter().zip(&states) {
            inputs.insert(*symbol, series.clone());
        }
        unknowns.clear();
        for block in &system.blocks {
            let matrix = block.matrix.iter().map(|row| expand(dag, row, &inputs, order)).collect();
            let solution = solve(matrix, expand(dag, &block.right_side, &inputs, order));
            for (symbol, series) in block.unknowns.iter().zip(&solution) {
                inputs.insert(*symbol, series.clone());
            }
            unknowns.extend(solution);
        }
        if pass < order {
            let rate = expand(dag, &system.rate, &inputs, order);
            for (x, r) in states.iter_mut().zip(&rate) {
                *x = integral(x[0], r);
            }
        }
    }
    let watched = expand(dag, &system.watched, &inputs, order);
    (states, unknowns, watched)
}
