//! How the cost of every stage grows with the size of the system.

use crate::page::{exponent, short, table};
use crate::stages::{ready, run, shortest};
use crate::{Request, models};
use carom::Options;

struct Point {
    size: usize,
    derive: f64,
    compile: f64,
    ready: f64,
    step: f64,
}

/// Steps counted for the cost of one: the difference of a long and a short run, so the start is not counted.
const STEPS: u64 = 12;

fn measure(text: &str, size: usize, quick: bool) -> Point {
    let repeats = if quick { 2 } else { 3 };
    let ready = ready(text, 1e-15, repeats);
    let options = |steps| Options { until: 1e6, max_steps: steps, ..ready.options.clone() };
    let (short, long) = (options(STEPS), options(2 * STEPS));
    let (mut few, mut many) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..if quick { 4 } else { 12 } {
        few = few.min(shortest(3, || run(&ready.program, &short)).0);
        many = many.min(shortest(3, || run(&ready.program, &long)).0);
    }
    let total = ready.read + ready.derive + ready.compile;
    Point {
        size,
        derive: ready.derive,
        compile: ready.compile,
        ready: total,
        step: (many - few) / STEPS as f64,
    }
}

fn family(title: &str, sizes: &[usize], text: fn(usize) -> String, quick: bool) {
    let points: Vec<Point> = sizes.iter().map(|&n| measure(&text(n), n, quick)).collect();
    let mut rows: Vec<Vec<String>> = points
        .iter()
        .map(|p| {
            vec![
                p.size.to_string(),
                short(p.derive * 1e3),
                short(p.compile * 1e3),
                short(p.ready * 1e3),
                short(p.step * 1e6),
            ]
        })
        .collect();
    let upper = &points[points.len() / 2..];
    let fit = |value: fn(&Point) -> f64| {
        let pairs: Vec<(f64, f64)> = upper.iter().map(|p| (p.size as f64, value(p))).collect();
        format!("n^{:.2}", exponent(&pairs))
    };
    rows.push(vec![
        format!("from {}", upper[0].size),
        fit(|p| p.derive),
        fit(|p| p.compile),
        fit(|p| p.ready),
        fit(|p| p.step),
    ]);
    table(title, &["n", "derive ms", "compile ms", "text to ready ms", "µs per step"], &rows);
}

/// Open chains in both formulations, chains of loops, balls in a row.
pub fn tables(request: &Request) {
    let quick = request.quick;
    let cut = |sizes: &'static [usize], n: usize| if quick { &sizes[..n] } else { sizes };
    family("n-link chain in angles", cut(&[1, 2, 5, 10, 20, 50, 100], 5), models::chain, quick);
    family(
        "n-link chain in places, rods as rows",
        cut(&[1, 2, 5, 10, 20, 50, 100], 6),
        models::absolute_chain,
        quick,
    );
    family("n four-bar loops", cut(&[1, 2, 5, 10, 20, 40], 5), models::loops, quick);
    family("n balls in a row, n − 1 walls", cut(&[2, 5, 10, 20, 50, 100], 4), models::balls, quick);
}
