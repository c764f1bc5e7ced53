//! Accelerations of the classics against the formulas in textbooks.

mod support;

use carom_mech::{Model, RowKind, StateValues, derive, linearise};
use support::independent::Random;
use support::{drive, energies, formula, hamiltonian, lagrangian, row};

/// Compares the accelerations (or ṗ) at random states: positions and rates are drawn in the given ranges.
fn accelerations_are(
    model: Model,
    ranges: &[(f64, f64)],
    expected: impl Fn(f64, &[f64], &[f64]) -> Vec<f64>,
) {
    let mechanics = derive(model).unwrap();
    let n = mechanics.free.len();
    let mut random = Random(11);
    for _ in 0..20 {
        let time = random.next();
        let draw =
            |random: &mut Random, (low, high): (f64, f64)| low + (high - low) * (random.next() + 1.0) / 2.0;
        let position: Vec<f64> = ranges[..n].iter().map(|&r| draw(&mut random, r)).collect();
        let rate: Vec<f64> = ranges[n..].iter().map(|&r| draw(&mut random, r)).collect();
        let want = expected(time, &position, &rate);
        let state = StateValues { time, position, rate, inputs: vec![] };
        let found = linearise(&mechanics, &state).unwrap().rate;
        for (f, w) in found[n..].iter().zip(&want) {
            // Solving with condition numbers up to a few hundred loses three digits.
            assert!(
                (f - w).abs() < 1e-12 * (1.0 + w.abs()) * 100.0,
                "{state:?}: {found:?} instead of {want:?}"
            );
        }
    }
}

const ANGLE: (f64, f64) = (-3.0, 3.0);
const RATE: (f64, f64) = (-2.0, 2.0);

#[test]
fn the_double_pendulum() {
    let m = energies(
        &["a", "b"],
        &[("m1", 1.2), ("m2", 0.7), ("l1", 0.9), ("l2", 1.1), ("g", 9.81)],
        &[("x1", "l1*sin(a)"), ("y1", "-l1*cos(a)"), ("x2", "x1 + l2*sin(b)"), ("y2", "y1 - l2*cos(b)")],
        "m1/2*(x1'^2 + y1'^2) + m2/2*(x2'^2 + y2'^2)",
        "m1*g*y1 + m2*g*y2",
    );
    let (m1, m2, l1, l2, g) = (1.2, 0.7, 0.9, 1.1, 9.81);
    accelerations_are(m, &[ANGLE, ANGLE, RATE, RATE], |_, q, v| {
        let (d, w1, w2) = (q[0] - q[1], v[0] * v[0], v[1] * v[1]);
        let den = 2.0 * m1 + m2 - m2 * (2.0 * d).cos();
        let a = -g * (2.0 * m1 + m2) * q[0].sin()
            - m2 * g * (q[0] - 2.0 * q[1]).sin()
            - 2.0 * d.sin() * m2 * (w2 * l2 + w1 * l1 * d.cos());
        let b = 2.0 * d.sin() * (w1 * l1 * (m1 + m2) + g * (m1 + m2) * q[0].cos() + w2 * l2 * m2 * d.cos());
        vec![a / (l1 * den), b / (l2 * den)]
    });
}

#[test]
fn the_elastic_pendulum_in_polar_coordinates() {
    let m = energies(
        &["theta", "L"],
        &[("m", 1.5), ("K", 20.0), ("L0", 0.8), ("g", 9.81)],
        &[("x", "L*cos(theta)"), ("y", "L*sin(theta)")],
        "m/2*(x'^2 + y'^2)",
        "m*g*L*sin(theta) + K/2*(L - L0)^2",
    );
    accelerations_are(m, &[ANGLE, (0.5, 1.5), RATE, RATE], |_, q, v| {
        vec![
            -(2.0 * v[0] * v[1] + 9.81 * q[0].cos()) / q[1],
            q[1] * v[0] * v[0] - 9.81 * q[0].sin() - 20.0 / 1.5 * (q[1] - 0.8),
        ]
    });
}

#[test]
fn the_spherical_pendulum() {
    let m = energies(
        &["theta", "phi"],
        &[("l", 0.7), ("g", 9.81)],
        &[("x", "l*sin(theta)*cos(phi)"), ("y", "l*sin(theta)*sin(phi)"), ("z", "-l*cos(theta)")],
        "(x'^2 + y'^2 + z'^2)/2",
        "g*z",
    );
    accelerations_are(m, &[(0.3, 2.8), ANGLE, RATE, RATE], |_, q, v| {
        let (s, c) = q[0].sin_cos();
        vec![s * c * v[1] * v[1] - 9.81 / 0.7 * s, -2.0 * v[0] * v[1] * c / s]
    });
}

#[test]
fn the_spherical_pendulum_with_its_rod_as_a_constraint() {
    let mut m = energies(&["x", "y", "z"], &[("g", 9.81)], &[], "(x'^2 + y'^2 + z'^2)/2", "g*z");
    let c = formula(&mut m, "x^2 + y^2 + z^2 - 1");
    row(&mut m, "rod", RowKind::Holonomic, c);
    m.start.position[2] = Some(-1.0);
    // r″ = g − r (g·r + |v|²)/|r|²
    accelerations_are(m, &[(0.2, 1.0), (0.2, 1.0), (0.2, 1.0), RATE, RATE, RATE], |_, q, v| {
        let r2: f64 = q.iter().map(|x| x * x).sum();
        let k = (-9.81 * q[2] + v.iter().map(|x| x * x).sum::<f64>()) / r2;
        vec![-k * q[0], -k * q[1], -9.81 - k * q[2]]
    });
}

#[test]
fn a_cart_with_a_pendulum_pushed_by_a_force() {
    let mut m = energies(
        &["x", "theta"],
        &[("M", 2.0), ("m", 0.4), ("l", 0.6), ("g", 9.81)],
        &[("px", "x + l*sin(theta)"), ("py", "-l*cos(theta)")],
        "M/2*x'^2 + m/2*(px'^2 + py'^2)",
        "m*g*py",
    );
    let (at, push) = (formula(&mut m, "x"), formula(&mut m, "3*cos(t)"));
    m.forces.push(carom_mech::Force {
        name: "push".into(),
        kind: carom_mech::ForceKind::Point { at: vec![at], vector: vec![push] },
    });
    accelerations_are(m, &[RATE, ANGLE, RATE, RATE], |t, q, v| {
        let (s, c) = q[1].sin_cos();
        let f = 3.0 * t.cos();
        let x = (f + 0.4 * s * (0.6 * v[1] * v[1] + 9.81 * c)) / (2.0 + 0.4 * s * s);
        vec![x, -(x * c + 9.81 * s) / 0.6]
    });
}

#[test]
fn kepler_in_polar_coordinates_and_from_its_hamiltonian() {
    let m = lagrangian(&["r", "phi"], &[("k", 1.3)], "(r'^2 + r^2*phi'^2)/2 + k/r");
    let mut m = m;
    m.start.position[0] = Some(1.0);
    accelerations_are(m, &[(0.5, 2.0), ANGLE, RATE, RATE], |_, q, v| {
        vec![q[0] * v[1] * v[1] - 1.3 / (q[0] * q[0]), -2.0 * v[0] * v[1] / q[0]]
    });
    let mut m = hamiltonian(&["x", "y"], &[("k", 1.3)], "(p_x^2 + p_y^2)/2 - k/sqrt(x^2 + y^2)");
    m.start.position[0] = Some(1.0);
    accelerations_are(m, &[(0.5, 2.0), (0.5, 2.0), RATE, RATE], |_, q, _| {
        let r3 = (q[0] * q[0] + q[1] * q[1]).powf(1.5);
        vec![-1.3 * q[0] / r3, -1.3 * q[1] / r3]
    });
}

#[test]
fn the_heavy_symmetric_top() {
    let mut m = energies(
        &["theta", "phi", "psi"],
        &[("I1", 0.8), ("I3", 0.3), ("mgl", 2.0)],
        &[],
        "I1/2*(theta'^2 + phi'^2*sin(theta)^2) + I3/2*(psi' + phi'*cos(theta))^2",
        "mgl*cos(theta)",
    );
    m.start.position[0] = Some(0.5);
    accelerations_are(m, &[(0.4, 2.6), ANGLE, ANGLE, RATE, RATE, RATE], |_, q, v| {
        let (s, c) = q[0].sin_cos();
        let w3 = v[2] + v[1] * c;
        let theta = (0.8 * v[1] * v[1] * s * c - 0.3 * w3 * v[1] * s + 2.0 * s) / 0.8;
        // p_φ = I1 φ′ sin² + I3 w3 cos and p_ψ = I3 w3 are constant
        let phi = (0.3 * w3 * s * v[0] - 2.0 * 0.8 * v[1] * s * c * v[0]) / (0.8 * s * s);
        vec![theta, phi, v[1] * s * v[0] - phi * c]
    });
}

#[test]
fn a_bead_on_a_turning_hoop() {
    let mut m = energies(
        &["theta", "phi"],
        &[("R", 0.5), ("g", 9.81)],
        &[("x", "R*sin(theta)*cos(phi)"), ("y", "R*sin(theta)*sin(phi)"), ("z", "-R*cos(theta)")],
        "(x'^2 + y'^2 + z'^2)/2",
        "g*z",
    );
    let f = formula(&mut m, "3*t + t^2");
    drive(&mut m, 1, f);
    accelerations_are(m, &[ANGLE, RATE], |t, q, _| {
        let w = 3.0 + 2.0 * t;
        vec![w * w * q[0].sin() * q[0].cos() - 9.81 / 0.5 * q[0].sin()]
    });
}

#[test]
fn the_rolling_disk_keeps_its_spins() {
    let mut m = energies(
        &["x", "y", "theta", "phi"],
        &[("m", 1.0), ("R", 1.5), ("I", 0.5), ("J", 0.25)],
        &[],
        "m/2*(x'^2 + y'^2) + I/2*theta'^2 + J/2*phi'^2",
        "0",
    );
    for (name, text) in [("a", "x' - R*cos(phi)*theta'"), ("b", "y' - R*sin(phi)*theta'")] {
        let a = formula(&mut m, text);
        row(&mut m, name, RowKind::Nonholonomic, a);
    }
    accelerations_are(m, &[RATE, RATE, ANGLE, ANGLE, RATE, RATE, RATE, RATE], |_, q, v| {
        let (s, c) = q[3].sin_cos();
        vec![-1.5 * s * v[2] * v[3], 1.5 * c * v[2] * v[3], 0.0, 0.0]
    });
}

#[test]
fn the_chaplygin_sleigh() {
    // Contact point (x, y), heading φ, centre of mass a ahead: v′ = a ω², ω′ = −m a v ω/(J + m a²).
    let mut m = energies(
        &["x", "y", "phi"],
        &[("m", 1.2), ("J", 0.4), ("a", 0.3)],
        &[("X", "x + a*cos(phi)"), ("Y", "y + a*sin(phi)")],
        "m/2*(X'^2 + Y'^2) + J/2*phi'^2",
        "0",
    );
    let edge = formula(&mut m, "x'*sin(phi) - y'*cos(phi)");
    row(&mut m, "edge", RowKind::Nonholonomic, edge);
    let mechanics = derive(m).unwrap();
    let (phi, v, w) = (0.7f64, 1.1, -0.6);
    let (s, c) = phi.sin_cos();
    let state =
        StateValues { time: 0.0, position: vec![0.1, 0.2, phi], rate: vec![v * c, v * s, w], inputs: vec![] };
    let found = linearise(&mechanics, &state).unwrap().rate;
    let (dv, dw) = (0.3 * w * w, -1.2 * 0.3 * v * w / (0.4 + 1.2 * 0.09));
    for (f, e) in found[3..].iter().zip([dv * c - v * w * s, dv * s + v * w * c, dw]) {
        assert!((f - e).abs() < 1e-12, "{found:?}");
    }
}

#[test]
fn a_relativistic_charge_in_a_magnetic_field() {
    // d(γ m v)/dt = F  ⇔  v′ = (F − v (v·F)/c²)/(γ m), F = q B (v_y, −v_x)
    let m = lagrangian(
        &["x", "y"],
        &[("m", 1.3), ("c", 2.0), ("q", 0.6), ("B", 0.8)],
        "-m*c^2*sqrt(1 - (x'^2 + y'^2)/c^2) + q*B*x*y'",
    );
    accelerations_are(m, &[RATE, RATE, (-1.0, 1.0), (-1.0, 1.0)], |_, _, v| {
        let gamma = 1.0 / (1.0 - (v[0] * v[0] + v[1] * v[1]) / 4.0).sqrt();
        let k = 0.6 * 0.8 / (gamma * 1.3);
        vec![k * v[1], -k * v[0]]
    });
}

#[test]
fn energy_changes_by_power_and_by_moving_rows_only() {
    // dE/dt = power − μ·b on A v + b = 0, with μ from the equations themselves.
    let mut m =
        energies(&["x", "y"], &[("g", 9.81)], &[], "(x'^2 + y'^2)/2 + x*y'*sin(t)/3", "g*y + x^2*cos(t)");
    let c = formula(&mut m, "y - sin(3*t)*x - t^2");
    row(&mut m, "track", RowKind::Holonomic, c);
    m.dissipation = Some(formula(&mut m, "0.1*(x'^2 + y'^2)"));
    let mechanics = derive(m).unwrap();
    let mut random = Random(3);
    for _ in 0..20 {
        let mut path = support::independent::random_path(&mechanics, &mut random, 1.0);
        support::closed::onto_rows(&mechanics, &mut path);
        let get = |e| path.get(&mechanics, e);
        let carom_mech::Dynamics::Lagrangian(l) = &mechanics.dynamics else { panic!() };
        let r = &mechanics.rows[0];
        let a: Vec<f64> = r.normal.iter().map(|&e| get(e)).collect();
        let mut k: Vec<Vec<f64>> = l
            .mass_matrix
            .iter()
            .zip(&a)
            .map(|(row, a)| row.iter().map(|&e| get(e)).chain([-a]).collect())
            .collect();
        k.push(vec![a[0], a[1], 0.0]);
        let load: Vec<f64> = (0..2).map(|i| get(l.generalized_force[i]) - get(l.bias[i])).collect();
        let z = support::closed::solve(k, vec![load[0], load[1], -get(r.bias)]);
        // dE/dt by finite steps of E along (v, a), centred: error O(h²) ~ 1e-10
        let d = &mechanics.model.dag;
        let shifted = |h: f64| {
            let mut p = path.clone();
            for (i, c) in mechanics.model.coordinates.iter().enumerate() {
                let (x, v) = (get(c.position), get(c.velocity));
                p.set(c.position, x + h * v + h * h / 2.0 * z[i]);
                p.set(c.velocity, v + h * z[i]);
            }
            p.set(d.find_symbol("t").unwrap(), get(mechanics.model.time) + h);
            p.get(&mechanics, mechanics.hamiltonian)
        };
        let h = 1e-5;
        let rate = (shifted(h) - shifted(-h)) / (2.0 * h);
        let expected = get(mechanics.power) - z[2] * get(r.drift);
        assert!((rate - expected).abs() < 1e-7 * (1.0 + expected.abs()), "{rate} {expected}");
    }
}
