//! Billiards with a piecewise rim, against a billiard map written here: rays, circles and lines, no equations of motion.

mod common;

use carom_mech::Start;
use carom_run::{Options, Program, simulate};

#[path = "../../../tests/gallery.rs"]
mod gallery;

/// Rounding grows like e^{λ t}, λ = 0.43 on the stadium (R = a = 1); over short times by up to the curvature 2/R at every impact.
const GROWTH: f64 = 0.8;

/// The next impact of the ray (x, y) + s (u, v) in the stadium |x| ≤ a, |y| ≤ R with half circles of radius R about (±a, 0):
/// time, place, velocity after.
fn next(a: f64, r: f64, [x, y]: [f64; 2], [u, v]: [f64; 2]) -> (f64, [f64; 2], [f64; 2]) {
    // Straight part first; beyond it the circle on that side.
    let s = if v != 0.0 { (r * v.signum() - y) / v } else { f64::INFINITY };
    let at = x + s * u;
    if at.abs() <= a {
        return (s, [at, r * v.signum()], [u, -v]);
    }
    let centre = if s.is_finite() { a * at.signum() } else { a * u.signum() };
    // |d + s w|² = R² with d = position − centre; the larger root is the way out. Stable: c = (|d| − R)(|d| + R).
    let d = [x - centre, y];
    let (w2, b, c) = (u * u + v * v, d[0] * u + d[1] * v, d[0] * d[0] + d[1] * d[1] - r * r);
    let root = (b * b - w2 * c).max(0.0).sqrt();
    let s = if b < 0.0 { (root - b) / w2 } else { -c / (root + b) };
    let (s, n) = {
        let s = if s > 0.0 { s } else { (root - b) / w2 };
        (s, [(d[0] + s * u) / r, (d[1] + s * v) / r])
    };
    let along = n[0] * u + n[1] * v;
    (s, [centre + r * n[0], r * n[1]], [u - 2.0 * along * n[0], v - 2.0 * along * n[1]])
}

fn stadium() -> (Program, Options) {
    common::program(&gallery::text("stadium_billiard"))
}

#[test]
fn impacts_in_the_stadium_are_those_of_the_billiard_map() {
    let (program, options) = stadium();
    let mut compared = 0;
    for i in 0..40 {
        let angle = 0.05 + 0.157 * f64::from(i);
        let (mut at, mut v) = (
            [0.9 * (1.3 * f64::from(i)).sin(), 0.4 * (0.7 * f64::from(i)).cos()],
            [angle.cos(), angle.sin()],
        );
        let mut options = options.clone();
        options.start = Start {
            position: at.map(Some).to_vec(),
            velocity: v.map(Some).to_vec(),
            ..options.start.clone()
        };
        options.until = 30.0;
        let motion = simulate(&program, &options).unwrap();
        assert_eq!(motion.stop.reason.name(), "reached");
        let mut t = 0.0;
        for impact in &motion.impacts {
            let (s, place, after) = next(1.0, 1.0, at, v);
            t += s;
            let allowed = 1e-14 * (GROWTH * t).exp();
            let off = |a: f64, b: f64, what: &str| {
                assert!(
                    (a - b).abs() <= allowed,
                    "start {i}, t = {t}: {what} {a} is not {b}, allowed {allowed:e}"
                );
            };
            off(impact.time, t, "time");
            for k in 0..2 {
                off(impact.position[k], place[k], "position");
                off(impact.velocity_after[k], after[k], "velocity");
            }
            (at, v) = (place, after);
            compared += 1;
        }
        assert!(next(1.0, 1.0, at, v).0 + t >= 30.0, "start {i}: an impact is missing");
    }
    assert!(compared > 500, "{compared}");
}

#[test]
fn motion_along_a_switching_surface_bounces_like_any_other() {
    let (program, options) = stadium();
    // x = 0 and x = ±1 are switching surfaces of abs(x) and of max; x = 1.5 hits the half circle first.
    for (x, period) in [(0.0, 2.0), (1.0, 2.0), (-1.0, 2.0), (0.5, 2.0)] {
        let mut options = options.clone();
        options.start = Start {
            position: vec![Some(x), Some(0.0)],
            velocity: vec![Some(0.0), Some(1.0)],
            ..options.start.clone()
        };
        options.until = 10.5;
        let motion = simulate(&program, &options).unwrap();
        let times: Vec<f64> = motion.impacts.iter().map(|i| i.time).collect();
        assert_eq!(times.len(), 5, "x = {x}: {times:?}");
        for (k, t) in times.iter().enumerate() {
            common::close(*t, 1.0 + period * k as f64, 1e-14);
        }
    }
}

#[test]
fn a_bead_rests_and_slides_across_the_seam_of_a_piecewise_bowl() {
    // Flat between ±1, parabolic beyond: from rest at the height 0.5 the bead falls onto the slope (e = 0), slides down to the flat
    // part and crosses it in contact. On the flat part the contact force is the weight, and the speed is constant.
    let motion = common::run(
        "coordinates = [\"x\", \"y\"]\n[parameters]\ng = 10\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"g*y\"\n\
         [wall.floor]\ngap = \"y - max(abs(x) - 1, 0)^2\"\nrestitution = 0\n[start]\nposition = { x = 2, y = 1 }\n[run]\nuntil = 0.9\nsamples = 301\n",
    );
    assert_eq!(motion.stop.reason.name(), "reached", "{:?}", motion.stop);
    let (x, y) = (common::signal(&motion.position, "x"), common::signal(&motion.position, "y"));
    let (u, v) = (common::signal(&motion.velocity, "x"), common::signal(&motion.velocity, "y"));
    let force = common::signal(&motion.contact_force, "floor");
    let mut flat = 0;
    for i in 0..x.len() {
        let floor = (x[i].abs() - 1.0).max(0.0).powi(2);
        common::close(y[i], floor, 1e-12);
        common::close(0.5 * (u[i] * u[i] + v[i] * v[i]) + 10.0 * y[i], 10.0, 1e-11);
        if x[i].abs() < 0.999 {
            common::close(force[i], 10.0, 1e-10);
            common::close(u[i].abs(), 20f64.sqrt(), 1e-11);
            flat += 1;
        }
    }
    assert!(flat > 10, "{flat}");
}
