//! Order 0 of a tape: constants from parameters, values at a state.

use super::factor::Factor;
use super::sincos::sin_cos;
use super::system::Singular;
use super::tape::{ConstantOp, Op, Row, Start, Tape, Value};
use carom_expr::{Rational, evaluate_function};

/// Everything that depends on parameters only.
pub(crate) fn constants(tape: &Tape, parameters: &[f64], into: &mut [f64]) {
    for (slot, op) in tape.constants.iter().enumerate() {
        let at = |slot: u32| into[slot as usize];
        into[slot] = match op {
            ConstantOp::Number(x) => *x,
            ConstantOp::Parameter(i) => parameters[*i],
            ConstantOp::Sum(c, terms) => terms.iter().fold(*c, |sum, &(k, s)| sum + k * at(s)),
            ConstantOp::Product(c, factors) => {
                factors.iter().fold(*c, |product, &(s, n)| product * exact_power(at(s), n))
            }
            ConstantOp::Power(b, n) => at(*b).powf(at(*n)),
            ConstantOp::Function(f, x, y) => evaluate_function(*f, at(*x), at(*y)),
        };
    }
}

/// The value of every row, given state and time in the first ones. Blocks are factored and solved.
pub(crate) fn values(
    tape: &Tape,
    constants: &[f64],
    factors: &mut [Factor],
    values: &mut [f64],
) -> Result<(), Singular> {
    for op in &tape.ops {
        let first = |row: Row| values[row as usize];
        let (out, value) = match op {
            Op::Dot { out, constant, linear, products } => {
                let mut sum = constants[*constant as usize];
                for l in linear {
                    sum += constants[l.coefficient as usize] * first(l.a);
                }
                for p in products {
                    sum += constants[p.coefficient as usize] * (first(p.a) * first(p.b));
                }
                (*out, sum)
            }
            Op::Divide { out, a, b } => (*out, value(*a, constants, values) / first(*b)),
            Op::Euler { out, .. } => (*out, 0.0),
            Op::SinCos { u, sin, cos, .. } => {
                let (s, c) = sin_cos(first(*u));
                values[*sin as usize] = s;
                (*cos, c)
            }
            Op::SinhCosh { u, sinh, cosh, .. } => {
                let u = first(*u);
                values[*sinh as usize] = u.sinh();
                (*cosh, u.cosh())
            }
            Op::Tan { u, tan, weight, hyperbolic, .. } => {
                let u = first(*u);
                let t = if *hyperbolic { u.tanh() } else { u.tan() };
                values[*tan as usize] = t;
                // 1 − tanh² cancels for large u, 1/cosh² does not.
                (*weight, if *hyperbolic { (1.0 / u.cosh()).powi(2) } else { 1.0 + t * t })
            }
            Op::Sqrt { out, u } => (*out, first(*u).sqrt()),
            Op::Power { out, u, dr, exponent, .. } => {
                values[*dr as usize] = 0.0;
                (*out, power(values[*u as usize], constants[*exponent as usize]))
            }
            Op::Exp { out, start, .. } | Op::Integrate { out, start, .. } => {
                let at = |v: Value| value(v, constants, values);
                (
                    *out,
                    match *start {
                        Start::Function(f, u) => evaluate_function(f, first(u), 0.0),
                        Start::Function2(f, a, b) => evaluate_function(f, at(a), at(b)),
                        Start::Power(a, b) => at(a).powf(at(b)),
                    },
                )
            }
            Op::Solve { block } => {
                solve(tape, *block as usize, constants, factors, values)?;
                continue;
            }
        };
        values[out as usize] = value;
    }
    Ok(())
}

/// The value of a constant or a row.
pub(crate) fn value(value: Value, constants: &[f64], values: &[f64]) -> f64 {
    match value {
        Value::Row(row) => values[row as usize],
        Value::Constant(slot) => constants[slot as usize],
    }
}

fn solve(
    tape: &Tape,
    index: usize,
    constants: &[f64],
    factors: &mut [Factor],
    values: &mut [f64],
) -> Result<(), Singular> {
    let block = &tape.blocks[index];
    let factor = &mut factors[index];
    factor.factor(block, |entry| value(entry, constants, values)).map_err(|(row, pivot)| Singular {
        block: index,
        row,
        pivot,
    })?;
    let first = block.first as usize;
    // Right sides never refer to the block's own unknowns, so these rows can hold them.
    for (i, b) in block.right_side.iter().enumerate() {
        values[first + i] = value(*b, constants, values);
    }
    factor.solve(block, &mut values[first..first + block.size]);
    Ok(())
}

/// x^n for an exact exponent.
fn exact_power(x: f64, n: Rational) -> f64 {
    match n.to_integer() {
        Some(1) => x,
        Some(-1) => 1.0 / x,
        Some(n) if i32::try_from(n).is_ok() => x.powi(n as i32),
        _ => power(x, n.to_f64()),
    }
}

/// x^y; the frequent exponents through correctly rounded operations.
pub(crate) fn power(x: f64, y: f64) -> f64 {
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
