//! The tape against the oracle, against closed forms, and against the solution of known systems.

#![allow(clippy::excessive_precision)]

use carom_expr::{Dag, Expr, Function, Rational};
use carom_jet::{CompileError, Extent, Flow, Level, LinearBlock, System, Tape, Taylor, Time, oracle};
use proptest::prelude::*;

fn functions_of_time(dag: &mut Dag, build: impl Fn(&mut Dag, Expr) -> Vec<Expr>) -> System {
    let t = dag.symbol("t");
    let watched = build(dag, t);
    System {
        time: t,
        parameters: vec![],
        state: vec![],
        rate: vec![],
        blocks: vec![],
        watched,
        monitored: vec![],
    }
}

fn jet(dag: &Dag, system: &System, parameters: &[f64], time: f64, state: &[f64], order: usize) -> Flow {
    let mut flow = Flow::new(Tape::compile(dag, system).unwrap(), order);
    flow.set_parameters(parameters);
    flow.jet(Time::new(time), state).unwrap();
    flow
}

fn assert_close(found: &[f64], wanted: &[f64], tolerance: f64, what: &str) {
    for (k, (a, b)) in found.iter().zip(wanted).enumerate() {
        assert!((a - b).abs() <= tolerance * b.abs().max(1e-3), "{what}: order {k}: {a:e} instead of {b:e}");
    }
}

#[test]
fn series_of_elementary_functions_are_their_known_taylor_coefficients() {
    let mut dag = Dag::new();
    let system = functions_of_time(&mut dag, |dag, t| {
        let one = dag.one();
        let minus = dag.neg(t);
        let (above, below) = (dag.add(one, t), dag.add(one, minus));
        let geometric = dag.div(one, below);
        vec![
            dag.function(Function::Exp, &[t]),
            dag.function(Function::Log, &[above]),
            dag.function(Function::Sin, &[t]),
            dag.function(Function::Atan, &[t]),
            dag.sqrt(above),
            geometric,
            dag.function(Function::Tan, &[t]),
            dag.function(Function::Asin, &[t]),
        ]
    });
    let flow = jet(&dag, &system, &[], 0.0, &[], 7);
    let r = |n: f64, d: f64| n / d;
    assert_close(flow.watched(0), &[1., 1., 0.5, r(1., 6.), r(1., 24.), r(1., 120.)], 4e-16, "exp");
    assert_close(
        flow.watched(1),
        &[0., 1., -0.5, r(1., 3.), -0.25, 0.2, -r(1., 6.), r(1., 7.)],
        4e-16,
        "log",
    );
    assert_close(flow.watched(2), &[0., 1., 0., -r(1., 6.), 0., r(1., 120.)], 4e-16, "sin");
    assert_close(flow.watched(3), &[0., 1., 0., -r(1., 3.), 0., 0.2, 0., -r(1., 7.)], 4e-16, "atan");
    assert_close(flow.watched(4), &[1., 0.5, -0.125, 0.0625, -r(5., 128.), r(7., 256.)], 4e-16, "sqrt");
    assert_close(flow.watched(5), &[1.; 8], 0.0, "geometric");
    assert_close(flow.watched(6), &[0., 1., 0., r(1., 3.), 0., r(2., 15.), 0., r(17., 315.)], 4e-16, "tan");
    assert_close(flow.watched(7), &[0., 1., 0., r(1., 6.), 0., r(3., 40.), 0., r(5., 112.)], 4e-16, "asin");
}

#[test]
fn every_function_agrees_with_the_oracle_at_a_general_point() {
    for f in Function::ALL {
        if matches!(f, Function::Abs | Function::Sign | Function::Min | Function::Max) {
            continue;
        }
        let mut dag = Dag::new();
        let system = functions_of_time(&mut dag, |dag, t| {
            let half = dag.rational(1, 2);
            let square = dag.powi(t, 2);
            let inside = dag.mul(half, square);
            let inside = if f == Function::Acosh { dag.add(inside, t) } else { inside };
            let one = dag.one();
            let other = dag.add(one, t);
            let args = if f.arity() == 2 { vec![inside, other] } else { vec![inside] };
            let value = dag.function(f, &args);
            vec![value]
        });
        let time = if f == Function::Acosh { 1.3 } else { 0.7 };
        let (_, _, wanted) = oracle::jet(&dag, &system, &[], time, &[], 12);
        let flow = jet(&dag, &system, &[], time, &[], 12);
        assert_close(flow.watched(0), &wanted[0], 1e-11, f.name());
    }
}

#[test]
fn powers_of_all_kinds_agree_with_the_oracle() {
    let mut dag = Dag::new();
    let (t, n) = (dag.symbol("t"), dag.symbol("n"));
    let mut watched = Vec::new();
    for (a, b) in [(2, 1), (3, 1), (7, 1), (-1, 1), (-2, 1), (-5, 1), (1, 2), (-1, 2), (3, 2), (-7, 3)] {
        watched.push(dag.rational_power(t, Rational::new(a, b).unwrap()));
    }
    let three = dag.integer(3);
    watched.push(dag.power(t, n));
    watched.push(dag.power(three, t));
    watched.push(dag.power(t, t));
    watched.push(dag.power(n, n));
    let system = System {
        time: t,
        parameters: vec![n],
        state: vec![],
        rate: vec![],
        blocks: vec![],
        watched,
        monitored: vec![],
    };
    let (_, _, wanted) = oracle::jet(&dag, &system, &[2.5], 1.25, &[], 12);
    let flow = jet(&dag, &system, &[2.5], 1.25, &[], 12);
    for (i, w) in wanted.iter().enumerate() {
        assert_close(flow.watched(i), w, 1e-11, &format!("power {i}"));
    }
}

#[test]
fn a_whole_power_is_smooth_through_zero() {
    let mut dag = Dag::new();
    let system = functions_of_time(&mut dag, |dag, t| vec![dag.powi(t, 3)]);
    let flow = jet(&dag, &system, &[], 0.0, &[], 5);
    assert_eq!(flow.watched(0), [0., 0., 0., 1., 0., 0.]);
}

/// The double pendulum (unit masses and lengths) with its mass matrix as a block, and the x of the second bob.
fn double_pendulum(dag: &mut Dag) -> System {
    let [t, g, a, b, va, vb, aa, ab] = ["t", "g", "a", "b", "a'", "b'", "a''", "b''"].map(|n| dag.symbol(n));
    let difference = dag.sub(a, b);
    let (cos, sin) = (dag.function(Function::Cos, &[difference]), dag.function(Function::Sin, &[difference]));
    let (sin_a, sin_b) = (dag.function(Function::Sin, &[a]), dag.function(Function::Sin, &[b]));
    let (two, one) = (dag.integer(2), dag.one());
    let (vb2, va2) = (dag.powi(vb, 2), dag.powi(va, 2));
    let (p, q) = (dag.mul(vb2, sin), dag.mul(va2, sin));
    let (ga, gb) = (dag.mul(g, sin_a), dag.mul(g, sin_b));
    let first = dag.linear(Rational::ZERO, &[(Rational::MINUS_ONE, p), (Rational::integer(-2), ga)]);
    let second = dag.sub(q, gb);
    let x2 = dag.add(sin_a, sin_b);
    System {
        time: t,
        parameters: vec![g],
        state: vec![a, b, va, vb],
        rate: vec![va, vb, aa, ab],
        blocks: vec![LinearBlock {
            unknowns: vec![aa, ab],
            matrix: vec![vec![two, cos], vec![cos, one]],
            right_side: vec![first, second],
            names: vec!["a".into(), "b".into()],
            augmentation_rows: vec![],
            definitions: vec![],
        }],
        watched: vec![x2, aa, ab],
        monitored: vec![],
    }
}

#[test]
fn the_double_pendulum_jet_agrees_with_the_oracle() {
    let mut dag = Dag::new();
    let system = double_pendulum(&mut dag);
    let start = [1.3, 2.4, 0.3, -0.7];
    let (states, unknowns, watched) = oracle::jet(&dag, &system, &[9.81], 0.0, &start, 14);
    let flow = jet(&dag, &system, &[9.81], 0.0, &start, 14);
    for (i, s) in states.iter().enumerate() {
        assert_close(&flow.state(i), s, 1e-10, "state");
    }
    for (i, u) in unknowns.iter().enumerate() {
        assert_close(&flow.watched(1 + i)[..14], &u[..14], 1e-10, "acceleration");
    }
    // The oracle's last coefficients of what depends on the acceleration need one order more of the state.
    assert_close(flow.watched(0), &watched[0], 1e-10, "x2");
    assert_close(&flow.watched(1)[..14], &watched[1][..14], 1e-10, "watched acceleration");
}

#[test]
fn the_double_pendulum_keeps_its_energy_to_round_off_over_ten_seconds() {
    let mut dag = Dag::new();
    let system = double_pendulum(&mut dag);
    let taylor = Taylor::new(1e-15);
    let mut flow = Flow::new(Tape::compile(&dag, &system).unwrap(), taylor.order);
    flow.set_parameters(&[9.81]);
    let energy = |x: &[f64]| {
        let kinetic = x[2] * x[2] + 0.5 * x[3] * x[3] + x[2] * x[3] * (x[0] - x[1]).cos();
        kinetic - 9.81 * (2.0 * x[0].cos() + x[1].cos())
    };
    let mut x = [3.0 * std::f64::consts::PI / 7.0, 3.0 * std::f64::consts::PI / 4.0, 0.0, 0.0];
    let (before, mut t, mut steps) = (energy(&x), Time::new(0.0), 0);
    let mut extent = Extent::new(4, 0);
    while t < Time::new(10.0) {
        flow.jet(t, &x).unwrap();
        let natural = taylor.step_size(&flow, &extent);
        extent.see(&flow, natural);
        let h = natural.min(Time::new(10.0).minus(t));
        let mut end = [0.0; 4];
        flow.state_at(h, &mut end);
        (x, t, steps) = (end, t.plus(h), steps + 1);
    }
    assert_eq!(t.value(), 10.0);
    // Rounding of the state, a few ulps of the energy scale (about 30) per step, adds up at most linearly.
    let bound = 30.0 * f64::EPSILON * f64::from(steps);
    assert!((energy(&x) - before).abs() < bound, "{:e} after {steps} steps", energy(&x) - before);
}

#[test]
fn a_saddle_point_block_with_singular_leading_part_is_solved_by_pivoting_or_augmentation() {
    // Mass only in x, constraint x + y = t: W = diag(1, 0), definite on ker A = (1, −1).
    let mut dag = Dag::new();
    let [t, a, b, mu] = ["t", "a", "b", "mu"].map(|n| dag.symbol(n));
    let (zero, one) = (dag.zero(), dag.one());
    let mut system = System {
        time: t,
        parameters: vec![],
        state: vec![],
        rate: vec![],
        blocks: vec![LinearBlock {
            unknowns: vec![a, b, mu],
            matrix: vec![vec![one, zero, one], vec![zero, zero, one], vec![one, one, zero]],
            right_side: vec![one, zero, t],
            names: vec![],
            augmentation_rows: vec![],
            definitions: vec![],
        }],
        watched: vec![a, b, mu],
        monitored: vec![],
    };
    for augmentation_rows in [vec![], vec![2]] {
        system.blocks[0].augmentation_rows = augmentation_rows;
        let flow = jet(&dag, &system, &[], 3.0, &[], 3);
        let rounding = 4.0 * f64::EPSILON;
        assert_close(flow.watched(0), &[1.0, 0.0, 0.0, 0.0], rounding, "a");
        assert_close(flow.watched(1), &[2.0, 1.0, 0.0, 0.0], rounding, "b");
        assert_close(flow.watched(2), &[0.0; 4], rounding, "mu");
    }
}

#[test]
fn a_dependent_row_is_reported_by_its_index() {
    let mut dag = Dag::new();
    let [t, a, b, m, n] = ["t", "a", "b", "m", "n"].map(|n| dag.symbol(n));
    let (zero, one) = (dag.zero(), dag.one());
    let (two, three) = (dag.integer(2), dag.integer(3));
    let system = System {
        time: t,
        parameters: vec![],
        state: vec![],
        rate: vec![],
        blocks: vec![LinearBlock {
            unknowns: vec![a, b, m, n],
            matrix: vec![
                vec![two, one, one, three],
                vec![one, two, zero, zero],
                vec![one, zero, zero, zero],
                vec![three, zero, zero, zero],
            ],
            right_side: vec![one, zero, zero, zero],
            names: vec![],
            augmentation_rows: vec![],
            definitions: vec![],
        }],
        watched: vec![],
        monitored: vec![],
    };
    let mut flow = Flow::new(Tape::compile(&dag, &system).unwrap(), 3);
    let singular = flow.jet(Time::new(0.0), &[]).unwrap_err();
    assert_eq!((singular.block, singular.row >= 2), (0, true));
}

#[test]
fn what_cannot_be_compiled_is_named() {
    let mut dag = Dag::new();
    let stray = dag.symbol("stray");
    let system = functions_of_time(&mut dag, |_, _| vec![stray]);
    assert_eq!(Tape::compile(&dag, &system).unwrap_err(), CompileError::UnknownSymbol("stray".into()));
    let system = functions_of_time(&mut dag, |dag, t| vec![dag.function(Function::Abs, &[t])]);
    assert_eq!(Tape::compile(&dag, &system).unwrap_err(), CompileError::Piecewise("abs"));
}

#[test]
fn constants_follow_the_parameters() {
    let mut dag = Dag::new();
    let [t, p, x] = ["t", "p", "x"].map(|n| dag.symbol(n));
    let (sin, square) = (dag.function(Function::Sin, &[p]), dag.powi(p, 2));
    let abs = dag.function(Function::Abs, &[p]);
    let rate = dag.product(&[sin, x]);
    let system = System {
        time: t,
        parameters: vec![p],
        state: vec![x],
        rate: vec![rate],
        blocks: vec![],
        watched: vec![square, abs],
        monitored: vec![],
    };
    let mut flow = Flow::new(Tape::compile(&dag, &system).unwrap(), 6);
    for p in [0.3_f64, -1.7] {
        flow.set_parameters(&[p]);
        flow.jet(Time::new(0.0), &[2.0]).unwrap();
        assert_eq!(flow.watched(0)[0], p * p);
        assert_eq!(flow.watched(1), [p.abs(), 0., 0., 0., 0., 0., 0.]);
        let wanted: Vec<f64> =
            (0..7).map(|k| 2.0 * p.sin().powi(k) / (1..=k).map(f64::from).product::<f64>()).collect();
        assert_close(&flow.state(0), &wanted, 1e-15, "exponential");
    }
}

/// An argument inside the domain of f.
fn argument(dag: &mut Dag, f: Function, bounded: Expr, positive: Expr, beyond: Expr) -> Expr {
    match f {
        Function::Log => positive,
        Function::Acosh => beyond,
        _ => dag.scale(Rational::HALF, bounded),
    }
}

/// A random expression: each node combines earlier ones, with every operation the language has, kept inside its
/// domain (arguments of log, sqrt and quotients are 2 + sin of something).
fn random_expressions(dag: &mut Dag, leaves: &[Expr], recipe: &[(u8, usize, usize)]) -> Vec<Expr> {
    use Function::*;
    let functions = [Sin, Cos, Tanh, Atan, Asinh, Exp, Log, Asin, Atanh, Acosh, Sinh, Cosh, Tan, Acos];
    let mut made = leaves.to_vec();
    for &(kind, i, j) in recipe {
        let (a, b) = (made[i % made.len()], made[j % made.len()]);
        let (two, half) = (dag.integer(2), dag.rational(1, 2));
        let bounded = dag.function(Sin, &[a]);
        let positive = dag.add(two, bounded);
        // acosh has its branch point at 1, where every series rule divides by something small.
        let beyond = dag.add(positive, half);
        made.push(match kind % 24 {
            0..=2 => dag.add(a, b),
            3 => dag.sub(a, b),
            4..=6 => dag.product(&[a, b, half]),
            7 => dag.div(b, positive),
            8 => dag.sqrt(positive),
            9 => dag.rational_power(positive, Rational::new(-3, 2).unwrap()),
            10 => {
                let f = functions[j % functions.len()];
                let inside = argument(dag, f, bounded, positive, beyond);
                dag.function(f, &[inside])
            }
            11 => dag.function(Atan2, &[b, positive]),
            12 => dag.powi(bounded, 3),
            13 => {
                let exponent = dag.function(Cos, &[b]);
                dag.power(positive, exponent)
            }
            k => {
                let f = functions[usize::from(k - 14) % functions.len()];
                let inside = argument(dag, f, bounded, positive, beyond);
                dag.function(f, &[inside])
            }
        });
    }
    made.split_off(leaves.len())
}

/// A ring of equal cells, each with three state variables, the recipe's functions of them and of the next cell, and two
/// unknowns of one symmetric block, positive definite by construction. Watched: all functions, cell by cell.
fn random_system(dag: &mut Dag, recipe: &[(u8, usize, usize)], cells: usize) -> System {
    let [t, q] = ["t", "p"].map(|n| dag.symbol(n));
    let names = |dag: &mut Dag, n: &str| -> Vec<Expr> {
        (0..cells).map(|c| dag.symbol(&format!("{n}{c}"))).collect()
    };
    let [x, y, z, u, v] = ["x", "y", "z", "u", "v"].map(|n| names(dag, n));
    let (zero, two, three) = (dag.integer(0), dag.integer(2), dag.integer(3));
    let mut matrix = vec![vec![zero; 2 * cells]; 2 * cells];
    let (mut rate, mut right_side, mut watched) = (Vec::new(), Vec::new(), Vec::new());
    for c in 0..cells {
        let next = (c + 1) % cells;
        let made = random_expressions(dag, &[t, q, x[c], y[c], z[c], x[next]], recipe);
        let pick = |i: usize| made[made.len() - 1 - i % made.len()];
        let off = dag.function(Function::Tanh, &[pick(0)]);
        let corner = dag.function(Function::Cos, &[pick(1)]);
        let corner = dag.add(three, corner);
        let bend = dag.function(Function::Sin, &[pick(3)]);
        rate.extend([u[c], dag.add(v[c], bend), dag.function(Function::Cos, &[pick(2)])]);
        right_side.extend([bend, corner]);
        (matrix[2 * c][2 * c], matrix[2 * c + 1][2 * c + 1]) = (two, corner);
        (matrix[2 * c][2 * c + 1], matrix[2 * c + 1][2 * c]) = (off, off);
        if cells > 2 {
            let coupling = dag.function(Function::Sin, &[y[c]]);
            let coupling = dag.scale(Rational::new(1, 8).unwrap(), coupling);
            (matrix[2 * c][2 * next], matrix[2 * next][2 * c]) = (coupling, coupling);
        }
        watched.extend(made);
    }
    System {
        time: t,
        parameters: vec![q],
        state: (0..cells).flat_map(|c| [x[c], y[c], z[c]]).collect(),
        rate,
        blocks: vec![LinearBlock {
            unknowns: (0..cells).flat_map(|c| [u[c], v[c]]).collect(),
            matrix,
            right_side,
            names: vec![],
            augmentation_rows: vec![],
            definitions: vec![],
        }],
        watched,
        monitored: vec![],
    }
}

/// Machine code, interpreters and the oracle on a random ring.
fn ring_agrees(
    recipe: &[(u8, usize, usize)],
    cells: usize,
    start: &[f64],
    p: f64,
    time: f64,
) -> Result<(), TestCaseError> {
    const ORDER: usize = 8;
    let mut dag = Dag::new();
    let system = random_system(&mut dag, recipe, cells);
    let state: Vec<f64> =
        (0..3 * cells).map(|i| start[i % 3] * (1.0 - i as f64 / (4 * cells) as f64)).collect();
    let (states, _, watched) = oracle::jet(&dag, &system, &[p], time, &state, ORDER);
    // A part with large coefficients (a singularity nearby) amplifies rounding in everything made of it, also where
    // the whole is smooth again, as cos(acosh(u)) is at u = 1: 1e6 · 1e-16 stays below the bound checked here.
    prop_assume!(watched.iter().chain(&states).flatten().all(|c| c.is_finite() && c.abs() < 1e6));
    let tape = Tape::compile(&dag, &system).unwrap();
    for arithmetic in levels::CLASSES {
        let levels = levels::of(arithmetic);
        let at = |level: Level| {
            let mut flow = Flow::new(tape.clone(), ORDER).with(level);
            flow.set_parameters(&[p]);
            flow.jet(Time::new(time), &state).unwrap();
            flow
        };
        let flow = at(levels[0]);
        // Not with itself.
        for level in &levels[1..] {
            let other = at(*level);
            prop_assert_eq!(bits(&flow.states()), bits(&other.states()), "{:?}", level);
            for i in 0..watched.len() {
                prop_assert_eq!(bits(flow.watched(i)), bits(other.watched(i)), "{:?}", level);
            }
        }
        let rows = (0..states.len())
            .map(|i| flow.state(i))
            .chain((0..watched.len()).map(|i| flow.watched(i).to_vec()));
        for (row, wanted) in rows.zip(states.iter().chain(&watched)) {
            // Terms of the size of the largest coefficient cancel in the others.
            let size = wanted.iter().fold(1.0_f64, |m, c| m.max(c.abs()));
            for (a, b) in row.iter().zip(wanted) {
                prop_assert!((a - b).abs() <= 1e-9 * size, "{arithmetic}: {row:?} instead of {wanted:?}");
            }
        }
    }
    Ok(())
}

fn recipes() -> impl Strategy<Value = Vec<(u8, usize, usize)>> {
    prop::collection::vec((any::<u8>(), any::<usize>(), any::<usize>()), 1..24)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_tape_agrees_with_the_oracle_on_random_systems(
        recipe in recipes(),
        start in prop::collection::vec(-1.0..1.0_f64, 3),
        p in -1.0..1.0_f64,
        time in -1.0..1.0_f64,
    ) {
        ring_agrees(&recipe, 1, &start, p, time)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Enough equal cells that equations are evaluated by eights, with some left over.
    #[test]
    fn the_tape_agrees_with_the_oracle_on_large_random_systems(
        recipe in recipes(),
        cells in 19..28_usize,
        start in prop::collection::vec(-1.0..1.0_f64, 3),
        p in -1.0..1.0_f64,
        time in -1.0..1.0_f64,
    ) {
        ring_agrees(&recipe, cells, &start, p, time)?;
    }
}

mod levels;

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|x| x.to_bits()).collect()
}

#[path = "../benches/systems.rs"]
mod systems;

#[test]
fn all_levels_of_an_arithmetic_give_the_same_bits() {
    type Maker = fn(&mut Dag, usize) -> System;
    let mut of_class = [Vec::new(), Vec::new()];
    let mut makers: Vec<(usize, Maker)> = Vec::new();
    makers.extend([1, 2, 3, 7, 12].map(|n| (n, systems::chain as Maker)));
    makers.extend([1, 2, 4, 30].map(|n| (n, systems::absolute_chain as Maker)));
    makers.extend([1, 2, 6, 20].map(|n| (n, systems::needles as Maker)));
    for ((n, make), exchanged) in makers.into_iter().flat_map(|m| [(m, false), (m, true)]) {
        let mut dag = Dag::new();
        let mut system = make(&mut dag, n);
        if exchanged {
            system = systems::exchanged(system);
        }
        system.watched.extend([system.state[1], system.time, system.blocks[0].unknowns[0]]);
        let tape = Tape::compile(&dag, &system).unwrap();
        let state: Vec<f64> = (0..system.state.len()).map(|i| (1.3 + i as f64).sin()).collect();
        // Low orders, as of fixed steps, are interpreted; from 4 on there is code.
        for order in [2, 3, 4, 5, 6, 7, 17] {
            let series = |level: Level| {
                let mut flow = Flow::new(tape.clone(), order).with(level);
                flow.set_parameters(&[9.81]);
                flow.jet(Time::new(0.25), &state).unwrap();
                let watched = (0..system.watched.len()).flat_map(|i| flow.watched(i).to_vec());
                assert_eq!(flow.watched(system.watched.len() - 3), flow.state(1), "a watched state variable");
                flow.states().into_iter().chain(watched).collect::<Vec<f64>>()
            };
            for (class, arithmetic) in levels::CLASSES.into_iter().enumerate() {
                let levels = levels::of(arithmetic);
                let first = series(levels[0]);
                assert!(first.iter().all(|c| c.is_finite()));
                for level in &levels[1..] {
                    let other = series(*level);
                    assert_eq!(bits(&other), bits(&first), "{n}, order {order}, {arithmetic}, {level:?}");
                }
                of_class[class].extend(bits(&first));
            }
        }
    }
    assert_ne!(of_class[0], of_class[1], "fused and plain are two classes of bits");
}

/// Differences of series, relative to the largest coefficient of the same order.
fn assert_alike(found: &Flow, wanted: &Flow, tolerance: f64) {
    let n = wanted.tape().dimension();
    for k in 0..=wanted.order() {
        let size = (0..n).map(|j| wanted.state(j)[k].abs()).fold(0.0, f64::max);
        for i in 0..n {
            let error = (found.state(i)[k] - wanted.state(i)[k]).abs();
            assert!(error <= tolerance * size, "variable {i}, order {k}: {error:e} of {size:e}");
        }
    }
}

#[test]
fn the_order_of_the_equations_does_not_matter() {
    for n in [2, 5, 9] {
        let mut dag = Dag::new();
        let system = systems::absolute_chain(&mut dag, n);
        let state: Vec<f64> = (0..system.state.len()).map(|i| (0.7 + i as f64).sin()).collect();
        let wanted = jet(&dag, &system, &[9.81], 0.0, &state, 12);
        let found = jet(&dag, &systems::exchanged(system), &[9.81], 0.0, &state, 12);
        assert_alike(&found, &wanted, 1e-12);
    }
}

#[test]
fn augmentation_rows_change_nothing_but_the_way() {
    // Also where a needle lies along an axis: the first entry of its matrix is then zero.
    for (n, along) in [(1, false), (1, true), (2, false), (7, false), (7, true)] {
        let mut dag = Dag::new();
        let mut system = systems::needles(&mut dag, n);
        let mut state: Vec<f64> = (0..system.state.len()).map(|i| (0.7 + i as f64).sin()).collect();
        if along {
            state[..3].copy_from_slice(&[1.0, 0.0, 0.0]);
        }
        let found = jet(&dag, &system, &[9.81], 0.0, &state, 12);
        system.blocks[0].augmentation_rows.clear();
        let wanted = jet(&dag, &system, &[9.81], 0.0, &state, 12);
        assert_alike(&found, &wanted, 1e-12);
    }
}

#[test]
fn monitored_functions_have_values_and_leave_the_series_alone() {
    let mut dag = Dag::new();
    let mut system = double_pendulum(&mut dag);
    let start = [1.3, 2.4, 0.3, -0.7];
    let without = jet(&dag, &system, &[9.81], 0.0, &start, 14);
    // T of the double pendulum: va² + vb²/2 + va vb cos(a − b). Its products are fused elsewhere.
    let [a, b, va, vb] = [0, 1, 2, 3].map(|i| system.state[i]);
    let difference = dag.sub(a, b);
    let cos = dag.function(Function::Cos, &[difference]);
    let (va2, vb2) = (dag.powi(va, 2), dag.powi(vb, 2));
    let mixed = dag.product(&[va, vb, cos]);
    let kinetic =
        dag.linear(Rational::ZERO, &[(Rational::ONE, va2), (Rational::HALF, vb2), (Rational::ONE, mixed)]);
    system.monitored = vec![kinetic, a, dag.integer(3)];
    let with = jet(&dag, &system, &[9.81], 0.0, &start, 14);
    let expected = 0.09 + 0.245 + 0.3 * -0.7 * (1.3_f64 - 2.4).cos();
    assert!((with.monitored(0) - expected).abs() < 1e-15);
    assert_eq!((with.monitored(1), with.monitored(2)), (1.3, 3.0));
    assert_eq!((with.states(), with.watched(0)), (without.states(), without.watched(0)), "the same bits");
}
