//! Compares derived mechanics with hyper-dual numbers applied to the formulas as given.
//!
//! At a random state with a random acceleration: Euler–Lagrange rows, momenta, E, forces, rows, walls, driving
//! forces and power. ε₁ varies one variable, ε₂ follows the motion, so ε₁ε₂ of L is d/dt ∂L/∂v.

use super::hyper::{Hyper, hyper, real};
use carom_expr::Expr;
use carom_mech::{Dynamics, ForceKind, LagrangianDynamics, Mechanics, Physics, RowKind};
use std::collections::HashMap;

/// A small generator of reproducible numbers in (−1, 1).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// A point of the path: value, rate and second rate of every symbol.
#[derive(Clone)]
pub struct Path {
    values: HashMap<Expr, [f64; 3]>,
    pub v: Vec<f64>,
    pub a: Vec<f64>,
}

impl Path {
    /// Numbers along the path in both directions: ε₁ and ε₂ are time.
    fn twice(&self) -> impl Fn(Expr) -> Hyper + '_ {
        |e| {
            let [value, rate, second] =
                self.values.get(&e).copied().unwrap_or_else(|| panic!("no value for {e:?}"));
            Hyper { value, first: rate, second: rate, both: second }
        }
    }

    /// ε₁ varies `symbol`, ε₂ is time.
    fn varied(&self, symbol: Expr) -> impl Fn(Expr) -> Hyper + '_ {
        move |e| {
            let [value, rate, _] =
                self.values.get(&e).copied().unwrap_or_else(|| panic!("no value for {e:?}"));
            Hyper { value, first: f64::from(u8::from(e == symbol)), second: rate, both: 0.0 }
        }
    }

    /// Changes the value of a symbol.
    pub fn set(&mut self, symbol: Expr, value: f64) {
        self.values.entry(symbol).or_default()[0] = value;
    }

    pub fn get(&self, mechanics: &Mechanics, e: Expr) -> f64 {
        mechanics.model.dag.evaluate(e, |s| self.values[&mechanics.model.dag.symbol_expr(s)][0])
    }
}

/// A random path through a random state near the start. Momenta of Hamiltonian models move at random rates.
pub fn random_path(mechanics: &Mechanics, random: &mut Random, width: f64) -> Path {
    let model = &mechanics.model;
    let mut values: HashMap<Expr, [f64; 3]> = HashMap::new();
    for p in &model.parameters {
        values.insert(p.symbol, [p.value, 0.0, 0.0]);
    }
    let time = model.start.time + width * random.next().abs();
    values.insert(model.time, [time, 1.0, 0.0]);
    for u in &model.inputs {
        let [x, y, z] = [random.next(), random.next(), random.next()];
        values.insert(u.value, [x, y, z]);
        values.insert(u.rate, [y, z, 0.0]);
        values.insert(u.second, [z, 0.0, 0.0]);
    }
    let hamiltonian = matches!(mechanics.dynamics, Dynamics::Hamiltonian(_));
    let near = |x: Option<f64>, random: &mut Random| {
        let x = x.unwrap_or(0.0);
        x + width * x.abs().max(1.0) * random.next()
    };
    for (i, c) in model.coordinates.iter().enumerate() {
        let x = near(model.start.position[i], random);
        let v = near(model.start.velocity[i], random);
        let p = near(model.start.momentum[i], random);
        let (a, p_rate) = (random.next(), random.next());
        values.insert(c.position, [x, v, a]);
        values.insert(c.velocity, [v, a, 0.0]);
        values.insert(c.acceleration, [a, 0.0, 0.0]);
        values.insert(c.momentum, [p, p_rate, 0.0]);
    }
    // Driven coordinates: f, ḟ, f̈ by hyper-dual numbers in t, from f alone.
    for c in &model.coordinates {
        if let Some(f) = c.driven {
            let path = Path { values: values.clone(), v: vec![], a: vec![] };
            let h = hyper(&model.dag, f.position, &path.twice());
            values.insert(c.position, [h.value, h.first, h.both]);
            values.insert(c.velocity, [h.first, h.both, 0.0]);
            values.insert(c.acceleration, [h.both, 0.0, 0.0]);
        }
    }
    if hamiltonian {
        // q̇ = ∂H/∂p, q̈ = d/dt ∂H/∂p along the path
        let Physics::Hamiltonian(h) = model.physics else { unreachable!() };
        for pass in 0..2 {
            for c in model.coordinates.iter().filter(|c| c.driven.is_none()) {
                let path = Path { values: values.clone(), v: vec![], a: vec![] };
                let found = hyper(&model.dag, h, &path.varied(c.momentum));
                let x = values[&c.position][0];
                if pass == 0 {
                    values.insert(c.position, [x, found.first, 0.0]);
                } else {
                    values.insert(c.position, [x, found.first, found.both]);
                    values.insert(c.velocity, [found.first, found.both, 0.0]);
                    values.insert(c.acceleration, [found.both, 0.0, 0.0]);
                }
            }
        }
    }
    let v = model.coordinates.iter().map(|c| values[&c.velocity][0]).collect();
    let a = model.coordinates.iter().map(|c| values[&c.acceleration][0]).collect();
    Path { values, v, a }
}

/// Ten thousand units of rounding of the largest term: far above what a few hundred operations lose, far below any
/// wrong term.
const TOLERANCE: f64 = 1e4 * f64::EPSILON;

fn close(found: f64, expected: f64, scale: f64, what: &str) {
    let bound = TOLERANCE * (1.0 + scale.abs() + expected.abs());
    assert!((found - expected).abs() <= bound, "{what}: {found} instead of {expected} (bound {bound:e})");
}

/// Q_i of coordinate i from the formulas as given.
fn force(mechanics: &Mechanics, path: &Path, i: usize) -> f64 {
    let model = &mechanics.model;
    let c = &model.coordinates[i];
    let mut q = 0.0;
    if let Some(r) = model.dissipation {
        q -= hyper(&model.dag, r, &path.varied(c.velocity)).first;
    }
    for f in &model.forces {
        match &f.kind {
            ForceKind::Point { at, vector } => {
                for (&r, &component) in at.iter().zip(vector) {
                    let slope = hyper(&model.dag, r, &path.varied(c.position)).first;
                    q += slope * hyper(&model.dag, component, &path.twice()).value;
                }
            }
            ForceKind::Generalized(all) => q += hyper(&model.dag, all[i], &path.twice()).value,
        }
    }
    q
}

/// Everything that is derived, at one point of one path. Returns false if the point lies outside the domain.
pub fn agrees(mechanics: &Mechanics, path: &Path) -> bool {
    let model = &mechanics.model;
    if !path.get(mechanics, mechanics.hamiltonian).is_finite() {
        return false;
    }
    let get = |e| path.get(mechanics, e);
    match &mechanics.dynamics {
        Dynamics::Lagrangian(l) => lagrangian_agrees(mechanics, l, path),
        Dynamics::Degenerate(d) => lagrangian_agrees(mechanics, &d.lagrangian, path),
        Dynamics::Hamiltonian(_) => hamiltonian_agrees(mechanics, path),
    }
    for (row, given) in mechanics.rows.iter().zip(&model.rows) {
        let path_of = hyper(&model.dag, given.expr, &path.twice());
        let (rate, second) = match given.kind {
            RowKind::Holonomic => (path_of.first, path_of.both),
            RowKind::Nonholonomic => (path_of.value, path_of.first),
        };
        line_agrees(mechanics, path, &row.normal, get(row.drift), get(row.bias), rate, second, &row.name);
    }
    for (wall, given) in mechanics.walls.iter().zip(&model.walls) {
        let of = hyper(&model.dag, given.gap, &path.twice());
        close(get(wall.gap), of.value, 0.0, "gap");
        close(get(wall.gap_rate), of.first, of.first, "gap rate");
        line_agrees(
            mechanics,
            path,
            &wall.normal,
            get(wall.gap_t),
            get(wall.bias),
            of.first,
            of.both,
            &wall.name,
        );
        for (&k, &n) in mechanics.drives.iter().map(|d| &d.coordinate).zip(&wall.driven_normal) {
            let c = &model.coordinates[k];
            close(get(n), hyper(&model.dag, given.gap, &path.varied(c.position)).first, 0.0, "driven normal");
        }
    }
    for (&found, given) in mechanics.outputs.iter().zip(&model.outputs) {
        let expected = hyper(&model.dag, given.expr, &path.twice()).value;
        close(get(found), expected, expected, &given.name);
    }
    true
}

#[allow(clippy::too_many_arguments)]
fn line_agrees(
    mechanics: &Mechanics,
    path: &Path,
    normal: &[Expr],
    drift: f64,
    bias: f64,
    rate: f64,
    second: f64,
    name: &str,
) {
    let n: Vec<f64> = normal.iter().map(|&e| path.get(mechanics, e)).collect();
    let along = |x: &[f64]| -> (f64, f64) {
        mechanics.free.iter().zip(&n).fold((0.0, 0.0), |s, (&i, n)| (s.0 + n * x[i], s.1 + (n * x[i]).abs()))
    };
    let ((moving, size), (pushed, push_size)) = (along(&path.v), along(&path.a));
    close(moving + drift, rate, size, &format!("rate of {name}"));
    // For a Hamiltonian model `bias` also holds the part of a that is not H_pp ṗ.
    let extra = match &mechanics.dynamics {
        Dynamics::Hamiltonian(h) => {
            let values: Vec<f64> = h.velocity_bias.iter().map(|&e| path.get(mechanics, e)).collect();
            n.iter().zip(&values).map(|(n, x)| n * x).sum::<f64>()
        }
        _ => 0.0,
    };
    close(
        pushed - extra + bias,
        second,
        push_size + extra.abs() + bias.abs(),
        &format!("second rate of {name}"),
    );
}

fn lagrangian_agrees(mechanics: &Mechanics, l: &LagrangianDynamics, path: &Path) {
    let model = &mechanics.model;
    let get = |e| path.get(mechanics, e);
    let given = |symbols: &dyn Fn(Expr) -> Hyper| -> Hyper {
        match model.physics {
            Physics::Energies { kinetic, potential } => {
                let (t, v) = (hyper(&model.dag, kinetic, symbols), hyper(&model.dag, potential, symbols));
                Hyper {
                    value: t.value - v.value,
                    first: t.first - v.first,
                    second: t.second - v.second,
                    both: t.both - v.both,
                }
            }
            Physics::Lagrangian(l) | Physics::Hamiltonian(l) => hyper(&model.dag, l, symbols),
        }
    };
    // d/dt ∂L/∂v − ∂L/∂q and ∂L/∂v
    let rows: Vec<(f64, f64)> = model
        .coordinates
        .iter()
        .map(|c| {
            let by_v = given(&path.varied(c.velocity));
            let by_q = given(&path.varied(c.position));
            (by_v.both - by_q.first, by_v.first)
        })
        .collect();
    let total = given(&path.twice());
    close(get(l.lagrangian), total.value, 0.0, "lagrangian");
    let mut energy = -total.value;
    let mut work = 0.0;
    let mut balance_size = 0.0;
    for (slot, &i) in mechanics.free.iter().enumerate() {
        let inertia: Vec<f64> =
            mechanics.free.iter().zip(&l.mass_matrix[slot]).map(|(&j, &w)| get(w) * path.a[j]).collect();
        let found = inertia.iter().sum::<f64>() + get(l.bias[slot]);
        let size = inertia.iter().map(|x| x.abs()).sum::<f64>() + get(l.bias[slot]).abs();
        close(found, rows[i].0, size, &format!("Euler–Lagrange row of {}", model.coordinates[i].name));
        let q = force(mechanics, path, i);
        close(get(l.generalized_force[slot]), q, q, "generalized force");
        energy += rows[i].1 * path.v[i];
        work += (q - rows[i].0) * path.v[i];
        balance_size += ((q.abs() + size) * path.v[i]).abs();
    }
    for (i, &p) in mechanics.momenta.iter().enumerate() {
        close(get(p), rows[i].1, 0.0, "momentum");
    }
    close(get(mechanics.hamiltonian), energy, total.value.abs(), "hamiltonian");
    for drive in &mechanics.drives {
        let inertia: f64 = mechanics.free.iter().zip(&drive.mass).map(|(&j, &w)| get(w) * path.a[j]).sum();
        let size = inertia.abs() + get(drive.bias).abs();
        close(inertia + get(drive.bias), rows[drive.coordinate].0, size, "driving force");
        let q = force(mechanics, path, drive.coordinate);
        close(get(drive.generalized_force), q, q, "force on a driven coordinate");
    }
    // Along any path dE/dt = Σ (Euler–Lagrange row)·v − ∂L/∂t, so power = dE/dt + Σ (Q − row)·v.
    let rate = hyper(&model.dag, mechanics.hamiltonian, &path.twice());
    close(get(mechanics.power), rate.first + work, rate.first.abs() + balance_size, "power");
}

fn hamiltonian_agrees(mechanics: &Mechanics, path: &Path) {
    let model = &mechanics.model;
    let Dynamics::Hamiltonian(h) = &mechanics.dynamics else { unreachable!() };
    let Physics::Hamiltonian(given) = model.physics else { unreachable!() };
    let get = |e| path.get(mechanics, e);
    let mut work = 0.0;
    for (slot, &i) in mechanics.free.iter().enumerate() {
        let c = &model.coordinates[i];
        let by_p = hyper(&model.dag, given, &path.varied(c.momentum));
        let by_q = hyper(&model.dag, given, &path.varied(c.position));
        if mechanics.drives.is_empty() {
            close(get(h.velocity[slot]), by_p.first, by_p.first, "velocity");
            let q = force(mechanics, path, i);
            close(get(h.generalized_force[slot]), q, q, "generalized force");
            close(get(h.force[slot]), q - by_q.first, q.abs() + by_q.first.abs(), "force");
            work += q * by_p.first;
            // a = H_pp ṗ + velocity_bias
            let pushed: f64 = mechanics
                .free
                .iter()
                .zip(&h.inverse_mass[slot])
                .map(|(&j, &m)| get(m) * path.values[&model.coordinates[j].momentum][1])
                .sum();
            let found = pushed + get(h.velocity_bias[slot]);
            close(found, path.a[i], pushed.abs() + get(h.velocity_bias[slot]).abs(), "acceleration");
        }
    }
    if mechanics.drives.is_empty() {
        let only_time = |e: Expr| {
            let [value, rate, _] = path.values[&e];
            let moves = e == model.time || model.inputs.iter().any(|u| e == u.value || e == u.rate);
            if moves { Hyper { value, first: rate, second: 0.0, both: 0.0 } } else { real(value) }
        };
        let explicit = hyper(&model.dag, given, &only_time).first;
        close(get(mechanics.power), work + explicit, work.abs() + explicit.abs(), "power");
    }
}
