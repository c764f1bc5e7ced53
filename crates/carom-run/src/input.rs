//! Table inputs as cubic splines.  u(t) = c₀ + c₁τ + c₂τ² + c₃τ³,  τ = t − t_k,  twice continuously differentiable.
//!
//! The end conditions are "not a knot" (the first two and the last two pieces are one cubic), so a table of a cubic
//! gives that cubic. Between two knots the coefficients are parameters of the leg; knots are known stopping times, so
//! no step reaches across one. Outside its table the input continues with its end pieces.

use crate::linear::{Factored, Matrix};

/// A spline: one cubic per interval.
#[derive(Clone, PartialEq, Debug)]
pub struct Spline {
    /// t_k, ascending.
    pub knots: Vec<f64>,
    /// c₀ … c₃ per interval.
    pub pieces: Vec<[f64; 4]>,
}

impl Spline {
    /// Through the points (t_k, u_k), t ascending. One point is a constant, two a line, three a parabola.
    pub fn through(times: &[f64], values: &[f64]) -> Spline {
        let n = times.len().min(values.len());
        if n <= 1 {
            let value = values.first().copied().unwrap_or(0.0);
            return Spline { knots: times[..n].to_vec(), pieces: vec![[value, 0.0, 0.0, 0.0]] };
        }
        if n <= 3 {
            return polynomial_through(&times[..n], &values[..n]);
        }
        let seconds = second_derivatives(&times[..n], &values[..n]);
        let pieces = (0..n - 1)
            .map(|k| {
                let h = times[k + 1] - times[k];
                let slope = (values[k + 1] - values[k]) / h;
                [
                    values[k],
                    slope - h * (2.0 * seconds[k] + seconds[k + 1]) / 6.0,
                    seconds[k] / 2.0,
                    (seconds[k + 1] - seconds[k]) / (6.0 * h),
                ]
            })
            .collect();
        Spline { knots: times[..n].to_vec(), pieces }
    }

    /// The interval in force from time t on (at a knot: the one to its right).
    pub fn interval(&self, t: f64) -> usize {
        let inner = self.pieces.len();
        self.knots[1.min(self.knots.len())..].partition_point(|k| *k <= t).min(inner - 1)
    }

    /// The first inner knot after t.
    pub fn next_knot(&self, t: f64) -> Option<f64> {
        let inner = self.knots.get(1..self.knots.len().saturating_sub(1))?;
        inner.get(inner.partition_point(|k| *k <= t)).copied()
    }

    /// (t_k, c₀, c₁, c₂, c₃) of an interval.
    pub fn parameters(&self, interval: usize) -> [f64; 5] {
        let c = self.pieces[interval];
        [self.knots.get(interval).copied().unwrap_or(0.0), c[0], c[1], c[2], c[3]]
    }
}

fn polynomial_through(t: &[f64], u: &[f64]) -> Spline {
    let first = (u[1] - u[0]) / (t[1] - t[0]);
    if t.len() == 2 {
        return Spline { knots: t.to_vec(), pieces: vec![[u[0], first, 0.0, 0.0]] };
    }
    // Newton's form, moved to each interval's left end.
    let second = ((u[2] - u[1]) / (t[2] - t[1]) - first) / (t[2] - t[0]);
    let slope = |x: f64| first + second * (2.0 * x - t[0] - t[1]);
    let pieces = vec![[u[0], slope(t[0]), second, 0.0], [u[1], slope(t[1]), second, 0.0]];
    Spline { knots: t.to_vec(), pieces }
}

/// u″ at the knots: h_{k−1} m_{k−1} + 2(h_{k−1}+h_k) m_k + h_k m_{k+1} = 6 (slope_k − slope_{k−1}), not-a-knot ends
/// eliminated into the first and last row; then a tridiagonal sweep (small tables: dense).
fn second_derivatives(t: &[f64], u: &[f64]) -> Vec<f64> {
    let n = t.len();
    let h: Vec<f64> = t.windows(2).map(|w| w[1] - w[0]).collect();
    let slope: Vec<f64> = (0..n - 1).map(|k| (u[k + 1] - u[k]) / h[k]).collect();
    // Unknowns m_1 … m_{n−2}; m_0 = ((h0+h1) m_1 − h0 m_2)/h1 and likewise at the other end.
    let inner = n - 2;
    if inner == 2 {
        let mut m = Matrix::zeros(2, 2);
        m[(0, 0)] = 2.0 * (h[0] + h[1]) + h[0] * (h[0] + h[1]) / h[1];
        m[(0, 1)] = h[1] - h[0] * h[0] / h[1];
        m[(1, 1)] = 2.0 * (h[1] + h[2]) + h[2] * (h[2] + h[1]) / h[1];
        m[(1, 0)] = h[1] - h[2] * h[2] / h[1];
        let right = [6.0 * (slope[1] - slope[0]), 6.0 * (slope[2] - slope[1])];
        let x = Factored::new(&m).solve(&right);
        return with_ends(&h, x);
    }
    let (mut lower, mut diagonal, mut upper) = (vec![0.0; inner], vec![0.0; inner], vec![0.0; inner]);
    let mut right = vec![0.0; inner];
    for k in 0..inner {
        lower[k] = h[k];
        diagonal[k] = 2.0 * (h[k] + h[k + 1]);
        upper[k] = h[k + 1];
        right[k] = 6.0 * (slope[k + 1] - slope[k]);
    }
    diagonal[0] += h[0] * (h[0] + h[1]) / h[1];
    upper[0] -= h[0] * h[0] / h[1];
    let (a, b) = (h[n - 2], h[n - 3]);
    diagonal[inner - 1] += a * (a + b) / b;
    lower[inner - 1] -= a * a / b;
    for k in 1..inner {
        let factor = lower[k] / diagonal[k - 1];
        diagonal[k] -= factor * upper[k - 1];
        right[k] -= factor * right[k - 1];
    }
    let mut x = right;
    x[inner - 1] /= diagonal[inner - 1];
    for k in (0..inner - 1).rev() {
        x[k] = (x[k] - upper[k] * x[k + 1]) / diagonal[k];
    }
    with_ends(&h, x)
}

fn with_ends(h: &[f64], inner: Vec<f64>) -> Vec<f64> {
    let (n, k) = (h.len(), inner.len());
    let first = ((h[0] + h[1]) * inner[0] - h[0] * inner[1]) / h[1];
    let (a, b) = (h[n - 1], h[n - 2]);
    let last = ((a + b) * inner[k - 1] - a * inner[k - 2]) / b;
    let mut all = vec![first];
    all.extend(inner);
    all.push(last);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(spline: &Spline, t: f64) -> f64 {
        let [knot, a, b, c, d] = spline.parameters(spline.interval(t));
        let x = t - knot;
        a + x * (b + x * (c + x * d))
    }

    #[test]
    fn a_table_of_a_cubic_gives_that_cubic() {
        let f = |t: f64| 1.0 - 2.0 * t + 0.5 * t * t - 0.3 * t * t * t;
        for count in [4usize, 5, 9] {
            let times: Vec<f64> = (0..count).map(|i| (i as f64).powf(1.3) * 0.4).collect();
            let values: Vec<f64> = times.iter().map(|&t| f(t)).collect();
            let spline = Spline::through(&times, &values);
            for i in 0..50 {
                let t = -0.5 + 0.07 * f64::from(i);
                assert!((value(&spline, t) - f(t)).abs() < 1e-11 * (1.0 + f(t).abs()), "{count} {t}");
            }
        }
    }

    #[test]
    fn two_points_are_a_line_and_three_a_parabola() {
        let line = Spline::through(&[1.0, 3.0], &[2.0, 6.0]);
        assert_eq!(value(&line, 2.0), 4.0);
        let parabola = Spline::through(&[0.0, 1.0, 3.0], &[0.0, 1.0, 9.0]);
        assert!((value(&parabola, 2.0) - 4.0).abs() < 1e-15 && (value(&parabola, 0.5) - 0.25).abs() < 1e-15);
    }

    #[test]
    fn the_interval_at_a_knot_is_the_one_to_its_right() {
        let spline = Spline::through(&[0.0, 1.0, 2.0, 3.0, 4.0], &[0.0, 1.0, 0.0, 1.0, 0.0]);
        assert_eq!(spline.interval(1.0), 1);
        assert_eq!(spline.interval(-1.0), 0);
        assert_eq!(spline.interval(9.0), 3);
        assert_eq!(spline.next_knot(1.0), Some(2.0));
        assert_eq!(spline.next_knot(3.0), None);
    }
}
