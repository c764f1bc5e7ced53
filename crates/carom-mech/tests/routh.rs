//! The Routh function against textbooks, and its equations against those of L.

use carom_expr::{Dag, Expr, Random};
use carom_mech::{Draft, Dynamics, Mechanics, Routh, derive_equations, invariants, routh};

#[path = "../../../tests/gallery.rs"]
mod gallery;

fn derived(draft: Draft) -> Mechanics {
    let (model, _) = draft.check().unwrap_or_else(|e| panic!("{e:?}"));
    derive_equations(model).unwrap_or_else(|e| panic!("{e:?}"))
}

fn of_text(text: &str) -> Mechanics {
    let (draft, problems) = Draft::parse(text, "model.toml");
    assert!(problems.is_empty(), "{problems:?}");
    derived(draft)
}

fn reduced(m: &Mechanics) -> Result<(Routh, Dag), String> {
    let found = invariants(m);
    let mut dag = found.dag.clone();
    routh(m, &found, &mut dag).map(|r| (r, dag))
}

/// A value for every symbol: parameters their own, everything else random.
fn state(m: &Mechanics, dag: &Dag, random: &mut Random) -> Vec<f64> {
    let mut values: Vec<f64> = (0..dag.symbol_count()).map(|_| 0.4 * random.symmetric() + 0.7).collect();
    for p in &m.model.parameters {
        values[dag.as_symbol(p.symbol).unwrap().index()] = p.value;
    }
    values
}

fn value(dag: &Dag, e: Expr, symbols: &[f64]) -> f64 {
    dag.evaluate(e, |s| symbols[s.index()])
}

fn put(dag: &Dag, symbols: &mut [f64], e: Expr, x: f64) {
    symbols[dag.as_symbol(e).unwrap().index()] = x;
}

/// M x = b, by elimination with pivots.
fn solve(mut m: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let p = (k..n).max_by(|&i, &j| m[i][k].abs().total_cmp(&m[j][k].abs())).unwrap();
        m.swap(k, p);
        b.swap(k, p);
        for i in k + 1..n {
            let f = m[i][k] / m[k][k];
            let row = m[k].clone();
            m[i].iter_mut().zip(&row).skip(k).for_each(|(x, p)| *x -= f * p);
            b[i] -= f * b[k];
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| m[k][j] * b[j]).sum();
        b[k] = (b[k] - known) / m[k][k];
    }
    b
}

#[test]
fn the_routh_functions_of_top_and_spherical_pendulum_are_those_of_the_textbooks() {
    // Goldstein, Poole and Safko, §5.7 and §8.3; the energy of gravity is m g l cos θ of a top, −m g l cos θ of a pendulum.
    for (name, text) in [
        (
            "spinning_top",
            "I1/2*theta'^2 - (J_phi - J_psi*cos(theta))^2/(2*I1*sin(theta)^2) - J_psi^2/(2*I3) - m*g*l*cos(theta)",
        ),
        ("spherical_pendulum", "m*l^2/2*theta'^2 - J_phi^2/(2*m*l^2*sin(theta)^2) + m*g*l*cos(theta)"),
    ] {
        let m = derived(Draft::read(gallery::path(name)).unwrap().0);
        let (found, mut dag) = reduced(&m).unwrap_or_else(|e| panic!("{name}: {e}"));
        let expected = carom_expr::parse(&mut dag, text, &mut |dag, name| {
            Ok(dag.symbol(&format!("{}{}", name.text, "'".repeat(name.primes as usize))))
        })
        .unwrap_or_else(|e| panic!("{text}: {e:?}"));
        let mut random = Random(3);
        for _ in 0..50 {
            let at = state(&m, &dag, &mut random);
            let (a, b) = (value(&dag, found.function, &at), value(&dag, expected, &at));
            assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{name}: {a} {b}");
        }
    }
}

/// Accelerations of all free coordinates, from W a + h = Q.
fn accelerations(m: &Mechanics, dag: &Dag, at: &[f64]) -> Vec<f64> {
    let Dynamics::Lagrangian(l) = &m.dynamics else { panic!("a Lagrangian model") };
    let w = l.mass_matrix.iter().map(|row| row.iter().map(|&e| value(dag, e, at)).collect()).collect();
    let right = l.generalized_force.iter().zip(&l.bias);
    solve(w, right.map(|(&q, &h)| value(dag, q, at) - value(dag, h, at)).collect())
}

/// R_vv a = R_q − R_vq v − R_vt + Q in the other coordinates gives their accelerations, with θ̇ the reported rates and p_θ = J.
fn equations_agree(m: &Mechanics, what: &str) {
    let (found, mut dag) = reduced(m).unwrap_or_else(|e| panic!("{what}: {e}"));
    let Dynamics::Lagrangian(l) = &m.dynamics else { panic!("a Lagrangian model") };
    let coordinates = &m.model.coordinates;
    let slots: Vec<usize> = (0..m.free.len()).filter(|&s| !found.cyclic.contains(&m.free[s])).collect();
    let rest: Vec<usize> = slots.iter().map(|&s| m.free[s]).collect();
    let mut random = Random(17);
    for _ in 0..20 {
        let mut at = state(m, &dag, &mut random);
        let rates: Vec<f64> = found.rates.iter().map(|&e| value(&dag, e, &at)).collect();
        for (&i, rate) in found.cyclic.iter().zip(rates) {
            put(&dag, &mut at, coordinates[i].velocity, rate);
        }
        for (&i, &j) in found.cyclic.iter().zip(&found.momenta) {
            let (p, j) = (value(&dag, m.momenta[i], &at), value(&dag, j, &at));
            assert!((p - j).abs() <= 1e-10 * (1.0 + j.abs()), "{what}: the momentum is {p}, not {j}");
        }
        let full = accelerations(m, &dag, &at);
        let mut matrix = Vec::new();
        let mut right = Vec::new();
        for (&i, &slot) in rest.iter().zip(&slots) {
            let p = dag.derivative(found.function, coordinates[i].velocity);
            let row: Vec<Expr> = rest.iter().map(|&k| dag.derivative(p, coordinates[k].velocity)).collect();
            let by_q: Vec<Expr> = rest.iter().map(|&k| dag.derivative(p, coordinates[k].position)).collect();
            let (by_t, force) =
                (dag.derivative(p, m.model.time), dag.derivative(found.function, coordinates[i].position));
            matrix.push(row.iter().map(|&e| value(&dag, e, &at)).collect::<Vec<f64>>());
            let carried: f64 = rest
                .iter()
                .zip(&by_q)
                .map(|(&k, &e)| value(&dag, e, &at) * value(&dag, coordinates[k].velocity, &at))
                .sum();
            let outer = value(&dag, l.generalized_force[slot], &at);
            right.push(value(&dag, force, &at) - carried - value(&dag, by_t, &at) + outer);
        }
        for (a, &slot) in solve(matrix, right).iter().zip(&slots) {
            let size = full.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
            assert!((a - full[slot]).abs() <= 1e-9 * size, "{what}: {a} {full:?}");
        }
    }
}

#[test]
fn the_equations_of_the_routh_function_are_those_of_the_model() {
    let mut with = Vec::new();
    for name in gallery::names() {
        let m = derived(Draft::read(gallery::path(&name)).unwrap().0);
        if reduced(&m).is_ok() && m.rows.is_empty() {
            equations_agree(&m, &name);
            with.push(name);
        }
    }
    for name in ["spinning_top", "spherical_pendulum"] {
        assert!(with.iter().any(|w| w == name), "{with:?}");
    }
    // Coupled through the mass matrix, with a force on the other coordinate, a wall on it and an explicit time.
    equations_agree(&of_text(CART), "cart");
}

const CART: &str = "coordinates = [\"x\", \"theta\"]\n[parameters]\nM = 2.0\nm = 1.0\nl = 0.7\n[energy]\n\
    kinetic = \"M/2*x'^2 + m/2*(x'^2 + 2*l*cos(theta)*x'*theta' + l^2*theta'^2)\"\npotential = \"-m*9.81*l*cos(theta)*(1 + sin(t)/5)\"\n\
    [force.motor]\ngeneralized = { theta = \"-theta'/10\" }\n[wall.stop]\ngap = \"1 - theta\"\n[start]\nposition = { theta = 0.2 }\n";

#[test]
fn a_coordinate_that_something_moves_is_not_eliminated() {
    assert!(reduced(&of_text(CART)).is_ok());
    for (what, from, to) in [
        ("a wall moves it", "gap = \"1 - theta\"", "gap = \"1 - theta - x/9\""),
        ("a force acts along it", "theta = \"-theta'/10\"", "theta = \"-theta'/10\", x = \"-x'/10\""),
        ("a row contains it", "[start]", "[nonholonomic]\nroll = \"x' - theta'/3\"\n[start]"),
        ("the energy depends on it", "*(1 + sin(t)/5)", " + x^2/2"),
    ] {
        let text = CART.replace(from, to);
        assert_ne!(text, CART);
        let why = reduced(&of_text(&text)).map(|r| r.0).unwrap_err();
        assert!(why.contains("no cyclic coordinate keeps its momentum"), "{what}: {why}");
    }
    // Others: a free particle would have nothing left, and p is no function of v alone in a Hamiltonian.
    let free = "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\n[start]\nvelocity = { x = 1.0 }\n";
    assert!(reduced(&of_text(free)).map(|r| r.0).unwrap_err().contains("every coordinate is cyclic"));
    let h = "coordinates = [\"x\", \"y\"]\nhamiltonian = \"(p_x^2 + p_y^2)/2 + y^2\"\n[start]\nposition = { y = 1.0 }\n";
    assert!(reduced(&of_text(h)).map(|r| r.0).unwrap_err().contains("regular Lagrangian"));
}
