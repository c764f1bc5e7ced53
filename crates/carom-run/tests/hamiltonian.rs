//! Hamiltonian models, other kinetic energies, and their Lagrangian twins.

#![allow(clippy::excessive_precision)]

mod common;

use carom_run::{Motion, StopReason, simulate};
use common::{close, program, run, signal};

#[path = "../../../tests/gallery.rs"]
mod gallery;

/// Same impacts and same path.
fn agree(a: &Motion, b: &Motion, tolerance: f64, least: usize) {
    assert_eq!(a.stop.reason, StopReason::Reached, "{:?}", a.stop);
    assert_eq!(b.stop.reason, StopReason::Reached, "{:?}", b.stop);
    assert_eq!(a.impacts.len(), b.impacts.len());
    assert!(a.impacts.len() >= least, "{}", a.impacts.len());
    for (x, y) in a.impacts.iter().zip(&b.impacts) {
        close(x.time, y.time, tolerance);
        close(x.impulse[0], y.impulse[0], tolerance * (1.0 + x.impulse[0]));
        for (u, v) in x.velocity_after.iter().zip(&y.velocity_after) {
            close(*u, *v, tolerance * (1.0 + u.abs()));
        }
    }
    for (s, r) in a.position.iter().zip(&b.position).chain(a.momentum.iter().zip(&b.momentum)) {
        for (u, v) in s.values.iter().zip(&r.values) {
            close(*u, *v, 10.0 * tolerance * (1.0 + u.abs()));
        }
    }
    assert!(
        a.audit.impact_law_residual < 1e-13 && b.audit.impact_law_residual < 1e-13,
        "{:?} {:?}",
        a.audit,
        b.audit
    );
    assert!(
        a.audit.hamiltonian_drift < 1e-12 && b.audit.hamiltonian_drift < 1e-12,
        "{:?} {:?}",
        a.audit,
        b.audit
    );
}

#[test]
fn the_pendulum_is_the_same_from_both_sides() {
    let tail = "[wall.side]\ngap = \"theta + 0.3\"\n[run]\nuntil = 16.0\n";
    let l = run(&format!(
        "coordinates = [\"theta\"]\nlagrangian = \"theta'^2/2 + 9.8*cos(theta)\"\n{tail}[start]\nposition = {{ theta = 1.0 }}\n"
    ));
    let h = run(&format!(
        "coordinates = [\"theta\"]\nmomenta = [\"p\"]\nhamiltonian = \"p^2/2 - 9.8*cos(theta)\"\n{tail}[start]\nposition = {{ theta = 1.0 }}\n"
    ));
    agree(&l, &h, 1e-12, 10);
}

#[test]
fn kepler_with_a_wall_is_the_same_from_both_sides() {
    let tail = "[wall.ring]\ngap = \"1.5 - sqrt(x^2 + y^2)\"\n[run]\nuntil = 60.0\n";
    let l = run(&format!(
        "coordinates = [\"x\", \"y\"]\nlagrangian = \"(x'^2 + y'^2)/2 + 1/sqrt(x^2 + y^2)\"\n{tail}[start]\nposition = {{ x = 1.0 }}\nvelocity = {{ y = 1.2 }}\n"
    ));
    let h = run(&format!(
        "coordinates = [\"x\", \"y\"]\nmomenta = [\"px\", \"py\"]\nhamiltonian = \"(px^2 + py^2)/2 - 1/sqrt(x^2 + y^2)\"\n{tail}[start]\nposition = {{ x = 1.0 }}\nmomentum = {{ py = 1.2 }}\n"
    ));
    agree(&l, &h, 1e-12, 10);
}

#[test]
fn the_relativistic_particle_is_the_same_from_both_sides() {
    // Uniform force, floor: L = −sqrt(1 − v²) − g y.
    let tail = "[wall.floor]\ngap = \"y\"\n[wall.side]\ngap = \"2 - x\"\n[wall.other]\ngap = \"2 + x\"\n[run]\nuntil = 40.0\n";
    let l = run(&format!(
        "coordinates = [\"x\", \"y\"]\nlagrangian = \"-sqrt(1 - x'^2 - y'^2) - 0.7*y\"\n{tail}[start]\nposition = {{ y = 1.0 }}\nvelocity = {{ x = 0.5 }}\n"
    ));
    let p = 0.5 / 0.75f64.sqrt();
    let h = run(&format!(
        "coordinates = [\"x\", \"y\"]\nmomenta = [\"px\", \"py\"]\nhamiltonian = \"sqrt(1 + px^2 + py^2) + 0.7*y\"\n{tail}[start]\nposition = {{ y = 1.0 }}\nmomentum = {{ px = {p} }}\n"
    ));
    agree(&l, &h, 1e-12, 10);
}

#[test]
fn the_charged_particle_is_the_same_from_both_sides() {
    // Magnetic field B along z, symmetric gauge.
    let tail = "[wall.floor]\ngap = \"y\"\n[run]\nuntil = 40.0\n[parameters]\nB = 1.3\n";
    let l = run(&format!(
        "coordinates = [\"x\", \"y\"]\nlagrangian = \"(x'^2 + y'^2)/2 + B/2*(x*y' - y*x') - 0.3*y\"\n{tail}[start]\nposition = {{ y = 1.0 }}\nvelocity = {{ y = -1.0, x = 0.6 }}\n"
    ));
    // p = v + B/2 (−y, x)
    let h = run(&format!(
        "coordinates = [\"x\", \"y\"]\nmomenta = [\"px\", \"py\"]\nhamiltonian = \"((px + B/2*y)^2 + (py - B/2*x)^2)/2 + 0.3*y\"\n{tail}[start]\nposition = {{ y = 1.0 }}\nmomentum = {{ px = \"0.6 - B/2\", py = -1.0 }}\n"
    ));
    agree(&l, &h, 1e-12, 10);
}

#[test]
fn a_relativistic_particle_on_a_moving_wall_is_a_lorentz_boosted_mirror() {
    // Wall at x = u t moving right, the particle comes from the right with velocity −w.
    for (u, w) in [(0.3, 0.5), (0.9, 0.99), (-0.4, 0.8), (0.5, 0.999999)] {
        let text = format!(
            "coordinates = [\"x\"]\n[parameters]\nu = {u}\n[wall.mirror]\ngap = \"x - u*t\"\n[start]\nposition = {{ x = 1.0 }}\nvelocity = {{ x = {} }}\n[run]\nuntil = 5.0\n",
            -w
        );
        let text = format!("lagrangian = \"-sqrt(1 - x'^2)\"\n{text}");
        let motion = run(&text);
        assert_eq!(motion.impacts.len(), 1);
        // In the wall's frame the velocity is reversed.
        let boosted = |v: f64, u: f64| (v - u) / (1.0 - u * v);
        let expected = boosted(-boosted(-w, u), -u);
        let hit = &motion.impacts[0];
        // dv = dp (1 − v²)^{3/2}; p known to about 1e-15 γ² relative.
        close(hit.velocity_after[0], expected, 1e-14);
        let gamma = |v: f64| 1.0 / ((1.0 - v) * (1.0 + v)).sqrt();
        // [E] = −λ φ_t = λ u
        let change = gamma(expected) - gamma(w);
        close(hit.impulse[0] * u, change, 2e-15 * gamma(w).max(gamma(expected)).powi(3) + 1e-13);
    }
}

#[test]
fn a_wall_as_fast_as_light_cannot_be_enforced() {
    // Never catches up from behind, but a wall coming faster than light cannot be reflected.
    let text = "lagrangian = \"-sqrt(1 - x'^2)\"\ncoordinates = [\"x\"]\n[wall.mirror]\ngap = \"x - 1.5*t\"\n[start]\nposition = { x = 1.0 }\n[run]\nuntil = 5.0\n";
    let motion = run(text);
    assert_eq!(motion.stop.reason, StopReason::WallNotEnforceable, "{:?}", motion.stop);
    close(motion.stop.time, 1.0 / 1.5, 1e-14);
}

#[test]
fn restitution_of_any_kinetic_energy_is_by_energy() {
    // Relativistic: energy above the compressed state is reduced by e².
    let e = 0.6;
    let text = format!(
        "lagrangian = \"-sqrt(1 - x'^2 - y'^2)\"\ncoordinates = [\"x\", \"y\"]\n[wall.mirror]\ngap = \"x\"\nrestitution = {e}\n[start]\nposition = {{ x = 1.0 }}\nvelocity = {{ x = -0.8, y = 0.3 }}\n[run]\nuntil = 3.0\n"
    );
    let motion = run(&text);
    let hit = &motion.impacts[0];
    let gamma = 1.0 / (1.0f64 - 0.64 - 0.09).sqrt();
    let py = 0.3 * gamma;
    let compressed = (1.0 + py * py).sqrt();
    let expected = compressed + e * e * (gamma - compressed);
    close(hit.hamiltonian_after, expected, 1e-14);
    let quadratic =
        run(&text.replace("lagrangian = \"-sqrt(1 - x'^2 - y'^2)\"", "lagrangian = \"(x'^2 + y'^2)/2\""));
    close(quadratic.impacts[0].velocity_after[0], 0.48, 1e-15);
}

#[test]
fn a_quartic_kinetic_energy_keeps_its_energy_at_walls() {
    let text = "lagrangian = \"(x'^2 + y'^2)/2 + (x'^4 + 2*y'^4)/4 + x'*y'/5\"\ncoordinates = [\"x\", \"y\"]\n[wall.a]\ngap = \"1 - x - y/3\"\n[wall.b]\ngap = \"1 + x - y/4\"\n[wall.c]\ngap = \"1 + y\"\n[start]\nvelocity = { x = 0.8, y = 0.5 }\n[run]\nuntil = 30.0\n";
    let motion = run(text);
    assert!(motion.impacts.len() > 10, "{:?}", motion.stop);
    assert!(motion.audit.hamiltonian_drift < 1e-13, "{:?}", motion.audit);
    assert!(motion.audit.impact_law_residual < 1e-14, "{:?}", motion.audit);
}

#[test]
fn a_head_on_impact_along_a_curve_reverses_the_motion_whatever_the_kinetic_energy() {
    // One degree of freedom is left, so at λ_c everything stands still; T is even in the velocity, so v⁺ = −v⁻.
    let (program, mut options) = program(
        "coordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"x'^4/10 + x'^2/2 + y'^2*(1 + x^2)/2\"\npotential = \"x^2 + y^2\"\n[holonomic]\nc = \"x + 0.4*sin(y)\"\n[wall.w]\ngap = \"0.469 - y\"\n[start]\nproject = true\nposition = { y = -0.9 }\n[run]\nuntil = 1.0\n",
    );
    for i in 0..300 {
        options.start.velocity[1] = Some(2.0 + 0.01 * f64::from(i));
        let motion = simulate(&program, &options).unwrap();
        assert_eq!(motion.stop.reason, StopReason::Reached, "{i}: {:?}", motion.stop);
        let hit = &motion.impacts[0];
        for (after, before) in hit.velocity_after.iter().zip(&hit.velocity_before) {
            close(*after, -before, 1e-13);
        }
    }
}

#[test]
fn nonholonomic_rows_on_momenta_agree_with_rows_on_velocities() {
    let rows = "[nonholonomic]\nno_slip_x = \"x' - theta'*cos(phi)\"\nno_slip_y = \"y' - theta'*sin(phi)\"\n[wall.front]\ngap = \"3 - y - sin(phi)\"\n[wall.back]\ngap = \"3 + y + sin(phi)\"\n[run]\nuntil = 9.0\n";
    let l = run(&format!(
        "coordinates = [\"x\", \"y\", \"theta\", \"phi\"]\nlagrangian = \"(x'^2 + y'^2)/2 + theta'^2/4 + phi'^2/8\"\n{rows}[start]\nposition = {{ phi = 0.5 }}\nvelocity = {{ theta = 2.0, phi = 0.3 }}\n"
    ));
    let h = run(&format!(
        "coordinates = [\"x\", \"y\", \"theta\", \"phi\"]\nmomenta = [\"px\", \"py\", \"pt\", \"pf\"]\nhamiltonian = \"(px^2 + py^2)/2 + pt^2 + 2*pf^2\"\n{rows}[start]\nposition = {{ phi = 0.5 }}\nmomentum = {{ pt = 1.0, pf = 0.075 }}\n"
    ));
    agree(&l, &h, 1e-11, 3);
}

#[test]
fn the_rolling_disk_of_the_gallery_moves_like_its_hamiltonian_twin_to_rounding() {
    let read = |name: &str| run(&gallery::text(name));
    let (l, h) = (read("rolling_disk"), read("rolling_disk_hamiltonian"));
    // Two steps and one impact: a few roundings of numbers up to 10.
    agree(&l, &h, 1e-14, 1);
    // On the rows the inertia of (theta, phi) is (I + m R², J) = (3/2, 1/4); the gap rate is −sin φ θ' − cos φ φ' at φ = π/3.
    let (normal, inverse) = ([-0.75_f64.sqrt(), -0.5], [1.0 / 1.5, 4.0]);
    let before = [2.0, 0.3];
    let rate = normal[0] * before[0] + normal[1] * before[1];
    let impulse = -2.0 * rate / (normal[0].powi(2) * inverse[0] + normal[1].powi(2) * inverse[1]);
    for i in 0..2 {
        close(h.impacts[0].velocity_after[2 + i], before[i] + impulse * inverse[i] * normal[i], 1e-13);
    }
}

#[test]
fn a_hamiltonian_model_comes_to_rest_like_its_lagrangian_twin() {
    let tail = "[wall.floor]\ngap = \"y\"\nrestitution = 0.5\n[run]\nuntil = 3.0\n";
    let l = run(&format!(
        "coordinates = [\"y\"]\nlagrangian = \"y'^2 - 2*9.81*y\"\n{tail}[start]\nposition = {{ y = 1.0 }}\n"
    ));
    let h = run(&format!(
        "coordinates = [\"y\"]\nmomenta = [\"p\"]\nhamiltonian = \"p^2/4 + 2*9.81*y\"\n{tail}[start]\nposition = {{ y = 1.0 }}\n"
    ));
    for m in [&l, &h] {
        assert!(!m.contacts.is_empty(), "{:?} {:?} {:?}", m.stop, m.impacts.len(), m.audit);
        close(m.contacts[0].from, 1.35457092295719271, 1e-9);
        close(*signal(&m.contact_force, "floor").last().unwrap(), 2.0 * 9.81, 1e-12);
    }
}

#[test]
fn a_driven_coordinate_of_a_hamiltonian_reports_its_force() {
    // Carriage driven as sin t, pendulum mass on a spring: H = p²/2 + P²/2 + (x − X)²/2.
    let tail = "[driven]\nX = \"sin(2*t)\"\n[start]\nposition = { x = 0.5 }\n[run]\nuntil = 5.0\n";
    let l = run(&format!(
        "coordinates = [\"x\", \"X\"]\nlagrangian = \"x'^2/2 + X'^2/2 + x'*X'/3 - (x - X)^2/2\"\n{tail}"
    ));
    // p = x' + X'/3, P = X' + x'/3; inverse of [[1, 1/3], [1/3, 1]] is 9/8 [[1, −1/3], [−1/3, 1]].
    let h = run(&format!(
        "coordinates = [\"x\", \"X\"]\nmomenta = [\"p\", \"P\"]\nhamiltonian = \"9/16*(p^2 + P^2 - 2*p*P/3) + (x - X)^2/2\"\n{}",
        tail.replace("position = { x = 0.5 }", "position = { x = 0.5 }\nmomentum = { p = \"2/3\" }")
    ));
    for k in 0..l.time.len() {
        close(signal(&l.position, "x")[k], signal(&h.position, "x")[k], 1e-12);
        close(signal(&l.driving_force, "X")[k], signal(&h.driving_force, "X")[k], 1e-11);
    }
}

#[test]
fn the_impact_root_is_found_from_grazing_to_the_light_cone() {
    for k in 0..40 {
        // Angle towards the wall from 1e-8 to ~1; speed up to 1 − 1e-6.
        let grazing = 10f64.powf(-8.0 * f64::from(k % 8) / 7.0);
        let speed = 1.0 - 10f64.powf(-6.0 * f64::from(k / 8) / 4.0) * 0.9;
        let (vx, vy) = (-speed * grazing.sin(), speed * grazing.cos());
        let text = format!(
            "lagrangian = \"-sqrt(1 - x'^2 - y'^2)\"\ncoordinates = [\"x\", \"y\"]\n[wall.mirror]\ngap = \"x\"\n[start]\nvelocity = {{ x = {vx:e}, y = {vy:e} }}\n[run]\nuntil = 1.0\n"
        );
        let (program, options) = program(&text);
        let motion = carom_run::simulate(&program, &options).unwrap();
        assert_eq!(motion.impacts.len(), 1, "{grazing} {speed}");
        let hit = &motion.impacts[0];
        // E is known from v to ε γ² relative, and v⁺ = p⁺/E⁺ follows it.
        let gamma2 = 1.0 / (1.0 - speed * speed);
        let tolerance = 8.0 * f64::EPSILON * gamma2 + 4.0 * f64::EPSILON;
        close(hit.velocity_after[0], -vx, tolerance / grazing);
        close(hit.velocity_after[1], vy, tolerance);
        assert!(hit.impulse[0] > 0.0);
    }
}

#[test]
fn a_degenerate_hamiltonian_is_an_ordinary_flow_and_collides_where_it_has_inertia() {
    // H = p²/2 + u·q: u has no inertia of its own, ẇ = q. Closed form between bounces: q linear, w quadratic.
    let motion = run(
        "coordinates = [\"q\", \"w\"]\nmomenta = [\"p\", \"u\"]\nhamiltonian = \"p^2/2 + u*q\"\n[wall.side]\ngap = \"1 - q\"\n[start]\nmomentum = { p = 1.0 }\n[run]\nuntil = 1.5\n",
    );
    assert_eq!(motion.impacts.len(), 1);
    close(motion.impacts[0].time, 1.0, 1e-15);
    close(*signal(&motion.position, "q").last().unwrap(), 0.5, 1e-15);
    // ∫ q = 1/2 + (1 + 0.5)/2 · 0.5
    close(*signal(&motion.position, "w").last().unwrap(), 0.875, 1e-15);
    // A wall on w: n·H_pp n = 0.
    let stopped = run(
        "coordinates = [\"q\", \"w\"]\nmomenta = [\"p\", \"u\"]\nhamiltonian = \"p^2/2 + u*q\"\n[wall.side]\ngap = \"0.5 - w\"\n[start]\nmomentum = { p = 1.0 }\n[run]\nuntil = 1.5\n",
    );
    assert_eq!(stopped.stop.reason, StopReason::WallNotEnforceable, "{:?}", stopped.stop);
    close(stopped.stop.time, 1.0, 1e-14);
}
