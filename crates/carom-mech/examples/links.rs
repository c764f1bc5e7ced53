//! How long it takes to derive a planar n-link pendulum with a wall on its last bob, impact law included.
//!
//! `cargo run --release -p carom-mech --example links` prints n, the processor time, and the exponent fitted
//! over the larger half of the table.

#[path = "../tests/support/mod.rs"]
mod support;

use carom_expr::{Expr, Function};
use carom_mech::{Dynamics, Model, Physics, derive};
use cpu_time::ThreadTime;
use std::time::Duration;
use support::{model, wall};

/// n bobs at xᵢ = Σ_{j≤i} lⱼ sin θⱼ, yᵢ = −Σ lⱼ cos θⱼ, written through their Cartesian velocities.
fn chain(n: usize) -> Model {
    let names: Vec<String> = (1..=n).map(|i| format!("theta{i}")).collect();
    let coordinates: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut parameters: Vec<(String, f64)> = Vec::new();
    for i in 1..=n {
        parameters.push((format!("m{i}"), 1.0));
        parameters.push((format!("l{i}"), 1.0));
    }
    parameters.push(("g".to_string(), 9.81));
    let parameters: Vec<(&str, f64)> = parameters.iter().map(|(n, x)| (n.as_str(), *x)).collect();
    let mut m = model(&coordinates, &parameters);
    let d = &mut m.dag;
    let g = d.symbol("g");
    let (mut x, mut y, mut vx, mut vy) = (d.zero(), d.zero(), d.zero(), d.zero());
    let (mut kinetic, mut potential): (Vec<Expr>, Vec<Expr>) = (Vec::new(), Vec::new());
    let half = d.rational(1, 2);
    for i in 1..=n {
        let [q, v, l, mass] = [format!("theta{i}"), format!("theta{i}'"), format!("l{i}"), format!("m{i}")]
            .map(|name| d.symbol(&name));
        let (sin, cos) = (d.function(Function::Sin, &[q]), d.function(Function::Cos, &[q]));
        let (dx, dy) = (d.mul(l, sin), d.mul(l, cos));
        let (dvx, dvy) = (d.product(&[l, cos, v]), d.product(&[l, sin, v]));
        (x, y) = (d.add(x, dx), d.sub(y, dy));
        (vx, vy) = (d.add(vx, dvx), d.add(vy, dvy));
        let (sx, sy) = (d.powi(vx, 2), d.powi(vy, 2));
        let speed = d.add(sx, sy);
        kinetic.push(d.product(&[half, mass, speed]));
        potential.push(d.product(&[mass, g, y]));
    }
    let (kinetic, potential) = (d.sum(&kinetic), d.sum(&potential));
    m.physics = Physics::Energies { kinetic, potential };
    m.start.position = (0..n).map(|i| Some(0.3 + 0.1 * i as f64)).collect();
    wall(&mut m, "right", x);
    m
}

fn main() {
    println!("{:>4} {:>12} {:>10} {:>10}", "n", "derive [ms]", "nodes", "equations");
    let mut points = Vec::new();
    for n in [1, 2, 3, 4, 6, 8, 10, 14, 20, 28, 40] {
        let model = chain(n);
        let mut sizes = (0, 0);
        let (mut count, mut total) = (0u32, Duration::ZERO);
        // The clock ticks every few milliseconds: count how often a fifth of a second suffices.
        while total < Duration::from_millis(200) {
            let model = model.clone();
            let before = ThreadTime::now();
            let Ok(mechanics) = derive(model) else { return };
            total += before.elapsed();
            count += 1;
            let Dynamics::Lagrangian(l) = &mechanics.dynamics else { return };
            let mut roots: Vec<Expr> = l.mass_matrix.iter().flatten().chain(&l.bias).copied().collect();
            roots.extend(&mechanics.walls[0].normal);
            sizes = (mechanics.model.dag.len(), mechanics.model.dag.reachable(&roots).len());
        }
        let best = total.as_secs_f64() * 1e3 / f64::from(count);
        println!("{n:>4} {best:>12.3} {:>10} {:>10}", sizes.0, sizes.1);
        points.push(((n as f64).ln(), best.ln()));
    }
    let tail = &points[points.len() / 2..];
    let count = tail.len() as f64;
    let (mx, my) =
        (tail.iter().map(|p| p.0).sum::<f64>() / count, tail.iter().map(|p| p.1).sum::<f64>() / count);
    let slope = tail.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum::<f64>()
        / tail.iter().map(|p| (p.0 - mx).powi(2)).sum::<f64>();
    println!("time ~ n^{slope:.2}");
}
