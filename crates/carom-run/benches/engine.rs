//! One table: cost of compilation, jets, steps and trajectories. `cargo bench -p carom-run --bench engine`

mod systems;

use carom_expr::Dag;
use carom_run::engine::{Flow, System, Tape, Taylor, Time};
use std::time::Instant;

/// Shortest of several timings of `run`, in seconds per call.
fn shortest(mut run: impl FnMut()) -> f64 {
    let mut calls = 1_u32;
    loop {
        let start = Instant::now();
        (0..calls).for_each(|_| run());
        if start.elapsed().as_secs_f64() > 2e-3 {
            break;
        }
        calls *= 2;
    }
    (0..20)
        .map(|_| {
            let start = Instant::now();
            (0..calls).for_each(|_| run());
            start.elapsed().as_secs_f64() / f64::from(calls)
        })
        .fold(f64::INFINITY, f64::min)
}

fn start_of(system: &System, absolute: bool) -> Vec<f64> {
    let n = system.state.len() / if absolute { 4 } else { 2 };
    let angles: Vec<f64> = (0..n).map(|i| 1.3 + 0.1 * i as f64).collect();
    let mut state = vec![0.0; system.state.len()];
    if absolute {
        let (mut x, mut y) = (0.0, 0.0);
        for (i, a) in angles.iter().enumerate() {
            x += a.sin();
            y -= a.cos();
            state[2 * i] = x;
            state[2 * i + 1] = y;
        }
    } else {
        state[..n].copy_from_slice(&angles);
    }
    state
}

/// Double pendulum against the wall x₂ ≥ −1/2 to t = 10, elastic; returns steps, impacts and energy error.
fn trajectory(flow: &mut Flow, taylor: &Taylor) -> (u32, u32, f64) {
    let energy = |x: &[f64; 4]| {
        let kinetic = x[2] * x[2] + 0.5 * x[3] * x[3] + x[2] * x[3] * (x[0] - x[1]).cos();
        kinetic - 9.81 * (2.0 * x[0].cos() + x[1].cos())
    };
    let pi = std::f64::consts::PI;
    let mut x = [3.0 * pi / 7.0, 3.0 * pi / 4.0, 0.0, 0.0];
    let before = energy(&x);
    let (mut t, end) = (Time::new(0.0), Time::new(10.0));
    let (mut steps, mut impacts, mut touching) = (0, 0, false);
    while t < end {
        flow.jet(t, &x).unwrap();
        let mut h = taylor.step_size(flow).min(end.minus(t));
        // The earliest root of the gap, by the cheap bound first, then by marching and Newton: good enough to time.
        let gap = flow.watched(0);
        let lowest = gap.iter().skip(1).rev().fold(0.0_f64, |s, c| (s + c.min(0.0)) * h) + gap[0];
        let mut hit = false;
        if lowest <= 0.0 || touching {
            let p = |s: f64| flow.watched_at(0, s);
            let pieces = 32;
            for i in if touching { 2 } else { 1 }..=pieces {
                let mut s = h * f64::from(i) / f64::from(pieces);
                if p(s) < 0.0 {
                    let (mut a, mut b) = (h * f64::from(i - 1) / f64::from(pieces), s);
                    for _ in 0..60 {
                        s = 0.5 * (a + b);
                        if p(s) < 0.0 { b = s } else { a = s }
                    }
                    (h, hit) = (a, true);
                    break;
                }
            }
        }
        let mut y = [0.0; 4];
        flow.state_at(h, &mut y);
        x = y;
        touching = hit;
        if hit {
            let (n, c) = ([x[0].cos(), x[1].cos()], (x[0] - x[1]).cos());
            let det = 2.0 - c * c;
            let w = [(n[0] - c * n[1]) / det, (2.0 * n[1] - c * n[0]) / det];
            let u = n[0] * x[2] + n[1] * x[3];
            let lambda = -2.0 * u / (n[0] * w[0] + n[1] * w[1]);
            x[2] += lambda * w[0];
            x[3] += lambda * w[1];
            impacts += 1;
        }
        t = t.plus(h);
        steps += 1;
    }
    (steps, impacts, (energy(&x) - before).abs() / 30.0)
}

fn main() {
    println!(
        "{:<28}{:>10}{:>8}{:>8}{:>14}{:>12}",
        "system", "compile", "ops", "conv", "jet order 20", "evaluate"
    );
    let mut cases: Vec<(String, bool, usize)> = Vec::new();
    cases.extend([1, 2, 4, 6, 10, 20, 50].map(|n| (format!("chain {n}"), false, n)));
    cases.extend([2, 5, 10, 20, 50, 100].map(|n| (format!("chain {n}, absolute"), true, n)));
    for (name, absolute, n) in cases {
        let mut dag = Dag::new();
        let system =
            if absolute { systems::absolute_chain(&mut dag, n) } else { systems::chain(&mut dag, n) };
        let begin = Instant::now();
        let tape = Tape::compile(&dag, &system).unwrap();
        let mut flow = Flow::new(tape.clone(), 20);
        let compile = begin.elapsed().as_secs_f64();
        flow.set_parameters(&[9.81]);
        let x = start_of(&system, absolute);
        let jet = shortest(|| flow.jet(Time::new(0.0), &x).unwrap());
        let evaluate = shortest(|| flow.evaluate(Time::new(0.0), &x).unwrap());
        let (ops, convolutions) = tape.size();
        println!(
            "{name:<28}{:>7.2} ms{ops:>8}{convolutions:>8}{:>11.3} µs{:>9.3} µs",
            compile * 1e3,
            jet * 1e6,
            evaluate * 1e6
        );
    }
    println!("\ndouble pendulum against a wall to t = 10");
    let mut dag = Dag::new();
    let system = systems::chain(&mut dag, 2);
    let tape = Tape::compile(&dag, &system).unwrap();
    for tolerance in [1e-6, 1e-9, 1e-12, 1e-14, 1e-15] {
        let taylor = Taylor::new(tolerance);
        let mut flow = Flow::new(tape.clone(), taylor.order);
        flow.set_parameters(&[9.81]);
        let (steps, impacts, error) = trajectory(&mut flow, &taylor);
        let seconds = shortest(|| {
            trajectory(&mut flow, &taylor);
        });
        println!(
            "tolerance {tolerance:.0e}, order {:>2}: {:>8.1} µs, {steps} steps, {impacts} impacts, energy error {error:.1e}",
            taylor.order,
            seconds * 1e6
        );
    }
}
