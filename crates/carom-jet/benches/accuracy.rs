//! Work against trajectory error: the free double pendulum from 100 random starts. `cargo bench -p carom-jet --bench accuracy`
//!
//! ```text
//! error = max over (a, b, u, w) of |computed − exact|,  median over the starts, at t = 5 and t = 10
//! ```
//!
//! The exact ends come from double-double series written apart from the engine (`exact.rs`), checked against the 45 digits of
//! `benches/peers/reference.py`. The energy error (in units of |T| + |V|, about 30) stands beside it: it says little about
//! where the pendulum is. With the word `orders`: other orders N and parts ε left out by a step, to see what the rule of
//! `Taylor` is worth. With `parts`: where the error at round-off comes from. With `exact`: the exact ends as a table, for
//! `benches/peers/exact.csv`.

mod exact;
#[allow(dead_code)]
mod systems;

use carom_expr::Dag;
use carom_jet::{Extent, Flow, Remainder, Tape, Taylor, Time};
use exact::{Double2, at, ends, series};
use std::time::Instant;

const G: f64 = 9.81;
const TIMES: [f64; 2] = [5.0, 10.0];
const STARTS: usize = 100;
/// Where the first start of `benches/peers/constants.py` leads, free and against the wall, from `reference.py`.
const FREE: [f64; 4] =
    [-0.674_123_837_924_351_1, 21.034_818_797_866_458, 3.668_447_516_289_063, 0.363_330_698_663_552_2];
const WALL: [f64; 4] =
    [-0.283_447_103_433_170_28, -0.109_161_657_518_098_46, 5.866_552_291_709_897, -0.594_258_951_708_881_6];

/// At rest on the free side of the wall, both angles within (−3, 3).
fn starts() -> Vec<[f64; 4]> {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        6.0 * (seed >> 11) as f64 / (1_u64 << 53) as f64 - 3.0
    };
    std::iter::repeat_with(|| [random(), random(), 0.0, 0.0])
        .filter(|x| x[0].sin() + x[1].sin() + 0.5 > 0.01)
        .take(STARTS)
        .collect()
}

/// What is exact in a step, to see what the rest costs.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Part {
    /// Nothing: as runs are. What is added to the state is the engine's, the sum is carried as a pair of doubles.
    Engine,
    /// The state is rounded to doubles after every step.
    Rounded,
    /// All but truncation.
    OnlyTruncation,
    /// All but truncation and the pair: series of the double, exact.
    ExactSeries,
}

struct Outcome {
    ends: Vec<[f64; 4]>,
    steps: u32,
}

fn run(part: Part, flow: &mut Flow, taylor: &Taylor, start: [f64; 4]) -> Outcome {
    let (mut x, mut low, mut t) = (start, [0.0; 4], Time::new(0.0));
    let (mut extent, mut remainder) = (Extent::new(4, 1), Remainder::default());
    let mut outcome = Outcome { ends: Vec::new(), steps: 0 };
    for end in TIMES.map(Time::new) {
        while t < end {
            flow.jet(t, &x).expect("a regular mass matrix");
            let natural = taylor.step_size(flow, &extent);
            extent.see(flow, natural);
            let h = natural.min(end.minus(t));
            match part {
                Part::Engine => {
                    flow.carry(remainder.of(&x));
                    remainder.advance(flow, h, None, &mut x);
                }
                Part::Rounded => flow.state_at(h, &mut x),
                Part::OnlyTruncation | Part::ExactSeries => {
                    let kept = if part == Part::OnlyTruncation { low } else { [0.0; 4] };
                    let rows = series([0, 1, 2, 3].map(|i| Double2(x[i], kept[i])), taylor.order, G);
                    let there = [0, 1, 2, 3].map(|i| {
                        at(&rows[i], h.into()) + if part == Part::ExactSeries { low[i] } else { 0.0 }.into()
                    });
                    (x, low) = (there.map(|d| d.0), there.map(|d| d.1));
                }
            }
            t = t.plus(h);
            outcome.steps += 1;
        }
        outcome.ends.push(x);
    }
    outcome
}

fn energy(x: &[f64; 4]) -> f64 {
    let kinetic = x[2] * x[2] + 0.5 * x[3] * x[3] + x[2] * x[3] * (x[0] - x[1]).cos();
    kinetic - G * (2.0 * x[0].cos() + x[1].cos())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

struct Bench {
    starts: Vec<[f64; 4]>,
    exact: Vec<Vec<[Double2; 4]>>,
    tape: std::sync::Arc<Tape>,
}

impl Bench {
    fn new() -> Bench {
        let mut dag = Dag::new();
        let system = systems::chain(&mut dag, 2);
        let tape = Tape::compile(&dag, &system).expect("compiles");
        let pi = std::f64::consts::PI;
        for (wall, reference) in [(false, FREE), (true, WALL)] {
            let (known, _) = ends([3.0 * pi / 7.0, 3.0 * pi / 4.0, 0.0, 0.0], G, &[10.0], wall);
            for (end, wanted) in known[0].iter().zip(reference) {
                assert!(
                    (end.value() - wanted).abs() <= 4.0 * f64::EPSILON * wanted.abs(),
                    "{end:?} {wanted}"
                );
            }
        }
        let starts = starts();
        let exact = starts.iter().map(|start| ends(*start, G, &TIMES, false).0).collect();
        Bench { starts, exact, tape }
    }

    /// (median errors at the times, median energy error at the last, steps per trajectory, shortest µs per trajectory)
    fn measure(&self, part: Part, taylor: &Taylor) -> ([f64; 2], f64, f64, f64) {
        let mut flow = Flow::new(self.tape.clone(), taylor.order);
        flow.set_parameters(&[G]);
        let (mut errors, mut energies, mut steps, mut seconds) = ([vec![], vec![]], vec![], 0, 0.0);
        for (start, exact) in self.starts.iter().zip(&self.exact) {
            let repeats = if part == Part::Engine { 12 } else { 1 };
            let mut best = f64::INFINITY;
            let mut outcome = None;
            for _ in 0..repeats {
                let begin = Instant::now();
                outcome = Some(run(part, &mut flow, taylor, *start));
                best = best.min(begin.elapsed().as_secs_f64());
            }
            let outcome = outcome.expect("at least once");
            for ((errors, end), exact) in errors.iter_mut().zip(&outcome.ends).zip(exact) {
                let difference = end.iter().zip(exact).map(|(x, y)| (Double2::from(*x) - *y).value().abs());
                errors.push(difference.fold(0.0, f64::max));
            }
            energies.push((energy(&outcome.ends[1]) - energy(start)).abs() / 30.0);
            (steps, seconds) = (steps + outcome.steps, seconds + best);
        }
        let count = self.starts.len() as f64;
        (errors.map(median), median(energies), f64::from(steps) / count, seconds / count * 1e6)
    }

    fn line(&self, name: &str, part: Part, taylor: &Taylor) {
        let ([five, ten], energy, steps, micros) = self.measure(part, taylor);
        println!(
            "| {name:<24} | {:>5} | {five:.1e} | {ten:.1e} | {energy:.1e} | {steps:>6.1} | {micros:>7.1} |",
            taylor.order
        );
    }
}

/// The starts and where they lead, as the table `benches/peers/exact.csv`.
fn print_exact() {
    println!("wall,time,impacts,theta1,theta2,end1,end2,rate1,rate2");
    for wall in [false, true] {
        for start in starts() {
            for time in TIMES {
                let (states, impacts) = ends(start, G, &[time], wall);
                let end = states[0].map(|x| format!("{:e}", x.value())).join(",");
                println!("{},{time},{impacts},{:e},{:e},{end}", u8::from(wall), start[0], start[1]);
            }
        }
    }
}

fn head(title: &str) {
    println!("\n**{title}**\n");
    println!("| what                     | order | t = 5   | t = 10  | energy  |  steps |      µs |");
    println!("| ------------------------ | ----: | ------: | ------: | ------: | -----: | ------: |");
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let wanted = |part: &str| words.iter().any(|w| w == part);
    if wanted("exact") {
        return print_exact();
    }
    let bench = Bench::new();
    head("Free double pendulum, 100 random starts: median trajectory error, median energy error at t = 10");
    for tolerance in [1e-4, 1e-6, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15] {
        bench.line(&format!("tolerance {tolerance:.0e}"), Part::Engine, &Taylor::new(tolerance));
    }
    if wanted("parts") {
        head("The default tolerance, with parts of a step made exact");
        for part in [Part::Engine, Part::Rounded, Part::ExactSeries, Part::OnlyTruncation] {
            bench.line(&format!("{part:?}"), part, &Taylor::new(1e-15));
        }
    }
    if wanted("orders") {
        head("Other orders and parts left out");
        for left_out in [2.5e-12_f64, 2.5e-14, 2.2e-16, 1.1e-16, 5.6e-17, 2.8e-17, 1.4e-17] {
            for order in [16, 20, 24, 28, 32] {
                let factor = left_out.powf(1.0 / (order as f64 + 1.0));
                let taylor = Taylor { order, factor, ..Taylor::new(1e-15) };
                bench.line(&format!("left out {left_out:.1e}"), Part::Engine, &taylor);
            }
        }
    }
}
