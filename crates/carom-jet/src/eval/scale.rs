//! The scale of everything a tape computes: how large the numbers were whose rounding a value carries.
//!
//! One sweep over the instructions, after an evaluation. Inputs come with scales of their own (s ≥ |x|); then by the rules of
//! [`carom_expr::Scaled`], s(a ± b) = s_a + s_b, s(a b) = |a| s_b + |b| s_a, s(f(a)) = |f′| s_a + |f|, and for the unknowns of
//! M x = b the scale of the residual, s_b + Σ s_M |x| along its row, divided by the row. A value is rounding when it is a few
//! units in the last place of its scale.

use crate::eval::flow::Flow;
use crate::ir::tape::{InitialValue, Op, RowIndex, Slot, Tape, TapeValue};
use crate::values::Operation;
use carom_expr::{Scaled, scale_of_function};

/// Scales of constants and rows, with the instructions they are wanted of.
#[derive(Clone, Debug, Default)]
pub struct Scales {
    ops: Vec<u32>,
    constants: Vec<f64>,
    rows: Vec<f64>,
}

impl Scales {
    /// For these watched functions of a tape, and everything they need.
    pub fn of(tape: &Tape, watched: impl Iterator<Item = usize>) -> Scales {
        let mut needed = vec![false; tape.rows];
        let mark = |row: RowIndex, needed: &mut Vec<bool>| needed[row as usize] = true;
        watched.filter_map(|i| tape.watched[i].row()).for_each(|row| mark(row, &mut needed));
        let mut ops = Vec::new();
        for (i, op) in tape.ops.iter().enumerate().rev() {
            let mut wanted = false;
            op.writes(&tape.blocks, |row| wanted |= needed[row as usize]);
            if wanted {
                ops.push(i as u32);
                op.reads(&tape.blocks, |row| mark(row, &mut needed));
            }
        }
        ops.reverse();
        Scales { ops, constants: Vec::new(), rows: vec![0.0; tape.rows] }
    }

    /// The parameters have changed.
    pub fn forget(&mut self) {
        self.constants.clear();
    }

    /// Sweeps over the values of the last evaluation; `inputs` are the scales of the state and of time.
    pub fn sweep(&mut self, flow: &Flow, inputs: impl Iterator<Item = f64>) {
        let tape = flow.tape();
        if self.constants.len() != tape.constants.len() {
            self.constants = constant_scales(flow);
        }
        self.rows.iter_mut().zip(inputs).for_each(|(s, input)| *s = input);
        let ops = std::mem::take(&mut self.ops);
        for &i in &ops {
            self.op(flow, &tape.ops[i as usize]);
        }
        self.ops = ops;
    }

    /// The scale of a value.
    pub(crate) fn get(&self, value: TapeValue) -> f64 {
        match value {
            TapeValue::Row(row) => self.rows[row as usize],
            TapeValue::Constant(slot) => self.constants[slot as usize],
        }
    }

    /// The scale of a watched function.
    pub fn watched(&self, flow: &Flow, i: usize) -> f64 {
        self.get(flow.tape().watched[i])
    }

    fn op(&mut self, flow: &Flow, op: &Op) {
        let row = |r: RowIndex| flow.value(TapeValue::Row(r));
        let s = |r: RowIndex| self.rows[r as usize];
        let (out, scale) = match op {
            Op::Dot { out, constant, linear, products } => {
                let mut sum = self.constants[*constant as usize];
                for l in linear {
                    sum += self.times(flow, l.coefficient, row(l.a), s(l.a));
                }
                for p in products {
                    let (a, b) = (row(p.a), row(p.b));
                    sum += self.times(flow, p.coefficient, a * b, a.abs() * s(p.b) + b.abs() * s(p.a));
                }
                (*out, sum)
            }
            Op::Divide { out, a, b } => {
                let quotient = row(*out).abs();
                (*out, divided(self.get(*a), quotient, row(*b), s(*b)))
            }
            Op::Euler { out, .. } => (*out, 0.0),
            Op::SinCos { u, sin, cos, .. } => {
                let (sine, cosine, su) = (row(*sin).abs(), row(*cos).abs(), s(*u));
                self.rows[*sin as usize] = cosine * su + sine;
                (*cos, sine * su + cosine)
            }
            Op::SinhCosh { u, sinh, cosh, .. } => {
                let (sine, cosine, su) = (row(*sinh).abs(), row(*cosh), s(*u));
                self.rows[*sinh as usize] = cosine * su + sine;
                (*cosh, sine * su + cosine)
            }
            Op::Tan { u, tan, weight, .. } => {
                let (t, w, su) = (row(*tan).abs(), row(*weight), s(*u));
                self.rows[*tan as usize] = w * su + t;
                (*weight, 2.0 * t * w * su + w)
            }
            Op::Sqrt { out, u } => (*out, Scaled { value: row(*u), scale: s(*u) }.root(row(*out))),
            Op::Power { out, u, exponent, .. } => {
                let exponent = flow.value(TapeValue::Constant(*exponent));
                (*out, Scaled { value: row(*u), scale: s(*u) }.power(exponent, row(*out)))
            }
            Op::Exp { out, start, .. } | Op::Integrate { out, start, .. } => {
                let value = row(*out);
                let of = |v: TapeValue| Scaled { value: flow.value(v), scale: self.get(v) };
                let scale = match *start {
                    InitialValue::Function(f, u) => {
                        scale_of_function(f, of(TapeValue::Row(u)), Scaled::known(0.0), value)
                    }
                    InitialValue::Function2(f, a, b) => scale_of_function(f, of(a), of(b), value),
                    InitialValue::Power(a, b) => {
                        let (a, b) = (of(a), of(b));
                        let through =
                            if value == 0.0 { 0.0 } else { (value * a.value.abs().ln()).abs() * b.scale };
                        a.power(b.value, value) + through
                    }
                };
                (*out, scale)
            }
            Op::Solve { block } => return self.solve(flow, *block as usize),
        };
        self.rows[out as usize] = scale;
    }

    /// s(c a) for a constant c.
    fn times(&self, flow: &Flow, constant: Slot, value: f64, scale: f64) -> f64 {
        let c = flow.value(TapeValue::Constant(constant)).abs();
        // A constant that is rounded itself, as far as it was; exact ones cost nothing more than their product.
        let rounded = self.constants[constant as usize] - c;
        c * scale + rounded * value.abs()
    }

    /// The unknowns of a block: the residual of each row, as far as the row's largest entry passes it on.
    fn solve(&mut self, flow: &Flow, index: usize) {
        let block = &flow.tape().blocks[index];
        let unknown = |i: u32| flow.value(TapeValue::Row(block.first + i)).abs();
        let mut residual: Vec<f64> = block.right_side.iter().map(|b| self.get(*b)).collect();
        let mut column = vec![0.0_f64; block.size];
        let mut see = |r: u32, c: u32, scale: f64, entry: f64| {
            residual[r as usize] += scale * unknown(c);
            column[c as usize] = column[c as usize].max(entry.abs());
        };
        for &(r, c, entry) in &block.entries {
            let (scale, value) = (self.get(entry), flow.value(entry));
            see(r, c, scale, value);
            if block.symmetric && r != c {
                see(c, r, scale, value);
            }
        }
        let mut scales: Vec<f64> = (0..block.size as u32).map(unknown).collect();
        for &(r, c, entry) in &block.entries {
            let value = flow.value(entry).abs();
            let mut pass = |r: u32, c: u32| {
                let (r, c) = (r as usize, c as usize);
                // In its own column the entry that determines the unknown is the largest one.
                if value > 0.0 && value == column[c] {
                    scales[c] = scales[c].max(residual[r] / value);
                }
            };
            pass(r, c);
            if block.symmetric && r != c {
                pass(c, r);
            }
        }
        let first = block.first as usize;
        self.rows[first..first + block.size].copy_from_slice(&scales);
    }
}

fn divided(sa: f64, quotient: f64, b: f64, sb: f64) -> f64 {
    (sa + quotient * sb) / b.abs()
}

/// Scales of everything that depends on parameters only; numbers and parameters are known to rounding.
fn constant_scales(flow: &Flow) -> Vec<f64> {
    let ops = &flow.tape().constants;
    let mut scales: Vec<f64> = Vec::with_capacity(ops.len());
    for (slot, op) in ops.iter().enumerate() {
        let value = |slot: Slot| flow.value(TapeValue::Constant(slot));
        let own = value(slot as Slot);
        let at = |slot: Slot| scales[slot as usize];
        let of = |slot: Slot| Scaled { value: value(slot), scale: at(slot) };
        let scale = match op {
            Operation::Number(x) => x.abs(),
            Operation::Input(_) => own.abs(),
            Operation::Sum(c, terms) => terms.iter().fold(c.abs(), |sum, &(k, s)| sum + k.abs() * at(s)),
            Operation::Product(_, factors) => {
                let mut sum = 0.0;
                for &(s, n) in factors.iter() {
                    sum += if value(s) == 0.0 { 0.0 } else { (n.value() * own / value(s)).abs() * at(s) };
                }
                sum.max(own.abs())
            }
            Operation::Power(b, n) => of(*b).power(value(*n), own),
            Operation::Function(f, x, y) => scale_of_function(*f, of(*x), of(*y), own),
        };
        scales.push(scale);
    }
    scales
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{System, Time};
    use carom_expr::Dag;

    /// Value and scale of a formula in x, y and the parameter a, with inputs that have moved by `reach`.
    fn swept(text: &str, at: [f64; 2], a: f64, reach: f64) -> (f64, f64) {
        let mut dag = Dag::new();
        let [t, x, y, p] = ["t", "x", "y", "a"].map(|name| dag.symbol(name));
        let mut names = |dag: &mut Dag, name: carom_expr::Name<'_>| Ok(dag.symbol(name.text));
        let formula = carom_expr::parse(&mut dag, text, &mut names).unwrap();
        let system = System {
            time: t,
            parameters: vec![p],
            state: vec![x, y],
            rate: vec![],
            blocks: vec![],
            watched: vec![formula],
            monitored: vec![],
        };
        let mut flow = Flow::new(Tape::compile(&dag, &system).unwrap(), 1);
        flow.set_parameters(&[a]);
        flow.evaluate(Time::new(0.0), &at).unwrap();
        let mut scales = Scales::of(flow.tape(), 0..1);
        scales.sweep(&flow, at.iter().map(|x| x.abs() + reach).chain([0.0]));
        (flow.watched(0)[0], scales.watched(&flow, 0))
    }

    #[test]
    fn the_rounding_of_a_function_is_that_of_its_argument() {
        use std::f64::consts::PI;
        let (value, scale) = swept("sin(x)", [PI, 0.0], 0.0, 0.0);
        assert!(value != 0.0 && (scale / PI - 1.0).abs() < 1e-15);
        let (value, scale) = swept("y - a*cos(x)", [PI / 2.0, 0.0], 3.0, 0.0);
        assert!(value != 0.0 && (scale / (3.0 * PI / 2.0) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn a_difference_has_the_scale_of_its_terms_even_inside() {
        let (value, scale) = swept("(x - y)*a", [1e6, 1e6], 2.0, 0.0);
        assert_eq!((value, scale), (0.0, 4e6));
        let (value, scale) = swept("sqrt((x - y)^2)", [1e6, 1e6 - 1.0], 0.0, 0.0);
        assert!(value == 1.0 && (scale - 2e6).abs() < 10.0, "{scale}");
    }

    #[test]
    fn what_vanishes_is_measured_by_what_moves_it() {
        assert_eq!(swept("x", [0.0, 0.0], 0.0, 0.5), (0.0, 0.5));
        assert_eq!(swept("x*y", [0.0, 2.0], 0.0, 0.5), (0.0, 1.0));
    }

    #[test]
    fn units_scale_the_scale() {
        for text in ["x - y*x/a", "sqrt(x^2 + a^2) - a", "x^2/y - a", "x*sin(y/a)"] {
            let (_, one) = swept(text, [0.75, 0.5], 0.625, 0.125);
            let (_, many) = swept(text, [0.75 * 1024.0, 0.5 * 1024.0], 0.625 * 1024.0, 0.125 * 1024.0);
            assert_eq!(many, 1024.0 * one, "{text}");
        }
    }
}
