//! The roots of a step's polynomial  p(s) = Σ c_k s^k  on (0, h], in ascending order, none missed.
//!
//! Bernstein coefficients on an interval bound the number of roots in it by their sign changes (Descartes); none: no
//! root, one: exactly one, more: halve, left half first. A sign change is refined by Newton inside its bracket to the
//! last bit. What the function is known to do at s = 0 is *given*: on which side it starts, and how many leading
//! coefficients are zero there (after an impact, a release, a reset). Those are divided out; no time window is ignored.
//!
//! Promise: two crossings in one step, thin dips and near-grazes are told apart as long as the dip is deeper than the
//! noise of the polynomial itself (rounding of its terms, and the truncation bound given). A dip below the noise is a
//! touch: the function meets zero and comes back.

mod bernstein;
mod horner;

pub use horner::horner;

use bernstein::{halve, sign_changes, to_bernstein};
use horner::{horner_with_derivative, horner_with_two_derivatives};

/// A root.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Root {
    /// Where, in (0, h].
    pub at: f64,
    /// Does the sign change here? If not, the function only touches zero.
    pub crossing: bool,
    /// The sign just before, ±1.
    pub before: f64,
}

/// Rounding of a polynomial's value: this many units of its summands' absolute sum.
const ROUNDING: f64 = 4.0 * f64::EPSILON;
/// Intervals are halved at most this often; far below the spacing of doubles near 1.
const DEEPEST: u32 = 60;

/// So many terms say roughly where a root is: those of a step fall by 5 and more from one to the next.
const GUESSED: usize = 7;

/// What a function is known to do at the start of a step, and how well its polynomial is known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Beginning {
    /// +1 or −1: the side it is on just after s = 0.
    pub sign: f64,
    /// How many leading coefficients are known to be zero.
    pub zeros: usize,
    /// Rounding of c₀ (a gap's largest term times a few units).
    pub noise: f64,
    /// Truncation bound at s = h.
    pub truncation: f64,
}

/// The quick test, p₀ + Σ min(0, p_k h^k) > 0: true means there is certainly no root.
///
/// ```
/// use carom_jet::roots::{Beginning, certainly_none};
/// let above = Beginning { sign: 1.0, zeros: 0, noise: 0.0, truncation: 0.0 };
/// assert!(certainly_none(&[1.0, -0.5], 1.0, &above));
/// assert!(!certainly_none(&[1.0, -2.0], 1.0, &above));
/// ```
pub fn certainly_none(c: &[f64], h: f64, beginning: &Beginning) -> bool {
    let mut power = h;
    let Some(&first) = c.get(beginning.zeros) else { return true };
    let mut bound = beginning.sign * first;
    for &ck in &c[beginning.zeros + 1..] {
        bound += (beginning.sign * ck * power).min(0.0);
        power *= h;
    }
    match beginning.zeros {
        0 => bound > beginning.noise + beginning.truncation,
        k => bound > beginning.truncation / h.powi(k as i32),
    }
}

/// An iterator over the roots.
///
/// ```
/// use carom_jet::roots::{Beginning, Roots};
/// // (s − 1/4)(s − 3/4): falls at 1/4, rises at 3/4.
/// let beginning = Beginning { sign: 1.0, zeros: 0, noise: 0.0, truncation: 0.0 };
/// let found: Vec<f64> = Roots::new(&[0.1875, -1.0, 1.0], 1.0, &beginning).map(|r| r.at).collect();
/// assert_eq!(found, vec![0.25, 0.75]);
/// ```
pub struct Roots<'a> {
    c: &'a [f64],
    h: f64,
    zeros: usize,
    /// a_k = c_{zeros+k} h^k: the polynomial on [0, 1].
    a: Vec<f64>,
    noise: f64,
    truncation: f64,
    sign: f64,
    /// p falls once, from its start to this value at its end, and nothing has been told of it yet.
    falls_to: Option<f64>,
    /// Intervals still to look at, leftmost last.
    pending: Vec<Bracket>,
    /// Roots before this belong to a touch already reported.
    skip_until: f64,
}

struct Bracket {
    left: f64,
    right: f64,
    depth: u32,
    bernstein: Vec<f64>,
}

impl<'a> Roots<'a> {
    /// The roots of p on (0, h].
    pub fn new(c: &'a [f64], h: f64, beginning: &Beginning) -> Roots<'a> {
        let zeros = beginning.zeros.min(c.len());
        let mut a = Vec::with_capacity(c.len() - zeros);
        let mut power = 1.0;
        for &ck in &c[zeros..] {
            a.push(ck * power);
            power *= h;
        }
        while a.last() == Some(&0.0) {
            a.pop();
        }
        let divided = h.powi(zeros as i32);
        let mut roots = Roots {
            c,
            h,
            zeros,
            noise: if zeros == 0 { beginning.noise } else { 0.0 },
            truncation: beginning.truncation / divided,
            sign: beginning.sign,
            falls_to: None,
            pending: Vec::new(),
            skip_until: 0.0,
            a,
        };
        roots.falls_to = roots.falls_once();
        if roots.falls_to.is_some() {
            // One sign change says as much as all Bernstein coefficients would.
        } else if roots.a.iter().all(|x| x.is_finite()) && roots.a.len() > 1 {
            let mut bernstein = to_bernstein(&roots.a);
            // The same rounding as everywhere else at the end of the step.
            bernstein[roots.a.len() - 1] = roots.value(1.0);
            // Zero within its own noise all along: identically zero is not a root.
            let noise = roots.noise_at(1.0);
            if bernstein.iter().any(|b| b.abs() > noise) {
                roots.pending.push(Bracket { left: 0.0, right: 1.0, depth: 0, bernstein });
            }
        }
        roots
    }

    /// p(1), if p certainly falls (towards the other side) all along, and beyond zero by more than it is uncertain.
    fn falls_once(&self) -> Option<f64> {
        let slope = self.a.get(1)?;
        let mut steepest = self.sign * slope;
        for (k, ak) in self.a.iter().enumerate().skip(2) {
            steepest += (self.sign * k as f64 * ak).max(0.0);
        }
        if !(steepest < 0.0 && self.sign * self.a[0] > 0.0) {
            return None;
        }
        let end = self.value(1.0);
        (self.sign * end < -self.noise_at(1.0)).then_some(end)
    }

    /// How well p(x) is known.
    fn noise_at(&self, x: f64) -> f64 {
        let size = self.a.iter().rev().fold(0.0, |sum, ak| sum * x + ak.abs());
        ROUNDING * size + self.noise + self.truncation * x.powi(self.a.len() as i32)
    }

    fn value(&self, x: f64) -> f64 {
        horner(&self.a, x)
    }

    /// Where the first terms of p have their root, by a few steps from x; x itself if those leave (lo, hi).
    fn guess(&self, x: f64, lo: f64, hi: f64) -> f64 {
        let first = &self.a[..self.a.len().min(GUESSED)];
        let mut guess = x;
        for _ in 0..3 {
            let (f, d) = horner_with_derivative(first, guess);
            guess -= f / d;
        }
        if guess > lo && guess < hi { guess } else { x }
    }

    /// Refines the one sign change in [lo, hi], given p there.
    fn refine(&self, [lo, hi]: [f64; 2], ends: [f64; 2]) -> f64 {
        let (mut lo, mut hi) = (lo, hi);
        let [flo, mut fhi] = ends.map(|f| f * self.sign);
        if flo <= 0.0 && lo > 0.0 {
            return lo;
        }
        if fhi >= 0.0 {
            // The next root is at hi itself (or within rounding of it): the far side is in between.
            let inner = |k: i32| hi - (hi - lo) * 0.5f64.powi(k);
            match (1..50).map(inner).find(|&x| self.value(x) * self.sign < 0.0) {
                Some(x) => (hi, fhi) = (x, self.value(x) * self.sign),
                None => return hi,
            }
        }
        let x = if lo == 0.0 { hi * 0.5 } else { lo + (hi - lo) * (flo / (flo - fhi)) };
        let mut x = self.guess(x, lo, hi);
        for _ in 0..200 {
            if !(x > lo && x < hi) {
                x = lo + 0.5 * (hi - lo);
                if x <= lo || x >= hi {
                    break;
                }
            }
            let (f, d) = horner_with_derivative(&self.a, x);
            let f = f * self.sign;
            if f == 0.0 {
                return x;
            }
            if f > 0.0 {
                lo = x
            } else {
                hi = x
            }
            let next = x - f / (d * self.sign);
            if (next - x).abs() <= 0.25 * f64::EPSILON * x {
                return x;
            }
            x = next;
        }
        if self.value(lo).abs() <= self.value(hi).abs() && lo > 0.0 { lo } else { hi }
    }

    /// From x in [0, 1] to s in (0, h]; when leading coefficients were taken as zero, one Newton step on the full
    /// polynomial lets the root feel their true (rounding-sized) values, so that errors do not pile up.
    fn place(&self, x: f64) -> f64 {
        let s = (x * self.h).min(self.h);
        if self.zeros == 0 {
            return s;
        }
        let (f, d, dd) = horner_with_two_derivatives(self.c, s);
        let shift = -f / d;
        // Where the slope is no more constant over the shift than this, as in a flat crossing, it says nothing.
        let straight = (dd * shift).abs() <= d.abs();
        if straight && shift.abs() <= 1e-3 * s && s + shift <= self.h { s + shift } else { s }
    }

    /// A sign change at x: is the dip behind it deeper than the noise? If not it is a touch; returns its bottom.
    fn shallow_bottom(&self, x: f64) -> Option<f64> {
        let (_, d, dd) = horner_with_two_derivatives(&self.a, x);
        let (d, dd) = (d * self.sign, dd * self.sign);
        if d >= 0.0 || dd <= 0.0 {
            return None;
        }
        let depth = d * d / (2.0 * dd);
        let bottom = x - d / dd;
        (depth <= self.noise_at(x) && bottom <= 1.0).then_some(bottom)
    }

    /// The one sign change in [left, right], given p there.
    fn crossing(&mut self, between: [f64; 2], ends: [f64; 2]) -> Root {
        let x = self.refine(between, ends);
        let before = self.sign;
        if let Some(bottom) = self.shallow_bottom(x) {
            let far = bottom + 2.0 * (bottom - x);
            if far >= 1.0 || self.value(far) * self.sign > 0.0 {
                self.skip_until = far;
                return Root { at: self.place(bottom.max(x)), crossing: false, before };
            }
        }
        self.leave_side(x)
    }

    /// The crossing at x.
    fn leave_side(&mut self, x: f64) -> Root {
        let before = self.sign;
        self.sign = -before;
        self.skip_until = x;
        Root { at: self.place(x), crossing: true, before }
    }

    /// The lowest point in [left, right] if it is zero within the noise.
    fn bottom_within_noise(&self, left: f64, right: f64) -> Option<f64> {
        let mut x = 0.5 * (left + right);
        for _ in 0..8 {
            let (_, d, dd) = horner_with_two_derivatives(&self.a, x);
            if d == 0.0 || dd * self.sign <= 0.0 {
                break;
            }
            x = (x - d / dd).clamp(left, right);
        }
        (self.value(x).abs() <= self.noise_at(x)).then_some(x)
    }

    /// A cluster the polynomial cannot resolve, between `left` and `right`: where does it go from there?
    fn leave_cluster(&mut self, left: f64, right: f64) -> Root {
        let before = self.sign;
        let middle = 0.5 * (left + right);
        let mut reach = right;
        let mut width = right - left;
        while reach < 1.0 && self.value(reach).abs() <= 2.0 * self.noise_at(reach) {
            reach = (reach + width).min(1.0);
            width *= 2.0;
        }
        let crossing = self.value(reach) * self.sign < 0.0;
        self.skip_until = reach;
        if crossing {
            self.sign = -self.sign;
        }
        Root { at: self.place(middle), crossing, before }
    }
}

impl Iterator for Roots<'_> {
    type Item = Root;

    fn next(&mut self) -> Option<Root> {
        if let Some(end) = self.falls_to.take() {
            // It falls all along, and beyond what could be a touch.
            let x = self.refine([0.0, 1.0], [self.a[0], end]);
            return Some(self.leave_side(x));
        }
        while let Some(piece) = self.pending.pop() {
            let Bracket { left, right, depth, bernstein } = piece;
            if right <= self.skip_until {
                continue;
            }
            let n = bernstein.len() - 1;
            // A root exactly at the left end of a piece (not at s = 0, which is known).
            if bernstein[0] == 0.0 && left > 0.0 && left > self.skip_until {
                let after = bernstein.iter().find(|b| **b != 0.0).map_or(0.0, |b| b.signum());
                let before = self.sign;
                let crossing = after * self.sign < 0.0;
                if crossing {
                    self.sign = -self.sign;
                }
                self.skip_until = left;
                self.pending.push(Bracket { left, right, depth, bernstein });
                return Some(Root { at: self.place(left), crossing, before });
            }
            let changes = sign_changes(self.sign, &bernstein);
            if changes == 0 {
                if right == 1.0 && bernstein[n] == 0.0 && left < 1.0 {
                    let crossing = self.derivative_at_end() * self.sign < 0.0;
                    return Some(Root { at: self.h, crossing, before: self.sign });
                }
                continue;
            }
            // A zero at an end of the piece would hide the sign there: halve instead.
            let open_ends = (bernstein[0] != 0.0 || left == 0.0) && bernstein[n] != 0.0;
            if changes == 1 && open_ends && left >= self.skip_until {
                return Some(self.crossing([left, right], [left, right].map(|x| self.value(x))));
            }
            let noise = self.noise_at(right);
            let resolved = bernstein.iter().any(|b| b.abs() > noise);
            if !resolved || depth >= DEEPEST {
                if left < self.skip_until {
                    continue;
                }
                return Some(self.leave_cluster(left, right));
            }
            let middle = 0.5 * (left + right);
            let (first, second) = halve(&bernstein);
            if changes >= 2 && sign_changes(self.sign, &first) + sign_changes(self.sign, &second) == 0 {
                // It stays on its side; does it come closer to zero than it is known?
                if let Some(bottom) = self.bottom_within_noise(left, right) {
                    let before = self.sign;
                    self.skip_until = right;
                    return Some(Root { at: self.place(bottom), crossing: false, before });
                }
                continue;
            }
            self.pending.push(Bracket { left: middle, right, depth: depth + 1, bernstein: second });
            self.pending.push(Bracket { left, right: middle, depth: depth + 1, bernstein: first });
        }
        None
    }
}

impl Roots<'_> {
    fn derivative_at_end(&self) -> f64 {
        self.a.iter().enumerate().map(|(k, ak)| k as f64 * ak).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLAIN: Beginning = Beginning { sign: 1.0, zeros: 0, noise: 0.0, truncation: 0.0 };

    fn from_roots(roots: &[f64]) -> Vec<f64> {
        let mut c = vec![1.0];
        for &r in roots {
            let mut next = vec![0.0; c.len() + 1];
            for (k, &ck) in c.iter().enumerate() {
                next[k + 1] += ck;
                next[k] -= r * ck;
            }
            c = next;
        }
        c
    }

    /// The slow clear version: Sturm's theorem counts, bisection locates the first root of an odd crossing.
    fn sturm_first_root(c: &[f64], h: f64) -> Option<f64> {
        fn remainder(a: &[f64], b: &[f64]) -> Vec<f64> {
            let mut r = a.to_vec();
            while r.len() >= b.len() {
                let f = r[r.len() - 1] / b[b.len() - 1];
                let shift = r.len() - b.len();
                for (k, &bk) in b.iter().enumerate() {
                    r[k + shift] -= f * bk;
                }
                r.pop();
            }
            let size = r.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            while r.last().is_some_and(|x| x.abs() <= 1e-13 * size.max(1e-300)) {
                r.pop();
            }
            r
        }
        let derivative: Vec<f64> = c.iter().enumerate().skip(1).map(|(k, ck)| k as f64 * ck).collect();
        let mut chain = vec![c.to_vec(), derivative];
        while chain[chain.len() - 1].len() > 1 {
            let r = remainder(&chain[chain.len() - 2], &chain[chain.len() - 1]);
            if r.is_empty() {
                break;
            }
            chain.push(r.iter().map(|x| -x).collect());
        }
        let count = |s: f64| {
            let values: Vec<f64> = chain.iter().map(|p| horner(p, s)).filter(|v| *v != 0.0).collect();
            values.windows(2).filter(|w| w[0] * w[1] < 0.0).count() as i64
        };
        let at_zero = count(0.0);
        if at_zero - count(h) <= 0 {
            return None;
        }
        let (mut lo, mut hi) = (0.0, h);
        for _ in 0..200 {
            let middle = 0.5 * (lo + hi);
            if at_zero - count(middle) > 0 { hi = middle } else { lo = middle }
        }
        Some(hi)
    }

    fn sign_of(c: &[f64]) -> f64 {
        c[0].signum()
    }

    #[test]
    fn a_dip_of_1e_minus_10_is_found_however_large_the_step() {
        for h in [1.0, 10.0, 1000.0] {
            // (s − 1/3)² − 1e-10
            let c = [1.0 / 9.0 - 1e-10, -2.0 / 3.0, 1.0];
            let roots: Vec<Root> = Roots::new(&c, h, &PLAIN).collect();
            assert_eq!(roots.len(), 2, "{roots:?}");
            assert!(roots.iter().all(|r| r.crossing));
            assert!((roots[0].at - (1.0 / 3.0 - 1e-5)).abs() < 1e-10);
            let c = [1.0 / 9.0 + 1e-10, -2.0 / 3.0, 1.0];
            assert_eq!(Roots::new(&c, h, &PLAIN).count(), 0);
        }
    }

    #[test]
    fn exact_tangency_is_a_touch() {
        for (c, at) in
            [([0.25, -1.0, 1.0], 0.5), ([0.09, -0.6, 1.0], 0.3), ([1.0 / 49.0, -2.0 / 7.0, 1.0], 1.0 / 7.0)]
        {
            let roots: Vec<Root> = Roots::new(&c, 2.0, &Beginning { noise: 1e-16, ..PLAIN }).collect();
            assert_eq!(roots.len(), 1, "{roots:?}");
            assert!(!roots[0].crossing);
            assert!((roots[0].at - at).abs() < 1e-7);
        }
    }

    #[test]
    fn a_flat_crossing_is_a_crossing() {
        // −(s − 1/3)³
        let c = [1.0 / 27.0, -1.0 / 3.0, 1.0, -1.0];
        let roots: Vec<Root> = Roots::new(&c, 1.0, &PLAIN).collect();
        assert_eq!(roots.len(), 1, "{roots:?}");
        assert!(roots[0].crossing && (roots[0].at - 1.0 / 3.0).abs() < 1e-4);
    }

    #[test]
    fn a_bounce_in_progress_finds_its_end_and_not_its_beginning() {
        // After an impact: gap = v s − g s²/2, c₀ is rounding.
        for v in [1.0, 1e-3, 1e-6, 1e-9] {
            let c = [-1e-17, v, -0.5 * 9.81];
            let b = Beginning { zeros: 1, ..PLAIN };
            let root = Roots::new(&c, 1.0, &b).next().unwrap();
            assert!((root.at - 2.0 * v / 9.81).abs() < 2e-16 * (1.0 + 1e-1 / v), "{v} {root:?}");
            assert!(root.crossing);
        }
    }

    #[test]
    fn roots_at_subdivision_points_and_at_the_end_are_found() {
        let c = from_roots(&[0.25, 0.5, 1.0]);
        let roots: Vec<Root> = Roots::new(&c, 1.0, &Beginning { sign: -1.0, ..PLAIN }).collect();
        assert_eq!(roots.iter().map(|r| r.at).collect::<Vec<_>>(), vec![0.25, 0.5, 1.0]);
        assert_eq!(roots.iter().map(|r| r.before).collect::<Vec<_>>(), vec![-1.0, 1.0, -1.0]);
        assert!(roots.iter().all(|r| r.crossing));
    }

    #[test]
    fn a_function_that_is_zero_within_rounding_has_no_root() {
        let c = [1e-17, -1e-17, 2e-17];
        assert_eq!(Roots::new(&c, 1.0, &Beginning { noise: 1e-16, ..PLAIN }).count(), 0);
        assert_eq!(Roots::new(&[0.0; 5], 1.0, &PLAIN).count(), 0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn the_first_planted_root_is_found(
            roots in prop::collection::vec(-2.0f64..2.0, 1..8), extra in prop::collection::vec(-1.0f64..1.0, 4)
        ) {
            // Plant roots, multiply by a positive factor so the degree is higher than the number of roots.
            let mut c = from_roots(&roots);
            let positive = [1.0 + extra[0].abs(), 0.3 * extra[1], 0.5 + extra[2].abs(), 0.1 * extra[3]];
            let mut product = vec![0.0; c.len() + 3];
            for (i, &x) in c.iter().enumerate() {
                for (j, &y) in positive.iter().enumerate() {
                    product[i + j] += x * y;
                }
            }
            if positive[3] != 0.0 { c = product; }
            prop_assume!(c[0].abs() > 1e-6);
            let b = Beginning { sign: sign_of(&c), ..PLAIN };
            let found = Roots::new(&c, 1.0, &b).next();
            let mut inside: Vec<f64> = roots.iter().copied().filter(|r| *r > 0.0 && *r <= 1.0).collect();
            inside.sort_by(f64::total_cmp);
            if let Some(&first) = inside.first() {
                let found = found.unwrap();
                // Conditioning: |p noise / p′|, or a root of the positive factor's cubic part far away.
                let (_, d) = horner_with_derivative(&c, first);
                let size: f64 = c.iter().map(|x| x.abs()).sum();
                let close = (found.at - first).abs() <= 64.0 * f64::EPSILON * size / d.abs() + 1e-14;
                let cluster = inside.get(1).is_some_and(|second| second - first < 1e-5);
                prop_assert!(close || cluster, "{found:?} {inside:?}");
                if cluster {
                    prop_assert!((found.at - first).abs() < 1e-3);
                }
            }
            prop_assert_eq!(certainly_none(&c, 1.0, &b) && found.is_some(), false);
        }

        #[test]
        fn the_oracle_agrees(c in prop::collection::vec(-1.0f64..1.0, 3..9)) {
            prop_assume!(c[0].abs() > 1e-3 && c[c.len() - 1].abs() > 1e-3);
            let b = Beginning { sign: sign_of(&c), ..PLAIN };
            let fast = Roots::new(&c, 1.0, &b).next().map(|r| r.at);
            let slow = sturm_first_root(&c, 1.0);
            match (fast, slow) {
                (Some(x), Some(y)) => prop_assert!((x - y).abs() < 1e-6, "{x} {y}"),
                (None, None) => {}
                // Sturm chains in floating point may disagree only about a root at the very end or a near-touch.
                (x, y) => {
                    let s = x.or(y).unwrap();
                    let (p, d) = horner_with_derivative(&c, s);
                    prop_assert!((s - 1.0).abs() < 1e-9 || (p.abs() < 1e-6 && d.abs() < 1e-3), "{x:?} {y:?}");
                }
            }
        }

        #[test]
        fn nearly_double_roots_are_separated_or_touch(
            r in 0.05f64..0.95, gap in -12.0f64..-2.0, third in 1.5f64..3.0
        ) {
            let width = 10f64.powf(gap);
            let c: Vec<f64> = from_roots(&[r, r + width, third]).iter().map(|x| -x).collect();
            let b = Beginning { sign: sign_of(&c), ..PLAIN };
            let found: Vec<Root> = Roots::new(&c, 1.0, &b).collect();
            prop_assert!(!found.is_empty());
            if r + width < 1.0 {
                let dip = width * width / 4.0 * (third - r);
                if dip > 1e-13 {
                    prop_assert!(found.len() == 2 && found.iter().all(|x| x.crossing), "{found:?} {dip}");
                    prop_assert!((found[0].at - r).abs() < 1e-15 / width.min(1.0) * 20.0);
                } else if dip < 1e-17 {
                    prop_assert!(found.iter().all(|x| (x.at - r).abs() < 1e-6));
                    let flips = found.iter().filter(|x| x.crossing).count();
                    prop_assert!(flips % 2 == 0);
                }
            }
        }
    }
}
