//! Table inputs as piecewise cubics.  u(t) = c₀ + c₁τ + c₂τ² + c₃τ³,  τ = t − t_k,  between the rows (t_k, u_k).
//!
//! ```text
//! hold      u = u_k                                                     jumps at the rows
//! linear    u = u_k + δ_k τ,   δ_k = (u_{k+1} − u_k)/(t_{k+1} − t_k)    C⁰
//! smooth    Hermite's cubic with slopes d_k                             C¹, between two rows never beyond them
//! spline    the slopes for which u″ is continuous, "not a knot" ends    C²
//! ```
//!
//! `smooth` takes the slopes of the spline and limits them: d_k = 0 where δ_{k−1} and δ_k differ in sign or one is zero,
//! else d_k has their sign and |d_k| ≤ 3 min(|δ_{k−1}|, |δ_k|). With 0 ≤ d/δ ≤ 3 at both ends Hermite's cubic is monotone
//! (Fritsch and Carlson), so rows within [a, b] stay there and rows that rise, rise; where the spline is monotone between
//! rows and not too steep it is the spline, and a table of such a cubic gives that cubic.
//!
//! Between two rows the coefficients are parameters of the leg; rows are known stopping times, so no step reaches across
//! one. Outside its table a signal continues as smoothly as it is inside: `hold` with its end values, `linear` and `smooth`
//! straight on, `spline` with its end pieces.

use carom_jet::dense::{Factored, Matrix};
use carom_mech::model::Interpolation;

/// A signal: one cubic per interval.
#[derive(Clone, PartialEq, Debug)]
pub struct Spline {
    /// First and last time of the table.
    pub range: [f64; 2],
    /// In order of time, at least one.
    pieces: Vec<SplinePiece>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct SplinePiece {
    /// In force from here on; −∞ for the first.
    from: f64,
    /// τ = 0 here.
    origin: f64,
    /// c₀ … c₃
    cubic: [f64; 4],
}

impl Spline {
    /// Through the points (t_k, u_k), t ascending. One point is a constant, two are a line unless held.
    pub fn through(times: &[f64], values: &[f64], interpolate: Interpolation) -> Spline {
        let n = times.len().min(values.len());
        let (t, u) = (&times[..n], &values[..n]);
        let piece = |k: usize, cubic: [f64; 4]| SplinePiece { from: t[k], origin: t[k], cubic };
        let mut pieces: Vec<SplinePiece> = match interpolate {
            _ if n <= 1 => {
                let value = values.first().copied().unwrap_or(0.0);
                let origin = times.first().copied().unwrap_or(0.0);
                vec![SplinePiece { from: origin, origin, cubic: [value, 0.0, 0.0, 0.0] }]
            }
            Interpolation::Hold => (0..n).map(|k| piece(k, [u[k], 0.0, 0.0, 0.0])).collect(),
            _ if n == 2 || interpolate == Interpolation::Linear => {
                let slope = |k: usize| (u[k + 1] - u[k]) / (t[k + 1] - t[k]);
                (0..n - 1).map(|k| piece(k, [u[k], slope(k), 0.0, 0.0])).collect()
            }
            Interpolation::Spline => {
                let cubics = spline(t, u);
                cubics.into_iter().enumerate().map(|(k, cubic)| piece(k, cubic)).collect()
            }
            _ => {
                let slopes = limited_slopes(t, u);
                let before = SplinePiece { from: t[0], origin: t[0], cubic: [u[0], slopes[0], 0.0, 0.0] };
                let inside = (0..n - 1).map(|k| {
                    piece(k, hermite(t[k + 1] - t[k], [u[k], u[k + 1]], [slopes[k], slopes[k + 1]]))
                });
                let after = piece(n - 1, [u[n - 1], slopes[n - 1], 0.0, 0.0]);
                std::iter::once(before).chain(inside).chain([after]).collect()
            }
        };
        pieces[0].from = f64::NEG_INFINITY;
        Spline { range: [t.first().copied().unwrap_or(0.0), t.last().copied().unwrap_or(0.0)], pieces }
    }

    /// The interval in force from time t on (at a row: the one to its right).
    pub fn interval(&self, t: f64) -> usize {
        self.pieces.partition_point(|p| p.from <= t).max(1) - 1
    }

    /// The first time after t at which another piece takes over.
    pub fn next_knot(&self, t: f64) -> Option<f64> {
        self.pieces.get(self.pieces.partition_point(|p| p.from <= t)).map(|p| p.from)
    }

    /// (t_k, c₀, c₁, c₂, c₃) of an interval.
    pub fn parameters(&self, interval: usize) -> [f64; 5] {
        let SplinePiece { origin, cubic: c, .. } = self.pieces[interval];
        [origin, c[0], c[1], c[2], c[3]]
    }

    /// u, u′ or u″ at time t, at a row those to its right.
    pub fn value(&self, order: u8, t: f64) -> f64 {
        let [origin, c0, c1, c2, c3] = self.parameters(self.interval(t));
        let s = t - origin;
        match order {
            0 => c0 + s * (c1 + s * (c2 + s * c3)),
            1 => c1 + s * (2.0 * c2 + s * 3.0 * c3),
            _ => 2.0 * c2 + s * 6.0 * c3,
        }
    }
}

/// Hermite's cubic over a length h: values and slopes at its two ends.
fn hermite(h: f64, [a, b]: [f64; 2], [p, q]: [f64; 2]) -> [f64; 4] {
    let slope = (b - a) / h;
    [a, p, (3.0 * slope - 2.0 * p - q) / h, ((p + q - 2.0 * slope) / h) / h]
}

/// The slopes of the spline, limited so that every piece is monotone.
fn limited_slopes(t: &[f64], u: &[f64]) -> Vec<f64> {
    let n = t.len();
    let secants: Vec<f64> = (0..n - 1).map(|k| (u[k + 1] - u[k]) / (t[k + 1] - t[k])).collect();
    let cubics = spline(t, u);
    let last = cubics[n - 2];
    let h = t[n - 1] - t[n - 2];
    let end = last[1] + h * (2.0 * last[2] + h * 3.0 * last[3]);
    let slopes = cubics.iter().map(|c| c[1]).chain([end]);
    let limit = |(k, slope): (usize, f64)| {
        let (left, right) = (secants[k.saturating_sub(1)], secants[k.min(n - 2)]);
        let most = 3.0 * left.abs().min(right.abs());
        // Slopes of a spline through enormous numbers may overflow.
        let slope = if slope.is_finite() { slope } else { 0.5 * left + 0.5 * right };
        if left * right.signum() <= 0.0 || slope * right.signum() <= 0.0 {
            0.0
        } else {
            slope.clamp(-most, most)
        }
    };
    slopes.enumerate().map(limit).collect()
}

/// c₀ … c₃ per interval of the spline through at least three points; through three it is a parabola.
fn spline(t: &[f64], u: &[f64]) -> Vec<[f64; 4]> {
    if t.len() == 3 {
        return parabola(t, u);
    }
    let seconds = second_derivatives(t, u);
    (0..t.len() - 1)
        .map(|k| {
            let h = t[k + 1] - t[k];
            let slope = (u[k + 1] - u[k]) / h;
            [
                u[k],
                slope - h * (2.0 * seconds[k] + seconds[k + 1]) / 6.0,
                seconds[k] / 2.0,
                (seconds[k + 1] - seconds[k]) / (6.0 * h),
            ]
        })
        .collect()
}

/// Newton's form, moved to each interval's left end.
fn parabola(t: &[f64], u: &[f64]) -> Vec<[f64; 4]> {
    let first = (u[1] - u[0]) / (t[1] - t[0]);
    let second = ((u[2] - u[1]) / (t[2] - t[1]) - first) / (t[2] - t[0]);
    let slope = |x: f64| first + second * ((x - t[0]) + (x - t[1]));
    vec![[u[0], slope(t[0]), second, 0.0], [u[1], slope(t[1]), second, 0.0]]
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
    use proptest::prelude::*;

    const ALL: [Interpolation; 4] = Interpolation::ALL;

    #[test]
    fn a_table_of_a_cubic_gives_that_cubic() {
        let f = |t: f64| 1.0 - 2.0 * t + 0.5 * t * t - 0.3 * t * t * t;
        for count in [4usize, 5, 9] {
            let times: Vec<f64> = (0..count).map(|i| (i as f64).powf(1.3) * 0.4).collect();
            let values: Vec<f64> = times.iter().map(|&t| f(t)).collect();
            let spline = Spline::through(&times, &values, Interpolation::Spline);
            // It falls all along: the curve that may not overshoot has nothing to limit inside the table.
            let smooth = Spline::through(&times, &values, Interpolation::Smooth);
            for i in 0..50 {
                let t = -0.5 + 0.07 * f64::from(i);
                assert!((spline.value(0, t) - f(t)).abs() < 1e-11 * (1.0 + f(t).abs()), "{count} {t}");
                if t >= times[0] && t <= times[count - 1] {
                    assert!((smooth.value(0, t) - f(t)).abs() < 1e-11 * (1.0 + f(t).abs()), "{count} {t}");
                }
            }
        }
    }

    #[test]
    fn two_points_are_a_line_and_three_a_parabola() {
        for kind in [Interpolation::Linear, Interpolation::Smooth, Interpolation::Spline] {
            let line = Spline::through(&[1.0, 3.0], &[2.0, 6.0], kind);
            assert_eq!((line.value(0, 2.0), line.value(0, 5.0), line.next_knot(0.0)), (4.0, 10.0, None));
        }
        for kind in [Interpolation::Smooth, Interpolation::Spline] {
            let parabola = Spline::through(&[0.0, 1.0, 3.0], &[0.0, 1.0, 9.0], kind);
            assert!(
                (parabola.value(0, 2.0) - 4.0).abs() < 1e-15 && (parabola.value(0, 0.5) - 0.25).abs() < 1e-15
            );
        }
    }

    #[test]
    fn the_interval_at_a_row_is_the_one_to_its_right() {
        let (times, values) = ([0.0, 1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 0.0, 1.0, 0.0]);
        let spline = Spline::through(&times, &values, Interpolation::Spline);
        assert_eq!([spline.interval(-1.0), spline.interval(1.0), spline.interval(9.0)], [0, 1, 3]);
        assert_eq!((spline.next_knot(1.0), spline.next_knot(3.0)), (Some(2.0), None));
        let hold = Spline::through(&times, &values, Interpolation::Hold);
        assert_eq!([-1.0, 0.5, 1.0, 3.5, 9.0].map(|t| hold.value(0, t)), [0.0, 0.0, 1.0, 1.0, 0.0]);
        assert_eq!((hold.next_knot(-1.0), hold.next_knot(3.0)), (Some(1.0), Some(4.0)));
    }

    #[test]
    fn outside_its_table_a_signal_goes_on_as_smoothly_as_inside() {
        let (times, values) = ([0.0, 1.0, 2.0, 3.0, 5.0], [0.0, 1.0, 4.0, 3.0, 7.0]);
        for kind in ALL {
            let signal = Spline::through(&times, &values, kind);
            for end in [0.0, 5.0] {
                let near = 1e-9;
                for order in 0..=kind.derivatives().max(0) as u8 {
                    let [a, b] = [end - near, end + near].map(|t| signal.value(order, t));
                    assert!((a - b).abs() < 1e-6 || kind == Interpolation::Hold, "{kind:?} {end} {order}");
                }
            }
        }
        let smooth = Spline::through(&times, &values, Interpolation::Smooth);
        assert_eq!(smooth.value(2, 6.0), 0.0);
    }

    /// Rows with steps between 1e-3 and 1 and values that repeat, rise slowly and jump.
    fn rows() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
        prop::collection::vec((1e-3f64..1.0, prop_oneof![Just(0.0), Just(1.0), 0.0f64..1.0]), 2..30).prop_map(
            |rows| {
                let times = rows.iter().scan(-3.0, |t, (h, _)| {
                    *t += h;
                    Some(*t)
                });
                (times.collect(), rows.iter().map(|r| r.1).collect())
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn a_smooth_signal_stays_between_its_rows((times, values) in rows(), scale in -250i32..250, unit in -100i32..100) {
            let (scale, unit) = (2f64.powi(scale), 2f64.powi(unit));
            let values: Vec<f64> = values.iter().map(|u| u * scale).collect();
            let times: Vec<f64> = times.iter().map(|t| t * unit).collect();
            for kind in [Interpolation::Smooth, Interpolation::Linear, Interpolation::Hold] {
                let signal = Spline::through(&times, &values, kind);
                for k in 0..times.len() - 1 {
                    let (low, high) = (values[k].min(values[k + 1]), values[k].max(values[k + 1]));
                    let rising = (values[k + 1] - values[k]).signum();
                    let mut last = values[k];
                    for i in 0..40 {
                        let t = times[k] + (times[k + 1] - times[k]) * f64::from(i) / 40.0;
                        let u = signal.value(0, t);
                        // The rounding of a cubic whose terms are at most six times its rise, and of t − t_k.
                        let rounding = 16.0 * f64::EPSILON * (high.abs() + 6.0 * (high - low) * (1.0 + t.abs() / (times[k + 1] - times[k])));
                        prop_assert!(u >= low - rounding && u <= high + rounding, "{kind:?} {u} not in {low} … {high}");
                        prop_assert!((u - last) * rising >= -rounding, "{kind:?} turns back");
                        last = u;
                    }
                }
            }
        }

        #[test]
        fn every_row_is_met_with_as_many_continuous_derivatives_as_promised((times, values) in rows()) {
            for kind in ALL {
                let signal = Spline::through(&times, &values, kind);
                for (k, (&t, &u)) in times.iter().zip(&values).enumerate() {
                    prop_assert!((signal.value(0, t) - u).abs() <= 1e-12, "{kind:?}");
                    if k == 0 || k == times.len() - 1 { continue; }
                    // Both neighbours of the row, each continued to it: no difference quotients.
                    let (right, left) = (signal.interval(t), signal.interval(t) - 1);
                    let at = |piece: usize, order: usize| {
                        let [origin, c @ ..] = signal.parameters(piece);
                        let s = t - origin;
                        [c[0] + s * (c[1] + s * (c[2] + s * c[3])), c[1] + s * (2.0 * c[2] + s * 3.0 * c[3]), 2.0 * c[2] + 6.0 * s * c[3]][order]
                    };
                    let shortest = times.windows(2).map(|w| w[1] - w[0]).fold(1.0, f64::min);
                    for order in 0..=kind.derivatives().max(-1) {
                        let order = order as usize;
                        let rounding = 1e-10 / shortest.powi(order as i32 + 1);
                        prop_assert!((at(left, order) - at(right, order)).abs() <= rounding, "{kind:?} {order}");
                    }
                }
            }
        }

        #[test]
        fn lines_and_monotone_parabolas_come_back(a in -2.0f64..2.0, b in -2.0f64..2.0, c in 0.0f64..1.0, n in 3usize..12) {
            // b t + c t² on t ≥ 0 with b and c of one sign is monotone; on even rows its slopes need no limit.
            let b = if c > 0.0 { b.abs() } else { b };
            let times: Vec<f64> = (0..n).map(|k| 0.25 * k as f64).collect();
            for c in [0.0, c] {
                let f = |t: f64| a + b * t + c * t * t;
                let values: Vec<f64> = times.iter().map(|&t| f(t)).collect();
                let smooth = Spline::through(&times, &values, Interpolation::Smooth);
                let linear = Spline::through(&times, &values, Interpolation::Linear);
                for i in 0..=100 {
                    let t = times[n - 1] * f64::from(i) / 100.0;
                    prop_assert!((smooth.value(0, t) - f(t)).abs() < 1e-12 * (1.0 + f(t).abs()));
                    prop_assert!(c > 0.0 || (linear.value(0, t) - f(t)).abs() < 1e-14 * (1.0 + f(t).abs()));
                }
            }
        }
    }
}
