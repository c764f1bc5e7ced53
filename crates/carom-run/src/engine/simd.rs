//! Vector kernels, chosen at run time: AVX-512, AVX2 with FMA, or plain. The only file of this crate with `unsafe`.
//!
//! Every kernel is one safe generic function, compiled once per instruction set. Each lane performs the same operations
//! in the same order whatever the width, so results do not depend on the instruction set, except that processors
//! without fused multiply–add round twice.
#![allow(unsafe_code)]
// Loops over lanes are indexed: several arrays advance together, and that form becomes vector code.
#![allow(clippy::needless_range_loop)]

use super::crowd::Crowd;
use super::recurrence::{Edge, Equation, Scale};

/// Eight doubles: one AVX-512 register, or two AVX registers. Aligned, because split cache lines cost 1.6 times.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Octet(pub [f64; 8]);

/// The instruction set in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Level {
    Avx512,
    Avx2,
    Plain,
}

impl Level {
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
        Level::Plain
    }
}

/// a·b + c, fused where that is one instruction.
#[inline(always)]
fn fma<const FUSED: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

#[inline(always)]
fn accumulate<const FUSED: bool>(sum: &mut [f64; 8], a: &Octet, b: &Octet) {
    for i in 0..8 {
        sum[i] = fma::<FUSED>(a.0[i], b.0[i], sum[i]);
    }
}

/// For each octet c of pairs: out_c = weight_c Σ_{0<j<k} a_{c,j} b_{c,k−j}. Coefficient j of octet c is at c·stride + j.
#[inline(always)]
fn interior_body<const FUSED: bool>(
    a: &[Octet],
    b: &[Octet],
    weights: &[Octet],
    out: &mut [f64],
    stride: usize,
    k: usize,
) {
    for (c, (out, weight)) in out.chunks_exact_mut(8).zip(weights).enumerate() {
        let a = &a[c * stride + 1..c * stride + k];
        let b = &b[c * stride + 1..c * stride + k];
        let (mut even, mut odd) = ([0.0; 8], [0.0; 8]);
        let (pairs_a, pairs_b) = (a.chunks_exact(2), b.rchunks_exact(2));
        let (rest_a, rest_b) = (pairs_a.remainder(), pairs_b.remainder());
        for (x, y) in pairs_a.zip(pairs_b) {
            accumulate::<FUSED>(&mut even, &x[0], &y[1]);
            accumulate::<FUSED>(&mut odd, &x[1], &y[0]);
        }
        if let ([x], [y]) = (rest_a, rest_b) {
            accumulate::<FUSED>(&mut even, x, y);
        }
        for i in 0..8 {
            out[i] = weight.0[i] * (even[i] + odd[i]);
        }
    }
}

/// The equations of a stage, one after the other; see the module of recurrences. Returns how many pairs and edges
/// were used.
#[inline(always)]
fn equations_body<const FUSED: bool>(
    list: &[Equation],
    rows: &mut [f64],
    weights: &[f64],
    edges: &[Edge],
    interior: &[f64],
    [order, inverse]: [f64; 2],
) -> (usize, usize) {
    let (mut pair, mut edge) = (0, 0);
    for e in list {
        let (pairs, terms) = (e.pairs as usize, e.edges as usize);
        let mut sum = 0.0;
        for i in &interior[pair..pair + pairs] {
            sum += i;
        }
        for (w, e) in weights[edge..edge + terms].iter().zip(&edges[edge..edge + terms]) {
            sum = fma::<FUSED>(*w, rows[e.source as usize], sum);
        }
        pair += pairs;
        edge += terms;
        rows[e.out as usize] = match e.scale {
            Scale::One => sum,
            Scale::Order => sum * order,
            Scale::Inverse => sum * inverse,
        };
    }
    (pair, edge)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Crowd, Edge, Equation, Octet, equations_body, interior_body};

    #[target_feature(enable = "avx512f,avx512vl,avx2,fma")]
    pub(super) fn interior_avx512(
        a: &[Octet],
        b: &[Octet],
        w: &[Octet],
        out: &mut [f64],
        stride: usize,
        k: usize,
    ) {
        interior_body::<true>(a, b, w, out, stride, k);
    }

    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx2,fma")]
    pub(super) fn round_avx512<const W: usize>(crowd: &mut Crowd<W>) {
        crowd.round_body::<true>();
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn round_avx2<const W: usize>(crowd: &mut Crowd<W>) {
        crowd.round_body::<true>();
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn equations_fused(
        list: &[Equation],
        rows: &mut [f64],
        weights: &[f64],
        edges: &[Edge],
        interior: &[f64],
        scale: [f64; 2],
    ) -> (usize, usize) {
        equations_body::<true>(list, rows, weights, edges, interior, scale)
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn interior_avx2(
        a: &[Octet],
        b: &[Octet],
        w: &[Octet],
        out: &mut [f64],
        stride: usize,
        k: usize,
    ) {
        interior_body::<true>(a, b, w, out, stride, k);
    }
}

/// Interior sums of all pairs; see the module of recurrences.
pub(crate) fn interior(
    level: Level,
    a: &[Octet],
    b: &[Octet],
    weights: &[Octet],
    out: &mut [f64],
    stride: usize,
    k: usize,
) {
    match level {
        // SAFETY: these levels are only made by `Level::detect`, which has found the instruction sets.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { x86::interior_avx512(a, b, weights, out, stride, k) },
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { x86::interior_avx2(a, b, weights, out, stride, k) },
        _ => interior_body::<false>(a, b, weights, out, stride, k),
    }
}

/// The equations of a stage by interpretation; returns how many pairs and edges were used.
pub(crate) fn equations(
    level: Level,
    list: &[Equation],
    rows: &mut [f64],
    weights: &[f64],
    edges: &[Edge],
    interior: &[f64],
    scale: [f64; 2],
) -> (usize, usize) {
    match level {
        Level::Plain => equations_body::<false>(list, rows, weights, edges, interior, scale),
        // SAFETY: the other levels are only made by `Level::detect`, which has found AVX2 and FMA.
        #[cfg(target_arch = "x86_64")]
        _ => unsafe { x86::equations_fused(list, rows, weights, edges, interior, scale) },
        #[cfg(not(target_arch = "x86_64"))]
        _ => equations_body::<false>(list, rows, weights, edges, interior, scale),
    }
}

/// One step of every lane up to the point where single trajectories need attention.
pub(crate) fn round<const W: usize>(level: Level, crowd: &mut Crowd<W>) {
    match level {
        // SAFETY: these levels are only made by `Level::detect`, which has found the instruction sets.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { x86::round_avx512(crowd) },
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { x86::round_avx2(crowd) },
        _ => crowd.round_body::<false>(),
    }
}

/// Executable memory with the code of one recurrence.
#[derive(Debug)]
pub(crate) struct Code {
    memory: memmap2::Mmap,
    /// Least lengths of arena, octets and series.
    reach: [usize; 3],
}

impl Code {
    /// `None` where the system grants no executable memory.
    pub(crate) fn new(bytes: &[u8], reach: [usize; 3]) -> Option<Code> {
        if !cfg!(target_arch = "x86_64") || bytes.is_empty() {
            return None;
        }
        let mut memory = memmap2::MmapMut::map_anon(bytes.len()).ok()?;
        memory[..bytes.len()].copy_from_slice(bytes);
        Some(Code { memory: memory.make_exec().ok()?, reach })
    }

    /// Calls the code at offset `at` for order `k`.
    #[inline]
    pub(crate) fn call(
        &self,
        at: usize,
        k: usize,
        arena: &mut [f64],
        a: &mut [Octet],
        b: &mut [Octet],
        series: &mut [f64],
    ) {
        let [arena_length, octets, kept] = self.reach;
        assert!(at < self.memory.len() && arena.len() >= arena_length);
        assert!(a.len() >= octets && b.len() >= octets && series.len() >= kept);
        // Offsets in the code are those of coefficient 0 in rows of `stride`; k < stride is the caller's loop.
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the bytes were assembled by `machine::Program` for these very lengths: every access is at a fixed
        // offset below them once k is added to octets and series; the code keeps to the System V convention, uses
        // caller-saved registers only and returns. The needed AVX and FMA were detected before assembling.
        unsafe {
            type Order = unsafe extern "sysv64" fn(*mut f64, *mut Octet, *mut Octet, *mut f64);
            let order: Order = std::mem::transmute(self.memory.as_ptr().add(at));
            let octet = |v: &mut [Octet]| if v.is_empty() { v.as_mut_ptr() } else { v[k..].as_mut_ptr() };
            let kept = if series.is_empty() { series.as_mut_ptr() } else { series[k..].as_mut_ptr() };
            order(arena.as_mut_ptr(), octet(a), octet(b), kept);
        }
    }
}
