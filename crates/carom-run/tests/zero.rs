//! What is zero does not depend on units, on the origin, on how a formula is written, nor on the instant at which it is asked.

mod common;

use carom_run::{Motion, Options, Program, Sampling, Signal, SimulateError, StopReason, simulate};
use common::{close, program, run, signal, try_run};
use std::f64::consts::PI;

#[path = "../../../tests/gallery.rs"]
mod gallery;

/// A ball above a floor, in units of length `unit`, shifted by `shift`.
fn ball(y: &str, rate: &str, extra: &str) -> String {
    format!(
        "coordinates = [\"y\"]\n[energy]\nkinetic = \"y'^2/2\"\npotential = \"9.81*y\"\n[wall.floor]\ngap = \"y\"\n{extra}\n\
         [start]\nposition = {{ y = {y} }}\nvelocity = {{ y = {rate} }}\n[run]\nuntil = 2.0\n"
    )
}

#[test]
fn a_start_below_the_floor_by_rounding_rests_on_it() {
    for y in ["-1e-17", "-1e-30", "\"-sin(pi)\"", "1e-17", "0.0", "\"sin(pi)\"", "\"0.1 + 0.2 - 0.3\""] {
        for extra in ["", "restitution = 0.5"] {
            let motion = run(&ball(y, "0.0", extra));
            assert_eq!(motion.impacts.len(), 0, "{y} {extra}");
            assert_eq!(motion.contacts.len(), 1, "{y} {extra}");
            assert_eq!((motion.contacts[0].from, motion.contacts[0].to), (0.0, None));
        }
    }
}

#[test]
fn a_start_that_is_really_behind_a_wall_is_refused() {
    for depth in ["-1e-9", "-1e-3", "-1.0"] {
        let text = ball("1.0", "0.0", "").replace("y = 1.0", "y = DEPTH").replace("DEPTH", "1.0");
        let (program, mut options) = program(&text);
        options.start.position = vec![Some(depth.parse().unwrap())];
        assert!(matches!(simulate(&program, &options), Err(SimulateError::BehindWall(_))), "{depth}");
    }
}

const DISK: &str = r#"
coordinates = ["x", "y", "theta", "phi"]
[energy]
kinetic = "(x'^2 + y'^2)/2 + theta'^2/4 + phi'^2/8"
potential = "0"
[nonholonomic]
no_slip_x = "x' - cos(phi)*theta'"
no_slip_y = "y' - sin(phi)*theta'"
[start]
position = { phi = "pi/2" }
velocity = { x = RATE, y = 2.0, theta = 2.0, phi = 0.3 }
PROJECT
[run]
until = 5.0
"#;

#[test]
fn a_disk_rolls_along_the_y_axis_from_whatever_stands_for_zero() {
    for rate in ["0.0", "\"cos(pi/2)\"", "\"2*cos(pi/2)\"", "-1e-16"] {
        for project in ["", "project = true"] {
            let motion = run(&DISK.replace("RATE", rate).replace("PROJECT", project));
            assert_eq!(motion.stop.reason, StopReason::Reached);
            assert!(motion.audit.constraint_drift < 1e-14, "{rate}: {:e}", motion.audit.constraint_drift);
            // φ = π/2 + 0.3 t: a circle of radius 2/0.3.
            let last = signal(&motion.position, "y").last().copied().unwrap();
            close(last, 2.0 / 0.3 * 1.5_f64.sin(), 1e-13);
        }
    }
}

#[test]
fn a_row_that_is_a_sine_holds_where_the_sine_vanishes() {
    let text = r#"
coordinates = ["x", "th"]
[energy]
kinetic = "(x'^2 + th'^2)/2"
potential = "0"
[holonomic]
curve = "x - sin(th)"
[start]
position = { x = X, th = "pi" }
velocity = { x = -1.0, th = 1.0 }
[run]
until = 3.0
"#;
    let motions: Vec<Motion> =
        ["0.0", "\"sin(pi)\"", "1e-16"].iter().map(|x| run(&text.replace('X', x))).collect();
    for motion in &motions {
        assert!(motion.audit.constraint_drift < 1e-14, "{:e}", motion.audit.constraint_drift);
        let (a, b) = (signal(&motion.position, "x"), signal(&motions[0].position, "x"));
        close(*a.last().unwrap(), *b.last().unwrap(), 1e-13);
    }
}

#[test]
fn a_gap_that_is_a_sine_is_a_wall_like_the_angle_itself() {
    // -sin(th) near π is th − π.
    let text = r#"
coordinates = ["th"]
[energy]
kinetic = "th'^2/2"
potential = "th"
[wall.stop]
gap = "GAP"
restitution = FACTOR
[start]
position = { th = "pi" }
velocity = { th = RATE }
[run]
until = 1.0
"#;
    for gap in ["-sin(th)", "th - pi", "-2*sin(th)", "sin(th - pi)"] {
        for (e, rate) in [("0.5", "0.0"), ("1.0", "0.0"), ("0.0", "-0.5"), ("1.0", "-0.5"), ("1.0", "0.25")] {
            let text = text.replace("GAP", gap).replace("FACTOR", e).replace("RATE", rate);
            let motion = run(&text);
            let plain = run(&text.replace(gap, "th - pi"));
            assert_eq!(motion.impacts.len(), plain.impacts.len(), "{gap} {e} {rate}");
            assert_eq!(motion.contacts.len(), plain.contacts.len(), "{gap} {e} {rate}");
            for (a, b) in motion.impacts.iter().zip(&plain.impacts) {
                close(a.time, b.time, 1e-14);
            }
        }
    }
}

#[test]
fn a_wall_left_at_rest_does_not_rattle() {
    // sin(th) ≥ 0 at th = π, pushed against it: restitution 1 bounces from nothing, and nothing bounces.
    let text = r#"
coordinates = ["th"]
[energy]
kinetic = "th'^2/2"
potential = "-th"
[wall.stop]
gap = "sin(th)"
[start]
position = { th = "pi" }
[run]
until = 1.0
"#;
    let motion = run(text);
    assert_eq!((motion.impacts.len(), motion.contacts.len()), (0, 1));
    close(*signal(&motion.position, "th").last().unwrap(), PI, 1e-15);
}

#[test]
fn a_relativistic_start_that_hardly_moves_comes_to_an_end() {
    for rate in ["-1e-18", "-1e-30", "0.0", "-1e-9"] {
        let text = format!(
            "coordinates = [\"x\", \"y\"]\nlagrangian = \"-sqrt(1 - x'^2 - y'^2)\"\n[wall.floor]\ngap = \"y\"\n\
             [start]\nposition = {{ y = 0.0 }}\nvelocity = {{ x = 0.5, y = {rate} }}\n[run]\nuntil = 2.0\n"
        );
        let motion = try_run(&text).unwrap();
        assert_eq!(motion.stop.reason, StopReason::Reached, "{rate}");
        let y = *signal(&motion.position, "y").last().unwrap();
        close(y, 2.0 * rate.parse::<f64>().unwrap().abs(), 1e-15);
    }
}

/// Balls of unit mass and radius ½ on a line, met at one instant.
fn three_balls(shift: f64) -> Motion {
    run(&format!(
        "coordinates = [\"a\", \"b\", \"c\"]\n[energy]\nkinetic = \"(a'^2 + b'^2 + c'^2)/2\"\npotential = \"0\"\n\
         [wall.left]\ngap = \"b - a - 1\"\n[wall.right]\ngap = \"c - b - 1\"\n\
         [start]\nposition = {{ a = {}, b = {}, c = {} }}\nvelocity = {{ a = 1.3, c = -1.3 }}\n[run]\nuntil = 2.0\n",
        shift - 2.0,
        shift,
        shift + 2.0
    ))
}

#[test]
fn three_balls_meet_in_one_impact_wherever_the_origin_is() {
    for shift in [0.0, 10.0, 1000.0, -0.1] {
        let motion = three_balls(shift);
        assert_eq!(motion.impacts.len(), 1, "{shift}");
        assert_eq!(motion.impacts[0].walls, [0, 1]);
        close(motion.impacts[0].time, 1.0 / 1.3, 1e-12);
    }
}

#[test]
fn points_that_meet_at_the_origin_meet_in_one_impact() {
    for shift in [0.0, 10.0, 1000.0] {
        for (a, c) in [(1.0, 1.0), (0.7, 0.7), (0.3, 0.9)] {
            // a and c reach b = shift at t = 1/1.1, all at once.
            let text = format!(
                "coordinates = [\"a\", \"b\", \"c\"]\n[energy]\nkinetic = \"(a'^2 + b'^2 + c'^2)/2\"\npotential = \"0\"\n\
                 [wall.left]\ngap = \"b - a\"\n[wall.right]\ngap = \"c - b\"\n\
                 [start]\nposition = {{ a = \"{shift} - {a}\", b = {shift}, c = \"{shift} + {c}\" }}\n\
                 velocity = {{ a = \"1.1*{a}\", c = \"-1.1*{c}\" }}\n[run]\nuntil = 2.0\n"
            );
            let motion = run(&text);
            assert_eq!(motion.impacts.len(), 1, "{shift} {a} {c}: {:?}", motion.impacts);
            assert_eq!(motion.impacts[0].walls, [0, 1]);
        }
    }
}

#[test]
fn a_corner_is_a_corner_wherever_the_origin_is() {
    // Into the corner of a wedge at `shift`, with walls through it at 20° and 100°.
    for shift in [0.0, 10.0, 1000.0] {
        for k in 0..20 {
            let direction = (30.0 + 3.0 * f64::from(k)).to_radians();
            let (dx, dy) = (direction.cos(), direction.sin());
            let text = format!(
                "coordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"0\"\n\
                 [wall.low]\ngap = \"-sin(pi/9)*(x - {shift}) + cos(pi/9)*(y - {shift})\"\n\
                 [wall.steep]\ngap = \"sin(5*pi/9)*(x - {shift}) - cos(5*pi/9)*(y - {shift})\"\n\
                 [start]\nposition = {{ x = \"{shift} + {dx}\", y = \"{shift} + {dy}\" }}\n\
                 velocity = {{ x = {}, y = {} }}\n[run]\nuntil = 2.0\n",
                -0.9 * dx,
                -0.9 * dy
            );
            let motion = run(&text);
            assert_eq!(motion.impacts[0].walls.len(), 2, "{shift} {k}: {:?}", motion.impacts);
        }
    }
}

#[test]
fn a_motion_goes_on_from_any_of_its_states() {
    for text in [ball("1.0", "0.0", "restitution = 0.5"), ball("0.3", "1.0", "restitution = 0.0")] {
        let (program, mut options) = program(&text);
        options.sampling = Sampling::Even(41);
        let whole = simulate(&program, &options).unwrap();
        for (i, &t) in whole.time.iter().enumerate() {
            let mut again = options.clone();
            again.start.time = t;
            again.start.position = vec![Some(whole.position[0].values[i])];
            again.start.velocity = vec![Some(whole.velocity[0].values[i])];
            again.sampling = Sampling::At(whole.time[i..].to_vec());
            let rest = simulate(&program, &again).unwrap_or_else(|e| panic!("{t}: {e}"));
            for (a, b) in rest.position[0].values.iter().zip(&whole.position[0].values[i..]) {
                close(*a, *b, 1e-12);
            }
            assert!(rest.impacts.len() <= whole.impacts.len(), "{t}: {}", rest.impacts.len());
        }
    }
}

/// Restarts a motion at each of its samples; answers what went wrong.
fn restarts(name: &str, program: &Program, options: &Options, count: usize) -> Vec<String> {
    let mut wrong = Vec::new();
    let whole = Options { sampling: Sampling::Even(count), sensitivity: true, ..options.clone() };
    let whole = simulate(program, &whole).unwrap_or_else(|e| panic!("{name}: {e}"));
    let amplification = whole.audit.amplification.unwrap_or(1.0).max(1.0);
    // Rounding grows by no more than this on the way; beyond it the ends have nothing to do with each other.
    let allowed = 1e-12 * amplification;
    let comparable = allowed <= 1e-3 && whole.stop.reason == StopReason::Reached;
    let last = whole.time.len() - 1;
    for (i, &t) in whole.time.iter().enumerate().skip(1) {
        let value = |s: &Signal| Some(s.values[i]);
        let mut again = options.clone();
        again.start.time = t;
        again.start.position = whole.position.iter().map(value).collect();
        again.start.velocity = whole.velocity.iter().map(value).collect();
        again.start.momentum = whole.momentum.iter().map(value).collect();
        again.sampling = Sampling::At(vec![whole.time[last]]);
        let rest = match simulate(program, &again) {
            Ok(rest) => rest,
            Err(e) => {
                wrong.push(format!("{name} from {t}: {e}"));
                continue;
            }
        };
        if !comparable {
            // Still the next impact is the next impact.
            let next = |motion: &Motion| {
                motion.impacts.iter().find(|i| i.time > t).map(|i| (i.time, i.walls.clone()))
            };
            let (a, b) = (next(&rest), next(&whole));
            let same = match (&a, &b) {
                (Some((x, v)), Some((y, w))) => (x - y).abs() < 1e-9 * whole.time[last] && v == w,
                (a, b) => a.is_none() == b.is_none(),
            };
            if !same {
                wrong.push(format!("{name} from {t}: the next impact is {a:?}, not {b:?}"));
            }
            continue;
        }
        let after = |motion: &Motion| motion.impacts.iter().filter(|impact| impact.time > t).count();
        // Where the invisible rest of a Zeno series begins is relative to what was seen of it.
        let invisible = if whole.contacts.iter().any(|c| c.zeno) { 10 } else { 0 };
        if rest.stop.reason != whole.stop.reason || rest.impacts.len() > after(&whole) + invisible {
            let (now, then) = (rest.impacts.len(), after(&whole));
            wrong.push(format!("{name} from {t}: {now} impacts, not {then}, {:?}", rest.stop));
        }
        let size = |s: &Signal| s.values.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let kinds = [(&rest.position, &whole.position), (&rest.velocity, &whole.velocity)];
        for (a, b, largest) in kinds.into_iter().flat_map(|(rest, whole)| {
            let largest = whole.iter().map(size).fold(0.0, f64::max);
            rest.iter().zip(whole).map(move |(a, b)| (a, b, largest))
        }) {
            let (Some(x), Some(y)) = (a.values.last(), b.values.last()) else { continue };
            // What is struck takes over the rounding of what strikes: the balls within a cradle are at 0 up to that.
            let struck = 4.0 * f64::EPSILON * amplification * largest;
            if (x - y).abs() > allowed * size(b) + struck {
                wrong.push(format!("{name} from {t}: {} ends at {x:?}, not {y:?} ({allowed:.1e})", a.name));
            }
        }
    }
    wrong
}

#[test]
fn every_model_of_the_gallery_goes_on_from_any_of_its_states() {
    let mut wrong = Vec::new();
    for name in gallery::names() {
        let (draft, _) = carom_mech::Draft::read(gallery::path(&name)).unwrap();
        let mechanics = carom_mech::derive_equations(draft.check().unwrap().0).unwrap();
        let program = Program::compile(&mechanics).unwrap();
        wrong.extend(restarts(&name, &program, &Options::of(&mechanics.model), 12));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A ball in a wedge, bouncing with restitution e in gravity, its corner at (`shift`, `shift`); rows and gaps written by `write`.
fn wedge(seed: u64, shift: f64, write: impl Fn(&str) -> String) -> (Program, Options) {
    let mut random = Random(seed);
    let (low, steep) = (random.between(0.1, 0.7), random.between(1.7, 2.6));
    let (angle, far) = (random.between(low + 0.2, steep - 0.2), random.between(0.5, 2.0));
    let (vx, vy, e) = (random.between(-1.0, 1.0), random.between(-1.0, 1.0), random.between(0.3, 1.0));
    let (x, y) = (far * angle.cos(), far * angle.sin());
    let low = write(&format!("cos({low})*(y - {shift}) - sin({low})*(x - {shift})"));
    let steep = write(&format!("sin({steep})*(x - {shift}) - cos({steep})*(y - {shift})"));
    program(&format!(
        "coordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"9.81*y\"\n\
         [wall.low]\ngap = \"{low}\"\nrestitution = {e}\n[wall.steep]\ngap = \"{steep}\"\nrestitution = {e}\n\
         [start]\nposition = {{ x = \"{shift} + {x}\", y = \"{shift} + {y}\" }}\nvelocity = {{ x = {vx}, y = {vy} }}\n\
         [run]\nuntil = 3.0\n"
    ))
}

/// A small generator with a fixed seed.
struct Random(u64);

impl Random {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + (high - low) * ((self.0 >> 11) as f64 / (1_u64 << 53) as f64)
    }
}

/// The walls of all impacts, and the walls of all contacts. A series of series (a ball settles in a wedge by ever shorter
/// slides between the walls) has no last member that rounding would leave alone: runs of one wall count once, all but the
/// first few are left out, and of the contacts those that stay.
fn sequence(motion: &Motion, zeno: bool) -> (Vec<Vec<usize>>, Vec<usize>) {
    let mut impacts: Vec<Vec<usize>> = motion.impacts.iter().map(|i| i.walls.clone()).collect();
    let lasting = motion.contacts.iter().filter(|c| !zeno || c.to.is_none());
    let mut contacts: Vec<usize> = lasting.map(|c| c.wall).collect();
    if zeno {
        impacts.dedup();
        impacts.truncate(8);
        contacts.sort_unstable();
    }
    (impacts, contacts)
}

/// The part of two motions that rounding leaves comparable is the same.
fn same_motion(a: &Motion, b: &Motion, rounding: f64, about: &str) {
    let amplification = a.audit.amplification.unwrap_or(1.0).max(1.0);
    let zeno = a.contacts.iter().chain(&b.contacts).any(|c| c.zeno);
    let (left, right) = (sequence(a, zeno), sequence(b, zeno));
    if amplification * rounding < 1e-3 {
        assert_eq!(left, right, "{about}");
    }
    for (x, y) in a.impacts.iter().zip(&b.impacts).take(10) {
        close(x.time, y.time, 1e3 * rounding * amplification.min(1e6));
    }
}

#[test]
fn balls_in_wedges_do_not_know_where_the_origin_is() {
    for seed in 1..40 {
        let run = |shift: f64| {
            let (program, options) = wedge(seed, shift, str::to_owned);
            simulate(&program, &Options { sensitivity: true, ..options }).unwrap()
        };
        let here = run(0.0);
        for shift in [10.0, 1000.0] {
            same_motion(&here, &run(shift), 1e-15 * shift, &format!("seed {seed}, shift {shift}"));
        }
    }
}

#[test]
fn a_gap_may_be_written_as_twice_itself_or_as_its_sine() {
    for seed in 1..40 {
        let run = |write: &dyn Fn(&str) -> String| {
            let (program, options) = wedge(seed, 0.0, write);
            simulate(&program, &Options { sensitivity: true, ..options }).unwrap()
        };
        let plain = run(&str::to_owned);
        let forms: [&dyn Fn(&str) -> String; 4] = [
            &|gap| format!("2*({gap})"),
            &|gap| format!("1e-9*({gap})"),
            &|gap| format!("sin(({gap})/10)"),
            &|gap| format!("sinh({gap})"),
        ];
        for (i, form) in forms.iter().enumerate() {
            same_motion(&plain, &run(form), 1e-15, &format!("seed {seed}, form {i}"));
        }
    }
}

#[test]
fn a_row_may_be_written_as_twice_itself_or_as_its_sine() {
    for seed in 1..20 {
        let mut random = Random(seed);
        let (angle, rate) = (random.between(-3.0, 3.0), random.between(-2.0, 2.0));
        let run = |row: &str| {
            run(&format!(
                "coordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"9.81*y\"\n\
                 [holonomic]\nrod = \"{row}\"\n[wall.left]\ngap = \"x + 0.5\"\nrestitution = 0.8\n\
                 [start]\nposition = {{ x = \"abs(sin({angle}))\", y = \"-cos({angle})\" }}\n\
                 velocity = {{ x = \"{rate}*cos({angle})*sign(sin({angle}))\", y = \"{rate}*sin({angle})\" }}\n[run]\nuntil = 2.0\n"
            ))
        };
        let plain = run("x^2 + y^2 - 1");
        for row in ["2*x^2 + 2*y^2 - 2", "1e-12*(x^2 + y^2 - 1)", "sin(x^2 + y^2 - 1)", "sqrt(x^2 + y^2) - 1"]
        {
            let other = run(row);
            assert_eq!(sequence(&plain, false), sequence(&other, false), "{row}");
            assert!(other.audit.constraint_drift < 1e-13, "{row}: {:e}", other.audit.constraint_drift);
            for (a, b) in plain.position.iter().zip(&other.position) {
                close(*a.values.last().unwrap(), *b.values.last().unwrap(), 1e-10);
            }
        }
    }
}

#[test]
fn masses_of_any_size_carry_inertia() {
    for (m, big) in [(1e-12, 1.0), (1e-15, 1.0), (1e-20, 1.0), (1e-15, 1e15), (1e-12, 1e-12), (1e-300, 1.0)] {
        let text = format!(
            "coordinates = [\"x\", \"y\"]\n[parameters]\nm = {m:e}\nM = {big:e}\n[energy]\n\
             kinetic = \"m/2*x'^2 + M/2*y'^2\"\npotential = \"m*x^2 + M*9.8*y\"\n\
             [wall.floor]\ngap = \"y\"\n[start]\nposition = {{ x = 1, y = 1 }}\n[run]\nuntil = 3.0\n"
        );
        let (program, options) = program(&text);
        let motion = simulate(&program, &options).unwrap();
        close(*motion.position[0].values.last().unwrap(), (3.0 * 2.0_f64.sqrt()).cos(), 1e-13);
        close(motion.impacts[0].time, (2.0_f64 / 9.8).sqrt(), 1e-15);
    }
}
