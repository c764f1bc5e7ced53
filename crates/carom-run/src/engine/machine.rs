//! Machine code for one order of a recurrence: straight-line x86-64, made in microseconds.
//!
//! The code does what [`super::packed::Packed::interpret`] does, operation for operation, so results are the same bits.
//! Only seven instructions are needed, all with VEX encoding: vmovsd (load, store), vaddsd, vsubsd, vmulsd, vfmadd231sd,
//! ret. Arguments, by the System V convention: rdi = arena, rsi = octets a at order k, rdx = octets b at order k,
//! rcx = series at order k.

// Loops over matrix positions are indexed, as in the formulas.
#![allow(clippy::needless_range_loop)]

use super::packed::{Layout, WIDTH};
use super::recurrence::{Recurrence, Scale, Stage};
use super::tape::{Row, Tape, Value};

/// Blocks up to this size are solved inside the code.
pub(crate) const INLINE_SOLVE: usize = 8;

/// Code larger than this would not stay in the caches; the interpreter is as good then.
const LARGEST: usize = 1 << 19;

/// What one order does: code, and solves of blocks that are too large to unroll.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Segment {
    /// Call the code at this offset.
    Code(usize),
    /// Solve in place; see [`Stage::Solve`].
    Solve { block: u32, right_side: Row, unknowns: Row },
}

/// Code bytes with the sequence for middle orders and for the last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub bytes: Vec<u8>,
    pub middle: Vec<Segment>,
    pub last: Vec<Segment>,
}

const ARENA: u8 = 7;
const OCTETS_A: u8 = 6;
const OCTETS_B: u8 = 2;
const SERIES: u8 = 1;

/// Opcodes of scalar double instructions.
const ADD: u8 = 0x58;
const MULTIPLY: u8 = 0x59;
const SUBTRACT: u8 = 0x5c;

/// Registers 0 and 1 are scratch; the others remember rows just computed.
const FIRST_CACHED: u8 = 2;
const REGISTERS: u8 = 16;

struct Assembler<'a> {
    layout: &'a Layout,
    bytes: Vec<u8>,
    /// The row each register holds.
    holds: [Option<Row>; REGISTERS as usize],
    next: u8,
    /// Where each row is copied to: (base register, byte offset).
    copies: Vec<Vec<(u8, usize)>>,
    kept: Vec<Vec<usize>>,
    packs: bool,
}

impl Program {
    /// Code for a tape whose kept values (see `Flow`) are given. `None` when it would be too large.
    pub(crate) fn assemble(tape: &Tape, layout: &Layout, kept: &[Value], order: usize) -> Option<Program> {
        let r = &tape.recurrence;
        let stride = order + 1;
        let mut copies: Vec<Vec<(u8, usize)>> = vec![Vec::new(); r.rows];
        for (p, pair) in r.pairs.iter().enumerate() {
            let at = (p / WIDTH * stride * WIDTH + p % WIDTH) * 8;
            copies[pair.a as usize].push((OCTETS_A, at));
            copies[pair.b as usize].push((OCTETS_B, at));
        }
        let mut keeps: Vec<Vec<usize>> = vec![Vec::new(); r.rows];
        for (i, value) in kept.iter().enumerate() {
            if let Value::Row(row) = value {
                keeps[*row as usize].push(i * stride * 8);
            }
        }
        let mut assembler = Assembler {
            layout,
            bytes: Vec::new(),
            holds: [None; REGISTERS as usize],
            next: FIRST_CACHED,
            copies,
            kept: keeps,
            packs: true,
        };
        let middle = assembler.order(tape, r.stages.len())?;
        assembler.packs = false;
        let last = assembler.order(tape, r.last_stages)?;
        Some(Program { bytes: assembler.bytes, middle, last })
    }
}

impl Assembler<'_> {
    fn order(&mut self, tape: &Tape, stages: usize) -> Option<Vec<Segment>> {
        let r: &Recurrence = &tape.recurrence;
        let mut segments = vec![Segment::Code(self.bytes.len())];
        self.holds = [None; REGISTERS as usize];
        self.advance_state(tape);
        let (mut equation, mut pair, mut edge) = (0, 0, 0);
        for stage in &r.stages[..stages] {
            match *stage {
                Stage::Equations(count) => {
                    for e in &r.equations[equation..equation + count as usize] {
                        self.equation(
                            r,
                            e.out,
                            e.scale,
                            pair..pair + e.pairs as usize,
                            edge..edge + e.edges as usize,
                        );
                        pair += e.pairs as usize;
                        edge += e.edges as usize;
                    }
                    equation += count as usize;
                }
                Stage::Solve { block, right_side, unknowns } => {
                    let n = tape.blocks[block as usize].size;
                    if let Some(factor) = self.layout.factors[block as usize] {
                        self.solve(n, factor, right_side, unknowns);
                    } else {
                        self.bytes.push(0xc3);
                        segments.push(Segment::Solve { block, right_side, unknowns });
                        segments.push(Segment::Code(self.bytes.len()));
                        self.holds = [None; REGISTERS as usize];
                        for i in 0..n as Row {
                            let x = self.take(unknowns + i);
                            self.load(x, ARENA, self.row(unknowns + i));
                            self.publish(unknowns + i, x);
                        }
                    }
                }
            }
            if self.bytes.len() > LARGEST {
                return None;
            }
        }
        self.bytes.push(0xc3);
        Some(segments)
    }

    /// x_k = rate_{k−1} / k: all rates are read before any state is written.
    fn advance_state(&mut self, tape: &Tape) {
        let inverse = self.layout.scale + 8;
        let many = tape.dimension > usize::from(REGISTERS - FIRST_CACHED);
        for (i, rate) in tape.rate.iter().enumerate() {
            let Value::Row(rate) = *rate else { unreachable!("rates are rows") };
            let x = if many { 0 } else { FIRST_CACHED + i as u8 };
            self.load(x, ARENA, self.row(rate));
            self.operate(MULTIPLY, x, x, ARENA, inverse);
            if many {
                self.store(x, ARENA, self.layout.next_state + 8 * i);
            }
        }
        for i in 0..tape.dimension {
            let x = if many {
                let x = self.take(i as Row);
                self.load(x, ARENA, self.layout.next_state + 8 * i);
                x
            } else {
                let x = FIRST_CACHED + i as u8;
                self.holds[usize::from(x)] = Some(i as Row);
                x
            };
            self.store(x, ARENA, self.row(i as Row));
            self.publish(i as Row, x);
        }
        let time = tape.dimension as Row;
        self.next = FIRST_CACHED;
        let x = self.take(time);
        self.load(x, ARENA, self.layout.scale + 16);
        self.store(x, ARENA, self.row(time));
        self.publish(time, x);
    }

    fn equation(
        &mut self,
        r: &Recurrence,
        out: Row,
        scale: Scale,
        pairs: std::ops::Range<usize>,
        edges: std::ops::Range<usize>,
    ) {
        let x = self.take(out);
        let mut empty = true;
        for p in pairs {
            let at = self.layout.interior + 8 * p;
            if std::mem::take(&mut empty) {
                self.load(x, ARENA, at);
            } else {
                self.operate(ADD, x, x, ARENA, at);
            }
        }
        for e in edges {
            let source = r.edges[e].source;
            let weight = self.layout.weights + 8 * e;
            let cached = self.find(source, x);
            if std::mem::take(&mut empty) {
                match cached {
                    Some(y) => self.operate(MULTIPLY, x, y, ARENA, weight),
                    None => {
                        self.load(x, ARENA, self.row(source));
                        self.operate(MULTIPLY, x, x, ARENA, weight);
                    }
                }
            } else {
                match cached {
                    Some(y) => self.fused(x, y, ARENA, weight),
                    None => {
                        self.load(0, ARENA, self.row(source));
                        self.fused(x, 0, ARENA, weight);
                    }
                }
            }
        }
        match scale {
            // Not x − x: whatever the register held may be infinite.
            _ if empty => self.zero(x),
            Scale::One => {}
            Scale::Order => self.operate(MULTIPLY, x, x, ARENA, self.layout.scale),
            Scale::Inverse => self.operate(MULTIPLY, x, x, ARENA, self.layout.scale + 8),
        }
        self.store(x, ARENA, self.row(out));
        self.publish(out, x);
    }

    /// L D Lᵀ x = b, in the order of `Factor::solve`.
    fn solve(&mut self, n: usize, factor: usize, right_side: Row, unknowns: Row) {
        let entry = |i: usize, j: usize| factor + 8 * (i * n + j);
        let b = |i: usize| right_side + i as Row;
        // Registers are enough: at most INLINE_SOLVE right sides. What is already in one must not be evicted.
        let mut registers: Vec<Option<u8>> = (0..n).map(|i| self.find(b(i), REGISTERS)).collect();
        for i in 0..n {
            while registers[i].is_none() {
                if registers.contains(&Some(self.next)) {
                    self.next = if self.next + 1 == REGISTERS { FIRST_CACHED } else { self.next + 1 };
                } else {
                    let x = self.take(b(i));
                    self.load(x, ARENA, self.row(b(i)));
                    registers[i] = Some(x);
                }
            }
        }
        let registers: Vec<u8> = registers.into_iter().flatten().collect();
        for i in 0..n {
            for j in 0..i {
                self.operate(MULTIPLY, 0, registers[j], ARENA, entry(i, j));
                self.operate_registers(SUBTRACT, registers[i], registers[i], 0);
            }
        }
        for i in 0..n {
            self.operate(MULTIPLY, registers[i], registers[i], ARENA, entry(i, i));
        }
        for i in (0..n).rev() {
            for j in 0..i {
                self.operate(MULTIPLY, 0, registers[i], ARENA, entry(i, j));
                self.operate_registers(SUBTRACT, registers[j], registers[j], 0);
            }
        }
        for (i, &x) in registers.iter().enumerate() {
            self.holds[usize::from(x)] = Some(unknowns + i as Row);
            self.store(x, ARENA, self.row(unknowns + i as Row));
            self.publish(unknowns + i as Row, x);
        }
    }

    // ---- rows and registers ------------------------------------------------------------------------------

    fn row(&self, row: Row) -> usize {
        self.layout.rows + 8 * row as usize
    }

    /// A register for a new row.
    fn take(&mut self, row: Row) -> u8 {
        let x = self.next;
        self.next = if x + 1 == REGISTERS { FIRST_CACHED } else { x + 1 };
        self.holds[usize::from(x)] = Some(row);
        x
    }

    /// The register that holds `row`, other than `except`.
    fn find(&self, row: Row, except: u8) -> Option<u8> {
        (FIRST_CACHED..REGISTERS).find(|&x| x != except && self.holds[usize::from(x)] == Some(row))
    }

    /// Copies a new coefficient to the octets and series that use it.
    fn publish(&mut self, row: Row, x: u8) {
        for i in 0..self.kept[row as usize].len() {
            self.store(x, SERIES, self.kept[row as usize][i]);
        }
        if self.packs {
            for i in 0..self.copies[row as usize].len() {
                let (base, at) = self.copies[row as usize][i];
                self.store(x, base, at);
            }
        }
    }

    // ---- encoding ----------------------------------------------------------------------------------------

    /// Three-byte VEX prefix: map 1 = 0F, 2 = 0F38; prefix 1 = 66, 3 = F2.
    fn vex(&mut self, map: u8, wide: bool, prefix: u8, reg: u8, first: u8, rm_high: bool) {
        let r = u8::from(reg < 8) << 7;
        let b = u8::from(!rm_high) << 5;
        self.bytes.extend([0xc4, r | 0x40 | b | map, u8::from(wide) << 7 | (!first & 15) << 3 | prefix]);
    }

    /// ModRM with a 32-bit displacement from one of the four base registers (none needs a SIB byte).
    fn memory(&mut self, opcode: u8, reg: u8, base: u8, at: usize) {
        self.bytes.extend([opcode, 0x80 | (reg & 7) << 3 | base]);
        self.bytes.extend((at as u32).to_le_bytes());
    }

    fn load(&mut self, x: u8, base: u8, at: usize) {
        self.vex(1, false, 3, x, 0, false);
        self.memory(0x10, x, base, at);
    }

    fn store(&mut self, x: u8, base: u8, at: usize) {
        self.vex(1, false, 3, x, 0, false);
        self.memory(0x11, x, base, at);
    }

    /// x = y ∘ [base + at]
    fn operate(&mut self, opcode: u8, x: u8, y: u8, base: u8, at: usize) {
        self.vex(1, false, 3, x, y, false);
        self.memory(opcode, x, base, at);
    }

    /// x = y ∘ z
    fn operate_registers(&mut self, opcode: u8, x: u8, y: u8, z: u8) {
        self.vex(1, false, 3, x, y, z >= 8);
        self.bytes.extend([opcode, 0xc0 | (x & 7) << 3 | z & 7]);
    }

    /// x = 0 (vxorpd)
    fn zero(&mut self, x: u8) {
        self.vex(1, false, 1, x, x, x >= 8);
        self.bytes.extend([0x57, 0xc0 | (x & 7) << 3 | x & 7]);
    }

    /// x += y · [base + at], fused
    fn fused(&mut self, x: u8, y: u8, base: u8, at: usize) {
        self.vex(2, true, 1, x, y, false);
        self.memory(0xb9, x, base, at);
    }
}

impl Program {
    /// Bytes of arena, octets and series that the code may touch, for the check before each call.
    pub(crate) fn reach(layout: &Layout, octets: usize, kept: usize, order: usize) -> [usize; 3] {
        let stride = order + 1;
        [layout.length, octets * stride, kept * stride]
    }
}
