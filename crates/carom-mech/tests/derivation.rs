//! Derived equations against textbook ones.
#![allow(clippy::needless_range_loop)]

mod support;

use carom_expr::Function::{Cos, Sin};
use carom_mech::{Dynamics, Physics, RowKind, derive};
use support::{drive, model, row, value, wall};

#[test]
fn a_driven_double_pendulum_has_the_wall_of_the_lab_as_a_moving_wall() {
    // θ₁ = ω t, x₂ = l₁ sin θ₁ + l₂ sin θ₂ ≥ 0
    let mut m =
        model(&["theta1", "theta2"], &[("omega", 2.0), ("l1", 0.5), ("l2", 1.0), ("m", 1.5), ("g", 9.81)]);
    let d = &mut m.dag;
    let [q1, q2, v1, v2, l1, l2, mass, g, omega, t] =
        ["theta1", "theta2", "theta1'", "theta2'", "l1", "l2", "m", "g", "omega", "t"].map(|n| d.symbol(n));
    let (s1, c1, s2, c2) =
        (d.function(Sin, &[q1]), d.function(Cos, &[q1]), d.function(Sin, &[q2]), d.function(Cos, &[q2]));
    let (x1, x2) = (d.product(&[l1, s1]), d.product(&[l2, s2]));
    let (vx1, vx2) = (d.product(&[l1, c1, v1]), d.product(&[l2, c2, v2]));
    let (vy1, vy2) = (d.product(&[l1, s1, v1]), d.product(&[l2, s2, v2]));
    let (vx, vy) = (d.add(vx1, vx2), d.add(vy1, vy2));
    let (vx, vy) = (d.powi(vx, 2), d.powi(vy, 2));
    let speed = d.add(vx, vy);
    let half = d.rational(1, 2);
    let kinetic = d.product(&[half, mass, speed]);
    let (y1, y2) = (d.product(&[l1, c1]), d.product(&[l2, c2]));
    let height = d.add(y1, y2);
    let potential = d.product(&[mass, g, height]);
    let potential = d.neg(potential);
    let gap = d.add(x1, x2);
    let f = d.mul(omega, t);
    m.physics = Physics::Energies { kinetic, potential };
    wall(&mut m, "left", gap);
    drive(&mut m, 0, f);
    let mech = derive(m).unwrap();
    assert_eq!(mech.free, [1]);
    let (time, th, w) = (0.7, 0.4, -1.3);
    let at = [("t", time), ("theta2", th), ("theta2'", w)];
    let get = |e| value(&mech.model, e, &at);
    let Dynamics::Lagrangian(l) = &mech.dynamics else { panic!() };
    let (om, a, b, mm, gg) = (2.0f64, 0.5, 1.0, 1.5, 9.81);
    let th1 = om * time;
    // m l2² θ̈₂ = m l1 l2 ω² sin(θ₁ − θ₂) − m g l2 sin θ₂
    let close = |x: f64, y: f64| assert!((x - y).abs() < 1e-13 * (1.0 + y.abs()), "{x} {y}");
    close(get(l.mass_matrix[0][0]), mm * b * b);
    close(get(l.bias[0]), -mm * a * b * om * om * (th1 - th).sin() + mm * gg * b * th.sin());
    let wall = &mech.walls[0];
    close(get(wall.gap_t), a * om * th1.cos());
    close(get(wall.gap_rate), a * om * th1.cos() + b * w * th.cos());
    close(get(wall.bias), -a * om * om * th1.sin() - b * w * w * th.sin());
    close(get(wall.driven_normal[0]), a * th1.cos());
    // E = ½ m l2² w² − ½ m l1² ω² + V, dE/dt = −∂L/∂t
    let v = -mm * gg * (a * th1.cos() + b * th.cos());
    close(get(mech.hamiltonian), 0.5 * mm * b * b * w * w - 0.5 * mm * a * a * om * om + v);
    let coupling = mm * a * b * om * w * (th1 - th).sin() * om;
    close(get(mech.power), coupling + mm * gg * a * om * th1.sin());
    let kin = 0.5 * mm * (a * a * om * om + b * b * w * w + 2.0 * a * b * om * w * (th1 - th).cos());
    close(get(mech.energy), kin + v);
    // driving torque: d/dt p₁ − ∂L/∂θ₁ with θ̈₁ = 0
    close(get(mech.drives[0].mass[0]), mm * a * b * (th1 - th).cos());
    close(get(mech.drives[0].bias), mm * a * b * w * w * (th1 - th).sin() + mm * gg * a * th1.sin());
}

#[test]
fn hamiltonian_rows_close_on_momenta() {
    // free particle of mass 2 on the rod x² + y² = 1: γ = v·v·2
    let mut m = model(&["x", "y"], &[]);
    let d = &mut m.dag;
    let [x, y, px, py] = ["x", "y", "p_x", "p_y"].map(|n| d.symbol(n));
    let (a, b) = (d.powi(px, 2), d.powi(py, 2));
    let s = d.add(a, b);
    let quarter = d.rational(1, 4);
    let h = d.mul(quarter, s);
    let (a, b) = (d.powi(x, 2), d.powi(y, 2));
    let minus = d.integer(-1);
    let c = d.sum(&[a, b, minus]);
    m.physics = Physics::Hamiltonian(h);
    row(&mut m, "rod", RowKind::Holonomic, c);
    let mech = derive(m).unwrap();
    let at = [("x", 0.6), ("y", 0.8), ("p_x", -1.6), ("p_y", 1.2)];
    assert!((value(&mech.model, mech.rows[0].bias, &at) - 2.0 * (0.64 + 0.36)).abs() < 1e-14);
    assert!((value(&mech.model, mech.rows[0].normal[0], &at) - 1.2).abs() < 1e-14);
    assert!(mech.quadratic);
}

#[test]
fn a_driven_coordinate_gives_the_same_on_both_sides() {
    // L and its Hamiltonian, both with s = sin 2t + t²/5 driven: H, velocities, rates, rows, walls, driving force.
    let text = "(1 + x^2)/2*x'^2 + (2 + cos(s))*y'^2/2 + x'*s'/2*sin(y) + (1 + y^2)*s'^2/2 + s*y*y' - x^2*s - cos(y*t)";
    let complete = |m: &mut carom_mech::Model| {
        let f = support::formula(m, "sin(2*t) + t^2/5");
        drive(m, 2, f);
        let a = support::formula(m, "x' + s*y' - x*s' + t");
        row(m, "a", RowKind::Nonholonomic, a);
        let c = support::formula(m, "x*s + y^2 - t");
        row(m, "c", RowKind::Holonomic, c);
        let gap = support::formula(m, "2 + s*x - y^2");
        wall(m, "w", gap);
        let push =
            vec![support::formula(m, "-x'*y"), support::formula(m, "s'*y'"), support::formula(m, "x'*s'")];
        m.forces.push(carom_mech::Force { name: "f".into(), kind: carom_mech::ForceKind::Generalized(push) });
    };
    let mut l = support::lagrangian(&["x", "y", "s"], &[], text);
    let free = derive(l.clone()).unwrap();
    let mut h = free.model.clone();
    h.physics = Physics::Hamiltonian(free.forms.other_side.expect("three velocities can be solved for"));
    complete(&mut l);
    complete(&mut h);
    let (l, h) = (derive(l).unwrap(), derive(h).unwrap());
    let (Dynamics::Lagrangian(ld), Dynamics::Hamiltonian(hd)) = (&l.dynamics, &h.dynamics) else { panic!() };
    let (x, y, vx, vy, t) = (0.4, -0.7, 0.9, 1.2, 0.3);
    let state = [("x", x), ("y", y), ("x'", vx), ("y'", vy), ("t", t)];
    let on_l = |e| value(&l.model, e, &state);
    let (px, py) = (on_l(l.momenta[0]), on_l(l.momenta[1]));
    let on_h = |e| value(&h.model, e, &[("x", x), ("y", y), ("p_x", px), ("p_y", py), ("t", t)]);
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12 * (1.0 + b.abs()), "{a} {b}");
    close(on_h(h.hamiltonian), on_l(l.hamiltonian));
    close(on_h(h.power), on_l(l.power));
    for i in 0..3 {
        close(on_h(h.momenta[i]), on_l(l.momenta[i]));
        close(on_h(h.velocities[i]), on_l(l.velocities[i]));
    }
    // Any ṗ of the Hamiltonian side belongs to a = H_pp ṗ + bias of the other.
    let p_rate = [0.37, -0.81];
    let a: Vec<f64> = (0..2)
        .map(|i| {
            (0..2).map(|j| on_h(hd.inverse_mass[i][j]) * p_rate[j]).sum::<f64>() + on_h(hd.velocity_bias[i])
        })
        .collect();
    for i in 0..2 {
        // W a + h − Q = ṗ − force: what the reactions must supply
        let left: f64 = (0..2).map(|j| on_l(ld.mass_matrix[i][j]) * a[j]).sum::<f64>() + on_l(ld.bias[i]);
        close(p_rate[i] - on_h(hd.force[i]), left - on_l(ld.generalized_force[i]));
    }
    let lines = |m: &carom_mech::Mechanics| {
        let mut out: Vec<_> =
            m.rows.iter().map(|r| (r.normal.clone(), r.driven_normal[0], r.drift, r.bias)).collect();
        out.extend(m.walls.iter().map(|w| (w.normal.clone(), w.driven_normal[0], w.gap_t, w.bias)));
        out
    };
    for (on_l_side, on_h_side) in lines(&l).into_iter().zip(lines(&h)) {
        close(on_h(on_h_side.1), on_l(on_l_side.1));
        close(on_h(on_h_side.2), on_l(on_l_side.2));
        let second = on_l(on_l_side.3) + (0..2).map(|i| on_l(on_l_side.0[i]) * a[i]).sum::<f64>();
        let pushed: f64 = (0..2)
            .map(|i| {
                on_h(on_h_side.0[i]) * (0..2).map(|j| on_h(hd.inverse_mass[i][j]) * p_rate[j]).sum::<f64>()
            })
            .sum();
        close(on_h(on_h_side.3) + pushed, second);
    }
    let (dl, dh) = (&l.drives[0], &h.drives[0]);
    let force_l =
        on_l(dl.bias) + (0..2).map(|i| on_l(dl.mass[i]) * a[i]).sum::<f64>() - on_l(dl.generalized_force);
    let force_h = on_h(dh.bias) + (0..2).map(|i| on_h(dh.mass[i]) * p_rate[i]).sum::<f64>()
        - on_h(dh.generalized_force);
    close(force_h, force_l);
}

#[test]
fn a_driven_momentum_that_cannot_be_eliminated_is_refused() {
    let mut m = support::hamiltonian(&["x", "s"], &[], "p_x^2/2 + p_s^4/4");
    let f = support::formula(&mut m, "sin(t)");
    drive(&mut m, 1, f);
    let problems = derive(m).unwrap_err();
    assert!(problems[0].message.contains("driven coordinate `s`"), "{problems:?}");
}

#[test]
fn a_row_on_coordinates_without_kinetic_energy_is_refused() {
    let mut m = support::hamiltonian(&["x", "y"], &[], "p_x^2/2 + x*p_y");
    let c = support::formula(&mut m, "y - 1");
    row(&mut m, "level", RowKind::Holonomic, c);
    let problems = derive(m).unwrap_err();
    assert!(problems[0].message.contains("level cannot be held"), "{problems:?}");
    // Without the row the degenerate Hamiltonian is an ordinary differential equation.
    assert!(derive(support::hamiltonian(&["x", "y"], &[], "p_x^2/2 + x*p_y")).is_ok());
}

fn with_table_input(gap: &str) -> carom_mech::Model {
    let mut m = support::lagrangian(&["x"], &[("m", 2.0)], "m*x'^2/2 - x*u");
    let [value, rate, second] = ["u", "u'", "u''"].map(|name| m.dag.symbol(name));
    m.inputs.push(carom_mech::TableInput {
        name: "u".into(),
        value,
        rate,
        second,
        times: vec![0.0, 1.0],
        values: vec![0.3, 0.8],
        interpolate: carom_mech::model::Interpolation::Spline,
    });
    let gap = support::formula(&mut m, gap);
    wall(&mut m, "piston", gap);
    m
}

#[test]
fn table_inputs_are_functions_of_time() {
    let mechanics = derive(with_table_input("x - u")).unwrap();
    let at = [("x", 0.4), ("x'", 1.5), ("u", 0.3), ("u'", -0.7), ("u''", 0.9), ("t", 0.0)];
    let get = |e| value(&mechanics.model, e, &at);
    assert_eq!(get(mechanics.walls[0].gap_t), 0.7);
    assert_eq!(get(mechanics.walls[0].bias), -0.9);
    // dE/dt = −∂L/∂t = x u′
    assert!((get(mechanics.power) - 0.4 * -0.7).abs() < 1e-15);
    // B of the linearisation: v′ = −u/m
    let at = carom_mech::StateValues {
        time: 0.0,
        position: vec![0.4],
        rate: vec![1.5],
        inputs: vec![[0.3, -0.7, 0.9]],
    };
    let linear = carom_mech::linearise(&mechanics, &at).unwrap();
    assert_eq!(linear.b, [[0.0], [-0.5]]);
}

#[test]
fn a_third_rate_of_a_table_input_is_refused() {
    let problems = derive(with_table_input("x - u'")).unwrap_err();
    assert!(problems[0].message.contains("third time derivative of the table input `u`"), "{problems:?}");
}

#[test]
fn a_model_whose_coordinates_are_all_driven_is_derived() {
    let mut m = support::lagrangian(&["x"], &[("m", 2.0)], "m*x'^2/2 - x");
    let f = support::formula(&mut m, "sin(t)");
    drive(&mut m, 0, f);
    let gap = support::formula(&mut m, "x + 2");
    wall(&mut m, "w", gap);
    let mechanics = derive(m).unwrap();
    let get = |e| value(&mechanics.model, e, &[("t", 0.3)]);
    // driving force m f″ + 1
    assert!((get(mechanics.drives[0].bias) - (1.0 - 2.0 * 0.3f64.sin())).abs() < 1e-15);
    assert!((get(mechanics.walls[0].gap_rate) - 0.3f64.cos()).abs() < 1e-15);
    assert!(mechanics.free.is_empty());
}
