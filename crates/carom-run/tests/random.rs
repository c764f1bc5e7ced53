//! Random models: the laws hold at every impact, whatever the metric, walls and constraints.

mod common;

use carom_run::{Motion, StopReason};
use common::run;
use proptest::prelude::*;

/// A random positive definite W(q) through T = ½ Σ (row·v)², rows with random functions of q.
fn kinetic(c: &[f64]) -> String {
    format!(
        "((1.2 + {:.3}*sin(x))*x' + {:.3}*y')^2/2 + ((1.1 + {:.3}*cos(y))*y' + {:.3}*x*z')^2/2 + (1 + {:.3}*sin(x*y))*z'^2/2",
        c[0] * 0.5,
        c[1],
        c[2] * 0.5,
        c[3],
        c[4] * 0.5
    )
}

struct Case {
    text: String,
    walls: usize,
}

fn case(c: &[f64], constrained: bool, restitution: f64, order: &str) -> Case {
    let row = if constrained {
        format!("[nonholonomic]\nrow = \"z' + {:.3}*y*x' + {:.3}*y' + {:.3}\"\n", c[5], c[6], 0.3 * c[7])
    } else {
        String::new()
    };
    let text = format!(
        "coordinates = [\"x\", \"y\", \"z\"]\n[energy]\nkinetic = \"{}\"\npotential = \"0.5*(x^2 + y^2 + z^2) + {:.3}*x*y\"\n{row}\
         [wall.a]\ngap = \"0.7 - x + {:.3}*y + 0.1*sin(2*t)\"\nrestitution = {restitution}\n\
         [wall.b]\ngap = \"0.8 + x - {:.3}*z^2\"\nrestitution = {restitution}\n\
         [wall.c]\ngap = \"0.9 - y - {:.3}*x - 0.1*cos(3*t)\"\nrestitution = {restitution}\n\
         [start]\nvelocity = {{ x = {:.3}, y = {:.3} }}\n[run]\nuntil = 6.0\nimpact_order = \"{order}\"\nsamples = 3\n",
        kinetic(c),
        0.5 * c[8],
        0.4 * c[9],
        0.4 * c[10],
        0.4 * c[11],
        1.5 + c[12],
        c[13]
    );
    Case { text, walls: 3 }
}

fn laws_hold(motion: &Motion, restitution: f64, walls: usize) -> Result<(), TestCaseError> {
    prop_assert!(motion.stop.reason == StopReason::Reached, "{:?}", motion.stop);
    // [p] ∈ span(n, Aᵀ) and [E] = what the law allows: the audit compares both, with p and E evaluated on each side.
    prop_assert!(motion.audit.impact_law_residual < 1e-13, "{:?}", motion.audit);
    prop_assert!(motion.audit.hamiltonian_drift < 1e-12, "{:?}", motion.audit);
    prop_assert!(motion.audit.constraint_drift < 1e-13, "{:?}", motion.audit);
    prop_assert!(motion.audit.deepest_penetration < 1e-13, "{:?}", motion.audit);
    for impact in &motion.impacts {
        prop_assert!(!impact.walls.is_empty() && impact.walls.iter().all(|w| *w < walls));
        for k in 0..impact.walls.len() {
            prop_assert!(impact.impulse[k] > 0.0);
            prop_assert!(impact.gap_rate_before[k] < 0.0 || impact.walls.len() > 1);
            if impact.walls.len() == 1 {
                let (before, after) = (impact.gap_rate_before[k], impact.gap_rate_after[k]);
                prop_assert!(
                    (after + restitution * before).abs() < 1e-12 * (1.0 + before.abs()),
                    "{before} {after}"
                );
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn random_models_obey_the_impact_law(
        c in prop::collection::vec(-1.0f64..1.0, 14), constrained in any::<bool>(),
        restitution in prop_oneof![Just(1.0), 0.3f64..0.95], sequential in any::<bool>(),
    ) {
        let order = if sequential { "sequential" } else { "simultaneous" };
        let case = case(&c, constrained, restitution, order);
        let motion = run(&case.text);
        laws_hold(&motion, restitution, case.walls)?;
    }

    /// Three coordinates thrown into a corner of three random walls, in a random constant metric: start on all of them.
    #[test]
    fn random_corners_obey_their_complementarity_conditions(
        w in prop::collection::vec(-0.6f64..0.6, 3), n in prop::collection::vec(-1.0f64..1.0, 9), v in prop::collection::vec(-1.0f64..1.0, 3),
        restitution in prop_oneof![Just(1.0), Just(0.0), 0.3f64..0.95], sequential in any::<bool>(),
    ) {
        // Three equally random normals, kept independent by a diagonal.
        let normals: Vec<[f64; 3]> = (0..3).map(|i| std::array::from_fn(|j| 0.4 * n[3 * i + j] + f64::from(u8::from(i == j)))).collect();
        let rate = |i: usize, v: &[f64]| (0..3).map(|j| normals[i][j] * v[j]).sum::<f64>();
        let velocity: Vec<f64> = v.iter().map(|x| x - 1.0).collect();
        let mut text = format!(
            "coordinates = [\"x\", \"y\", \"z\"]\n[energy]\nkinetic = \"(x'^2 + y'^2 + z'^2)/2 + {:e}*x'*y' + {:e}*y'*z' + {:e}*x'*z'\"\npotential = \"0\"\n",
            0.6 * w[0], 0.6 * w[1], 0.6 * w[2]
        );
        for (name, [a, b, c]) in ["a", "b", "c"].iter().zip(&normals) {
            text += &format!("[wall.{name}]\ngap = \"{a:e}*x + {b:e}*y + {c:e}*z\"\nrestitution = {restitution}\n");
        }
        let order = if sequential { "sequential" } else { "simultaneous" };
        text += &format!(
            "[start]\nvelocity = {{ x = {:e}, y = {:e}, z = {:e} }}\n[run]\nuntil = 1e-3\nsamples = 2\nimpact_order = \"{order}\"\n",
            velocity[0], velocity[1], velocity[2]
        );
        let motion = run(&text);
        let approaching = (0..3).any(|i| rate(i, &velocity) < -1e-9);
        prop_assert_eq!(motion.impacts.is_empty(), !approaching);
        let Some(last) = motion.impacts.last() else { return Ok(()) };
        // Whatever the rule: nothing approaches afterwards, and [p] is a combination of the struck normals (the audit).
        prop_assert!((0..3).all(|i| rate(i, &last.velocity_after) > -1e-7), "{:?}", last);
        prop_assert!(motion.audit.impact_law_residual < 1e-13, "{:?}", motion.audit);
        for hit in &motion.impacts {
            prop_assert!(hit.impulse.iter().all(|l| *l > 0.0));
            let moreau = |i: usize| rate(i, &hit.velocity_after) + restitution * rate(i, &hit.velocity_before).min(0.0);
            let separating = (0..3).any(|i| rate(i, &hit.velocity_before) > 1e-12);
            if sequential && hit.walls.len() == 1 {
                prop_assert!(moreau(hit.walls[0]).abs() < 1e-12);
            } else if !separating {
                // One pass: 0 ≤ λᵢ ⊥ φ̇ᵢ⁺ + e φ̇ᵢ⁻ ≥ 0 for all three. Where a wall separates there may be several.
                for i in 0..3 {
                    let slack = moreau(i);
                    prop_assert!(if hit.walls.contains(&i) { slack.abs() < 1e-12 } else { slack > -1e-12 }, "{i} {slack} {hit:?}");
                }
            }
            // The energy never rises, and is kept at e = 1.
            let gained = (hit.hamiltonian_after - hit.hamiltonian_before) / (1.0 + hit.hamiltonian_before);
            prop_assert!(gained < 1e-13 && (restitution < 1.0 || gained > -1e-13), "{gained:e} {hit:?}");
        }
    }

    /// The same motion in coordinates mixed by a random affine map.
    #[test]
    fn a_change_of_coordinates_changes_nothing(
        m in prop::collection::vec(-0.4f64..0.4, 4), shift in prop::collection::vec(-1.0f64..1.0, 2), v in prop::collection::vec(-1.0f64..1.0, 2),
    ) {
        // x = u + m0 u + m1 w + m2 sin u …, kept invertible by small coefficients.
        let walls = "[wall.floor]\ngap = \"Y - 0.2*sin(X)\"\n[wall.side]\ngap = \"1.5 - X\"\n[wall.other]\ngap = \"1.5 + X - 0.1*Y\"\n[run]\nuntil = 4.0\n[output]\nox = \"X\"\noy = \"Y\"\n";
        let energy = "[energy]\nkinetic = \"(X'^2 + Y'^2)/2\"\npotential = \"9.81*Y\"\n";
        let plain = format!("coordinates = [\"x\", \"y\"]\n[define]\nX = \"x\"\nY = \"y\"\n{energy}{walls}[start]\nposition = {{ y = 1.0 }}\nvelocity = {{ x = {:e}, y = {:e} }}\n", v[0], v[1]);
        // X = (1 + a) u + b w + s, Y = c u + (1 + d) w + r; start and velocity by the inverse.
        let (a, b, c, d) = (1.0 + m[0], m[1], m[2], 1.0 + m[3]);
        let det = a * d - b * c;
        let inverse = |x: f64, y: f64| ((d * x - b * y) / det, (a * y - c * x) / det);
        let (u, w) = inverse(-shift[0], 1.0 - shift[1]);
        let (du, dw) = inverse(v[0], v[1]);
        let mixed = format!("coordinates = [\"u\", \"w\"]\n[define]\nX = \"{a:e}*u + {b:e}*w + {:e}\"\nY = \"{c:e}*u + {d:e}*w + {:e}\"\n{energy}{walls}[start]\nposition = {{ u = {u:e}, w = {w:e} }}\nvelocity = {{ u = {du:e}, w = {dw:e} }}\n", shift[0], shift[1]);
        let (p, q) = (run(&plain), run(&mixed));
        // Bounces on the sine amplify; compare while both agree on what was hit and rounding has not grown.
        let common = p.impacts.len().min(q.impacts.len()).min(3);
        for k in 0..common {
            prop_assert_eq!(&p.impacts[k].walls, &q.impacts[k].walls);
            prop_assert!((p.impacts[k].time - q.impacts[k].time).abs() < 1e-11, "{} {}", p.impacts[k].time, q.impacts[k].time);
            prop_assert!((p.impacts[k].impulse[0] - q.impacts[k].impulse[0]).abs() < 1e-10);
        }
    }

    /// Random convex H(q, p): the root exists, is unique, and keeps H, for fixed walls, from head-on to nearly grazing.
    #[test]
    fn random_convex_hamiltonians_have_one_impact_root(
        c in prop::collection::vec(0.1f64..1.0, 6), angle in 0.0f64..3.1, grazing in -8.0f64..0.0, speed in 0.2f64..3.0,
    ) {
        let (s, n) = (angle.sin(), angle.cos());
        // Towards the wall a x + b y = 0 by `inward`, along it by `speed`.
        let inward = 10f64.powf(grazing) * speed;
        let h = format!("{:.3}*px^2 + {:.3}*py^2 + {:.3}*px*py/2 + {:.3}*px^4/4 + {:.3}*py^4/4 + sqrt(1 + px^2 + {:.3}*py^2)", c[0] + 0.5, c[1] + 0.5, c[2], c[3], c[4], c[5]);
        // Momentum along the wall's tangent would not give a velocity along it; start from the momentum and ask for a hit.
        let (px, py) = (-inward * s - speed * n, inward * n - speed * s);
        let text = format!("coordinates = [\"x\", \"y\"]\nmomenta = [\"px\", \"py\"]\nhamiltonian = \"{h}\"\n[wall.w]\ngap = \"{s:e}*x + {:e}*y\"\n[start]\nmomentum = {{ px = {px:e}, py = {py:e} }}\n[run]\nuntil = 0.5\n", -n);
        let motion = run(&text);
        prop_assert!(motion.impacts.len() <= 1);
        if let Some(hit) = motion.impacts.first() {
            prop_assert!(hit.impulse[0] > 0.0 && hit.gap_rate_before[0] < 0.0 && hit.gap_rate_after[0] > 0.0);
            let scale = hit.hamiltonian_before.abs();
            prop_assert!((hit.hamiltonian_after - hit.hamiltonian_before).abs() < 1e-14 * scale);
        }
    }
}
