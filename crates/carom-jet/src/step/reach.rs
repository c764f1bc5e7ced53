//! How far series reach that a step was not chosen for: a variation takes the steps of its motion.

use crate::eval::flow::Flow;
use crate::eval::polynomial::Coefficients;
use crate::simd::{Kernel, dispatch};
use std::ops::Range;

/// A step is halved at most so often.
const MOST_HALVINGS: usize = 40;
/// Terms fall at least so many times from order to order where the motion's own do: those before the last may be larger.
const FALL: f64 = 8.0;
/// So many of the first terms nearly always tell how large a series is.
const FIRST: usize = 4;
/// So many of the last ones how much of it is left out.
const LAST: usize = 3;

impl Flow {
    /// How far the series of these state variables reach, in units, after a jet: h, or what halving it leaves until the last three
    /// terms of each are no more than `limit` times its largest one.
    pub fn reach(&self, variables: Range<usize>, mut h: f64, limit: f64) -> f64 {
        for _ in 0..MOST_HALVINGS {
            if self.with_powers(h, |powers| self.is_within_reach(variables.clone(), powers, limit)) {
                break;
            }
            h /= 2.0;
        }
        h
    }

    fn is_within_reach(&self, variables: Range<usize>, powers: &[f64], limit: f64) -> bool {
        let order = powers.len();
        let power = |k: usize| if k == 0 { 1.0 } else { powers[k - 1] };
        let tail = (order + 1).saturating_sub(LAST);
        let last: [f64; LAST] = std::array::from_fn(|i| {
            let k = tail + i;
            if k <= order { power(k) / FALL.powi((order - k) as i32) } else { 0.0 }
        });
        let first: [f64; FIRST] = std::array::from_fn(|k| power(k.min(order)));
        let mut fitting = 0;
        let coefficients = self.coefficients();
        let orders = std::array::from_fn(|i| order.min(if i < FIRST { i } else { tail + i - FIRST }));
        dispatch(
            self.level(),
            FirstTerms {
                coefficients,
                variables: variables.clone(),
                orders,
                first,
                last,
                limit,
                fitting: &mut fitting,
            },
        );
        // A series that begins later is looked at as a whole.
        let fits = |i: usize| {
            let size = |k: usize| self.coefficient(i, k.min(order)).abs();
            let left = (0..LAST).map(|k| size(tail + k) * last[k]).fold(0.0, f64::max);
            left <= limit * (0..tail.max(FIRST)).map(|k| size(k) * power(k.min(order))).fold(0.0, f64::max)
        };
        fitting == variables.len() || variables.clone().all(fits)
    }
}

/// Counts series whose first terms are large enough for their last ones; compiled for each instruction set.
struct FirstTerms<'a> {
    coefficients: Coefficients<'a>,
    variables: Range<usize>,
    orders: [usize; FIRST + LAST],
    first: [f64; FIRST],
    last: [f64; LAST],
    limit: f64,
    fitting: &'a mut usize,
}

impl Kernel for FirstTerms<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let FirstTerms { coefficients, variables, orders, first, last, limit, fitting } = self;
        let larger = |a: f64, b: f64| if a > b { a } else { b };
        let mut count = 0;
        // Without a branch: order by order it becomes vector code.
        coefficients.each_of(variables, orders, |c| {
            let left = larger(larger(c[4].abs() * last[0], c[5].abs() * last[1]), c[6].abs() * last[2]);
            let size = larger(
                larger(c[0].abs(), c[1].abs() * first[1]),
                larger(c[2].abs() * first[2], c[3].abs() * first[3]),
            );
            count += usize::from(left <= limit * size);
        });
        *fitting = count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{System, Tape, Time};
    use carom_expr::{Dag, Expr, Function};

    /// x' = rate(t, x) for each of so many variables, expanded at t = 0.
    fn series(order: usize, start: &[f64], rate: impl Fn(&mut Dag, Expr, Expr, usize) -> Expr) -> Flow {
        let mut dag = Dag::new();
        let t = dag.symbol("t");
        let state: Vec<Expr> = (0..start.len()).map(|i| dag.symbol(&format!("x{i}"))).collect();
        let rate = state.iter().enumerate().map(|(i, &x)| rate(&mut dag, t, x, i)).collect();
        let (parameters, blocks, watched, monitored) = (vec![], vec![], vec![], vec![]);
        let system = System { time: t, parameters, state, rate, blocks, watched, monitored };
        let mut flow = Flow::new(Tape::compile(&dag, &system).unwrap(), order);
        flow.jet(Time::new(0.0), start).unwrap();
        flow
    }

    /// How far Σ (c h)^k / k! reaches, from its closed form.
    fn of_exponential(order: i32, c: f64, mut h: f64, limit: f64) -> f64 {
        let term = |h: f64, k: i32| (c * h).powi(k) / (1..=k).map(f64::from).product::<f64>();
        let short = |h: f64| {
            let left = (order - 2..=order).map(|k| term(h, k) / 8.0_f64.powi(order - k)).fold(0.0, f64::max);
            left > limit * (0..order - 2).map(|k| term(h, k)).fold(0.0, f64::max)
        };
        while short(h) {
            h /= 2.0;
        }
        h
    }

    #[test]
    fn series_reach_as_far_as_their_last_terms_are_small() {
        // x' = c x with c = 1, 3, 5, …: few as rows, many order by order.
        for count in [3, 100] {
            let flow = series(18, &vec![1.0; count], |dag, _, x, i| {
                let c = dag.integer(1 + 2 * i as i64);
                dag.mul(c, x)
            });
            for limit in [1e-6, 1e-10, 1e-14] {
                for variables in [0..1, 1..3, 0..3, count - 2..count] {
                    let fastest = 2.0 * variables.end as f64 - 1.0;
                    let wanted = of_exponential(18, fastest, 4.0, limit);
                    assert_eq!(flow.reach(variables.clone(), 4.0, limit), wanted, "{variables:?} {limit}");
                }
            }
        }
    }

    #[test]
    fn series_that_begin_late_are_measured_by_their_largest_term() {
        // x' = t⁶ eᵗ: x = Σ t^k / (k (k − 7)!) from k = 7 on.
        let flow = series(24, &[0.0], |dag, t, _, _| {
            let (power, growth) = (dag.powi(t, 6), dag.function(Function::Exp, &[t]));
            dag.mul(power, growth)
        });
        assert_eq!(flow.reach(0..1, 1.0, 1e-13), 1.0);
        assert!(flow.reach(0..1, 16.0, 1e-13) < 4.0);
    }
}
