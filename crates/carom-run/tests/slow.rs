//! Long runs.

#![allow(clippy::excessive_precision)]

mod common;

use carom_run::{Sampling, StopReason, simulate};
use common::{close, program, run, signal};

#[test]
fn slow_a_pendulum_with_a_rod_stays_on_its_circle_for_a_million_time_units() {
    let text = "coordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"y\"\n[holonomic]\nrod = \"x^2 + y^2 - 1\"\n[start]\nposition = { x = \"sin(1)\", y = \"-cos(1)\" }\n[run]\nuntil = 1e6\n";
    let (program, mut options) = program(text);
    options.sampling = Sampling::Even(2001);
    let motion = simulate(&program, &options).unwrap();
    assert_eq!(motion.stop.reason, StopReason::Reached);
    let (x, y) = (signal(&motion.position, "x"), signal(&motion.position, "y"));
    let (vx, vy) = (signal(&motion.velocity, "x"), signal(&motion.velocity, "y"));
    for k in 0..x.len() {
        close(x[k] * x[k] + y[k] * y[k], 1.0, 1e-13);
        close(2.0 * (x[k] * vx[k] + y[k] * vy[k]), 0.0, 1e-13);
    }
    println!("{:?}", motion.audit);
    // Row terms are at most 2: relative 5e-14 is 1e-13.
    assert!(motion.audit.constraint_drift < 5e-14, "{:?}", motion.audit);
    assert!(motion.audit.hamiltonian_drift < 1e-9, "{:?}", motion.audit);
}

#[test]
fn slow_galperins_heaviest_block_counts_31415() {
    let motion = run(
        "coordinates = [\"x\", \"X\"]\n[parameters]\nM = 1e8\n[energy]\nkinetic = \"x'^2/2 + M/2*X'^2\"\npotential = \"0\"\n[wall.wall]\ngap = \"x\"\n[wall.blocks]\ngap = \"X - x\"\n[start]\nposition = { x = 1.0, X = 2.0 }\nvelocity = { X = -1.0 }\n[run]\nuntil = 1000.0\nsamples = 2\n",
    );
    assert_eq!(motion.impacts.len(), 31415, "{:?}", motion.stop);
}
