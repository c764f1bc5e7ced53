//! What evaluators compute with: one double, or one double per lane.

// Loops over lanes are indexed: several arrays advance together, and that form becomes vector code.
#![allow(clippy::needless_range_loop)]

/// A double, or several side by side that never mix.
pub(crate) trait Element: Copy {
    fn splat(x: f64) -> Self;
    fn zip(self, o: Self, f: impl Fn(f64, f64) -> f64) -> Self;

    /// f of each.
    #[inline(always)]
    fn each(self, f: impl Fn(f64) -> f64) -> Self {
        self.zip(self, |x, _| f(x))
    }
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

/// So many doubles side by side.
pub(crate) struct Count<const W: usize>;

/// Numbers of doubles that are a vector: they are aligned to their size, because split cache lines cost 1.6 times and code
/// loads whole vectors.
pub(crate) trait Vector {
    /// Something without size, aligned as the vector is.
    type Alignment: Copy + PartialEq + std::fmt::Debug + Send + Sync;
}

#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(align(32))]
pub(crate) struct To32;
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(align(64))]
pub(crate) struct To64;

impl Vector for Count<4> {
    type Alignment = To32;
}
impl Vector for Count<8> {
    type Alignment = To64;
}

/// One double per lane.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub(crate) struct Wide<const W: usize>(pub [f64; W], [<Count<W> as Vector>::Alignment; 0])
where
    Count<W>: Vector;

/// Eight doubles: one AVX-512 register, or two AVX registers.
pub(crate) type Octet = Wide<8>;

impl<const W: usize> Wide<W>
where
    Count<W>: Vector,
{
    pub(crate) const ZERO: Wide<W> = Wide::new([0.0; W]);

    pub(crate) const fn new(lanes: [f64; W]) -> Wide<W> {
        Wide(lanes, [])
    }

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

impl<const W: usize> Element for Wide<W>
where
    Count<W>: Vector,
{
    #[inline(always)]
    fn splat(x: f64) -> Self {
        Wide::new([x; W])
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
