//! What evaluators compute with: one double, or one double per lane.
//!
//! [`Element`] is all that values and series of a tape need: arithmetic and functions of whole elements, nothing of what an element
//! consists of. A number of more digits is one, too (a test computes with pairs of doubles). [`Doubles`] are elements that consist of
//! doubles: the rules of step sizes and of the audit look at each of them.

// Loops over lanes are indexed: several arrays advance together, and that form becomes vector code.
#![allow(clippy::needless_range_loop)]

use crate::eval::sincos::{sin_cos, sin_cos_wide};
use carom_expr::{Function, evaluate_function};

/// A number, or several side by side that never mix.
pub(crate) trait Element: Copy {
    /// The same number everywhere.
    fn splat(x: f64) -> Self;
    fn plus(self, o: Self) -> Self;
    fn minus(self, o: Self) -> Self;
    fn times(self, o: Self) -> Self;
    fn over(self, o: Self) -> Self;
    /// self + a·b, rounded once where the processor can.
    fn plus_product<const FUSED: bool>(self, a: Self, b: Self) -> Self;
    /// self − a·b, likewise.
    fn minus_product<const FUSED: bool>(self, a: Self, b: Self) -> Self;
    /// |x|
    fn abs(self) -> Self;
    /// √x
    fn sqrt(self) -> Self;
    /// sin x and cos x.
    fn sin_cos(self) -> (Self, Self);
    /// x^y; the frequent exponents through correctly rounded operations.
    fn power(self, exponent: Self) -> Self;
    /// x^y of two that move.
    fn general_power(self, exponent: Self) -> Self;
    /// f(x, y), or f(x).
    fn function(f: Function, x: Self, y: Self) -> Self;
}

/// An element that consists of doubles.
pub(crate) trait Doubles: Element {
    /// f of each.
    fn zip(self, o: Self, f: impl Fn(f64, f64) -> f64) -> Self;
    /// f of each one. Rules are made of several small f: the loop of a long one does not become vector code, and its closure is not
    /// always compiled into the kernel around it.
    #[inline(always)]
    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        self.zip(self, |x, _| f(x))
    }
    /// Are all of them zero?
    fn is_zero(self) -> bool;
}

/// a·b + c, fused where that is one instruction.
#[inline(always)]
fn fma<const FUSED: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// x^y; the frequent exponents through correctly rounded operations.
fn power(x: f64, y: f64) -> f64 {
    if y == 0.5 {
        x.sqrt()
    } else if y == -0.5 {
        1.0 / x.sqrt()
    } else if y == -2.0 {
        1.0 / (x * x)
    } else {
        x.powf(y)
    }
}

impl Element for f64 {
    #[inline(always)]
    fn splat(x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn plus(self, o: f64) -> f64 {
        self + o
    }
    #[inline(always)]
    fn minus(self, o: f64) -> f64 {
        self - o
    }
    #[inline(always)]
    fn times(self, o: f64) -> f64 {
        self * o
    }
    #[inline(always)]
    fn over(self, o: f64) -> f64 {
        self / o
    }
    #[inline(always)]
    fn plus_product<const FUSED: bool>(self, a: f64, b: f64) -> f64 {
        fma::<FUSED>(a, b, self)
    }
    #[inline(always)]
    fn minus_product<const FUSED: bool>(self, a: f64, b: f64) -> f64 {
        fma::<FUSED>(-a, b, self)
    }
    #[inline(always)]
    fn abs(self) -> f64 {
        f64::abs(self)
    }
    #[inline(always)]
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn sin_cos(self) -> (f64, f64) {
        sin_cos(self)
    }
    fn power(self, exponent: f64) -> f64 {
        power(self, exponent)
    }
    fn general_power(self, exponent: f64) -> f64 {
        self.powf(exponent)
    }
    fn function(f: Function, x: f64, y: f64) -> f64 {
        evaluate_function(f, x, y)
    }
}

impl Doubles for f64 {
    #[inline(always)]
    fn zip(self, o: f64, f: impl Fn(f64, f64) -> f64) -> f64 {
        f(self, o)
    }
    #[inline(always)]
    fn is_zero(self) -> bool {
        self == 0.0
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
#[repr(align(16))]
pub(crate) struct To16;
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(align(32))]
pub(crate) struct To32;
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(align(64))]
pub(crate) struct To64;

impl Vector for Count<2> {
    type Alignment = To16;
}
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
    #[inline(always)]
    fn plus_product<const FUSED: bool>(self, a: Self, b: Self) -> Self {
        let mut r = self;
        for i in 0..W {
            r.0[i] = fma::<FUSED>(a.0[i], b.0[i], self.0[i]);
        }
        r
    }
    #[inline(always)]
    fn minus_product<const FUSED: bool>(self, a: Self, b: Self) -> Self {
        self.plus_product::<FUSED>(a.map(|a| -a), b)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        self.map(f64::abs)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        self.map(f64::sqrt)
    }
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        let (mut sin, mut cos) = (Wide::ZERO, Wide::ZERO);
        sin_cos_wide(&self, &mut sin, &mut cos);
        (sin, cos)
    }
    #[inline(always)]
    fn power(self, exponent: Self) -> Self {
        self.zip(exponent, power)
    }
    #[inline(always)]
    fn general_power(self, exponent: Self) -> Self {
        self.zip(exponent, f64::powf)
    }
    #[inline(always)]
    fn function(f: Function, x: Self, y: Self) -> Self {
        x.zip(y, |x, y| evaluate_function(f, x, y))
    }
}

impl<const W: usize> Doubles for Wide<W>
where
    Count<W>: Vector,
{
    #[inline(always)]
    fn zip(self, o: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let mut r = self;
        for i in 0..W {
            r.0[i] = f(self.0[i], o.0[i]);
        }
        r
    }
    #[inline(always)]
    fn is_zero(self) -> bool {
        // All bits but the signs, together: one comparison, not one for each.
        self.0.iter().fold(0, |bits, x| bits | (x.to_bits() << 1)) == 0
    }
}
