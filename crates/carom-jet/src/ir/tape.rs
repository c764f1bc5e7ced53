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

use crate::ir::elimination::Elimination;
use crate::ir::lower::lower;
use crate::ir::recurrence::{OrderStage, Pair, Recurrence};
use crate::ir::system::{CompileError, System};
use crate::values::Operation;
use carom_expr::{Dag, Function};
use std::any::Any;
use std::sync::{Arc, OnceLock};

/// Index of a row.
pub(crate) type RowIndex = u32;
/// Index of a constant.
pub(crate) type Slot = u32;

/// The constants 0 and 1 are always there.
pub(crate) const ZERO: Slot = 0;
pub(crate) const ONE: Slot = 1;

/// A constant (in time) or a row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum TapeValue {
    Constant(Slot),
    Row(RowIndex),
}

impl TapeValue {
    /// The row, if it moves.
    pub(crate) fn row(self) -> Option<RowIndex> {
        match self {
            TapeValue::Row(row) => Some(row),
            TapeValue::Constant(_) => None,
        }
    }
}

/// c·a
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Linear {
    pub coefficient: Slot,
    pub a: RowIndex,
}

/// c·a·b
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Product {
    pub coefficient: Slot,
    pub a: RowIndex,
    pub b: RowIndex,
}

/// How the coefficient of order 0 of an `Exp` or `Integrate` row is found.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum InitialValue {
    /// f(a)
    Function(Function, RowIndex),
    /// f(a, b)
    Function2(Function, TapeValue, TapeValue),
    /// a^b
    Power(TapeValue, TapeValue),
}

/// One instruction; rules in the module header.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Op {
    Dot { out: RowIndex, constant: Slot, linear: Box<[Linear]>, products: Box<[Product]> },
    Divide { out: RowIndex, a: TapeValue, b: RowIndex },
    Euler { out: RowIndex, u: RowIndex },
    SinCos { u: RowIndex, du: RowIndex, sin: RowIndex, cos: RowIndex },
    SinhCosh { u: RowIndex, du: RowIndex, sinh: RowIndex, cosh: RowIndex },
    Exp { du: RowIndex, out: RowIndex, start: InitialValue },
    Tan { u: RowIndex, du: RowIndex, tan: RowIndex, weight: RowIndex, hyperbolic: bool },
    Sqrt { out: RowIndex, u: RowIndex },
    Power { out: RowIndex, u: RowIndex, du: RowIndex, dr: RowIndex, exponent: Slot },
    Integrate { out: RowIndex, d: RowIndex, start: InitialValue },
    Solve { block: u32 },
}

/// A compiled linear block: `Σ entries · unknowns = right_side`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct CompiledBlock {
    pub size: usize,
    /// Nonzero entries (row, column, value); for a symmetric matrix only row ≥ column.
    pub entries: Vec<(u32, u32, TapeValue)>,
    pub symmetric: bool,
    pub right_side: Vec<TapeValue>,
    /// Sparse elimination, where it pays.
    pub elimination: Option<Elimination>,
    /// The unknowns are the rows `first .. first + size`.
    pub first: RowIndex,
    pub names: Vec<String>,
}

impl CompiledBlock {
    /// Which rows have no diagonal entry: the constraint rows of [[W, Aᵀ], [A, 0]].
    pub(crate) fn without_diagonal(&self) -> Vec<bool> {
        let mut without = vec![true; self.size];
        self.entries.iter().filter(|(i, j, _)| i == j).for_each(|(i, ..)| without[*i as usize] = false);
        without
    }
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
    pub(crate) blocks: Vec<CompiledBlock>,
    pub(crate) rate: Vec<TapeValue>,
    pub(crate) watched: Vec<TapeValue>,
    pub(crate) monitored: Vec<TapeValue>,
    /// Whole powers uⁿ of large n.
    pub(crate) powers: Vec<(RowIndex, i64)>,
    /// Orders ≥ 1.
    pub(crate) recurrence: Recurrence,
    /// What a later stage keeps with the tape, for all who hold it (machine code); the tape does not know what it is.
    pub(crate) attachment: OnceLock<Box<dyn Any + Send + Sync>>,
}

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
            if let TapeValue::Row(row) = *value
                && (row as usize) < self.dimension
            {
                let out = self.rows as RowIndex;
                self.rows += 1;
                self.last.push(self.ops.len() as u32);
                self.middle.push(self.ops.len() as u32);
                let linear = [Linear { coefficient: ONE, a: row }].into();
                self.ops.push(Op::Dot { out, constant: ZERO, linear, products: [].into() });
                *value = TapeValue::Row(out);
            }
        }
        self.watched = watched;
        self.rows > before
    }

    /// What is kept with the tape, empty at first. There is one kind of it.
    pub(crate) fn attached<T: Default + Any + Send + Sync>(&self) -> &T {
        let attached = self.attachment.get_or_init(|| Box::new(T::default()));
        attached.downcast_ref().expect("one kind of attachment")
    }

    /// Number of state variables.
    pub fn dimension(&self) -> usize {
        self.dimension
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
        let solve = |block: &CompiledBlock| {
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
                    OrderStage::Equations(range) => {
                        r.equations[range.clone()].iter().map(|e| e.edges.len()).sum()
                    }
                    OrderStage::Solve { block, .. } => solve(&self.blocks[*block as usize]),
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
                let moving = |&&(r, c, v): &&(u32, u32, TapeValue)| {
                    matches!(v, TapeValue::Row(_)).then_some(if block.symmetric && r != c { 2 } else { 1 })
                };
                block.entries.iter().filter_map(|e| moving(&e)).sum()
            }
        };
        (self.ops.len(), self.ops.iter().map(convolutions).sum())
    }
}

/// The instructions of a tape in phases, for those who do some of them themselves and leave some to others.
pub(crate) struct Phases<'a> {
    tape: &'a Tape,
    /// Rows that have values.
    known: Vec<bool>,
    left: Vec<u32>,
}

impl<'a> Phases<'a> {
    pub(crate) fn new(tape: &'a Tape) -> Phases<'a> {
        let mut known = vec![false; tape.rows];
        known[..=tape.dimension].fill(true);
        Phases { tape, known, left: (0..tape.ops.len() as u32).collect() }
    }

    /// Are there instructions that were not reached?
    pub(crate) fn any_left(&self) -> bool {
        !self.left.is_empty()
    }

    /// Gives all instructions to `own` that can be done now, one after the other; those that it leaves (false) are done after all the
    /// others of the phase, and none of them needs another one of them.
    pub(crate) fn next(&mut self, mut own: impl FnMut(u32, &Op) -> bool) -> Vec<u32> {
        let Phases { tape, known, left } = self;
        let mut others = Vec::new();
        left.retain(|&i| {
            let op = &tape.ops[i as usize];
            let mut ready = true;
            op.reads(&tape.blocks, |row| ready &= known[row as usize]);
            if ready {
                if own(i, op) {
                    op.writes(&tape.blocks, |row| known[row as usize] = true);
                } else {
                    others.push(i);
                }
            }
            !ready
        });
        for &i in &others {
            tape.ops[i as usize].writes(&tape.blocks, |row| known[row as usize] = true);
        }
        others
    }
}

impl Op {
    /// Rows this instruction reads (its own included where the rule needs them).
    pub(crate) fn reads(&self, blocks: &[CompiledBlock], mut visit: impl FnMut(RowIndex)) {
        let value = |v: TapeValue, visit: &mut dyn FnMut(RowIndex)| {
            if let TapeValue::Row(r) = v {
                visit(r);
            }
        };
        let start = |s: &InitialValue, visit: &mut dyn FnMut(RowIndex)| match *s {
            InitialValue::Function(_, r) => visit(r),
            InitialValue::Function2(_, a, b) | InitialValue::Power(a, b) => {
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
    pub(crate) fn writes(&self, blocks: &[CompiledBlock], mut visit: impl FnMut(RowIndex)) {
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
                (block.first..block.first + block.size as RowIndex).for_each(visit);
            }
        }
    }
}
