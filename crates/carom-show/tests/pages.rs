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
    save("ball.json", &carom_show::table::json(&motion, &mechanics.model));
    assert!(html.len() < 500_000, "{} bytes", html.len());
    assert!(!html.contains("{{") && !html.contains("http://") && !html.contains("https://"));
}
