//! x86-64 instructions as bytes, and a register file that remembers what memory it holds.
//!
//! Arithmetic comes in three widths: one double, four and eight. Instructions have a VEX prefix where that
//! suffices (registers below 16, up to four doubles), else EVEX. Every memory operand is a base register plus a 32-bit displacement, also where
//! eight bits would do: one form to test. A value
//! that was loaded from or stored to a place stays known until its register is needed for something else, so that code
//! written as loads and stores runs on registers. What is only *kept* is stored when its register is needed, or never.

use super::listing::{Meant, Operand};
pub(crate) use super::operand::{Base, General, Mem, R12, R13, R14, RBP, RBX, Rm, VectorOp, VectorWidth};

/// Vector registers 0 and 1 are scratch; the others remember.
const FIRST_CACHED: u8 = 2;

/// The opcode of `vbroadcastsd`.
const BROADCAST: u8 = 0x19;

/// Code under construction.
pub(crate) struct Assembler {
    pub bytes: Vec<u8>,
    pub width: VectorWidth,
    /// Vector registers in use.
    registers: u8,
    /// What each register holds a copy of.
    holds: [Option<Mem>; 32],
    /// Registers whose place has not been written.
    unsaved: [bool; 32],
    /// Registers that are not taken for anything else, and what they hold not forgotten.
    pinned: [bool; 32],
    next: u8,
    /// Was there a number that 32 bits do not hold?
    refused: bool,
    /// What was meant, if that is asked for.
    meant: Option<Vec<Meant>>,
}

/// A place in the code to jump back to.
#[derive(Clone, Copy)]
pub(crate) struct CodeLabel(usize);

/// A forward jump whose target is not known yet: the end of its bytes, and its place in the listing.
#[must_use]
pub(crate) struct ForwardJump {
    after: usize,
    meant: usize,
}

/// Conditions of jumps, as the low half of their opcode.
pub(crate) const IF_ZERO: u8 = 4;
pub(crate) const IF_NOT_ZERO: u8 = 5;

impl Assembler {
    pub(crate) fn new(width: VectorWidth, registers: u8, listed: bool) -> Assembler {
        Assembler {
            bytes: Vec::new(),
            width,
            registers,
            holds: [None; 32],
            unsaved: [false; 32],
            pinned: [false; 32],
            next: FIRST_CACHED,
            refused: false,
            meant: listed.then(Vec::new),
        }
    }

    /// Writes down the instruction that is encoded next.
    fn mean(&mut self, name: &'static str, operands: &[Operand]) {
        let at = self.bytes.len();
        if let Some(meant) = &mut self.meant {
            meant.push(Meant { at, name, operands: operands.to_vec() });
        }
    }

    /// A number of 32 bits; larger ones are refused.
    fn number(&mut self, value: i64) {
        let fits = i32::try_from(value);
        self.refused |= fits.is_err();
        self.bytes.extend(fits.unwrap_or(0).to_le_bytes());
    }

    /// How many vector registers there are.
    pub(crate) fn registers(&self) -> u8 {
        self.registers
    }

    // ---- values that remember their place ----------------------------------------------------------------

    /// Forgets everything, also what was not stored: at jumps, and when bases move.
    pub(crate) fn forget(&mut self) {
        for (held, pinned) in self.holds.iter_mut().zip(self.pinned) {
            held.take_if(|_| !pinned);
        }
        self.unsaved = [false; 32];
        self.next = FIRST_CACHED;
    }

    /// Loads a value that stays in its register until it is released.
    pub(crate) fn pin(&mut self, x: u8, place: Mem) {
        self.load(x, place);
        self.holds[usize::from(x)] = Some(place);
        self.pinned[usize::from(x)] = true;
    }

    /// The value of a place into a pinned register, which has no place for now.
    pub(crate) fn carry(&mut self, x: u8, place: Mem) {
        self.holds[usize::from(x)] = None;
        match self.find(place) {
            Some(y) => self.copy(x, y),
            None => self.load(x, place),
        }
    }

    /// The place of which a pinned register holds a copy.
    pub(crate) fn name(&mut self, x: u8, place: Mem) {
        self.holds[usize::from(x)] = Some(place);
    }

    /// The register may be taken again.
    pub(crate) fn release(&mut self, x: u8) {
        self.holds[usize::from(x)] = None;
        self.pinned[usize::from(x)] = false;
    }

    /// A register to compute in, none of the `busy` ones; what it held is forgotten.
    pub(crate) fn fresh(&mut self, busy: &[u8]) -> u8 {
        loop {
            let x = self.next;
            self.next = if x + 1 == self.registers() { FIRST_CACHED } else { x + 1 };
            if !busy.contains(&x) && !self.pinned[usize::from(x)] {
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
        let (name, prefix, opcode) =
            if self.width == VectorWidth::One { ("vmovsd", 3, 0x10) } else { ("vmovapd", 1, 0x28) };
        self.mean(name, &[self.register(x), memory(place, self.width.bits())]);
        self.vector(self.width, 1, prefix, opcode, x, 0, Rm::Memory(place));
    }

    pub(crate) fn store(&mut self, place: Mem, x: u8) {
        let (name, prefix, opcode) =
            if self.width == VectorWidth::One { ("vmovsd", 3, 0x11) } else { ("vmovapd", 1, 0x29) };
        self.mean(name, &[memory(place, self.width.bits()), self.register(x)]);
        self.vector(self.width, 1, prefix, opcode, x, 0, Rm::Memory(place));
    }

    /// A vector that need not be aligned.
    pub(crate) fn load_anywhere(&mut self, x: u8, place: Mem) {
        self.mean("vmovupd", &[self.register(x), memory(place, self.width.bits())]);
        self.vector(self.width, 1, 1, 0x10, x, 0, Rm::Memory(place));
    }

    /// One double in every place of a vector.
    pub(crate) fn broadcast(&mut self, x: u8, place: Mem) {
        debug_assert!(self.width != VectorWidth::One, "a vector");
        self.mean("vbroadcastsd", &[self.register(x), memory(place, 64)]);
        self.vector(self.width, 2, 1, BROADCAST, x, 0, Rm::Memory(place));
    }

    /// A vector of doubles from these places, at most as many as it has: what is side by side, or the same, with one load. Gather
    /// instructions take longer, of four doubles and of eight, on every processor that was measured. Registers 0 and 1 hold parts.
    pub(crate) fn collect(&mut self, x: u8, places: &[Mem]) {
        debug_assert!(x > 1 && x < 16, "not a register of parts, and one of VEX");
        let (lower, upper) = places.split_at(places.len().min(4));
        self.load_four(x, four(lower));
        // The upper half is zero now.
        if !upper.is_empty() {
            self.load_four(0, four(upper));
            let full = Operand::Vector(x, 512);
            self.mean("vinsertf64x4", &[full, full, Operand::Vector(0, 256), Operand::Number(1)]);
            self.vector(VectorWidth::Eight, 3, 1, 0x1a, x, x, Rm::Register(0));
            self.bytes.push(1);
        }
    }

    /// Four doubles in a register, by pairs; register 1 holds the upper one.
    fn load_four(&mut self, x: u8, [a, b, c, d]: [Mem; 4]) {
        let width = std::mem::replace(&mut self.width, VectorWidth::Four);
        let full = self.register(x);
        if [b, c, d] == [a; 3] {
            self.broadcast(x, a);
        } else if are_neighbours(a, b) && are_neighbours(b, c) && are_neighbours(c, d) {
            self.load_anywhere(x, a);
        } else {
            self.load_two(x, [a, b]);
            let upper = if are_neighbours(c, d) {
                self.mean("vinsertf128", &[full, full, memory(c, 128), Operand::Number(1)]);
                Rm::Memory(c)
            } else {
                self.load_two(1, [c, d]);
                self.mean("vinsertf128", &[full, full, Operand::Vector(1, 128), Operand::Number(1)]);
                Rm::Register(1)
            };
            self.vector(VectorWidth::Four, 3, 1, 0x18, x, x, upper);
            self.bytes.push(1);
        }
        self.width = width;
    }

    /// Two doubles in the lower half of a register.
    fn load_two(&mut self, x: u8, [a, b]: [Mem; 2]) {
        let half = Operand::Vector(x, 128);
        if are_neighbours(a, b) {
            self.mean("vmovupd", &[half, memory(a, 128)]);
            return self.vector(VectorWidth::One, 1, 1, 0x10, x, 0, Rm::Memory(a));
        }
        self.mean("vmovsd", &[half, memory(a, 64)]);
        self.vector(VectorWidth::One, 1, 3, 0x10, x, 0, Rm::Memory(a));
        self.mean("vmovhpd", &[half, half, memory(b, 64)]);
        self.vector(VectorWidth::One, 1, 1, 0x16, x, x, Rm::Memory(b));
    }

    /// A register at the present width.
    fn register(&self, x: u8) -> Operand {
        Operand::Vector(x, self.width.register_bits())
    }

    /// What was meant, if that was asked for; `None` when something was refused.
    pub(crate) fn close(&mut self) -> Option<Vec<Meant>> {
        let meant = self.meant.take().unwrap_or_default();
        (!self.refused).then_some(meant)
    }

    /// x = y ∘ z, or x += y z.
    pub(crate) fn operate(&mut self, op: VectorOp, x: u8, y: u8, z: Rm) {
        let one = self.width == VectorWidth::One;
        let prefix = if one { 3 } else { 1 };
        let bits = match op {
            VectorOp::And | VectorOp::Xor => self.width.register_bits(),
            _ => self.width.bits(),
        };
        let third = match z {
            Rm::Register(z) => self.register(z),
            Rm::Memory(place) => memory(place, bits),
        };
        let operands = [self.register(x), self.register(y), third];
        match op {
            // Of vectors it has no second operand; that of one double fills what the root does not.
            VectorOp::Sqrt if one => {
                self.mean(op.name(self.width), &[self.register(x), self.register(x), third])
            }
            VectorOp::Sqrt => self.mean(op.name(self.width), &[self.register(x), third]),
            _ => self.mean(op.name(self.width), &operands),
        }
        match op {
            VectorOp::Fused => self.vector(self.width, 2, 1, if one { 0xb9 } else { 0xb8 }, x, y, z),
            VectorOp::FusedMinus => self.vector(self.width, 2, 1, if one { 0xbd } else { 0xbc }, x, y, z),
            VectorOp::And => self.vector(self.width, 1, 1, 0x54, x, y, z),
            VectorOp::Xor => self.vector(self.width, 1, 1, 0x57, x, y, z),
            VectorOp::Sqrt => self.vector(self.width, 1, prefix, 0x51, x, if one { x } else { 0 }, z),
            VectorOp::Add => self.vector(self.width, 1, prefix, 0x58, x, y, z),
            VectorOp::Multiply => self.vector(self.width, 1, prefix, 0x59, x, y, z),
            VectorOp::Subtract => self.vector(self.width, 1, prefix, 0x5c, x, y, z),
            VectorOp::Divide => self.vector(self.width, 1, prefix, 0x5e, x, y, z),
        }
    }

    /// x = 0
    pub(crate) fn zero(&mut self, x: u8) {
        self.operate(VectorOp::Xor, x, x, Rm::Register(x));
    }

    /// x = y
    pub(crate) fn copy(&mut self, x: u8, y: u8) {
        self.mean("vmovapd", &[self.register(x), self.register(y)]);
        self.vector(self.width, 1, 1, 0x28, x, 0, Rm::Register(y));
    }

    /// Prefix 1 = 66, 3 = F2; map 1 = 0F, 2 = 0F38, 3 = 0F3A. Fused operations have W = 1, and so have EVEX doubles.
    #[allow(clippy::too_many_arguments)]
    fn vector(&mut self, width: VectorWidth, map: u8, prefix: u8, opcode: u8, x: u8, y: u8, z: Rm) {
        let (b, high) = match z {
            Rm::Register(z) => (z >> 3 & 1, z >> 4 & 1),
            Rm::Memory(Mem(base, _)) => (base.register().0 >> 3 & 1, 0),
        };
        let not = |bit: u8| 1 ^ bit & 1;
        let y_bits = (!y & 15) << 3;
        if width == VectorWidth::Eight || x > 15 || y > 15 || high == 1 {
            let length = match width {
                VectorWidth::One => 0,
                VectorWidth::Four => 0x20,
                VectorWidth::Eight => 0x40,
            };
            self.bytes.extend([
                0x62,
                not(x >> 3) << 7 | not(high) << 6 | not(b) << 5 | not(x >> 4) << 4 | map,
                0x80 | y_bits | 4 | prefix,
                length | not(y >> 4) << 3,
            ]);
        } else {
            let last = y_bits | u8::from(width == VectorWidth::Four) << 2 | prefix;
            if map == 1 && b == 0 {
                self.bytes.extend([0xc5, not(x >> 3) << 7 | last]);
            } else {
                let w = u8::from(map == 2 && opcode != BROADCAST) << 7;
                self.bytes.extend([0xc4, not(x >> 3) << 7 | 0x40 | not(b) << 5 | map, w | last]);
            }
        }
        self.bytes.push(opcode);
        match z {
            Rm::Register(z) => self.bytes.push(0xc0 | (x & 7) << 3 | z & 7),
            Rm::Memory(Mem(base, at)) => {
                self.bytes.push(0x80 | (x & 7) << 3 | base.register().0 & 7);
                self.number(at);
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
        self.mean("mov", &[to.operand(), from.operand()]);
        self.general(0x89, from.0, to);
    }

    /// An operation with a number of 32 bits.
    fn with_number(&mut self, name: &'static str, [opcode, field]: [u8; 2], of: General, value: i64) {
        self.mean(name, &[of.operand(), Operand::Number(value)]);
        self.general(opcode, field, of);
        self.number(value);
    }

    /// to = value
    pub(crate) fn set(&mut self, to: General, value: i64) {
        self.with_number("mov", [0xc7, 0], to, value);
    }

    pub(crate) fn add(&mut self, to: General, from: General) {
        self.mean("add", &[to.operand(), from.operand()]);
        self.general(0x01, from.0, to);
    }

    pub(crate) fn add_number(&mut self, to: General, value: i64) {
        self.with_number("add", [0x81, 0], to, value);
    }

    pub(crate) fn compare(&mut self, with: General, value: i64) {
        self.with_number("cmp", [0x81, 7], with, value);
    }

    pub(crate) fn shift_left(&mut self, to: General, by: u8) {
        self.mean("shl", &[to.operand(), Operand::Number(by.into())]);
        self.general(0xc1, 4, to);
        self.bytes.push(by);
    }

    pub(crate) fn shift_right(&mut self, to: General, by: u8) {
        self.mean("shr", &[to.operand(), Operand::Number(by.into())]);
        self.general(0xc1, 5, to);
        self.bytes.push(by);
    }

    /// Exchanges two registers.
    pub(crate) fn exchange(&mut self, a: General, b: General) {
        self.mean("xchg", &[b.operand(), a.operand()]);
        self.general(0x87, a.0, b);
    }

    /// Sets the zero flag from the lowest bits of a register.
    pub(crate) fn test_bits(&mut self, of: General, bits: i64) {
        self.with_number("test", [0xf7, 0], of, bits);
    }

    /// Counts down; sets the zero flag.
    pub(crate) fn decrement(&mut self, of: General) {
        self.mean("dec", &[of.operand()]);
        self.general(0xff, 1, of);
    }

    pub(crate) fn push(&mut self, of: General) {
        self.mean("push", &[of.operand()]);
        self.of_stack(0x50, of);
    }

    pub(crate) fn pop(&mut self, of: General) {
        self.mean("pop", &[of.operand()]);
        self.of_stack(0x58, of);
    }

    fn of_stack(&mut self, opcode: u8, of: General) {
        if of.0 > 7 {
            self.bytes.push(0x41);
        }
        self.bytes.push(opcode | of.0 & 7);
    }

    /// Clears the upper halves of the vector registers (no penalty for the caller's code) and returns.
    pub(crate) fn finish(&mut self) {
        self.mean("vzeroupper", &[]);
        self.bytes.extend([0xc5, 0xf8, 0x77]);
        self.mean("ret", &[]);
        self.bytes.push(0xc3);
    }

    /// A place to jump back to.
    pub(crate) fn label(&mut self) -> CodeLabel {
        self.forget();
        CodeLabel(self.bytes.len())
    }

    /// Jumps back if the condition holds.
    pub(crate) fn jump_back(&mut self, condition: u8, to: CodeLabel) {
        self.mean(jump_name(condition), &[Operand::Place(to.0)]);
        self.bytes.extend([0x0f, 0x80 | condition]);
        let after = self.bytes.len() as i64 + 4;
        self.number(to.0 as i64 - after);
    }

    /// Jumps forward if the condition holds.
    pub(crate) fn jump(&mut self, condition: u8) -> ForwardJump {
        self.mean(jump_name(condition), &[]);
        self.bytes.extend([0x0f, 0x80 | condition, 0, 0, 0, 0]);
        self.jumped()
    }

    /// Jumps forward.
    pub(crate) fn skip(&mut self) -> ForwardJump {
        self.mean("jmp", &[]);
        self.bytes.extend([0xe9, 0, 0, 0, 0]);
        self.jumped()
    }

    fn jumped(&self) -> ForwardJump {
        let meant = self.meant.as_ref().map_or(0, |meant| meant.len() - 1);
        ForwardJump { after: self.bytes.len(), meant }
    }

    /// Here a forward jump lands.
    pub(crate) fn land(&mut self, jump: ForwardJump) {
        let (here, after) = (self.bytes.len(), jump.after);
        if let Some(meant) = &mut self.meant {
            meant[jump.meant].operands.push(Operand::Place(here));
        }
        let distance = i32::try_from(here - after);
        self.refused |= distance.is_err();
        self.bytes[after - 4..after].copy_from_slice(&distance.unwrap_or(0).to_le_bytes());
    }
}

/// These places; the last one again where there are fewer.
fn four(places: &[Mem]) -> [Mem; 4] {
    std::array::from_fn(|lane| places[lane.min(places.len() - 1)])
}

/// Is the second place right after the first?
fn are_neighbours(Mem(base, first): Mem, Mem(other, second): Mem) -> bool {
    base == other && second == first + 8
}

/// A memory operand as it is listed.
fn memory(Mem(base, displacement): Mem, bits: u16) -> Operand {
    Operand::Memory { base: base.register().0, displacement, bits }
}

fn jump_name(condition: u8) -> &'static str {
    if condition == IF_ZERO { "je" } else { "jne" }
}

#[cfg(test)]
mod tests;
