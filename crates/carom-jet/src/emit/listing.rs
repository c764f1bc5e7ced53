//! What code is meant to be, instruction by instruction, beside the bytes that were made of it.
//!
//! The assembler writes down name and operands of every instruction before it encodes them; somebody else's disassembler can
//! then be asked what the bytes say. Bytes can be listed for any instruction set, whatever this processor has.

use super::{AssembledCode, EmitTarget, InstructionSet};
use crate::ir::layout::Layout;
use crate::ir::tape::Tape;

/// An operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    /// A vector register: its number and how many bits of it.
    Vector(u8, u16),
    /// A 64-bit general register.
    General(u8),
    /// Memory at a general register and a displacement: so many bits of it.
    Memory {
        /// The register.
        base: u8,
        /// Bytes from there.
        displacement: i64,
        /// How much is read or written.
        bits: u16,
    },
    /// A place in the code, in bytes from its beginning: a jump's target.
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
    /// The code.
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
            for (target, kind) in [(EmitTarget::Single, "single"), (EmitTarget::Lanes, "batch")] {
                let layout = Layout::new(tape, order, target == EmitTarget::Single);
                if let Some((program, meant)) = AssembledCode::list(tape, &layout, target, set) {
                    let bytes = program.bytes().to_vec();
                    all.push(Listing { title: format!("{name}, {kind}"), bytes, meant });
                }
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::System;
    use crate::ir::recurrence::{NONE, OrderScale};
    use crate::ir::tape::{ONE, Op, RowIndex, TapeValue, ZERO};
    use crate::values::Operation;
    use carom_expr::{Dag, Exponent, Function};

    fn small(n: u32) -> String {
        n.to_string().chars().map(|c| char::from_u32(c as u32 - '0' as u32 + '₀' as u32).unwrap()).collect()
    }

    fn operand(operand: &Operand) -> String {
        let general = |n: u8| {
            ["rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi"]
                .get(usize::from(n))
                .map_or_else(|| format!("r{n}"), |r| (*r).to_owned())
        };
        match operand {
            Operand::Vector(n, 256) => format!("ymm{n}"),
            Operand::Memory { base, displacement, .. } if *displacement < 0 => {
                format!("[{} − {:#x}]", general(*base), -displacement)
            }
            Operand::Memory { base, displacement, .. } => format!("[{} + {displacement:#x}]", general(*base)),
            other => panic!("not in the example: {other:?}"),
        }
    }

    /// The pendulum's constants, instructions, recurrence and one multiply–add of its interior sums, as the page of the crate writes
    /// them.
    fn lines() -> Vec<String> {
        let mut dag = Dag::new();
        let [time, g, x, v] = ["t", "g", "x", "v"].map(|name| dag.symbol(name));
        let sine = dag.function(Function::Sin, &[x]);
        let pull = dag.mul(g, sine);
        let rate = vec![v, dag.neg(pull)];
        let (parameters, state, watched) = (vec![g], vec![x, v], vec![x]);
        let system = System { time, parameters, state, rate, blocks: vec![], watched, monitored: vec![] };
        let tape = Tape::compile(&dag, &system).unwrap();
        let mut lines = vec!["r₀ = x r₁ = v r₂ = t".to_owned()];
        let constants = (2..).zip(&tape.constants[2..]).map(|(slot, op)| match op {
            Operation::Input(0) => format!("c{} = g", small(slot)),
            Operation::Product(factor, factors) => {
                let [(base, Exponent::Whole(1))] = **factors else { panic!("{op:?}") };
                format!("c{} = {factor}·c{}", small(slot), small(base)).replace('-', "−")
            }
            other => panic!("not in the example: {other:?}"),
        });
        lines.push(constants.collect::<Vec<_>>().join(" "));
        let r = |row: RowIndex| format!("r{}", small(row));
        let mut products = Vec::new();
        lines.extend(tape.ops.iter().map(|op| match op {
            Op::Euler { out, u } => format!("Euler {} = D {}", r(*out), r(*u)),
            Op::SinCos { u, sin, cos, .. } => {
                format!("SinCos {}, {} = sin {}, cos {}", r(*sin), r(*cos), r(*u), r(*u))
            }
            Op::Dot { out, constant: ZERO, linear, products: none } if none.is_empty() => {
                let [term] = **linear else { panic!("{op:?}") };
                products.push((*out, term));
                format!("Dot {} = c{} {}", r(*out), small(term.coefficient), r(term.a))
            }
            other => panic!("not in the example: {other:?}"),
        }));
        let TapeValue::Row(last) = tape.rate[1] else { panic!("a row") };
        assert_eq!(tape.rate[0], TapeValue::Row(1));
        lines.push(format!("x' = r₁, v' = {}", r(last)));
        let (_, term) = products.iter().find(|(out, _)| *out == last).unwrap();
        lines.push("r₀,ₖ₊₁ = r₁ₖ / (k + 1)".to_owned());
        lines.push(format!("r₁,ₖ₊₁ = c{} {}ₖ / (k + 1)", small(term.coefficient), r(term.a)));
        // k s_k = ± Σ_{0<j<k} (Du)_j c_{k−j}, and the term j = k as an edge: k u_k c_0.
        let recurrence = &tape.recurrence;
        let euler = |row: RowIndex| {
            let found = tape.ops.iter().find_map(|op| match op {
                Op::Euler { out, u } if *out == row => Some(*u),
                _ => None,
            });
            found.expect("an Euler derivative")
        };
        for e in recurrence.equations.iter().filter(|e| !e.pairs.is_empty()) {
            let [pair] = recurrence.pairs[e.pairs.clone()] else { panic!("one pair") };
            let [edge] = recurrence.edges[e.edges.clone()] else { panic!("one edge") };
            let (u, other) = (euler(pair.a), pair.b);
            let weight = (edge.weight.factor, edge.weight.constant, edge.weight.times, edge.weight.over);
            assert_eq!((e.scale, edge.source), (OrderScale::Inverse, u));
            assert_eq!(
                weight,
                (pair.weight.factor, ONE, other, NONE),
                "the term j = k belongs to the same sum"
            );
            let sign = if pair.weight.factor < 0.0 { "−" } else { "" };
            lines.push(format!("k {}ₖ = {sign}Σ_{{j=1…k}} j {}ⱼ {},ₖ₋ⱼ", r(e.out), r(u), r(other)));
        }
        let listing = Listing::of(&tape, 24).into_iter().find(|l| l.title == "AVX2, single").unwrap();
        let ends = listing.meant.iter().skip(1).map(|m| m.at);
        let (fused, end) = listing
            .meant
            .iter()
            .zip(ends)
            .find(|(m, _)| m.name == "vfmadd231pd" && matches!(m.operands[2], Operand::Memory { .. }))
            .expect("interior sums are taken in vectors");
        let operands: Vec<String> = fused.operands.iter().map(operand).collect();
        let bytes: Vec<String> = listing.bytes[fused.at..end].iter().map(|b| format!("{b:02x}")).collect();
        lines.push(format!("{} {} {}", fused.name, operands.join(", "), bytes.join(" ")));
        lines
    }

    #[test]
    fn the_page_of_the_crate_shows_what_becomes_of_a_pendulum() {
        let page: Vec<&str> =
            include_str!("../lib.rs").lines().filter_map(|line| line.strip_prefix("//!")).collect();
        let page = page.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
        for line in lines() {
            assert!(page.contains(&line), "not on the page: {line}");
        }
    }
}
