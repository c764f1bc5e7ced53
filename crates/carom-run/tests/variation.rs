//! The first variation: closed forms, and differences in many digits.

mod common;
#[path = "../../../tests/gallery.rs"]
mod gallery;

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
    // A touch is located to the root of rounding.
    close(lost.time, std::f64::consts::TAU, 1e-7);
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
        // ΦᵀJΦ = J and det Φ = det W(0)/det W(T), both measured by what relative errors of the entries do to them.
        assert!(v.checks.symplectic.unwrap() < 1e-12, "{:?}", v.checks);
        assert!(v.checks.determinant.unwrap() < 1e-12, "{:?}", v.checks);
    }
}

/// At rest on top of a hill the motion is a single step however long it lasts, and moving slowly along it steps are long: deviations
/// have their own pace, cosh(kt).
#[test]
fn deviations_are_followed_where_they_are_faster_than_the_motion() {
    for (start, force) in [("0", ""), ("-1/(k^2+1)", "[force.drive]\ngeneralized = { x = \"cos(t)\" }\n")] {
        let text = format!(
            "coordinates = [\"x\"]\n[parameters]\nk = 4\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"-k^2*x^2/2\"\n{force}[start]\nposition = {{ x = \"{start}\" }}\n"
        );
        let (program, options) = program(&text);
        for until in [0.5, 2.0, 5.0] {
            let mut options = options.clone();
            options.until = until;
            options.directions = vec![Direction::Coordinate(0), Direction::Velocity(0)];
            options.sampling = carom_run::Sampling::At(vec![0.3 * until, 0.8 * until, until]);
            options.variation_samples = true;
            let variation = simulate(&program, &options).unwrap().variation.unwrap();
            for (phi, t) in variation.samples.iter().zip([0.3, 0.8, 1.0]) {
                let (c, s) = ((4.0 * t * until).cosh(), (4.0 * t * until).sinh());
                for ((i, j), expected) in [((0, 0), c), ((0, 1), s / 4.0), ((1, 0), 4.0 * s), ((1, 1), c)] {
                    // Every step of the variation leaves at most 64 · 10⁻¹⁵, and there are about 4 t of them.
                    let off = (phi[(i, j)] / expected - 1.0).abs();
                    assert!(off < 1e-12, "{force} until {until}, at {t}: {i} {j} off by {off:.1e}");
                }
            }
        }
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

// ---- closed forms ------------------------------------------------------------------------------------------------------

#[test]
fn the_end_of_infinitely_many_impacts_moves_as_its_closed_form() {
    // t_Z = √(2h/g) (1 + e)/(1 − e)
    let text = BALL.replace("y = 2.0", "y = \"h\"").replace("until = 1.5", "until = 4.0");
    let directions = [Direction::Parameter(0), Direction::Parameter(1), Direction::Parameter(2)];
    let (_, _, motion) = varied(&text, &directions);
    let v = motion.variation.unwrap();
    assert!(v.not_differentiable.is_none(), "{:?}", v.not_differentiable);
    assert!(motion.contacts[0].zeno);
    let (g, e, h) = (9.81_f64, 0.5, 2.0);
    let tau = (2.0 * h / g).sqrt();
    let end = tau * (1.0 + e) / (1.0 - e);
    let expected = [-end / (2.0 * g), 2.0 * tau / (1.0 - e) / (1.0 - e), end / (2.0 * h)];
    // ∂t_Z is a sum over the bounces: just after each of them δφ is as small as its speed, so every term is good to some roundings of itself.
    let known = 8.0 * f64::EPSILON * motion.impacts.len() as f64;
    for (a, b) in v.contacts[0].iter().zip(expected) {
        close(*a, b, known * b.abs());
    }
    assert!(v.end.entries.iter().all(|x| *x == 0.0), "at rest whatever they are: {:?}", v.end.entries);
}

#[test]
fn a_moving_wall_takes_its_parameters_along() {
    // A free particle against a wall at a + c t with restitution e: hit at τ = (x − a)/(c − v), then v⁺ = (1 + e) c − e v.
    let text = "coordinates = [\"x\"]\n[parameters]\na = -1\nc = 0.25\n[energy]\nkinetic = \"x'^2\"\n[wall.piston]\ngap = \"x - a - c*t\"\nrestitution = 0.5\n[start]\nposition = { x = 1 }\nvelocity = { x = -2 }\n[run]\nuntil = 3.0\n";
    let directions = [
        Direction::Coordinate(0),
        Direction::Velocity(0),
        Direction::Parameter(0),
        Direction::Parameter(1),
        Direction::Restitution(0),
    ];
    let (_, _, motion) = varied(text, &directions);
    let v = motion.variation.unwrap();
    let (x, u, a, c, e, t) = (1.0, -2.0, -1.0, 0.25, 0.5, 3.0);
    let (tau, after) = ((x - a) / (c - u), (1.0 + e) * c - e * u);
    let d_tau = [1.0 / (c - u), tau / (c - u), -1.0 / (c - u), -tau / (c - u), 0.0];
    let d_after = [0.0, -e, 0.0, 1.0 + e, c - u];
    // x(t) = x + u τ + v⁺ (t − τ)
    let explicit = [1.0, tau, 0.0, 0.0, 0.0];
    for j in 0..5 {
        close(v.impacts[0].time[j], d_tau[j], 1e-15);
        close(v.end[(1, j)], d_after[j], 1e-14);
        close(v.end[(0, j)], explicit[j] + (u - after) * d_tau[j] + d_after[j] * (t - tau), 1e-14);
    }
    // λ = −2 (1 + e)(u − c) for W = 2; the wall has a say, the start position has none.
    let expected = [0.0, -2.0 * (1.0 + e), 0.0, 2.0 * (1.0 + e), 2.0 * (c - u)];
    for (a, b) in v.impacts[0].impulse[0].iter().zip(expected) {
        close(*a, b, 1e-14);
    }
}

#[test]
fn a_reset_is_differentiated_by_its_formulas() {
    // x = 1 + v t crosses s at τ = (s − 1)/v; then v := k x, so x(t) = s + k s (t − τ).
    let text = "coordinates = [\"x\"]\n[parameters]\ns = 2\nk = 0.7\n[energy]\nkinetic = \"x'^2/2\"\n[event.kick]\nwhen = \"x - s\"\naction = \"set\"\nset = { \"x'\" = \"k*x\" }\n[event.later]\nwhen = \"x - 3\"\n[start]\nposition = { x = 1 }\nvelocity = { x = 0.5 }\n[run]\nuntil = 4.0\n";
    let directions =
        [Direction::Coordinate(0), Direction::Velocity(0), Direction::Parameter(0), Direction::Parameter(1)];
    let (_, _, motion) = varied(text, &directions);
    let v = motion.variation.unwrap();
    let (s, k, u, t, tau) = (2.0, 0.7, 0.5, 4.0, 2.0);
    let d_tau = [-1.0 / u, -tau / u, 1.0 / u, 0.0];
    let d_state = [
        [-k * s * d_tau[0], 0.0],
        [-k * s * d_tau[1], 0.0],
        [1.0 + k * (t - tau) - k * s * d_tau[2], k],
        [s * (t - tau), s],
    ];
    for j in 0..4 {
        close(v.events[0].time[j], d_tau[j], 1e-14);
        close(v.end[(0, j)], d_state[j][0], 1e-13);
        close(v.end[(1, j)], d_state[j][1], 1e-13);
    }
    // Recorded when s + k s (t − τ) = 3.
    let later =
        [d_tau[0], d_tau[1], d_tau[2] - (1.0 + k * (3.0 - s) / (k * s)) / (k * s), -(3.0 - s) / (k * k * s)];
    for (a, b) in v.events[1].time.iter().zip(later) {
        close(*a, b, 1e-13);
    }
}

#[test]
fn contact_begins_and_the_rank_drops_by_two() {
    // A block falls on an incline without restitution and slides: what is left of the fall is its part along the incline.
    let text = "coordinates = [\"x\", \"y\"]\n[parameters]\ng = 9.81\nslope = 0.5\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"g*y\"\n[wall.incline]\ngap = \"y - slope*x\"\nrestitution = 0\n[start]\nposition = { y = 1 }\n[run]\nuntil = 2.0\n";
    let starts = [
        Direction::Coordinate(0),
        Direction::Coordinate(1),
        Direction::Velocity(0),
        Direction::Velocity(1),
        Direction::Parameter(0),
        Direction::Parameter(1),
    ];
    let (_, _, motion) = varied(text, &starts);
    let v = motion.variation.unwrap();
    assert!(v.not_differentiable.is_none());
    for j in 0..4 {
        // n·δq = 0 and n·δv = 0 on the incline.
        close(v.end[(1, j)], 0.5 * v.end[(0, j)], 1e-13);
        close(v.end[(3, j)], 0.5 * v.end[(2, j)], 1e-13);
    }
    // φ_θ δθ + n·δq = 0 for the slope.
    let x = motion.end.position[0];
    close(v.end[(1, 5)] - 0.5 * v.end[(0, 5)], x, 1e-12);
    close(v.contacts[0][1], (1.0_f64 / 9.81 / 2.0).sqrt(), 1e-14);
}

#[test]
fn a_relativistic_particle_bounces_with_its_closed_form() {
    // L = −m c² √(1 − v²/c²) in a box wall at x = 0, free between: |v| is kept at e = 1, x(t) = −x₀ − v₀ t after the impact.
    let text = "coordinates = [\"x\"]\nlagrangian = \"-m*c^2*sqrt(1 - x'^2/c^2)\"\n[parameters]\nm = 1.5\nc = 2\nwall = -1\n[wall.left]\ngap = \"x - wall\"\n[start]\nposition = { x = 1 }\nvelocity = { x = -1.2 }\n[run]\nuntil = 3.0\n";
    let directions = [
        Direction::Coordinate(0),
        Direction::Velocity(0),
        Direction::Parameter(0),
        Direction::Parameter(1),
        Direction::Parameter(2),
    ];
    let (_, _, motion) = varied(text, &directions);
    let v = motion.variation.unwrap();
    assert!(v.not_differentiable.is_none(), "{:?}", v.not_differentiable);
    // x(t) = 2 w − x₀ − v₀ t
    let expected = [[-1.0, 0.0], [-3.0, -1.0], [0.0, 0.0], [0.0, 0.0], [2.0, 0.0]];
    for (j, column) in expected.iter().enumerate() {
        close(v.end[(0, j)], column[0], 1e-13);
        close(v.end[(1, j)], column[1], 1e-13);
    }
    // λ = 2 γ m |v|: ∂λ/∂m = 2 γ |v|, ∂λ/∂v = −2 m γ³.
    let gamma = 1.0 / (1.0 - 1.44_f64 / 4.0).sqrt();
    close(v.impacts[0].impulse[0][2], 2.0 * gamma * 1.2, 1e-12);
    close(v.impacts[0].impulse[0][1], -2.0 * 1.5 * gamma.powi(3), 1e-12);
}

#[test]
fn a_start_on_the_zero_of_a_reset_has_derivatives_on_one_side() {
    // The simplest walker starts at heelstrike: with a larger theta it would strike at once.
    let (program, mut options) = program(&gallery::text("simplest_walker"));
    options.directions = vec![Direction::Coordinate(0), Direction::Velocity(0)];
    let v = simulate(&program, &options).unwrap().variation.unwrap();
    let said: Vec<_> = v.one_sided.iter().map(|n| (n.what, n.event)).collect();
    assert_eq!(said, [(Obstacle::StartAtEvent, Some(0))]);
    // Velocities do not leave the zero, nor does theta0, which moves both angles.
    options.directions = vec![Direction::Velocity(0), Direction::Velocity(1), Direction::Parameter(1)];
    let v = simulate(&program, &options).unwrap().variation.unwrap();
    assert!(v.one_sided.is_empty(), "{:?}", v.one_sided);
}
