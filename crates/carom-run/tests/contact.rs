//! Contact that lasts, release, corners, chains, squeezing, starts on walls, limits and refusals.

#![allow(clippy::excessive_precision)]

mod common;

use carom_mech::model::ImpactOrder;
use carom_run::{Motion, Progress, SimulateError, StopReason, simulate, simulate_with};
use common::{close, impact_times, program, run, signal};

fn plane(potential: &str, rest: &str) -> String {
    format!(
        "coordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"{potential}\"\n{rest}"
    )
}

#[test]
fn a_mass_sliding_off_a_sphere_leaves_where_the_force_vanishes() {
    // From the top of a unit sphere with speed v0: leaves at cos θ = 2/3 + v0²/(3 g).
    let (g, v0) = (9.81, 0.3);
    let motion = run(&plane(
        "9.81*y",
        "[wall.sphere]\ngap = \"sqrt(x^2 + y^2) - 1\"\n[start]\nposition = { y = 1.0 }\nvelocity = { x = 0.3 }\n[run]\nuntil = 1.5\n",
    ));
    assert_eq!(motion.contacts.len(), 1, "{:?}", motion.contacts);
    let contact = &motion.contacts[0];
    assert_eq!(contact.from, 0.0);
    close(contact.force_at_start, g - v0 * v0, 1e-13);
    let cosine: f64 = 2.0 / 3.0 + v0 * v0 / (3.0 * g);
    // t = ∫ dθ / sqrt(v0² + 2g(1 − cos θ)), by Simpson with many points.
    let end = cosine.acos();
    let n = 20_000;
    let f = |a: f64| 1.0 / (v0 * v0 + 2.0 * g * (1.0 - a.cos())).sqrt();
    let h = end / f64::from(n);
    let sum: f64 = (0..n)
        .map(|i| {
            let a = f64::from(i) * h;
            (f(a) + 4.0 * f(a + h / 2.0) + f(a + h)) * h / 6.0
        })
        .sum();
    close(contact.to.unwrap(), sum, 1e-11);
    assert!(motion.impacts.is_empty());
    let drop = *signal(&motion.gap, "sphere").last().unwrap();
    assert!(drop > 0.1);
    assert!(
        motion.audit.hamiltonian_drift < 1e-13 && motion.audit.deepest_penetration < 1e-13,
        "{:?}",
        motion.audit
    );
}

#[test]
fn arriving_without_speed_starts_contact_without_impulse() {
    // Pressed by a force that grows: free flight tangent to the floor, y = (t−1)² falling to 0 with zero rate, then held.
    let motion = run(&plane(
        "0",
        "[force.push]\ngeneralized = { y = \"2 - 4*t\" }\n[wall.floor]\ngap = \"y\"\n[start]\nposition = { x = 0, y = 1 }\nvelocity = { x = 1, y = -4 }\n[run]\nuntil = 0.1\n",
    ));
    assert!(motion.impacts.is_empty());
    // y″ = 6 (1 − t), y = (1 − t)³: reaches 0 with y′ = y″ = 0 at t = 1; then held down.
    let motion = run(&plane(
        "0",
        "[force.push]\ngeneralized = { y = \"6 - 6*t\" }\n[wall.floor]\ngap = \"y\"\n[start]\nposition = { y = 1 }\nvelocity = { x = 1, y = -3 }\n[run]\nuntil = 2.0\n",
    ));
    assert_eq!(motion.stop.reason, StopReason::Reached, "{:?}", motion.stop);
    close(*signal(&motion.position, "y").last().unwrap(), 0.0, 1e-12);
    close(*signal(&motion.contact_force, "floor").last().unwrap(), 6.0, 1e-9);
}

#[test]
fn a_block_on_a_table_that_accelerates_away_is_released_at_the_right_time() {
    // Table at a sin(w t): the block leaves when −a w² sin = −g.
    let motion = run(
        "coordinates = [\"y\"]\n[parameters]\na = 0.2\nw = 10.0\n[energy]\nkinetic = \"y'^2/2\"\npotential = \"9.81*y\"\n[wall.table]\ngap = \"y - a*sin(w*t)\"\nrestitution = 0\n[start]\nvelocity = { y = \"a*w\" }\n[run]\nuntil = 0.3\n",
    );
    assert_eq!(motion.contacts[0].from, 0.0);
    close(motion.contacts[0].to.unwrap(), (9.81f64 / 20.0).asin() / 10.0, 1e-12);
    assert!(motion.audit.hamiltonian_drift < 1e-13, "{:?}", motion.audit);
}

#[test]
fn a_start_on_a_wall_towards_it_is_an_impact_at_the_start() {
    let motion = run(&plane(
        "0",
        "[wall.floor]\ngap = \"y\"\n[start]\nvelocity = { x = 1, y = -2 }\n[run]\nuntil = 1.0\n",
    ));
    assert_eq!(impact_times(&motion), vec![0.0]);
    close(signal(&motion.velocity, "y")[0], 2.0, 0.0);
    close(*signal(&motion.position, "y").last().unwrap(), 2.0, 1e-15);
}

#[test]
fn a_start_behind_a_wall_is_refused_with_its_depth() {
    let (program, mut options) = program(&plane("0", "[wall.floor]\ngap = \"y\"\n"));
    options.start.position[1] = Some(-0.25);
    match simulate(&program, &options) {
        Err(SimulateError::BehindWall(all)) => {
            assert!(all[0].contains("floor") && all[0].contains("-0.25"), "{all:?}")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn gliding_on_a_floor_without_weight_goes_on_forever() {
    let motion = run(&plane(
        "0",
        "[wall.floor]\ngap = \"y\"\n[wall.end]\ngap = \"5 - x\"\n[start]\nvelocity = { x = 1 }\n[run]\nuntil = 20.0\n",
    ));
    assert_eq!(motion.stop.reason, StopReason::Reached);
    assert_eq!(motion.impacts.len(), 1);
    close(*signal(&motion.position, "y").last().unwrap(), 0.0, 0.0);
    close(*signal(&motion.position, "x").last().unwrap(), -10.0, 1e-13);
    // The contact goes on through the impact elsewhere.
    assert_eq!(motion.contacts.len(), 1, "{:?}", motion.contacts);
    assert_eq!(motion.contacts[0].to, None);
}

fn corner(angle: f64, order: &str, e: f64) -> String {
    let (s, c) = angle.sin_cos();
    plane(
        "0",
        &format!(
            "[wall.floor]\ngap = \"y\"\nrestitution = {e}\n[wall.side]\ngap = \"{s:?}*x - {c:?}*y\"\nrestitution = {e}\n[start]\nposition = {{ x = 1, y = \"tan({angle:?}/2)\" }}\nvelocity = {{ x = -1, y = \"-tan({angle:?}/2)\" }}\n[run]\nuntil = 2.0\nimpact_order = \"{order}\"\n"
        ),
    )
}

#[test]
fn a_right_corner_reverses_the_velocity_by_both_rules() {
    for order in ["simultaneous", "sequential"] {
        let motion = run(&corner(std::f64::consts::FRAC_PI_2, order, 1.0));
        close(*signal(&motion.velocity, "x").last().unwrap(), 1.0, 1e-14);
        close(*signal(&motion.velocity, "y").last().unwrap(), 1.0, 1e-14);
        assert!(motion.warnings.is_empty(), "{:?}", motion.warnings);
    }
}

#[test]
fn an_ambiguous_corner_keeps_energy_and_warns() {
    let both: Vec<_> = ["simultaneous", "sequential"]
        .iter()
        .map(|order| {
            let motion = run(&corner(50f64.to_radians(), order, 1.0));
            assert!(
                motion.warnings.iter().any(|w| w.contains("floor") && w.contains("side")),
                "{:?}",
                motion.warnings
            );
            assert!(motion.audit.hamiltonian_drift < 1e-14);
            motion
        })
        .collect();
    // Moreau treats both at once in one record, the sequential rule one after the other.
    assert_eq!(both[0].impacts[0].walls.len(), 2);
    assert!(both[1].impacts.iter().all(|i| i.walls.len() == 1) && both[1].impacts.len() >= 2);
}

fn cradle(order: &str) -> String {
    format!(
        r#"
coordinates = ["a", "b", "c", "d"]
[energy]
kinetic = "(a'^2 + b'^2 + c'^2 + d'^2)/2"
potential = "0"
[wall.ab]
gap = "b - a"
[wall.bc]
gap = "c - b"
[wall.cd]
gap = "d - c"
[start]
position = {{ a = -1.0 }}
velocity = {{ a = 1.0 }}
[run]
until = 3.0
impact_order = "{order}"
"#
    )
}

#[test]
fn newtons_cradle_behaves_as_on_a_desk_when_hit_in_sequence() {
    let motion = run(&cradle("sequential"));
    let ends: Vec<f64> =
        ["a", "b", "c", "d"].iter().map(|n| *signal(&motion.velocity, n).last().unwrap()).collect();
    for (v, e) in ends.iter().zip([0.0, 0.0, 0.0, 1.0]) {
        close(*v, e, 1e-14);
    }
    assert_eq!(motion.impacts.len(), 3);
    let together = run(&cradle("simultaneous"));
    // All at once: momentum and energy kept, the balls spread.
    let v: Vec<f64> =
        ["a", "b", "c", "d"].iter().map(|n| *signal(&together.velocity, n).last().unwrap()).collect();
    close(v.iter().sum(), 1.0, 1e-13);
    close(v.iter().map(|v| v * v).sum(), 1.0, 1e-13);
    assert!(together.warnings.len() >= 2, "{:?}", together.warnings);
}

#[test]
fn two_walls_closing_on_a_mass_squeeze_it() {
    let motion = run(
        "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"0\"\n[wall.left]\ngap = \"x + 1 - t\"\nrestitution = 0\n[wall.right]\ngap = \"1 - t - x\"\nrestitution = 0\n[run]\nuntil = 3.0\n",
    );
    assert_eq!(motion.stop.reason, StopReason::Squeezed, "{:?}", motion.stop);
    close(motion.stop.time, 1.0, 1e-12);
    let detail = motion.stop.detail.unwrap();
    assert!(detail.contains("left") && detail.contains("right"));
}

/// A mass between a wall that comes from the left and one that comes from the right: `left` ≤ x ≤ `right`.
fn press(left: &str, right: &str, run: &str) -> Motion {
    common::run(&format!(
        "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\n[wall.left]\ngap = \"x - ({left})\"\n[wall.right]\ngap = \"{right} - x\"\n[start]\nposition = {{ x = 1 }}\nvelocity = {{ x = 0.3 }}\n[run]\n{run}\n"
    ))
}

#[test]
fn two_walls_that_meet_head_on_and_keep_the_energy_squeeze_a_mass() {
    // 3 − 2t is left at t: nothing at 1.5. The speed times the width is adiabatic, so 1e6 impacts would reach 1e-8 of it only.
    let motion = press("t", "3 - t", "until = 2.0");
    let detail = motion.stop.detail.unwrap();
    assert_eq!(motion.stop.reason, StopReason::Squeezed, "{detail}");
    assert!(detail.contains("`left`, `right`"), "{detail}");
    assert!(motion.stop.time < 1.5 && motion.impacts.len() < 100_000, "{}", motion.impacts.len());
    close(motion.stop.time, 1.5, 1e-5);
    let closing: f64 = detail.rsplit(' ').next().unwrap().parse().unwrap();
    close(closing, 1.5, 1e-8);
}

#[test]
fn a_run_that_ends_before_the_walls_meet_is_not_squeezed() {
    let motion = press("t", "3 - t", "until = 1.49999");
    assert_eq!(motion.stop.reason, StopReason::Reached, "{:?}", motion.stop);
    let motion = press("t", "0.05 + t + (1.5 - t)^2", "until = 3.0");
    assert_eq!(motion.stop.reason, StopReason::Reached, "{:?}", motion.stop);
}

#[test]
fn a_limit_of_impacts_in_a_space_that_closes_says_so() {
    let motion = press("t", "3 - t", "until = 2.0\nmax_impacts = 1000");
    let detail = motion.stop.detail.unwrap();
    assert_eq!((motion.stop.reason, motion.impacts.len()), (StopReason::ImpactLimit, 1000));
    assert!(
        detail.starts_with("1000 impacts; the free space at `left`, `right` closes at t = 1.50000"),
        "{detail}"
    );
    // Walls at rest, or far apart, are not mentioned.
    let motion = press("0", "3", "until = 2000.0\nmax_impacts = 50");
    assert_eq!(motion.stop.detail.as_deref(), Some("50 impacts"));
}

#[test]
fn a_ball_that_comes_to_rest_has_no_space_that_closes() {
    // Its gaps fall, and so do its speeds.
    let motion = run(&plane(
        "9.81*y",
        "[wall.floor]\ngap = \"y\"\nrestitution = 0.99\n[start]\nposition = { x = 0, y = 1 }\n[run]\nuntil = 80.0\nmax_impacts = 200\n",
    ));
    assert_eq!(motion.stop.detail.as_deref(), Some("200 impacts"));
}

#[test]
fn a_ball_in_a_groove_comes_to_rest_by_a_zeno_series_over_two_walls() {
    // Off centre, so the walls are hit in turns.
    let motion = run(&plane(
        "9.81*y",
        "[wall.left]\ngap = \"y + x\"\nrestitution = 0.5\n[wall.right]\ngap = \"y - x\"\nrestitution = 0.5\n[start]\nposition = { x = 0.1, y = 1 }\n[run]\nuntil = 10.0\n",
    ));
    assert_eq!(motion.stop.reason, StopReason::Reached, "{:?} {}", motion.stop, motion.impacts.len());
    close(*signal(&motion.position, "y").last().unwrap(), 0.0, 1e-9);
    assert_eq!(motion.contacts.iter().filter(|c| c.to.is_none()).count(), 2, "{:?}", motion.contacts);
    let f = signal(&motion.contact_force, "left").last().unwrap();
    close(*f, 9.81 / 2.0, 1e-9);
}

#[test]
fn a_stack_of_balls_comes_to_rest() {
    let motion = run(
        "coordinates = [\"a\", \"b\", \"c\"]\n[energy]\nkinetic = \"(a'^2 + b'^2 + c'^2)/2\"\npotential = \"9.81*(a + b + c)\"\n[wall.floor]\ngap = \"a\"\nrestitution = 0.4\n[wall.ab]\ngap = \"b - a\"\nrestitution = 0.4\n[wall.bc]\ngap = \"c - b\"\nrestitution = 0.4\n[start]\nposition = { a = 0.5, b = 0.7, c = 1.0 }\n[run]\nuntil = 10.0\n",
    );
    assert_eq!(motion.stop.reason, StopReason::Reached, "{:?} {}", motion.stop, motion.impacts.len());
    for (name, force) in [("floor", 3.0), ("ab", 2.0), ("bc", 1.0)] {
        close(*signal(&motion.contact_force, name).last().unwrap(), force * 9.81, 1e-9);
    }
    println!("{} impacts, {:?} {:?}", motion.impacts.len(), motion.warnings, motion.audit);
}

#[test]
fn a_gap_with_vanishing_gradient_is_named() {
    let motion = run(&plane(
        "0",
        "[wall.bad]\ngap = \"y^3\"\n[start]\nposition = { y = 1 }\nvelocity = { y = -1 }\n[run]\nuntil = 2.0\n",
    ));
    assert_eq!(motion.stop.reason, StopReason::WallNotEnforceable, "{:?}", motion.stop);
    assert!(motion.stop.detail.unwrap().contains("bad"));
}

#[test]
fn a_wall_behind_a_constraint_names_both() {
    let motion = run(&plane(
        "0",
        "[holonomic]\nrail = \"y - t\"\n[wall.stop]\ngap = \"1 - y\"\n[start]\nvelocity = { x = 1, y = 1 }\n[run]\nuntil = 2.0\n",
    ));
    assert_eq!(motion.stop.reason, StopReason::WallNotEnforceable);
    let detail = motion.stop.detail.unwrap();
    assert!(detail.contains("stop") && detail.contains("rail"), "{detail}");
    close(motion.stop.time, 1.0, 1e-14);
}

#[test]
fn no_impact_is_applied_beyond_the_limit() {
    // Falls from 1: impacts at (2k + 1) √(2/g).
    let fall = (2.0f64 / 9.81).sqrt();
    let text =
        plane("9.81*y", "[wall.floor]\ngap = \"y\"\n[start]\nposition = { y = 1 }\n[run]\nuntil = 3.0\n");
    let (program, mut options) = program(&text);
    for (most, says) in [(0, "0 impacts"), (1, "1 impact"), (2, "2 impacts")] {
        options.max_impacts = most;
        let motion = simulate(&program, &options).unwrap();
        assert_eq!((motion.stop.reason, motion.impacts.len() as u64), (StopReason::ImpactLimit, most));
        assert_eq!(motion.stop.detail.as_deref(), Some(says));
        close(motion.stop.time, (2 * most + 1) as f64 * fall, 1e-14);
    }
    // Three impacts until the end are three, not one too many.
    options.max_impacts = 3;
    let motion = simulate(&program, &options).unwrap();
    assert_eq!((motion.stop.reason, motion.impacts.len()), (StopReason::Reached, 3));
}

#[test]
fn the_limit_of_impacts_holds_within_one_instant_and_for_any_kinetic_energy() {
    let corner = "[wall.a]\ngap = \"y - x\"\n[wall.b]\ngap = \"y + 2*x\"\n[start]\nposition = { y = 1 }\nvelocity = { y = -1 }\n[run]\nimpact_order = \"sequential\"\nuntil = 3.0\n";
    let relativistic = "coordinates = [\"x\", \"y\"]\nlagrangian = \"-sqrt(1 - x'^2/25 - y'^2/25)\"\n";
    for text in [plane("0", corner), format!("{relativistic}{corner}")] {
        let (program, mut options) = program(&text);
        let all = simulate(&program, &options).unwrap().impacts;
        assert!(all.len() > 1 && all.iter().all(|i| i.time == all[0].time), "{all:?}");
        for most in 0..all.len() {
            options.max_impacts = most as u64;
            let motion = simulate(&program, &options).unwrap();
            assert_eq!((motion.stop.reason, &motion.impacts[..]), (StopReason::ImpactLimit, &all[..most]));
        }
        options.max_impacts = all.len() as u64;
        assert_eq!(simulate(&program, &options).unwrap().stop.reason, StopReason::Reached);
    }
}

#[test]
fn limits_and_interruption_deliver_what_was_computed() {
    let text =
        plane("9.81*y", "[wall.floor]\ngap = \"y\"\n[start]\nposition = { y = 1 }\n[run]\nuntil = 1000.0\n");
    let (program, mut options) = program(&text);
    options.max_impacts = 7;
    let motion = simulate(&program, &options).unwrap();
    assert_eq!((motion.stop.reason, motion.impacts.len()), (StopReason::ImpactLimit, 7));
    assert!(!motion.time.is_empty() && motion.time.iter().all(|t| *t <= motion.stop.time));
    options.max_impacts = 1000;
    options.max_steps = 20;
    assert_eq!(simulate(&program, &options).unwrap().stop.reason, StopReason::StepLimit);
    options.max_steps = 1_000_000;
    options.max_impacts = 1_000_000;
    let mut calls = 0;
    let mut tell = |p: &Progress| {
        calls += 1;
        assert!(p.time >= 0.0 && p.until == 1000.0);
        calls < 4
    };
    let motion = simulate_with(&program, &options, &mut tell).unwrap();
    assert_eq!(motion.stop.reason, StopReason::Interrupted);
    assert!(motion.stop.time > 0.0);
}

#[test]
fn meaningless_options_are_refused() {
    let (program, options) = program(&plane("0", ""));
    let mut bad = options.clone();
    bad.tolerance = 0.0;
    assert!(matches!(simulate(&program, &bad), Err(SimulateError::Option(_))));
    bad.tolerance = -1.0;
    assert!(simulate(&program, &bad).is_err());
    let mut bad = options.clone();
    bad.until = -1.0;
    assert!(simulate(&program, &bad).unwrap_err().to_string().contains("before"));
    let mut bad = options.clone();
    bad.start.position[0] = Some(f64::NAN);
    assert!(simulate(&program, &bad).unwrap_err().to_string().contains("`x`"));
    let mut bad = options.clone();
    bad.sampling = carom_run::Sampling::At(vec![99.0]);
    assert!(simulate(&program, &bad).is_err());
    let mut fine = options;
    fine.impact_order = ImpactOrder::Sequential;
    assert!(simulate(&program, &fine).is_ok());
}

#[test]
fn a_motion_that_runs_into_a_singularity_says_so() {
    // Falls into the centre of attraction.
    let motion = run(&plane("-1/sqrt(x^2 + y^2)", "[start]\nposition = { x = 1 }\n[run]\nuntil = 5.0\n"));
    assert!(matches!(motion.stop.reason, StopReason::Singular | StopReason::NotFinite), "{:?}", motion.stop);
    close(motion.stop.time, std::f64::consts::PI / 8f64.sqrt(), 1e-6);
    assert!(!motion.time.is_empty());
}

#[test]
fn zero_mass_is_refused_at_the_start() {
    let text = "coordinates = [\"x\"]\n[parameters]\nm = 1.0\n[energy]\nkinetic = \"m*x'^2/2\"\npotential = \"x\"\n[run]\nuntil = 1.0\n";
    let (program, mut options) = program(text);
    options.parameters[0] = 0.0;
    match simulate(&program, &options) {
        Err(SimulateError::Singular(message)) => assert!(message.contains("`x`"), "{message}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_table_on_three_feet_in_a_row_tips_over_its_last_foot() {
    // Two degrees of freedom, three contacts: the motion is unique, the forces are those of least Σ f² n·S n. With n·S n = 2, 1, 2
    // and f_l = f_r, 2 f_l + f_m = 10: f_m = 2 f_l. Torque 8t tips at 8t = 10.
    let table = |torque: &str| {
        format!(
            "coordinates = [\"y\", \"a\"]\n[energy]\nkinetic = \"y'^2/2 + a'^2/2\"\npotential = \"10*y\"\n[force.t]\ngeneralized = {{ a = \"{torque}\" }}\n[wall.l]\ngap = \"y - a\"\n[wall.m]\ngap = \"y\"\n[wall.r]\ngap = \"y + a\"\n[run]\nuntil = 2.0\n"
        )
    };
    for (torque, foot) in [("8*t", 0), ("-8*t", 2)] {
        let motion = run(&table(torque));
        assert_eq!(motion.stop.reason, StopReason::Reached, "{:?}", motion.stop);
        assert_eq!(motion.contacts.len(), 3);
        for contact in &motion.contacts {
            close(contact.force_at_start, if contact.wall == 1 { 5.0 } else { 2.5 }, 1e-14);
            match contact.to {
                None => assert_eq!(contact.wall, foot),
                Some(t) => close(t, 1.25, 1e-14),
            }
        }
        // Forces push at all times and carry the weight while it stands.
        for k in 0..motion.time.len() {
            let forces: Vec<f64> =
                ["l", "m", "r"].iter().map(|n| signal(&motion.contact_force, n)[k]).collect();
            assert!(forces.iter().all(|f| *f >= 0.0), "{forces:?}");
            if motion.time[k] < 1.25 {
                close(forces.iter().sum(), 10.0, 1e-8);
            }
        }
        // About the foot: 2 a″ = ±8t ∓ 10, from rest at 1.25: a = ±(t³·8/12 − …) ; y = |a|.
        let t = 2.0 - 1.25f64;
        let a = 8.0 * t * t * t / 12.0;
        close(signal(&motion.position, "a").last().unwrap().abs(), a, 1e-14);
        close(*signal(&motion.position, "y").last().unwrap(), a, 1e-14);
    }
}

#[test]
fn gliding_without_weight_in_crooked_coordinates_goes_on() {
    // A straight floor in polar coordinates: the contact force is zero up to rounding.
    let motion = run(
        "coordinates = [\"r\", \"f\"]\n[define]\nx = \"r*cos(f) + 0.3*f\"\ny = \"r*sin(f) + 0.1*r^2\"\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"0\"\n[wall.floor]\ngap = \"0.8*y - 0.6*x + 0.5\"\n[start]\nposition = { r = 1.5, f = 0.2 }\nvelocity = { r = 0.3, f = -0.4 }\n[run]\nuntil = 3.0\n",
    );
    assert_eq!(motion.stop.reason, StopReason::Reached, "{:?}", motion.stop);
    // Start on the floor, moving along it.
    let text = |f: f64, df: f64| {
        format!(
            "coordinates = [\"r\", \"f\"]\n[define]\nx = \"r*cos(f)\"\ny = \"r*sin(f)\"\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"0\"\n[wall.floor]\ngap = \"y - sin(0.3)\"\nrestitution = 0\n[start]\nposition = {{ r = 1.0, f = {f:?} }}\nvelocity = {{ r = {:?}, f = {df:?} }}\n[run]\nuntil = 3.0\n",
            0.3f64.cos() - 0.1
        )
    };
    let motion = run(&text(0.3, -0.3f64.sin() - 0.2));
    assert_eq!(motion.stop.reason, StopReason::Reached, "{:?}", motion.stop);
    assert!(motion.audit.steps < 1000 && motion.audit.deepest_penetration < 1e-13, "{:?}", motion.audit);
}

#[test]
fn the_same_input_gives_the_same_bits_from_any_thread() {
    let text = plane(
        "9.81*y",
        "[wall.floor]\ngap = \"y - 0.2*sin(3*x)\"\nrestitution = 0.8\n[start]\nposition = { y = 1 }\nvelocity = { x = 0.7 }\n[run]\nuntil = 6.0\n",
    );
    let (program, options) = program(&text);
    let first = simulate(&program, &options).unwrap();
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..4).map(|_| scope.spawn(|| simulate(&program, &options).unwrap())).collect();
        for handle in all {
            let other = handle.join().unwrap();
            assert_eq!(other.impacts, first.impacts);
            assert_eq!(other.position, first.position);
            assert_eq!(other.contacts, first.contacts);
        }
    });
}
