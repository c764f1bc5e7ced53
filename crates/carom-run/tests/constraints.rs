//! Constrained motions: closed forms, published values, drift.

#![allow(clippy::excessive_precision)]

mod common;

use carom_run::{SimulateError, StopReason, simulate};
use common::{close, program, run, run_at, signal};

const DISK: &str = r#"
coordinates = ["x", "y", "theta", "phi"]
[parameters]
m = 1.0
R = 1.0
I = 0.5
J = 0.25
[energy]
kinetic = "m/2*(x'^2 + y'^2) + I/2*theta'^2 + J/2*phi'^2"
potential = "0"
[nonholonomic]
no_slip_x = "x' - R*theta'*cos(phi)"
no_slip_y = "y' - R*theta'*sin(phi)"
[wall.front]
gap = "10 - y - R*sin(phi)"
"#;

#[test]
fn the_rolling_disk_hits_the_wall_as_published() {
    let motion = run(&format!(
        "{DISK}[start]\nposition = {{ phi = \"pi/3\", y = \"10 - sin(pi/3)\" }}\nvelocity = {{ theta = 2.0, phi = 0.3 }}\n[run]\nuntil = 1e-9\n"
    ));
    assert_eq!(motion.impacts.len(), 1, "{:?}", motion.stop);
    let hit = &motion.impacts[0];
    close(hit.velocity_after[2], 0.55119661, 1e-8);
    close(hit.velocity_after[3], -4.71880215, 1e-8);
    close(hit.impulse[0], 2.509401076758502, 1e-12);
    close(hit.hamiltonian_after, hit.hamiltonian_before, 1e-14 * hit.hamiltonian_before);
    // No slip after the hit.
    close(hit.velocity_after[0], hit.velocity_after[2] * 0.5, 1e-14);
}

#[test]
fn the_car_axis_agrees_with_its_reference_solution() {
    let motion = run_at(
        r#"
coordinates = ["xl", "yl", "xr", "yr"]
[parameters]
k = 0.0005
L = 1.0
L0 = 0.5
r = 0.1
omega = 10.0
g = 1.0
[define]
yb = "r*sin(omega*t)"
xb = "sqrt(L^2 - yb^2)"
[energy]
kinetic = "k*(xl'^2 + yl'^2 + xr'^2 + yr'^2)/2"
potential = "(sqrt(xl^2 + yl^2) - L0)^2/2 + (sqrt((xr - xb)^2 + (yr - yb)^2) - L0)^2/2 + k*g*(yl + yr)"
[holonomic]
left = "xl*xb + yl*yb"
length = "(xl - xr)^2 + (yl - yr)^2 - L^2"
[start]
position = { xl = 0.0, yl = 0.5, xr = 1.0, yr = 0.5 }
velocity = { xl = -0.5, yl = 0.0, xr = -0.5, yr = 0.0 }
"#,
        &[3.0],
    );
    let expected = [
        ("xl", 0.0493455784275402809),
        ("yl", 0.496989460230171154),
        ("xr", 1.04174252488542152),
        ("yr", 0.373911027265361257),
    ];
    for (name, value) in expected {
        close(signal(&motion.position, name)[0], value, 1e-11);
    }
    assert!(
        motion.audit.constraint_drift < 1e-12 && motion.audit.hamiltonian_drift < 1e-12,
        "{:?}",
        motion.audit
    );
}

const CARTESIAN: &str = r#"
coordinates = ["x", "y"]
[parameters]
l = 1.0
g = 9.81
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "g*y"
[holonomic]
rod = "x^2 + y^2 - l^2"
[start]
position = { x = "sin(1)", y = "-cos(1)" }
"#;

#[test]
fn a_pendulum_with_a_rod_agrees_with_its_angle_form() {
    let times: Vec<f64> = (0..=100).map(f64::from).collect();
    let rod = run_at(CARTESIAN, &times);
    let angle = run_at(
        "coordinates = [\"theta\"]\n[energy]\nkinetic = \"theta'^2/2\"\npotential = \"-9.81*cos(theta)\"\n[start]\nposition = { theta = 1.0 }\n",
        &times,
    );
    for k in 0..times.len() {
        let theta = signal(&angle.position, "theta")[k];
        close(signal(&rod.position, "x")[k], theta.sin(), 1e-11);
        // Tension of the rod: μ·2l = −(g cos θ + θ′²) along the outward normal.
        let rate = signal(&angle.velocity, "theta")[k];
        close(2.0 * signal(&rod.multiplier, "rod")[k], -(9.81 * theta.cos() + rate * rate), 1e-10);
    }
    assert!(rod.audit.constraint_drift < 1e-14);
}

#[test]
fn a_start_off_the_constraint_is_refused_with_the_amount_unless_projected() {
    let (program, mut options) = program(CARTESIAN);
    options.start.position[0] = Some(1.5);
    match simulate(&program, &options) {
        Err(SimulateError::InconsistentStart(rows)) => assert!(rows[0].contains("rod"), "{rows:?}"),
        other => panic!("{other:?}"),
    }
    options.start.project = true;
    let motion = simulate(&program, &options).unwrap();
    let (x, y) = (signal(&motion.position, "x")[0], signal(&motion.position, "y")[0]);
    close(x * x + y * y, 1.0, 1e-15);
}

#[test]
fn variables_that_were_not_given_follow_from_the_constraints() {
    let motion = run(&CARTESIAN.replace(
        "position = { x = \"sin(1)\", y = \"-cos(1)\" }",
        "position = { x = 0.6, y = -0.8 }\nvelocity = { x = 0.8 }",
    ));
    close(signal(&motion.velocity, "y")[0], 0.6, 1e-14);
    close(signal(&motion.velocity, "x")[0], 0.8, 1e-15);
}

#[test]
fn a_constraint_written_twice_changes_nothing_but_the_multipliers() {
    let times = [1.0, 2.0, 3.0];
    let once = run_at(CARTESIAN, &times);
    let twice = run_at(&CARTESIAN.replace("[start]", "again = \"2*(x^2 + y^2 - l^2)\"\n[start]"), &times);
    for k in 0..3 {
        close(signal(&twice.position, "x")[k], signal(&once.position, "x")[k], 1e-13);
        let (a, b) = (signal(&twice.multiplier, "rod")[k], signal(&twice.multiplier, "again")[k]);
        close(a + 2.0 * b, signal(&once.multiplier, "rod")[k], 1e-11);
        // Both carry half of the reaction, however they are written.
        close(a, 2.0 * b, 1e-11);
    }
    assert!(twice.warnings.iter().any(|w| w.contains("depend on each other")), "{:?}", twice.warnings);
}

#[test]
fn a_driven_coordinate_equals_a_time_dependent_constraint() {
    let base = r#"
coordinates = ["theta1", "theta2"]
[parameters]
l1 = 0.5
omega = 2.0
g = 9.8
[define]
x1 = "l1*sin(theta1)"
y1 = "-l1*cos(theta1)"
x2 = "x1 + sin(theta2)"
y2 = "y1 - cos(theta2)"
[energy]
kinetic     = "(x1'^2 + y1'^2)/2 + (x2'^2 + y2'^2)/2"
potential   = "g*y1 + g*y2"
[wall.left]
gap = "x2"
DRIVE
[run]
until = 5.0
"#;
    let driven =
        run(&base.replace("DRIVE", "[driven]\ntheta1 = \"omega*t\"\n[start]\nposition = { theta2 = 0.5 }"));
    let held = run(&base.replace(
        "DRIVE",
        "[holonomic]\ndrive = \"theta1 - omega*t\"\n[start]\nposition = { theta2 = 0.5 }\nvelocity = { theta1 = 2.0 }",
    ));
    assert_eq!(driven.impacts.len(), 4);
    assert_eq!(held.impacts.len(), 4);
    for (a, b) in driven.impacts.iter().zip(&held.impacts) {
        close(a.time, b.time, 1e-11);
        close(a.velocity_after[1], b.velocity_after[1], 1e-11);
        close(a.driving_impulse[0], b.reaction_impulse[0], 1e-11);
        // [E] = ω times the drive's impulse
        close(b.hamiltonian_after - b.hamiltonian_before, 2.0 * b.reaction_impulse[0], 1e-11);
    }
    for k in 0..driven.time.len() {
        close(signal(&driven.driving_force, "theta1")[k], signal(&held.multiplier, "drive")[k], 1e-9);
    }
    assert!(held.audit.hamiltonian_drift < 1e-12, "{:?}", held.audit);
}

#[test]
fn a_knife_edge_on_an_incline_follows_its_cycloid() {
    // Unit mass and inertia, gravity g sin a along x; φ = ω t. Start at rest (of the contact point):
    // x = k/(2ω²) sin²ωt, y = k/(2ω²) (ωt − ½ sin 2ωt), k = g sin a.
    let omega: f64 = 1.3;
    let times: Vec<f64> = (1..=20).map(|i| 0.5 * f64::from(i)).collect();
    let motion = run_at(
        r#"
coordinates = ["x", "y", "phi"]
[parameters]
k = 3.0
[energy]
kinetic = "(x'^2 + y'^2)/2 + phi'^2/2"
potential = "-k*x"
[nonholonomic]
edge = "x'*sin(phi) - y'*cos(phi)"
[start]
velocity = { phi = 1.3 }
"#,
        &times,
    );
    for (i, t) in times.iter().enumerate() {
        let a = omega * t;
        close(signal(&motion.position, "x")[i], 3.0 / (2.0 * omega * omega) * a.sin().powi(2), 1e-12);
        close(
            signal(&motion.position, "y")[i],
            3.0 / (2.0 * omega * omega) * (a - 0.5 * (2.0 * a).sin()),
            1e-12,
        );
    }
}

#[test]
fn a_sleigh_against_a_wall_keeps_its_energy_and_loses_it_by_restitution() {
    let sleigh = |e: f64| {
        format!(
            r#"
coordinates = ["x", "y", "phi"]
[parameters]
a = 0.3
[define]
xc = "x + a*cos(phi)"
yc = "y + a*sin(phi)"
[energy]
kinetic = "(xc'^2 + yc'^2)/2 + 0.2*phi'^2/2"
potential = "0"
[nonholonomic]
blade = "-x'*sin(phi) + y'*cos(phi)"
[wall.right]
gap = "5 - xc"
restitution = {e}
[wall.left]
gap = "5 + xc"
restitution = {e}
[start]
velocity = {{ x = 2.0, phi = 0.4 }}
[run]
until = 40.0
"#
        )
    };
    let elastic = run(&sleigh(1.0));
    assert_eq!(elastic.stop.reason, StopReason::Reached);
    assert!(elastic.impacts.len() >= 3, "{}", elastic.impacts.len());
    assert!(elastic.audit.hamiltonian_drift < 1e-12, "{:?}", elastic.audit);
    let h = &elastic.hamiltonian;
    close(h[h.len() - 1], h[0], 1e-12 * h[0]);
    let lossy = run(&sleigh(0.7));
    for hit in &lossy.impacts {
        close(hit.gap_rate_after[0], -0.7 * hit.gap_rate_before[0], 1e-12);
        assert!(hit.hamiltonian_after < hit.hamiltonian_before);
    }
    assert!(lossy.audit.hamiltonian_drift < 1e-12, "{:?}", lossy.audit);
}

#[test]
fn the_disk_rolls_in_a_corridor_on_its_closed_form_path() {
    // Between hits θ′ and φ′ are constant: x′ = Rθ′ cos φ integrates in closed form.
    let text = format!(
        "{DISK}[wall.back]\ngap = \"10 + y + R*sin(phi)\"\n[start]\nposition = {{ phi = 0.9 }}\nvelocity = {{ theta = 3.0, phi = 0.11 }}\n[run]\nuntil = 60.0\n"
    );
    let motion = run(&text);
    assert!(motion.impacts.len() >= 10, "{}", motion.impacts.len());
    for pair in motion.impacts.windows(2).take(10) {
        let (a, b) = (&pair[0], &pair[1]);
        let (theta, phi) = (a.velocity_after[2], a.velocity_after[3]);
        let dt = b.time - a.time;
        let angle = a.position[3] + phi * dt;
        close(b.position[3], angle, 1e-12 * (1.0 + angle.abs()));
        let y = a.position[1] - theta / phi * (angle.cos() - a.position[3].cos());
        close(b.position[1], y, 1e-12 * (1.0 + (theta / phi).abs()));
        close(b.hamiltonian_after, b.hamiltonian_before, 1e-14 * b.hamiltonian_before);
    }
}

#[test]
fn the_rolling_disk_has_one_answer_at_every_heading() {
    for k in 0..59 {
        let heading = 0.1 + 0.05 * f64::from(k);
        // Towards the wall whatever the heading: −y′ − cos φ φ′ < 0.
        let (theta, phi) = (1.0 + 0.3 * f64::from(k % 7), 0.9 - 0.2 * f64::from(k % 5));
        if theta * heading.sin() + heading.cos() * phi <= 0.0 {
            continue;
        }
        let text = format!(
            "{DISK}[start]\nposition = {{ phi = {heading:?}, y = \"10 - sin({heading:?})\" }}\nvelocity = {{ theta = {theta}, phi = {phi} }}\n[run]\nuntil = 1e-9\n"
        );
        let motion = run(&text);
        assert_eq!(motion.impacts.len(), 1, "{heading}");
        let hit = &motion.impacts[0];
        assert!(hit.impulse[0] > 0.0);
        close(hit.hamiltonian_after, hit.hamiltonian_before, 1e-14 * hit.hamiltonian_before);
        let v = &hit.velocity_after;
        let size = v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        close(v[0] - v[2] * heading.cos(), 0.0, 1e-14 * size);
        close(v[1] - v[2] * heading.sin(), 0.0, 1e-14 * size);
        close(hit.gap_rate_after[0], -hit.gap_rate_before[0], 1e-14 * size);
    }
    // Square hit: rolling and momentum across the wall reversed, spin about the vertical kept.
    let motion = run(&format!(
        "{DISK}[start]\nposition = {{ phi = \"pi/2\", y = 9 }}\nvelocity = {{ theta = 2, phi = 0.3 }}\n[run]\nuntil = 1e-9\n"
    ));
    let v = &motion.impacts[0].velocity_after;
    close(v[2], -2.0, 1e-15);
    // The double nearest to π/2 is off by 6e-17; times λ/J = 24.
    close(v[3], 0.3, 2e-15);
    close(v[1], -2.0, 1e-15);
}

#[test]
fn many_rhombic_loops_in_a_row_swing_like_one_pendulum() {
    // Cranks of length 1 hang a distance 1 apart, rods of length 1 join the masses at their ends: all masses move alike.
    // Configurations with some loops folded have dependent rows; the one that moves here has not.
    for n in [1, 6, 20] {
        let names: Vec<String> = (0..=n).map(|i| format!("\"x{i}\", \"y{i}\"")).collect();
        let mut text = format!(
            "coordinates = [{}]\ngravity = [0.0, -9.81]\n[run]\nuntil = 2.0\n[holonomic]\n",
            names.join(", ")
        );
        for i in 0..=n {
            text += &format!("crank{i} = \"(x{i} - {i})^2 + y{i}^2 - 1\"\n");
            if i > 0 {
                let h = i - 1;
                text += &format!("rod{i} = \"(x{i} - x{h})^2 + (y{i} - y{h})^2 - 1\"\n");
            }
        }
        for i in 0..=n {
            text += &format!("[body.b{i}]\nmass = 1.0\nat = [\"x{i}\", \"y{i}\"]\n");
        }
        let places: Vec<String> =
            (0..=n).map(|i| format!("x{i} = \"{i} + sin(0.8)\", y{i} = \"-cos(0.8)\"")).collect();
        text += &format!("[start]\nposition = {{ {} }}\n", places.join(", "));
        let loops = run(&text);
        let pendulum = run(
            "coordinates = [\"a\"]\n[energy]\nkinetic = \"a'^2/2\"\npotential = \"-9.81*cos(a)\"\n[start]\nposition = { a = 0.8 }\n[run]\nuntil = 2.0\n",
        );
        let angle = signal(&pendulum.position, "a").last().unwrap();
        for i in 0..=n {
            let x = signal(&loops.position, &format!("x{i}")).last().unwrap();
            close(x - f64::from(i), angle.sin(), 1e-13 * f64::from(n + 1));
        }
    }
}

/// What a start decides about a kink that it lies on must not leave the rows unknown: a force that bends at t = 0 is, from
/// there on, its straight branch.
#[test]
fn a_start_off_its_rows_and_on_a_kink_is_projected_and_goes_on() {
    let kinds = [
        "[nonholonomic]\nskate = \"x'*sin(1.1) - y'*cos(x)\"\n",
        "[holonomic]\nrod = \"x^2 + y^2 - 1\"\n",
        "[holonomic]\nrod = \"x^2 + y^2 - 1\"\n[wall.side]\ngap = \"x + 3\"\n",
    ];
    for rows in kinds {
        let at = |force: &str| {
            run(&format!(
                "coordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"y\"\n{rows}\
                 [force.f]\ngeneralized = {{ x = \"{force}\" }}\n\
                 [start]\nposition = {{ x = 0.8, y = -0.7 }}\nvelocity = {{ x = 0.2, y = 0.7 }}\nproject = true\n\
                 [run]\nuntil = 2.0\n"
            ))
        };
        for (bent, straight) in
            [("max(t, 2*t)", "2*t"), ("min(t, 2*t)", "t"), ("max(-t, -2*t)", "-t"), ("abs(sin(t))", "sin(t)")]
        {
            let (a, b) = (at(bent), at(straight));
            assert_eq!(a.stop.reason, StopReason::Reached, "{rows}{bent}: {:?}", a.stop);
            for name in ["x", "y"] {
                let (a, b) = (signal(&a.position, name), signal(&b.position, name));
                // Both runs keep their tolerance of 1e-12 per step over a few dozen steps.
                close(*a.last().unwrap(), *b.last().unwrap(), 1e-9);
            }
        }
    }
}
