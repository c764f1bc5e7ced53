//! The straight-line program: constants first, then one instruction per quantity that moves.
//!
//! Every moving quantity is a *row* of power-series coefficients u_0, u_1, … in t − t₀. With the Euler derivation
//! (Du)_k = k u_k each instruction has a rule that gives its coefficient k from coefficients ≤ k of its operands and
//! < k of its own:
//!
//! ```text
//! Dot        r_k = [k=0] c + Σ c_i (a_i)_k + Σ c_j Σ_m (a_j)_m (b_j)_{k−m}
//! Divide     r_k = (a_k − Σ_{j≥1} b_j r_{k−j}) / b_0
//! SinCos     k s_k = Σ_{j≥1} (Du)_j c_{k−j},   k c_k = −Σ_{j≥1} (Du)_j s_{k−j}      (sinh, cosh: + )
//! Exp        k e_k = Σ_{j≥1} (Du)_j e_{k−j}
//! Tan        k t_k = Σ_{j≥1} (Du)_j w_{k−j},   w = 1 + t²                           (tanh: 1 − t²)
//! Sqrt       r_k = (u_k − Σ_{0<j<k} r_j r_{k−j}) / (2 r_0)
//! Power      k u_0 r_k = α Σ_{j≥1} (Du)_j r_{k−j} − Σ_{0<j<k} u_j (Dr)_{k−j}
//! Integrate  r_k = d_k / k,   r_0 = f(u_0)             log, asin, atan, atan2, …: d = Du / f-specific weight
//! Solve      M_0 x_k = b_k − Σ_{j≥1} M_j x_{k−j}
//! ```

use crate::emit::Target;
use crate::ir::elimination::Elimination;
use crate::ir::lower::lower;
use crate::ir::recurrence::{Pair, Recurrence, Stage};
use crate::ir::system::{CompileError, System};
use crate::simd::{Code, Level};
use crate::values::Operation;
use carom_expr::{Dag, Function};
use std::sync::{Arc, Mutex};

/// Index of a row.
pub(crate) type Row = u32;
/// Index of a constant.
pub(crate) type Slot = u32;

/// The constants 0 and 1 are always there.
pub(crate) const ZERO: Slot = 0;
pub(crate) const ONE: Slot = 1;

/// A constant (in time) or a row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Value {
    Constant(Slot),
    Row(Row),
}

impl Value {
    /// The row, if it moves.
    pub(crate) fn row(self) -> Option<Row> {
        match self {
            Value::Row(row) => Some(row),
            Value::Constant(_) => None,
        }
    }
}

/// c·a
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Linear {
    pub coefficient: Slot,
    pub a: Row,
}

/// c·a·b
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Product {
    pub coefficient: Slot,
    pub a: Row,
    pub b: Row,
}

/// How the coefficient of order 0 of an `Exp` or `Integrate` row is found.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Start {
    /// f(a)
    Function(Function, Row),
    /// f(a, b)
    Function2(Function, Value, Value),
    /// a^b
    Power(Value, Value),
}

/// One instruction; rules in the module header.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Op {
    Dot { out: Row, constant: Slot, linear: Box<[Linear]>, products: Box<[Product]> },
    Divide { out: Row, a: Value, b: Row },
    Euler { out: Row, u: Row },
    SinCos { u: Row, du: Row, sin: Row, cos: Row },
    SinhCosh { u: Row, du: Row, sinh: Row, cosh: Row },
    Exp { du: Row, out: Row, start: Start },
    Tan { u: Row, du: Row, tan: Row, weight: Row, hyperbolic: bool },
    Sqrt { out: Row, u: Row },
    Power { out: Row, u: Row, du: Row, dr: Row, exponent: Slot },
    Integrate { out: Row, d: Row, start: Start },
    Solve { block: u32 },
}

/// A compiled linear block: `Σ entries · unknowns = right_side`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Block {
    pub size: usize,
    /// Nonzero entries (row, column, value); for a symmetric matrix only row ≥ column.
    pub entries: Vec<(u32, u32, Value)>,
    pub symmetric: bool,
    pub right_side: Vec<Value>,
    /// Sparse elimination, where it pays.
    pub elimination: Option<Elimination>,
    /// The unknowns are the rows `first .. first + size`.
    pub first: Row,
    pub names: Vec<String>,
}

/// A compiled [`System`]. Immutable; shared by any number of [`crate::Flow`]s.
#[derive(Debug)]
pub struct Tape {
    pub(crate) parameters: usize,
    /// Rows 0 .. dimension are the state, row `dimension` is time.
    pub(crate) dimension: usize,
    pub(crate) rows: usize,
    /// What depends on parameters only, computed in order once per change of the parameters.
    pub(crate) constants: Vec<Operation>,
    pub(crate) ops: Vec<Op>,
    /// Positions in `ops` that orders ≥ 1 need for the rate.
    pub(crate) middle: Vec<u32>,
    /// Positions in `ops` that the watched rows need at the last order.
    pub(crate) last: Vec<u32>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) rate: Vec<Value>,
    pub(crate) watched: Vec<Value>,
    pub(crate) monitored: Vec<Value>,
    /// Whole powers uⁿ of large n.
    pub(crate) powers: Vec<(Row, i64)>,
    /// Orders ≥ 1.
    pub(crate) recurrence: Recurrence,
    /// Machine code by order, target and instructions, made when first needed and shared by all.
    pub(crate) codes: Mutex<Vec<(CodeKey, MachineCode)>>,
}

/// What code is made for: order, target, instructions.
pub(crate) type CodeKey = (usize, Target, Level);

/// Code of one order, or `None` where there can be none.
pub(crate) type MachineCode = Option<Arc<Code>>;

impl Tape {
    /// Compiles a system.
    ///
    /// ```
    /// use carom_expr::Dag;
    /// use carom_jet::{CompileError, System, Tape};
    /// let mut dag = Dag::new();
    /// let [t, x, k] = ["t", "x", "k"].map(|name| dag.symbol(name));
    /// let rate = dag.mul(k, x);
    /// let mut system = System {
    ///     time: t, parameters: vec![k], state: vec![x], rate: vec![rate], blocks: vec![], watched: vec![], monitored: vec![],
    /// };
    /// assert_eq!(Tape::compile(&dag, &system).unwrap().dimension(), 1);
    /// system.parameters.clear();
    /// assert_eq!(Tape::compile(&dag, &system).err(), Some(CompileError::UnknownSymbol("k".into())));
    /// ```
    ///
    /// # Errors
    /// When a symbol has no value, something piecewise moves, or shapes disagree.
    pub fn compile(dag: &Dag, system: &System) -> Result<Arc<Tape>, CompileError> {
        let mut tape = lower(dag, system)?;
        tape.recurrence = Recurrence::new(&tape);
        if !tape.recurrence.classes.is_empty() && tape.copy_watched_state() {
            tape.recurrence = Recurrence::new(&tape);
        }
        Ok(Arc::new(tape))
    }

    /// Watches copies of state variables instead of themselves: large systems keep the series of the state order by
    /// order, those of watched functions one after the other. Was there anything to copy?
    fn copy_watched_state(&mut self) -> bool {
        let mut watched = std::mem::take(&mut self.watched);
        let before = self.rows;
        for value in &mut watched {
            if let Value::Row(row) = *value
                && (row as usize) < self.dimension
            {
                let out = self.rows as Row;
                self.rows += 1;
                self.last.push(self.ops.len() as u32);
                self.middle.push(self.ops.len() as u32);
                let linear = [Linear { coefficient: ONE, a: row }].into();
                self.ops.push(Op::Dot { out, constant: ZERO, linear, products: [].into() });
                *value = Value::Row(out);
            }
        }
        self.watched = watched;
        self.rows > before
    }

    /// The code for an order, a target and instructions; `make` is called once.
    pub(crate) fn code(&self, key: CodeKey, make: impl FnOnce() -> Option<Code>) -> MachineCode {
        let mut codes = self.codes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((_, code)) = codes.iter().find(|(k, _)| *k == key) {
            return code.clone();
        }
        let code = make().map(Arc::new);
        codes.push((key, code.clone()));
        code
    }

    /// Number of state variables.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Number of parameters.
    pub fn parameter_count(&self) -> usize {
        self.parameters
    }

    /// Does a watched function change with the state or with time?
    pub fn moves(&self, watched: usize) -> bool {
        self.watched[watched].row().is_some()
    }

    /// Number of watched functions.
    pub fn watched_count(&self) -> usize {
        self.watched.len()
    }

    /// Names of the rows of a block, for messages.
    pub fn block_names(&self, block: usize) -> &[String] {
        &self.blocks[block].names
    }

    /// Multiplications, additions and fused operations (each counts once) of orders 1 … `order`: what a batch does per step and
    /// trajectory in its series, as the recurrence asks for it.
    pub fn multiply_adds(&self, order: usize) -> u64 {
        let r = &self.recurrence;
        let solve = |block: &Block| {
            let n = block.size;
            block.elimination.as_ref().map_or(n * (n - 1), |e| 2 * e.columns.len()) + n
        };
        let convolution = |k: usize, pair: &Pair| match (k, pair.is_square()) {
            (..=1, _) => 0,
            (2, _) => 1,
            // Both halves of a square's sum are the same; then the weight, and the terms with the newest coefficient.
            (_, true) => (k - 1) / 2 + 2,
            (_, false) => k - 3 + 4,
        };
        let orders = (1..=order).map(|k| {
            let last = k == order;
            let stages = if last { r.last_stages } else { r.stages.len() };
            let pairs = if last { r.last_pairs } else { r.pairs.len() };
            let edges: usize = r.stages[..stages]
                .iter()
                .map(|stage| match stage {
                    Stage::Equations(range) => r.equations[range.clone()].iter().map(|e| e.edges.len()).sum(),
                    Stage::Solve { block, .. } => solve(&self.blocks[*block as usize]),
                })
                .sum();
            self.dimension + edges + r.pairs[..pairs].iter().map(|pair| convolution(k, pair)).sum::<usize>()
        });
        orders.sum::<usize>() as u64
    }

    /// Number of instructions, and of convolutions (multiplications of series) per order among them.
    pub fn size(&self) -> (usize, usize) {
        let convolutions = |op: &Op| match op {
            Op::Dot { products, .. } => products.len(),
            Op::Divide { .. } | Op::Exp { .. } | Op::Sqrt { .. } => 1,
            Op::Power { .. } | Op::SinCos { .. } | Op::SinhCosh { .. } | Op::Tan { .. } => 2,
            Op::Euler { .. } | Op::Integrate { .. } => 0,
            Op::Solve { block } => {
                let block = &self.blocks[*block as usize];
                let moving = |&&(r, c, v): &&(u32, u32, Value)| {
                    matches!(v, Value::Row(_)).then_some(if block.symmetric && r != c { 2 } else { 1 })
                };
                block.entries.iter().filter_map(|e| moving(&e)).sum()
            }
        };
        (self.ops.len(), self.ops.iter().map(convolutions).sum())
    }
}

impl Op {
    /// Rows this instruction reads (its own included where the rule needs them).
    pub(crate) fn reads(&self, blocks: &[Block], mut visit: impl FnMut(Row)) {
        let value = |v: Value, visit: &mut dyn FnMut(Row)| {
            if let Value::Row(r) = v {
                visit(r);
            }
        };
        let start = |s: &Start, visit: &mut dyn FnMut(Row)| match *s {
            Start::Function(_, r) => visit(r),
            Start::Function2(_, a, b) | Start::Power(a, b) => {
                value(a, visit);
                value(b, visit);
            }
        };
        match self {
            Op::Dot { linear, products, .. } => {
                linear.iter().for_each(|l| visit(l.a));
                products.iter().for_each(|p| {
                    visit(p.a);
                    visit(p.b);
                });
            }
            Op::Divide { a, b, .. } => {
                value(*a, &mut visit);
                visit(*b);
            }
            Op::Euler { u, .. } | Op::Sqrt { u, .. } => visit(*u),
            Op::Power { u, du, .. }
            | Op::SinCos { u, du, .. }
            | Op::SinhCosh { u, du, .. }
            | Op::Tan { u, du, .. } => {
                visit(*u);
                visit(*du);
            }
            Op::Exp { du, start: s, .. } => {
                visit(*du);
                start(s, &mut visit);
            }
            Op::Integrate { d, start: s, .. } => {
                visit(*d);
                start(s, &mut visit);
            }
            Op::Solve { block } => {
                let block = &blocks[*block as usize];
                block.entries.iter().for_each(|e| value(e.2, &mut visit));
                block.right_side.iter().for_each(|v| value(*v, &mut visit));
            }
        }
    }

    /// Rows this instruction writes.
    pub(crate) fn writes(&self, blocks: &[Block], mut visit: impl FnMut(Row)) {
        match self {
            Op::Dot { out, .. }
            | Op::Divide { out, .. }
            | Op::Euler { out, .. }
            | Op::Exp { out, .. }
            | Op::Sqrt { out, .. }
            | Op::Integrate { out, .. } => visit(*out),
            Op::SinCos { sin: a, cos: b, .. }
            | Op::SinhCosh { sinh: a, cosh: b, .. }
            | Op::Tan { tan: a, weight: b, .. }
            | Op::Power { out: a, dr: b, .. } => {
                visit(*a);
                visit(*b);
            }
            Op::Solve { block } => {
                let block = &blocks[*block as usize];
                (block.first..block.first + block.size as Row).for_each(visit);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::Operation;
    use carom_expr::Exponent;

    #[test]
    fn the_crate_page_shows_the_tape_of_a_pendulum() {
        let mut dag = Dag::new();
        let [time, g, x, v] = ["t", "g", "x", "v"].map(|name| dag.symbol(name));
        let sine = dag.function(Function::Sin, &[x]);
        let pull = dag.mul(g, sine);
        let rate = vec![v, dag.neg(pull)];
        let (parameters, state, watched) = (vec![g], vec![x, v], vec![x]);
        let system = System { time, parameters, state, rate, blocks: vec![], watched, monitored: vec![] };
        let tape = Tape::compile(&dag, &system).unwrap();
        let minus_g = Operation::Product(-1.0, Box::new([(2, Exponent::Whole(1))]));
        assert_eq!(tape.constants[2..], [Operation::Input(0), minus_g]);
        let dot = Op::Dot {
            out: 6,
            constant: ZERO,
            linear: Box::new([Linear { coefficient: 3, a: 4 }]),
            products: Box::new([]),
        };
        let sin_cos = Op::SinCos { u: 0, du: 3, sin: 4, cos: 5 };
        assert_eq!(tape.ops, [Op::Euler { out: 3, u: 0 }, sin_cos, dot]);
        assert_eq!(tape.rate, [Value::Row(1), Value::Row(6)]);
    }
}
