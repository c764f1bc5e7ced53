//! Degenerate Lagrangians: first-order flows, massless coordinates, walls on them.

#![allow(clippy::excessive_precision)]

mod common;

use carom_run::StopReason;
use common::{close, run, run_at, signal};

#[test]
fn a_vortex_pair_turns_at_its_exact_rate() {
    // Strengths g1, g2 at distance d: angular velocity −(g1 + g2)/(2π d²); L = Σ g_i/2 (x y' − y x') − H.
    let text = r#"
coordinates = ["x1", "y1", "x2", "y2"]
lagrangian = "g1/2*(x1*y1' - y1*x1') + g2/2*(x2*y2' - y2*x2') + g1*g2/(4*pi)*log((x1 - x2)^2 + (y1 - y2)^2)"
[parameters]
g1 = 1.0
g2 = 2.0
[start]
position = { x1 = 2.0, x2 = -1.0 }
"#;
    let rate = 3.0 / (2.0 * std::f64::consts::PI * 9.0);
    let times: Vec<f64> = (1..=20).map(|k| 5.0 * f64::from(k)).collect();
    let motion = run_at(text, &times);
    for (k, t) in times.iter().enumerate() {
        let a = rate * t;
        // About the centre of vorticity, the origin.
        close(signal(&motion.position, "x1")[k], 2.0 * a.cos(), 1e-12);
        close(signal(&motion.position, "y1")[k], -2.0 * a.sin(), 1e-12);
        close(signal(&motion.position, "x2")[k], -a.cos(), 1e-12);
    }
}

#[test]
fn three_vortices_conserve_energy_and_impulses() {
    let text = r#"
coordinates = ["x1", "y1", "x2", "y2", "x3", "y3"]
lagrangian = "(x1*y1' - y1*x1')/2 + g2/2*(x2*y2' - y2*x2') + g3/2*(x3*y3' - y3*x3') + (g2*log((x1 - x2)^2 + (y1 - y2)^2) + g3*log((x1 - x3)^2 + (y1 - y3)^2) + g2*g3*log((x2 - x3)^2 + (y2 - y3)^2))/(4*pi)"
[parameters]
g2 = 1.5
g3 = 0.7
[output]
px = "y1 + g2*y2 + g3*y3"
py = "x1 + g2*x2 + g3*x3"
angular = "x1^2 + y1^2 + g2*(x2^2 + y2^2) + g3*(x3^2 + y3^2)"
[start]
position = { x1 = 1.0, x2 = -0.5, y2 = 0.8, x3 = -0.3, y3 = -0.9 }
[run]
until = 1000.0
"#;
    let motion = run(text);
    assert_eq!(motion.stop.reason, StopReason::Reached);
    for name in ["px", "py", "angular"] {
        let values = signal(&motion.output, name);
        for v in values {
            close(*v, values[0], 1e-12 * (1.0 + values[0].abs()));
        }
    }
    assert!(motion.audit.hamiltonian_drift < 1e-12, "{:?}", motion.audit);
}

#[test]
fn the_phase_space_lagrangian_of_the_pendulum_is_the_pendulum() {
    let times = [1.0, 3.0, 10.0];
    let phase = run_at(
        "coordinates = [\"q\", \"u\"]\nlagrangian = \"u*q' - u^2/2 + 9.8*cos(q)\"\n[start]\nposition = { q = 1.0 }\n",
        &times,
    );
    let plain = run_at(
        "coordinates = [\"q\"]\nlagrangian = \"q'^2/2 + 9.8*cos(q)\"\n[start]\nposition = { q = 1.0 }\n",
        &times,
    );
    for k in 0..times.len() {
        close(signal(&phase.position, "q")[k], signal(&plain.position, "q")[k], 1e-12);
        close(signal(&phase.position, "u")[k], signal(&plain.velocity, "q")[k], 1e-12);
    }
}

#[test]
fn a_massless_node_follows_its_equilibrium_and_the_mass_is_reflected() {
    // Wall – spring a – node s – spring b – mass x: s = b x/(a + b), effective spring ab/(a + b).
    let text = "coordinates = [\"x\", \"s\"]\nlagrangian = \"x'^2/2 - 2*s^2/2 - 3*(x - s)^2/2\"\n[wall.stop]\ngap = \"x + 0.5\"\n[start]\nposition = { x = 1.0 }\n[run]\nuntil = 10.0\n";
    let motion = run(text);
    for k in 0..motion.time.len() {
        close(signal(&motion.position, "s")[k], 0.6 * signal(&motion.position, "x")[k], 1e-13);
    }
    let omega = 1.2f64.sqrt();
    close(motion.impacts[0].time, (-0.5f64).acos() / omega, 1e-12);
    // The mass is reflected, and the node's velocity with it.
    let hit = &motion.impacts[0];
    close(hit.velocity_after[0], -hit.velocity_before[0], 1e-12);
    close(hit.velocity_after[1], 0.6 * hit.velocity_after[0], 1e-12);
    assert!(motion.impacts.len() >= 3 && motion.audit.hamiltonian_drift < 1e-13, "{:?}", motion.audit);
}

#[test]
fn a_first_order_flow_at_a_wall_stops_at_the_right_time() {
    let text = "coordinates = [\"x1\", \"y1\", \"x2\", \"y2\"]\nlagrangian = \"(x1*y1' - y1*x1')/2 + (x2*y2' - y2*x2')/2 + log((x1 - x2)^2 + (y1 - y2)^2)/(4*pi)\"\n[wall.left]\ngap = \"x1\"\n[start]\nposition = { x1 = 1.0, x2 = -1.0 }\n[run]\nuntil = 100.0\n";
    let motion = run(text);
    assert_eq!(motion.stop.reason, StopReason::WallNotEnforceable, "{:?}", motion.stop);
    // Angular velocity 2/(2π 4): a quarter turn.
    let quarter = std::f64::consts::FRAC_PI_2 * 4.0 * std::f64::consts::PI;
    close(motion.stop.time, quarter, 1e-11);
    assert!(motion.stop.detail.unwrap().contains("left"));
}

#[test]
fn a_wall_on_a_massless_coordinate_holds_with_a_finite_force() {
    // The node s = 0.6 x meets s >= -0.3 at x = −0.5; it stays there while x goes on under both springs.
    let text = "coordinates = [\"x\", \"s\"]\nlagrangian = \"x'^2/2 - 2*s^2/2 - 3*(x - s)^2/2\"\n[wall.stop]\ngap = \"s + 0.3\"\n[start]\nposition = { x = 1.0 }\n[run]\nuntil = 6.0\n";
    let motion = run(text);
    assert_eq!(motion.stop.reason, StopReason::Reached, "{:?}", motion.stop);
    assert!(motion.impacts.is_empty());
    let omega = 1.2f64.sqrt();
    let contact = &motion.contacts[0];
    close(contact.from, (-0.5f64).acos() / omega, 1e-11);
    close(contact.force_at_start, 0.0, 1e-10);
    // With s held the mass swings about s = −0.3 with ω = √3, from x = −0.5 with the speed it had; energy decides when
    // it is back at x = −0.5.
    assert!(contact.to.is_some());
    for k in 0..motion.time.len() {
        let (x, s) = (signal(&motion.position, "x")[k], signal(&motion.position, "s")[k]);
        close(s, if 0.6 * x < -0.3 { -0.3 } else { 0.6 * x }, 1e-10);
        let f = signal(&motion.contact_force, "stop")[k];
        close(f, if 0.6 * x < -0.3 { 2.0 * s - 3.0 * (x - s) } else { 0.0 }, 1e-9);
    }
}
