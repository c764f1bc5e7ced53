//! Lyapunov exponents against multipliers, integrable and chaotic billiards.

mod common;

use carom_expr::Random;
use carom_insight::eigen::modulus;
use carom_insight::{FEW_INTERVALS, Growth, Subject, ZeroCount, exponents, growth, lyapunov};
use common::{ask, forced_orbit, gallery};
use std::f64::consts::PI;

#[test]
fn on_a_stable_cycle_the_exponents_are_those_of_the_multipliers() {
    let text = gallery("impact_oscillator");
    let orbit = forced_orbit(&text, &[], "", "2*pi/omega", false).unwrap();
    let found =
        ask(&text, &[], &format!("x={},x'={}", orbit.state[0].1, orbit.state[1].1), |s| lyapunov(s, 4000.0))
            .unwrap();
    for (exponent, z) in found.exponents.iter().zip(&orbit.multipliers) {
        let expected = modulus(*z).ln() / orbit.period;
        assert!((exponent - expected).abs() < 1e-6, "{exponent} {expected}");
    }
    // W and the damping are constant: the law holds to rounding, not in the limit only.
    let check = &found.sum_check;
    assert!((check.sum - check.expected.unwrap()).abs() < 1e-10, "{check:?}");
    assert_eq!(check.zeros, Some(ZeroCount { expected: 0, found: 0 }));
}

#[test]
fn the_sum_of_exponents_is_the_mean_divergence_whatever_the_damping_and_the_inertia() {
    // Damping x²x', an inertia that depends on x, and impacts within the intervals, at which the rate jumps.
    let lagrangian = "coordinates = [\"x\"]\n[parameters]\nc = 0.3\ne_n = 0.7\n[energy]\nkinetic = \"(1 + x^2/2)*x'^2/2\"\npotential = \"x^2/2\"\n\
        [force.drag]\ngeneralized = { x = \"-c*x^2*x' + 0.8*cos(1.3*t)\" }\n[wall.stop]\ngap = \"0.7 - x\"\nrestitution = \"e_n\"\n\
        [start]\nposition = { x = -1.0 }\n";
    let hamiltonian = "coordinates = [\"x\"]\nhamiltonian = \"p_x^2/(2 + x^2) + x^2/2\"\n[parameters]\nc = 0.3\ne_n = 0.7\n\
        [force.drag]\ngeneralized = { x = \"-c*x^2*p_x + 0.8*cos(1.3*t)\" }\n[wall.stop]\ngap = \"0.7 - x\"\nrestitution = \"e_n\"\n\
        [start]\nposition = { x = -1.0 }\n";
    for text in [lagrangian, hamiltonian] {
        for set in [&[][..], &["c=0"], &["e_n=1"]] {
            let found = ask(text, set, "", |s| growth(s, 60.0, 40)).unwrap();
            let found = exponents(&[found]).sum_check;
            assert!(found.impact_rate > 0.05, "{found:?}");
            assert!((found.sum - found.expected.unwrap()).abs() < 1e-10, "{set:?} {found:?}");
            assert!(found.expected.unwrap().abs() > 1e-3);
        }
        let found = ask(text, &["c=0", "e_n=1"], "", |s| growth(s, 60.0, 40)).unwrap();
        assert!(exponents(&[found]).sum_check.pairing.is_some());
    }
}

#[test]
fn elastic_walls_that_move_pair_the_exponents_and_friction_does_not() {
    let found = ask(&gallery("vibrating_table"), &["e_n=1"], "", |s| lyapunov(s, 100.0)).unwrap().sum_check;
    assert!(
        found.pairing.unwrap() < 1e-10 && found.sum.abs() < 1e-10 && found.expected == Some(0.0),
        "{found:?}"
    );
    let found = ask(&gallery("vibrating_table"), &[], "", |s| lyapunov(s, 100.0)).unwrap().sum_check;
    assert_eq!(found.pairing, None);
    // Two walls, one of them elastic: what counts is which are hit.
    let text = "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\n[wall.left]\ngap = \"x + 1\"\n[wall.right]\ngap = \"1 - x\"\nrestitution = 0.9\n\
        [start]\nvelocity = { x = -1.0 }\n";
    let pairing = |until: f64| ask(text, &[], "", |s| lyapunov(s, until)).unwrap().sum_check.pairing;
    assert!(pairing(2.5).is_some() && pairing(6.0).is_none());
    // sign(x') has no slope, and takes energy all the same.
    let dry = "coordinates = [\"x\"]\n[parameters]\nmu = 0.05\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n\
        [force.drive]\ngeneralized = { x = \"cos(1.7*t) - mu*sign(x')\" }\n[start]\nposition = { x = -0.5 }\n";
    let pairing = |set: &[&str]| ask(dry, set, "", |s| lyapunov(s, 50.0)).unwrap().sum_check.pairing;
    assert!(pairing(&[]).is_none() && pairing(&["mu=0"]).unwrap() < 1e-6);
}

#[test]
fn as_many_exponents_are_zero_as_flow_and_invariants_ask_for() {
    let central = "coordinates = [\"x\", \"y\", \"z\"]\n[energy]\nkinetic = \"(x'^2 + y'^2 + z'^2)/2\"\npotential = \"(x^2 + y^2 + z^2)/2 + (x^2 + y^2 + z^2)^2/8\"\n\
        [start]\nposition = { x = 1.0, y = 0.2 }\nvelocity = { y = 0.7, z = 0.5 }\n";
    let oscillator = "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\ndissipation = \"0.3*x'^2\"\n[start]\nposition = { x = 1.0 }\n";
    let van_der_pol = "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n[force.pump]\ngeneralized = { x = \"(1 - x^2)*x'\" }\n[start]\nposition = { x = 1.0 }\n";
    for (text, until, expected) in [
        // Energy and the flow; chaos in the other pair.
        (gallery("stadium_billiard"), 2000.0, 2),
        (gallery("double_pendulum_wall"), 400.0, 2),
        // Energy and p_phi commute.
        (gallery("spherical_pendulum"), 2000.0, 4),
        // Energy and three angular momenta, of which one and the square commute: 2·4 − 2.
        (central.to_owned(), 2000.0, 6),
        // A limit cycle has the flow's alone.
        (van_der_pol.to_owned(), 400.0, 1),
        (gallery("rimless_wheel"), 60.0, 1),
    ] {
        let found = ask(&text, &[], "", |s| lyapunov(s, until)).unwrap_or_else(|r| panic!("{r}"));
        assert_eq!(found.sum_check.zeros, Some(ZeroCount { expected, found: expected }), "{found:?}");
    }
    // At rest the flow has no direction.
    let found = ask(oscillator, &[], "", |s| lyapunov(s, 200.0)).unwrap();
    assert_eq!(found.sum_check.zeros, None);
}

#[test]
fn a_circle_has_no_exponent_within_the_error() {
    let found =
        ask(&gallery("circular_billiard"), &["g=0"], "x=0.3,y=0.2,x'=0.8,y'=0.6", |s| lyapunov(s, 2000.0))
            .unwrap();
    for (exponent, error) in found.exponents.iter().zip(&found.error) {
        assert!(exponent.abs() <= *error && *error < 0.02, "{:?} {:?}", found.exponents, found.error);
    }
    assert!(found.sum_check.pairing.unwrap() < 1e-6 && found.sum_check.expected == Some(0.0));
}

#[test]
fn a_single_motion_in_the_stadium_has_its_exponent_within_the_error() {
    let found = ask(&gallery("stadium_billiard"), &[], "", |s| lyapunov(s, 20000.0)).unwrap();
    // The error is a random number too, large when the ball has bounced between the straight walls for long: twice of it is allowed.
    let distance = (found.exponents[0] - 0.4297).abs();
    assert!(distance < 0.03 && distance < 2.0 * found.error[0], "{found:?}");
    assert!(found.error[0] < 0.06 && found.exponents[1].abs() < found.error[1], "{found:?}");
    // One impact per mean free path π · area/perimeter.
    let free_path = PI * (PI + 4.0) / (2.0 * PI + 4.0);
    assert!((found.sum_check.impact_rate * free_path - 1.0).abs() < 0.03, "{found:?}");
}

#[test]
fn the_mean_of_motions_is_that_of_their_rates_and_its_error_is_their_scatter() {
    let start = |k: usize| format!("x={},y={}", 0.1 * k as f64 - 0.4, 0.07 * k as f64 - 0.3);
    let motions: Vec<Growth> = (0..8)
        .map(|k| {
            ask(&gallery("stadium_billiard"), &[], &start(k), |s| growth(s, 400.0, FEW_INTERVALS)).unwrap()
        })
        .collect();
    let single: Vec<f64> = motions.iter().map(|g| exponents(std::slice::from_ref(g)).exponents[0]).collect();
    let found = exponents(&motions);
    let mean = single.iter().sum::<f64>() / 8.0;
    let scatter = single.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    assert_eq!((found.motions, found.time), (8, 3200.0));
    // Parts of equal length and the whole differ by where intervals are cut; t of seven degrees of freedom is 2.3646.
    assert!((found.exponents[0] - mean).abs() < 0.02 * mean, "{found:?} {single:?}");
    let expected = 2.3646 * (scatter / 56.0).sqrt();
    assert!((found.error[0] / expected - 1.0).abs() < 0.3, "{found:?} {expected}");
    assert!(found.sum_check.pairing.unwrap() < 1e-6);
}

/// What a motion in the stadium has gathered per unit of time: growth, hits on the half circles, all hits.
type Gathered = [f64; 3];

/// Time given to directions to settle, and time averaged over after it.
const SETTLED: f64 = 25.0;
const AVERAGED: f64 = 500.0;

/// A start at which every state is as likely as its volume: anywhere in the stadium, in any direction.
fn liouville(random: &mut Random) -> [f64; 4] {
    loop {
        let (x, y) = (2.0 * random.symmetric(), random.symmetric());
        if (x.abs() - 1.0).max(0.0).powi(2) + y * y < 1.0 {
            let (s, c) = (2.0 * PI * random.unit()).sin_cos();
            return [x, y, c, s];
        }
    }
}

/// Growth of one deviation along a motion of carom, by the exact first variation over intervals of 20.
fn by_variation(subject: &mut Subject<'_>, start: [f64; 4]) -> Gathered {
    let parameters = subject.options.parameters.clone();
    let (mut x, mut u, mut t) = (start.to_vec(), vec![0.6, -0.3, 0.4, 0.5], 0.0);
    let mut found = [0.0; 3];
    while t < SETTLED + AVERAGED {
        let length = if t < SETTLED { SETTLED } else { 20.0 };
        let shot = subject.shoot(&x, t, length, &parameters, None).unwrap();
        assert!(shot.obstacle.is_none());
        u = shot.phi.times(&u);
        let size = u.iter().map(|v| v * v).sum::<f64>().sqrt();
        u.iter_mut().for_each(|v| *v /= size);
        if t >= SETTLED {
            found[0] += size.ln();
            let round = shot.motion.impacts.iter().filter(|i| i.position[0].abs() > 1.0).count();
            found[1] += round as f64;
            found[2] += shot.motion.impacts.len() as f64;
        }
        x = shot.end;
        t += length;
    }
    found.map(|f| f / AVERAGED)
}

/// The same by hand: rays between hits, and the curvature κ of a bundle of them: κ/(1 + τκ) on the way, −2/cos at a half circle.
fn by_hand(start: [f64; 4]) -> Gathered {
    let [mut x, mut y, mut u, mut v] = start;
    let (mut t, mut kappa) = (0.0, 0.3_f64);
    let mut found = [0.0; 3];
    loop {
        let mut hit = (f64::INFINITY, 0.0);
        let across = (v.signum() - y) / v;
        if across > 1e-12 && (x + u * across).abs() <= 1.0 {
            hit.0 = across;
        }
        for c in [-1.0, 1.0] {
            let b = (x - c) * u + y * v;
            let under = b * b - ((x - c).powi(2) + y * y - 1.0);
            let along = -b + under.max(0.0).sqrt();
            if under > 0.0 && along > 1e-10 && (x + u * along) * c >= 1.0 && along < hit.0 {
                hit = (along, c);
            }
        }
        let end = if t < SETTLED { SETTLED } else { SETTLED + AVERAGED };
        let way = hit.0.min(end - t);
        if t >= SETTLED {
            found[0] += (1.0 + way * kappa).abs().ln();
        }
        kappa /= 1.0 + way * kappa;
        (x, y) = (x + u * way, y + v * way);
        if way < hit.0 {
            if t >= SETTLED {
                return found.map(|f| f / AVERAGED);
            }
            t = SETTLED;
            continue;
        }
        t += way;
        let counted = f64::from(u8::from(t >= SETTLED));
        found[2] += counted;
        if hit.1 == 0.0 {
            (y, v) = (y.signum(), -v);
            continue;
        }
        found[1] += counted;
        let size = (x - hit.1).hypot(y);
        let (nx, ny) = ((x - hit.1) / size, y / size);
        (x, y) = (hit.1 + nx, ny);
        let along = u * nx + v * ny;
        (u, v) = (u - 2.0 * along * nx, v - 2.0 * along * ny);
        let speed = u.hypot(v);
        (u, v) = (u / speed, v / speed);
        kappa -= 2.0 / along;
    }
}

/// The mean growth, with what is known exactly about the hits taken into account: each unit of the rim of length P is hit
/// 1/(π A) times per unit of time. Returns the mean and its standard error.
fn regressed(all: &[Gathered]) -> (f64, f64) {
    let n = all.len() as f64;
    let area = PI * (PI + 4.0);
    let known = [2.0 * PI / area, (2.0 * PI + 4.0) / area];
    let mean: Vec<f64> = (0..3).map(|i| all.iter().map(|g| g[i]).sum::<f64>() / n).collect();
    let c =
        |i: usize, j: usize| all.iter().map(|g| (g[i] - mean[i]) * (g[j] - mean[j])).sum::<f64>() / (n - 1.0);
    let det = c(1, 1) * c(2, 2) - c(1, 2) * c(1, 2);
    let b = [(c(0, 1) * c(2, 2) - c(0, 2) * c(1, 2)) / det, (c(0, 2) * c(1, 1) - c(0, 1) * c(1, 2)) / det];
    let value = mean[0] - b[0] * (mean[1] - known[0]) - b[1] * (mean[2] - known[1]);
    let rest = c(0, 0) - b[0] * c(0, 1) - b[1] * c(0, 2);
    (value, (rest / n).sqrt())
}

/// Published: 0.43 for unit speed, R = 1 and straight parts of length 2 (Benettin and Strelcyn 1978; Dellago and Posch 1995). Starts
/// are drawn from the invariant measure, so each motion is an unbiased sample, and the regression on hits whose mean is known takes
/// nineteen parts of twenty of its variance away.
#[test]
#[ignore = "some hundred thousand impacts with derivatives"]
fn the_stadium_has_its_published_exponent() {
    let mut random = Random(1);
    let hand: Vec<Gathered> = (0..40_000).map(|_| by_hand(liouville(&mut random))).collect();
    let (expected, certain) = regressed(&hand);
    let found: Vec<Gathered> = ask(&gallery("stadium_billiard"), &[], "", |subject| {
        (0..MOTIONS).map(|_| by_variation(subject, liouville(&mut random))).collect()
    });
    let (value, standard) = regressed(&found);
    println!(
        "by variation {value:.5} ± {standard:.5}, by hand {expected:.5} ± {certain:.5} (standard errors)"
    );
    assert!((value - expected).abs() < 3.0 * standard.hypot(certain), "{value} {expected}");
    assert!((value - 0.430).abs() < 0.001 && 1.96 * standard < 0.001, "{value} ± {standard}");
    assert!((expected - 0.430).abs() < 0.001);
}

const MOTIONS: usize = 2000;
