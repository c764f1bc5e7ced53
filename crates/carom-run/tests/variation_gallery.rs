//! The first variation of every gallery model, against differences of whole motions.

mod common;
#[path = "../../../tests/gallery.rs"]
mod gallery;

use carom_run::{Direction, Motion, Options, Program, simulate};

/// How many directions of each model are compared at least, or why none: what happens changes within the steps of the differences, a
/// number is zero or computed from others, and the rest is here.
const COMPARED: &[(&str, usize, &str)] = &[
    ("ball_on_incline", 8, ""),
    ("ball_restitution", 5, ""),
    ("bead_in_bowl", 3, ""),
    ("bouncing_mass", 6, ""),
    ("car_axis", 5, ""),
    ("cart_double_pendulum", 12, ""),
    ("chaplygin_sleigh", 6, ""),
    ("charged_particle", 7, ""),
    ("charged_particle_hamiltonian", 7, ""),
    ("circular_billiard", 7, ""),
    ("compass_gait", 10, ""),
    ("double_pendulum", 9, ""),
    ("double_pendulum_wall", 10, ""),
    ("driven_double_pendulum", 7, ""),
    ("driven_double_pendulum_constraint", 6, ""),
    ("elastic_pendulum", 8, ""),
    ("elastic_pendulum_cartesian", 8, ""),
    ("elliptic_billiard", 9, ""),
    ("galperin_blocks", 5, ""),
    ("guiding_centre", 3, ""),
    ("hilly_ground", 7, ""),
    ("impact_oscillator", 7, ""),
    ("jack_in_box", 14, ""),
    ("kepler_wall", 7, ""),
    ("kepler_wall_lagrangian", 7, ""),
    ("knife_edge", 6, ""),
    ("massless_node", 0, "degenerate"),
    ("newtons_cradle", 0, "simultaneous_impacts"),
    ("pendulum_hamiltonian", 5, ""),
    ("pendulum_wall", 5, ""),
    ("phase_space_pendulum", 5, ""),
    ("point_vortices", 9, ""),
    ("quartic", 8, ""),
    ("relativistic_bounce", 5, ""),
    ("relativistic_hamiltonian", 5, ""),
    ("relativistic_moving_wall", 7, ""),
    ("rigid_body_quaternion", 5, ""),
    ("rimless_wheel", 7, ""),
    ("rolling_disk", 8, ""),
    ("rolling_disk_hamiltonian", 8, ""),
    ("simplest_walker", 5, ""),
    ("slider_crank", 6, ""),
    ("spherical_pendulum", 7, ""),
    ("spinning_top", 12, ""),
    ("squeezed_driven_pendulum", 6, ""),
    ("stadium_billiard", 7, ""),
    ("vibrating_table", 7, ""),
    ("vortex_pair", 4, ""),
];

/// The state at the end, as the variation has it.
fn state_at_end(program: &Program, motion: &Motion) -> Vec<f64> {
    let m = program.mechanics();
    let hamiltonian = matches!(m.dynamics, carom_mech::mechanics::Dynamics::Hamiltonian(_));
    let rates = if hamiltonian { &motion.momentum } else { &motion.velocity };
    let last = |list: &[carom_run::Signal], i: usize| *list[i].values.last().unwrap();
    m.free.iter().map(|&i| last(&motion.position, i)).chain(m.free.iter().map(|&i| last(rates, i))).collect()
}

/// How large each state variable becomes on the way.
fn reach(program: &Program, options: &Options) -> Vec<f64> {
    let m = program.mechanics();
    let options = Options { sampling: carom_run::Sampling::Even(101), directions: vec![], ..options.clone() };
    let motion = simulate(program, &options).unwrap();
    let hamiltonian = matches!(m.dynamics, carom_mech::mechanics::Dynamics::Hamiltonian(_));
    let rates = if hamiltonian { &motion.momentum } else { &motion.velocity };
    let most = |s: &carom_run::Signal| s.values.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    m.free.iter().map(|&i| most(&motion.position[i])).chain(m.free.iter().map(|&i| most(&rates[i]))).collect()
}

/// What happened, in order: walls hit, events, walls held.
type Happenings = (Vec<Vec<usize>>, Vec<usize>, Vec<usize>);

fn happenings(motion: &Motion) -> Happenings {
    (
        motion.impacts.iter().map(|i| i.walls.clone()).collect(),
        motion.events.iter().map(|e| e.event).collect(),
        motion.contacts.iter().map(|c| c.wall).collect(),
    )
}

/// The end of the motion with one number changed, and what happened on the way.
fn changed(
    program: &Program,
    draft: &carom_mech::Draft,
    base: &Options,
    direction: Direction,
    by: f64,
) -> Option<(Vec<f64>, Happenings)> {
    let mut options = base.clone();
    let add = |list: &mut Vec<Option<f64>>, i: usize| *list[i].get_or_insert(0.0) += by;
    let hamiltonian = matches!(program.mechanics().dynamics, carom_mech::mechanics::Dynamics::Hamiltonian(_));
    match direction {
        Direction::Coordinate(i) => add(&mut options.start.position, i),
        Direction::Velocity(i) if hamiltonian => add(&mut options.start.momentum, i),
        Direction::Velocity(i) => add(&mut options.start.velocity, i),
        Direction::Parameter(i) => {
            // Through the model file, so that formulas follow.
            let p = &program.mechanics().model.parameters[i];
            let mut draft = draft.clone();
            assert!(draft.set_parameter(&format!("{}={:?}", p.name, p.value + by)).is_empty());
            let other = Options::of(&draft.check().ok()?.0);
            (options.parameters, options.start) = (other.parameters, other.start);
        }
        Direction::Restitution(_) => unreachable!("restitutions are varied through parameters here"),
    }
    let motion = simulate(program, &options).ok()?;
    if motion.stop.reason != carom_run::StopReason::Reached {
        return None;
    }
    Some((state_at_end(program, &motion), happenings(&motion)))
}

#[test]
fn every_gallery_model_agrees_with_differences_of_motions() {
    let (mut failures, mut seen): (Vec<String>, Vec<(String, usize, &str)>) = (Vec::new(), Vec::new());
    let (mut unsettled, mut nearest) = (Vec::new(), 0.0_f64);
    for name in gallery::names() {
        let mut compared = 0;
        let (draft, _) = carom_mech::Draft::read(gallery::path(&name)).unwrap();
        let mechanics = carom_mech::derive_equations(draft.clone().check().unwrap().0).unwrap();
        let program = Program::compile(&mechanics).unwrap();
        let mut options = Options::of(&mechanics.model);
        // Short enough that chaos leaves digits to differences, and the same impacts: the jack rattles.
        let part = if name == "jack_in_box" { 0.02 } else { 0.3 };
        options.until = options.start.time + part * (options.until - options.start.time);
        options.sampling = carom_run::Sampling::At(vec![options.until]);
        options.directions = Direction::starts(&mechanics);
        options.directions.truncate(8);
        options.directions.extend((0..mechanics.model.parameters.len().min(6)).map(Direction::Parameter));
        let motion = simulate(&program, &options).unwrap();
        let v = motion.variation.as_ref().unwrap();
        let base = happenings(&motion);
        let reason = match &v.not_differentiable {
            Some(lost) => Some(lost.what.name()),
            None if motion.stop.reason != carom_run::StopReason::Reached => Some(motion.stop.reason.name()),
            None => None,
        };
        if let Some(reason) = reason {
            seen.push((name, 0, reason));
            continue;
        }
        let plain = Options { directions: vec![], ..options.clone() };
        let end = state_at_end(&program, &motion);
        // Every step rounds each variable by a unit of its last place or two, impacts and projections by some more; on the way to
        // the end that grows as neighbours come apart. Extrapolation multiplies the error of one motion by 64/45 · 4 + … < 7, over h.
        let size = reach(&program, &options);
        let steps = motion.audit.steps as f64 + 10.0 * motion.impacts.len() as f64;
        let starts = Direction::starts(&mechanics);
        let growth = simulate(&program, &Options { directions: starts, ..options.clone() })
            .unwrap()
            .variation
            .unwrap()
            .end;
        let rounding: Vec<f64> = (0..end.len())
            .map(|i| {
                let grown = (0..end.len()).map(|k| growth[(i, k)].abs() * size[k]).sum::<f64>();
                4.0 * f64::EPSILON * steps.sqrt() * (size[i] + grown)
            })
            .collect();
        for (j, &direction) in v.directions.iter().enumerate() {
            let value = match direction {
                Direction::Parameter(i) => mechanics.model.parameters[i].value,
                _ => 1.0,
            };
            // A dependent start value that was not given is computed: there is nothing to take differences around.
            let constrained = !mechanics.rows.is_empty()
                || matches!(mechanics.dynamics, carom_mech::mechanics::Dynamics::Degenerate(_));
            let given = match direction {
                Direction::Coordinate(i) => options.start.position[i].is_some(),
                Direction::Velocity(i) => options.start.velocity[i].or(options.start.momentum[i]).is_some(),
                _ => true,
            };
            if value == 0.0 || (constrained && !given) {
                continue;
            }
            // Central differences with steps h, h/2, h/4, extrapolated twice; what the last extrapolation changed is their error.
            let h = 2e-4 * value.abs();
            let largest = size.iter().fold(0.0_f64, |m, x| m.max(*x));
            let magnitude = if matches!(direction, Direction::Parameter(_)) { value.abs() } else { largest };
            let slope = |h: f64| -> Option<Vec<f64>> {
                let (a, one) = changed(&program, &draft, &plain, direction, -h)?;
                let (b, two) = changed(&program, &draft, &plain, direction, h)?;
                (one == base && two == base)
                    .then(|| a.iter().zip(&b).map(|(a, b)| (b - a) / (2.0 * h)).collect())
            };
            let (Some(d1), Some(d2), Some(d4)) = (slope(h), slope(h / 2.0), slope(h / 4.0)) else { continue };
            let column: Vec<f64> = (0..end.len()).map(|i| v.end[(i, j)]).collect();
            let scale = column.iter().chain(&d4).fold(0.0_f64, |m, x| m.max(x.abs()));
            let found: Vec<(f64, f64)> = (0..end.len())
                .map(|i| {
                    let (r1, r2) = ((4.0 * d2[i] - d1[i]) / 3.0, (4.0 * d4[i] - d2[i]) / 3.0);
                    let best = (16.0 * r2 - r1) / 15.0;
                    // The steps themselves are rounded, too: p ± h/4 by a unit of p.
                    let rounded = 3.2 * f64::EPSILON * magnitude / h * best.abs();
                    (best, 4.0 * (best - r2).abs() + 7.0 * rounding[i] / h + rounded)
                })
                .collect();
            // What a change of the number by itself would do, if it did anything.
            let natural = largest / value.abs();
            if found.iter().any(|(_, allowed)| *allowed > 1e-2 * scale.max(natural)) {
                // These differences do not converge: chaos, or a start on the zero of a reset, which is said.
                unsettled.push(format!("{name} {direction:?}"));
                continue;
            }
            compared += 1;
            for (i, &(best, allowed)) in found.iter().enumerate() {
                let error = (column[i] - best).abs();
                nearest = nearest.max(error / allowed);
                if error.is_nan() || error > allowed {
                    failures.push(format!(
                        "{name} {direction:?} row {i}: {} by differences {best} ± {allowed:e}",
                        column[i]
                    ));
                }
            }
        }
        seen.push((name, compared, ""));
    }
    println!("the largest error is {nearest} of what is allowed");
    // The walker starts where its reset's function is zero: of one-sided derivatives there are no central differences.
    let walker = ["simplest_walker Coordinate(0)", "simplest_walker Coordinate(1)"];
    assert_eq!(unsettled, walker, "differences do not converge");
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
    // Nothing is passed over in silence: every model has at least as many directions compared as it had, or the same reason.
    for (name, compared, reason) in &seen {
        println!("    (\"{name}\", {compared}, \"{reason}\"),");
    }
    for (name, compared, reason) in &seen {
        let known = COMPARED.iter().find(|known| known.0 == name);
        let (_, least, why) = known.unwrap_or_else(|| panic!("{name} is missing in the table"));
        assert!(
            compared >= least && reason == why,
            "{name}: {compared} of {least} directions, {reason:?} {why:?}"
        );
    }
    assert_eq!(seen.len(), COMPARED.len(), "models that are gone");
}
