//! Lanes of every width against single runs, bit by bit: two, four and eight, with the code of their width if the processor has it,
//! else interpreted.

use crate::batch::ensemble::{BatchAudit, Handler, LaneStart, LaneStep, Leave, Monitors, StepVerdict};
use crate::batch::rounds::LaneBatch;
use crate::eval::element::{Count, Vector};
use crate::{
    Arithmetic, Extent, Flow, Instructions, Level, LinearBlock, Remainder, System, Tape, Taylor, Time,
};
use carom_expr::{Dag, Function, Rational};
use std::sync::Arc;

const END: f64 = 1.5;

/// x'' and y'' from [[2, cos(x − y)], [cos(x − y) + skew, 1]] (x'', y'') = −g (2 sin x, sin y), with a pulse exp(−20 x²).
fn system(dag: &mut Dag, symmetric: bool) -> System {
    let [t, g, x, y, u, v, a, b] = ["t", "g", "x", "y", "u", "v", "a", "b"].map(|name| dag.symbol(name));
    let [one, two] = [1, 2].map(|n| dag.integer(n));
    let difference = dag.sub(x, y);
    let cosine = dag.function(Function::Cos, &[difference]);
    let skew = dag.scale(Rational::new(1, 4).unwrap(), cosine);
    let [pull_x, pull_y] = [(x, -2), (y, -1)].map(|(x, n)| {
        let sine = dag.function(Function::Sin, &[x]);
        let pull = dag.mul(g, sine);
        dag.scale(Rational::new(n, 1).unwrap(), pull)
    });
    let square = dag.mul(x, x);
    let exponent = dag.scale(Rational::new(-20, 1).unwrap(), square);
    let pulse = dag.function(Function::Exp, &[exponent]);
    let pull_x = dag.add(pull_x, pulse);
    let block = LinearBlock {
        unknowns: vec![a, b],
        matrix: vec![vec![two, cosine], vec![if symmetric { cosine } else { skew }, one]],
        right_side: vec![pull_x, pull_y],
        names: vec![],
        augmentation_rows: vec![],
        definitions: vec![],
    };
    let (state, rate) = (vec![x, y, u, v], vec![u, v, a, b]);
    System {
        time: t,
        parameters: vec![g],
        state,
        rate,
        blocks: vec![block],
        watched: vec![x],
        monitored: vec![],
    }
}

struct Queue {
    next: usize,
    in_lane: [usize; 8],
    ends: Vec<Vec<u64>>,
}

fn start(i: usize) -> ([f64; 4], f64) {
    (std::array::from_fn(|j| 1.5 * ((1 + 7 * i + 3 * j) as f64).sin()), 9.0 + (i as f64).cos())
}

impl Handler for Queue {
    fn next(&mut self, lane: usize, into: &mut LaneStart) -> bool {
        if self.next == self.ends.len() {
            return false;
        }
        let (state, gravity) = start(self.next);
        into.state.copy_from_slice(&state);
        into.parameters.copy_from_slice(&[gravity]);
        (into.time, into.end) = (Time::new(0.0), Time::new(END));
        self.in_lane[lane] = self.next;
        self.next += 1;
        true
    }
    fn attend(&mut self, _: usize, _: &mut LaneStep<'_>) -> StepVerdict {
        StepVerdict::Pass
    }
    fn leave(&mut self, lane: usize, why: Leave, _: Time, state: &[f64], _: &BatchAudit) {
        assert_eq!(why, Leave::Reached);
        self.ends[self.in_lane[lane]] = state.iter().map(|x| x.to_bits()).collect();
    }
}

fn in_lanes<const W: usize>(tape: &Arc<Tape>, taylor: Taylor, level: Level, count: usize) -> Vec<Vec<u64>>
where
    Count<W>: Vector,
{
    let mut queue = Queue { next: 0, in_lane: [usize::MAX; 8], ends: vec![Vec::new(); count] };
    LaneBatch::<W>::new(tape.clone(), taylor, Monitors::default(), level).run(&mut queue);
    queue.ends
}

fn alone(tape: &Arc<Tape>, taylor: Taylor, level: Level, i: usize) -> Vec<u64> {
    let (mut x, gravity) = start(i);
    let mut flow = Flow::new(tape.clone(), taylor.order).with(level);
    flow.set_parameters(&[gravity]);
    let (mut t, end) = (Time::new(0.0), Time::new(END));
    let (mut extent, mut remainder) = (Extent::new(x.len(), 0), Remainder::default());
    while t < end {
        flow.jet(t, &x).unwrap();
        let left = end.minus(t);
        let natural = taylor.step_size(&flow, &extent);
        extent.see(&flow, natural);
        let h = flow.cut(natural.min(left), &extent);
        flow.carry(remainder.of(&x));
        remainder.advance(&flow, h, None, &mut x);
        t = if h == left { end } else { t.plus(h) };
    }
    x.map(f64::to_bits).to_vec()
}

#[test]
fn two_four_and_eight_lanes_give_the_bits_of_single_runs() {
    const COUNT: usize = 11;
    let taylor = Taylor::new(1e-12);
    let mut classes = Vec::new();
    for (arithmetic, symmetric) in
        [Arithmetic::Fused, Arithmetic::Plain].into_iter().flat_map(|a| [(a, true), (a, false)])
    {
        let mut dag = Dag::new();
        let system = system(&mut dag, symmetric);
        let tape = Tape::compile(&dag, &system).unwrap();
        let named =
            [Instructions::Avx512, Instructions::Avx2, Instructions::Interpreter, Instructions::Portable];
        let levels = named.iter().filter_map(|i| Level::choose(Some(*i), Some(arithmetic)).ok());
        for level in levels {
            let wanted: Vec<Vec<u64>> = (0..COUNT).map(|i| alone(&tape, taylor, level, i)).collect();
            // Eight and four first: what is made for them is kept with the tape, and is not for two.
            assert_eq!(in_lanes::<8>(&tape, taylor, level, COUNT), wanted, "eight, {level:?}");
            assert_eq!(in_lanes::<4>(&tape, taylor, level, COUNT), wanted, "four, {level:?}");
            assert_eq!(in_lanes::<2>(&tape, taylor, level, COUNT), wanted, "two, {level:?}");
            classes.push((arithmetic, symmetric, wanted));
        }
    }
    for (arithmetic, symmetric, ends) in &classes {
        for (other, also_symmetric, also) in &classes {
            let same = (arithmetic, symmetric) == (other, also_symmetric);
            assert_eq!(ends == also, same, "{arithmetic} and {other}");
        }
    }
}
