//! Lanes against single runs, bit by bit.

#![allow(clippy::excessive_precision)]

use carom_expr::Dag;
use carom_jet::{
    BatchAudit, Ensemble, Extent, Flow, Handler, LaneStart, LaneStep, Leave, Level, Monitors, Remainder, Rk4,
    StepVerdict, Tape, Taylor, Time,
};
use std::sync::Arc;

#[path = "../benches/systems.rs"]
#[allow(dead_code)]
mod systems;

mod levels;

const END: f64 = 1.5;

/// Starts, and what became of them.
struct Queue {
    starts: Vec<(Vec<f64>, f64)>,
    next: usize,
    in_lane: Vec<usize>,
    ends: Vec<Option<(Leave, Vec<f64>)>>,
    attended: usize,
}

impl Queue {
    fn new(links: usize, absolute: bool, count: usize) -> Queue {
        let start = |i: usize| {
            let x: Vec<f64> = (0..2 * links).map(|j| ((1 + 7 * i + 3 * j) as f64).sin() * 1.5).collect();
            let x = if absolute { place(&x[..links], &x[links..]) } else { x };
            (x, 9.0 + (i as f64).cos())
        };
        Queue {
            starts: (0..count).map(start).collect(),
            next: 0,
            in_lane: vec![usize::MAX; 8],
            ends: vec![None; count],
            attended: 0,
        }
    }
}

impl Handler for Queue {
    fn next(&mut self, lane: usize, start: &mut LaneStart) -> bool {
        let Some((state, gravity)) = self.starts.get(self.next) else { return false };
        start.state.copy_from_slice(state);
        start.parameters.copy_from_slice(&[*gravity]);
        (start.time, start.end) = (Time::new(0.0), Time::new(END));
        self.in_lane[lane] = self.next;
        self.next += 1;
        true
    }
    fn attend(&mut self, _: usize, _: &mut LaneStep<'_>) -> StepVerdict {
        self.attended += 1;
        StepVerdict::Pass
    }
    fn leave(&mut self, lane: usize, why: Leave, time: Time, state: &[f64], _: &BatchAudit) {
        assert_eq!((why, time), (Leave::Reached, Time::new(END)));
        self.ends[self.in_lane[lane]] = Some((why, state.to_vec()));
    }
}

/// Absolute positions and velocities of a chain with these angles and rates.
fn place(q: &[f64], v: &[f64]) -> Vec<f64> {
    let n = q.len();
    let (mut x, mut r, mut s) = (vec![0.0; 4 * n], [0.0; 2], [0.0; 2]);
    for i in 0..n {
        r = [r[0] + q[i].sin(), r[1] - q[i].cos()];
        s = [s[0] + q[i].cos() * v[i], s[1] + q[i].sin() * v[i]];
        x[2 * i..2 * i + 2].copy_from_slice(&r);
        x[2 * n + 2 * i..2 * n + 2 * i + 2].copy_from_slice(&s);
    }
    x
}

fn single(level: Level, tape: &Arc<Tape>, taylor: &Taylor, (start, gravity): &(Vec<f64>, f64)) -> Vec<f64> {
    let mut flow = Flow::new(tape.clone(), taylor.order).with(level);
    flow.set_parameters(&[*gravity]);
    let (mut t, mut x) = (Time::new(0.0), start.clone());
    let mut extent = Extent::new(x.len(), 0);
    let mut remainder = Remainder::default();
    while t < Time::new(END) {
        flow.jet(t, &x).unwrap();
        let left = Time::new(END).minus(t);
        let natural = taylor.step_size(&flow, &extent);
        extent.see(&flow, natural);
        let h = natural.min(left);
        flow.carry(remainder.of(&x));
        remainder.advance(&flow, h, None, &mut x);
        t = if h == left { Time::new(END) } else { t.plus(h) };
    }
    x
}

#[test]
fn every_lane_gives_the_bits_of_a_single_run_whatever_the_width() {
    let mut of_class = [Vec::new(), Vec::new()];
    for (n, absolute, exchanged) in [
        (2, false, false),
        (3, false, false),
        (2, true, false),
        (5, true, false),
        (3, false, true),
        (2, true, true),
    ] {
        let mut dag = Dag::new();
        let system =
            if absolute { systems::absolute_chain(&mut dag, n) } else { systems::chain(&mut dag, n) };
        let system = if exchanged { systems::exchanged(system) } else { system };
        let tape = Tape::compile(&dag, &system).unwrap();
        let taylor = Taylor::new(1e-12);
        for (class, arithmetic) in levels::CLASSES.into_iter().enumerate() {
            let levels = levels::of(arithmetic);
            let starts = Queue::new(n, absolute, 37).starts;
            // Also where there is one level: lanes are compared with single runs.
            let wanted: Vec<Vec<u64>> =
                starts.iter().map(|start| bits(&single(levels[0], &tape, &taylor, start))).collect();
            for level in levels {
                let mut ensemble = Ensemble::with(level, tape.clone(), taylor, Monitors::default());
                let mut queue = Queue::new(n, absolute, 37);
                ensemble.run(&mut queue);
                assert!(queue.attended > 0, "the gap vanishes somewhere");
                for (end, wanted) in queue.ends.iter().zip(&wanted) {
                    let (why, state) = end.as_ref().expect("every trajectory ends");
                    assert_eq!(*why, Leave::Reached);
                    assert_eq!(bits(state), *wanted, "{n}, {arithmetic}, {level:?}");
                }
            }
            of_class[class].extend(wanted);
        }
    }
    assert_ne!(of_class[0], of_class[1], "fused and plain are two classes of bits");
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn taylor_and_runge_kutta_agree_on_the_double_pendulum() {
    let mut dag = Dag::new();
    let system = systems::chain(&mut dag, 2);
    let tape = Tape::compile(&dag, &system).unwrap();
    let start = vec![1.0, 1.5, 0.0, 0.5];
    let wanted = single(Level::detect(), &tape, &Taylor::new(1e-15), &(start.clone(), 9.81));
    let mut rk4 = Rk4::new(tape);
    rk4.set_parameters(&[9.81]);
    let (steps, mut x) = (3000, start);
    let h = END / f64::from(steps);
    let mut t = Time::new(0.0);
    for _ in 0..steps {
        rk4.step(t, &x, h).unwrap();
        x.copy_from_slice(rk4.end());
        t = t.plus(h);
    }
    // h⁴ times derivatives of order 5 (scale √g per derivative: 300) over 120, amplified a little by the motion.
    let bound = h.powi(4) * 300.0;
    for (a, b) in x.iter().zip(&wanted) {
        assert!((a - b).abs() < bound, "{a} instead of {b}, bound {bound:e}");
    }
}

#[test]
fn the_chain_moves_alike_in_angles_and_in_absolute_coordinates() {
    let mut dag = Dag::new();
    let angles = systems::chain(&mut dag, 3);
    let mut other = Dag::new();
    let absolute = systems::absolute_chain(&mut other, 3);
    let taylor = Taylor::new(1e-15);
    let (q, v) = ([0.4_f64, 1.1, -0.3], [0.5_f64, -1.0, 2.0]);
    let start: Vec<f64> = q.iter().chain(&v).copied().collect();
    let a = single(Level::detect(), &Tape::compile(&dag, &angles).unwrap(), &taylor, &(start, 9.81));
    let b =
        single(Level::detect(), &Tape::compile(&other, &absolute).unwrap(), &taylor, &(place(&q, &v), 9.81));
    // Round-off (1e-16 per step, 50 steps), amplified by the drift of unprojected constraints ~ t² and the chain's own
    // sensitivity over 1.5 s.
    for (x, y) in place(&a[..3], &a[3..]).iter().zip(&b) {
        assert!((x - y).abs() < 1e-10, "{x} instead of {y}");
    }
}
