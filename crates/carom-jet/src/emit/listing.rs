//! What code is meant to be, instruction by instruction, beside the bytes that were made of it.
//!
//! The assembler writes down name and operands of every instruction before it encodes them; somebody else's disassembler can
//! then be asked what the bytes say. Bytes can be listed for any instruction set, whatever this processor has.

use super::{InstructionSet, Program, Target};
use crate::ir::layout::Layout;
use crate::ir::tape::Tape;

/// An operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    /// A vector register: its number and how many bits of it.
    Vector(u8, u16),
    /// A 64-bit general register.
    General(u8),
    /// A mask register.
    Mask(u8),
    /// Memory at a general register and a displacement: so many bits of it.
    Memory {
        /// The register.
        base: u8,
        /// Bytes from there.
        displacement: i64,
        /// How much is read or written.
        bits: u16,
    },
    /// Memory at a general register and eight times the 32-bit numbers in a vector register.
    Gathered {
        /// The register.
        base: u8,
        /// The vector register.
        index: u8,
    },
    /// A place in the code, in bytes from its beginning: a jump's target, or constants read relative to the instruction.
    Place(usize),
    /// A number.
    Number(i64),
}

/// An instruction as it was meant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Meant {
    /// Where its bytes begin.
    pub at: usize,
    /// Its name in the manuals, in lower case.
    pub name: &'static str,
    /// Its operands, target first.
    pub operands: Vec<Operand>,
}

/// The code of a tape and what it is meant to be.
#[derive(Clone, Debug)]
pub struct Listing {
    /// For which instruction set and how many trajectories: "AVX2, batch".
    pub title: String,
    /// The code, then zeros up to a multiple of 32 and constants.
    pub bytes: Vec<u8>,
    /// The instructions, one after the other.
    pub meant: Vec<Meant>,
}

impl Listing {
    /// All code there is for series of this order: single runs and batches, each for AVX2 and AVX-512.
    ///
    /// ```
    /// use carom_expr::Dag;
    /// use carom_jet::{Listing, System, Tape};
    /// let mut dag = Dag::new();
    /// let (t, x) = (dag.symbol("t"), dag.symbol("x"));
    /// let rate = vec![dag.mul(x, x)];
    /// let system = System {
    ///     time: t, parameters: vec![], state: vec![x], rate, blocks: vec![], watched: vec![], monitored: vec![],
    /// };
    /// let listings = Listing::of(&Tape::compile(&dag, &system).unwrap(), 20);
    /// assert_eq!(listings.len(), 4);
    /// assert!(listings[0].meant.iter().any(|m| m.name.starts_with("vfmadd231")));
    /// ```
    pub fn of(tape: &Tape, order: usize) -> Vec<Listing> {
        let mut all = Vec::new();
        for (set, name) in [(InstructionSet::Avx2, "AVX2"), (InstructionSet::Avx512, "AVX-512")] {
            for (target, kind) in [(Target::Single, "single"), (Target::Lanes, "batch")] {
                let layout = Layout::new(tape, order, target == Target::Single);
                if let Some((program, meant)) = Program::list(tape, &layout, target, set) {
                    let bytes = program.bytes().to_vec();
                    all.push(Listing { title: format!("{name}, {kind}"), bytes, meant });
                }
            }
        }
        all
    }
}
