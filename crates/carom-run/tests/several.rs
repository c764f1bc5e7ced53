//! Several walls: blocks between an incline and a stop, wedges, grooves, tables, chains; rest times against closed forms.

#![allow(clippy::excessive_precision)]

mod common;

use carom_run::{Motion, StopReason};
use common::{close, run, signal};

/// A small deterministic generator, for families of cases.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }
}

/// When a mass that starts at height `h` with rate `v` above a wall, accelerated towards it by `a`, comes to rest there.
fn rest_time(h: f64, v: f64, a: f64, e: f64) -> f64 {
    let speed = (v * v + 2.0 * a * h).sqrt();
    let first = (v + speed) / a;
    first + 2.0 * e * speed / (a * (1.0 - e))
}

/// A block on an incline of angle `a`, with a stop at right angles to it: x down the incline, y across, in turned axes.
struct Block {
    angle: f64,
    along: f64,
    across: f64,
    speed: f64,
    incline: f64,
    stop: f64,
    shift: [f64; 2],
}

const G: f64 = 9.81;

impl Block {
    fn random(random: &mut Random) -> Block {
        Block {
            angle: random.between(0.05, 1.5),
            along: random.between(0.1, 5.0),
            across: if random.unit() < 0.5 { 0.0 } else { random.between(0.0, 1.0) },
            speed: random.between(-1.0, 1.0),
            incline: if random.unit() < 0.3 { 0.0 } else { random.between(0.0, 0.9) },
            stop: if random.unit() < 0.1 { 0.0 } else { random.between(0.0, 0.9) },
            shift: [random.between(-3.0, 3.0), random.between(-3.0, 3.0)],
        }
    }

    fn text(&self, until: f64) -> String {
        let Block { angle, along, across, speed, incline, stop, shift: [sx, sy] } = self;
        let (s, c) = angle.sin_cos();
        // Down the incline is (c, −s), away from it (s, c); the stop stands at distance `along` down the incline.
        let (x, y) = (sx + across * s, sy + across * c);
        format!(
            "coordinates = [\"x\", \"y\"]\n[parameters]\na = {angle:?}\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"{G}*y\"\n\
             [wall.incline]\ngap = \"(x - ({sx:?}))*sin(a) + (y - ({sy:?}))*cos(a)\"\nrestitution = {incline:?}\n\
             [wall.stop]\ngap = \"{along:?} - (x - ({sx:?}))*cos(a) + (y - ({sy:?}))*sin(a)\"\nrestitution = {stop:?}\n\
             [start]\nposition = {{ x = {x:?}, y = {y:?} }}\nvelocity = {{ x = \"{speed:?}*cos(a)\", y = \"-{speed:?}*sin(a)\" }}\n[run]\nuntil = {until:?}\nsamples = 3\n"
        )
    }

    /// Rest on the incline, and at the stop: the directions are orthogonal, each series is its own.
    fn rest(&self) -> (f64, f64) {
        let (s, c) = self.angle.sin_cos();
        (
            rest_time(self.across, 0.0, G * c, self.incline),
            rest_time(self.along, -self.speed, G * s, self.stop),
        )
    }
}

fn contact_from(motion: &Motion, wall: usize) -> f64 {
    let last = motion.contacts.iter().filter(|c| c.wall == wall && c.to.is_none()).map(|c| c.from);
    last.fold(f64::NAN, |_, from| from)
}

/// Rest on these walls at these times, to 1e-9; without trouble on the way.
#[track_caller]
fn rests(what: &str, motion: &Motion, times: &[f64]) {
    assert_eq!(motion.stop.reason, StopReason::Reached, "{what}: {:?}", motion.stop);
    assert!(motion.impacts.len() < 1000, "{what}: {} impacts", motion.impacts.len());
    assert!(motion.audit.hamiltonian_drift < 1e-12, "{what}: {:?}", motion.audit);
    for (wall, &time) in times.iter().enumerate() {
        let from = contact_from(motion, wall);
        assert!(
            (from - time).abs() <= 1e-9 * time,
            "{what}, wall {wall}: {from} instead of {time}, off by {:e}",
            from - time
        );
    }
    energy_never_rises(what, motion, false);
}

/// [H] ≤ 0 at every impact on walls that do not move; = 0 where all are elastic.
#[track_caller]
fn energy_never_rises(what: &str, motion: &Motion, elastic: bool) {
    let scale = motion.impacts.iter().map(|i| i.hamiltonian_before.abs()).fold(1e-3, f64::max);
    for impact in &motion.impacts {
        let change = (impact.hamiltonian_after - impact.hamiltonian_before) / scale;
        assert!(change < 1e-12 && (!elastic || change > -1e-12), "{what}: {change:e} {impact:?}");
        assert!(impact.impulse.iter().all(|l| *l >= 0.0));
    }
}

#[test]
fn slow_a_block_between_incline_and_stop_rests_when_the_closed_form_says() {
    let mut random = Random(11);
    for case in 0..200 {
        let block = Block::random(&mut random);
        let (incline, stop) = block.rest();
        let motion = run(&block.text(1.2 * incline.max(stop) + 0.1));
        rests(&format!("case {case}"), &motion, &[incline, stop]);
        assert!(motion.warnings.is_empty(), "case {case}: {:?}", motion.warnings);
    }
}

#[test]
fn slow_a_stop_that_leans_over_the_block_keeps_it_on_the_incline() {
    // Sliding in contact: the stop pushes into the incline, so both push, and along the incline the series is that of the
    // stop. `lean` is the slope of its gap across the incline.
    let mut random = Random(5);
    for case in 0..60 {
        let (a, lean) = (random.between(0.1, 1.4), random.between(0.01, 2.0));
        let (along, e, incline) = (random.between(0.2, 3.0), random.between(0.05, 0.9), random.unit());
        let time = rest_time(along, 0.0, G * f64::sin(a), e);
        let text = format!(
            "coordinates = [\"x\", \"y\"]\n[parameters]\na = {a:?}\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"{G}*y\"\n\
             [define]\nu = \"x*cos(a) - y*sin(a)\"\nw = \"x*sin(a) + y*cos(a)\"\n\
             [wall.incline]\ngap = \"w\"\nrestitution = {incline:?}\n[wall.stop]\ngap = \"{along:?} - u - {lean:?}*w\"\nrestitution = {e:?}\n\
             [run]\nuntil = {:?}\nsamples = 3\n",
            1.2 * time
        );
        let motion = run(&text);
        rests(&format!("case {case}"), &motion, &[0.0, time]);
        assert_eq!(motion.contacts.len(), 2, "case {case}: the incline is never left, {:?}", motion.contacts);
        assert!(
            motion.warnings.iter().all(|w| w.contains("rule for several walls")),
            "{:?}",
            motion.warnings
        );
    }
}

#[test]
fn slow_a_stop_that_leans_away_throws_the_block_off_and_it_comes_to_rest() {
    let mut random = Random(7);
    for case in 0..40 {
        let (a, lean) = (random.between(0.1, 1.4), random.between(0.01, 1.0));
        let (along, e, incline) =
            (random.between(0.2, 3.0), random.between(0.0, 0.6), random.between(0.0, 0.6));
        let text = format!(
            "coordinates = [\"x\", \"y\"]\n[parameters]\na = {a:?}\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"{G}*y\"\n\
             [define]\nu = \"x*cos(a) - y*sin(a)\"\nw = \"x*sin(a) + y*cos(a)\"\n\
             [wall.incline]\ngap = \"w\"\nrestitution = {incline:?}\n[wall.stop]\ngap = \"{along:?} - u + {lean:?}*w\"\nrestitution = {e:?}\n\
             [run]\nuntil = 200.0\nsamples = 3\n",
        );
        let motion = run(&text);
        let what = format!(
            "case {case}: {} impacts {:?} {:?}\n{text}",
            motion.impacts.len(),
            motion.stop,
            motion.audit
        );
        assert!(motion.stop.reason == StopReason::Reached && motion.impacts.len() < 1000, "{what}");
        energy_never_rises(&what, &motion, false);
        // At rest where the walls meet, or sliding over the top of a stop that does not hold it.
        let holds = lean * f64::sin(a) < f64::cos(a);
        let open = motion.contacts.iter().filter(|c| c.to.is_none()).count();
        assert!(!holds || open == 2, "{what} {:?}", motion.contacts);
    }
}

#[test]
fn a_ball_dropped_into_the_middle_of_a_groove_bounces_straight_up() {
    // Both sides at once, by symmetry as one wall: y′ → −e y′ whatever the slope.
    for slope in [0.1, 0.5, 1.0, 2.5] {
        for e in [0.0, 0.3, 0.7] {
            let time = rest_time(0.8, 0.0, G, e);
            let motion = run(&format!(
                "coordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"{G}*y\"\n[wall.left]\ngap = \"y + {slope}*x\"\nrestitution = {e}\n[wall.right]\ngap = \"y - {slope}*x\"\nrestitution = {e}\n[start]\nposition = {{ y = 0.8 }}\n[run]\nuntil = {}\nsamples = 3\n",
                1.5 * time
            ));
            rests(&format!("slope {slope}, e = {e}"), &motion, &[time, time]);
            close(*signal(&motion.contact_force, "left").last().unwrap(), G / 2.0, 1e-12);
        }
    }
}

#[test]
fn slow_a_ball_in_a_right_angled_groove_rests_on_each_side_at_its_own_time() {
    let mut random = Random(3);
    for case in 0..60 {
        let turn = random.between(0.2, 1.3);
        let (h, v) = (
            [random.between(0.0, 1.0), random.between(0.0, 1.0)],
            [random.between(-1.0, 1.0), random.between(-1.0, 1.0)],
        );
        let e = [random.between(0.0, 0.9), random.between(0.0, 0.9)];
        let (s, c) = f64::sin_cos(turn);
        // Normals (s, c) and (−c, s): gaps fall with g c and g s.
        let (x, y) = (h[0] * s - h[1] * c, h[0] * c + h[1] * s);
        let (vx, vy) = (v[0] * s - v[1] * c, v[0] * c + v[1] * s);
        let times = [rest_time(h[0], v[0], G * c, e[0]), rest_time(h[1], v[1], G * s, e[1])];
        let motion = run(&format!(
            "coordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"{G}*y\"\n[wall.left]\ngap = \"{s:?}*x + {c:?}*y\"\nrestitution = {:?}\n[wall.right]\ngap = \"{s:?}*y - {c:?}*x\"\nrestitution = {:?}\n[start]\nposition = {{ x = {x:?}, y = {y:?} }}\nvelocity = {{ x = {vx:?}, y = {vy:?} }}\n[run]\nuntil = {:?}\nsamples = 3\n",
            e[0],
            e[1],
            1.3 * times[0].max(times[1])
        ));
        rests(&format!("case {case} {e:?}"), &motion, &times);
    }
}

#[test]
fn slow_a_table_whose_legs_do_not_feel_each_other_rests_on_each_at_its_own_time() {
    // Height y, tilt a, legs at ±l: their gaps y ± l a decouple for inertia m l².
    let mut random = Random(17);
    for case in 0..60 {
        let (m, l) = (random.between(0.2, 5.0), random.between(0.2, 2.0));
        let (h, e) = (
            [random.between(0.05, 1.0), random.between(0.05, 1.0)],
            [random.between(0.0, 0.9), random.between(0.0, 0.9)],
        );
        let times = [rest_time(h[0], 0.0, G, e[0]), rest_time(h[1], 0.0, G, e[1])];
        let motion = run(&format!(
            "coordinates = [\"y\", \"a\"]\n[parameters]\nm = {m:?}\nl = {l:?}\n[energy]\nkinetic = \"m/2*y'^2 + m*l^2/2*a'^2\"\npotential = \"m*{G}*y\"\n[wall.left]\ngap = \"y - l*a\"\nrestitution = {:?}\n[wall.right]\ngap = \"y + l*a\"\nrestitution = {:?}\n[start]\nposition = {{ y = {:?}, a = {:?} }}\n[run]\nuntil = {:?}\nsamples = 3\n",
            e[0],
            e[1],
            (h[0] + h[1]) / 2.0,
            (h[1] - h[0]) / (2.0 * l),
            1.2 * times[0].max(times[1])
        ));
        rests(&format!("case {case}"), &motion, &times);
    }
}

fn four_legs(inertia: f64, e: &[f64; 4], start: &str, until: f64) -> String {
    let mut text = format!(
        "coordinates = [\"y\", \"a\", \"b\"]\n[energy]\nkinetic = \"y'^2/2 + {inertia:?}/2*(a'^2 + b'^2)\"\npotential = \"{G}*y\"\n"
    );
    for (i, (gap, e)) in ["y + a + b", "y + a - b", "y - a - b", "y - a + b"].iter().zip(e).enumerate() {
        text += &format!("[wall.leg{i}]\ngap = \"{gap}\"\nrestitution = {e:?}\n");
    }
    text + &format!("[start]\nposition = {{ {start} }}\n[run]\nuntil = {until:?}\nsamples = 3\n")
}

#[test]
fn a_table_on_four_legs_dropped_flat_rests_on_all_of_them() {
    for e in [0.0, 0.4, 0.8] {
        let time = rest_time(0.5, 0.0, G, e);
        let motion = run(&four_legs(0.3, &[e; 4], "y = 0.5", 1.3 * time));
        rests(&format!("e = {e}"), &motion, &[time; 4]);
        for leg in 0..4 {
            close(*signal(&motion.contact_force, &format!("leg{leg}")).last().unwrap(), G / 4.0, 1e-12);
        }
    }
}

#[test]
fn slow_a_table_on_four_legs_dropped_tilted_comes_to_rest() {
    let mut random = Random(23);
    for case in 0..40 {
        let inertia = random.between(0.1, 2.0);
        let equal = random.between(0.0, 0.5);
        let e: [f64; 4] =
            std::array::from_fn(|_| if case % 2 == 0 { equal } else { random.between(0.0, 0.5) });
        let (a, b) = (random.between(-0.2, 0.2), random.between(-0.2, 0.2));
        let text = four_legs(inertia, &e, &format!("y = 0.6, a = {a:?}, b = {b:?}"), 60.0);
        let motion = run(&text);
        let what = format!(
            "case {case} e {e:?}: {} impacts, {:?} {:?} {:?}\n{text}",
            motion.impacts.len(),
            motion.stop,
            motion.audit,
            motion.warnings
        );
        assert!(motion.stop.reason == StopReason::Reached && motion.impacts.len() < 1000, "{what}");
        energy_never_rises(&what, &motion, false);
        assert_eq!(
            motion.contacts.iter().filter(|c| c.to.is_none()).count(),
            4,
            "{what} {:?}",
            motion.contacts
        );
        for leg in 0..4 {
            close(*signal(&motion.contact_force, &format!("leg{leg}")).last().unwrap(), G / 4.0, 1e-9);
        }
    }
}

/// Balls in a row between two walls that may be absent: random masses, restitutions, starts.
fn chain(
    random: &mut Random,
    balls: usize,
    elastic: bool,
    weight: f64,
    order: &str,
    together: bool,
) -> String {
    let names: Vec<String> = (0..balls).map(|i| format!("q{i}")).collect();
    let list = |f: &mut dyn FnMut(usize) -> String| (0..balls).map(f).collect::<Vec<_>>();
    let masses: Vec<f64> = (0..balls).map(|_| random.between(0.1, 4.0)).collect();
    let mut e = || if elastic { 1.0 } else { random.unit() };
    let mut walls = format!("[wall.floor]\ngap = \"q0\"\nrestitution = {:?}\n", e());
    for i in 1..balls {
        walls += &format!("[wall.w{i}]\ngap = \"q{i} - q{}\"\nrestitution = {:?}\n", i - 1, e());
    }
    walls += &format!("[wall.lid]\ngap = \"{balls} - q{}\"\nrestitution = {:?}\n", balls - 1, e());
    let kinetic = list(&mut |i| format!("{:?}*q{i}'^2/2", masses[i])).join(" + ");
    let potential = list(&mut |i| format!("{:?}*q{i}", weight * masses[i])).join(" + ");
    let position =
        list(&mut |i| format!("q{i} = {:?}", if together { 0.0 } else { i as f64 * 0.7 + 0.3 })).join(", ");
    let velocity = list(&mut |i| format!("q{i} = {:?}", random.between(-1.0, 1.0))).join(", ");
    format!(
        "coordinates = {names:?}\n[energy]\nkinetic = \"{kinetic}\"\npotential = \"{potential}\"\n{walls}[start]\nposition = {{ {position} }}\nvelocity = {{ {velocity} }}\n[run]\nuntil = 4.0\nsamples = 3\nmax_impacts = 20000\nimpact_order = \"{order}\"\n"
    )
}

#[test]
fn slow_chains_and_stacks_of_balls_never_gain_energy() {
    let mut random = Random(31);
    for case in 0..120 {
        let (elastic, together) = (case % 3 == 0, case % 2 == 0);
        let order = if case % 5 == 0 { "sequential" } else { "simultaneous" };
        let weight = if case % 4 < 2 { 0.0 } else { G };
        let balls = 2 + case % 4;
        let text = chain(&mut random, balls, elastic, weight, order, together);
        let motion = run(&text);
        let what = format!(
            "case {case}: {} impacts, {:?} {:?}\n{text}",
            motion.impacts.len(),
            motion.stop,
            motion.audit
        );
        assert_eq!(motion.stop.reason, StopReason::Reached, "{what}");
        assert!(motion.audit.hamiltonian_drift < 1e-11, "{what}");
        energy_never_rises(&what, &motion, elastic);
    }
}

#[test]
fn slow_wedges_and_cones_never_give_energy() {
    let mut random = Random(41);
    for case in 0..120 {
        let three = case % 2 == 1;
        let elastic = case % 3 == 0;
        let (names, walls) = if three { (["x", "y", "z"], 3 + case % 3) } else { (["x", "y", ""], 2) };
        let free = if three { 3 } else { 2 };
        let mass: Vec<f64> = (0..free).map(|_| random.between(0.2, 3.0)).collect();
        let mut text = format!("coordinates = {:?}\n[energy]\nkinetic = \"", &names[..free]);
        text +=
            &(0..free).map(|i| format!("{:?}*{}'^2/2", mass[i], names[i])).collect::<Vec<_>>().join(" + ");
        text += &format!("\"\npotential = \"{G}*{}\"\n", names[free - 1]);
        for w in 0..walls {
            // Sides of a pit that opens upwards, around the vertical.
            let (turn, slope) = (
                std::f64::consts::TAU * (w as f64 + 0.4 * random.unit()) / walls as f64,
                random.between(0.2, 3.0),
            );
            let (s, c) = turn.sin_cos();
            let gap = if three {
                format!("z + {:?}*x + {:?}*y", slope * s, slope * c)
            } else {
                format!("y + {:?}*x", if w == 0 { slope } else { -slope })
            };
            text += &format!(
                "[wall.w{w}]\ngap = \"{gap}\"\nrestitution = {:?}\n",
                if elastic { 1.0 } else { random.unit() }
            );
        }
        let velocity = (0..free)
            .map(|i| format!("{} = {:?}", names[i], random.between(-1.0, 0.5)))
            .collect::<Vec<_>>()
            .join(", ");
        let start = if case % 4 < 2 { 0.0 } else { 0.5 };
        text += &format!(
            "[start]\nposition = {{ {} = {start:?} }}\nvelocity = {{ {velocity} }}\n[run]\nuntil = 3.0\nsamples = 3\nmax_impacts = 20000\n",
            names[free - 1]
        );
        let motion = run(&text);
        let what = format!(
            "case {case}: {} impacts, {:?} {:?} {:?}\n{text}",
            motion.impacts.len(),
            motion.stop,
            motion.audit,
            motion.warnings
        );
        assert_eq!(motion.stop.reason, StopReason::Reached, "{what}");
        assert!(motion.audit.hamiltonian_drift < 1e-11 && motion.audit.deepest_penetration < 1e-12, "{what}");
        energy_never_rises(&what, &motion, elastic);
    }
}

#[test]
fn a_mass_in_a_slit_of_no_width_is_stopped_with_a_warning_by_both_rules() {
    for order in ["simultaneous", "sequential"] {
        let motion = run(&format!(
            "coordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\n[wall.left]\ngap = \"x\"\n[wall.right]\ngap = \"-2*x\"\n[start]\nvelocity = {{ x = -1, y = 1 }}\n[run]\nuntil = 2.0\nimpact_order = \"{order}\"\n"
        ));
        assert_eq!(motion.stop.reason, StopReason::Reached, "{:?}", motion.stop);
        close(*signal(&motion.position, "x").last().unwrap(), 0.0, 0.0);
        close(*signal(&motion.position, "y").last().unwrap(), 2.0, 1e-15);
        assert!(motion.warnings.iter().any(|w| w.contains("no room")), "{:?}", motion.warnings);
    }
}

#[test]
fn a_gap_written_as_twice_itself_gives_the_same_motion() {
    let mut random = Random(53);
    for case in 0..12 {
        let text = chain(&mut random, 4, case % 2 == 0, G, "simultaneous", case % 3 == 0);
        let (once, twice) = (run(&text), run(&text.replace("gap = \"q2 - q1\"", "gap = \"2*(q2 - q1)\"")));
        let sequence = |m: &Motion| m.impacts.iter().map(|i| i.walls.clone()).collect::<Vec<_>>();
        assert_eq!(sequence(&once), sequence(&twice), "case {case}");
        for (a, b) in
            once.position.iter().chain(&once.velocity).zip(twice.position.iter().chain(&twice.velocity))
        {
            for (x, y) in a.values.iter().zip(&b.values) {
                close(*x, *y, 1e-9);
            }
        }
    }
}
