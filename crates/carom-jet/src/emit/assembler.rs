//! x86-64 instructions as bytes, and a register file that remembers what memory it holds.
//!
//! Arithmetic comes in three widths: one double, four and eight. Each instruction has the shortest encoding: VEX for
//! registers below 16, EVEX for the others and for eight doubles. Every memory operand is a base register plus a 32-bit displacement. A value
//! that was loaded from or stored to a place stays known until its register is needed for something else, so that code
//! written as loads and stores runs on registers. What is only *kept* is stored when its register is needed, or never.

use std::collections::HashMap;

/// How many doubles an instruction works on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Width {
    One,
    Four,
    Eight,
}

/// General registers, by number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct General(pub u8);

pub(crate) const RBX: General = General(3);
pub(crate) const RBP: General = General(5);

/// Base registers of memory operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Base {
    /// The whole block of memory.
    Arena,
    /// Moves by one element per order.
    Series,
    /// Moves by one octet per order.
    Octets,
    /// Moves by the state per order, where its coefficients are kept order by order.
    State,
    /// Moves by three elements per order.
    Scale,
    /// Far sums of this order, and of the next.
    Sums,
    NextSums,
    /// Lower and upper operands of a far sum.
    Low,
    High,
}

impl Base {
    pub(crate) fn register(self) -> General {
        General(match self {
            Base::Arena => 7,
            Base::Series => 6,
            Base::Octets => 2,
            Base::State => 0,
            Base::Scale => 1,
            Base::Sums => 8,
            Base::NextSums => 9,
            Base::Low => 10,
            Base::High => 11,
        })
    }
}

/// A memory operand: base and displacement in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mem(pub Base, pub i32);

/// Arithmetic on vector registers: x = y ∘ z.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Op {
    Add,
    Subtract,
    Multiply,
    Divide,
    /// x = √z
    Sqrt,
    And,
    Xor,
    /// x += y z
    Fused,
    /// x −= y z
    FusedMinus,
}

/// The second operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rm {
    Register(u8),
    Memory(Mem),
}

/// Vector registers 0 and 1 are scratch; the others remember.
const FIRST_CACHED: u8 = 2;

/// Code under construction.
pub(crate) struct Assembler {
    pub bytes: Vec<u8>,
    pub width: Width,
    /// Vector registers in use.
    registers: u8,
    /// What each register holds a copy of.
    holds: [Option<Mem>; 32],
    /// Registers whose place has not been written.
    unsaved: [bool; 32],
    next: u8,
    /// Index vectors that follow the code, and where they are read: after the displacement that ends there.
    vectors: Vec<[i32; 8]>,
    known: HashMap<[i32; 8], usize>,
    reads: Vec<(usize, usize)>,
}

/// A place in the code to jump back to.
#[derive(Clone, Copy)]
pub(crate) struct Label(usize);

/// A forward jump whose target is not known yet.
#[must_use]
pub(crate) struct Jump(usize);

/// Conditions of jumps, as the low half of their opcode.
pub(crate) const IF_ZERO: u8 = 4;
pub(crate) const IF_NOT_ZERO: u8 = 5;

impl Assembler {
    pub(crate) fn new(width: Width, registers: u8) -> Assembler {
        Assembler {
            bytes: Vec::new(),
            width,
            registers,
            holds: [None; 32],
            unsaved: [false; 32],
            next: FIRST_CACHED,
            vectors: Vec::new(),
            known: HashMap::new(),
            reads: Vec::new(),
        }
    }

    /// How many vector registers there are.
    pub(crate) fn registers(&self) -> u8 {
        self.registers
    }

    // ---- values that remember their place ----------------------------------------------------------------

    /// Forgets everything, also what was not stored: at jumps, and when bases move.
    pub(crate) fn forget(&mut self) {
        self.holds = [None; 32];
        self.unsaved = [false; 32];
        self.next = FIRST_CACHED;
    }

    /// A register to compute in, none of the `busy` ones; what it held is forgotten.
    pub(crate) fn fresh(&mut self, busy: &[u8]) -> u8 {
        loop {
            let x = self.next;
            self.next = if x + 1 == self.registers() { FIRST_CACHED } else { x + 1 };
            if !busy.contains(&x) {
                let held = self.holds[usize::from(x)].take();
                if let (Some(place), true) = (held, std::mem::take(&mut self.unsaved[usize::from(x)])) {
                    self.store(place, x);
                }
                return x;
            }
        }
    }

    fn find(&self, place: Mem) -> Option<u8> {
        (FIRST_CACHED..self.registers()).find(|&x| self.holds[usize::from(x)] == Some(place))
    }

    /// The operand: a register if the value is in one.
    pub(crate) fn operand(&self, place: Mem) -> Rm {
        self.find(place).map_or(Rm::Memory(place), Rm::Register)
    }

    /// The value in a register, loaded if need be, into none of the `busy` ones.
    pub(crate) fn get(&mut self, place: Mem, busy: &[u8]) -> u8 {
        if let Some(x) = self.find(place) {
            return x;
        }
        let x = self.fresh(busy);
        self.load(x, place);
        self.holds[usize::from(x)] = Some(place);
        x
    }

    /// A register of its own with the value, to compute in.
    pub(crate) fn own(&mut self, place: Mem, busy: &[u8]) -> u8 {
        let held = self.find(place);
        let x = match held {
            // Not the register that holds it.
            Some(y) => self.fresh(&[busy, &[y]].concat()),
            None => self.fresh(busy),
        };
        match held {
            Some(y) => self.copy(x, y),
            None => self.load(x, place),
        }
        x
    }

    /// A register with the value that may be overwritten: the place is not read again.
    pub(crate) fn consume(&mut self, place: Mem) -> u8 {
        match self.find(place) {
            Some(x) => {
                self.holds[usize::from(x)] = None;
                self.unsaved[usize::from(x)] = false;
                x
            }
            None => self.own(place, &[]),
        }
    }

    /// Stores `x`; later reads of the place use the register.
    pub(crate) fn put(&mut self, place: Mem, x: u8) {
        self.keep(place, x);
        self.unsaved[usize::from(x)] = false;
        self.store(place, x);
    }

    /// As `put`, but stores only when the register is needed for something else before everything is forgotten.
    pub(crate) fn keep(&mut self, place: Mem, x: u8) {
        for held in &mut self.holds {
            if *held == Some(place) {
                *held = None;
            }
        }
        self.holds[usize::from(x)] = Some(place);
        self.unsaved[usize::from(x)] = true;
    }

    // ---- vector instructions -----------------------------------------------------------------------------

    pub(crate) fn load(&mut self, x: u8, place: Mem) {
        let (prefix, opcode) = if self.width == Width::One { (3, 0x10) } else { (1, 0x28) };
        self.vector(self.width, 1, prefix, opcode, x, 0, Rm::Memory(place));
    }

    pub(crate) fn store(&mut self, place: Mem, x: u8) {
        let (prefix, opcode) = if self.width == Width::One { (3, 0x11) } else { (1, 0x29) };
        self.vector(self.width, 1, prefix, opcode, x, 0, Rm::Memory(place));
    }

    /// A vector that need not be aligned.
    pub(crate) fn load_anywhere(&mut self, x: u8, place: Mem) {
        self.vector(self.width, 1, 1, 0x10, x, 0, Rm::Memory(place));
    }

    /// One double in every place of eight.
    pub(crate) fn broadcast(&mut self, x: u8, place: Mem) {
        self.vector(Width::Eight, 2, 1, 0x19, x, 0, Rm::Memory(place));
    }

    /// Eight doubles from these places (distances in doubles).
    pub(crate) fn gather(&mut self, x: u8, base: Base, places: [i32; 8]) {
        // Indices in ymm1, mask in k1: all set before, cleared by the instruction.
        debug_assert!(x < 16 && x != 1, "an ordinary register, not that of the indices");
        let vector = *self.known.entry(places).or_insert_with(|| {
            self.vectors.push(places);
            self.vectors.len() - 1
        });
        // vmovdqu ymm1, [rip + …]
        self.bytes.extend([0xc5, 0xfe, 0x6f, 0x0d, 0, 0, 0, 0]);
        self.reads.push((self.bytes.len(), vector));
        // kxnorw k1, k1, k1
        self.bytes.extend([0xc5, 0xf4, 0x46, 0xc9]);
        // Masked instructions wait for what they overwrite; for zero they need not.
        self.vector(Width::Four, 1, 1, 0x57, x, x, Rm::Register(x));
        let base = base.register().0;
        let not = |bit: u8| 1 ^ bit & 1;
        self.bytes.extend([
            0x62,
            not(x >> 3) << 7 | 1 << 6 | not(base >> 3) << 5 | 1 << 4 | 2,
            0xfd,
            0x49,
            0x92,
            0x44 | (x & 7) << 3,
            0xc8 | base & 7,
            0,
        ]);
    }

    /// Puts the index vectors after the code; `None` when they would be out of reach.
    pub(crate) fn close(&mut self) -> Option<()> {
        self.bytes.resize(self.bytes.len().next_multiple_of(32), 0);
        let start = self.bytes.len();
        for v in &self.vectors {
            self.bytes.extend(v.iter().flat_map(|i| i.to_le_bytes()));
        }
        i32::try_from(self.bytes.len()).ok()?;
        for (after, vector) in self.reads.drain(..) {
            let distance = (start + 32 * vector) as i32 - after as i32;
            self.bytes[after - 4..after].copy_from_slice(&distance.to_le_bytes());
        }
        Some(())
    }

    /// x = y ∘ z, or x += y z.
    pub(crate) fn operate(&mut self, op: Op, x: u8, y: u8, z: Rm) {
        let one = self.width == Width::One;
        let prefix = if one { 3 } else { 1 };
        match op {
            Op::Fused => self.vector(self.width, 2, 1, if one { 0xb9 } else { 0xb8 }, x, y, z),
            Op::FusedMinus => self.vector(self.width, 2, 1, if one { 0xbd } else { 0xbc }, x, y, z),
            Op::And => self.vector(self.width, 1, 1, 0x54, x, y, z),
            Op::Xor => self.vector(self.width, 1, 1, 0x57, x, y, z),
            Op::Sqrt => self.vector(self.width, 1, prefix, 0x51, x, if one { x } else { 0 }, z),
            Op::Add => self.vector(self.width, 1, prefix, 0x58, x, y, z),
            Op::Multiply => self.vector(self.width, 1, prefix, 0x59, x, y, z),
            Op::Subtract => self.vector(self.width, 1, prefix, 0x5c, x, y, z),
            Op::Divide => self.vector(self.width, 1, prefix, 0x5e, x, y, z),
        }
    }

    /// x = 0
    pub(crate) fn zero(&mut self, x: u8) {
        self.operate(Op::Xor, x, x, Rm::Register(x));
    }

    /// x = y
    pub(crate) fn copy(&mut self, x: u8, y: u8) {
        self.vector(self.width, 1, 1, 0x28, x, 0, Rm::Register(y));
    }

    /// Prefix 1 = 66, 3 = F2; map 1 = 0F, 2 = 0F38. Fused operations have W = 1, and so have EVEX doubles.
    #[allow(clippy::too_many_arguments)]
    fn vector(&mut self, width: Width, map: u8, prefix: u8, opcode: u8, x: u8, y: u8, z: Rm) {
        let (b, high) = match z {
            Rm::Register(z) => (z >> 3 & 1, z >> 4 & 1),
            Rm::Memory(Mem(base, _)) => (base.register().0 >> 3 & 1, 0),
        };
        let not = |bit: u8| 1 ^ bit & 1;
        let y_bits = (!y & 15) << 3;
        if width == Width::Eight || x > 15 || y > 15 || high == 1 {
            let length = match width {
                Width::One => 0,
                Width::Four => 0x20,
                Width::Eight => 0x40,
            };
            self.bytes.extend([
                0x62,
                not(x >> 3) << 7 | not(high) << 6 | not(b) << 5 | not(x >> 4) << 4 | map,
                0x80 | y_bits | 4 | prefix,
                length | not(y >> 4) << 3,
            ]);
        } else {
            let last = y_bits | u8::from(width == Width::Four) << 2 | prefix;
            if map == 1 && b == 0 {
                self.bytes.extend([0xc5, not(x >> 3) << 7 | last]);
            } else {
                let w = u8::from(map == 2) << 7;
                self.bytes.extend([0xc4, not(x >> 3) << 7 | 0x40 | not(b) << 5 | map, w | last]);
            }
        }
        self.bytes.push(opcode);
        match z {
            Rm::Register(z) => self.bytes.push(0xc0 | (x & 7) << 3 | z & 7),
            Rm::Memory(Mem(base, at)) => {
                self.bytes.push(0x80 | (x & 7) << 3 | base.register().0 & 7);
                self.bytes.extend(at.to_le_bytes());
            }
        }
    }

    // ---- general instructions ----------------------------------------------------------------------------

    fn general(&mut self, opcode: u8, reg: u8, rm: General) {
        self.bytes.extend([
            0x48 | (reg >> 3 & 1) << 2 | rm.0 >> 3 & 1,
            opcode,
            0xc0 | (reg & 7) << 3 | rm.0 & 7,
        ]);
    }

    /// to = from
    pub(crate) fn move_general(&mut self, to: General, from: General) {
        self.general(0x89, from.0, to);
    }

    /// to = value
    pub(crate) fn set(&mut self, to: General, value: i32) {
        self.general(0xc7, 0, to);
        self.bytes.extend(value.to_le_bytes());
    }

    pub(crate) fn add(&mut self, to: General, from: General) {
        self.general(0x01, from.0, to);
    }

    pub(crate) fn subtract(&mut self, to: General, from: General) {
        self.general(0x29, from.0, to);
    }

    pub(crate) fn add_number(&mut self, to: General, value: i32) {
        self.general(0x81, 0, to);
        self.bytes.extend(value.to_le_bytes());
    }

    pub(crate) fn compare(&mut self, with: General, value: i32) {
        self.general(0x81, 7, with);
        self.bytes.extend(value.to_le_bytes());
    }

    pub(crate) fn shift_left(&mut self, to: General, by: u8) {
        self.general(0xc1, 4, to);
        self.bytes.push(by);
    }

    pub(crate) fn shift_right(&mut self, to: General, by: u8) {
        self.general(0xc1, 5, to);
        self.bytes.push(by);
    }

    /// Exchanges two registers.
    pub(crate) fn exchange(&mut self, a: General, b: General) {
        self.general(0x87, a.0, b);
    }

    /// Sets the zero flag from the lowest bits of a register.
    pub(crate) fn test_bits(&mut self, of: General, bits: i32) {
        self.general(0xf7, 0, of);
        self.bytes.extend(bits.to_le_bytes());
    }

    /// Counts down; sets the zero flag.
    pub(crate) fn decrement(&mut self, of: General) {
        self.general(0xff, 1, of);
    }

    pub(crate) fn push(&mut self, of: General) {
        self.bytes.push(0x50 | of.0);
    }

    pub(crate) fn pop(&mut self, of: General) {
        self.bytes.push(0x58 | of.0);
    }

    /// Clears the upper halves of the vector registers (no penalty for the caller's code) and returns.
    pub(crate) fn finish(&mut self) {
        self.bytes.extend([0xc5, 0xf8, 0x77, 0xc3]);
    }

    /// A place to jump back to.
    pub(crate) fn label(&mut self) -> Label {
        self.forget();
        Label(self.bytes.len())
    }

    /// Jumps back if the condition holds.
    pub(crate) fn jump_back(&mut self, condition: u8, to: Label) {
        self.bytes.extend([0x0f, 0x80 | condition]);
        let after = self.bytes.len() as i32 + 4;
        self.bytes.extend((to.0 as i32 - after).to_le_bytes());
    }

    /// Jumps forward if the condition holds.
    pub(crate) fn jump(&mut self, condition: u8) -> Jump {
        self.bytes.extend([0x0f, 0x80 | condition, 0, 0, 0, 0]);
        Jump(self.bytes.len())
    }

    /// Jumps forward.
    pub(crate) fn skip(&mut self) -> Jump {
        self.bytes.extend([0xe9, 0, 0, 0, 0]);
        Jump(self.bytes.len())
    }

    /// Here a forward jump lands.
    pub(crate) fn land(&mut self, jump: Jump) {
        let distance = (self.bytes.len() - jump.0) as i32;
        self.bytes[jump.0 - 4..jump.0].copy_from_slice(&distance.to_le_bytes());
    }
}
