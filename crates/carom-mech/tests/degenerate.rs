//! Degenerate Lagrangians: hidden constraints, contradictions, gauge freedom.
#![allow(clippy::needless_range_loop)]

mod support;

use carom_mech::{DegenerateDynamics, Dynamics, Mechanics, RowKind, derive};
use support::{formula, lagrangian, row, value};

fn degenerate(mechanics: &Mechanics) -> &DegenerateDynamics {
    match &mechanics.dynamics {
        Dynamics::Degenerate(d) => d,
        other => panic!("expected a degenerate model, got {other:?}"),
    }
}

/// Solves the rows M [a; μ] = r by normal equations at a state that satisfies the conditions.
fn accelerations(mechanics: &Mechanics, at: &[(&str, f64)]) -> Vec<f64> {
    let d = degenerate(mechanics);
    let get = |e| value(&mechanics.model, e, at);
    for c in &d.conditions {
        assert!(get(c.expr).abs() < 1e-12, "{} is {}", c.name, get(c.expr));
    }
    let m: Vec<Vec<f64>> = d.matrix.iter().map(|row| row.iter().map(|&e| get(e)).collect()).collect();
    let r: Vec<f64> = d.right_side.iter().map(|&e| get(e)).collect();
    let n = m[0].len();
    let mut k = vec![vec![0.0; n + 1]; n];
    for i in 0..n {
        for j in 0..n {
            k[i][j] = m.iter().map(|row| row[i] * row[j]).sum();
        }
        k[i][n] = m.iter().zip(&r).map(|(row, r)| row[i] * r).sum();
    }
    for i in 0..n {
        let p = (i..n).max_by(|&a, &b| k[a][i].abs().total_cmp(&k[b][i].abs())).unwrap();
        k.swap(i, p);
        for j in 0..n {
            if j != i {
                let f = k[j][i] / k[i][i];
                for c in i..=n {
                    let x = k[i][c];
                    k[j][c] -= f * x;
                }
            }
        }
    }
    (0..n).map(|i| k[i][n] / k[i][i]).collect()
}

#[test]
fn a_massless_node_follows_its_equilibrium() {
    let m = lagrangian(
        &["x", "s"],
        &[("m", 2.0), ("k1", 3.0), ("k2", 2.0)],
        "m/2*x'^2 - k1/2*s^2 - k2/2*(x - s)^2",
    );
    let mechanics = derive(m).unwrap();
    let d = degenerate(&mechanics);
    assert_eq!(d.conditions.len(), 2);
    assert!(d.conditions[0].name.contains("row of s"), "{}", d.conditions[0].name);
    // s = k2 x/(k1 + k2); m x″ = −k1 k2/(k1 + k2) x
    let (x, v) = (0.7, -0.3);
    let a = accelerations(&mechanics, &[("x", x), ("x'", v), ("s", 0.4 * x), ("s'", 0.4 * v), ("t", 0.0)]);
    let expected = -1.2 * x / 2.0;
    assert!((a[0] - expected).abs() < 1e-12 && (a[1] - 0.4 * expected).abs() < 1e-12, "{a:?}");
}

#[test]
fn a_vortex_pair_moves_by_its_first_order_equations() {
    // Γᵢ xᵢ′ = ∂H/∂yᵢ, Γᵢ yᵢ′ = −∂H/∂xᵢ
    let m = lagrangian(
        &["x1", "y1", "x2", "y2"],
        &[("G1", 1.0), ("G2", 2.0)],
        "(G1*(y1*x1' - x1*y1') + G2*(y2*x2' - x2*y2'))/2 + G1*G2*log((x1-x2)^2 + (y1-y2)^2)/(4*pi)",
    );
    let mut m = m;
    m.start.position = vec![Some(-0.5), Some(0.0), Some(0.5), Some(0.0)];
    let mechanics = derive(m).unwrap();
    let d = degenerate(&mechanics);
    assert_eq!(d.conditions.len(), 4);
    // The pair turns about its centre of vorticity at rate (Γ₁ + Γ₂)/(2π d²): velocities and accelerations follow.
    let rate = 3.0 / (2.0 * std::f64::consts::PI);
    let centre = (-0.5 + 2.0 * 0.5) / 3.0;
    let (r1, r2) = (-0.5 - centre, 0.5 - centre);
    let at = [
        ("x1", -0.5),
        ("y1", 0.0),
        ("x2", 0.5),
        ("y2", 0.0),
        ("x1'", 0.0),
        ("y1'", rate * r1),
        ("x2'", 0.0),
        ("y2'", rate * r2),
        ("t", 0.0),
    ];
    let sign = if value(&mechanics.model, d.conditions[0].expr, &at).abs() < 1e-12 { 1.0 } else { -1.0 };
    let at: Vec<(&str, f64)> =
        at.iter().map(|&(n, x)| if n.ends_with('\'') { (n, sign * x) } else { (n, x) }).collect();
    let a = accelerations(&mechanics, &at);
    for (a, expected) in a.iter().zip([-rate * rate * r1, 0.0, -rate * rate * r2, 0.0]) {
        assert!((a - expected).abs() < 1e-12, "{a} {expected}");
    }
}

#[test]
fn the_phase_space_lagrangian_of_the_pendulum_is_the_pendulum() {
    let m = lagrangian(&["q", "p"], &[("g", 9.81)], "p*q' - p^2/2 + g*cos(q)");
    let mechanics = derive(m).unwrap();
    let (q, p): (f64, f64) = (0.4, 1.1);
    let force = -9.81 * q.sin();
    let a = accelerations(&mechanics, &[("q", q), ("p", p), ("q'", p), ("p'", force), ("t", 0.0)]);
    assert!((a[0] - force).abs() < 1e-12 && (a[1] + 9.81 * q.cos() * p).abs() < 1e-12, "{a:?}");
}

#[test]
fn a_linear_potential_on_a_massless_coordinate_is_a_contradiction() {
    let problems = derive(lagrangian(&["x", "s"], &[], "x'^2/2 + s")).unwrap_err();
    assert!(
        problems[0].message.contains("contradict") && problems[0].message.contains("row of s"),
        "{problems:?}"
    );
}

#[test]
fn a_time_dependent_pull_on_a_massless_coordinate_is_a_contradiction() {
    let problems = derive(lagrangian(&["x", "s"], &[], "x'^2/2 + s*cos(t)")).unwrap_err();
    assert!(problems[0].message.contains("contradict"), "{problems:?}");
}

#[test]
fn an_undetermined_difference_is_gauge_freedom() {
    let problems = derive(lagrangian(&["x", "y"], &[], "(x' + y')^2/2 - (x + y)^2/2")).unwrap_err();
    assert!(problems[0].message.contains("gauge") && problems[0].message.contains("x − y"), "{problems:?}");
}

#[test]
fn a_row_that_fixes_the_gauge_makes_the_model_regular() {
    let mut m = lagrangian(&["x", "y"], &[], "(x' + y')^2/2 - (x + y)^2/2");
    let c = formula(&mut m, "x - y");
    row(&mut m, "fix", RowKind::Holonomic, c);
    assert!(matches!(derive(m).unwrap().dynamics, Dynamics::Lagrangian(_)));
}

#[test]
fn hidden_constraints_are_found_through_several_derivatives() {
    // A multiplier as coordinate: L = (x′² + y′²)/2 − g y − z (x² + y² − 1)/2 is the pendulum, z its tension.
    let mut m = lagrangian(&["x", "y", "z"], &[("g", 9.81)], "(x'^2 + y'^2)/2 - g*y - z*(x^2 + y^2 - 1)/2");
    m.start.position = vec![Some(0.6), Some(-0.8), Some(1.0)];
    let mechanics = derive(m).unwrap();
    let d = degenerate(&mechanics);
    // c, ċ, c̈ (fixes z) and its rate (fixes z′)
    assert_eq!(d.conditions.len(), 4);
    // tension: z = |v|² − g y, z′ = 2 v·a − g y′ = −3 g y′
    let (x, y, w): (f64, f64, f64) = (0.6, -0.8, 1.3);
    let (vx, vy) = (-y * w, x * w);
    let z = w * w - 9.81 * y;
    let at = [("x", x), ("y", y), ("z", z), ("x'", vx), ("y'", vy), ("z'", -3.0 * 9.81 * vy), ("t", 0.0)];
    let a = accelerations(&mechanics, &at);
    assert!((a[0] + z * x).abs() < 1e-11 && (a[1] + 9.81 + z * y).abs() < 1e-11, "{a:?}");
    assert!((a[2] + 3.0 * 9.81 * a[1]).abs() < 1e-10, "{a:?}");
}

#[test]
fn a_unit_quaternion_is_regular_on_its_constraint() {
    let (w1, w2, w3) =
        ("(q0*a' - a*q0' - b*c' + c*b')", "(q0*b' - b*q0' - c*a' + a*c')", "(q0*c' - c*q0' - a*b' + b*a')");
    let mut m = lagrangian(&["q0", "a", "b", "c"], &[], &format!("2*{w1}^2 + 4*{w2}^2 + 6*{w3}^2"));
    let c = formula(&mut m, "q0^2 + a^2 + b^2 + c^2 - 1");
    row(&mut m, "norm", RowKind::Holonomic, c);
    m.start.position[0] = Some(1.0);
    let Dynamics::Lagrangian(l) = derive(m).unwrap().dynamics else { panic!("regular") };
    assert_eq!(l.augmentation_rows, [0], "the norm stands in for the direction without inertia");
}

#[test]
fn only_rows_that_carry_what_has_no_inertia_are_supports() {
    // The rod holds two masses, the carriage has none and rides on the first.
    let mut m = lagrangian(&["x", "y", "s"], &[], "x'^2/2 + y'^2/2 - 9.81*y");
    for (name, text) in [("rod", "x^2 + y^2 - 1"), ("carriage", "s - 2*x")] {
        let c = formula(&mut m, text);
        row(&mut m, name, RowKind::Holonomic, c);
    }
    m.start.position = vec![Some(0.6), Some(-0.8), Some(1.2)];
    let Dynamics::Lagrangian(l) = derive(m).unwrap().dynamics else { panic!("regular") };
    assert_eq!(l.augmentation_rows, [1]);
}

/// Polynomials in s as coefficient lists.
fn times(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; a.len() + b.len() - 1];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            out[i + j] += x * y;
        }
    }
    out
}

/// det of a 3×3 matrix of quadratic polynomials, and its degree (`None` when it is zero).
fn degree_of_determinant(m: &[[[f64; 3]; 3]; 3]) -> Option<usize> {
    let mut total = [0.0; 7];
    for (p, sign) in [
        ([0, 1, 2], 1.0),
        ([1, 2, 0], 1.0),
        ([2, 0, 1], 1.0),
        ([0, 2, 1], -1.0),
        ([1, 0, 2], -1.0),
        ([2, 1, 0], -1.0),
    ] {
        let product = times(&times(&m[0][p[0]], &m[1][p[1]]), &m[2][p[2]]);
        for (t, x) in total.iter_mut().zip(product) {
            *t += sign * x;
        }
    }
    // entries are small whole numbers, so this is exact
    total.iter().rposition(|x| *x != 0.0)
}

#[test]
fn linear_models_have_as_many_conditions_as_their_matrix_pencil_lacks_degrees() {
    // L = ½ v·M v + v·B x − ½ x·K x has motions e^{st} with det(s²M + s(B − Bᵀ) + K) = 0. Each degree that the
    // determinant lacks is one condition; one that vanishes identically leaves the motion undetermined.
    let mut seed = 12345u64;
    let mut small = |range: i64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((seed >> 33) as i64).rem_euclid(2 * range + 1) - range
    };
    let names = ["x", "y", "z"];
    let (mut regular, mut degenerate, mut refused) = (0, 0, 0);
    for _ in 0..200 {
        // M and K of low rank: sums of squares with signs
        let mut text = String::from("0");
        let (mut m, mut k, mut b) = ([[0i64; 3]; 3], [[0i64; 3]; 3], [[0i64; 3]; 3]);
        for matrix in [&mut m, &mut k] {
            for _ in 0..small(2) + 2 {
                let (w, sign) = ([small(1), small(1), small(1)], if small(1) < 0 { -1 } else { 1 });
                for i in 0..3 {
                    for j in 0..3 {
                        matrix[i][j] += sign * w[i] * w[j];
                    }
                }
            }
        }
        b[0][1] = small(1);
        b[1][2] = small(1);
        for i in 0..3 {
            for j in 0..3 {
                let (x, y) = (names[i], names[j]);
                text +=
                    &format!(" + {}/2*{x}'*{y}' + ({})*{x}'*{y} - ({})/2*{x}*{y}", m[i][j], b[i][j], k[i][j]);
            }
        }
        let text = text.replace("+ -", "- ");
        let mut pencil = [[[0.0; 3]; 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                pencil[i][j] = [k[i][j] as f64, (b[i][j] - b[j][i]) as f64, m[i][j] as f64];
            }
        }
        match (degree_of_determinant(&pencil), derive(lagrangian(&names, &[], &text))) {
            (Some(6), Ok(mechanics)) => {
                assert!(matches!(mechanics.dynamics, Dynamics::Lagrangian(_)), "{text}");
                regular += 1;
            }
            (Some(degree), Ok(mechanics)) => {
                assert_eq!(degenerate_conditions(&mechanics), 6 - degree, "{text}");
                degenerate += 1;
            }
            (None, Err(problems)) => {
                assert!(problems[0].message.contains("gauge"), "{text}: {problems:?}");
                refused += 1;
            }
            (degree, Ok(_)) => panic!("{text}: determinant of degree {degree:?} but derived"),
            (degree, Err(problems)) => panic!("{text}: determinant of degree {degree:?} but {problems:?}"),
        }
    }
    assert!(regular > 5 && degenerate > 20 && refused > 10, "{regular} {degenerate} {refused}");
}

fn degenerate_conditions(mechanics: &Mechanics) -> usize {
    degenerate(mechanics).conditions.len()
}
