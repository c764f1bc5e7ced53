//! Single motions: stages, steps and impacts per second, work against error.

use crate::Request;
use crate::page::{short, table};
use crate::stages::{ready, run, shortest};
use carom::gallery;

/// The free double pendulum of the gallery at t = 10: (θ₁, θ₂, θ₁', θ₂') to 20 digits, as `benches/peers/reference.py`
/// computes it with 45-digit arithmetic from the start values rounded to doubles.
#[allow(clippy::excessive_precision)]
pub const EXACT: [f64; 4] =
    [-0.67412383792435107773, 21.034818797866458140, 3.6684475162890630976, 0.36333069866355223862];

fn text(name: &str) -> String {
    gallery::find(name).expect("a model of the gallery").text.to_string()
}

/// Gallery models at their own end time.
pub fn single(request: &Request) {
    let repeats = if request.quick { 5 } else { 30 };
    let mut rows = Vec::new();
    for (name, tolerance) in [
        ("double_pendulum", 1e-15),
        ("double_pendulum_wall", 1e-15),
        ("double_pendulum_wall", 1e-9),
        ("rigid_body_quaternion", 1e-15),
        ("slider_crank", 1e-15),
        ("newtons_cradle", 1e-15),
        ("galperin_blocks", 1e-15),
        ("jack_in_box", 1e-15),
        ("jack_in_box", 1e-10),
    ] {
        let ready = ready(&text(name), tolerance, if request.quick { 2 } else { 5 });
        let (seconds, motion) = shortest(repeats, || run(&ready.program, &ready.options));
        let (steps, impacts) = (motion.audit.steps as f64, motion.impacts.len() as f64);
        rows.push(vec![
            name.to_string(),
            format!("{tolerance:.0e}"),
            short(ready.derive * 1e3),
            short(ready.compile * 1e3),
            short(seconds * 1e6),
            short(steps),
            short(impacts),
            short(steps / seconds),
            if impacts > 0.0 { short(impacts / seconds) } else { "-".into() },
            short(motion.stop.time / seconds),
        ]);
    }
    let head = [
        "model",
        "tolerance",
        "derive ms",
        "compile ms",
        "run µs",
        "steps",
        "impacts",
        "steps/s",
        "impacts/s",
        "× real time",
    ];
    table("One motion", &head, &rows);
}

/// The free double pendulum to t = 10 at many tolerances.
pub fn curve(request: &Request) {
    let repeats = if request.quick { 20 } else { 200 };
    let mut rows = Vec::new();
    for k in 4..=15 {
        let tolerance = 10_f64.powi(-k);
        let mut ready = ready(&text("double_pendulum"), tolerance, 1);
        ready.options.until = 10.0;
        let (seconds, motion) = shortest(repeats, || run(&ready.program, &ready.options));
        let signals = motion.position.iter().chain(&motion.velocity);
        let end = signals.map(|s| s.values.last().copied().unwrap_or(f64::NAN));
        let error = end.zip(EXACT).map(|(x, e)| (x - e).abs()).fold(0.0, f64::max);
        rows.push(vec![
            format!("1e-{k:02}"),
            format!("{error:.1e}"),
            short(seconds * 1e6),
            motion.audit.steps.to_string(),
            format!("{:.1e}", motion.audit.hamiltonian_drift),
        ]);
    }
    table(
        "Work against error: free double pendulum, t = 10",
        &["tolerance", "error", "run µs", "steps", "energy error"],
        &rows,
    );
}
