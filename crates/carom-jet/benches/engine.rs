//! One table: cost of compilation, jets, steps and trajectories, and the share of the processor's peak multiply–add rate that
//! a batch reaches. `cargo bench -p carom-jet --bench engine`
#![allow(unsafe_code)]

#[allow(dead_code)]
mod systems;

use carom_expr::Dag;
use carom_jet::{
    Arithmetic, BatchAudit, Ensemble, Extent, Flow, Handler, Instructions, LaneStart, LaneStep, Leave, Level,
    Monitors, Remainder, StepVerdict, System, Tape, Taylor, Time, horner,
};
use cpu_time::ThreadTime;
use std::time::Instant;

/// Seconds this thread has been on a processor: other load on the machine does not count.
fn cpu_seconds() -> f64 {
    ThreadTime::now().as_duration().as_secs_f64()
}

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

fn energy(x: &[f64]) -> f64 {
    let kinetic = x[2] * x[2] + 0.5 * x[3] * x[3] + x[2] * x[3] * (x[0] - x[1]).cos();
    kinetic - 9.81 * (2.0 * x[0].cos() + x[1].cos())
}

/// The earliest root of the gap in (0, h], by marching and bisection: good enough to time, not to trust.
fn hit(gap: &[f64], h: f64, touching: bool) -> Option<f64> {
    let lowest = gap.iter().skip(1).rev().fold(0.0_f64, |s, c| (s + c.min(0.0)) * h) + gap[0];
    if lowest > 0.0 && !touching {
        return None;
    }
    let pieces = 16;
    let at = |i: i32| h * f64::from(i) / f64::from(pieces);
    let first = (if touching { 2 } else { 1 }..=pieces).find(|&i| horner(gap, at(i)) < 0.0)?;
    let (mut a, mut b) = (at(first - 1), at(first));
    for _ in 0..52 {
        let s = 0.5 * (a + b);
        if horner(gap, s) < 0.0 { b = s } else { a = s }
    }
    Some(a)
}

/// The elastic impact with the wall on x₂.
fn reflect(x: &mut [f64]) {
    let (n, c) = ([x[0].cos(), x[1].cos()], (x[0] - x[1]).cos());
    let det = 2.0 - c * c;
    let w = [(n[0] - c * n[1]) / det, (2.0 * n[1] - c * n[0]) / det];
    let u = n[0] * x[2] + n[1] * x[3];
    let lambda = -2.0 * u / (n[0] * w[0] + n[1] * w[1]);
    x[2] += lambda * w[0];
    x[3] += lambda * w[1];
}

/// Double pendulum against the wall x₂ ≥ −1/2 to t = 10, elastic; returns steps, impacts and energy error.
fn trajectory(flow: &mut Flow, taylor: &Taylor, start: &[f64; 4]) -> (u32, u32, f64) {
    let mut x = *start;
    let before = energy(&x);
    let (mut t, end) = (Time::new(0.0), Time::new(10.0));
    let (mut steps, mut impacts, mut touching) = (0, 0, false);
    let mut extent = Extent::new(4, 1);
    let mut remainder = Remainder::default();
    while t < end {
        flow.jet(t, &x).unwrap();
        let natural = taylor.step_size(flow, &extent);
        extent.see(flow, natural);
        let mut h = natural.min(end.minus(t));
        let root = hit(flow.watched(0), h, touching);
        h = root.unwrap_or(h);
        flow.carry(remainder.of(&x));
        remainder.advance(flow, h, None, &mut x);
        touching = root.is_some();
        if touching {
            reflect(&mut x);
            impacts += 1;
        }
        t = t.plus(h);
        steps += 1;
    }
    (steps, impacts, (energy(&x) - before).abs() / 30.0)
}

/// Random starts of the same system through the lanes.
struct Sweep {
    count: usize,
    next: usize,
    seed: u64,
    start_energy: [f64; 8],
    touching: [bool; 8],
    gap: Vec<f64>,
    impacts: usize,
    worst: f64,
}

impl Handler for Sweep {
    fn next(&mut self, lane: usize, start: &mut LaneStart) -> bool {
        if self.next == self.count {
            return false;
        }
        self.next += 1;
        let mut random = || {
            self.seed ^= self.seed << 13;
            self.seed ^= self.seed >> 7;
            self.seed ^= self.seed << 17;
            (self.seed >> 11) as f64 / (1_u64 << 53) as f64
        };
        loop {
            let x = [6.0 * random() - 3.0, 6.0 * random() - 3.0, 2.0 * random() - 1.0, 2.0 * random() - 1.0];
            if x[0].sin() + x[1].sin() > -0.49 {
                start.state.copy_from_slice(&x);
                break;
            }
        }
        start.parameters.copy_from_slice(&[9.81]);
        start.audit.sides.fill(1.0);
        (start.time, start.end) = (Time::new(0.0), Time::new(10.0));
        self.start_energy[lane] = energy(&start.state);
        self.touching[lane] = false;
        true
    }
    fn attend(&mut self, lane: usize, step: &mut LaneStep<'_>) -> StepVerdict {
        step.watched(0, &mut self.gap);
        let root = hit(&self.gap, step.size, self.touching[lane]);
        self.touching[lane] = root.is_some();
        // The step after an impact starts at a zero of the gap and is looked at as well.
        step.audit.sides.fill(if root.is_some() { 0.0 } else { 1.0 });
        let Some(h) = root else { return StepVerdict::Pass };
        step.time = step.time.plus(h);
        let mut x = [0.0; 4];
        let mut low = step.pair_at(h, &mut x);
        let before = x;
        reflect(&mut x);
        // What was left out of a velocity before the impact is not left out of the one after.
        low.iter_mut()
            .zip(before.iter().zip(&x))
            .for_each(|(low, (a, b))| *low = if a == b { *low } else { 0.0 });
        step.audit.low.copy_from_slice(&low);
        step.after.copy_from_slice(&x);
        self.impacts += 1;
        StepVerdict::Cut
    }
    fn leave(&mut self, lane: usize, why: Leave, _: Time, state: &[f64], _: &BatchAudit) {
        assert_eq!(why, Leave::Reached);
        self.worst = self.worst.max((energy(state) - self.start_energy[lane]).abs() / 30.0);
    }
}

fn main() {
    // Words after `--` choose parts of the table: jets, single, lanes.
    let words: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let wanted = |part: &str| words.is_empty() || words.iter().any(|w| w == part);
    if wanted("jets") {
        jets();
    }
    if wanted("single") {
        single();
    }
    if wanted("lanes") {
        lanes();
    }
}

fn double_pendulum() -> std::sync::Arc<Tape> {
    let mut dag = Dag::new();
    let system = systems::chain(&mut dag, 2);
    Tape::compile(&dag, &system).unwrap()
}

fn jets() {
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
}

fn single() {
    println!("\ndouble pendulum against a wall to t = 10");
    let tape = double_pendulum();
    let pi = std::f64::consts::PI;
    let start = [3.0 * pi / 7.0, 3.0 * pi / 4.0, 0.0, 0.0];
    let levels = [
        (Instructions::Avx512, Arithmetic::Fused),
        (Instructions::Avx2, Arithmetic::Fused),
        (Instructions::Interpreter, Arithmetic::Fused),
        (Instructions::Interpreter, Arithmetic::Plain),
        (Instructions::Portable, Arithmetic::Plain),
    ];
    for tolerance in [1e-6, 1e-9, 1e-12, 1e-15] {
        let taylor = Taylor::new(tolerance);
        // What machine code takes, if there is any: the best comes first.
        let mut code: Option<f64> = None;
        for (instructions, arithmetic) in levels {
            let Ok(level) = Level::choose(Some(instructions), Some(arithmetic)) else {
                println!("not executed here: {instructions}");
                continue;
            };
            let mut flow = Flow::new(tape.clone(), taylor.order).with(level);
            flow.set_parameters(&[9.81]);
            let (steps, impacts, error) = trajectory(&mut flow, &taylor, &start);
            let seconds = shortest(|| {
                trajectory(&mut flow, &taylor, &start);
            });
            let code = *code.get_or_insert(seconds);
            println!(
                "tolerance {tolerance:.0e}, order {:>2}, {instructions}, {arithmetic}: {:>8.1} µs ({:.2} times the best), {steps} steps, {impacts} impacts, energy error {error:.1e}",
                taylor.order,
                seconds * 1e6,
                seconds / code
            );
        }
    }
}

fn lanes() {
    let tape = double_pendulum();
    println!("\n10000 random starts of the same, in lanes");
    for instructions in [Instructions::Avx512, Instructions::Avx2, Instructions::Interpreter] {
        let Ok(level) = Level::choose(Some(instructions), Some(Arithmetic::Fused)) else {
            println!("not executed here: {instructions}");
            continue;
        };
        // The interpreter uses the best vectors there are.
        let peak = peak(instructions == Instructions::Avx2);
        for tolerance in [1e-9, 1e-15] {
            lanes_at(&tape, level, Taylor::new(tolerance), peak);
        }
    }
}

fn lanes_at(tape: &std::sync::Arc<Tape>, level: Level, taylor: Taylor, peak: f64) {
    let mut ensemble = Ensemble::with(level, tape.clone(), taylor, Monitors::default());
    let (mut best, mut line) = (f64::INFINITY, String::new());
    // Many short runs: some of them are undisturbed.
    for _ in 0..20 {
        let count = 500;
        let mut sweep = Sweep {
            count,
            next: 0,
            seed: 0x9e37_79b9_7f4a_7c15,
            start_energy: [0.0; 8],
            touching: [false; 8],
            gap: vec![0.0; taylor.order + 1],
            impacts: 0,
            worst: 0.0,
        };
        let begin = cpu_seconds();
        let steps = ensemble.run(&mut sweep);
        let seconds = cpu_seconds() - begin;
        if seconds < best {
            best = seconds;
            let operations = tape.multiply_adds(taylor.order);
            line = format!(
                "{} lanes, order {}: {:.0} trajectories per CPU second, {:.1} ns per step; {operations} multiply–adds per step, {:.0} % of the peak of {:.1}·10⁹ per second; {} impacts, worst energy error {:.1e}",
                ensemble.lanes(),
                taylor.order,
                count as f64 / seconds,
                seconds * 1e9 / steps as f64,
                100.0 * operations as f64 * steps as f64 / seconds / peak,
                peak * 1e-9,
                sweep.impacts,
                sweep.worst
            );
        }
    }
    println!("{}, {line}", level.instructions());
}

/// Multiply–adds of doubles per second that the processor reaches with nothing else to do: ten chains in registers.
fn peak(of_avx2: bool) -> f64 {
    const ROUNDS: usize = 20_000;
    let (doubles, run) = chains_of(of_avx2);
    (10 * doubles * ROUNDS) as f64 / shortest(|| run(ROUNDS))
}

/// Chains with the vectors of the processor, and how many doubles these have.
#[cfg(target_arch = "x86_64")]
fn chains_of(of_avx2: bool) -> (usize, fn(usize)) {
    if !of_avx2 && is_x86_feature_detected!("avx512f") {
        // SAFETY: just detected.
        (8, |rounds| unsafe { chains_avx512(rounds) })
    } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: just detected.
        (4, |rounds| unsafe { chains_avx2(rounds) })
    } else {
        (2, chains::<2>)
    }
}

/// The same: vectors of two doubles.
#[cfg(not(target_arch = "x86_64"))]
fn chains_of(_: bool) -> (usize, fn(usize)) {
    (2, chains::<2>)
}

#[inline(always)]
fn chains<const W: usize>(rounds: usize) {
    let factor = std::hint::black_box([0.999_999_f64; W]);
    let mut sums = std::hint::black_box([[1.0_f64; W]; 10]);
    for _ in 0..rounds {
        for sum in &mut sums {
            for (x, f) in sum.iter_mut().zip(&factor) {
                *x = x.mul_add(*f, *f);
            }
        }
    }
    std::hint::black_box(sums);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
fn chains_avx512(rounds: usize) {
    chains::<8>(rounds);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn chains_avx2(rounds: usize) {
    chains::<4>(rounds);
}
