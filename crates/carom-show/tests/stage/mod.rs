//! Motions in closed form: what the tests of this room look at. Each test file uses some of them.
#![allow(dead_code)]

use carom_expr::{Dag, Expr};
use carom_mech::{CrossingDirection, *};
use carom_run::*;

fn stop_at(time: f64) -> Stop {
    let mut stop = Stop::default();
    stop.time = time;
    stop
}

pub fn coordinate(dag: &mut Dag, name: &str) -> Coordinate {
    Coordinate {
        name: name.into(),
        position: dag.symbol(name),
        velocity: dag.symbol(&format!("{name}'")),
        acceleration: dag.symbol(&format!("{name}''")),
        momentum: dag.symbol(&format!("p_{name}")),
        momentum_name: name.into(),
        driven: None,
    }
}

pub fn parameter(dag: &mut Dag, name: &str, value: f64) -> Parameter {
    let formula = dag.float(value);
    Parameter { name: name.into(), symbol: dag.symbol(name), formula, value }
}

pub fn model(
    name: &str,
    mut dag: Dag,
    coordinates: Vec<Coordinate>,
    kinetic: Expr,
    potential: Expr,
) -> Model {
    let n = coordinates.len();
    Model {
        name: name.into(),
        time: dag.symbol("t"),
        dag,
        coordinates,
        parameters: vec![],
        inputs: vec![],
        definitions: vec![],
        physics: Physics::Energies { kinetic, potential },
        dissipation: None,
        forces: vec![],
        rows: vec![],
        walls: vec![],
        events: vec![],
        outputs: vec![],
        bodies: vec![],
        units: vec![],
        inferred_units: vec![],
        view: View::default(),
        start: Start {
            time: 0.0,
            position: vec![None; n],
            velocity: vec![None; n],
            momentum: vec![None; n],
            project: false,
        },
        start_formulas: Vec::new(),
        run: RunSettings::default(),
        provenance: Default::default(),
    }
}

/// Mechanics with unit masses: enough for everything that only shows.
pub fn mechanics(mut model: Model) -> Mechanics {
    let Physics::Energies { kinetic, potential } = model.physics else { unreachable!("made above") };
    let minus = model.dag.neg(potential);
    let lagrangian = model.dag.sum(&[kinetic, minus]);
    let energy = model.dag.sum(&[kinetic, potential]);
    let zero = model.dag.zero();
    let one = model.dag.one();
    let n = model.coordinates.len();
    let walls = model
        .walls
        .iter()
        .map(|w| WallMechanics {
            name: w.name.clone(),
            gap: w.gap,
            normal: vec![zero; n],
            driven_normal: vec![],
            gap_t: zero,
            gap_rate: zero,
            bias: zero,
            restitution: w.restitution,
        })
        .collect();
    Mechanics {
        free: (0..n).collect(),
        dynamics: Dynamics::Lagrangian(LagrangianDynamics {
            lagrangian,
            mass_matrix: vec![vec![one; n]; n],
            bias: vec![zero; n],
            generalized_force: vec![zero; n],
            augmentation_rows: vec![],
        }),
        positions: model.coordinates.iter().map(|c| c.position).collect(),
        velocities: model.coordinates.iter().map(|c| c.velocity).collect(),
        momenta: model.coordinates.iter().map(|c| c.velocity).collect(),
        hamiltonian: energy,
        energy,
        energy_terms: vec![kinetic, potential],
        power: zero,
        rows: vec![],
        walls,
        drives: vec![],
        outputs: model.outputs.iter().map(|o| o.expr).collect(),
        events: vec![],
        quadratic: true,
        warnings: vec![],
        forms: Default::default(),
        model,
    }
}

fn signal(name: &str, values: Vec<f64>) -> Signal {
    Signal { name: name.into(), values }
}

const G: f64 = 9.81;

/// Pairs of numbers.
pub type Pairs = Vec<(f64, f64)>;

/// Height and velocity of a ball let go at height 1, and its impacts (time, speed before), with restitution e.
pub fn bounce(times: &[f64], e: f64, most: usize) -> (Pairs, Pairs) {
    let until = times.last().copied().unwrap_or(0.0);
    let mut impacts = Vec::new();
    let (mut t, mut v) = ((2.0 / G).sqrt(), (2.0 * G).sqrt());
    while t <= until && impacts.len() < most {
        impacts.push((t, v));
        v *= e;
        t += 2.0 * v / G;
    }
    let at = |t: f64| match impacts.iter().rev().find(|i| i.0 <= t) {
        None => (1.0 - G / 2.0 * t * t, -G * t),
        Some(&(t0, v)) => {
            let (s, up) = (t - t0, e * v);
            (up * s - G / 2.0 * s * s, up - G * s)
        }
    };
    (times.iter().map(|&t| at(t)).collect(), impacts)
}

/// A ball thrown sideways onto a floor, e = 0.8, with an event at each highest point and a rest forecast as a contact.
pub fn ball(samples: usize) -> (Mechanics, Motion) {
    let mut dag = Dag::new();
    let x = coordinate(&mut dag, "x");
    let y = coordinate(&mut dag, "y");
    let g = parameter(&mut dag, "g", G);
    let e = parameter(&mut dag, "e", 0.8);
    let (vx2, vy2) = (dag.powi(x.velocity, 2), dag.powi(y.velocity, 2));
    let half = dag.rational(1, 2);
    let sum = dag.sum(&[vx2, vy2]);
    let kinetic = dag.product(&[half, sum]);
    let potential = dag.product(&[g.symbol, y.position]);
    let speed = dag.sqrt(sum);
    let (gap, when, restitution) = (y.position, y.velocity, e.symbol);
    let mut m = model("Bouncing ball", dag, vec![x, y], kinetic, potential);
    m.parameters = vec![g, e];
    m.walls = vec![Wall { name: "floor".into(), gap, restitution, draw: None }];
    m.events = vec![Event {
        name: "apex".into(),
        when,
        direction: CrossingDirection::Falling,
        only_if: None,
        action: Action::Record,
    }];
    m.outputs = vec![Named { name: "speed".into(), expr: speed }];
    m.units = vec![("x".into(), "m".into()), ("y".into(), "m".into()), ("t".into(), "s".into())];

    let time: Vec<f64> = (0..samples).map(|k| 3.0 * k as f64 / (samples.max(2) - 1) as f64).collect();
    let (states, hits) = bounce(&time, 0.8, usize::MAX);
    let energy = |y: f64, v: f64| 0.5 * (1.0 + v * v) + G * y;
    let impacts = hits.iter().map(|&(t, v)| Impact {
        time: t,
        walls: vec![0],
        impulse: vec![1.8 * v],
        gap_rate_before: vec![-v],
        gap_rate_after: vec![0.8 * v],
        position: vec![t, 0.0],
        velocity_before: vec![1.0, -v],
        velocity_after: vec![1.0, 0.8 * v],
        hamiltonian_before: energy(0.0, v),
        hamiltonian_after: energy(0.0, 0.8 * v),
        ..Impact::default()
    });
    let apexes = hits.iter().map(|&(t, v)| {
        let s = 0.8 * v / G;
        EventRecord { time: t + s, event: 0, position: vec![t + s, 0.4 * v * s], velocity: vec![1.0, 0.0] }
    });
    let (ys, vs): (Vec<f64>, Vec<f64>) = states.iter().copied().unzip();
    let h: Vec<f64> = states.iter().map(|&(y, v)| energy(y, v)).collect();
    let ones = vec![1.0; samples];
    let mut motion = Motion {
        model: m.name.clone(),
        stop: stop_at(3.0),
        position: vec![signal("x", time.clone()), signal("y", ys.clone())],
        velocity: vec![signal("x", ones.clone()), signal("y", vs.clone())],
        momentum: vec![signal("x", ones), signal("y", vs.clone())],
        hamiltonian: h.clone(),
        energy: h,
        contact_force: vec![signal("floor", vec![0.0; samples])],
        gap: vec![signal("floor", ys)],
        output: vec![signal("speed", vs.iter().map(|v| v.hypot(1.0)).collect())],
        impacts: impacts.collect(),
        contacts: vec![Contact { wall: 0, from: 2.99, to: None, zeno: true, force_at_start: G }],
        grazes: vec![Graze { time: 1.5, wall: 0 }],
        events: apexes.filter(|e| e.time <= 3.0).collect(),
        warnings: vec!["a \"quoted\" word".into()],
        time,
        ..Motion::default()
    };
    let mechanics = mechanics(m);
    motion.names = Names::of(&mechanics).into();
    (mechanics, motion)
}
