//! Derivation time of the planar n-link pendulum against n: `cargo run --release -p carom-expr --example chain`,
//! with other n as arguments if wanted.
//!
//! T is built from Cartesian positions xᵢ = Σ lⱼ sin θⱼ, yᵢ = −Σ lⱼ cos θⱼ and simplified; then come the mass matrix
//! W = ∂²T/∂v², the bias by Christoffel symbols with gravity, and the rows of the impact law for a wall on the last
//! bob. The best of several runs is printed, stage by stage, and the exponent of growth between neighbouring n.

use carom_expr::{Dag, Expr, Function, Rational, Style};
use std::time::Instant;

const STAGES: [&str; 6] = ["build", "energy", "mass", "bias", "wall", "all"];

fn main() {
    println!("{:>3} {}  nodes  growth", "n", STAGES.map(|stage| format!("{stage:>8}")).join(""));
    let mut last: Option<(usize, f64)> = None;
    let asked: Vec<usize> = std::env::args().skip(1).filter_map(|n| n.parse().ok()).collect();
    let default = [1, 2, 3, 6, 10, 20, 30];
    for n in if asked.is_empty() { default.to_vec() } else { asked } {
        let mut best = [f64::INFINITY; 6];
        let mut nodes = 0;
        for _ in 0..9 {
            let (times, dag) = derive(n, false);
            nodes = dag.len();
            for (best, time) in best.iter_mut().zip(times) {
                *best = best.min(time);
            }
        }
        let columns = best.map(|t| format!("{:>8.3}", 1e3 * t)).join("");
        let growth = match last {
            Some((m, before)) => format!("{:.2}", (best[5] / before).ln() / (n as f64 / m as f64).ln()),
            None => String::new(),
        };
        println!("{n:>3} {columns}  {nodes:>5}  {growth:>6}   ms");
        last = Some((n, best[5]));
    }
    derive(2, true);
}

/// Seconds per stage, and the store at the end.
fn derive(n: usize, print: bool) -> ([f64; 6], Dag) {
    let start = Instant::now();
    let mut dag = Dag::new();
    let mut named = |name: &str| -> Vec<Expr> {
        (1..=n).map(|i| dag.symbol(&name.replace('#', &i.to_string()))).collect()
    };
    let (q, v, m, l) = (named("theta#"), named("theta#'"), named("m#"), named("l#"));
    let g = dag.symbol("g");
    let (mut xs, mut ys) = (Vec::new(), Vec::new());
    let (mut kinetic, mut potential) = (Vec::new(), Vec::new());
    let mut gap = dag.zero();
    for i in 0..n {
        let (sin, cos) = (dag.function(Function::Sin, &[q[i]]), dag.function(Function::Cos, &[q[i]]));
        let cos = dag.neg(cos);
        xs.push(dag.mul(l[i], sin));
        ys.push(dag.mul(l[i], cos));
        let (x, y) = (dag.sum(&xs), dag.sum(&ys));
        let squares = [x, y].map(|position| {
            let mut rate = Vec::new();
            for (&q, &v) in q.iter().zip(&v) {
                let d = dag.derivative(position, q);
                rate.push(dag.mul(d, v));
            }
            let rate = dag.sum(&rate);
            dag.powi(rate, 2)
        });
        let square = dag.sum(&squares);
        let energy = dag.mul(m[i], square);
        kinetic.push(dag.scale(Rational::HALF, energy));
        potential.push(dag.product(&[m[i], g, y]));
        gap = x;
    }
    let (kinetic, potential) = (dag.sum(&kinetic), dag.sum(&potential));
    let built = start.elapsed().as_secs_f64();

    let energies = dag.simplify_all(&[kinetic, potential]);
    let (kinetic, potential) = (energies[0], energies[1]);
    let simplified = start.elapsed().as_secs_f64();

    let mut mass: Vec<Vec<Expr>> = Vec::new();
    for i in 0..n {
        let p = dag.derivative(kinetic, v[i]);
        let row: Vec<Expr> = v[..=i].iter().map(|&v| dag.derivative(p, v)).collect();
        mass.push(dag.simplify_all(&row));
    }
    let entry = |mass: &Vec<Vec<Expr>>, i: usize, j: usize| mass[i.max(j)][i.min(j)];
    let massed = start.elapsed().as_secs_f64();

    // hᵢ = Σ (∂Wᵢⱼ/∂qₖ − ½ ∂Wⱼₖ/∂qᵢ) vⱼ vₖ + ∂V/∂qᵢ
    let mut bias = Vec::new();
    for i in 0..n {
        let mut terms = vec![(Rational::ONE, dag.derivative(potential, q[i]))];
        for j in 0..n {
            for k in 0..n {
                let first = dag.derivative(entry(&mass, i, j), q[k]);
                let second = dag.derivative(entry(&mass, j, k), q[i]);
                for (c, d) in [(Rational::ONE, first), (Rational::new(-1, 2).unwrap(), second)] {
                    if !dag.is_zero(d) {
                        terms.push((c, dag.product(&[d, v[j], v[k]])));
                    }
                }
            }
        }
        bias.push(dag.linear(Rational::ZERO, &terms));
    }
    let bias = dag.simplify_all(&bias);
    let biased = start.elapsed().as_secs_f64();

    let normal: Vec<Expr> = q.iter().map(|&q| dag.derivative(gap, q)).collect();
    let rates: Vec<Expr> = normal.iter().zip(&v).map(|(&n, &v)| dag.mul(n, v)).collect();
    let rate = dag.sum(&rates);
    let mut second = Vec::new();
    for (&q, &v) in q.iter().zip(&v) {
        let d = dag.derivative(rate, q);
        second.push(dag.mul(d, v));
    }
    let second = dag.sum(&second);
    let mut wall = normal.clone();
    wall.extend([rate, second]);
    dag.simplify_all(&wall);
    let done = start.elapsed().as_secs_f64();

    if print {
        println!("\nT  = {}", dag.print(kinetic, Style::Text));
        println!("V  = {}", dag.print(potential, Style::Text));
        for i in 0..n {
            println!(
                "W{} = {}",
                i + 1,
                mass[i].iter().map(|&w| dag.print(w, Style::Text)).collect::<Vec<_>>().join(", ")
            );
            println!("h{} = {}", i + 1, dag.print(bias[i], Style::Text));
        }
        let matrix: Vec<Vec<Expr>> = (0..n).map(|i| (0..n).map(|j| entry(&mass, i, j)).collect()).collect();
        let rhs: Vec<Expr> = bias.iter().map(|&h| dag.neg(h)).collect();
        for (i, a) in dag.solve_small(&matrix, &rhs).into_iter().flatten().enumerate() {
            println!("a{} = {}", i + 1, dag.print(a, Style::Text));
        }
    }
    let times = [built, simplified - built, massed - simplified, biased - massed, done - biased, done];
    (times, dag)
}
