//! Every gallery model has a view that makes sense, and models without a view get one where it is obvious.

use carom_mech::{Draft, Mechanics, derive};
use carom_run::{Motion, Options, Program, Sampling, simulate};
use carom_show::track::Track;
use carom_show::view::{Role, Stage, scene};
use carom_show::{page, plot};

#[path = "../../../tests/gallery.rs"]
mod gallery;

fn run(text: &str, name: &str, samples: usize) -> (Mechanics, Motion) {
    let (draft, problems) = Draft::parse(text, name);
    assert!(problems.is_empty(), "{name}: {problems:?}");
    let (model, _) = draft.check().unwrap_or_else(|p| panic!("{name}: {p:?}"));
    let mut options = Options::of(&model);
    options.sampling = Sampling::Even(samples);
    // Pictures need no long motion.
    options.max_steps = options.max_steps.min(20_000);
    options.max_impacts = options.max_impacts.min(500);
    let mechanics = derive(model).unwrap_or_else(|p| panic!("{name}: {p:?}"));
    let program = Program::compile(&mechanics).unwrap_or_else(|e| panic!("{name}: {e}"));
    let motion = simulate(&program, &options).unwrap_or_else(|e| panic!("{name}: {e:?}"));
    (mechanics, motion)
}

fn stage(mechanics: &Mechanics, motion: &Motion) -> Stage {
    let mut mechanics = mechanics.clone();
    let scene = scene(&mut mechanics).expect("something to draw");
    let track = Track::new(&mechanics, motion);
    Stage::new(&track, &scene)
}

#[test]
fn every_gallery_model_is_drawn_plotted_and_stays_in_its_frame() {
    let mut wrong: Vec<String> = Vec::new();
    for (name, text) in gallery::all() {
        let (mechanics, motion) = run(&text, &name, 301);
        let stage = stage(&mechanics, &motion);
        for p in stage.points.iter().filter(|p| p.role != Role::Pivot) {
            for (c, &(low, high)) in p.at.iter().zip(&stage.bounds) {
                let (least, most) = c.iter().fold((low, high), |(a, b), &x| (x.min(a), x.max(b)));
                if least < low || most > high {
                    wrong.push(format!("{name}: {} leaves [{low}, {high}]: [{least}, {most}]", p.name));
                }
            }
        }
        let drawn = |w: &usize| stage.walls.iter().any(|s| s.wall == *w);
        for (w, wall) in mechanics.model.walls.iter().enumerate() {
            if wall.draw.is_some() && !drawn(&w) {
                wrong.push(format!("{name}: wall {} is not drawn", wall.name));
            }
        }
        for flash in stage.flashes.iter().filter(|f| f.points.is_empty()).take(1) {
            wrong.push(format!("{name}: the impact at {} flashes nowhere", flash.time));
        }
        let html = page::html(&mechanics, &motion, &[]).expect("a page");
        assert!(html.contains("window.carom"));
        let svg = plot::svg(&mechanics, &motion, &[], plot::PlotStyle::default()).expect("a plot");
        assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{name}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_page_of_ten_seconds_of_double_pendulum_stays_below_half_a_megabyte() {
    let (name, text) = ("double_pendulum", gallery::text("double_pendulum"));
    let (_, scout) = run(&text, name, 2);
    let (mechanics, motion) = run(&text, name, page::samples_for(scout.audit.steps));
    let html = page::html(&mechanics, &motion, &[]).expect("a page");
    assert!(html.len() < 500_000, "{} bytes", html.len());
}

const PENDULUM: &str = r#"
coordinates = ["theta"]
[parameters]
l = 2.0
[energy]
kinetic = "l^2/2*theta'^2"
potential = "POTENTIAL"
[start]
position = { theta = 0.5 }
"#;

#[test]
fn a_single_angle_is_drawn_as_a_rod_that_hangs_where_the_potential_is_lowest() {
    for (potential, x, y) in [
        ("-9.81*l*cos(theta)", 2.0 * 0.5f64.sin(), -2.0 * 0.5f64.cos()),
        ("9.81*l*cos(theta)", 2.0 * 0.5f64.sin(), 2.0 * 0.5f64.cos()),
        ("9.81*l*sin(theta)", 2.0 * 0.5f64.cos(), 2.0 * 0.5f64.sin()),
    ] {
        let (mechanics, motion) = run(&PENDULUM.replace("POTENTIAL", potential), "pendulum", 101);
        let stage = stage(&mechanics, &motion);
        let p = &stage.points[0];
        assert!((p.at[0][0] - x).abs() < 1e-12 && (p.at[1][0] - y).abs() < 1e-12, "{potential}");
        assert_eq!(stage.links, [(1, 0)], "a rod from the origin");
        assert_eq!(stage.points[1].role, Role::Pivot);
    }
}

#[test]
fn definitions_called_x_and_y_are_places_and_constant_distances_are_rods() {
    let text = r#"
        coordinates = ["a", "b"]
        [define]
        x1 = "sin(a)"
        y1 = "-cos(a)"
        x2 = "x1 + sin(b)"
        y2 = "y1 - cos(b)"
        [energy]
        kinetic = "(x1'^2 + y1'^2 + x2'^2 + y2'^2)/2"
        potential = "9.81*(y1 + y2)"
        [wall.side]
        gap = "x2 + 0.5"
        [start]
        position = { a = 1.0, b = 1.5 }
    "#;
    let (mechanics, motion) = run(text, "double", 301);
    let stage = stage(&mechanics, &motion);
    assert_eq!(stage.links, [(0, 1), (2, 0)]);
    // The wall's place follows from its gap: the line x = −0.5, the free side on its left.
    let wall = &stage.walls[0].frames[0][0];
    assert!(wall.iter().all(|p| (p.0 + 0.5).abs() < 1e-6), "{wall:?}");
    assert!(wall[0].1 > wall[1].1, "going down, x > −0.5 is on the left");
    // It acts on the second bob.
    assert!(!stage.flashes.is_empty() && stage.flashes.iter().all(|f| f.points == [1]));
}

#[test]
fn a_gap_of_the_coordinates_of_a_point_draws_a_curve_and_a_moving_gap_moves() {
    let text = r#"
        coordinates = ["x", "y"]
        [energy]
        kinetic = "(x'^2 + y'^2)/2"
        potential = "y"
        [wall.ring]
        gap = "4 - x^2 - y^2"
        [wall.piston]
        gap = "y + 1 - 0.2*sin(3*t)"
        [start]
        velocity = { x = 0.3 }
    "#;
    let (mechanics, motion) = run(text, "ring", 301);
    let stage = stage(&mechanics, &motion);
    let ring = &stage.walls[0];
    assert_eq!(ring.frames.len(), 1);
    assert!(ring.frames[0].iter().flatten().all(|p| (p.0.hypot(p.1) - 2.0).abs() < 1e-6));
    let piston = &stage.walls[1];
    assert_eq!(piston.frames.len(), stage.len());
    for (frame, t) in piston.frames.iter().zip(&piston.times) {
        assert!(
            frame[0].iter().all(|p| (p.1 + 1.0 - 0.2 * (3.0 * t).sin()).abs() < 1e-9),
            "{frame:?} at {t}"
        );
    }
}

#[test]
fn a_model_that_does_not_say_where_things_are_gets_advice_and_a_page_of_plots() {
    let text = r#"
        coordinates = ["q1", "psi"]
        [energy]
        kinetic = "(q1'^2 + psi'^2)/2"
        potential = "q1^2*psi^2"
    "#;
    let (mechanics, motion) = run(text, "abstract", 11);
    let page = page::html(&mechanics, &motion, &[]).expect("a page of plots");
    assert!(page.contains("class=\"plots-only\"") && page.contains("\"dimension\":0"));
    let problems = scene(&mut mechanics.clone()).expect_err("nothing to draw");
    assert!(problems[0].message.starts_with("nothing to draw"));
    assert!(problems[0].hint.as_deref().is_some_and(|h| h.contains("[body.NAME]") && h.contains("[view]")));
    assert!(plot::svg(&mechanics, &motion, &[], plot::PlotStyle::default()).is_ok());
}

#[test]
fn a_force_of_the_size_of_rounding_gets_no_panel_and_a_small_one_that_acts_does() {
    let drawn = |text: &str, name: &str| {
        let (mechanics, mut motion) = run(text, name, 501);
        let forces = motion.contact_force.iter().flat_map(|f| &f.values).fold(0.0f64, |m, f| m.max(f.abs()));
        let picture =
            |motion: &Motion| plot::svg(&mechanics, motion, &[], plot::PlotStyle::default()).unwrap();
        let with = picture(&motion);
        motion.contact_force.iter_mut().for_each(|f| f.values.fill(0.0));
        (forces, with != picture(&motion))
    };
    // Balls at rest that touch: their forces are what is left of m g l sin θ with θ = rounding.
    let cradle = gallery::text("newtons_cradle");
    let (forces, shown) = drawn(&cradle, "cradle");
    assert!(forces > 0.0 && forces < 1e-14 && !shown, "{forces}");
    // A block that slides along the floor, pressed down by its weight, its gap in units that make the force tiny.
    let block = "coordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"9.81*y\"\n[wall.floor]\ngap = \"1e12*y\"\n[start]\nvelocity = { x = 1.0 }\n";
    let (forces, shown) = drawn(block, "block");
    assert!(forces > 0.0 && forces < 1e-11 && shown, "{forces}");
}

/// The distance from a point to the nearest of some curves.
fn distance(point: (f64, f64), curves: &[Vec<(f64, f64)>]) -> f64 {
    let to_segment = |a: (f64, f64), b: (f64, f64)| {
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let along = ((point.0 - a.0) * dx + (point.1 - a.1) * dy) / (dx * dx + dy * dy);
        let along = along.clamp(0.0, 1.0);
        (point.0 - a.0 - along * dx).hypot(point.1 - a.1 - along * dy)
    };
    let segments = curves.iter().flat_map(|c| c.windows(2).map(|w| to_segment(w[0], w[1])));
    segments.fold(f64::INFINITY, f64::min)
}

#[test]
fn an_impact_is_marked_where_the_gap_is_measured_in_every_gallery_model() {
    // Where the wall is not drawn, or what is drawn is the middle of something with a size.
    let known = |model: &str, wall: &str| -> Option<Vec<&'static str>> {
        match (model, wall) {
            ("ball_on_incline", _) => Some(vec!["ball"]),
            ("galperin_blocks", "blocks") => Some(vec!["light", "heavy"]),
            ("galperin_blocks", _) => Some(vec!["light"]),
            ("newtons_cradle", "contact12") => Some(vec!["ball1", "ball2"]),
            ("newtons_cradle", "contact23") => Some(vec!["ball2", "ball3"]),
            ("newtons_cradle", "contact34") => Some(vec!["ball3", "ball4"]),
            ("newtons_cradle", "contact45") => Some(vec!["ball4", "ball5"]),
            _ => None,
        }
    };
    let mut wrong: Vec<String> = Vec::new();
    let (mut checked, mut listed) = (0, 0);
    for (name, text) in gallery::all() {
        let (mechanics, motion) = run(&text, &name, 301);
        let stage = stage(&mechanics, &motion);
        let size = stage.bounds.iter().map(|b| b.1 - b.0).fold(0.0, f64::max);
        for flash in stage.flashes.iter().filter(|f| f.walls.len() == 1) {
            let wall = &mechanics.model.walls[flash.walls[0]].name;
            let marked: Vec<&str> = flash.points.iter().map(|&p| stage.points[p].name.as_str()).collect();
            if let Some(expected) = known(&name, wall) {
                listed += 1;
                if marked != expected {
                    wrong.push(format!("{name}: {wall} marks {marked:?}"));
                }
                continue;
            }
            let place = |p: usize| (stage.points[p].at[0][flash.knot], stage.points[p].at[1][flash.knot]);
            let curves = match stage.walls.iter().find(|w| w.wall == flash.walls[0]) {
                Some(drawn) => {
                    let nearest = |t: &f64| (t - flash.time).abs();
                    let frame = (0..drawn.times.len())
                        .min_by(|&a, &b| nearest(&drawn.times[a]).total_cmp(&nearest(&drawn.times[b])));
                    drawn.frames[frame.unwrap_or(0)].clone()
                }
                // The box of the jack: its sides are links.
                None if name == "jack_in_box" => {
                    stage.links[..4].iter().map(|&(a, b)| vec![place(a), place(b)]).collect()
                }
                None => {
                    wrong.push(format!("{name}: where is wall {wall}?"));
                    continue;
                }
            };
            checked += 1;
            let off = flash.points.iter().map(|&p| distance(place(p), &curves)).fold(0.0, f64::max);
            // Curves are drawn on a grid of 140 cells, straight walls exactly.
            let straight = curves.iter().all(|c| c.len() == 2);
            if marked.len() != 1 || off > if straight { 1e-9 } else { 1e-3 } * size {
                wrong.push(format!("{name}: {wall} at {} marks {marked:?}, {off:.1e} from it", flash.time));
            }
        }
    }
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked > 200 && listed > 20, "{checked} {listed}");
}

/// Two laminas that both move and turn; a corner of one meets a side of the other. Both are drawn by their corners.
#[test]
fn of_two_drawn_bodies_the_touching_corner_is_marked_whatever_the_units() {
    for (corner, metre) in [(0, 1.0), (1, 1e-6), (2, 1e6), (3, 1.0)] {
        let offsets = [(0.5, 0.1), (-0.3, 0.4), (-0.6, -0.2), (0.2, -0.7)];
        let at = |k: usize| {
            let (a, b) = offsets[k];
            let (a, b) = (a * metre, b * metre);
            [
                format!("x + ({a:e})*cos(th) - ({b:e})*sin(th)"),
                format!("y + ({a:e})*sin(th) + ({b:e})*cos(th)"),
            ]
        };
        let plate = |k: usize| {
            let a = [-3.0, 3.0, 3.0, -3.0][k] * metre;
            let b = [0.0, 0.0, -1.0, -1.0][k] * metre;
            [
                format!("X + ({a:e})*cos(be) - ({b:e})*sin(be)"),
                format!("Y + ({a:e})*sin(be) + ({b:e})*cos(be)"),
            ]
        };
        let link = |a: [String; 2], b: [String; 2]| format!("[{a:?}, {b:?}]");
        let links: Vec<String> =
            (0..4).flat_map(|k| [link(at(k), at((k + 1) % 4)), link(plate(k), plate((k + 1) % 4))]).collect();
        let [px, py] = at(corner);
        let (height, speed, inertia) = (2.0 * metre, -metre, metre * metre);
        let text = format!(
            r#"
            coordinates = ["X", "Y", "be", "x", "y", "th"]
            [energy]
            kinetic = "(X'^2 + Y'^2 + x'^2 + y'^2)/2 + {inertia:e}/2*(9*be'^2 + th'^2)"
            potential = "0*x"
            [wall.plate]
            gap = "cos(be)*({py} - Y) - sin(be)*({px} - X)"
            [start]
            position = {{ y = {height:e}, th = 0.4, be = 0.1 }}
            velocity = {{ y = {speed:e}, th = 0.3, be = 0.05 }}
            [view]
            links = [{}]
            [run]
            until = 5
            "#,
            links.join(", ")
        );
        let (mechanics, motion) = run(&text, "laminas", 101);
        let stage = stage(&mechanics, &motion);
        let name = at(corner).join(", ");
        assert!(!stage.flashes.is_empty(), "no impact");
        for flash in &stage.flashes {
            let marked: Vec<&String> = flash.points.iter().map(|&p| &stage.points[p].name).collect();
            assert_eq!(marked, [&name]);
        }
    }
}
