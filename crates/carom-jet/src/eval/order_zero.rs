//! Order 0 of a tape: constants from parameters, values at a state.

use crate::eval::element::Element;
use crate::eval::factor::Factor;
use crate::eval::sincos::sin_cos;
use crate::ir::layout::{Factored, Layout};
use crate::ir::system::Singular;
use crate::ir::tape::{Op, Row, Slot, Start, Tape, Value, ZERO};
use carom_expr::evaluate_function;

/// Everything that depends on parameters only.
pub(crate) fn constants(tape: &Tape, parameters: &[f64], into: &mut [f64]) {
    for (slot, op) in tape.constants.iter().enumerate() {
        let (earlier, own) = into.split_at_mut(slot);
        own[0] = op.value(&mut |i| parameters[i], earlier);
    }
}

/// The value of every row, given state and time in the first ones. Blocks are factored and solved.
pub(crate) fn values(
    tape: &Tape,
    layout: &Layout,
    arena: &mut [f64],
    factors: &mut [Factor],
) -> Result<(), Singular> {
    tape.ops.iter().try_for_each(|op| value(tape, layout, arena, factors, op))
}

/// The values one instruction makes, of a single trajectory.
pub(crate) fn value(
    tape: &Tape,
    layout: &Layout,
    arena: &mut [f64],
    factors: &mut [Factor],
    op: &Op,
) -> Result<(), Singular> {
    value_of(layout, arena, op, &mut One { tape, layout, factors })
}

/// What differs between one trajectory and lanes. Not closures: see [`crate::eval::interpret::BlockSolver`].
pub(crate) trait OrderZero<T> {
    type Error;
    fn sin_cos(&mut self, x: T) -> (T, T);
    /// Factors and solves a block.
    fn solve(&mut self, arena: &mut [T], block: usize) -> Result<(), Self::Error>;
}

/// One trajectory.
struct One<'a> {
    tape: &'a Tape,
    layout: &'a Layout,
    factors: &'a mut [Factor],
}

impl OrderZero<f64> for One<'_> {
    type Error = Singular;
    #[inline(always)]
    fn sin_cos(&mut self, x: f64) -> (f64, f64) {
        sin_cos(x)
    }
    fn solve(&mut self, arena: &mut [f64], block: usize) -> Result<(), Singular> {
        solve(self.tape, self.layout, arena, self.factors, block)
    }
}

/// The values one instruction makes, of one trajectory or of lanes.
#[inline(always)]
pub(crate) fn value_of<T: Element, F: OrderZero<T>>(
    layout: &Layout,
    arena: &mut [T],
    op: &Op,
    functions: &mut F,
) -> Result<(), F::Error> {
    let at = |row: Row| layout.places[row as usize].index(0);
    let first = |row: Row| arena[at(row)];
    let constant = |slot: Slot| arena[layout.constants + slot as usize];
    let either = |value: Value| match value {
        Value::Row(row) => first(row),
        Value::Constant(slot) => constant(slot),
    };
    let (out, value) = match op {
        Op::Dot { out, constant: c, linear, products } => {
            // What is exactly zero is not added: −0 stays −0, as in the code.
            let linear = linear.iter().map(|l| constant(l.coefficient).times(first(l.a)));
            let products =
                products.iter().map(|p| constant(p.coefficient).times(first(p.a).times(first(p.b))));
            let start = (*c != ZERO).then(|| constant(*c));
            let terms = start.into_iter().chain(linear).chain(products);
            (*out, terms.reduce(|sum, x| sum.plus(x)).unwrap_or(T::splat(0.0)))
        }
        Op::Divide { out, a, b } => (*out, either(*a).over(first(*b))),
        Op::Euler { out, .. } => (*out, T::splat(0.0)),
        Op::SinCos { u, sin, cos, .. } => {
            let (s, c) = functions.sin_cos(first(*u));
            arena[at(*sin)] = s;
            (*cos, c)
        }
        Op::SinhCosh { u, sinh, cosh, .. } => {
            let u = first(*u);
            arena[at(*sinh)] = u.each(f64::sinh);
            (*cosh, u.each(f64::cosh))
        }
        Op::Tan { u, tan, weight, hyperbolic, .. } => {
            let u = first(*u);
            let t = if *hyperbolic { u.each(f64::tanh) } else { u.each(f64::tan) };
            arena[at(*tan)] = t;
            // 1 − tanh² cancels for large u, 1/cosh² does not.
            (
                *weight,
                if *hyperbolic { u.each(|u| (1.0 / u.cosh()).powi(2)) } else { t.each(|t| 1.0 + t * t) },
            )
        }
        Op::Sqrt { out, u } => (*out, first(*u).each(f64::sqrt)),
        Op::Power { out, u, dr, exponent, .. } => {
            let r = first(*u).zip(constant(*exponent), power);
            arena[at(*dr)] = T::splat(0.0);
            (*out, r)
        }
        Op::Exp { out, start, .. } | Op::Integrate { out, start, .. } => (
            *out,
            match *start {
                Start::Function(f, u) => first(u).each(|u| evaluate_function(f, u, 0.0)),
                Start::Function2(f, a, b) => either(a).zip(either(b), |a, b| evaluate_function(f, a, b)),
                Start::Power(a, b) => either(a).zip(either(b), f64::powf),
            },
        ),
        Op::Solve { block } => return functions.solve(arena, *block as usize),
    };
    arena[at(out)] = value;
    Ok(())
}

fn solve(
    tape: &Tape,
    layout: &Layout,
    arena: &mut [f64],
    factors: &mut [Factor],
    index: usize,
) -> Result<(), Singular> {
    let block = &tape.blocks[index];
    let factor = &mut factors[index];
    let value = |value: Value| match value {
        Value::Row(row) => arena[layout.places[row as usize].index(0)],
        Value::Constant(slot) => arena[layout.constants + slot as usize],
    };
    factor.factor(block, value).map_err(|(row, pivot)| Singular { block: index, row, pivot })?;
    let mut b: Vec<f64> = block.right_side.iter().map(|b| value(*b)).collect();
    factor.solve::<false>(block, &mut b);
    if let Factored::Pivoted(f) = &layout.blocks[index] {
        arena[f.factors..].iter_mut().zip(factor.general()).for_each(|(place, x)| *place = x);
    }
    for (i, x) in b.iter().enumerate() {
        arena[layout.places[block.first as usize + i].index(0)] = *x;
    }
    Ok(())
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
