//! Sensitivity, the fixed-step method, time reversal, tolerances.

#![allow(clippy::excessive_precision)]

mod common;

use carom_mech::model::Method;
use carom_run::{Options, Program, Sampling, simulate};
use common::{close, impact_times, program, run, run_at, signal};

#[test]
fn the_amplification_of_an_oscillator_is_its_closed_form() {
    // Φ = [cos, sin/ω; −ω sin, cos] with ω = 3; its largest singular value at t = 1.
    let (program, mut options) = program(
        "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"9*x^2/2\"\n[start]\nposition = { x = 1 }\n[run]\nuntil = 1.0\n",
    );
    options.sensitivity = true;
    let motion = simulate(&program, &options).unwrap();
    let (s, c) = 3f64.sin_cos();
    let frobenius = 2.0 * c * c + s * s * (9.0 + 1.0 / 9.0);
    // Singular values a, 1/a (det = 1): a² + 1/a² = frobenius.
    let expected = ((frobenius + (frobenius * frobenius - 4.0).sqrt()) / 2.0).sqrt();
    close(motion.audit.amplification.unwrap(), expected, 1e-8);
}

/// ∂state(end)/∂state(start) by differences of whole runs, spectral norm bounded by Frobenius.
fn by_differences(program: &Program, options: &Options, n: usize) -> f64 {
    let mut sum = 0.0;
    for k in 0..2 * n {
        let mut ends = Vec::new();
        for side in [-1.0, 1.0] {
            let mut o = options.clone();
            o.sensitivity = false;
            o.sampling = Sampling::At(vec![o.until]);
            let list = if k < n { &mut o.start.position } else { &mut o.start.velocity };
            *list[k % n].get_or_insert(0.0) += side * 1e-6;
            let motion = simulate(program, &o).unwrap();
            let end: Vec<f64> = motion.position.iter().chain(&motion.velocity).map(|s| s.values[0]).collect();
            ends.push(end);
        }
        sum += ends[0].iter().zip(&ends[1]).map(|(a, b)| ((b - a) / 2e-6).powi(2)).sum::<f64>();
    }
    sum.sqrt()
}

#[test]
fn the_amplification_crosses_impacts_and_resets() {
    let texts = [
        // Moving wall, restitution.
        "coordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"9.81*y\"\n[wall.floor]\ngap = \"y - 0.2*sin(x) - 0.1*sin(3*t)\"\nrestitution = 0.9\n[start]\nposition = { y = 1 }\nvelocity = { x = 0.4 }\n[run]\nuntil = 3.0\n",
        // A reset that depends on the state.
        "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n[event.kick]\nwhen = \"x - 0.3 - 0.1*t\"\ndirection = \"falling\"\naction = \"set\"\nset = { x = \"x\", \"x'\" = \"-0.5*x' + 0.3*x + 0.1*t\" }\n[start]\nposition = { x = 1 }\n[run]\nuntil = 3.0\n",
        // A switching surface.
        "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"2*abs(x) + x\"\n[start]\nposition = { x = 1 }\n[run]\nuntil = 4.0\n",
    ];
    for text in texts {
        let (program, mut options) = program(text);
        options.sensitivity = true;
        let motion = simulate(&program, &options).unwrap();
        let n = options.start.position.len();
        let norm = motion.audit.amplification.unwrap();
        let frobenius = by_differences(&program, &options, n);
        assert!(
            norm <= frobenius * (1.0 + 1e-5) && norm >= frobenius / (2.0 * n as f64).sqrt(),
            "{norm} {frobenius}"
        );
    }
}

const DOUBLE: &str = "coordinates = [\"a\", \"b\"]\n[define]\nx1 = \"sin(a)\"\ny1 = \"-cos(a)\"\nx2 = \"x1 + sin(b)\"\ny2 = \"y1 - cos(b)\"\n[energy]\nkinetic = \"(x1'^2 + y1'^2 + x2'^2 + y2'^2)/2\"\npotential = \"9.81*(y1 + y2)\"\n[start]\nposition = { a = \"3*pi/7\", b = \"3*pi/4\" }\n[run]\nuntil = 10.0\n";

#[test]
fn a_chaotic_motion_reports_its_amplification_and_warns_when_nothing_is_left() {
    let (program, mut options) = program(DOUBLE);
    options.sensitivity = true;
    let at10 = simulate(&program, &options).unwrap();
    let norm = at10.audit.amplification.unwrap();
    assert!(norm > 1e4 && norm < 1e7, "{norm:e}");
    assert!(at10.warnings.is_empty());
    options.until = 30.0;
    let at30 = simulate(&program, &options).unwrap();
    assert!(at30.audit.amplification.unwrap() > 1e12, "{:?}", at30.audit.amplification);
    assert!(at30.warnings.iter().any(|w| w.contains("amplified")), "{:?}", at30.warnings);
}

#[test]
fn runge_kutta_is_of_fourth_order_and_locates_its_impacts() {
    let text = "coordinates = [\"theta\"]\n[energy]\nkinetic = \"theta'^2/2\"\npotential = \"-9.8*cos(theta)\"\n[wall.middle]\ngap = \"theta\"\n[start]\nposition = { theta = 1.0 }\n[run]\nuntil = 3.0\n";
    let (program, mut options) = program(text);
    let mut errors = Vec::new();
    for step in [0.02, 0.01, 0.005] {
        options.method = Method::Rk4 { step };
        let motion = simulate(&program, &options).unwrap();
        let times = impact_times(&motion);
        assert_eq!(times.len(), 3);
        for (k, &time) in times.iter().enumerate() {
            // Located within the step, not at its end.
            close(time, 0.53505717975452314 + k as f64 * 1.07011435950904628, 100.0 * step.powi(4));
        }
        errors.push((times[2] - 0.53505717975452314 - 2.0 * 1.07011435950904628).abs());
        assert!(motion.audit.deepest_penetration < 1e-12);
    }
    let order = (errors[0] / errors[2]).log2() / 2.0;
    assert!(order > 3.5, "{order} {errors:?}");
}

#[test]
fn an_elastic_motion_reversed_in_time_returns_to_its_start() {
    let text = |x: f64, y: f64, vx: f64, vy: f64| {
        format!(
            "coordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2 + 0.1*x*x'*y'\"\npotential = \"2*y + x^2\"\n[wall.floor]\ngap = \"y - 0.1*x^2\"\n[wall.side]\ngap = \"1 - x + 0.2*y\"\n[start]\nposition = {{ x = {x:e}, y = {y:e} }}\nvelocity = {{ x = {vx:e}, y = {vy:e} }}\n[run]\nuntil = 12.0\n"
        )
    };
    let (program, mut options) = program(&text(0.0, 1.0, 0.7, 0.0));
    options.sensitivity = true;
    let forward = simulate(&program, &options).unwrap();
    assert!(forward.impacts.len() >= 5, "{}", forward.impacts.len());
    let end = |m: &carom_run::Motion| -> Vec<f64> {
        m.position.iter().chain(&m.velocity).map(|s| *s.values.last().unwrap()).collect()
    };
    let x = end(&forward);
    let back = run(&text(x[0], x[1], -x[2], -x[3]));
    let y = end(&back);
    // Rounding of the state between, amplified on the way back as much as on the way there.
    let tolerance = 1e-13 * forward.audit.amplification.unwrap().max(10.0);
    for (a, b) in y.iter().zip([0.0, 1.0, -0.7, 0.0]) {
        close(*a, b, tolerance);
    }
    assert_eq!(forward.impacts.len(), back.impacts.len());
}

#[test]
fn a_looser_tolerance_costs_less_and_keeps_what_it_promises() {
    let (program, mut options) = program(DOUBLE);
    options.until = 5.0;
    options.sampling = Sampling::At(vec![5.0]);
    let exact = simulate(&program, &options).unwrap();
    let mut steps = exact.audit.steps;
    for tolerance in [1e-12, 1e-9, 1e-6] {
        options.tolerance = tolerance;
        let motion = simulate(&program, &options).unwrap();
        // Amplification up to t = 5 is about 1e3.
        close(signal(&motion.position, "a")[0], signal(&exact.position, "a")[0], 1e4 * tolerance);
        let _ = std::mem::replace(&mut steps, motion.audit.steps);
    }
}

#[test]
fn the_same_motion_in_other_coordinates() {
    // Polar and Cartesian, gravity, a tilted plate and a circular fence.
    let cartesian = "coordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"y\"\n[wall.plate]\ngap = \"y + 0.3*x - 0.2\"\n[wall.fence]\ngap = \"3 - sqrt(x^2 + y^2)\"\n[start]\nposition = { x = 0.3, y = 1.5 }\nvelocity = { x = 0.5, y = 0.1 }\n[run]\nuntil = 8.0\n";
    let polar = "coordinates = [\"r\", \"f\"]\n[define]\nx = \"r*cos(f)\"\ny = \"r*sin(f)\"\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"y\"\n[wall.plate]\ngap = \"y + 0.3*x - 0.2\"\n[wall.fence]\ngap = \"3 - r\"\n[output]\nX = \"x\"\nY = \"y\"\n[start]\nposition = { r = \"sqrt(0.3^2 + 1.5^2)\", f = \"atan2(1.5, 0.3)\" }\nvelocity = { r = \"(0.3*0.5 + 1.5*0.1)/sqrt(0.3^2 + 1.5^2)\", f = \"(0.3*0.1 - 1.5*0.5)/(0.3^2 + 1.5^2)\" }\n[run]\nuntil = 8.0\n";
    let (a, b) = (run(cartesian), run(polar));
    assert_eq!(a.impacts.len(), b.impacts.len());
    assert!(a.impacts.len() >= 3, "{}", a.impacts.len());
    for (p, q) in a.impacts.iter().zip(&b.impacts) {
        close(p.time, q.time, 1e-10);
        close(p.impulse[0], q.impulse[0], 1e-9);
    }
    for k in 0..a.time.len() {
        close(signal(&a.position, "x")[k], signal(&b.output, "X")[k], 1e-9);
        close(signal(&a.position, "y")[k], signal(&b.output, "Y")[k], 1e-9);
    }
}

#[test]
fn accelerations_can_be_shown() {
    let motion = run_at(
        "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"2*x^2\"\n[output]\na = \"x''\"\n[start]\nposition = { x = 1 }\n",
        &[0.0, 0.7],
    );
    close(signal(&motion.output, "a")[1], -4.0 * 1.4f64.cos(), 1e-14);
}

#[test]
fn pulses_are_not_stepped_over_however_narrow() {
    // x'' = A exp(−a (t − s)²): v(100) = A √(π/a), x(100) = (100 − s) v; at t = 0 the force underflows to zero.
    for (a, size, s) in
        [(1e2, 1.0, 50.0), (1e6, 1.0, 50.0), (1e10, 1.0, 50.0), (1e10, 1e20, 99.0), (1e16, 1e-3, 3.0)]
    {
        let text = format!(
            "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\n[force.f]\ngeneralized = {{ x = \"{size:e}*exp(-{a:e}*(t - {s})^2)\" }}\n[run]\nuntil = 100.0\n"
        );
        let motion = common::run_at(&text, &[100.0]);
        let speed = size * (std::f64::consts::PI / a).sqrt();
        // Each step knows t, and with it the exponent, to rounding only: 2 √a ε s of the force.
        let rounding = 2.0 * a.sqrt() * f64::EPSILON * s;
        let error = 1e-12 * speed.max(1.0) + (1e-10 + rounding) * speed;
        common::close(common::signal(&motion.velocity, "x")[0], speed, error);
        common::close(common::signal(&motion.position, "x")[0], (100.0 - s) * speed, 100.0 * error);
        // What it does is measured by what it has done: from the first 1e-290 on, one step for a factor of ten or so.
        assert!(motion.audit.steps < 500, "{a:e}: {} steps", motion.audit.steps);
    }
}

#[test]
fn pulses_within_pulses_and_in_powers_are_found() {
    // 2^(−a w²) with w = t − 30, and an exponent that is itself asleep until t = 70: exp(−1e3 (1 − exp(−1e4 (t − 70)²))).
    let force = "2^(-1e4*(t - 30)^2) + exp(-1e3*(1 - exp(-1e4*(t - 70)^2)))";
    let text = format!(
        "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\n[force.f]\ngeneralized = {{ x = \"{force}\" }}\n[run]\nuntil = 100.0\n"
    );
    let motion = common::run_at(&text, &[100.0]);
    let first = (std::f64::consts::PI / (1e4 * 2.0f64.ln())).sqrt();
    // The second by the trapezoidal rule, which is exact to rounding for what vanishes at both ends.
    let h = 1e-6;
    let inner = |w: f64| (-1e3 * -f64::exp_m1(-1e4 * w * w)).exp();
    let second: f64 = (-5000..=5000).map(|i| h * inner(f64::from(i) * h)).sum();
    common::close(common::signal(&motion.velocity, "x")[0], first + second, 1e-12);
}

#[test]
fn a_large_power_does_not_hide() {
    // v(3) = ∫ sin(t)^100 = π C(100, 50) / 2^100; what is left from 3 to π is below 1e-80. All orders vanish at t = 0.
    let wanted =
        (1..=50).map(|k| f64::from(2 * k - 1) / f64::from(2 * k)).product::<f64>() * std::f64::consts::PI;
    for power in ["sin(t)^100", "(sin(t)^2)^(n/2)"] {
        let text = format!(
            "coordinates = [\"x\"]\n[parameters]\nn = 100\n[energy]\nkinetic = \"x'^2/2\"\n[force.f]\ngeneralized = {{ x = \"{power}\" }}\n[run]\nfrom = 0.01\nuntil = 3.0\n"
        );
        let motion = common::run_at(&text, &[3.0]);
        common::close(common::signal(&motion.velocity, "x")[0], wanted, 1e-13);
        assert!(motion.audit.steps < 400, "{power}: {} steps", motion.audit.steps);
    }
}

#[test]
fn a_repulsion_that_is_nothing_from_far_away_is_met() {
    // Scattering does not depend on how far away it begins (the potential is 1e-12 at 100, 1e-24 at 10 000).
    let end = |far: f64| {
        let text = format!(
            "coordinates = [\"x\", \"y\"]\n[define]\nrr = \"x^2 + y^2\"\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"1/rr^6 - 1/rr^3\"\n[start]\nposition = {{ x = {far:?}, y = 0.3 }}\nvelocity = {{ x = -1.0 }}\n[run]\nuntil = {:?}\n",
            2.0 * far
        );
        let motion = common::run_at(&text, &[2.0 * far]);
        ["x", "y"].map(|name| common::signal(&motion.velocity, name)[0])
    };
    let near = end(100.0);
    for far in [1e4, 1e6] {
        let found = end(far);
        // 2e-12 of the energy, and a position known to the rounding of `far`, stretched by the deflection.
        let error = 1e-10 + 1e2 * f64::EPSILON * far;
        common::close(found[0], near[0], error);
        common::close(found[1], near[1], error);
    }
}

#[test]
fn a_pendulum_released_from_rest_at_a_right_angle_returns_after_its_period() {
    // Its series has every fourth power only, the ones between are the rounding of cos(pi/2): no coefficient that a step is
    // measured by may be one of those. T = 2 pi/AGM(1, cos(pi/4)) for g = l; near the right angle the gaps are nearly ones.
    let (mut a, mut b) = (1.0_f64, 0.5_f64.sqrt());
    for _ in 0..6 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    let period = 2.0 * std::f64::consts::PI / a;
    for tolerance in ["1e-15", "1e-12", "1e-9", "1e-6"] {
        for off in ["0", "1e-12", "1e-6", "1e-3"] {
            let text = format!(
                "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"-cos(x)\"\n[start]\nposition = {{ x = \"pi/2 - {off}\" }}\n[run]\ntolerance = {tolerance}\nuntil = 8\n"
            );
            let motion = run_at(&text, &[0.0, period]);
            let [start, end] =
                [0, 1].map(|k| [signal(&motion.position, "x")[k], signal(&motion.velocity, "x")[k]]);
            let off: f64 = off.parse().unwrap();
            let tolerance: f64 = tolerance.parse().unwrap();
            // Some thirty steps, each within 11 times the truncation allowed; elsewhere than at the right angle the period is
            // longer or shorter by less than the angle, the speed by less than the change of the period.
            let allowed = 400.0 * tolerance + 8.0 * off;
            assert!(
                (end[0] - start[0]).abs() < allowed && (end[1] - start[1]).abs() < allowed,
                "{tolerance:e}, {off:e}: {end:?}"
            );
            let drift = motion.audit.hamiltonian_drift;
            assert!(drift < 400.0 * tolerance, "{tolerance:e}, {off:e}: {drift:e}");
        }
    }
}
