//! Vector kernels, chosen at run time: AVX-512, AVX2 with FMA, NEON (whatever the compiler makes of it), or plain; and machine code. The only file of this crate
//! with `unsafe`.
//!
//! Every kernel is one safe generic function, compiled once per instruction set. Each lane performs the same operations
//! in the same order whatever the width, so results do not depend on the instruction set, except that processors
//! without fused multiply–add round twice.
#![allow(unsafe_code)]

use crate::eval::element::{Octet, Wide};
use crate::ir::layout::WIDTH;

/// The instructions an evaluator may be asked to use. All give the same bits where multiply and add are fused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Instructions {
    /// 512 bits, and machine code also for lanes.
    Avx512,
    /// 256 bits, and machine code for single trajectories.
    Avx2,
    /// Whatever the compiler makes of it; fused operations by the library.
    Portable,
}

/// The instruction set in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Level {
    Avx512,
    Avx2,
    /// Multiply and add are two operations.
    Plain,
    /// Fused operations as the compiler has them: always there on some processors, by the library on others (slow, and
    /// the same bits).
    Library,
}

impl Level {
    /// These instructions, if the processor has them.
    pub(crate) fn of(instructions: Instructions) -> Option<Level> {
        let best = Level::detect();
        match instructions {
            Instructions::Avx512 => (best == Level::Avx512).then_some(Level::Avx512),
            Instructions::Avx2 => matches!(best, Level::Avx512 | Level::Avx2).then_some(Level::Avx2),
            Instructions::Portable => Some(Level::Library),
        }
    }

    /// The best this processor has.
    pub(crate) fn detect() -> Level {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq")
            {
                return Level::Avx512;
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                return Level::Avx2;
            }
        }
        // Fused operations belong to every processor of this kind.
        if cfg!(target_arch = "aarch64") { Level::Library } else { Level::Plain }
    }
}

/// Work that becomes vector code. `run` and what it calls must be `#[inline(always)]`.
pub(crate) trait Kernel {
    fn run<const FUSED: bool>(self);
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Kernel;

    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx2,fma")]
    pub(crate) fn avx512(kernel: impl Kernel) {
        kernel.run::<true>();
    }

    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn avx2(kernel: impl Kernel) {
        kernel.run::<true>();
    }
}

/// Runs a kernel with an instruction set.
#[inline]
pub(crate) fn dispatch(level: Level, kernel: impl Kernel) {
    match level {
        // SAFETY: these levels are only made by `Level::detect`, which has found the instruction sets.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { x86::avx512(kernel) },
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { x86::avx2(kernel) },
        Level::Library => kernel.run::<true>(),
        _ => kernel.run::<false>(),
    }
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

/// Executable memory with the code of one tape.
#[derive(Debug)]
pub(crate) struct Code {
    memory: memmap2::Mmap,
    /// Least length of the arena.
    octets: usize,
}

impl Code {
    /// Code that works on an arena of so many octets. `None` where the system grants no executable memory.
    pub(crate) fn new(bytes: &[u8], octets: usize) -> Option<Code> {
        if !cfg!(target_arch = "x86_64") || bytes.is_empty() {
            return None;
        }
        let mut memory = memmap2::MmapMut::map_anon(bytes.len()).ok()?;
        memory[..bytes.len()].copy_from_slice(bytes);
        Some(Code { memory: memory.make_exec().ok()?, octets })
    }

    /// Calls the function at offset `at`.
    #[inline]
    pub(crate) fn call<const W: usize>(&self, at: usize, arena: &mut [Wide<W>]) {
        assert!(at < self.memory.len() && size_of_val(arena) >= self.octets * size_of::<Octet>());
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the bytes were assembled by `machine::Program`, `at` is one of its entries, and every access is
        // within the layout whose length was checked; the code keeps to the System V convention (saves what it must,
        // clears upper halves) and returns. The needed instruction sets were detected before assembling.
        unsafe {
            type Function<const W: usize> = unsafe extern "sysv64" fn(*mut Wide<W>);
            let function: Function<W> = std::mem::transmute(self.memory.as_ptr().add(at));
            function(arena.as_mut_ptr());
        }
    }
}
