//! Models by hand, and numbers to compare with.
#![allow(dead_code, clippy::needless_range_loop)]

pub mod closed;
pub mod hyper;
pub mod independent;

use carom_expr::{Dag, Expr};
use carom_mech::{
    Coordinate, Driven, Model, Named, Parameter, Physics, Row, RowKind, RunSettings, Start, View, Wall,
};

/// A model without physics: coordinates and parameters with their values.
pub fn model(coordinates: &[&str], parameters: &[(&str, f64)]) -> Model {
    let mut dag = Dag::new();
    let coordinates: Vec<Coordinate> = coordinates
        .iter()
        .map(|name| Coordinate {
            name: name.to_string(),
            position: dag.symbol(name),
            velocity: dag.symbol(&format!("{name}'")),
            acceleration: dag.symbol(&format!("{name}''")),
            momentum: dag.symbol(&format!("p_{name}")),
            momentum_name: name.to_string(),
            driven: None,
        })
        .collect();
    let n = coordinates.len();
    let parameters = parameters
        .iter()
        .map(|&(name, value)| Parameter {
            name: name.to_string(),
            symbol: dag.symbol(name),
            formula: dag.float(value),
            value,
        })
        .collect();
    let (time, zero) = (dag.symbol("t"), dag.zero());
    Model {
        name: "by hand".to_string(),
        dag,
        time,
        coordinates,
        parameters,
        inputs: Vec::new(),
        definitions: Vec::new(),
        physics: Physics::Lagrangian(zero),
        dissipation: None,
        forces: Vec::new(),
        rows: Vec::new(),
        walls: Vec::new(),
        events: Vec::new(),
        outputs: Vec::new(),
        bodies: Vec::new(),
        units: Vec::new(),
        inferred_units: Vec::new(),
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

/// Adds q_k = f(t).
pub fn drive(model: &mut Model, k: usize, position: Expr) {
    let velocity = model.dag.derivative(position, model.time);
    let acceleration = model.dag.derivative(velocity, model.time);
    model.coordinates[k].driven = Some(Driven { position, velocity, acceleration });
}

/// Adds a constraint row.
pub fn row(model: &mut Model, name: &str, kind: RowKind, expr: Expr) {
    model.rows.push(Row { name: name.to_string(), kind, expr });
}

/// Adds an elastic wall.
pub fn wall(model: &mut Model, name: &str, gap: Expr) {
    let restitution = model.dag.one();
    model.walls.push(Wall { name: name.to_string(), gap, restitution, draw: None });
}

/// Evaluates with symbols given by name; parameters come from the model.
pub fn value(model: &Model, e: Expr, at: &[(&str, f64)]) -> f64 {
    model.dag.evaluate(e, |s| {
        let name = model.dag.symbol_name(s);
        at.iter()
            .find(|(n, _)| *n == name)
            .map(|(_, x)| *x)
            .or_else(|| model.parameters.iter().find(|p| p.name == name).map(|p| p.value))
            .unwrap_or_else(|| panic!("no value for `{name}`"))
    })
}

/// A formula of the model's names; a prime on a definition is its total time derivative.
pub fn formula(model: &mut Model, text: &str) -> Expr {
    let (definitions, coordinates, time) = (model.definitions.clone(), model.coordinates.clone(), model.time);
    let mut names = |dag: &mut Dag, name: carom_expr::Name<'_>| {
        let Some(meaning) = definitions.iter().find(|d| d.name == name.text) else {
            return Ok(dag.symbol(&format!("{}{}", name.text, "'".repeat(name.primes as usize))));
        };
        let mut e = meaning.expr;
        for _ in 0..name.primes {
            let mut parts = vec![dag.derivative(e, time)];
            for c in &coordinates {
                for (x, rate) in [(c.position, c.velocity), (c.velocity, c.acceleration)] {
                    let slope = dag.derivative(e, x);
                    parts.push(dag.mul(slope, rate));
                }
            }
            e = dag.sum(&parts);
        }
        Ok(e)
    };
    carom_expr::parse(&mut model.dag, text, &mut names).unwrap_or_else(|p| panic!("{text}: {p:?}"))
}

/// Adds definitions, in order of use.
pub fn define(model: &mut Model, definitions: &[(&str, &str)]) {
    for (name, text) in definitions {
        let expr = formula(model, text);
        model.definitions.push(Named { name: name.to_string(), expr });
    }
}

/// A model given by kinetic and potential energy.
pub fn energies(
    coordinates: &[&str],
    parameters: &[(&str, f64)],
    definitions: &[(&str, &str)],
    kinetic: &str,
    potential: &str,
) -> Model {
    let mut m = model(coordinates, parameters);
    define(&mut m, definitions);
    let (kinetic, potential) = (formula(&mut m, kinetic), formula(&mut m, potential));
    m.physics = Physics::Energies { kinetic, potential };
    m
}

/// A model given by its Lagrangian.
pub fn lagrangian(coordinates: &[&str], parameters: &[(&str, f64)], text: &str) -> Model {
    let mut m = model(coordinates, parameters);
    let l = formula(&mut m, text);
    m.physics = Physics::Lagrangian(l);
    m
}

/// A model given by its Hamiltonian; momenta are p_x, p_y, …
pub fn hamiltonian(coordinates: &[&str], parameters: &[(&str, f64)], text: &str) -> Model {
    let mut m = model(coordinates, parameters);
    let h = formula(&mut m, text);
    m.physics = Physics::Hamiltonian(h);
    m
}
