//! What every gallery model conserves, written down from mechanics: the symmetries of its energy, and which walls, rows, forces
//! and resets break them. The program finds them by a null space; here they are formulas.

use carom_expr::{Dag, Expr, Random};
use carom_mech::invariants::Invariants;
use carom_mech::{Draft, Dynamics, Mechanics, derive_equations, invariants};

#[path = "../../../tests/gallery.rs"]
mod gallery;

/// A model: what is always conserved, what is conserved between impacts only, what rows and forces take away.
struct Expected {
    model: &'static str,
    always: &'static [&'static str],
    between: &'static [(&'static str, &'static str)],
    broken: &'static [(&'static str, &'static str)],
}

const fn model(
    model: &'static str,
    always: &'static [&'static str],
    between: &'static [(&'static str, &'static str)],
    broken: &'static [(&'static str, &'static str)],
) -> Expected {
    Expected { model, always, between, broken }
}

/// All walls of a model, in its order.
const EVERY_WALL: &str = "every wall";

/// E stands for the energy of the model (p·v − L, or H).
#[rustfmt::skip]
const TABLE: &[Expected] = &[
    // A projectile keeps E, p_x, and P = p_y + m g t; its Galilean boosts are conserved too. A floor keeps what does not move it.
    model("bouncing_mass", &["E", "m*x'", "t*m*x' - m*x"],
        &[("m*y' + m*g*t", "wall `floor`"), ("t*m*y' - m*y + m*g*t^2/2", "wall `floor`")], &[]),
    model("ball_restitution", &[],
        &[("E", "wall `floor`"), ("m*y' + m*g*t", "wall `floor`"), ("t*m*y' - m*y + m*g*t^2/2", "wall `floor`")], &[]),
    // The incline keeps what points along it, and e < 1 takes energy.
    model("ball_on_incline",
        &["m*x'*cos(alpha) - (m*y' + m*g*t)*sin(alpha)", "(t*m*x' - m*x)*cos(alpha) - (t*m*y' - m*y + m*g*t^2/2)*sin(alpha)"],
        &[("E", "wall `plane`"), ("m*x'", "wall `plane`"), ("t*m*x' - m*x", "wall `plane`")], &[]),
    model("vibrating_table", &[],
        &[("E", "wall `table`"), ("m*y' + m*g*t", "wall `table`"), ("t*m*y' - m*y + m*g*t^2/2", "wall `table`")], &[]),
    model("hilly_ground", &[],
        &[("E", "wall `ground`"), ("m*x'", "wall `ground`"), ("t*m*x' - m*x", "wall `ground`"),
          ("m*y' + m*g*t", "wall `ground`"), ("t*m*y' - m*y + m*g*t^2/2", "wall `ground`")], &[]),
    model("circular_billiard", &["E"],
        &[("m*x'", "wall `rim`"), ("t*m*x' - m*x", "wall `rim`"), ("m*y' + m*g*t", "wall `rim`"),
          ("t*m*y' - m*y + m*g*t^2/2", "wall `rim`")], &[]),
    model("stadium_billiard", &["E"],
        &[("m*x'", "wall `rim`"), ("t*m*x' - m*x", "wall `rim`"), ("m*y'", "wall `rim`"), ("t*m*y' - m*y", "wall `rim`"),
          ("m*(x*y' - y*x')", "wall `rim`")], &[]),
    model("elliptic_billiard", &["E"],
        &[("m*x'", "wall `rim`"), ("t*m*x' - m*x", "wall `rim`"), ("m*y'", "wall `rim`"), ("t*m*y' - m*y", "wall `rim`"),
          ("m*(x*y' - y*x')", "wall `rim`")], &[]),
    // Two free blocks: in the plane of (x1, √M x2) also the angular momentum.
    model("galperin_blocks", &["E"],
        &[("x1'", "wall `end`, wall `blocks`"), ("t*x1' - x1", "wall `end`, wall `blocks`"), ("M*x2'", "wall `blocks`"),
          ("t*M*x2' - M*x2", "wall `blocks`"), ("M*(x1*x2' - x2*x1')", "wall `end`, wall `blocks`")], &[]),
    // The jack falls freely; the shaker works on the box alone. x and theta are both free: a rotation in the plane of
    // (√m x, √J theta) is a symmetry as well. The box turns, so a hit on any of its sides pushes the jack in x, in y and around.
    model("jack_in_box", &[],
        &[("m*x'", EVERY_WALL), ("J*theta'", EVERY_WALL), ("m*y' + m*g*t", EVERY_WALL), ("t*m*x' - m*x", EVERY_WALL), ("t*J*theta' - J*theta", EVERY_WALL),
          ("t*m*y' - m*y + m*g*t^2/2", EVERY_WALL), ("m*J*(x*theta' - theta*x')", EVERY_WALL)],
        &[("E", "force `shaker`")]),
    model("impact_oscillator", &[], &[], &[("E", "the dissipation, force `drive`")]),
    model("pendulum_wall", &["E"], &[], &[]),
    model("pendulum_hamiltonian", &["E"], &[], &[]),
    model("double_pendulum", &["E"], &[], &[]),
    model("double_pendulum_wall", &["E"], &[], &[]),
    // The motor does work.
    model("driven_double_pendulum", &[], &[], &[]),
    model("driven_double_pendulum_constraint", &[], &[], &[("E", "row `motor`")]),
    model("squeezed_driven_pendulum", &[], &[], &[]),
    model("newtons_cradle", &["E"], &[], &[]),
    model("elastic_pendulum", &["E"], &[], &[]),
    model("elastic_pendulum_cartesian", &["E"], &[], &[]),
    model("cart_double_pendulum", &[], &[],
        &[("E", "force `push_upper`, force `push_lower`"),
          ("(M + m1 + m2)*x' + (m1 + m2)*l1*cos(theta1)*theta1' + m2*l2*cos(theta2)*theta2'", "force `push_upper`, force `push_lower`")]),
    model("spherical_pendulum", &["E", "m*l^2*sin(theta)^2*phi'"], &[], &[]),
    model("bead_in_bowl", &["E", "m*(p1*p2' - p2*p1')"], &[], &[("m*p1'", "row `bowl`"), ("m*p2'", "row `bowl`")]),
    model("slider_crank", &["E"], &[], &[("M*x'", "row `reach`")]),
    model("car_axis", &[], &[], &[]),
    // The heading is free, so its momentum is conserved until the rim hits the wall; p_x, p_y and p_theta are not conserved.
    model("rolling_disk", &["E"], &[("J*phi'", "wall `front`"), ("t*J*phi' - J*phi", "wall `front`")],
        &[("m*x'", "row `no_slip_x`"), ("m*y'", "row `no_slip_y`"), ("I*theta'", "row `no_slip_x`, row `no_slip_y`")]),
    model("rolling_disk_hamiltonian", &["E"], &[("p_phi", "wall `front`"), ("t*p_phi - J*phi", "wall `front`")],
        &[("p_x", "row `no_slip_x`"), ("p_y", "row `no_slip_y`"), ("p_theta", "row `no_slip_x`, row `no_slip_y`")]),
    model("knife_edge", &["E", "J*phi'", "t*J*phi' - J*phi"], &[], &[("m*y'", "row `blade`")]),
    model("chaplygin_sleigh", &["E"], &[],
        &[("m*(x' - a*sin(theta)*theta')", "row `blade`"), ("m*(y' + a*cos(theta)*theta')", "row `blade`")]),
    model("spinning_top", &["E", "I3*(psi' + phi'*cos(theta))", "I1*sin(theta)^2*phi' + I3*(psi' + phi'*cos(theta))*cos(theta)"], &[], &[]),
    // Rotations of space turn the quaternion from the left: the angular momentum in space, 2 q (I w) q*.
    model("rigid_body_quaternion",
        &["E",
          "2*(I1*w1*(q0^2 + q1^2 - q2^2 - q3^2) + 2*I2*w2*(q1*q2 - q0*q3) + 2*I3*w3*(q1*q3 + q0*q2))",
          "2*(2*I1*w1*(q1*q2 + q0*q3) + I2*w2*(q0^2 - q1^2 + q2^2 - q3^2) + 2*I3*w3*(q2*q3 - q0*q1))",
          "2*(2*I1*w1*(q1*q3 - q0*q2) + 2*I2*w2*(q2*q3 + q0*q1) + I3*w3*(q0^2 - q1^2 - q2^2 + q3^2))"], &[], &[]),
    model("rimless_wheel", &[], &[("E", "the reset of event `forward`, the reset of event `backward`")], &[]),
    model("simplest_walker", &[], &[],
        &[("E", "force `gravity`"), ("theta'", "force `gravity`"), ("phi'", "force `gravity`")]),
    model("compass_gait", &[], &[("E", "the reset of event `heelstrike`")], &[]),
    model("kepler_wall", &["E"], &[("x*py - y*px", "wall `mirror`")], &[]),
    model("kepler_wall_lagrangian", &["E"], &[("m*(x*y' - y*x')", "wall `mirror`")], &[]),
    model("relativistic_bounce", &["E"], &[("m*x'/sqrt(1 - x'^2/c^2) + m*g*t", "wall `floor`")], &[]),
    model("relativistic_hamiltonian", &["E"], &[("p + m*g*t", "wall `floor`")], &[]),
    // A wall that moves with u keeps E − u p_x.
    model("relativistic_moving_wall",
        &["E - u*m*x'/sqrt(1 - (x'^2 + y'^2)/c^2)", "m*y'/sqrt(1 - (x'^2 + y'^2)/c^2)"],
        &[("E", "wall `mirror`"), ("m*(x*y' - y*x')/sqrt(1 - (x'^2 + y'^2)/c^2)", "wall `mirror`")], &[]),
    // Translations across a magnetic field are symmetries with a gauge term, and so are rotations.
    model("charged_particle", &["E", "m*x' - q*B*y"],
        &[("m*y' + q*B*x", "wall `floor`"), ("m*(x*y' - y*x') + q*B*(x^2 + y^2)/2", "wall `floor`")], &[]),
    model("charged_particle_hamiltonian", &["E", "px"],
        &[("py + q*B*x", "wall `floor`"), ("x*py - y*px + q*B*(x^2 - y^2)/2", "wall `floor`")], &[]),
    model("quartic", &["E", "(m*x' + k*x'^3)*cos(alpha) + (m*y' + k*y'^3 + m*g*t)*sin(alpha)"],
        &[("m*x' + k*x'^3", "wall `slope`")], &[]),
    // Impulse and angular impulse of vortices; the centre moves by itself (not at all), so every quadratic form of it is the
    // generator of a linear symmetry too. Of two vortices also their distance.
    model("point_vortices",
        &["E", "G1*x1 + G2*x2 + G3*x3", "G1*y1 + G2*y2 + G3*y3", "G1*(x1^2 + y1^2) + G2*(x2^2 + y2^2) + G3*(x3^2 + y3^2)",
          "(G1*x1 + G2*x2 + G3*x3)^2", "(G1*y1 + G2*y2 + G3*y3)^2", "(G1*x1 + G2*x2 + G3*x3)*(G1*y1 + G2*y2 + G3*y3)"], &[], &[]),
    model("vortex_pair",
        &["E", "G1*x1 + G2*x2", "G1*y1 + G2*y2", "(G1*x1 + G2*x2)^2", "(G1*y1 + G2*y2)^2", "(G1*x1 + G2*x2)*(G1*y1 + G2*y2)",
          "(x1 - x2)^2 + (y1 - y2)^2"], &[], &[]),
    model("guiding_centre", &["E"], &[], &[]),
    model("massless_node", &["E"], &[], &[]),
    model("phase_space_pendulum", &["E"], &[], &[]),
];

fn mechanics(name: &str) -> Mechanics {
    let (draft, _) = Draft::read(gallery::path(name)).unwrap();
    let (model, _) = draft.check().unwrap_or_else(|e| panic!("{name}: {e:?}"));
    derive_equations(model).unwrap_or_else(|e| panic!("{name}: {e:?}"))
}

/// Values of formulas at random states; definitions of the file are known by name.
struct States {
    symbols: Vec<Vec<f64>>,
}

impl States {
    fn of(m: &Mechanics, dag: &Dag, count: usize) -> States {
        let mut random = Random(11);
        let symbols = (0..count)
            .map(|_| {
                let mut values: Vec<f64> =
                    (0..dag.symbol_count()).map(|_| 0.45 * random.symmetric() + 0.1).collect();
                for p in &m.model.parameters {
                    values[dag.as_symbol(p.symbol).unwrap().index()] = p.value;
                }
                values
            })
            .collect();
        States { symbols }
    }

    fn values(&self, dag: &Dag, e: Expr) -> Vec<f64> {
        self.symbols.iter().map(|point| dag.evaluate(e, |s| point[s.index()])).collect()
    }
}

/// Is `target` a combination of `basis` and a constant, at all states?
fn spans(basis: &[Vec<f64>], target: &[f64]) -> bool {
    let mut orthogonal: Vec<Vec<f64>> = Vec::new();
    let mut all = vec![vec![1.0; target.len()]];
    all.extend(basis.iter().cloned());
    all.push(target.to_vec());
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let last = all.len() - 1;
    for (k, mut v) in all.into_iter().enumerate() {
        let before = dot(&v, &v).sqrt();
        for _ in 0..3 {
            for u in &orthogonal {
                let c = dot(&v, u);
                v.iter_mut().zip(u).for_each(|(x, u)| *x -= c * u);
            }
        }
        let after = dot(&v, &v).sqrt();
        if k == last {
            return after <= 1e-8 * before;
        }
        if after > 1e-8 * before {
            v.iter_mut().for_each(|x| *x /= after);
            orthogonal.push(v);
        }
    }
    true
}

fn read(found: &mut Invariants, m: &Mechanics, text: &str) -> Expr {
    let definitions: Vec<(String, Expr)> =
        m.model.definitions.iter().map(|d| (d.name.clone(), d.expr)).collect();
    let energy = m.hamiltonian;
    carom_expr::parse(&mut found.dag, text, &mut |dag, name| {
        if name.text == "E" {
            return Ok(energy);
        }
        if let Some((_, e)) = definitions.iter().find(|(n, _)| n == name.text) {
            return Ok(*e);
        }
        let full = format!("{}{}", name.text, "'".repeat(name.primes as usize));
        Ok(dag.symbol(&full))
    })
    .unwrap_or_else(|e| panic!("{text}: {e:?}"))
}

#[test]
fn every_gallery_model_conserves_what_mechanics_says_and_nothing_else() {
    let mut told = String::new();
    for name in &gallery::names() {
        let Some(expected) = TABLE.iter().find(|e| e.model == name) else {
            told += &format!("{name}: not in the table; write down what it conserves\n");
            continue;
        };
        let m = mechanics(name);
        let mut found = invariants(&m);
        let count = expected.always.len() + expected.between.len();
        let parsed: Vec<(Expr, &str, Option<&str>)> = expected
            .always
            .iter()
            .map(|t| (*t, None))
            .chain(expected.between.iter().map(|(t, b)| (*t, Some(*b))))
            .map(|(t, b)| (read(&mut found, &m, t), t, b))
            .collect();
        let broken: Vec<(Expr, &str, &str)> =
            expected.broken.iter().map(|(t, b)| (read(&mut found, &m, t), *t, *b)).collect();
        let dag = found.dag.clone();
        let mut states = States::of(&m, &dag, 60);
        // Positions, velocities and momenta that are no state of this model are not asked for; hidden constraints hold identically
        // in what the vortices conserve.
        states.symbols.truncate(60);
        let values: Vec<(Vec<f64>, String)> = found
            .list
            .iter()
            .map(|i| {
                let why = i.broken_by.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                (states.values(&dag, i.expr), why)
            })
            .collect();
        let texts: Vec<String> = found
            .list
            .iter()
            .zip(&values)
            .map(|(i, v)| format!("{}: {} [{}]", i.name, dag.print(i.expr, carom_expr::Style::Text), v.1))
            .collect();
        if found.list.len() != count {
            told +=
                &format!("{name}: {} found, {count} expected:\n  {}\n", found.list.len(), texts.join("\n  "));
        }
        let surviving = values.iter().filter(|v| v.1.is_empty()).count();
        if surviving != expected.always.len() {
            told += &format!(
                "{name}: {surviving} survive, {} expected:\n  {}\n",
                expected.always.len(),
                texts.join("\n  ")
            );
        }
        let all: Vec<Vec<f64>> = values.iter().map(|v| v.0.clone()).collect();
        let always: Vec<Vec<f64>> = values.iter().filter(|v| v.1.is_empty()).map(|v| v.0.clone()).collect();
        for (e, text, why) in &parsed {
            let target = states.values(&dag, *e);
            let (basis, alone) = if why.is_none() { (&always, false) } else { (&all, true) };
            if !spans(basis, &target) {
                told += &format!("{name}: {text} is not found among\n  {}\n", texts.join("\n  "));
            }
            if alone && spans(&always, &target) {
                told += &format!("{name}: {text} is said to survive\n");
            }
            // It is itself in the list, up to a factor and a constant, and names what breaks it.
            if let Some(why) = why {
                let walls = m.model.walls.iter().map(|w| format!("wall `{}`", w.name)).collect::<Vec<_>>();
                let why = if *why == EVERY_WALL { walls.join(", ") } else { (*why).to_owned() };
                match values.iter().find(|v| spans(std::slice::from_ref(&v.0), &target)) {
                    Some(own) if own.1 == why => {}
                    Some(own) => {
                        told += &format!("{name}: {text} is broken by {}, expected {why}\n", own.1);
                    }
                    None => {
                        told +=
                            &format!("{name}: {text} is not found by itself:\n  {}\n", texts.join("\n  "));
                    }
                }
            }
        }
        let lost: Vec<(Vec<f64>, String)> = found
            .broken
            .iter()
            .map(|i| {
                let why = i.broken_by.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                (states.values(&dag, i.expr), why)
            })
            .collect();
        if lost.len() != broken.len() {
            let texts: Vec<String> =
                found.broken.iter().zip(&lost).map(|(i, l)| format!("{} [{}]", i.name, l.1)).collect();
            told +=
                &format!("{name}: {} broken, {} expected: {}\n", lost.len(), broken.len(), texts.join("; "));
        }
        for (e, text, why) in &broken {
            let target = states.values(&dag, *e);
            if !lost.iter().any(|l| l.1 == *why && spans(std::slice::from_ref(&l.0), &target)) {
                told += &format!("{name}: {text} broken by {why} is not told\n");
            }
            if spans(&all, &target) {
                told += &format!("{name}: {text} is claimed to be conserved\n");
            }
        }
    }
    assert!(told.is_empty(), "{told}");
}

#[test]
fn an_invariant_is_written_as_a_textbook_writes_it() {
    for (model, name, text) in [
        ("bouncing_mass", "p_x", "m*x'"),
        ("spherical_pendulum", "p_phi", "l^2*m*sin(theta)^2*phi'"),
        ("kepler_wall_lagrangian", "angular momentum", "m*(x*y' - y*x')"),
        ("kepler_wall", "angular momentum", "x*py - y*px"),
        ("charged_particle", "p_x", "m*x' - q*B*y"),
        ("stadium_billiard", "boost 1", "m*(t*x' - x)"),
        ("bouncing_mass", "momentum along y", "m*(y' + g*t)"),
    ] {
        let m = mechanics(model);
        let mut found = invariants(&m);
        let expected = read(&mut found, &m, text);
        let one = found.find(name).unwrap_or_else(|| panic!("{model}: {name}")).expr;
        // The same expression up to the order of terms.
        let difference = found.dag.sub(one, expected);
        let difference = found.dag.simplify(difference);
        assert!(found.dag.is_zero(difference), "{model}: {}", found.dag.print(one, carom_expr::Style::Text));
        let length = found.dag.print(one, carom_expr::Style::Text).len();
        assert!(length <= text.len() + 6, "{model}: {}", found.dag.print(one, carom_expr::Style::Text));
    }
}

#[test]
fn an_accidental_symmetry_is_found_and_a_small_asymmetry_is_not_overlooked() {
    let oscillator = |k2: &str| {
        let text = format!(
            "coordinates = [\"x\", \"y\"]\n[parameters]\nk2 = {k2}\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"(x^2 + k2*y^2)/2\"\n[start]\nposition = {{ x = 1, y = 0.5 }}\n"
        );
        let (model, _) = Draft::parse(&text, "oscillator.toml").0.check().unwrap();
        invariants(&derive_equations(model).unwrap()).list.len()
    };
    assert_eq!(oscillator("1"), 2);
    assert_eq!(oscillator("1.0000001"), 1);
    assert_eq!(oscillator("2"), 1);
}

#[test]
fn values_and_gradients_are_those_of_the_formula() {
    let m = mechanics("kepler_wall_lagrangian");
    assert!(!matches!(m.dynamics, Dynamics::Hamiltonian(_)));
    let mut found = invariants(&m);
    let values = found.values_and_gradients(&m).unwrap();
    let parameters: Vec<f64> = m.model.parameters.iter().map(|p| p.value).collect();
    let state = [0.8, 0.6, -0.3, 0.9];
    let j = values.at(&parameters, 0.0, &state);
    let names: Vec<&str> = found.list.iter().map(|i| i.name.as_str()).collect();
    assert_eq!(names, ["energy", "angular momentum"]);
    assert!((j[0].value - (0.45 - 1.0)).abs() < 1e-15 && (j[1].value - 0.9).abs() < 1e-15, "{j:?}");
    let slopes = values.gradients(&parameters, 0.0, &state);
    for (a, b) in slopes[1].iter().zip([0.9, 0.3, -0.6, 0.8]) {
        assert!((a - b).abs() < 1e-15, "{slopes:?}");
    }
}
