//! An ensemble against a program that shares nothing with it: equations of the double pendulum, its impact law and an
//! extrapolation method written down by hand, the wall watched in 2560 steps with a look at every dip.

mod common;

use carom_run::{Batch, Columns, JobSource, Options, Outcome, SimulateError};

type State = [f64; 4];

const G: f64 = 9.81;
const UNTIL: f64 = 10.0;
const STEP: f64 = 1.0 / 256.0;

/// (θ₁, θ₂, ω₁, ω₂) of two unit masses on unit rods.
fn rate([a, b, u, v]: State) -> State {
    let (s, c) = (a - b).sin_cos();
    let (p, q) = (-s * v * v - 2.0 * G * a.sin(), s * u * u - G * b.sin());
    let determinant = 2.0 - c * c;
    [u, v, (p - c * q) / determinant, (2.0 * q - c * p) / determinant]
}

fn plus(x: State, h: f64, r: State) -> State {
    std::array::from_fn(|i| x[i] + h * r[i])
}

/// Gragg's modified midpoint rule with 2, 4, … 10 substeps, extrapolated (Aitken–Neville in the square of the substep).
fn flow(x: State, h: f64) -> State {
    let mut table: Vec<State> = Vec::new();
    for n in [2.0, 4.0, 6.0, 8.0, 10.0] {
        let d = h / n;
        let (mut before, mut now) = (x, plus(x, d, rate(x)));
        for _ in 1..n as usize {
            (before, now) = (now, plus(before, 2.0 * d, rate(now)));
        }
        let end = plus(now, d, rate(now));
        let mut row: Vec<State> = vec![std::array::from_fn(|i| 0.5 * (before[i] + end[i]))];
        for (j, worse) in table.iter().enumerate() {
            let ratio: f64 = n / (n - 2.0 * (j as f64 + 1.0));
            let best = row[j];
            row.push(std::array::from_fn(|i| best[i] + (best[i] - worse[i]) / (ratio * ratio - 1.0)));
        }
        table = row;
    }
    table[table.len() - 1]
}

/// x₂ + 1/2 and its rate.
fn gap([a, b, u, v]: State) -> (f64, f64) {
    (a.sin() + b.sin() + 0.5, a.cos() * u + b.cos() * v)
}

/// v − 2 (n·v) W⁻¹n / (n·W⁻¹n)
fn apply_one_wall([a, b, u, v]: State) -> State {
    let (n, m, c) = (a.cos(), b.cos(), (a - b).cos());
    let (x, y) = (n - c * m, 2.0 * m - c * n);
    let factor = 2.0 * (n * u + m * v) / (n * x + m * y);
    [a, b, u - factor * x, v - factor * y]
}

/// Where f changes sign in (low, high], f(low) and f(high) being of different sign.
fn bisect(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let sign = f(high).signum();
    while high - low > 1e-17 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        *(if f(middle).signum() == sign { &mut high } else { &mut low }) = middle;
    }
    high
}

/// Final state and times of the impacts.
fn oracle(start: State) -> (State, Vec<f64>) {
    let (mut t, mut x, mut impacts) = (0.0, start, Vec::new());
    let mut leaving = false;
    while t < UNTIL {
        let h = STEP.min(UNTIL - t);
        let end = flow(x, h);
        let ((_, fall), (last, rise)) = (gap(x), gap(end));
        // The lowest point inside, or the end.
        let lowest = if fall < 0.0 && rise > 0.0 { bisect(0.0, h, |s| gap(flow(x, s)).1) } else { h };
        let deepest = if lowest < h { gap(flow(x, lowest)).0 } else { last };
        if deepest < 0.0 {
            // Just after an impact the gap is zero but for rounding, and grows.
            let mut from = 0.0;
            if leaving {
                from = lowest;
                while gap(flow(x, from)).0 < 0.0 {
                    from *= 0.5;
                }
            }
            let at = bisect(from, lowest, |s| gap(flow(x, s)).0);
            x = apply_one_wall(flow(x, at));
            t += at;
            impacts.push(t);
            leaving = true;
        } else {
            (x, t, leaving) = (end, t + h, false);
        }
    }
    (x, impacts)
}

struct Queue {
    options: Vec<Options>,
    next: usize,
    outcomes: Vec<Option<Outcome>>,
}

impl JobSource for Queue {
    fn next(&mut self) -> Option<(u64, Options)> {
        let options = self.options.get(self.next)?.clone();
        self.next += 1;
        Some((self.next as u64 - 1, options))
    }
    fn take(&mut self, index: u64, outcome: Result<Outcome, SimulateError>) {
        self.outcomes[index as usize] = Some(outcome.unwrap());
    }
}

/// Additive recurrences with irrational steps fill the square evenly.
fn starts() -> impl Iterator<Item = State> {
    let part = |i: u32, step: f64| (f64::from(i) * step).fract();
    (1..)
        .map(move |i| [6.2 * part(i, 0.754_877_666) - 3.1, 6.2 * part(i, 0.569_840_291) - 3.1, 0.0, 0.0])
        .filter(|x| gap(*x).0 > 0.05)
}

/// A failure here means an impact missed or invented, a wrong law, or wrong equations: rounding explains differences of
/// some 1e-13 times the amplification only.
#[test]
fn an_ensemble_meets_the_impacts_of_a_program_written_by_hand() {
    const COUNT: usize = 120;
    const NUDGE: f64 = 1e-11;
    let text = include_str!("../../../models/double_pendulum_wall.toml");
    let (program, options) = common::program(text);
    let starts: Vec<State> = starts().take(COUNT).collect();
    let all = starts.iter().map(|x| {
        let mut options = options.clone();
        options.start.position = vec![Some(x[0]), Some(x[1])];
        options
    });
    let mut queue = Queue { options: all.collect(), next: 0, outcomes: vec![None; COUNT] };
    Batch::new(&program, true).run(&mut queue);
    let columns = Columns::of(&program);
    let (mut compared, mut impacts) = (0, 0);
    for (start, outcome) in starts.iter().zip(&queue.outcomes) {
        let outcome = outcome.as_ref().unwrap();
        assert!(outcome.hamiltonian_drift < 1e-12, "{start:?}: energy {:.1e}", outcome.hamiltonian_drift);
        let (end, times) = oracle(*start);
        let away = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0_f64, |m, (x, y)| m.max((x - y).abs()));
        let amplification = (0..4).fold(1.0_f64, |largest, i| {
            let mut moved = *start;
            moved[i] += NUDGE;
            let (moved, other_times) = oracle(moved);
            let alike = other_times.len() == times.len();
            if alike { largest.max(away(&end, &moved) / NUDGE) } else { f64::INFINITY }
        });
        if amplification >= 1e8 {
            continue;
        }
        let allowed = 1e-12 * amplification;
        let found: Vec<f64> = [&columns.position, &columns.velocity]
            .into_iter()
            .flat_map(|range| outcome.values[range.clone()].to_vec())
            .collect();
        let found_times: Vec<f64> = outcome.impacts.iter().map(|i| i.time).collect();
        assert_eq!(found_times.len(), times.len(), "{start:?}: {found_times:?} instead of {times:?}");
        let error = away(&found, &end).max(away(&found_times, &times));
        assert!(error < allowed, "{start:?}: off by {error:.1e}, amplification {amplification:.1e}");
        compared += 1;
        impacts += times.len();
    }
    assert!(compared > COUNT / 2, "only {compared} of {COUNT} trajectories are predictable enough");
    assert!(impacts > 100, "only {impacts} impacts");
}
