//! Derived equations against textbook ones.

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
