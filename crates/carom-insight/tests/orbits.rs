//! Periodic orbits against closed forms and an integrator of another kind.

mod common;

use carom_insight::{Request, Return};
use common::{forced_orbit, gallery, section_orbit};
use std::f64::consts::PI;

/// The linear impact oscillator with one impact per period T = 2πn/ω, in closed form.
struct Oscillator {
    zeta: f64,
    omega: f64,
    e: f64,
    t: f64,
    /// E = e^{−ζT}
    decay: f64,
    own: f64,
    r: f64,
    k: f64,
    rho: f64,
    /// G/F
    gain: f64,
}

impl Oscillator {
    fn new(zeta: f64, omega: f64, e: f64, n: f64) -> Oscillator {
        let t = 2.0 * PI * n / omega;
        let (decay, own) = ((-zeta * t).exp(), (1.0 - zeta * zeta).sqrt());
        let (s, c) = (own * t).sin_cos();
        let r = (1.0 - decay * c) / (decay * s);
        let bend = decay * own * (r * c - s);
        let k = (bend - own * r) / (1.0 + e);
        let rho = k + zeta - bend;
        let gain = 1.0 / (1.0 - omega * omega).hypot(2.0 * zeta * omega);
        Oscillator { zeta, omega, e, t, decay, own, r, k, rho, gain }
    }

    /// a of the two orbits at a force, σ = 1.
    fn amplitude(&self, force: f64, upper: bool) -> f64 {
        let g = force * self.gain;
        let q = 1.0 + (self.rho / self.omega).powi(2);
        let root = (1.0 - q * (1.0 - g * g)).sqrt();
        (1.0 + if upper { root } else { -root }) / q
    }

    /// Trace of the multipliers at a.
    fn trace(&self, a: f64) -> f64 {
        let Oscillator { zeta, omega, e, t, decay, own, .. } = *self;
        let (s, c) = (own * t).sin_cos();
        // a⁺ + e a⁻ = (1 + e) (F cos ωτ − σ), and F cos ωτ from the response x_p = σ − a, x_p′ = aρ.
        let force = (1.0 - omega * omega) * (1.0 - a) + 2.0 * zeta * a * self.rho;
        let xi = (1.0 + e) * (force - 1.0) / (self.k * a);
        decay * (-2.0 * e * c + s / own * xi)
    }

    fn determinant(&self) -> f64 {
        (self.e * self.decay).powi(2)
    }
}

fn sum(orbit: &carom_insight::Orbit) -> f64 {
    orbit.multipliers.iter().map(|z| z[0]).sum()
}

fn product(orbit: &carom_insight::Orbit) -> f64 {
    orbit.multipliers.iter().fold([1.0, 0.0], |p, &z| carom_insight::eigen::times(p, z))[0]
}

#[test]
fn the_orbit_of_the_impact_oscillator_is_the_closed_form() {
    let closed = Oscillator::new(0.05, 1.6, 0.8, 1.0);
    let orbit = forced_orbit(&gallery("impact_oscillator"), &[], "", "2*pi/omega", false).unwrap();
    let a = closed.amplitude(1.0, true);
    assert_eq!(orbit.impacts, ["stop"]);
    assert!((orbit.period - closed.t).abs() < 1e-14);
    // Where it is at t = 0: as far after the impact as the response says.
    let psi = (-a * closed.rho / closed.omega).atan2(1.0 - a);
    let delta = (2.0 * closed.zeta * closed.omega).atan2(1.0 - closed.omega.powi(2));
    let tau = (-(psi + delta) / closed.omega).rem_euclid(closed.t);
    let (s, c) = (closed.own * tau).sin_cos();
    let x =
        (-closed.zeta * tau).exp() * a * (c + closed.r * s) + closed.gain * (closed.omega * tau + psi).cos();
    assert!((orbit.state[0].1 - x).abs() < 1e-10, "{:?} {x}", orbit.state);
    assert!((sum(&orbit) - closed.trace(a)).abs() < 1e-10, "{} {}", sum(&orbit), closed.trace(a));
    assert!((product(&orbit) - closed.determinant()).abs() < 1e-10);
    assert!(orbit.stable && orbit.residual < 1e-12);
}

#[test]
fn a_run_settles_where_the_orbit_is() {
    let text = gallery("impact_oscillator");
    let near = forced_orbit(&text, &[], "", "2*pi/omega", false).unwrap();
    let settled = forced_orbit(&text, &[], "x=0.2,x'=1", "2*pi/omega", true).unwrap();
    assert!((near.state[0].1 - settled.state[0].1).abs() < 1e-11);
    assert!((near.state[1].1 - settled.state[1].1).abs() < 1e-11);
}

#[test]
fn the_ball_on_the_table_has_the_trace_and_determinant_of_the_closed_form_over_the_whole_window() {
    // Γ = Aω²/g: one bounce per period exists for Γ ≥ π(1 − e)/(1 + e) and is stable until the doubling.
    let text = gallery("vibrating_table");
    for e in [0.5, 0.8] {
        let least = PI * (1.0 - e) / (1.0 + e);
        let doubling = (least * least + (2.0 * (1.0 + e * e) / (1.0 + e).powi(2)).powi(2)).sqrt();
        for part in [0.02, 0.2, 0.4, 0.6, 0.8, 0.98] {
            let strength = least + part * (doubling - least);
            let (g, omega) = (9.81, 20.0);
            let amplitude = strength * g / (omega * omega);
            // The stable of the two phases: cos ωt = π(1 − e)/((1 + e)Γ), sin ωt > 0.
            let cosine = least / strength;
            let sine = (1.0 - cosine * cosine).sqrt();
            let period = 2.0 * PI / omega;
            // Off again with g T/2 relative to nothing but the ground: a flight of one period.
            let phase = cosine.acos() / omega;
            let start = phase + 0.31 * period;
            let (height, speed) = (amplitude * sine, g * period / 2.0);
            let flown = 0.31 * period;
            let begin = (height + speed * flown - g * flown * flown / 2.0, speed - g * flown);
            let text = text.replace("until = 10.0", &format!("from = {start}\nuntil = 10.0"));
            let orbit = forced_orbit(
                &text,
                &[&format!("A={amplitude}"), &format!("e_n={e}")],
                &format!("y={},y'={}", begin.0, begin.1),
                "2*pi/omega",
                false,
            )
            .unwrap_or_else(|r| panic!("e = {e}, part {part}: {r}"));
            let trace = 1.0 + e * e - (1.0 + e).powi(2) * strength * sine;
            assert!((sum(&orbit) - trace).abs() < 1e-11, "{e} {part}: {} {trace}", sum(&orbit));
            assert!((product(&orbit) - e * e).abs() < 1e-11, "{e} {part}: {}", product(&orbit));
        }
    }
}

#[test]
fn a_rimless_wheel_forgets_by_the_square_of_the_cosine_of_the_spokes_angle() {
    let text = gallery("rimless_wheel");
    for spokes in [8.0_f64, 10.0] {
        let alpha = PI / spokes;
        let orbit = section_orbit(&text, &[&format!("alpha={alpha}")], "theta'=2", "forward", false).unwrap();
        assert_eq!(orbit.multipliers.len(), 1);
        let expected = (2.0 * alpha).cos().powi(2);
        assert!((orbit.multipliers[0][0] - expected).abs() < 1e-11, "{:?} {expected}", orbit.multipliers);
        assert!(orbit.stable && orbit.invariants.is_empty());
    }
}

#[test]
fn the_long_axis_of_an_ellipse_has_the_multipliers_of_the_two_bounce_formula() {
    let text = gallery("elliptic_billiard");
    // L = 2a, both radii of curvature b²/a: trace = 4(1 − L/R)² − 2; b = 0.55 gives multipliers near 10².
    for b in [0.9_f64, 0.8, 0.6, 0.55] {
        let start = "x=0.1,y=0.001,x'=1,y'=0.0005";
        let orbit = common::ask(&text, &[&format!("b={b}")], start, |subject| {
            let mut request = Request::new(Return::section(subject.mechanics, "rim").unwrap());
            request.count = 2;
            carom_insight::orbit(subject, &request).unwrap()
        });
        let trace = 4.0 * (1.0 - 2.0 / (b * b)).powi(2) - 2.0;
        assert_eq!(orbit.invariants, ["energy"]);
        assert_eq!(orbit.multipliers.len(), 2);
        assert!((sum(&orbit) / trace - 1.0).abs() < 1e-10, "b = {b}: {} {trace}", sum(&orbit));
        assert!((product(&orbit) - 1.0).abs() < 1e-9);
        assert!(!orbit.stable);
    }
}

#[test]
fn the_compass_gait_has_its_published_step() {
    let orbit = section_orbit(&gallery("compass_gait"), &["gamma=0.0525"], "", "heelstrike", false).unwrap();
    assert!((orbit.period - 0.734_460_62).abs() < 5e-9, "{}", orbit.period);
    let expected = [[-0.202_216, 0.543_415], [-0.202_216, -0.543_415], [0.131_387, 0.0]];
    for (found, expected) in orbit.multipliers.iter().zip(expected) {
        assert!((found[0] - expected[0]).abs() < 1e-6 && (found[1] - expected[1]).abs() < 1e-6, "{found:?}");
    }
    assert!(orbit.stable);
}

/// The simplest walker by hand: the stance leg and the swing leg as a system of four, one step by the classical Runge–Kutta
/// method; the step ends where φ = 2θ again.
fn step(theta: f64, rate: f64, gamma: f64) -> ([f64; 2], f64) {
    let f = |x: [f64; 4]| {
        let push = (x[0] - gamma).sin();
        [x[1], push, x[3], push + (x[1] * x[1] - (x[0] - gamma).cos()) * x[2].sin()]
    };
    let h = 1.0 / 2048.0;
    let advance = |x: [f64; 4], h: f64| {
        let add = |a: [f64; 4], b: [f64; 4], k: f64| std::array::from_fn(|i| a[i] + k * b[i]);
        let a = f(x);
        let b = f(add(x, a, h / 2.0));
        let c = f(add(x, b, h / 2.0));
        let d = f(add(x, c, h));
        std::array::from_fn(|i| x[i] + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]))
    };
    // θ̇, φ̇ after heel strike.
    let mut x: [f64; 4] = [theta, rate, 2.0 * theta, (1.0 - (2.0 * theta).cos()) * rate];
    let (mut t, mut armed) = (0.0, false);
    loop {
        let next: [f64; 4] = advance(x, h);
        let gap = |x: &[f64; 4]| x[2] - 2.0 * x[0];
        // Not the scuffing at mid-stance, when θ > 0 still.
        armed |= next[0] < -0.05;
        if armed && gap(&x) < 0.0 && gap(&next) >= 0.0 {
            let mut part = h * gap(&x) / (gap(&x) - gap(&next));
            for _ in 0..60 {
                let at: [f64; 4] = advance(x, part);
                part -= gap(&at) / (at[3] - 2.0 * at[1]);
            }
            let at: [f64; 4] = advance(x, part);
            let c = (2.0 * at[0]).cos();
            return ([-at[0], c * at[1]], t + part);
        }
        (x, t) = (next, t + h);
        assert!(t < 20.0, "falls");
    }
}

#[test]
fn both_gaits_of_the_simplest_walker_are_those_of_an_integration_by_hand() {
    let text = gallery("simplest_walker");
    for (gamma, guesses) in [
        (0.009, [(0.200_31, -0.199_83), (0.193_4, -0.203_9)]),
        (0.004, [(0.153_4, -0.156_1), (0.148_8, -0.158_8)]),
    ] {
        let mut periods = Vec::new();
        for (theta, rate) in guesses {
            // Newton with differences on the hand-made step.
            let mut x = [theta, rate];
            let mut period = 0.0;
            let mut jacobian = [[0.0; 2]; 2];
            for _ in 0..12 {
                let (image, t) = step(x[0], x[1], gamma);
                period = t;
                let d = 1e-6;
                for j in 0..2 {
                    let (mut up, mut down) = (x, x);
                    up[j] += d;
                    down[j] -= d;
                    let (up, down) = (step(up[0], up[1], gamma).0, step(down[0], down[1], gamma).0);
                    (0..2).for_each(|i| jacobian[i][j] = (up[i] - down[i]) / (2.0 * d));
                }
                let f = [image[0] - x[0], image[1] - x[1]];
                let m = [[jacobian[0][0] - 1.0, jacobian[0][1]], [jacobian[1][0], jacobian[1][1] - 1.0]];
                let det = m[0][0] * m[1][1] - m[0][1] * m[1][0];
                x[0] -= (m[1][1] * f[0] - m[0][1] * f[1]) / det;
                x[1] -= (m[0][0] * f[1] - m[1][0] * f[0]) / det;
            }
            let set = [format!("gamma={gamma}"), format!("theta0={theta}"), format!("rate0={rate}")];
            let set: Vec<&str> = set.iter().map(String::as_str).collect();
            let orbit = section_orbit(&text, &set, "", "heelstrike", false).unwrap();
            assert!((orbit.period - period).abs() < 1e-8, "{gamma}: {} {period}", orbit.period);
            assert!(
                (orbit.state[0].1 - x[0]).abs() < 1e-9 && (orbit.state[2].1 - x[1]).abs() < 1e-9,
                "{:?} {x:?}",
                orbit.state
            );
            // Three multipliers, one of them zero: the reset forgets the swing leg.
            let trace = jacobian[0][0] + jacobian[1][1];
            let det = jacobian[0][0] * jacobian[1][1] - jacobian[0][1] * jacobian[1][0];
            assert!((sum(&orbit) - trace).abs() < 1e-6, "{:?} {trace}", orbit.multipliers);
            let m = &orbit.multipliers;
            let pair = carom_insight::eigen::times(m[0], m[1]);
            assert!((pair[0] - det).abs() < 1e-6 && carom_insight::eigen::modulus(m[2]) < 1e-8);
            periods.push((orbit.period, orbit.stable));
        }
        assert!(periods[0].0 > periods[1].0, "the long and the short gait: {periods:?}");
        assert!(periods[0].1 && !periods[1].1, "{periods:?}");
    }
}

#[test]
fn a_section_that_the_orbit_crosses_without_speed_is_refused() {
    // The limit cycle of x'' = −x + (1 − x² − x'²) x' is the unit circle. The curve x' = 1 − x²/2 + x³ has contact of third order with
    // it at (0, 1): it is crossed there without speed, and once more, with speed, on the other side.
    let text = |direction: &str| {
        format!(
            "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n[force.pump]\ngeneralized = {{ x = \"(1 - x^2 - x'^2)*x'\" }}\n\
             [event.curve]\nwhen = \"x' - 1 + x^2/2 - x^3\"\ndirection = \"{direction}\"\n[start]\nposition = {{ x = 1.0 }}\n[run]\nuntil = 20\n"
        )
    };
    let refusal = section_orbit(&text("falling"), &[], "", "curve", false).unwrap_err();
    assert!(refusal.message.contains("touches event `curve` without crossing it"), "{refusal}");
    assert!(refusal.message.contains("tangent") && refusal.hint.contains("crosses with speed"), "{refusal}");
    let found = section_orbit(&text("rising"), &[], "", "curve", false).unwrap_or_else(|r| panic!("{r}"));
    assert!((found.period - 2.0 * std::f64::consts::PI).abs() < 1e-11, "{found:?}");
}
