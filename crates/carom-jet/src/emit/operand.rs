//! What instructions are about: widths, registers, places in memory, operations.

use super::listing::Operand;

/// How many doubles an instruction works on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum VectorWidth {
    One,
    Four,
    Eight,
}

impl VectorWidth {
    pub(crate) fn doubles(self) -> usize {
        match self {
            VectorWidth::One => 1,
            VectorWidth::Four => 4,
            VectorWidth::Eight => 8,
        }
    }

    /// Bits of the registers that hold so many.
    pub(crate) fn register_bits(self) -> u16 {
        match self {
            VectorWidth::One => 128,
            VectorWidth::Four => 256,
            VectorWidth::Eight => 512,
        }
    }

    pub(crate) fn bits(self) -> u16 {
        64 * self.doubles() as u16
    }
}

/// General registers, by number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct General(pub u8);

impl General {
    pub(crate) fn operand(self) -> Operand {
        Operand::General(self.0)
    }
}

pub(crate) const RBX: General = General(3);
pub(crate) const RBP: General = General(5);
pub(crate) const R12: General = General(12);
pub(crate) const R13: General = General(13);
pub(crate) const R14: General = General(14);

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
    /// Moves by the scales of an order (`SCALES` elements).
    Scale,
    /// Interior sums of this order, and of the next.
    Sums,
    NextSums,
    /// Lower and upper operands of an interior sum.
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

/// A memory operand: base and displacement in bytes. Code has 32 bits for displacements; others are refused when it is closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mem(pub Base, pub i64);

/// Arithmetic on vector registers: x = y ∘ z.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum VectorOp {
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

impl VectorOp {
    /// Its name, for one double and for vectors.
    pub(crate) fn name(self, width: VectorWidth) -> &'static str {
        let [one, many] = match self {
            VectorOp::Add => ["vaddsd", "vaddpd"],
            VectorOp::Subtract => ["vsubsd", "vsubpd"],
            VectorOp::Multiply => ["vmulsd", "vmulpd"],
            VectorOp::Divide => ["vdivsd", "vdivpd"],
            VectorOp::Sqrt => ["vsqrtsd", "vsqrtpd"],
            VectorOp::And => ["vandpd"; 2],
            VectorOp::Xor => ["vxorpd"; 2],
            VectorOp::Fused => ["vfmadd231sd", "vfmadd231pd"],
            VectorOp::FusedMinus => ["vfnmadd231sd", "vfnmadd231pd"],
        };
        if width == VectorWidth::One { one } else { many }
    }
}

/// The second operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rm {
    Register(u8),
    Memory(Mem),
}
