//! The first variation: closed forms, and differences of whole motions.

mod common;

use carom_run::{Direction, Motion, Obstacle, Options, Program, simulate};
use common::{close, program};

/// A motion with its derivatives in these directions.
fn varied(text: &str, directions: &[Direction]) -> (Program, Options, Motion) {
    let (program, mut options) = program(text);
    options.directions = directions.to_vec();
    let motion = simulate(&program, &options).unwrap();
    (program, options, motion)
}

const BALL: &str = "coordinates = [\"y\"]\n[parameters]\ng = 9.81\ne_n = 0.5\nh = 2.0\n[energy]\nkinetic = \"y'^2/2\"\npotential = \"g*y\"\n[wall.floor]\ngap = \"y\"\nrestitution = \"e_n\"\n[start]\nposition = { y = 2.0 }\n[run]\nuntil = 1.5\n";

#[test]
fn a_bouncing_ball_after_one_impact_has_its_closed_form() {
    let directions = [
        Direction::Coordinate(0),
        Direction::Velocity(0),
        Direction::Parameter(0),
        Direction::Parameter(1),
        Direction::Restitution(0),
    ];
    let (_, _, motion) = varied(BALL, &directions);
    let v = motion.variation.unwrap();
    assert!(v.not_differentiable.is_none());
    assert_eq!(motion.impacts.len(), 2);
    // First impact: τ = √(2h/g), λ = (1 + e) g τ.
    let (g, e, h) = (9.81_f64, 0.5, 2.0);
    let tau = (2.0 * h / g).sqrt();
    let first = &v.impacts[0];
    let expected = [tau / (2.0 * h), 1.0 / g, -tau / (2.0 * g), 0.0, 0.0];
    for (a, b) in first.time.iter().zip(expected) {
        close(*a, b, 1e-14);
    }
    // v⁻ = −√(v₀² + 2 g h): ∂/∂h = −g/√(2gh), ∂/∂g = −h/√(2gh), ∂/∂v₀ = 0 at v₀ = 0.
    let speed = (2.0 * g * h).sqrt();
    let expected = [(1.0 + e) * g / speed, 0.0, (1.0 + e) * h / speed, speed, speed];
    for (a, b) in first.impulse[0].iter().zip(expected) {
        close(*a, b, 1e-14);
    }
    // After the first: y = e s (t − τ) − g (t − τ)²/2 with s the speed; second impact at τ + 2 e s/g = τ (1 + 2 e).
    let second = &v.impacts[1];
    let expected = [
        tau / (2.0 * h) * (1.0 + 2.0 * e),
        f64::NAN,
        -tau / (2.0 * g) * (1.0 + 2.0 * e),
        2.0 * tau,
        2.0 * tau,
    ];
    for (a, b) in second.time.iter().zip(expected).filter(|(_, b)| !b.is_nan()) {
        close(*a, b, 1e-14);
    }
    // End: y = e² s T − g T²/2, v = e² s − g T with T = t − τ (1 + 2e).
    let rest = 1.5 - tau * (1.0 + 2.0 * e);
    let d_e =
        (2.0 * e * speed * rest + (e * e * speed - g * rest) * (-2.0 * tau), 2.0 * e * speed + g * 2.0 * tau);
    close(v.end[(0, 3)], d_e.0, 1e-13);
    close(v.end[(1, 3)], d_e.1, 1e-13);
    close(v.end[(0, 4)], d_e.0, 1e-13);
}

#[test]
fn the_impact_oscillator_has_the_saltation_matrix_of_the_theory() {
    // x″ + 2ζx′ + x = F cos ωt, gap σ − x: Ξ = [[−e, 0], [(a⁺ + e a⁻)/v⁻, −e]].
    let text = "coordinates = [\"x\"]\n[parameters]\nzeta = 0.1\nF = 0.7\nw = 1.3\nsigma = 0.4\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\ndissipation = \"zeta*x'^2\"\n[force.drive]\ngeneralized = { x = \"F*cos(w*t)\" }\n[wall.stop]\ngap = \"sigma - x\"\nrestitution = 0.8\n[start]\nposition = { x = -0.3 }\nvelocity = { x = 1.1 }\n[run]\nuntil = 2.0\n";
    let starts = [Direction::Coordinate(0), Direction::Velocity(0)];
    let (program, mut options, motion) = varied(text, &starts);
    let hit = &motion.impacts[0];
    let after = &motion.variation.as_ref().unwrap().impacts[0].after;
    // Without the wall, up to the impact.
    options.until = hit.time;
    let free = simulate(&program, &Options { until: hit.time * (1.0 - 1e-15), ..options.clone() }).unwrap();
    let before = free.variation.unwrap().end;
    let (x, v, w, t) = (hit.position[0], hit.velocity_before[0], hit.velocity_after[0], hit.time);
    let a = |v: f64| 0.7 * (1.3 * t).cos() - 2.0 * 0.1 * v - x;
    let xi = [[-0.8, 0.0], [(a(w) + 0.8 * a(v)) / v, -0.8]];
    for i in 0..2 {
        for j in 0..2 {
            let expected = xi[i][0] * before[(0, j)] + xi[i][1] * before[(1, j)];
            close(after[(i, j)], expected, 1e-12);
        }
    }
}

#[test]
fn a_graze_is_said_and_no_number_stands_for_it() {
    let text = "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n[wall.stop]\ngap = \"1 - x\"\n[start]\nposition = { x = 1 }\n[run]\nuntil = 7.0\n";
    let (_, _, motion) = varied(text, &[Direction::Coordinate(0)]);
    let v = motion.variation.unwrap();
    let lost = v.not_differentiable.unwrap();
    assert_eq!((lost.what, &lost.walls[..]), (Obstacle::Graze, &[0][..]));
    assert!(v.end.entries.iter().all(|x| x.is_nan()));
}

/// The numbers of one entry of the reference, which was computed elsewhere in 78 digits.
fn reference(entry: &str) -> Vec<f64> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/double_pendulum_variation.json");
    let text = std::fs::read_to_string(path).unwrap();
    let from = text.find(&format!("\"{entry}\": [")).unwrap() + entry.len() + 5;
    let mut depth = 0;
    let end = text[from..].find(|c| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        depth < 0
    });
    let list = &text[from..from + end.unwrap()];
    list.split('"').skip(1).step_by(2).map(|x| x.parse().unwrap()).collect()
}

fn pendulum_against_its_wall() -> (Program, Options) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/double_pendulum_wall.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let (program, mut options) = program(&text.replace("x_wall = \"-l1/2\"", "x_wall = -0.5"));
    let starts =
        [Direction::Coordinate(0), Direction::Coordinate(1), Direction::Velocity(0), Direction::Velocity(1)];
    options.directions = starts.to_vec();
    options.directions.extend((0..5).map(Direction::Parameter));
    options.directions.extend([Direction::Restitution(0), Direction::Parameter(5)]);
    (program, options)
}

#[test]
fn the_double_pendulum_against_its_wall_agrees_with_differences_in_78_digits() {
    let (program, mut options) = pendulum_against_its_wall();
    for (until, tolerance) in [(5.0, 1e-9), (10.0, 1e-5)] {
        options.until = until;
        let motion = simulate(&program, &options).unwrap();
        let v = motion.variation.unwrap();
        let expected = reference(&format!("matrix_at_{until}"));
        assert_eq!(expected.len(), 44);
        let mut worst = 0.0_f64;
        for (a, b) in v.end.entries.iter().zip(&expected) {
            worst = worst.max(((a - b) / b).abs());
        }
        println!("t = {until}: largest relative error {worst:e}");
        assert!(worst < tolerance, "{worst:e} at {until}\n{:?}\n{expected:?}", v.end.entries);
        let times = reference("impact_times");
        for (i, impact) in v.impacts.iter().enumerate() {
            for (j, a) in impact.time.iter().enumerate() {
                let b = times[11 * i + j];
                assert!((a - b).abs() <= tolerance * b.abs().max(1e-3), "impact {i}, {j}: {a} {b}");
            }
        }
        // ΦᵀJΦ = J and det Φ = det W(0)/det W(T); the determinant loses as many digits as Φ has condition, 1e14 at t = 10.
        assert!(v.checks.symplectic.unwrap() < 1e-12, "{:?}", v.checks);
        assert!(until > 5.0 || v.checks.determinant.unwrap() < 1e-8, "{:?}", v.checks);
    }
}

#[test]
fn the_motion_keeps_its_bits() {
    let (program, options) = pendulum_against_its_wall();
    let varied = simulate(&program, &options).unwrap();
    let plain = simulate(&program, &Options { directions: vec![], ..options }).unwrap();
    assert_eq!(varied.position, plain.position);
    assert_eq!(varied.velocity, plain.velocity);
    assert_eq!(varied.impacts, plain.impacts);
    assert_eq!(varied.audit.steps, plain.audit.steps);
}
