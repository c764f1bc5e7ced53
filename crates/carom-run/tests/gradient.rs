//! Gradients backward through a motion: against the same derivatives forward, and against closed forms.

mod common;
#[path = "../../../tests/gallery.rs"]
mod gallery;

use carom_run::{
    Direction, Gradient, Motion, Objective, ObjectiveTerm, Observable, Obstacle, Options, Program, Sampling,
    Variation, simulate,
};
use common::{close, program};

fn gradient(
    program: &Program,
    options: &Options,
    terms: Vec<ObjectiveTerm>,
    directions: &[Direction],
) -> Gradient {
    let objective = Objective { name: "J".into(), terms, directions: directions.to_vec() };
    let options = Options { objective: Some(objective), directions: vec![], ..options.clone() };
    simulate(program, &options).unwrap().gradient.unwrap()
}

/// All free start values, parameters and restitutions.
fn everything(program: &Program) -> Vec<Direction> {
    Direction::all(program.mechanics())
}

/// The state as signals, in the order of the rows of a variation.
fn state_signals(program: &Program) -> Vec<Observable> {
    let m = program.mechanics();
    let hamiltonian = matches!(m.dynamics, carom_mech::mechanics::Dynamics::Hamiltonian(_));
    let rate = |i| if hamiltonian { Observable::Momentum(i) } else { Observable::Velocity(i) };
    let positions = m.free.iter().map(|&i| Observable::Position(i));
    positions.chain(m.free.iter().map(|&i| rate(i))).collect()
}

/// Largest difference of two lists, relative to the largest entry.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    let scale = a.iter().chain(b).filter(|x| x.is_finite()).fold(0.0_f64, |m, x| m.max(x.abs()));
    let worst = a.iter().zip(b).fold(0.0_f64, |m, (x, y)| match (x.is_nan(), y.is_nan()) {
        (true, true) => m,
        (false, false) => m.max((x - y).abs()),
        _ => f64::INFINITY,
    });
    if worst == 0.0 { 0.0 } else { worst / scale }
}

fn forward(program: &Program, options: &Options, directions: &[Direction]) -> (Motion, Variation) {
    let options = Options { directions: directions.to_vec(), variation_samples: true, ..options.clone() };
    let mut motion = simulate(program, &options).unwrap();
    let variation = motion.variation.take().unwrap();
    (motion, variation)
}

/// The worst disagreement of both modes: state at the end, a weighted sum over samples, all impact times, impulses and event
/// times, each signal by itself.
fn compared(program: &Program, options: &Options) -> f64 {
    let directions = everything(program);
    let (motion, v) = forward(program, options, &directions);
    assert!(v.not_differentiable.is_none(), "{:?}", v.not_differentiable);
    let signals = state_signals(program);
    let mut worst = 0.0_f64;
    let mut see = |what: String, terms: Vec<ObjectiveTerm>, expected: Vec<f64>| {
        let found = gradient(program, options, terms, &directions);
        assert!(found.not_differentiable.is_none(), "{what}: {:?}", found.not_differentiable);
        assert!(
            found.duality.is_none_or(|d| d < 1e-10),
            "{what}: transposed laws disagree by {:?}",
            found.duality
        );
        let d = difference(&found.gradient, &expected);
        assert!(d < 1e-6, "{what}: {d:e}\nbackward {:?}\nforward  {expected:?}", found.gradient);
        worst = worst.max(d);
    };
    let row = |m: &carom_jet::dense::Matrix, i: usize| (0..m.columns).map(|j| m[(i, j)]).collect::<Vec<_>>();
    for (i, &signal) in signals.iter().enumerate() {
        see(format!("{signal:?} at the end"), vec![ObjectiveTerm::End(signal, 1.0)], row(&v.end, i));
    }
    let weights: Vec<f64> = (0..motion.time.len()).map(|k| ((k + 1) as f64).sin()).collect();
    let terms = signals.iter().map(|&s| ObjectiveTerm::Samples(s, weights.clone())).collect();
    let mut sum = vec![0.0; directions.len()];
    for (sample, weight) in v.samples.iter().zip(&weights) {
        for i in 0..signals.len() {
            sum.iter_mut().zip(row(sample, i)).for_each(|(s, x)| *s += weight * x);
        }
    }
    see("samples".into(), terms, sum);
    let mut met = vec![0; program.mechanics().walls.len()];
    for (impact, derivative) in motion.impacts.iter().zip(&v.impacts).take(6) {
        let ([wall], [d_impulse]) = (&impact.walls[..], &derivative.impulse[..]) else { continue };
        let (wall, number) = (*wall, met[*wall]);
        met[wall] += 1;
        let time = vec![ObjectiveTerm::ImpactTime { wall, number, weight: 2.0 }];
        see(format!("time {number} of {wall}"), time, derivative.time.iter().map(|x| 2.0 * x).collect());
        if d_impulse.iter().all(|x| x.is_finite()) {
            let impulse = vec![ObjectiveTerm::Impulse { wall, number, weight: 1.0 }];
            see(format!("impulse {number} of {wall}"), impulse, d_impulse.clone());
        }
    }
    let mut met = vec![0; program.mechanics().events.len()];
    for (record, derivative) in motion.events.iter().zip(&v.events).take(6) {
        let (event, number) = (record.event, met[record.event]);
        met[event] += 1;
        let term = vec![ObjectiveTerm::EventTime { event, number, weight: 1.0 }];
        see(format!("event {number} of {event}"), term, derivative.time.clone());
    }
    worst
}

fn agree(text: &str, tolerance: f64) {
    let (program, mut options) = program(text);
    options.sampling = Sampling::Even(7);
    let worst = compared(&program, &options);
    println!("{worst:e}");
    assert!(worst < tolerance, "{worst:e}");
}

fn double_pendulum() -> (Program, Options) {
    program(&gallery::text("double_pendulum_wall").replace("x_wall = \"-l1/2\"", "x_wall = -0.5"))
}

#[test]
fn the_double_pendulum_against_its_wall_has_the_same_derivatives_backward() {
    let (program, mut options) = double_pendulum();
    options.sampling = Sampling::Even(11);
    options.until = 5.0;
    let worst = compared(&program, &options);
    println!("{worst:e}");
    assert!(worst < 1e-10, "{worst:e}");
}

// ---- against the same derivatives forward ------------------------------------------------------------------------------

#[test]
fn a_moving_wall_with_restitution_agrees() {
    agree(
        "coordinates = [\"x\", \"y\"]\n[parameters]\na = -1\nc = 0.25\nw = 3.1\ng = 1.3\ne_n = 0.6\nm = 1.7\n[energy]\nkinetic = \"m*(x'^2 + (1 + x^2)*y'^2)/2\"\npotential = \"m*g*x + m*y^2\"\n[wall.piston]\ngap = \"x - a - c*sin(w*t) + y^2/5\"\nrestitution = \"e_n\"\n[wall.side]\ngap = \"1.5 - y\"\nrestitution = 0.9\n[start]\nposition = { x = 1, y = 0.2 }\nvelocity = { x = -0.3, y = 2.1 }\n[run]\nuntil = 4.0\n",
        1e-10,
    );
}

#[test]
fn rows_agree() {
    // Two masses on a rod, one sliding on a parabola, against a floor.
    agree(
        "coordinates = [\"x1\", \"y1\", \"x2\", \"y2\"]\n[parameters]\nm1 = 1.2\nm2 = 0.8\ng = 9.81\nl = 1.0\nk = 0.4\nfloor = -0.7\n[energy]\nkinetic = \"m1/2*(x1'^2 + y1'^2) + m2/2*(x2'^2 + y2'^2)\"\npotential = \"m1*g*y1 + m2*g*y2\"\n[holonomic]\nrod = \"(x2 - x1)^2 + (y2 - y1)^2 - l^2\"\nrail = \"y1 - k*x1^2\"\n[wall.floor]\ngap = \"y2 - floor\"\nrestitution = 0.7\n[start]\nposition = { x1 = 0.3, y1 = \"k*0.09\", x2 = 1.3, y2 = \"k*0.09\" }\nproject = true\n[run]\nuntil = 1.4\n",
        1e-10,
    );
}

#[test]
fn rolling_without_slipping_agrees() {
    agree(
        "coordinates = [\"x\", \"y\", \"theta\"]\n[parameters]\nm = 1.1\nJ = 0.3\nk = 0.9\na = 1.2\n[energy]\nkinetic = \"m/2*(x'^2 + y'^2) + J/2*theta'^2\"\npotential = \"k/2*(x^2 + 2*y^2)\"\n[nonholonomic]\nedge = \"x'*sin(theta) - y'*cos(theta)\"\n[wall.right]\ngap = \"a - x - theta/9\"\nrestitution = 0.8\n[start]\nposition = { x = 0.3, theta = 0.4 }\nvelocity = { x = \"cos(0.4)\", y = \"sin(0.4)\", theta = 0.7 }\n[run]\nuntil = 3.0\n",
        1e-10,
    );
}

#[test]
fn hamiltonians_with_and_without_rows_agree() {
    agree(
        "coordinates = [\"q\"]\nmomenta = [\"p\"]\nhamiltonian = \"p^2/(2*m*l^2) - m*g*l*cos(q)\"\n[parameters]\nm = 1.3\nl = 0.8\ng = 9.81\na = -0.2\n[wall.left]\ngap = \"l*sin(q) - a\"\nrestitution = 0.8\n[start]\nposition = { q = 1.1 }\nmomentum = { p = 0.3 }\n[run]\nuntil = 4.0\n",
        1e-10,
    );
    agree(
        "coordinates = [\"x\", \"y\"]\nmomenta = [\"px\", \"py\"]\nhamiltonian = \"(px^2 + py^2/(1 + x^2/8))/(2*m) + m*g*y\"\n[parameters]\nm = 1.3\nk = 0.5\ng = 9.81\na = -0.6\n[holonomic]\nwire = \"y - k*x^2 - x^3/9\"\n[wall.left]\ngap = \"x - a\"\nrestitution = 0.7\n[start]\nposition = { x = 0.9, y = \"k*0.81 + 0.081\" }\n[run]\nuntil = 3.0\n",
        1e-10,
    );
}

#[test]
fn kinetic_energies_that_are_not_quadratic_agree() {
    for e in ["1", "0.6", "0"] {
        agree(
            &format!(
                "coordinates = [\"x\", \"y\"]\nlagrangian = \"-m*c^2*sqrt(1 - (x'^2 + y'^2)/c^2) - k*(x^2 + y^2)/2 - x*y/5\"\n[parameters]\nm = 1.5\nc = 2\nk = 0.7\na = -0.4\nw = 0.2\n[wall.left]\ngap = \"x - a - y/6 - w*sin(t)\"\nrestitution = {e}\n[start]\nposition = {{ x = 1, y = 0.3 }}\nvelocity = {{ x = -0.8, y = 0.7 }}\n[run]\nuntil = 2.0\n"
            ),
            1e-10,
        );
    }
    // With a row, and as a Hamiltonian.
    agree(
        "coordinates = [\"x\", \"y\"]\nlagrangian = \"-m*c^2*sqrt(1 - (x'^2 + y'^2)/c^2) - k*x^2/2 - m*g*y\"\n[parameters]\nm = 1.5\nc = 2\nk = 0.7\na = -0.4\ng = 1.0\n[holonomic]\nwire = \"y - x^2/3\"\n[wall.left]\ngap = \"x - a\"\nrestitution = 0.8\n[start]\nposition = { x = 0.9, y = 0.27 }\nvelocity = { x = -0.5, y = -0.3 }\n[run]\nuntil = 2.0\n",
        1e-10,
    );
    agree(
        "coordinates = [\"x\"]\nmomenta = [\"p\"]\nhamiltonian = \"c*sqrt(m^2*c^2 + p^2) + k*x^2/2\"\n[parameters]\nm = 1.5\nc = 2\nk = 0.7\na = -0.4\n[wall.left]\ngap = \"x - a + t/20\"\nrestitution = 0.6\n[start]\nposition = { x = 1 }\nmomentum = { p = -0.8 }\n[run]\nuntil = 4.0\n",
        1e-10,
    );
}

#[test]
fn resets_and_recorded_events_agree() {
    agree(
        "coordinates = [\"x\", \"y\"]\n[parameters]\ns = 0.5\nk = 0.7\nw = 1.9\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"w*(x^2 + 2*y^2)/2 + x*y/4\"\n[event.kick]\nwhen = \"x - s\"\ndirection = \"rising\"\naction = \"set\"\nset = { \"x'\" = \"k*x' + y/2\", y = \"y + k*x*t/8\" }\n[event.turn]\nwhen = \"y'\"\n[start]\nposition = { x = -1, y = 0.4 }\nvelocity = { x = 0.5, y = 1.1 }\n[run]\nuntil = 9.0\n",
        1e-10,
    );
}

#[test]
fn contact_that_begins_and_ends_agrees() {
    // On an incline without restitution, lifted off again by a growing force, and down.
    agree(
        "coordinates = [\"x\", \"y\"]\n[parameters]\ng = 9.81\nslope = 0.3\nF = 12\nw = 2.0\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"g*y\"\n[force.lift]\ngeneralized = { y = \"F*sin(w*t)^2\", x = \"-0.2*x'\" }\n[wall.incline]\ngap = \"y - slope*x\"\nrestitution = 0\n[start]\nposition = { y = 0.3 }\n[run]\nuntil = 2.5\n",
        1e-10,
    );
}

#[test]
fn zeno_agrees() {
    agree(
        "coordinates = [\"x\", \"y\"]\n[parameters]\ng = 9.81\nslope = 0.3\ne_n = 0.5\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"g*y + x^2\"\n[wall.incline]\ngap = \"y - slope*x\"\nrestitution = \"e_n\"\n[start]\nposition = { y = 0.3 }\nvelocity = { x = 0.4 }\n[run]\nuntil = 2.5\n",
        1e-10,
    );
}

#[test]
fn switching_surfaces_and_driven_coordinates_agree() {
    agree(
        "coordinates = [\"x\", \"u\"]\n[parameters]\nk = 2.0\nc = 0.3\nw = 1.4\nA = 0.5\na = -0.9\n[energy]\nkinetic = \"(x' + u')^2/2\"\npotential = \"k*abs(x) + max(x, c)^2\"\n[driven]\nu = \"A*sin(w*t)\"\n[wall.left]\ngap = \"x + u - a\"\nrestitution = 0.8\n[start]\nposition = { x = 1.0 }\n[run]\nuntil = 6.0\n",
        1e-10,
    );
}

#[test]
fn formulas_of_parameters_and_a_start_at_a_wall_agree() {
    agree(
        "coordinates = [\"x\"]\n[parameters]\nl = 0.7\nw = \"l/2 + d^2\"\nd = 0.4\nr = \"exp(-w)\"\nv0 = \"-2*d\"\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"w*x^2 + l*x\"\n[wall.left]\ngap = \"x + w - l\"\nrestitution = \"r\"\n[start]\nposition = { x = \"l - w\" }\nvelocity = { x = \"v0\" }\n[run]\nuntil = 2.0\n",
        1e-10,
    );
}

#[test]
fn dissipation_agrees_at_any_tolerance() {
    for (tolerance, method) in [("1e-15", "taylor"), ("1e-6", "taylor")] {
        agree(
            &format!(
                "coordinates = [\"a\", \"b\"]\n[parameters]\nm = 1.1\nl = 0.9\ng = 9.81\nx_wall = \"-l/3\"\n[define]\nx = \"l*sin(a) + sin(b)\"\ny = \"-l*cos(a) - cos(b)\"\n[energy]\nkinetic = \"l^2*a'^2/2 + m*(x'^2 + y'^2)/2\"\npotential = \"-g*l*cos(a) + m*g*y\"\ndissipation = \"(a'^2 + b'^2)/40\"\n[wall.left]\ngap = \"x - x_wall\"\nrestitution = 0.8\n[start]\nposition = {{ a = 1.3, b = 1.9 }}\n[run]\nuntil = 2.5\ntolerance = {tolerance}\nmethod = \"{method}\"\n"
            ),
            if tolerance == "1e-15" { 1e-10 } else { 1e-5 },
        );
    }
}

/// Rows of the gallery: a combination of the state at the end, by everything, in both modes.
#[test]
fn every_gallery_model_has_the_same_derivatives_backward() {
    let (mut failures, mut seen) = (Vec::new(), 0);
    for name in gallery::names() {
        let (draft, _) = carom_mech::Draft::read(gallery::path(&name)).unwrap();
        let mechanics = carom_mech::derive_equations(draft.check().unwrap().0).unwrap();
        let program = Program::compile(&mechanics).unwrap();
        let mut options = Options::of(&mechanics.model);
        options.until = options.start.time + 0.3 * (options.until - options.start.time);
        options.sampling = Sampling::Even(2);
        let directions = everything(&program);
        let (_, v) = forward(&program, &options, &directions);
        let signals = state_signals(&program);
        let weights: Vec<f64> = (0..signals.len()).map(|i| 1.0 + 0.3 * ((3 * i + 1) as f64).sin()).collect();
        let terms = signals.iter().zip(&weights).map(|(&s, &w)| ObjectiveTerm::End(s, w)).collect();
        let found = gradient(&program, &options, terms, &directions);
        assert_eq!(found.not_differentiable, v.not_differentiable, "{name}");
        if v.not_differentiable.is_some() {
            println!("{name}: not differentiable");
            continue;
        }
        seen += 1;
        let (mut expected, mut size) = (vec![0.0; directions.len()], vec![0.0; directions.len()]);
        for (i, w) in weights.iter().enumerate() {
            for j in 0..directions.len() {
                expected[j] += w * v.end[(i, j)];
                size[j] += (w * v.end[(i, j)]).abs();
            }
        }
        let largest = size.iter().filter(|x| x.is_finite()).fold(0.0_f64, |m, x| m.max(*x));
        let mut worst = 0.0_f64;
        for j in 0..directions.len() {
            if found.gradient[j].is_nan() != expected[j].is_nan() {
                failures.push(format!("{name} {:?}: {} {}", directions[j], found.gradient[j], expected[j]));
            } else if !expected[j].is_nan() && largest > 0.0 {
                worst = worst.max((found.gradient[j] - expected[j]).abs() / largest);
            }
        }
        println!("{name}: {worst:.1e}, transposed laws to {:?}", found.duality);
        if worst > 1e-10 || found.duality.is_some_and(|d| d > 1e-10) {
            failures.push(format!("{name}: {worst:e} {:?}", found.duality));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(seen > 35, "{seen}");
}

// ---- against what is known otherwise -----------------------------------------------------------------------------------

/// ∂ signal(end)/∂ directions, forward and backward.
fn both(text: &str, row: usize, directions: &[Direction]) -> [Vec<f64>; 2] {
    let (program, options) = program(text);
    let (_, v) = forward(&program, &options, directions);
    assert!(v.not_differentiable.is_none(), "{:?}", v.not_differentiable);
    let found =
        gradient(&program, &options, vec![ObjectiveTerm::End(state_signals(&program)[row], 1.0)], directions);
    [(0..directions.len()).map(|j| v.end[(row, j)]).collect(), found.gradient]
}

#[test]
fn the_gradient_of_the_double_pendulum_agrees_with_differences_in_78_digits() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/double_pendulum_variation.json");
    let text = std::fs::read_to_string(path).unwrap();
    let (program, mut options) = double_pendulum();
    let mut directions = Direction::starts(program.mechanics());
    directions.extend((0..5).map(Direction::Parameter));
    directions.extend([Direction::Restitution(0), Direction::Parameter(5)]);
    for (until, tolerance) in [(5.0, 1e-9), (10.0, 1e-5)] {
        options.until = until;
        let from = text.find(&format!("\"matrix_at_{until}\": [")).unwrap();
        let numbers: Vec<f64> =
            text[from..].split('"').skip(3).step_by(2).take(44).map(|x| x.parse().unwrap()).collect();
        for (row, &signal) in state_signals(&program).iter().enumerate() {
            let found = gradient(&program, &options, vec![ObjectiveTerm::End(signal, 1.0)], &directions);
            for (a, b) in found.gradient.iter().zip(&numbers[11 * row..]) {
                assert!(((a - b) / b).abs() < tolerance, "{signal:?} at {until}: {a} {b}");
            }
        }
    }
}

#[test]
fn a_switching_surface_has_its_closed_form() {
    // x″ = −k sign(x) from x₀ at rest: through 0 at τ = √(2x₀/k) with v = −√(2kx₀), then x = v(t − τ) + k(t − τ)²/2.
    let text = "coordinates = [\"x\"]\n[parameters]\nk = 2\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"k*abs(x)\"\n[start]\nposition = { x = 1 }\n[run]\nuntil = 1.5\n";
    let (k, x, t) = (2.0_f64, 1.0_f64, 1.5);
    let (tau, v) = ((2.0 * x / k).sqrt(), -(2.0 * k * x).sqrt());
    let s = t - tau;
    let by_x = -k / (2.0 * k * x).sqrt() * s - (v + k * s) * tau / (2.0 * x);
    let by_k = -x / (2.0 * k * x).sqrt() * s + s * s / 2.0 + (v + k * s) * tau / (2.0 * k);
    for found in both(text, 0, &[Direction::Coordinate(0), Direction::Parameter(0)]) {
        close(found[0], by_x, 1e-14);
        close(found[1], by_k, 1e-14);
    }
}

#[test]
fn a_contact_that_ends_has_its_closed_form() {
    // On the floor under gravity, lifted by c t: the force g − c t ends at g/c, then y = c (t − g/c)³/6.
    let text = "coordinates = [\"y\"]\n[parameters]\ng = 3\nc = 2\n[energy]\nkinetic = \"y'^2/2\"\npotential = \"g*y\"\n[force.lift]\ngeneralized = { y = \"c*t\" }\n[wall.floor]\ngap = \"y\"\n[run]\nuntil = 2.5\n";
    let (g, c, t) = (3.0_f64, 2.0_f64, 2.5);
    let s = t - g / c;
    for found in both(text, 0, &[Direction::Parameter(0), Direction::Parameter(1)]) {
        close(found[0], -s * s / 2.0, 1e-14);
        close(found[1], s * s * s / 6.0 + s * s * g / (2.0 * c), 1e-14);
    }
}

#[test]
fn a_pendulum_on_a_rod_and_by_its_angle_have_the_same_derivatives() {
    // The angle needs no row: ∂ x(end)/∂θ = l cos(a) ∂a/∂θ + sin(a) ∂l/∂θ.
    let angle = "coordinates = [\"a\"]\n[parameters]\ng = 9.81\nl = 0.8\na0 = 1.2\nw = -0.3\ne_n = 0.7\n[energy]\nkinetic = \"l^2*a'^2/2\"\npotential = \"-g*l*cos(a)\"\n[wall.left]\ngap = \"l*sin(a) - w\"\nrestitution = \"e_n\"\n[start]\nposition = { a = \"a0\" }\n[run]\nuntil = 1.7\n";
    let rod = "coordinates = [\"x\", \"y\"]\n[parameters]\ng = 9.81\nl = 0.8\na0 = 1.2\nw = -0.3\ne_n = 0.7\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"g*y\"\n[holonomic]\nrod = \"x^2 + y^2 - l^2\"\n[wall.left]\ngap = \"x - w\"\nrestitution = \"e_n\"\n[start]\nposition = { x = \"l*sin(a0)\", y = \"-l*cos(a0)\" }\n[run]\nuntil = 1.7\n";
    let directions: Vec<Direction> =
        (0..5).map(Direction::Parameter).chain([Direction::Restitution(0)]).collect();
    let (compiled, options) = program(angle);
    let (motion, v) = forward(&compiled, &options, &directions);
    assert!(!motion.impacts.is_empty());
    let a = motion.end.position[0];
    for found in both(rod, 0, &directions) {
        for (j, found) in found.iter().enumerate() {
            let explicit = if j == 1 { a.sin() } else { 0.0 };
            close(*found, 0.8 * a.cos() * v.end[(0, j)] + explicit, 1e-12);
        }
    }
    // Impulses: the same wall, the same distance.
    let (compiled, options) = program(rod);
    let (_, on_rod) = forward(&compiled, &options, &directions);
    for j in 0..directions.len() {
        close(on_rod.impacts[0].impulse[0][j], v.impacts[0].impulse[0][j], 1e-12);
        close(on_rod.impacts[0].time[j], v.impacts[0].time[j], 1e-12);
    }
}

#[test]
fn a_driven_coordinate_and_the_row_that_prescribes_it_have_the_same_derivatives() {
    let model = |coordinate: &str, rest: &str| {
        format!(
            "coordinates = [\"a\", \"b\"]\n[parameters]\nw = 1.1\ng = 9.81\nm = 0.6\nr = 0.9\n[define]\nx = \"r*sin(a) + sin(b)\"\ny = \"-r*cos(a) - cos(b)\"\n[energy]\nkinetic = \"r^2*a'^2/2 + m*(x'^2 + y'^2)/2\"\npotential = \"-g*r*cos(a) + m*g*y\"\n{coordinate}\n[wall.left]\ngap = \"x + 1/10\"\nrestitution = 0.8\n[start]\n{rest}\n[run]\nuntil = 2.0\n"
        )
    };
    let driven = model("[driven]\na = \"w*t\"", "position = { b = 0.7 }");
    let row =
        model("[holonomic]\ndrive = \"a - w*t\"", "position = { a = 0, b = 0.7 }\nvelocity = { a = \"w\" }");
    let directions: Vec<Direction> =
        (0..4).map(Direction::Parameter).chain([Direction::Restitution(0)]).collect();
    let [expected, backward] = both(&driven, 0, &directions);
    for found in [backward].into_iter().chain(both(&row, 1, &directions)) {
        for (a, b) in found.iter().zip(&expected) {
            close(*a, *b, 1e-11 * b.abs().max(1.0));
        }
    }
}

#[test]
fn infinitely_many_impacts_have_a_gradient() {
    // At rest on an incline after t_Z the way along it remembers the start only through what is along it: forward and backward
    // agree elsewhere; here the ball on the floor forgets everything.
    let text = "coordinates = [\"y\"]\n[parameters]\ng = 9.81\ne_n = 0.5\nh = 2.0\n[energy]\nkinetic = \"y'^2/2\"\npotential = \"g*y\"\n[wall.floor]\ngap = \"y\"\nrestitution = \"e_n\"\n[start]\nposition = { y = \"h\" }\n[run]\nuntil = 4.0\n";
    let directions: Vec<Direction> = (0..3).map(Direction::Parameter).collect();
    for found in both(text, 0, &directions) {
        assert!(found.iter().all(|x| x.abs() < 1e-7), "{found:?}");
    }
    // The tenth impact: τ₁₀ = √(2h/g) (1 + 2(e + … + e⁹)).
    let (compiled, options) = program(text);
    let found = gradient(
        &compiled,
        &options,
        vec![ObjectiveTerm::ImpactTime { wall: 0, number: 9, weight: 1.0 }],
        &directions,
    );
    let (g, e, h) = (9.81_f64, 0.5_f64, 2.0);
    let tau = (2.0 * h / g).sqrt();
    let sum = 1.0 + 2.0 * (1..10).map(|k| e.powi(k)).sum::<f64>();
    close(found.value, tau * sum, 1e-14);
    let slope = 2.0 * (1..10).map(|k| f64::from(k) * e.powi(k - 1)).sum::<f64>();
    for (a, b) in found.gradient.iter().zip([-tau * sum / (2.0 * g), tau * slope, tau * sum / (2.0 * h)]) {
        close(*a, b, 1e-10);
    }
}

#[test]
fn a_graze_has_no_gradient_and_what_did_not_happen_is_said() {
    let text = "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n[wall.stop]\ngap = \"1 - x\"\n[start]\nposition = { x = 1 }\n[run]\nuntil = 7.0\n";
    let (compiled, options) = program(text);
    let found = gradient(
        &compiled,
        &options,
        vec![ObjectiveTerm::End(Observable::Position(0), 1.0)],
        &[Direction::Coordinate(0)],
    );
    assert_eq!(found.not_differentiable.unwrap().what, Obstacle::Graze);
    assert!(found.gradient[0].is_nan());
    close(found.value, 7.0_f64.cos(), 1e-14);
    let (compiled, options) = program(&text.replace("x = 1 }", "x = 0.5 }"));
    let objective = Objective::named("impact.stop.2", "", compiled.mechanics()).unwrap();
    let motion = simulate(&compiled, &Options { objective: Some(objective), ..options }).unwrap();
    let said = "there is no gradient of `impact.stop.2`: wall `stop` was hit never, not 2 times";
    assert_eq!(motion.warnings, [said]);
    assert!(motion.gradient.unwrap().value.is_nan());
}

#[test]
fn a_workspace_used_again_gives_the_same_bits() {
    let (program, mut options) = double_pendulum();
    options.until = 3.0;
    let plain = simulate(&program, &options).unwrap();
    options.objective = Some(Objective::named("theta1", "", program.mechanics()).unwrap());
    let mut simulator = carom_run::Simulator::new(&program);
    let first = simulator.simulate(&options).unwrap();
    let second = simulator.simulate(&options).unwrap();
    assert_eq!(first.gradient, second.gradient);
    assert_eq!(first.position, plain.position, "the motion does not know of its gradient");
    let again = simulator.simulate(&Options { objective: None, ..options.clone() }).unwrap();
    assert_eq!(again.position, plain.position);
    assert!(again.gradient.is_none());
}
