//! Plots: written for the eye (target/tmp/plots), and checked for what a program can see.

mod stage;

use carom_show::draw::Theme;
use carom_show::plot::{self, PlotStyle};
use std::path::PathBuf;

fn save(name: &str, bytes: &[u8]) {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("plots");
    std::fs::create_dir_all(&directory).expect("a writable target directory");
    std::fs::write(directory.join(name), bytes).expect("writable");
}

fn requests(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|s| s.to_string()).collect()
}

#[test]
fn plots_of_a_bouncing_ball_are_drawn_for_the_eye() {
    let (mechanics, motion) = stage::ball(2001);
    for (name, theme) in [("light", Theme::Light), ("dark", Theme::Dark)] {
        let style = PlotStyle { theme, ..PlotStyle::default() };
        let png = plot::png(&mechanics, &motion, &[], style).expect("plots");
        save(&format!("ball-{name}.png"), &png);
    }
    save("ball.svg", plot::svg(&mechanics, &motion, &[], PlotStyle::default()).expect("plots").as_bytes());
    for (name, request) in [
        ("velocity", "y'"),
        ("energy", "energy"),
        ("path", "y vs x"),
        ("phase", "y' vs y"),
        ("section", "y vs x at apex"),
    ] {
        let png = plot::png(&mechanics, &motion, &requests(&[request]), PlotStyle::default()).expect("plots");
        save(&format!("ball-{name}.png"), &png);
    }
}

/// The end points of all path pieces of a colour, in drawing order.
fn pieces(svg: &str, color: &str) -> Vec<Vec<(f64, f64)>> {
    let mut found = Vec::new();
    for line in svg.lines().filter(|l| l.starts_with("<path") && l.contains(&format!("stroke=\"{color}\""))) {
        let d = line.split('"').nth(1).expect("a path has data");
        for piece in d.split('M').filter(|p| !p.is_empty()) {
            let (start, moves) = piece.split_once('l').unwrap_or((piece.trim_end_matches("h0"), ""));
            let numbers = |text: &str| -> Vec<f64> {
                text.replace('-', " -").split_whitespace().map(|n| n.parse().expect("a number")).collect()
            };
            let mut at = (numbers(start)[0], numbers(start)[1]);
            let mut points = vec![at];
            for step in numbers(moves).chunks(2) {
                at = (at.0 + step[0], at.1 + step[1]);
                points.push(at);
            }
            found.push(points);
        }
    }
    found
}

#[test]
fn a_velocity_is_never_joined_across_its_jump_and_reaches_both_sides_exactly() {
    // Few samples, none near an impact: the ends must come from the impacts' records.
    let (mechanics, motion) = stage::ball(31);
    let svg = plot::svg(&mechanics, &motion, &requests(&["y'"]), PlotStyle::default()).expect("plots");
    let legs: Vec<_> = pieces(&svg, "#0072b2").into_iter().filter(|p| p.len() > 2).collect();
    assert_eq!(legs.len(), motion.impacts.len() + 1);
    // y' falls everywhere (pixels grow downwards), so a joined jump would show as a rise.
    for leg in &legs {
        assert!(leg.is_sorted_by(|a, b| a.1 <= b.1), "{leg:?}");
    }
    // −g t is one straight line per leg: both ends on it to within the rounding of the file.
    let slope = |leg: &Vec<(f64, f64)>| {
        let (a, b) = (leg[0], leg[leg.len() - 1]);
        (b.1 - a.1) / (b.0 - a.0)
    };
    for leg in &legs {
        assert!((slope(leg) / slope(&legs[0]) - 1.0).abs() < 1e-3, "{} {}", slope(leg), slope(&legs[0]));
    }
}

#[test]
fn a_position_is_joined_through_the_impact_point() {
    let (mechanics, motion) = stage::ball(31);
    let svg = plot::svg(&mechanics, &motion, &requests(&["y"]), PlotStyle::default()).expect("plots");
    let legs: Vec<_> = pieces(&svg, "#0072b2").into_iter().filter(|p| p.len() > 2).collect();
    assert_eq!(legs.len(), 1);
    let lowest = legs[0].iter().map(|p| p.1).fold(0.0, f64::max);
    assert_eq!(legs[0].iter().filter(|p| (p.1 - lowest).abs() < 0.03).count(), 2 * motion.impacts.len());
}

#[test]
fn a_million_samples_make_a_small_file_that_keeps_its_extremes() {
    let (mechanics, mut motion) = stage::ball(1_000_001);
    // A single sample sticks out.
    motion.position[1].values[567_890] = 1.5;
    let panels = requests(&["x,y", "y'", "energy", "y' vs y"]);
    let svg = plot::svg(&mechanics, &motion, &panels, PlotStyle::default()).expect("plots");
    assert!(svg.len() < 1_000_000, "{} bytes", svg.len());
    let outlier = plot::svg(&mechanics, &motion, &requests(&["y"]), PlotStyle::default()).expect("plots");
    let highest = |s: &str| pieces(s, "#0072b2").concat().iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
    motion.position[1].values[567_890] = 0.0;
    let without = plot::svg(&mechanics, &motion, &requests(&["y"]), PlotStyle::default()).expect("plots");
    // The range grew to hold the peak, and the peak is drawn at the same margin below the top.
    assert!((highest(&outlier) - highest(&without)).abs() < 0.02);
}

#[test]
fn an_unknown_signal_is_refused_with_a_suggestion() {
    let (mechanics, motion) = stage::ball(11);
    let problem = |request: &str| {
        let found = plot::svg(&mechanics, &motion, &requests(&[request]), PlotStyle::default());
        found
            .expect_err("unknown")
            .into_iter()
            .map(|d| (d.message, d.hint.unwrap_or_default()))
            .collect::<Vec<_>>()
    };
    let pair = |m: &str, h: &str| (m.to_string(), h.to_string());
    assert_eq!(problem("sped"), [pair("unknown signal `sped`", "did you mean `speed`?")]);
    assert_eq!(problem("y vs x at apx"), [pair("unknown event `apx`", "did you mean `apex`?")]);
    assert_eq!(problem("enrgy, spede").len(), 2);
    assert_eq!(problem(" , ")[0].0, "nothing to plot was named");
    assert!(problem("multipliers")[0].0.starts_with("nothing to plot for"));
}

#[test]
fn a_motion_with_one_sample_or_with_values_that_are_not_numbers_is_still_drawn() {
    let (mechanics, motion) = stage::ball(1);
    let svg = plot::svg(&mechanics, &motion, &[], PlotStyle::default()).expect("plots");
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    let (mechanics, mut motion) = stage::ball(100);
    motion.velocity[1].values[50..60].fill(f64::NAN);
    motion.energy[3] = f64::INFINITY;
    let svg = plot::svg(&mechanics, &motion, &[], PlotStyle::default()).expect("plots");
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
    assert!(plot::png(&mechanics, &motion, &[], PlotStyle::default()).is_ok());
    let none = carom_run::Motion::default();
    assert!(plot::svg(&mechanics, &none, &[], PlotStyle::default()).is_err());
}

#[test]
fn the_same_motion_gives_the_same_picture() {
    let draw = || {
        let (mechanics, motion) = stage::ball(500);
        (
            plot::svg(&mechanics, &motion, &[], PlotStyle::default()).expect("plots"),
            plot::png(&mechanics, &motion, &[], PlotStyle::default()).expect("plots"),
        )
    };
    assert_eq!(draw(), draw());
}
