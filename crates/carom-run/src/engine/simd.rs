//! Vector kernels, chosen at run time: AVX-512, AVX2 with FMA, or plain. The only file of this crate with `unsafe`.
//!
//! Every kernel is one safe generic function, compiled once per instruction set. Each lane performs the same operations
//! in the same order whatever the width, so results do not depend on the instruction set, except that processors
//! without fused multiply–add round twice.
#![allow(unsafe_code)]

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
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
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
    out: &mut [Octet],
    stride: usize,
    k: usize,
) {
    for (c, (out, weight)) in out.iter_mut().zip(weights).enumerate() {
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
            out.0[i] = weight.0[i] * (even[i] + odd[i]);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Octet, interior_body};

    #[target_feature(enable = "avx512f,avx512vl,avx2,fma")]
    pub(super) fn interior_avx512(
        a: &[Octet],
        b: &[Octet],
        w: &[Octet],
        out: &mut [Octet],
        stride: usize,
        k: usize,
    ) {
        interior_body::<true>(a, b, w, out, stride, k);
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn interior_avx2(
        a: &[Octet],
        b: &[Octet],
        w: &[Octet],
        out: &mut [Octet],
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
    out: &mut [Octet],
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
