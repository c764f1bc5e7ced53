//! Published values and closed forms beside what the program gives, each with the command to repeat it: the chapter "Validation"
//! of the book is written by this test (`CAROM_BLESS=1`), and compared by it.
//!
//! A tolerance is absolute, relative to the larger of 1 and the value, and is what the conditioning of the quantity leaves of double
//! precision: a few roundings for closed forms after few steps, more after chaos (the double pendulum multiplies errors by 10⁵ in ten
//! time units). Digits are shown as far as the tolerance, so the page does not depend on the machine.

mod support;

use serde_json::Value;
use std::f64::consts::PI;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use support::{carom, numbers};

struct Reference {
    what: &'static str,
    /// The arguments after `carom run`, or after `carom` if they begin with another command.
    arguments: &'static [&'static str],
    quantity: fn(&Value) -> f64,
    /// As it is written on the page.
    source: &'static str,
    value: fn() -> f64,
    tolerance: f64,
}

const CLOSED: &[Reference] = &[
    Reference {
        what: "bouncing mass: first impact",
        arguments: &["bouncing_mass"],
        quantity: |m| impact(m, 0),
        source: "(1 + √(1 + 2g))/g",
        value: || (1.0 + 20.6_f64.sqrt()) / 9.8,
        tolerance: 1e-14,
    },
    Reference {
        what: "bouncing mass: impulse",
        arguments: &["bouncing_mass"],
        quantity: |m| number(&m["impacts"][0]["impulse"][0]),
        source: "2 m √(1 + 2g)",
        value: || 2.0 * 20.6_f64.sqrt(),
        tolerance: 1e-13,
    },
    Reference {
        what: "bouncing mass: thousandth time between impacts",
        arguments: &["bouncing_mass", "--until", "930"],
        quantity: |m| impact(m, 1000) - impact(m, 999),
        source: "2 √(1 + 2g)/g",
        value: || 2.0 * 20.6_f64.sqrt() / 9.8,
        tolerance: 1e-11,
    },
    Reference {
        what: "pendulum against a wall: first impact",
        arguments: &["pendulum_wall"],
        quantity: |m| impact(m, 0),
        source: "√(l/g) K(sin ½), K the elliptic integral",
        value: || quarter_period(1.0, 9.8),
        tolerance: 1e-13,
    },
    Reference {
        what: "pendulum against a wall: time between impacts",
        arguments: &["pendulum_wall"],
        quantity: |m| impact(m, 2) - impact(m, 1),
        source: "2 √(l/g) K(sin ½)",
        value: || 2.0 * quarter_period(1.0, 9.8),
        tolerance: 1e-12,
    },
    Reference {
        what: "ball with restitution 0.8: comes to rest",
        arguments: &["ball_restitution"],
        quantity: |m| number(&m["contacts"][0]["from"]),
        source: "√(2h/g) (1 + e)/(1 − e)",
        value: || (2.0 / 9.81_f64).sqrt() * 9.0,
        tolerance: 1e-9,
    },
    Reference {
        what: "ball with restitution 0.8: force of the floor",
        arguments: &["ball_restitution"],
        quantity: |m| number(&m["contacts"][0]["force_at_start"]),
        source: "m g",
        value: || 9.81,
        tolerance: 1e-12,
    },
    Reference {
        what: "ball on an incline: the bounces end",
        arguments: &["ball_on_incline"],
        quantity: |m| number(&m["contacts"][0]["from"]),
        source: "√(2h/g) (1 + e)/(1 − e)",
        value: || (2.0 / 9.81_f64).sqrt() * 3.0,
        tolerance: 1e-9,
    },
    Reference {
        what: "ball on an incline: force of the plane",
        arguments: &["ball_on_incline"],
        quantity: |m| number(&m["contacts"][0]["force_at_start"]),
        source: "m g cos α",
        value: || 9.81 * (PI / 6.0).cos(),
        tolerance: 1e-12,
    },
    Reference {
        what: "knife edge on an incline: x(7)",
        arguments: &["knife_edge", "--at", "7"],
        quantity: |m| last(m, "position", "x"),
        source: "g sin α/(2ω²) sin²(ωt)",
        value: || 9.81 * 0.5 / 8.0 * 14.0_f64.sin().powi(2),
        tolerance: 1e-12,
    },
    Reference {
        what: "relativistic particle in a uniform field: first bounce",
        arguments: &["relativistic_bounce"],
        quantity: |m| impact(m, 0),
        source: "√3: p = −t, √(1 + p²) = 2 at the floor",
        value: || 3.0_f64.sqrt(),
        tolerance: 1e-14,
    },
    Reference {
        what: "relativistic particle in a uniform field: ninth time between bounces",
        arguments: &["relativistic_bounce"],
        quantity: |m| impact(m, 9) - impact(m, 8),
        source: "2√3",
        value: || 2.0 * 3.0_f64.sqrt(),
        tolerance: 1e-12,
    },
    Reference {
        what: "mirror moving at 0.3 c: velocity after, along the normal",
        arguments: &["relativistic_moving_wall"],
        quantity: |m| number(&m["impacts"][0]["velocity_after"]["x"]),
        source: "Lorentz boost of a reflection",
        value: || boosted_mirror().0,
        tolerance: 1e-14,
    },
    Reference {
        what: "mirror moving at 0.3 c: velocity after, along the mirror",
        arguments: &["relativistic_moving_wall"],
        quantity: |m| number(&m["impacts"][0]["velocity_after"]["y"]),
        source: "Lorentz boost of a reflection",
        value: || boosted_mirror().1,
        tolerance: 1e-14,
    },
    Reference {
        what: "charge in a magnetic field: time between impacts",
        arguments: &["charged_particle"],
        quantity: |m| impact(m, 3) - impact(m, 2),
        source: "half a gyration, π m/(q B)",
        value: || PI / 2.0,
        tolerance: 1e-13,
    },
    Reference {
        what: "circular billiard without gravity: time between impacts",
        arguments: &["circular_billiard", "--set", "g=0", "--start", "x=0.3,y=0.5,x'=1"],
        quantity: |m| impact(m, 3) - impact(m, 2),
        source: "chord/speed, 2 √(R² − ¼)",
        value: || 3.0_f64.sqrt(),
        tolerance: 1e-13,
    },
    Reference {
        what: "vortex pair: x of the first at t = 20",
        arguments: &["vortex_pair"],
        quantity: |m| last(m, "position", "x1"),
        source: "0.2 − 0.8 cos((Γ₁ + Γ₂) t/(2π d²))",
        value: || 0.2 - 0.8 * (20.0 * 3.0 / (2.0 * PI * 1.44)).cos(),
        tolerance: 1e-12,
    },
    Reference {
        what: "massless node: first impact",
        arguments: &["massless_node"],
        quantity: |m| impact(m, 0),
        source: "arccos(−½)/ω, ω² = k₁k₂/((k₁ + k₂) m)",
        value: || (-0.5_f64).acos() / 1.2_f64.sqrt(),
        tolerance: 1e-13,
    },
    Reference {
        what: "massless node: impulse",
        arguments: &["massless_node"],
        quantity: |m| number(&m["impacts"][0]["impulse"][0]),
        source: "2 m ω √(1 − ¼)",
        value: || 2.0 * (1.2 * 0.75_f64).sqrt(),
        tolerance: 1e-13,
    },
    Reference {
        what: "Newton's cradle: first impact",
        arguments: &["newtons_cradle", "-q"],
        quantity: |m| impact(m, 0),
        source: "√(l/g) K(sin 0.3)",
        value: || quarter_period(0.6, 9.81),
        tolerance: 1e-13,
    },
    Reference {
        what: "Newton's cradle: the last ball flies off with the speed of the first",
        arguments: &["newtons_cradle", "-q"],
        quantity: |m| number(&m["impacts"][3]["velocity_after"]["theta5"]),
        source: "√(2g(1 − cos 0.6))",
        value: || (2.0 * 9.81 * (1.0 - 0.6_f64.cos())).sqrt(),
        tolerance: 1e-13,
    },
    Reference {
        what: "rimless wheel: rate after a step, once settled",
        arguments: &["rimless_wheel", "--until", "40"],
        quantity: |m| number(&m["events"].as_array().unwrap().last().unwrap()["velocity"]["theta"]),
        source: "cot 2α √(2g(cos(γ−α) − cos(γ+α)))",
        value: || {
            let c = (PI / 4.0).cos();
            let gain = 2.0 * 9.81 * ((0.2 - PI / 8.0).cos() - (0.2 + PI / 8.0).cos());
            (c * c * gain / (1.0 - c * c)).sqrt()
        },
        tolerance: 1e-12,
    },
    Reference {
        what: "guiding centre: arrives at the wall",
        arguments: &["guiding_centre"],
        quantity: |m| number(&m["stop"]["time"]),
        source: "π/(2√2)",
        value: || PI / 8.0_f64.sqrt(),
        tolerance: 1e-13,
    },
    Reference {
        what: "Galperin's blocks, mass ratio 10⁴: impacts",
        arguments: &["galperin_blocks"],
        quantity: |m| m["impacts"].as_array().unwrap().len() as f64,
        source: "⌊100 π⌋ (Galperin 2003)",
        value: || 314.0,
        tolerance: 1e-15,
    },
    Reference {
        what: "Galperin's blocks, mass ratio 10⁶: impacts",
        arguments: &["galperin_blocks", "--set", "n=3"],
        quantity: |m| m["impacts"].as_array().unwrap().len() as f64,
        source: "⌊1000 π⌋ (Galperin 2003)",
        value: || 3141.0,
        tolerance: 1e-15,
    },
];

const CAR_AXIS: &str = "Test Set for IVP Solvers, car axis";

const PUBLISHED: &[Reference] = &[
    Reference {
        what: "car axis: x of the left end at t = 3",
        arguments: &["car_axis", "--at", "3"],
        quantity: |m| last(m, "position", "xl"),
        source: CAR_AXIS,
        value: || 0.049_345_578_427_540_28,
        tolerance: 1e-11,
    },
    Reference {
        what: "car axis: y of the left end at t = 3",
        arguments: &["car_axis", "--at", "3"],
        quantity: |m| last(m, "position", "yl"),
        source: CAR_AXIS,
        value: || 0.496_989_460_230_171_15,
        tolerance: 1e-11,
    },
    Reference {
        what: "car axis: x of the right end at t = 3",
        arguments: &["car_axis", "--at", "3"],
        quantity: |m| last(m, "position", "xr"),
        source: CAR_AXIS,
        value: || 1.041_742_524_885_421_5,
        tolerance: 1e-11,
    },
    Reference {
        what: "car axis: y of the right end at t = 3",
        arguments: &["car_axis", "--at", "3"],
        quantity: |m| last(m, "position", "yr"),
        source: CAR_AXIS,
        value: || 0.373_911_027_265_361_24,
        tolerance: 1e-11,
    },
    Reference {
        what: "rolling disk: rate of rolling after the hit",
        arguments: &["rolling_disk"],
        quantity: |m| number(&m["impacts"][0]["velocity_after"]["theta"]),
        source: "published to 8 digits",
        value: || 0.55119661,
        tolerance: 5e-9,
    },
    Reference {
        what: "rolling disk: rate of turning after the hit",
        arguments: &["rolling_disk"],
        quantity: |m| number(&m["impacts"][0]["velocity_after"]["phi"]),
        source: "published to 8 digits",
        value: || -4.71880215,
        tolerance: 5e-9,
    },
    Reference {
        what: "rolling disk from its Hamiltonian: rate of turning after the hit",
        arguments: &["rolling_disk_hamiltonian"],
        quantity: |m| number(&m["impacts"][0]["velocity_after"]["phi"]),
        source: "published to 8 digits",
        value: || -4.71880215,
        tolerance: 5e-9,
    },
];

const MANY_DIGITS: &str = "45-digit computation (benches/peers/reference.py)";
const OTHER: &str = "an independent integration";

const COMPUTED: &[Reference] = &[
    Reference {
        what: "double pendulum: θ₁(5)",
        arguments: &["double_pendulum", "--at", "5"],
        quantity: |m| last(m, "position", "theta1"),
        source: OTHER,
        value: || -0.085464210368396,
        tolerance: 1e-11,
    },
    Reference {
        what: "double pendulum: θ₁(10)",
        arguments: &["double_pendulum", "--at", "10"],
        quantity: |m| last(m, "position", "theta1"),
        source: MANY_DIGITS,
        value: || -0.674_123_837_924_351,
        tolerance: 1e-8,
    },
    Reference {
        what: "double pendulum against a wall: first impact",
        arguments: &["double_pendulum_wall"],
        quantity: |m| impact(m, 0),
        source: OTHER,
        value: || 0.845724416263871,
        tolerance: 1e-12,
    },
    Reference {
        what: "double pendulum against a wall: first impulse",
        arguments: &["double_pendulum_wall"],
        quantity: |m| number(&m["impacts"][0]["impulse"][0]),
        source: OTHER,
        value: || 17.99307703859284,
        tolerance: 1e-12,
    },
    Reference {
        what: "double pendulum against a wall: third impact",
        arguments: &["double_pendulum_wall"],
        quantity: |m| impact(m, 2),
        source: OTHER,
        value: || 4.251328403262459,
        tolerance: 1e-11,
    },
    Reference {
        what: "double pendulum against a wall: θ₁(10), after seven impacts",
        arguments: &["double_pendulum_wall", "--at", "10"],
        quantity: |m| last(m, "position", "theta1"),
        source: MANY_DIGITS,
        value: || -0.283_447_103_433_170_26,
        tolerance: 1e-7,
    },
    Reference {
        what: "driven double pendulum: first impact",
        arguments: &["driven_double_pendulum"],
        quantity: |m| impact(m, 0),
        source: OTHER,
        value: || 2.009025917028004,
        tolerance: 1e-12,
    },
    Reference {
        what: "driven double pendulum: θ₂′ after the first impact",
        arguments: &["driven_double_pendulum"],
        quantity: |m| number(&m["impacts"][0]["velocity_after"]["theta2"]),
        source: OTHER,
        value: || 2.346561885555896,
        tolerance: 1e-12,
    },
    Reference {
        what: "hilly ground: first impact",
        arguments: &["hilly_ground"],
        quantity: |m| impact(m, 0),
        source: OTHER,
        value: || 0.488823337313842,
        tolerance: 1e-12,
    },
    Reference {
        what: "hilly ground: third impact",
        arguments: &["hilly_ground"],
        quantity: |m| impact(m, 2),
        source: OTHER,
        value: || 2.451778752295921,
        tolerance: 1e-11,
    },
    Reference {
        what: "simplest walker: duration of a step",
        arguments: &["simplest_walker"],
        quantity: |m| number(&m["events"][0]["time"]),
        source: "fixed point of the step map",
        value: || 3.882463752851374,
        tolerance: 1e-12,
    },
    Reference {
        what: "compass gait: duration of a step",
        arguments: &["compass_gait"],
        quantity: |m| number(&m["events"][1]["time"]) - number(&m["events"][0]["time"]),
        source: "fixed point of the step map",
        value: || 0.73434639116,
        tolerance: 1e-10,
    },
];

/// Two formulations of the same system: the largest difference of a coordinate over all samples, relative to its range.
const TWINS: &[(&str, &str, f64)] = &[
    ("pendulum_wall", "pendulum_hamiltonian", 1e-12),
    ("kepler_wall", "kepler_wall_lagrangian", 1e-11),
    ("relativistic_bounce", "relativistic_hamiltonian", 1e-11),
    ("charged_particle", "charged_particle_hamiltonian", 1e-12),
    ("driven_double_pendulum", "driven_double_pendulum_constraint", 1e-11),
    ("rolling_disk", "rolling_disk_hamiltonian", 1e-14),
];

/// Commands that are not `run`.
const INSIGHT: [&str; 3] = ["orbit", "follow", "lyapunov"];

const PERIOD: &str = "2*pi/omega";

const ORBITS: &[Reference] = &[
    Reference {
        what: "impact oscillator: determinant of the multipliers",
        arguments: &["orbit", "impact_oscillator", "--period", PERIOD],
        quantity: product,
        source: "e² exp(−2ζT)",
        value: || (0.8 * (-0.05 * 2.0 * PI / 1.6_f64).exp()).powi(2),
        tolerance: 1e-11,
    },
    Reference {
        what: "impact oscillator: force at the fold",
        arguments: &[
            "follow",
            "impact_oscillator",
            "--vary",
            "F=0.5..0.7",
            "--set",
            "F=0.65",
            "--period",
            PERIOD,
        ],
        quantity: |b| special(b, "fold", "F"),
        source: "G² = σ²ρ²/(ω² + ρ²) (theory, return maps)",
        value: fold,
        tolerance: 1e-10,
    },
    Reference {
        what: "impact oscillator: force at which its saddle grazes the wall",
        arguments: &["follow", "impact_oscillator", "--vary", "F=1.7..0.5", "--period", PERIOD],
        quantity: |b| special(b, "grazing", "F"),
        source: "G = σ",
        value: || (1.0 - 1.6_f64 * 1.6).hypot(2.0 * 0.05 * 1.6),
        tolerance: 1e-10,
    },
    Reference {
        what: "impact oscillator: sum of the exponents on its cycle",
        arguments: &["lyapunov", "impact_oscillator", "--until", "2000"],
        quantity: |l| numbers(&l["exponents"]).iter().sum(),
        source: "2 ln(e)/T − 2ζ",
        value: || 2.0 * 0.8_f64.ln() * 1.6 / (2.0 * PI) - 0.1,
        tolerance: 1e-6,
    },
    Reference {
        what: "rimless wheel: multiplier",
        arguments: &["orbit", "rimless_wheel", "--section", "forward", "--start", "theta'=2"],
        quantity: |o| number(&o["multipliers"][0][0]),
        source: "cos² 2α",
        value: || (PI / 4.0).cos().powi(2),
        tolerance: 1e-11,
    },
    Reference {
        what: "ellipse, b = 0.6: trace of the multipliers along its long axis",
        arguments: &[
            "orbit",
            "elliptic_billiard",
            "--set",
            "b=0.6",
            "--start",
            "x=0.1,y=0.001,x'=1,y'=0.0005",
            "--section",
            "rim",
            "--crossings",
            "2",
        ],
        quantity: |o| o["multipliers"].as_array().unwrap().iter().map(|z| number(&z[0])).sum(),
        source: "4 (1 − L/R)² − 2",
        value: || 4.0 * (1.0 - 2.0 / 0.36_f64).powi(2) - 2.0,
        tolerance: 1e-10,
    },
    Reference {
        what: "compass gait, slope 0.0525: period of a step",
        arguments: &["orbit", "compass_gait", "--set", "gamma=0.0525", "--section", "heelstrike"],
        quantity: |o| number(&o["period"]),
        source: "published to 8 digits",
        value: || 0.734_460_62,
        tolerance: 5e-9,
    },
    Reference {
        what: "compass gait, slope 0.0525: third multiplier",
        arguments: &["orbit", "compass_gait", "--set", "gamma=0.0525", "--section", "heelstrike"],
        quantity: |o| number(&o["multipliers"][2][0]),
        source: "published to 6 digits",
        value: || 0.131_387,
        tolerance: 1e-6,
    },
    Reference {
        what: "simplest walker: slope at which it begins to limp",
        arguments: &["follow", "simplest_walker", "--vary", "gamma=0.009..0.0165", "--section", "heelstrike"],
        quantity: |b| special(b, "period_doubling", "gamma"),
        source: "0.0151 (Garcia et al. 1998)",
        value: || 0.0151,
        tolerance: 1e-4,
    },
];

/// The product of the multipliers, which is real.
fn product(orbit: &Value) -> f64 {
    let factors = orbit["multipliers"].as_array().unwrap().iter().map(|z| (number(&z[0]), number(&z[1])));
    factors.fold((1.0, 0.0), |(a, b), (c, d)| (a * c - b * d, a * d + b * c)).0
}

fn special(branch: &Value, kind: &str, parameter: &str) -> f64 {
    let found = branch["special"].as_array().unwrap().iter().find(|s| s["kind"] == kind);
    number(&found.unwrap_or_else(|| panic!("no {kind} in {}", branch["special"]))[parameter])
}

/// The force at which orbits with one impact per period of the impact oscillator of the gallery begin.
fn fold() -> f64 {
    let (zeta, omega, e) = (0.05_f64, 1.6_f64, 0.8_f64);
    let t = 2.0 * PI / omega;
    let (decay, own) = ((-zeta * t).exp(), (1.0 - zeta * zeta).sqrt());
    let (s, c) = (own * t).sin_cos();
    let r = (1.0 - decay * c) / (decay * s);
    let bend = decay * own * (r * c - s);
    let rho = (bend - own * r) / (1.0 + e) + zeta - bend;
    rho.abs() / omega.hypot(rho) * (1.0 - omega * omega).hypot(2.0 * zeta * omega)
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

fn impact(motion: &Value, k: usize) -> f64 {
    number(&motion["impacts"][k]["time"])
}

fn last(motion: &Value, kind: &str, name: &str) -> f64 {
    *numbers(&motion[kind][name]).last().unwrap()
}

/// √(1/g) K(sin(θ₀/2)) by the arithmetic-geometric mean.
fn quarter_period(angle: f64, g: f64) -> f64 {
    let (mut a, mut b) = (1.0, (angle / 2.0_f64).cos());
    for _ in 0..10 {
        (a, b) = ((a + b) / 2.0, (a * b).sqrt());
    }
    PI / (2.0 * a * f64::sqrt(g))
}

/// To the frame of a mirror at 0.3 c, reflect, and back.
fn boosted_mirror() -> (f64, f64) {
    let (u, vx, vy) = (0.3_f64, -0.6, 0.2);
    let gamma = 1.0 / (1.0 - u * u).sqrt();
    let (wx, wy) = (-(vx - u) / (1.0 - vx * u), vy / (gamma * (1.0 - vx * u)));
    ((wx + u) / (1.0 + wx * u), wy / (gamma * (1.0 + wx * u)))
}

/// The argument as a shell takes it.
fn quoted(argument: &str) -> String {
    if argument.contains(['\'', ' ']) { format!("\"{argument}\"") } else { argument.to_owned() }
}

/// As many digits as the tolerance leaves.
fn shown(x: f64, tolerance: f64) -> String {
    if x.fract() == 0.0 && tolerance < 1e-14 {
        return format!("{x}");
    }
    let digits = (-tolerance.log10()).floor() as usize;
    format!("{x:.digits$}").replace('-', "−")
}

fn rows(page: &mut String, title: &str, references: &[Reference]) {
    _ = write!(
        page,
        "\n## {title}\n\n| quantity | reference | source | carom | agrees to | command |\n|---|---|---|---|---|---|\n"
    );
    for r in references {
        let mut arguments = if INSIGHT.contains(&r.arguments[0]) { vec![] } else { vec!["run"] };
        arguments.extend(r.arguments);
        arguments.push("--json");
        let ended = carom(&arguments);
        assert!([0, 2].contains(&ended.code), "{}: {}", r.what, ended.stderr);
        let (ours, value) = ((r.quantity)(&ended.json()), (r.value)());
        let off = (ours - value).abs() / value.abs().max(1.0);
        assert!(off <= r.tolerance, "{}: {ours:?} instead of {value:?}, off by {off:e}", r.what);
        let command: Vec<String> = arguments.iter().map(|a| quoted(a)).collect();
        _ = writeln!(
            page,
            "| {} | {} | {} | {} | {:e} | `carom {}` |",
            r.what,
            shown(value, r.tolerance),
            r.source,
            shown(ours, r.tolerance),
            r.tolerance,
            command.join(" ")
        );
    }
}

fn twins(page: &mut String) {
    *page += "\n## Two formulations of one system\n\nThe largest difference of any coordinate over all samples, relative to its range.\n\n\
              | model | the same, formulated differently | differ by less than |\n|---|---|---|\n";
    for (one, other, tolerance) in TWINS {
        let (a, b) = (
            carom(&["run", one, "--json"]).expect(0).json(),
            carom(&["run", other, "--json"]).expect(0).json(),
        );
        for (name, values) in a["position"].as_object().unwrap() {
            let (x, y) = (numbers(values), numbers(&b["position"][name]));
            let range =
                x.iter().copied().fold(f64::MIN, f64::max) - x.iter().copied().fold(f64::MAX, f64::min);
            let off = x.iter().zip(&y).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max) / range;
            assert!(x.len() == y.len() && off <= *tolerance, "{one}, {other}: {name} differs by {off:e}");
        }
        _ = writeln!(page, "| `{one}` | `{other}` | {tolerance:e} |");
    }
}

#[test]
fn published_values_and_closed_forms_are_met_and_the_page_says_so() {
    let mut page = String::from(
        "# Validation\n\nWhat is known from elsewhere, and what carom gives: each line can be repeated with its command (the number is in the JSON). \
         The page is written by a test that also checks it; “agrees to” is the bound of that test, relative where the value exceeds 1. It is set by how \
         much the quantity amplifies rounding: chaos costs digits, whoever computes.\n",
    );
    rows(&mut page, "Closed forms", CLOSED);
    rows(&mut page, "Published values", PUBLISHED);
    rows(&mut page, "Computed by others", COMPUTED);
    rows(&mut page, "Orbits, branches, exponents", ORBITS);
    twins(&mut page);
    page += "\nMore is compared with closed forms and other programs in tests that bring models of their own: `crates/carom-run/tests` and \
             `crates/carom-mech/tests` say so in their names, and `benches/peers` runs heyoka, SciPy and diffsol side by side.\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/book/src/validation.md");
    if std::env::var_os("CAROM_BLESS").is_some() {
        fs::write(path, page).unwrap();
        return;
    }
    let old = fs::read_to_string(path).unwrap_or_default();
    assert!(
        old == page,
        "docs/book/src/validation.md is stale; CAROM_BLESS=1 cargo test -p carom-cli --test validation writes it"
    );
}
