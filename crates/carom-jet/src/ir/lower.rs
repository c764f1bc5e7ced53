//! DAG → tape.
//!
//! Nodes that depend on parameters only become constants, computed once. Products used by a single sum are fused into
//! its `Dot`; everything else is computed once and shared. Rows of intermediate products, quotients, powers and Euler
//! derivatives are shared by value numbering. One loop over ascending handles, never a recursion.

mod functions;

use crate::ir::elimination::Elimination;
use crate::ir::recurrence::Recurrence;
use crate::ir::system::{CompileError, LinearBlock, System};
use crate::ir::tape::{
    CompiledBlock, InitialValue, Linear, ONE, Op, Product, RowIndex, Slot, Tape, TapeValue, ZERO,
};
use crate::values::Operation;
use carom_expr::{Constant, Dag, Exponent, Expr, FastMap, Function, Node, Rational};
use std::mem::{Discriminant, discriminant};

/// A summand: c, c·a or c·a·b.
enum Summand {
    Constant(Slot),
    Linear(Linear),
    Product(Product),
}

/// Rows that may be asked for more than once.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Shared {
    Product(RowIndex, RowIndex),
    Quotient(TapeValue, RowIndex),
    Power(RowIndex, Slot),
    Sqrt(RowIndex),
    Euler(RowIndex),
    SinCos(RowIndex),
    SinhCosh(RowIndex),
    Weight(RowIndex, i8, i8),
}

/// An operation by the bits of its numbers, which can be hashed.
#[derive(PartialEq, Eq, Hash)]
enum ConstantKey {
    Number(u64),
    Input(usize),
    Sum(u64, Box<[(u64, Slot)]>),
    Product(u64, Box<[(Slot, Discriminant<Exponent>, u64)]>),
    Power(Slot, Slot),
    Function(Function, Slot, Slot),
}

impl ConstantKey {
    fn of(op: &Operation) -> ConstantKey {
        match op {
            Operation::Number(x) => ConstantKey::Number(x.to_bits()),
            Operation::Input(slot) => ConstantKey::Input(*slot),
            Operation::Sum(c, terms) => {
                ConstantKey::Sum(c.to_bits(), terms.iter().map(|(k, slot)| (k.to_bits(), *slot)).collect())
            }
            Operation::Product(c, factors) => {
                let factors = factors.iter().map(|(slot, n)| (*slot, discriminant(n), n.value().to_bits()));
                ConstantKey::Product(c.to_bits(), factors.collect())
            }
            Operation::Power(base, exponent) => ConstantKey::Power(*base, *exponent),
            Operation::Function(f, x, y) => ConstantKey::Function(*f, *x, *y),
        }
    }
}

/// Blocks up to this size are eliminated densely.
const DENSE: usize = 8;

/// From so large an exponent on a whole power may vanish to all orders of a series.
const LARGE: i64 = 7;

struct Lowering<'d> {
    dag: &'d Dag,
    values: FastMap<Expr, TapeValue>,
    shared: FastMap<Shared, RowIndex>,
    uses: FastMap<Expr, u32>,
    constants: Vec<Operation>,
    constant_keys: FastMap<ConstantKey, Slot>,
    ops: Vec<Op>,
    rows: RowIndex,
    blocks: Vec<CompiledBlock>,
    /// Whole powers uⁿ of large n.
    powers: Vec<(RowIndex, i64)>,
}

fn shape(what: impl Into<String>) -> CompileError {
    CompileError::Shape(what.into())
}

pub(crate) fn lower(dag: &Dag, system: &System) -> Result<Tape, CompileError> {
    if !system.rate.is_empty() && system.rate.len() != system.state.len() {
        return Err(shape("one rate per state variable"));
    }
    let mut low = Lowering {
        dag,
        values: FastMap::default(),
        shared: FastMap::default(),
        uses: FastMap::default(),
        constants: vec![Operation::Number(0.0), Operation::Number(1.0)],
        constant_keys: FastMap::default(),
        ops: Vec::new(),
        rows: 0,
        blocks: Vec::new(),
        powers: Vec::new(),
    };
    for &x in &system.state {
        let row = low.row();
        low.define(x, TapeValue::Row(row))?;
    }
    let time = low.row();
    low.define(system.time, TapeValue::Row(time))?;
    for (i, &p) in system.parameters.iter().enumerate() {
        let slot = low.constant(Operation::Input(i));
        low.define(p, TapeValue::Constant(slot))?;
    }
    low.count_uses(system);
    for block in &system.blocks {
        low.block(block)?;
    }
    low.lower_all(&system.rate)?;
    low.lower_all(&system.watched)?;
    // Last, and not counted among the uses: what is only monitored changes nothing in the rest.
    low.lower_all(&system.monitored)?;
    // Every state variable moves by a row, also when its rate is constant or missing.
    let mut rate = Vec::new();
    for i in 0..system.state.len() {
        let value = system.rate.get(i).map_or(TapeValue::Constant(ZERO), |e| low.values[e]);
        rate.push(match value {
            TapeValue::Constant(slot) => TapeValue::Row(low.dot(slot, vec![], vec![])),
            row => row,
        });
    }
    let watched: Vec<TapeValue> = system.watched.iter().map(|e| low.values[e]).collect();
    let monitored: Vec<TapeValue> =
        system.monitored.iter().map(|e| low.child(*e)).collect::<Result<_, _>>()?;
    let unknowns = low.blocks.iter().flat_map(|b| b.first..b.first + b.size as RowIndex).map(TapeValue::Row);
    let moving: Vec<TapeValue> = rate.iter().chain(&watched).copied().chain(unknowns).collect();
    let middle = low.needed(&moving);
    let last = low.needed(&watched);
    Ok(Tape {
        parameters: system.parameters.len(),
        dimension: system.state.len(),
        rows: low.rows as usize,
        constants: low.constants,
        ops: low.ops,
        middle,
        last,
        blocks: low.blocks,
        rate,
        watched,
        monitored,
        powers: low.powers,
        recurrence: Recurrence::default(),
        attachment: std::sync::OnceLock::new(),
    })
}

impl Lowering<'_> {
    fn row(&mut self) -> RowIndex {
        self.rows += 1;
        self.rows - 1
    }

    fn define(&mut self, symbol: Expr, value: TapeValue) -> Result<(), CompileError> {
        let Some(s) = self.dag.as_symbol(symbol) else {
            return Err(shape("inputs and unknowns are symbols"));
        };
        match self.values.insert(symbol, value) {
            None => Ok(()),
            Some(_) => Err(shape(format!("`{}` has two meanings", self.dag.symbol_name(s)))),
        }
    }

    /// How many parents (or roots) refer to each node: decides which products are fused.
    fn count_uses(&mut self, system: &System) {
        let mut roots: Vec<Expr> = Vec::new();
        for block in &system.blocks {
            roots.extend(block.definitions.iter().map(|d| d.1));
            roots.extend(block.matrix.iter().flatten());
            roots.extend(&block.right_side);
        }
        roots.extend(&system.rate);
        roots.extend(&system.watched);
        for e in self.dag.reachable(&roots) {
            let uses = &mut self.uses;
            self.dag.for_each_child(e, |child| *uses.entry(child).or_default() += 1);
        }
        for e in roots {
            // A root has a row of its own.
            *self.uses.entry(e).or_default() += 2;
        }
    }

    fn block(&mut self, block: &LinearBlock) -> Result<(), CompileError> {
        let n = block.unknowns.len();
        if block.matrix.len() != n || block.right_side.len() != n || block.matrix.iter().any(|r| r.len() != n)
        {
            return Err(shape("a linear block is square"));
        }
        for &(symbol, meaning) in &block.definitions {
            self.lower_all(&[meaning])?;
            self.define(symbol, self.values[&meaning])?;
        }
        if n == 0 {
            return Ok(());
        }
        let entries: Vec<Expr> = block.matrix.iter().flatten().copied().collect();
        self.lower_all(&entries)?;
        self.lower_all(&block.right_side)?;
        let symmetric = (0..n).all(|i| (0..i).all(|j| block.matrix[i][j] == block.matrix[j][i]));
        let mut compiled = Vec::new();
        for i in 0..n {
            let columns = if symmetric { i + 1 } else { n };
            for j in 0..columns {
                let e = block.matrix[i][j];
                if !self.dag.is_zero(e) {
                    compiled.push((i as u32, j as u32, self.values[&e]));
                }
            }
        }
        let first = self.rows;
        self.rows += n as RowIndex;
        for (i, &unknown) in block.unknowns.iter().enumerate() {
            self.define(unknown, TapeValue::Row(first + i as RowIndex))?;
        }
        let mut names = block.names.clone();
        names.resize(n, String::new());
        self.ops.push(Op::Solve { block: self.blocks.len() as u32 });
        let right_side = block.right_side.iter().map(|e| self.values[e]).collect();
        let places: Vec<(u32, u32)> = compiled.iter().map(|&(i, j, _)| (i, j)).collect();
        let augmentation_rows: Vec<u32> = block.augmentation_rows.iter().map(|&r| r as u32).collect();
        let sparse =
            (symmetric && n > DENSE).then(|| Elimination::new(n, &places, &augmentation_rows)).flatten();
        let dense = || {
            (symmetric && !augmentation_rows.is_empty())
                .then(|| Elimination::dense(n, &places, &augmentation_rows))
        };
        let elimination = sparse.or_else(dense);
        self.blocks.push(CompiledBlock {
            size: n,
            entries: compiled,
            symmetric,
            right_side,
            elimination,
            first,
            names,
        });
        Ok(())
    }

    fn lower_all(&mut self, roots: &[Expr]) -> Result<(), CompileError> {
        for e in self.dag.reachable(roots) {
            if self.values.contains_key(&e) || self.is_fused(e) {
                continue;
            }
            let value = self.lower_node(e)?;
            self.values.insert(e, value);
        }
        Ok(())
    }

    /// A product with exactly one parent; if that parent is a sum it becomes one of its terms.
    fn is_fused(&self, e: Expr) -> bool {
        self.uses.get(&e) == Some(&1) && matches!(self.dag.node(e), Node::Product(..))
    }

    fn lower_node(&mut self, e: Expr) -> Result<TapeValue, CompileError> {
        let dag = self.dag;
        Ok(match dag.node(e) {
            Node::Number(r) => self.number(r.to_f64()),
            Node::Float(x) => self.number(*x),
            Node::Constant(Constant::Pi) => self.number(std::f64::consts::PI),
            Node::Constant(Constant::E) => self.number(std::f64::consts::E),
            Node::Symbol(s) => return Err(CompileError::UnknownSymbol(dag.symbol_name(*s).to_string())),
            Node::Sum(c, terms) => self.sum(c.to_f64(), terms)?,
            Node::Product(c, factors) => {
                let term = self.product(*c, factors)?;
                self.materialise(term)
            }
            Node::Power(base, exponent) => {
                let (b, n) = (self.child(*base)?, self.child(*exponent)?);
                self.power(b, n)
            }
            Node::Function(f, args) => {
                let a = self.child(args[0])?;
                let b = match args.get(1) {
                    Some(&second) => self.child(second)?,
                    None => a,
                };
                self.function(*f, a, b)?
            }
        })
    }

    /// The value of a child; a product that was held back for fusion is computed now.
    fn child(&mut self, e: Expr) -> Result<TapeValue, CompileError> {
        if let Some(&value) = self.values.get(&e) {
            return Ok(value);
        }
        let value = self.lower_node(e)?;
        self.values.insert(e, value);
        Ok(value)
    }

    // ---- constants ---------------------------------------------------------------------------------------

    fn number(&mut self, x: f64) -> TapeValue {
        TapeValue::Constant(self.constant(Operation::Number(x)))
    }

    fn constant(&mut self, op: Operation) -> Slot {
        match op {
            Operation::Number(0.0) => return ZERO,
            Operation::Number(1.0) => return ONE,
            Operation::Product(1.0, ref factors) => match **factors {
                [] => return ONE,
                [(slot, Exponent::Whole(1))] => return slot,
                _ => {}
            },
            _ => {}
        }
        let key = ConstantKey::of(&op);
        if let Some(&slot) = self.constant_keys.get(&key) {
            return slot;
        }
        let slot = self.constants.len() as Slot;
        self.constants.push(op);
        self.constant_keys.insert(key, slot);
        slot
    }

    // ---- sums and products -------------------------------------------------------------------------------

    fn sum(&mut self, constant: f64, terms: &[(Rational, Expr)]) -> Result<TapeValue, CompileError> {
        let mut constants: Vec<(f64, Slot)> = Vec::new();
        let mut linear = Vec::new();
        let mut products = Vec::new();
        for &(c, e) in terms {
            let term = match (self.values.get(&e), self.dag.node(e)) {
                (Some(&value), _) => self.scaled(c, value),
                // A fused product carries the sum's coefficient itself.
                (None, Node::Product(k, factors)) => match c.multiply(*k) {
                    Some(k) => self.product(k, factors)?,
                    None => {
                        let value = self.child(e)?;
                        self.scaled(c, value)
                    }
                },
                (None, _) => unreachable!("children come first"),
            };
            match term {
                Summand::Constant(slot) => constants.push((1.0, slot)),
                Summand::Linear(l) => linear.push(l),
                Summand::Product(p) => products.push(p),
            }
        }
        let constant = if constants.is_empty() {
            self.constant(Operation::Number(constant))
        } else {
            self.constant(Operation::Sum(constant, constants.into()))
        };
        if linear.is_empty() && products.is_empty() {
            return Ok(TapeValue::Constant(constant));
        }
        Ok(TapeValue::Row(self.dot(constant, linear, products)))
    }

    fn dot(&mut self, constant: Slot, linear: Vec<Linear>, products: Vec<Product>) -> RowIndex {
        let out = self.row();
        self.ops.push(Op::Dot { out, constant, linear: linear.into(), products: products.into() });
        out
    }

    fn scaled(&mut self, c: Rational, value: TapeValue) -> Summand {
        match value {
            TapeValue::Constant(slot) => Summand::Constant(
                self.constant(Operation::Product(c.to_f64(), Box::new([(slot, Exponent::Whole(1))]))),
            ),
            TapeValue::Row(a) => {
                Summand::Linear(Linear { coefficient: self.constant(Operation::Number(c.to_f64())), a })
            }
        }
    }

    fn materialise(&mut self, term: Summand) -> TapeValue {
        match term {
            Summand::Constant(slot) => TapeValue::Constant(slot),
            Summand::Linear(Linear { coefficient: ONE, a }) => TapeValue::Row(a),
            Summand::Linear(l) => TapeValue::Row(self.dot(ZERO, vec![l], vec![])),
            Summand::Product(Product { coefficient: ONE, a, b }) => TapeValue::Row(self.multiply(a, b)),
            Summand::Product(p) => TapeValue::Row(self.dot(ZERO, vec![], vec![p])),
        }
    }

    /// c·Π baseᵉ as a term: constants in front, the last multiplication left to the consumer.
    fn product(&mut self, c: Rational, factors: &[(Expr, Rational)]) -> Result<Summand, CompileError> {
        let mut constant = Vec::new();
        let mut above: Vec<RowIndex> = Vec::new();
        let mut below: Vec<RowIndex> = Vec::new();
        for &(base, exponent) in factors {
            match self.child(base)? {
                TapeValue::Constant(slot) => constant.push((slot, Exponent::of(exponent))),
                TapeValue::Row(row) => match exponent.to_integer() {
                    Some(n) if n > 0 => self.whole_power(row, n, &mut above),
                    Some(-1) => below.push(row),
                    _ if exponent == Rational::HALF => above.push(self.sqrt(row)),
                    _ => {
                        let n = self.constant(Operation::Number(exponent.to_f64()));
                        above.push(self.constant_power(row, n));
                    }
                },
            }
        }
        let coefficient = self.constant(Operation::Product(c.to_f64(), constant.into()));
        above.sort_unstable();
        below.sort_unstable();
        if let Some(denominator) = self.multiply_all(&below) {
            let numerator = self.multiply_all(&above).map_or(TapeValue::Constant(ONE), TapeValue::Row);
            let a = self.quotient(numerator, denominator);
            return Ok(Summand::Linear(Linear { coefficient, a }));
        }
        let Some((&b, rest)) = above.split_last() else { return Ok(Summand::Constant(coefficient)) };
        Ok(match self.multiply_all(rest) {
            None => Summand::Linear(Linear { coefficient, a: b }),
            Some(a) => Summand::Product(Product { coefficient, a, b }),
        })
    }

    /// Rows whose product is uⁿ, by repeated squaring.
    fn whole_power(&mut self, u: RowIndex, n: i64, factors: &mut Vec<RowIndex>) {
        if n >= LARGE {
            self.powers.push((u, n));
        }
        let (mut square, mut n) = (u, n);
        while n > 2 {
            if n % 2 == 1 {
                factors.push(square);
            }
            square = self.multiply(square, square);
            n /= 2;
        }
        for _ in 0..n {
            factors.push(square);
        }
    }

    fn multiply_all(&mut self, rows: &[RowIndex]) -> Option<RowIndex> {
        let (&first, rest) = rows.split_first()?;
        Some(rest.iter().fold(first, |product, &row| self.multiply(product, row)))
    }

    fn shared(&mut self, key: Shared, op: impl FnOnce(&mut Self, RowIndex) -> Op) -> RowIndex {
        if let Some(&row) = self.shared.get(&key) {
            return row;
        }
        let out = self.row();
        let op = op(self, out);
        self.ops.push(op);
        self.shared.insert(key, out);
        out
    }

    fn multiply(&mut self, a: RowIndex, b: RowIndex) -> RowIndex {
        let (a, b) = (a.min(b), a.max(b));
        self.shared(Shared::Product(a, b), |_, out| Op::Dot {
            out,
            constant: ZERO,
            linear: Box::new([]),
            products: Box::new([Product { coefficient: ONE, a, b }]),
        })
    }

    fn quotient(&mut self, a: TapeValue, b: RowIndex) -> RowIndex {
        self.shared(Shared::Quotient(a, b), |_, out| Op::Divide { out, a, b })
    }

    fn sqrt(&mut self, u: RowIndex) -> RowIndex {
        self.shared(Shared::Sqrt(u), |_, out| Op::Sqrt { out, u })
    }

    fn constant_power(&mut self, u: RowIndex, exponent: Slot) -> RowIndex {
        let du = self.euler(u);
        self.pair(Shared::Power(u, exponent), |out, dr| Op::Power { out, u, du, dr, exponent })
    }

    fn euler(&mut self, u: RowIndex) -> RowIndex {
        self.shared(Shared::Euler(u), |_, out| Op::Euler { out, u })
    }

    /// constant + sign·u²
    fn weight(&mut self, u: RowIndex, constant: i8, sign: i8) -> RowIndex {
        let c = self.constant(Operation::Number(f64::from(constant)));
        let coefficient = self.constant(Operation::Number(f64::from(sign)));
        self.shared(Shared::Weight(u, constant, sign), |_, out| Op::Dot {
            out,
            constant: c,
            linear: Box::new([]),
            products: Box::new([Product { coefficient, a: u, b: u }]),
        })
    }

    // ---- powers and functions ----------------------------------------------------------------------------

    fn power(&mut self, base: TapeValue, exponent: TapeValue) -> TapeValue {
        match (base, exponent) {
            (TapeValue::Constant(b), TapeValue::Constant(n)) => {
                TapeValue::Constant(self.constant(Operation::Power(b, n)))
            }
            (TapeValue::Row(u), TapeValue::Constant(n)) => TapeValue::Row(self.constant_power(u, n)),
            // b^n = exp(n log b); the value of order 0 is taken from the power itself.
            (base, TapeValue::Row(n)) => {
                let exponent = match base {
                    TapeValue::Constant(b) => {
                        let coefficient = self.constant(Operation::Function(Function::Log, b, b));
                        self.dot(ZERO, vec![Linear { coefficient, a: n }], vec![])
                    }
                    TapeValue::Row(b) => {
                        let log = self.logarithm(b);
                        self.multiply(n, log)
                    }
                };
                let du = self.euler(exponent);
                let out = self.row();
                self.ops.push(Op::Exp { du, out, start: InitialValue::Power(base, TapeValue::Row(n)) });
                TapeValue::Row(out)
            }
        }
    }

    fn logarithm(&mut self, u: RowIndex) -> RowIndex {
        let du = self.euler(u);
        self.integrate(du, u, InitialValue::Function(Function::Log, u))
    }

    /// The row r with Dr = numerator / weight.
    fn integrate(&mut self, numerator: RowIndex, weight: RowIndex, start: InitialValue) -> RowIndex {
        let d = self.quotient(TapeValue::Row(numerator), weight);
        let out = self.row();
        self.ops.push(Op::Integrate { out, d, start });
        out
    }

    // ---- instruction lists -------------------------------------------------------------------------------

    /// Positions of the instructions that the given values depend on.
    fn needed(&self, values: &[TapeValue]) -> Vec<u32> {
        let mut wanted = vec![false; self.rows as usize];
        for value in values {
            if let TapeValue::Row(row) = value {
                wanted[*row as usize] = true;
            }
        }
        let mut list = Vec::new();
        for (i, op) in self.ops.iter().enumerate().rev() {
            let mut needed = false;
            op.writes(&self.blocks, |row| needed |= wanted[row as usize]);
            if needed {
                op.reads(&self.blocks, |row| wanted[row as usize] = true);
                list.push(i as u32);
            }
        }
        list.reverse();
        list
    }
}
