//! What evaluators compute with: one double, or one double per lane.

// Loops over lanes are indexed: several arrays advance together, and that form becomes vector code.
#![allow(clippy::needless_range_loop)]

/// A double, or several side by side that never mix.
pub(crate) trait Element: Copy {
    fn splat(x: f64) -> Self;
    fn zip(self, o: Self, f: impl Fn(f64, f64) -> f64) -> Self;

    #[inline(always)]
    fn plus(self, o: Self) -> Self {
        self.zip(o, |a, b| a + b)
    }
    #[inline(always)]
    fn minus(self, o: Self) -> Self {
        self.zip(o, |a, b| a - b)
    }
    #[inline(always)]
    fn times(self, o: Self) -> Self {
        self.zip(o, |a, b| a * b)
    }
    #[inline(always)]
    fn over(self, o: Self) -> Self {
        self.zip(o, |a, b| a / b)
    }
    /// self + a·b, rounded once where the processor can.
    fn plus_product<const FUSED: bool>(self, a: Self, b: Self) -> Self;
    /// self − a·b, likewise.
    #[inline(always)]
    fn minus_product<const FUSED: bool>(self, a: Self, b: Self) -> Self {
        self.plus_product::<FUSED>(a.zip(a, |a, _| -a), b)
    }
}

/// a·b + c, fused where that is one instruction.
#[inline(always)]
fn fma<const FUSED: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

impl Element for f64 {
    #[inline(always)]
    fn splat(x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn zip(self, o: f64, f: impl Fn(f64, f64) -> f64) -> f64 {
        f(self, o)
    }
    #[inline(always)]
    fn plus_product<const FUSED: bool>(self, a: f64, b: f64) -> f64 {
        fma::<FUSED>(a, b, self)
    }
}

/// One double per lane. Aligned, because split cache lines cost 1.6 times.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C, align(64))]
pub(crate) struct Wide<const W: usize>(pub [f64; W]);

/// Eight doubles: one AVX-512 register, or two AVX registers.
pub(crate) type Octet = Wide<8>;

impl<const W: usize> Wide<W> {
    pub(crate) const ZERO: Wide<W> = Wide([0.0; W]);

    #[inline(always)]
    pub(crate) fn map(self, f: impl Fn(f64) -> f64) -> Self {
        // Not `array::map`, which does not become vector code.
        let mut r = self;
        for i in 0..W {
            r.0[i] = f(self.0[i]);
        }
        r
    }
}

impl<const W: usize> Element for Wide<W> {
    #[inline(always)]
    fn splat(x: f64) -> Self {
        Wide([x; W])
    }
    #[inline(always)]
    fn zip(self, o: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let mut r = self;
        for i in 0..W {
            r.0[i] = f(self.0[i], o.0[i]);
        }
        r
    }
    #[inline(always)]
    fn plus_product<const FUSED: bool>(self, a: Self, b: Self) -> Self {
        let mut r = self;
        for i in 0..W {
            r.0[i] = fma::<FUSED>(a.0[i], b.0[i], self.0[i]);
        }
        r
    }
}
