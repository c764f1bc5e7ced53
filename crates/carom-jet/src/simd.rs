//! Which instructions are used, chosen at run time; vector kernels for each of them; and machine code made executable. The only
//! file of this crate with `unsafe`.
//!
//! ```text
//! Instructions ──▶ detection ──▶ Level ──▶ dispatch(kernel)              a safe generic function, compiled once per instruction set
//! (asked for)                      └─────▶ ExecutableCode ──▶ call      bytes of an emitted program, only with the instruction set it needs
//! ```
//!
//! [`Instructions`] is the name of a way to evaluate, `InstructionSet` what machine code is made of (bytes can be made for any), and a
//! [`Level`] what this processor executes.
//!
//! Promise: a [`Level`] in hand is one that this processor has: it has no other maker than detection. Each lane performs
//! the same operations in the same order whatever the width and whoever makes them, so that there are two classes of bits and
//! no more: multiply and add rounded once ([`Arithmetic::Fused`]) or twice ([`Arithmetic::Plain`]).
#![allow(unsafe_code)]

use crate::emit::{AssembledCode, EntryPoint, InstructionSet};
use crate::eval::element::Octet;
use crate::ir::layout::WIDTH;
use std::fmt;

/// How values and series are evaluated. All give the same bits where the arithmetic is the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Instructions {
    /// Machine code with vectors of eight doubles.
    Avx512,
    /// Machine code with vectors of four doubles.
    Avx2,
    /// No machine code: the interpreter, with the best vectors the processor has.
    Interpreter,
    /// The interpreter as the compiler makes it for any processor of this kind; fused operations by the library.
    Portable,
}

impl Instructions {
    /// Those a user may ask for, by name.
    pub const NAMED: [(&'static str, Instructions); 3] = [
        ("avx512", Instructions::Avx512),
        ("avx2", Instructions::Avx2),
        ("interpreter", Instructions::Interpreter),
    ];
}

impl fmt::Display for Instructions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Instructions::Avx512 => "AVX-512",
            Instructions::Avx2 => "AVX2",
            Instructions::Interpreter => "interpreter",
            Instructions::Portable => "portable interpreter",
        })
    }
}

/// How a b + c is rounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Arithmetic {
    /// Once.
    #[default]
    Fused,
    /// After the product and after the sum.
    Plain,
}

impl Arithmetic {
    /// Both, by name.
    pub const NAMED: [(&'static str, Arithmetic); 2] =
        [("fused", Arithmetic::Fused), ("plain", Arithmetic::Plain)];

    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Arithmetic::Fused => "fused",
            Arithmetic::Plain => "plain",
        }
    }
}

impl fmt::Display for Arithmetic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

mod token {
    use super::InstructionSet;

    /// An instruction set that the processor has: made by detection only.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(super) struct Detected(InstructionSet);

    impl Detected {
        #[cfg(target_arch = "x86_64")]
        pub(super) fn new(set: InstructionSet) -> Option<Detected> {
            let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq");
            let has = match set {
                InstructionSet::Avx512 => avx512 && avx2,
                InstructionSet::Avx2 => avx2,
            };
            has.then_some(Detected(set))
        }

        #[cfg(not(target_arch = "x86_64"))]
        pub(super) fn new(_: InstructionSet) -> Option<Detected> {
            None
        }

        /// The fastest there is.
        pub(super) fn best() -> Option<Detected> {
            let wide = Detected::new(InstructionSet::Avx512).filter(|_| !is_faster_with_half_vectors());
            wide.or_else(|| Detected::new(InstructionSet::Avx2))
        }

        /// Which one.
        pub(super) fn set(self) -> InstructionSet {
            self.0
        }
    }

    /// Intel's processors before Sapphire Rapids lower their clock for vectors of eight doubles and close one of two ports to
    /// everything narrower meanwhile: vectors of four are faster there, in single runs by a fifth. They are told by their model,
    /// which virtual machines pass on where they hide features of later processors; the list is complete, nothing is added to it.
    #[cfg(target_arch = "x86_64")]
    fn is_faster_with_half_vectors() -> bool {
        use std::arch::x86_64::__cpuid;
        use std::sync::OnceLock;
        static KNOWN: OnceLock<bool> = OnceLock::new();
        *KNOWN.get_or_init(|| {
            // SAFETY: every processor of this architecture has the instruction. Later compilers know that.
            #[allow(unused_unsafe)]
            let (vendor, version) = unsafe { (__cpuid(0), __cpuid(1).eax) };
            let intel =
                [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).as_flattened() == b"GenuineIntel";
            intel && is_before_sapphire_rapids(version)
        })
    }

    /// Is this, as `cpuid` gives it, an Intel processor with vectors of eight doubles of the years before Sapphire Rapids?
    #[cfg(target_arch = "x86_64")]
    pub(super) fn is_before_sapphire_rapids(version: u32) -> bool {
        let (family, model) = (version >> 8 & 0xf, version >> 4 & 0xf | version >> 12 & 0xf0);
        // Skylake to Cooper Lake; Cannon Lake; Ice Lake of servers and of laptops; Tiger Lake; Rocket Lake.
        family == 6 && matches!(model, 0x55 | 0x66 | 0x6a | 0x6c | 0x7d | 0x7e | 0x8c | 0x8d | 0xa7)
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn is_faster_with_half_vectors() -> bool {
        false
    }
}
use token::Detected;

/// The instructions in use, all of which this processor has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Level {
    /// The vectors of kernels; `None`: whatever the compiler makes of them.
    vectors: Option<Detected>,
    /// Is there machine code, too?
    code: bool,
    arithmetic: Arithmetic,
}

/// A level that cannot be had: a sentence, with a way out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unavailable(pub String);

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unavailable {}

impl Level {
    /// The fastest this processor has.
    ///
    /// ```
    /// use carom_jet::Level;
    /// let level = Level::detect();
    /// println!("{} ({} arithmetic)", level.instructions(), level.arithmetic());
    /// ```
    pub fn detect() -> Level {
        let vectors = Detected::best();
        // Fused operations belong to every processor of the other kind.
        let fused = vectors.is_some() || cfg!(target_arch = "aarch64");
        let arithmetic = if fused { Arithmetic::Fused } else { Arithmetic::Plain };
        Level { vectors, code: vectors.is_some(), arithmetic }
    }

    /// The level asked for; what is left open is the best there is.
    ///
    /// # Errors
    /// When the processor lacks the instructions, or when they have no such arithmetic.
    ///
    /// ```
    /// use carom_jet::{Arithmetic, Instructions, Level};
    /// let level = Level::choose(Some(Instructions::Interpreter), Some(Arithmetic::Plain)).unwrap();
    /// assert_eq!(level.arithmetic(), Arithmetic::Plain);
    /// assert!(Level::choose(Some(Instructions::Avx2), Some(Arithmetic::Plain)).is_err(), "machine code is fused");
    /// ```
    pub fn choose(
        instructions: Option<Instructions>,
        arithmetic: Option<Arithmetic>,
    ) -> Result<Level, Unavailable> {
        let best = Level::detect();
        let lacks = |what: Instructions| {
            let sentence =
                format!("this processor does not have {what}; the fastest it has is {}", best.instructions());
            Unavailable(sentence)
        };
        let with_code = |set: InstructionSet, what: Instructions| {
            let vectors = Some(Detected::new(set).ok_or_else(|| lacks(what))?);
            Ok(Level { vectors, code: true, arithmetic: Arithmetic::Fused })
        };
        let level = match instructions {
            None => best,
            Some(what @ Instructions::Avx512) => with_code(InstructionSet::Avx512, what)?,
            Some(what @ Instructions::Avx2) => with_code(InstructionSet::Avx2, what)?,
            Some(Instructions::Interpreter) => best.interpreted(),
            Some(Instructions::Portable) => Level { vectors: None, code: false, ..best },
        };
        match arithmetic {
            None => Ok(level),
            Some(Arithmetic::Plain) if level.code => match instructions {
                None => Ok(Level { arithmetic: Arithmetic::Plain, ..level.interpreted() }),
                Some(_) => Err(Unavailable(
                    "machine code fuses multiply and add; plain arithmetic needs the interpreter".into(),
                )),
            },
            Some(arithmetic) => Ok(Level { arithmetic, ..level }),
        }
    }

    /// The same without machine code: slower, and the same bits.
    #[must_use]
    pub fn interpreted(self) -> Level {
        Level { code: false, ..self }
    }

    /// What it uses.
    pub fn instructions(self) -> Instructions {
        match (self.vectors.map(Detected::set), self.code) {
            (Some(InstructionSet::Avx512), true) => Instructions::Avx512,
            (Some(InstructionSet::Avx2), true) => Instructions::Avx2,
            (None, _) => Instructions::Portable,
            (Some(_), false) => Instructions::Interpreter,
        }
    }

    /// How it rounds.
    pub fn arithmetic(self) -> Arithmetic {
        self.arithmetic
    }

    /// The instruction set of machine code, if there is any.
    pub(crate) fn code(self) -> Option<InstructionSet> {
        self.vectors.filter(|_| self.code).map(Detected::set)
    }
}

/// Work that becomes vector code. `run` and what it calls must be `#[inline(always)]`; closures in it must be short.
pub(crate) trait Kernel {
    fn run<const FUSED: bool>(self);
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Kernel;

    // Kernels stay apart: together in one function their loops over lanes would be mixed, and vectors taken to pieces.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx2,fma")]
    pub(crate) fn avx512<const FUSED: bool>(kernel: impl Kernel) {
        kernel.run::<FUSED>();
    }

    #[inline(never)]
    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn avx2<const FUSED: bool>(kernel: impl Kernel) {
        kernel.run::<FUSED>();
    }
}

/// Runs a kernel with the instructions of a level.
#[inline]
pub(crate) fn dispatch(level: Level, kernel: impl Kernel) {
    match (level.vectors.map(Detected::set), level.arithmetic) {
        // SAFETY: `Detected` is made by detection only, which has found the instruction set.
        #[cfg(target_arch = "x86_64")]
        (Some(InstructionSet::Avx512), Arithmetic::Fused) => unsafe { x86::avx512::<true>(kernel) },
        #[cfg(target_arch = "x86_64")]
        (Some(InstructionSet::Avx512), Arithmetic::Plain) => unsafe { x86::avx512::<false>(kernel) },
        #[cfg(target_arch = "x86_64")]
        (Some(InstructionSet::Avx2), Arithmetic::Fused) => unsafe { x86::avx2::<true>(kernel) },
        #[cfg(target_arch = "x86_64")]
        (Some(InstructionSet::Avx2), Arithmetic::Plain) => unsafe { x86::avx2::<false>(kernel) },
        (_, Arithmetic::Fused) => kernel.run::<true>(),
        (_, Arithmetic::Plain) => kernel.run::<false>(),
    }
}

/// Reads a number by an instruction of its own: several that are read together would become a gather, which costs more.
#[inline(always)]
pub(crate) fn read_alone(x: &f64) -> f64 {
    // SAFETY: what a reference refers to can be read.
    unsafe { std::ptr::read_volatile(x) }
}

/// Octets as doubles.
#[inline(always)]
pub(crate) fn flat(octets: &[Octet]) -> &[f64] {
    // SAFETY: an octet is exactly eight doubles (`repr(C)`, size 64), and the length is that many.
    unsafe { std::slice::from_raw_parts(octets.as_ptr().cast(), octets.len() * WIDTH) }
}

/// Octets as doubles.
#[inline(always)]
pub(crate) fn flat_mut(octets: &mut [Octet]) -> &mut [f64] {
    // SAFETY: as in `flat`; the borrow is exclusive.
    unsafe { std::slice::from_raw_parts_mut(octets.as_mut_ptr().cast(), octets.len() * WIDTH) }
}

/// A program in executable memory, on a processor that has its instructions.
#[derive(Debug)]
pub(crate) struct ExecutableCode {
    memory: memmap2::Mmap,
    program: AssembledCode,
}

impl ExecutableCode {
    /// Makes a program executable. `None` where the level has no code of its instruction set, or the system grants no
    /// executable memory.
    pub(crate) fn new(program: AssembledCode, level: Level) -> Option<ExecutableCode> {
        if !cfg!(target_arch = "x86_64") || level.code() != Some(program.instruction_set()) {
            return None;
        }
        let bytes = program.bytes();
        let mut memory = memmap2::MmapMut::map_anon(bytes.len()).ok()?;
        memory[..bytes.len()].copy_from_slice(bytes);
        Some(ExecutableCode { memory: memory.make_exec().ok()?, program })
    }

    /// What it was made from.
    pub(crate) fn program(&self) -> &AssembledCode {
        &self.program
    }

    /// Runs the function at an entry of this program on an arena of elements of its width.
    ///
    /// # Panics
    /// When the arena is shorter than the program needs, its elements are of another width, or the entry is not one of its own.
    #[inline]
    pub(crate) fn run<T: Copy>(&self, entry: EntryPoint, arena: &mut [T]) {
        let program = &self.program;
        assert!(program.owns(entry), "an entry of this program");
        assert!(size_of_val(arena) >= program.least_bytes(), "as long as the layout says");
        assert!(size_of::<T>() == program.element_bytes(), "elements of its width");
        assert!(align_of::<T>() >= program.element_bytes(), "aligned as its vectors are");
        // SAFETY: the four assertions are the contract, and `new` has seen that the processor has the instructions.
        unsafe { self.call(entry, arena.as_mut_ptr().cast()) }
    }

    /// Calls the function at an entry.
    ///
    /// # Safety
    /// * The processor has the program's instruction set.
    /// * `entry` is one of the program's entries: what begins there is a whole function of the System V convention, which
    ///   saves what it must, clears the upper halves of the vector registers and returns.
    /// * `arena` is exclusively borrowed, aligned to `AssembledCode::element_bytes` and at least `AssembledCode::least_bytes` long: every
    ///   access of the code is within the layout it was made for.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn call(&self, entry: EntryPoint, arena: *mut f64) {
        type EntryFunction = unsafe extern "sysv64" fn(*mut f64);
        // SAFETY: by the contract above; the memory is executable and lives as long as `self`.
        unsafe {
            let function: EntryFunction = std::mem::transmute(self.memory.as_ptr().add(entry.offset()));
            function(arena);
        }
    }

    /// Never called: without this processor there is no `ExecutableCode`.
    ///
    /// # Safety
    /// None needed.
    #[cfg(not(target_arch = "x86_64"))]
    unsafe fn call(&self, _: EntryPoint, _: *mut f64) {
        let _ = &self.memory;
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::token::is_before_sapphire_rapids;

    #[test]
    fn vectors_of_eight_doubles_are_left_to_processors_that_are_fast_with_them() {
        // Versions as the processors report them: Ice Lake and Cascade Lake servers; Sapphire and Emerald Rapids, Granite Rapids.
        for (version, before) in
            [(0x606a6, true), (0x50657, true), (0x806f8, false), (0xc06f2, false), (0xa06d1, false)]
        {
            assert_eq!(is_before_sapphire_rapids(version), before, "{version:x}");
        }
    }
}
