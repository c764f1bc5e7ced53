//! Pictures tested by their pixels: forms have the areas they should have, bodies in space are where the projection puts them.

use carom_mech::{Draft, Mechanics};
use carom_run::{Motion, Options, Program, Sampling, simulate};
use carom_show::draw::{Color, Pixels, Theme};
use carom_show::film::{Film, FilmStyle};
use carom_show::track::Track;
use carom_show::view::{FillShape, Stage, scene};

#[path = "../../../tests/gallery.rs"]
mod gallery;

const THEMES: [Theme; 2] = [Theme::Light, Theme::Dark];

fn run(text: &str) -> (Mechanics, Motion) {
    let (draft, problems) = Draft::parse(text, "test.toml");
    assert!(problems.is_empty(), "{problems:?}");
    let (model, _) = draft.check().expect("a right model");
    let mut options = Options::of(&model);
    options.sampling = Sampling::Even(801);
    let mechanics = carom_mech::derive_equations(model).expect("equations");
    let program = Program::compile(&mechanics).expect("a program");
    let motion = simulate(&program, &options).expect("a motion");
    (mechanics, motion)
}

fn of_gallery(name: &str) -> (Mechanics, Motion) {
    run(&gallery::text(name))
}

fn stage(mechanics: &Mechanics, motion: &Motion) -> Stage {
    let mut mechanics = mechanics.clone();
    let scene = scene(&mut mechanics).expect("a scene");
    Stage::new(&Track::new(&mechanics, motion), &scene)
}

fn film(mechanics: &Mechanics, motion: &Motion, theme: Theme) -> Film {
    Film::new(mechanics, motion, FilmStyle { theme, width: 480, rate: 10.0, speed: Some(1.0) })
        .expect("a film")
}

/// Middle and number of the pixels of nearly this colour.
fn spot(pixels: &Pixels, color: Color) -> (f64, f64, usize) {
    let (mut x, mut y, mut n) = (0.0, 0.0, 0usize);
    for (i, p) in pixels.rgb.chunks_exact(3).enumerate() {
        if p[0].abs_diff(color.0) < 8 && p[1].abs_diff(color.1) < 8 && p[2].abs_diff(color.2) < 8 {
            x += (i % pixels.width) as f64 + 0.5;
            y += (i / pixels.width) as f64 + 0.5;
            n += 1;
        }
    }
    (x / n.max(1) as f64, y / n.max(1) as f64, n)
}

/// Where a film 480 pixels wide shows a place in space: seen from 0.9 rad beside the y axis, 0.35 rad above the floor.
fn projected(stage: &Stage, film: &Film, p: &[f64]) -> (f64, f64) {
    let b = &stage.bounds;
    let middle: Vec<f64> = b.iter().map(|r| 0.5 * (r.0 + r.1)).collect();
    let (about, above) = (-0.9f64, 0.35f64);
    let half: Vec<f64> = b.iter().map(|r| 0.5 * (r.1 - r.0)).collect();
    let across = half[0].hypot(half[1]);
    let up = half[2] * above.cos() + across * above.sin();
    let scale = ((0.5 * film.width as f64 - 12.0) / across).min((0.5 * film.height as f64 - 12.0) / up);
    let (x, y, z) = (p[0] - middle[0], p[1] - middle[1], p[2] - middle[2]);
    let right = about.cos() * x - about.sin() * y;
    let back = about.sin() * x + about.cos() * y;
    (
        0.5 * film.width as f64 + right * scale,
        0.5 * film.height as f64 - (z * above.cos() + back * above.sin()) * scale,
    )
}

const FORMS: &str = r#"
coordinates = ["x", "theta"]
[body.block]
mass = "1"
at = ["x", "0"]
inertia = "1"
angle = "theta"
box = ["2", "1"]
[body.wheel]
mass = "1"
at = ["x", "2"]
radius = "0.75"
[body.wedge]
mass = "1"
at = ["x", "4"]
polygon = [["-1", "0"], ["1", "0"], ["0", "1.5"]]
[body.ghost]
mass = "1"
at = ["x", "6"]
radius = "1"
[view]
hide = ["ghost"]
range = [-3, 4, -2, 8]
[start]
velocity = { x = 0.1, theta = 1 }
[run]
until = 3
"#;

#[test]
fn filled_forms_have_their_areas_whatever_their_angle_and_hidden_bodies_none() {
    let (mechanics, motion) = run(FORMS);
    for theme in THEMES {
        let film = film(&mechanics, &motion, theme);
        for n in [0, 7, 19] {
            let frame = film.frame(n);
            let area = |k: usize| spot(&frame, theme.curve(k)).2 as f64;
            // The scale drops out of ratios. Edges are 1.2 pixels wide in another colour: a few per cent of so many pixels.
            let (block, wheel, wedge) = (area(0), area(1), area(2));
            assert!(block > 1500.0, "{block}");
            let wheel_area = std::f64::consts::PI * 0.75f64.powi(2);
            assert!((wheel / block / (wheel_area / 2.0) - 1.0).abs() < 0.08, "frame {n}: {wheel} to {block}");
            assert!((wedge / block / (1.5 / 2.0) - 1.0).abs() < 0.08, "frame {n}: {wedge} to {block}");
            assert!(area(3) < 0.02 * block, "the ghost is seen");
        }
    }
}

#[test]
fn bodies_in_space_are_where_the_projection_puts_them() {
    for name in ["spherical_pendulum", "bead_in_bowl"] {
        let (mechanics, motion) = of_gallery(name);
        let stage = stage(&mechanics, &motion);
        assert_eq!(stage.dimension, 3, "{name}");
        for theme in THEMES {
            let film = film(&mechanics, &motion, theme);
            for n in [0, 1] {
                // The trace has the colour of the body: early frames, where it is short and under the marker.
                let frame = film.frame(n);
                let knot = stage.times.partition_point(|t| *t <= 0.1 * n as f64).saturating_sub(1);
                let place: Vec<f64> = stage.points[0].at.iter().map(|c| c[knot]).collect();
                let (x, y, count) = spot(&frame, theme.curve(0));
                let wanted = projected(&stage, &film, &place);
                assert!(count > 60, "{name}: {count} pixels");
                let off = (x - wanted.0).hypot(y - wanted.1);
                assert!(off < 4.0, "{name}: at ({x:.1}, {y:.1}), wanted {wanted:.1?}");
            }
        }
    }
}

#[test]
fn a_bowl_is_drawn_by_sections_that_lie_on_it() {
    let (mechanics, motion) = of_gallery("bead_in_bowl");
    let stage = stage(&mechanics, &motion);
    assert!(stage.surfaces.len() >= 8, "{} sections", stage.surfaces.len());
    for p in stage.surfaces.iter().flatten() {
        assert!((p[2] - 0.25 * (p[0] * p[0] + p[1] * p[1])).abs() < 1e-6, "{p:?}");
    }
}

#[test]
fn a_quaternion_turns_its_box_and_a_top_its_disc() {
    let (mechanics, motion) = of_gallery("rigid_body_quaternion");
    let plate = stage(&mechanics, &motion);
    let fill = plate.fills.iter().find(|f| matches!(f.form, FillShape::Box(_))).expect("a box");
    assert_eq!(fill.turned.len(), 4);
    // A corner of the box is half a side along each axis of the body; the first axis is drawn by the model itself.
    for k in (0..plate.len()).step_by(97) {
        let here: Vec<Vec<f64>> = plate.points.iter().map(|p| p.at.iter().map(|c| c[k]).collect()).collect();
        let q: Vec<f64> = fill.turned.iter().map(|c| c[k]).collect();
        let faces = fill.faces(&here, 0.0, &q);
        let middle = |n: usize| -> Vec<f64> {
            (0..3).map(|i| faces[n].corners.iter().map(|c| c[i]).sum::<f64>() / 4.0).collect()
        };
        let tip = plate.links[0].1;
        let axis: Vec<f64> = middle(1).iter().map(|x| x / (0.5 * 2f64.sqrt())).collect();
        let off: f64 = axis.iter().zip(&here[tip]).map(|(a, b)| (a - b).abs()).sum();
        assert!(off < 1e-9, "knot {k}: {axis:?} and {:?}", here[tip]);
    }
    let (mechanics, motion) = of_gallery("spinning_top");
    let top = stage(&mechanics, &motion);
    assert!(top.fills.iter().any(|f| matches!(f.form, FillShape::Disc(_))));
    // The mark on the disc is on its rim, across the axis, always.
    let (centre, mark) = top.links[1];
    for k in (0..top.len()).step_by(53) {
        let at = |p: usize| -> Vec<f64> { top.points[p].at.iter().map(|c| c[k]).collect() };
        let (c, m) = (at(centre), at(mark));
        let along: f64 = c.iter().zip(&m).map(|(c, m)| c * (m - c)).sum();
        let radius = c.iter().zip(&m).map(|(c, m)| (m - c) * (m - c)).sum::<f64>().sqrt();
        assert!(along.abs() < 1e-9 && (radius - 0.25).abs() < 1e-9);
    }
}

#[test]
fn pictures_in_space_change_as_the_bodies_turn_and_are_the_same_every_time() {
    for name in ["bead_in_bowl", "spinning_top", "spherical_pendulum", "rigid_body_quaternion"] {
        let (mechanics, motion) = of_gallery(name);
        for theme in THEMES {
            let film = film(&mechanics, &motion, theme);
            assert_ne!(film.frame(1), film.frame(9), "{name}");
            assert_eq!(film.frame(9), film.frame(9), "{name}");
        }
        let style = carom_show::plot::PlotStyle::default();
        let picture = carom_show::plot::svg(&mechanics, &motion, &[], style).expect("a picture");
        assert!(picture.contains(">z</tspan>") || picture.contains(">z<"), "{name} has no axes in space");
    }
}

#[test]
fn an_impact_flashes_where_a_ball_touches_and_not_at_its_middle() {
    let ball = r#"
        coordinates = ["x", "y"]
        gravity = ["0", "-9.81"]
        [body.ball]
        mass = "1"
        at = ["x", "y"]
        radius = "0.25"
        [wall.floor]
        gap = "y - 0.25"
        [wall.right]
        gap = "2 - 0.25 - x"
        [start]
        position = { y = 1 }
        velocity = { x = 1 }
        [run]
        until = 4
    "#;
    let (mechanics, motion) = run(ball);
    let stage = stage(&mechanics, &motion);
    assert!(stage.flashes.len() > 3);
    for flash in &stage.flashes {
        let middle: Vec<f64> = stage.points[0].at.iter().map(|c| c[flash.knot]).collect();
        let place = &flash.places[0];
        match flash.walls[0] {
            0 => assert!(place[1].abs() < 1e-9 && (place[0] - middle[0]).abs() < 1e-9, "{place:?}"),
            _ => assert!((place[0] - 2.0).abs() < 1e-9 && (place[1] - middle[1]).abs() < 1e-9, "{place:?}"),
        }
    }
    // Walls stand where the ball touches them.
    assert!(stage.walls.iter().all(|w| w.behind == Some(0.25)));
}
