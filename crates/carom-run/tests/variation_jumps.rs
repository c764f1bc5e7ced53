//! The first variation where several walls are met at once, where impacts cannot be told apart, and what must hold of it.

mod common;

use carom_run::{
    Direction, Motion, Objective, ObjectiveTerm, Observable, Obstacle, Options, Program, Variation, simulate,
};
use common::{close, program};

/// A motion with its derivatives in these directions.
fn varied(text: &str, directions: &[Direction]) -> (Program, Options, Motion, Variation) {
    let (program, mut options) = program(text);
    options.directions = directions.to_vec();
    let mut motion = simulate(&program, &options).unwrap();
    let variation = motion.variation.take().unwrap();
    (program, options, motion, variation)
}

const STARTS: [Direction; 4] =
    [Direction::Coordinate(0), Direction::Coordinate(1), Direction::Velocity(0), Direction::Velocity(1)];

/// A free particle flies into the corner of a box at t = 1, then to its right and upper walls. `d` moves the start along the motion.
fn corner(order: &str, left: &str, floor: &str, until: f64) -> String {
    format!(
        "coordinates = [\"x\", \"y\"]\n[parameters]\nd = 0\nm = 1\n[energy]\nkinetic = \"m*(x'^2 + y'^2)/2\"\n[wall.left]\ngap = \"x\"\nrestitution = {left}\n[wall.floor]\ngap = \"y\"\nrestitution = {floor}\n[wall.right]\ngap = \"2 - x\"\n[wall.top]\ngap = \"3 - y\"\n[start]\nposition = {{ x = \"1 + d\", y = \"2 + 2*d\" }}\nvelocity = {{ x = -1, y = -2 }}\n[run]\nimpact_order = \"{order}\"\nuntil = {until}\n"
    )
}

#[test]
fn every_impact_has_its_own_derivatives_when_walls_at_one_instant_are_met_in_sequence() {
    let directions = [&STARTS[..], &[Direction::Parameter(0)]].concat();
    let (_, _, motion, v) = varied(&corner("sequential", "1", "1", 3.5), &directions);
    assert!(v.not_differentiable.is_none(), "{:?}", v.not_differentiable);
    let met: Vec<Vec<usize>> = motion.impacts.iter().map(|i| i.walls.clone()).collect();
    assert_eq!(met.len(), 4, "{met:?}");
    assert_eq!(met[2..], [vec![3], vec![2]]);
    assert_eq!(v.impacts.len(), 4);
    for (impact, found) in motion.impacts.iter().zip(&v.impacts) {
        // τ = −x₀/u, −y₀/w, then −(2 + x₀)/u and −(3 + y₀)/w, by x₀, y₀, u, w and d.
        let expected = match impact.walls[0] {
            0 => [1.0, 0.0, 1.0, 0.0, 1.0],
            1 => [0.0, 0.5, 0.0, 0.5, 1.0],
            2 => [1.0, 0.0, 3.0, 0.0, 1.0],
            _ => [0.0, 0.5, 0.0, 1.25, 1.0],
        };
        found.time.iter().zip(expected).for_each(|(a, b)| close(*a, b, 1e-14));
        assert_eq!(found.impulse.len(), 1);
    }
    // Only after the last impact of an instant there is a state that all orders lead to.
    assert!(v.impacts[0].after.entries.iter().all(|x| x.is_nan()));
    assert!(v.impacts[1].after.entries.iter().all(|x| x.is_finite()));
}

#[test]
fn a_corner_where_both_orders_agree_has_one_sided_derivatives() {
    for (order, left, floor) in
        [("simultaneous", "1", "1"), ("simultaneous", "0.7", "0.9"), ("sequential", "0.7", "0.9")]
    {
        let directions = [&STARTS[..], &[Direction::Restitution(0), Direction::Restitution(1)]].concat();
        let (_, _, motion, v) = varied(&corner(order, left, floor, 2.0), &directions);
        assert!(v.not_differentiable.is_none(), "{:?}", v.not_differentiable);
        let said: Vec<_> = v.one_sided.iter().map(|n| (n.what, n.walls.clone(), n.event)).collect();
        assert_eq!(said, [(Obstacle::SimultaneousImpacts, vec![0, 1], None)]);
        close(v.one_sided[0].time, 1.0, 1e-15);
        assert_eq!(motion.impacts.len(), if order == "simultaneous" { 1 } else { 2 });
        // x = −e u (t − τ), τ = −x₀/u: x = −e (u t + x₀); y likewise.
        let (a, b): (f64, f64) = (left.parse().unwrap(), floor.parse().unwrap());
        let t = 2.0;
        let expected = [
            [-a, 0.0, -a * t, 0.0, t - 1.0, 0.0],
            [0.0, -b, 0.0, -b * t, 0.0, 2.0 * (t - 1.0)],
            [0.0, 0.0, -a, 0.0, 1.0, 0.0],
            [0.0, 0.0, 0.0, -b, 0.0, 2.0],
        ];
        for (i, row) in expected.iter().enumerate() {
            for (j, x) in row.iter().enumerate() {
                close(v.end[(i, j)], *x, 1e-14);
            }
        }
    }
}

#[test]
fn the_time_of_a_joint_impact_has_a_derivative_only_where_its_walls_agree() {
    let directions = [&STARTS[..], &[Direction::Parameter(0), Direction::Parameter(1)]].concat();
    let (_, _, motion, v) = varied(&corner("simultaneous", "1", "1", 2.0), &directions);
    assert_eq!(motion.impacts[0].walls, [0, 1]);
    let time = &v.impacts[0].time;
    assert!(time[..4].iter().all(|x| x.is_nan()), "one wall is met later, the other is not: {time:?}");
    // d moves both, the mass none.
    close(time[4], 1.0, 1e-14);
    close(time[5], 0.0, 1e-14);
    assert!(v.impacts[0].impulse.iter().flatten().all(|x| x.is_nan()));
}

#[test]
fn the_gradient_of_an_impact_time_at_a_corner_is_that_of_its_own_wall() {
    let gradient = |order: &str, wall: usize| {
        let (program, options) = program(&corner(order, "1", "1", 2.0));
        let terms = vec![ObjectiveTerm::ImpactTime { wall, number: 0, weight: 1.0 }];
        let objective = Objective { name: "J".into(), terms, directions: STARTS.to_vec() };
        simulate(&program, &Options { objective: Some(objective), ..options }).unwrap().gradient.unwrap()
    };
    for (wall, expected) in [(0, [1.0, 0.0, 1.0, 0.0]), (1, [0.0, 0.5, 0.0, 0.5])] {
        let found = gradient("sequential", wall);
        assert!(found.not_differentiable.is_none());
        assert!(found.duality.unwrap() < 1e-14);
        found.gradient.iter().zip(expected).for_each(|(a, b)| close(*a, b, 1e-14));
        // One record of both walls has no one time.
        let lost = gradient("simultaneous", wall).not_differentiable.unwrap();
        assert_eq!((lost.what, &lost.walls[..]), (Obstacle::SimultaneousImpacts, &[0, 1][..]));
    }
    // The state at the end has a gradient in both.
    for order in ["sequential", "simultaneous"] {
        let (program, options) = program(&corner(order, "0.7", "0.9", 2.0));
        let terms = vec![ObjectiveTerm::End(Observable::Position(0), 1.0)];
        let objective = Objective { name: "J".into(), terms, directions: STARTS.to_vec() };
        let found =
            simulate(&program, &Options { objective: Some(objective), ..options }).unwrap().gradient.unwrap();
        assert!(found.duality.unwrap() < 1e-14);
        found.gradient.iter().zip([-0.7, 0.0, -1.4, 0.0]).for_each(|(a, b)| close(*a, b, 1e-14));
    }
}

#[test]
fn a_corner_where_the_orders_disagree_has_no_derivative() {
    // The second wall is lifted off by the first, to the bit or by far; the third pair pushes both.
    let gaps = ["x + y/2", "x/2 + y", "3*x - y/2 - 2*d"];
    for (order, gap) in gaps.iter().flat_map(|gap| [("simultaneous", gap), ("sequential", gap)]) {
        let text = corner(order, "1", "1", 2.0).replace("gap = \"x\"", &format!("gap = \"{gap}\""));
        println!("{order} {gap}");
        let (_, _, _, v) = varied(&text, &STARTS);
        let lost = v.not_differentiable.unwrap();
        assert_eq!((lost.what, &lost.walls[..]), (Obstacle::SimultaneousImpacts, &[0, 1][..]));
        close(lost.time, 1.0, 1e-15);
        assert!(v.end.entries.iter().all(|x| x.is_nan()));
        assert!(v.one_sided.is_empty());
    }
}

#[test]
fn a_corner_that_stops_what_falls_into_it_keeps_nothing_of_the_start() {
    // Pressed into the corner by its weight: at rest there whatever the start was, and what is between the two impacts is a contact.
    let text = corner("simultaneous", "0", "0", 2.0)
        .replace("[wall.left]", "potential = \"m*(3*x + 5*y)\"\n[wall.left]")
        .replace("velocity = { x = -1, y = -2 }", "velocity = { x = 0.5, y = 0.5 }");
    // x = 1 + t/2 − 3t²/2 and y = y₀ + t/2 − 5t²/2 vanish at t = 1: y₀ = 2.
    let (_, _, motion, v) = varied(&text, &STARTS);
    assert_eq!(motion.impacts[0].walls, [0, 1]);
    assert!(motion.contacts.len() == 2);
    let nothing = v.end.entries.iter().all(|x| x.abs() < 1e-14);
    assert!(nothing || v.not_differentiable.is_some(), "{:?}", v.end.entries);
}

/// n orthogonal walls met at once, with restitutions e₁, e₂, ….
fn orthogonal(n: usize) -> String {
    let all = |f: &dyn Fn(usize) -> String, between: &str| (1..=n).map(f).collect::<Vec<_>>().join(between);
    format!(
        "coordinates = [{}]\n[energy]\nkinetic = \"({})/2\"\n{}[start]\nposition = {{ {} }}\nvelocity = {{ {} }}\n[run]\nuntil = 2.0\n",
        all(&|i| format!("\"x{i}\""), ", "),
        all(&|i| format!("x{i}'^2"), " + "),
        all(&|i| format!("[wall.w{i}]\ngap = \"x{i}\"\nrestitution = {}\n", 1.0 - 0.1 * i as f64), ""),
        all(&|i| format!("x{i} = {i}"), ", "),
        all(&|i| format!("x{i} = -{i}"), ", "),
    )
}

#[test]
fn three_and_four_walls_at_once_agree_in_every_order() {
    for n in [3, 4] {
        let starts: Vec<Direction> = (0..n).map(Direction::Coordinate).collect();
        let (_, _, _, v) = varied(&orthogonal(n), &starts);
        assert!(v.not_differentiable.is_none(), "{:?}", v.not_differentiable);
        assert_eq!(v.one_sided[0].walls, (0..n).collect::<Vec<_>>());
        for i in 0..n {
            for j in 0..n {
                let e = 1.0 - 0.1 * (i + 1) as f64;
                close(v.end[(i, j)], if i == j { -e } else { 0.0 }, 1e-14);
            }
        }
    }
}

#[test]
fn an_order_beside_one_and_its_reverse_counts_too() {
    // Three reflections in the plane are one, their own reverse: (a, b, c) and (c, b, a) give (2, 29)/13, but (a, c, b) gives (142, 31)/65.
    let text = "coordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\n[wall.a]\ngap = \"2*y - 3*x\"\n[wall.b]\ngap = \"x\"\n[wall.c]\ngap = \"3*y - x\"\n[start]\nposition = { x = 1, y = 2 }\nvelocity = { x = -1, y = -2 }\n[run]\nimpact_order = \"sequential\"\nuntil = 1.5\n";
    let (_, _, motion, v) = varied(text, &STARTS);
    let order: Vec<usize> = motion.impacts.iter().map(|i| i.walls[0]).collect();
    assert_eq!(order, [2, 1, 0]);
    close(motion.end.velocity[0], 2.0 / 13.0, 1e-15);
    let lost = v.not_differentiable.unwrap();
    assert_eq!((lost.what, &lost.walls[..]), (Obstacle::SimultaneousImpacts, &[0, 1, 2][..]));
}

#[test]
fn more_walls_at_once_than_orders_can_be_followed_are_said() {
    let starts: Vec<Direction> = (0..5).map(Direction::Coordinate).collect();
    let (_, _, motion, v) = varied(&orthogonal(5), &starts);
    let lost = v.not_differentiable.unwrap();
    assert_eq!((lost.what, lost.walls.len()), (Obstacle::SimultaneousImpacts, 5));
    let said = motion.warnings.iter().any(|w| w.contains("5 walls") && w.contains("order"));
    assert!(said, "{:?}", motion.warnings);
}

#[test]
fn impacts_that_time_cannot_resolve_end_the_derivative() {
    // Between two walls 1e-17 apart, kicked at t = 1: a flight is shorter than time can tell.
    let text = "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\n[wall.left]\ngap = \"x\"\n[wall.right]\ngap = \"1e-17 - x\"\n[event.kick]\nwhen = \"t - 1\"\naction = \"set\"\nset = { \"x'\" = \"1\" }\n[start]\nposition = { x = 5e-18 }\n[run]\nuntil = 2.0\n";
    let (_, _, motion, v) = varied(text, &[Direction::Coordinate(0), Direction::Velocity(0)]);
    println!("{:?} {:?} {:?} {}", motion.warnings, v.not_differentiable, v.end.entries, motion.impacts.len());
    assert!(motion.warnings.iter().any(|w| w.contains("faster than time can resolve")));
    let lost = v.not_differentiable.unwrap();
    assert_eq!((lost.what, &lost.walls[..]), (Obstacle::Zeno, &[0, 1][..]));
    assert!(v.end.entries.iter().all(|x| x.is_nan()));
}

// ---- what must hold of Φ -----------------------------------------------------------------------------------------------

/// det Φ, by expansion along the first row: the slow clear version.
fn determinant(rows: &[Vec<f64>]) -> f64 {
    let Some((first, rest)) = rows.split_first() else { return 1.0 };
    let minor = |j: usize| {
        determinant(&rest.iter().map(|r| [&r[..j], &r[j + 1..]].concat()).collect::<Vec<Vec<f64>>>())
    };
    first.iter().enumerate().map(|(j, x)| if j % 2 == 0 { x * minor(j) } else { -x * minor(j) }).sum()
}

/// The terms of the determinant, all added.
fn permanent(rows: &[Vec<f64>]) -> f64 {
    let Some((first, rest)) = rows.split_first() else { return 1.0 };
    let without =
        |j: usize| -> Vec<Vec<f64>> { rest.iter().map(|r| [&r[..j], &r[j + 1..]].concat()).collect() };
    first.iter().enumerate().map(|(j, x)| x * permanent(&without(j))).sum()
}

/// det Φ over Π e², with these restitutions, and how well it is known: entries are good to 1e-13, and terms cancel.
fn volume(text: &str, restitution: &[f64]) -> (Motion, Variation, f64, f64) {
    let (_, _, motion, v) = varied(text, &STARTS);
    assert!(v.not_differentiable.is_none() && v.one_sided.is_empty());
    let rows: Vec<Vec<f64>> = (0..4).map(|i| (0..4).map(|j| v.end[(i, j)]).collect()).collect();
    let taken: f64 = motion.impacts.iter().map(|i| restitution[i.walls[0]].powi(2)).product();
    let det = determinant(&rows);
    let sizes: Vec<Vec<f64>> = rows.iter().map(|r| r.iter().map(|x| x.abs()).collect()).collect();
    let known = 1e-13 * permanent(&sizes) / det.abs();
    assert!(known < 1e-6, "{known:e}");
    (motion, v, det / taken, known)
}

#[test]
fn impacts_shrink_volumes_by_the_squares_of_their_restitutions() {
    // det W = m² (1 + x²/8); one wall moves, two have different restitutions.
    let body = "[parameters]\nm = 1.7\ng = 1.3\n[energy]\nkinetic = \"m*(x'^2 + (1 + x^2/8)*y'^2)/2\"\npotential = \"m*g*x + m*y^2\"\n";
    let walls = |piston: f64, side: f64| {
        format!(
            "[wall.piston]\ngap = \"x + 1 - sin(3.1*t)/4 + y^2/5\"\nrestitution = {piston}\n[wall.side]\ngap = \"1.5 - y - x/9\"\nrestitution = {side}\n"
        )
    };
    let start =
        "[start]\nposition = { x = 1, y = 0.2 }\nvelocity = { x = -0.3, y = 2.1 }\n[run]\nuntil = 5.7\n";
    for (piston, side) in [(0.8, 0.8), (0.6, 0.95), (1.0, 0.7)] {
        let text = format!("coordinates = [\"x\", \"y\"]\n{body}{}{start}", walls(piston, side));
        let (motion, v, ratio, known) = volume(&text, &[piston, side]);
        let met = |w: usize| motion.impacts.iter().filter(|i| i.walls == [w]).count();
        assert!(met(0) >= 1 && met(1) >= 1 && met(0) + met(1) >= 3, "{} {}", met(0), met(1));
        let mass = |x: f64| 1.7_f64.powi(2) * (1.0 + x * x / 8.0);
        let expected = mass(1.0) / mass(motion.end.position[0]);
        let check = v.checks.determinant.unwrap();
        println!("{piston} {side}: {:e} of {known:e}, check {check:e}", ratio / expected - 1.0);
        close(ratio / expected, 1.0, known);
        assert!(check < 1e-13, "{check:e}");
        assert_eq!(v.checks.symplectic, None, "only at e = 1");
        assert!(motion.warnings.is_empty(), "{:?}", motion.warnings);
    }
}

#[test]
fn momenta_and_any_kinetic_energy_shrink_as_velocities_do() {
    // In (q, p) there is no det W.
    let hamiltonian = "coordinates = [\"x\", \"y\"]\nmomenta = [\"p\", \"s\"]\nhamiltonian = \"(p^2 + s^2/(1 + x^2/8))/(2*1.7) + 2*x + 1.7*y^2\"\n[wall.piston]\ngap = \"x + 1 - sin(3.1*t)/4 + y^2/5\"\nrestitution = 0.6\n[wall.side]\ngap = \"1.5 - y - x/9\"\nrestitution = 0.9\n[start]\nposition = { x = 1, y = 0.2 }\nmomentum = { p = -0.5, s = 4 }\n[run]\nuntil = 7.0\n";
    let (motion, v, ratio, known) = volume(hamiltonian, &[0.6, 0.9]);
    assert!(motion.impacts.len() >= 3);
    close(ratio, 1.0, known);
    assert!(v.checks.determinant.unwrap() < 1e-13);
    // A fast particle: W = mγ (1 + γ² v vᵀ/c²), det W = m² γ⁴ in the plane.
    let fast = "coordinates = [\"x\", \"y\"]\nlagrangian = \"-m*c^2*sqrt(1 - (x'^2 + y'^2)/c^2) - k*(x^2 + y^2)/2 - x*y/5\"\n[parameters]\nm = 1.5\nc = 2\nk = 0.7\n[wall.left]\ngap = \"x + 0.4 - y/6 - sin(t)/5\"\nrestitution = 0.6\n[wall.top]\ngap = \"0.5 - y\"\nrestitution = 0.8\n[start]\nposition = { x = 1, y = 0.3 }\nvelocity = { x = -0.8, y = 0.7 }\n[run]\nuntil = 9.0\n";
    let (motion, v, ratio, known) = volume(fast, &[0.6, 0.8]);
    assert!(motion.impacts.len() >= 3, "{}", motion.impacts.len());
    let gamma4 = |v: &[f64]| (1.0 - (v[0] * v[0] + v[1] * v[1]) / 4.0).powi(-2);
    let expected = gamma4(&[-0.8, 0.7]) / gamma4(&motion.end.velocity);
    close(ratio / expected, 1.0, known);
    assert!(v.checks.determinant.unwrap() < 1e-13);
}

#[test]
fn a_check_that_fails_is_said_and_one_that_holds_is_not() {
    let pendulum = |run: &str| {
        format!(
            "coordinates = [\"a\", \"b\"]\n[define]\nx = \"sin(a) + sin(b)\"\ny = \"-cos(a) - cos(b)\"\n[energy]\nkinetic = \"a'^2/2 + (x'^2 + y'^2)/2\"\npotential = \"-9.81*cos(a) + 9.81*y\"\n[wall.left]\ngap = \"x + 0.5\"\n[start]\nposition = {{ a = 1.3, b = 1.9 }}\n[run]\nuntil = 5.0\n{run}"
        )
    };
    let (_, _, motion, v) = varied(&pendulum(""), &STARTS);
    assert!(v.checks.symplectic.unwrap() < 1e-12 && motion.warnings.is_empty(), "{:?}", motion.warnings);
    let (_, _, motion, v) = varied(&pendulum("method = \"rk4\"\nstep = 0.05\n"), &STARTS);
    assert!(v.checks.symplectic.unwrap() > 1e-7, "steps this long are not symplectic: {:?}", v.checks);
    let said = motion.warnings.iter().find(|w| w.contains("derivatives"));
    assert!(said.is_some(), "{:?} {:?}", motion.warnings, v.checks);
}
