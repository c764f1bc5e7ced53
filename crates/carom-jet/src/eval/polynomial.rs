//! Values of polynomials that are kept as rows of coefficients: the end of a step, for one trajectory and for lanes.
//!
//! ```text
//! x(h) = x₀ + (low + ((Σ₀ + Σ₁) + (Σ₂ + Σ₃)) + Σ_rest)        Σ_i = Σ x_k h^k over k ≡ i + 1 mod 4, as far as there are whole fours
//! ```

use crate::eval::element::{Element, Wide};
use crate::eval::time::two_sum;
use crate::ir::layout::WIDTH;
use std::hint::black_box;
use std::ops::Range;

/// The coefficients of the state.
#[derive(Clone, Copy)]
pub enum Coefficients<'a> {
    /// All of one variable, then all of the next: so many each.
    ByRow(&'a [f64], usize),
    /// Those of order 0, then those of order 1, …: so many places each, of which the first so many are variables.
    ByOrder(&'a [f64], usize, usize),
}

impl Coefficients<'_> {
    /// The coefficients of these orders, of each variable.
    #[inline(always)]
    pub fn each<const K: usize>(self, orders: [usize; K], visit: impl FnMut([f64; K])) {
        let count = match self {
            Coefficients::ByRow(rows, stride) => rows.len() / stride,
            Coefficients::ByOrder(_, _, count) => count,
        };
        self.each_of(0..count, orders, visit);
    }

    /// The same, of these variables.
    #[inline(always)]
    pub fn each_of<const K: usize>(
        self,
        variables: Range<usize>,
        orders: [usize; K],
        mut visit: impl FnMut([f64; K]),
    ) {
        match self {
            Coefficients::ByRow(rows, stride) => {
                for row in rows[variables.start * stride..variables.end * stride].chunks_exact(stride) {
                    visit(orders.map(|k| row[k]));
                }
            }
            Coefficients::ByOrder(all, pitch, _) => {
                let orders = orders.map(|k| &all[k * pitch..][variables.clone()]);
                for i in 0..variables.len() {
                    visit(orders.map(|order| order[i]));
                }
            }
        }
    }

    /// The state at t₀ + h, given h, h², …, and `low`: what the doubles of the state at t₀ leave out, then what those of the end do.
    #[inline(always)]
    pub fn end(self, powers: &[f64], into: &mut [f64], low: &mut [f64]) {
        match self {
            Coefficients::ByRow(rows, stride) => {
                for ((x, low), row) in into.iter_mut().zip(low).zip(rows.chunks_exact(stride)) {
                    (*x, *low) = end_of_row(row, powers, *low);
                }
            }
            Coefficients::ByOrder(orders, pitch, _) => ends_of(orders, pitch, powers, into, low),
        }
    }
}

/// [`end_of`] for many rows, kept order by order: by vectors, which places between two orders make room for.
#[inline(always)]
fn ends_of(orders: &[f64], pitch: usize, powers: &[f64], into: &mut [f64], low: &mut [f64]) {
    let (quads, rest) = powers.as_chunks::<4>();
    let zero = Wide::<WIDTH>::ZERO;
    for ((start, into), low) in (0..).step_by(WIDTH).zip(into.chunks_mut(WIDTH)).zip(low.chunks_mut(WIDTH)) {
        let (mut s, mut t, mut u, mut v, mut last) = (zero, zero, zero, zero, zero);
        let mut at = start + pitch;
        for p in quads {
            s = s.plus(rows_at(orders, at).times(Wide::splat(p[0])));
            t = t.plus(rows_at(orders, at + pitch).times(Wide::splat(p[1])));
            u = u.plus(rows_at(orders, at + 2 * pitch).times(Wide::splat(p[2])));
            v = v.plus(rows_at(orders, at + 3 * pitch).times(Wide::splat(p[3])));
            at += 4 * pitch;
        }
        for p in rest {
            last = last.plus(rows_at(orders, at).times(Wide::splat(*p)));
            at += pitch;
        }
        let mut kept = zero;
        kept.0[..low.len()].copy_from_slice(low);
        let change = s.plus(t).plus(u.plus(v)).plus(last);
        let (x, left) = two_sum(rows_at(orders, start), change.plus(kept));
        into.copy_from_slice(&x.0[..into.len()]);
        low.copy_from_slice(&left.0[..low.len()]);
    }
}

/// The coefficients of so many rows from here on.
#[inline(always)]
fn rows_at(orders: &[f64], at: usize) -> Wide<WIDTH> {
    let rows = orders[at..].first_chunk().expect("orders are padded to whole vectors");
    Wide::new(*rows)
}

/// h, h², … h^n into `into`: blocks of 1, 2, 4 … are the ones before times h^1, h^2, h^4 …: few roundings, little waiting. By
/// fours, which becomes vector code; as many as usual steps need are worked out in registers.
#[inline(always)]
pub fn powers(h: f64, into: &mut [f64]) {
    const QUADS: usize = 8;
    let square = h * h;
    let mut quads = [[h, square, h * square, square * square]; QUADS];
    for known in [1, 2, 4] {
        let step = quads[known - 1][3];
        for i in known..2 * known {
            quads[i] = quads[i - known].map(|x| x * step);
        }
    }
    for (x, p) in into.iter_mut().zip(quads.as_flattened()) {
        *x = *p;
    }
    let mut known = 4 * QUADS;
    while known < into.len() {
        let (below, above) = into.split_at_mut(known);
        let step = below[known - 1];
        above.iter_mut().zip(&*below).for_each(|(x, p)| *x = p * step);
        known *= 2;
    }
}

/// [`powers`] of one trajectory or of lanes: the first eight, and h^8, h^16 …, in registers, so that no power waits for more than one
/// that was stored.
#[inline(always)]
pub(crate) fn powers_of<T: Element>(h: T, into: &mut [T]) {
    let h2 = h.times(h);
    let (h3, h4) = (h.times(h2), h2.times(h2));
    let (h5, h6, h7, h8) = (h.times(h4), h2.times(h4), h3.times(h4), h4.times(h4));
    let Some(first) = into.first_chunk_mut() else {
        let length = into.len();
        return into.copy_from_slice(&[h, h2, h3, h4, h5, h6, h7, h8][..length]);
    };
    *first = [h, h2, h3, h4, h5, h6, h7, h8];
    let (mut known, mut step) = (first.len(), h8);
    while known < into.len() {
        let (below, above) = into.split_at_mut(known);
        for (x, p) in above.iter_mut().zip(&*below) {
            *x = p.times(step);
        }
        step = step.times(step);
        known *= 2;
    }
}

/// x(h) = x₀ + Σ x_k h^k as a pair of doubles, given h, h², … and what x₀ leaves out, in four partial sums and one of what is
/// left; x₀ is added last and the rounding of that kept, so that all that is lost is a part of what the step adds.
#[inline(always)]
pub(crate) fn end_of<T: Element>(row: &[T], powers: &[T], low: T) -> (T, T) {
    two_sum(row[0], four_sums(&row[1..], powers, T::times).plus(low))
}

/// [`end_of`] for one trajectory: its four sums are one vector.
#[inline(always)]
fn end_of_row(row: &[f64], powers: &[f64], low: f64) -> (f64, f64) {
    let (quads, rest) = row[1..].as_chunks::<4>();
    let (powers, rest_powers) = powers[..row.len() - 1].as_chunks::<4>();
    let mut sums = Wide::<4>::ZERO;
    for (c, p) in quads.iter().zip(powers) {
        sums = sums.plus(Wide::new(*c).times(Wide::new(*p)));
    }
    let mut last = 0.0;
    for (c, p) in rest.iter().zip(rest_powers) {
        last += c * p;
    }
    // Hidden from the compiler, which would rather keep them as two vectors of two, and shuffle every coefficient into these.
    let [s, t, u, v] = black_box(sums).0;
    two_sum(row[0], ((s + t) + (u + v) + last) + low)
}

/// Σ term(c_k, p_k), every fourth k in a sum of its own, what is left in another.
#[inline(always)]
pub(crate) fn four_sums<T: Element>(c: &[T], p: &[T], term: impl Fn(T, T) -> T) -> T {
    let zero = T::splat(0.0);
    // Named, not an array: those would live in memory.
    let (mut s, mut t, mut u, mut v, mut last) = (zero, zero, zero, zero, zero);
    let (quads, powers) = (c.chunks_exact(4), p[..c.len()].chunks_exact(4));
    for (c, p) in quads.remainder().iter().zip(powers.remainder()) {
        last = last.plus(term(*c, *p));
    }
    for (c, p) in quads.zip(powers) {
        s = s.plus(term(c[0], p[0]));
        t = t.plus(term(c[1], p[1]));
        u = u.plus(term(c[2], p[2]));
        v = v.plus(term(c[3], p[3]));
    }
    s.plus(t).plus(u.plus(v)).plus(last)
}

/// Σ c_k p_k and Σ |c_k p_k|, each in two sums.
#[inline(always)]
pub(crate) fn sums_with_sizes<T: Element>(c: &[T], p: &[T]) -> (T, T) {
    let zero = T::splat(0.0);
    let (mut s, mut t, mut u, mut v) = (zero, zero, zero, zero);
    let (pairs, powers) = (c.chunks_exact(2), p[..c.len()].chunks_exact(2));
    for (c, p) in pairs.remainder().iter().zip(powers.remainder()) {
        let x = c.times(*p);
        (s, u) = (x, x.abs());
    }
    for (c, p) in pairs.zip(powers) {
        let (x, y) = (c[0].times(p[0]), c[1].times(p[1]));
        (s, t) = (s.plus(x), t.plus(y));
        (u, v) = (u.plus(x.abs()), v.plus(y.abs()));
    }
    (s.plus(t), u.plus(v))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_one_trajectory_are_those_of_lanes() {
        for n in 0..80 {
            let (mut ours, mut lanes) = (vec![0.0; n], vec![0.0; n]);
            powers(0.7, &mut ours);
            powers_of(0.7, &mut lanes);
            assert_eq!(ours, lanes, "{n}");
        }
    }

    #[test]
    fn the_end_of_a_step_is_the_value_of_its_polynomials() {
        for n in [4, 5, 6, 7, 20] {
            let row: Vec<f64> = (0..=n).map(|k| 1.0 / (k + 1) as f64).collect();
            let mut h = vec![0.0; n];
            powers(0.5, &mut h);
            let wanted: f64 = (0..=n).map(|k| row[k] * 0.5f64.powi(k as i32)).sum();
            assert!((end_of(&row, &h, 0.0).0 - wanted).abs() < 4.0 * f64::EPSILON, "{n}");
            let kept = 1e-17;
            assert_eq!(end_of_row(&row, &h, kept), end_of(&row, &h, kept), "the same bits");
            let (pitch, mut ends, mut low) = (8, [0.0; 6], [kept; 6]);
            let orders: Vec<f64> =
                row.iter().flat_map(|c| (0..pitch).map(move |i| c * (1 + i) as f64)).collect();
            ends_of(&orders, pitch, &h, &mut ends, &mut low);
            let each = |i: usize| row.iter().map(|c| c * (1 + i) as f64).collect::<Vec<f64>>();
            let alone: [_; 6] = std::array::from_fn(|i| end_of(&each(i), &h, kept));
            assert_eq!((ends, low), (alone.map(|x| x.0), alone.map(|x| x.1)), "the same bits");
        }
    }
}
