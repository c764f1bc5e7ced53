//! Bytes read back by a disassembler that is not ours, and compared with what was meant. Those who use it have `Meant` and
//! `Operand` in scope.

use super::{Meant, Operand};
use iced_x86::{Decoder, DecoderOptions, Instruction, MemorySize, OpKind, Register};

/// The number of a register in its file.
fn number(register: Register, first: Register) -> Option<u8> {
    let distance = (register as usize).checked_sub(first as usize)?;
    let files = if first == Register::RAX {
        16
    } else if first == Register::K0 {
        8
    } else {
        32
    };
    (distance < files).then_some(distance as u8)
}

fn vector(register: Register) -> Option<Operand> {
    [(Register::XMM0, 128), (Register::YMM0, 256), (Register::ZMM0, 512)]
        .into_iter()
        .find_map(|(first, bits)| number(register, first).map(|n| Operand::Vector(n, bits)))
}

fn bits(size: MemorySize) -> u16 {
    match size {
        MemorySize::Float64 => 64,
        MemorySize::Packed128_Float64 | MemorySize::Float128 => 128,
        MemorySize::Packed256_Float64 => 256,
        MemorySize::Packed512_Float64 => 512,
        other => panic!("no operand of ours: {other:?}"),
    }
}

fn operand(i: &Instruction, n: u32) -> Operand {
    match i.op_kind(n) {
        OpKind::Register => {
            let register = i.op_register(n);
            let general = || number(register, Register::RAX).map(Operand::General);
            vector(register).or_else(general).unwrap_or_else(|| panic!("{register:?}"))
        }
        OpKind::Memory => {
            let base = number(i.memory_base(), Register::RAX).expect("a general register");
            assert!(i.memory_index() == Register::None && !i.is_broadcast());
            let displacement = i.memory_displacement64() as i64;
            Operand::Memory { base, displacement, bits: bits(i.memory_size()) }
        }
        OpKind::NearBranch64 => Operand::Place(i.near_branch64() as usize),
        _ => Operand::Number(i.immediate(n) as i64),
    }
}

/// Reads the bytes instruction by instruction: each begins where the one before ends and is what was meant. Without `evex`
/// there are no instructions of AVX-512.
pub fn compare(title: &str, bytes: &[u8], meant: &[Meant], evex: bool) {
    assert!(!meant.is_empty(), "{title}: nothing was listed");
    let mut decoder = Decoder::with_ip(64, bytes, 0, DecoderOptions::NONE);
    for wanted in meant {
        assert_eq!(decoder.position(), wanted.at, "{title}: instructions follow each other");
        let found = decoder.decode();
        assert!(!found.is_invalid(), "{title}: no instruction at {}, where {wanted:?} was meant", wanted.at);
        let name = format!("{:?}", found.mnemonic()).to_lowercase();
        let operands: Vec<Operand> = (0..found.op_count()).map(|n| operand(&found, n)).collect();
        assert_eq!(
            (name.as_str(), operands),
            (wanted.name, wanted.operands.clone()),
            "{title} at {}",
            wanted.at
        );
        let has_evex = bytes[wanted.at] == 0x62;
        assert!(evex || !has_evex, "{title}: {wanted:?} is of AVX-512");
    }
    assert_eq!(decoder.position(), bytes.len(), "{title}: nothing follows");
}
