//! Motions with impacts against closed forms and published numbers.

#![allow(clippy::excessive_precision)]

mod common;

use carom_run::{Sampling, StopReason, simulate};
use common::{close, impact_times, program, run, run_at, signal};

const POINT_MASS: &str = r#"
coordinates = ["y"]
[parameters]
m = 1.0
g = 9.8
[energy]
kinetic = "m/2*y'^2"
potential = "m*g*y"
[wall.floor]
gap = "y"
[start]
position = { y = 1.0 }
velocity = { y = 1.0 }
[run]
until = 5.0
"#;

const DOUBLE_PENDULUM: &str = r#"
coordinates = ["theta1", "theta2"]
[parameters]
m1 = 1.0
m2 = 1.0
l1 = 1.0
l2 = 1.0
g  = 9.81
[define]
x1 = "l1*sin(theta1)"
y1 = "-l1*cos(theta1)"
x2 = "x1 + l2*sin(theta2)"
y2 = "y1 - l2*cos(theta2)"
[energy]
kinetic     = "m1/2*(x1'^2 + y1'^2) + m2/2*(x2'^2 + y2'^2)"
potential   = "m1*g*y1 + m2*g*y2"
WALL
[start]
position = { theta1 = "3*pi/7", theta2 = "3*pi/4" }
[run]
until = 10.0
"#;

fn double_pendulum(wall: &str) -> String {
    DOUBLE_PENDULUM.replace("WALL", wall)
}

#[test]
fn the_double_pendulum_of_the_lecture_is_right_to_eleven_digits_at_5() {
    let motion = run_at(&double_pendulum(""), &[5.0, 10.0]);
    let expected = [-0.085464210368396, 14.702206299951733, 4.144280020378369, 4.893329269556133];
    let position = [signal(&motion.position, "theta1"), signal(&motion.position, "theta2")];
    let velocity = [signal(&motion.velocity, "theta1"), signal(&motion.velocity, "theta2")];
    println!("{} {} {} {}", position[0][0], position[1][0], velocity[0][0], velocity[1][0]);
    close(position[0][0], expected[0], 1e-11);
    close(position[1][0], expected[1], 1e-11);
    close(velocity[0][0], expected[2], 1e-11);
    close(velocity[1][0], expected[3], 1e-11);
    close(position[0][1], -0.67412383792625, 1e-8);
}

#[test]
fn the_double_pendulum_against_a_wall_hits_at_the_known_times() {
    let motion = run(&double_pendulum("[wall.left]\ngap = \"x2 + l1/2\""));
    let times = impact_times(&motion);
    let expected = [
        0.845724416263871,
        2.539296454065522,
        4.251328403262459,
        5.298501177200184,
        6.457077031295359,
        8.224857911792120,
        9.977699230324623,
    ];
    println!("{times:?} {:?}", motion.audit);
    assert_eq!(times.len(), 7);
    for (i, (t, e)) in times.iter().zip(expected).enumerate() {
        close(*t, e, if i < 3 { 1e-11 } else { 1e-7 });
    }
    let first = &motion.impacts[0];
    close(first.impulse[0], 17.99307703859284, 1e-11);
    close(first.velocity_after[0], 3.039002751995800, 1e-11);
    close(first.velocity_after[1], 4.738447086081912, 1e-11);
    assert_eq!(motion.stop.reason, StopReason::Reached);
    assert!(motion.audit.hamiltonian_drift < 1e-13 && motion.audit.impact_law_residual < 1e-14);
}

#[test]
fn a_point_mass_bounces_at_its_closed_form_times() {
    // y(t) = 1 + t − 4.9 t²
    let motion = run(POINT_MASS);
    let first = (1.0 + (1.0f64 + 4.0 * 4.9).sqrt()) / 9.8;
    let speed = (1.0f64 + 2.0 * 9.8).sqrt();
    close(motion.impacts[0].time, first, 1e-15);
    close(motion.impacts[0].impulse[0], 2.0 * speed, 1e-14);
    for pair in motion.impacts.windows(2) {
        close(pair[1].time - pair[0].time, 2.0 * speed / 9.8, 1e-14);
    }
    close(motion.impacts[0].time, 0.56517574358817213, 1e-14);
    close(motion.impacts[0].impulse[0], 9.077444574328174, 1e-13);
    close(*signal(&motion.position, "y").last().unwrap(), 0.702724269261398595, 1e-13);
}

#[test]
fn a_thousand_bounces_lose_no_energy_and_no_time() {
    let motion = run(&POINT_MASS.replace("until = 5.0", "until = 927.0"));
    let period = 0.92626985452328304;
    assert!(motion.impacts.len() >= 1001, "{}", motion.impacts.len());
    close(motion.impacts[1000].time, 0.56517574358817213 + 1000.0 * period, 1e-10);
    assert!(motion.audit.hamiltonian_drift < 1e-13, "{:?}", motion.audit);
    println!("{:?} {:e}", motion.audit, motion.impacts[1000].time - 0.56517574358817213 - 1000.0 * period);
}

#[test]
fn the_pendulum_against_a_wall_keeps_its_period() {
    let motion = run(r#"
coordinates = ["theta"]
[parameters]
R = 1.0
g = 9.8
[energy]
kinetic = "R^2*theta'^2/2"
potential = "-g*R*cos(theta)"
[wall.middle]
gap = "theta"
[start]
position = { theta = 1.0 }
[run]
until = 30.0
"#);
    let times = impact_times(&motion);
    close(times[0], 0.53505717975452314, 1e-12);
    for pair in times.windows(2) {
        close(pair[1] - pair[0], 1.07011435950904628, 1e-12);
    }
    assert_eq!(times.len(), 28);
}

fn driven(l1: f64, omega: f64, until: f64) -> String {
    format!(
        r#"
coordinates = ["theta1", "theta2"]
[parameters]
l1 = {l1}
l2 = 1.0
omega = {omega}
m = 1.0
g = 9.8
[define]
x1 = "l1*sin(theta1)"
y1 = "-l1*cos(theta1)"
x2 = "x1 + l2*sin(theta2)"
y2 = "y1 - l2*cos(theta2)"
[energy]
kinetic     = "m/2*(x1'^2 + y1'^2) + m/2*(x2'^2 + y2'^2)"
potential   = "m*g*y1 + m*g*y2"
[driven]
theta1 = "omega*t"
[wall.left]
gap = "x2"
[start]
position = {{ theta2 = 0.5 }}
[run]
until = {until}
"#
    )
}

#[test]
fn the_driven_double_pendulum_reverses_the_bob_not_the_angle() {
    let motion = run(&driven(0.5, 2.0, 5.0));
    let expected = [2.009025917028004, 2.645763125737344, 3.438466925762197, 4.980498978318485];
    let times = impact_times(&motion);
    assert_eq!(times.len(), 4, "{times:?}");
    for (t, e) in times.iter().zip(expected) {
        close(*t, e, 1e-12);
    }
    close(motion.impacts[0].velocity_before[1], -0.960398833741879, 1e-12);
    close(motion.impacts[0].velocity_after[1], 2.346561885555896, 1e-12);
    assert!(motion.audit.hamiltonian_drift < 1e-13, "{:?}", motion.audit);
}

#[test]
fn the_driven_double_pendulum_with_equal_lengths_is_squeezed() {
    let motion = run(&driven(1.0, 1.0, 10.0));
    assert_eq!(motion.stop.reason, StopReason::Squeezed, "{:?} {}", motion.stop, motion.impacts.len());
    close(motion.stop.time, 1.5 * std::f64::consts::PI, 1e-3);
    assert!(motion.stop.detail.as_ref().unwrap().contains("left"));
}

fn bouncing_ball(e: f64, until: f64) -> String {
    format!(
        r#"
coordinates = ["x", "y"]
[parameters]
m = 2.0
g = 9.81
[energy]
kinetic = "m/2*(x'^2 + y'^2)"
potential = "m*g*y"
[wall.floor]
gap = "y"
restitution = {e}
[start]
position = {{ y = 1.0 }}
velocity = {{ x = 0.5 }}
[run]
until = {until}
"#
    )
}

#[test]
fn a_bouncing_ball_comes_to_rest_at_its_zeno_time() {
    for (e, zeno) in [(0.8, 4.06371276887157814), (0.5, 1.35457092295719271)] {
        let motion = run(&bouncing_ball(e, 6.0));
        assert_eq!(motion.stop.reason, StopReason::Reached, "{:?}", motion.stop);
        assert_eq!(motion.contacts.len(), 1);
        let contact = &motion.contacts[0];
        close(contact.from, zeno, 1e-9);
        assert!(contact.zeno && contact.to.is_none());
        close(contact.force_at_start, 2.0 * 9.81, 1e-12);
        close(*signal(&motion.position, "y").last().unwrap(), 0.0, 1e-15);
        close(*signal(&motion.position, "x").last().unwrap(), 3.0, 1e-12);
        close(*signal(&motion.contact_force, "floor").last().unwrap(), 2.0 * 9.81, 1e-12);
        println!("e = {e}: {} impacts", motion.impacts.len());
    }
}

#[test]
fn a_ball_that_came_to_rest_on_an_incline_slides_on() {
    let motion = run(r#"
coordinates = ["x", "y"]
[parameters]
a = 0.5
g = 9.81
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "g*y"
[wall.slope]
gap = "y*cos(a) + x*sin(a)"
restitution = 0.5
[start]
position = { y = 1.0 }
[run]
until = 5.0
"#);
    assert_eq!(motion.contacts.len(), 1);
    let contact = &motion.contacts[0];
    // Along the normal: gravity g cos a, from height cos a.
    let g = 9.81 * 0.5f64.cos();
    let first = (2.0 * 0.5f64.cos() / g).sqrt();
    let zeno = first * (1.0 + 2.0 * 0.5 / (1.0 - 0.5));
    close(contact.from, zeno, 1e-9);
    close(contact.force_at_start, g, 1e-12);
    // Along the slope the motion never notices the bounces.
    let along = |x: f64, y: f64| x * 0.5f64.cos() - y * 0.5f64.sin();
    let (x, y) =
        (*signal(&motion.position, "x").last().unwrap(), *signal(&motion.position, "y").last().unwrap());
    close(along(x, y), along(0.0, 1.0) + 0.5 * 9.81 * 0.5f64.sin() * 25.0, 1e-10);
    close(y * 0.5f64.cos() + x * 0.5f64.sin(), 0.0, 1e-13);
}

fn blocks(exponent: i32) -> String {
    format!(
        r#"
coordinates = ["x", "X"]
[parameters]
M = {}
[energy]
kinetic = "x'^2/2 + M/2*X'^2"
potential = "0"
[wall.wall]
gap = "x"
[wall.blocks]
gap = "X - x"
[start]
position = {{ x = 1.0, X = 2.0 }}
velocity = {{ X = -1.0 }}
[run]
until = 1000.0
samples = 2
"#,
        100f64.powi(exponent)
    )
}

#[test]
fn galperins_blocks_count_the_digits_of_pi() {
    for (exponent, count) in [(0, 3), (1, 31), (2, 314), (3, 3141)] {
        let motion = run(&blocks(exponent));
        assert_eq!(motion.impacts.len(), count, "{:?}", motion.stop);
        assert_eq!(motion.stop.reason, StopReason::Reached);
    }
}

#[test]
fn the_ball_over_hilly_ground_hits_where_it_should() {
    let motion = run(r#"
coordinates = ["x", "y"]
[parameters]
g = 9.81
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "g*y"
[wall.ground]
gap = "y - (sin(x) + 0.2*cos(4*x + sin(4*x)) - 0.2*x + 3)"
restitution = 0.99
[start]
position = { x = 2.0, y = 4.5 }
[run]
until = 10.0
"#);
    let times = impact_times(&motion);
    println!("{times:?}");
    close(times[0], 0.488823337313842, 1e-12);
    close(times[1], 1.226259518817993, 1e-12);
    close(times[2], 2.451778752295921, 1e-12);
    assert_eq!(times.len(), 12);
}

#[test]
fn samples_at_an_impact_show_the_state_after() {
    let (program, mut options) = program(
        &POINT_MASS.replace("g = 9.8", "g = 2.0").replace("velocity = { y = 1.0 }", "velocity = { y = 0.0 }"),
    );
    // Falls from 1 with g = 2: impact at exactly 1, speed 2.
    options.until = 1.0;
    options.sampling = Sampling::At(vec![1.0, 0.5]);
    let motion = simulate(&program, &options).unwrap();
    assert_eq!(motion.impacts.len(), 1);
    assert_eq!(motion.time, vec![1.0, 0.5]);
    close(signal(&motion.velocity, "y")[0], 2.0, 1e-15);
    close(signal(&motion.position, "y")[1], 0.75, 1e-15);
}

#[test]
fn a_gap_that_is_flat_on_the_wall_stops_the_motion_there() {
    // gap = x^k has ∇gap = 0 at x = 0, reached at t = 1: no impulse exists, and the wall is not passed.
    for gap in ["x^2", "x^3", "x^4"] {
        let motion = run(&format!(
            "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\n[wall.w]\ngap = \"{gap}\"\n[start]\nposition = {{ x = 1 }}\nvelocity = {{ x = -1 }}\n[run]\nuntil = 3.0\n"
        ));
        assert_eq!(motion.stop.reason, carom_run::StopReason::WallNotEnforceable, "{gap}: {:?}", motion.stop);
        assert!(motion.stop.detail.as_deref().is_some_and(|d| d.contains("distance")), "{:?}", motion.stop);
        // A root of multiplicity k is located to ε^(1/k).
        assert!((motion.stop.time - 1.0).abs() < 1e-3, "{:?}", motion.stop);
        assert!(motion.impacts.is_empty() && motion.grazes.is_empty());
    }
}
