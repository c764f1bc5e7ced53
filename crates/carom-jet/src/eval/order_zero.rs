//! Order 0 of a tape: constants from parameters, values at a state.

use crate::emit::Segment;
use crate::eval::element::Element;
use crate::eval::factor::Factor;
use crate::eval::ldl;
use crate::ir::layout::{BlockFactors, Layout};
use crate::ir::system::Singular;
use crate::ir::tape::{InitialValue, Op, Phases, RowIndex, Slot, Tape, TapeValue, ZERO};
use carom_expr::Function;

/// Everything that depends on parameters only.
pub(crate) fn constants(tape: &Tape, parameters: &[f64], into: &mut [f64]) {
    for (slot, op) in tape.constants.iter().enumerate() {
        let (earlier, own) = into.split_at_mut(slot);
        own[0] = op.value(&mut |i| parameters[i], earlier);
    }
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

/// Instructions in their sequence, then sines and cosines, none of which needs another one of its phase: they are evaluated together.
#[derive(Clone, Default, Debug)]
pub(crate) struct ValuePhase {
    pub ops: Vec<u32>,
    /// The places of angles, sines and cosines.
    pub sines: Vec<[usize; 3]>,
}

impl ValuePhase {
    /// What a segment of the code leaves to be done outside of it.
    pub(crate) fn outside(tape: &Tape, layout: &Layout, segment: &Segment) -> ValuePhase {
        let mut phase = ValuePhase::default();
        if let Segment::Outside(ops) = segment {
            for &i in ops {
                phase.take_in(layout, i, &tape.ops[i as usize]);
            }
        }
        phase
    }

    /// All of a tape.
    pub(crate) fn all(tape: &Tape, layout: &Layout) -> Vec<ValuePhase> {
        let (mut phases, mut all) = (Phases::new(tape), Vec::new());
        while phases.any_left() {
            let mut phase = ValuePhase::default();
            phases.next(|i, op| phase.take_in(layout, i, op));
            all.push(phase);
        }
        all
    }

    /// Takes in an instruction; false: it comes after all the others.
    fn take_in(&mut self, layout: &Layout, i: u32, op: &Op) -> bool {
        let Op::SinCos { u, sin, cos, .. } = op else {
            self.ops.push(i);
            return true;
        };
        self.sines.push([u, sin, cos].map(|row| layout.places[*row as usize].index(0)));
        false
    }
}

/// Blocks at order 0: what differs between one trajectory and lanes. Not closures: see [`crate::eval::interpret::BlockSolver`].
pub(crate) trait OrderZeroBlocks<T> {
    type Error;
    /// Factors and solves a block.
    fn solve(&mut self, arena: &mut [T], block: usize) -> Result<(), Self::Error>;
}

/// One trajectory.
struct One<'a> {
    tape: &'a Tape,
    layout: &'a Layout,
    factors: &'a mut [Factor],
}

impl OrderZeroBlocks<f64> for One<'_> {
    type Error = Singular;
    fn solve(&mut self, arena: &mut [f64], block: usize) -> Result<(), Singular> {
        solve(self.tape, self.layout, arena, self.factors, block)
    }
}

/// The values one instruction makes, of one trajectory or of lanes.
#[inline(always)]
pub(crate) fn value_of<T: Element, F: OrderZeroBlocks<T>>(
    layout: &Layout,
    arena: &mut [T],
    op: &Op,
    blocks: &mut F,
) -> Result<(), F::Error> {
    let at = |row: RowIndex| layout.places[row as usize].index(0);
    let row = |row: RowIndex| arena[at(row)];
    let constant = |slot: Slot| arena[layout.constants + slot as usize];
    let either = |value: TapeValue| match value {
        TapeValue::Row(r) => row(r),
        TapeValue::Constant(slot) => constant(slot),
    };
    let function = |f: Function, u: T| T::function(f, u, T::splat(0.0));
    let (out, value) = match op {
        Op::Dot { out, constant: c, linear, products } => {
            // What is exactly zero is not added: −0 stays −0, as in the code.
            let linear = linear.iter().map(|l| constant(l.coefficient).times(row(l.a)));
            let products = products.iter().map(|p| constant(p.coefficient).times(row(p.a).times(row(p.b))));
            let mut sum = (*c != ZERO).then(|| constant(*c));
            for term in linear {
                sum = Some(sum.map_or(term, |sum| sum.plus(term)));
            }
            for term in products {
                sum = Some(sum.map_or(term, |sum| sum.plus(term)));
            }
            (*out, sum.unwrap_or(T::splat(0.0)))
        }
        Op::Divide { out, a, b } => (*out, either(*a).over(row(*b))),
        Op::Euler { out, .. } => (*out, T::splat(0.0)),
        Op::SinCos { u, sin, cos, .. } => {
            let (s, c) = row(*u).sin_cos();
            arena[at(*sin)] = s;
            (*cos, c)
        }
        Op::SinhCosh { u, sinh, cosh, .. } => {
            let u = row(*u);
            arena[at(*sinh)] = function(Function::Sinh, u);
            (*cosh, function(Function::Cosh, u))
        }
        Op::Tan { u, tan, weight, hyperbolic, .. } => {
            let u = row(*u);
            let t = function(if *hyperbolic { Function::Tanh } else { Function::Tan }, u);
            arena[at(*tan)] = t;
            let one = T::splat(1.0);
            // 1 − tanh² cancels for large u, 1/cosh² does not.
            let w = if *hyperbolic {
                let inverse = one.over(function(Function::Cosh, u));
                inverse.times(inverse)
            } else {
                one.plus(t.times(t))
            };
            (*weight, w)
        }
        Op::Sqrt { out, u } => (*out, row(*u).sqrt()),
        Op::Power { out, u, dr, exponent, .. } => {
            let r = row(*u).power(constant(*exponent));
            arena[at(*dr)] = T::splat(0.0);
            (*out, r)
        }
        Op::Exp { out, start, .. } | Op::Integrate { out, start, .. } => (
            *out,
            match *start {
                InitialValue::Function(f, u) => function(f, row(u)),
                InitialValue::Function2(f, a, b) => T::function(f, either(a), either(b)),
                InitialValue::Power(a, b) => either(a).general_power(either(b)),
            },
        ),
        Op::Solve { block } => return blocks.solve(arena, *block as usize),
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
    let value = |arena: &[f64], value: TapeValue| match value {
        TapeValue::Row(row) => arena[layout.places[row as usize].index(0)],
        TapeValue::Constant(slot) => arena[layout.constants + slot as usize],
    };
    let out = |i: RowIndex| layout.places[(block.first + i) as usize].index(0);
    for (i, b) in block.right_side.iter().enumerate() {
        arena[out(i as RowIndex)] = value(arena, *b);
    }
    factor.set_aside();
    if let BlockFactors::Symmetric(f) = &layout.blocks[index] {
        ldl::factor(f, block, arena, value);
        if ldl::is_healthy(f, arena) {
            ldl::solve::<false, f64>(f, arena, out, out);
            return Ok(());
        }
    }
    factor.factor(block, |v| value(arena, v)).map_err(|(row, pivot)| Singular {
        block: index,
        row,
        pivot,
    })?;
    if let BlockFactors::Pivoted(f) = &layout.blocks[index] {
        arena[f.factors..].iter_mut().zip(factor.general()).for_each(|(place, x)| *place = *x);
    }
    factor.solve_at::<false>(arena, out, out);
    Ok(())
}
