//! How the cost of every stage grows with the size of the system.

use crate::page::{exponent, short, table};
use crate::stages::{ready, run, shortest};
use crate::{Request, models};
use carom_run::Options;

struct Point {
    size: usize,
    derive: f64,
    compile: f64,
    ready: f64,
    step: f64,
}

/// Steps of the short run.
const FEW: u64 = 5;
/// Steps of the long run. The cost of one is the difference, so that the start is not counted.
const MANY: u64 = 65;

fn measure(text: &str, size: usize, quick: bool) -> Point {
    let ready = ready(text, 1e-15, if quick { 2 } else { 3 });
    let options = |steps| Options { until: 1e6, max_steps: steps, ..ready.options.clone() };
    let (short, long) = (options(FEW), options(MANY));
    let (mut few, mut many, mut spent, mut between) = (f64::INFINITY, f64::INFINITY, 0.0, 0);
    // The two take turns; three times at least, then until the time is up.
    for round in 0..60 {
        let [(a, less), (b, more)] =
            [&short, &long].map(|options| shortest(1, || run(&ready.program, options)));
        (few, many, spent) = (few.min(a), many.min(b), spent + a + b);
        // Balls have no more to do once all have collided.
        between = more.audit.steps - less.audit.steps;
        if round >= 2 && spent > if quick { 0.15 } else { 1.0 } {
            break;
        }
    }
    let total = ready.read + ready.derive + ready.compile;
    let step = if between > FEW { (many - few) / between as f64 } else { f64::NAN };
    Point { size, derive: ready.derive, compile: ready.compile, ready: total, step }
}

fn family(title: &str, sizes: &[usize], name: &str, quick: bool) {
    let points: Vec<Point> = sizes.iter().map(|&n| measure(&models::text(name, n), n, quick)).collect();
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
    let families: [(&str, &str, &[usize], usize); 4] = [
        ("chain", "n-link chain in angles", &[1, 2, 5, 10, 20, 50, 100], 5),
        ("places", "n-link chain in places, rods as rows", &[1, 2, 5, 10, 20, 50, 100], 6),
        ("loops", "n four-bar loops", &[1, 2, 5, 10, 20, 40], 5),
        ("balls", "n balls in a row, n − 1 walls", &[2, 5, 10, 20, 50, 100], 4),
    ];
    for (name, title, sizes, few) in families {
        if request.wants(&["growth", name]) {
            let sizes = if request.quick { &sizes[..few] } else { sizes };
            family(title, sizes, name, request.quick);
        }
    }
}
