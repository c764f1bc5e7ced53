//! Animation pages: written for the browser (target/tmp/pages, looked at by tests/browser/check.mjs), and checked as text.

mod stage;

use carom_show::page;
use std::path::PathBuf;

fn save(name: &str, text: &str) {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pages");
    std::fs::create_dir_all(&directory).expect("a writable target directory");
    std::fs::write(directory.join(name), text).expect("writable");
}

#[test]
fn a_page_of_a_bouncing_ball_is_written_for_the_browser() {
    let (mechanics, motion) = stage::ball(1201);
    let html = page::html(&mechanics, &motion, &[]).expect("a page");
    save("ball.html", &html);
    save("ball.json", &carom_show::table::json(&motion));
    assert!(html.len() < 500_000, "{} bytes", html.len());
    assert!(!html.contains("{{") && !html.contains("http://") && !html.contains("https://"));
}

#[test]
fn names_cannot_break_out_of_the_page() {
    let (mut mechanics, mut motion) = stage::ball(11);
    motion.model = "</script><script>alert(1)</script> {{data}} \"&".into();
    mechanics.model.walls[0].name = "</script>{{script}}".into();
    let html = page::html(&mechanics, &motion, &[]).expect("a page");
    save("hostile.html", &html);
    // Provenance, data and program.
    assert_eq!(html.matches("<script").count(), 3);
    assert_eq!(html.matches("</script>").count(), 3);
    assert_eq!(html.matches("window.carom =").count(), 1);
}

#[test]
fn short_broken_and_crowded_motions_still_make_pages() {
    let (mechanics, motion) = stage::ball(1);
    save("single.html", &page::html(&mechanics, &motion, &[]).expect("a page of one sample"));
    let (mechanics, mut motion) = stage::ball(400);
    motion.velocity[1].values[100..140].fill(f64::NAN);
    motion.position[1].values[7] = f64::INFINITY;
    save("broken.html", &page::html(&mechanics, &motion, &[]).expect("a page with holes"));
    assert!(page::html(&mechanics, &carom_run::Motion::default(), &[]).is_err());
    assert!(page::html(&mechanics, &motion, &["yy".into()]).is_err());
    // Only a plane was asked for: the panels beside the animation stay.
    let plane = page::html(&mechanics, &motion, &["y' vs y".into()]).expect("a page");
    assert!(plane.contains("\"panels\":[{"));
    // A hundred thousand impacts are counted, not all kept.
    let first = motion.impacts[0].clone();
    let at = |k| carom_run::Impact { time: 1.0 + 1e-5 * f64::from(k), ..first.clone() };
    motion.impacts = (0..100_000).map(at).collect();
    let crowded = page::html(&mechanics, &motion, &[]).expect("a page");
    assert!(crowded.contains("\"total\":100000") && crowded.len() < 10_000_000, "{} bytes", crowded.len());
    assert!(crowded.contains("100000 impacts"));
}

#[test]
fn the_same_motion_gives_the_same_page() {
    let make = || {
        let (mechanics, motion) = stage::ball(200);
        page::html(&mechanics, &motion, &[]).expect("a page")
    };
    assert_eq!(make(), make());
}
