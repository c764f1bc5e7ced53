//! The free double pendulum in double-double arithmetic: the exact end of a trajectory, to some 25 digits after an
//! amplification of 1e6.
//!
//! ```text
//! x = hi + lo, |lo| ≤ ulp(hi)/2;        a, b angles from the downward vertical, u, w their rates, unit masses and rods
//! u' = (f1 − c f2)/(1 + s²),  w' = (2 f2 − c f1)/(1 + s²),   s = sin(a − b), c = cos(a − b)
//! f1 = −s w² − 2 g sin a,     f2 = s u² − g sin b
//! ```
//!
//! Against the wall x₂ ≥ −1/2: v⁺ = v⁻ − 2 u W⁻¹n / (n·W⁻¹n). Written down apart from the engine, with the textbook's
//! accelerations in place of a linear solve.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// hi + lo.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Double2(pub f64, pub f64);

fn two_sum(a: f64, b: f64) -> Double2 {
    let s = a + b;
    let t = s - a;
    Double2(s, (a - (s - t)) + (b - t))
}

fn quick_two_sum(a: f64, b: f64) -> Double2 {
    let s = a + b;
    Double2(s, b - (s - a))
}

impl Double2 {
    /// 0
    pub const ZERO: Double2 = Double2(0.0, 0.0);

    /// The nearest double.
    pub fn value(self) -> f64 {
        self.0 + self.1
    }
}

impl From<f64> for Double2 {
    fn from(x: f64) -> Double2 {
        Double2(x, 0.0)
    }
}

impl Add for Double2 {
    type Output = Double2;
    fn add(self, other: Double2) -> Double2 {
        let (s, t) = (two_sum(self.0, other.0), two_sum(self.1, other.1));
        let v = quick_two_sum(s.0, s.1 + t.0);
        quick_two_sum(v.0, v.1 + t.1)
    }
}

impl Neg for Double2 {
    type Output = Double2;
    fn neg(self) -> Double2 {
        Double2(-self.0, -self.1)
    }
}

impl Sub for Double2 {
    type Output = Double2;
    fn sub(self, other: Double2) -> Double2 {
        self + -other
    }
}

impl Mul for Double2 {
    type Output = Double2;
    fn mul(self, other: Double2) -> Double2 {
        let p = self.0 * other.0;
        let e = self.0.mul_add(other.0, -p);
        quick_two_sum(p, e + (self.0 * other.1 + self.1 * other.0))
    }
}

impl Div for Double2 {
    type Output = Double2;
    fn div(self, other: Double2) -> Double2 {
        let q = self.0 / other.0;
        let r = self - other * q.into();
        let q2 = r.0 / other.0;
        let r = r - other * q2.into();
        let q3 = r.0 / other.0;
        let s = quick_two_sum(q, q2);
        s + q3.into()
    }
}

/// π/2 in three parts.
const HALF_PI: [f64; 3] = [std::f64::consts::FRAC_PI_2, 6.123233995736766e-17, -1.4973849048591833e-33];

/// (sin x, cos x) for |x| up to some hundred turns.
fn sin_cos(x: Double2) -> (Double2, Double2) {
    let n = (x.0 / HALF_PI[0]).round();
    let part = |p: f64| Double2::from(n) * p.into();
    let r = ((x - part(HALF_PI[0])) - part(HALF_PI[1])) - part(HALF_PI[2]);
    let square = -(r * r);
    let (mut sin, mut cos) = (r, Double2::from(1.0));
    let (mut odd, mut even) = (r, Double2::from(1.0));
    for k in 1..16 {
        let k = f64::from(2 * k);
        even = even * square / (k * (k - 1.0)).into();
        odd = odd * square / (k * (k + 1.0)).into();
        (sin, cos) = (sin + odd, cos + even);
    }
    match (n as i64).rem_euclid(4) {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

/// Σ a_j b_{k−j}
fn times(a: &[Double2], b: &[Double2], k: usize) -> Double2 {
    (0..=k).fold(Double2::ZERO, |sum, j| sum + a[j] * b[k - j])
}

/// Coefficients 0 … order of a, b, u, w.
pub fn series(state: [Double2; 4], order: usize, g: f64) -> [Vec<Double2>; 4] {
    let g = Double2::from(g);
    let two = Double2::from(2.0);
    let mut x = state.map(|x| vec![x]);
    let [mut angle, mut s, mut c, mut sa, mut ca, mut sb, mut cb]: [Vec<Double2>; 7] = Default::default();
    let [mut uu, mut ww, mut f1, mut f2, mut det, mut du, mut dw]: [Vec<Double2>; 7] = Default::default();
    let extend = |x: &[Double2], sin: &mut Vec<Double2>, cos: &mut Vec<Double2>, k: usize| {
        if k == 0 {
            let (s, c) = sin_cos(x[0]);
            sin.push(s);
            cos.push(c);
            return;
        }
        let scaled = |f: &[Double2]| {
            let sum = (1..=k).fold(Double2::ZERO, |sum, j| sum + Double2::from(j as f64) * x[j] * f[k - j]);
            sum / (k as f64).into()
        };
        let (s, c) = (scaled(cos), -scaled(sin));
        sin.push(s);
        cos.push(c);
    };
    let quotient = |right: Double2, det: &[Double2], rate: &[Double2], k: usize| {
        (1..=k).fold(right, |sum, j| sum - det[j] * rate[k - j]) / det[0]
    };
    for k in 0..order {
        angle.push(x[0][k] - x[1][k]);
        extend(&angle, &mut s, &mut c, k);
        extend(&x[0], &mut sa, &mut ca, k);
        extend(&x[1], &mut sb, &mut cb, k);
        uu.push(times(&x[2], &x[2], k));
        ww.push(times(&x[3], &x[3], k));
        f1.push(-times(&s, &ww, k) - two * g * sa[k]);
        f2.push(times(&s, &uu, k) - g * sb[k]);
        det.push(times(&s, &s, k) + if k == 0 { 1.0.into() } else { Double2::ZERO });
        let (right1, right2) = (f1[k] - times(&c, &f2, k), two * f2[k] - times(&c, &f1, k));
        du.push(quotient(right1, &det, &du, k));
        dw.push(quotient(right2, &det, &dw, k));
        let next = Double2::from((k + 1) as f64);
        let rates = [x[2][k], x[3][k], du[k], dw[k]];
        for (x, rate) in x.iter_mut().zip(rates) {
            x.push(rate / next);
        }
    }
    x
}

/// x(h)
pub fn at(row: &[Double2], h: Double2) -> Double2 {
    row.iter().rev().fold(Double2::ZERO, |sum, &c| sum * h + c)
}

fn state_at(rows: &[Vec<Double2>; 4], h: Double2) -> [Double2; 4] {
    [0, 1, 2, 3].map(|i| at(&rows[i], h))
}

/// x₂ + 1/2, and its rate.
fn gap(x: &[Double2; 4]) -> [Double2; 2] {
    let ((sin_a, cos_a), (sin_b, cos_b)) = (sin_cos(x[0]), sin_cos(x[1]));
    [sin_a + sin_b + 0.5.into(), cos_a * x[2] + cos_b * x[3]]
}

/// v⁺ = v⁻ − 2 u W⁻¹n / (n·W⁻¹n)
fn impact(x: &mut [Double2; 4]) {
    let (n1, n2) = (sin_cos(x[0]).1, sin_cos(x[1]).1);
    let (c, two) = (sin_cos(x[0] - x[1]).1, Double2::from(2.0));
    let det = two - c * c;
    let (m1, m2) = ((n1 - c * n2) / det, (two * n2 - c * n1) / det);
    let k = two * (n1 * x[2] + n2 * x[3]) / (n1 * m1 + n2 * m2);
    (x[2], x[3]) = (x[2] - k * m1, x[3] - k * m2);
}

/// Where the gap first becomes negative in (0, h]: looked for at 64 places, bisected, then Newton's method.
fn first_hit(rows: &[Vec<Double2>; 4], h: f64, leaving: bool) -> Option<Double2> {
    let below = |s: f64| gap(&state_at(rows, s.into()))[0].0 < 0.0;
    let place = |i: u32| h * f64::from(i) / 64.0;
    let hit = (if leaving { 2 } else { 1 }..=64).find(|&i| below(place(i)))?;
    let (mut left, mut right) = (place(hit - 1), place(hit));
    for _ in 0..40 {
        let middle = 0.5 * (left + right);
        if below(middle) { right = middle } else { left = middle }
    }
    let mut s = Double2::from(0.5 * (left + right));
    for _ in 0..4 {
        let [value, rate] = gap(&state_at(rows, s));
        s = s - value / rate;
    }
    Some(s)
}

/// Where the pendulum is at these times, ascending, and how many impacts there were; `wall`: it is reflected at x₂ = −1/2.
pub fn ends(start: [f64; 4], g: f64, times: &[f64], wall: bool) -> (Vec<[Double2; 4]>, u32) {
    const ORDER: usize = 32;
    let mut state = start.map(Double2::from);
    let (mut t, mut impacts, mut leaving) = (Double2::ZERO, 0, false);
    let mut result = Vec::new();
    for &until in times {
        loop {
            let left = Double2::from(until) - t;
            if left.0 <= 0.0 {
                break;
            }
            let rows = series(state, ORDER, g);
            let radius = [ORDER - 1, ORDER].map(|k| {
                let largest = rows.iter().map(|r| r[k].0.abs()).fold(0.0, f64::max);
                largest.powf(-1.0 / k as f64)
            });
            let natural = Double2::from(radius[0].min(radius[1]) * 1e-32_f64.powf(1.0 / ORDER as f64));
            let h = if natural.0 < left.0 { natural } else { left };
            let hit = if wall { first_hit(&rows, h.0, leaving) } else { None };
            let h = hit.unwrap_or(h);
            state = state_at(&rows, h);
            t = if h == left { until.into() } else { t + h };
            leaving = hit.is_some();
            if leaving {
                impact(&mut state);
                impacts += 1;
            }
        }
        result.push(state);
    }
    (result, impacts)
}
