//! Every instruction the assembler knows, read back by another disassembler.

use super::*;

#[path = "../../../tests/disassembly/mod.rs"]
mod disassembly;

const OPS: [VectorOp; 9] = [
    VectorOp::Add,
    VectorOp::Subtract,
    VectorOp::Multiply,
    VectorOp::Divide,
    VectorOp::Sqrt,
    VectorOp::And,
    VectorOp::Xor,
    VectorOp::Fused,
    VectorOp::FusedMinus,
];
const BASES: [Base; 9] = [
    Base::Arena,
    Base::Series,
    Base::Octets,
    Base::State,
    Base::Scale,
    Base::Sums,
    Base::NextSums,
    Base::Low,
    Base::High,
];

#[test]
fn every_vector_instruction_with_every_kind_of_operand_is_what_was_meant() {
    for (width, registers) in [
        (VectorWidth::One, 16),
        (VectorWidth::Four, 16),
        (VectorWidth::One, 32),
        (VectorWidth::Four, 32),
        (VectorWidth::Eight, 32),
    ] {
        let mut asm = Assembler::new(width, registers, true);
        let chosen: Vec<u8> =
            [0, 1, 7, 8, 15, 16, 23, 24, 31].into_iter().filter(|x| *x < registers).collect();
        let places =
            BASES.into_iter().flat_map(|base| [0, 64, -64, i64::from(i32::MAX)].map(|at| Mem(base, at)));
        for place in places {
            for &x in &chosen {
                asm.load(x, place);
                asm.store(place, x);
                OPS.into_iter().for_each(|op| asm.operate(op, x, chosen[1], Rm::Memory(place)));
                if width != VectorWidth::One {
                    asm.load_anywhere(x, place);
                    asm.broadcast(x, place);
                }
            }
        }
        for &x in &chosen {
            for &y in &chosen {
                asm.copy(x, y);
                for &z in &chosen {
                    OPS.into_iter().for_each(|op| asm.operate(op, x, y, Rm::Register(z)));
                }
            }
        }
        // Neighbours in both pairs, in the lower one, in the upper one, nowhere; all four; the same four times.
        let fours = [
            [0, 8, 64, 72],
            [0, 8, 64, 32],
            [8, 0, 64, 72],
            [64, 0, 32, 8],
            [64, 72, 80, 88],
            [64, 64, 64, 64],
        ];
        for (base, four) in
            BASES.into_iter().flat_map(|base| fours.map(|at| (base, at.map(|at| Mem(base, at)))))
        {
            for x in [2, 8, 15] {
                match width {
                    VectorWidth::One => {}
                    VectorWidth::Four => (1..=4).for_each(|lanes| asm.collect(x, &four[..lanes])),
                    VectorWidth::Eight => fours.iter().for_each(|upper| {
                        let eight = [four, upper.map(|at| Mem(base, at))].concat();
                        (1..=8).for_each(|lanes| asm.collect(x, &eight[..lanes]));
                    }),
                }
            }
        }
        asm.finish();
        let meant = asm.close().unwrap();
        disassembly::compare(
            &format!("{width:?}, {registers} registers"),
            &asm.bytes,
            &meant,
            registers == 32,
        );
    }
}

#[test]
fn general_instructions_and_jumps_are_what_was_meant() {
    let mut asm = Assembler::new(VectorWidth::One, 16, true);
    let saved = [RBX, RBP, R12, R13, R14];
    let all = saved.into_iter().chain(BASES.map(Base::register));
    let forward = asm.jump(IF_ZERO);
    let back = asm.label();
    for (of, other) in all.clone().flat_map(|a| all.clone().map(move |b| (a, b))) {
        asm.move_general(of, other);
        asm.add(of, other);
        asm.exchange(of, other);
        asm.set(of, -5);
        asm.add_number(of, i64::from(i32::MIN));
        asm.compare(of, 24);
        asm.shift_left(of, 6);
        asm.shift_right(of, 1);
        asm.test_bits(of, 1);
        asm.test_bits(of, -1);
        asm.decrement(of);
    }
    saved.into_iter().for_each(|of| asm.push(of));
    asm.jump_back(IF_NOT_ZERO, back);
    let skip = asm.skip();
    asm.land(forward);
    asm.pop(RBP);
    asm.land(skip);
    saved.into_iter().for_each(|of| asm.pop(of));
    asm.finish();
    let meant = asm.close().unwrap();
    disassembly::compare("general", &asm.bytes, &meant, false);
}

#[test]
fn displacements_and_numbers_beyond_32_bits_are_refused() {
    type Emit = fn(&mut Assembler);
    let emit: [(Emit, bool); 6] = [
        (|asm| asm.load(0, Mem(Base::Arena, i64::from(i32::MAX))), true),
        (|asm| asm.load(0, Mem(Base::Arena, i64::from(i32::MAX) + 1)), false),
        (
            |asm| asm.operate(VectorOp::Add, 0, 0, Rm::Memory(Mem(Base::Series, i64::from(i32::MIN) - 1))),
            false,
        ),
        (|asm| asm.add_number(RBX, 1 << 31), false),
        (|asm| asm.collect(2, &[0, 8, 1 << 31].map(|at| Mem(Base::Arena, at))), false),
        (|asm| asm.collect(2, &[0, 8, (1 << 31) - 8].map(|at| Mem(Base::Arena, at))), true),
    ];
    for (i, (emit, fine)) in emit.into_iter().enumerate() {
        let mut asm = Assembler::new(VectorWidth::Eight, 32, false);
        emit(&mut asm);
        assert_eq!(asm.close().is_some(), fine, "case {i}");
    }
}
