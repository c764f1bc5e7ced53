//! Events against brute force: motions in closed form, random event functions scanned densely; every crossing fires once,
//! at its time, in its direction, where its condition holds. Also at corners of forces, at impacts, next to other events.

mod common;

use carom_run::Motion;
use common::{close, run};
use proptest::prelude::*;

/// Times at which an event fired.
fn times(motion: &Motion, event: usize) -> Vec<f64> {
    motion.events.iter().filter(|e| e.event == event).map(|e| e.time).collect()
}

const DIRECTIONS: [&str; 3] = ["both", "rising", "falling"];

fn wanted(direction: usize, rising: bool) -> bool {
    match direction {
        0 => true,
        1 => rising,
        _ => !rising,
    }
}

#[test]
fn an_event_on_the_corner_of_a_potential_fires_once_per_crossing() {
    // V = |x|: x = x0 − t²/2 until √(2 x0), then every 2√(2 x0); offsets, factors and units do not matter.
    for (potential, when) in [
        ("abs(x)", "x"),
        ("abs(x)", "2*x"),
        ("abs(x)", "sin(x)"),
        ("abs(x)", "x^3"),
        ("max(x, -x)", "x"),
        ("abs(x - 10)", "x - 10"),
        ("abs(x - 1/3)", "3*x - 1"),
        ("x*sign(x)", "x"),
    ] {
        let offset = match potential {
            "abs(x - 10)" => 10.0,
            "abs(x - 1/3)" => 1.0 / 3.0,
            _ => 0.0,
        };
        for k in 1..40 {
            let amplitude = 0.07 * f64::from(k);
            for (d, direction) in DIRECTIONS.iter().enumerate() {
                let text = format!(
                    "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"{potential}\"\n[event.a]\nwhen = \"{when}\"\ndirection = \"{direction}\"\n[event.b]\nwhen = \"{when}\"\n[start]\nposition = {{ x = {} }}\n[run]\nuntil = 20.0\n",
                    offset + amplitude
                );
                let motion = run(&text);
                let quarter = (2.0 * amplitude).sqrt();
                let all: Vec<f64> =
                    (0..).map(|i| quarter * f64::from(2 * i + 1)).take_while(|t| *t < 20.0).collect();
                let expected: Vec<f64> =
                    all.iter().enumerate().filter(|(i, _)| wanted(d, i % 2 == 1)).map(|(_, t)| *t).collect();
                for (event, expected) in [(0, &expected), (1, &all)] {
                    let found = times(&motion, event);
                    assert_eq!(
                        found.len(),
                        expected.len(),
                        "{potential} {when} {amplitude} {direction}: {found:?}"
                    );
                    // x³ is known to the third root of rounding.
                    let unsure = if when == "x^3" { 1e-4 } else { 1e-11 / quarter };
                    found.iter().zip(expected).for_each(|(a, b)| close(*a, *b, unsure));
                }
            }
        }
    }
}

#[test]
fn an_event_at_the_instant_of_an_impact_fires_however_near_another_event_came_before() {
    // y = 4t − t² bounces at t = 4 with x = 4; event b is there too, a comes a little before, c a little after.
    for apart in ["0", "1e-16", "4e-16", "1e-15", "3e-15", "1e-14", "1e-13", "1e-12", "1e-9"] {
        for b in ["x - 4", "2*x - 8", "x^2 - 16", "(x - 4)^3", "sin((x - 4)/4)", "t - 4", "4 - x"] {
            for (d, direction) in DIRECTIONS.iter().enumerate() {
                let text = format!(
                    "coordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"2*y\"\n[wall.floor]\ngap = \"y\"\n[event.a]\nwhen = \"x - 4 + {apart}\"\n[event.b]\nwhen = \"{b}\"\ndirection = \"{direction}\"\n[event.c]\nwhen = \"x - 4 - {apart}\"\n[event.after]\nwhen = \"x - 4\"\nonly_if = \"y'\"\n[event.before]\nwhen = \"x - 4\"\nonly_if = \"-y'\"\n[start]\nvelocity = {{ x = 1.0, y = 4.0 }}\n[run]\nuntil = 5.0\n"
                );
                let motion = run(&text);
                let rising = b != "4 - x";
                let count = usize::from(wanted(d, rising));
                let fired = [0, 1, 2, 3, 4].map(|e| times(&motion, e).len());
                assert_eq!(motion.impacts.len(), 1);
                assert_eq!(fired, [1, count, 1, 1, 0], "{apart} {b} {direction}: {:?}", motion.events);
                let unsure = if b == "(x - 4)^3" { 1e-4 } else { 1e-13 };
                times(&motion, 1).iter().for_each(|t| close(*t, 4.0, unsure));
            }
        }
    }
}

#[test]
fn an_event_on_a_gap_never_fires_at_the_bounce_whatever_it_looks_like() {
    for when in ["y", "2*y", "3*y", "sin(y)", "y/7", "y^3", "-y", "exp(y) - 1"] {
        for start in 1..30 {
            let text = format!(
                "coordinates = [\"y\"]\n[energy]\nkinetic = \"y'^2/2\"\npotential = \"9.81*y\"\n[wall.floor]\ngap = \"y\"\n[event.a]\nwhen = \"{when}\"\n[event.top]\nwhen = \"y'\"\ndirection = \"falling\"\n[start]\nposition = {{ y = {start}e-1 }}\n[run]\nuntil = 6.0\n"
            );
            let motion = run(&text);
            assert!(times(&motion, 0).is_empty(), "{when} {start}: {:?}", times(&motion, 0));
            let fall = (2.0 * 0.1 * f64::from(start) / 9.81).sqrt();
            let tops = times(&motion, 1);
            assert_eq!(tops.len(), (6.0 / (2.0 * fall)) as usize, "{start}");
            tops.iter().zip(1..).for_each(|(t, k)| close(*t, 2.0 * fall * f64::from(k), 1e-12));
        }
    }
}

#[test]
fn resets_at_the_instant_of_an_impact_act_on_the_state_after() {
    // At the floor x = 4: the reset reverses x' after the impact; the second event, later in the model, sees x turn back.
    let text = "coordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"2*y\"\n[wall.floor]\ngap = \"y\"\n[event.first]\nwhen = \"t - 4\"\n[event.turn]\nwhen = \"x - 4\"\naction = \"set\"\nset = { \"x'\" = \"-x'\", \"y'\" = \"2*y'\" }\n[event.late]\nwhen = \"x - 4\"\n[event.later]\nwhen = \"t - 4\"\n[start]\nvelocity = { x = 1.0, y = 4.0 }\n[run]\nuntil = 5.0\n";
    let motion = run(text);
    assert_eq!(motion.events.iter().map(|e| e.event).collect::<Vec<_>>(), [0, 1, 3], "{:?}", motion.events);
    close(motion.events[0].velocity[1], 4.0, 1e-12);
    close(motion.events[2].velocity[1], 8.0, 1e-12);
    close(motion.events[2].velocity[0], -1.0, 1e-15);
}

#[test]
fn a_function_that_rests_at_zero_crosses_when_it_leaves_to_the_other_side() {
    // Dry friction 2, force −t: stops at −2 + √10, held until t = 2, then backwards. x' goes +, 0, −.
    let block = |force: &str, direction: &str| {
        format!(
            "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\n[force.push]\ngeneralized = {{ x = \"{force} - 2*sign(x')\" }}\n[event.v]\nwhen = \"x'\"\ndirection = \"{direction}\"\n[start]\nvelocity = {{ x = 3.0 }}\n[run]\nuntil = 6.0\n"
        )
    };
    for (direction, count) in [("both", 1), ("falling", 1), ("rising", 0)] {
        let found = times(&run(&block("-t", direction)), 0);
        assert_eq!(found.len(), count, "{direction} {found:?}");
        found.iter().for_each(|t| close(*t, 2.0, 1e-12));
    }
    // Without a force it stays: no crossing. With one that lets it go on forwards, none either.
    assert!(times(&run(&block("0", "both")), 0).is_empty());
    assert!(times(&run(&block("(t - 2)*(t - 1)", "both")), 0).len() <= 1);
}

#[test]
fn crossings_do_not_depend_on_units_or_origin() {
    for exponent in [-15, -10, -5, 0, 5, 10, 15] {
        let unit = format!("1e{exponent}");
        let text = format!(
            "coordinates = [\"x\"]\n[parameters]\nL = \"{unit}\"\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"L*abs(x - L)\"\n[event.a]\nwhen = \"x - L\"\n[event.b]\nwhen = \"x'\"\ndirection = \"rising\"\n[start]\nposition = {{ x = \"3/2*L\" }}\n[run]\nuntil = 20.0\n"
        );
        let motion = run(&text);
        assert_eq!(
            (times(&motion, 0).len(), times(&motion, 1).len()),
            (10, 5),
            "{unit} {:?}",
            motion.events.len()
        );
    }
}

/// a + b cos(ωt + p) + c sin²(t): scanned densely, its crossings refined by bisection.
fn scan(f: &dyn Fn(f64) -> f64, until: f64, steps: u32) -> Vec<(f64, bool)> {
    let at = |k: u32| until * f64::from(k) / f64::from(steps);
    (0..steps)
        .filter(|&k| f(at(k)) * f(at(k + 1)) < 0.0)
        .map(|k| {
            let (mut lo, mut hi) = (at(k), at(k + 1));
            let rising = f(hi) > 0.0;
            for _ in 0..80 {
                let middle = 0.5 * (lo + hi);
                if (f(middle) > 0.0) == rising { hi = middle } else { lo = middle }
            }
            (0.5 * (lo + hi), rising)
        })
        .collect()
}

/// Are all crossings of a function well separated, and no tangency near?
fn clear(f: &dyn Fn(f64) -> f64, until: f64, steps: u32) -> bool {
    let h = until / f64::from(steps);
    (1..steps).all(|k| {
        let t = h * f64::from(k);
        let (before, here, after) = (f(t - h), f(t), f(t + h));
        let turns = (here - before) * (after - here) <= 0.0;
        !turns || here.abs() > 4.0 * ((here - before).abs() + (after - here).abs())
    }) && f(0.0).abs() > 1e-3
        && f(until).abs() > 1e-3
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn slow_random_events_of_two_oscillators_fire_as_a_dense_scan_says(
        (a, b, c, omega) in (-1.0f64..1.0, -1.0f64..1.0, -1.0f64..1.0, 0.3f64..4.0),
        (direction, only_if, beside) in (0usize..3, any::<bool>(), 0usize..4),
        phase in 0.1f64..3.0,
    ) {
        // x = cos t, y = cos(ωt + phase)
        let (x, y) = (|t: f64| t.cos(), move |t: f64| (omega * t + phase).cos());
        let g = move |t: f64| a + b * x(t) + y(t) + c * x(t) * y(t) * y(t);
        prop_assume!(clear(&g, 15.0, 6000));
        let only = if only_if { "only_if = \"x\"\n" } else { "" };
        // Others at the same instants or a rounding beside them, and corners in the same places.
        let formula = format!("{a:?} + {b:?}*x + y + {c:?}*x*y^2");
        let other = match beside {
            0 => String::new(),
            1 => format!("[event.other]\nwhen = \"{formula}\"\ndirection = \"rising\"\n"),
            2 => format!("[event.other]\nwhen = \"2*({formula}) + 1e-15\"\n"),
            _ => format!("[event.other]\nwhen = \"sin({formula})^3\"\n[event.corner]\nwhen = \"abs({formula}) - 1/2\"\n"),
        };
        let text = format!(
            "coordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"x^2/2 + ({omega:?})^2*y^2/2\"\n{}[event.random]\nwhen = \"{formula}\"\ndirection = \"{}\"\n{only}[start]\nposition = {{ x = 1.0, y = {:?} }}\nvelocity = {{ y = {:?} }}\n[run]\nuntil = 15.0\n",
            other, DIRECTIONS[direction], y(0.0), -omega * phase.sin()
        );
        let motion = run(&text);
        let expected: Vec<f64> = scan(&g, 15.0, 6000)
            .into_iter()
            .filter(|(t, rising)| wanted(direction, *rising) && (!only_if || x(*t) > 0.0))
            .map(|(t, _)| t)
            .collect();
        let index = match beside { 0 => 0, 3 => 2, _ => 1 };
        let found = times(&motion, index);
        prop_assert_eq!(found.len(), expected.len(), "{:?} {:?}", found, expected);
        for (f, e) in found.iter().zip(&expected) {
            prop_assert!((f - e).abs() < 1e-9, "{f} {e}");
        }
    }

    #[test]
    fn slow_random_events_of_a_bouncing_ball_fire_as_the_closed_form_says(
        (height, speed, level) in (0.2f64..2.0, -3.0f64..3.0, 0.05f64..1.9),
        direction in 0usize..3, restitution in 0.4f64..1.0, elastic in any::<bool>(), at_impact in 0usize..6,
    ) {
        // Flight between impacts in closed form; x goes on evenly. Events: a height, and x at the k-th impact.
        let (g, e) = (9.81, if elastic { 1.0 } else { restitution });
        let mut impacts = vec![(speed + (speed * speed + 2.0 * g * height).sqrt()) / g];
        let mut v = e * (speed * speed + 2.0 * g * height).sqrt();
        let mut ups = Vec::new();
        let flight = |from: f64, y0: f64, v0: f64, to: f64, ups: &mut Vec<(f64, bool)>| {
            let d = v0 * v0 - 2.0 * g * (level - y0);
            if d > 0.0 {
                for (s, rising) in [((v0 - d.sqrt()) / g, true), ((v0 + d.sqrt()) / g, false)] {
                    if s > 0.0 && from + s < to { ups.push((from + s, rising)); }
                }
            }
        };
        flight(0.0, height, speed, impacts[0], &mut ups);
        for _ in 0..8 {
            let from = impacts[impacts.len() - 1];
            let to = from + 2.0 * v / g;
            flight(from, 0.0, v, to, &mut ups);
            impacts.push(to);
            v *= e;
        }
        let until = 0.5 * (impacts[6] + impacts[7]);
        let tight = ups.iter().all(|(t, _)| impacts.iter().all(|i| (t - i).abs() > 1e-6) && (t - until).abs() > 1e-6);
        prop_assume!(tight && (level - height).abs() > 1e-6);
        let text = format!(
            "coordinates = [\"x\", \"y\"]\n[parameters]\ne_n = {e:?}\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"9.81*y\"\n[wall.floor]\ngap = \"y\"\nrestitution = \"e_n\"\n[event.level]\nwhen = \"y - {level:?}\"\ndirection = \"{}\"\n[event.x]\nwhen = \"x - {:?}\"\ndirection = \"rising\"\nonly_if = \"y' + 1e-9\"\n[event.x2]\nwhen = \"x - {:?}\"\n[start]\nposition = {{ y = {height:?} }}\nvelocity = {{ x = 1.0, y = {speed:?} }}\n[run]\nuntil = {until:?}\n",
            DIRECTIONS[direction], impacts[at_impact], impacts[at_impact] - 1e-15
        );
        let motion = run(&text);
        let expected: Vec<f64> = ups.iter().filter(|(t, r)| *t < until && wanted(direction, *r)).map(|u| u.0).collect();
        let found = times(&motion, 0);
        prop_assert_eq!(found.len(), expected.len(), "{:?} {:?}", found, expected);
        for (f, t) in found.iter().zip(&expected) {
            prop_assert!((f - t).abs() < 1e-10, "{f} {t}");
        }
        // At the impact or within its rounding: once, unless that lies before the impact, where y' < 0.
        prop_assert!(times(&motion, 1).len() <= 1 && times(&motion, 2).len() == 1, "{:?}", motion.events);
    }
}
